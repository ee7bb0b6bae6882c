// A nested function changes the variables of the activation that called it.
// palisade check tests/c/check/nested_function.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
static int sum(int n) {
    int total = n;
    void add(int k) { total += k; }
    if (n > 0) {
        add(sum(n - 1));
        if (total < n) reach_error();
    }
    return total;
}
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 3) return 0;
    if (sum(n) != n * (n + 1) / 2) reach_error();
    return 0;
}
