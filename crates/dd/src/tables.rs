//! The two hash tables of a kernel: the unique table, which makes nodes canonical, and the
//! operation cache, which makes operations linear.

use crate::node::{Cell, Node};

/// Mixes the three fields of a cell; the low half of the product is weak, so the high half is
/// folded into it.
#[inline]
pub(crate) fn hash_cell(c: Cell) -> u32 {
    let children = u64::from(c.high.0) | (u64::from(c.low.0) << 32);
    fold(children, u64::from(c.label.0))
}

#[inline]
fn fold(a: u64, b: u64) -> u32 {
    let m = (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (m >> 32) as u32 ^ (m as u32).rotate_left(11)
}

/// An open-addressing table of node identifiers. Each slot holds the identifier in its low half and
/// the hash in its high half, so that growing never touches the nodes and most probes neither.
pub(crate) struct UniqueTable {
    slots: Vec<u64>,
    used: usize,
}

/// Empty slot; identifier 0 is a terminal made by hand and never looked up.
const EMPTY: u64 = 0;

impl UniqueTable {
    pub(crate) fn new() -> Self {
        UniqueTable { slots: vec![EMPTY; 1 << 10], used: 0 }
    }

    /// The node stored for `cell`, or the place where it belongs.
    #[inline]
    pub(crate) fn find(&self, cells: &[Cell], cell: Cell, hash: u32) -> Result<Node, usize> {
        let mask = self.slots.len() - 1;
        let mut i = hash as usize & mask;
        loop {
            let slot = self.slots[i];
            if slot == EMPTY {
                return Err(i);
            }
            let id = slot as u32;
            if (slot >> 32) as u32 == hash && cells[id as usize] == cell {
                return Ok(Node(id));
            }
            i = (i + 1) & mask;
        }
    }

    /// Fills the empty place that `find` returned.
    #[inline]
    pub(crate) fn fill(&mut self, place: usize, node: Node, hash: u32) {
        self.slots[place] = (u64::from(hash) << 32) | u64::from(node.0);
        self.used += 1;
        if self.used * 3 > self.slots.len() * 2 {
            self.grow();
        }
    }

    /// Stores `node`, of which the table holds no equal.
    pub(crate) fn insert(&mut self, node: Node, hash: u32) {
        let mask = self.slots.len() - 1;
        let mut i = hash as usize & mask;
        while self.slots[i] != EMPTY {
            i = (i + 1) & mask;
        }
        self.fill(i, node, hash);
    }

    /// Removes `node`, closing the gap that probing would otherwise stop at.
    pub(crate) fn remove(&mut self, node: Node, hash: u32) {
        let mask = self.slots.len() - 1;
        let mut i = hash as usize & mask;
        while self.slots[i] as u32 != node.0 {
            if self.slots[i] == EMPTY {
                return;
            }
            i = (i + 1) & mask;
        }
        self.used -= 1;
        let mut gap = i;
        loop {
            i = (i + 1) & mask;
            let slot = self.slots[i];
            if slot == EMPTY {
                break;
            }
            let home = (slot >> 32) as usize & mask;
            // The entry may move back only if its home does not lie strictly between gap and i.
            if (i.wrapping_sub(home) & mask) >= (i.wrapping_sub(gap) & mask) {
                self.slots[gap] = slot;
                gap = i;
            }
        }
        self.slots[gap] = EMPTY;
    }

    /// Keeps the nodes that `live` accepts.
    pub(crate) fn retain(&mut self, live: impl Fn(Node) -> bool) {
        let old = std::mem::take(&mut self.slots);
        let kept: Vec<u64> = old.into_iter().filter(|&s| s != EMPTY && live(Node(s as u32))).collect();
        let size = (kept.len() * 2).next_power_of_two().max(1 << 10);
        self.slots = vec![EMPTY; size];
        self.used = kept.len();
        self.place(kept);
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; size]);
        self.place(old);
    }

    fn place(&mut self, slots: Vec<u64>) {
        let mask = self.slots.len() - 1;
        for slot in slots {
            if slot != EMPTY {
                let mut i = (slot >> 32) as usize & mask;
                while self.slots[i] != EMPTY {
                    i = (i + 1) & mask;
                }
                self.slots[i] = slot;
            }
        }
    }
}

/// One remembered result.
#[derive(Clone, Copy)]
struct Entry {
    /// The operation in the top [`OP_BITS`] bits, the first operand in the rest.
    first: u32,
    second: u32,
    third: u32,
    result: u32,
}

/// Bits of an entry that name the operation; the others bound the node identifiers.
const OP_BITS: u32 = 5;

/// No kernel holds more nodes than this.
pub(crate) const MAX_NODES: usize = 1 << (u32::BITS - OP_BITS);

/// Code 0 stands for no operation, so an all-zero entry matches nothing.
const VACANT: Entry = Entry { first: 0, second: 0, third: 0, result: 0 };

