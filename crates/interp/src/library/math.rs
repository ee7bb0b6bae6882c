//! Floating-point functions. `float` and `double` go to the platform's own library; of the `long
//! double` functions those with exact results (roots, rounding) are exact, the others are
//! computed as `double`. C does not say how exact the others are ([`is_certain`] tells which
//! results no library sees otherwise), and compilers compute some while they compile.

use super::Call;
use crate::code::{ResultTy, Slot};
use crate::f80::{self, Toward};
use crate::machine::Step;
use crate::scalar;
use palisade_cfa::*;

const F64: Scalar = Scalar::Float(FloatTy::F64);
const F80: Scalar = Scalar::Float(FloatTy::F80);

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// On floats (to be exact there, too) and on doubles.
    One(fn(f32) -> f32, fn(f64) -> f64),
    Two(fn(f32, f32) -> f32, fn(f64, f64) -> f64),
    Sqrt,
    Fma,
    Round(Toward),
    /// To an integer type, after rounding.
    ToInt(Toward),
    Ldexp,
    Signbit,
    CopySign,
    Fabs,
    Ilogb,
}

fn kind(math: Math) -> Kind {
    match math {
        Math::Sin => Kind::One(f32::sin, f64::sin),
        Math::Cos => Kind::One(f32::cos, f64::cos),
        Math::Tan => Kind::One(f32::tan, f64::tan),
        Math::Asin => Kind::One(f32::asin, f64::asin),
        Math::Acos => Kind::One(f32::acos, f64::acos),
        Math::Atan => Kind::One(f32::atan, f64::atan),
        Math::Sinh => Kind::One(f32::sinh, f64::sinh),
        Math::Cosh => Kind::One(f32::cosh, f64::cosh),
        Math::Tanh => Kind::One(f32::tanh, f64::tanh),
        Math::Asinh => Kind::One(f32::asinh, f64::asinh),
        Math::Acosh => Kind::One(f32::acosh, f64::acosh),
        Math::Atanh => Kind::One(f32::atanh, f64::atanh),
        Math::Exp => Kind::One(f32::exp, f64::exp),
        Math::Exp2 => Kind::One(f32::exp2, f64::exp2),
        Math::Expm1 => Kind::One(f32::exp_m1, f64::exp_m1),
        Math::Log => Kind::One(f32::ln, f64::ln),
        Math::Log2 => Kind::One(f32::log2, f64::log2),
        Math::Log10 => Kind::One(f32::log10, f64::log10),
        Math::Log1p => Kind::One(f32::ln_1p, f64::ln_1p),
        Math::Cbrt => Kind::One(f32::cbrt, f64::cbrt),
        Math::Pow => Kind::Two(f32::powf, f64::powf),
        Math::Atan2 => Kind::Two(f32::atan2, f64::atan2),
        Math::Hypot => Kind::Two(f32::hypot, f64::hypot),
        Math::Fmod => Kind::Two(|x, y| x % y, |x, y| x % y),
        Math::Remainder => Kind::Two(|x, y| remainder(x.into(), y.into()) as f32, remainder),
        Math::Fmin => Kind::Two(f32::min, f64::min),
        Math::Fmax => Kind::Two(f32::max, f64::max),
        Math::Fdim => {
            Kind::Two(|x, y| if x <= y { 0.0 } else { x - y }, |x, y| if x <= y { 0.0 } else { x - y })
        }
        Math::Sqrt => Kind::Sqrt,
        Math::Fma => Kind::Fma,
        Math::Floor => Kind::Round(Toward::Down),
        Math::Ceil => Kind::Round(Toward::Up),
        Math::Trunc => Kind::Round(Toward::Zero),
        Math::Round => Kind::Round(Toward::Nearest),
        Math::Rint => Kind::Round(Toward::Even),
        Math::Lround => Kind::ToInt(Toward::Nearest),
        Math::Lrint => Kind::ToInt(Toward::Even),
        Math::Ldexp => Kind::Ldexp,
        Math::Fabs => Kind::Fabs,
        Math::CopySign => Kind::CopySign,
        Math::SignBit => Kind::Signbit,
        Math::Ilogb => Kind::Ilogb,
    }
}

/// How many floating-point arguments a function of the platform has.
fn arity(kind: Kind) -> usize {
    match kind {
        Kind::One(..) => 1,
        Kind::Two(..) => 2,
        Kind::Fma => 3,
        _ => 0,
    }
}

