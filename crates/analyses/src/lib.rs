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

pub mod bdd;
pub mod callstack;
pub mod cells;
pub mod combinations;
pub mod definitions;
pub mod effects;
pub mod explicit;
pub mod heap;
pub mod invariants;
pub mod live;
pub mod location;
pub mod numeric;
pub mod observer;
pub mod predicate;
pub mod sign;
pub mod trees;
pub mod trie;
pub mod values;

/// The component analyses by name, with what they track in one line.
pub const NAMES: [(&str, &str); 13] = [
    ("location", "the program counter"),
    ("call-stack", "the calls that have not returned, to a depth"),
    ("explicit", "constants: joined where paths meet, or kept apart"),
    ("reaching-definitions", "which assignment a variable has its value from"),
    ("live-variables", "which variables are read before they are written again"),
    ("predicate-cartesian", "the strongest conjunction of given predicates"),
    ("predicate-boolean", "the strongest Boolean combination of given predicates"),
    ("explicit-heap", "the shape of the heap to a depth"),
    ("bdd", "sets of values as decision diagrams"),
    ("observer", "the states of observer automata"),
    ("numeric", "relations between integers, over any domain"),
    ("sign", "the signs of variables: the worked example"),
    ("composite", "any of them together, with strengthening"),
];
