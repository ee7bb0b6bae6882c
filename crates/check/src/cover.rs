//! Checks that a set of partial states at loop heads covers all that is reachable.
//!
//! From the start and from every state of the set all loop-free paths are followed, one by one,
//! with the known values put in and everything else arbitrary. Each must end at a loop head in a
//! state of the set, or in nothing at all; none may end at an error.

use crate::Rejection;
use crate::court::Court;
use palisade_cfa::{Graph, IntTy, LocId, Scalar, VarId};
use palisade_encode::{Encoder, State};
use palisade_evidence::Cover;
use palisade_logic::{Answer, Evaluator, Op, Solver, Term, Terms};
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};

/// Known states of a loop head: for each set of variables the values they have together.
type Known = FxHashMap<Vec<VarId>, FxHashSet<Vec<u128>>>;

struct Checker<'t> {
    task: &'t Task,
    graph: Graph,
    known: FxHashMap<LocId, Known>,
    court: &'t Court,
}

/// Terms are dropped after this many, so that memory stays bounded.
const MANY_TERMS: usize = 2_000_000;

/// A symbolic state may stand for at most this many states of the set.
const MAX_SPLIT: usize = 64;

/// Checks a cover.
pub fn check(task: &Task, cover: &Cover, court: &Court) -> Result<(), Rejection> {
    let mut known: FxHashMap<LocId, Known> = FxHashMap::default();
    for (loc, values) in &cover.states {
        let vars = values.iter().map(|v| v.0).collect();
        let bits = values.iter().map(|v| v.1).collect();
        known.entry(*loc).or_default().entry(vars).or_default().insert(bits);
    }
    let mut checker = Checker { task, graph: task.program.analyse(), known, court };
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let first = encoder.initial_state(&mut terms);
    let entry = task.body().entry;
    if checker.graph.is_loop_head(entry) {
        checker.covered(&mut terms, &encoder, entry, &first)?;
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
        for &(var, bits) in values {
            let slot = encoder.layout().register(var);
            let scalar = task.program.scalar_of(task.program.vars[var].ty).and_then(Scalar::int);
            let (Some(slot), Some(ty)) = (slot, scalar) else {
                return Err(Rejection::Wrong(format!("{var} is no integer register")));
            };
            let value = constant(&mut terms, ty, bits);
            state.slots.set(slot, value);
        }
        encoder.unknowns.clear();
        checker.paths(&mut terms, &mut encoder, *loc, state)?;
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
    /// Follows all loop-free paths from a location.
    fn paths(
        &mut self,
        terms: &mut Terms,
        encoder: &mut Encoder<'_>,
        start: LocId,
        state: State,
    ) -> Result<(), Rejection> {
        if self.task.is_end(start) {
            return self.impossible(terms, &state);
        }
        let mut todo = vec![(start, state)];
        while let Some((loc, state)) = todo.pop() {
            self.court.budget().check().map_err(|stop| Rejection::GaveUp(stop.to_string()))?;
            for &edge in self.task.program.locs[loc].out.iter().rev() {
                let Some(mut next) = encoder.step(terms, &state, edge) else { continue };
                learn(terms, &state, &mut next);
                let dst = self.task.program.edges[edge].dst;
                if self.task.is_end(dst) {
                    self.impossible(terms, &next)?;
                } else if self.graph.is_loop_head(dst) {
                    self.covered(terms, encoder, dst, &next)?;
                } else {
                    todo.push((dst, next));
                }
            }
        }
        Ok(())
    }

    /// Every state at a loop head must be in the set. A symbolic state may stand for several of
    /// them: its models are taken one by one until none is left.
    fn covered(
        &mut self,
        terms: &mut Terms,
        encoder: &Encoder<'_>,
        loc: LocId,
        state: &State,
    ) -> Result<(), Rejection> {
        let value_in = |terms: &Terms, var: &VarId| {
            let slot = encoder.layout().register(*var)?;
            terms.value_of(state.slots.get(slot))?.to_u128()
        };
        let empty = Known::default();
        let known = self.known.get(&loc).unwrap_or(&empty);
        let plain = known.iter().any(|(vars, values)| {
            let found: Option<Vec<u128>> = vars.iter().map(|v| value_in(terms, v)).collect();
            found.is_some_and(|v| values.contains(&v))
        });
        if plain {
            return Ok(());
        }
        let guard = state.guard(terms);
        let mut solver = self.court.solver();
        solver.assert(terms, guard);
        for _ in 0..MAX_SPLIT {
            match solver.check(terms, &[]) {
                Answer::Unsat => return Ok(()),
                Answer::Unknown(why) => return Err(Rejection::GaveUp(why.to_string())),
                Answer::Sat => {}
            }
            let model = solver.model(terms).ok_or_else(|| Rejection::GaveUp("no model".into()))?;
            let mut evaluator = Evaluator::new(&model);
            let mut matching = None;
            for (vars, values) in known {
                let terms_of: Option<Vec<Term>> =
                    vars.iter().map(|v| Some(state.slots.get(encoder.layout().register(*v)?))).collect();
                let Some(slots) = terms_of else { continue };
                let found: Option<Vec<u128>> =
                    slots.iter().map(|&t| evaluator.value(terms, t).as_bv()?.to_u128()).collect();
                if let Some(found) = found.filter(|f| values.contains(f)) {
                    matching = Some((slots, vars.clone(), found));
                    break;
                }
            }
            let Some((slots, vars, values)) = matching else {
                return Err(Rejection::Wrong(format!("a reachable state at {loc} is not covered")));
            };
            let mut same = terms.tru();
            for ((slot, var), bits) in slots.into_iter().zip(vars).zip(values) {
                let scalar = self.task.program.scalar_of(self.task.program.vars[var].ty);
                let Some(Scalar::Int(ty)) = scalar else { continue };
                let value = constant(terms, ty, bits);
                let equal = terms.eq(slot, value);
                same = terms.and(same, equal);
            }
            let other = terms.not(same);
            solver.assert(terms, other);
        }
        Err(Rejection::GaveUp("a symbolic state stands for too many states".into()))
    }

    fn impossible(&self, terms: &mut Terms, state: &State) -> Result<(), Rejection> {
        let guard = state.guard(terms);
        match self.court.solver().check(terms, &[guard]) {
            Answer::Unsat => Ok(()),
            Answer::Sat => Err(Rejection::Wrong("a reachable state is not covered".into())),
            Answer::Unknown(why) => Err(Rejection::GaveUp(why.to_string())),
        }
    }
}
