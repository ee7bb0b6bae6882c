//! Contracts and programs without memory: for every rule a program that is wrong, with contracts and proofs that
//! would do but for this rule.

use crate::common::compile;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_check::court::Court;
use palisade_check::{plain, reduced};
use palisade_evidence::{Certificate, Contracts};
use palisade_property::Property;
use palisade_task::Task;
use palisade_task::contracts::{Atom, Case, Clause, Contract, Relation, Term, Value, Weaving};
use std::sync::Arc;

const HEAD: &str =
    "int __VERIFIER_nondet_int(void); void reach_error(void); int unknown(void); int g, h, a[4];
    static void sets(void) { g = 2; } static void nothing(void) {}
    static void take(int n) { if (n == 5) reach_error(); }
    static int give(int *p) { return *p; }
    static int put(int n) { if (n > 0) g = n; return g; }
    static int asks(void) { if (g == 7) reach_error(); return 0; }
    static int two(void) { h = 1; return 2; } ";

/// A large function that does nothing wrong, and sets a register on the way.
fn busy() -> String {
    let noise: String =
        (0..30).map(|i| format!("a[{}] += a[{}] * {i}; if (a[2]) a[3]++; ", i % 4, (i + 1) % 4)).collect();
    format!(
        "static int busy(void) {{ {noise} g = 2; return 3; }} static int deep(void) {{ return busy() + 1; }} "
    )
}

fn source(body: &str) -> Arc<Program> {
    let text = format!("{HEAD}{} int main(void) {{ {body} return 0; }}", busy());
    Arc::new(compile(&text, &Property::assertions(), DataModel::Lp64))
}

/// Contracts about a program without memory, whose programs have no loops.
fn certificate(source: &Arc<Program>, contracts: Vec<Contract>) -> Certificate {
    let proofs = {
        let weaving = Weaving::new(source, &contracts, true).expect("they can be woven in");
        let proof = |function| {
            let woven = palisade_reduce::woven_task(weaving.program_of(function).program).expect("small");
            (woven, Certificate::Unrolling { bounds: Vec::new() })
        };
        [None].into_iter().chain((0..contracts.len()).map(Some)).map(proof).collect()
    };
    Certificate::Contracts(Contracts { contracts, forgetful: true, proofs })
}

/// What both checkers say.
fn checked(source: &Arc<Program>, contracts: Vec<Contract>) -> [bool; 2] {
    let (task, budget) = (Task::unfollowed(source), Budget::unlimited());
    let certificate = certificate(source, contracts);
    [
        reduced(&task, &certificate, &Court::new(&budget)).is_ok(),
        plain::check(&task, &certificate, &Court::plain(&budget)).is_ok(),
    ]
}

/// Without memory, and without what large functions do, everything may still happen that might.
#[test]
fn what_is_forgotten_may_be_anything() {
    for wrong in [
        "int x = __VERIFIER_nondet_int(), *p = &x; g = 0; g = *p; if (g == 5) reach_error();",
        "a[1] = __VERIFIER_nondet_int(); if (a[1] == 5) reach_error();",
        "int x = __VERIFIER_nondet_int(), *p = x ? &x : 0; if (p == 0) reach_error();",
        "double d = __VERIFIER_nondet_int(); int i = (int)d; if (i == 5) reach_error();",
        "void (*f)(void) = __VERIFIER_nondet_int() ? sets : nothing; f(); if (g == 2) reach_error();",
        "int (*f)(void) = two; int r = f(); if (r == 2) reach_error();",
        "busy(); if (g == 2) reach_error();",
        "deep(); if (g == 2) reach_error();",
        "if (busy() == 3) reach_error();",
        "int x = __VERIFIER_nondet_int(), *p = &x; take(*p);",
        "void (*f)(int) = take; f(5);",
        "int x = __VERIFIER_nondet_int(); if (give(&x) == 5) reach_error();",
        "g = 0; g = unknown(); if (g == 5) reach_error();",
        "int x = __VERIFIER_nondet_int(); g = 1; if (x) sets(); if (g == 2) reach_error();",
        "int s = 0; for (int i = 0; i < 1; i++) { int y; if (s) reach_error(); y = unknown(); s = y; } take(s);",
        "sets(); if (g == 2) reach_error();",
    ] {
        let text = source(wrong);
        // Where there is a loop the proof must say so, and this one does not.
        assert_eq!(checked(&text, Vec::new()), [false; 2], "{wrong}");
    }
    for right in [
        "g = 1; nothing(); if (g == 2) reach_error();",
        "take(4); g = 4; take(g);",
        "int x = __VERIFIER_nondet_int(); a[1] = x; if (x > 5) x = 5; take(x - 1);",
        "if (two() != 2 || h != 1) reach_error();",
        "h = 0; busy(); if (h) reach_error();",
    ] {
        assert_eq!(checked(&source(right), Vec::new()), [true; 2], "{right}");
    }
}

