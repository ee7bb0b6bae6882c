//! Boolean expressions B over predicates and numeric terms.

use palisade_domains::{Dim, LinCons, Rel};

/// A predicate of V_P, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pred(pub u32);

/// An element of B: a quantifier-free formula over predicates and linear constraints.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// true or false.
    Const(bool),
    /// A predicate, or its value in the next state if the flag is set.
    Pred(Pred, bool),
    /// A numeric term.
    Num(LinCons),
    /// Negation.
    Not(Box<Expr>),
    /// Conjunction.
    And(Vec<Expr>),
    /// Disjunction.
    Or(Vec<Expr>),
}

/// A term or a negated predicate.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Literal {
    /// A predicate, whether it is primed, and whether it holds.
    Pred(Pred, bool, bool),
    /// A numeric term. Its negation is a numeric term again, except for congruences, which must not be
    /// negated.
    Num(LinCons),
}

impl Expr {
    /// True.
    pub const TRUE: Expr = Expr::Const(true);
    /// False.
    pub const FALSE: Expr = Expr::Const(false);

    /// A predicate in the current state.
    pub fn pred(p: Pred) -> Expr {
        Expr::Pred(p, false)
    }

    /// The conjunction.
    pub fn and(parts: impl IntoIterator<Item = Expr>) -> Expr {
        let mut all = Vec::new();
        for p in parts {
            match p {
                Expr::Const(true) => {}
                Expr::Const(false) => return Expr::FALSE,
                Expr::And(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        match all.len() {
            0 => Expr::TRUE,
            1 => all.remove(0),
            _ => Expr::And(all),
        }
    }

    /// The disjunction.
    pub fn or(parts: impl IntoIterator<Item = Expr>) -> Expr {
        let mut all = Vec::new();
        for p in parts {
            match p {
                Expr::Const(false) => {}
                Expr::Const(true) => return Expr::TRUE,
                Expr::Or(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        match all.len() {
            0 => Expr::FALSE,
            1 => all.remove(0),
            _ => Expr::Or(all),
        }
    }

    /// The negation, in negation normal form if `self` is.
    pub fn negate(&self) -> Expr {
        self.normal(false)
    }

    /// Negation normal form: negations only at predicates (and at congruences, which have no negation
    /// that is a term).
    pub fn nnf(&self) -> Expr {
        self.normal(true)
    }

    fn normal(&self, positive: bool) -> Expr {
        match self {
            Expr::Const(b) => Expr::Const(*b == positive),
            Expr::Pred(..) if positive => self.clone(),
            Expr::Pred(..) => Expr::Not(Box::new(self.clone())),
            Expr::Num(c) if positive => match c.normalize() {
                c if c.truth().is_some() => Expr::Const(c.truth() == Some(true)),
                c => Expr::Num(c),
            },
            Expr::Num(c) => match (&c.rel, c.negate().as_slice()) {
                (Rel::Eq, _) => Expr::Num(LinCons { expr: c.expr.clone(), rel: Rel::Ne }).normal(true),
                (Rel::Mod(_), _) => Expr::Not(Box::new(self.clone())),
                (_, [n]) => Expr::Num(n.clone()).normal(true),
                _ => Expr::Not(Box::new(self.clone())),
            },
            Expr::Not(e) => e.normal(!positive),
            Expr::And(parts) if positive => Expr::and(parts.iter().map(|p| p.normal(true))),
            Expr::Or(parts) if !positive => Expr::and(parts.iter().map(|p| p.normal(false))),
            Expr::Or(parts) | Expr::And(parts) => Expr::or(parts.iter().map(|p| p.normal(positive))),
        }
    }

    /// The literal that an expression in negation normal form is. A negated congruence is none.
    pub fn literal(&self) -> Option<Literal> {
        match self {
            Expr::Pred(p, primed) => Some(Literal::Pred(*p, *primed, true)),
            Expr::Num(c) => Some(Literal::Num(c.clone())),
            Expr::Not(e) => match **e {
                Expr::Pred(p, primed) => Some(Literal::Pred(p, primed, false)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Disjuncts of the disjunctive normal form, each in negation normal form; `None` if there are more
    /// than `most`.
    pub fn dnf(&self, most: usize) -> Option<Vec<Expr>> {
        fn cubes(e: &Expr, most: usize) -> Option<Vec<Vec<Expr>>> {
            match e {
                Expr::Const(true) => Some(vec![Vec::new()]),
                Expr::Const(false) => Some(Vec::new()),
                Expr::Or(parts) => {
                    let mut all = Vec::new();
                    for p in parts {
                        all.extend(cubes(p, most)?);
                    }
                    (all.len() <= most).then_some(all)
                }
                Expr::And(parts) => {
                    let mut all: Vec<Vec<Expr>> = vec![Vec::new()];
                    for p in parts {
                        let more = cubes(p, most)?;
                        if all.len().saturating_mul(more.len()) > most {
                            return None;
                        }
                        let with = |a: &Vec<Expr>, m: &Vec<Expr>| a.iter().chain(m).cloned().collect();
                        all = all.iter().flat_map(|a| more.iter().map(|m| with(a, m))).collect();
                    }
                    Some(all)
                }
                // The two sides of a disequality are convex, it is not.
                Expr::Num(LinCons { expr, rel: Rel::Ne }) => {
                    let side = |e| vec![Expr::Num(LinCons { expr: e, rel: Rel::Lt }.normalize())];
                    Some(vec![side(expr.clone()), side(-expr)])
                }
                literal => Some(vec![vec![literal.clone()]]),
            }
        }
        Some(cubes(&self.nnf(), most)?.into_iter().map(Expr::and).collect())
    }

    /// The value in a state of predicates (with the primed flag) and numbers.
    pub fn eval(&self, pred: &dyn Fn(Pred, bool) -> bool, num: &dyn Fn(Dim) -> palisade_num::Rat) -> bool {
        match self {
            Expr::Const(b) => *b,
            Expr::Pred(p, primed) => pred(*p, *primed),
            Expr::Num(c) => c.holds(num),
            Expr::Not(e) => !e.eval(pred, num),
            Expr::And(parts) => parts.iter().all(|p| p.eval(pred, num)),
            Expr::Or(parts) => parts.iter().any(|p| p.eval(pred, num)),
        }
    }

    /// Calls `f` for every literal's atom.
    pub fn atoms(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            Expr::Const(_) => {}
            Expr::Pred(..) | Expr::Num(_) => f(self),
            Expr::Not(e) => e.atoms(f),
            Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|p| p.atoms(f)),
        }
    }
}

impl Literal {
    /// The literal as an expression.
    pub fn expr(&self) -> Expr {
        match self {
            Literal::Pred(p, primed, true) => Expr::Pred(*p, *primed),
            Literal::Pred(p, primed, false) => Expr::Not(Box::new(Expr::Pred(*p, *primed))),
            Literal::Num(c) => Expr::Num(c.clone()),
        }
    }
}
