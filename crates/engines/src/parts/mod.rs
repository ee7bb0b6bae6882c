//! Ranges of all integer registers, kept apart by what the program asks: the engine `parts`.
//!
//! The constants that a register is compared with and that it is given cut its values into parts: a program that is
//! a state machine does the same in all states whose values are in the same parts. So states at a loop head that are
//! alike in this sense are few, even where numbers inside of parts are many.
//!
//! Two explorations take turns, with more and more states that are alike kept apart. One joins the others to them:
//! if it reaches no error, its states cover all that is reachable. The other one leaves them out: an error that
//! it reaches is made a counterexample by solving its path.

mod explore;
mod range;
mod steps;

use crate::board::Board;
use crate::path::solve_path;
use crate::{Certificate, Engine, Outcome, Progress};
use explore::{Exploration, Found, Policy};
use palisade_analyses::live::Liveness;
use palisade_base::Budget;
use palisade_evidence::{Bounds, Cover};
use palisade_task::Task;
use steps::Steps;

/// The engine `parts`.
pub struct Parts;

/// How many states that are alike are kept apart, round by round.
const KEEP: [usize; 6] = [1, 4, 16, 64, 512, 4096];

impl Engine for Parts {
    fn name(&self) -> &str {
        "parts"
    }

    fn run(&self, task: &Task, _: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        match rounds(task, budget, progress) {
            Ok(outcome) => outcome,
            Err(why) => Outcome::Unknown(why),
        }
    }
}

fn rounds(task: &Task, budget: &Budget, progress: &Progress<'_>) -> Result<Outcome, String> {
    let live = Liveness::of(&task.program, budget).map_err(|halt| halt.to_string())?;
    let graph = task.program.analyse();
    let steps = Steps::new(&task.program);
    for keep in KEEP {
        for policy in [Policy::Join, Policy::Drop] {
            progress(format_args!("{keep} states of each kind, {policy:?}"));
            let mut run = Exploration::new(task, &steps, &graph, &live, budget, policy, keep);
            let mut spurious = 0;
            loop {
                match run.run().map_err(|stop| stop.to_string())? {
                    Found::Complete if spurious > 0 && !run.dropped => {
                        return Err(format!("{spurious} errors that ranges do not exclude"));
                    }
                    Found::Complete if spurious == 0 && !run.dropped => {
                        return Ok(Outcome::Proof(Certificate::Cover(cover(&run))));
                    }
                    Found::Reached(loc, Some(path)) if task.error_at(loc).is_some() => {
                        match solve_path(task, &path, budget)? {
                            Some(found) => return Ok(Outcome::Bug(found)),
                            None => spurious += 1,
                        }
                    }
                    Found::Complete | Found::Reached(..) | Found::TooMany => break,
                }
            }
        }
    }
    Err("errors that ranges do not exclude".into())
}

/// All states of an exploration that is complete.
fn cover(run: &Exploration<'_>) -> Cover {
    let mut cover = Cover::default();
    for (loc, known) in run.states() {
        let bounds = known.iter().map(|&(var, ty, range)| {
            let bits = |value: i128| ty.truncate(value as u128);
            (var, Bounds { first: bits(range.lo), last: bits(range.hi) })
        });
        cover.states.push((loc, bounds.collect()));
    }
    cover.states.sort_by_key(|(loc, _)| *loc);
    cover
}
