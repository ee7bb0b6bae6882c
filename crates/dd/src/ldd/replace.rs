//! Cofactors and constraint replacement (BOXES, equation 4 and Figure 2).

use palisade_num::Rat;
use rustc_hash::FxHashMap;

use super::{Cut, Ldd};
use crate::kernel::{Kernel, Outcome};
use crate::node::{Label, Node, Var};
use crate::run::{Operation, Step, run};
use crate::tables::OpCode;

/// `f|v` (`POSITIVE`) or `f|¬v`: every constraint that `v`, or its negation, decides is replaced by
/// its value.
struct Cofactor<const POSITIVE: bool> {
    by: Label,
}

impl<const P: bool> Cofactor<P> {
    fn key(&self) -> u32 {
        self.by.0 * 2 + u32::from(P)
    }
}

impl<const P: bool> Operation<Kernel<true>> for Cofactor<P> {
    type Args = Node;

    fn enter(&mut self, k: &mut Kernel<true>, f: &mut Node) -> Outcome<Step<Node>> {
        let level = k.label_level(self.by);
        let mut c = k.cell(*f);
        loop {
            if k.label_level(c.label) > level {
                return Ok(Step::Done(*f));
            }
            if k.label_level(c.label) < level {
                break;
            }
            match (P, k.rank(c.label).cmp(&k.rank(self.by))) {
                // v implies this constraint and all that follow.
                (true, std::cmp::Ordering::Less) => break,
                (true, _) => return Ok(Step::Done(c.high)),
                // The constraint implies v, so ¬v refutes it.
                (false, std::cmp::Ordering::Less | std::cmp::Ordering::Equal) => *f = c.low,
                (false, _) => return Ok(Step::Done(*f)),
            }
            c = k.cell(*f);
        }
        if let Some(r) = k.cache.get(OpCode::Cofactor, *f, self.key(), 0) {
            return Ok(Step::Done(r));
        }
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, k: &mut Kernel<true>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        k.mk(label, high, low)
    }

    fn remember(&mut self, k: &mut Kernel<true>, f: &Node, result: Node) {
        k.cache.put(OpCode::Cofactor, *f, self.key(), 0, result);
    }
}

/// RC of Figure 2.
struct Replace {
    var: Var,
    /// FNPOS and FNNEG of every constraint on `var`.
    images: FxHashMap<u32, (Node, Node)>,
    instance: u32,
}

impl Operation<Kernel<true>> for Replace {
    type Args = Node;

    fn enter(&mut self, k: &mut Kernel<true>, f: &mut Node) -> Outcome<Step<Node>> {
        if k.level(*f) > k.var_level(self.var) {
            return Ok(Step::Done(*f));
        }
        if let Some(r) = k.cache.get(OpCode::Replace, *f, 0, self.instance) {
            return Ok(Step::Done(r));
        }
        let c = k.cell(*f);
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, k: &mut Kernel<true>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        match self.images.get(&label.0) {
            Some(&(pos, neg)) => {
                let t = k.and(pos, high)?;
                let e = k.and(neg, low)?;
                k.or(t, e)
            }
            None => k.decide(label, high, low),
        }
    }

    fn remember(&mut self, k: &mut Kernel<true>, f: &Node, result: Node) {
        k.cache.put(OpCode::Replace, *f, 0, self.instance, result);
    }
}

/// Simultaneous renaming of variables.
struct Rename {
    /// The new label of every label of a renamed variable.
    labels: FxHashMap<u32, Label>,
    /// No renamed variable lies below this level.
    last: u32,
    instance: u32,
}

impl Operation<Kernel<true>> for Rename {
    type Args = Node;

    fn enter(&mut self, k: &mut Kernel<true>, f: &mut Node) -> Outcome<Step<Node>> {
        let c = k.cell(*f);
        if k.label_level(c.label) > self.last {
            return Ok(Step::Done(*f));
        }
        if let Some(r) = k.cache.get(OpCode::Replace, *f, 0, self.instance) {
            return Ok(Step::Done(r));
        }
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, k: &mut Kernel<true>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        k.decide(self.labels.get(&label.0).copied().unwrap_or(label), high, low)
    }

    fn remember(&mut self, k: &mut Kernel<true>, f: &Node, result: Node) {
        k.cache.put(OpCode::Replace, *f, 0, self.instance, result);
    }
}

/// `x := x + c`: every bound on `x` moves by `c`, which changes no shape.
struct Shift {
    level: u32,
    /// The moved label of each label.
    moved: FxHashMap<u32, Label>,
    instance: u32,
}

