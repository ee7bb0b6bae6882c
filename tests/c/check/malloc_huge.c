// More bytes than any object has are never allocated.
// palisade check tests/c/check/malloc_huge.c
// verdict: false(unreach-call)
#include <stdlib.h>
extern void reach_error(void);

int main(void) {
    volatile unsigned long n = ~0ul;
    if (!malloc(n))
        reach_error();
    return 0;
}
