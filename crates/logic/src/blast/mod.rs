//! Bit-blasting: from terms to an and-inverter graph.
//!
//! Reads from arrays, function applications and equalities between arrays become free inputs;
//! the solver adds what they mean by lemmas on demand.

pub(crate) mod aig;
mod circuits;
pub(crate) mod cnf;
mod counting;

use crate::sparse::{NONE, Sparse};
use aig::{Aig, Lit};
use palisade_base::Stop;

use crate::solver::{Limits, Unknown};
use crate::term::{Op, Sort, Term, Terms};

/// Why blasting ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exhausted {
    Stopped(Stop),
    Memory,
}

impl From<Exhausted> for Unknown {
    fn from(e: Exhausted) -> Self {
        match e {
            Exhausted::Stopped(stop) => Unknown::Stopped(stop),
            Exhausted::Memory => Unknown::Memory,
        }
    }
}

/// Gates made between two looks at the limits.
const POLL: usize = 1 << 14;

pub(crate) struct Blaster {
    pub(crate) aig: Aig,
    /// Where the bits of each term start in `bits`.
    start: Sparse,
    bits: Vec<Lit>,
    /// Quotients and remainders that exist, by their operands' first bits.
    divisions: rustc_hash::FxHashMap<(Term, Term), (u32, u32)>,
    /// Sums of bits that some words are.
    forms: rustc_hash::FxHashMap<Term, std::sync::Arc<counting::Form>>,
    /// By group of inputs: literals that hold, and define the inputs.
    pub(crate) side_conditions: Vec<Vec<Lit>>,
    /// Variables that have bits, in the order of blasting.
    pub(crate) variables: Vec<Term>,
    limits: Limits,
    /// Bytes used elsewhere, counted against the memory limit.
    pub(crate) other_bytes: u64,
    next_poll: usize,
}

