//! A persistent map from dimensions, for the non-relational domains.
//!
//! A big-endian Patricia tree (Okasaki & Gill, "Fast mergeable integer maps", 1998) of shared nodes:
//! a copy costs one reference count, an update copies one path, and merging two maps that come
//! from a common ancestor only visits where they differ.

use crate::dim::Dim;
use std::sync::Arc;

#[derive(Debug)]
enum Node<V> {
    Leaf(Dim, V),
    /// `bit` is the highest bit in which keys below differ; `prefix` holds the bits above it.
    Branch {
        prefix: u32,
        bit: u32,
        zero: Arc<Node<V>>,
        one: Arc<Node<V>>,
    },
}

type Link<V> = Option<Arc<Node<V>>>;

/// The persistent map.
#[derive(Clone, Debug)]
pub(crate) struct PMap<V> {
    root: Link<V>,
}

/// What to do with keys that only one of two merged maps has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Single {
    /// They stay.
    Keep,
    /// They go.
    Drop,
}

/// The bits of `key` strictly above `bit`.
fn prefix_of(key: u32, bit: u32) -> u32 {
    key & !(bit | (bit - 1))
}

fn branch<V>(prefix: u32, bit: u32, zero: Link<V>, one: Link<V>) -> Link<V> {
    match (zero, one) {
        (Some(zero), Some(one)) => Some(Arc::new(Node::Branch { prefix, bit, zero, one })),
        (a, b) => a.or(b),
    }
}

/// Joins two trees with different prefixes, where `a` holds key `ka` and `b` holds `kb`.
fn link<V>(ka: u32, a: Arc<Node<V>>, kb: u32, b: Arc<Node<V>>) -> Arc<Node<V>> {
    let bit = 1 << (31 - (ka ^ kb).leading_zeros());
    let (zero, one) = if ka & bit == 0 { (a, b) } else { (b, a) };
    Arc::new(Node::Branch { prefix: prefix_of(ka, bit), bit, zero, one })
}

impl<V> Node<V> {
    /// Some key's bits that identify the subtree: the key of a leaf, the prefix of a branch.
    fn key(&self) -> u32 {
        match self {
            Node::Leaf(d, _) => d.raw(),
            Node::Branch { prefix, .. } => *prefix,
        }
    }

    fn bit(&self) -> u32 {
        match self {
            Node::Leaf(..) => 0,
            Node::Branch { bit, .. } => *bit,
        }
    }
}

impl<V: Clone + PartialEq> PMap<V> {
    /// The map without keys.
    pub fn new() -> PMap<V> {
        PMap { root: None }
    }

    /// Are both the same tree in memory?
    pub fn same(&self, other: &PMap<V>) -> bool {
        same(&self.root, &other.root)
    }

    /// The value at a key.
    pub fn get(&self, d: Dim) -> Option<&V> {
        let key = d.raw();
        let mut n = self.root.as_deref()?;
        loop {
            match n {
                Node::Leaf(k, v) => return (*k == d).then_some(v),
                Node::Branch { bit, zero, one, .. } => n = if key & bit == 0 { zero } else { one },
            }
        }
    }

    /// Sets the value at a key.
    pub fn insert(&mut self, d: Dim, v: V) {
        if self.get(d) == Some(&v) {
            return;
        }
        let leaf = Arc::new(Node::Leaf(d, v));
        self.root = Some(match self.root.take() {
            None => leaf,
            Some(n) => insert(&n, leaf),
        });
    }

    /// Removes a key.
    pub fn remove(&mut self, d: Dim) {
        if self.get(d).is_some()
            && let Some(n) = self.root.take()
        {
            self.root = remove(&n, d);
        }
    }

    /// The entries by ascending key.
    pub fn iter(&self) -> impl Iterator<Item = (Dim, &V)> {
        let mut stack: Vec<&Node<V>> = self.root.as_deref().into_iter().collect();
        std::iter::from_fn(move || {
            loop {
                match stack.pop()? {
                    Node::Leaf(d, v) => return Some((*d, v)),
                    Node::Branch { zero, one, .. } => stack.extend([&**one, &**zero]),
                }
            }
        })
    }

    /// Merges two maps. `f` combines values of common keys, `None` dropping the key; it must be
    /// idempotent (`f(v, v) = v`), since shared subtrees are taken as they are.
    pub fn merge(
        &self,
        other: &PMap<V>,
        single: Single,
        f: &mut impl FnMut(Dim, &V, &V) -> Option<V>,
    ) -> PMap<V> {
        PMap { root: merge(&self.root, &other.root, single, f) }
    }

