//! The node store that every kind of diagram shares.
//!
//! A [`Kernel`] holds reduced ordered diagrams: nodes are hash-consed by [`Kernel::mk`], so equal
//! functions are equal nodes. Decisions are [`Label`]s, compared by a 64-bit *rank*: the level of
//! the label's variable in the high bits and, for constraints on one variable, the place of the
//! bound in the low bits. With `LINEAR` set, labels of one variable are upper bounds that imply each
//! other in rank order, and `mk` and the cofactors apply the two extra reductions of linear decision
//! diagrams; without it each variable has one label and the kernel is a plain BDD package.
//!
//! # Against `oxidd`
//!
//! One kernel serves LDDs, BDDs and multi-terminal diagrams because it is at least as fast on plain BDDs
//! as the best kept library. `cargo bench -p palisade-dd --bench oxidd` compares both through their
//! reference-counted handles; processor milliseconds on one core, best of five (oxidd 0.13, one thread,
//! without and with complement edges):
//!
//! | workload          |  ours |   bdd |  bcdd |
//! |-------------------|------:|------:|------:|
//! | 8 queens          |    32 |    56 |    65 |
//! | 9 queens          |   176 |   211 |   253 |
//! | multiplier 8      |    15 |    33 |    36 |
//! | multiplier 10     |   318 |   356 |   375 |
//! | adders 200        |    46 |    39 |    43 |
//! | random quantified |   137 |   217 |   267 |
//! | token ring 24     |    74 |    84 |    97 |
//!
//! Complement edges would make Not free, but they cost a test on every edge, do not pay in oxidd on any of
//! these, and do not extend to multi-terminal diagrams; this kernel does without.
//!
//! # Lifetime
//!
//! Nodes never move and identifiers stay valid until a collection finds them unreachable from the
//! protected roots; reordering variables keeps every identifier and its meaning.

use std::fmt;

use palisade_base::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::node::{Cell, Label, Node, Var};
use crate::tables::{Cache, MAX_NODES, UniqueTable, hash_cell};

/// Why an operation gave up. The manager stays usable; nothing that was protected is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfBudget {
    /// The operation needs more nodes than the limit of the manager.
    Nodes,
    /// The operation takes more steps than it may.
    Work,
    /// The budget token asked to stop.
    Stopped(Stop),
}

impl fmt::Display for OutOfBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutOfBudget::Nodes => f.write_str("decision diagram node limit"),
            OutOfBudget::Work => f.write_str("decision diagram step limit"),
            OutOfBudget::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for OutOfBudget {}

/// What a diagram operation returns.
pub type Outcome<T = Node> = Result<T, OutOfBudget>;

/// Limits of a manager.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most nodes that may exist at once (16 to 28 bytes each, tables included).
    pub nodes: usize,
    /// Asked now and then whether to stop.
    pub budget: Budget,
}

impl Default for Limits {
    /// Eight million nodes, no stop.
    fn default() -> Self {
        Limits { nodes: 8 << 20, budget: Budget::unlimited() }
    }
}

/// Size figures of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Nodes that exist, garbage included.
    pub nodes: usize,
    /// The most nodes that existed at once.
    pub peak: usize,
    /// Collections so far.
    pub collections: usize,
    /// Recursive steps of all operations so far: what they cost, on any machine.
    pub work: u64,
}

/// New nodes between two looks at the budget token.
const BUDGET_PERIOD: u32 = 1 << 12;

/// Bits of a rank below the level.
const TAG_BITS: u32 = 40;

/// New nodes that are always allowed between two collections.
const MIN_ROOM: usize = 1 << 16;

/// Sets of variables that are remembered by name.
const MAX_SETS: usize = 1 << 12;

/// The end of the free list.
const END: u32 = u32::MAX;

/// Levels fit the bits of a rank above the tag, less one value for the terminals.
pub(crate) const MAX_VARS: usize = (1 << (64 - TAG_BITS)) - 1;

