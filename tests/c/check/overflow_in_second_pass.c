// A violation in the second pass through a loop: the first passes the same place without one.
// palisade check --property no-overflow tests/c/check/overflow_in_second_pass.c
// verdict: false(no-overflow)
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int();
    int passes = 0;
    while (x > 0) {
        x = __VERIFIER_nondet_int();
        int before = passes > 0 ? x - 1 : 0;
        passes = passes + 1;
        if (passes > 3 || before > 1000) {
            return 0;
        }
    }
    return 0;
}
