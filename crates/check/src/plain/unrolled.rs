//! Bounded programs: everything that a run can do is followed to its end.
//!
//! States wait at cut points and are executed from there, innermost loops first, so that what leaves
//! a loop comes together behind it. When a bound is used up, what still waits must be impossible; so
//! must every error.

use super::Rejection;
use super::carry::Carried;
use super::proof::Prover;
use super::state::State;
use crate::court::Court;
use palisade_cfa::*;
use palisade_logic::{Answer, Solver, Term};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Checks bounds of loops.
pub fn check(carried: &Carried, bounds: &[(LocId, u32)], court: &Court) -> Result<(), Rejection> {
    let largest = bounds.iter().map(|b| b.1).max().unwrap_or(0);
    let bounds: FxHashMap<LocId, u32> =
        bounds.iter().filter_map(|&(loc, n)| Some((carried.loc(loc)?, n))).collect();
    run(carried, &|loc| bounds.get(&loc).copied().unwrap_or(largest).saturating_add(1), false, court)
}

/// Checks that a program without inputs, followed to its end, meets no error.
pub fn check_only_run(carried: &Carried, court: &Court) -> Result<(), Rejection> {
    run(carried, &|_| u32::MAX, true, court)
}

fn run(
    carried: &Carried,
    bound: &dyn Fn(LocId) -> u32,
    only_run: bool,
    court: &Court,
) -> Result<(), Rejection> {
    let mut prover = Prover::new(carried, &[], court);
    let graph = carried.task.program.analyse();
    let initial = prover.encoder.initial(&mut prover.terms)?;
    let mut waiting: BTreeMap<LocId, State> = BTreeMap::from([(carried.task.body().entry, initial)]);
    let mut passes: FxHashMap<LocId, u32> = FxHashMap::default();
    let mut impossible: Vec<Term> = Vec::new();
    // Deepest first; among equals, what comes first in the program.
    let rank = |loc: LocId| (std::cmp::Reverse(graph.depth(loc)), graph.position(loc).unwrap_or(usize::MAX));
    while let Some(loc) = waiting.keys().copied().min_by_key(|l| rank(*l)) {
        let Some(state) = waiting.remove(&loc) else { continue };
        let passed = passes.entry(loc).or_default();
        *passed = passed.saturating_add(1);
        if *passed > bound(loc) {
            impossible.push(state.guard(&mut prover.terms));
            continue;
        }
        passes.retain(|inner, _| *inner == loc || !graph.in_loop(&carried.task.program, *inner, loc));
        for (end, next) in prover.segment(loc, state)? {
            if carried.task.is_end(end) {
                impossible.push(next.guard(&mut prover.terms));
                continue;
            }
            let merged = match waiting.remove(&end) {
                Some(known) => State::merge(&mut prover.terms, &known, &next),
                None => next,
            };
            waiting.insert(end, merged);
        }
        // A run that constants do not decide would be followed for ever.
        if only_run && waiting.len() > 1 {
            return Err(Rejection::GaveUp("a branch is not decided".into()));
        }
    }
    let any = prover.terms.or_all(impossible);
    if prover.terms.bool_value(any) == Some(false) {
        return Ok(());
    }
    match prover.solver().check(&mut prover.terms, &[any]) {
        Answer::Unsat => Ok(()),
        Answer::Sat => Err(Rejection::Wrong("an error or a further pass through a loop is possible".into())),
        Answer::Unknown(why) => Err(Rejection::GaveUp(why.to_string())),
    }
}
