//! Sets of partial states, and what a path says about numbers: what both checks of covers need.

use palisade_cfa::{IntTy, VarId};
use palisade_evidence::Bounds;
use palisade_logic::{Op, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// Partial states over one list of variables.
#[derive(Clone, Default)]
struct Group {
    /// Those that have one value of each variable.
    points: FxHashSet<Vec<u128>>,
    /// The others.
    boxes: Vec<Vec<Bounds>>,
}

/// The partial states of a location, by the variables they list.
#[derive(Clone, Default)]
pub struct Known {
    groups: FxHashMap<Vec<VarId>, Group>,
}

impl Known {
    /// Adds a state.
    pub fn insert(&mut self, state: &[(VarId, Bounds)]) {
        let group = self.groups.entry(state.iter().map(|s| s.0).collect()).or_default();
        match state.iter().map(|s| s.1.as_only()).collect() {
            Some(point) => drop(group.points.insert(point)),
            None => group.boxes.push(state.iter().map(|s| s.1).collect()),
        }
    }

    /// The lists of variables, ascending.
    pub fn lists(&self) -> Vec<&Vec<VarId>> {
        let mut lists: Vec<&Vec<VarId>> = self.groups.keys().collect();
        lists.sort_unstable();
        lists
    }

    /// The bounds of a state over a list of variables in which they have these values.
    pub fn find(&self, vars: &[VarId], types: &[IntTy], bits: &[u128]) -> Option<Vec<Bounds>> {
        let group = self.groups.get(vars)?;
        if group.points.contains(bits) {
            return Some(bits.iter().copied().map(Bounds::only).collect());
        }
        let holds = |state: &&Vec<Bounds>| {
            state.iter().zip(types).zip(bits).all(|((bounds, &ty), &bits)| bounds.contain(ty, bits))
        };
        group.boxes.iter().find(holds).cloned()
    }
}

/// Whether a term has a value within bounds; `constant` makes the terms of these.
pub fn within(
    terms: &mut Terms,
    ty: IntTy,
    value: Term,
    bounds: Bounds,
    constant: impl Fn(&mut Terms, u128) -> Term,
) -> Term {
    let first = constant(terms, bounds.first);
    if bounds.as_only().is_some() {
        return terms.eq(value, first);
    }
    let last = constant(terms, bounds.last);
    let (above, below) = if ty.signed {
        (terms.sle(first, value), terms.sle(value, last))
    } else {
        (terms.ule(first, value), terms.ule(value, last))
    };
    terms.and(above, below)
}

/// What comparisons with constants leave of a term's values, as signed and as unsigned numbers.
struct Left {
    term: Term,
    signed: (i128, i128),
    unsigned: (i128, i128),
}

impl Left {
    fn is_empty(&self) -> bool {
        self.signed.0 > self.signed.1 || self.unsigned.0 > self.unsigned.1
    }
}

/// What a condition says if it compares a term with a constant.
struct Comparison {
    op: Op,
    positive: bool,
    term: Term,
    /// Whether the term stands on the left.
    left: bool,
    constant: Term,
}

impl Comparison {
    fn of(terms: &Terms, condition: Term) -> Option<Comparison> {
        let (atom, positive) = match terms.as_not(condition) {
            Some(atom) => (atom, false),
            None => (condition, true),
        };
        let op = terms.op(atom);
        if !matches!(op, Op::Eq | Op::Slt | Op::Ult) {
            return None;
        }
        let (a, b) = (terms.args(atom)[0], terms.args(atom)[1]);
        let (term, constant, left) = if terms.is_const(b) { (a, b, true) } else { (b, a, false) };
        (!terms.is_bool(term)).then_some(Comparison { op, positive, term, left, constant })
    }
}

/// Whether comparisons of terms with constants on a path contradict each other: no state takes it then. The part
/// before `new` does not. It saves asking the solver at every branch; what it does not see, the solver sees where the
/// path ends.
pub fn contradict(terms: &Terms, path: &[Term], new: usize) -> bool {
    let mut all: Vec<Left> = Vec::new();
    let news = path.get(new..).unwrap_or_default();
    let about: Vec<Term> = news.iter().filter_map(|&c| Some(Comparison::of(terms, c)?.term)).collect();
    if about.is_empty() {
        return false;
    }
    // What is not equal to a value counts where the value is at an end, so after the bounds.
    for unequal in [false, true] {
        for &condition in path {
            let Some(Comparison { op, positive, term, left, constant }) = Comparison::of(terms, condition)
            else {
                continue;
            };
            if (op == Op::Eq && !positive) != unequal || !about.contains(&term) {
                continue;
            }
            if let Some(value) = terms.value_of(constant).filter(|v| v.width() <= 64)
                && let Some(bits) = value.to_u128()
            {
                let ty = |signed| IntTy { bits: value.width() as u16, signed };
                let end = |signed: bool, bits: u128| ty(signed).decode(bits);
                let of =
                    |signed: bool| (end(signed, ty(signed).min_bits()), end(signed, ty(signed).max_bits()));
                let at = all.iter().position(|l| l.term == term).unwrap_or_else(|| {
                    all.push(Left { term, signed: of(true), unsigned: of(false) });
                    all.len() - 1
                });
                for signed in [true, false] {
                    let range = if signed { &mut all[at].signed } else { &mut all[at].unsigned };
                    let value = end(signed, bits);
                    match (op, positive, left) {
                        (Op::Eq, true, _) => *range = (range.0.max(value), range.1.min(value)),
                        (Op::Eq, false, _) if range.0 == value => range.0 += 1,
                        (Op::Eq, false, _) if range.1 == value => range.1 -= 1,
                        (Op::Slt, ..) if !signed => {}
                        (Op::Ult, ..) if signed => {}
                        (Op::Slt | Op::Ult, true, true) => range.1 = range.1.min(value - 1),
                        (Op::Slt | Op::Ult, true, false) => range.0 = range.0.max(value + 1),
                        (Op::Slt | Op::Ult, false, true) => range.0 = range.0.max(value),
                        (Op::Slt | Op::Ult, false, false) => range.1 = range.1.min(value),
                        _ => {}
                    }
                }
                if all[at].is_empty() {
                    return true;
                }
            }
        }
    }
    false
}
