//! Relational domains split into independent blocks of dimensions.
//!
//! Dimensions that no constraint relates live in different blocks, and a block is merged with
//! another only when an operation relates them (Singh, Püschel, Vechev: "Fast polyhedra abstract
//! domain", POPL 2017, the decomposition behind ELINA). So an operation costs what the largest block
//! involved costs, whatever the number of variables. [`Blocks`] does the bookkeeping once; a [`Factor`]
//! is a relational domain over a fixed list of dimensions.

use crate::dim::Dim;
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::numeric::{NumericDomain, Thresholds};
use crate::pointwise::Value;
use palisade_base::Budget;
use palisade_num::Rat;
use std::fmt;
use std::sync::Arc;

/// An operation would exceed the limits of the context; its arguments are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig;

/// Limits that keep relational domains bounded. An operation that would exceed them loses
/// relations between dimensions instead.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most dimensions that one block may relate.
    pub dims: usize,
    /// The most rows (generators or constraints) of one polyhedron, also while it is computed.
    pub rows: usize,
    /// The most bits of one coefficient. Meets and joins in turn can double the length of coefficients
    /// every time, without end: polyhedra have infinite descending chains.
    pub bits: u32,
    /// Single operations may take seconds, so they look at this as well.
    pub budget: Option<Budget>,
}

impl Limits {
    /// Enough for everything that is computed in reasonable time.
    pub const STANDARD: Limits = Limits { dims: 40, rows: 500, bits: 1024, budget: None };

    /// The same for an analysis with a budget.
    pub fn within(budget: &Budget) -> Limits {
        Limits { budget: Some(budget.clone()), ..Limits::STANDARD }
    }

    /// A look at the budget, where others may have their turn. Once it is stopped, what is being computed is too big.
    pub fn look(&self) -> Result<(), TooBig> {
        match &self.budget {
            Some(budget) if budget.stopped().is_some() => Err(TooBig),
            _ => Ok(()),
        }
    }
}

/// A convex relational domain over a fixed, sorted list of dimensions. Binary operations take
/// factors over the same dimensions. Only [`Factor::is_empty`] may be asked of an empty factor.
pub trait Factor: Clone + fmt::Debug {
    /// No constraint.
    fn top(dims: Vec<Dim>) -> Self;
    /// The dimensions, ascending.
    fn dims(&self) -> &[Dim];
    /// Is no state left?
    fn is_empty(&self) -> bool;
    /// The product of factors over disjoint dimensions.
    fn product(parts: &[&Self], limits: &Limits) -> Result<Self, TooBig>;
    /// Inclusion.
    fn leq(&self, other: &Self) -> bool;
    /// The least upper bound.
    fn join(&self, other: &Self, limits: &Limits) -> Result<Self, TooBig>;
    /// The greatest lower bound.
    fn meet(&mut self, other: &Self, limits: &Limits) -> Result<(), TooBig>;
    /// Widening.
    fn widen(&self, next: &Self, limits: &Limits) -> Result<Self, TooBig>;
    /// Adds a constraint that both arguments of the widening that gave `self` satisfy, without
    /// disturbing the termination of the widening sequence.
    fn keep(&mut self, c: &LinCons, limits: &Limits) -> Result<(), TooBig>;
    /// Adds a `≤`, `<` or `=` constraint.
    fn assume(&mut self, c: &LinCons, limits: &Limits) -> Result<(), TooBig>;
    /// Assigns a linear expression over the factor's dimensions to one of them.
    fn assign(&mut self, d: Dim, e: &LinExpr, limits: &Limits) -> Result<(), TooBig>;
    /// Removes dimensions from the factor, existentially. At least one stays.
    fn project(&mut self, remove: &[Dim], limits: &Limits) -> Result<(), TooBig>;
    /// Renames dimensions; `f` is injective.
    fn rename(&mut self, f: &dyn Fn(Dim) -> Dim);
    /// The range of an expression over the factor's dimensions.
    fn bounds(&self, e: &LinExpr) -> Interval;
    /// The constraints, in a fixed order.
    fn constraints(&self) -> Vec<LinCons>;
    /// The independent parts, without dimensions that are free; `None` when there is nothing to split.
    fn split(&self) -> Option<Vec<Self>>;
    /// The certificate of the factor's widening, see [`NumericDomain::certificate`]; those of several blocks
    /// are added up.
    fn certificate(&self) -> Option<[u64; 2]> {
        None
    }
    /// May the factor be split, or does its representation matter to a widening?
    fn is_normal(&self) -> bool {
        true
    }
}

