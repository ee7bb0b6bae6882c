// Labels of the competition do not agree on left shifts out of a signed type: its property file gets neither.
// palisade check --property tests/c/check/overflow.prp tests/c/check/shift_disputed.c
// verdict: unknown
extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
    unsigned char high = __VERIFIER_nondet_uchar();
    unsigned word = high << 24;
    return word == 0;
}
