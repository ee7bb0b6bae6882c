//! Polyhedra that need not be closed, kept as constraints.
//!
//! The double description of [`crate::Polyhedra`] pays for every generator. A system in which each
//! constraint mentions few of many dimensions has a short description from outside all the same, and the
//! common operations only concern a small part of it:
//!
//! * emptiness and projection eliminate first the dimensions for which the number of constraints does not
//!   grow, and a known point often makes emptiness a matter of evaluation;
//! * the join sets aside all constraints that both sides have and on which the hull of the rest does not
//!   depend; the rest goes to the double description, with one more dimension for strictness.
//!
//! Both are exact while what reaches the double description fits the limits.

mod local;
mod system;

use crate::blocks::Limits;
use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::numeric::NumericDomain;
use local::{connected, decide};
use rustc_hash::FxHashSet;
use std::fmt;
use std::sync::Arc;
use system::{Point, Projection, Row, holds_at, hull, project, set_aside};

/// Linear inequalities, strict ones too, over many dimensions. Join, meet, linear assignments, tests and
/// projections are exact over the rationals within the limits.
#[derive(Clone)]
pub struct SparsePolyhedra {
    limits: Limits,
    /// `None` is bottom.
    system: Option<Arc<System>>,
}

#[derive(Clone)]
struct System {
    rows: Vec<Row>,
    /// A point inside, if one is known.
    witness: Option<Point>,
}

impl SparsePolyhedra {
    fn rows(&self) -> &[Row] {
        self.system.as_ref().map_or(&[], |s| &s.rows)
    }

    /// Adds a `≤`, `<` or `=` constraint in normal form.
    fn add(&mut self, c: LinCons) {
        let Some(system) = &mut self.system else { return };
        // Lengths that operations in turn only add to are cut here: less is known, and no state is lost.
        if c.expr
            .terms()
            .iter()
            .map(|t| &t.1)
            .chain([c.expr.constant_term()])
            .any(|k| k.numer().bit_len() > self.limits.bits)
        {
            return;
        }
        let parallel = |r: &Row| r.rel != Rel::Eq && c.rel != Rel::Eq && r.expr.terms() == c.expr.terms();
        let place = system.rows.iter().position(|r| **r == c || parallel(r));
        if let Some(old) = place.map(|at| &system.rows[at]) {
            let (a, b) = (old.expr.constant_term(), c.expr.constant_term());
            if **old == c || a > b || (a == b && (old.rel == Rel::Lt || c.rel == Rel::Le)) {
                return;
            }
        }
        let Some(point) = decide(&system.rows, &c, system.witness.as_ref(), &self.limits) else {
            self.system = None;
            return;
        };
        let System { rows, witness } = Arc::make_mut(system);
        match place {
            Some(at) => rows[at] = Arc::new(c),
            None => rows.push(Arc::new(c)),
        }
        *witness = witness.take().zip(point).map(|(mut old, new)| {
            old.extend(new);
            old
        });
    }

    /// Does the constraint hold everywhere?
    fn satisfies(&self, c: &LinCons) -> bool {
        let Some(system) = &self.system else { return true };
        if system.rows.iter().any(|r| **r == *c) {
            return true;
        }
        if system.witness.as_ref().is_some_and(|w| !holds_at(c, w)) {
            return false;
        }
        let outside =
            |n: &LinCons| decide(&system.rows, &n.normalize(), system.witness.as_ref(), &self.limits);
        c.negate().iter().all(|n| outside(n).is_none())
    }

    fn of(limits: Limits, rows: Vec<Row>, witness: Option<Point>) -> SparsePolyhedra {
        SparsePolyhedra { limits, system: Some(Arc::new(System { rows, witness })) }
    }

