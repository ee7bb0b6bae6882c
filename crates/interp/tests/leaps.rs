//! Passes that are leapt over do what passes do that are executed: a run that somebody watches takes them all.

use palisade_base::SourceMap;
use palisade_cfa::*;
use palisade_interp::*;
use palisade_lower::{Options, compile};

fn program(text: &str) -> Program {
    program_for(text, DataModel::Lp64)
}

fn program_for(text: &str, model: DataModel) -> Program {
    let mut map = SourceMap::new();
    let id = map.add("leaps.c", text.into()).expect("the program is small");
    let compiled = compile(&mut map, &[id], model, &Options::default());
    let errors: Vec<&str> = compiled.diagnostics.iter().map(|d| &*d.message).collect();
    compiled.program.unwrap_or_else(|| panic!("{errors:?}\n{text}"))
}

/// The edges that take inputs.
fn asking(program: &Program) -> Vec<EdgeId> {
    let asks = |(id, edge): (EdgeId, &Edge)| matches!(edge.op, Op::Havoc { input: true, .. }).then_some(id);
    program.edges.iter_enumerated().filter_map(asks).collect()
}

fn inputs_of(run: &Run) -> Vec<(EdgeId, u128)> {
    let all = run.inputs.iter();
    all.flat_map(|i| std::iter::repeat_n((i.edge, i.bits), i.times as usize)).collect()
}

/// Runs with leaps and without; whether there were any.
fn both(text: &str, inputs: impl Fn(&Program) -> Forced) -> bool {
    [DataModel::Lp64, DataModel::Ilp32].map(|model| same(text, model, &inputs)).contains(&true)
}

fn same(text: &str, model: DataModel, inputs: &impl Fn(&Program) -> Forced) -> bool {
    let program = program_for(text, model);
    let mut interp = Interp::new(&program, Config { step_limit: 10_000_000, ..Config::default() });
    let leaping = interp.run(&mut inputs(&program), &mut Discard);
    let mut watch = |_: EdgeId, _: &State<'_>| true;
    let walking = interp.run_observed(&mut inputs(&program), &mut Discard, &mut watch);
    assert_ne!(walking.outcome, Outcome::StepLimit, "{text}");
    assert_eq!((&leaping.outcome, &leaping.stack), (&walking.outcome, &walking.stack), "{text}");
    assert_eq!(inputs_of(&leaping), inputs_of(&walking), "{text}");
    // A leap of the least length saves so many steps in any case.
    leaping.steps + 60 < walking.steps
}

fn unasked(text: &str) -> bool {
    both(text, |_| Forced::new())
}

#[test]
fn loops_are_leapt_over() {
    for body in [
        "int n = 0; for (int i = 0; i < 20000; i++) n += 3; return n % 1000;",
        "int n = 0; for (int i = 20000; i; i--) n -= 2; return -n % 1000;",
        "long n = 0; for (long i = -9000; i <= 9000; i += 2) n = i * 4; return n % 1000;",
        "unsigned n = 5; do { n -= 7; } while (n != 4294827301u); return n % 1000;",
        "unsigned char a[20000]; for (int i = 0; i < 20000; i++) a[i] = 7; return a[0] + a[19999] + a[5000];",
        "int a[20000]; for (int i = 0; i < 20000; i++) a[i] = i; return a[17000] % 1000 + a[1] + a[19999] % 10;",
        "int a[20000]; for (int *p = a + 19999; p > a; p--) *p = -1; return a[1] + a[19999] + a[9] + 10;",
        "struct { int x; short y; } s[9000]; for (int i = 0; i < 9000; i++) { s[i].x = i; s[i].y = 3; }
         return s[8999].x % 1000 + s[8999].y + s[4].x;",
        "static char a[20000]; int n = 0; for (int i = 0; i < 20000; i++) n += a[i]; return n;",
        "int n = 0, *p = &n; for (int i = 0; i < 20000; i++) { *p += 1; } return n % 1000;",
        "for (int i = 0; i < 30000; i++) { g = g + 2; h = g; } return (g + h) % 1000;",
        "short n = 0; for (int i = 0; i < 200000; i++) n++; return n % 100;",
        "unsigned char c = 0; int n = 0; for (int i = 0; i < 20000; i++) { a[i & 16383] = 1; } return a[100];",
        "long n = 0; for (int i = 0; i < 20000; i++) { long j = i - 3; n = j * 8; } return n % 1000;",
        "char *p = a; while (p != a + 16000) { *p = 'x'; p++; } *p = 0; for (p = a; *p; p++) {} return (p - a) % 1000;",
    ] {
        let text = format!("int g, h; char a[16384]; int main(void) {{ {body} }}");
        assert!(unasked(&text), "nothing was leapt over: {body}");
    }
}

