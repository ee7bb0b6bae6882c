//! Contracts against the interpreter: whatever contracts are put in place of the calls of a random
//! recursive program, if the woven program is proved then no run of the program goes wrong.

mod common;

use common::compile;
use palisade_base::Budget;
use palisade_cfa::IntTy;
use palisade_check::court::Court;
use palisade_engines::bmc::Bmc;
use palisade_engines::board::Board;
use palisade_engines::summaries::Summaries;
use palisade_engines::{Engine, Outcome as Found};
use palisade_interp::{Config, Discard, Interp, Outcome, Random};
use palisade_property::Property;
use palisade_task::contracts::{self, Atom, Clause, Contract, Relation, Term, Value, Weaving};
use palisade_testkit::Rng;
use std::sync::Arc;

/// Two functions that call each other, or themselves, and a condition on what they return.
fn random_program(rng: &mut Rng) -> String {
    let mut any = |of: &[&str]| of[rng.below(of.len())].to_owned();
    let value = ["n", "m", "1", "2", "0", "n + 1", "m - 1", "n + m", "m + 1"];
    let after = ["r", "r + 1", "r - n", "m", "r + m", "0 - r", "r & 7", "n"];
    let tests = ["n <= 0", "n == 0", "n < 2", "m > 5", "n > m", "m == n"];
    let mut function = |name: &str| {
        let (stop, base) = (any(&tests), any(&value));
        let (callee, first, second) = (any(&["f", "g", name]), any(&["n - 1", "n - 2", "m"]), any(&value));
        let (test, one, other) = (any(&["r > 3", "r == n", "m < 0", "r != m"]), any(&after), any(&after));
        format!(
            "int {name}(int n, int m) {{ if ({stop}) return {base}; int r = {callee}({first}, {second});
               if ({test}) return {one}; return {other}; }}\n"
        )
    };
    let bodies = function("f") + &function("g");
    let wrong =
        any(&["r < 0", "r == 3", "r > 7", "r == x", "r != x + y", "r > x && x > 0", "r == y + 1", "r < y"]);
    let start = any(&["x", "4", "x & 15"]);
    format!(
        "int __VERIFIER_nondet_int(void); void reach_error(void); int f(int, int); int g(int, int);
         {bodies}int main(void) {{ int x = {start_value}, y = __VERIFIER_nondet_int();
           int r = f({start}, y); if ({wrong}) reach_error(); return 0; }}\n",
        start_value = "__VERIFIER_nondet_int()",
    )
}

fn random_clause(rng: &mut Rng, result: bool) -> Clause {
    let mut atom = |result: bool| {
        let mut terms = Vec::new();
        let values = [Value::Param(0), Value::Param(1), Value::Result];
        for &value in &values[..if result { 3 } else { 2 }] {
            let factor = [0, 1, -1, 0, 2][rng.below(5)];
            let modulus = [None, None, None, Some(2)][rng.below(4)];
            if factor != 0 {
                terms.push(Term { factor, value, modulus });
            }
        }
        let relation = [Relation::Zero, Relation::NonZero, Relation::AtLeastZero][rng.below(3)];
        let bits = [32, 64][rng.below(2)];
        Atom { terms, constant: rng.below(9) as i64 - 4, relation, ty: IntTy { bits, signed: true } }
    };
    let given = if atom(false).constant > 0 { vec![atom(false)] } else { Vec::new() };
    Clause { given, then: atom(result) }
}

#[test]
fn no_run_goes_wrong_if_contracts_prove_that_none_does() {
    let mut rng = Rng::new(7);
    let budget = Budget::unlimited();
    let (mut proved, mut refused, mut wrong) = (0, 0, 0);
    for _ in 0..60 {
        let text = random_program(&mut rng);
        let source = Arc::new(compile(&text, &Property::assertions()));
        let task = palisade_reduce::task(&source, 1, 100_000).expect("small");
        let Ok(funcs) = contracts::candidates(&source) else { continue };
        let config = Config { step_limit: 5_000, memory_limit: 16 << 20, ..Config::default() };
        let goes_wrong = (0..60).find(|&seed| {
            let run = Interp::new(&source, config.clone()).run(&mut Random::new(seed), &mut Discard);
            matches!(run.outcome, Outcome::Violation(_))
        });
        wrong += usize::from(goes_wrong.is_some());
        for _ in 0..4 {
            let mut clauses =
                |n: usize, result| (0..rng.below(n)).map(|_| random_clause(&mut rng, result)).collect();
            let contracts: Vec<Contract> =
                funcs.iter().map(|&func| Contract::new(func, clauses(2, false), clauses(4, true))).collect();
            let weaving = Weaving::new(&source, &contracts, false).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let mut functions = [None].into_iter().chain((0..contracts.len()).map(Some));
            let holds = |function: Option<usize>| {
                let woven = palisade_reduce::woven_task(weaving.program_of(function).program).expect("small");
                matches!(Bmc.run(&woven, &Board::default(), &budget, &|_| ()), Found::Proof(_))
            };
            match functions.all(holds) {
                true => assert_eq!(goes_wrong, None, "{contracts:?}\n{text}"),
                false => refused += 1,
            }
        }
        // Random contracts hardly ever prove anything, so those that the engine finds join in.
        if let Found::Proof(certificate) = Summaries.run(&task, &Board::default(), &budget, &|_| ()) {
            assert_eq!(
                palisade_check::certificate(&task, &certificate, &Court::new(&budget)),
                Ok(()),
                "{text}"
            );
            assert_eq!(goes_wrong, None, "{certificate:?}\n{text}");
            proved += 1;
        }
    }
    // The comparison says something only if all cases occur.
    assert!(proved > 2 && refused > 150 && wrong > 20, "{proved} proved, {refused} refused, {wrong} wrong");
}

