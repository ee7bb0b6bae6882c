//! Checks invariants: they hold at the start, every segment between the locations that have some, and
//! loop heads, preserves them, and they exclude the errors, at once or by k-induction ([`induction`]).

pub mod induction;

use crate::Rejection;
use crate::cone::Cone;
use crate::court::{Court, Juror};
use palisade_base::Stop;
use palisade_cfa::verify::Subject;
use palisade_cfa::*;
use palisade_encode::{Encoder, State, instances, segment};
use palisade_evidence::Invariants;
use palisade_logic::{Answer, Solver, Term, Terms};
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Conflicts that the question may take whether all facts hold at the end of a segment, or one of them, or that in
/// one case.
const CONFLICTS_TOGETHER: u64 = 5000;
const CONFLICTS_ONE: u64 = 1000;
const CONFLICTS_CASE: u64 = 3000;
/// Indices that are told apart in such a question, at most.
const MAX_CASES: usize = 4;

struct Checker<'t> {
    task: &'t Task,
    graph: Graph,
    terms: Terms,
    encoder: Encoder<'t>,
    invariants: FxHashMap<LocId, Vec<ExprId>>,
    /// Where segments end: loop heads, of which every cycle has one, and perhaps more.
    points: BTreeSet<LocId>,
    /// Variables that stand for any value: facts hold for all of theirs.
    ghosts: Vec<VarId>,
    court: &'t Court,
}

fn gave_up(stop: Stop) -> Rejection {
    Rejection::GaveUp(stop.to_string())
}

impl<'t> Checker<'t> {
    /// `task` must be extended by the invariants' pool. Segments end at loop heads, and if `everywhere` says so
    /// wherever there are invariants.
    fn new(task: &'t Task, invariants: &Invariants, everywhere: bool, court: &'t Court) -> Self {
        let mut terms = Terms::new();
        let encoder = Encoder::new(&task.program, &mut terms);
        let graph = task.program.analyse();
        let mut map: FxHashMap<LocId, Vec<ExprId>> = FxHashMap::default();
        let mut points: BTreeSet<LocId> = graph.loop_heads(task.program.entry).collect();
        let is_inside = |loc: &LocId| graph.is_reachable(*loc) && !task.is_end(*loc);
        if everywhere {
            points.extend(invariants.at.iter().map(|(loc, _)| *loc).filter(is_inside));
        }
        // Facts elsewhere would be assumed without ever being shown.
        for &(loc, expr) in invariants.at.iter().filter(|(loc, _)| points.contains(loc)) {
            map.entry(loc).or_default().push(expr);
        }
        let ghosts = invariants.ghosts().collect();
        Checker { task, graph, terms, encoder, invariants: map, points, ghosts, court }
    }

    /// What the invariants say about a state at a location, fact by fact.
    fn facts(&mut self, loc: LocId, state: &State) -> Vec<Term> {
        let parts = self.invariants.get(&loc).cloned().unwrap_or_default();
        parts.into_iter().map(|part| self.encoder.cond(&mut self.terms, state, part)).collect()
    }

    /// What the invariants say about a state at a location.
    fn invariant(&mut self, loc: LocId, state: &State) -> Term {
        let facts = self.facts(loc, state);
        self.terms.and_all(facts)
    }

    /// Fails unless the state is empty.
    fn impossible(&mut self, state: &State, extra: Term, what: impl Fn() -> String) -> Result<(), Rejection> {
        let guard = state.guard(&mut self.terms);
        let goal = self.terms.and(guard, extra);
        self.refuted(goal, self.court.solver(), what)
    }

    /// Fails unless a formula has no model.
    fn refuted(
        &mut self,
        goal: Term,
        mut solver: Juror<'_>,
        what: impl Fn() -> String,
    ) -> Result<(), Rejection> {
        if self.terms.bool_value(goal) == Some(false) {
            return Ok(());
        }
        solver.assert(&mut self.terms, goal);
        match solver.check(&mut self.terms, &[]) {
            Answer::Unsat => Ok(()),
            Answer::Sat => Err(Rejection::Wrong(what())),
            Answer::Unknown(why) => Err(Rejection::GaveUp(why.to_string())),
        }
    }

