//! Formulas from terms of the solver: [`Formula::of_term`].

use crate::formula::{BitsLeaf, Formula, Leaf, Reading};
use crate::integrity::{Integrity, Lit};
use crate::parts::{Part, cuts};
use crate::terms::Vocabulary;
use palisade_domains::{BinOp, CmpOp, Dim};
use palisade_logic::{Op, Sort, Term, Terms};
use palisade_num::Int;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Turns Boolean terms into integrity constraints.
pub(crate) struct Builder<'a> {
    pub(crate) terms: &'a mut Terms,
    voc: &'a mut Vocabulary,
    formula: Formula,
    lits: FxHashMap<Term, Lit>,
    /// Terms in place of others.
    pub(crate) stands_for: FxHashMap<Term, Term>,
    /// What is still to be said of the variables in place of terms.
    pub(crate) definitions: Vec<Definition>,
    reading: Reading,
    /// Equations that are asserted or define a variable: that they are false says nothing.
    positive: FxHashSet<Term>,
    /// For terms of which parts are taken: where they are cut.
    pub(crate) cuts: FxHashMap<Term, BTreeSet<u32>>,
    /// The parts of those that were met.
    pub(crate) parts: FxHashMap<Term, Arc<[Part]>>,
}

/// What a variable in place of a term is.
pub(crate) enum Definition {
    /// `if c then v = a else v = b`, for a `v` in place of `ite(c, a, b)`.
    Choice { condition: Term, then: Term, other: Term },
    /// A term that holds.
    Fact(Term),
    /// A dimension is the result of an operation.
    Result { of: Term, dim: Dim, signed: bool },
    /// A term, read as a signed number or not, is the sum of these multiples of dimensions.
    Sum { of: Term, signed: bool, parts: Vec<(Dim, Int)> },
}

