//! Sums, products, quotients and the predicates of their overflow.

use crate::bitvec::BitVec;
use crate::term::{NONE, Op, Sort, Term, Terms};

impl Terms {
    /// Two's complement negation (`bvneg`).
    pub fn neg(&mut self, a: Term) -> Term {
        let w = self.width(a);
        if self.is_plain() {
            return self.plain_term(Op::Neg, Sort::BitVec(w), [a, NONE, NONE]);
        }
        if let Some(t) = self.fold1(a, BitVec::neg) {
            return t;
        }
        if w == 1 {
            return a;
        }
        match self.op(a) {
            Op::Neg => self.arg(a, 0),
            // -~x is x + 1.
            Op::Not => {
                let (x, one) = (self.arg(a, 0), self.bv(w, 1));
                self.add(x, one)
            }
            // -(x + c) is -x + -c, which keeps constants outside.
            Op::Add if self.is_const(self.arg(a, 1)) => {
                let (x, c) = (self.arg(a, 0), self.arg(a, 1));
                let (x, c) = (self.neg(x), self.neg(c));
                self.add(x, c)
            }
            Op::Mul if self.is_const(self.arg(a, 1)) => {
                let (x, c) = (self.arg(a, 0), self.arg(a, 1));
                let c = self.neg(c);
                self.mul(x, c)
            }
            _ => self.intern1(Op::Neg, Sort::BitVec(w), a),
        }
    }

    /// `(x, c)` for `x + c` with a constant `c`.
    fn as_offset(&self, t: Term) -> Option<(Term, Term)> {
        if self.op(t) != Op::Add {
            return None;
        }
        let (x, c) = (self.arg(t, 0), self.arg(t, 1));
        self.is_const(c).then_some((x, c))
    }

    /// Whether `a` is `-b` or `b` is `-a`.
    fn opposite(&self, a: Term, b: Term) -> bool {
        (self.op(a) == Op::Neg && self.arg(a, 0) == b) || (self.op(b) == Op::Neg && self.arg(b, 0) == a)
    }

