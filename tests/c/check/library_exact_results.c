// Powers that need no rounding are the same everywhere.
// palisade check --property unreach-call tests/c/check/library_exact_results.c
// verdict: false(unreach-call)
#include <math.h>
extern void reach_error(void);
int main(void)
{
    volatile double two = 2, zero = 0;
    if (pow(two, 10) == 1024 && pow(1.5, two) == 2.25 && exp(zero) == 1 && fmod(-7, two) == -1 && fmin(two, NAN) == 2)
        reach_error();
    return 0;
}