fn named(p: &Program, name: &str) -> VarId {
    let mut vars = p.vars.iter_enumerated();
    vars.find(|(_, v)| &*v.name == name && v.kind == VarKind::Global).map(|(id, _)| id).expect("it is there")
}

fn is(value: Value, number: i64) -> Atom {
    let terms = vec![Term { factor: 1, value, modulus: None }];
    Atom { terms, constant: -number, relation: Relation::Zero, ty: IntTy::I32 }
}

/// A contract with one case: what holds before a call, and how it may end.
fn case(p: &Program, func: &str, given: Vec<Atom>, ends: Vec<Vec<Atom>>) -> Contract {
    let func = p.func_named(func).expect("there is such a function");
    Contract { cases: vec![Case { given, ends }], ..Contract::new(func, Vec::new(), Vec::new()) }
}

/// Calls are of a case that is claimed, and end as it is claimed.
#[test]
fn cases_are_those_of_the_calls() {
    let right = source("g = 0; int r = put(3); if (r != 3 || g != 3) reach_error();");
    let g = named(&right, "g");
    let (before, after) = (Value::Before(g), Value::After(g));
    let put =
        |given: Vec<Atom>, ends: Vec<Vec<Atom>>| checked(&right, vec![case(&right, "put", given, ends)]);
    let called = || vec![is(before, 0), is(Value::Param(0), 3)];
    let ended = || vec![is(after, 3), is(Value::Result, 3)];
    assert_eq!(put(called(), vec![ended()]), [true; 2]);
    assert_eq!(
        put(called(), vec![vec![is(after, 1)], ended()]),
        [false; 2],
        "ends that the error does not exclude"
    );
    assert_eq!(put(vec![is(before, 1)], vec![ended()]), [false; 2], "another case");
    assert_eq!(put(vec![is(Value::Param(0), 4)], vec![ended()]), [false; 2], "another argument");
    assert_eq!(put(called(), vec![vec![is(after, 3), is(Value::Result, 2)]]), [false; 2], "another result");
    assert_eq!(put(called(), vec![vec![is(after, 2), is(Value::Result, 3)]]), [false; 2], "another end");
    assert_eq!(put(called(), Vec::new()), [false; 2], "no end");
    assert_eq!(put(vec![is(before, 0)], vec![ended()]), [false; 2], "an end of other calls");
    assert_eq!(put(called(), vec![vec![is(Value::Result, 3)]]), [false; 2], "nothing about the register");
    // Two cases, of which the second does not end as the first.
    let mut two = case(&right, "put", called(), vec![ended()]);
    two.cases.push(Case { given: vec![is(Value::Param(0), 0)], ends: vec![vec![is(after, 3)]] });
    assert_eq!(checked(&right, vec![two]), [false; 2], "a case that ends otherwise");
}

/// What a contract says of registers that its function does not use is about all calls as well, not those alone that
/// find what they hold when the program starts.
#[test]
fn registers_that_a_function_does_not_use_may_hold_anything() {
    let wrong = source("g = 5; if (two() == 2) reach_error();");
    let (before, after) = (Value::Before(named(&wrong, "g")), Value::After(named(&wrong, "g")));
    for (given, end) in [(is(before, 5), is(Value::Result, 7)), (is(before, 5), is(after, 7))] {
        let contract = case(&wrong, "two", vec![given], vec![vec![end]]);
        assert_eq!(checked(&wrong, vec![contract]), [false; 2]);
    }
    let contract = case(&wrong, "two", Vec::new(), vec![vec![is(after, 0)]]);
    assert_eq!(checked(&wrong, vec![contract]), [false; 2]);
}

/// A function with a contract may leave anything where it does not say what, and finds anything.
#[test]
fn contracts_say_what_registers_hold() {
    let silent = |source: &Arc<Program>, name: &str| {
        let func = source.func_named(name).expect("there is such a function");
        checked(source, vec![Contract::new(func, Vec::new(), Vec::new())])
    };
    let wrong = source("g = 0; put(3); if (g == 3) reach_error();");
    assert_eq!(silent(&wrong, "put"), [false; 2], "what it sets");
    let wrong = source("g = 7; asks();");
    assert_eq!(silent(&wrong, "asks"), [false; 2], "what it finds");
    let right = source("h = 0; put(3); if (h) reach_error();");
    assert_eq!(silent(&right, "put"), [true; 2]);
    // With a requirement about it, the register is as required in the function, and at each call.
    let about = |source: &Arc<Program>, number: i64| {
        let func = source.func_named("asks").expect("there is such a function");
        let requires =
            vec![Clause { given: Vec::new(), then: is(Value::Before(named(source, "g")), number) }];
        checked(source, vec![Contract::new(func, requires, Vec::new())])
    };
    assert_eq!(about(&source("g = 6; asks();"), 6), [true; 2]);
    assert_eq!(about(&source("g = 7; asks();"), 6), [false; 2]);
    assert_eq!(about(&source("g = 7; asks();"), 7), [false; 2]);
    assert_eq!(about(&source("g = 5; asks();"), 6), [false; 2]);
}
