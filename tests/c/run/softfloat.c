#include <stdio.h>
typedef __float128 q; typedef _Float16 h;
static q gq = 1.25Q; static q gi = 7; static h gh = 1.5f16; static unsigned long long st = 88172645463325252ull;
static unsigned long long r64(void) { st ^= st << 13; st ^= st >> 7; st ^= st << 17; return st; }
static void show(const char *n, q x) { union { q f; unsigned long long u[2]; } v = { x }; printf("%s %016llx %016llx %.17g\n", n, v.u[1], v.u[0], (double)x); }
static q rnd(int k) { union { q f; unsigned long long u[2]; } v; v.u[0] = r64(); v.u[1] = r64(); if (k % 5 == 0) v.u[1] &= 0x8000ffffffffffffull; if (k % 7 == 1) v.u[0] = 0; if (k % 3) v.u[1] = (v.u[1] & 0x8000ffffffffffffull) | (0x3ff0ull + r64() % 32) << 48; return v.f; }
static void showh(const char *n, h x) { union { h f; unsigned short u; } v = { x }; printf("%s %04x %.9g\n", n, v.u, (double)x); }
int main(void) {
    show("gq", gq); show("gi", gi); showh("gh", gh); printf("%zu %zu %zu\n", sizeof(q), _Alignof(q), sizeof(h));
    q a = 1.0Q / 3, b = 0.1Q; show("a", a); show("b", b); show("+", a + b); show("*", a * b); show("-", a - b); show("/", a / b); show("neg", -a); a += 1; show("+=", a); a *= b; show("*=", a); a++; show("++", a);
    printf("%d %d %d %d %d %d\n", a < b, a <= b, a > b, a >= b, a == b, a != b); printf("%d %d %d\n", a == a, !a, a && b); q nan = (q)__builtin_nan(""); printf("%d %d %d %d %d %d\n", nan < a, nan <= a, nan > a, nan >= a, nan == a, nan != a);
    for (int i = 0; i < 60; i++) { q x = rnd(i), y = rnd(i + 1); show("r+", x + y); show("r-", x - y); show("r*", x * y); show("r/", x / y); printf("%d%d%d%d\n", x < y, x <= y, x == y, x > y);
        printf("%.9g %.21Lg\n", (double)(float)x, (long double)x); show("d", (double)x); show("l", (long double)y); show("f", (float)y); 
        long long s = r64(); show("ll", s); show("ull", (unsigned long long)s); show("i", (int)s); show("u", (unsigned)s); show("ti", (__int128)s * s); q sm = x - (long long)0; if (sm < 1e18Q && sm > -1e18Q) { printf("%lld %d\n", (long long)sm, (int)(long long)sm); } }
    h c = 1.0f / 3, d = 2; showh("c", c); showh("c+d", c + d); showh("c*d", c * d); showh("c/d", c / d); h e = 65504.0f; showh("e", e); showh("e2", e * 2); h t = 5.96e-8f; showh("t", t); showh("t/2", t / 2); printf("%d %d\n", c < d, c == d); 
    for (int i = 0; i < 60; i++) { double x = ((long long)r64() >> 40) * (1.0 / (1 << i % 24)); h y = x; showh("h", y); h z = (float)(x * 1e-3); showh("hz", y + z); showh("h*", y * z); printf("%d\n", (int)z); h l = (long double)x; showh("hl", l); }
    c = 3; showh("c", c); c -= 0.5f16; showh("c", c); float f = c; double g = c; printf("%g %g %d\n", f, g, (int)c); a = c; show("hq", a); c = a; showh("qh", c);
    _Float32 f32 = 1.5f32; _Float64 f64 = 2.5f64; _Float32x fx = 3.5f32x; _Float64x f6x = 4.5f64x; printf("%g %g %g %Lg\n", (double)f32, f64, fx, f6x);
    q arr[2] = { 1, 2.5 }; arr[1] += arr[0]; show("arr", arr[1]); printf("%d\n", (int)(arr[1] * 2)); return 0; }
