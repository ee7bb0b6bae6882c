//! The one constant evaluator of scalar operators.
//!
//! Values are *value bits*: an integer of `n` bits is its two's complement in the low `n` bits of
//! a `u128`, a floating-point number its IEEE representation, all other bits zero. Whatever the
//! IR leaves open (division by zero, a shift by too much, a conversion out of range) and the
//! extended 80-bit format answer `None`: the caller knows nothing, or ends the run.

use crate::ir::{BinOp, CmpOp, UnOp};
use crate::types::{FloatTy, IntTy, Scalar};

/// A unary operator on an operand of type `ty`.
pub fn eval_unary(op: UnOp, ty: Scalar, a: u128) -> Option<u128> {
    match (op, ty) {
        (UnOp::Neg, Scalar::Int(t)) => Some(t.truncate(a.wrapping_neg())),
        (UnOp::Not, Scalar::Int(t)) => Some(t.truncate(!a)),
        // IEEE negation flips the sign bit, of a NaN too.
        (UnOp::Neg, Scalar::Float(FloatTy::F32)) => Some(a ^ (1 << 31)),
        (UnOp::Neg, Scalar::Float(FloatTy::F64)) => Some(a ^ (1 << 63)),
        _ => None,
    }
}

/// A binary operator on operands of type `ty`; `shift` is the type of a shift's right operand
/// (that of the left one for every other operator).
pub fn eval_binary(op: BinOp, ty: Scalar, a: u128, shift: IntTy, b: u128) -> Option<u128> {
    match ty {
        Scalar::Int(t) => int_binary(op, t, a, shift, b),
        Scalar::Float(FloatTy::F32) => {
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let r = float_op(op, x, y)?;
            Some(u128::from(if x.is_nan() {
                a as u32 | 1 << 22
            } else if y.is_nan() {
                b as u32 | 1 << 22
            } else if r.is_nan() {
                0xffc0_0000
            } else {
                r.to_bits()
            }))
        }
        Scalar::Float(FloatTy::F64) => {
            let (x, y) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
            let r = float_op(op, x, y)?;
            Some(u128::from(if x.is_nan() {
                a as u64 | 1 << 51
            } else if y.is_nan() {
                b as u64 | 1 << 51
            } else if r.is_nan() {
                0xfff8_0000_0000_0000
            } else {
                r.to_bits()
            }))
        }
        _ => None,
    }
}

fn float_op<F>(op: BinOp, x: F, y: F) -> Option<F>
where
    F: std::ops::Add<Output = F>
        + std::ops::Sub<Output = F>
        + std::ops::Mul<Output = F>
        + std::ops::Div<Output = F>,
{
    match op {
        BinOp::Add => Some(x + y),
        BinOp::Sub => Some(x - y),
        BinOp::Mul => Some(x * y),
        BinOp::Div => Some(x / y),
        _ => None,
    }
}

/// The distance of a shift in a type of `width` bits, if it is one that C defines.
fn distance(width: u16, shift: IntTy, b: u128) -> Option<u32> {
    let b = if shift.signed { u128::try_from(shift.decode(b)).ok()? } else { shift.truncate(b) };
    (b < u128::from(width)).then_some(b as u32)
}

fn int_binary(op: BinOp, t: IntTy, a: u128, shift: IntTy, b: u128) -> Option<u128> {
    let r = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Div | BinOp::Rem if t.truncate(b) == 0 => return None,
        BinOp::Div if t.signed => t.decode(a).wrapping_div(t.decode(b)) as u128,
        BinOp::Rem if t.signed => t.decode(a).wrapping_rem(t.decode(b)) as u128,
        BinOp::Div => t.truncate(a) / t.truncate(b),
        BinOp::Rem => t.truncate(a) % t.truncate(b),
        BinOp::Shl => a << distance(t.bits, shift, b)?,
        BinOp::Shr if t.signed => (t.decode(a) >> distance(t.bits, shift, b)?) as u128,
        BinOp::Shr => t.truncate(a) >> distance(t.bits, shift, b)?,
    };
    Some(t.truncate(r))
}

/// A comparison of two operands of type `ty` (pointers as unsigned addresses of any width).
pub fn eval_cmp(op: CmpOp, ty: Scalar, a: u128, b: u128) -> Option<bool> {
    let order = match ty {
        Scalar::Int(t) if t.signed => Some(t.decode(a).cmp(&t.decode(b))),
        Scalar::Int(t) => Some(t.truncate(a).cmp(&t.truncate(b))),
        Scalar::Ptr => Some(a.cmp(&b)),
        Scalar::Float(FloatTy::F32) => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        Scalar::Float(FloatTy::F64) => f64::from_bits(a as u64).partial_cmp(&f64::from_bits(b as u64)),
        Scalar::Float(FloatTy::F80) => return None,
    };
    Some(match op {
        CmpOp::Eq => order == Some(std::cmp::Ordering::Equal),
        CmpOp::Ne => order != Some(std::cmp::Ordering::Equal),
        CmpOp::Lt => order == Some(std::cmp::Ordering::Less),
        CmpOp::Le => matches!(order, Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)),
    })
}

