//! The reached set and the abstract reachability graph, in one compact table.
//!
//! A node is a reached abstract state. It remembers the node and the step that first led to it;
//! further ways into a node (a successor that was covered, or merged into it) are kept as cover
//! links. Children are not stored: a child's number is larger than its parent's, so one pass over
//! the table finds them.

use crate::cpa::{Cpa, Section};
use crate::step::Step;
use palisade_base::{Idx, IdxVec};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

palisade_base::idx! {
    /// A reached abstract state: a node of the abstract reachability graph.
    pub struct NodeId = "n";
}

const NONE: u32 = u32::MAX;

/// Classes of a partition beyond this number are not searched for covering states of other
/// classes: a missed cover costs a state, a search through thousands of classes for every state
/// costs more.
const MAX_CLASSES: usize = 64;

/// What a node is apart from its state.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    step: Step,
    /// The next node of the same index entry.
    next: u32,
    precision: u32,
    /// Merges that replaced the state.
    updates: u16,
    waiting: bool,
    /// Removed by a refinement.
    dead: bool,
}

/// A successor of `parent` along `step` that needed no node of its own, because the reached states
/// covered it; `by` is one that did, and `None` if only several together do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CoverLink {
    /// Where the step started.
    pub parent: NodeId,
    /// The step.
    pub step: Step,
    /// The state that covers the successor.
    pub by: Option<NodeId>,
}

#[derive(Debug)]
struct Partition<Class> {
    /// The classes that are searched for states that cover others, up to a limit.
    classes: SmallVec<[Class; 1]>,
    /// All nodes, kept only for analyses that merge, adjust or stop by joins.
    nodes: Vec<NodeId>,
}

/// The reached set of an exploration of `C`.
pub struct Reached<C: Cpa> {
    states: IdxVec<NodeId, C::State>,
    nodes: IdxVec<NodeId, Node>,
    precisions: Vec<C::Precision>,
    keys: FxHashMap<C::Key, u32>,
    partitions: Vec<Partition<C::Class>>,
    /// From the mix of partition, class and digest to the last node with it.
    index: FxHashMap<u64, u32>,
    covered: Vec<CoverLink>,
    /// Whether partitions list their nodes.
    listing: bool,
    live: usize,
}

fn mix(partition: u32, class: impl Hash, digest: u64) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    (partition, class, digest).hash(&mut hasher);
    hasher.finish()
}

impl<C: Cpa> Reached<C> {
    /// An empty set. With `listing` the states of a partition can be visited one by one.
    pub(crate) fn new(listing: bool) -> Self {
        Reached {
            states: IdxVec::new(),
            nodes: IdxVec::new(),
            precisions: Vec::new(),
            keys: FxHashMap::default(),
            partitions: Vec::new(),
            index: FxHashMap::default(),
            covered: Vec::new(),
            listing,
            live: 0,
        }
    }

    /// Whether the states of a partition can be visited one by one.
    pub(crate) fn is_listing(&self) -> bool {
        self.listing
    }

