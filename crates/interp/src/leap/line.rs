//! Numbers that change by the same amount from pass to pass.

use crate::code::{Cell, Slot};

/// What a register holds at pass `n`: `start + step · n`, and always the same upper half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    pub start: u64,
    pub step: i64,
    pub hi: u64,
}

impl Line {
    pub fn constant(lo: u64) -> Line {
        Line { start: lo, step: 0, hi: 0 }
    }

    pub fn at(self, n: u64) -> Slot {
        Slot { lo: self.start.wrapping_add((self.step as u64).wrapping_mul(n)), hi: self.hi }
    }

    pub fn signed(self) -> Exact {
        Exact { start: (self.start as i64).into(), step: self.step.into() }
    }

    pub fn unsigned(self) -> Exact {
        Exact { start: self.start.into(), step: self.step.into() }
    }

    /// Its value, if it is always the same.
    pub fn fixed(self) -> Option<Slot> {
        (self.step == 0).then_some(Slot { lo: self.start, hi: self.hi })
    }
}

/// A line of mathematical integers.
#[derive(Clone, Copy)]
pub struct Exact {
    pub start: i128,
    pub step: i128,
}

impl Exact {
    /// How many values from the first on lie between these numbers.
    pub fn within(self, low: i128, high: i128) -> u64 {
        if self.start < low || self.start > high {
            return 0;
        }
        let more = match self.step {
            0 => return u64::MAX,
            1.. => (high - self.start) / self.step,
            _ => (self.start - low) / -self.step,
        };
        u64::try_from(more).unwrap_or(u64::MAX).saturating_add(1)
    }

    pub fn minus(self, other: Exact) -> Exact {
        Exact { start: self.start - other.start, step: self.step - other.step }
    }
}

/// The least and the greatest number of so many bits.
pub fn bounds(bits: u32, signed: bool) -> (i128, i128) {
    match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    }
}

/// In how many passes a value is within its type.
pub fn range(line: Line, bits: u32, signed: bool) -> u64 {
    let (low, high) = bounds(bits, signed);
    if signed { line.signed() } else { line.unsigned() }.within(low, high)
}

/// In how many passes what a place holds is what a load of it gives.
pub fn fits(cell: Cell, line: Line) -> Option<u64> {
    Some(match cell {
        Cell::I8 => range(line, 8, true),
        Cell::U8 => range(line, 8, false),
        Cell::Flag => range(line, 1, false),
        Cell::I16 => range(line, 16, true),
        Cell::U16 => range(line, 16, false),
        Cell::I32 => range(line, 32, true),
        Cell::U32 => range(line, 32, false),
        Cell::B64 | Cell::Ptr => u64::MAX,
        Cell::B80 | Cell::B128 if line.step == 0 => u64::MAX,
        Cell::B80 | Cell::B128 => return None,
    })
}
