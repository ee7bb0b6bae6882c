//! Integrity constraints (Figure 2) and the Cartesian domain 𝒫 over their Boolean variables.
//!
//! Each subformula of φ gets a Boolean variable `u`, and `u ⇔ …` says how it is made from others. A
//! negated subformula needs no variable of its own: edges carry a sign, as [`Lit`]. So `∨`, `⇒` and
//! `xor` are `∧` and `⇔` with signs, and the rules of Figure 3 in both directions are those of the four
//! node kinds below.

use rustc_hash::FxHashMap;

/// A Boolean variable of 𝒰, by number. Operands have smaller numbers than what is made from them:
/// the order of the numbers is a post-order of the formula.
pub type Var = u32;

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit(u32);

impl Lit {
    /// The literal that is true when the variable is `value`.
    pub fn new(var: Var, value: bool) -> Lit {
        Lit(var << 1 | u32::from(!value))
    }

    /// The variable.
    pub fn var(self) -> Var {
        self.0 >> 1
    }

    /// The value of the variable that makes the literal true.
    pub fn sign(self) -> bool {
        self.0 & 1 == 0
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// The right side of an integrity constraint `u ⇔ …`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The constant true; only variable 0.
    True,
    /// A literal of the logic, or a free Boolean variable of it, by number.
    Leaf(u32),
    /// Conjunction of at least two.
    And(Vec<Lit>),
    /// Equality of two formulas.
    Iff(Lit, Lit),
    /// If-then-else.
    Ite(Lit, Lit, Lit),
}

/// The integrity constraints ℐ of a formula.
#[derive(Clone, Debug)]
pub struct Integrity {
    nodes: Vec<Node>,
    known: FxHashMap<Node, Var>,
    leaves: Vec<Var>,
}

impl Default for Integrity {
    fn default() -> Self {
        Integrity::new()
    }
}

impl Integrity {
    /// Only the constant.
    pub fn new() -> Integrity {
        let mut out = Integrity { nodes: Vec::new(), known: FxHashMap::default(), leaves: Vec::new() };
        out.node(Node::True);
        out
    }

    /// The number of variables.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: the constant is always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What a variable stands for.
    pub fn get(&self, u: Var) -> &Node {
        &self.nodes[u as usize]
    }

    /// The variables of the leaves, by leaf number.
    pub fn leaves(&self) -> &[Var] {
        &self.leaves
    }

    fn node(&mut self, node: Node) -> Lit {
        if let Some(u) = self.known.get(&node) {
            return Lit::new(*u, true);
        }
        let u = self.nodes.len() as Var;
        self.known.insert(node.clone(), u);
        self.nodes.push(node);
        Lit::new(u, true)
    }

    /// The constant.
    pub fn constant(value: bool) -> Lit {
        Lit::new(0, value)
    }

    /// A new leaf; leaves are numbered from zero in the order in which they are made.
    pub fn leaf(&mut self) -> Lit {
        let number = self.leaves.len() as u32;
        let lit = self.node(Node::Leaf(number));
        self.leaves.push(lit.var());
        lit
    }

    /// Conjunction.
    pub fn and(&mut self, of: impl IntoIterator<Item = Lit>) -> Lit {
        let tru = Self::constant(true);
        let mut of: Vec<Lit> = of.into_iter().filter(|l| *l != tru).collect();
        of.sort_unstable();
        of.dedup();
        // A literal and its negation are neighbours in the order.
        if of.contains(&!tru) || of.windows(2).any(|w| w[0] == !w[1]) {
            return !tru;
        }
        match of.as_slice() {
            [] => tru,
            [one] => *one,
            _ => self.node(Node::And(of)),
        }
    }

    /// Disjunction.
    pub fn or(&mut self, of: impl IntoIterator<Item = Lit>) -> Lit {
        let none = self.and(of.into_iter().map(|l| !l));
        !none
    }

    /// Equality of formulas.
    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        if a.var() == b.var() {
            return Self::constant(a == b);
        }
        match (a.var(), b.var()) {
            (0, _) => return if a.sign() { b } else { !b },
            (_, 0) => return if b.sign() { a } else { !a },
            _ => {}
        }
        // The signs move to the front.
        let flip = a.sign() != b.sign();
        let (x, y) = (a.var().min(b.var()), a.var().max(b.var()));
        let lit = self.node(Node::Iff(Lit::new(x, true), Lit::new(y, true)));
        if flip { !lit } else { lit }
    }

