// An early return forgets the buffer.
// palisade check --property valid-memcleanup examples/leak.c
// verdict: false(valid-memcleanup)
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);

int main(void) {
    char *buffer = malloc(16);
    if (__VERIFIER_nondet_int() < 0)
        return 1;
    free(buffer);
    return 0;
}
