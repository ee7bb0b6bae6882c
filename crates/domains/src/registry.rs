//! The numeric domains by name: the one list that a new domain is added to.

use crate::dynamic::DynamicCtx;
use crate::numeric::NumericDomain;
use crate::{
    Affine, Boxes, Congruences, Intervals, LddBox, LddCtx, LddLimits, Limits, Octagons, Polyhedra, Powerset,
    PowersetCtx, PowersetWidening, Product, WordSize,
};
use palisade_base::Budget;

/// A numeric domain that can be chosen by name.
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// Its name.
    pub name: &'static str,
    /// What it can express, in one line.
    pub summary: &'static str,
    /// Makes a context that stops with the budget.
    pub context: fn(&Budget) -> DynamicCtx,
}

/// All domains, in the order in which they are listed. A static, not a constant: what stands behind the
/// functions is compiled here and not again in every crate that mentions the list.
pub static DOMAINS: [Domain; 13] = [
    entry::<Intervals>("interval", "bounds of each variable"),
    entry::<Congruences>("congruence", "residue classes of each variable"),
    entry::<Octagons>("octagon", "bounds of sums and differences of two variables"),
    entry::<Polyhedra>("polyhedra", "linear inequalities"),
    entry::<Affine>("ks", "linear equations modulo 2^64"),
    entry::<LddBox>("box", "bounds of each variable, on linear decision diagrams"),
    entry::<Boxes>("boxes", "sets of boxes, on linear decision diagrams"),
    entry::<Powerset<Intervals>>("interval-sets", "finite sets of intervals"),
    entry::<Powerset<Octagons>>("octagon-sets", "finite sets of octagons"),
    entry::<Powerset<Polyhedra>>("polyhedra-sets", "finite sets of polyhedra"),
    entry::<Product<Intervals, Congruences>>("interval-congruence", "bounds and residue classes"),
    entry::<Product<Octagons, Congruences>>("octagon-congruence", "octagons and residue classes"),
    entry::<Product<Polyhedra, Affine>>("polyhedra-ks", "inequalities and modular equations"),
];

impl Domain {
    /// The domain of a name; `oct` and `poly` are short for octagons and polyhedra.
    pub fn named(name: &str) -> Option<Domain> {
        let name = match name {
            "oct" => "octagon",
            "poly" => "polyhedra",
            name => name,
        };
        DOMAINS.iter().find(|d| d.name == name).copied()
    }

    /// Intervals.
    pub fn interval() -> Domain {
        DOMAINS[0]
    }

    /// Octagons.
    pub fn octagon() -> Domain {
        DOMAINS[2]
    }

    /// Convex polyhedra.
    pub fn polyhedra() -> Domain {
        DOMAINS[3]
    }

    /// Sets of boxes.
    pub fn boxes() -> Domain {
        DOMAINS[6]
    }
}

const fn entry<D: Listed>(name: &'static str, summary: &'static str) -> Domain {
    Domain { name, summary, context: |budget| DynamicCtx::of::<D>(D::context(budget)) }
}

/// A domain of the list, and how a context for it is made.
trait Listed: NumericDomain<Ctx: 'static> + 'static {
    fn context(budget: &Budget) -> Self::Ctx;
}

/// Disjuncts of a power set at most.
const MAX_DISJUNCTS: usize = 8;

impl Listed for Intervals {
    fn context(_: &Budget) {}
}

impl Listed for Congruences {
    fn context(_: &Budget) {}
}

impl Listed for Octagons {
    fn context(budget: &Budget) -> Limits {
        Limits::within(budget)
    }
}

impl Listed for Polyhedra {
    fn context(budget: &Budget) -> Limits {
        Limits::within(budget)
    }
}

impl Listed for Affine {
    fn context(_: &Budget) -> WordSize {
        WordSize::new(64)
    }
}

/// A manager of its own for every run, which stops with the run.
fn diagrams(budget: &Budget) -> LddCtx {
    LddCtx::new(LddLimits { budget: budget.clone(), ..Default::default() })
}

impl Listed for LddBox {
    fn context(budget: &Budget) -> LddCtx {
        diagrams(budget)
    }
}

impl Listed for Boxes {
    fn context(budget: &Budget) -> LddCtx {
        diagrams(budget)
    }
}

impl<D: Listed> Listed for Powerset<D> {
    fn context(budget: &Budget) -> PowersetCtx<D::Ctx> {
        PowersetCtx {
            base: D::context(budget),
            max_disjuncts: MAX_DISJUNCTS,
            widening: PowersetWidening::Certificate,
        }
    }
}

impl<A: Listed, B: Listed> Listed for Product<A, B> {
    fn context(budget: &Budget) -> <Self as NumericDomain>::Ctx {
        (A::context(budget), B::context(budget))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{LawConfig, check};
    use crate::{Dynamic, NumericDomain};

    #[test]
    fn names_are_different_and_found() {
        for (i, domain) in DOMAINS.iter().enumerate() {
            assert_eq!(DOMAINS.iter().position(|d| d.name == domain.name), Some(i));
            assert!(Domain::named(domain.name).is_some());
        }
        assert!(Domain::named("no such domain").is_none());
        let by_function = [Domain::interval(), Domain::octagon(), Domain::polyhedra(), Domain::boxes()];
        assert_eq!(by_function.map(|d| d.name), ["interval", "octagon", "polyhedra", "boxes"]);
    }

    /// What is chosen by name obeys the laws like the domain that is named by its type.
    #[test]
    fn laws_hold_behind_the_table() {
        let budget = Budget::unlimited();
        for name in ["interval", "octagon", "boxes", "polyhedra-ks"] {
            let domain = Domain::named(name).expect("it is listed");
            check::<Dynamic>(&(domain.context)(&budget), &LawConfig { elements: 8, ..LawConfig::ints() });
        }
    }

    #[test]
    fn tops_are_top_and_bottoms_bottom() {
        for domain in &DOMAINS {
            let ctx = (domain.context)(&Budget::unlimited());
            assert!(Dynamic::top(&ctx).is_top(), "{}", domain.name);
            assert!(crate::Lattice::is_bottom(&Dynamic::bottom(&ctx)), "{}", domain.name);
        }
    }
}
