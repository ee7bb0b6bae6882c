// Floating point: float, double, long double, conversions, the math library.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static long double power(long double x, int n)
{
    long double r = 1;
    while (n-- > 0)
        r *= x;
    return r;
}

int main(void)
{
    float f = 0.1f;
    double d = 0.1;
    long double l = 0.1L;
    printf("%.10f %.20f %.25Lf\n", f, d, l);
    printf("%d %d\n", f == d, (float)d == f);
    f = 16777216.0f;
    printf("%.1f %.1f\n", f + 1.0f, (double)f + 1.0);
    printf("%a %a %La\n", d, 1e-310, l);
    printf("%.30Le\n%.20Lg\n", power(3.0L, 60), power(1.1L, 500));
    printf("%Lf %d\n", sqrtl(2.0L) * sqrtl(2.0L) - 2.0L, sqrtl(2.0L) * sqrtl(2.0L) == 2.0L);
    long double q = 1.0L / 3.0L;
    printf("%.21Lf %d %lld\n", q, q * 3.0L == 1.0L, (long long)(q * 1e15L));
    unsigned long long big = 18446744073709551615ULL;
    printf("%.1f %.1Lf %.1f\n", (double)big, (long double)big, (float)big);
    printf("%llu %lld %d %u\n", (unsigned long long)1e19, (long long)-1e18, (int)-2.9, (unsigned)3e9);
    printf("%d %d %u\n", (signed char)100.7, (short)-300.9f, (unsigned char)200.0L);
    double nan = NAN, inf = INFINITY;
    printf("%d %d %d %d %f %f\n", nan == nan, nan != nan, nan < 1.0, inf > DBL_MAX, nan, -inf);
    printf("%g %g %g\n", 1.0 / inf, -0.0, DBL_MIN / 4);
    printf("%.15g %.15g %.15g %.15g\n", sin(1.0), cos(2.0), tan(0.5), atan2(1, -1));
    printf("%.15g %.15g %.15g %.15g\n", exp(1.5), log(10), pow(2, 0.5), cbrt(27));
    printf("%g %g %g %g %g\n", floor(-1.5), ceil(-1.5), round(2.5), trunc(-2.7), fabs(-3.25));
    printf("%.9g %.9g %g %g\n", sinf(1.0f), sqrtf(2.0f), fmod(7.5, 2.0), hypot(3, 4));
    int e;
    double m = frexp(48.0, &e);
    printf("%g %d %g\n", m, e, ldexp(0.75, 4));
    double whole, part = modf(-3.75, &whole);
    printf("%g %g %ld %g\n", whole, part, lround(-2.5), copysign(1.0, -0.0));
    printf("%g %g\n", strtod("  1.5e3xyz", NULL), atof("-0.25"));
    float sum = 0;
    for (int i = 1; i <= 1000; i++)
        sum += 1.0f / (float)i;
    printf("%.9g\n", sum);
    double s = 0;
    for (int i = 0; i < 100; i++)
        s = s * 0.9 + i / 7.0;
    printf("%.17g\n", s);
    long double h = 0;
    for (int i = 1; i < 200; i++)
        h += (i % 2 ? 1.0L : -1.0L) / (i * i * i + 0.7L);
    printf("%.20Lg %d\n", h, (int)(h * 1000000));
    printf("%d %d %d\n", 0.1 + 0.2 == 0.3, 0.5f + 0.25f == 0.75, (int)(0.1f * 10));
    printf("%.3f %.0f %.0f %.0f %5.1f|%-8.2f|%+.1e\n", 2.0005, 0.5, 1.5, 2.5, 3.14159, 2.5, 12345.678);
    printf("%Lg %Lg %Lg\n", LDBL_MAX, LDBL_MIN, LDBL_EPSILON);
    printf("%g %g %d\n", (double)FLT_MAX, (double)FLT_MIN, DBL_DIG);
    return 0;
}
