//! The widening of section 4 against Definition 1 taken literally, and stabilisation.

use palisade_num::Rat;

use super::{Grid, Rng, manager, rat, union};
use crate::{Cut, Interval, Kind, Ldd, Limits, Node, Var};

/// The step function of a diagram over variable number `x`: partitions, left to right, as upper cut
/// (`None` for the last) and value.
fn steps(ldd: &Ldd, f: Node, x: Var) -> Vec<(Option<Cut>, Node)> {
    let mut out = Vec::new();
    let mut n = f;
    while let Some((v, cut, high, low)) = ldd.decision(n).filter(|d| d.0 == x) {
        assert_eq!(v, x);
        out.push((Some(cut.clone()), high));
        n = low;
    }
    out.push((None, n));
    out
}

/// Definition 1, by classes of the common refinement, one dimension after the other; and the rule of
/// Figure 6 that widening the empty set gives the second argument.
fn widen(ldd: &mut Ldd, f: Node, g: Node, vars: &[Var]) -> Node {
    if f == g || f == Node::FALSE || g == Node::TRUE {
        return g;
    }
    let (x, rest) = vars.split_first().unwrap();
    let (a, b) = (steps(ldd, f, *x), steps(ldd, g, *x));
    if a.len() == 1 && b.len() == 1 {
        return widen(ldd, f, g, rest);
    }
    // Classes: upper cut, index of the partition of f, value of f, value of g.
    let (mut i, mut j) = (0, 0);
    let mut classes: Vec<(Option<Cut>, usize, Node, Node)> = Vec::new();
    loop {
        let key = |c: &Option<Cut>| (c.is_none(), c.clone());
        let end = if key(&a[i].0) <= key(&b[j].0) { a[i].0.clone() } else { b[j].0.clone() };
        classes.push((end.clone(), i, a[i].1, b[j].1));
        let (step_i, step_j) = (a[i].0 == end, b[j].0 == end);
        if end.is_none() {
            break;
        }
        i += usize::from(step_i);
        j += usize::from(step_j);
    }
    let n = classes.len();
    let mut result = Node::FALSE;
    let mut lo: Option<Cut> = None;
    for c in 0..n {
        let (end, part, fv, gv) = classes[c].clone();
        let same = |k: usize| classes[k].1 == part;
        let shared = (c > 0 && same(c - 1)) || (c + 1 < n && same(c + 1));
        let other = if fv != gv || !shared {
            gv
        } else if c + 1 < n && same(c + 1) {
            classes[c + 1].3
        } else {
            classes[c - 1].3
        };
        let value = widen(ldd, fv, other, rest);
        let side = ldd.interval(*x, &Interval { lo: lo.clone(), hi: end.clone() }).unwrap();
        let piece = ldd.and(side, value).unwrap();
        result = ldd.or(result, piece).unwrap();
        lo = end;
    }
    result
}

#[test]
fn figure_6_is_definition_1() {
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(51);
    let mut changed = 0;
    for round in 0..12_000 {
        let (f, _) = grid.random(&mut ldd, &mut rng, 1 + round % 9);
        let (g, _) = grid.random(&mut ldd, &mut rng, 1 + round % 6);
        let g = ldd.or(f, g).unwrap();
        let found = ldd.widen(f, g).unwrap();
        let expected = widen(&mut ldd, f, g, &grid.vars);
        assert_eq!(found, expected, "round {round}");
        assert!(ldd.leq(g, found).unwrap());
        assert!(ldd.k.is_canonical(found));
        changed += usize::from(found != g && found != Node::TRUE);
    }
    assert!(changed > 300, "only {changed} widenings did something of interest");
}

