//! Boxes of a diagram: its 1-paths, their hull and join (BOXES, Figure 4), bounds.

use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

use super::widen::next_thresholds;
use super::{Interval, Ldd};
use crate::kernel::{Kernel, Outcome};
use crate::node::{Label, Node, Var};

/// A box as the intervals of its bounded variables, from top to bottom.
pub type BoxPath = Vec<(Var, Interval)>;

/// The bounds of one variable of a box as labels, `TERMINAL` for none.
#[derive(Clone, Copy)]
struct Side {
    level: u32,
    lo: Label,
    hi: Label,
}

impl Kernel<true> {
    /// The sides of `f`, which must be a single box, from top to bottom.
    fn sides(&self, f: Node) -> Vec<Side> {
        let mut sides: Vec<Side> = Vec::new();
        let mut n = f;
        while !n.is_constant() {
            let c = self.cell(n);
            let level = self.label_level(c.label);
            if sides.last().is_none_or(|s| s.level != level) {
                sides.push(Side { level, lo: Label::TERMINAL, hi: Label::TERMINAL });
            }
            // Just pushed if there was none.
            let Some(side) = sides.last_mut() else { break };
            if c.high == Node::FALSE {
                side.lo = c.label;
                n = c.low;
            } else {
                side.hi = c.label;
                n = c.high;
            }
        }
        sides
    }

    /// The box with the given sides.
    fn box_of(&mut self, sides: &[Side]) -> Outcome {
        let mut n = Node::TRUE;
        for side in sides.iter().rev() {
            if side.hi != Label::TERMINAL {
                n = self.mk(side.hi, n, Node::FALSE)?;
            }
            if side.lo != Label::TERMINAL {
                n = self.mk(side.lo, Node::FALSE, n)?;
            }
        }
        Ok(n)
    }

    /// BOXHULL: the least box around `f`, as sides from top to bottom. The recursion of Figure 4 joins
    /// boxes at every node; this looks at each node once. A variable is bounded if no edge passes its
    /// level by, since every node but **0** lies on a path to **1**.
    fn hull_sides(&self, f: Node) -> Vec<Side> {
        let levels = self.var_count();
        let unbounded = Side { level: 0, lo: Label::TERMINAL, hi: Label::TERMINAL };
        let mut sides: Vec<Option<Side>> = vec![None; levels];
        // Edges that pass a level by, as differences from one level to the next.
        let mut passing = vec![0i64; levels + 1];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut heads = Vec::new();
        let mut enter = |heads: &mut Vec<Node>, from: usize, n: Node| {
            let to = (self.level(n) as usize).min(levels);
            passing[from] += 1;
            passing[to] -= 1;
            if !n.is_constant() && seen.insert(n) {
                heads.push(n);
            }
        };
        enter(&mut heads, 0, f);
        while let Some(head) = heads.pop() {
            let level = self.level(head);
            let mut own: Option<Side> = None;
            let (mut lo, mut n) = (Label::TERMINAL, head);
            loop {
                // The partition from lo to hi, and what follows it.
                let c = self.cell(n);
                let inside = self.label_level(c.label) == level;
                let (hi, part) = if inside { (c.label, c.high) } else { (Label::TERMINAL, n) };
                if part != Node::FALSE {
                    enter(&mut heads, level as usize + 1, part);
                    own.get_or_insert(Side { level, lo, hi }).hi = hi;
                }
                if !inside {
                    break;
                }
                (lo, n) = (hi, c.low);
            }
            let (side, own) = (&mut sides[level as usize], own.unwrap_or(unbounded));
            *side = Some(match side {
                Some(s) => self.join_sides(s, &own),
                None => own,
            });
        }
        let mut open = 0;
        let bounded = passing.iter().map(|d| {
            open += d;
            open == 0
        });
        let sides = sides.into_iter().zip(bounded).filter_map(|(s, bounded)| s.filter(|_| bounded));
        sides.filter(|s| s.lo != Label::TERMINAL || s.hi != Label::TERMINAL).collect()
    }

