//! The Box domain: an interval per dimension.

use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::pointwise::{Pointwise, Value};
use palisade_num::{Int, Rat};

/// Boxes: conjunctions of bounds on single dimensions. Join, meet and transformers are the best
/// ones; integer bounds are tight.
pub type Intervals = Pointwise<Interval>;

impl Value for Interval {
    fn top(_: Dim) -> Self {
        Interval::TOP
    }

    fn constant(v: &Rat) -> Self {
        Interval::point(v.clone())
    }

    fn is_empty(&self) -> bool {
        Interval::is_empty(self)
    }

    fn leq(&self, other: &Self) -> bool {
        Interval::leq(self, other)
    }

    fn join(&self, other: &Self) -> Self {
        Interval::join(self, other)
    }

    fn meet(&self, other: &Self) -> Self {
        Interval::meet(self, other)
    }

    fn widen(&self, next: &Self, thresholds: &[Rat]) -> Self {
        Interval::widen(self, next, thresholds)
    }

    fn narrow(&self, next: &Self) -> Self {
        Interval::narrow(self, next)
    }

    fn add(&self, other: &Self) -> Self {
        Interval::add(self, other)
    }

    fn scale(&self, k: &Rat) -> Self {
        Interval::scale(self, k)
    }

    fn refine(&self, d: Dim, k: &Rat, rest: &Self, rel: &Rel) -> Self {
        // k·x = target - r for a target that the relation allows.
        let allowed = match rel {
            Rel::Le => Interval::at_most(0),
            Rel::Lt => Interval { lo: None, hi: Some(End::open(0)) },
            Rel::Eq => Interval::point(Rat::ZERO),
            Rel::Ne => match rest.as_point() {
                Some(r) => return self.without(&-(r / k)),
                None => return self.clone(),
            },
            Rel::Mod(m) => match (rest.as_point().and_then(Rat::to_int), k.to_int()) {
                (Some(r), Some(k)) if d.is_int() => return self.refine_congruence(k, r, m),
                _ => return self.clone(),
            },
        };
        Interval::meet(self, &allowed.sub(rest).scale(&k.recip()))
    }

    fn may_hold(&self, rel: &Rel) -> bool {
        !Interval::is_empty(self)
            && match rel {
                Rel::Le => {
                    self.lo.as_ref().is_none_or(|l| l.value.is_negative() || (l.value.is_zero() && !l.strict))
                }
                Rel::Lt => self.lo.as_ref().is_none_or(|l| l.value.is_negative()),
                Rel::Eq => Interval::contains(self, &Rat::ZERO),
                Rel::Ne => self.as_point().is_none_or(|v| !v.is_zero()),
                Rel::Mod(_) => true,
            }
    }

    fn restrict(&self, d: Dim) -> Self {
        self.tighten_for(d)
    }

    fn wrap(&self, ty: MachineInt) -> Self {
        ty.wrap_interval(self)
    }

    fn to_interval(&self) -> Interval {
        self.clone()
    }

    fn from_interval(i: &Interval) -> Self {
        i.clone()
    }

    fn contains(&self, v: &Rat) -> bool {
        Interval::contains(self, v)
    }

    /// Each finite end can be lost once.
    fn height(&self) -> u64 {
        u64::from(self.lo.is_some()) + u64::from(self.hi.is_some())
    }

    fn constraints(&self, d: Dim) -> Vec<LinCons> {
        self.constraints_on(&LinExpr::dim(d))
    }
}

impl Interval {
    /// The interval without one number, where that can be said: at an end.
    fn without(&self, v: &Rat) -> Interval {
        let mut out = self.clone();
        for end in [&mut out.lo, &mut out.hi].into_iter().flatten() {
            if end.value == *v {
                end.strict = true;
            }
        }
        if Interval::is_empty(&out) { Interval::EMPTY } else { out }
    }

    /// Moves integer ends inwards to numbers with `k·x + r ≡ 0 (mod m)`.
    fn refine_congruence(&self, k: &Int, r: &Int, m: &Int) -> Interval {
        let g = k.gcd(m);
        if !g.divides(r) {
            return Interval::EMPTY;
        }
        let (step, k, r) = (m.div_exact(&g), k.div_exact(&g), r.div_exact(&g));
        // x ≡ -r·k⁻¹ modulo the step.
        let (_, inverse, _) = k.ext_gcd(&step);
        let x0 = (-r * inverse).modulo(&step);
        let tight = self.tighten_int();
        if Interval::is_empty(&tight) {
            return tight;
        }
        let up = |v: &Int| v + (&x0 - v).modulo(&step);
        let down = |v: &Int| v - (v - &x0).modulo(&step);
        let out = Interval {
            lo: tight.min_int().map(|v| End::closed(up(v))),
            hi: tight.max_int().map(|v| End::closed(down(v))),
        };
        if Interval::is_empty(&out) { Interval::EMPTY } else { out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lattice, NumericDomain, Thresholds};

    crate::laws::laws!(Intervals, ());

    #[test]
    fn widening_stops_at_thresholds() {
        let x = Dim::int(0);
        let at = |lo: i64, hi: i64| {
            let mut b = Intervals::top(&());
            b.assign_interval(x, &Interval::closed(lo, hi));
            b
        };
        let th = Thresholds::new([Rat::from(-8), Rat::from(100)], []);
        let mut w = at(0, 0);
        assert!(w.widen_with_thresholds(&at(0, 1), &th));
        assert_eq!(w.bounds_of(x), Interval::closed(0, 100));
        assert!(w.widen_with_thresholds(&at(-1, 101), &th));
        assert_eq!(w.bounds_of(x), Interval::at_least(-8));
        assert!(!w.widen_with_thresholds(&at(-8, 1000), &th));
    }

    #[test]
    fn strict_rational_bounds_stay_strict() {
        let q = Dim::rat(0);
        let mut b = Intervals::top(&());
        b.assume(&LinCons::lt(q, 1));
        b.assume(&LinCons::gt(q, 0));
        assert_eq!(format!("{b:?}"), "r0 > 0 && r0 < 1");
        b.assume(&LinCons::ge(q, 1));
        assert!(b.is_bottom());
    }

    #[test]
    fn equalities_refine_both_sides() {
        let (x, y) = (Dim::int(0), Dim::int(1));
        let mut b = Intervals::top(&());
        b.assign_interval(x, &Interval::closed(0, 10));
        b.assign_interval(y, &Interval::closed(-3, 2));
        b.assume(&LinCons::eq(LinExpr::dim(x), LinExpr::new([(y, Rat::from(2))], 1)));
        assert_eq!((b.bounds_of(x), b.bounds_of(y)), (Interval::closed(1, 5), Interval::closed(0, 2)));
    }
}
