// Complex numbers are equal if both parts are.
// palisade check tests/c/check/complex_equality.c
// verdict: false(unreach-call)
extern int __VERIFIER_nondet_int(void);
void reach_error(void) {}
int main(void) {
    _Complex int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int() * 1i;
    if (a == b && __real__ a == 0 && __imag__ b == 0) reach_error();
    return 0;
}
