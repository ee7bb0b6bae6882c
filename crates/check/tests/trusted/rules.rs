//! Every rule of a proof has a program that is wrong and a certificate that would do but for this rule: both
//! checkers must refuse it. Beside each stands a program that is right, for which they accept the like.

use crate::common::compile;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_check::court::Court;
use palisade_check::replay::replay;
use palisade_check::{Rejection, plain, reduced, sampled};
use palisade_evidence::{Bounds, Certificate, Contracts, Counterexample, Cover, Invariants};
use palisade_property::Property;
use palisade_task::Task;
use palisade_task::contracts::{Contract, Weaving};
use std::sync::Arc;

const HEAD: &str =
    "int __VERIFIER_nondet_int(void); void *__VERIFIER_nondet_pointer(void); void reach_error(void); ";

/// The reduced task of the body of `main`, behind some globals.
fn task(globals: &str, body: &str) -> Task {
    let text = format!("{HEAD}{globals} int main(void) {{ {body} return 0; }}");
    let source = Arc::new(compile(&text, &Property::assertions(), DataModel::Lp64));
    palisade_reduce::task(&source, 2, 10_000).expect("small")
}

fn named(task: &Task, name: &str) -> VarId {
    let mut vars = task.program.vars.iter_enumerated();
    vars.find(|(_, v)| &*v.name == name).map(|(id, _)| id).expect("there is such a variable")
}

fn heads(task: &Task) -> Vec<LocId> {
    task.program.analyse().loop_heads(task.program.entry).collect()
}

/// Comparisons of variables with numbers, at all loop heads.
fn facts(task: &Task, list: &[(&str, CmpOp, i128)]) -> Invariants {
    let p = &task.program;
    let mut pool = Invariants::none(p);
    for &(name, op, number) in list {
        let (left, right) = (pool.var(p, named(task, name)), pool.int(IntTy::I32, number));
        let fact = pool.expr(Scalar::BOOL, ExprKind::Cmp(op, left, right));
        pool.at.extend(heads(task).into_iter().map(|head| (head, fact)));
    }
    pool
}

/// The same values of a variable at all loop heads.
fn cover(task: &Task, name: &str, values: &[u128]) -> Certificate {
    let var = named(task, name);
    let states =
        heads(task).into_iter().flat_map(|h| values.iter().map(move |v| (h, vec![(var, Bounds::only(*v))])));
    Certificate::Cover(Cover { states: states.collect() })
}

/// Values of a variable from one number to another, at all loop heads.
fn ranges(task: &Task, name: &str, ranges: &[(i128, i128)]) -> Certificate {
    let var = named(task, name);
    let bits = |value: i128| IntTy::I32.truncate(value as u128);
    let state = |&(lo, hi): &(i128, i128)| vec![(var, Bounds { first: bits(lo), last: bits(hi) })];
    let states = heads(task).into_iter().flat_map(|h| ranges.iter().map(move |r| (h, state(r))));
    Certificate::Cover(Cover { states: states.collect() })
}

fn bounds(task: &Task, n: u32) -> Certificate {
    Certificate::Unrolling { bounds: heads(task).into_iter().map(|h| (h, n)).collect() }
}

fn checked(task: &Task, certificate: &Certificate) -> [Result<(), Rejection>; 3] {
    let budget = Budget::unlimited();
    [
        reduced(task, certificate, &Court::new(&budget)),
        plain::check(task, certificate, &Court::plain(&budget)),
        reduced(task, certificate, &Court::confirming(&budget)),
    ]
}

#[track_caller]
fn accepted(task: &Task, certificate: &Certificate) {
    assert_eq!(checked(task, certificate), [Ok(()), Ok(()), Ok(())]);
}

#[track_caller]
fn refused(task: &Task, certificate: &Certificate) {
    for result in checked(task, certificate) {
        assert!(matches!(result, Err(Rejection::Wrong(_))), "{result:?}");
    }
}

fn induction(k: u32, invariants: Invariants) -> Certificate {
    Certificate::KInduction { k, invariants }
}

/// The first step is an error.
#[test]
fn an_error_at_the_very_start() {
    let wrong = task("", "reach_error();");
    refused(&wrong, &bounds(&wrong, 0));
    refused(&wrong, &Certificate::Invariants(facts(&wrong, &[])));
    refused(&wrong, &induction(1, facts(&wrong, &[])));
}

/// An error before the first loop head.
#[test]
fn the_way_to_the_first_loop_is_followed() {
    let loops = "int x = 0; while (__VERIFIER_nondet_int()) { x = !x; if (x == 2) reach_error(); }";
    let wrong = task("", &format!("if (__VERIFIER_nondet_int() == 3) reach_error(); {loops}"));
    let right = task("", loops);
    for (task, refuse) in [(&wrong, true), (&right, false)] {
        let small = facts(task, &[("x", CmpOp::Le, 1), ("x", CmpOp::Lt, 2)]);
        for certificate in [
            Certificate::Invariants(small.clone()),
            induction(0, small.clone()),
            induction(2, small),
            cover(task, "x", &[0, 1]),
        ] {
            if refuse { refused(task, &certificate) } else { accepted(task, &certificate) }
        }
    }
}

