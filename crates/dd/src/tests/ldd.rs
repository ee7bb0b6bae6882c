//! Every set operation of LDDs against sets of grid points, with canonicity.

use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

use super::{Grid, Model, Rng};
use crate::{Cut, Interval, Ldd, Limits, Manager, Node};

/// Projection (or, with `all`, its dual), one dimension after the other.
fn exists(grid: &Grid, m: &Model, dims: &[usize], all: bool) -> Model {
    dims.iter().fold(m.clone(), |m, &d| {
        grid.set(|i| {
            let mut p = grid.point(i).to_vec();
            let mut hits = (0..grid.values[d].len()).map(|v| {
                p[d] = v;
                m.has(grid.index(&p))
            });
            if all { hits.all(|h| h) } else { hits.any(|h| h) }
        })
    })
}

#[test]
fn equal_sets_have_equal_nodes() {
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(1);
    let mut nodes: FxHashMap<Model, Node> = FxHashMap::default();
    for round in 0..40_000 {
        let (f, m) = grid.random(&mut ldd, &mut rng, 1 + round % 9);
        assert_eq!(grid.of(&ldd, f), m);
        assert_eq!(*nodes.entry(m).or_insert(f), f);
        if round % 16 == 0 {
            assert!(ldd.k.is_canonical(f));
        }
    }
    // Each node has one set too.
    let distinct: rustc_hash::FxHashSet<Node> = nodes.values().copied().collect();
    assert_eq!(distinct.len(), nodes.len());
}

/// 12,000 rounds, in each more than ten results that are compared point by point or with a definition.
#[test]
fn operations_agree_with_brute_force() {
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(2);
    for round in 0..12_000 {
        let (f, m) = grid.random(&mut ldd, &mut rng, 2 + round % 8);
        let (g, n) = grid.random(&mut ldd, &mut rng, 2 + round % 7);
        let (h, o) = grid.random(&mut ldd, &mut rng, 2 + round % 5);
        let ite = ldd.ite(h, f, g).unwrap();
        assert_eq!(grid.of(&ldd, ite), o.zip(&m, |a, b| a & b).zip(&n.zip(&o, |a, b| a & !b), |a, b| a | b));
        assert_eq!(ldd.leq(f, g).unwrap(), m.zip(&n, |a, b| a & !b).is_empty());
        let meet = ldd.and(f, g).unwrap();
        assert!(ldd.leq(meet, f).unwrap());
        let dims: Vec<usize> = (0..3).filter(|_| rng.below(2) == 0).collect();
        let vars: Vec<_> = dims.iter().map(|&d| grid.vars[d]).collect();
        let e = ldd.exists(f, &vars).unwrap();
        assert_eq!(grid.of(&ldd, e), exists(&grid, &m, &dims, false));
        let a = ldd.forall(f, &vars).unwrap();
        assert_eq!(grid.of(&ldd, a), exists(&grid, &m, &dims, true));
        let p = ldd.and_exists(f, g, &vars).unwrap();
        assert_eq!(p, ldd.exists(meet, &vars).unwrap());
        for r in [ite, e, a, p] {
            assert!(ldd.k.is_canonical(r));
        }
        cofactors(&mut ldd, &grid, &mut rng, f, &m);
        boxes_and_bounds(&mut ldd, &grid, f, &m, g);
        factors(&mut ldd, &grid, f);
    }
}

/// Where the constraint has the value, the cofactor agrees; it depends on no decided constraint, so
/// it is the same across the cells that only decided constraints separate.
fn cofactors(ldd: &mut Ldd, grid: &Grid, rng: &mut Rng, f: Node, m: &Model) {
    let d = rng.below(3);
    let cut = grid.cuts[d][rng.below(grid.cuts[d].len())].clone();
    let inside = grid.cut_model(d, &cut);
    for positive in [true, false] {
        let c = ldd.cofactor(f, grid.vars[d], cut.clone(), positive).unwrap();
        assert!(ldd.k.is_canonical(c));
        let care = if positive { inside.clone() } else { grid.full().zip(&inside, |a, b| a & !b) };
        let found = grid.of(ldd, c);
        assert!(found.zip(m, |a, b| a ^ b).zip(&care, |a, b| a & b).is_empty());
        // Cells beyond the cut take the value of the cell next to it.
        let values = &grid.values[d];
        let split = values.iter().filter(|v| cut.admits(v)).count();
        let edge = if positive { split - 1 } else { split };
        let expected = grid.set(|i| {
            let mut p = grid.point(i).to_vec();
            p[d] = if positive { p[d].min(edge) } else { p[d].max(edge) };
            m.has(grid.index(&p))
        });
        assert_eq!(found, expected);
    }
}

