//! NEX: numeric explicit sets (section 5.2).

use crate::domain::{NumPredDom, Value};
use crate::expr::{Literal, Pred};
use crate::nexpoint::product;
use crate::numeric::{NumId, Numerics};
use crate::space::Space;
use crate::transformer::NumStmt;
use palisade_dd::{Node, Outcome};
use palisade_domains::LinCons;
use smallvec::SmallVec;

/// Pairs before they are put in order.
type Pairs = SmallVec<[(Node, NumId); 1]>;

/// NEX: 2^P ↦ N as a set of pairs (pᵢ, nᵢ), such that
///
/// * **C1** no pᵢ and no nᵢ is bottom,
/// * **C2** nᵢ ≠ nⱼ for i ≠ j,
/// * **C3** pᵢ ⊓ pⱼ = bottom for i ≠ j.
pub struct Nex {
    space: Space,
}

impl Nex {
    /// The domain over a space.
    pub fn new(space: Space) -> Nex {
        Nex { space }
    }

    /// Figure 7: makes **C1** and **C2** hold of pairs for which **C3** does. Sorting by the number of the
    /// element is the table that Theorem 2 suggests, and makes equal sets equal values.
    fn norm(&mut self, mut u: Pairs) -> Outcome<Value> {
        u.retain(|(p, n)| *p != Node::FALSE && *n != NumId::BOT);
        u.sort_unstable_by_key(|&(p, n)| (n, p));
        let mut all = Pairs::new();
        for (p, n) in u {
            match all.last_mut() {
                Some((q, m)) if *m == n => *q = self.space.bdd.or(p, *q)?,
                _ => all.push((p, n)),
            }
        }
        Ok(Value(all))
    }

    /// NEXJoin (Figure 8), and NEXWiden, which only has another `op`: where both functions are defined the
    /// numbers are put together, elsewhere the one that is defined stays.
    ///
    /// The figure as printed recurs into the rest of `v` twice, once for what is left of the first pair
    /// and once for the rest of `u`, and so breaks C3 for rests of several pairs. This follows the
    /// definition of a value as a function instead; it is the three fragments `p ⊓ p'`, `p ⊓ ¬p'` and
    /// `p' ⊓ ¬p` of the text, with the whole other side in place of one pair.
    fn pointwise(
        &mut self,
        u: &Value,
        v: &Value,
        op: fn(&mut Numerics, NumId, NumId) -> NumId,
    ) -> Outcome<Value> {
        let bdd = &mut self.space.bdd;
        let mut all = Pairs::new();
        let (mut domain_u, mut domain_v) = (Node::FALSE, Node::FALSE);
        for &(p, _) in &u.0 {
            domain_u = bdd.or(domain_u, p)?;
        }
        for &(p, _) in &v.0 {
            domain_v = bdd.or(domain_v, p)?;
        }
        for &(p, n) in &u.0 {
            all.push((bdd.diff(p, domain_v)?, n));
            for &(q, m) in &v.0 {
                let both = bdd.and(p, q)?;
                if both != Node::FALSE {
                    all.push((both, op(&mut self.space.nums, n, m)));
                }
            }
        }
        for &(q, m) in &v.0 {
            all.push((bdd.diff(q, domain_u)?, m));
        }
        self.norm(all)
    }

    /// The join of pairs whose diagrams need not be disjoint.
    fn join_all(&mut self, pairs: Pairs) -> Outcome<Value> {
        let mut all = self.bot();
        for pair in pairs {
            let one = self.norm(Pairs::from_buf([pair]))?;
            all = self.join(&all, &one)?;
        }
        Ok(all)
    }
}

impl NumPredDom for Nex {
    fn name(&self) -> &'static str {
        "nex"
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
        Value(Pairs::new())
    }
    fn is_top(&self, v: &Value) -> bool {
        v.0.as_slice() == [(Node::TRUE, NumId::TOP)]
    }
    fn is_bot(&self, v: &Value) -> bool {
        v.0.is_empty()
    }

    fn gamma(&mut self, v: &Value) -> Outcome<Vec<Vec<Literal>>> {
        let space = &self.space;
        Ok(v.0.iter().flat_map(|&(p, n)| product(space.cubes(p), &space.nums.gamma(n))).collect())
    }

    fn alpha_p(&mut self, e: Node) -> Outcome<Value> {
        self.norm(Pairs::from_buf([(e, NumId::TOP)]))
    }

    fn alpha_n(&mut self, e: &[LinCons]) -> Outcome<Value> {
        let n = self.space.nums.alpha(e);
        self.norm(Pairs::from_buf([(Node::TRUE, n)]))
    }

    /// (p, n) ⊑ v' iff p lies in the union of the pᵢ' with n ⊑ nᵢ'; all pairs must.
    fn leq(&mut self, a: &Value, b: &Value) -> Outcome<bool> {
        for &(p, n) in &a.0 {
            let mut above = Node::FALSE;
            for &(q, m) in &b.0 {
                if self.space.nums.leq(n, m) {
                    above = self.space.bdd.or(above, q)?;
                }
            }
            if !self.space.bdd.leq(p, above)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn meet(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        let mut all = Pairs::new();
        for &(p, n) in &a.0 {
            for &(q, m) in &b.0 {
                let both = self.space.bdd.and(p, q)?;
                if both != Node::FALSE {
                    all.push((both, self.space.nums.meet(n, m)));
                }
            }
        }
        self.norm(all)
    }

    fn join(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        self.pointwise(a, b, Numerics::join)
    }

    fn widen(&mut self, a: &Value, b: &Value) -> Outcome<Value> {
        self.pointwise(a, b, Numerics::widen)
    }

    fn exists(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value> {
        let vars = Space::vars(preds, false);
        let mut all = Pairs::new();
        for &(p, n) in &v.0 {
            all.push((self.space.bdd.exists(p, &vars)?, n));
        }
        self.join_all(all)
    }

    fn unprime(&mut self, preds: &[Pred], v: &Value) -> Outcome<Value> {
        let mut all = Pairs::new();
        for &(p, n) in &v.0 {
            all.push((self.space.unprime(preds, p)?, n));
        }
        self.join_all(all)
    }

    fn split(&mut self, v: &Value) -> Outcome<Vec<(Node, Value)>> {
        let mut all = Vec::new();
        for &(p, n) in &v.0 {
            all.extend(self.space.parts(p)?.into_iter().map(|part| (part, Value::pair(part, n))));
        }
        Ok(all)
    }

    fn post_n(&mut self, s: &NumStmt, v: &Value) -> Outcome<Value> {
        let posts = v.0.iter().map(|&(p, n)| (p, self.space.nums.post(s, n))).collect();
        self.norm(posts)
    }

    fn assume_n(&mut self, e: &[LinCons], v: &Value) -> Outcome<Value> {
        let met = v.0.iter().map(|&(p, n)| (p, self.space.nums.assume(n, e))).collect();
        self.norm(met)
    }
}
