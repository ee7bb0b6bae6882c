//! Reduced products: two domains side by side that tell each other what they know.

use crate::dim::Dim;
use crate::expr::Tree;
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr};
use crate::machine::MachineInt;
use crate::numeric::{NumericDomain, Thresholds};
use palisade_num::Rat;
use std::fmt;

/// The conjunction of an element of each domain. After a transformer the two sides exchange the
/// constraints on the dimensions that it touched (a bounded reduction); lattice operations
/// work side by side, so that widening terminates because both widenings do.
#[derive(Clone)]
pub struct Product<A, B> {
    left: A,
    right: B,
}

/// How often constraints go back and forth after an operation.
const EXCHANGES: usize = 2;

impl<A: NumericDomain, B: NumericDomain> Product<A, B> {
    /// The conjunction of two elements.
    pub fn new(left: A, right: B) -> Self {
        let mut p = Product { left, right };
        p.spread_bottom();
        p
    }

    /// The left side.
    pub fn left(&self) -> &A {
        &self.left
    }

    /// The right side.
    pub fn right(&self) -> &B {
        &self.right
    }

    /// One side without a state leaves the product without.
    fn spread_bottom(&mut self) {
        if self.left.is_bottom() || self.right.is_bottom() {
            self.left = A::bottom(&self.left.ctx());
            self.right = B::bottom(&self.right.ctx());
        }
    }

    /// Exchanges what the sides know of some dimensions.
    fn reduce(&mut self, dims: &[Dim]) {
        self.spread_bottom();
        for _ in 0..EXCHANGES {
            if self.left.is_bottom() {
                return;
            }
            for c in self.left.constraints_on(dims) {
                self.right.assume(&c);
            }
            for c in self.right.constraints_on(dims) {
                self.left.assume(&c);
            }
            self.spread_bottom();
        }
    }
}

impl<A: NumericDomain, B: NumericDomain> Lattice for Product<A, B> {
    fn is_bottom(&self) -> bool {
        self.left.is_bottom()
    }

    fn leq(&self, other: &Self) -> bool {
        self.left.leq(&other.left) && self.right.leq(&other.right)
    }

    fn join_with(&mut self, other: &Self) -> bool {
        let left = self.left.join_with(&other.left);
        self.right.join_with(&other.right) | left
    }

    fn meet_with(&mut self, other: &Self) {
        self.left.meet_with(&other.left);
        self.right.meet_with(&other.right);
        self.spread_bottom();
    }

    fn widen_with(&mut self, next: &Self) -> bool {
        let left = self.left.widen_with(&next.left);
        self.right.widen_with(&next.right) | left
    }

    fn narrow_with(&mut self, next: &Self) {
        self.left.narrow_with(&next.left);
        self.right.narrow_with(&next.right);
        self.spread_bottom();
    }
}

impl<A: NumericDomain, B: NumericDomain> NumericDomain for Product<A, B> {
    type Ctx = (A::Ctx, B::Ctx);

    fn top(ctx: &Self::Ctx) -> Self {
        Product { left: A::top(&ctx.0), right: B::top(&ctx.1) }
    }

    fn bottom(ctx: &Self::Ctx) -> Self {
        Product { left: A::bottom(&ctx.0), right: B::bottom(&ctx.1) }
    }

    fn ctx(&self) -> Self::Ctx {
        (self.left.ctx(), self.right.ctx())
    }

    fn support(&self) -> Vec<Dim> {
        let mut dims = [self.left.support(), self.right.support()].concat();
        dims.sort_unstable();
        dims.dedup();
        dims
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        self.left.assign(d, e);
        self.right.assign(d, e);
        self.reduce(&[d]);
    }

    fn assign_parallel(&mut self, assignments: &[(Dim, LinExpr)]) {
        self.left.assign_parallel(assignments);
        self.right.assign_parallel(assignments);
        self.reduce(&assignments.iter().map(|a| a.0).collect::<Vec<_>>());
    }

    fn assign_interval(&mut self, d: Dim, range: &Interval) {
        self.left.assign_interval(d, range);
        self.right.assign_interval(d, range);
        self.reduce(&[d]);
    }

