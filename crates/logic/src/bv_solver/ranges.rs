//! Ranges of unsigned values: what a term's structure and the asserted bounds say about it.

use rustc_hash::FxHashMap;

use crate::term::{Op, Sort, Term, Terms};

/// Ranges are kept for words of at most this width.
const WIDTH: u32 = 64;

/// How deep a range looks into a term.
const DEPTH: u32 = 6;

/// All values from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub(super) low: u64,
    pub(super) high: u64,
}

fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

impl Range {
    fn full(width: u32) -> Range {
        Range { low: 0, high: ones(width) }
    }

    fn exactly(v: u64) -> Range {
        Range { low: v, high: v }
    }

    /// The range of results from extreme values, unless they do not fit.
    fn of(low: u128, high: u128, width: u32) -> Range {
        match (u64::try_from(low), u64::try_from(high)) {
            (Ok(low), Ok(high)) if high <= ones(width) => Range { low, high },
            _ => Range::full(width),
        }
    }

    /// The values in both ranges; `None` if there are none.
    fn meet(self, other: Range) -> Option<Range> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Range { low, high })
    }

    fn join(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// As a signed range, if it does not cross from the greatest to the smallest number.
    fn signed(self, width: u32) -> Option<(i64, i64)> {
        let extend = |v: u64| ((v << (64 - width)) as i64) >> (64 - width);
        let (low, high) = (extend(self.low), extend(self.high));
        (low <= high).then_some((low, high))
    }
}

/// Whether all values of one range, given by its bounds, are less than all of the other, or none.
fn less<N: Ord>((a_low, a_high): (N, N), (b_low, b_high): (N, N)) -> Option<bool> {
    if a_high < b_low { Some(true) } else { (a_low >= b_high).then_some(false) }
}

/// Bounds of terms by asserted comparisons, to be undone level by level.
#[derive(Default)]
pub(super) struct Ranges {
    known: FxHashMap<Term, Range>,
    /// Changed terms with what was known before.
    trail: Vec<(Term, Option<Range>)>,
}

impl Ranges {
    /// How many changes there were, for [`Ranges::undo`].
    pub(super) fn changes(&self) -> usize {
        self.trail.len()
    }

    /// Undoes all but the first changes.
    pub(super) fn undo(&mut self, changes: usize) {
        while self.trail.len() > changes {
            match self.trail.pop().expect("there are changes left") {
                (t, Some(range)) => self.known.insert(t, range),
                (t, None) => self.known.remove(&t),
            };
        }
    }

    /// A range that has all values of a bit-vector term of at most 64 bits.
    pub(super) fn range(&self, terms: &Terms, t: Term) -> Option<Range> {
        let width = terms.sort(t).width().filter(|w| *w <= WIDTH)?;
        Some(self.look(terms, t, width, DEPTH))
    }

    fn look(&self, terms: &Terms, t: Term, width: u32, depth: u32) -> Range {
        let known = self.known.get(&t).copied();
        if depth == 0 {
            return known.unwrap_or(Range::full(width));
        }
        let structural = self.structural(terms, t, width, depth - 1);
        // Without a common value the assertions are inconsistent, and any answer is right.
        known.map_or(structural, |k| k.meet(structural).unwrap_or(k))
    }

