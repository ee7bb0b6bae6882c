//! Affine relations modulo `2^w` with the range of every dimension.
//!
//! A machine word is a number of a known range, and its operations are sums that wrap. Relations modulo `2^w`
//! alone ([`Affine`]) cannot tell `y = x + 1` from the same modulo `2^32` for 32-bit words `x` and `y`; they are
//! the same where `x` is below the largest number. So ranges decide how often a sum wraps: an equation modulo
//! `2^n` between values of which only one multiple of `2^n` fits the ranges is an equation.

mod form;

use crate::dim::Dim;
use crate::expr::{CmpOp, Node, Tree};
use crate::interval::Interval;
use crate::ks::{Affine, WordSize};
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::numeric::NumericDomain;
use form::{EXACT, Form, Span, Value, eval};
use palisade_num::{Int, Rat};
use std::fmt;
use std::sync::Arc;

/// A conjunction of affine relations modulo `2^w` between integer dimensions and of bounds of single ones.
#[derive(Clone)]
pub struct Words {
    /// Bottom if this is.
    relations: Affine,
    /// The dimensions with bounds, ascending.
    ranges: Arc<Vec<(Dim, Span)>>,
}

impl Words {
    /// Relations, without bounds.
    pub fn of_relations(relations: Affine) -> Words {
        Words { relations, ranges: Arc::default() }
    }

    /// What holds without bounds.
    pub fn relations(&self) -> &Affine {
        &self.relations
    }

    fn fail(&mut self) {
        *self = Words::bottom(&self.relations.ctx());
    }

    fn range(&self, d: Dim) -> Span {
        self.ranges.binary_search_by_key(&d, |r| r.0).map_or(Span::ALL, |at| self.ranges[at].1)
    }

    /// Keeps the states in which a dimension is in the span.
    fn narrow(&mut self, d: Dim, span: Span) {
        let old = self.range(d);
        let new = old.meet(span);
        if new == old || self.is_bottom() {
            return;
        }
        if new.is_empty() {
            return self.fail();
        }
        let ranges = Arc::make_mut(&mut self.ranges);
        match ranges.binary_search_by_key(&d, |r| r.0) {
            Ok(at) => ranges[at].1 = new,
            Err(at) => ranges.insert(at, (d, new)),
        }
        if new.lo == new.hi {
            self.relations.assume_zero_sum(&[(d, 1)], -new.lo, EXACT);
            self.settle();
        }
    }

    /// Relations that leave a dimension one residue move its bounds to numbers with that residue.
    fn settle(&mut self) {
        for (d, residue, bits) in self.relations.residues() {
            let old = self.range(d);
            if bits >= 120 || !old.is_bounded() {
                continue;
            }
            let (period, residue) = (1i128 << bits, i128::from(residue));
            let lo = old.lo + (residue - old.lo).rem_euclid(period);
            let hi = old.hi - (old.hi - residue).rem_euclid(period);
            self.narrow(d, Span { lo, hi });
        }
        if self.relations.is_bottom() {
            self.fail();
        }
    }

    /// Keeps the states in which the form is in the span: each dimension is bounded by the others.
    fn bound(&mut self, form: &Form, span: Span) {
        let all = form.span(&|d| self.range(d));
        if all.meet(span).is_empty() {
            return self.fail();
        }
        if span.contains(all) {
            return;
        }
        for (i, (d, c)) in form.terms.iter().enumerate() {
            let others = form.terms.iter().enumerate().filter(|(j, _)| *j != i);
            let rest =
                others.fold(Span::point(form.constant), |sum, (_, (d, c))| sum.add(self.range(*d).scale(*c)));
            self.narrow(*d, span.add(rest.scale(-1)).divide(*c));
        }
    }

    /// Keeps the states in which the form is zero modulo `2^bits`, or is zero.
    fn zero(&mut self, form: &Form, bits: u32) {
        let relate = |of: &mut Words, constant: i128, bits: u32| {
            of.relations.assume_zero_sum(&form.terms, constant, bits);
            of.settle();
        };
        if bits == 0 {
            return;
        }
        let span = form.span(&|d| self.range(d));
        let mut only = (bits == EXACT).then_some(0);
        if bits < 120 && span.is_bounded() {
            let period = 1i128 << bits;
            let (first, last) = (-(-span.lo).div_euclid(period), span.hi.div_euclid(period));
            if first > last {
                return self.fail();
            }
            only = (first == last).then_some(first * period);
        }
        match only {
            Some(multiple) => {
                relate(self, form.constant - multiple, EXACT);
                self.bound(form, Span::point(multiple));
            }
            None => relate(self, form.constant, bits),
        }
    }

    /// Keeps the states in which two values are equal.
    fn equate(&mut self, a: &Value, b: &Value) {
        if a.span.meet(b.span).is_empty() {
            return self.fail();
        }
        if let Some(difference) = a.form.add(&b.form, -1) {
            self.zero(&difference, a.bits.min(b.bits));
        }
        self.confine(a, b.span);
        self.confine(b, a.span);
    }

