//! Predicates and numbers together on programs in C.

use palisade_base::{Budget, SourceMap};
use palisade_cfa::*;
use palisade_check::court::Court;
use palisade_domains::Domain;
use palisade_engines::board::Board;
use palisade_engines::numpred::{Event, NumPred};
use palisade_engines::{Certificate, Engine, Outcome};
use palisade_lower::{CheckSet, Options};
use palisade_numpred::Structure;
use palisade_property::Property;
use palisade_task::Task;
use std::cell::Cell;
use std::sync::Arc;

fn task(text: &str) -> Task {
    let property = Property::named("unreach-call").expect("it is listed");
    let mut sources = SourceMap::new();
    let file = sources.add("test.c", text.into()).expect("small");
    let options = Options { checks: property.checks().collect::<CheckSet>(), ..Options::default() };
    let compiled = palisade_lower::compile(&mut sources, &[file], DataModel::Lp64, &options);
    let mut program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    palisade_property::instrument(&mut program, &property);
    palisade_reduce::task(&Arc::new(program), 4, 100_000).expect("small")
}

const FIGURE_2: &str = include_str!("../../../tests/c/check/numpred_figure_2a.c");

/// The scalar variables of these names.
fn vars(program: &Program, names: &[&str]) -> Vec<VarId> {
    let found = |v: &VarId| names.contains(&&*program.vars[*v].name);
    program.vars.ids().filter(found).collect()
}

/// The comparisons of elements of arrays among the conditions of a program.
fn array_conditions(program: &Program) -> Vec<ExprId> {
    let element = |e: ExprId| match program.exprs[e].kind {
        ExprKind::Load(p) => program.places[p].path.iter().any(|p| matches!(p, Proj::Index { .. })),
        _ => false,
    };
    let comparison = |e: &ExprId| match program.exprs[*e].kind {
        ExprKind::Cmp(CmpOp::Eq, a, b) => element(a) || element(b),
        _ => false,
    };
    program.exprs.ids().filter(comparison).collect()
}

/// Example 10: with p, q and x1, x2, y1, y2 the combined domains prove the program, because the new value of q
/// depends on p and on numbers; with the same information neither numbers nor predicates alone do.
#[test]
fn figure_2_needs_predicates_and_numbers_together() {
    let task = task(FIGURE_2);
    let vars = vars(&task.program, &["x1", "x2", "y1", "y2"]);
    let preds = array_conditions(&task.program);
    assert!(vars.len() == 4 && preds.len() >= 2, "{vars:?} {preds:?}");
    for structure in Structure::ALL {
        let engine = NumPred { structure, numbers: Domain::polyhedra() };
        let proved = engine.proves_with(&task, &vars, &preds, &Budget::unlimited());
        let together = !matches!(structure, Structure::Numeric | Structure::Predicate);
        assert_eq!(proved, Ok(together), "{structure:?}");
    }
}

/// A state machine beside a counter: predicates where they are needed, and a proof that checks.
const MACHINE: &str = "
    extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
    int main(void) {
        int state = 0, n = 0, locked = 0;
        while (__VERIFIER_nondet_int()) {
            switch (state) {
            case 0: locked = 1; state = 4; break;
            case 4: if (!locked) reach_error(); if (n < 100) n++; state = 7; break;
            case 7: locked = 0; state = 0; break;
            default: reach_error();
            }
        }
        if (n > 100) reach_error();
        return 0;
    }";

#[test]
fn combined_structures_prove_a_state_machine() {
    let task = task(MACHINE);
    for structure in [Structure::Nex, Structure::Mtndd, Structure::Ndd] {
        for numbers in [Domain::interval(), Domain::octagon()] {
            let engine = NumPred { structure, numbers };
            match engine.run(&task, &Board::default(), &Budget::unlimited(), &|_| {}) {
                Outcome::Proof(proof @ Certificate::Invariants(_)) => {
                    palisade_check::certificate(&task, &proof, &Court::new(&Budget::unlimited()))
                        .expect("it holds");
                }
                other => panic!("{structure:?} {}: {other:?}", numbers.name),
            }
        }
    }
}

/// Values change where a predicate is not tracked: what was known of it before must not be believed after.
const ELSEWHERE: &str = "
    extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
    int main(void) {
        int x = __VERIFIER_nondet_int(), y = 0;
        if (x > 5) y = 1;
        if (__VERIFIER_nondet_int()) { if (x > 5) { x = 0; } }
        if (y && x > 5) { if (!y) reach_error(); }
        if (x == 0 && y) reach_error();
        return 0;
    }";

#[test]
fn what_changes_out_of_scope_is_forgotten() {
    let task = task(ELSEWHERE);
    for structure in Structure::ALL {
        let engine = NumPred { structure, numbers: Domain::interval() };
        let outcome = engine.run(&task, &Board::default(), &Budget::unlimited(), &|_| {});
        assert!(!matches!(outcome, Outcome::Proof(_)), "{structure:?}");
    }
}

/// Locks that are taken under conditions and let go under the same: 4^n ways through the loop.
fn locks(n: usize) -> String {
    let each = |f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<String>();
    format!(
        "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
        int main(void) {{ {} while (__VERIFIER_nondet_int()) {{ {} {} {} }} return 0; }}",
        each(&|i| format!("int p{i}, l{i};")),
        each(&|i| format!("p{i} = __VERIFIER_nondet_int(); l{i} = 0;")),
        each(&|i| format!("if (p{i} != 0) l{i} = 1;")),
        each(&|i| format!("if (p{i} != 0) {{ if (l{i} != 1) reach_error(); l{i} = 0; }}")),
    )
}

/// Values are joined where paths meet, and there are too many paths to keep them apart: a counterexample that
/// the predicates allow is found by going back over the steps that were taken.
#[test]
fn counterexamples_are_found_behind_joins() {
    let task = task(&locks(8));
    for structure in [Structure::Predicate, Structure::Nex, Structure::Mtndd] {
        let tracked = Cell::new((0, 0));
        let outcome = NumPred { structure, numbers: Domain::polyhedra() }.observe(
            &task,
            &Budget::unlimited(),
            &|event| {
                if let Event::Round(_, vars, preds) = event {
                    tracked.set((vars, preds));
                }
            },
        );
        assert!(matches!(outcome, Outcome::Proof(_)), "{structure:?}: {outcome:?}");
        // All of these variables are control: numbers fail, and are replaced by predicates.
        let (vars, preds) = tracked.get();
        assert!(vars == 0 && preds <= 20, "{structure:?}: {vars} {preds}");
    }
}
