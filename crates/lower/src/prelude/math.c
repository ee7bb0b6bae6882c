// The parts of <math.h> that have a simple exact definition. Everything else stays external.

//@ fabs
double $fabs(double x)
{
    return x < 0.0 ? -x : x == 0.0 ? 0.0 : x;
}

//@ fabsf
float $fabsf(float x)
{
    return x < 0.0f ? -x : x == 0.0f ? 0.0f : x;
}

//@ fabsl
long double $fabsl(long double x)
{
    return x < 0.0L ? -x : x == 0.0L ? 0.0L : x;
}

//@ fmin
double $fmin(double x, double y)
{
    return x != x ? y : y < x ? y : x;
}

//@ fminf
float $fminf(float x, float y)
{
    return x != x ? y : y < x ? y : x;
}

//@ fminl
long double $fminl(long double x, long double y)
{
    return x != x ? y : y < x ? y : x;
}

//@ fmax
double $fmax(double x, double y)
{
    return x != x ? y : x < y ? y : x;
}

//@ fmaxf
float $fmaxf(float x, float y)
{
    return x != x ? y : x < y ? y : x;
}

//@ fmaxl
long double $fmaxl(long double x, long double y)
{
    return x != x ? y : x < y ? y : x;
}

//@ fdim
double $fdim(double x, double y)
{
    double d = x <= y ? 0.0 : x - y;
    // Out of range, unless an argument is.
    if (d - d != d - d && x - x == x - x && y - y == y - y)
        $maybe_errno();
    return d;
}

//@ fdimf
float $fdimf(float x, float y)
{
    float d = x <= y ? 0.0f : x - y;
    // Out of range, unless an argument is.
    if (d - d != d - d && x - x == x - x && y - y == y - y)
        $maybe_errno();
    return d;
}

//@ fdiml
long double $fdiml(long double x, long double y)
{
    long double d = x <= y ? 0.0L : x - y;
    // Out of range, unless an argument is.
    if (d - d != d - d && x - x == x - x && y - y == y - y)
        $maybe_errno();
    return d;
}

//@ isnan __isnan
int $isnan(double x)
{
    return x != x;
}
int $__isnan(double x)
{
    return x != x;
}

//@ isnanf __isnanf
int $isnanf(float x)
{
    return x != x;
}
int $__isnanf(float x)
{
    return x != x;
}

//@ isnanl __isnanl
int $isnanl(long double x)
{
    return x != x;
}
int $__isnanl(long double x)
{
    return x != x;
}

//@ isinf __isinf
int $isinf(double x)
{
    return x - x != x - x && x == x ? (x < 0.0 ? -1 : 1) : 0;
}
int $__isinf(double x)
{
    return $isinf(x);
}

//@ isinff __isinff
int $isinff(float x)
{
    return x - x != x - x && x == x ? (x < 0.0f ? -1 : 1) : 0;
}
int $__isinff(float x)
{
    return $isinff(x);
}

//@ isinfl __isinfl
int $isinfl(long double x)
{
    return x - x != x - x && x == x ? (x < 0.0L ? -1 : 1) : 0;
}
int $__isinfl(long double x)
{
    return $isinfl(x);
}

//@ finite __finite isfinite
int $finite(double x)
{
    return x - x == x - x;
}
int $__finite(double x)
{
    return x - x == x - x;
}
int $isfinite(double x)
{
    return x - x == x - x;
}

//@ finitef __finitef
int $finitef(float x)
{
    return x - x == x - x;
}
int $__finitef(float x)
{
    return x - x == x - x;
}

//@ finitel __finitel
int $finitel(long double x)
{
    return x - x == x - x;
}
int $__finitel(long double x)
{
    return x - x == x - x;
}

//@ __signbit signbit
int $__signbit(double x)
{
    union { double value; unsigned long long bits; } u;
    u.value = x;
    return (int)(u.bits >> 63);
}
int $signbit(double x)
{
    return $__signbit(x);
}

//@ __signbitf
int $__signbitf(float x)
{
    union { float value; unsigned bits; } u;
    u.value = x;
    return (int)(u.bits >> 31);
}

//@ __signbitl
int $__signbitl(long double x)
{
    union { long double value; unsigned short parts[5]; } u;
    u.value = x;
    return u.parts[4] >> 15;
}

