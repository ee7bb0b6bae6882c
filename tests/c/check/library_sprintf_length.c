// The text of a number has as many characters as it has digits.
// palisade check --property valid-memsafety tests/c/check/library_sprintf_length.c
// verdict: true
int sprintf(char *, const char *, ...);
extern int __VERIFIER_nondet_int(void);
int main(void)
{
    char text[8];
    int x = __VERIFIER_nondet_int();
    if (x < 0 || x > 99999)
        return 0;
    sprintf(text, "<%d>", x);
    return 0;
}
