// Arguments are evaluated in any order.
// palisade check --property unreach-call tests/c/check/order_of_arguments.c
// verdict: false(unreach-call)
extern void reach_error(void);
static int n;
static int next(void) { return ++n; }
static void look(int a, int b) { if (a == 2 && b == 1) reach_error(); }
int main(void) { look(next(), next()); return 0; }
