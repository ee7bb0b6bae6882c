//! The examples of "Combining Predicate and Numeric Abstraction for Software Model Checking", with the
//! values that it states.

use palisade_base::Budget;
use palisade_domains::{Domain, MachineInt};
use palisade_numpred::prover::{self, Prover};
use palisade_numpred::*;

/// A vocabulary from declarations; variables are bytes where a solver must say something about them.
fn vocabulary(declarations: &str) -> Vocabulary {
    let mut names = parse::program(declarations).expect("declarations").names;
    names.variables.iter_mut().for_each(|v| v.range = Some(MachineInt::signed(8)));
    names
}

fn domain(structure: Structure, declarations: &str) -> Box<dyn NumPredDom> {
    structure.domain(vocabulary(declarations), Domain::polyhedra(), &Budget::unlimited()).expect("small")
}

fn expr(dom: &dyn NumPredDom, text: &str) -> Expr {
    parse::expr(text, &dom.space().names).expect("an expression")
}

fn alpha(dom: &mut dyn NumPredDom, text: &str) -> Value {
    let e = expr(dom, text);
    dom.alpha(&e).expect("small")
}

fn tau(dom: &dyn NumPredDom, text: &str) -> Transformer {
    parse::transformer(text, &dom.space().names).expect("a transformer")
}

fn post(dom: &mut dyn NumPredDom, text: &str, v: &Value) -> Value {
    let t = tau(dom, text);
    dom.post(&t, v).expect("small")
}

/// γ(v) ≡ the expression, by the solver.
fn is(dom: &mut dyn NumPredDom, v: &Value, text: &str) {
    let gamma = dom.gamma(v).expect("small");
    let names = dom.space().names.clone();
    let expected = prover::cubes(&expr(dom, text), 1000).expect("small");
    let mut p = Prover::new(&Budget::unlimited());
    let shown = dom.display(v).expect("small");
    assert_eq!(p.dnf_implies(&names, &gamma, &expected), Some(true), "{}: {shown} => {text}", dom.name());
    assert_eq!(p.dnf_implies(&names, &expected, &gamma), Some(true), "{}: {text} => {shown}", dom.name());
}

const COMBINED: [Structure; 4] = [Structure::NexPoint, Structure::Nex, Structure::Mtndd, Structure::Ndd];
const EXACT: [Structure; 3] = [Structure::Nex, Structure::Mtndd, Structure::Ndd];

#[test]
fn example_1_collecting_semantics_of_atomic_statements() {
    for s in [Structure::Numeric].into_iter().chain(COMBINED) {
        let d = &mut *domain(s, "vars x, y;");
        for (before, statement, after) in [
            ("x > 3 & x < 100", "x := x + 1", "x > 4 & x < 101"),
            ("x = 3 & y = 6", "x := 5", "x = 5 & y = 6"),
            ("y = 6", "assume(x > 4)", "x > 4 & y = 6"),
        ] {
            let v = alpha(d, before);
            let v = post(d, statement, &v);
            is(d, &v, after);
        }
    }
}

#[test]
fn example_2_numeric_transformers_act_at_once() {
    for s in [Structure::Numeric].into_iter().chain(COMBINED) {
        let d = &mut *domain(s, "vars x, y;");
        let v = alpha(d, "x = 1 & y = 7");
        let swapped = post(d, "x := y + 1 & y := x - 1", &v);
        is(d, &swapped, "x = 8 & y = 0");
        let v = alpha(d, "x = 3 & y >= 0");
        let v = post(d, "assume(x + y <= 5)", &v);
        is(d, &v, "x = 3 & 0 <= y <= 2");
    }
}

