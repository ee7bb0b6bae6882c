// One element of an array of two dimensions, while all others change.
// palisade check --analysis eureka tests/c/check/eureka_rows.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int a[4][5];

int main(void) {
    int i, j;
    a[2][3] = 7;
    for (i = 0; i < 4; i++)
        for (j = 0; j < 5; j++)
            if (i != 2 || j != 3)
                a[i][j] = __VERIFIER_nondet_int();
    if (a[2][3] != 7)
        reach_error();
    return 0;
}
