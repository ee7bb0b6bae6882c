// A function that counts its calls in a global has no contract.
// palisade check --analysis summaries tests/c/check/recursion_global.c
// verdict: unknown
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int calls;
int f(int n) {
    calls++;
    return n <= 0 ? 0 : f(n - 1);
}
int main(void) {
    f(__VERIFIER_nondet_int());
    assert(calls < 50);
    return 0;
}