#[test]
fn example_3_choice() {
    for s in [Structure::Predicate].into_iter().chain(COMBINED) {
        let d = &mut *domain(s, "preds p, q;");
        for before in ["p", "!p", "p & q | !p & !q"] {
            let v = alpha(d, before);
            let same = post(d, "p := choice(p, !p)", &v);
            assert_eq!(same, v);
            let free = post(d, "p := choice(false, false)", &v);
            let expected = d.exists(&[Pred(0)], &v).expect("small");
            assert_eq!(free, expected);
        }
        let v = alpha(d, "q");
        let v = post(d, "p := choice(p & q, false)", &v);
        is(d, &v, "q");
        let v = alpha(d, "p & q");
        let v = post(d, "p := choice(p & q, false)", &v);
        is(d, &v, "p & q");
    }
}

#[test]
fn example_4_an_element_that_predicates_and_numbers_form_together() {
    let text = "(p & x >= 0 & y >= 0) | (!p & x < 0)";
    for declarations in ["vars x, y; preds p;", "vars x, y; preds p = (x >= 0);"] {
        for s in EXACT {
            let d = &mut *domain(s, declarations);
            let v = alpha(d, text);
            is(d, &v, text);
        }
    }
}

#[test]
fn example_5_projections() {
    let names = vocabulary("vars x, y; preds p, q = (x >= 0);");
    let conjunction = |text: &str| {
        prover::cubes(&parse::expr(text, &names).expect("an expression"), 10).expect("small").remove(0)
    };
    let e = conjunction("p & x >= 0 & y >= 0");
    assert_eq!(names.proj_p(&e), vec![(Pred(0), false, true), (Pred(1), false, true)]);
    let only_y = Vocabulary { variables: names.variables[1..].to_vec(), predicates: Vec::new() };
    let numbers = only_y.proj_n(&e[1..]);
    assert_eq!(names.display(&Expr::Num(numbers[0].clone())), "y >= 0");
    assert_eq!(numbers.len(), 1);
    // The solver also sees what only follows.
    let mut p = Prover::new(&Budget::unlimited());
    let e = conjunction("x > y & y >= 3");
    assert_eq!(names.proj_p(&e), vec![]);
    assert_eq!(p.proj_p(&names, &e), vec![(Pred(1), false, true)]);
    let bounds = p.proj_n(&names, &e);
    let x_at_least_4 = conjunction("x >= 4").remove(0);
    assert!(bounds.iter().any(|c| Literal::Num(c.normalize()) == x_at_least_4), "{bounds:?}");
}

#[test]
fn examples_6_to_8_pointers_through_predicates() {
    // V_P = {p = &x, p = &y}, V_N = {x, y}.
    for s in EXACT {
        let d = &mut *domain(s, "vars x, y; preds px, py;");
        let v = alpha(d, "px & !py & x = 5 & y = -1 | py & !px & x = 5 & y = -1");
        let positive = "assume((px & x > 0) | (py & y > 0) | (!py & !px))";
        let v6 = post(d, positive, &v);
        is(d, &v6, "px & !py & x = 5 & y = -1");
        let v7 = post(d, "(px ? x := 3) | (py ? y := 3)", &v);
        is(d, &v7, "px & !py & x = 3 & y = -1 | py & !px & x = 5 & y = 3");
    }
    for s in EXACT {
        // V_P = {y > 0, p = &x, p = &y}, V_N = {x}.
        let d = &mut *domain(s, "vars x; preds ypos, px, py;");
        let assign = "ypos := choice(px & ypos | py & x > 0, px & !ypos | py & x <= 0)";
        for (before, after) in [
            ("py & !px & x = 2 & !ypos", "py & !px & x = 2 & ypos"),
            ("py & !px & x = -2 & ypos", "py & !px & x = -2 & !ypos"),
            ("px & !py & x = 2 & !ypos", "px & !py & x = 2 & !ypos"),
            ("px & !py & x = 2 & ypos", "px & !py & x = 2 & ypos"),
            ("!px & !py & x = 2 & ypos", "!px & !py & x = 2"),
        ] {
            let v = alpha(d, before);
            let v = post(d, assign, &v);
            let v = d.reduce(&v).expect("small");
            is(d, &v, after);
        }
    }
}