/// Facts that hold at the start and are not kept, and facts that are kept and do not hold at the start.
#[test]
fn facts_are_initial_and_inductive() {
    let counts = task("", "int x = 0; while (__VERIFIER_nondet_int()) { if (x == 3) reach_error(); x++; }");
    let stays = task("", "int x = 5; while (__VERIFIER_nondet_int()) { if (x == 5) reach_error(); x = x; }");
    let global =
        task("int g;", "while (1) { if (g == 0 && __VERIFIER_nondet_int()) reach_error(); g = g * 2; }");
    for k in [None, Some(0), Some(1)] {
        let proof =
            |pool: Invariants| k.map_or(Certificate::Invariants(pool.clone()), |k| induction(k, pool));
        refused(&counts, &proof(facts(&counts, &[("x", CmpOp::Ne, 3)])));
        refused(&counts, &proof(facts(&counts, &[("x", CmpOp::Lt, 3)])));
        refused(&stays, &proof(facts(&stays, &[])));
        refused(&global, &proof(facts(&global, &[("g", CmpOp::Ne, 0)])));
    }
    let kept =
        "int x = 5; while (__VERIFIER_nondet_int()) { if (x == 4) reach_error(); x = x == 5 ? 6 : 5; }";
    let kept = task("", kept);
    accepted(&kept, &Certificate::Invariants(facts(&kept, &[("x", CmpOp::Ne, 4), ("x", CmpOp::Le, 9)])));
    refused(&kept, &Certificate::Invariants(facts(&kept, &[])));
    accepted(&kept, &induction(1, facts(&kept, &[])));
    let still =
        task("int g = 1;", "while (1) { if (g == 0 && __VERIFIER_nondet_int()) reach_error(); g = g | 1; }");
    accepted(&still, &Certificate::Invariants(facts(&still, &[("g", CmpOp::Ne, 0)])));
}

/// Two ways back to the head of a loop, one of which breaks the fact.
#[test]
fn every_way_back_is_followed() {
    for (one, other) in [(5, 1), (1, 5)] {
        let body = format!(
            "int x = 0; while (__VERIFIER_nondet_int()) {{ if (x == 5) reach_error();
             if (__VERIFIER_nondet_int()) {{ x = {one}; continue; }} x = {other}; }}"
        );
        let wrong = task("", &body);
        for certificate in [
            Certificate::Invariants(facts(&wrong, &[("x", CmpOp::Ne, 5)])),
            induction(1, facts(&wrong, &[("x", CmpOp::Ne, 5)])),
            induction(3, facts(&wrong, &[])),
            cover(&wrong, "x", &[0, 1]),
        ] {
            refused(&wrong, &certificate);
        }
    }
}

/// The task of an automaton, as it is.
fn automaton(text: &str) -> Task {
    let program = palisade_cfa::text::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    palisade_reduce::task(&Arc::new(program), 2, 10_000).expect("small")
}

/// The entry is the head of a loop; the fact is kept, but does not hold at the start.
#[test]
fn a_loop_at_the_very_start() {
    let text = |first: u32| {
        format!(
            "global g: i32 = {{ @0 {first}:i32 }}; fn main() -> i32 {{ loop a -> b: check assertion g != 0;
             b -> a: g = g | 0; }} entry main;"
        )
    };
    for (task, refuse) in [(automaton(&text(0)), true), (automaton(&text(3)), false)] {
        for k in [None, Some(0), Some(1)] {
            let pool = facts(&task, &[("g", CmpOp::Ne, 0)]);
            let certificate = k.map_or(Certificate::Invariants(pool.clone()), |k| induction(k, pool));
            if refuse { refused(&task, &certificate) } else { accepted(&task, &certificate) }
        }
    }
}

/// Branches whose conditions do not exclude each other: both are followed.
#[test]
fn branches_that_overlap() {
    for (one, other, first, second) in [(1, 2, 5, 9), (2, 1, 5, 9), (1, 2, 9, 5), (2, 1, 9, 5)] {
        let task = automaton(&format!(
            "fn main() -> i32 {{ local x: i32; local y: i32; s -> a: input x; a -> b: assume x < {first};
             a -> c: assume x < {second}; b -> m: y = {one}; c -> m: y = {other}; m -> d: check assertion y != 2;
             d -> exit: return 0; }} entry main;"
        ));
        refused(&task, &bounds(&task, 0));
        refused(&task, &Certificate::Invariants(facts(&task, &[])));
    }
    // The second branch is the first to meet the other again.
    let late = automaton(
        "fn main() -> i32 { local x: i32; local y: i32; s -> t: input x; t -> a: y = 1; a -> b: assume x < 5;
         a -> m: assume x < 9; b -> m: y = 2; m -> d: check assertion y != 2; d -> exit: return 0; } entry main;",
    );
    refused(&late, &bounds(&late, 0));
    // Branches to the same place that do different things.
    for (one, other) in [(1, 2), (2, 1)] {
        let same = automaton(&format!(
            "fn main() -> i32 {{ local y: i32; s -> a: y = 0; a -> m: y = {one}; a -> m: y = {other};
             m -> d: check assertion y != 2; d -> exit: return 0; }} entry main;"
        ));
        refused(&same, &bounds(&same, 0));
    }
}

/// Operations that C makes seldom.
#[test]
fn registers_in_whole_and_in_part() {
    let text = |condition: &str| {
        format!(
            "fn main() -> i32 {{ local x: i32; local z: u8; s -> t: input x; t -> a: zero x;
             a -> b: check assertion {condition}; b -> exit: return 0; }} entry main;"
        )
    };
    let (zero, one) = (automaton(&text("x == 0")), automaton(&text("x == 1")));
    accepted(&zero, &bounds(&zero, 0));
    refused(&one, &bounds(&one, 0));
    // Instead of that, the lowest byte is set.
    for (condition, right) in [("(x & 255) == 7", true), ("x == 7", false), ("(x & 256) == 0", false)] {
        let mut program = palisade_cfa::text::parse(&text(condition)).unwrap_or_else(|e| panic!("{e:?}"));
        let var = |name: &str| program.vars.iter_enumerated().find(|(_, v)| &*v.name == name).map(|v| v.0);
        let (x, z) = (var("x").expect("a register"), var("z").expect("another"));
        let byte = Place { base: Base::Var(x), path: Default::default(), ty: program.vars[z].ty, bits: None };
        let (dst, src) = (program.places.push(byte), program.int(IntTy { bits: 8, signed: false }, 7));
        for edge in program.edges.iter_mut().filter(|e| matches!(e.op, Op::Zero { .. })) {
            edge.op = Op::Assign { dst, src };
        }
        let task = palisade_reduce::task(&Arc::new(program), 2, 10_000).expect("small");
        let twin = plain::check(&task, &bounds(&task, 0), &Court::plain(&Budget::unlimited()));
        assert_eq!(twin.is_ok(), right, "{condition}: {twin:?}");
    }
}

