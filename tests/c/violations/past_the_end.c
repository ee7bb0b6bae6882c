// A loop goes one element too far.
// palisade check --property valid-memsafety past_the_end.c
// violation: write of 4 bytes, right behind the end of heap#1 (12 bytes, allocated at past_the_end.c:6): `q[i] = i`
#include <stdlib.h>
int main(void) {
    int *q = malloc(3 * sizeof *q);
    for (int i = 0; i <= 3; i++)
        q[i] = i;
    free(q);
    return 0;
}
