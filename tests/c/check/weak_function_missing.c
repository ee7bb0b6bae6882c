// A weak function that nobody defines may be missing.
// palisade check --property unreach-call tests/c/check/weak_function_missing.c
// verdict: false(unreach-call)
extern void reach_error(void);
int maybe(void) __attribute__((weak));
int main(void) {
    if (!maybe)
        reach_error();
    return 0;
}
