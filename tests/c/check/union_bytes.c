// A union shows the bytes of an integer in little-endian order.
// palisade check tests/c/check/union_bytes.c
// verdict: true
#include <assert.h>
extern unsigned __VERIFIER_nondet_uint(void);
union word { unsigned u; unsigned char bytes[4]; };
int main(void) {
    union word w;
    w.u = __VERIFIER_nondet_uint();
    assert(w.bytes[0] == (w.u & 255) && w.bytes[3] == w.u >> 24);
    w.bytes[1] = 9;
    assert((w.u >> 8 & 255) == 9);
    return 0;
}
