//! The second opinion: every certificate and every counterexample is checked here before a verdict
//! is given.
//!
//! A certificate has to pass [`certificate`], with the encoder that engines use too, on the reduced
//! task. [`second_opinion`] then repeats the check with nothing of that: the plain twin ([`plain`]) has
//! an encoder of its own, looks at the program as it was written, and asks a solver whose answers carry
//! proofs. Where that is too much for the twin, the answers of the first check are confirmed by proofs,
//! and the result says so. None of the code that finds proofs or bugs is used.
//!
//! * [`replay`]: runs a counterexample on the interpreter;
//! * [`sampled`]: looks at what a certificate says in a few runs;
//! * [`invariants`]: initial, inductive and sufficient, by plain solver queries;
//! * [`cover`]: a finite set of states that nothing leaves;
//! * [`only_run`]: executes a program that has one run only;
//! * [`unrolling`]: unrolls once more and finds nothing left out;
//! * [`court`]: the solvers that decide, and the proofs that their answers rest on.
//!
//! For contracts of recursive functions the program is woven again ([`contracts`]) and the
//! certificate about the woven one is checked.

mod cone;
pub mod court;
pub mod cover;
pub mod invariants;
pub mod only_run;
pub mod plain;
pub mod replay;
pub mod sampled;
mod states;
pub mod unrolling;

use court::{Court, Tally};
use palisade_base::Budget;
use palisade_evidence::{Certificate, Contracts};
use palisade_logic::process::Program as OtherSolver;
use palisade_task::Task;
use palisade_task::contracts::Weaving;

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

/// What a certificate was checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The plain encoder, on the program as it was written.
    Plain,
    /// The encoder that engines use as well, on the reduced task.
    Reduced,
}

impl std::fmt::Display for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Checked::Plain => "plain",
            Checked::Reduced => "reduced",
        })
    }
}

/// Checks with the fast encoder, on the reduced task, that a certificate shows that no error location
/// and no cut can be reached. What it says is looked at in a few runs before.
pub fn certificate(task: &Task, certificate: &Certificate, court: &Court) -> Result<(), Rejection> {
    sampled::check(task, certificate, court.budget())?;
    reduced(task, certificate, court)
}

/// The same without looking at runs.
pub fn reduced(task: &Task, certificate: &Certificate, court: &Court) -> Result<(), Rejection> {
    match certificate {
        Certificate::Unrolling { bounds } => unrolling::check(task, bounds, court),
        Certificate::Invariants(invariants) => invariants::check(task, invariants, court),
        Certificate::Cover(cover) => cover::check(task, cover, court),
        Certificate::OnlyRun => only_run::check(task, court.budget()),
        Certificate::Contracts(found) => contracts(task, found, |woven, proof| reduced(woven, proof, court)),
        Certificate::KInduction { k, invariants } => {
            invariants::induction::check(task, *k, invariants, court)
        }
    }
}

/// Checks the proofs of contracts: each is about the program that the contracts make of the source.
fn contracts(
    task: &Task,
    found: &Contracts,
    check: impl Fn(&Task, &Certificate) -> Result<(), Rejection>,
) -> Result<(), Rejection> {
    let wrong = |why: &str| Err(Rejection::Wrong(why.into()));
    let Contracts { contracts, forgetful, proofs } = found;
    let weaving = Weaving::new(&task.source, contracts, *forgetful).map_err(Rejection::Wrong)?;
    if proofs.len() != contracts.len() + 1 {
        return wrong("contracts without a proof");
    }
    for (i, (woven, proof)) in proofs.iter().enumerate() {
        if *woven.source != weaving.program_of(i.checked_sub(1)).program {
            return wrong("the proof is about another program");
        }
        if matches!(proof, Certificate::Contracts(_)) {
            return wrong("contracts within contracts");
        }
        check(woven, proof)?;
    }
    Ok(())
}

/// What a second opinion says of a certificate that passed its check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// Who confirms it.
    pub checked: Checked,
    /// What the answers `unsat` rest on.
    pub tally: Tally,
}

/// Confirms a certificate that passed [`certificate`]: by the plain twin, or where that is too much for
/// it, by proofs of the answers that the first check rests on. Another solver that is named has to agree
/// with these. If the budget ends before, the first check stands alone. An error means that two solvers
/// contradict each other.
pub fn second_opinion(
    task: &Task,
    certificate: &Certificate,
    other: Option<&OtherSolver>,
    budget: &Budget,
) -> Result<Opinion, String> {
    let court = Court::plain(budget);
    let twin = plain::check(task, certificate, &court);
    let plain = Opinion { checked: Checked::Plain, tally: court.tally() };
    match &twin {
        Ok(()) if other.is_none() => return Ok(plain),
        Ok(()) => {}
        Err(why) => tracing::info!("the plain twin: {why}"),
    }
    let court = Court::confirming(budget).with_other(other.cloned());
    let again = reduced(task, certificate, &court);
    if let Some(dispute) = court.dispute() {
        return Err(dispute);
    }
    if let Err(why) = again {
        tracing::info!("the answers of the check are not all confirmed: {why}");
    }
    let checked = if twin.is_ok() { Checked::Plain } else { Checked::Reduced };
    Ok(Opinion { checked, tally: court.tally() })
}
