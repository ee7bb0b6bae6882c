//! Equations between polynomials.
//!
//! Sums and products are compared as polynomials over their other subterms with coefficients
//! modulo `2^width`. That decides equations that hold by the laws of arithmetic, which gates hide
//! from a SAT solver, and cancels what both sides share.

use std::collections::BTreeMap;

use crate::bitvec::BitVec;
use crate::term::{Op, Term, Terms};

/// Subterms looked at and monomials kept, at most.
const FUEL: u32 = 96;
const MONOMIALS: usize = 48;
const DEGREE: usize = 6;
const DEPTH: u32 = 8;

/// Coefficients by monomial, a sorted list of factors; zero coefficients are left out.
pub(crate) type Polynomial = BTreeMap<Vec<Term>, BitVec>;

struct Expansion<'a> {
    terms: &'a Terms,
    fuel: u32,
    /// Linear summands met, to see whether anything cancelled.
    summands: usize,
    /// Whether a product of sums was multiplied out.
    multiplied: bool,
}

/// Adds `c * monomial`; a zero coefficient stays.
pub(crate) fn add_monomial(p: &mut Polynomial, monomial: Vec<Term>, c: BitVec) {
    let width = c.width();
    let entry = p.entry(monomial).or_insert_with(|| BitVec::zero(width));
    *entry = entry.add(&c);
}

impl Expansion<'_> {
    /// `coefficient * t` as a polynomial; `None` if it is too big.
    fn expand(&mut self, t: Term, coefficient: BitVec, depth: u32) -> Option<Polynomial> {
        let mut out = Polynomial::new();
        let mut stack = vec![(t, coefficient)];
        while let Some((t, c)) = stack.pop() {
            self.fuel = self.fuel.checked_sub(1)?;
            if out.len() > MONOMIALS {
                return None;
            }
            let arg = |i: usize| self.terms.arg(t, i);
            match self.terms.op(t) {
                Op::Const => {
                    let v = self.terms.value_of(t).expect("a constant has a value");
                    add_monomial(&mut out, Vec::new(), c.mul(&v));
                }
                Op::Add => stack.extend([(arg(0), c.clone()), (arg(1), c)]),
                Op::Neg => stack.push((arg(0), c.neg())),
                // ~x is -x - 1.
                Op::Not => {
                    add_monomial(&mut out, Vec::new(), c.neg());
                    stack.push((arg(0), c.neg()));
                }
                Op::Mul => match self.terms.value_of(arg(1)) {
                    Some(v) => stack.push((arg(0), c.mul(&v))),
                    None if depth == 0 => return None,
                    None => {
                        let one = BitVec::one(c.width());
                        let (x, y) = (arg(0), arg(1));
                        let x = self.expand(x, c, depth - 1)?;
                        let y = self.expand(y, one, depth - 1)?;
                        self.multiplied |= x.len() > 1 || y.len() > 1;
                        product(&x, &y, &mut out)?;
                        self.summands += 1;
                    }
                },
                _ => match self.shifted(t) {
                    Some((x, factor)) => stack.push((x, c.mul(&factor))),
                    None => {
                        self.summands += 1;
                        add_monomial(&mut out, vec![t], c);
                    }
                },
            }
        }
        out.retain(|_, c| !c.is_zero());
        Some(out)
    }

    fn difference(&mut self, a: Term, b: Term) -> Option<Polynomial> {
        let width = self.terms.width(a);
        let mut p = self.expand(a, BitVec::one(width), DEPTH)?;
        for (m, c) in self.expand(b, BitVec::ones(width), DEPTH)? {
            add_monomial(&mut p, m, c);
        }
        p.retain(|_, c| !c.is_zero());
        Some(p)
    }

    /// `(x, 2^k)` for the concatenation that `x` shifted left by `k` is.
    fn shifted(&self, t: Term) -> Option<(Term, BitVec)> {
        if self.terms.op(t) != Op::Concat {
            return None;
        }
        let (high, low) = (self.terms.arg(t, 0), self.terms.arg(t, 1));
        let zeros = self.terms.value_of(low).filter(|v| v.is_zero())?.width();
        let width = self.terms.width(t);
        let (_, lowest) = self.terms.extract_bounds(high)?;
        let x = self.terms.arg(high, 0);
        (lowest == 0 && self.terms.width(x) == width).then(|| (x, BitVec::from_bits(width, |i| i == zeros)))
    }
}

/// Whether a polynomial is zero, where that is the same for all values of its variables.
pub(crate) fn is_zero(p: &Polynomial) -> Option<bool> {
    let constant = p.get(&[][..]).map(BitVec::trailing_zeros);
    let Some(twos) = p.iter().filter(|(m, _)| !m.is_empty()).map(|(_, c)| c.trailing_zeros()).min() else {
        return Some(constant.is_none());
    };
    // The variable part is a multiple of 2^twos, the constant is not.
    constant.is_some_and(|zeros| zeros < twos).then_some(false)
}

fn product(x: &Polynomial, y: &Polynomial, out: &mut Polynomial) -> Option<()> {
    for (m, c) in x {
        for (n, d) in y {
            let mut monomial: Vec<Term> = m.iter().chain(n).copied().collect();
            monomial.sort_unstable();
            add_monomial(out, monomial, c.mul(d));
            if out.len() > MONOMIALS || m.len() + n.len() > DEGREE {
                return None;
            }
        }
    }
    Some(())
}

impl Terms {
    /// Decides or shrinks the equation `a = b` between sums and products.
    pub(super) fn eq_polynomial(&mut self, a: Term, b: Term) -> Option<Term> {
        let arithmetic = |t: Term| matches!(self.op(t), Op::Add | Op::Mul | Op::Neg);
        if !arithmetic(a) && !arithmetic(b) {
            return None;
        }
        let mut expansion = Expansion { terms: self, fuel: FUEL, summands: 0, multiplied: false };
        let mut p = expansion.difference(a, b)?;
        let cancelled = p.keys().filter(|m| !m.is_empty()).count() < expansion.summands;
        let rebuild = cancelled && !expansion.multiplied;
        if let Some(truth) = is_zero(&p) {
            return Some(self.bool_const(truth));
        }
        let constant = p.remove(&Vec::new()).unwrap_or_else(|| BitVec::zero(self.width(a)));
        rebuild.then(|| self.equation(p, constant))
    }

    /// `a - b` as a polynomial; `None` if it is too big.
    pub(crate) fn difference(&self, a: Term, b: Term) -> Option<Polynomial> {
        Expansion { terms: self, fuel: FUEL, summands: 0, multiplied: false }.difference(a, b)
    }

    /// The equation `p + constant = 0`, with negative coefficients on the other side.
    fn equation(&mut self, p: Polynomial, constant: BitVec) -> Term {
        let width = constant.width();
        let (mut left, mut right) = (self.bv(width, 0), self.bv_const(&constant.neg()));
        for (monomial, c) in p {
            let negative = c.sign() && !c.neg().sign();
            let mut t = self.bv_const(&if negative { c.neg() } else { c });
            for factor in monomial {
                t = self.mul(factor, t);
            }
            if negative {
                right = self.add(right, t);
            } else {
                left = self.add(left, t);
            }
        }
        // Everything is cancelled already, so the other rules are enough.
        self.eq_loop(left, right, false)
    }
}