/// The factors are independent, multiply to the set, and there are no others.
fn factors(ldd: &mut Ldd, grid: &Grid, f: Node) {
    let split = ldd.split(f).unwrap();
    let mut product = split.core;
    for &(v, set) in &split.alone {
        assert!(ldd.support(set) == [v] && !ldd.support(split.core).contains(&v));
        product = ldd.and(product, set).unwrap();
    }
    assert_eq!(product, f);
    for &v in &grid.vars {
        let others: Vec<_> = grid.vars.iter().copied().filter(|&w| w != v).collect();
        let (own, rest) = (ldd.exists(f, &others).unwrap(), ldd.exists(f, &[v]).unwrap());
        let independent = ldd.support(f).contains(&v) && ldd.and(own, rest).unwrap() == f && f != Node::FALSE;
        assert_eq!(split.alone.iter().any(|a| a.0 == v), independent);
    }
}

fn boxes_and_bounds(ldd: &mut Ldd, grid: &Grid, f: Node, m: &Model, g: Node) {
    // The boxes are disjoint, as many as counted, and their union is f.
    let boxes: Vec<_> = ldd.boxes(f).collect();
    assert_eq!(ldd.box_count(f), Int::from(boxes.len() as i64));
    let mut union = Node::FALSE;
    for b in &boxes {
        let b = ldd.product(b).unwrap();
        assert!(b != Node::FALSE && ldd.is_box(b));
        assert_eq!(ldd.and(union, b).unwrap(), Node::FALSE);
        union = ldd.or(union, b).unwrap();
    }
    assert_eq!(union, f);
    assert_eq!(ldd.is_box(f), boxes.len() <= 1 || ldd.hull(f).unwrap() == f);
    // The hull is the product of the ranges of the variables.
    let hull = ldd.hull(f).unwrap();
    assert!(ldd.k.is_canonical(hull) && ldd.is_box(hull));
    let mut range = [(usize::MAX, 0); 3];
    for p in (0..grid.len()).filter(|&i| m.has(i)).map(|i| grid.point(i)) {
        for (r, &v) in range.iter_mut().zip(p) {
            *r = (r.0.min(v), r.1.max(v));
        }
    }
    let inside = |p: &[usize]| range.iter().zip(p).all(|(r, &v)| r.0 <= v && v <= r.1);
    let expected = grid.set(|i| inside(grid.point(i)));
    assert_eq!(grid.of(ldd, hull), expected);
    let g_hull = ldd.hull(g).unwrap();
    let join = ldd.box_join(hull, g_hull).unwrap();
    let both = ldd.or(f, g).unwrap();
    assert_eq!(join, ldd.hull(both).unwrap());
    for d in 0..3 {
        let bounds = ldd.bounds(f, grid.vars[d]);
        let side = ldd.box_sides(hull).into_iter().find(|(v, _)| *v == grid.vars[d]);
        let expected = (f != Node::FALSE).then(|| side.map_or(Interval::TOP, |s| s.1));
        assert_eq!(bounds, expected);
    }
    // The range of a sum is the hull over the boxes.
    let terms =
        [(super::rat(2), grid.vars[0]), (super::rat(-1), grid.vars[1]), (super::ratio(1, 3), grid.vars[2])];
    let zero = Interval::point(super::rat(0));
    let sum_of = |b: &crate::BoxPath| {
        terms.iter().fold(zero.clone(), |s, (a, v)| {
            let side = b.iter().find(|(w, _)| w == v).map_or(Interval::TOP, |s| s.1.clone());
            s.add(&side.scale(a))
        })
    };
    let expected = boxes.iter().map(sum_of).reduce(|a, b| a.hull(&b));
    assert_eq!(ldd.range(f, &terms).unwrap(), expected);
}

#[test]
fn integer_constraints_are_tightened() {
    let (mut ldd, v) = super::manager(crate::Kind::Int, 1);
    let x = v[0];
    let le4 = ldd.constraint(x, Cut::le(super::rat(4))).unwrap();
    for same in [Cut::lt(super::rat(5)), Cut::lt(super::ratio(9, 2)), Cut::le(super::ratio(14, 3))] {
        assert_eq!(ldd.constraint(x, same).unwrap(), le4);
    }
    // Between 4 and 5 there is no integer.
    let gap = Interval { lo: Some(Cut::le(super::rat(4))), hi: Some(Cut::lt(super::rat(5))) };
    assert_eq!(ldd.interval(x, &gap).unwrap(), Node::FALSE);
    let (mut ldd, v) = super::manager(crate::Kind::Real, 1);
    let a = ldd.constraint(v[0], Cut::le(super::rat(4))).unwrap();
    let b = ldd.constraint(v[0], Cut::lt(super::rat(5))).unwrap();
    assert_ne!(a, b);
    assert_ne!(ldd.interval(v[0], &gap).unwrap(), Node::FALSE);
}

