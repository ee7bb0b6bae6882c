//! Arbitrary-precision integers with an inline `i64`.

use crate::{ParseNumError, forward_binop};
use dashu::base::{BitTest, DivEuclid, DivRem, Gcd, RemEuclid, Signed, UnsignedAbs};
use dashu::integer::IBig;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{BitAnd, BitOr, BitXor, Neg};
use std::str::FromStr;

/// The representation. Invariant: `Big` only holds values outside the `i64` range, so the derived
/// equality and hash are those of the value.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<IBig>),
}
use Repr::{Big, Small};

/// An exact integer. Values in the `i64` range are stored inline.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Int(Repr);

impl Int {
    /// Zero.
    pub const ZERO: Int = Int(Small(0));
    /// One.
    pub const ONE: Int = Int(Small(1));

    fn from_big(b: IBig) -> Int {
        match i64::try_from(&b) {
            Ok(v) => Int(Small(v)),
            Err(_) => Int(Big(Box::new(b))),
        }
    }

    #[inline]
    fn from_wide(v: i128) -> Int {
        match i64::try_from(v) {
            Ok(v) => Int(Small(v)),
            Err(_) => Int(Big(Box::new(IBig::from(v)))),
        }
    }

    fn to_big(&self) -> IBig {
        match &self.0 {
            Small(v) => IBig::from(*v),
            Big(b) => (**b).clone(),
        }
    }

