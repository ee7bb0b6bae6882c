//! Random C programs of few inputs, settled by each engine alone and by executing all their runs.
//!
//! The programs are about what the front end and the encoding of memory must get right: block
//! operations at odd offsets, unions, pointers to functions that fit their calls or do not, jumps in
//! both directions, and operands with side effects, whose order is open. `PALISADE_LANGUAGE` sets
//! how many programs there are, `PALISADE_LANGUAGE_FROM` which is the first.

mod common;

use common::compile;
use palisade_base::{Budget, Stop};
use palisade_cfa::{CheckKind, EdgeId, Program, Scalar};
use palisade_interp::{Config, Discard, Inputs, Interp, Outcome};
use palisade_portfolio::{Verdict, registry, settle};
use palisade_property::Property;
use palisade_testkit::Rng;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Objects in memory with their sizes.
const OBJECTS: [(&str, usize); 6] = [("u", 4), ("s", 8), ("x", 4), ("l", 8), ("c", 6), ("g", 4)];
/// Scalars in them.
const SCALARS: [&str; 13] =
    ["u.w", "u.h[0]", "u.h[1]", "u.b[2]", "s.a", "s.b", "s.d", "x", "l", "c[1]", "c[5]", "g", "r"];

struct Generator {
    rng: Rng,
    text: String,
    labels: usize,
}

impl Generator {
    fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.below(of.len())]
    }

    fn byte(&mut self) -> usize {
        self.any(&[0, 1, 2, 3, 127, 128, 255])
    }

    fn expr(&mut self, depth: usize) -> String {
        match self.rng.below(if depth == 0 { 3 } else { 7 }) {
            0 | 1 => self.any(&SCALARS).into(),
            2 => self.byte().to_string(),
            3 => format!("next({})", self.any(&["&x", "&g", "&r", "&s.d"])),
            4 => format!("both({}, {})", self.expr(depth - 1), self.expr(depth - 1)),
            _ => {
                let op = self.any(&["+", "-", "^", "&", "|", "<", "==", "&&"]);
                format!("({} {op} {})", self.expr(depth - 1), self.expr(depth - 1))
            }
        }
    }

    /// Some bytes of an object: where and how many.
    fn bytes(&mut self, most: usize) -> (String, usize) {
        let (object, size) = self.any(&OBJECTS);
        let len = 1 + self.rng.below(size.min(most));
        (format!("(char *)&{object} + {}", self.rng.below(size - len + 1)), len)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn statement(&mut self, depth: usize) {
        match self.rng.below(if depth == 0 { 9 } else { 12 }) {
            0 | 1 => {
                let (to, len) = self.bytes(8);
                let byte = self.byte();
                self.line(&format!("memset({to}, {byte}, {len});"));
            }
            2 | 3 => {
                let (from, len) = self.bytes(6);
                let (to, size) = loop {
                    let (object, size) = self.any(&OBJECTS);
                    if size >= len {
                        break (object, size);
                    }
                };
                let at = self.rng.below(size - len + 1);
                self.line(&format!("memmove((char *)&{to} + {at}, {from}, {len});"));
            }
            4 => {
                let (to, value) = (self.any(&SCALARS), self.expr(2));
                self.line(&format!("{to} = {value};"));
            }
            5 => {
                let (to, op, value) = (self.any(&SCALARS), self.any(&["+=", "^=", "-="]), self.expr(1));
                self.line(&format!("{to} {op} {value};"));
            }
            6 => {
                let f = self.any(&["(int (*)(int))one", "(int (*)(int))none", "(int (*)(int))two"]);
                let argument = self.expr(1);
                self.line(&format!("f = {f}; f({argument});"));
            }
            7 => {
                let to = self.any(&SCALARS);
                self.line(&format!("{to} = __VERIFIER_nondet_bool();"));
            }
            8 => {
                let (value, byte) = (self.expr(2), self.byte());
                self.line(&format!("if ({value} == {byte}) reach_error();"));
            }
            9 => {
                let condition = self.expr(1);
                self.line(&format!("if ({condition}) {{"));
                self.statement(depth - 1);
                self.line("} else {");
                self.statement(depth - 1);
                self.line("}");
            }
            10 => {
                // A loop by a jump back past a declaration.
                self.labels += 1;
                let n = self.labels;
                self.line(&format!("n{n} = 0;"));
                self.line(&format!("again{n}:; unsigned v{n} = r;"));
                self.statement(depth - 1);
                let times = 1 + self.rng.below(2);
                self.line(&format!("next(&v{n}); r = v{n}; if (n{n}++ < {times}) goto again{n};"));
            }
            _ => {
                self.labels += 1;
                let n = self.labels;
                let condition = self.expr(1);
                self.line(&format!("if ({condition}) goto over{n};"));
                self.statement(depth - 1);
                self.line(&format!("over{n}:;"));
            }
        }
    }

    fn program(seed: u64) -> String {
        let mut this = Generator { rng: Rng::new(seed), text: String::new(), labels: 0 };
        for _ in 0..3 + this.rng.below(5) {
            this.statement(2);
        }
        let checked = this.any(&SCALARS);
        let value = this.byte();
        let mut text = String::from(
            "_Bool __VERIFIER_nondet_bool(void); void reach_error(void);
void *memset(void *, int, unsigned long); void *memmove(void *, const void *, unsigned long);
union u { unsigned w; unsigned short h[2]; unsigned char b[4]; } u;
struct s { unsigned char a; unsigned short b; unsigned d; } s;
unsigned x, g; unsigned long l; unsigned char c[6];
static unsigned next(unsigned *p) { *p = *p + 1; return *p & 3; }
static unsigned both(unsigned a, unsigned b) { return a ^ (b & 3); }
static int one(int a) { g ^= a; return 0; }
static int none(void) { g++; return 0; }
static int two(int a, int b) { x += a; return 0; }
int main(void) {
    unsigned r = 1; int (*f)(int) = one;
",
        );
        for n in 1..=this.labels {
            let _ = writeln!(text, "    int n{n} = 0;");
        }
        text.push_str(&this.text);
        let _ = writeln!(text, "    if ({checked} == {value}) reach_error();\n    return 0;\n}}");
        text
    }
}

/// Takes all choices in turn: a run for each, the next one after the last.
#[derive(Default)]
struct All {
    /// The choice at each question of a run, and how many there are.
    chosen: Vec<(u128, u128)>,
    at: usize,
    /// Whether a question had more answers than are tried.
    incomplete: bool,
}

impl All {
    fn choose(&mut self, ty: Scalar) -> u128 {
        let wide = !matches!(ty, Scalar::Int(t) if t.bits == 1);
        self.incomplete |= wide;
        if self.at == self.chosen.len() {
            self.chosen.push((0, 2));
        }
        self.at += 1;
        self.chosen[self.at - 1].0
    }

    /// Goes on to the next run.
    fn next(&mut self) -> bool {
        self.at = 0;
        while let Some((value, of)) = self.chosen.last_mut() {
            *value += 1;
            if *value < *of {
                return true;
            }
            self.chosen.pop();
        }
        false
    }
}

impl Inputs for All {
    fn input(&mut self, _: Scalar, _: EdgeId) -> Option<u128> {
        // Truth values have a byte of their own, with two values.
        if self.at == self.chosen.len() {
            self.chosen.push((0, 2));
        }
        self.at += 1;
        Some(self.chosen[self.at - 1].0)
    }

    fn unknown(&mut self, ty: Scalar, _: EdgeId) -> u128 {
        self.choose(ty)
    }
}

/// What an engine gets for one program.
const ENOUGH: Duration = Duration::from_millis(100);
/// Most runs of a program that are looked at.
const MAX_RUNS: usize = 400;

/// Whether some run goes wrong; `None` if not all were seen and none does.
fn goes_wrong(program: &Program, text: &str) -> Option<bool> {
    let mut inputs = All::default();
    for _ in 0..MAX_RUNS {
        let config = Config { step_limit: 20_000, ..Config::default() };
        let run = Interp::new(program, config).run(&mut inputs, &mut Discard);
        match run.outcome {
            Outcome::Violation(CheckKind::ForbiddenCall) => return Some(true),
            Outcome::Exit(_) => {}
            Outcome::Unsupported(_) => inputs.incomplete = true,
            other => panic!("a run ends with {other:?}\n{text}"),
        }
        if !inputs.next() {
            return if inputs.incomplete { None } else { Some(false) };
        }
    }
    None
}

/// Does something that is stopped after a while.
fn limited<T>(work: impl FnOnce(&Budget) -> T) -> T {
    let budget = Budget::unlimited();
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let watched = &budget;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(ENOUGH) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                watched.stop(Stop::Cancelled);
            }
        });
        let result = work(&budget);
        drop(done);
        result
    })
}

