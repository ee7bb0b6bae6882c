//! The numeric domain N: its elements behind small numbers, with operations that are computed once.
//!
//! The data structures of the paper are parametric in N. Here N is chosen when a [`Numerics`] is made
//! and its elements are known by [`NumId`], so that the structures themselves exist once and not once
//! for each domain, an element can be the terminal of a diagram, and repeated operations are lookups.

use crate::transformer::{NumExpr, NumStmt};
use palisade_base::Budget;
use palisade_domains::{
    Dim, Domain, Dynamic, Interval, Lattice, LinCons, LinExpr, NumericDomain, Rel, Thresholds,
};
use palisade_num::Rat;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// An element of N in a [`Numerics`]. Equivalent elements have equal numbers, except that what a
/// widening makes keeps a number of its own (see [`Numerics::widen`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NumId(u32);

impl NumId {
    /// No state.
    pub const BOT: NumId = NumId(0);
    /// All states.
    pub const TOP: NumId = NumId(1);
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Binary {
    Meet,
    Join,
    Leq,
}

/// The elements of N that are in use, and what is known about them.
pub struct Numerics {
    domain: Domain,
    values: Vec<Dynamic>,
    /// Numbers by a fingerprint that equivalent elements share.
    known: FxHashMap<u64, Vec<NumId>>,
    memo: FxHashMap<(Binary, NumId, NumId), NumId>,
    /// Results of [`Numerics::assume`].
    assumed: FxHashMap<NumId, FxHashMap<Vec<LinCons>, NumId>>,
    /// Results of [`Numerics::forget`].
    forgotten: FxHashMap<NumId, FxHashMap<Vec<Dim>, NumId>>,
    /// Results of [`Numerics::post`].
    posts: FxHashMap<NumStmt, FxHashMap<NumId, NumId>>,
    /// Where widening tries to stop.
    pub thresholds: Thresholds,
}

impl Numerics {
    /// Only top and bottom.
    pub fn new(domain: Domain, budget: &Budget) -> Numerics {
        let ctx = (domain.context)(budget);
        let mut this = Numerics {
            domain,
            values: vec![Dynamic::bottom(&ctx), Dynamic::top(&ctx)],
            known: FxHashMap::default(),
            memo: FxHashMap::default(),
            assumed: FxHashMap::default(),
            forgotten: FxHashMap::default(),
            posts: FxHashMap::default(),
            thresholds: Thresholds::none(),
        };
        let top = this.fingerprint(NumId::TOP);
        this.known.insert(top, vec![NumId::TOP]);
        this
    }

    /// Which domain N is.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    fn get(&self, n: NumId) -> &Dynamic {
        &self.values[n.0 as usize]
    }

    /// A number that equivalent elements share: the bounds of their dimensions, and of a sum of them that tells
    /// elements apart that only relate the dimensions in other ways.
    fn fingerprint(&self, n: NumId) -> u64 {
        let mut hasher = FxHasher::default();
        let x = self.get(n);
        let mut sum = LinExpr::constant(0);
        for d in x.support() {
            let range = x.bounds_of(d);
            if range != Interval::TOP {
                (d, range).hash(&mut hasher);
                // Different factors of both signs.
                let k = i64::from(d.index()) + 1;
                sum = sum.add_scaled(&LinExpr::dim(d), &Rat::from(if k % 2 == 0 { k } else { -2 * k }));
            }
        }
        x.bounds(&sum).hash(&mut hasher);
        hasher.finish()
    }

    fn add(&mut self, e: Dynamic) -> NumId {
        if e.is_bottom() {
            return NumId::BOT;
        }
        let id = NumId(u32::try_from(self.values.len()).expect("fewer than 2^32 elements fit in memory"));
        self.values.push(e);
        let print = self.fingerprint(id);
        let same = self
            .known
            .get(&print)
            .and_then(|ids| ids.iter().copied().find(|&k| self.get(k).equiv(self.get(id))));
        match same {
            Some(known) => {
                self.values.pop();
                known
            }
            None => {
                self.known.entry(print).or_default().push(id);
                id
            }
        }
    }

    fn changed(&mut self, n: NumId, op: impl FnOnce(&mut Dynamic)) -> NumId {
        let mut e = self.get(n).clone();
        op(&mut e);
        self.add(e)
    }

    /// N.γ: a disjunction of conjunctions.
    pub fn gamma(&self, n: NumId) -> Vec<Vec<LinCons>> {
        self.get(n).to_constraints()
    }

    /// Is the state in γ?
    pub fn contains(&self, n: NumId, state: &dyn Fn(Dim) -> Rat) -> bool {
        self.get(n).contains(state)
    }

    /// N.α of a conjunction of linear constraints.
    pub fn alpha(&mut self, conjunction: &[LinCons]) -> NumId {
        self.assume(NumId::TOP, conjunction)
    }

    /// Keeps the states that satisfy the constraints.
    pub fn assume(&mut self, n: NumId, conjunction: &[LinCons]) -> NumId {
        if n == NumId::BOT || conjunction.is_empty() {
            return n;
        }
        if let Some(&known) = self.assumed.get(&n).and_then(|known| known.get(conjunction)) {
            return known;
        }
        let result = self.changed(n, |e| {
            conjunction.iter().for_each(|c| e.assume(c));
            // What one constraint leaves may let another say more: a disequality at a bound.
            conjunction.iter().filter(|c| c.rel == Rel::Ne).for_each(|c| e.assume(c));
        });
        self.assumed.entry(n).or_default().insert(conjunction.to_vec(), result);
        result
    }

