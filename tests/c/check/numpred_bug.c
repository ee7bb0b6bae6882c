// A counterexample that refinement does not exclude is a run.
// palisade check --analysis ndd --property unreach-call tests/c/check/numpred_bug.c
// verdict: false(unreach-call)
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int n = 0;
    while (__VERIFIER_nondet_int()) {
        n++;
        if (n == 3)
            reach_error();
    }
    return 0;
}
