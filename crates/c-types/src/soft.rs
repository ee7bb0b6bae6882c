//! Exact floating-point arithmetic in the formats of C on x86: those of IEEE 754 from 16 to 128
//! bits, and x87's 80 bits.
//!
//! Every operation computes the mathematical result with big integers and rounds it once, to
//! nearest even. It is slow and only used for constants.

use dashu::base::BitTest;
use dashu::integer::UBig;
use palisade_cfa::{FloatTy, IntTy};
use std::cmp::Ordering;

/// Decimal digits beyond which a constant cannot change its rounding except by being nonzero; the
/// longest exact halfway point of the 80-bit format has fewer than 11,600.
const MAX_DIGITS: usize = 12_000;

/// A decoded number.
#[derive(Clone, PartialEq, Debug)]
enum Num {
    Nan,
    Inf(bool),
    /// `(-1)^sign * mantissa * 2^exponent`; zero has mantissa 0.
    Finite(bool, UBig, i64),
}

/// A format of floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // each name is the width
pub enum Format {
    F16,
    F32,
    F64,
    F80,
    F128,
}

impl From<FloatTy> for Format {
    fn from(ty: FloatTy) -> Format {
        match ty {
            FloatTy::F32 => Format::F32,
            FloatTy::F64 => Format::F64,
            FloatTy::F80 => Format::F80,
        }
    }
}

impl Format {
    /// Bits of a number.
    fn bits(self) -> u16 {
        match self {
            Format::F16 => 16,
            Format::F32 => 32,
            Format::F64 => 64,
            Format::F80 => 80,
            Format::F128 => 128,
        }
    }

    /// Bits below the exponent. The 80-bit format writes its leading one.
    fn fraction_bits(self) -> u16 {
        match self {
            Format::F16 => 10,
            Format::F32 => 23,
            Format::F64 => 52,
            Format::F80 => 64,
            Format::F128 => 112,
        }
    }
}

/// The shape of a format.
struct Shape {
    /// Bits of precision, with the leading one.
    precision: i64,
    /// Exponent of the lowest bit of the smallest subnormal number.
    min_exp: i64,
    /// Largest exponent of the leading bit.
    max_exp: i64,
}

fn shape(ty: Format) -> Shape {
    match ty {
        Format::F16 => Shape { precision: 11, min_exp: -24, max_exp: 15 },
        Format::F32 => Shape { precision: 24, min_exp: -149, max_exp: 127 },
        Format::F64 => Shape { precision: 53, min_exp: -1074, max_exp: 1023 },
        Format::F80 => Shape { precision: 64, min_exp: -16445, max_exp: 16383 },
        Format::F128 => Shape { precision: 113, min_exp: -16494, max_exp: 16383 },
    }
}

/// The quiet NaN that computations give.
pub fn nan(ty: impl Into<Format>) -> u128 {
    let ty = ty.into();
    // The leading bit of the fraction, after the 80-bit format's one.
    let quiet = ty.fraction_bits() - if ty == Format::F80 { 2 } else { 1 };
    infinity(ty, false) | 1 << quiet
}

/// Infinity with the given sign.
pub fn infinity(ty: impl Into<Format>, negative: bool) -> u128 {
    let ty = ty.into();
    let exponent = (1u128 << (ty.bits() - 1)) - (1 << ty.fraction_bits());
    let leading = if ty == Format::F80 { 1 << 63 } else { 0 };
    exponent | leading | sign_bit(ty, negative)
}

fn sign_bit(ty: Format, negative: bool) -> u128 {
    u128::from(negative) << (ty.bits() - 1)
}

fn decode(ty: Format, bits: u128) -> Num {
    let negative = bits >> (ty.bits() - 1) & 1 == 1;
    let s = shape(ty);
    let frac_bits = ty.fraction_bits();
    let all_ones = (1 << (ty.bits() - 1 - frac_bits)) - 1;
    let exp = (bits >> frac_bits) as i64 & all_ones;
    let frac = bits & ((1u128 << frac_bits) - 1);
    // The 80-bit format writes its leading one.
    let (payload, leading) = match ty {
        Format::F80 => (frac & !(1 << 63), 0),
        _ => (frac, 1u128 << frac_bits),
    };
    if exp == all_ones {
        return if payload == 0 { Num::Inf(negative) } else { Num::Nan };
    }
    if exp == 0 {
        return Num::Finite(negative, UBig::from(frac), s.min_exp);
    }
    Num::Finite(negative, UBig::from(frac | leading), s.min_exp + exp - 1)
}

