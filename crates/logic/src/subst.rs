//! Rebuilding terms through the simplifying builder, and simultaneous substitution.

use rustc_hash::FxHashMap;

use crate::term::{Op, Term, Terms};

impl Terms {
    /// The term with the operator of `t` and other arguments, of the same sorts.
    pub fn with_args(&mut self, t: Term, args: &[Term]) -> Term {
        match self.op(t) {
            Op::Const | Op::Var => t,
            Op::Not => self.not(args[0]),
            Op::And => self.and(args[0], args[1]),
            Op::Eq => self.eq(args[0], args[1]),
            Op::Ite => self.ite(args[0], args[1], args[2]),
            Op::Xor => self.bvxor(args[0], args[1]),
            Op::Neg => self.neg(args[0]),
            Op::Add => self.add(args[0], args[1]),
            Op::Mul => self.mul(args[0], args[1]),
            Op::Udiv => self.udiv(args[0], args[1]),
            Op::Urem => self.urem(args[0], args[1]),
            Op::Shl => self.shl(args[0], args[1]),
            Op::Lshr => self.lshr(args[0], args[1]),
            Op::Ashr => self.ashr(args[0], args[1]),
            Op::Concat => self.concat(args[0], args[1]),
            Op::Extract => {
                let (high, low) = self.extract_bounds(t).expect("an extraction has bounds");
                self.extract(args[0], high, low)
            }
            Op::SignExtend => {
                let n = self.width(t) - self.width(args[0]);
                self.sign_extend(args[0], n)
            }
            Op::Ult => self.ult(args[0], args[1]),
            Op::Slt => self.slt(args[0], args[1]),
            Op::Umulo => self.umulo(args[0], args[1]),
            Op::Smulo => self.smulo(args[0], args[1]),
            Op::Select => self.select(args[0], args[1]),
            Op::Store => self.store(args[0], args[1], args[2]),
            Op::ConstArray => {
                let crate::term::Sort::Array { index, .. } = self.sort(t) else {
                    unreachable!("a constant array has an array sort")
                };
                self.const_array(index, args[0])
            }
            Op::Apply => {
                let f = self.func_of(t).expect("an application has a function");
                self.apply(f, args)
            }
        }
    }

    /// Replaces every occurrence of the keys of `map` (variables or any terms) at once; what is
    /// put in is not looked into again.
    pub fn substitute(&mut self, t: Term, map: &FxHashMap<Term, Term>) -> Term {
        let mut memo = map.clone();
        self.substitute_with(t, &mut memo)
    }

    /// As [`Terms::substitute`], keeping the work in `memo` (initially the map) for further calls
    /// with the same map.
    pub fn substitute_with(&mut self, t: Term, memo: &mut FxHashMap<Term, Term>) -> Term {
        let mut stack = vec![t];
        let mut args = Vec::new();
        while let Some(&t) = stack.last() {
            if memo.contains_key(&t) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(self.args(t).iter().filter(|a| !memo.contains_key(a)));
            if stack.len() > before {
                continue;
            }
            args.clear();
            args.extend(self.args(t).iter().map(|a| memo[a]));
            let new = if args == self.args(t) { t } else { self.with_args(t, &args) };
            memo.insert(t, new);
            stack.pop();
        }
        memo[&t]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Sort;

    #[test]
    fn substitution_is_simultaneous_and_simplifies() {
        let mut s = Terms::new();
        let (x, y) = (s.var("x", Sort::BitVec(8)), s.var("y", Sort::BitVec(8)));
        let sum = s.sub(x, y);
        let swapped = s.substitute(sum, &FxHashMap::from_iter([(x, y), (y, x)]));
        assert_eq!(swapped, s.sub(y, x));
        let zero = s.bv(8, 0);
        assert_eq!(s.substitute(sum, &FxHashMap::from_iter([(x, y)])), zero);
    }

    #[test]
    fn deep_terms_need_no_stack() {
        let mut s = Terms::new();
        let (x, y) = (s.var("x", Sort::BitVec(8)), s.var("y", Sort::BitVec(8)));
        let mut t = x;
        for _ in 0..1_000_000 {
            t = s.mul(t, y);
            t = s.not(t);
        }
        let one = s.bv(8, 1);
        let t = s.substitute(t, &FxHashMap::from_iter([(y, one)]));
        assert_eq!(t, x);
    }
}
