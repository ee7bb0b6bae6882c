//! Components whose types are not known before the program runs, so that a composite can be named on the
//! command line.
//!
//! The states, precisions, keys and classes of an analysis have types of their own. A [`Part`] wraps an analysis
//! so that they do not show: states and precisions become [`Opaque`], keys and classes numbers. What comes back is
//! always what the same part gave away.

use palisade_cfa::{ExprId, LocId};
use palisade_cpa::*;
use palisade_evidence::Invariants;
use rustc_hash::FxHashMap;
use std::any::Any;
use std::cell::RefCell;
use std::hash::Hash;
use std::marker::PhantomData;
use std::rc::Rc;

/// A state or precision of some type.
#[derive(Clone)]
pub struct Opaque(Rc<dyn Stored>);

trait Stored {
    fn same(&self, other: &dyn Any) -> bool;
    fn any(&self) -> &dyn Any;
}

impl<T: PartialEq + 'static> Stored for T {
    fn same(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
    fn any(&self) -> &dyn Any {
        self
    }
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0.same(other.0.any())
    }
}

impl Opaque {
    /// Hides the type of a value.
    pub fn new<T: PartialEq + 'static>(value: T) -> Self {
        Opaque(Rc::new(value))
    }

    /// The value, for the part that it is from.
    pub fn get<T: 'static>(&self) -> &T {
        match self.0.any().downcast_ref() {
            Some(value) => value,
            None => unreachable!("a state goes back to the part that it came from"),
        }
    }
}

/// An analysis that can be a part of a composite: [`Cpa`] without types of its own, and what a certificate says.
pub trait Component {
    /// What a state says, as an expression; `None` if that is nothing.
    fn formula(&mut self, state: &Opaque, pool: &mut Invariants) -> Option<ExprId>;

    /// ⊑, as in [`AbstractDomain`]; the following ones as in [`Cpa`].
    fn leq(&mut self, a: &Opaque, b: &Opaque) -> Result<bool, Halt>;
    /// ⊔.
    fn join(&mut self, a: &Opaque, b: &Opaque) -> Result<Opaque, Halt>;
    /// For a reader.
    fn describe(&self, state: &Opaque) -> String;
    /// The partition.
    fn key(&self, state: &Opaque) -> u32;
    /// The class in the partition.
    fn class(&self, state: &Opaque) -> u32;
    /// The state as seen through a class.
    fn digest(&mut self, state: &Opaque, class: u32) -> Option<u64>;
    /// The steps that may be possible.
    fn steps(&mut self, state: &Opaque, site: ReturnSite, out: &mut Vec<Step>);
    /// ↝.
    fn transfer(
        &mut self,
        state: &Opaque,
        precision: &Opaque,
        step: &Step,
        out: &mut Successors<Opaque>,
    ) -> Result<(), Halt>;
    /// ↓.
    fn strengthen(
        &mut self,
        state: Opaque,
        precision: &Opaque,
        step: &Step,
        others: &mut dyn Facts,
    ) -> Result<Option<Opaque>, Halt>;
    /// ≼.
    fn compare(&mut self, state: &Opaque, others: &mut dyn Facts) -> Result<bool, Halt>;
    /// Whether it ever merges.
    fn merges(&self) -> bool;
    /// merge.
    fn merge(&mut self, new: &Opaque, reached: &Opaque, cx: &MergeContext) -> Result<Option<Opaque>, Halt>;
    /// stop.
    fn stop_op(&self) -> StopOp;
    /// Whether it ever adjusts.
    fn adjusts(&self) -> bool;
    /// prec.
    fn adjust(
        &mut self,
        state: Opaque,
        precision: &Opaque,
        reached: &dyn Section<Opaque>,
    ) -> Result<Adjusted<Opaque, Opaque>, Halt>;
    /// A state between two.
    fn narrow(&mut self, upper: &Opaque, lower: &Opaque) -> Result<Opaque, Halt>;
    /// The location.
    fn location(&self, state: &Opaque) -> Option<LocId>;
    /// Where the current function returns to.
    fn return_site(&self, state: &Opaque) -> ReturnSite;
    /// The number of calls that have not returned.
    fn call_depth(&self, state: &Opaque) -> u32;
    /// Whether the state is an error.
    fn target(&self, state: &Opaque) -> Option<Target>;
    /// Answers what another component asks.
    fn answer(&mut self, state: &Opaque, query: &mut Query<'_>) -> Result<(), Halt>;
}

/// Values by number, in the order in which they are met.
struct Numbers<T> {
    known: FxHashMap<T, u32>,
    all: Vec<T>,
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    fn of(&mut self, value: T) -> u32 {
        *self.known.entry(value).or_insert_with_key(|value| {
            self.all.push(value.clone());
            self.all.len() as u32 - 1
        })
    }
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { known: FxHashMap::default(), all: Vec::new() }
    }
}

