// A format that is passed on is walked through.
// palisade check --property valid-memsafety tests/c/check/library_vprintf.c
// verdict: false(valid-deref)
typedef __builtin_va_list va_list;
int vprintf(const char *, va_list);
static void say(const char *format, ...)
{
    va_list list;
    __builtin_va_start(list, format);
    vprintf(format, list);
    __builtin_va_end(list);
}
int main(void)
{
    char text[2] = { 'a', 'b' };
    say("%d %s", 1, text);
    return 0;
}
