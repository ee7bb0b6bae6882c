//! k-induction over passes through loop heads, helped by invariants of the numeric domains.
//!
//! If no error is reached in the first `k + 1` segments from the start, and none in the segment
//! that follows `k` error-free ones from any state of the invariants, then none is ever reached.

use crate::board::Board;
use crate::numeric::DELAY;
use crate::{Certificate, Engine, Outcome, Progress};
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_domains::Domain;
use palisade_encode::segment;
use palisade_encode::{Encoder, State};
use palisade_evidence::Invariants;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Term, Terms};
use palisade_task::Task;
use std::collections::BTreeMap;

/// The engine `kinduction`.
pub struct KInduction;

/// Beyond this many passes induction is not worth trying.
const MAX_K: u32 = 40;
/// Up to so many passes induction is tried with each number, beyond with every second one: most questions have a model
/// before one has none, and each takes longer than those before. For the same reason, what is reached from the start is
/// then asked only for the number that is enough.
const EACH: u32 = 5;

impl Engine for KInduction {
    fn name(&self) -> &str {
        "kinduction"
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        progress(format_args!("invariants"));
        // It is on the board then, with what others find.
        if board.fixed_point(self.name(), task, &Domain::interval(), DELAY, budget).is_err()
            && let Some(stop) = budget.stopped()
        {
            return Outcome::Unknown(stop.to_string());
        }
        // The start owes nothing to invariants, so it is followed once, whatever others find meanwhile.
        let mut base = Base::new(task, board, self.name(), budget);
        let mut invariants = Invariants::none(&task.program);
        let (mut seen, mut from) = (0, 0);
        loop {
            invariants.append(&board.facts(self.name(), &task.program, &mut seen));
            let extended = task.with_program(invariants.extend(&task.program));
            let news = || board.has_news(seen);
            match induction(&mut base, &extended, &invariants, &mut from, &news, budget, progress) {
                Ok(Found::Inductive(k)) => return Outcome::Proof(Certificate::KInduction { k, invariants }),
                Ok(Found::News) => {}
                Ok(Found::Nothing) => return Outcome::Unknown("not inductive".into()),
                Err(stop) => return Outcome::Unknown(stop.to_string()),
            }
        }
    }
}

/// What an attempt comes to.
enum Found {
    /// So many passes are enough.
    Inductive(u32),
    /// More facts, before that.
    News,
    /// An error is reached, or there is no end.
    Nothing,
}

/// States at loop heads after the same number of segments.
type Layer = BTreeMap<LocId, State>;

struct Prover<'t> {
    task: &'t Task,
    graph: Graph,
    terms: Terms,
    encoder: Encoder<'t>,
    budget: &'t Budget,
}

/// What is reached from the start.
struct Base<'t> {
    prover: Prover<'t>,
    passes: Passes,
    board: &'t Board,
    by: &'t str,
    /// So many segments have been followed.
    followed: u32,
    /// Where errors are reached in those that have not been asked about.
    open: Vec<Term>,
}

impl<'t> Base<'t> {
    fn new(task: &'t Task, board: &'t Board, by: &'t str, budget: &'t Budget) -> Self {
        let mut prover = Prover::new(task, budget);
        let start = prover.encoder.initial_state(&mut prover.terms);
        let passes = Passes::from(task.body().entry, start, budget);
        Base { prover, passes, board, by, followed: 0, open: Vec::new() }
    }

    /// Whether no error is reached in so many segments, of which others may have seen the first ones.
    fn excludes(&mut self, segments: u32) -> Result<bool, Stop> {
        while self.followed < segments {
            let errors = self.prover.advance(&mut self.passes)?;
            self.open.push(errors);
            self.followed += 1;
        }
        let asked = self.followed - self.open.len() as u32;
        let known = self.board.segments_without_errors(self.by, asked).min(self.followed);
        self.open.drain(..(known - asked) as usize);
        let errors = self.prover.terms.or_all(std::mem::take(&mut self.open));
        self.prover.excludes(&mut self.passes, errors)
    }
}

