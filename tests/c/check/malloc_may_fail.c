// An allocation that may fail gives a null pointer.
// palisade check --property valid-memsafety --malloc-may-fail tests/c/check/malloc_may_fail.c
// verdict: false(valid-deref)
#include <stdlib.h>

int main(void) {
    int *p = malloc(sizeof *p);
    *p = 1;
    free(p);
    return 0;
}
