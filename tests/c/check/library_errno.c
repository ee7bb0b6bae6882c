// A function that fails says why.
// palisade check --property unreach-call tests/c/check/library_errno.c
// verdict: false(unreach-call)
extern void reach_error(void);
int *__errno_location(void);
int close(int);
int main(void)
{
    *__errno_location() = 0;
    if (close(99) < 0 && *__errno_location() != 0)
        reach_error();
    return 0;
}
