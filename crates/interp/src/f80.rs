//! The x87 80-bit format of `long double`, in software: sign, 15 bits of exponent, 64 bits of
//! significand with an explicit leading one. Results are rounded to nearest, ties to even.
//!
//! Values are the low 80 bits of a `u128`, as the automaton carries them.

use std::cmp::Ordering;

const BIAS: i32 = 16383;
const MAX_EXP: i32 = 0x7fff;
const TOP: u64 = 1 << 63;

/// The default NaN that invalid operations produce.
pub(crate) const INDEFINITE: u128 = pack(true, MAX_EXP, 0xc000_0000_0000_0000);

const fn pack(sign: bool, exp: i32, mant: u64) -> u128 {
    (sign as u128) << 79 | (exp as u128) << 64 | mant as u128
}

fn infinity(sign: bool) -> u128 {
    pack(sign, MAX_EXP, TOP)
}

/// A value taken apart. A finite number is `mant * 2^exp`, with the top bit of `mant` set unless
/// it is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Parts {
    Nan,
    Infinite { sign: bool },
    Finite { sign: bool, mant: u64, exp: i32 },
}

pub(crate) fn parts(bits: u128) -> Parts {
    let sign = bits >> 79 & 1 == 1;
    let exp = (bits >> 64) as i32 & MAX_EXP;
    let mant = bits as u64;
    if exp == MAX_EXP {
        return if mant << 1 == 0 { Parts::Infinite { sign } } else { Parts::Nan };
    }
    if mant == 0 {
        return Parts::Finite { sign, mant: 0, exp: 0 };
    }
    let shift = mant.leading_zeros();
    Parts::Finite { sign, mant: mant << shift, exp: exp.max(1) - BIAS - 63 - shift as i32 }
}

/// Rounds `mant * 2^exp`, where `sticky` says that a little more was cut off below `mant`.
fn round(sign: bool, mant: u128, exp: i32, sticky: bool) -> u128 {
    if mant == 0 {
        return pack(sign, 0, 0);
    }
    let shift = mant.leading_zeros();
    let (mant, exp) = (mant << shift, exp - shift as i32);
    // Now the top bit of `mant` is bit 127, and the result's significand is its upper half.
    let mut biased = exp + 64 + 63 + BIAS;
    let mut cut = 64;
    if biased < 1 {
        // A subnormal number: more of the significand is cut off.
        cut += (1 - biased) as u32;
        biased = 0;
    }
    let (mut kept, half, rest) = match cut {
        0..=127 => (mant >> cut, mant >> (cut - 1) & 1 == 1, mant << (129 - cut) != 0),
        128 => (0, mant >> 127 == 1, mant << 1 != 0),
        _ => (0, false, true),
    };
    if half && (rest || sticky || kept & 1 == 1) {
        kept += 1;
    }
    if kept >> 64 == 1 {
        kept >>= 1;
        biased += 1;
    } else if biased == 0 && kept >> 63 == 1 {
        biased = 1;
    }
    if biased >= MAX_EXP { infinity(sign) } else { pack(sign, biased, kept as u64) }
}

/// Rounds a 64-bit significand that needs no rounding unless it is subnormal.
pub(crate) fn from_parts(sign: bool, mant: u64, exp: i32) -> u128 {
    round(sign, u128::from(mant), exp, false)
}

fn quiet(bits: u128) -> u128 {
    bits | 1 << 62
}

/// What an operation on a NaN gives: the operand that is one.
fn nan_of(a: u128, b: u128) -> u128 {
    if parts(a) == Parts::Nan { quiet(a) } else { quiet(b) }
}

pub(crate) fn neg(a: u128) -> u128 {
    a ^ 1 << 79
}

pub(crate) fn sub(a: u128, b: u128) -> u128 {
    if parts(b) == Parts::Nan { nan_of(a, b) } else { add(a, neg(b)) }
}

