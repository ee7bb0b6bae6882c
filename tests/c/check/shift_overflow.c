// A left shift that leaves its signed type is an overflow (C11 6.5.7): 128 << 24 is no int.
// palisade check --property no-overflow tests/c/check/shift_overflow.c
// verdict: false(no-overflow)
extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
    unsigned char high = __VERIFIER_nondet_uchar();
    unsigned word = high << 24;
    return word == 0;
}