/// A product of factors over disjoint blocks of dimensions; dimensions in no block are free.
#[derive(Clone)]
pub struct Blocks<F> {
    limits: Limits,
    /// Sorted by first dimension; `None` is bottom.
    blocks: Option<Vec<Arc<F>>>,
}

/// Groups of blocks of two elements that overlap each other: indices into both lists.
struct Class {
    left: Vec<usize>,
    right: Vec<usize>,
}

impl<F: Factor> Blocks<F> {
    /// The blocks; `None` for bottom.
    pub fn blocks(&self) -> Option<&[Arc<F>]> {
        self.blocks.as_deref()
    }

    fn list(&self) -> &[Arc<F>] {
        self.blocks.as_deref().unwrap_or(&[])
    }

    fn with(limits: Limits, mut blocks: Vec<Arc<F>>) -> Self {
        if blocks.iter().any(|b| b.is_empty()) {
            return Blocks { limits, blocks: None };
        }
        blocks.sort_by_key(|b| b.dims()[0]);
        Blocks { limits, blocks: Some(blocks) }
    }

    fn find(&self, d: Dim) -> Option<usize> {
        self.list().iter().position(|b| b.dims().binary_search(&d).is_ok())
    }

    /// Takes block `i` out, as a value to change.
    fn take(&mut self, i: usize) -> F {
        match &mut self.blocks {
            Some(list) => Arc::unwrap_or_clone(list.remove(i)),
            // No caller has an index into bottom's empty list.
            None => unreachable!("bottom has no blocks"),
        }
    }

    /// Puts a factor back; an empty one makes the element bottom.
    fn put(&mut self, f: F) {
        if f.is_empty() {
            self.blocks = None;
        } else if let Some(list) = &mut self.blocks {
            let at = list.partition_point(|b| b.dims()[0] < f.dims()[0]);
            list.insert(at, Arc::new(f));
        }
    }

    fn put_split(&mut self, f: F) {
        if f.is_empty() {
            self.blocks = None;
            return;
        }
        match if f.is_normal() { f.split() } else { None } {
            Some(parts) => parts.into_iter().for_each(|p| self.put(p)),
            None => self.put(f),
        }
    }

    /// Takes out the one block that covers `dims`, merging blocks as needed. On failure nothing
    /// has changed.
    fn take_merged(&mut self, dims: &[Dim]) -> Result<F, TooBig> {
        let mut indices: Vec<usize> = Vec::new();
        let mut missing: Vec<Dim> = Vec::new();
        for d in dims {
            match self.find(*d) {
                Some(i) if !indices.contains(&i) => indices.push(i),
                Some(_) => {}
                None => missing.push(*d),
            }
        }
        indices.sort_unstable();
        if let ([i], true) = (indices.as_slice(), missing.is_empty()) {
            return Ok(self.take(*i));
        }
        let fresh: Vec<F> = missing.into_iter().map(|d| F::top(vec![d])).collect();
        let mut parts: Vec<&F> = indices.iter().map(|i| &*self.list()[*i]).collect();
        parts.extend(&fresh);
        if parts.iter().map(|p| p.dims().len()).sum::<usize>() > self.limits.dims {
            return Err(TooBig);
        }
        let merged = F::product(&parts, &self.limits)?;
        if let Some(list) = &mut self.blocks {
            indices.iter().rev().for_each(|i| {
                list.remove(*i);
            });
        }
        Ok(merged)
    }