    /// The least interval around two intervals of one variable.
    fn join_sides(&self, s: &Side, t: &Side) -> Side {
        let lo = if t.lo == Label::TERMINAL || self.rank(s.lo) > self.rank(t.lo) { t.lo } else { s.lo };
        let lo = if s.lo == Label::TERMINAL { s.lo } else { lo };
        // The terminal label has the greatest rank, so "no upper bound" wins by itself.
        let hi = if self.rank(s.hi) > self.rank(t.hi) { s.hi } else { t.hi };
        Side { level: s.level, lo, hi }
    }

    /// BOXJOIN: the least box around two boxes. A side remains where both have one.
    fn box_join(&mut self, f: Node, g: Node) -> Outcome {
        if f == g || g == Node::FALSE || f == Node::TRUE {
            return Ok(f);
        }
        if f == Node::FALSE || g == Node::TRUE {
            return Ok(g);
        }
        let (a, b) = (self.sides(f), self.sides(g));
        let mut joined = Vec::with_capacity(a.len().min(b.len()));
        let mut b = b.into_iter().peekable();
        for s in a {
            while b.next_if(|t| t.level < s.level).is_some() {}
            if let Some(t) = b.next_if(|t| t.level == s.level) {
                joined.push(self.join_sides(&s, &t));
            }
        }
        self.box_of(&joined)
    }
}

/// Iterator over the boxes of a diagram; see [`Ldd::boxes`].
pub struct Boxes<'a> {
    ldd: &'a Ldd,
    /// The decisions so far with the side taken and the low child.
    path: Vec<(Label, bool, Node)>,
    next: Option<Node>,
}

impl Iterator for Boxes<'_> {
    type Item = BoxPath;

    fn next(&mut self) -> Option<BoxPath> {
        loop {
            let mut n = match self.next.take() {
                Some(n) => n,
                // Back up to the last decision whose low side was not visited.
                None => loop {
                    let (label, positive, low) = self.path.pop()?;
                    if positive {
                        self.path.push((label, false, low));
                        break low;
                    }
                },
            };
            while !n.is_constant() {
                let c = self.ldd.k.cell(n);
                // An empty high side is never entered.
                let positive = c.high != Node::FALSE;
                self.path.push((c.label, positive, c.low));
                n = if positive { c.high } else { c.low };
            }
            if n == Node::TRUE {
                return Some(self.current());
            }
        }
    }
}

impl Boxes<'_> {
    fn current(&self) -> BoxPath {
        let mut sides: Vec<(Var, Option<Label>, Option<Label>)> = Vec::new();
        for &(label, positive, _) in &self.path {
            let var = self.ldd.k.label_var(label);
            if sides.last().is_none_or(|s| s.0 != var) {
                sides.push((var, None, None));
            }
            if let Some(side) = sides.last_mut() {
                // Later decisions on a variable are weaker bounds: the last negated one is the lower.
                *(if positive { &mut side.2 } else { &mut side.1 }) = Some(label);
            }
        }
        sides.into_iter().map(|(v, lo, hi)| (v, self.ldd.between(v, lo, hi))).collect()
    }
}

impl Ldd {
    /// BOXHULL: the least box that contains `f`.
    pub fn hull(&mut self, f: Node) -> Outcome {
        if f.is_constant() {
            return Ok(f);
        }
        let sides = self.k.hull_sides(f);
        self.k.box_of(&sides)
    }

    /// The sides of the hull, without making it; nothing for the empty set.
    pub fn hull_sides(&self, f: Node) -> BoxPath {
        if f.is_constant() { Vec::new() } else { self.named(self.k.hull_sides(f)) }
    }

    fn named(&self, sides: Vec<Side>) -> BoxPath {
        let order = self.k.order();
        let label = |l: Label| (l != Label::TERMINAL).then_some(l);
        let sides = sides.into_iter().map(|s| (order[s.level as usize], label(s.lo), label(s.hi)));
        sides.map(|(v, lo, hi)| (v, self.between(v, lo, hi))).collect()
    }

