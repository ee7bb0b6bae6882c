//! And-inverter graphs with structural hashing and local two-level minimisation.
//!
//! The rules are those of Brummayer and Biere, *Local Two-Level And-Inverter Graph Minimization
//! without Blowup* (MEMICS 2006), as far as they never add a gate.

use crate::intern::{InternTable, mix};

/// A gate, an input or a constant, possibly complemented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Lit(u32);

impl Lit {
    pub(crate) const FALSE: Lit = Lit(0);
    pub(crate) const TRUE: Lit = Lit(1);

    fn new(node: u32, complemented: bool) -> Self {
        Lit(node << 1 | u32::from(complemented))
    }

    pub(crate) fn constant(value: bool) -> Self {
        Lit(u32::from(value))
    }

    /// The index of the gate, input or constant.
    pub(crate) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn is_complemented(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn is_const(self) -> bool {
        self.0 < 2
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What a node of the graph is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The constant false, node 0.
    Constant,
    /// A free input. Inputs of a group come with side conditions, see [`Aig::grouped_input`].
    Input { group: Option<u32> },
    /// The conjunction of two literals.
    And(Lit, Lit),
}

/// Marks inputs in the first field of a node; the second holds the group plus one, or zero.
const INPUT: u32 = u32::MAX;

/// The graph: 8 bytes a node.
pub(crate) struct Aig {
    nodes: Vec<(u32, u32)>,
    table: InternTable,
}

fn hash((a, b): (u32, u32)) -> u64 {
    mix(mix(0, u64::from(a)), u64::from(b))
}

impl Aig {
    pub(crate) fn new() -> Self {
        Aig { nodes: vec![(0, 0)], table: InternTable::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.nodes.capacity() * 8) as u64 + self.table.bytes()
    }

    pub(crate) fn kind(&self, node: usize) -> Kind {
        match self.nodes[node] {
            (INPUT, group) => Kind::Input { group: group.checked_sub(1) },
            _ if node == 0 => Kind::Constant,
            (a, b) => Kind::And(Lit(a), Lit(b)),
        }
    }

    fn push(&mut self, node: (u32, u32)) -> Lit {
        let index = self.nodes.len() as u32;
        assert!(index < 1 << 31, "the and-inverter graph is full");
        self.nodes.push(node);
        Lit::new(index, false)
    }

    pub(crate) fn input(&mut self) -> Lit {
        self.push((INPUT, 0))
    }

    /// An input that the side conditions of a group define.
    pub(crate) fn grouped_input(&mut self, group: u32) -> Lit {
        self.push((INPUT, group + 1))
    }

    /// The inputs of the gate under an uncomplemented literal.
    pub(crate) fn fanins(&self, l: Lit) -> Option<(Lit, Lit)> {
        match self.nodes[l.node()] {
            (INPUT, _) => None,
            _ if l.is_const() => None,
            (a, b) => Some((Lit(a), Lit(b))),
        }
    }

    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (mut a, mut b) = (a, b);
        // Each turn of the loop replaces an operand by one of its own operands.
        loop {
            if a > b {
                (a, b) = (b, a);
            }
            if a == b || a == Lit::TRUE {
                return b;
            }
            if a == Lit::FALSE || a == !b {
                return Lit::FALSE;
            }
            match self.two_level(a, b) {
                Some(Step::Done(l)) => return l,
                Some(Step::Again(x, y)) => (a, b) = (x, y),
                None => break,
            }
        }
        let node = (a.0, b.0);
        let hashed = hash(node);
        if let Some(found) = self.table.find(hashed, |i| self.nodes[i as usize] == node) {
            return Lit::new(found, false);
        }
        let l = self.push(node);
        let nodes = &self.nodes;
        self.table.insert(hashed, l.node() as u32, |i| hash(nodes[i as usize]));
        l
    }

    fn two_level(&self, a: Lit, b: Lit) -> Option<Step> {
        let (fa, fb) = (self.fanins(a), self.fanins(b));
        if let Some(step) = one_sided(a, fa, b).or_else(|| one_sided(b, fb, a)) {
            return Some(step);
        }
        let ((a0, a1), (b0, b1)) = (fa?, fb?);
        let meets = |f: &dyn Fn(Lit, Lit) -> bool| f(a0, b0) || f(a0, b1) || f(a1, b0) || f(a1, b1);
        match (a.is_complemented(), b.is_complemented()) {
            (false, false) => meets(&|x, y| x == !y).then_some(Step::Done(Lit::FALSE)),
            (true, false) => two_sided_mixed((a0, a1), b, (b0, b1)),
            (false, true) => two_sided_mixed((b0, b1), a, (a0, a1)),
            (true, true) => {
                // (x | y) & (x | !y) is x, here with complemented operands.
                for (x, y) in [(a0, a1), (a1, a0)] {
                    if (x == b0 && y == !b1) || (x == b1 && y == !b0) {
                        return Some(Step::Done(!x));
                    }
                }
                None
            }
        }
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let both = self.and(a, b);
        let none = self.and(!a, !b);
        self.and(!both, !none)
    }

    /// `c ? t : e`.
    pub(crate) fn mux(&mut self, c: Lit, t: Lit, e: Lit) -> Lit {
        if t == !e {
            return !self.xor(c, t);
        }
        let then = self.and(c, t);
        let other = self.and(!c, e);
        self.or(then, other)
    }

    /// At least two of three; shaped so that it shares gates with `xor(a, b)` and
    /// [`Aig::as_majority`] recognises it.
    pub(crate) fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let both = self.and(a, b);
        let none = self.and(!a, !b);
        let carried = self.and(c, !none);
        self.or(both, carried)
    }

