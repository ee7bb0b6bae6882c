//! Decision diagrams: linear decision diagrams over bounds, plain BDDs and multi-terminal BDDs, all on
//! one kernel.
//!
//! - [`Ldd`] represents finite unions of boxes (Gurfinkel and Chaki, *BOXES: A Symbolic Abstract
//!   Domain of Boxes*): canonical sets over constraints `x <= k` and `x < k`, with the images, hulls
//!   and the widening that a static analysis needs.
//! - [`Bdd`] represents Boolean functions, [`Mtbdd`] functions from Booleans to any values.
//! - [`Shared`] and [`Root`] manage the lifetime of functions in a manager.
//!
//! There is no global state. An operation that would exceed the manager's [`Limits`] returns
//! [`OutOfBudget`] and leaves the manager usable. No operation recurses on the call stack.

mod apply;
mod bdd;
mod kernel;
mod ldd;
mod mtbdd;
mod node;
mod quantify;
mod reorder;
mod run;
mod shared;
mod tables;
#[cfg(test)]
mod tests;

pub use bdd::{Bdd, Cubes};
pub use kernel::{Limits, OutOfBudget, Outcome, Stats};
pub use ldd::{BoxPath, Boxes, Cut, Factors, Guard, Interval, Kind, Ldd, Relation};
pub use mtbdd::Mtbdd;
pub use node::{Node, Var};
pub use shared::{Manager, Root, Shared};