/// See the module description.
pub(crate) struct Kernel<const LINEAR: bool> {
    pub(crate) cells: Vec<Cell>,
    pub(crate) unique: UniqueTable,
    pub(crate) cache: Cache,
    free: u32,
    pub(crate) live: usize,
    peak: usize,
    collections: usize,
    until_check: u32,
    work: u64,
    /// Operations end with [`OutOfBudget::Work`] when `work` is beyond this.
    work_limit: u64,
    limits: Limits,
    /// Rank of each label.
    ranks: Vec<u64>,
    /// Variable of each label.
    label_vars: Vec<Var>,
    /// Labels of each variable, in no particular order.
    labels: Vec<Vec<Label>>,
    levels: Vec<u32>,
    vars_by_level: Vec<Var>,
    roots: FxHashMap<Node, u32>,
    /// Live nodes after the last collection.
    settled: usize,
    instances: u32,
    /// Instances that name sets of variables.
    sets: FxHashMap<Box<[Var]>, u32>,
}

impl<const LINEAR: bool> Kernel<LINEAR> {
    pub(crate) fn new(limits: Limits) -> Self {
        let terminal = |value| Cell { label: Label::TERMINAL, high: Node(value), low: Node::FALSE };
        let limits = Limits { nodes: limits.nodes.clamp(2, MAX_NODES), ..limits };
        Kernel {
            cells: vec![terminal(0), terminal(1)],
            unique: UniqueTable::new(),
            cache: Cache::new(),
            free: END,
            live: 2,
            peak: 2,
            collections: 0,
            until_check: BUDGET_PERIOD,
            work: 0,
            work_limit: u64::MAX,
            limits,
            ranks: vec![u64::MAX],
            label_vars: vec![Var(u32::MAX)],
            labels: Vec::new(),
            levels: Vec::new(),
            vars_by_level: Vec::new(),
            roots: FxHashMap::default(),
            settled: 0,
            instances: 0,
            sets: FxHashMap::default(),
        }
    }

    // ---- variables and labels ----

    /// A new variable below all others; `None` when there are too many.
    pub(crate) fn new_var(&mut self) -> Option<Var> {
        let level = self.vars_by_level.len();
        if level >= MAX_VARS {
            return None;
        }
        let var = Var(level as u32);
        self.levels.push(level as u32);
        self.vars_by_level.push(var);
        self.labels.push(Vec::new());
        Some(var)
    }

    /// A new label of `var`, whose place among the labels of `var` is `tag`.
    pub(crate) fn new_label(&mut self, var: Var, tag: u64) -> Label {
        let label = Label(self.ranks.len() as u32);
        self.ranks.push(self.rank_for(var, tag));
        self.label_vars.push(var);
        self.labels[var.0 as usize].push(label);
        label
    }

    /// Gives an unused label to `var` at place `tag`.
    pub(crate) fn reuse_label(&mut self, label: Label, var: Var, tag: u64) {
        self.ranks[label.0 as usize] = self.rank_for(var, tag);
        self.label_vars[label.0 as usize] = var;
        self.labels[var.0 as usize].push(label);
    }

    /// Takes the labels that `keep` rejects away from their variables.
    pub(crate) fn retain_labels(&mut self, keep: impl Fn(Label) -> bool) {
        for labels in &mut self.labels {
            labels.retain(|&l| keep(l));
        }
    }

    /// Moves `label` to place `tag` among the labels of its variable.
    pub(crate) fn set_tag(&mut self, label: Label, tag: u64) {
        self.ranks[label.0 as usize] = self.rank_for(self.label_vars[label.0 as usize], tag);
    }

    pub(crate) fn tag(&self, label: Label) -> u64 {
        self.ranks[label.0 as usize] & ((1 << TAG_BITS) - 1)
    }

    /// The number of tags of one variable.
    pub(crate) const TAGS: u64 = 1 << TAG_BITS;

    fn rank_for(&self, var: Var, tag: u64) -> u64 {
        debug_assert!(tag < Self::TAGS);
        (u64::from(self.levels[var.0 as usize]) << TAG_BITS) | tag
    }

    #[inline]
    pub(crate) fn rank(&self, label: Label) -> u64 {
        self.ranks[label.0 as usize]
    }

    /// The level that a rank belongs to; terminals lie below all variables.
    #[inline]
    pub(crate) fn level_of_rank(rank: u64) -> u32 {
        (rank >> TAG_BITS) as u32
    }

    #[inline]
    pub(crate) fn label_level(&self, label: Label) -> u32 {
        Self::level_of_rank(self.rank(label))
    }

