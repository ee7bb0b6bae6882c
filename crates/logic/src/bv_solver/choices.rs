//! Comparisons of values that are chosen among few.
//!
//! Programs copy values about: both sides of a comparison are then nested choices between the same few terms, its
//! *ends*. Bit by bit the search has to follow each copy. Instead, `a < b` is said to hold if the i-th end is chosen
//! for `a`, the j-th for `b`, and the one is less than the other: what is compared is the same few pairs again and
//! again, and the copies are conditions.
//!
//! This is an equivalence of terms, so nothing is forgotten when levels are popped.

use crate::sparse::{self, Sparse};
use crate::term::{Op, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// No term: not rewritten yet.
const NONE: Term = Term(sparse::NONE);
/// A side with more ends is compared as it is.
const MOST_ENDS: usize = 12;

/// The rewriting of comparisons.
#[derive(Default)]
pub(super) struct Choices {
    /// What each term is rewritten to.
    memo: Sparse,
    /// The ends of words in order, or `None` if they are too many.
    ends: FxHashMap<Term, Option<Rc<[Term]>>>,
    /// When each of the ends is chosen, in the same order.
    conditions: FxHashMap<Term, Rc<[Term]>>,
    /// Comparisons of ends that were made. They are never more than the choices met: each replaces one.
    compared: FxHashSet<(Op, Term, Term)>,
    choices: usize,
}

/// Whether a term is a choice between words.
fn is_choice(terms: &Terms, t: Term) -> bool {
    terms.op(t) == Op::Ite && matches!(terms.sort(t), Sort::BitVec(_))
}

impl Choices {
    fn get(&self, t: Term) -> Term {
        Term(self.memo.get(t.index()))
    }

    fn set(&mut self, t: Term, to: Term) {
        self.memo.set(t.index(), to.0);
    }

    /// Rewrites a term, its parts first.
    pub(super) fn rewrite(&mut self, terms: &mut Terms, t: Term) -> Term {
        let mut stack = vec![t];
        let mut args = Vec::new();
        while let Some(&t) = stack.last() {
            if self.get(t) != NONE {
                stack.pop();
                continue;
            }
            let below = stack.len();
            stack.extend(terms.args(t).iter().filter(|a| self.get(**a) == NONE));
            if stack.len() > below {
                continue;
            }
            stack.pop();
            args.clear();
            args.extend(terms.args(t).iter().map(|a| self.get(*a)));
            let new = if args == terms.args(t) { t } else { terms.with_args(t, &args) };
            self.choices += usize::from(is_choice(terms, new));
            let new = self.compare(terms, new).unwrap_or(new);
            self.set(t, new);
        }
        self.get(t)
    }

    /// What a comparison of choices says about their ends.
    fn compare(&mut self, terms: &mut Terms, t: Term) -> Option<Term> {
        let op = terms.op(t);
        if !matches!(op, Op::Eq | Op::Ult | Op::Slt) {
            return None;
        }
        let (a, b) = (terms.arg(t, 0), terms.arg(t, 1));
        if !is_choice(terms, a) && !is_choice(terms, b) {
            return None;
        }
        let (left, right) = (self.ends(terms, a)?, self.ends(terms, b)?);
        let pairs = || left.iter().flat_map(|x| right.iter().map(move |y| (op, *x, *y)));
        let is_new = |&(op, x, y): &(Op, Term, Term)| {
            let known = x == y || terms.op(x) == Op::Const && terms.op(y) == Op::Const;
            !known && !self.compared.contains(&(op, x, y))
        };
        let new: Vec<_> = pairs().filter(is_new).collect();
        if self.compared.len() + new.len() > self.choices {
            return None;
        }
        self.compared.extend(new);
        let (chosen, other) = (self.conditions(terms, a), self.conditions(terms, b));
        let mut holds = terms.fls();
        for (x, when) in left.iter().zip(chosen.iter()) {
            let mut so = terms.fls();
            for (y, also) in right.iter().zip(other.iter()) {
                let compared = terms.with_args(t, &[*x, *y]);
                let both = terms.and(*also, compared);
                so = terms.or(so, both);
            }
            let so = terms.and(*when, so);
            holds = terms.or(holds, so);
        }
        Some(holds)
    }

    /// The ends of a word.
    fn ends(&mut self, terms: &Terms, t: Term) -> Option<Rc<[Term]>> {
        let mut stack = vec![t];
        while let Some(&t) = stack.last() {
            if self.ends.contains_key(&t) {
                stack.pop();
                continue;
            }
            let ends = if is_choice(terms, t) {
                let sides = [terms.arg(t, 1), terms.arg(t, 2)];
                let below = stack.len();
                stack.extend(sides.iter().filter(|s| !self.ends.contains_key(s)));
                if stack.len() > below {
                    continue;
                }
                match sides.map(|s| self.ends[&s].clone()) {
                    [Some(a), Some(b)] => {
                        let mut all = [&a[..], &b[..]].concat();
                        all.sort_unstable();
                        all.dedup();
                        (all.len() <= MOST_ENDS).then(|| all.into())
                    }
                    _ => None,
                }
            } else {
                Some([t].into())
            };
            self.ends.insert(t, ends);
            stack.pop();
        }
        self.ends[&t].clone()
    }

    /// When each end of a word is chosen; they are not too many.
    fn conditions(&mut self, terms: &mut Terms, t: Term) -> Rc<[Term]> {
        let mut stack = vec![t];
        while let Some(&t) = stack.last() {
            if self.conditions.contains_key(&t) {
                stack.pop();
                continue;
            }
            let conditions: Rc<[Term]> = if is_choice(terms, t) {
                let (condition, sides) = (terms.arg(t, 0), [terms.arg(t, 1), terms.arg(t, 2)]);
                let below = stack.len();
                stack.extend(sides.iter().filter(|s| !self.conditions.contains_key(s)));
                if stack.len() > below {
                    continue;
                }
                let known = sides.map(|s| (self.ends(terms, s).expect("no more than here"), s));
                let ends = self.ends(terms, t).expect("asked for");
                let when = |end: &Term| {
                    let [yes, no] = known.each_ref().map(|(ends, side)| match ends.binary_search(end) {
                        Ok(i) => self.conditions[side][i],
                        Err(_) => terms.fls(),
                    });
                    terms.ite(condition, yes, no)
                };
                ends.iter().map(when).collect()
            } else {
                [terms.tru()].into()
            };
            self.conditions.insert(t, conditions);
            stack.pop();
        }
        self.conditions[&t].clone()
    }
}
