// A left shift that leaves its signed type is not one of the operations + - * / %.
// palisade check --property no-arithmetic-overflow tests/c/check/shift_no_arithmetic.c
// verdict: true
extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
    unsigned char high = __VERIFIER_nondet_uchar();
    unsigned word = high << 24;
    return word == 0;
}
