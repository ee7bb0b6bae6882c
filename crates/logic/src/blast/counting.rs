//! A normal form for sums of many small numbers, such as counts of bits.
//!
//! A word is written as a sum of bits with constant factors. Sums, differences, products with
//! constants, concatenations and masks keep that form, and so does an extraction that no carry
//! from below can reach. A narrow word that adds up three or more bits of one weight is built
//! from this sum, column by column, so that it is the same gates however it was written: in a
//! loop, as a tree, or by the well-known tricks with masks and multiplications.

use std::sync::Arc;

use super::Blaster;
use super::aig::Lit;
use super::circuits::full_adder;
use crate::bitvec::BitVec;
use crate::term::{Op, Term, Terms};

/// Forms are kept for words of at most this width, with at most this many summands.
const WIDTH: u32 = 64;
const SUMMANDS: usize = 256;

/// How many operators are looked through; what is below counts as bits.
const DEPTH: u32 = 24;

/// The greatest value of a sum that is built by columns.
const GREATEST: u64 = 1 << 10;

/// Forms that are kept for reuse.
const KEPT: usize = 1 << 12;

/// The sum of `constant` and of the literals times their factors, modulo `2^width`. Literals are
/// in order, factors are not zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Form {
    width: u32,
    constant: u64,
    summands: Vec<(Lit, u64)>,
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

impl Form {
    fn constant(width: u32, value: u64) -> Form {
        Form { width, constant: value & mask(width), summands: Vec::new() }
    }

    /// The word of these bits.
    fn of_bits(bits: &[Lit]) -> Form {
        let mut form = Form::constant(bits.len() as u32, 0);
        for (i, l) in bits.iter().enumerate() {
            match *l {
                Lit::FALSE => {}
                Lit::TRUE => form.constant |= 1 << i,
                l => form.summands.push((l, 1 << i)),
            }
        }
        form.normalised()
    }

    fn normalised(mut self) -> Form {
        let mask = mask(self.width);
        self.summands.sort_unstable();
        self.summands.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.wrapping_add(next.1);
            }
            same
        });
        self.summands.iter_mut().for_each(|(_, c)| *c &= mask);
        self.summands.retain(|(_, c)| *c != 0);
        self.constant &= mask;
        self
    }

    /// `self + factor * other`, where both have this width.
    fn plus(&self, other: &Form, factor: u64) -> Form {
        let mut summands = self.summands.clone();
        summands.extend(other.summands.iter().map(|(l, c)| (*l, c.wrapping_mul(factor))));
        let constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        Form { width: self.width, constant, summands }.normalised()
    }

    /// The same sum with more bits, not more value.
    fn widened(&self, width: u32) -> Form {
        Form { width, ..self.clone() }
    }

    /// Bits `high` to `low`, if the summands below `low` never carry into them.
    fn extract(&self, high: u32, low: u32) -> Option<Form> {
        let below = if low == 0 { 0 } else { mask(low) };
        let carried: u128 = self.summands.iter().map(|(_, c)| u128::from(c & below)).sum();
        if low > 0 && carried + u128::from(self.constant & below) > u128::from(below) {
            return None;
        }
        let summands = self.summands.iter().map(|(l, c)| (*l, c >> low)).collect();
        Some(Form { width: high - low + 1, constant: self.constant >> low, summands }.normalised())
    }

    /// The bits under a mask, other bits zero.
    fn masked(&self, bits: &BitVec) -> Option<Form> {
        let mut out = Form::constant(self.width, 0);
        let mut low = 0;
        while low < self.width {
            if !bits.bit(low) {
                low += 1;
                continue;
            }
            let mut high = low;
            while high + 1 < self.width && bits.bit(high + 1) {
                high += 1;
            }
            let part = self.extract(high, low)?;
            // Without this the part could carry out of its place.
            if part.greatest() > u128::from(mask(part.width)) {
                return None;
            }
            out = out.plus(&part.widened(self.width), 1 << low);
            low = high + 1;
        }
        Some(out)
    }

    /// The value with all bits set, without wrapping around.
    fn greatest(&self) -> u128 {
        self.summands.iter().map(|(_, c)| u128::from(*c)).sum::<u128>() + u128::from(self.constant)
    }

    /// The literals by weight.
    fn columns(&self) -> Vec<Vec<Lit>> {
        let weighted = |i: usize| {
            let constant = (self.constant >> i & 1 == 1).then_some(Lit::TRUE);
            let lits = self.summands.iter().filter(move |(_, c)| c >> i & 1 == 1).map(|(l, _)| *l);
            lits.chain(constant).collect()
        };
        (0..self.width as usize).map(weighted).collect()
    }
}

