//! Programs function by function, without their memory: what is proved of them holds of their runs.

mod common;

use common::compile;
use palisade_base::Budget;
use palisade_check::court::Court;
use palisade_check::plain;
use palisade_engines::board::Board;
use palisade_engines::modular::Modular;
use palisade_engines::{Certificate, Engine, Outcome as Found};
use palisade_interp::{Config, Discard, Interp, Outcome, Random};
use palisade_property::Property;
use palisade_task::Task;
use palisade_task::contracts::Weaving;
use palisade_task::forget::forget;
use palisade_testkit::Rng;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Functions over two global registers, an array and a pointer, with loops, calls and calls through pointers.
fn random_program(rng: &mut Rng) -> String {
    let mut any = |of: &[&str]| of[rng.below(of.len())].to_owned();
    let conditions =
        ["g == 0", "g != 0", "h == 1", "g == h", "n > 2", "*p == 1", "a[n & 3] > 0", "h < 2", "n == 0"];
    let steps = [
        "g = 1;",
        "g = 0;",
        "h = g;",
        "h = 0;",
        "g = h + 1;",
        "a[n & 3] = g;",
        "*p = h;",
        "h = *p;",
        "n = g;",
        "if (g) h = 1;",
        "for (int i = 0; i < (n & 3); i++) h = i;",
        "p = &a[1];",
        "g = !g;",
        "*p = 1;",
        "while (h > 0) h--;",
    ];
    let mut bodies = String::new();
    for i in 0..4 {
        let call = |any: &mut dyn FnMut(&[&str]) -> String| match i {
            0 => any(&steps),
            _ => {
                let callee = any(&["f0", "f1", "f2"]);
                let lower = format!("f{}", i - 1);
                let callee = if callee < lower { callee } else { lower };
                let value = any(&["n", "1", "g", "h - 1"]);
                any(&["h = F(V);", "F(V);", "n = F(V);", "n = via(V);", "if (F(V)) g = 1;"])
                    .replace('F', &callee)
                    .replace('V', &value)
            }
        };
        let (first, second) = (call(&mut any), call(&mut any));
        let (test, one, other, last) =
            (any(&conditions), any(&steps), any(&steps), any(&["g", "h", "n", "0", "a[2]"]));
        let early = any(&["", "if (g == 1) return 1;", "if (h) return 0;"]);
        bodies += &format!(
            "static int f{i}(int n) {{ int *p = &a[0]; {first} if ({test}) {{ {one} {early} }} else {{ {other} }} {second} return {last}; }}\n"
        );
    }
    let target = any(&["f0", "f1"]);
    let wrong = any(&[
        "g > 1",
        "h == 2",
        "g == 1 && h == 0",
        "r == 1",
        "g != 0",
        "h > 3",
        "g == 7",
        "r > 5",
        "a[1] == 2",
    ]);
    let setup = any(&["", "g = 1;", "h = x & 1;", "a[1] = x;"]);
    format!(
        "int __VERIFIER_nondet_int(void); void reach_error(void);
         int g, h, a[4]; static int (*via)(int); static int f0(int); static int f1(int); static int f2(int);
         {bodies}int main(void) {{ int x = __VERIFIER_nondet_int(); via = {target}; {setup}
           int r = f3(x); if ({wrong}) reach_error(); return 0; }}\n"
    )
}

/// Whatever is proved without memory, function by function, no run contradicts, and the check accepts it.
#[test]
fn no_run_goes_wrong_where_tables_prove_that_none_does() {
    let mut rng = Rng::new(11);
    let budget = Budget::unlimited();
    let (mut proved, mut confirmed, mut refused, mut wrong) = (0, 0, 0, 0);
    for _ in 0..400 {
        let text = random_program(&mut rng);
        let source = Arc::new(compile(&text, &Property::assertions()));
        let config = Config { step_limit: 5_000, memory_limit: 16 << 20, ..Config::default() };
        let goes_wrong = (0..60).find(|&seed| {
            let run = Interp::new(&source, config.clone()).run(&mut Random::new(seed), &mut Discard);
            matches!(run.outcome, Outcome::Violation(_))
        });
        wrong += usize::from(goes_wrong.is_some());
        let task = Task::unfollowed(&source);
        let found = Modular { small: 0 }.run(&task, &Board::default(), &budget, &|_| ());
        let Found::Proof(certificate) = found else {
            refused += 1;
            continue;
        };
        assert_eq!(goes_wrong, None, "{text}");
        assert_eq!(palisade_check::certificate(&task, &certificate, &Court::new(&budget)), Ok(()), "{text}");
        proved += 1;
        // The twin does without the reductions, and some facts are lost on it.
        confirmed += usize::from(plain::check(&task, &certificate, &Court::plain(&budget)).is_ok());
    }
    let counts = format!("{proved} proved, {confirmed} confirmed, {refused} refused, {wrong} wrong");
    assert!(proved > 20 && refused > 50 && wrong > 50 && 5 * confirmed > 4 * proved, "{counts}");
}

