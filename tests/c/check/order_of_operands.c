// A call may change what the other operand reads, before or after it is read.
// palisade check --property unreach-call tests/c/check/order_of_operands.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
static int n;
static int set(void) { n = 5; return 1; }
int main(void) {
    int sum = n + set();
    if (sum != 1 && sum != 6)
        reach_error();
    n = 7;
    n += set();
    if (n != 8 && n != 6)
        reach_error();
    return 0;
}
