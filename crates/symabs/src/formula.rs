//! Formulas as [`assume`](crate::assume) takes them: integrity constraints and the meaning of their leaves.

use crate::integrity::{Integrity, Lit};
use crate::terms::Vocabulary;
use palisade_domains::{BinOp, CmpOp, Dim, Dynamic, LinCons, Node as TreeNode, NumericDomain, Rel, Tree};
use palisade_logic::{Op, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// The literal of an integrity constraint `u ⇔ l`.
#[derive(Clone, Debug)]
pub enum Leaf {
    /// A Boolean variable of the logic: nothing a numeric domain knows.
    Free,
    /// A linear constraint; `≤`, `<` or a congruence.
    Linear(LinCons, Vec<Dim>),
    /// A literal over bit-vectors.
    Bits(BitsLeaf),
}

/// A literal over bit-vectors, read as an expression over dimensions.
#[derive(Clone, Debug)]
pub struct BitsLeaf {
    /// The literal.
    pub term: Term,
    /// Its reading: not zero where the literal is true.
    pub tree: Tree,
    /// The dimensions in it.
    pub dims: Vec<Dim>,
    /// Is it an equation between sums, so that what it says does not depend on bounds?
    pub affine: bool,
}

impl Leaf {
    /// The dimensions that the literal reads.
    pub fn dims(&self) -> &[Dim] {
        match self {
            Leaf::Free => &[],
            Leaf::Linear(_, dims) => dims,
            Leaf::Bits(b) => &b.dims,
        }
    }

    /// Whether meeting again with a smaller element may say more. A linear constraint is known exactly
    /// by the domains that can express it, and bounds of its variables help the others.
    pub fn depends_on_bounds(&self) -> bool {
        matches!(self, Leaf::Bits(_))
    }

    /// `A ⊓ μα̃(l)` or, for `truth` false, `A ⊓ μα̃(¬l)` (rules PtoA-1 and PtoA-0).
    pub fn meet(&self, a: &mut Dynamic, truth: bool) {
        match self {
            Leaf::Free => {}
            Leaf::Linear(c, _) if truth => a.assume(c),
            // Of ≤ and < the negation is one constraint; a congruence has none.
            Leaf::Linear(c, _) => c.negate().iter().for_each(|n| a.assume(n)),
            Leaf::Bits(b) => a.assume_tree(&b.tree, truth),
        }
    }
}

/// A formula: integrity constraints ℐ, the variable `u_φ` of the whole, and the literals.
#[derive(Clone, Debug, Default)]
pub struct Formula {
    /// The integrity constraints.
    pub integrity: Integrity,
    /// The meaning of each leaf.
    pub leaves: Vec<Leaf>,
    /// The whole formula.
    pub root: Option<Lit>,
    /// Dimensions that stand for terms inside the formula. They are not part of its vocabulary.
    pub hidden: Vec<Dim>,
    /// The literals of linear constraints, in normal form.
    linear: FxHashMap<LinCons, Lit>,
}

impl Formula {
    /// No formula yet.
    pub fn new() -> Formula {
        Formula::default()
    }

    /// A free Boolean variable.
    pub fn free(&mut self) -> Lit {
        self.leaves.push(Leaf::Free);
        self.integrity.leaf()
    }

    /// A linear literal. Equations become two inequalities, so that a disequality is `t < 0 ∨ t > 0` and
    /// every leaf a half-space (section 4).
    pub fn linear(&mut self, c: &LinCons) -> Lit {
        if let Some(truth) = c.truth() {
            return Integrity::constant(truth);
        }
        match c.rel {
            Rel::Eq | Rel::Ne => {
                let le = self.linear(&LinCons { expr: c.expr.clone(), rel: Rel::Le });
                let ge = self.linear(&LinCons { expr: -&c.expr, rel: Rel::Le });
                let both = self.integrity.and([le, ge]);
                if c.rel == Rel::Eq { both } else { !both }
            }
            _ => {
                let c = c.normalize();
                if let Some(truth) = c.truth() {
                    return Integrity::constant(truth);
                }
                if let Some(lit) = self.linear.get(&c) {
                    return *lit;
                }
                // The same half-space from the other side.
                if let [other] = c.negate().as_slice()
                    && let Some(lit) = self.linear.get(&other.normalize())
                {
                    return !*lit;
                }
                let dims = c.expr.dims().collect();
                self.leaves.push(Leaf::Linear(c.clone(), dims));
                let lit = self.integrity.leaf();
                self.linear.insert(c, lit);
                lit
            }
        }
    }

    /// The formula of a term. Variables of `voc` are its vocabulary; `voc` gets further dimensions for
    /// terms that have no linear reading: if-then-else terms, which are rewritten as in Example 1, and
    /// elements of arrays and results of functions, of which nothing is known but that equal ones are equal.
    ///
    /// With `split`, an equation that may be false also says which side is greater, for domains that
    /// can use it.
    pub fn of_term(terms: &mut Terms, voc: &mut Vocabulary, root: Term, split: bool) -> Formula {
        let conjuncts = terms.conjuncts(root).into_iter().collect();
        let mut b = Builder {
            terms,
            voc,
            formula: Formula::new(),
            lits: FxHashMap::default(),
            stands_for: FxHashMap::default(),
            definitions: Vec::new(),
            split,
            positive: conjuncts,
        };
        let mut all = vec![b.lit(root)];
        while let Some((c, then, other)) = b.definitions.pop() {
            b.positive.extend([then, other]);
            let (c, then, other) = (b.lit(c), b.lit(then), b.lit(other));
            all.push(b.formula.integrity.ite(c, then, other));
        }
        all.append(&mut std::mem::take(&mut b.formula.root).into_iter().collect());
        let mut formula = b.formula;
        formula.root = Some(formula.integrity.and(all));
        formula
    }

    /// The literal that the whole formula is.
    pub fn whole(&self) -> Lit {
        self.root.unwrap_or(Integrity::constant(true))
    }
}

/// Turns Boolean terms into integrity constraints.
struct Builder<'a> {
    terms: &'a mut Terms,
    voc: &'a mut Vocabulary,
    formula: Formula,
    lits: FxHashMap<Term, Lit>,
    /// Variables in place of terms.
    stands_for: FxHashMap<Term, Term>,
    /// `(c, v = a, v = b)` for every `v` that stands for `ite(c, a, b)`.
    definitions: Vec<(Term, Term, Term)>,
    split: bool,
    /// Equations that are asserted or define a variable: that they are false says nothing.
    positive: FxHashSet<Term>,
}

