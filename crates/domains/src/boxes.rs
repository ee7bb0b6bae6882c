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
    use crate::laws::Rng;
    use crate::ldd_space::LddCtx;
    use crate::{Dim, Interval, Lattice, LinCons, LinExpr, MachineInt, NumericDomain, Rel, Thresholds};
    use palisade_base::{Budget, Stop};
    use palisade_dd::Limits;

    crate::laws::laws!(Boxes, LddCtx::new(Limits::default()));

    fn dim(rng: &mut Rng) -> Dim {
        Dim::int(rng.below(3) as u32)
    }

    fn expr(rng: &mut Rng) -> LinExpr {
        let mut e = LinExpr::constant(rng.range(-3, 3));
        for _ in 0..rng.below(4) {
            e = e.add_scaled(&LinExpr::dim(dim(rng)), &Rat::from(rng.range(-2, 2)));
        }
        e
    }

    /// A union of a few boxes, some with free dimensions.
    fn element(rng: &mut Rng, ctx: &LddCtx) -> Boxes {
        let mut all = Boxes::bottom(ctx);
        for _ in 0..1 + rng.below(4) {
            let mut one = Boxes::top(ctx);
            for d in 0..3 {
                if rng.below(6) > 0 {
                    let k = rng.range(-4, 4);
                    one.assign_interval(Dim::int(d), &Interval::closed(k, k + rng.range(0, 3)));
                }
            }
            all.join_with(&one);
        }
        all
    }

    /// The boxes of an element as elements.
    fn parts(ctx: &LddCtx, x: &Boxes) -> Vec<Boxes> {
        let conjunction = |cs: Vec<LinCons>| {
            let mut b = Boxes::top(ctx);
            cs.iter().for_each(|c| b.assume(c));
            b
        };
        x.to_constraints().into_iter().map(conjunction).collect()
    }

    #[test]
    fn theorem_1_holds_for_products_too() {
        let ctx = LddCtx::new(Limits::default());
        let mut rng = Rng::new(5);
        for round in 0..3000 {
            let mut x = element(&mut rng, &ctx);
            if rng.below(3) == 0 {
                x.meet_with(&element(&mut rng, &ctx));
            }
            let boxes = parts(&ctx, &x);
            let command: Box<dyn Fn(&mut Boxes)> = match rng.below(4) {
                0 => {
                    let (d, e) = (dim(&mut rng), expr(&mut rng));
                    Box::new(move |b: &mut Boxes| b.assign(d, &e))
                }
                1 | 2 => {
                    let rel = rng.pick(&[Rel::Le, Rel::Lt, Rel::Eq, Rel::Ne]).clone();
                    let c = LinCons { expr: expr(&mut rng), rel };
                    Box::new(move |b: &mut Boxes| b.assume(&c))
                }
                _ => {
                    let (d, signed) = (dim(&mut rng), rng.below(2) == 0);
                    Box::new(move |b: &mut Boxes| b.wrap(d, MachineInt { width: 2, signed }))
                }
            };
            let mut union = Boxes::bottom(&ctx);
            for mut b in boxes {
                command(&mut b);
                union.join_with(&b);
            }
            let before = format!("{x:?}");
            command(&mut x);
            assert!(x.equiv(&union), "round {round} on {before}: {x:?} is not {union:?}");
        }
    }

    #[test]
    fn branches_stay_apart() {
        // if (c) { x = 1; y = 1; } else { x = 5; y = 2; }
        let ctx = LddCtx::new(Limits::default());
        let (x, y, z) = (Dim::int(0), Dim::int(1), Dim::int(2));
        let branch = |a: i64, b: i64| {
            let mut s = Boxes::top(&ctx);
            s.assign(z, &LinExpr::constant(7));
            s.assign(x, &LinExpr::constant(a));
            s.assign(y, &LinExpr::constant(b));
            s
        };
        let s = branch(1, 1).join(&branch(5, 2));
        let mut low = s.clone();
        low.assume(&LinCons::le(x, 2));
        assert_eq!(low.bounds_of(y), Interval::point(1));
        let mut gap = s.clone();
        gap.assume(&LinCons::eq(x, 3));
        assert!(gap.is_bottom());
        // y := y + x is known branch by branch.
        let mut sum = s.clone();
        sum.assign(y, &(&LinExpr::dim(y) + &LinExpr::dim(x)));
        sum.assume(&LinCons::ne(y, 2));
        assert_eq!(format!("{sum:?}"), "x0 = 5 && x1 = 7 && x2 = 7");
        assert_eq!(format!("{s:?}"), "x0 = 1 && x1 = 1 && x2 = 7 || x0 = 5 && x1 = 2 && x2 = 7");
        // A disequality inside an interval makes two.
        let mut t = Boxes::top(&ctx);
        t.assign_interval(x, &Interval::closed(0, 9));
        t.assume(&LinCons::ne(x, 4));
        assert_eq!(t.size().1, palisade_num::Int::from(2));
        assert!(!t.contains(&|_| Rat::from(4)) && t.contains(&|_| Rat::from(5)));
        // So does a wrap over the end of a type.
        let mut t = Boxes::top(&ctx);
        t.assign_interval(x, &Interval::closed(120, 130));
        t.wrap(x, MachineInt::signed(8));
        assert_eq!(format!("{t:?}"), "x0 >= -128 && x0 <= -126 || x0 >= 120 && x0 <= 127");
    }

    #[test]
    fn conjuncts_say_what_the_element_says() {
        let ctx = LddCtx::new(Limits::default());
        let mut rng = Rng::new(11);
        for _ in 0..200 {
            let mut x = element(&mut rng, &ctx);
            x.meet_with(&element(&mut rng, &ctx));
            for point in 0..125 {
                let value =
                    |d: Dim| Rat::from([point % 5, point / 5 % 5, point / 25][d.index() as usize] * 2 - 4);
                let said = x.conjuncts(
                    |truth| truth,
                    |d, bound, within, beyond| {
                        let below = Interval { lo: None, hi: Some(bound.clone()) };
                        if below.contains(&value(d)) { within } else { beyond }
                    },
                );
                assert_eq!(said.iter().all(|c| *c), x.contains(&value), "{x:?} at {point}");
            }
        }
    }

    #[test]
    fn a_loop_reaches_its_bound() {
        // for (i = 0; i < 100; i++) with a flag that changes once.
        let ctx = LddCtx::new(Limits::default());
        let (i, flag) = (Dim::int(0), Dim::int(1));
        // The constants of the program.
        let th = Thresholds::new([0, 1, 7, 100].map(Rat::from), []);
        let mut head = Boxes::top(&ctx);
        head.assign(i, &LinExpr::constant(0));
        head.assign(flag, &LinExpr::constant(0));
        for _ in 0..20 {
            let mut body = head.clone();
            body.assume(&LinCons::lt(i, 100));
            let mut set = body.clone();
            set.assume(&LinCons::eq(i, 7));
            set.assign(flag, &LinExpr::constant(1));
            body.assume(&LinCons::ne(i, 7));
            body.join_with(&set);
            body.assign(i, &LinExpr::dim(i).add_constant(&Rat::ONE));
            if !head.widen_with_thresholds(&body, &th) {
                break;
            }
        }
        assert_eq!(head.bounds_of(i), Interval::closed(0, 100));
        assert_eq!(head.bounds_of(flag), Interval::closed(0, 1));
        let mut exit = head;
        exit.assume(&LinCons::ge(i, 100));
        assert_eq!(exit.bounds_of(i), Interval::point(100));
    }

    /// Random commands on an element and on one concrete state that it must keep covering.
    fn follow(ctx: &LddCtx, seed: u64, stop: Option<(&Budget, usize)>) {
        let mut rng = Rng::new(seed);
        let mut state: Vec<i64> = (0..8).map(|_| rng.range(-5, 5)).collect();
        let mut x = Boxes::top(ctx);
        for (d, v) in state.iter().enumerate() {
            x.assign(Dim::int(d as u32), &LinExpr::constant(*v));
        }
        for step in 0..120 {
            if let Some((budget, at)) = stop
                && step == at
            {
                budget.stop(Stop::Time);
            }
            let (d, e) = (rng.below(8) as usize, rng.below(8) as usize);
            let (dd, de) = (Dim::int(d as u32), Dim::int(e as u32));
            let k = rng.range(-4, 4);
            match rng.below(6) {
                0 => {
                    x.assign(dd, &LinExpr::dim(de).add_constant(&Rat::from(k)));
                    state[d] = state[e] + k;
                }
                1 => {
                    let sum = &LinExpr::dim(dd) + &LinExpr::dim(de);
                    x.assign(dd, &sum);
                    state[d] += state[e];
                    x.wrap(dd, MachineInt::signed(6));
                    state[d] = (state[d] + 32).rem_euclid(64) - 32;
                }
                2 => {
                    let c = LinCons::le(dd, LinExpr::dim(de).add_constant(&Rat::from(k)));
                    if c.holds(&|q| Rat::from(state[q.index() as usize])) {
                        x.assume(&c);
                    }
                }
                3 | 4 => {
                    let mut other = x.clone();
                    other.assign(dd, &LinExpr::constant(k));
                    other.assign(de, &LinExpr::constant(k + 1));
                    x.join_with(&other);
                }
                _ => {
                    let mut other = x.clone();
                    other.assign(dd, &LinExpr::dim(dd).add_constant(&Rat::ONE));
                    x.widen_with(&other);
                }
            }
            assert!(x.contains(&|q| Rat::from(state[q.index() as usize])), "seed {seed}, step {step}");
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_joined_alone() {
        let ctx = LddCtx::with_element_limit(Limits::default(), 32);
        let all = |k: i64| {
            let mut x = Boxes::top(&ctx);
            (0..40).for_each(|d| x.assign(Dim::int(d), &LinExpr::constant(k)));
            x
        };
        let both = all(0).join(&all(2));
        assert!(all(0).leq(&both) && all(2).leq(&both));
        assert_eq!(ctx.merges(), 1);
        // Four are still told apart together; what is alone keeps its own partitions.
        let mut low = both;
        low.assume(&LinCons::eq(Dim::int(0), 0));
        let is = |d: u32| low.bounds_of(Dim::int(d));
        assert_eq!([is(3), is(4)], [Interval::point(0), Interval::closed(0, 2)]);
        low.assume(&LinCons::eq(Dim::int(30), 1));
        assert!(low.is_bottom());
    }

    #[test]
    fn limits_weaken_but_never_lose_states() {
        for seed in 0..40 {
            let nodes = [8, 20, 60, 400][seed as usize % 4];
            follow(&LddCtx::new(Limits { nodes, ..Limits::default() }), seed, None);
            let budget = Budget::unlimited();
            let limits = Limits { budget: budget.clone(), ..Limits::default() };
            follow(&LddCtx::new(limits), seed, Some((&budget, 10 + seed as usize)));
            let room = [4, 8, 12, 16][seed as usize % 4];
            follow(&LddCtx::with_element_limit(Limits::default(), room), seed, None);
        }
    }
}