/// Rounds `mantissa * 2^exponent` (a little more if `sticky`) to nearest even.
fn encode(ty: Format, negative: bool, mantissa: &UBig, exponent: i64, sticky: bool) -> u128 {
    let s = shape(ty);
    let sign = sign_bit(ty, negative);
    let len = mantissa.bit_len() as i64;
    if len == 0 {
        return sign;
    }
    // The exponent of the last bit that is kept.
    let last = (exponent + len - s.precision).max(s.min_exp);
    let drop = last - exponent;
    let mut kept: u128 = if drop <= 0 {
        // `precision` bits at most remain, because `last` is at least `exponent + len - precision`.
        u128::try_from(mantissa << (-drop) as usize).unwrap_or(0)
    } else if drop > len + 1 {
        0
    } else {
        let drop = drop as usize;
        let kept = u128::try_from(mantissa >> drop).unwrap_or(0);
        let half = mantissa.bit(drop - 1);
        let rest = sticky || mantissa.trailing_zeros().is_some_and(|z| z < drop - 1);
        kept + u128::from(half && (rest || kept & 1 == 1))
    };
    let mut last = last;
    if kept >> s.precision != 0 {
        kept >>= 1;
        last += 1;
    }
    if kept == 0 {
        return sign;
    }
    let normal = kept >> (s.precision - 1) != 0;
    if normal && last + s.precision - 1 > s.max_exp {
        return infinity(ty, negative);
    }
    let biased = if normal { (last - s.min_exp + 1) as u128 } else { 0 };
    // Without the leading one where the format does not write it.
    sign | biased << ty.fraction_bits() | kept & ((1 << ty.fraction_bits()) - 1)
}

/// The bits of a floating constant, decimal or hexadecimal, without suffix. `None` if the text is
/// not of that form.
pub fn parse(ty: impl Into<Format>, text: &str) -> Option<u128> {
    let ty = ty.into();
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix("0x") {
        Some(hex) => parse_hex(ty, hex),
        None => parse_decimal(ty, &lower),
    }
}

/// Splits `digits.digits` into the digits and the number of those after the point.
fn split_point(text: &str) -> (String, i64) {
    match text.split_once('.') {
        Some((whole, frac)) => (format!("{whole}{frac}"), frac.len() as i64),
        None => (text.to_string(), 0),
    }
}

/// An exponent, clamped to what cannot matter any more.
fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40);
    Some(if negative { -value } else { value })
}

fn parse_hex(ty: Format, text: &str) -> Option<u128> {
    let (mantissa, exponent) = match text.split_once('p') {
        Some((m, e)) => (m, parse_exponent(e)?),
        None => (text, 0),
    };
    let (digits, after_point) = split_point(mantissa);
    let digits = digits.trim_start_matches('0');
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    if digits.is_empty() {
        return Some(0);
    }
    let (kept, dropped) = digits.split_at(digits.len().min(MAX_DIGITS));
    let sticky = dropped.bytes().any(|b| b != b'0');
    let mantissa = UBig::from_str_radix(kept, 16).ok()?;
    let exponent = exponent - 4 * after_point + 4 * dropped.len() as i64;
    Some(encode_clamped(ty, &mantissa, exponent, sticky))
}

/// [`encode`] of a positive number whose exponent may be out of all proportion.
fn encode_clamped(ty: Format, mantissa: &UBig, exponent: i64, sticky: bool) -> u128 {
    let top = exponent + mantissa.bit_len() as i64;
    if top > 20_000 {
        infinity(ty, false)
    } else if top < -20_000 {
        0
    } else {
        encode(ty, false, mantissa, exponent, sticky)
    }
}