    /// If-then-else.
    pub fn ite(&mut self, c: Lit, then: Lit, other: Lit) -> Lit {
        if c.var() == 0 {
            return if c.sign() { then } else { other };
        }
        if then == other {
            return then;
        }
        if then == !other {
            return self.iff(c, then);
        }
        let (c, then, other) = if c.sign() { (c, then, other) } else { (!c, other, then) };
        self.node(Node::Ite(c, then, other))
    }

    /// The integrity constraints in which each variable occurs as an operand.
    pub fn uses(&self) -> Vec<Vec<Var>> {
        let mut uses = vec![Vec::new(); self.nodes.len()];
        for (u, node) in (0..).zip(&self.nodes) {
            let mut used = |l: &Lit| {
                let list: &mut Vec<Var> = &mut uses[l.var() as usize];
                if list.last() != Some(&u) {
                    list.push(u);
                }
            };
            match node {
                Node::True | Node::Leaf(_) => {}
                Node::And(of) => of.iter().for_each(used),
                Node::Iff(a, b) => [a, b].into_iter().for_each(used),
                Node::Ite(a, b, c) => [a, b, c].into_iter().for_each(&mut used),
            }
        }
        uses
    }
}

/// An element of 𝒫 = 𝒰 → {0, 1, *}; bottom is kept by whoever pairs it with an element of 𝒜.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cartesian(Vec<Option<bool>>);

impl Cartesian {
    /// ⊤, except that the constant is what it is.
    pub fn top(variables: usize) -> Cartesian {
        let mut values = vec![None; variables];
        values[0] = Some(true);
        Cartesian(values)
    }

    /// P(u); `None` is `*`.
    pub fn get(&self, u: Var) -> Option<bool> {
        self.0[u as usize]
    }

    /// The truth of a literal.
    pub fn truth(&self, l: Lit) -> Option<bool> {
        self.get(l.var()).map(|v| v == l.sign())
    }

    /// Sets a variable that was `*`.
    pub(crate) fn set(&mut self, l: Lit) {
        self.0[l.var() as usize] = Some(l.sign());
    }

    /// The join, pointwise.
    pub fn join_with(&mut self, other: &Cartesian) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            if a != b {
                *a = None;
            }
        }
    }

    /// The order.
    pub fn leq(&self, other: &Cartesian) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| b.is_none() || a == b)
    }

    /// How many variables have a value.
    pub fn decided(&self) -> usize {
        self.0.iter().filter(|v| v.is_some()).count()
    }
}

/// What the rules of an integrity constraint conclude.
pub(crate) enum Step {
    /// These literals are true.
    Learn(Vec<Lit>),
    /// There is no assignment.
    Contradiction,
}

/// InternalRule (Figure 3): everything that one integrity constraint `u ⇔ …` says about variables,
/// given what is known of them. Unit propagation of the constraint, hence all of Boolean logic that a
/// single constraint allows in every direction.
pub(crate) fn internal_rule(node: &Node, u: Var, p: &Cartesian) -> Step {
    let mut learned = Vec::new();
    let mut learn = |l: Lit| match p.truth(l) {
        None => {
            learned.push(l);
            true
        }
        Some(known) => known,
    };
    let whole = Lit::new(u, true);
    let consistent = match node {
        Node::True | Node::Leaf(_) => true,
        Node::And(of) => and_rule(of, whole, p, &mut learn),
        Node::Iff(a, b) => match (p.truth(*a), p.truth(*b), p.get(u)) {
            (Some(x), Some(y), _) => learn(if x == y { whole } else { !whole }),
            (Some(x), None, Some(v)) => learn(if x == v { *b } else { !*b }),
            (None, Some(y), Some(v)) => learn(if y == v { *a } else { !*a }),
            _ => true,
        },
        Node::Ite(c, a, b) => ite_rule(*c, *a, *b, whole, p, &mut learn),
    };
    if consistent { Step::Learn(learned) } else { Step::Contradiction }
}

