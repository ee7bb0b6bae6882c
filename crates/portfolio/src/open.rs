//! What stood in the way of a verdict, in terms of the program that was asked about.

use palisade_base::IdxVec;
use palisade_cfa::{CheckKind, EdgeId, LocId, Op};
use palisade_engines::board::Board;
use palisade_task::Task;
use std::collections::BTreeSet;

/// Something that no engine could exclude.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Open {
    /// What it is.
    pub what: Obstacle,
    /// The operation of the instrumented program.
    pub edge: EdgeId,
    /// The calls that lead there, outermost first.
    pub calls: Vec<EdgeId>,
    /// The location of the task that a run would end in.
    end: LocId,
}

/// What may be reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Obstacle {
    /// A check that may fail; a forbidden call is told where it is made.
    Check(CheckKind),
    /// A call that was followed no further: it recurses, or does what the automaton cannot show.
    Call,
}

/// The task with the least that is open, as far as its fixed points tell, and what that is: each check once, by the
/// first way there.
pub(crate) fn open(tasks: Vec<Task>, boards: &[Board]) -> (Option<Task>, Vec<Open>) {
    let all = tasks.into_iter().zip(boards).map(|(task, board)| {
        let open = board.open().map(|ends| of_task(&task, &ends));
        (task, open)
    });
    let least = all.min_by_key(|(_, open)| open.as_ref().map_or(usize::MAX, Vec::len));
    least.map_or((None, Vec::new()), |(task, open)| (Some(task), open.unwrap_or_default()))
}

fn of_task(task: &Task, ends: &[LocId]) -> Vec<Open> {
    let mut seen: BTreeSet<(Obstacle, EdgeId)> = BTreeSet::new();
    let mut all = Vec::new();
    for &end in ends {
        let mut calls: Vec<EdgeId> = task.call_stack(end).into_iter().map(|(_, call)| call).collect();
        let (what, edge) = match task.error_at(end) {
            Some(error) => match (error.kind, calls.last().copied()) {
                (CheckKind::ForbiddenCall, Some(call)) => {
                    calls.pop();
                    (Obstacle::Check(error.kind), call)
                }
                (kind, _) => (Obstacle::Check(kind), error.check),
            },
            // A cut stands where its call begins.
            None => {
                let source = &task.source;
                let steps = &source.locs[task.origin.locs[end]].out;
                let call = steps.iter().find(|&&e| matches!(source.edges[e].op, Op::Call { .. }));
                let Some(&edge) = call.or(steps.first()) else { continue };
                (Obstacle::Call, edge)
            }
        };
        if seen.insert((what, edge)) {
            all.push(Open { what, edge, calls, end });
        }
    }
    all
}

impl Open {
    /// The loops of the task that a run may pass on its way there, by their heads in the instrumented program, each
    /// once.
    pub fn loops(&self, task: &Task) -> Vec<LocId> {
        let program = &task.program;
        let graph = program.analyse();
        let mut seen: IdxVec<LocId, bool> = program.locs.iter().map(|_| false).collect();
        let mut pending = vec![self.end];
        let mut heads = BTreeSet::new();
        while let Some(loc) = pending.pop() {
            if std::mem::replace(&mut seen[loc], true) {
                continue;
            }
            if graph.is_loop_head(loc) {
                heads.insert(task.origin.locs[loc]);
            }
            pending.extend(program.locs[loc].inc.iter().map(|&edge| program.edges[edge].src));
        }
        heads.into_iter().collect()
    }
}