    /// Does every state satisfy the constraint?
    pub fn entails(&self, n: NumId, c: &LinCons) -> bool {
        self.get(n).entails(c)
    }

    /// The bounds of an expression.
    pub fn bounds(&self, n: NumId, e: &LinExpr) -> Interval {
        self.get(n).bounds(e)
    }

    /// Lets the dimensions take any value.
    pub fn forget(&mut self, n: NumId, dims: &[Dim]) -> NumId {
        if n == NumId::BOT || dims.is_empty() {
            return n;
        }
        if let Some(&known) = self.forgotten.get(&n).and_then(|known| known.get(dims)) {
            return known;
        }
        let result = self.changed(n, |e| e.forget(dims));
        self.forgotten.entry(n).or_default().insert(dims.to_vec(), result);
        result
    }

    /// The dimensions that the element may constrain.
    pub fn support(&self, n: NumId) -> Vec<Dim> {
        self.get(n).support()
    }

    fn memoised(&mut self, op: Binary, a: NumId, b: NumId, make: impl FnOnce(&mut Self) -> NumId) -> NumId {
        if let Some(&known) = self.memo.get(&(op, a, b)) {
            return known;
        }
        let result = make(self);
        self.memo.insert((op, a, b), result);
        result
    }

    /// N.meet.
    pub fn meet(&mut self, a: NumId, b: NumId) -> NumId {
        match (a, b) {
            _ if a == b => a,
            (NumId::BOT, _) | (_, NumId::BOT) => NumId::BOT,
            (NumId::TOP, n) | (n, NumId::TOP) => n,
            _ => self.memoised(Binary::Meet, a.min(b), a.max(b), |this| {
                let (mut x, y) = (this.get(a.min(b)).clone(), this.get(a.max(b)).clone());
                x.meet_with(&y);
                this.add(x)
            }),
        }
    }

    /// N.join.
    pub fn join(&mut self, a: NumId, b: NumId) -> NumId {
        match (a, b) {
            _ if a == b => a,
            (NumId::BOT, n) | (n, NumId::BOT) => n,
            (NumId::TOP, _) | (_, NumId::TOP) => NumId::TOP,
            _ => self.memoised(Binary::Join, a.min(b), a.max(b), |this| {
                let (mut x, y) = (this.get(a.min(b)).clone(), this.get(a.max(b)).clone());
                x.join_with(&y);
                this.add(x)
            }),
        }
    }

    /// N.leq.
    pub fn leq(&mut self, a: NumId, b: NumId) -> bool {
        if a == b || a == NumId::BOT || b == NumId::TOP {
            return true;
        }
        // The answer as an element: top for yes.
        let answer = self.memoised(Binary::Leq, a, b, |this| match this.get(a).leq(this.get(b)) {
            true => NumId::TOP,
            false => NumId::BOT,
        });
        answer == NumId::TOP
    }

    /// N.widen, with the thresholds. A result that grew gets a number of its own, even if an equivalent
    /// element is known: that one may be represented in another way, and some domains' widenings (of
    /// octagons) only end on the representation that the last one left.
    pub fn widen(&mut self, a: NumId, b: NumId) -> NumId {
        if self.leq(b, a) {
            return a;
        }
        if a == NumId::BOT {
            return b;
        }
        let (mut x, y) = (self.get(a).clone(), self.get(b).clone());
        x.widen_with_thresholds(&y, &self.thresholds);
        if x.is_top() {
            return NumId::TOP;
        }
        let id = NumId(u32::try_from(self.values.len()).expect("fewer than 2^32 elements fit in memory"));
        self.values.push(x);
        id
    }

    /// N.αPost of a numeric statement.
    pub fn post(&mut self, s: &NumStmt, n: NumId) -> NumId {
        if n == NumId::BOT {
            return n;
        }
        if let Some(&known) = self.posts.get(s).and_then(|known| known.get(&n)) {
            return known;
        }
        let result = self.changed(n, |e| apply(e, s));
        match self.posts.get_mut(s) {
            Some(known) => _ = known.insert(n, result),
            None => _ = self.posts.insert(s.clone(), FxHashMap::from_iter([(n, result)])),
        }
        result
    }

    /// The element as text.
    pub fn display(&self, n: NumId, name: &dyn Fn(Dim) -> String) -> String {
        self.get(n).display_with(name)
    }
}

/// A numeric statement on an element.
fn apply(x: &mut Dynamic, s: &NumStmt) {
    match s {
        NumStmt::Assume(tree, truth) => x.assume_tree(tree, *truth),
        NumStmt::Assign(assignments) => {
            let single = assignments.len() == 1;
            let mut renamed = Vec::new();
            for (i, (d, e)) in (0u32..).zip(assignments) {
                let to = if single { *d } else { d.scratch(i) };
                match e {
                    NumExpr::Linear(e) => x.assign(to, e),
                    NumExpr::Tree(t) => x.assign_tree(to, t),
                    NumExpr::Any(range) => x.assign_interval(to, range),
                }
                renamed.push((to, *d));
            }
            if !single {
                x.rename(&renamed);
            }
        }
    }
}
