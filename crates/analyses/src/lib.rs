//! The component analyses that the CPA algorithm runs, one file each.
//!
//! * where control is: [`location`], [`callstack`];
//! * values: [`explicit`] (constants), [`numeric`] (any numeric domain), [`bdd`], [`predicate`],
//!   [`heap`], [`sign`];
//! * [`definitions`] and [`live`] variables;
//! * [`observer`] automata;
//! * shared parts: [`cells`] and [`effects`] (what a step does to scalars), [`values`] (exact
//!   evaluation), [`trees`] (expressions for numeric domains), [`trie`] (hash-consed maps);
//! * [`invariants`]: ways to construct invariants.

pub mod bdd;
pub mod callstack;
pub mod cells;
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
pub mod samples;
pub mod sign;
pub mod thresholds;
pub mod trees;
pub mod trie;
pub mod values;