/// C's conversion of a value of type `from` to type `to`. Pointers count as unsigned integers of
/// `ptr_bits` bits.
pub fn eval_convert(from: Scalar, to: Scalar, a: u128, ptr_bits: u16) -> Option<u128> {
    let address = IntTy { bits: ptr_bits, signed: false };
    let from = if from == Scalar::Ptr { Scalar::Int(address) } else { from };
    let to = if to == Scalar::Ptr { Scalar::Int(address) } else { to };
    match (from, to) {
        (Scalar::Int(f), Scalar::Int(t)) => Some(t.truncate(extend(f, a))),
        (Scalar::Int(f), Scalar::Float(FloatTy::F32)) => {
            Some(u128::from(if f.signed { f.decode(a) as f32 } else { f.truncate(a) as f32 }.to_bits()))
        }
        (Scalar::Int(f), Scalar::Float(FloatTy::F64)) => {
            Some(u128::from(if f.signed { f.decode(a) as f64 } else { f.truncate(a) as f64 }.to_bits()))
        }
        (Scalar::Float(FloatTy::F32), Scalar::Int(t)) => float_to_int(f64::from(f32::from_bits(a as u32)), t),
        (Scalar::Float(FloatTy::F64), Scalar::Int(t)) => float_to_int(f64::from_bits(a as u64), t),
        (Scalar::Float(f), Scalar::Float(t)) if f == t => Some(a),
        (Scalar::Float(FloatTy::F32), Scalar::Float(FloatTy::F64)) => {
            let x = f32::from_bits(a as u32);
            Some(u128::from(if x.is_nan() { nan_widen(a as u32) } else { f64::from(x).to_bits() }))
        }
        (Scalar::Float(FloatTy::F64), Scalar::Float(FloatTy::F32)) => {
            let x = f64::from_bits(a as u64);
            Some(u128::from(if x.is_nan() { nan_narrow(a as u64) } else { (x as f32).to_bits() }))
        }
        _ => None,
    }
}

/// The operand's bits extended by its own signedness.
fn extend(f: IntTy, a: u128) -> u128 {
    if f.signed { f.decode(a) as u128 } else { f.truncate(a) }
}

/// Truncates toward zero; `None` if the integer type cannot hold the result.
fn float_to_int(x: f64, t: IntTy) -> Option<u128> {
    if !x.is_finite() {
        return None;
    }
    let x = x.trunc();
    // Powers of two are exact, so the comparisons are too; the range is [-2^(n-1), 2^(n-1)).
    let low = if t.signed { -(2f64.powi(i32::from(t.bits) - 1)) } else { 0.0 };
    let high = 2f64.powi(i32::from(t.bits) - i32::from(t.signed));
    if x < low || x >= high {
        return None;
    }
    Some(t.truncate(if x < 0.0 { (x as i128) as u128 } else { x as u128 }))
}

/// A NaN keeps its sign and the leading payload bits and becomes quiet, as the hardware does it.
fn nan_widen(a: u32) -> u64 {
    u64::from(a >> 31) << 63 | 0x7ff8 << 48 | u64::from(a & 0x3f_ffff) << 29
}

fn nan_narrow(a: u64) -> u32 {
    ((a >> 63) as u32) << 31 | 0x7fc0_0000 | ((a >> 29) as u32 & 0x3f_ffff)
}

