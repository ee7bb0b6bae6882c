//! From the syntax tree to the typed program.
//!
//! * [`types`]: the table of C types and their layout;
//! * [`tast`]: the typed program, which lowering reads.

pub mod layout;
pub mod tast;
pub mod types;
