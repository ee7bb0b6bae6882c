//! Booleans, equality and if-then-else. Complement and conjunction also serve bit-vectors, for
//! which Booleans are the case of one bit.

use crate::bitvec::BitVec;
use crate::term::{NONE, Op, Sort, Term, Terms};

impl Terms {
    /// Complement of a Boolean or of each bit of a bit-vector (`not`, `bvnot`).
    pub fn not(&mut self, a: Term) -> Term {
        let sort = self.sort(a);
        if self.is_plain() {
            return self.plain_term(Op::Not, sort, [a, NONE, NONE]);
        }
        if let Some(v) = self.bool_value(a) {
            return self.bool_const(!v);
        }
        if let Some(inner) = self.as_not(a) {
            return inner;
        }
        if matches!(sort, Sort::BitVec(_)) {
            if let Some(t) = self.fold1(a, BitVec::not) {
                return t;
            }
            if self.op(a) == Op::Concat {
                let mut parts = self.concat_parts(a);
                if parts.iter().any(|t| matches!(self.op(*t), Op::Const | Op::Not)) {
                    for t in &mut parts {
                        *t = self.not(*t);
                    }
                    return self.concat_all(&parts);
                }
            }
        }
        assert!(!sort.is_array(), "complement of an array");
        self.intern1(Op::Not, sort, a)
    }

    /// `Some(true)` for true or all ones, `Some(false)` for false or zero.
    fn extreme(&self, t: Term) -> Option<bool> {
        if let Some(v) = self.bool_value(t) {
            return Some(v);
        }
        let v = self.value_of(t)?;
        if v.is_zero() {
            Some(false)
        } else if v.is_ones() {
            Some(true)
        } else {
            None
        }
    }

    fn extreme_const(&mut self, like: Term, value: bool) -> Term {
        match self.sort(like) {
            Sort::Bool => self.bool_const(value),
            _ => {
                let w = self.width(like);
                self.bv_const(&if value { BitVec::ones(w) } else { BitVec::zero(w) })
            }
        }
    }

    /// The operands of a conjunction.
    fn as_and(&self, t: Term) -> Option<(Term, Term)> {
        (self.op(t) == Op::And).then(|| (self.arg(t, 0), self.arg(t, 1)))
    }

    /// The operands of a complemented conjunction.
    fn as_nand(&self, t: Term) -> Option<(Term, Term)> {
        self.as_not(t).and_then(|t| self.as_and(t))
    }

    fn complementary(&self, a: Term, b: Term) -> bool {
        self.as_not(a) == Some(b) || self.as_not(b) == Some(a)
    }

