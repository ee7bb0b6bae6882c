//! Linear decision diagrams over upper-bound constraints (BOXES, section 2).
//!
//! A node tests `x <= k` or `x < k`. Tests on one variable follow each other along low edges with
//! growing bounds: the chain of a variable is a list of adjacent intervals (partitions), each with
//! the diagram that holds there, which never tests that variable again. Sets of points that are
//! finite unions of boxes correspond one to one to nodes.

mod boxes;
mod interval;
mod merge;
mod replace;
mod split;
mod transfer;
mod widen;

pub use boxes::{BoxPath, Boxes};
pub use interval::{Cut, Interval, Kind};
pub use split::Factors;
pub use transfer::{Guard, Relation};

use crate::kernel::{Kernel, Limits, OutOfBudget, Outcome, Stats};
use crate::node::{Label, Node, Var};
use crate::run::Host;
use crate::shared::Manager;

/// A manager of LDDs: the nodes, the interned constraints and the order of the variables.
///
/// Operations take and return [`Node`]s of this manager. Nodes stay valid until
/// [`Manager::collect`] runs or variables are reordered; protect those that must survive, or hold them
/// through [`crate::Shared`], which does both.
pub struct Ldd {
    pub(crate) k: Kernel<true>,
    kinds: Vec<Kind>,
    /// The constraint of each label.
    cuts: Vec<Cut>,
    /// The labels of each variable, by their cuts.
    sorted: Vec<Vec<Label>>,
    free_labels: Vec<Label>,
}

impl Host for Ldd {
    fn check_budget(&self) -> Outcome<()> {
        self.k.check()
    }

    fn count(&mut self, steps: u32) -> Outcome<()> {
        self.k.count(steps)
    }
}

impl Ldd {
    /// A manager without variables.
    pub fn new(limits: Limits) -> Self {
        let terminal = Cut::le(palisade_num::Int::from(0));
        Ldd {
            k: Kernel::new(limits),
            kinds: Vec::new(),
            cuts: vec![terminal],
            sorted: Vec::new(),
            free_labels: Vec::new(),
        }
    }

    /// Adds a variable below all others.
    pub fn new_var(&mut self, kind: Kind) -> Outcome<Var> {
        let var = self.k.new_var().ok_or(OutOfBudget::Nodes)?;
        self.kinds.push(kind);
        self.sorted.push(Vec::new());
        Ok(var)
    }

