//! Unrolls a task into an acyclic graph of symbolic states, growing on demand.
//!
//! A node of the unrolling is a location together with the number of passes through each loop
//! around it. Nodes are visited in the weak topological order, all passes through a loop before
//! what follows it, so that all ways into a node are known when it is visited and are merged into
//! one state. A pass beyond the current bound is deferred and can be taken up later.

use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_encode::{Encoder, State, segment};
use palisade_logic::{Term, Terms};
use palisade_task::Task;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Loop heads and passes from the outermost loop inwards, then the position of the location in the
/// weak topological order; compared lexicographically.
type Key = SmallVec<[u32; 8]>;

/// A location that must not be reached, with the condition under which it is.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// An error location or a cut.
    pub loc: LocId,
    /// The path condition.
    pub guard: Term,
}

/// The unrolling of a task.
pub struct Unrolling<'t> {
    task: &'t Task,
    graph: Graph,
    /// Executes edges; its unknowns are in the order of execution.
    pub encoder: Encoder<'t>,
    queue: BTreeMap<Key, (LocId, State)>,
    deferred: BTreeMap<Key, (LocId, State)>,
    /// Most passes seen through each loop head.
    passes: FxHashMap<LocId, u32>,
    /// Conditions on the path into each loop, when it was entered.
    entered: FxHashMap<Key, usize>,
    errors: Vec<Reached>,
}

/// Loops that are decided without the solver are followed this many steps beyond the bound.
const FREE_STEPS: usize = 2_000_000;

impl<'t> Unrolling<'t> {
    /// An unrolling that has visited nothing yet.
    pub fn new(task: &'t Task, terms: &mut Terms) -> Self {
        let mut encoder = Encoder::new(&task.program, terms);
        let start = encoder.initial_state(terms);
        let graph = task.program.analyse();
        let mut this = Unrolling {
            task,
            graph,
            encoder,
            queue: BTreeMap::new(),
            deferred: BTreeMap::new(),
            passes: FxHashMap::default(),
            entered: FxHashMap::default(),
            errors: Vec::new(),
        };
        let entry = task.body().entry;
        let key = this.key_from(None, entry);
        this.queue.insert(key, (entry, start));
        this
    }

    /// Errors and cuts reached since the last call.
    pub fn take_errors(&mut self) -> Vec<Reached> {
        std::mem::take(&mut self.errors)
    }

    /// How often each loop head was passed at most.
    pub fn bounds(&self) -> Vec<(LocId, u32)> {
        let mut bounds: Vec<_> = self.passes.iter().map(|(&l, &n)| (l, n)).collect();
        bounds.sort();
        bounds
    }

    /// The path conditions of what was put off; nothing left means that the unrolling is complete.
    pub fn deferred(&self, terms: &mut Terms) -> Vec<Term> {
        self.deferred.values().map(|(_, s)| s.guard(terms)).collect()
    }

    /// Takes up the deferred states for which `keep` holds, given in the order of
    /// [`Unrolling::deferred`].
    pub fn resume(&mut self, keep: &[bool]) {
        let deferred = std::mem::take(&mut self.deferred);
        self.queue.extend(deferred.into_iter().zip(keep).filter(|(_, k)| **k).map(|(d, _)| d));
    }

    /// Visits everything that is not deferred, passing through each loop at most `bound` times; a
    /// loop that simplification alone decides is followed further.
    pub fn run(&mut self, terms: &mut Terms, bound: u32, budget: &Budget) -> Result<(), Stop> {
        let mut steps = 0usize;
        while let Some((key, (loc, state))) = self.queue.pop_first() {
            steps += 1;
            if steps.is_multiple_of(64)
                && let Err(stop) = budget.check()
            {
                // A stopped run loses nothing: the state is visited when the run goes on.
                self.queue.insert(key, (loc, state));
                return Err(stop);
            }
            if self.graph.is_loop_head(loc) {
                let pass = key[key.len() - 2];
                let most = self.passes.entry(loc).or_insert(0);
                *most = (*most).max(pass + 1);
                if pass == 0 {
                    self.entered.insert(key[..key.len() - 2].into(), state.path.len());
                } else if pass > bound && (steps > FREE_STEPS || !self.decided(&key, &state)) {
                    self.deferred.insert(key, (loc, state));
                    continue;
                }
            }
            self.visit(terms, &key, loc, &state);
        }
        Ok(())
    }

    /// Whether simplification alone decided all passes through a loop so far: no condition was
    /// added to the path since the loop was entered.
    fn decided(&self, key: &Key, state: &State) -> bool {
        self.entered.get(&key[..key.len() - 2]).is_some_and(|&n| state.path.len() <= n)
    }

    fn visit(&mut self, terms: &mut Terms, key: &Key, loc: LocId, state: &State) {
        if self.task.is_end(loc) {
            let guard = state.guard(terms);
            self.errors.push(Reached { loc, guard });
            return;
        }
        let edges: SmallVec<[EdgeId; 2]> = self.task.program.locs[loc].out.clone();
        let mut successors: SmallVec<[(EdgeId, State); 2]> = SmallVec::new();
        for &edge in &edges {
            if let Some(next) = self.encoder.step(terms, state, edge) {
                successors.push((edge, next));
            }
        }
        segment::keep_apart(terms, state, &mut successors);
        for (edge, next) in successors {
            let dst = self.task.program.edges[edge].dst;
            let key = self.key_from(Some((key, loc)), dst);
            match self.queue.entry(key) {
                std::collections::btree_map::Entry::Vacant(slot) => {
                    slot.insert((dst, next));
                }
                std::collections::btree_map::Entry::Occupied(mut slot) => {
                    let merged = State::merge(terms, &slot.get().1, &next);
                    slot.insert((dst, merged));
                }
            }
        }
    }

    /// The node of `dst` when it is entered from a node of `from`.
    fn key_from(&self, from: Option<(&Key, LocId)>, dst: LocId) -> Key {
        let mut loops: SmallVec<[LocId; 8]> = SmallVec::new();
        let mut head = self.graph.innermost_loop(dst);
        while let Some(h) = head {
            loops.push(h);
            head = self.graph.outer_loop(h);
        }
        let mut key = Key::new();
        let mut same = true;
        for (depth, &head) in loops.iter().rev().enumerate() {
            let number = self.graph.position(head).expect("loop heads are reachable") as u32;
            let pass = match from {
                Some((old, _)) if same && old.len() > 2 * depth + 1 && old[2 * depth] == number => {
                    // Entering the head again from inside starts the next pass.
                    old[2 * depth + 1] + u32::from(head == dst)
                }
                _ => {
                    same = false;
                    0
                }
            };
            key.push(number);
            key.push(pass);
        }
        key.push(self.graph.position(dst).map_or(u32::MAX, |p| p as u32));
        key
    }
}