    /// Keeps the states in which `a - b` is not zero.
    fn differ(&mut self, a: &Value, b: &Value) {
        let span = a.span.add(b.span.scale(-1));
        if span.lo == 0 {
            self.less(b, a, 1);
        }
        if span.hi == 0 && !self.is_bottom() {
            self.less(a, b, 1);
        }
    }

    /// Keeps the states in which `a + by ≤ b`.
    fn less(&mut self, a: &Value, b: &Value, by: i128) {
        if let Some(difference) = a.form.add(&b.form, -1).filter(|_| a.bits == EXACT && b.bits == EXACT) {
            return self.bound(&difference, Span { lo: Span::ALL.lo, hi: -by });
        }
        // A value that is not its form is somewhere in its span.
        let (low, high) = (a.span.add(Span::point(by)).lo, b.span.add(Span::point(-by)).hi);
        self.confine(a, Span { lo: Span::ALL.lo, hi: high });
        self.confine(b, Span { lo: low, hi: Span::ALL.hi });
    }

    /// Keeps the states in which a value is in the span.
    fn confine(&mut self, v: &Value, span: Span) {
        let left = v.span.meet(span);
        if left.is_empty() {
            self.fail();
        } else if v.bits == EXACT {
            self.bound(&v.form, left);
        } else if left.lo == left.hi
            && let Some(difference) = v.form.add(&Form::constant(left.lo), -1)
        {
            self.zero(&difference, v.bits);
        }
    }

    /// A linear expression over integer dimensions, multiplied to have integral coefficients.
    fn form(e: &LinExpr) -> Option<Form> {
        let scale = e.terms().iter().fold(e.constant_term().denom().clone(), |q, t| q.lcm(t.1.denom()));
        let e = e.scale(&Rat::from(&scale));
        let number = |c: &Rat| c.to_int()?.to_i128().filter(|c| c.abs() < Span::ALL.hi);
        let term = |(d, c): &(Dim, Rat)| if d.is_int() { Some((*d, number(c)?)) } else { None };
        let terms = e.terms().iter().map(term).collect::<Option<Vec<_>>>()?;
        Some(Form { terms, constant: number(e.constant_term())? })
    }

    /// Gives `d` the value; the dimension's old value may be part of it.
    fn define(&mut self, d: Dim, v: &Value) {
        let fresh = d.fresh();
        if d.is_int() && !self.is_bottom() {
            self.narrow(fresh, v.span);
            self.equate(&Value { form: Form::dim(fresh), bits: EXACT, span: v.span }, v);
        }
        self.rename(&[(fresh, d)]);
    }

    /// Combines the ranges that both have.
    fn with_ranges(&self, other: &Words, f: impl Fn(Span, Span) -> Span) -> Arc<Vec<(Dim, Span)>> {
        let both = self.ranges.iter().map(|(d, s)| (*d, f(*s, other.range(*d))));
        Arc::new(both.filter(|(_, s)| *s != Span::ALL).collect())
    }
}

impl Lattice for Words {
    fn is_bottom(&self) -> bool {
        self.relations.is_bottom()
    }

    fn leq(&self, other: &Self) -> bool {
        self.is_bottom()
            || (self.relations.leq(&other.relations)
                && (Arc::ptr_eq(&self.ranges, &other.ranges)
                    || other.ranges.iter().all(|(d, s)| s.contains(self.range(*d)))))
    }

    fn join_with(&mut self, other: &Self) -> bool {
        if other.leq(self) {
            return false;
        }
        if self.is_bottom() {
            *self = other.clone();
            return true;
        }
        self.ranges = self.with_ranges(other, Span::join);
        self.relations.join_with(&other.relations);
        true
    }

    fn meet_with(&mut self, other: &Self) {
        self.relations.meet_with(&other.relations);
        if self.is_bottom() {
            return self.fail();
        }
        other.ranges.iter().for_each(|(d, s)| self.narrow(*d, *s));
        self.settle();
    }

    /// Relations have short chains; a bound that moves goes.
    fn widen_with(&mut self, next: &Self) -> bool {
        if next.leq(self) {
            return false;
        }
        if self.is_bottom() {
            *self = next.clone();
            return true;
        }
        self.ranges = self.with_ranges(next, |old, new| Span {
            lo: if new.lo < old.lo { Span::ALL.lo } else { old.lo },
            hi: if new.hi > old.hi { Span::ALL.hi } else { old.hi },
        });
        self.relations.join_with(&next.relations);
        true
    }

    /// Takes the relations, and bounds where there are none.
    fn narrow_with(&mut self, next: &Self) {
        if next.is_bottom() {
            return self.fail();
        }
        self.relations = next.relations.clone();
        for (d, s) in next.ranges.iter() {
            let old = self.range(*d);
            let lo = if old.lo == Span::ALL.lo { s.lo } else { old.lo };
            let hi = if old.hi == Span::ALL.hi { s.hi } else { old.hi };
            self.narrow(*d, Span { lo, hi });
        }
    }
}

impl NumericDomain for Words {
    type Ctx = WordSize;

    fn top(size: &WordSize) -> Self {
        Words::of_relations(Affine::top(size))
    }

    fn bottom(size: &WordSize) -> Self {
        Words::of_relations(Affine::bottom(size))
    }

