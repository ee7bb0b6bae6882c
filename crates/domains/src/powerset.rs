//! Finite powersets: disjunctions of elements of any domain (Bagnara, "A hierarchy of constraint
//! systems for data-flow analysis", and section 5 of the BOXES paper, equation 20), with the widenings
//! of Bagnara, Hill, Zaffanella, "Widening operators for powerset domains" (STTT 2006), which the
//! BOXES paper compares to.

use crate::dim::Dim;
use crate::expr::Tree;
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::numeric::{NumericDomain, Thresholds};
use palisade_num::{Int, Rat};
use std::fmt;

/// How a widening of the base domain is lifted to sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PowersetWidening {
    /// Sets are first collapsed to at most this many elements.
    Bounded(usize),
    /// When some new element covers no old one (the Egli-Milner order fails), the new set is
    /// collapsed to one element.
    Connector,
    /// The new set is kept as long as a certificate shows progress, then extrapolated,
    /// then collapsed; for base domains without certificates this is [`PowersetWidening::Connector`].
    Certificate,
}

/// What powersets are made from.
#[derive(Clone, Debug)]
pub struct PowersetCtx<C> {
    /// The context of the base domain.
    pub base: C,
    /// The most disjuncts an element may have; beyond, disjuncts are joined.
    pub max_disjuncts: usize,
    /// The lifting of the widening.
    pub widening: PowersetWidening,
}

/// A finite set of base elements that stands for their union. No element is bottom or below
/// another one (it is Ω-reduced). The order is the paper's ⊑_P: every element on the left is below some
/// element on the right, which is sound but does not see when several right elements cover a left one
/// together.
#[derive(Clone)]
pub struct Powerset<D: NumericDomain> {
    ctx: PowersetCtx<D::Ctx>,
    items: Vec<D>,
}

impl<D: NumericDomain> Powerset<D> {
    /// The set with one element.
    pub fn singleton(ctx: &PowersetCtx<D::Ctx>, d: D) -> Self {
        let mut out = Powerset { ctx: ctx.clone(), items: Vec::new() };
        out.add(d);
        out
    }

    /// The disjuncts.
    pub fn disjuncts(&self) -> &[D] {
        &self.items
    }

    /// Adds an element and keeps the set Ω-reduced.
    fn add(&mut self, d: D) {
        if d.is_bottom() || self.items.iter().any(|x| d.leq(x)) {
            return;
        }
        self.items.retain(|x| !x.leq(&d));
        self.items.push(d);
    }

    /// Joins the last disjuncts until at most `limit` are left.
    fn collapse_to(&mut self, limit: usize) {
        while self.items.len() > limit.max(1) {
            let (Some(last), Some(mut before)) = (self.items.pop(), self.items.pop()) else { return };
            before.join_with(&last);
            self.add(before);
        }
    }

    fn replace(&mut self, items: impl IntoIterator<Item = D>) {
        self.items.clear();
        let limit = self.ctx.max_disjuncts;
        for d in items {
            self.add(d);
            self.collapse_to(limit);
        }
    }

    /// Applies a transformer to every disjunct.
    fn map(&mut self, f: impl Fn(&mut D)) {
        let mut items = std::mem::take(&mut self.items);
        items.iter_mut().for_each(f);
        self.replace(items);
    }

    /// The join of all disjuncts.
    pub fn hull(&self) -> D {
        let mut out = D::bottom(&self.ctx.base);
        for d in &self.items {
            out.join_with(d);
        }
        out
    }

    /// Every element of `self` is above one of `old` (with `old ⊑ self`: the Egli-Milner order).
    fn covers_everything_new(&self, old: &Self) -> bool {
        self.items.iter().all(|d| old.items.iter().any(|o| o.leq(d)))
    }

