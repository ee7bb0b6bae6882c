// The last byte that is read is the first that is written.
// palisade check tests/c/check/overlapping_copy.c --property def-behavior
// verdict: false(def-behavior)
#include <string.h>
int __VERIFIER_nondet_int(void);
int main(void) {
    char b[16] = "abcdef";
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 8) return 0;
    memmove(b + 1, b, n);
    memcpy(b, b + 7, n);
    return 0;
}