pub(crate) fn add(a: u128, b: u128) -> u128 {
    use Parts::*;
    match (parts(a), parts(b)) {
        (Nan, _) | (_, Nan) => nan_of(a, b),
        (Infinite { sign: x }, Infinite { sign: y }) if x != y => INDEFINITE,
        (Infinite { sign }, _) | (_, Infinite { sign }) => infinity(sign),
        (Finite { sign: s, mant: 0, .. }, Finite { sign: t, mant: 0, .. }) => pack(s && t, 0, 0),
        (Finite { mant: 0, .. }, _) => b,
        (_, Finite { mant: 0, .. }) => a,
        (x @ Finite { .. }, y @ Finite { .. }) => add_finite(x, y),
    }
}

fn add_finite(x: Parts, y: Parts) -> u128 {
    let (Parts::Finite { sign: s, mant: m, exp: e }, Parts::Finite { sign: t, mant: n, exp: f }) = (x, y)
    else {
        return INDEFINITE;
    };
    // The larger magnitude first; both get 62 more bits below.
    let ((s, m, e), (t, n, f)) =
        if (e, m) >= (f, n) { ((s, m, e), (t, n, f)) } else { ((t, n, f), (s, m, e)) };
    let (m, n) = (u128::from(m) << 62, u128::from(n) << 62);
    let distance = (e - f) as u32;
    let (n, lost) = match distance {
        0..=127 => (n >> distance, n << (128 - distance.max(1)) != 0 && distance > 0),
        _ => (0, true),
    };
    if s == t {
        return round(s, m + n, e - 62, lost);
    }
    // What was cut off the smaller one makes the difference a little smaller.
    let diff = m - n - u128::from(lost);
    if diff == 0 && !lost { pack(false, 0, 0) } else { round(s, diff, e - 62, lost) }
}

pub(crate) fn mul(a: u128, b: u128) -> u128 {
    use Parts::*;
    match (parts(a), parts(b)) {
        (Nan, _) | (_, Nan) => nan_of(a, b),
        (Infinite { .. }, Finite { mant: 0, .. }) | (Finite { mant: 0, .. }, Infinite { .. }) => INDEFINITE,
        (Infinite { sign: s }, Infinite { sign: t } | Finite { sign: t, .. })
        | (Finite { sign: s, .. }, Infinite { sign: t }) => infinity(s != t),
        (Finite { sign: s, mant: m, exp: e }, Finite { sign: t, mant: n, exp: f }) => {
            round(s != t, u128::from(m) * u128::from(n), e + f, false)
        }
    }
}

pub(crate) fn div(a: u128, b: u128) -> u128 {
    use Parts::*;
    match (parts(a), parts(b)) {
        (Nan, _) | (_, Nan) => nan_of(a, b),
        (Infinite { .. }, Infinite { .. }) | (Finite { mant: 0, .. }, Finite { mant: 0, .. }) => INDEFINITE,
        (Infinite { sign: s }, Finite { sign: t, .. })
        | (Finite { sign: s, .. }, Finite { sign: t, mant: 0, .. }) => infinity(s != t),
        (Finite { sign: s, .. }, Infinite { sign: t }) => pack(s != t, 0, 0),
        (Finite { sign: s, mant: m, exp: e }, Finite { sign: t, mant: n, exp: f }) => {
            // 63 fractional bits leave at least 63 significant ones; three more steps give enough.
            let n = u128::from(n);
            let (mut q, mut r) = ((u128::from(m) << 63) / n, (u128::from(m) << 63) % n);
            for _ in 0..3 {
                r <<= 1;
                q = q << 1 | u128::from(r >= n);
                if r >= n {
                    r -= n;
                }
            }
            round(s != t, q, e - f - 66, r != 0)
        }
    }
}

