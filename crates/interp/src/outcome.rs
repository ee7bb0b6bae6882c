//! How a run ends and what it tells.

use crate::memory::BadAccess;
use palisade_base::Stop;
use palisade_cfa::*;
use std::fmt;

/// How a run ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The program ended normally, with this status.
    Exit(i32),
    /// The program called `abort` or ended alike.
    Abort,
    /// A check failed: the program is wrong in this way.
    Violation(CheckKind),
    /// The program did something undefined that no check guards.
    Trap(Trap),
    /// No assumption holds: this run does not count.
    Blocked,
    /// The step limit is reached.
    StepLimit,
    /// The memory limit is reached.
    MemoryLimit,
    /// The inputs are used up.
    NeedInput,
    /// The program needs what the interpreter does not have: a construct or a library function.
    Unsupported(String),
    /// The observer wanted no more.
    Observed,
    /// The budget is used up.
    Stopped(Stop),
}

/// Something undefined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trap {
    /// A bad load or store.
    Access(BadAccess),
    /// A bad `free`.
    Free,
    /// Division by zero.
    DivByZero,
    /// A shift by a negative amount, or by the width or more.
    Shift,
    /// A call of what is no function, or of one with other parameters.
    Call,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trap::Access(BadAccess::Null) => "access through a null pointer",
            Trap::Access(BadAccess::Wild) => "access through a pointer to no object",
            Trap::Access(BadAccess::Dangling) => "access to an object whose life has ended",
            Trap::Access(BadAccess::OutOfBounds) => "access outside of an object",
            Trap::Access(BadAccess::ReadOnly) => "write to a read-only object",
            Trap::Free => "free of what is not the start of a heap object",
            Trap::DivByZero => "division by zero",
            Trap::Shift => "shift by a negative amount, or by the width or more",
            Trap::Call => "call of what is not a function of this type",
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Exit(status) => write!(f, "exit with status {status}"),
            Outcome::Abort => f.write_str("abort"),
            Outcome::Violation(kind) => write!(f, "violation: {kind}"),
            Outcome::Trap(trap) => write!(f, "undefined behaviour: {trap}"),
            Outcome::Blocked => f.write_str("blocked by an assumption"),
            Outcome::StepLimit => f.write_str("step limit reached"),
            Outcome::MemoryLimit => f.write_str("memory limit reached"),
            Outcome::NeedInput => f.write_str("no input left"),
            Outcome::Unsupported(what) => write!(f, "not supported: {what}"),
            Outcome::Observed => f.write_str("stopped by the observer"),
            Outcome::Stopped(stop) => write!(f, "stopped: {stop}"),
        }
    }
}

/// An input that a run took, or the same one several times in succession.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Where.
    pub edge: EdgeId,
    /// Its type.
    pub ty: Scalar,
    /// Its value bits.
    pub bits: u128,
    /// How often; more than once only in passes of a loop that were leapt over.
    pub times: u64,
}

/// What a run tells.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// Where: the edge that was executed last in each active function, the innermost first. Empty
    /// after a normal end.
    pub stack: Vec<(FuncId, EdgeId)>,
    /// About how many edges were executed; exactly as many if all were recorded or observed. Passes that were leapt
    /// over do not count.
    pub steps: u64,
    /// The executed edges, if they were recorded.
    pub trace: Vec<EdgeId>,
    /// Whether the trace reached its cap and lacks the rest.
    pub trace_cut: bool,
    /// Inputs in the order in which they were taken.
    pub inputs: Vec<Taken>,
    /// Functions without a body that the library does not know either: they did nothing and
    /// returned an unknown value.
    pub unknown_functions: Vec<FuncId>,
}
