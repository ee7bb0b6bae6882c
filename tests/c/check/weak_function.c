// A weak function that nobody defines may be missing, for the whole run.
// palisade check --property unreach-call tests/c/check/weak_function.c
// verdict: true
extern void reach_error(void);
int maybe(void) __attribute__((weak));
int main(void) {
    int (*f)(void) = maybe;
    if ((f != 0) != (maybe != 0))
        reach_error();
    return 0;
}