#[test]
fn what_depends_on_other_passes_is_executed() {
    for body in [
        // Each pass reads what the one before has written, or writes what the next one reads.
        "for (int i = 1; i < 16000; i++) a[i] = a[i - 1] + 1; return a[15999];",
        "a[0] = 1; for (int i = 0; i < 16000; i++) a[i + 1] = a[i]; return a[16000];",
        "a[8000] = 1; int n = 0; for (int i = 0; i < 16000; i++) n += a[i]; return n;",
        "a[8000] = 5; int n = 0; for (int i = 0; i < 16000; i++) { if (a[i]) n = i; } return n % 1000;",
        "int n = 1; for (int i = 0; i < 16000; i++) n = n * 3 + i; return n & 127;",
        "int n = 0; for (int i = 0; i < 16000; i++) { n += i; } return n & 127;",
        "int n = 0; for (int i = 0; i < 16000; i++) { if (i % 3) n++; } return n & 127;",
        // Bytes of a word that is read.
        "int w = 0; char *p = (char *)&w; int n = 0; for (int i = 0; i < 9000; i++) { p[1] = 1; n += w; } return n & 127;",
        // The last passes differ.
        "int n = 0; for (int i = 0; i < 16000; i++) { if (i > 15990) n++; } return n;",
        "int n = 0; for (unsigned char c = 0; n < 9000; c++) { n++; if (c == 200) a[n] = 1; } return a[201] + a[457];",
    ] {
        unasked(&format!("char a[16384]; int main(void) {{ {body} }}"));
    }
    // Out of bounds, at last.
    let text = "char a[9000]; int main(void) { int i = 0; while (1) { a[i] = 1; i++; } }";
    let run = Interp::new(&program(text), Config::default()).run(&mut Forced::new(), &mut Discard);
    assert_eq!(run.outcome, Outcome::Violation(CheckKind::Bounds));
    assert!(run.steps < 20_000, "{} steps", run.steps);
}

#[test]
fn two_billion_passes_of_inputs() {
    let text = "extern void *malloc(unsigned long); extern char __VERIFIER_nondet_char(void);
        extern int __VERIFIER_nondet_int(void);
        int main(void) {
          int size = __VERIFIER_nondet_int();
          if (size <= 0) return 1;
          char *text = malloc(size);
          int i = 0;
          while (i < size) { text[i] = __VERIFIER_nondet_char(); if (text[i] == 0) break; i++; }
          if (i == size) return 2;
          char *end = text; while (*end) end++;
          return end - text == i && i == 2147483646 ? 42 : 3;
        }";
    let program = program(text);
    let inputs = |program: &Program| {
        let [size, char] = asking(program)[..] else { panic!("two inputs") };
        let mut inputs = Forced::new();
        inputs.push(size, 0x7fff_ffff, 1);
        inputs.push(char, b'x'.into(), 0x7fff_fffe);
        inputs.push(char, 0, 1);
        inputs
    };
    let mut interp = Interp::new(&program, Config { memory_limit: 1 << 28, ..Config::default() });
    let run = interp.run(&mut inputs(&program), &mut Discard);
    assert_eq!(run.outcome, Outcome::Exit(42));
    assert_eq!(run.inputs.iter().map(|i| i.times).sum::<u64>(), 1 + 0x7fff_ffff);
    assert!(run.steps < 200_000, "{} steps", run.steps);
    // As many as there are.
    let few = text.replace("2147483646", "9000");
    let given = |program: &Program| {
        let [size, char] = asking(program)[..] else { panic!("two inputs") };
        let mut inputs = Forced::new();
        inputs.push(size, 10_000, 1);
        inputs.push(char, 1, 9_000);
        inputs
    };
    assert!(both(&few, given));
}

/// A number below `n`.
fn below(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as usize % n
}

fn pick<'t>(state: &mut u64, from: &[&'t str]) -> &'t str {
    from[below(state, from.len())]
}

