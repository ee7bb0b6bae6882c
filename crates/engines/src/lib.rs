//! The engines: each answers one question about a [`Task`] in its own way.
//!
//! An engine proves that no error location can be reached and hands over a [`Certificate`], or
//! finds a way there and hands over a [`Counterexample`], or says why it could not. Neither is a
//! verdict: certificates and counterexamples are checked elsewhere, by code that shares nothing
//! with the engines.

pub mod bmc;
pub mod board;
pub mod composite;
pub mod concrete;
pub mod constructed;
pub mod eureka;
pub mod houdini;
pub mod kinduction;
pub mod modular;
pub mod numeric;
pub mod numpred;
pub mod parts;
pub mod path;
pub mod predicate;
pub mod summaries;
pub mod symbolic;
pub mod unroll;
pub mod value;

use board::Board;
use palisade_base::{Budget, SourceMap};
use palisade_cfa::Program;
pub use palisade_cpa::export::Format;
pub use palisade_evidence::{Certificate, Chosen, Counterexample, Outcome};
use palisade_task::Task;
use std::fmt;

/// Receives short notes about where an engine stands.
pub type Progress<'a> = dyn Fn(fmt::Arguments<'_>) + 'a;

/// A way to settle tasks.
pub trait Engine {
    /// The name used on the command line.
    fn name(&self) -> &str;
    /// Works on a task until it is settled or the budget is stopped. What others learn about the task is on the
    /// board; `progress` receives short notes about where the engine stands.
    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome;

    /// What it finds soon, in steps of which the task alone says how many they are. All engines are asked before any of
    /// them runs, so that who finds what is easily found does not depend on the machine.
    fn first_look(&self, _task: &Task, _board: &Board, _budget: &Budget) -> Option<Outcome> {
        None
    }

    /// Whether it is made for few programs, of which the task is one.
    fn suits(&self, _task: &Task) -> bool {
        false
    }

    /// Whether it looks at nothing but the program that the task was made of.
    fn looks_at_source(&self) -> bool {
        false
    }

    /// Whether it is asked about a large program before its calls are followed: it looks at the source, and is soon
    /// done.
    fn comes_first(&self, _program: &Program) -> bool {
        false
    }

    /// The abstract reachability graph that a run on the task explores, for people or programs;
    /// it is explored again. `None` for engines that have no such graph.
    fn graph(
        &self,
        _task: &Task,
        _format: Format,
        _sources: &SourceMap,
        _budget: &Budget,
    ) -> Option<Result<String, String>> {
        None
    }
}
