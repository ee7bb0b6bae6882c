// Rows of variable length, in functions inside of the one that declares them; their lengths are those of the activation.
// palisade check tests/c/check/rows_in_nested_functions.c --property def-behavior
// verdict: true
static int sum(int n) {
    int rows[2][n], total = 0;
    int get(int i) {
        int again(void) {
            return rows[1][i];
        }
        return rows[0][i] + again();
    }
    for (int i = 0; i < n; i++) rows[0][i] = rows[1][i] = i;
    for (int i = 0; i < n; i++) total += get(i);
    return total;
}
int main(void) {
    return sum(2) == 2 && sum(4) == 12 ? 0 : sum(1);
}
