// A string is moved to its own front by strcpy.
// palisade check tests/c/check/overlapping_strings.c --property def-behavior
// verdict: false(def-behavior)
#include <string.h>
int main(void) {
    char b[16] = "  word";
    strcpy(b, b + 2);
    return 0;
}