/// Variables that live at the same time are different objects.
#[test]
fn lives_have_numbers_of_their_own() {
    let body = "int x = 0, y = 0; int *p = &x, *q = &y; while (__VERIFIER_nondet_int()) { *p = 1; *q = 5;
        if (*p == 1) { int *none = 0; *none = 1; } }";
    let text = format!("{HEAD} int main(void) {{ {body} return 0; }}");
    let property = Property::named("valid-deref").expect("there is such a property");
    let source = Arc::new(compile(&text, &property, DataModel::Lp64));
    let wrong = palisade_reduce::task(&source, 2, 10_000).expect("small");
    refused(&wrong, &Certificate::Invariants(facts(&wrong, &[])));
}

/// At a loop a pointer may point to any object that there is.
#[test]
fn pointers_at_loops_point_to_what_there_is() {
    let body = "int *p = __VERIFIER_nondet_int() ? &g : &h;
        while (__VERIFIER_nondet_int()) { g = 0; *p = 1; if (g == 1) reach_error(); }";
    let wrong = task("int g, h;", body);
    refused(&wrong, &Certificate::Invariants(facts(&wrong, &[])));
}

/// A pointer that was not set points to no object that is made later.
#[test]
fn pointers_that_were_not_set() {
    let globals = "void *malloc(unsigned long); int g;";
    let body = |other: &str| {
        format!(
            "{{ int *p; int *q = malloc(4), *o = {other}; if (q) {{ *o = 1; *p = 2; if (*o != 1) reach_error(); }} }}"
        )
    };
    for (other, right) in [("q", true), ("&g", false)] {
        let task = task(globals, &body(other));
        let twin = plain::check(&task, &bounds(&task, 0), &Court::plain(&Budget::unlimited()));
        assert_eq!(twin.is_ok(), right, "{other}: {twin:?}");
    }
}

/// A fact that says what a variable holds, which is wrong in the second pass, and one that needs it.
#[test]
fn values_that_facts_need_are_shown() {
    let body = |then: &str| {
        format!(
            "int x = 0, y = 0; while (__VERIFIER_nondet_int()) {{ if (y) reach_error(); if (x) y = 1; \
             if (__VERIFIER_nondet_int()) x = {then}; }}"
        )
    };
    for (then, right) in [("x", true), ("1", false)] {
        let task = task("", &body(then));
        let values = || facts(&task, &[("x", CmpOp::Eq, 0), ("y", CmpOp::Eq, 0)]);
        for certificate in [Certificate::Invariants(values()), induction(0, values())] {
            if right { accepted(&task, &certificate) } else { refused(&task, &certificate) }
        }
    }
}

/// A fact that needs another one, which is wrong.
#[test]
fn facts_that_facts_need_are_shown() {
    let body =
        "int x = 0, y = 0; while (__VERIFIER_nondet_int()) { if (x == 5) reach_error(); if (y == 1) x = 5;
        y = __VERIFIER_nondet_int() & 1; }";
    let wrong = task("", body);
    let list = [("x", CmpOp::Ne, 5), ("y", CmpOp::Ne, 1)];
    refused(&wrong, &Certificate::Invariants(facts(&wrong, &list)));
    refused(&wrong, &induction(0, facts(&wrong, &list)));
    let nested = "int x = 0, y = 0; while (__VERIFIER_nondet_int()) { if (x == 5) reach_error(); y = 0;
        while (__VERIFIER_nondet_int()) y = __VERIFIER_nondet_int() & 1; if (y == 1) x = 5; }";
    let nested = task("", nested);
    refused(&nested, &Certificate::Invariants(facts(&nested, &list)));
    refused(&nested, &induction(0, facts(&nested, &list)));
    let right = task("", &body.replace("& 1", "& 2"));
    accepted(&right, &Certificate::Invariants(facts(&right, &list)));
    accepted(&right, &induction(0, facts(&right, &list)));
}

/// The error comes in the second pass; what leads there never comes back, so that the step of the induction holds.
const SECOND: &str = "while (__VERIFIER_nondet_int()) { if (x == 1) reach_error(); x = x == 0 ? 1 : 2; }";

#[test]
fn induction_has_a_base_and_a_step() {
    let first = task("", &format!("int x = 0; {SECOND}"));
    let behind = task("", &format!("int x = 0; while (__VERIFIER_nondet_int()) {{}} {SECOND}"));
    for wrong in [&first, &behind] {
        for k in 2..5 {
            refused(wrong, &induction(k, facts(wrong, &[])));
        }
    }
    // The second loop is reached in two ways at a time, and only one of them leads to the error.
    let two_ways = |first: u32, second: u32| {
        let body = format!(
            "int x = 3, i = 0; while (i == 0 && __VERIFIER_nondet_int()) i = 1; x = i == 0 ? {first} : {second};
             while (__VERIFIER_nondet_int()) {{ if (x == 1) reach_error(); x = x == 0 ? 1 : 3; }}"
        );
        task("", &body)
    };
    for wrong in [two_ways(0, 3), two_ways(3, 0)] {
        for k in 4..6 {
            refused(&wrong, &induction(k, facts(&wrong, &[])));
        }
    }
    let right = task("", &format!("int x = 3; {SECOND}"));
    accepted(&right, &induction(2, facts(&right, &[])));
    let late = task("", "int x = 0; while (__VERIFIER_nondet_int()) { if (x == 5) reach_error(); x++; }");
    for k in 0..4 {
        refused(&late, &induction(k, facts(&late, &[])));
    }
}

