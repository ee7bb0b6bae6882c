//! k-induction over passes through loop heads: no error is reached within `k` segments from the start,
//! and none in the segment after `k` error-free ones from any state of the invariants.
//!
//! Only those invariants are shown to hold that the solver blames for the absence of errors, and those
//! that are blamed for these, and so on.

use super::{Checker, extended};
use crate::Rejection;
use crate::cone::Cone;
use crate::court::{Court, Juror};
use palisade_cfa::*;
use palisade_encode::State;
use palisade_encode::segment::End;
use palisade_evidence::Invariants;
use palisade_logic::{Answer, Solver, Term};
use palisade_task::Task;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Facts by the location where they hold.
type Facts = BTreeSet<(LocId, ExprId)>;

/// Checks a proof by k-induction that invariants help.
pub fn check(task: &Task, k: u32, invariants: &Invariants, court: &Court) -> Result<(), Rejection> {
    let task = &extended(task, invariants)?;
    let mut checker = Checker::new(task, invariants, false, court);
    let start = checker.encoder.initial_state(&mut checker.terms);
    let mut solver = court.solver();
    let mut layer = vec![(task.body().entry, start)];
    for _ in 0..=k {
        layer = checker.advance(layer, Some((&mut solver, &Known::default(), &mut Facts::new())))?;
    }
    let mut needed = Facts::new();
    for head in checker.points.clone() {
        let state = checker.encoder.arbitrary_state(&mut checker.terms);
        let known = checker.known(head, &state);
        let mut solver = court.solver();
        let mut layer = vec![(head, state)];
        for step in 0..=k {
            // Errors met before the last segment are assumed away: an end at an error goes nowhere.
            let last = (step == k).then_some((&mut solver, &known, &mut needed));
            layer = checker.advance(layer, last)?;
        }
    }
    checker.inductive(needed)
}

/// Facts, with the terms that they are in some state.
#[derive(Default)]
struct Known {
    /// Conjunct by conjunct.
    parts: Vec<((LocId, ExprId), Term)>,
    cone: Cone,
}

/// A solver, the facts that may help it, and where those go that did.
type Question<'q, 'c> = (&'q mut Juror<'c>, &'q Known, &'q mut Facts);

impl<'t> Checker<'t> {
    /// What is said about a state at a location, one by one.
    fn known(&mut self, loc: LocId, state: &State) -> Known {
        let facts = self.invariants.get(&loc).cloned().unwrap_or_default();
        let mut parts = Vec::new();
        for fact in facts {
            let term = self.encoder.cond(&mut self.terms, state, fact);
            parts.extend(self.terms.conjuncts(term).into_iter().map(|part| ((loc, fact), part)));
        }
        let cone = Cone::new(&self.terms, &parts.iter().map(|part| part.1).collect::<Vec<Term>>());
        Known { parts, cone }
    }

    /// Fails unless a state with a further condition is empty, with the help of some facts.
    fn excluded(
        &mut self,
        (solver, known, needed): &mut Question<'_, 't>,
        state: &State,
        condition: Term,
        what: impl Fn() -> String,
    ) -> Result<(), Rejection> {
        let guard = state.guard(&mut self.terms);
        let goal = self.terms.and(guard, condition);
        if self.terms.bool_value(goal) == Some(false) {
            return Ok(());
        }
        let near = known.cone.near(&self.terms, &[goal]);
        let mut answer = solver.ask(&mut self.terms, goal, &near);
        if answer.0 == Answer::Sat && near.len() < known.parts.len() {
            answer = solver.ask(&mut self.terms, goal, known.cone.all());
        }
        match answer {
            (Answer::Unsat, core) => {
                needed.extend(
                    known.parts.iter().filter(|(_, term)| core.contains(term)).map(|(fact, _)| *fact),
                );
                Ok(())
            }
            (Answer::Sat, _) => Err(Rejection::Wrong(what())),
            (Answer::Unknown(why), _) => Err(Rejection::GaveUp(why.to_string())),
        }
    }

    /// One segment from each state. If there is a question, all errors must be impossible.
    fn advance(
        &mut self,
        layer: Vec<(LocId, State)>,
        mut question: Option<Question<'_, 't>>,
    ) -> Result<Vec<(LocId, State)>, Rejection> {
        let mut next: FxHashMap<LocId, State> = FxHashMap::default();
        let mut order = Vec::new();
        for (start, state) in layer {
            for End { loc, state } in self.segment(start, state)? {
                if !self.points.contains(&loc) {
                    if let Some(question) = &mut question {
                        let yes = self.terms.tru();
                        self.excluded(question, &state, yes, || format!("an error from {start} to {loc}"))?;
                    }
                    continue;
                }
                match next.get_mut(&loc) {
                    Some(known) => *known = State::merge(&mut self.terms, known, &state),
                    None => {
                        order.push(loc);
                        next.insert(loc, state);
                    }
                }
            }
        }
        Ok(order.into_iter().filter_map(|loc| Some((loc, next.remove(&loc)?))).collect())
    }

    /// Checks that facts, with others that they need, hold at the start and are preserved.
    fn inductive(&mut self, mut needed: Facts) -> Result<(), Rejection> {
        let entry = self.task.body().entry;
        let start = self.encoder.initial_state(&mut self.terms);
        let ends = match self.points.contains(&entry) {
            true => vec![End { loc: entry, state: start }],
            false => self.segment(entry, start)?,
        };
        let mut sources = vec![(Known::default(), ends, self.court.solver())];
        for head in self.points.clone() {
            let state = self.encoder.arbitrary_state(&mut self.terms);
            let known = self.known(head, &state);
            let ends = self.segment(head, state)?;
            sources.push((known, ends, self.court.solver()));
        }
        let mut todo: Vec<(LocId, ExprId)> = needed.iter().copied().collect();
        while let Some((loc, fact)) = todo.pop() {
            for (known, ends, solver) in &mut sources {
                for end in ends.iter().filter(|end| end.loc == loc) {
                    let holds = self.encoder.cond(&mut self.terms, &end.state, fact);
                    let fails = self.terms.not(holds);
                    let mut more = Facts::new();
                    let mut question = (&mut *solver, &*known, &mut more);
                    self.excluded(&mut question, &end.state, fails, || format!("the invariant at {loc}"))?;
                    todo.extend(more.into_iter().filter(|fact| needed.insert(*fact)));
                }
            }
        }
        Ok(())
    }
}