#[test]
fn bounds_arriving_in_any_order_keep_their_places() {
    let mut rng = Rng(23);
    for order in 0..3 {
        let (mut ldd, v) = super::manager(crate::Kind::Int, 1);
        let mut f = Node::FALSE;
        // Enough bounds on one side, or in one gap, to use up the room between tags.
        let ks: Vec<i64> = (0..200)
            .map(|i| match order {
                0 => i,
                1 => -i,
                _ => rng.range(0, 1 << 40),
            })
            .collect();
        for &k in &ks {
            let p = ldd.interval(v[0], &Interval::point(super::rat(3 * k))).unwrap();
            f = ldd.or(f, p).unwrap();
            assert!(ldd.eval(f, |_| Box::leak(Box::new(super::rat(3 * k)))));
        }
        assert!(ldd.k.is_canonical(f));
        assert_eq!(ldd.boxes(f).count(), ks.iter().collect::<rustc_hash::FxHashSet<_>>().len());
    }
    // Bisecting one gap again and again.
    let (mut ldd, v) = super::manager(crate::Kind::Real, 1);
    let mut f = ldd.interval(v[0], &Interval::closed(super::rat(0), super::rat(1))).unwrap();
    let mut k = super::rat(1);
    for i in 0..200 {
        k = &k * &super::ratio(1, 2);
        let c =
            ldd.constraint(v[0], if i % 2 == 0 { Cut::le(k.clone()) } else { Cut::lt(k.clone()) }).unwrap();
        f = ldd.xor(f, c).unwrap();
        assert!(ldd.k.is_canonical(f));
    }
    assert!(ldd.size(f) > 200);
}

#[test]
fn reordering_keeps_every_set() {
    let mut rng = Rng(7);
    for round in 0..1500 {
        let mut ldd = Ldd::new(Limits::default());
        let grid = Grid::new(&mut ldd);
        let sets: Vec<(Node, Model)> =
            (0..4).map(|i| grid.random(&mut ldd, &mut rng, 4 + (round + i) % 12)).collect();
        sets.iter().for_each(|(f, _)| ldd.protect(*f));
        if round % 3 == 0 {
            ldd.reorder().unwrap();
        } else {
            for _ in 0..4 {
                ldd.swap_adjacent(rng.below(3)).unwrap();
            }
        }
        for (f, m) in &sets {
            assert_eq!(grid.of(&ldd, *f), *m);
            assert!(ldd.k.is_canonical(*f));
        }
        // Still canonical together with new nodes.
        let mut by_model: FxHashMap<Model, Node> = sets.iter().map(|(f, m)| (m.clone(), *f)).collect();
        for _ in 0..10 {
            let (f, m) = grid.random(&mut ldd, &mut rng, 3);
            assert_eq!(*by_model.entry(m).or_insert(f), f);
        }
        let (x, y) = (&sets[0], &sets[1]);
        let meet = ldd.and(x.0, y.0).unwrap();
        assert_eq!(grid.of(&ldd, meet), x.1.zip(&y.1, |a, b| a & b));
    }
}

#[test]
fn deep_boxes_need_no_call_stack() {
    let (mut ldd, v) = super::manager(crate::Kind::Int, 20_000);
    let sides = |k: i64| -> Vec<_> {
        v.iter().map(|&x| (x, Interval::closed(super::rat(k), super::rat(k + 3)))).collect()
    };
    let f = ldd.product(&sides(0)).unwrap();
    let g = ldd.product(&sides(1)).unwrap();
    let h = ldd.or(f, g).unwrap();
    let meet = ldd.and(f, g).unwrap();
    assert!(ldd.leq(meet, h).unwrap());
    let hull = ldd.hull(h).unwrap();
    assert_eq!(ldd.box_sides(hull).len(), v.len());
    let w = ldd.widen(f, h).unwrap();
    assert!(ldd.leq(h, w).unwrap());
    let one = [(super::rat(1), v[19_999]), (super::rat(1), v[0])];
    let a = ldd.assign(h, v[10_000], &one, &Interval::point(super::rat(1))).unwrap();
    assert!(a != Node::FALSE);
    let bounds = ldd.bounds(a, v[10_000]).unwrap();
    assert_eq!(bounds, Interval::closed(super::rat(1), super::rat(9)));
    ldd.protect(a);
    ldd.collect();
    let value: Rat = super::rat(2);
    let five: Rat = super::rat(5);
    assert!(ldd.eval(a, |x| if x == v[10_000] { &five } else { &value }));
}
