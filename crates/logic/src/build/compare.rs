//! Equality and order of bit-vectors.

use crate::bitvec::BitVec;
use crate::term::{NONE, Op, Sort, Term, Terms};

/// How far an equation is followed into nested choices.
const CHOICES: usize = 64;

/// One step of simplifying an equation.
enum Step {
    /// It is this term.
    Done(Term),
    /// It is the equation of these two.
    Again(Term, Term),
    /// It is `cond ? value : x = y`, or with the branches exchanged.
    Choice { cond: Term, then_is: Option<bool>, else_is: Option<bool>, rest: (Term, Term) },
}

impl Terms {
    /// Equality of bit-vectors. A loop, because operators may be nested deeply.
    pub(super) fn eq_bv(&mut self, a: Term, b: Term) -> Term {
        self.eq_loop(a, b, true)
    }

    /// Equality of bit-vectors, as polynomials only if asked for.
    pub(super) fn eq_loop(&mut self, a: Term, b: Term, polynomials: bool) -> Term {
        let (mut a, mut b) = (a, b);
        let mut choices = Vec::new();
        let mut result = loop {
            if a == b {
                break self.tru();
            }
            if self.surely_different(a, b) {
                break self.fls();
            }
            (a, b) = self.ordered(a, b);
            if choices.len() == CHOICES {
                break self.intern2(Op::Eq, Sort::Bool, a, b);
            }
            match self.eq_step(a, b, polynomials) {
                Step::Done(t) => break t,
                Step::Again(x, y) => (a, b) = (x, y),
                Step::Choice { cond, then_is, else_is, rest } => {
                    choices.push((cond, then_is, else_is));
                    (a, b) = rest;
                }
            }
        };
        for (cond, then_is, else_is) in choices.into_iter().rev() {
            let then = then_is.map_or(result, |v| self.bool_const(v));
            let other = else_is.map_or(result, |v| self.bool_const(v));
            result = self.ite(cond, then, other);
        }
        result
    }

    /// A step for different terms; a constant, if any, is `b`.
    fn eq_step(&mut self, a: Term, b: Term, polynomials: bool) -> Step {
        if let Some(t) = self.fold_pred(a, b, |x, y| x == y) {
            return Step::Done(t);
        }
        if let Some(step) = self.eq_inverse(a, b).or_else(|| self.eq_inverse(b, a)) {
            return step;
        }
        if let Some(v) = self.value_of(b) {
            if self.width(a) == 1 && v.is_zero() {
                let one = self.bv(1, 1);
                let t = self.eq(a, one);
                return Step::Done(self.not(t));
            }
            if self.op(a) == Op::Concat {
                return Step::Done(self.eq_parts(a, b));
            }
        }
        if self.op(a) == Op::Concat && self.op(b) == Op::Concat {
            return Step::Done(self.eq_parts(a, b));
        }
        if let Some(step) = self.eq_choice(a, b).or_else(|| self.eq_choice(b, a)) {
            return step;
        }
        if polynomials && let Some(t) = self.eq_polynomial(a, b) {
            return Step::Done(t);
        }
        Step::Done(self.intern2(Op::Eq, Sort::Bool, a, b))
    }

    /// Whether two terms are surely equal or surely different.
    fn decided(&self, a: Term, b: Term) -> Option<bool> {
        if a == b { Some(true) } else { self.surely_different(a, b).then_some(false) }
    }

    /// A choice one branch of which is decided leaves the other branch.
    fn eq_choice(&self, choice: Term, x: Term) -> Option<Step> {
        if self.op(choice) != Op::Ite {
            return None;
        }
        let (cond, t, e) = (self.arg(choice, 0), self.arg(choice, 1), self.arg(choice, 2));
        // The other side may choose by the same condition.
        let (x_then, x_else) = if self.op(x) == Op::Ite && self.arg(x, 0) == cond {
            (self.arg(x, 1), self.arg(x, 2))
        } else {
            (x, x)
        };
        if let Some(v) = self.decided(t, x_then) {
            return Some(Step::Choice { cond, then_is: Some(v), else_is: None, rest: (e, x_else) });
        }
        let v = self.decided(e, x_else)?;
        Some(Step::Choice { cond, then_is: None, else_is: Some(v), rest: (t, x_then) })
    }

