//! Covers: sets of partial states at loop heads that no path leaves.

use super::Rejection;
use super::carry::Carried;
use super::expr::constant;
use super::proof::{Facts, Prover};
use super::state::{Home, State};
use crate::court::{Court, Juror};
use crate::states::{Known, contradict, within};
use palisade_cfa::*;
use palisade_evidence::{Bounds, Cover};
use palisade_logic::{Answer, Evaluator, Solver, Term, Terms};
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A symbolic state may stand for at most this many states of the set.
const MAX_SPLIT: usize = 64;

/// A path is followed through at most this many cut points of which a cover says nothing.
const MAX_FOLLOWED: u32 = 200;

/// Checks a cover.
pub fn check(reduced: &Task, carried: &Carried, cover: &Cover, court: &Court) -> Result<(), Rejection> {
    let lost = || Rejection::GaveUp("a state of the cover cannot be carried back".into());
    // What no operation of the reduced task mentions does not matter, and may hold something else in the whole one.
    let mut mentioned: FxHashSet<VarId> = FxHashSet::default();
    for edge in &reduced.program.edges {
        reduced.program.visit_op(&edge.op, &mut |used| {
            if let Use::Read(x) | Use::Write(x) | Use::Address(x) = used
                && let Base::Var(var) = reduced.program.places[x].base
            {
                mentioned.insert(var);
            }
        });
    }
    let mut states: Vec<(LocId, Vec<(VarId, Bounds)>)> = Vec::new();
    let mut known: FxHashMap<LocId, Known> = FxHashMap::default();
    for (loc, values) in &cover.states {
        let values: Vec<_> = values.iter().copied().filter(|v| mentioned.contains(&v.0)).collect();
        if !values.iter().all(|v| carried.is_known(v.0)) {
            return Err(lost());
        }
        let loc = carried.loc(*loc).ok_or_else(lost)?;
        known.entry(loc).or_default().insert(&values);
        states.push((loc, values));
    }
    let known: FxHashMap<LocId, Rc<Known>> =
        known.into_iter().map(|(loc, known)| (loc, Rc::new(known))).collect();
    let at_states = states.iter().map(|s| s.0);
    let (mut prover, mut facts) = Prover::new(&carried.task, at_states, &carried.known(reduced), &[], court);
    if !facts.at.is_empty() {
        prover.weed(&mut facts)?;
    }
    let mut checker = Checker { prover, known, facts, followed: 0 };
    match checker.check(states.clone()) {
        // A loop of which the cover says nothing may be one whose passes the values decide.
        Err(wrong @ Rejection::Wrong(_)) if checker.bare().next().is_some() => {
            checker.followed = MAX_FOLLOWED;
            checker.check(states).or(Err(wrong))
        }
        result => result,
    }
}

struct Checker<'t> {
    prover: Prover<'t>,
    known: FxHashMap<LocId, Rc<Known>>,
    facts: Facts,
    /// How many cut points without states of the cover a path is followed through. If none, every state may
    /// be there.
    followed: u32,
}

