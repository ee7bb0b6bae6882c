//! Congruences: every dimension lies in a residue class (Granger, "Static analysis of arithmetical
//! congruences", 1989), with rational moduli so that division by constants loses nothing.

use crate::dim::Dim;
use crate::expr::{BinOp, MAX_SHIFT, Node, Tree, eval_bin};
use crate::interval::Interval;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::pointwise::{Pointwise, Value};
use palisade_num::{Int, Rat};

/// Congruences per dimension. Join and meet are the best ones.
pub type Congruences = Pointwise<Congruence>;

/// A set of rationals: none, all, or `r + m·ℤ` (just `r` when `m` is zero).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Congruence {
    /// No number.
    Empty,
    /// Every rational.
    All,
    /// A residue class.
    Class {
        /// Not negative; zero for a single number.
        modulus: Rat,
        /// In `[0, modulus)` unless the modulus is zero.
        residue: Rat,
    },
}
use Congruence::{All, Class, Empty};

/// The greatest rational of which both are integer multiples.
fn gcd(a: &Rat, b: &Rat) -> Rat {
    let den = a.denom() * b.denom();
    Rat::new((a.numer() * b.denom()).gcd(&(b.numer() * a.denom())), den)
}

/// Is `a` an integer multiple of `m`?
fn multiple(a: &Rat, m: &Rat) -> bool {
    if m.is_zero() { a.is_zero() } else { (a / m).is_int() }
}

impl Congruence {
    /// `residue + modulus·ℤ`.
    pub fn class(modulus: impl Into<Rat>, residue: impl Into<Rat>) -> Congruence {
        let (modulus, residue) = (modulus.into().abs(), residue.into());
        if modulus.is_zero() {
            return Class { modulus, residue };
        }
        let turns = Rat::from((&residue / &modulus).floor());
        let residue = residue - turns * &modulus;
        Class { modulus, residue }
    }

    fn integers() -> Congruence {
        Congruence::class(1, 0)
    }

    /// The class of products `(r + mℤ)·(s + nℤ) ⊆ rs + gcd(rn, sm, mn)·ℤ`.
    fn mul(&self, other: &Congruence) -> Congruence {
        match (self, other) {
            (Empty, _) | (_, Empty) => Empty,
            (Class { modulus: m, residue: r }, Class { modulus: n, residue: s }) => {
                Congruence::class(gcd(&gcd(&(r * n), &(s * m)), &(m * n)), r * s)
            }
            _ => All,
        }
    }

    fn as_point(&self) -> Option<&Rat> {
        match self {
            Class { modulus, residue } if modulus.is_zero() => Some(residue),
            _ => None,
        }
    }

    /// Covers the results of the operator on integers of both classes.
    fn binary(op: BinOp, a: &Congruence, b: &Congruence) -> Congruence {
        match op {
            BinOp::Add => return a.add(b),
            BinOp::Sub => return a.add(&b.scale(&-Rat::ONE)),
            BinOp::Mul => return a.mul(b),
            _ => {}
        }
        if *a == Empty || *b == Empty {
            return Empty;
        }
        if let (Some(x), Some(y)) = (a.as_point(), b.as_point())
            && let Some(v) = eval_bin(op, x, y)
        {
            return Congruence::class(0, v);
        }
        let amount = |c: &Congruence| {
            let k = c.as_point()?.to_int()?.to_i64()?;
            u32::try_from(k).ok().filter(|k| *k <= MAX_SHIFT)
        };
        match op {
            BinOp::Shl => match amount(b) {
                Some(k) => a.scale(&Rat::from(Int::pow2(k))),
                None => Congruence::integers(),
            },
            BinOp::Shr => match amount(b) {
                Some(k) => a.divide_exactly(&Rat::from(Int::pow2(k))),
                None => Congruence::integers(),
            },
            BinOp::Div => match b.as_point() {
                Some(k) if !k.is_zero() => a.divide_exactly(k),
                _ => Congruence::integers(),
            },
            // a rem k differs from a by a multiple of k.
            BinOp::Rem => match b {
                Class { modulus, residue } => {
                    let k = gcd(modulus, residue);
                    a.add(&Congruence::class(k, 0))
                }
                _ => Congruence::integers(),
            },
            BinOp::And | BinOp::Or | BinOp::Xor => Congruence::bitwise(op, a, b),
            BinOp::Add | BinOp::Sub | BinOp::Mul => All,
        }
    }

