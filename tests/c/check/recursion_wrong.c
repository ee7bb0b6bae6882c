// The claim is false for one input, so contracts cannot show it.
// palisade check --analysis summaries tests/c/check/recursion_wrong.c
// verdict: unknown
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int cap(int n) {
    if (n <= 0) return 0;
    int r = cap(n - 1) + 1;
    return r > 70 ? 70 : r;
}
int main(void) {
    assert(cap(__VERIFIER_nondet_int()) != 70);
    return 0;
}
