//! Loop-free segments of a program: from a cut point to all it reaches without passing another.
//!
//! Cut points are the loop heads. A segment starts in a symbolic state at one location, follows
//! edges in the weak topological order, merges where paths meet, and stops at loop heads, error locations
//! and cuts.

use crate::encoder::Encoder;
use crate::state::State;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_logic::{Sort, Terms};
use palisade_task::Task;
use std::collections::BTreeMap;

/// Where a segment can end, with the state there.
pub struct End {
    /// A loop head, an error location or a cut.
    pub loc: LocId,
    /// The states that get there.
    pub state: State,
}

/// Runs the segment from `start`; the first step leaves `start` even if it is a loop head.
pub fn run(
    task: &Task,
    graph: &Graph,
    encoder: &mut Encoder<'_>,
    terms: &mut Terms,
    start: LocId,
    state: State,
    budget: &Budget,
) -> Result<Vec<End>, Stop> {
    if task.is_end(start) {
        return Ok(vec![End { loc: start, state }]);
    }
    // Every edge that leads backwards in the weak topological order leads to a loop head.
    let number = |loc: LocId| graph.position(loc).unwrap_or(usize::MAX);
    let mut queue: BTreeMap<usize, (LocId, State)> = BTreeMap::new();
    let mut ends: BTreeMap<LocId, State> = BTreeMap::new();
    let mut current = Some((start, state));
    while let Some((loc, state)) = current {
        budget.check()?;
        let out = &task.program.locs[loc].out;
        let several = out.len() > 1;
        let mut before = Vec::new();
        for &edge in out {
            let mut from = state.clone();
            // Make the branches exclusive whatever their conditions are, so that merging them is
            // right: each one but the first also requires that the earlier ones were not chosen.
            if several {
                from.path.extend(before.iter().copied());
                let choice = terms.fresh_var("branch", Sort::Bool);
                from.path.push(choice);
                before.push(terms.not(choice));
            }
            let Some(next) = encoder.step(terms, &from, edge) else { continue };
            let dst = task.program.edges[edge].dst;
            if graph.is_loop_head(dst) || task.is_end(dst) {
                match ends.get_mut(&dst) {
                    Some(known) => *known = State::merge(terms, known, &next),
                    None => {
                        ends.insert(dst, next);
                    }
                }
            } else {
                match queue.get_mut(&number(dst)) {
                    Some((_, known)) => *known = State::merge(terms, known, &next),
                    None => {
                        queue.insert(number(dst), (dst, next));
                    }
                }
            }
        }
        current = queue.pop_first().map(|(_, next)| next);
    }
    Ok(ends.into_iter().map(|(loc, state)| End { loc, state }).collect())
}
