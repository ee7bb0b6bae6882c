// Over unbounded integers the sum stays positive; the machine's wraps, so there is a run that fails.
// palisade check --analysis eureka tests/c/check/eureka_wraps.c
// verdict: false(unreach-call)
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);

int main(void) {
    unsigned char a[4];
    unsigned char x = __VERIFIER_nondet_uchar();
    a[2] = x;
    a[2] = a[2] + 10;
    if (a[2] < 10)
        reach_error();
    return 0;
}
