//! Replays a counterexample on the reference interpreter.

use palisade_base::Budget;
use palisade_cfa::{CheckKind, Program};
use palisade_evidence::Counterexample;
use palisade_interp::{Config, Discard, Forced, Interp, Outcome, Run, Trap};
use std::fmt;

/// A run that goes wrong.
#[derive(Clone, Debug)]
pub struct Replay {
    /// In which way.
    pub kind: CheckKind,
    /// The run, with its trace.
    pub run: Run,
    /// The values that led there.
    pub bug: Counterexample,
}

/// A run that was to go wrong and ends otherwise.
#[derive(Clone, Debug)]
pub struct Otherwise {
    /// The run.
    pub run: Run,
    /// The values that led there.
    pub bug: Counterexample,
}

impl Otherwise {
    /// What it does that is undefined, if that is how it ends.
    pub fn undefined(&self) -> Option<Trap> {
        match self.run.outcome {
            Outcome::Trap(trap) => Some(trap),
            _ => None,
        }
    }
}

impl fmt::Display for Otherwise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the replay ended otherwise: {}", self.run.outcome)
    }
}

/// Executed edges that are kept for showing the run.
const TRACE_CAP: usize = 200_000;

/// Runs an instrumented program with the values of a counterexample, for so many steps at most. Every check that is
/// left in such a program violates the property, so the run must end in one.
pub fn replay(
    program: &Program,
    bug: &Counterexample,
    steps: u64,
    budget: &Budget,
) -> Result<Replay, Box<Otherwise>> {
    let config = Config {
        step_limit: steps,
        trace_cap: Some(TRACE_CAP),
        budget: Some(budget.clone()),
        memory_limit: 1 << 30,
        ..Config::default()
    };
    let run = Interp::new(program, config).run(&mut forced(bug), &mut Discard);
    match run.outcome {
        Outcome::Violation(kind) => Ok(Replay { kind, run, bug: bug.clone() }),
        _ => Err(Box::new(Otherwise { run, bug: bug.clone() })),
    }
}

/// The values of a counterexample as the inputs of a run.
pub fn forced(bug: &Counterexample) -> Forced {
    let mut values = Forced::new();
    for chosen in &bug.unknowns {
        values.push(chosen.edge, chosen.bits, chosen.times);
    }
    for (edge, bytes) in &bug.contents {
        values.push_bytes(*edge, bytes.clone());
    }
    values
}
