// A blank in a format skips all blanks, and a number ends where no digit follows.
// palisade check --property unreach-call tests/c/check/library_scanf_blanks.c
// verdict: true
#include <stdio.h>
extern void reach_error(void);
int main(void)
{
    char c, d;
    if (scanf(" %c%c", &c, &d) == 2 && c == ' ')
        reach_error();
    return 0;
}
