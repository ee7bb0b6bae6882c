//! The examples and the pseudo-code of the BOXES paper. The figures' own recursion, built from the
//! basic operations alone, is the twin that the kernel's one-pass operations must agree with.

use palisade_num::Rat;

use super::{Grid, Rng, manager, rat, ratio, union};
use crate::{Cut, Guard, Interval, Kind, Ldd, Limits, Node, Relation, Var};

fn ge(k: Rat) -> Interval {
    Interval::at_least(k)
}

#[test]
fn example_1() {
    // (x <= 1 ∨ x >= 2) ∧ 1 <= y <= 3, Figure 1(a).
    let (mut ldd, v) = manager(Kind::Real, 2);
    let (x, y) = (v[0], v[1]);
    let left = ldd.constraint(x, Cut::le(rat(1))).unwrap();
    let right = ldd.interval(x, &ge(rat(2))).unwrap();
    let either = ldd.or(left, right).unwrap();
    let band = ldd.interval(y, &Interval::closed(rat(1), rat(3))).unwrap();
    let f = ldd.and(either, band).unwrap();
    // Four tests: x <= 1, x < 2, y < 1, y <= 3, and the two terminals.
    assert_eq!(ldd.size(f), 6);
    let (var, cut, high, low) = ldd.decision(f).map(|(v, c, h, l)| (v, c.clone(), h, l)).unwrap();
    assert_eq!((var, cut), (x, Cut::le(rat(1))));
    assert_eq!(high, band);
    let (var, cut, high, low) = ldd.decision(low).map(|(v, c, h, l)| (v, c.clone(), h, l)).unwrap();
    assert_eq!((var, cut, high, low), (x, Cut::lt(rat(2)), Node::FALSE, band));
    assert_eq!(ldd.boxes(f).count(), 2);
    // x > 5 is ITE(x <= 5, 0, 1).
    let above = ldd.interval(x, &Interval::above(Cut::le(rat(5)))).unwrap();
    let (_, cut, high, low) = ldd.decision(above).unwrap();
    assert_eq!((cut.clone(), high, low), (Cut::le(rat(5)), Node::FALSE, Node::TRUE));
}

#[test]
fn example_2() {
    // Figure 1(c): x first. x <- x + a·y on (x <= 1 ∧ A) ∨ (1 < x <= 5 ∧ B) ∨ (5 < x ∧ C).
    let (mut ldd, v) = manager(Kind::Real, 2);
    let (x, y) = (v[0], v[1]);
    let sides =
        [Interval::at_most(rat(1)), Interval { lo: Some(Cut::le(rat(1))), hi: Some(Cut::le(rat(5))) }];
    let [below, middle] = sides;
    let above = Interval::above(Cut::le(rat(5)));
    let (a, b, c) = (
        Interval::closed(rat(0), rat(1)),
        Interval::closed(rat(2), rat(3)),
        Interval::closed(rat(4), rat(6)),
    );
    let parts = [(below, a), (middle, b), (above, c)];
    let f = union(&mut ldd, &parts.clone().map(|(i, j)| vec![(x, i), (y, j)]));
    for k in [2, -2] {
        let image = ldd.assign(f, x, &[(rat(1), x), (rat(k), y)], &Interval::point(rat(0))).unwrap();
        let expected = parts.clone().map(|(i, j)| vec![(x, i.add(&j.scale(&rat(k)))), (y, j)]);
        let expected = union(&mut ldd, &expected);
        assert_eq!(image, expected);
        assert_eq!(xpy(&mut ldd, f, x, &rat(k), y), expected);
    }
    // Figure 1(d): y first. The value of y is known in each part.
    let (mut ldd, v) = manager(Kind::Real, 2);
    let (y, x) = (v[0], v[1]);
    let parts = [
        (Interval::at_most(rat(2)), Interval::closed(rat(0), rat(1))),
        (Interval { lo: Some(Cut::le(rat(2))), hi: Some(Cut::le(rat(6))) }, Interval::closed(rat(2), rat(3))),
        (Interval::above(Cut::le(rat(6))), Interval::closed(rat(4), rat(6))),
    ];
    let g = union(&mut ldd, &parts.clone().map(|(j, i)| vec![(y, j), (x, i)]));
    for k in [3, -3] {
        let image = ldd.assign(g, x, &[(rat(1), x), (rat(k), y)], &Interval::point(rat(0))).unwrap();
        let expected = parts.clone().map(|(j, i)| vec![(x, i.add(&j.scale(&rat(k)))), (y, j)]);
        let expected = union(&mut ldd, &expected);
        assert_eq!(image, expected);
        assert_eq!(xpy(&mut ldd, g, x, &rat(k), y), expected);
    }
}