    /// The hull of two elements of which neither is below the other.
    fn hull(&self, other: &Self) -> Self {
        let own: FxHashSet<&Row> = self.rows().iter().collect();
        let theirs: FxHashSet<&Row> = other.rows().iter().collect();
        let (mut common, mut left, mut right) = (Vec::new(), Vec::new(), Vec::new());
        for r in self.rows() {
            let both = theirs.contains(r) || other.satisfies(r);
            if both { common.push(r.clone()) } else { left.push(r.clone()) }
        }
        for r in other.rows().iter().filter(|r| !own.contains(r)) {
            if self.satisfies(r) { common.push(r.clone()) } else { right.push(r.clone()) }
        }
        let core: FxHashSet<Dim> = left.iter().chain(&right).flat_map(|r| r.expr.dims()).collect();
        let (mut rows, near) = set_aside(&common, &core);
        left.extend(near.iter().cloned());
        right.extend(near.iter().cloned());
        match hull(&left, &right, &self.limits) {
            Some(new) => rows.extend(new),
            // What both have is an upper bound.
            None => rows.extend(near),
        }
        let witness = self.system.as_ref().and_then(|s| s.witness.clone());
        Self::of(self.limits.clone(), rows, witness)
    }

    /// Equations as pairs of inequalities: what widening may keep one half of.
    fn halves(&self) -> Vec<LinCons> {
        let half = |r: &Row| match r.rel {
            Rel::Eq => [r.expr.clone(), -&r.expr].map(|expr| LinCons { expr, rel: Rel::Le }).to_vec(),
            _ => vec![(**r).clone()],
        };
        self.rows().iter().flat_map(half).collect()
    }
}

impl Lattice for SparsePolyhedra {
    fn is_bottom(&self) -> bool {
        self.system.is_none()
    }

    fn leq(&self, other: &Self) -> bool {
        let (Some(a), Some(b)) = (&self.system, &other.system) else { return self.system.is_none() };
        if Arc::ptr_eq(a, b) {
            return true;
        }
        let own: FxHashSet<&Row> = a.rows.iter().collect();
        b.rows.iter().all(|r| own.contains(r) || self.satisfies(r))
    }

    fn join_with(&mut self, other: &Self) -> bool {
        if other.leq(self) {
            return false;
        }
        *self = if self.leq(other) { other.clone() } else { self.hull(other) };
        true
    }

    fn meet_with(&mut self, other: &Self) {
        if other.is_bottom() {
            self.system = None;
            return;
        }
        other.rows().iter().for_each(|r| self.add((**r).clone()));
    }

    /// Keeps what still holds (Cousot and Halbwachs 1978): the number of constraints decreases.
    fn widen_with(&mut self, next: &Self) -> bool {
        if next.leq(self) {
            return false;
        }
        if self.is_bottom() {
            *self = next.clone();
            return true;
        }
        let kept = self.halves().into_iter().filter(|c| next.satisfies(c)).map(Arc::new).collect();
        let witness = self.system.as_ref().and_then(|s| s.witness.clone());
        *self = Self::of(self.limits.clone(), kept, witness);
        true
    }

    /// Takes bounds of single dimensions that `self` leaves open.
    fn narrow_with(&mut self, next: &Self) {
        if next.is_bottom() {
            self.system = None;
            return;
        }
        for c in next.halves() {
            if let ([_], None) = (c.expr.terms(), self.bounds(&c.expr).hi) {
                self.add(c);
            }
        }
    }
}

impl NumericDomain for SparsePolyhedra {
    type Ctx = Limits;

    fn top(limits: &Limits) -> Self {
        Self::of(limits.clone(), Vec::new(), Some(Point::default()))
    }

    fn bottom(limits: &Limits) -> Self {
        SparsePolyhedra { limits: limits.clone(), system: None }
    }

    fn ctx(&self) -> Limits {
        self.limits.clone()
    }

    fn support(&self) -> Vec<Dim> {
        let mut dims: Vec<Dim> = self.rows().iter().flat_map(|r| r.expr.dims()).collect();
        dims.sort_unstable();
        dims.dedup();
        dims
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        let new = d.fresh();
        self.assume(&LinCons { expr: &LinExpr::dim(new) - e, rel: Rel::Eq });
        self.rename(&[(new, d)]);
    }

