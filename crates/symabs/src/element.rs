//! An element of any numeric domain behind one object-safe face.
//!
//! Section 3 asks of a domain: join, meet, and μα̃ of a literal. The algorithms of this crate work on
//! [`Element`]s, so that they are compiled once and a new domain costs them nothing.

use palisade_domains::{Dim, Interval, LinCons, LinExpr, NumericDomain, Tree};
use palisade_num::Rat;
use std::any::Any;
use std::fmt;

/// An element of some domain. Two elements that meet in one operation are of one domain.
pub trait Element: fmt::Debug {
    /// A copy.
    fn copy(&self) -> Value;
    /// All states.
    fn top(&self) -> Value;
    /// No state.
    fn bottom(&self) -> Value;
    /// Stands for no state at all.
    fn is_bottom(&self) -> bool;
    /// The order.
    fn leq(&self, other: &dyn Element) -> bool;
    /// Replaces the element by an upper bound of both.
    fn join_with(&mut self, other: &dyn Element);
    /// Replaces the element by one for (at least) the common states.
    fn meet_with(&mut self, other: &dyn Element);
    /// Widening; returns whether the element grew.
    fn widen_with(&mut self, next: &dyn Element) -> bool;
    /// Narrowing by something below.
    fn narrow_with(&mut self, next: &dyn Element);
    /// Keeps the states that satisfy the constraint.
    fn assume(&mut self, c: &LinCons);
    /// Keeps the states in which the expression is (or is not) zero.
    fn assume_tree(&mut self, e: &Tree, truth: bool);
    /// Lets dimensions take any value.
    fn forget(&mut self, dims: &[Dim]);
    /// Renames dimensions.
    fn rename(&mut self, map: &[(Dim, Dim)]);
    /// The range of an expression.
    fn bounds(&self, e: &LinExpr) -> Interval;
    /// Dimensions that it may constrain.
    fn support(&self) -> Vec<Dim>;
    /// What it says, as a disjunction of conjunctions.
    fn to_constraints(&self) -> Vec<Vec<LinCons>>;
    /// Whether a state belongs to it.
    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool;
    /// For [`Value::get`].
    fn as_any(&self) -> &dyn Any;
}

impl<D: NumericDomain + 'static> Element for D
where
    D::Ctx: 'static,
{
    fn copy(&self) -> Value {
        Value(Box::new(self.clone()))
    }

    fn top(&self) -> Value {
        Value(Box::new(D::top(&self.ctx())))
    }

    fn bottom(&self) -> Value {
        Value(Box::new(D::bottom(&self.ctx())))
    }

    fn is_bottom(&self) -> bool {
        palisade_domains::Lattice::is_bottom(self)
    }

    fn leq(&self, other: &dyn Element) -> bool {
        palisade_domains::Lattice::leq(self, same(other))
    }

    fn join_with(&mut self, other: &dyn Element) {
        palisade_domains::Lattice::join_with(self, same(other));
    }

    fn meet_with(&mut self, other: &dyn Element) {
        palisade_domains::Lattice::meet_with(self, same(other));
    }

    fn widen_with(&mut self, next: &dyn Element) -> bool {
        palisade_domains::Lattice::widen_with(self, same(next))
    }

    fn narrow_with(&mut self, next: &dyn Element) {
        palisade_domains::Lattice::narrow_with(self, same(next));
    }

    fn assume(&mut self, c: &LinCons) {
        NumericDomain::assume(self, c);
    }

    fn assume_tree(&mut self, e: &Tree, truth: bool) {
        NumericDomain::assume_tree(self, e, truth);
    }

    fn forget(&mut self, dims: &[Dim]) {
        NumericDomain::forget(self, dims);
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        NumericDomain::rename(self, map);
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        NumericDomain::bounds(self, e)
    }

    fn support(&self) -> Vec<Dim> {
        NumericDomain::support(self)
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        NumericDomain::to_constraints(self)
    }

    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        NumericDomain::contains(self, state)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The other argument of an operation.
fn same<D: 'static>(other: &dyn Element) -> &D {
    other.as_any().downcast_ref().expect("elements that meet in one operation are of one domain")
}

/// An owned element of some domain.
#[derive(Debug)]
pub struct Value(Box<dyn Element>);

impl Value {
    /// The element of a domain.
    pub fn of<D: NumericDomain + 'static>(element: D) -> Value
    where
        D::Ctx: 'static,
    {
        Value(Box::new(element))
    }

    /// The element, if it is one of this domain.
    pub fn get<D: 'static>(&self) -> Option<&D> {
        self.0.as_any().downcast_ref()
    }

    /// Below each other.
    pub fn equiv(&self, other: &Value) -> bool {
        self.leq(&**other) && other.leq(&**self)
    }

    /// The join.
    pub fn join(&self, other: &Value) -> Value {
        let mut out = self.clone();
        out.join_with(&**other);
        out
    }

    /// The meet.
    pub fn meet(&self, other: &Value) -> Value {
        let mut out = self.clone();
        out.meet_with(&**other);
        out
    }

    /// The element that stands for one state.
    pub fn point(&self, state: &[(Dim, palisade_num::Int)]) -> Value {
        let mut out = self.top();
        for (d, v) in state {
            out.assume(&LinCons::eq(*d, LinExpr::constant(v.clone())));
        }
        out
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        self.0.copy()
    }
}

impl std::ops::Deref for Value {
    type Target = dyn Element;

    fn deref(&self) -> &(dyn Element + 'static) {
        &*self.0
    }
}

impl std::ops::DerefMut for Value {
    fn deref_mut(&mut self) -> &mut (dyn Element + 'static) {
        &mut *self.0
    }
}
