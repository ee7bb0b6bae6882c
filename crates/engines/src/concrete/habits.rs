//! Runs that do the same for long: every question has one answer throughout, often an extreme one, until passes of a
//! loop were leapt over. Sizes and counters then get as far as their types reach, and so do sums of them.

use super::choices::Dictionary;
use palisade_cfa::*;
use palisade_evidence::{Chosen, Counterexample};
use palisade_interp::{Inputs, Random};
use rustc_hash::FxHashMap;

/// Answers by habit.
pub struct Habits<'a> {
    random: Random,
    dictionary: &'a Dictionary,
    /// What an edge is always answered.
    habits: FxHashMap<EdgeId, u128>,
    /// What was answered so far.
    given: Vec<Chosen>,
}

/// Of as many runs one does not leave the last pass to be executed by itself.
const ALL: usize = 4;

impl<'a> Habits<'a> {
    pub fn new(seed: u64, dictionary: &'a Dictionary) -> Self {
        Habits { random: Random::new(seed), dictionary, habits: FxHashMap::default(), given: Vec::new() }
    }

    /// What led where the run went.
    pub fn counterexample(self) -> Counterexample {
        Counterexample { unknowns: self.given, contents: Vec::new() }
    }

    fn answer(&mut self, ty: Scalar, edge: EdgeId, input: bool) -> u128 {
        let bits = match (ty, self.habits.get(&edge)) {
            // Unknowns of the model are zero, pointers that nobody made are null.
            _ if !input || ty == Scalar::Ptr => 0,
            (_, Some(&bits)) => bits,
            _ => {
                let bits = self.fresh(ty, edge);
                self.habits.insert(edge, bits);
                bits
            }
        };
        self.given.push(Chosen { edge, bits, input, times: 1 });
        bits
    }

    fn fresh(&mut self, ty: Scalar, edge: EdgeId) -> u128 {
        match (ty, self.random.below(4)) {
            (Scalar::Int(t), 0) => t.max_bits(),
            (_, 1) => self.random.input(ty, edge).unwrap_or(0),
            _ => self.dictionary.likely(&mut self.random, ty, edge),
        }
    }
}

impl Inputs for Habits<'_> {
    fn input(&mut self, ty: Scalar, edge: EdgeId) -> Option<u128> {
        Some(self.answer(ty, edge, true))
    }

    fn unknown(&mut self, ty: Scalar, edge: EdgeId) -> u128 {
        self.answer(ty, edge, false)
    }

    fn steady(&mut self, _ty: Scalar, edge: EdgeId, input: bool) -> Option<(u128, u64)> {
        let bits = if input { *self.habits.get(&edge)? } else { 0 };
        Some((bits, u64::MAX))
    }

    /// Passes are left for what comes to its end there, and the habit with them.
    fn again(&mut self, _ty: Scalar, edge: EdgeId, input: bool, times: u64) -> u64 {
        let times = times - u64::from(self.random.below(ALL) > 0);
        let bits = if input { self.habits.get(&edge).copied().unwrap_or(0) } else { 0 };
        self.given.push(Chosen { edge, bits, input, times });
        if input {
            // Zero ends most of what goes on for long.
            let other = if self.random.below(2) == 0 { 0 } else { self.random.below(256) as u128 };
            self.habits.insert(edge, other);
        }
        times
    }
}