fn parse_decimal(ty: Format, text: &str) -> Option<u128> {
    let (mantissa, exponent) = match text.split_once('e') {
        Some((m, e)) => (m, parse_exponent(e)?),
        None => (text, 0),
    };
    let (digits, after_point) = split_point(mantissa);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let (kept, dropped) = digits.split_at(digits.len().min(MAX_DIGITS));
    let mut exponent = exponent - after_point + dropped.len() as i64;
    let top = exponent + kept.len() as i64;
    if top > 6_000 {
        return Some(infinity(ty, false));
    }
    if top < -6_000 {
        return Some(0);
    }
    let mut mantissa = UBig::from_str_radix(kept, 10).ok()?;
    if dropped.bytes().any(|b| b != b'0') {
        // A digit that stands for all that were cut off: it keeps the number off halfway points.
        mantissa = mantissa * UBig::from(10u8) + UBig::ONE;
        exponent -= 1;
    }
    if exponent >= 0 {
        let scaled = mantissa * UBig::from(10u8).pow(exponent as usize);
        return Some(encode(ty, false, &scaled, 0, false));
    }
    let divisor = UBig::from(10u8).pow(-exponent as usize);
    Some(encode_quotient(ty, false, &mantissa, &divisor, 0))
}

/// Rounds `a / b * 2^exponent`.
fn encode_quotient(ty: Format, negative: bool, a: &UBig, b: &UBig, exponent: i64) -> u128 {
    // Enough quotient bits for the precision, a rounding bit and one more.
    let wanted = shape(ty).precision + 6 + b.bit_len() as i64 - a.bit_len() as i64;
    let shift = wanted.max(0);
    let scaled = a << shift as usize;
    let quotient = &scaled / b;
    let sticky = &quotient * b != scaled;
    // The sticky bit becomes a bit of its own below the quotient.
    let mantissa = (quotient << 1) | UBig::from(u8::from(sticky));
    encode(ty, negative, &mantissa, exponent - shift - 1, false)
}

/// `-a`
pub fn neg(ty: impl Into<Format>, a: u128) -> u128 {
    let ty = ty.into();
    a ^ sign_bit(ty, true)
}

/// `a + b`
pub fn add(ty: impl Into<Format>, a: u128, b: u128) -> u128 {
    let ty = ty.into();
    match (decode(ty, a), decode(ty, b)) {
        (Num::Nan, _) | (_, Num::Nan) => nan(ty),
        (Num::Inf(x), Num::Inf(y)) if x != y => nan(ty),
        (Num::Inf(x), _) | (_, Num::Inf(x)) => infinity(ty, x),
        (Num::Finite(xs, xm, xe), Num::Finite(ys, ym, ye)) => {
            let exp = xe.min(ye);
            let x = xm << (xe - exp) as usize;
            let y = ym << (ye - exp) as usize;
            if xs == ys {
                return encode(ty, xs, &(x + y), exp, false);
            }
            match x.cmp(&y) {
                Ordering::Greater => encode(ty, xs, &(x - y), exp, false),
                Ordering::Less => encode(ty, ys, &(y - x), exp, false),
                Ordering::Equal => 0,
            }
        }
    }
}

/// `a - b`
pub fn sub(ty: impl Into<Format>, a: u128, b: u128) -> u128 {
    let ty = ty.into();
    add(ty, a, neg(ty, b))
}

/// `a * b`
pub fn mul(ty: impl Into<Format>, a: u128, b: u128) -> u128 {
    let ty = ty.into();
    match (decode(ty, a), decode(ty, b)) {
        (Num::Nan, _) | (_, Num::Nan) => nan(ty),
        (Num::Inf(x), Num::Inf(y)) => infinity(ty, x != y),
        (Num::Inf(x), Num::Finite(y, m, _)) | (Num::Finite(y, m, _), Num::Inf(x)) => {
            if m.is_zero() {
                nan(ty)
            } else {
                infinity(ty, x != y)
            }
        }
        (Num::Finite(xs, xm, xe), Num::Finite(ys, ym, ye)) => {
            encode(ty, xs != ys, &(xm * ym), xe + ye, false)
        }
    }
}

