//! NDD: numeric decision diagrams (section 5.4).

use crate::domain::{NumPredDom, Value};
use crate::expr::{Expr, Literal, Pred};
use crate::mtndd::Diagrams;
use crate::numeric::NumId;
use crate::space::Space;
use crate::transformer::{Choice, NumExpr, NumStmt};
use palisade_base::Budget;
use palisade_dd::{Node, OutOfBudget, Outcome, Var};
use palisade_domains as num;
use palisade_domains::{Dim, LinCons, Rel};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// At most this many numeric terms, so that the recursion over a diagram is bounded.
const MAX_TERMS: usize = 4000;

/// With more numeric terms, a bounded value has one numeric part for each valuation of the predicates.
const MAX_UNION: usize = 6;

/// NDD: 2^(P × N) as a diagram over predicates and numeric terms. A term and its negation are the two
/// phases of one variable; a predicate whose meaning is a term is that term.
pub struct Ndd {
    space: Space,
    /// The term of each variable, for those that have one over V_N.
    terms: Vec<Option<LinCons>>,
    /// The variable of each term, and its phase.
    ids: FxHashMap<LinCons, (Var, bool)>,
    /// Dimensions that occur in a diagram.
    dims: FxHashMap<Node, Rc<[Dim]>>,
    /// Diagrams of elements of N.
    numbers: FxHashMap<NumId, Node>,
    /// Where widening happens.
    diagrams: Diagrams,
    /// The multi-terminal diagrams that results of widenings came from: the next one goes on from there.
    origin: FxHashMap<Node, Node>,
    /// Results of [`Ndd::split`].
    splits: FxHashMap<(Var, NumId), (NumId, NumId)>,
    /// What `reduce` found out: reduceOp under a context is always the same.
    reduced: FxHashMap<(Node, NumId), Node>,
    /// Results of [`Ndd::has_model`].
    models: FxHashMap<(Node, NumId), bool>,
}

/// The operation g of `ctxApply`.
struct Operation<'a> {
    /// `None` for reduceOp (Figure 12), the statement for NDDPost (Figure 13).
    statement: Option<&'a NumStmt>,
    /// The set V of variables that are eliminated, by number.
    eliminated: Vec<bool>,
    /// Dimensions that the context must keep.
    keep: Vec<Dim>,
    memo: FxHashMap<(Node, NumId), Node>,
}

impl Ndd {
    /// The domain over a space.
    pub fn new(space: Space, budget: &Budget) -> Outcome<Ndd> {
        let diagrams = Diagrams::new(space.names.predicates.len(), budget)?;
        let mut this = Ndd {
            terms: vec![None; 2 * space.names.predicates.len()],
            space,
            ids: FxHashMap::default(),
            dims: FxHashMap::default(),
            numbers: FxHashMap::default(),
            diagrams,
            origin: FxHashMap::default(),
            splits: FxHashMap::default(),
            reduced: FxHashMap::default(),
            models: FxHashMap::default(),
        };
        for p in this.space.names.preds() {
            let Some(meaning) = this.space.names.literal_meaning(p, true) else { continue };
            let var = Space::var(p, false);
            let (term, phase) = canonical(&meaning);
            this.ids.entry(term).or_insert((var, phase));
            this.terms[var.0 as usize] = Some(meaning);
        }
        Ok(this)
    }

    fn value(u: Node) -> Value {
        Value::pair(u, NumId::TOP)
    }

    fn node(v: &Value) -> Node {
        v.only().0
    }

    /// The diagram of a numeric term.
    fn literal(&mut self, c: &LinCons) -> Outcome {
        let c = c.normalize();
        if let Some(truth) = c.truth() {
            return Ok(if truth { Node::TRUE } else { Node::FALSE });
        }
        let (term, phase) = canonical(&c);
        let (var, of_var) = match self.ids.get(&term) {
            Some(&known) => known,
            None => {
                if self.terms.len() >= MAX_TERMS + 2 * self.space.names.predicates.len() {
                    return Err(OutOfBudget::Nodes);
                }
                let var = self.space.bdd.new_var()?;
                self.terms.push(Some(term.clone()));
                self.ids.insert(term, (var, true));
                (var, true)
            }
        };
        self.space.bdd.literal(var, phase == of_var)
    }

    /// What a variable says about numbers when it has a value.
    fn term(&self, var: Var, positive: bool) -> Option<LinCons> {
        let term = Expr::Num(self.terms.get(var.0 as usize)?.clone()?);
        match if positive { term.nnf() } else { term.negate() }.literal()? {
            Literal::Num(c) => Some(c),
            Literal::Pred(..) => None,
        }
    }

