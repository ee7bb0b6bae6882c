//! What the two domains on linear decision diagrams share: the space of dimensions, the transformers,
//! and what to do when a diagram outgrows its limits.

use std::fmt;
use std::marker::PhantomData;

use palisade_dd::{self as dd, Cut, Guard, Kind, Ldd, Limits, Manager, Outcome, Relation, Root, Shared, Var};
use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::numeric::{NumericDomain, Thresholds, wrap_by_periods};

/// The diagrams of one analysis: a manager and the variables that stand for dimensions, added when
/// they are first mentioned.
pub struct Space {
    ldd: Ldd,
    vars: FxHashMap<Dim, Var>,
    dims: Vec<Dim>,
    /// Live nodes at which the order of the variables is improved next.
    reorder_at: usize,
}

/// Live nodes at which the order of the variables is improved for the first time.
const FIRST_REORDER: usize = 1 << 15;

impl Space {
    /// The variable of a dimension.
    fn var(&mut self, d: Dim) -> Outcome<Var> {
        if let Some(&v) = self.vars.get(&d) {
            return Ok(v);
        }
        let v = self.ldd.new_var(if d.is_int() { Kind::Int } else { Kind::Real })?;
        self.vars.insert(d, v);
        self.dims.push(d);
        Ok(v)
    }

    fn dim(&self, v: Var) -> Dim {
        self.dims[v.0 as usize]
    }

    fn terms(&mut self, e: &LinExpr) -> Outcome<Vec<(Rat, Var)>> {
        e.terms().iter().map(|(d, a)| Ok((a.clone(), self.var(*d)?))).collect()
    }
}

impl Manager for Space {
    fn protect(&mut self, f: dd::Node) {
        self.ldd.protect(f);
    }

    fn release(&mut self, f: dd::Node) {
        self.ldd.release(f);
    }

    /// Also improves the order of the variables, each time that twice as much has accumulated.
    fn collect(&mut self) {
        self.ldd.collect();
        if self.ldd.stats().nodes > self.reorder_at {
            // An order that could not be finished is still an order.
            let _ = self.ldd.reorder();
            self.reorder_at = (2 * self.ldd.stats().nodes).max(2 * self.reorder_at);
        }
    }

    fn wants_collection(&self) -> bool {
        self.ldd.wants_collection()
    }
}

/// What the elements of [`crate::LddBox`] and [`crate::Boxes`] are made from: a shared manager.
#[derive(Clone, Debug)]
pub struct LddCtx(Shared<Space>);

impl LddCtx {
    /// A context with its own manager. Elements that would need more nodes are weakened.
    pub fn new(limits: Limits) -> LddCtx {
        let space = Space {
            ldd: Ldd::new(limits),
            vars: FxHashMap::default(),
            dims: Vec::new(),
            reorder_at: FIRST_REORDER,
        };
        LddCtx(Shared::new(space))
    }

    /// Size figures of the manager.
    pub fn stats(&self) -> dd::Stats {
        self.0.with(|s| s.ldd.stats())
    }
}

/// Where the two domains differ.
pub trait Policy: Clone + fmt::Debug {
    /// Brings the image under a transformer into the form of the domain.
    fn settle(ldd: &mut Ldd, f: dd::Node) -> Outcome<dd::Node>;
    /// The join.
    fn join(ldd: &mut Ldd, f: dd::Node, g: dd::Node) -> Outcome<dd::Node>;
    /// The widening with sorted thresholds.
    fn widen(ldd: &mut Ldd, f: dd::Node, g: dd::Node, thresholds: &[Rat]) -> Outcome<dd::Node>;
}

/// An abstract value on a diagram; see [`crate::LddBox`] and [`crate::Boxes`].
#[derive(Clone)]
pub struct OnLdd<P> {
    root: Root<Space>,
    policy: PhantomData<P>,
}

/// What a transformer that ran out of its limits leaves behind.
enum Fallback {
    /// The element as it was: for operations that only take states away.
    Keep,
    /// All states.
    Top,
}

/// Disjuncts that `to_constraints` writes out; above, the hull stands for all.
const MAX_DISJUNCTS: i64 = 1 << 12;

impl<P: Policy> OnLdd<P> {
    fn of(root: Root<Space>) -> Self {
        OnLdd { root, policy: PhantomData }
    }

    fn node(&self) -> dd::Node {
        self.root.node()
    }

    fn shared(&self) -> &Shared<Space> {
        self.root.shared()
    }

    /// Replaces the element by the result of `op`. When the diagrams outgrow their limits the operation
    /// is tried on the hull, which needs few nodes; when that fails too, `fallback` remains.
    fn apply(&mut self, fallback: Fallback, mut op: impl FnMut(&mut Space, dd::Node) -> Outcome<dd::Node>) {
        let node = self.node();
        let mut settled = |s: &mut Space, f: dd::Node| {
            let r = op(s, f)?;
            P::settle(&mut s.ldd, r)
        };
        let shared = self.shared();
        let result = shared.op(|s| settled(s, node)).or_else(|_| {
            let hull = shared.op(|s| s.ldd.hull(node))?;
            shared.op(|s| settled(s, hull.node()))
        });
        self.root = match (result, fallback) {
            (Ok(root), _) => root,
            (Err(_), Fallback::Keep) => return,
            (Err(_), Fallback::Top) => shared.root(dd::Node::TRUE),
        };
    }