    /// Part by part, over the boundaries of both sides.
    fn eq_parts(&mut self, a: Term, b: Term) -> Term {
        let mut acc = self.tru();
        for (x, y) in self.aligned(a, b) {
            let t = self.eq(x, y);
            acc = self.and(acc, t);
        }
        acc
    }

    /// Moves an injective operator of `a` to the other side, where that makes the equation
    /// smaller.
    fn eq_inverse(&mut self, a: Term, b: Term) -> Option<Step> {
        let constant = self.value_of(b);
        match self.op(a) {
            Op::Not => {
                let other = if constant.is_some() { self.not(b) } else { self.as_not(b)? };
                Some(Step::Again(self.arg(a, 0), other))
            }
            Op::Neg => {
                let other = if constant.is_some() {
                    self.neg(b)
                } else if self.op(b) == Op::Neg {
                    self.arg(b, 0)
                } else {
                    return None;
                };
                Some(Step::Again(self.arg(a, 0), other))
            }
            Op::Add => self.eq_inverse_add(a, b, constant),
            Op::Xor => {
                let (x, y) = (self.arg(a, 0), self.arg(a, 1));
                if constant?.is_zero() {
                    return Some(Step::Again(x, y));
                }
                self.is_const(y).then(|| Step::Again(x, self.bvxor(y, b)))
            }
            Op::Mul => {
                // Odd factors have an inverse.
                let (x, factor) = (self.arg(a, 0), self.value_of(self.arg(a, 1))?);
                let inverse = factor.inverse()?;
                if let Some(v) = constant {
                    return Some(Step::Again(x, self.bv_const(&v.mul(&inverse))));
                }
                let same = self.op(b) == Op::Mul && self.arg(b, 1) == self.arg(a, 1);
                same.then(|| Step::Again(x, self.arg(b, 0)))
            }
            Op::SignExtend => {
                let x = self.arg(a, 0);
                let (w, wx) = (self.width(a), self.width(x));
                if let Some(v) = constant {
                    let low = v.extract(wx - 1, 0);
                    if low.sign_extend(w - wx) != v {
                        return Some(Step::Done(self.fls()));
                    }
                    return Some(Step::Again(x, self.bv_const(&low)));
                }
                if self.op(b) == Op::SignExtend {
                    let y = self.arg(b, 0);
                    return (self.width(y) == wx).then_some(Step::Again(x, y));
                }
                None
            }
            _ => None,
        }
    }

    fn eq_inverse_add(&mut self, a: Term, b: Term, constant: Option<BitVec>) -> Option<Step> {
        let (x, y) = (self.arg(a, 0), self.arg(a, 1));
        if x == b || y == b {
            let zero = self.bv_const(&BitVec::zero(self.width(a)));
            return Some(Step::Again(if x == b { y } else { x }, zero));
        }
        if self.is_const(y) {
            // x + c = d, or x + c = y + d.
            let offset = self.op(b) == Op::Add && self.is_const(self.arg(b, 1));
            return (constant.is_some() || offset).then(|| Step::Again(x, self.sub(b, y)));
        }
        if self.op(b) == Op::Add {
            let (u, v) = (self.arg(b, 0), self.arg(b, 1));
            for (p, q, r, s) in [(x, y, u, v), (x, y, v, u), (y, x, u, v), (y, x, v, u)] {
                if p == r {
                    return Some(Step::Again(q, s));
                }
            }
        }
        // x + -y = 0 is x = y.
        if constant?.is_zero() {
            if self.op(y) == Op::Neg {
                return Some(Step::Again(x, self.arg(y, 0)));
            }
            if self.op(x) == Op::Neg {
                return Some(Step::Again(self.arg(x, 0), y));
            }
        }
        None
    }

