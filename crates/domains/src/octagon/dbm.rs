//! Difference-bound matrices for octagons (Miné, "The octagon abstract domain", 2006).
//!
//! Variable `k` has two nodes: `2k` stands for `+x`, `2k + 1` for `-x`. Entry `(i, j)` bounds
//! `V_j - V_i`. Since `(i, j)` and `(j̄, ī)` say the same, only half of the matrix is stored.

use crate::interval::End;
use palisade_num::{Int, Rat};
use std::fmt;

/// An upper bound, possibly infinite.
pub(super) trait Entry: Clone + PartialEq + fmt::Debug {
    /// No bound.
    fn infinity() -> Self;
    /// Zero.
    fn zero() -> Self;
    /// Is there no bound?
    fn is_infinite(&self) -> bool;
    /// Is it below zero (a contradiction on the diagonal)?
    fn is_negative(&self) -> bool;
    /// Is it the tighter bound?
    fn less(&self, other: &Self) -> bool;
    /// The bound of a sum.
    fn plus(&self, other: &Self) -> Self;
    /// Half the bound of twice something; the argument was tightened.
    fn half(&self) -> Self;
    /// A bound of `2x`, as tight as the sort of `x` allows.
    fn tighten(&self) -> Self;
    /// A bound that is at least the given one.
    fn from_end(end: &End) -> Self;
    /// The bound as an interval end.
    fn to_end(&self) -> Option<End>;

    /// Replaces the bound by a tighter one.
    #[inline]
    fn lower(&mut self, other: Self) {
        if other.less(self) {
            *self = other;
        }
    }
}

/// Bounds between integers. `i128::MAX` is infinite; so becomes what leaves `±2^120`, which
/// is sound and far beyond any machine integer.
impl Entry for i128 {
    fn infinity() -> i128 {
        i128::MAX
    }

    fn zero() -> i128 {
        0
    }

    #[inline]
    fn is_infinite(&self) -> bool {
        *self == i128::MAX
    }

    fn is_negative(&self) -> bool {
        *self < 0
    }

    #[inline]
    fn less(&self, other: &i128) -> bool {
        self < other
    }

    #[inline]
    fn plus(&self, other: &i128) -> i128 {
        const LIMIT: i128 = 1 << 120;
        if self.is_infinite() || other.is_infinite() {
            return i128::MAX;
        }
        let sum = self + other;
        if (-LIMIT..=LIMIT).contains(&sum) { sum } else { i128::MAX }
    }

    #[inline]
    fn half(&self) -> i128 {
        if self.is_infinite() { *self } else { self >> 1 }
    }

    #[inline]
    fn tighten(&self) -> i128 {
        if self.is_infinite() { *self } else { self & !1 }
    }

    fn from_end(end: &End) -> i128 {
        let f = end.value.floor();
        let f = if end.strict && end.value.is_int() { f - Int::ONE } else { f };
        match f.to_i128() {
            // One more factor of two is applied to unary bounds.
            Some(v) if v.unsigned_abs() < 1 << 119 => v,
            _ => i128::MAX,
        }
    }

    fn to_end(&self) -> Option<End> {
        (!self.is_infinite()).then(|| End::closed(*self))
    }
}

/// A bound between rationals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RatBound(pub Option<End>);

impl Entry for RatBound {
    fn infinity() -> RatBound {
        RatBound(None)
    }

    fn zero() -> RatBound {
        RatBound(Some(End::closed(Rat::ZERO)))
    }

    fn is_infinite(&self) -> bool {
        self.0.is_none()
    }

    fn is_negative(&self) -> bool {
        self.0.as_ref().is_some_and(|e| e.value.is_negative() || (e.value.is_zero() && e.strict))
    }

    fn less(&self, other: &RatBound) -> bool {
        match (&self.0, &other.0) {
            (None, _) => false,
            (_, None) => true,
            (Some(a), Some(b)) => a.value < b.value || (a.value == b.value && a.strict && !b.strict),
        }
    }

    fn plus(&self, other: &RatBound) -> RatBound {
        RatBound(match (&self.0, &other.0) {
            (Some(a), Some(b)) => Some(End { value: &a.value + &b.value, strict: a.strict || b.strict }),
            _ => None,
        })
    }

    fn half(&self) -> RatBound {
        let halve = |e: &End| End { value: &e.value / &Rat::from(2), strict: e.strict };
        RatBound(self.0.as_ref().map(halve))
    }

    fn tighten(&self) -> RatBound {
        self.clone()
    }

