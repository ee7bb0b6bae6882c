//! Sum, difference, product, quotient and square root.

use super::round::{infinity, nan, normalise, round, shift_sticky, unpack, zero};
use super::{Format, Rounding, is_zero_bits, neg};
use crate::term::{Term, Terms};

/// `a + b`.
pub fn add(s: &mut Terms, format: Format, rounding: Rounding, a: Term, b: Term) -> Term {
    let (x, y) = (unpack(s, format, a), unpack(s, format, b));
    let finite = add_finite(s, format, rounding, a, b);

    // Infinities of one sign stay, of both signs are invalid.
    let signs_differ = s.xor(x.sign, y.sign);
    let infinities = s.and(x.infinite, y.infinite);
    let invalid = s.and(infinities, signs_differ);
    let nans = s.or(x.nan, y.nan);
    let is_nan = s.or(nans, invalid);
    // Two zeros of one sign keep it.
    let zero_sign = {
        let both = s.and(x.sign, y.sign);
        let either = s.or(x.sign, y.sign);
        if rounding == Rounding::TowardNegative { either } else { both }
    };
    let zeros = s.and(x.zero, y.zero);
    let zero = zero(s, format, zero_sign);

    let mut result = s.ite(y.zero, a, finite);
    result = s.ite(x.zero, b, result);
    result = s.ite(zeros, zero, result);
    result = s.ite(y.infinite, b, result);
    result = s.ite(x.infinite, a, result);
    let nan = nan(s, format);
    s.ite(is_nan, nan, result)
}

/// The sum of two finite numbers other than zero.
fn add_finite(s: &mut Terms, format: Format, rounding: Rounding, a: Term, b: Term) -> Term {
    let p = format.precision();
    // The pattern with the greater magnitude first, so that the difference is not negative.
    let (mag_a, mag_b) = (super::abs(s, format, a), super::abs(s, format, b));
    let swap = s.ult(mag_a, mag_b);
    let (big, small) = (s.ite(swap, b, a), s.ite(swap, a, b));
    let (x, y) = (unpack(s, format, big), unpack(s, format, small));
    // A carry bit above; guard, round and sticky bits below.
    let widen = |s: &mut Terms, t: Term| {
        let low = s.bv(3, 0);
        let t = s.concat(t, low);
        s.zero_extend(t, 1)
    };
    let (m, n) = (widen(s, x.significand), widen(s, y.significand));
    let distance = s.sub(x.exponent, y.exponent);
    let n = shift_sticky(s, n, distance);
    let subtract = s.xor(x.sign, y.sign);
    let (sum, difference) = (s.add(m, n), s.sub(m, n));
    let exact = s.ite(subtract, difference, sum);

    let bits = s.width(x.exponent) + 1;
    let (significand, shifted) = normalise(s, exact, bits);
    debug_assert_eq!(s.width(significand), p + 4);
    // The leading bit of the operand is one below the top.
    let exponent = s.sign_extend(x.exponent, 1);
    let one = s.bv(bits, 1);
    let exponent = s.add(exponent, one);
    let exponent = s.sub(exponent, shifted);
    let rounded = round(s, format, rounding, x.sign, exponent, significand);
    // Numbers that cancel leave a positive zero, but a negative one when rounding down.
    let cancelled = is_zero_bits(s, exact);
    let sign = s.bool_const(rounding == Rounding::TowardNegative);
    let zero = zero(s, format, sign);
    s.ite(cancelled, zero, rounded)
}

/// `a - b`.
pub fn sub(s: &mut Terms, format: Format, rounding: Rounding, a: Term, b: Term) -> Term {
    let minus_b = neg(s, format, b);
    add(s, format, rounding, a, minus_b)
}

/// `a * b`.
pub fn mul(s: &mut Terms, format: Format, rounding: Rounding, a: Term, b: Term) -> Term {
    let p = format.precision();
    let (x, y) = (unpack(s, format, a), unpack(s, format, b));
    let sign = s.xor(x.sign, y.sign);
    let (m, n) = (s.zero_extend(x.significand, p), s.zero_extend(y.significand, p));
    let product = s.mul(m, n);
    // The product of numbers in [1, 2) is in [1, 4): one place to normalise at most.
    let bits = s.width(x.exponent);
    let top = s.bit(product, 2 * p - 1);
    let (low, zero_bit) = (s.extract(product, 2 * p - 2, 0), s.bv(1, 0));
    let moved = s.concat(low, zero_bit);
    let significand = s.ite(top, product, moved);
    let exponent = s.add(x.exponent, y.exponent);
    let carry = s.bool_to_bv(top);
    let carry = s.zero_extend(carry, bits - 1);
    let exponent = s.add(exponent, carry);
    let finite = round(s, format, rounding, sign, exponent, significand);

    let any_zero = s.or(x.zero, y.zero);
    let any_infinite = s.or(x.infinite, y.infinite);
    let invalid = s.and(any_zero, any_infinite);
    let nans = s.or(x.nan, y.nan);
    let is_nan = s.or(nans, invalid);
    let (zero, infinity, nan) = (zero(s, format, sign), infinity(s, format, sign), nan(s, format));
    let result = s.ite(any_zero, zero, finite);
    let result = s.ite(any_infinite, infinity, result);
    s.ite(is_nan, nan, result)
}