const VARIABLES: [&str; 8] = ["x", "u", "h", "c", "l", "g", "*q", "i"];
const CONSTANTS: [&str; 10] = ["0", "1", "-1", "2", "3", "7", "-5", "100", "255", "65536"];
const RELATIONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

fn value(state: &mut u64) -> String {
    let (a, b) = (pick(state, &VARIABLES), pick(state, &VARIABLES));
    let k = pick(state, &CONSTANTS);
    match below(state, 9) {
        0 => k.into(),
        1 => a.into(),
        2 => format!("{a} + {k}"),
        3 => format!("{a} * {k}"),
        4 => format!("{a} - {b}"),
        5 => format!("w[i & 8191] + {k}"),
        6 => "b[(unsigned)i % 8192]".into(),
        7 => format!("({a} {} {k})", pick(state, &RELATIONS)),
        _ => format!("{a} & {}", [0, 1, 255, 4095][below(state, 4)]),
    }
}

fn statement(state: &mut u64) -> String {
    let target = pick(state, &["x", "u", "h", "c", "l", "g", "*q"]);
    let value = value(state);
    match below(state, 11) {
        0..=2 => format!("{target} += {};", pick(state, &CONSTANTS)),
        3 => format!("{target} = {value};"),
        4 => format!("w[i & 8191] = {value};"),
        5 => format!("b[i & 8191] = {value};"),
        6 => format!("s[i & 8191].m = {value}; s[i & 8191].k = {};", pick(state, &CONSTANTS)),
        7 => format!("*p = {value}; p = p == b + 8191 ? b : p + 1;"),
        8 => format!(
            "if ({value} {} {}) {target} = {};",
            pick(state, &RELATIONS),
            pick(state, &CONSTANTS),
            pick(state, &CONSTANTS)
        ),
        9 => format!("w[(i + 1) & 8191] = w[i & 8191] + {};", pick(state, &CONSTANTS)),
        _ => format!("u = next(); {target} += {};", pick(state, &CONSTANTS)),
    }
}

fn random_loop(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let state = &mut state;
    let body: Vec<String> = (0..1 + below(state, 4)).map(|_| statement(state)).collect();
    let body = body.join(" ");
    let n = 3_000 + below(state, 5_000);
    let head = match below(state, 5) {
        0 => format!("for (i = 0; i < {n}; i++)"),
        1 => format!("for (i = {n}; i > 0; i--)"),
        2 => format!("for (i = 0; i <= {n}; i += 2)"),
        3 => format!("for (i = 8190; i != 8190 - {n}; i -= 1)"),
        _ => format!("for (i = -{n}; i < 10; i += 1)"),
    };
    format!(
        "extern unsigned __VERIFIER_nondet_uint(void);
         int g; int w[8192]; unsigned char b[8192]; struct {{ int m; short k; }} s[8192];
         static unsigned next(void) {{ return 3; }}
         int main(void) {{
           int i, x = 1, t = 0, *q = &t; unsigned u = __VERIFIER_nondet_uint(); short h = 0; unsigned char c = 9;
           long l = 5; unsigned char *p = b;
           {head} {{ {body} }}
           unsigned sum = x + 3 * u + 5 * h + 7 * c + 11 * (unsigned)l + 13 * g + 17 * t + 19 * i;
           for (i = 0; i < 8192; i++) sum = sum * 31 + w[i] + 3 * b[i] + 5 * s[i].m + 7 * s[i].k;
           return sum;
         }}"
    )
    .replace("next()", if below(state, 2) == 0 { "next()" } else { "__VERIFIER_nondet_uint()" })
    .replace("static unsigned __VERIFIER_nondet_uint()", "static unsigned next()")
}

/// `PALISADE_LEAPS=N` runs so many.
#[test]
fn random_loops() {
    let count = std::env::var("PALISADE_LEAPS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut leapt = 0;
    for seed in 0..count {
        let inputs = |program: &Program| {
            let mut inputs = Forced::new();
            for edge in asking(program) {
                inputs.push(edge, (seed % 7).into(), 1 + seed % 4000);
            }
            inputs
        };
        leapt += u64::from(both(&random_loop(seed), inputs));
    }
    println!("{leapt} of {count} programs have passes that are leapt over");
    assert!(leapt * 4 > count, "{leapt} of {count}");
}
