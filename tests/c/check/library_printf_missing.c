// An argument that a format asks for and nobody gives: nothing is claimed.
// palisade check --property valid-memsafety tests/c/check/library_printf_missing.c
// verdict: unknown
#include <stdio.h>

int main(void) {
    printf("%s %s\n", "a");
    return 0;
}
