//! Non-relational domains: every dimension has its own abstract value.
//!
//! [`Pointwise`] turns a domain of numbers ([`Value`]) into a domain of states, once for all of them.
//! Only values that say something are stored, in a persistent tree, so an element costs what it
//! constrains and operations on related elements cost what differs.

use crate::dim::Dim;
use crate::expr::Tree;
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::linearize;
use crate::machine::MachineInt;
use crate::numeric::{NumericDomain, Thresholds};
use crate::pmap::{PMap, Single};
use palisade_num::Rat;
use std::fmt;

/// An abstract domain of single numbers.
pub trait Value: Clone + PartialEq + fmt::Debug {
    /// Every value that dimension `d` can take.
    fn top(d: Dim) -> Self;
    /// Exactly one number.
    fn constant(v: &Rat) -> Self;
    /// Stands for no number?
    fn is_empty(&self) -> bool;
    /// Inclusion.
    fn leq(&self, other: &Self) -> bool;
    /// An upper bound.
    fn join(&self, other: &Self) -> Self;
    /// Covers the intersection.
    fn meet(&self, other: &Self) -> Self;
    /// Widening; thresholds are ascending.
    fn widen(&self, next: &Self, thresholds: &[Rat]) -> Self;
    /// Narrowing.
    fn narrow(&self, next: &Self) -> Self;
    /// Covers the sums.
    fn add(&self, other: &Self) -> Self;
    /// Covers the multiples by `k`.
    fn scale(&self, k: &Rat) -> Self;
    /// Covers the `x` in `self`, values of dimension `d`, for which `k·x + r` satisfies `rel` for
    /// some `r` in `rest`; `k` is not zero.
    fn refine(&self, d: Dim, k: &Rat, rest: &Self, rel: &Rel) -> Self;
    /// Could a number in `self` satisfy `rel`?
    fn may_hold(&self, rel: &Rel) -> bool;
    /// Removes what dimension `d` cannot take.
    fn restrict(&self, d: Dim) -> Self;
    /// Covers the wrapped integers of `self`.
    fn wrap(&self, ty: MachineInt) -> Self;
    /// The smallest interval around.
    fn to_interval(&self) -> Interval;
    /// From an interval.
    fn from_interval(i: &Interval) -> Self;
    /// Membership.
    fn contains(&self, v: &Rat) -> bool;
    /// The value as constraints on `d`.
    fn constraints(&self, d: Dim) -> Vec<LinCons>;
    /// How often widening can grow the value at most.
    fn height(&self) -> u64;
    /// The value of a tree when this domain can say more than intervals do.
    fn eval_tree(_tree: &Tree, _get: &dyn Fn(Dim) -> Self) -> Option<Self> {
        None
    }
}

/// A value per dimension; see the module's description. `None` is bottom.
#[derive(Clone)]
pub struct Pointwise<V> {
    map: Option<PMap<V>>,
}

/// How often the terms of an assumed constraint refine each other.
const ASSUME_ROUNDS: usize = 3;

impl<V: Value> Pointwise<V> {
    /// The value of a dimension; empty for bottom.
    pub fn get(&self, d: Dim) -> V {
        match &self.map {
            Some(m) => m.get(d).cloned().unwrap_or_else(|| V::top(d)),
            None => V::from_interval(&Interval::EMPTY),
        }
    }

    /// Replaces the value of a dimension. An empty value makes the element bottom.
    pub fn set(&mut self, d: Dim, v: V) {
        let Some(m) = &mut self.map else { return };
        let v = v.restrict(d);
        if v.is_empty() {
            self.map = None;
        } else if V::top(d).leq(&v) {
            m.remove(d);
        } else {
            m.insert(d, v);
        }
    }

    /// The values of the dimensions that are constrained; nothing for bottom.
    pub fn iter(&self) -> impl Iterator<Item = (Dim, &V)> {
        self.map.iter().flat_map(PMap::iter)
    }

    fn eval(&self, e: &LinExpr) -> V {
        let start = V::constant(e.constant_term());
        e.terms().iter().fold(start, |acc, (d, c)| acc.add(&self.get(*d).scale(c)))
    }

    /// Merges with a possibly different widening, join or narrowing per value.
    fn merge(&self, other: &Self, single: Single, mut f: impl FnMut(Dim, &V, &V) -> V) -> Self {
        match (&self.map, &other.map) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(a), Some(b)) => {
                let map = a.merge(b, single, &mut |d, v, w| {
                    let r = f(d, v, w);
                    (!V::top(d).leq(&r)).then_some(r)
                });
                Pointwise { map: Some(map) }
            }
        }
    }

    fn replace(&mut self, new: Self) -> bool {
        let grew = !new.leq(self);
        *self = new;
        grew
    }

    fn widen(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        // A threshold never lies strictly inside equal values, so the merge stays idempotent.
        self.replace(self.merge(next, Single::Drop, |d, v, w| v.widen(w, thresholds.of(d))))
    }
}

impl<V: Value> Lattice for Pointwise<V> {
    fn is_bottom(&self) -> bool {
        self.map.is_none()
    }

    fn leq(&self, other: &Self) -> bool {
        match (&self.map, &other.map) {
            (None, _) => true,
            (_, None) => false,
            (Some(a), Some(b)) => a.same(b) || a.all_of(b, &mut |_, v, w| v.is_some_and(|v| v.leq(w))),
        }
    }

