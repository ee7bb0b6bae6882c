//! Observer automata as text (`.spc`).
//!
//! ```text
//! // Input must be validated before it is consumed.
//! observer validation {
//!   initial init;
//!   state init  { on call scanf -> check; }
//!   state check {
//!     on call validate -> init;
//!     on call consume -> error "input is consumed before it is validated";
//!   }
//! }
//!
//! observer precondition {
//!   initial init;
//!   state init { on call foo split (x > 0 && y < 0, init, error "foo needs x > 0 and y < 0"); }
//! }
//! ```
//!
//! * Events: `call f`, `return f` (a `return` in `f`), `assign x` (an assignment that names `x` on
//!   its left side), `label l` (control comes to a label). A state without a rule for an event
//!   stays as it is.
//! * A rule leads to a state or to `error "message"`. With a condition it is written
//!   `if (c) -> q else -> r` or `split (c, q, r)`, or as several `if` rules for the same event, whose
//!   conditions together must always hold: an observer never restricts what it observes.
//! * Conditions are about the state after the step: for a call the parameters are bound. A name is a
//!   variable of the function the event names, or a global; `f::x` is a variable of `f`, for events
//!   that only happen in `f`. The start of the program is no call.
//! * All rules for an event whose conditions hold are taken.
//!
//! [`parse`] reads the text, [`Automaton::check`] finds what is wrong with an automaton in itself,
//! and [`bind`] resolves its names in a program. Then an analysis runs beside the others and watches, or
//! [`weave`] puts the automata into the program. [`observers_of`] makes automata of a `.prp` property.

mod bind;
mod parse;
mod prp;
mod soundness;
mod weave;

pub use bind::{Moment, Observer, ObserverState, Transition, Trigger, bind};
pub use parse::parse;
pub use prp::observers_of;
pub use weave::weave;

use std::fmt;

/// A position in the text, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct At {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// What is wrong with a specification, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpcError {
    /// Where.
    pub at: At,
    /// What.
    pub message: String,
}

impl SpcError {
    fn new(at: At, message: impl Into<String>) -> Self {
        SpcError { at, message: message.into() }
    }
}

impl fmt::Display for SpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.at.line, self.at.column, self.message)
    }
}

impl std::error::Error for SpcError {}

/// An observer automaton as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// Its name.
    pub name: String,
    /// Where it starts in the text.
    pub at: At,
    /// The state it starts in.
    pub initial: usize,
    /// All states; error states come last.
    pub states: Vec<State>,
}

/// A control state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Its name; made up for error states.
    pub name: String,
    /// Where it is declared, or first used if it is an error state.
    pub at: At,
    /// For an error state, what went wrong.
    pub error: Option<String>,
    /// What leads out of it.
    pub rules: Vec<Rule>,
}

/// A transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Where it is written.
    pub at: At,
    /// What it waits for.
    pub event: Event,
    /// What must hold after the step; `None` for a rule without a condition.
    pub condition: Option<Cond>,
    /// The state it leads to.
    pub to: usize,
}

/// What kind of step an event is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EventKind {
    /// A call of a function.
    Call,
    /// A return statement of a function.
    Return,
    /// An assignment to a variable.
    Assign,
    /// Control comes to a label.
    Label,
}

/// Something that happens in a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// The function, variable or label.
    pub name: String,
    /// Where the name is written.
    pub at: At,
}

/// A condition or an arithmetic expression in one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cond {
    /// A number.
    Number(i128),
    /// A variable.
    Name(String, At),
    /// `-a`.
    Neg(Box<Cond>),
    /// `!a`.
    Not(Box<Cond>),
    /// An operator with two operands.
    Binary(Operator, Box<Cond>, Box<Cond>),
}

/// Operators of conditions, as in C.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Operator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
}