    /// The classes of blocks that share dimensions.
    fn classes(a: &[Arc<F>], b: &[Arc<F>]) -> Vec<Class> {
        // Union-find over the blocks of both lists.
        let mut parent: Vec<usize> = (0..a.len() + b.len()).collect();
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        let mut owner: Vec<(Dim, usize)> = Vec::new();
        for (i, f) in a.iter().enumerate() {
            owner.extend(f.dims().iter().map(|d| (*d, i)));
        }
        owner.sort_unstable();
        for (j, f) in b.iter().enumerate() {
            for d in f.dims() {
                if let Ok(at) = owner.binary_search_by_key(d, |o| o.0) {
                    let (x, y) = (root(&mut parent, owner[at].1), root(&mut parent, a.len() + j));
                    parent[x.max(y)] = x.min(y);
                }
            }
        }
        let mut classes: Vec<Class> = Vec::new();
        let mut class_of = vec![usize::MAX; parent.len()];
        for i in 0..parent.len() {
            let r = root(&mut parent, i);
            if class_of[r] == usize::MAX {
                class_of[r] = classes.len();
                classes.push(Class { left: Vec::new(), right: Vec::new() });
            }
            let c = &mut classes[class_of[r]];
            if i < a.len() { c.left.push(i) } else { c.right.push(i - a.len()) }
        }
        classes
    }

    /// The product of some blocks of a list.
    fn gather(&self, list: &[Arc<F>], indices: &[usize]) -> Result<F, TooBig> {
        if let [i] = indices {
            return Ok((*list[*i]).clone());
        }
        let parts: Vec<&F> = indices.iter().map(|i| &*list[*i]).collect();
        if parts.iter().map(|p| p.dims().len()).sum::<usize>() > self.limits.dims {
            return Err(TooBig);
        }
        F::product(&parts, &self.limits)
    }

    /// The element without constraints on dimensions outside `common`, which is sorted.
    fn restricted(&self, common: &[Dim]) -> Self {
        let drop: Vec<Dim> =
            self.support().into_iter().filter(|d| common.binary_search(d).is_err()).collect();
        let mut out = self.clone();
        if !drop.is_empty() {
            out.forget(&drop);
        }
        out
    }

    /// Both elements restricted to the dimensions that both constrain: on all others the join and
    /// the widening are free, since a direction that is free in one argument is free in the hull.
    fn common(&self, other: &Self) -> (Self, Self) {
        let (mut a, mut b) = (self.clone(), other.clone());
        // Restricting may free more dimensions.
        loop {
            let (sa, sb) = (a.support(), b.support());
            if sa == sb {
                return (a, b);
            }
            let common: Vec<Dim> = sa.into_iter().filter(|d| sb.binary_search(d).is_ok()).collect();
            (a, b) = (a.restricted(&common), b.restricted(&common));
        }
    }

    /// Bounds of every dimension of the factors, as the last resort when nothing relational fits.
    fn box_hull(&self, a: &[&F], b: &[&F], out: &mut Vec<Arc<F>>) {
        let dims = a.iter().flat_map(|f| f.dims().iter().copied());
        for d in dims {
            let e = LinExpr::dim(d);
            let of = |list: &[&F]| {
                let f = list.iter().find(|f| f.dims().binary_search(&d).is_ok());
                f.map_or(Interval::TOP, |f| f.bounds(&e))
            };
            let mut f = F::top(vec![d]);
            // One dimension has at most two constraints: no limit is in reach.
            let fits =
                of(a).join(&of(b)).constraints_on(&e).iter().all(|c| f.assume(c, &self.limits).is_ok());
            if fits && !f.constraints().is_empty() {
                out.push(Arc::new(f));
            }
        }
    }

