//! A hash table of indices into an arena, the memory-lean half of hash-consing.
//!
//! The arena keeps the nodes; the table keeps only their indices, 4 bytes each.

/// Open addressing with linear probing over `u32` indices; `EMPTY` marks a free slot.
#[derive(Clone, Debug)]
pub(crate) struct InternTable {
    slots: Vec<u32>,
    len: usize,
}

const EMPTY: u32 = u32::MAX;

/// Mixes one word into a hash; a multiply and a rotation, as in FxHash, finished by [`finish`].
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Spreads the high bits, which are the good ones after multiplications, over the low ones.
fn finish(hash: u64) -> usize {
    (hash ^ hash >> 32) as usize
}

impl InternTable {
    pub(crate) fn new() -> Self {
        InternTable { slots: vec![EMPTY; 64], len: 0 }
    }

    /// The index with this hash for which `same` holds.
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = finish(hash) & mask;
        loop {
            match self.slots[at] {
                EMPTY => return None,
                index if same(index) => return Some(index),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds an index that [`InternTable::find`] did not find; `hash_of` gives the hash of any
    /// index in the table, for growing.
    pub(crate) fn insert(&mut self, hash: u64, index: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![EMPTY; old.len() * 2];
            for i in old.into_iter().filter(|i| *i != EMPTY) {
                self.place(hash_of(i), i);
            }
        }
        self.place(hash, index);
        self.len += 1;
    }

    fn place(&mut self, hash: u64, index: u32) {
        let mask = self.slots.len() - 1;
        let mut at = finish(hash) & mask;
        while self.slots[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.slots[at] = index;
    }

    /// Bytes held by the table.
    pub(crate) fn bytes(&self) -> u64 {
        (self.slots.capacity() * 4) as u64
    }
}
