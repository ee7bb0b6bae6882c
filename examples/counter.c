// A loop without a known bound; the proof is a loop invariant.
// palisade check examples/counter.c
// verdict: true
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    unsigned i = 0;
    while (i < n && i < 1000000)
        i++;
    assert(i <= 1000000);
    return 0;
}
