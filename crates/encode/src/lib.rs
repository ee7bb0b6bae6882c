//! Programs as formulas: what a step of the automaton does, in terms of bit-vectors and arrays.
//!
//! * [`pointsto`] and [`regions`] cut memory into parts that do not interfere;
//! * [`layout`] and [`state`]: a symbolic state, one term for each register and region;
//! * [`encoder`]: takes a state over an edge; its parts are `memory`, `expr` and `float`;
//! * [`segment`]: takes a state over everything between two loop heads;
//! * [`inductive`]: which facts about loop heads all segments preserve.
//!
//! What the encoding cannot express becomes an unknown: every concrete run is a model of the
//! formulas, but not every model is a run. So *unsatisfiable* can be trusted, and a satisfying
//! model must be replayed.

pub mod encoder;
mod expr;
mod float;
pub mod inductive;
pub mod layout;
mod memory;
pub mod pointsto;
pub mod regions;
pub mod segment;
pub mod state;

pub use encoder::{Contents, Encoder, Unknown};
pub use memory::{indices, instances};
pub use state::State;