    /// Fails unless it is soon clear that a formula has no model, with what is known of its variables.
    fn refuted_nearby(
        &mut self,
        goal: Term,
        known: &Cone,
        what: impl Fn() -> String,
    ) -> Result<(), Rejection> {
        let near = known.near(&self.terms, &[goal]);
        if near.len() == known.all().len() {
            return Err(Rejection::GaveUp("everything is nearby".into()));
        }
        let near = self.terms.and_all(near);
        let goal = self.terms.and(goal, near);
        self.refuted(goal, self.court.hasty_solver(CONFLICTS_TOGETHER), what)
    }

    /// Fails unless all facts follow where a segment ends: together if that is easy, else one by one and in cases that
    /// together are all there is, where what is assumed simplifies the question most.
    fn entailed(
        &mut self,
        state: &State,
        (assumed, known): (Term, &Cone),
        cases: &[Term],
        facts: &[Term],
        what: impl Fn() -> String,
    ) -> Result<(), Rejection> {
        let guard = state.guard(&mut self.terms);
        // Most facts are about what the segment leaves alone.
        let same: FxHashSet<Term> = known.all().iter().copied().collect();
        let facts: Vec<Term> = facts.iter().flat_map(|&fact| self.terms.conjuncts(fact)).collect();
        let facts: Vec<Term> = facts.into_iter().filter(|fact| !same.contains(fact)).collect();
        let given = self.terms.and(guard, assumed);
        let all = self.terms.and_all(facts.iter().copied());
        let not = self.terms.not(all);
        let goal = self.terms.and(guard, not);
        if self.refuted_nearby(goal, known, &what).is_ok() {
            return Ok(());
        }
        let together = self.terms.and(given, not);
        match self.refuted(together, self.court.hasty_solver(CONFLICTS_TOGETHER), &what) {
            Err(Rejection::GaveUp(_)) => {}
            settled => return settled,
        }
        match self.entailed_one_by_one(given, cases, &facts, &what) {
            Err(Rejection::GaveUp(_)) => self.refuted(together, self.court.solver(), &what),
            settled => settled,
        }
    }

    fn entailed_one_by_one(
        &mut self,
        given: Term,
        cases: &[Term],
        facts: &[Term],
        what: impl Fn() -> String,
    ) -> Result<(), Rejection> {
        for &fact in facts {
            let not = self.terms.not(fact);
            let goal = self.terms.and(given, not);
            match self.refuted(goal, self.court.hasty_solver(CONFLICTS_ONE), &what) {
                Err(Rejection::GaveUp(_)) => {}
                Err(wrong) => return Err(wrong),
                Ok(()) => continue,
            }
            for &case in cases {
                let goal = self.terms.and(goal, case);
                self.refuted(goal, self.court.hasty_solver(CONFLICTS_CASE), &what)?;
            }
        }
        Ok(())
    }

    fn segment(&mut self, start: LocId, state: State) -> Result<Vec<segment::End>, Rejection> {
        segment::run_to(
            self.task,
            &self.graph,
            &|loc| self.points.contains(&loc),
            &mut self.encoder,
            &mut self.terms,
            start,
            state,
            self.court.budget(),
        )
        .map_err(gave_up)
    }

