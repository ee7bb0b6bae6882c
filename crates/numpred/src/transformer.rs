//! Abstract transformers: the grammar of Figure 6.

use crate::expr::{Expr, Pred};
use crate::space::Vocabulary;
use palisade_domains::{Dim, Interval, LinExpr, Tree};
use std::fmt::Write;
use std::rc::Rc;

/// A numeric expression v.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NumExpr {
    /// A linear expression.
    Linear(LinExpr),
    /// Any expression the domains know, with the wrap of machine integers.
    Tree(Rc<Tree>),
    /// Any value of the interval.
    Any(Interval),
}

/// A transformer of the numeric domain (section 3.3): it has two, assign and assume.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NumStmt {
    /// τ_N, `x₁ := e₁ ∧ … ∧ xₖ := eₖ`: all at once.
    Assign(Vec<(Dim, NumExpr)>),
    /// Keeps the states in which the tree is, or is not, zero. Linear conditions are better given to
    /// [`Transformer::Assume`], which tells the predicates about them too.
    Assume(Rc<Tree>, bool),
}

impl NumStmt {
    /// The dimensions that change.
    pub fn assigned(&self) -> Vec<Dim> {
        match self {
            NumStmt::Assign(all) => all.iter().map(|a| a.0).collect(),
            NumStmt::Assume(..) => Vec::new(),
        }
    }
}

/// `p := choice(t, f)`: p becomes true where t holds and false where f holds, and either where neither does.
/// Where both hold no state is left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Choice {
    /// What changes.
    pub pred: Pred,
    /// Where it must become true.
    pub t: Expr,
    /// Where it must become false.
    pub f: Expr,
}

/// An abstract transformer τ.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Transformer {
    /// τ_N.
    Num(NumStmt),
    /// τ_a, `assume(e)`.
    Assume(Expr),
    /// τ_c, `e ? τ_N`.
    Cond(Expr, NumStmt),
    /// τ_P, choices for several predicates at once.
    Pred(Vec<Choice>),
    /// τ_NP, `(e ? τ_N) ∧ τ_P`.
    Both(Expr, NumStmt, Vec<Choice>),
    /// `τ; τ`; nothing at all if empty.
    Seq(Vec<Transformer>),
    /// `τ ∨ τ`; no state if empty.
    Or(Vec<Transformer>),
}

impl Transformer {
    /// The identity.
    pub fn skip() -> Transformer {
        Transformer::Seq(Vec::new())
    }

    /// The relation R of τ_P (section 4.3): `⋀ (p' ∧ ¬f) ∨ (¬p' ∧ ¬t)`, in negation normal form.
    pub fn relation(choices: &[Choice]) -> Expr {
        Expr::and(choices.iter().map(|c| {
            let next = Expr::Pred(c.pred, true);
            Expr::or([Expr::and([next.clone(), c.f.negate()]), Expr::and([next.negate(), c.t.negate()])])
        }))
    }

    /// A condition as the choice between the disjuncts of its normal form: the meet with each is exact
    /// where the meet with their join is not.
    pub fn assume_each(e: &Expr, most: usize) -> Transformer {
        match e.dnf(most) {
            Some(cubes) if cubes.len() != 1 => {
                Transformer::Or(cubes.into_iter().map(Transformer::Assume).collect())
            }
            _ => Transformer::Assume(e.nnf()),
        }
    }

    /// The transformer as text that [`crate::parse`] reads again, except for trees, which the language does not
    /// have.
    pub fn display(&self, names: &Vocabulary) -> String {
        match self {
            Transformer::Num(s) => statement(s, names),
            Transformer::Assume(e) => format!("assume({})", names.display(e)),
            Transformer::Cond(e, s) => format!("({} ? {})", names.display(e), statement(s, names)),
            Transformer::Pred(choices) => self::choices(choices, names),
            Transformer::Both(e, s, c) => {
                let numeric = match e {
                    Expr::Const(true) => statement(s, names),
                    e => format!("({} ? {})", names.display(e), statement(s, names)),
                };
                format!("{numeric} & {}", self::choices(c, names))
            }
            Transformer::Seq(parts) if parts.is_empty() => "skip".into(),
            Transformer::Or(parts) if parts.is_empty() => "assume(false)".into(),
            Transformer::Seq(parts) => join(parts, "; ", names),
            Transformer::Or(parts) => join(parts, " | ", names),
        }
    }
}

fn join(parts: &[Transformer], with: &str, names: &Vocabulary) -> String {
    let one = |p: &Transformer| match p {
        Transformer::Seq(inner) | Transformer::Or(inner) if inner.len() > 1 => {
            format!("{{ {} }}", p.display(names))
        }
        other => other.display(names),
    };
    let all: Vec<String> = parts.iter().map(one).collect();
    all.join(with)
}

fn statement(s: &NumStmt, names: &Vocabulary) -> String {
    let NumStmt::Assign(all) = s else {
        return "assume(<tree>)".into();
    };
    let mut text = String::new();
    for (i, (d, e)) in all.iter().enumerate() {
        let before = if i > 0 { " & " } else { "" };
        let name = names.name(*d);
        let _ = match e {
            NumExpr::Linear(e) => write!(text, "{before}{name} := {}", e.display_with(&|d| names.name(d))),
            NumExpr::Tree(_) => write!(text, "{before}{name} := <tree>"),
            NumExpr::Any(_) => write!(text, "{before}{name} := *"),
        };
    }
    text
}

fn choices(all: &[Choice], names: &Vocabulary) -> String {
    let one = |c: &Choice| {
        let name = &names.predicates[c.pred.0 as usize].name;
        format!("{name} := choice({}, {})", names.display(&c.t), names.display(&c.f))
    };
    let all: Vec<String> = all.iter().map(one).collect();
    all.join(" & ")
}
