//! Splitting a set into independent factors.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Ldd;
use crate::kernel::Outcome;
use crate::node::{Label, Node, Var};

/// A set as a product; see [`Ldd::split`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// What is left: no variable of it is independent of the others.
    pub core: Node,
    /// The independent variables with their sets of values, from top to bottom.
    pub alone: Vec<(Var, Node)>,
}

/// What the chains of one variable have in common.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// All chains so far admit the same values, and then go on in one way.
    Same(Node),
    /// They do not.
    Mixed,
}

impl Ldd {
    /// Writes `f` as the product of the sets of all variables that are independent of the others, and
    /// the rest. Both are unique.
    ///
    /// A variable is independent when every path tests it, always with the same outcome: its chains
    /// have one shape, and the parts of a chain that are not empty go on with the same diagram.
    pub fn split(&mut self, f: Node) -> Outcome<Factors> {
        if f.is_constant() {
            return Ok(Factors { core: f, alone: Vec::new() });
        }
        let mut shapes: FxHashMap<u32, Shape> = FxHashMap::default();
        // Edges that pass levels by, as the first and the last level passed.
        let mut passing: Vec<(u32, u32)> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut heads = vec![f];
        passing.push((0, self.k.level(f)));
        while let Some(head) = heads.pop() {
            let level = self.k.level(head);
            let shape = self.shape(head, |n| {
                let to = self.k.level(n);
                if to > level + 1 {
                    passing.push((level + 1, to));
                }
                if !n.is_constant() && seen.insert(n) {
                    heads.push(n);
                }
            });
            let shape = match shape {
                Some(parts) => Shape::Same(self.chain_of(&parts)?),
                None => Shape::Mixed,
            };
            let common = shapes.entry(level).or_insert(shape);
            if *common != shape {
                *common = Shape::Mixed;
            }
        }
        let mut levels: Vec<(u32, Node)> = Vec::new();
        for (&level, &shape) in &shapes {
            if let Shape::Same(node) = shape {
                levels.push((level, node));
            }
        }
        levels.sort_unstable();
        let mut passed = vec![0i64; levels.len() + 1];
        for (from, to) in passing {
            passed[levels.partition_point(|l| l.0 < from)] += 1;
            passed[levels.partition_point(|l| l.0 < to)] -= 1;
        }
        let mut open = 0;
        let mut alone = Vec::new();
        for (&(level, node), d) in levels.iter().zip(&passed) {
            open += d;
            if open == 0 {
                alone.push((self.k.order()[level as usize], node));
            }
        }
        let vars: Vec<Var> = alone.iter().map(|a| a.0).collect();
        Ok(Factors { core: self.exists(f, &vars)?, alone })
    }

    /// The partitions of the chain from `head`, each with whether it is empty (the last without a label);
    /// `None` if those that are not empty differ. Calls `enter` with what follows each part.
    fn shape(&self, head: Node, mut enter: impl FnMut(Node)) -> Option<Vec<(Option<Label>, bool)>> {
        let mut next = None;
        let mut same = true;
        let mut parts = Vec::new();
        for (_, hi, part) in self.partitions(head) {
            parts.push((hi, part != Node::FALSE));
            if part != Node::FALSE {
                enter(part);
                same &= *next.get_or_insert(part) == part;
            }
        }
        same.then_some(parts)
    }

    /// The set of values of one variable with these partitions.
    fn chain_of(&mut self, parts: &[(Option<Label>, bool)]) -> Outcome {
        let mut n = Node::FALSE;
        for &(hi, full) in parts.iter().rev() {
            let value = if full { Node::TRUE } else { Node::FALSE };
            n = match hi {
                Some(label) => self.k.mk(label, value, n)?,
                None => value,
            };
        }
        Ok(n)
    }
}