/// Whether the result is the same everywhere: it is computed exactly, or the arguments are special.
fn is_certain(math: Math, format: FloatTy, arguments: &[u128]) -> bool {
    let values = arguments.iter().map(|&bits| scalar::convert(Scalar::Float(format), F64, bits, 64));
    let values: Vec<f64> = values.map(|bits| f64::from_bits(bits as u64)).collect();
    let back = |value: &f64| scalar::convert(F64, Scalar::Float(format), value.to_bits().into(), 64);
    let exact_arguments =
        values.iter().zip(arguments).all(|(value, &bits)| back(value) == bits || value.is_nan());
    let special = |x: f64| x.is_nan() || x == 0.0 || x.is_infinite();
    match (math, &values[..]) {
        (Math::Fmod | Math::Remainder, _) => exact_arguments,
        // Which of two zeros is the smaller is open.
        (Math::Fmin | Math::Fmax, &[x, y]) => {
            exact_arguments && (x != 0.0 || y != 0.0 || back(&x) == back(&y))
        }
        (Math::Fma | Math::Fdim, _) => format != FloatTy::F80,
        (Math::Pow, &[x, y]) => {
            exact_arguments && (special(x) || special(y) || x == 1.0 || exact_power(x, y, format))
        }
        (Math::Hypot, &[x, y]) => exact_arguments && (special(x) || special(y)),
        // An angle, but for that of the positive axis.
        (Math::Atan2, &[y, x]) => x.is_nan() || y.is_nan() || (y == 0.0 && x.is_sign_positive() && x != 0.0),
        (Math::Exp | Math::Exp2 | Math::Expm1 | Math::Sinh | Math::Tanh | Math::Cbrt | Math::Asinh, &[x]) => {
            special(x)
        }
        (Math::Cosh | Math::Sin | Math::Cos | Math::Tan | Math::Asin | Math::Atanh, &[x]) => special(x),
        (Math::Log | Math::Log2 | Math::Log10, &[x]) => special(x) || x <= 1.0 && (x < 0.0 || x == 1.0),
        (Math::Log1p, &[x]) => special(x) || x <= -1.0,
        (Math::Acosh, &[x]) => x.is_nan() || x <= 1.0 || x.is_infinite(),
        (Math::Acos, &[x]) => x.is_nan() || x.abs() > 1.0 || x == 1.0,
        (Math::Atan, &[x]) => x.is_nan() || x == 0.0,
        // The others, which have no such arguments, are exact.
        (_, []) => true,
        _ => false,
    }
}

/// Whether a power is a product that needs no rounding: a small multiple of the possible error away from any other.
fn exact_power(x: f64, y: f64, format: FloatTy) -> bool {
    if y.fract() != 0.0 || !(1.0..=64.0).contains(&y) {
        return false;
    }
    let mut product = 1.0;
    for _ in 0..y as u32 {
        let next = product * x;
        if f64::mul_add(product, x, -next) != 0.0 || !next.is_normal() {
            return false;
        }
        product = next;
    }
    format != FloatTy::F32 || f64::from(product as f32) == product && (product as f32).is_normal()
}

/// The IEEE remainder: `x` less the multiple of `y` nearest to it, ties to even multiples.
fn remainder(x: f64, y: f64) -> f64 {
    if !x.is_finite() || y == 0.0 || y.is_nan() {
        return f64::NAN;
    }
    if y.is_infinite() {
        return x;
    }
    let y = y.abs();
    // Exact: the remainder by 2y is, and subtracting y once or twice from it is, too.
    let mut r = if y < f64::MAX / 2.0 { x.abs() % (2.0 * y) } else { x.abs() };
    if y < f64::MIN_POSITIVE * 2.0 {
        if r + r > y {
            r -= y;
            if r + r >= y {
                r -= y;
            }
        }
    } else {
        let half = 0.5 * y;
        if r > half {
            r -= y;
            if r >= half {
                r -= y;
            }
        }
    }
    if x.is_sign_negative() { -r } else { r }
}