/// What is left without memory is a program, with contracts or without, whoever is followed.
#[test]
fn programs_without_memory_are_well_formed() {
    let mut rng = Rng::new(5);
    for round in 0..60 {
        let source = compile(&random_program(&mut rng), &Property::assertions());
        let followed: BTreeSet<_> =
            source.funcs.ids().filter(|_| round % 3 == 0 || rng.below(2) == 0).collect();
        let program = forget(&source, &followed).expect("assertions are about values");
        assert_eq!(palisade_cfa::verify(&program), []);
        let weaving = Weaving::new(&source, &[], true).expect("no contract is wrong");
        assert_eq!(palisade_cfa::verify(&weaving.program_of(None).program), []);
    }
}

/// A driver's skeleton: a lock is taken and given back on all ways through functions that each call the next one
/// twice, through memory that nobody knows; with `forgotten`, but for one.
fn skeleton(levels: usize, forgotten: bool) -> String {
    let noise: String = (0..12).map(|i| format!("s->x[{i}] = s->x[{}] * 3 + {i}; ", (i + 5) % 12)).collect();
    let mut functions = format!(
        "static int f0(struct s *s) {{ {noise} if (!attempt()) return -16; s->x[0]++;
           if (s->x[1] > 7) {{ {} return -5; }} give(); return 0; }}\n",
        if forgotten { "" } else { "give();" }
    );
    for i in 1..=levels {
        let below = i - 1;
        functions += &format!(
            "static int f{i}(struct s *s) {{ int r = f{below}(s); {noise} if (r) return r; take();
               if (s->x[3] > {i}) {{ give(); return -1; }} give(); s->next(s); return f{below}(s); }}\n"
        );
    }
    format!(
        "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
         struct s {{ int x[12]; int (*next)(struct s *); }};
         static int lock;
         static void take(void) {{ if (lock != 0) reach_error(); lock = 1; }}
         static void give(void) {{ if (lock != 1) reach_error(); lock = 0; }}
         static int attempt(void) {{ if (__VERIFIER_nondet_int()) {{ take(); return 1; }} return 0; }}
         static int other(struct s *s) {{ take(); s->x[0] = 0; give(); return 1; }}
         {functions}
         int main(void) {{ struct s s; s.next = other;
           while (__VERIFIER_nondet_int()) {{ f{levels}(&s); if (lock) reach_error(); }} return 0; }}\n"
    )
}

/// Programs that are too large once their calls are inlined are settled all the same, and what is wrong is not proved.
#[test]
fn a_program_of_any_size_is_settled_function_by_function() {
    let budget = Budget::unlimited();
    for forgotten in [false, true] {
        let source = Arc::new(compile(&skeleton(24, forgotten), &Property::assertions()));
        assert!(palisade_reduce::task(&source, 1, 1_500_000).is_err(), "it is small after all");
        let task = Task::unfollowed(&source);
        match Modular::default().run(&task, &Board::default(), &budget, &|_| ()) {
            Found::Proof(certificate) => {
                assert!(!forgotten);
                let Certificate::Contracts(found) = &certificate else { panic!("{certificate:?}") };
                assert!(found.contracts.len() > 20, "{}", found.contracts.len());
                assert_eq!(palisade_check::certificate(&task, &certificate, &Court::new(&budget)), Ok(()));
                assert_eq!(plain::check(&task, &certificate, &Court::plain(&budget)), Ok(()));
            }
            Found::Unknown(why) => assert!(forgotten, "{why}"),
            Found::Bug(_) => panic!("it finds none"),
        }
    }
}
