// Figure 5 of "Combining Predicate and Numeric Abstraction": what a pointer points to is a predicate.
// palisade check --analysis nexpoint --property unreach-call tests/c/check/numpred_figure_5.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = 1, y = 2, *p;
    if (__VERIFIER_nondet_int())
        p = &x;
    else
        p = &y;
    if (*p > 1) {
        *p = x;
        if (y != 1)
            reach_error();
    } else {
        *p = 3;
        if (x != 3)
            reach_error();
    }
    return 0;
}
