//! The precision π of the predicate analysis.

use palisade_cfa::LocId;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Predicates by their numbers in the analysis, everywhere or at a location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Predicates {
    everywhere: Rc<BTreeSet<u32>>,
    at: Rc<BTreeMap<LocId, BTreeSet<u32>>>,
}

impl Predicates {
    /// The same predicates everywhere.
    pub fn everywhere(predicates: impl IntoIterator<Item = u32>) -> Self {
        Predicates { everywhere: Rc::new(predicates.into_iter().collect()), ..Self::default() }
    }

    /// Each predicate at its location.
    pub fn at(predicates: impl IntoIterator<Item = (LocId, u32)>) -> Self {
        let mut at: BTreeMap<LocId, BTreeSet<u32>> = BTreeMap::new();
        for (loc, predicate) in predicates {
            at.entry(loc).or_default().insert(predicate);
        }
        Predicates { at: Rc::new(at), ..Self::default() }
    }

    /// The predicates of a location, ascending.
    pub fn of(&self, loc: LocId) -> Vec<u32> {
        match self.at.get(&loc) {
            None => self.everywhere.iter().copied().collect(),
            Some(here) => self.everywhere.union(here).copied().collect(),
        }
    }
}