    /// `toBdd(N.γ(n))`.
    fn number(&mut self, n: NumId) -> Outcome {
        if let Some(&known) = self.numbers.get(&n) {
            return Ok(known);
        }
        let mut any = Node::FALSE;
        for conjunction in self.space.nums.gamma(n) {
            let mut all = Node::TRUE;
            for c in &conjunction {
                let c = self.literal(c)?;
                all = self.space.bdd.and(all, c)?;
            }
            any = self.space.bdd.or(any, all)?;
        }
        self.numbers.insert(n, any);
        Ok(any)
    }

    /// The dimensions in the terms of a diagram, ascending.
    fn dims(&mut self, u: Node) -> Rc<[Dim]> {
        if let Some(known) = self.dims.get(&u) {
            return known.clone();
        }
        let mut found = Vec::new();
        if let Some((var, high, low)) = self.space.bdd.decision(u) {
            found.extend_from_slice(&self.dims(high));
            found.extend_from_slice(&self.dims(low));
            if let Some(Some(term)) = self.terms.get(var.0 as usize) {
                found.extend(term.expr.dims());
            }
            found.sort_unstable();
            found.dedup();
        }
        let found: Rc<[Dim]> = found.into();
        self.dims.insert(u, found.clone());
        found
    }

    /// ctxApply(u, g, c, V) (Figure 11), remembering results.
    ///
    /// A context only keeps what the rest of the diagram, or the statement, can ask about. So paths that
    /// differ in other things share their results, and the operation is linear in the number of paths
    /// only where the numbers are really connected.
    fn ctx_apply(&mut self, u: Node, c: NumId, g: &mut Operation<'_>) -> Outcome {
        if c == NumId::BOT || u == Node::FALSE {
            return Ok(Node::FALSE);
        }
        let c = self.relevant(u, c, &g.keep);
        let Some((var, high, low)) = self.space.bdd.decision(u) else {
            return match g.statement {
                None => Ok(Node::TRUE),
                Some(s) => {
                    let n = self.space.nums.post(s, c);
                    self.number(n)
                }
            };
        };
        if let Some(&known) = g.memo.get(&(u, c)) {
            return Ok(known);
        }
        self.space.check()?;
        let (yes, no) = self.split(var, c);
        let tt = self.ctx_apply(high, yes, g)?;
        let ff = self.ctx_apply(low, no, g)?;
        let result = if g.eliminated.get(var.0 as usize).copied().unwrap_or(false) {
            self.space.bdd.or(tt, ff)?
        } else {
            let b = self.space.bdd.literal(var, true)?;
            self.space.bdd.ite(b, tt, ff)?
        };
        g.memo.insert((u, c), result);
        Ok(result)
    }

    /// Whether `reduce` would leave a path in a context: one is enough.
    fn has_model(&mut self, u: Node, c: NumId) -> Outcome<bool> {
        if c == NumId::BOT || u == Node::FALSE {
            return Ok(false);
        }
        let Some((var, high, low)) = self.space.bdd.decision(u) else { return Ok(true) };
        let c = self.relevant(u, c, &[]);
        if let Some(&known) = self.models.get(&(u, c)) {
            return Ok(known);
        }
        self.space.check()?;
        let (yes, no) = self.split(var, c);
        let found = self.has_model(high, yes)? || self.has_model(low, no)?;
        self.models.insert((u, c), found);
        Ok(found)
    }

    /// What of a context matters below a node.
    fn relevant(&mut self, u: Node, c: NumId, keep: &[Dim]) -> NumId {
        let below = self.dims(u);
        let mut dropped = self.space.nums.support(c);
        dropped.retain(|d| below.binary_search(d).is_err() && !keep.contains(d));
        self.space.nums.forget(c, &dropped)
    }

    /// The contexts on both sides of a decision.
    fn split(&mut self, var: Var, c: NumId) -> (NumId, NumId) {
        if let Some(&known) = self.splits.get(&(var, c)) {
            return known;
        }
        let mut side = |positive| match self.term(var, positive) {
            Some(term) => self.space.nums.assume(c, &[term]),
            None => c,
        };
        let sides = (side(true), side(false));
        self.splits.insert((var, c), sides);
        sides
    }

    /// αPost_N(s), eliminating also the variables of `preds`.
    ///
    /// The paper eliminates all numeric terms and puts back what N knows after the statement. Terms that
    /// do not mention what the statement assigns stay true, so they stay where they are.
    fn post_eliminating(&mut self, s: &NumStmt, preds: &[Pred], u: Node) -> Outcome {
        let assigned = s.assigned();
        let mut eliminated = vec![false; self.terms.len()];
        let mut keep = reads(s);
        for (var, term) in self.terms.iter().enumerate() {
            if let Some(t) = term
                && assigned.iter().any(|d| t.expr.mentions(*d))
            {
                eliminated[var] = true;
                keep.extend(t.expr.dims());
            }
        }
        for &p in preds {
            eliminated[Space::var(p, false).0 as usize] = true;
        }
        keep.sort_unstable();
        keep.dedup();
        let mut g = Operation { statement: Some(s), eliminated, keep, memo: FxHashMap::default() };
        self.ctx_apply(u, NumId::TOP, &mut g)
    }