impl Builder<'_> {
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

    /// A variable in place of a term without a linear reading.
    fn stand_in(&mut self, t: Term) {
        if self.stands_for.contains_key(&t) {
            return;
        }
        let signed = self.voc.is_signed(self.terms, t);
        let v = self.terms.fresh_var("part", self.terms.sort(t));
        let dim = self.voc.add(self.terms, v, signed);
        self.formula.hidden.push(dim);
        self.stands_for.insert(t, v);
        if let (Op::Ite, [c, a, b]) = (self.terms.op(t), self.terms.args(t).to_vec().as_slice()) {
            let (then, other) = (self.terms.eq(v, *a), self.terms.eq(v, *b));
            self.definitions.push((*c, then, other));
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
                _ => false,
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
        let affine = is_affine(&tree);
        self.formula.leaves.push(Leaf::Bits(BitsLeaf { term: plain, tree, dims, affine }));
        let leaf = self.formula.integrity.leaf();
        if self.split && self.terms.op(plain) == Op::Eq && !self.positive.contains(&t) {
            // The sides may lead back to the equation, and are not split further.
            self.lits.extend([(t, leaf), (plain, leaf)]);
            self.split = false;
            self.sides(plain, leaf);
            self.split = true;
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

/// Whether a tree is an equation between sums with constant factors.
fn is_affine(tree: &Tree) -> bool {
    let Some(root) = tree.root() else { return true };
    tree.nodes().iter().enumerate().all(|(i, n)| match n {
        TreeNode::Const(_) | TreeNode::Dim(_) | TreeNode::Neg(_) | TreeNode::Not(_) => true,
        TreeNode::Wrap(ty, _) => ty.width >= 1,
        TreeNode::Bin(BinOp::Add | BinOp::Sub, ..) => true,
        TreeNode::Bin(BinOp::Mul, a, b) => {
            [a, b].iter().any(|x| matches!(tree.node(**x), TreeNode::Const(_)))
        }
        TreeNode::Cmp(CmpOp::Eq, ..) => i == root.index(),
        _ => false,
    })
}

/// Bounds by type of the dimensions of a vocabulary, met with an element.
pub fn within_types(voc: &Vocabulary, a: &mut Dynamic) {
    voc.ranges().for_each(|c| a.assume(&c));
}
