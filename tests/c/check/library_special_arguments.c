// Values at special arguments are the same everywhere.
// palisade check --property unreach-call tests/c/check/library_special_arguments.c
// verdict: false(unreach-call)
#include <math.h>
extern void reach_error(void);
int main(void)
{
    volatile double zero = 0;
    if (pow(zero, -1) > 1e308 && cos(zero) == 1 && log(1) == 0 && hypot(zero, 5) == 5)
        reach_error();
    return 0;
}
