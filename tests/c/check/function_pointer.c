// A call through a table of functions reaches each of them.
// palisade check tests/c/check/function_pointer.c
// verdict: false(unreach-call)
extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
static int good(int x) { return x; }
static int bad(int x) { if (x == 3) reach_error(); return 0; }
static int (*table[2])(int) = {good, bad};
int main(void) {
    unsigned i = __VERIFIER_nondet_uint();
    return i < 2 ? table[i](3) : 0;
}