    /// The value as an `i64`, when it fits.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Small(v) => Some(*v),
            Big(_) => None,
        }
    }

    /// The value as an `i128`, when it fits.
    pub fn to_i128(&self) -> Option<i128> {
        match &self.0 {
            Small(v) => Some(i128::from(*v)),
            Big(b) => i128::try_from(&**b).ok(),
        }
    }

    /// `2^n`.
    pub fn pow2(n: u32) -> Int {
        if n < 63 { Int(Small(1 << n)) } else { Int::from_big(IBig::ONE << n as usize) }
    }

    /// Is this zero?
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Small(0))
    }

    /// Is this one?
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Small(1))
    }

    /// Is this below zero?
    #[inline]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Small(v) => *v < 0,
            Big(b) => b.is_negative(),
        }
    }

    /// Is this above zero?
    #[inline]
    pub fn is_positive(&self) -> bool {
        match &self.0 {
            Small(v) => *v > 0,
            Big(b) => b.is_positive(),
        }
    }

    /// Is this divisible by two?
    pub fn is_even(&self) -> bool {
        self.mod_pow2(1).is_zero()
    }

    /// -1, 0 or 1 by the sign.
    pub fn signum(&self) -> i32 {
        i32::from(self.is_positive()) - i32::from(self.is_negative())
    }

    /// The absolute value.
    pub fn abs(&self) -> Int {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// The quotient rounded towards minus infinity.
    ///
    /// # Panics
    /// When `d` is zero.
    pub fn div_floor(&self, d: &Int) -> Int {
        match (&self.0, &d.0) {
            (Small(a), Small(b)) => {
                let (a, b) = (i128::from(*a), i128::from(*b));
                Int::from_wide(if b > 0 { a.div_euclid(b) } else { (-a).div_euclid(-b) })
            }
            _ if d.is_negative() => Int::from_big((-self.to_big()).div_euclid(-d.to_big())),
            _ => Int::from_big(self.to_big().div_euclid(d.to_big())),
        }
    }

    /// The quotient rounded towards plus infinity.
    ///
    /// # Panics
    /// When `d` is zero.
    pub fn div_ceil(&self, d: &Int) -> Int {
        -(-self).div_floor(d)
    }

    /// The quotient rounded towards zero, as C divides.
    ///
    /// # Panics
    /// When `d` is zero.
    pub fn div_trunc(&self, d: &Int) -> Int {
        match (&self.0, &d.0) {
            (Small(a), Small(b)) => Int::from_wide(i128::from(*a) / i128::from(*b)),
            _ => Int::from_big(self.to_big().div_rem(d.to_big()).0),
        }
    }

    /// The remainder that goes with [`Int::div_trunc`]; it has the sign of `self`.
    ///
    /// # Panics
    /// When `d` is zero.
    pub fn rem_trunc(&self, d: &Int) -> Int {
        match (&self.0, &d.0) {
            (Small(a), Small(b)) => Int::from_wide(i128::from(*a) % i128::from(*b)),
            _ => Int::from_big(self.to_big().div_rem(d.to_big()).1),
        }
    }

    /// The quotient of a division known to leave no remainder.
    ///
    /// # Panics
    /// When `d` is zero.
    #[inline]
    pub fn div_exact(&self, d: &Int) -> Int {
        if d.is_one() { self.clone() } else { self.div_trunc(d) }
    }

    /// The residue in `0..|m|`.
    ///
    /// # Panics
    /// When `m` is zero.
    pub fn modulo(&self, m: &Int) -> Int {
        match (&self.0, &m.0) {
            (Small(a), Small(b)) => Int::from_wide(i128::from(*a).rem_euclid(i128::from(*b))),
            _ => Int::from_big(IBig::from(self.to_big().rem_euclid(m.to_big()))),
        }
    }

    /// Does `self` divide `n`? Zero divides only zero.
    pub fn divides(&self, n: &Int) -> bool {
        if self.is_zero() { n.is_zero() } else { n.rem_trunc(self).is_zero() }
    }

    /// The residue modulo `2^w`, in `0..2^w`.
    pub fn mod_pow2(&self, w: u32) -> Int {
        match &self.0 {
            Small(v) if w < 63 => Int(Small(v & ((1i64 << w) - 1))),
            Small(v) if *v >= 0 => self.clone(),
            _ => self.modulo(&Int::pow2(w)),
        }
    }

    /// The value a machine integer of `w` bits takes: the residue modulo `2^w` in
    /// `0..2^w`, or in `-2^(w-1)..2^(w-1)` when `signed`. A width of zero gives zero.
    pub fn wrap(&self, w: u32, signed: bool) -> Int {
        let r = self.mod_pow2(w);
        if signed && w > 0 && r >= Int::pow2(w - 1) { r - Int::pow2(w) } else { r }
    }

    /// The greatest common divisor; never negative, and `gcd(0, 0) = 0`.
    pub fn gcd(&self, other: &Int) -> Int {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => Int::from_wide(i128::from(gcd_u64(a.unsigned_abs(), b.unsigned_abs()))),
            _ if self.is_zero() => other.abs(),
            _ if other.is_zero() => self.abs(),
            _ => Int::from_big(IBig::from(self.to_big().unsigned_abs().gcd(other.to_big().unsigned_abs()))),
        }
    }

    /// The least common multiple; never negative, and zero when either is zero.
    pub fn lcm(&self, other: &Int) -> Int {
        if self.is_zero() || other.is_zero() {
            return Int::ZERO;
        }
        (self.div_exact(&self.gcd(other)) * other).abs()
    }

    /// `(g, s, t)` with `g = gcd(self, other) = s·self + t·other`.
    pub fn ext_gcd(&self, other: &Int) -> (Int, Int, Int) {
        let (mut r0, mut r1) = (self.clone(), other.clone());
        let (mut s0, mut s1) = (Int::ONE, Int::ZERO);
        let (mut t0, mut t1) = (Int::ZERO, Int::ONE);
        while !r1.is_zero() {
            let q = r0.div_floor(&r1);
            (r0, r1) = (r1.clone(), &r0 - &q * &r1);
            (s0, s1) = (s1.clone(), &s0 - &q * &s1);
            (t0, t1) = (t1.clone(), &t0 - &q * &t1);
        }
        if r0.is_negative() { (-r0, -s0, -t0) } else { (r0, s0, t0) }
    }

    /// How often two divides the value; `None` for zero.
    pub fn trailing_zeros(&self) -> Option<u32> {
        match &self.0 {
            Small(0) => None,
            Small(v) => Some(v.trailing_zeros()),
            // A big value's bit count is bounded by memory, far below `u32::MAX`.
            Big(b) => b.trailing_zeros().and_then(|n| u32::try_from(n).ok()),
        }
    }

    /// The number of bits of the absolute value; zero for zero.
    pub fn bit_len(&self) -> u32 {
        match &self.0 {
            Small(v) => 64 - v.unsigned_abs().leading_zeros(),
            Big(b) => u32::try_from((**b).clone().unsigned_abs().bit_len()).unwrap_or(u32::MAX),
        }
    }

    /// `self · 2^n`.
    pub fn shl(&self, n: u32) -> Int {
        match &self.0 {
            Small(v) if n < 63 => Int::from_wide(i128::from(*v) << n),
            _ => Int::from_big(self.to_big() << n as usize),
        }
    }

    /// `⌊self / 2^n⌋`, the arithmetic shift.
    pub fn shr(&self, n: u32) -> Int {
        match &self.0 {
            Small(v) => Int(Small(v >> n.min(63))),
            _ => self.div_floor(&Int::pow2(n)),
        }
    }

    /// Adds `a · b` in place: the inner step of every linear combination.
    #[inline]
    pub fn add_mul(&mut self, a: &Int, b: &Int) {
        if let (Small(s), Small(x), Small(y)) = (&self.0, &a.0, &b.0) {
            // |x·y| ≤ 2^126, so the sum fits an i128.
            *self = Int::from_wide(i128::from(*s) + i128::from(*x) * i128::from(*y));
        } else {
            *self = &*self + a * b;
        }
    }

    /// An approximation for printing and plotting; never used to decide anything.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Small(v) => *v as f64,
            Big(b) => b.to_f64().value(),
        }
    }
}

