// What only a variable of main points to is lost when main returns.
// palisade check --property valid-memsafety tests/c/check/leak_at_return.c
// verdict: false(valid-memtrack)
#include <stdlib.h>
int main(void) {
    char *p = malloc(4);
    p[0] = 1;
    return p[0];
}
