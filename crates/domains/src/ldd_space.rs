//! The diagrams of one analysis, and the dimensions as their variables.

use palisade_dd::{Cut, Kind, Ldd, Limits, Manager, Node, Outcome, Root, Shared, Stats, Var};
use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::machine::MachineInt;

/// A manager and the variables that stand for dimensions, added when they are first mentioned.
pub struct Space {
    pub(crate) ldd: Ldd,
    vars: FxHashMap<Dim, Var>,
    dims: Vec<Dim>,
    /// Live nodes at which the order of the variables is improved next.
    reorder_at: usize,
    /// Steps so far when the order was improved the last time.
    reordered: u64,
    /// Nodes that the tied dimensions of one element may take at first.
    max_rest: usize,
    /// How often boxes were merged to stay within the limits.
    merges: u64,
}

/// Nodes that the tied dimensions of one element may take unless told otherwise.
const MAX_REST: usize = 1 << 12;

/// Live nodes at which the order of the variables is improved for the first time.
const FIRST_REORDER: usize = 1 << 15;

/// Steps between two improvements of the order because an element is too large.
const REORDER_PERIOD: u64 = 1 << 23;

/// Steps of one improvement of the order, about.
const REORDER_STEPS: u64 = 1 << 22;

/// Steps of one operation for each node that an element may have.
const STEPS_PER_NODE: u64 = 1 << 8;

/// Steps after which elements may have half as many nodes as before.
const HALF_LIFE: u64 = 1 << 21;

/// Nodes that an element may have however long the analysis runs.
const MIN_REST: usize = 1 << 6;

impl Space {
    /// The variable of a dimension.
    pub(crate) fn var(&mut self, d: Dim) -> Outcome<Var> {
        if let Some(&v) = self.vars.get(&d) {
            return Ok(v);
        }
        let v = self.ldd.new_var(if d.is_int() { Kind::Int } else { Kind::Real })?;
        self.vars.insert(d, v);
        self.dims.push(d);
        Ok(v)
    }

    /// The dimension of a variable.
    pub(crate) fn dim(&self, v: Var) -> Dim {
        self.dims[v.0 as usize]
    }

    /// Terms of a linear expression over variables.
    pub(crate) fn terms(&mut self, terms: &[(Dim, Rat)]) -> Outcome<Vec<(Rat, Var)>> {
        terms.iter().map(|(d, a)| Ok((a.clone(), self.var(*d)?))).collect()
    }

    /// The dimensions that `f` depends on, ascending.
    pub(crate) fn dims_of(&self, f: Node) -> Vec<Dim> {
        let mut dims: Vec<Dim> = self.ldd.support(f).into_iter().map(|v| self.dim(v)).collect();
        dims.sort_unstable();
        dims
    }

    /// Nodes that the tied dimensions of one element may take now: less, the longer the analysis has run, so
    /// that it ends in time that grows with the program and not with its number of paths.
    pub(crate) fn room(&self) -> usize {
        let halvings = (self.ldd.stats().work / HALF_LIFE).min(u64::from(usize::BITS) - 1);
        (self.max_rest >> halvings).max(MIN_REST).min(self.max_rest)
    }

    /// `f`, if it is no larger than an element may be. Otherwise the order of the variables is improved, if
    /// that is due, and then the closest boxes of `f` are merged. Operands must be held by roots.
    pub(crate) fn fit(&mut self, f: Node) -> Outcome<Node> {
        let room = self.room();
        if self.ldd.size_within(f, room) {
            return Ok(f);
        }
        if self.ldd.stats().work - self.reordered > REORDER_PERIOD {
            self.ldd.protect(f);
            self.reorder();
            self.ldd.release(f);
            self.begin();
        }
        if self.ldd.size_within(f, room) { Ok(f) } else { self.merge(f, room / 4) }
    }

    /// Merges boxes of `f` until it has at most so many nodes.
    pub(crate) fn merge(&mut self, f: Node, nodes: usize) -> Outcome<Node> {
        self.merges += 1;
        self.begin();
        self.ldd.merge_boxes(f, nodes)
    }

    /// Notes that an element became larger than the operations of the paper have it because of the limits.
    pub(crate) fn weakened(&mut self) {
        self.merges += 1;
    }

    fn reorder(&mut self) {
        self.ldd.allow(REORDER_STEPS);
        // An order that could not be finished is still an order.
        let _ = self.ldd.reorder();
        self.reordered = self.ldd.stats().work;
        self.reorder_at = (2 * self.ldd.stats().nodes).max(2 * self.reorder_at);
    }

    /// The intersection of `f` with all of `others`.
    pub(crate) fn meet_all(&mut self, f: Node, others: &[Root<Space>]) -> Outcome<Node> {
        others.iter().try_fold(f, |f, g| self.ldd.and(f, g.node()))
    }
}

