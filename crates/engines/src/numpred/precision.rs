//! V_N and V_P, and where each predicate is tracked.

use palisade_cfa::{ExprId, LocId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The locations at which a predicate is tracked. Elsewhere its value is forgotten.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// At these locations.
    At(FxHashSet<LocId>),
    /// At all locations.
    Everywhere,
}

impl Scope {
    /// Is the location one of them?
    pub fn contains(&self, loc: LocId) -> bool {
        match self {
            Scope::At(locs) => locs.contains(&loc),
            Scope::Everywhere => true,
        }
    }

    /// A predicate is first tracked along the path that asked for it. If another path asks for it again it
    /// is one that matters, and is tracked everywhere, so that no third path has to ask. `false` if the
    /// scope had all of `more`.
    fn grow(&mut self, more: &Scope) -> bool {
        let new = match (&*self, more) {
            (Scope::Everywhere, _) => false,
            (Scope::At(_), Scope::Everywhere) => true,
            (Scope::At(known), Scope::At(more)) => !more.is_subset(known),
        };
        if new {
            *self = Scope::Everywhere;
        }
        new
    }
}

/// V_N and V_P of a program.
#[derive(Clone, Default)]
pub struct Precision {
    /// V_N: scalar integer variables.
    pub vars: Vec<VarId>,
    /// V_P: truth values, and where they are tracked.
    pub preds: Vec<(ExprId, Scope)>,
    /// Predicates that say what others say; those that say nothing stand for none.
    same: FxHashMap<ExprId, Option<ExprId>>,
}

impl Precision {
    /// Tracks a variable. `false` if that is nothing new.
    pub fn add_var(&mut self, var: VarId) -> bool {
        let new = !self.vars.contains(&var);
        if new {
            self.vars.push(var);
        }
        new
    }

    /// Tracks a predicate. `false` if that is nothing new.
    pub fn add_pred(&mut self, e: ExprId, scope: &Scope) -> bool {
        let Some(e) = self.same.get(&e).copied().unwrap_or(Some(e)) else { return false };
        match self.preds.iter_mut().find(|(known, _)| *known == e) {
            Some((_, known)) => known.grow(scope),
            None => {
                self.preds.push((e, scope.clone()));
                true
            }
        }
    }

    /// Removes predicate `index`, which says what the predicate of number `by` says, or nothing.
    pub fn replace(&mut self, index: usize, by: Option<usize>) {
        let (e, scope) = self.preds.remove(index);
        self.same.insert(e, by.map(|b| self.preds[b].0));
        if let Some(b) = by {
            self.preds[b].1.grow(&scope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_that_is_asked_for_again_elsewhere_is_tracked_everywhere() {
        let at = |locs: &[u32]| Scope::At(locs.iter().map(|&l| LocId(l)).collect());
        let mut p = Precision::default();
        assert!(p.add_pred(ExprId(0), &at(&[1, 2])));
        assert!(!p.add_pred(ExprId(0), &at(&[2])));
        assert!(p.preds[0].1.contains(LocId(1)) && !p.preds[0].1.contains(LocId(3)));
        assert!(p.add_pred(ExprId(0), &at(&[2, 3])));
        assert_eq!(p.preds[0].1, Scope::Everywhere);
        // Two ways to say one thing are one predicate; asking for the other one is nothing new.
        assert!(p.add_pred(ExprId(1), &at(&[5])));
        p.replace(1, Some(0));
        assert!(!p.add_pred(ExprId(1), &at(&[7])) && p.preds.len() == 1);
        // What says nothing is never tracked.
        assert!(p.add_pred(ExprId(2), &at(&[5])));
        p.replace(1, None);
        assert!(!p.add_pred(ExprId(2), &at(&[6])) && p.preds.len() == 1);
    }
}
