//! Loop-free segments of a program: from a cut point to all it reaches without passing another.
//!
//! Cut points are the loop heads, or these and more. A segment starts in a symbolic state at one location, follows
//! edges in the weak topological order, merges where paths meet, and stops at cut points, error locations
//! and calls that are not followed.

use crate::encoder::Encoder;
use crate::state::State;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_logic::{Sort, Term, Terms};
use palisade_task::Task;
use std::collections::BTreeMap;

/// Where a segment can end, with the state there.
pub struct End {
    /// A cut point, an error location or a call that is not followed.
    pub loc: LocId,
    /// The states that get there.
    pub state: State,
}

/// Runs the segment from `start` to loop heads; the first step leaves `start` even if it is one.
pub fn run(
    task: &Task,
    graph: &Graph,
    encoder: &mut Encoder<'_>,
    terms: &mut Terms,
    start: LocId,
    state: State,
    budget: &Budget,
) -> Result<Vec<End>, Stop> {
    run_to(task, graph, &|loc| graph.is_loop_head(loc), encoder, terms, start, state, budget)
}

/// Where segments start, in which states, and all their ends.
pub struct Piece {
    /// The loop head; `None` for the start of the program.
    pub head: Option<LocId>,
    /// Any state at a loop head, or the initial one.
    pub start: State,
    /// Where control gets from there.
    pub ends: Vec<End>,
    /// Indices that are met on the way, see [`Encoder::indices`].
    pub indices: Vec<Vec<Term>>,
}

/// The pieces of a program: that from the start, and those from its loop heads in order. `indices` tells whether these
/// are noted.
pub fn pieces(
    task: &Task,
    graph: &Graph,
    encoder: &mut Encoder<'_>,
    terms: &mut Terms,
    indices: bool,
    budget: &Budget,
) -> Result<Vec<Piece>, Stop> {
    let entry = task.body().entry;
    let heads: Vec<LocId> = graph.loop_heads(task.program.entry).collect();
    let mut pieces = Vec::new();
    for head in [None].into_iter().chain(heads.into_iter().map(Some)) {
        let start = match head {
            None => encoder.initial_state(terms),
            Some(_) => encoder.arbitrary_state(terms),
        };
        encoder.indices = (indices && head.is_some()).then(Vec::new);
        let ends = if head.is_none() && graph.is_loop_head(entry) {
            vec![End { loc: entry, state: start.clone() }]
        } else {
            run(task, graph, encoder, terms, head.unwrap_or(entry), start.clone(), budget)?
        };
        let indices = encoder.indices.take().unwrap_or_default();
        pieces.push(Piece { head, start, ends, indices });
    }
    Ok(pieces)
}

/// The same to any cut points, of which every cycle must have one.
#[expect(clippy::too_many_arguments, reason = "what a segment is made of")]
pub fn run_to(
    task: &Task,
    graph: &Graph,
    is_cut: &dyn Fn(LocId) -> bool,
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
        let mut successors: Vec<(EdgeId, State)> = Vec::new();
        for &edge in &task.program.locs[loc].out {
            successors.extend(encoder.step(terms, &state, edge).map(|next| (edge, next)));
        }
        keep_apart(terms, &state, &mut successors);
        for (edge, next) in successors {
            let dst = task.program.edges[edge].dst;
            if is_cut(dst) || task.is_end(dst) {
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

/// Makes sure that at most one of the successors of a state is possible in each concrete state, whatever their
/// conditions are, so that merging them is right: if these are not complementary, by a free choice between them.
pub fn keep_apart(terms: &mut Terms, state: &State, successors: &mut [(EdgeId, State)]) {
    let at = state.path.len();
    let added = |s: &State| s.path.get(at).copied();
    match successors {
        [] | [_] => return,
        [(_, a), (_, b)] => {
            if let (Some(x), Some(y)) = (added(a), added(b))
                && terms.not(x) == y
            {
                return;
            }
        }
        _ => {}
    }
    let n = successors.len();
    let mut rest: Vec<Term> = Vec::new();
    for (i, (_, next)) in successors.iter_mut().enumerate() {
        let mut conditions = rest.clone();
        if i + 1 < n {
            let this = terms.fresh_var("choice", Sort::Bool);
            conditions.push(this);
            let other = terms.not(this);
            rest.push(other);
        }
        next.path.splice(at..at, conditions);
    }
}
