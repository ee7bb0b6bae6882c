//! The projections of section 4.1 by the solver: "more precise semantic constructions via the use of
//! theorem provers are possible as well".

use crate::expr::{Expr, Literal, Pred};
use crate::space::Vocabulary;
use palisade_base::Budget;
use palisade_domains::{Dim, Interval, LinCons, LinExpr, Rel};
use palisade_logic::services::{Order, maximum, minimum};
use palisade_logic::{Answer, BvSolver, Limits, Solver, Sort, Term, Terms};
use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

/// A prover for conjunctions over variables of machine types; what it cannot say in bit-vectors (other
/// variables, congruences, huge coefficients) it leaves out of premises and does not conclude.
pub struct Prover {
    terms: Terms,
    solver: BvSolver,
    dims: FxHashMap<Dim, Term>,
    preds: FxHashMap<(Pred, bool), Term>,
}

impl Prover {
    /// A prover that stops with the budget.
    pub fn new(budget: &Budget) -> Prover {
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
        Prover { terms: Terms::new(), solver, dims: FxHashMap::default(), preds: FxHashMap::default() }
    }

    /// A variable, with its type.
    fn dim(&mut self, names: &Vocabulary, d: Dim) -> Option<(Term, bool)> {
        let ty = names.variables.iter().find(|v| v.dim == d)?.range?;
        let term = *self.dims.entry(d).or_insert_with(|| self.terms.fresh_var("x", Sort::BitVec(ty.width)));
        Some((term, ty.signed))
    }

    /// A linear constraint, in bit-vectors so wide that nothing wraps.
    fn constraint(&mut self, names: &Vocabulary, c: &LinCons) -> Option<Term> {
        let c = c.normalize();
        if let Some(truth) = c.truth() {
            return Some(self.terms.bool_const(truth));
        }
        let constant = c.expr.constant_term().to_int()?.to_i128()?;
        let mut most = constant.checked_abs()?;
        let mut parts = Vec::new();
        for (d, k) in c.expr.terms() {
            let (term, signed) = self.dim(names, *d)?;
            let k = k.to_int()?.to_i128()?;
            let reach = 1i128.checked_shl(self.terms.width(term)).filter(|r| *r > 0)?;
            most = most.checked_add(k.checked_abs()?.checked_mul(reach)?)?;
            parts.push((term, signed, k));
        }
        let width = 130 - most.leading_zeros();
        let mut sum = self.terms.bv_signed(width, constant);
        for (term, signed, k) in parts {
            let by = width - self.terms.width(term);
            let wide =
                if signed { self.terms.sign_extend(term, by) } else { self.terms.zero_extend(term, by) };
            let k = self.terms.bv_signed(width, k);
            let product = self.terms.mul(k, wide);
            sum = self.terms.add(sum, product);
        }
        let zero = self.terms.bv(width, 0);
        Some(match c.rel {
            Rel::Le => self.terms.sle(sum, zero),
            Rel::Lt => self.terms.slt(sum, zero),
            Rel::Eq => self.terms.eq(sum, zero),
            Rel::Ne => self.terms.ne(sum, zero),
            Rel::Mod(_) => return None,
        })
    }

    /// A literal; a predicate with a meaning that can be said is its meaning.
    fn literal(&mut self, names: &Vocabulary, literal: &Literal) -> Option<Term> {
        match literal {
            Literal::Num(c) => self.constraint(names, c),
            Literal::Pred(p, primed, positive) => {
                let meaning = names.predicates[p.0 as usize].meaning.clone().filter(|_| !primed);
                let said = meaning.and_then(|c| self.constraint(names, &c));
                let holds = said.unwrap_or_else(|| {
                    let new = || self.terms.fresh_var("p", Sort::Bool);
                    *self.preds.entry((*p, *primed)).or_insert_with(new)
                });
                Some(if *positive { holds } else { self.terms.not(holds) })
            }
        }
    }

    fn premise(&mut self, names: &Vocabulary, cube: &[Literal]) -> Vec<Term> {
        cube.iter().filter_map(|l| self.literal(names, l)).collect()
    }

