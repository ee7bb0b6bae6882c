//! Typing rules, checked against gcc: the types and values that we find are asserted in C.

mod common;

use common::{MODELS, Rng, check, elf, errors, gcc_accepts, have_gcc, image_bytes};
use palisade_cfa::DataModel;
use std::fmt::Write as _;

const VARIABLES: &str = "
enum e { E0, E1 = 5 } en; enum neg { N = -1 } neg; enum wide { W = 0x100000000LL } wide;
_Bool b; char c; signed char sc; unsigned char uc; short s; unsigned short us; int i; unsigned u;
long l; unsigned long ul; long long ll; unsigned long long ull; float f; double d; long double ld;
struct bits { unsigned a : 3; int b : 31; unsigned c : 32; unsigned char d : 8; _Bool e : 1; enum e f : 4;
  unsigned long long g : 20; long h : 5; } bits;
struct st { int x; const char y; struct { short inner; }; int arr[4]; } st, *pst; const struct st cst;
int *pi; const int *pci; char *pc; void *pv; const void *pcv; int arr[10]; int arr2[3][4]; double *pd;
int fi(void); void fv(int); double fd(float, ...); int (*fp)(int); struct st fst(void); int kr(); struct plain { int x; } plain;
volatile int vi; const int ci;
";

const ARITHMETIC: [&str; 45] = [
    "en",
    "neg",
    "wide",
    "b",
    "c",
    "sc",
    "uc",
    "s",
    "us",
    "i",
    "u",
    "l",
    "ul",
    "ll",
    "ull",
    "f",
    "d",
    "ld",
    "(bits.a)",
    "(bits.b)",
    "(bits.c)",
    "(bits.d)",
    "(bits.e)",
    "(bits.f)",
    "(bits.g)",
    "(bits.h)",
    "st.x",
    "pst->y",
    "cst.y",
    "pst->inner",
    "arr[3]",
    "pi[2]",
    "*pci",
    "*pc",
    "fi()",
    "fd(1)",
    "vi",
    "ci",
    "E1",
    "W",
    "'a'",
    "L'a'",
    "1",
    "2.5f",
    "sizeof(int)",
];

const LITERALS: [&str; 26] = [
    "0",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "0x100000000",
    "0x7fffffffffffffff",
    "0x8000000000000000",
    "1u",
    "4294967296u",
    "1l",
    "1ul",
    "0x80000000l",
    "1ll",
    "1ull",
    "0xffffffffffffffffll",
    "017777777777",
    "037777777777",
    "1.0",
    "1.0f",
    "1.0L",
    "0b101",
];

struct Expressions(Rng);

impl Expressions {
    fn arithmetic(&mut self, depth: usize) -> String {
        if depth == 0 {
            return if self.0.one_in(4) {
                self.0.pick(&LITERALS).to_string()
            } else {
                self.0.pick(&ARITHMETIC).to_string()
            };
        }
        let a = self.arithmetic(depth - 1);
        match self.0.below(14) {
            0..=4 => {
                let op = self.0.pick(&["+", "-", "*", "/"]);
                format!("({a} {op} {})", self.arithmetic(depth - 1))
            }
            5 => {
                let op = self.0.pick(&["<", ">=", "==", "!=", "&&", "||"]);
                format!("({a} {op} {})", self.arithmetic(depth - 1))
            }
            6 => format!("({} ? {a} : {})", self.arithmetic(0), self.arithmetic(depth - 1)),
            7 => format!("({a}, {})", self.arithmetic(depth - 1)),
            8 => format!("({}{a})", self.0.pick(&["-", "+", "!"])),
            9 => {
                let ty =
                    self.0.pick(&["char", "unsigned short", "long", "float", "_Bool", "enum e", "unsigned"]);
                format!("(({ty}){a})")
            }
            10 => {
                let target = self.0.pick(&["c", "us", "i", "ull", "f", "b", "en"]);
                let op = self.0.pick(&["=", "+=", "*="]);
                format!("({target} {op} {a})")
            }
            11 => self.0.pick(&["(c++)", "(--us)", "(b++)", "(ll--)", "(++f)", "(en++)"]).to_string(),
            12 => format!("({} ?: {a})", self.arithmetic(0)),
            _ => format!("(+{a})"),
        }
    }