//@ __fpclassify fpclassify
int $__fpclassify(double x)
{
    if (x != x)
        return 0;
    if (x - x != x - x)
        return 1;
    if (x == 0.0)
        return 2;
    return x > -0x1p-1022 && x < 0x1p-1022 ? 3 : 4;
}
int $fpclassify(double x)
{
    return $__fpclassify(x);
}

//@ __fpclassifyf
int $__fpclassifyf(float x)
{
    if (x != x)
        return 0;
    if (x - x != x - x)
        return 1;
    if (x == 0.0f)
        return 2;
    return x > -0x1p-126f && x < 0x1p-126f ? 3 : 4;
}

//@ __fpclassifyl
int $__fpclassifyl(long double x)
{
    if (x != x)
        return 0;
    if (x - x != x - x)
        return 1;
    if (x == 0.0L)
        return 2;
    return x > -0x1p-16382L && x < 0x1p-16382L ? 3 : 4;
}

//@ copysign
double $copysign(double x, double y)
{
    union { double value; unsigned long long bits; } a, b;
    a.value = x;
    b.value = y;
    a.bits = (a.bits & ~0ull >> 1) | (b.bits & ~(~0ull >> 1));
    return a.value;
}

//@ copysignf
float $copysignf(float x, float y)
{
    union { float value; unsigned bits; } a, b;
    a.value = x;
    b.value = y;
    a.bits = (a.bits & 0x7fffffffu) | (b.bits & 0x80000000u);
    return a.value;
}

//@ copysignl
int $__signbitl(long double x);
long double $copysignl(long double x, long double y)
{
    return $__signbitl(x) == $__signbitl(y) ? x : -x;
}

//@ trunc
// From 2^52 on every double is an integer; below it a conversion to long long is exact.
double $copysign(double x, double y);
double $trunc(double x)
{
    if (x > -0x1p52 && x < 0x1p52)
        return $copysign((double)(long long)x, x);
    return x;
}

//@ truncf
float $copysignf(float x, float y);
float $truncf(float x)
{
    if (x > -0x1p23f && x < 0x1p23f)
        return $copysignf((float)(int)x, x);
    return x;
}

//@ truncl
long double $copysignl(long double x, long double y);
long double $truncl(long double x)
{
    if (x > -0x1p62L && x < 0x1p62L)
        return $copysignl((long double)(long long)x, x);
    if (x > -0x1p63L && x < 0x1p63L)
        return x < 0.0L ? (long double)(long long)(x + 0x1p62L) - 0x1p62L
                        : (long double)(long long)(x - 0x1p62L) + 0x1p62L;
    return x;
}

//@ floor
double $trunc(double x);
double $floor(double x)
{
    double t = $trunc(x);
    return t > x ? t - 1.0 : t;
}

//@ floorf
float $truncf(float x);
float $floorf(float x)
{
    float t = $truncf(x);
    return t > x ? t - 1.0f : t;
}

//@ floorl
long double $truncl(long double x);
long double $floorl(long double x)
{
    long double t = $truncl(x);
    return t > x ? t - 1.0L : t;
}

//@ ceil
double $copysign(double x, double y);
double $trunc(double x);
double $ceil(double x)
{
    double t = $trunc(x);
    return t < x ? $copysign(t + 1.0, x) : t;
}

//@ ceilf
float $copysignf(float x, float y);
float $truncf(float x);
float $ceilf(float x)
{
    float t = $truncf(x);
    return t < x ? $copysignf(t + 1.0f, x) : t;
}

//@ ceill
long double $copysignl(long double x, long double y);
long double $truncl(long double x);
long double $ceill(long double x)
{
    long double t = $truncl(x);
    return t < x ? $copysignl(t + 1.0L, x) : t;
}

//@ round
double $copysign(double x, double y);
double $trunc(double x);
double $round(double x)
{
    double t = $trunc(x);
    if (x - t >= 0.5)
        return t + 1.0;
    if (t - x >= 0.5)
        return t - 1.0;
    return t;
}

//@ roundf
float $truncf(float x);
float $roundf(float x)
{
    float t = $truncf(x);
    if (x - t >= 0.5f)
        return t + 1.0f;
    if (t - x >= 0.5f)
        return t - 1.0f;
    return t;
}

