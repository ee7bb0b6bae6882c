// A function that is called with one argument more than it has parameters.
// palisade check --property def-behavior tests/c/check/call_misfit_direct.c
// verdict: false(def-behavior)
static int twice();

int main(void) { return twice(1, 2) - 2; }

static int twice(x)
int x;
{ return 2 * x; }