    /// Follows one segment from states in which something holds, and asks for the invariants at its ends.
    fn inductive_from(&mut self, start: LocId, state: State, holds: Term) -> Result<(), Rejection> {
        let fail = |loc: LocId| move || format!("the segment from {start} to {loc}");
        self.encoder.indices = (!self.ghosts.is_empty()).then(Vec::new);
        let ends = self.segment(start, state.clone())?;
        let ghosts = self.ghosts.iter().filter_map(|&g| self.encoder.layout().register(g));
        let ghosts: Vec<Term> = ghosts.map(|slot| state.slots.get(slot)).collect();
        let indices = instances(self.encoder.indices.take().unwrap_or_default(), &ghosts);
        let instances = self.instances(start, &state, &indices);
        let assumed = self.terms.and(holds, instances);
        let cases = self.cases(&state, &indices);
        let known = Cone::new(&self.terms, &[assumed]);
        for end in ends {
            if self.points.contains(&end.loc) {
                let facts = self.facts(end.loc, &end.state);
                self.entailed(&end.state, (assumed, &known), &cases, &facts, fail(end.loc))?;
            } else {
                let guard = end.state.guard(&mut self.terms);
                if self.refuted_nearby(guard, &known, fail(end.loc)).is_err() {
                    self.impossible(&end.state, assumed, fail(end.loc))?;
                }
            }
        }
        Ok(())
    }

    /// What the invariants say about the state a segment starts in when the ghosts have the values
    /// of the indices that the segment has met: facts hold for all values, and these are the
    /// elements that matter.
    fn instances(&mut self, start: LocId, state: &State, indices: &[Vec<Term>]) -> Term {
        let mut all = self.terms.tru();
        for values in indices {
            let mut instance = state.clone();
            for (&ghost, &value) in self.ghosts.iter().zip(values) {
                if let Some(slot) = self.encoder.layout().register(ghost) {
                    instance.slots.set(slot, value);
                }
            }
            let holds = self.invariant(start, &instance);
            all = self.terms.and(all, holds);
        }
        all
    }

    /// The ghosts are one of the indices that a segment has met, or none of them: one of these formulas is true.
    fn cases(&mut self, state: &State, indices: &[Vec<Term>]) -> Vec<Term> {
        let mut cases = Vec::new();
        let mut other = self.terms.tru();
        for values in indices.iter().take(MAX_CASES) {
            let mut same = self.terms.tru();
            for (&ghost, &value) in self.ghosts.iter().zip(values) {
                if let Some(slot) = self.encoder.layout().register(ghost) {
                    let equal = self.terms.eq(state.slots.get(slot), value);
                    same = self.terms.and(same, equal);
                }
            }
            cases.push(self.terms.and(other, same));
            let not = self.terms.not(same);
            other = self.terms.and(other, not);
        }
        cases.push(other);
        cases
    }
}

/// The task with the pool of the invariants, the expressions of which must be well formed: an engine
/// may be wrong in any way.
fn extended(task: &Task, invariants: &Invariants) -> Result<Task, Rejection> {
    let task = task.with_program(invariants.extend(&task.program));
    let mut findings = palisade_cfa::verify(&task.program);
    findings.retain(|f| matches!(f.subject, Subject::Expr(_) | Subject::Place(_)));
    match findings.first() {
        Some(finding) => Err(Rejection::Wrong(format!("the expressions are not well formed: {finding}"))),
        None => Ok(task),
    }
}

/// Checks that the invariants are initial, inductive and sufficient.
pub fn check(task: &Task, invariants: &Invariants, court: &Court) -> Result<(), Rejection> {
    let task = &extended(task, invariants)?;
    let mut checker = Checker::new(task, invariants, true, court);
    let entry = task.body().entry;
    let start = checker.encoder.initial_state(&mut checker.terms);
    if checker.points.contains(&entry) {
        let holds = checker.invariant(entry, &start);
        let bad = checker.terms.not(holds);
        checker.impossible(&start, bad, || "the entry".into())?;
    } else {
        let anything = checker.terms.tru();
        checker.inductive_from(entry, start, anything)?;
    }
    for head in checker.points.clone() {
        let state = checker.encoder.arbitrary_state(&mut checker.terms);
        let holds = checker.invariant(head, &state);
        if checker.terms.bool_value(holds) != Some(false) {
            checker.inductive_from(head, state, holds)?;
        }
    }
    Ok(())
}
