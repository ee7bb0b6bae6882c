// The next number is larger.
// palisade check --property unreach-call tests/c/check/library_nextafter.c
// verdict: true
extern void reach_error(void);
double nextafter(double, double);
int main(void)
{
    if (!(nextafter(1.0, 2.0) > 1.0))
        reach_error();
    return 0;
}
