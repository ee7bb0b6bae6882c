// What is added and then subtracted is nothing, however many elements there are.
// palisade check --analysis folds --time-limit 120s tests/c/check/fold_cancelled.c
// verdict: true
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);

int main(void) {
    unsigned char n = __VERIFIER_nondet_uchar();
    unsigned char a[256];
    unsigned short sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum + a[i];
    for (int i = 0; i < n; i++)
        sum = sum + a[i];
    for (int i = 0; i < n; i++)
        sum = sum - a[i];
    for (int i = 0; i < n; i++)
        sum = sum - a[i];
    if (sum != 0)
        reach_error();
    return 0;
}