    /// The extrapolation heuristics: every new element that strictly covers an old one is joined by
    /// their widening.
    fn extrapolate(&self, old: &Self, widen: &dyn Fn(&mut D, &D)) -> Self {
        let mut out = self.clone();
        for o in &old.items {
            for d in &self.items {
                if o.leq(d) && !d.leq(o) {
                    let mut w = o.clone();
                    widen(&mut w, d);
                    out.add(w);
                }
            }
        }
        out.collapse_to(self.ctx.max_disjuncts);
        out
    }

    /// The certificates of all disjuncts, largest first.
    fn certificates(&self) -> Option<Vec<Vec<u64>>> {
        let mut out: Vec<Vec<u64>> = self.items.iter().map(D::certificate).collect::<Option<_>>()?;
        out.sort_by(|a, b| b.cmp(a));
        Some(out)
    }

    /// Does going from `old` to `self` make the certificate smaller: that of the hull, or for equal
    /// hulls the multiset of those of the disjuncts?
    fn progresses(&self, old: &Self) -> Option<bool> {
        let (a, b) = (old.hull().certificate()?, self.hull().certificate()?);
        Some(match b.cmp(&a) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            // Sorted descending, the multiset order is lexicographic.
            std::cmp::Ordering::Equal => self.certificates()? < old.certificates()?,
        })
    }

    fn widen_by(&mut self, next: &Self, widen: &dyn Fn(&mut D, &D)) -> bool {
        if next.leq(self) {
            return false;
        }
        if self.items.is_empty() {
            *self = next.clone();
            return true;
        }
        let new = self.join(next);
        let widened_hull = |old: &Self, new: &Self| {
            let mut w = old.hull();
            widen(&mut w, &new.hull());
            Powerset { ctx: old.ctx.clone(), items: vec![w] }
        };
        let connected = |mut new: Self, old: &Self| {
            if !new.covers_everything_new(old) {
                new.items = vec![new.hull()];
            }
            new.extrapolate(old, widen)
        };
        *self = match self.ctx.widening {
            PowersetWidening::Bounded(k) => {
                let mut new = new;
                new.collapse_to(k);
                let mut old = self.clone();
                old.collapse_to(k);
                connected(new, &old)
            }
            PowersetWidening::Connector => connected(new, self),
            PowersetWidening::Certificate => match new.progresses(self) {
                Some(true) => new,
                Some(false) => {
                    let more = new.extrapolate(self, widen);
                    if more.progresses(self) == Some(true) { more } else { widened_hull(self, &new) }
                }
                None => connected(new, self),
            },
        };
        true
    }
}

impl<D: NumericDomain> Lattice for Powerset<D> {
    fn is_bottom(&self) -> bool {
        self.items.is_empty()
    }

    fn leq(&self, other: &Self) -> bool {
        self.items.iter().all(|a| other.items.iter().any(|b| a.leq(b)))
    }

    fn join_with(&mut self, other: &Self) -> bool {
        if other.leq(self) {
            return false;
        }
        for d in &other.items {
            self.add(d.clone());
        }
        self.collapse_to(self.ctx.max_disjuncts);
        true
    }

    fn meet_with(&mut self, other: &Self) {
        let old = std::mem::take(&mut self.items);
        // A disjunct that `other` contains stays whole, so that a ⊑ b gives a ⊓ b = a.
        let meets = old.iter().flat_map(|a| {
            if other.items.iter().any(|b| a.leq(b)) {
                return vec![a.clone()];
            }
            other.items.iter().map(|b| a.meet(b)).collect()
        });
        let meets: Vec<D> = meets.collect();
        self.items.clear();
        meets.into_iter().for_each(|d| self.add(d));
        if self.items.len() > self.ctx.max_disjuncts {
            // Joining could leave the left operand; the operand itself is a sound answer.
            self.items = old;
        }
    }

    fn widen_with(&mut self, next: &Self) -> bool {
        self.widen_by(next, &|a, b| {
            a.widen_with(b);
        })
    }

