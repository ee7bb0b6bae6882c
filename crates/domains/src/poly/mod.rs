//! Convex polyhedra, exact, by double description, split into independent blocks.
//!
//! A polyhedron over `x₁ … xₙ` is the cone of the vectors `(t, t·x)` with `t ≥ 0` (Halbwachs,
//! Proy, Roumanoff, "Verification of real-time systems using linear relation analysis", 1997).
//! Both descriptions are kept minimal after every operation; each operation updates them incrementally,
//! so a description is never recomputed from scratch except after widening.

mod dd;
mod row;

use crate::blocks::{Blocks, Factor, Limits, TooBig};
use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::linear::{LinCons, LinExpr, Rel};
use dd::{BitMatrix, Pair, Side, minimize, saturation};
use palisade_num::{Int, Rat};
use row::Row;

/// The polyhedra domain. Join, meet, linear assignments, tests and projections are exact over the
/// rationals. Polyhedra are closed: a strict inequality between rationals counts as non-strict, and
/// between integers is tightened. Widening is that of Halbwachs (1979).
pub type Polyhedra = Blocks<Polyhedron>;

/// A polyhedron over a fixed list of dimensions: one block of [`Polyhedra`].
#[derive(Clone, Debug)]
pub struct Polyhedron {
    dims: Vec<Dim>,
    /// Constraints outside, generators inside; `None` is empty.
    pair: Option<Pair>,
}

/// The pair of the whole space: `t ≥ 0`, all lines, the origin.
fn universe(n: usize) -> Pair {
    let len = n + 1;
    let outer = Side { linear: Vec::new(), rays: vec![Row::unit(len, 0)] };
    let inner = Side { linear: (1..len).map(|i| Row::unit(len, i)).collect(), rays: vec![Row::unit(len, 0)] };
    let sat = saturation(&inner, &outer);
    Pair { outer, inner, sat }
}

/// Has the cone a vector with `t > 0`?
fn is_inhabited(pair: &Pair) -> bool {
    pair.inner.rays.iter().any(|r| r.sign(0) > 0)
}

impl Polyhedron {
    fn place(&self, d: Dim) -> usize {
        // Callers only pass dimensions of this factor, as the trait demands.
        1 + self.dims.binary_search(&d).expect("dimension belongs to the factor")
    }

    /// The expression as integers over `(t, x)`, and the positive factor they were multiplied by.
    fn integers(&self, e: &LinExpr) -> (Vec<Int>, Int) {
        let mut scale = e.constant_term().denom().clone();
        for (_, c) in e.terms() {
            scale = scale.lcm(c.denom());
        }
        let times = |c: &Rat| c.numer() * scale.div_exact(c.denom());
        let mut v = vec![Int::ZERO; self.dims.len() + 1];
        v[0] = times(e.constant_term());
        for (d, c) in e.terms() {
            v[self.place(*d)] = times(c);
        }
        (v, scale)
    }

    /// The row of `-e ≥ 0`.
    fn constraint_row(&self, e: &LinExpr) -> Row {
        Row::new(self.integers(&-e).0)
    }

    /// The constraint that a row of the outer description stands for.
    fn to_constraint(&self, row: &Row, rel: Rel) -> LinCons {
        let terms = self.dims.iter().zip(1..).map(|(d, i)| (*d, -Rat::from(row.get(i))));
        let expr = LinExpr::new(terms, -Rat::from(row.get(0)));
        LinCons { expr, rel }
    }

    fn replace(&mut self, pair: Pair) {
        self.pair = is_inhabited(&pair).then_some(pair);
    }

    /// Meets with constraint rows.
    fn cut<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (&'a Row, bool)>,
        limits: &Limits,
    ) -> Result<(), TooBig> {
        let Some(mut pair) = self.pair.clone() else { return Ok(()) };
        pair.cut(rows, limits)?;
        self.replace(pair);
        Ok(())
    }

    /// Adds generators: the dual of meeting with constraints.
    fn extend<'a>(
        pair: &Pair,
        rows: impl IntoIterator<Item = (&'a Row, bool)>,
        limits: &Limits,
    ) -> Result<Pair, TooBig> {
        let mut dual = pair.clone().swap();
        dual.cut(rows, limits)?;
        Ok(dual.swap())
    }

