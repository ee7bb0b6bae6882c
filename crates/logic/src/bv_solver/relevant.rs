//! Which reads, writes, array equalities and applications the open assertions talk about.
//!
//! Only these must be consistent in a model; terms of popped assertions must not cost anything.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::term::{Op, Sort, Term, Terms};

/// The relevant terms of the theories, with the levels they belong to.
pub(super) struct Relevant {
    marked: FxHashSet<Term>,
    /// Marked terms that are of array sort, reads, applications or equalities of arrays.
    trail: Vec<Term>,
    /// All marked terms, to undo.
    all: Vec<Term>,
    marks: Vec<(usize, usize)>,
    /// For an equality of arrays `a = b`: reads of `a` and `b` where they differ if it is false.
    witnesses: FxHashMap<Term, (Term, Term)>,
}

impl Relevant {
    pub(super) fn new() -> Self {
        Relevant {
            marked: FxHashSet::default(),
            trail: Vec::new(),
            all: Vec::new(),
            marks: Vec::new(),
            witnesses: FxHashMap::default(),
        }
    }

    pub(super) fn open(&mut self) {
        self.marks.push((self.trail.len(), self.all.len()));
    }

    pub(super) fn level(&self) -> usize {
        self.marks.len()
    }

    pub(super) fn close(&mut self) {
        if let Some((trail, all)) = self.marks.pop() {
            self.trail.truncate(trail);
            for t in self.all.drain(all..) {
                self.marked.remove(&t);
            }
        }
    }

    /// The relevant terms in the order of marking.
    pub(super) fn terms(&self) -> &[Term] {
        &self.trail
    }

    /// Marks all of a term. Returns axioms for the array equalities seen for the first time:
    /// arrays are equal or differ at their witness.
    pub(super) fn mark(&mut self, terms: &mut Terms, t: Term) -> Vec<Term> {
        let mut axioms = Vec::new();
        let mut stack = vec![t];
        while let Some(t) = stack.pop() {
            if !terms.has_theory(t) || !self.marked.insert(t) {
                continue;
            }
            self.all.push(t);
            stack.extend(terms.args(t).iter().rev());
            let array_equality = terms.op(t) == Op::Eq && terms.sort(terms.arg(t, 0)).is_array();
            if array_equality {
                let (a, b) = match self.witnesses.get(&t) {
                    Some(reads) => *reads,
                    None => {
                        let reads = witness(terms, t);
                        self.witnesses.insert(t, reads);
                        let differ = terms.ne(reads.0, reads.1);
                        axioms.push(terms.or(t, differ));
                        reads
                    }
                };
                stack.extend([b, a]);
            }
            let of_theory = matches!(terms.op(t), Op::Select | Op::Apply) || terms.sort(t).is_array();
            if array_equality || of_theory {
                self.trail.push(t);
            }
        }
        axioms
    }
}

fn witness(terms: &mut Terms, equality: Term) -> (Term, Term) {
    let (a, b) = (terms.arg(equality, 0), terms.arg(equality, 1));
    let Sort::Array { index, .. } = terms.sort(a) else { unreachable!("an equality of arrays") };
    let at = terms.fresh_var("diff", Sort::BitVec(index));
    (terms.select(a, at), terms.select(b, at))
}
