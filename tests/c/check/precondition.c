// Conditions of an observer speak about the parameters of the call.
// palisade check --property tests/c/check/precondition.spc tests/c/check/precondition.c
// verdict: true
extern int __VERIFIER_nondet_int(void);

static int foo(int x, int y) {
    return x - y;
}

int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    if (a > 0 && b < 0)
        return foo(a, b) != 0;
    return 0;
}
