// An integer of seven bits wraps at its width and is not promoted.
// palisade check tests/c/check/bit_int_wraps.c
// verdict: true
extern unsigned char __VERIFIER_nondet_uchar(void);
void reach_error(void) {}
int main(void) {
    unsigned _BitInt(7) x = __VERIFIER_nondet_uchar(), *p = &x;
    unsigned _BitInt(7) y = *p + (unsigned _BitInt(7))1;
    if (x == 127 ? y != 0 : y != x + 1) reach_error();
    return 0;
}