    fn from_end(end: &End) -> RatBound {
        RatBound(Some(end.clone()))
    }

    fn to_end(&self) -> Option<End> {
        self.0.clone()
    }
}

/// A coherent matrix of bounds between the nodes of `n` variables.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Dbm<E> {
    n: usize,
    m: Vec<E>,
}

/// Where `(i, j)` is stored, for `j ≤ i | 1`.
#[inline]
fn lower_half(i: usize, j: usize) -> usize {
    j + (i + 1) * (i + 1) / 2
}

#[inline]
fn pos(i: usize, j: usize) -> usize {
    if j <= (i | 1) { lower_half(i, j) } else { lower_half(j ^ 1, i ^ 1) }
}

impl<E: Entry> Dbm<E> {
    /// No constraint between `n` variables.
    pub fn top(n: usize) -> Self {
        let mut out = Dbm { n, m: vec![E::infinity(); 2 * n * (n + 1)] };
        for i in 0..2 * n {
            *out.at(i, i) = E::zero();
        }
        out
    }

    #[inline]
    pub fn get(&self, i: usize, j: usize) -> &E {
        &self.m[pos(i, j)]
    }

    #[inline]
    pub fn at(&mut self, i: usize, j: usize) -> &mut E {
        &mut self.m[pos(i, j)]
    }

    fn row(&self, i: usize) -> Vec<E> {
        (0..2 * self.n).map(|j| self.get(i, j).clone()).collect()
    }

