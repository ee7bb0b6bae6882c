//! Typing rules, checked against gcc: the types and values that we find are asserted in C.

mod common;

use common::programs::{INVALID, VALID};
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

#[test]
fn gnu_c_as_it_is_written_is_accepted() {
    if !have_gcc() {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gnu.c");
    let out = std::process::Command::new("gcc").args(["-E", "-m64", path]).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    gcc_accepts(&text, DataModel::Lp64, "gnu").unwrap();
    assert_eq!(errors(&text, DataModel::Lp64), Vec::<String>::new());
}
