// A member with a length that is not positive, though the structure has bytes without it.
// palisade check tests/c/check/member_of_variable_size_none.c --property def-behavior
// verdict: false(def-behavior)
int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n > 9 || n < -3) return 0;
    struct { int first[4]; char items[n]; } a;
    return 0;
}