    /// The join of two elements over the same dimensions, neither below the other.
    fn hull(&self, other: &Self) -> Self {
        let (a, b) = self.common(other);
        let (la, lb) = (a.list(), b.list());
        let mut out: Vec<Arc<F>> = Vec::new();
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut differing = Vec::new();
        for class in Self::classes(la, lb) {
            if let ([i], [j]) = (class.left.as_slice(), class.right.as_slice())
                && (Arc::ptr_eq(&la[*i], &lb[*j]) || (la[*i].leq(&lb[*j]) && lb[*j].leq(&la[*i])))
            {
                // (P × R) ⊔ (Q × R) = (P ⊔ Q) × R: equal blocks stay apart.
                out.push(la[*i].clone());
                continue;
            }
            left.extend(&class.left);
            right.extend(&class.right);
            differing.push(class);
        }
        let joined = |x: &[usize], y: &[usize]| self.gather(la, x)?.join(&self.gather(lb, y)?, &self.limits);
        let mut add = |f: F| match f.split() {
            Some(parts) => out.extend(parts.into_iter().map(Arc::new)),
            None => out.push(Arc::new(f)),
        };
        if !left.is_empty() {
            left.sort_unstable();
            right.sort_unstable();
            match joined(&left, &right) {
                Ok(f) => add(f),
                // Too large together: each class on its own is a weaker upper bound.
                Err(TooBig) => {
                    for class in &differing {
                        match joined(&class.left, &class.right) {
                            Ok(f) => add(f),
                            Err(TooBig) => {
                                let x: Vec<&F> = class.left.iter().map(|i| &*la[*i]).collect();
                                let y: Vec<&F> = class.right.iter().map(|i| &*lb[*i]).collect();
                                let mut parts = Vec::new();
                                self.box_hull(&x, &y, &mut parts);
                                parts.into_iter().for_each(|p| add(Arc::unwrap_or_clone(p)));
                            }
                        }
                    }
                }
            }
        }
        Self::with(self.limits.clone(), out)
    }

    /// Widening of an element by one above it.
    fn widened(&self, next: &Self) -> Self {
        let (a, b) = self.common(next);
        let (la, lb) = (a.list(), b.list());
        let mut out = Vec::new();
        for class in Self::classes(la, lb) {
            if let ([i], [j]) = (class.left.as_slice(), class.right.as_slice())
                && Arc::ptr_eq(&la[*i], &lb[*j])
            {
                out.push(la[*i].clone());
                continue;
            }
            let both = self.gather(la, &class.left).and_then(|x| {
                let y = self.gather(lb, &class.right)?;
                x.widen(&y, &self.limits)
            });
            // A class that is too large to widen is given up; the next step finds it gone.
            if let Ok(f) = both {
                match if f.is_normal() { f.split() } else { None } {
                    Some(parts) => out.extend(parts.into_iter().map(Arc::new)),
                    None => out.push(Arc::new(f)),
                }
            }
        }
        Self::with(self.limits.clone(), out)
    }

    fn widen_keeping(&mut self, next: &Self, kept: &[LinCons]) -> bool {
        if next.leq(self) {
            return false;
        }
        if self.is_bottom() {
            *self = next.clone();
            return true;
        }
        let next = if self.leq(next) { next.clone() } else { self.hull(next) };
        *self = self.widened(&next);
        for c in kept {
            if matches!(c.rel, Rel::Ne | Rel::Mod(_)) || c.expr.is_constant() || self.satisfies(c) {
                continue;
            }
            let dims: Vec<Dim> = c.expr.dims().collect();
            if let Ok(mut f) = self.take_merged(&dims) {
                // Without room for it the threshold is lost, which is sound.
                let _ = f.keep(c, &self.limits);
                self.put(f);
            }
        }
        true
    }

    /// The range of an expression, not tightened to integers.
    fn range(&self, e: &LinExpr) -> Interval {
        let Some(list) = &self.blocks else { return Interval::EMPTY };
        let mut range = Interval::point(e.constant_term().clone());
        let mut left = e.terms().len();
        for b in list {
            let part: Vec<(Dim, Rat)> =
                e.terms().iter().filter(|t| b.dims().binary_search(&t.0).is_ok()).cloned().collect();
            if !part.is_empty() {
                left -= part.len();
                range = range.add(&b.bounds(&LinExpr::new(part, 0)));
            }
        }
        if left > 0 {
            return Interval::TOP;
        }
        range
    }

