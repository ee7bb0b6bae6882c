//! An inductive set of candidates that excludes the errors.

use super::relevant::Relevance;
use super::sample::contradict;
use palisade_analyses::samples::Samples;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::Halt;
use palisade_encode::inductive::{Fact, Segments};
use palisade_encode::{Encoder, State};
use palisade_logic::{Term, Terms};
use palisade_task::Task;

/// A fact that may hold at loop heads.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The fact.
    pub expr: ExprId,
    /// The only loop head at which it is believed; `None` for all.
    pub at: Option<LocId>,
    /// How many ghosts it mentions: the first ones.
    pub ghosts: usize,
}

impl Fact for Candidate {
    fn term(&self, encoder: &mut Encoder<'_>, terms: &mut Terms, state: &State) -> Option<Term> {
        Some(encoder.cond(terms, state, self.expr))
    }

    fn ghosts(&self) -> usize {
        self.ghosts
    }
}

/// Which candidates are tried at a loop head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Those about what matters there ([`Relevance`]): most proofs need no others.
    Relevant,
    /// All.
    All,
}

/// Candidates at each loop head that are inductive together and exclude the errors, if there are such.
///
/// `task` is extended by the candidates' pool, of which `ghosts` are the ghosts.
pub fn inductive(
    task: &Task,
    candidates: &[Candidate],
    ghosts: Vec<VarId>,
    scope: Scope,
    samples: &Samples,
    budget: &Budget,
) -> Result<Option<Vec<(LocId, ExprId)>>, Halt> {
    let mut segments = Segments::new(task, ghosts.clone(), budget)?;
    let candidates = segments.distinct(candidates, |c| c.at);
    let heads = segments.heads().to_vec();
    let relevance = Relevance::new(&task.program, &task.program.analyse(), &heads, budget)?;
    let tried_at = |head: LocId| {
        let here = |c: &Candidate| {
            c.at.is_none_or(|at| at == head) && (scope == Scope::All || relevance.matters(c, head))
        };
        candidates.iter().map(here).collect()
    };
    let mut alive: Vec<Vec<bool>> = heads.iter().map(|&head| tried_at(head)).collect();
    contradict(task, samples, &candidates, &ghosts, &heads, &mut alive, budget);
    let kept = segments.prove(&candidates, alive)?;
    Ok(kept.map(|kept| kept.into_iter().map(|(head, i)| (head, candidates[i].expr)).collect()))
}
