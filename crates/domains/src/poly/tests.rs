use super::*;
use crate::laws::Rng;
use crate::{Lattice, NumericDomain, Octagons, Thresholds};

crate::laws::laws!(Polyhedra, Limits::STANDARD);

fn var(i: u32) -> Dim {
    Dim::int(i)
}

fn sum(terms: &[(u32, i64)], c: i64) -> LinExpr {
    LinExpr::new(terms.iter().map(|(d, k)| (var(*d), Rat::from(*k))), c)
}

/// Both descriptions describe the same cone, are minimal, and the saturation matrix is right.
fn check_invariants(p: &Polyhedra) {
    for b in p.blocks().unwrap_or(&[]) {
        let pair = b.pair.as_ref().expect("blocks of a non-bottom element are not empty");
        for l in &pair.inner.linear {
            assert!(pair.outer.linear.iter().chain(&pair.outer.rays).all(|c| c.dot(l).is_zero()));
        }
        for (i, r) in pair.inner.rays.iter().enumerate() {
            assert!(pair.outer.linear.iter().all(|c| c.dot(r).is_zero()));
            for (j, c) in pair.outer.rays.iter().enumerate() {
                assert!(!c.dot(r).is_negative());
                assert_eq!(c.dot(r).is_zero(), pair.sat.get(i, j), "{p:?}");
            }
        }
        // Minimal: no saturated set is inside another one, on either side.
        let columns = pair.outer.rays.len();
        let by_ray: Vec<Vec<bool>> =
            (0..pair.inner.rays.len()).map(|i| (0..columns).map(|j| pair.sat.get(i, j)).collect()).collect();
        let by_constraint: Vec<Vec<bool>> =
            (0..columns).map(|j| by_ray.iter().map(|r| r[j]).collect()).collect();
        for sets in [by_ray, by_constraint] {
            for (i, a) in sets.iter().enumerate() {
                assert!(sets.len() == 1 || a.iter().any(|x| !x), "a linear vector among the rays: {b:?}");
                for (j, c) in sets.iter().enumerate() {
                    let inside = a.iter().zip(c).all(|(x, y)| !x || *y);
                    assert!(i == j || !inside, "redundant row in {b:?}");
                }
            }
        }
    }
}

fn random_constraint(rng: &mut Rng, dims: u32) -> LinCons {
    let mut e = LinExpr::constant(rng.range(-6, 6));
    for _ in 0..1 + rng.below(3) {
        let d = var(rng.below(u64::from(dims)) as u32);
        e = e.add_scaled(&LinExpr::dim(d), &Rat::from(rng.range(-3, 3)));
    }
    LinCons { expr: e, rel: if rng.below(6) == 0 { Rel::Eq } else { Rel::Le } }
}

#[test]
fn random_operation_sequences_keep_the_invariants() {
    let mut rng = Rng::new(21);
    for _ in 0..120 {
        let mut pool = vec![Polyhedra::top(&Limits::STANDARD)];
        for _ in 0..14 {
            let mut p = rng.pick(&pool).clone();
            match rng.below(7) {
                0..3 => p.assume(&random_constraint(&mut rng, 4)),
                3 => {
                    let d = var(rng.below(4) as u32);
                    let e = random_constraint(&mut rng, 4).expr;
                    p.assign(d, &e);
                }
                4 => p.forget(&[var(rng.below(4) as u32)]),
                5 => {
                    p.join_with(rng.pick(&pool));
                }
                _ => p.meet_with(rng.pick(&pool)),
            }
            check_invariants(&p);
            pool.push(p);
        }
    }
}

/// All minimal half-planes through two of the points, by brute force.
fn hull_constraints(points: &[(i64, i64)]) -> Vec<(i64, i64, i64)> {
    let mut out = Vec::new();
    for p in points {
        for q in points {
            if p != q {
                // a·x + b·y ≤ c with the line through p and q.
                let (a, b) = (q.1 - p.1, p.0 - q.0);
                let c = a * p.0 + b * p.1;
                if points.iter().all(|r| a * r.0 + b * r.1 <= c) {
                    out.push((a, b, c));
                }
            }
        }
    }
    out
}