    /// The conversion to MTNDD: numeric terms are joined away.
    fn multi_terminal(&mut self, u: Node, c: NumId, memo: &mut FxHashMap<(Node, NumId), Node>) -> Outcome {
        if c == NumId::BOT || u == Node::FALSE {
            return Ok(Node::FALSE);
        }
        let Some((var, high, low)) = self.space.bdd.decision(u) else {
            return self.diagrams.mt.constant(c);
        };
        if let Some(&known) = memo.get(&(u, c)) {
            return Ok(known);
        }
        self.space.check()?;
        let (yes, no) = self.split(var, c);
        let tt = self.multi_terminal(high, yes, memo)?;
        let ff = self.multi_terminal(low, no, memo)?;
        let result = match self.space.pred(var) {
            Some(_) => self.diagrams.mt.select(var, tt, ff)?,
            None => self.diagrams.join(&mut self.space.nums, tt, ff)?,
        };
        memo.insert((u, c), result);
        Ok(result)
    }

    /// The conversion back.
    fn of_multi_terminal(&mut self, m: Node, memo: &mut FxHashMap<Node, Node>) -> Outcome {
        if let Some(&known) = memo.get(&m) {
            return Ok(known);
        }
        let result = match self.diagrams.mt.decision(m) {
            Some((var, high, low)) => {
                let (tt, ff) = (self.of_multi_terminal(high, memo)?, self.of_multi_terminal(low, memo)?);
                let b = self.space.bdd.literal(var, true)?;
                self.space.bdd.ite(b, tt, ff)?
            }
            None => {
                let n = self.diagrams.mt.value(m).copied().unwrap_or(NumId::TOP);
                self.number(n)?
            }
        };
        memo.insert(m, result);
        Ok(result)
    }
}

/// The term of a variable and the phase that the constraint is: the first coefficient of a term is
/// positive, and a disequality is no equality.
fn canonical(c: &LinCons) -> (LinCons, bool) {
    let negative = c.expr.terms().first().is_some_and(|t| t.1.is_negative());
    match c.rel {
        Rel::Ne => (LinCons { expr: c.expr.clone(), rel: Rel::Eq }, false),
        Rel::Le | Rel::Lt if negative => match c.negate().as_slice() {
            [n] => (n.normalize(), false),
            _ => (c.clone(), true),
        },
        _ => (c.clone(), true),
    }
}

/// The dimensions whose values a statement uses.
fn reads(s: &NumStmt) -> Vec<Dim> {
    fn tree(t: &num::Tree, found: &mut Vec<Dim>) {
        found.extend(t.nodes().iter().filter_map(|n| match n {
            num::Node::Dim(d) => Some(*d),
            _ => None,
        }));
    }
    let mut found = Vec::new();
    match s {
        NumStmt::Assume(t, _) => tree(t, &mut found),
        NumStmt::Assign(all) => {
            for (_, e) in all {
                match e {
                    NumExpr::Linear(e) => found.extend(e.dims()),
                    NumExpr::Tree(t) => tree(t, &mut found),
                    NumExpr::Any(_) => {}
                }
            }
        }
    }
    found
}

