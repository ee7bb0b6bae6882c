//! Affine relations modulo `2^w`: the KS domain (King & Søndergaard; extended to machine words
//! by Elder, Lim, Sharma, Andersen, Reps, "Abstract domains of affine relations", SAS 2011), as used
//! in section 4 of "A method for symbolic computation of abstract operations".
//!
//! An element is a set of relations `a·x + b ≡ 0 (mod 2^w)`: a module in Howell form, one column per
//! dimension and the constant last. Relations live on integers modulo `2^w`, so wrapping to a type of at
//! least `w` bits changes nothing. A relation between two vocabularies is an element over both;
//! [`crate::compose`] chains two of them.

use crate::dim::Dim;
use crate::expr::{BinOp, CmpOp, Node, NodeId, Tree};
use crate::howell::Module;
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::numeric::NumericDomain;
use palisade_num::{Int, Rat};
use std::fmt;
use std::sync::Arc;

/// The word size of the relations, in bits: 1 to 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordSize(u32);

impl WordSize {
    /// A word of `bits` bits.
    ///
    /// # Panics
    /// Unless `bits` is between 1 and 64.
    pub fn new(bits: u32) -> WordSize {
        assert!((1..=64).contains(&bits), "word size out of range");
        WordSize(bits)
    }

    /// The number of bits.
    pub fn bits(self) -> u32 {
        self.0
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Relations {
    /// Integer dimensions, ascending, one column each; the constant's column is last.
    dims: Vec<Dim>,
    module: Module,
}

/// A conjunction of affine relations modulo `2^w` between integer dimensions. Join, meet, projection
/// and affine transformers are the best ones. Inequalities, disequalities and rational dimensions are not
/// tracked.
#[derive(Clone)]
pub struct Affine {
    size: WordSize,
    /// `None` is bottom.
    relations: Option<Arc<Relations>>,
}

/// A value known as an affine expression modulo `2^bits`: coefficients and constant modulo `2^64`.
#[derive(Clone)]
struct AffineValue {
    terms: Vec<(Dim, u64)>,
    constant: u64,
    bits: u32,
}

impl AffineValue {
    fn unknown() -> AffineValue {
        AffineValue { terms: Vec::new(), constant: 0, bits: 0 }
    }

    fn constant(c: u64, bits: u32) -> AffineValue {
        AffineValue { terms: Vec::new(), constant: c, bits }
    }

    /// `self + k·other`.
    fn add(&self, other: &AffineValue, k: u64) -> AffineValue {
        let mut terms = self.terms.clone();
        for (d, c) in &other.terms {
            let c = c.wrapping_mul(k);
            match terms.binary_search_by_key(d, |t| t.0) {
                Ok(i) => terms[i].1 = terms[i].1.wrapping_add(c),
                Err(i) => terms.insert(i, (*d, c)),
            }
        }
        terms.retain(|t| t.1 != 0);
        let constant = self.constant.wrapping_add(other.constant.wrapping_mul(k));
        AffineValue { terms, constant, bits: self.bits.min(other.bits) }
    }

    /// `k·self`; a factor of two makes one more bit known.
    fn scale(&self, k: u64, width: u32) -> AffineValue {
        let zero = AffineValue::constant(0, width);
        let mut out = zero.add(self, k);
        out.bits = if k == 0 { width } else { (self.bits + k.trailing_zeros()).min(width) };
        out
    }

    /// The constant, when it is one and known to the full width.
    fn as_constant(&self, width: u32) -> Option<u64> {
        (self.terms.is_empty() && self.bits >= width).then_some(self.constant)
    }
}

/// The residue modulo `2^64`.
fn residue(v: &Int) -> u64 {
    // Below 2^64 by construction, so the conversion cannot fail.
    u64::try_from(v.mod_pow2(64).to_i128().unwrap_or(0)).unwrap_or(0)
}

impl Affine {
    /// The best element for a set of concrete states over the given dimensions: the smallest set
    /// of relations' solutions around them.
    pub fn from_states(size: WordSize, dims: &[Dim], states: &[Vec<Int>]) -> Affine {
        let mut out = Affine::bottom(&size);
        for s in states {
            let mut point = Affine::top(&size);
            for (d, v) in dims.iter().zip(s) {
                point.assume(&LinCons::eq(*d, LinExpr::constant(v.clone())));
            }
            out.join_with(&point);
        }
        out
    }

    /// The word size of the relations.
    pub fn word_size(&self) -> WordSize {
        self.size
    }

    fn set(&mut self, dims: Vec<Dim>, module: Module) {
        // A relation without variables that is not 0 = 0 has no solution.
        let contradiction = module.leading(dims.len()).is_some();
        self.relations = (!contradiction).then(|| Arc::new(Relations { dims, module }));
    }

    /// The relations over a superset of their dimensions.
    fn over(relations: &Relations, dims: &[Dim]) -> Module {
        if relations.dims == dims {
            return relations.module.clone();
        }
        let old = |d: &Dim| relations.dims.binary_search(d).ok();
        let from: Vec<Option<usize>> = dims.iter().map(old).chain([Some(relations.dims.len())]).collect();
        relations.module.arrange(&from)
    }

    fn union_dims(a: &[Dim], b: &[Dim]) -> Vec<Dim> {
        let mut dims = [a, b].concat();
        dims.sort_unstable();
        dims.dedup();
        dims
    }

    /// Drops dimensions that no relation mentions, which keeps equal elements equal.
    fn trimmed(mut self) -> Affine {
        if let Some(r) = &self.relations {
            let used: Vec<usize> =
                (0..r.dims.len()).filter(|c| r.module.rows().any(|row| row[*c] != 0)).collect();
            if used.len() < r.dims.len() {
                let dims = used.iter().map(|c| r.dims[*c]).collect();
                let from: Vec<Option<usize>> =
                    used.iter().copied().map(Some).chain([Some(r.dims.len())]).collect();
                let module = r.module.arrange(&from);
                self.set(dims, module);
            }
        }
        self
    }

    /// Adds the relation that a value is zero modulo what is known of it.
    fn assume_zero(&mut self, v: &AffineValue) {
        let Some(r) = self.relations.clone() else { return };
        if v.bits == 0 || v.terms.iter().any(|t| !t.0.is_int()) {
            return;
        }
        let dims = Self::union_dims(&r.dims, &v.terms.iter().map(|t| t.0).collect::<Vec<_>>());
        let lift = 1u64 << (self.size.0 - v.bits.min(self.size.0));
        let mut row = vec![0u64; dims.len() + 1];
        for (d, c) in &v.terms {
            row[dims.partition_point(|x| x < d)] = c.wrapping_mul(lift);
        }
        row[dims.len()] = v.constant.wrapping_mul(lift);
        let relation = Module::span(self.size.0, dims.len() + 1, [row]);
        let module = Self::over(&r, &dims).sum(&relation);
        self.set(dims, module);
        *self = self.clone().trimmed();
    }

    /// Adds the relation `Σ cᵢ·dᵢ + c ≡ 0` modulo `2^bits`, as far as the word size goes.
    pub(crate) fn assume_zero_sum(&mut self, terms: &[(Dim, i128)], constant: i128, bits: u32) {
        let part = |c: i128| c as u64; // modulo 2^64
        let terms = terms.iter().map(|(d, c)| (*d, part(*c))).collect();
        self.assume_zero(&AffineValue { terms, constant: part(constant), bits: bits.min(self.size.0) });
    }

    /// The dimensions with one residue modulo a power of two: residue and number of bits.
    pub(crate) fn residues(&self) -> Vec<(Dim, u64, u32)> {
        let Some(r) = &self.relations else { return Vec::new() };
        let of = |row: &Vec<u64>| {
            let lead = row.iter().position(|c| *c != 0).filter(|at| *at < r.dims.len())?;
            let alone = row[lead + 1..r.dims.len()].iter().all(|c| *c == 0);
            // 2^t·d + b = 0: the Howell form has multiples of 2^t for b.
            let t = row[lead].trailing_zeros();
            let bits = self.size.0 - t;
            let residue = (row[r.dims.len()] >> t).wrapping_neg() & (u64::MAX >> (64 - bits));
            alone.then_some((r.dims[lead], residue, bits))
        };
        r.module.rows().filter_map(of).collect()
    }

    /// `e·q` for the least positive integer `q` that makes it integral, and `q`.
    fn integral(e: &LinExpr) -> (LinExpr, Int) {
        let q = e.terms().iter().fold(e.constant_term().denom().clone(), |q, t| q.lcm(t.1.denom()));
        (e.scale(&Rat::from(&q)), q)
    }

    fn value_of(&self, e: &LinExpr) -> AffineValue {
        let part = |c: &Rat| residue(c.numer());
        AffineValue {
            terms: e.terms().iter().map(|(d, c)| (*d, part(c))).collect(),
            constant: part(e.constant_term()),
            bits: self.size.0,
        }
    }

    /// Gives `d` a value: a fresh dimension takes it, the old one goes.
    fn define(&mut self, d: Dim, factor: u64, v: &AffineValue) {
        let fresh = d.fresh();
        if v.bits > 0 && d.is_int() {
            let target = AffineValue { terms: vec![(fresh, factor)], constant: 0, bits: self.size.0 };
            self.assume_zero(&target.add(v, 1u64.wrapping_neg()));
        }
        self.rename(&[(fresh, d)]);
    }

    /// The affine value of every node.
    fn eval(&self, tree: &Tree) -> Vec<AffineValue> {
        let w = self.size.0;
        let mut vals: Vec<AffineValue> = Vec::with_capacity(tree.nodes().len());
        for n in tree.nodes() {
            let get = |i: &NodeId| &vals[i.index()];
            let minus = 1u64.wrapping_neg();
            let v = match n {
                Node::Const(c) => match c.to_int() {
                    Some(c) => AffineValue::constant(residue(c), w),
                    None => AffineValue::unknown(),
                },
                Node::Dim(d) if d.is_int() => AffineValue { terms: vec![(*d, 1)], constant: 0, bits: w },
                Node::Range(i, _) => match i.as_point().and_then(Rat::to_int) {
                    Some(c) => AffineValue::constant(residue(c), w),
                    None => AffineValue::unknown(),
                },
                Node::Neg(a) => get(a).scale(minus, w),
                Node::Not(a) => get(a).scale(minus, w).add(&AffineValue::constant(minus, w), 1),
                // The amount must be the very number: modulo 2^w it could as well be negative.
                Node::Bin(BinOp::Shl, a, b) => match tree.node(*b) {
                    Node::Const(k) => match k.to_int().and_then(Int::to_i64) {
                        Some(k @ 0..64) => get(a).scale(1 << k, w),
                        _ => AffineValue::unknown(),
                    },
                    _ => AffineValue::unknown(),
                },
                Node::Bin(op, a, b) => self.eval_bin(*op, get(a), get(b)),
                Node::Wrap(ty, a) => {
                    let a = get(a);
                    AffineValue { bits: a.bits.min(ty.width), ..a.clone() }
                }
                Node::Ite(_, a, b) => {
                    let (a, b) = (get(a), get(b));
                    // The two agree modulo the power of two that divides their difference.
                    let d = a.add(b, minus);
                    let low = d.terms.iter().map(|t| t.1).chain([d.constant]).filter(|c| *c != 0);
                    let agree = low.map(u64::trailing_zeros).min().unwrap_or(w);
                    AffineValue { bits: d.bits.min(agree), ..a.clone() }
                }
                Node::Dim(_) | Node::Cmp(..) | Node::All(..) | Node::Any(..) | Node::IsZero(_) => {
                    AffineValue::unknown()
                }
            };
            vals.push(v);
        }
        vals
    }

    fn eval_bin(&self, op: BinOp, a: &AffineValue, b: &AffineValue) -> AffineValue {
        let w = self.size.0;
        match op {
            BinOp::Add => a.add(b, 1),
            BinOp::Sub => a.add(b, 1u64.wrapping_neg()),
            BinOp::Mul => match (a.as_constant(w), b.as_constant(w)) {
                (_, Some(k)) => a.scale(k, w),
                (Some(k), _) => b.scale(k, w),
                _ => AffineValue::unknown(),
            },
            // Low bits under a mask of ones pass, above low zeros of an or-ed constant too.
            BinOp::And => match (a.as_constant(w), b.as_constant(w)) {
                (_, Some(k)) => AffineValue { bits: a.bits.min(k.trailing_ones()), ..a.clone() },
                (Some(k), _) => AffineValue { bits: b.bits.min(k.trailing_ones()), ..b.clone() },
                _ => AffineValue::unknown(),
            },
            BinOp::Or | BinOp::Xor => match (a.as_constant(w), b.as_constant(w)) {
                (_, Some(k)) => AffineValue { bits: a.bits.min(k.trailing_zeros()), ..a.clone() },
                (Some(k), _) => AffineValue { bits: b.bits.min(k.trailing_zeros()), ..b.clone() },
                _ => AffineValue::unknown(),
            },
            BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr => AffineValue::unknown(),
        }
    }
}

impl Lattice for Affine {
    fn is_bottom(&self) -> bool {
        self.relations.is_none()
    }

    fn leq(&self, other: &Self) -> bool {
        match (&self.relations, &other.relations) {
            (None, _) => true,
            (_, None) => false,
            (Some(a), Some(b)) => {
                Arc::ptr_eq(a, b) || {
                    let dims = Self::union_dims(&a.dims, &b.dims);
                    let (a, b) = (Self::over(a, &dims), Self::over(b, &dims));
                    b.rows().all(|r| a.contains(r))
                }
            }
        }
    }

    fn join_with(&mut self, other: &Self) -> bool {
        if other.leq(self) {
            return false;
        }
        match (self.relations.clone(), &other.relations) {
            (Some(a), Some(b)) => {
                let dims = Self::union_dims(&a.dims, &b.dims);
                let module = Self::over(&a, &dims).intersection(&Self::over(b, &dims));
                self.set(dims, module);
                *self = self.clone().trimmed();
            }
            _ => *self = other.clone(),
        }
        true
    }

    fn meet_with(&mut self, other: &Self) {
        match (self.relations.clone(), &other.relations) {
            (Some(a), Some(b)) => {
                let dims = Self::union_dims(&a.dims, &b.dims);
                let module = Self::over(&a, &dims).sum(&Self::over(b, &dims));
                self.set(dims, module);
                *self = self.clone().trimmed();
            }
            _ => self.relations = None,
        }
    }

    /// Chains have at most `w` steps per dimension and one, so the join widens.
    fn widen_with(&mut self, next: &Self) -> bool {
        self.join_with(next)
    }

    /// Descending chains are as short as ascending ones.
    fn narrow_with(&mut self, next: &Self) {
        *self = next.clone();
    }
}

impl NumericDomain for Affine {
    type Ctx = WordSize;

    fn top(size: &WordSize) -> Self {
        let relations = Relations { dims: Vec::new(), module: Module::zero(size.0, 1) };
        Affine { size: *size, relations: Some(Arc::new(relations)) }
    }

    fn bottom(size: &WordSize) -> Self {
        Affine { size: *size, relations: None }
    }

    fn ctx(&self) -> WordSize {
        self.size
    }

    fn support(&self) -> Vec<Dim> {
        self.relations.as_ref().map_or_else(Vec::new, |r| r.dims.clone())
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        if self.is_bottom() {
            return;
        }
        let (e, q) = Self::integral(e);
        self.define(d, residue(&q), &self.value_of(&e));
    }

    fn assume(&mut self, c: &LinCons) {
        let c = c.normalize();
        if c.truth() == Some(false) {
            self.relations = None;
            return;
        }
        let mut v = self.value_of(&Self::integral(&c.expr).0);
        match &c.rel {
            Rel::Eq => {}
            // The normal form has an integral expression.
            Rel::Mod(m) if c.expr.is_integral() => v.bits = v.bits.min(m.trailing_zeros().unwrap_or(0)),
            _ => return,
        }
        self.assume_zero(&v);
    }

    fn forget(&mut self, dims: &[Dim]) {
        let Some(r) = self.relations.clone() else { return };
        if !dims.iter().any(|d| r.dims.binary_search(d).is_ok()) {
            return;
        }
        let (mut left, mut module) = (r.dims.clone(), r.module.clone());
        for d in dims {
            if let Ok(c) = left.binary_search(d) {
                module = module.eliminate(c);
                left.remove(c);
            }
        }
        self.set(left, module);
        *self = self.clone().trimmed();
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        let lost: Vec<Dim> = map.iter().map(|m| m.1).filter(|to| map.iter().all(|m| m.0 != *to)).collect();
        self.forget(&lost);
        let Some(r) = self.relations.clone() else { return };
        let new = |d: Dim| map.iter().find(|m| m.0 == d).map_or(d, |m| m.1);
        let mut order: Vec<(Dim, usize)> = r.dims.iter().enumerate().map(|(c, d)| (new(*d), c)).collect();
        order.sort_unstable();
        let from: Vec<Option<usize>> = order.iter().map(|o| Some(o.1)).chain([Some(r.dims.len())]).collect();
        self.set(order.iter().map(|o| o.0).collect(), r.module.arrange(&from));
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        match (self.is_bottom(), e.is_constant()) {
            (true, _) => Interval::EMPTY,
            (_, true) => Interval::point(e.constant_term().clone()),
            _ => Interval::TOP,
        }
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        let Some(r) = &self.relations else { return Vec::new() };
        let m = Int::pow2(self.size.0);
        let signed = |c: u64| Rat::from(Int::from(c).wrap(self.size.0, true));
        let constraint = |row: &Vec<u64>| {
            let terms = r.dims.iter().zip(row).map(|(d, c)| (*d, signed(*c)));
            let expr = LinExpr::new(terms, signed(row[r.dims.len()]));
            LinCons { expr, rel: Rel::Mod(m.clone()) }
        };
        vec![r.module.rows().map(constraint).collect()]
    }

    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        if ty.width < self.size.0 && !self.is_bottom() {
            // Only the low bits stay what they were.
            let v = AffineValue { terms: vec![(d, 1)], constant: 0, bits: ty.width };
            self.define(d, 1, &v);
        }
    }

    fn assign_tree(&mut self, d: Dim, e: &Tree) {
        if self.is_bottom() {
            return;
        }
        let v = self.eval(e).pop().unwrap_or(AffineValue::constant(0, self.size.0));
        self.define(d, 1, &v);
    }

    fn assume_tree(&mut self, e: &Tree, truth: bool) {
        let Some(root) = e.root() else {
            return if truth {
                self.assume(&LinCons::contradiction())
            };
        };
        let vals = self.eval(e);
        let mut work = vec![(root, truth)];
        while let Some((id, truth)) = work.pop() {
            match (e.node(id), truth) {
                (Node::IsZero(a), _) => work.push((*a, !truth)),
                (Node::All(a, b), true) | (Node::Any(a, b), false) => work.extend([(*a, truth), (*b, truth)]),
                (Node::Cmp(CmpOp::Eq, a, b), true) | (Node::Cmp(CmpOp::Ne, a, b), false) => {
                    let difference = vals[a.index()].add(&vals[b.index()], 1u64.wrapping_neg());
                    self.assume_zero(&difference);
                }
                // Anything else that is false is zero; that something is not zero says nothing.
                (Node::Cmp(..) | Node::All(..) | Node::Any(..) | Node::Ite(..), _) | (_, true) => {}
                (_, false) => self.assume_zero(&vals[id.index()]),
            }
        }
    }
}

impl fmt::Debug for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Rng;
    use crate::relation::{compose, identity};

