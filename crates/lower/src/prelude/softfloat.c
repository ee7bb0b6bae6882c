// Arithmetic of _Float16 and _Float128 in integers: the functions that operators on these types call.
// Results are rounded once, to nearest even.

//@ __extendhfsf2
float $__extendhfsf2(_Float16 a)
{
    union { _Float16 f; unsigned short u; } x = { a };
    union { unsigned u; float f; } r;
    unsigned sign = (unsigned)(x.u >> 15) << 31, exponent = x.u >> 10 & 0x1f, fraction = x.u & 0x3ff;
    if (exponent == 0x1f) {
        r.u = sign | 0x7f800000u | fraction << 13 | (fraction ? 0x400000u : 0);
        return r.f;
    }
    if (exponent == 0) {
        // A subnormal number is a multiple of 2^-24.
        float magnitude = (float)fraction * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    r.u = sign | exponent + 112 << 23 | fraction << 13;
    return r.f;
}

//@ __truncdfhf2 __truncxfhf2
static _Float16 $half_round(unsigned sign, int exponent, unsigned long long significand)
{
    // The value is significand * 2^(exponent - 63), its highest bit is bit 63.
    union { unsigned short u; _Float16 f; } r;
    int drop = exponent < -14 ? 53 + (-14 - exponent) : 53;
    unsigned long long kept = 0, rest, half;
    if (drop < 64) {
        kept = significand >> drop;
        rest = significand & (1ull << drop) - 1;
        half = 1ull << drop - 1;
        kept += rest > half || rest == half && (kept & 1);
    } else if (drop == 64) {
        kept = significand > 1ull << 63;
    }
    if (exponent < -14) {
        r.u = sign << 15 | kept;
    } else if (exponent > 15 || exponent == 15 && kept >> 11) {
        r.u = sign << 15 | 0x7c00;
    } else {
        // A carry out of the fraction goes to the exponent.
        r.u = (sign << 15) + ((unsigned)(exponent + 14) << 10) + kept;
    }
    return r.f;
}

_Float16 $__truncdfhf2(double a)
{
    union { double f; unsigned long long u; } x = { a };
    union { unsigned short u; _Float16 f; } r;
    unsigned sign = x.u >> 63;
    int exponent = x.u >> 52 & 0x7ff;
    unsigned long long fraction = x.u << 12;
    if (exponent == 0x7ff) {
        r.u = sign << 15 | 0x7c00 | (fraction ? 0x200 | fraction >> 54 : 0);
        return r.f;
    }
    if (exponent == 0) {
        r.u = sign << 15;
        return r.f;
    }
    return $half_round(sign, exponent - 1023, 1ull << 63 | fraction >> 1);
}

_Float16 $__truncxfhf2(long double a)
{
    union { long double f; struct { unsigned long long significand; unsigned short top; } s; } x = { a };
    union { unsigned short u; _Float16 f; } r;
    unsigned sign = x.s.top >> 15;
    int exponent = x.s.top & 0x7fff;
    if (exponent == 0x7fff) {
        unsigned long long fraction = x.s.significand << 1;
        r.u = sign << 15 | 0x7c00 | (fraction ? 0x200 | fraction >> 54 : 0);
        return r.f;
    }
    if (exponent == 0) {
        r.u = sign << 15;
        return r.f;
    }
    return $half_round(sign, exponent - 16383, x.s.significand);
}

//@ __addtf3 __subtf3 __multf3 __divtf3 __eqtf2 __netf2 __lttf2 __letf2 __gttf2 __getf2 __extendsftf2 __extenddftf2 __extendxftf2 __trunctfsf2 __trunctfdf2 __trunctfxf2 __trunctfhf2 __fixtfsi __fixtfdi __fixtfti __fixunstfsi __fixunstfdi __fixunstfti __floatsitf __floatditf __floattitf __floatunsitf __floatunditf __floatuntitf
typedef unsigned __int128 $bits;
typedef union { __float128 f; $bits u; } $quad;

static $bits $quad_bits(__float128 a)
{
    $quad x = { a };
    return x.u;
}

static __float128 $quad_of($bits u)
{
    $quad x;
    x.u = u;
    return x.f;
}

static int $quad_exponent($bits u)
{
    return u >> 112 & 0x7fff;
}

static $bits $quad_fraction($bits u)
{
    return u << 16 >> 16;
}

static int $quad_is_nan($bits u)
{
    return $quad_exponent(u) == 0x7fff && $quad_fraction(u) != 0;
}

// The significand with its leading one; a subnormal number has the exponent of the smallest normal one.
static $bits $quad_significand($bits u)
{
    return $quad_exponent(u) ? $quad_fraction(u) | ($bits)1 << 112 : $quad_fraction(u);
}

static int $quad_place($bits u)
{
    return $quad_exponent(u) ? $quad_exponent(u) : 1;
}

// Shifts right; bits that fall out leave a mark in the lowest one.
static $bits $shift_sticky($bits x, int by)
{
    if (by <= 0)
        return x;
    if (by > 127)
        return x != 0;
    return x >> by | ((x & (($bits)1 << by) - 1) != 0);
}

static int $leading_zeros($bits x)
{
    unsigned long long high = x >> 64, low = x;
    return high ? __builtin_clzll(high) : low ? 64 + __builtin_clzll(low) : 128;
}

// The number significand * 2^(exponent - 16383 - 115) rounded; the significand may have any length.
static __float128 $quad_round($bits sign, int exponent, $bits significand)
{
    if (significand == 0)
        return $quad_of(sign << 127);
    int zeros = $leading_zeros(significand) - 12;
    if (zeros < 0) {
        significand = $shift_sticky(significand, -zeros);
        exponent = exponent - zeros;
    } else {
        significand = significand << zeros;
        exponent = exponent - zeros;
    }
    if (exponent < 1) {
        significand = $shift_sticky(significand, 1 - exponent);
        exponent = 1;
    }
    int rest = significand & 7;
    significand = significand >> 3;
    significand += rest > 4 || rest == 4 && (significand & 1);
    // A carry goes to the exponent, and a subnormal number that grew becomes normal.
    $bits u = ((($bits)exponent - 1) << 112) + significand;
    if (u >> 112 >= 0x7fff)
        u = ($bits)0x7fff << 112;
    return $quad_of(u | sign << 127);
}

static __float128 $quad_add($bits a, $bits b)
{
    $bits sign_a = a >> 127, sign_b = b >> 127;
    if ($quad_is_nan(a))
        return $quad_of(a | ($bits)1 << 111);
    if ($quad_is_nan(b))
        return $quad_of(b | ($bits)1 << 111);
    if ($quad_exponent(a) == 0x7fff)
        return $quad_exponent(b) == 0x7fff && sign_a != sign_b ? $quad_of(($bits)0xffff8 << 108) : $quad_of(a);
    if ($quad_exponent(b) == 0x7fff)
        return $quad_of(b);
    int place_a = $quad_place(a), place_b = $quad_place(b);
    $bits x = $quad_significand(a) << 3, y = $quad_significand(b) << 3;
    int place = place_a > place_b ? place_a : place_b;
    x = $shift_sticky(x, place - place_a);
    y = $shift_sticky(y, place - place_b);
    if (sign_a == sign_b)
        return $quad_round(sign_a, place, x + y);
    if (x == y)
        return $quad_of(0);
    return x > y ? $quad_round(sign_a, place, x - y) : $quad_round(sign_b, place, y - x);
}

__float128 $__addtf3(__float128 a, __float128 b)
{
    return $quad_add($quad_bits(a), $quad_bits(b));
}

__float128 $__subtf3(__float128 a, __float128 b)
{
    $bits y = $quad_bits(b);
    return $quad_add($quad_bits(a), $quad_is_nan(y) ? y : y ^ ($bits)1 << 127);
}

__float128 $__multf3(__float128 fa, __float128 fb)
{
    $bits a = $quad_bits(fa), b = $quad_bits(fb), sign = (a ^ b) >> 127;
    $bits infinity = ($bits)0x7fff << 112;
    if ($quad_is_nan(a))
        return $quad_of(a | ($bits)1 << 111);
    if ($quad_is_nan(b))
        return $quad_of(b | ($bits)1 << 111);
    $bits x = $quad_significand(a), y = $quad_significand(b);
    if ($quad_exponent(a) == 0x7fff || $quad_exponent(b) == 0x7fff)
        return x == 0 || y == 0 ? $quad_of(($bits)0xffff8 << 108) : $quad_of(infinity | sign << 127);
    if (x == 0 || y == 0)
        return $quad_of(sign << 127);
    int exponent = $quad_place(a) + $quad_place(b) - 16383;
    int zeros_x = $leading_zeros(x) - 15, zeros_y = $leading_zeros(y) - 15;
    x = x << zeros_x;
    y = y << zeros_y;
    exponent = exponent - zeros_x - zeros_y;
    // 113 bits by 113 bits, in halves of 64.
    $bits low = ($bits)(unsigned long long)x * (unsigned long long)y;
    $bits middle_x = (x >> 64) * (unsigned long long)y, middle_y = (y >> 64) * (unsigned long long)x;
    $bits high = (x >> 64) * (y >> 64);
    $bits middle = (low >> 64) + (unsigned long long)middle_x + (unsigned long long)middle_y;
    high = high + (middle_x >> 64) + (middle_y >> 64) + (middle >> 64);
    low = middle << 64 | (unsigned long long)low;
    // The product is a multiple of 2^-224; three bits below the 113 are kept, and a mark.
    $bits product = high << 19 | low >> 109 | ((low & (($bits)1 << 109) - 1) != 0);
    return $quad_round(sign, exponent, product);
}

__float128 $__divtf3(__float128 fa, __float128 fb)
{
    $bits a = $quad_bits(fa), b = $quad_bits(fb), sign = (a ^ b) >> 127;
    $bits infinity = ($bits)0x7fff << 112, invalid = ($bits)0xffff8 << 108;
    if ($quad_is_nan(a))
        return $quad_of(a | ($bits)1 << 111);
    if ($quad_is_nan(b))
        return $quad_of(b | ($bits)1 << 111);
    if ($quad_exponent(a) == 0x7fff)
        return $quad_of($quad_exponent(b) == 0x7fff ? invalid : infinity | sign << 127);
    if ($quad_exponent(b) == 0x7fff)
        return $quad_of(sign << 127);
    $bits x = $quad_significand(a), y = $quad_significand(b);
    if (y == 0)
        return $quad_of(x == 0 ? invalid : infinity | sign << 127);
    if (x == 0)
        return $quad_of(sign << 127);
    int exponent = $quad_place(a) - $quad_place(b) + 16383;
    int zeros_x = $leading_zeros(x) - 15, zeros_y = $leading_zeros(y) - 15;
    x = x << zeros_x;
    y = y << zeros_y;
    exponent = exponent - zeros_x + zeros_y;
    $bits quotient = 0;
    for (int i = 0; i < 117; i++) {
        quotient = quotient << 1;
        if (x >= y) {
            x = x - y;
            quotient = quotient | 1;
        }
        x = x << 1;
    }
    return $quad_round(sign, exponent - 1, quotient | (x != 0));
}

// -1, 0 or 1 as the numbers compare; 2 if they do not.
static int $quad_compare(__float128 fa, __float128 fb)
{
    $bits a = $quad_bits(fa), b = $quad_bits(fb);
    if ($quad_is_nan(a) || $quad_is_nan(b))
        return 2;
    if ((a | b) << 1 == 0)
        return 0;
    if (a == b)
        return 0;
    if (a >> 127 != b >> 127)
        return a >> 127 ? -1 : 1;
    return (a < b) == !(a >> 127) ? -1 : 1;
}

int $__eqtf2(__float128 a, __float128 b)
{
    return $quad_compare(a, b) != 0;
}

int $__netf2(__float128 a, __float128 b)
{
    return $quad_compare(a, b) != 0;
}

int $__lttf2(__float128 a, __float128 b)
{
    return $quad_compare(a, b);
}

int $__letf2(__float128 a, __float128 b)
{
    return $quad_compare(a, b);
}

int $__gttf2(__float128 a, __float128 b)
{
    int order = $quad_compare(a, b);
    return order == 2 ? -1 : order;
}

int $__getf2(__float128 a, __float128 b)
{
    int order = $quad_compare(a, b);
    return order == 2 ? -1 : order;
}

__float128 $__extenddftf2(double a)
{
    union { double f; unsigned long long u; } x = { a };
    $bits sign = x.u >> 63, fraction = x.u & 0xfffffffffffffull;
    int exponent = x.u >> 52 & 0x7ff;
    if (exponent == 0x7ff)
        return $quad_of(sign << 127 | ($bits)0x7fff << 112 | fraction << 60 | ($bits)(fraction != 0) << 111);
    if (exponent == 0)
        return $quad_round(sign, 16383 - 1022, fraction << 63);
    return $quad_of(sign << 127 | ($bits)(exponent + 15360) << 112 | fraction << 60);
}

__float128 $__extendsftf2(float a)
{
    return $__extenddftf2(a);
}

__float128 $__extendxftf2(long double a)
{
    union { long double f; struct { unsigned long long significand; unsigned short top; } s; } x = { a };
    $bits sign = x.s.top >> 15, fraction = x.s.significand << 1;
    int exponent = x.s.top & 0x7fff;
    if (exponent == 0x7fff)
        return $quad_of(sign << 127 | ($bits)0x7fff << 112 | fraction << 48 | ($bits)(fraction != 0) << 111);
    return $quad_round(sign, exponent ? exponent : 1, ($bits)x.s.significand << 52);
}

// The significand rounded to `precision` bits, with the biased exponent in front: the bits of a number
// of that format below its sign. `bias` and `limit` are the format's.
static $bits $quad_narrow($bits u, int precision, int bias, int limit)
{
    int exponent = $quad_place(u) - 16383 + bias, drop = 113 - precision;
    $bits significand = $quad_significand(u), rest, half;
    if (exponent < 1) {
        drop = drop + 1 - exponent;
        exponent = 1;
    }
    if (drop > 120)
        return 0;
    rest = significand & (($bits)1 << drop) - 1;
    half = ($bits)1 << drop - 1;
    significand = significand >> drop;
    significand += rest > half || rest == half && (significand & 1);
    significand = ((($bits)exponent - 1) << precision - 1) + significand;
    return significand >> precision - 1 >= limit ? ($bits)limit << precision - 1 : significand;
}

double $__trunctfdf2(__float128 a)
{
    $bits u = $quad_bits(a);
    union { unsigned long long u; double f; } r;
    if ($quad_exponent(u) == 0x7fff)
        r.u = 0x7ffull << 52 | (unsigned long long)($quad_fraction(u) >> 60) | (unsigned long long)$quad_is_nan(u) << 51;
    else
        r.u = $quad_narrow(u, 53, 1023, 0x7ff);
    r.u = r.u | (unsigned long long)(u >> 127) << 63;
    return r.f;
}

float $__trunctfsf2(__float128 a)
{
    $bits u = $quad_bits(a);
    union { unsigned u; float f; } r;
    if ($quad_exponent(u) == 0x7fff)
        r.u = 0xffu << 23 | (unsigned)($quad_fraction(u) >> 89) | (unsigned)$quad_is_nan(u) << 22;
    else
        r.u = $quad_narrow(u, 24, 127, 0xff);
    r.u = r.u | (unsigned)(u >> 127) << 31;
    return r.f;
}

_Float16 $__trunctfhf2(__float128 a)
{
    $bits u = $quad_bits(a);
    union { unsigned short u; _Float16 f; } r;
    if ($quad_exponent(u) == 0x7fff)
        r.u = 0x7c00 | (unsigned)($quad_fraction(u) >> 102) | $quad_is_nan(u) << 9;
    else
        r.u = $quad_narrow(u, 11, 15, 0x1f);
    r.u = r.u | (unsigned)(u >> 127) << 15;
    return r.f;
}

long double $__trunctfxf2(__float128 a)
{
    $bits u = $quad_bits(a), narrow;
    union { struct { unsigned long long significand; unsigned short top; } s; long double f; } r;
    unsigned sign = (unsigned)(u >> 127) << 15;
    if ($quad_exponent(u) == 0x7fff) {
        r.s.significand = 1ull << 63 | (unsigned long long)($quad_fraction(u) >> 49)
                          | (unsigned long long)$quad_is_nan(u) << 62;
        r.s.top = sign | 0x7fff;
        return r.f;
    }
    narrow = $quad_narrow(u, 64, 16383, 0x7fff);
    unsigned exponent = narrow >> 63;
    r.s.significand = (unsigned long long)narrow << 1 >> 1 | (unsigned long long)(exponent != 0) << 63;
    r.s.top = sign | exponent;
    return r.f;
}

// The magnitude without its fraction; all ones if it has more than `width` bits.
static $bits $quad_whole($bits u, int width)
{
    int exponent = $quad_place(u) - 16383;
    if (exponent < 0)
        return 0;
    if (exponent >= width)
        return ~($bits)0;
    return exponent > 112 ? $quad_significand(u) << exponent - 112 : $quad_significand(u) >> 112 - exponent;
}

__int128 $__fixtfti(__float128 a)
{
    $bits u = $quad_bits(a), whole = $quad_whole(u, 127);
    if (whole >> 127)
        whole = u >> 127 ? ($bits)1 << 127 : ~($bits)0 >> 1;
    else if (u >> 127)
        whole = -whole;
    return (__int128)whole;
}

long long $__fixtfdi(__float128 a)
{
    __int128 whole = $__fixtfti(a), most = 0x7fffffffffffffffll;
    return whole > most ? most : whole < -most - 1 ? -most - 1 : whole;
}

int $__fixtfsi(__float128 a)
{
    __int128 whole = $__fixtfti(a), most = 0x7fffffff;
    return whole > most ? most : whole < -most - 1 ? -most - 1 : whole;
}

unsigned __int128 $__fixunstfti(__float128 a)
{
    $bits u = $quad_bits(a);
    return u >> 127 ? 0 : $quad_whole(u, 128);
}

unsigned long long $__fixunstfdi(__float128 a)
{
    $bits whole = $__fixunstfti(a);
    return whole >> 64 ? ~0ull : whole;
}

unsigned $__fixunstfsi(__float128 a)
{
    $bits whole = $__fixunstfti(a);
    return whole >> 32 ? ~0u : whole;
}

__float128 $__floatuntitf(unsigned __int128 a)
{
    return $quad_round(0, 16383 + 115, a);
}

__float128 $__floattitf(__int128 a)
{
    return a < 0 ? $quad_round(1, 16383 + 115, -($bits)a) : $quad_round(0, 16383 + 115, a);
}

__float128 $__floatditf(long long a)
{
    return $__floattitf(a);
}

__float128 $__floatsitf(int a)
{
    return $__floattitf(a);
}

__float128 $__floatunditf(unsigned long long a)
{
    return $__floatuntitf(a);
}

__float128 $__floatunsitf(unsigned a)
{
    return $__floatuntitf(a);
}
