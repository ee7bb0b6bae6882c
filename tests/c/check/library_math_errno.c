// `acos` of a number out of its domain sets `errno`.
// palisade check tests/c/check/library_math_errno.c
// verdict: unknown
#include <errno.h>
#include <math.h>
extern void reach_error(void);

int main(void) {
    errno = 0;
    volatile double x = acos(2.0);
    if (errno != 0)
        reach_error();
    return 0;
}