/// Facts about an arbitrary element are used where a segment reads or writes one.
#[test]
fn facts_about_all_elements() {
    let body = |bad: u32| {
        format!("int i = 0; while (i < 4) {{ if (a[i] == {bad}) reach_error(); i++; if (i > 4) break; }}")
    };
    // All elements of the array are below 9.
    let below = |task: &Task| {
        let p = &task.program;
        let mut pool = Invariants::none(p);
        let ghost = pool.ghost(p, ".k");
        let index = pool.ghost_value(ghost);
        let array = named(task, "a");
        let (ty, stride) = match p.types[p.vars[array].ty] {
            Type::Array(elem, _) => (elem, p.size_of(elem).expect("complete")),
            _ => unreachable!("an array"),
        };
        let path = [Proj::Index { index, stride }].into_iter().collect();
        let place = pool.place(Place { base: Base::Var(array), path, ty, bits: None });
        let (element, nine) =
            (pool.expr(Scalar::Int(IntTy::I32), ExprKind::Load(place)), pool.int(IntTy::I32, 9));
        let small = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Lt, element, nine));
        let (first, end) = (pool.int(Invariants::GHOST, 0), pool.int(Invariants::GHOST, 4));
        let before = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Lt, index, first));
        let behind = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, end, index));
        let fact = pool.all(BinOp::Or, &[before, behind, small]);
        let (i, zero) = (pool.var(p, named(task, "i")), pool.int(IntTy::I32, 0));
        let inside = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, zero, i));
        pool.at = heads(task).into_iter().flat_map(|h| [(h, fact), (h, inside)]).collect();
        Certificate::Invariants(pool)
    };
    for (elements, bad, right) in [
        ("3, 1, 8, 2", 9, true),
        ("3, 1, 9, 2", 9, false),
        ("3, 1, 8, 2", 8, false),
        ("3, 1, 2, 2", 8, false),
    ] {
        let task = task(&format!("int a[4] = {{{elements}}};"), &body(bad));
        if right { accepted(&task, &below(&task)) } else { refused(&task, &below(&task)) }
    }
}

/// Sets of states at loop heads that something leaves, or that contain too much.
#[test]
fn covers_are_left_by_nothing() {
    let body = |bad: u32| {
        let step = format!("x = x == 2 ? 0 : x + 1; if (x == {bad}) reach_error();");
        format!(
            "int x = 0; while (__VERIFIER_nondet_int()) {{ {step} }} while (__VERIFIER_nondet_int()) {{ {step} }}"
        )
    };
    let right = task("", &body(7));
    accepted(&right, &cover(&right, "x", &[0, 1, 2]));
    for left in [&[0, 1][..], &[1, 2], &[0, 2], &[]] {
        refused(&right, &cover(&right, "x", left));
    }
    let wrong = task("", &body(2));
    refused(&wrong, &cover(&wrong, "x", &[0, 1, 2]));
    refused(&wrong, &cover(&wrong, "x", &[0, 1]));
    // A value that is chosen stands for several states.
    let chosen = task(
        "",
        "int x = 0; while (__VERIFIER_nondet_int()) { x = __VERIFIER_nondet_int() & 3;
        if (x == 4) reach_error(); }",
    );
    accepted(&chosen, &cover(&chosen, "x", &[0, 1, 2, 3]));
    refused(&chosen, &cover(&chosen, "x", &[0, 1, 3]));
}

/// The same where paths through a loop are too many to follow each.
#[test]
fn covers_of_many_paths() {
    let body = |bad: u32| {
        let choices: String =
            (0..10).map(|i| format!("if (__VERIFIER_nondet_int()) y |= {}; else z += y; ", 1 << i)).collect();
        let pass = format!(
            "int y = 0, z = 0; {choices} if (x == 7 || (y == {bad} && z > -1)) reach_error(); x = y & 3;"
        );
        task("", &format!("int x = 0; while (__VERIFIER_nondet_int()) {{ {pass} }}"))
    };
    let right = body(1024);
    accepted(&right, &cover(&right, "x", &[0, 1, 2, 3]));
    accepted(&right, &ranges(&right, "x", &[(0, 2), (3, 6)]));
    for left in [&[0, 1, 2][..], &[0, 1, 3], &[0, 2, 3]] {
        refused(&right, &cover(&right, "x", left));
    }
    let wrong = body(1023);
    refused(&wrong, &cover(&wrong, "x", &[0, 1, 2, 3]));
}

/// Facts about what an error does not depend on exclude it if they contradict each other.
#[test]
fn facts_that_contradict_each_other() {
    let body = |never: u32| {
        let inner = "while (__VERIFIER_nondet_int()) { if (y == 7) reach_error(); y++; }";
        task(
            "",
            &format!(
                "int x = __VERIFIER_nondet_int(), y = 0; if (x < 0 || x > 5) return 0;
                 while (__VERIFIER_nondet_int()) {{ x = x < 0 || x >= 5 ? 0 : x + 1; if (x == {never}) {{ {inner} }} }}"
            ),
        )
    };
    let invariants = |task: &Task| {
        let mut pool = facts(task, &[("x", CmpOp::Le, 5)]);
        let (x, never) = (pool.var(&task.program, named(task, "x")), pool.int(IntTy::I32, 9));
        let fact = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, x, never));
        let inner = *heads(task).last().expect("there are two loops");
        pool.at.push((inner, fact));
        pool
    };
    let right = body(9);
    accepted(&right, &Certificate::Invariants(invariants(&right)));
    accepted(&right, &induction(1, invariants(&right)));
    let wrong = body(3);
    refused(&wrong, &Certificate::Invariants(invariants(&wrong)));
    refused(&wrong, &induction(1, invariants(&wrong)));
}

