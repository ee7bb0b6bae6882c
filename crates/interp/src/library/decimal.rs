//! Exact decimal expansions of binary floating-point numbers.

/// A non-negative number `mant * 2^exp` in decimal: digits before and after the point, without
/// superfluous zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    /// Digits before the point (none for zero).
    pub whole: Vec<u8>,
    /// Digits after the point.
    pub fraction: Vec<u8>,
}

const CHUNK: u64 = 1_000_000_000;

impl Decimal {
    pub fn new(mant: u64, exp: i32) -> Decimal {
        if mant == 0 {
            return Decimal { whole: Vec::new(), fraction: Vec::new() };
        }
        if exp >= 0 {
            return Decimal { whole: whole_digits(mant, exp as u32), fraction: Vec::new() };
        }
        let bits = exp.unsigned_abs();
        let whole = if bits < 64 { mant >> bits } else { 0 };
        let rest = if bits < 64 { mant & ((1 << bits) - 1) } else { mant };
        Decimal { whole: whole_digits(whole, 0), fraction: fraction_digits(rest, bits) }
    }

    fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    /// The decimal exponent of the first digit that is not zero.
    pub fn exponent(&self) -> i32 {
        if !self.whole.is_empty() {
            return self.whole.len() as i32 - 1;
        }
        match self.fraction.iter().position(|d| *d != 0) {
            Some(i) => -(i as i32) - 1,
            None => 0,
        }
    }

    /// Rounds to this many digits after the point (before it, if negative), halves to even.
    pub fn round(&mut self, places: i32) {
        let mut digits = std::mem::take(&mut self.whole);
        let point = digits.len() as i32;
        digits.extend_from_slice(&self.fraction);
        let keep = point + places;
        if keep < 0 {
            *self = Decimal { whole: Vec::new(), fraction: Vec::new() };
            return;
        }
        let keep = keep as usize;
        let mut carry = false;
        if keep < digits.len() {
            let half = digits[keep].cmp(&5);
            let rest = digits[keep + 1..].iter().any(|d| *d != 0);
            let odd = keep > 0 && digits[keep - 1] % 2 == 1;
            carry = half.is_gt() || half.is_eq() && (rest || odd);
            digits.truncate(keep);
        }
        for d in digits.iter_mut().rev() {
            if !carry {
                break;
            }
            carry = *d == 9;
            *d = if carry { 0 } else { *d + 1 };
        }
        let mut point = point;
        if carry {
            digits.insert(0, 1);
            point += 1;
        }
        digits.resize(digits.len().max(point.max(0) as usize), 0);
        self.fraction = digits.split_off(point.max(0) as usize);
        let zeros = digits.iter().take_while(|d| **d == 0).count();
        digits.drain(..zeros);
        self.whole = digits;
    }

    /// `%f` without a sign.
    pub fn fixed(mut self, precision: usize, point: bool) -> String {
        self.round(precision.min(i32::MAX as usize / 2) as i32);
        let mut out: String = self.whole.iter().map(|d| (b'0' + d) as char).collect();
        if out.is_empty() {
            out.push('0');
        }
        if precision > 0 || point {
            out.push('.');
        }
        out.extend((0..precision).map(|i| (b'0' + self.fraction.get(i).unwrap_or(&0)) as char));
        out
    }

    /// `%e` without a sign; the exponent too.
    pub fn scientific(mut self, precision: usize, point: bool) -> (String, i32) {
        let zero = self.is_zero();
        if !zero {
            let exponent = self.exponent();
            self.round(precision.min(i32::MAX as usize / 2) as i32 - exponent);
        }
        let exponent = self.exponent();
        let mut digits = self.whole;
        digits.extend_from_slice(&self.fraction);
        let first = digits.iter().position(|d| *d != 0).unwrap_or(0);
        let digit = |i: usize| (b'0' + digits.get(first + i).unwrap_or(&0)) as char;
        let mut out = String::from(digit(0));
        if precision > 0 || point {
            out.push('.');
        }
        out.extend((1..=precision).map(digit));
        (out, exponent)
    }
}

