//! Propagation of what is asserted: truth values, constants, bounds and equations.
//!
//! An asserted formula is true wherever else it occurs; from `t = c` follows that `t` may be
//! replaced by the constant, comparisons bound their operands, and sums that cannot wrap around
//! within their bounds are computed where they are extended to. Assertions are taken one after
//! the other: each is rewritten by those before it and then asserted itself, so that two
//! assertions never justify each other away. What a level asserts is forgotten when it is popped.

use crate::bitvec::BitVec;
use crate::sparse::{self, Sparse};
use crate::term::{Op, Sort, Term, Terms};

use super::equations::Equations;
use super::ranges::Ranges;

/// No term: not rewritten yet.
const NONE: Term = Term(sparse::NONE);

/// How often comparisons are looked at again for tighter bounds.
const ROUNDS: usize = 3;
/// How often assertions are taken at most.
const PASSES: usize = 4;

/// The facts of the open levels, and the rewriting of terms under them.
#[derive(Default)]
pub(super) struct Facts {
    /// What each term is rewritten to. Facts that came later are not taken into account.
    memo: Sparse,
    /// What was rewritten since the last assertions came.
    rewritten: Vec<(Term, Term)>,
    /// Changed entries with what they were before.
    trail: Vec<(Term, Term)>,
    ranges: Ranges,
    equations: Equations,
    /// What there was below each open level.
    marks: Vec<Mark>,
}

/// The lengths of the trails and the number of equations at some time.
struct Mark {
    trail: usize,
    ranges: usize,
    equations: usize,
}

impl Facts {
    /// Opens levels until there are `level` of them.
    pub(super) fn open_until(&mut self, level: usize) {
        while self.marks.len() < level {
            self.marks.push(self.mark());
        }
    }

    /// Closes levels until there are `level` of them.
    pub(super) fn close_until(&mut self, level: usize) {
        while self.marks.len() > level {
            let mark = self.marks.pop().expect("there are levels left");
            self.undo(mark);
        }
    }

    /// What there is now, for [`Facts::undo`].
    fn mark(&self) -> Mark {
        Mark { trail: self.trail.len(), ranges: self.ranges.changes(), equations: self.equations.len() }
    }

    /// Forgets what came since.
    fn undo(&mut self, mark: Mark) {
        for (t, before) in self.trail.drain(mark.trail..).rev() {
            self.memo.set(t.index(), before.0);
        }
        self.ranges.undo(mark.ranges);
        self.equations.undo(mark.equations);
    }

    fn get(&self, t: Term) -> Term {
        Term(self.memo.get(t.index()))
    }

    fn set(&mut self, t: Term, to: Term) {
        let before = Term(self.memo.set(t.index(), to.0));
        if before != to {
            self.trail.push((t, before));
        }
    }

    /// Takes new assertions and returns what remains of them, as conjuncts.
    ///
    /// Where a combination of formulas comes down to an equation, all is taken once more: what was rewritten before
    /// did not know of it.
    pub(super) fn absorb(&mut self, terms: &mut Terms, mut assertions: Vec<Term>) -> Vec<Term> {
        for pass in 1.. {
            let before = self.mark();
            // Atoms are the facts that simplify other formulas, bounds first; terms are made before their users.
            assertions.sort_by_key(|t| (kind(terms, *t), *t));
            let bounds = assertions.iter().take_while(|t| kind(terms, **t) <= Kind::Comparison).count();
            let mut out = Vec::new();
            self.rewritten.clear();
            self.absorb_each(terms, &assertions[..bounds], &mut out);
            self.tighten(terms, &out);
            let revealed = self.absorb_each(terms, &assertions[bounds..], &mut out);
            if revealed.is_empty() || pass == PASSES {
                return out;
            }
            self.undo(before);
            let others = assertions.iter().position(|t| kind(terms, *t) == Kind::Other);
            assertions.truncate(others.expect("only combinations come down to something else"));
            assertions.extend(revealed);
        }
        unreachable!("the last pass returns")
    }

    /// Takes assertions one after the other. If a combination of formulas among them comes down to an equation,
    /// returns what remains of all combinations.
    fn absorb_each(&mut self, terms: &mut Terms, assertions: &[Term], out: &mut Vec<Term>) -> Vec<Term> {
        let (mut remaining, mut revealed) = (Vec::new(), false);
        for &assertion in assertions {
            // As a whole: what remains of an equation may speak about parts of words.
            let sides =
                words(terms, assertion).map(|(x, y)| (self.rewrite(terms, x), self.rewrite(terms, y)));
            let t = self.rewrite(terms, assertion);
            for t in terms.conjuncts(t) {
                if t != terms.tru() {
                    if kind(terms, assertion) == Kind::Other {
                        revealed |= kind(terms, t) == Kind::Equation;
                        remaining.push(t);
                    }
                    self.learn(terms, t);
                    out.push(t);
                }
            }
            if let Some((x, y)) = sides {
                self.equations.learn(terms, x, y);
            }
        }
        if revealed { remaining } else { Vec::new() }
    }