#[test]
fn example_9_both_sides_change_each_other() {
    // y := x ∧ x := (y = 1) ? v : w, with y = 1 a predicate.
    for s in EXACT {
        let d = &mut *domain(s, "vars x, v, w; preds y1;");
        let both =
            "{ (y1 ? x := v) & y1 := choice(x = 1, x != 1) | (!y1 ? x := w) & y1 := choice(x = 1, x != 1) }";
        for (before, after) in [
            ("y1 & x = 1 & v = 5 & w = 6", "y1 & x = 5 & v = 5 & w = 6"),
            ("!y1 & x = 1 & v = 5 & w = 6", "y1 & x = 6 & v = 5 & w = 6"),
            ("!y1 & x = 2 & v = 5 & w = 6", "!y1 & x = 6 & v = 5 & w = 6"),
        ] {
            let v = alpha(d, before);
            let v = post(d, both, &v);
            let v = d.reduce(&v).expect("small");
            is(d, &v, after);
        }
    }
}

/// Figure 2(b).
const FIGURE_2B: &str = "
    vars x1, x2, y1, y2;
    preds p, q;
    assume(x1 = x2);
    { assume(p);
      x1 := y1 - 2 ∧ q := choice(false, false);
      x2 := y2 + 2 ∧ q := choice(x1 + 2 = y1 ∧ p, false) }
    ∨
    { assume(¬p); q := choice(false, true) };
    { assume(q); x1 := x1 + x2; x2 := x2 + y1 - 2 } ∨ assume(¬q);
    assert(x1 = x2);
";

#[test]
fn example_10_figure_2b_needs_both() {
    let program = parse::program(FIGURE_2B).expect("Figure 2(b)");
    let safe = |s: Structure, kind| {
        let mut d = s.domain(program.names.clone(), kind, &Budget::unlimited()).expect("small");
        program::analyse(&program, &mut *d).expect("small").safe()
    };
    for s in EXACT {
        assert!(safe(s, Domain::polyhedra()), "{s:?}");
    }
    assert!(!safe(Structure::Numeric, Domain::polyhedra()));
    assert!(!safe(Structure::Predicate, Domain::polyhedra()));
    assert!(!safe(Structure::NexPoint, Domain::polyhedra()), "one set of constraints for all predicates");
}

#[test]
fn example_11_reduce_of_nexpoint() {
    let d = &mut *domain(Structure::NexPoint, "vars x, y; preds q = (x = 0), r = (y = 0);");
    let both = |d: &mut dyn NumPredDom, p: &str, n: &str| {
        let mut part = |text: &str| {
            let e = parse::expr(text, &d.space().names).expect("an expression").nnf();
            match d.space_mut().formula(&e).expect("small") {
                Some(f) => d.alpha_p(f).expect("small"),
                None => {
                    let cube = prover::cubes(&e, 1).expect("a conjunction").remove(0);
                    let n = d.space().names.proj_n(&cube);
                    d.alpha_n(&n).expect("small")
                }
            }
        };
        let (p, n) = (part(p), part(n));
        d.meet(&p, &n).expect("small")
    };
    let before = both(d, "q | r", "x = 3 & y >= 0");
    let after = d.reduce(&before).expect("small");
    assert_eq!(after, both(d, "!q & r", "x = 3 & y = 0"));
    assert!(d.leq(&after, &before).expect("small"));
    assert!(!d.leq(&before, &after).expect("small"));
    let empty = both(d, "q | r", "x = 3 & y < 0");
    assert!(!d.is_bot(&empty));
    let reduced = d.reduce(&empty).expect("small");
    assert!(d.is_bot(&reduced));
    assert!(d.leq(&reduced, &empty).expect("small") && !d.leq(&empty, &reduced).expect("small"));
}

