//! What arrays and functions mean, as instances of their axioms (McCarthy's for arrays, congruence
//! for functions, extensionality). An instance is named by its axiom and the term it is about, so
//! that a proof can list those it rests on, and a reader can see that each is valid.

use crate::term::{Op, Sort, Term, Terms};

/// An instance of an axiom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Axiom {
    /// `i = j → select(store(a, j, e), i) = e`, for a read of this form.
    Hit(Term),
    /// `i ≠ j → select(store(a, j, e), i) = select(a, i)`.
    Miss(Term),
    /// `c → select(ite(c, a, b), i) = select(a, i)`.
    Then(Term),
    /// `¬c → select(ite(c, a, b), i) = select(b, i)`.
    Else(Term),
    /// `select(const(e), i) = e`.
    Constant(Term),
    /// Two reads of one array, or two applications of one function: equal arguments, equal results.
    Congruence(Term, Term),
    /// `a = b → select(a, i) = select(b, i)`, for an equality of arrays and an index.
    Equal(Term, Term),
    /// `a ≠ b → select(a, d) ≠ select(b, d)`, where `d` belongs to the equality alone.
    Different(Term),
}

impl Axiom {
    /// The number of the axiom, and the terms that it is about; the same one twice where there is
    /// one only.
    pub(super) fn parts(self) -> (u8, Term, Term) {
        match self {
            Axiom::Hit(t) => (0, t, t),
            Axiom::Miss(t) => (1, t, t),
            Axiom::Then(t) => (2, t, t),
            Axiom::Else(t) => (3, t, t),
            Axiom::Constant(t) => (4, t, t),
            Axiom::Congruence(t, u) => (5, t, u),
            Axiom::Equal(t, u) => (6, t, u),
            Axiom::Different(t) => (7, t, t),
        }
    }

    /// The instance with these parts.
    pub(super) fn of_parts(axiom: u8, t: Term, u: Term) -> Option<Axiom> {
        Some(match axiom {
            0 => Axiom::Hit(t),
            1 => Axiom::Miss(t),
            2 => Axiom::Then(t),
            3 => Axiom::Else(t),
            4 => Axiom::Constant(t),
            5 => Axiom::Congruence(t, u),
            6 => Axiom::Equal(t, u),
            7 => Axiom::Different(t),
            _ => return None,
        })
    }
}

/// The two parts of a read.
fn read(terms: &Terms, t: Term) -> Option<(Term, Term)> {
    (terms.op(t) == Op::Select).then(|| (terms.args(t)[0], terms.args(t)[1]))
}

/// The two sides of an equality of arrays.
fn equality(terms: &Terms, t: Term) -> Option<(Term, Term)> {
    let sides = (terms.op(t) == Op::Eq).then(|| (terms.args(t)[0], terms.args(t)[1]))?;
    terms.sort(sides.0).is_array().then_some(sides)
}

impl Axiom {
    /// What the instance says; `None` if the terms do not have the axiom's form.
    pub fn formula(self, terms: &mut Terms) -> Option<Term> {
        match self {
            Axiom::Hit(t) | Axiom::Miss(t) => {
                let (array, index) = read(terms, t)?;
                if terms.op(array) != Op::Store {
                    return None;
                }
                let [inner, at, element] = *terms.args(array) else { return None };
                let same = terms.eq(index, at);
                if matches!(self, Axiom::Hit(_)) {
                    let is_element = terms.eq(t, element);
                    return Some(terms.implies(same, is_element));
                }
                let below = terms.select(inner, index);
                let is_below = terms.eq(t, below);
                Some(terms.or(same, is_below))
            }
            Axiom::Then(t) | Axiom::Else(t) => {
                let (array, index) = read(terms, t)?;
                if terms.op(array) != Op::Ite {
                    return None;
                }
                let [condition, then, other] = *terms.args(array) else { return None };
                let (guard, branch) = match self {
                    Axiom::Then(_) => (condition, then),
                    _ => (terms.not(condition), other),
                };
                let below = terms.select(branch, index);
                let is_below = terms.eq(t, below);
                Some(terms.implies(guard, is_below))
            }
            Axiom::Constant(t) => {
                let (array, _) = read(terms, t)?;
                let element = (terms.op(array) == Op::ConstArray).then(|| terms.args(array)[0])?;
                Some(terms.eq(t, element))
            }
            Axiom::Congruence(t, u) => {
                let same_kind = terms.op(t) == terms.op(u) && matches!(terms.op(t), Op::Select | Op::Apply);
                if !same_kind || terms.func_of(t) != terms.func_of(u) {
                    return None;
                }
                let (xs, ys) = (terms.args(t).to_vec(), terms.args(u).to_vec());
                if terms.op(t) == Op::Select && xs[0] != ys[0] {
                    return None;
                }
                let mut same = terms.tru();
                for (x, y) in xs.into_iter().zip(ys).filter(|(x, y)| x != y) {
                    let equal = terms.eq(x, y);
                    same = terms.and(same, equal);
                }
                let results = terms.eq(t, u);
                Some(terms.implies(same, results))
            }
            Axiom::Equal(t, index) => {
                let (a, b) = equality(terms, t)?;
                let Sort::Array { index: width, .. } = terms.sort(a) else { return None };
                if terms.sort(index) != Sort::BitVec(width) {
                    return None;
                }
                let (x, y) = (terms.select(a, index), terms.select(b, index));
                let same = terms.eq(x, y);
                Some(terms.implies(t, same))
            }
            Axiom::Different(t) => {
                let (a, b) = equality(terms, t)?;
                let Sort::Array { index, .. } = terms.sort(a) else { return None };
                // Nobody else makes variables of this name.
                let witness = terms.var(&format!("difference!{}", t.index()), Sort::BitVec(index));
                let (x, y) = (terms.select(a, witness), terms.select(b, witness));
                let differ = terms.ne(x, y);
                Some(terms.or(t, differ))
            }
        }
    }
}
