//! Reductions: a task with nothing superfluous.
//!
//! [`reduce`] shrinks a task until nothing changes any more: objects become variables
//! ([`mod@promote`]) and registers ([`mod@split`]), known values are used ([`mod@propagate`]), questions about
//! objects are answered ([`mod@lives`]), what cannot matter is cut away ([`mod@slice`]), and locations that do nothing are gone
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

/// Repeats all reductions until none finds anything to do.
pub fn reduce(task: &mut Task) {
    for _ in 0..ROUNDS {
        let changed = promote::promote(task)
            | propagate::propagate(task)
            | lives::lives(task)
            | slice::slice(task)
            | split::split(task);
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