    fn join_with(&mut self, other: &Self) -> bool {
        self.replace(self.merge(other, Single::Drop, |_, v, w| v.join(w)))
    }

    fn meet_with(&mut self, other: &Self) {
        let (Some(a), Some(b)) = (&self.map, &other.map) else {
            self.map = None;
            return;
        };
        let mut empty = false;
        let map = a.merge(b, Single::Keep, &mut |d, v, w| {
            let r = v.meet(w).restrict(d);
            empty |= r.is_empty();
            Some(r)
        });
        self.map = (!empty).then_some(map);
    }

    fn widen_with(&mut self, next: &Self) -> bool {
        self.widen(next, &Thresholds::none())
    }

    fn narrow_with(&mut self, next: &Self) {
        let (Some(a), Some(b)) = (&self.map, &next.map) else {
            self.map = None;
            return;
        };
        // A key that only `next` has refines top.
        let map = a.merge(b, Single::Keep, &mut |_, v, w| Some(v.narrow(w)));
        self.map = Some(map);
    }
}

impl<V: Value> NumericDomain for Pointwise<V> {
    type Ctx = ();

    fn top(_: &()) -> Self {
        Pointwise { map: Some(PMap::new()) }
    }

    fn bottom(_: &()) -> Self {
        Pointwise { map: None }
    }

    fn ctx(&self) {}

    fn support(&self) -> Vec<Dim> {
        self.iter().map(|(d, _)| d).collect()
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        if self.map.is_some() {
            self.set(d, self.eval(e));
        }
    }

    fn assign_parallel(&mut self, assignments: &[(Dim, LinExpr)]) {
        let values: Vec<V> = assignments.iter().map(|(_, e)| self.eval(e)).collect();
        for ((d, _), v) in assignments.iter().zip(values) {
            self.set(*d, v);
        }
    }

    fn assign_interval(&mut self, d: Dim, range: &Interval) {
        self.set(d, V::from_interval(range));
    }

    fn assume(&mut self, c: &LinCons) {
        let c = c.normalize();
        if self.map.is_none() {
            return;
        }
        if c.truth() == Some(false) {
            self.map = None;
            return;
        }
        for _ in 0..ASSUME_ROUNDS {
            let mut changed = false;
            for (d, k) in c.expr.terms() {
                let rest = self.eval(&c.expr.substitute(*d, &LinExpr::constant(0)));
                let old = self.get(*d);
                let new = old.refine(*d, k, &rest, &c.rel).restrict(*d);
                if new != old {
                    changed = true;
                    self.set(*d, new);
                    if self.map.is_none() {
                        return;
                    }
                }
            }
            if !changed || c.expr.terms().len() == 1 {
                break;
            }
        }
        if !self.eval(&c.expr).may_hold(&c.rel) {
            self.map = None;
        }
    }

    fn forget(&mut self, dims: &[Dim]) {
        if let Some(m) = &mut self.map {
            dims.iter().for_each(|d| m.remove(*d));
        }
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        if self.map.is_none() {
            return;
        }
        let values: Vec<V> = map.iter().map(|(from, _)| self.get(*from)).collect();
        self.forget(&map.iter().map(|(from, _)| *from).collect::<Vec<_>>());
        for ((_, to), v) in map.iter().zip(values) {
            self.set(*to, v);
        }
    }

    fn expand(&mut self, original: Dim, copy: Dim) {
        self.set(copy, self.get(original));
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        if self.map.is_none() {
            return Interval::EMPTY;
        }
        let i = self.eval(e).to_interval();
        if e.is_integral() { i.tighten_int() } else { i }
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        match &self.map {
            None => Vec::new(),
            Some(m) => vec![m.iter().flat_map(|(d, v)| v.constraints(d)).collect()],
        }
    }

    fn constraints_on(&self, dims: &[Dim]) -> Vec<LinCons> {
        match &self.map {
            None => vec![LinCons::contradiction()],
            Some(m) => dims.iter().filter_map(|d| Some(m.get(*d)?.constraints(*d))).flatten().collect(),
        }
    }

    fn certificate(&self) -> Option<Vec<u64>> {
        Some(vec![match &self.map {
            None => u64::MAX,
            Some(m) => m.iter().map(|(_, v)| v.height()).sum(),
        }])
    }

    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        self.map.as_ref().is_some_and(|m| m.iter().all(|(d, v)| v.contains(&state(d))))
    }

    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        self.set(d, self.get(d).wrap(ty));
    }

    fn widen_with_thresholds(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        let both = |c: &&LinCons| self.entails(c) && next.entails(c);
        let kept: Vec<LinCons> = thresholds.constraints().iter().filter(both).cloned().collect();
        let grew = self.widen(next, thresholds);
        kept.iter().for_each(|c| self.assume(c));
        grew
    }

    fn assign_tree(&mut self, d: Dim, e: &Tree) {
        if self.is_bottom() {
            return;
        }
        let direct = V::eval_tree(e, &|d| self.get(d));
        linearize::assign_tree(self, d, e);
        if let Some(v) = direct {
            self.set(d, self.get(d).meet(&v));
        }
    }
}

impl<V: Value> fmt::Debug for Pointwise<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}