    /// Do the bounds of the expression alone show the constraint?
    fn satisfies(&self, c: &LinCons) -> bool {
        let b = self.range(&c.expr);
        let negative = |strict: bool| {
            b.hi.as_ref()
                .is_some_and(|h| h.value.is_negative() || (h.value.is_zero() && (!strict || h.strict)))
        };
        b.is_empty()
            || match c.rel {
                Rel::Le => negative(false),
                Rel::Lt => negative(true),
                Rel::Eq => b.as_point().is_some_and(Rat::is_zero),
                Rel::Ne => !b.contains(&Rat::ZERO),
                Rel::Mod(_) => false,
            }
    }

    /// Adds a `≤`, `<` or `=` constraint as it is.
    fn assume_convex(&mut self, c: &LinCons) {
        if self.blocks.is_none() || self.satisfies(c) {
            return;
        }
        let dims: Vec<Dim> = c.expr.dims().collect();
        match self.take_merged(&dims) {
            Ok(mut f) => {
                let fits = f.assume(c, &self.limits);
                self.put(f);
                if fits.is_err() && dims.len() > 1 {
                    self.assume_by_ranges(c);
                }
            }
            Err(TooBig) => self.assume_by_ranges(c),
        }
    }

    /// Keeps states with `e ≠ 0`, as far as convex sets can say it.
    fn assume_ne(&mut self, e: &LinExpr) {
        let b = self.bounds(e);
        let at_zero =
            |end: &Option<crate::interval::End>| end.as_ref().is_some_and(|x| x.value.is_zero() && !x.strict);
        if b.as_point().is_some_and(Rat::is_zero) {
            self.blocks = None;
        } else if at_zero(&b.lo) {
            self.assume(&LinCons { expr: -e, rel: Rel::Lt });
        } else if at_zero(&b.hi) {
            self.assume(&LinCons { expr: e.clone(), rel: Rel::Lt });
        }
    }

    /// What a constraint says of each block when the rest of it is known by its range only.
    fn assume_by_ranges(&mut self, c: &LinCons) {
        for rel in if c.rel == Rel::Eq { vec![false, true] } else { vec![false] } {
            let e = if rel { -&c.expr } else { c.expr.clone() };
            let rel = if c.rel == Rel::Lt { Rel::Lt } else { Rel::Le };
            for (d, k) in e.terms().to_vec() {
                let rest = self.bounds(&e.substitute(d, &LinExpr::constant(0)));
                let Some(least) = rest.lo else { continue };
                let rel = if least.strict { Rel::Lt } else { rel.clone() };
                let unary = LinCons { expr: LinExpr::new([(d, k)], least.value), rel };
                self.assume(&unary);
                if self.blocks.is_none() {
                    return;
                }
            }
        }
    }
}

impl<F: Factor> Lattice for Blocks<F> {
    fn is_bottom(&self) -> bool {
        self.blocks.is_none()
    }

    fn leq(&self, other: &Self) -> bool {
        let (Some(a), Some(b)) = (&self.blocks, &other.blocks) else { return self.blocks.is_none() };
        b.iter().all(|y| {
            // Both lists are sorted by first dimension.
            let at = a.partition_point(|x| x.dims()[0] < y.dims()[0]);
            match a.get(at).filter(|x| x.dims() == y.dims()) {
                Some(x) => Arc::ptr_eq(x, y) || x.leq(y),
                None => y.constraints().iter().all(|c| self.satisfies(c)),
            }
        })
    }

    fn join_with(&mut self, other: &Self) -> bool {
        if other.leq(self) {
            return false;
        }
        *self = if self.leq(other) { other.clone() } else { self.hull(other) };
        true
    }