    /// Lets assertions bound each other's operands, whatever their order. What was rewritten under weaker bounds
    /// is rewritten again when it is met next.
    fn tighten(&mut self, terms: &mut Terms, bounds: &[Term]) {
        let mut narrowed = Vec::new();
        for _ in 0..ROUNDS {
            let before = self.ranges.changes();
            for &t in bounds {
                let (atom, truth) = terms.as_not(t).map_or((t, true), |atom| (atom, false));
                narrowed.extend(self.ranges.learn(terms, atom, truth));
            }
            if self.ranges.changes() == before {
                break;
            }
        }
        for (t, to) in std::mem::take(&mut self.rewritten) {
            if self.get(t) == to {
                self.set(t, NONE);
            }
        }
        for t in narrowed {
            self.fix(terms, t);
        }
    }

    /// A leaf with one value left is a constant.
    fn fix(&mut self, terms: &mut Terms, t: Term) -> bool {
        let range = self.ranges.range(terms, t).filter(|range| is_leaf(terms, t) && range.low == range.high);
        let Some(range) = range else { return false };
        let constant = terms.bv(terms.width(t), range.low);
        self.set(t, constant);
        true
    }

    /// Takes over that an assertion holds.
    fn learn(&mut self, terms: &mut Terms, t: Term) {
        let (atom, truth) = match terms.as_not(t) {
            Some(atom) => (atom, false),
            None => (t, true),
        };
        let value = terms.bool_const(truth);
        self.set(t, terms.tru());
        self.set(atom, value);
        for narrowed in self.ranges.learn(terms, atom, truth) {
            if !self.fix(terms, narrowed) {
                self.split_high_zeros(terms, narrowed);
            }
        }
        if terms.op(atom) == Op::Eq {
            self.learn_equation(terms, atom, truth);
        }
    }

    fn learn_equation(&mut self, terms: &mut Terms, equation: Term, truth: bool) {
        let (x, y) = (terms.arg(equation, 0), terms.arg(equation, 1));
        let width = match terms.sort(x) {
            Sort::BitVec(w) => w,
            _ => return,
        };
        let value = match terms.value_of(y) {
            Some(v) if truth => v,
            Some(v) if width == 1 => v.not(),
            None if truth => {
                // The newer one may be made from the older one, not the other way round.
                let (old, new) = if x < y { (x, y) } else { (y, x) };
                if is_leaf(terms, new) {
                    self.set(new, old);
                }
                return;
            }
            _ => return,
        };
        let constant = terms.bv_const(&value);
        self.set(x, constant);
        if let Some((high, low)) = terms.extract_bounds(x) {
            let whole = terms.arg(x, 0);
            if is_leaf(terms, whole) && self.is_whole(whole) {
                self.split(terms, whole, high, low, constant);
            }
        }
    }

    /// Whether a term was not replaced by something else so far.
    fn is_whole(&self, t: Term) -> bool {
        matches!(self.get(t), to if to == NONE || to == t)
    }

    /// A leaf whose bits `high` to `low` are known is replaced by its parts.
    fn split(&mut self, terms: &mut Terms, leaf: Term, high: u32, low: u32, value: Term) {
        let mut parts = value;
        if low > 0 {
            let below = terms.extract(leaf, low - 1, 0);
            parts = terms.concat(parts, below);
        }
        if high + 1 < terms.width(leaf) {
            let above = terms.extract(leaf, terms.width(leaf) - 1, high + 1);
            parts = terms.concat(above, parts);
        }
        self.set(leaf, parts);
    }

    /// A leaf with a small greatest value has zeros above it.
    fn split_high_zeros(&mut self, terms: &mut Terms, t: Term) {
        let Some(range) = self.ranges.range(terms, t).filter(|_| is_leaf(terms, t)) else { return };
        let width = terms.width(t);
        let used = (64 - range.high.leading_zeros()).max(1);
        if used < width && self.is_whole(t) {
            let zeros = terms.bv_const(&BitVec::zero(width - used));
            self.split(terms, t, width - 1, used, zeros);
        }
    }

