// A counterexample chooses the values of globals that nobody defines.
// palisade check tests/c/check/extern_global_value.c
// verdict: false(unreach-call)
extern void reach_error(void);
extern int limit;

int main(void) {
    if (limit == 7)
        reach_error();
    return 0;
}