pub(crate) fn sqrt(a: u128) -> u128 {
    match parts(a) {
        Parts::Nan => quiet(a),
        Parts::Finite { mant: 0, .. } => a,
        Parts::Infinite { sign: false } => a,
        Parts::Infinite { sign: true } | Parts::Finite { sign: true, .. } => INDEFINITE,
        Parts::Finite { mant, exp, .. } => {
            // The root of a 128-bit integer with an even exponent, then two more bits by trial.
            let (m, e) = if exp & 1 == 0 {
                (u128::from(mant) << 62, exp - 62)
            } else {
                (u128::from(mant) << 63, exp - 63)
            };
            let mut root = m.isqrt();
            let mut rest = m - root * root;
            // Each step multiplies the radicand by 4; (2r+1)^2 <= 4m iff 4(m - r^2) >= 4r + 1.
            for _ in 0..2 {
                rest <<= 2;
                let trial = (root << 2) + 1;
                root <<= 1;
                if rest >= trial {
                    rest -= trial;
                    root += 1;
                }
            }
            round(false, root, e / 2 - 2, rest != 0)
        }
    }
}

/// `None` if one is a NaN.
pub(crate) fn compare(a: u128, b: u128) -> Option<Ordering> {
    use Parts::*;
    let key = |sign: bool, o: Ordering| if sign { o.reverse() } else { o };
    Some(match (parts(a), parts(b)) {
        (Nan, _) | (_, Nan) => return None,
        (Infinite { sign: s }, Infinite { sign: t }) => t.cmp(&s),
        (Infinite { sign }, _) => key(sign, Ordering::Greater),
        (_, Infinite { sign }) => key(sign, Ordering::Less),
        (Finite { mant: 0, .. }, Finite { mant: 0, .. }) => Ordering::Equal,
        (Finite { sign, .. }, Finite { mant: 0, .. }) => key(sign, Ordering::Greater),
        (Finite { mant: 0, .. }, Finite { sign, .. }) => key(sign, Ordering::Less),
        (Finite { sign: s, .. }, Finite { sign: t, .. }) if s != t => t.cmp(&s),
        (Finite { sign, mant: m, exp: e }, Finite { mant: n, exp: f, .. }) => key(sign, (e, m).cmp(&(f, n))),
    })
}

pub(crate) fn from_f64(x: f64) -> u128 {
    let bits = x.to_bits();
    let sign = bits >> 63 == 1;
    if x.is_nan() {
        return pack(sign, MAX_EXP, TOP | 1 << 62 | (bits & 0x7_ffff_ffff_ffff) << 11);
    }
    if x.is_infinite() {
        return infinity(sign);
    }
    let exp = (bits >> 52 & 0x7ff) as i32;
    let frac = bits & 0xf_ffff_ffff_ffff;
    let mant = if exp == 0 { frac } else { frac | 1 << 52 };
    from_parts(sign, mant, exp.max(1) - 1075)
}

/// Rounds to a narrower format with `precision` significant bits and least exponent `least` of the
/// last bit of a subnormal. Returns significand and exponent, exact.
fn narrow(mant: u64, exp: i32, precision: u32, least: i32) -> (u64, i32) {
    let cut = (64 - precision as i32).max(least - exp);
    if cut >= 66 {
        return (0, least);
    }
    let wide = u128::from(mant);
    let kept = wide >> cut;
    let half = wide >> (cut - 1) & 1 == 1;
    let rest = wide & ((1 << (cut - 1)) - 1) != 0;
    (kept as u64 + u64::from(half && (rest || kept & 1 == 1)), exp + cut)
}

pub(crate) fn to_f64(a: u128) -> f64 {
    let sign = a >> 79 & 1 == 1;
    match parts(a) {
        Parts::Nan => f64::from_bits(u64::from(sign) << 63 | 0x7ff8 << 48 | (a as u64) << 2 >> 13),
        Parts::Infinite { .. } => {
            if sign {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }
        }
        Parts::Finite { mant: 0, .. } => {
            if sign {
                -0.0
            } else {
                0.0
            }
        }
        Parts::Finite { mant, exp, .. } => {
            let (m, e) = narrow(mant, exp, 53, -1074);
            let x = scale(m as f64, e);
            if sign { -x } else { x }
        }
    }
}

