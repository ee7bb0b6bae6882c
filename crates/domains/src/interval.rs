//! Intervals of rationals with open, closed or missing ends: the bounds of an expression.

use crate::dim::Dim;
use crate::linear::{LinCons, LinExpr, Rel};
use palisade_num::{Int, Rat};
use std::cmp::Ordering;
use std::fmt;

/// A finite end of an interval.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// Where the interval ends.
    pub value: Rat,
    /// Is the value itself excluded?
    pub strict: bool,
}

impl End {
    /// An end that belongs to the interval.
    pub fn closed(value: impl Into<Rat>) -> End {
        End { value: value.into(), strict: false }
    }

    /// An end that does not belong to the interval.
    pub fn open(value: impl Into<Rat>) -> End {
        End { value: value.into(), strict: true }
    }

    fn add(&self, other: &End) -> End {
        End { value: &self.value + &other.value, strict: self.strict || other.strict }
    }
}

/// A set of consecutive rationals. A missing end is infinite. Empty intervals are allowed
/// ([`Interval::is_empty`]); [`Interval::EMPTY`] is the form operations return.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Interval {
    /// The lower end.
    pub lo: Option<End>,
    /// The upper end.
    pub hi: Option<End>,
}

/// Compares lower ends: `Less` means that the first interval starts earlier.
fn cmp_lo(a: &Option<End>, b: &Option<End>) -> Ordering {
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Less,
        (_, None) => Ordering::Greater,
        (Some(a), Some(b)) => a.value.cmp(&b.value).then(a.strict.cmp(&b.strict)),
    }
}

/// Compares upper ends: `Less` means that the first interval stops earlier.
fn cmp_hi(a: &Option<End>, b: &Option<End>) -> Ordering {
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Greater,
        (_, None) => Ordering::Less,
        (Some(a), Some(b)) => a.value.cmp(&b.value).then(b.strict.cmp(&a.strict)),
    }
}

impl Interval {
    /// All rationals.
    pub const TOP: Interval = Interval { lo: None, hi: None };
    /// No rational.
    pub const EMPTY: Interval = Interval {
        lo: Some(End { value: Rat::ONE, strict: false }),
        hi: Some(End { value: Rat::ZERO, strict: false }),
    };

    /// `[lo, hi]`.
    pub fn closed(lo: impl Into<Rat>, hi: impl Into<Rat>) -> Interval {
        Interval { lo: Some(End::closed(lo)), hi: Some(End::closed(hi)) }
    }

    /// `[v, v]`.
    pub fn point(v: impl Into<Rat>) -> Interval {
        let v = v.into();
        Interval::closed(v.clone(), v)
    }

    /// `[v, ∞)`.
    pub fn at_least(v: impl Into<Rat>) -> Interval {
        Interval { lo: Some(End::closed(v)), hi: None }
    }

    /// `(-∞, v]`.
    pub fn at_most(v: impl Into<Rat>) -> Interval {
        Interval { lo: None, hi: Some(End::closed(v)) }
    }

    /// Does it contain nothing?
    pub fn is_empty(&self) -> bool {
        match (&self.lo, &self.hi) {
            (Some(l), Some(h)) => match l.value.cmp(&h.value) {
                Ordering::Less => false,
                Ordering::Equal => l.strict || h.strict,
                Ordering::Greater => true,
            },
            _ => false,
        }
    }

    /// Does it contain everything?
    pub fn is_top(&self) -> bool {
        self.lo.is_none() && self.hi.is_none()
    }

    /// The only value, when there is just one.
    pub fn as_point(&self) -> Option<&Rat> {
        match (&self.lo, &self.hi) {
            (Some(l), Some(h)) if l == h && !l.strict => Some(&l.value),
            _ => None,
        }
    }

    /// The least value when it is an end that belongs to the interval and an integer.
    pub fn min_int(&self) -> Option<&Int> {
        self.lo.as_ref().filter(|e| !e.strict).and_then(|e| e.value.to_int())
    }

    /// The greatest value when it is an end that belongs to the interval and an integer.
    pub fn max_int(&self) -> Option<&Int> {
        self.hi.as_ref().filter(|e| !e.strict).and_then(|e| e.value.to_int())
    }

