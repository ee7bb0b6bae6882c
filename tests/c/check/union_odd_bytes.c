// A member of a union that covers parts of two others.
// palisade check --property unreach-call tests/c/check/union_odd_bytes.c
// verdict: true
extern void *memcpy(void *, const void *, unsigned long);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
union u { unsigned w; struct { unsigned char x; unsigned char y[2]; unsigned char z; } p; };
int main(void) {
    union u u = {0};
    unsigned char b[2];
    b[0] = __VERIFIER_nondet_uchar();
    b[1] = __VERIFIER_nondet_uchar();
    memcpy(u.p.y, b, 2);
    if (u.w != ((unsigned)b[0] << 8 | (unsigned)b[1] << 16))
        reach_error();
    return 0;
}
