// A format can store how much was printed.
// palisade check --property unreach-call tests/c/check/printf_count.c
// verdict: false(unreach-call)
extern int printf(const char *, ...);
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int n = 0;
    if (__VERIFIER_nondet_int() == 5) {
        printf("abc%n", &n);
    }
    if (n != 0) {
        reach_error();
    }
    return 0;
}
