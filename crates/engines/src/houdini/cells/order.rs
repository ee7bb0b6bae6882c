//! Candidates of programs that sort, or look for equal elements: elements are in order, or differ.
//!
//! A program that compares two elements of an array makes candidates "`a[k] <= a[l]` for all `k < l`" where
//! both or one of them lie before or after an index of the program, perhaps but for an element that makes room for
//! another or if a condition holds such as that nothing was swapped; "`a[k] <= a[x]`" for all `k` in a range
//! and an index `x`; and the same the other way round. Where elements are compared for equality, the facts are that
//! they differ.

use super::{About, Candidate, Cells, Fact};
use palisade_cfa::*;
use palisade_evidence::Invariants;

/// At most this many ends of ranges.
const MAX_ENDS: usize = 10;
/// At most this many indices of elements that are set.
const MAX_SET: usize = 3;
/// At most this many conditions that facts may depend on.
const MAX_PREMISES: usize = 2;

/// How a program compares two elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    /// Which is less.
    Order,
    /// Whether they are the same.
    Equality,
}

impl Cells<'_> {
    /// Elements of one array that are compared with each other, one place for each array and kind.
    pub(super) fn compared(&self) -> Vec<(PlaceId, Comparison)> {
        let p = self.program;
        let mut found: Vec<(PlaceId, Comparison)> = Vec::new();
        for (fact, _) in &self.facts {
            let Fact::Holds(cond) = *fact else { continue };
            let ExprKind::Cmp(op, a, b) = p.exprs[cond].kind else { continue };
            let (ExprKind::Load(x), ExprKind::Load(y)) =
                (&p.exprs[self.strip(a)].kind, &p.exprs[self.strip(b)].kind)
            else {
                continue;
            };
            let kind = match op {
                CmpOp::Eq | CmpOp::Ne => Comparison::Equality,
                CmpOp::Lt | CmpOp::Le => Comparison::Order,
            };
            let one = |place| self.tuple(place).is_some_and(|t| t.len() == 1);
            let known = found.iter().any(|&(f, k)| k == kind && self.alike(f, *x));
            if one(*x) && one(*y) && self.alike(*x, *y) && !known {
                found.push((*x, kind));
            }
        }
        found
    }

    /// Whether two places are elements of the same array.
    fn alike(&self, x: PlaceId, y: PlaceId) -> bool {
        let (x, y) = (&self.program.places[x], &self.program.places[y]);
        let bases = match (x.base, y.base) {
            (Base::Deref(a), Base::Deref(b)) => {
                let exprs = &self.program.exprs;
                match (&exprs[self.strip(a)].kind, &exprs[self.strip(b)].kind) {
                    (
                        ExprKind::PtrAdd { ptr: p, stride: m, .. },
                        ExprKind::PtrAdd { ptr: q, stride: n, .. },
                    ) => m == n && self.same(*p, *q),
                    _ => self.same(a, b),
                }
            }
            (a, b) => a == b,
        };
        bases
            && x.ty == y.ty
            && x.bits == y.bits
            && x.path.len() == y.path.len()
            && x.path.iter().zip(&y.path).all(|(s, t)| match (s, t) {
                (Proj::Index { stride: m, .. }, Proj::Index { stride: n, .. }) => m == n,
                _ => s == t,
            })
    }

    /// An element of an array.
    fn element(&self, pool: &mut Invariants, array: PlaceId, at: ExprId) -> ExprId {
        let tuple = self.tuple(array).expect("an element");
        About { cells: self, pool, values: &[at], tuple: &tuple }.load(array)
    }

    /// The candidates about elements of an array, with two ghosts.
    pub(super) fn ordered(
        &self,
        pool: &mut Invariants,
        (array, kind): (PlaceId, Comparison),
        ghosts: [VarId; 2],
    ) -> Vec<Candidate> {
        let [k, l] = ghosts.map(|ghost| pool.ghost_value(ghost));
        let ends = Ends::new(self, pool, array);
        let mut found = Vec::new();
        let mut add = |pool: &mut Invariants, ranges: &[ExprId], fact, ghosts| {
            for &range in ranges {
                let outside = pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, range));
                let expr = pool.expr(Scalar::BOOL, ExprKind::Binary(BinOp::Or, outside, fact));
                found.push(Candidate { expr, at: None, ghosts });
            }
        };
        let facts = |pool: &mut Invariants, a, b| match kind {
            Comparison::Order => [(a, b), (b, a)]
                .map(|(a, b)| pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, a, b)))
                .to_vec(),
            Comparison::Equality => vec![pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Ne, a, b))],
        };
        let pairs = ends.pairs(pool, k, l);
        let [here, there] = [k, l].map(|at| self.element(pool, array, at));
        for fact in facts(pool, here, there) {
            add(pool, &pairs, fact, 2);
        }
        let mut single = ends.singles(pool, k, CmpOp::Le, CmpOp::Lt);
        if kind == Comparison::Equality {
            // A search goes down as well as up, and what it finds is noted.
            single.extend(ends.singles(pool, k, CmpOp::Lt, CmpOp::Lt));
            for range in single.clone() {
                single.extend(ends.premises.iter().map(|&premise| pool.all(BinOp::And, &[range, premise])));
            }
        }
        for &index in &ends.indices {
            let there = self.element(pool, array, index);
            for fact in facts(pool, here, there) {
                add(pool, &single, fact, 1);
            }
        }
        if kind == Comparison::Equality {
            return found;
        }
        // What is moved up to make room is compared with a register.
        let single = ends.singles(pool, k, CmpOp::Lt, CmpOp::Le);
        for (fact, tuple) in &self.facts {
            if let Fact::Holds(cond) = *fact
                && let [_] = tuple[..]
                && let ExprKind::Cmp(CmpOp::Lt | CmpOp::Le, a, b) = self.program.exprs[cond].kind
                && [a, b].into_iter().any(|side| self.register(side).is_some())
            {
                let fact = About { cells: self, pool, values: &[k], tuple }.expr(cond);
                let not = pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, fact));
                add(pool, &single, fact, 1);
                add(pool, &single, not, 1);
            }
        }
        found
    }
}