/// The same for states that leave a choice between values.
#[test]
fn covers_by_bounds_are_left_by_nothing() {
    for (ty, lo, hi) in [("int", -4, 9), ("int", -9, -3), ("unsigned", 4, 9), ("unsigned", 0, 3_000_000_000)]
    {
        let body = |bad: &str| {
            let body = format!(
                "{ty} x = {lo}; while (__VERIFIER_nondet_int()) {{ if ({bad}) reach_error();
                 {ty} y = __VERIFIER_nondet_int(); if (y >= {lo} && y <= {hi}) x = y; }}"
            );
            task("", &body)
        };
        let (low, next, last, high) = (lo - 1, lo + 1, hi - 1, hi + 1);
        let all = &[(lo, hi)][..];
        let right = [
            format!("x > {hi}"),
            format!("x == {high}"),
            format!("{high} <= x"),
            format!("x != {lo} && x < {next}"),
        ];
        for bad in right {
            let task = body(&bad);
            accepted(&task, &ranges(&task, "x", all));
            accepted(&task, &ranges(&task, "x", &[(lo, next), (next + 1, hi)]));
            for hole in [&[(next, hi)][..], &[(lo, last)], &[(lo, next), (next + 2, hi)]] {
                refused(&task, &ranges(&task, "x", hole));
            }
        }
        let wrong = ["<", "<=", "=="].map(|op| format!("x {op} {}", if op == "<" { next } else { lo }));
        let more = [">", ">=", "=="].map(|op| format!("x {op} {}", if op == ">" { last } else { hi }));
        let next_to = [format!("x > {lo} && x == {next}"), format!("x < {hi} && x == {last}")];
        for bad in wrong.iter().chain(&more).chain(&next_to) {
            let task = body(bad);
            refused(&task, &ranges(&task, "x", all));
            refused(&task, &ranges(&task, "x", &[(low, high)]));
        }
    }
}

/// An error in the last pass, and bounds that are too small.
#[test]
fn all_passes_are_followed() {
    let body = |bad: u32| {
        format!(
            "int n = __VERIFIER_nondet_int(), i = 0, s = 0; if (n < 0 || n > 4) return 0;
             while (i < n) {{ if (n & 1) s += 2; else s += 1; i++; if (s == {bad}) reach_error(); }}"
        )
    };
    let (wrong, right) = (task("", &body(6)), task("", &body(5)));
    accepted(&right, &bounds(&right, 4));
    refused(&right, &bounds(&right, 3));
    refused(&wrong, &bounds(&wrong, 4));
    refused(&wrong, &bounds(&wrong, 2));
    let nested = "int n = __VERIFIER_nondet_int(), i = 0, s = 0; if (n < 0 || n > 2) return 0;
        while (i < 2) { int j = 0; while (j < n) { j++; s++; } i++; } if (s == 4) reach_error();";
    let nested = task("", nested);
    refused(&nested, &bounds(&nested, 3));
    let jump = "int x = 0; if (__VERIFIER_nondet_int()) goto inside;
        while (x < 3) { x++; inside: x++; if (x == 1) reach_error(); }";
    let jump = task("", jump);
    refused(&jump, &bounds(&jump, 4));
}

/// What C leaves open may go either way, although a run of the interpreter always goes the same.
#[test]
fn what_is_left_open_is_left_open() {
    let globals = "int a[2], b[2]; int *p = a, *q = b; void *malloc(unsigned long);";
    for condition in [
        "&a[2] == b",
        "&a[2] != b",
        "p + 2 == q",
        "q == (int *)((char *)a + 8)",
        "(p = malloc(8)) + 2 == q",
        "(p = malloc(8)) && (q = malloc(8)) && p + 2 == q",
        "\"abc\" == \"abc\"",
        "\"abc\" != \"abc\"",
    ] {
        let task = task(globals, &format!("if ({condition}) reach_error();"));
        refused(&task, &bounds(&task, 0));
    }
    // But not everything is open.
    for condition in ["p == q", "a == b", "p + 1 == q", "\"abc\" == \"abd\" + 1 - 1 && a == b", "p == 0"] {
        let task = task(globals, &format!("if ({condition}) reach_error();"));
        accepted(&task, &bounds(&task, 0));
    }
}

/// Functions without a body change what they can reach, and give whatever they like.
#[test]
fn unknown_functions_do_what_they_like() {
    let globals =
        "struct two { int a, b; }; int ext(int *); struct two pair(void); void keep(int *); void again(void);
        double sin(double); long read(int, void *, unsigned long); int timespec_get(void *, int); int g; int *kept;";
    for body in [
        "int x = 1; ext(&x); if (x == 7) reach_error();",
        "int t[3] = {1, 2, 3}; ext(t); if (t[2] == 7) reach_error();",
        "if (ext(0) == 7) reach_error();",
        "struct two p = {1, 2}; p = pair(); if (p.b == 7) reach_error();",
        "struct two p = {1, 2}; ext(&p.a); if (p.a == 7) reach_error();",
        "int x = 1; keep(&x); x = 2; again(); if (x == 7) reach_error();",
        "char t[4] = {1, 2, 3, 4}; read(0, t, 3); if (t[2] == 7) reach_error();",
        "long t[2] = {1, 2}; timespec_get(t, 1); if (t[1] == 7) reach_error();",
        "int x = 1; int *p = &x; int **pp = &p; ext((int *)pp); if (x == 7) reach_error();",
        "double d = 1; d = sin(d); if (d == 0.5) reach_error();",
        "int x; if (x == 7) reach_error();",
        "int t[3]; if (t[1] == 7) reach_error();",
        "int *p; if (p == &g) reach_error();",
    ] {
        let task = task(globals, body);
        refused(&task, &bounds(&task, 0));
    }
    let body = "int x = 1, y = 2; ext(&x); if (y == 7) reach_error();";
    let task = task(globals, body);
    accepted(&task, &bounds(&task, 0));
}

