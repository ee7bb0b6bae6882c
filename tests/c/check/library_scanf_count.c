// `%n` behind the last conversion is stored.
// palisade check tests/c/check/library_scanf_count.c
// verdict: unknown
#include <stdio.h>
extern void reach_error(void);

int main(void) {
    int a, n = 0;
    if (sscanf("12 34", "%d %n", &a, &n) == 1 && n == 3)
        reach_error();
    return 0;
}