    fn structural(&self, terms: &Terms, t: Term, width: u32, depth: u32) -> Range {
        let full = Range::full(width);
        let arg = |i: usize| {
            let a = terms.arg(t, i);
            let w = terms.width(a);
            if w > WIDTH { None } else { Some((self.look(terms, a, w, depth), w)) }
        };
        let both = || Some((arg(0)?.0, arg(1)?.0));
        let (wide, wide_low) = (|r: Range| u128::from(r.high), |r: Range| u128::from(r.low));
        let range = match terms.op(t) {
            Op::Const => terms.value_of(t).and_then(|v| v.to_u64()).map(Range::exactly),
            Op::Not => arg(0).map(|(r, _)| Range { low: full.high - r.high, high: full.high - r.low }),
            Op::And => both().map(|(a, b)| Range { low: 0, high: a.high.min(b.high) }),
            Op::Add => both().map(|(a, b)| {
                let (low, high) = (wide_low(a) + wide_low(b), wide(a) + wide(b));
                let modulus = 1 << width;
                // Either no sum wraps around, or all do.
                if low >= modulus {
                    Range::of(low - modulus, high - modulus, width)
                } else {
                    Range::of(low, high, width)
                }
            }),
            Op::Mul => both().map(|(a, b)| Range::of(wide_low(a) * wide_low(b), wide(a) * wide(b), width)),
            Op::Udiv => both()
                .filter(|(_, b)| b.low > 0)
                .map(|(a, b)| Range { low: a.low / b.high, high: a.high / b.low }),
            Op::Urem => both().map(|(a, b)| match b.low {
                0 => Range { low: 0, high: a.high },
                _ => Range { low: if a.high < b.low { a.low } else { 0 }, high: a.high.min(b.high - 1) },
            }),
            Op::Lshr => both().map(|(a, b)| Range {
                low: a.low.checked_shr(u32::try_from(b.high).unwrap_or(64)).unwrap_or(0),
                high: a.high.checked_shr(u32::try_from(b.low).unwrap_or(64)).unwrap_or(0),
            }),
            Op::Concat => arg(0)
                .zip(arg(1))
                .map(|((h, _), (l, w))| Range { low: h.low << w | l.low, high: h.high << w | l.high }),
            Op::Extract => arg(0).and_then(|(r, _)| {
                let (high, low) = terms.extract_bounds(t)?;
                // The bits above the part are the same in the whole range.
                (high == 63 || r.low >> (high + 1) == r.high >> (high + 1))
                    .then(|| Range { low: r.low >> low & full.high, high: r.high >> low & full.high })
            }),
            Op::SignExtend => arg(0).map(|(r, w)| {
                let sign = 1 << (w - 1);
                let copies = full.high & !ones(w);
                if r.high < sign {
                    r
                } else if r.low >= sign {
                    Range { low: r.low | copies, high: r.high | copies }
                } else {
                    full
                }
            }),
            Op::Ite => {
                let branch = |i: usize| self.look(terms, terms.arg(t, i), width, depth);
                Some(branch(1).join(branch(2)))
            }
            _ => None,
        };
        range.unwrap_or(full)
    }

    /// Whether the sum or product `t` wraps around: `Some(true)` for an unsigned sum if it always does.
    pub(super) fn wraps(&self, terms: &Terms, t: Term, signed: bool) -> Option<bool> {
        let width = terms.width(t);
        let (a, b) = (self.range(terms, terms.arg(t, 0))?, self.range(terms, terms.arg(t, 1))?);
        let is_sum = terms.op(t) == Op::Add;
        if signed {
            let wide = |(low, high): (i64, i64)| (i128::from(low), i128::from(high));
            let ((a, b), (c, d)) = (wide(a.signed(width)?), wide(b.signed(width)?));
            let sums = [a + c, b + d, a + c, b + d];
            let results = if is_sum { sums } else { [a * c, a * d, b * c, b * d] };
            let limit = 1_i128 << (width - 1);
            return results.iter().all(|r| (-limit..limit).contains(r)).then_some(false);
        }
        let wide = |r: Range| (u128::from(r.low), u128::from(r.high));
        let ((a, b), (c, d)) = (wide(a), wide(b));
        let high = if is_sum { b + d } else { b * d };
        match () {
            () if high <= u128::from(ones(width)) => Some(false),
            () if is_sum && a + c > u128::from(ones(width)) => Some(true),
            () => None,
        }
    }

