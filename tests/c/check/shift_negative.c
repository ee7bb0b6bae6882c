// A negative number must not be shifted to the left (C11 6.5.7).
// palisade check --property no-overflow tests/c/check/shift_negative.c
// verdict: false(no-overflow)
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x < 0 && x > -8)
        return x << 1;
    return 0;
}