impl Manager for Space {
    fn protect(&mut self, f: Node) {
        self.ldd.protect(f);
    }

    fn release(&mut self, f: Node) {
        self.ldd.release(f);
    }

    /// Also improves the order of the variables, each time that twice as much has accumulated.
    fn collect(&mut self) {
        self.ldd.collect();
        if self.ldd.stats().nodes > self.reorder_at {
            self.reorder();
        }
    }

    fn wants_collection(&self) -> bool {
        self.ldd.wants_collection()
    }

    fn begin(&mut self) {
        let room = self.room() as u64;
        self.ldd.allow(room.saturating_mul(STEPS_PER_NODE));
    }
}

/// What the elements of [`crate::LddBox`] and [`crate::Boxes`] are made from: a shared manager.
#[derive(Clone, Debug)]
pub struct LddCtx(pub(crate) Shared<Space>);

impl LddCtx {
    /// A context with its own manager. Elements that would need more nodes are weakened.
    pub fn new(limits: Limits) -> LddCtx {
        LddCtx::with_element_limit(limits, MAX_REST)
    }

    /// A context in which the dimensions of one element that depend on each other may take that many nodes
    /// at first; above, the closest boxes are merged.
    pub fn with_element_limit(limits: Limits, nodes: usize) -> LddCtx {
        let space = Space {
            ldd: Ldd::new(limits),
            vars: FxHashMap::default(),
            dims: Vec::new(),
            reorder_at: FIRST_REORDER,
            reordered: 0,
            max_rest: nodes,
            merges: 0,
        };
        LddCtx(Shared::new(space))
    }

    /// How often boxes were merged to stay within the limits; without that all results are those of
    /// the operations of the paper.
    pub fn merges(&self) -> u64 {
        self.0.with(|s| s.merges)
    }

    /// Size figures of the manager.
    pub fn stats(&self) -> Stats {
        self.0.with(|s| s.ldd.stats())
    }
}

/// The values of one dimension that depends on no other: a diagram of one variable.
#[derive(Clone)]
pub(crate) struct Factor {
    pub(crate) root: Root<Space>,
    /// The least interval around the values.
    pub(crate) hull: Interval,
    /// Whether the values are that interval.
    pub(crate) single: bool,
}

impl PartialEq for Factor {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

/// How a set of values of `d` looks from outside: its hull, and whether it is an interval.
pub(crate) fn outline(s: &mut Space, d: Dim, values: Node) -> Outcome<(Interval, bool)> {
    let v = s.var(d)?;
    let hull = s.ldd.bounds(values, v).map_or(Interval::EMPTY, |i| from_dd(&i));
    Ok((hull, s.ldd.is_box(values)))
}

impl Factor {
    /// The factor for the values of `d` that `op` computes.
    pub(crate) fn make(
        shared: &Shared<Space>,
        d: Dim,
        mut op: impl FnMut(&mut Space, Var) -> Outcome<Node>,
    ) -> Outcome<Factor> {
        let mut found = (Interval::TOP, true);
        let root = shared.op(|s| {
            let v = s.var(d)?;
            let values = op(s, v)?;
            let values = s.fit(values)?;
            found = outline(s, d, values)?;
            Ok(values)
        })?;
        Ok(Factor { root, hull: found.0, single: found.1 })
    }
}

pub(crate) fn from_dd(i: &palisade_dd::Interval) -> Interval {
    Interval {
        lo: i.lo.as_ref().map(|c| End { value: c.k.clone(), strict: c.closed }),
        hi: i.hi.as_ref().map(|c| End { value: c.k.clone(), strict: !c.closed }),
    }
}

pub(crate) fn to_dd(i: &Interval) -> palisade_dd::Interval {
    palisade_dd::Interval {
        lo: i.lo.as_ref().map(|e| Cut { k: e.value.clone(), closed: e.strict }),
        hi: i.hi.as_ref().map(|e| Cut { k: e.value.clone(), closed: !e.strict }),
    }
}

/// The values that a machine type gives to the integers of an interval, as at most two intervals.
pub(crate) fn wrapped(i: &Interval, ty: MachineInt) -> Vec<Interval> {
    match i.int_ends() {
        Some((lo, hi)) if &hi - &lo < Int::pow2(ty.width) => {
            let (a, b) = (ty.wrap(&lo), ty.wrap(&hi));
            // Less than one period: it either stays in one piece or passes the end once.
            if a <= b {
                vec![Interval::closed(a, b)]
            } else {
                vec![Interval::closed(a, ty.max()), Interval::closed(ty.min(), b)]
            }
        }
        _ => vec![ty.range()],
    }
}
