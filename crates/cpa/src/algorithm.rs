//! Algorithm 2, CPA(𝔻, e₀), with dynamic precision adjustment.
//!
//! An [`Exploration`] can be run again after it stopped and goes on where it was: a state is
//! taken off the wait list for good only after all its successors were added.

use crate::cpa::*;
use crate::facts::Alone;
use crate::reached::{CoverLink, NodeId, PartitionView, Reached};
use crate::step::Step;
use crate::waitlist::{Order, Placement, Waitlist};
use palisade_base::{Budget, Idx};

/// When a run ends before the fixed point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// At the first error state.
    pub first_target: bool,
    /// At this many reached states.
    pub states: usize,
}

impl Limits {
    /// Only at the fixed point.
    pub const NONE: Limits = Limits { first_target: false, states: usize::MAX };
    /// At the fixed point or the first error state.
    pub const FIRST_TARGET: Limits = Limits { first_target: true, states: usize::MAX };
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// At the fixed point: the reached set covers every reachable concrete state.
    Complete,
    /// At an error state; there may be more to explore.
    TargetReached(NodeId),
    /// Early. The reached set is a part of the fixed point and nothing is lost: running again goes
    /// on.
    Stopped(Halt),
}

/// What narrowing makes of a state.
enum Narrowed<S> {
    Same,
    Smaller(S),
    /// Nothing leads to it any more.
    Empty,
}

/// A run of the algorithm over one analysis.
pub struct Exploration<C: Cpa> {
    cpa: C,
    reached: Reached<C>,
    order: Order,
    waitlist: Waitlist,
    targets: Vec<NodeId>,
    /// An initial state that is an error, until it was told of.
    initial_target: Option<NodeId>,
    expanded: u64,
    // Buffers that live across steps.
    steps: Vec<Step>,
    successors: Successors<C::State>,
}

impl<C: Cpa> Exploration<C> {
    /// An exploration from one initial state.
    pub fn new(cpa: C, initial: C::State, precision: C::Precision, order: Order) -> Self {
        Self::from_states(cpa, [(initial, precision)], order)
    }

    /// An exploration from several initial states.
    pub fn from_states(
        cpa: C,
        initial: impl IntoIterator<Item = (C::State, C::Precision)>,
        order: Order,
    ) -> Self {
        let listing = cpa.merges() || cpa.adjusts() || cpa.stop_op() == StopOp::Joined;
        let mut this = Exploration {
            cpa,
            reached: Reached::new(listing),
            waitlist: Waitlist::new(order.clone()),
            order,
            targets: Vec::new(),
            initial_target: None,
            expanded: 0,
            steps: Vec::new(),
            successors: Successors::new(),
        };
        this.begin(initial);
        this
    }

    fn begin(&mut self, initial: impl IntoIterator<Item = (C::State, C::Precision)>) {
        for (state, precision) in initial {
            let precision = self.reached.intern_precision(precision);
            let partition = self.reached.partition_of(self.cpa.key(&state));
            let root = self.reached.insert(&mut self.cpa, partition, state, None, precision);
            self.enqueue(root);
        }
        self.initial_target = self.targets.first().copied();
    }

    /// Forgets what was reached and begins again. The analysis keeps what it knows.
    pub fn restart(&mut self, initial: impl IntoIterator<Item = (C::State, C::Precision)>) {
        self.reached = Reached::new(self.reached.is_listing());
        self.waitlist = Waitlist::new(self.order.clone());
        self.targets.clear();
        self.begin(initial);
    }

    /// Gives the analysis back.
    pub fn into_cpa(self) -> C {
        self.cpa
    }