    /// All stored entries as `(i, j)` pairs.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, &E)> {
        (0..2 * self.n).flat_map(move |i| (0..=(i | 1)).map(move |j| (i, j, &self.m[lower_half(i, j)])))
    }

    /// The matrix over the given variables, in that order.
    pub fn select(&self, vars: &[usize]) -> Self {
        let mut out = Dbm::top(vars.len());
        for i in 0..2 * vars.len() {
            for j in 0..=(i | 1) {
                out.m[lower_half(i, j)] = self.get(2 * vars[i / 2] + i % 2, 2 * vars[j / 2] + j % 2).clone();
            }
        }
        out
    }

    /// Copies a smaller matrix into this one, its variable `k` becoming `vars[k]`.
    pub fn embed(&mut self, part: &Dbm<E>, vars: &[usize]) {
        for (i, j, e) in part.entries() {
            *self.at(2 * vars[i / 2] + i % 2, 2 * vars[j / 2] + j % 2) = e.clone();
        }
    }

    /// The same bounds with other entries.
    pub fn convert<T: Entry>(&self) -> Dbm<T> {
        let m = self.m.iter().map(|e| e.to_end().map_or_else(T::infinity, |end| T::from_end(&end))).collect();
        Dbm { n: self.n, m }
    }

    /// Closes the matrix: shortest paths, then tightening, then strengthening. For rationals this is
    /// the strong closure; for integers the tight closure (Bagnara, Hill, Zaffanella, "An improved
    /// tight closure algorithm for integer octagonal constraints", VMCAI 2008). Returns whether
    /// any state is left.
    pub fn close(&mut self) -> bool {
        for k in 0..self.n {
            let (p, q) = (2 * k, 2 * k + 1);
            let (mut a, mut b) = (self.row(p), self.row(q));
            // Through the partner node first: `a` and `b` become the best rows using both nodes.
            let (pq, qp) = (a[q].clone(), b[p].clone());
            for j in 0..2 * self.n {
                let (via_q, via_p) = (pq.plus(&b[j]), qp.plus(&a[j]));
                a[j].lower(via_q);
                b[j].lower(via_p);
            }
            self.relax(&a, &b);
        }
        self.finish()
    }

    /// `m_ij := min(m_ij, m_ip + a_j, m_iq + b_j)`, where by coherence `m_ip = b_ī` and `m_iq = a_ī`.
    #[inline]
    fn relax(&mut self, a: &[E], b: &[E]) {
        for i in 0..2 * self.n {
            let (ip, iq) = (&b[i ^ 1], &a[i ^ 1]);
            let start = lower_half(i, 0);
            let row = &mut self.m[start..start + (i | 1) + 1];
            if !ip.is_infinite() {
                row.iter_mut().zip(a).for_each(|(e, x)| e.lower(ip.plus(x)));
            }
            if !iq.is_infinite() {
                row.iter_mut().zip(b).for_each(|(e, x)| e.lower(iq.plus(x)));
            }
        }
    }

    /// Adds `V_j - V_i ≤ c` to a closed matrix and closes it again in quadratic time (Chawdhary,
    /// Robbins, King, "Incrementally closing octagons", 2018). Returns whether any state is left.
    pub fn add_closed(&mut self, i: usize, j: usize, c: E) -> bool {
        if !c.less(self.get(i, j)) {
            return true;
        }
        // The new edge is i → j, its mirror image j̄ → ī.
        let (from_j, from_ib) = (self.row(j), self.row(i ^ 1));
        let c_jjb_c = c.plus(&from_j[j ^ 1]).plus(&c);
        let c_ibi_c = c.plus(&from_ib[i]).plus(&c);
        let path = |first: &[E], second: &[E], round: &E| -> Vec<E> {
            let both = first.iter().zip(second);
            both.map(|(x, y)| {
                let mut best = c.plus(x);
                best.lower(round.plus(y));
                best
            })
            .collect()
        };
        let from_i = path(&from_j, &from_ib, &c_jjb_c);
        let from_jb = path(&from_ib, &from_j, &c_ibi_c);
        for p in 0..2 * self.n {
            let (to_i, to_jb) = (&from_ib[p ^ 1], &from_j[p ^ 1]);
            let start = lower_half(p, 0);
            let row = &mut self.m[start..start + (p | 1) + 1];
            if !to_i.is_infinite() {
                row.iter_mut().zip(&from_i).for_each(|(e, x)| e.lower(to_i.plus(x)));
            }
            if !to_jb.is_infinite() {
                row.iter_mut().zip(&from_jb).for_each(|(e, x)| e.lower(to_jb.plus(x)));
            }
        }
        self.finish()
    }

    /// From shortest paths to the closure: consistency, tightening, strengthening.
    fn finish(&mut self) -> bool {
        if (0..2 * self.n).any(|i| self.get(i, i).is_negative()) {
            return false;
        }
        for i in 0..2 * self.n {
            let e = self.at(i, i ^ 1);
            *e = e.tighten();
        }
        for k in 0..self.n {
            if self.get(2 * k, 2 * k + 1).plus(self.get(2 * k + 1, 2 * k)).is_negative() {
                return false;
            }
        }
        self.strengthen();
        true
    }

    /// Makes every bound at most the sum of the unary ones it follows from.
    pub fn strengthen(&mut self) {
        let unary: Vec<E> = (0..2 * self.n).map(|i| self.get(i, i ^ 1).half()).collect();
        for i in 0..2 * self.n {
            if unary[i].is_infinite() {
                continue;
            }
            for j in 0..=(i | 1) {
                if j != i {
                    let sum = unary[i].plus(&unary[j ^ 1]);
                    self.m[lower_half(i, j)].lower(sum);
                }
            }
        }
    }

    /// Is entry `(i, j)` more than the sum of unary bounds it would follow from?
    pub fn is_relational(&self, i: usize, j: usize) -> bool {
        let e = self.get(i, j);
        i / 2 != j / 2 && !e.is_infinite() && {
            let sum = self.get(i, i ^ 1).half().plus(&self.get(j ^ 1, j).half());
            e.less(&sum)
        }
    }

    /// Removes every bound on variable `k`; in a closed matrix nothing else is lost.
    pub fn forget(&mut self, k: usize) {
        for v in [2 * k, 2 * k + 1] {
            for i in 0..2 * self.n {
                *self.at(v, i) = E::infinity();
            }
            *self.at(v, v) = E::zero();
        }
    }

    /// Every entry at most that of `other`?
    pub fn leq(&self, other: &Self) -> bool {
        self.m.iter().zip(&other.m).all(|(a, b)| !b.less(a))
    }

    fn zip(&self, other: &Self, f: impl Fn(&E, &E) -> E) -> Self {
        Dbm { n: self.n, m: self.m.iter().zip(&other.m).map(|(a, b)| f(a, b)).collect() }
    }

    /// The weaker bound of each pair. For closed matrices this is the join, and closed.
    pub fn max(&self, other: &Self) -> Self {
        self.zip(other, |a, b| if a.less(b) { b.clone() } else { a.clone() })
    }

    /// The tighter bound of each pair.
    pub fn min(&self, other: &Self) -> Self {
        self.zip(other, |a, b| if a.less(b) { a.clone() } else { b.clone() })
    }

    /// The bounds of `self` that `next` respects.
    pub fn stable(&self, next: &Self) -> Self {
        self.zip(next, |a, b| if a.less(b) { E::infinity() } else { a.clone() })
    }

    /// `x_k := x_k + c`, on a closed matrix.
    pub fn shift(&mut self, k: usize, c: &E, minus_c: &E) {
        let (p, q) = (2 * k, 2 * k + 1);
        for i in 0..2 * self.n {
            if i != p && i != q {
                // x - V_i grows by c, V_i - x shrinks by it; (q, ·) follows by coherence.
                let e = self.at(i, p);
                *e = e.plus(c);
                let e = self.at(p, i);
                *e = e.plus(minus_c);
            }
        }
        let e = self.at(q, p);
        *e = e.plus(c).plus(c);
        let e = self.at(p, q);
        *e = e.plus(minus_c).plus(minus_c);
    }

    /// `x_k := -x_k`.
    pub fn negate(&mut self, k: usize) {
        let (p, q) = (2 * k, 2 * k + 1);
        let swap = |i: usize| {
            if i == p {
                q
            } else if i == q {
                p
            } else {
                i
            }
        };
        let old = self.clone();
        for i in 0..2 * self.n {
            for j in [p, q] {
                *self.at(i, j) = old.get(swap(i), swap(j)).clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Rng;

    fn node(s: &[i128], i: usize) -> i128 {
        if i & 1 == 0 { s[i / 2] } else { -s[i / 2] }
    }

    /// All bounds of a small integer box that satisfy the matrix, by enumeration.
    fn models(m: &Dbm<i128>, r: i128) -> Vec<Vec<i128>> {
        let mut out: Vec<Vec<i128>> = vec![Vec::new()];
        for _ in 0..m.n {
            out = out.iter().flat_map(|s| (-r..=r).map(move |v| [s.as_slice(), &[v]].concat())).collect();
        }
        out.retain(|s| m.entries().all(|(i, j, e)| e.is_infinite() || node(s, j) - node(s, i) <= *e));
        out
    }

    fn random(rng: &mut Rng, n: usize, density: u64) -> Dbm<i128> {
        let mut m = Dbm::top(n);
        for k in 0..n {
            // Bounded, so that enumeration sees every model.
            *m.at(2 * k, 2 * k + 1) = 8;
            *m.at(2 * k + 1, 2 * k) = 8;
        }
        for _ in 0..density {
            let (i, j) = (rng.below(2 * n as u64) as usize, rng.below(2 * n as u64) as usize);
            if i != j {
                m.at(i, j).lower(i128::from(rng.range(-6, 9)));
            }
        }
        m
    }

    #[test]
    fn tight_closure_is_the_best_matrix() {
        let mut rng = Rng::new(3);
        let mut empty = 0;
        for round in 0..400 {
            let m = random(&mut rng, 2 + round % 2, 1 + round as u64 % 7);
            let states = models(&m, 4);
            let mut c = m.clone();
            let alive = c.close();
            assert_eq!(alive, !states.is_empty(), "{m:?}");
            if !alive {
                empty += 1;
                continue;
            }
            assert_eq!(models(&c, 4), states);
            for (i, j, e) in c.entries() {
                let best = states.iter().map(|s| node(s, j) - node(s, i)).max();
                assert_eq!(Some(*e), best, "entry ({i}, {j}) of {c:?} is not tight");
            }
        }
        assert!(empty > 10, "the generator makes contradictions too");
    }

    #[test]
    fn incremental_closure_equals_full_closure() {
        let mut rng = Rng::new(5);
        for round in 0..600 {
            let mut m = random(&mut rng, 3, round as u64 % 6);
            if !m.close() {
                continue;
            }
            let (i, j) = (rng.below(6) as usize, rng.below(6) as usize);
            let c = i128::from(rng.range(-8, 8));
            if i == j {
                continue;
            }
            let (mut full, mut quick) = (m.clone(), m.clone());
            full.at(i, j).lower(c);
            let (a, b) = (full.close(), quick.add_closed(i, j, c));
            assert_eq!(a, b);
            if a {
                assert_eq!(full, quick);
            }
            let (mut full, mut quick) = (m.convert::<RatBound>(), m.convert::<RatBound>());
            let c =
                RatBound(Some(End { value: Rat::new(Int::from(c), Int::from(2)), strict: round % 2 == 0 }));
            full.at(i, j).lower(c.clone());
            let (a, b) = (full.close(), quick.add_closed(i, j, c));
            assert_eq!(a, b);
            if a {
                assert_eq!(full, quick);
            }
        }
    }
}
