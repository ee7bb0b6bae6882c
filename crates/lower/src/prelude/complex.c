// Complex numbers: what products and quotients call, and the parts of <complex.h> that have a simple
// exact definition.
//
// Products are those of C11 annex G.5.1, example 1. Quotients scale their operands as in
// M. Baudin, R. Smith, "A Robust Complex Division in Scilab" (2012), with the bounds of gcc's library;
// those of float are computed in double. Infinities are recovered as in annex G.5.1, example 2.

//@ __mulsc3 __divsc3
float _Complex $__mulsc3(float a, float b, float c, float d)
{
    float ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    float x = ac - bd, y = ad + bc;
    if (__builtin_isnan(x) && __builtin_isnan(y)) {
        int again = 0;
        if (__builtin_isinf(a) || __builtin_isinf(b)) {
            a = __builtin_copysignf(__builtin_isinf(a) ? 1 : 0, a);
            b = __builtin_copysignf(__builtin_isinf(b) ? 1 : 0, b);
            if (__builtin_isnan(c))
                c = __builtin_copysignf(0, c);
            if (__builtin_isnan(d))
                d = __builtin_copysignf(0, d);
            again = 1;
        }
        if (__builtin_isinf(c) || __builtin_isinf(d)) {
            c = __builtin_copysignf(__builtin_isinf(c) ? 1 : 0, c);
            d = __builtin_copysignf(__builtin_isinf(d) ? 1 : 0, d);
            if (__builtin_isnan(a))
                a = __builtin_copysignf(0, a);
            if (__builtin_isnan(b))
                b = __builtin_copysignf(0, b);
            again = 1;
        }
        if (!again
            && (__builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc))) {
            if (__builtin_isnan(a))
                a = __builtin_copysignf(0, a);
            if (__builtin_isnan(b))
                b = __builtin_copysignf(0, b);
            if (__builtin_isnan(c))
                c = __builtin_copysignf(0, c);
            if (__builtin_isnan(d))
                d = __builtin_copysignf(0, d);
            again = 1;
        }
        if (again) {
            x = __builtin_inff() * (a * c - b * d);
            y = __builtin_inff() * (a * d + b * c);
        }
    }
    return __builtin_complex(x, y);
}

float _Complex $__divsc3(float a, float b, float c, float d)
{
    float x, y;
    double p = a, q = b, r = c, s = d;
    double square = r * r + s * s;
    x = (p * r + q * s) / square;
    y = (q * r - p * s) / square;
    if (__builtin_isnan(x) && __builtin_isnan(y)) {
        if (c == 0 && d == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) {
            x = __builtin_copysignf(__builtin_inff(), c) * a;
            y = __builtin_copysignf(__builtin_inff(), c) * b;
        } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c) && __builtin_isfinite(d)) {
            a = __builtin_copysignf(__builtin_isinf(a) ? 1 : 0, a);
            b = __builtin_copysignf(__builtin_isinf(b) ? 1 : 0, b);
            x = __builtin_inff() * (a * c + b * d);
            y = __builtin_inff() * (b * c - a * d);
        } else if ((__builtin_isinf(c) || __builtin_isinf(d)) && __builtin_isfinite(a) && __builtin_isfinite(b)) {
            c = __builtin_copysignf(__builtin_isinf(c) ? 1 : 0, c);
            d = __builtin_copysignf(__builtin_isinf(d) ? 1 : 0, d);
            x = 0 * (a * c + b * d);
            y = 0 * (b * c - a * d);
        }
    }
    return __builtin_complex(x, y);
}

