//! Assume[φ](A) from above: Algorithms 1 to 3 of the paper.
//!
//! * [`Assume::run`] is Algorithm 1;
//! * 0-assume (Algorithm 2) applies the propagation rules until nothing changes. It does not scan the
//!   integrity constraints again and again: a queue holds those that a change may concern;
//! * k-assume (Algorithm 3) applies the Dilemma rule to every variable of unknown value, in post-order,
//!   until a whole round changes nothing.
//!
//! Every step is a semantic reduction with respect to ℐ (Theorems 2 and 3), so whatever is in hand when
//! the budget or the number of splits ends is a sound answer (Theorem 1).

use crate::element;
use crate::formula::{Formula, Leaf};
use crate::integrity::{Cartesian, Lit, Node, Step, Var, internal_rule};
use palisade_base::Budget;
use palisade_domains::{Dim, Dynamic, Lattice};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Which literals are looked at again (rule AtoP-0) when the element of 𝒜 changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// All of unknown value, as Algorithm 2 has it.
    All,
    /// Those that share a dimension with the literal that made the change. What this misses the Dilemma
    /// rule finds, which tries both values of every literal: with `k ≥ 1` nothing is lost in the end,
    /// and with many literals a step costs much less.
    Neighbours,
}

/// How far to go.
#[derive(Clone, Debug)]
pub struct Config {
    /// The `k` of k-assume: how deep applications of the Dilemma rule nest.
    pub k: u32,
    /// Applications of the Dilemma rule at most.
    pub splits: u64,
    /// Which literals are looked at again.
    pub reach: Reach,
    /// Stops everything.
    pub budget: Budget,
}

impl Config {
    /// k-assume without other limits.
    pub fn new(k: u32) -> Config {
        Config { k, splits: u64::MAX, reach: Reach::All, budget: Budget::unlimited() }
    }
}

/// A literal whose meaning depends on bounds is met again at most this often in one 0-assume: bounds
/// that push each other may take as many steps as there are numbers.
const AGAIN: u32 = 8;

/// An element of 𝒫 × 𝒜. All bottoms are one: `a` is bottom.
#[derive(Clone, Debug)]
pub struct Pair {
    /// What is known of the subformulas.
    pub p: Cartesian,
    /// What is known of the states.
    pub a: Dynamic,
}

impl Pair {
    /// Stands for nothing.
    pub fn is_bottom(&self) -> bool {
        self.a.is_bottom()
    }

    /// The order.
    pub fn leq(&self, other: &Pair) -> bool {
        self.is_bottom() || (!other.is_bottom() && self.p.leq(&other.p) && self.a.leq(&other.a))
    }

    /// (P₁, A₁) ⊔ (P₂, A₂).
    pub fn join(self, other: Pair) -> Pair {
        if self.is_bottom() {
            return other;
        }
        if other.is_bottom() {
            return self;
        }
        let mut out = self;
        out.p.join_with(&other.p);
        out.a.join_with(&other.a);
        out
    }

    fn fail(&mut self) {
        self.a = element::bottom(&self.a);
    }
}

/// The computation for one formula.
pub struct Assume<'a> {
    formula: &'a Formula,
    uses: Vec<Vec<Var>>,
    by_dim: FxHashMap<Dim, Vec<u32>>,
    config: Config,
    splits: u64,
}

/// What 0-assume still has to look at: integrity constraints and leaves, each at most once.
struct Queue {
    constraints: VecDeque<Var>,
    leaves: VecDeque<u32>,
    waiting_constraint: Vec<bool>,
    waiting_leaf: Vec<bool>,
    met: Vec<u32>,
}

impl Queue {
    fn constraint(&mut self, u: Var) {
        if !std::mem::replace(&mut self.waiting_constraint[u as usize], true) {
            self.constraints.push_back(u);
        }
    }

