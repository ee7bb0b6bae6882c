//! A domain that is chosen when the program runs: one type for code that should exist once and not once
//! for each domain.

use crate::boxes::Boxes;
use crate::dim::Dim;
use crate::expr::Tree;
use crate::interval::Interval;
use crate::intervals::Intervals;
use crate::lattice::Lattice;
use crate::ldd_space::LddCtx;
use crate::linear::{LinCons, LinExpr};
use crate::machine::MachineInt;
use crate::numeric::{NumericDomain, Thresholds};
use crate::octagon::Octagons;
use crate::poly::Polyhedra;
use palisade_num::Rat;

/// An element of one of four domains. Elements that meet in one operation are of the same.
#[derive(Clone, Debug)]
pub enum AnyNumeric {
    /// Intervals.
    Box(Intervals),
    /// Octagons.
    Oct(Octagons),
    /// Convex polyhedra.
    Poly(Polyhedra),
    /// Unions of boxes.
    Boxes(Boxes),
}

/// Which domain, with its context.
#[derive(Clone)]
pub enum AnyCtx {
    /// Intervals.
    Box,
    /// Octagons.
    Oct(crate::blocks::Limits),
    /// Convex polyhedra.
    Poly(crate::blocks::Limits),
    /// Unions of boxes.
    Boxes(LddCtx),
}

/// The same expression on whatever the element is.
macro_rules! on {
    ($e:expr, $x:ident => $body:expr) => {
        match $e {
            AnyNumeric::Box($x) => $body,
            AnyNumeric::Oct($x) => $body,
            AnyNumeric::Poly($x) => $body,
            AnyNumeric::Boxes($x) => $body,
        }
    };
}

/// The same on two elements of one domain.
macro_rules! on2 {
    ($a:expr, $b:expr, $x:ident, $y:ident => $body:expr) => {
        match ($a, $b) {
            (AnyNumeric::Box($x), AnyNumeric::Box($y)) => $body,
            (AnyNumeric::Oct($x), AnyNumeric::Oct($y)) => $body,
            (AnyNumeric::Poly($x), AnyNumeric::Poly($y)) => $body,
            (AnyNumeric::Boxes($x), AnyNumeric::Boxes($y)) => $body,
            _ => panic!("elements of different domains"),
        }
    };
}

impl Lattice for AnyNumeric {
    fn is_bottom(&self) -> bool {
        on!(self, x => x.is_bottom())
    }
    fn leq(&self, other: &Self) -> bool {
        on2!(self, other, x, y => x.leq(y))
    }
    fn join_with(&mut self, other: &Self) -> bool {
        on2!(self, other, x, y => x.join_with(y))
    }
    fn meet_with(&mut self, other: &Self) {
        on2!(self, other, x, y => x.meet_with(y));
    }
    fn widen_with(&mut self, next: &Self) -> bool {
        on2!(self, next, x, y => x.widen_with(y))
    }
    fn narrow_with(&mut self, next: &Self) {
        on2!(self, next, x, y => x.narrow_with(y));
    }
}

impl NumericDomain for AnyNumeric {
    type Ctx = AnyCtx;

    fn top(ctx: &AnyCtx) -> Self {
        match ctx {
            AnyCtx::Box => AnyNumeric::Box(Intervals::top(&())),
            AnyCtx::Oct(limits) => AnyNumeric::Oct(Octagons::top(limits)),
            AnyCtx::Poly(limits) => AnyNumeric::Poly(Polyhedra::top(limits)),
            AnyCtx::Boxes(ctx) => AnyNumeric::Boxes(Boxes::top(ctx)),
        }
    }
    fn bottom(ctx: &AnyCtx) -> Self {
        match ctx {
            AnyCtx::Box => AnyNumeric::Box(Intervals::bottom(&())),
            AnyCtx::Oct(limits) => AnyNumeric::Oct(Octagons::bottom(limits)),
            AnyCtx::Poly(limits) => AnyNumeric::Poly(Polyhedra::bottom(limits)),
            AnyCtx::Boxes(ctx) => AnyNumeric::Boxes(Boxes::bottom(ctx)),
        }
    }
    fn ctx(&self) -> AnyCtx {
        match self {
            AnyNumeric::Box(_) => AnyCtx::Box,
            AnyNumeric::Oct(x) => AnyCtx::Oct(x.ctx()),
            AnyNumeric::Poly(x) => AnyCtx::Poly(x.ctx()),
            AnyNumeric::Boxes(x) => AnyCtx::Boxes(x.ctx()),
        }
    }
    fn support(&self) -> Vec<Dim> {
        on!(self, x => x.support())
    }
    fn assign(&mut self, d: Dim, e: &LinExpr) {
        on!(self, x => x.assign(d, e));
    }
    fn assume(&mut self, c: &LinCons) {
        on!(self, x => x.assume(c));
    }
    fn forget(&mut self, dims: &[Dim]) {
        on!(self, x => x.forget(dims));
    }
    fn rename(&mut self, map: &[(Dim, Dim)]) {
        on!(self, x => x.rename(map));
    }
    fn bounds(&self, e: &LinExpr) -> Interval {
        on!(self, x => x.bounds(e))
    }
    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        on!(self, x => x.to_constraints())
    }
    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        on!(self, x => x.contains(state))
    }
    fn widen_with_thresholds(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        on2!(self, next, x, y => x.widen_with_thresholds(y, thresholds))
    }
    fn assign_parallel(&mut self, assignments: &[(Dim, LinExpr)]) {
        on!(self, x => x.assign_parallel(assignments));
    }
    fn assign_interval(&mut self, d: Dim, range: &Interval) {
        on!(self, x => x.assign_interval(d, range));
    }
    fn expand(&mut self, original: Dim, copy: Dim) {
        on!(self, x => x.expand(original, copy));
    }
    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        on!(self, x => x.wrap(d, ty));
    }
    fn assign_tree(&mut self, d: Dim, e: &Tree) {
        on!(self, x => x.assign_tree(d, e));
    }
    fn assume_tree(&mut self, e: &Tree, truth: bool) {
        on!(self, x => x.assume_tree(e, truth));
    }
    fn entails(&self, c: &LinCons) -> bool {
        on!(self, x => x.entails(c))
    }
    fn constraints_on(&self, dims: &[Dim]) -> Vec<LinCons> {
        on!(self, x => x.constraints_on(dims))
    }
    fn certificate(&self) -> Option<Vec<u64>> {
        on!(self, x => x.certificate())
    }
    fn is_top(&self) -> bool {
        on!(self, x => x.is_top())
    }
    fn display_with(&self, name: &dyn Fn(Dim) -> String) -> String {
        on!(self, x => x.display_with(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod octagons {
        use super::*;
        crate::laws::laws!(AnyNumeric, AnyCtx::Oct(crate::Limits::STANDARD));
    }
}