    /// Drops places from all rows; nothing may depend on them any more.
    fn drop_places(pair: &mut Pair, keep: &[usize]) {
        for side in [&mut pair.outer, &mut pair.inner] {
            for r in side.linear.iter_mut().chain(&mut side.rays) {
                *r = r.select(keep);
            }
        }
    }

    /// Removes one place, existentially.
    fn eliminate(pair: &mut Pair, place: usize, limits: &Limits) -> Result<(), TooBig> {
        let len =
            pair.outer.rays.iter().chain(&pair.outer.linear).chain(&pair.inner.rays).map(Row::len).next();
        let Some(len) = len else { return Ok(()) };
        let keep: Vec<usize> = (0..len).filter(|i| *i != place).collect();
        if let Some(p) = pair.outer.linear.iter().position(|e| e.sign(place) != 0) {
            // An equality determines the dimension: substitute it. Both descriptions stay minimal.
            let mut eq = pair.outer.linear.remove(p);
            if eq.sign(place) < 0 {
                eq = eq.negated();
            }
            let k = eq.get(place);
            for r in pair.outer.linear.iter_mut().chain(&mut pair.outer.rays) {
                if r.sign(place) != 0 {
                    *r = r.combine(&k, &eq, &-r.get(place));
                }
            }
        } else {
            if pair.outer.rays.iter().any(|r| r.sign(place) != 0) {
                *pair = Self::extend(pair, [(&Row::unit(len, place), true)], limits)?;
            }
            // The dimension is free now: its unit vector is in the span of the lines.
            let lines = &mut pair.inner.linear;
            lines.push(Row::unit(len, place));
            let at = lines.len() - 1;
            lines.swap(0, at);
            let unit = lines[0].clone();
            for r in lines[1..].iter_mut().chain(&mut pair.inner.rays) {
                if r.sign(place) != 0 {
                    *r = r.combine(&Int::ONE, &unit, &-r.get(place));
                }
            }
            lines.remove(0);
            Self::drop_places(pair, &keep);
            dd::eliminate(&mut pair.inner.linear);
            return Ok(());
        }
        Self::drop_places(pair, &keep);
        Ok(())
    }

    /// Which of `rows` hold everywhere in the polyhedron?
    fn holds(pair: &Pair, row: &Row, equality: bool) -> bool {
        pair.inner.linear.iter().all(|l| l.dot(row).is_zero())
            && pair.inner.rays.iter().all(|r| {
                let s = r.dot(row).signum();
                s == 0 || (s > 0 && !equality)
            })
    }

    /// The polyhedron of some constraints, from scratch.
    fn from_rows(
        dims: &[Dim],
        equalities: &[Row],
        inequalities: &[Row],
        limits: &Limits,
    ) -> Result<Pair, TooBig> {
        let mut pair = universe(dims.len());
        let rows = equalities.iter().map(|r| (r, true)).chain(inequalities.iter().map(|r| (r, false)));
        pair.cut(rows, limits)?;
        Ok(pair)
    }
}

impl Factor for Polyhedron {
    fn top(dims: Vec<Dim>) -> Self {
        let pair = Some(universe(dims.len()));
        Polyhedron { dims, pair }
    }

    fn dims(&self) -> &[Dim] {
        &self.dims
    }

    fn is_empty(&self) -> bool {
        self.pair.is_none()
    }