/// An analysis as a component; `F` tells what its states say.
pub struct Part<C: Cpa, F> {
    cpa: C,
    formula: F,
    keys: RefCell<Numbers<C::Key>>,
    classes: RefCell<Numbers<C::Class>>,
}

impl<C: Cpa, F> Part<C, F> {
    /// Wraps an analysis.
    pub fn new(cpa: C, formula: F) -> Self {
        Part { cpa, formula, keys: RefCell::default(), classes: RefCell::default() }
    }
}

/// Opaque states for the analysis that knows their type.
struct Typed<'a, S>(&'a dyn Section<Opaque>, PhantomData<S>);

impl<S: 'static> Section<S> for Typed<'_, S> {
    fn visit(&self, f: &mut dyn FnMut(&S) -> bool) {
        self.0.visit(&mut |state| f(state.get()));
    }
}

impl<C, F> Component for Part<C, F>
where
    C: Cpa<State: 'static, Precision: 'static>,
    F: FnMut(&mut C, &C::State, &mut Invariants) -> Option<ExprId>,
{
    fn formula(&mut self, state: &Opaque, pool: &mut Invariants) -> Option<ExprId> {
        (self.formula)(&mut self.cpa, state.get(), pool)
    }

    fn leq(&mut self, a: &Opaque, b: &Opaque) -> Result<bool, Halt> {
        self.cpa.leq(a.get(), b.get())
    }
    fn join(&mut self, a: &Opaque, b: &Opaque) -> Result<Opaque, Halt> {
        self.cpa.join(a.get(), b.get()).map(Opaque::new)
    }
    fn describe(&self, state: &Opaque) -> String {
        self.cpa.describe(state.get())
    }
    fn key(&self, state: &Opaque) -> u32 {
        self.keys.borrow_mut().of(self.cpa.key(state.get()))
    }
    fn class(&self, state: &Opaque) -> u32 {
        self.classes.borrow_mut().of(self.cpa.class(state.get()))
    }
    fn digest(&mut self, state: &Opaque, class: u32) -> Option<u64> {
        let class = self.classes.borrow().all[class as usize];
        self.cpa.digest(state.get(), class)
    }
    fn steps(&mut self, state: &Opaque, site: ReturnSite, out: &mut Vec<Step>) {
        self.cpa.steps(state.get(), site, out);
    }
    fn transfer(
        &mut self,
        state: &Opaque,
        precision: &Opaque,
        step: &Step,
        out: &mut Successors<Opaque>,
    ) -> Result<(), Halt> {
        let mut all = Successors::new();
        self.cpa.transfer(state.get(), precision.get(), step, &mut all)?;
        out.extend(all.into_iter().map(Opaque::new));
        Ok(())
    }
    fn strengthen(
        &mut self,
        state: Opaque,
        precision: &Opaque,
        step: &Step,
        others: &mut dyn Facts,
    ) -> Result<Option<Opaque>, Halt> {
        let state = state.get::<C::State>().clone();
        Ok(self.cpa.strengthen(state, precision.get(), step, others)?.map(Opaque::new))
    }
    fn compare(&mut self, state: &Opaque, others: &mut dyn Facts) -> Result<bool, Halt> {
        self.cpa.compare(state.get(), others)
    }
    fn merges(&self) -> bool {
        self.cpa.merges()
    }
    fn merge(&mut self, new: &Opaque, reached: &Opaque, cx: &MergeContext) -> Result<Option<Opaque>, Halt> {
        Ok(self.cpa.merge(new.get(), reached.get(), cx)?.map(Opaque::new))
    }
    fn stop_op(&self) -> StopOp {
        self.cpa.stop_op()
    }
    fn adjusts(&self) -> bool {
        self.cpa.adjusts()
    }
    fn adjust(
        &mut self,
        state: Opaque,
        precision: &Opaque,
        reached: &dyn Section<Opaque>,
    ) -> Result<Adjusted<Opaque, Opaque>, Halt> {
        let state = state.get::<C::State>().clone();
        let adjusted = self.cpa.adjust(state, precision.get(), &Typed(reached, PhantomData))?;
        let precision = adjusted.precision.map(Opaque::new);
        Ok(Adjusted { state: Opaque::new(adjusted.state), precision })
    }
    fn narrow(&mut self, upper: &Opaque, lower: &Opaque) -> Result<Opaque, Halt> {
        self.cpa.narrow(upper.get(), lower.get()).map(Opaque::new)
    }
    fn location(&self, state: &Opaque) -> Option<LocId> {
        self.cpa.location(state.get())
    }
    fn return_site(&self, state: &Opaque) -> ReturnSite {
        self.cpa.return_site(state.get())
    }
    fn call_depth(&self, state: &Opaque) -> u32 {
        self.cpa.call_depth(state.get())
    }
    fn target(&self, state: &Opaque) -> Option<Target> {
        self.cpa.target(state.get())
    }
    fn answer(&mut self, state: &Opaque, query: &mut Query<'_>) -> Result<(), Halt> {
        self.cpa.answer(state.get(), query)
    }
}

