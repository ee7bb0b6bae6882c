// Nothing in the program ever points to the object.
// palisade check --property valid-memsafety tests/c/check/leak_unused.c
// verdict: false(valid-memtrack)
#include <stdlib.h>
int main(void) {
    malloc(3);
    return 0;
}
