//! NEXPOINT (section 5.1), and the two it combines: predicates alone and numbers alone.

use crate::domain::{NumPredDom, Value};
use crate::expr::{Literal, Pred};
use crate::numeric::NumId;
use crate::space::Space;
use crate::transformer::NumStmt;
use palisade_dd::{Node, Outcome};
use palisade_domains::LinCons;

/// NEXPOINT: P × N. A value is a pair (p, n) and stands for γ(p) ∧ γ(n).
///
/// With one of the parts left at top it is predicate abstraction ("Predicate" in section 6) or a numeric
/// analysis ("Numeric").
pub struct NexPoint {
    space: Space,
    parts: Parts,
}

/// Which parts of the pair are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Parts {
    Both,
    Predicates,
    Numbers,
}

impl NexPoint {
    /// The domain over a space.
    pub fn new(space: Space) -> NexPoint {
        NexPoint { space, parts: Parts::Both }
    }

    /// Predicate abstraction: numbers are ignored.
    pub fn predicate(space: Space) -> NexPoint {
        NexPoint { space, parts: Parts::Predicates }
    }

    /// Numeric abstraction: predicates are ignored, but for what they mean in numbers.
    pub fn numeric(space: Space) -> NexPoint {
        NexPoint { space, parts: Parts::Numbers }
    }

    /// A pair with one part empty is bottom, and there is one bottom.
    fn value(&self, p: Node, n: NumId) -> Value {
        match (p, n) {
            (Node::FALSE, _) | (_, NumId::BOT) => Value::pair(Node::FALSE, NumId::BOT),
            _ => Value::pair(p, n),
        }
    }
}

impl NumPredDom for NexPoint {
    fn name(&self) -> &'static str {
        match self.parts {
            Parts::Both => "nexpoint",
            Parts::Predicates => "predicate-only",
            Parts::Numbers => "numeric",
        }
    }
    fn space(&self) -> &Space {
        &self.space
    }
    fn space_mut(&mut self) -> &mut Space {
        &mut self.space
    }

    fn top(&mut self) -> Value {
        Value::pair(Node::TRUE, NumId::TOP)
    }
    fn bot(&mut self) -> Value {
        Value::pair(Node::FALSE, NumId::BOT)
    }
    fn is_top(&self, v: &Value) -> bool {
        v.only() == (Node::TRUE, NumId::TOP)
    }
    fn is_bot(&self, v: &Value) -> bool {
        v.only().0 == Node::FALSE
    }

    fn gamma(&mut self, v: &Value) -> Outcome<Vec<Vec<Literal>>> {
        let (p, n) = v.only();
        Ok(product(self.space.cubes(p), &self.space.nums.gamma(n)))
    }

    fn alpha_p(&mut self, e: Node) -> Outcome<Value> {
        let e = if self.parts == Parts::Numbers && e != Node::FALSE { Node::TRUE } else { e };
        Ok(self.value(e, NumId::TOP))
    }

    fn alpha_n(&mut self, e: &[LinCons]) -> Outcome<Value> {
        let n = if self.parts == Parts::Predicates { NumId::TOP } else { self.space.nums.alpha(e) };
        Ok(self.value(Node::TRUE, n))
    }

    fn leq(&mut self, a: &Value, b: &Value) -> Outcome<bool> {
        let ((p, n), (q, m)) = (a.only(), b.only());
        Ok(self.space.bdd.leq(p, q)? && self.space.nums.leq(n, m))
    }

    fn meet(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        let ((p, n), (q, m)) = (a.only(), b.only());
        let p = self.space.bdd.and(p, q)?;
        let n = self.space.nums.meet(n, m);
        Ok(self.value(p, n))
    }

    fn join(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        let ((p, n), (q, m)) = (a.only(), b.only());
        let p = self.space.bdd.or(p, q)?;
        let n = self.space.nums.join(n, m);
        Ok(self.value(p, n))
    }

    fn widen(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        let ((p, n), (q, m)) = (a.only(), b.only());
        let p = self.space.bdd.or(p, q)?;
        let n = self.space.nums.widen(n, m);
        Ok(self.value(p, n))
    }

    fn exists(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value> {
        let (p, n) = v.only();
        let p = self.space.bdd.exists(p, &Space::vars(preds, false))?;
        Ok(self.value(p, n))
    }

    fn unprime(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value> {
        let (p, n) = v.only();
        let p = self.space.unprime(preds, p)?;
        Ok(self.value(p, n))
    }

    fn split(&mut self, v: &Value) -> Outcome<Vec<(Node, Value)>> {
        let (p, n) = v.only();
        Ok(self.space.parts(p)?.into_iter().map(|part| (part, self.value(part, n))).collect())
    }

    fn post_n(&mut self, s: &NumStmt, v: &Value) -> Outcome<Value> {
        let (p, n) = v.only();
        let n = if self.parts == Parts::Predicates { n } else { self.space.nums.post(s, n) };
        Ok(self.value(p, n))
    }

    fn assume_n(&mut self, e: &[LinCons], v: &Value) -> Outcome<Value> {
        let (p, n) = v.only();
        let n = if self.parts == Parts::Predicates { n } else { self.space.nums.assume(n, e) };
        Ok(self.value(p, n))
    }
}

/// The conjunctions of one disjunction with another.
pub(crate) fn product(cubes: Vec<Vec<Literal>>, numbers: &[Vec<LinCons>]) -> Vec<Vec<Literal>> {
    let with = |cube: &Vec<Literal>, n: &Vec<LinCons>| {
        cube.iter().cloned().chain(n.iter().cloned().map(Literal::Num)).collect()
    };
    cubes.iter().flat_map(|cube| numbers.iter().map(|n| with(cube, n))).collect()
}
