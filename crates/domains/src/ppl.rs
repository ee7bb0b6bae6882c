//! The Parma Polyhedra Library behind our trait, for benchmarks and differential tests: the same
//! interpreter and the same operation sequences run on either. Only built with the `ppl` feature,
//! which needs the library's development files.

use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::numeric::NumericDomain;
use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

/// A 128-bit number as the shim passes it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Wide {
    lo: u64,
    hi: i64,
}

#[repr(C)]
struct Linear {
    terms: u32,
    vars: *const u32,
    coefficients: *const Wide,
    constant: Wide,
}

/// The C++ object, opaque.
type Raw = *mut c_void;
type Visit = unsafe extern "C" fn(*mut c_void, i32, *const Linear);

/// The functions of one PPL domain.
pub struct Table {
    new: unsafe extern "C" fn(u32, i32) -> Raw,
    clone: unsafe extern "C" fn(Raw) -> Raw,
    free: unsafe extern "C" fn(Raw),
    dims: unsafe extern "C" fn(Raw) -> u32,
    embed: unsafe extern "C" fn(Raw, u32),
    is_empty: unsafe extern "C" fn(Raw) -> i32,
    covers: unsafe extern "C" fn(Raw, Raw) -> i32,
    join: unsafe extern "C" fn(Raw, Raw),
    meet: unsafe extern "C" fn(Raw, Raw),
    widen: unsafe extern "C" fn(Raw, Raw),
    assume: unsafe extern "C" fn(Raw, *const Linear, i32),
    assign: unsafe extern "C" fn(Raw, u32, *const Linear, Wide),
    forget: unsafe extern "C" fn(Raw, u32),
    bound: unsafe extern "C" fn(Raw, *const Linear, i32, *mut Wide, *mut Wide) -> i32,
    visit: unsafe extern "C" fn(Raw, Visit, *mut c_void),
    disjuncts: unsafe extern "C" fn(Raw) -> u64,
    /// Can an element be a union?
    disjunctive: bool,
}

/// One of the domains that the shim offers.
pub trait Kind: 'static {
    /// Its functions.
    const TABLE: Table;
}

