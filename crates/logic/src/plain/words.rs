//! Arithmetic on words, least significant bit first, as one learns it at school: ripple-carry
//! addition, multiplication by shifting and adding, restoring division.

use super::gates::{FALSE, Gates, TRUE};
use palisade_lrat::Lit;

pub(super) type Word = Vec<Lit>;

pub(super) fn complement(a: &[Lit]) -> Word {
    a.iter().map(|x| -x).collect()
}

/// `a + b + carry`, and the carry out.
pub(super) fn add(g: &mut Gates, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Word, Lit) {
    let mut sum = Vec::with_capacity(a.len());
    for (&x, &y) in a.iter().zip(b) {
        let half = g.xor(x, y);
        sum.push(g.xor(half, carry));
        carry = g.majority(x, y, carry);
    }
    (sum, carry)
}

/// `a - b`, and whether nothing was borrowed: `a >= b`.
pub(super) fn subtract(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Lit) {
    add(g, a, &complement(b), TRUE)
}

pub(super) fn negate(g: &mut Gates, a: &[Lit]) -> Word {
    subtract(g, &vec![FALSE; a.len()], a).0
}

pub(super) fn equal(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let mut all = TRUE;
    for (&x, &y) in a.iter().zip(b) {
        let differ = g.xor(x, y);
        all = g.and(all, -differ);
    }
    all
}

/// Unsigned `a < b`.
pub(super) fn less(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    // From the low end: the highest bit in which the two differ decides.
    let mut less = FALSE;
    for (&x, &y) in a.iter().zip(b) {
        let differ = g.xor(x, y);
        less = g.ite(differ, y, less);
    }
    less
}

/// Signed `a < b`: unsigned after the sign bits have changed their roles.
pub(super) fn signed_less(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let flip = |w: &[Lit]| {
        let mut w = w.to_vec();
        if let Some(sign) = w.last_mut() {
            *sign = -*sign;
        }
        w
    };
    less(g, &flip(a), &flip(b))
}

pub(super) fn ite(g: &mut Gates, c: Lit, a: &[Lit], b: &[Lit]) -> Word {
    a.iter().zip(b).map(|(&x, &y)| g.ite(c, x, y)).collect()
}

