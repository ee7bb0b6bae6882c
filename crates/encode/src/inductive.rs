//! The largest inductive subset of some facts about loop heads, or as much of it as excludes the errors.
//!
//! Facts are candidates until every segment preserves them. [`Segments`] holds the segments of a program; a search
//! over them either keeps all that is inductive ([`Segments::largest`]) or goes backwards from the errors and looks
//! only at what is needed ([`Segments::prove`]).

use crate::memory::instances;
use crate::segment::{self, End, Piece};
use crate::{Encoder, State};
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_logic::{Answer, BvSolver, Evaluator, Limits, Solver, Term, Terms, Unknown};
use palisade_task::Task;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Conflicts of the SAT solver that a question may take while candidates are dropped on suspicion.
const CONFLICTS: u64 = 300;

/// Conflicts that a question may take that is asked of a solver of its own, and in each of several cases.
const CONFLICTS_ALONE: u64 = 200;
const CONFLICTS_CASE: u64 = 600;
/// Terms of such a question, at most.
const TERMS_ALONE: usize = 4000;
/// Places of elements that are told apart for such a question, at most.
const MAX_CASES: usize = 4;
/// Cases are tried until they did not help so often with what a source leads to.
const MAX_HARD: usize = 2;

/// Something that may hold in a state.
pub trait Fact {
    /// The fact as a term over a symbolic state; `None` if it cannot be said there.
    fn term(&self, encoder: &mut Encoder<'_>, terms: &mut Terms, state: &State) -> Option<Term>;

    /// How many ghosts it mentions: the first ones.
    fn ghosts(&self) -> usize {
        0
    }
}

/// The start or a loop head, with all segments from there.
struct Source {
    /// Candidates assumed at the start, by number; `None` for the program's entry.
    head: Option<usize>,
    start: State,
    ends: Vec<End>,
    /// Index values that the segments meet: what is believed for all elements is used there.
    indices: Vec<Vec<Term>>,
    /// Knows these segments alone, so that questions about others do not burden it.
    solver: BvSolver,
    /// How many questions cases did not make easy.
    hard: usize,
}

/// The loop heads of a program and the segments between them.
pub struct Segments<'t> {
    terms: Terms,
    encoder: Encoder<'t>,
    ghosts: Vec<VarId>,
    heads: Vec<LocId>,
    sources: Vec<Source>,
    budget: &'t Budget,
}

impl<'t> Segments<'t> {
    /// The segments of a task. A fact that mentions ghosts holds for all their values.
    pub fn new(task: &'t Task, ghosts: Vec<VarId>, budget: &'t Budget) -> Result<Self, Stop> {
        let graph = task.program.analyse();
        let mut terms = Terms::new();
        let mut encoder = Encoder::new(&task.program, &mut terms);
        let heads: Vec<LocId> = graph.loop_heads(task.program.entry).collect();
        let pieces = segment::pieces(task, &graph, &mut encoder, &mut terms, !ghosts.is_empty(), budget)?;
        let source = |Piece { head, start, ends, indices }: Piece| {
            let values =
                ghosts.iter().filter_map(|&g| encoder.layout().register(g)).map(|slot| start.slots.get(slot));
            let head = head.and_then(|head| heads.iter().position(|h| *h == head));
            // Nothing is believed at the start.
            let indices = head.map(|_| instances(indices, &values.collect::<Vec<Term>>()));
            let indices = indices.unwrap_or_default();
            Source { head, start, ends, indices, solver: BvSolver::new(), hard: 0 }
        };
        let sources = pieces.into_iter().map(source).collect();
        Ok(Segments { terms, encoder, ghosts, heads, sources, budget })
    }

    /// The loop heads, in the order of what is believed at each.
    pub fn heads(&self) -> &[LocId] {
        &self.heads
    }

