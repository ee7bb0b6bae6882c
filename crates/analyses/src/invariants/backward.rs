//! Backward iteration from the property (section 6.1).
//!
//! From the error locations backward, a numeric domain over-approximates the states from which an
//! error can be reached. The complement is an under-approximation of the weakest precondition: from
//! a state in it no error can be reached. If the initial states are in it, the program is safe.

use super::inductive::{Candidates, Checked, Clause, houdini};
use super::linear::{Linear, Relation};
use crate::effects::{Effect, Effects, Source};
use crate::location::{Location, Position};
use crate::numeric::{Numeric, NumericMerge};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_domains::{Dim, Dynamic, DynamicCtx, Lattice, LinCons, NumericDomain, Rel, Thresholds};
use palisade_num::Rat;
use palisade_task::Task;
use std::collections::BTreeMap;

/// What backward iteration found out.
#[derive(Clone, Debug)]
pub struct Backward {
    /// For each location from which an error may be reached: in which states, as a disjunction of
    /// conjunctions. Its negation is a sufficient precondition for being safe; at all other
    /// locations that is *true*.
    pub unsafe_states: BTreeMap<LocId, Vec<Vec<LinCons>>>,
    /// The registers that the dimensions of the constraints stand for.
    pub registers: BTreeMap<Dim, VarId>,
    /// The sufficient preconditions for people.
    pub text: BTreeMap<LocId, String>,
    /// Whether the initial states satisfy the precondition at the start.
    pub proved: bool,
}

/// The numeric analysis with the arrows turned around.
struct Reversed<'p> {
    forward: Numeric<'p>,
    effects: Effects<'p>,
}

impl Reversed<'_> {
    /// The states from which a step leads into an element.
    fn pre(&mut self, element: &Dynamic, step: &Step) -> Option<Dynamic> {
        let mut d = element.clone();
        for effect in self.effects.of(step).iter().rev() {
            match effect {
                Effect::Assume(cond, truth) => self.forward.assume_into(&mut d, *cond, *truth),
                Effect::Forget(range) | Effect::ForgetIn(_, range) => {
                    let dims: Vec<Dim> = range.clone().map(Dim::int).collect();
                    d.forget(&dims);
                }
                Effect::Assign(assigned) => self.pre_assign(&mut d, assigned),
            }
            if d.is_bottom() {
                return None;
            }
        }
        Some(d)
    }

    /// { s | s with the new values is in `d` }: the cells are renamed to spare dimensions, which are
    /// required to have the assigned values and then forgotten.
    fn pre_assign(&mut self, d: &mut Dynamic, assigned: &[(u32, Source)]) {
        let spare = self.forward.spare_dim();
        let tracked: Vec<(Dim, u32, Source)> = assigned
            .iter()
            .zip(spare..)
            .filter(|((slot, _), _)| self.forward.int_type_at(*slot).is_some())
            .map(|((slot, source), i)| (Dim::int(i), *slot, *source))
            .collect();
        let map: Vec<(Dim, Dim)> = tracked.iter().map(|(s, slot, _)| (Dim::int(*slot), *s)).collect();
        d.rename(&map);
        for (spare, slot, source) in &tracked {
            self.forward.assume_equal(d, *spare, *slot, *source);
        }
        d.forget(&tracked.iter().map(|(s, ..)| *s).collect::<Vec<_>>());
    }
}

impl AbstractDomain for Reversed<'_> {
    type State = <Numeric<'static> as AbstractDomain>::State;

    fn leq(&mut self, a: &Self::State, b: &Self::State) -> Result<bool, Halt> {
        self.forward.leq(a, b)
    }
    fn join(&mut self, a: &Self::State, b: &Self::State) -> Result<Self::State, Halt> {
        self.forward.join(a, b)
    }
    fn describe(&self, state: &Self::State) -> String {
        self.forward.describe(state)
    }
}

impl Cpa for Reversed<'_> {
    type Precision = ();
    type Key = ();
    type Class = ();

    fn key(&self, _: &Self::State) {}
    fn class(&self, _: &Self::State) {}
    fn digest(&mut self, _: &Self::State, (): ()) -> Option<u64> {
        Some(0)
    }
    fn transfer(
        &mut self,
        state: &Self::State,
        (): &(),
        step: &Step,
        out: &mut Successors<Self::State>,
    ) -> Result<(), Halt> {
        out.extend(self.pre(state.get(), step).map(|d| self.forward.element(d)));
        Ok(())
    }
    fn merges(&self) -> bool {
        true
    }
    fn merge(
        &mut self,
        new: &Self::State,
        reached: &Self::State,
        cx: &MergeContext,
    ) -> Result<Option<Self::State>, Halt> {
        self.forward.merge(new, reached, cx)
    }
    fn narrow(&mut self, upper: &Self::State, lower: &Self::State) -> Result<Self::State, Halt> {
        self.forward.narrow(upper, lower)
    }
}

