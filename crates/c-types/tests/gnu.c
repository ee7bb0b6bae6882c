typedef struct s s; struct s { s *next; };
void (*signal_(int, void (*)(int)))(int);
int (*table[3])(int, ...) = { 0 };
struct empty_ { }; struct empty_ mk(void) { return (struct empty_){}; }
int arr1[] = { [5] = 1, 2 }; _Static_assert(sizeof arr1 == 28, "");
main() { return 0; }
old(a, b) { return a + b; }
struct big { int x[100]; } g_big; struct big get(void) { return g_big; }
int use(void) { return get().x[3] + ({ struct big b = get(); b; }).x[2]; }
extern __typeof__(use) use2 __attribute__((alias("use")));
int fall(int x) { switch (x) { case 1: x++; __attribute__((fallthrough)); case 2: break; case -5 ... -1: x = 3; } return x; }
__thread int tls; static _Thread_local int tls2 = 3;
_Alignas(16) char buf[32]; struct al { _Alignas(8) char c; };
unsigned __int128 mul(unsigned long a, unsigned long b) { return (unsigned __int128)a * b >> 64; }
#define same(a, b) __builtin_types_compatible_p(__typeof__(a), __typeof__(b))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]) + sizeof(struct { int : -!!same((a), &(a)[0]); }))
int n_arr = ARRAY_SIZE(arr1);
#define container_of(p, t, m) ({ const __typeof__(((t *)0)->m) *__p = (p); (t *)((char *)__p - __builtin_offsetof(t, m)); })
struct list { struct list *n; }; struct node { int v; struct list l; };
int cont(struct list *l) { return container_of(l, struct node, l)->v; }
#define min(x, y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); (void)(&_x == &_y); _x < _y ? _x : _y; })
int mn(int a, int b) { return min(a, min(b, 3)); }
int asmgoto(int x) { asm goto ("" : : "r"(x) : "cc" : out); return 1; out: return 2; }
static inline unsigned long rdt(void) { unsigned lo, hi; asm volatile ("rdtsc" : "=a"(lo), "=d"(hi)); return lo | (unsigned long)hi << 32; }
int comp(void) { int *p = (int[]){1,2,3}; struct node *n = &(struct node){ .v = 3 }; for (int i = 0, j = 1; i < 3; i++, j++) p[i] += j; return n->v + p[1]; }
void *lab(int i) { static const int off[] = { 0 }; static void *const t[] = { &&a, &&b, &&c }; a: b: c: if (i < 3) goto *t[i]; return &&a + off[0]; }
int vla(int n, double m[n][n]) { char a[n], b[n + 1][3]; int (*p)[n] = (int (*)[n])a; typedef char row[n]; row r[2]; return sizeof a + sizeof *p + sizeof r + sizeof b[0] + (int)m[1][2] + sizeof(row[3]) + (&b[2] - &b[0]); }
union conv { float f; unsigned u; }; unsigned bits(float f) { return ((union conv){ .f = f }).u + ((union conv)f).u; }
typedef int (*cmp)(const void *, const void *); int cmpi(const int *a, const int *b) { return *a - *b; } cmp cc = (cmp)cmpi; 
int voidp(void *p, char *q) { return p == q || q > (char *)p || p - (void *)q; }
struct bf { unsigned a:1, b:2; int :0; signed c:7; } bfv = { 1, 3, -1 }; int bft(struct bf *p) { p->a ^= 1; p->c++; return p->b-- + (p->c = 200) + (p->a ? p->b : p->c); }
enum { X1 = 1u << 31, X2 = -1 } ex; enum fwd; enum fwd { F1 } fv;
const char *const names[] = { [F1] = "a", "b", }; int nn = sizeof names / sizeof *names;
int f_proto(int (*)(void), char [], int (int)); int f_proto(int (*a)(void), char b[], int c(int)) { return a() + b[0] + c(1) + (*a)() + (**c)(2); }
static int sfwd(int); int callsfwd(void) { return sfwd(3); } static int sfwd(int x) { return x; }
int tern(int c, int *p, const int *q, void *v) { return *(c ? p : q) + (c ? p : v != 0) ? 1 : (c ? 0 : p) == 0; }
void nothing(void) { ; ; { } if (1) ; else ; while (0) ; do ; while (0); for (;0;) ; }
struct fam { int n; struct { int x; } e[]; } famv = { 2, { { 1 }, { 2 } } };
int packed_test(void) { struct __attribute__((packed)) { char c; int i; } p = { 1, 2 }; return p.i + sizeof p + __alignof__(p); }
extern int weak_fn(void) __attribute__((weak)); int callw(void) { return weak_fn ? weak_fn() : 0; }
int cleanup_user(int n) { extern void cl(int *); int x __attribute__((cleanup(cl))) = n; return x; }
long lng = 0x7fffffffL + 1, sh = 1L << 40; float fl = 1.0 / 3; double dd = 1e308 * 10; int fi = 3.99; char ch = -1; unsigned char uc = 511;
int nested_init[2][3] = { 1, 2, 3, 4 }, ni2[][2] = { { 1 }, { 2, 3 }, 4, 5 }; struct { struct { int a, b; } s; int c[2]; } si = { 1, 2, 3, 4 }, sj = { { 1 }, { 2 } };
char cs[3][4] = { "ab", { 'c' }, "defg" }; char *cp[] = { "x", 0, (char *)1 };
