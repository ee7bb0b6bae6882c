//! What the values of one domain have in common: V_P, V_N, the diagrams and the elements of N.

use crate::expr::{Expr, Literal, Pred};
use crate::numeric::Numerics;
use palisade_base::Budget;
use palisade_dd::{Bdd, Limits, Node, OutOfBudget, Outcome, Var};
use palisade_domains::{Dim, Domain, LinCons, MachineInt};
use rustc_hash::FxHashMap;

/// A predicate of V_P.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicate {
    /// Its name.
    pub name: String,
    /// γ(p) if that is a numeric term; other predicates speak about what no number tells.
    pub meaning: Option<LinCons>,
}

/// A variable of V_N.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// How the numeric domain knows it.
    pub dim: Dim,
    /// Its name.
    pub name: String,
    /// The machine type it never leaves; `None` for any integer.
    pub range: Option<MachineInt>,
}

/// V_P and V_N.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Vocabulary {
    /// V_P.
    pub predicates: Vec<Predicate>,
    /// V_N.
    pub variables: Vec<Variable>,
}

impl Vocabulary {
    /// All predicates.
    pub fn preds(&self) -> impl Iterator<Item = Pred> + use<> {
        (0..self.predicates.len() as u32).map(Pred)
    }

    /// Is the dimension in V_N?
    pub fn tracks(&self, d: Dim) -> bool {
        self.variables.iter().any(|v| v.dim == d)
    }

    /// γ(p), if it is a numeric term over V_N.
    pub fn meaning(&self, p: Pred) -> Option<&LinCons> {
        let meaning = self.predicates[p.0 as usize].meaning.as_ref()?;
        meaning.expr.dims().all(|d| self.tracks(d)).then_some(meaning)
    }

    /// γ of a literal of p, if it is a numeric term over V_N.
    pub fn literal_meaning(&self, p: Pred, positive: bool) -> Option<LinCons> {
        let term = Expr::Num(self.meaning(p)?.clone());
        match if positive { term.nnf() } else { term.negate() }.literal()? {
            Literal::Num(c) => Some(c),
            Literal::Pred(..) => None,
        }
    }

    /// The name of a variable.
    pub fn name(&self, d: Dim) -> String {
        match self.variables.iter().find(|v| v.dim == d) {
            Some(v) => v.name.clone(),
            None => d.to_string(),
        }
    }

    /// The expression as text.
    pub fn display(&self, e: &Expr) -> String {
        let nested = |e: &Expr| match e {
            Expr::And(_) | Expr::Or(_) => format!("({})", self.display(e)),
            e => self.display(e),
        };
        match e {
            Expr::Const(b) => b.to_string(),
            Expr::Pred(p, primed) => {
                format!("{}{}", self.predicates[p.0 as usize].name, if *primed { "'" } else { "" })
            }
            Expr::Num(c) => c.display_with(&|d| self.name(d)).to_string(),
            Expr::Not(e) => match **e {
                Expr::Pred(..) => format!("!{}", self.display(e)),
                _ => format!("!({})", self.display(e)),
            },
            Expr::And(parts) => parts.iter().map(nested).collect::<Vec<_>>().join(" & "),
            Expr::Or(parts) => parts.iter().map(nested).collect::<Vec<_>>().join(" | "),
        }
    }