/// `x <- x + v` for v in `by` with RC, as in the first row of Table 2: an upper bound moves by the
/// upper end of `v`, a lower bound by the lower end.
fn add_range(ldd: &mut Ldd, f: Node, x: Var, by: &Interval) -> Node {
    let kind = ldd.kind(x);
    let pos = |ldd: &mut Ldd, c: &Cut| {
        let side = Interval::below(c.clone()).tightened(kind).add(by);
        ldd.interval(x, &side)
    };
    let neg = |ldd: &mut Ldd, c: &Cut| {
        let side = Interval::above(c.clone()).tightened(kind).add(by);
        ldd.interval(x, &side)
    };
    ldd.replace_constraints(f, x, pos, neg).unwrap()
}

/// `x <- a·y + v` with RC, as in rows four and five of Table 2.
fn copy_scaled(ldd: &mut Ldd, f: Node, x: Var, a: &Rat, y: Var, v: &Interval) -> Node {
    let g = ldd.exists(f, &[x]).unwrap();
    let kind = ldd.kind(y);
    let image = |ldd: &mut Ldd, side: Interval| {
        let y_side = ldd.interval(y, &side)?;
        let x_side = ldd.interval(x, &side.tightened(kind).scale(a).add(v))?;
        ldd.and(y_side, x_side)
    };
    let pos = |ldd: &mut Ldd, c: &Cut| image(ldd, Interval::below(c.clone()));
    let neg = |ldd: &mut Ldd, c: &Cut| image(ldd, Interval::above(c.clone()));
    ldd.replace_constraints(g, y, pos, neg).unwrap()
}

/// XPY of Figure 3. The printed recursion in lines 11-12 and 26-27 repeats its argument; it must go to
/// the cofactors. The bounds in lines 16, 17, 30 and 31 are those of the current partition, both ends.
fn xpy(ldd: &mut Ldd, f: Node, x: Var, a: &Rat, y: Var) -> Node {
    let x_first = ldd.order().iter().position(|&v| v == x) < ldd.order().iter().position(|&v| v == y);
    xpy_at(ldd, f, x, a, y, None, x_first)
}

fn xpy_at(ldd: &mut Ldd, f: Node, x: Var, a: &Rat, y: Var, lo: Option<Cut>, x_first: bool) -> Node {
    if f == Node::FALSE {
        return f;
    }
    let split = if x_first { x } else { y };
    let order: Vec<Var> = ldd.order().to_vec();
    let level = |v: Var| order.iter().position(|&w| w == v);
    let top = ldd.decision(f).map(|(v, c, _, _)| (v, c.clone()));
    let kind = ldd.kind(split);
    // What is left of the split variable's line is one partition.
    let finish = |ldd: &mut Ldd, f: Node, side: Interval| {
        let side = side.tightened(kind);
        if x_first {
            copy_scaled(ldd, f, x, a, y, &side)
        } else {
            let moved = add_range(ldd, f, x, &side.scale(a));
            let y_side = ldd.interval(y, &side).unwrap();
            ldd.and(moved, y_side).unwrap()
        }
    };
    let Some((var, cut)) = top.filter(|(v, _)| level(*v) <= level(split)) else {
        return finish(ldd, f, Interval { lo, hi: None });
    };
    let high = ldd.cofactor(f, var, cut.clone(), true).unwrap();
    let low = ldd.cofactor(f, var, cut.clone(), false).unwrap();
    if var != split {
        let t = xpy_at(ldd, high, x, a, y, lo.clone(), x_first);
        let e = xpy_at(ldd, low, x, a, y, lo, x_first);
        let test = ldd.constraint(var, cut).unwrap();
        return ldd.ite(test, t, e).unwrap();
    }
    let t =
        if high == Node::FALSE { high } else { finish(ldd, high, Interval { lo, hi: Some(cut.clone()) }) };
    let e = xpy_at(ldd, low, x, a, y, Some(cut), x_first);
    ldd.or(t, e).unwrap()
}