    fn assume(&mut self, c: &LinCons) {
        if self.is_bottom() {
            return;
        }
        let c = c.normalize();
        match (&c.rel, c.truth()) {
            (_, Some(true)) => {}
            (_, Some(false)) => self.system = None,
            (Rel::Mod(_), None) => {}
            (Rel::Ne, None) => {
                let range = self.bounds(&c.expr);
                let touches = |e: &Option<End>| e.as_ref().is_some_and(|e| e.value.is_zero() && !e.strict);
                let (low, high) = (touches(&range.lo), touches(&range.hi));
                if low {
                    self.assume(&LinCons { expr: -&c.expr, rel: Rel::Lt });
                }
                if high {
                    self.assume(&LinCons { expr: c.expr.clone(), rel: Rel::Lt });
                }
            }
            _ => self.add(c),
        }
    }

    fn forget(&mut self, dims: &[Dim]) {
        let Some(system) = &self.system else { return };
        let drop: FxHashSet<Dim> = dims.iter().copied().collect();
        let (gone, mut kept): (Vec<Row>, Vec<Row>) =
            system.rows.iter().cloned().partition(|r| r.expr.dims().any(|d| drop.contains(&d)));
        if gone.is_empty() {
            return;
        }
        let witness = system.witness.clone();
        match project(&gone, &drop, &self.limits) {
            Projection::Empty => self.system = None,
            Projection::Rows { rows } => {
                kept.retain(|r| !rows.contains(r));
                *self = Self::of(self.limits.clone(), kept, witness);
                // The witness satisfies the shadow of what it satisfied.
                rows.into_iter().for_each(|r| self.add((*r).clone()));
            }
        }
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        let lost: Vec<Dim> = map.iter().map(|m| m.1).filter(|to| map.iter().all(|m| m.0 != *to)).collect();
        self.forget(&lost);
        let Some(system) = &self.system else { return };
        let new = |d: Dim| map.iter().find(|m| m.0 == d).map_or(d, |m| m.1);
        let rows = system.rows.iter().map(|r| Arc::new(r.rename(new).normalize())).collect();
        let moved = |w: &Point| {
            let mut out: Point =
                w.iter().filter(|(d, _)| !lost.contains(d)).map(|(d, v)| (new(*d), v.clone())).collect();
            map.iter().filter(|m| !w.contains_key(&m.0)).for_each(|m| {
                out.remove(&m.1);
            });
            out
        };
        let witness = system.witness.as_ref().map(moved);
        *self = Self::of(self.limits.clone(), rows, witness);
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        if self.is_bottom() {
            return Interval::EMPTY;
        }
        if e.is_constant() {
            return Interval::point(e.constant_term().clone());
        }
        let value = Dim::rat(0).scratch((1 << 29) + 1);
        let mut rows = connected(self.rows(), e.dims());
        let drop: FxHashSet<Dim> = rows.iter().flat_map(|r| r.expr.dims()).chain(e.dims()).collect();
        rows.push(Arc::new(LinCons { expr: &LinExpr::dim(value) - e, rel: Rel::Eq }.normalize()));
        let Projection::Rows { rows } = project(&rows, &drop, &self.limits) else { return Interval::EMPTY };
        let mut range = Interval::TOP;
        for r in rows {
            let k = r.expr.coeff(value);
            let end = End { value: -(r.expr.constant_term().clone() / &k), strict: r.rel == Rel::Lt };
            let half = match (&r.rel, k.is_positive()) {
                (Rel::Eq, _) => Interval::point(end.value),
                (_, true) => Interval { lo: None, hi: Some(end) },
                (_, false) => Interval { lo: Some(end), hi: None },
            };
            range = range.meet(&half);
        }
        if e.is_integral() { range.tighten_int() } else { range }
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        match &self.system {
            None => Vec::new(),
            Some(s) => vec![s.rows.iter().map(|r| (**r).clone()).collect()],
        }
    }
}

