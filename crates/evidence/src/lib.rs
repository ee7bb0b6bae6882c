//! What engines hand over and what checkers check: certificates and counterexamples.
//!
//! These are plain data about a task's program, so that neither side needs the other.

mod invariants;

pub use invariants::{Added, History, Invariants};

use palisade_cfa::{EdgeId, IntTy, LocId, VarId};
use palisade_task::Task;
use palisade_task::contracts::Contract;

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
    /// No error is reached within `k` passes through loop heads from the start, nor in the pass after
    /// `k` passes without an error from any state that satisfies the invariants.
    KInduction {
        /// Number of passes.
        k: u32,
        /// Facts that hold at loop heads and help.
        invariants: Invariants,
    },
    /// Invariants of the loop heads that exclude the errors.
    Invariants(Invariants),
    /// All states that loop heads can be reached in.
    Cover(Cover),
    /// The program depends on nothing, and its only run ends without an error.
    OnlyRun,
    /// Contracts of functions, and why they hold.
    Contracts(Contracts),
}

/// Contracts of functions, and why the programs with these contracts in place of the calls are right.
#[derive(Clone, Debug)]
pub struct Contracts {
    /// The contracts.
    pub contracts: Vec<Contract>,
    /// Whether they are about the program [without its memory](mod@palisade_task::forget).
    pub forgetful: bool,
    /// The tasks of the programs that [`palisade_task::contracts::Weaving`] makes of them, each with a proof: that of
    /// the entry, and those of all contracts in their order.
    pub proofs: Vec<(Task, Certificate)>,
}

/// Partial states at loop heads that together cover every reachable one: the listed registers have
/// values within the listed bounds, all else is arbitrary.
#[derive(Clone, Debug, Default)]
pub struct Cover {
    /// Loop head, and registers with bounds of their values, ascending.
    pub states: Vec<(LocId, Vec<(VarId, Bounds)>)>,
}

/// The values of an integer register from one to another in the order of its type, as value bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bounds {
    /// The first.
    pub first: u128,
    /// The last.
    pub last: u128,
}

impl Bounds {
    /// One value.
    pub fn only(bits: u128) -> Bounds {
        Bounds { first: bits, last: bits }
    }

    /// The value, if there is one only.
    pub fn as_only(self) -> Option<u128> {
        (self.first == self.last).then_some(self.first)
    }

    /// Whether a value of the type is within the bounds.
    pub fn contain(self, ty: IntTy, bits: u128) -> bool {
        // Moved up by half of the range, signed numbers are in the order of their bits.
        let order = |bits: u128| ty.truncate(if ty.signed { bits.wrapping_add(ty.min_bits()) } else { bits });
        (order(self.first)..=order(self.last)).contains(&order(bits))
    }
}

/// How to reach an error: the values of everything the program does not determine, in the order
/// in which a run asks for them.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The values.
    pub unknowns: Vec<Chosen>,
    /// What new objects hold: the edge of the *original* program that makes the object, and its
    /// first bytes; the rest does not matter.
    pub contents: Vec<(EdgeId, Vec<u8>)>,
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
    /// How often in succession it asks for it.
    pub times: u64,
}
