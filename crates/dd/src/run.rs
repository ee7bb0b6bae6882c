//! The driver of recursive operations. Diagrams can be deeper than any thread's stack (one level per
//! bound of every variable), so recursion keeps its frames on the heap.

use crate::kernel::{Kernel, Outcome};
use crate::node::{Label, Node};

/// What an operation works on: a kernel, or a manager that owns one.
pub(crate) trait Host {
    /// `Err` once the budget token asked to stop.
    fn check_budget(&self) -> Outcome<()>;

    /// Counts steps; `Err` once they are too many.
    fn count(&mut self, steps: u32) -> Outcome<()>;
}

impl<const LINEAR: bool> Host for Kernel<LINEAR> {
    fn check_budget(&self) -> Outcome<()> {
        self.check()
    }

    fn count(&mut self, steps: u32) -> Outcome<()> {
        Kernel::count(self, steps)
    }
}

/// How an operation starts on given arguments.
pub(crate) enum Step<A> {
    /// The result is known: a terminal case or a remembered result.
    Done(Node),
    /// The results for both cofactors by `label` are needed first.
    Split {
        /// The decision that separates the two.
        label: Label,
        /// Arguments under the decision.
        high: A,
        /// Arguments under its negation.
        low: A,
    },
}

/// A memoised operation that recurs into the cofactors by one decision.
pub(crate) trait Operation<H: Host> {
    /// Arguments of one call.
    type Args: Copy;

    /// Terminal cases, then the cache, then the split. May bring `args` into a normal form, which is
    /// what [`Operation::remember`] then sees.
    fn enter(&mut self, k: &mut H, args: &mut Self::Args) -> Outcome<Step<Self::Args>>;

    /// Looks at the result of the high branch before the low one is entered: may decide the whole
    /// result, or adjust the arguments of the low branch.
    #[inline]
    fn after_high(
        &mut self,
        _k: &mut H,
        _args: &Self::Args,
        _label: Label,
        _high: Node,
        _low: &mut Self::Args,
    ) -> Option<Node> {
        None
    }

    /// Puts the results of both branches together.
    fn join(&mut self, k: &mut H, args: &Self::Args, label: Label, high: Node, low: Node) -> Outcome;

    /// Stores a computed result in the cache.
    fn remember(&mut self, k: &mut H, args: &Self::Args, result: Node);
}

struct Frame<A> {
    args: A,
    low: A,
    label: Label,
    /// The result of the high branch, or `NIL` while it is computed.
    high: Node,
}

/// Steps between two looks at the budget.
const PERIOD: u32 = 1 << 14;

/// Runs `op` on `args`.
pub(crate) fn run<H: Host, O: Operation<H>>(k: &mut H, op: &mut O, mut args: O::Args) -> Outcome {
    let mut stack: Vec<Frame<O::Args>> = Vec::new();
    let mut steps = 0u32;
    loop {
        steps += 1;
        if steps == PERIOD {
            k.count(steps)?;
            k.check_budget()?;
            steps = 0;
        }
        let mut result = match op.enter(k, &mut args)? {
            Step::Done(node) => node,
            Step::Split { label, high, low } => {
                stack.push(Frame { args, low, label, high: Node::NIL });
                args = high;
                continue;
            }
        };
        // Give the result to the frames that wait for it.
        loop {
            let Some(top) = stack.last_mut() else {
                k.count(steps)?;
                return Ok(result);
            };
            if top.high == Node::NIL {
                match op.after_high(k, &top.args, top.label, result, &mut top.low) {
                    Some(whole) => result = whole,
                    None => {
                        top.high = result;
                        args = top.low;
                        break;
                    }
                }
            } else {
                result = op.join(k, &top.args, top.label, top.high, result)?;
            }
            op.remember(k, &top.args, result);
            stack.pop();
        }
    }
}
