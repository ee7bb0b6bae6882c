// What a file gives is a character or -1; the library's own arithmetic stays within its types.
// palisade check --property no-overflow tests/c/check/stream_overflow.c
// verdict: true
#include <stdio.h>
int main(void) {
    FILE *file = fopen("data", "r");
    if (!file)
        return 1;
    int first = fgetc(file);
    int twice = 2 * first;
    fclose(file);
    return twice == 4;
}