impl NumPredDom for Ndd {
    fn name(&self) -> &'static str {
        "ndd"
    }
    fn space(&self) -> &Space {
        &self.space
    }
    fn space_mut(&mut self) -> &mut Space {
        &mut self.space
    }

    fn top(&mut self) -> Value {
        Ndd::value(Node::TRUE)
    }
    fn bot(&mut self) -> Value {
        Ndd::value(Node::FALSE)
    }
    fn is_top(&self, v: &Value) -> bool {
        Ndd::node(v) == Node::TRUE
    }
    fn is_bot(&self, v: &Value) -> bool {
        Ndd::node(v) == Node::FALSE
    }

    fn gamma(&mut self, v: &Value) -> Outcome<Vec<Vec<Literal>>> {
        let literal = |this: &Ndd, (var, b): (Var, bool)| match this.space.pred(var) {
            Some((p, primed)) => Some(Literal::Pred(p, primed, b)),
            None => this.term(var, b).map(Literal::Num),
        };
        let cubes: Vec<Vec<(Var, bool)>> = self.space.bdd.cubes(Ndd::node(v)).collect();
        Ok(cubes.into_iter().map(|c| c.into_iter().filter_map(|l| literal(self, l)).collect()).collect())
    }

    fn alpha_p(&mut self, e: Node) -> Outcome<Value> {
        Ok(Ndd::value(e))
    }

    fn alpha_n(&mut self, e: &[LinCons]) -> Outcome<Value> {
        let n = self.space.nums.alpha(e);
        Ok(Ndd::value(self.number(n)?))
    }

    /// u implies v iff u ∧ ¬v has no model.
    fn leq(&mut self, a: &Value, b: &Value) -> Outcome<bool> {
        let outside = self.space.bdd.diff(Ndd::node(a), Ndd::node(b))?;
        Ok(!self.has_model(outside, NumId::TOP)?)
    }

    fn meet(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        Ok(Ndd::value(self.space.bdd.and(Ndd::node(a), Ndd::node(b))?))
    }

    fn join(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        Ok(Ndd::value(self.space.bdd.or(Ndd::node(a), Ndd::node(b))?))
    }

    /// Exact unions of numeric parts grow with the paths of the program; beyond a few terms they are joined, by
    /// way of MTNDD like the widening.
    fn bounded(&mut self, v: Value) -> Outcome<Value> {
        let first = 2 * self.space.names.predicates.len();
        let support = self.space.bdd.support(Ndd::node(&v));
        if support.iter().filter(|v| v.0 as usize >= first).count() <= MAX_UNION {
            return Ok(v);
        }
        let merged = self.multi_terminal(Ndd::node(&v), NumId::TOP, &mut FxHashMap::default())?;
        Ok(Ndd::value(self.of_multi_terminal(merged, &mut FxHashMap::default())?))
    }

    fn widen(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        if self.leq(b, a)? {
            return Ok(a.clone());
        }
        let memo = &mut FxHashMap::default();
        let ma = match self.origin.get(&Ndd::node(a)) {
            Some(&m) => m,
            None => self.multi_terminal(Ndd::node(a), NumId::TOP, memo)?,
        };
        let mb = self.multi_terminal(Ndd::node(b), NumId::TOP, memo)?;
        let widened = self.diagrams.widen(&mut self.space.nums, ma, mb)?;
        let u = self.of_multi_terminal(widened, &mut FxHashMap::default())?;
        self.origin.insert(u, widened);
        Ok(Ndd::value(u))
    }

    fn exists(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value> {
        Ok(Ndd::value(self.space.bdd.exists(Ndd::node(v), &Space::vars(preds, false))?))
    }

    fn unprime(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value> {
        Ok(Ndd::value(self.space.unprime(preds, Ndd::node(v))?))
    }

    fn split(&mut self, v: &Value) -> Outcome<Vec<(Node, Value)>> {
        let first = 2 * self.space.names.predicates.len();
        let numeric: Vec<Var> = (first..self.terms.len()).map(|v| Var(v as u32)).collect();
        let valuations = self.space.bdd.exists(Ndd::node(v), &numeric)?;
        let mut all = Vec::new();
        for part in self.space.parts(valuations)? {
            all.push((part, Ndd::value(self.space.bdd.and(Ndd::node(v), part)?)));
        }
        Ok(all)
    }

    fn post_n(&mut self, s: &NumStmt, v: &Value) -> Outcome<Value> {
        Ok(Ndd::value(self.post_eliminating(s, &[], Ndd::node(v))?))
    }

    fn assume_n(&mut self, e: &[LinCons], v: &Value) -> Outcome<Value> {
        let mut all = Ndd::node(v);
        for c in e {
            let c = self.literal(c)?;
            all = self.space.bdd.and(all, c)?;
        }
        Ok(Ndd::value(all))
    }

    /// Removes the paths without a model.
    fn reduce(&mut self, v: &Value) -> Outcome<Value> {
        let memo = std::mem::take(&mut self.reduced);
        let mut g = Operation { statement: None, eliminated: Vec::new(), keep: Vec::new(), memo };
        let reduced = self.ctx_apply(Ndd::node(v), NumId::TOP, &mut g);
        self.reduced = g.memo;
        Ok(Ndd::value(reduced?))
    }

    /// A meet of diagrams does not see that numbers contradict each other.
    fn after_assume(&mut self, v: Value) -> Outcome<Value> {
        self.reduce(&v)
    }

    /// Predicates and numbers share variables, so that τ_P must not overwrite what τ_N needs: its results
    /// wait in the primed ("shadow") variables until τ_N is done.
    fn post_both(&mut self, s: &NumStmt, choices: &[Choice], v: &Value) -> Outcome<Value> {
        let preds: Vec<Pred> = choices.iter().map(|c| c.pred).collect();
        let met = self.choose(choices, v)?;
        let u = self.post_eliminating(s, &preds, Ndd::node(&met))?;
        self.unprime(&preds, &Ndd::value(u))
    }
}
