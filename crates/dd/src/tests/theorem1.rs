//! Theorem 1: each transformer equals the union, over the boxes of the diagram, of the transformer of
//! BOX; and soundness of each on concrete points.

use palisade_num::Rat;

use super::{Grid, Rng, rat, ratio};
use crate::{BoxPath, Cut, Guard, Interval, Kind, Ldd, Limits, Node, Relation, Var};

fn side(b: &BoxPath, v: Var) -> Interval {
    b.iter().find(|(w, _)| *w == v).map_or(Interval::TOP, |(_, i)| i.clone())
}

fn with_side(b: &BoxPath, v: Var, i: Interval) -> BoxPath {
    let mut c: BoxPath = b.iter().filter(|(w, _)| *w != v).cloned().collect();
    c.push((v, i));
    c
}

fn sum(b: &BoxPath, terms: &[(Rat, Var)], start: Interval) -> Interval {
    terms.iter().fold(start, |s, (a, v)| s.add(&side(b, *v).scale(a)))
}

fn over_boxes(ldd: &mut Ldd, f: Node, mut image: impl FnMut(&BoxPath) -> Vec<BoxPath>) -> Node {
    let boxes: Vec<BoxPath> = ldd.boxes(f).collect();
    let images: Vec<BoxPath> = boxes.iter().flat_map(&mut image).collect();
    super::union(ldd, &images)
}

fn random_terms(grid: &Grid, rng: &mut Rng) -> Vec<(Rat, Var)> {
    (0..rng.below(4))
        .map(|_| {
            let a = if rng.below(5) == 0 { ratio(rng.range(-3, 3), 2) } else { rat(rng.range(-2, 2)) };
            (a, grid.vars[rng.below(3)])
        })
        .collect()
}

/// One coefficient per variable: a box transformer sees each variable once.
fn distinct(terms: &[(Rat, Var)]) -> Vec<(Rat, Var)> {
    let mut out: Vec<(Rat, Var)> = Vec::new();
    for (a, v) in terms {
        match out.iter_mut().find(|t| t.1 == *v) {
            Some(t) => t.0 = &t.0 + a,
            None => out.push((a.clone(), *v)),
        }
    }
    out
}

#[test]
fn assignments() {
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(71);
    for round in 0..12_000 {
        let (f, m) = grid.random(&mut ldd, &mut rng, 1 + round % 8);
        let terms = random_terms(&grid, &mut rng);
        let x = grid.vars[rng.below(3)];
        let k = rng.range(-3, 3);
        let offset = match rng.below(4) {
            0 => Interval::closed(rat(k), rat(k + rng.range(0, 3))),
            1 => Interval::at_least(rat(k)),
            _ => Interval::point(rat(k)),
        };
        let image = ldd.assign(f, x, &terms, &offset).unwrap();
        assert!(ldd.k.is_canonical(image));
        let flat = distinct(&terms);
        let expected = over_boxes(&mut ldd, f, |b| vec![with_side(b, x, sum(b, &flat, offset.clone()))]);
        assert_eq!(image, expected, "round {round}: {x:?} := {terms:?} + {offset}");
        // Concrete points of f go into the image.
        for i in (0..grid.len()).filter(|&i| m.has(i)).step_by(7) {
            let mut p = grid.coordinates(i);
            let sum = terms.iter().fold(rat(k), |s, (a, v)| s + a * &p[v.0 as usize]);
            if ldd.kind(x) == Kind::Int && !sum.is_int() {
                continue;
            }
            p[x.0 as usize] = sum;
            assert!(ldd.eval(image, |v| &p[v.0 as usize]));
        }
    }
}

fn holds(relation: Relation, sum: &Rat, k: &Rat) -> bool {
    match relation {
        Relation::Le => sum <= k,
        Relation::Lt => sum < k,
        Relation::Eq => sum == k,
        Relation::Ne => sum != k,
    }
}

