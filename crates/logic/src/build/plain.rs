//! The builder of a [plain](Terms::plain) pool: constants are folded, and nothing else is done.

use crate::eval::apply_op;
use crate::term::{NONE, Op, Sort, Term, Terms};
use crate::value::Value;
use rustc_hash::FxHashMap;

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
            _ => None,
        }
    }

    /// The read of an array at an index: writes and choices that constants decide are passed.
    pub(super) fn plain_read(&mut self, sort: Sort, array: Term, index: Term) -> Term {
        match self.read_through(array, index, &mut Choices::default()) {
            Read::Is(element) => element,
            Read::Of(array) => self.plain_term(Op::Select, sort, [array, index, NONE]),
        }
    }

    /// What a read at an index finds. A write at another constant index does not matter for a constant one, nor does a
    /// choice between two arrays in which the same is found.
    fn read_through(&self, mut array: Term, index: Term, choices: &mut Choices) -> Read {
        loop {
            match (self.op(array), self.args(array)) {
                (Op::ConstArray, &[element]) => return Read::Is(element),
                (Op::Store, &[_, at, element]) if at == index => return Read::Is(element),
                (Op::Store, &[inner, at, _]) if self.is_const(at) && self.is_const(index) => array = inner,
                (Op::Ite, &[_, a, b]) if self.is_const(index) && choices.may_look() => {
                    // Branches that part and meet again and again are looked at once each.
                    if let Some(&found) = choices.found.get(&array) {
                        return found;
                    }
                    choices.depth += 1;
                    let found = self.read_through(a, index, choices);
                    let same = found == self.read_through(b, index, choices);
                    choices.depth -= 1;
                    let found = if same { found } else { Read::Of(array) };
                    choices.found.insert(array, found);
                    return found;
                }
                _ => return Read::Of(array),
            }
        }
    }
}

/// Choices between arrays that a read looks behind are nested at most this deep, and at most so many are looked at.
const READ_THROUGH: (u32, usize) = (200, 500);

/// Choices between arrays that a read has looked behind.
#[derive(Default)]
struct Choices {
    depth: u32,
    found: FxHashMap<Term, Read>,
}

impl Choices {
    fn may_look(&self) -> bool {
        self.depth < READ_THROUGH.0 && self.found.len() < READ_THROUGH.1
    }
}

/// What a read finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    /// This element.
    Is(Term),
    /// What this array holds.
    Of(Term),
}