    /// The level of the decision of `f`; terminals lie below all variables.
    #[inline]
    pub(crate) fn level(&self, f: Node) -> u32 {
        self.label_level(self.cell(f).label)
    }

    #[inline]
    pub(crate) fn label_var(&self, label: Label) -> Var {
        self.label_vars[label.0 as usize]
    }

    pub(crate) fn var_level(&self, var: Var) -> u32 {
        self.levels[var.0 as usize]
    }

    pub(crate) fn var_count(&self) -> usize {
        self.levels.len()
    }

    /// The variables from top to bottom.
    pub(crate) fn order(&self) -> &[Var] {
        &self.vars_by_level
    }

    /// Exchanges the variables of `level` and `level + 1` in the order, labels included, without
    /// touching nodes.
    pub(crate) fn swap_levels(&mut self, level: usize) {
        self.vars_by_level.swap(level, level + 1);
        for l in [level, level + 1] {
            let var = self.vars_by_level[l];
            self.levels[var.0 as usize] = l as u32;
            for i in 0..self.labels[var.0 as usize].len() {
                let label = self.labels[var.0 as usize][i];
                let tag = self.tag(label);
                self.ranks[label.0 as usize] = self.rank_for(var, tag);
            }
        }
    }

    // ---- nodes ----

    #[inline]
    pub(crate) fn cell(&self, f: Node) -> Cell {
        self.cells[f.0 as usize]
    }

    /// The reduced node for "if `label` then `high` else `low`". Both children must lie below
    /// `label`, and `high` must not test the variable of `label`.
    ///
    /// Two children that agree need no decision. In a linear diagram neither does a decision whose
    /// low child, a weaker bound on the same variable, has the same high child ("imply low").
    #[inline]
    pub(crate) fn mk(&mut self, label: Label, high: Node, low: Node) -> Outcome {
        if high == low {
            return Ok(high);
        }
        if LINEAR {
            let below = self.cell(low);
            if below.high == high && self.label_level(below.label) == self.label_level(label) {
                return Ok(low);
            }
        }
        self.intern(Cell { label, high, low })
    }

    /// "If `label` then `high` else `low`" for children that may also lie at or above `label`.
    pub(crate) fn decide(&mut self, label: Label, high: Node, low: Node) -> Outcome {
        let rank = self.rank(label);
        let (above_high, above_low) = (self.level(high), self.rank(self.cell(low).label));
        if Self::level_of_rank(rank) < above_high && rank < above_low {
            return self.mk(label, high, low);
        }
        let test = self.mk(label, Node::TRUE, Node::FALSE)?;
        self.ite(test, high, low)
    }

    /// The node with exactly these fields.
    #[inline]
    pub(crate) fn intern(&mut self, cell: Cell) -> Outcome {
        let hash = hash_cell(cell);
        match self.unique.find(&self.cells, cell, hash) {
            Ok(node) => Ok(node),
            Err(place) => {
                let node = self.allocate(cell)?;
                self.unique.fill(place, node, hash);
                Ok(node)
            }
        }
    }

    /// Whether a node with exactly these fields exists.
    pub(crate) fn contains(&self, cell: Cell) -> bool {
        self.unique.find(&self.cells, cell, hash_cell(cell)).is_ok()
    }

    #[inline]
    fn allocate(&mut self, cell: Cell) -> Outcome {
        self.until_check -= 1;
        if self.until_check == 0 {
            self.pause()?;
        }
        if self.live >= self.limits.nodes {
            return Err(OutOfBudget::Nodes);
        }
        self.live += 1;
        if self.free != END {
            let node = Node(self.free);
            let slot = &mut self.cells[self.free as usize];
            self.free = slot.high.0;
            *slot = cell;
            Ok(node)
        } else {
            self.cells.push(cell);
            Ok(Node(self.cells.len() as u32 - 1))
        }
    }

    /// What is due every [`BUDGET_PERIOD`] new nodes.
    #[cold]
    fn pause(&mut self) -> Outcome<()> {
        self.until_check = BUDGET_PERIOD;
        self.cache.fit(self.live);
        self.peak = self.peak.max(self.live);
        self.check()
    }

    /// Counts steps of an operation.
    pub(crate) fn count(&mut self, steps: u32) -> Outcome<()> {
        self.work += u64::from(steps);
        if self.work > self.work_limit { Err(OutOfBudget::Work) } else { Ok(()) }
    }

