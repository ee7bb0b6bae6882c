// A program that aborts leaves its heap behind.
// palisade check --property valid-memcleanup tests/c/check/abort_leaks.c
// verdict: false(valid-memcleanup)
#include <stdlib.h>
int main(void) {
    int *p = malloc(sizeof *p);
    *p = 0;
    if (*p != 1) abort();
    free(p);
    return 0;
}
