//! Covers: sets of partial states at loop heads that no path leaves.

use super::Rejection;
use super::carry::Carried;
use super::expr::constant;
use super::proof::{Facts, Prover, alone_at_first};
use super::state::{Home, State};
use crate::court::{Court, Juror};
use crate::states::{Known, contradict, within};
use palisade_cfa::*;
use palisade_evidence::{Bounds, Cover};
use palisade_logic::{Answer, Evaluator, Solver, Term, Terms};
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
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
    alone_at_first(&carried.task, |alone| {
        check_states(reduced, carried, &states, known.clone(), alone, court)
    })
}

fn check_states(
    reduced: &Task,
    carried: &Carried,
    states: &States,
    known: FxHashMap<LocId, Rc<Known>>,
    alone: bool,
    court: &Court,
) -> Result<bool, Rejection> {
    let at_states = states.iter().map(|s| s.0);
    let (mut prover, facts) =
        Prover::new(&carried.task, at_states, &carried.known(reduced), &[], false, court);
    prover.encoder.alone = alone;
    let vars: BTreeSet<VarId> = known.values().flat_map(|k| k.lists()).flatten().copied().collect();
    let vars = vars.into_iter().collect();
    let mut checker = Checker { prover, known, vars, facts, followed: 0 };
    match checker.check(states) {
        // A loop of which the cover says nothing may be one whose passes the values decide.
        Err(wrong @ Rejection::Wrong(_)) if checker.bare().next().is_some() => {
            checker.followed = MAX_FOLLOWED;
            checker.check(states).or(Err(wrong))?;
        }
        result => result?,
    }
    Ok(checker.prover.encoder.gave_away.get())
}

/// Why a check ends early.
enum Stop {
    Rejected(Rejection),
    /// A fact does not hold, and was dropped.
    Dropped,
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Stop {
        Stop::Rejected(rejection)
    }
}

/// Partial states at locations.
type States = [(LocId, Vec<(VarId, Bounds)>)];

struct Checker<'t> {
    prover: Prover<'t>,
    known: FxHashMap<LocId, Rc<Known>>,
    /// The variables of the cover.
    vars: Rc<[VarId]>,
    /// What reductions knew at cut points, as far as no path has shown that it does not hold.
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

    /// No path leaves the set, with the largest part of the facts for which that holds of them, too.
    fn check(&mut self, states: &States) -> Result<(), Rejection> {
        loop {
            match self.closed(states) {
                Ok(()) => return Ok(()),
                Err(Stop::Rejected(why)) => return Err(why),
                Err(Stop::Dropped) => self.prover.look()?,
            }
        }
    }

    /// No path from the entry or from a state leads out of the set, or to where a fact does not hold.
    fn closed(&mut self, states: &States) -> Result<(), Stop> {
        let entry = self.prover.task.body().entry;
        let initial = self.prover.encoder.initial(&mut self.prover.terms)?;
        if self.known.contains_key(&entry) {
            self.arrive(&mut self.prover.solver(), entry, entry, initial)?;
        } else {
            self.paths(entry, initial)?;
        }
        let bare: Vec<_> = self.bare().map(|loc| (loc, Vec::new())).collect();
        let bare = if self.followed == 0 { &bare[..] } else { &[] };
        for &(loc, ref values) in states.iter().chain(bare) {
            let mut state = self.prover.arbitrary(loc, &self.facts);
            for &(var, bounds) in values {
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

    /// Follows all loop-free paths from a location. Where they meet, those become one on which the variables of the
    /// cover hold the same: what else tells them apart seldom matters.
    fn paths(&mut self, start: LocId, state: State) -> Result<(), Stop> {
        // One solver for all, since paths share their beginnings.
        let mut solver = self.prover.solver();
        // By cut points passed and an order in which every edge leads forward.
        let mut open: BTreeMap<(u32, u32, Vec<Term>), (LocId, State)> = BTreeMap::new();
        let mut todo = vec![(start, state, 0)];
        while let Some((loc, state, passed)) = todo.pop().or_else(|| {
            let ((passed, ..), (loc, state)) = open.pop_first()?;
            Some((loc, state, passed))
        }) {
            self.prover.look()?;
            if self.prover.task.is_end(loc) {
                let guard = state.guard(&mut self.prover.terms);
                match solver.check(&mut self.prover.terms, &[guard]) {
                    Answer::Unsat => continue,
                    Answer::Sat => {
                        return Err(Rejection::Wrong(format!("an error at {loc} is not excluded")).into());
                    }
                    Answer::Unknown(why) => return Err(Rejection::GaveUp(why.to_string()).into()),
                }
            }
            for (dst, mut next) in self.prover.branches(loc, &state) {
                let slots = self.prover.encoder.layout.sorts.len();
                put_in(&self.prover.terms, state.path.len(), &mut next, slots);
                if contradict(&self.prover.terms, &next.path, state.path.len()) {
                    continue;
                }
                if self.known.contains_key(&dst) {
                    solver.push();
                    self.arrive(&mut solver, start, dst, next)?;
                    solver.pop();
                    continue;
                }
                let is_cut = self.prover.cuts.points.contains(&dst);
                if is_cut && self.followed == 0 {
                    self.facts_hold(&mut solver, start, dst, &next)?;
                    continue;
                }
                if is_cut && passed == self.followed {
                    return Err(Rejection::GaveUp(format!("a path passes {dst} too often")).into());
                }
                let passed = passed + u32::from(is_cut);
                if self.prover.task.program.locs[dst].inc.len() < 2 {
                    todo.push((dst, next, passed));
                    continue;
                }
                let key = (passed, self.prover.cuts.order[dst], self.key(&next));
                let merged = match open.remove(&key) {
                    Some((_, known)) => State::merge(&mut self.prover.terms, &known, &next),
                    None => next,
                };
                open.insert(key, (dst, merged));
            }
        }
        Ok(())
    }

    /// What the variables of the cover hold.
    fn key(&mut self, state: &State) -> Vec<Term> {
        let vars = Rc::clone(&self.vars);
        vars.iter().filter_map(|&var| self.get(state, var)).collect()
    }

    /// Every state that arrives at a cut point must be in the set; a symbolic one may stand for
    /// several.
    fn arrive(&mut self, solver: &mut Juror<'_>, from: LocId, loc: LocId, state: State) -> Result<(), Stop> {
        self.facts_hold(solver, from, loc, &state)?;
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
                Answer::Unknown(why) => return Err(Rejection::GaveUp(why.to_string()).into()),
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
                return Err(Rejection::Wrong(format!("a reachable state at {loc} is not covered")).into());
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
        Err(Rejection::GaveUp("a symbolic state stands for too many states".into()).into())
    }

    /// Facts must hold where a path arrives. Those that do not are dropped.
    fn facts_hold(
        &mut self,
        solver: &mut Juror<'_>,
        from: LocId,
        loc: LocId,
        state: &State,
    ) -> Result<(), Stop> {
        let Some(broken) = self.prover.broken(solver, state.clone(), Vec::new(), loc, &self.facts)? else {
            return Ok(());
        };
        self.prover.drop_facts(&broken, from, loc, &mut self.facts);
        Err(Stop::Dropped)
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
