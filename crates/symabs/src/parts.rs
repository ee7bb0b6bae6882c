//! Words and their parts as sums ([`Reading::Sums`](crate::formula::Reading)).
//!
//! Extraction, constant shifts and masks take bits `l` to `h` of a word. With the word cut wherever a part of it begins
//! or ends, the word is `Σ 2^l·part` and so is everything taken from it; with a constant divisor a dividend is
//! `d·quotient + remainder`. These equations are exact and affine, though none of the operations is. The results
//! of other operations are just numbers: equal terms are equal ones.

use crate::builder::{Builder, Definition};
use crate::terms::of_bits;
use palisade_logic::{Op, Term, Terms};
use palisade_num::Int;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A part of a word, from its lowest bit on.
pub(crate) struct Part {
    low: u32,
    variable: Term,
}

/// Where words are cut in a formula: words with parts that do not begin at their lowest bit. A part that does is
/// the word modulo a power of two.
pub(crate) fn cuts(terms: &Terms, root: Term) -> FxHashMap<Term, BTreeSet<u32>> {
    let mut all: FxHashMap<Term, BTreeSet<u32>> = FxHashMap::default();
    let mut inner = FxHashSet::default();
    for t in terms.subterms(&[root]) {
        if let Some((high, low)) = terms.extract_bounds(t) {
            let word = terms.args(t)[0];
            all.entry(word).or_default().extend([low, high + 1, 0, terms.width(word)]);
            if low > 0 {
                inner.insert(word);
            }
        }
    }
    all.retain(|word, _| inner.contains(word));
    all
}

impl Builder<'_> {
    /// Operations on bit-vectors that are no sums.
    pub(crate) fn is_nonlinear(&self, t: Term) -> bool {
        let constant = |t: &Term| self.terms.is_const(*t);
        match self.terms.op(t) {
            Op::Mul => !self.terms.args(t).iter().any(constant),
            Op::And | Op::Xor | Op::Udiv | Op::Urem | Op::Shl | Op::Lshr | Op::Ashr => true,
            Op::Extract => self.cuts.contains_key(&self.terms.args(t)[0]),
            _ => false,
        }
    }

    /// Puts variables in place of a part, a quotient or a remainder, if it is one.
    pub(crate) fn as_parts(&mut self, t: Term) -> bool {
        let args = self.terms.args(t).to_vec();
        match (self.terms.op(t), args.as_slice()) {
            (Op::Extract, [word]) => {
                let Some((high, low)) = self.terms.extract_bounds(t) else { return false };
                let parts = self.parts_of(*word);
                let inside = |p: &&Part| p.low >= low && p.low <= high;
                let width: u32 = parts.iter().filter(inside).map(|p| self.terms.width(p.variable)).sum();
                if width != high - low + 1 || parts.iter().all(|p| p.low != low) {
                    return false;
                }
                let mut together = None;
                for p in parts.iter().filter(inside) {
                    together = Some(together.map_or(p.variable, |low| self.terms.concat(p.variable, low)));
                }
                self.stands_for.extend(together.map(|together| (t, together)));
                true
            }
            (Op::Udiv | Op::Urem, [a, b]) => {
                let divisor = self.terms.value_of(*b).map(|v| of_bits(&v, false));
                let Some(d) = divisor.filter(|d| !d.is_zero()) else { return false };
                self.divide(*a, *b, d);
                self.stands_for.contains_key(&t)
            }
            _ => false,
        }
    }

    /// The parts of a word, lowest first.
    fn parts_of(&mut self, word: Term) -> Arc<[Part]> {
        if let Some(known) = self.parts.get(&word) {
            return known.clone();
        }
        let signed = self.is_signed(word);
        let at: Vec<u32> = self.cuts.get(&word).into_iter().flatten().copied().collect();
        let (mut parts, mut sum) = (Vec::new(), Vec::new());
        for ends in at.windows(2) {
            let [low, end] = *ends else { continue };
            // The highest part has the sign.
            let (variable, dim) = self.hidden(end - low, signed && end == self.terms.width(word));
            parts.push(Part { low, variable });
            sum.push((dim, Int::pow2(low)));
        }
        self.definitions.push(Definition::Sum { of: word, signed, parts: sum });
        let parts: Arc<[Part]> = parts.into();
        self.parts.insert(word, parts.clone());
        parts
    }

    /// `a = d·q + r` with `r < d`.
    fn divide(&mut self, a: Term, b: Term, d: Int) {
        let (quotient, remainder) = (self.terms.udiv(a, b), self.terms.urem(a, b));
        let width = self.terms.width(a);
        let ((q, q_dim), (r, r_dim)) = (self.hidden(width, false), self.hidden(width, false));
        self.stands_for.extend([(quotient, q), (remainder, r)]);
        self.definitions.push(Definition::Fact(self.terms.ult(r, b)));
        let parts = vec![(q_dim, d), (r_dim, Int::ONE)];
        self.definitions.push(Definition::Sum { of: a, signed: false, parts });
    }
}

