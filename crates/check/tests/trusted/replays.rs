//! Counterexamples on the interpreter: the values that they name are the values that the run has.

use crate::common::compile;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_check::replay::replay;
use palisade_evidence::{Chosen, Counterexample};
use palisade_property::Property;

fn program(body: &str) -> Program {
    let head = "int __VERIFIER_nondet_int(void); void reach_error(void);";
    compile(
        &format!("{head} int main(void) {{ {body} return 0; }}"),
        &Property::assertions(),
        DataModel::Lp64,
    )
}

/// The edges whose operation is as asked for.
fn edges(p: &Program, wanted: impl Fn(&Op) -> bool) -> Vec<EdgeId> {
    p.edges.iter_enumerated().filter(|(_, e)| wanted(&e.op)).map(|(id, _)| id).collect()
}

#[test]
fn inputs_are_the_ones_that_are_named() {
    let p = program(
        "int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int(); if (x - y == 7) reach_error();",
    );
    let inputs = edges(&p, |op| matches!(op, Op::Havoc { input: true, .. }));
    for (x, y) in [(9u128, 2u128), (9, 3), (7, 0), (0, 0)] {
        let chosen = |(&edge, bits): (&EdgeId, u128)| Chosen { edge, bits, input: true, times: 1 };
        let unknowns: Vec<Chosen> = inputs.iter().zip([x, y]).map(chosen).collect();
        assert_eq!(unknowns.len(), 2);
        let bug = Counterexample { unknowns, contents: Vec::new() };
        let run = replay(&p, &bug, u64::MAX, &Budget::unlimited());
        assert_eq!(run.is_ok(), x.wrapping_sub(y) == 7, "{x} {y}");
        assert!(run.map_or(true, |r| r.kind == CheckKind::ForbiddenCall));
    }
}

#[test]
fn bytes_are_the_ones_that_are_named() {
    let p = program("unsigned char t[3]; unsigned char *q = t; if (q[1] == 200 && q[2] == 1) reach_error();");
    let lives = edges(&p, |op| matches!(op, Op::Enter { var } if &*p.vars[*var].name == "t"));
    for bytes in [vec![0, 200, 1], vec![0, 1, 200], vec![0, 0, 0]] {
        let bug = Counterexample { unknowns: Vec::new(), contents: vec![(lives[0], bytes.clone())] };
        assert_eq!(
            replay(&p, &bug, u64::MAX, &Budget::unlimited()).is_ok(),
            bytes == [0, 200, 1],
            "{bytes:?}"
        );
    }
}
