// Every third element of one array is collected in another one: how far that went is said by the first array's index.
// palisade check --analysis arrays --time-limit 60s tests/c/check/array_two_indices.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int from[6000], to[6000];

int main(void) {
    int i, j;
    for (i = 0; i < 6000; i++)
        from[i] = __VERIFIER_nondet_int();
    for (i = 2, j = 0; i < 6000; i += 3, j++)
        to[j] = from[i];
    for (i = 2, j = 0; i < 6000; i += 3, j++)
        if (to[j] != from[3 * j + 2])
            reach_error();
    return 0;
}
