//! The widening of BOXES (section 4), by the step function construction.
//!
//! A diagram is a step function of its top variable x: its chain lists the partitions of the line
//! with their values. The widening of `f ⊑ g` takes, on each class of the common refinement of both
//! partitions, the recursive widening of the two values, with one exception (Definition 1): a class on
//! which `g` refined a partition of `f` without changing its value takes over the result of a
//! neighbour in that partition, so that no partition can be refined for ever.
//!
//! The printed WIDEN and WR (Figure 6) are derived anew from Definition 1 here. They differ from the
//! definition in that line 7 returns `g` as soon as both remainders agree and still test x, although the
//! first of the remaining classes may have to take over its predecessor's value (case 3), and line 14
//! passes `nil` down where the value of the current class is needed.

use palisade_num::Rat;

use super::{Cut, Interval, Ldd};
use crate::kernel::{Kernel, Outcome};
use crate::node::{Label, Node};
use crate::run::{Operation, Step, run};
use crate::tables::OpCode;

/// Widening of `f` by `g`, or of what remains of them within the chain of a variable.
#[derive(Clone, Copy)]
struct Args {
    f: Node,
    g: Node,
    /// The level of the chain that is being followed; `None` at the start of a chain.
    chain: Option<u32>,
    /// The result of the class before this one, if that class lies in the same partition of `f`.
    previous: Node,
}

impl Args {
    /// Arguments whose widening is `node`.
    fn known(node: Node) -> Args {
        Args { f: node, g: node, chain: None, previous: Node::NIL }
    }
}

/// Stands for the result of the class that follows. Never a node: identifiers end far below.
const AS_NEXT: Node = Node(u32::MAX - 1);

/// Whether the class that `label` closes is the last of its partition of `f`.
#[inline]
fn ends(k: &Kernel<true>, f: Node, label: Label) -> bool {
    k.cell(f).label == label
}

struct Widen;

impl Operation<Kernel<true>> for Widen {
    type Args = Args;

    fn enter(&mut self, k: &mut Kernel<true>, args: &mut Args) -> Outcome<Step<Args>> {
        let Args { f, g, mut previous, .. } = *args;
        if f == g {
            if previous == Node::NIL {
                return Ok(Step::Done(g));
            }
            // The class was refined and not changed, and is the last of its partition in f: case 3.
            // Whatever follows it agrees and was not refined: case 1.
            let c = k.cell(f);
            return Ok(Step::Done(if Some(k.label_level(c.label)) == args.chain {
                k.mk(c.label, previous, c.low)?
            } else {
                previous
            }));
        }
        let (label, high, low) = k.split2(f, g);
        let level = k.label_level(label);
        if args.chain != Some(level) {
            // The last class of a chain, where f and g differ (case 1), or the very start.
            previous = Node::NIL;
            *args = Args { f, g, chain: None, previous };
            if f == Node::FALSE || g == Node::TRUE {
                return Ok(Step::Done(g));
            }
            if let Some(r) = k.cache.get(OpCode::Widen, f, g.0, 0) {
                return Ok(Step::Done(r));
            }
        }
        let ([fh, gh], [fl, gl]) = (high, low);
        let rest = Args { f: fl, g: gl, chain: Some(level), previous: Node::NIL };
        let value = if fh != gh || (ends(k, f, label) && previous == Node::NIL) {
            // Case 1.
            Args { f: fh, g: gh, chain: None, previous: Node::NIL }
        } else if ends(k, f, label) {
            // Case 3.
            Args::known(previous)
        } else {
            // Case 2: the next class lies in the same partition of f and decides for both.
            Args::known(AS_NEXT)
        };
        Ok(Step::Split { label, high: value, low: rest })
    }

    fn after_high(
        &mut self,
        k: &mut Kernel<true>,
        args: &Args,
        label: Label,
        high: Node,
        low: &mut Args,
    ) -> Option<Node> {
        if high != AS_NEXT && !ends(k, args.f, label) {
            low.previous = high;
        }
        None
    }

    fn join(&mut self, k: &mut Kernel<true>, _: &Args, label: Label, high: Node, low: Node) -> Outcome {
        if high == AS_NEXT { Ok(low) } else { k.mk(label, high, low) }
    }

    fn remember(&mut self, k: &mut Kernel<true>, args: &Args, result: Node) {
        if args.chain.is_none() {
            k.cache.put(OpCode::Widen, args.f, args.g.0, 0, result);
        }
    }
}

impl Ldd {
    /// The widening of `f` by `g`; works on `f ∪ g` where `f` is no subset of `g`.
    pub fn widen(&mut self, f: Node, g: Node) -> Outcome {
        let g = self.or(f, g)?;
        run(&mut self.k, &mut Widen, Args { f, g, chain: None, previous: Node::NIL })
    }

    /// The widening of `f` by `g` within the standard widening of their hulls, where bounds that grow go
    /// to the next of `thresholds` (sorted) or to infinity.
    ///
    /// So a bound that does not change stays, although the step functions alone may lose it (Example 4). As
    /// long as no bound of the hull grows, this is Definition 1 with a box in the place of the whole
    /// space, so sequences stabilise as before.
    pub fn widen_up_to(&mut self, f: Node, g: Node, thresholds: &[Rat]) -> Outcome {
        let g = self.or(f, g)?;
        let wide = self.widen(f, g)?;
        if wide == g {
            return Ok(wide);
        }
        let (old, new) = (self.hull(f)?, self.hull(g)?);
        let frame = self.box_widen(old, new, thresholds)?;
        self.and(wide, frame)
    }
}

/// The least interval around `side` with bounds among `thresholds` or infinite.
pub(super) fn next_thresholds(side: &Interval, thresholds: &[Rat]) -> Interval {
    let lo = side.lo.as_ref().and_then(|c| {
        let below = thresholds.partition_point(|t| *t <= c.k);
        below.checked_sub(1).map(|i| Cut::lt(thresholds[i].clone()))
    });
    let hi = side.hi.as_ref().and_then(|c| {
        let from = thresholds.partition_point(|t| *t < c.k);
        thresholds.get(from).map(|t| Cut::le(t.clone()))
    });
    Interval { lo, hi }
}