    /// Has the conjunction a model? `None` if that cannot be said in bit-vectors, or not in time.
    pub fn satisfiable(&mut self, names: &Vocabulary, cube: &[Literal]) -> Option<bool> {
        let said: Option<Vec<Term>> = cube.iter().map(|l| self.literal(names, l)).collect();
        match self.solver.check(&mut self.terms, &said?) {
            Answer::Sat => Some(true),
            Answer::Unsat => Some(false),
            Answer::Unknown(_) => None,
        }
    }

    /// Does the conjunction imply the literal? `true` is certain.
    pub fn implies(&mut self, names: &Vocabulary, cube: &[Literal], conclusion: &Literal) -> bool {
        let mut assumed = self.premise(names, cube);
        let Some(conclusion) = self.literal(names, conclusion) else { return false };
        assumed.push(self.terms.not(conclusion));
        self.solver.check(&mut self.terms, &assumed) == Answer::Unsat
    }

    /// proj_P(V_P, e): every literal of a predicate that e implies.
    pub fn proj_p(&mut self, names: &Vocabulary, cube: &[Literal]) -> Vec<(Pred, bool, bool)> {
        let mut found = names.proj_p(cube);
        for p in names.preds() {
            for positive in [true, false] {
                let literal = (p, false, positive);
                if !found.contains(&literal) && self.implies(names, cube, &Literal::Pred(p, false, positive))
                {
                    found.push(literal);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// proj_N(V_N, e): what the syntax gives, and the tightest bounds of every variable.
    pub fn proj_n(&mut self, names: &Vocabulary, cube: &[Literal]) -> Vec<LinCons> {
        let mut found = names.proj_n(cube);
        let assumed = self.premise(names, cube);
        for v in &names.variables {
            let Some((term, signed)) = self.dim(names, v.dim) else { continue };
            let order = if signed { Order::Signed } else { Order::Unsigned };
            let number = |b: palisade_logic::BitVec| {
                let value = if signed { b.to_i128() } else { b.to_u128().and_then(|v| v.try_into().ok()) };
                value.map(|v: i128| Rat::from(Int::from(v)))
            };
            let low = minimum(&mut self.solver, &mut self.terms, term, order, &assumed);
            let high = maximum(&mut self.solver, &mut self.terms, term, order, &assumed);
            let (Ok(low), Ok(high)) = (low, high) else { continue };
            let (Some(low), Some(high)) = (low, high) else { return vec![LinCons::contradiction()] };
            if let (Some(low), Some(high)) = (number(low), number(high)) {
                found.extend(Interval::closed(low, high).constraints_on(&LinExpr::dim(v.dim)));
            }
        }
        found
    }

    /// Does one disjunction of conjunctions imply another? `None` if that cannot be said.
    pub fn dnf_implies(
        &mut self,
        names: &Vocabulary,
        a: &[Vec<Literal>],
        b: &[Vec<Literal>],
    ) -> Option<bool> {
        // Some disjunct of a, and of every disjunct of b some literal's negation.
        let mut outside = Vec::new();
        for cube in b {
            let terms: Option<Vec<Term>> = cube.iter().map(|l| self.literal(names, l)).collect();
            let all = self.terms.and_all(terms?);
            outside.push(self.terms.not(all));
        }
        for cube in a {
            let terms: Option<Vec<Term>> = cube.iter().map(|l| self.literal(names, l)).collect();
            let assumed: Vec<Term> = terms?.into_iter().chain(outside.iter().copied()).collect();
            match self.solver.check(&mut self.terms, &assumed) {
                Answer::Unsat => {}
                Answer::Sat => return Some(false),
                Answer::Unknown(_) => return None,
            }
        }
        Some(true)
    }
}

/// The expression as a disjunction of conjunctions of literals; `None` if it is too large or has a negated
/// congruence.
pub fn cubes(e: &Expr, most: usize) -> Option<Vec<Vec<Literal>>> {
    let cube = |e: Expr| match e {
        Expr::And(parts) => parts.iter().map(Expr::literal).collect(),
        Expr::Const(true) => Some(Vec::new()),
        e => Some(vec![e.literal()?]),
    };
    e.dnf(most)?.into_iter().map(cube).collect()
}
