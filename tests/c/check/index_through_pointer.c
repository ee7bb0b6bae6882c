// An index that may be one too large, through a pointer to an array that is known.
// palisade check --property valid-deref tests/c/check/index_through_pointer.c
// verdict: false(valid-deref)
extern int __VERIFIER_nondet_int(void);

static void set(int *a, int i) {
    a[i] = 1;
}

int main(void) {
    int a[4];
    int i = __VERIFIER_nondet_int();
    if (i < 0 || i > 4)
        return 0;
    set(a, i);
    return 0;
}
