//! From an instrumented program to a checked verdict: which engines run, and when.
//!
//! * [`registry`]: the analyses by name;
//! * [`class`]: classes of programs, and who gets how much of the time on them;
//! * [`race`]: how they share the processors;
//! * [`open`]: what stood in the way where there is no verdict;
//! * [`settle`]: runs one of them, or several side by side, and lets nothing out that was not
//!   checked.

pub mod class;
mod open;
mod race;
pub mod registry;
mod settle;

pub use open::{Obstacle, Open};
pub use settle::{Progress, Settled, Tried, Verdict, settle};
