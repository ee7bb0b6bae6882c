//! Octagons: conjunctions of `±x ± y ≤ c`, kept in tight integer closure (strong closure when a
//! rational dimension is involved), split into independent blocks.

mod dbm;

use crate::blocks::{Blocks, Factor, Limits, TooBig};
use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::linear::{LinCons, LinExpr, Rel};
use dbm::{Dbm, Entry, RatBound};
use palisade_num::Rat;
use std::sync::OnceLock;

/// The octagon domain. Join is the best one; assignments and tests of octagonal form are exact, others
/// are approximated by their bounds. Widened elements keep their unclosed matrix, as
/// termination requires, and are closed on the side for queries.
pub type Octagons = Blocks<Octagon>;

/// A matrix over integers only, or one in which integers count as rationals.
#[derive(Clone, Debug)]
enum Matrix {
    Int(Dbm<i128>),
    Rat(Dbm<RatBound>),
}
use Matrix::Int as IntM;
use Matrix::Rat as RatM;

/// Runs the same code on either kind of matrix.
macro_rules! on {
    ($matrix:expr, $m:ident => $body:expr) => {
        match $matrix {
            IntM($m) => $body,
            RatM($m) => $body,
        }
    };
}

/// Runs code on two matrices over the same dimensions, which are of one kind.
macro_rules! on_both {
    ($a:expr, $b:expr, ($x:ident, $y:ident) => $body:expr, wrap $w:ident) => {
        match ($a, $b) {
            (IntM($x), IntM($y)) => on_both!(@ $w, IntM, $body),
            (RatM($x), RatM($y)) => on_both!(@ $w, RatM, $body),
            _ => unreachable!("the kind of a matrix is decided by its dimensions"),
        }
    };
    (@ yes, $kind:ident, $body:expr) => { $kind($body) };
    (@ no, $kind:ident, $body:expr) => { $body };
}

/// What is known of the stored matrix.
#[derive(Clone, Debug)]
enum Closure {
    /// It is closed.
    Done,
    /// It is a widening's result; the closure (`None` when empty) is computed on demand.
    Pending(OnceLock<Option<Box<Matrix>>>),
    /// No state is left.
    Empty,
}

/// An octagon over a fixed list of dimensions: one block of [`Octagons`].
#[derive(Clone, Debug)]
pub struct Octagon {
    dims: Vec<Dim>,
    matrix: Matrix,
    closure: Closure,
}

fn top_matrix(dims: &[Dim]) -> Matrix {
    if dims.iter().all(|d| d.is_int()) { IntM(Dbm::top(dims.len())) } else { RatM(Dbm::top(dims.len())) }
}