/// Facts that a run contradicts are noticed without a solver.
#[test]
fn facts_are_looked_at_in_runs() {
    let body = "int x = 0, y = 0; while (x < 5) { x++; y = y + x; } if (y == 3) reach_error();";
    let task = task("int z;", body);
    let sample = |list: &[(&str, CmpOp, i128)]| {
        let certificate = Certificate::Invariants(facts(&task, list));
        sampled::check(&task, &certificate, &Budget::unlimited())
    };
    assert_eq!(sample(&[("x", CmpOp::Le, 5)]), Ok(()));
    assert!(matches!(sample(&[("x", CmpOp::Le, 4)]), Err(Rejection::Wrong(_))));
    assert!(matches!(sample(&[("x", CmpOp::Le, 5), ("y", CmpOp::Ne, 10)]), Err(Rejection::Wrong(_))));
    let wrong = self::task("", &body.replace("y == 3", "y == 15"));
    let nothing = Certificate::Invariants(facts(&wrong, &[]));
    let seen = sampled::check(&wrong, &nothing, &Budget::unlimited());
    assert!(matches!(seen, Err(Rejection::Wrong(_))), "{seen:?}");
}

/// A program with one run: it ends, and without an error.
#[test]
fn the_only_run_is_followed() {
    let body = |bad: u32| format!("int x = 0; while (x < 5) x++; if (x == {bad}) reach_error();");
    accepted(&task("", &body(4)), &Certificate::OnlyRun);
    refused(&task("", &body(5)), &Certificate::OnlyRun);
    // Deeper than the task follows.
    let calls = "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }";
    accepted(&task(calls, "if (f(7) != 13) reach_error();"), &Certificate::OnlyRun);
    refused(&task(calls, "if (f(7) == 13) reach_error();"), &Certificate::OnlyRun);
    let choice = task("", "int x = __VERIFIER_nondet_int(); if (x == 3) reach_error();");
    let budget = Budget::unlimited();
    assert!(reduced(&choice, &Certificate::OnlyRun, &Court::new(&budget)).is_err());
    assert!(plain::check(&choice, &Certificate::OnlyRun, &Court::plain(&budget)).is_err());
    let endless = task("volatile int v;", "while (1) v = 1; reach_error();");
    let stopped = Budget::unlimited();
    stopped.stop(Stop::Time);
    let seen = reduced(&endless, &Certificate::OnlyRun, &Court::new(&stopped));
    assert!(matches!(seen, Err(Rejection::GaveUp(_))), "{seen:?}");
}

/// Loops that reductions found not to matter have no bound; those that matter need one.
#[test]
fn loops_without_a_bound() {
    let none = Certificate::Unrolling { bounds: Vec::new() };
    for (body, right) in [
        // Behind all errors.
        ("if (__VERIFIER_nondet_int() > 2147483647) reach_error(); while (1) v++;", true),
        ("while (1) v++; reach_error();", true),
        ("while (v < 9) v++; reach_error();", false),
        // Before an error that a constant excludes.
        ("int y = 1; for (int i = 0; i < v; i++) ; if (y != 1) reach_error();", true),
        ("int y = 1; for (int i = 0; i < v; i++) y = 2; if (y != 1) reach_error();", false),
        // The condition of the loop is such a constant: the head moves to the next step.
        ("int y = 1, z = 1; while (y) { z = v; if (z == y - 1 && z) reach_error(); z = y; }", true),
        ("int y = 1, z = 1; while (y) { z = v; if (z == y - 1) reach_error(); z = y; }", false),
    ] {
        let task = task("volatile int v;", body);
        let [_, twin, _] = checked(&task, &none);
        if right {
            assert_eq!(twin, Ok(()), "{body}");
            assert_eq!(heads(&task), [], "{body}");
        } else {
            assert!(matches!(twin, Err(Rejection::Wrong(_))), "{body}: {twin:?}");
        }
    }
}

/// A cover may list variables that no operation mentions.
#[test]
fn covers_of_variables_that_nobody_uses() {
    let body = |bad: u32| {
        format!("int x = 0; while (__VERIFIER_nondet_int()) {{ if (x == {bad}) reach_error(); x = !x; }}")
    };
    for (bad, right) in [(2, true), (1, false)] {
        let task = task("int unused = 7;", &body(bad));
        let Certificate::Cover(mut cover) = cover(&task, "x", &[0, 1]) else { unreachable!() };
        let unused = (named(&task, "unused"), Bounds::only(7));
        for (_, state) in &mut cover.states {
            state.push(unused);
            state.sort_by_key(|s| s.0);
        }
        let certificate = Certificate::Cover(cover);
        if right { accepted(&task, &certificate) } else { refused(&task, &certificate) }
    }
}

const MACHINE: &str = "void *malloc(unsigned long); struct link { int open; }; \
     struct machine { int state; struct link *link; };";

/// Evidence about an object that is allocated once and became variables, also behind a pointer in another one.
#[test]
fn objects_that_are_made_once() {
    let body = |bad: u32| {
        format!(
            "struct machine *m = malloc(sizeof(struct machine)); m->link = malloc(sizeof(struct link)); \
             m->state = 0; m->link->open = 1; while (__VERIFIER_nondet_int()) {{ \
             if (m->state == {bad} && m->link->open) reach_error(); m->state = !m->state; }}"
        )
    };
    for (bad, right) in [(2, true), (1, false)] {
        let task = task(MACHINE, &body(bad));
        let state = task.origin.pieces.keys().find(|part| {
            let machine = task.program.vars[task.origin.pieces[*part].0].ty;
            task.program.size_of(machine) == Some(16) && task.origin.pieces[*part].1 == 0
        });
        let name = task.program.vars[*state.expect("the state is a variable")].name.to_string();
        let certificate = cover(&task, &name, &[0, 1]);
        if right { accepted(&task, &certificate) } else { refused(&task, &certificate) }
    }
}

