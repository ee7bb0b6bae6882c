// Members of variable size: places, sizes and contents.
int printf(const char *, ...);
void *memcpy(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);

static void one(int n) {
    struct s {
        char first;
        short row[n];
        int k;
        char grid[2][n];
        long double wide;
        struct { char a, b[n]; } in;
        char last;
    } x, y[2], *p = y;
    union u { char c[n]; int i; double d[n - 1 ? n / 2 + 1 : 1]; } v;
    typedef struct { char c; struct s s; int n; } outer;
    outer o;
    struct __attribute__((packed)) { char c; int i[n]; double d; } packed;
    memset(&x, 0, sizeof x);
    x.first = 1;
    x.k = 1000 + n;
    x.wide = n / 2.0L;
    x.in.a = 'a';
    x.last = 'z';
    for (int i = 0; i < n; i++) {
        x.row[i] = (short)(100 + i);
        x.grid[0][i] = (char)i;
        x.grid[1][i] = (char)(50 + i);
        x.in.b[i] = (char)('A' + i);
    }
    memcpy(&y[1], &x, sizeof x);
    p++;
    memcpy(&o.s, p, sizeof *p);
    o.n = n;
    v.i = 0x01020304;
    printf("%d: %zu %zu %zu %zu %zu %zu\n", n, sizeof x, sizeof y, sizeof v, sizeof o, sizeof packed, sizeof p->in);
    printf("%zu %zu %zu %zu %zu %zu\n", __builtin_offsetof(struct s, k), __builtin_offsetof(struct s, grid), __builtin_offsetof(struct s, wide),
           __builtin_offsetof(struct s, in), __builtin_offsetof(struct s, last), __builtin_offsetof(outer, n));
    printf("%zu %zu %d %d\n", _Alignof(struct s), sizeof(p->grid[0]), (int)((char *)&packed.d - (char *)&packed), (int)(p - y));
    printf("%d %d %d %d %d %g %c %c %c %d\n", p->first, p->row[n - 1], p->k, p->grid[0][n - 1], p->grid[1][0],
           (double)p->wide, o.s.in.a, o.s.in.b[n - 1], o.s.last, v.c[0]);
}

int main(void) {
    for (int n = 1; n < 8; n++) one(n);
    return 0;
}
