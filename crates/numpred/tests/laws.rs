//! Laws and soundness of all implementations, on generated values and statements, with all states of a
//! small range as the ground truth.

use palisade_base::Budget;
use palisade_domains::laws::Rng;
use palisade_domains::{Dim, Domain, Interval, LinCons, LinExpr, MachineInt, Rel};
use palisade_num::Rat;
use palisade_numpred::prover::Prover;
use palisade_numpred::*;

/// N: three domains of conjunctions and one with disjunctions.
fn kinds() -> [Domain; 4] {
    [Domain::interval(), Domain::octagon(), Domain::polyhedra(), Domain::boxes()]
}

const RADIUS: i64 = 2;

/// Two numbers and two predicates: q means x > 0, p means nothing.
fn names() -> Vocabulary {
    let range = Some(MachineInt::signed(8));
    let variable = |i, name: &str| Variable { dim: Dim::int(i), name: name.into(), range };
    let positive = LinCons::gt(Dim::int(0), LinExpr::constant(0)).normalize();
    Vocabulary {
        predicates: vec![
            Predicate { name: "p".into(), meaning: None },
            Predicate { name: "q".into(), meaning: Some(positive) },
        ],
        variables: vec![variable(0, "x"), variable(1, "y")],
    }
}

/// A concrete state: x, y and p. What q is follows.
#[derive(Clone, Copy, PartialEq, Debug)]
struct State {
    x: i64,
    y: i64,
    p: bool,
}

impl State {
    fn all() -> Vec<State> {
        let range = -RADIUS..=RADIUS;
        let pairs = range.clone().flat_map(|x| range.clone().map(move |y| (x, y)));
        pairs.flat_map(|(x, y)| [false, true].map(|p| State { x, y, p })).collect()
    }

    fn num(self, d: Dim) -> Rat {
        Rat::from(if d.index() == 0 { self.x } else { self.y })
    }

    fn holds(self, e: &Expr) -> bool {
        e.eval(&|p, _| if p.0 == 0 { self.p } else { self.x > 0 }, &|d| self.num(d))
    }
}

fn contains(cubes: &[Vec<Literal>], s: State) -> bool {
    cubes.iter().any(|c| c.iter().all(|l| s.holds(&l.expr())))
}

struct Gen(Rng);

impl Gen {
    fn linear(&mut self) -> LinExpr {
        let mut e = LinExpr::constant(self.0.range(-2, 2));
        for i in 0..2 {
            e = e.add_scaled(&LinExpr::dim(Dim::int(i)), &Rat::from(self.0.range(-1, 1)));
        }
        e
    }

    fn term(&mut self) -> Expr {
        let rel = self.0.pick(&[Rel::Le, Rel::Lt, Rel::Eq, Rel::Ne]).clone();
        Expr::Num(LinCons { expr: self.linear(), rel })
    }

    fn expr(&mut self, depth: u32) -> Expr {
        match self.0.below(if depth == 0 { 3 } else { 6 }) {
            0 => Expr::pred(Pred(0)),
            1 => Expr::pred(Pred(1)),
            2 => self.term(),
            3 => Expr::Not(Box::new(self.expr(depth - 1))),
            4 => Expr::and([self.expr(depth - 1), self.expr(depth - 1)]),
            _ => Expr::or([self.expr(depth - 1), self.expr(depth - 1)]),
        }
    }

