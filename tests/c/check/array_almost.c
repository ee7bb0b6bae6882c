// One element differs: a fact about all elements must not be believed. (The loop is too long for the run that shows it to be found by unrolling.)
// palisade check --time-limit 5s tests/c/check/array_almost.c
// verdict: unknown
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int a[1000000];

int main(void) {
    for (int i = 0; i < 1000000; i++)
        a[i] = 7;
    int odd = __VERIFIER_nondet_int();
    if (odd == 777777)
        a[odd] = 8;
    for (int i = 0; i < 1000000; i++)
        if (a[i] != 7)
            reach_error();
    return 0;
}
