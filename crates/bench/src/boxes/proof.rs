//! Invariants checked by the solver: they hold at the start, and every way from one loop head over blocks that
//! head no loop to the next leads from the invariant of the one into that of the other.

use super::flow::{Action, Flow, Way};
use super::words::Words;
use palisade_domains::{Boxes, CmpOp, Dim};
use palisade_logic::{Answer, BvSolver, Solver, Sort, Term};
use std::collections::{BTreeMap, BTreeSet};

/// What the solver says about the invariants of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// They hold initially and are inductive.
    Shown,
    /// That of the loop with this number is not: a defect.
    Refuted(usize),
    /// Neither was found: not in time, or the solver knows less than the domain.
    Open,
    /// The solver crashed: a defect.
    Failed,
}

/// What is so when a block is reached: under which condition it is, and the values of the variables that
/// changed since the start.
struct Arrival {
    guard: Term,
    changed: BTreeMap<Dim, Term>,
}

impl Arrival {
    /// The value of a variable.
    fn value(&self, start: &[Term], d: Dim) -> Term {
        self.changed.get(&d).copied().unwrap_or(start[d.index() as usize])
    }
}

/// Something that words cannot express.
struct Beyond;

/// Checks the invariants of all loop heads.
pub fn prove(flow: &Flow, invariants: &[Option<Boxes>]) -> Proof {
    let mut words = Words::new();
    let mut start = Vec::new();
    for range in &flow.ranges {
        let value = words.any(range);
        match words.word(value) {
            Some(word) => start.push(word),
            None => return Proof::Open,
        }
    }
    let known = words.facts.len();
    let mut prover = Prover { flow, invariants, words, start, known };
    let mut proof = Proof::Shown;
    let cuts = std::iter::once(None).chain((0..flow.loops.len()).map(Some));
    for cut in cuts {
        match prover.from(cut).unwrap_or(Proof::Open) {
            Proof::Shown => {}
            Proof::Open => proof = Proof::Open,
            defect => return defect,
        }
    }
    proof
}

struct Prover<'f> {
    flow: &'f Flow,
    invariants: &'f [Option<Boxes>],
    words: Words,
    /// The values that the variables have at the start, any of their types.
    start: Vec<Term>,
    /// The number of facts about them.
    known: usize,
}

