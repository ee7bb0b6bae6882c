// A jump back into the life of a variable: the pointer from the life before is not one to the variable now.
// palisade check --property valid-deref tests/c/check/alive_again.c
// verdict: true
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int rounds = 0;
again: {
    int x = 3;
    int *p = &x;
    *p = rounds;
    if (__VERIFIER_nondet_int() && rounds < 5) {
        rounds = *p + 1;
        goto again;
    }
}
    return 0;
}
