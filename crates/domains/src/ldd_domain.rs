//! What the two domains on linear decision diagrams share.
//!
//! An element is a product. A dimension that depends on no other has its own diagram of one variable;
//! all others are *tied* and share one diagram. So a command costs as much as what it touches, however
//! many dimensions are bounded, and joins look only at what differs. The product is the set that a
//! single diagram would stand for, and splitting is exact: it is undone and redone as needed.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use palisade_dd::{Ldd, Manager, Node, Outcome, Root, Shared};
use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::lattice::Lattice;
use crate::ldd_space::{Factor, LddCtx, Space, from_dd, outline, to_dd};
use crate::linear::{LinCons, LinExpr, Rel};
use crate::numeric::{NumericDomain, Thresholds};
use crate::pmap::{PMap, Single};

/// Where the two domains differ.
pub trait Policy: Clone + fmt::Debug {
    /// Whether values may be unions; otherwise every dimension has one interval and none is tied.
    const UNIONS: bool;
    /// Brings a set of values of one dimension into the form of the domain.
    fn settle(ldd: &mut Ldd, f: Node) -> Outcome<Node>;
    /// The join of sets.
    fn join(ldd: &mut Ldd, f: Node, g: Node) -> Outcome<Node>;
    /// The widening with sorted thresholds.
    fn widen(ldd: &mut Ldd, f: Node, g: Node, thresholds: &[Rat]) -> Outcome<Node>;
}

/// An abstract value on diagrams; see [`crate::LddBox`] and [`crate::Boxes`].
#[derive(Clone)]
pub struct OnLdd<P> {
    /// The dimensions that depend on no other.
    pub(crate) alone: PMap<Factor>,
    /// The set that the tied dimensions lie in; **0** for bottom.
    pub(crate) rest: Root<Space>,
    /// The dimensions that `rest` depends on, ascending; none of them is alone.
    pub(crate) tied: Arc<[Dim]>,
    /// Nodes of the results of the widening sequence that this element belongs to, all together.
    pub(crate) spent: usize,
    policy: PhantomData<P>,
}

impl<P: Policy> OnLdd<P> {
    pub(crate) fn constant(shared: &Shared<Space>, value: Node) -> Self {
        OnLdd {
            alone: PMap::new(),
            rest: shared.root(value),
            tied: Arc::new([]),
            spent: 0,
            policy: PhantomData,
        }
    }

    pub(crate) fn shared(&self) -> &Shared<Space> {
        self.rest.shared()
    }

    pub(crate) fn make_bottom(&mut self) {
        *self = Self::constant(self.shared(), Node::FALSE);
    }

    pub(crate) fn is_tied(&self, d: Dim) -> bool {
        self.tied.binary_search(&d).is_ok()
    }

    /// Whether `d` has, independently of all others, one interval (maybe all numbers).
    pub(crate) fn is_simple(&self, d: Dim) -> bool {
        !self.is_tied(d) && self.alone.get(d).is_none_or(|f| f.single)
    }

    /// The least interval around the values of `d`. The element is not bottom.
    pub(crate) fn interval_of(&self, d: Dim) -> Interval {
        if self.is_tied(d) {
            let found = self.shared().with(|s| s.var(d).map(|v| s.ldd.bounds(self.rest.node(), v)));
            return found.ok().flatten().map_or(Interval::TOP, |i| from_dd(&i));
        }
        self.alone.get(d).map_or(Interval::TOP, |f| f.hull.clone())
    }

    /// Replaces the values of `d`, which is not tied.
    pub(crate) fn set_factor(&mut self, d: Dim, factor: Factor) {
        match factor.root.node() {
            Node::FALSE => self.make_bottom(),
            Node::TRUE => self.alone.remove(d),
            _ => self.alone.insert(d, factor),
        }
    }

    /// Replaces the values of `d`, which is not tied, by those that `op` makes of them. Returns whether
    /// that was possible within the limits; if not, nothing has changed.
    pub(crate) fn map_factor(
        &mut self,
        d: Dim,
        mut op: impl FnMut(&mut Space, palisade_dd::Var, Node) -> Outcome<Node>,
    ) -> bool {
        let old = self.alone.get(d).map_or(Node::TRUE, |f| f.root.node());
        let made = Factor::make(self.shared(), d, |s, v| {
            let r = op(s, v, old)?;
            P::settle(&mut s.ldd, r)
        });
        match made {
            Ok(factor) => {
                self.set_factor(d, factor);
                true
            }
            Err(_) => false,
        }
    }