    /// Conjunction of Booleans, or bit by bit (`and`, `bvand`).
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        assert_eq!(self.sort(a), self.sort(b), "operands of one sort");
        if self.is_plain() {
            return self.plain_term(Op::And, self.sort(a), [a, b, NONE]);
        }
        let (a, b) = self.ordered(a, b);
        if a == b {
            return a;
        }
        match (self.extreme(a), self.extreme(b)) {
            (Some(false), _) | (_, Some(true)) => return a,
            (Some(true), _) | (_, Some(false)) => return b,
            _ => {}
        }
        if self.complementary(a, b) {
            return self.extreme_const(a, false);
        }
        if let Some(t) = self.and_absorb(a, b).or_else(|| self.and_absorb(b, a)) {
            return t;
        }
        if let (Some((a0, a1)), Some((b0, b1))) = (self.as_nand(a), self.as_nand(b)) {
            // (x | y) & (x | !y) is x, written with complemented conjunctions.
            for (x, y, u, v) in [(a0, a1, b0, b1), (a1, a0, b0, b1), (a0, a1, b1, b0), (a1, a0, b1, b0)] {
                if x == u && self.complementary(y, v) {
                    return self.not(x);
                }
            }
        }
        let sort = self.sort(a);
        if let (Some((a0, a1)), Some((b0, b1))) = (self.as_and(a), self.as_and(b))
            && (self.complementary(a0, b0)
                || self.complementary(a0, b1)
                || self.complementary(a1, b0)
                || self.complementary(a1, b1))
        {
            return self.extreme_const(a, false);
        }
        if sort != Sort::Bool {
            if let Some(t) = self.fold2(a, b, BitVec::and) {
                return t;
            }
            // Nested constants meet: (x & c) & d is x & (c & d).
            if let (Some((x, c)), Some(d)) = (self.as_and(a), self.value_of(b))
                && let Some(c) = self.value_of(c)
            {
                let c = self.bv_const(&c.and(&d));
                return self.and(x, c);
            }
            if let Some(t) = self.and_mask(a, b).or_else(|| self.and_split(a, b)) {
                return t;
            }
        }
        self.intern2(Op::And, sort, a, b)
    }

    /// Rules that look into `b` for `a` or its complement.
    fn and_absorb(&mut self, a: Term, b: Term) -> Option<Term> {
        if let Some((x, y)) = self.as_and(b) {
            if x == a || y == a {
                return Some(b);
            }
            if self.complementary(x, a) || self.complementary(y, a) {
                return Some(self.extreme_const(a, false));
            }
        }
        if let Some((x, y)) = self.as_nand(b) {
            if self.complementary(x, a) || self.complementary(y, a) {
                return Some(a);
            }
            for (x, y) in [(x, y), (y, x)] {
                if x == a {
                    let y = self.not(y);
                    return Some(self.and(a, y));
                }
            }
        }
        None
    }

    /// Disjunction of Booleans, or bit by bit (`or`, `bvor`).
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.not(a), self.not(b));
        let t = self.and(a, b);
        self.not(t)
    }

    /// Conjunction of any number of Booleans; true for none.
    pub fn and_all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let mut acc = self.tru();
        for t in terms {
            acc = self.and(acc, t);
        }
        acc
    }

    /// Disjunction of any number of Booleans; false for none.
    pub fn or_all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        let mut acc = self.fls();
        for t in terms {
            acc = self.or(acc, t);
        }
        acc
    }

    /// Implication of Booleans.
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_b = self.not(b);
        let t = self.and(a, not_b);
        self.not(t)
    }

    /// Exclusive or of Booleans.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        assert!(self.is_bool(a), "Booleans; bit-vectors have bvxor");
        let t = self.eq(a, b);
        self.not(t)
    }

    /// Disequality.
    pub fn ne(&mut self, a: Term, b: Term) -> Term {
        let t = self.eq(a, b);
        self.not(t)
    }

    /// All terms differ pairwise.
    pub fn distinct(&mut self, terms: &[Term]) -> Term {
        let mut acc = self.tru();
        for (i, a) in terms.iter().enumerate() {
            for b in &terms[i + 1..] {
                let t = self.ne(*a, *b);
                acc = self.and(acc, t);
            }
        }
        acc
    }

    /// Equality of two terms of one sort.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        let sort = self.sort(a);
        assert_eq!(sort, self.sort(b), "operands of one sort");
        if self.is_plain() {
            return self.plain_term(Op::Eq, Sort::Bool, [a, b, NONE]);
        }
        if a == b {
            return self.tru();
        }
        if self.surely_different(a, b) {
            return self.fls();
        }
        let (a, b) = self.ordered(a, b);
        match sort {
            Sort::Bool => self.eq_bool(a, b),
            Sort::BitVec(_) => self.eq_bv(a, b),
            Sort::Array { .. } => self.eq_array(a, b),
        }
    }

    fn eq_bool(&mut self, a: Term, b: Term) -> Term {
        // The constant, if any, is last.
        if let Some(v) = self.bool_value(b) {
            return if v { a } else { self.not(a) };
        }
        let (plain_a, plain_b) = (self.as_not(a), self.as_not(b));
        if plain_a.is_some() || plain_b.is_some() {
            let negated = plain_a.is_some() != plain_b.is_some();
            let t = self.eq(plain_a.unwrap_or(a), plain_b.unwrap_or(b));
            return if negated { self.not(t) } else { t };
        }
        // a = (a & y) is a -> y.
        for (x, y) in [(a, b), (b, a)] {
            if let Some((u, v)) = self.as_and(y) {
                if u == x {
                    return self.implies(x, v);
                }
                if v == x {
                    return self.implies(x, u);
                }
            }
            // a = (a = y) is y.
            if self.op(y) == Op::Eq {
                let (u, v) = (self.arg(y, 0), self.arg(y, 1));
                if u == x {
                    return v;
                }
                if v == x {
                    return u;
                }
            }
        }
        self.intern2(Op::Eq, Sort::Bool, a, b)
    }

    /// If-then-else: `then` where the Boolean `cond` holds, else `other`. Any sort.
    pub fn ite(&mut self, cond: Term, then: Term, other: Term) -> Term {
        let sort = self.sort(then);
        assert!(self.is_bool(cond) && sort == self.sort(other), "branches of one sort");
        if self.is_plain() {
            return self.plain_term(Op::Ite, sort, [cond, then, other]);
        }
        if let Some(v) = self.bool_value(cond) {
            return if v { then } else { other };
        }
        if then == other {
            return then;
        }
        if let Some(c) = self.as_not(cond) {
            return self.ite(c, other, then);
        }
        if self.op(then) == Op::Ite && self.arg(then, 0) == cond {
            let t = self.arg(then, 1);
            return self.ite(cond, t, other);
        }
        if self.op(other) == Op::Ite {
            let [c, t, e] = *self.args(other) else { unreachable!("if-then-else has three arguments") };
            if c == cond {
                return self.ite(cond, then, e);
            }
            if t == then {
                let c = self.or(cond, c);
                return self.ite(c, then, e);
            }
            if e == then {
                let not_c = self.not(c);
                let c = self.or(cond, not_c);
                return self.ite(c, then, t);
            }
        }
        if self.op(then) == Op::Ite {
            let [c, t, e] = *self.args(then) else { unreachable!("if-then-else has three arguments") };
            if e == other {
                let c = self.and(cond, c);
                return self.ite(c, t, other);
            }
            if t == other {
                let not_c = self.not(c);
                let c = self.and(cond, not_c);
                return self.ite(c, e, other);
            }
        }
        match sort {
            Sort::Bool => self.ite_bool(cond, then, other),
            Sort::BitVec(w) => self.ite_bv(w, cond, then, other),
            Sort::Array { .. } => self.intern(Op::Ite, sort, [cond, then, other]),
        }
    }

    fn ite_bool(&mut self, cond: Term, then: Term, other: Term) -> Term {
        let not_cond = self.not(cond);
        if then == cond || self.bool_value(then) == Some(true) {
            return self.or(cond, other);
        }
        if then == not_cond || self.bool_value(then) == Some(false) {
            return self.and(not_cond, other);
        }
        if other == cond || self.bool_value(other) == Some(false) {
            return self.and(cond, then);
        }
        if other == not_cond || self.bool_value(other) == Some(true) {
            return self.or(not_cond, then);
        }
        if self.complementary(then, other) {
            return self.eq(cond, then);
        }
        if let (Some(x), Some(y)) = (self.as_not(then), self.as_not(other)) {
            let t = self.ite(cond, x, y);
            return self.not(t);
        }
        self.intern(Op::Ite, Sort::Bool, [cond, then, other])
    }

    fn ite_bv(&mut self, width: u32, cond: Term, then: Term, other: Term) -> Term {
        if width == 1 && self.op(cond) == Op::Eq {
            // The bit of (b = 1) is b. Equalities of one bit compare with one, see `eq_bv`.
            let (bit, one) = (self.arg(cond, 0), self.arg(cond, 1));
            let is = |t: Term, v: bool| self.extreme(t) == Some(v);
            if self.sort(bit) == Sort::BitVec(1) && is(one, true) && is(then, true) && is(other, false) {
                return bit;
            }
            if self.sort(bit) == Sort::BitVec(1) && is(one, true) && is(then, false) && is(other, true) {
                return self.not(bit);
            }
        }
        if let (Some(x), Some(y)) = (self.as_not(then), self.as_not(other)) {
            let t = self.ite(cond, x, y);
            return self.not(t);
        }
        // The value is known in the branch where the condition fixes it.
        if self.op(cond) == Op::Eq {
            let (x, y) = (self.arg(cond, 0), self.arg(cond, 1));
            if (x == then && y == other) || (y == then && x == other) {
                return other;
            }
        }
        if self.op(then) == Op::Concat && self.op(other) == Op::Concat {
            // Common parts at either end leave the choice.
            let (mut a, mut b) = (self.concat_parts(then), self.concat_parts(other));
            let prefix = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
            let high: Vec<Term> = a.drain(..prefix).collect();
            b.drain(..prefix);
            let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
            let low = a.split_off(a.len() - suffix);
            b.truncate(b.len() - suffix);
            if prefix + suffix > 0 {
                let (x, y) = (self.concat_all(&a), self.concat_all(&b));
                let middle = self.ite(cond, x, y);
                let parts: Vec<Term> = high.into_iter().chain([middle]).chain(low).collect();
                return self.concat_all(&parts);
            }
        }
        self.intern(Op::Ite, Sort::BitVec(width), [cond, then, other])
    }
}
