//! BOXES: finite unions of boxes on linear decision diagrams (Gurfinkel and Chaki).
//!
//! Order, join and meet are those of sets. A transformer is the union of the best transformer of BOX
//! over the boxes of the diagram (Theorem 1). The widening is that of section 4, within the least box
//! around the arguments that has its bounds among the thresholds.

use palisade_dd::{Ldd, Node, Outcome};
use palisade_num::Rat;

use crate::ldd_domain::{OnLdd, Policy};

/// A finite union of boxes on a linear decision diagram.
pub type Boxes = OnLdd<Union>;

/// Any union of boxes, up to a number of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Union;

/// Nodes of one element above which joins and widenings give the hull instead.
///
/// Widening sequences still stabilise: when the hull of a hull grows, widening makes at least one of
/// its bounds infinite, so sequences meet this limit finitely often.
const MAX_ELEMENT: usize = 1 << 16;

impl Union {
    fn bounded(ldd: &mut Ldd, f: Node, before: usize) -> Outcome<Node> {
        // An operation that made few nodes did not make a large element out of small ones.
        let made = ldd.stats().nodes - before;
        if made > MAX_ELEMENT / 4 && ldd.size(f) > MAX_ELEMENT { ldd.hull(f) } else { Ok(f) }
    }
}

impl Policy for Union {
    fn settle(_: &mut Ldd, f: Node) -> Outcome<Node> {
        Ok(f)
    }

    fn join(ldd: &mut Ldd, f: Node, g: Node) -> Outcome<Node> {
        let before = ldd.stats().nodes;
        let r = ldd.or(f, g)?;
        Union::bounded(ldd, r, before)
    }

    fn widen(ldd: &mut Ldd, f: Node, g: Node, thresholds: &[Rat]) -> Outcome<Node> {
        let before = ldd.stats().nodes;
        let r = ldd.widen_up_to(f, g, thresholds)?;
        Union::bounded(ldd, r, before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ldd_domain::LddCtx;
    use palisade_dd::Limits;

    crate::laws::laws!(Boxes, LddCtx::new(Limits::default()));
}
