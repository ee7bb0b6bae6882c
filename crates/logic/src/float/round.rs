//! Unpacking, normalisation, rounding and packing.

use super::{Format, Rounding, fields, is_ones_bits, is_zero_bits};
use crate::bitvec::BitVec;
use crate::term::{Term, Terms};

/// A number taken apart. For a number that is finite and not zero, the value is
/// `significand / 2^(precision - 1) * 2^exponent`, negative if `sign`, and the significand has its
/// leading bit set; otherwise significand and exponent mean nothing.
#[derive(Clone, Copy)]
pub(super) struct Unpacked {
    pub(super) nan: Term,
    pub(super) infinite: Term,
    pub(super) zero: Term,
    pub(super) sign: Term,
    /// Signed, [`Format::exponent_bits`] wide.
    pub(super) exponent: Term,
    pub(super) significand: Term,
}

pub(super) fn unpack(s: &mut Terms, format: Format, a: Term) -> Unpacked {
    let x = fields(s, format, a);
    let bits = format.exponent_bits();
    let (low, high) = (is_zero_bits(s, x.exponent), is_ones_bits(s, x.exponent));
    let exact = is_zero_bits(s, x.fraction);
    let inexact = s.not(exact);
    let leading = s.not(low);
    let leading = s.bool_to_bv(leading);
    let raw = s.concat(leading, x.fraction);
    let (significand, shifted) = normalise(s, raw, bits);
    let wide = s.zero_extend(x.exponent, bits - format.exponent);
    let bias = s.bv_signed(bits, format.bias());
    let normal = s.sub(wide, bias);
    let min = s.bv_signed(bits, format.min_exponent());
    let subnormal = s.sub(min, shifted);
    Unpacked {
        nan: s.and(high, inexact),
        infinite: s.and(high, exact),
        zero: s.and(low, exact),
        sign: x.sign,
        exponent: s.ite(low, subnormal, normal),
        significand,
    }
}

/// Shifts the leading one to the top; also the number of places, `bits` wide. Zero stays zero.
pub(super) fn normalise(s: &mut Terms, t: Term, bits: u32) -> (Term, Term) {
    let w = s.width(t);
    let mut t = t;
    let mut places = s.bv(bits, 0);
    let mut stage = (w - 1).checked_ilog2().map_or(0, |n| n + 1);
    while stage > 0 {
        stage -= 1;
        let n = 1 << stage;
        if n >= w {
            continue;
        }
        let high = s.extract(t, w - 1, w - n);
        let empty = is_zero_bits(s, high);
        let (rest, zeros) = (s.extract(t, w - 1 - n, 0), s.bv(n, 0));
        let moved = s.concat(rest, zeros);
        t = s.ite(empty, moved, t);
        let (count, zero) = (s.bv(bits, u64::from(n)), s.bv(bits, 0));
        let count = s.ite(empty, count, zero);
        places = s.add(places, count);
    }
    (t, places)
}

/// Shifts right by an unsigned amount; what falls out is gathered in the lowest bit.
pub(super) fn shift_sticky(s: &mut Terms, t: Term, by: Term) -> Term {
    let w = s.width(t);
    let bits = s.width(by);
    let stages = (w - 1).checked_ilog2().map_or(0, |n| n + 1).min(bits);
    let mut t = t;
    let mut sticky = s.fls();
    for stage in 0..stages {
        let n = 1u32 << stage;
        let shift = s.bit(by, stage);
        let (lost, moved) = if n >= w {
            (t, s.bv(w, 0))
        } else {
            let high = s.extract(t, w - 1, n);
            (s.extract(t, n - 1, 0), s.zero_extend(high, n))
        };
        let none = is_zero_bits(s, lost);
        let some = s.not(none);
        let some = s.and(shift, some);
        sticky = s.or(sticky, some);
        t = s.ite(shift, moved, t);
    }
    if stages < bits {
        // Larger amounts shift everything out.
        let high = s.extract(by, bits - 1, stages);
        let none = is_zero_bits(s, high);
        let far = s.not(none);
        let empty = is_zero_bits(s, t);
        let some = s.not(empty);
        let some = s.and(far, some);
        sticky = s.or(sticky, some);
        let zero = s.bv(w, 0);
        t = s.ite(far, zero, t);
    }
    let bit = s.bool_to_bv(sticky);
    let bit = s.zero_extend(bit, w - 1);
    s.or(t, bit)
}

