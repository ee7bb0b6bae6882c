//! Checks that unrolling a program to given bounds leaves nothing out and meets no error.
//!
//! The program is executed symbolically along its weak topological order: a loop is passed again
//! and again until no state comes back to its head, or until the bound is used up; what comes back
//! then must be impossible, and so must every error.

use crate::Rejection;
use crate::court::Court;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_encode::{Encoder, State};
use palisade_logic::{Answer, Solver, Sort, Term, Terms};
use palisade_task::Task;
use rustc_hash::FxHashMap;

struct Unroller<'t> {
    task: &'t Task,
    wto: &'t palisade_cfa::wto::Wto,
    terms: Terms,
    encoder: Encoder<'t>,
    bounds: FxHashMap<LocId, u32>,
    /// States that arrived at a location and were not yet executed from there.
    pending: FxHashMap<LocId, State>,
    /// Conditions that must have no model.
    impossible: Vec<Term>,
    budget: &'t Budget,
}

/// Checks the bounds.
pub fn check(task: &Task, bounds: &[(LocId, u32)], court: &Court) -> Result<(), Rejection> {
    let graph = task.program.analyse();
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let start = encoder.initial_state(&mut terms);
    let mut unroller = Unroller {
        task,
        wto: &graph.wto[task.program.entry],
        terms,
        encoder,
        bounds: bounds.iter().copied().collect(),
        pending: FxHashMap::default(),
        impossible: Vec::new(),
        budget: court.budget(),
    };
    unroller.pending.insert(task.body().entry, start);
    unroller.range(0, unroller.wto.order.len())?;
    if !unroller.pending.is_empty() {
        return Err(Rejection::Wrong("a state was left behind".into()));
    }
    let Unroller { mut terms, impossible, .. } = unroller;
    let any = terms.or_all(impossible);
    if terms.bool_value(any) == Some(false) {
        return Ok(());
    }
    match court.solver().ask(&mut terms, any, &[]).0 {
        Answer::Unsat => Ok(()),
        Answer::Sat => Err(Rejection::Wrong("an error or a further pass through a loop is possible".into())),
        Answer::Unknown(why) => Err(Rejection::GaveUp(why.to_string())),
    }
}

impl Unroller<'_> {
    /// Executes the part of the order between two positions.
    fn range(&mut self, from: usize, to: usize) -> Result<(), Rejection> {
        let mut at = from;
        while at < to {
            let loc = self.wto.order[at];
            match self.wto.component_end(at) {
                None => {
                    self.vertex(loc)?;
                    at += 1;
                }
                Some(end) => {
                    let bound = self.bounds.get(&loc).copied().unwrap_or(0);
                    let mut passes = 0;
                    // A jump into the loop leaves a state inside it rather than at its head.
                    while self.wto.order[at..end].iter().any(|l| self.pending.contains_key(l)) {
                        if passes > bound {
                            for l in &self.wto.order[at..end] {
                                if let Some(state) = self.pending.remove(l) {
                                    self.impossible.push(state.guard(&mut self.terms));
                                }
                            }
                            break;
                        }
                        self.vertex(loc)?;
                        self.range(at + 1, end)?;
                        passes += 1;
                    }
                    at = end;
                }
            }
        }
        Ok(())
    }

    fn vertex(&mut self, loc: LocId) -> Result<(), Rejection> {
        self.budget.check().map_err(|stop| Rejection::GaveUp(stop.to_string()))?;
        let Some(state) = self.pending.remove(&loc) else { return Ok(()) };
        if self.task.is_end(loc) {
            let guard = state.guard(&mut self.terms);
            self.impossible.push(guard);
            return Ok(());
        }
        let out = &self.task.program.locs[loc].out;
        let steps: Vec<(LocId, State)> = out
            .iter()
            .filter_map(|&edge| {
                let next = self.encoder.step(&mut self.terms, &state, edge)?;
                Some((self.task.program.edges[edge].dst, next))
            })
            .collect();
        let free = steps.len() > 1 && !self.complementary(&state, &steps);
        let mut before = Vec::new();
        for (dst, mut next) in steps {
            if free {
                // Branches that may both be possible are told apart by a free choice.
                let choice = self.terms.fresh_var("branch", Sort::Bool);
                let at = state.path.len();
                next.path.splice(at..at, before.iter().copied().chain([choice]));
                before.push(self.terms.not(choice));
            }
            let merged = match self.pending.remove(&dst) {
                Some(known) => State::merge(&mut self.terms, &known, &next),
                None => next,
            };
            self.pending.insert(dst, merged);
        }
        Ok(())
    }

    fn complementary(&mut self, state: &State, steps: &[(LocId, State)]) -> bool {
        let added = |s: &State| s.path.get(state.path.len()).copied();
        match steps {
            [(_, a), (_, b)] => match (added(a), added(b)) {
                (Some(x), Some(y)) => self.terms.not(x) == y,
                _ => false,
            },
            _ => false,
        }
    }
}
