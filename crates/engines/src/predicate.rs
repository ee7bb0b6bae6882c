//! Predicates alone: the engine `predicate`, and the composites of `location` with `predicate` or `cartesian`.
//!
//! The search and its refinement are [`palisade_analyses::predicate::search`]: large blocks, and the truth values of
//! the predicates that infeasible paths to errors asked for. Here are the predicates that may be asked for: the
//! program's own conditions, equalities of registers with the constants they are given, what others know, and, in a
//! second round, comparisons between registers.

use crate::board::Board;
use crate::houdini::scalars::Guesses;
use crate::path::outcome_of;
use crate::{Certificate, Engine, Format, Outcome, Progress};
use palisade_analyses::live::Liveness;
use palisade_analyses::predicate::Abstraction;
use palisade_analyses::predicate::search::{Analysis, Found, Question, search};
use palisade_base::{Budget, SourceMap};
use palisade_cfa::*;
use palisade_cpa::{Exploration, Halt, StopOp, export};
use palisade_evidence::Invariants;
use palisade_task::Task;

/// Predicate abstraction.
pub struct Predicates {
    /// The name used on the command line.
    pub name: String,
    /// How successors are abstracted.
    pub abstraction: Abstraction,
    /// The termination check.
    pub stop: StopOp,
}

impl Default for Predicates {
    fn default() -> Self {
        Predicates { name: "predicate".into(), abstraction: Abstraction::Valuations, stop: StopOp::Separate }
    }
}

type Run<'p> = Exploration<Analysis<'p>>;

impl Predicates {
    /// Works on a task; `last` sees the last exploration.
    fn settle(
        &self,
        task: &Task,
        board: &Board,
        budget: &Budget,
        progress: &Progress<'_>,
        last: &mut dyn FnMut(&Program, &Run<'_>),
    ) -> Result<Outcome, Halt> {
        let live = Liveness::of(&task.program, budget)?;
        for comparisons in [false, true] {
            // What others know may be what is needed.
            let mut pool = board.facts(self.name(), &task.program, &mut 0);
            let candidates = self.candidates(&task.program, &mut pool, comparisons);
            progress(format_args!("{} predicates", candidates.len()));
            let extended = task.with_program(pool.extend(&task.program));
            let graph = extended.program.analyse();
            let question = Question {
                task: &extended,
                graph: &graph,
                live: &live,
                candidates: &candidates,
                abstraction: self.abstraction,
                stop: self.stop,
            };
            let mut round = 0;
            let (found, run) = search(&question, budget, &mut |tracked| {
                round += 1;
                progress(format_args!("refinement {round}: {} predicates", tracked.len()));
            })?;
            last(&extended.program, &run);
            match found {
                Found::Proof(at) => {
                    let facts = at.into_iter().map(|(loc, cubes)| (loc, disjunction(&mut pool, &cubes)));
                    pool.at = facts.collect();
                    return Ok(Outcome::Proof(Certificate::Invariants(pool)));
                }
                Found::Error(path) => return Ok(outcome_of(task, &path, budget)),
                Found::Stuck => {}
            }
        }
        Ok(Outcome::Unknown("the predicates do not exclude the errors".into()))
    }

    /// The predicates that may be tracked.
    fn candidates(&self, program: &Program, pool: &mut Invariants, comparisons: bool) -> Vec<ExprId> {
        let known: Vec<ExprId> = pool.at.drain(..).map(|(_, fact)| fact).collect();
        let mut guesses = Guesses::new(program, pool);
        let mut found = guesses.conditions.clone();
        found.extend(known);
        found.extend(guesses.constants_equal());
        if comparisons {
            guesses.atoms();
            found.append(&mut guesses.found);
        }
        if self.abstraction == Abstraction::Cartesian {
            // A conjunction has positive literals only.
            for e in found.clone() {
                found.push(pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, e)));
            }
        }
        found
    }
}

impl Engine for Predicates {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        match self.settle(task, board, budget, progress, &mut |_, _| {}) {
            Ok(outcome) => outcome,
            Err(halt) => Outcome::Unknown(halt.to_string()),
        }
    }

    fn graph(
        &self,
        task: &Task,
        format: Format,
        sources: &SourceMap,
        budget: &Budget,
    ) -> Option<Result<String, String>> {
        let mut graph = None;
        let mut write = |program: &Program, run: &Run<'_>| {
            graph = Some(export::write(program, run, format, sources));
        };
        let outcome = self.settle(task, &Board::default(), budget, &|_| {}, &mut write);
        Some(match (graph, outcome) {
            (Some(graph), _) => Ok(graph),
            (None, Err(halt)) => Err(halt.to_string()),
            (None, Ok(_)) => Err("nothing was explored".into()),
        })
    }
}

/// The truth values of predicates by cases.
fn disjunction(pool: &mut Invariants, cubes: &[Vec<(ExprId, bool)>]) -> ExprId {
    let mut parts = Vec::new();
    for cube in cubes {
        let mut literals = Vec::new();
        for &(e, holds) in cube {
            literals.push(if holds { e } else { pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, e)) });
        }
        parts.push(balanced(pool, BinOp::And, literals));
    }
    balanced(pool, BinOp::Or, parts)
}

/// A conjunction or disjunction of logarithmic depth.
fn balanced(pool: &mut Invariants, op: BinOp, mut parts: Vec<ExprId>) -> ExprId {
    while parts.len() > 2 {
        let pairs: Vec<Vec<ExprId>> = parts.chunks(2).map(<[ExprId]>::to_vec).collect();
        parts = pairs.iter().map(|pair| pool.all(op, pair)).collect();
    }
    pool.all(op, &parts)
}
