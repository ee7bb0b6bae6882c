// GNU C: statement expressions, typeof, builtins, __int128, designated ranges, nested initialisers.
#include <stdio.h>
#include <stdint.h>

#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
struct point { int x, y; };
struct line { struct point from, to; const char *name; };
static struct line lines[] = { [1] = { .to = { 3, 4 }, .name = "second" }, [0].from.x = 9, [2] = { .name = "third" } };
static int ranges[10] = { [2 ... 5] = 7, [8] = 1 };
static const char *const names[] = { "zero", [3] = "three", [1] = "one" };
enum colour { RED, GREEN = 5, BLUE };

static __int128 factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
static void print128(unsigned __int128 v)
{
    if (v > 9)
        print128(v / 10);
    putchar('0' + (int)(v % 10));
}
static inline int generic(int x) { return _Generic(x, int: 1, long: 2, default: 3); }

int main(void)
{
    int i = 3;
    printf("%d", max(i++, 2));
    printf(" %d\n", i);
    printf("%d %d %s %s\n", lines[0].from.x, lines[1].to.y, lines[1].name, lines[2].name);
    for (int k = 0; k < 10; k++)
        printf("%d", ranges[k]);
    printf(" %s %s %d\n", names[3], names[1], names[2] == 0);
    print128(factorial(30));
    __int128 neg = -factorial(20) * 1000;
    printf(" %d %lld\n", neg < 0, (long long)(neg >> 20));
    printf("%d %d %d %d\n", __builtin_popcount(0xff0f), __builtin_clz(1), __builtin_ctz(8), __builtin_parity(7));
    printf("%x %llx %x\n", __builtin_bswap32(0x12345678), (unsigned long long)__builtin_bswap64(1), __builtin_bswap16(0x1234));
    int r;
    int over = __builtin_add_overflow(2147483647, 1, &r);
    printf("%d %d", over, r);
    over = __builtin_mul_overflow(3, 4, &r);
    printf(" %d %d\n", over, r);
    printf("%d %d %d\n", RED, BLUE, generic(1) + _Generic(1.0f, float: 10, double: 20));
    struct point *p = &(struct point){ .y = 5 };
    p->x = (int){ 4 };
    printf("%d %d %zu\n", p->x, p->y, sizeof(struct line));
    int array[] = { 1, 2, 3, [5] = 6 };
    __typeof__(array) other;
    __builtin_memcpy(other, array, sizeof array);
    printf("%zu %d %d\n", sizeof other / sizeof *other, other[4], other[5]);
    printf("%d %d\n", 5 ?: 9, 0 ?: 9);
    uint8_t small = 250;
    small += 10;
    int8_t s = (int8_t)200;
    printf("%d %d %d %u\n", small, s, s >> 1, (unsigned)s);
    unsigned u = 5;
    printf("%d %d %u\n", -1 < (int)u, -1 < u, u - 6);
    long long ll = 1LL << 40;
    printf("%lld %lld %d %d\n", ll, -ll / 3, (int)(-ll % 7), -7 / 2);
    _Bool b = 5, c = 0.5, d = 0;
    printf("%d %d %d %d\n", b, c, d, b + c);
    printf("%d\n", ({ int t = 0; for (int q = 0; q < 5; q++) t += q; t; }));
    extern int later;
    printf("%d\n", later);
    return 0;
}
int later = 77;
