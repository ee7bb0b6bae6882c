//! Multi-terminal diagrams: functions from assignments of Boolean variables to values.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::bdd::Bdd;
use crate::kernel::{Kernel, Limits, OutOfBudget, Outcome, Stats};
use crate::node::{Cell, Label, Node, Var};
use crate::run::{Operation, Step, run};
use crate::shared::Manager;
use crate::tables::OpCode;

/// A manager of multi-terminal BDDs with values of type `V` at the terminals.
///
/// Equal values are one terminal, so functions with equal values everywhere are equal nodes. See
/// [`Bdd`] for how long nodes live.
pub struct Mtbdd<V> {
    k: Kernel<false>,
    values: Vec<Option<V>>,
    ids: FxHashMap<V, u32>,
    free_values: Vec<u32>,
}

impl<V: Clone + Eq + Hash> Mtbdd<V> {
    /// A manager without variables.
    pub fn new(limits: Limits) -> Self {
        Mtbdd {
            k: Kernel::new(limits),
            values: Vec::new(),
            ids: FxHashMap::default(),
            free_values: Vec::new(),
        }
    }

    /// Adds a variable below all others.
    pub fn new_var(&mut self) -> Outcome<Var> {
        let var = self.k.new_var().ok_or(OutOfBudget::Nodes)?;
        self.k.new_label(var, 0);
        Ok(var)
    }

    /// The function that is `value` everywhere.
    pub fn constant(&mut self, value: V) -> Outcome {
        let id = match self.ids.get(&value) {
            Some(&id) => id,
            None => {
                let id = self.free_values.pop().unwrap_or(self.values.len() as u32);
                if id as usize == self.values.len() {
                    self.values.push(None);
                }
                self.values[id as usize] = Some(value.clone());
                self.ids.insert(value, id);
                id
            }
        };
        // The kernel makes the terminals 0 and 1 itself.
        if id < 2 { Ok(Node(id)) } else { self.k.intern(terminal_cell(id)) }
    }

    /// The value at a terminal.
    pub fn value(&self, f: Node) -> Option<&V> {
        let c = self.k.cell(f);
        if c.label == Label::TERMINAL { self.values.get(c.high.0 as usize)?.as_ref() } else { None }
    }

    /// The top decision of `f` with its two cofactors; `None` for a terminal.
    pub fn decision(&self, f: Node) -> Option<(Var, Node, Node)> {
        let c = self.k.cell(f);
        (c.label != Label::TERMINAL).then(|| (self.k.label_var(c.label), c.high, c.low))
    }

    /// The value of `f` under an assignment.
    pub fn eval(&self, f: Node, mut assignment: impl FnMut(Var) -> bool) -> Option<&V> {
        let mut n = f;
        while let Some((var, high, low)) = self.decision(n) {
            n = if assignment(var) { high } else { low };
        }
        self.value(n)
    }

    /// The function that is `f` where `var` is true and `g` elsewhere.
    pub fn select(&mut self, var: Var, f: Node, g: Node) -> Outcome {
        let label = Label(var.0 + 1);
        let instance = self.k.fresh_instance();
        run(&mut self.k, &mut Select { label, instance }, [f, g])
    }

    /// The function that is `yes` where the Boolean function `f` of `bdd` holds and `no` elsewhere.
    /// Variables with the same number are the same; all of them must exist here.
    pub fn from_bdd(&mut self, bdd: &Bdd, f: Node, yes: V, no: V) -> Outcome {
        let (yes, no) = (self.constant(yes)?, self.constant(no)?);
        let mut done: FxHashMap<Node, Node> = FxHashMap::from_iter([(Node::TRUE, yes), (Node::FALSE, no)]);
        let mut stack = vec![f];
        while let Some(&n) = stack.last() {
            let Some((var, high, low)) = bdd.decision(n) else {
                stack.pop();
                continue;
            };
            match (done.get(&high).copied(), done.get(&low).copied()) {
                (Some(h), Some(l)) => {
                    let r = self.select(var, h, l)?;
                    done.insert(n, r);
                    stack.pop();
                }
                (h, l) => {
                    stack.extend(h.is_none().then_some(high));
                    stack.extend(l.is_none().then_some(low));
                }
            }
        }
        Ok(done[&f])
    }

    /// `op` of the value of `f`, everywhere.
    pub fn map(&mut self, f: Node, op: impl FnMut(&V) -> V) -> Outcome {
        let instance = self.k.fresh_instance();
        run(self, &mut Map { op, instance }, f)
    }