//@ roundl
long double $truncl(long double x);
long double $roundl(long double x)
{
    long double t = $truncl(x);
    if (x - t >= 0.5L)
        return t + 1.0L;
    if (t - x >= 0.5L)
        return t - 1.0L;
    return t;
}

//@ lround
double $round(double x);
long $lround(double x)
{
    return (long)$round(x);
}

//@ llround
double $round(double x);
long long $llround(double x)
{
    return (long long)$round(x);
}

//@ rint nearbyint
// Adding 2^52 leaves no room for a fraction, so the addition itself rounds to nearest even.
double $copysign(double x, double y);
double $rint(double x)
{
    if (x > -0x1p52 && x < 0x1p52) {
        double r = x < 0.0 ? (x - 0x1p52) + 0x1p52 : (x + 0x1p52) - 0x1p52;
        return $copysign(r, x);
    }
    return x;
}
double $nearbyint(double x)
{
    return $rint(x);
}

//@ rintf nearbyintf
float $copysignf(float x, float y);
float $rintf(float x)
{
    if (x > -0x1p23f && x < 0x1p23f) {
        float r = x < 0.0f ? (x - 0x1p23f) + 0x1p23f : (x + 0x1p23f) - 0x1p23f;
        return $copysignf(r, x);
    }
    return x;
}
float $nearbyintf(float x)
{
    return $rintf(x);
}

//@ lrint
double $rint(double x);
long $lrint(double x)
{
    return (long)$rint(x);
}

//@ llrint
double $rint(double x);
long long $llrint(double x)
{
    return (long long)$rint(x);
}

//@ modf
double $trunc(double x);
double $copysign(double x, double y);
double $modf(double x, double *whole)
{
    *whole = $trunc(x);
    if (x - x != x - x)
        return x != x ? x : $copysign(0.0, x);
    return $copysign(x - *whole, x);
}

//@ modff
float $truncf(float x);
float $copysignf(float x, float y);
float $modff(float x, float *whole)
{
    *whole = $truncf(x);
    if (x - x != x - x)
        return x != x ? x : $copysignf(0.0f, x);
    return $copysignf(x - *whole, x);
}

//@ frexp
double $frexp(double x, int *exponent)
{
    int e = 0;
    *exponent = 0;
    if (x - x != x - x || x == 0.0)
        return x;
    while (x >= 1.0 || x <= -1.0) {
        x = x * 0.5;
        e++;
    }
    while (x > -0.5 && x < 0.5) {
        x = x * 2.0;
        e--;
    }
    *exponent = e;
    return x;
}

//@ fmod
// Long division: `t` runs through the doubled divisors; every subtraction is exact.
double $copysign(double x, double y);
double $fabs(double x);
double $fmod(double x, double y)
{
    double rest = $fabs(x);
    double divisor = $fabs(y);
    double t;
    if (x != x || y != y || rest - rest != rest - rest || divisor == 0.0) {
        if (x == x && y == y)
            $maybe_errno();
        return (x * y) / (x * y);
    }
    if (divisor - divisor != divisor - divisor || rest < divisor)
        return x;
    t = divisor;
    while (t <= rest * 0.5)
        t = t + t;
    for (;;) {
        if (rest >= t)
            rest = rest - t;
        if (t == divisor)
            break;
        t = t * 0.5;
    }
    return $copysign(rest, x);
}

//@ fmodf
double $fmod(double x, double y);
float $fmodf(float x, float y)
{
    return (float)$fmod(x, y);
}

//@ modfl
long double $truncl(long double x);
long double $copysignl(long double x, long double y);
long double $modfl(long double x, long double *whole)
{
    *whole = $truncl(x);
    if (x - x != x - x)
        return x != x ? x : $copysignl(0.0l, x);
    return $copysignl(x - *whole, x);
}

//@ frexpf
double $frexp(double x, int *exponent);
float $frexpf(float x, int *exponent)
{
    return (float)$frexp(x, exponent);
}