//@ __muldc3 __divdc3
double _Complex $__muldc3(double a, double b, double c, double d)
{
    double ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    double x = ac - bd, y = ad + bc;
    if (__builtin_isnan(x) && __builtin_isnan(y)) {
        int again = 0;
        if (__builtin_isinf(a) || __builtin_isinf(b)) {
            a = __builtin_copysign(__builtin_isinf(a) ? 1 : 0, a);
            b = __builtin_copysign(__builtin_isinf(b) ? 1 : 0, b);
            if (__builtin_isnan(c))
                c = __builtin_copysign(0, c);
            if (__builtin_isnan(d))
                d = __builtin_copysign(0, d);
            again = 1;
        }
        if (__builtin_isinf(c) || __builtin_isinf(d)) {
            c = __builtin_copysign(__builtin_isinf(c) ? 1 : 0, c);
            d = __builtin_copysign(__builtin_isinf(d) ? 1 : 0, d);
            if (__builtin_isnan(a))
                a = __builtin_copysign(0, a);
            if (__builtin_isnan(b))
                b = __builtin_copysign(0, b);
            again = 1;
        }
        if (!again
            && (__builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc))) {
            if (__builtin_isnan(a))
                a = __builtin_copysign(0, a);
            if (__builtin_isnan(b))
                b = __builtin_copysign(0, b);
            if (__builtin_isnan(c))
                c = __builtin_copysign(0, c);
            if (__builtin_isnan(d))
                d = __builtin_copysign(0, d);
            again = 1;
        }
        if (again) {
            x = __builtin_inf() * (a * c - b * d);
            y = __builtin_inf() * (a * d + b * c);
        }
    }
    return __builtin_complex(x, y);
}

double _Complex $__divdc3(double a, double b, double c, double d)
{
    double x, y;
    const double big = 0x1.fffffffffffffp+1023 / 2, least = 0x1p-1022, small = 0x1p-52, scale = 1 / 0x1p-52, large = big * small;
    double p = a, q = b, r = c, s = d;
    int swap = __builtin_fabs(c) < __builtin_fabs(d);
    double m = swap ? s : r;
    if (__builtin_fabs(m) >= big) {
        p = p / 2;
        q = q / 2;
        r = r / 2;
        s = s / 2;
    }
    m = swap ? s : r;
    if (__builtin_fabs(m) < small
        || __builtin_fabs(m) < large
               && (__builtin_fabs(p) < least && __builtin_fabs(q) < large
                   || __builtin_fabs(q) < least && __builtin_fabs(p) < large)) {
        p = p * scale;
        q = q * scale;
        r = r * scale;
        s = s * scale;
    }
    if (swap) {
        double ratio = r / s;
        double square = r * ratio + s;
        if (__builtin_fabs(ratio) > least) {
            x = (p * ratio + q) / square;
            y = (q * ratio - p) / square;
        } else {
            x = (r * (p / s) + q) / square;
            y = (r * (q / s) - p) / square;
        }
    } else {
        double ratio = s / r;
        double square = s * ratio + r;
        if (__builtin_fabs(ratio) > least) {
            x = (p + q * ratio) / square;
            y = (q - p * ratio) / square;
        } else {
            x = (p + s * (q / r)) / square;
            y = (q - s * (p / r)) / square;
        }
    }
    if (__builtin_isnan(x) && __builtin_isnan(y)) {
        if (c == 0 && d == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) {
            x = __builtin_copysign(__builtin_inf(), c) * a;
            y = __builtin_copysign(__builtin_inf(), c) * b;
        } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c) && __builtin_isfinite(d)) {
            a = __builtin_copysign(__builtin_isinf(a) ? 1 : 0, a);
            b = __builtin_copysign(__builtin_isinf(b) ? 1 : 0, b);
            x = __builtin_inf() * (a * c + b * d);
            y = __builtin_inf() * (b * c - a * d);
        } else if ((__builtin_isinf(c) || __builtin_isinf(d)) && __builtin_isfinite(a) && __builtin_isfinite(b)) {
            c = __builtin_copysign(__builtin_isinf(c) ? 1 : 0, c);
            d = __builtin_copysign(__builtin_isinf(d) ? 1 : 0, d);
            x = 0 * (a * c + b * d);
            y = 0 * (b * c - a * d);
        }
    }
    return __builtin_complex(x, y);
}

//@ __mulxc3 __divxc3
long double _Complex $__mulxc3(long double a, long double b, long double c, long double d)
{
    long double ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    long double x = ac - bd, y = ad + bc;
    if (__builtin_isnan(x) && __builtin_isnan(y)) {
        int again = 0;
        if (__builtin_isinf(a) || __builtin_isinf(b)) {
            a = __builtin_copysignl(__builtin_isinf(a) ? 1 : 0, a);
            b = __builtin_copysignl(__builtin_isinf(b) ? 1 : 0, b);
            if (__builtin_isnan(c))
                c = __builtin_copysignl(0, c);
            if (__builtin_isnan(d))
                d = __builtin_copysignl(0, d);
            again = 1;
        }
        if (__builtin_isinf(c) || __builtin_isinf(d)) {
            c = __builtin_copysignl(__builtin_isinf(c) ? 1 : 0, c);
            d = __builtin_copysignl(__builtin_isinf(d) ? 1 : 0, d);
            if (__builtin_isnan(a))
                a = __builtin_copysignl(0, a);
            if (__builtin_isnan(b))
                b = __builtin_copysignl(0, b);
            again = 1;
        }
        if (!again
            && (__builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc))) {
            if (__builtin_isnan(a))
                a = __builtin_copysignl(0, a);
            if (__builtin_isnan(b))
                b = __builtin_copysignl(0, b);
            if (__builtin_isnan(c))
                c = __builtin_copysignl(0, c);
            if (__builtin_isnan(d))
                d = __builtin_copysignl(0, d);
            again = 1;
        }
        if (again) {
            x = __builtin_infl() * (a * c - b * d);
            y = __builtin_infl() * (a * d + b * c);
        }
    }
    return __builtin_complex(x, y);
}

