//! Elimination of unconstrained terms.
//!
//! A variable that occurs once lets the operator above it take every value: whatever `x + t` is to
//! be, some `x` makes it so (Bruttomesso, *RTL Verification: From SAT to SMT(BV)*, 2008). Such a
//! term is replaced by a variable that stands for it, and `t` is gone. The value of `x` in a model
//! follows from that of the stand-in by the inverse of the operator.
//!
//! When a later assertion or assumption mentions `x` after all, the equation between the stand-in
//! and its term is asserted at the level of that mention, and `x` is a variable like others until
//! the level is popped.

use crate::sparse::{self, Sparse};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bitvec::BitVec;
use crate::term::{Op, Sort, Term, Terms};

/// No term: not seen yet.
const NONE: Term = Term(sparse::NONE);

/// How a variable was eliminated.
struct Elimination {
    /// The term that was replaced.
    whole: Term,
    stand_in: Term,
    /// The value of the variable.
    value: Term,
}

/// The eliminations of the open levels, and the replacement in terms.
#[derive(Default)]
pub(super) struct Unconstrained {
    /// What each term is replaced by. A variable in use is replaced by itself, an eliminated one
    /// by nothing yet.
    memo: Sparse,
    /// Terms with a replacement, in order, to undo the levels.
    trail: Vec<Term>,
    eliminations: FxHashMap<Term, Elimination>,
    /// Eliminated variables, in order.
    eliminated: Vec<Term>,
    /// The lengths of both lists below each open level.
    marks: Vec<(usize, usize)>,
}

impl Unconstrained {
    /// Opens levels until there are `level` of them.
    pub(super) fn open_until(&mut self, level: usize) {
        while self.marks.len() < level {
            self.marks.push((self.trail.len(), self.eliminated.len()));
        }
    }

    /// Closes levels until there are `level` of them.
    pub(super) fn close_until(&mut self, level: usize) {
        while self.marks.len() > level {
            let (trail, eliminated) = self.marks.pop().expect("there are levels left");
            for t in self.trail.drain(trail..) {
                self.memo.set(t.index(), NONE.0);
            }
            for x in self.eliminated.drain(eliminated..) {
                self.eliminations.remove(&x);
            }
        }
    }

    fn get(&self, t: Term) -> Term {
        Term(self.memo.get(t.index()))
    }

    fn set(&mut self, t: Term, to: Term) {
        self.memo.set(t.index(), to.0);
        self.trail.push(t);
    }

    /// The term whose value an eliminated variable has.
    pub(super) fn value(&self, var: Term) -> Option<Term> {
        let elimination = self.eliminations.get(&var)?;
        (self.get(var) == NONE).then_some(elimination.value)
    }

    /// The eliminated variables, those in use again included.
    pub(super) fn eliminated(&self) -> &[Term] {
        &self.eliminated
    }

    /// Takes new assertions by level, lowest first, and returns what replaces them. Variables of
    /// `others` are left alone, since they are about to be used.
    pub(super) fn absorb(
        &mut self,
        terms: &mut Terms,
        batches: &[(usize, Vec<Term>)],
        others: &[Term],
    ) -> Vec<(usize, Term)> {
        let roots: Vec<Term> = batches.iter().flat_map(|(_, batch)| batch).copied().collect();
        let uses = self.unseen(terms, &roots);
        let mut candidates = uses.clone();
        candidates
            .retain(|t, uses| *uses == 1 && terms.op(*t) == Op::Var && !self.eliminations.contains_key(t));
        if !candidates.is_empty() {
            let spared = self.unseen(terms, others);
            candidates.retain(|x, _| !spared.contains_key(x));
        }
        let mut out = Vec::with_capacity(roots.len());
        for (level, batch) in batches {
            self.open_until(*level);
            if !candidates.is_empty() {
                self.eliminate(terms, batch, &uses, &candidates);
            }
            let mut equations = Vec::new();
            for t in batch {
                let t = self.rewrite(terms, *t, &mut equations);
                out.push((*level, t));
            }
            out.extend(equations.into_iter().map(|t| (*level, t)));
        }
        out
    }

