// What a loop accumulates does not depend on the order of the elements: two are exchanged, then all move by one.
// palisade check --analysis folds --time-limit 120s tests/c/check/fold_rotated.c
// verdict: true
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);

unsigned char all(unsigned char *a) {
    unsigned char bits = 0;
    for (int i = 0; i < 5000; i++)
        bits = bits | a[i];
    return bits;
}

int main(void) {
    unsigned char a[5000];
    for (int i = 0; i < 5000; i++)
        a[i] = __VERIFIER_nondet_uchar();
    unsigned char before = all(a);
    unsigned char t = a[0];
    a[0] = a[1];
    a[1] = t;
    unsigned char exchanged = all(a);
    t = a[0];
    for (int i = 0; i < 4999; i++)
        a[i] = a[i + 1];
    a[4999] = t;
    if (before != exchanged || before != all(a))
        reach_error();
    return 0;
}