    fn integer(&mut self) -> String {
        let pick = |s: &mut Self| loop {
            let v = s.0.pick(&ARITHMETIC);
            if !matches!(v, "f" | "d" | "ld" | "fd(1)" | "2.5f") {
                return v;
            }
        };
        let (a, b) = (pick(self), pick(self));
        match self.0.below(3) {
            0 => format!("({a} {} {b})", self.0.pick(&["<<", ">>"])),
            1 => format!("({a} {} {b})", self.0.pick(&["%", "&", "|", "^"])),
            _ => format!("(~{a})"),
        }
    }

    fn other(&mut self) -> String {
        self.0
            .pick(&[
                "pi + 1",
                "1 + pi",
                "arr",
                "&arr",
                "arr + i",
                "arr2[1]",
                "&arr2[1]",
                "*arr2",
                "pi - pi",
                "&st",
                "&st.x",
                "&cst.x",
                "&cst",
                "cst.arr",
                "st",
                "fst()",
                "fst().arr",
                "&pst->arr[1]",
                "\"abc\"",
                "L\"abc\"",
                "fp",
                "*fp",
                "&fi",
                "fi",
                "pv",
                "1 ? pi : 0",
                "1 ? pi : (void *)0",
                "1 ? pi : pv",
                "1 ? pi : pci",
                "1 ? pcv : pi",
                "0 ? pv : pv",
                "(pi, arr)",
                "pi++",
                "pi += 2",
                "pst->inner",
                "&*pi",
                "*&arr",
                "&ci",
                "&vi",
                "(const int)i",
                "fv(1)",
                "&fp",
                "kr",
                "plain = plain",
                "pi = 0",
                "__builtin_expect(i, 1)",
                "sizeof arr",
                "pi == 0",
                "!pi",
                "(char)1 ? pc : \"x\"",
                "&\"abc\"",
                "_Generic(c, char: pi, default: pc)",
                "__builtin_choose_expr(1, pi, pc)",
                "(int[]){1, 2, 3}",
                "(struct st){1}",
                "&(struct st){1}",
                "-bits.g",
                "bits.c + 1",
                "(bits.a = 1) + 1",
                "pst->arr",
                "__builtin_offsetof(struct st, arr[2])",
                "&arr[2] - &arr[1]",
                "pv + 1",
                "cst",
                "cst.inner",
            ])
            .to_string()
    }
}

#[test]
fn types_of_random_expressions_are_those_of_gcc() {
    if !have_gcc() {
        return;
    }
    for model in MODELS {
        let mut gen_ = Expressions(Rng(0xdead_beef_1234_5677));
        let mut expressions: Vec<String> = LITERALS.iter().map(|l| l.to_string()).collect();
        for n in 0..1500 {
            expressions.push(match n % 5 {
                0 => gen_.integer(),
                1 => gen_.other(),
                k => gen_.arithmetic(k - 1),
            });
        }
        // The type is read back from a pointer to the expression's type.
        let mut text = VARIABLES.to_string();
        for (n, e) in expressions.iter().enumerate() {
            writeln!(text, "__typeof__({e}) *result{n};").unwrap();
        }
        let (program, diags, names) = check(&[&text], model);
        let bad: Vec<_> = diags.iter().filter(|d| d.is_error()).collect();
        assert!(bad.is_empty(), "{:?}: {}", bad[0], &text[bad[0].span.lo as usize..bad[0].span.hi as usize]);
        let mut assertions = VARIABLES.to_string();
        let mut count = 0;
        for object in &program.objects {
            let Some(name) = object.name.map(|n| names.name(n)) else { continue };
            let Some(n) = name.strip_prefix("result").and_then(|n| n.parse::<usize>().ok()) else { continue };
            let found = program.types.display(program.types.pointee(object.ty.ty).unwrap(), &names);
            // Compared through pointers, so that qualifiers count too.
            let e = &expressions[n];
            writeln!(
                assertions,
                "_Static_assert(__builtin_types_compatible_p(__typeof__({e}) *, __typeof__({found}) *), \"{found}\");"
            )
            .unwrap();
            count += 1;
        }
        assert_eq!(count, expressions.len());
        if let Err(message) = gcc_accepts(&assertions, model, "types") {
            panic!("{model:?}: {message}");
        }
    }
}

