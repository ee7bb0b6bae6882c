//! From the typed program to the control-flow automaton.
//!
//! [`compile`] takes C text all the way to a [`Program`]; [`lower`] is its last step. Side
//! effects and evaluation order are resolved here, undefined behaviour becomes visible as checks,
//! and what the C library does is said: some functions are operations of the automaton
//! (`library`), others come as C source (`prelude`), the rest stays external.
//!
//! * `lowerer`: the state; `pool`: expressions; `graph`: locations and edges; `scan`: what must be
//!   known in advance;
//! * `expr`, `place`, `assign`, `call`, `builtin`, `atomic`: expressions; `checks`: undefined behaviour;
//! * `stmt`, `scope`: statements and lifetimes; `func`: bodies and the entry; `arguments`: what it gets;
//!   `annotation`: what annotations demand;
//! * `types`, `object`: types, variables, functions and initialisers;
//! * `compile`: the whole way from text; `link`: library functions in place of declarations;
//! * `order`, `either`: operands whose order is open;
//! * `flow`, `misfit`: calls through pointers whose arguments do not fit.

mod annotation;
mod arguments;
mod assign;
mod atomic;
mod builtin;
mod call;
mod checked;
mod checks;
mod compile;
mod contract;
mod either;
mod expr;
mod flow;
mod formats;
mod func;
mod graph;
mod library;
mod link;
mod lowerer;
mod misfit;
mod object;
mod options;
mod order;
mod place;
mod pool;
mod prelude;
mod scan;
mod scope;
mod stmt;
mod types;

pub use compile::{Compiled, compile};
pub use contract::{Contract, Meaning, Param, Role, Store, contracts};
pub use library::is_operation;
pub use options::{CheckSet, Missing, Options, Pointers};

pub(crate) use lowerer::Lowerer;

use palisade_base::Diagnostic;
use palisade_c_syntax::Interner;
use palisade_c_types::tast::TypedProgram;
use palisade_cfa::Program;

/// Lowers a typed program without errors. The names are those it was typed with.
///
/// Gives the automaton with warnings, or what prevents it.
pub fn lower(
    typed: &TypedProgram,
    names: &Interner,
    options: &Options,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    link::with_deep_stack(|| link::lower_linked(typed, names, options, &contract::Contracts::new(), u32::MAX))
        .unwrap_or_else(|error| Err(vec![error]))
}
