// Operands that do not interfere have one result.
// palisade check --property unreach-call tests/c/check/order_of_others.c
// verdict: true
extern void reach_error(void);
static int m, n;
static int one(void) { return ++m; }
static int two(int *p) { return *p += 2; }
int main(void) {
    int k = 1, *p = &k;
    if (one() - two(&n) != -1 || (p++, k) != 1 || k++ + one() != 3 || k != 2)
        reach_error();
    return 0;
}
