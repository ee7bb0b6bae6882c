//! Checks proofs that clauses follow from other clauses, in the manner of LRAT.
//!
//! After Cruz-Filipe, Heule, Hunt, Kaufmann and Schneider-Kamp, *Efficient Certified RAT
//! Verification* (CADE 2017): every derived clause names the clauses that show it, in the order in
//! which they become unit once the negation of the derived one is assumed. Checking a step is
//! walking over the named clauses once; nothing is searched. Only steps of this kind (RUP) are
//! accepted, so every derived clause follows from the inputs, and neither deletion nor the order
//! of later inputs can do harm. That is also what makes it right to add inputs between two
//! derivations, as an incremental solver does.
//!
//! * [`Checker`]: knows clauses, and learns those that are shown;
//! * [`Proof`]: the steps that lead to one clause, as data;
//! * [`coding`]: numbers as bytes;
//! * [`Log`]: what a solver reports while it searches, and the [`Proof`] that it contains.
//!
//! The checker depends on nothing, in particular on no part of a solver.

mod checker;
pub mod coding;
mod log;
mod proof;

pub use checker::{Checker, Clause, Lit, Refusal};
pub use log::Log;
pub use proof::{Malformed, Proof};