/// And1 and its companions: all true, some false, and the last one left.
fn and_rule(of: &[Lit], whole: Lit, p: &Cartesian, learn: &mut dyn FnMut(Lit) -> bool) -> bool {
    if p.truth(whole) == Some(true) {
        return of.iter().all(|l| learn(*l));
    }
    if of.iter().any(|l| p.truth(*l) == Some(false)) {
        return learn(!whole);
    }
    let mut open = of.iter().filter(|l| p.truth(**l).is_none());
    match (open.next(), open.next()) {
        (None, _) => learn(whole),
        (Some(last), None) if p.truth(whole) == Some(false) => learn(!*last),
        _ => true,
    }
}

fn ite_rule(c: Lit, a: Lit, b: Lit, whole: Lit, p: &Cartesian, learn: &mut dyn FnMut(Lit) -> bool) -> bool {
    let same = |x: Lit, v: bool| if v { x } else { !x };
    let branch = match p.truth(c) {
        Some(true) => a,
        Some(false) => b,
        None => {
            let (x, y, v) = (p.truth(a), p.truth(b), p.truth(whole));
            let mut ok = true;
            if let (Some(x), Some(y)) = (x, y)
                && x == y
            {
                ok &= learn(same(whole, x));
            }
            if let Some(v) = v {
                // A branch that cannot be the value is not taken.
                if x == Some(!v) {
                    ok &= learn(!c) && learn(same(b, v));
                }
                if y == Some(!v) {
                    ok &= learn(c) && learn(same(a, v));
                }
            }
            return ok;
        }
    };
    match (p.truth(branch), p.truth(whole)) {
        (Some(x), _) => learn(same(whole, x)),
        (None, Some(v)) => learn(same(branch, v)),
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rule against the truth table of its constraint: what is learned holds in all
    /// completions, and a contradiction means that there is none.
    #[test]
    fn the_rules_are_unit_propagation_of_one_constraint() {
        let l = |v: u32, s: bool| Lit::new(v, s);
        let mut nodes = vec![];
        for signs in 0..8u32 {
            let s = |i: u32| signs >> i & 1 == 1;
            nodes.push(Node::And(vec![l(1, s(0)), l(2, s(1)), l(3, s(2))]));
            nodes.push(Node::Iff(l(1, s(0)), l(2, s(1))));
            nodes.push(Node::Ite(l(1, s(0)), l(2, s(1)), l(3, s(2))));
        }
        for node in nodes {
            for code in 0..81u32 {
                let mut p = Cartesian::top(5);
                for v in 0..4 {
                    match code / 3u32.pow(v) % 3 {
                        0 => p.set(l(v + 1, false)),
                        1 => p.set(l(v + 1, true)),
                        _ => {}
                    }
                }
                let value = |m: u32, lit: Lit| (m >> (lit.var() - 1) & 1 == 1) == lit.sign();
                let models: Vec<u32> = (0..16)
                    .filter(|m| (1..5).all(|v| p.get(v).is_none_or(|x| value(*m, l(v, x)))))
                    .filter(|m| {
                        let meaning = match &node {
                            Node::And(of) => of.iter().all(|x| value(*m, *x)),
                            Node::Iff(a, b) => value(*m, *a) == value(*m, *b),
                            Node::Ite(c, a, b) => value(*m, if value(*m, *c) { *a } else { *b }),
                            _ => true,
                        };
                        value(*m, l(4, true)) == meaning
                    })
                    .collect();
                match internal_rule(&node, 4, &p) {
                    Step::Contradiction => assert!(models.is_empty(), "{node:?} {p:?}"),
                    Step::Learn(lits) => {
                        // One application may leave consequences of what it learned to the next.
                        let mut q = p.clone();
                        let mut dead = false;
                        let mut next = lits;
                        while !next.is_empty() && !dead {
                            for x in next.drain(..) {
                                match q.truth(x) {
                                    None => q.set(x),
                                    Some(v) => dead |= !v,
                                }
                            }
                            match internal_rule(&node, 4, &q) {
                                Step::Learn(more) => next = more,
                                Step::Contradiction => dead = true,
                            }
                        }
                        assert_eq!(dead, models.is_empty(), "{node:?} {p:?}");
                        if dead {
                            continue;
                        }
                        for v in 1..5 {
                            let forced = [false, true]
                                .into_iter()
                                .find(|x| models.iter().all(|m| value(*m, l(v, *x))));
                            assert_eq!(q.get(v), forced, "u{v} in {node:?} {p:?}");
                        }
                    }
                }
            }
        }
    }
}