/// Whether rounding goes away from zero, given the last bit kept, the first bit cut off and
/// whether anything else was cut off.
pub(super) fn increments(
    s: &mut Terms,
    rounding: Rounding,
    sign: Term,
    last: Term,
    guard: Term,
    sticky: Term,
) -> Term {
    let inexact = s.or(guard, sticky);
    match rounding {
        Rounding::NearestEven => {
            let more = s.or(sticky, last);
            s.and(guard, more)
        }
        Rounding::NearestAway => guard,
        Rounding::TowardPositive => {
            let positive = s.not(sign);
            s.and(inexact, positive)
        }
        Rounding::TowardNegative => s.and(inexact, sign),
        Rounding::TowardZero => s.fls(),
    }
}

/// Rounds and packs `significand / 2^(width - 1) * 2^exponent`, where the significand has its
/// leading bit set, is at least two bits wider than the precision and its lowest bit may stand for
/// what was cut off below. The exponent is signed.
pub(super) fn round(
    s: &mut Terms,
    format: Format,
    rounding: Rounding,
    sign: Term,
    exponent: Term,
    significand: Term,
) -> Term {
    let (w, p, f) = (s.width(significand), format.precision(), format.fraction);
    assert!(w >= p + 2, "a significand with guard and sticky bits");
    // Two more bits hold the biased exponent and its distance from the smallest one.
    let bits = s.width(exponent).max(format.exponent_bits()) + 2;
    let grow = bits - s.width(exponent);
    let exponent = s.sign_extend(exponent, grow);
    let min = s.bv_signed(bits, format.min_exponent());
    let subnormal = s.slt(exponent, min);
    let distance = s.sub(min, exponent);
    let zero = s.bv(bits, 0);
    let distance = s.ite(subnormal, distance, zero);
    let significand = shift_sticky(s, significand, distance);

    let kept = s.extract(significand, w - 1, w - p);
    let guard = s.bit(significand, w - p - 1);
    let rest = s.extract(significand, w - p - 2, 0);
    let exact = is_zero_bits(s, rest);
    let sticky = s.not(exact);
    let last = s.bit(kept, 0);
    let up = increments(s, rounding, sign, last, guard, sticky);

    // With exponent and fraction side by side, the carry of the fraction does what it must: the
    // next exponent, or the smallest normal number.
    let bias = s.bv_signed(bits, format.bias());
    let biased = s.add(exponent, bias);
    let biased = s.ite(subnormal, zero, biased);
    let fraction = s.extract(kept, f - 1, 0);
    let joined = s.concat(biased, fraction);
    let up = s.bool_to_bv(up);
    let up = s.zero_extend(up, bits + f - 1);
    let joined = s.add(joined, up);

    let biased = s.extract(joined, bits + f - 1, f);
    let top = s.bv_signed(bits, (1 << format.exponent) - 1);
    let overflow = s.sge(biased, top);
    let magnitude = s.extract(joined, format.exponent + f - 1, 0);
    let sign_bit = s.bool_to_bv(sign);
    let packed = s.concat(sign_bit, magnitude);
    let too_big = overflowed(s, format, rounding, sign);
    s.ite(overflow, too_big, packed)
}

/// What a number beyond the greatest one rounds to.
fn overflowed(s: &mut Terms, format: Format, rounding: Rounding, sign: Term) -> Term {
    let to_infinity = |negative: bool| match rounding {
        Rounding::NearestEven | Rounding::NearestAway => true,
        Rounding::TowardPositive => !negative,
        Rounding::TowardNegative => negative,
        Rounding::TowardZero => false,
    };
    let pattern = |negative: bool| {
        if to_infinity(negative) { format.infinity(negative) } else { format.greatest(negative) }
    };
    let (negative, positive) = (s.bv_const(&pattern(true)), s.bv_const(&pattern(false)));
    s.ite(sign, negative, positive)
}

/// A zero with the given sign.
pub(super) fn zero(s: &mut Terms, format: Format, sign: Term) -> Term {
    let bit = s.bool_to_bv(sign);
    let zeros = s.bv(format.width() - 1, 0);
    s.concat(bit, zeros)
}

/// An infinity with the given sign.
pub(super) fn infinity(s: &mut Terms, format: Format, sign: Term) -> Term {
    let bit = s.bool_to_bv(sign);
    let pattern = format.infinity(false).extract(format.width() - 2, 0);
    let rest = s.bv_const(&pattern);
    s.concat(bit, rest)
}

/// The canonical NaN.
pub(super) fn nan(s: &mut Terms, format: Format) -> Term {
    let pattern: BitVec = format.nan();
    s.bv_const(&pattern)
}