    /// Counts steps of an operation that goes on even if they are too many.
    pub(crate) fn note(&mut self, steps: u64) {
        self.work += steps;
    }

    /// Lets operations from now on take so many steps in total.
    pub(crate) fn allow(&mut self, steps: u64) {
        self.work_limit = self.work.saturating_add(steps);
    }

    /// `Err` once the budget token asked to stop.
    pub(crate) fn check(&self) -> Outcome<()> {
        self.limits.budget.check().map_err(OutOfBudget::Stopped)
    }

    /// Puts the cell of a dead node on the free list; the caller has removed it from the unique table.
    pub(crate) fn release_cell(&mut self, node: Node) {
        self.cells[node.0 as usize] = Cell { label: Label::FREE, high: Node(self.free), low: Node::FALSE };
        self.free = node.0;
        self.live -= 1;
    }

    /// A number never used before as third operand of a cached operation, for operations whose
    /// meaning depends on more than nodes.
    pub(crate) fn fresh_instance(&mut self) -> u32 {
        if self.instances == u32::MAX {
            self.cache.clear(self.live);
            self.sets.clear();
            self.instances = 0;
        }
        self.instances += 1;
        self.instances
    }

    /// The instance that names a set of variables, so that operations over the same set share results.
    pub(crate) fn set_instance(&mut self, vars: &[Var]) -> u32 {
        let mut sorted: Box<[Var]> = vars.into();
        sorted.sort_unstable();
        if let Some(&instance) = self.sets.get(&sorted) {
            return instance;
        }
        if self.sets.len() >= MAX_SETS {
            self.sets.clear();
        }
        let instance = self.fresh_instance();
        self.sets.insert(sorted, instance);
        instance
    }

    // ---- cofactors ----

    /// The smaller of the decisions of `f` and `g`, and the cofactors of both by it:
    /// `(v, [f|v, g|v], [f|¬v, g|¬v])`. At least one is not terminal.
    #[inline]
    pub(crate) fn split2(&self, f: Node, g: Node) -> (Label, [Node; 2], [Node; 2]) {
        let (cf, cg) = (self.cell(f), self.cell(g));
        let (rf, rg) = (self.rank(cf.label), self.rank(cg.label));
        if rf == rg {
            (cf.label, [cf.high, cg.high], [cf.low, cg.low])
        } else if rf < rg {
            (cf.label, [cf.high, self.implied(rf, rg, cg, g)], [cf.low, g])
        } else {
            (cg.label, [self.implied(rg, rf, cf, f), cg.high], [f, cg.low])
        }
    }

    /// The positive cofactor of `g`, whose decision has rank `rg`, by a decision of rank `r < rg`:
    /// an upper bound implies every weaker one on the same variable.
    #[inline]
    pub(crate) fn implied(&self, r: u64, rg: u64, cg: Cell, g: Node) -> Node {
        if LINEAR && Self::level_of_rank(r) == Self::level_of_rank(rg) { cg.high } else { g }
    }

    /// Both cofactors of `f` by a decision at or above its own.
    #[inline]
    pub(crate) fn split1(&self, label: Label, f: Node) -> (Node, Node) {
        let cf = self.cell(f);
        let (r, rf) = (self.rank(label), self.rank(cf.label));
        if r == rf { (cf.high, cf.low) } else { (self.implied(r, rf, cf, f), f) }
    }

    // ---- memory ----

    /// Keeps `f` and all below it through collections until it is released as often.
    pub(crate) fn protect(&mut self, f: Node) {
        if !f.is_constant() {
            *self.roots.entry(f).or_insert(0) += 1;
        }
    }

    /// Takes back one `protect`.
    pub(crate) fn release(&mut self, f: Node) {
        if let Some(count) = self.roots.get_mut(&f) {
            *count -= 1;
            if *count == 0 {
                self.roots.remove(&f);
            }
        }
    }

    /// The protected nodes in order of their identifiers.
    pub(crate) fn root_nodes(&self) -> Vec<Node> {
        let mut roots: Vec<Node> = self.roots.keys().copied().collect();
        roots.sort_unstable();
        roots
    }