    fn leaf(&mut self, n: u32) {
        if !std::mem::replace(&mut self.waiting_leaf[n as usize], true) {
            self.leaves.push_back(n);
        }
    }
}

impl<'a> Assume<'a> {
    /// Prepares the computation.
    pub fn new(formula: &'a Formula, config: Config) -> Assume<'a> {
        let mut by_dim: FxHashMap<Dim, Vec<u32>> = FxHashMap::default();
        for (n, leaf) in (0..).zip(&formula.leaves) {
            for d in leaf.dims() {
                by_dim.entry(*d).or_default().push(n);
            }
        }
        let uses = formula.integrity.uses();
        Assume { formula, uses, by_dim, config, splits: 0 }
    }

    /// Algorithm 1: an over-approximation of the best element for ⟦φ⟧ ∩ γ(A), below `a`.
    pub fn run(&mut self, a: Dynamic) -> Dynamic {
        let mut pair = self.start(a);
        self.k_assume(self.config.k, &mut pair);
        pair.a
    }

    /// The applications of the Dilemma rule so far.
    pub fn splits(&self) -> u64 {
        self.splits
    }

    /// (⊤[u_φ ↦ 1], A) after 0-assume.
    pub fn start(&mut self, a: Dynamic) -> Pair {
        let mut pair = Pair { p: Cartesian::top(self.formula.integrity.len()), a };
        let mut queue = self.queue();
        (0..self.formula.leaves.len() as u32).for_each(|n| queue.leaf(n));
        self.learn(&mut pair, &mut queue, self.formula.whole());
        self.propagate(&mut pair, &mut queue);
        pair
    }

    fn stopped(&self) -> bool {
        self.splits >= self.config.splits || self.config.budget.stopped().is_some()
    }

    fn queue(&self) -> Queue {
        Queue {
            constraints: VecDeque::new(),
            leaves: VecDeque::new(),
            waiting_constraint: vec![false; self.formula.integrity.len()],
            waiting_leaf: vec![false; self.formula.leaves.len()],
            met: vec![0; self.formula.leaves.len()],
        }
    }

    /// P ⊓ ⊤[l ↦ true].
    fn learn(&self, pair: &mut Pair, queue: &mut Queue, l: Lit) {
        match pair.p.truth(l) {
            Some(true) => {}
            Some(false) => pair.fail(),
            None => {
                pair.p.set(l);
                let u = l.var();
                self.uses[u as usize].iter().for_each(|c| queue.constraint(*c));
                match self.formula.integrity.get(u) {
                    Node::Leaf(n) => queue.leaf(*n),
                    _ => queue.constraint(u),
                }
            }
        }
    }

    /// Algorithm 2, on what is in the queue.
    fn propagate(&mut self, pair: &mut Pair, queue: &mut Queue) {
        while !pair.is_bottom() && self.config.budget.stopped().is_none() {
            // Truth values are cheap: they go first.
            if let Some(u) = queue.constraints.pop_front() {
                queue.waiting_constraint[u as usize] = false;
                match internal_rule(self.formula.integrity.get(u), u, &pair.p) {
                    Step::Contradiction => pair.fail(),
                    Step::Learn(lits) => lits.into_iter().for_each(|l| self.learn(pair, queue, l)),
                }
            } else if let Some(n) = queue.leaves.pop_front() {
                queue.waiting_leaf[n as usize] = false;
                self.leaf_rule(pair, queue, n);
            } else {
                return;
            }
        }
    }

    /// LeafRule (Figure 4).
    fn leaf_rule(&mut self, pair: &mut Pair, queue: &mut Queue, n: u32) {
        let u = self.formula.integrity.leaves()[n as usize];
        let leaf = &self.formula.leaves[n as usize];
        if matches!(leaf, Leaf::Free) {
            return;
        }
        match pair.p.get(u) {
            // PtoA-1 and PtoA-0.
            Some(truth) => {
                let again = queue.met[n as usize];
                if again > AGAIN {
                    return;
                }
                queue.met[n as usize] += 1;
                let before = pair.a.clone();
                leaf.meet(&mut pair.a, truth);
                if again > 0 && before.leq(&pair.a) {
                    return;
                }
                self.changed(pair, queue, n);
            }
            // AtoP-0, and the same for the negated literal.
            None => {
                for truth in [true, false] {
                    let mut with = pair.a.clone();
                    leaf.meet(&mut with, truth);
                    if with.is_bottom() {
                        self.learn(pair, queue, Lit::new(u, !truth));
                        return;
                    }
                }
            }
        }
    }

    /// The element changed by a literal: others may follow.
    fn changed(&self, pair: &Pair, queue: &mut Queue, by: u32) {
        let concerns = |m: u32| {
            m != by
                && (pair.p.get(self.formula.integrity.leaves()[m as usize]).is_none()
                    || self.formula.leaves[m as usize].depends_on_bounds())
        };
        match self.config.reach {
            Reach::All => {
                let open = |m: &u32| pair.p.get(self.formula.integrity.leaves()[*m as usize]).is_none();
                (0..self.formula.leaves.len() as u32).filter(open).for_each(|m| queue.leaf(m));
            }
            Reach::Neighbours => {}
        }
        for d in self.formula.leaves[by as usize].dims() {
            let near = self.by_dim.get(d).into_iter().flatten();
            near.filter(|m| concerns(**m)).for_each(|m| queue.leaf(*m));
        }
    }

    /// (P, A) ⊓ (⊤[l ↦ true], ⊤), then (k-1)-assume.
    fn branch(&mut self, k: u32, pair: &Pair, l: Lit) -> Pair {
        let mut branch = pair.clone();
        let mut queue = self.queue();
        self.learn(&mut branch, &mut queue, l);
        self.propagate(&mut branch, &mut queue);
        self.k_assume(k - 1, &mut branch);
        branch
    }

    /// The Dilemma rule (Figure 1(b)) on a variable of unknown value: both values are tried, and what
    /// both lead to is kept.
    pub fn dilemma(&mut self, k: u32, pair: &Pair, u: Var) -> Pair {
        self.splits += 1;
        let (first, second) =
            (self.branch(k, pair, Lit::new(u, false)), self.branch(k, pair, Lit::new(u, true)));
        let mut joined = first.join(second);
        if !joined.a.leq(&pair.a) {
            // A domain whose join is not the least upper bound may have gone above.
            joined.a = pair.a.meet(&joined.a);
        }
        joined
    }

    /// Algorithm 3. `pair` is closed under 0-assume, before and after.
    pub fn k_assume(&mut self, k: u32, pair: &mut Pair) {
        if k == 0 {
            return;
        }
        let variables = self.formula.integrity.len() as Var;
        // A variable whose split changed nothing is not split again before something changes.
        let mut unchanged = 0;
        let mut u = 0;
        while unchanged < variables && !pair.is_bottom() && !self.stopped() {
            u = (u + 1) % variables;
            unchanged += 1;
            if pair.p.get(u).is_some() {
                continue;
            }
            let joined = self.dilemma(k, pair, u);
            let news: Vec<Lit> = (0..variables)
                .filter(|v| pair.p.get(*v).is_none())
                .filter_map(|v| joined.p.get(v).map(|x| Lit::new(v, x)))
                .collect();
            if joined.is_bottom() {
                *pair = joined;
                return;
            }
            let smaller = !pair.a.leq(&joined.a);
            if news.is_empty() && !smaller {
                continue;
            }
            unchanged = 0;
            pair.a = joined.a;
            let mut queue = self.queue();
            news.into_iter().for_each(|l| self.learn(pair, &mut queue, l));
            if smaller && self.config.reach == Reach::All {
                (0..self.formula.leaves.len() as u32).for_each(|n| queue.leaf(n));
            }
            self.propagate(pair, &mut queue);
        }
    }
}