    pub(crate) fn or_all(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        lits.into_iter().fold(Lit::FALSE, |acc, l| self.or(acc, l))
    }

    /// `(c, t, e)` if the node is `c ? t : e` built from three gates; exclusive or is the case
    /// `t = !e`.
    pub(crate) fn as_mux(&self, node: usize) -> Option<(Lit, Lit, Lit)> {
        let (x, y) = self.fanins(Lit::new(node as u32, false))?;
        if !x.is_complemented() || !y.is_complemented() {
            return None;
        }
        let ((x0, x1), (y0, y1)) = (self.fanins(x)?, self.fanins(y)?);
        for (c, t) in [(x0, x1), (x1, x0)] {
            for (d, e) in [(y0, y1), (y1, y0)] {
                if c == !d {
                    // !(c & t) & !(!c & e) is c ? !t : !e.
                    return Some((c, !t, !e));
                }
            }
        }
        None
    }

    /// `(a, b, c)` if the node is the complement of their majority as [`Aig::majority`] builds
    /// it.
    pub(crate) fn as_majority(&self, node: usize) -> Option<(Lit, Lit, Lit)> {
        let (x, y) = self.fanins(Lit::new(node as u32, false))?;
        if !x.is_complemented() || !y.is_complemented() {
            return None;
        }
        for (x, y) in [(x, y), (y, x)] {
            let ((a, b), (y0, y1)) = (self.fanins(x)?, self.fanins(y)?);
            for (c, none) in [(y0, y1), (y1, y0)] {
                if none.is_complemented()
                    && let Some((p, q)) = self.fanins(none)
                    && ((p == !a && q == !b) || (p == !b && q == !a))
                {
                    return Some((a, b, c));
                }
            }
        }
        None
    }
}

enum Step {
    Done(Lit),
    Again(Lit, Lit),
}

/// Rules that compare the operands of `a` with `b`.
fn one_sided(a: Lit, fanins: Option<(Lit, Lit)>, b: Lit) -> Option<Step> {
    let (x, y) = fanins?;
    if a.is_complemented() {
        if x == !b || y == !b {
            return Some(Step::Done(b));
        }
        if x == b {
            return Some(Step::Again(!y, b));
        }
        if y == b {
            return Some(Step::Again(!x, b));
        }
    } else {
        if x == !b || y == !b {
            return Some(Step::Done(Lit::FALSE));
        }
        if x == b || y == b {
            return Some(Step::Done(a));
        }
    }
    None
}

/// Rules for `!(x & y) & b` with `b = b0 & b1`.
fn two_sided_mixed((x, y): (Lit, Lit), b: Lit, (b0, b1): (Lit, Lit)) -> Option<Step> {
    if x == !b0 || x == !b1 || y == !b0 || y == !b1 {
        return Some(Step::Done(b));
    }
    if x == b0 || x == b1 {
        return Some(Step::Again(!y, b));
    }
    if y == b0 || y == b1 {
        return Some(Step::Again(!x, b));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random graphs over four inputs, each node with its truth table as the reference.
    #[test]
    fn every_gate_has_its_truth_table() {
        let mut seed = 7u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % n
        };
        for _ in 0..200 {
            let mut aig = Aig::new();
            let tables = [0xaaaau16, 0xcccc, 0xf0f0, 0xff00];
            let mut pool: Vec<(Lit, u16)> = tables.iter().map(|t| (aig.input(), *t)).collect();
            let mut by_node = vec![0u16; 5];
            for (l, t) in &pool {
                by_node[l.node()] = *t;
            }
            for _ in 0..60 {
                let mut pick = || {
                    let (l, t) = pool[random(pool.len())];
                    if random(2) == 0 { (l, t) } else { (!l, !t) }
                };
                let ((a, ta), (b, tb), (c, tc)) = (pick(), pick(), pick());
                let (l, t) = match random(5) {
                    0 | 1 => (aig.and(a, b), ta & tb),
                    2 => (aig.xor(a, b), ta ^ tb),
                    3 => (aig.mux(a, b, c), ta & tb | !ta & tc),
                    _ => (aig.majority(a, b, c), ta & tb | tc & (ta | tb)),
                };
                pool.push((l, t));
                for node in by_node.len()..aig.len() {
                    let table = |l: Lit| by_node[l.node()] ^ if l.is_complemented() { 0xffff } else { 0 };
                    let (x, y) = aig.fanins(Lit::new(node as u32, false)).expect("only gates were added");
                    by_node.push(table(x) & table(y));
                }
                let table = |l: Lit| by_node[l.node()] ^ if l.is_complemented() { 0xffff } else { 0 };
                assert_eq!(table(l), t);
                if let Some((c, t, e)) = aig.as_mux(l.node()) {
                    let (c, t, e) = (table(c), table(t), table(e));
                    assert_eq!(by_node[l.node()], c & t | !c & e);
                }
                if let Some((a, b, c)) = aig.as_majority(l.node()) {
                    let (a, b, c) = (table(a), table(b), table(c));
                    assert_eq!(by_node[l.node()], !(a & b | c & (a | b)));
                }
            }
        }
    }
}
