//! Bounded programs: everything that a run can do is followed to its end.
//!
//! States wait at cut points and are executed from there, innermost loops first, so that what leaves
//! a loop comes together behind it. When a bound is used up, what still waits must be impossible; so
//! must every error.
//!
//! A loop has no bound if reductions found that it does not matter. What is known at its head in every
//! run is then where another search starts, which leads through the loop once.

use super::Rejection;
use super::carry::{Carried, MAX_EDGES};
use super::proof::{Prover, alone_at_first};
use super::state::State;
use crate::court::Court;
use palisade_cfa::*;
use palisade_logic::{Answer, Solver, Term};
use palisade_task::Task;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Checks bounds of loops.
pub fn check(
    reduced: &Task,
    carried: &Carried,
    bounds: &[(LocId, u32)],
    court: &Court,
) -> Result<(), Rejection> {
    let bounds: BTreeMap<LocId, u32> =
        bounds.iter().filter_map(|&(loc, n)| Some((carried.loc(loc)?, n.saturating_add(1)))).collect();
    alone_at_first(&carried.task, |alone| check_bounds(reduced, carried, bounds.clone(), alone, court))
}

fn check_bounds(
    reduced: &Task,
    carried: &Carried,
    bounds: BTreeMap<LocId, u32>,
    alone: bool,
    court: &Court,
) -> Result<bool, Rejection> {
    let (mut prover, mut facts) =
        Prover::new(&carried.task, bounds.keys().copied(), &carried.known(reduced), &[], false, court);
    prover.encoder.alone = alone;
    let mut search = Search::new(prover, bounds);
    let initial = search.prover.encoder.initial(&mut search.prover.terms)?;
    search.follow(carried.task.body().entry, initial)?;
    if !search.unbounded.is_empty() {
        search.prover.weed(&mut facts)?;
        let mut done = BTreeSet::new();
        while let Some(head) = search.unbounded.difference(&done).next().copied() {
            done.insert(head);
            let mut state = search.prover.arbitrary(head, &facts);
            if search.prover.with_facts(head, &mut state, &facts) {
                search.follow(head, state)?;
            }
        }
    }
    let gave_away = search.prover.encoder.gave_away.get();
    search.conclude()?;
    Ok(gave_away)
}

/// Checks that a program without inputs, followed to its end, meets no error. Recursive calls are followed deeper
/// as long as the run leads to one that is not.
pub fn check_only_run(source: &Arc<Program>, court: &Court) -> Result<(), Rejection> {
    let mut recursion = 0;
    loop {
        let task = Task::whole(source, recursion, MAX_EDGES);
        let task = task.map_err(|error| Rejection::GaveUp(error.to_string()))?;
        let (prover, _) = Prover::new(&task, std::iter::empty(), &[], &[], false, court);
        let bounds = prover.cuts.points.iter().map(|&point| (point, u32::MAX)).collect();
        let mut search = Search { only_run: true, ..Search::new(prover, bounds) };
        let initial = search.prover.encoder.initial(&mut search.prover.terms)?;
        search.follow(task.body().entry, initial)?;
        let cut = search.impossible.iter().any(|(loc, _)| task.cuts.contains(loc));
        if !cut || !task.recursion_cut {
            return search.conclude();
        }
        recursion += recursion / 2 + 1;
    }
}

/// A search through a program.
struct Search<'t> {
    prover: Prover<'t>,
    graph: Graph,
    /// How often each loop head is passed at most.
    bounds: BTreeMap<LocId, u32>,
    /// Whether every branch has to be decided.
    only_run: bool,
    /// Loop heads without a bound that were reached.
    unbounded: BTreeSet<LocId>,
    /// What must not be, and where it would be.
    impossible: Vec<(LocId, Term)>,
}

impl<'t> Search<'t> {
    fn new(prover: Prover<'t>, bounds: BTreeMap<LocId, u32>) -> Self {
        let graph = prover.task.program.analyse();
        Search { prover, graph, bounds, only_run: false, unbounded: BTreeSet::new(), impossible: Vec::new() }
    }

    /// Follows everything from a location on, to errors, ends and loops without a bound.
    fn follow(&mut self, start: LocId, state: State) -> Result<(), Rejection> {
        let program = &self.prover.task.program;
        let mut waiting: BTreeMap<LocId, State> = BTreeMap::from([(start, state)]);
        let mut passes: FxHashMap<LocId, u32> = FxHashMap::default();
        // Deepest first; among equals, what comes first in the program.
        let graph = &self.graph;
        let rank =
            |loc: LocId| (std::cmp::Reverse(graph.depth(loc)), graph.position(loc).unwrap_or(usize::MAX));
        while let Some(loc) = waiting.keys().copied().min_by_key(|l| rank(*l)) {
            let Some(state) = waiting.remove(&loc) else { continue };
            let passed = passes.entry(loc).or_default();
            *passed = passed.saturating_add(1);
            if self.bounds.get(&loc).is_some_and(|bound| *passed > *bound) {
                self.impossible.push((loc, state.guard(&mut self.prover.terms)));
                continue;
            }
            passes.retain(|inner, _| *inner == loc || !graph.in_loop(program, *inner, loc));
            for (end, next) in self.prover.segment(loc, state)? {
                if self.prover.task.is_end(end) {
                    self.impossible.push((end, next.guard(&mut self.prover.terms)));
                    continue;
                }
                if !self.bounds.contains_key(&end) {
                    self.unbounded.insert(end);
                    continue;
                }
                let merged = match waiting.remove(&end) {
                    Some(known) => State::merge(&mut self.prover.terms, &known, &next),
                    None => next,
                };
                waiting.insert(end, merged);
            }
            // A run that constants do not decide would be followed for ever.
            if self.only_run && waiting.len() > 1 {
                return Err(Rejection::GaveUp("a branch is not decided".into()));
            }
        }
        Ok(())
    }

    /// Shows that nothing is possible that must not be: one after the other, since what one of them needs is
    /// little beside what all of them are.
    fn conclude(mut self) -> Result<(), Rejection> {
        let mut solver = self.prover.court.solver();
        let t = &mut self.prover.terms;
        for (loc, guard) in self.impossible {
            if t.bool_value(guard) == Some(false) {
                continue;
            }
            match solver.check(t, &[guard]) {
                Answer::Unsat => {}
                Answer::Sat => {
                    let what = format!("an error or a further pass through a loop at {loc} is possible");
                    return Err(Rejection::Wrong(what));
                }
                Answer::Unknown(why) => return Err(Rejection::GaveUp(why.to_string())),
            }
        }
        Ok(())
    }
}