    /// The facts that are not constant and not the same formula as an earlier one with the same key.
    pub fn distinct<F: Fact + Clone, K: std::hash::Hash + Eq>(
        &mut self,
        facts: &[F],
        key: impl Fn(&F) -> K,
    ) -> Vec<F> {
        let state = self.encoder.arbitrary_state(&mut self.terms);
        let mut seen = FxHashSet::default();
        let is_new = |fact: &&F| {
            let term = fact.term(&mut self.encoder, &mut self.terms, &state);
            term.is_some_and(|t| self.terms.bool_value(t).is_none() && seen.insert((t, key(fact))))
        };
        facts.iter().filter(is_new).cloned().collect()
    }

    /// Candidates, by loop head and number, that every segment preserves and that exclude the errors, if there are
    /// such. `alive` tells for each loop head which candidates are tried there.
    ///
    /// It goes backwards: the errors tell which candidates they need, and each segment tells which it
    /// needs to preserve those that are needed already. A segment may rely on all that is believed; what
    /// it can break even so is in no inductive set, and is believed no longer. Candidates that nothing
    /// needs are never looked at.
    pub fn prove<F: Fact>(
        self,
        candidates: &[F],
        alive: Vec<Vec<bool>>,
    ) -> Result<Option<Vec<(LocId, usize)>>, Stop> {
        let needed = alive.iter().map(|alive| vec![false; alive.len()]).collect();
        let mut search = Search::new(self, candidates, alive, needed);
        search.weaken((0..search.on.sources.len()).collect())?;
        Ok(search.settle(true)?.then(|| search.kept()))
    }

    /// All candidates, by loop head and number, that are inductive together, as far as the solver has answers, and
    /// whether they exclude the errors.
    pub fn largest<F: Fact>(
        self,
        candidates: &[F],
        alive: Vec<Vec<bool>>,
    ) -> Result<(Vec<(LocId, usize)>, bool), Stop> {
        let needed = alive.clone();
        let mut search = Search::new(self, candidates, alive, needed);
        search.weaken((0..search.on.sources.len()).collect())?;
        search.settle(false)?;
        let kept = search.kept();
        Ok((kept, search.settle(true)?))
    }
}

/// A search for what is inductive.
struct Search<'s, 't, F> {
    on: Segments<'t>,
    candidates: &'s [F],
    /// Which candidates are still believed at each loop head.
    alive: Vec<Vec<bool>>,
    /// Which of them the proof uses.
    needed: Vec<Vec<bool>>,
    /// How much was needed at each end of each source when it was shown.
    shown: Vec<Vec<Option<usize>>>,
}

impl<'s, 't, F: Fact> Search<'s, 't, F> {
    fn new(on: Segments<'t>, candidates: &'s [F], alive: Vec<Vec<bool>>, needed: Vec<Vec<bool>>) -> Self {
        let shown = on.sources.iter().map(|source| vec![None; source.ends.len()]).collect();
        Search { on, candidates, alive, needed, shown }
    }

    /// What is needed, by loop head and number.
    fn kept(&self) -> Vec<(LocId, usize)> {
        let at = |(head, needed): (&LocId, &Vec<bool>)| {
            let head = *head;
            (0..needed.len()).filter(|i| needed[*i]).map(move |i| (head, i)).collect::<Vec<_>>()
        };
        self.on.heads.iter().zip(&self.needed).flat_map(at).collect()
    }

    /// What is believed where a source starts, by candidate.
    fn parts(&mut self, source: usize) -> Vec<(usize, Term)> {
        let Some(head) = self.on.sources[source].head else { return Vec::new() };
        let Source { start, indices, .. } = &self.on.sources[source];
        let mut parts = Vec::new();
        for (i, candidate) in self.candidates.iter().enumerate().filter(|(i, _)| self.alive[head][*i]) {
            let mut all: Vec<Term> =
                candidate.term(&mut self.on.encoder, &mut self.on.terms, start).into_iter().collect();
            for values in indices.iter().filter(|v| v.len() == candidate.ghosts()) {
                let mut instance = start.clone();
                for (&ghost, &value) in self.on.ghosts.iter().zip(values) {
                    if let Some(slot) = self.on.encoder.layout().register(ghost) {
                        instance.slots.set(slot, value);
                    }
                }
                all.extend(candidate.term(&mut self.on.encoder, &mut self.on.terms, &instance));
            }
            parts.push((i, self.on.terms.and_all(all)));
        }
        parts
    }