    /// `op` of the values of `f` and `g`, everywhere (`bddApply`).
    pub fn apply(&mut self, f: Node, g: Node, op: impl FnMut(&V, &V) -> V) -> Outcome {
        let instance = self.k.fresh_instance();
        run(self, &mut Apply { op, instance }, [f, g])
    }

    /// Whether the values of `f` and `g` are related everywhere.
    pub fn all(&mut self, f: Node, g: Node, mut related: impl FnMut(&V, &V) -> bool) -> Outcome<bool> {
        // Pairs seen, rather than results: one failure decides.
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![[f, g]];
        while let Some([f, g]) = stack.pop() {
            if !seen.insert([f, g]) {
                continue;
            }
            if seen.len() & 0xffff == 0 {
                self.k.check()?;
            }
            if let (Some(a), Some(b)) = (self.value(f), self.value(g)) {
                if !related(a, b) {
                    return Ok(false);
                }
                continue;
            }
            let (_, high, low) = self.k.split2(f, g);
            stack.push(low);
            stack.push(high);
        }
        Ok(true)
    }

    /// Removes `vars`: `join` puts together the values for both values of each.
    pub fn quantify(&mut self, f: Node, vars: &[Var], join: impl FnMut(&V, &V) -> V) -> Outcome {
        let mut bound = vec![false; self.k.var_count()];
        for v in vars {
            bound[v.0 as usize] = true;
        }
        let (instance, joins) = (self.k.fresh_instance(), self.k.fresh_instance());
        run(self, &mut Quantify { bound, join, instance, joins }, f)
    }

    /// The terminals that `f` reaches.
    pub fn terminals(&self, f: Node) -> Vec<Node> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut terminals = Vec::new();
        let mut stack = vec![f];
        while let Some(n) = stack.pop() {
            if seen.insert(n) {
                match self.decision(n) {
                    Some((_, high, low)) => stack.extend([low, high]),
                    None => terminals.push(n),
                }
            }
        }
        terminals
    }

    /// The number of nodes of the diagram of `f`, terminals included.
    pub fn size(&self, f: Node) -> usize {
        self.k.size(&[f])
    }

    /// The variables that `f` depends on, from top to bottom.
    pub fn support(&self, f: Node) -> Vec<Var> {
        self.k.support(f)
    }

    /// Looks for a smaller order by sifting. Collects garbage; protected nodes keep their meaning.
    pub fn reorder(&mut self) -> Outcome<()> {
        self.collect();
        self.k.reorder()
    }

    /// Size figures.
    pub fn stats(&self) -> Stats {
        self.k.stats()
    }
}

fn terminal_cell(id: u32) -> Cell {
    Cell { label: Label::TERMINAL, high: Node(id), low: Node::FALSE }
}

impl<V: Clone + Eq + Hash> Manager for Mtbdd<V> {
    fn protect(&mut self, f: Node) {
        self.k.protect(f);
    }

    fn release(&mut self, f: Node) {
        self.k.release(f);
    }

    /// Frees unreachable nodes and the values that only they had.
    fn collect(&mut self) {
        self.k.collect(&[]);
        for id in 2..self.values.len() as u32 {
            if self.values[id as usize].is_some() && !self.k.contains(terminal_cell(id)) {
                if let Some(value) = self.values[id as usize].take() {
                    self.ids.remove(&value);
                }
                self.free_values.push(id);
            }
        }
    }

    fn wants_collection(&self) -> bool {
        self.k.wants_collection()
    }
}

impl<V> crate::run::Host for Mtbdd<V> {
    fn check_budget(&self) -> Outcome<()> {
        self.k.check()
    }

    fn count(&mut self, steps: u32) -> Outcome<()> {
        self.k.count(steps)
    }
}

/// "If `label` then f else g" for functions that may test variables above `label`.
struct Select {
    label: Label,
    instance: u32,
}

impl Operation<Kernel<false>> for Select {
    type Args = [Node; 2];

    fn enter(&mut self, k: &mut Kernel<false>, args: &mut [Node; 2]) -> Outcome<Step<[Node; 2]>> {
        let [f, g] = *args;
        if f == g {
            return Ok(Step::Done(f));
        }
        let (top, own) = (k.level(f).min(k.level(g)), k.label_level(self.label));
        if top >= own {
            let (high, _) = k.split1(self.label, f);
            let (_, low) = k.split1(self.label, g);
            return Ok(Step::Done(k.mk(self.label, high, low)?));
        }
        if let Some(r) = k.cache.get(OpCode::Ite, f, g.0, self.instance) {
            return Ok(Step::Done(r));
        }
        let (label, high, low) = k.split2(f, g);
        Ok(Step::Split { label, high, low })
    }

