// Never freed.
// palisade check --property valid-memcleanup leak_at_end.c
// violation: leak: heap#1 (24 bytes, allocated at leak_at_end.c:6) is still allocated when the program ends
#include <stdlib.h>
int main(void) {
    char *p = malloc(24);
    return p == 0;
}