    /// A statement of the program, as its effect on states and as α^τ of it: the exact weakest
    /// preconditions of the predicates, or less.
    fn statement(&mut self) -> (Box<dyn Fn(State) -> Vec<State>>, Transformer) {
        let vague = self.0.below(3) == 0;
        let choice = |pred, wp: Expr| {
            let f = wp.negate();
            if vague { Choice { pred, t: Expr::FALSE, f: Expr::FALSE } } else { Choice { pred, t: wp, f } }
        };
        let small = |v: i64| Rat::from(v);
        match self.0.below(5) {
            0 => {
                let e = self.expr(2);
                let tau = Transformer::Assume(e.clone());
                (Box::new(move |s| if s.holds(&e) { vec![s] } else { Vec::new() }), tau)
            }
            1 => {
                let (e, g) = (self.linear(), self.expr(1));
                let wp = Expr::Num(LinCons::gt(e.clone(), LinExpr::constant(0)));
                let assign = NumStmt::Assign(vec![(Dim::int(0), NumExpr::Linear(e.clone()))]);
                let tau = Transformer::Both(g.clone(), assign, vec![choice(Pred(1), wp)]);
                let run = move |s: State| {
                    let value = e.eval(&|d| s.num(d)).to_int().and_then(|v| v.to_i64()).expect("small");
                    if s.holds(&g) { vec![State { x: value, ..s }] } else { Vec::new() }
                };
                (Box::new(run), tau)
            }
            2 => {
                // x and y at once, and q about the new x.
                let (e, f) = (self.linear(), self.linear());
                let wp = Expr::Num(LinCons::gt(e.clone(), LinExpr::constant(0)));
                let assign = NumStmt::Assign(vec![
                    (Dim::int(0), NumExpr::Linear(e.clone())),
                    (Dim::int(1), NumExpr::Linear(f.clone())),
                ]);
                let tau = Transformer::Both(Expr::TRUE, assign, vec![choice(Pred(1), wp)]);
                let run = move |s: State| {
                    let value = |e: &LinExpr| e.eval(&|d| s.num(d)).to_int()?.to_i64();
                    vec![State { x: value(&e).expect("small"), y: value(&f).expect("small"), ..s }]
                };
                (Box::new(run), tau)
            }
            3 => {
                let any = NumExpr::Any(Interval::closed(small(-1), small(1)));
                let tau = Transformer::Seq(vec![
                    Transformer::Num(NumStmt::Assign(vec![(Dim::int(1), any)])),
                    Transformer::skip(),
                ]);
                (Box::new(|s| (-1..=1).map(|y| State { y, ..s }).collect()), tau)
            }
            _ => {
                let e = self.expr(1);
                let tau = Transformer::Pred(vec![choice(Pred(0), e.clone())]);
                (Box::new(move |s| vec![State { p: s.holds(&e), ..s }]), tau)
            }
        }
    }
}

/// γ as a set of states; only what consists of a number and its predicate counts.
fn gamma(d: &mut dyn NumPredDom, v: &Value) -> Vec<Vec<Literal>> {
    d.gamma(v).expect("small")
}

