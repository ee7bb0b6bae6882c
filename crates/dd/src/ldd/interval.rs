//! Upper-bound constraints on one variable and the intervals between two of them.

use std::fmt;

use palisade_num::{Int, Rat};

/// Whether a variable ranges over the integers or the rationals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Bounds are tightened to integers: `x < k` becomes `x <= ⌈k⌉ - 1`.
    Int,
    /// Bounds may be strict and fractional.
    Real,
}

/// A place where the number line is cut in two: `x <= k` when `closed`, else `x < k`.
///
/// The derived order is implication: the smaller cut implies the larger.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cut {
    /// The bound.
    pub k: Rat,
    /// Whether the bound itself lies below the cut.
    pub closed: bool,
}

impl Cut {
    /// `x <= k`.
    pub fn le(k: impl Into<Rat>) -> Cut {
        Cut { k: k.into(), closed: true }
    }

    /// `x < k`.
    pub fn lt(k: impl Into<Rat>) -> Cut {
        Cut { k: k.into(), closed: false }
    }

    /// The equivalent constraint on a variable of this kind that diagrams use.
    pub fn normalised(self, kind: Kind) -> Cut {
        if kind == Kind::Real || (self.closed && self.k.is_int()) {
            return self;
        }
        let k = if self.closed { self.k.floor() } else { self.k.ceil() - Int::from(1) };
        Cut::le(k)
    }

    /// Whether `v` lies below the cut.
    pub fn admits(&self, v: &Rat) -> bool {
        if self.closed { v <= &self.k } else { v < &self.k }
    }

    fn add(&self, other: &Cut, closed: bool) -> Cut {
        Cut { k: &self.k + &other.k, closed }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.closed { "<=" } else { "<" }, self.k)
    }
}

/// The numbers above the cut `lo` and below the cut `hi`: `¬(x ≲ lo) ∧ x ≲ hi`. A missing cut is at
/// infinity.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Interval {
    /// What lies below this cut is outside.
    pub lo: Option<Cut>,
    /// What lies above this cut is outside.
    pub hi: Option<Cut>,
}

impl Interval {
    /// All numbers.
    pub const TOP: Interval = Interval { lo: None, hi: None };

    /// `{k}`.
    pub fn point(k: impl Into<Rat>) -> Interval {
        let k = k.into();
        Interval { lo: Some(Cut::lt(k.clone())), hi: Some(Cut::le(k)) }
    }

    /// `[a, b]`; empty when `b < a`.
    pub fn closed(a: impl Into<Rat>, b: impl Into<Rat>) -> Interval {
        Interval { lo: Some(Cut::lt(a)), hi: Some(Cut::le(b)) }
    }

    /// `x <= k` or `x < k`.
    pub fn below(cut: Cut) -> Interval {
        Interval { lo: None, hi: Some(cut) }
    }

    /// `x > k` or `x >= k`: the complement of `below`.
    pub fn above(cut: Cut) -> Interval {
        Interval { lo: Some(cut), hi: None }
    }

    /// `x >= k`.
    pub fn at_least(k: impl Into<Rat>) -> Interval {
        Interval::above(Cut::lt(k))
    }

    /// `x <= k`.
    pub fn at_most(k: impl Into<Rat>) -> Interval {
        Interval::below(Cut::le(k))
    }

    /// Whether no rational is inside. (An interval over integers must be tightened first.)
    pub fn is_empty(&self) -> bool {
        matches!((&self.lo, &self.hi), (Some(lo), Some(hi)) if lo >= hi)
    }

    /// Whether `v` is inside.
    pub fn contains(&self, v: &Rat) -> bool {
        !self.lo.as_ref().is_some_and(|c| c.admits(v)) && self.hi.as_ref().is_none_or(|c| c.admits(v))
    }

    /// The only element, if there is exactly one.
    pub fn as_point(&self) -> Option<&Rat> {
        match (&self.lo, &self.hi) {
            (Some(lo), Some(hi)) if lo.k == hi.k && !lo.closed && hi.closed => Some(&hi.k),
            _ => None,
        }
    }

    /// The same integers with both bounds attained (for `Int`), so that arithmetic on the bounds loses
    /// nothing; the same set for `Real`.
    pub fn tightened(self, kind: Kind) -> Interval {
        if kind == Kind::Real {
            return self;
        }
        let lo = self.lo.map(|c| Cut::lt(c.normalised(kind).k + Rat::from(Int::from(1))));
        Interval { lo, hi: self.hi.map(|c| c.normalised(kind)) }
    }

    /// `{x + y}` of two non-empty intervals.
    pub fn add(&self, other: &Interval) -> Interval {
        // A lower cut is closed when its bound is not attained.
        let lo = match (&self.lo, &other.lo) {
            (Some(a), Some(b)) => Some(a.add(b, a.closed || b.closed)),
            _ => None,
        };
        let hi = match (&self.hi, &other.hi) {
            (Some(a), Some(b)) => Some(a.add(b, a.closed && b.closed)),
            _ => None,
        };
        Interval { lo, hi }
    }

    /// `{a·x}`.
    pub fn scale(&self, a: &Rat) -> Interval {
        if a.is_zero() {
            return Interval::point(Rat::from(Int::from(0)));
        }
        let flip = a.is_negative();
        let cut = |c: &Cut| Cut { k: &c.k * a, closed: c.closed != flip };
        let (lo, hi) = if flip { (&self.hi, &self.lo) } else { (&self.lo, &self.hi) };
        Interval { lo: lo.as_ref().map(cut), hi: hi.as_ref().map(cut) }
    }

    /// Intersection.
    pub fn meet(&self, other: &Interval) -> Interval {
        let hi = match (&self.hi, &other.hi) {
            (Some(a), Some(b)) => Some(a.min(b).clone()),
            (a, b) => a.as_ref().or(b.as_ref()).cloned(),
        };
        Interval { lo: self.lo.as_ref().max(other.lo.as_ref()).cloned(), hi }
    }

    /// The least interval around both.
    pub fn hull(&self, other: &Interval) -> Interval {
        let hi = match (&self.hi, &other.hi) {
            (Some(a), Some(b)) => Some(a.max(b).clone()),
            _ => None,
        };
        Interval { lo: self.lo.as_ref().min(other.lo.as_ref()).cloned(), hi }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.lo {
            None => f.write_str("(-oo, ")?,
            Some(c) => write!(f, "{}{}, ", if c.closed { '(' } else { '[' }, c.k)?,
        }
        match &self.hi {
            None => f.write_str("+oo)"),
            Some(c) => write!(f, "{}{}", c.k, if c.closed { ']' } else { ')' }),
        }
    }
}