/// The transformer of BOX for a guard, one variable at a time from its definition: the values that
/// some values of the others allow.
fn guard_of_box(b: &BoxPath, terms: &[(Rat, Var)], relation: Relation, k: &Rat) -> Vec<BoxPath> {
    let mut parts = vec![b.clone()];
    for (a, v) in terms {
        let others: Vec<(Rat, Var)> = terms.iter().filter(|t| t.1 != *v).cloned().collect();
        let rest = sum(b, &others, Interval::point(rat(0)));
        let target = match relation {
            Relation::Le => Interval::at_most(k.clone()),
            Relation::Lt => Interval::below(Cut::lt(k.clone())),
            _ => Interval::point(k.clone()),
        };
        let allowed = target.add(&rest.scale(&rat(-1))).scale(&a.recip());
        let allowed = match (relation, allowed.as_point()) {
            (Relation::Ne, Some(p)) => {
                vec![Interval::below(Cut::lt(p.clone())), Interval::above(Cut::le(p.clone()))]
            }
            (Relation::Ne, None) => vec![Interval::TOP],
            _ => vec![allowed],
        };
        parts = parts
            .iter()
            .flat_map(|b| allowed.iter().map(|i| with_side(b, *v, side(b, *v).meet(i))).collect::<Vec<_>>())
            .collect();
    }
    parts
}

#[test]
fn guards() {
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(73);
    let relations = [Relation::Le, Relation::Lt, Relation::Eq, Relation::Ne];
    for round in 0..12_000 {
        let (f, m) = grid.random(&mut ldd, &mut rng, 1 + round % 8);
        let terms = random_terms(&grid, &mut rng);
        let relation = relations[rng.below(4)];
        let k = if rng.below(4) == 0 { ratio(rng.range(-6, 6), 2) } else { rat(rng.range(-3, 5)) };
        let guard = Guard { terms: terms.clone(), relation, k: k.clone() };
        let image = ldd.assume(f, &guard).unwrap();
        assert!(ldd.k.is_canonical(image));
        assert!(ldd.leq(image, f).unwrap());
        let mut flat = distinct(&terms);
        flat.retain(|t| !t.0.is_zero());
        let expected = if flat.is_empty() {
            if holds(relation, &rat(0), &k) { f } else { Node::FALSE }
        } else {
            over_boxes(&mut ldd, f, |b| guard_of_box(b, &flat, relation, &k))
        };
        assert_eq!(image, expected, "round {round}: {guard:?}");
        for i in (0..grid.len()).filter(|&i| m.has(i)) {
            let p = grid.coordinates(i);
            let sum = terms.iter().fold(rat(0), |s, (a, v)| s + a * &p[v.0 as usize]);
            if holds(relation, &sum, &k) {
                assert!(ldd.eval(image, |v| &p[v.0 as usize]));
            } else if flat.len() == 1 {
                assert!(!ldd.eval(image, |v| &p[v.0 as usize]), "a guard of one variable is exact");
            }
        }
    }
}

#[test]
fn maps_of_one_variable() {
    // Reduction modulo 4, by pieces: any function of intervals will do.
    let wrap = |i: &Interval| match (&i.lo, &i.hi) {
        (Some(lo), Some(hi)) => {
            let (a, b) = (lo.k.floor().to_i64().unwrap(), hi.k.floor().to_i64().unwrap());
            if b - a >= 4 {
                vec![Interval::closed(rat(0), rat(3))]
            } else {
                (a..=b).map(|v| Interval::point(rat(v.rem_euclid(4)))).collect()
            }
        }
        _ => vec![Interval::closed(rat(0), rat(3))],
    };
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(79);
    for round in 0..5_000 {
        let (f, m) = grid.random(&mut ldd, &mut rng, 1 + round % 8);
        let x = grid.vars[2 * rng.below(2)];
        let image = ldd.map_var(f, x, wrap).unwrap();
        assert!(ldd.k.is_canonical(image));
        let expected =
            over_boxes(&mut ldd, f, |b| wrap(&side(b, x)).into_iter().map(|i| with_side(b, x, i)).collect());
        assert_eq!(image, expected);
        for i in (0..grid.len()).filter(|&i| m.has(i)).step_by(5) {
            let mut p = grid.coordinates(i);
            let v = p[x.0 as usize].to_int().unwrap().to_i64().unwrap();
            p[x.0 as usize] = rat(v.rem_euclid(4));
            assert!(ldd.eval(image, |v| &p[v.0 as usize]));
        }
    }
}

