//! Concrete execution with many inputs: shallow bugs in milliseconds.
//!
//! The reference interpreter runs the program on pseudo-random inputs, from a few steps to many.
//! What it finds needs no solver.

use crate::{Chosen, Counterexample, Engine, Outcome};
use palisade_base::Budget;
use palisade_interp::{Config, Discard, Interp, Outcome as RunOutcome, Random};
use palisade_reduce::Task;
use std::fmt;

/// The engine `concrete`.
pub struct Concrete;

/// Runs and the steps of each, in rounds.
const ROUNDS: [(u64, u64); 4] = [(50, 2_000), (100, 20_000), (100, 200_000), (20, 2_000_000)];

impl Engine for Concrete {
    fn name(&self) -> &'static str {
        "concrete"
    }

    fn run(&self, task: &Task, budget: &Budget, progress: &dyn Fn(fmt::Arguments<'_>)) -> Outcome {
        let mut seed = 0;
        for (runs, step_limit) in ROUNDS {
            progress(format_args!("{runs} runs of {step_limit} steps"));
            let config =
                Config { step_limit, memory_limit: 256 << 20, trace_cap: None, budget: Some(budget.clone()) };
            let mut interp = Interp::new(&task.source, config);
            for _ in 0..runs {
                if let Err(stop) = budget.check() {
                    return Outcome::Unknown(stop.to_string());
                }
                seed += 1;
                let run = interp.run(&mut Random::new(seed), &mut Discard);
                match run.outcome {
                    RunOutcome::Violation(_) => {
                        let chosen =
                            |t: &palisade_interp::Taken| Chosen { edge: t.edge, bits: t.bits, input: true };
                        return Outcome::Bug(Counterexample {
                            unknowns: run.inputs.iter().map(chosen).collect(),
                            contents: Vec::new(),
                        });
                    }
                    RunOutcome::Unsupported(what) => return Outcome::Unknown(what),
                    _ => {}
                }
            }
        }
        Outcome::Unknown("no run went wrong".into())
    }
}