impl<'a> Builder<'a> {
    /// Prepares the formula of a term.
    pub(crate) fn new(
        terms: &'a mut Terms,
        voc: &'a mut Vocabulary,
        root: Term,
        reading: Reading,
    ) -> Builder<'a> {
        let positive = terms.conjuncts(root).into_iter().collect();
        let cuts = if reading == Reading::Sums { cuts(terms, root) } else { FxHashMap::default() };
        Builder {
            terms,
            voc,
            formula: Formula::new(),
            lits: FxHashMap::default(),
            stands_for: FxHashMap::default(),
            definitions: Vec::new(),
            reading,
            positive,
            cuts,
            parts: FxHashMap::default(),
        }
    }

    /// The formula.
    pub(crate) fn build(mut self, root: Term) -> Formula {
        let mut all = vec![self.lit(root)];
        while let Some(definition) = self.definitions.pop() {
            all.push(match definition {
                Definition::Choice { condition, then, other } => {
                    self.positive.extend([then, other]);
                    let (c, then, other) = (self.lit(condition), self.lit(then), self.lit(other));
                    self.formula.integrity.ite(c, then, other)
                }
                Definition::Fact(t) => self.lit(t),
                Definition::Result { of, dim, signed } => {
                    let args = self.terms.args(of).to_vec();
                    let args: Vec<Term> = args.into_iter().map(|a| self.plain(a)).collect();
                    let of = self.terms.with_args(of, &args);
                    self.sum(of, signed, &[(dim, Int::ONE)])
                }
                Definition::Sum { of, signed, parts } => {
                    let of = self.plain(of);
                    self.sum(of, signed, &parts)
                }
            });
        }
        all.extend(self.formula.root.take());
        self.formula.root = Some(self.formula.integrity.and(all));
        self.formula
    }

    /// The literal that a term without such that have no linear reading is a sum.
    fn sum(&mut self, of: Term, signed: bool, parts: &[(Dim, Int)]) -> Lit {
        let (mut tree, mut dims) = self.voc.tree(self.terms, of, signed);
        let Some(left) = tree.root() else { return Integrity::constant(true) };
        let mut total = tree.int(0);
        for (d, k) in parts {
            let (d, k) = (tree.dim(*d), tree.int(k.clone()));
            let product = tree.bin(BinOp::Mul, d, k);
            total = tree.bin(BinOp::Add, total, product);
        }
        tree.cmp(CmpOp::Eq, left, total);
        dims.extend(parts.iter().map(|p| p.0));
        dims.sort_unstable();
        dims.dedup();
        self.formula.leaves.push(Leaf::Bits(BitsLeaf { tree, dims }));
        self.formula.integrity.leaf()
    }

    /// The two parts of an equation with an if-then-else term on one side: `(c, s = a, s = b)`.
    fn choice(&mut self, t: Term) -> Option<(Term, Term, Term)> {
        let [x, y] = *self.terms.args(t) else { return None };
        let is_ite = |terms: &Terms, t| terms.op(t) == Op::Ite && terms.sort(t).width().is_some();
        let (side, ite) = match (is_ite(self.terms, x), is_ite(self.terms, y)) {
            (false, true) => (x, y),
            (true, false) => (y, x),
            _ => return None,
        };
        let [c, a, b] = *self.terms.args(ite) else { return None };
        let (then, other) = (self.terms.eq(side, a), self.terms.eq(side, b));
        if self.positive.contains(&t) {
            self.positive.extend([then, other]);
        }
        Some((c, then, other))
    }

    fn parts(&mut self, t: Term) -> Option<Vec<Term>> {
        let terms = &*self.terms;
        let args = terms.args(t).to_vec();
        match terms.op(t) {
            // One constraint for a whole conjunction.
            Op::And => Some(terms.conjuncts(t)),
            Op::Not | Op::Ite => Some(args),
            Op::Eq if terms.is_bool(args[0]) => Some(args),
            Op::Eq if terms.sort(args[0]).width().is_some() => self.choice(t).map(|(c, a, b)| vec![c, a, b]),
            _ => None,
        }
    }

    /// The literal of a Boolean term, without recursion.
    fn lit(&mut self, root: Term) -> Lit {
        let mut stack = vec![root];
        while let Some(&t) = stack.last() {
            if self.lits.contains_key(&t) {
                stack.pop();
                continue;
            }
            let Some(parts) = self.parts(t) else {
                let lit = self.atom(t);
                self.lits.insert(t, lit);
                continue;
            };
            let missing: Vec<Term> = parts.iter().copied().filter(|p| !self.lits.contains_key(p)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let of: Vec<Lit> = parts.iter().map(|p| self.lits[p]).collect();
            let integrity = &mut self.formula.integrity;
            let lit = match (self.terms.op(t), of.as_slice()) {
                (Op::Not, [a]) => !*a,
                (Op::And, all) => integrity.and(all.iter().copied()),
                (Op::Eq, [a, b]) => integrity.iff(*a, *b),
                (_, [c, a, b]) => integrity.ite(*c, *a, *b),
                _ => Integrity::constant(true),
            };
            self.lits.insert(t, lit);
        }
        self.lits[&root]
    }

    /// A new variable outside the vocabulary of the formula, and its dimension.
    pub(crate) fn hidden(&mut self, width: u32, signed: bool) -> (Term, Dim) {
        let v = self.terms.fresh_var("part", Sort::BitVec(width));
        let dim = self.voc.add(self.terms, v, signed);
        self.formula.hidden.push(dim);
        (v, dim)
    }

    /// Whether a term is better read as a signed number.
    pub(crate) fn is_signed(&self, t: Term) -> bool {
        self.voc.is_signed(self.terms, t)
    }

    /// A variable in place of a term without a linear reading.
    fn stand_in(&mut self, t: Term) {
        if self.stands_for.contains_key(&t) || (self.reading == Reading::Sums && self.as_parts(t)) {
            return;
        }
        let signed = self.is_signed(t);
        let (v, dim) = self.hidden(self.terms.width(t), signed);
        self.stands_for.insert(t, v);
        match (self.terms.op(t), self.terms.args(t).to_vec().as_slice()) {
            (Op::Ite, [condition, a, b]) => {
                let (then, other) = (self.terms.eq(v, *a), self.terms.eq(v, *b));
                self.definitions.push(Definition::Choice { condition: *condition, then, other });
            }
            (Op::Select | Op::Apply, _) => {}
            _ => self.definitions.push(Definition::Result { of: t, dim, signed }),
        }
    }

    /// The term with variables for the outermost parts without a linear reading.
    fn plain(&mut self, t: Term) -> Term {
        let mut stack = vec![t];
        let mut seen = FxHashSet::default();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) || self.terms.sort(t).is_array() {
                continue;
            }
            let bits = self.terms.sort(t).width().is_some();
            let unknown = match self.terms.op(t) {
                Op::Ite | Op::Select | Op::Apply => true,
                Op::Var => self.voc.of_term(t).is_none(),
                _ => self.reading == Reading::Sums && bits && self.is_nonlinear(t),
            };
            if bits && unknown && self.terms.op(t) != Op::Var {
                self.stand_in(t);
            } else if bits && unknown {
                // A variable outside the vocabulary relates those inside.
                let signed = self.voc.is_signed(self.terms, t);
                let dim = self.voc.add(self.terms, t, signed);
                self.formula.hidden.push(dim);
            } else {
                stack.extend(self.terms.args(t));
            }
        }
        self.terms.substitute(t, &self.stands_for)
    }

    fn atom(&mut self, t: Term) -> Lit {
        if let Some(value) = self.terms.bool_value(t) {
            return Integrity::constant(value);
        }
        match self.terms.op(t) {
            Op::Var if self.voc.of_term(t).is_none() => return self.formula.free(),
            Op::Select | Op::Apply => return self.formula.free(),
            Op::Eq if self.terms.sort(self.terms.args(t)[0]).is_array() => return self.formula.free(),
            _ => {}
        }
        let plain = self.plain(t);
        if plain != t && self.terms.op(plain) != self.terms.op(t) {
            // The rewriting made something simpler of it.
            if self.positive.contains(&t) {
                self.positive.insert(plain);
            }
            return self.lit(plain);
        }
        let (tree, dims) = self.voc.tree(self.terms, plain, false);
        self.formula.leaves.push(Leaf::Bits(BitsLeaf { tree, dims }));
        let leaf = self.formula.integrity.leaf();
        if self.reading == Reading::Sides && self.terms.op(plain) == Op::Eq && !self.positive.contains(&t) {
            // The sides may lead back to the equation, and are not split further.
            self.lits.extend([(t, leaf), (plain, leaf)]);
            self.reading = Reading::Plain;
            self.sides(plain, leaf);
            self.reading = Reading::Sides;
        }
        leaf
    }

    /// `a = b ⇔ ¬(a < b) ∧ ¬(b < a)`, in the reading that suits the operands.
    fn sides(&mut self, t: Term, leaf: Lit) {
        let [a, b] = *self.terms.args(t) else { return };
        let signed = self.voc.is_signed(self.terms, if self.terms.is_const(a) { b } else { a });
        let (less, greater) = if signed {
            (self.terms.slt(a, b), self.terms.slt(b, a))
        } else {
            (self.terms.ult(a, b), self.terms.ult(b, a))
        };
        let (less, greater) = (self.lit(less), self.lit(greater));
        let neither = self.formula.integrity.and([!less, !greater]);
        let same = self.formula.integrity.iff(leaf, neither);
        let known = self.formula.root;
        self.formula.root = Some(self.formula.integrity.and(known.into_iter().chain([same])));
    }
}
