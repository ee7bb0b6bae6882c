// Figure 1(b): sums within bounds, for numbers; as predicates there would be many.
// palisade check --analysis nex tests/c/check/numpred_figure_1b.c
// verdict: true
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

int main(void) {
    int y1 = __VERIFIER_nondet_int(), y2 = __VERIFIER_nondet_int(), x1, x2;
    if (3 <= y1 && y1 <= 4) {
        x1 = y1 - 2;
        x2 = y1 + 2;
    } else if (3 <= y2 && y2 <= 4) {
        x1 = y2 - 2;
        x2 = y2 + 2;
    } else {
        return 0;
    }
    assert(5 <= x1 + x2 && x1 + x2 <= 10);
    return 0;
}