    /// Does `f` hold for every key of `other`, given the values in both (`None` when `self` lacks the
    /// key)? `f` must hold of equal values, since shared subtrees are skipped.
    pub fn all_of(&self, other: &PMap<V>, f: &mut impl FnMut(Dim, Option<&V>, &V) -> bool) -> bool {
        all_of(self.root.as_ref(), other.root.as_ref(), f)
    }
}

fn same<V>(a: &Link<V>, b: &Link<V>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

fn insert<V>(n: &Arc<Node<V>>, leaf: Arc<Node<V>>) -> Arc<Node<V>> {
    let key = leaf.key();
    match &**n {
        Node::Leaf(k, _) if k.raw() == key => leaf,
        Node::Leaf(k, _) => link(key, leaf, k.raw(), n.clone()),
        Node::Branch { prefix, bit, zero, one } => {
            if prefix_of(key, *bit) != *prefix {
                return link(key, leaf, *prefix, n.clone());
            }
            let (zero, one) = match key & bit == 0 {
                true => (insert(zero, leaf), one.clone()),
                false => (zero.clone(), insert(one, leaf)),
            };
            Arc::new(Node::Branch { prefix: *prefix, bit: *bit, zero, one })
        }
    }
}

fn remove<V>(n: &Arc<Node<V>>, d: Dim) -> Link<V> {
    match &**n {
        Node::Leaf(k, _) => (*k != d).then(|| n.clone()),
        Node::Branch { prefix, bit, zero, one } => match d.raw() & bit == 0 {
            true => branch(*prefix, *bit, remove(zero, d), Some(one.clone())),
            false => branch(*prefix, *bit, Some(zero.clone()), remove(one, d)),
        },
    }
}

/// How two subtrees lie to each other.
enum Position {
    Disjoint,
    /// Same prefix and bit, or two leaves of one key.
    Same,
    /// The second lies below the first, on the one side if the flag is set.
    Below(bool),
    /// The first lies below the second.
    Above(bool),
}

fn position<V>(a: &Node<V>, b: &Node<V>) -> Position {
    let (ka, kb, ba, bb) = (a.key(), b.key(), a.bit(), b.bit());
    if ba == bb {
        if ka == kb { Position::Same } else { Position::Disjoint }
    } else if ba > bb {
        if prefix_of(kb, ba) == ka { Position::Below(kb & ba != 0) } else { Position::Disjoint }
    } else if prefix_of(ka, bb) == kb {
        Position::Above(ka & bb != 0)
    } else {
        Position::Disjoint
    }
}

fn merge<V: Clone + PartialEq>(
    a: &Link<V>,
    b: &Link<V>,
    single: Single,
    f: &mut impl FnMut(Dim, &V, &V) -> Option<V>,
) -> Link<V> {
    let keep = |l: &Link<V>| if single == Single::Keep { l.clone() } else { None };
    let (Some(x), Some(y)) = (a, b) else { return keep(if a.is_some() { a } else { b }) };
    if Arc::ptr_eq(x, y) {
        return a.clone();
    }
    match (position(x, y), &**x, &**y) {
        (Position::Same, Node::Leaf(d, v), Node::Leaf(_, w)) => match f(*d, v, w) {
            Some(r) if r == *v => a.clone(),
            Some(r) => Some(Arc::new(Node::Leaf(*d, r))),
            None => None,
        },
        (Position::Same, Node::Branch { prefix, bit, zero, one }, Node::Branch { zero: bz, one: bo, .. }) => {
            let (az, ao) = (Some(zero.clone()), Some(one.clone()));
            let z = merge(&az, &Some(bz.clone()), single, f);
            let o = merge(&ao, &Some(bo.clone()), single, f);
            // Give back the very same tree where nothing changed, so that later merges stay cheap.
            if same(&z, &az) && same(&o, &ao) { a.clone() } else { branch(*prefix, *bit, z, o) }
        }
        (Position::Below(side), Node::Branch { prefix, bit, zero, one }, _) => {
            let (az, ao) = (Some(zero.clone()), Some(one.clone()));
            let (z, o) = match side {
                false => (merge(&az, b, single, f), keep(&ao)),
                true => (keep(&az), merge(&ao, b, single, f)),
            };
            if same(&z, &az) && same(&o, &ao) { a.clone() } else { branch(*prefix, *bit, z, o) }
        }
        (Position::Above(side), _, Node::Branch { prefix, bit, zero, one }) => {
            let (bz, bo) = (Some(zero.clone()), Some(one.clone()));
            match side {
                false => branch(*prefix, *bit, merge(a, &bz, single, f), keep(&bo)),
                true => branch(*prefix, *bit, keep(&bz), merge(a, &bo, single, f)),
            }
        }
        // Disjoint: the shapes above are the only ones the positions allow.
        _ => match single {
            Single::Keep => Some(link(x.key(), x.clone(), y.key(), y.clone())),
            Single::Drop => None,
        },
    }
}

fn all_of<V>(
    a: Option<&Arc<Node<V>>>,
    b: Option<&Arc<Node<V>>>,
    f: &mut impl FnMut(Dim, Option<&V>, &V) -> bool,
) -> bool {
    let Some(y) = b else { return true };
    let x = a.filter(|x| !matches!(position(x, y), Position::Disjoint));
    if x.is_some_and(|x| Arc::ptr_eq(x, y)) {
        return true;
    }
    match (x, &**y) {
        (None, Node::Leaf(d, w)) => f(*d, None, w),
        (None, Node::Branch { zero, one, .. }) => all_of(None, Some(zero), f) && all_of(None, Some(one), f),
        (Some(x), _) => match (position(x, y), &**x, &**y) {
            (Position::Same, Node::Leaf(_, v), Node::Leaf(d, w)) => f(*d, Some(v), w),
            (
                Position::Same,
                Node::Branch { zero: az, one: ao, .. },
                Node::Branch { zero: bz, one: bo, .. },
            ) => all_of(Some(az), Some(bz), f) && all_of(Some(ao), Some(bo), f),
            (Position::Below(side), Node::Branch { zero, one, .. }, _) => {
                all_of(Some(if side { one } else { zero }), b, f)
            }
            (Position::Above(side), _, Node::Branch { zero, one, .. }) => {
                let (inside, outside) = if side { (one, zero) } else { (zero, one) };
                all_of(a, Some(inside), f) && all_of(None, Some(outside), f)
            }
            // Excluded: disjoint trees were filtered, and a leaf never contains a branch.
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Rng;
    use std::collections::BTreeMap;

    fn contents(m: &PMap<u64>) -> Vec<(Dim, u64)> {
        m.iter().map(|(d, v)| (d, *v)).collect()
    }

    #[test]
    fn agrees_with_a_btree_under_random_operations() {
        let mut rng = Rng::new(7);
        let key = |rng: &mut Rng| match rng.below(3) {
            0 => Dim::rat(rng.below(6) as u32),
            _ => Dim::int((rng.below(40) * 37 % 64) as u32),
        };
        for _ in 0..400 {
            let mut maps = [PMap::new(), PMap::new()];
            let mut models = [BTreeMap::new(), BTreeMap::new()];
            for _ in 0..rng.below(60) {
                let (i, d) = (rng.below(2) as usize, key(&mut rng));
                match rng.below(8) {
                    0 | 1 => {
                        maps[i].remove(d);
                        models[i].remove(&d);
                    }
                    2 => {
                        // Shared ancestry, for the shortcuts on equal subtrees.
                        maps[i] = maps[1 - i].clone();
                        models[i] = models[1 - i].clone();
                    }
                    _ => {
                        let v = rng.below(5);
                        maps[i].insert(d, v);
                        models[i].insert(d, v);
                    }
                }
                let model: Vec<_> = models[i].iter().map(|(d, v)| (*d, *v)).collect();
                assert_eq!(contents(&maps[i]), model);
                assert_eq!(maps[i].get(d), models[i].get(&d));
            }
            let [a, b] = &maps;
            let pick = |x: u64, y: u64| (x.max(y) != 4 || x == y).then_some(x.max(y));
            for single in [Single::Keep, Single::Drop] {
                let mut want = BTreeMap::new();
                for d in models[0].keys().chain(models[1].keys()) {
                    match (models[0].get(d), models[1].get(d)) {
                        (Some(x), Some(y)) => {
                            if let Some(v) = pick(*x, *y) {
                                want.insert(*d, v);
                            }
                        }
                        (x, y) if single == Single::Keep => {
                            want.insert(*d, *x.or(y).unwrap());
                        }
                        _ => {}
                    }
                }
                let got = a.merge(b, single, &mut |_, x, y| pick(*x, *y));
                assert_eq!(contents(&got), want.into_iter().collect::<Vec<_>>());
            }
            let mut at_most = |_, x: Option<&u64>, y: &u64| x.is_some_and(|x| x <= y);
            let want = models[1].iter().all(|(d, y)| models[0].get(d).is_some_and(|x| x <= y));
            assert_eq!(a.all_of(b, &mut at_most), want);
        }
    }
}
