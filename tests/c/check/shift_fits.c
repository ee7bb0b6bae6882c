// Left shifts that stay inside their signed type, in the sense of C11 and of the competition.
// palisade check --property tests/c/check/overflow.prp tests/c/check/shift_fits.c
// verdict: true
extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
    unsigned char high = __VERIFIER_nondet_uchar();
    unsigned word = high << 23;
    return word == 0;
}
