//! Checks that a program has one run only, which ends without an error.
//!
//! That is a matter of the program as it was written, so the reductions play no part.

use crate::Rejection;
use palisade_base::Budget;
use palisade_interp::{Config, Outcome, only_run};
use palisade_task::Task;

/// Executes the source of the task.
pub fn check(task: &Task, budget: &Budget) -> Result<(), Rejection> {
    let config = Config { memory_limit: 1 << 30, budget: Some(budget.clone()), ..Config::default() };
    let run = only_run(&task.source, config).map_err(Rejection::Wrong)?;
    match run.outcome {
        Outcome::Exit(_) | Outcome::Abort => Ok(()),
        Outcome::StepLimit | Outcome::MemoryLimit | Outcome::Stopped(_) => {
            Err(Rejection::GaveUp(run.outcome.to_string()))
        }
        other => Err(Rejection::Wrong(format!("the run ends otherwise: {other}"))),
    }
}