/// `a / b`
pub fn div(ty: impl Into<Format>, a: u128, b: u128) -> u128 {
    let ty = ty.into();
    match (decode(ty, a), decode(ty, b)) {
        (Num::Nan, _) | (_, Num::Nan) | (Num::Inf(_), Num::Inf(_)) => nan(ty),
        (Num::Inf(x), Num::Finite(y, ..)) => infinity(ty, x != y),
        (Num::Finite(x, ..), Num::Inf(y)) => sign_bit(ty, x != y),
        (Num::Finite(xs, xm, xe), Num::Finite(ys, ym, ye)) => match (xm.is_zero(), ym.is_zero()) {
            (true, true) => nan(ty),
            (true, false) => sign_bit(ty, xs != ys),
            (false, true) => infinity(ty, xs != ys),
            (false, false) => encode_quotient(ty, xs != ys, &xm, &ym, xe - ye),
        },
    }
}

/// The order of two numbers; `None` if one is NaN.
pub fn compare(ty: impl Into<Format>, a: u128, b: u128) -> Option<Ordering> {
    let ty = ty.into();
    let rank = |n: &Num| match n {
        Num::Inf(false) => 2,
        Num::Inf(true) => -2,
        Num::Finite(_, m, _) if m.is_zero() => 0,
        Num::Finite(false, ..) => 1,
        _ => -1,
    };
    match (decode(ty, a), decode(ty, b)) {
        (Num::Nan, _) | (_, Num::Nan) => None,
        (x, y) if rank(&x) != rank(&y) => Some(rank(&x).cmp(&rank(&y))),
        (Num::Finite(negative, xm, xe), Num::Finite(_, ym, ye)) => {
            let exp = xe.min(ye);
            let order = (xm << (xe - exp) as usize).cmp(&(ym << (ye - exp) as usize));
            Some(if negative { order.reverse() } else { order })
        }
        _ => Some(Ordering::Equal),
    }
}

/// Whether the number is zero.
pub fn is_zero(ty: impl Into<Format>, a: u128) -> bool {
    let ty = ty.into();
    a & !sign_bit(ty, true) == 0
}

/// Whether the number is neither infinite nor NaN.
pub fn is_finite(ty: impl Into<Format>, a: u128) -> bool {
    let ty = ty.into();
    matches!(decode(ty, a), Num::Finite(..))
}

/// Conversion between formats.
pub fn convert(from: impl Into<Format>, to: impl Into<Format>, a: u128) -> u128 {
    let (from, to) = (from.into(), to.into());
    if from == to {
        return a;
    }
    match decode(from, a) {
        Num::Nan => nan(to) | sign_bit(to, a >> (from.bits() - 1) & 1 == 1),
        Num::Inf(negative) => infinity(to, negative),
        Num::Finite(negative, m, e) => encode(to, negative, &m, e, false),
    }
}

/// Conversion of an integer.
pub fn from_int(from: IntTy, to: impl Into<Format>, bits: u128) -> u128 {
    let to = to.into();
    let bits = from.truncate(bits);
    let negative = from.signed && bits >> (from.bits - 1) & 1 == 1;
    let magnitude = if negative { from.truncate(bits.wrapping_neg()) } else { bits };
    encode(to, negative, &UBig::from(magnitude), 0, false)
}

