// No invariant may say that the variable stays as it is.
// palisade check --property unreach-call tests/c/check/memset_loop_invariant.c
// verdict: false(unreach-call)
extern void *memset(void *, int, unsigned long);
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
unsigned long x;
int main(void) {
    for (int i = 0; i < 5; i++)
        memset((char *)&x + i, i, 1);
    if (x == 0x0403020100)
        reach_error();
    return 0;
}