#[test]
fn many_contexts_fall_back_to_a_sound_bound() {
    // Every variable has twelve parts: five of them make more contexts than are kept apart.
    let (mut ldd, vars) = super::manager(Kind::Int, 6);
    let mut f = Node::TRUE;
    for &v in &vars[..5] {
        let mut parts = Node::FALSE;
        for i in 0..12 {
            let p = ldd.interval(v, &Interval::point(rat(3 * i))).unwrap();
            parts = ldd.or(parts, p).unwrap();
        }
        f = ldd.and(f, parts).unwrap();
    }
    let terms: Vec<(Rat, Var)> = vars[..5].iter().map(|&v| (rat(1), v)).collect();
    let image = ldd.assign(f, vars[5], &terms, &Interval::point(rat(1))).unwrap();
    assert_eq!(ldd.bounds(image, vars[5]), Some(Interval::closed(rat(1), rat(166))));
    let guard = Guard { terms, relation: Relation::Le, k: rat(7) };
    let cut = ldd.assume(f, &guard).unwrap();
    for &v in &vars[..5] {
        assert_eq!(ldd.bounds(cut, v), Some(Interval::closed(rat(0), rat(6))));
    }
}

#[test]
fn renaming_permutes_points() {
    let (mut ldd, vars) = super::manager(Kind::Int, 4);
    let mut rng = Rng(83);
    // Boxes over the first three variables; the fourth is free.
    for _ in 0..2_000 {
        let mut f = Node::FALSE;
        for _ in 0..1 + rng.below(3) {
            let sides: BoxPath = vars[..3]
                .iter()
                .map(|&v| {
                    let a = rng.range(0, 4);
                    (v, Interval::closed(rat(a), rat(a + rng.range(0, 2))))
                })
                .collect();
            let b = ldd.product(&sides).unwrap();
            f = ldd.or(f, b).unwrap();
        }
        let (x, y, z, w) = (vars[0], vars[1], vars[2], vars[3]);
        let rotated = ldd.rename(f, &[(x, y), (y, z), (z, x)]).unwrap();
        let moved = ldd.rename(f, &[(x, w)]).unwrap();
        let lost = ldd.rename(f, &[(x, y)]).unwrap();
        for r in [rotated, moved, lost] {
            assert!(ldd.k.is_canonical(r));
        }
        assert_eq!(ldd.rename(rotated, &[(y, x), (z, y), (x, z)]).unwrap(), f);
        assert_eq!(ldd.rename(moved, &[(w, x)]).unwrap(), f);
        for _ in 0..20 {
            let p: Vec<Rat> = (0..4).map(|_| rat(rng.range(0, 6))).collect();
            let at = |ldd: &Ldd, g: Node, q: [usize; 3]| {
                ldd.eval(g, |v| &p[if v == w { 3 } else { q[v.0 as usize] }])
            };
            // y, z, x of the rotated set are x, y, z of the old one.
            assert_eq!(at(&ldd, f, [0, 1, 2]), at(&ldd, rotated, [2, 0, 1]));
            assert_eq!(
                ldd.eval(moved, |v| &p[v.0 as usize]),
                ldd.eval(f, |v| if v == x { &p[3] } else { &p[v.0 as usize] })
            );
            let some_y = (0..7).map(rat).any(|old| {
                ldd.eval(f, |v| {
                    if v == x {
                        &p[1]
                    } else if v == y {
                        &old
                    } else {
                        &p[v.0 as usize]
                    }
                })
            });
            assert_eq!(ldd.eval(lost, |v| &p[v.0 as usize]), some_y);
        }
    }
}
