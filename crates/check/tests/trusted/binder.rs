//! Evaluates formulas in the states of a run.

use crate::sides::bits;
use palisade_logic::eval::{Interpretation, Leaf, Memo};
use palisade_logic::value::Value;
use palisade_logic::{BitVec, Func, Op as TermOp, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// The values of a run as a meaning of variables and functions.
pub struct Meaning {
    pub vars: FxHashMap<Term, Value>,
    /// Of unknowns that are known in parts: the bits.
    pub parts: FxHashMap<Term, Vec<Option<bool>>>,
    /// Unknowns without a value whose value was asked for.
    pub guessed: RefCell<FxHashSet<Term>>,
    pub base: Func,
    pub starts: FxHashMap<u64, (u64, u64)>,
    pub width: u32,
    pub object_bits: u32,
}

impl Interpretation for Meaning {
    fn var(&self, terms: &Terms, var: Term) -> Leaf {
        Leaf::Value(self.vars.get(&var).cloned().unwrap_or_else(|| {
            self.guessed.borrow_mut().insert(var);
            Value::default_of(terms.sort(var))
        }))
    }

    fn apply(&self, _: &Terms, f: Func, args: &[Value]) -> Value {
        let arg = args[0].as_bv().and_then(|a| a.to_u64()).unwrap_or(0);
        if f == self.base {
            let start = self.starts.get(&arg).map_or(0, |s| s.0);
            return Value::BitVec(bits(self.width, start.into()));
        }
        let inside = |&(_, &(start, size)): &(&u64, &(u64, u64))| arg >= start && arg - start <= size;
        let number = self.starts.iter().find(inside).map_or(0, |(n, _)| *n);
        Value::BitVec(bits(self.object_bits, number.into()))
    }
}

/// Gives unknowns that were met in a step the values that the run has there, and evaluates under them.
pub struct Binder<'t> {
    pub terms: &'t Terms,
    pub meaning: Meaning,
    pub memo: Memo,
    /// Terms that were looked at already: they share their parts.
    pub seen: FxHashSet<Term>,
}

impl Binder<'_> {
    pub fn value(&mut self, t: Term) -> &Value {
        self.memo.value(self.terms, &self.meaning, t)
    }

    pub fn set(&mut self, var: Term, value: Value) {
        self.meaning.vars.insert(var, value);
        if self.meaning.guessed.borrow_mut().remove(&var) {
            self.memo.clear();
        }
    }

    fn free(&self, t: Term) -> bool {
        self.terms.op(t) == TermOp::Var && !self.meaning.vars.contains_key(&t)
    }

    pub fn bind(&mut self, t: Term, value: &Value) {
        if !self.seen.insert(t) {
            return;
        }
        let terms = self.terms;
        match terms.op(t) {
            TermOp::Var if self.free(t) => self.set(t, value.clone()),
            TermOp::Ite => {
                for &arm in &terms.args(t)[1..] {
                    self.bind(arm, value);
                }
            }
            TermOp::Concat => {
                let (high, low) = (terms.args(t)[0], terms.args(t)[1]);
                if let Value::BitVec(all) = value {
                    let n = terms.width(low);
                    self.bind(high, &Value::BitVec(all.extract(all.width() - 1, n)));
                    self.bind(low, &Value::BitVec(all.extract(n - 1, 0)));
                }
            }
            TermOp::Extract => {
                let (Some((_, low)), var) = (terms.extract_bounds(t), terms.args(t)[0]) else { return };
                let (TermOp::Var, Value::BitVec(part)) = (terms.op(var), value) else { return };
                if !self.free(var) && !self.meaning.parts.contains_key(&var) {
                    return;
                }
                let width = terms.width(var);
                let known = self.meaning.parts.entry(var).or_insert_with(|| vec![None; width as usize]);
                for i in 0..part.width() {
                    known[(low + i) as usize].get_or_insert(part.bit(i));
                }
                let all = BitVec::from_bits(width, |i| known[i as usize].unwrap_or(false));
                self.meaning.guessed.borrow_mut().insert(var);
                self.set(var, Value::BitVec(all));
            }
            TermOp::Add => {
                let (a, b) = (terms.args(t)[0], terms.args(t)[1]);
                let (var, rest) = if self.free(a) { (a, b) } else { (b, a) };
                if let (true, Value::BitVec(all)) = (self.free(var), value)
                    && let Value::BitVec(rest) = self.value(rest)
                {
                    let found = all.sub(rest);
                    self.set(var, Value::BitVec(found));
                }
            }
            TermOp::Store => {
                let [array, index, element] = *terms.args(t) else { return };
                if let (Value::BitVec(at), Value::Array(all)) = (self.value(index), value) {
                    let here = all.select(at).clone();
                    self.bind(element, &Value::BitVec(here));
                }
                self.bind(array, value);
            }
            _ => {}
        }
    }
}