long double _Complex $__divxc3(long double a, long double b, long double c, long double d)
{
    long double x, y;
    const long double big = 0x1.fffffffffffffffep+16383L / 2, least = 0x1p-16382L, small = 0x1p-63L, scale = 1 / 0x1p-63L, large = big * small;
    long double p = a, q = b, r = c, s = d;
    int swap = __builtin_fabsl(c) < __builtin_fabsl(d);
    long double m = swap ? s : r;
    if (__builtin_fabsl(m) >= big) {
        p = p / 2;
        q = q / 2;
        r = r / 2;
        s = s / 2;
    }
    m = swap ? s : r;
    if (__builtin_fabsl(m) < small
        || __builtin_fabsl(m) < large
               && (__builtin_fabsl(p) < least && __builtin_fabsl(q) < large
                   || __builtin_fabsl(q) < least && __builtin_fabsl(p) < large)) {
        p = p * scale;
        q = q * scale;
        r = r * scale;
        s = s * scale;
    }
    if (swap) {
        long double ratio = r / s;
        long double square = r * ratio + s;
        if (__builtin_fabsl(ratio) > least) {
            x = (p * ratio + q) / square;
            y = (q * ratio - p) / square;
        } else {
            x = (r * (p / s) + q) / square;
            y = (r * (q / s) - p) / square;
        }
    } else {
        long double ratio = s / r;
        long double square = s * ratio + r;
        if (__builtin_fabsl(ratio) > least) {
            x = (p + q * ratio) / square;
            y = (q - p * ratio) / square;
        } else {
            x = (p + s * (q / r)) / square;
            y = (q - s * (p / r)) / square;
        }
    }
    if (__builtin_isnan(x) && __builtin_isnan(y)) {
        if (c == 0 && d == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) {
            x = __builtin_copysignl(__builtin_infl(), c) * a;
            y = __builtin_copysignl(__builtin_infl(), c) * b;
        } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c) && __builtin_isfinite(d)) {
            a = __builtin_copysignl(__builtin_isinf(a) ? 1 : 0, a);
            b = __builtin_copysignl(__builtin_isinf(b) ? 1 : 0, b);
            x = __builtin_infl() * (a * c + b * d);
            y = __builtin_infl() * (b * c - a * d);
        } else if ((__builtin_isinf(c) || __builtin_isinf(d)) && __builtin_isfinite(a) && __builtin_isfinite(b)) {
            c = __builtin_copysignl(__builtin_isinf(c) ? 1 : 0, c);
            d = __builtin_copysignl(__builtin_isinf(d) ? 1 : 0, d);
            x = 0 * (a * c + b * d);
            y = 0 * (b * c - a * d);
        }
    }
    return __builtin_complex(x, y);
}

//@ creal
double $creal(double _Complex z)
{
    return __real__ z;
}

//@ cimag
double $cimag(double _Complex z)
{
    return __imag__ z;
}

//@ conj
double _Complex $conj(double _Complex z)
{
    return ~z;
}

//@ crealf
float $crealf(float _Complex z)
{
    return __real__ z;
}

//@ cimagf
float $cimagf(float _Complex z)
{
    return __imag__ z;
}

//@ conjf
float _Complex $conjf(float _Complex z)
{
    return ~z;
}

//@ creall
long double $creall(long double _Complex z)
{
    return __real__ z;
}

//@ cimagl
long double $cimagl(long double _Complex z)
{
    return __imag__ z;
}

//@ conjl
long double _Complex $conjl(long double _Complex z)
{
    return ~z;
}