impl Prover<'_> {
    /// Checks what leads from a loop head to others, or from the entry.
    fn from(&mut self, cut: Option<usize>) -> Result<Proof, Beyond> {
        self.words.weakened = false;
        self.words.facts.truncate(self.known);
        let flow = self.flow;
        let guard = self.words.terms.tru();
        let here = Arrival { guard, changed: BTreeMap::new() };
        let mut solver = BvSolver::new();
        let mut ends: BTreeMap<usize, Arrival> = BTreeMap::new();
        let mut blocks: BTreeMap<usize, Arrival> = BTreeMap::new();
        match cut {
            Some(number) => {
                if self.invariants[number].is_none() {
                    return Ok(Proof::Shown);
                }
                for said in self.said(number, &here) {
                    solver.assert(&mut self.words.terms, said);
                }
                blocks.insert(flow.loops[number].blocks.start, here);
            }
            None => match flow.loop_at(0) {
                Some(number) => {
                    ends.insert(number, here);
                }
                None => {
                    blocks.insert(0, here);
                }
            },
        }
        // Blocks are in topological order but for ways to loop heads.
        while let Some((block, arrival)) = blocks.pop_first() {
            for &way in &flow.out[block] {
                let way = &flow.ways[way];
                let Some(next) = self.follow(&arrival, way)? else { continue };
                match flow.loop_at(way.to) {
                    Some(number) => self.meet(&mut ends, number, next),
                    None => self.meet(&mut blocks, way.to, next),
                }
            }
        }
        let facts = self.words.facts.clone();
        facts.into_iter().for_each(|fact| solver.assert(&mut self.words.terms, fact));
        let mut proof = Proof::Shown;
        for (number, arrival) in ends {
            let mut said = self.said(number, &arrival);
            for (d, word) in &arrival.changed {
                // At the start of the next step values are those of types.
                let (lo, hi) = flow.ranges[d.index() as usize].int_ends().ok_or(Beyond)?;
                said.push(self.words.within(*word, &lo, &hi));
            }
            let terms = &mut self.words.terms;
            let all = terms.and_all(said);
            let not = terms.not(all);
            solver.push();
            solver.assert(terms, arrival.guard);
            solver.assert(terms, not);
            match solver.check(terms, &[]) {
                Answer::Unsat => {}
                Answer::Sat if !self.words.weakened => return Ok(Proof::Refuted(number)),
                Answer::Sat | Answer::Unknown(_) => proof = Proof::Open,
            }
            solver.pop();
        }
        Ok(proof)
    }

    /// The invariant of a loop about the values that arrive, as conjuncts.
    fn said(&mut self, number: usize, at: &Arrival) -> Vec<Term> {
        let Some(invariant) = &self.invariants[number] else { return vec![self.words.terms.fls()] };
        let (no, yes) = (self.words.terms.fls(), self.words.terms.tru());
        let (start, words) = (&self.start, &mut self.words);
        invariant.conjuncts(
            |truth| if truth { yes } else { no },
            |d, bound, within, beyond| {
                let word = at.value(start, d);
                // Variables are integers.
                let limit = words.number(&bound.value.floor());
                let op = if bound.strict && bound.value.is_int() { CmpOp::Lt } else { CmpOp::Le };
                let below = words.compare(op, word, limit);
                words.terms.ite(below, within, beyond)
            },
        )
    }

    /// What arrives at the end of a way; `None` if nothing does.
    fn follow(&mut self, from: &Arrival, way: &Way) -> Result<Option<Arrival>, Beyond> {
        let mut at = Arrival { guard: from.guard, changed: from.changed.clone() };
        for action in &way.actions {
            match action {
                Action::Any(d, range) => {
                    let value = self.words.any(range);
                    let word = self.words.word(value).ok_or(Beyond)?;
                    at.changed.insert(*d, word);
                }
                Action::Assign(_, tree) | Action::Assume(tree) | Action::Check(_, tree) => {
                    let start = &self.start;
                    let (value, defined) = self.words.tree(tree, &|d| at.value(start, d));
                    at.guard = self.words.terms.and(at.guard, defined);
                    if let Action::Assign(d, _) = action {
                        let word = self.words.word(value).ok_or(Beyond)?;
                        at.changed.insert(*d, word);
                    } else {
                        let holds = self.words.truth(value);
                        at.guard = self.words.terms.and(at.guard, holds);
                    }
                }
            }
        }
        Ok((self.words.terms.bool_value(at.guard) != Some(false)).then_some(at))
    }

    /// Adds one more arrival at a block.
    fn meet(&mut self, places: &mut BTreeMap<usize, Arrival>, place: usize, new: Arrival) {
        let Some(old) = places.remove(&place) else {
            places.insert(place, new);
            return;
        };
        // Both may be possible at once.
        let which = self.words.terms.fresh_var("way", Sort::Bool);
        let dims: BTreeSet<Dim> = old.changed.keys().chain(new.changed.keys()).copied().collect();
        let value = |d: Dim| {
            let (before, now) = (old.value(&self.start, d), new.value(&self.start, d));
            (d, if before == now { now } else { self.words.choice(which, now, before) })
        };
        let changed = dims.into_iter().map(value).collect();
        let guard = self.words.terms.ite(which, new.guard, old.guard);
        places.insert(place, Arrival { guard, changed });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxes::analysis::{analyse, tests::flow};
    use palisade_domains::{LddCtx, LddLimits, LinCons, LinExpr, NumericDomain};

    const PROGRAMS: [&str; 7] = [
        "int g(int); void f(int n) { for (int i = 0; i < n; i += 2) for (int j = i; j < 9; j++) g(j); }",
        "int g(int); void f(unsigned char c) { int a = c ? 1 : 5, b = c ? 2 : 7; while (g(a)) { b ^= a; a++; } }",
        "int g(int); void f(int n) { int i = 0; if (n) goto b; a: i = i + 1; b: i = i + 2; if (g(i)) goto a; }",
        "int g(int); void f(unsigned n, int k) { unsigned s = 1; while (g(0)) s = s * n / 3 + (s << k) % 7; }",
        "void f(int n) { if (n < 0 || n > 9) return; for (;;) { n = -n >> 1; n = ~n & 15; } }",
        "int g(int); static int h; void f(void) { h = 4; while (h == 4) { int t = 10 / h; g(t); } }",
        "int g(int); void f(void) { int i = 3; if (i > 5) while (g(i)) i++; for (;;) {} }",
    ];

    fn found(flow: &Flow) -> Vec<Option<Boxes>> {
        analyse::<Boxes>(flow, &LddCtx::new(LddLimits::default())).invariants
    }

    #[test]
    fn invariants_are_shown() {
        for text in PROGRAMS {
            let flow = flow(text);
            assert_eq!(prove(&flow, &found(&flow)), Proof::Shown, "{text}");
        }
    }

    #[test]
    fn damaged_invariants_are_refuted() {
        let mut refuted = 0;
        for text in PROGRAMS {
            let flow = flow(text);
            let invariants = found(&flow);
            for number in 0..flow.loops.len() {
                let Some(invariant) = &invariants[number] else { continue };
                // Block by block, the values of a loop's counter are reached by a run.
                let Some(hi) = invariant.bounds_of(Dim::int(0)).max_int().cloned() else { continue };
                let mut damaged = invariants.clone();
                if let Some(invariant) = &mut damaged[number] {
                    invariant.assume(&LinCons::lt(Dim::int(0), LinExpr::constant(hi)));
                }
                let proof = prove(&flow, &damaged);
                assert_ne!(proof, Proof::Failed, "{text}");
                refuted += usize::from(matches!(proof, Proof::Refuted(_)));
                // The unreached is reached.
                damaged[number] = None;
                assert!(matches!(prove(&flow, &damaged), Proof::Refuted(_)), "{text}");
            }
        }
        assert!(refuted >= 6, "{refuted}");
    }
}
