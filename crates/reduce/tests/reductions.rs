//! Reductions against the interpreter: on random programs and inputs, the reduced task reaches an
//! error exactly when the program that it was made of does.

mod common;

use common::compile;
use palisade_cfa::verify::Subject;
use palisade_cfa::{CheckKind, EdgeId};
use palisade_interp::{Config, Discard, Interp, Outcome, Random, State};
use palisade_property::Property;
use palisade_task::Task;
use palisade_testkit::Rng;
use std::fmt::Write;
use std::sync::Arc;

/// Makes programs with scalars, pointers to them, an array, structs, one of them on the heap, calls,
/// branches and loops.
struct Generator {
    rng: Rng,
    text: String,
    counters: usize,
}

impl Generator {
    fn any(&mut self, of: &[&'static str]) -> &'static str {
        of[self.rng.below(of.len())]
    }

    fn variable(&mut self) -> &'static str {
        self.any(&["x", "y", "z", "g", "*p", "*q", "s.a", "s.b", "t[1]", "t[x & 3]", "sp->b", "h->a", "h->b"])
    }

    fn expr(&mut self, depth: usize) -> String {
        match self.rng.below(if depth == 0 { 2 } else { 5 }) {
            0 => self.variable().into(),
            1 => (self.rng.below(7) as i64 - 2).to_string(),
            2 => format!("({} & {})", self.expr(depth - 1), self.expr(depth - 1)),
            _ => {
                let op = self.any(&["+", "-", "^", "<", "==", "!=", "&&"]);
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
        let line = match self.rng.below(if depth == 0 { 9 } else { 12 }) {
            0..=2 => format!("{} = {};", self.variable(), self.expr(2)),
            3 => format!("{} = {};", self.variable(), self.rng.below(5)),
            4 => format!("p = {};", self.any(&["&x", "&y", "&g", "&t[2]", "q", "&s.a", "&h->b"])),
            5 => format!("q = {};", self.any(&["&y", "&z", "&t[0]", "p", "&sp->a"])),
            6 => format!("{} = __VERIFIER_nondet_int();", self.any(&["x", "y", "g"])),
            7 => format!("bump(&{}, {});", self.any(&["x", "z", "g"]), self.expr(1)),
            8 => format!("if ({} == {}) reach_error();", self.expr(2), self.rng.below(4)),
            9 | 10 => {
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

    fn program(seed: u64) -> String {
        let text = "int __VERIFIER_nondet_int(void); void reach_error(void); void *malloc(unsigned long);
            struct pair { int a; int b; };
            int g;
            void bump(int *to, int by) { int old = *to; *to = old + by; if (by == 3) g = old; }
            int main(void) { int x = 1, y = 2, z = 0, t[4] = {0, 1, 2, 3};
              struct pair s = {4, 5}; struct pair *sp = &s; int *p = &x, *q = &y;
              struct pair *h = malloc(sizeof *h); h->a = 1; h->b = 2;\n";
        let mut this = Generator { rng: Rng::new(seed), text: text.into(), counters: 0 };
        this.statements(9, 2);
        this.text.push_str("return 0; }\n");
        this.text
    }
}

#[test]
fn reduced_tasks_go_wrong_when_their_programs_do() {
    let property = Property::assertions();
    let (mut wrong, mut right, mut smaller) = (0, 0, 0);
    for seed in 0..400 {
        let text = Generator::program(seed);
        let source = Arc::new(compile(&text, &property));
        let mut task = Task::whole(&source, 2, 100_000).expect("small");
        palisade_reduce::reduce_watched(&mut task, &mut |pass, task| {
            // Locals of inlined functions belong to nobody and safe ends are cut off, but expressions and
            // places must be well formed.
            let mut findings = palisade_cfa::verify(&task.program);
            findings.retain(|f| matches!(f.subject, Subject::Expr(_) | Subject::Place(_)));
            assert_eq!(findings, [], "seed {seed}, after `{}`\n{text}", pass.name);
        });
        let plain = palisade_task::inline::inline(&source, 2, 100_000).expect("small");
        smaller += usize::from(task.program.edges.len() < plain.program.edges.len() * 3 / 4);
        for inputs in 0..12 {
            let run = Interp::new(&source, Config::default()).run(&mut Random::new(inputs), &mut Discard);
            let goes_wrong = matches!(run.outcome, Outcome::Violation(CheckKind::ForbiddenCall));
            let mut last = task.body().entry;
            let mut watch = |edge: EdgeId, _: &State<'_>| {
                last = task.program.edges[edge].dst;
                true
            };
            let mut interp = Interp::new(&task.program, Config::default());
            interp.run_observed(&mut Random::new(inputs), &mut Discard, &mut watch);
            let reaches = task.error_at(last).is_some();
            assert_eq!(reaches, goes_wrong, "seed {seed}, inputs {inputs}\n{text}");
            if goes_wrong {
                wrong += 1;
            } else {
                right += 1;
            }
        }
    }
    // The comparison says something only if both cases occur and the reductions do something.
    assert!(wrong > 400 && right > 400, "{wrong} wrong, {right} right");
    assert!(smaller > 300, "only {smaller} tasks got much smaller");
}
