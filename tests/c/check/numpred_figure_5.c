// Figure 5 with a beginning and an end: predicates say where p points, numbers what is there.
// palisade check --analysis nex tests/c/check/numpred_figure_5.c
// verdict: true
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(), *p;
    if (__VERIFIER_nondet_int())
        p = &x;
    else
        p = &y;
    if (*p > 0)
        *p = x;
    else
        *p = 3;
    if (p == &x)
        assert(x > 0);
    return 0;
}