    /// Narrows only between sets of one element each, where the base domain knows how.
    fn narrow_with(&mut self, next: &Self) {
        if next.items.is_empty() {
            self.items.clear();
        } else if let ([a], [b]) = (self.items.as_mut_slice(), next.items.as_slice()) {
            a.narrow_with(b);
        }
    }
}

impl<D: NumericDomain> NumericDomain for Powerset<D> {
    type Ctx = PowersetCtx<D::Ctx>;

    fn top(ctx: &Self::Ctx) -> Self {
        Powerset { ctx: ctx.clone(), items: vec![D::top(&ctx.base)] }
    }

    fn bottom(ctx: &Self::Ctx) -> Self {
        Powerset { ctx: ctx.clone(), items: Vec::new() }
    }

    fn ctx(&self) -> Self::Ctx {
        self.ctx.clone()
    }

    fn support(&self) -> Vec<Dim> {
        let mut dims: Vec<Dim> = self.items.iter().flat_map(D::support).collect();
        dims.sort_unstable();
        dims.dedup();
        dims
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        self.map(|x| x.assign(d, e));
    }

    fn assign_parallel(&mut self, assignments: &[(Dim, LinExpr)]) {
        self.map(|x| x.assign_parallel(assignments));
    }

    fn assign_interval(&mut self, d: Dim, range: &Interval) {
        self.map(|x| x.assign_interval(d, range));
    }

    fn assume(&mut self, c: &LinCons) {
        if c.rel != Rel::Ne {
            return self.map(|x| x.assume(c));
        }
        // Either side of the hyperplane is a disjunct of its own.
        let side = |e: LinExpr| LinCons { expr: e, rel: Rel::Lt };
        let (below, above) = (side(c.expr.clone()), side(-&c.expr));
        let old = std::mem::take(&mut self.items);
        for d in &old {
            let (mut a, mut b, mut whole) = (d.clone(), d.clone(), d.clone());
            a.assume(&below);
            b.assume(&above);
            whole.assume(c);
            self.add(a);
            self.add(b);
            if self.items.len() > self.ctx.max_disjuncts {
                // No room for both sides; what the base domain makes of it is sound.
                self.items.clear();
                old.iter().for_each(|d| {
                    let mut whole = d.clone();
                    whole.assume(c);
                    self.add(whole);
                });
                return;
            }
        }
    }

    fn forget(&mut self, dims: &[Dim]) {
        self.map(|x| x.forget(dims));
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        self.map(|x| x.rename(map));
    }

    fn expand(&mut self, original: Dim, copy: Dim) {
        self.forget(&[copy]);
        let mut twin = self.clone();
        twin.rename(&[(original, copy)]);
        // The two copies may come from different disjuncts.
        self.meet_with(&twin);
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        self.items.iter().fold(Interval::EMPTY, |i, d| i.join(&d.bounds(e)))
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        self.items.iter().flat_map(D::to_constraints).collect()
    }

    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        self.items.iter().any(|d| d.contains(state))
    }

    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        let old = std::mem::take(&mut self.items);
        let mut out = Vec::new();
        for x in old {
            // A disjunct per period that the range touches.
            let ends = x.bounds_of(d).int_ends();
            let periods = ends.map(|(lo, hi)| (ty.period(&lo), ty.period(&hi)));
            match periods {
                Some((first, last)) if first < last && &last - &first < Int::from(self.ctx.max_disjuncts) => {
                    let mut k = first;
                    while k <= last {
                        let base = k.shl(ty.width);
                        let mut piece = x.clone();
                        piece.assume(&LinCons::ge(d, LinExpr::constant(ty.min() + &base)));
                        piece.assume(&LinCons::le(d, LinExpr::constant(ty.max() + &base)));
                        piece.wrap(d, ty);
                        out.push(piece);
                        k += Int::ONE;
                    }
                }
                _ => {
                    let mut whole = x;
                    whole.wrap(d, ty);
                    out.push(whole);
                }
            }
        }
        self.replace(out);
    }

    fn assign_tree(&mut self, d: Dim, e: &Tree) {
        // Each disjunct by itself: conditional expressions split it further.
        let old = std::mem::take(&mut self.items);
        let mut out = Vec::new();
        for x in old {
            let mut one = Powerset::singleton(&self.ctx, x.clone());
            crate::linearize::assign_tree(&mut one, d, e);
            let mut direct = x;
            direct.assign_tree(d, e);
            // The base domain may know more, or know the same in one piece.
            let one = Powerset::singleton(&self.ctx, direct).meet(&one);
            out.extend(one.items);
        }
        self.replace(out);
    }

    fn assume_tree(&mut self, e: &Tree, truth: bool) {
        self.map(|x| x.assume_tree(e, truth));
        let before = self.clone();
        crate::linearize::assume_tree(self, e, truth);
        if !self.leq(&before) {
            // Splitting met the limit on disjuncts and joined across them.
            *self = before;
        }
    }

    fn widen_with_thresholds(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        self.widen_by(next, &|a, b| {
            a.widen_with_thresholds(b, thresholds);
        })
    }
}

