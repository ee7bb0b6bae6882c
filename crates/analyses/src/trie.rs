//! Persistent maps from small numbers to small numbers, hash-consed.
//!
//! A map is a radix tree with eight branches a node; equal subtrees are one node, so a map is one
//! number, equality is comparison of numbers, a changed entry costs a node for each level, and
//! states that differ little share almost everything. Zero means "absent", and node 0 is the map
//! without entries, at every level.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

const BITS: u32 = 3;
const WIDTH: usize = 1 << BITS;
/// Marks entries, so that a node of entries never equals a node of nodes.
const ENTRY: u32 = 1 << 31;

/// A map in a [`Tries`] store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Map(pub u32);

impl Map {
    /// The map without entries.
    pub const EMPTY: Map = Map(0);
}

/// The set of entries a map has, as a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape(u32);

/// All maps over keys below a fixed bound.
#[derive(Debug)]
pub struct Tries {
    nodes: Vec<[u32; WIDTH]>,
    /// For each node the same tree with 1 for every entry.
    shapes: Vec<u32>,
    /// Open-addressed table of node numbers; 0 is a free place.
    table: Vec<u32>,
    /// Levels above the entries.
    levels: u32,
}

fn hash(node: &[u32; WIDTH]) -> u64 {
    let mut hasher = FxHasher::default();
    node.hash(&mut hasher);
    hasher.finish()
}

impl Tries {
    /// Maps whose keys are below `keys`.
    pub fn new(keys: usize) -> Self {
        let mut levels = 1;
        while keys > 1usize << (BITS * levels) {
            levels += 1;
        }
        Tries { nodes: vec![[0; WIDTH]], shapes: vec![0], table: vec![0; 1 << 10], levels }
    }

