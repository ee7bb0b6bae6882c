// The buffer is too small for the text.
// palisade check --property valid-memsafety in_the_library.c
// violation: in `strcpy`: write of 1 byte, right behind the end of `buf` (4 bytes)
#include <string.h>
int main(void) {
    char buf[4];
    strcpy(buf, "text");
    return buf[0];
}
