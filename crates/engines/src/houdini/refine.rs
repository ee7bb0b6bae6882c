//! The largest inductive set of candidates.

use super::relevant::Relevance;
use super::sample::contradict;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_encode::segment::{self, End};
use palisade_encode::{Encoder, State};
use palisade_logic::{Answer, BvSolver, Evaluator, Limits, Solver, Term, Terms};
use palisade_task::Task;
use rustc_hash::FxHashSet;

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

/// Which candidates are tried at a loop head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Those about what matters there ([`Relevance`]): most proofs need no others.
    Relevant,
    /// All.
    All,
}

/// The start or a loop head, with all segments from there.
struct Source {
    /// Candidates assumed at the start, by number; `None` for the program's entry.
    head: Option<usize>,
    start: State,
    ends: Vec<End>,
    /// Index values that the segments meet: what is believed for all elements is used there.
    indices: Vec<Vec<Term>>,
}

struct Refiner<'t> {
    terms: Terms,
    encoder: Encoder<'t>,
    solver: BvSolver,
    candidates: Vec<Candidate>,
    ghosts: Vec<VarId>,
    /// The loop heads, and which candidates are still believed at each.
    heads: Vec<LocId>,
    alive: Vec<Vec<bool>>,
    sources: Vec<Source>,
    budget: &'t Budget,
}

/// The largest inductive set of candidates at each loop head, if it excludes the errors.
///
/// `task` is extended by the candidates' pool, of which `ghosts` are the ghosts.
pub fn inductive(
    task: &Task,
    candidates: &[Candidate],
    ghosts: Vec<VarId>,
    scope: Scope,
    budget: &Budget,
) -> Result<Option<Vec<(LocId, ExprId)>>, Stop> {
    let graph = task.program.analyse();
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let heads: Vec<LocId> = graph.loop_heads(task.program.entry).collect();
    let candidates = distinct(&mut terms, &mut encoder, candidates);
    let mut sources = Vec::new();
    let first = encoder.initial_state(&mut terms);
    let entry = task.body().entry;
    if graph.is_loop_head(entry) {
        let ends = vec![End { loc: entry, state: first.clone() }];
        sources.push(Source { head: None, start: first, ends, indices: Vec::new() });
    } else {
        let ends = segment::run(task, &graph, &mut encoder, &mut terms, entry, first.clone(), budget)?;
        sources.push(Source { head: None, start: first, ends, indices: Vec::new() });
    }
    for (i, &head) in heads.iter().enumerate() {
        let start = encoder.arbitrary_state(&mut terms);
        encoder.indices = (!ghosts.is_empty()).then(Vec::new);
        let ends = segment::run(task, &graph, &mut encoder, &mut terms, head, start.clone(), budget)?;
        let indices = encoder.indices.take().unwrap_or_default();
        sources.push(Source { head: Some(i), start, ends, indices });
    }
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    let mut relevance = Relevance::new(&task.program, &graph, &heads);
    let mut alive: Vec<Vec<bool>> = heads
        .iter()
        .map(|&head| {
            let here = |c: &Candidate| {
                c.at.is_none_or(|at| at == head) && (scope == Scope::All || relevance.matters(c, head))
            };
            candidates.iter().map(here).collect()
        })
        .collect();
    contradict(task, &candidates, &ghosts, &heads, &mut alive, budget);
    let mut refiner = Refiner { terms, encoder, solver, candidates, ghosts, heads, alive, sources, budget };
    loop {
        let mut changed = false;
        for source in 0..refiner.sources.len() {
            for end in 0..refiner.sources[source].ends.len() {
                changed |= refiner.weaken(source, end)?;
            }
        }
        if !changed {
            return refiner.conclude();
        }
    }
}

/// Candidates that are not constant and not the same formula as an earlier one.
fn distinct(terms: &mut Terms, encoder: &mut Encoder<'_>, candidates: &[Candidate]) -> Vec<Candidate> {
    let state = encoder.arbitrary_state(terms);
    let mut seen = FxHashSet::default();
    candidates
        .iter()
        .copied()
        .filter(|&c| {
            let term = encoder.cond(terms, &state, c.expr);
            terms.bool_value(term).is_none() && seen.insert((term, c.at))
        })
        .collect()
}

