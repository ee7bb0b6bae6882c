//! Systems of linear constraints that mention few dimensions each: elimination, witnesses, hulls.
//!
//! Everything works on `e ≤ 0`, `e < 0` and `e = 0` over the rationals, in normal form.

use crate::blocks::Limits;
use crate::dim::Dim;
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::numeric::NumericDomain;
use crate::poly::Polyhedra;
use palisade_num::Rat;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A constraint, shared between the elements that have it.
pub(super) type Row = Arc<LinCons>;

/// A point: dimensions that are not listed are zero.
pub(super) type Point = FxHashMap<Dim, Rat>;

/// What elimination leaves.
pub(super) enum Projection {
    /// No solution.
    Empty,
    /// The shadow on the dimensions that were kept.
    Rows { rows: Vec<Row> },
}

/// Does the point satisfy the constraint?
pub(super) fn holds_at(c: &LinCons, point: &Point) -> bool {
    c.holds(&|d| point.get(&d).cloned().unwrap_or(Rat::ZERO))
}

/// A system while dimensions are eliminated.
struct Elimination<'l> {
    rows: Vec<Option<Row>>,
    /// Rows by dimension; some may be gone.
    by_dim: FxHashMap<Dim, Vec<usize>>,
    /// For each direction the row with it.
    by_direction: FxHashMap<Vec<(Dim, Rat)>, usize>,
    /// The dimensions eliminated, with the rows that mentioned each.
    trail: Vec<(Dim, Vec<Row>)>,
    empty: bool,
    exact: bool,
    limits: &'l Limits,
}

impl<'l> Elimination<'l> {
    fn new(rows: &[Row], limits: &'l Limits) -> Self {
        let mut out = Elimination {
            rows: Vec::with_capacity(rows.len()),
            by_dim: FxHashMap::default(),
            by_direction: FxHashMap::default(),
            trail: Vec::new(),
            empty: false,
            exact: true,
            limits,
        };
        for r in rows {
            out.add(r.clone());
        }
        out
    }

    fn add(&mut self, row: Row) {
        match row.truth() {
            Some(true) => return,
            Some(false) => {
                self.empty = true;
                return;
            }
            None => {}
        }
        // Of two parallel half-spaces one is enough.
        if row.rel != Rel::Eq
            && let Some(&at) = self.by_direction.get(row.expr.terms())
            && let Some(old) = &self.rows[at]
            && old.rel != Rel::Eq
            && old.expr.terms() == row.expr.terms()
        {
            let (a, b) = (old.expr.constant_term(), row.expr.constant_term());
            if b > a || (a == b && row.rel == Rel::Lt) {
                self.rows[at] = Some(row);
            }
            return;
        }
        let at = self.rows.len();
        for d in row.expr.dims() {
            self.by_dim.entry(d).or_default().push(at);
        }
        self.by_direction.insert(row.expr.terms().to_vec(), at);
        self.rows.push(Some(row));
    }

    /// The rows that mention a dimension.
    fn mentioning(&mut self, d: Dim) -> Vec<usize> {
        let rows = &self.rows;
        let Some(list) = self.by_dim.get_mut(&d) else { return Vec::new() };
        list.retain(|i| rows[*i].as_ref().is_some_and(|r| r.expr.mentions(d)));
        list.sort_unstable();
        list.dedup();
        list.clone()
    }

    /// How many more rows there are after eliminating the dimension (Fourier and Motzkin).
    fn growth(&mut self, d: Dim) -> isize {
        let (mut lower, mut upper) = (0, 0);
        for i in self.mentioning(d) {
            let Some(r) = &self.rows[i] else { continue };
            match (&r.rel, r.expr.coeff(d).is_positive()) {
                (Rel::Eq, _) => return -1,
                (_, true) => upper += 1,
                (_, false) => lower += 1,
            }
        }
        lower * upper - lower - upper
    }

    /// Removes a dimension: an equation that mentions it is solved for it, otherwise every lower bound is
    /// combined with every upper bound.
    fn eliminate(&mut self, d: Dim) -> Vec<Dim> {
        let at = self.mentioning(d);
        let gone: Vec<Row> = at.iter().filter_map(|i| self.rows[*i].take()).collect();
        let mut touched: Vec<Dim> = gone.iter().flat_map(|r| r.expr.dims()).filter(|x| *x != d).collect();
        touched.sort_unstable();
        touched.dedup();
        let rate = |r: &Row| r.expr.coeff(d);
        if let Some(eq) = gone.iter().find(|r| r.rel == Rel::Eq) {
            for r in gone.iter().filter(|r| !Arc::ptr_eq(r, eq)) {
                let expr = r.expr.add_scaled(&eq.expr, &-(rate(r) / rate(eq)));
                self.add(Arc::new(LinCons { expr, rel: r.rel.clone() }.normalize()));
            }
        } else {
            let (upper, lower): (Vec<&Row>, Vec<&Row>) = gone.iter().partition(|r| rate(r).is_positive());
            for u in &upper {
                for l in &lower {
                    let expr = u.expr.add_scaled(&l.expr, &-(rate(u) / rate(l)));
                    let rel = if u.rel == Rel::Lt || l.rel == Rel::Lt { Rel::Lt } else { Rel::Le };
                    self.add(Arc::new(LinCons { expr, rel }.normalize()));
                }
            }
        }
        self.trail.push((d, gone));
        touched
    }

