//! The second opinion: every certificate and every counterexample is checked here before a verdict
//! is given.
//!
//! This crate uses the reference interpreter, the encoding of edges and the solver, and none of
//! the code that finds proofs or bugs.
//!
//! * [`replay`]: runs a counterexample on the interpreter;
//! * [`invariants`]: initial, inductive and sufficient, by plain solver queries;
//! * [`cover`]: a finite set of states that nothing leaves;
//! * [`only_run`]: executes a program that has one run only;
//! * [`unrolling`]: unrolls once more and finds nothing left out.
//!
//! For contracts of recursive functions the program is woven again ([`contracts`]) and the
//! certificate about the woven one is checked.

pub mod cover;
pub mod invariants;
pub mod only_run;
pub mod replay;
pub mod unrolling;

use palisade_base::Budget;
use palisade_evidence::Certificate;
use palisade_task::{Task, contracts};

/// Why a certificate was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It does not show what it claims; the text says where it fails.
    Wrong(String),
    /// Checking it took too much.
    GaveUp(String),
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rejection::Wrong(why) => write!(f, "the certificate does not hold: {why}"),
            Rejection::GaveUp(why) => write!(f, "the certificate could not be checked: {why}"),
        }
    }
}

/// Checks that a certificate shows that no error location and no cut can be reached.
pub fn certificate(task: &Task, certificate: &Certificate, budget: &Budget) -> Result<(), Rejection> {
    match certificate {
        Certificate::Unrolling { bounds } => unrolling::check(task, bounds, budget),
        Certificate::Invariants(invariants) => invariants::check(task, invariants, budget),
        Certificate::Cover(cover) => cover::check(task, cover, budget),
        Certificate::OnlyRun => only_run::check(task, budget),
        Certificate::Contracts { contracts, woven, proof } => {
            let again = contracts::weave(&task.source, contracts).map_err(Rejection::Wrong)?;
            if *woven.source != again.program {
                return Err(Rejection::Wrong("the proof is about another program".into()));
            }
            self::certificate(woven, proof, budget)
        }
        Certificate::KInduction { k, invariants } => {
            invariants::check_k_induction(task, *k, invariants, budget)
        }
    }
}
