// One past the end of an object may be the start of another one.
// palisade check --property unreach-call --time-limit 5s tests/c/check/one_past_the_end.c
// verdict: unknown
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
int a[1], b[1];
int main(void) {
    int *p = a + (__VERIFIER_nondet_int() & 1), *q = b;
    if (p == q) reach_error();
    return 0;
}