pub(crate) fn to_f32(a: u128) -> f32 {
    let sign = a >> 79 & 1 == 1;
    match parts(a) {
        Parts::Finite { mant, exp, .. } if mant != 0 => {
            // Exact in a double, so that the last conversion rounds nothing (but to infinity).
            let (m, e) = narrow(mant, exp, 24, -149);
            let x = scale(m as f64, e) as f32;
            if sign { -x } else { x }
        }
        _ => to_f64(a) as f32,
    }
}

/// `x * 2^e` for an `x` of at most 53 bits, where the result is exact or too large.
fn scale(mut x: f64, mut e: i32) -> f64 {
    while e > 1000 && x.is_finite() {
        x *= 2f64.powi(1000);
        e -= 1000;
    }
    while e < -500 {
        x *= 2f64.powi(-500);
        e += 500;
    }
    x * 2f64.powi(e)
}

pub(crate) fn from_u128(sign: bool, magnitude: u128) -> u128 {
    round(sign, magnitude, 0, false)
}

/// The integer part toward zero as sign and magnitude; `None` for what has none in 128 bits.
pub(crate) fn trunc_to_int(a: u128) -> Option<(bool, u128)> {
    match parts(a) {
        Parts::Finite { sign, mant, exp } => match exp {
            0..=64 => Some((sign, u128::from(mant) << exp)),
            -63..=-1 => Some((sign, u128::from(mant >> -exp))),
            e if e < 0 || mant == 0 => Some((sign, 0)),
            _ => None,
        },
        _ => None,
    }
}

/// How to round to an integral value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Toward {
    Zero,
    Up,
    Down,
    /// Halves away from zero.
    Nearest,
    /// Halves to even.
    Even,
}