impl Operation<Kernel<true>> for Shift {
    type Args = Node;

    fn enter(&mut self, k: &mut Kernel<true>, f: &mut Node) -> Outcome<Step<Node>> {
        let c = k.cell(*f);
        if k.label_level(c.label) > self.level {
            return Ok(Step::Done(*f));
        }
        if let Some(r) = k.cache.get(OpCode::Replace, *f, 0, self.instance) {
            return Ok(Step::Done(r));
        }
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, k: &mut Kernel<true>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        k.mk(self.moved.get(&label.0).copied().unwrap_or(label), high, low)
    }

    fn remember(&mut self, k: &mut Kernel<true>, f: &Node, result: Node) {
        k.cache.put(OpCode::Replace, *f, 0, self.instance, result);
    }
}

impl Ldd {
    /// The cofactor of `f` by the constraint `cut` on `var`, or by its negation (equation 4): where
    /// the constraint has that value the cofactor agrees with `f`, and it tests nothing that the
    /// constraint decides.
    pub fn cofactor(&mut self, f: Node, var: Var, cut: Cut, positive: bool) -> Outcome {
        let by = self.label(var, cut);
        if positive {
            run(&mut self.k, &mut Cofactor::<true> { by }, f)
        } else {
            run(&mut self.k, &mut Cofactor::<false> { by }, f)
        }
    }

    /// The labels of `var` that `f` tests, in order.
    fn labels_in(&self, f: Node, var: Var) -> Vec<Label> {
        let level = self.k.var_level(var);
        let mut seen = rustc_hash::FxHashSet::default();
        let mut labels = Vec::new();
        let mut stack = vec![f];
        while let Some(n) = stack.pop() {
            let c = self.k.cell(n);
            if self.k.label_level(c.label) > level || !seen.insert(n) {
                continue;
            }
            if self.k.label_level(c.label) == level {
                labels.push(c.label);
                stack.push(c.low);
            } else {
                stack.extend([c.high, c.low]);
            }
        }
        labels.sort_unstable_by_key(|&l| self.k.rank(l));
        labels.dedup();
        labels
    }

    /// RC of Figure 2: replaces every constraint on `var` by `pos` of it on its high branch and by
    /// `neg` of it on its low branch. The functions map a constraint to a diagram.
    pub fn replace_constraints(
        &mut self,
        f: Node,
        var: Var,
        mut pos: impl FnMut(&mut Ldd, &Cut) -> Outcome,
        mut neg: impl FnMut(&mut Ldd, &Cut) -> Outcome,
    ) -> Outcome {
        let mut images = FxHashMap::default();
        for label in self.labels_in(f, var) {
            let cut = self.cut(label).clone();
            images.insert(label.0, (pos(self, &cut)?, neg(self, &cut)?));
        }
        let instance = self.k.fresh_instance();
        run(&mut self.k, &mut Replace { var, images, instance }, f)
    }

    /// Renames variables, all at once: afterwards `to` has the value that `from` had, for each pair
    /// `(from, to)` of one kind. A source that is no target becomes free, a target that is no source
    /// loses its old value. Sources are distinct, and so are targets.
    pub fn rename(&mut self, f: Node, map: &[(Var, Var)]) -> Outcome {
        let lost: Vec<Var> =
            map.iter().map(|p| p.1).filter(|to| map.iter().all(|(from, _)| from != to)).collect();
        let f = self.exists(f, &lost)?;
        let mut labels = FxHashMap::default();
        for &(from, to) in map {
            for label in self.labels_in(f, from) {
                let cut = self.cut(label).clone();
                labels.insert(label.0, self.label(to, cut));
            }
        }
        let Some(last) = map.iter().map(|p| self.k.var_level(p.0)).max() else { return Ok(f) };
        let instance = self.k.fresh_instance();
        run(&mut self.k, &mut Rename { labels, last, instance }, f)
    }

    /// The image of `f` under `var := var + by`; `by` must be an integer when `var` is one.
    pub(super) fn shift(&mut self, f: Node, var: Var, by: &Rat) -> Outcome {
        let mut moved = FxHashMap::default();
        for label in self.labels_in(f, var) {
            let cut = self.cut(label);
            let cut = Cut { k: &cut.k + by, closed: cut.closed };
            moved.insert(label.0, self.label(var, cut));
        }
        let instance = self.k.fresh_instance();
        let level = self.k.var_level(var);
        run(&mut self.k, &mut Shift { level, moved, instance }, f)
    }
}