    /// Rewrites a term under the facts.
    pub(super) fn rewrite(&mut self, terms: &mut Terms, t: Term) -> Term {
        let mut stack = vec![t];
        let mut args = Vec::new();
        while let Some(&t) = stack.last() {
            if self.get(t) != NONE {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(terms.args(t).iter().filter(|a| self.get(**a) == NONE));
            if stack.len() > before {
                continue;
            }
            args.clear();
            args.extend(terms.args(t).iter().map(|a| self.get(*a)));
            let decided = words(terms, t).and_then(|_| self.equations.decide(terms, args[0], args[1]));
            let new = match decided {
                Some(truth) => terms.bool_const(truth),
                None => {
                    let new = if args == terms.args(t) { t } else { terms.with_args(t, &args) };
                    self.simplified(terms, new)
                }
            };
            self.set(t, new);
            self.rewritten.push((t, new));
            stack.pop();
        }
        self.get(t)
    }

    /// What the facts say about a term with rewritten arguments.
    fn simplified(&self, terms: &mut Terms, t: Term) -> Term {
        if terms.is_bool(t) {
            return self.truth(terms, t).map_or(t, |v| terms.bool_const(v));
        }
        if let Some(sum) = self.extended(terms, t) {
            return sum;
        }
        let mut t = t;
        // Reads look past writes to indices that the facts keep apart.
        while terms.op(t) == Op::Select && terms.op(terms.arg(t, 0)) == Op::Store {
            let (array, index) = (terms.arg(t, 0), terms.arg(t, 1));
            let (inner, at, element) = (terms.arg(array, 0), terms.arg(array, 1), terms.arg(array, 2));
            let same = terms.eq(at, index);
            match self.truth(terms, same) {
                Some(false) => t = terms.select(inner, index),
                Some(true) => return element,
                None => break,
            }
        }
        t
    }

    fn truth(&self, terms: &Terms, t: Term) -> Option<bool> {
        let known = Some(self.get(t)).filter(|t| *t != NONE).and_then(|t| terms.bool_value(t));
        known.or_else(|| terms.bool_value(t)).or_else(|| self.ranges.decide(terms, t))
    }

    /// An extended sum or product that does not wrap around, as the sum or product of what is extended.
    fn extended(&self, terms: &mut Terms, t: Term) -> Option<Term> {
        let (x, signed) = match terms.op(t) {
            Op::SignExtend => (terms.arg(t, 0), true),
            Op::Concat if terms.value_of(terms.arg(t, 0))?.is_zero() => (terms.arg(t, 1), false),
            _ => return None,
        };
        let op = terms.op(x);
        if !matches!(op, Op::Add | Op::Mul) {
            return None;
        }
        let (a, b, more) = (terms.arg(x, 0), terms.arg(x, 1), terms.width(t) - terms.width(x));
        let wraps = self.ranges.wraps(terms, x, signed)?;
        let mut extend = |t| if signed { terms.sign_extend(t, more) } else { terms.zero_extend(t, more) };
        let (wide_a, wide_b) = (extend(a), extend(b));
        if op == Op::Mul {
            return (!wraps).then(|| terms.mul(wide_a, wide_b));
        }
        let sum = terms.add(wide_a, wide_b);
        if !wraps {
            return Some(sum);
        }
        let modulus = BitVec::from_bits(terms.width(t), |i| i == terms.width(x)).neg();
        let modulus = terms.bv_const(&modulus);
        Some(terms.add(sum, modulus))
    }
}

/// The words that an equation is about.
fn words(terms: &Terms, t: Term) -> Option<(Term, Term)> {
    (terms.op(t) == Op::Eq && terms.sort(terms.arg(t, 0)).width().is_some())
        .then(|| (terms.arg(t, 0), terms.arg(t, 1)))
}

/// What an assertion is, in the order in which assertions are taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// What some bits of a word are, its sign for example.
    Bits,
    Comparison,
    /// What a word is that is no combination of others.
    Equation,
    /// No combination of other formulas.
    Atom,
    Other,
}

fn kind(terms: &Terms, t: Term) -> Kind {
    let (t, truth) = terms.as_not(t).map_or((t, true), |atom| (atom, false));
    match terms.op(t) {
        Op::Ult | Op::Slt => Kind::Comparison,
        Op::And | Op::Ite => Kind::Other,
        Op::Eq if terms.is_bool(terms.arg(t, 0)) => Kind::Other,
        Op::Eq if terms.op(terms.arg(t, 0)) == Op::Extract && terms.is_const(terms.arg(t, 1)) => Kind::Bits,
        Op::Eq if truth && terms.args(t).iter().any(|side| is_leaf(terms, *side)) => Kind::Equation,
        _ => Kind::Atom,
    }
}

/// Whether a bit-vector is no combination of other bit-vectors.
fn is_leaf(terms: &Terms, t: Term) -> bool {
    matches!(terms.op(t), Op::Var | Op::Select | Op::Apply)
}
