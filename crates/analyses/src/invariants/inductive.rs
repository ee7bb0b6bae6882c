//! Which of some facts about linear expressions are invariants: those that are left after removing, again and again,
//! what does not hold at first or is not preserved ([`palisade_encode::inductive`]).

use super::linear::Linear;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::Halt;
use palisade_encode::inductive::{Fact, Segments};
use palisade_encode::{Encoder, State};
use palisade_logic::{Term, Terms};
use palisade_task::Task;
use std::collections::BTreeMap;

impl Fact for Linear {
    fn term(&self, encoder: &mut Encoder<'_>, terms: &mut Terms, state: &State) -> Option<Term> {
        Linear::term(self, encoder.program(), encoder, terms, state)
    }
}

/// One of several linear facts holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause(pub Vec<Linear>);

impl Fact for Clause {
    fn term(&self, encoder: &mut Encoder<'_>, terms: &mut Terms, state: &State) -> Option<Term> {
        let mut any = terms.fls();
        for literal in &self.0 {
            let term = literal.term(encoder.program(), encoder, terms, state)?;
            any = terms.or(any, term);
        }
        Some(any)
    }
}

/// Facts at loop heads.
pub type Candidates<F = Linear> = BTreeMap<LocId, Vec<F>>;

/// What is left of the candidates.
#[derive(Clone, Debug)]
pub struct Checked<F = Linear> {
    /// Facts that hold whenever control is at the loop head.
    pub invariants: Candidates<F>,
    /// Whether they show that no error location can be reached.
    pub proved: bool,
}

/// Removes candidates until the rest is inductive.
pub fn houdini<F: Fact>(task: &Task, candidates: Candidates<F>, budget: &Budget) -> Result<Checked<F>, Halt> {
    let segments = Segments::new(task, Vec::new(), budget)?;
    let mut invariants: Candidates<F> = candidates.keys().map(|at| (*at, Vec::new())).collect();
    let (places, facts): (Vec<LocId>, Vec<F>) =
        candidates.into_iter().flat_map(|(at, facts)| facts.into_iter().map(move |fact| (at, fact))).unzip();
    let alive = segments.heads().iter().map(|head| places.iter().map(|at| at == head).collect()).collect();
    let (kept, proved) = segments.largest(&facts, alive)?;
    for (i, (at, fact)) in places.into_iter().zip(facts).enumerate() {
        if kept.contains(&(at, i)) {
            invariants.entry(at).or_default().push(fact);
        }
    }
    Ok(Checked { invariants, proved })
}
