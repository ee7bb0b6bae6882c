//! From terms to gates, one rule for each operator.

use rustc_hash::FxHashMap;

use super::gates::{FALSE, Gates};
use super::words::{self, Word};
use crate::solver::{Limits, Unknown};
use crate::term::{Op, Sort, Term, Terms};
use palisade_lrat::Lit;

/// Gates made between two looks at the limits.
const POLL: usize = 1 << 14;

/// The bits of terms. Reads of arrays, applications of functions and equalities of arrays are
/// inputs that nothing is said about; see [`super::axioms`].
pub(super) struct Blaster {
    pub(super) gates: Gates,
    words: FxHashMap<Term, Word>,
    /// Terms in the order of blasting, which depends on what was asserted alone.
    pub(super) order: Vec<Term>,
    /// Quotient and remainder of pairs of terms.
    divisions: FxHashMap<(Term, Term), (Word, Word)>,
    /// Terms that have bits and whose meaning the axioms give, in the order of blasting.
    pub(super) free: Vec<Term>,
    /// Terms of array sort.
    pub(super) arrays: Vec<Term>,
    /// Variables that have bits.
    pub(super) variables: Vec<Term>,
    next_poll: usize,
}

impl Blaster {
    pub(super) fn new() -> Self {
        Blaster {
            gates: Gates::new(),
            words: FxHashMap::default(),
            order: Vec::new(),
            divisions: FxHashMap::default(),
            free: Vec::new(),
            arrays: Vec::new(),
            variables: Vec::new(),
            next_poll: POLL,
        }
    }

    /// The bits of a term, if it was blasted.
    pub(super) fn word(&self, t: Term) -> Option<&Word> {
        self.words.get(&t)
    }

    fn bits(&self, t: Term) -> Word {
        self.words.get(&t).expect("arguments are blasted first").clone()
    }

    /// The literal of a Boolean term, blasted.
    pub(super) fn literal(&mut self, terms: &Terms, t: Term, limits: &Limits) -> Result<Lit, Unknown> {
        self.blast(terms, t, limits)?;
        Ok(self.bits(t)[0])
    }

    /// Gives bits to a term and to all it is made of.
    pub(super) fn blast(&mut self, terms: &Terms, t: Term, limits: &Limits) -> Result<(), Unknown> {
        let mut stack = vec![t];
        while let Some(&t) = stack.last() {
            if self.words.contains_key(&t) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(terms.args(t).iter().filter(|a| !self.words.contains_key(a)));
            if stack.len() == before {
                let word = self.node(terms, t);
                self.words.insert(t, word);
                self.order.push(t);
                stack.pop();
                if self.gates.len() >= self.next_poll {
                    self.next_poll = self.gates.len() + POLL;
                    limits.budget.check().map_err(Unknown::Stopped)?;
                    if limits.memory.is_some_and(|limit| self.bytes() > limit) {
                        return Err(Unknown::Memory);
                    }
                }
            }
        }
        Ok(())
    }

    /// An estimate of the bytes held.
    pub(super) fn bytes(&self) -> u64 {
        // Words are small, and there are about as many bits in them as there are gates.
        (self.gates.clauses.capacity() * 4 + self.gates.len() * 8 + self.words.len() * 40) as u64
    }

    fn inputs(&mut self, n: u32) -> Word {
        (0..n).map(|_| self.gates.input()).collect()
    }

    fn node(&mut self, terms: &Terms, t: Term) -> Word {
        let args = terms.args(t);
        let width = match terms.sort(t) {
            Sort::Bool => 1,
            Sort::BitVec(w) => w,
            Sort::Array { .. } => {
                self.arrays.push(t);
                return Word::new();
            }
        };
        if matches!(terms.op(t), Op::Udiv | Op::Urem) {
            return self.division(args[0], args[1], terms.op(t) == Op::Udiv);
        }
        if terms.op(t) == Op::Var {
            self.variables.push(t);
            return self.inputs(width);
        }
        if is_free(terms, t) {
            self.free.push(t);
            return self.inputs(width);
        }
        let (a, b) = (
            args.first().map(|t| self.bits(*t)).unwrap_or_default(),
            args.get(1).map(|t| self.bits(*t)).unwrap_or_default(),
        );
        let g = &mut self.gates;
        match terms.op(t) {
            Op::Const => match terms.value_of(t) {
                Some(v) => (0..width).map(|i| Gates::constant(v.bit(i))).collect(),
                None => vec![Gates::constant(t == terms.tru())],
            },
            Op::Not => words::complement(&a),
            Op::And => a.iter().zip(&b).map(|(x, y)| g.and(*x, *y)).collect(),
            Op::Xor => a.iter().zip(&b).map(|(x, y)| g.xor(*x, *y)).collect(),
            Op::Eq => vec![words::equal(g, &a, &b)],
            Op::Ite => {
                let other = self.words.get(&args[2]).expect("arguments are blasted first");
                words::ite(g, a[0], &b, other)
            }
            Op::Neg => words::negate(g, &a),
            Op::Add => words::add(g, &a, &b, FALSE).0,
            Op::Mul => words::multiply(g, &a, &b),
            Op::Shl => words::shift_left(g, &a, &b),
            Op::Lshr => words::shift_right(g, &a, &b, FALSE),
            Op::Ashr => words::shift_right(g, &a, &b, a[a.len() - 1]),
            Op::Concat => [b, a].concat(),
            Op::Extract => {
                let (high, low) = terms.extract_bounds(t).expect("an extraction has bounds");
                a[low as usize..=high as usize].to_vec()
            }
            Op::SignExtend => words::sign_extended(&a, width as usize),
            Op::Ult => vec![words::less(g, &a, &b)],
            Op::Slt => vec![words::signed_less(g, &a, &b)],
            Op::Umulo => vec![words::multiply_overflows(g, &a, &b)],
            Op::Smulo => vec![words::signed_multiply_overflows(g, &a, &b)],
            Op::Var | Op::Udiv | Op::Urem | Op::Select | Op::Apply | Op::Store | Op::ConstArray => {
                unreachable!("handled above, or without bits")
            }
        }
    }

    /// Quotient or remainder; one division serves both.
    fn division(&mut self, a: Term, b: Term, quotient: bool) -> Word {
        if !self.divisions.contains_key(&(a, b)) {
            let (n, d) = (self.bits(a), self.bits(b));
            let both = words::divide(&mut self.gates, &n, &d);
            self.divisions.insert((a, b), both);
        }
        let (q, r) = &self.divisions[&(a, b)];
        if quotient { q.clone() } else { r.clone() }
    }
}

/// Whether the axioms, and not a circuit, give the meaning of a term.
pub(super) fn is_free(terms: &Terms, t: Term) -> bool {
    match terms.op(t) {
        Op::Select | Op::Apply => true,
        Op::Eq => terms.sort(terms.args(t)[0]).is_array(),
        _ => false,
    }
}