    fn meet_with(&mut self, other: &Self) {
        let (Some(a), Some(b)) = (&self.blocks, &other.blocks) else {
            self.blocks = None;
            return;
        };
        let mut out: Vec<Arc<F>> = Vec::new();
        let mut late: Vec<LinCons> = Vec::new();
        for class in Self::classes(a, b) {
            match (class.left.as_slice(), class.right.as_slice()) {
                (left, []) => out.extend(left.iter().map(|i| a[*i].clone())),
                ([], right) => out.extend(right.iter().map(|j| b[*j].clone())),
                ([i], [j]) if Arc::ptr_eq(&a[*i], &b[*j]) => out.push(a[*i].clone()),
                (left, [j]) if left.len() == 1 && a[left[0]].dims() == b[*j].dims() => {
                    let mut f = (*a[left[0]]).clone();
                    match f.meet(&b[*j], &self.limits) {
                        Ok(()) => out.push(Arc::new(f)),
                        Err(TooBig) => out.push(a[left[0]].clone()),
                    }
                }
                (left, right) => {
                    out.extend(left.iter().map(|i| a[*i].clone()));
                    late.extend(right.iter().flat_map(|j| b[*j].constraints()));
                }
            }
        }
        *self = Self::with(self.limits.clone(), out);
        late.iter().for_each(|c| self.assume_convex(c));
    }

    fn widen_with(&mut self, next: &Self) -> bool {
        self.widen_keeping(next, &[])
    }

    /// Takes from `next` the bounds in octagonal directions that `self` leaves open; there are
    /// finitely many of them.
    fn narrow_with(&mut self, next: &Self) {
        let Some(blocks) = &next.blocks else {
            self.blocks = None;
            return;
        };
        if self.blocks.is_none() {
            return;
        }
        for c in blocks.iter().flat_map(|b| b.constraints()) {
            let octagonal = c.expr.terms().len() <= 2 && c.expr.terms().iter().all(|t| t.1.abs() == Rat::ONE);
            if octagonal && self.range(&c.expr).hi.is_none() {
                self.assume_convex(&c);
            }
        }
    }
}

impl<F: Factor> NumericDomain for Blocks<F> {
    type Ctx = Limits;

    fn top(limits: &Limits) -> Self {
        Blocks { limits: limits.clone(), blocks: Some(Vec::new()) }
    }

    fn bottom(limits: &Limits) -> Self {
        Blocks { limits: limits.clone(), blocks: None }
    }

    fn ctx(&self) -> Limits {
        self.limits.clone()
    }

    fn support(&self) -> Vec<Dim> {
        let mut dims: Vec<Dim> = self.list().iter().flat_map(|b| b.dims().iter().copied()).collect();
        dims.sort_unstable();
        dims
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        if self.blocks.is_none() {
            return;
        }
        let range = self.bounds(e).tighten_for(d);
        if range.is_empty() {
            self.blocks = None;
            return;
        }
        if !e.mentions(d) {
            self.forget(&[d]);
        }
        let mut dims: Vec<Dim> = e.dims().collect();
        if let Err(i) = dims.binary_search(&d) {
            dims.insert(i, d);
        }
        if range.as_point().is_none()
            && let Ok(mut f) = self.take_merged(&dims)
        {
            let assigned = f.assign(d, e, &self.limits);
            self.put(f);
            if assigned.is_ok() {
                return;
            }
        }
        self.assign_interval(d, &range);
    }

    fn assume(&mut self, c: &LinCons) {
        if self.blocks.is_none() {
            return;
        }
        let c = c.normalize();
        match &c.rel {
            _ if c.truth() == Some(false) => self.blocks = None,
            _ if c.expr.is_constant() => {}
            Rel::Ne => self.assume_ne(&c.expr),
            Rel::Mod(_) => {
                if let [(d, k)] = c.expr.terms() {
                    let rest = Interval::point(c.expr.constant_term().clone());
                    let (d, old) = (*d, self.bounds_of(*d));
                    let new = old.refine(d, k, &rest, &c.rel);
                    if new != old {
                        new.constraints_on(&LinExpr::dim(d)).iter().for_each(|c| self.assume(c));
                    }
                }
            }
            _ => self.assume_convex(&c),
        }
    }

