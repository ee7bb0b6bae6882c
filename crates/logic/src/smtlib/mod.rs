//! SMT-LIB 2: reading and printing, and running scripts on the embedded solver.
//!
//! The logics are QF_BV, QF_ABV, QF_UFBV and QF_AUFBV, with the operators of version 2.7. Reading
//! never recurses on the nesting of the text.

mod elaborate;
mod operators;
pub(crate) mod print;
mod script;
pub mod sexpr;

#[cfg(test)]
mod tests;

use std::io::Write;

use crate::bv_solver::BvSolver;
use crate::solver::{Limits, Solver};
use crate::term::Terms;
use crate::value::{Model, Value};

pub use print::{Dialect, print_script, print_sort, print_symbol, print_term};
pub use sexpr::Position;

/// Scripts may use bit-vectors up to this width.
pub const WIDTH_LIMIT: u32 = 1 << 16;

/// Exit status of a script without errors.
pub const OK: u8 = 0;

/// Exit status of a script with an error.
pub const ERROR: u8 = 2;

/// Runs a script and writes the answers to `out`, as a solver's command line does. The first error
/// ends the run with a line `(error "file:line:column: message")`.
///
/// Returns the exit status: [`OK`], or [`ERROR`] after an error line. Output that cannot be
/// written ends the run as well.
pub fn run(text: &[u8], file: &str, out: &mut dyn Write, limits: &Limits) -> u8 {
    run_on(text, file, out, &|| {
        let mut solver = BvSolver::new();
        solver.set_limits(limits.clone());
        Box::new(solver)
    })
}

/// As [`run`], on solvers of the caller's choice: one to begin with, and another after each `reset`.
pub fn run_on(text: &[u8], file: &str, out: &mut dyn Write, solvers: &dyn Fn() -> Box<dyn Solver>) -> u8 {
    let status = match script::Script::new(solvers).run(text, out) {
        Ok(()) => OK,
        Err(script::Failure::Output) => OK,
        Err(script::Failure::Script(error)) => {
            report(text, file, &error, out);
            ERROR
        }
    };
    // A closed pipe is no error of the script.
    let _ = out.flush();
    status
}

/// The line that tells of an error in a script.
pub fn report(text: &[u8], file: &str, error: &sexpr::Error, out: &mut dyn Write) {
    let at = sexpr::position(text, error.at);
    let message = format!("{file}:{at}: {}", error.message).replace('"', "\"\"");
    // One line, even where a quoted symbol has several.
    let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(out, "(error \"{message}\")");
}

/// The values of an answer to `get-value`: the second element of each pair. `None` if the answer
/// is something else.
pub(crate) fn parse_values(terms: &mut Terms, answer: &[u8]) -> Option<Vec<Value>> {
    let mut tree = sexpr::Tree::new(answer);
    let root = sexpr::Reader::new(answer).next(&mut tree).ok()??;
    let symbols = elaborate::Symbols::default();
    let pairs = tree.list(root)?;
    let mut values = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let &[_, value] = tree.list(*pair)? else { return None };
        let t = elaborate::Elaborator::new(terms, &symbols, &tree).term(value).ok()?;
        values.push(terms.evaluate(t, &Model::new()));
    }
    Some(values)
}

/// The symbols of a list of symbols.
pub(crate) fn parse_symbols(answer: &[u8]) -> Option<Vec<String>> {
    let mut tree = sexpr::Tree::new(answer);
    let root = sexpr::Reader::new(answer).next(&mut tree).ok()??;
    tree.list(root)?.iter().map(|s| tree.symbol(*s).map(str::to_owned)).collect()
}
