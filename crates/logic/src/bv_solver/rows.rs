//! Places in arrays with rows.
//!
//! `4000 * i + 4 * j` with `j < 1000` is the place of an element in row `i`. Two such places are the same only if rows
//! and columns are: numbers with digits `i`, `j` are equal if their digits are, as long as digits stay below
//! the base. A search that has nothing but adders takes long to see that.

use crate::bitvec::BitVec;
use crate::term::{Op, Term, Terms};

/// Digits of a place, at most.
const DIGITS: usize = 6;

/// Digits with the numbers they count for, the highest first; `None` if the term is not such a sum.
fn digits(terms: &mut Terms, t: Term) -> Option<Vec<(u64, Term)>> {
    let width = terms.width(t);
    let mut found: Vec<(u64, Term)> = Vec::new();
    let mut open = vec![t];
    while let Some(t) = open.pop() {
        let (counts, digit) = match terms.op(t) {
            Op::Add => {
                open.extend([terms.arg(t, 0), terms.arg(t, 1)]);
                continue;
            }
            Op::Const => return None,
            Op::Mul => match terms.value_of(terms.arg(t, 1)) {
                Some(value) => (value.to_u64()?, terms.arg(t, 0)),
                None => (1, t),
            },
            Op::Concat => match terms.value_of(terms.arg(t, 1)) {
                Some(zeros) if zeros.is_zero() && zeros.width() < 64 => {
                    let digit = terms.arg(t, 0);
                    (1 << zeros.width(), terms.zero_extend(digit, zeros.width()))
                }
                _ => (1, t),
            },
            _ => (1, t),
        };
        found.push((counts, digit));
        if found.len() > DIGITS || width > 64 {
            return None;
        }
    }
    found.sort_unstable_by_key(|(counts, _)| std::cmp::Reverse(*counts));
    let distinct = found.windows(2).all(|w| w[0].0 > w[1].0) && found.last()?.0 > 0;
    distinct.then_some(found)
}

/// A valid formula: two places with more than one digit that are the same have the same digits, where all digits are
/// below their bases.
pub(super) fn same_place(terms: &mut Terms, a: Term, b: Term) -> Option<Term> {
    let (mut x, mut y) = (a, b);
    // The object comes before the place in it.
    if let (Op::Concat, Op::Concat) = (terms.op(x), terms.op(y))
        && terms.width(terms.arg(x, 1)) == terms.width(terms.arg(y, 1))
        && !terms.is_const(terms.arg(x, 1))
        && !terms.is_const(terms.arg(y, 1))
    {
        (x, y) = (terms.arg(x, 1), terms.arg(y, 1));
    }
    if x == y || terms.op(x) != Op::Add || terms.op(y) != Op::Add {
        return None;
    }
    let width = terms.width(x);
    let (left, right) = (digits(terms, x)?, digits(terms, y)?);
    if left.len() != right.len() || left.iter().zip(&right).any(|(l, r)| l.0 != r.0) {
        return None;
    }
    let mut above = 1u128 << width;
    let mut premise = terms.eq(x, y);
    let mut same = terms.tru();
    for (&(counts, l), &(_, r)) in left.iter().zip(&right) {
        // The sum of a digit below this base and of lower ones is less than what the next higher one counts for.
        let base = above / u128::from(counts);
        if base < 1 << width {
            let base = terms.bv_const(&BitVec::new(width, base as u64));
            for digit in [l, r] {
                let below = terms.ult(digit, base);
                premise = terms.and(premise, below);
            }
        }
        let equal = terms.eq(l, r);
        same = terms.and(same, equal);
        above = u128::from(counts);
    }
    Some(terms.implies(premise, same))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, BvSolver, Solver, Sort};

    fn var(terms: &mut Terms, name: &str, width: u32) -> Term {
        terms.var(name, Sort::BitVec(width))
    }

    /// `24 * i + 4 * j` in eight bits: rows of six, digits of four bits.
    fn place(terms: &mut Terms, i: Term, j: Term) -> Term {
        let (i, j) = (terms.zero_extend(i, 4), terms.zero_extend(j, 4));
        let (row, column) = (terms.bv(8, 24), terms.bv(8, 4));
        let (row, column) = (terms.mul(i, row), terms.mul(j, column));
        terms.add(row, column)
    }

    #[test]
    fn the_formula_is_valid() {
        let mut terms = Terms::new();
        let [i, j, k, l] = ["i", "j", "k", "l"].map(|name| var(&mut terms, name, 4));
        let (a, b) = (place(&mut terms, i, j), place(&mut terms, k, l));
        let lemma = same_place(&mut terms, a, b).expect("two places with two digits each");
        let not = terms.not(lemma);
        let mut solver = BvSolver::new();
        assert_eq!(solver.check(&mut terms, &[not]), Answer::Unsat);
    }

    #[test]
    fn bases_are_as_large_as_they_may_be() {
        let mut terms = Terms::new();
        let [i, j, k, l] = ["i", "j", "k", "l"].map(|name| var(&mut terms, name, 4));
        let (a, b) = (place(&mut terms, i, j), place(&mut terms, k, l));
        let (same, other) = (terms.eq(a, b), terms.ne(j, l));
        let six = terms.bv(4, 6);
        let (first, second) = (terms.ule(j, six), terms.ule(l, six));
        // With a column more than a row has, two names lead to one place.
        let mut solver = BvSolver::new();
        assert_eq!(solver.check(&mut terms, &[same, other, first, second]), Answer::Sat);
    }

    #[test]
    fn other_sums_are_no_places() {
        let mut terms = Terms::new();
        let [i, j] = ["i", "j"].map(|name| var(&mut terms, name, 8));
        let sum = terms.add(i, j);
        let four = terms.bv(8, 4);
        let product = terms.mul(i, four);
        let place = terms.add(product, j);
        assert_eq!(same_place(&mut terms, sum, place), None);
        assert_eq!(same_place(&mut terms, sum, sum), None);
    }
}
