// An inner loop fills blocks from behind: between blocks, everything before the next one is set.
// palisade check --analysis arrays --time-limit 60s tests/c/check/array_blocks.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int cells[3000];

int main(void) {
    int size = __VERIFIER_nondet_int();
    if (size < 3 || size > 3000 || size % 3 != 0)
        return 0;
    for (int block = 1; block <= size / 3; block++)
        for (int back = 3; back >= 1; back--)
            cells[block * 3 - back] = back + 4;
    for (int i = 0; i < size; i++)
        if (cells[i] < 5)
            reach_error();
    return 0;
}
