//! Conversions between formats, to and from integers, and to integral numbers.

use super::round::{increments, infinity, nan, normalise, round, shift_sticky, unpack, zero};
use super::{Format, Rounding, is_zero_bits};
use crate::bitvec::BitVec;
use crate::term::{Term, Terms};

/// The number of another format nearest to `a`.
pub fn to_format(s: &mut Terms, from: Format, to: Format, rounding: Rounding, a: Term) -> Term {
    if from == to {
        return a;
    }
    let x = unpack(s, from, a);
    // At least two bits below the target's precision.
    let missing = (to.precision() + 2).saturating_sub(from.precision());
    let significand = if missing > 0 {
        let low = s.bv(missing, 0);
        s.concat(x.significand, low)
    } else {
        x.significand
    };
    let finite = round(s, to, rounding, x.sign, x.exponent, significand);
    let (zero, infinity, nan) = (zero(s, to, x.sign), infinity(s, to, x.sign), nan(s, to));
    let result = s.ite(x.zero, zero, finite);
    let result = s.ite(x.infinite, infinity, result);
    s.ite(x.nan, nan, result)
}

/// The number nearest to an integer.
pub fn from_int(s: &mut Terms, to: Format, rounding: Rounding, a: Term, signed: bool) -> Term {
    let w = s.width(a);
    let sign = if signed { s.sign_bit(a) } else { s.fls() };
    let magnitude = if signed { s.abs(a) } else { a };
    let missing = (to.precision() + 2).saturating_sub(w);
    let wide = if missing > 0 {
        let low = s.bv(missing, 0);
        s.concat(magnitude, low)
    } else {
        magnitude
    };
    // Enough for the exponent of the greatest integer.
    let bits = u32::BITS - w.leading_zeros() + 2;
    let (significand, shifted) = normalise(s, wide, bits);
    let top = s.bv(bits, u64::from(w - 1));
    let exponent = s.sub(top, shifted);
    let rounded = round(s, to, rounding, sign, exponent, significand);
    let is_zero = is_zero_bits(s, a);
    let positive = s.fls();
    let zero = zero(s, to, positive);
    s.ite(is_zero, zero, rounded)
}

/// The integer of the given width that `a` rounds to, and whether it fits. Where it does not (also
/// for infinities and NaN), the integer means nothing.
pub fn to_int(
    s: &mut Terms,
    from: Format,
    rounding: Rounding,
    a: Term,
    width: u32,
    signed: bool,
) -> (Term, Term) {
    let p = from.precision();
    let x = unpack(s, from, a);
    // A fixed-point number: width + 1 bits before the point, guard and sticky bits after it. The
    // significand starts above with its leading bit at 2^width.
    let w = width + 1 + p + 2;
    let low = s.bv(w - p, 0);
    let fixed = s.concat(x.significand, low);
    let limit_bits = (u32::BITS - width.leading_zeros()) + 2;
    let bits = s.width(x.exponent).max(limit_bits) + 1;
    let grow = bits - s.width(x.exponent);
    let exponent = s.sign_extend(x.exponent, grow);
    let top = s.bv(bits, u64::from(width));
    // Exponents above the width do not fit anyway.
    let too_big = s.slt(top, exponent);
    let places = s.sub(top, exponent);
    let fixed = shift_sticky(s, fixed, places);

    let whole = s.extract(fixed, w - 1, p + 2);
    let guard = s.bit(fixed, p + 1);
    let rest = s.extract(fixed, p, 0);
    let exact = is_zero_bits(s, rest);
    let sticky = s.not(exact);
    let last = s.bit(whole, 0);
    let up = increments(s, rounding, x.sign, last, guard, sticky);
    // One more bit for the carry.
    let whole = s.zero_extend(whole, 1);
    let up = s.bool_to_bv(up);
    let up = s.zero_extend(up, width + 1);
    let magnitude = s.add(whole, up);
    let zero = s.bv(width + 2, 0);
    let magnitude = s.ite(x.zero, zero, magnitude);

    // The greatest magnitude depends on the sign.
    let limit = |negative: bool| match (signed, negative) {
        (true, true) => BitVec::signed_min(width).zero_extend(2),
        (true, false) => BitVec::signed_max(width).zero_extend(2),
        (false, true) => BitVec::zero(width + 2),
        (false, false) => BitVec::ones(width).zero_extend(2),
    };
    let (below, above) = (s.bv_const(&limit(true)), s.bv_const(&limit(false)));
    let limit = s.ite(x.sign, below, above);
    let in_range = s.ule(magnitude, limit);
    let not_zero = s.not(x.zero);
    let too_big = s.and(too_big, not_zero);
    let special = s.or(x.nan, x.infinite);
    let bad = s.or(special, too_big);
    let good = s.not(bad);
    let fits = s.and(good, in_range);

    let magnitude = s.extract(magnitude, width - 1, 0);
    let negated = s.neg(magnitude);
    (s.ite(x.sign, negated, magnitude), fits)
}

/// The integral number that `a` rounds to, in the same format: C's `trunc`, `floor`, `ceil`,
/// `round` and `rint`, by the rounding.
pub fn round_to_integral(s: &mut Terms, format: Format, rounding: Rounding, a: Term) -> Term {
    let (p, f) = (format.precision(), format.fraction);
    let x = unpack(s, format, a);
    let bits = s.width(x.exponent);
    // As a fixed-point number with the leading bit at 2^(p - 1) and guard and sticky bits below.
    let low = s.bv(2, 0);
    let fixed = s.concat(x.significand, low);
    let top = s.bv_signed(bits, i128::from(f));
    let integral = s.sle(top, x.exponent);
    let places = s.sub(top, x.exponent);
    let zero_places = s.bv(bits, 0);
    let places = s.ite(integral, zero_places, places);
    let fixed = shift_sticky(s, fixed, places);
    let whole = s.extract(fixed, p + 1, 2);
    let (guard, sticky, last) = (s.bit(fixed, 1), s.bit(fixed, 0), s.bit(whole, 0));
    let up = increments(s, rounding, x.sign, last, guard, sticky);
    let whole = s.zero_extend(whole, 1);
    let up = s.bool_to_bv(up);
    let up = s.zero_extend(up, p);
    let whole = s.add(whole, up);
    // An integer of at most p bits, or 2^p: exact, unless beyond a format with few exponents.
    let none = is_zero_bits(s, whole);
    let low = s.bv(2, 0);
    let wide = s.concat(whole, low);
    let (significand, shifted) = normalise(s, wide, bits);
    let start = s.bv_signed(bits, i128::from(p));
    let exponent = s.sub(start, shifted);
    let rounded = round(s, format, rounding, x.sign, exponent, significand);
    let zero = zero(s, format, x.sign);
    let result = s.ite(none, zero, rounded);
    let special = s.or(x.infinite, x.zero);
    let unchanged = s.or(special, integral);
    let result = s.ite(unchanged, a, result);
    let nan = nan(s, format);
    s.ite(x.nan, nan, result)
}
