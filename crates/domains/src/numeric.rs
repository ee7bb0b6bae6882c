//! The trait that every numeric domain implements, and its generic parts.

use crate::dim::Dim;
use crate::expr::Tree;
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr};
use crate::linearize;
use crate::machine::MachineInt;
use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// Values and constraints at which widening should stop if it can: usually the constants and
/// the guards of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thresholds {
    values: Vec<Rat>,
    /// Those of dimensions that have fewer.
    own: FxHashMap<Dim, Arc<[Rat]>>,
    constraints: Vec<LinCons>,
}

impl Thresholds {
    /// No thresholds: plain widening.
    pub fn none() -> Thresholds {
        Thresholds::new([], [])
    }

    /// Bounds that any variable may stop at, and constraints for relational domains.
    pub fn new(
        values: impl IntoIterator<Item = Rat>,
        constraints: impl IntoIterator<Item = LinCons>,
    ) -> Thresholds {
        let constraints = constraints.into_iter().collect();
        Thresholds { values: ascending(values), own: FxHashMap::default(), constraints }
    }

    /// From now on these dimensions may stop at these values alone.
    pub fn narrow_down(
        &mut self,
        dims: impl IntoIterator<Item = Dim>,
        values: impl IntoIterator<Item = Rat>,
    ) {
        let values: Arc<[Rat]> = ascending(values).into();
        self.own.extend(dims.into_iter().map(|d| (d, Arc::clone(&values))));
    }

    /// All bounds that any dimension may stop at, ascending.
    pub fn values(&self) -> &[Rat] {
        &self.values
    }

    /// The bounds of a dimension, ascending.
    pub fn of(&self, d: Dim) -> &[Rat] {
        self.own.get(&d).map_or(&self.values, |own| own)
    }

    /// The constraints.
    pub fn constraints(&self) -> &[LinCons] {
        &self.constraints
    }

    /// The tightest bounds on `d` by threshold values that an interval of its values respects.
    pub fn around(&self, d: Dim, range: &Interval) -> Vec<LinCons> {
        let values = self.of(d);
        let lower = range.lo.as_ref().and_then(|lo| {
            let n = values.partition_point(|t| *t <= lo.value);
            (n > 0).then(|| LinCons::ge(d, LinExpr::constant(values[n - 1].clone())))
        });
        let upper = range.hi.as_ref().and_then(|hi| {
            let n = values.partition_point(|t| *t < hi.value);
            values.get(n).map(|t| LinCons::le(d, LinExpr::constant(t.clone())))
        });
        lower.into_iter().chain(upper).collect()
    }
}

fn ascending(values: impl IntoIterator<Item = Rat>) -> Vec<Rat> {
    let mut values: Vec<Rat> = values.into_iter().collect();
    values.sort();
    values.dedup();
    values
}

/// An abstract domain whose elements stand for sets of states, a state being a function from
/// [`Dim`]s to numbers of their sort.
///
/// Every transformer is sound: the result covers the exact image of γ(self). On bottom every
/// transformer gives bottom. A domain that cannot express an effect weakens it.
pub trait NumericDomain: Lattice + fmt::Debug {
    /// What elements are made from: a shared manager, limits, or `()`. Elements that meet in one
    /// operation come from the same context.
    type Ctx: Clone;

    /// All states.
    fn top(ctx: &Self::Ctx) -> Self;

    /// No state.
    fn bottom(ctx: &Self::Ctx) -> Self;

    /// The context this element was made from.
    fn ctx(&self) -> Self::Ctx;

    /// The dimensions that the element may constrain, ascending. On all others membership does
    /// not depend.
    fn support(&self) -> Vec<Dim>;

    /// `d := e`, the image of γ(self). States in which `e` has no value of `d`'s sort have no
    /// successor.
    fn assign(&mut self, d: Dim, e: &LinExpr);

    /// Keeps (at least) the states that satisfy the constraint.
    fn assume(&mut self, c: &LinCons);

