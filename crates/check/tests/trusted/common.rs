//! What the tests of the trusted part share: compiling, random programs, and runs as values of slots.

use palisade_base::SourceMap;
use palisade_cfa::{DataModel, Program};
use palisade_lower::{CheckSet, Options};
use palisade_property::Property;
use palisade_testkit::Rng;
use std::fmt::Write;

/// An instrumented program.
pub fn compile(text: &str, property: &Property, model: DataModel) -> Program {
    let mut sources = SourceMap::default();
    let file = sources.add("random.c", text.to_string()).expect("small");
    let options = Options {
        checks: property.checks().collect::<CheckSet>(),
        entry: property.entry.clone(),
        ..Options::default()
    };
    let compiled = palisade_lower::compile(&mut sources, &[file], model, &options);
    let mut program = compiled.program.unwrap_or_else(|| panic!("{:?}\n{text}", compiled.diagnostics));
    palisade_property::instrument(&mut program, property);
    program
}

/// A size from the environment.
pub fn size(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Makes programs with integers of all widths, floating point, pointers, arrays, structs with
/// bit-fields, unions, block operations, the heap, calls, branches and loops.
pub struct Generator {
    rng: Rng,
    text: String,
    counters: usize,
}

impl Generator {
    fn any(&mut self, of: &[&'static str]) -> &'static str {
        of[self.rng.below(of.len())]
    }

    fn place(&mut self) -> &'static str {
        self.any(&[
            "x",
            "y",
            "c",
            "s",
            "l",
            "u",
            "g",
            "*p",
            "*q",
            "r.a",
            "r.f1",
            "r.f2",
            "r.f3",
            "r.in.b",
            "t[1]",
            "t[x & 3]",
            "rp->a",
            "rp->f2",
            "h->a",
            "h->f1",
            "h->in.b",
            "un.i",
            "un.b[1]",
            "un.h",
            "d",
            "f",
            "m[y & 1][x & 1]",
            "gs.a",
            "gt[u & 3]",
            "uc",
            "b",
            "ld",
            "ul",
        ])
    }

    /// Something about pointers.
    fn about_pointers(&mut self) -> String {
        match self.rng.below(8) {
            0..=2 => format!("(p {} q)", self.any(&["==", "!=", "<", "<=", ">"])),
            3 => "(p - q)".into(),
            4 => format!("(pp[0] {} &t[4])", self.any(&["==", "!=", "<"])),
            5 => "(str == other)".into(),
            6 => format!("(&t[{}] - t)", self.any(&["x & 3", "y & 1", "3"])),
            _ => "(fn == one)".into(),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        match self.rng.below(if depth == 0 { 2 } else { 14 }) {
            0 => self.place().into(),
            1 => (self.rng.below(11) as i64 - 3).to_string(),
            2 => format!("((long)({}) & {})", self.expr(depth - 1), self.rng.below(256)),
            3 => format!(
                "(({})({}))",
                self.any(&[
                    "char",
                    "unsigned char",
                    "short",
                    "unsigned",
                    "long",
                    "float",
                    "double",
                    "_Bool",
                    "int",
                    "signed char",
                    "unsigned long",
                    "long double"
                ]),
                self.expr(depth - 1)
            ),
            4 => format!("({} ? {} : {})", self.expr(depth - 1), self.expr(depth - 1), self.expr(depth - 1)),
            5 => format!(
                "((unsigned)({}) {} {})",
                self.expr(depth - 1),
                self.any(&["<<", ">>"]),
                self.rng.below(31)
            ),
            6 => format!(
                "((int)({}) {} {})",
                self.expr(depth - 1),
                self.any(&["/", "%", ">>"]),
                1 + self.rng.below(7)
            ),
            7 => self.about_pointers(),
            8 => format!("({}(long)({}))", self.any(&["-", "~", "!"]), self.expr(depth - 1)),
            9 => format!(
                "((unsigned)({}) {} {}u)",
                self.expr(depth - 1),
                self.any(&["/", "%"]),
                1 + self.rng.below(9)
            ),
            10 => format!(
                "((long)({}) {} (int)({}))",
                self.expr(depth - 1),
                self.any(&["&", "|", "^"]),
                self.expr(depth - 1)
            ),
            11 => format!(
                "(({})({}) {} ({} & 15))",
                self.any(&["char", "int", "unsigned short", "unsigned long", "long"]),
                self.expr(depth - 1),
                self.any(&["<<", ">>"]),
                self.any(&["l", "x", "uc", "ul"])
            ),
            12 => format!(
                "(({}){} {} ({}){})",
                self.any(&["float", "double", "long double"]),
                self.place(),
                self.any(&["+", "-", "*", "/", "<", "<=", "==", "!="]),
                self.any(&["float", "double", "int"]),
                self.place()
            ),
            _ => {
                let op = self.any(&["+", "-", "*", "<", "<=", "==", "!=", "&&", "||"]);
                format!("({} {op} {})", self.expr(depth - 1), self.expr(depth - 1))
            }
        }
    }

    fn statements(&mut self, n: usize, depth: usize) {
        for _ in 0..n {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        let line = match self.rng.below(if depth == 0 { 17 } else { 20 }) {
            0..=4 => format!("{} = {};", self.place(), self.expr(2)),
            5 => format!(
                "p = {};",
                self.any(&[
                    "&x",
                    "&y",
                    "&g",
                    "&t[2]",
                    "q",
                    "&r.a",
                    "&h->a",
                    "&gt[1]",
                    "&un.i",
                    "(int *)pp[0]"
                ])
            ),
            6 => format!("q = {};", self.any(&["&y", "&t[0]", "p", "&rp->a", "&gs.a", "&m[1][0]"])),
            7 => format!("{} = __VERIFIER_nondet_int();", self.any(&["x", "y", "g", "u", "r.f1"])),
            8 => format!("bump(&{}, {});", self.any(&["x", "g", "t[3]", "r.a"]), self.expr(1)),
            9 => format!("if ({} == {}) reach_error();", self.expr(2), self.rng.below(4)),
            10 => format!(
                "memset({}, {}, {});",
                self.any(&["&r", "t", "h", "un.b", "&gs"]),
                self.rng.below(256),
                self.rng.below(9)
            ),
            11 => format!(
                "memcpy({}, {}, {});",
                self.any(&["&r", "t", "h"]),
                self.any(&["&gs", "gt", "rp", "m"]),
                self.rng.below(9)
            ),
            12 => self
                .any(&["r = *h;", "*h = r;", "gs = r;", "*rp = gs;", "r = (struct rec){1, 2, 3, 4, {5}};"])
                .into(),
            13 => {
                format!("pp[{}] = {};", self.rng.below(2), self.any(&["&x", "p", "&t[1]", "&gt[2]", "&h->a"]))
            }
            14 => format!("{} = *pp[{}];", self.place(), self.rng.below(2)),
            15 => self
                .any(&[
                    "free(h); h = malloc(sizeof *h); *h = gs;",
                    "h = calloc(1, sizeof *h);",
                    "l = (long)p;",
                    "fn = x > 0 ? one : two; y = fn(x);",
                    "{ int in; int *ip = &in; *ip = y; x = *ip; }",
                ])
                .into(),
            16 => self.any(Self::RARE).into(),
            17 | 18 => {
                let cond = self.expr(2);
                let _ = writeln!(self.text, "if ({cond}) {{");
                self.statements(2, depth - 1);
                self.text.push_str("} else {\n");
                self.statements(1, depth - 1);
                "}".into()
            }
            _ => {
                self.counters += 1;
                let i = format!("i{}", self.counters);
                let _ = writeln!(self.text, "for (int {i} = 0; {i} < {}; {i}++) {{", self.rng.below(4));
                self.statements(2, depth - 1);
                "}".into()
            }
        };
        let _ = writeln!(self.text, "{line}");
    }

    /// What is seldom done, each in its own way.
    pub const RARE: &[&str] = &[
        "memmove((char *)t + 1, t, 9);",
        "memcpy(t, (char *)gt + 2, 6);",
        "memset(t, y, x & 7);",
        "memcpy(&r, &gs, u & 7);",
        "{ int v[(x & 3) + 1]; v[x & 3] = y; y = v[0]; }",
        "p = (int *)(long)q;",
        "p = q + (x & 1);",
        "p = x ? &x : 0; if (!p) p = &y;",
        "h = realloc(h, sizeof *h + 8);",
        "{ int *w = calloc(2, 4); w[1] = x; y = w[0] + w[1]; if (x & 1) free(w); }",
        "{ int *w = alloca(8); w[x & 1] = 3; y = w[x & 1]; }",
        "d = sqrt(d);",
        "printf(\"%d\", x);",
        "c = str[x & 3];",
        "str = other;",
        "mb = r; mb.in.b = 7; x = mb.a;",
        "{ struct rec z = {0}; r = z; }",
        "{ static int kept; kept += x; y = kept; }",
        "bytes(&r); bytes(&un);",
        "{ struct rec *o = h; free(h); h = malloc(sizeof *h); *h = r; y = o == h; }",
        "__VERIFIER_assume(x != 77);",
        "ul = (unsigned long)&t[x & 3]; q = (int *)ul;",
        "d = -d; f = -f; ld = ld / 3;",
        "d = d / (x - x); f = (float)d;",
        "b = __builtin_add_overflow(u, 4000000000u, &u);",
        "b = __builtin_sub_overflow(u, 7u, &u);",
        "b = __builtin_mul_overflow(u, 70000u, &u);",
        "b = __builtin_mul_overflow(x, 70000, &x);",
        "x = -2147483647; y = x - 3;",
        "x = 2147483647; y = x + 3;",
        "x = 65536; y = x * x;",
        "x = 1 << 30; y = x << 2;",
        "x = -2147483647 - 1; y = -x;",
        "x = -2147483647 - 1; y = x / -1;",
        "free(0);",
        "q = p; y = (p < q) + 2 * (p <= q) + 4 * (p > q) + 8 * (p - q == 0);",
        "p = &t[1]; q = &t[2]; y = (p < q) + 2 * (p <= q) + 4 * (q <= p) + 8 * (int)(q - p);",
        "q = &g; y = (p < q) + 2 * (p <= q); l = q - p;",
        "free(h); h = malloc(sizeof *h); free(x ? h : 0); h = calloc(1, sizeof *h);",
        "{ char *w = (char *)str; if (x & 1) w[0] = 1; }",
        "q = &t[2]; y = q[-(x & 1)]; p = q - (x & 2);",
        "{ int *w = &t[3]; y = w[x & 1]; }",
        "if (x & 1) free((char *)h + 4);",
        "if (x & 2) { free(h); y = h->a; }",
        "{ int *w; { int in = x; w = &in; } y = x ? *w : 1; }",
        "x = -2147483647 - 1; y = x / (u & 1 ? -1 : 2);",
        "x = y << (u & 31); l = l << 40; x = -x;",
        "x = x * y; y = x - g; g = y + x;",
        "*(int *)((char *)t + 13) = 5;",
    ];

    /// A program that does something with all kinds of variables.
    pub fn around(statements: &str) -> String {
        format!("{}{statements} return 0; }}\n", Self::PROLOGUE)
    }

    /// Declarations of all that statements use.
    const PROLOGUE: &str = "int __VERIFIER_nondet_int(void); void reach_error(void); void *malloc(unsigned long);
            void *calloc(unsigned long, unsigned long); void free(void *);
            void *memset(void *, int, unsigned long); void *memcpy(void *, const void *, unsigned long);
            void *memmove(void *, const void *, unsigned long); void *realloc(void *, unsigned long);
            void *alloca(unsigned long); double sqrt(double); int printf(const char *, ...);
            void __VERIFIER_assume(int);
            struct rec { int a; unsigned f1 : 3; int f2 : 7; long long f3 : 40; struct { short b; } in; };
            union un { int i; unsigned char b[8]; short h; };
            int g = 7; struct rec gs = {1, 2, 3, 4, {5}}; int gt[4] = {9, 8}; int *gp = &gt[1];
            const char *str = \"abc\"; struct rec mb;
            void bytes(void *of) { unsigned char *at = of; at[2] = at[1] + 1; }
            int one(int n) { return n + 1; } int two(int n) { return n - 2; }
            void bump(int *to, int by) { int old = *to; *to = (unsigned)old + by; if (by == 3) g = old; }
            int main(void) { int x = 1, y = 2, t[4] = {0, 1, 2, 3}, m[2][2] = {{1, 2}, {3, 4}}; char c = 3;
              short s = 4; long l = 5; unsigned u = 6; float f = 1.5f; double d = 2.5; union un un = {0};
              struct rec r = {4, 5, 6, 7, {8}}; struct rec *rp = &r; int *p = &x, *q = gp; int *pp[2] = {&x, &y};
              int (*fn)(int) = one; unsigned char uc = 200; _Bool b = 1; long double ld = 0.5L;
              unsigned long ul = 9; const char *other = \"abc\"; struct rec *h = malloc(sizeof *h); *h = r;\n";

    pub fn program(seed: u64) -> String {
        let mut this = Generator { rng: Rng::new(seed), text: Self::PROLOGUE.into(), counters: 0 };
        this.statements(8, 2);
        this.text.push_str("return 0; }\n");
        this.text
    }

    /// A program of a few loops and small numbers, in registers, an array and behind pointers, with
    /// checks that hold as often as not.
    pub fn loops(seed: u64) -> String {
        let text = "int __VERIFIER_nondet_int(void); void reach_error(void);
            int g = 1; int a[3] = {0, 1, 2};
            int main(void) { int x = 0, y = 2, z = 1, n = __VERIFIER_nondet_int(); int *p = &g;
              if (n < 0 || n > 3) return 0;\n";
        let mut this = Generator { rng: Rng::new(seed), text: text.into(), counters: 0 };
        for _ in 0..1 + this.rng.below(2) {
            let cond = this.small_condition();
            let _ = writeln!(this.text, "while ({cond}) {{ if (x++ > 4) break;");
            for _ in 0..1 + this.rng.below(3) {
                this.small_step();
            }
            this.text.push_str("}\n");
            let cond = this.small_condition();
            let _ = writeln!(this.text, "if ({cond}) reach_error();");
        }
        this.text.push_str("return 0; }\n");
        this.text
    }

    fn small(&mut self) -> &'static str {
        self.any(&["x", "y", "z", "n", "g", "*p", "a[1]", "a[n & 1]", "a[x % 3]"])
    }

    fn small_condition(&mut self) -> String {
        let op = self.any(&["==", "!=", "<", "<=", ">"]);
        let left = self.small();
        match self.rng.below(3) {
            0 => format!("{left} {op} {}", self.small()),
            _ => format!("{left} {op} {}", self.rng.below(6) as i64 - 1),
        }
    }

    fn small_step(&mut self) {
        let to = self.any(&["y", "z", "g", "*p", "a[1]", "a[n & 1]", "a[x % 3]"]);
        let line = match self.rng.below(6) {
            0 => format!("p = {};", self.any(&["&g", "&y", "&a[2]", "&a[n % 3]"])),
            1 => format!("{to} = __VERIFIER_nondet_int() & 3;"),
            2 => format!("if ({}) {to} = {};", self.small_condition(), self.small()),
            3 => format!("{to} = {};", self.small()),
            _ => {
                let op = self.any(&["+", "-", "*"]);
                format!("{to} = ({} {op} {}) & 7;", self.small(), self.small())
            }
        };
        let _ = writeln!(self.text, "{line}");
    }
}