/// Whether the mathematical result of an operator leaves the operands' type `t`; for `Rem`
/// whether the quotient does, since C ties the two. `None` where the operation itself is
/// undefined (zero divisor, shift distance).
pub fn eval_overflow(op: BinOp, t: IntTy, a: u128, shift: IntTy, b: u128) -> Option<bool> {
    if t.signed {
        let (x, y) = (t.decode(a), t.decode(b));
        let exact = match op {
            BinOp::Add => x.checked_add(y),
            BinOp::Sub => x.checked_sub(y),
            BinOp::Mul => x.checked_mul(y),
            BinOp::Div | BinOp::Rem if y == 0 => return None,
            BinOp::Div | BinOp::Rem => x.checked_div(y),
            BinOp::Shl => {
                // 2^127 is no `i128` itself, so the last doubling is a step of its own.
                let d = distance(t.bits, shift, b)?;
                x.checked_mul(1i128 << d.min(126))
                    .and_then(|r| if d == 127 { r.checked_mul(2) } else { Some(r) })
            }
            _ => return Some(false),
        };
        // Results beyond 128 bits are beyond every type.
        Some(exact.is_none_or(|r| t.decode(r as u128) != r))
    } else {
        let (x, y) = (t.truncate(a), t.truncate(b));
        let exact = match op {
            BinOp::Add => x.checked_add(y),
            BinOp::Sub => x.checked_sub(y),
            BinOp::Mul => x.checked_mul(y),
            BinOp::Div | BinOp::Rem if y == 0 => return None,
            BinOp::Shl => x.checked_mul(1u128 << distance(t.bits, shift, b)?),
            _ => return Some(false),
        };
        Some(exact.is_none_or(|r| t.truncate(r) != r))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPS: [BinOp; 10] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Div,
        BinOp::Rem,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::Shl,
        BinOp::Shr,
    ];

    /// The mathematical result over unbounded integers, rounded as C does.
    fn exact(op: BinOp, x: i64, y: i64, bits: u16) -> Option<i64> {
        Some(match op {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            BinOp::Mul => x * y,
            BinOp::Div => x.checked_div(y)?,
            BinOp::Rem => x.checked_rem(y)?,
            BinOp::And => x & y,
            BinOp::Or => x | y,
            BinOp::Xor => x ^ y,
            BinOp::Shl | BinOp::Shr if y < 0 || y >= i64::from(bits) => return None,
            BinOp::Shl => x << y,
            BinOp::Shr => x >> y,
        })
    }

    #[test]
    fn integers_agree_with_unbounded_arithmetic_at_small_widths() {
        for bits in 1..=5u16 {
            for signed in [false, true] {
                let t = IntTy { bits, signed };
                let s = Scalar::Int(t);
                for a in 0..1u128 << bits {
                    for b in 0..1u128 << bits {
                        let (x, y) = (t.decode(a) as i64, t.decode(b) as i64);
                        for op in OPS {
                            let e = exact(op, x, y, bits);
                            let wrapped = e.map(|r| t.truncate(r as i128 as u128));
                            assert_eq!(eval_binary(op, s, a, t, b), wrapped, "{x} {op:?} {y}: {t}");
                            let leaves = e.map(|r| t.decode(r as i128 as u128) != i128::from(r));
                            let overflow = eval_overflow(op, t, a, t, b);
                            match op {
                                BinOp::Rem if y != 0 => {
                                    let q = eval_overflow(BinOp::Div, t, a, t, b);
                                    assert_eq!(overflow, q);
                                }
                                BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Shl => {
                                    assert_eq!(overflow, leaves, "{x} {op:?} {y}: {t}");
                                }
                                _ => {}
                            }
                        }
                        assert_eq!(eval_cmp(CmpOp::Lt, s, a, b), Some(x < y));
                        assert_eq!(eval_cmp(CmpOp::Le, s, a, b), Some(x <= y));
                        assert_eq!(eval_cmp(CmpOp::Eq, s, a, b), Some(x == y));
                    }
                }
            }
        }
    }

    #[test]
    fn widest_types_do_not_overflow_inside() {
        let t = IntTy { bits: 128, signed: true };
        let (min, m1) = (t.min_bits(), u128::MAX);
        assert_eq!(eval_binary(BinOp::Div, Scalar::Int(t), min, t, m1), Some(min));
        assert_eq!(eval_overflow(BinOp::Div, t, min, t, m1), Some(true));
        assert_eq!(eval_overflow(BinOp::Shl, t, 1, t, 127), Some(true));
        assert_eq!(eval_overflow(BinOp::Shl, t, 1, t, 126), Some(false));
        assert_eq!(eval_overflow(BinOp::Shl, t, m1, t, 127), Some(false));
        assert_eq!(eval_overflow(BinOp::Mul, t, min, t, m1), Some(true));
    }

    #[test]
    fn conversions() {
        let i8 = Scalar::Int(IntTy { bits: 8, signed: true });
        let u32 = Scalar::Int(IntTy { bits: 32, signed: false });
        let (f32, f64) = (Scalar::Float(FloatTy::F32), Scalar::Float(FloatTy::F64));
        let go = |f, t, a| eval_convert(f, t, a, 64);
        assert_eq!(go(i8, u32, 0xff), Some(0xffff_ffff));
        assert_eq!(go(u32, i8, 0x1ff), Some(0xff));
        assert_eq!(go(u32, f32, 16_777_217), Some(u128::from(16_777_216f32.to_bits())));
        assert_eq!(go(f64, i8, u128::from((-128.9f64).to_bits())), Some(0x80));
        assert_eq!(go(f64, i8, u128::from(128f64.to_bits())), None);
        assert_eq!(go(f64, u32, u128::from((-0.5f64).to_bits())), Some(0));
        assert_eq!(go(f32, f64, u128::from(1.5f32.to_bits())), Some(u128::from(1.5f64.to_bits())));
        assert_eq!(go(i8, Scalar::Ptr, 0xff), Some(u128::from(u64::MAX)));
    }
}