    fn product(parts: &[&Self], limits: &Limits) -> Result<Self, TooBig> {
        let mut dims: Vec<Dim> = parts.iter().flat_map(|p| p.dims.iter().copied()).collect();
        dims.sort_unstable();
        let len = dims.len() + 1;
        let mut outer = Side { linear: Vec::new(), rays: Vec::new() };
        let mut inner = Side { linear: Vec::new(), rays: Vec::new() };
        // Points multiply, everything else adds up.
        let mut points: Vec<Vec<Int>> = vec![Row::unit(len, 0).to_vec()];
        for p in parts {
            let Some(pair) = &p.pair else { return Ok(Polyhedron { dims, pair: None }) };
            let places: Vec<usize> = p.dims.iter().map(|d| 1 + dims.partition_point(|x| x < d)).collect();
            let embed = |r: &Row| {
                let mut v = vec![Int::ZERO; len];
                v[0] = r.get(0);
                places.iter().zip(1..).for_each(|(to, from)| v[*to] = r.get(from));
                Row::new(v)
            };
            outer.linear.extend(pair.outer.linear.iter().map(embed));
            outer.rays.extend(pair.outer.rays.iter().map(embed));
            inner.linear.extend(pair.inner.linear.iter().map(embed));
            let mut grown = Vec::new();
            for r in &pair.inner.rays {
                if r.sign(0) == 0 {
                    inner.rays.push(embed(r));
                    continue;
                }
                let (v, t) = (embed(r).to_vec(), r.get(0));
                for q in &points {
                    // (s, q) and (t, v) give (st, t·q + s·v).
                    let s = &q[0];
                    let mut sum: Vec<Int> = q.iter().map(|x| x * &t).collect();
                    sum.iter_mut().zip(&v).skip(1).for_each(|(a, b)| a.add_mul(s, b));
                    grown.push(sum);
                    if grown.len() + inner.rays.len() > limits.rows {
                        return Err(TooBig);
                    }
                }
            }
            points = grown;
        }
        inner.rays.extend(points.into_iter().map(Row::new));
        inner.check(limits.bits)?;
        let mut by_outer = saturation(&outer, &inner);
        minimize(&mut outer, &mut by_outer, inner.rays.len());
        let sat = by_outer.transpose(inner.rays.len());
        Ok(Polyhedron { dims, pair: Some(Pair { outer, inner, sat }) })
    }

    fn leq(&self, other: &Self) -> bool {
        match (&self.pair, &other.pair) {
            (None, _) => true,
            (_, None) => false,
            (Some(a), Some(b)) => {
                b.outer.linear.iter().all(|r| Self::holds(a, r, true))
                    && b.outer.rays.iter().all(|r| Self::holds(a, r, false))
            }
        }
    }

    fn join(&self, other: &Self, limits: &Limits) -> Result<Self, TooBig> {
        let (Some(mut a), Some(mut b)) = (self.pair.as_ref(), other.pair.as_ref()) else {
            return Ok(if self.pair.is_none() { other.clone() } else { self.clone() });
        };
        if a.inner.rays.len() < b.inner.rays.len() {
            (a, b) = (b, a);
        }
        let rows = b.inner.linear.iter().map(|r| (r, true)).chain(b.inner.rays.iter().map(|r| (r, false)));
        let pair = Self::extend(a, rows, limits)?;
        Ok(Polyhedron { dims: self.dims.clone(), pair: Some(pair) })
    }

    fn meet(&mut self, other: &Self, limits: &Limits) -> Result<(), TooBig> {
        let Some(b) = &other.pair else {
            self.pair = None;
            return Ok(());
        };
        let rows = b.outer.linear.iter().map(|r| (r, true)).chain(b.outer.rays.iter().map(|r| (r, false)));
        self.cut(rows, limits)
    }

    /// Keeps the constraints of `self` that `next` satisfies, and those of `next` that touch
    /// `self` where one of its own does (Halbwachs 1979). `next` is above `self`.
    fn widen(&self, next: &Self, limits: &Limits) -> Result<Self, TooBig> {
        let (Some(a), Some(b)) = (&self.pair, &next.pair) else {
            return Ok(if self.pair.is_none() { next.clone() } else { self.clone() });
        };
        let touches =
            |row: &Row| -> Vec<bool> { a.inner.rays.iter().map(|r| r.dot(row).is_zero()).collect() };
        let own: Vec<Vec<bool>> = a.outer.rays.iter().filter(|r| !r.is_zero_from(1)).map(touches).collect();
        // An equality of `self` is a pair of inequalities that everything touches.
        let flat = !a.outer.linear.is_empty();
        let stays = |row: &Row| {
            let t = touches(row);
            own.contains(&t) || (flat && t.iter().all(|x| *x))
        };
        let mut rows: Vec<Row> = b.outer.rays.iter().filter(|r| stays(r)).cloned().collect();
        let stable = |r: &&Row| Self::holds(b, r, false);
        let halves: Vec<Row> = a.outer.linear.iter().flat_map(|e| [e.clone(), e.negated()]).collect();
        rows.extend(a.outer.rays.iter().chain(&halves).filter(stable).cloned());
        let pair = Self::from_rows(&self.dims, &b.outer.linear, &rows, limits)?;
        Ok(Polyhedron { dims: self.dims.clone(), pair: Some(pair) })
    }

