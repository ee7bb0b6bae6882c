#include <stdio.h>
typedef int v4si __attribute__((vector_size(16))); typedef unsigned v4ui __attribute__((vector_size(16))); typedef float v4sf __attribute__((vector_size(16)));
typedef signed char v16qi __attribute__((vector_size(16))); typedef unsigned char v8uq __attribute__((vector_size(8))); typedef short v8hi __attribute__((vector_size(16)));
typedef long long v2di __attribute__((vector_size(16))); typedef double v2df __attribute__((vector_size(16))); typedef double v4df __attribute__((__vector_size__(32)));
static void p4(const char *n, v4si v) { printf("%s %d %d %d %d\n", n, v[0], v[1], v[2], v[3]); }
static void pf(const char *n, v4sf v) { printf("%s %g %g %g %g\n", n, v[0], v[1], v[2], v[3]); }
static v4si gv = { 1, 2, 3 }; static v4si ga[2] = { { 1, 2, 3, 4 }, { 5, 6 } }; struct s { char c; v4si v; } gs = { 1, { 9, 8, 7, 6 } };
static v4si twice(v4si v) { return v * 2; } static int calls; static v4si *loc(v4si *p) { calls++; return p; }
union u { v4si v; int i[4]; };
int __attribute__((vector_size(8))) small = { 3, 4 };
int main(void) {
    v4si a = { 10, -20, 30, -40 }, b = { 3, 4, -5, 6 }; 
    p4("gv", gv); p4("ga", ga[1]); p4("gs", gs.v); printf("%zu %zu %zu\n", sizeof(v4si), _Alignof(v4si), sizeof(struct s));
    p4("+", a + b); p4("-", a - b); p4("*", a * b); p4("/", a / b); p4("%", a % b); p4("&", a & b); p4("|", a | b); p4("^", a ^ b); p4("<<", (b & 7) << (v4si){1,2,0,3} ); p4(">>", a >> 1); p4("~", ~a); p4("neg", -a); p4("+", +a);
    p4("s+", 5 + a); p4("+s", a + 5); p4("s-", 5 - a); p4("*s", a * 3); p4("<", a < b); p4("==", a == (v4si){10,1,30,2}); p4("!=", a != b); p4(">=", a >= 0); p4("<=", a <= b); p4(">", a > b);
    v4sf f = { 1.5f, 2.25f, -3, 4 }, g = { 2, 2, 2, .5f }; pf("f+", f + g); pf("f*", f * g); pf("f/", f / g); pf("f-", -f); p4("f<", f < g); pf("f*s", f * 2.0f); p4("f==", f == f);
    a[1] = 7; a[2] += 5; int i = 3; a[i]--; p4("idx", a); printf("%d\n", (a + b)[2]); p4("call", twice(a) + twice(b)); 
    a += b; p4("+=", a); a &= 1023; a <<= 1; p4("<<=", a); *loc(&a) -= 1; p4("-=", a); printf("%d\n", calls); a++; p4("++", a); p4("a--", a--); p4("a", a);
    v16qi q = { 50, 60, -64, 1, 2, 3 }, q2 = q + q; printf("%d %d %d %d\n", q2[0], q2[1], q2[2], q2[3]); q2 = q > 2; printf("%d %d %d %d\n", q2[0], q2[2], q2[4], q2[5]);
    v8uq u8 = { 250, 5, 255 }; u8 = u8 + 10; printf("%d %d %d %d\n", u8[0], u8[1], u8[2], u8[3]); u8 >>= 1; printf("%d %d\n", u8[0], u8[7]);
    v4ui ua = (v4ui)a; printf("%u %u\n", ua[0], ua[1]); ua = ua / 2; printf("%u\n", ua[1]); p4("cast", (v4si)f); v2di di = (v2di)a; printf("%llx %llx\n", di[0], di[1]); v8hi h = (v8hi)a; printf("%d %d\n", h[0], h[1]);
    typedef int v2si __attribute__((vector_size(8))); long long ll = (long long)(v2si){ 1, 2 }; printf("%llx\n", ll); v2si fromll = (v2si)0x500000006LL; printf("%d %d\n", fromll[0], fromll[1]);
    p4("shuf", __builtin_shuffle(a, (v4si){ 3, 2, 1, 4 })); p4("shuf2", __builtin_shuffle(a, b, (v4si){ 0, 5, 2, 15 })); v4si m = { 1, 1, 0, 6 }; p4("shufm", __builtin_shuffle(a, b, m));
    p4("shv", __builtin_shufflevector(a, b, 0, 4, 1, 5)); v2si half = __builtin_shufflevector(a, a, 2, 3); printf("%d %d\n", half[0], half[1]);
    pf("conv", __builtin_convertvector(a, v4sf)); p4("conv", __builtin_convertvector(f, v4si)); v4df wd = __builtin_convertvector(f, v4df); printf("%g %g\n", wd[1], wd[3]); 
    union u u = { a }; printf("%d %d\n", u.i[0], u.i[3]); v4si *p = &a; (*p)[0] = 42; printf("%d %d\n", a[0], ((int *)p)[1]);
    v2df d = { 1.0, 2.0 }, e = { 0.5, 4.0 }; v2di cmp = d < e; printf("%lld %lld\n", cmp[0], cmp[1]); d = d * e + 1.0; printf("%g %g\n", d[0], d[1]);
    v4si z = {}; p4("z", z); p4("cond", i > 2 ? a : b); v4si arr[3] = { a, b, { 1 } }; p4("arr", arr[0] + arr[1] + arr[2]); printf("%d %d\n", small[0], small[1]);
    v4si w = (v4si){ i, i + 1, i++, 2 }; printf("%d\n", w[3]); v4si chain = a + b + a - b * 2 + a; p4("chain", chain); p4("comma", (i++, a)); printf("%d\n", i);
    ua = (v4ui){ 1, 2, 3, 4 }; v4si mix = a + (v4si)ua; p4("mix", mix); const v4si cv = { 1, 2, 3, 4 }; printf("%d\n", cv[2]); struct s s1 = gs, s2; s2 = s1; s2.v[1] = 100; p4("s2", s2.v);
    return 0;
}