/// Composites with every component and every operator.
const COMPOSITES: [&str; 7] = [
    "location+explicit+sign",
    "location+heap+explicit merge=sep",
    "location+predicate+interval",
    "location+predicate stop=join",
    "location+cartesian+explicit merge=equal",
    "location+callstack+bdd merge=sep stop=join",
    "location+definitions+bdd+congruence product=direct",
];

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn every_engine_agrees_with_all_runs() {
    let from = number("PALISADE_LANGUAGE_FROM").unwrap_or(1);
    let count = number("PALISADE_LANGUAGE").unwrap_or(24);
    let property = Property::assertions();
    let analyses = registry::analyses();
    let mut names: Vec<&str> = analyses.iter().map(|a| a.engine.name()).collect();
    names.extend(COMPOSITES);
    let (mut wrong, mut right, mut open, mut settled) = (0, 0, 0, 0);
    for seed in from..from + count {
        let text = Generator::program(seed);
        let program = Arc::new(compile(&text, &property));
        let truth = goes_wrong(&program, &text);
        match truth {
            Some(true) => wrong += 1,
            Some(false) => right += 1,
            None => open += 1,
        }
        for name in &names {
            let answer = limited(|budget| settle(&program, &property, name, budget, &|_, _| {}));
            let broken = answer.rejected.iter().find(|why| why.contains("internal error"));
            assert!(broken.is_none(), "{broken:?}, seed {seed}\n{text}");
            let disagrees = match answer.verdict {
                Verdict::True => truth == Some(true),
                Verdict::False(_) => truth == Some(false),
                Verdict::Unknown(_) => continue,
            };
            settled += 1;
            assert!(!disagrees, "{name} says {:?}, seed {seed}\n{text}", answer.verdict);
        }
    }
    println!("{wrong} go wrong, {right} do not, {open} open; {settled} verdicts of {} engines", names.len());
    // The comparison says something only if both cases occur and engines settle them.
    assert!(wrong >= count / 20 && right >= count / 20 && settled >= count, "{wrong} {right} {settled}");
}
