//! The bit-precise solver: terms over Booleans, bit-vectors, arrays and uninterpreted functions,
//! and their satisfiability, decided by bit-blasting onto the SAT solver CaDiCaL.
//!
//! - [`term`]: the pool [`Terms`] of hash-consed terms, with a simplifying builder method for
//!   each SMT-LIB operator;
//! - [`eval`]: the value of a term under a model, the meaning everything else is tested against;
//! - [`solver`]: the trait of all back ends, [`bv_solver`] the embedded one;
//! - [`plain`]: the solver that is made to be believed: textbook circuits, checked proofs;
//! - [`services`]: enumeration of models, bounds, implications and minimal cores;
//! - [`float`]: IEEE 754 arithmetic as bit-vector terms;
//! - [`smtlib`]: SMT-LIB 2 scripts in and out; [`process`]: other solvers as child processes.

pub mod bitvec;
mod blast;
mod build;
pub mod bv_solver;
pub mod eval;
pub mod float;
mod intern;
pub mod plain;
pub mod process;
pub mod services;
pub mod smtlib;
pub mod solver;
mod sparse;
mod subst;
pub mod term;
#[cfg(test)]
mod testing;
pub mod value;

pub use bitvec::BitVec;
pub use bv_solver::BvSolver;
pub use eval::Evaluator;
pub use plain::PlainSolver;
pub use process::ProcessSolver;
pub use solver::{Answer, Limits, Solver, Unknown};
pub use term::{Func, FuncDecl, Op, Sort, Term, Terms};
pub use value::{ArrayValue, FuncValue, Model, Value};
