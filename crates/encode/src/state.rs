//! A symbolic state: one term for every register, region and piece of bookkeeping.

use palisade_logic::{Term, Terms};
use std::sync::Arc;

const CHUNK: usize = 32;

/// A vector that is cheap to copy: chunks are shared until one is written.
#[derive(Clone, Debug)]
pub struct Slots {
    chunks: Vec<Arc<[Term; CHUNK]>>,
    len: usize,
}

impl Slots {
    /// The values in order.
    pub fn new(values: &[Term]) -> Self {
        let chunks = values
            .chunks(CHUNK)
            .map(|c| {
                let mut chunk = [c[0]; CHUNK];
                chunk[..c.len()].copy_from_slice(c);
                Arc::new(chunk)
            })
            .collect();
        Slots { chunks, len: values.len() }
    }

    /// The value of a slot.
    pub fn get(&self, i: usize) -> Term {
        self.chunks[i / CHUNK][i % CHUNK]
    }

    /// Replaces the value of a slot.
    pub fn set(&mut self, i: usize, value: Term) {
        if self.get(i) != value {
            Arc::make_mut(&mut self.chunks[i / CHUNK])[i % CHUNK] = value;
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
        self.chunks
            .iter()
            .zip(&other.chunks)
            .enumerate()
            .filter(|(_, (a, b))| !Arc::ptr_eq(a, b))
            .flat_map(|(n, (a, b))| (0..CHUNK).filter(move |&i| a[i] != b[i]).map(move |i| n * CHUNK + i))
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
