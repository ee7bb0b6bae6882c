// An assumption through a pointer is one.
// palisade check --property unreach-call tests/c/check/library_assume_by_pointer.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int);
int main(void)
{
    void (*f)(int) = __VERIFIER_assume;
    int x = __VERIFIER_nondet_int();
    f(x > 3);
    if (x < 2)
        reach_error();
    return 0;
}