pub(crate) fn to_integral(a: u128, toward: Toward) -> u128 {
    match parts(a) {
        Parts::Nan => quiet(a),
        Parts::Finite { sign, mant, exp } if mant != 0 && exp < 0 => {
            let cut = -exp as u32;
            let (whole, half, rest) = match cut {
                1..=63 => {
                    (mant >> cut, mant >> (cut - 1) & 1 == 1, mant << (65 - cut.max(2)) != 0 && cut > 1)
                }
                64 => (0, mant >> 63 == 1, mant << 1 != 0),
                _ => (0, false, true),
            };
            let up = match toward {
                Toward::Zero => false,
                Toward::Up => !sign && (half || rest),
                Toward::Down => sign && (half || rest),
                Toward::Nearest => half,
                Toward::Even => half && (rest || whole & 1 == 1),
            };
            from_u128(sign, u128::from(whole) + u128::from(up))
        }
        _ => a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    /// Doubles of all sizes, with many near ties.
    fn sample(state: &mut u64) -> f64 {
        let r = random(state);
        match r % 8 {
            0 => f64::from_bits(random(state)),
            1 => (random(state) as i32) as f64,
            2 => [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::MIN_POSITIVE, 5e-324, f64::MAX]
                [(r >> 8) as usize % 8],
            3 => f64::from_bits(random(state) & 0x800f_ffff_ffff_ffff),
            _ => f64::from_bits(0x3ff0_0000_0000_0000 ^ (random(state) & 0x80ff_ffff_ffff_ffff)),
        }
    }

    #[test]
    fn doubles_pass_through_unchanged() {
        let mut s = 7;
        for _ in 0..200_000 {
            let x = sample(&mut s);
            let y = to_f64(from_f64(x));
            assert!(x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan(), "{x:e} {y:e}");
            assert_eq!(
                to_f32(from_f64(x)).to_bits() & 0x7fff_ffff,
                (x as f32).to_bits() & 0x7fff_ffff,
                "{x:e}"
            );
        }
    }

    /// With operands of 24 bits, sums, products and quotients computed in the extended format and
    /// rounded again to 24 bits are what the hardware's `float` gives (2 * 24 + 2 <= 64).
    #[test]
    fn double_rounding_is_innocent_for_floats() {
        let mut s = 99;
        for _ in 0..300_000 {
            let (x, y) = (f32::from_bits(random(&mut s) as u32), f32::from_bits(random(&mut s) as u32));
            let (a, b) = (from_f64(f64::from(x)), from_f64(f64::from(y)));
            let same = |p: u128, q: f32| {
                let p = to_f32(p);
                assert!(p.to_bits() == q.to_bits() || p.is_nan() && q.is_nan(), "{x:e} {y:e}: {p:e} {q:e}");
            };
            same(add(a, b), x + y);
            same(sub(a, b), x - y);
            same(mul(a, b), x * y);
            same(div(a, b), x / y);
            same(sqrt(a), x.sqrt());
            assert_eq!(compare(a, b), x.partial_cmp(&y));
        }
    }

    /// On 64-bit integers the format is exact, and sums and products round like exact integers.
    #[test]
    fn integers_round_to_even() {
        let mut s = 5;
        for _ in 0..100_000 {
            let (x, y) = (random(&mut s) >> (s % 64), random(&mut s) >> (s % 61));
            let (a, b) = (from_u128(false, x.into()), from_u128(false, y.into()));
            assert_eq!(trunc_to_int(a), Some((false, x.into())));
            assert_eq!(add(a, b), from_u128(false, u128::from(x) + u128::from(y)));
            assert_eq!(mul(a, b), from_u128(false, u128::from(x) * u128::from(y)));
            if y != 0 {
                // |x - q*y| <= ulp/2 * y, checked by the exact remainder of the rounded quotient.
                if let (Parts::Finite { mant, exp, .. }, true) = (parts(div(a, b)), x != 0) {
                    let exact = |m: u128| -> Option<i128> {
                        // x * 2^-exp - m * y, where 2^-exp fits.
                        let left = u128::from(x)
                            .checked_shl((-exp).try_into().ok()?)
                            .filter(|l| l >> -exp == u128::from(x))?;
                        Some(left.wrapping_sub(m.checked_mul(u128::from(y))?) as i128)
                    };
                    if exp <= 0
                        && exp > -64
                        && let Some(rest) = exact(mant.into())
                    {
                        assert!(rest.unsigned_abs() * 2 <= u128::from(y), "{x} / {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn extremes() {
        let least = 1u128; // the smallest subnormal
        let two = from_f64(2.0);
        assert_eq!(div(least, two), 0, "ties to even");
        assert_eq!(mul(least, two), 2);
        let smallest_normal = pack(false, 1, TOP);
        assert_eq!(sub(smallest_normal, least), pack(false, 0, TOP - 1));
        assert_eq!(add(pack(false, 0, TOP - 1), least), smallest_normal);
        let largest = pack(false, MAX_EXP - 1, u64::MAX);
        assert_eq!(add(largest, largest), infinity(false));
        assert_eq!(sub(infinity(false), infinity(false)), INDEFINITE);
        assert_eq!(sqrt(from_f64(2.0)), 0x3fff_b504_f333_f9de_6484);
        let third = div(from_f64(1.0), from_f64(3.0));
        assert_eq!(third, 0x3ffd_aaaa_aaaa_aaaa_aaab);
        for (x, down, near, even) in [(2.5, 2.0, 3.0, 2.0), (-2.5, -3.0, -3.0, -2.0), (0.25, 0.0, 0.0, 0.0)] {
            let a = from_f64(x);
            assert_eq!(to_f64(to_integral(a, Toward::Down)), down);
            assert_eq!(to_f64(to_integral(a, Toward::Nearest)), near);
            assert_eq!(to_f64(to_integral(a, Toward::Even)), even);
        }
    }
}
