//! The meaning of terms: their value under a model.
//!
//! Evaluation is the reference for the simplifying builder and for the solver; it shares nothing
//! with bit-blasting.

use rustc_hash::FxHashMap;

use crate::term::{Func, Op, Term, Terms};
use crate::value::{ArrayValue, Model, Value};

/// Where the values of variables and of function applications come from.
pub trait Interpretation {
    /// The value of a variable, or the term whose value it has.
    fn var(&self, terms: &Terms, var: Term) -> Leaf;

    /// The result of a function.
    fn apply(&self, terms: &Terms, f: Func, args: &[Value]) -> Value;

    /// The value of a term that the interpretation knows without looking into it.
    fn known(&self, _terms: &Terms, _t: Term) -> Option<Value> {
        None
    }
}

/// What an interpretation says about a variable.
pub enum Leaf {
    /// This value.
    Value(Value),
    /// The value of this other term, which must not lead back to the variable.
    Same(Term),
}

impl Interpretation for Model {
    fn var(&self, terms: &Terms, var: Term) -> Leaf {
        Leaf::Value(self.get(var).cloned().unwrap_or_else(|| Value::default_of(terms.sort(var))))
    }

    fn apply(&self, terms: &Terms, f: Func, args: &[Value]) -> Value {
        self.func(f)
            .and_then(|v| v.get(args))
            .cloned()
            .unwrap_or_else(|| Value::default_of(terms.decl(f).range))
    }
}

/// Values found so far under one interpretation, to be reused while it does not change.
#[derive(Clone, Debug, Default)]
pub struct Memo(FxHashMap<Term, Value>);

impl Memo {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The value of a term under the interpretation that this memo belongs to.
    pub fn value<I: Interpretation + ?Sized>(&mut self, terms: &Terms, under: &I, t: Term) -> &Value {
        let mut stack = vec![t];
        while let Some(&t) = stack.last() {
            if self.0.contains_key(&t) {
                stack.pop();
                continue;
            }
            let depth = stack.len();
            if let Some(value) = self.step(terms, under, t, &mut stack) {
                self.0.insert(t, value);
                stack.pop();
            } else {
                debug_assert!(stack.len() > depth, "an unevaluated term waits for others");
            }
        }
        &self.0[&t]
    }

    /// The value of `t` if those it needs are known; else pushes the missing ones.
    fn step<I: Interpretation + ?Sized>(
        &self,
        terms: &Terms,
        under: &I,
        t: Term,
        stack: &mut Vec<Term>,
    ) -> Option<Value> {
        if let Some(value) = under.known(terms, t) {
            return Some(value);
        }
        let args = terms.args(t);
        match terms.op(t) {
            Op::Var => match under.var(terms, t) {
                Leaf::Value(v) => return Some(v),
                Leaf::Same(other) => return self.need(other, stack),
            },
            // Only the branch taken is evaluated.
            Op::Ite => {
                let cond = self.need(args[0], stack)?;
                return self.need(args[if cond == Value::Bool(true) { 1 } else { 2 }], stack);
            }
            _ => {}
        }
        let before = stack.len();
        stack.extend(args.iter().filter(|a| !self.0.contains_key(a)));
        if stack.len() > before {
            return None;
        }
        if let Some(f) = terms.func_of(t) {
            let args: Vec<Value> = args.iter().map(|a| self.0[a].clone()).collect();
            return Some(under.apply(terms, f, &args));
        }
        let arg = |i: usize| &self.0[&args[i]];
        Some(apply_op(terms, t, arg))
    }

    fn need(&self, t: Term, stack: &mut Vec<Term>) -> Option<Value> {
        let value = self.0.get(&t).cloned();
        if value.is_none() {
            stack.push(t);
        }
        value
    }
}

/// Evaluates many terms under one interpretation, each distinct subterm once.
pub struct Evaluator<'a, I: Interpretation + ?Sized> {
    interpretation: &'a I,
    memo: Memo,
}

impl<'a, I: Interpretation + ?Sized> Evaluator<'a, I> {
    /// An evaluator that has seen nothing yet.
    pub fn new(interpretation: &'a I) -> Self {
        Evaluator { interpretation, memo: Memo::default() }
    }

    /// The value of a term.
    pub fn value(&mut self, terms: &Terms, t: Term) -> Value {
        self.memo.value(terms, self.interpretation, t).clone()
    }

    /// The truth value of a Boolean term.
    pub fn truth(&mut self, terms: &Terms, t: Term) -> bool {
        self.value(terms, t).as_bool().expect("a Boolean term has a truth value")
    }
}

/// The value of an operator applied to values: SMT-LIB's theories, operator by operator.
pub(crate) fn apply_op<'v>(terms: &Terms, t: Term, arg: impl Fn(usize) -> &'v Value) -> Value {
    let bv = |i: usize| arg(i).as_bv().expect("a bit-vector argument has a bit-vector value");
    let array = |i: usize| arg(i).as_array().expect("an array argument has an array value");
    match terms.op(t) {
        Op::Const => match terms.bool_value(t) {
            Some(b) => Value::Bool(b),
            None => Value::BitVec(terms.value_of(t).expect("a constant has a value")),
        },
        Op::Not => match arg(0) {
            Value::Bool(b) => Value::Bool(!b),
            _ => Value::BitVec(bv(0).not()),
        },
        Op::And => match (arg(0), arg(1)) {
            (Value::Bool(a), Value::Bool(b)) => Value::Bool(*a && *b),
            _ => Value::BitVec(bv(0).and(bv(1))),
        },
        Op::Eq => Value::Bool(arg(0) == arg(1)),
        Op::Xor => Value::BitVec(bv(0).xor(bv(1))),
        Op::Neg => Value::BitVec(bv(0).neg()),
        Op::Add => Value::BitVec(bv(0).add(bv(1))),
        Op::Mul => Value::BitVec(bv(0).mul(bv(1))),
        Op::Udiv => Value::BitVec(bv(0).udiv(bv(1))),
        Op::Urem => Value::BitVec(bv(0).urem(bv(1))),
        Op::Shl => Value::BitVec(bv(0).shl(bv(1))),
        Op::Lshr => Value::BitVec(bv(0).lshr(bv(1))),
        Op::Ashr => Value::BitVec(bv(0).ashr(bv(1))),
        Op::Concat => Value::BitVec(bv(0).concat(bv(1))),
        Op::Extract => {
            let (high, low) = terms.extract_bounds(t).expect("an extraction has bounds");
            Value::BitVec(bv(0).extract(high, low))
        }
        Op::SignExtend => Value::BitVec(bv(0).sign_extend(terms.width(t) - bv(0).width())),
        Op::Ult => Value::Bool(bv(0).ult(bv(1))),
        Op::Slt => Value::Bool(bv(0).slt(bv(1))),
        Op::Umulo => Value::Bool(bv(0).umulo(bv(1))),
        Op::Smulo => Value::Bool(bv(0).smulo(bv(1))),
        Op::Select => Value::BitVec(array(0).select(bv(1)).clone()),
        Op::Store => Value::Array(array(0).store(bv(1).clone(), bv(2).clone())),
        Op::ConstArray => {
            let crate::term::Sort::Array { index, .. } = terms.sort(t) else {
                unreachable!("a constant array has an array sort")
            };
            Value::Array(ArrayValue::constant(index, bv(0).clone()))
        }
        Op::Var | Op::Ite | Op::Apply => unreachable!("handled before the arguments"),
    }
}

impl Terms {
    /// The value of a term under a model.
    pub fn evaluate(&self, t: Term, model: &Model) -> Value {
        Evaluator::new(model).value(self, t)
    }
}