struct Constants(Rng);

impl Constants {
    fn integer(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.0.below(6) {
                0 => format!("{}", self.0.below(100)),
                1 => format!("{}u", self.0.bits() as u32),
                2 => format!("{}ll", self.0.bits() as i64 >> 20),
                3 => format!("0x{:x}", self.0.bits() >> self.0.below(64)),
                4 => self.0.pick(&["E1", "W", "N", "'x'", "sizeof(long)", "L'y'", "-1"]).to_string(),
                _ => format!("{}l", self.0.below(1 << 20)),
            };
        }
        let a = self.integer(depth - 1);
        match self.0.below(12) {
            0..=3 => {
                format!("({a} {} {})", self.0.pick(&["+", "-", "*", "&", "|", "^"]), self.integer(depth - 1))
            }
            4 => format!("({a} {} {})", self.0.pick(&["/", "%"]), 1 + self.0.below(1000)),
            5 => format!("({a} {} {})", self.0.pick(&["<<", ">>"]), self.0.below(32)),
            6 => format!("({a} {} {})", self.0.pick(&["<", "<=", "==", "!=", ">"]), self.integer(depth - 1)),
            7 => format!("({} {a})", self.0.pick(&["-", "~", "!", "+"])),
            8 => {
                let ty = self.0.pick(&[
                    "char",
                    "unsigned char",
                    "short",
                    "unsigned",
                    "int",
                    "long",
                    "unsigned long long",
                    "_Bool",
                ]);
                format!("(({ty}){a})")
            }
            9 => format!("({} ? {a} : {})", self.integer(0), self.integer(depth - 1)),
            10 => format!("({a} {} {})", self.0.pick(&["&&", "||"]), self.integer(depth - 1)),
            // Small enough for every integer type.
            _ => format!("((unsigned)({}))", self.float(0)),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        if depth == 0 {
            let digits = format!("{}.{}", self.0.below(100_000), self.0.below(1_000_000));
            return format!("{digits}{}", self.0.pick(&["", "f", "L"]));
        }
        let a = self.float(depth - 1);
        match self.0.below(5) {
            0..=2 => format!("({a} {} {})", self.0.pick(&["+", "*", "/"]), self.float(depth - 1)),
            3 => format!("(({}){a})", self.0.pick(&["float", "double", "long double"])),
            _ => format!("({a} + {})", self.0.below(1000)),
        }
    }
}

#[test]
fn values_of_random_constants_are_those_of_gcc() {
    if !have_gcc() {
        return;
    }
    for model in MODELS {
        let mut gen_ = Constants(Rng(0x0bad_cafe_0bad_cafe));
        let mut text = VARIABLES.to_string();
        for n in 0..800 {
            let depth = n % 4;
            let ty = ["long long", "unsigned char", "int", "_Bool"][n / 4 % 4];
            writeln!(text, "{ty} int_{n} = {};", gen_.integer(depth)).unwrap();
        }
        for n in 0..400 {
            // In 32 bits gcc computes with more precision than the types have.
            let depth = if model == DataModel::Lp64 { n % 4 } else { 0 };
            let ty = ["float", "double", "long double"][n % 3];
            writeln!(text, "{ty} float_{n} = {};", gen_.float(depth)).unwrap();
        }
        let (program, diags, names) = check(&[&text], model);
        let bad: Vec<_> = diags.iter().filter(|d| d.is_error()).collect();
        assert!(bad.is_empty(), "{:?}: {}", bad[0], &text[bad[0].span.lo as usize..bad[0].span.hi as usize]);
        let compiled = elf::compile(&text, model, "constants").unwrap();
        let mut compared = 0;
        for object in &program.objects {
            let Some(name) = object.name.map(|n| names.name(n)) else { continue };
            if name.starts_with("int_") || name.starts_with("float_") {
                let line = text.lines().find(|l| l.contains(&format!(" {name} "))).unwrap();
                assert_eq!(image_bytes(&program, object).unwrap(), compiled[name], "{model:?}: {line}");
                compared += 1;
            }
        }
        assert_eq!(compared, 1200);
    }
}

