//! IEEE 754 arithmetic as bit-vector terms.
//!
//! A number of a [`Format`] is a bit-vector: sign, biased exponent, fraction, as in memory. Each
//! operation unpacks its operands into sign, exponent and a significand with a leading one,
//! computes exactly (with a sticky bit for what is cut off), rounds once and packs (the structure
//! of symfpu: Brain, Schanda, Sun, *Building Better Bit-Blasting for Floating-Point Problems*,
//! TACAS 2019). Every result that is not a number is the one canonical quiet NaN.

mod arith;
mod convert;
mod round;

#[cfg(test)]
mod tests;

pub use arith::{add, div, mul, sqrt, sub};
pub use convert::{from_int, round_to_integral, to_format, to_int};

use crate::bitvec::BitVec;
use crate::term::{Term, Terms};

/// A binary interchange format: how many bits exponent and fraction have. The fraction does not
/// count the leading bit, which is implied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    /// Bits of the biased exponent, at least 2.
    pub exponent: u32,
    /// Bits of the fraction, at least 2.
    pub fraction: u32,
}

/// C's `float` on all common machines.
pub const F32: Format = Format { exponent: 8, fraction: 23 };
/// C's `double` on all common machines.
pub const F64: Format = Format { exponent: 11, fraction: 52 };
/// The values of x87's extended format, without the explicit leading bit of its memory image;
/// see [`x87_to_memory`].
pub const X87: Format = Format { exponent: 15, fraction: 63 };

impl Format {
    /// The bits of a number.
    pub fn width(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// The bits of a significand with its leading bit.
    fn precision(self) -> u32 {
        self.fraction + 1
    }

    /// The bias, which is also the greatest exponent of a finite number.
    fn bias(self) -> i128 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The smallest exponent of a normal number.
    fn min_exponent(self) -> i128 {
        1 - self.bias()
    }

    /// Bits of a signed exponent that holds every exponent of a normalised number with room for
    /// sums of two of them.
    fn exponent_bits(self) -> u32 {
        let reach = (self.bias() + i128::from(self.fraction) + 2).unsigned_abs();
        (u128::BITS - reach.leading_zeros()) + 3
    }

    /// The pattern of an infinity.
    pub fn infinity(self, negative: bool) -> BitVec {
        let (e, f) = (self.exponent, self.fraction);
        BitVec::from_bits(self.width(), |i| if i == e + f { negative } else { i >= f })
    }

    /// The pattern of the canonical quiet NaN.
    pub fn nan(self) -> BitVec {
        let (e, f) = (self.exponent, self.fraction);
        BitVec::from_bits(self.width(), |i| i + 1 >= f && i < e + f)
    }

    /// The pattern of the finite number with the greatest magnitude.
    pub fn greatest(self, negative: bool) -> BitVec {
        let (e, f) = (self.exponent, self.fraction);
        BitVec::from_bits(self.width(), |i| if i == e + f { negative } else { i != f })
    }
}

/// How to round to a number of the format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// To the nearest; of two, the one with an even significand.
    NearestEven,
    /// To the nearest; of two, the one farther from zero.
    NearestAway,
    /// Toward positive infinity.
    TowardPositive,
    /// Toward negative infinity.
    TowardNegative,
    /// Toward zero.
    TowardZero,
}

/// The fields of a number.
#[derive(Clone, Copy)]
struct Fields {
    sign: Term,
    exponent: Term,
    fraction: Term,
}

fn fields(s: &mut Terms, format: Format, a: Term) -> Fields {
    assert_eq!(s.width(a), format.width(), "a number of the format");
    let (e, f) = (format.exponent, format.fraction);
    Fields { sign: s.bit(a, e + f), exponent: s.extract(a, e + f - 1, f), fraction: s.extract(a, f - 1, 0) }
}

fn is_zero_bits(s: &mut Terms, t: Term) -> Term {
    let w = s.width(t);
    let zero = s.bv(w, 0);
    s.eq(t, zero)
}

fn is_ones_bits(s: &mut Terms, t: Term) -> Term {
    let w = s.width(t);
    let ones = s.bv_const(&BitVec::ones(w));
    s.eq(t, ones)
}

/// Whether the number is a NaN.
pub fn is_nan(s: &mut Terms, format: Format, a: Term) -> Term {
    let x = fields(s, format, a);
    let (top, exact) = (is_ones_bits(s, x.exponent), is_zero_bits(s, x.fraction));
    let some = s.not(exact);
    s.and(top, some)
}

/// Whether the number is an infinity.
pub fn is_infinite(s: &mut Terms, format: Format, a: Term) -> Term {
    let x = fields(s, format, a);
    let (top, exact) = (is_ones_bits(s, x.exponent), is_zero_bits(s, x.fraction));
    s.and(top, exact)
}

