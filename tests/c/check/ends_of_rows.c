// The ends of rows are pointers that may be made, and an array is all of its rows.
// palisade check tests/c/check/ends_of_rows.c --property def-behavior
// verdict: true
int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 3) return 0;
    int a[2][n], *all = (int *)a;
    for (int i = 0; i < 2 * n; i++) all[i] = i;
    int *end = &a[0][n], *behind = a[2];
    int sum = 0;
    for (int *p = a[0]; p != end; p++) sum += *p;
    return behind - end == n ? sum : a[1][n - 1];
}
