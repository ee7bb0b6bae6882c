//! The budget token: how a long computation learns that it must stop.
//!
//! Nobody below the command line reads a clock. A watchdog (or a scheduler, or a test) calls
//! [`Budget::stop`]; every loop that may run long calls [`Budget::check`] and returns what it
//! soundly has. The same look is where a computation waits while others have their turn
//! ([`Budget::pause`]).

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

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

#[derive(Debug, Default)]
struct Flag {
    reason: AtomicU8,
    paused: AtomicBool,
    /// Wakes those who wait.
    wake: (Mutex<()>, Condvar),
    parent: Option<Budget>,
}

/// How often those who wait look whether a parent was stopped, who does not know them.
const LOOK: Duration = Duration::from_millis(10);

/// A shared stop flag; clones observe the same flag, children also observe their parent's.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Flag>);

impl Budget {
    /// A budget that runs until somebody stops it.
    pub fn unlimited() -> Self {
        Budget(Arc::default())
    }

    /// A budget that stops with `self` and can also be stopped alone.
    pub fn child(&self) -> Self {
        Budget(Arc::new(Flag { parent: Some(self.clone()), ..Flag::default() }))
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
        self.wake();
    }

    /// Lets everyone who holds this budget, or a child of it, wait where they next look at it, until it
    /// is resumed or stopped.
    pub fn pause(&self) {
        self.0.paused.store(true, Ordering::Relaxed);
    }

    /// Lets those who wait go on.
    pub fn resume(&self) {
        self.0.paused.store(false, Ordering::Relaxed);
        self.wake();
    }

    fn wake(&self) {
        let _guard = self.0.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.wake.1.notify_all();
    }

    #[cold]
    fn wait(&self) {
        let mut guard = self.0.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        while self.0.paused.load(Ordering::Relaxed) && self.reason().is_none() {
            guard = match self.0.wake.1.wait_timeout(guard, LOOK) {
                Ok((guard, _)) => guard,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// The reason to stop, if there is one. Waits while the budget is paused.
    pub fn stopped(&self) -> Option<Stop> {
        let mut budget = Some(self);
        while let Some(b) = budget {
            if b.0.paused.load(Ordering::Relaxed) {
                b.wait();
            }
            budget = b.0.parent.as_ref();
        }
        self.reason()
    }

    fn reason(&self) -> Option<Stop> {
        match self.0.reason.load(Ordering::Relaxed) {
            1 => Some(Stop::Time),
            2 => Some(Stop::Memory),
            3 => Some(Stop::Interrupt),
            4 => Some(Stop::Cancelled),
            _ => self.0.parent.as_ref().and_then(Budget::reason),
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

    #[test]
    fn who_is_paused_waits_until_resumed_or_stopped() {
        let parent = Budget::unlimited();
        let budget = parent.child();
        let (report, reports) = std::sync::mpsc::channel();
        let looker = |budget: Budget| {
            let report = report.clone();
            std::thread::spawn(move || report.send(budget.child().stopped()))
        };
        budget.pause();
        let first = looker(budget.clone());
        assert!(reports.recv_timeout(Duration::from_millis(50)).is_err());
        budget.resume();
        assert_eq!(reports.recv().ok(), Some(None));
        budget.pause();
        let second = looker(budget.clone());
        parent.stop(Stop::Time);
        assert_eq!(reports.recv().ok(), Some(Some(Stop::Time)));
        for thread in [first, second] {
            assert!(matches!(thread.join(), Ok(Ok(()))));
        }
    }
}