    /// Gives `d`, which is not tied, an interval; when that is out of the limits `d` becomes free.
    pub(crate) fn set_interval(&mut self, d: Dim, i: &Interval) {
        if i.is_empty() {
            return self.make_bottom();
        }
        self.alone.remove(d);
        if !i.is_top() {
            self.map_factor(d, |s, v, _| s.ldd.interval(v, &to_dd(i)));
        }
    }

    /// Takes dimensions that are alone out of the product and returns their factors.
    pub(crate) fn untie(&mut self, dims: impl IntoIterator<Item = Dim>) -> Vec<Root<Space>> {
        let mut roots = Vec::new();
        for d in dims {
            if let Some(f) = self.alone.get(d) {
                roots.push(f.root.clone());
                self.alone.remove(d);
            }
        }
        roots
    }

    /// Replaces the set of the tied dimensions by what `op` computes and splits it. The result must not
    /// depend on dimensions that are alone. On error nothing has changed.
    pub(crate) fn set_rest(&mut self, mut op: impl FnMut(&mut Space) -> Outcome<Node>) -> Outcome<()> {
        let mut outlines: Vec<(Dim, Interval, bool)> = Vec::new();
        let mut tied = Vec::new();
        let roots = self.shared().ops(|s| {
            let all = op(s)?;
            let all = s.fit(all)?;
            let factors = s.ldd.split(all)?;
            outlines.clear();
            let mut nodes = vec![factors.core];
            for (v, set) in factors.alone {
                let d = s.dim(v);
                let (hull, single) = outline(s, d, set)?;
                outlines.push((d, hull, single));
                nodes.push(set);
            }
            tied = s.dims_of(factors.core);
            Ok(nodes)
        })?;
        let mut roots = roots.into_iter();
        // `ops` returns a root for each node, and the core is the first.
        let Some(core) = roots.next() else { return Ok(()) };
        if core.node() == Node::FALSE {
            self.make_bottom();
            return Ok(());
        }
        self.rest = core;
        self.tied = tied.into();
        for ((d, hull, single), root) in outlines.into_iter().zip(roots) {
            self.alone.insert(d, Factor { root, hull, single });
        }
        Ok(())
    }

    /// Replaces the element by its hull: nothing is tied, every dimension has one interval.
    pub(crate) fn collapse(&mut self) {
        self.shared().with(Space::weakened);
        let sides = self.sides();
        let mut hull = Self::constant(self.shared(), Node::TRUE);
        for (d, i) in sides {
            match self.alone.get(d) {
                Some(f) if f.single => hull.alone.insert(d, f.clone()),
                _ => hull.set_interval(d, &i),
            }
        }
        *self = hull;
    }

    /// Merges boxes until operations on the element are cheap.
    pub(crate) fn shrink(&mut self) {
        let f = self.rest.node();
        let merged = self.set_rest(|s| {
            let nodes = s.room() / 16;
            s.merge(f, nodes)
        });
        if merged.is_err() {
            self.collapse();
        }
    }

    /// Does `op`, which changes nothing when it fails: with fewer boxes if it takes more than the limits
    /// allow, then with the hull.
    pub(crate) fn attempt(&mut self, mut op: impl FnMut(&mut Self) -> Outcome<()>) -> Outcome<()> {
        if op(self).is_ok() {
            return Ok(());
        }
        self.shrink();
        if op(self).is_ok() {
            return Ok(());
        }
        self.collapse();
        op(self)
    }

    /// The intervals of the bounded dimensions. The element is not bottom.
    pub(crate) fn sides(&self) -> Vec<(Dim, Interval)> {
        let mut sides: Vec<(Dim, Interval)> = self.alone.iter().map(|(d, f)| (d, f.hull.clone())).collect();
        if !self.tied.is_empty() {
            self.shared().with(|s| {
                let tied = s.ldd.hull_sides(self.rest.node());
                sides.extend(tied.iter().map(|(v, i)| (s.dim(*v), from_dd(i))));
            });
            sides.sort_by_key(|side| side.0);
        }
        sides
    }

