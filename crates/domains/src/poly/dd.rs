//! The double description of polyhedral cones: Chernikova's algorithm with Le Verge's
//! saturation tests (Le Verge, "A note on Chernikova's algorithm", 1992).
//!
//! A cone is described twice. From outside: vectors `a` with `a·x = 0` (the linear part) or `a·x ≥ 0`
//! for all `x` in the cone. From inside: lines and rays that generate it. Each description is the dual
//! of the other, so one insertion procedure serves both directions: a constraint cuts the
//! generators exactly as a generator cuts the constraints.

use super::row::Row;
use crate::blocks::{Limits, TooBig};
use palisade_num::Int;

/// One of the two descriptions: a linear part (equalities or lines), linearly independent, and
/// directed vectors (inequalities or rays).
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub linear: Vec<Row>,
    pub rays: Vec<Row>,
}

impl Side {
    /// Are the coefficients short enough?
    pub fn check(&self, bits: u32) -> Result<(), TooBig> {
        let fits = self.linear.iter().chain(&self.rays).all(|r| r.fits(bits));
        if fits { Ok(()) } else { Err(TooBig) }
    }
}

/// A matrix of bits: which rays (rows) saturate which inequalities (columns).
#[derive(Clone, Debug)]
pub(super) struct BitMatrix {
    /// Words per row.
    words: usize,
    bits: Vec<u64>,
}

impl BitMatrix {
    pub fn new(columns: usize) -> BitMatrix {
        BitMatrix { words: columns.div_ceil(64).max(1), bits: Vec::new() }
    }

    pub fn row(&self, i: usize) -> &[u64] {
        &self.bits[i * self.words..(i + 1) * self.words]
    }

    fn rows(&self) -> usize {
        self.bits.len() / self.words
    }

    #[cfg(test)]
    pub fn get(&self, i: usize, j: usize) -> bool {
        self.row(i)[j / 64] >> (j % 64) & 1 == 1
    }

    pub fn set(&mut self, i: usize, j: usize) {
        self.bits[i * self.words + j / 64] |= 1 << (j % 64);
    }

    fn push(&mut self, row: &[u64]) {
        self.bits.extend_from_slice(row);
    }

    /// Adds an empty row.
    pub fn push_empty(&mut self) {
        self.bits.resize(self.bits.len() + self.words, 0);
    }

    /// Makes room for more columns.
    pub fn grow(&mut self, columns: usize) {
        let words = columns.div_ceil(64).max(1);
        if words > self.words {
            let mut wide = BitMatrix { words, bits: Vec::with_capacity(self.rows() * words) };
            for i in 0..self.rows() {
                wide.bits.extend_from_slice(self.row(i));
                wide.bits.resize((i + 1) * words, 0);
            }
            *self = wide;
        }
    }

    pub fn transpose(&self, columns: usize) -> BitMatrix {
        let mut out = BitMatrix::new(self.rows());
        for _ in 0..columns {
            out.push_empty();
        }
        for i in 0..self.rows() {
            for (w, word) in self.row(i).iter().enumerate() {
                let mut word = *word;
                while word != 0 {
                    out.set(64 * w + word.trailing_zeros() as usize, i);
                    word &= word - 1;
                }
            }
        }
        out
    }

    /// The rows for which `keep` holds.
    fn retain(&mut self, keep: &[bool]) {
        let mut out = Vec::with_capacity(self.bits.len());
        for (i, k) in keep.iter().enumerate() {
            if *k {
                out.extend_from_slice(self.row(i));
            }
        }
        self.bits = out;
    }
}

fn subset(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x & !y == 0)
}

