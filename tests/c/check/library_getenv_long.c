// A variable of the environment may be longer than most buffers.
// palisade check --property valid-memsafety tests/c/check/library_getenv_long.c
// verdict: false(valid-deref)
#include <stdlib.h>
#include <string.h>

int main(void) {
    char copy[2000];
    char *home = getenv("HOME");
    if (home)
        strcpy(copy, home);
    return 0;
}
