//! Plain binary decision diagrams.

use palisade_num::Int;
use rustc_hash::FxHashMap;

use crate::kernel::{Kernel, Limits, OutOfBudget, Outcome, Stats};
use crate::node::{Label, Node, Var};
use crate::run::{Operation, Step, run};
use crate::shared::Manager;
use crate::tables::OpCode;

/// A manager of BDDs: the nodes, their tables and the order of the variables.
///
/// Operations take and return [`Node`]s of this manager. Nodes stay valid until
/// [`Manager::collect`] runs or variables are reordered; protect those that must survive, or hold them
/// through [`crate::Shared`], which does both.
pub struct Bdd {
    pub(crate) k: Kernel<false>,
}

impl Bdd {
    /// A manager without variables.
    pub fn new(limits: Limits) -> Self {
        Bdd { k: Kernel::new(limits) }
    }

    /// Adds a variable below all others.
    pub fn new_var(&mut self) -> Outcome<Var> {
        let var = self.k.new_var().ok_or(OutOfBudget::Nodes)?;
        self.k.new_label(var, 0);
        Ok(var)
    }

    /// The label of `var`: label 0 belongs to the terminals.
    fn label(var: Var) -> Label {
        Label(var.0 + 1)
    }

    /// The function that is `positive` exactly where `var` is true.
    pub fn literal(&mut self, var: Var, positive: bool) -> Outcome {
        let (high, low) = if positive { (Node::TRUE, Node::FALSE) } else { (Node::FALSE, Node::TRUE) };
        self.k.mk(Self::label(var), high, low)
    }

    /// Conjunction.
    pub fn and(&mut self, f: Node, g: Node) -> Outcome {
        self.k.and(f, g)
    }

    /// Disjunction.
    pub fn or(&mut self, f: Node, g: Node) -> Outcome {
        self.k.or(f, g)
    }

    /// Exclusive disjunction.
    pub fn xor(&mut self, f: Node, g: Node) -> Outcome {
        self.k.xor(f, g)
    }

    /// `f ∧ ¬g`.
    pub fn diff(&mut self, f: Node, g: Node) -> Outcome {
        self.k.diff(f, g)
    }

    /// Negation.
    pub fn not(&mut self, f: Node) -> Outcome {
        self.k.not(f)
    }

    /// `f ⇔ g`.
    pub fn iff(&mut self, f: Node, g: Node) -> Outcome {
        let x = self.k.xor(f, g)?;
        self.k.not(x)
    }

    /// `(f ∧ g) ∨ (¬f ∧ h)`.
    pub fn ite(&mut self, f: Node, g: Node, h: Node) -> Outcome {
        self.k.ite(f, g, h)
    }

    /// Whether `f` implies `g`.
    pub fn leq(&mut self, f: Node, g: Node) -> Outcome<bool> {
        self.k.leq(f, g)
    }

    /// `∃ vars. f`.
    pub fn exists(&mut self, f: Node, vars: &[Var]) -> Outcome {
        self.k.exists(f, vars)
    }

    /// `∀ vars. f`.
    pub fn forall(&mut self, f: Node, vars: &[Var]) -> Outcome {
        self.k.forall(f, vars)
    }

    /// `∃ vars. f ∧ g`, the relational product.
    pub fn and_exists(&mut self, f: Node, g: Node, vars: &[Var]) -> Outcome {
        self.k.and_exists(f, g, vars)
    }

    /// The cofactor of `f` where the listed variables have the given values.
    pub fn restrict(&mut self, f: Node, values: &[(Var, bool)]) -> Outcome {
        let mut by_var = vec![None; self.k.var_count()];
        for &(v, b) in values {
            by_var[v.0 as usize] = Some(b);
        }
        let instance = self.k.fresh_instance();
        run(&mut self.k, &mut Restrict { by_var, instance }, f)
    }

    /// `f` with every listed variable replaced by its function, all at once.
    pub fn compose(&mut self, f: Node, by: &[(Var, Node)]) -> Outcome {
        let mut by_var = vec![None; self.k.var_count()];
        let mut last = None;
        for &(v, g) in by {
            by_var[v.0 as usize] = Some(g);
            last = last.max(Some(self.k.var_level(v)));
        }
        let Some(last) = last else { return Ok(f) };
        let instance = self.k.fresh_instance();
        run(&mut self.k, &mut Compose { by_var, last, instance }, f)
    }

