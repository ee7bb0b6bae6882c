//! Guess and check: many candidate invariants, of which the solver keeps the largest inductive
//! set (Flanagan and Leino's Houdini).
//!
//! Candidates are what the numeric domains found, comparisons of variables with constants and with
//! each other, remainders, the program's own conditions, and, in a second round, implications
//! between them ([`scalars`]); for programs with arrays, facts about all elements in a range
//! ([`cells`]) and about what loops accumulate ([`folds`]); for memory safety, facts about where pointers
//! point ([`pointers`]). A candidate that a run contradicts is dropped ([`sample`]), then what a loop-free
//! segment can break, as far as it matters for excluding the errors ([`refine`]). What is needed of the rest
//! is the proof.

mod cells;
mod folds;
mod passes;
mod pointers;
mod refine;
mod relevant;
mod sample;
pub(crate) mod scalars;

use crate::board::Board;
use crate::numeric::DELAY;
use crate::{Certificate, Engine, Outcome, Progress};
use cells::Cells;
use folds::Folds;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_domains::Domain;
use palisade_evidence::Invariants;
use palisade_task::Task;
use pointers::Pointers;
use refine::{Candidate, Scope, inductive};
use scalars::Guesses;

/// The engine `houdini`.
pub struct Houdini;

impl Engine for Houdini {
    fn name(&self) -> &str {
        "houdini"
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        progress(format_args!("numeric invariants"));
        let mut numeric = numeric_facts(self.name(), task, board, budget);
        let mut seen = 0;
        for implications in [false, true] {
            let mut pool = numeric;
            let mut guesses = Guesses::new(&task.program, &mut pool);
            guesses.atoms();
            if implications {
                guesses.implications();
            }
            let found = std::mem::take(&mut guesses.found);
            let found = found.into_iter().map(|expr| Candidate { expr, at: None, ghosts: 0 });
            let outcome = conclude(self.name(), task, board, pool, found.collect(), budget, progress);
            if !matches!(outcome, Outcome::Unknown(_)) || budget.stopped().is_some() {
                return outcome;
            }
            // By now others have found more.
            numeric = board.facts(self.name(), &task.program, &mut seen);
        }
        Outcome::Unknown("no inductive set of candidates".into())
    }
}

/// The engine `arrays`.
pub struct Arrays;

impl Engine for Arrays {
    fn name(&self) -> &str {
        "arrays"
    }

    fn suits(&self, task: &Task) -> bool {
        Cells::new(&task.program).is_some()
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        let Some(cells) = Cells::new(&task.program) else {
            return Outcome::Unknown("no array is indexed by a variable".into());
        };
        progress(format_args!("numeric invariants"));
        let mut numeric = numeric_facts(self.name(), task, board, budget);
        let mut seen = 0;
        for pairs in [false, true] {
            let mut pool = numeric;
            let mut found = cells.candidates(&mut pool, pairs);
            let mut guesses = Guesses::new(&task.program, &mut pool);
            guesses.bounds();
            found.extend(guesses.found.drain(..).map(|expr| Candidate { expr, at: None, ghosts: 0 }));
            let outcome = conclude(self.name(), task, board, pool, found, budget, progress);
            if !matches!(outcome, Outcome::Unknown(_)) || budget.stopped().is_some() {
                return outcome;
            }
            // By now others have found more.
            numeric = board.facts(self.name(), &task.program, &mut seen);
        }
        Outcome::Unknown("no inductive set of candidates".into())
    }
}

/// The engine `folds`.
pub struct Accumulations;

impl Engine for Accumulations {
    fn name(&self) -> &str {
        "folds"
    }

    fn suits(&self, task: &Task) -> bool {
        Folds::new(&task.program, Invariants::none(&task.program)).is_some()
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        let Some(folds) = Folds::new(&task.program, Invariants::none(&task.program)) else {
            return Outcome::Unknown("no two loops accumulate elements of an array".into());
        };
        let (mut pool, mut found) = folds.candidates();
        let conditions = Guesses::new(&task.program, &mut pool).conditions;
        for cond in conditions {
            let not = pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, cond));
            found.extend([cond, not].map(|expr| Candidate { expr, at: None, ghosts: 0 }));
        }
        let objects = pointers::objects(&task.program, &mut pool);
        found.extend(objects.into_iter().map(|expr| Candidate { expr, at: None, ghosts: 0 }));
        conclude(self.name(), task, board, pool, found, budget, progress)
    }
}

/// The engine `pointers`.
pub struct Memory;

impl Engine for Memory {
    fn name(&self) -> &str {
        "pointers"
    }

    fn suits(&self, task: &Task) -> bool {
        Pointers::new(&task.program).is_some()
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        let Some(pointers) = Pointers::new(&task.program) else {
            return Outcome::Unknown("no check of a pointer".into());
        };
        progress(format_args!("numeric invariants"));
        let mut pool = numeric_facts(self.name(), task, board, budget);
        let mut found = pointers.candidates(&mut pool);
        let mut guesses = Guesses::new(&task.program, &mut pool);
        guesses.bounds();
        found.append(&mut guesses.found);
        let found = found.into_iter().map(|expr| Candidate { expr, at: None, ghosts: 0 });
        conclude(self.name(), task, board, pool, found.collect(), budget, progress)
    }
}

/// Keeps what is inductive of the candidates and of the facts in the pool.
fn conclude(
    by: &str,
    task: &Task,
    board: &Board,
    mut pool: Invariants,
    mut candidates: Vec<Candidate>,
    budget: &Budget,
    progress: &Progress<'_>,
) -> Outcome {
    candidates.extend(pool.at.drain(..).map(|(at, expr)| Candidate { expr, at: Some(at), ghosts: 0 }));
    progress(format_args!("{} candidates", candidates.len()));
    let extended = task.with_program(pool.extend(&task.program));
    let samples = board.samples(by, task, budget);
    for scope in [Scope::Relevant, Scope::All] {
        match inductive(&extended, &candidates, pool.ghosts().collect(), scope, &samples, budget) {
            Ok(Some(at)) => {
                pool.at = at;
                return Outcome::Proof(Certificate::Invariants(pool));
            }
            Ok(None) => {}
            Err(stop) => return Outcome::Unknown(stop.to_string()),
        }
    }
    Outcome::Unknown("no inductive set of candidates".into())
}

/// Registers up to which the more precise domains are worth their time.
const FEW: usize = 12;
/// Registers up to which octagons are worth their time.
const SOME: usize = 60;

/// What a numeric domain finds, the more precise the smaller the program is.
fn numeric_facts(by: &str, task: &Task, board: &Board, budget: &Budget) -> Invariants {
    let program = &task.program;
    let mut written: Vec<VarId> = Vec::new();
    for edge in &program.edges {
        if let Op::Assign { dst, .. } | Op::Havoc { dst, .. } = edge.op
            && let Some((var, _)) = program.whole_integer(dst)
        {
            written.push(var);
        }
    }
    written.sort_unstable();
    written.dedup();
    let domain = match written.len() {
        n if n <= FEW => Domain::polyhedra(),
        n if n <= SOME => Domain::octagon(),
        _ => Domain::interval(),
    };
    let found = board.fixed_point(by, task, &domain, DELAY, budget);
    found.map_or_else(|_| Invariants::none(program), |found| found.invariants.clone())
}
