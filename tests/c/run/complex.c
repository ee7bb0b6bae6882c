#include <stdio.h>
#include <complex.h>
typedef double _Complex dc; typedef float _Complex fc; typedef long double _Complex lc;
static dc gz = 1.0 + 2.0i; static fc gf = 3.0fi; static _Complex int gi = 4 + 5i; static dc arr[3] = { 1.0, 2.0i, 3.0 - 1.0i };
struct s { char c; dc z; fc f; };
static dc add(dc a, dc b) { return a + b; }
static void show(const char *n, dc z) { printf("%s %.17g %.17g\n", n, __real__ z, __imag__ z); }
static void showf(const char *n, fc z) { printf("%s %.9g %.9g\n", n, (double)__real__ z, (double)__imag__ z); }
static dc *where(dc *p, int *n) { ++*n; return p; }
static unsigned seed = 12345; static double rnd(void) { seed = seed * 1103515245u + 12345; return ((int)(seed >> 8) % 20001 - 10000) / 77.0; }
int main(void) {
    show("gz", gz); showf("gf", gf); printf("%d %d\n", __real__ gi, __imag__ gi);
    for (int i = 0; i < 3; i++) show("arr", arr[i]);
    printf("%zu %zu %zu %zu %zu %zu\n", sizeof(dc), sizeof(fc), sizeof(lc), _Alignof(dc), _Alignof(fc), sizeof(struct s));
    dc a = 1.5 - 2.5i, b = I * 3.25 + 0.5; double d = 2.0;
    show("+", a + b); show("-", a - b); show("*", a * b); show("/", a / b); show("neg", -a); show("conj", ~a);
    show("+r", a + d); show("r+", d + a); show("-r", a - d); show("r-", d - a); show("*r", a * d); show("r*", d * a); show("/r", a / d); show("r/", d / a);
    show("int", a + 1); show("add", add(a, 2));
    printf("%d %d %d %d %d\n", a == b, a != b, a == a, a == 1.5, (dc)2.0 == 2);
    printf("%d %d %d\n", !a, a && b, (0.0 + 0.0i) ? 1 : 2);
    if (a) printf("true\n");
    a += b; show("+=", a); a *= b; show("*=", a); a -= 1; show("-=", a); a /= 2.0 + 1.0i; show("/=", a);
    int n = 0; dc v[2] = { 1, 2.0i }; *where(v, &n) += 3.0i; show("v0", v[0]); v[n++] *= 2; show("v1", v[1]); printf("%d\n", n);
    double e = 1; e += 2.0 + 3.0i; printf("%g\n", e);
    __real__ a = 7; __imag__ a = 8; show("parts", a); printf("%g %g\n", __real__ (a + 1), __imag__ (a * 2)); printf("%g %g\n", __real__ d, __imag__ d);
    fc f = a; showf("f", f); f = f * f; showf("ff", f); f = f / (1.0f + 2.0fi); showf("f/", f);
    lc l = a; l = l * l / (3.0L - 4.0iL); printf("%.18Lg %.18Lg\n", __real__ l, __imag__ l);
    _Complex int ci = 7 + 3i, cj = 2 - 1i; ci = ci * cj; printf("%d %d\n", __real__ ci, __imag__ ci); 
    ci += cj; printf("%d %d\n", __real__ ci, __imag__ ci); a = ci; show("from int", a); ci++; printf("%d %d\n", __real__ ci, __imag__ ci); --ci;  printf("%d %d\n", __real__ ci, __imag__ ci);
    _Complex char cc = 50 + 1i; cc = cc + cc; printf("%d %d\n", __real__ cc, __imag__ cc);
    show("cond", n > 1 ? a : d); show("cond2", n < 1 ? a : 1);
    struct s s = { 'x', 1.0 + 2.0i, 3.0f }, t; t = s; show("s.z", t.z); showf("s.f", t.f);
    _Bool bo = 0.0 + 1.0i; printf("%d\n", bo); int in = (int)(3.7 + 2.0i); printf("%d\n", in);
    dc comp = __builtin_complex(1.0, -0.0); show("comp", comp);
    printf("%g %g\n", creal(a), cimag(a)); show("conj()", conj(a));
    double inf = __builtin_inf(), nan = __builtin_nan("");
    show("inf*", __builtin_complex(inf, 1.0) * __builtin_complex(0.0, 1.0)); show("inf*2", __builtin_complex(inf, nan) * __builtin_complex(2.0, 1.0));
    dc zero = 0; show("z/0", (1.0 + 1.0i) / zero); show("f/inf", (1.0 + 2.0i) / __builtin_complex(inf, 3.0));
    show("big", (1e300 + 1e300i) / (1e300 + 1e-300i)); show("small", (1e-300 + 1e-310i) / (1e-300 + 1e-308i)); show("max", (1e308 + 1e308i) / (1.7e308 + 1.7e308i));
    for (int i = 0; i < 40; i++) { double r = rnd(), s = rnd(), t = rnd(), u = rnd(); dc x = r + s * I, y = t + u * 1i; show("m", x * y); show("d", x / y); fc p = x, q = y; showf("fm", p * q); showf("fd", p / q); lc P = x, Q = y; P = P / Q; printf("%.20Lg %.20Lg\n", __real__ P, __imag__ P);}
    static dc st = (1.0 + 1.0i) * 2.0 - 3.0; show("st", st);
    dc *p = &a; __imag__ *p += 1; show("p", *p); dc z2 = { 5.0 }; show("z2", z2);
    dc chain = a + b + a + b - a * b + (a, b); show("chain", chain); dc asg; b = asg = a; show("asg", b);
    printf("%d %d %d\n", __builtin_classify_type(a), __builtin_classify_type(1), __builtin_classify_type("x"));
    _Generic(a, dc: printf("dc\n"), default: printf("other\n"));
    return 0;
}