/// Binary gcd, the hot spot of every normalisation.
#[inline]
pub(crate) fn gcd_u64(mut a: u64, mut b: u64) -> u64 {
    if a == 0 {
        return b;
    }
    if b == 0 {
        return a;
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    loop {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
        if b == 0 {
            return a << shift;
        }
    }
}

#[inline]
fn add(a: &Int, b: &Int) -> Int {
    if let (Small(x), Small(y)) = (&a.0, &b.0) {
        return match x.checked_add(*y) {
            Some(v) => Int(Small(v)),
            None => Int::from_wide(i128::from(*x) + i128::from(*y)),
        };
    }
    Int::from_big(a.to_big() + b.to_big())
}

#[inline]
fn sub(a: &Int, b: &Int) -> Int {
    if let (Small(x), Small(y)) = (&a.0, &b.0) {
        return match x.checked_sub(*y) {
            Some(v) => Int(Small(v)),
            None => Int::from_wide(i128::from(*x) - i128::from(*y)),
        };
    }
    Int::from_big(a.to_big() - b.to_big())
}

#[inline]
fn mul(a: &Int, b: &Int) -> Int {
    if let (Small(x), Small(y)) = (&a.0, &b.0) {
        return match x.checked_mul(*y) {
            Some(v) => Int(Small(v)),
            None => Int::from_wide(i128::from(*x) * i128::from(*y)),
        };
    }
    Int::from_big(a.to_big() * b.to_big())
}

forward_binop!(Int, Add, add, AddAssign, add_assign, add);
forward_binop!(Int, Sub, sub, SubAssign, sub_assign, sub);
forward_binop!(Int, Mul, mul, MulAssign, mul_assign, mul);

impl Neg for &Int {
    type Output = Int;
    fn neg(self) -> Int {
        match &self.0 {
            Small(v) => Int::from_wide(-i128::from(*v)),
            Big(b) => Int::from_big(-(**b).clone()),
        }
    }
}

impl Neg for Int {
    type Output = Int;
    fn neg(self) -> Int {
        -&self
    }
}

macro_rules! bit_op {
    ($tr:ident, $m:ident, $op:tt) => {
        /// Bitwise on the infinite two's complement representation.
        impl $tr<&Int> for &Int {
            type Output = Int;
            fn $m(self, rhs: &Int) -> Int {
                match (&self.0, &rhs.0) {
                    (Small(a), Small(b)) => Int(Small(a $op b)),
                    _ => Int::from_big(self.to_big() $op rhs.to_big()),
                }
            }
        }
    };
}
bit_op!(BitAnd, bitand, &);
bit_op!(BitOr, bitor, |);
bit_op!(BitXor, bitxor, ^);

impl Ord for Int {
    #[inline]
    fn cmp(&self, other: &Int) -> Ordering {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => a.cmp(b),
            (Small(_), Big(b)) => {
                if b.is_negative() {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (Big(a), Small(_)) => {
                if a.is_negative() {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (Big(a), Big(b)) => a.cmp(b),
        }
    }
}

impl PartialOrd for Int {
    #[inline]
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

macro_rules! from_prim {
    ($($t:ty),*) => {$(
        impl From<$t> for Int {
            #[inline]
            fn from(v: $t) -> Int {
                Int::from_wide(i128::from(v))
            }
        }
    )*};
}
from_prim!(i8, i16, i32, i64, i128, u8, u16, u32, u64);

impl From<u128> for Int {
    fn from(v: u128) -> Int {
        Int::from_big(IBig::from(v))
    }
}

impl From<usize> for Int {
    fn from(v: usize) -> Int {
        Int::from(v as u64)
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Small(v) => v.fmt(f),
            Big(b) => b.fmt(f),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Int {
    type Err = ParseNumError;
    /// Decimal digits with an optional sign.
    fn from_str(s: &str) -> Result<Int, ParseNumError> {
        let digits = s.strip_prefix(['-', '+']).unwrap_or(s);
        if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
            return Err(ParseNumError);
        }
        IBig::from_str(s).map(Int::from_big).map_err(|_| ParseNumError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::hash_map::DefaultHasher;
    use std::hash::{Hash, Hasher};

    /// Values around every representation boundary.
    fn wide() -> impl Strategy<Value = i128> {
        prop_oneof![
            -20i128..20,
            any::<i64>().prop_map(i128::from),
            (-5i128..5).prop_map(|d| i128::from(i64::MAX) + d),
            (-5i128..5).prop_map(|d| i128::from(i64::MIN) + d),
            // Kept below 2^120 so that sums stay inside the i128 oracle.
            any::<i128>().prop_map(|v| v >> 8),
        ]
    }

    fn hash(i: &Int) -> u64 {
        let mut h = DefaultHasher::new();
        i.hash(&mut h);
        h.finish()
    }

    fn floor(a: i128, b: i128) -> i128 {
        let q = a / b;
        if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn agrees_with_i128(a in wide(), b in wide(), w in 0u32..70) {
            let (x, y) = (Int::from(a), Int::from(b));
            prop_assert_eq!(&x + &y, Int::from(a + b));
            prop_assert_eq!(&x - &y, Int::from(a - b));
            prop_assert_eq!(-&x, Int::from(-a));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x == y, a == b);
            if let Some(p) = a.checked_mul(b) {
                prop_assert_eq!(&x * &y, Int::from(p));
                prop_assert_eq!(hash(&(&x * &y)), hash(&Int::from(p)));
            }
            if b != 0 {
                prop_assert_eq!(x.div_floor(&y), Int::from(floor(a, b)));
                prop_assert_eq!(x.div_ceil(&y), Int::from(-floor(-a, b)));
                prop_assert_eq!(x.div_trunc(&y), Int::from(a / b));
                prop_assert_eq!(x.rem_trunc(&y), Int::from(a % b));
                prop_assert_eq!(x.modulo(&y), Int::from(a.rem_euclid(b)));
                prop_assert_eq!(y.divides(&x), a % b == 0);
            }
            prop_assert_eq!(x.mod_pow2(w), Int::from(a.rem_euclid(1i128 << w)));
            prop_assert_eq!(x.shr(w), Int::from(a >> w));
            prop_assert_eq!(x.shl(w).shr(w), x.clone());
            prop_assert_eq!(&x & &y, Int::from(a & b));
            prop_assert_eq!(&x | &y, Int::from(a | b));
            prop_assert_eq!(&x ^ &y, Int::from(a ^ b));
            prop_assert_eq!(x.to_i128(), Some(a));
            prop_assert_eq!(x.to_string(), a.to_string());
            prop_assert_eq!(a.to_string().parse::<Int>(), Ok(x.clone()));
            prop_assert_eq!(x.trailing_zeros(), (a != 0).then(|| a.trailing_zeros()));
            prop_assert_eq!(x.bit_len(), 128 - a.unsigned_abs().leading_zeros());
        }

        #[test]
        fn gcd_identities(a in wide(), b in wide()) {
            let (x, y) = (Int::from(a), Int::from(b));
            let (g, s, t) = x.ext_gcd(&y);
            prop_assert_eq!(&g, &x.gcd(&y));
            prop_assert_eq!(&s * &x + &t * &y, g.clone());
            prop_assert!(g.divides(&x) && g.divides(&y));
            prop_assert_eq!(x.lcm(&y) * &g, (&x * &y).abs());
        }

        #[test]
        fn big_products_agree_with_dashu(a in any::<i128>(), b in any::<i128>(), c in any::<i128>()) {
            let oracle = IBig::from(a) * IBig::from(b) + IBig::from(c);
            let mut got = Int::from(c);
            got.add_mul(&Int::from(a), &Int::from(b));
            prop_assert_eq!(got.to_string(), oracle.to_string());
            let back = (got - Int::from(c)).div_exact(&if b == 0 { Int::ONE } else { Int::from(b) });
            prop_assert_eq!(back, if b == 0 { Int::ZERO } else { Int::from(a) });
        }

        #[test]
        fn wraps_like_the_machine(a in any::<i64>()) {
            let x = Int::from(a);
            prop_assert_eq!(x.wrap(8, true), Int::from(a as i8));
            prop_assert_eq!(x.wrap(8, false), Int::from(a as u8));
            prop_assert_eq!(x.wrap(32, true), Int::from(a as i32));
            prop_assert_eq!(x.wrap(64, false), Int::from(a as u64));
            prop_assert_eq!((&x * &x).wrap(64, true), Int::from(a.wrapping_mul(a)));
        }
    }

    #[test]
    fn rejects_what_is_no_number() {
        for s in ["", "-", "1x", "0x10", "1_0", " 1"] {
            assert_eq!(s.parse::<Int>(), Err(ParseNumError), "{s:?}");
        }
    }
}
