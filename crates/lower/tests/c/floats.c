// The exact functions of <math.h> on numbers from all corners, results by their bits.
int printf(const char *, ...);
double fabs(double), fmin(double, double), fmax(double, double), fdim(double, double);
double copysign(double, double), trunc(double), floor(double), ceil(double), round(double);
double rint(double), nearbyint(double), modf(double, double *), frexp(double, int *), fmod(double, double);
long lround(double), lrint(double);
long long llround(double), llrint(double);
float fabsf(float), fminf(float, float), fmaxf(float, float), copysignf(float, float), truncf(float);
float floorf(float), ceilf(float), roundf(float), rintf(float), modff(float, float *), fmodf(float, float);
int __isnan(double), __isinf(double), __finite(double), __signbit(double), __fpclassify(double);
int __isnanf(float), __isinff(float), __signbitf(float), __fpclassifyf(float);
long double floorl(long double), ceill(long double), truncl(long double), roundl(long double);
long double fabsl(long double), copysignl(long double, long double);

static unsigned long bits(double d)
{
    union { double d; unsigned long u; } u;
    u.d = d;
    // All NaNs are alike: their signs and payloads differ between machines.
    return d != d ? 1 : u.u;
}

int main(void)
{
    double values[40];
    int i, j, n = 0, sign;
    double zero = 0.0;
    for (sign = 0; sign < 2; sign++) {
        double s = sign ? -1.0 : 1.0;
        values[n++] = s * zero;
        values[n++] = s * 0.49999999999999994;
        values[n++] = s * 0.5;
        values[n++] = s * 1.0;
        values[n++] = s * 1.5;
        values[n++] = s * 2.5;
        values[n++] = s * 3.75;
        values[n++] = s * 1e10;
        values[n++] = s * 4503599627370495.5;
        values[n++] = s * 4503599627370497.0;
        values[n++] = s * 9007199254740993.0;
        values[n++] = s * 1e300;
        values[n++] = s * 5e-324;
        values[n++] = s * 2.2250738585072014e-308;
        values[n++] = s / zero;
    }
    values[n++] = zero / zero;
    for (i = 0; i < n; i++) {
        double x = values[i], whole;
        float f = (float)x, wholef;
        int e = 0;
        long double l = x;
        printf("%lx %lx %lx %lx %lx ", bits(fabs(x)), bits(trunc(x)), bits(floor(x)), bits(ceil(x)), bits(round(x)));
        printf("%lx %lx ", bits(rint(x)), bits(nearbyint(x)));
        printf("%lx ", bits(modf(x, &whole)));
        printf("%lx ", bits(whole));
        printf("%lx ", bits(frexp(x, &e)));
        printf("%d ", x - x == 0 ? e : 0);
        printf("%d %d %d %d ", !!__isnan(x), __isinf(x), !!__finite(x), __fpclassify(x));
        printf("%d %d ", x == x ? !!__signbit(x) : 0, __fpclassifyf(f));
        printf("%lx %lx %lx %lx ", bits(fabsf(f)), bits(truncf(f)), bits(floorf(f)), bits(ceilf(f)));
        printf("%lx %lx %lx ", bits(roundf(f)), bits(rintf(f)), bits(modff(f, &wholef)));
        printf("%d %d %d ", !!__isnanf(f), __isinff(f), f == f ? !!__signbitf(f) : 0);
        printf("%lx %lx %lx ", bits((double)floorl(l)), bits((double)ceill(l)), bits((double)truncl(l)));
        printf("%lx %lx ", bits((double)roundl(l)), bits((double)fabsl(l)));
        if (x > -1e15 && x < 1e15)
            printf("%ld %ld %lld %lld", lround(x), lrint(x), llround(x), llrint(x));
        printf("\n");
        for (j = 0; j < n; j++) {
            double y = values[j];
            float g = (float)y;
            // Which of two zeros is smaller is left open.
            if (!(f == 0 && g == 0))
                printf("%lx %lx %lx %lx ", bits(fmin(x, y)), bits(fmax(x, y)), bits(fminf(f, g)), bits(fmaxf(f, g)));
            if (y == y)
                printf("%lx %lx %lx ", bits(copysign(x, y)), bits(copysignf(f, g)), bits((double)copysignl(l, y)));
            printf("%lx %lx %lx\n", bits(fdim(x, y)), bits(fmod(x, y)), bits(fmodf(f, g)));
        }
    }
    return 0;
}
