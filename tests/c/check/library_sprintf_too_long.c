// One digit more does not fit.
// palisade check --property valid-memsafety tests/c/check/library_sprintf_too_long.c
// verdict: false(valid-deref)
int sprintf(char *, const char *, ...);
extern int __VERIFIER_nondet_int(void);
int main(void)
{
    char text[8];
    int x = __VERIFIER_nondet_int();
    if (x < 0 || x > 999999)
        return 0;
    sprintf(text, "<%d>", x);
    return 0;
}