    /// The number of reached states.
    pub fn len(&self) -> usize {
        self.live
    }
    /// Whether nothing is reached.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }
    /// All reached nodes, in the order in which they were first reached.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.nodes.iter_enumerated().filter(|(_, n)| !n.dead).map(|(id, _)| id)
    }
    /// All reached states.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &C::State)> + '_ {
        self.nodes().map(|id| (id, &self.states[id]))
    }
    /// The state of a node.
    pub fn state(&self, id: NodeId) -> &C::State {
        &self.states[id]
    }
    /// The precision of a node.
    pub fn precision(&self, id: NodeId) -> &C::Precision {
        &self.precisions[self.nodes[id].precision as usize]
    }
    /// The node and step that first led here; `None` for initial states.
    pub fn parent(&self, id: NodeId) -> Option<(NodeId, Step)> {
        let node = &self.nodes[id];
        (node.parent != NONE).then_some((NodeId(node.parent), node.step))
    }
    /// Whether the state still has to be expanded.
    pub fn is_waiting(&self, id: NodeId) -> bool {
        self.nodes[id].waiting
    }
    /// How often a merge replaced the state.
    pub fn updates(&self, id: NodeId) -> u32 {
        u32::from(self.nodes[id].updates)
    }
    /// Whether a refinement removed the node.
    pub fn is_removed(&self, id: NodeId) -> bool {
        self.nodes[id].dead
    }
    /// The successors that needed no node of their own.
    pub fn covered(&self) -> &[CoverLink] {
        &self.covered
    }

    /// The steps from an initial state to a node, with the nodes they lead to.
    pub fn path_to(&self, id: NodeId) -> Vec<(Step, NodeId)> {
        let mut path = Vec::new();
        let mut at = id;
        while let Some((parent, step)) = self.parent(at) {
            path.push((step, at));
            at = parent;
        }
        path.reverse();
        path
    }

    /// The children of every node in the tree of first ways.
    pub fn children(&self) -> IdxVec<NodeId, Vec<NodeId>> {
        let mut children = IdxVec::filled(Vec::new(), self.nodes.len());
        for id in self.nodes() {
            if let Some((parent, _)) = self.parent(id) {
                children[parent].push(id);
            }
        }
        children
    }

    pub(crate) fn set_waiting(&mut self, id: NodeId, waiting: bool) {
        self.nodes[id].waiting = waiting;
    }

    pub(crate) fn set_precision(&mut self, id: NodeId, precision: u32) {
        self.nodes[id].precision = precision;
    }

    /// The number under which a precision is kept.
    pub(crate) fn precision_id(&self, id: NodeId) -> u32 {
        self.nodes[id].precision
    }

    /// Keeps a precision, sharing it with the last equal ones.
    pub(crate) fn intern_precision(&mut self, precision: C::Precision) -> u32 {
        // Few precisions are in use at a time, and the new ones are near the end.
        let recent = self.precisions.len().saturating_sub(16);
        if let Some(i) = self.precisions[recent..].iter().rposition(|p| *p == precision) {
            return (recent + i) as u32;
        }
        self.precisions.push(precision);
        (self.precisions.len() - 1) as u32
    }

    /// The precision behind a number.
    pub(crate) fn precision_at(&self, id: u32) -> &C::Precision {
        &self.precisions[id as usize]
    }

    pub(crate) fn partition_of(&mut self, key: C::Key) -> u32 {
        let fresh = self.partitions.len() as u32;
        let id = *self.keys.entry(key).or_insert(fresh);
        if id == fresh {
            self.partitions.push(Partition { classes: SmallVec::new(), nodes: Vec::new() });
        }
        id
    }

    /// The listed nodes of a partition.
    pub(crate) fn listed(&self, partition: u32) -> &[NodeId] {
        &self.partitions[partition as usize].nodes
    }

    /// Adds a state to a partition.
    pub(crate) fn insert(
        &mut self,
        cpa: &mut C,
        partition: u32,
        state: C::State,
        parent: Option<(NodeId, Step)>,
        precision: u32,
    ) -> NodeId {
        let id = self.nodes.next_id();
        if self.listing {
            self.partitions[partition as usize].nodes.push(id);
        }
        let next = if self.uses_index() { self.enter_index(cpa, partition, &state, id) } else { NONE };
        let (parent, step) =
            parent.map_or((NONE, Step::local(palisade_cfa::EdgeId(NONE))), |(p, s)| (p.0, s));
        self.states.push(state);
        self.nodes.push(Node { parent, step, next, precision, updates: 0, waiting: false, dead: false });
        self.live += 1;
        id
    }

    /// States that change in place would leave their index entry, so merging analyses search
    /// their (then short) partitions one by one.
    fn uses_index(&self) -> bool {
        !self.listing
    }

    fn enter_index(&mut self, cpa: &mut C, partition: u32, state: &C::State, id: NodeId) -> u32 {
        let class = cpa.class(state);
        let classes = &mut self.partitions[partition as usize].classes;
        if classes.len() < MAX_CLASSES && !classes.contains(&class) {
            classes.push(class);
        }
        // A state always has a digest in its own class; without one it is merely never found.
        let Some(digest) = cpa.digest(state, class) else { return NONE };
        self.index.insert(mix(partition, class, digest), id.0).unwrap_or(NONE)
    }

    /// Calls `f` for the states of a partition that might cover `state` until it answers `true`,
    /// and returns the one it was called for then.
    pub(crate) fn find_cover<E>(
        &self,
        cpa: &mut C,
        partition: u32,
        state: &C::State,
        mut f: impl FnMut(&mut C, &C::State) -> Result<bool, E>,
    ) -> Result<Option<NodeId>, E> {
        if !self.uses_index() {
            for &id in self.listed(partition) {
                if f(cpa, &self.states[id])? {
                    return Ok(Some(id));
                }
            }
            return Ok(None);
        }
        // The state's own class first, for states that were reached before.
        let own = cpa.class(state);
        let others = self.partitions[partition as usize].classes.iter().copied().filter(|c| *c != own);
        for class in [own].into_iter().chain(others) {
            let Some(digest) = cpa.digest(state, class) else { continue };
            let mut at = self.index.get(&mix(partition, class, digest)).copied().unwrap_or(NONE);
            while at != NONE {
                let id = NodeId(at);
                if f(cpa, &self.states[id])? {
                    return Ok(Some(id));
                }
                at = self.nodes[id].next;
            }
        }
        Ok(None)
    }

    /// Replaces the state of a node by what a merge made of it.
    pub(crate) fn replace(&mut self, id: NodeId, state: C::State, precision: u32) {
        self.states[id] = state;
        let node = &mut self.nodes[id];
        node.updates = node.updates.saturating_add(1);
        node.precision = precision;
    }

    /// Replaces the state of a node by a smaller one (narrowing).
    pub(crate) fn refine_state(&mut self, id: NodeId, state: C::State) {
        self.states[id] = state;
    }

    /// Takes one node out of the set; its links stay.
    pub(crate) fn remove(&mut self, id: NodeId) {
        let node = &mut self.nodes[id];
        if !std::mem::replace(&mut node.dead, true) {
            node.waiting = false;
            self.live -= 1;
            for partition in &mut self.partitions {
                partition.nodes.retain(|n| *n != id);
            }
        }
    }

    pub(crate) fn add_cover(&mut self, link: CoverLink) {
        self.covered.push(link);
    }

    /// Removes the subtree below and including `root`. Returns the nodes outside of it that must
    /// be expanded again: the root's parent, and those with a successor that a removed node covered.
    pub(crate) fn remove_subtree(&mut self, cpa: &mut C, root: NodeId) -> Vec<NodeId> {
        let mut again = Vec::new();
        let mut removed = vec![false; self.nodes.len()];
        for id in self.nodes.ids() {
            let node = &self.nodes[id];
            let below = id == root || (node.parent != NONE && removed[node.parent as usize]);
            removed[id.index()] = below;
            if below && !node.dead {
                self.live -= 1;
                let node = &mut self.nodes[id];
                node.dead = true;
                node.waiting = false;
            }
        }
        again.extend(self.parent(root).map(|(p, _)| p));
        self.covered.retain(|link| {
            let from_removed = removed[link.parent.index()];
            // A cover by several states may have lost one of them.
            let lost = link.by.is_none_or(|by| removed[by.index()]);
            if !from_removed && lost {
                again.push(link.parent);
            }
            !from_removed && !lost
        });
        again.sort_unstable();
        again.dedup();
        for partition in &mut self.partitions {
            partition.nodes.retain(|id| !removed[id.index()]);
        }
        if self.uses_index() {
            self.rebuild_index(cpa);
        }
        again
    }

    fn rebuild_index(&mut self, cpa: &mut C) {
        self.index.clear();
        for i in 0..self.nodes.len() {
            let id = NodeId::new(i);
            if self.nodes[id].dead {
                continue;
            }
            let partition = self.partition_of(cpa.key(&self.states[id]));
            let state = self.states[id].clone();
            self.nodes[id].next = self.enter_index(cpa, partition, &state, id);
        }
    }

    /// Bytes that the tables take, without what states point to.
    pub fn table_bytes(&self) -> usize {
        use std::mem::size_of;
        self.states.len() * size_of::<C::State>()
            + self.nodes.len() * size_of::<Node>()
            + self.index.capacity() * (size_of::<(u64, u32)>() + 1)
            + self.covered.capacity() * size_of::<CoverLink>()
            + self.keys.capacity() * (size_of::<(C::Key, u32)>() + 1)
            + self.partitions.capacity() * size_of::<Partition<C::Class>>()
    }
}

/// The states of one partition.
pub(crate) struct PartitionView<'a, C: Cpa> {
    pub(crate) reached: &'a Reached<C>,
    pub(crate) partition: u32,
}

impl<C: Cpa> Section<C::State> for PartitionView<'_, C> {
    fn visit(&self, f: &mut dyn FnMut(&C::State) -> bool) {
        for &id in self.reached.listed(self.partition) {
            if !f(self.reached.state(id)) {
                return;
            }
        }
    }
}
