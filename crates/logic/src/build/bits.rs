//! Structure of bit-vectors: concatenation, extraction, extension, shifts, bitwise operators.
//!
//! Concatenations are kept nested to the right, without a concatenation as a high part; rules
//! work on the list of their parts, so that no rule recurses over a long concatenation.

use crate::bitvec::BitVec;
use crate::term::{MAX_WIDTH, NONE, Op, Sort, Term, Terms};

/// How many operators an extraction may be pushed through.
const EXTRACT_FUEL: u32 = 8;

impl Terms {
    /// The parts of a concatenation, highest first; the term itself if it is none.
    pub(crate) fn concat_parts(&self, t: Term) -> Vec<Term> {
        let mut parts = Vec::new();
        let mut rest = t;
        while self.op(rest) == Op::Concat {
            parts.push(self.arg(rest, 0));
            rest = self.arg(rest, 1);
        }
        parts.push(rest);
        parts
    }

    /// The concatenation of parts, highest first; at least one.
    pub(crate) fn concat_all(&mut self, parts: &[Term]) -> Term {
        let (last, others) = parts.split_last().expect("a concatenation has parts");
        let mut acc = *last;
        for part in others.iter().rev() {
            acc = self.concat(*part, acc);
        }
        acc
    }

    /// Concatenation, `high` above `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let width = self.width(high) + self.width(low);
        assert!(width <= MAX_WIDTH, "bit-vector width {width} out of range");
        if self.is_plain() {
            return self.plain_term(Op::Concat, Sort::BitVec(width), [high, low, NONE]);
        }
        if self.op(high) == Op::Concat {
            let parts = self.concat_parts(high);
            let mut acc = low;
            for part in parts.into_iter().rev() {
                acc = self.concat(part, acc);
            }
            return acc;
        }
        // `high` joins with the first part of `low` if it can.
        let (first, rest) = match self.op(low) {
            Op::Concat => (self.arg(low, 0), Some(self.arg(low, 1))),
            _ => (low, None),
        };
        if let Some(joined) = self.join(high, first) {
            return match rest {
                Some(rest) => self.concat(joined, rest),
                None => joined,
            };
        }
        self.intern2(Op::Concat, Sort::BitVec(width), high, low)
    }

    /// One term for two adjacent parts: constants, or adjacent parts of one term.
    fn join(&mut self, high: Term, low: Term) -> Option<Term> {
        if let Some(t) = self.fold2(high, low, BitVec::concat) {
            return Some(t);
        }
        let ((h1, l1), (h0, l0)) = (self.extract_bounds(high)?, self.extract_bounds(low)?);
        let base = self.arg(high, 0);
        (base == self.arg(low, 0) && l1 == h0 + 1).then(|| self.extract(base, h1, l0))
    }

    /// Bits `high` down to `low` of `a`, both included.
    pub fn extract(&mut self, a: Term, high: u32, low: u32) -> Term {
        let width = self.width(a);
        assert!(low <= high && high < width, "extract inside the width");
        if self.is_plain() {
            if high - low + 1 == width {
                return a;
            }
            return self.plain_term(Op::Extract, Sort::BitVec(high - low + 1), [a, Term(high), Term(low)]);
        }
        self.extract_fuel(a, high, low, EXTRACT_FUEL)
    }

    fn extract_fuel(&mut self, a: Term, high: u32, low: u32, fuel: u32) -> Term {
        let width = self.width(a);
        if high - low + 1 == width {
            return a;
        }
        if let Some(t) = self.fold1(a, |v| v.extract(high, low)) {
            return t;
        }
        if fuel == 0 {
            return self.intern_extract(a, high, low);
        }
        let fuel = fuel - 1;
        match self.op(a) {
            Op::Extract => {
                let (_, base_low) = self.extract_bounds(a).expect("an extraction has bounds");
                let base = self.arg(a, 0);
                self.extract_fuel(base, high + base_low, low + base_low, fuel)
            }
            Op::Concat => self.extract_concat(a, high, low, fuel),
            Op::SignExtend => {
                let inner = self.arg(a, 0);
                let w = self.width(inner);
                if high < w {
                    self.extract_fuel(inner, high, low, fuel)
                } else {
                    // Above the operand there are only copies of its sign.
                    let from = low.min(w - 1);
                    let part = self.extract_fuel(inner, w - 1, from, fuel);
                    self.sign_extend(part, (high - low + 1) - (w - from))
                }
            }
            Op::Not => {
                let inner = self.arg(a, 0);
                let t = self.extract_fuel(inner, high, low, fuel);
                self.not(t)
            }
            op if self.extract_pushes(a, low, fuel) => {
                let args = self.args(a).to_vec();
                let parts: Vec<Term> =
                    args.into_iter().map(|t| self.extract_fuel(t, high, low, fuel)).collect();
                match op {
                    Op::And => self.and(parts[0], parts[1]),
                    Op::Xor => self.bvxor(parts[0], parts[1]),
                    Op::Add => self.add(parts[0], parts[1]),
                    Op::Mul => self.mul(parts[0], parts[1]),
                    _ => self.neg(parts[0]),
                }
            }
            _ => self.intern_extract(a, high, low),
        }
    }

    /// Whether an extraction is worth pushing into the operands: all but at most one of them
    /// swallow it, and the remaining one passes it on within the fuel.
    fn extract_pushes(&self, a: Term, low: u32, fuel: u32) -> bool {
        let bitwise = matches!(self.op(a), Op::And | Op::Xor);
        // The low bits of sums and products depend on the low bits of the operands only.
        let arithmetic = matches!(self.op(a), Op::Add | Op::Mul | Op::Neg) && low == 0;
        if fuel == 0 || !(bitwise || arithmetic) {
            return false;
        }
        let mut open = 0;
        for t in self.args(a) {
            match self.op(*t) {
                Op::Const | Op::Concat | Op::SignExtend | Op::Extract => {}
                _ if self.extract_pushes(*t, low, fuel - 1) => open += 1,
                _ => return false,
            }
        }
        open <= 1
    }

    fn extract_concat(&mut self, a: Term, high: u32, low: u32, fuel: u32) -> Term {
        let mut taken = Vec::new();
        let mut top = self.width(a);
        for part in self.concat_parts(a) {
            let bottom = top - self.width(part);
            if bottom <= high && low < top {
                let (h, l) = (high.min(top - 1) - bottom, low.max(bottom) - bottom);
                taken.push(self.extract_fuel(part, h, l, fuel));
            }
            top = bottom;
        }
        self.concat_all(&taken)
    }

    /// The sign bit, as a Boolean.
    pub fn sign_bit(&mut self, a: Term) -> Term {
        let w = self.width(a);
        self.bit(a, w - 1)
    }

    /// Bit `i`, as a Boolean.
    pub fn bit(&mut self, a: Term, i: u32) -> Term {
        let b = self.extract(a, i, i);
        let one = self.bv(1, 1);
        self.eq(b, one)
    }

    /// The Boolean as one bit.
    pub fn bool_to_bv(&mut self, a: Term) -> Term {
        let (one, zero) = (self.bv(1, 1), self.bv(1, 0));
        self.ite(a, one, zero)
    }

    /// Extension by `n` zero bits.
    pub fn zero_extend(&mut self, a: Term, n: u32) -> Term {
        if n == 0 {
            return a;
        }
        let zero = self.bv(n, 0);
        self.concat(zero, a)
    }

    /// Extension by `n` copies of the sign bit.
    pub fn sign_extend(&mut self, a: Term, n: u32) -> Term {
        if n == 0 {
            return a;
        }
        let width = self.width(a) + n;
        assert!(width <= MAX_WIDTH, "bit-vector width {width} out of range");
        if self.is_plain() {
            return self.plain_term(Op::SignExtend, Sort::BitVec(width), [a, NONE, NONE]);
        }
        if let Some(t) = self.fold1(a, |v| v.sign_extend(n)) {
            return t;
        }
        match self.op(a) {
            Op::SignExtend => {
                let inner = self.arg(a, 0);
                let n = width - self.width(inner);
                self.sign_extend(inner, n)
            }
            Op::Concat if self.is_const(self.arg(a, 0)) => {
                let (high, low) = (self.arg(a, 0), self.arg(a, 1));
                let high = self.sign_extend(high, n);
                self.concat(high, low)
            }
            _ => self.intern1(Op::SignExtend, Sort::BitVec(width), a),
        }
    }

    /// `n` copies of `a`, side by side; `n` is positive.
    pub fn repeat(&mut self, a: Term, n: u32) -> Term {
        assert!(n > 0, "at least one copy");
        let mut acc = a;
        for _ in 1..n {
            acc = self.concat(a, acc);
        }
        acc
    }

    /// Rotation to the left by a constant.
    pub fn rotate_left(&mut self, a: Term, n: u32) -> Term {
        let w = self.width(a);
        let n = n % w;
        if n == 0 {
            return a;
        }
        let (high, low) = (self.extract(a, w - n - 1, 0), self.extract(a, w - 1, w - n));
        self.concat(high, low)
    }

    /// Rotation to the right by a constant.
    pub fn rotate_right(&mut self, a: Term, n: u32) -> Term {
        let w = self.width(a);
        self.rotate_left(a, w - n % w)
    }

    /// The amount of a constant shift, saturated at the width.
    fn const_shift(&self, width: u32, by: Term) -> Option<u32> {
        let v = self.value_of(by)?;
        Some(v.to_u64().map_or(width, |n| n.min(u64::from(width)) as u32))
    }

    /// Shift left (`bvshl`).
    pub fn shl(&mut self, a: Term, by: Term) -> Term {
        let w = self.same_width(a, by);
        if self.is_plain() {
            return self.plain_term(Op::Shl, Sort::BitVec(w), [a, by, NONE]);
        }
        if let Some(t) = self.fold2(a, by, BitVec::shl) {
            return t;
        }
        match self.const_shift(w, by) {
            Some(0) => a,
            Some(n) if n == w => self.bv(w, 0),
            Some(n) => {
                let (high, low) = (self.extract(a, w - 1 - n, 0), self.bv(n, 0));
                self.concat(high, low)
            }
            None if self.value_of(a).is_some_and(|v| v.is_zero()) => a,
            None => self.intern2(Op::Shl, Sort::BitVec(w), a, by),
        }
    }

    /// Logical shift right (`bvlshr`).
    pub fn lshr(&mut self, a: Term, by: Term) -> Term {
        let w = self.same_width(a, by);
        if self.is_plain() {
            return self.plain_term(Op::Lshr, Sort::BitVec(w), [a, by, NONE]);
        }
        if let Some(t) = self.fold2(a, by, BitVec::lshr) {
            return t;
        }
        match self.const_shift(w, by) {
            Some(0) => a,
            Some(n) if n == w => self.bv(w, 0),
            Some(n) => {
                let low = self.extract(a, w - 1, n);
                self.zero_extend(low, n)
            }
            None if self.value_of(a).is_some_and(|v| v.is_zero()) => a,
            None => self.intern2(Op::Lshr, Sort::BitVec(w), a, by),
        }
    }

    /// Arithmetic shift right (`bvashr`).
    pub fn ashr(&mut self, a: Term, by: Term) -> Term {
        let w = self.same_width(a, by);
        if self.is_plain() {
            return self.plain_term(Op::Ashr, Sort::BitVec(w), [a, by, NONE]);
        }
        if let Some(t) = self.fold2(a, by, BitVec::ashr) {
            return t;
        }
        match self.const_shift(w, by) {
            Some(0) => a,
            Some(n) => {
                let n = n.min(w - 1);
                let low = self.extract(a, w - 1, n);
                self.sign_extend(low, n)
            }
            None if self.value_of(a).is_some_and(|v| v.is_zero() || v.is_ones()) => a,
            None if w == 1 => a,
            None => self.intern2(Op::Ashr, Sort::BitVec(w), a, by),
        }
    }

    /// Bitwise exclusive or (`bvxor`).
    pub fn bvxor(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if self.is_plain() {
            return self.plain_term(Op::Xor, Sort::BitVec(w), [a, b, NONE]);
        }
        let (a, b) = self.ordered(a, b);
        if a == b {
            return self.bv(w, 0);
        }
        if let Some(t) = self.fold2(a, b, BitVec::xor) {
            return t;
        }
        if let Some(v) = self.value_of(b) {
            if v.is_zero() {
                return a;
            }
            if v.is_ones() {
                return self.not(a);
            }
        }
        // Complements move outside.
        let (plain_a, plain_b) = (self.as_not(a), self.as_not(b));
        if plain_a.is_some() || (plain_b.is_some() && !self.is_const(b)) {
            let negated = plain_a.is_some() != plain_b.is_some();
            let t = self.bvxor(plain_a.unwrap_or(a), plain_b.unwrap_or(b));
            return if negated { self.not(t) } else { t };
        }
        for (x, y) in [(a, b), (b, a)] {
            if self.op(x) == Op::Xor {
                let (u, v) = (self.arg(x, 0), self.arg(x, 1));
                if u == y {
                    return v;
                }
                if v == y {
                    return u;
                }
                if self.is_const(v) && self.is_const(y) {
                    let c = self.bvxor(v, y);
                    return self.bvxor(u, c);
                }
            }
        }
        if let Some(pairs) = self.aligned_with_const(a, b, |_| true) {
            let parts: Vec<Term> = pairs.into_iter().map(|(x, y)| self.bvxor(x, y)).collect();
            return self.concat_all(&parts);
        }
        self.intern2(Op::Xor, Sort::BitVec(w), a, b)
    }

    /// `bvnand`.
    pub fn bvnand(&mut self, a: Term, b: Term) -> Term {
        let t = self.and(a, b);
        self.not(t)
    }

    /// `bvnor`.
    pub fn bvnor(&mut self, a: Term, b: Term) -> Term {
        let t = self.or(a, b);
        self.not(t)
    }

    /// `bvxnor`.
    pub fn bvxnor(&mut self, a: Term, b: Term) -> Term {
        let t = self.bvxor(a, b);
        self.not(t)
    }

    /// `x & c` for a constant of at most three runs of equal bits selects a part of `x`.
    pub(super) fn and_mask(&mut self, x: Term, c: Term) -> Option<Term> {
        let mask = self.value_of(c)?;
        let width = mask.width();
        let mut runs: Vec<(bool, u32, u32)> = Vec::new();
        for i in 0..width {
            let count = runs.len();
            match runs.last_mut() {
                Some((bit, _, high)) if *bit == mask.bit(i) => *high = i,
                _ if count == 3 => return None,
                _ => runs.push((mask.bit(i), i, i)),
            }
        }
        let parts: Vec<Term> = runs
            .into_iter()
            .rev()
            .map(|(bit, low, high)| if bit { self.extract(x, high, low) } else { self.bv(high - low + 1, 0) })
            .collect();
        Some(self.concat_all(&parts))
    }

    /// Conjunction with a concatenation that has a part of zeros or ones, part by part.
    pub(super) fn and_split(&mut self, a: Term, b: Term) -> Option<Term> {
        let pairs = self.aligned_with_const(a, b, |v| v.is_zero() || v.is_ones())?;
        let parts: Vec<Term> = pairs.into_iter().map(|(x, y)| self.and(x, y)).collect();
        Some(self.concat_all(&parts))
    }

    /// Both terms cut at the boundaries of both, if both are concatenations and one of them has
    /// a constant part that `useful` accepts.
    fn aligned_with_const(
        &mut self,
        a: Term,
        b: Term,
        useful: impl Fn(&BitVec) -> bool,
    ) -> Option<Vec<(Term, Term)>> {
        if self.op(a) != Op::Concat || self.op(b) != Op::Concat {
            return None;
        }
        let has =
            |t: Term| self.concat_parts(t).into_iter().any(|p| self.value_of(p).is_some_and(|v| useful(&v)));
        (has(a) || has(b)).then(|| self.aligned(a, b))
    }

    /// Both terms cut at the boundaries of both, highest part first.
    pub(super) fn aligned(&mut self, a: Term, b: Term) -> Vec<(Term, Term)> {
        let (mut xs, mut ys) = (self.concat_parts(a), self.concat_parts(b));
        xs.reverse();
        ys.reverse();
        let mut out = Vec::new();
        while let (Some(x), Some(y)) = (xs.pop(), ys.pop()) {
            let (wx, wy) = (self.width(x), self.width(y));
            let cut = |terms: &mut Terms, t: Term, w: u32, n: u32, rest: &mut Vec<Term>| {
                rest.push(terms.extract(t, w - n - 1, 0));
                terms.extract(t, w - 1, w - n)
            };
            if wx == wy {
                out.push((x, y));
            } else if wx > wy {
                let high = cut(self, x, wx, wy, &mut xs);
                out.push((high, y));
            } else {
                let high = cut(self, y, wy, wx, &mut ys);
                out.push((x, high));
            }
        }
        out
    }
}