    /// The part of the product that both have in common, and the dimensions that are alone in one of
    /// them and not the same in the other.
    fn compare(&self, other: &Self) -> (PMap<Factor>, Vec<Dim>) {
        let mut differ = Vec::new();
        other.alone.all_of(&self.alone, &mut |d, theirs, own| {
            if theirs != Some(own) {
                differ.push(d);
            }
            true
        });
        self.alone.all_of(&other.alone, &mut |d, own, _| {
            if own.is_none() {
                differ.push(d);
            }
            true
        });
        let same = |_: Dim, v: &Factor, w: &Factor| (v == w).then(|| v.clone());
        (self.alone.merge(&other.alone, Single::Drop, &mut { same }), differ)
    }

    /// Combines with `other` by `op`, an upper bound of its arguments, on what differs: factor by factor
    /// when domains have no unions or a single factor differs; else all of it together, but for
    /// [what there is no room for](Self::too_many). On error nothing has changed.
    fn combine(
        &mut self,
        other: &Self,
        result: Shape,
        mut op: impl FnMut(&mut Ldd, Node, Node) -> Outcome<Node>,
    ) -> Outcome<()> {
        let (common, mut differ) = self.compare(other);
        let mut next = OnLdd { alone: common, ..self.clone() };
        let single = self.rest == other.rest && differ.len() == 1;
        let apart = if result == Shape::Box || !P::UNIONS || single {
            std::mem::take(&mut differ)
        } else {
            self.too_many(other, &mut differ)
        };
        for d in apart {
            // A dimension that one of them leaves free is free in the result.
            if let (Some(f), Some(g)) = (self.alone.get(d), other.alone.get(d)) {
                let made =
                    Factor::make(self.shared(), d, |s, _| op(&mut s.ldd, f.root.node(), g.root.node()))?;
                next.set_factor(d, made);
            }
        }
        if differ.is_empty() && (self.rest == other.rest || result == Shape::Box || !P::UNIONS) {
            *self = next;
            return Ok(());
        }
        let factors = |e: &Self| -> Vec<Root<Space>> {
            differ.iter().filter_map(|d| e.alone.get(*d)).map(|f| f.root.clone()).collect()
        };
        let (own, theirs) = (factors(self), factors(other));
        let (f, g) = (self.rest.node(), other.rest.node());
        let mut both = |s: &mut Space| {
            let f = s.meet_all(f, &own)?;
            let g = s.meet_all(g, &theirs)?;
            op(&mut s.ldd, f, g)
        };
        if result == Shape::Product {
            next.set_rest(both)?;
        } else {
            let mut tied = Vec::new();
            next.rest = self.shared().op(|s| {
                let r = both(s)?;
                let r = s.fit(r)?;
                tied = s.dims_of(r);
                Ok(r)
            })?;
            next.tied = tied.into();
        }
        *self = next;
        Ok(())
    }

    /// Takes out of `differ` what there is no room for. Each dimension in which two elements differ takes a node
    /// of either in a diagram of their union: where these alone are more than an element may have, those with the
    /// most partitions stay alone, as merging boxes would make them in the end.
    fn too_many(&self, other: &Self, differ: &mut Vec<Dim>) -> Vec<Dim> {
        self.shared().with(|s| {
            let room = s.room();
            if 2 * differ.len() <= room {
                return Vec::new();
            }
            let free = |d: &Dim| !self.is_tied(*d) && !other.is_tied(*d);
            let (mut apart, mut tied): (Vec<Dim>, Vec<Dim>) = differ.iter().copied().partition(free);
            let nodes = |e: &Self, d: Dim| e.alone.get(d).map_or(0, |f| s.ldd.size(f.root.node()));
            apart.sort_by_cached_key(|d| (nodes(self, *d) + nodes(other, *d), *d));
            tied.extend(apart.drain(..apart.len().min(room / 8)));
            if !apart.is_empty() {
                s.weakened();
            }
            *differ = tied;
            apart
        })
    }