    /// Whether `var` is an integer.
    pub fn kind(&self, var: Var) -> Kind {
        self.kinds[var.0 as usize]
    }

    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.kinds.len()
    }

    /// The label of the constraint `cut` on `var`.
    pub(crate) fn label(&mut self, var: Var, cut: Cut) -> Label {
        let cut = cut.normalised(self.kind(var));
        let sorted = &self.sorted[var.0 as usize];
        match sorted.binary_search_by(|l| self.cuts[l.0 as usize].cmp(&cut)) {
            Ok(i) => sorted[i],
            Err(i) => self.add_label(var, i, cut),
        }
    }

    /// Interns a new cut of `var` at place `i` among its labels.
    fn add_label(&mut self, var: Var, i: usize, cut: Cut) -> Label {
        let tag = self.free_tag(var, i);
        let label = match self.free_labels.pop() {
            Some(label) => {
                self.k.reuse_label(label, var, tag);
                self.cuts[label.0 as usize] = cut;
                label
            }
            None => {
                self.cuts.push(cut);
                self.k.new_label(var, tag)
            }
        };
        self.sorted[var.0 as usize].insert(i, label);
        label
    }

    /// A tag between those of labels `i - 1` and `i` of `var`; spreads the tags evenly when there is
    /// no room, which keeps their order and so every diagram.
    fn free_tag(&mut self, var: Var, i: usize) -> u64 {
        let sorted = &self.sorted[var.0 as usize];
        let end = Kernel::<true>::TAGS;
        let after = sorted.get(i).map_or(end, |&l| self.k.tag(l));
        let before = i.checked_sub(1).map_or(0, |j| self.k.tag(sorted[j]) + 1);
        if before < after {
            return match (i == 0, i == sorted.len()) {
                // Room at the open ends, where loops add bound after bound.
                (true, true) => end / 2,
                (false, true) => before + (end - before).min(1 << 20) / 2,
                (true, false) => after - after.min(1 << 20).div_ceil(2),
                (false, false) => before + (after - before) / 2,
            };
        }
        // Half of the places stay free on either side.
        let gap = end / 2 / (sorted.len() as u64 + 1);
        for (j, &l) in sorted.iter().enumerate() {
            self.k.set_tag(l, end / 4 + (j as u64 + u64::from(j >= i)) * gap);
        }
        end / 4 + i as u64 * gap
    }

    /// The number of interned constraints.
    #[cfg(test)]
    pub(crate) fn labels_in_memory(&self) -> usize {
        self.cuts.len()
    }

    pub(crate) fn cut(&self, label: Label) -> &Cut {
        &self.cuts[label.0 as usize]
    }

    /// The partition of `var` between two of its labels, ready for arithmetic.
    pub(crate) fn between(&self, var: Var, lo: Option<Label>, hi: Option<Label>) -> Interval {
        let cut = |l: Option<Label>| l.map(|l| self.cut(l).clone());
        Interval { lo: cut(lo), hi: cut(hi) }.tightened(self.kind(var))
    }

    // ---- building blocks ----

    /// The set of points where `var` lies below `cut`.
    pub fn constraint(&mut self, var: Var, cut: Cut) -> Outcome {
        let label = self.label(var, cut);
        self.k.mk(label, Node::TRUE, Node::FALSE)
    }

    /// The set of points where `var` lies in `interval`.
    pub fn interval(&mut self, var: Var, interval: &Interval) -> Outcome {
        self.interval_over(var, interval, Node::TRUE)
    }

    /// The points of `f`, which lies below `var` in the order, where `var` lies in `interval`.
    pub(crate) fn interval_over(&mut self, var: Var, interval: &Interval, f: Node) -> Outcome {
        let interval = interval.clone().tightened(self.kind(var));
        if interval.is_empty() {
            return Ok(Node::FALSE);
        }
        let mut n = f;
        if let Some(hi) = interval.hi {
            let label = self.label(var, hi);
            n = self.k.mk(label, n, Node::FALSE)?;
        }
        if let Some(lo) = interval.lo {
            let label = self.label(var, lo);
            n = self.k.mk(label, Node::FALSE, n)?;
        }
        Ok(n)
    }

    /// The product of intervals of distinct variables.
    pub fn product(&mut self, sides: &[(Var, Interval)]) -> Outcome {
        let mut sides: Vec<&(Var, Interval)> = sides.iter().collect();
        sides.sort_by_key(|(v, _)| std::cmp::Reverse(self.k.var_level(*v)));
        let mut f = Node::TRUE;
        for (var, interval) in sides {
            f = self.interval_over(*var, interval, f)?;
        }
        Ok(f)
    }

    // ---- set operations (Table 1) ----

    /// Intersection.
    pub fn and(&mut self, f: Node, g: Node) -> Outcome {
        self.k.and(f, g)
    }

    /// Union.
    pub fn or(&mut self, f: Node, g: Node) -> Outcome {
        self.k.or(f, g)
    }

    /// Symmetric difference.
    pub fn xor(&mut self, f: Node, g: Node) -> Outcome {
        self.k.xor(f, g)
    }

    /// The points of `f` outside `g`.
    pub fn diff(&mut self, f: Node, g: Node) -> Outcome {
        self.k.diff(f, g)
    }

    /// Complement.
    pub fn not(&mut self, f: Node) -> Outcome {
        self.k.not(f)
    }

    /// `(f ∧ g) ∨ (¬f ∧ h)`.
    pub fn ite(&mut self, f: Node, g: Node, h: Node) -> Outcome {
        self.k.ite(f, g, h)
    }

    /// Whether `f` is a subset of `g`.
    pub fn leq(&mut self, f: Node, g: Node) -> Outcome<bool> {
        self.k.leq(f, g)
    }

    /// `∃ vars. f`: the projection that leaves `vars` free.
    pub fn exists(&mut self, f: Node, vars: &[Var]) -> Outcome {
        self.k.exists(f, vars)
    }

    /// `∀ vars. f`.
    pub fn forall(&mut self, f: Node, vars: &[Var]) -> Outcome {
        self.k.forall(f, vars)
    }

    /// `∃ vars. f ∧ g`.
    pub fn and_exists(&mut self, f: Node, g: Node, vars: &[Var]) -> Outcome {
        self.k.and_exists(f, g, vars)
    }

    // ---- inspection ----

    /// The top constraint of `f` with its high and low child; `None` for a terminal.
    pub fn decision(&self, f: Node) -> Option<(Var, &Cut, Node, Node)> {
        let c = self.k.cell(f);
        (c.label != Label::TERMINAL).then(|| (self.k.label_var(c.label), self.cut(c.label), c.high, c.low))
    }

    /// Whether `f` contains the point.
    pub fn eval<'v>(&self, f: Node, value: impl Fn(Var) -> &'v palisade_num::Rat) -> bool {
        let mut n = f;
        while let Some((var, cut, high, low)) = self.decision(n) {
            n = if cut.admits(value(var)) { high } else { low };
        }
        n == Node::TRUE
    }

    /// The number of nodes of the diagram of `f`, terminals included.
    pub fn size(&self, f: Node) -> usize {
        self.k.size(&[f])
    }

    /// Whether the diagram of `f` has at most so many nodes.
    pub fn size_within(&self, f: Node, nodes: usize) -> bool {
        self.k.size_within(f, nodes)
    }

    /// The variables that `f` depends on, from top to bottom.
    pub fn support(&self, f: Node) -> Vec<Var> {
        self.k.support(f)
    }

    /// The variables from top to bottom.
    pub fn order(&self) -> &[Var] {
        self.k.order()
    }

    /// Looks for a smaller order by sifting. Collects garbage; protected nodes keep their meaning.
    pub fn reorder(&mut self) -> Outcome<()> {
        self.collect();
        self.k.reorder()
    }

    /// Exchanges the variables at `level` and the next, if there is a next. Collects garbage.
    pub fn swap_adjacent(&mut self, level: usize) -> Outcome<()> {
        if level + 1 < self.k.var_count() { self.k.swap_adjacent(level) } else { Ok(()) }
    }

    /// Size figures.
    pub fn stats(&self) -> Stats {
        self.k.stats()
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        self.k.limits()
    }

    /// Lets the operations from now on take so many steps in total (see [`Stats::work`]).
    pub fn allow(&mut self, steps: u64) {
        self.k.allow(steps);
    }

    /// Replaces the limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.k.set_limits(limits);
    }
}

impl Manager for Ldd {
    fn protect(&mut self, f: Node) {
        self.k.protect(f);
    }

    fn release(&mut self, f: Node) {
        self.k.release(f);
    }

    /// Frees unreachable nodes, and the constraints that only they tested.
    fn collect(&mut self) {
        let used = self.k.collect(&[]);
        let keep = |l: Label| used[l.0 as usize];
        self.k.retain_labels(keep);
        for sorted in &mut self.sorted {
            self.free_labels.extend(sorted.iter().copied().filter(|&l| !keep(l)));
            sorted.retain(|&l| keep(l));
        }
    }

    fn wants_collection(&self) -> bool {
        self.k.wants_collection()
    }
}