    /// Unsigned less-than (`bvult`).
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        if self.is_plain() {
            self.same_width(a, b);
            return self.plain_term(Op::Ult, Sort::Bool, [a, b, NONE]);
        }
        let (a, b) = self.strip_order(a, b);
        let w = self.same_width(a, b);
        if a == b {
            return self.fls();
        }
        if let Some(t) = self.fold_pred(a, b, BitVec::ult) {
            return t;
        }
        if let Some(v) = self.value_of(b) {
            if v.is_zero() {
                return self.fls();
            }
            if v.is_one() {
                let zero = self.bv(w, 0);
                return self.eq(a, zero);
            }
            if v.is_ones() {
                return self.ne(a, b);
            }
            // Below a power of two: the high bits are zero.
            if let Some(n) = v.log2() {
                let high = self.extract(a, w - 1, n);
                let zero = self.bv(w - n, 0);
                return self.eq(high, zero);
            }
            // a < 1..10..0 (k ones) fails exactly if the high k bits are ones.
            let k = w - v.trailing_zeros();
            if v.extract(w - 1, w - k).is_ones() {
                let high = self.extract(a, w - 1, w - k);
                let ones = self.bv_const(&BitVec::ones(k));
                return self.ne(high, ones);
            }
        }
        if let Some(v) = self.value_of(a) {
            if v.is_zero() {
                return self.ne(b, a);
            }
            if v.is_ones() {
                return self.fls();
            }
            // c < b is !(b < c + 1), which has the rules for constants above.
            let next = self.bv_const(&v.add(&BitVec::one(w)));
            let t = self.ult(b, next);
            return self.not(t);
        }
        if (self.op(a) == Op::Concat || self.op(b) == Op::Concat)
            && let Some(t) = self.compare_parts(a, b)
        {
            return t;
        }
        if w == 1 {
            let (not_a, b) = (self.not(a), b);
            let t = self.and(not_a, b);
            return self.bit(t, 0);
        }
        self.intern2(Op::Ult, Sort::Bool, a, b)
    }

    /// Removes operators that keep or turn both orders from both sides: complements, and
    /// sign extensions of one width.
    fn strip_order(&self, a: Term, b: Term) -> (Term, Term) {
        let (mut a, mut b) = (a, b);
        loop {
            if let (Some(x), Some(y)) = (self.as_not(a), self.as_not(b)) {
                (a, b) = (y, x);
            } else if self.op(a) == Op::SignExtend
                && self.op(b) == Op::SignExtend
                && self.width(self.arg(a, 0)) == self.width(self.arg(b, 0))
            {
                (a, b) = (self.arg(a, 0), self.arg(b, 0));
            } else {
                return (a, b);
            }
        }
    }

    /// Unsigned comparison where the high parts are equal or surely decided, or the low parts
    /// equal.
    fn compare_parts(&mut self, a: Term, b: Term) -> Option<Term> {
        let both = |terms: &Terms, t: Term| matches!(terms.op(t), Op::Concat | Op::Const);
        if !both(self, a) || !both(self, b) {
            return None;
        }
        let pairs = self.aligned(a, b);
        let equal_high = pairs.iter().take_while(|(x, y)| x == y).count();
        let equal_low = pairs.iter().rev().take_while(|(x, y)| x == y).count();
        if equal_high == pairs.len() {
            return Some(self.fls());
        }
        let rest = &pairs[equal_high..pairs.len() - equal_low];
        let (x, y) = rest[0];
        if let (Some(u), Some(v)) = (self.value_of(x), self.value_of(y)) {
            // Different constants decide.
            return Some(self.bool_const(u.ult(&v)));
        }
        if rest.len() == pairs.len() {
            return None;
        }
        let (xs, ys): (Vec<Term>, Vec<Term>) = rest.iter().copied().unzip();
        let (x, y) = (self.concat_all(&xs), self.concat_all(&ys));
        Some(self.ult(x, y))
    }

    /// Signed less-than (`bvslt`).
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        if self.is_plain() {
            self.same_width(a, b);
            return self.plain_term(Op::Slt, Sort::Bool, [a, b, NONE]);
        }
        let (a, b) = self.strip_order(a, b);
        let w = self.same_width(a, b);
        if a == b {
            return self.fls();
        }
        if let Some(t) = self.fold_pred(a, b, BitVec::slt) {
            return t;
        }
        if w == 1 {
            return self.ult(b, a);
        }
        if let Some(v) = self.value_of(b) {
            if v.is_zero() {
                return self.sign_bit(a);
            }
            if v == BitVec::signed_min(w) {
                return self.fls();
            }
            if v == BitVec::signed_min(w).add(&BitVec::one(w)) {
                let min = self.bv_const(&BitVec::signed_min(w));
                return self.eq(a, min);
            }
            if v == BitVec::signed_max(w) {
                return self.ne(a, b);
            }
        }
        if let Some(v) = self.value_of(a) {
            if v == BitVec::signed_max(w) {
                return self.fls();
            }
            // c < b is !(b < c + 1).
            let next = self.bv_const(&v.add(&BitVec::one(w)));
            let t = self.slt(b, next);
            return self.not(t);
        }
        // The common sign extension is dropped; a constant is one if it fits.
        let bits = |terms: &Terms, t: Term| match terms.op(t) {
            Op::SignExtend => terms.width(terms.arg(t, 0)),
            Op::Concat => match terms.value_of(terms.arg(t, 0)) {
                // Zeros above a number leave one of them as its sign.
                Some(v) if v.is_zero() => terms.width(terms.arg(t, 1)) + 1,
                _ => w,
            },
            Op::Const => {
                let v = terms.value_of(t).expect("a constant has a value");
                (1..=w).find(|n| v.extract(n - 1, 0).sign_extend(w - n) == v).unwrap_or(w)
            }
            _ => w,
        };
        let need = bits(self, a).max(bits(self, b));
        if need < w {
            let (x, y) = (self.extract(a, need - 1, 0), self.extract(b, need - 1, 0));
            return self.slt(x, y);
        }
        if let Some(v) = self.value_of(b) {
            // A narrow number against a constant out of its range.
            if bits(self, a) < w {
                return self.bool_const(!v.sign());
            }
        }
        // Both signs known to be clear.
        let clear = |terms: &Terms, t: Term| {
            let first = if terms.op(t) == Op::Concat { terms.arg(t, 0) } else { t };
            terms.value_of(first).is_some_and(|v| !v.sign())
        };
        if clear(self, a) && clear(self, b) {
            return self.ult(a, b);
        }
        self.intern2(Op::Slt, Sort::Bool, a, b)
    }

    /// Unsigned less-or-equal (`bvule`).
    pub fn ule(&mut self, a: Term, b: Term) -> Term {
        let t = self.ult(b, a);
        self.not(t)
    }

    /// Unsigned greater-than (`bvugt`).
    pub fn ugt(&mut self, a: Term, b: Term) -> Term {
        self.ult(b, a)
    }

    /// Unsigned greater-or-equal (`bvuge`).
    pub fn uge(&mut self, a: Term, b: Term) -> Term {
        self.ule(b, a)
    }

    /// Signed less-or-equal (`bvsle`).
    pub fn sle(&mut self, a: Term, b: Term) -> Term {
        let t = self.slt(b, a);
        self.not(t)
    }

    /// Signed greater-than (`bvsgt`).
    pub fn sgt(&mut self, a: Term, b: Term) -> Term {
        self.slt(b, a)
    }

    /// Signed greater-or-equal (`bvsge`).
    pub fn sge(&mut self, a: Term, b: Term) -> Term {
        self.sle(b, a)
    }

    /// Equality as one bit (`bvcomp`).
    pub fn bvcomp(&mut self, a: Term, b: Term) -> Term {
        let t = self.eq(a, b);
        self.bool_to_bv(t)
    }
}