macro_rules! kind {
    ($(#[$doc:meta])* $name:ident, $disjunctive:literal: $new:ident $clone:ident $free:ident $dims:ident
     $embed:ident $is_empty:ident $covers:ident $join:ident $meet:ident $widen:ident $assume:ident
     $assign:ident $forget:ident $bound:ident $visit:ident $disjuncts:ident) => {
        unsafe extern "C" {
            fn $new(dims: u32, full: i32) -> Raw;
            fn $clone(x: Raw) -> Raw;
            fn $free(x: Raw);
            fn $dims(x: Raw) -> u32;
            fn $embed(x: Raw, more: u32);
            fn $is_empty(x: Raw) -> i32;
            fn $covers(x: Raw, y: Raw) -> i32;
            fn $join(x: Raw, y: Raw);
            fn $meet(x: Raw, y: Raw);
            fn $widen(x: Raw, y: Raw);
            fn $assume(x: Raw, e: *const Linear, relation: i32);
            fn $assign(x: Raw, var: u32, e: *const Linear, denominator: Wide);
            fn $forget(x: Raw, var: u32);
            fn $bound(x: Raw, e: *const Linear, upper: i32, num: *mut Wide, den: *mut Wide) -> i32;
            fn $visit(x: Raw, visit: Visit, user: *mut c_void);
            fn $disjuncts(x: Raw) -> u64;
        }

        $(#[$doc])*
        pub struct $name;

        impl Kind for $name {
            const TABLE: Table = Table {
                new: $new,
                clone: $clone,
                free: $free,
                dims: $dims,
                embed: $embed,
                is_empty: $is_empty,
                covers: $covers,
                join: $join,
                meet: $meet,
                widen: $widen,
                assume: $assume,
                assign: $assign,
                forget: $forget,
                bound: $bound,
                visit: $visit,
                disjuncts: $disjuncts,
                disjunctive: $disjunctive,
            };
        }
    };
}

kind!(
    /// `C_Polyhedron`, widened by H79.
    CPolyhedron, false: ppl_poly_new ppl_poly_clone ppl_poly_free ppl_poly_dims ppl_poly_embed
    ppl_poly_is_empty ppl_poly_covers ppl_poly_join ppl_poly_meet ppl_poly_widen ppl_poly_assume
    ppl_poly_assign ppl_poly_forget ppl_poly_bound ppl_poly_visit ppl_poly_disjuncts
);
kind!(
    /// `Rational_Box`, widened by CC76.
    RationalBox, false: ppl_box_new ppl_box_clone ppl_box_free ppl_box_dims ppl_box_embed
    ppl_box_is_empty ppl_box_covers ppl_box_join ppl_box_meet ppl_box_widen ppl_box_assume
    ppl_box_assign ppl_box_forget ppl_box_bound ppl_box_visit ppl_box_disjuncts
);
kind!(
    /// `Pointset_Powerset<Rational_Box>`, widened by BGP99 over CC76.
    PowerBox, true: ppl_boxes_new ppl_boxes_clone ppl_boxes_free ppl_boxes_dims ppl_boxes_embed
    ppl_boxes_is_empty ppl_boxes_covers ppl_boxes_join ppl_boxes_meet ppl_boxes_widen ppl_boxes_assume
    ppl_boxes_assign ppl_boxes_forget ppl_boxes_bound ppl_boxes_visit ppl_boxes_disjuncts
);

/// Which PPL variable stands for which dimension; shared by the elements of one analysis.
#[derive(Clone, Default, Debug)]
pub struct PplSpace(Rc<RefCell<Names>>);

/// The dimensions in the order of their PPL variables, and back.
#[derive(Default, Debug)]
struct Names {
    dims: Vec<Dim>,
    vars: FxHashMap<Dim, u32>,
}

impl PplSpace {
    /// A space without dimensions yet.
    pub fn new() -> PplSpace {
        PplSpace::default()
    }

    fn var(&self, d: Dim) -> u32 {
        let Names { dims, vars } = &mut *self.0.borrow_mut();
        *vars.entry(d).or_insert_with(|| {
            dims.push(d);
            dims.len() as u32 - 1
        })
    }

    fn len(&self) -> u32 {
        self.0.borrow().dims.len() as u32
    }
}

/// An element of a PPL domain.
pub struct Ppl<K: Kind> {
    space: PplSpace,
    /// Owned by this value, never shared; freed on drop.
    raw: Raw,
    kind: PhantomData<K>,
}

fn wide(v: &Int) -> Option<Wide> {
    let v = v.to_i128()?;
    Some(Wide { lo: v as u64, hi: (v >> 64) as i64 })
}

fn narrow(w: Wide) -> Int {
    Int::from((i128::from(w.hi) << 64) | i128::from(w.lo))
}

impl<K: Kind> Ppl<K> {
    /// Takes ownership of an object that the shim made.
    fn own(space: &PplSpace, raw: Raw) -> Self {
        Ppl { space: space.clone(), raw, kind: PhantomData }
    }

    /// Gives the object all dimensions of the space, which are free in it.
    fn grow(&self) {
        // SAFETY (here and below): `raw` is a live object of this kind, made by the shim and owned by
        // `self`; PPL is used from one thread, as `Rc` enforces.
        unsafe {
            let (have, want) = ((K::TABLE.dims)(self.raw), self.space.len());
            if want > have {
                (K::TABLE.embed)(self.raw, want - have);
            }
        }
    }

    /// Calls `f` with the expression times a positive integer, and that integer. `None` when a number is too
    /// wide for the shim.
    fn with_linear<R>(&self, e: &LinExpr, f: impl FnOnce(&Linear, Wide) -> R) -> Option<R> {
        let q = e.terms().iter().fold(e.constant_term().denom().clone(), |q, t| q.lcm(t.1.denom()));
        let e = e.scale(&Rat::from(&q));
        let vars: Vec<u32> = e.dims().map(|d| self.space.var(d)).collect();
        let coefficients: Vec<Wide> = e.terms().iter().map(|t| wide(t.1.numer())).collect::<Option<_>>()?;
        self.grow();
        let linear = Linear {
            terms: vars.len() as u32,
            vars: vars.as_ptr(),
            coefficients: coefficients.as_ptr(),
            constant: wide(e.constant_term().numer())?,
        };
        Some(f(&linear, wide(&q)?))
    }

    /// The number of convex sets whose union it is.
    pub fn disjuncts(&self) -> u64 {
        unsafe { (K::TABLE.disjuncts)(self.raw) }
    }

    fn refine(&mut self, e: &LinExpr, relation: i32) {
        // A constraint too wide to pass is left out, which is sound.
        self.with_linear(e, |l, _| unsafe { (K::TABLE.assume)(self.raw, l, relation) });
    }

    fn align(&self, other: &Self) {
        self.grow();
        other.grow();
    }

    fn end(&self, e: &LinExpr, upper: bool) -> Option<End> {
        let (mut num, mut den) = (Wide::default(), Wide::default());
        let (state, q) = self.with_linear(e, |l, q| {
            let state = unsafe { (K::TABLE.bound)(self.raw, l, i32::from(upper), &mut num, &mut den) };
            (state, q)
        })?;
        let value = || Rat::new(narrow(num), narrow(den) * narrow(q));
        match state {
            1 => Some(End::closed(value())),
            2 => Some(End::open(value())),
            _ => None,
        }
    }
}

impl<K: Kind> Clone for Ppl<K> {
    fn clone(&self) -> Self {
        Ppl::own(&self.space, unsafe { (K::TABLE.clone)(self.raw) })
    }
}

impl<K: Kind> Drop for Ppl<K> {
    fn drop(&mut self) {
        unsafe { (K::TABLE.free)(self.raw) }
    }
}

impl<K: Kind> Lattice for Ppl<K> {
    fn is_bottom(&self) -> bool {
        unsafe { (K::TABLE.is_empty)(self.raw) != 0 }
    }

    fn leq(&self, other: &Self) -> bool {
        self.align(other);
        unsafe { (K::TABLE.covers)(other.raw, self.raw) != 0 }
    }

    fn join_with(&mut self, other: &Self) -> bool {
        if other.leq(self) {
            return false;
        }
        unsafe { (K::TABLE.join)(self.raw, other.raw) }
        true
    }

    fn meet_with(&mut self, other: &Self) {
        self.align(other);
        unsafe { (K::TABLE.meet)(self.raw, other.raw) }
    }

    fn widen_with(&mut self, next: &Self) -> bool {
        if next.leq(self) {
            return false;
        }
        let previous = self.clone();
        unsafe {
            (K::TABLE.join)(self.raw, next.raw);
            (K::TABLE.widen)(self.raw, previous.raw);
        }
        true
    }

    fn narrow_with(&mut self, _: &Self) {}
}

/// What the shim's visitor collects.
struct Collected<'a> {
    dims: &'a [Dim],
    disjuncts: Vec<Vec<LinCons>>,
}

unsafe extern "C" fn collect(user: *mut c_void, relation: i32, e: *const Linear) {
    // SAFETY: `user` is the `Collected` that `to_constraints` passes, used by this call only; `e` and
    // its arrays live for the call, and its variables are dimensions of the space.
    let out = unsafe { &mut *user.cast::<Collected<'_>>() };
    let Some(e) = (unsafe { e.as_ref() }) else {
        out.disjuncts.push(Vec::new());
        return;
    };
    let term = |i: usize| unsafe { (*e.vars.add(i), *e.coefficients.add(i)) };
    let terms = (0..e.terms as usize).map(term).map(|(v, c)| (out.dims[v as usize], Rat::from(narrow(c))));
    let expr = LinExpr::new(terms, Rat::from(narrow(e.constant)));
    let rel = match relation {
        1 => Rel::Lt,
        2 => Rel::Eq,
        _ => Rel::Le,
    };
    if let Some(last) = out.disjuncts.last_mut() {
        last.push(LinCons { expr, rel });
    }
}

impl<K: Kind> NumericDomain for Ppl<K> {
    type Ctx = PplSpace;

    fn top(space: &PplSpace) -> Self {
        Ppl::own(space, unsafe { (K::TABLE.new)(space.len(), 1) })
    }

    fn bottom(space: &PplSpace) -> Self {
        Ppl::own(space, unsafe { (K::TABLE.new)(space.len(), 0) })
    }

    fn ctx(&self) -> PplSpace {
        self.space.clone()
    }

    fn support(&self) -> Vec<Dim> {
        let mut dims = self.space.0.borrow().dims.clone();
        dims.sort_unstable();
        dims
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        let var = self.space.var(d);
        let done = self.with_linear(e, |l, q| unsafe { (K::TABLE.assign)(self.raw, var, l, q) });
        if done.is_none() {
            self.forget(&[d]);
        }
    }

    fn assume(&mut self, c: &LinCons) {
        let c = c.normalize();
        match &c.rel {
            Rel::Le => self.refine(&c.expr, 0),
            Rel::Lt => self.refine(&c.expr, 1),
            Rel::Eq => self.refine(&c.expr, 2),
            Rel::Ne if K::TABLE.disjunctive => {
                let mut above = self.clone();
                above.assume(&LinCons { expr: -&c.expr, rel: Rel::Lt });
                self.assume(&LinCons { expr: c.expr, rel: Rel::Lt });
                self.join_with(&above);
            }
            Rel::Ne => {
                let b = self.bounds(&c.expr);
                let zero = |e: &Option<End>| e.as_ref().is_some_and(|e| e.value.is_zero() && !e.strict);
                if zero(&b.lo) {
                    self.assume(&LinCons { expr: -&c.expr, rel: Rel::Lt });
                } else if zero(&b.hi) {
                    self.assume(&LinCons { expr: c.expr, rel: Rel::Lt });
                }
            }
            Rel::Mod(_) => {}
        }
    }

    fn forget(&mut self, dims: &[Dim]) {
        for d in dims {
            let var = self.space.var(*d);
            self.grow();
            unsafe { (K::TABLE.forget)(self.raw, var) }
        }
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        let temporary: Vec<Dim> = map.iter().zip(0..).map(|((from, _), i)| from.scratch(i)).collect();
        for ((from, _), t) in map.iter().zip(&temporary) {
            self.assign(*t, &LinExpr::dim(*from));
        }
        self.forget(&map.iter().map(|m| m.0).collect::<Vec<_>>());
        for ((_, to), t) in map.iter().zip(&temporary) {
            self.assign(*to, &LinExpr::dim(*t));
        }
        self.forget(&temporary);
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        if self.is_bottom() {
            return Interval::EMPTY;
        }
        let i = Interval { lo: self.end(e, false), hi: self.end(e, true) };
        if e.is_integral() { i.tighten_int() } else { i }
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        if self.is_bottom() {
            return Vec::new();
        }
        let dims = self.space.0.borrow().dims.clone();
        let mut out = Collected { dims: &dims, disjuncts: Vec::new() };
        unsafe { (K::TABLE.visit)(self.raw, collect, (&raw mut out).cast()) }
        out.disjuncts
    }
}

impl<K: Kind> fmt::Debug for Ppl<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Rng;
    use crate::{Boxes, LddBox, LddCtx, LddLimits};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    const DIMS: u32 = 3;

    /// The library has global state, so tests take turns.
    static TURN: Mutex<()> = Mutex::new(());

    fn turn() -> MutexGuard<'static, ()> {
        TURN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One random command whose effect a set of boxes can express exactly, or, with `linear`, one whose
    /// result is the best box.
    fn command<D: NumericDomain>(rng: &mut Rng, pool: &mut [D], linear: bool) {
        let (i, j) = (rng.below(pool.len() as u64) as usize, rng.below(pool.len() as u64) as usize);
        let d = Dim::rat(rng.below(u64::from(DIMS)) as u32);
        let other = Dim::rat(rng.below(u64::from(DIMS)) as u32);
        let (k, a) = (Rat::from(rng.range(-6, 6)), Rat::from(*rng.pick(&[-2, -1, 1, 3])));
        let rel = rng.pick(&[Rel::Le, Rel::Lt, Rel::Eq, Rel::Ne, Rel::Le, Rel::Lt]).clone();
        let (own, theirs) = (LinExpr::dim(d).scale(&a).add_constant(&k), pool[j].clone());
        let x = &mut pool[i];
        match rng.below(9) {
            0 => x.assign(d, &LinExpr::constant(k)),
            1 if linear => x.assign(d, &own.add_scaled(&LinExpr::dim(other), &Rat::from(2))),
            1 => x.assign(d, &own),
            2 => x.assign_interval(d, &Interval::closed(k.clone(), &k + &Rat::from(3))),
            3..6 => x.assume(&LinCons { expr: own, rel }),
            6 => x.forget(&[d]),
            7 => x.meet_with(&theirs),
            _ => drop(x.join_with(&theirs)),
        }
        if x.is_bottom() {
            x.join_with(&theirs);
        }
    }

    /// With the library in the process numbers are still rounded to the nearest.
    #[test]
    fn rounding_is_as_usual() {
        assert_eq!("0.3".parse::<f64>().map(f64::to_bits), Ok(0.3_f64.to_bits()));
    }

    #[test]
    fn boxes_agree_with_rational_box() {
        let _turn = turn();
        for seed in 0..80 {
            let mut ours = vec![LddBox::top(&LddCtx::new(LddLimits::default())); 3];
            let mut peer = vec![Ppl::<RationalBox>::top(&PplSpace::new()); 3];
            let (mut r, mut s) = (Rng::new(seed), Rng::new(seed));
            for step in 0..100 {
                command(&mut r, &mut ours, true);
                command(&mut s, &mut peer, true);
                for (a, b) in ours.iter().zip(&peer) {
                    assert_eq!(a.is_bottom(), b.is_bottom(), "seed {seed}, step {step}: {a:?} {b:?}");
                    for d in (0..DIMS).map(Dim::rat) {
                        assert_eq!(a.bounds_of(d), b.bounds_of(d), "seed {seed}, step {step}: {a:?} {b:?}");
                    }
                }
                for (a, b) in ours.iter().zip(&peer) {
                    for (c, d) in ours.iter().zip(&peer) {
                        assert_eq!(a.leq(c), b.leq(d), "seed {seed}, step {step}");
                    }
                }
            }
        }
    }

    #[test]
    fn boxes_agree_with_the_powerset() {
        let _turn = turn();
        let mut unions = 0;
        for seed in 0..80 {
            let ctx = LddCtx::new(LddLimits::default());
            let mut ours = vec![Boxes::top(&ctx); 3];
            let mut peer = vec![Ppl::<PowerBox>::top(&PplSpace::new()); 3];
            let (mut r, mut s) = (Rng::new(seed), Rng::new(seed));
            for step in 0..60 {
                command(&mut r, &mut ours, false);
                command(&mut s, &mut peer, false);
                for (a, b) in ours.iter().zip(&peer) {
                    // The union of PPL's boxes as one of our elements, which are canonical.
                    let mut union = Boxes::bottom(&ctx);
                    for conjunction in b.to_constraints() {
                        let mut one = Boxes::top(&ctx);
                        conjunction.iter().for_each(|c| one.assume(c));
                        union.join_with(&one);
                    }
                    unions += u32::from(b.disjuncts() > 1);
                    assert!(a.equiv(&union), "seed {seed}, step {step}: {a:?} is not {b:?}");
                }
            }
        }
        assert!(unions > 1000, "only {unions} of the elements were unions");
    }

    #[test]
    fn widening_covers_both_arguments() {
        let _turn = turn();
        let (d, space) = (Dim::rat(0), PplSpace::new());
        let mut x = Ppl::<PowerBox>::top(&space);
        x.assign_interval(d, &Interval::closed(0, 1));
        for k in 2..200 {
            let mut next = x.clone();
            next.assign(d, &LinExpr::dim(d).add_constant(&Rat::from(k)));
            if !x.widen_with(&next) {
                return;
            }
            assert!(next.leq(&x));
        }
        panic!("the sequence did not stabilise: {x:?}");
    }
}
