//! The law kit: one call checks any domain against the contracts of [`crate::Lattice`] and
//! [`NumericDomain`], on generated elements, with concrete states as the ground truth.
//!
//! Elements are built through the trait alone, so the kit needs nothing from a domain but its
//! context. States are enumerated on a small grid; where a transformer leads off the grid the image
//! of each grid state is computed and looked up.

use crate::dim::Dim;
use crate::expr::{BinOp, CmpOp, Node, NodeId, Tree};
use crate::interval::Interval;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::numeric::{NumericDomain, Thresholds};
use palisade_num::{Int, Rat};

/// A small deterministic generator (SplitMix64), so that failures repeat.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not zero.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next_u64() % n
    }

    /// A number in `lo..=hi`.
    pub fn range(&mut self, lo: i64, hi: i64) -> i64 {
        lo + self.below((hi - lo + 1) as u64) as i64
    }

    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

/// How thoroughly to check.
#[derive(Clone, Debug)]
pub struct LawConfig {
    /// Generated elements (each takes part in every law).
    pub elements: usize,
    /// Integer dimensions.
    pub ints: u32,
    /// Rational dimensions.
    pub rats: u32,
    /// The grid is `-radius..=radius` (and halves, for rationals).
    pub radius: i64,
    /// A widening chain must stabilise within this many growing steps.
    pub chain: usize,
    /// The seed of everything.
    pub seed: u64,
}

impl LawConfig {
    /// Three integer dimensions.
    pub fn ints() -> LawConfig {
        LawConfig { elements: 24, ints: 3, rats: 0, radius: 3, chain: 200, seed: 1 }
    }

    /// One integer and one rational dimension.
    pub fn mixed() -> LawConfig {
        LawConfig { elements: 24, ints: 1, rats: 1, radius: 3, chain: 200, seed: 2 }
    }
}

/// Instantiates the law kit as tests: `laws!(Domain, context)`.
#[macro_export]
#[doc(hidden)]
macro_rules! __laws {
    ($domain:ty, $ctx:expr) => {
        #[test]
        fn laws_over_integers() {
            $crate::laws::check::<$domain>(&$ctx, &$crate::laws::LawConfig::ints());
        }

        #[test]
        fn laws_over_integers_and_rationals() {
            $crate::laws::check::<$domain>(&$ctx, &$crate::laws::LawConfig::mixed());
        }
    };
}
pub use crate::__laws as laws;

/// A concrete state over the kit's dimensions; other dimensions are zero.
type State = Vec<(Dim, Rat)>;

fn lookup(s: &State, d: Dim) -> Rat {
    s.iter().find(|e| e.0 == d).map_or(Rat::ZERO, |e| e.1.clone())
}

fn with(s: &State, d: Dim, v: Rat) -> State {
    let mut t: State = s.iter().filter(|e| e.0 != d).cloned().collect();
    t.push((d, v));
    t
}

fn has<D: NumericDomain>(a: &D, s: &State) -> bool {
    a.contains(&|d| lookup(s, d))
}

/// One run of the kit.
struct Kit<'a, D: NumericDomain> {
    ctx: &'a D::Ctx,
    cfg: &'a LawConfig,
    rng: Rng,
    dims: Vec<Dim>,
    grid: Vec<State>,
}

/// Checks every law.
///
/// # Panics
/// When a law does not hold, with the elements that show it.
pub fn check<D: NumericDomain>(ctx: &D::Ctx, cfg: &LawConfig) {
    let dims: Vec<Dim> = (0..cfg.ints).map(Dim::int).chain((0..cfg.rats).map(Dim::rat)).collect();
    let mut grid: Vec<State> = vec![Vec::new()];
    for d in &dims {
        let per = if d.is_int() { 1 } else { 2 };
        let values: Vec<Rat> =
            (-cfg.radius * per..=cfg.radius * per).map(|n| Rat::new(Int::from(n), Int::from(per))).collect();
        grid = grid.iter().flat_map(|s| values.iter().map(|v| with(s, *d, v.clone()))).collect();
    }
    let mut kit: Kit<'_, D> = Kit { ctx, cfg, rng: Rng::new(cfg.seed), dims, grid };
    let mut pool = vec![D::top(ctx), D::bottom(ctx)];
    while pool.len() < cfg.elements {
        pool.push(kit.element());
    }
    let gammas: Vec<Vec<bool>> = pool.iter().map(|a| kit.gamma(a)).collect();
    kit.extremes(&pool[0], &pool[1]);
    for i in 0..pool.len() {
        kit.unary(&pool[i], &gammas[i]);
        for j in 0..pool.len() {
            kit.binary((&pool[i], &gammas[i]), (&pool[j], &gammas[j]));
        }
        let (j, k) = (kit.rng.below(pool.len() as u64) as usize, kit.rng.below(pool.len() as u64) as usize);
        let (a, b, c) = (&pool[i], &pool[j], &pool[k]);
        let (ab, abc) = (a.join(b), a.join(b).join(c));
        for (x, y, z) in [(a, b, c), (a, &ab, &abc)] {
            assert!(!(x.leq(y) && y.leq(z)) || x.leq(z), "order is not transitive: {x:?} {y:?} {z:?}");
        }
    }
    for _ in 0..4 {
        kit.chains();
    }
}