/// A layer that is taken further and further, with a solver of its own: what it learns is about these passes.
struct Passes {
    layer: Layer,
    solver: BvSolver,
}

impl Passes {
    fn from(start: LocId, state: State, budget: &Budget) -> Self {
        let mut solver = BvSolver::for_proofs();
        solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
        Passes { layer: [(start, state)].into(), solver }
    }
}

/// Tries more and more passes. Fewer than `from` were tried before, with fewer invariants. News may make few passes
/// enough where many were not, and questions about few are easier.
fn induction(
    base: &mut Base<'_>,
    task: &Task,
    invariants: &Invariants,
    from: &mut u32,
    has_news: &dyn Fn() -> bool,
    budget: &Budget,
    progress: &Progress<'_>,
) -> Result<Found, Stop> {
    let mut prover = Prover::new(task, budget);
    let mut steps: Vec<Passes> = Vec::new();
    for head in prover.graph.loop_heads(task.program.entry).collect::<Vec<_>>() {
        let mut state = prover.encoder.arbitrary_state(&mut prover.terms);
        let mut possible = true;
        for &(_, fact) in invariants.at.iter().filter(|(l, _)| *l == head) {
            let fact = prover.encoder.cond(&mut prover.terms, &state, fact);
            possible &= state.assume(&prover.terms, fact);
        }
        if possible {
            steps.push(Passes::from(head, state, budget));
        }
    }
    for k in 0..=MAX_K {
        progress(format_args!("k = {k}"));
        if k > *from && has_news() {
            *from = k.min(EACH);
            return Ok(Found::News);
        }
        if k <= EACH && !base.excludes(k + 1)? {
            return Ok(Found::Nothing);
        }
        let mut inductive = k >= *from && (k <= EACH || (k - EACH).is_multiple_of(2));
        for passes in &mut steps {
            let errors = prover.advance(passes)?;
            // Nothing is learnt from more than one that is not.
            inductive = inductive && prover.excludes(passes, errors)?;
        }
        if inductive {
            return Ok(if base.excludes(k + 1)? { Found::Inductive(k) } else { Found::Nothing });
        }
    }
    Ok(Found::Nothing)
}

impl<'t> Prover<'t> {
    fn new(task: &'t Task, budget: &'t Budget) -> Self {
        let mut terms = Terms::new();
        let encoder = Encoder::new(&task.program, &mut terms);
        Prover { task, graph: task.program.analyse(), terms, encoder, budget }
    }

    /// Takes every state of a layer over one segment. Tells when an error is reached on the way.
    fn advance(&mut self, passes: &mut Passes) -> Result<Term, Stop> {
        let mut next = Layer::new();
        let mut errors = Vec::new();
        for (start, state) in std::mem::take(&mut passes.layer) {
            let ends = segment::run(
                self.task,
                &self.graph,
                &mut self.encoder,
                &mut self.terms,
                start,
                state,
                self.budget,
            )?;
            for end in ends {
                if !self.graph.is_loop_head(end.loc) {
                    errors.push(end.state.guard(&mut self.terms));
                    continue;
                }
                let merged = match next.remove(&end.loc) {
                    Some(known) => State::merge(&mut self.terms, &known, &end.state),
                    None => end.state,
                };
                next.insert(end.loc, merged);
            }
        }
        passes.layer = next;
        Ok(self.terms.or_all(errors))
    }

    /// Whether errors are impossible, as far as the solver can tell.
    fn excludes(&mut self, passes: &mut Passes, errors: Term) -> Result<bool, Stop> {
        Ok(match self.terms.bool_value(errors) {
            Some(reached) => !reached,
            None => match passes.solver.ask(&mut self.terms, errors, &[]).0 {
                Answer::Unsat => true,
                Answer::Sat => false,
                Answer::Unknown(_) => {
                    self.budget.check()?;
                    false
                }
            },
        })
    }
}
