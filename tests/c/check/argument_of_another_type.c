// A call through a pointer passes a pointer as an integer, and takes an integer as a pointer.
// palisade check --property unreach-call tests/c/check/argument_of_another_type.c
// verdict: true
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

static int chosen;

static unsigned long same_or_null(unsigned long address) {
    chosen = __VERIFIER_nondet_int() != 0;
    return chosen ? address : 0;
}

int main(void) {
    int x = 5;
    int *(*f)(int *) = (int *(*)(int *))same_or_null;
    int *p = f(&x);
    if (!chosen && p) {
        reach_error();
    }
    return 0;
}
