// Unsigned numbers wrap: the counter comes back to zero.
// palisade check tests/c/check/wrap.c
// verdict: false(unreach-call)
#include <assert.h>
int main(void) {
    unsigned char c = 250;
    for (int i = 0; i < 6; i++)
        c++;
    assert(c != 0);
    return 0;
}
