// The only run of a program that uses zeroed memory and returns all of it.
// palisade check --property valid-memcleanup --analysis concrete tests/c/check/only_run_memory.c
// verdict: true
#include <stdlib.h>
int main(void) {
    int *p = calloc(4, sizeof *p);
    for (int i = 0; i < 4; i++) p[i] = i;
    free(p);
    return 0;
}