    fn keep(&mut self, c: &LinCons, limits: &Limits) -> Result<(), TooBig> {
        self.assume(c, limits)
    }

    fn assume(&mut self, c: &LinCons, limits: &Limits) -> Result<(), TooBig> {
        let row = self.constraint_row(&c.expr);
        self.cut([(&row, c.rel == Rel::Eq)], limits)
    }

    fn assign(&mut self, d: Dim, e: &LinExpr, limits: &Limits) -> Result<(), TooBig> {
        let (at, (image, scale)) = (self.place(d), self.integers(e));
        let Some(pair) = &mut self.pair else { return Ok(()) };
        // Every coefficient becomes a sum of products with those of the image.
        let growth = image.iter().chain([&scale]).map(Int::bit_len).max().unwrap_or(0);
        let room = limits.bits.checked_sub(growth).ok_or(TooBig)?;
        pair.outer.check(room)?;
        pair.inner.check(room)?;
        let k = image[at].clone();
        let image_row = Row::new(image.clone());
        // The content that `Row::new` divided out; coprime with the scale.
        let content = image.iter().fold(Int::ZERO, |g, x| g.gcd(x)).max(Int::ONE);
        // scale·x' = image·(t, x): generators move along.
        let moved = |r: &Row| {
            let mut v: Vec<Int> = r.to_vec().iter().map(|x| x * &scale).collect();
            v[at] = r.dot(&image_row) * &content;
            Row::new(v)
        };
        if k.is_zero() {
            // The dimension is free, so its own line is the only generator direction to lose.
            let unit = Row::unit(image.len(), at);
            let mut lines = vec![unit.clone()];
            lines.append(&mut pair.inner.linear);
            for r in lines[1..].iter_mut().chain(&mut pair.inner.rays) {
                *r = r.combine(&Int::ONE, &unit, &-r.get(at));
            }
            dd::eliminate(&mut lines);
            lines.retain(|l| l.sign(at) == 0);
            pair.inner.linear = lines.iter().map(moved).collect();
            pair.inner.rays = pair.inner.rays.iter().map(moved).collect();
            let mut eq = image;
            eq[at] = -scale;
            pair.outer.linear.push(Row::new(eq));
            return Ok(());
        }
        for r in pair.inner.linear.iter_mut().chain(&mut pair.inner.rays) {
            *r = moved(r);
        }
        // k·x = scale·x' - (image without x): constraints are rewritten, multiplied by |k|.
        let size = k.abs();
        for r in pair.outer.linear.iter_mut().chain(&mut pair.outer.rays) {
            let a = r.get(at);
            if a.is_zero() {
                continue;
            }
            let a = if k.is_negative() { -a } else { a };
            let mut v: Vec<Int> = r.to_vec().iter().map(|x| x * &size).collect();
            for (i, x) in v.iter_mut().enumerate() {
                if i == at {
                    *x = &a * &scale;
                } else {
                    x.add_mul(&-&a, &image[i]);
                }
            }
            *r = Row::new(v);
        }
        Ok(())
    }

    fn project(&mut self, remove: &[Dim], limits: &Limits) -> Result<(), TooBig> {
        if let Some(pair) = &self.pair {
            let mut pair = pair.clone();
            let mut dims = self.dims.clone();
            for d in remove {
                if let Ok(i) = dims.binary_search(d) {
                    Self::eliminate(&mut pair, i + 1, limits)?;
                    dims.remove(i);
                }
            }
            pair.outer.check(limits.bits)?;
            self.replace(pair);
        }
        self.dims.retain(|d| !remove.contains(d));
        Ok(())
    }

