// A power that is rounded is not.
// palisade check --property unreach-call tests/c/check/library_rounded_power.c
// verdict: unknown
#include <math.h>
extern void reach_error(void);
int main(void)
{
    volatile double tenth = 0.1;
    if (pow(tenth, 3) == 0.001)
        reach_error();
    return 0;
}
