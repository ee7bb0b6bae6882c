// Freed twice.
// palisade check --property valid-memsafety double_free.c
// violation: free of heap#1 (8 bytes, allocated at double_free.c:6), already freed at double_free.c:7: `free(p)`
#include <stdlib.h>
int main(void) {
    void *p = malloc(8);
    free(p);
    free(p);
    return 0;
}
