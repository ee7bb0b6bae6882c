//! Checks invariants: they hold at the start, every loop-free segment preserves them, and they
//! exclude the errors.

use crate::Rejection;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_encode::{Encoder, State, segment};
use palisade_evidence::Invariants;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Term, Terms};
use palisade_task::Task;
use rustc_hash::FxHashMap;

struct Checker<'t> {
    task: &'t Task,
    graph: Graph,
    terms: Terms,
    encoder: Encoder<'t>,
    invariants: FxHashMap<LocId, Vec<ExprId>>,
    /// Variables that stand for any value: facts hold for all of theirs.
    ghosts: Vec<VarId>,
    budget: &'t Budget,
}

fn gave_up(stop: Stop) -> Rejection {
    Rejection::GaveUp(stop.to_string())
}

impl<'t> Checker<'t> {
    /// `task` must be extended by the invariants' pool.
    fn new(task: &'t Task, invariants: &Invariants, budget: &'t Budget) -> Self {
        let mut terms = Terms::new();
        let encoder = Encoder::new(&task.program, &mut terms);
        let graph = task.program.analyse();
        let mut map: FxHashMap<LocId, Vec<ExprId>> = FxHashMap::default();
        // Facts elsewhere would be assumed without ever being shown.
        for &(loc, expr) in invariants.at.iter().filter(|(loc, _)| graph.is_loop_head(*loc)) {
            map.entry(loc).or_default().push(expr);
        }
        let ghosts = invariants.ghosts().collect();
        Checker { task, graph, terms, encoder, invariants: map, ghosts, budget }
    }

    /// What the invariants say about a state at a location.
    fn invariant(&mut self, loc: LocId, state: &State) -> Term {
        let parts = self.invariants.get(&loc).cloned().unwrap_or_default();
        let mut all = self.terms.tru();
        for part in parts {
            let part = self.encoder.cond(&mut self.terms, state, part);
            all = self.terms.and(all, part);
        }
        all
    }

    /// Fails unless the state is empty.
    fn impossible(&mut self, state: &State, extra: Term, what: impl Fn() -> String) -> Result<(), Rejection> {
        let guard = state.guard(&mut self.terms);
        let goal = self.terms.and(guard, extra);
        if self.terms.bool_value(goal) == Some(false) {
            return Ok(());
        }
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { budget: self.budget.clone(), ..Limits::default() });
        match solver.check(&mut self.terms, &[goal]) {
            Answer::Unsat => Ok(()),
            Answer::Sat => Err(Rejection::Wrong(what())),
            Answer::Unknown(why) => Err(Rejection::GaveUp(why.to_string())),
        }
    }

    fn segment(&mut self, start: LocId, state: State) -> Result<Vec<segment::End>, Rejection> {
        segment::run(self.task, &self.graph, &mut self.encoder, &mut self.terms, start, state, self.budget)
            .map_err(gave_up)
    }

    /// Follows one segment and asks for the invariants at its ends.
    fn inductive_from(&mut self, start: LocId, state: State) -> Result<(), Rejection> {
        let fail = |loc: LocId| move || format!("the segment from {start} to {loc}");
        self.encoder.indices = (!self.ghosts.is_empty()).then(Vec::new);
        let ends = self.segment(start, state.clone())?;
        let assumed = self.instances(start, &state);
        for end in ends {
            let bad = if self.graph.is_loop_head(end.loc) {
                let holds = self.invariant(end.loc, &end.state);
                self.terms.not(holds)
            } else {
                self.terms.tru()
            };
            let bad = self.terms.and(assumed, bad);
            self.impossible(&end.state, bad, fail(end.loc))?;
        }
        Ok(())
    }

    /// What the invariants say about the state a segment starts in when the ghosts have the values
    /// of the indices that the segment has met: facts hold for all values, and these are the
    /// elements that matter.
    fn instances(&mut self, start: LocId, state: &State) -> Term {
        let mut all = self.terms.tru();
        for values in self.encoder.indices.take().unwrap_or_default() {
            let mut instance = state.clone();
            for (&ghost, &value) in self.ghosts.iter().zip(&values) {
                if let Some(slot) = self.encoder.layout().register(ghost) {
                    instance.slots.set(slot, value);
                }
            }
            let holds = self.invariant(start, &instance);
            all = self.terms.and(all, holds);
        }
        all
    }

    fn heads(&self) -> Vec<LocId> {
        self.graph.loop_heads(self.task.program.entry).collect()
    }
}