impl fmt::Debug for SparsePolyhedra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Polyhedra;
    use crate::laws::Rng;
    use palisade_num::Rat;

    crate::laws::laws!(SparsePolyhedra, Limits::STANDARD);

    fn r(i: u32) -> Dim {
        Dim::rat(i)
    }

    fn lt(a: Dim, b: Dim) -> LinCons {
        LinCons::lt(a, LinExpr::dim(b))
    }

    #[test]
    fn strict_cycles_are_empty_and_weak_ones_are_not() {
        let mut a = SparsePolyhedra::top(&Limits::STANDARD);
        for i in 0..100 {
            a.assume(&lt(r(i), r(i + 1)));
        }
        assert!(!a.is_bottom());
        let mut weak = a.clone();
        weak.assume(&LinCons::le(r(50), LinExpr::dim(r(100))));
        assert!(!weak.is_bottom());
        a.assume(&LinCons::le(r(100), LinExpr::dim(r(0))));
        assert!(a.is_bottom());
    }

    /// Two ways from one point to another, by different middle points: the hull knows the order of the
    /// ends, however many other points there are.
    #[test]
    fn the_hull_of_two_paths_in_a_large_system() {
        let mut a = SparsePolyhedra::top(&Limits::STANDARD);
        for i in 0..300 {
            a.assume(&lt(r(3 * i), r(3 * i + 1)));
            a.assume(&lt(r(3 * i), r(3 * i + 2)));
            if i != 150 {
                a.assume(&lt(r(3 * i), r(3 * i + 3)));
            }
        }
        let (mut left, mut right) = (a.clone(), a.clone());
        left.assume(&lt(r(451), r(453)));
        right.assume(&lt(r(452), r(453)));
        let both = left.join(&right);
        assert!(both.satisfies(&lt(r(450), r(453))));
        assert!(both.satisfies(&lt(r(0), r(900))));
        assert!(!both.satisfies(&lt(r(451), r(453))));
        assert!(both.leq(&a));
    }

    /// Over integers and on small systems: the same as the double description.
    #[test]
    fn agrees_with_polyhedra() {
        let mut rng = Rng::new(29);
        for _ in 0..200 {
            let mut pair = || {
                let (mut s, mut p) =
                    (SparsePolyhedra::top(&Limits::STANDARD), Polyhedra::top(&Limits::STANDARD));
                for _ in 0..rng.range(1, 6) {
                    let terms: Vec<(Dim, Rat)> =
                        (0..4).map(|i| (r(i), Rat::from(rng.range(-2, 2)))).collect();
                    let rel = if rng.below(5) == 0 { Rel::Eq } else { Rel::Le };
                    let c = LinCons { expr: LinExpr::new(terms, rng.range(-4, 4)), rel };
                    s.assume(&c);
                    p.assume(&c);
                }
                (s, p)
            };
            let ((s, p), (t, q)) = (pair(), pair());
            let same = |s: &SparsePolyhedra, p: &Polyhedra| {
                assert_eq!(s.is_bottom(), p.is_bottom(), "{s:?} and {p:?}");
                let mut back = Polyhedra::top(&Limits::STANDARD);
                s.to_constraints().iter().flatten().for_each(|c| back.assume(c));
                assert!(s.is_bottom() || back.equiv(p), "{s:?} and {p:?}");
            };
            same(&s, &p);
            same(&s.join(&t), &p.join(&q));
            same(&s.meet(&t), &p.meet(&q));
            assert_eq!(s.leq(&t), p.leq(&q), "{s:?} and {t:?}");
            let (mut s2, mut p2) = (s.clone(), p.clone());
            s2.forget(&[r(1), r(2)]);
            p2.forget(&[r(1), r(2)]);
            same(&s2, &p2);
            let e = LinExpr::new([(r(0), Rat::from(1)), (r(3), Rat::from(-2))], 1);
            assert_eq!(s.bounds(&e), p.bounds(&e), "{s:?}");
        }
    }
}