    /// What the solver of a source says to a question, with at most so many conflicts.
    fn ask(&mut self, source: usize, question: &[Term], conflicts: Option<u64>) -> Answer {
        let limits = Limits { budget: self.on.budget.clone(), conflicts, ..Limits::default() };
        let solver = &mut self.on.sources[source].solver;
        solver.set_limits(limits);
        solver.check(&mut self.on.terms, question)
    }

    /// The number of a loop head where an end is.
    fn head_at(&self, source: usize, end: usize) -> Option<usize> {
        let loc = self.on.sources[source].ends[end].loc;
        self.on.heads.iter().position(|&h| h == loc)
    }

    /// Drops what segments can break, as far as little effort shows it: from the given sources on, in the order of
    /// the program, until nothing changes. So later steps rely on little that must be taken back.
    fn weaken(&mut self, mut open: BTreeSet<usize>) -> Result<(), Stop> {
        while let Some(source) = open.pop_first() {
            let from = self.on.sources[source].head;
            // What the loop itself breaks first: what comes after it need not be told.
            let mut ends: Vec<(usize, usize)> = (0..self.on.sources[source].ends.len())
                .filter_map(|end| Some((end, self.head_at(source, end)?)))
                .collect();
            ends.sort_by_key(|&(_, head)| Some(head) != from);
            for (end, head) in ends {
                if self.weaken_at(source, end, head)? && Some(head) != from {
                    open.extend(self.on.sources.iter().position(|s| s.head == Some(head)));
                }
            }
        }
        Ok(())
    }

    /// Drops candidates at a loop head that a segment can break. Tells whether there was one.
    fn weaken_at(&mut self, source: usize, end: usize, head: usize) -> Result<bool, Stop> {
        let mut goals = self.goals(source, end, head);
        let mut changed = false;
        loop {
            self.on.budget.check()?;
            let state = &self.on.sources[source].ends[end].state;
            let mut question = vec![state.guard(&mut self.on.terms)];
            question.extend(self.parts(source).into_iter().map(|(_, part)| part));
            let all = self.on.terms.and_all(goals.iter().map(|(_, goal)| *goal));
            question.push(self.on.terms.not(all));
            let answer = self.ask(source, &question, Some(CONFLICTS));
            if !answer.is_sat() || !self.drop(source, head, &mut goals) {
                return Ok(changed);
            }
            changed = true;
        }
    }

    /// The candidates that are believed at a loop head, as a segment leaves them.
    fn goals(&mut self, source: usize, end: usize, head: usize) -> Vec<(usize, Term)> {
        let state = &self.on.sources[source].ends[end].state;
        let alive = self.candidates.iter().enumerate().filter(|(i, _)| self.alive[head][*i]);
        let term = |(i, fact): (usize, &F)| {
            let term = fact.term(&mut self.on.encoder, &mut self.on.terms, state);
            (i, term.unwrap_or_else(|| self.on.terms.fls()))
        };
        alive.map(term).collect()
    }

    /// Drops the candidates that the model of a source's solver contradicts. Tells whether there was one.
    fn drop(&mut self, source: usize, head: usize, goals: &mut Vec<(usize, Term)>) -> bool {
        let Some(model) = self.on.sources[source].solver.model(&mut self.on.terms) else { return false };
        let mut evaluator = Evaluator::new(&model);
        let before = goals.len();
        goals.retain(|&(i, goal)| {
            let holds = evaluator.truth(&self.on.terms, goal);
            if !holds {
                (self.alive[head][i], self.needed[head][i]) = (false, false);
            }
            holds
        });
        goals.len() < before
    }

    /// How many candidates are believed at each loop head.
    fn believed(&self) -> Vec<usize> {
        self.alive.iter().map(|alive| alive.iter().filter(|a| **a).count()).collect()
    }

