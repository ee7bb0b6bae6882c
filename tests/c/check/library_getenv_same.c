// The environment does not change between two questions.
// palisade check tests/c/check/library_getenv_same.c
// verdict: true
#include <stdlib.h>
extern void reach_error(void);

int main(void) {
    char *a = getenv("HOME"), *b = getenv("HOME");
    if (!a != !b)
        reach_error();
    return 0;
}
