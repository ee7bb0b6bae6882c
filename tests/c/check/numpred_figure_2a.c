// Figure 2(a) of "Combining Predicate and Numeric Abstraction": which branches are taken is in the array, what they do is numeric.
// palisade check --analysis nex --property unreach-call tests/c/check/numpred_figure_2a.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int A[64];

int main(void) {
    int x1 = __VERIFIER_nondet_int(), x2 = __VERIFIER_nondet_int();
    int y1 = __VERIFIER_nondet_int(), y2 = __VERIFIER_nondet_int();
    if (x1 < 2 || x1 > 20 || x2 < 2 || x2 > 20 || y1 < 2 || y1 > 20 || y2 < 2 || y2 > 20)
        return 0;
    for (int i = 0; i < 64; i++)
        A[i] = __VERIFIER_nondet_int();
    if (x1 != x2)
        return 0;
    if (A[y1 + y2] == 3) {
        x1 = y1 - 2;
        x2 = y2 + 2;
    } else {
        A[x1 + x2] = 5;
    }
    if (A[x1 + x2] == 3) {
        x1 = x1 + x2;
        x2 = x2 + y1 - 2;
    }
    if (x1 != x2)
        reach_error();
    return 0;
}
