// A number that an integer cannot hold becomes one thing in processors and another in compilers.
// palisade check --property unreach-call tests/c/check/conversion_does_not_fit.c
// verdict: unknown
extern void reach_error(void);
int main(void)
{
    unsigned u = (unsigned)-1.0;
    if (u == 0)
        reach_error();
    return 0;
}
