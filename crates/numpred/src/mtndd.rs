//! MTNDD: multi-terminal numeric decision diagrams (section 5.3).

use crate::domain::{NumPredDom, Value};
use crate::expr::{Literal, Pred};
use crate::numeric::{NumId, Numerics};
use crate::space::Space;
use crate::transformer::NumStmt;
use palisade_base::Budget;
use palisade_dd::{Limits, Mtbdd, Node, Outcome, Var};
use palisade_domains::LinCons;
use rustc_hash::FxHashMap;

/// Functions 2^P ↦ N as diagrams over the predicates with elements of N at the terminals.
///
/// The paper simulates them by BDDs over predicates and numeric terms, because its library had no others,
/// and translates between the two forms in each numeric operation. Here they are what they are.
pub(crate) struct Diagrams {
    pub(crate) mt: Mtbdd<NumId>,
}

impl Diagrams {
    pub(crate) fn new(predicates: usize, budget: &Budget) -> Outcome<Diagrams> {
        let mut mt = Mtbdd::new(Limits { budget: budget.clone(), ..Limits::default() });
        // The first two constants are the terminals that every diagram kernel has.
        mt.constant(NumId::BOT)?;
        mt.constant(NumId::TOP)?;
        for _ in 0..2 * predicates {
            mt.new_var()?;
        }
        Ok(Diagrams { mt })
    }

    pub(crate) fn join(&mut self, nums: &mut Numerics, u: Node, v: Node) -> Outcome {
        self.mt.apply(u, v, |&a, &b| nums.join(a, b))
    }

    pub(crate) fn widen(&mut self, nums: &mut Numerics, u: Node, v: Node) -> Outcome {
        self.mt.apply(u, v, |&a, &b| nums.widen(a, b))
    }

    /// All paths that do not lead to bottom: literals and the terminal.
    fn paths(&self, u: Node) -> Vec<(Vec<(Var, bool)>, NumId)> {
        let mut found = Vec::new();
        let mut stack = vec![(u, Vec::new())];
        while let Some((u, path)) = stack.pop() {
            match self.mt.decision(u) {
                Some((var, high, low)) => {
                    for (child, positive) in [(low, false), (high, true)] {
                        let mut longer: Vec<(Var, bool)> = path.clone();
                        longer.push((var, positive));
                        stack.push((child, longer));
                    }
                }
                None => match self.mt.value(u) {
                    Some(&NumId::BOT) | None => {}
                    Some(&n) => found.push((path, n)),
                },
            }
        }
        found
    }
}

/// MTNDD: 2^P ↦ N as a diagram, which keeps C1 to C3 of NEX by construction.
pub struct Mtndd {
    space: Space,
    diagrams: Diagrams,
}

impl Mtndd {
    /// The domain over a space.
    pub fn new(space: Space, budget: &Budget) -> Outcome<Mtndd> {
        let diagrams = Diagrams::new(space.names.predicates.len(), budget)?;
        Ok(Mtndd { space, diagrams })
    }

    fn value(u: Node) -> Value {
        Value::pair(u, NumId::TOP)
    }

    fn node(v: &Value) -> Node {
        v.only().0
    }
}

