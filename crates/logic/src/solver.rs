//! What every solver back end offers: the trait [`Solver`].

use std::fmt;

use palisade_base::{Budget, Stop};

use crate::term::{Term, Terms};
use crate::value::{Model, Value};

/// The answer to a satisfiability question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is a model; [`Solver::model`] and [`Solver::value`] tell it.
    Sat,
    /// There is none; [`Solver::unsat_core`] tells which assumptions are to blame.
    Unsat,
    /// The solver gave up.
    Unknown(Unknown),
}

impl Answer {
    /// Whether the answer is [`Answer::Sat`].
    pub fn is_sat(&self) -> bool {
        *self == Answer::Sat
    }

    /// Whether the answer is [`Answer::Unsat`].
    pub fn is_unsat(&self) -> bool {
        *self == Answer::Unsat
    }
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// The budget was stopped.
    Stopped(Stop),
    /// The limit on conflicts was reached.
    Conflicts,
    /// The limit on memory was reached.
    Memory,
    /// The back end failed: a child process is missing, died or answered nonsense.
    Failed(String),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::Stopped(stop) => stop.fmt(f),
            Unknown::Conflicts => f.write_str("conflict limit"),
            Unknown::Memory => f.write_str("memory limit"),
            Unknown::Failed(why) => f.write_str(why),
        }
    }
}

/// What bounds one call of [`Solver::check`].
#[derive(Clone, Debug)]
pub struct Limits {
    /// Stops the search from outside.
    pub budget: Budget,
    /// At most this many conflicts of the SAT search per check.
    pub conflicts: Option<u64>,
    /// At most about this many bytes for the solver's own data.
    pub memory: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { budget: Budget::unlimited(), conflicts: None, memory: None }
    }
}

/// An incremental solver. Terms live in a pool that is passed to each call; all calls to one
/// solver take the same pool.
pub trait Solver {
    /// Requires a Boolean term from now on, until the current level is popped.
    fn assert(&mut self, terms: &mut Terms, t: Term);

    /// Opens a level of assertions.
    fn push(&mut self);

    /// Drops the assertions made since the matching [`Solver::push`]. Without one, nothing
    /// happens.
    fn pop(&mut self);

    /// Whether the assertions and the Boolean `assumptions` have a common model.
    fn check(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Answer;

    /// Whether a Boolean `goal` is possible under assumptions, and the core of these if it is not. The goal is asserted
    /// for this question alone: what it says then simplifies the rest of it, which pays where a goal is large.
    fn ask(&mut self, terms: &mut Terms, goal: Term, assumptions: &[Term]) -> (Answer, Vec<Term>) {
        self.push();
        self.assert(terms, goal);
        let answer = self.check(terms, assumptions);
        let core = if answer.is_unsat() { self.unsat_core() } else { Vec::new() };
        self.pop();
        (answer, core)
    }

    /// The model of the last check if that was [`Answer::Sat`] and nothing was asserted or
    /// popped since. Variables it does not list may have any value; the default will do.
    fn model(&mut self, terms: &mut Terms) -> Option<Model>;

    /// The value of any term under [`Solver::model`].
    fn value(&mut self, terms: &mut Terms, t: Term) -> Option<Value> {
        let model = self.model(terms)?;
        Some(terms.evaluate(t, &model))
    }

    /// After [`Answer::Unsat`]: assumptions of the last check, in their order, that already have
    /// no common model with the assertions. Not necessarily a smallest set.
    fn unsat_core(&self) -> Vec<Term>;

    /// Bounds all further checks.
    fn set_limits(&mut self, limits: Limits);
}
