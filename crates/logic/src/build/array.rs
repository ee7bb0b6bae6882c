//! Arrays.

use crate::term::{Op, Sort, Term, Terms};

/// How many stores a read may look past; deeper ones are left to the solver.
const READ_THROUGH: usize = 1 << 14;

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
        self.intern(Op::Store, sort, [array, index, elem])
    }

    pub(super) fn eq_array(&mut self, a: Term, b: Term) -> Term {
        if self.op(a) == Op::ConstArray && self.op(b) == Op::ConstArray {
            let (x, y) = (self.arg(a, 0), self.arg(b, 0));
            return self.eq(x, y);
        }
        self.intern2(Op::Eq, Sort::Bool, a, b)
    }
}
