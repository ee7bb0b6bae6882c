// What cannot be shown cannot be shown through a pointer either.
// palisade check --property unreach-call tests/c/check/library_fork_by_pointer.c
// verdict: unknown
extern void reach_error(void);
int fork(void);
int main(void)
{
    int (*f)(void) = fork;
    if (f() > 0)
        return 0;
    return 0;
    reach_error();
}
