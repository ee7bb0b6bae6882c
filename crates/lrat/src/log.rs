//! What a solver reports while it searches.

use crate::checker::{Checker, Clause, Lit, Refusal};
use crate::proof::Proof;

/// A clause in the log.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// Nothing was said about this name.
    None,
    /// The input of this number.
    Input(Clause),
    /// A derived clause: where its literals start in the data, their number, and that of the hints
    /// that follow them.
    Derived { start: usize, lits: u32, hints: u32 },
}

/// All clauses that a solver was given or has derived, by the names it gave them: ascending numbers
/// without great gaps. What the solver says it derived is believed only once it is
/// [confirmed](Log::confirm), with all it rests on; of a long search that is the smaller part.
/// Nothing is dropped, so a clause that the solver forgets and takes up again is still there.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
    /// Literals and names of hints of all derived clauses.
    data: Vec<u32>,
    inputs: Clause,
    checker: Checker,
    /// By name, the clause of the checker, plus one; zero for what is not confirmed.
    confirmed: Vec<Clause>,
}

impl Log {
    /// A log of nothing.
    pub fn new() -> Self {
        Log::default()
    }

    /// A clause that the solver is given, under the name it gave it if it did.
    pub fn input(&mut self, name: Option<u64>, lits: &[Lit]) -> Result<(), Refusal> {
        let clause = self.checker.input(lits)?;
        if let Some(name) = name {
            let at = self.room(name)?;
            self.entries[at] = Entry::Input(self.inputs);
            self.confirmed[at] = clause + 1;
        }
        self.inputs += 1;
        Ok(())
    }

    /// A clause that the solver says it derived.
    pub fn derived(&mut self, name: u64, lits: &[Lit], hints: &[u64]) -> Result<(), Refusal> {
        let at = self.room(name)?;
        if self.confirmed[at] != 0 {
            return Err(Refusal::UnknownClause(at as Clause));
        }
        let start = self.data.len();
        self.data.extend(lits.iter().map(|l| *l as u32));
        for hint in hints {
            self.data.push(u32::try_from(*hint).map_err(|_| Refusal::TooLarge)?);
        }
        self.entries[at] = Entry::Derived { start, lits: lits.len() as u32, hints: hints.len() as u32 };
        Ok(())
    }

    /// Room in the tables for a name.
    fn room(&mut self, name: u64) -> Result<usize, Refusal> {
        let at = usize::try_from(name).ok().filter(|n| *n < u32::MAX as usize).ok_or(Refusal::TooLarge)?;
        if at >= self.entries.len() {
            self.entries.resize(at + 1, Entry::None);
            self.confirmed.resize(at + 1, 0);
        }
        Ok(at)
    }

    /// Literals and hints of a derived clause.
    fn step(&self, name: u32) -> Option<(&[u32], &[u32])> {
        let Some(&Entry::Derived { start, lits, hints }) = self.entries.get(name as usize) else {
            return None;
        };
        let middle = start + lits as usize;
        Some((&self.data[start..middle], &self.data[middle..middle + hints as usize]))
    }

    /// The derived clauses that a clause rests on, itself included, as far as they are not among
    /// those left out; in the order of their names, which is that of derivation.
    fn needed(&self, name: u32, left_out: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut seen = vec![0u64; self.entries.len().div_ceil(64)];
        let mut needed = Vec::new();
        let mut stack = vec![name];
        while let Some(name) = stack.pop() {
            let Some((_, hints)) = self.step(name) else { continue };
            let (word, bit) = (name as usize / 64, 1 << (name % 64));
            if seen[word] & bit == 0 && !left_out(name) {
                seen[word] |= bit;
                needed.push(name);
                stack.extend(hints);
            }
        }
        needed.sort_unstable();
        needed
    }

    /// Checks that a derived clause follows from the inputs, and that it consists of negated
    /// assumptions: these cannot all hold.
    pub fn confirm(&mut self, name: u64, assumptions: &[Lit]) -> Result<(), Refusal> {
        let name = u32::try_from(name).map_err(|_| Refusal::TooLarge)?;
        let unknown = Refusal::UnknownClause(name);
        for step in self.needed(name, |n| self.confirmed[n as usize] != 0) {
            let (lits, hints) = self.step(step).ok_or(unknown)?;
            let lits: Vec<Lit> = lits.iter().map(|l| *l as Lit).collect();
            let known = |h: &u32| match self.confirmed.get(*h as usize) {
                Some(&c) if c != 0 => Ok(c - 1),
                _ => Err(Refusal::UnknownClause(*h)),
            };
            let hints = hints.iter().map(known).collect::<Result<Vec<Clause>, Refusal>>()?;
            self.confirmed[step as usize] = self.checker.derive(&lits, &hints)? + 1;
        }
        let clause = self.confirmed.get(name as usize).copied().filter(|c| *c != 0).ok_or(unknown)?;
        let shown = self.checker.clause(clause - 1).ok_or(unknown)?;
        if shown.iter().all(|l| assumptions.contains(&-l)) { Ok(()) } else { Err(Refusal::OtherClause) }
    }

    /// The steps that lead to a clause.
    pub fn proof(&self, name: u64) -> Option<Proof> {
        let name = u32::try_from(name).ok()?;
        let mut steps: Vec<(Vec<Lit>, Vec<Clause>)> = Vec::new();
        let mut number: Vec<Clause> = vec![Clause::MAX; self.entries.len()];
        // An input has no step of its own; one that copies it can be the last.
        let needed = self.needed(name, |_| false);
        if let Some(&Entry::Input(input)) = self.entries.get(name as usize) {
            steps.push((self.checker.clause(self.confirmed[name as usize] - 1)?.to_vec(), vec![input]));
        }
        for step in needed {
            let (lits, hints) = self.step(step)?;
            let hint = |h: &u32| match self.entries.get(*h as usize) {
                Some(Entry::Input(input)) => Some(*input),
                Some(Entry::Derived { .. }) => Some(number[*h as usize]),
                _ => None,
            };
            let hints = hints.iter().map(hint).collect::<Option<Vec<Clause>>>()?;
            let own = self.inputs + steps.len() as Clause;
            steps.push((lits.iter().map(|l| *l as Lit).collect(), hints));
            number[step as usize] = own;
        }
        Some(Proof { inputs: self.inputs, steps })
    }

    /// An estimate of the bytes held.
    pub fn bytes(&self) -> u64 {
        let tables = self.entries.capacity() * size_of::<Entry>() + self.confirmed.capacity() * 4;
        (tables + self.data.capacity() * 4) as u64 + self.checker.bytes()
    }
}