/// Runs backward over a domain to the fixed point.
pub fn preconditions(task: &Task, context: DynamicCtx, budget: &Budget) -> Result<Backward, Halt> {
    let program = &task.program;
    let graph = program.analyse();
    let merge = NumericMerge::Widening { delay: 2, thresholds: Thresholds::none() };
    let forward = Numeric::new(program, &graph, context, merge);
    let (initial, top) = (forward.initial(), forward.top());
    let cpa = Product::new(Location::backward(program), Reversed { forward, effects: Effects::new(program) });
    let mut errors: Vec<LocId> = task.errors.iter().map(|e| e.loc).collect();
    errors.extend(&task.cuts);
    let starts: Vec<_> = errors.iter().map(|&l| ((Position::At(l), top.clone()), ((), ()))).collect();
    let mut run = Exploration::from_states(cpa.direct(), starts, Order::BreadthFirst);
    if let Status::Stopped(halt) = run.run(budget, Limits::NONE) {
        return Err(halt);
    }
    let entry = task.body().entry;
    let numeric = &run.cpa().right.forward;
    let registers = program.vars.ids().filter_map(|v| Some((numeric.dim(v)?, v))).collect();
    let mut found =
        Backward { unsafe_states: BTreeMap::new(), registers, text: BTreeMap::new(), proved: true };
    for (_, (position, element)) in run.reached().iter() {
        let Position::At(loc) = *position else { continue };
        found.unsafe_states.insert(loc, numeric.constraints(element));
        found.text.insert(loc, format!("!({})", numeric.describe(element)));
        if loc == entry {
            let mut both = initial.get().clone();
            both.meet_with(element.get());
            found.proved &= both.is_bottom();
        }
    }
    Ok(found)
}

/// The preconditions, and those of their parts that are inductive and hold at first: they are invariants.
pub fn invariants(
    task: &Task,
    context: DynamicCtx,
    budget: &Budget,
) -> Result<(Backward, Checked<Clause>), Halt> {
    let found = preconditions(task, context, budget)?;
    let mut candidates: Candidates<Clause> = Candidates::new();
    for head in task.program.analyse().loop_heads(task.program.entry) {
        let states = found.unsafe_states.get(&head).map_or(&[][..], Vec::as_slice);
        candidates.insert(head, states.iter().filter_map(|s| clause(s, &found.registers)).collect());
    }
    let checked = houdini(task, candidates, budget)?;
    Ok((found, checked))
}

/// The negation of a conjunction; what is no linear fact over registers is left out.
fn clause(conjunction: &[LinCons], registers: &BTreeMap<Dim, VarId>) -> Option<Clause> {
    let mut literals = Vec::new();
    for c in conjunction.iter().flat_map(LinCons::negate) {
        let scale = c.expr.integer_scale()?;
        let expr = c.expr.scale(&scale);
        let terms: Option<Vec<(VarId, Rat)>> =
            expr.terms().iter().map(|(d, k)| Some((*registers.get(d)?, k.clone()))).collect();
        let Some(terms) = terms else { continue };
        let turned: Vec<(VarId, Rat)> = terms.iter().map(|(v, k)| (*v, -k)).collect();
        let constant = expr.constant_term();
        let less =
            |terms: &[(VarId, Rat)], constant: Rat| Linear::new(terms, &constant, Relation::NonNegative);
        match c.rel {
            // e <= 0 is -e >= 0, and over the integers e < 0 is -e - 1 >= 0.
            Rel::Le => literals.extend(less(&turned, -constant)),
            Rel::Lt => literals.extend(less(&turned, -constant - Rat::ONE)),
            Rel::Eq => literals.extend(Linear::new(&terms, constant, Relation::Zero)),
            Rel::Ne => {
                literals.extend(less(&turned, -constant - Rat::ONE));
                literals.extend(less(&terms, constant - &Rat::ONE));
            }
            Rel::Mod(_) => {}
        }
    }
    (!literals.is_empty()).then_some(Clause(literals))
}