    mod narrow_words {
        use super::*;
        crate::laws::laws!(Affine, WordSize::new(3));
    }

    mod machine_words {
        use super::*;
        crate::laws::laws!(Affine, WordSize::new(64));
    }

    fn var(i: u32) -> Dim {
        Dim::int(i)
    }

    /// All states modulo 2^w over two dimensions that an element contains.
    fn states(a: &Affine, w: u32) -> Vec<(i64, i64)> {
        let all = (0..1i64 << w).flat_map(|x| (0..1i64 << w).map(move |y| (x, y)));
        all.filter(|(x, y)| a.contains(&|d| Rat::from(if d == var(0) { *x } else { *y }))).collect()
    }

    /// The affine hull modulo 2^w by closing under `x + y - z`, which spans every coset.
    fn affine_hull(points: &[(i64, i64)], w: u32) -> Vec<(i64, i64)> {
        let m = (1i64 << w) - 1;
        let mut all: std::collections::BTreeSet<(i64, i64)> = points.iter().copied().collect();
        loop {
            let list: Vec<(i64, i64)> = all.iter().copied().collect();
            for a in &list {
                for b in &list {
                    for c in &list {
                        all.insert(((a.0 + b.0 - c.0) & m, (a.1 + b.1 - c.1) & m));
                    }
                }
            }
            if all.len() == list.len() {
                return list;
            }
        }
    }

