//! One step of an exploration: a CFA edge, and how it is taken.
//!
//! A call of a function with a body is two steps, one into the body and one back out of it; a
//! check is two steps as well, one for each outcome. An analysis of formulas may take many edges at once, as
//! one block.

use palisade_cfa::{EdgeId, FuncId, LocId};

/// How an edge is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StepKind {
    /// The operation is executed and control goes from the edge's source to its destination. A
    /// check passes; a call is taken as a whole (a function without a body, or one whose body is
    /// not entered).
    Local,
    /// The condition of a check is 0: control leaves the program for the error.
    Fail,
    /// A call binds the parameters and goes to the entry of this function.
    Enter(FuncId),
    /// From the exit of this function back to the destination of the call.
    Leave(FuncId),
    /// All loop-free paths at once from the edge's source to this location, whatever edge they begin with: a
    /// block. Only for components that look at paths as formulas; where there is one that looks at single
    /// operations, steps are edges.
    Block(LocId),
}

/// A CFA edge, and how it is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// The edge.
    pub edge: EdgeId,
    /// How it is taken.
    pub kind: StepKind,
}

impl Step {
    /// The edge's operation as a whole.
    pub fn local(edge: EdgeId) -> Step {
        Step { edge, kind: StepKind::Local }
    }
}
