// Up to its precision %s needs no end.
// palisade check --property valid-memsafety tests/c/check/library_printf_precision.c
// verdict: true
int printf(const char *, ...);
int main(void)
{
    char text[2] = { 'a', 'b' };
    printf("%.2s %d\n", text, 5);
    return 0;
}
