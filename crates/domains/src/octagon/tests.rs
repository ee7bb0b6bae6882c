use super::*;
use crate::laws::Rng;
use crate::{Lattice, NumericDomain};

crate::laws::laws!(Octagons, Limits::STANDARD);

fn var(i: u32) -> Dim {
    Dim::int(i)
}

fn sum(terms: &[(u32, i64)], c: i64) -> LinExpr {
    LinExpr::new(terms.iter().map(|(d, k)| (var(*d), Rat::from(*k))), c)
}

#[test]
fn finds_the_relation_of_a_counting_loop() {
    // i = 0; n = 10; while (i < n) i++;
    let (i, n) = (var(0), var(1));
    let mut head = Octagons::top(&Limits::STANDARD);
    head.assign(i, &LinExpr::constant(0));
    head.assume(&LinCons::ge(n, 1));
    for round in 0.. {
        let mut body = head.clone();
        body.assume(&LinCons::lt(i, n));
        body.assign(i, &sum(&[(0, 1)], 1));
        // Joining once first lets `i <= n` replace the accidental `i < n`.
        let grew = if round == 0 { head.join_with(&body) } else { head.widen_with(&body) };
        if !grew {
            break;
        }
    }
    let mut exit = head.clone();
    exit.assume(&LinCons::ge(i, n));
    assert!(exit.entails(&LinCons::eq(i, n)), "{exit:?}");
}

#[test]
fn join_is_the_best_octagon() {
    let mut rng = Rng::new(9);
    for _ in 0..300 {
        let points: Vec<Vec<i64>> =
            (0..2 + rng.below(4)).map(|_| (0..3).map(|_| rng.range(-5, 5)).collect()).collect();
        let mut hull = Octagons::bottom(&Limits::STANDARD);
        for p in &points {
            let mut one = Octagons::top(&Limits::STANDARD);
            for (d, v) in (0..).zip(p) {
                one.assign(var(d), &LinExpr::constant(*v));
            }
            hull.join_with(&one);
        }
        for a in 0..3 {
            for b in 0..3 {
                for (s, t) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                    let e = if a == b { sum(&[(a, s)], 0) } else { sum(&[(a, s), (b, t)], 0) };
                    let value = |p: &Vec<i64>| s * p[a as usize] + if a == b { 0 } else { t * p[b as usize] };
                    let best = points.iter().map(value).max();
                    assert_eq!(hull.bounds(&e).max_int().and_then(|v| v.to_i64()), best, "{e} in {hull:?}");
                }
            }
        }
    }
}

#[test]
fn unrelated_variables_stay_in_their_own_blocks() {
    let mut a = Octagons::top(&Limits::STANDARD);
    for k in 0..10 {
        a.assume(&LinCons::le(sum(&[(2 * k, 1), (2 * k + 1, -1)], 0), 0));
    }
    let mut b = a.clone();
    b.assume(&LinCons::le(sum(&[(0, 1), (1, -1)], 0), -4));
    a.join_with(&b);
    let sizes: Vec<usize> = a.blocks().unwrap().iter().map(|b| b.dims().len()).collect();
    assert_eq!(sizes, vec![2; 10]);
}

#[test]
fn integer_parity_is_seen_by_tight_closure() {
    // x + y <= 1 and x - y <= 0 give 2x <= 1, hence x <= 0.
    let mut a = Octagons::top(&Limits::STANDARD);
    a.assume(&LinCons::le(sum(&[(0, 1), (1, 1)], 0), 1));
    a.assume(&LinCons::le(sum(&[(0, 1), (1, -1)], 0), 0));
    assert_eq!(a.bounds_of(var(0)), Interval::at_most(0));
}
