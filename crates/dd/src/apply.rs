//! The propositional operations: And, Or, Xor, difference, Not, Ite and Leq (Table 1 and Figure 2 of
//! the BOXES paper).

use crate::kernel::{Kernel, Outcome};
use crate::node::{Label, Node};
use crate::run::{Operation, Step, run};
use crate::tables::OpCode;

/// A binary operation on Boolean diagrams, given by its terminal cases.
trait Binary {
    const CODE: OpCode;
    /// Whether the operands may be exchanged.
    const COMMUTES: bool;
    /// The result when it follows without looking into the operands.
    fn short(f: Node, g: Node) -> Option<Node>;
}

struct And;
impl Binary for And {
    const CODE: OpCode = OpCode::And;
    const COMMUTES: bool = true;
    #[inline]
    fn short(f: Node, g: Node) -> Option<Node> {
        match (f, g) {
            (Node::FALSE, _) | (_, Node::FALSE) => Some(Node::FALSE),
            (Node::TRUE, r) | (r, Node::TRUE) => Some(r),
            _ if f == g => Some(f),
            _ => None,
        }
    }
}

struct Or;
impl Binary for Or {
    const CODE: OpCode = OpCode::Or;
    const COMMUTES: bool = true;
    #[inline]
    fn short(f: Node, g: Node) -> Option<Node> {
        match (f, g) {
            (Node::TRUE, _) | (_, Node::TRUE) => Some(Node::TRUE),
            (Node::FALSE, r) | (r, Node::FALSE) => Some(r),
            _ if f == g => Some(f),
            _ => None,
        }
    }
}

/// `f ∧ ¬g`.
struct Diff;
impl Binary for Diff {
    const CODE: OpCode = OpCode::Diff;
    const COMMUTES: bool = false;
    #[inline]
    fn short(f: Node, g: Node) -> Option<Node> {
        match (f, g) {
            (Node::FALSE, _) | (_, Node::TRUE) => Some(Node::FALSE),
            (_, Node::FALSE) => Some(f),
            _ if f == g => Some(Node::FALSE),
            _ => None,
        }
    }
}

struct Xor;
impl Binary for Xor {
    const CODE: OpCode = OpCode::Xor;
    const COMMUTES: bool = true;
    #[inline]
    fn short(f: Node, g: Node) -> Option<Node> {
        match (f, g) {
            (Node::FALSE, r) | (r, Node::FALSE) => Some(r),
            _ if f == g => Some(Node::FALSE),
            (Node::TRUE, Node::TRUE) => Some(Node::FALSE),
            _ => None,
        }
    }
}

struct Apply<B>(std::marker::PhantomData<B>);

impl<const LINEAR: bool, B: Binary> Operation<Kernel<LINEAR>> for Apply<B> {
    type Args = [Node; 2];

    #[inline]
    fn enter(&mut self, k: &mut Kernel<LINEAR>, args: &mut [Node; 2]) -> Outcome<Step<[Node; 2]>> {
        let [f, g] = *args;
        if let Some(r) = B::short(f, g) {
            return Ok(Step::Done(r));
        }
        if B::COMMUTES && g < f {
            *args = [g, f];
        }
        if let Some(r) = k.cache.get(B::CODE, args[0], args[1].0, 0) {
            return Ok(Step::Done(r));
        }
        let (label, high, low) = k.split2(args[0], args[1]);
        Ok(Step::Split { label, high, low })
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
        k.mk(label, high, low)
    }

    #[inline]
    fn remember(&mut self, k: &mut Kernel<LINEAR>, args: &[Node; 2], result: Node) {
        k.cache.put(B::CODE, args[0], args[1].0, 0, result);
    }
}

fn apply<const LINEAR: bool, B: Binary>(k: &mut Kernel<LINEAR>, f: Node, g: Node) -> Outcome {
    match B::short(f, g) {
        Some(r) => Ok(r),
        None => run(k, &mut Apply::<B>(std::marker::PhantomData), [f, g]),
    }
}

struct Not;

impl<const LINEAR: bool> Operation<Kernel<LINEAR>> for Not {
    type Args = Node;

    #[inline]
    fn enter(&mut self, k: &mut Kernel<LINEAR>, f: &mut Node) -> Outcome<Step<Node>> {
        if f.is_constant() {
            return Ok(Step::Done(Node(f.0 ^ 1)));
        }
        if let Some(r) = k.cache.get(OpCode::Not, *f, 0, 0) {
            return Ok(Step::Done(r));
        }
        let c = k.cell(*f);
        Ok(Step::Split { label: c.label, high: c.high, low: c.low })
    }

    #[inline]
    fn join(&mut self, k: &mut Kernel<LINEAR>, _: &Node, label: Label, high: Node, low: Node) -> Outcome {
        k.mk(label, high, low)
    }

    #[inline]
    fn remember(&mut self, k: &mut Kernel<LINEAR>, f: &Node, result: Node) {
        k.cache.put(OpCode::Not, *f, 0, 0, result);
        k.cache.put(OpCode::Not, result, 0, 0, *f);
    }
}

