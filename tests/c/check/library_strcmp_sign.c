// Only the sign of a comparison is fixed.
// palisade check --property unreach-call tests/c/check/library_strcmp_sign.c
// verdict: false(unreach-call)
extern void reach_error(void);
int strcmp(const char *, const char *);
int main(void)
{
    int r = strcmp("b", "a");
    if (r <= 0)
        return 0;
    if (r != 1)
        reach_error();
    return 0;
}
