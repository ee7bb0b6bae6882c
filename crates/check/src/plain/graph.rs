//! Cut points of a program and the loop-free segments between them.

use palisade_base::IdxVec;
use palisade_cfa::*;
use std::collections::BTreeSet;

/// Locations at which every cycle of the program is cut, and an order of all others in which every
/// remaining edge leads forward.
pub struct Cuts {
    pub points: BTreeSet<LocId>,
    pub order: IdxVec<LocId, u32>,
}

impl Cuts {
    /// Cuts at the given locations, and wherever else a search finds a cycle.
    pub fn new(p: &Program, entry: LocId, mut points: BTreeSet<LocId>) -> Cuts {
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
                    _ if points.contains(&dst) => {}
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
        Cuts { points, order }
    }
}
