// Example 12 of "Combining Model Checking and Data-Flow Analysis": see precondition.spc.
// palisade check --property examples/cpa/precondition.spc --analysis location+predicate examples/cpa/precondition.c
// verdict: true
extern int __VERIFIER_nondet_int(void);

static int x, y;

static void foo(void) {}

int main(void) {
    x = __VERIFIER_nondet_int();
    y = __VERIFIER_nondet_int();
    if (x > 0 && y < 0)
        foo();
}