    /// Sum (`bvadd`). Constants are kept outermost.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if self.is_plain() {
            return self.plain_term(Op::Add, Sort::BitVec(w), [a, b, NONE]);
        }
        if w == 1 {
            return self.bvxor(a, b);
        }
        let (a, b) = self.ordered(a, b);
        if let Some(t) = self.fold2(a, b, BitVec::add) {
            return t;
        }
        if let Some(c) = self.value_of(b) {
            if c.is_zero() {
                return a;
            }
            if let Some((x, d)) = self.as_offset(a) {
                let c = self.add(d, b);
                return self.add(x, c);
            }
            return self.add_offset(w, a, b, &c);
        }
        if let Some((x, c)) = self.as_offset(a) {
            let t = self.add(x, b);
            return self.add(t, c);
        }
        if let Some((y, c)) = self.as_offset(b) {
            let t = self.add(a, y);
            return self.add(t, c);
        }
        if self.opposite(a, b) {
            return self.bv(w, 0);
        }
        if self.as_not(a) == Some(b) || self.as_not(b) == Some(a) {
            return self.bv_const(&BitVec::ones(w));
        }
        if a == b {
            let (high, zero) = (self.extract(a, w - 2, 0), self.bv(1, 0));
            return self.concat(high, zero);
        }
        // (x + y) + -x is y, and x + -(x + y) is -y.
        for (s, n) in [(a, b), (b, a)] {
            if self.op(s) == Op::Add {
                let (x, y) = (self.arg(s, 0), self.arg(s, 1));
                if self.opposite(x, n) {
                    return y;
                }
                if self.opposite(y, n) {
                    return x;
                }
            }
            if self.op(n) == Op::Neg && self.op(self.arg(n, 0)) == Op::Add {
                let sum = self.arg(n, 0);
                let (x, y) = (self.arg(sum, 0), self.arg(sum, 1));
                if x == s {
                    return self.neg(y);
                }
                if y == s {
                    return self.neg(x);
                }
            }
        }
        self.intern2(Op::Add, Sort::BitVec(w), a, b)
    }

    /// `a + c` where low zero bits of `c` leave the low bits of `a` alone.
    fn add_offset(&mut self, w: u32, a: Term, c_term: Term, c: &BitVec) -> Term {
        if self.op(a) == Op::Concat {
            let (zeros, parts) = (c.trailing_zeros(), self.concat_parts(a));
            let last = *parts.last().expect("a concatenation has parts");
            let low = self.width(last);
            // The lowest part passes through, or is zero and takes the low bits of the constant.
            if zeros >= low {
                let high = self.concat_all(&parts[..parts.len() - 1]);
                let offset = self.bv_const(&c.extract(w - 1, low));
                let high = self.add(high, offset);
                return self.concat(high, last);
            }
            if self.value_of(last).is_some_and(|v| v.is_zero()) {
                let high = self.concat_all(&parts[..parts.len() - 1]);
                let offset = self.bv_const(&c.extract(w - 1, low));
                let high = self.add(high, offset);
                let low = self.bv_const(&c.extract(low - 1, 0));
                return self.concat(high, low);
            }
        }
        self.intern2(Op::Add, Sort::BitVec(w), a, c_term)
    }

    /// Difference (`bvsub`).
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            let w = self.width(a);
            return self.bv(w, 0);
        }
        let b = self.neg(b);
        self.add(a, b)
    }

    /// Product (`bvmul`).
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if self.is_plain() {
            return self.plain_term(Op::Mul, Sort::BitVec(w), [a, b, NONE]);
        }
        if w == 1 {
            return self.and(a, b);
        }
        let (a, b) = self.ordered(a, b);
        if let Some(t) = self.fold2(a, b, BitVec::mul) {
            return t;
        }
        if let Some(c) = self.value_of(b) {
            if c.is_zero() {
                return b;
            }
            if c.is_ones() {
                return self.neg(a);
            }
            if let Some(n) = c.log2() {
                let by = self.bv_const(&BitVec::from_words(w, &[u64::from(n)]));
                return self.shl(a, by);
            }
            if self.op(a) == Op::Mul && self.is_const(self.arg(a, 1)) {
                let (x, d) = (self.arg(a, 0), self.arg(a, 1));
                let c = self.mul(d, b);
                return self.mul(x, c);
            }
            if self.op(a) == Op::Neg {
                let (x, c) = (self.arg(a, 0), self.neg(b));
                return self.mul(x, c);
            }
            return self.intern2(Op::Mul, Sort::BitVec(w), a, b);
        }
        // Signs move outside.
        let negated = (self.op(a) == Op::Neg, self.op(b) == Op::Neg);
        if negated.0 || negated.1 {
            let x = if negated.0 { self.arg(a, 0) } else { a };
            let y = if negated.1 { self.arg(b, 0) } else { b };
            let t = self.mul(x, y);
            return if negated.0 != negated.1 { self.neg(t) } else { t };
        }
        self.intern2(Op::Mul, Sort::BitVec(w), a, b)
    }

    /// The number of high zero bits of a concatenation that starts with zeros.
    fn high_zeros(&self, t: Term) -> u32 {
        let first = if self.op(t) == Op::Concat { self.arg(t, 0) } else { t };
        match self.value_of(first) {
            Some(v) => (0..v.width()).take_while(|i| !v.bit(v.width() - 1 - i)).count() as u32,
            None => 0,
        }
    }

    /// Both operands without the high zeros they share, at least one bit wide, and how many
    /// there are.
    fn narrowed(&mut self, a: Term, b: Term) -> Option<(Term, Term, u32)> {
        let w = self.width(a);
        let n = self.high_zeros(a).min(self.high_zeros(b)).min(w - 1);
        if n == 0 {
            return None;
        }
        Some((self.extract(a, w - 1 - n, 0), self.extract(b, w - 1 - n, 0), n))
    }

    /// Unsigned quotient (`bvudiv`); all ones when dividing by zero.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if self.is_plain() {
            return self.plain_term(Op::Udiv, Sort::BitVec(w), [a, b, NONE]);
        }
        if let Some(t) = self.fold2(a, b, BitVec::udiv) {
            return t;
        }
        if let Some(n) = self.value_of(b).and_then(|v| v.log2()) {
            let by = self.bv_const(&BitVec::from_words(w, &[u64::from(n)]));
            return self.lshr(a, by);
        }
        if w == 1 {
            // 0/0 and 1/0 are 1; x/1 is x.
            let not_b = self.not(b);
            return self.or(a, not_b);
        }
        let ones = self.bv_const(&BitVec::ones(w));
        if self.value_of(b).is_some_and(|v| v.is_zero()) {
            return ones;
        }
        if a == b || self.value_of(a).is_some_and(|v| v.is_zero()) {
            let (zero, quotient) = (self.bv(w, 0), self.bv(w, u64::from(a == b)));
            let by_zero = self.eq(b, zero);
            return self.ite(by_zero, ones, quotient);
        }
        if let Some((x, y, n)) = self.narrowed(a, b) {
            let zero = self.bv(w - n, 0);
            let by_zero = self.eq(y, zero);
            let q = self.udiv(x, y);
            let q = self.zero_extend(q, n);
            return self.ite(by_zero, ones, q);
        }
        self.intern2(Op::Udiv, Sort::BitVec(w), a, b)
    }

    /// Unsigned remainder (`bvurem`); the dividend when dividing by zero.
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if self.is_plain() {
            return self.plain_term(Op::Urem, Sort::BitVec(w), [a, b, NONE]);
        }
        if let Some(t) = self.fold2(a, b, BitVec::urem) {
            return t;
        }
        if w == 1 {
            // x%0 is x; x%1 is 0.
            let not_b = self.not(b);
            return self.and(a, not_b);
        }
        if let Some(v) = self.value_of(b) {
            if v.is_zero() {
                return a;
            }
            match v.log2() {
                Some(0) => return self.bv(w, 0),
                Some(n) => {
                    let low = self.extract(a, n - 1, 0);
                    return self.zero_extend(low, w - n);
                }
                None => {}
            }
        }
        if a == b || self.value_of(a).is_some_and(|v| v.is_zero()) {
            return self.bv(w, 0);
        }
        if let Some((x, y, n)) = self.narrowed(a, b) {
            let r = self.urem(x, y);
            return self.zero_extend(r, n);
        }
        self.intern2(Op::Urem, Sort::BitVec(w), a, b)
    }

    /// The absolute value of a signed number, as an unsigned one.
    pub fn abs(&mut self, a: Term) -> Term {
        let (sign, negated) = (self.sign_bit(a), self.neg(a));
        self.ite(sign, negated, a)
    }

    /// Signed quotient rounded toward zero (`bvsdiv`).
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        let (sign_a, sign_b) = (self.sign_bit(a), self.sign_bit(b));
        let (x, y) = (self.abs(a), self.abs(b));
        let q = self.udiv(x, y);
        let negated = self.neg(q);
        let same = self.eq(sign_a, sign_b);
        self.ite(same, q, negated)
    }

    /// Signed remainder with the sign of the dividend (`bvsrem`).
    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        let sign = self.sign_bit(a);
        let (x, y) = (self.abs(a), self.abs(b));
        let r = self.urem(x, y);
        let negated = self.neg(r);
        self.ite(sign, negated, r)
    }

    /// Signed remainder with the sign of the divisor (`bvsmod`).
    pub fn smod(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let (sign_a, sign_b) = (self.sign_bit(a), self.sign_bit(b));
        let r = self.srem(a, b);
        let zero = self.bv(w, 0);
        let is_zero = self.eq(r, zero);
        let same = self.eq(sign_a, sign_b);
        let keep = self.or(is_zero, same);
        let moved = self.add(r, b);
        self.ite(keep, r, moved)
    }

    /// The negation overflows (`bvnego`): only for the smallest signed number.
    pub fn nego(&mut self, a: Term) -> Term {
        let w = self.width(a);
        let min = self.bv_const(&BitVec::signed_min(w));
        self.eq(a, min)
    }

    /// The unsigned sum overflows (`bvuaddo`).
    pub fn uaddo(&mut self, a: Term, b: Term) -> Term {
        let sum = self.add(a, b);
        self.ult(sum, a)
    }

    /// The signed sum overflows (`bvsaddo`): operands of one sign, a sum of the other.
    pub fn saddo(&mut self, a: Term, b: Term) -> Term {
        let sum = self.add(a, b);
        let (sign_a, sign_b, sign) = (self.sign_bit(a), self.sign_bit(b), self.sign_bit(sum));
        let (same, changed) = (self.eq(sign_a, sign_b), self.xor(sign, sign_a));
        self.and(same, changed)
    }

    /// The unsigned difference overflows (`bvusubo`).
    pub fn usubo(&mut self, a: Term, b: Term) -> Term {
        self.ult(a, b)
    }

    /// The signed difference overflows (`bvssubo`): operands of different signs, and a
    /// difference whose sign is not the first operand's.
    pub fn ssubo(&mut self, a: Term, b: Term) -> Term {
        let difference = self.sub(a, b);
        let (sign_a, sign_b, sign) = (self.sign_bit(a), self.sign_bit(b), self.sign_bit(difference));
        let (differ, changed) = (self.xor(sign_a, sign_b), self.xor(sign, sign_a));
        self.and(differ, changed)
    }

    /// The signed quotient overflows (`bvsdivo`): only the smallest number divided by minus one.
    pub fn sdivo(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let (min, ones) = (self.bv_const(&BitVec::signed_min(w)), self.bv_const(&BitVec::ones(w)));
        let (is_min, is_ones) = (self.eq(a, min), self.eq(b, ones));
        self.and(is_min, is_ones)
    }

    /// The unsigned product overflows (`bvumulo`).
    pub fn umulo(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if self.is_plain() {
            return self.plain_term(Op::Umulo, Sort::Bool, [a, b, NONE]);
        }
        let (a, b) = self.ordered(a, b);
        if let Some(t) = self.fold_pred(a, b, BitVec::umulo) {
            return t;
        }
        if let Some(c) = self.value_of(b) {
            if c.is_zero() || c.is_one() {
                return self.fls();
            }
            // a * c overflows exactly if a is greater than the quotient of the largest value.
            let limit = self.bv_const(&BitVec::ones(w).udiv(&c));
            return self.ult(limit, a);
        }
        if w == 1 || self.high_zeros(a) + self.high_zeros(b) >= w {
            return self.fls();
        }
        self.intern2(Op::Umulo, Sort::Bool, a, b)
    }

    /// The signed product overflows (`bvsmulo`).
    pub fn smulo(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if self.is_plain() {
            return self.plain_term(Op::Smulo, Sort::Bool, [a, b, NONE]);
        }
        let (a, b) = self.ordered(a, b);
        if let Some(t) = self.fold_pred(a, b, BitVec::smulo) {
            return t;
        }
        if let Some(c) = self.value_of(b) {
            if c.is_zero() || (c.is_one() && w > 1) {
                return self.fls();
            }
            if c.is_ones() {
                return self.nego(a);
            }
            // The product stays in range exactly for a between the two quotients.
            let (min, max) = (BitVec::signed_min(w), BitVec::signed_max(w));
            let (low, high) =
                if c.sign() { (max.sdiv(&c), min.sdiv(&c)) } else { (min.sdiv(&c), max.sdiv(&c)) };
            let (low, high) = (self.bv_const(&low), self.bv_const(&high));
            let (below, above) = (self.slt(a, low), self.slt(high, a));
            return self.or(below, above);
        }
        if w == 1 {
            // The product of -1 and -1 is 1, which one signed bit cannot hold.
            let t = self.and(a, b);
            return self.bit(t, 0);
        }
        self.intern2(Op::Smulo, Sort::Bool, a, b)
    }
}
