// A pointer to memcpy copies.
// palisade check --property unreach-call tests/c/check/library_memcpy_by_pointer.c
// verdict: false(unreach-call)
extern void reach_error(void);
void *memcpy(void *, const void *, unsigned long);
int main(void)
{
    void *(*f)(void *, const void *, unsigned long) = memcpy;
    int a = 1, b = 2;
    f(&a, &b, sizeof a);
    if (a == 2)
        reach_error();
    return 0;
}