    fn assume(&mut self, c: &LinCons) {
        self.left.assume(c);
        self.right.assume(c);
        self.reduce(&c.expr.dims().collect::<Vec<_>>());
    }

    fn forget(&mut self, dims: &[Dim]) {
        self.left.forget(dims);
        self.right.forget(dims);
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        self.left.rename(map);
        self.right.rename(map);
    }

    fn expand(&mut self, original: Dim, copy: Dim) {
        self.left.expand(original, copy);
        self.right.expand(original, copy);
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        self.left.bounds(e).meet(&self.right.bounds(e))
    }

    /// The disjunction of the conjunctions of both sides' disjuncts; when that would be large, of one
    /// side's only.
    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        const MAX_DISJUNCTS: usize = 256;
        let (a, b) = (self.left.to_constraints(), self.right.to_constraints());
        if a.len().saturating_mul(b.len()) > MAX_DISJUNCTS {
            return if a.len() <= b.len() { a } else { b };
        }
        a.iter().flat_map(|x| b.iter().map(move |y| [x.as_slice(), y].concat())).collect()
    }

    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        self.left.contains(state) && self.right.contains(state)
    }

    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        self.left.wrap(d, ty);
        self.right.wrap(d, ty);
        self.reduce(&[d]);
    }

    fn assign_tree(&mut self, d: Dim, e: &Tree) {
        self.left.assign_tree(d, e);
        self.right.assign_tree(d, e);
        self.reduce(&[d]);
    }

    fn assume_tree(&mut self, e: &Tree, truth: bool) {
        self.left.assume_tree(e, truth);
        self.right.assume_tree(e, truth);
        let mut dims: Vec<Dim> = Vec::new();
        for n in e.nodes() {
            if let crate::expr::Node::Dim(d) = n
                && !dims.contains(d)
            {
                dims.push(*d);
            }
        }
        self.reduce(&dims);
    }

    fn widen_with_thresholds(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        let left = self.left.widen_with_thresholds(&next.left, thresholds);
        self.right.widen_with_thresholds(&next.right, thresholds) | left
    }

    fn constraints_on(&self, dims: &[Dim]) -> Vec<LinCons> {
        [self.left.constraints_on(dims), self.right.constraints_on(dims)].concat()
    }
}

impl<A: NumericDomain, B: NumericDomain> fmt::Debug for Product<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({:?}) & ({:?})", self.left, self.right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Affine, Congruences, Intervals, Limits, Octagons, Polyhedra, Powerset, PowersetCtx};
    use crate::{PowersetWidening, WordSize};

    mod boxes_and_congruences {
        use super::*;
        crate::laws::laws!(Product<Intervals, Congruences>, ((), ()));
    }

    mod octagons_and_affine {
        use super::*;
        crate::laws::laws!(Product<Octagons, Affine>, (Limits::STANDARD, WordSize::new(4)));
    }

    mod polyhedra_and_boxes {
        use super::*;
        crate::laws::laws!(Product<Polyhedra, Intervals>, (Limits::STANDARD, ()));
    }

    mod powerset_of_product {
        use super::*;
        type Both = Powerset<Product<Intervals, Congruences>>;
        fn ctx() -> PowersetCtx<((), ())> {
            PowersetCtx { base: ((), ()), max_disjuncts: 4, widening: PowersetWidening::Connector }
        }
        crate::laws::laws!(Both, ctx());
    }

    #[test]
    fn bounds_and_strides_refine_each_other() {
        let x = Dim::int(0);
        let mut p = Product::<Intervals, Congruences>::top(&((), ()));
        p.assume(&LinCons::congruent(x, 1, 4.into()));
        p.assume(&LinCons::ge(x, 2));
        p.assume(&LinCons::le(x, 8));
        assert_eq!(p.bounds_of(x), Interval::point(5));
        // And the stride side learns that it is a single number.
        assert_eq!(p.right().bounds_of(x), Interval::point(5));
        p.assume(&LinCons::ne(x, 5));
        assert!(p.is_bottom());
    }
}
