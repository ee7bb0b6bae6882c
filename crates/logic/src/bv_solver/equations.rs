//! Asserted equations as rules that rewrite polynomials.
//!
//! An equation `p = 0` in which some monomial `m` has an odd coefficient, a unit modulo `2^width`, says what `m`
//! is. Polynomials are reduced by replacing such monomials; an equation whose difference is reduced to a constant
//! is decided. That is Gaussian elimination over the monomials: complete for linear equations with units, and
//! what a SAT solver does worst, for an adder hides every law of addition.

use crate::build::poly::{Polynomial, add_monomial, is_zero};
use crate::term::{Term, Terms};

/// Rules that are kept, and replacements in one reduction, at most.
const RULES: usize = 200;
const STEPS: usize = 64;
/// Monomials of a polynomial, at most.
const MONOMIALS: usize = 64;

/// `monomial = rest` for words of a width.
struct Rule {
    width: u32,
    monomial: Vec<Term>,
    rest: Polynomial,
}

/// The rules of the open levels.
#[derive(Default)]
pub(super) struct Equations {
    rules: Vec<Rule>,
}

impl Equations {
    /// How many rules there are, for [`Equations::undo`].
    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Forgets all but the first rules.
    pub(super) fn undo(&mut self, rules: usize) {
        self.rules.truncate(rules);
    }

    /// Takes over that `a = b`.
    pub(super) fn learn(&mut self, terms: &Terms, a: Term, b: Term) {
        if self.rules.len() == RULES {
            return;
        }
        let width = terms.width(a);
        let Some(mut p) = terms.difference(a, b).and_then(|p| self.reduced(width, p)) else { return };
        // The newest single factor leads: older ones are what it was made from.
        let units = p.iter().filter(|(m, c)| !m.is_empty() && c.bit(0)).map(|(m, _)| m);
        let Some(monomial) = units.max_by_key(|m| (std::cmp::Reverse(m.len()), m.to_vec())).cloned() else {
            return;
        };
        let coefficient = p.remove(&monomial).expect("it is one of them");
        let factor = coefficient.inverse().expect("odd numbers are units").neg();
        let rest = p.into_iter().map(|(m, c)| (m, c.mul(&factor))).collect();
        self.rules.push(Rule { width, monomial, rest });
    }

    /// The truth of `a = b`, if the rules decide it.
    pub(super) fn decide(&self, terms: &Terms, a: Term, b: Term) -> Option<bool> {
        let width = terms.width(a);
        if !self.rules.iter().any(|r| r.width == width) {
            return None;
        }
        is_zero(&self.reduced(width, terms.difference(a, b)?)?)
    }

    /// A polynomial without monomials that have rules; `None` if it gets too big.
    fn reduced(&self, width: u32, mut p: Polynomial) -> Option<Polynomial> {
        for _ in 0..STEPS {
            // The last rules come first: a rule mentions no monomial of the rules before it.
            let rule = self.rules.iter().rev().find(|r| r.width == width && p.contains_key(&r.monomial));
            let Some(Rule { monomial, rest, .. }) = rule else { return Some(p) };
            let c = p.remove(monomial)?;
            for (m, d) in rest {
                add_monomial(&mut p, m.clone(), c.mul(d));
            }
            p.retain(|_, c| !c.is_zero());
            if p.len() > MONOMIALS {
                return None;
            }
        }
        None
    }
}
