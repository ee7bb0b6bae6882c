//! Merging boxes that lie close together: a smaller diagram around a set.
//!
//! BOXES does not bound the number of disjuncts (section 5), so diagrams can outgrow any memory. What then
//! gives way is the partition of single variables: a cut that is left out joins the two partitions beside
//! it wherever they occur, that is all pairs of boxes that only this cut keeps apart.

use std::cmp::Reverse;

use palisade_num::Rat;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Ldd;
use crate::kernel::{Kernel, Outcome};
use crate::node::{Label, Node, Var};
use crate::run::{Operation, Step, run};
use crate::tables::OpCode;

/// Leaves out the cuts of one variable that are not kept.
struct Merge {
    level: u32,
    /// In order.
    kept: Vec<Label>,
    instance: u32,
}

impl Merge {
    /// The chain from `head` by classes between kept cuts, each with the union of the partitions that it
    /// meets.
    fn chain(&self, k: &mut Kernel<true>, head: Node) -> Outcome {
        let (mut classes, mut n) = (Vec::with_capacity(self.kept.len()), head);
        let mut kept = self.kept.iter().copied().peekable();
        let mut united = Node::FALSE;
        loop {
            let c = k.cell(n);
            let inside = k.label_level(c.label) == self.level;
            let (value, end) = if inside { (c.high, k.rank(c.label)) } else { (n, u64::MAX) };
            united = k.or(united, value)?;
            while let Some(cut) = kept.next_if(|&l| k.rank(l) <= end) {
                classes.push((cut, united));
                // The next class starts in this partition or with the next.
                united = if k.rank(cut) < end { value } else { Node::FALSE };
            }
            if !inside {
                break;
            }
            n = c.low;
        }
        classes.into_iter().rev().try_fold(united, |rest, (label, class)| k.mk(label, class, rest))
    }
}

impl Operation<Kernel<true>> for Merge {
    type Args = Node;

    fn enter(&mut self, k: &mut Kernel<true>, f: &mut Node) -> Outcome<Step<Node>> {
        let c = k.cell(*f);
        let level = k.label_level(c.label);
        if level > self.level {
            return Ok(Step::Done(*f));
        }
        if let Some(r) = k.cache.get(OpCode::Replace, *f, 0, self.instance) {
            return Ok(Step::Done(r));
        }
        if level == self.level {
            let r = self.chain(k, *f)?;
            self.remember(k, f, r);
            return Ok(Step::Done(r));
        }
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, k: &mut Kernel<true>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        k.mk(label, high, low)
    }

    fn remember(&mut self, k: &mut Kernel<true>, f: &Node, result: Node) {
        k.cache.put(OpCode::Replace, *f, 0, self.instance, result);
    }
}

impl Ldd {
    /// A set around `f` with at most `nodes` nodes (or those of a single box), within the hull of `f`.
    ///
    /// The variable with the most cuts loses half of them, first those that separate the least, until the
    /// diagram is small enough. So what has few values, such as a flag, is told apart longest.
    pub fn merge_boxes(&mut self, f: Node, nodes: usize) -> Outcome {
        let mut f = f;
        while self.size(f) > nodes {
            let mut cuts = self.cuts_in(f);
            cuts.sort_by_key(|(v, cuts)| (Reverse(cuts.len()), self.k.var_level(*v)));
            // Without a cut inside a hull the diagram is a box.
            let Some(most) = cuts.first().map(|(_, cuts)| cuts.len()) else { return Ok(f) };
            // Until one has half of its cuts, those that have more come before it again: the diagram need not be
            // looked through for the next.
            for (var, cuts) in cuts.into_iter().take_while(|(_, cuts)| 2 * cuts.len() > most) {
                let kept = if cuts.len() <= 2 { Vec::new() } else { self.widest(&cuts) };
                f = self.merge_partitions(f, var, &kept)?;
                if self.size_within(f, nodes) {
                    break;
                }
            }
        }
        Ok(f)
    }

    /// `f` with the cuts of `var` left out that are neither `kept` nor its bounds.
    fn merge_partitions(&mut self, f: Node, var: Var, kept: &[Label]) -> Outcome {
        let Some(bounds) = self.bounds(f, var) else { return Ok(f) };
        let mut kept = kept.to_vec();
        kept.sort_unstable_by_key(|&l| self.k.rank(l));
        let (level, instance) = (self.k.var_level(var), self.k.fresh_instance());
        let merged = run(&mut self.k, &mut Merge { level, kept, instance }, f)?;
        let side = self.interval(var, &bounds)?;
        self.and(merged, side)
    }

    /// The cuts of each variable that `f` tests strictly inside the hull of that variable, in order.
    fn cuts_in(&self, f: Node) -> Vec<(Var, Vec<Label>)> {
        let mut cuts: FxHashMap<Var, Vec<Label>> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        let mut stack = vec![f];
        while let Some(n) = stack.pop() {
            let c = self.k.cell(n);
            if c.label != Label::TERMINAL && seen.insert(n) {
                cuts.entry(self.k.label_var(c.label)).or_default().push(c.label);
                stack.extend([c.high, c.low]);
            }
        }
        let hull: FxHashMap<Var, super::Interval> = self.hull_sides(f).into_iter().collect();
        let mut cuts: Vec<(Var, Vec<Label>)> = cuts.into_iter().collect();
        cuts.sort_unstable_by_key(|(v, _)| *v);
        for (v, labels) in &mut cuts {
            labels.sort_unstable_by_key(|&l| self.k.rank(l));
            labels.dedup();
            if let Some(side) = hull.get(v) {
                let kind = self.kind(*v);
                let end = |c: &Option<super::Cut>| c.clone().map(|c| c.normalised(kind));
                let (lo, hi) = (end(&side.lo), end(&side.hi));
                labels.retain(|&l| Some(self.cut(l)) != lo.as_ref() && Some(self.cut(l)) != hi.as_ref());
            }
        }
        cuts.retain(|(_, labels)| !labels.is_empty());
        cuts
    }

    /// The half of the cuts, sorted, that have the most room on both sides; every other one of equals.
    fn widest(&self, cuts: &[Label]) -> Vec<Label> {
        let gaps: Vec<Rat> = cuts.windows(2).map(|w| &self.cut(w[1]).k - &self.cut(w[0]).k).collect();
        let room = |i: usize| -> Option<&Rat> {
            let before = i.checked_sub(1).and_then(|j| gaps.get(j));
            match (before, gaps.get(i)) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            }
        };
        let mut order: Vec<usize> = (0..cuts.len()).collect();
        order.sort_by(|&i, &j| room(j).cmp(&room(i)).then((i % 2 == 0).cmp(&(j % 2 == 0))));
        order.truncate(cuts.len() / 2);
        order.into_iter().map(|i| cuts[i]).collect()
    }
}
