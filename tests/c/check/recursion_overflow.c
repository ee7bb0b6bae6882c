// The depth is bounded by what callers pass, and with it the result.
// palisade check --property no-overflow --analysis summaries tests/c/check/recursion_overflow.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
int count(int n) {
    if (n <= 0) return 0;
    return 1 + count(n - 1);
}
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 1000000) return 0;
    return count(n) + count(n) < 0;
}