/// Programs that gcc accepts and we must accept.
const VALID: &[&str] = &[
    "int a[]; int a[3]; extern int a[]; int n = sizeof a;",
    "int x; int x; extern int x; int x = 3;",
    "struct s; struct s *p; struct s { int x; }; int f(void) { return p->x; }",
    "int f(); int f(int, int); int g(void) { return f(1, 2); }",
    "int f(x, y) int x; char *y; { return x + *y; } int g(void) { return f(1, \"a\"); }",
    "static int f(void); int g(void) { return f(); } static int f(void) { return 1; }",
    "void f(int n) { int a[n][n + 1]; a[1][2] = sizeof a; typedef int t[n]; t b; b[0] = sizeof(t[2]); }",
    "int f(int n, int a[n][n]) { return a[1][2] + sizeof *a; } int g(int n, int a[static n], int b[*]);",
    "void f(void) { goto l; { __label__ l; l: goto l; } l: ; void *p = &&l; goto *p; }",
    "int f(int x) { switch (x) { case 1 ... 5: return 1; case 'a': default: return 2; case 7: ; } return 0; }",
    "int f(int x) { return ({ int y = x; if (y) y++; y; }); }",
    "struct { int a : 3, : 0, b : 5; unsigned : 4; } x = { 1, 2 };",
    "union u { int a; float b; } u = { .b = 1.5 }; union u v = { 3 }; union u f(int x) { return (union u)x; }",
    "struct p { int x, y; } a[] = { [2].y = 1, 7, [0] = { 3, .y = 4 }, };",
    "struct p { int x, y; } a = { y: 1, x: 2 }; int b[] = { [0 ... 9] = 5, [3] = 6 };",
    "struct f { int n; char data[]; } s = { 3, \"abc\" };",
    "int *p = (int[]){ 1, 2, 3 }; struct s { int *q; } s = { (int[2]){ 4, 5 } };",
    "char s[] = \"ab\" \"cd\"; char t[2] = \"ab\"; char u[] = { \"xyz\" }; int w[] = { 1, 2 };",
    "_Static_assert(sizeof(int[3]) == 12, \"\"); struct s { _Static_assert(1, \"x\"); int x; };",
    "typedef int t; void f(void) { t t = 3; t++; } typedef int t;",
    "enum e { A, B = A + 5, C } x = C; int a[C]; _Static_assert(C == 6, \"\");",
    "int f(void) { extern int hidden; return hidden + undeclared(1); } int hidden = 3;",
    "int printf(const char *, ...); int main() { printf(\"%d\", 1); return implicit() + malloc(3) != 0; }",
    "int x = 5 > 3 ? 1 : 1 / 0; int y = 0 && 1 / 0;",
    "void *f(void) { return f; } int (*g(int x))(int) { return 0; } int h(void) { return (*g(1))(2); }",
    "int x; int *p = &x + 1; char *q = (char *)&x + 3; long d = (long)&x; int *r = &((struct { int a, b; } *)0)->b;",
    "int a[2][3]; int *p = &a[1][2]; int (*q)[3] = a + 1; long n = &a[1] - &a[0];",
    "int f(int x) { return x ?: 3; } int g(int *p) { return *p++ + (*p)++ + p[0] + 0[p]; }",
    "struct s { struct { int a; union { int b; float c; }; }; int d; } s = { .b = 1, 2 }; int f(void) { return s.c; }",
    "void f(const char *p, char *q) { q = p; p = q; int x = p; p = 5; if (p == x) x = q < p; }",
    "void f(void) { __builtin_va_list l; } void g(int n, ...) { __builtin_va_list l, m; __builtin_va_start(l, n); \
     __builtin_va_copy(m, l); int x = __builtin_va_arg(l, int); __builtin_va_end(l); }",
    "void h(__builtin_va_list l) { double d = __builtin_va_arg(l, double); }",
    "int x __attribute__((mode(DI))); _Static_assert(sizeof x == 8, \"\"); typedef unsigned u8 __attribute__((mode(QI))); u8 y;",
    "__attribute__((noreturn)) void die(void); _Noreturn void die2(void);",
    "typedef union { int *i; float *f; } u __attribute__((transparent_union)); void f(u); void g(int *p, float *q) { f(p); f(q); f(0); }",
    "int f(void) { int x, y; return __builtin_add_overflow(1, 2, &x) + __builtin_mul_overflow_p(1, 2, (char)0) + __builtin_clz(5) + __builtin_bswap32(y); }",
    "_Static_assert(__builtin_popcount(255) == 8 && __builtin_bswap16(0x1234) == 0x3412 && __builtin_ctzll(8) == 3, \"\");",
    "int a = __builtin_constant_p(3); _Static_assert(__builtin_constant_p(1 + 2) && !__builtin_constant_p(a), \"\");",
    "int f(int x) { return __sync_fetch_and_add(&x, 1) + __atomic_load_n(&x, 5) + __sync_bool_compare_and_swap(&x, 1, 2); }",
    "void f(void) { int x; asm volatile (\"nop\" : \"=r\"(x) : \"r\"(1), \"m\"(x) : \"memory\"); asm(\"\"); }",
    "inline int f(void) { return 1; } extern inline __attribute__((gnu_inline)) int g(void) { return 2; } int g(void) { return 3; }",
    "int f(int, int); int f(int a, int b) { return a; } int (f)(int, int);",
    "struct s { int x; } f(void); int g(void) { return f().x; } struct t { int a[3]; } h(void); int k(void) { return h().a[1]; }",
    "const char *f(void) { return __func__; } int g(void) { return sizeof(__FUNCTION__); }",
    "__auto_type x = 5L; _Static_assert(sizeof x == sizeof(long), \"\");",
    "long double ld = 1.5L; float f = 1e30f; double d = 0x1.8p3; int i = (int)3.9; _Bool b = 0.5; char c = 300;",
    "struct a { struct b *p; }; struct b { struct a x; }; int f(struct b *b) { return b->x.p == b; }",
    "void f(int x) { for (int i = 0; i < x; i++) { if (i) continue; break; } do x--; while (x); while (x) ; }",
    "extern int *const volatile p; int f(void) { return *p; }",
    "_Complex double z; __float128 q; typedef int v4 __attribute__((vector_size(16))); v4 v; _Complex float f(_Complex float);",
    "int f(void) { return ((void)0, 1); } void g(void) { return (void)f(); }",
    "int w = sizeof(void) + sizeof(int (void)); void f0(void) { void *p = 0; p++; p += 2; }",
    "struct e {}; struct e e; int a0[0]; int n = sizeof(struct e) + sizeof a0;",
    "static const int n = 5; static int m = n; int k = (int)sizeof(n) + 1;",
    "int g(void) { static int n = 3; static int *p = &n; return *p; } void *tbl(int i) { static void *t[] = { &&a, &&b }; goto *t[i]; a: b: return 0; }",
    "__int128_t *p; ",
    "void f(int *restrict a, int b[const], void (*cb)(int), void cb2(int)) { cb(1); cb2(2); (*cb)(3); }",
    "extern void end; void *p = &end; void *f(void) { return &end; }",
    "unsigned f(void) { return 1u << 31 | 0x80000000; } int h = -2147483647 - 1; int k = 1 << 31;",
];

