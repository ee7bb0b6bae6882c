//! Checks that a set of partial states at loop heads covers all that is reachable.
//!
//! From the start and from every state of the set all loop-free paths are followed, one by one,
//! with the known values put in, other bounds assumed and everything else arbitrary. Each must end at a loop
//! head in a state of the set, or in nothing at all; none may end at an error. Where the paths are too many, they
//! become one wherever they meet.

use crate::Rejection;
use crate::court::{Court, Juror};
use crate::states::{Known, contradict, within};
use palisade_cfa::{Graph, IntTy, LocId, Scalar, VarId};
use palisade_encode::{Encoder, State, segment};
use palisade_evidence::Cover;
use palisade_logic::{Answer, Evaluator, Op, Solver, Term, Terms};
use palisade_task::Task;
use rustc_hash::FxHashMap;

struct Checker<'t> {
    task: &'t Task,
    graph: Graph,
    known: FxHashMap<LocId, Known>,
    court: &'t Court,
}

/// Terms are dropped after this many, so that memory stays bounded.
const MANY_TERMS: usize = 2_000_000;

/// Where paths have more steps together than this many times the edges of the program, or more of them than that need
/// the solver, they are merged.
const MANY_STEPS: usize = 4;
const MANY_QUESTIONS: usize = 64;

/// A symbolic state may stand for at most this many states of the set.
const MAX_SPLIT: usize = 1000;

/// Checks a cover.
pub fn check(task: &Task, cover: &Cover, court: &Court) -> Result<(), Rejection> {
    let mut known: FxHashMap<LocId, Known> = FxHashMap::default();
    for (loc, values) in &cover.states {
        known.entry(*loc).or_default().insert(values);
    }
    let mut checker = Checker { task, graph: task.program.analyse(), known, court };
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let first = encoder.initial_state(&mut terms);
    let entry = task.body().entry;
    if checker.graph.is_loop_head(entry) {
        checker.covered(&mut terms, &encoder, entry, &first, &mut court.solver())?;
    } else {
        checker.paths(&mut terms, &mut encoder, entry, first)?;
    }
    let mut blank = encoder.arbitrary_state(&mut terms);
    for (loc, values) in &cover.states {
        if terms.len() > MANY_TERMS {
            terms = Terms::new();
            encoder = Encoder::new(&task.program, &mut terms);
            blank = encoder.arbitrary_state(&mut terms);
        }
        let mut state = blank.clone();
        let mut possible = true;
        for &(var, bounds) in values {
            let (Some(slot), Some(ty)) = (encoder.layout().register(var), checker.integer(var)) else {
                return Err(Rejection::Wrong(format!("{var} is no integer register")));
            };
            if let Some(bits) = bounds.as_only() {
                let value = constant(&mut terms, ty, bits);
                state.slots.set(slot, value);
                continue;
            }
            let inside =
                within(&mut terms, ty, state.slots.get(slot), bounds, |t, bits| constant(t, ty, bits));
            for condition in terms.conjuncts(inside) {
                possible &= state.assume(&terms, condition);
            }
        }
        encoder.unknowns.clear();
        if possible {
            checker.paths(&mut terms, &mut encoder, *loc, state)?;
        }
    }
    Ok(())
}

fn constant(terms: &mut Terms, ty: IntTy, bits: u128) -> Term {
    let low = terms.bv(u32::from(ty.bits).min(64), bits as u64);
    if ty.bits <= 64 {
        return low;
    }
    let high = terms.bv(u32::from(ty.bits) - 64, (bits >> 64) as u64);
    terms.concat(high, low)
}

/// Puts the constant in for what a new condition says is equal to one.
fn learn(terms: &Terms, before: &State, after: &mut State) {
    for &cond in after.path.get(before.path.len()..).unwrap_or_default() {
        if terms.op(cond) != Op::Eq {
            continue;
        }
        let (a, b) = (terms.args(cond)[0], terms.args(cond)[1]);
        let (what, value) = if terms.is_const(b) { (a, b) } else { (b, a) };
        if terms.is_const(value) {
            for slot in 0..after.slots.len() {
                if after.slots.get(slot) == what {
                    after.slots.set(slot, value);
                }
            }
        }
    }
}

