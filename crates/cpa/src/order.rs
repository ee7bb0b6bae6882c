//! Ranks of locations for [`Order::Ranked`] and [`Order::CallStack`].

use crate::waitlist::Order;
use palisade_base::Idx;
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::wto::{Graph, Wto};
use palisade_cfa::{FuncId, LocId, Program};
use std::sync::Arc;

/// Functions bottom-up, so that a call is finished before its caller goes on, and in each
/// function the given order.
fn ranks(program: &Program, graph: &Graph, within: impl Fn(&Wto) -> &[LocId]) -> Arc<[u32]> {
    let calls = CallGraph::new(program);
    let mut funcs: Vec<FuncId> = program.funcs.ids().collect();
    funcs.sort_by_key(|&f| (calls.scc[f], f));
    let mut ranks = vec![u32::MAX; program.locs.len()];
    let mut next = 0;
    for f in funcs {
        for &loc in within(&graph.wto[f]) {
            ranks[loc.index()] = next;
            next += 1;
        }
    }
    ranks.into()
}

/// Reverse post-order: a location waits until control has arrived over all other branches.
pub fn reverse_post_order(program: &Program, graph: &Graph) -> Order {
    Order::Ranked(ranks(program, graph, |w| &w.rpo))
}

/// Weak topological order: an inner loop is stable before anything after it is looked at, which is
/// Bourdoncle's recursive strategy.
pub fn weak_topological(program: &Program, graph: &Graph) -> Order {
    Order::Ranked(ranks(program, graph, |w| &w.order))
}

/// Deepest call stack first, reverse post-order within a function.
pub fn call_stack(program: &Program, graph: &Graph) -> Order {
    Order::CallStack(ranks(program, graph, |w| &w.rpo))
}
