// A copy that begins inside one member and ends inside the next one.
// palisade check --property unreach-call tests/c/check/memmove_into_scalar.c
// verdict: true
extern void *memmove(void *, const void *, unsigned long);
extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
struct pair { unsigned a; unsigned b; };
int main(void) {
    struct pair s = {0x03020100, 0x07060504}, t = s;
    unsigned n = __VERIFIER_nondet_uint();
    t.a = n;
    memmove((char *)&t + 2, (char *)&s + 2, 4);
    if (t.a != (0x03020000 | (n & 0xffff)) || t.b != 0x07060504)
        reach_error();
    return 0;
}