/// What is known of an object with the cover, where another name is used for it: both hold together, or neither.
#[test]
fn objects_under_another_name() {
    let globals = format!(
        "{MACHINE} static void turn(struct machine *m, int other) {{ while (__VERIFIER_nondet_int()) {{ \
         if (m->link->open == 2) reach_error(); \
         if (m->state) m->link->open = other; m->state = !m->state; }} }}"
    );
    for (other, right) in [(1, true), (2, false)] {
        let task = task(
            &globals,
            &format!(
                "struct machine *m = malloc(sizeof(struct machine)); m->link = malloc(sizeof(struct link)); \
                 m->state = 0; m->link->open = 1; int *p = __VERIFIER_nondet_pointer(); *p = 0; turn(m, {other});"
            ),
        );
        let open = task.origin.pieces.keys().copied().find(|part| {
            let link = task.program.vars[task.origin.pieces[part].0].ty;
            task.program.size_of(link) == Some(4)
        });
        let open = open.or_else(|| {
            task.origin
                .made
                .keys()
                .copied()
                .find(|v| task.program.size_of(task.program.vars[*v].ty) == Some(4))
        });
        let name = task.program.vars[open.expect("the link is a variable")].name.to_string();
        let certificate = cover(&task, &name, &[1]);
        if right { accepted(&task, &certificate) } else { refused(&task, &certificate) }
    }
}

/// What reductions are said to have known is shown with the cover: where the loop begins, after each pass, and at
/// loops of which the cover says nothing.
#[test]
fn facts_beside_a_cover() {
    // No square leaves 2 when it is divided by 4, which reductions do not know.
    for (body, last, right) in [
        ("while (__VERIFIER_nondet_int()) { if (y == 1) reach_error(); x = !x; }", 0, true),
        ("while (__VERIFIER_nondet_int()) { if (y == 1) reach_error(); y = 1; x = !x; }", 0, false),
        ("y = 1 - y; while (__VERIFIER_nondet_int()) { if (y == 1) reach_error(); x = !x; }", 0, false),
        (
            "while (__VERIFIER_nondet_int()) x = !x; \
             while (__VERIFIER_nondet_int()) { if (y == 1) reach_error(); if (x < 2) y = 0; }",
            1,
            true,
        ),
        (
            "while (__VERIFIER_nondet_int()) x = !x; \
             while (__VERIFIER_nondet_int()) { if (y == 1) reach_error(); if (x < 2) y = 1; }",
            1,
            false,
        ),
    ] {
        let mut task =
            task("", &format!("unsigned n = __VERIFIER_nondet_int(); int x = 0, y = n * n % 4 == 2; {body}"));
        let (x, y, heads) = (named(&task, "x"), named(&task, "y"), heads(&task));
        let p = &mut task.program;
        let place = p.var_place(y);
        let (left, right_side) = (p.load(place), p.int(IntTy::I32, 0));
        let fact = p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, left, right_side));
        for &head in &heads[..=last] {
            task.origin.known.push((task.origin.frames_of[head], task.origin.locs[head], fact));
        }
        let states = [0, 1].map(|value| (heads[0], vec![(x, Bounds::only(value))]));
        let certificate = Certificate::Cover(Cover { states: states.into() });
        let twin = plain::check(&task, &certificate, &Court::plain(&Budget::unlimited()));
        assert_eq!(twin.is_ok(), right, "{body} {twin:?}");
    }
}

/// A pointer from outside points to no object of the program unless its address was given away: to a function, into
/// memory that is not the program's, by itself, as a number or among other bytes.
#[test]
fn pointers_from_outside() {
    let globals = "void *memcpy(void *, const void *, unsigned long); struct box { int *in; }; \
        void keep(int *); void keep_number(unsigned long); void keep_box(struct box);";
    let body = |before: &str| {
        format!(
            "int x; int *own = &x; int **out = __VERIFIER_nondet_pointer(); struct box box = {{ own }}; {before} \
             x = 1; int *p = __VERIFIER_nondet_pointer(); *p = 0; if (*own != 1) reach_error();"
        )
    };
    for before in [
        "keep(own);",
        "keep_number((unsigned long)own);",
        "keep_box(box);",
        "*out = own;",
        "*(unsigned long *)out = (unsigned long)own;",
        "*(struct box *)out = box;",
        "memcpy(out, &own, sizeof own);",
    ] {
        let task = task(globals, &body(before));
        let twin = plain::check(&task, &bounds(&task, 0), &Court::plain(&Budget::unlimited()));
        assert!(matches!(twin, Err(Rejection::Wrong(_))), "{before} {twin:?}");
    }
    for before in ["", "keep(0);", "*out = 0;", "*(int *)out = 7;", "*out = (int *)out;"] {
        let task = task(globals, &body(before));
        assert_eq!(checked(&task, &bounds(&task, 0)), [Ok(()), Ok(()), Ok(())], "{before}");
    }
}