/// The task with the pool of the invariants. Expressions of the pool must be well formed, since an
/// engine may be wrong in any way.
fn extended(task: &Task, invariants: &Invariants) -> Task {
    task.with_program(invariants.extend(&task.program))
}

/// Checks that the invariants are initial, inductive and sufficient.
pub fn check(task: &Task, invariants: &Invariants, budget: &Budget) -> Result<(), Rejection> {
    let task = &extended(task, invariants);
    let mut checker = Checker::new(task, invariants, budget);
    let entry = task.body().entry;
    let start = checker.encoder.initial_state(&mut checker.terms);
    if checker.graph.is_loop_head(entry) {
        let holds = checker.invariant(entry, &start);
        let bad = checker.terms.not(holds);
        checker.impossible(&start, bad, || "the entry".into())?;
    } else {
        checker.inductive_from(entry, start)?;
    }
    for head in checker.heads() {
        let mut state = checker.encoder.arbitrary_state(&mut checker.terms);
        let holds = checker.invariant(head, &state);
        if state.assume(&checker.terms, holds) {
            checker.inductive_from(head, state)?;
        }
    }
    Ok(())
}

/// Checks a proof by k-induction over passes through loop heads: the helping invariants are
/// initial and inductive, no error is reached within `k` segments from the start, and none in the
/// segment after `k` error-free ones from any state of the invariants.
pub fn check_k_induction(
    task: &Task,
    k: u32,
    invariants: &Invariants,
    budget: &Budget,
) -> Result<(), Rejection> {
    let task = &extended(task, invariants);
    let mut checker = Checker::new(task, invariants, budget);
    let entry = task.body().entry;
    let start = checker.encoder.initial_state(&mut checker.terms);
    let mut layer = vec![(entry, start)];
    if checker.graph.is_loop_head(entry) {
        let holds = checker.invariant(entry, &layer[0].1.clone());
        let bad = checker.terms.not(holds);
        checker.impossible(&layer[0].1.clone(), bad, || "the entry".into())?;
    }
    for _ in 0..=k {
        layer = checker.advance(layer, true)?;
    }
    for head in checker.heads() {
        let mut state = checker.encoder.arbitrary_state(&mut checker.terms);
        let holds = checker.invariant(head, &state);
        if !state.assume(&checker.terms, holds) {
            continue;
        }
        let mut layer = vec![(head, state)];
        for step in 0..=k {
            // Errors met before the last segment are assumed away: an end at an error goes nowhere.
            layer = checker.advance(layer, step == k)?;
        }
    }
    Ok(())
}

impl Checker<'_> {
    /// One segment from each state; all errors must be impossible, and invariants must hold.
    fn advance(
        &mut self,
        layer: Vec<(LocId, State)>,
        errors: bool,
    ) -> Result<Vec<(LocId, State)>, Rejection> {
        let mut next: FxHashMap<LocId, State> = FxHashMap::default();
        let mut order = Vec::new();
        for (start, state) in layer {
            for end in self.segment(start, state)? {
                if !self.graph.is_loop_head(end.loc) {
                    if errors {
                        let yes = self.terms.tru();
                        self.impossible(&end.state, yes, || format!("an error from {start} to {}", end.loc))?;
                    }
                    continue;
                }
                let holds = self.invariant(end.loc, &end.state);
                let bad = self.terms.not(holds);
                self.impossible(&end.state, bad, || format!("the invariant at {}", end.loc))?;
                match next.get_mut(&end.loc) {
                    Some(known) => *known = State::merge(&mut self.terms, known, &end.state),
                    None => {
                        order.push(end.loc);
                        next.insert(end.loc, end.state);
                    }
                }
            }
        }
        Ok(order.into_iter().filter_map(|loc| Some((loc, next.remove(&loc)?))).collect())
    }
}
