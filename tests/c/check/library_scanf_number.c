// Scanned numbers are inputs.
// palisade check --property unreach-call tests/c/check/library_scanf_number.c
// verdict: false(unreach-call)
extern void reach_error(void);
int scanf(const char *, ...);
int main(void)
{
    int x = 0;
    if (scanf("%d", &x) == 1 && x == 12345)
        reach_error();
    return 0;
}
