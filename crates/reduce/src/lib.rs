//! Reductions: a task with nothing superfluous.
//!
//! [`reduce`] shrinks a task by the [`PASSES`] until nothing changes any more; locations that do nothing are gone then
//! ([`compact`](palisade_task::compact)). In large programs functions that cannot fail need not be followed
//! ([`mod@outline`]). The task still knows where each edge came from.

mod available;
pub mod lives;
pub mod outline;
pub mod promote;
pub mod propagate;
pub mod slice;
pub mod split;

use palisade_cfa::Program;
use palisade_task::compact::compact;
use palisade_task::{Task, TooLarge};
use std::sync::Arc;

/// How often reductions are repeated: each one may make room for the others.
const ROUNDS: usize = 6;

/// A woven program of more edges than this after inlining is not analysed.
const MAX_WOVEN_EDGES: usize = 200_000;

/// The reduced task of an instrumented program; see [`Task::whole`] for what is asked.
pub fn task(source: &Arc<Program>, recursion: usize, max_edges: usize) -> Result<Task, TooLarge> {
    let mut task = Task::whole(source, recursion, max_edges)?;
    reduce(&mut task);
    Ok(task)
}

/// The same where functions that cannot fail are not followed ([`mod@outline`]).
pub fn outlined_task(source: &Arc<Program>, recursion: usize, max_edges: usize) -> Result<Task, TooLarge> {
    let mut task = outline::task(source, recursion, max_edges, outline::SMALL)?;
    reduce(&mut task);
    Ok(task)
}

/// A reduction.
pub struct Pass {
    /// What it is called.
    pub name: &'static str,
    /// Why it is done.
    pub reason: &'static str,
    /// Does it. Tells whether something changed.
    pub run: fn(&mut Task) -> bool,
}

/// All reductions, in an order in which each makes room for the next ones.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "promote",
        reason: "a heap object that is made once is a variable, which can be followed by name",
        run: promote::promote,
    },
    Pass {
        name: "propagate",
        reason: "a known value decides conditions, and a known address makes a pointer a variable",
        run: propagate::propagate,
    },
    Pass {
        name: "lives",
        reason: "a question about an object that has one answer needs no memory to be modelled",
        run: lives::lives,
    },
    Pass {
        name: "slice",
        reason: "what cannot change whether an error is reached is work for every engine",
        run: slice::slice,
    },
    Pass {
        name: "split",
        reason: "members of a struct that no pointer reaches are registers like any other",
        run: split::split,
    },
];

/// Repeats all reductions until none finds anything to do.
pub fn reduce(task: &mut Task) {
    reduce_watched(task, &mut |_, _| ());
}

/// The same for somebody who looks at the task after each reduction.
pub fn reduce_watched(task: &mut Task, watch: &mut dyn FnMut(&Pass, &Task)) {
    for _ in 0..ROUNDS {
        let mut changed = false;
        for pass in PASSES {
            changed |= (pass.run)(task);
            watch(pass, task);
        }
        compact(task);
        if !changed {
            break;
        }
    }
}

/// The reduced task of a program with contracts in the place of calls.
pub fn woven_task(woven: Program) -> Result<Task, TooLarge> {
    task(&Arc::new(woven), 0, MAX_WOVEN_EDGES)
}
