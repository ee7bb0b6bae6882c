// Freed, but never allocated.
// palisade check --property valid-memsafety free_local.c
// violation: free of `x` (4 bytes), which is not on the heap: `free(&x)`
#include <stdlib.h>
int main(void) {
    int x = 0;
    free(&x);
    return x;
}
