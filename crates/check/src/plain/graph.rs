//! Cut points of a program and the loop-free segments between them.

use palisade_base::IdxVec;
use palisade_cfa::*;
use palisade_task::Task;
use std::collections::BTreeSet;

/// Locations at which every cycle of the program is cut, and an order of all others in which every
/// remaining edge leads forward. From where no edges lead to an error or a cut of the task, nothing can go
/// wrong, and nobody needs to look.
pub struct Cuts {
    pub points: BTreeSet<LocId>,
    pub order: IdxVec<LocId, u32>,
    /// Whether edges lead from a location to what a proof must show unreachable.
    pub matters: IdxVec<LocId, bool>,
}

impl Cuts {
    /// Cuts at the given locations, and wherever else a search finds a cycle.
    pub fn new(task: &Task, mut points: BTreeSet<LocId>) -> Cuts {
        let (p, entry) = (&task.program, task.body().entry);
        let matters = matters(task);
        points.retain(|l| matters[*l] && !task.is_end(*l));
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = IdxVec::filled(Mark::New, p.locs.len());
        let mut finished = Vec::new();
        // The entry last, so that it comes first in the order.
        let mut roots: Vec<LocId> = points.iter().copied().filter(|l| *l != entry).collect();
        roots.push(entry);
        for root in roots {
            if marks[root] != Mark::New {
                continue;
            }
            marks[root] = Mark::Open;
            let mut stack = vec![(root, 0)];
            while let Some((loc, next)) = stack.last_mut() {
                let Some(&edge) = p.locs[*loc].out.get(*next) else {
                    marks[*loc] = Mark::Done;
                    finished.push(*loc);
                    stack.pop();
                    continue;
                };
                *next += 1;
                let dst = p.edges[edge].dst;
                match marks[dst] {
                    _ if points.contains(&dst) || !matters[dst] => {}
                    Mark::New => {
                        marks[dst] = Mark::Open;
                        stack.push((dst, 0));
                    }
                    Mark::Open => {
                        points.insert(dst);
                    }
                    Mark::Done => {}
                }
            }
        }
        let mut order = IdxVec::filled(u32::MAX, p.locs.len());
        for (i, &loc) in finished.iter().rev().enumerate() {
            order[loc] = i as u32;
        }
        Cuts { points, order, matters }
    }
}

/// From where edges lead to an error or a cut.
fn matters(task: &Task) -> IdxVec<LocId, bool> {
    let p = &task.program;
    let mut matters = IdxVec::filled(false, p.locs.len());
    let mut todo: Vec<LocId> = p.locs.ids().filter(|l| task.is_end(*l)).collect();
    while let Some(loc) = todo.pop() {
        if !std::mem::replace(&mut matters[loc], true) {
            todo.extend(p.locs[loc].inc.iter().map(|e| p.edges[*e].src));
        }
    }
    matters
}