/// Decimal digits of `mant * 2^shift`.
fn whole_digits(mant: u64, shift: u32) -> Vec<u8> {
    // Chunks of nine digits, the lowest first.
    let mut chunks: Vec<u64> = vec![mant % CHUNK, mant / CHUNK % CHUNK, mant / CHUNK / CHUNK];
    let mut left = shift;
    while left > 0 {
        let step = left.min(29);
        let mut carry = 0;
        for c in &mut chunks {
            let x = (*c << step) + carry;
            *c = x % CHUNK;
            carry = x / CHUNK;
        }
        while carry > 0 {
            chunks.push(carry % CHUNK);
            carry /= CHUNK;
        }
        left -= step;
    }
    let mut text: Vec<u8> = Vec::with_capacity(chunks.len() * 9);
    for c in chunks.iter().rev() {
        text.extend(format!("{c:09}").bytes().map(|b| b - b'0'));
    }
    let zeros = text.iter().take_while(|d| **d == 0).count();
    text.drain(..zeros);
    text
}

/// Decimal digits of `rest / 2^bits`, which is below 1.
fn fraction_digits(rest: u64, bits: u32) -> Vec<u8> {
    // A binary fraction in words of 32 bits, the highest first.
    let words = bits.div_ceil(32) as usize;
    let mut fraction = vec![0u64; words.max(2)];
    let words = fraction.len();
    let shifted = u128::from(rest) << ((words as u32 * 32 - bits) % 32);
    for i in 0..4 {
        let word = (shifted >> (32 * i)) as u32;
        if let Some(at) = (words.max(1) - 1).checked_sub(i + (words - bits.div_ceil(32) as usize)) {
            fraction[at] = word.into();
        }
    }
    let mut digits = Vec::new();
    let mut last = words;
    loop {
        while last > 0 && fraction[last - 1] == 0 {
            last -= 1;
        }
        if last == 0 {
            break;
        }
        let mut carry = 0;
        for w in fraction[..last].iter_mut().rev() {
            let x = *w * CHUNK + carry;
            *w = x & 0xffff_ffff;
            carry = x >> 32;
        }
        digits.extend(format!("{carry:09}").bytes().map(|b| b - b'0'));
    }
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(x: f64) -> Decimal {
        let bits = x.to_bits();
        let exp = (bits >> 52 & 0x7ff) as i32;
        let frac = bits & ((1 << 52) - 1);
        if exp == 0 { Decimal::new(frac, -1074) } else { Decimal::new(frac | 1 << 52, exp - 1075) }
    }

    /// The standard library's formatting is exact too.
    #[test]
    fn agrees_with_the_standard_library() {
        let mut s = 1u64;
        for i in 0..3000 {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            let x = match i % 4 {
                0 => f64::from_bits(s & !(1 << 63)),
                1 => (s % 100_000) as f64 / 8.0,
                2 => (s % 1000) as f64 + 0.5,
                _ => f64::from_bits(0x3f00_0000_0000_0000 | s >> 8),
            };
            if !x.is_finite() {
                continue;
            }
            for precision in [0, 1, 2, 6, 17, 40] {
                assert_eq!(of(x).fixed(precision, false), format!("{x:.precision$}"), "{x:e}");
                let (mantissa, exponent) = of(x).scientific(precision, false);
                assert_eq!(format!("{mantissa}e{exponent}"), format!("{x:.precision$e}"), "{x:e}");
            }
        }
    }

    #[test]
    fn small_numbers() {
        assert_eq!(of(0.0).fixed(2, false), "0.00");
        assert_eq!(of(0.5).fixed(0, true), "0.");
        assert_eq!(of(1.5).fixed(0, false), "2");
        assert_eq!(of(9.99).fixed(1, false), "10.0");
        assert_eq!(of(5e-324).scientific(0, false), ("5".into(), -324));
        assert_eq!(Decimal::new(1, -70).fraction.len(), 70);
    }
}