    fn forget(&mut self, dims: &[Dim]) {
        let Some(list) = &self.blocks else { return };
        let touched = |b: &F| dims.iter().any(|d| b.dims().binary_search(d).is_ok());
        if !list.iter().any(|b| touched(b)) {
            return;
        }
        let (hit, rest): (Vec<_>, Vec<_>) = list.iter().cloned().partition(|b| touched(b));
        self.blocks = Some(rest);
        for block in hit {
            let remove: Vec<Dim> = block.dims().iter().copied().filter(|d| dims.contains(d)).collect();
            if remove.len() == block.dims().len() {
                continue;
            }
            let mut f = Arc::unwrap_or_clone(block);
            if f.project(&remove, &self.limits).is_ok() {
                self.put_split(f);
            } else {
                // Keep at least the ranges of what stays.
                for d in f.dims().to_vec() {
                    if !remove.contains(&d) {
                        let range = f.bounds(&LinExpr::dim(d));
                        range.constraints_on(&LinExpr::dim(d)).iter().for_each(|c| self.assume(c));
                    }
                }
            }
        }
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        let lost: Vec<Dim> = map.iter().map(|m| m.1).filter(|to| map.iter().all(|m| m.0 != *to)).collect();
        self.forget(&lost);
        let Some(list) = &mut self.blocks else { return };
        let new = |d: Dim| map.iter().find(|m| m.0 == d).map_or(d, |m| m.1);
        for b in list.iter_mut() {
            if b.dims().iter().any(|d| new(*d) != *d) {
                Arc::make_mut(b).rename(&new);
            }
        }
        list.sort_by_key(|b| b.dims()[0]);
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        let range = self.range(e);
        if e.is_integral() { range.tighten_int() } else { range }
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        match &self.blocks {
            None => Vec::new(),
            Some(list) => vec![list.iter().flat_map(|b| b.constraints()).collect()],
        }
    }

    fn constraints_on(&self, dims: &[Dim]) -> Vec<LinCons> {
        let touched = |b: &&Arc<F>| dims.iter().any(|d| b.dims().binary_search(d).is_ok());
        let mut out: Vec<LinCons> =
            self.list().iter().filter(touched).flat_map(|b| b.constraints()).collect();
        out.retain(|c| c.expr.dims().all(|d| dims.contains(&d)));
        // Bounds that follow from relations with other dimensions.
        out.extend(dims.iter().flat_map(|d| self.bounds_of(*d).constraints_on(&LinExpr::dim(*d))));
        out
    }

    fn certificate(&self) -> Option<Vec<u64>> {
        let Some(list) = &self.blocks else { return Some(vec![u64::MAX; 2]) };
        let mut sum = vec![0, 0];
        for b in list {
            let c = b.certificate()?;
            sum[0] += c[0];
            sum[1] += c[1];
        }
        Some(sum)
    }

    fn widen_with_thresholds(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        if self.is_bottom() || next.is_bottom() {
            return self.widen_keeping(next, &[]);
        }
        // Thresholds must hold in the order of the domain, not just for the integers inside.
        let mut kept = Vec::new();
        if !thresholds.values().is_empty() {
            for d in self.support() {
                let e = LinExpr::dim(d);
                kept.extend(thresholds.around(d, &self.range(&e).join(&next.range(&e))));
            }
        }
        let both = |c: &&LinCons| self.satisfies(c) && next.satisfies(c);
        kept.extend(thresholds.constraints().iter().filter(both).cloned());
        self.widen_keeping(next, &kept)
    }
}

impl<F: Factor> fmt::Debug for Blocks<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_with(&|d| d.to_string()))
    }
}
