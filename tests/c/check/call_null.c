// A call through a null pointer is an access that is not valid.
// palisade check --property valid-memsafety tests/c/check/call_null.c
// verdict: false(valid-deref)
extern int __VERIFIER_nondet_int(void);

int main(void) {
    void (*f)(void) = 0;
    if (__VERIFIER_nondet_int() == 4)
        f();
    return 0;
}
