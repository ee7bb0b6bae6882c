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
    use crate::laws::Rng;
    use crate::ldd_space::LddCtx;
    use crate::{Dim, Interval, Intervals, Lattice, LinCons, LinExpr, MachineInt, NumericDomain, Thresholds};
    use palisade_dd::Limits;

    crate::laws::laws!(LddBox, LddCtx::new(Limits::default()));

    const DIMS: u32 = 4;

    fn dims() -> Vec<Dim> {
        (0..DIMS).map(Dim::int).chain([Dim::rat(0)]).collect()
    }

    /// One random command, for any domain.
    fn step<D: NumericDomain>(rng: &mut Rng, pool: &mut [D]) {
        let i = rng.below(pool.len() as u64) as usize;
        let j = rng.below(pool.len() as u64) as usize;
        let (d, e) = (*rng.pick(&dims()), *rng.pick(&dims()));
        let k = rng.range(-6, 6);
        let other = pool[j].clone();
        let x = &mut pool[i];
        match rng.below(11) {
            0 => x.assign(d, &LinExpr::constant(k)),
            1 if d.is_int() == e.is_int() => x.assign(d, &LinExpr::dim(e).add_constant(&Rat::from(k))),
            2 => x.assign(d, &LinExpr::dim(d).scale(&Rat::from(k % 3)).add_constant(&Rat::from(k))),
            3 => x.assign_interval(d, &Interval::closed(k, k + rng.range(0, 9))),
            4 => x.assume(&LinCons::le(d, k)),
            5 => x.assume(&LinCons::gt(d, k)),
            6 => x.assume(&LinCons::ne(d, k)),
            7 => x.forget(&[d]),
            8 => drop(x.join_with(&other)),
            9 => {
                x.widen_with_thresholds(&other, &Thresholds::new([-10, 0, 5, 20].map(Rat::from), []));
            }
            _ if d.is_int() => x.wrap(d, MachineInt { width: 3, signed: k > 0 }),
            _ => x.meet_with(&other),
        }
        if x.is_bottom() {
            x.join_with(&other);
        }
    }

    #[test]
    fn agrees_with_intervals() {
        for seed in 0..60 {
            let ctx = LddCtx::new(Limits::default());
            let mut boxes = vec![LddBox::top(&ctx); 3];
            let mut plain = vec![Intervals::top(&()); 3];
            let (mut r, mut s) = (Rng::new(seed), Rng::new(seed));
            for n in 0..150 {
                step(&mut r, &mut boxes);
                step(&mut s, &mut plain);
                for (a, b) in boxes.iter().zip(&plain) {
                    for d in dims() {
                        assert_eq!(a.bounds_of(d), b.bounds_of(d), "seed {seed}, step {n}, {d}: {a:?} {b:?}");
                    }
                    assert_eq!(a.is_bottom(), b.is_bottom());
                }
                for i in 0..3 {
                    for j in 0..3 {
                        assert_eq!(boxes[i].leq(&boxes[j]), plain[i].leq(&plain[j]));
                    }
                }
            }
        }
    }
}
