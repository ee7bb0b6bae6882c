// How exact `cbrt` is C does not say: libraries and compilers differ here. Where the result is exact they do not.
// palisade check --property unreach-call tests/c/check/library_last_digits.c
// verdict: unknown
#include <math.h>
extern void reach_error(void);
int main(void)
{
    if (cbrt(27) == 3)
        reach_error();
    return 0;
}