/// Tightens the bounds between integers in a closed matrix that also has rationals, until
/// nothing changes, so that integers mean the same alone and in company. Returns whether any state is
/// left.
fn settle(matrix: &mut Matrix, dims: &[Dim]) -> bool {
    let RatM(m) = matrix else { return true };
    let ints: Vec<usize> = (0..2 * dims.len()).filter(|i| dims[i / 2].is_int()).collect();
    // Each round moves integer bounds by whole steps; in practice one or two suffice, and
    // stopping early is sound.
    for _ in 0..4 * dims.len() {
        let mut changed = false;
        for (n, i) in ints.iter().copied().enumerate() {
            for j in ints[..n].iter().copied().chain([i ^ 1]) {
                let Some(end) = m.get(i, j).to_end() else { continue };
                let unit = Rat::from(if j == i ^ 1 { 2 } else { 1 });
                let hi = Some(End { value: end.value / &unit, strict: end.strict });
                let Some(tight) = (Interval { lo: None, hi }).tighten_int().hi else { continue };
                let tight = RatBound::from_end(&End::closed(tight.value * unit));
                if tight.less(m.get(i, j)) {
                    changed = true;
                    if !m.add_closed(i, j, tight) {
                        return false;
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    true
}

/// Closes a matrix over the given dimensions. Returns whether any state is left.
fn close(matrix: &mut Matrix, dims: &[Dim]) -> bool {
    on!(&mut *matrix, m => m.close()) && settle(matrix, dims)
}

impl Octagon {
    /// The closed matrix; `None` when no state is left.
    fn closed(&self) -> Option<&Matrix> {
        match &self.closure {
            Closure::Done => Some(&self.matrix),
            Closure::Empty => None,
            Closure::Pending(cell) => cell
                .get_or_init(|| {
                    let mut m = self.matrix.clone();
                    close(&mut m, &self.dims).then(|| Box::new(m))
                })
                .as_deref(),
        }
    }

    /// Makes the stored matrix the closed one.
    fn normalize(&mut self) {
        if let Closure::Pending(_) = &self.closure {
            match self.closed().cloned() {
                Some(m) => {
                    self.matrix = m;
                    self.closure = Closure::Done;
                }
                None => self.closure = Closure::Empty,
            }
        }
    }

    fn index(&self, d: Dim) -> Option<usize> {
        self.dims.binary_search(&d).ok()
    }

    /// The node of `sign · d`.
    fn node(&self, d: Dim, positive: bool) -> usize {
        // Callers only pass dimensions of this factor, as the trait demands.
        let k = self.index(d).expect("dimension belongs to the factor");
        2 * k + usize::from(!positive)
    }

    /// The bound of `V_j - V_i`.
    fn entry(&self, i: usize, j: usize) -> Option<End> {
        on!(self.closed()?, m => m.get(i, j).to_end())
    }

    /// The greatest value of `±d`.
    fn upper_unary(&self, d: Dim, positive: bool) -> Option<End> {
        let i = self.node(d, positive);
        let twice = self.entry(i ^ 1, i)?;
        Some(End { value: twice.value / Rat::from(2), strict: twice.strict })
    }

    /// The greatest value of `±d ± e` for different dimensions.
    fn upper_pair(&self, (d, p): (Dim, bool), (e, q): (Dim, bool)) -> Option<End> {
        self.entry(self.node(e, !q), self.node(d, p))
    }

    /// An upper bound of a linear expression: exact for one or two variables with coefficients of one
    /// size, else by covering the terms with unary and pairwise bounds.
    fn upper(&self, e: &LinExpr) -> Option<End> {
        let sum = |parts: Vec<Option<(End, Rat)>>| {
            let mut total = End::closed(e.constant_term().clone());
            for p in parts {
                let (end, k) = p?;
                total.value += end.value * k;
                total.strict |= end.strict;
            }
            Some(total)
        };
        let unary = |d: Dim, c: &Rat| Some((self.upper_unary(d, c.is_positive())?, c.abs()));
        let single = sum(e.terms().iter().map(|(d, c)| unary(*d, c)).collect());
        if e.terms().len() < 2 {
            return single;
        }
        let mut parts = Vec::new();
        let mut left: Vec<(Dim, Rat)> = e.terms().to_vec();
        while let Some((d, c)) = left.pop() {
            let Some((d2, c2)) = left.pop() else {
                parts.push(unary(d, &c));
                break;
            };
            let k = c.abs().min(c2.abs());
            parts.push(self.upper_pair((d, c.is_positive()), (d2, c2.is_positive())).map(|b| (b, k.clone())));
            for (d, c) in [(d, c), (d2, c2)] {
                let rest = c.abs() - &k;
                if rest.is_positive() {
                    left.push((d, if c.is_positive() { rest } else { -rest }));
                }
            }
        }
        match (single, sum(parts)) {
            (Some(a), Some(b)) => {
                Some(if b.value < a.value || (b.value == a.value && b.strict) { b } else { a })
            }
            (a, b) => a.or(b),
        }
    }

    /// Adds `V_j - V_i ≤ bound` to the closed matrix.
    fn add(&mut self, i: usize, j: usize, bound: &End) {
        let alive = on!(&mut self.matrix, m => m.add_closed(i, j, Entry::from_end(bound)));
        if !alive || !settle(&mut self.matrix, &self.dims) {
            self.closure = Closure::Empty;
        }
    }

    /// The matrix entry that `e ≤ 0` (or `< 0`) is, when it is octagonal.
    fn as_entry(&self, e: &LinExpr, strict: bool) -> Option<(usize, usize, End)> {
        let bound =
            |k: &Rat, scale: i64| End { value: -(e.constant_term() / &k.abs()) * Rat::from(scale), strict };
        match e.terms() {
            [(d, c)] => {
                let i = self.node(*d, c.is_positive());
                Some((i ^ 1, i, bound(c, 2)))
            }
            [(d, c), (d2, c2)] if c.abs() == c2.abs() => {
                Some((self.node(*d2, !c2.is_positive()), self.node(*d, c.is_positive()), bound(c, 1)))
            }
            _ => None,
        }
    }

    /// Adds `e ≤ 0` or `e < 0`.
    fn assume_le(&mut self, e: &LinExpr, strict: bool) {
        if let Some((i, j, end)) = self.as_entry(e, strict) {
            return self.add(i, j, &end);
        }
        // Octagonal consequences: all but one or two terms replaced by their least values.
        let terms = e.terms().to_vec();
        let mut derived: Vec<LinExpr> = Vec::new();
        let consequence = |kept: LinExpr| {
            let rest = e - &kept;
            let least = self.upper(&-&rest)?;
            Some((kept.add_constant(&-least.value), strict || least.strict))
        };
        let mut out = Vec::new();
        for (n, (d, c)) in terms.iter().enumerate() {
            derived.push(LinExpr::new([(*d, c.clone())], 0));
            // The pairs grow quadratically; past a handful of terms they hardly ever help.
            for (d2, c2) in terms[n + 1..].iter().take(8) {
                let k = c.abs().min(c2.abs());
                let with_sign = |c: &Rat| if c.is_positive() { k.clone() } else { -&k };
                derived.push(LinExpr::new([(*d, with_sign(c)), (*d2, with_sign(c2))], 0));
            }
        }
        out.extend(derived.into_iter().filter_map(consequence));
        for (e, strict) in out {
            let c = LinCons { expr: e, rel: if strict { Rel::Lt } else { Rel::Le } }.normalize();
            if let Some((i, j, end)) = self.as_entry(&c.expr, c.rel == Rel::Lt) {
                self.add(i, j, &end);
            }
            if matches!(self.closure, Closure::Empty) {
                return;
            }
        }
    }

    /// `d := e` where `e` is not of the form `±y + c`: all octagonal bounds of the new value.
    fn assign_by_bounds(&mut self, d: Dim, e: &LinExpr) {
        let mut bounds: Vec<(usize, usize, Option<End>)> = Vec::new();
        let (plus, minus) = (self.node(d, true), self.node(d, false));
        let twice = |end: Option<End>| -> Option<End> {
            let end = end?;
            Some(End { value: end.value * Rat::from(2), strict: end.strict })
        };
        bounds.push((minus, plus, twice(self.upper(e))));
        bounds.push((plus, minus, twice(self.upper(&-e))));
        for y in self.dims.iter().copied().filter(|y| *y != d) {
            let v = LinExpr::dim(y);
            let (py, my) = (self.node(y, true), self.node(y, false));
            bounds.push((py, plus, self.upper(&(e - &v))));
            bounds.push((my, plus, self.upper(&(e + &v))));
            bounds.push((py, minus, self.upper(&-&(e + &v))));
            bounds.push((my, minus, self.upper(&(&v - e))));
        }
        let k = plus / 2;
        on!(&mut self.matrix, m => {
            m.forget(k);
            for (i, j, end) in &bounds {
                if let Some(end) = end {
                    m.at(*i, *j).lower(Entry::from_end(end));
                }
            }
        });
        if !close(&mut self.matrix, &self.dims) {
            self.closure = Closure::Empty;
        }
    }
}

impl Factor for Octagon {
    fn top(dims: Vec<Dim>) -> Self {
        let matrix = top_matrix(&dims);
        Octagon { dims, matrix, closure: Closure::Done }
    }

    fn dims(&self) -> &[Dim] {
        &self.dims
    }

    fn is_empty(&self) -> bool {
        self.closed().is_none()
    }

    fn product(parts: &[&Self], _: &Limits) -> Result<Self, TooBig> {
        let mut dims: Vec<Dim> = parts.iter().flat_map(|p| p.dims.iter().copied()).collect();
        dims.sort_unstable();
        let mut matrix = top_matrix(&dims);
        for p in parts {
            let vars: Vec<usize> = p.dims.iter().map(|d| dims.partition_point(|x| x < d)).collect();
            match (&mut matrix, &p.matrix) {
                (IntM(m), IntM(x)) => m.embed(x, &vars),
                (RatM(m), RatM(x)) => m.embed(x, &vars),
                (RatM(m), IntM(x)) => m.embed(&x.convert(), &vars),
                (IntM(_), RatM(_)) => unreachable!("a rational dimension makes the product rational"),
            }
        }
        if parts.iter().all(|p| p.is_normal()) {
            // Between closed blocks only unary bounds combine, and those of integers are integers.
            on!(&mut matrix, m => m.strengthen());
            return Ok(Octagon { dims, matrix, closure: Closure::Done });
        }
        Ok(Octagon { dims, matrix, closure: Closure::Pending(OnceLock::new()) })
    }

    fn leq(&self, other: &Self) -> bool {
        match (self.closed(), other.closed()) {
            (None, _) => true,
            (_, None) => false,
            (Some(a), Some(b)) => on_both!(a, b, (x, y) => x.leq(y), wrap no),
        }
    }

    fn join(&self, other: &Self, _: &Limits) -> Result<Self, TooBig> {
        let (Some(a), Some(b)) = (self.closed(), other.closed()) else {
            return Ok(if self.is_empty() { other.clone() } else { self.clone() });
        };
        let matrix = on_both!(a, b, (x, y) => x.max(y), wrap yes);
        Ok(Octagon { dims: self.dims.clone(), matrix, closure: Closure::Done })
    }

    fn meet(&mut self, other: &Self, _: &Limits) -> Result<(), TooBig> {
        self.normalize();
        let (Some(a), Some(b)) = (self.closed(), other.closed()) else {
            self.closure = Closure::Empty;
            return Ok(());
        };
        let mut matrix = on_both!(a, b, (x, y) => x.min(y), wrap yes);
        let alive = close(&mut matrix, &self.dims);
        self.matrix = matrix;
        self.closure = if alive { Closure::Done } else { Closure::Empty };
        Ok(())
    }

    fn widen(&self, next: &Self, _: &Limits) -> Result<Self, TooBig> {
        let Some(b) = next.closed() else { return Ok(self.clone()) };
        let stable = on_both!(&self.matrix, b, (x, y) => x.stable(y), wrap yes);
        Ok(Octagon { dims: self.dims.clone(), matrix: stable, closure: Closure::Pending(OnceLock::new()) })
    }

    /// Only entries of the unclosed matrix are lowered. A threshold that is not octagonal is not kept.
    fn keep(&mut self, c: &LinCons, _: &Limits) -> Result<(), TooBig> {
        let sides = if c.rel == Rel::Eq { vec![c.expr.clone(), -&c.expr] } else { vec![c.expr.clone()] };
        for e in sides {
            if let Some((i, j, end)) = self.as_entry(&e, c.rel == Rel::Lt) {
                on!(&mut self.matrix, m => m.at(i, j).lower(Entry::from_end(&end)));
            }
        }
        self.closure = Closure::Pending(OnceLock::new());
        Ok(())
    }

    fn assume(&mut self, c: &LinCons, _: &Limits) -> Result<(), TooBig> {
        self.normalize();
        self.assume_le(&c.expr, c.rel == Rel::Lt);
        if c.rel == Rel::Eq && !matches!(self.closure, Closure::Empty) {
            self.assume_le(&-&c.expr, false);
        }
        Ok(())
    }

    fn assign(&mut self, d: Dim, e: &LinExpr, _: &Limits) -> Result<(), TooBig> {
        self.normalize();
        let Some(k) = self.index(d) else { return Ok(()) };
        let c = e.constant_term().clone();
        let unit = |r: &Rat| r.abs() == Rat::ONE;
        match e.terms() {
            [(y, a)] if unit(a) && *y == d && (c.is_int() || !d.is_int()) => {
                if a.is_negative() {
                    on!(&mut self.matrix, m => m.negate(k));
                }
                let (plus, minus) = (End::closed(c.clone()), End::closed(-c));
                on!(&mut self.matrix, m => m.shift(k, &Entry::from_end(&plus), &Entry::from_end(&minus)));
            }
            [(y, a)] if unit(a) && *y != d => {
                on!(&mut self.matrix, m => m.forget(k));
                let equal = LinCons { expr: &LinExpr::dim(d) - e, rel: Rel::Eq }.normalize();
                if equal.truth() == Some(false) {
                    self.closure = Closure::Empty;
                } else {
                    self.assume_le(&equal.expr, false);
                    self.assume_le(&-&equal.expr, false);
                }
            }
            _ => self.assign_by_bounds(d, e),
        }
        Ok(())
    }

    fn project(&mut self, remove: &[Dim], _: &Limits) -> Result<(), TooBig> {
        self.normalize();
        let keep: Vec<usize> = (0..self.dims.len()).filter(|i| !remove.contains(&self.dims[*i])).collect();
        *self = self.part(&keep);
        Ok(())
    }

    fn rename(&mut self, f: &dyn Fn(Dim) -> Dim) {
        let mut order: Vec<(Dim, usize)> = self.dims.iter().enumerate().map(|(i, d)| (f(*d), i)).collect();
        order.sort_unstable();
        let vars: Vec<usize> = order.iter().map(|o| o.1).collect();
        self.dims = order.iter().map(|o| o.0).collect();
        self.matrix = match &self.matrix {
            IntM(m) => IntM(m.select(&vars)),
            RatM(m) => RatM(m.select(&vars)),
        };
        if let Closure::Pending(cell) = &mut self.closure {
            *cell = OnceLock::new();
        }
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        let low = self.upper(&-e).map(|end| End { value: -end.value, strict: end.strict });
        Interval { lo: low, hi: self.upper(e) }
    }

    fn constraints(&self) -> Vec<LinCons> {
        let mut out = Vec::new();
        for d in &self.dims {
            let e = LinExpr::dim(*d);
            out.extend(self.bounds(&e).constraints_on(&e));
        }
        let Some(matrix) = self.closed() else { return vec![LinCons::contradiction()] };
        for b in 0..self.dims.len() {
            for a in 0..b {
                for positive in [false, true] {
                    // `x_b - x_a` or `x_b + x_a`, from both sides.
                    let (i, j) = (2 * a + usize::from(positive), 2 * b);
                    let relational = on!(matrix, m => m.is_relational(i, j) || m.is_relational(i ^ 1, j ^ 1));
                    if relational {
                        let sign = if positive { Rat::ONE } else { -Rat::ONE };
                        let e = LinExpr::new([(self.dims[a], sign), (self.dims[b], Rat::ONE)], 0);
                        let both = self.bounds(&e);
                        let (low, high) =
                            on!(matrix, m => (m.is_relational(i ^ 1, j ^ 1), m.is_relational(i, j)));
                        let shown = if both.as_point().is_some() {
                            both
                        } else {
                            Interval { lo: both.lo.filter(|_| low), hi: both.hi.filter(|_| high) }
                        };
                        out.extend(shown.constraints_on(&e));
                    }
                }
            }
        }
        out
    }

    fn split(&self) -> Option<Vec<Self>> {
        let matrix = self.closed()?;
        let n = self.dims.len();
        let mut group: Vec<usize> = (0..n).collect();
        for b in 0..n {
            for a in 0..b {
                let related = on!(matrix, m => (0..4).any(|s| m.is_relational(2 * b + s % 2, 2 * a + s / 2)));
                if related && group[a] != group[b] {
                    let (old, new) = (group[a].max(group[b]), group[a].min(group[b]));
                    group.iter_mut().filter(|g| **g == old).for_each(|g| *g = new);
                }
            }
        }
        let unbounded = |i: usize| on!(matrix, m => m.get(i, i ^ 1).is_infinite());
        let free = |k: usize| unbounded(2 * k) && unbounded(2 * k + 1);
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); n];
        (0..n).for_each(|k| parts[group[k]].push(k));
        parts.retain(|p| p.len() > 1 || (p.len() == 1 && !free(p[0])));
        if parts.len() == 1 && parts[0].len() == n {
            return None;
        }
        Some(parts.iter().map(|p| self.part(p)).collect())
    }

    fn is_normal(&self) -> bool {
        matches!(self.closure, Closure::Done)
    }
}

impl Octagon {
    /// The factor over some of the dimensions of a closed one. Integers that were among rationals get
    /// their own, tighter matrix.
    fn part(&self, vars: &[usize]) -> Octagon {
        let dims: Vec<Dim> = vars.iter().map(|i| self.dims[*i]).collect();
        let Some(matrix) = self.closed() else {
            let matrix = top_matrix(&dims);
            return Octagon { dims, matrix, closure: Closure::Empty };
        };
        let (matrix, alive) = match matrix {
            IntM(m) => (IntM(m.select(vars)), true),
            RatM(m) if dims.iter().all(|d| d.is_int()) => {
                let mut m: Dbm<i128> = m.select(vars).convert();
                let alive = m.close();
                (IntM(m), alive)
            }
            RatM(m) => (RatM(m.select(vars)), true),
        };
        Octagon { dims, matrix, closure: if alive { Closure::Done } else { Closure::Empty } }
    }
}

#[cfg(test)]
mod tests;