    /// Replaces what is eliminated in a term. Adds equations for eliminated variables that it
    /// mentions to `equations`.
    pub(super) fn rewrite(&mut self, terms: &mut Terms, t: Term, equations: &mut Vec<Term>) -> Term {
        let mut revived = Vec::new();
        let out = self.replace(terms, t, &mut revived);
        while let Some(x) = revived.pop() {
            let Elimination { whole, stand_in, .. } = self.eliminations[&x];
            // The whole itself is replaced by its stand-in, so its arguments are looked at.
            let args = terms.args(whole).to_vec();
            let args: Vec<Term> = args.into_iter().map(|a| self.replace(terms, a, &mut revived)).collect();
            let whole = terms.with_args(whole, &args);
            let equation = terms.eq(stand_in, whole);
            if !equations.contains(&equation) {
                equations.push(equation);
            }
        }
        out
    }

    fn replace(&mut self, terms: &mut Terms, t: Term, revived: &mut Vec<Term>) -> Term {
        let mut stack = vec![t];
        let mut args = Vec::new();
        while let Some(&t) = stack.last() {
            if self.get(t) != NONE {
                stack.pop();
                continue;
            }
            if terms.op(t) == Op::Var && self.eliminations.contains_key(&t) {
                revived.push(t);
            }
            let before = stack.len();
            stack.extend(terms.args(t).iter().filter(|a| self.get(**a) == NONE));
            if stack.len() > before {
                continue;
            }
            args.clear();
            args.extend(terms.args(t).iter().map(|a| self.get(*a)));
            let new = if args == terms.args(t) { t } else { terms.with_args(t, &args) };
            self.set(t, new);
            stack.pop();
        }
        self.get(t)
    }

    /// Terms that were not seen before, with how often they are used as arguments or roots.
    fn unseen(&self, terms: &Terms, roots: &[Term]) -> FxHashMap<Term, u32> {
        let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
        let mut stack: Vec<Term> = roots.to_vec();
        while let Some(t) = stack.pop() {
            if self.get(t) != NONE {
                continue;
            }
            let count = uses.entry(t).or_insert(0);
            *count += 1;
            if *count == 1 {
                stack.extend(terms.args(t));
            }
        }
        uses
    }

    /// Finds unconstrained terms in the assertions of a level and eliminates the variables under
    /// them, which are among the candidates. `uses` counts the uses of all new terms.
    fn eliminate(
        &mut self,
        terms: &mut Terms,
        assertions: &[Term],
        uses: &FxHashMap<Term, u32>,
        candidates: &FxHashMap<Term, u32>,
    ) {
        // Terms that can take every value, whatever other variables are.
        let mut free: FxHashSet<Term> = FxHashSet::default();
        let mut under: FxHashMap<Term, Vec<usize>> = FxHashMap::default();
        let mut order: Vec<Term> = self.unseen(terms, assertions).into_keys().collect();
        order.sort_unstable();
        for t in order {
            let freed = freed_by(terms, t, |a| free.contains(&a) && uses.get(&a) == Some(&1));
            if !freed.is_empty() {
                free.insert(t);
                under.insert(t, freed);
            } else if candidates.contains_key(&t) {
                free.insert(t);
            }
        }
        // From the outermost ones down to the variables.
        let inner: FxHashSet<Term> =
            under.iter().flat_map(|(t, freed)| freed.iter().map(|i| terms.arg(*t, *i))).collect();
        let mut outermost: Vec<Term> = under.keys().copied().filter(|t| !inner.contains(t)).collect();
        outermost.sort_unstable();
        for whole in outermost {
            let stand_in = terms.stand_in(whole);
            self.set(whole, stand_in);
            let mut stack = vec![(whole, stand_in)];
            while let Some((t, value)) = stack.pop() {
                let Some(freed) = under.get(&t) else {
                    self.eliminated.push(t);
                    self.eliminations.insert(t, Elimination { whole, stand_in, value });
                    continue;
                };
                let values = inverse(terms, t, freed, value);
                stack.extend(freed.iter().map(|i| terms.arg(t, *i)).zip(values));
            }
        }
    }
}