    fn join(&mut self, k: &mut Kernel<false>, _: &[Node; 2], label: Label, high: Node, low: Node) -> Outcome {
        k.mk(label, high, low)
    }

    fn remember(&mut self, k: &mut Kernel<false>, [f, g]: &[Node; 2], result: Node) {
        k.cache.put(OpCode::Ite, *f, g.0, self.instance, result);
    }
}

struct Map<F> {
    op: F,
    instance: u32,
}

impl<V: Clone + Eq + Hash, F: FnMut(&V) -> V> Operation<Mtbdd<V>> for Map<F> {
    type Args = Node;

    fn enter(&mut self, m: &mut Mtbdd<V>, f: &mut Node) -> Outcome<Step<Node>> {
        if let Some(r) = m.k.cache.get(OpCode::Terminal1, *f, 0, self.instance) {
            return Ok(Step::Done(r));
        }
        if let Some(v) = m.value(*f) {
            let r = (self.op)(v);
            let r = m.constant(r)?;
            m.k.cache.put(OpCode::Terminal1, *f, 0, self.instance, r);
            return Ok(Step::Done(r));
        }
        let c = m.k.cell(*f);
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, m: &mut Mtbdd<V>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        m.k.mk(label, high, low)
    }

    fn remember(&mut self, m: &mut Mtbdd<V>, f: &Node, result: Node) {
        m.k.cache.put(OpCode::Terminal1, *f, 0, self.instance, result);
    }
}

struct Apply<F> {
    op: F,
    instance: u32,
}

impl<V: Clone + Eq + Hash, F: FnMut(&V, &V) -> V> Operation<Mtbdd<V>> for Apply<F> {
    type Args = [Node; 2];

    fn enter(&mut self, m: &mut Mtbdd<V>, &mut [f, g]: &mut [Node; 2]) -> Outcome<Step<[Node; 2]>> {
        if let Some(r) = m.k.cache.get(OpCode::Terminal2, f, g.0, self.instance) {
            return Ok(Step::Done(r));
        }
        if let (Some(a), Some(b)) = (m.value(f), m.value(g)) {
            let r = (self.op)(a, b);
            let r = m.constant(r)?;
            m.k.cache.put(OpCode::Terminal2, f, g.0, self.instance, r);
            return Ok(Step::Done(r));
        }
        let (label, high, low) = m.k.split2(f, g);
        Ok(Step::Split { label, high, low })
    }

    fn join(&mut self, m: &mut Mtbdd<V>, _: &[Node; 2], label: Label, high: Node, low: Node) -> Outcome {
        m.k.mk(label, high, low)
    }

    fn remember(&mut self, m: &mut Mtbdd<V>, [f, g]: &[Node; 2], result: Node) {
        m.k.cache.put(OpCode::Terminal2, *f, g.0, self.instance, result);
    }
}

struct Quantify<F> {
    bound: Vec<bool>,
    join: F,
    instance: u32,
    /// Names the joins of values, which all belong to one operation.
    joins: u32,
}

impl<V: Clone + Eq + Hash, F: FnMut(&V, &V) -> V> Operation<Mtbdd<V>> for Quantify<F> {
    type Args = Node;

    fn enter(&mut self, m: &mut Mtbdd<V>, f: &mut Node) -> Outcome<Step<Node>> {
        let c = m.k.cell(*f);
        if c.label == Label::TERMINAL {
            return Ok(Step::Done(*f));
        }
        if let Some(r) = m.k.cache.get(OpCode::Exists, *f, 0, self.instance) {
            return Ok(Step::Done(r));
        }
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    fn join(&mut self, m: &mut Mtbdd<V>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        if self.bound[m.k.label_var(label).0 as usize] {
            run(m, &mut Apply { op: &mut self.join, instance: self.joins }, [high, low])
        } else {
            m.k.mk(label, high, low)
        }
    }

    fn remember(&mut self, m: &mut Mtbdd<V>, f: &Node, result: Node) {
        m.k.cache.put(OpCode::Exists, *f, 0, self.instance, result);
    }
}