    /// Lets the dimensions take any value.
    fn forget(&mut self, dims: &[Dim]);

    /// Renames dimensions simultaneously: afterwards `to` has the value that `from` had. A
    /// source that is not a target becomes free; a target that is not a source loses its old value.
    /// Sources are pairwise different, so are targets, and each pair has one sort.
    fn rename(&mut self, map: &[(Dim, Dim)]);

    /// An interval around the values of `e` over γ(self); empty exactly for bottom.
    fn bounds(&self, e: &LinExpr) -> Interval;

    /// The element as a disjunction of conjunctions: γ(self) satisfies it. Convex domains give
    /// one conjunction; bottom gives none. What a linear constraint cannot say is left out.
    fn to_constraints(&self) -> Vec<Vec<LinCons>>;

    /// Is the state in γ(self)? Domains whose elements say more than their constraints override it.
    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        self.to_constraints().iter().any(|conj| conj.iter().all(|c| c.holds(state)))
    }

    /// Widening that stops at thresholds: a threshold that holds in both arguments holds in the
    /// result. Terminates like [`Lattice::widen_with`], for one fixed `thresholds` per chain.
    ///
    /// The provided form is "widening up to": it widens and then assumes the constraints that both
    /// arguments satisfied. A threshold once lost never returns, so chains still stabilise.
    fn widen_with_thresholds(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        let kept = up_to(self, next, thresholds);
        let grew = self.widen_with(next);
        for c in &kept {
            self.assume(c);
        }
        grew
    }

    /// All assignments at once: every right side is evaluated in the old state. The targets
    /// are pairwise different.
    fn assign_parallel(&mut self, assignments: &[(Dim, LinExpr)]) {
        if let [(d, e)] = assignments {
            return self.assign(*d, e);
        }
        let mut map = Vec::with_capacity(assignments.len());
        for (i, (d, e)) in (0u32..).zip(assignments) {
            let temporary = d.scratch(i);
            self.assign(temporary, e);
            map.push((temporary, *d));
        }
        self.rename(&map);
    }

    /// `d` takes any value of the interval.
    fn assign_interval(&mut self, d: Dim, range: &Interval) {
        self.forget(&[d]);
        for c in range.constraints_on(&LinExpr::dim(d)) {
            self.assume(&c);
        }
    }

    /// Makes `copy` a second instance of `original`: it satisfies the same constraints with all
    /// other dimensions, but the two are not related to each other. The old value of `copy` is lost.
    fn expand(&mut self, original: Dim, copy: Dim) {
        self.forget(&[copy]);
        let mut twin = self.clone();
        twin.rename(&[(original, copy)]);
        self.meet_with(&twin);
    }

    /// Replaces `d` by the value that the machine type gives it. Sound for any value of `d`;
    /// exact where the domain can express the shift of the periods that occur.
    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        wrap_by_periods(self, d, ty, 2);
    }

    /// Assigns a tree expression, by linearisation unless the domain knows better.
    fn assign_tree(&mut self, d: Dim, e: &Tree) {
        linearize::assign_tree(self, d, e);
    }

    /// Keeps (at least) the states in which the tree is (`truth`) or is not zero.
    fn assume_tree(&mut self, e: &Tree, truth: bool) {
        linearize::assume_tree(self, e, truth);
    }

    /// The bounds of one dimension.
    fn bounds_of(&self, d: Dim) -> Interval {
        self.bounds(&LinExpr::dim(d))
    }

    /// Does every state satisfy the constraint? `true` is certain, `false` means "not shown".
    fn entails(&self, c: &LinCons) -> bool {
        self.is_bottom()
            || c.negate().iter().all(|n| {
                let mut outside = self.clone();
                outside.assume(n);
                outside.is_bottom()
            })
    }

    /// The constraints of a convex element that only speak of the given dimensions: what a
    /// reduced product tells its other side. Nothing for a disjunctive element.
    fn constraints_on(&self, dims: &[Dim]) -> Vec<LinCons> {
        match self.to_constraints().as_mut_slice() {
            [conj] => std::mem::take(conj)
                .into_iter()
                .filter(|c| c.expr.dims().all(|d| dims.contains(&d)))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// A measure, compared lexicographically, that every growing step of the domain's widening
    /// decreases (Bagnara, Hill, Zaffanella call it a certificate). `None` when the domain has none.
    fn certificate(&self) -> Option<Vec<u64>> {
        None
    }

    /// Is it above everything?
    fn is_top(&self) -> bool {
        Self::top(&self.ctx()).leq(self)
    }

    /// The element as text, with the given names.
    fn display_with(&self, name: &dyn Fn(Dim) -> String) -> String {
        let disjuncts = self.to_constraints();
        if disjuncts.is_empty() {
            return "false".into();
        }
        let conjunction = |cs: &Vec<LinCons>| {
            let parts: Vec<String> = cs.iter().map(|c| c.display_with(name).to_string()).collect();
            if parts.is_empty() { "true".into() } else { parts.join(" && ") }
        };
        let parts: Vec<String> = disjuncts.iter().map(conjunction).collect();
        parts.join(" || ")
    }
}

/// The threshold constraints that both elements satisfy: for each dimension the tightest
/// threshold values around it, and every threshold constraint.
pub fn up_to<D: NumericDomain>(a: &D, b: &D, thresholds: &Thresholds) -> Vec<LinCons> {
    if a.is_bottom() || b.is_bottom() {
        return Vec::new();
    }
    let mut kept = Vec::new();
    if !thresholds.values().is_empty() {
        for d in a.support() {
            kept.extend(thresholds.around(d, &a.bounds_of(d).join(&b.bounds_of(d))));
        }
    }
    kept.extend(thresholds.constraints().iter().filter(|c| a.entails(c) && b.entails(c)).cloned());
    kept
}

/// The wrap that any domain can do: when the range of `d` touches at most `pieces` periods of the
/// type, each piece is cut out, shifted exactly and joined again; otherwise `d` becomes any value
/// of the type.
pub fn wrap_by_periods<D: NumericDomain>(dom: &mut D, d: Dim, ty: MachineInt, pieces: u32) {
    if dom.is_bottom() {
        return;
    }
    let range = dom.bounds_of(d).tighten_int();
    let Some((lo, hi)) = range.int_ends() else {
        if range.is_empty() {
            // A dimension without a value: the element is bottom, even if it did not know.
            return dom.assume(&LinCons::contradiction());
        }
        return dom.assign_interval(d, &ty.range());
    };
    let (first, last) = (ty.period(&lo), ty.period(&hi));
    if &last - &first >= Int::from(pieces) {
        return dom.assign_interval(d, &ty.range());
    }
    let shifted = |dom: &mut D, k: &Int| {
        if !k.is_zero() {
            dom.assign(d, &LinExpr::dim(d).add_constant(&-Rat::from(k.shl(ty.width))));
        }
    };
    if first == last {
        return shifted(dom, &first);
    }
    let mut union: Option<D> = None;
    let mut k = first;
    while k <= last {
        let base = k.shl(ty.width);
        let mut piece = dom.clone();
        piece.assume(&LinCons::ge(d, LinExpr::constant(ty.min() + &base)));
        piece.assume(&LinCons::le(d, LinExpr::constant(ty.max() + &base)));
        shifted(&mut piece, &k);
        match &mut union {
            Some(u) => {
                u.join_with(&piece);
            }
            None => union = Some(piece),
        }
        k += Int::ONE;
    }
    if let Some(u) = union {
        *dom = u;
    }
    // A domain at its limits may have been unable to cut the pieces out.
    if !dom.bounds_of(d).leq(&ty.range()) {
        dom.assign_interval(d, &ty.range());
    }
}