    fn rename(&mut self, f: &dyn Fn(Dim) -> Dim) {
        let mut order: Vec<(Dim, usize)> =
            self.dims.iter().enumerate().map(|(i, d)| (f(*d), i + 1)).collect();
        order.sort_unstable();
        let places: Vec<usize> = [0].into_iter().chain(order.iter().map(|o| o.1)).collect();
        self.dims = order.iter().map(|o| o.0).collect();
        if let Some(pair) = &mut self.pair {
            Self::drop_places(pair, &places);
        }
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        let Some(pair) = &self.pair else { return Interval::EMPTY };
        let (v, scale) = self.integers(e);
        let content = v.iter().fold(Int::ZERO, |g, x| g.gcd(x)).max(Int::ONE);
        let row = Row::new(v);
        if pair.inner.linear.iter().any(|l| !l.dot(&row).is_zero()) {
            return Interval::TOP;
        }
        let (mut lo, mut hi): (Option<Rat>, Option<Rat>) = (None, None);
        let (mut down, mut up) = (false, false);
        for r in &pair.inner.rays {
            let s = r.dot(&row);
            if r.sign(0) == 0 {
                down |= s.is_negative();
                up |= s.is_positive();
                continue;
            }
            let value = Rat::new(s * &content, r.get(0) * &scale);
            if lo.as_ref().is_none_or(|l| value < *l) {
                lo = Some(value.clone());
            }
            if hi.as_ref().is_none_or(|h| value > *h) {
                hi = Some(value);
            }
        }
        Interval { lo: lo.filter(|_| !down).map(End::closed), hi: hi.filter(|_| !up).map(End::closed) }
    }

    fn constraints(&self) -> Vec<LinCons> {
        let Some(pair) = &self.pair else { return vec![LinCons::contradiction()] };
        let mut out: Vec<LinCons> =
            pair.outer.linear.iter().map(|r| self.to_constraint(r, Rel::Eq)).collect();
        // `t ≥ 0` says nothing about the dimensions.
        let real = pair.outer.rays.iter().filter(|r| !r.is_zero_from(1));
        out.extend(real.map(|r| self.to_constraint(r, Rel::Le)));
        out
    }

    /// A growing step raises the dimension, or keeps it and loses a constraint.
    fn certificate(&self) -> Option<[u64; 2]> {
        let pair = self.pair.as_ref()?;
        Some([
            pair.outer.linear.len() as u64,
            pair.outer.rays.iter().filter(|r| !r.is_zero_from(1)).count() as u64,
        ])
    }

    fn split(&self) -> Option<Vec<Self>> {
        let pair = self.pair.as_ref()?;
        let n = self.dims.len();
        let mut group: Vec<usize> = (0..n).collect();
        let mut used = vec![false; n];
        for r in pair.outer.linear.iter().chain(&pair.outer.rays) {
            let mut first = None;
            for k in (0..n).filter(|k| r.sign(k + 1) != 0) {
                used[k] = true;
                let f = *first.get_or_insert(k);
                let (old, new) = (group[f].max(group[k]), group[f].min(group[k]));
                group.iter_mut().filter(|g| **g == old).for_each(|g| *g = new);
            }
        }
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); n];
        (0..n).filter(|k| used[*k]).for_each(|k| parts[group[k]].push(k));
        parts.retain(|p| !p.is_empty());
        if parts.len() == 1 && parts[0].len() == n {
            return None;
        }
        Some(parts.iter().map(|p| self.part(pair, p)).collect())
    }
}

impl Polyhedron {
    /// The factor over some of the dimensions, which no constraint relates to the others.
    fn part(&self, pair: &Pair, vars: &[usize]) -> Polyhedron {
        let places: Vec<usize> = [0].into_iter().chain(vars.iter().map(|k| k + 1)).collect();
        let inside = |r: &&Row| vars.iter().any(|k| r.sign(k + 1) != 0);
        let select = |r: &Row| r.select(&places);
        let mut outer = Side {
            linear: pair.outer.linear.iter().filter(inside).map(select).collect(),
            rays: pair.outer.rays.iter().filter(inside).map(select).collect(),
        };
        outer.rays.push(Row::unit(places.len(), 0));
        let nonzero = |r: &Row| !r.is_zero_from(0);
        let mut inner = Side {
            linear: pair.inner.linear.iter().map(select).filter(nonzero).collect(),
            rays: pair.inner.rays.iter().map(select).filter(nonzero).collect(),
        };
        let mut sat = saturation(&inner, &outer);
        minimize(&mut inner, &mut sat, outer.rays.len());
        let mut by_outer = sat.transpose(outer.rays.len());
        minimize(&mut outer, &mut by_outer, inner.rays.len());
        let sat: BitMatrix = by_outer.transpose(inner.rays.len());
        let dims = vars.iter().map(|k| self.dims[*k]).collect();
        Polyhedron { dims, pair: Some(Pair { outer, inner, sat }) }
    }
}

#[cfg(test)]
mod tests;
