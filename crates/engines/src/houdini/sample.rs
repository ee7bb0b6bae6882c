//! Candidates that a run of the program contradicts are no invariants: a few random runs spare the
//! solver most of its models.

use super::refine::Candidate;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_interp::{Config, Discard, Interp, Random, State};
use palisade_task::Task;
use rustc_hash::FxHashMap;

/// Runs of the program.
const RUNS: u64 = 30;
/// Steps of a run, as long as there are some left of all that runs may take together.
const STEPS: u64 = 1_000_000;
/// Steps that all runs may take together, and what a run may take when these are used up.
const STEPS_TOGETHER: u64 = 3_000_000;
const STEPS_AFTERWARDS: u64 = 20_000;
/// Bytes that a run may allocate: filling large objects with random bytes takes long.
const MEMORY: u64 = 1 << 23;
/// Visits of a loop head in one run, and times when a loop ends, at which candidates are looked at; later, every
/// time their number has doubled.
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
    let graph = task.program.analyse();
    let numbers: FxHashMap<LocId, usize> = heads.iter().enumerate().map(|(i, head)| (*head, i)).collect();
    let config =
        Config { step_limit: STEPS, memory_limit: MEMORY, budget: Some(budget.clone()), trace_cap: None };
    let mut interp = Interp::new(&program, config);
    let mut left = STEPS_TOGETHER;
    for seed in 0..RUNS {
        if budget.stopped().is_some() {
            return;
        }
        let limit = left.max(STEPS_AFTERWARDS);
        let mut steps = 0;
        // Passes and ends of each loop.
        let mut visits = vec![[0u64; 2]; heads.len()];
        let mut look = |edge: EdgeId, state: &State<'_>| {
            steps += 1;
            let Edge { src, dst, .. } = program.edges[edge];
            let Some(&head) = numbers.get(&src) else { return steps < limit };
            let ends = !graph.in_loop(&task.program, dst, src);
            let visits = &mut visits[head][usize::from(ends)];
            *visits += 1;
            if *visits <= VISITS || visits.is_power_of_two() {
                for (candidate, alive) in candidates.iter().zip(&mut alive[head]).filter(|(_, alive)| **alive)
                {
                    *alive = !state.eval(candidate.expr).is_ok_and(|value| value.bits == 0);
                }
            }
            steps < limit
        };
        interp.run_observed(&mut Random::with_unknowns(seed), &mut Discard, &mut look);
        left = left.saturating_sub(steps);
    }
}
