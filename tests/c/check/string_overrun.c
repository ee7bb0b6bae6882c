// The same walk without a terminator leaves the object.
// palisade check --property valid-memsafety tests/c/check/string_overrun.c
// verdict: false(valid-deref)
extern int __VERIFIER_nondet_int(void);
extern char __VERIFIER_nondet_char(void);

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1)
        n = 1;
    char *text = __builtin_alloca(n);
    for (int i = 0; i < n; i++)
        text[i] = __VERIFIER_nondet_char();
    const char *p = text;
    while (*p)
        p++;
    return (int)(p - text);
}
