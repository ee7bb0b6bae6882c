// Figure 1(a) of "Combining Predicate and Numeric Abstraction": which assertion counts depends on the branch taken before.
// palisade check --analysis nex --property unreach-call tests/c/check/numpred_figure_1a.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int i = __VERIFIER_nondet_int(), a1 = 0, a2 = 0;
    if (i != 1 && i != 2)
        return 0;
    switch (i) {
    case 1: a1 = 3; break;
    case 2: a2 = -4; break;
    }
    switch (i) {
    case 1:
        if (!(a1 > 0))
            reach_error();
        break;
    case 2:
        if (!(a2 < 0))
            reach_error();
        break;
    default: reach_error();
    }
    return 0;
}
