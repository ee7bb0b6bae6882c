//! Scalar operators on value bits: the constant evaluator of the automaton, completed by the
//! 80-bit format and by what x86 does where C defines nothing but a run must go on.

use crate::f80;
use palisade_cfa::eval;
use palisade_cfa::*;
use std::cmp::Ordering;

const F80: Scalar = Scalar::Float(FloatTy::F80);

/// A unary operator; `None` only for operands no operator has.
pub(crate) fn unary(op: UnOp, ty: Scalar, a: u128) -> Option<u128> {
    match (op, ty) {
        (UnOp::Neg, F80) => Some(f80::neg(a)),
        _ => eval::eval_unary(op, ty, a),
    }
}

/// A binary operator; `None` where the result is undefined.
pub(crate) fn binary(op: BinOp, ty: Scalar, a: u128, shift: IntTy, b: u128) -> Option<u128> {
    match (op, ty) {
        (BinOp::Add, F80) => Some(f80::add(a, b)),
        (BinOp::Sub, F80) => Some(f80::sub(a, b)),
        (BinOp::Mul, F80) => Some(f80::mul(a, b)),
        (BinOp::Div, F80) => Some(f80::div(a, b)),
        _ => eval::eval_binary(op, ty, a, shift, b),
    }
}

pub(crate) fn compare(op: CmpOp, ty: Scalar, a: u128, b: u128) -> bool {
    if ty == F80 {
        let order = f80::compare(a, b);
        return match op {
            CmpOp::Eq => order == Some(Ordering::Equal),
            CmpOp::Ne => order != Some(Ordering::Equal),
            CmpOp::Lt => order == Some(Ordering::Less),
            CmpOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        };
    }
    eval::eval_cmp(op, ty, a, b).unwrap_or(false)
}

/// Whether the exact result leaves the type; false where the operation is undefined anyway.
pub(crate) fn overflow(op: BinOp, t: IntTy, a: u128, shift: IntTy, b: u128) -> bool {
    eval::eval_overflow(op, t, a, shift, b).unwrap_or(false)
}

/// C's conversion. A floating-point value that does not fit an integer type becomes what the x86
/// instructions of a compiler give.
pub(crate) fn convert(from: Scalar, to: Scalar, a: u128, ptr_bits: u16) -> u128 {
    match (from, to) {
        (F80, F80) => a,
        (F80, Scalar::Float(FloatTy::F64)) => f80::to_f64(a).to_bits().into(),
        (F80, Scalar::Float(FloatTy::F32)) => f80::to_f32(a).to_bits().into(),
        (Scalar::Float(FloatTy::F64), F80) => f80::from_f64(f64::from_bits(a as u64)),
        (Scalar::Float(FloatTy::F32), F80) => f80::from_f64(f32::from_bits(a as u32).into()),
        (Scalar::Int(t), F80) => {
            let negative = t.signed && t.decode(a) < 0;
            f80::from_u128(negative, if negative { t.decode(a).unsigned_abs() } else { t.truncate(a) })
        }
        (Scalar::Float(f), Scalar::Int(t)) => float_to_int(f, t, a),
        _ => eval::eval_convert(from, to, a, ptr_bits).unwrap_or(0),
    }
}

/// Whether a conversion to an integer type keeps the number, but for what stands behind the point.
pub(crate) fn holds(from: Scalar, to: Scalar, a: u128) -> bool {
    let (Scalar::Float(from), Scalar::Int(t)) = (from, to) else { return true };
    match f80::trunc_to_int(widened(from, a)) {
        Some((false, m)) => m <= t.max_bits(),
        Some((true, m)) => m == 0 || t.signed && m <= t.min_bits(),
        None => false,
    }
}

fn widened(from: FloatTy, a: u128) -> u128 {
    match from {
        FloatTy::F32 => f80::from_f64(f32::from_bits(a as u32).into()),
        FloatTy::F64 => f80::from_f64(f64::from_bits(a as u64)),
        FloatTy::F80 => a,
    }
}

fn float_to_int(from: FloatTy, t: IntTy, a: u128) -> u128 {
    let wide = widened(from, a);
    // The widest register the conversion goes through: 32 bits for int and smaller, 64 for
    // unsigned int and long; what does not fit there becomes its smallest value.
    let register = match t {
        IntTy { bits: 0..=31, .. } | IntTy { bits: 32, signed: true } => 32,
        IntTy { bits: 0..=63, .. } | IntTy { bits: 64, signed: true } => 64,
        _ => 128,
    };
    let signed = IntTy { bits: register, signed: true };
    let value = match f80::trunc_to_int(wide) {
        Some((false, m)) if m <= signed.max_bits() => m,
        Some((true, m)) if m <= signed.min_bits() => m.wrapping_neg(),
        Some((false, m)) if !t.signed && m <= t.max_bits() => m,
        _ if t.bits == 64 => 1 << 63,
        _ => signed.min_bits(),
    };
    t.truncate(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_hold_what_is_in_their_range() {
        let f64_ = Scalar::Float(FloatTy::F64);
        for (bits, signed) in [(8u16, true), (8, false), (32, true), (32, false), (64, true), (64, false)] {
            let ty = IntTy { bits, signed };
            let (low, high) = match signed {
                true => (-(2f64.powi(i32::from(bits) - 1)), 2f64.powi(i32::from(bits) - 1)),
                false => (0.0, 2f64.powi(i32::from(bits))),
            };
            let inside = |x: f64| holds(f64_, Scalar::Int(ty), x.to_bits().into());
            assert!(inside(low) && inside(0.0) && inside(-0.9) && inside(high - 2048.0f64.min(high / 2.0)));
            assert!(
                !inside(high) && !inside(f64::NAN) && !inside(f64::INFINITY) && !inside(f64::NEG_INFINITY)
            );
            assert!(!inside(if bits < 64 { low - 1.0 } else { low - 4096.0 }));
        }
    }

    #[test]
    fn floats_that_do_not_fit_become_what_the_processor_gives() {
        let f64_ = Scalar::Float(FloatTy::F64);
        let int = |bits, signed| Scalar::Int(IntTy { bits, signed });
        let go = |x: f64, to| convert(f64_, to, x.to_bits().into(), 64);
        assert_eq!(go(1e10, int(32, true)), 0x8000_0000);
        assert_eq!(go(-1.9, int(32, true)), 0xffff_ffff);
        assert_eq!(go(3e9, int(32, false)), 3_000_000_000);
        assert_eq!(go(-1.0, int(32, false)), 0xffff_ffff);
        assert_eq!(go(1e19, int(64, false)), 10_000_000_000_000_000_000);
        assert_eq!(go(f64::NAN, int(64, true)), 1 << 63);
        assert_eq!(go(300.0, int(8, false)), 44);
        assert_eq!(go(1e30, int(128, true)), 1_000_000_000_000_000_019_884_624_838_656);
    }

    #[test]
    fn extended_precision_holds_every_64_bit_integer() {
        let t = IntTy { bits: 64, signed: true };
        for v in [0i64, 1, -1, i64::MIN, i64::MAX, 0x7fff_ffff_ffff_fffe] {
            let bits = t.truncate(v as i128 as u128);
            assert_eq!(convert(F80, Scalar::Int(t), convert(Scalar::Int(t), F80, bits, 64), 64), bits);
        }
    }
}
