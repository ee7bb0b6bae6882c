//! Machine integer types, as far as a numeric domain has to know them.

use crate::interval::Interval;
use palisade_num::Int;
use std::fmt;

/// A machine integer type: a width in bits and a signedness (two's complement).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MachineInt {
    /// The number of bits.
    pub width: u32,
    /// Does it have negative values?
    pub signed: bool,
}

impl MachineInt {
    /// A type of `width` bits with negative values.
    pub fn signed(width: u32) -> MachineInt {
        MachineInt { width, signed: true }
    }

    /// A type of `width` bits without negative values.
    pub fn unsigned(width: u32) -> MachineInt {
        MachineInt { width, signed: false }
    }

    /// The least value.
    pub fn min(self) -> Int {
        if self.signed && self.width > 0 { -Int::pow2(self.width - 1) } else { Int::ZERO }
    }

    /// The greatest value.
    pub fn max(self) -> Int {
        self.min() + Int::pow2(self.width) - Int::ONE
    }

    /// All values.
    pub fn range(self) -> Interval {
        Interval::closed(self.min(), self.max())
    }

    /// The value that the type gives to a mathematical integer.
    pub fn wrap(self, v: &Int) -> Int {
        v.wrap(self.width, self.signed)
    }

    /// How many periods of `2^width` lie between `v` and the values of the type: `v` wraps to
    /// `v - period(v)·2^width`.
    pub fn period(self, v: &Int) -> Int {
        (v - self.min()).div_floor(&Int::pow2(self.width))
    }

    /// What an interval of integers becomes: shifted when it lies in one period, else the range
    /// of the type.
    pub fn wrap_interval(self, i: &Interval) -> Interval {
        let i = i.tighten_int();
        if i.is_empty() {
            return i;
        }
        if let (Some(lo), Some(hi)) = (i.min_int(), i.max_int()) {
            let k = self.period(lo);
            if k == self.period(hi) {
                let shift = k.shl(self.width);
                return Interval::closed(lo - &shift, hi - &shift);
            }
        }
        self.range()
    }
}

impl fmt::Display for MachineInt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.signed { 'i' } else { 'u' }, self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_num::Rat;

    #[test]
    fn interval_wrap_covers_every_value() {
        for ty in [MachineInt::signed(3), MachineInt::unsigned(3)] {
            for lo in -20..20i64 {
                for hi in lo..20 {
                    let w = ty.wrap_interval(&Interval::closed(lo, hi));
                    for v in lo..=hi {
                        assert!(w.contains(&Rat::from(ty.wrap(&Int::from(v)))), "{ty} [{lo},{hi}] {v}");
                    }
                    let same = ty.period(&Int::from(lo)) == ty.period(&Int::from(hi));
                    assert_eq!(w == ty.range(), !same || hi - lo == 7, "{ty} [{lo},{hi}]");
                }
            }
        }
    }
}
