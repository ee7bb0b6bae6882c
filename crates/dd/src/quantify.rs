//! Quantification: Exist (Table 1 of the BOXES paper), its dual, and the relational product.

use crate::kernel::{Kernel, Outcome};
use crate::node::{Label, Node, Var};
use crate::run::{Operation, Step, run};
use crate::tables::OpCode;

/// A set of variables to quantify, indexed by level.
struct Bound {
    member: Vec<bool>,
    /// No member lies below this level.
    last: u32,
    /// Names the set in the cache.
    instance: u32,
}

impl Bound {
    fn new<const LINEAR: bool>(k: &mut Kernel<LINEAR>, vars: &[Var]) -> Option<Self> {
        let last = vars.iter().map(|&v| k.var_level(v)).max()?;
        let mut member = vec![false; last as usize + 1];
        for &v in vars {
            member[k.var_level(v) as usize] = true;
        }
        let instance = k.set_instance(vars);
        Some(Bound { member, last, instance })
    }

    #[inline]
    fn contains<const LINEAR: bool>(&self, k: &Kernel<LINEAR>, label: Label) -> bool {
        let level = k.label_level(label) as usize;
        level < self.member.len() && self.member[level]
    }
}

/// Exist (`DISJUNCTIVE`) or its dual.
struct Quantify<const DISJUNCTIVE: bool> {
    bound: Bound,
}

impl<const D: bool> Quantify<D> {
    const CODE: OpCode = if D { OpCode::Exists } else { OpCode::Forall };
    /// The result of one branch that decides the quantified result alone.
    const ABSORBING: Node = if D { Node::TRUE } else { Node::FALSE };
}

impl<const LINEAR: bool, const D: bool> Operation<Kernel<LINEAR>> for Quantify<D> {
    type Args = Node;

    #[inline]
    fn enter(&mut self, k: &mut Kernel<LINEAR>, f: &mut Node) -> Outcome<Step<Node>> {
        let c = k.cell(*f);
        if k.label_level(c.label) > self.bound.last {
            return Ok(Step::Done(*f));
        }
        if let Some(r) = k.cache.get(Self::CODE, *f, 0, self.bound.instance) {
            return Ok(Step::Done(r));
        }
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    #[inline]
    fn after_high(
        &mut self,
        k: &mut Kernel<LINEAR>,
        _: &Node,
        label: Label,
        high: Node,
        _: &mut Node,
    ) -> Option<Node> {
        (high == Self::ABSORBING && self.bound.contains(k, label)).then_some(high)
    }

    #[inline]
    fn join(&mut self, k: &mut Kernel<LINEAR>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        match (self.bound.contains(k, label), D) {
            (false, _) => k.mk(label, high, low),
            (true, true) => k.or(high, low),
            (true, false) => k.and(high, low),
        }
    }

    #[inline]
    fn remember(&mut self, k: &mut Kernel<LINEAR>, f: &Node, result: Node) {
        k.cache.put(Self::CODE, *f, 0, self.bound.instance, result);
    }
}

/// `∃ bound. f ∧ g` without building the conjunction.
struct AndExists {
    bound: Bound,
}

impl<const LINEAR: bool> Operation<Kernel<LINEAR>> for AndExists {
    type Args = [Node; 2];

    #[inline]
    fn enter(&mut self, k: &mut Kernel<LINEAR>, args: &mut [Node; 2]) -> Outcome<Step<[Node; 2]>> {
        let [f, g] = *args;
        if f == Node::FALSE || g == Node::FALSE {
            return Ok(Step::Done(Node::FALSE));
        }
        if g < f {
            *args = [g, f];
        }
        let [f, g] = *args;
        if k.level(f) > self.bound.last && k.level(g) > self.bound.last {
            return Ok(Step::Done(k.and(f, g)?));
        }
        if let Some(r) = k.cache.get(OpCode::AndExists, f, g.0, self.bound.instance) {
            return Ok(Step::Done(r));
        }
        let (label, high, low) = k.split2(f, g);
        Ok(Step::Split { label, high, low })
    }

    #[inline]
    fn after_high(
        &mut self,
        k: &mut Kernel<LINEAR>,
        _: &[Node; 2],
        label: Label,
        high: Node,
        _: &mut [Node; 2],
    ) -> Option<Node> {
        (high == Node::TRUE && self.bound.contains(k, label)).then_some(high)
    }

    #[inline]
    fn join(
        &mut self,
        k: &mut Kernel<LINEAR>,
        _: &[Node; 2],
        label: Label,
        high: Node,
        low: Node,
    ) -> Outcome {
        if self.bound.contains(k, label) { k.or(high, low) } else { k.mk(label, high, low) }
    }

    #[inline]
    fn remember(&mut self, k: &mut Kernel<LINEAR>, [f, g]: &[Node; 2], result: Node) {
        k.cache.put(OpCode::AndExists, *f, g.0, self.bound.instance, result);
    }
}

impl<const LINEAR: bool> Kernel<LINEAR> {
    pub(crate) fn exists(&mut self, f: Node, vars: &[Var]) -> Outcome {
        match Bound::new(self, vars) {
            Some(bound) => run(self, &mut Quantify::<true> { bound }, f),
            None => Ok(f),
        }
    }

    pub(crate) fn forall(&mut self, f: Node, vars: &[Var]) -> Outcome {
        match Bound::new(self, vars) {
            Some(bound) => run(self, &mut Quantify::<false> { bound }, f),
            None => Ok(f),
        }
    }

    pub(crate) fn and_exists(&mut self, f: Node, g: Node, vars: &[Var]) -> Outcome {
        match Bound::new(self, vars) {
            Some(bound) => run(self, &mut AndExists { bound }, [f, g]),
            None => self.and(f, g),
        }
    }
}