    /// The analysis.
    pub fn cpa(&self) -> &C {
        &self.cpa
    }
    /// The analysis, to ask it questions.
    pub fn cpa_mut(&mut self) -> &mut C {
        &mut self.cpa
    }
    /// The analysis together with what it reached.
    pub fn parts(&mut self) -> (&mut C, &Reached<C>) {
        (&mut self.cpa, &self.reached)
    }
    /// The reached states and their graph.
    pub fn reached(&self) -> &Reached<C> {
        &self.reached
    }
    /// The error states found so far.
    pub fn targets(&self) -> &[NodeId] {
        &self.targets
    }
    /// The number of states that were expanded so far, counting repetitions.
    pub fn expanded(&self) -> u64 {
        self.expanded
    }

    /// Runs until the fixed point, a limit or the end of the budget.
    pub fn run(&mut self, budget: &Budget, limits: Limits) -> Status {
        if limits.first_target
            && let Some(target) = self.initial_target.take()
        {
            return Status::TargetReached(target);
        }
        loop {
            if let Err(stop) = budget.check() {
                return Status::Stopped(stop.into());
            }
            if self.reached.len() >= limits.states {
                return Status::Stopped(Halt::Limit(format!("{} reached states", limits.states)));
            }
            let Some(node) = self.waitlist.pop() else { return Status::Complete };
            if self.reached.is_removed(node) || !self.reached.is_waiting(node) {
                continue;
            }
            self.reached.set_waiting(node, false);
            let known = self.targets.len();
            let result = self.expand(node);
            if result.is_err() {
                // Losing the popped state would be unsound.
                self.enqueue(node);
            }
            if let Err(halt) = result {
                return Status::Stopped(halt);
            }
            if limits.first_target && self.targets.len() > known {
                return Status::TargetReached(self.targets[known]);
            }
        }
    }

    /// Puts a node on the wait list unless it is there. Error states have no successors.
    fn enqueue(&mut self, node: NodeId) {
        let state = self.reached.state(node);
        if self.cpa.target(state).is_some() {
            if !self.targets.contains(&node) {
                self.targets.push(node);
            }
            return;
        }
        if self.reached.is_waiting(node) {
            return;
        }
        let at = if self.waitlist.looks() {
            let state = self.reached.state(node);
            let location = self.cpa.location(state).map(Idx::index);
            Placement { location, depth: self.cpa.call_depth(state) }
        } else {
            Placement { location: None, depth: 0 }
        };
        self.reached.set_waiting(node, true);
        self.waitlist.push(node, at);
    }

    /// Adds all successors of a state (lines 6 to 15).
    fn expand(&mut self, node: NodeId) -> Result<(), Halt> {
        self.expanded += 1;
        let state = self.reached.state(node).clone();
        let precision = self.reached.precision_id(node);
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        let site = self.cpa.return_site(&state);
        self.cpa.steps(&state, site, &mut steps);
        let mut result = Ok(());
        for step in &steps {
            result = self.follow(node, &state, precision, step);
            if result.is_err() {
                break;
            }
        }
        self.steps = steps;
        result
    }

    fn follow(&mut self, node: NodeId, state: &C::State, precision: u32, step: &Step) -> Result<(), Halt> {
        let mut successors = std::mem::take(&mut self.successors);
        successors.clear();
        let pi = self.reached.precision_at(precision);
        self.cpa.transfer(state, pi, step, &mut successors)?;
        for successor in successors.drain(..) {
            let pi = self.reached.precision_at(precision);
            if let Some(successor) = self.cpa.strengthen(successor, pi, step, &mut Alone)? {
                self.add(successor, node, step, precision)?;
            }
        }
        self.successors = successors;
        Ok(())
    }