/// The arguments, among the free ones, that let a term take every value.
fn freed_by(terms: &Terms, t: Term, free: impl Fn(Term) -> bool) -> Vec<usize> {
    let args = terms.args(t);
    let is_free = |i: usize| free(args[i]);
    let one_of = |all: &[usize]| all.iter().copied().find(|i| is_free(*i)).into_iter().collect();
    let all_of = |all: &[usize]| if all.iter().all(|i| is_free(*i)) { all.to_vec() } else { Vec::new() };
    match terms.op(t) {
        Op::Not | Op::Neg | Op::Extract => one_of(&[0]),
        Op::Add | Op::Xor => one_of(&[0, 1]),
        Op::Eq if !terms.sort(args[0]).is_array() => one_of(&[0, 1]),
        Op::Mul if terms.value_of(args[1]).is_some_and(|c| c.bit(0)) => one_of(&[0]),
        Op::Ult if terms.value_of(args[1]).is_some_and(|c| !c.is_zero()) => one_of(&[0]),
        Op::Slt if terms.value_of(args[1]).is_some_and(|c| c != BitVec::signed_min(c.width())) => {
            one_of(&[0])
        }
        Op::Select if terms.op(args[0]) == Op::Var => one_of(&[0]),
        Op::And | Op::Concat => all_of(&[0, 1]),
        Op::Ite if !terms.sort(t).is_array() => [[1, 2], [0, 1], [0, 2]]
            .iter()
            .map(|pair| all_of(pair))
            .find(|f| !f.is_empty())
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Values of the freed arguments that give a term the wanted value.
fn inverse(terms: &mut Terms, t: Term, freed: &[usize], value: Term) -> Vec<Term> {
    let arg = |terms: &Terms, i: usize| terms.arg(t, i);
    let other = terms.args(t).get(1 - freed[0].min(1)).copied().unwrap_or(t);
    let constant = |terms: &mut Terms, v: BitVec| terms.bv_const(&v);
    vec![match terms.op(t) {
        Op::Not => terms.not(value),
        Op::Neg => terms.neg(value),
        Op::Add => terms.sub(value, other),
        Op::Xor => terms.bvxor(value, other),
        Op::Eq if terms.is_bool(other) => terms.eq(value, other),
        Op::Eq => {
            let different = terms.not(other);
            terms.ite(value, other, different)
        }
        Op::Mul => {
            let factor = terms.value_of(other).and_then(|c| c.inverse()).expect("an odd factor");
            let factor = constant(terms, factor);
            terms.mul(value, factor)
        }
        Op::Ult | Op::Slt => {
            let width = terms.width(other);
            let (least, greatest) = if terms.op(t) == Op::Ult {
                (BitVec::zero(width), BitVec::ones(width))
            } else {
                (BitVec::signed_min(width), BitVec::signed_max(width))
            };
            let (least, greatest) = (constant(terms, least), constant(terms, greatest));
            terms.ite(value, least, greatest)
        }
        Op::Extract => {
            let (high, low) = terms.extract_bounds(t).expect("an extraction has bounds");
            let mut whole = value;
            if low > 0 {
                let below = constant(terms, BitVec::zero(low));
                whole = terms.concat(whole, below);
            }
            let above = terms.width(arg(terms, 0)) - 1 - high;
            terms.zero_extend(whole, above)
        }
        Op::Select => {
            let Sort::Array { index, .. } = terms.sort(arg(terms, 0)) else {
                unreachable!("an array is read")
            };
            terms.const_array(index, value)
        }
        Op::And => {
            let neutral = match terms.sort(t).width() {
                Some(w) => constant(terms, BitVec::ones(w)),
                None => terms.tru(),
            };
            return vec![value, neutral];
        }
        Op::Concat => {
            let (width, low) = (terms.width(t), terms.width(arg(terms, 1)));
            return vec![terms.extract(value, width - 1, low), terms.extract(value, low - 1, 0)];
        }
        Op::Ite if freed[0] == 0 => return vec![terms.bool_const(freed[1] == 1), value],
        Op::Ite => return vec![value, value],
        other => unreachable!("{other:?} frees no argument"),
    }]
}