/// Programs that gcc rejects and we must reject.
const INVALID: &[&str] = &[
    "int x = y;",
    "int x; float x;",
    "int f(int); int f(char *);",
    "int f(char); int f();int f(x) {} char g[",
    "struct s x;",
    "struct s { int a; int a; };",
    "struct s { struct s x; };",
    "int f(void) { return 1 } ",
    "int a[-1];",
    "int n; int a[n];",
    "int x = 1; int x = 2;",
    "int f(void) { break; }",
    "int f(void) { continue; }",
    "void f(void) { goto nowhere; }",
    "void f(void) { l: l: ; }",
    "void f(int x) { switch (x) { case 1: case 1: ; } }",
    "void f(int x) { switch (x) { default: default: ; } }",
    "void f(int x) { switch (x) { case 1 ... 5: case 3: ; } }",
    "void f(int x) { switch (x) { case x: ; } }",
    "void f(void) { case 1: ; }",
    "struct s { int x; } s; int f(void) { return s.y; }",
    "struct s { int x; } s; int f(void) { return s; }",
    "struct s { int x; } s; int f(void) { return s->x; }",
    "int *p; int f(void) { return p.x; }",
    "int x; int f(void) { return *x; }",
    "int f(void) { 1 = 2; }",
    "const int c; void f(void) { c = 2; }",
    "int a[3], b[3]; void f(void) { a = b; }",
    "int f(int); int g(void) { return f(1, 2); }",
    "int f(int); int g(void) { return f(); }",
    "int x; int f(void) { return x(1); }",
    "int *p, *q; int *f(void) { return p + q; }",
    "double d; int f(void) { return d % 2; }",
    "struct s { int x; } s; int f(void) { return s + 1; }",
    "struct s { int a : 3; } s; int *f(void) { return &s.a; }",
    "struct s { int a : 3; } s; int f(void) { return sizeof(s.a); }",
    "struct s { int a : 40; };",
    "struct s { int a : 0; };",
    "struct s { float a : 3; };",
    "int *f(void) { return &1; }",
    "_Static_assert(0, \"no\");",
    "int x; _Static_assert(x, \"no\");",
    "enum e { A, A };",
    "int f(void) { int x; int x; }",
    "int f(int x) { int x; return x; }",
    "typedef int t; typedef long t;",
    "int x = &x;int g(void) { static int y = g(); }",
    "int f(void); int x = f();",
    "int a[2] = 5;",
    "struct s { int x; } s = { .y = 1 };",
    "int a[2] = { [5] = 1 };",
    "int x = sizeof(struct unknown);",
    "int f(void) { return sizeof(int[]); }",
    "void f(void) { void v; }",
    "struct s { int x; } a; struct t { int x; } b; void f(void) { a = b; }",
    "double d; int *p = (int *)1.5;",
    "int f(int a, int a) { return a; }",
    "int f(void)(void);",
    "int f(void)[3];",
    "void a[3];",
    "struct s { int f(void); };",
    "struct s { int a[]; int b; };",
    "enum e { A } ; struct e x;",
    "int f(void) { return _Generic(1, char: 2); }",
    "void f(int n) { static int a[n]; }",
    "void f(int n) { int a[n] = { 1 }; }",
    "int f(void) { int x = ({ void g(void); g(); }); return x; }",
    "void f(void) { int a; asm(\"\" : \"=r\"(1)); }",
    "int x __attribute__((aligned(3)));",
    "void f(void) { if ((struct s { int x; }){ 1 }) ; }",
];

#[test]
fn what_gcc_accepts_is_accepted_and_what_it_rejects_is_rejected() {
    let gcc = have_gcc();
    let mut wrong = Vec::new();
    for model in MODELS {
        for (i, text) in VALID.iter().enumerate() {
            if model == DataModel::Ilp32 && text.contains("__int128") {
                continue;
            }
            if gcc && let Err(message) = gcc_accepts(text, model, &format!("valid{i}")) {
                wrong.push(format!("gcc rejects {text}: {message}"));
            }
            let errors = errors(text, model);
            if !errors.is_empty() {
                wrong.push(format!("{model:?}: rejected: {text}: {errors:?}"));
            }
        }
        for (i, text) in INVALID.iter().enumerate() {
            if gcc && gcc_accepts(text, model, &format!("invalid{i}")).is_ok() {
                wrong.push(format!("gcc accepts {text}"));
            }
            if errors(text, model).is_empty() {
                wrong.push(format!("{model:?}: accepted: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