#[test]
fn woven_programs_are_well_formed() {
    let mut rng = Rng::new(3);
    for _ in 0..50 {
        let source = compile(&random_program(&mut rng), &Property::assertions());
        let Ok(funcs) = contracts::candidates(&source) else { continue };
        let contracts: Vec<Contract> = funcs
            .iter()
            .map(|&func| {
                let ensures = vec![random_clause(&mut rng, true)];
                Contract::new(func, vec![random_clause(&mut rng, false)], ensures)
            })
            .collect();
        let weaving = Weaving::new(&source, &contracts, false).unwrap_or_else(|e| panic!("{e}"));
        for function in [None].into_iter().chain((0..contracts.len()).map(Some)) {
            assert_eq!(palisade_cfa::verify(&weaving.program_of(function).program), []);
        }
    }
}

#[test]
fn functions_that_do_more_than_compute_have_no_contract() {
    let header = "int __VERIFIER_nondet_int(void); void reach_error(void); int g;\n";
    for body in [
        "int f(int n) { if (n <= 0) return g; return f(n - 1); }",
        "int f(int n) { if (n <= 0) return 0; g++; return f(n - 1); }",
        "int h(void) { return ++g; } int f(int n) { if (n <= 0) return h(); return f(n - 1); }",
        "int f(int *n) { if (*n <= 0) return 0; --*n; return f(n); }",
        "void f(int n) { if (n > 0) f(n - 1); }",
        "int f(int n) { int x = 1, *p = &x; if (n <= 0) return *p; return f(n - 1); }",
        "int f(int n) { static int x; if (n <= 0) return x++; return f(n - 1); }",
    ] {
        let call = if body.contains("int *n") { "f(&x)" } else { "f(x)" };
        let text = format!(
            "{header}{body}\nint main(void) {{ int x = __VERIFIER_nondet_int(); {call};
               if (x == 5) reach_error(); return 0; }}"
        );
        assert!(contracts::candidates(&compile(&text, &Property::assertions())).is_err(), "{body}");
    }
}

/// Functions that each call the next one twice: more calls than can be followed. What holds of all results is
/// proved function by function, and what does not hold of some is not.
#[test]
fn calls_that_multiply_are_taken_one_function_at_a_time() {
    let mut functions = "int f0(int x) { if (x > 1000) return 1000; return x < 0 ? 0 : x; }\n".to_owned();
    for i in 1..=20 {
        functions += &format!("int f{i}(int x) {{ int a = f{0}(x); return f{0}(a + 1); }}\n", i - 1);
    }
    let budget = Budget::unlimited();
    for (wrong, holds) in [("r < 0 || r > 1000", true), ("r < 0 || r > 999", false)] {
        let text = format!(
            "int __VERIFIER_nondet_int(void); void reach_error(void);\n{functions}int main(void) {{
               int r = f20(__VERIFIER_nondet_int()); if ({wrong}) reach_error(); return 0; }}\n"
        );
        let source = Arc::new(compile(&text, &Property::assertions()));
        assert!(palisade_reduce::task(&source, 1, 100_000).is_err(), "it is small after all");
        let task = palisade_reduce::outlined_task(&source, 1, 100_000).expect("small");
        match Summaries.run(&task, &Board::default(), &budget, &|_| ()) {
            Found::Proof(certificate) => {
                assert!(holds, "{wrong}");
                assert_eq!(palisade_check::certificate(&task, &certificate, &Court::new(&budget)), Ok(()));
            }
            _ => assert!(!holds, "{wrong}"),
        }
    }
}
