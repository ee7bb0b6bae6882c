// Copies within one object that have no byte in common, and of an object to itself.
// palisade check tests/c/check/copies_apart.c --property def-behavior
// verdict: true
#include <string.h>
int __VERIFIER_nondet_int(void);
int main(void) {
    struct { char a[8], b[8]; } s = {"abc", "defg"};
    char t[16] = "xyz";
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 8) return 0;
    memcpy(s.a, s.b, n);
    memcpy(t, t + n, 16 - n < n ? 16 - n : n);
    memcpy(t, t, n);
    strcpy(t, "12");
    strcat(t, "3");
    strcpy(t + 4, t);
    strncpy(t + 8, t, 8);
    return 0;
}
