// Function pointers, pointers to arrays, structures by value, recursion, static locals.
#include <stdio.h>
#include <stddef.h>

typedef int (*op)(int, int);
struct vec { double x, y, z; };
struct wide { char name[24]; int values[8]; };
struct shape { int (*area)(const struct shape *); int w, h; };

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static op choose(char c) { return c == '+' ? add : c == '-' ? sub : mul; }
static int twice(op f, int x) { return f(f(x, x), x); }
static struct vec cross(struct vec a, struct vec b)
{
    return (struct vec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
static struct wide tagged(struct wide w, int by)
{
    for (int i = 0; i < 8; i++)
        w.values[i] += by * i;
    w.name[0] ^= 0x20;
    return w;
}
static int rect(const struct shape *s) { return s->w * s->h; }
static int tri(const struct shape *s) { return s->w * s->h / 2; }
static int counter(void) { static int n = 10; return n++; }
static int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
static int even(unsigned n);
static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }

static int matrix[3][4] = { { 1, 2, 3, 4 }, { 5, 6 }, [2][3] = 9 };
static int total(int rows, int m[][4])
{
    int s = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 4; j++)
            s += m[i][j] * (i + 1);
    return s;
}
static int vla(int n)
{
    int a[n][n + 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++)
            a[i][j] = i * j;
    return a[n - 1][n] + (int)sizeof a;
}

int main(void)
{
    op table[] = { add, sub, mul };
    for (int i = 0; i < 3; i++)
        printf("%d ", table[i](7, 3));
    printf("%d %d %d\n", choose('+')(1, 2), (*choose('*'))(4, 5), twice(mul, 3));
    struct vec v = cross((struct vec){ 1, 2, 3 }, (struct vec){ 4, 5, 6 });
    printf("%g %g %g\n", v.x, v.y, v.z);
    struct wide w = { "name", { 1, 2, 3 } }, t = tagged(w, 10);
    printf("%s %d %d %s %d\n", t.name, t.values[7], t.values[2], w.name, w.values[7]);
    struct shape shapes[] = { { rect, 3, 4 }, { tri, 3, 4 } };
    for (int i = 0; i < 2; i++)
        printf("%d ", shapes[i].area(&shapes[i]));
    counter();
    counter();
    printf("%d %d %d %d\n", counter(), ackermann(2, 3), even(100), odd(7));
    int(*row)[4] = matrix + 1;
    printf("%d %d %d %td\n", total(3, matrix), (*row)[1], row[1][3], &matrix[2][1] - &matrix[1][3]);
    int *p = &matrix[0][0], **pp = &p;
    *++*pp = 20;
    int before = *p++;
    printf("%d %d %d\n", matrix[0][1], before, *p);
    printf("%d %d\n", vla(3), vla(5));
    printf("%zu %zu\n", offsetof(struct wide, values), sizeof(struct vec[3]));
    const char *s = "pointer" + 3;
    printf("%s %c %c\n", s, 2[s], *(s + 1));
    int x = 3, *q = &x, **r = &q;
    **r = 8;
    printf("%d %d\n", x, q == &x && *r == q);
    return 0;
}
