// A result that wraps like the sum it claims to be: no depth of unrolling shows that.
// palisade check --analysis summaries tests/c/check/recursion_sum.c
// verdict: true
#include <assert.h>
extern unsigned __VERIFIER_nondet_uint(void);
unsigned move(unsigned left, unsigned right) {
    if (left == 0) return right;
    return move(left - 1, right + 1);
}
int main(void) {
    unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
    assert(move(a, b) == a + b);
    return 0;
}