impl Blaster {
    /// The bits of a narrow sum or part of a sum that adds three or more bits of one weight.
    pub(super) fn count(&mut self, terms: &Terms, t: Term) -> Option<Vec<Lit>> {
        let width = terms.width(t);
        let arg = terms.arg(t, 0);
        let plausible = match terms.op(t) {
            Op::Add => width <= WIDTH && terms.args(t).iter().all(|a| self.is_narrow(terms, *a)),
            Op::Extract => {
                width < GREATEST.ilog2()
                    && terms.width(arg) <= WIDTH
                    && matches!(terms.op(arg), Op::Add | Op::Mul | Op::And)
            }
            _ => false,
        };
        if !plausible {
            return None;
        }
        let form = self.form_of_operator(terms, t, DEPTH)?;
        let mut columns = form.columns();
        if form.greatest() > u128::from(GREATEST) || columns.iter().all(|c| c.len() < 3) {
            return None;
        }
        // No carry goes beyond the greatest value.
        let used = (128 - form.greatest().leading_zeros()).min(width);
        columns.truncate(used as usize);
        self.keep(t, &Arc::new(form));
        let mut bits = self.add_columns(columns);
        bits.resize(width as usize, Lit::FALSE);
        Some(bits)
    }

    /// Whether all bits above a few are known to be zero.
    fn is_narrow(&self, terms: &Terms, t: Term) -> bool {
        let bits = self.bits(terms, t).unwrap_or(&[]);
        let few = (GREATEST.ilog2() as usize).min(bits.len());
        !bits.is_empty() && bits[few..].iter().all(|l| *l == Lit::FALSE)
    }

    fn keep(&mut self, t: Term, form: &Arc<Form>) {
        if self.forms.len() == KEPT {
            self.forms.clear();
        }
        self.forms.insert(t, Arc::clone(form));
    }

    /// The form of a blasted term.
    fn form(&mut self, terms: &Terms, t: Term, depth: u32) -> Option<Arc<Form>> {
        if let Some(form) = self.forms.get(&t) {
            return Some(Arc::clone(form));
        }
        let through = if depth == 0 { None } else { self.form_of_operator(terms, t, depth - 1) };
        let form = match through {
            Some(form) => form,
            None => Form::of_bits(self.bits(terms, t)?),
        };
        if form.summands.len() > SUMMANDS {
            return None;
        }
        let form = Arc::new(form);
        if depth > 0 {
            self.keep(t, &form);
        }
        Some(form)
    }

    /// The form of a term by the forms of its operands, if its operator keeps it.
    fn form_of_operator(&mut self, terms: &Terms, t: Term, depth: u32) -> Option<Form> {
        let width = terms.width(t);
        if width > WIDTH {
            return None;
        }
        let arg = |i: usize| terms.arg(t, i);
        let second = |i: usize| terms.value_of(arg(i)).and_then(|v| v.to_u64());
        Some(match terms.op(t) {
            Op::Const => Form::constant(width, terms.value_of(t)?.to_u64()?),
            Op::Add => {
                let (a, b) = (self.form(terms, arg(0), depth)?, self.form(terms, arg(1), depth)?);
                a.plus(&b, 1)
            }
            Op::Neg => Form::constant(width, 0).plus(&*self.form(terms, arg(0), depth)?, u64::MAX),
            Op::Mul => {
                let factor = second(1)?;
                Form::constant(width, 0).plus(&*self.form(terms, arg(0), depth)?, factor)
            }
            Op::And => {
                let bits = terms.value_of(arg(1))?;
                self.form(terms, arg(0), depth)?.masked(&bits)?
            }
            Op::Concat => {
                let (high, low) = (self.form(terms, arg(0), depth)?, self.form(terms, arg(1), depth)?);
                // A low part that may wrap around does not stay in its place.
                if low.greatest() > u128::from(mask(low.width)) {
                    return None;
                }
                low.widened(width).plus(&high.widened(width), 1 << low.width)
            }
            Op::Extract => {
                let (high, low) = terms.extract_bounds(t)?;
                if terms.width(arg(0)) > WIDTH {
                    return None;
                }
                self.form(terms, arg(0), depth)?.extract(high, low)?
            }
            _ => return None,
        })
    }

    /// Adds up columns of bits, lowest weight first; carries out of the last one are lost.
    fn add_columns(&mut self, mut columns: Vec<Vec<Lit>>) -> Vec<Lit> {
        let mut out = Vec::with_capacity(columns.len());
        for i in 0..columns.len() {
            let mut column: std::collections::VecDeque<Lit> = std::mem::take(&mut columns[i]).into();
            while column.len() > 1 {
                let mut next = || column.pop_front().unwrap_or(Lit::FALSE);
                let (a, b, c) = (next(), next(), next());
                let (sum, carry) = full_adder(&mut self.aig, a, b, c);
                column.push_back(sum);
                if let Some(above) = columns.get_mut(i + 1) {
                    above.push(carry);
                }
            }
            out.push(column.pop_front().unwrap_or(Lit::FALSE));
        }
        out
    }
}