    /// Eliminates dimensions, cheapest first; where the number of rows would grow, the double
    /// description takes over, and beyond its limits the rows are dropped.
    fn run(&mut self, drop: &FxHashSet<Dim>) {
        let mut work: Vec<Dim> = drop.iter().copied().collect();
        work.sort_unstable();
        let mut left: FxHashSet<Dim> = drop.clone();
        while !self.empty {
            while let Some(d) = work.pop() {
                if self.empty {
                    return;
                }
                if left.contains(&d) && self.growth(d) <= 0 {
                    left.remove(&d);
                    work.extend(self.eliminate(d));
                }
            }
            let mut dims: Vec<Dim> = left.iter().copied().collect();
            dims.sort_unstable();
            let Some((_, d)) = dims.into_iter().map(|d| (self.growth(d), d)).min() else { return };
            if self.growth(d) > MAX_GROWTH {
                let drop: Vec<Dim> = left.iter().copied().collect();
                return self.eliminate_by_generators(&drop);
            }
            left.remove(&d);
            work.extend(self.eliminate(d));
        }
    }

    fn eliminate_by_generators(&mut self, drop: &[Dim]) {
        let concerned: Vec<usize> = {
            let mut all: Vec<usize> = drop.iter().flat_map(|d| self.mentioning(*d)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let gone: Vec<Row> = concerned.iter().filter_map(|i| self.rows[*i].take()).collect();
        let mut dims: Vec<Dim> = gone.iter().flat_map(|r| r.expr.dims()).collect();
        dims.sort_unstable();
        dims.dedup();
        if dims.len() >= self.limits.dims {
            self.exact = false;
            return;
        }
        let mut p = open_polyhedron(&gone, self.limits);
        p.forget(drop);
        match open_rows(&p) {
            None => self.empty = true,
            Some(rows) => rows.into_iter().for_each(|r| self.add(r)),
        }
        // A point cannot be traced back through generators.
        self.exact = false;
    }

    /// A solution, from the trail of an elimination of all dimensions.
    fn witness(&self) -> Option<Point> {
        if !self.exact || self.empty {
            return None;
        }
        let mut point = Point::default();
        for (d, rows) in self.trail.iter().rev() {
            let (mut low, mut high) = (None::<(Rat, bool)>, None::<(Rat, bool)>);
            let mut value = None;
            for r in rows {
                let k = r.expr.coeff(*d);
                let rest = r.expr.eval(&|x| match x == *d {
                    true => Rat::ZERO,
                    false => point.get(&x).cloned().unwrap_or(Rat::ZERO),
                });
                let bound = -(rest / &k);
                let strict = r.rel == Rel::Lt;
                if r.rel == Rel::Eq {
                    value = Some(bound);
                    break;
                }
                let side = if k.is_positive() { &mut high } else { &mut low };
                let tighter = side.as_ref().is_none_or(|(old, open)| {
                    let nearer = if k.is_positive() { bound < *old } else { bound > *old };
                    nearer || (bound == *old && strict && !open)
                });
                if tighter {
                    *side = Some((bound, strict));
                }
            }
            let value = value.unwrap_or_else(|| match (low, high) {
                (None, None) => Rat::ZERO,
                (Some((l, _)), None) => l + Rat::ONE,
                (None, Some((h, _))) => h - Rat::ONE,
                (Some((l, _)), Some((h, _))) => (l + h) / Rat::from(2),
            });
            point.insert(*d, value);
        }
        Some(point)
    }
}

/// Rows that one elimination may add before the double description takes over.
const MAX_GROWTH: isize = 2;

/// The shadow of a system on the dimensions outside `drop`.
pub(super) fn project(rows: &[Row], drop: &FxHashSet<Dim>, limits: &Limits) -> Projection {
    let mut e = Elimination::new(rows, limits);
    e.run(drop);
    if e.empty {
        return Projection::Empty;
    }
    let left: Vec<Row> = e.rows.into_iter().flatten().collect();
    // What still mentions a dropped dimension was too large to eliminate.
    let rows = left.into_iter().filter(|r| r.expr.dims().all(|d| !drop.contains(&d))).collect();
    Projection::Rows { rows }
}

/// Whether a system has a solution, and one if it is easy to tell. `None` for no solution; a system
/// that is too large to decide counts as having one.
pub(super) fn solve(rows: &[Row], limits: &Limits) -> Option<Option<Point>> {
    let dims: FxHashSet<Dim> = rows.iter().flat_map(|r| r.expr.dims()).collect();
    let mut e = Elimination::new(rows, limits);
    e.run(&dims);
    (!e.empty).then(|| e.witness())
}

/// The dimension that makes strict inequalities closed: `e < 0` is `e + ε ≤ 0` for some `ε > 0` (Halbwachs,
/// Proy, Raymond 1994; Bagnara, Ricci, Zaffanella, Hill 2002).
fn epsilon() -> Dim {
    Dim::rat(0).scratch(1 << 29)
}

/// The closed polyhedron over the dimensions and ε that stands for a system.
fn open_polyhedron(rows: &[Row], limits: &Limits) -> Polyhedra {
    let mut p = Polyhedra::top(limits);
    p.assume(&LinCons::ge(epsilon(), LinExpr::constant(0)));
    p.assume(&LinCons::le(epsilon(), LinExpr::constant(1)));
    for r in rows {
        if r.rel == Rel::Lt {
            let expr = r.expr.add_scaled(&LinExpr::dim(epsilon()), &Rat::ONE);
            p.assume(&LinCons { expr, rel: Rel::Le });
        } else {
            p.assume(r);
        }
    }
    p
}

/// The system that such a polyhedron stands for; `None` if no point has `ε > 0`.
fn open_rows(p: &Polyhedra) -> Option<Vec<Row>> {
    let eps = epsilon();
    let room = p.bounds_of(eps);
    if p.is_bottom() || room.hi.as_ref().is_some_and(|h| !h.value.is_positive()) {
        return None;
    }
    let mut rows = Vec::new();
    for c in p.to_constraints().into_iter().flatten() {
        let k = c.expr.coeff(eps);
        let expr = c.expr.substitute(eps, &LinExpr::constant(0));
        let rel = match (k.signum(), &c.rel) {
            (0, rel) => rel.clone(),
            // The larger ε may be, the smaller the rest: some positive ε fits if the rest is negative.
            (1, Rel::Le) => Rel::Lt,
            // Only `ε ≥ 0` bounds ε from below.
            _ => continue,
        };
        let c = LinCons { expr, rel }.normalize();
        if c.truth().is_none() {
            rows.push(Arc::new(c));
        }
    }
    Some(rows)
}

/// The smallest system around the solutions of two; `None` if they are too large together.
pub(super) fn hull(a: &[Row], b: &[Row], limits: &Limits) -> Option<Vec<Row>> {
    let dims: FxHashSet<Dim> = a.iter().chain(b).flat_map(|r| r.expr.dims()).collect();
    if dims.len() >= limits.dims {
        return None;
    }
    let mut p = open_polyhedron(a, limits);
    p.join_with(&open_polyhedron(b, limits));
    open_rows(&p)
}

/// Splits common rows of two systems into those that the hull of the rest does not depend on and the
/// others.
///
/// `core` are the dimensions of the rows in which the systems differ. A row that alone mentions some
/// dimension `w` outside the core can be set aside: whatever values the others take, `w` can
/// compensate, so `conv(P₁ ⋈ Q ∪ P₂ ⋈ Q) = conv(P₁ ∪ P₂) ⋈ Q` for `Q` this row. The same holds for rows
/// that nothing connects to the core. Without the row another one may be alone.
pub(super) fn set_aside(common: &[Row], core: &FxHashSet<Dim>) -> (Vec<Row>, Vec<Row>) {
    let mut by_dim: FxHashMap<Dim, Vec<usize>> = FxHashMap::default();
    for (i, r) in common.iter().enumerate() {
        for d in r.expr.dims() {
            by_dim.entry(d).or_default().push(i);
        }
    }
    let mut aside = vec![false; common.len()];
    let mut work: Vec<Dim> = by_dim.keys().copied().filter(|d| !core.contains(d)).collect();
    work.sort_unstable();
    while let Some(d) = work.pop() {
        let mut open = by_dim[&d].iter().filter(|i| !aside[**i]);
        if let (Some(&only), None) = (open.next(), open.next()) {
            aside[only] = true;
            work.extend(common[only].expr.dims().filter(|x| !core.contains(x)));
        }
    }
    // What is not connected to the core.
    let mut near = vec![false; common.len()];
    let mut reached: FxHashSet<Dim> = core.clone();
    let mut frontier: Vec<Dim> = core.iter().copied().collect();
    while let Some(d) = frontier.pop() {
        for &i in by_dim.get(&d).into_iter().flatten() {
            if !aside[i] && !std::mem::replace(&mut near[i], true) {
                frontier.extend(common[i].expr.dims().filter(|x| reached.insert(*x)));
            }
        }
    }
    let pick = |wanted: bool| -> Vec<Row> {
        common.iter().zip(&near).filter(|(_, n)| **n == wanted).map(|(r, _)| r.clone()).collect()
    };
    (pick(false), pick(true))
}
