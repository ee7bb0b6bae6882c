// An index behind a row of variable length, in a function inside of the one that declares it.
// palisade check tests/c/check/row_in_nested_function.c --property def-behavior
// verdict: false(def-behavior)
int main(void) {
    int n = 3;
    int rows[2][n];
    int get(int i) {
        return rows[0][i];
    }
    rows[0][2] = 0;
    rows[1][0] = 7;
    return get(2) + get(3);
}