    /// [`OnLdd::combine`]; of smaller elements if that takes more than the limits allow, then of the hulls,
    /// and top if even these do. `self` is not above `other`, so it always grows.
    fn grow(
        &mut self,
        other: &Self,
        result: Shape,
        mut op: impl FnMut(&mut Ldd, Node, Node) -> Outcome<Node>,
    ) {
        if self.is_bottom() {
            *self = other.clone();
            return;
        }
        if self.combine(other, result, &mut op).is_ok() {
            return;
        }
        let mut other = other.clone();
        self.shrink();
        other.shrink();
        if self.combine(&other, result, &mut op).is_ok() {
            return;
        }
        self.collapse();
        other.collapse();
        if self.combine(&other, result, op).is_err() {
            *self = Self::constant(self.shared(), Node::TRUE);
        }
    }

    /// The widening. It never splits: a dimension that was once tied to others stays so for the rest of the
    /// sequence. So the tied dimensions can only become more, and when they no
    /// longer do, each step is the widening of section 4 over the same dimensions (or over one of the
    /// others alone), for which sequences stabilise.
    ///
    /// They may take long to do so, and for ever when boxes are merged on the way. So a sequence has a
    /// number of nodes to spend; after that it goes on with the hulls and the standard widening of BOX.
    pub(crate) fn widen(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        if next.leq(self) {
            return false;
        }
        // Constraints on one dimension are bounds to stop at; diagrams cannot express others.
        let bound = |c: &&LinCons| c.expr.terms().len() == 1 && matches!(c.rel, Rel::Le | Rel::Lt);
        let bounds = thresholds.constraints().iter().filter(bound);
        let kept: Vec<LinCons> = bounds.filter(|c| self.entails(c) && next.entails(c)).cloned().collect();
        let spent = self.spent;
        if spent <= self.shared().with(|s| s.room()).saturating_mul(PATIENCE) {
            self.grow(next, Shape::Tied, |ldd, f, g| P::widen(ldd, f, g, thresholds.values()));
        } else {
            let mut next = next.clone();
            self.collapse();
            next.collapse();
            self.grow(&next, Shape::Box, |ldd, f, g| ldd.box_widen(f, g, thresholds.values()));
        }
        for c in &kept {
            self.assume_tied(c);
        }
        let size = self.shared().with(|s| s.ldd.size(self.rest.node()));
        self.spent = spent.saturating_add(size.max(MIN_COST));
        true
    }

    /// What the element says, as conjuncts: one for each dimension that depends on no other, and one for those
    /// that are tied. They are made from the leaves of the diagrams up, every node once: `decide` gets a
    /// dimension, an upper bound, what is said of states within the bound and what of those beyond.
    pub fn conjuncts<T: Copy>(
        &self,
        leaf: impl Fn(bool) -> T,
        mut decide: impl FnMut(Dim, &End, T, T) -> T,
    ) -> Vec<T> {
        let roots: Vec<Node> =
            self.alone.iter().map(|(_, f)| f.root.node()).chain([self.rest.node()]).collect();
        self.shared().with(|s| {
            let mut made = FxHashMap::from_iter([(Node::FALSE, leaf(false)), (Node::TRUE, leaf(true))]);
            // No recursion: diagrams may be deep.
            let mut stack = roots.clone();
            while let Some(&node) = stack.last() {
                let below = if made.contains_key(&node) { None } else { s.ldd.decision(node) };
                let Some((var, cut, high, low)) = below else {
                    stack.pop();
                    continue;
                };
                match (made.get(&high), made.get(&low)) {
                    (Some(&within), Some(&beyond)) => {
                        let bound = End { value: cut.k.clone(), strict: !cut.closed };
                        made.insert(node, decide(s.dim(var), &bound, within, beyond));
                    }
                    _ => stack.extend([high, low]),
                }
            }
            roots.iter().map(|root| made[root]).collect()
        })
    }

    /// The number of nodes of the diagrams, and of boxes.
    pub fn size(&self) -> (usize, Int) {
        self.shared().with(|s| {
            let mut size = (s.ldd.size(self.rest.node()), s.ldd.box_count(self.rest.node()));
            for (_, f) in self.alone.iter() {
                size.0 += s.ldd.size(f.root.node()) - 2;
                size.1 *= s.ldd.box_count(f.root.node());
            }
            size
        })
    }
}

