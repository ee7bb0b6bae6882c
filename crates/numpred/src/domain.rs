//! The interface NUMPREDDOM of Figures 3 and 4, and what all implementations have in common.

use crate::expr::{Expr, Literal, Pred};
use crate::numeric::NumId;
use crate::space::Space;
use crate::transformer::{Choice, NumStmt, Transformer};
use palisade_dd::{Node, Outcome};
use palisade_domains::LinCons;
use smallvec::SmallVec;

/// An abstract value: pairs (pᵢ, nᵢ) of a diagram and an element of N, whose γ is ⋁ γ(pᵢ) ∧ γ(nᵢ).
///
/// How many pairs there are and what the diagrams are about is up to the implementation that made the
/// value, and a value is only meaningful to that. Equal values are equal in γ.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub(crate) SmallVec<[(Node, NumId); 1]>);

impl Value {
    /// One pair.
    pub(crate) fn pair(p: Node, n: NumId) -> Value {
        Value(SmallVec::from_buf([(p, n)]))
    }

    /// The only pair, of an implementation that always has one.
    pub(crate) fn only(&self) -> (Node, NumId) {
        match self.0.as_slice() {
            [pair] => *pair,
            _ => unreachable!("a value of another implementation"),
        }
    }

    /// The number of pairs.
    pub fn pairs(&self) -> usize {
        self.0.len()
    }
}

/// NUMPREDDOM(V_N, V_P): predicate and numeric abstraction in one domain.
///
/// The requirements of Figure 3 hold for every implementation: `e ⇒ γ(α(e))`; meet, join and widen are
/// above conjunction and disjunction; `leq` implies implication; `αPost(τ)` is above the semantics of τ.
/// An operation that needs more than its limits fails, and changes nothing.
pub trait NumPredDom {
    /// The name in the paper, in lower case.
    fn name(&self) -> &'static str;
    /// V_P, V_N, the diagrams and the numbers.
    fn space(&self) -> &Space;
    /// The same, to change.
    fn space_mut(&mut self) -> &mut Space;

    /// α(true).
    fn top(&mut self) -> Value;
    /// α(false).
    fn bot(&mut self) -> Value;
    /// isTop: `true` implies that γ is valid.
    fn is_top(&self, v: &Value) -> bool;
    /// isBot: `true` implies that γ has no model.
    fn is_bot(&self, v: &Value) -> bool;

    /// γ, as a disjunction of conjunctions of literals.
    fn gamma(&mut self, v: &Value) -> Outcome<Vec<Vec<Literal>>>;
    /// α_P of a formula over V_P ∪ V'_P, given as a diagram of the space.
    fn alpha_p(&mut self, e: Node) -> Outcome<Value>;
    /// α_N of a conjunction of numeric terms over V_N.
    fn alpha_n(&mut self, e: &[LinCons]) -> Outcome<Value>;

    /// leq: `true` implies γ(a) ⇒ γ(b).
    fn leq(&mut self, a: &Value, b: &Value) -> Outcome<bool>;
    /// meet.
    fn meet(&mut self, a: &Value, b: &Value) -> Outcome<Value>;
    /// join.
    fn join(&mut self, a: &Value, b: &Value) -> Outcome<Value>;
    /// A value above this one that stays small: what an analysis goes on with after a step or a join.
    fn bounded(&mut self, v: Value) -> Outcome<Value> {
        Ok(v)
    }
    /// widen; `a` is the previous iterate as the last widening left it.
    fn widen(&mut self, a: &Value, b: &Value) -> Outcome<Value>;

