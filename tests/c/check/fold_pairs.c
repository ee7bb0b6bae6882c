// Two accumulators in one loop, and the same again.
// palisade check --analysis folds tests/c/check/fold_pairs.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
int main(void) {
    int a[10];
    unsigned sum = 0, bits = 0;
    for (int i = 0; i < 10; i++) a[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < 10; i++) {
        sum += (unsigned)a[i];
        bits ^= (unsigned)a[i];
    }
    for (int i = 0; i < 10; i++) {
        sum -= (unsigned)a[i];
        bits ^= (unsigned)a[i];
    }
    if (sum != 0) reach_error();
    return 0;
}