    /// BOXJOIN: the least box that contains two boxes. Diagrams that are no boxes count as their hulls.
    pub fn box_join(&mut self, f: Node, g: Node) -> Outcome {
        let f = if self.is_box(f) { f } else { self.hull(f)? };
        let g = if self.is_box(g) { g } else { self.hull(g)? };
        self.k.box_join(f, g)
    }

    /// The standard widening of BOX for the boxes `f` and `g`: a bound that grows goes to the next of
    /// `thresholds` (sorted), or to infinity.
    pub fn box_widen(&mut self, f: Node, g: Node, thresholds: &[Rat]) -> Outcome {
        if f == Node::FALSE {
            return Ok(g);
        }
        let g = self.box_join(f, g)?;
        let (old, new) = (self.box_sides(f), self.box_sides(g));
        let mut old = old.into_iter().peekable();
        let mut sides = Vec::with_capacity(new.len());
        for (v, side) in new {
            // The join bounds no variable that f leaves free, so f has a side for v further on.
            while old.next_if(|(w, _)| *w != v).is_some() {}
            let Some((_, before)) = old.next() else { break };
            let next = next_thresholds(&side, thresholds);
            let lo = if side.lo == before.lo { side.lo } else { next.lo };
            let hi = if side.hi == before.hi { side.hi } else { next.hi };
            sides.push((v, Interval { lo, hi }));
        }
        self.product(&sides)
    }

    /// The intervals of the bounded variables of a box, from top to bottom.
    pub fn box_sides(&self, f: Node) -> BoxPath {
        self.named(self.k.sides(f))
    }

    /// Whether `f` is a single box, or empty.
    pub fn is_box(&self, f: Node) -> bool {
        let mut n = f;
        while !n.is_constant() {
            let c = self.k.cell(n);
            n = match (c.high, c.low) {
                (Node::FALSE, low) => low,
                (high, Node::FALSE) => high,
                _ => return false,
            };
        }
        true
    }

