// A left shift that leaves its signed type: some count it as an overflow, so neither verdict is safe.
// palisade check --property no-overflow tests/c/check/shift_overflow.c
// verdict: unknown
extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
    unsigned char high = __VERIFIER_nondet_uchar();
    unsigned word = high << 24;
    return word == 0;
}