#[test]
fn a_counting_loop() {
    let (mut ldd, v) = manager(Kind::Int, 1);
    let side = |k: i64| Interval::closed(rat(0), rat(k));
    let f = ldd.interval(v[0], &side(2)).unwrap();
    let g = ldd.interval(v[0], &side(3)).unwrap();
    let wide = ldd.widen(f, g).unwrap();
    assert_eq!(wide, ldd.interval(v[0], &Interval::at_least(rat(0))).unwrap());
    let up_to = ldd.widen_up_to(f, g, &[rat(-1), rat(10), rat(20)]).unwrap();
    assert_eq!(up_to, ldd.interval(v[0], &side(10)).unwrap());
    // Nothing to widen, nothing to cut.
    assert_eq!(ldd.widen_up_to(g, f, &[rat(10)]).unwrap(), g);
    let boxed = ldd.box_widen(f, g, &[rat(10)]).unwrap();
    assert_eq!(boxed, up_to);
    assert_eq!(ldd.box_widen(f, g, &[]).unwrap(), wide);
}

/// A random small box somewhere in a wide space.
fn random_box(ldd: &mut Ldd, rng: &mut Rng, vars: &[Var], reach: i64) -> Node {
    let sides: Vec<(Var, Interval)> = vars
        .iter()
        .map(|&v| {
            let a = rng.range(-reach, reach);
            let side = match rng.below(8) {
                0 => Interval::at_least(rat(a)),
                1 => Interval::TOP,
                _ => Interval::closed(rat(a), rat(a + rng.range(0, 3))),
            };
            (v, side)
        })
        .collect();
    ldd.product(&sides).unwrap()
}

/// Widens with ever new boxes until nothing has grown for a while; returns how often it grew.
fn growth(
    ldd: &mut Ldd,
    rng: &mut Rng,
    vars: &[Var],
    mut step: impl FnMut(&mut Ldd, Node, Node) -> Node,
) -> usize {
    let mut f = random_box(ldd, rng, vars, 3);
    let (mut grew, mut quiet, mut reach) = (0, 0, 3);
    while quiet < 60 {
        // Boxes further and further out, and shifted copies of what is there.
        let b = random_box(ldd, rng, vars, reach);
        let by = Interval::point(rat(rng.range(-2, 2)));
        let x = vars[rng.below(vars.len())];
        let shifted = ldd.assign(f, x, &[(rat(1), x)], &by).unwrap();
        let next = if rng.below(2) == 0 { b } else { shifted };
        let wide = step(ldd, f, next);
        let both = ldd.or(f, next).unwrap();
        assert!(ldd.leq(both, wide).unwrap());
        if wide == f {
            quiet += 1;
        } else {
            quiet = 0;
            grew += 1;
            reach += 1;
        }
        assert!(grew < 3000, "the widening does not stabilise");
        f = wide;
    }
    grew
}

#[test]
fn widening_sequences_stabilise() {
    let mut rng = Rng(61);
    let thresholds: Vec<Rat> = [-100, -10, 0, 10, 64, 100].map(rat).to_vec();
    for round in 0..40 {
        let kind = if round % 2 == 0 { Kind::Int } else { Kind::Real };
        let (mut ldd, vars) = manager(kind, 1 + round % 3);
        growth(&mut ldd, &mut rng, &vars, |ldd, f, g| ldd.widen(f, g).unwrap());
        growth(&mut ldd, &mut rng, &vars, |ldd, f, g| ldd.widen_up_to(f, g, &thresholds).unwrap());
        growth(&mut ldd, &mut rng, &vars, |ldd, f, g| {
            let (f, g) = (ldd.hull(f).unwrap(), ldd.hull(g).unwrap());
            let wide = ldd.box_widen(f, g, &thresholds).unwrap();
            assert!(ldd.is_box(wide));
            wide
        });
    }
}

#[test]
fn an_alternating_sequence_stabilises() {
    // Ever finer refinements of one partition: the sequence that pointwise widening diverges on.
    let (mut ldd, v) = manager(Kind::Real, 2);
    let mut f = union(&mut ldd, &[vec![(v[1], Interval::closed(rat(0), rat(1)))]]);
    let mut grew = 0;
    for i in 1..200 {
        let spot = Interval::closed(super::ratio(1, i + 1), super::ratio(2, 2 * i + 1));
        let bump = ldd.product(&[(v[0], spot), (v[1], Interval::closed(rat(0), rat(1 + i)))]).unwrap();
        let wide = ldd.widen(f, bump).unwrap();
        grew += usize::from(wide != f);
        f = wide;
    }
    assert!(grew <= 4, "grew {grew} times");
}