    /// Does it contain `v`?
    pub fn contains(&self, v: &Rat) -> bool {
        self.lo.as_ref().is_none_or(|l| if l.strict { l.value < *v } else { l.value <= *v })
            && self.hi.as_ref().is_none_or(|h| if h.strict { h.value > *v } else { h.value >= *v })
    }

    /// Inclusion.
    pub fn leq(&self, other: &Interval) -> bool {
        self.is_empty() || (cmp_lo(&other.lo, &self.lo).is_le() && cmp_hi(&self.hi, &other.hi).is_le())
    }

    /// The smallest interval around both.
    pub fn join(&self, other: &Interval) -> Interval {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        let lo = if cmp_lo(&self.lo, &other.lo).is_le() { &self.lo } else { &other.lo };
        let hi = if cmp_hi(&self.hi, &other.hi).is_ge() { &self.hi } else { &other.hi };
        Interval { lo: lo.clone(), hi: hi.clone() }
    }

    /// The intersection.
    pub fn meet(&self, other: &Interval) -> Interval {
        let lo = if cmp_lo(&self.lo, &other.lo).is_ge() { &self.lo } else { &other.lo };
        let hi = if cmp_hi(&self.hi, &other.hi).is_le() { &self.hi } else { &other.hi };
        Interval { lo: lo.clone(), hi: hi.clone() }.or_empty()
    }

    fn or_empty(self) -> Interval {
        if self.is_empty() { Interval::EMPTY } else { self }
    }

    /// The classical widening: an end that moved goes to the next threshold that covers it, or
    /// to infinity. `thresholds` is sorted.
    pub fn widen(&self, next: &Interval, thresholds: &[Rat]) -> Interval {
        if self.is_empty() {
            return next.clone();
        }
        if next.is_empty() {
            return self.clone();
        }
        let lo = if cmp_lo(&self.lo, &next.lo).is_le() {
            self.lo.clone()
        } else {
            // Only a finite end compares above another one.
            next.lo.as_ref().and_then(|e| {
                let i = thresholds.partition_point(|t| *t <= e.value);
                (i > 0).then(|| End::closed(thresholds[i - 1].clone()))
            })
        };
        let hi = if cmp_hi(&self.hi, &next.hi).is_ge() {
            self.hi.clone()
        } else {
            next.hi.as_ref().and_then(|e| {
                let i = thresholds.partition_point(|t| *t < e.value);
                thresholds.get(i).map(|t| End::closed(t.clone()))
            })
        };
        Interval { lo, hi }
    }

    /// The classical narrowing: only infinite ends are refined.
    pub fn narrow(&self, next: &Interval) -> Interval {
        if next.is_empty() {
            return Interval::EMPTY;
        }
        Interval {
            lo: if self.lo.is_none() { next.lo.clone() } else { self.lo.clone() },
            hi: if self.hi.is_none() { next.hi.clone() } else { self.hi.clone() },
        }
    }

    /// The smallest interval around the integers inside.
    pub fn tighten_int(&self) -> Interval {
        let lo = self.lo.as_ref().map(|e| {
            let c = e.value.ceil();
            End::closed(if e.strict && e.value.is_int() { c + Int::ONE } else { c })
        });
        let hi = self.hi.as_ref().map(|e| {
            let f = e.value.floor();
            End::closed(if e.strict && e.value.is_int() { f - Int::ONE } else { f })
        });
        Interval { lo, hi }.or_empty()
    }

    /// [`Interval::tighten_int`] for an integer dimension, unchanged for a rational one.
    pub fn tighten_for(&self, d: Dim) -> Interval {
        if d.is_int() { self.tighten_int() } else { self.clone().or_empty() }
    }

    /// `{-x}`.
    pub fn neg(&self) -> Interval {
        let flip = |e: &Option<End>| e.as_ref().map(|e| End { value: -&e.value, strict: e.strict });
        Interval { lo: flip(&self.hi), hi: flip(&self.lo) }
    }

    /// `{x + y}`.
    pub fn add(&self, other: &Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        let plus = |a: &Option<End>, b: &Option<End>| Some(a.as_ref()?.add(b.as_ref()?));
        Interval { lo: plus(&self.lo, &other.lo), hi: plus(&self.hi, &other.hi) }
    }