    /// exists: above `∃ preds · γ(v)`, for the current predicates.
    fn exists(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value>;
    /// unprime: the primed forms of these predicates, which do not occur themselves, take their places.
    fn unprime(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value>;
    /// The value in parts that differ in the predicates, each with a formula over V_P that tells it from the
    /// others. Together they are the value. Searches for single paths go on with the parts.
    fn split(&mut self, v: &Value) -> Outcome<Vec<(Node, Value)>>;
    /// αPost_N of a numeric statement: acts on the numeric part under each valuation of the predicates.
    fn post_n(&mut self, s: &NumStmt, v: &Value) -> Outcome<Value>;

    /// The part of a value that satisfies numeric terms over V_N: N's own assume (section 3.3) under each
    /// valuation of the predicates.
    fn assume_n(&mut self, e: &[LinCons], v: &Value) -> Outcome<Value>;

    /// reduce: predicates and numbers tell each other what they know; γ stays, or grows within what
    /// the domain cannot express. For all but NDD it is α(γ(v)) (section 5.1).
    ///
    /// The paper's Example 11 fixes how α reads γ(v): term by term inside each conjunction of its
    /// disjunctive normal form.
    fn reduce(&mut self, v: &Value) -> Outcome<Value> {
        let mut all = self.bot();
        for mut cube in self.gamma(v)? {
            let decided = self.decided(&cube);
            cube.extend(decided);
            let part = self.alpha_cube(&cube)?;
            all = self.join(&all, &part)?;
        }
        Ok(all)
    }

    /// The literals of predicates that the numeric part of a conjunction decides: proj_P with N as the
    /// prover.
    fn decided(&mut self, cube: &[Literal]) -> Vec<Literal> {
        let Space { names, nums, .. } = self.space_mut();
        let n = nums.alpha(&names.proj_n(cube));
        let mut found = Vec::new();
        for p in names.preds() {
            for positive in [true, false] {
                let meaning = names.literal_meaning(p, positive);
                if meaning.is_some_and(|c| nums.entails(n, &c)) {
                    found.push(Literal::Pred(p, false, positive));
                }
            }
        }
        found
    }

    /// α of a conjunction of literals: `meet(α_P(proj_P(e)), α_N(proj_N(e)))`.
    fn alpha_cube(&mut self, cube: &[Literal]) -> Outcome<Value> {
        let (p, n) = (self.space().proj_p(cube), self.space().proj_n(cube));
        let p = self.space_mut().cube(&p)?;
        let (p, n) = (self.alpha_p(p)?, self.alpha_n(&n)?);
        self.meet(&p, &n)
    }

    /// α of an expression (section 4.2).
    fn alpha(&mut self, e: &Expr) -> Outcome<Value> {
        self.alpha_nnf(&e.nnf())
    }

    /// α of an expression in negation normal form: conjunctions of literals are taken as one term, which
    /// is what the projections of section 4.1 are defined on.
    fn alpha_nnf(&mut self, e: &Expr) -> Outcome<Value> {
        match e {
            Expr::Const(true) => Ok(self.top()),
            Expr::Const(false) => Ok(self.bot()),
            Expr::And(parts) => {
                let literals: Vec<Literal> = parts.iter().filter_map(Expr::literal).collect();
                let mut all = self.alpha_cube(&literals)?;
                for part in parts.iter().filter(|p| p.literal().is_none()) {
                    let part = self.alpha_nnf(part)?;
                    all = self.meet(&all, &part)?;
                }
                Ok(all)
            }
            Expr::Or(parts) => {
                let mut all = self.bot();
                for part in parts {
                    let part = self.alpha_nnf(part)?;
                    all = self.join(&all, &part)?;
                }
                Ok(all)
            }
            literal => match literal.literal() {
                Some(l) => self.alpha_cube(&[l]),
                // A negated congruence.
                None => Ok(self.top()),
            },
        }
    }

    /// Where reduce pays after every assume; nowhere by default.
    fn after_assume(&mut self, v: Value) -> Outcome<Value> {
        Ok(v)
    }

    /// αPost of `assume(e)` (section 4.3), `meet(α(e), X)`, computed inside X.
    ///
    /// α(e) alone loses what N cannot say about any state, such as a disequality or a disjunction; of the
    /// states in X it can often be said. Every literal is met with X where it stands, so that the
    /// result lies between `γ(X) ∧ e` and the definition.
    fn assume(&mut self, e: &Expr, v: &Value) -> Outcome<Value> {
        let met = self.restrict(&e.nnf(), v)?;
        self.after_assume(met)
    }

    /// The part of a value that satisfies an expression in negation normal form.
    fn restrict(&mut self, e: &Expr, v: &Value) -> Outcome<Value> {
        if self.is_bot(v) {
            return Ok(v.clone());
        }
        // Predicates without a numeric meaning need no numbers.
        let mut numeric = false;
        let names = &self.space().names;
        e.atoms(&mut |atom| match atom {
            Expr::Pred(p, false) => numeric |= names.meaning(*p).is_some(),
            Expr::Pred(_, true) => {}
            _ => numeric = true,
        });
        if !numeric && let Some(f) = self.space_mut().formula(e)? {
            let f = self.alpha_p(f)?;
            return self.meet(&f, v);
        }
        match e {
            Expr::And(parts) => {
                let literals: Vec<Literal> = parts.iter().filter_map(Expr::literal).collect();
                let mut v = self.restrict_cube(&literals, v)?;
                for part in parts.iter().filter(|p| p.literal().is_none()) {
                    v = self.restrict(part, &v)?;
                }
                Ok(v)
            }
            Expr::Or(parts) => {
                let mut all = self.bot();
                for part in parts {
                    let part = self.restrict(part, v)?;
                    all = self.join(&all, &part)?;
                }
                Ok(all)
            }
            literal => match literal.literal() {
                Some(l) => self.restrict_cube(&[l], v),
                // A constant was a formula; this is a negated congruence.
                None => Ok(v.clone()),
            },
        }
    }

    /// The part of a value that satisfies a conjunction of literals.
    fn restrict_cube(&mut self, cube: &[Literal], v: &Value) -> Outcome<Value> {
        let (p, n) = (self.space().proj_p(cube), self.space().proj_n(cube));
        let p = self.space_mut().cube(&p)?;
        let p = self.alpha_p(p)?;
        let v = self.meet(&p, v)?;
        self.assume_n(&n, &v)
    }

    /// αPost of τ_P (section 4.3): `unprime(exists({p₁, …, pₙ}, meet(X, R)))`.
    fn post_p(&mut self, choices: &[Choice], v: &Value) -> Outcome<Value> {
        let preds: Vec<Pred> = choices.iter().map(|c| c.pred).collect();
        let met = self.choose(choices, v)?;
        let quantified = self.exists(&preds, &met)?;
        self.unprime(&preds, &quantified)
    }

    /// `meet(X, R)` for the relation R of τ_P.
    ///
    /// A choice that leaves all open says nothing. One that asks predicates alone is a formula over P; only
    /// those that ask numbers need them.
    fn choose(&mut self, choices: &[Choice], v: &Value) -> Outcome<Value> {
        let mut formula = Node::TRUE;
        let mut numeric = Vec::new();
        for choice in choices.iter().filter(|c| (&c.t, &c.f) != (&Expr::FALSE, &Expr::FALSE)) {
            let relation = Transformer::relation(std::slice::from_ref(choice));
            match self.space_mut().formula(&relation)? {
                Some(f) => formula = self.space_mut().bdd.and(formula, f)?,
                None => numeric.push(relation),
            }
        }
        let mut v = v.clone();
        if formula != Node::TRUE {
            let formula = self.alpha_p(formula)?;
            v = self.meet(&formula, &v)?;
        }
        for relation in numeric {
            v = self.restrict(&relation, &v)?;
        }
        Ok(v)
    }

    /// αPost of τ_N ∧ τ_P: by default `τ_P; τ_N`, since τ_N does not depend on the predicates.
    fn post_both(&mut self, s: &NumStmt, choices: &[Choice], v: &Value) -> Outcome<Value> {
        let v = self.post_p(choices, v)?;
        self.post_n(s, &v)
    }

    /// αPost of a transformer (section 4.3).
    fn post(&mut self, tau: &Transformer, v: &Value) -> Outcome<Value> {
        self.space().check()?;
        if self.is_bot(v) {
            return Ok(v.clone());
        }
        match tau {
            Transformer::Num(s) => self.post_n(s, v),
            Transformer::Assume(e) => self.assume(e, v),
            Transformer::Cond(e, s) => {
                let v = self.assume(e, v)?;
                self.post_n(s, &v)
            }
            Transformer::Pred(choices) => self.post_p(choices, v),
            Transformer::Both(e, s, choices) => {
                let v = self.assume(e, v)?;
                self.post_both(s, choices, &v)
            }
            Transformer::Seq(parts) => {
                let mut v = v.clone();
                for part in parts {
                    v = self.post(part, &v)?;
                }
                Ok(v)
            }
            Transformer::Or(parts) => {
                let mut all = self.bot();
                for part in parts {
                    let part = self.post(part, v)?;
                    all = self.join(&all, &part)?;
                }
                Ok(all)
            }
        }
    }

    /// γ as text.
    fn display(&mut self, v: &Value) -> Outcome<String> {
        let cubes = self.gamma(v)?;
        let e = Expr::or(cubes.iter().map(|c| Expr::and(c.iter().map(Literal::expr))));
        Ok(self.space().names.display(&e))
    }
}
