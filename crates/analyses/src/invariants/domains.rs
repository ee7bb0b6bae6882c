//! The numeric domains by name: the one list that a new domain is added to.

use super::functions::{Domain, Known};
use palisade_base::Budget;
use palisade_domains::{
    Affine, Boxes, Congruences, Intervals, LddBox, LddCtx, LddLimits, Limits, NumericDomain, Octagons,
    Polyhedra, Powerset, PowersetCtx, PowersetWidening, Product, WordSize,
};

/// All domains, in the order in which they are listed.
pub fn domains() -> Vec<Domain> {
    vec![
        Domain::of::<Intervals>("interval", "bounds of each variable"),
        Domain::of::<Congruences>("congruence", "residue classes of each variable"),
        Domain::of::<Octagons>("octagon", "bounds of sums and differences of two variables"),
        Domain::of::<Polyhedra>("polyhedra", "linear inequalities"),
        Domain::of::<Affine>("ks", "linear equations modulo 2^64"),
        Domain::of::<LddBox>("box", "bounds of each variable, on linear decision diagrams"),
        Domain::of::<Boxes>("boxes", "sets of boxes, on linear decision diagrams"),
        Domain::of::<Powerset<Intervals>>("interval-sets", "finite sets of intervals"),
        Domain::of::<Powerset<Octagons>>("octagon-sets", "finite sets of octagons"),
        Domain::of::<Powerset<Polyhedra>>("polyhedra-sets", "finite sets of polyhedra"),
        Domain::of::<Product<Intervals, Congruences>>("interval-congruence", "bounds and residue classes"),
        Domain::of::<Product<Octagons, Congruences>>("octagon-congruence", "octagons and residue classes"),
        Domain::of::<Product<Polyhedra, Affine>>("polyhedra-ks", "inequalities and modular equations"),
    ]
}

/// The domain of a name.
pub fn named(name: &str) -> Option<Domain> {
    domains().into_iter().find(|d| d.name == name)
}

/// Disjuncts of a power set at most.
const MAX_DISJUNCTS: usize = 8;

impl Known for Intervals {
    fn context(_: &Budget) {}
}

impl Known for Congruences {
    fn context(_: &Budget) {}
}

impl Known for Octagons {
    fn context(_: &Budget) -> Limits {
        Limits::STANDARD
    }
}

impl Known for Polyhedra {
    fn context(_: &Budget) -> Limits {
        Limits::STANDARD
    }
}

impl Known for Affine {
    fn context(_: &Budget) -> WordSize {
        WordSize::new(64)
    }
}

fn diagrams(budget: &Budget) -> LddCtx {
    LddCtx::new(LddLimits { budget: budget.clone(), ..Default::default() })
}

impl Known for LddBox {
    fn context(budget: &Budget) -> LddCtx {
        diagrams(budget)
    }
}

impl Known for Boxes {
    fn context(budget: &Budget) -> LddCtx {
        diagrams(budget)
    }
}

impl<D: Known> Known for Powerset<D> {
    fn context(budget: &Budget) -> PowersetCtx<D::Ctx> {
        PowersetCtx {
            base: D::context(budget),
            max_disjuncts: MAX_DISJUNCTS,
            widening: PowersetWidening::Certificate,
        }
    }
}

impl<A: Known, B: Known> Known for Product<A, B> {
    fn context(budget: &Budget) -> <Self as NumericDomain>::Ctx {
        (A::context(budget), B::context(budget))
    }
}
