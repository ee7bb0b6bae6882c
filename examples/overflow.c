// The midpoint that overflows for large arrays.
// palisade check --property no-overflow examples/overflow.c
// verdict: false(no-overflow)
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static int midpoint(int low, int high) {
    return (low + high) / 2;
}

int main(void) {
    int low = __VERIFIER_nondet_int();
    int high = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= low && low <= high);
    return midpoint(low, high) >= low ? 0 : 1;
}
