// Two ways to count bits agree on every word.
// palisade check examples/popcount.c
// verdict: true
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    unsigned x = __VERIFIER_nondet_uint(), loop = 0;
    for (int i = 0; i < 32; i++)
        loop += x >> i & 1;
    unsigned tree = x - (x >> 1 & 0x55555555);
    tree = (tree & 0x33333333) + (tree >> 2 & 0x33333333);
    tree = (tree + (tree >> 4) & 0x0f0f0f0f) * 0x01010101 >> 24;
    assert(loop == tree);
    return 0;
}