/// Nodes that a widening sequence may spend, for each node that an element may have.
const PATIENCE: usize = 16;

/// Nodes that a step of a widening sequence costs at least.
const MIN_COST: usize = 64;

/// What becomes of dimensions that two elements do not have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Each stays alone.
    Box,
    /// They are tied.
    Tied,
    /// They are tied unless they are independent of each other.
    Product,
}

impl<P: Policy> Lattice for OnLdd<P> {
    fn is_bottom(&self) -> bool {
        self.rest.node() == Node::FALSE
    }

    fn leq(&self, other: &Self) -> bool {
        if self.is_bottom() || other.is_bottom() {
            return self.is_bottom();
        }
        let shown = self.shared().with(|s| -> Outcome<bool> {
            s.begin();
            let mut outcome = Ok(());
            let factors = self.alone.all_of(&other.alone, &mut |d, own, theirs| {
                let own = match own {
                    Some(f) => f.root.node(),
                    None if self.is_tied(d) => self.rest.node(),
                    None => return false,
                };
                s.ldd.leq(own, theirs.root.node()).unwrap_or_else(|e| {
                    outcome = Err(e);
                    false
                })
            });
            outcome?;
            if !factors || self.rest == other.rest || other.tied.is_empty() {
                return Ok(factors);
            }
            let own = other.tied.iter().filter_map(|d| self.alone.get(*d)).map(|f| f.root.clone());
            let own: Vec<Root<Space>> = own.collect();
            let f = s.meet_all(self.rest.node(), &own)?;
            s.ldd.leq(f, other.rest.node())
        });
        // An inclusion that could not be decided within the limits is not shown.
        shown.unwrap_or(false)
    }

    fn join_with(&mut self, other: &Self) -> bool {
        if other.leq(self) {
            return false;
        }
        self.grow(other, Shape::Product, P::join);
        true
    }

    fn meet_with(&mut self, other: &Self) {
        if self.is_bottom() || other.is_bottom() {
            return self.make_bottom();
        }
        let mut next = self.clone();
        // Factors of dimensions that the other side has tied meet in the rest.
        let mut shared_factors = next.untie(other.tied.iter().copied());
        let mut factors: Vec<(Dim, Factor)> = Vec::new();
        self.alone.all_of(&other.alone, &mut |d, own, theirs| {
            if own != Some(theirs) {
                factors.push((d, theirs.clone()));
            }
            true
        });
        for (d, theirs) in factors {
            if self.is_tied(d) {
                shared_factors.push(theirs.root);
            } else if self.alone.get(d).is_none() {
                next.alone.insert(d, theirs);
            } else {
                // A factor that cannot be met within the limits stays as it is.
                next.map_factor(d, |s, _, f| s.ldd.and(f, theirs.root.node()));
                if next.is_bottom() {
                    return self.make_bottom();
                }
            }
        }
        if self.rest != other.rest || !shared_factors.is_empty() {
            let (f, g) = (self.rest.node(), other.rest.node());
            let met = next.set_rest(|s| {
                let f = s.meet_all(f, &shared_factors)?;
                s.ldd.and(f, g)
            });
            if met.is_err() {
                return;
            }
        }
        *self = next;
    }

    fn widen_with(&mut self, next: &Self) -> bool {
        self.widen(next, &Thresholds::none())
    }

    /// Bounds that are infinite in `self` and finite in `next` are taken over. Each step that changes
    /// anything makes an infinite bound finite, so descending chains are finite.
    fn narrow_with(&mut self, next: &Self) {
        if self.is_bottom() || next.is_bottom() {
            return self.make_bottom();
        }
        for (d, i) in next.sides() {
            let own = self.interval_of(d);
            let lo = if own.lo.is_none() { i.lo } else { None };
            let hi = if own.hi.is_none() { i.hi } else { None };
            for c in (Interval { lo, hi }).constraints_on(&LinExpr::dim(d)) {
                self.assume(&c);
            }
        }
    }
}

impl<P: Policy> fmt::Debug for OnLdd<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}

impl<P: Policy> OnLdd<P> {
    /// The context.
    pub(crate) fn context(&self) -> LddCtx {
        LddCtx(self.shared().clone())
    }
}