/// Cuts a description by a vector of the other side: afterwards `side` describes the part of its
/// cone with `cut·x ≥ 0` (`= 0` for an equality). `sat` has a row per ray of `side`; column `col` is the
/// new vector's. `equalities` counts those of the other side so far (at least their rank).
pub(super) fn insert(
    side: &mut Side,
    sat: &mut BitMatrix,
    cut: &Row,
    equality: bool,
    col: usize,
    equalities: usize,
    limits: &Limits,
) -> Result<(), TooBig> {
    sat.grow(col + 1);
    let products: Vec<Int> = side.linear.iter().map(|l| l.dot(cut)).collect();
    if let Some(p) = products.iter().position(|s| !s.is_zero()) {
        // A line leaves the hyperplane: with it everything else can be moved into the hyperplane.
        let (mut line, mut s) = (side.linear.remove(p), products[p].clone());
        if s.is_negative() {
            (line, s) = (line.negated(), -s);
        }
        for (l, t) in side.linear.iter_mut().zip(products[..p].iter().chain(&products[p + 1..])) {
            if !t.is_zero() {
                *l = l.combine(&s, &line, &-t);
            }
        }
        for (i, r) in side.rays.iter_mut().enumerate() {
            let t = r.dot(cut);
            if !t.is_zero() {
                *r = r.combine(&s, &line, &-t);
            }
            sat.set(i, col);
        }
        if !equality {
            // What is left of the line is the ray into the allowed half. It saturates all before.
            side.rays.push(line);
            sat.push_empty();
            let last = side.rays.len() - 1;
            (0..col).for_each(|j| sat.set(last, j));
        }
        return side.check(limits.bits);
    }
    cut_rays(side, sat, cut, equality, col, equalities, limits)
}

/// Comparisons of rays between two looks at the budget: some milliseconds.
const LOOK: usize = 1 << 20;

/// The case where all lines lie in the hyperplane: rays inside stay, rays outside go, and each
/// adjacent pair across gives a new ray in the hyperplane.
fn cut_rays(
    side: &mut Side,
    sat: &mut BitMatrix,
    cut: &Row,
    equality: bool,
    col: usize,
    equalities: usize,
    limits: &Limits,
) -> Result<(), TooBig> {
    let products: Vec<Int> = side.rays.iter().map(|r| r.dot(cut)).collect();
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (i, s) in products.iter().enumerate() {
        match s.signum() {
            0 => sat.set(i, col),
            1 => inside.push(i),
            _ => outside.push(i),
        }
    }
    let keep: Vec<bool> = products.iter().map(|s| s.is_zero() || (s.is_positive() && !equality)).collect();
    if outside.is_empty() && (!equality || inside.is_empty()) {
        return Ok(());
    }
    let kept = keep.iter().filter(|k| **k).count();
    // Two rays span a face only if they share enough saturated vectors.
    let needed = cut.len().saturating_sub(side.linear.len() + equalities + 2) as u32;
    let mut born: Vec<Row> = Vec::new();
    let mut born_sat: Vec<u64> = Vec::new();
    let mut common = vec![0u64; sat.words];
    let mut work = 0;
    for i in &inside {
        for o in &outside {
            work += side.rays.len();
            if work >= LOOK {
                limits.look()?;
                work = 0;
            }
            let mut shared = 0;
            for ((c, x), y) in common.iter_mut().zip(sat.row(*i)).zip(sat.row(*o)) {
                *c = x & y;
                shared += c.count_ones();
            }
            if shared < needed {
                continue;
            }
            let adjacent = (0..side.rays.len()).all(|r| r == *i || r == *o || !subset(&common, sat.row(r)));
            if adjacent {
                born.push(side.rays[*i].combine(&-&products[*o], &side.rays[*o], &products[*i]));
                common[col / 64] |= 1 << (col % 64);
                born_sat.extend_from_slice(&common);
                let fits = born.last().is_none_or(|r| r.fits(limits.bits));
                if born.len() + kept > limits.rows || !fits {
                    return Err(TooBig);
                }
            }
        }
    }
    let mut at = keep.iter();
    // One flag per ray.
    side.rays.retain(|_| *at.next().unwrap_or(&false));
    sat.retain(&keep);
    side.rays.extend(born);
    sat.push(&born_sat);
    Ok(())
}

/// Gaussian elimination: makes the vectors independent, each with a leading component that the
/// others lack. Returns the leading places.
pub(super) fn eliminate(linear: &mut Vec<Row>) -> Vec<usize> {
    let mut done = 0;
    let mut pivots = Vec::new();
    let len = linear.first().map_or(0, Row::len);
    // The constant comes last, so that equalities are solved for variables.
    for place in (1..len).chain(0..len.min(1)) {
        let Some(p) = (done..linear.len()).find(|i| linear[*i].sign(place) != 0) else { continue };
        linear.swap(done, p);
        if linear[done].sign(place) < 0 {
            linear[done] = linear[done].negated();
        }
        let pivot = linear[done].clone();
        let k = pivot.get(place);
        for (i, row) in linear.iter_mut().enumerate() {
            if i != done && row.sign(place) != 0 {
                *row = row.combine(&k, &pivot, &-row.get(place));
            }
        }
        pivots.push(place);
        done += 1;
    }
    linear.truncate(done);
    pivots
}