impl<D: NumericDomain> fmt::Debug for Powerset<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Congruences, Intervals, Limits, Octagons, Polyhedra};

    fn ctx<C>(base: C, widening: PowersetWidening) -> PowersetCtx<C> {
        PowersetCtx { base, max_disjuncts: 5, widening }
    }

    mod bounded_boxes {
        use super::*;
        crate::laws::laws!(Powerset<Intervals>, ctx((), PowersetWidening::Bounded(3)));
    }

    mod connected_octagons {
        use super::*;
        crate::laws::laws!(Powerset<Octagons>, ctx(Limits::STANDARD, PowersetWidening::Connector));
    }

    mod certified_boxes {
        use super::*;
        crate::laws::laws!(Powerset<Intervals>, ctx((), PowersetWidening::Certificate));
    }

    mod certified_polyhedra {
        use super::*;
        crate::laws::laws!(Powerset<Polyhedra>, ctx(Limits::STANDARD, PowersetWidening::Certificate));
    }

    mod connected_congruences {
        use super::*;
        crate::laws::laws!(Powerset<Congruences>, ctx((), PowersetWidening::Connector));
    }

    fn range(lo: i64, hi: i64) -> Powerset<Intervals> {
        let mut p = Powerset::top(&ctx((), PowersetWidening::Connector));
        p.assign_interval(Dim::rat(0), &Interval::closed(lo, hi));
        p
    }

    #[test]
    fn the_order_does_not_see_joint_covers() {
        // Section 5 of the BOXES paper: {0 ≤ x < 2} and {0 ≤ x < 1, 1 ≤ x < 2}.
        let x = Dim::rat(0);
        let cut = |lo: i64, hi: i64| {
            let mut p = range(lo, hi);
            p.assume(&LinCons::lt(x, hi));
            p
        };
        let (whole, halves) = (cut(0, 2), cut(0, 1).join(&cut(1, 2)));
        assert!(halves.leq(&whole) && !whole.leq(&halves));
    }

    #[test]
    fn disequality_splits_exactly() {
        let mut p = range(0, 4);
        p.assume(&LinCons::ne(Dim::rat(0), 2));
        assert_eq!(p.disjuncts().len(), 2);
        assert!(!p.contains(&|_| Rat::from(2)) && p.contains(&|_| Rat::from(3)));
    }

    #[test]
    fn wrapping_gives_a_disjunct_per_period() {
        let x = Dim::int(0);
        let mut p = Powerset::<Intervals>::top(&ctx((), PowersetWidening::Connector));
        p.assign_interval(x, &Interval::closed(250, 260));
        p.wrap(x, MachineInt::unsigned(8));
        assert_eq!(format!("{p:?}"), "x0 >= 250 && x0 <= 255 || x0 >= 0 && x0 <= 4");
    }
}