//@ frexpl
long double $frexpl(long double x, int *exponent)
{
    int e = 0;
    *exponent = 0;
    if (x - x != x - x || x == 0.0l)
        return x;
    while (x >= 1.0l || x <= -1.0l) {
        x = x * 0.5l;
        e++;
    }
    while (x > -0.5l && x < 0.5l) {
        x = x * 2.0l;
        e--;
    }
    *exponent = e;
    return x;
}

//@ logb logbf logbl
double $frexp(double x, int *exponent);
long double $frexpl(long double x, int *exponent);
double $logb(double x)
{
    int e;
    if (x != x)
        return x;
    if (x - x != x - x)
        return x * x;
    if (x == 0.0) {
        $set_errno();
        return -1.0 / (x * x);
    }
    $frexp(x, &e);
    return e - 1;
}
float $logbf(float x)
{
    return (float)$logb(x);
}
long double $logbl(long double x)
{
    int e;
    if (x != x)
        return x;
    if (x - x != x - x)
        return x * x;
    if (x == 0.0l) {
        $set_errno();
        return -1.0l / (x * x);
    }
    $frexpl(x, &e);
    return e - 1;
}

//@ nextafter
// Neighbours have neighbouring bits.
double $nextafter(double x, double y)
{
    union { double value; long long bits; } u;
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0.0) {
        $maybe_errno();
        u.bits = 1;
        return y > 0.0 ? u.value : -u.value;
    }
    u.value = x;
    if ((x < y) == (x > 0.0))
        u.bits++;
    else
        u.bits--;
    // Too large, or less than the least normal number.
    if (u.value - u.value != u.value - u.value || u.value > -0x1p-1022 && u.value < 0x1p-1022)
        $maybe_errno();
    return u.value;
}

//@ nextafterf
float $nextafterf(float x, float y)
{
    union { float value; int bits; } u;
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0.0f) {
        $maybe_errno();
        u.bits = 1;
        return y > 0.0f ? u.value : -u.value;
    }
    u.value = x;
    if ((x < y) == (x > 0.0f))
        u.bits++;
    else
        u.bits--;
    // Too large, or less than the least normal number.
    if (u.value - u.value != u.value - u.value || u.value > -0x1p-126f && u.value < 0x1p-126f)
        $maybe_errno();
    return u.value;
}

//@ nexttoward
double $nextafter(double x, double y);
double $nexttoward(double x, long double y)
{
    if (x != x || y != y)
        return (double)(x + y);
    if ((long double)x == y)
        return (double)y;
    return $nextafter(x, (long double)x < y ? 1.0 / 0.0 : -1.0 / 0.0);
}

//@ nexttowardf
float $nextafterf(float x, float y);
float $nexttowardf(float x, long double y)
{
    if (x != x || y != y)
        return (float)(x + y);
    if ((long double)x == y)
        return (float)y;
    return $nextafterf(x, (long double)x < y ? 1.0f / 0.0f : -1.0f / 0.0f);
}

//@ remquo remquof remquol
double $direct_remainder(double x, double y);
float $direct_remainderf(float x, float y);
long double $direct_remainderl(long double x, long double y);
double $remquo(double x, double y, int *quotient)
{
    *quotient = $opaque_int();
    return $direct_remainder(x, y);
}
float $remquof(float x, float y, int *quotient)
{
    *quotient = $opaque_int();
    return $direct_remainderf(x, y);
}
long double $remquol(long double x, long double y, int *quotient)
{
    *quotient = $opaque_int();
    return $direct_remainderl(x, y);
}

//@ sincos sincosf sincosl
double $direct_sin(double x);
double $direct_cos(double x);
float $direct_sinf(float x);
float $direct_cosf(float x);
long double $direct_sinl(long double x);
long double $direct_cosl(long double x);
void $sincos(double x, double *s, double *c)
{
    *s = $direct_sin(x);
    *c = $direct_cos(x);
}
void $sincosf(float x, float *s, float *c)
{
    *s = $direct_sinf(x);
    *c = $direct_cosf(x);
}
void $sincosl(long double x, long double *s, long double *c)
{
    *s = $direct_sinl(x);
    *c = $direct_cosl(x);
}

//@ fegetround fesetround
// All arithmetic rounds to nearest; a run that chooses another direction is not followed.
int $fegetround(void)
{
    return 0;
}
int $fesetround(int mode)
{
    if (mode != 0)
        $unmodelled();
    return 0;
}