const MIN_CACHE: usize = 1 << 12;
const MAX_CACHE: usize = 1 << 22;

/// Operations that the cache distinguishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum OpCode {
    And = 1,
    Or,
    Xor,
    Diff,
    Leq,
    Not,
    Ite,
    Exists,
    Forall,
    AndExists,
    Restrict,
    Compose,
    Terminal1,
    Terminal2,
    Cofactor,
    Image,
    Replace,
    Widen,
}

impl OpCode {
    /// How many of an entry's operands are nodes, for operations whose results mean the same after a
    /// collection; `None` for those that depend on what a single call was given.
    fn node_operands(code: u32) -> Option<usize> {
        const ONE: [OpCode; 3] = [OpCode::Not, OpCode::Exists, OpCode::Forall];
        const TWO: [OpCode; 7] = [
            OpCode::And,
            OpCode::Or,
            OpCode::Xor,
            OpCode::Diff,
            OpCode::Leq,
            OpCode::AndExists,
            OpCode::Widen,
        ];
        let is = |ops: &[OpCode]| ops.iter().any(|&op| op as u32 == code);
        if is(&ONE) {
            Some(1)
        } else if is(&TWO) {
            Some(2)
        } else {
            is(&[OpCode::Ite]).then_some(3)
        }
    }
}

/// The operation cache: direct-mapped and lossy, so a lookup costs one memory access and the size
/// stays bounded.
pub(crate) struct Cache {
    entries: Vec<Entry>,
}

impl Cache {
    pub(crate) fn new() -> Self {
        Cache { entries: vec![VACANT; MIN_CACHE] }
    }

    #[inline]
    fn slot(&self, first: u32, second: u32, third: u32) -> usize {
        let h = fold(u64::from(first) | (u64::from(second) << 32), u64::from(third));
        h as usize & (self.entries.len() - 1)
    }

    #[inline]
    pub(crate) fn get(&self, op: OpCode, f: Node, g: u32, h: u32) -> Option<Node> {
        let first = ((op as u32) << (32 - OP_BITS)) | f.0;
        let e = &self.entries[self.slot(first, g, h)];
        (e.first == first && e.second == g && e.third == h).then_some(Node(e.result))
    }

    #[inline]
    pub(crate) fn put(&mut self, op: OpCode, f: Node, g: u32, h: u32, result: Node) {
        let first = ((op as u32) << (32 - OP_BITS)) | f.0;
        let slot = self.slot(first, g, h);
        self.entries[slot] = Entry { first, second: g, third: h, result: result.0 };
    }

    /// Grows with the number of nodes, keeping what is remembered.
    pub(crate) fn fit(&mut self, nodes: usize) {
        if nodes <= self.entries.len() || self.entries.len() >= MAX_CACHE {
            return;
        }
        let size = (nodes * 2).next_power_of_two().min(MAX_CACHE);
        let old = std::mem::replace(&mut self.entries, vec![VACANT; size]);
        for e in old {
            if e.first != 0 {
                let slot = self.slot(e.first, e.second, e.third);
                self.entries[slot] = e;
            }
        }
    }

    /// Forgets the results in which a node occurs that is not live, and those of single calls.
    pub(crate) fn retain(&mut self, live: impl Fn(u32) -> bool) {
        for e in &mut self.entries {
            let kept = OpCode::node_operands(e.first >> (32 - OP_BITS)).is_some_and(|n| {
                live(e.first & (MAX_NODES as u32 - 1))
                    && (n < 2 || live(e.second))
                    && (n < 3 || live(e.third))
                    && live(e.result)
            });
            if !kept {
                *e = VACANT;
            }
        }
    }

    /// Forgets everything, and shrinks to what `nodes` live nodes need.
    pub(crate) fn clear(&mut self, nodes: usize) {
        let size = (nodes * 2).next_power_of_two().clamp(MIN_CACHE, MAX_CACHE);
        self.entries.clear();
        self.entries.resize(size, VACANT);
        self.entries.shrink_to(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Label;

    #[test]
    fn removal_keeps_every_other_entry_reachable() {
        // Few distinct hashes force long probe runs across each other.
        let mut table = UniqueTable::new();
        let mut cells = vec![Cell { label: Label(0), high: Node(0), low: Node(0) }];
        let hash = |i: u32| (i % 7) * 3 + 1020;
        for i in 1..400u32 {
            let cell = Cell { label: Label(i), high: Node(i), low: Node(0) };
            cells.push(cell);
            table.insert(Node(i), hash(i));
        }
        for gone in (1..400).step_by(3) {
            table.remove(Node(gone), hash(gone));
        }
        for i in 1..400u32 {
            let found = table.find(&cells, cells[i as usize], hash(i)).ok();
            assert_eq!(found, (i % 3 != 1).then_some(Node(i)));
        }
    }
}
