//! Merging boxes gives small sets between a set and its hull.

use super::{Rng, rat};
use crate::{Interval, Kind, Ldd, Limits, Node, OutOfBudget, Var};

fn union(ldd: &mut Ldd, rng: &mut Rng, vars: &[Var], boxes: usize) -> Node {
    let mut all = Node::FALSE;
    for _ in 0..boxes {
        let mut sides = Vec::new();
        for &v in vars {
            if rng.below(5) > 0 {
                let k = rng.range(-40, 40);
                sides.push((v, Interval::closed(rat(k), rat(k + rng.range(0, 20)))));
            }
        }
        let one = ldd.product(&sides).unwrap();
        all = ldd.or(all, one).unwrap();
    }
    all
}

#[test]
fn between_a_set_and_its_hull() {
    let mut rng = Rng(11);
    for round in 0..400 {
        let mut ldd = Ldd::new(Limits::default());
        let kind = if round % 2 == 0 { Kind::Int } else { Kind::Real };
        let vars: Vec<Var> = (0..4).map(|_| ldd.new_var(kind).unwrap()).collect();
        let boxes = 1 + rng.below(12);
        let f = union(&mut ldd, &mut rng, &vars, boxes);
        let hull = ldd.hull(f).unwrap();
        let mut before = f;
        for nodes in [1000, 60, 30, 15, 0] {
            let merged = ldd.merge_boxes(before, nodes).unwrap();
            assert!(ldd.leq(before, merged).unwrap() && ldd.leq(merged, hull).unwrap(), "round {round}");
            assert!(ldd.size(merged) <= nodes || merged == hull, "round {round}: {nodes}");
            assert!(ldd.k.is_canonical(merged));
            before = merged;
        }
        assert_eq!(before, hull);
    }
}

/// Two counters in step and a flag: the values of the counters lie closer than those of the flag tell apart.
#[test]
fn flags_are_told_apart_longest() {
    let mut ldd = Ldd::new(Limits::default());
    let [flag, i, j] = [0; 3].map(|_| ldd.new_var(Kind::Int).unwrap());
    let mut f = Node::FALSE;
    for k in 0..40 {
        let at = |v: Var, k: i64| (v, Interval::point(rat(k)));
        let b = ldd.product(&[at(flag, i64::from(k >= 20)), at(i, 3 * k), at(j, 2 * k)]).unwrap();
        f = ldd.or(f, b).unwrap();
    }
    let merged = ldd.merge_boxes(f, 40).unwrap();
    assert!(merged != f && ldd.size(merged) <= 40);
    let low = ldd.interval(flag, &Interval::point(rat(0))).unwrap();
    let low = ldd.and(merged, low).unwrap();
    // One of the counters may have lost all of its cuts, but not both before the flag.
    assert!([i, j].iter().any(|&v| ldd.bounds(low, v) != ldd.bounds(merged, v)));
}

#[test]
fn steps_are_counted_and_limited() {
    let mut ldd = Ldd::new(Limits::default());
    let mut rng = Rng(3);
    let vars: Vec<Var> = (0..12).map(|_| ldd.new_var(Kind::Int).unwrap()).collect();
    let f = union(&mut ldd, &mut rng, &vars, 40);
    let g = union(&mut ldd, &mut rng, &vars, 40);
    let before = ldd.stats().work;
    assert!(before > 0);
    ldd.allow(100);
    assert_eq!(ldd.and(f, g), Err(OutOfBudget::Work));
    ldd.allow(u64::MAX);
    assert!(ldd.and(f, g).is_ok() && ldd.stats().work > before);
}
