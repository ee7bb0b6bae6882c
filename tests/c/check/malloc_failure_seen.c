// Who looks at the result is safe from allocations that fail, in the program and in the library.
// palisade check --property valid-deref --malloc-may-fail --strict tests/c/check/malloc_failure_seen.c
// verdict: true
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *p = calloc(3, 1);
    char *copy = strdup("abc");
    char *more = realloc(p, 4);
    if (p == 0 || copy == 0 || more == 0)
        return 1;
    more[0] = copy[0];
    free(copy);
    free(more);
    return 0;
}
