//! Exact rationals over [`Int`].

use crate::int::gcd_u64;
use crate::{Int, ParseNumError, forward_binop};
use std::cmp::Ordering;
use std::fmt;
use std::ops::Neg;
use std::str::FromStr;

/// An exact rational. Invariant: the denominator is positive and coprime to the numerator, so the
/// derived equality and hash are those of the value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rat {
    num: Int,
    den: Int,
}

impl Rat {
    /// Zero.
    pub const ZERO: Rat = Rat { num: Int::ZERO, den: Int::ONE };
    /// One.
    pub const ONE: Rat = Rat { num: Int::ONE, den: Int::ONE };

    /// `num / den`.
    ///
    /// # Panics
    /// When `den` is zero.
    pub fn new(num: Int, den: Int) -> Rat {
        assert!(!den.is_zero(), "rational with denominator zero");
        let g = num.gcd(&den);
        let g = if den.is_negative() { -g } else { g };
        if g.is_one() { Rat { num, den } } else { Rat { num: num.div_exact(&g), den: den.div_exact(&g) } }
    }

    /// From a 128-bit fraction with positive denominator.
    fn from_wide(n: i128, d: i128) -> Rat {
        match (i64::try_from(n), i64::try_from(d)) {
            (Ok(n), Ok(d)) => {
                let g = gcd_u64(n.unsigned_abs(), d.unsigned_abs());
                // g divides the positive i64 `d`, hence is an i64 too.
                let g = g as i64;
                Rat { num: Int::from(n / g), den: Int::from(d / g) }
            }
            _ => Rat::new(Int::from(n), Int::from(d)),
        }
    }

    /// The numerator.
    pub fn numer(&self) -> &Int {
        &self.num
    }

    /// The denominator, always positive.
    pub fn denom(&self) -> &Int {
        &self.den
    }

    /// Is this an integer?
    #[inline]
    pub fn is_int(&self) -> bool {
        self.den.is_one()
    }

    /// The value as an integer, when it is one.
    pub fn to_int(&self) -> Option<&Int> {
        self.is_int().then_some(&self.num)
    }

    /// Is this zero?
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.num.is_zero()
    }

    /// Is this below zero?
    #[inline]
    pub fn is_negative(&self) -> bool {
        self.num.is_negative()
    }

    /// Is this above zero?
    #[inline]
    pub fn is_positive(&self) -> bool {
        self.num.is_positive()
    }

    /// -1, 0 or 1 by the sign.
    pub fn signum(&self) -> i32 {
        self.num.signum()
    }

    /// The absolute value.
    pub fn abs(&self) -> Rat {
        Rat { num: self.num.abs(), den: self.den.clone() }
    }

    /// The greatest integer not above.
    pub fn floor(&self) -> Int {
        if self.is_int() { self.num.clone() } else { self.num.div_floor(&self.den) }
    }

    /// The least integer not below.
    pub fn ceil(&self) -> Int {
        if self.is_int() { self.num.clone() } else { self.num.div_ceil(&self.den) }
    }

    /// `1 / self`.
    ///
    /// # Panics
    /// When `self` is zero.
    pub fn recip(&self) -> Rat {
        Rat::new(self.den.clone(), self.num.clone())
    }

    /// An approximation for printing and plotting; never used to decide anything.
    pub fn to_f64(&self) -> f64 {
        self.num.to_f64() / self.den.to_f64()
    }
}

/// Both parts as `i64`s, when they fit.
#[inline]
fn small(r: &Rat) -> Option<(i64, i64)> {
    Some((r.num.to_i64()?, r.den.to_i64()?))
}

#[inline]
fn add(a: &Rat, b: &Rat) -> Rat {
    if a.is_int() && b.is_int() {
        return Rat { num: &a.num + &b.num, den: Int::ONE };
    }
    if let (Some((an, ad)), Some((bn, bd))) = (small(a), small(b)) {
        let (an, ad, bn, bd) = (i128::from(an), i128::from(ad), i128::from(bn), i128::from(bd));
        // Each product is at most 2^126 in size, so the sum fits.
        return Rat::from_wide(an * bd + bn * ad, ad * bd);
    }
    Rat::new(&a.num * &b.den + &b.num * &a.den, &a.den * &b.den)
}

#[inline]
fn sub(a: &Rat, b: &Rat) -> Rat {
    add(a, &-b)
}

#[inline]
fn mul(a: &Rat, b: &Rat) -> Rat {
    if a.is_int() && b.is_int() {
        return Rat { num: &a.num * &b.num, den: Int::ONE };
    }
    if let (Some((an, ad)), Some((bn, bd))) = (small(a), small(b)) {
        return Rat::from_wide(i128::from(an) * i128::from(bn), i128::from(ad) * i128::from(bd));
    }
    Rat::new(&a.num * &b.num, &a.den * &b.den)
}

