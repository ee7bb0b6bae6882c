//! The budget token: how a long computation learns that it must stop.
//!
//! Nobody below the command line reads a clock. A watchdog (or a scheduler, or a test) calls
//! [`Budget::stop`]; every loop that may run long calls [`Budget::check`] and returns what it
//! soundly has.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Why a computation was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The time limit is near.
    Time,
    /// The memory limit is near.
    Memory,
    /// The user interrupted the run.
    Interrupt,
    /// Someone else has the answer, or the scheduler took the turn away.
    Cancelled,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Time => "time limit",
            Stop::Memory => "memory limit",
            Stop::Interrupt => "interrupted",
            Stop::Cancelled => "cancelled",
        })
    }
}

impl std::error::Error for Stop {}

#[derive(Debug)]
struct Flag {
    reason: AtomicU8,
    parent: Option<Budget>,
}

/// A shared stop flag; clones observe the same flag, children also observe their parent's.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Flag>);

impl Budget {
    /// A budget that runs until somebody stops it.
    pub fn unlimited() -> Self {
        Budget(Arc::new(Flag { reason: AtomicU8::new(0), parent: None }))
    }

    /// A budget that stops with `self` and can also be stopped alone.
    pub fn child(&self) -> Self {
        Budget(Arc::new(Flag { reason: AtomicU8::new(0), parent: Some(self.clone()) }))
    }

    /// Asks everyone who holds this budget, or a child of it, to stop. The first reason stays.
    pub fn stop(&self, reason: Stop) {
        let code = match reason {
            Stop::Time => 1,
            Stop::Memory => 2,
            Stop::Interrupt => 3,
            Stop::Cancelled => 4,
        };
        let _ = self.0.reason.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The reason to stop, if there is one.
    pub fn stopped(&self) -> Option<Stop> {
        match self.0.reason.load(Ordering::Relaxed) {
            1 => Some(Stop::Time),
            2 => Some(Stop::Memory),
            3 => Some(Stop::Interrupt),
            4 => Some(Stop::Cancelled),
            _ => self.0.parent.as_ref().and_then(Budget::stopped),
        }
    }

    /// `Err` once the budget is stopped; for use with `?`.
    pub fn check(&self) -> Result<(), Stop> {
        self.stopped().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_stops_with_its_parent_but_not_the_other_way() {
        let parent = Budget::unlimited();
        let (a, b) = (parent.child(), parent.child());
        a.stop(Stop::Cancelled);
        assert_eq!(a.check(), Err(Stop::Cancelled));
        assert_eq!((b.check(), parent.check()), (Ok(()), Ok(())));
        parent.stop(Stop::Time);
        assert_eq!(b.check(), Err(Stop::Time));
        assert_eq!(a.check(), Err(Stop::Cancelled), "the first reason stays");
    }
}
