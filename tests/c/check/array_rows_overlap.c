// A row is left at its end: the last column of a row is the first one of the next, so two names lead to one element.
// palisade check --data-model ilp32 --time-limit 20s tests/c/check/array_rows_overlap.c
// verdict: false(unreach-call)
extern void reach_error(void);

int main(void) {
    int rows = 3, columns = 4;
    int table[rows + 1][columns];
    int *first = &table[0][0];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j <= columns; j++)
            first[i * columns + j] = i - j;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j <= columns; j++)
            if (first[i * columns + j] != i - j)
                reach_error();
    return 0;
}