    /// The quotient when the division never rounds, else any integer.
    fn divide_exactly(&self, k: &Rat) -> Congruence {
        let q = self.scale(&k.recip());
        if q.leq(&Congruence::integers()) { q } else { Congruence::integers() }
    }

    /// Bit operations know the low bits that both classes fix.
    fn bitwise(op: BinOp, a: &Congruence, b: &Congruence) -> Congruence {
        // The number of low bits known, and they.
        let low = |c: &Congruence| match c {
            Class { modulus, residue } if modulus.is_int() && residue.is_int() => {
                Some((modulus.numer().trailing_zeros(), residue.numer().clone()))
            }
            _ => None,
        };
        let (Some((m, r)), Some((n, s))) = (low(a), low(b)) else { return Congruence::integers() };
        // A zero bit of a known operand decides an and, whatever the other is.
        let fixed_by_mask = |mask: &Int, known: Option<u32>| match (op, known) {
            (BinOp::And, None) => mask.trailing_zeros().unwrap_or(0),
            _ => 0,
        };
        let both = m.unwrap_or(u32::MAX).min(n.unwrap_or(u32::MAX));
        let known = both.max(fixed_by_mask(&r, m)).max(fixed_by_mask(&s, n)).min(MAX_SHIFT);
        match eval_bin(op, &Rat::from(&r), &Rat::from(&s)) {
            Some(v) if known > 0 => Congruence::class(Rat::from(Int::pow2(known)), v),
            _ => Congruence::integers(),
        }
    }
}

impl Value for Congruence {
    fn top(d: Dim) -> Self {
        if d.is_int() { Congruence::integers() } else { All }
    }

    fn constant(v: &Rat) -> Self {
        Congruence::class(0, v.clone())
    }

    fn is_empty(&self) -> bool {
        *self == Empty
    }

    fn leq(&self, other: &Self) -> bool {
        match (self, other) {
            (Empty, _) | (_, All) => true,
            (Class { modulus: m, residue: r }, Class { modulus: n, residue: s }) => {
                multiple(m, n) && multiple(&(r - s), n)
            }
            _ => false,
        }
    }

    fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (Empty, c) | (c, Empty) => c.clone(),
            (Class { modulus: m, residue: r }, Class { modulus: n, residue: s }) => {
                Congruence::class(gcd(&gcd(m, n), &(r - s)), r.clone())
            }
            _ => All,
        }
    }

    fn meet(&self, other: &Self) -> Self {
        let (m, r, n, s) = match (self, other) {
            (Empty, _) | (_, Empty) => return Empty,
            (All, c) | (c, All) => return c.clone(),
            (Class { modulus: m, residue: r }, Class { modulus: n, residue: s }) => (m, r, n, s),
        };
        if m.is_zero() {
            return if other.contains(r) { self.clone() } else { Empty };
        }
        if n.is_zero() {
            return if self.contains(s) { other.clone() } else { Empty };
        }
        // r + m·i = s + n·j: solve m'·i ≡ (s - r)/g (mod n') after dividing by g = gcd(m, n).
        let g = gcd(m, n);
        let Some(diff) = ((s - r) / &g).to_int().cloned() else { return Empty };
        // Both moduli are integer multiples of g.
        let (mi, ni) = ((m / &g).floor(), (n / &g).floor());
        let (_, inverse, _) = mi.ext_gcd(&ni);
        let i = (diff * inverse).modulo(&ni);
        Congruence::class(m * Rat::from(ni), r + m * Rat::from(i))
    }

    /// The join, while it divides the numerator of the modulus, which ends at one. Between
    /// rationals it could also go on multiplying the denominator: then everything.
    fn widen(&self, next: &Self, _: &[Rat]) -> Self {
        let joined = self.join(next);
        match (self, &joined) {
            (Class { modulus: m, .. }, Class { modulus: n, .. })
                if !m.is_zero() && m.denom() != n.denom() =>
            {
                All
            }
            _ => joined,
        }
    }

    /// Descending chains are not finite: only the first refinement is taken.
    fn narrow(&self, next: &Self) -> Self {
        if *self == All || *self == Congruence::integers() { next.clone() } else { self.clone() }
    }

    fn add(&self, other: &Self) -> Self {
        match (self, other) {
            (Empty, _) | (_, Empty) => Empty,
            (Class { modulus: m, residue: r }, Class { modulus: n, residue: s }) => {
                Congruence::class(gcd(m, n), r + s)
            }
            _ => All,
        }
    }

    fn scale(&self, k: &Rat) -> Self {
        match self {
            Empty => Empty,
            _ if k.is_zero() => Congruence::class(0, 0),
            All => All,
            Class { modulus, residue } => Congruence::class(modulus * k, residue * k),
        }
    }

    fn refine(&self, _: Dim, k: &Rat, rest: &Self, rel: &Rel) -> Self {
        let modulus = match rel {
            Rel::Eq => Rat::ZERO,
            Rel::Mod(m) => Rat::from(m),
            Rel::Ne => {
                let excluded = rest.scale(&-k.recip());
                return match (self.as_point(), excluded.as_point()) {
                    (Some(a), Some(b)) if a == b => Empty,
                    _ => self.clone(),
                };
            }
            Rel::Le | Rel::Lt => return self.clone(),
        };
        // k·x ≡ -rest (mod modulus).
        let target = rest.scale(&-Rat::ONE).add(&Congruence::class(modulus, 0));
        self.meet(&target.scale(&k.recip()))
    }

    fn may_hold(&self, rel: &Rel) -> bool {
        match (self, rel) {
            (Empty, _) => false,
            (All, _) => true,
            (_, Rel::Eq) => self.contains(&Rat::ZERO),
            (_, Rel::Mod(m)) => self.meet(&Congruence::class(Rat::from(m), 0)) != Empty,
            _ => match (self.as_point(), rel) {
                (Some(v), Rel::Le) => !v.is_positive(),
                (Some(v), Rel::Lt) => v.is_negative(),
                (Some(v), Rel::Ne) => !v.is_zero(),
                _ => true,
            },
        }
    }

    fn restrict(&self, d: Dim) -> Self {
        if d.is_int() { self.meet(&Congruence::integers()) } else { self.clone() }
    }

    fn wrap(&self, ty: MachineInt) -> Self {
        let ints = self.meet(&Congruence::integers());
        match ints.as_point().and_then(Rat::to_int) {
            Some(v) => Congruence::class(0, Rat::from(ty.wrap(v))),
            None => ints.add(&Congruence::class(Rat::from(Int::pow2(ty.width)), 0)),
        }
    }

    fn to_interval(&self) -> Interval {
        match (self, self.as_point()) {
            (Empty, _) => Interval::EMPTY,
            (_, Some(v)) => Interval::point(v.clone()),
            _ => Interval::TOP,
        }
    }

    fn from_interval(i: &Interval) -> Self {
        match i.as_point() {
            Some(v) => Congruence::class(0, v.clone()),
            None if i.is_empty() => Empty,
            None => All,
        }
    }

    fn contains(&self, v: &Rat) -> bool {
        match self {
            Empty => false,
            All => true,
            Class { modulus, residue } => multiple(&(v - residue), modulus),
        }
    }

    /// Each step divides the modulus, by two at least. A single number can first get any modulus; that
    /// it does counts more than all steps after it.
    fn height(&self) -> u64 {
        match self {
            Empty => u64::MAX,
            All => 0,
            Class { modulus, .. } if modulus.is_zero() => 1 << 40,
            Class { modulus, .. } => 1 + u64::from(modulus.numer().bit_len()),
        }
    }

    fn constraints(&self, d: Dim) -> Vec<LinCons> {
        match self {
            Empty => vec![LinCons::contradiction()],
            All => Vec::new(),
            Class { modulus, residue } if modulus.is_zero() => {
                vec![LinCons::eq(d, LinExpr::constant(residue.clone()))]
            }
            Class { modulus, residue } => {
                // Scaled so that the modulus is an integer.
                let k = Rat::from(modulus.denom());
                let expr = LinExpr::new([(d, k.clone())], -(residue * &k));
                vec![LinCons { expr, rel: Rel::Mod(modulus.numer().clone()) }]
            }
        }
    }

    fn eval_tree(tree: &Tree, get: &dyn Fn(Dim) -> Self) -> Option<Self> {
        let mut vals: Vec<Congruence> = Vec::with_capacity(tree.nodes().len());
        for n in tree.nodes() {
            let v = match n {
                Node::Const(c) => Congruence::class(0, c.clone()),
                Node::Dim(d) => get(*d),
                Node::Range(i, integral) => {
                    let c = Congruence::from_interval(i);
                    if *integral { c.meet(&Congruence::integers()) } else { c }
                }
                Node::Neg(a) => vals[a.index()].scale(&-Rat::ONE),
                Node::Not(a) => vals[a.index()].scale(&-Rat::ONE).add(&Congruence::class(0, -1)),
                Node::Bin(op, a, b) => Congruence::binary(*op, &vals[a.index()], &vals[b.index()]),
                Node::Wrap(ty, a) => vals[a.index()].wrap(*ty),
                Node::Cmp(..) | Node::All(..) | Node::Any(..) | Node::IsZero(_) => Congruence::integers(),
                Node::Ite(_, a, b) => vals[a.index()].join(&vals[b.index()]),
            };
            vals.push(v);
        }
        vals.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lattice, NumericDomain};

    crate::laws::laws!(Congruences, ());

    fn all_classes() -> Vec<Congruence> {
        let mut out = vec![Empty, All];
        for m in 0..7 {
            for r in -3..7i64 {
                for den in 1..3 {
                    let by = |n: i64| Rat::new(Int::from(n), Int::from(den));
                    out.push(Congruence::class(by(m), by(r)));
                }
            }
        }
        out
    }

    #[test]
    fn meet_and_join_are_exact_on_small_classes() {
        let points: Vec<Rat> = (-90..90).map(|n| Rat::new(Int::from(n), Int::from(2))).collect();
        let members = |c: &Congruence| points.iter().map(|p| c.contains(p)).collect::<Vec<_>>();
        let all = all_classes();
        for a in &all {
            for b in &all {
                let (ma, mb) = (members(a), members(b));
                let meet: Vec<bool> = ma.iter().zip(&mb).map(|(x, y)| *x && *y).collect();
                assert_eq!(members(&a.meet(b)), meet, "{a:?} {b:?}");
                let j = a.join(b);
                assert!(a.leq(&j) && b.leq(&j));
                // No listed class lies between the two and their join.
                assert!(all.iter().all(|c| !(a.leq(c) && b.leq(c)) || j.leq(c)), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn bit_operations_cover_the_integers() {
        let ops = [BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Shl, BinOp::Shr, BinOp::Div, BinOp::Rem];
        let all: Vec<Congruence> =
            all_classes().into_iter().filter(|c| c.leq(&Congruence::integers())).collect();
        for a in &all {
            for b in &all {
                for op in ops {
                    let c = Congruence::binary(op, a, b);
                    for x in -9..9i64 {
                        for y in -5..5i64 {
                            let (x, y) = (Rat::from(x), Rat::from(y));
                            if a.contains(&x)
                                && b.contains(&y)
                                && let Some(v) = eval_bin(op, &x, &y)
                            {
                                assert!(c.contains(&v), "{a:?} {op:?} {b:?} = {c:?}: {x} {y}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn halving_a_rational_forever_is_widened() {
        let x = Dim::rat(0);
        let mut head = Congruences::top(&());
        head.assign(x, &LinExpr::constant(1));
        let mut steps = 0;
        loop {
            let mut body = head.clone();
            body.assign(x, &LinExpr::new([(x, Rat::new(Int::ONE, Int::from(2)))], 0));
            if !head.widen_with(&body) {
                break;
            }
            steps += 1;
            assert!(steps < 10, "no end: {head:?}");
        }
        assert!(head.is_top());
    }

    #[test]
    fn a_stride_survives_a_loop_and_a_mask() {
        let (x, y) = (Dim::int(0), Dim::int(1));
        let mut head = Congruences::top(&());
        head.assign(x, &LinExpr::constant(1));
        let mut body = head.clone();
        body.assign(x, &LinExpr::new([(x, Rat::ONE)], 4));
        head.widen_with(&body);
        let mut t = Tree::new();
        let (a, mask) = (t.dim(x), t.int(3));
        t.bin(BinOp::And, a, mask);
        head.assign_tree(y, &t);
        assert_eq!(format!("{head:?}"), "x0 = 1 mod 4 && x1 = 1 mod 4");
    }
}
