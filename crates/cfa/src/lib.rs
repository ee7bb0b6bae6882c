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
//! * [`eval`]: the constant evaluator of scalar operators;
//! * [`mod@verify`]: well-formedness, checked after every pass in tests;
//! * [`wto`] and [`callgraph`]: loops, orders and calls, computed once;
//! * [`visit`]: what an operation uses;
//! * [`assumption`]: what is taken for granted about the world around the program;
//! * [`text`]: the form that people write and that parses back;
//! * [`c_expr`]: expressions as C that means the same;
//! * [`display`], [`dot`], [`json`]: forms to look at.

pub mod assumption;
pub mod c_expr;
pub mod callgraph;
pub mod display;
pub mod dot;
pub mod effect;
pub mod eval;
pub mod ir;
pub mod json;
mod operands;
pub mod text;
pub mod types;
pub mod verify;
pub mod visit;
pub mod wto;

pub use assumption::{Assumed, Assumption};
pub use callgraph::CallGraph;
pub use effect::{Effect, Math, Native, Printf, To};
pub use ir::*;
pub use types::*;
pub use verify::verify;
pub use visit::Use;
pub use wto::Graph;
