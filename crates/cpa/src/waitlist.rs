//! Wait lists: in which order the reached states are expanded (operator `choose`).

use crate::reached::NodeId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// An iteration order, as a value. Orders change how fast the fixed point is found and, where a
/// merge or a widening is not exact, which one; never whether it is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// The state that waits longest.
    BreadthFirst,
    /// The state that was added last.
    DepthFirst,
    /// The state whose location has the least rank, then the longest waiting one. With the ranks of
    /// [`reverse_post_order`](crate::order::reverse_post_order) or
    /// [`weak_topological`](crate::order::weak_topological).
    Ranked(Arc<[u32]>),
    /// The state with the deepest call stack, so that calls are finished before their callers go
    /// on; then by rank.
    CallStack(Arc<[u32]>),
    /// Any state; the number is the seed.
    Random(u64),
}

/// Where a waiting state is, for orders that look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub(crate) location: Option<usize>,
    pub(crate) depth: u32,
}

/// The waiting states. A node may be listed more than once; the reached set knows whether it still
/// waits.
#[derive(Debug)]
pub(crate) enum Waitlist {
    Queue(VecDeque<NodeId>),
    Stack(Vec<NodeId>),
    Heap { heap: BinaryHeap<Reverse<(u32, u32, u64, NodeId)>>, ranks: Arc<[u32]>, by_depth: bool, count: u64 },
    Random { nodes: Vec<NodeId>, state: u64 },
}

impl Waitlist {
    pub(crate) fn new(order: Order) -> Self {
        let heap = |ranks, by_depth| Waitlist::Heap { heap: BinaryHeap::new(), ranks, by_depth, count: 0 };
        match order {
            Order::BreadthFirst => Waitlist::Queue(VecDeque::new()),
            Order::DepthFirst => Waitlist::Stack(Vec::new()),
            Order::Ranked(ranks) => heap(ranks, false),
            Order::CallStack(ranks) => heap(ranks, true),
            Order::Random(seed) => Waitlist::Random { nodes: Vec::new(), state: seed },
        }
    }

    /// Whether the order needs to know where states are.
    pub(crate) fn looks(&self) -> bool {
        matches!(self, Waitlist::Heap { .. })
    }

    pub(crate) fn push(&mut self, id: NodeId, at: Placement) {
        match self {
            Waitlist::Queue(q) => q.push_back(id),
            Waitlist::Stack(s) => s.push(id),
            Waitlist::Heap { heap, ranks, by_depth, count } => {
                let rank = at.location.and_then(|l| ranks.get(l).copied()).unwrap_or(u32::MAX);
                let depth = if *by_depth { u32::MAX - at.depth } else { 0 };
                heap.push(Reverse((depth, rank, *count, id)));
                *count += 1;
            }
            Waitlist::Random { nodes, .. } => nodes.push(id),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<NodeId> {
        match self {
            Waitlist::Queue(q) => q.pop_front(),
            Waitlist::Stack(s) => s.pop(),
            Waitlist::Heap { heap, .. } => heap.pop().map(|Reverse((.., id))| id),
            Waitlist::Random { nodes, state } => {
                if nodes.is_empty() {
                    return None;
                }
                // SplitMix64: any seed, zero included, gives a good sequence.
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = *state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                z ^= z >> 31;
                let i = (z % nodes.len() as u64) as usize;
                Some(nodes.swap_remove(i))
            }
        }
    }
}