    /// The propositional projection proj_P(V_P ∪ V'_P, e) of a conjunction (section 4.1), by its syntax:
    /// the predicates in it, and those whose meaning is one of its terms or the negation of one.
    pub fn proj_p(&self, conjunction: &[Literal]) -> Vec<(Pred, bool, bool)> {
        let mut found = Vec::new();
        for literal in conjunction {
            match literal {
                Literal::Pred(p, primed, positive) => found.push((*p, *primed, *positive)),
                Literal::Num(c) => {
                    for p in self.preds() {
                        let means = |positive| self.literal_of(p, positive).as_ref() == Some(c);
                        found.extend([true, false].into_iter().filter(|&b| means(b)).map(|b| (p, false, b)));
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The meaning of a literal whether its variables are tracked or not.
    fn literal_of(&self, p: Pred, positive: bool) -> Option<LinCons> {
        let term = Expr::Num(self.predicates[p.0 as usize].meaning.clone()?);
        match if positive { term.nnf() } else { term.negate() }.literal()? {
            Literal::Num(c) => Some(c),
            Literal::Pred(..) => None,
        }
    }

    /// The numeric projection proj_N(V_N, e) of a conjunction (section 4.1), by its syntax: the terms over
    /// V_N in it, and what its predicates mean.
    pub fn proj_n(&self, conjunction: &[Literal]) -> Vec<LinCons> {
        let mut found: Vec<LinCons> = Vec::new();
        for literal in conjunction {
            let term = match literal {
                Literal::Num(c) if c.expr.dims().all(|d| self.tracks(d)) => Some(c.clone()),
                Literal::Pred(p, false, positive) => self.literal_meaning(*p, *positive),
                _ => None,
            };
            found.extend(term.filter(|c| !found.contains(c)));
        }
        found
    }
}

/// A diagram is taken apart into this many paths at most.
const MAX_PARTS: usize = 64;

/// What the operations of a domain work in.
pub struct Space {
    /// V_P and V_N.
    pub names: Vocabulary,
    /// The diagrams of P. Predicate i is variable 2i, its primed form 2i + 1.
    pub bdd: Bdd,
    /// The elements of N.
    pub nums: Numerics,
    /// γ of the literals of each predicate, first of the negative one, where it is a numeric term over V_N.
    meanings: Vec<[Option<LinCons>; 2]>,
    /// The literals that a numeric term is the meaning of, whether it is over V_N or not.
    literals: FxHashMap<LinCons, Vec<(Pred, bool, bool)>>,
    budget: Budget,
}

impl Space {
    /// An empty space over a vocabulary.
    pub fn new(names: Vocabulary, numbers: Domain, budget: &Budget) -> Outcome<Space> {
        let mut bdd = Bdd::new(Limits { budget: budget.clone(), ..Limits::default() });
        for _ in 0..2 * names.predicates.len() {
            bdd.new_var()?;
        }
        let mut literals: FxHashMap<LinCons, Vec<(Pred, bool, bool)>> = FxHashMap::default();
        for p in names.preds() {
            for positive in [false, true] {
                if let Some(meaning) = names.literal_of(p, positive) {
                    literals.entry(meaning).or_default().push((p, false, positive));
                }
            }
        }
        let meanings = names.preds().map(|p| [false, true].map(|b| names.literal_meaning(p, b))).collect();
        let nums = Numerics::new(numbers, budget);
        Ok(Space { names, bdd, nums, meanings, literals, budget: budget.clone() })
    }

    /// [`Vocabulary::proj_p`], by a table.
    pub fn proj_p(&self, conjunction: &[Literal]) -> Vec<(Pred, bool, bool)> {
        let mut found = Vec::new();
        for literal in conjunction {
            match literal {
                Literal::Pred(p, primed, positive) => found.push((*p, *primed, *positive)),
                Literal::Num(c) => found.extend(self.literals.get(c).into_iter().flatten()),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// [`Vocabulary::proj_n`], by a table.
    pub fn proj_n(&self, conjunction: &[Literal]) -> Vec<LinCons> {
        let mut found: Vec<LinCons> = Vec::new();
        for literal in conjunction {
            let term = match literal {
                Literal::Num(c) if c.expr.dims().all(|d| self.names.tracks(d)) => Some(c),
                Literal::Pred(p, false, positive) => {
                    self.meanings[p.0 as usize][usize::from(*positive)].as_ref()
                }
                _ => None,
            };
            if let Some(c) = term
                && !found.contains(c)
            {
                found.push(c.clone());
            }
        }
        found
    }

    /// `Err` once the budget is stopped.
    pub fn check(&self) -> Outcome<()> {
        self.budget.check().map_err(OutOfBudget::Stopped)
    }

    /// The variable of a predicate.
    pub fn var(p: Pred, primed: bool) -> Var {
        Var(2 * p.0 + u32::from(primed))
    }

    /// The predicate of a variable, and whether it is primed; `None` for other variables.
    pub fn pred(&self, v: Var) -> Option<(Pred, bool)> {
        ((v.0 as usize) < 2 * self.names.predicates.len()).then_some((Pred(v.0 / 2), v.0 % 2 == 1))
    }

    /// P.α of a conjunction of literals.
    pub fn cube(&mut self, literals: &[(Pred, bool, bool)]) -> Outcome {
        let mut f = Node::TRUE;
        for &(p, primed, positive) in literals.iter().rev() {
            let literal = self.bdd.literal(Space::var(p, primed), positive)?;
            f = self.bdd.and(literal, f)?;
        }
        Ok(f)
    }

    /// P.α of a formula over predicates alone; `None` if it has a numeric term.
    pub fn formula(&mut self, e: &Expr) -> Outcome<Option<Node>> {
        Ok(match e {
            Expr::Const(b) => Some(if *b { Node::TRUE } else { Node::FALSE }),
            Expr::Pred(p, primed) => Some(self.bdd.literal(Space::var(*p, *primed), true)?),
            Expr::Num(_) => None,
            Expr::Not(e) => match self.formula(e)? {
                Some(f) => Some(self.bdd.not(f)?),
                None => None,
            },
            Expr::And(parts) | Expr::Or(parts) => {
                let conjunction = matches!(e, Expr::And(_));
                let mut all = if conjunction { Node::TRUE } else { Node::FALSE };
                for part in parts {
                    let Some(f) = self.formula(part)? else { return Ok(None) };
                    all = if conjunction { self.bdd.and(all, f)? } else { self.bdd.or(all, f)? };
                }
                Some(all)
            }
        })
    }

    /// P.γ: the paths of a diagram as conjunctions.
    pub fn cubes(&self, f: Node) -> Vec<Vec<Literal>> {
        let literal = |(v, b): (Var, bool)| self.pred(v).map(|(p, primed)| Literal::Pred(p, primed, b));
        self.bdd.cubes(f).map(|cube| cube.into_iter().filter_map(literal).collect()).collect()
    }

    /// The paths of a diagram as diagrams; if there are very many, only the diagram itself.
    pub fn parts(&mut self, f: Node) -> Outcome<Vec<Node>> {
        let cubes: Vec<Vec<(Var, bool)>> = self.bdd.cubes(f).take(MAX_PARTS + 1).collect();
        if cubes.len() > MAX_PARTS {
            return Ok(vec![f]);
        }
        let mut all = Vec::new();
        for cube in cubes {
            let mut part = Node::TRUE;
            for (var, positive) in cube.into_iter().rev() {
                let literal = self.bdd.literal(var, positive)?;
                part = self.bdd.and(literal, part)?;
            }
            all.push(part);
        }
        Ok(all)
    }

    /// The variables of predicates.
    pub fn vars(preds: &[Pred], primed: bool) -> Vec<Var> {
        preds.iter().map(|&p| Space::var(p, primed)).collect()
    }

    /// `bddPermute(S', S, f)`.
    pub fn unprime(&mut self, preds: &[Pred], f: Node) -> Outcome {
        let map: Vec<(Var, Var)> =
            preds.iter().map(|&p| (Space::var(p, true), Space::var(p, false))).collect();
        self.bdd.rename(f, &map)
    }
}
