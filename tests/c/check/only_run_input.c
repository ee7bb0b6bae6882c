// A program with an input has many runs.
// palisade check --analysis concrete tests/c/check/only_run_input.c
// verdict: unknown
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    assert(x * 7919 != 123457 || x == 3);
    return 0;
}
