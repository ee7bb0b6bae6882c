// An index that leaves a row of an array of variable length, though not the array.
// palisade check tests/c/check/inner_array_of_variable_length.c --property def-behavior
// verdict: false(def-behavior)
int __VERIFIER_nondet_int(void);
static int at(int rows, int columns, int a[rows][columns], int i, int j) { return a[i][j]; }
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 9) return 0;
    int a[2][n];
    for (int i = 0; i < n; i++) a[0][i] = a[1][i] = i;
    return at(2, n, a, 0, n);
}