#[test]
fn figure_3_xpy() {
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(31);
    for round in 0..3000 {
        let (f, _) = grid.random(&mut ldd, &mut rng, 1 + round % 8);
        let x = grid.vars[rng.below(3)];
        let y = grid.vars[rng.below(3)];
        if x == y {
            continue;
        }
        let a = rat([-2, -1, 1, 3][rng.below(4)]);
        let a = if ldd.kind(x) == Kind::Int && ldd.kind(y) == Kind::Real { rat(1) } else { a };
        let image = ldd.assign(f, x, &[(rat(1), x), (a.clone(), y)], &Interval::point(rat(0))).unwrap();
        assert_eq!(xpy(&mut ldd, f, x, &a, y), image, "{x:?} += {a} * {y:?}");
    }
}

#[test]
fn figure_2_leq_and_rc() {
    /// LEQ as printed.
    fn leq(ldd: &mut Ldd, f: Node, g: Node) -> bool {
        if f == g || f == Node::FALSE || g == Node::TRUE {
            return true;
        }
        if f == Node::TRUE || g == Node::FALSE {
            return false;
        }
        let top = |ldd: &Ldd, n: Node| ldd.decision(n).map(|(v, c, _, _)| (v, c.clone()));
        let (u, w) = (top(ldd, f), top(ldd, g));
        // The grid's variables are in the order of their numbers.
        let (v, c) = [u, w].into_iter().flatten().min().unwrap();
        let both = |ldd: &mut Ldd, positive| {
            let f = ldd.cofactor(f, v, c.clone(), positive).unwrap();
            let g = ldd.cofactor(g, v, c.clone(), positive).unwrap();
            leq(ldd, f, g)
        };
        both(ldd, true) && both(ldd, false)
    }
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(37);
    for round in 0..3000 {
        let (f, m) = grid.random(&mut ldd, &mut rng, 1 + round % 6);
        let (g, n) = grid.random(&mut ldd, &mut rng, 1 + round % 6);
        let subset = m.zip(&n, |a, b| a & !b).is_empty();
        assert_eq!(leq(&mut ldd, f, g), subset);
        assert_eq!(ldd.leq(f, g).unwrap(), subset);
        // RC(x, f, ID, COMP) is the identity.
        let d = rng.below(3);
        let x = grid.vars[d];
        let id = |ldd: &mut Ldd, c: &Cut| ldd.constraint(x, c.clone());
        let comp = |ldd: &mut Ldd, c: &Cut| ldd.interval(x, &Interval::above(c.clone()));
        assert_eq!(ldd.replace_constraints(f, x, id, comp).unwrap(), f);
        // Table 2, x <- x + v and x <- a·x and x <- a·y.
        let by = Interval::closed(rat(rng.range(-2, 0)), rat(rng.range(0, 2)));
        let image = ldd.assign(f, x, &[(rat(1), x)], &by).unwrap();
        assert_eq!(add_range(&mut ldd, f, x, &by), image);
        let a = rat([-3, -1, 2][rng.below(3)]);
        let kind = ldd.kind(x);
        let scaled = |ldd: &mut Ldd, side: Interval| ldd.interval(x, &side.tightened(kind).scale(&a));
        let pos = |ldd: &mut Ldd, c: &Cut| scaled(ldd, Interval::below(c.clone()));
        let neg = |ldd: &mut Ldd, c: &Cut| scaled(ldd, Interval::above(c.clone()));
        let by_rc = ldd.replace_constraints(f, x, pos, neg).unwrap();
        assert_eq!(ldd.assign(f, x, &[(a.clone(), x)], &Interval::point(rat(0))).unwrap(), by_rc);
        let y = grid.vars[(d + 1) % 3];
        if ldd.kind(y) == Kind::Real || ldd.kind(x) == Kind::Int {
            // The table projects y away first and so may join boxes; Theorem 1 is for those of f.
            let free = ldd.exists(f, &[y]).unwrap();
            let by_rc = copy_scaled(&mut ldd, f, y, &a, x, &Interval::point(rat(0)));
            let zero = Interval::point(rat(0));
            assert_eq!(ldd.assign(free, y, &[(a.clone(), x)], &zero).unwrap(), by_rc);
            let image = ldd.assign(f, y, &[(a, x)], &zero).unwrap();
            assert!(ldd.leq(image, by_rc).unwrap());
        }
    }
}