struct Ite;

impl<const LINEAR: bool> Operation<Kernel<LINEAR>> for Ite {
    type Args = [Node; 3];

    #[inline]
    fn enter(&mut self, k: &mut Kernel<LINEAR>, args: &mut [Node; 3]) -> Outcome<Step<[Node; 3]>> {
        let [f, mut g, mut h] = *args;
        if f == g {
            g = Node::TRUE;
        }
        if f == h {
            h = Node::FALSE;
        }
        let short = match (f, g, h) {
            (Node::TRUE, r, _) | (Node::FALSE, _, r) => Some(r),
            (f, Node::TRUE, h) => Some(k.or(f, h)?),
            (f, g, Node::FALSE) => Some(k.and(f, g)?),
            (f, Node::FALSE, h) => Some(k.diff(h, f)?),
            (_, g, h) if g == h => Some(g),
            _ => None,
        };
        if let Some(r) = short {
            return Ok(Step::Done(r));
        }
        *args = [f, g, h];
        if let Some(r) = k.cache.get(OpCode::Ite, f, g.0, h.0) {
            return Ok(Step::Done(r));
        }
        let label = [f, g, h].map(|n| k.cell(n).label).into_iter().min_by_key(|&l| k.rank(l));
        let label = label.unwrap_or(Label::TERMINAL);
        let (fh, fl) = k.split1(label, f);
        let (gh, gl) = k.split1(label, g);
        let (hh, hl) = k.split1(label, h);
        Ok(Step::Split { label, high: [fh, gh, hh], low: [fl, gl, hl] })
    }

    #[inline]
    fn join(
        &mut self,
        k: &mut Kernel<LINEAR>,
        _: &[Node; 3],
        label: Label,
        high: Node,
        low: Node,
    ) -> Outcome {
        k.mk(label, high, low)
    }

    #[inline]
    fn remember(&mut self, k: &mut Kernel<LINEAR>, [f, g, h]: &[Node; 3], result: Node) {
        k.cache.put(OpCode::Ite, *f, g.0, h.0, result);
    }
}

/// Implication, with the answer as a terminal; stops at the first branch that refutes it.
struct Leq;

impl<const LINEAR: bool> Operation<Kernel<LINEAR>> for Leq {
    type Args = [Node; 2];

    #[inline]
    fn enter(&mut self, k: &mut Kernel<LINEAR>, args: &mut [Node; 2]) -> Outcome<Step<[Node; 2]>> {
        let [f, g] = *args;
        if f == g || f == Node::FALSE || g == Node::TRUE {
            return Ok(Step::Done(Node::TRUE));
        }
        if f == Node::TRUE || g == Node::FALSE {
            return Ok(Step::Done(Node::FALSE));
        }
        if let Some(r) = k.cache.get(OpCode::Leq, f, g.0, 0) {
            return Ok(Step::Done(r));
        }
        let (label, high, low) = k.split2(f, g);
        Ok(Step::Split { label, high, low })
    }

    #[inline]
    fn after_high(
        &mut self,
        _k: &mut Kernel<LINEAR>,
        _args: &[Node; 2],
        _label: Label,
        high: Node,
        _low: &mut [Node; 2],
    ) -> Option<Node> {
        (high == Node::FALSE).then_some(Node::FALSE)
    }

    #[inline]
    fn join(&mut self, _k: &mut Kernel<LINEAR>, _: &[Node; 2], _: Label, _: Node, low: Node) -> Outcome {
        Ok(low)
    }

    #[inline]
    fn remember(&mut self, k: &mut Kernel<LINEAR>, [f, g]: &[Node; 2], result: Node) {
        k.cache.put(OpCode::Leq, *f, g.0, 0, result);
    }
}

impl<const LINEAR: bool> Kernel<LINEAR> {
    pub(crate) fn and(&mut self, f: Node, g: Node) -> Outcome {
        apply::<LINEAR, And>(self, f, g)
    }

    pub(crate) fn or(&mut self, f: Node, g: Node) -> Outcome {
        apply::<LINEAR, Or>(self, f, g)
    }

    pub(crate) fn xor(&mut self, f: Node, g: Node) -> Outcome {
        apply::<LINEAR, Xor>(self, f, g)
    }

    pub(crate) fn diff(&mut self, f: Node, g: Node) -> Outcome {
        apply::<LINEAR, Diff>(self, f, g)
    }

    pub(crate) fn not(&mut self, f: Node) -> Outcome {
        run(self, &mut Not, f)
    }

    pub(crate) fn ite(&mut self, f: Node, g: Node, h: Node) -> Outcome {
        run(self, &mut Ite, [f, g, h])
    }

    /// Whether `f` implies `g`.
    pub(crate) fn leq(&mut self, f: Node, g: Node) -> Outcome<bool> {
        Ok(run(self, &mut Leq, [f, g])? == Node::TRUE)
    }
}
