// Rows of an array whose dimensions are no constants in the source: elements are told apart by all their indices.
// palisade check --analysis arrays --data-model ilp32 --time-limit 60s tests/c/check/array_rows.c
// verdict: true
extern void reach_error(void);

int main(void) {
    int rows = 300, columns = 200;
    int table[rows][columns];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            table[i][j] = i - j;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            if (table[i][j] != i - j)
                reach_error();
    return 0;
}