/// Where ranges of elements may begin and end, all as wide as ghosts.
struct Ends {
    /// Indices of the program.
    indices: Vec<ExprId>,
    /// The same, and sums that indices are compared with.
    ends: Vec<ExprId>,
    /// Registers and constants that indices are compared with.
    bounds: Vec<ExprId>,
    /// Two of them that belong to different counters, the first an end and the second an index.
    between: Vec<(ExprId, ExprId)>,
    /// Indices of elements that are set.
    set: Vec<ExprId>,
    /// What the program asks about registers that are no indices, and the opposite.
    premises: Vec<ExprId>,
    /// The first element.
    zero: ExprId,
}

impl Ends {
    fn new(cells: &Cells<'_>, pool: &mut Invariants, array: PlaceId) -> Self {
        let usable = |e: &ExprId| cells.constant(*e).is_none() && !cells.reads_memory(*e);
        let single = cells.tuples.iter().filter(|t| t.len() == 1).map(|t| t[0]);
        let indices: Vec<ExprId> = single.filter(usable).take(MAX_ENDS).collect();
        let further = cells.ends.iter().filter(|&&e| !indices.iter().any(|&i| cells.same(i, e)));
        let ends: Vec<ExprId> = indices.iter().chain(further).copied().take(MAX_ENDS).collect();
        // Between `i` and `i + 1` there is nothing worth a fact.
        let apart = |a, b| match (cells.linear(a), cells.linear(b)) {
            (Some((x, _)), Some((y, _))) => x != y,
            _ => true,
        };
        let mut between = Vec::new();
        for &low in &ends {
            between.extend(indices.iter().filter(|&&high| apart(low, high)).map(|&high| (low, high)));
        }
        let stored = cells.facts.iter().filter_map(|(fact, tuple)| match *fact {
            Fact::Stored(place, _) if cells.alike(place, array) => Some(tuple[0]),
            _ => None,
        });
        let set: Vec<ExprId> = stored.filter(usable).take(MAX_SET).collect();
        let counters: Vec<VarId> = indices.iter().flat_map(|&e| cells.registers(e)).collect();
        let asked = cells.conditions.iter().copied();
        let asked = asked.filter(|&c| !cells.registers(c).iter().any(|v| counters.contains(v)));
        let mut premises = Vec::new();
        for cond in asked.take(MAX_PREMISES) {
            premises.extend([cond, pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, cond))]);
        }
        let mut wide =
            |found: Vec<ExprId>| -> Vec<ExprId> { found.into_iter().map(|e| cells.wide(pool, e)).collect() };
        let (indices, ends, set) = (wide(indices), wide(ends), wide(set));
        let bounds = wide(cells.bounds.clone());
        let (low, high) = between.into_iter().unzip();
        let between = wide(low).into_iter().zip(wide(high)).collect();
        let zero = pool.int(Invariants::GHOST, 0);
        Ends { indices, ends, bounds, between, set, premises, zero }
    }

    /// Sets of elements `k` before `l`.
    fn pairs(&self, pool: &mut Invariants, k: ExprId, l: ExprId) -> Vec<ExprId> {
        let mut found = Vec::new();
        let ordered = [(CmpOp::Le, self.zero, k), (CmpOp::Lt, k, l)];
        for &b in &self.bounds {
            let inside = all(pool, &[ordered[0], ordered[1], (CmpOp::Lt, l, b)]);
            found.push(inside);
            found.extend(self.premises.iter().map(|&premise| pool.all(BinOp::And, &[inside, premise])));
            for &e in &self.ends {
                for op in [CmpOp::Lt, CmpOp::Le] {
                    for side in [(op, k, e), (op, e, l), (op, e, k)] {
                        found.push(all(pool, &[ordered[0], ordered[1], (CmpOp::Lt, l, b), side]));
                    }
                }
            }
        }
        for &e in &self.ends {
            for op in [CmpOp::Lt, CmpOp::Le] {
                let before = all(pool, &[ordered[0], ordered[1], (op, l, e)]);
                found.push(before);
                found.extend(self.premises.iter().map(|&premise| pool.all(BinOp::And, &[before, premise])));
                // All but the one that makes room.
                for &hole in &self.set {
                    let others = all(pool, &[(CmpOp::Ne, k, hole), (CmpOp::Ne, l, hole)]);
                    found.push(pool.all(BinOp::And, &[before, others]));
                }
            }
        }
        found
    }

    /// Sets of elements `k`, with the comparisons at their beginning and end.
    fn singles(&self, pool: &mut Invariants, k: ExprId, begin: CmpOp, end: CmpOp) -> Vec<ExprId> {
        let mut between = self.between.clone();
        between.extend(self.indices.iter().chain(&self.bounds).map(|&high| (self.zero, high)));
        between.extend(self.ends.iter().flat_map(|&low| self.bounds.iter().map(move |&high| (low, high))));
        let ranges = between.into_iter();
        ranges
            .map(|(low, high)| all(pool, &[(CmpOp::Le, self.zero, k), (begin, low, k), (end, k, high)]))
            .collect()
    }
}

/// Comparisons that hold together.
fn all(pool: &mut Invariants, comparisons: &[(CmpOp, ExprId, ExprId)]) -> ExprId {
    let compare = |&(op, a, b): &(CmpOp, ExprId, ExprId)| pool.expr(Scalar::BOOL, ExprKind::Cmp(op, a, b));
    let parts: Vec<ExprId> = comparisons.iter().map(compare).collect();
    pool.all(BinOp::And, &parts)
}
