//! Values of bit-vector sort: unsigned integers modulo `2^width`, of any width.
//!
//! Every operation is the one of the same name in SMT-LIB's theory `FixedSizeBitVectors`; this
//! module is the meaning of the constants, and [`crate::eval`] builds the meaning of terms on it.

use std::cmp::Ordering;
use std::fmt;

/// A bit-vector value. Widths up to 64 bits need no allocation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BitVec {
    width: u32,
    repr: Repr,
}

/// Bits above the width are zero, so that derived equality is equality of values.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(u64),
    /// Little-endian words, exactly `width.div_ceil(64)` of them; used above 64 bits only.
    Large(Box<[u64]>),
}

fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl BitVec {
    /// `value` modulo `2^width`. The width must be positive.
    pub fn new(width: u32, value: u64) -> Self {
        assert!(width > 0, "bit-vectors have at least one bit");
        if width <= 64 {
            BitVec { width, repr: Repr::Small(value & mask(width)) }
        } else {
            let mut words = vec![0; width.div_ceil(64) as usize];
            words[0] = value;
            BitVec { width, repr: Repr::Large(words.into()) }
        }
    }

    /// The value with the given little-endian words, cut or zero-extended to `width`.
    pub fn from_words(width: u32, words: &[u64]) -> Self {
        if width <= 64 {
            return BitVec::new(width, words.first().copied().unwrap_or(0));
        }
        let n = width.div_ceil(64) as usize;
        let mut out: Vec<u64> = words.iter().copied().take(n).collect();
        out.resize(n, 0);
        let top = width % 64;
        if top != 0 {
            out[n - 1] &= mask(top);
        }
        BitVec { width, repr: Repr::Large(out.into()) }
    }

    /// `value` modulo `2^width`, in two's complement.
    pub fn from_i128(width: u32, value: i128) -> Self {
        let mut words = vec![value as u64, (value >> 64) as u64];
        words.resize(2.max(width.div_ceil(64) as usize), if value < 0 { u64::MAX } else { 0 });
        BitVec::from_words(width, &words)
    }

    /// The value whose bit `i` is `bit(i)`.
    pub fn from_bits(width: u32, mut bit: impl FnMut(u32) -> bool) -> Self {
        let mut words = vec![0u64; width.div_ceil(64) as usize];
        for i in 0..width {
            if bit(i) {
                words[(i / 64) as usize] |= 1 << (i % 64);
            }
        }
        BitVec::from_words(width, &words)
    }

    /// Reads digits in the given radix (2 to 16), reduced modulo `2^width`; `None` if there is no
    /// digit or a character is not one.
    pub fn from_digits(width: u32, digits: &str, radix: u32) -> Option<Self> {
        if digits.is_empty() {
            return None;
        }
        let mut words = vec![0u64; width.div_ceil(64) as usize];
        for c in digits.chars() {
            let mut carry = u128::from(c.to_digit(radix)?);
            for word in &mut words {
                carry += u128::from(*word) * u128::from(radix);
                *word = carry as u64;
                carry >>= 64;
            }
        }
        Some(BitVec::from_words(width, &words))
    }

    /// Zero.
    pub fn zero(width: u32) -> Self {
        BitVec::new(width, 0)
    }

    /// One.
    pub fn one(width: u32) -> Self {
        BitVec::new(width, 1)
    }

    /// All bits set.
    pub fn ones(width: u32) -> Self {
        BitVec::zero(width).not()
    }

    /// The smallest signed value: only the sign bit set.
    pub fn signed_min(width: u32) -> Self {
        BitVec::from_bits(width, |i| i + 1 == width)
    }

    /// The greatest signed value: all bits but the sign bit set.
    pub fn signed_max(width: u32) -> Self {
        BitVec::signed_min(width).not()
    }

    /// The number of bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Little-endian words; the last may be partial.
    pub fn words(&self) -> &[u64] {
        match &self.repr {
            Repr::Small(v) => std::slice::from_ref(v),
            Repr::Large(words) => words,
        }
    }

    /// Bit `i`, counted from the least significant; false beyond the width.
    pub fn bit(&self, i: u32) -> bool {
        self.words().get((i / 64) as usize).is_some_and(|w| w >> (i % 64) & 1 == 1)
    }

    /// The sign bit.
    pub fn sign(&self) -> bool {
        self.bit(self.width - 1)
    }

    /// The unsigned value, if it fits.
    pub fn to_u64(&self) -> Option<u64> {
        let words = self.words();
        words[1..].iter().all(|w| *w == 0).then_some(words[0])
    }

    /// The unsigned value, if it fits.
    pub fn to_u128(&self) -> Option<u128> {
        let words = self.words();
        let high = words.get(1).copied().unwrap_or(0);
        words.iter().skip(2).all(|w| *w == 0).then_some(u128::from(words[0]) | u128::from(high) << 64)
    }

    /// The signed value, if it fits.
    pub fn to_i128(&self) -> Option<i128> {
        if self.sign() {
            let magnitude = self.neg().to_u128()?;
            (magnitude <= 1 << 127).then(|| (magnitude as i128).wrapping_neg())
        } else {
            self.to_u128().and_then(|v| i128::try_from(v).ok())
        }
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        self.words().iter().all(|w| *w == 0)
    }

    /// Whether the value is one.
    pub fn is_one(&self) -> bool {
        self.to_u64() == Some(1)
    }

    /// Whether all bits are set.
    pub fn is_ones(&self) -> bool {
        match &self.repr {
            Repr::Small(v) => *v == mask(self.width),
            Repr::Large(_) => self.count_ones() == self.width,
        }
    }

    /// The number of set bits.
    pub fn count_ones(&self) -> u32 {
        self.words().iter().map(|w| w.count_ones()).sum()
    }

    /// `Some(k)` if the value is `2^k`.
    pub fn log2(&self) -> Option<u32> {
        (self.count_ones() == 1).then(|| self.trailing_zeros())
    }

    /// The number of low zero bits; the width for zero.
    pub fn trailing_zeros(&self) -> u32 {
        let mut n = 0;
        for w in self.words() {
            if *w != 0 {
                return n + w.trailing_zeros();
            }
            n += 64;
        }
        self.width
    }

    fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        assert_eq!(self.width, other.width, "operands of one width");
        match (&self.repr, &other.repr) {
            (Repr::Small(a), Repr::Small(b)) => BitVec::new(self.width, f(*a, *b)),
            _ => {
                let words: Vec<u64> =
                    self.words().iter().zip(other.words()).map(|(a, b)| f(*a, *b)).collect();
                BitVec::from_words(self.width, &words)
            }
        }
    }

    /// Bitwise complement.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn not(&self) -> Self {
        self.zip(self, |a, _| !a)
    }

    /// Bitwise conjunction.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Bitwise disjunction.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Bitwise exclusive or.
    #[must_use]
    pub fn xor(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    /// Two's complement negation.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn neg(&self) -> Self {
        self.not().add(&BitVec::one(self.width))
    }

    /// Sum modulo `2^width`.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn add(&self, other: &Self) -> Self {
        assert_eq!(self.width, other.width, "operands of one width");
        if let (Repr::Small(a), Repr::Small(b)) = (&self.repr, &other.repr) {
            return BitVec::new(self.width, a.wrapping_add(*b));
        }
        let mut carry = false;
        let words: Vec<u64> = self
            .words()
            .iter()
            .zip(other.words())
            .map(|(a, b)| {
                let (s, c1) = a.overflowing_add(*b);
                let (s, c2) = s.overflowing_add(u64::from(carry));
                carry = c1 | c2;
                s
            })
            .collect();
        BitVec::from_words(self.width, &words)
    }

    /// Difference modulo `2^width`.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// Product modulo `2^width`.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn mul(&self, other: &Self) -> Self {
        assert_eq!(self.width, other.width, "operands of one width");
        if let (Repr::Small(a), Repr::Small(b)) = (&self.repr, &other.repr) {
            return BitVec::new(self.width, a.wrapping_mul(*b));
        }
        let (a, b) = (self.words(), other.words());
        let mut out = vec![0u64; a.len()];
        for (i, x) in a.iter().enumerate() {
            let mut carry = 0u128;
            for (j, y) in b.iter().enumerate().take(a.len() - i) {
                carry += u128::from(*x) * u128::from(*y) + u128::from(out[i + j]);
                out[i + j] = carry as u64;
                carry >>= 64;
            }
        }
        BitVec::from_words(self.width, &out)
    }

    /// Quotient and remainder of the unsigned division; by zero, all ones and the dividend.
    fn div_rem(&self, other: &Self) -> (Self, Self) {
        assert_eq!(self.width, other.width, "operands of one width");
        if other.is_zero() {
            return (BitVec::ones(self.width), self.clone());
        }
        if let (Repr::Small(a), Repr::Small(b)) = (&self.repr, &other.repr) {
            return (BitVec::new(self.width, a / b), BitVec::new(self.width, a % b));
        }
        // Schoolbook division bit by bit, with one spare bit so that the shift cannot overflow.
        let wide = other.zero_extend(1);
        let mut rest = BitVec::zero(self.width + 1);
        let mut quotient = vec![0u64; self.words().len()];
        for i in (0..self.width).rev() {
            rest = rest.shl_by(1);
            if self.bit(i) {
                rest = rest.or(&BitVec::one(self.width + 1));
            }
            if wide <= rest {
                rest = rest.sub(&wide);
                quotient[(i / 64) as usize] |= 1 << (i % 64);
            }
        }
        (BitVec::from_words(self.width, &quotient), rest.extract(self.width - 1, 0))
    }

    /// Unsigned quotient; all ones when dividing by zero.
    #[must_use]
    pub fn udiv(&self, other: &Self) -> Self {
        self.div_rem(other).0
    }

    /// Unsigned remainder; the dividend when dividing by zero.
    #[must_use]
    pub fn urem(&self, other: &Self) -> Self {
        self.div_rem(other).1
    }

    fn abs(&self) -> Self {
        if self.sign() { self.neg() } else { self.clone() }
    }

    /// Signed quotient, rounded toward zero.
    #[must_use]
    pub fn sdiv(&self, other: &Self) -> Self {
        let q = self.abs().udiv(&other.abs());
        if self.sign() == other.sign() { q } else { q.neg() }
    }

    /// Signed remainder with the sign of the dividend.
    #[must_use]
    pub fn srem(&self, other: &Self) -> Self {
        let r = self.abs().urem(&other.abs());
        if self.sign() { r.neg() } else { r }
    }

    /// Signed remainder with the sign of the divisor.
    #[must_use]
    pub fn smod(&self, other: &Self) -> Self {
        let r = self.srem(other);
        if r.is_zero() || self.sign() == other.sign() { r } else { r.add(other) }
    }

    fn shl_by(&self, n: u32) -> Self {
        if let Repr::Small(v) = &self.repr {
            return BitVec::new(self.width, v.checked_shl(n).unwrap_or(0));
        }
        BitVec::from_bits(self.width, |i| i >= n && self.bit(i - n))
    }

    fn shift_amount(&self, by: &Self) -> Option<u32> {
        by.to_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n < self.width)
    }

    /// Shift left; zero when shifting by the width or more.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn shl(&self, by: &Self) -> Self {
        self.shift_amount(by).map_or(BitVec::zero(self.width), |n| self.shl_by(n))
    }

    /// Logical shift right; zero when shifting by the width or more.
    #[must_use]
    pub fn lshr(&self, by: &Self) -> Self {
        match self.shift_amount(by) {
            Some(n) => self.extract(self.width - 1, n).zero_extend(n),
            None => BitVec::zero(self.width),
        }
    }

    /// Arithmetic shift right; copies of the sign bit when shifting by the width or more.
    #[must_use]
    pub fn ashr(&self, by: &Self) -> Self {
        let n = self.shift_amount(by).unwrap_or(self.width - 1);
        self.extract(self.width - 1, n).sign_extend(n)
    }

    /// `self` as the high bits, `low` as the low bits.
    #[must_use]
    pub fn concat(&self, low: &Self) -> Self {
        let width = self.width + low.width;
        if width <= 64 {
            return BitVec::new(width, self.words()[0] << low.width | low.words()[0]);
        }
        BitVec::from_bits(width, |i| if i < low.width { low.bit(i) } else { self.bit(i - low.width) })
    }

    /// Bits `high` down to `low`, both included.
    #[must_use]
    pub fn extract(&self, high: u32, low: u32) -> Self {
        assert!(low <= high && high < self.width, "extract inside the width");
        let width = high - low + 1;
        if let Repr::Small(v) = &self.repr {
            return BitVec::new(width, v >> low);
        }
        BitVec::from_bits(width, |i| self.bit(low + i))
    }

    /// Extends by `n` zero bits.
    #[must_use]
    pub fn zero_extend(&self, n: u32) -> Self {
        BitVec::from_words(self.width + n, self.words())
    }

    /// Extends by `n` copies of the sign bit.
    #[must_use]
    pub fn sign_extend(&self, n: u32) -> Self {
        if !self.sign() {
            return self.zero_extend(n);
        }
        let width = self.width + n;
        if width <= 64 {
            return BitVec::new(width, self.words()[0] | !mask(self.width));
        }
        BitVec::from_bits(width, |i| i >= self.width || self.bit(i))
    }

    /// Unsigned comparison.
    pub fn ult(&self, other: &Self) -> bool {
        assert_eq!(self.width, other.width, "operands of one width");
        self < other
    }

    /// Signed comparison.
    pub fn slt(&self, other: &Self) -> bool {
        if self.sign() == other.sign() { self.ult(other) } else { self.sign() }
    }

    /// Whether the exact unsigned product needs more than `width` bits.
    pub fn umulo(&self, other: &Self) -> bool {
        let w = self.width;
        !self.zero_extend(w).mul(&other.zero_extend(w)).extract(2 * w - 1, w).is_zero()
    }

    /// Whether the exact signed product is not a signed `width`-bit number.
    pub fn smulo(&self, other: &Self) -> bool {
        let w = self.width;
        let product = self.sign_extend(w).mul(&other.sign_extend(w));
        product.extract(w - 1, 0).sign_extend(w) != product
    }

    /// The inverse modulo `2^width`, which odd values have.
    pub fn inverse(&self) -> Option<Self> {
        if !self.bit(0) {
            return None;
        }
        // Newton's iteration doubles the number of right bits.
        let two = BitVec::from_words(self.width, &[2]);
        let mut x = self.clone();
        let mut right_bits = 3;
        while right_bits < self.width {
            x = x.mul(&two.sub(&self.mul(&x)));
            right_bits *= 2;
        }
        Some(x)
    }
}

