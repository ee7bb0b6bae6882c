// An index behind a row of a parameter.
// palisade check tests/c/check/rows_of_a_parameter.c --property def-behavior
// verdict: false(def-behavior)
static int at(int a[][3], int i, int j) { return a[i][j]; }
int main(void) {
    int a[2][3] = {0};
    return at(a, 0, 2) + at(a, 0, 3);
}
