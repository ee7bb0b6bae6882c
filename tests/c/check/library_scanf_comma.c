// A comma may stand behind a number.
// palisade check --property unreach-call tests/c/check/library_scanf_comma.c
// verdict: false(unreach-call)
#include <stdio.h>
extern void reach_error(void);
int main(void)
{
    int x;
    if (scanf("%d", &x) == 1 && getchar() == ',')
        reach_error();
    return 0;
}
