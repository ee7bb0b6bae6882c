// The bytes beside those that are set keep their values, in a loop too.
// palisade check --property unreach-call tests/c/check/memset_into_scalar_exact.c
// verdict: true
extern void *memset(void *, int, unsigned long);
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
struct pair { unsigned short low; unsigned long wide; };
int main(void) {
    struct pair s = {7, 0x1122334455667788};
    while (__VERIFIER_nondet_int()) {
        memset((char *)&s.wide + 3, 0xaa, 2);
        if (s.low != 7)
            reach_error();
        if (s.wide != 0x112233aaaa667788 && s.wide != 0x1122334455667788)
            reach_error();
    }
    return 0;
}