/// The product, as wide as the operands.
pub(super) fn multiply(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Word {
    if let Some(digits) = signed_digits(a) {
        return multiply_by(g, b, &digits);
    }
    if let Some(digits) = signed_digits(b) {
        return multiply_by(g, a, &digits);
    }
    let mut product = vec![FALSE; a.len()];
    for (i, &bit) in b.iter().enumerate() {
        // Row i is `a << i` where bit i of `b` is set.
        let row: Word = a[..a.len() - i].iter().map(|&x| g.and(x, bit)).collect();
        let (sum, _) = add(g, &product[i..], &row, FALSE);
        product.truncate(i);
        product.extend(sum);
    }
    product
}

/// A constant as digits -1, 0 and 1 of which no two neighbours are both other than 0: that runs of ones count as
/// `2^j - 2^i` makes of `x * -1` one subtraction.
fn signed_digits(word: &[Lit]) -> Option<Vec<i8>> {
    let mut digits = Vec::with_capacity(word.len());
    let mut carry = false;
    for (i, &bit) in word.iter().enumerate() {
        if bit != TRUE && bit != FALSE {
            return None;
        }
        let odd = (bit == TRUE) != carry;
        let next = word.get(i + 1) == Some(&TRUE);
        digits.push(if !odd {
            0
        } else if next {
            -1
        } else {
            1
        });
        // What is left is halved: an odd rest loses its digit before.
        carry = if odd { next } else { carry };
    }
    Some(digits)
}

/// The sum of `a << i` for every digit 1, less those for every digit -1.
fn multiply_by(g: &mut Gates, a: &[Lit], digits: &[i8]) -> Word {
    let mut product = vec![FALSE; a.len()];
    for (i, &digit) in digits.iter().enumerate().filter(|(_, digit)| **digit != 0) {
        let row = &a[..a.len() - i];
        let sum = match digit {
            1 => add(g, &product[i..], row, FALSE).0,
            _ => subtract(g, &product[i..], row).0,
        };
        product.truncate(i);
        product.extend(sum);
    }
    product
}

pub(super) fn zero_extended(a: &[Lit], width: usize) -> Word {
    let mut a = a.to_vec();
    a.resize(width, FALSE);
    a
}

pub(super) fn sign_extended(a: &[Lit], width: usize) -> Word {
    let mut a = a.to_vec();
    let sign = a.last().copied().unwrap_or(FALSE);
    a.resize(width, sign);
    a
}

/// Whether the unsigned product needs more bits than its operands have: some high bit of the
/// product of double width is set.
pub(super) fn multiply_overflows(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let w = a.len();
    let product = multiply(g, &zero_extended(a, 2 * w), &zero_extended(b, 2 * w));
    product[w..].iter().fold(FALSE, |any, &x| g.or(any, x))
}

/// Whether the signed product needs more bits than its operands have: the high bits of the product
/// of double width are not all copies of the sign.
pub(super) fn signed_multiply_overflows(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let w = a.len();
    let product = multiply(g, &sign_extended(a, 2 * w), &sign_extended(b, 2 * w));
    let sign = product[w - 1];
    let mut any = FALSE;
    for &x in &product[w..] {
        let differs = g.xor(x, sign);
        any = g.or(any, differs);
    }
    any
}

/// Quotient and remainder by restoring division. By zero, every subtraction succeeds: the quotient
/// is all ones and the remainder is `a`, as SMT-LIB has it.
pub(super) fn divide(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let w = a.len();
    if b.contains(&TRUE) && signed_digits(b).is_some() && a.iter().any(|x| x.abs() != TRUE) {
        return divide_by(g, a, b);
    }
    // One more bit than `b` has, for the remainder shifted left.
    let divisor = zero_extended(b, w + 1);
    let mut remainder = vec![FALSE; w];
    let mut quotient = vec![FALSE; w];
    for i in (0..w).rev() {
        let mut shifted = vec![a[i]];
        shifted.extend(&remainder);
        let (difference, fits) = subtract(g, &shifted, &divisor);
        quotient[i] = fits;
        remainder = ite(g, fits, &difference[..w], &shifted[..w]);
    }
    (quotient, remainder)
}

/// Quotient and remainder by a constant other than zero: the only words with `quotient * b + remainder = a` and
/// `remainder < b`, without a carry out of the product or the sum.
fn divide_by(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let w = a.len();
    let k = b.iter().rposition(|&bit| bit == TRUE).map_or(0, |i| i + 1);
    // From `b >= 2^(k-1)` follows `quotient < 2^(w-k+1)`, so one bit more holds the product and the sum.
    let mut quotient: Word = (0..w + 1 - k).map(|_| g.input()).collect();
    quotient.resize(w + 1, FALSE);
    let mut remainder: Word = (0..k).map(|_| g.input()).collect();
    remainder.resize(w + 1, FALSE);
    let divisor = zero_extended(b, w + 1);
    let product = multiply(g, &quotient, &divisor);
    let (sum, _) = add(g, &product, &remainder, FALSE);
    for (&x, &y) in sum.iter().zip(&zero_extended(a, w + 1)) {
        let differ = g.xor(x, y);
        g.clause(&[-differ]);
    }
    let smaller = less(g, &remainder, &divisor);
    g.clause(&[smaller]);
    quotient.truncate(w);
    remainder.truncate(w);
    (quotient, remainder)
}

/// `a` shifted right by `by`, with `fill` coming in from the left; all of it from the width on.
pub(super) fn shift_right(g: &mut Gates, a: &[Lit], by: &[Lit], fill: Lit) -> Word {
    let w = a.len();
    let mut out = a.to_vec();
    for (k, &bit) in by.iter().enumerate() {
        // Bit k moves everything by 2^k.
        let distance = if k < usize::BITS as usize - 1 { (1usize << k).min(w) } else { w };
        let moved: Word = (0..w).map(|i| out.get(i + distance).copied().unwrap_or(fill)).collect();
        out = ite(g, bit, &moved, &out);
    }
    out
}

pub(super) fn shift_left(g: &mut Gates, a: &[Lit], by: &[Lit]) -> Word {
    let mut mirrored = a.to_vec();
    mirrored.reverse();
    let mut out = shift_right(g, &mirrored, by, FALSE);
    out.reverse();
    out
}
