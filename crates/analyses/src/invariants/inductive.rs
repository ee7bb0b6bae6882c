//! Which of some candidates are invariants: those that are left after removing, again and again,
//! what does not hold at first or is not preserved. Every question is one for the bit-precise solver
//! about a loop-free piece of the program.

use super::linear::Linear;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::Halt;
use palisade_encode::segment::{self, End};
use palisade_encode::{Encoder, State};
use palisade_logic::services::{Implied, implications};
use palisade_logic::{Answer, BvSolver, Solver, Term, Terms};
use palisade_task::Task;
use std::collections::BTreeMap;

/// Something that may hold in a state.
pub trait Fact {
    /// The fact as a term over a symbolic state; `None` if it cannot be said there.
    fn term(
        &self,
        program: &Program,
        encoder: &Encoder<'_>,
        terms: &mut Terms,
        state: &State,
    ) -> Option<Term>;
}

impl Fact for Linear {
    fn term(&self, program: &Program, encoder: &Encoder<'_>, terms: &mut Terms, s: &State) -> Option<Term> {
        Linear::term(self, program, encoder, terms, s)
    }
}

/// One of several linear facts holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause(pub Vec<Linear>);

impl Fact for Clause {
    fn term(&self, program: &Program, encoder: &Encoder<'_>, terms: &mut Terms, s: &State) -> Option<Term> {
        let mut any = terms.fls();
        for literal in &self.0 {
            let term = literal.term(program, encoder, terms, s)?;
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

/// A loop-free piece of the program: where it starts, in which symbolic state, and where it ends.
struct Piece {
    start: Option<LocId>,
    state: State,
    ends: Vec<End>,
}

/// Removes candidates until the rest is inductive.
pub fn houdini<F: Fact>(task: &Task, candidates: Candidates<F>, budget: &Budget) -> Result<Checked<F>, Halt> {
    let graph = task.program.analyse();
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let mut solver = BvSolver::new();
    solver.set_limits(palisade_logic::Limits { budget: budget.clone(), ..Default::default() });
    let entry = task.body().entry;
    let mut pieces = Vec::new();
    let heads: Vec<LocId> = graph.loop_heads(task.program.entry).collect();
    for start in [None].into_iter().chain(heads.iter().copied().map(Some)) {
        let state = match start {
            None => encoder.initial_state(&mut terms),
            Some(_) => encoder.arbitrary_state(&mut terms),
        };
        let at = start.unwrap_or(entry);
        let ends = if start.is_none() && heads.contains(&entry) {
            vec![End { loc: entry, state: state.clone() }]
        } else {
            segment::run(task, &graph, &mut encoder, &mut terms, at, state.clone(), budget)?
        };
        pieces.push(Piece { start, state, ends });
    }
    let mut left = candidates;
    loop {
        let mut changed = false;
        for piece in &pieces {
            budget.check()?;
            changed |= refute(task, &encoder, &mut terms, &mut solver, piece, &mut left);
        }
        if !changed {
            break;
        }
    }
    let mut proved = true;
    for piece in &pieces {
        for end in &piece.ends {
            if task.error_at(end.loc).is_none() && !task.cuts.contains(&end.loc) {
                continue;
            }
            let mut premises = premises(task, &encoder, &mut terms, piece, &left);
            premises.push(end.state.guard(&mut terms));
            proved &= matches!(solver.check(&mut terms, &premises), Answer::Unsat);
        }
    }
    Ok(Checked { invariants: left, proved })
}

/// What is assumed at the start of a piece.
fn premises<F: Fact>(
    task: &Task,
    encoder: &Encoder<'_>,
    terms: &mut Terms,
    piece: &Piece,
    left: &Candidates<F>,
) -> Vec<Term> {
    let here = piece.start.and_then(|at| left.get(&at));
    here.into_iter().flatten().filter_map(|c| c.term(&task.program, encoder, terms, &piece.state)).collect()
}

/// Removes the candidates that do not hold at the ends of a piece.
fn refute<F: Fact>(
    task: &Task,
    encoder: &Encoder<'_>,
    terms: &mut Terms,
    solver: &mut BvSolver,
    piece: &Piece,
    left: &mut Candidates<F>,
) -> bool {
    let mut changed = false;
    for end in &piece.ends {
        let mut premises = premises(task, encoder, terms, piece, left);
        premises.push(end.state.guard(terms));
        let Some(here) = left.get_mut(&end.loc) else { continue };
        let before = here.len();
        let conclusions: Vec<Option<Term>> =
            here.iter().map(|c| c.term(&task.program, encoder, terms, &end.state)).collect();
        let asked: Vec<Term> = conclusions.iter().flatten().copied().collect();
        let mut verdicts = implications(solver, terms, &premises, &asked).into_iter();
        let holds: Vec<bool> =
            conclusions.iter().map(|c| c.is_some() && verdicts.next() == Some(Implied::Yes)).collect();
        let mut keep = holds.into_iter();
        here.retain(|_| keep.next() == Some(true));
        changed |= here.len() < before;
    }
    changed
}
