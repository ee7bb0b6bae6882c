// A call that does not fit is undefined.
// palisade check --property def-behavior tests/c/check/call_type_undefined.c
// verdict: false(def-behavior)
static int two(int a, int b) { return 0; }
int main(void) { int (*f)(int) = (int (*)(int))two; return f(4); }
