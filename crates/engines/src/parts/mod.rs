//! Ranges of all integer registers, kept apart by what the program asks: the engine `parts`.
//!
//! The constants that a register is compared with and that it is given cut its values into parts: a program that is
//! a state machine does the same in all states whose values are in the same parts. So states at a loop head that are
//! alike in this sense are few, even where numbers inside of parts are many.
//!
//! Two explorations take turns. One joins states that are alike: if it reaches no error, its states cover all that
//! is reachable. If it does, values are cut where those that lead to the error begin or end, and it starts again. The
//! other one leaves states out if there are some that are alike, more of them each time: an error that it
//! reaches is made a counterexample by solving its path.

mod explore;
pub(crate) mod range;
pub(crate) mod steps;

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

/// How many states that are alike are kept before others are left out, round by round.
const KEEP: [usize; 6] = [1, 4, 16, 64, 512, 4096];
/// How often values are cut in the first round; each further one has twice as many.
const REFINEMENTS: usize = 8;
/// How often a state grows in the first round until it takes in the whole of its parts; four times as often in each
/// further one.
const GROWTH: u32 = 12;
/// After so many paths to errors that no run takes, ranges are too little.
const MAX_SPURIOUS: usize = 16;

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
    let mut steps = Steps::new(&task.program);
    for (round, keep) in KEEP.into_iter().enumerate() {
        for refinement in 0..REFINEMENTS << round {
            progress(format_args!("round {round}, refinement {refinement}"));
            let growth = GROWTH << (2 * round);
            let mut run = Exploration::new(task, &steps, &graph, &live, budget, Policy::Join { growth });
            let cuts = match run.run().map_err(|stop| stop.to_string())? {
                Found::Complete => return Ok(Outcome::Proof(Certificate::Cover(cover(&run)))),
                Found::Reached(error) => run.blame(&error).map_err(|stop| stop.to_string())?,
                Found::TooMany => Vec::new(),
            };
            if cuts.is_empty() {
                break;
            }
            cuts.into_iter().for_each(|(register, value)| steps.refine(register, value));
        }
        progress(format_args!("round {round}, {keep} of each kind"));
        let mut run = Exploration::new(task, &steps, &graph, &live, budget, Policy::Drop { keep });
        let mut spurious = 0;
        while let Found::Reached(error) = run.run().map_err(|stop| stop.to_string())? {
            let path = run.path(&error).map_err(|stop| stop.to_string())?;
            if let Some(path) = path.filter(|_| task.error_at(error.at).is_some())
                && let Some(found) = solve_path(task, &path, budget)?
            {
                return Ok(Outcome::Bug(found));
            }
            spurious += 1;
            if spurious > MAX_SPURIOUS {
                return Err(format!("{spurious} errors that ranges do not exclude"));
            }
        }
        if !run.dropped {
            return Err(format!("{spurious} errors that ranges do not exclude"));
        }
    }
    Err("too many states".into())
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