impl NumPredDom for Mtndd {
    fn name(&self) -> &'static str {
        "mtndd"
    }
    fn space(&self) -> &Space {
        &self.space
    }
    fn space_mut(&mut self) -> &mut Space {
        &mut self.space
    }

    // `NumId::BOT` and `NumId::TOP` were the first two constants, so that the Boolean terminals are they.
    fn top(&mut self) -> Value {
        Mtndd::value(Node::TRUE)
    }
    fn bot(&mut self) -> Value {
        Mtndd::value(Node::FALSE)
    }
    fn is_top(&self, v: &Value) -> bool {
        Mtndd::node(v) == Node::TRUE
    }
    fn is_bot(&self, v: &Value) -> bool {
        Mtndd::node(v) == Node::FALSE
    }

    fn gamma(&mut self, v: &Value) -> Outcome<Vec<Vec<Literal>>> {
        let mut all = Vec::new();
        for (path, n) in self.diagrams.paths(Mtndd::node(v)) {
            let literal = |(v, b): (Var, bool)| self.space.pred(v).map(|(p, q)| Literal::Pred(p, q, b));
            let cube: Vec<Literal> = path.into_iter().filter_map(literal).collect();
            all.extend(crate::nexpoint::product(vec![cube], &self.space.nums.gamma(n)));
        }
        Ok(all)
    }

    fn alpha_p(&mut self, e: Node) -> Outcome<Value> {
        let u = self.diagrams.mt.from_bdd(&self.space.bdd, e, NumId::TOP, NumId::BOT)?;
        Ok(Mtndd::value(u))
    }

    fn alpha_n(&mut self, e: &[LinCons]) -> Outcome<Value> {
        let n = self.space.nums.alpha(e);
        Ok(Mtndd::value(self.diagrams.mt.constant(n)?))
    }

    fn leq(&mut self, a: &Value, b: &Value) -> Outcome<bool> {
        let nums = &mut self.space.nums;
        self.diagrams.mt.all(Mtndd::node(a), Mtndd::node(b), |&a, &b| nums.leq(a, b))
    }

    fn meet(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        let nums = &mut self.space.nums;
        let u = self.diagrams.mt.apply(Mtndd::node(a), Mtndd::node(b), |&a, &b| nums.meet(a, b))?;
        Ok(Mtndd::value(u))
    }

    fn join(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        Ok(Mtndd::value(self.diagrams.join(&mut self.space.nums, Mtndd::node(a), Mtndd::node(b))?))
    }

    fn widen(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        Ok(Mtndd::value(self.diagrams.widen(&mut self.space.nums, Mtndd::node(a), Mtndd::node(b))?))
    }

    fn exists(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value> {
        let nums = &mut self.space.nums;
        let vars = Space::vars(preds, false);
        let u = self.diagrams.mt.quantify(Mtndd::node(v), &vars, |&a, &b| nums.join(a, b))?;
        Ok(Mtndd::value(u))
    }

    fn unprime(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value> {
        let to: Vec<Option<Var>> = {
            let mut to = vec![None; 2 * self.space.names.predicates.len()];
            preds.iter().for_each(|&p| to[Space::var(p, true).0 as usize] = Some(Space::var(p, false)));
            to
        };
        // Children first; the kernel has no renaming of its own for functions with values.
        let mt = &mut self.diagrams.mt;
        let root = Mtndd::node(v);
        let mut done: FxHashMap<Node, Node> = FxHashMap::default();
        let mut stack = vec![root];
        while let Some(&u) = stack.last() {
            let Some((var, high, low)) = mt.decision(u) else {
                done.insert(u, u);
                stack.pop();
                continue;
            };
            match (done.get(&high).copied(), done.get(&low).copied()) {
                (Some(h), Some(l)) => {
                    let var = to.get(var.0 as usize).copied().flatten().unwrap_or(var);
                    let renamed = mt.select(var, h, l)?;
                    done.insert(u, renamed);
                    stack.pop();
                }
                (h, l) => {
                    stack.extend(h.is_none().then_some(high));
                    stack.extend(l.is_none().then_some(low));
                }
            }
        }
        Ok(Mtndd::value(done[&root]))
    }

    fn split(&mut self, v: &Value) -> Outcome<Vec<(Node, Value)>> {
        let mut all = Vec::new();
        for (path, n) in self.diagrams.paths(Mtndd::node(v)) {
            let mut part = Node::TRUE;
            for (var, positive) in path.into_iter().rev() {
                let literal = self.space.bdd.literal(var, positive)?;
                part = self.space.bdd.and(literal, part)?;
            }
            let u = self.diagrams.mt.from_bdd(&self.space.bdd, part, n, NumId::BOT)?;
            all.push((part, Mtndd::value(u)));
        }
        Ok(all)
    }

    fn post_n(&mut self, s: &NumStmt, v: &Value) -> Outcome<Value> {
        let nums = &mut self.space.nums;
        let u = self.diagrams.mt.map(Mtndd::node(v), |&n| nums.post(s, n))?;
        Ok(Mtndd::value(u))
    }

    fn assume_n(&mut self, e: &[LinCons], v: &Value) -> Outcome<Value> {
        let nums = &mut self.space.nums;
        let u = self.diagrams.mt.map(Mtndd::node(v), |&n| nums.assume(n, e))?;
        Ok(Mtndd::value(u))
    }
}