    /// Shows what is needed where it is needed, and with `errors` that these are excluded, until nothing is left to be
    /// shown. Tells whether that was possible; without errors it always is, if with nothing in the end.
    fn settle(&mut self, errors: bool) -> Result<bool, Stop> {
        let mut settled = false;
        while !settled {
            settled = true;
            for source in 0..self.on.sources.len() {
                for end in 0..self.on.sources[source].ends.len() {
                    let head = self.head_at(source, end);
                    let goals = head.map_or(0, |head| self.needed[head].iter().filter(|n| **n).count());
                    let nothing = if head.is_some() { goals == 0 } else { !errors };
                    if nothing || self.shown[source][end] == Some(goals) {
                        continue;
                    }
                    settled = false;
                    let before = self.believed();
                    let holds = self.show(source, end, head)?;
                    if holds {
                        self.shown[source][end] = Some(goals);
                    } else if let Some(head) = head {
                        // What others lose by it they lose at once.
                        let next = self.on.sources.iter().position(|s| s.head == Some(head));
                        self.weaken(next.into_iter().collect())?;
                        self.show_again(&before);
                    } else {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// What relied on something that is believed no longer must be shown again, and other things may be needed there
    /// next.
    fn show_again(&mut self, before: &[usize]) {
        let lost: Vec<bool> =
            self.believed().iter().zip(before).map(|(after, before)| after < before).collect();
        for source in 0..self.on.sources.len() {
            let from = self.on.sources[source].head.is_some_and(|head| lost[head]);
            for end in 0..self.on.sources[source].ends.len() {
                if from || self.head_at(source, end).is_some_and(|head| lost[head]) {
                    self.shown[source][end] = None;
                }
            }
        }
    }

    /// What is said to a question in all of some cases, as far as it takes few conflicts, by a solver for which it is
    /// all there is: what is asserted lets it compute with equations and bounds, where assumptions of one question
    /// among many do not.
    fn ask_alone(&mut self, question: &[Term], cases: &[Term], conflicts: u64) -> Answer {
        for &case in cases {
            let mut solver = BvSolver::new();
            let conflicts = Some(conflicts);
            solver.set_limits(Limits { budget: self.on.budget.clone(), conflicts, ..Limits::default() });
            question.iter().chain([&case]).for_each(|&t| solver.assert(&mut self.on.terms, t));
            match solver.check(&mut self.on.terms, &[]) {
                Answer::Unsat => {}
                other => return other,
            }
        }
        Answer::Unsat
    }

    /// The cases that the ghosts are one of the indices that segments from a source meet, and that they are none of
    /// them. In each, much is the same that is hard to compare otherwise.
    fn cases(&mut self, source: usize) -> Vec<Term> {
        let Source { start, indices, .. } = &self.on.sources[source];
        let mut cases = Vec::new();
        let mut other = self.on.terms.tru();
        for values in indices.iter().take(MAX_CASES) {
            let mut same = self.on.terms.tru();
            for (&ghost, &value) in self.on.ghosts.iter().zip(values) {
                if let Some(slot) = self.on.encoder.layout().register(ghost) {
                    let equal = self.on.terms.eq(start.slots.get(slot), value);
                    same = self.on.terms.and(same, equal);
                }
            }
            cases.push(self.on.terms.and(other, same));
            let not = self.on.terms.not(same);
            other = self.on.terms.and(other, not);
        }
        cases.push(other);
        cases
    }

    /// Whether a goal is easily seen to follow in what a source leads to, perhaps by cases; that is, whether there is
    /// no counterexample. Notes what is needed for it: what is needed anyway, if that will do, and else as few parts as
    /// can be found by leaving out one half, one quarter and so on.
    fn follows(
        &mut self,
        source: usize,
        (guard, goal): (Term, Term),
        parts: &[(usize, Term)],
        by_cases: bool,
    ) -> Answer {
        let Some(from) = self.on.sources[source].head else { return Answer::Unknown(Unknown::Conflicts) };
        let mut known = vec![guard, self.on.terms.not(goal)];
        known.extend(parts.iter().filter(|(i, _)| self.needed[from][*i]).map(|(_, part)| *part));
        let all: Vec<Term> = known.iter().copied().chain(parts.iter().map(|(_, part)| *part)).collect();
        if self.on.terms.subterms(&all).len() > TERMS_ALONE {
            return Answer::Unknown(Unknown::Conflicts);
        }
        let (mut cases, mut conflicts) = (vec![self.on.terms.tru()], CONFLICTS_ALONE);
        if self.ask_alone(&known, &cases, conflicts).is_unsat() {
            return Answer::Unsat;
        }
        let mut answer = self.ask_alone(&all, &cases, conflicts);
        let try_cases = by_cases && self.on.sources[source].hard < MAX_HARD;
        if try_cases && matches!(answer, Answer::Unknown(_)) {
            (cases, conflicts) = (self.cases(source), CONFLICTS_CASE);
            answer = self.ask_alone(&all, &cases, conflicts);
            self.on.sources[source].hard += usize::from(!answer.is_unsat());
        }
        if !answer.is_unsat() {
            return answer;
        }
        let mut core = parts.to_vec();
        // Where search shows it as well, it names a core to begin with.
        let question: Vec<Term> =
            [guard, known[1]].into_iter().chain(parts.iter().map(|(_, part)| *part)).collect();
        if self.ask(source, &question, Some(CONFLICTS)).is_unsat() {
            let named = self.on.sources[source].solver.unsat_core();
            core.retain(|(_, part)| named.contains(part));
        }
        let mut size = core.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < core.len() {
                let rest = core[..at].iter().chain(&core[(at + size).min(core.len())..]);
                let fewer: Vec<Term> = known.iter().copied().chain(rest.map(|(_, part)| *part)).collect();
                if self.ask_alone(&fewer, &cases, conflicts).is_unsat() {
                    core.drain(at..(at + size).min(core.len()));
                } else {
                    at += size;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        core.into_iter().for_each(|(i, _)| self.needed[from][i] = true);
        Answer::Unsat
    }

    /// Shows that a segment ends in an error (without `head`) never, or at a loop head only in states of all
    /// candidates that are needed there. Notes what that needs. If it is not so, drops the candidates that can
    /// be broken.
    fn show(&mut self, source: usize, end: usize, head: Option<usize>) -> Result<bool, Stop> {
        self.on.budget.check()?;
        let parts = self.parts(source);
        let mut goals = head.map_or_else(Vec::new, |head| self.goals(source, end, head));
        let state = &self.on.sources[source].ends[end].state;
        let guard = state.guard(&mut self.on.terms);
        let mut open = vec![self.on.terms.fls()];
        if let Some(head) = head {
            open = goals.iter().filter(|(i, _)| self.needed[head][*i]).map(|(_, goal)| *goal).collect();
        }
        // All together if that is easy; facts about elements else one by one.
        let all = self.on.terms.and_all(open.iter().copied());
        let elements = !self.on.ghosts.is_empty();
        match self.follows(source, (guard, all), &parts, elements && open.len() == 1) {
            Answer::Unsat => return Ok(true),
            Answer::Unknown(_) if elements && open.len() > 1 => {
                open.retain(|&goal| !self.follows(source, (guard, goal), &parts, true).is_unsat());
                if open.is_empty() {
                    return Ok(true);
                }
            }
            _ => {}
        }
        let from = self.on.sources[source].head;
        let all = self.on.terms.and_all(open);
        let mut question = vec![guard, self.on.terms.not(all)];
        if let Some(from) = from {
            let mut known = question.clone();
            known.extend(parts.iter().filter(|(i, _)| self.needed[from][*i]).map(|(_, part)| *part));
            if self.ask(source, &known, Some(CONFLICTS)).is_unsat() {
                return Ok(true);
            }
        }
        question.extend(parts.iter().map(|(_, part)| *part));
        match self.ask(source, &question, None) {
            Answer::Unsat => {
                let core = self.on.sources[source].solver.unsat_core();
                if let Some(from) = from {
                    for (i, part) in &parts {
                        self.needed[from][*i] |= core.contains(part);
                    }
                }
                return Ok(true);
            }
            Answer::Unknown(_) => self.on.budget.check()?,
            Answer::Sat => {
                if head.is_some_and(|head| self.drop(source, head, &mut goals)) {
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