impl Ord for BitVec {
    /// By width, then by unsigned value.
    fn cmp(&self, other: &Self) -> Ordering {
        self.width.cmp(&other.width).then_with(|| self.words().iter().rev().cmp(other.words().iter().rev()))
    }
}

impl PartialOrd for BitVec {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for BitVec {
    /// SMT-LIB syntax: `#x..` when the width is a multiple of four, else `#b..`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.width.is_multiple_of(4) {
            f.write_str("#x")?;
            for i in (0..self.width / 4).rev() {
                let nibble = self.words()[(i / 16) as usize] >> (i % 16 * 4) & 15;
                write!(f, "{nibble:x}")?;
            }
        } else {
            f.write_str("#b")?;
            for i in (0..self.width).rev() {
                f.write_str(if self.bit(i) { "1" } else { "0" })?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for BitVec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splitting a wide operation's operands over word boundaries must not change the result:
    /// compare widths around 64 and 128 with u128 arithmetic.
    #[test]
    fn wide_arithmetic_agrees_with_u128() {
        let samples: Vec<u128> = {
            let mut x = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C834u128;
            let mut v = vec![0, 1, 2, u128::MAX, u128::MAX - 1, 1 << 63, 1 << 64, (1 << 64) - 1, 1 << 127];
            for _ in 0..20 {
                x = x.wrapping_mul(0xDA94_2042_E4DD_58B5_2360_ED05_1FC6_5DA4_u128 | 1).wrapping_add(99);
                v.extend([x, x >> 64, x >> 100]);
            }
            v
        };
        for width in [63u32, 64, 65, 100, 127, 128] {
            let m = if width == 128 { u128::MAX } else { (1 << width) - 1 };
            let make = |v: u128| BitVec::from_words(width, &[v as u64, (v >> 64) as u64]);
            let signed = |v: u128| ((v << (128 - width)) as i128) >> (128 - width);
            for &a in &samples {
                for &b in &samples {
                    let (a, b) = (a & m, b & m);
                    let (x, y) = (make(a), make(b));
                    assert_eq!(x.add(&y), make(a.wrapping_add(b) & m));
                    assert_eq!(x.sub(&y), make(a.wrapping_sub(b) & m));
                    assert_eq!(x.mul(&y), make(a.wrapping_mul(b) & m));
                    assert_eq!(x.udiv(&y), make(a.checked_div(b).unwrap_or(m)));
                    assert_eq!(x.urem(&y), make(a.checked_rem(b).unwrap_or(a)));
                    assert_eq!(x.ult(&y), a < b);
                    assert_eq!(x.slt(&y), signed(a) < signed(b));
                    assert_eq!(x.to_i128(), Some(signed(a)));
                    assert_eq!(BitVec::from_i128(width, signed(a)), x);
                    let n = b % u128::from(width + 3);
                    let by = make(n);
                    let n = n as u32;
                    assert_eq!(x.shl(&by), make(if n >= width { 0 } else { a << n & m }));
                    assert_eq!(x.lshr(&by), make(if n >= width { 0 } else { a >> n }));
                    let fill = signed(a) >> n.min(width - 1);
                    assert_eq!(x.ashr(&by), make(fill as u128 & m));
                }
                if a & 1 == 1 {
                    let x = make(a & m);
                    assert!(x.mul(&x.inverse().expect("odd")).is_one());
                }
            }
        }
    }

    #[test]
    fn text_round_trips() {
        let v = BitVec::from_digits(70, "1180591620717411303423", 10).expect("digits");
        assert!(v.is_ones());
        assert_eq!(BitVec::from_digits(12, "abc", 16).expect("digits").to_string(), "#xabc");
        assert_eq!(BitVec::new(5, 9).to_string(), "#b01001");
        assert_eq!(BitVec::from_digits(8, "", 10), None);
        assert_eq!(BitVec::from_digits(8, "12", 2), None);
    }
}
