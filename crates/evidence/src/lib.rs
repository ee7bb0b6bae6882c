//! What engines hand over and what checkers check: certificates and counterexamples.
//!
//! These are plain data about a task's program, so that neither side needs the other.

use palisade_cfa::{EdgeId, ExprId, LocId};

/// What an engine found.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No error location can be reached.
    Proof(Certificate),
    /// An error location can be reached.
    Bug(Counterexample),
    /// Neither was shown; the reason is for the user.
    Unknown(String),
}

/// Why a program is right.
#[derive(Clone, Debug)]
pub enum Certificate {
    /// Every run ends within the given number of passes through each loop: unrolling the program
    /// that far leaves nothing out.
    Unrolling {
        /// How often each loop head is passed at most between two passes through the enclosing
        /// one.
        bounds: Vec<(LocId, u32)>,
    },
    /// The error cannot be reached within `k` passes through loop heads from any state that
    /// satisfies the invariants, if it was not reached in the `k` passes before; and it cannot be
    /// reached in the first `k` passes.
    KInduction {
        /// Number of passes.
        k: u32,
        /// Inductive facts that help, as in [`Certificate::Invariants`].
        invariants: Vec<(LocId, ExprId)>,
    },
    /// Invariants that hold whenever a location is reached, and exclude the errors. Truth-valued
    /// expressions of the task's program.
    Invariants(Vec<(LocId, ExprId)>),
}

/// How to reach an error: the values of everything the program does not determine, in the order
/// in which a run asks for them.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The error location.
    pub error: LocId,
    /// The values.
    pub unknowns: Vec<Chosen>,
}

/// A value the program does not determine, as chosen by a counterexample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// The edge of the *original* program that asks for it.
    pub edge: EdgeId,
    /// Its bits.
    pub bits: u128,
    /// Whether it is an input of the program rather than an unknown of the model.
    pub input: bool,
}
