//! Variable reordering by sifting (Rudell). Nodes are rewritten in place, so every node keeps its
//! identifier and its meaning.

use crate::kernel::{Kernel, Outcome};
use crate::node::{Cell, Label, Node, Var};
use crate::tables::hash_cell;

/// Sifting lets the diagrams grow by at most this factor while it looks for a better place.
const GROWTH: (usize, usize) = (6, 5);

/// Variables that one reordering sifts: those with the most nodes decide, and each costs a pass over all
/// levels.
const MAX_SIFTED: usize = 128;

/// What looking at a node in an exchange costs, in steps of other operations.
const STEPS_PER_NODE: u64 = 8;

struct Sifter<'a, const LINEAR: bool> {
    k: &'a mut Kernel<LINEAR>,
    /// References to each node from nodes and roots.
    refs: Vec<u32>,
    /// Nodes by variable; entries may be stale or repeated.
    by_var: Vec<Vec<Node>>,
}

/// A node that depends on the lower variable of a swap, and what becomes of it.
struct Rewrite {
    node: Node,
    to: Cell,
}

impl<'a, const LINEAR: bool> Sifter<'a, LINEAR> {
    /// The kernel must hold no garbage.
    fn new(k: &'a mut Kernel<LINEAR>) -> Self {
        let mut refs = vec![0; k.cells.len()];
        let mut by_var = vec![Vec::new(); k.var_count()];
        for root in k.root_nodes() {
            refs[root.0 as usize] += 1;
        }
        for (i, c) in k.cells.iter().enumerate() {
            if c.label != Label::TERMINAL && c.label != Label::FREE {
                refs[c.high.0 as usize] += 1;
                refs[c.low.0 as usize] += 1;
                by_var[k.label_var(c.label).0 as usize].push(Node(i as u32));
            }
        }
        Sifter { k, refs, by_var }
    }

    fn var(&self, n: Node) -> Option<Var> {
        let label = self.k.cell(n).label;
        (label != Label::TERMINAL && label != Label::FREE).then(|| self.k.label_var(label))
    }

    /// `mk` that counts references, and adds new nodes to `fresh`.
    fn mk(&mut self, label: Label, high: Node, low: Node, fresh: &mut Vec<Node>) -> Outcome {
        let before = self.k.live;
        let node = self.k.mk(label, high, low)?;
        if self.k.live > before {
            if node.0 as usize >= self.refs.len() {
                self.refs.resize(node.0 as usize + 1, 0);
            }
            self.refs[node.0 as usize] = 0;
            self.refs[high.0 as usize] += 1;
            self.refs[low.0 as usize] += 1;
            fresh.push(node);
        }
        Ok(node)
    }

    /// Frees the nodes of `dead` that nothing refers to, and what only they refer to.
    fn free(&mut self, mut dead: Vec<Node>) {
        while let Some(n) = dead.pop() {
            let c = self.k.cell(n);
            if self.refs[n.0 as usize] > 0 || c.label == Label::TERMINAL || c.label == Label::FREE {
                continue;
            }
            self.k.unique.remove(n, hash_cell(c));
            self.k.release_cell(n);
            for child in [c.high, c.low] {
                self.refs[child.0 as usize] -= 1;
                dead.push(child);
            }
        }
    }

    /// The part of the chain of `x`-decisions from `n`: each decision with its high child, and what
    /// follows the last.
    fn chain(&self, n: Node, x: Var) -> (Vec<(Label, Node)>, Node) {
        let (mut parts, mut rest) = (Vec::new(), n);
        while self.var(rest) == Some(x) {
            let c = self.k.cell(rest);
            parts.push((c.label, c.high));
            rest = c.low;
        }
        (parts, rest)
    }