    /// `{x - y}`.
    pub fn sub(&self, other: &Interval) -> Interval {
        self.add(&other.neg())
    }

    /// `{k·x}`.
    pub fn scale(&self, k: &Rat) -> Interval {
        if self.is_empty() {
            return Interval::EMPTY;
        }
        if k.is_zero() {
            return Interval::point(Rat::ZERO);
        }
        let times = |e: &Option<End>| e.as_ref().map(|e| End { value: &e.value * k, strict: e.strict });
        if k.is_negative() {
            Interval { lo: times(&self.hi), hi: times(&self.lo) }
        } else {
            Interval { lo: times(&self.lo), hi: times(&self.hi) }
        }
    }

    /// The smallest closed interval around `{x·y}` (open ends become closed ones, which only
    /// matters to rationals).
    pub fn mul(&self, other: &Interval) -> Interval {
        if self.is_empty() || other.is_empty() {
            return Interval::EMPTY;
        }
        if let Some(k) = self.as_point() {
            return other.scale(k);
        }
        if let Some(k) = other.as_point() {
            return self.scale(k);
        }
        let ext = |e: &Option<End>, infinity| e.as_ref().map_or(infinity, |e| Ext::Fin(e.value.clone()));
        let (a, b) = (ext(&self.lo, Ext::NegInf), ext(&self.hi, Ext::PosInf));
        let (c, d) = (ext(&other.lo, Ext::NegInf), ext(&other.hi, Ext::PosInf));
        let mut corners = [a.mul(&c), a.mul(&d), b.mul(&c), b.mul(&d)];
        corners.sort();
        let [least, _, _, greatest] = corners;
        Interval { lo: least.finite(), hi: greatest.finite() }
    }

    /// The least and greatest integer inside, when there are such.
    pub fn int_ends(&self) -> Option<(Int, Int)> {
        let t = self.tighten_int();
        Some((t.min_int()?.clone(), t.max_int()?.clone()))
    }

    /// Constraints that say `e` lies inside.
    pub fn constraints_on(&self, e: &LinExpr) -> Vec<LinCons> {
        if self.is_empty() {
            return vec![LinCons::contradiction()];
        }
        if let Some(v) = self.as_point() {
            return vec![LinCons { expr: e.add_constant(&-v), rel: Rel::Eq }];
        }
        let rel = |strict| if strict { Rel::Lt } else { Rel::Le };
        let lo = self.lo.as_ref();
        let hi = self.hi.as_ref();
        lo.map(|l| LinCons { expr: (-e).add_constant(&l.value), rel: rel(l.strict) })
            .into_iter()
            .chain(hi.map(|h| LinCons { expr: e.add_constant(&-&h.value), rel: rel(h.strict) }))
            .collect()
    }
}

/// A rational or an infinity, in numeric order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Ext {
    NegInf,
    Fin(Rat),
    PosInf,
}

impl Ext {
    fn signum(&self) -> i32 {
        match self {
            Ext::NegInf => -1,
            Ext::Fin(v) => v.signum(),
            Ext::PosInf => 1,
        }
    }

    /// The product, where zero times an infinity is zero as a limit of corners.
    fn mul(&self, other: &Ext) -> Ext {
        match (self, other) {
            (Ext::Fin(a), Ext::Fin(b)) => Ext::Fin(a * b),
            _ => match self.signum() * other.signum() {
                0 => Ext::Fin(Rat::ZERO),
                1 => Ext::PosInf,
                _ => Ext::NegInf,
            },
        }
    }

    fn finite(self) -> Option<End> {
        match self {
            Ext::Fin(v) => Some(End::closed(v)),
            _ => None,
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("empty");
        }
        match &self.lo {
            Some(e) => write!(f, "{}{}, ", if e.strict { '(' } else { '[' }, e.value)?,
            None => f.write_str("(-inf, ")?,
        }
        match &self.hi {
            Some(e) => write!(f, "{}{}", e.value, if e.strict { ')' } else { ']' }),
            None => f.write_str("inf)"),
        }
    }
}
