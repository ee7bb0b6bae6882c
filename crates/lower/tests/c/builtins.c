// Operations of the compiler on many values: bits, exact arithmetic, atomic updates, floats.
int printf(const char *, ...);

static unsigned long long state = 88172645463325252ULL;
static unsigned long long next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    // Mostly values near the limits of some type.
    switch (state >> 61) {
    case 0: return state & 0xff;
    case 1: return -(state & 0xf);
    case 2: return 0x7fffffffULL + (state & 3);
    case 3: return 0x7fffffffffffffffULL + (state & 3);
    case 4: return 0xffffffffULL - (state & 3);
    default: return state;
    }
}

static void exact(unsigned long long x, unsigned long long y)
{
    int a = (int)x, b = (int)y, ri;
    unsigned ua = (unsigned)x, ru;
    long la = (long)x, lb = (long)y, rl;
    unsigned long ul = x, um = y, rul;
    short rs;
    unsigned char rc;
    _Bool o;
    o = __builtin_add_overflow(a, b, &ri);
    printf("%d %d ", o, ri);
    o = __builtin_sub_overflow(a, b, &ru);
    printf("%d %d ", o, (int)ru);
    o = __builtin_mul_overflow(a, b, &rs);
    printf("%d %d ", o, rs);
    o = __builtin_add_overflow(ua, lb, &rc);
    printf("%d %d ", o, rc);
    o = __builtin_mul_overflow(la, lb, &rl);
    printf("%d %ld ", o, rl);
    o = __builtin_mul_overflow(ul, um, &rl);
    printf("%d %ld ", o, rl);
    o = __builtin_mul_overflow(la, um, &rul);
    printf("%d %lu ", o, rul);
    o = __builtin_sub_overflow(ul, lb, &rul);
    printf("%d %lu ", o, rul);
    o = __builtin_add_overflow(ul, um, &rl);
    printf("%d %ld ", o, rl);
    printf("%d\n", __builtin_mul_overflow_p(a, lb, (int)0));
}

static void bits(unsigned long long x)
{
    unsigned u = (unsigned)x;
    printf("%x %llx %x ", __builtin_bswap32(u), (unsigned long long)__builtin_bswap64(x), __builtin_bswap16((unsigned short)x));
    printf("%d %d %d %d ", __builtin_popcount(u), __builtin_popcountll(x), __builtin_parity(u), __builtin_ffs((int)u));
    printf("%d %d ", __builtin_clrsb((int)u), __builtin_ffsll((long long)x));
    if (u)
        printf("%d %d ", __builtin_clz(u), __builtin_ctz(u));
    if (x)
        printf("%d %d ", __builtin_clzll(x), __builtin_ctzll(x));
    printf("\n");
}

static void atomics(int x)
{
    int v = x, old, expected = 3;
    old = __sync_fetch_and_add(&v, 5);
    printf("%d %d ", old, v);
    old = __atomic_sub_fetch(&v, 2, 5);
    printf("%d %d ", old, v);
    old = __atomic_exchange_n(&v, x % 5, 5);
    printf("%d %d ", old, v);
    old = __sync_bool_compare_and_swap(&v, 2, 9);
    printf("%d %d ", old, v);
    old = __sync_val_compare_and_swap(&v, 4, 8);
    printf("%d %d ", old, v);
    old = __atomic_compare_exchange_n(&v, &expected, 6, 0, 5, 5);
    printf("%d %d %d ", old, v, expected);
    old = __atomic_fetch_nand(&v, 12, 5);
    printf("%d %d %d\n", old, v, __atomic_load_n(&v, 5));
}

static void floats(double x, double y)
{
    printf("%d %d %d %d ", !!__builtin_isnan(x), !!__builtin_isinf(x), !!__builtin_isfinite(x), !!__builtin_isnormal(x));
    printf("%d %d ", __builtin_isinf_sign(x), __builtin_fpclassify(10, 11, 12, 13, 14, x));
    printf("%d ", x == x ? !!__builtin_signbit(x) : 0);
    printf("%d %d %d ", !!__builtin_isless(x, y), !!__builtin_isunordered(x, y), !!__builtin_islessgreater(x, y));
    if (x == x && y == y)
        printf("%a %a", __builtin_fabs(x), __builtin_copysign(x, y));
    printf("\n");
}

int main(void)
{
    double zero = 0.0;
    double values[] = {zero, -zero, 1.5, -2.0, 5e-324, -1e-310, 1e308, 1 / zero, -1 / zero, zero / zero};
    unsigned i, j;
    for (i = 0; i < 400; i++) {
        unsigned long long x = next();
        exact(x, next());
        bits(x);
        atomics((int)(x & 0xffff));
    }
    for (i = 0; i < sizeof values / sizeof *values; i++)
        for (j = 0; j < sizeof values / sizeof *values; j++)
            floats(values[i], values[j]);
    return 0;
}
