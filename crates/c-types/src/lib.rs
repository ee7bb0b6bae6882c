//! From the syntax tree to the typed program.
//!
//! [`check_program`] resolves names, applies C's typing rules, makes every conversion explicit,
//! folds constants, lays out records, flattens initialisers and links the files of a program.
//!
//! * [`types`]: the table of C types; [`layout`]: sizes, alignments, places of members;
//! * [`tast`]: the typed program, which lowering reads;
//! * [`soft`]: exact floating-point arithmetic for constants.

mod check;
pub mod layout;
mod scope;
pub mod soft;
pub mod tast;
pub mod types;

pub use check::check_program;