    /// The boxes of `f`: its paths to **1**. They are disjoint and their union is `f`. There can be
    /// exponentially many in the number of variables; see [`Ldd::box_count`].
    pub fn boxes(&self, f: Node) -> Boxes<'_> {
        Boxes { ldd: self, path: Vec::new(), next: Some(f) }
    }

    /// The number of boxes of `f`.
    pub fn box_count(&self, f: Node) -> Int {
        let mut counts: FxHashMap<Node, Int> = FxHashMap::default();
        counts.insert(Node::FALSE, Int::from(0));
        counts.insert(Node::TRUE, Int::from(1));
        for n in self.bottom_up(f, u32::MAX) {
            let c = self.k.cell(n);
            let sum = &counts[&c.high] + &counts[&c.low];
            counts.insert(n, sum);
        }
        counts[&f].clone()
    }

    /// The decision nodes of `f` at or above `last`, children before parents.
    fn bottom_up(&self, f: Node, last: u32) -> Vec<Node> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut nodes = Vec::new();
        let mut stack = vec![f];
        while let Some(n) = stack.pop() {
            let c = self.k.cell(n);
            if c.label != Label::TERMINAL && self.k.label_level(c.label) <= last && seen.insert(n) {
                nodes.push(n);
                stack.extend([c.high, c.low]);
            }
        }
        nodes.sort_unstable_by_key(|&n| (std::cmp::Reverse(self.k.rank(self.k.cell(n).label)), n));
        nodes
    }

    /// The partitions of the variable at the top of `f`: lower label, upper label, diagram.
    pub(crate) fn partitions(&self, f: Node) -> Vec<(Option<Label>, Option<Label>, Node)> {
        let level = self.k.level(f);
        let (mut parts, mut lo, mut n) = (Vec::new(), None, f);
        while !n.is_constant() && self.k.level(n) == level {
            let c = self.k.cell(n);
            parts.push((lo, Some(c.label), c.high));
            lo = Some(c.label);
            n = c.low;
        }
        parts.push((lo, None, n));
        parts
    }

    /// The least interval that contains the values of `x` in `f`; `None` if `f` is empty.
    pub fn bounds(&self, f: Node, x: Var) -> Option<Interval> {
        if f == Node::FALSE {
            return None;
        }
        let level = self.k.var_level(x);
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![f];
        let mut range: Option<Interval> = None;
        while let Some(mut n) = stack.pop() {
            // Down to the level of x; only where paths part does anything need to be remembered.
            while self.k.level(n) < level {
                let c = self.k.cell(n);
                n = match (c.high, c.low) {
                    (Node::FALSE, only) | (only, Node::FALSE) => only,
                    (high, low) => {
                        if !seen.insert(n) {
                            n = Node::FALSE;
                            break;
                        }
                        stack.push(low);
                        high
                    }
                };
            }
            if n == Node::FALSE {
                continue;
            }
            if self.k.level(n) > level {
                return Some(Interval::TOP);
            }
            if !seen.insert(n) {
                continue;
            }
            let mut parts = self.partitions(n);
            parts.retain(|p| p.2 != Node::FALSE);
            if let (Some(first), Some(last)) = (parts.first(), parts.last()) {
                let side = self.between(x, first.0, last.1);
                range = Some(range.map_or(side.clone(), |r| r.hull(&side)));
            }
        }
        range
    }

    /// The least interval that contains `Σ aᵢ·xᵢ` over all boxes of `f`; `None` if `f` is empty. The
    /// sum separates along paths, so this takes one pass over the nodes, not over the paths.
    pub fn range(&self, f: Node, terms: &[(Rat, Var)]) -> Outcome<Option<Interval>> {
        if f == Node::FALSE {
            return Ok(None);
        }
        let mut by_var: FxHashMap<Var, Rat> = FxHashMap::default();
        for (a, v) in terms {
            *by_var.entry(*v).or_insert_with(|| Rat::from(Int::from(0))) += a;
        }
        by_var.retain(|_, a| !a.is_zero());
        let mut read: Vec<u32> = by_var.keys().map(|&v| self.k.var_level(v)).collect();
        read.sort_unstable();
        let Some(&last) = read.last() else {
            return Ok(Some(Interval::point(Int::from(0))));
        };
        if let [(v, a)] = &by_var.iter().collect::<Vec<_>>()[..] {
            return Ok(self.bounds(f, **v).map(|side| side.scale(a)));
        }
        // A read variable that some path leaves out is unbounded there, and with it the sum.
        let skips = |from: u32, to: u32| {
            let first = read.partition_point(|&l| l < from);
            first < read.len() && read[first] < to
        };
        let mut sums: FxHashMap<Node, Interval> = FxHashMap::default();
        let sum_at = |sums: &FxHashMap<Node, Interval>, from: u32, n: Node| {
            let level = self.k.level(n);
            if skips(from, level) {
                Interval::TOP
            } else if level > last {
                Interval::point(Int::from(0))
            } else {
                sums[&n].clone()
            }
        };
        for n in self.bottom_up(f, last) {
            let var = self.k.label_var(self.k.cell(n).label);
            let level = self.k.level(n);
            let mut total: Option<Interval> = None;
            let mut add = |part: Interval| {
                total = Some(total.take().map_or(part.clone(), |t| t.hull(&part)));
            };
            match by_var.get(&var) {
                // Nodes inside a chain are sums of their own only if something else refers to them
                // as the start of a chain; computing them anyway is right, if sometimes for nothing.
                Some(a) => {
                    for (lo, hi, child) in self.partitions(n) {
                        if child != Node::FALSE {
                            let side = self.between(var, lo, hi).scale(a);
                            add(side.add(&sum_at(&sums, level + 1, child)));
                        }
                    }
                }
                None => {
                    let c = self.k.cell(n);
                    for child in [c.high, c.low] {
                        if child != Node::FALSE {
                            add(sum_at(&sums, level + 1, child));
                        }
                    }
                }
            }
            // A node other than 0 has a partition that is not empty.
            sums.insert(n, total.unwrap_or(Interval::TOP));
        }
        self.k.check()?;
        Ok(Some(sum_at(&sums, 0, f)))
    }
}