impl<D: NumericDomain> Kit<'_, D> {
    fn gamma(&self, a: &D) -> Vec<bool> {
        self.grid.iter().map(|s| has(a, s)).collect()
    }

    fn value(&mut self, d: Dim) -> Rat {
        let r = self.cfg.radius;
        let n = self.rng.range(-r, r);
        let den = if d.is_int() { 1 } else { self.rng.range(1, 2) };
        Rat::new(Int::from(n), Int::from(den))
    }

    fn dim(&mut self) -> Dim {
        *self.rng.pick(&self.dims)
    }

    fn linear(&mut self) -> LinExpr {
        let terms = self.rng.range(0, self.dims.len() as i64);
        let mut e = LinExpr::constant(self.rng.range(-3, 3));
        for _ in 0..terms {
            let d = self.dim();
            let k = match self.rng.below(8) {
                0 => Rat::new(Int::from(self.rng.range(-3, 3)), Int::from(2)),
                1 => Rat::from(self.rng.range(-3, 3)),
                _ => Rat::from(*self.rng.pick(&[-1i64, 1])),
            };
            e = e.add_scaled(&LinExpr::dim(d), &k);
        }
        e
    }

    fn constraint(&mut self) -> LinCons {
        let rel = match self.rng.below(12) {
            0..5 => Rel::Le,
            5..7 => Rel::Lt,
            7..9 => Rel::Eq,
            9..11 => Rel::Ne,
            _ => Rel::Mod(Int::from(self.rng.range(1, 4))),
        };
        LinCons { expr: self.linear(), rel }
    }

    fn interval(&mut self) -> Interval {
        let (a, b) = (self.rng.range(-3, 3), self.rng.range(-3, 3));
        let mut i = Interval::closed(a.min(b), a.max(b));
        match self.rng.below(6) {
            0 => i.lo = None,
            1 => i.hi = None,
            2 if a != b => i.lo.iter_mut().for_each(|e| e.strict = true),
            _ => {}
        }
        i
    }

    fn machine(&mut self) -> MachineInt {
        MachineInt { width: self.rng.range(1, 4) as u32, signed: self.rng.below(2) == 0 }
    }

    fn tree(&mut self) -> Tree {
        let mut t = Tree::new();
        let mut ids: Vec<NodeId> = Vec::new();
        for _ in 0..2 + self.rng.below(2) {
            let d = Dim::int(self.rng.below(u64::from(self.cfg.ints)) as u32);
            let c = self.rng.range(-4, 4);
            ids.push(t.dim(d));
            ids.push(t.int(c));
        }
        for _ in 0..1 + self.rng.below(4) {
            let mut any = || *self.rng.pick(&ids);
            let (a, b, c) = (any(), any(), any());
            let ops = [
                BinOp::Add,
                BinOp::Sub,
                BinOp::Mul,
                BinOp::Div,
                BinOp::Rem,
                BinOp::And,
                BinOp::Or,
                BinOp::Xor,
                BinOp::Shl,
                BinOp::Shr,
            ];
            let n = match self.rng.below(20) {
                0 => Node::Neg(a),
                1 => Node::Not(a),
                2..4 => Node::Cmp(*self.rng.pick(&[CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le]), a, b),
                4 => Node::All(a, b),
                5 => Node::Any(a, b),
                6 => Node::IsZero(a),
                7..9 => Node::Ite(a, b, c),
                9..12 => Node::Wrap(self.machine(), a),
                _ => Node::Bin(*self.rng.pick(&ops), a, b),
            };
            ids.push(t.push(n));
        }
        t
    }

    /// A random element, built through the trait.
    fn element(&mut self) -> D {
        let mut a = D::top(self.ctx);
        match self.rng.below(7) {
            // A few points.
            0 | 1 => {
                a = D::bottom(self.ctx);
                for _ in 0..1 + self.rng.below(4) {
                    let mut p = D::top(self.ctx);
                    for d in self.dims.clone() {
                        let v = self.value(d);
                        p.assign(d, &LinExpr::constant(v));
                    }
                    a.join_with(&p);
                }
            }
            // A box, partly.
            2 => {
                for d in self.dims.clone() {
                    if self.rng.below(4) > 0 {
                        let i = self.interval();
                        a.assign_interval(d, &i);
                    }
                }
            }
            3 => {
                let (x, y) = (self.element(), self.element());
                a = x.join(&y);
            }
            4 => {
                // Widened elements may have a representation of their own.
                a = self.element();
                let y = self.element();
                a.widen_with(&y);
            }
            _ => {
                for _ in 0..self.rng.below(4) {
                    let c = self.constraint();
                    a.assume(&c);
                }
                for _ in 0..self.rng.below(3) {
                    let (d, e) = (self.dim(), self.linear());
                    a.assign(d, &e);
                }
            }
        }
        a
    }

    fn extremes(&self, top: &D, bottom: &D) {
        assert!(bottom.is_bottom() && !top.is_bottom(), "bottom is bottom, top is not");
        assert!(top.is_top() && !bottom.is_top(), "top is top, bottom is not");
        assert!(self.grid.iter().all(|s| has(top, s) && !has(bottom, s)), "top has all states, bottom none");
        assert!(bottom.to_constraints().is_empty() && bottom.bounds(&LinExpr::constant(0)).is_empty());
    }

    fn binary(&mut self, (a, ga): (&D, &[bool]), (b, gb): (&D, &[bool])) {
        let below = a.leq(b);
        if below {
            let out = ga.iter().zip(gb).position(|(x, y)| *x && !*y);
            assert!(out.is_none(), "{a:?} ⊑ {b:?}, but not at {:?}", out.map(|i| &self.grid[i]));
        }
        let mut j = a.clone();
        let grew = j.join_with(b);
        assert!(a.leq(&j) && b.leq(&j), "join is no upper bound: {a:?} ⊔ {b:?} = {j:?}");
        assert!(!below || j.leq(b), "a ⊑ b, but a ⊔ b ⋢ b: {a:?} {b:?} {j:?}");
        assert_eq!(grew, !j.leq(a), "join misreports growth: {a:?} ⊔ {b:?} = {j:?}");

        let m = a.meet(b);
        assert!(m.leq(a), "meet is not below its left operand: {a:?} ⊓ {b:?} = {m:?}");
        for (i, s) in self.grid.iter().enumerate() {
            assert!(!(ga[i] && gb[i]) || has(&m, s), "meet loses {s:?}: {a:?} ⊓ {b:?} = {m:?}");
            assert!(!(ga[i] || gb[i]) || has(&j, s), "join loses {s:?}: {a:?} ⊔ {b:?} = {j:?}");
        }
        assert!(!below || m.equiv(a), "a ⊑ b, but a ⊓ b is not a: {a:?} {b:?} {m:?}");

        let mut w = a.clone();
        let grew = w.widen_with(b);
        assert!(a.leq(&w) && b.leq(&w), "widening is no upper bound: {a:?} ∇ {b:?} = {w:?}");
        assert_eq!(grew, !w.leq(a), "widening misreports growth: {a:?} ∇ {b:?} = {w:?}");
        let th = Thresholds::new((-4..=4).map(Rat::from), [self.constraint(), self.constraint()]);
        let mut u = a.clone();
        u.widen_with_thresholds(b, &th);
        assert!(a.leq(&u) && b.leq(&u), "threshold widening is no upper bound: {a:?} ∇ {b:?} = {u:?}");

        let mut n = j.clone();
        n.narrow_with(a);
        assert!(a.leq(&n) && n.leq(&j), "narrowing leaves its interval: {j:?} Δ {a:?} = {n:?}");
    }

    /// Soundness of everything that takes one element.
    fn unary(&mut self, a: &D, ga: &[bool]) {
        assert!(a.leq(a) && a.equiv(&a.clone()), "order is not reflexive on {a:?}");
        if a.is_bottom() {
            assert!(ga.iter().all(|x| !x), "bottom element contains a state: {a:?}");
        }
        let inside: Vec<State> =
            self.grid.iter().zip(ga).filter(|(_, x)| **x).map(|(s, _)| s.clone()).collect();
        let dnf = a.to_constraints();
        for s in &inside {
            let holds = dnf.iter().any(|conj| conj.iter().all(|c| c.holds(&|d| lookup(s, d))));
            assert!(holds, "constraints of {a:?} exclude {s:?}");
        }
        let support = a.support();
        for s in &inside {
            for d in self.dims.iter().filter(|d| !support.contains(d)) {
                assert!(has(a, &with(s, *d, Rat::from(17))), "{a:?} constrains {d} outside its support");
            }
        }
        for _ in 0..3 {
            self.assignments(a, &inside);
            self.assumptions(a, &inside);
            self.structure(a, &inside);
            self.trees(a, &inside);
        }
    }

    fn assignments(&mut self, a: &D, inside: &[State]) {
        let (d, e) = (self.dim(), self.linear());
        let mut r = a.clone();
        r.assign(d, &e);
        let range = a.bounds(&e);
        assert!(!a.is_bottom() || (r.is_bottom() && range.is_empty()), "bottom has no successors");
        for s in inside {
            let v = e.eval(&|d| lookup(s, d));
            assert!(range.contains(&v), "bounds {range} of {e} over {a:?} exclude {v}");
            if v.is_int() || !d.is_int() {
                assert!(has(&r, &with(s, d, v)), "{d} := {e} on {a:?} gives {r:?}, losing {s:?}");
            }
        }

        let all: Vec<(Dim, LinExpr)> = self.dims.clone().into_iter().map(|d| (d, self.linear())).collect();
        let all = &all[..1 + self.rng.below(all.len() as u64) as usize];
        let mut r = a.clone();
        r.assign_parallel(all);
        for s in inside {
            let vals: Vec<Rat> = all.iter().map(|(_, e)| e.eval(&|d| lookup(s, d))).collect();
            if all.iter().zip(&vals).any(|((d, _), v)| d.is_int() && !v.is_int()) {
                continue;
            }
            let t = all.iter().zip(vals).fold(s.clone(), |t, ((d, _), v)| with(&t, *d, v));
            assert!(has(&r, &t), "parallel {all:?} on {a:?} gives {r:?}, losing {s:?}");
        }

        let (d, i) = (self.dim(), self.interval());
        let mut r = a.clone();
        r.assign_interval(d, &i);
        for s in inside {
            for v in -4..=4 {
                if i.contains(&Rat::from(v)) {
                    assert!(has(&r, &with(s, d, Rat::from(v))), "{d} := {i} on {a:?} gives {r:?}");
                }
            }
        }

        let (d, ty) = (Dim::int(self.rng.below(u64::from(self.cfg.ints)) as u32), self.machine());
        let mut r = a.clone();
        r.wrap(d, ty);
        for s in inside {
            // The grid is small, so the value is an integer.
            let v = lookup(s, d).floor();
            assert!(
                has(&r, &with(s, d, Rat::from(ty.wrap(&v)))),
                "wrap {d} to {ty} on {a:?} gives {r:?}, losing {s:?}"
            );
        }
        let bounds = r.bounds_of(d);
        assert!(bounds.is_top() || bounds.leq(&ty.range()), "wrap {d} to {ty} on {a:?} leaves {bounds}");
    }

    fn assumptions(&mut self, a: &D, inside: &[State]) {
        let c = self.constraint();
        let mut r = a.clone();
        r.assume(&c);
        assert!(r.leq(a), "assuming {c} does not shrink {a:?}: {r:?}");
        for s in inside {
            if c.holds(&|d| lookup(s, d)) {
                assert!(has(&r, s), "assuming {c} on {a:?} gives {r:?}, losing {s:?}");
            } else {
                assert!(!a.entails(&c), "{a:?} does not entail {c} at {s:?}");
            }
        }
    }

    fn structure(&mut self, a: &D, inside: &[State]) {
        let d = self.dim();
        let mut r = a.clone();
        r.forget(&[d]);
        assert!(a.leq(&r), "forgetting {d} does not grow {a:?}: {r:?}");
        for s in inside {
            for v in -4..=4 {
                assert!(has(&r, &with(s, d, Rat::from(v))), "forgetting {d} in {a:?} keeps it in {r:?}");
            }
        }

        // A rotation of the integer dimensions, and a move to a new one.
        let ints: Vec<Dim> = self.dims.iter().copied().filter(|d| d.is_int()).collect();
        let fresh = Dim::int(self.cfg.ints + 3);
        let rotation: Vec<(Dim, Dim)> =
            ints.iter().copied().zip(ints.iter().copied().cycle().skip(1)).collect();
        let moved = vec![(ints[0], fresh)];
        for map in [rotation, moved] {
            let mut r = a.clone();
            r.rename(&map);
            for s in inside {
                let free = Rat::from(self.rng.range(-4, 4));
                let cleared = map.iter().fold(s.clone(), |t, (from, _)| with(&t, *from, free.clone()));
                let t = map.iter().fold(cleared, |t, (from, to)| with(&t, *to, lookup(s, *from)));
                assert!(has(&r, &t), "renaming {map:?} in {a:?} gives {r:?}, losing {s:?}");
            }
            // Renaming is a bijection here, so renaming back gives the element again.
            let back: Vec<(Dim, Dim)> = map.iter().map(|(x, y)| (*y, *x)).collect();
            let mut b = r.clone();
            b.rename(&back);
            assert!(a.leq(&b) && b.leq(a), "renaming {map:?} in {a:?} is not undone: {b:?}");
        }

        let mut r = a.clone();
        r.expand(ints[0], fresh);
        for s in inside {
            for t in inside {
                let same = self.dims.iter().all(|d| *d == ints[0] || lookup(s, *d) == lookup(t, *d));
                if same {
                    let both = with(s, fresh, lookup(t, ints[0]));
                    assert!(has(&r, &both), "expanding {} in {a:?} gives {r:?}, losing {both:?}", ints[0]);
                }
            }
        }
    }

    fn trees(&mut self, a: &D, inside: &[State]) {
        let t = self.tree();
        let d = Dim::int(0);
        let mut assigned = a.clone();
        assigned.assign_tree(d, &t);
        let (mut yes, mut no) = (a.clone(), a.clone());
        yes.assume_tree(&t, true);
        no.assume_tree(&t, false);
        assert!(yes.leq(a) && no.leq(a), "assuming a tree does not shrink {a:?}");
        for s in inside {
            let Some(v) = t.eval(&|d| lookup(s, d), &|_| Rat::ZERO) else { continue };
            let r = with(s, d, v.clone());
            assert!(has(&assigned, &r), "{d} := {t:?} on {a:?} gives {assigned:?}, losing {s:?} -> {v}");
            let branch = if v.is_zero() { &no } else { &yes };
            assert!(has(branch, s), "branch on {t:?} = {v} from {a:?} gives {branch:?}, losing {s:?}");
        }
    }

    /// Widening sequences stabilise, whatever is fed in.
    fn chains(&mut self) {
        let th = Thresholds::new([-5, 0, 7].map(Rat::from), [self.constraint()]);
        for use_thresholds in [false, true] {
            let seeds: Vec<D> = (0..6).map(|_| self.element()).collect();
            let steps: Vec<(Dim, LinExpr)> =
                self.dims.clone().into_iter().map(|d| (d, self.linear())).collect();
            let mut x = self.element();
            let mut grown = 0;
            let mut calm = 0;
            // Random elements, and growing images of the iterate under an affine map.
            for i in 0..self.cfg.chain * 3 {
                let mut next = x.clone();
                match i % 3 {
                    0 => next.assign_parallel(&steps),
                    1 => {
                        let (d, k) = (self.dims[i % self.dims.len()], i as i64);
                        next = seeds[i % seeds.len()].clone();
                        next.assign(d, &LinExpr::dim(d).add_constant(&Rat::from(k)));
                    }
                    _ => {
                        let d = self.dims[i % self.dims.len()];
                        next.assign(d, &LinExpr::dim(d).add_constant(&Rat::ONE));
                    }
                }
                let before = x.clone();
                let grew =
                    if use_thresholds { x.widen_with_thresholds(&next, &th) } else { x.widen_with(&next) };
                assert!(before.leq(&x) && next.leq(&x), "chain step is no upper bound");
                grown += usize::from(grew);
                calm = if grew { 0 } else { calm + 1 };
                if calm > 20 {
                    break;
                }
            }
            assert!(grown <= self.cfg.chain, "a widening chain grew {grown} times");
        }
    }
}
