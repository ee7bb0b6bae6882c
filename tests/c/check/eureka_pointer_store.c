// A store through a pointer that the linear program does not follow may change the array.
// palisade check --analysis eureka tests/c/check/eureka_pointer_store.c
// verdict: false(unreach-call)
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int a[4], b[4];

int main(void) {
    int *p = __VERIFIER_nondet_int() ? a : b;
    a[1] = 5;
    p[1] = 6;
    if (a[1] != 5)
        reach_error();
    return 0;
}
