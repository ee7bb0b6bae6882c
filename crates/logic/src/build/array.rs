//! Arrays.

use crate::term::{Op, Sort, Term, Terms};

/// How many stores a read may look past; deeper ones are left to the solver.
const READ_THROUGH: usize = 1 << 14;

/// How many writes apart two arrays may be to be compared element by element.
const COMPARED_WRITES: usize = 64;

impl Terms {
    fn array_widths(&self, a: Term) -> (u32, u32) {
        match self.sort(a) {
            Sort::Array { index, elem } => (index, elem),
            other => panic!("an array is needed here, not a term of sort {other:?}"),
        }
    }

    /// The array from indices of the given width whose elements are all `elem`.
    pub fn const_array(&mut self, index: u32, elem: Term) -> Term {
        let sort = Sort::Array { index, elem: self.width(elem) };
        self.intern1(Op::ConstArray, sort, elem)
    }

    /// The element of `array` at `index`.
    pub fn select(&mut self, array: Term, index: Term) -> Term {
        let (index_width, elem_width) = self.array_widths(array);
        assert_eq!(index_width, self.width(index), "index of the array's sort");
        if self.is_plain() {
            return self.plain_read(Sort::BitVec(elem_width), array, index);
        }
        let mut array = array;
        for _ in 0..READ_THROUGH {
            match self.op(array) {
                Op::Store => {
                    let [inner, at, elem] = *self.args(array) else {
                        unreachable!("a store has three arguments")
                    };
                    let same = self.eq(at, index);
                    match self.bool_value(same) {
                        Some(true) => return elem,
                        Some(false) => array = inner,
                        None => break,
                    }
                }
                Op::ConstArray => return self.arg(array, 0),
                _ => break,
            }
        }
        self.intern2(Op::Select, Sort::BitVec(elem_width), array, index)
    }

    /// `array` with the element at `index` replaced.
    pub fn store(&mut self, array: Term, index: Term, elem: Term) -> Term {
        let (index_width, elem_width) = self.array_widths(array);
        assert_eq!(index_width, self.width(index), "index of the array's sort");
        assert_eq!(elem_width, self.width(elem), "element of the array's sort");
        if self.is_plain() {
            return self.plain_term(Op::Store, self.sort(array), [array, index, elem]);
        }
        // Writing what is there changes nothing.
        if self.op(elem) == Op::Select && *self.args(elem) == [array, index] {
            return array;
        }
        match self.op(array) {
            Op::ConstArray if self.arg(array, 0) == elem => return array,
            Op::Store if self.arg(array, 1) == index => {
                let inner = self.arg(array, 0);
                return self.store(inner, index, elem);
            }
            _ => {}
        }
        let sort = self.sort(array);
        if let Some((inner, first)) = self.exchanged(array, index, elem) {
            let inner = self.intern(Op::Store, sort, [inner, index, elem]);
            return self.intern(Op::Store, sort, [inner, first.0, first.1]);
        }
        self.intern(Op::Store, sort, [array, index, elem])
    }

    /// The two writes of an exchange, `a[i], a[j] := b[j], b[i]`, write the same where `i = j`, so
    /// their order does not matter: the older index is written first. Returns the array under
    /// both and the write that comes last if `array` has them the other way round.
    fn exchanged(&self, array: Term, index: Term, elem: Term) -> Option<(Term, (Term, Term))> {
        if self.op(array) != Op::Store || self.op(elem) != Op::Select {
            return None;
        }
        let [inner, first, written] = *self.args(array) else { unreachable!("a store has three arguments") };
        if self.op(written) != Op::Select || index > first {
            return None;
        }
        let ([from, at], [other, other_at]) = (self.args(elem), self.args(written)) else {
            unreachable!("a read has two arguments")
        };
        (from == other && *at == first && *other_at == index).then_some((inner, (first, written)))
    }

    pub(super) fn eq_array(&mut self, a: Term, b: Term) -> Term {
        if self.op(a) == Op::ConstArray && self.op(b) == Op::ConstArray {
            let (x, y) = (self.arg(a, 0), self.arg(b, 0));
            return self.eq(x, y);
        }
        if let Some(indices) = self.indices_above_common(a, b) {
            let mut acc = self.tru();
            for i in indices {
                let (x, y) = (self.select(a, i), self.select(b, i));
                let t = self.eq(x, y);
                acc = self.and(acc, t);
            }
            return acc;
        }
        self.intern2(Op::Eq, Sort::Bool, a, b)
    }

    /// The indices at which `a` and `b` were written since they were one array, if that was few
    /// writes ago: only there can they differ.
    fn indices_above_common(&self, a: Term, b: Term) -> Option<Vec<Term>> {
        let (mut a, mut b) = (a, b);
        let mut indices = Vec::new();
        // An array is newer than what it was made from, so the newer of two cannot be under the
        // other.
        while a != b {
            let newer = if a > b { &mut a } else { &mut b };
            if self.op(*newer) != Op::Store || indices.len() == COMPARED_WRITES {
                return None;
            }
            indices.push(self.arg(*newer, 1));
            *newer = self.arg(*newer, 0);
        }
        indices.sort_unstable();
        indices.dedup();
        Some(indices)
    }
}