/// A component of any type.
pub struct Erased<'p>(pub Box<dyn Component + 'p>);

impl AbstractDomain for Erased<'_> {
    type State = Opaque;

    fn leq(&mut self, a: &Opaque, b: &Opaque) -> Result<bool, Halt> {
        self.0.leq(a, b)
    }
    fn join(&mut self, a: &Opaque, b: &Opaque) -> Result<Opaque, Halt> {
        self.0.join(a, b)
    }
    fn describe(&self, state: &Opaque) -> String {
        self.0.describe(state)
    }
}

impl Cpa for Erased<'_> {
    type Precision = Opaque;
    type Key = u32;
    type Class = u32;

    fn key(&self, state: &Opaque) -> u32 {
        self.0.key(state)
    }
    fn class(&self, state: &Opaque) -> u32 {
        self.0.class(state)
    }
    fn digest(&mut self, state: &Opaque, class: u32) -> Option<u64> {
        self.0.digest(state, class)
    }
    fn steps(&mut self, state: &Opaque, site: ReturnSite, out: &mut Vec<Step>) {
        self.0.steps(state, site, out);
    }
    fn transfer(
        &mut self,
        state: &Opaque,
        precision: &Opaque,
        step: &Step,
        out: &mut Successors<Opaque>,
    ) -> Result<(), Halt> {
        self.0.transfer(state, precision, step, out)
    }
    fn strengthen(
        &mut self,
        state: Opaque,
        precision: &Opaque,
        step: &Step,
        others: &mut dyn Facts,
    ) -> Result<Option<Opaque>, Halt> {
        self.0.strengthen(state, precision, step, others)
    }
    fn compare(&mut self, state: &Opaque, others: &mut dyn Facts) -> Result<bool, Halt> {
        self.0.compare(state, others)
    }
    fn merges(&self) -> bool {
        self.0.merges()
    }
    fn merge(&mut self, new: &Opaque, reached: &Opaque, cx: &MergeContext) -> Result<Option<Opaque>, Halt> {
        self.0.merge(new, reached, cx)
    }
    fn stop_op(&self) -> StopOp {
        self.0.stop_op()
    }
    fn adjusts(&self) -> bool {
        self.0.adjusts()
    }
    fn adjust(
        &mut self,
        state: Opaque,
        precision: &Opaque,
        reached: &dyn Section<Opaque>,
    ) -> Result<Adjusted<Opaque, Opaque>, Halt> {
        self.0.adjust(state, precision, reached)
    }
    fn narrow(&mut self, upper: &Opaque, lower: &Opaque) -> Result<Opaque, Halt> {
        self.0.narrow(upper, lower)
    }
    fn location(&self, state: &Opaque) -> Option<LocId> {
        self.0.location(state)
    }
    fn return_site(&self, state: &Opaque) -> ReturnSite {
        self.0.return_site(state)
    }
    fn call_depth(&self, state: &Opaque) -> u32 {
        self.0.call_depth(state)
    }
    fn target(&self, state: &Opaque) -> Option<Target> {
        self.0.target(state)
    }
    fn answer(&mut self, state: &Opaque, query: &mut Query<'_>) -> Result<(), Halt> {
        self.0.answer(state, query)
    }
}