#[test]
fn example_12_nex_says_what_nexpoint_cannot() {
    let text = "(p & !q & x < 0) | (!p & q & y < 0)";
    let d = &mut *domain(Structure::Nex, "vars x, y; preds p, q;");
    let v = alpha(d, text);
    assert_eq!(v.pairs(), 2);
    is(d, &v, text);
    let d = &mut *domain(Structure::NexPoint, "vars x, y; preds p, q;");
    let v = alpha(d, text);
    is(d, &v, "p & !q | !p & q");
}

#[test]
fn example_13_a_value_of_mtndd() {
    // z is not in V_N.
    let d = &mut *domain(Structure::Mtndd, "vars x, y; preds p1 = (x > 0), p2;");
    let v = alpha(d, "x > 0 & !p2 & x = y");
    is(d, &v, "p1 & !p2 & x > 0 & x = y");
}

#[test]
fn example_14_shadow_variables_of_ndd() {
    let d = &mut *domain(Structure::Ndd, "vars x; preds x3 = (x = 3), x4 = (x = 4);");
    let u = alpha(d, "x = 3 & x >= 3");
    let v = post(d, "x := x + 1 & x4 := choice(x = 3, false) & x3 := choice(false, x = 3)", &u);
    is(d, &v, "x >= 4 & x = 4");
    let v = post(d, "x := x + 1 & x4 := choice(x = 3, false)", &u);
    is(d, &v, "x >= 4 & x = 4");
}

#[test]
fn figure_1a_wants_predicates_and_figure_1b_numbers() {
    let a = "vars i, a1, a2;
        { assume(i = 1) | assume(i = 2) };
        if (i = 1) { a1 := 3; } else { if (i = 2) { a2 := -4; } }
        if (i = 1) { assert(a1 > 0); } else { if (i = 2) { assert(a2 < 0); } else { assert(false); } }";
    let b = "vars x1, x2, y1, y2;
        if (3 <= y1 <= 4) { x1 := y1 - 2; x2 := y1 + 2; }
        else { assume(3 <= y2 <= 4); x1 := y2 - 2; x2 := y2 + 2; }
        assert(5 <= x1 + x2 <= 10);";
    let a_with = format!("preds i1 = (i = 1), i2 = (i = 2);\n{}", a.replace("vars i, a1, a2;", ""));
    let safe = |s: Structure, text: &str| {
        let program = parse::program(text).expect("a program");
        let mut d =
            s.domain(program.names.clone(), Domain::polyhedra(), &Budget::unlimited()).expect("small");
        program::analyse(&program, &mut *d).expect("small").safe()
    };
    assert!(!safe(Structure::Numeric, a));
    let a_with = format!("vars i, a1, a2; {a_with}");
    for s in EXACT {
        assert!(safe(s, &a_with), "{s:?}");
        assert!(safe(s, b), "{s:?}");
    }
    assert!(safe(Structure::Numeric, b));
    assert!(!safe(Structure::Predicate, b));
}

#[test]
fn text_is_read_back_as_it_was_printed() {
    let names = vocabulary("vars x, y; preds p, q;");
    for text in [
        "x := y + 1 & y := x - 1",
        "assume((p & x > 0) | !q)",
        "(p ? x := 3) | (q ? y := 2*x)",
        "p := choice(x <= 3, false) & q := choice(true, p & !q)",
        "(p & x < 3 ? x := *) & p := choice(false, false)",
        "skip; { x := 0; y := 0 } | assume(false)",
    ] {
        let tau = parse::transformer(text, &names).expect("a transformer");
        let printed = tau.display(&names);
        let again = parse::transformer(&printed, &names).expect("what was printed");
        assert_eq!(again.display(&names), printed, "{text}");
    }
    for wrong in ["x :=", "p := 3", "assume(", "x := 1 & x := 2", "z := 1", "{ x := 1", "assume(x)", "@"] {
        assert!(parse::transformer(wrong, &names).is_err(), "{wrong}");
    }
    assert!(parse::expr(&"(".repeat(100_000), &names).is_err());
}
