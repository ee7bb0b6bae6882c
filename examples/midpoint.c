// The midpoint that does not overflow.
// palisade check --property no-overflow examples/midpoint.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

static int midpoint(int low, int high) {
    return low + (high - low) / 2;
}

int main(void) {
    int low = __VERIFIER_nondet_int();
    int high = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= low && low <= high);
    return midpoint(low, high) >= low ? 0 : 1;
}