impl Checker<'_> {
    /// Cut points without states of the cover.
    fn bare(&self) -> impl Iterator<Item = LocId> {
        self.prover.cuts.points.iter().copied().filter(|l| !self.known.contains_key(l))
    }

    /// No path from the entry or from a state leaves the set.
    fn check(&mut self, mut states: Vec<(LocId, Vec<(VarId, Bounds)>)>) -> Result<(), Rejection> {
        let entry = self.prover.task.body().entry;
        let initial = self.prover.encoder.initial(&mut self.prover.terms)?;
        if self.known.contains_key(&entry) {
            self.arrive(&mut self.prover.solver(), entry, entry, initial)?;
        } else {
            self.paths(entry, initial)?;
        }
        if self.followed == 0 {
            states.extend(self.bare().map(|loc| (loc, Vec::new())));
        }
        for (loc, values) in states {
            let mut state = self.prover.arbitrary(loc, &self.facts);
            for (var, bounds) in values {
                self.set(&mut state, var, bounds)?;
            }
            if self.prover.with_facts(loc, &mut state, &self.facts) {
                self.paths(loc, state)?;
            }
        }
        Ok(())
    }

    /// Gives a scalar variable a value within bounds.
    fn set(&mut self, state: &mut State, var: VarId, bounds: Bounds) -> Result<(), Rejection> {
        let p = &self.prover.task.program;
        let Some(scalar @ Scalar::Int(ty)) = p.scalar_of(p.vars[var].ty) else {
            return Err(Rejection::Wrong(format!("{var} is no integer")));
        };
        let Some(bits) = bounds.as_only() else {
            let value = self.get(state, var).ok_or_else(|| Rejection::Wrong(format!("{var} is nowhere")))?;
            let t = &mut self.prover.terms;
            let inside = within(t, ty, value, bounds, |t, bits| constant(t, u32::from(ty.bits), bits));
            let _ = state.assume(t, inside);
            return Ok(());
        };
        let t = &mut self.prover.terms;
        let value = constant(t, u32::from(ty.bits), bits);
        self.prover.encoder.put(t, state, var, scalar, value);
        Ok(())
    }

    fn get(&mut self, state: &State, var: VarId) -> Option<Term> {
        let p = &self.prover.task.program;
        let scalar = p.scalar_of(p.vars[var].ty)?;
        let t = &mut self.prover.terms;
        match self.prover.encoder.layout.homes[var] {
            Home::None => None,
            Home::Register(slot) => Some(state.get(slot)),
            _ => Some(self.prover.encoder.load_variable(t, state, var, scalar)),
        }
    }

    /// Follows all loop-free paths from a location, one by one.
    fn paths(&mut self, start: LocId, state: State) -> Result<(), Rejection> {
        // One solver for all, since paths share their beginnings.
        let mut solver = self.prover.solver();
        let mut todo = vec![(start, state, 0)];
        while let Some((loc, state, passed)) = todo.pop() {
            self.prover.look()?;
            if self.prover.task.is_end(loc) {
                let guard = state.guard(&mut self.prover.terms);
                match solver.check(&mut self.prover.terms, &[guard]) {
                    Answer::Unsat => continue,
                    Answer::Sat => {
                        return Err(Rejection::Wrong(format!("an error at {loc} is not excluded")));
                    }
                    Answer::Unknown(why) => return Err(Rejection::GaveUp(why.to_string())),
                }
            }
            for edge in self.prover.leading_on(loc) {
                let next = self.prover.encoder.step(&mut self.prover.terms, &state, edge);
                let Some(mut next) = next else { continue };
                put_in(
                    &self.prover.terms,
                    state.path.len(),
                    &mut next,
                    self.prover.encoder.layout.sorts.len(),
                );
                if next.path.len() > state.path.len() && contradict(&self.prover.terms, &next.path) {
                    continue;
                }
                let dst = self.prover.task.program.edges[edge].dst;
                if self.known.contains_key(&dst) {
                    solver.push();
                    self.arrive(&mut solver, start, dst, next)?;
                    solver.pop();
                } else if !self.prover.cuts.points.contains(&dst) {
                    todo.push((dst, next, passed));
                } else if passed < self.followed {
                    todo.push((dst, next, passed + 1));
                } else if self.followed > 0 {
                    return Err(Rejection::GaveUp(format!("a path passes {dst} too often")));
                }
            }
        }
        Ok(())
    }

    /// Every state that arrives at a cut point must be in the set; a symbolic one may stand for
    /// several.
    fn arrive(
        &mut self,
        solver: &mut Juror<'_>,
        from: LocId,
        loc: LocId,
        state: State,
    ) -> Result<(), Rejection> {
        let Some(known) = self.known.get(&loc).cloned() else { return Ok(()) };
        // Each list of variables with their types and terms. That a state of the cover is given numbers, where
        // parts of pointers may arrive, allows more: a number may be the address of any object.
        let mut lists: Vec<(&[VarId], Vec<IntTy>, Vec<Term>)> = Vec::new();
        for vars in known.lists() {
            let p = &self.prover.task.program;
            let types: Option<Vec<IntTy>> = vars.iter().map(|v| p.scalar_of(p.vars[*v].ty)?.int()).collect();
            let found: Option<Vec<Term>> = vars.iter().map(|v| self.get(&state, *v)).collect();
            if let (Some(types), Some(found)) = (types, found) {
                lists.push((vars, types, found));
            }
        }
        let constant_of = |terms: &Terms, t: Term| terms.value_of(t)?.to_u128();
        for (vars, types, found) in &lists {
            let bits: Option<Vec<u128>> = found.iter().map(|t| constant_of(&self.prover.terms, *t)).collect();
            if bits.is_some_and(|bits| known.find(vars, types, &bits).is_some()) {
                return Ok(());
            }
        }
        let guard = state.guard(&mut self.prover.terms);
        solver.assert(&mut self.prover.terms, guard);
        for _ in 0..MAX_SPLIT {
            match solver.check(&mut self.prover.terms, &[]) {
                Answer::Unsat => return Ok(()),
                Answer::Unknown(why) => return Err(Rejection::GaveUp(why.to_string())),
                Answer::Sat => {}
            }
            let model = solver.model(&mut self.prover.terms);
            let model = model.ok_or_else(|| Rejection::GaveUp("the solver gave no model".into()))?;
            let mut evaluator = Evaluator::new(&model);
            let mut here = None;
            for (vars, types, found) in &lists {
                let bits: Option<Vec<u128>> = found
                    .iter()
                    .map(|&t| evaluator.value(&self.prover.terms, t).as_bv()?.to_u128())
                    .collect();
                if let Some(bounds) = bits.and_then(|bits| known.find(vars, types, &bits)) {
                    here = Some((found, types, bounds));
                    break;
                }
            }
            let Some((found, types, bounds)) = here else {
                for (vars, _, found) in &lists {
                    let values = vars.iter().zip(found).map(|(v, &t)| {
                        let name = &self.prover.task.program.vars[*v].name;
                        format!("{name} = {}", evaluator.value(&self.prover.terms, t))
                    });
                    let values = values.collect::<Vec<_>>().join(", ");
                    tracing::debug!("the plain twin: from {from} not covered at {loc}: {values}");
                }
                return Err(Rejection::Wrong(format!("a reachable state at {loc} is not covered")));
            };
            let t = &mut self.prover.terms;
            let mut same = t.tru();
            for ((&term, &ty), bounds) in found.iter().zip(types).zip(bounds) {
                let width = t.width(term);
                let inside = within(t, ty, term, bounds, |t, bits| constant(t, width, bits));
                same = t.and(same, inside);
            }
            let other = t.not(same);
            solver.assert(t, other);
        }
        Err(Rejection::GaveUp("a symbolic state stands for too many states".into()))
    }
}

/// Puts the constant in for what a new condition says is equal to one.
fn put_in(terms: &Terms, before: usize, state: &mut State, slots: usize) {
    for cond in state.path.get(before..).unwrap_or_default().to_vec() {
        if terms.op(cond) != palisade_logic::Op::Eq {
            continue;
        }
        let (a, b) = (terms.args(cond)[0], terms.args(cond)[1]);
        let (what, value) = if terms.is_const(b) { (a, b) } else { (b, a) };
        if terms.is_const(value) {
            for slot in (0..slots).filter(|&slot| state.get(slot) == what).collect::<Vec<_>>() {
                state.set(slot, value);
            }
        }
    }
}