    /// `f` with variables renamed, all at once (`bddPermute`).
    pub fn rename(&mut self, f: Node, to: &[(Var, Var)]) -> Outcome {
        let mut by = Vec::with_capacity(to.len());
        for &(v, w) in to {
            by.push((v, self.literal(w, true)?));
        }
        self.compose(f, &by)
    }

    /// The value of `f` under an assignment.
    pub fn eval(&self, f: Node, mut value: impl FnMut(Var) -> bool) -> bool {
        let mut n = f;
        while let Some((var, high, low)) = self.decision(n) {
            n = if value(var) { high } else { low };
        }
        n == Node::TRUE
    }

    /// The top decision of `f` with its two cofactors; `None` for a terminal.
    pub fn decision(&self, f: Node) -> Option<(Var, Node, Node)> {
        let c = self.k.cell(f);
        (c.label != Label::TERMINAL).then(|| (self.k.label_var(c.label), c.high, c.low))
    }

    /// The number of assignments to all variables of the manager that satisfy `f`.
    pub fn sat_count(&self, f: Node) -> Int {
        // Counts over the variables from a node's own level on; children lie lower, so after sorting
        // by level from the bottom up each count is ready when it is needed.
        let n = self.k.var_count() as u32;
        let depth = |k: &Kernel<false>, f: Node| k.level(f).min(n);
        let mut counts: FxHashMap<Node, Int> = FxHashMap::default();
        counts.insert(Node::FALSE, Int::from(0));
        counts.insert(Node::TRUE, Int::from(1));
        for node in self.bottom_up(f) {
            let c = self.k.cell(node);
            let at = depth(&self.k, node);
            let part = |child: Node| counts[&child].shl(depth(&self.k, child) - at - 1);
            let sum = part(c.high) + part(c.low);
            counts.insert(node, sum);
        }
        counts[&f].shl(depth(&self.k, f))
    }

    /// The decision nodes of `f`, children before parents.
    fn bottom_up(&self, f: Node) -> Vec<Node> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut nodes = Vec::new();
        let mut stack = vec![f];
        while let Some(n) = stack.pop() {
            if let Some((_, high, low)) = self.decision(n)
                && seen.insert(n)
            {
                nodes.push(n);
                stack.extend([high, low]);
            }
        }
        nodes.sort_by_key(|&n| (std::cmp::Reverse(self.k.level(n)), n));
        nodes
    }

    /// A conjunction of literals that implies `f`; `None` if `f` is unsatisfiable.
    pub fn pick_cube(&self, f: Node) -> Option<Vec<(Var, bool)>> {
        let mut cube = Vec::new();
        let mut n = f;
        while let Some((var, high, low)) = self.decision(n) {
            // Every node but the terminal 0 is satisfiable.
            let positive = high != Node::FALSE;
            cube.push((var, positive));
            n = if positive { high } else { low };
        }
        (n == Node::TRUE).then_some(cube)
    }

    /// The conjunction of literals `values`.
    pub fn cube(&mut self, values: &[(Var, bool)]) -> Outcome {
        let mut sorted = values.to_vec();
        sorted.sort_by_key(|&(v, _)| std::cmp::Reverse(self.k.var_level(v)));
        let mut f = Node::TRUE;
        for (v, positive) in sorted {
            let literal = self.literal(v, positive)?;
            f = self.and(literal, f)?;
        }
        Ok(f)
    }

    /// All paths from `f` to the terminal 1, as disjoint conjunctions of literals.
    pub fn cubes(&self, f: Node) -> Cubes<'_> {
        Cubes { bdd: self, path: Vec::new(), next: Some(f) }
    }

    /// The number of nodes of the diagram of `f`, terminals included.
    pub fn size(&self, f: Node) -> usize {
        self.k.size(&[f])
    }

    /// The variables that `f` depends on, from top to bottom.
    pub fn support(&self, f: Node) -> Vec<Var> {
        self.k.support(f)
    }

    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.k.var_count()
    }

    /// The variables from top to bottom.
    pub fn order(&self) -> &[Var] {
        self.k.order()
    }

    /// Looks for a smaller order by sifting. Collects garbage; protected nodes keep their meaning.
    pub fn reorder(&mut self) -> Outcome<()> {
        self.k.reorder()
    }

    /// Exchanges the variables at `level` and the next, if there is a next. Collects garbage.
    pub fn swap_adjacent(&mut self, level: usize) -> Outcome<()> {
        if level + 1 < self.k.var_count() { self.k.swap_adjacent(level) } else { Ok(()) }
    }

    /// Size figures.
    pub fn stats(&self) -> Stats {
        self.k.stats()
    }
}