#[test]
fn the_requirements_of_figure_3_and_the_transformers_are_sound() {
    for domain in kinds() {
        let kind = domain.name;
        for s in Structure::ALL {
            let d = &mut *s.domain(names(), domain, &Budget::unlimited()).expect("small");
            let g = &mut Gen(Rng::new(7));
            let states = State::all();
            let mut pool = vec![d.top(), d.bot()];
            for _ in 0..10 {
                let e = g.expr(3);
                for cube in prover::cubes(&e, 64).expect("small") {
                    let names = &d.space().names;
                    assert_eq!(d.space().proj_p(&cube), names.proj_p(&cube));
                    assert_eq!(d.space().proj_n(&cube), names.proj_n(&cube));
                }
                let v = d.alpha(&e).expect("small");
                let cubes = gamma(d, &v);
                for &st in states.iter().filter(|st| st.holds(&e)) {
                    assert!(
                        contains(&cubes, st),
                        "{s:?} {kind}: alpha of {} loses {st:?}",
                        d.space().names.display(&e)
                    );
                }
                pool.push(v);
            }
            for a in pool.clone() {
                let ga = gamma(d, &a);
                let has = |cubes: &[Vec<Literal>], st: State| contains(cubes, st);
                assert!(!d.is_bot(&a) || states.iter().all(|&st| !has(&ga, st)));
                assert!(!d.is_top(&a) || states.iter().all(|&st| has(&ga, st)));
                let reduced = d.reduce(&a).expect("small");
                let gr = gamma(d, &reduced);
                for &st in &states {
                    assert!(!has(&ga, st) || has(&gr, st), "{s:?} {kind}: reduce loses {st:?}");
                }
                assert!(d.leq(&a, &a).expect("small"), "{s:?} {kind}");
                let bounded = d.bounded(a.clone()).expect("small");
                let gb = gamma(d, &bounded);
                for &st in &states {
                    assert!(!has(&ga, st) || has(&gb, st), "{s:?} {kind}: bounded loses {st:?}");
                }
                let parts = d.split(&a).expect("small");
                for (_, part) in &parts {
                    assert!(d.leq(part, &a).expect("small"), "{s:?} {kind}: a part is not below");
                }
                let parts: Vec<_> = parts.iter().map(|(_, part)| gamma(d, part)).collect();
                for &st in states.iter().filter(|&&st| has(&ga, st)) {
                    assert!(parts.iter().any(|p| has(p, st)), "{s:?} {kind}: the parts lose {st:?}");
                }
                for b in pool.clone() {
                    let gb = gamma(d, &b);
                    let (j, m, w) = (d.join(&a, &b), d.meet(&a, &b), d.widen(&a, &b));
                    let (j, m, w) = (j.expect("small"), m.expect("small"), w.expect("small"));
                    let (gj, gm, gw) = (gamma(d, &j), gamma(d, &m), gamma(d, &w));
                    let leq = d.leq(&a, &b).expect("small");
                    for &st in &states {
                        let (x, y) = (has(&ga, st), has(&gb, st));
                        assert!(!(x || y) || has(&gj, st), "{s:?} {kind}: join loses {st:?}");
                        assert!(!(x || y) || has(&gw, st), "{s:?} {kind}: widen loses {st:?}");
                        assert!(!(x && y) || has(&gm, st), "{s:?} {kind}: meet loses {st:?}");
                        assert!(!leq || !x || y, "{s:?} {kind}: leq is wrong at {st:?}");
                    }
                    assert!(d.leq(&a, &j).expect("small") && d.leq(&b, &j).expect("small"), "{s:?} {kind}");
                    assert!(d.leq(&a, &w).expect("small") && d.leq(&b, &w).expect("small"), "{s:?} {kind}");
                }
                for _ in 0..6 {
                    let (run, tau) = g.statement();
                    let after = d.post(&tau, &a).expect("small");
                    let gp = gamma(d, &after);
                    for &st in states.iter().filter(|&&st| has(&ga, st)) {
                        for next in run(st) {
                            let text = tau.display(&d.space().names);
                            assert!(contains(&gp, next), "{s:?} {kind}: {text} loses {st:?} -> {next:?}");
                        }
                    }
                }
            }
        }
    }
}

/// A union of many points is one convex set once it is bounded, for each valuation of the predicates.
#[test]
fn bounded_values_of_ndd_have_one_numeric_part_for_each_valuation() {
    let d = &mut *Structure::Ndd.domain(names(), Domain::polyhedra(), &Budget::unlimited()).expect("small");
    let at = |i, c| Expr::Num(LinCons::eq(Dim::int(i), LinExpr::constant(c)));
    let points = |p: Expr| Expr::or((-4..=4).map(|c| Expr::and([at(0, c), at(1, 2 * c), p.clone()])));
    let p = Expr::pred(Pred(0));
    let union = d.alpha(&Expr::or([points(p.negate()), points(p)])).expect("small");
    assert!(gamma(d, &union).len() >= 9);
    let bounded = d.bounded(union.clone()).expect("small");
    assert!(d.leq(&union, &bounded).expect("small"));
    // x > 0 or not, whatever p is.
    assert!(gamma(d, &bounded).len() <= 4, "{}", d.display(&bounded).expect("small"));
}

#[test]
fn widening_chains_end() {
    for domain in kinds() {
        let kind = domain.name;
        for s in Structure::ALL {
            let d = &mut *s.domain(names(), domain, &Budget::unlimited()).expect("small");
            let g = &mut Gen(Rng::new(3));
            for _ in 0..5 {
                let start = g.expr(2);
                let mut v = d.alpha(&start).expect("small");
                let mut steps = 0;
                for _ in 0..60 {
                    let (_, tau) = g.statement();
                    let next = d.post(&tau, &v).expect("small");
                    let wider = d.widen(&v, &next).expect("small");
                    steps += usize::from(wider != v);
                    v = wider;
                }
                assert!(steps < 40, "{s:?} {kind}: {steps} growing steps");
            }
        }
    }
}