/// Conversion to an integer, toward zero; `None` if it does not fit.
pub fn to_int(from: impl Into<Format>, to: IntTy, a: u128) -> Option<u128> {
    let from = from.into();
    let Num::Finite(negative, m, e) = decode(from, a) else { return None };
    if m.bit_len() as i64 + e > 128 {
        return None;
    }
    let whole = if e >= 0 { m << e as usize } else { m >> usize::try_from(-e).ok()? };
    let magnitude = u128::try_from(whole).ok()?;
    let limit = if negative { to.min_bits() } else { to.max_bits() };
    if magnitude > limit {
        return None;
    }
    Some(to.truncate(if negative { magnitude.wrapping_neg() } else { magnitude }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits that are interesting for the formats of the host.
    fn samples64() -> Vec<u64> {
        let mut out: Vec<u64> = vec![
            0,
            1,
            2,
            0x000f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x3ff0_0000_0000_0000,
            0x3ff0_0000_0000_0001,
            0x3fef_ffff_ffff_ffff,
            0x4340_0000_0000_0001,
            0x7fef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0x4008_0000_0000_0000,
            0x3fd5_5555_5555_5555,
        ];
        let mut x: u64 = 88172645463325252;
        for _ in 0..120 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            out.push(x);
        }
        out.extend(out.clone().iter().map(|b| b ^ (1 << 63)));
        out
    }

    fn same(ours: u128, host: f64) {
        if host.is_nan() {
            assert_eq!(decode(Format::F64, ours), Num::Nan);
        } else {
            assert_eq!(ours, u128::from(host.to_bits()), "expected {host:e}");
        }
    }

    #[test]
    fn double_arithmetic_is_that_of_the_host() {
        let ty = FloatTy::F64;
        for &a in &samples64() {
            for &b in &samples64() {
                let (x, y) = (f64::from_bits(a), f64::from_bits(b));
                let (a, b) = (u128::from(a), u128::from(b));
                same(add(ty, a, b), x + y);
                same(sub(ty, a, b), x - y);
                same(mul(ty, a, b), x * y);
                same(div(ty, a, b), x / y);
                assert_eq!(compare(ty, a, b), x.partial_cmp(&y));
            }
        }
    }

    #[test]
    fn conversions_are_those_of_the_host() {
        for &a in &samples64() {
            let x = f64::from_bits(a);
            let narrow = convert(FloatTy::F64, FloatTy::F32, a.into());
            if !x.is_nan() {
                assert_eq!(narrow, u128::from((x as f32).to_bits()), "{x:e}");
                let wide = convert(FloatTy::F64, FloatTy::F80, a.into());
                same(convert(FloatTy::F80, FloatTy::F64, wide), x);
                let i64_ty = IntTy { bits: 64, signed: true };
                match to_int(FloatTy::F64, i64_ty, a.into()) {
                    Some(bits) => assert_eq!(bits as u64 as i64, x as i64),
                    None => assert!(x.is_infinite() || x.abs() >= 9.2e18),
                }
                same(from_int(i64_ty, FloatTy::F64, a.into()), a as i64 as f64);
                let u64_ty = IntTy { bits: 64, signed: false };
                same(from_int(u64_ty, FloatTy::F64, a.into()), a as f64);
            }
        }
    }

    #[test]
    fn decimal_constants_round_as_the_host_rounds() {
        for text in [
            "0",
            "0.0",
            "1",
            "1.5",
            "0.1",
            "1e22",
            "1e23",
            "3.14159265358979323846",
            "1e-320",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "1e400",
            "1e-400",
            "9007199254740993",
            "9007199254740992.9999999999",
            "123456789.123456789e-5",
            ".5",
            "5.",
            "1e999999999999999999999",
            "1e-99999999999999999999",
        ] {
            let wide: f64 = text.parse().unwrap();
            assert_eq!(parse(FloatTy::F64, text), Some(wide.to_bits().into()), "{text}");
            let narrow: f32 = text.parse().unwrap();
            assert_eq!(parse(FloatTy::F32, text), Some(narrow.to_bits().into()), "{text}");
        }
    }

    #[test]
    fn extended_and_hexadecimal_constants() {
        assert_eq!(parse(FloatTy::F80, "1"), Some(0x3fff_8000_0000_0000_0000));
        assert_eq!(parse(FloatTy::F80, "0.1"), Some(0x3ffb_cccc_cccc_cccc_cccd));
        assert_eq!(parse(FloatTy::F80, "3.3621031431120935063e-4932"), Some(0x0001_8000_0000_0000_0000));
        assert_eq!(parse(FloatTy::F80, "1e5000"), Some(infinity(FloatTy::F80, false)));
        assert_eq!(parse(FloatTy::F64, "0x1.8p1"), Some(3.0f64.to_bits().into()));
        assert_eq!(parse(FloatTy::F64, "0x1.fffffffffffff8p0"), Some(2.0f64.to_bits().into()));
        assert_eq!(parse(FloatTy::F32, "0x1p-149"), Some(1));
        assert_eq!(parse(FloatTy::F64, "0x"), Some(0), "the lexer reports missing digits");
        assert_eq!(parse(FloatTy::F64, "1e"), None);
        assert_eq!(parse(FloatTy::F64, "1.2.3"), None);
    }
}