impl Manager for Bdd {
    fn protect(&mut self, f: Node) {
        self.k.protect(f);
    }
    fn release(&mut self, f: Node) {
        self.k.release(f);
    }
    fn collect(&mut self) {
        self.k.collect(&[]);
    }
    fn wants_collection(&self) -> bool {
        self.k.wants_collection()
    }
}

/// Iterator over the paths of a BDD; see [`Bdd::cubes`].
pub struct Cubes<'a> {
    bdd: &'a Bdd,
    /// The literals so far, each with the low child that remains to be visited.
    path: Vec<(Var, bool, Node)>,
    next: Option<Node>,
}

impl Iterator for Cubes<'_> {
    type Item = Vec<(Var, bool)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut n = match self.next.take() {
                Some(n) => n,
                // Back up to the last literal whose negation was not visited.
                None => loop {
                    let (var, positive, low) = self.path.pop()?;
                    if positive {
                        self.path.push((var, false, low));
                        break low;
                    }
                },
            };
            while let Some((var, high, low)) = self.bdd.decision(n) {
                self.path.push((var, true, low));
                n = high;
            }
            if n == Node::TRUE {
                return Some(self.path.iter().map(|&(v, b, _)| (v, b)).collect());
            }
        }
    }
}

struct Restrict {
    by_var: Vec<Option<bool>>,
    instance: u32,
}

impl Operation<Kernel<false>> for Restrict {
    type Args = Node;

    fn enter(&mut self, k: &mut Kernel<false>, f: &mut Node) -> Outcome<Step<Node>> {
        loop {
            let c = k.cell(*f);
            if c.label == Label::TERMINAL {
                return Ok(Step::Done(*f));
            }
            match self.by_var[k.label_var(c.label).0 as usize] {
                Some(true) => *f = c.high,
                Some(false) => *f = c.low,
                None => break,
            }
        }
        if let Some(r) = k.cache.get(OpCode::Restrict, *f, 0, self.instance) {
            return Ok(Step::Done(r));
        }
        let c = k.cell(*f);
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, k: &mut Kernel<false>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        k.mk(label, high, low)
    }

    fn remember(&mut self, k: &mut Kernel<false>, f: &Node, result: Node) {
        k.cache.put(OpCode::Restrict, *f, 0, self.instance, result);
    }
}

struct Compose {
    by_var: Vec<Option<Node>>,
    /// No replaced variable lies below this level.
    last: u32,
    instance: u32,
}

impl Operation<Kernel<false>> for Compose {
    type Args = Node;

    fn enter(&mut self, k: &mut Kernel<false>, f: &mut Node) -> Outcome<Step<Node>> {
        let c = k.cell(*f);
        if k.label_level(c.label) > self.last {
            return Ok(Step::Done(*f));
        }
        if let Some(r) = k.cache.get(OpCode::Compose, *f, 0, self.instance) {
            return Ok(Step::Done(r));
        }
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, k: &mut Kernel<false>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        match self.by_var[k.label_var(label).0 as usize] {
            Some(g) => k.ite(g, high, low),
            None => k.decide(label, high, low),
        }
    }

    fn remember(&mut self, k: &mut Kernel<false>, f: &Node, result: Node) {
        k.cache.put(OpCode::Compose, *f, 0, self.instance, result);
    }
}
