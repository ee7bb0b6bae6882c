// The only run of a program overflows.
// palisade check --property no-overflow --analysis concrete tests/c/check/only_run_overflow.c
// verdict: false(no-overflow)
int main(void) {
    int product = 1;
    for (int i = 1; i < 20; i++) product *= i;
    return product != 0;
}
