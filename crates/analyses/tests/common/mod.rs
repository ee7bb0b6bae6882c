//! Shared by the tests: programs in text form, and reached states as readable lines.
#![allow(dead_code)]

use palisade_analyses::location::{Calls, Location};
use palisade_base::Budget;
use palisade_cfa::{LocId, Program};
use palisade_cpa::*;

/// A well-formed program.
pub fn program(text: &str) -> Program {
    let program = palisade_cfa::text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let findings = palisade_cfa::verify::verify(&program);
    assert!(findings.is_empty(), "{findings:?}");
    program
}

/// The location with a label.
pub fn at(program: &Program, label: &str) -> LocId {
    let mut locs = program.locs.iter_enumerated();
    let found = locs.find(|(_, l)| l.label.as_deref() == Some(label));
    found.unwrap_or_else(|| panic!("no location {label}")).0
}

/// Where a program is wrong: locations whose label starts with `error`.
pub fn errors(program: &Program) -> Vec<LocId> {
    let wrong = |l: &palisade_cfa::Loc| l.label.as_deref().is_some_and(|l| l.starts_with("error"));
    program.locs.iter_enumerated().filter(|(_, l)| wrong(l)).map(|(id, _)| id).collect()
}

pub fn location(program: &Program) -> Location<'_> {
    Location::new(program, Calls::Follow, &errors(program))
}

/// Runs to the fixed point.
pub fn explore<C: Cpa>(cpa: C, initial: C::State, precision: C::Precision, order: Order) -> Exploration<C> {
    let mut exploration = Exploration::new(cpa, initial, precision, order);
    assert_eq!(exploration.run(&Budget::unlimited(), Limits::NONE), Status::Complete);
    exploration
}

/// The reached states at a label, in the order in which they were reached.
pub fn states_at<A: Cpa, B: Cpa>(
    program: &Program,
    exploration: &Exploration<Product<A, B>>,
    label: &str,
) -> Vec<String> {
    let loc = at(program, label);
    let cpa = exploration.cpa();
    let here =
        exploration.reached().iter().filter(|(_, s)| cpa.location(s) == Some(loc) && cpa.target(s).is_none());
    here.map(|(_, s)| cpa.right.describe(&s.1)).collect()
}

/// Whether an error is reached.
pub fn fails<C: Cpa>(exploration: &Exploration<C>) -> bool {
    !exploration.targets().is_empty()
}

/// Figure 1 of the paper; a division by zero is a check before line 9.
pub const FIGURE_1: &str = "
fn foo() -> i32 {
  local x: i32; local y: i32; local z: i32; temp .r: i32;
  l2 -> l3: x = 0;
  l3 -> l4: z = 0;
  l4 -> l5: assume y == 1;
  l4 -> l7: assume !(y == 1);
  l5 -> l9: x = 1;
  l7 -> l9: z = 1;
  l9 -> div: check div_by_zero !(x - z == 0);
  div -> l10: .r = 10 / (x - z);
  l10 -> end: return .r;
}
entry foo;
";
