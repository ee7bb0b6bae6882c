//! Which conditions matter for a question.
//!
//! A short piece of a long program leaves most variables alone, and most of what is known is about those.

use palisade_logic::{Term, Terms};
use rustc_hash::FxHashMap;

/// Conditions by the variables that they are about.
#[derive(Default)]
pub struct Cone {
    conditions: Vec<Term>,
    variables: Vec<Vec<Term>>,
    about: FxHashMap<Term, Vec<usize>>,
}

impl Cone {
    /// Of these conditions, and of the parts of those that are conjunctions.
    pub fn new(terms: &Terms, conditions: &[Term]) -> Cone {
        let conditions: Vec<Term> = conditions.iter().flat_map(|&c| terms.conjuncts(c)).collect();
        let variables: Vec<Vec<Term>> = conditions.iter().map(|&c| terms.variables(&[c])).collect();
        let mut about: FxHashMap<Term, Vec<usize>> = FxHashMap::default();
        for (i, variables) in variables.iter().enumerate() {
            variables.iter().for_each(|&v| about.entry(v).or_default().push(i));
        }
        Cone { conditions, variables, about }
    }

    /// All conditions.
    pub fn all(&self) -> &[Term] {
        &self.conditions
    }

    /// Those that share variables with a question, directly or through other conditions. The others can only matter if
    /// they contradict each other.
    pub fn near(&self, terms: &Terms, question: &[Term]) -> Vec<Term> {
        let mut taken: Vec<usize> = Vec::new();
        let mut is_taken = vec![false; self.conditions.len()];
        let mut todo = terms.variables(question);
        while let Some(variable) = todo.pop() {
            for &i in self.about.get(&variable).into_iter().flatten() {
                if !std::mem::replace(&mut is_taken[i], true) {
                    taken.push(i);
                    todo.extend(&self.variables[i]);
                }
            }
        }
        taken.sort_unstable();
        taken.into_iter().map(|i| self.conditions[i]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_logic::Sort;

    #[test]
    fn conditions_are_reached_through_others() {
        let mut t = Terms::new();
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| t.var(name, Sort::BitVec(8)));
        let (ab, bc, de) = (t.ult(a, b), t.ult(b, c), t.ult(d, e));
        let (zero, both) = (t.bv(8, 0), t.and(ab, bc));
        let question = t.eq(c, zero);
        let cone = Cone::new(&t, &[both, de]);
        assert_eq!(cone.near(&t, &[question]), [ab, bc]);
        assert_eq!(cone.near(&t, &[]), []);
    }
}