#[test]
fn table_2_guard_of_two_variables() {
    // a1·x + a2·y <= k with a1 > 0 and a2 < 0, by two replacements: every lower bound on x gives a
    // lower bound on y, every upper bound on y an upper bound on x.
    let (mut ldd, v) = manager(Kind::Real, 2);
    let (x, y) = (v[0], v[1]);
    let mut rng = Rng(41);
    for _ in 0..500 {
        let mut boxes = Vec::new();
        for _ in 0..3 {
            let mut side = || {
                let a = rng.range(-6, 6);
                Interval::closed(rat(a), rat(a + rng.range(0, 4)))
            };
            boxes.push(vec![(x, side()), (y, side())]);
        }
        let f = union(&mut ldd, &boxes);
        let (a1, a2, k) = (rat(rng.range(1, 3)), rat(-rng.range(1, 3)), rat(rng.range(-4, 4)));
        let guard =
            Guard { terms: vec![(a1.clone(), x), (a2.clone(), y)], relation: Relation::Le, k: k.clone() };
        let found = ldd.assume(f, &guard).unwrap();
        // By the boxes of f, which is what the two replacements do path by path.
        let mut expected = Node::FALSE;
        for b in ldd.boxes(f).collect::<Vec<_>>() {
            let (i, j) = (b[0].1.clone(), b[1].1.clone());
            let (lo_x, hi_y) = (i.lo.clone().unwrap(), j.hi.clone().unwrap());
            // y >= (k - a1·x)/a2 at the least x; x <= (k - a2·y)/a1 at the greatest y; strict where
            // that end is not attained.
            let top = Cut { k: (&k - &(&a2 * &hi_y.k)) / &a1, closed: hi_y.closed };
            let bottom = Cut { k: (&k - &(&a1 * &lo_x.k)) / &a2, closed: lo_x.closed };
            let (i, j) = (i.meet(&Interval::below(top)), j.meet(&Interval::above(bottom)));
            let part = ldd.product(&[(x, i), (y, j)]).unwrap();
            expected = ldd.or(expected, part).unwrap();
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn figure_4_box_hull_and_join() {
    /// BOXJOIN. Printed lines 8 to 10 drop the upper bound of `f` whenever `g` has a weaker one; line 9's
    /// `C(g)` shows what is meant: a constraint stays when neither box has a point beyond it.
    fn join(ldd: &mut Ldd, f: Node, g: Node) -> Node {
        if f == g || f.is_constant() || g.is_constant() {
            return ldd.or(f, g).unwrap();
        }
        let top = |ldd: &Ldd, n: Node| ldd.decision(n).map(|(v, c, _, _)| (v, c.clone())).unwrap();
        if top(ldd, g) < top(ldd, f) {
            return join(ldd, g, f);
        }
        let ((x, u), (y, w)) = (top(ldd, f), top(ldd, g));
        let part = |ldd: &mut Ldd, n, c: &Cut, positive| ldd.cofactor(n, x, c.clone(), positive).unwrap();
        let (fh, fl) = (part(ldd, f, &u, true), part(ldd, f, &u, false));
        if fh == Node::FALSE && part(ldd, g, &u, true) == Node::FALSE {
            let gl = part(ldd, g, &u, false);
            let rest = join(ldd, fl, gl);
            let test = ldd.constraint(x, u).unwrap();
            return ldd.ite(test, Node::FALSE, rest).unwrap();
        }
        if x == y {
            let (gh, gl) = (part(ldd, g, &w, true), part(ldd, g, &w, false));
            if gl == Node::FALSE && part(ldd, f, &w, false) == Node::FALSE {
                let f = part(ldd, f, &w, true);
                let rest = join(ldd, f, gh);
                let test = ldd.constraint(x, w).unwrap();
                return ldd.ite(test, rest, Node::FALSE).unwrap();
            }
            if gh == Node::FALSE && fl == Node::FALSE {
                // f lies below g: the lower bound of g goes, its upper bound counts.
                return join(ldd, f, gl);
            }
        }
        let rest = if fh == Node::FALSE { fl } else { fh };
        join(ldd, rest, g)
    }
    fn hull(ldd: &mut Ldd, f: Node) -> Node {
        let Some((x, c, high, low)) = ldd.decision(f).map(|(x, c, h, l)| (x, c.clone(), h, l)) else {
            return f;
        };
        let test = ldd.constraint(x, c).unwrap();
        let (fh, fl) = (hull(ldd, high), hull(ldd, low));
        if low == Node::FALSE {
            return ldd.ite(test, fh, Node::FALSE).unwrap();
        }
        if high == Node::FALSE {
            return ldd.ite(test, Node::FALSE, fl).unwrap();
        }
        let bounded = ldd.and(test, fh).unwrap();
        join(ldd, bounded, fl)
    }
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(43);
    for round in 0..3000 {
        let (f, _) = grid.random(&mut ldd, &mut rng, 1 + round % 9);
        let (g, _) = grid.random(&mut ldd, &mut rng, 1 + round % 5);
        let (f, g) = (hull(&mut ldd, f), (hull(&mut ldd, g), ldd.hull(f).unwrap(), ldd.hull(g).unwrap()));
        assert_eq!((f, g.0), (g.1, g.2));
        assert_eq!(join(&mut ldd, f, g.0), ldd.box_join(f, g.0).unwrap());
    }
}

#[test]
fn example_3_and_figure_5a() {
    // f has the values a and b, g refines the partition of b into b, c, b. The refined parts take
    // the value of the middle one, b ∇ c. Values are sets of y: a ⊂ b ⊂ c.
    let (mut ldd, v) = manager(Kind::Real, 2);
    let (x, y) = (v[0], v[1]);
    let value = |k: i64| Interval::closed(rat(0), rat(k));
    let (first, second) = (Interval::at_most(rat(0)), Interval::above(Cut::le(rat(0))));
    let f =
        union(&mut ldd, &[vec![(x, first.clone()), (y, value(1))], vec![(x, second.clone()), (y, value(2))]]);
    let bump = Interval { lo: Some(Cut::le(rat(4))), hi: Some(Cut::le(rat(5))) };
    let bump = ldd.product(&[(x, bump), (y, value(3))]).unwrap();
    let g = ldd.or(f, bump).unwrap();
    let h = ldd.widen(f, g).unwrap();
    // b ∇ c in the dimension of y: the upper bound moved, so it goes.
    let expected = union(&mut ldd, &[vec![(x, first), (y, value(1))], vec![(x, second), (y, ge(rat(0)))]]);
    assert_eq!(h, expected);
    // Pointwise widening would have kept two parts with the old value, to be refined again.
    assert_eq!(ldd.widen(h, h).unwrap(), h);
}

#[test]
fn example_4_and_figure_5bc() {
    let (mut ldd, v) = manager(Kind::Real, 2);
    let (x, y) = (v[0], v[1]);
    let p1 = vec![(x, Interval::closed(rat(0), rat(1))), (y, Interval::closed(rat(2), rat(3)))];
    let p2 = vec![(x, Interval::closed(rat(2), rat(3))), (y, Interval::closed(rat(1), rat(2)))];
    let q1 = vec![(x, Interval::closed(rat(0), ratio(3, 2))), (y, Interval::closed(ratio(3, 2), rat(3)))];
    let bs1 = union(&mut ldd, &[p1, p2.clone()]);
    let bs2 = union(&mut ldd, &[q1, p2.clone()]);
    assert!(ldd.leq(bs1, bs2).unwrap());
    assert_eq!(ldd.hull(bs1).unwrap(), ldd.hull(bs2).unwrap());
    let wide = ldd.widen(bs1, bs2).unwrap();
    // Over [0, 1] the lower bound of y moved and goes. Over (1, 3/2] y is new, and the rest of
    // that gap of f, (3/2, 2), takes over its value. Over [2, 3] nothing changed.
    let gap = Interval { lo: Some(Cut::le(rat(1))), hi: Some(Cut::lt(rat(2))) };
    let expected = union(
        &mut ldd,
        &[
            vec![(x, Interval::closed(rat(0), rat(1))), (y, Interval::at_most(rat(3)))],
            vec![(x, gap), (y, Interval::closed(ratio(3, 2), rat(3)))],
            p2,
        ],
    );
    assert_eq!(wide, expected);
    let hull = ldd.hull(bs2).unwrap();
    assert!(!ldd.leq(wide, hull).unwrap());
}
