//! Integer vectors up to a positive factor: the constraints and generators of polyhedra.

use palisade_num::Int;
use std::fmt;

/// A vector of coprime integers. Vectors that fit are kept as machine integers, which makes the
/// common case fast; any result that does not fit falls back to exact big integers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Row {
    /// Every component is an `i64`.
    Small(Box<[i64]>),
    /// Some component is not.
    Big(Box<[Int]>),
}
use Row::{Big, Small};

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        // Most values are small: 64-bit division is much cheaper.
        if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
            let (mut x, mut y) = (x, y);
            while y != 0 {
                (x, y) = (y, x % y);
            }
            return u128::from(x);
        }
        (a, b) = (b, a % b);
    }
    a
}

/// Divides by the greatest common divisor and picks the representation.
fn from_wide(mut v: Vec<i128>) -> Row {
    let mut g = 0u128;
    for x in &v {
        g = gcd(g, x.unsigned_abs());
        if g == 1 {
            break;
        }
    }
    if g > 1 {
        // g divides a nonzero i128, so it fits unless that is i128::MIN, which no sum below reaches.
        let g = g as i128;
        v.iter_mut().for_each(|x| *x /= g);
    }
    if v.iter().all(|x| i64::try_from(*x).is_ok()) {
        Small(v.iter().map(|x| *x as i64).collect())
    } else {
        Big(v.into_iter().map(Int::from).collect())
    }
}

impl Row {
    /// The vector, divided by the greatest common divisor of its components.
    pub fn new(v: Vec<Int>) -> Row {
        let g = v.iter().fold(Int::ZERO, |g, x| g.gcd(x));
        let v: Vec<Int> =
            if g.is_zero() || g.is_one() { v } else { v.iter().map(|x| x.div_exact(&g)).collect() };
        match v.iter().map(Int::to_i64).collect::<Option<Box<[i64]>>>() {
            Some(s) => Small(s),
            None => Big(v.into()),
        }
    }

    /// A unit vector.
    pub fn unit(len: usize, at: usize) -> Row {
        let mut v = vec![0; len].into_boxed_slice();
        v[at] = 1;
        Small(v)
    }

    /// The number of components.
    pub fn len(&self) -> usize {
        match self {
            Small(v) => v.len(),
            Big(v) => v.len(),
        }
    }

    /// One component.
    pub fn get(&self, i: usize) -> Int {
        match self {
            Small(v) => Int::from(v[i]),
            Big(v) => v[i].clone(),
        }
    }

    /// The sign of one component.
    pub fn sign(&self, i: usize) -> i32 {
        match self {
            Small(v) => v[i].signum() as i32,
            Big(v) => v[i].signum(),
        }
    }

    /// Is every component from `from` on zero?
    pub fn is_zero_from(&self, from: usize) -> bool {
        match self {
            Small(v) => v[from..].iter().all(|x| *x == 0),
            Big(v) => v[from..].iter().all(Int::is_zero),
        }
    }

    /// Has every component at most this many bits? Machine integers count as short.
    pub fn fits(&self, bits: u32) -> bool {
        match self {
            Small(_) => true,
            Big(v) => v.iter().all(|x| x.bit_len() <= bits),
        }
    }

    /// The components as integers.
    pub fn to_vec(&self) -> Vec<Int> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }

    /// `-self`.
    pub fn negated(&self) -> Row {
        match self {
            Small(v) if v.iter().all(|x| *x != i64::MIN) => Small(v.iter().map(|x| -x).collect()),
            _ => Row::new(self.to_vec().iter().map(|x| -x).collect()),
        }
    }

    /// The scalar product.
    pub fn dot(&self, other: &Row) -> Int {
        if let (Small(a), Small(b)) = (self, other) {
            let mut sum = 0i128;
            let fits = a.iter().zip(b).all(|(x, y)| match sum.checked_add(i128::from(*x) * i128::from(*y)) {
                Some(s) => {
                    sum = s;
                    true
                }
                None => false,
            });
            if fits {
                return Int::from(sum);
            }
        }
        let mut sum = Int::ZERO;
        for i in 0..self.len() {
            sum.add_mul(&self.get(i), &other.get(i));
        }
        sum
    }

    /// `k·self + l·other`, as a vector up to a positive factor.
    pub fn combine(&self, k: &Int, other: &Row, l: &Int) -> Row {
        let g = k.gcd(l);
        let (k, l) = if g.is_zero() || g.is_one() {
            (k.clone(), l.clone())
        } else {
            (k.div_exact(&g), l.div_exact(&g))
        };
        if let (Small(a), Small(b), Some(k), Some(l)) = (self, other, k.to_i64(), l.to_i64()) {
            const FACTOR: u64 = 1 << 62;
            if k.unsigned_abs() < FACTOR && l.unsigned_abs() < FACTOR {
                let (k, l) = (i128::from(k), i128::from(l));
                // Each product is below 2^125, so the sums fit.
                return from_wide(
                    a.iter().zip(b).map(|(x, y)| k * i128::from(*x) + l * i128::from(*y)).collect(),
                );
            }
        }
        let mix = |i: usize| {
            let mut v = &k * self.get(i);
            v.add_mul(&l, &other.get(i));
            v
        };
        Row::new((0..self.len()).map(mix).collect())
    }

    /// The components at the given places, in that order.
    pub fn select(&self, places: &[usize]) -> Row {
        match self {
            Small(v) => from_wide(places.iter().map(|i| i128::from(v[*i])).collect()),
            Big(v) => Row::new(places.iter().map(|i| v[*i].clone()).collect()),
        }
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Small(v) => v.fmt(f),
            Big(v) => v.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Rng;

    #[test]
    fn small_and_big_arithmetic_agree() {
        let mut rng = Rng::new(11);
        for _ in 0..2000 {
            let mut component = || match rng.below(4) {
                0 => Int::from(rng.next_u64() as i64),
                1 => Int::from(i64::MIN) + Int::from(rng.range(0, 2)),
                2 => Int::from(rng.next_u64()) * Int::from(rng.next_u64()),
                _ => Int::from(rng.range(-5, 5)),
            };
            let small_only = component().is_even();
            let mut row = || -> Vec<Int> {
                (0..3).map(|_| if small_only { component().wrap(60, true) } else { component() }).collect()
            };
            let (a, b) = (row(), row());
            let (k, l) = (component(), component());
            let dot = a.iter().zip(&b).fold(Int::ZERO, |s, (x, y)| s + x * y);
            let (ra, rb) = (Row::new(a.clone()), Row::new(b.clone()));
            let content = |v: &[Int]| v.iter().fold(Int::ZERO, |g, x| g.gcd(x)).max(Int::ONE);
            assert_eq!(ra.dot(&rb) * content(&a) * content(&b), dot);
            let plain: Vec<Int> = ra.to_vec().iter().zip(rb.to_vec()).map(|(x, y)| &k * x + &l * y).collect();
            assert_eq!(ra.combine(&k, &rb, &l), Row::new(plain));
            assert_eq!(ra.negated().to_vec(), ra.to_vec().iter().map(|x| -x).collect::<Vec<_>>());
        }
    }
}