#[cfg(test)]
mod tests {
    use crate::assume::Config;
    use crate::below::Models;
    use crate::operations::Abstraction;
    use crate::terms::Vocabulary;
    use palisade_domains::{Affine, Dynamic, Lattice, NumericDomain, WordSize};
    use palisade_logic::{BitVec, BvSolver, Sort, Term, Terms};

    /// Operations whose parts are related: from above finds what the models say, and never more.
    #[test]
    fn parts_of_words_are_related() {
        type Parts = fn(&mut Terms, Term) -> Vec<Term>;
        let cases: [(&str, Parts); 5] = [
            ("bytes", |t, x| vec![t.extract(x, 3, 0), t.extract(x, 7, 4)]),
            ("three parts that overlap", |t, x| {
                vec![t.extract(x, 1, 0), t.extract(x, 5, 2), t.extract(x, 7, 2), t.extract(x, 7, 6)]
            }),
            ("shifts and masks", |t, x| {
                let (two, mask) = (t.bv_const(&BitVec::new(8, 2)), t.bv_const(&BitVec::new(8, 3)));
                vec![t.lshr(x, two), t.and(x, mask), t.ashr(x, two)]
            }),
            ("quotient and remainder", |t, x| {
                let ten = t.bv_const(&BitVec::new(8, 10));
                vec![t.udiv(x, ten), t.urem(x, ten)]
            }),
            ("exclusive or", |t, x| {
                let six = t.bv_const(&BitVec::new(8, 6));
                let other = t.var("y", Sort::BitVec(8));
                vec![other, t.bvxor(x, other), t.bvxor(x, six)]
            }),
        ];
        for signed in [false, true] {
            for (name, parts) in &cases {
                let mut terms = Terms::new();
                let mut voc = Vocabulary::new();
                let x = terms.var("x", Sort::BitVec(8));
                voc.add(&terms, x, signed);
                let mut phi = terms.tru();
                for p in parts(&mut terms, x) {
                    let v = terms.fresh_var("part", terms.sort(p));
                    voc.add(&terms, v, false);
                    let same = terms.eq(v, p);
                    phi = terms.and(phi, same);
                }
                let zero = terms.bv_const(&BitVec::new(8, 0));
                let not_zero = terms.ne(x, zero);
                phi = terms.and(phi, not_zero);
                let top = Dynamic::of(Affine::top(&WordSize::new(64)));
                let mut solver = BvSolver::new();
                let mut models = Models { terms: &mut terms, solver: &mut solver, voc: &voc };
                let best = models.from_below(phi, &top, 1000).upper;
                let mut above =
                    Abstraction { terms: &mut terms, config: Config::new(1), solver: None, queries: 0 };
                let found = above.from_above(&voc, phi, &top);
                assert!(best.leq(&found), "{name}: {found:?} without {best:?}");
                // The highest part of a signed word has a sign, which unsigned variables for it lose.
                assert!(signed || found.leq(&best), "{name}: {found:?}, best {best:?}");
            }
        }
    }
}