    /// Bytes that all maps together take.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<[u32; WIDTH]>()
            + (self.shapes.capacity() + self.table.capacity()) * size_of::<u32>()
    }

    /// The place of a node in the table, or the free place where it belongs.
    fn slot(&self, node: &[u32; WIDTH]) -> usize {
        let mask = self.table.len() - 1;
        let mut i = (hash(node) >> 20) as usize & mask;
        while self.table[i] != 0 && self.nodes[self.table[i] as usize] != *node {
            i = (i + 1) & mask;
        }
        i
    }

    /// The number of a node that exists already.
    fn find(&self, node: &[u32; WIDTH]) -> Option<u32> {
        if *node == [0; WIDTH] {
            return Some(0);
        }
        Some(self.table[self.slot(node)]).filter(|&id| id != 0)
    }

    fn intern(&mut self, node: [u32; WIDTH], leaf: bool) -> u32 {
        if node == [0; WIDTH] {
            return 0;
        }
        let place = self.slot(&node);
        if self.table[place] != 0 {
            return self.table[place];
        }
        let id = self.nodes.len() as u32;
        assert!(id < ENTRY, "more than 64 GB of nodes");
        self.nodes.push(node);
        self.shapes.push(id);
        self.table[place] = id;
        if self.nodes.len() * 3 > self.table.len() * 2 {
            self.grow();
        }
        let shape = if leaf {
            node.map(|v| if v == 0 { 0 } else { ENTRY | 1 })
        } else {
            node.map(|c| self.shapes[c as usize])
        };
        if shape != node {
            // A shape is its own shape, so this ends here.
            let s = self.intern(shape, leaf);
            self.shapes[id as usize] = s;
        }
        id
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 2];
        for id in 1..self.nodes.len() {
            let place = self.slot(&self.nodes[id]);
            self.table[place] = id as u32;
        }
    }

    /// The entry of a key.
    #[inline]
    pub fn get(&self, map: Map, key: u32) -> u32 {
        let mut at = map.0;
        for level in (0..self.levels).rev() {
            at = self.nodes[at as usize][(key >> (BITS * level)) as usize & (WIDTH - 1)];
        }
        at & !ENTRY
    }

    /// The map with another entry (below 2³¹) for a key; 0 removes it.
    pub fn set(&mut self, map: Map, key: u32, value: u32) -> Map {
        let value = if value == 0 { 0 } else { value | ENTRY };
        let mut path = [0u32; 11];
        let mut at = map.0;
        for level in (0..self.levels).rev() {
            path[level as usize] = at;
            at = self.nodes[at as usize][(key >> (BITS * level)) as usize & (WIDTH - 1)];
        }
        if at == value {
            return map;
        }
        let mut below = value;
        for level in 0..self.levels {
            let mut node = self.nodes[path[level as usize] as usize];
            node[(key >> (BITS * level)) as usize & (WIDTH - 1)] = below;
            below = self.intern(node, level == 0);
        }
        Map(below)
    }

    /// The map with only the entries whose keys lie in `lo..hi` (or only the others).
    pub fn restrict(&mut self, map: Map, lo: u32, hi: u32, inside: bool) -> Map {
        if lo >= hi {
            return if inside { Map::EMPTY } else { map };
        }
        Map(self.restrict_at(map.0, self.levels, 0, (u64::from(lo), u64::from(hi)), inside))
    }

    fn restrict_at(&mut self, id: u32, level: u32, base: u64, range: (u64, u64), inside: bool) -> u32 {
        let size = 1u64 << (BITS * level);
        let disjoint = range.1 <= base || base + size <= range.0;
        let within = range.0 <= base && base + size <= range.1;
        if id == 0 || disjoint || within {
            return if (within && inside) || (disjoint && !inside) { id } else { 0 };
        }
        let mut node = self.nodes[id as usize];
        for (i, child) in node.iter_mut().enumerate() {
            let at = base + ((i as u64) << (BITS * (level - 1)));
            *child = self.restrict_at(*child, level - 1, at, range, inside);
        }
        self.intern(node, level == 1)
    }

    /// The entries of both maps; those of `over` win.
    pub fn overlay(&mut self, map: Map, over: Map) -> Map {
        Map(self.overlay_at(map.0, over.0, self.levels))
    }

    fn overlay_at(&mut self, a: u32, b: u32, level: u32) -> u32 {
        if b == 0 || a == b {
            return a;
        }
        if a == 0 || level == 0 {
            return b;
        }
        let (mut node, over) = (self.nodes[a as usize], self.nodes[b as usize]);
        for (x, y) in node.iter_mut().zip(over) {
            *x = self.overlay_at(*x, y, level - 1);
        }
        self.intern(node, level == 1)
    }

    /// The entries that both maps have and agree on: the join of maps in which an absent entry
    /// means "any value".
    pub fn common(&mut self, a: Map, b: Map) -> Map {
        Map(self.common_at(a.0, b.0, self.levels))
    }

    fn common_at(&mut self, a: u32, b: u32, level: u32) -> u32 {
        if a == b {
            return a;
        }
        if a == 0 || b == 0 || level == 0 {
            return 0;
        }
        let (mut node, other) = (self.nodes[a as usize], self.nodes[b as usize]);
        for (x, y) in node.iter_mut().zip(other) {
            *x = self.common_at(*x, y, level - 1);
        }
        self.intern(node, level == 1)
    }

    /// Whether `a` has every entry of `b`.
    pub fn includes(&self, a: Map, b: Map) -> bool {
        self.includes_at(a.0, b.0, self.levels)
    }

    fn includes_at(&self, a: u32, b: u32, level: u32) -> bool {
        if a == b || b == 0 {
            return true;
        }
        if a == 0 || level == 0 {
            return false;
        }
        let (x, y) = (self.nodes[a as usize], self.nodes[b as usize]);
        (0..WIDTH).all(|i| self.includes_at(x[i], y[i], level - 1))
    }

    /// The set of entries a map has.
    pub fn shape(&self, map: Map) -> Shape {
        Shape(self.shapes[map.0 as usize])
    }

    /// The map with only the entries of a shape, if it has all of them and such a map was built
    /// before.
    pub fn project(&self, map: Map, shape: Shape) -> Option<Map> {
        self.project_at(map.0, shape.0, self.levels).map(Map)
    }

    fn project_at(&self, id: u32, shape: u32, level: u32) -> Option<u32> {
        if shape == 0 {
            return Some(0);
        }
        if level == 0 {
            return Some(id).filter(|&v| v != 0);
        }
        if self.shapes[id as usize] == shape {
            return Some(id);
        }
        let (mut node, shapes) = (self.nodes[id as usize], self.nodes[shape as usize]);
        for (x, s) in node.iter_mut().zip(shapes) {
            *x = self.project_at(*x, s, level - 1)?;
        }
        self.find(&node)
    }

    /// All entries with their keys, ascending.
    pub fn entries(&self, map: Map) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        self.entries_at(map.0, self.levels, 0, &mut out);
        out
    }

    fn entries_at(&self, id: u32, level: u32, base: u32, out: &mut Vec<(u32, u32)>) {
        if id == 0 {
            return;
        }
        if level == 0 {
            return out.push((base, id & !ENTRY));
        }
        for (i, child) in self.nodes[id as usize].iter().enumerate() {
            self.entries_at(*child, level - 1, base | (i as u32) << (BITS * (level - 1)), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    type Twin = BTreeMap<u32, u32>;

    struct Rng(u64);
    impl Rng {
        fn below(&mut self, n: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as u32 % n
        }
    }

    /// Random operations on tries and on ordered maps give the same.
    #[test]
    fn agrees_with_ordered_maps() {
        for keys in [1u32, 7, 8, 9, 64, 65, 300] {
            let mut tries = Tries::new(keys as usize);
            let mut rng = Rng(u64::from(keys));
            let mut pool: Vec<(Map, Twin)> = vec![(Map::EMPTY, Twin::new())];
            for _ in 0..3000 {
                let (a, x) = pool[rng.below(pool.len() as u32) as usize].clone();
                let (b, y) = pool[rng.below(pool.len() as u32) as usize].clone();
                let (m, t) = match rng.below(6) {
                    0 => {
                        let (mut lo, mut hi) = (rng.below(keys + 1), rng.below(keys + 1));
                        if lo > hi {
                            std::mem::swap(&mut lo, &mut hi);
                        }
                        let inside = rng.below(2) == 0;
                        let mut t = x.clone();
                        t.retain(|k, _| (lo..hi).contains(k) == inside);
                        (tries.restrict(a, lo, hi, inside), t)
                    }
                    1 => {
                        let mut t = x.clone();
                        t.extend(&y);
                        (tries.overlay(a, b), t)
                    }
                    2 => {
                        let mut t = x.clone();
                        t.retain(|k, v| y.get(k) == Some(v));
                        (tries.common(a, b), t)
                    }
                    _ => {
                        let (k, v) = (rng.below(keys), rng.below(4));
                        let mut t = x.clone();
                        if v == 0 {
                            t.remove(&k)
                        } else {
                            t.insert(k, v)
                        };
                        (tries.set(a, k, v), t)
                    }
                };
                assert_eq!(tries.entries(m), t.clone().into_iter().collect::<Vec<_>>());
                assert_eq!(m == a, t == x, "equal maps are equal numbers");
                assert_eq!(tries.shape(m) == tries.shape(a), t.keys().eq(x.keys()));
                assert_eq!(tries.includes(a, b), y.iter().all(|(k, v)| x.get(k) == Some(v)));
                let projected = y.keys().map(|k| x.get(k).map(|v| (*k, *v))).collect::<Option<Twin>>();
                match tries.project(a, tries.shape(b)) {
                    Some(p) => assert_eq!(Some(tries.entries(p)), projected.map(|t| t.into_iter().collect())),
                    None => assert!(projected.is_none_or(|p| pool.iter().all(|(_, t)| *t != p))),
                }
                assert!((0..keys).all(|k| tries.get(m, k) == t.get(&k).copied().unwrap_or(0)));
                if pool.len() < 100 {
                    pool.push((m, t));
                } else {
                    let i = rng.below(100) as usize;
                    pool[i] = (m, t);
                }
            }
        }
    }
}
