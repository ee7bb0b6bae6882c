//! Word-level preprocessing that stays right incrementally: substitution of defined variables.
//!
//! An asserted equation `x = t` defines `x` if `x` occurs in no assertion that the search
//! already has and not in `t`. Then `x` is replaced everywhere and the equation itself is not
//! needed. Definitions belong to the level of their assertion and go when it is popped. A
//! variable that is already in use stays a variable; its equation becomes an assertion.

use crate::sparse::{self, Sparse};
use rustc_hash::FxHashMap;

use crate::term::{Op, Term, Terms};

/// No term: not rewritten yet.
const NONE: Term = Term(sparse::NONE);

/// The rewriting of terms under the definitions of the open levels.
pub(super) struct Definitions {
    /// What each term is rewritten to. A variable that is in use is rewritten to itself.
    memo: Sparse,
    /// Rewritten terms in order, to undo the levels.
    trail: Vec<Term>,
    /// The length of the trail below each open level.
    marks: Vec<usize>,
}

/// One step of the depth-first rewriting.
enum Task {
    Visit(Term),
    Finish(Term),
    /// The definition of this variable was rewritten.
    Define(Term),
}

impl Definitions {
    pub(super) fn new() -> Self {
        Definitions { memo: Sparse::default(), trail: Vec::new(), marks: Vec::new() }
    }

    /// Opens levels until there are `level` of them.
    pub(super) fn open_until(&mut self, level: usize) {
        while self.marks.len() < level {
            self.marks.push(self.trail.len());
        }
    }

    /// Closes levels until there are `level` of them.
    pub(super) fn close_until(&mut self, level: usize) {
        while self.marks.len() > level {
            let mark = self.marks.pop().expect("there are levels left");
            for t in self.trail.drain(mark..) {
                self.memo.set(t.index(), NONE.0);
            }
        }
    }

    fn get(&self, t: Term) -> Term {
        Term(self.memo.get(t.index()))
    }

    fn set(&mut self, t: Term, to: Term) {
        self.memo.set(t.index(), to.0);
        self.trail.push(t);
    }

    /// The definition of a variable, rewritten, if it has one.
    pub(super) fn definition(&self, var: Term) -> Option<Term> {
        Some(self.get(var)).filter(|t| *t != NONE && *t != var)
    }

    /// The variables that have definitions, in the order in which they got them.
    pub(super) fn defined(&self, terms: &Terms) -> Vec<Term> {
        let is_defined = |t: &Term| terms.op(*t) == Op::Var && self.definition(*t).is_some();
        self.trail.iter().copied().filter(is_defined).collect()
    }

    /// Rewrites a term under the definitions. Its variables are in use from now on.
    pub(super) fn rewrite(&mut self, terms: &mut Terms, t: Term) -> Term {
        self.rewrite_with(terms, t, &mut FxHashMap::default())
    }

    /// Takes the conjuncts of new assertions, finds definitions among them and returns the
    /// others, rewritten.
    pub(super) fn absorb(&mut self, terms: &mut Terms, assertions: &[Term]) -> Vec<Term> {
        let conjuncts: Vec<Term> = assertions.iter().flat_map(|t| terms.conjuncts(*t)).collect();
        let mut candidates: FxHashMap<Term, Option<Term>> = FxHashMap::default();
        let mut solved: Vec<Option<Term>> = Vec::with_capacity(conjuncts.len());
        for t in &conjuncts {
            let found = self.candidate(terms, *t).filter(|(x, _)| !candidates.contains_key(x));
            solved.push(found.map(|(x, _)| x));
            if let Some((x, definition)) = found {
                candidates.insert(x, Some(definition));
            }
        }
        let mut out = Vec::new();
        for (t, x) in conjuncts.iter().zip(solved) {
            if let Some(x) = x {
                self.rewrite_with(terms, x, &mut candidates);
                // A candidate that was given up on the way is `None` by now.
                if candidates[&x].is_some() {
                    continue;
                }
            }
            let t = self.rewrite_with(terms, *t, &mut candidates);
            out.extend(terms.conjuncts(t));
        }
        out
    }

    /// `(x, t)` if the assertion says `x = t` for a variable `x` that is not in use.
    fn candidate(&self, terms: &mut Terms, assertion: Term) -> Option<(Term, Term)> {
        let free = |terms: &Terms, t: Term| terms.op(t) == Op::Var && self.get(t) == NONE;
        let (t, positive) = match terms.as_not(assertion) {
            Some(t) => (t, false),
            None => (assertion, true),
        };
        if free(terms, t) {
            return Some((t, terms.bool_const(positive)));
        }
        if terms.op(t) != Op::Eq {
            return None;
        }
        let (a, b) = (terms.arg(t, 0), terms.arg(t, 1));
        if !positive && !terms.is_bool(a) {
            return None;
        }
        // The newer variable is the more likely to be the defined one.
        let (x, definition) = if free(terms, b) && (a < b || !free(terms, a)) {
            (b, a)
        } else if free(terms, a) {
            (a, b)
        } else {
            return None;
        };
        Some((x, if positive { definition } else { terms.not(definition) }))
    }

    /// Rewrites a term; a variable among the candidates is replaced by its rewritten definition
    /// unless that leads back to the variable, in which case the candidate becomes `None`.
    fn rewrite_with(
        &mut self,
        terms: &mut Terms,
        t: Term,
        candidates: &mut FxHashMap<Term, Option<Term>>,
    ) -> Term {
        let done = self.get(t);
        if done != NONE {
            return done;
        }
        let mut in_progress = rustc_hash::FxHashSet::default();
        let mut tasks = vec![Task::Visit(t)];
        let mut args = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(t) if self.get(t) != NONE => {}
                Task::Visit(t) if terms.op(t) == Op::Var => {
                    match candidates.get(&t).copied().flatten() {
                        Some(definition) if in_progress.insert(t) => {
                            tasks.extend([Task::Define(t), Task::Visit(definition)]);
                        }
                        Some(_) => {
                            // The definition leads back here.
                            candidates.insert(t, None);
                            self.set(t, t);
                        }
                        None => self.set(t, t),
                    }
                }
                Task::Visit(t) => {
                    tasks.push(Task::Finish(t));
                    tasks.extend(
                        terms.args(t).iter().filter(|a| self.get(**a) == NONE).map(|a| Task::Visit(*a)),
                    );
                }
                Task::Finish(t) => {
                    if self.get(t) == NONE {
                        args.clear();
                        args.extend(terms.args(t).iter().map(|a| self.get(*a)));
                        let new = if args == terms.args(t) { t } else { terms.with_args(t, &args) };
                        self.set(t, new);
                    }
                }
                Task::Define(x) => {
                    if let Some(definition) = candidates.get(&x).copied().flatten() {
                        let to = self.get(definition);
                        self.set(x, to);
                    }
                }
            }
        }
        self.get(t)
    }
}