/// Panics when `b` is zero, like the primitive types do.
#[inline]
fn div(a: &Rat, b: &Rat) -> Rat {
    mul(a, &b.recip())
}

forward_binop!(Rat, Add, add, AddAssign, add_assign, add);
forward_binop!(Rat, Sub, sub, SubAssign, sub_assign, sub);
forward_binop!(Rat, Mul, mul, MulAssign, mul_assign, mul);
forward_binop!(Rat, Div, div, DivAssign, div_assign, div);

impl Neg for &Rat {
    type Output = Rat;
    fn neg(self) -> Rat {
        Rat { num: -&self.num, den: self.den.clone() }
    }
}

impl Neg for Rat {
    type Output = Rat;
    fn neg(self) -> Rat {
        Rat { num: -self.num, den: self.den }
    }
}

impl Ord for Rat {
    #[inline]
    fn cmp(&self, other: &Rat) -> Ordering {
        if self.den == other.den {
            return self.num.cmp(&other.num);
        }
        if let (Some((an, ad)), Some((bn, bd))) = (small(self), small(other)) {
            return (i128::from(an) * i128::from(bd)).cmp(&(i128::from(bn) * i128::from(ad)));
        }
        (&self.num * &other.den).cmp(&(&other.num * &self.den))
    }
}

impl PartialOrd for Rat {
    #[inline]
    fn partial_cmp(&self, other: &Rat) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Int> for Rat {
    fn from(num: Int) -> Rat {
        Rat { num, den: Int::ONE }
    }
}

impl From<&Int> for Rat {
    fn from(num: &Int) -> Rat {
        Rat { num: num.clone(), den: Int::ONE }
    }
}

macro_rules! from_prim {
    ($($t:ty),*) => {$(
        impl From<$t> for Rat {
            #[inline]
            fn from(v: $t) -> Rat {
                Rat { num: Int::from(v), den: Int::ONE }
            }
        }
    )*};
}
from_prim!(i32, u32, i64, u64, i128);

impl fmt::Display for Rat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_int() { self.num.fmt(f) } else { write!(f, "{}/{}", self.num, self.den) }
    }
}

impl fmt::Debug for Rat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Rat {
    type Err = ParseNumError;
    /// An integer, or `numerator/denominator` with a denominator that is not zero.
    fn from_str(s: &str) -> Result<Rat, ParseNumError> {
        let Some((n, d)) = s.split_once('/') else { return Ok(Rat::from(s.parse::<Int>()?)) };
        let (n, d) = (n.parse::<Int>()?, d.parse::<Int>()?);
        if d.is_zero() { Err(ParseNumError) } else { Ok(Rat::new(n, d)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu::integer::IBig;
    use dashu::rational::RBig;
    use proptest::prelude::*;

    fn part() -> impl Strategy<Value = i128> {
        prop_oneof![-6i128..6, any::<i64>().prop_map(i128::from), any::<i128>()]
    }

    fn pair(n: i128, d: i128) -> (Rat, RBig) {
        let d = if d == 0 { 1 } else { d };
        let oracle = RBig::from(IBig::from(n)) / RBig::from(IBig::from(d));
        (Rat::new(Int::from(n), Int::from(d)), oracle)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn agrees_with_dashu(an in part(), ad in part(), bn in part(), bd in part()) {
            let ((a, x), (b, y)) = (pair(an, ad), pair(bn, bd));
            prop_assert_eq!((&a + &b).to_string(), (&x + &y).to_string());
            prop_assert_eq!((&a - &b).to_string(), (&x - &y).to_string());
            prop_assert_eq!((&a * &b).to_string(), (&x * &y).to_string());
            if !b.is_zero() {
                prop_assert_eq!((&a / &b).to_string(), (&x / &y).to_string());
            }
            prop_assert_eq!(a.cmp(&b), x.cmp(&y));
            prop_assert_eq!(a.floor().to_string(), x.floor().to_string());
            prop_assert_eq!(a.ceil().to_string(), x.ceil().to_string());
            prop_assert_eq!(a.to_string().parse::<Rat>(), Ok(a.clone()));
        }
    }

    #[test]
    fn normal_form_is_unique() {
        assert_eq!(Rat::new(Int::from(2), Int::from(-4)), "-1/2".parse().unwrap());
        assert_eq!(Rat::new(Int::ZERO, Int::from(-7)), Rat::ZERO);
        assert_eq!("1/0".parse::<Rat>(), Err(ParseNumError));
    }
}
