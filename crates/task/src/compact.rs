//! Drops locations that do nothing and what cannot be reached.

use crate::{ErrorLoc, Origin, Task};
use palisade_base::IdxVec;
use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// Rebuilds the task without locations whose only step is [`Op::Skip`], and without locations that
/// no path of edges reaches. A loop's keyword moves along to the location that takes over.
pub fn compact(task: &mut Task) {
    let forward = forwarding(task);
    let old = std::mem::replace(&mut task.program.locs, IdxVec::new());
    let old_edges = std::mem::replace(&mut task.program.edges, IdxVec::new());
    let origin = std::mem::take(&mut task.origin);
    let body = task.program.body(task.program.entry).clone();
    let Origin { frames, pieces, made, known, .. } = origin;
    let mut new = Origin { frames, pieces, made, known, ..Origin::default() };

    let mut map: FxHashMap<LocId, LocId> = FxHashMap::default();
    let mut order: Vec<LocId> = Vec::new();
    let p = &mut task.program;
    let mut visit = |p: &mut Program, order: &mut Vec<LocId>, loc: LocId| {
        let loc = forward[loc];
        *map.entry(loc).or_insert_with(|| {
            order.push(loc);
            let id = p.add_loc(old[loc].func, old[loc].span);
            p.locs[id].loop_stmt = old[loc].loop_stmt;
            p.locs[id].label = old[loc].label.clone();
            new.frames_of.push(origin.frames_of[loc]);
            new.locs.push(origin.locs[loc]);
            id
        })
    };
    let entry = visit(p, &mut order, body.entry);
    let exit = visit(p, &mut order, body.exit);
    let mut next = 0;
    while next < order.len() {
        let loc = order[next];
        let src = visit(p, &mut order, loc);
        for &id in &old[loc].out {
            let edge = &old_edges[id];
            let dst = visit(p, &mut order, edge.dst);
            p.add_edge(src, edge.op.clone(), dst, edge.span);
            new.edges.push(origin.edges[id]);
        }
        next += 1;
    }
    p.funcs[p.entry].body = Some(Body { entry, exit, ..body });
    task.errors =
        task.errors.iter().filter_map(|e| Some(ErrorLoc { loc: *map.get(&e.loc)?, ..*e })).collect();
    task.errors.sort();
    task.cuts = task.cuts.iter().filter_map(|c| map.get(c).copied()).collect();
    task.cuts.sort_unstable();
    task.origin = new;
}

/// For each location the one that stands for it: itself, or where its chain of skips leads.
fn forwarding(task: &mut Task) -> IdxVec<LocId, LocId> {
    let p = &mut task.program;
    let mut forward: IdxVec<LocId, LocId> = p.locs.ids().collect();
    let mut state: IdxVec<LocId, u8> = IdxVec::filled(0, p.locs.len());
    for start in p.locs.ids() {
        let mut chain = Vec::new();
        let mut at = start;
        // 0: unseen, 1: on this chain, 2: done. A cycle of skips keeps the location that closes it.
        while state[at] == 0 {
            state[at] = 1;
            chain.push(at);
            match skip_target(p, at) {
                Some(next) if state[next] != 1 => at = next,
                _ => break,
            }
        }
        let end = forward[at];
        for &loc in chain.iter().rev() {
            state[loc] = 2;
            forward[loc] = end;
            if loc != end && p.locs[end].loop_stmt.is_none() {
                p.locs[end].loop_stmt = p.locs[loc].loop_stmt;
            }
        }
    }
    forward
}

fn skip_target(p: &Program, loc: LocId) -> Option<LocId> {
    match p.locs[loc].out.as_slice() {
        &[only] if p.edges[only].op == Op::Skip => Some(p.edges[only].dst),
        _ => None,
    }
}