    /// Adds one successor: prec, merge, stop.
    fn add(&mut self, state: C::State, parent: NodeId, step: &Step, precision: u32) -> Result<(), Halt> {
        let partition = self.reached.partition_of(self.cpa.key(&state));
        let (state, precision) = if self.cpa.adjusts() {
            let view = PartitionView { reached: &self.reached, partition };
            let adjusted = self.cpa.adjust(state, self.reached.precision_at(precision), &view)?;
            let precision = match adjusted.precision {
                Some(new) => self.reached.intern_precision(new),
                None => precision,
            };
            (adjusted.state, precision)
        } else {
            (state, precision)
        };
        // Adjustment may have changed what the key looks at.
        let partition = self.reached.partition_of(self.cpa.key(&state));
        if self.cpa.merges() {
            for i in 0..self.reached.listed(partition).len() {
                let old = self.reached.listed(partition)[i];
                let reached = self.reached.state(old);
                let cx =
                    MergeContext { location: self.cpa.location(reached), updates: self.reached.updates(old) };
                if let Some(new) = self.cpa.merge(&state, reached, &cx)?
                    && new != *reached
                {
                    self.reached.replace(old, new, precision);
                    self.enqueue(old);
                }
            }
        }
        if let Some(by) = self.covered_by(&state, partition)? {
            self.reached.add_cover(CoverLink { parent, step: *step, by });
            return Ok(());
        }
        let id = self.reached.insert(&mut self.cpa, partition, state, Some((parent, *step)), precision);
        self.enqueue(id);
        Ok(())
    }

    /// stop(e', reached): `None` if the state is not covered.
    fn covered_by(&mut self, state: &C::State, partition: u32) -> Result<Option<Option<NodeId>>, Halt> {
        match self.cpa.stop_op() {
            StopOp::Never => Ok(None),
            StopOp::Separate => {
                let found =
                    self.reached.find_cover(&mut self.cpa, partition, state, |cpa, t| cpa.leq(state, t))?;
                Ok(found.map(Some))
            }
            StopOp::Joined => {
                let mut join: Option<C::State> = None;
                for &id in self.reached.listed(partition) {
                    let t = self.reached.state(id);
                    join = Some(match join {
                        None => t.clone(),
                        Some(j) => self.cpa.join(&j, t)?,
                    });
                }
                Ok(match join {
                    Some(j) if self.cpa.leq(state, &j)? => Some(None),
                    _ => None,
                })
            }
        }
    }

    /// Removes a node with everything below it, so that it is explored again, with another
    /// precision for the states that come back. An initial state stays and is expanded again.
    pub fn remove_subtree(&mut self, root: NodeId, precision: C::Precision) {
        let precision = self.reached.intern_precision(precision);
        let again = match self.reached.parent(root) {
            Some(_) => self.reached.remove_subtree(&mut self.cpa, root),
            None => {
                let children = self.reached.children();
                let mut again = vec![root];
                for &child in &children[root] {
                    again.extend(self.reached.remove_subtree(&mut self.cpa, child));
                }
                again.retain(|&n| !self.reached.is_removed(n));
                again
            }
        };
        for node in again {
            self.reached.set_precision(node, precision);
            self.enqueue(node);
        }
        let reached = &self.reached;
        self.targets.retain(|&t| !reached.is_removed(t));
    }

    /// Decreasing iterations after the fixed point: every node's state is narrowed to the join of
    /// what its incoming links now give. For analyses with one state per partition (those that
    /// join). A stop in between leaves the result of the increasing iterations.
    pub fn narrow(&mut self, budget: &Budget, rounds: usize) -> Result<(), Halt> {
        let before: Vec<(NodeId, C::State)> =
            self.reached.iter().map(|(id, state)| (id, state.clone())).collect();
        let Some(incoming) = self.incoming() else { return Ok(()) };
        let mut empty = vec![false; incoming.len()];
        let result = self.narrowing_rounds(budget, rounds, &incoming, &mut empty);
        // Transfer relations need not be monotone, so that the result is inductive is checked.
        if !matches!(result, Ok(())) || !matches!(self.is_inductive(&incoming, &empty), Ok(true)) {
            for (id, state) in before {
                self.reached.refine_state(id, state);
            }
            return result;
        }
        for (i, _) in empty.iter().enumerate().filter(|(_, e)| **e) {
            self.reached.remove(NodeId::new(i));
        }
        let reached = &self.reached;
        self.targets.retain(|&t| !reached.is_removed(t));
        result
    }

