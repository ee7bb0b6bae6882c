//! Facts that hold on all paths to a location: the textbook's available expressions, for facts of any kind.

use palisade_base::IdxVec;
use palisade_cfa::*;
use std::collections::BTreeSet;

/// Bits of all locations together beyond which nothing is solved.
const MAX_BITS: usize = 1 << 31;

/// Whether so many facts can be solved for.
pub(crate) fn affordable(program: &Program, facts: usize) -> bool {
    facts.checked_mul(program.locs.len()).is_some_and(|bits| bits <= MAX_BITS)
}

/// A set of facts by number.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Set(Vec<u64>);

impl Set {
    /// The empty set of so many facts.
    pub(crate) fn empty(facts: usize) -> Set {
        Set(vec![0; facts.div_ceil(64)])
    }
    pub(crate) fn contains(&self, fact: usize) -> bool {
        self.0[fact / 64] >> (fact % 64) & 1 == 1
    }
    pub(crate) fn insert(&mut self, fact: usize) {
        self.0[fact / 64] |= 1 << (fact % 64);
    }
    pub(crate) fn remove(&mut self, fact: usize) {
        self.0[fact / 64] &= !(1 << (fact % 64));
    }
    /// Keeps what the other has too. Tells whether something was lost.
    fn intersect(&mut self, other: &Set) -> bool {
        let mut lost = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            lost |= *a & !b != 0;
            *a &= b;
        }
        lost
    }
}

/// The facts that hold at each location that the entry reaches, where those of `first` hold at the start and `step`
/// says what an operation does to them.
pub(crate) fn available(
    program: &Program,
    graph: &Graph,
    entry: LocId,
    first: Set,
    step: impl Fn(&Op, &mut Set),
) -> IdxVec<LocId, Option<Set>> {
    let mut at: IdxVec<LocId, Option<Set>> = IdxVec::filled(None, program.locs.len());
    at[entry] = Some(first);
    // In the weak topological order, so that a loop is through before what follows it is looked at.
    let key = |loc: LocId| (graph.position(loc).unwrap_or(usize::MAX), loc);
    let mut todo: BTreeSet<(usize, LocId)> = [key(entry)].into();
    while let Some((_, loc)) = todo.pop_first() {
        for &edge in &program.locs[loc].out {
            let Some(mut set) = at[loc].clone() else { continue };
            step(&program.edges[edge].op, &mut set);
            let dst = program.edges[edge].dst;
            let changed = match &mut at[dst] {
                Some(known) => known.intersect(&set),
                unseen => {
                    *unseen = Some(set);
                    true
                }
            };
            if changed {
                todo.insert(key(dst));
            }
        }
    }
    at
}
