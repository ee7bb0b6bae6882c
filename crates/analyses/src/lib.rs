//! The component analyses that the CPA algorithm runs, one file each.
//!
//! * where control is: [`location`], [`callstack`];
//! * values: [`explicit`] (constants), [`numeric`] (any numeric domain), [`bdd`], [`predicate`],
//!   [`heap`], [`sign`];
//! * [`definitions`] and [`live`] variables;
//! * [`observer`] automata;
//! * [`combinations`] of them by name;
//! * shared parts: [`cells`] and [`effects`] (what a step does to scalars), [`values`] (exact
//!   evaluation), [`trees`] (expressions for numeric domains), [`trie`] (hash-consed maps);
//! * [`invariants`]: ways to construct invariants.

pub mod bdd; // component: sets of values as decision diagrams
pub mod callstack; // component: the calls that have not returned, to a depth
pub mod cells;
pub mod combinations; // component: composites by name: predicated lattice, predicates with constants, heap or observers
pub mod definitions; // component: reaching definitions: which assignment a variable has its value from
pub mod effects;
pub mod explicit; // component: constants: joined where paths meet, or kept apart
pub mod heap; // component: explicit heaps to a depth
pub mod invariants;
pub mod live; // component: live variables, backward: what is read before it is written again
pub mod location; // component: the program counter
pub mod numeric; // component: relations between integers, over any domain
pub mod observer; // component: the states of observer automata
pub mod predicate; // component: predicates: the strongest conjunction (Cartesian) or combination (Boolean)
pub mod sign; // component: the signs of variables: the worked example
pub mod trees;
pub mod trie;
pub mod values;

/// The component analyses, by the names of their modules, with what they track in one line: those
/// whose line above says so.
pub fn components() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("lib.rs").lines();
    lines.filter_map(|l| l.strip_prefix("pub mod ")?.split_once("; // component: "))
}