    /// The truth of a comparison whose operands have ranges that decide it.
    pub(super) fn decide(&self, terms: &Terms, t: Term) -> Option<bool> {
        if !matches!(terms.op(t), Op::Eq | Op::Ult | Op::Slt | Op::Umulo) {
            return None;
        }
        let width = terms.sort(terms.arg(t, 0)).width()?;
        let (a, b) = (self.range(terms, terms.arg(t, 0))?, self.range(terms, terms.arg(t, 1))?);
        match terms.op(t) {
            Op::Eq if a.meet(b).is_none() => Some(false),
            Op::Eq if a.low == a.high && a == b => Some(true),
            Op::Ult => less((a.low, a.high), (b.low, b.high)),
            Op::Slt => less(a.signed(width)?, b.signed(width)?),
            Op::Umulo => {
                let limit = u128::from(ones(width));
                if u128::from(a.high) * u128::from(b.high) <= limit {
                    Some(false)
                } else {
                    (u128::from(a.low) * u128::from(b.low) > limit).then_some(true)
                }
            }
            _ => None,
        }
    }

    /// Takes over what the truth of a comparison says. Returns the terms whose range changed.
    pub(super) fn learn(&mut self, terms: &Terms, t: Term, truth: bool) -> Vec<Term> {
        let mut changed = Vec::new();
        let (a, b) = match terms.op(t) {
            Op::Eq | Op::Ult | Op::Slt => (terms.arg(t, 0), terms.arg(t, 1)),
            _ => return changed,
        };
        let Sort::BitVec(width) = terms.sort(a) else { return changed };
        let (Some(x), Some(y)) = (self.range(terms, a), self.range(terms, b)) else { return changed };
        let mut narrow = |this: &mut Self, t: Term, low: u64, high: u64| {
            if !terms.is_const(t) && this.narrow(terms, t, low, high) {
                changed.push(t);
            }
        };
        // A signed comparison of numbers of one sign is an unsigned one.
        let sign = 1 << (width - 1);
        let one_sign = x.high.max(y.high) < sign || x.low.min(y.low) >= sign;
        let ordered = terms.op(t) == Op::Ult || terms.op(t) == Op::Slt && one_sign;
        match (terms.op(t), truth) {
            (Op::Eq, true) => {
                self.learn_part(terms, a, y, &mut narrow);
                narrow(self, a, y.low, y.high);
                narrow(self, b, x.low, x.high);
            }
            (Op::Eq, false) if width == 1 && y.low == y.high => {
                self.learn_part(terms, a, Range::exactly(1 - y.low), &mut narrow);
            }
            (_, true) if ordered => {
                narrow(self, a, 0, y.high.saturating_sub(1));
                narrow(self, b, x.low.saturating_add(1), ones(width));
            }
            (_, false) if ordered => {
                narrow(self, a, y.low, ones(width));
                narrow(self, b, 0, x.high);
            }
            // Not less than a number that is not negative.
            (Op::Slt, false) if y.high < sign => narrow(self, a, y.low, sign - 1),
            (Op::Slt, true) if x.high < sign => narrow(self, b, x.low + 1, sign - 1),
            _ => {}
        }
        changed
    }

    /// The highest bits of a word bound it.
    fn learn_part(
        &mut self,
        terms: &Terms,
        part: Term,
        range: Range,
        narrow: &mut impl FnMut(&mut Self, Term, u64, u64),
    ) {
        let Some((high, low)) = terms.extract_bounds(part) else { return };
        let whole = terms.arg(part, 0);
        if high + 1 == terms.width(whole) && high < WIDTH {
            narrow(self, whole, range.low << low, range.high << low | ((1 << low) - 1));
        }
    }

    fn narrow(&mut self, terms: &Terms, t: Term, low: u64, high: u64) -> bool {
        let Some(old) = self.range(terms, t) else { return false };
        // Without a common value the assertions are inconsistent; the search will find out.
        match old.meet(Range { low, high }) {
            Some(new) if new != old => {
                let before = self.known.insert(t, new);
                self.trail.push((t, before));
                true
            }
            _ => false,
        }
    }
}