/// `a / b`.
pub fn div(s: &mut Terms, format: Format, rounding: Rounding, a: Term, b: Term) -> Term {
    let p = format.precision();
    let (x, y) = (unpack(s, format, a), unpack(s, format, b));
    let sign = s.xor(x.sign, y.sign);
    // Scaled by 2^(p + 2), the quotient of numbers in [1, 2) has p + 2 or p + 3 bits.
    let low = s.bv(p + 2, 0);
    let m = s.concat(x.significand, low);
    let n = s.zero_extend(y.significand, p + 2);
    let (quotient, remainder) = (s.udiv(m, n), s.urem(m, n));
    let quotient = s.extract(quotient, p + 2, 0);
    let exact = is_zero_bits(s, remainder);
    let sticky = s.not(exact);
    let sticky = s.bool_to_bv(sticky);
    let quotient = s.concat(quotient, sticky);
    let w = p + 4;
    let top = s.bit(quotient, w - 1);
    let (rest, zero_bit) = (s.extract(quotient, w - 2, 0), s.bv(1, 0));
    let moved = s.concat(rest, zero_bit);
    let significand = s.ite(top, quotient, moved);
    let bits = s.width(x.exponent);
    let exponent = s.sub(x.exponent, y.exponent);
    let (one, none) = (s.bv(bits, 1), s.bv(bits, 0));
    let less = s.ite(top, none, one);
    let exponent = s.sub(exponent, less);
    let finite = round(s, format, rounding, sign, exponent, significand);

    let zeros = s.and(x.zero, y.zero);
    let infinities = s.and(x.infinite, y.infinite);
    let invalid = s.or(zeros, infinities);
    let nans = s.or(x.nan, y.nan);
    let is_nan = s.or(nans, invalid);
    let to_zero = s.or(x.zero, y.infinite);
    let to_infinity = s.or(x.infinite, y.zero);
    let (zero, infinity, nan) = (zero(s, format, sign), infinity(s, format, sign), nan(s, format));
    let result = s.ite(to_zero, zero, finite);
    let result = s.ite(to_infinity, infinity, result);
    s.ite(is_nan, nan, result)
}

/// The square root.
pub fn sqrt(s: &mut Terms, format: Format, rounding: Rounding, a: Term) -> Term {
    let p = format.precision();
    let x = unpack(s, format, a);
    let bits = s.width(x.exponent);
    // An even exponent halves exactly: an odd one lends a factor of two to the significand,
    // which then lies in [1, 4).
    let odd = s.bit(x.exponent, 0);
    let one = s.bv(bits, 1);
    let half = s.ashr(x.exponent, one);
    let plain = s.zero_extend(x.significand, 1);
    let (low, zero_bit) = (x.significand, s.bv(1, 0));
    let doubled = s.concat(low, zero_bit);
    let radicand = s.ite(odd, doubled, plain);
    // p + 2 digits of the root, the first of which is one.
    let (root, exact) = integer_sqrt(s, radicand, p + 2);
    let inexact = s.not(exact);
    let sticky = s.bool_to_bv(inexact);
    let significand = s.concat(root, sticky);
    let finite = round(s, format, rounding, x.sign, half, significand);

    let not_zero = s.not(x.zero);
    let negative = s.and(x.sign, not_zero);
    let is_nan = s.or(x.nan, negative);
    let same = s.or(x.zero, x.infinite);
    let nan = nan(s, format);
    let result = s.ite(same, a, finite);
    s.ite(is_nan, nan, result)
}

/// The first `digits` binary digits of the square root of `radicand / 2^(width - 2)`, a number in
/// [1, 4), and whether they are all of them. Digit by digit: with root `r` so far and rest `d`,
/// the next digit is one if `4d + next two bits >= 4r + 1`.
fn integer_sqrt(s: &mut Terms, radicand: Term, digits: u32) -> (Term, Term) {
    let w = s.width(radicand);
    // Rest and trial stay below 2^(digits + 2).
    let bits = digits + 2;
    let mut root = s.bv(bits, 0);
    let mut rest = s.bv(bits, 0);
    for i in 0..digits {
        // The radicand's bits in pairs, the first pair being the two above the point.
        let pair = |s: &mut Terms, high: bool| {
            let position = i64::from(w) - 1 - i64::from(2 * i) - i64::from(!high);
            match u32::try_from(position) {
                Ok(n) => s.extract(radicand, n, n),
                Err(_) => s.bv(1, 0),
            }
        };
        let (high, low) = (pair(s, true), pair(s, false));
        let next = s.concat(high, low);
        let kept = s.extract(rest, bits - 3, 0);
        rest = s.concat(kept, next);
        let kept = s.extract(root, bits - 3, 0);
        let one = s.bv(2, 1);
        let trial = s.concat(kept, one);
        let fits = s.ule(trial, rest);
        let difference = s.sub(rest, trial);
        rest = s.ite(fits, difference, rest);
        let digit = s.bool_to_bv(fits);
        let kept = s.extract(root, bits - 2, 0);
        root = s.concat(kept, digit);
    }
    let exact = is_zero_bits(s, rest);
    (s.extract(root, digits - 1, 0), exact)
}
