//! The symbolic abstract operations of section 6, built from α̂ (or α̃) and γ̂.

use crate::assume::{Assume, Config, Reach};
use crate::below::Models;
use crate::element;
use crate::equations;
use crate::formula::{Formula, Reading, within_types};
use crate::terms::Vocabulary;
use palisade_domains::{Affine, Dim, Dynamic, Lattice, LinCons, NumericDomain, Words};
use palisade_logic::{Solver, Term, Terms};

/// How α is computed.
pub struct Abstraction<'a> {
    /// Where the formulas live.
    pub terms: &'a mut Terms,
    /// Limits of the computation from above.
    pub config: Config,
    /// With a solver the gap to the best element is closed from below; without one the result from above
    /// stands.
    pub solver: Option<&'a mut dyn Solver>,
    /// Questions to the solver at most, for closing the gap.
    pub queries: u64,
}

impl Abstraction<'_> {
    /// Assume[φ](A): the element for the states of `start` that satisfy φ.
    pub fn assume(&mut self, voc: &Vocabulary, phi: Term, start: &Dynamic) -> Dynamic {
        let above = self.from_above(voc, phi, start);
        if above.is_bottom() {
            return above;
        }
        let Some(solver) = self.solver.as_deref_mut() else { return above };
        let known = voc.disjunction(self.terms, &start.to_constraints());
        let both = self.terms.and(phi, known);
        Models { terms: self.terms, solver, voc }.bilateral(both, above, self.queries).upper
    }

    /// α(φ).
    pub fn alpha(&mut self, voc: &Vocabulary, phi: Term, top: &Dynamic) -> Dynamic {
        let mut start = element::top(top);
        within_types(voc, &mut start);
        self.assume(voc, phi, &start)
    }

    /// Assume from above alone. Affine relations get ranges beside them while it runs, which tell where words
    /// wrap.
    pub fn from_above(&mut self, voc: &Vocabulary, phi: Term, start: &Dynamic) -> Dynamic {
        let mut all = voc.clone();
        let phi = equations::apply(self.terms, voc, phi);
        let relations = start.get::<Affine>();
        let with_ranges = |r: &Affine| Dynamic::of(Words::of_relations(r.clone()));
        let mut a = relations.map_or_else(|| start.clone(), with_ranges);
        let reading = match a.get::<Words>() {
            Some(_) => Reading::Sums,
            None if has_inequalities(start) => Reading::Sides,
            None => Reading::Plain,
        };
        let formula = Formula::of_term(self.terms, &mut all, phi, reading);
        within_types(&all, &mut a);
        let mut out = Assume::new(&formula, self.config.clone()).run(a);
        if let Some(words) = out.get::<Words>().filter(|_| relations.is_some()) {
            out = Dynamic::of(words.relations().clone());
        }
        out.forget(&formula.hidden);
        out
    }

    /// A₁ ⊑ A₂ for elements of any two domains: is α(γ̂(A₁) ∧ ¬γ̂(A₂)) empty? `true` is certain.
    pub fn is_contained(&mut self, voc: &Vocabulary, first: &Dynamic, second: &Dynamic) -> bool {
        let inside = voc.disjunction(self.terms, &first.to_constraints());
        let Some(covered) = voc.exactly(self.terms, &second.to_constraints()) else { return false };
        let outside = self.terms.not(covered);
        let phi = self.terms.and(inside, outside);
        self.alpha(voc, phi, first).is_bottom()
    }

    /// The semantic reduction of a pair: (α₁(ψ), α₂(ψ)) for ψ = γ̂₁(A₁) ∧ γ̂₂(A₂).
    pub fn reduce(&mut self, voc: &Vocabulary, first: &Dynamic, second: &Dynamic) -> (Dynamic, Dynamic) {
        let (a, b) = (first.to_constraints(), second.to_constraints());
        let (a, b) = (voc.disjunction(self.terms, &a), voc.disjunction(self.terms, &b));
        let psi = self.terms.and(a, b);
        (self.assume(voc, psi, first), self.assume(voc, psi, second))
    }

    /// The best element of another domain: α₂(γ̂₁(A₁)).
    pub fn convert(&mut self, voc: &Vocabulary, from: &Dynamic, top: &Dynamic) -> Dynamic {
        let phi = voc.disjunction(self.terms, &from.to_constraints());
        self.alpha(voc, phi, top)
    }
}

/// The states that a two-vocabulary element leads to. `pairs` gives each dimension's name before and
/// after; other dimensions of the states stay as they are.
pub fn apply(transformer: &Dynamic, states: &Dynamic, pairs: &[(Dim, Dim)]) -> Dynamic {
    let mut out = states.meet(transformer);
    let back: Vec<(Dim, Dim)> = pairs.iter().map(|(before, after)| (*after, *before)).collect();
    out.rename(&back);
    out
}

/// Whether the domain gains from knowing which side of a disequality is greater.
pub fn has_inequalities(a: &Dynamic) -> bool {
    let top = element::top(a);
    let mut probe = top.clone();
    probe.assume(&LinCons::le(Dim::int(0), 0));
    !top.leq(&probe)
}

/// A configuration for formulas with many literals: with `k ≥ 1` only neighbours are looked at again.
pub fn wide(k: u32) -> Config {
    Config { reach: if k > 0 { Reach::Neighbours } else { Reach::All }, ..Config::new(k) }
}