impl Refiner<'_> {
    /// What is believed where a source starts.
    fn assumption(&mut self, source: usize) -> Term {
        let Some(head) = self.sources[source].head else { return self.terms.tru() };
        let Source { start, indices, .. } = &self.sources[source];
        let mut all = Vec::new();
        for (candidate, _) in self.candidates.iter().zip(&self.alive[head]).filter(|(_, alive)| **alive) {
            all.push(self.encoder.cond(&mut self.terms, start, candidate.expr));
            for values in indices.iter().filter(|v| v.len() == candidate.ghosts) {
                let mut instance = start.clone();
                for (&ghost, &value) in self.ghosts.iter().zip(values) {
                    if let Some(slot) = self.encoder.layout().register(ghost) {
                        instance.slots.set(slot, value);
                    }
                }
                all.push(self.encoder.cond(&mut self.terms, &instance, candidate.expr));
            }
        }
        self.terms.and_all(all)
    }

    /// Drops candidates that a segment can break. Tells whether there was one.
    fn weaken(&mut self, source: usize, end: usize) -> Result<bool, Stop> {
        let loc = self.sources[source].ends[end].loc;
        let Some(head) = self.heads.iter().position(|&h| h == loc) else { return Ok(false) };
        let guard = self.sources[source].ends[end].state.guard(&mut self.terms);
        let mut changed = false;
        let goals: Vec<Option<Term>> = (0..self.candidates.len())
            .map(|i| {
                self.alive[head][i].then(|| {
                    self.encoder.cond(
                        &mut self.terms,
                        &self.sources[source].ends[end].state,
                        self.candidates[i].expr,
                    )
                })
            })
            .collect();
        loop {
            self.budget.check()?;
            let assumed = self.assumption(source);
            let all = self
                .terms
                .and_all(goals.iter().enumerate().filter_map(|(i, g)| g.filter(|_| self.alive[head][i])));
            let broken = self.terms.not(all);
            if self.terms.bool_value(broken) == Some(false) {
                return Ok(changed);
            }
            match self.solver.check(&mut self.terms, &[assumed, guard, broken]) {
                Answer::Unsat => return Ok(changed),
                Answer::Unknown(_) => {
                    self.budget.check()?;
                    // Without an answer nothing may be believed at this end.
                    self.alive[head].fill(false);
                    return Ok(true);
                }
                Answer::Sat => {}
            }
            let Some(model) = self.solver.model(&mut self.terms) else {
                self.alive[head].fill(false);
                return Ok(true);
            };
            let mut evaluator = Evaluator::new(&model);
            for (i, goal) in goals.iter().enumerate() {
                if let Some(goal) = *goal
                    && self.alive[head][i]
                    && !evaluator.truth(&self.terms, goal)
                {
                    self.alive[head][i] = false;
                    changed = true;
                }
            }
        }
    }

    /// The surviving candidates, if no error is possible under them.
    fn conclude(mut self) -> Result<Option<Vec<(LocId, ExprId)>>, Stop> {
        for source in 0..self.sources.len() {
            let assumed = self.assumption(source);
            for end in 0..self.sources[source].ends.len() {
                if self.heads.contains(&self.sources[source].ends[end].loc) {
                    continue;
                }
                let guard = self.sources[source].ends[end].state.guard(&mut self.terms);
                if !self.solver.check(&mut self.terms, &[assumed, guard]).is_unsat() {
                    self.budget.check()?;
                    return Ok(None);
                }
            }
        }
        let mut at = Vec::new();
        for (head, alive) in self.heads.iter().zip(&self.alive) {
            at.extend(self.candidates.iter().zip(alive).filter(|(_, a)| **a).map(|(c, _)| (*head, c.expr)));
        }
        Ok(Some(at))
    }
}
