//! An inductive set of candidates that excludes the errors.

use super::relevant::Relevance;
use super::sample::contradict;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_encode::segment::{self, End};
use palisade_encode::{Encoder, State};
use palisade_logic::{Answer, BvSolver, Evaluator, Limits, Solver, Term, Terms};
use palisade_task::Task;
use rustc_hash::FxHashSet;

/// Conflicts of the SAT solver that a question may take while candidates are dropped on suspicion.
const CONFLICTS: u64 = 300;

/// Conflicts that a question may take that is asked of a solver of its own.
const CONFLICTS_ALONE: u64 = 200;
/// Terms of such a question, at most.
const TERMS_ALONE: usize = 4000;

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
    /// Which of them the proof uses.
    needed: Vec<Vec<bool>>,
    sources: Vec<Source>,
    budget: &'t Budget,
}

/// Candidates at each loop head that are inductive together and exclude the errors, if there are such.
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
    let needed = alive.iter().map(|alive| vec![false; alive.len()]).collect();
    Refiner { terms, encoder, solver, candidates, ghosts, heads, alive, needed, sources, budget }.prove()
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
    /// What is believed where a source starts, by candidate.
    fn parts(&mut self, source: usize) -> Vec<(usize, Term)> {
        let Some(head) = self.sources[source].head else { return Vec::new() };
        let Source { start, indices, .. } = &self.sources[source];
        let mut parts = Vec::new();
        for (i, candidate) in self.candidates.iter().enumerate().filter(|(i, _)| self.alive[head][*i]) {
            let mut all = vec![self.encoder.cond(&mut self.terms, start, candidate.expr)];
            for values in indices.iter().filter(|v| v.len() == candidate.ghosts) {
                let mut instance = start.clone();
                for (&ghost, &value) in self.ghosts.iter().zip(values) {
                    if let Some(slot) = self.encoder.layout().register(ghost) {
                        instance.slots.set(slot, value);
                    }
                }
                all.push(self.encoder.cond(&mut self.terms, &instance, candidate.expr));
            }
            parts.push((i, self.terms.and_all(all)));
        }
        parts
    }

    /// Drops what segments can break, in the order of the program, as far as little effort shows it. So later
    /// steps do not rely on what the program's first steps contradict.
    fn weaken(&mut self) -> Result<(), Stop> {
        let limits = |conflicts| Limits { budget: self.budget.clone(), conflicts, ..Limits::default() };
        let (little, all) = (limits(Some(CONFLICTS)), limits(None));
        self.solver.set_limits(little);
        for source in 0..self.sources.len() {
            for end in 0..self.sources[source].ends.len() {
                let loc = self.sources[source].ends[end].loc;
                if let Some(head) = self.heads.iter().position(|&h| h == loc) {
                    self.weaken_at(source, end, head)?;
                }
            }
        }
        self.solver.set_limits(all);
        Ok(())
    }

    /// Drops candidates at a loop head that a segment can break.
    fn weaken_at(&mut self, source: usize, end: usize, head: usize) -> Result<(), Stop> {
        let mut goals = self.goals(source, end, head);
        loop {
            self.budget.check()?;
            let state = &self.sources[source].ends[end].state;
            let mut question = vec![state.guard(&mut self.terms)];
            question.extend(self.parts(source).into_iter().map(|(_, part)| part));
            let all = self.terms.and_all(goals.iter().map(|(_, goal)| *goal));
            question.push(self.terms.not(all));
            if !self.solver.check(&mut self.terms, &question).is_sat() || !self.drop(head, &mut goals) {
                return Ok(());
            }
        }
    }

    /// The candidates that are believed at a loop head, as a segment leaves them.
    fn goals(&mut self, source: usize, end: usize, head: usize) -> Vec<(usize, Term)> {
        let state = &self.sources[source].ends[end].state;
        let alive = self.candidates.iter().enumerate().filter(|(i, _)| self.alive[head][*i]);
        alive.map(|(i, c)| (i, self.encoder.cond(&mut self.terms, state, c.expr))).collect()
    }

    /// Drops the candidates that the solver's model contradicts. Tells whether there was one.
    fn drop(&mut self, head: usize, goals: &mut Vec<(usize, Term)>) -> bool {
        let Some(model) = self.solver.model(&mut self.terms) else { return false };
        let mut evaluator = Evaluator::new(&model);
        let before = goals.len();
        goals.retain(|&(i, goal)| {
            let holds = evaluator.truth(&self.terms, goal);
            if !holds {
                (self.alive[head][i], self.needed[head][i]) = (false, false);
            }
            holds
        });
        goals.len() < before
    }

    /// Looks for a set of candidates that exclude the errors and that every segment preserves.
    ///
    /// It goes backwards: the errors tell which candidates they need, and each segment tells which it
    /// needs to preserve those that are needed already. A segment may rely on all that is believed; what
    /// it can break even so is in no inductive set, and is believed no longer. Candidates that nothing
    /// needs are never looked at.
    fn prove(mut self) -> Result<Option<Vec<(LocId, ExprId)>>, Stop> {
        self.weaken()?;
        // How much was needed at each end when it was shown.
        let mut shown: Vec<Vec<Option<usize>>> =
            self.sources.iter().map(|source| vec![None; source.ends.len()]).collect();
        let mut settled = false;
        while !settled {
            settled = true;
            for source in 0..self.sources.len() {
                for end in 0..self.sources[source].ends.len() {
                    let loc = self.sources[source].ends[end].loc;
                    let head = self.heads.iter().position(|&h| h == loc);
                    let goals = head.map_or(0, |head| self.needed[head].iter().filter(|n| **n).count());
                    if head.is_some() && goals == 0 || shown[source][end] == Some(goals) {
                        continue;
                    }
                    settled = false;
                    if self.show(source, end, head)? {
                        shown[source][end] = Some(goals);
                    } else if let Some(head) = head {
                        // What relied on something that is believed no longer must be shown again, and
                        // other things may be needed there next.
                        for (other, shown) in self.sources.iter().zip(&mut shown) {
                            for (end, shown) in other.ends.iter().zip(shown) {
                                if other.head == Some(head) || end.loc == loc {
                                    *shown = None;
                                }
                            }
                        }
                    } else {
                        return Ok(None);
                    }
                }
            }
        }
        let mut at = Vec::new();
        for (head, needed) in self.heads.iter().zip(&self.needed) {
            at.extend(self.candidates.iter().zip(needed).filter(|(_, n)| **n).map(|(c, _)| (*head, c.expr)));
        }
        Ok(Some(at))
    }

    /// Whether a question has no answer, as a solver sees for which it is all there is: what is asserted lets it
    /// compute with equations and bounds, where assumptions of one question among many do not.
    fn is_refuted_alone(&mut self, question: &[Term]) -> bool {
        let mut solver = BvSolver::new();
        let limits =
            Limits { budget: self.budget.clone(), conflicts: Some(CONFLICTS_ALONE), ..Limits::default() };
        solver.set_limits(limits);
        question.iter().for_each(|&t| solver.assert(&mut self.terms, t));
        solver.check(&mut self.terms, &[]).is_unsat()
    }

    /// Parts, by candidate, with which a question has no answer, if that is easily seen: none, or as few as can be
    /// found by leaving out one half, one quarter and so on.
    fn core_alone(&mut self, question: &[Term], parts: &[(usize, Term)]) -> Option<Vec<usize>> {
        let all: Vec<Term> = question.iter().copied().chain(parts.iter().map(|(_, part)| *part)).collect();
        if self.terms.subterms(&all).len() > TERMS_ALONE {
            return None;
        }
        if self.is_refuted_alone(question) {
            return Some(Vec::new());
        }
        if !self.is_refuted_alone(&all) {
            return None;
        }
        let mut core = parts.to_vec();
        let mut size = core.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < core.len() {
                let rest = core[..at].iter().chain(&core[(at + size).min(core.len())..]);
                let fewer: Vec<Term> = question.iter().copied().chain(rest.map(|(_, part)| *part)).collect();
                if self.is_refuted_alone(&fewer) {
                    core.drain(at..(at + size).min(core.len()));
                } else {
                    at += size;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        Some(core.into_iter().map(|(i, _)| i).collect())
    }

    /// Shows that a segment ends in an error (without `head`) never, or at a loop head only in states of all
    /// candidates that are needed there. Notes what that needs. If it is not so, drops the candidates that can
    /// be broken.
    fn show(&mut self, source: usize, end: usize, head: Option<usize>) -> Result<bool, Stop> {
        self.budget.check()?;
        let parts = self.parts(source);
        let mut goals = head.map_or_else(Vec::new, |head| self.goals(source, end, head));
        let state = &self.sources[source].ends[end].state;
        let mut question = vec![state.guard(&mut self.terms)];
        if let Some(head) = head {
            let needed = goals.iter().filter(|(i, _)| self.needed[head][*i]).map(|(_, goal)| *goal);
            let all = self.terms.and_all(needed);
            question.push(self.terms.not(all));
        }
        // What is needed anyway may do.
        let from = self.sources[source].head;
        if let Some(from) = from {
            let mut known = question.clone();
            known.extend(parts.iter().filter(|(i, _)| self.needed[from][*i]).map(|(_, part)| *part));
            if let Some(core) = self.core_alone(&known, &parts) {
                core.into_iter().for_each(|i| self.needed[from][i] = true);
                return Ok(true);
            }
            if self.solver.check(&mut self.terms, &known).is_unsat() {
                return Ok(true);
            }
        }
        question.extend(parts.iter().map(|(_, part)| *part));
        match self.solver.check(&mut self.terms, &question) {
            Answer::Unsat => {
                let core = self.solver.unsat_core();
                if let Some(from) = from {
                    for (i, part) in &parts {
                        self.needed[from][*i] |= core.contains(part);
                    }
                }
                return Ok(true);
            }
            Answer::Unknown(_) => self.budget.check()?,
            Answer::Sat => {
                if head.is_some_and(|head| self.drop(head, &mut goals)) {
                    return Ok(false);
                }
            }
        }
        // Without an answer nothing may be believed at this end.
        if let Some(head) = head {
            self.alive[head].fill(false);
            self.needed[head].fill(false);
        }
        Ok(false)
    }
}