impl Checker<'_> {
    /// The type of a variable that is an integer.
    fn integer(&self, var: VarId) -> Option<IntTy> {
        self.task.program.scalar_of(self.task.program.vars[var].ty).and_then(Scalar::int)
    }

    /// Follows all loop-free paths from a location.
    fn paths(
        &mut self,
        terms: &mut Terms,
        encoder: &mut Encoder<'_>,
        start: LocId,
        state: State,
    ) -> Result<(), Rejection> {
        // One solver for all, since paths share their beginnings.
        let mut solver = self.court.solver();
        if self.task.is_end(start) {
            return self.impossible(terms, &state, &mut solver);
        }
        let (mut steps, mut questions) = (MANY_STEPS * self.task.program.edges.len(), MANY_QUESTIONS);
        let mut todo = vec![(start, state.clone())];
        while let Some((loc, current)) = todo.pop() {
            self.court.budget().check().map_err(|stop| Rejection::GaveUp(stop.to_string()))?;
            if steps == 0 || questions == 0 {
                return self.merged(terms, encoder, start, state);
            }
            steps -= 1;
            for &edge in self.task.program.locs[loc].out.iter().rev() {
                let Some(mut next) = encoder.step(terms, &current, edge) else { continue };
                learn(terms, &current, &mut next);
                if contradict(terms, &next.path, current.path.len()) {
                    continue;
                }
                let dst = self.task.program.edges[edge].dst;
                if self.task.is_end(dst) || self.graph.is_loop_head(dst) {
                    let asked = self.arrives(terms, encoder, dst, &next, &mut solver)?;
                    questions = questions.saturating_sub(usize::from(asked));
                } else {
                    todo.push((dst, next));
                }
            }
        }
        Ok(())
    }

    /// The same for all paths together.
    fn merged(
        &mut self,
        terms: &mut Terms,
        encoder: &mut Encoder<'_>,
        start: LocId,
        state: State,
    ) -> Result<(), Rejection> {
        let ends = segment::run(self.task, &self.graph, encoder, terms, start, state, self.court.budget());
        for end in ends.map_err(|stop| Rejection::GaveUp(stop.to_string()))? {
            self.arrives(terms, encoder, end.loc, &end.state, &mut self.court.solver())?;
        }
        Ok(())
    }

    /// Where paths end: nothing may arrive at an error, and only states of the set at a loop head. Tells whether the
    /// solver was needed.
    fn arrives(
        &self,
        terms: &mut Terms,
        encoder: &Encoder<'_>,
        loc: LocId,
        state: &State,
        solver: &mut Juror<'_>,
    ) -> Result<bool, Rejection> {
        if self.task.is_end(loc) {
            self.impossible(terms, state, solver)?;
            return Ok(true);
        }
        self.covered(terms, encoder, loc, state, solver)
    }

    /// Every state at a loop head must be in the set. A symbolic state may stand for several of
    /// them: its models are taken one by one until none is left. Tells whether the solver was needed.
    fn covered(
        &self,
        terms: &mut Terms,
        encoder: &Encoder<'_>,
        loc: LocId,
        state: &State,
        solver: &mut Juror<'_>,
    ) -> Result<bool, Rejection> {
        let empty = Known::default();
        let known = self.known.get(&loc).unwrap_or(&empty);
        // Each list of variables with their types and terms.
        let mut lists: Vec<(&[VarId], Vec<IntTy>, Vec<Term>)> = Vec::new();
        for vars in known.lists() {
            let types: Option<Vec<IntTy>> = vars.iter().map(|v| self.integer(*v)).collect();
            let slots: Option<Vec<Term>> =
                vars.iter().map(|v| Some(state.slots.get(encoder.layout().register(*v)?))).collect();
            if let (Some(types), Some(slots)) = (types, slots) {
                let found: Option<Vec<u128>> = slots.iter().map(|&t| terms.value_of(t)?.to_u128()).collect();
                if found.is_some_and(|bits| known.find(vars, &types, &bits).is_some()) {
                    return Ok(false);
                }
                lists.push((vars, types, slots));
            }
        }
        let guard = state.guard(terms);
        solver.push();
        solver.assert(terms, guard);
        for _ in 0..MAX_SPLIT {
            match solver.check(terms, &[]) {
                Answer::Unsat => {
                    solver.pop();
                    return Ok(true);
                }
                Answer::Unknown(why) => return Err(Rejection::GaveUp(why.to_string())),
                Answer::Sat => {}
            }
            let model = solver.model(terms).ok_or_else(|| Rejection::GaveUp("no model".into()))?;
            let mut evaluator = Evaluator::new(&model);
            let mut matching = None;
            for (vars, types, slots) in &lists {
                let bits: Option<Vec<u128>> =
                    slots.iter().map(|&t| evaluator.value(terms, t).as_bv()?.to_u128()).collect();
                if let Some(bounds) = bits.and_then(|bits| known.find(vars, types, &bits)) {
                    matching = Some((types, slots, bounds));
                    break;
                }
            }
            let Some((types, slots, bounds)) = matching else {
                return Err(Rejection::Wrong(format!("a reachable state at {loc} is not covered")));
            };
            let mut same = terms.tru();
            for ((&slot, &ty), bounds) in slots.iter().zip(types).zip(bounds) {
                let inside = within(terms, ty, slot, bounds, |t, bits| constant(t, ty, bits));
                same = terms.and(same, inside);
            }
            let other = terms.not(same);
            solver.assert(terms, other);
        }
        Err(Rejection::GaveUp("a symbolic state stands for too many states".into()))
    }

    fn impossible(&self, terms: &mut Terms, state: &State, solver: &mut Juror<'_>) -> Result<(), Rejection> {
        let guard = state.guard(terms);
        match solver.check(terms, &[guard]) {
            Answer::Unsat => Ok(()),
            Answer::Sat => Err(Rejection::Wrong("a reachable state is not covered".into())),
            Answer::Unknown(why) => Err(Rejection::GaveUp(why.to_string())),
        }
    }
}
