//! The control-flow automaton: what every analysis of Palisade works on.
//!
//! A [`Program`] is a set of functions; a function is a graph of locations and edges; an edge
//! carries one pure operation. Every integer operation carries width and signedness, every
//! conversion is explicit, side effects and evaluation order were resolved when the automaton was
//! made. The meaning of the automaton is defined by the doc comments of [`ir`] and executed by the
//! reference interpreter.
//!
//! * [`ir`]: locations, edges, operations, expressions, places;
//! * [`types`]: object types with their layout;
//! * [`eval`]: the constant evaluator of scalar operators.

pub mod eval;
pub mod ir;
pub mod types;

pub use ir::*;
pub use types::*;