#[test]
fn join_of_points_is_their_convex_hull() {
    let mut rng = Rng::new(4);
    for _ in 0..300 {
        let points: Vec<(i64, i64)> =
            (0..2 + rng.below(5)).map(|_| (rng.range(-6, 6), rng.range(-6, 6))).collect();
        let mut hull = Polyhedra::bottom(&Limits::STANDARD);
        for (x, y) in &points {
            let mut p = Polyhedra::top(&Limits::STANDARD);
            p.assign(var(0), &LinExpr::constant(*x));
            p.assign(var(1), &LinExpr::constant(*y));
            hull.join_with(&p);
        }
        check_invariants(&hull);
        let half_planes = hull_constraints(&points);
        for (a, b, c) in &half_planes {
            let e = sum(&[(0, *a), (1, *b)], -c);
            assert_eq!(hull.bounds(&e).max_int(), Some(&Int::ZERO), "{e} in {hull:?}");
        }
        if points.iter().any(|p| *p != points[0]) {
            for x in -6..=6 {
                for y in -6..=6 {
                    let state = |d: Dim| Rat::from(if d == var(0) { x } else { y });
                    let mut inside = half_planes.iter().all(|(a, b, c)| a * x + b * y <= *c);
                    // On a line the half-planes do not bound the segment.
                    let (lo, hi) = (points.iter().min().unwrap(), points.iter().max().unwrap());
                    inside &= (lo.0..=hi.0).contains(&x);
                    inside &= hi.0 != lo.0 || (lo.1..=hi.1).contains(&y);
                    assert_eq!(hull.contains(&state), inside, "({x}, {y}) in {hull:?} of {points:?}");
                }
            }
        }
    }
}

#[test]
fn octagons_are_never_more_precise() {
    let mut rng = Rng::new(8);
    for _ in 0..100 {
        let mut poly = Polyhedra::top(&Limits::STANDARD);
        let mut oct = Octagons::top(&Limits::STANDARD);
        for _ in 0..8 {
            let d = var(rng.below(3) as u32);
            match rng.below(3) {
                0 => {
                    // Real octagons over rationals would be below; integers may be tightened further,
                    // so constraints are scaled to make tightening idle.
                    let e = sum(&[(rng.below(3) as u32, 1)], 2 * rng.range(-3, 3));
                    poly.assume(&LinCons { expr: e.clone(), rel: Rel::Le });
                    oct.assume(&LinCons { expr: e, rel: Rel::Le });
                }
                1 => {
                    let e = sum(&[(rng.below(3) as u32, 1), (rng.below(3) as u32, -1)], rng.range(-3, 3));
                    poly.assign(d, &e);
                    oct.assign(d, &e);
                }
                _ => {
                    let v = LinExpr::constant(rng.range(-3, 3));
                    let (mut p, mut o) = (poly.clone(), oct.clone());
                    p.assign(d, &v);
                    o.assign(d, &v);
                    poly.join_with(&p);
                    oct.join_with(&o);
                }
            }
        }
        for conj in oct.to_constraints() {
            for c in conj {
                assert!(poly.is_bottom() || poly.entails(&c), "{c} of {oct:?} in {poly:?}");
            }
        }
    }
}