    /// Exchanges the variables x, at `level`, and y below it. On error nothing has changed but for
    /// garbage.
    ///
    /// A node over x that depends on y becomes a node over y in place: its decision is the least
    /// bound `b` on y below it, its children are its cofactors by `b`. The cofactors are nodes over x
    /// in the old order, so the unique table finds those that exist; new ones that still depend on y
    /// (in a linear diagram, on a larger bound) are rewritten in their turn.
    fn swap(&mut self, level: usize) -> Outcome<()> {
        let (x, y) = (self.k.order()[level], self.k.order()[level + 1]);
        let mut work = std::mem::take(&mut self.by_var[x.0 as usize]);
        work.sort_unstable();
        work.dedup();
        work.retain(|&n| self.var(n) == Some(x));
        self.k.note(work.len() as u64 * STEPS_PER_NODE);
        let mut rewrites: Vec<Rewrite> = Vec::new();
        let mut next = 0;
        while next < work.len() {
            let node = work[next];
            next += 1;
            match self.rewrite(node, x, y, &mut work) {
                Ok(None) => {}
                Ok(Some(to)) => {
                    self.refs[to.high.0 as usize] += 1;
                    self.refs[to.low.0 as usize] += 1;
                    rewrites.push(Rewrite { node, to });
                }
                Err(e) => {
                    for r in rewrites {
                        self.refs[r.to.high.0 as usize] -= 1;
                        self.refs[r.to.low.0 as usize] -= 1;
                    }
                    self.free(work.clone());
                    self.by_var[x.0 as usize] = work;
                    return Err(e);
                }
            }
        }
        let mut dead = Vec::new();
        for Rewrite { node, to } in &rewrites {
            let old = self.k.cell(*node);
            self.k.unique.remove(*node, hash_cell(old));
            self.k.cells[node.0 as usize] = *to;
            for child in [old.high, old.low] {
                self.refs[child.0 as usize] -= 1;
                dead.push(child);
            }
            self.by_var[y.0 as usize].push(*node);
        }
        for Rewrite { node, to } in &rewrites {
            self.k.unique.insert(*node, hash_cell(*to));
        }
        self.k.swap_levels(level);
        // Cofactors that were made on the way and then not used.
        dead.extend_from_slice(&work);
        self.free(dead);
        self.by_var[x.0 as usize] = work;
        Ok(())
    }

    /// What `node`, over x, becomes when y moves above x; `None` if it does not depend on y.
    fn rewrite(&mut self, node: Node, x: Var, y: Var, fresh: &mut Vec<Node>) -> Outcome<Option<Cell>> {
        let (parts, rest) = self.chain(node, x);
        let children = parts.iter().map(|p| p.1).chain([rest]);
        let bounds = children.map(|n| self.k.cell(n).label);
        let bounds = bounds.filter(|&l| l != Label::TERMINAL && self.k.label_var(l) == y);
        let Some(bound) = bounds.min_by_key(|&l| self.k.rank(l)) else { return Ok(None) };
        let (mut high, mut low) = self.k.split1(bound, rest);
        for &(label, child) in parts.iter().rev() {
            let (h, l) = self.k.split1(bound, child);
            high = self.mk(label, h, high, fresh)?;
            low = self.mk(label, l, low, fresh)?;
        }
        Ok(Some(Cell { label: bound, high, low }))
    }

    /// Moves the variable at `level` to where the diagrams are smallest. Errors end the search at the
    /// best place that can still be reached.
    fn sift(&mut self, var: Var) -> Outcome<()> {
        let last = self.k.order().len() - 1;
        let start = self.k.var_level(var) as usize;
        let (mut best, mut best_at) = (self.k.live, start);
        let limit = best * GROWTH.0 / GROWTH.1 + 16;
        let mut at = start;
        // The nearer end first, then all the way to the other.
        let down_first = start * 2 >= last;
        let mut outcome = Ok(());
        'search: for down in [down_first, !down_first] {
            while if down { at < last } else { at > 0 } {
                let swap = if down { self.swap(at) } else { self.swap(at - 1) };
                if let Err(e) = swap {
                    outcome = Err(e);
                    break 'search;
                }
                at = if down { at + 1 } else { at - 1 };
                if self.k.live < best {
                    (best, best_at) = (self.k.live, at);
                }
                if self.k.live > limit {
                    break;
                }
            }
        }
        while at != best_at {
            let down = at < best_at;
            self.swap(if down { at } else { at - 1 })?;
            at = if down { at + 1 } else { at - 1 };
        }
        outcome
    }
}

impl<const LINEAR: bool> Kernel<LINEAR> {
    /// Sifts the variables with the most nodes, largest first. Frees garbage. When the budget or the steps
    /// that are allowed end, the order reached so far stays and is valid.
    pub(crate) fn reorder(&mut self) -> Outcome<()> {
        self.collect(&[]);
        let mut sifter = Sifter::new(self);
        let mut vars: Vec<Var> = sifter.k.order().to_vec();
        vars.retain(|v| !sifter.by_var[v.0 as usize].is_empty());
        vars.sort_by_key(|v| std::cmp::Reverse(sifter.by_var[v.0 as usize].len()));
        vars.truncate(MAX_SIFTED);
        let mut outcome = Ok(());
        for var in vars {
            outcome = sifter.k.check().and_then(|()| sifter.k.count(0)).and_then(|()| sifter.sift(var));
            if outcome.is_err() {
                break;
            }
        }
        self.collect(&[]);
        // Some operations, such as the widening, depend on the order.
        self.cache.clear(self.live);
        outcome
    }

    /// Exchanges the variables at `level` and `level + 1`; `level + 1` must exist. Frees garbage.
    pub(crate) fn swap_adjacent(&mut self, level: usize) -> Outcome<()> {
        self.collect(&[]);
        let outcome = Sifter::new(self).swap(level);
        self.cache.clear(self.live);
        outcome
    }
}
