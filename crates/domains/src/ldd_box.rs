//! LDD BOX: boxes on linear decision diagrams, with BOXJOIN and the standard widening in the place of
//! Or and WIDEN (BOXES, section 6). A box is the product of one diagram per bounded dimension.

use palisade_dd::{Ldd, Node, Outcome};
use palisade_num::Rat;

use crate::ldd_domain::{OnLdd, Policy};

/// A box on a linear decision diagram.
pub type LddBox = OnLdd<Single>;

/// One box: what is not a box becomes its hull.
#[derive(Clone, Copy, Debug)]
pub struct Single;

impl Policy for Single {
    const UNIONS: bool = false;

    fn settle(ldd: &mut Ldd, f: Node) -> Outcome<Node> {
        if ldd.is_box(f) { Ok(f) } else { ldd.hull(f) }
    }

    fn join(ldd: &mut Ldd, f: Node, g: Node) -> Outcome<Node> {
        ldd.box_join(f, g)
    }

    fn widen(ldd: &mut Ldd, f: Node, g: Node, thresholds: &[Rat]) -> Outcome<Node> {
        ldd.box_widen(f, g, thresholds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ldd_space::LddCtx;
    use palisade_dd::Limits;

    crate::laws::laws!(LddBox, LddCtx::new(Limits::default()));
}
