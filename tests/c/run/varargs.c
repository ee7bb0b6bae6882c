// Variable arguments, passed on in every way.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct pair { long a; double b; };
struct big { int v[20]; };

static double sum(int n, ...)
{
    va_list ap, again;
    double s = 0;
    va_start(ap, n);
    va_copy(again, ap);
    for (int i = 0; i < n; i++)
        s += va_arg(ap, double);
    for (int i = 0; i < n; i++)
        s += va_arg(again, double) / 2;
    va_end(again);
    va_end(ap);
    return s;
}

static void mixed(const char *kinds, ...)
{
    va_list ap;
    va_start(ap, kinds);
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'i': printf("%d ", va_arg(ap, int)); break;
        case 'l': printf("%ld ", va_arg(ap, long)); break;
        case 'd': printf("%g ", va_arg(ap, double)); break;
        case 's': printf("%s ", va_arg(ap, char *)); break;
        case 'L': printf("%Lg ", va_arg(ap, long double)); break;
        case 'p': {
            struct pair p = va_arg(ap, struct pair);
            printf("(%ld %g) ", p.a, p.b);
            break;
        }
        case 'b': {
            struct big b = va_arg(ap, struct big);
            printf("<%d %d> ", b.v[0], b.v[19]);
            break;
        }
        }
    }
    va_end(ap);
    printf("\n");
}

static int logf_(char *to, size_t n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int r = vsnprintf(to, n, fmt, ap);
    va_end(ap);
    return r;
}

static int total(int first, ...)
{
    va_list ap;
    int s = first;
    va_start(ap, first);
    for (int x; (x = va_arg(ap, int)) != 0;)
        s += x;
    va_end(ap);
    return s;
}

int main(void)
{
    struct pair p = { 7, 2.5 };
    struct big b = { { 1 } };
    b.v[19] = 99;
    printf("%g\n", sum(3, 1.0, 2.0, 3.0));
    mixed("ildspLb", 1, 2L, 3.5, "four", p, 5.25L, b);
    mixed("iiiiiiiiiiddddddddddi", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11);
    char buf[16];
    int r = logf_(buf, sizeof buf, "%s-%d-%05.1f", "abc", 42, 3.14159);
    printf("%s %d\n", buf, r);
    r = logf_(buf, 4, "%s", "truncated");
    printf("%s %d\n", buf, r);
    int (*f)(int, ...) = total;
    printf("%d %d\n", total(1, 2, 3, 0), f(10, 20, 0));
    char c = 'x';
    short h = -3;
    float fl = 0.5f;
    printf("%c %hd %f %hhu\n", c, h, fl, (unsigned char)200);
    int (*print)(const char *, ...) = printf;
    print("%s %d %.2f\n", "through a pointer", 5, 1.25);
    return 0;
}
