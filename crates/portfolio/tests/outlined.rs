//! Functions that are not followed: on random programs, what is proved without them holds.

mod common;

use common::compile;
use palisade_base::Budget;
use palisade_cfa::CheckKind;
use palisade_engines::bmc::Bmc;
use palisade_engines::board::Board;
use palisade_engines::{Engine, Outcome};
use palisade_interp::{Config, Discard, Interp, Outcome as RunOutcome, Random};
use palisade_property::Property;
use palisade_testkit::Rng;
use std::fmt::Write;
use std::sync::Arc;

/// Makes programs whose functions change globals by name, through pointers in globals, and through each other.
struct Generator {
    rng: Rng,
    text: String,
}

impl Generator {
    fn any(&mut self, of: &[&'static str]) -> &'static str {
        of[self.rng.below(of.len())]
    }

    fn statement(&mut self, callees: usize) -> String {
        let place = self.any(&["g", "h", "state", "*gp", "s.a", "*s.p", "x", "*to"]);
        match self.rng.below(if callees == 0 { 7 } else { 9 }) {
            0 | 1 => format!("{place} = {};", self.rng.below(3)),
            2 => format!("{place} = {} + {};", self.any(&["g", "h", "*gp", "*s.p", "x"]), self.rng.below(2)),
            3 => format!("gp = {};", self.any(&["&h", "&s.a", "s.p", "to", "&k"])),
            4 => format!("s.p = {};", self.any(&["&h", "gp", "&k", "to"])),
            5 => format!("if ({} == {}) {place} = 1;", self.any(&["g", "h", "x", "k"]), self.rng.below(3)),
            6 => format!("x = {};", self.any(&["__VERIFIER_nondet_int()", "*to", "k"])),
            _ => {
                let callee = self.rng.below(callees);
                format!("x = f{callee}({}, x);", self.any(&["to", "gp", "&h", "&x", "s.p"]))
            }
        }
    }

    fn program(seed: u64) -> String {
        let text = "int __VERIFIER_nondet_int(void); void reach_error(void);
            int g, h, k, state; struct { int a; int *p; } s; int *gp;\n";
        let mut this = Generator { rng: Rng::new(seed), text: text.into() };
        let functions = 4;
        for f in 0..functions {
            let _ = writeln!(this.text, "int f{f}(int *to, int x) {{");
            for _ in 0..3 {
                let line = this.statement(f);
                let _ = writeln!(this.text, "{line}");
            }
            this.text.push_str("return x; }\n");
        }
        this.text.push_str("int main(void) { int x = 0, *to = &k; gp = &h; s.p = &k;\n");
        for _ in 0..4 {
            let line = this.statement(functions);
            let _ = writeln!(this.text, "{line}");
        }
        let what = this.any(&["state", "g", "h", "k", "s.a", "x", "*gp"]);
        let _ = writeln!(this.text, "if ({what} == {}) reach_error(); return 0; }}", this.rng.below(3));
        this.text
    }
}

#[test]
fn what_is_proved_without_following_functions_holds() {
    let property = Property::assertions();
    let (mut outlined, mut proved, mut wrong) = (0, 0, 0);
    for seed in 0..600 {
        let text = Generator::program(seed);
        let source = Arc::new(compile(&text, &property));
        let Ok(mut task) = palisade_reduce::outline::task(&source, 2, 100_000, 0) else { continue };
        palisade_reduce::reduce(&mut task);
        outlined += 1;
        assert!(task.origin.edges.iter().all(|e| (e.0 as usize) < source.edges.len()));
        assert!(task.origin.locs.iter().all(|l| (l.0 as usize) < source.locs.len()));
        let proof =
            matches!(Bmc.run(&task, &Board::default(), &Budget::unlimited(), &|_| ()), Outcome::Proof(_));
        proved += usize::from(proof);
        let fails = (0..20).any(|inputs| {
            let run = Interp::new(&source, Config::default()).run(&mut Random::new(inputs), &mut Discard);
            matches!(run.outcome, RunOutcome::Violation(CheckKind::ForbiddenCall))
        });
        wrong += usize::from(fails);
        assert!(!(proof && fails), "seed {seed}\n{text}");
    }
    // The comparison says something only if all of this occurs.
    assert!(
        outlined > 200 && proved > 50 && wrong > 50,
        "{outlined} outlined, {proved} proved, {wrong} wrong"
    );
}
