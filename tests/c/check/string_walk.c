// A pointer walks through a string of unknown length; the terminator stops it inside the object.
// palisade check --property valid-memsafety tests/c/check/string_walk.c
// verdict: true
extern int __VERIFIER_nondet_int(void);
extern char __VERIFIER_nondet_char(void);

static int length(const char *s) {
    const char *p = s;
    while (*p)
        p++;
    return (int)(p - s);
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1)
        n = 1;
    char *text = __builtin_alloca(n);
    for (int i = 0; i < n - 1; i++)
        text[i] = __VERIFIER_nondet_char();
    text[n - 1] = 0;
    return length(text);
}
