//! The builder of a [plain](Terms::plain) pool: constants are folded, and nothing else is done.

use crate::eval::apply_op;
use crate::term::{Op, Sort, Term, Terms};
use crate::value::Value;

impl Terms {
    /// The term with this operator, where constants decide it a constant or one of its parts.
    pub(super) fn plain_term(&mut self, op: Op, sort: Sort, args: [Term; 3]) -> Term {
        if let Some(known) = self.part_that_decides(op, args) {
            return known;
        }
        let t = self.intern(op, sort, args);
        let constants: Option<Vec<Value>> = self.args(t).iter().map(|a| self.constant_value(*a)).collect();
        match constants {
            Some(values) if !sort.is_array() => match apply_op(self, t, |i| &values[i]) {
                Value::Bool(b) => self.bool_const(b),
                Value::BitVec(v) => self.bv_const(&v),
                Value::Array(_) => t,
            },
            _ => t,
        }
    }

    fn constant_value(&self, t: Term) -> Option<Value> {
        match self.bool_value(t) {
            Some(b) => Some(Value::Bool(b)),
            None => self.value_of(t).map(Value::BitVec),
        }
    }

    /// The part of a term, or the truth value, that it is for whatever value its other parts have.
    fn part_that_decides(&self, op: Op, [a, b, c]: [Term; 3]) -> Option<Term> {
        match op {
            Op::Not => self.as_not(a),
            Op::And => match (self.bool_value(a), self.bool_value(b)) {
                (Some(false), _) | (_, Some(true)) => Some(a),
                (Some(true), _) | (_, Some(false)) => Some(b),
                _ => (a == b).then_some(a),
            },
            Op::Eq => match (self.bool_value(a), self.bool_value(b)) {
                (Some(true), _) => Some(b),
                (_, Some(true)) => Some(a),
                _ => (a == b).then(|| self.tru()),
            },
            Op::Ite => match self.bool_value(a) {
                Some(true) => Some(b),
                Some(false) => Some(c),
                None => (b == c).then_some(b),
            },
            Op::Select => self.read_decided(a, b),
            _ => None,
        }
    }

    /// What is read at a constant index that the last writes, at constant indices, decide.
    fn read_decided(&self, mut array: Term, index: Term) -> Option<Term> {
        loop {
            match self.op(array) {
                Op::ConstArray => return Some(self.args(array)[0]),
                Op::Store => {
                    let [inner, at, element] = *self.args(array) else { return None };
                    if at == index {
                        return Some(element);
                    }
                    if !self.is_const(at) || !self.is_const(index) {
                        return None;
                    }
                    array = inner;
                }
                _ => return None,
            }
        }
    }
}