impl Blaster {
    pub(crate) fn new() -> Self {
        Blaster {
            aig: Aig::new(),
            start: Sparse::default(),
            bits: Vec::new(),
            divisions: rustc_hash::FxHashMap::default(),
            forms: rustc_hash::FxHashMap::default(),
            side_conditions: Vec::new(),
            variables: Vec::new(),
            limits: Limits::default(),
            other_bytes: 0,
            next_poll: 0,
        }
    }

    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.next_poll = 0;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.aig.bytes() + self.start.bytes() + (self.bits.capacity() * 4) as u64
    }

    /// Looks at the limits from time to time.
    fn poll(&mut self) -> Result<(), Exhausted> {
        if self.aig.len() + self.bits.len() < self.next_poll {
            return Ok(());
        }
        self.next_poll = self.aig.len() + self.bits.len() + POLL;
        self.check_limits()
    }

    pub(crate) fn check_limits(&self) -> Result<(), Exhausted> {
        self.limits.budget.check().map_err(Exhausted::Stopped)?;
        match self.limits.memory {
            Some(limit) if self.bytes() + self.other_bytes > limit => Err(Exhausted::Memory),
            _ => Ok(()),
        }
    }

    /// The bits of a term, least significant first, if it was blasted. Arrays have none.
    pub(crate) fn bits(&self, terms: &Terms, t: Term) -> Option<&[Lit]> {
        let start = Some(self.start.get(t.index())).filter(|s| *s != NONE)? as usize;
        let len = match terms.sort(t) {
            Sort::Bool => 1,
            Sort::BitVec(w) => w as usize,
            Sort::Array { .. } => 0,
        };
        Some(&self.bits[start..start + len])
    }

    fn word(&self, terms: &Terms, t: Term) -> Vec<Lit> {
        self.bits(terms, t).expect("arguments are blasted first").to_vec()
    }

    fn done(&self, t: Term) -> bool {
        self.start.get(t.index()) != NONE
    }

    /// The literal of a Boolean term.
    pub(crate) fn literal(&mut self, terms: &Terms, t: Term) -> Result<Lit, Exhausted> {
        self.blast(terms, t)?;
        Ok(self.bits[self.start.get(t.index()) as usize])
    }

    /// Gives bits to a term and to all it is made of.
    pub(crate) fn blast(&mut self, terms: &Terms, t: Term) -> Result<(), Exhausted> {
        let mut stack = vec![t];
        while let Some(&t) = stack.last() {
            if self.done(t) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            match subtraction(terms, t) {
                // The negated operand of a difference needs no bits of its own.
                Some((a, b)) => stack.extend([a, b].into_iter().filter(|x| !self.done(*x))),
                None => stack.extend(terms.args(t).iter().filter(|x| !self.done(**x))),
            }
            if stack.len() > before {
                continue;
            }
            let word = self.node(terms, t)?;
            self.start.set(t.index(), self.bits.len() as u32);
            self.bits.extend_from_slice(&word);
            assert!(self.bits.len() < NONE as usize, "more bits than indices");
            stack.pop();
            self.poll()?;
        }
        Ok(())
    }

    fn inputs(&mut self, n: u32) -> Vec<Lit> {
        (0..n).map(|_| self.aig.input()).collect()
    }

    fn node(&mut self, terms: &Terms, t: Term) -> Result<Vec<Lit>, Exhausted> {
        let args = terms.args(t);
        let word = |this: &Self, i: usize| this.word(terms, args[i]);
        let size = match terms.sort(t) {
            Sort::Bool => 1,
            Sort::BitVec(w) => w,
            Sort::Array { .. } => return Ok(Vec::new()),
        };
        if matches!(terms.op(t), Op::Add | Op::Extract)
            && let Some(bits) = self.count(terms, t)
        {
            return Ok(bits);
        }
        Ok(match terms.op(t) {
            Op::Const => match terms.value_of(t) {
                Some(v) => (0..size).map(|i| Lit::constant(v.bit(i))).collect(),
                None => vec![Lit::constant(t == terms.tru())],
            },
            Op::Var => {
                self.variables.push(t);
                self.inputs(size)
            }
            Op::Select | Op::Apply => self.inputs(size),
            Op::Eq if terms.sort(args[0]).is_array() => self.inputs(1),
            Op::Not => circuits::complement(&word(self, 0)),
            Op::And => {
                let (a, b) = (word(self, 0), word(self, 1));
                a.iter().zip(&b).map(|(x, y)| self.aig.and(*x, *y)).collect()
            }
            Op::Xor => {
                let (a, b) = (word(self, 0), word(self, 1));
                a.iter().zip(&b).map(|(x, y)| self.aig.xor(*x, *y)).collect()
            }
            Op::Eq => {
                let (a, b) = (word(self, 0), word(self, 1));
                vec![circuits::equal(&mut self.aig, &a, &b)]
            }
            Op::Ite => {
                let c = word(self, 0)[0];
                let (a, b) = (word(self, 1), word(self, 2));
                circuits::mux(&mut self.aig, c, &a, &b)
            }
            Op::Neg => {
                let a = circuits::complement(&word(self, 0));
                let zero = vec![Lit::FALSE; a.len()];
                circuits::add(&mut self.aig, &a, &zero, Lit::TRUE).0
            }
            Op::Add => match subtraction(terms, t) {
                Some((a, b)) => {
                    let (a, b) = (self.word(terms, a), circuits::complement(&self.word(terms, b)));
                    circuits::add(&mut self.aig, &a, &b, Lit::TRUE).0
                }
                None => {
                    let (a, b) = (word(self, 0), word(self, 1));
                    circuits::add(&mut self.aig, &a, &b, Lit::FALSE).0
                }
            },
            Op::Mul => {
                let (a, b) = (word(self, 0), word(self, 1));
                self.multiply(&a, &b)?
            }
            Op::Udiv | Op::Urem => {
                let start = self.division(terms, args[0], args[1])?;
                let start = (if terms.op(t) == Op::Udiv { start.0 } else { start.1 }) as usize;
                self.bits[start..start + size as usize].to_vec()
            }
            Op::Shl => {
                let (mut a, by) = (word(self, 0), word(self, 1));
                a.reverse();
                let mut out = self.shift_right(&a, &by, Lit::FALSE)?;
                out.reverse();
                out
            }
            Op::Lshr => {
                let (a, by) = (word(self, 0), word(self, 1));
                self.shift_right(&a, &by, Lit::FALSE)?
            }
            Op::Ashr => {
                let (a, by) = (word(self, 0), word(self, 1));
                self.shift_right(&a, &by, a[a.len() - 1])?
            }
            Op::Concat => {
                let (high, mut low) = (word(self, 0), word(self, 1));
                low.extend(high);
                low
            }
            Op::Extract => {
                let (high, low) = terms.extract_bounds(t).expect("an extraction has bounds");
                word(self, 0)[low as usize..=high as usize].to_vec()
            }
            Op::SignExtend => {
                let mut a = word(self, 0);
                a.resize(size as usize, a[a.len() - 1]);
                a
            }
            Op::Ult => {
                let (a, b) = (word(self, 0), word(self, 1));
                vec![circuits::less(&mut self.aig, &a, &b)]
            }
            Op::Slt => {
                let (a, b) = (word(self, 0), word(self, 1));
                vec![circuits::signed_less(&mut self.aig, &a, &b)]
            }
            Op::Umulo => {
                let (a, b) = (word(self, 0), word(self, 1));
                vec![self.multiply_overflows(&a, &b)?]
            }
            Op::Smulo => {
                let (a, b) = (word(self, 0), word(self, 1));
                vec![self.signed_multiply_overflows(&a, &b)?]
            }
            Op::Store | Op::ConstArray => unreachable!("arrays have no bits"),
        })
    }

    /// Where quotient and remainder of two terms start; one division serves both.
    fn division(&mut self, terms: &Terms, a: Term, b: Term) -> Result<(u32, u32), Exhausted> {
        if let Some(found) = self.divisions.get(&(a, b)) {
            return Ok(*found);
        }
        let (n, d) = (self.word(terms, a), self.word(terms, b));
        let (q, r) = self.divide(&n, &d)?;
        let start = self.bits.len() as u32;
        self.bits.extend_from_slice(&q);
        self.bits.extend_from_slice(&r);
        let found = (start, start + q.len() as u32);
        self.divisions.insert((a, b), found);
        Ok(found)
    }
}

/// `(a, b)` for a sum that is the difference `a - b`.
fn subtraction(terms: &Terms, t: Term) -> Option<(Term, Term)> {
    if terms.op(t) != Op::Add {
        return None;
    }
    let (a, b) = (terms.args(t)[0], terms.args(t)[1]);
    match (terms.op(a), terms.op(b)) {
        (_, Op::Neg) => Some((a, terms.args(b)[0])),
        (Op::Neg, _) => Some((b, terms.args(a)[0])),
        _ => None,
    }
}