    /// Whether enough was allocated since the last collection to make another one pay.
    pub(crate) fn wants_collection(&self) -> bool {
        let room = self.settled.max(MIN_ROOM);
        self.live > self.settled + room || self.live * 10 > self.limits.nodes * 9
    }

    /// Frees every node that no protected root and none of `extra` reaches (mark and sweep), and
    /// reports which labels are still in use. Unprotected nodes held elsewhere become invalid.
    pub(crate) fn collect(&mut self, extra: &[Node]) -> Vec<bool> {
        let mut marked = vec![false; self.cells.len()];
        let mut used = vec![false; self.ranks.len()];
        marked[0] = true;
        marked[1] = true;
        let mut stack = self.root_nodes();
        stack.extend_from_slice(extra);
        while let Some(n) = stack.pop() {
            if std::mem::replace(&mut marked[n.0 as usize], true) {
                continue;
            }
            let c = self.cell(n);
            used[c.label.0 as usize] = true;
            if c.label != Label::TERMINAL {
                stack.push(c.high);
                stack.push(c.low);
            }
        }
        self.peak = self.peak.max(self.live);
        self.unique.retain(|n| marked[n.0 as usize]);
        // Trailing garbage leaves the arena; the rest becomes the free list, low identifiers first.
        let end = marked.iter().rposition(|&m| m).map_or(2, |i| i + 1);
        self.cells.truncate(end);
        self.cells.shrink_to(end * 2);
        self.free = END;
        self.live = end;
        for i in (2..end).rev() {
            if !marked[i] {
                self.release_cell(Node(i as u32));
            }
        }
        self.settled = self.live;
        self.cache.retain(|n| marked.get(n as usize).copied().unwrap_or(false));
        self.collections += 1;
        used
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            nodes: self.live,
            peak: self.peak.max(self.live),
            collections: self.collections,
            work: self.work,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = Limits { nodes: limits.nodes.clamp(2, MAX_NODES), ..limits };
    }

    /// The number of nodes reachable from `roots`, terminals included.
    pub(crate) fn size(&self, roots: &[Node]) -> usize {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = roots.to_vec();
        while let Some(n) = stack.pop() {
            if seen.insert(n) {
                let c = self.cell(n);
                if c.label != Label::TERMINAL {
                    stack.push(c.high);
                    stack.push(c.low);
                }
            }
        }
        seen.len()
    }

    /// Whether at most so many nodes are reachable from `f`; looks at no more than these.
    pub(crate) fn size_within(&self, f: Node, nodes: usize) -> bool {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![f];
        while let Some(n) = stack.pop() {
            if seen.insert(n) {
                if seen.len() > nodes {
                    return false;
                }
                let c = self.cell(n);
                if c.label != Label::TERMINAL {
                    stack.extend([c.high, c.low]);
                }
            }
        }
        true
    }

    /// The variables that `f` depends on, from top to bottom.
    pub(crate) fn support(&self, f: Node) -> Vec<Var> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut present = vec![false; self.var_count()];
        let mut stack = vec![f];
        while let Some(n) = stack.pop() {
            let c = self.cell(n);
            if c.label != Label::TERMINAL && seen.insert(n) {
                present[self.label_var(c.label).0 as usize] = true;
                stack.push(c.high);
                stack.push(c.low);
            }
        }
        self.vars_by_level.iter().copied().filter(|v| present[v.0 as usize]).collect()
    }

    /// Whether every reachable node is reduced and ordered; for tests.
    #[cfg(test)]
    pub(crate) fn is_canonical(&self, f: Node) -> bool {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![f];
        while let Some(n) = stack.pop() {
            let c = self.cell(n);
            if c.label == Label::TERMINAL || !seen.insert(n) {
                continue;
            }
            let (h, l) = (self.cell(c.high), self.cell(c.low));
            let ordered = self.rank(c.label) < self.rank(h.label) && self.rank(c.label) < self.rank(l.label);
            let own = self.label_level(c.label);
            let imply_high = own == self.label_level(h.label);
            let imply_low = own == self.label_level(l.label) && l.high == c.high;
            let interned = self.unique.find(&self.cells, c, hash_cell(c)) == Ok(n);
            if c.high == c.low || !ordered || imply_high || imply_low || !interned {
                return false;
            }
            stack.push(c.high);
            stack.push(c.low);
        }
        true
    }
}