    /// Replaces the element by `new` and reports whether it grew, given that `new` is above.
    fn grow(&mut self, new: Outcome<Root<Space>>) -> bool {
        let new = new.unwrap_or_else(|_| self.shared().root(dd::Node::TRUE));
        let grew = new != self.root;
        self.root = new;
        grew
    }

    fn widen(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        let (f, g) = (self.node(), next.node());
        // Constraints on one dimension are bounds to stop at; the diagrams cannot express others.
        let frame: Vec<&LinCons> = thresholds
            .constraints()
            .iter()
            .filter(|c| c.expr.terms().len() == 1 && matches!(c.rel, Rel::Le | Rel::Lt))
            .filter(|c| self.entails(c) && next.entails(c))
            .collect();
        let result = self.shared().op(|s| {
            let mut wide = P::widen(&mut s.ldd, f, g, thresholds.values())?;
            for c in &frame {
                wide = assume(s, wide, c)?;
            }
            Ok(wide)
        });
        self.grow(result)
    }

    /// The least box around the element, with the dimensions ascending.
    fn hull_sides(&self) -> Vec<(Dim, Interval)> {
        let node = self.node();
        let Ok(hull) = self.shared().op(|s| s.ldd.hull(node)) else { return Vec::new() };
        self.shared().with(|s| {
            let sides = s.ldd.box_sides(hull.node());
            let mut sides: Vec<(Dim, Interval)> =
                sides.into_iter().map(|(v, i)| (s.dim(v), from_dd(&i))).collect();
            sides.sort_by_key(|(d, _)| *d);
            sides
        })
    }

    /// The number of nodes of the diagram and of its boxes.
    pub fn size(&self) -> (usize, Int) {
        self.shared().with(|s| (s.ldd.size(self.node()), s.ldd.box_count(self.node())))
    }
}

/// The image of `f` under the guard.
fn assume(s: &mut Space, f: dd::Node, c: &LinCons) -> Outcome<dd::Node> {
    let relation = match c.rel {
        Rel::Le => Relation::Le,
        Rel::Lt => Relation::Lt,
        Rel::Eq => Relation::Eq,
        Rel::Ne => Relation::Ne,
        // A congruence bounds nothing.
        Rel::Mod(_) => return Ok(if c.truth() == Some(false) { dd::Node::FALSE } else { f }),
    };
    let guard = Guard { terms: s.terms(&c.expr)?, relation, k: -c.expr.constant_term() };
    s.ldd.assume(f, &guard)
}

fn from_dd(i: &dd::Interval) -> Interval {
    Interval {
        lo: i.lo.as_ref().map(|c| End { value: c.k.clone(), strict: c.closed }),
        hi: i.hi.as_ref().map(|c| End { value: c.k.clone(), strict: !c.closed }),
    }
}

fn to_dd(i: &Interval) -> dd::Interval {
    dd::Interval {
        lo: i.lo.as_ref().map(|e| Cut { k: e.value.clone(), closed: e.strict }),
        hi: i.hi.as_ref().map(|e| Cut { k: e.value.clone(), closed: !e.strict }),
    }
}

/// The values that a machine type gives to the integers of an interval, as at most two intervals.
fn wrapped(i: &dd::Interval, ty: MachineInt) -> Vec<dd::Interval> {
    let pieces = match from_dd(i).int_ends() {
        Some((lo, hi)) if &hi - &lo < Int::pow2(ty.width) => {
            let (a, b) = (ty.wrap(&lo), ty.wrap(&hi));
            // Less than one period: it either stays in one piece or passes the end once.
            if a <= b {
                vec![Interval::closed(a, b)]
            } else {
                vec![Interval::closed(a, ty.max()), Interval::closed(ty.min(), b)]
            }
        }
        _ => vec![ty.range()],
    };
    pieces.iter().map(to_dd).collect()
}

impl<P: Policy> Lattice for OnLdd<P> {
    fn is_bottom(&self) -> bool {
        self.node() == dd::Node::FALSE
    }

    fn leq(&self, other: &Self) -> bool {
        // An implication that could not be decided in time is not shown.
        self.shared().with(|s| s.ldd.leq(self.node(), other.node())).unwrap_or(false)
    }

    fn join_with(&mut self, other: &Self) -> bool {
        let (f, g) = (self.node(), other.node());
        let join = |f, g| self.shared().op(|s| P::join(&mut s.ldd, f, g));
        let result = join(f, g).or_else(|_| self.shared().op(|s| s.ldd.box_join(f, g)));
        self.grow(result)
    }

    fn meet_with(&mut self, other: &Self) {
        let g = other.node();
        self.apply(Fallback::Keep, |s, f| s.ldd.and(f, g));
    }

    fn widen_with(&mut self, next: &Self) -> bool {
        self.widen(next, &Thresholds::none())
    }

