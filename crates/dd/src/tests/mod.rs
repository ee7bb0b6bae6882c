//! Tests against brute force, and the examples and figures of the BOXES paper.

mod bdd;
mod figures;
mod ldd;
mod lifetime;
mod merge;
mod theorem1;
mod widening;

use palisade_num::{Int, Rat};

use crate::{Cut, Interval, Kind, Ldd, Limits, Node, Var};

/// SplitMix64.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn range(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as usize) as i64
    }
}

pub(crate) fn rat(n: i64) -> Rat {
    Rat::from(Int::from(n))
}

pub(crate) fn ratio(n: i64, d: i64) -> Rat {
    Rat::new(Int::from(n), Int::from(d))
}

/// A small space of points with one representative for every cell that the cuts of the tests can
/// separate, so that sets of points and sets are the same thing.
pub(crate) struct Grid {
    pub(crate) vars: Vec<Var>,
    /// The representatives of each dimension.
    pub(crate) values: Vec<Vec<Rat>>,
    /// The cuts of each dimension.
    pub(crate) cuts: Vec<Vec<Cut>>,
    /// Every point as indices into `values`.
    points: Vec<Vec<usize>>,
    full: Model,
}

/// A set of grid points.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Model(pub(crate) Vec<u64>);

impl Grid {
    /// An integer with six values, a rational with seven cells, an integer with five values.
    pub(crate) fn new(ldd: &mut Ldd) -> Grid {
        let kinds = [Kind::Int, Kind::Real, Kind::Int];
        let vars = kinds.iter().map(|&k| ldd.new_var(k).unwrap()).collect();
        let ints = |n: i64| (0..n).map(rat).collect::<Vec<Rat>>();
        let int_cuts = |n: i64| (0..n - 1).map(|i| Cut::le(rat(i))).collect::<Vec<Cut>>();
        let halves = (-1..6).map(|i| ratio(i, 2)).collect();
        let real_cuts = (0..3).flat_map(|i| [Cut::lt(rat(i)), Cut::le(rat(i))]).collect();
        let values = vec![ints(6), halves, ints(5)];
        let mut points = vec![Vec::new()];
        for v in values.iter().rev() {
            let spread = |p: Vec<usize>| (0..v.len()).map(move |j| [vec![j], p.clone()].concat());
            points = points.into_iter().flat_map(spread).collect();
        }
        let cuts = vec![int_cuts(6), real_cuts, int_cuts(5)];
        let mut grid = Grid { vars, values, cuts, points, full: Model(Vec::new()) };
        grid.full = grid.set(|_| true);
        grid
    }

    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    pub(crate) fn point(&self, i: usize) -> &[usize] {
        &self.points[i]
    }

    pub(crate) fn index(&self, p: &[usize]) -> usize {
        let mut i = 0;
        for (d, values) in self.values.iter().enumerate().rev() {
            i = i * values.len() + p[d];
        }
        i
    }

    pub(crate) fn coordinates(&self, i: usize) -> Vec<Rat> {
        self.point(i).iter().enumerate().map(|(d, &j)| self.values[d][j].clone()).collect()
    }

    /// The set of points that satisfy a predicate on indices.
    pub(crate) fn set(&self, mut member: impl FnMut(usize) -> bool) -> Model {
        let mut bits = vec![0u64; self.len().div_ceil(64)];
        for i in 0..self.len() {
            if member(i) {
                bits[i / 64] |= 1 << (i % 64);
            }
        }
        Model(bits)
    }

    pub(crate) fn of(&self, ldd: &Ldd, f: Node) -> Model {
        self.set(|i| {
            let p = self.point(i);
            ldd.eval(f, |v| &self.values[v.0 as usize][p[v.0 as usize]])
        })
    }

    pub(crate) fn cut_model(&self, d: usize, cut: &Cut) -> Model {
        self.set(|i| cut.admits(&self.values[d][self.point(i)[d]]))
    }

    pub(crate) fn full(&self) -> &Model {
        &self.full
    }

    /// A random diagram with its set of points.
    pub(crate) fn random(&self, ldd: &mut Ldd, rng: &mut Rng, size: usize) -> (Node, Model) {
        if size == 0 {
            let d = rng.below(self.vars.len());
            let cut = self.cuts[d][rng.below(self.cuts[d].len())].clone();
            let model = self.cut_model(d, &cut);
            return (ldd.constraint(self.vars[d], cut).unwrap(), model);
        }
        let split = rng.below(size);
        let (f, m) = self.random(ldd, rng, split);
        let (g, n) = self.random(ldd, rng, size - 1 - split);
        match rng.below(5) {
            0 => (ldd.and(f, g).unwrap(), m.zip(&n, |a, b| a & b)),
            1 => (ldd.or(f, g).unwrap(), m.zip(&n, |a, b| a | b)),
            2 => (ldd.diff(f, g).unwrap(), m.zip(&n, |a, b| a & !b)),
            3 => (ldd.xor(f, g).unwrap(), m.zip(&n, |a, b| a ^ b)),
            _ => {
                let g = ldd.not(g).unwrap();
                let all = self.full();
                (ldd.or(f, g).unwrap(), m.zip(&all.zip(&n, |a, b| a & !b), |a, b| a | b))
            }
        }
    }
}

impl Model {
    pub(crate) fn has(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    pub(crate) fn zip(&self, other: &Model, f: impl Fn(u64, u64) -> u64) -> Model {
        Model(self.0.iter().zip(&other.0).map(|(&a, &b)| f(a, b)).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }
}

/// A manager with `n` variables of one kind.
pub(crate) fn manager(kind: Kind, n: usize) -> (Ldd, Vec<Var>) {
    let mut ldd = Ldd::new(Limits::default());
    let vars = (0..n).map(|_| ldd.new_var(kind).unwrap()).collect();
    (ldd, vars)
}

/// The union of products of intervals.
pub(crate) fn union(ldd: &mut Ldd, boxes: &[Vec<(Var, Interval)>]) -> Node {
    let mut f = Node::FALSE;
    for b in boxes {
        let b = ldd.product(b).unwrap();
        f = ldd.or(f, b).unwrap();
    }
    f
}