/// A variable that is said to be an object made in a loop, of which there may be many: the twin does not believe
/// that.
#[test]
fn objects_that_are_made_often() {
    let mut task = task(
        MACHINE,
        "struct link *old = 0; while (__VERIFIER_nondet_int()) { struct link *new = malloc(sizeof(struct link)); \
         new->open = old ? 2 : 1; if (old) { if (old->open == 1) reach_error(); } else old = new; }",
    );
    let alloc = task.program.edges.iter_enumerated().find(|(_, e)| matches!(e.op, Op::Alloc { .. }));
    let (edge, src) = alloc.map(|(id, e)| (task.origin.edges[id], e.src)).expect("there is one");
    let ty = task.program.types.iter_enumerated().find_map(|(id, ty)| match ty {
        Type::Record(_) if task.program.size_of(id) == Some(4) => Some(id),
        _ => None,
    });
    let forged = Var { ty: ty.expect("the struct"), ..task.program.vars[named(&task, "old")].clone() };
    let object = task.program.vars.push(Var { name: "object".into(), address_taken: true, ..forged });
    task.origin.made.insert(object, (task.origin.frames_of[src], edge));
    // With one object for all, the one that `old` points to would hold 2.
    let p = &task.program;
    let mut pool = Invariants::none(p);
    let old = pool.var(p, named(&task, "old"));
    let place =
        Place { base: Base::Var(object), path: Default::default(), ty: p.vars[object].ty, bits: None };
    let place = pool.place(place);
    let address = pool.expr(Scalar::Ptr, ExprKind::Addr(place));
    let null = pool.expr(Scalar::Ptr, ExprKind::Int(0));
    let nothing = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, old, null));
    let same = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, old, address));
    let fact = pool.all(BinOp::Or, &[nothing, same]);
    pool.at.extend(heads(&task).into_iter().map(|head| (head, fact)));
    let twin = plain::check(&task, &Certificate::Invariants(pool), &Court::plain(&Budget::unlimited()));
    assert!(matches!(twin, Err(Rejection::Wrong(_))), "{twin:?}");
}

/// The proof of another program proves nothing.
#[test]
fn contracts_belong_to_their_program() {
    let calls = "int f(int n) { return n < 1 ? 0 : f(n - 1); }";
    let wrong = task(calls, "f(3); if (__VERIFIER_nondet_int() == 3) reach_error();");
    let right = task(calls, "f(3); if (__VERIFIER_nondet_int() > 2147483647) reach_error();");
    let func = |task: &Task| {
        let mut funcs = task.source.funcs.iter_enumerated();
        funcs.find(|(_, f)| &*f.name == "f").map(|(id, _)| id).expect("there is such a function")
    };
    let contracts = vec![Contract::new(func(&right), Vec::new(), Vec::new())];
    let certificate = |task: &Task| {
        let weaving = Weaving::new(&task.source, &contracts, false).expect("they can be woven in");
        let proof = |function| {
            let woven = palisade_reduce::woven_task(weaving.program_of(function).program).expect("small");
            (woven, Certificate::Unrolling { bounds: Vec::new() })
        };
        let proofs = vec![proof(None), proof(Some(0))];
        Contracts { contracts: contracts.clone(), forgetful: false, proofs }
    };
    for task in [&wrong, &right] {
        refused(&wrong, &Certificate::Contracts(certificate(task)));
    }
    let whole = certificate(&right);
    // A contract without its proof is none, and neither is the proof of another one.
    let mut part = whole.clone();
    part.proofs.pop();
    refused(&right, &Certificate::Contracts(part));
    let mut twice = whole.clone();
    twice.proofs[1] = twice.proofs[0].clone();
    refused(&right, &Certificate::Contracts(twice));
    accepted(&right, &Certificate::Contracts(whole));
}

/// Where functions are not followed, what they may do is still done.
#[test]
fn outlined_functions_may_do_all_they_did() {
    let globals = "int g = 1, h = 1, t[3]; int *gp = &h; long busy(long n) { n = n * 3 + 1; n ^= n >> 3; return n * 7; }
        void sets(void) { g = 2; } void deep(void) { sets(); } void stores(int *p) { *p = 2; }
        void element(int i) { t[i & 1] = 2; } void through(void) { *gp = 2; }
        void fails(int n) { if (n == 3) reach_error(); } void calls(int n) { fails(n); }
        int gives(int n) { return n + 1; }";
    for body in [
        "sets(); if (g == 2) reach_error();",
        "deep(); if (g == 2) reach_error();",
        "int x = 1; stores(&x); if (x == 2) reach_error();",
        "element(__VERIFIER_nondet_int()); if (t[1] == 2) reach_error();",
        "through(); if (h == 2) reach_error();",
        "fails(__VERIFIER_nondet_int());",
        "calls(__VERIFIER_nondet_int());",
        "if (gives(__VERIFIER_nondet_int()) == 2) reach_error();",
        "if (busy(__VERIFIER_nondet_int()) == 2) reach_error();",
        "g = (int)busy(3); int x = g; g = 5; sets(); if (g != 5) reach_error(); h = x;",
        "sets(); if (g == 2) fails(3);",
    ] {
        // A function that is never asked about is left out, whatever the others are.
        let text = format!("{HEAD}{globals} int main(void) {{ busy(1); {body} return 0; }}");
        let source = Arc::new(compile(&text, &Property::assertions(), DataModel::Lp64));
        let Ok(task) = palisade_reduce::outline::task(&source, 0, 10_000, 0) else {
            panic!("nothing is outlined: {body}")
        };
        let result = reduced(&task, &bounds(&task, 0), &Court::new(&Budget::unlimited()));
        assert!(matches!(result, Err(Rejection::Wrong(_))), "{body}: {result:?}");
    }
    // What sets a variable that matters is followed.
    for (bad, right) in [(2, false), (1, true)] {
        let body = format!("busy(1); sets(); if (g == {bad}) reach_error();");
        let text = format!("{HEAD}{globals} int main(void) {{ {body} return 0; }}");
        let source = Arc::new(compile(&text, &Property::assertions(), DataModel::Lp64));
        let task = palisade_reduce::outline::task(&source, 0, 10_000, 0).expect("something is outlined");
        let result = reduced(&task, &bounds(&task, 0), &Court::new(&Budget::unlimited()));
        assert_eq!(result.is_ok(), right, "{body}: {result:?}");
    }
}

/// A run that was to go wrong may never end.
#[test]
fn replays_end() {
    let task = task("int x;", "for (;;) { x = 1; }");
    let bug = Counterexample { unknowns: Vec::new(), contents: Vec::new() };
    let ended = replay(&task.source, &bug, 1_000, &Budget::unlimited());
    assert!(ended.is_err_and(|otherwise| otherwise.undefined().is_none()));
}