    /// All links into each node; `None` if some successor was covered by nobody in particular.
    fn incoming(&self) -> Option<Vec<Vec<(NodeId, Step)>>> {
        let nodes = self.reached.nodes().next_back().map_or(0, |last| last.index() + 1);
        let mut incoming: Vec<Vec<(NodeId, Step)>> = vec![Vec::new(); nodes];
        for id in self.reached.nodes() {
            incoming[id.index()].extend(self.reached.parent(id));
        }
        for link in self.reached.covered() {
            incoming[link.by?.index()].push((link.parent, link.step));
        }
        for links in &mut incoming {
            links.sort_unstable();
            links.dedup();
        }
        Some(incoming)
    }

    fn narrowing_rounds(
        &mut self,
        budget: &Budget,
        rounds: usize,
        incoming: &[Vec<(NodeId, Step)>],
        empty: &mut [bool],
    ) -> Result<(), Halt> {
        let mut order: Vec<NodeId> = self.reached.nodes().collect();
        order.retain(|id| self.reached.parent(*id).is_some());
        for _ in 0..rounds {
            let mut changed = false;
            for &node in &order {
                budget.check()?;
                if empty[node.index()] {
                    continue;
                }
                match self.narrowed(node, &incoming[node.index()], empty)? {
                    Narrowed::Same => {}
                    Narrowed::Smaller(state) => {
                        self.reached.refine_state(node, state);
                        changed = true;
                    }
                    Narrowed::Empty => {
                        empty[node.index()] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }

    /// Whether along every link the node covers the successors that belong to its partition.
    fn is_inductive(&mut self, incoming: &[Vec<(NodeId, Step)>], empty: &[bool]) -> Result<bool, Halt> {
        for (i, links) in incoming.iter().enumerate() {
            let to = self.reached.state(NodeId::new(i)).clone();
            for link in links.iter().filter(|(parent, _)| !empty[parent.index()]) {
                for s in self.successors_along(link)? {
                    let covered = !empty[i] && self.cpa.leq(&s, &to)?;
                    if self.cpa.key(&s) == self.cpa.key(&to) && !covered {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    fn successors_along(&mut self, (parent, step): &(NodeId, Step)) -> Result<Vec<C::State>, Halt> {
        let (from, pi) = (self.reached.state(*parent).clone(), self.reached.precision(*parent).clone());
        let mut out = Successors::new();
        self.cpa.transfer(&from, &pi, step, &mut out)?;
        let mut kept = Vec::with_capacity(out.len());
        for s in out {
            kept.extend(self.cpa.strengthen(s, &pi, step, &mut Alone)?);
        }
        Ok(kept)
    }

    /// What the links into a node leave of its state.
    fn narrowed(
        &mut self,
        node: NodeId,
        links: &[(NodeId, Step)],
        empty: &[bool],
    ) -> Result<Narrowed<C::State>, Halt> {
        let upper = self.reached.state(node).clone();
        let key = self.cpa.key(&upper);
        let mut lower: Option<C::State> = None;
        for link in links.iter().filter(|(parent, _)| !empty[parent.index()]) {
            for s in self.successors_along(link)? {
                if self.cpa.key(&s) != key {
                    continue;
                }
                lower = Some(match lower {
                    None => s,
                    Some(l) => self.cpa.join(&l, &s)?,
                });
            }
        }
        let Some(lower) = lower else { return Ok(Narrowed::Empty) };
        if !self.cpa.leq(&lower, &upper)? {
            return Ok(Narrowed::Same);
        }
        let new = self.cpa.narrow(&upper, &lower)?;
        Ok(if new == upper { Narrowed::Same } else { Narrowed::Smaller(new) })
    }
}
