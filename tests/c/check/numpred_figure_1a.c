// Figure 1(a): which variable was set depends on i; numbers alone forget that where the cases meet.
// palisade check --analysis nex tests/c/check/numpred_figure_1a.c
// verdict: true
#include <assert.h>

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
    case 1: assert(a1 > 0); break;
    case 2: assert(a2 < 0); break;
    default: assert(0);
    }
    return 0;
}