    fn ctx(&self) -> WordSize {
        self.relations.ctx()
    }

    fn support(&self) -> Vec<Dim> {
        let mut dims = self.relations.support();
        dims.extend(self.ranges.iter().map(|r| r.0));
        dims.sort_unstable();
        dims.dedup();
        dims
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        let fresh = d.fresh();
        self.assume(&LinCons { expr: &LinExpr::dim(fresh) - e, rel: Rel::Eq });
        self.rename(&[(fresh, d)]);
    }

    fn assume(&mut self, c: &LinCons) {
        if self.is_bottom() {
            return;
        }
        let c = c.normalize();
        if c.truth() == Some(false) {
            return self.fail();
        }
        let Some(form) = Self::form(&c.expr) else {
            self.relations.assume(&c);
            return self.settle();
        };
        let below = |hi: i128| Span { lo: Span::ALL.lo, hi };
        match &c.rel {
            Rel::Eq => self.zero(&form, EXACT),
            Rel::Le => self.bound(&form, below(0)),
            Rel::Lt => self.bound(&form, below(-1)),
            Rel::Ne => {
                let span = form.span(&|d| self.range(d));
                if span.lo == 0 {
                    self.bound(&form, Span { lo: 1, hi: Span::ALL.hi });
                }
                if span.hi == 0 && !self.is_bottom() {
                    self.bound(&form, below(-1));
                }
            }
            // The normal form has an integral expression.
            Rel::Mod(m) if c.expr.is_integral() => self.zero(&form, m.trailing_zeros().unwrap_or(0)),
            Rel::Mod(_) => {}
        }
    }

    fn forget(&mut self, dims: &[Dim]) {
        self.relations.forget(dims);
        if self.ranges.iter().any(|r| dims.contains(&r.0)) {
            Arc::make_mut(&mut self.ranges).retain(|r| !dims.contains(&r.0));
        }
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        self.relations.rename(map);
        let moved = |d: Dim| map.iter().find(|m| m.0 == d).map(|m| m.1);
        let lost = |d: Dim| map.iter().any(|m| m.1 == d) && moved(d).is_none();
        let stay = self.ranges.iter().filter(|r| !lost(r.0));
        let mut ranges: Vec<(Dim, Span)> = stay.map(|(d, s)| (moved(*d).unwrap_or(*d), *s)).collect();
        ranges.sort_unstable_by_key(|r| r.0);
        self.ranges = Arc::new(ranges);
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        if self.is_bottom() {
            return Interval::EMPTY;
        }
        if e.is_constant() {
            return Interval::point(e.constant_term().clone());
        }
        match Self::form(e).filter(|_| e.is_integral()) {
            Some(form) => form.span(&|d| self.range(d)).to_interval(),
            None => Interval::TOP,
        }
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        let mut out = self.relations.to_constraints();
        let ranges =
            || self.ranges.iter().flat_map(|(d, s)| s.to_interval().constraints_on(&LinExpr::dim(*d)));
        out.iter_mut().for_each(|c| c.extend(ranges()));
        out
    }

    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        let mut e = Tree::new();
        let old = e.dim(d);
        e.wrap(ty, old);
        self.assign_tree(d, &e);
    }

    fn assign_tree(&mut self, d: Dim, e: &Tree) {
        if self.is_bottom() {
            return;
        }
        match eval(e, &|d| self.range(d)).pop() {
            Some(v) => self.define(d, &v),
            None => self.assign(d, &LinExpr::constant(Int::ZERO)),
        }
    }

    fn assume_tree(&mut self, e: &Tree, truth: bool) {
        let Some(root) = e.root() else {
            return if truth {
                self.fail();
            };
        };
        let vals = eval(e, &|d| self.range(d));
        let zero = || {
            let mut zero = Tree::new();
            zero.int(0);
            eval(&zero, &|_| Span::ALL).remove(0)
        };
        let mut work = vec![(root, truth)];
        while let Some((id, truth)) = work.pop() {
            if self.is_bottom() {
                return;
            }
            match (e.node(id), truth) {
                (Node::IsZero(a), _) => work.push((*a, !truth)),
                (Node::All(a, b), true) | (Node::Any(a, b), false) => work.extend([(*a, truth), (*b, truth)]),
                (Node::All(..) | Node::Any(..), _) => {}
                (Node::Cmp(op, a, b), _) => {
                    let (a, b) = (&vals[a.index()], &vals[b.index()]);
                    match (op, truth) {
                        (CmpOp::Eq, true) | (CmpOp::Ne, false) => self.equate(a, b),
                        (CmpOp::Eq, false) | (CmpOp::Ne, true) => self.differ(a, b),
                        (CmpOp::Lt, true) => self.less(a, b, 1),
                        (CmpOp::Lt, false) => self.less(b, a, 0),
                        (CmpOp::Le, true) => self.less(a, b, 0),
                        (CmpOp::Le, false) => self.less(b, a, 1),
                    }
                }
                (_, true) => self.differ(&vals[id.index()], &zero()),
                (_, false) => self.equate(&vals[id.index()], &zero()),
            }
        }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}

#[cfg(test)]
mod tests;
