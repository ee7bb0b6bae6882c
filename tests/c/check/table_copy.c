// A local that comes to life must not disturb the constant table it is copied from.
// palisade check tests/c/check/table_copy.c
// verdict: true
extern void reach_error(void);

int main(void) {
    const unsigned table[8][3] = {{1, 0, 3}, {2, 0, 3}, {3, 0, 3}, {4, 0, 3}, {5, 0, 3}, {6, 0, 3}, {7, 0, 3}, {0, 0, 0}};
    unsigned i = 0;
    for (;;) {
        if (i >= 8)
            reach_error();
        const unsigned *row = table[i];
        if (row[0] == 0)
            break;
        i++;
    }
    return 0;
}
