//! Arithmetic as circuits. A word is a slice of literals, least significant first.

use super::aig::{Aig, Lit};
use super::{Blaster, Exhausted};
use crate::bitvec::BitVec;

/// Sum and carry of three bits.
pub(super) fn full_adder(aig: &mut Aig, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
    let half = aig.xor(a, b);
    (aig.xor(half, c), aig.majority(a, b, c))
}

/// Ripple-carry sum with carry in and out.
pub(super) fn add(aig: &mut Aig, a: &[Lit], b: &[Lit], carry: Lit) -> (Vec<Lit>, Lit) {
    let mut carry = carry;
    let sum = a
        .iter()
        .zip(b)
        .map(|(x, y)| {
            let (s, c) = full_adder(aig, *x, *y, carry);
            carry = c;
            s
        })
        .collect();
    (sum, carry)
}

pub(super) fn complement(a: &[Lit]) -> Vec<Lit> {
    a.iter().map(|l| !*l).collect()
}

pub(super) fn equal(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Lit {
    let mut acc = Lit::TRUE;
    for (x, y) in a.iter().zip(b) {
        let differ = aig.xor(*x, *y);
        acc = aig.and(acc, !differ);
    }
    acc
}

/// Unsigned `a < b`: the borrow of the subtraction.
pub(super) fn less(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Lit {
    a.iter().zip(b).fold(Lit::FALSE, |borrow, (x, y)| aig.majority(!*x, *y, borrow))
}

/// Signed `a < b`: as unsigned, with the sign bits exchanged.
pub(super) fn signed_less(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Lit {
    let top = a.len() - 1;
    let borrow = less(aig, &a[..top], &b[..top]);
    aig.majority(a[top], !b[top], borrow)
}

pub(super) fn mux(aig: &mut Aig, c: Lit, t: &[Lit], e: &[Lit]) -> Vec<Lit> {
    t.iter().zip(e).map(|(x, y)| aig.mux(c, *x, *y)).collect()
}

/// The value of a word of constants.
pub(super) fn constant(a: &[Lit]) -> Option<BitVec> {
    a.iter().all(|l| l.is_const()).then(|| BitVec::from_bits(a.len() as u32, |i| a[i as usize] == Lit::TRUE))
}

/// The digits of a constant in non-adjacent form (digits -1, 0, 1, no two neighbours both
/// nonzero), which has the fewest nonzero digits; modulo `2^width`.
fn non_adjacent_form(c: &BitVec) -> Vec<i8> {
    let w = c.width();
    let mut digits = vec![0i8; w as usize];
    let mut carry = false;
    for i in 0..w {
        let bit = c.bit(i) ^ carry;
        let both = c.bit(i) && carry;
        if bit {
            // A run of ones becomes -1 at its foot and a carry above it.
            let run = i + 1 < w && c.bit(i + 1);
            digits[i as usize] = if run { -1 } else { 1 };
            carry = run;
        } else {
            carry = both;
        }
    }
    digits
}

impl Blaster {
    /// Product modulo `2^width`, row by row, so that the low bits of products of one pair of
    /// operands are the same gates at every width.
    pub(super) fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Result<Vec<Lit>, Exhausted> {
        let constants = |x: &[Lit]| x.iter().filter(|l| l.is_const()).count();
        // The operand with more known bits selects the rows; among equals the order is fixed, so
        // that a product is the same gates whichever way it is written.
        let (a, b) = if (constants(a), a) > (constants(b), b) { (b, a) } else { (a, b) };
        if let Some(c) = constant(b) {
            return self.multiply_constant(a, &c);
        }
        let w = a.len();
        let mut acc: Vec<Lit> = a.iter().map(|x| self.aig.and(*x, b[0])).collect();
        for i in 1..w {
            self.poll()?;
            if b[i] == Lit::FALSE {
                continue;
            }
            let row: Vec<Lit> = a[..w - i].iter().map(|x| self.aig.and(*x, b[i])).collect();
            let (sum, _) = add(&mut self.aig, &acc[i..], &row, Lit::FALSE);
            acc[i..].copy_from_slice(&sum);
        }
        Ok(acc)
    }

    fn multiply_constant(&mut self, a: &[Lit], c: &BitVec) -> Result<Vec<Lit>, Exhausted> {
        let w = a.len();
        let mut acc = vec![Lit::FALSE; w];
        for (i, digit) in non_adjacent_form(c).into_iter().enumerate() {
            if digit == 0 {
                continue;
            }
            self.poll()?;
            let (row, carry) = if digit > 0 {
                (a[..w - i].to_vec(), Lit::FALSE)
            } else {
                (complement(&a[..w - i]), Lit::TRUE)
            };
            let (sum, _) = add(&mut self.aig, &acc[i..], &row, carry);
            acc[i..].copy_from_slice(&sum);
        }
        Ok(acc)
    }

    /// Whether the unsigned product does not fit (Gök et al., *Efficient Multiplication with
    /// Overflow Detection*): either two set bits alone have a product beyond the width, or else
    /// one more bit holds the product and that bit is set.
    pub(super) fn multiply_overflows(&mut self, a: &[Lit], b: &[Lit]) -> Result<Lit, Exhausted> {
        let w = a.len();
        let far = self.far_products(a, b)?;
        let wide = |x: &[Lit]| -> Vec<Lit> { x.iter().copied().chain([Lit::FALSE]).collect() };
        let product = self.multiply(&wide(a), &wide(b))?;
        Ok(self.aig.or(far, product[w]))
    }

    /// Whether the signed product does not fit: as for unsigned numbers, on the magnitudes
    /// without the sign bit (negative numbers complemented); one more bit then holds the
    /// product up to its sign.
    pub(super) fn signed_multiply_overflows(&mut self, a: &[Lit], b: &[Lit]) -> Result<Lit, Exhausted> {
        let w = a.len();
        let magnitude = |aig: &mut Aig, x: &[Lit]| -> Vec<Lit> {
            x[..w - 1].iter().map(|l| aig.xor(*l, x[w - 1])).collect()
        };
        let (x, y) = (magnitude(&mut self.aig, a), magnitude(&mut self.aig, b));
        let far = self.far_products(&x, &y)?;
        let wide = |x: &[Lit]| -> Vec<Lit> { x.iter().copied().chain([x[w - 1]]).collect() };
        let product = self.multiply(&wide(a), &wide(b))?;
        let lost = self.aig.xor(product[w], product[w - 1]);
        Ok(self.aig.or(far, lost))
    }

    /// Whether bits `i` of `a` and `j` of `b` are set with `i + j` at least the width.
    fn far_products(&mut self, a: &[Lit], b: &[Lit]) -> Result<Lit, Exhausted> {
        let w = a.len();
        let (mut high, mut far) = (Lit::FALSE, Lit::FALSE);
        for i in 1..w {
            self.poll()?;
            high = self.aig.or(high, b[w - i]);
            let both = self.aig.and(a[i], high);
            far = self.aig.or(far, both);
        }
        Ok(far)
    }

    /// Quotient and remainder as new inputs, defined by side conditions: `q * d + r = n` without
    /// overflow, `r < d` unless `d` is zero, and then `q` is all ones.
    pub(super) fn divide(&mut self, n: &[Lit], d: &[Lit]) -> Result<(Vec<Lit>, Vec<Lit>), Exhausted> {
        let group = self.side_conditions.len() as u32;
        let q: Vec<Lit> = n.iter().map(|_| self.aig.grouped_input(group)).collect();
        let r: Vec<Lit> = n.iter().map(|_| self.aig.grouped_input(group)).collect();
        let product = self.multiply(&q, d)?;
        let overflow = match constant(d) {
            Some(c) if !c.is_zero() => {
                let limit = BitVec::ones(c.width()).udiv(&c);
                let limit: Vec<Lit> = (0..c.width()).map(|i| Lit::constant(limit.bit(i))).collect();
                less(&mut self.aig, &limit, &q)
            }
            _ => self.multiply_overflows(&q, d)?,
        };
        let aig = &mut self.aig;
        let (sum, carry) = add(aig, &product, &r, Lit::FALSE);
        let mut conditions = vec![!overflow, !carry];
        for (s, x) in sum.iter().zip(n) {
            conditions.push(!aig.xor(*s, *x));
        }
        let by_zero = !aig.or_all(d.iter().copied());
        let below = less(aig, &r, d);
        conditions.push(aig.or(by_zero, below));
        for l in &q {
            conditions.push(aig.or(!by_zero, *l));
        }
        self.side_conditions.push(conditions);
        Ok((q, r))
    }

    /// Shifts by a word: right, or left on the reversed word. Bits from outside are `fill`.
    pub(super) fn shift_right(&mut self, a: &[Lit], by: &[Lit], fill: Lit) -> Result<Vec<Lit>, Exhausted> {
        let w = a.len();
        // Bits of the amount from `stages` on shift everything out.
        let stages = (usize::BITS - (w - 1).leading_zeros()) as usize;
        let mut acc = a.to_vec();
        for (stage, s) in by.iter().enumerate().take(stages) {
            self.poll()?;
            let n = 1 << stage;
            acc = (0..w)
                .map(|i| {
                    let moved = if i + n < w { acc[i + n] } else { fill };
                    self.aig.mux(*s, moved, acc[i])
                })
                .collect();
        }
        let out = self.aig.or_all(by.iter().skip(stages).copied());
        Ok(acc.into_iter().map(|l| self.aig.mux(out, fill, l)).collect())
    }
}