/// Calls the function on arguments of its own type.
pub(super) fn run(call: &mut Call<'_, '_>, math: Math, format: FloatTy) -> Step<Option<Slot>> {
    let ty = Scalar::Float(format);
    let raw = |call: &Call<'_, '_>, i: usize| {
        let (have, bits) = call.float_bits(i);
        scalar::convert(have, ty, bits, 64)
    };
    let x = raw(call, 0);
    let wide = |bits: u128| scalar::convert(ty, F80, bits, 64);
    let narrow = |bits: u128| scalar::convert(F80, ty, bits, 64);
    let double = |bits: u128| f64::from_bits(scalar::convert(ty, F64, bits, 64) as u64);
    if !call.m.config.approximate {
        let arguments: Vec<u128> = (0..arity(kind(math))).map(|i| raw(call, i)).collect();
        if !is_certain(math, format, &arguments) {
            return call.unsupported("the result of");
        }
    }
    let bits = match kind(math) {
        Kind::One(f, d) => match format {
            FloatTy::F32 => f(f32::from_bits(x as u32)).to_bits().into(),
            _ => scalar::convert(F64, ty, d(double(x)).to_bits().into(), 64),
        },
        Kind::Two(f, d) => {
            let y = raw(call, 1);
            match format {
                FloatTy::F32 => f(f32::from_bits(x as u32), f32::from_bits(y as u32)).to_bits().into(),
                _ => scalar::convert(F64, ty, d(double(x), double(y)).to_bits().into(), 64),
            }
        }
        Kind::Sqrt => match format {
            FloatTy::F32 => f32::from_bits(x as u32).sqrt().to_bits().into(),
            FloatTy::F64 => double(x).sqrt().to_bits().into(),
            FloatTy::F80 => f80::sqrt(x),
        },
        Kind::Fma => {
            let (y, z) = (raw(call, 1), raw(call, 2));
            match format {
                FloatTy::F32 => {
                    let [a, b, c] = [x, y, z].map(|v| f32::from_bits(v as u32));
                    a.mul_add(b, c).to_bits().into()
                }
                _ => scalar::convert(F64, ty, double(x).mul_add(double(y), double(z)).to_bits().into(), 64),
            }
        }
        Kind::Round(toward) => {
            let result = f80::to_integral(wide(x), toward);
            // The sign of a zero result is that of the argument.
            narrow(result & !(1 << 79) | wide(x) & 1 << 79)
        }
        Kind::ToInt(toward) => {
            let rounded = f80::to_integral(wide(x), toward);
            return Ok(match call.m.store.tables.sites[call.site as usize].result {
                Some(ResultTy::Scalar(to)) => {
                    call.m.holds(F80, to, rounded)?;
                    let bits = scalar::convert(F80, to, rounded, call.m.p.data_model.ptr_bits());
                    Some(call.m.bits_slot(to, bits))
                }
                _ => None,
            });
        }
        Kind::Ldexp => {
            let n = (call.int(1) as i64).clamp(-100_000, 100_000) as i32;
            match f80::parts(wide(x)) {
                f80::Parts::Finite { sign, mant, exp } if mant != 0 => scaled(sign, mant, exp + n, format),
                _ => x,
            }
        }
        Kind::Fabs => narrow_sign(x, format, false),
        Kind::CopySign => {
            let y = raw(call, 1);
            narrow_sign(x, format, y >> (format.bits() - 1) & 1 == 1)
        }
        Kind::Signbit => {
            let (have, bits) = call.float_bits(0);
            let top = match have {
                Scalar::Float(t) => t.bits() - 1,
                _ => 63,
            };
            return Ok(call.int_result((bits >> top & 1) as i64));
        }
        Kind::Ilogb => {
            let e = match f80::parts(wide(x)) {
                f80::Parts::Finite { mant: 0, .. } | f80::Parts::Nan => i64::from(i32::MIN),
                f80::Parts::Infinite { .. } => i64::from(i32::MAX),
                f80::Parts::Finite { exp, .. } => i64::from(exp + 63),
            };
            return Ok(call.int_result(e));
        }
    };
    Ok(Some(call.m.bits_slot(ty, bits)))
}

/// `mant * 2^exp`, rounded once to its format.
fn scaled(sign: bool, mant: u64, exp: i32, ty: FloatTy) -> u128 {
    // A result that is subnormal in the narrow format is still exact in the wide one.
    scalar::convert(F80, Scalar::Float(ty), f80::from_parts(sign, mant, exp), 64)
}

fn narrow_sign(x: u128, ty: FloatTy, negative: bool) -> u128 {
    let top = 1u128 << (ty.bits() - 1);
    x & !top | if negative { top } else { 0 }
}
