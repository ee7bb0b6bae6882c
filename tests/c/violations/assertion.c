// An assertion with its values.
// palisade check assertion.c
// violation: assertion `x == y + 1` fails: x is 3, y is 4
#include <assert.h>
int main(void) {
    int x = 3, y = 4;
    assert(x == y + 1);
    return 0;
}
