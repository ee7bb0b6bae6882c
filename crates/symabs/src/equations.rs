//! Equations of a formula applied in the rest of it.
//!
//! The integrity constraints of `x = t` and `y = t` are met one by one, each in the domain's reading of `t`; where
//! that loses something the two readings no longer agree. Replacing equals by equals before, `y = x` is left, which
//! every reading keeps. The new formula has the same models over the vocabulary.

use crate::terms::Vocabulary;
use palisade_logic::{Op, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// Rounds at most: what a replacement makes of an equation may be an equation to replace by.
const ROUNDS: usize = 4;

/// The formula after its top-level equations between bit-vectors were applied.
pub fn apply(terms: &mut Terms, voc: &Vocabulary, phi: Term) -> Term {
    let mut phi = phi;
    for _ in 0..ROUNDS {
        let before = phi;
        phi = classes(terms, voc, phi);
        phi = definitions(terms, phi);
        if phi == before {
            break;
        }
    }
    phi
}

/// The sides of an equation between bit-vectors. A bit that differs from a constant equals the other one.
fn sides(terms: &mut Terms, t: Term) -> Option<[Term; 2]> {
    if let (Op::Not, [inner]) = (terms.op(t), terms.args(t)) {
        let [a, b] = sides(terms, *inner)?;
        let constant = terms.width(a) == 1 && (terms.is_const(a) || terms.is_const(b));
        let (a, b) = if terms.is_const(a) { (b, a) } else { (a, b) };
        return constant.then(|| [a, terms.not(b)]);
    }
    let [a, b] = *terms.args(t) else { return None };
    (terms.op(t) == Op::Eq && terms.sort(a).width().is_some()).then_some([a, b])
}

/// Variables that equal each other or a constant: one of them stands for all. Others of the vocabulary keep an
/// equation that says so.
fn classes(terms: &mut Terms, voc: &Vocabulary, phi: Term) -> Term {
    let simple = |terms: &Terms, t: Term| matches!(terms.op(t), Op::Var | Op::Const);
    let mut parent: FxHashMap<Term, Term> = FxHashMap::default();
    let find = |parent: &FxHashMap<Term, Term>, mut t: Term| {
        while let Some(up) = parent.get(&t) {
            t = *up;
        }
        t
    };
    let mut named = Vec::new();
    let mut rest = Vec::new();
    for c in terms.conjuncts(phi) {
        let Some([a, b]) = sides(terms, c).filter(|s| s.iter().all(|t| simple(terms, *t))) else {
            rest.push(c);
            continue;
        };
        named.extend([a, b]);
        // A constant stands for a variable, and one of the vocabulary for one that is not.
        let rank = |t: Term| (terms.is_const(t), voc.of_term(t).is_some(), std::cmp::Reverse(t));
        let (a, b) = (find(&parent, a), find(&parent, b));
        match rank(a) >= rank(b) {
            _ if a == b => {}
            // Two constants: the equation is false, and stays.
            _ if terms.is_const(a) && terms.is_const(b) => rest.push(c),
            true => {
                parent.insert(b, a);
            }
            false => {
                parent.insert(a, b);
            }
        }
    }
    if parent.is_empty() {
        return phi;
    }
    let mut memo: FxHashMap<Term, Term> = parent.keys().map(|t| (*t, find(&parent, *t))).collect();
    let map = memo.clone();
    let mut all: Vec<Term> = rest.into_iter().map(|c| terms.substitute_with(c, &mut memo)).collect();
    let mut said = FxHashSet::default();
    for v in named {
        if let Some(by) = map.get(&v)
            && voc.of_term(v).is_some()
            && said.insert(v)
        {
            all.push(terms.eq(v, *by));
        }
    }
    terms.and_all(all)
}

/// Terms that equal a variable or a constant are replaced by it, except in the equation that says so: there only
/// smaller terms are replaced, so that every equation can be read back from those for smaller terms.
fn definitions(terms: &mut Terms, phi: Term) -> Term {
    let conjuncts = terms.conjuncts(phi);
    let mut memo: FxHashMap<Term, Term> = FxHashMap::default();
    let mut own: FxHashMap<Term, (Term, Term)> = FxHashMap::default();
    for &c in &conjuncts {
        let Some([a, b]) = sides(terms, c) else { continue };
        let (from, to) = match (terms.op(a), terms.op(b)) {
            (Op::Var | Op::Const, Op::Var | Op::Const) => continue,
            (_, Op::Var | Op::Const) => (a, b),
            (Op::Var | Op::Const, _) => (b, a),
            _ => continue,
        };
        if let Entry::Vacant(free) = memo.entry(from) {
            free.insert(to);
            own.insert(c, (from, to));
        }
    }
    if memo.is_empty() {
        return phi;
    }
    let mut all = Vec::with_capacity(conjuncts.len());
    for c in conjuncts {
        let new = match own.get(&c) {
            None => terms.substitute_with(c, &mut memo),
            Some(&(from, to)) => {
                let args = terms.args(from).to_vec();
                let args: Vec<Term> = args.into_iter().map(|a| terms.substitute_with(a, &mut memo)).collect();
                let from = terms.with_args(from, &args);
                terms.eq(to, from)
            }
        };
        all.push(new);
    }
    terms.and_all(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, assignments, random_bits, random_bool, small_vocabulary};
    use palisade_logic::{Sort, Value};

    /// At width 2, with variables that are not of the vocabulary: the same states have an extension that is a model.
    #[test]
    fn the_models_over_the_vocabulary_stay() {
        let mut rng = Rng::new(51);
        for _ in 0..300 {
            let mut terms = Terms::new();
            let voc = small_vocabulary(&mut terms, 2);
            let mut all = voc.clone();
            let hidden: Vec<Term> = (0..2).map(|_| terms.fresh_var("h", Sort::BitVec(2))).collect();
            hidden.iter().for_each(|h| {
                all.add(&terms, *h, false);
            });
            let mut parts = vec![random_bool(&mut terms, &all, &mut rng, 2)];
            for _ in 0..1 + rng.below(4) {
                let left = all.entries()[rng.below(all.entries().len() as u64) as usize].term;
                if !terms.is_bool(left) {
                    let right = random_bits(&mut terms, &all, &mut rng, 2, 2);
                    parts.push(terms.eq(left, right));
                }
            }
            let phi = terms.and_all(parts);
            let new = apply(&mut terms, &voc, phi);
            let states = |t: Term| {
                let models = assignments(&terms, &all);
                let mut states: Vec<Vec<(palisade_domains::Dim, palisade_num::Int)>> = models
                    .iter()
                    .filter(|m| terms.evaluate(t, m) == Value::Bool(true))
                    .map(|m| voc.state(|v| Some(terms.evaluate(v, m))))
                    .collect();
                states.sort();
                states.dedup();
                states
            };
            assert_eq!(states(phi), states(new));
        }
    }

    #[test]
    fn equal_terms_make_variables_equal() {
        let mut terms = Terms::new();
        let voc = small_vocabulary(&mut terms, 8);
        let [x, y] = [0, 1].map(|i| voc.entries()[i].term);
        let h = terms.fresh_var("h", Sort::BitVec(8));
        let square = terms.mul(h, h);
        let (first, second) = (terms.eq(x, square), terms.eq(square, y));
        let phi = terms.and(first, second);
        let new = apply(&mut terms, &voc, phi);
        let same = terms.eq(x, y);
        assert!(terms.conjuncts(new).contains(&same));
        // A variable outside the vocabulary goes.
        let (first, second) = (terms.eq(x, h), terms.eq(h, y));
        let phi = terms.and(first, second);
        assert_eq!(apply(&mut terms, &voc, phi), same);
    }
}
