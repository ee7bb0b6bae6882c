// `%[^\n]` stores spaces too.
// palisade check tests/c/check/library_scanf_set.c
// verdict: false(unreach-call)
#include <stdio.h>
extern void reach_error(void);

int main(void) {
    char line[4];
    if (scanf("%3[^\n]", line) == 1 && line[1] == ' ')
        reach_error();
    return 0;
}
