//! Formulas as [`assume`](crate::assume) takes them: integrity constraints and the meaning of their leaves.

use crate::builder::Builder;
use crate::integrity::{Integrity, Lit};
use crate::terms::Vocabulary;
use palisade_domains::{Dim, Dynamic, LinCons, NumericDomain, Rel, Tree};
use palisade_logic::{Term, Terms};
use rustc_hash::FxHashMap;

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
    /// Its reading: not zero where the literal is true.
    pub tree: Tree,
    /// The dimensions in it.
    pub dims: Vec<Dim>,
}

/// What a formula is read for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// Literals as they are.
    Plain,
    /// An equation that may be false also says which side is greater, for domains with inequalities.
    Sides,
    /// Parts of words and results of operations that are not affine get dimensions of their own, and the
    /// equations that relate them: for affine relations, which can express nothing else about them.
    Sums,
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
    pub fn of_term(terms: &mut Terms, voc: &mut Vocabulary, root: Term, reading: Reading) -> Formula {
        Builder::new(terms, voc, root, reading).build(root)
    }

    /// The literal that the whole formula is.
    pub fn whole(&self) -> Lit {
        self.root.unwrap_or(Integrity::constant(true))
    }
}

/// Bounds by type of the dimensions of a vocabulary, met with an element.
pub fn within_types(voc: &Vocabulary, a: &mut Dynamic) {
    voc.ranges().for_each(|c| a.assume(&c));
}
