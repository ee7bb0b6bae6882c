// The width that `*` asks for is no number, so that nothing is known of the string behind it.
// palisade check --property valid-memsafety tests/c/check/library_printf_star.c
// verdict: unknown
#include <stdio.h>

int main(void) {
    char open[2] = {'a', 'b'};
    printf("%*d %s\n", 1.5, 7, open);
    return 0;
}