/// Whether the number is a zero of either sign.
pub fn is_zero(s: &mut Terms, format: Format, a: Term) -> Term {
    let x = fields(s, format, a);
    let (e, f) = (is_zero_bits(s, x.exponent), is_zero_bits(s, x.fraction));
    s.and(e, f)
}

/// Whether the number is normal: neither zero, subnormal, infinite nor NaN.
pub fn is_normal(s: &mut Terms, format: Format, a: Term) -> Term {
    let x = fields(s, format, a);
    let (low, high) = (is_zero_bits(s, x.exponent), is_ones_bits(s, x.exponent));
    let (low, high) = (s.not(low), s.not(high));
    s.and(low, high)
}

/// Whether the number is subnormal.
pub fn is_subnormal(s: &mut Terms, format: Format, a: Term) -> Term {
    let x = fields(s, format, a);
    let (low, exact) = (is_zero_bits(s, x.exponent), is_zero_bits(s, x.fraction));
    let some = s.not(exact);
    s.and(low, some)
}

/// Whether the sign bit is set.
pub fn is_negative(s: &mut Terms, format: Format, a: Term) -> Term {
    s.bit(a, format.width() - 1)
}

/// The number with the other sign; NaN stays NaN.
pub fn neg(s: &mut Terms, format: Format, a: Term) -> Term {
    let mask = s.bv_const(&BitVec::signed_min(format.width()));
    s.bvxor(a, mask)
}

/// The number without its sign.
pub fn abs(s: &mut Terms, format: Format, a: Term) -> Term {
    let magnitude = s.extract(a, format.width() - 2, 0);
    s.zero_extend(magnitude, 1)
}

/// `a == b` as numbers: zeros are equal, NaN equals nothing.
pub fn eq(s: &mut Terms, format: Format, a: Term, b: Term) -> Term {
    let same = s.eq(a, b);
    let (zero_a, zero_b) = (is_zero(s, format, a), is_zero(s, format, b));
    let zeros = s.and(zero_a, zero_b);
    let (nan_a, nan_b) = (is_nan(s, format, a), is_nan(s, format, b));
    let nan = s.or(nan_a, nan_b);
    let numbers = s.not(nan);
    let equal = s.or(same, zeros);
    s.and(numbers, equal)
}

/// `a < b` as numbers; false if one is NaN.
pub fn lt(s: &mut Terms, format: Format, a: Term, b: Term) -> Term {
    // The patterns without signs are ordered like the magnitudes.
    let (sign_a, sign_b) = (is_negative(s, format, a), is_negative(s, format, b));
    let (mag_a, mag_b) = (abs(s, format, a), abs(s, format, b));
    let (below, above) = (s.ult(mag_a, mag_b), s.ult(mag_b, mag_a));
    let by_magnitude = s.ite(sign_a, above, below);
    let same_sign = s.eq(sign_a, sign_b);
    let (zero_a, zero_b) = (is_zero(s, format, a), is_zero(s, format, b));
    let zeros = s.and(zero_a, zero_b);
    let not_zeros = s.not(zeros);
    let by_sign = s.and(sign_a, not_zeros);
    let less = s.ite(same_sign, by_magnitude, by_sign);
    let (nan_a, nan_b) = (is_nan(s, format, a), is_nan(s, format, b));
    let nan = s.or(nan_a, nan_b);
    let numbers = s.not(nan);
    s.and(numbers, less)
}

/// `a <= b` as numbers; false if one is NaN.
pub fn le(s: &mut Terms, format: Format, a: Term, b: Term) -> Term {
    let (less, equal) = (lt(s, format, a, b), eq(s, format, a, b));
    s.or(less, equal)
}

/// The 80 bits that x87 keeps in memory for a number of [`X87`]: with the leading bit of the
/// significand written out.
pub fn x87_to_memory(s: &mut Terms, a: Term) -> Term {
    let x = fields(s, X87, a);
    let subnormal = is_zero_bits(s, x.exponent);
    let leading = s.not(subnormal);
    let leading = s.bool_to_bv(leading);
    let high = s.extract(a, X87.width() - 1, X87.fraction);
    let low = s.concat(leading, x.fraction);
    s.concat(high, low)
}

/// The number of [`X87`] in 80 bits of memory. Patterns that x87 itself rejects (a leading bit
/// that does not fit the exponent) are read as if it did.
pub fn x87_from_memory(s: &mut Terms, a: Term) -> Term {
    assert_eq!(s.width(a), X87.width() + 1, "an x87 memory image");
    let (high, low) = (s.extract(a, 79, 64), s.extract(a, 62, 0));
    s.concat(high, low)
}
