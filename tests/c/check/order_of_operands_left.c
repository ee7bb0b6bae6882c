// The right operand may be evaluated first.
// palisade check --property unreach-call tests/c/check/order_of_operands_left.c
// verdict: false(unreach-call)
extern void reach_error(void);
static int n;
static int set(void) { n = 5; return 1; }
int main(void) { if (n + set() == 6) reach_error(); return 0; }
