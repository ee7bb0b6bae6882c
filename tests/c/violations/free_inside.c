// Freed by a pointer into it.
// palisade check --property valid-memsafety free_inside.c
// violation: free of a pointer to byte 1 of heap#1 (8 bytes, allocated at free_inside.c:6): `free(p + 1)`
#include <stdlib.h>
int main(void) {
    char *p = malloc(8);
    free(p + 1);
    return 0;
}