#[test]
fn structures_for_the_same_functions_agree() {
    // NEX and MTNDD are the same functions; NEXPOINT is above them, NDD below.
    for domain in [Domain::interval(), Domain::octagon(), Domain::polyhedra()] {
        let kind = domain.name;
        let make = |s: Structure| s.domain(names(), domain, &Budget::unlimited()).expect("small");
        let [mut nex, mut mt, mut ndd, mut point] =
            [Structure::Nex, Structure::Mtndd, Structure::Ndd, Structure::NexPoint].map(make);
        let g = &mut Gen(Rng::new(11));
        let states = State::all();
        for _ in 0..40 {
            let e = g.expr(2);
            let taus = [g.statement().1, g.statement().1];
            let run = |d: &mut Box<dyn NumPredDom>| {
                let mut v = d.alpha(&e).expect("small");
                for tau in &taus {
                    let next = d.post(tau, &v).expect("small");
                    v = d.join(&v, &next).expect("small");
                }
                let cubes = d.gamma(&v).expect("small");
                states.iter().map(|&s| contains(&cubes, s)).collect::<Vec<bool>>()
            };
            let (a, b, c, p) = (run(&mut nex), run(&mut mt), run(&mut ndd), run(&mut point));
            assert_eq!(a, b, "{kind}");
            let below = |x: &[bool], y: &[bool]| x.iter().zip(y).all(|(x, y)| !x || *y);
            assert!(below(&a, &p), "{kind}: NEX above NEXPOINT");
            assert!(below(&c, &a), "{kind}: NDD above NEX");
        }
    }
}

#[test]
fn leq_of_ndd_is_exact_where_the_numbers_are() {
    // Octagons decide conjunctions of octagonal terms over the integers.
    let d = &mut *Structure::Ndd.domain(names(), Domain::octagon(), &Budget::unlimited()).expect("small");
    let g = &mut Gen(Rng::new(5));
    let mut prover = Prover::new(&Budget::unlimited());
    let names = names();
    let inside = |d: &mut dyn NumPredDom, e: &Expr| {
        // Within the range of the solver's variables.
        let bound = |i, k: i64| Expr::Num(LinCons::le(LinExpr::dim(Dim::int(i)).scale(&Rat::from(k)), 50));
        d.alpha(&Expr::and([e.clone(), bound(0, 1), bound(0, -1), bound(1, 1), bound(1, -1)])).expect("small")
    };
    let (mut yes, mut no) = (0, 0);
    for _ in 0..150 {
        let (e, f) = (g.expr(2), g.expr(2));
        let (a, b) = (inside(d, &e), inside(d, &f));
        let b = if g.0.below(2) == 0 { d.join(&a, &b).expect("small") } else { b };
        let (ga, gb) = (d.gamma(&a).expect("small"), d.gamma(&b).expect("small"));
        let expected = prover.dnf_implies(&names, &ga, &gb).expect("small");
        assert_eq!(d.leq(&a, &b).expect("small"), expected, "{} <= {}", names.display(&e), names.display(&f));
        *(if expected { &mut yes } else { &mut no }) += 1;
    }
    assert!(yes > 20 && no > 20, "{yes} {no}");
}

/// Figure 14(a).
fn counting(c: i64) -> String {
    format!("vars x; x := 0; while (x < {c}) {{ x := x + 1; }} assert(x = {c});")
}

#[test]
fn figure_14_templates_are_shown() {
    let safe = |s: Structure, domain, text: &str| {
        let program = parse::program(text).expect("a program");
        let mut d = s.domain(program.names.clone(), domain, &Budget::unlimited()).expect("small");
        program::analyse(&program, &mut *d).expect("small").safe()
    };
    for domain in kinds() {
        let kind = domain.name;
        for s in [Structure::Numeric, Structure::NexPoint, Structure::Nex, Structure::Mtndd, Structure::Ndd] {
            assert!(safe(s, domain, &counting(10_000)), "{s:?} {kind}");
        }
    }
}
