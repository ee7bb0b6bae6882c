// A pointer to a variable whose life is over, and one to a variable that lives again: only the first is wrong.
// palisade check --property valid-deref tests/c/check/pointer_to_the_dead.c
// verdict: false(valid-deref)
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int *p = 0;
    for (int i = 0; i < 3; i++) {
        int x = i;
        if (i == 0)
            p = &x;
        else
            p = &x;
        *p = 1;
    }
    if (__VERIFIER_nondet_int() == 77)
        *p = 2;
    return 0;
}
