// What follows a number does not continue it; which characters do is not told exactly.
// palisade check --property unreach-call tests/c/check/library_scanf_next.c
// verdict: unknown
#include <stdio.h>
extern void reach_error(void);
int main(void)
{
    int x;
    if (scanf("%d", &x) == 1 && getchar() == '5')
        reach_error();
    return 0;
}
