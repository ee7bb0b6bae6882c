//! A symbolic state: one term for every register, region and piece of bookkeeping.

use palisade_logic::{Term, Terms};
use std::sync::Arc;

const CHUNK: usize = 32;
type Chunk = Arc<[Term; CHUNK]>;

/// A vector that is cheap to copy: chunks, and blocks of chunks, are shared until one is written.
#[derive(Clone, Debug)]
pub struct Slots {
    blocks: Vec<Arc<Vec<Chunk>>>,
    len: usize,
}

impl Slots {
    /// The values in order.
    pub fn new(values: &[Term]) -> Self {
        let chunk = |c: &[Term]| {
            let mut chunk = [c[0]; CHUNK];
            chunk[..c.len()].copy_from_slice(c);
            Arc::new(chunk)
        };
        let block = |b: &[Term]| Arc::new(b.chunks(CHUNK).map(chunk).collect());
        Slots { blocks: values.chunks(CHUNK * CHUNK).map(block).collect(), len: values.len() }
    }

    /// The value of a slot.
    pub fn get(&self, i: usize) -> Term {
        self.blocks[i / CHUNK / CHUNK][i / CHUNK % CHUNK][i % CHUNK]
    }

    /// Replaces the value of a slot.
    pub fn set(&mut self, i: usize, value: Term) {
        if self.get(i) != value {
            let block = Arc::make_mut(&mut self.blocks[i / CHUNK / CHUNK]);
            Arc::make_mut(&mut block[i / CHUNK % CHUNK])[i % CHUNK] = value;
        }
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no slot.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slots in which two vectors differ.
    pub fn differences<'a>(&'a self, other: &'a Slots) -> impl Iterator<Item = usize> + 'a {
        let blocks = self.blocks.iter().zip(&other.blocks).enumerate();
        let chunks = blocks.filter(|(_, (a, b))| !Arc::ptr_eq(a, b)).flat_map(|(m, (a, b))| {
            let chunks = a.iter().zip(b.iter()).enumerate();
            chunks.filter(|(_, (a, b))| !Arc::ptr_eq(a, b)).map(move |(n, pair)| (m * CHUNK + n, pair))
        });
        chunks.flat_map(|(n, (a, b))| (0..CHUNK).filter(move |&i| a[i] != b[i]).map(move |i| n * CHUNK + i))
    }
}

/// A set of concrete states: those in which all conditions of `path` hold, described by terms over
/// the unknowns met on the way.
#[derive(Clone, Debug)]
pub struct State {
    /// Conditions in the order in which they were assumed. Keeping them apart lets
    /// [`State::merge`] see what two paths have in common.
    pub path: Vec<Term>,
    /// The contents of all slots.
    pub slots: Slots,
}

impl State {
    /// The path condition as one term.
    pub fn guard(&self, terms: &mut Terms) -> Term {
        terms.and_all(self.path.iter().copied())
    }

    /// Adds a condition. Returns whether the state may still be non-empty as far as simplification
    /// can tell.
    #[must_use]
    pub fn assume(&mut self, terms: &Terms, cond: Term) -> bool {
        match terms.bool_value(cond) {
            Some(known) => known,
            None => {
                if !self.path.contains(&cond) {
                    self.path.push(cond);
                }
                terms.as_not(cond).is_none_or(|c| !self.path.contains(&c))
            }
        }
    }

    /// The union of two states whose paths exclude each other: they come from different branches.
    pub fn merge(terms: &mut Terms, a: &State, b: &State) -> State {
        let common = a.path.iter().zip(&b.path).take_while(|(x, y)| x == y).count();
        let (rest_a, rest_b) = (&a.path[common..], &b.path[common..]);
        let cond_a = terms.and_all(rest_a.iter().copied());
        let cond_b = terms.and_all(rest_b.iter().copied());
        let mut path = a.path[..common].to_vec();
        let either = terms.or(cond_a, cond_b);
        let complementary = rest_a.len() == 1 && rest_b.len() == 1 && terms.not(cond_a) == cond_b;
        if !complementary && terms.bool_value(either) != Some(true) {
            path.push(either);
        }
        let mut slots = a.slots.clone();
        for i in a.slots.differences(&b.slots) {
            let value = terms.ite(cond_a, a.slots.get(i), b.slots.get(i));
            slots.set(i, value);
        }
        State { path, slots }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_logic::Sort;

    /// Vectors of all sizes around a chunk and a block behave as plain ones do, and copies are left alone.
    #[test]
    fn slots_are_a_vector() {
        let mut terms = Terms::new();
        let values: Vec<Term> = (0..7).map(|i| terms.var(&format!("v{i}"), Sort::Bool)).collect();
        for len in [0, 1, 31, 32, 33, 1023, 1024, 1025, 3000] {
            let plain: Vec<Term> = (0..len).map(|i| values[i % 7]).collect();
            let slots = Slots::new(&plain);
            let (mut changed, mut copy) = (plain.clone(), slots.clone());
            for i in (0..len).step_by(97) {
                changed[i] = values[i % 5];
                copy.set(i, values[i % 5]);
            }
            assert_eq!((slots.len(), slots.is_empty()), (len, len == 0));
            assert!((0..len).all(|i| slots.get(i) == plain[i] && copy.get(i) == changed[i]), "{len}");
            let differ: Vec<usize> = (0..len).filter(|&i| plain[i] != changed[i]).collect();
            assert_eq!(slots.differences(&copy).collect::<Vec<_>>(), differ, "{len}");
        }
    }
}
