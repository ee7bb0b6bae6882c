// What %s prints has an end.
// palisade check --property valid-memsafety tests/c/check/library_printf_no_end.c
// verdict: false(valid-deref)
int printf(const char *, ...);
int main(void)
{
    char text[2] = { 'a', 'b' };
    printf("%s\n", text);
    return 0;
}
