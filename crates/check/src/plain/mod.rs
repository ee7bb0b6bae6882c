//! The plain twin: a second encoder, and proofs checked with it on the program as it was written.
//!
//! It shares with the engines neither the encoding nor the reductions: memory is bytes, one array for
//! each variable and one for all allocated objects; a pointer is an object and an offset; nothing is
//! known about what a pointer points to but what the path says; and the program is the one that the
//! front end made, with its calls inlined. What evidence says about the reduced task is carried back
//! ([`carry`]) and counts as a guess: of the guesses the largest inductive part is kept
//! ([`proof`]).
//!
//! * [`state`]: what a state consists of;
//! * [`encoder`], [`expr`], [`memory`]: what operations do;
//! * [`graph`]: where loops are cut;
//! * [`proof`], [`unrolled`], [`covered`]: the kinds of certificates.

pub mod carry;
mod covered;
pub mod encoder;
mod expr;
mod graph;
mod memory;
mod proof;
pub mod state;
mod unrolled;

pub(crate) use crate::Rejection;
use crate::court::Court;
use carry::Carried;
use palisade_evidence::Certificate;
use palisade_task::Task;

/// Checks that a certificate about a reduced task shows that the whole task is right.
pub fn check(task: &Task, certificate: &Certificate, court: &Court) -> Result<(), Rejection> {
    match certificate {
        Certificate::Unrolling { bounds } => {
            let carried = Carried::new(task, None)?;
            unrolled::check(task, &carried, bounds, court)
        }
        Certificate::OnlyRun => unrolled::check_only_run(&task.source, court),
        Certificate::Invariants(invariants) => {
            let carried = Carried::new(task, Some(invariants))?;
            proof::check(task, &carried, invariants, None, court)
        }
        Certificate::KInduction { k, invariants } => {
            let carried = Carried::new(task, Some(invariants))?;
            proof::check(task, &carried, invariants, Some(*k), court)
        }
        Certificate::Cover(cover) => {
            let carried = Carried::new(task, None)?;
            covered::check(task, &carried, cover, court)
        }
        Certificate::Contracts(found) => {
            crate::contracts(task, found, |woven, proof| check(woven, proof, court))
        }
    }
}
