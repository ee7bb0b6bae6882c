//! Candidates that a run of the program contradicts are no invariants: a few random runs spare the
//! solver most of its models.

use super::refine::Candidate;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_interp::{Config, Discard, Interp, Random, State};
use palisade_task::Task;

/// Runs of the program.
const RUNS: u64 = 30;
/// Steps of a run.
const STEPS: u64 = 20_000;
/// Bytes that a run may allocate: filling large objects with random bytes takes long.
const MEMORY: u64 = 1 << 16;
/// Visits of a loop head in one run at which candidates are looked at; later, every time their
/// number has doubled.
const VISITS: u64 = 4;

/// Drops what a run contradicts: `alive` tells for each of the loop heads which candidates are
/// believed.
///
/// Ghosts take a random value in each run. A candidate that has no value, because it reads where
/// nothing is, stays.
pub fn contradict(
    task: &Task,
    candidates: &[Candidate],
    ghosts: &[VarId],
    heads: &[LocId],
    alive: &mut [Vec<bool>],
    budget: &Budget,
) {
    let mut program = task.program.clone();
    for &ghost in ghosts {
        // An unknown that is chosen once, before the run.
        program.vars[ghost].kind = VarKind::Global;
    }
    let config =
        Config { step_limit: STEPS, memory_limit: MEMORY, budget: Some(budget.clone()), trace_cap: None };
    let mut interp = Interp::new(&program, config);
    for seed in 0..RUNS {
        if budget.stopped().is_some() {
            return;
        }
        let mut visits = vec![0u64; heads.len()];
        let mut look = |edge: EdgeId, state: &State<'_>| {
            let at = program.edges[edge].src;
            let Some(head) = heads.iter().position(|h| *h == at) else { return true };
            visits[head] += 1;
            if visits[head] > VISITS && !visits[head].is_power_of_two() {
                return true;
            }
            for (candidate, alive) in candidates.iter().zip(&mut alive[head]).filter(|(_, alive)| **alive) {
                *alive = !state.eval(candidate.expr).is_ok_and(|value| value.bits == 0);
            }
            true
        };
        interp.run_observed(&mut Random::with_unknowns(seed), &mut Discard, &mut look);
    }
}