    #[test]
    fn alpha_is_the_affine_hull() {
        let mut rng = Rng::new(17);
        for round in 0..200 {
            let w = 1 + round % 3;
            let top = (1i64 << w) - 1;
            let points: Vec<(i64, i64)> =
                (0..1 + rng.below(4)).map(|_| (rng.range(0, top), rng.range(0, top))).collect();
            let values: Vec<Vec<Int>> = points.iter().map(|p| vec![Int::from(p.0), Int::from(p.1)]).collect();
            let a = Affine::from_states(WordSize::new(w), &[var(0), var(1)], &values);
            assert_eq!(states(&a, w), affine_hull(&points, w), "{a:?} of {points:?}");
            // Projection is exact.
            let mut p = a.clone();
            p.forget(&[var(1)]);
            let mut shadow: Vec<i64> = states(&a, w).iter().map(|s| s.0).collect();
            shadow.dedup();
            let mut got: Vec<i64> = states(&p, w).iter().map(|s| s.0).collect();
            got.dedup();
            assert_eq!(got, shadow);
        }
    }

    #[test]
    fn a_relation_survives_wrap_around() {
        // y = 3x + 1 in 32 bits stays true when both overflow.
        let (x, y) = (var(0), var(1));
        let mut a = Affine::top(&WordSize::new(32));
        let mut t = Tree::new();
        let (vx, three, one) = (t.dim(x), t.int(3), t.int(1));
        let product = t.bin(BinOp::Mul, vx, three);
        let sum = t.bin(BinOp::Add, product, one);
        t.wrap(MachineInt::unsigned(32), sum);
        a.assign_tree(y, &t);
        a.wrap(x, MachineInt::signed(32));
        assert_eq!(format!("{a:?}"), "x0 + 1431655765*x1 = 1431655765 mod 4294967296");
        a.assume(&LinCons::eq(x, -1));
        assert!(a.contains(&|d| Rat::from(if d == x { -1 } else { -2 })));
        assert!(!a.contains(&|d| Rat::from(if d == x { -1 } else { -3 })));
    }

    #[test]
    fn transformers_compose_like_functions() {
        // x' = 3x + 1 after x' = x + 2 is x' = 3x + 7.
        let (x, after) = (var(0), var(1));
        let step = |k: i64, c: i64| {
            let mut r = identity::<Affine>(&WordSize::new(8), &[(x, after)]);
            r.assign(after, &LinExpr::new([(x, Rat::from(k))], c));
            r
        };
        let both = compose(&step(1, 2), &step(3, 1), &[(x, after)]);
        assert!(both.equiv(&step(3, 7)), "{both:?}");
    }

    #[test]
    fn disequalities_are_not_expressible() {
        // The paper's example in section 4: x ≠ 0, x ≠ 1, x ≠ 2 one by one leave a 2-bit x unknown.
        let mut a = Affine::top(&WordSize::new(2));
        for c in 0..3 {
            a.assume(&LinCons::ne(var(0), c));
        }
        assert!(a.is_top());
    }
}
