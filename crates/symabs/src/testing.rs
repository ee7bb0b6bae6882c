//! Random formulas over a small vocabulary, for the tests.

use crate::terms::Vocabulary;
use palisade_domains::MachineInt;
use palisade_logic::{BitVec, Model, Sort, Term, Terms, Value};

pub use palisade_domains::laws::Rng;

/// `x` signed and `y` unsigned, of `width` bits, and the truth value `b`.
pub fn small_vocabulary(terms: &mut Terms, width: u32) -> Vocabulary {
    let mut voc = Vocabulary::new();
    let (x, y) = (terms.var("x", Sort::BitVec(width)), terms.var("y", Sort::BitVec(width)));
    let b = terms.var("b", Sort::Bool);
    voc.insert(terms, palisade_domains::Dim::int(0), x, MachineInt::signed(width));
    voc.insert(terms, palisade_domains::Dim::int(1), y, MachineInt::unsigned(width));
    voc.insert(terms, palisade_domains::Dim::int(2), b, MachineInt::unsigned(1));
    voc
}

/// All models over the variables of a vocabulary.
pub fn assignments(terms: &Terms, voc: &Vocabulary) -> Vec<Model> {
    let mut all = vec![Model::new()];
    for e in voc.entries() {
        let values: Vec<Value> = (0..1u64 << e.ty.width)
            .map(|v| match terms.is_bool(e.term) {
                true => Value::Bool(v == 1),
                false => Value::BitVec(BitVec::new(e.ty.width, v)),
            })
            .collect();
        all = all
            .iter()
            .flat_map(|m| {
                values.iter().map(|v| {
                    let mut m = m.clone();
                    m.set(e.term, v.clone());
                    m
                })
            })
            .collect();
    }
    all
}

/// A random bit-vector term of the given width.
pub fn random_bits(terms: &mut Terms, voc: &Vocabulary, rng: &mut Rng, width: u32, depth: u32) -> Term {
    if depth == 0 || rng.below(6) == 0 {
        let vars: Vec<Term> =
            voc.entries().iter().map(|e| e.term).filter(|t| terms.sort(*t) == Sort::BitVec(width)).collect();
        return match rng.below(3) {
            0 | 1 if !vars.is_empty() => vars[rng.below(vars.len() as u64) as usize],
            _ => terms.bv_const(&BitVec::new(width, rng.next_u64() & ((1 << width) - 1))),
        };
    }
    let mut sub = |terms: &mut Terms, w: u32| random_bits(terms, voc, rng, w, depth - 1);
    let a = sub(terms, width);
    let b = sub(terms, width);
    match rng.below(16) {
        0 => terms.neg(a),
        1..=3 => terms.add(a, b),
        4 => terms.sub(a, b),
        5 => terms.mul(a, b),
        6 => terms.and(a, b),
        7 => terms.or(a, b),
        8 => terms.bvxor(a, b),
        9 => terms.not(a),
        10 if width > 1 => {
            let low = terms.extract(a, width - 2, 0);
            if rng.below(2) == 0 { terms.sign_extend(low, 1) } else { terms.zero_extend(low, 1) }
        }
        11 if width > 1 => {
            let (high, low) = (terms.extract(a, 0, 0), terms.extract(b, width - 1, 1));
            terms.concat(high, low)
        }
        12 => {
            let k = terms.bv_const(&BitVec::new(width, 1 + rng.below((1 << width) - 1)));
            if rng.below(2) == 0 { terms.udiv(a, k) } else { terms.urem(a, k) }
        }
        13 => {
            let k = terms.bv_const(&BitVec::new(width, rng.below(3)));
            if rng.below(2) == 0 { terms.shl(a, k) } else { terms.ashr(a, k) }
        }
        _ => {
            let c = random_bool(terms, voc, rng, depth - 1);
            terms.ite(c, a, b)
        }
    }
}

/// A random formula over the vocabulary.
pub fn random_bool(terms: &mut Terms, voc: &Vocabulary, rng: &mut Rng, depth: u32) -> Term {
    let width = voc.entries()[0].ty.width;
    if depth > 0 && rng.below(2) == 0 {
        let a = random_bool(terms, voc, rng, depth - 1);
        let b = random_bool(terms, voc, rng, depth - 1);
        return match rng.below(6) {
            0 | 1 => terms.and(a, b),
            2 | 3 => terms.or(a, b),
            4 => terms.eq(a, b),
            _ => {
                let c = random_bool(terms, voc, rng, depth - 1);
                terms.ite(c, a, b)
            }
        };
    }
    let a = random_bits(terms, voc, rng, width, depth);
    let b = random_bits(terms, voc, rng, width, depth);
    match rng.below(6) {
        0 | 1 => terms.eq(a, b),
        2 => terms.ult(a, b),
        3 => terms.slt(a, b),
        4 => terms.ne(a, b),
        _ => voc.entries()[2].term,
    }
}