#[test]
fn the_classic_loop_of_cousot_and_halbwachs() {
    // i = 2; j = 0; loop { if (*) i += 4; else { i += 2; j += 1; } } has invariant
    // 2j + 2 <= i and 0 <= j (Cousot & Halbwachs, POPL 1978).
    let (i, j) = (var(0), var(1));
    let mut head = Polyhedra::top(&Limits::STANDARD);
    head.assign(i, &LinExpr::constant(2));
    head.assign(j, &LinExpr::constant(0));
    for round in 0.. {
        let (mut left, mut right) = (head.clone(), head.clone());
        left.assign(i, &sum(&[(0, 1)], 4));
        right.assign(i, &sum(&[(0, 1)], 2));
        right.assign(j, &sum(&[(1, 1)], 1));
        left.join_with(&right);
        let grew = if round < 2 { head.join_with(&left) } else { head.widen_with(&left) };
        if !grew {
            break;
        }
    }
    check_invariants(&head);
    assert_eq!(format!("{head:?}"), "x1 >= 0 && -x0 + 2*x1 <= -2");
}

#[test]
fn widening_up_to_keeps_a_threshold() {
    let x = var(0);
    let at = |lo: i64, hi: i64| {
        let mut p = Polyhedra::top(&Limits::STANDARD);
        p.assign_interval(x, &Interval::closed(lo, hi));
        p
    };
    let th = Thresholds::new([Rat::from(100)], []);
    let mut w = at(0, 0);
    w.widen_with_thresholds(&at(0, 1), &th);
    assert_eq!(w.bounds_of(x), Interval::closed(0, 100));
}

#[test]
fn blocks_stay_small_and_costs_follow_them() {
    // Forty pairs of related variables: one hypercube of them would have 2^80 vertices.
    let mut a = Polyhedra::top(&Limits::STANDARD);
    for k in 0..40 {
        a.assign_interval(var(2 * k), &Interval::closed(0, 9));
        a.assign(var(2 * k + 1), &sum(&[(2 * k, 3)], 1));
    }
    let mut b = a.clone();
    b.assign(var(7), &sum(&[(6, 3)], 2));
    a.join_with(&b);
    let sizes: Vec<usize> = a.blocks().unwrap().iter().map(|b| b.dims().len()).collect();
    assert_eq!(sizes, vec![2; 40]);
    assert!(a.entails(&LinCons::le(sum(&[(7, 1)], 0), sum(&[(6, 3)], 2))));
}

#[test]
fn limits_lose_relations_but_no_states() {
    let tight = Limits { dims: 2, rows: 6, ..Limits::STANDARD };
    let mut p = Polyhedra::top(&tight);
    for k in 0..4 {
        p.assign_interval(var(k), &Interval::closed(0, 1));
    }
    p.assume(&LinCons::eq(sum(&[(0, 1), (1, 1)], 0), sum(&[(2, 1), (3, 1)], 1)));
    p.assign(var(4), &sum(&[(0, 1), (1, 1), (2, 1)], 0));
    assert!(p.contains(&|d| Rat::from(i64::from(d == var(0) || d == var(4)))));
    assert_eq!(p.bounds_of(var(4)), Interval::closed(0, 3));
}

/// Shrinking towards a fixed point with two steps in turn doubles the length of the coefficients each time.
#[test]
fn coefficients_stay_bounded() {
    let limits = Limits { bits: 200, ..Limits::STANDARD };
    let mut p = Polyhedra::top(&limits);
    (0..2).for_each(|d| p.assign_interval(Dim::rat(d), &Interval::closed(0, 1)));
    let (x, y) = (Dim::rat(0), Dim::rat(1));
    for round in 0..40 {
        // A cut through the middle between the vertices, as the convex hull of two halves leaves it.
        let (hx, hy) = (p.bounds_of(x).hi.unwrap().value, p.bounds_of(y).hi.unwrap().value);
        let third = Rat::new(Int::from(10 + round), Int::from(31));
        let c = LinExpr::new([(x, &hy * &third), (y, &hx + &third)], -(&hx * &hy));
        p.assume(&LinCons { expr: c, rel: Rel::Le });
        assert!(p.contains(&|_| Rat::ZERO), "the origin satisfies every cut");
        for c in p.to_constraints().concat() {
            let long = c.expr.terms().iter().any(|(_, k)| k.numer().bit_len() > 200);
            assert!(!long, "{c:?}");
        }
    }
}
