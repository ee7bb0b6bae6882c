//! The simplifying builder: one method per SMT-LIB operator.
//!
//! Each rule keeps the meaning given by [`crate::eval`]; the tests compare every method with an
//! independent reference on all values at small widths.

mod arith;
mod array;
mod bits;
mod boolean;
mod compare;
mod plain;
pub(crate) mod poly;

#[cfg(test)]
mod tests;

use crate::bitvec::BitVec;
use crate::term::{Op, Sort, Term, Terms};

impl Terms {
    fn same_width(&self, a: Term, b: Term) -> u32 {
        let w = self.width(a);
        assert_eq!(w, self.width(b), "operands of one width");
        w
    }

    /// The two branch values of an if-then-else between bit-vector constants.
    fn const_ite(&self, t: Term) -> Option<(Term, BitVec, BitVec)> {
        if self.op(t) != Op::Ite {
            return None;
        }
        let [c, a, b] = *self.args(t) else { return None };
        Some((c, self.value_of(a)?, self.value_of(b)?))
    }

    /// Folds a unary operator on a constant, or on a choice between constants.
    fn fold1(&mut self, a: Term, f: impl Fn(&BitVec) -> BitVec) -> Option<Term> {
        if let Some(v) = self.value_of(a) {
            return Some(self.bv_const(&f(&v)));
        }
        let (c, x, y) = self.const_ite(a)?;
        let (x, y) = (self.bv_const(&f(&x)), self.bv_const(&f(&y)));
        Some(self.ite(c, x, y))
    }

    /// Folds a binary operator on constants, or on a constant and a choice between constants.
    fn fold2(&mut self, a: Term, b: Term, f: impl Fn(&BitVec, &BitVec) -> BitVec) -> Option<Term> {
        if let Some(x) = self.value_of(a) {
            self.fold1(b, |y| f(&x, y))
        } else {
            let y = self.value_of(b)?;
            self.fold1(a, |x| f(x, &y))
        }
    }

    /// As [`Terms::fold2`], for a predicate.
    fn fold_pred(&mut self, a: Term, b: Term, f: impl Fn(&BitVec, &BitVec) -> bool) -> Option<Term> {
        let lift = |terms: &mut Terms, t: Term, g: &dyn Fn(&BitVec) -> bool| {
            if let Some(v) = terms.value_of(t) {
                return Some(terms.bool_const(g(&v)));
            }
            let (c, x, y) = terms.const_ite(t)?;
            let (x, y) = (terms.bool_const(g(&x)), terms.bool_const(g(&y)));
            Some(terms.ite(c, x, y))
        };
        if let Some(x) = self.value_of(a) {
            lift(self, b, &|y| f(&x, y))
        } else {
            let y = self.value_of(b)?;
            lift(self, a, &|x| f(x, &y))
        }
    }

    /// Two terms that differ under every assignment, by a cheap syntactic argument: different
    /// constants, or one base with different constant offsets.
    pub fn surely_different(&self, a: Term, b: Term) -> bool {
        let split = |t: Term| match self.op(t) {
            Op::Const => (None, self.value_of(t)),
            Op::Add => {
                let [x, c] = *self.args(t) else { return (Some(t), None) };
                match self.value_of(c) {
                    Some(v) => (Some(x), Some(v)),
                    None => (Some(t), None),
                }
            }
            _ => (Some(t), None),
        };
        if a == b {
            return false;
        }
        if self.is_bool(a) {
            return self.as_not(a) == Some(b) || self.as_not(b) == Some(a) || (a.0 < 2 && b.0 < 2);
        }
        if !matches!(self.sort(a), Sort::BitVec(_)) {
            return false;
        }
        let ((base_a, offset_a), (base_b, offset_b)) = (split(a), split(b));
        // Same base: an absent offset is zero, and stored offsets are never zero.
        base_a == base_b && offset_a != offset_b || self.as_not(a) == Some(b) || self.as_not(b) == Some(a)
    }

    /// Orders the operands of a commutative operator: constants last, else by creation.
    fn ordered(&self, a: Term, b: Term) -> (Term, Term) {
        let key = |t: Term| (self.is_const(t), t);
        if key(a) <= key(b) { (a, b) } else { (b, a) }
    }
}
