#include <stdio.h>
static int apply(int (*f)(int), int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
static int fact(int n) { int r = 1; void step(int k) { if (k > 1) { r *= k; step(k - 1); } } step(n); return r; }
static int fib(int n) { int a(int k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); } return a(n); }
static int rec(int n) { int x = n; int get(void) { return x; } if (n > 0) rec(n - 1); return get() + (n > 0 ? rec(n - 1) : 0); }
static int arg(int n) { int x = n; int twice(int y) { return x + y; } return n == 0 ? 1 : twice(arg(n - 1)) + twice(twice(1)); }
static int vla(int n) { int v[n]; for (int i = 0; i < n; i++) v[i] = i * i; int sum(void) { int s = 0; for (unsigned i = 0; i < sizeof v / sizeof v[0]; i++) s += v[i]; return s; } return sum(); }
static int outer(int p) {
    int x = 10, arr[3] = { 1, 2, 3 }; struct { int a; double d; } s = { 4, 2.5 };
    auto int later(int);
    int inc(int by) { x += by; arr[1] = x; s.a++; static int calls; return ++calls; }
    int deep(int q) { int y = q; int inner(int z) { y += z; x += y; return inc(z) + p; } return inner(1) + inner(2) + y; }
    int useslater(int q) { return later(q) + 1; }
    int later(int q) { return q + x; }
    int r = inc(5) + inc(6) * 100; printf("%d %d %d %d\n", r, x, arr[1], s.a); r = deep(3); printf("%d %d %d\n", r, x, s.a); printf("%d\n", useslater(7)); 
    int add(int k) { return k + x; } printf("%d\n", apply(add, 4)); int (*fp)(int) = add; x = 1; printf("%d %d\n", fp(1), (*fp)(2)); 
    for (int i = 0; i < 3; i++) { int loc = i * 10; int f(void) { return loc++ + i; } f(); printf("%d ", f()); } printf("\n");
    int sw(int k) { switch (k) { case 0 ... 3: return x; default: return -x; } } printf("%d %d\n", sw(2), sw(9));
    struct pt { int u, v; } mk(int u) { struct pt t = { u, x }; return t; } printf("%d %d\n", mk(3).u, mk(4).v); return ({ int q = x; int h(void) { return q + 1; } h(); });
}
int main(void) { printf("%d %d %d %d %d\n", fact(5), fib(10), rec(3), arg(4), vla(5)); printf("%d\n", outer(1000)); printf("%d\n", outer(2)); return 0; }
