// The only pointer is overwritten.
// palisade check --property valid-memsafety leak_lost.c
// violation: leak: heap#1 (24 bytes, allocated at leak_lost.c:6) is lost: nothing points to it any more after leak_lost.c:7
#include <stdlib.h>
int main(void) {
    char *p = malloc(24);
    p = malloc(8);
    free(p);
    return 0;
}
