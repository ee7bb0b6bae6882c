// Two functions that need each other's contract.
// palisade check --analysis summaries tests/c/check/recursion_mutual.c
// verdict: true
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int lower(int n);
int upper(int n) { return n <= 0 ? 1 : lower(n - 1); }
int lower(int n) { return n <= 0 ? 0 : upper(n - 1); }
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n >= 0) assert(upper(n) == 1 - n % 2);
    return 0;
}
