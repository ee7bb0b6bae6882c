// An operand that ends the program may come after one that fails.
// palisade check --property unreach-call tests/c/check/order_with_exit.c
// verdict: false(unreach-call)
#include <stdlib.h>
extern void reach_error(void);
static int end(void) { exit(0); }
static int fail(void) { reach_error(); return 0; }
int main(void) { return end() + fail(); }
