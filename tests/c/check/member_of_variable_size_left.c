// An index behind a member of variable size is outside of it, though not of the structure.
// palisade check tests/c/check/member_of_variable_size_left.c --property def-behavior
// verdict: false(def-behavior)
int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 9) return 0;
    struct { char items[n]; int last; } a;
    a.last = 1;
    a.items[n] = 1;
    return 0;
}
