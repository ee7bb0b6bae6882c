// Values that no dictionary holds are found by what comparisons miss, one after the other.
// palisade check --analysis concrete --time-limit 20s tests/c/check/concrete_solves_comparisons.c
// verdict: false(unreach-call)
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
void reach_error(void);

int main(void) {
    int key = __VERIFIER_nondet_int();
    __VERIFIER_assume(key > 1000000 && key < 2000000000);
    unsigned sum = 0;
    for (int i = 0; i < 20; i++) {
        unsigned digit = __VERIFIER_nondet_uint();
        if (digit + 7 != (unsigned)key + 3u * i)
            return 0;
        sum += digit;
    }
    if (sum == 41)
        return 1;
    reach_error();
    return 0;
}