    /// Bounds of the hull that are infinite in `self` and finite in `next` are taken over. Each step that
    /// changes anything makes an infinite bound finite, so descending chains are finite.
    fn narrow_with(&mut self, next: &Self) {
        if next.is_bottom() {
            *self = next.clone();
            return;
        }
        let own: FxHashMap<Dim, Interval> = self.hull_sides().into_iter().collect();
        let mut sides = Vec::new();
        for (d, i) in next.hull_sides() {
            let free = own.get(&d).unwrap_or(&Interval::TOP);
            let lo = if free.lo.is_none() { i.lo } else { None };
            let hi = if free.hi.is_none() { i.hi } else { None };
            sides.push((d, Interval { lo, hi }));
        }
        self.apply(Fallback::Keep, |s, f| {
            let mut f = f;
            for (d, i) in &sides {
                let v = s.var(*d)?;
                let side = s.ldd.interval(v, &to_dd(i))?;
                f = s.ldd.and(f, side)?;
            }
            Ok(f)
        });
    }
}

impl<P: Policy> NumericDomain for OnLdd<P> {
    type Ctx = LddCtx;

    fn top(ctx: &LddCtx) -> Self {
        OnLdd::of(ctx.0.root(dd::Node::TRUE))
    }

    fn bottom(ctx: &LddCtx) -> Self {
        OnLdd::of(ctx.0.root(dd::Node::FALSE))
    }

    fn ctx(&self) -> LddCtx {
        LddCtx(self.shared().clone())
    }

    fn support(&self) -> Vec<Dim> {
        self.shared().with(|s| {
            let mut dims: Vec<Dim> = s.ldd.support(self.node()).into_iter().map(|v| s.dim(v)).collect();
            dims.sort_unstable();
            dims
        })
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        self.apply(Fallback::Top, |s, f| {
            let (x, terms) = (s.var(d)?, s.terms(e)?);
            s.ldd.assign(f, x, &terms, &dd::Interval::point(e.constant_term().clone()))
        });
    }

    fn assign_interval(&mut self, d: Dim, range: &Interval) {
        self.apply(Fallback::Top, |s, f| {
            let x = s.var(d)?;
            s.ldd.assign(f, x, &[], &to_dd(&range.tighten_for(d)))
        });
    }

    fn assume(&mut self, c: &LinCons) {
        let c = c.normalize();
        self.apply(Fallback::Keep, |s, f| assume(s, f, &c));
    }

    fn forget(&mut self, dims: &[Dim]) {
        self.apply(Fallback::Top, |s, f| {
            // A dimension that was never mentioned is free already.
            let vars: Vec<Var> = dims.iter().filter_map(|d| s.vars.get(d).copied()).collect();
            s.ldd.exists(f, &vars)
        });
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        self.apply(Fallback::Top, |s, f| {
            let map: Outcome<Vec<(Var, Var)>> =
                map.iter().map(|(from, to)| Ok((s.var(*from)?, s.var(*to)?))).collect();
            s.ldd.rename(f, &map?)
        });
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        let range = self.shared().with(|s| {
            let terms = s.terms(e)?;
            s.ldd.range(self.node(), &terms)
        });
        let i = match range {
            Ok(Some(range)) => from_dd(&range).add(&Interval::point(e.constant_term().clone())),
            Ok(None) => return Interval::EMPTY,
            Err(_) => return Interval::TOP,
        };
        if e.is_integral() { i.tighten_int() } else { i }
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        let constraints = |sides: Vec<(Dim, Interval)>| -> Vec<LinCons> {
            sides.iter().flat_map(|(d, i)| i.constraints_on(&LinExpr::dim(*d))).collect()
        };
        if self.size().1 > Int::from(MAX_DISJUNCTS) {
            return vec![constraints(self.hull_sides())];
        }
        self.shared().with(|s| {
            let boxes = s.ldd.boxes(self.node());
            boxes
                .map(|b| {
                    let mut sides: Vec<(Dim, Interval)> =
                        b.iter().map(|(v, i)| (s.dim(*v), from_dd(i))).collect();
                    sides.sort_by_key(|(d, _)| *d);
                    constraints(sides)
                })
                .collect()
        })
    }

    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        self.shared().with(|s| {
            let mut n = self.node();
            while let Some((v, cut, high, low)) = s.ldd.decision(n) {
                n = if cut.admits(&state(s.dim(v))) { high } else { low };
            }
            n == dd::Node::TRUE
        })
    }

    fn widen_with_thresholds(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        self.widen(next, thresholds)
    }

    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        if !d.is_int() {
            return wrap_by_periods(self, d, ty, 2);
        }
        if self.bounds_of(d).leq(&ty.range()) {
            return;
        }
        self.apply(Fallback::Top, |s, f| {
            let x = s.var(d)?;
            s.ldd.map_var(f, x, |i| wrapped(i, ty))
        });
    }

    fn is_top(&self) -> bool {
        self.node() == dd::Node::TRUE
    }
}

impl<P: Policy> fmt::Debug for OnLdd<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}
