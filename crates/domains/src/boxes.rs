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

/// Any union of boxes.
#[derive(Clone, Copy, Debug)]
pub struct Union;

impl Policy for Union {
    const UNIONS: bool = true;

    fn settle(_: &mut Ldd, f: Node) -> Outcome<Node> {
        Ok(f)
    }

    fn join(ldd: &mut Ldd, f: Node, g: Node) -> Outcome<Node> {
        ldd.or(f, g)
    }

    fn widen(ldd: &mut Ldd, f: Node, g: Node, thresholds: &[Rat]) -> Outcome<Node> {
        ldd.widen_up_to(f, g, thresholds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ldd_space::LddCtx;
    use palisade_dd::Limits;

    crate::laws::laws!(Boxes, LddCtx::new(Limits::default()));
}