/// Brings `row` to zero at the leading places of the eliminated vectors.
pub(super) fn reduce(row: &mut Row, linear: &[Row], pivots: &[usize]) {
    for (l, p) in linear.iter().zip(pivots) {
        if row.sign(*p) != 0 {
            // The pivots are positive, so the direction of the row is kept.
            *row = row.combine(&l.get(*p), l, &-row.get(*p));
        }
    }
}

/// Makes a description minimal, given `sat` with a row per ray of it and a column per ray of the
/// (minimal or not) other description: rays that saturate everything join the linear part, and of the
/// rest only those with a maximal saturated set stay.
pub(super) fn minimize(side: &mut Side, sat: &mut BitMatrix, columns: usize) {
    let full = |row: &[u64]| row.iter().map(|w| w.count_ones() as usize).sum::<usize>() == columns;
    let mut keep = vec![true; side.rays.len()];
    for (i, k) in keep.iter_mut().enumerate() {
        if full(sat.row(i)) {
            side.linear.push(side.rays[i].clone());
            *k = false;
        }
    }
    for i in 0..keep.len() {
        keep[i] = keep[i]
            && (0..keep.len()).all(|j| {
                // Of equal sets the first one stays; full ones are linear now.
                let dominated = j != i
                    && keep[j]
                    && subset(sat.row(i), sat.row(j))
                    && (j < i || sat.row(i) != sat.row(j));
                !dominated
            });
    }
    let mut at = keep.iter();
    side.rays.retain(|_| *at.next().unwrap_or(&false));
    sat.retain(&keep);
    let pivots = eliminate(&mut side.linear);
    for r in &mut side.rays {
        reduce(r, &side.linear, &pivots);
    }
}

/// The saturation matrix, from scratch: a row per ray of `a`, a column per ray of `b`.
pub(super) fn saturation(a: &Side, b: &Side) -> BitMatrix {
    let mut sat = BitMatrix::new(b.rays.len());
    for (i, r) in a.rays.iter().enumerate() {
        sat.push_empty();
        for (j, c) in b.rays.iter().enumerate() {
            if r.dot(c).is_zero() {
                sat.set(i, j);
            }
        }
    }
    sat
}

/// Both descriptions, minimal, and how they touch.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub outer: Side,
    pub inner: Side,
    /// A row per ray of `inner`, a column per ray of `outer`.
    pub sat: BitMatrix,
}

impl Pair {
    /// Cuts the inner description by vectors that join the outer one, then makes both minimal.
    pub fn cut<'a>(
        &mut self,
        vectors: impl IntoIterator<Item = (&'a Row, bool)>,
        limits: &Limits,
    ) -> Result<(), TooBig> {
        for (v, equality) in vectors {
            let (col, eqs) = (self.outer.rays.len(), self.outer.linear.len());
            if equality {
                // An equality has no column of its own: it is saturated by all.
                insert(&mut self.inner, &mut self.sat, v, true, col, eqs, limits)?;
                self.clear_column(col);
                self.outer.linear.push(v.clone());
            } else {
                insert(&mut self.inner, &mut self.sat, v, false, col, eqs, limits)?;
                self.outer.rays.push(v.clone());
            }
        }
        self.minimize_outer();
        self.outer.check(limits.bits)
    }

    fn clear_column(&mut self, col: usize) {
        for i in 0..self.inner.rays.len() {
            self.sat.bits[i * self.sat.words + col / 64] &= !(1 << (col % 64));
        }
    }

    fn minimize_outer(&mut self) {
        let before = self.outer.rays.len();
        let mut by_outer = self.sat.transpose(before);
        minimize(&mut self.outer, &mut by_outer, self.inner.rays.len());
        self.sat = by_outer.transpose(self.inner.rays.len());
    }

    /// The dual pair: constraints as generators and generators as constraints.
    pub fn swap(self) -> Pair {
        let columns = self.outer.rays.len();
        Pair { sat: self.sat.transpose(columns), outer: self.inner, inner: self.outer }
    }
}
