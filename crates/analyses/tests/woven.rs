//! Observers have one meaning: run as a component beside the others, or woven into the program, they
//! find the same errors.

mod common;

use common::*;
use palisade_analyses::callstack::{CallStack, Stack};
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::location::{Calls, Location};
use palisade_analyses::observer::Observers;
use palisade_cpa::*;
use palisade_property::Goal;
use palisade_property::spc;
use palisade_testkit::Rng;
use std::fmt::Write;

/// The messages of the error states that the component comes into.
fn beside(text: &str, specification: &str) -> Vec<String> {
    let mut p = program(text);
    let automata = spc::parse(specification).unwrap_or_else(|e| panic!("{e}\n{specification}"));
    let observers = spc::bind(&automata, &mut p).unwrap_or_else(|e| panic!("{e}\n{specification}"));
    let location = Location::new(&p, Calls::Follow, &[]);
    let watch = Observers::new(&p, observers);
    let mut explicit = Explicit::separate(&p);
    let initial = (((location.initial(), Stack::EMPTY), watch.initial()), explicit.initial());
    let stack = CallStack::new(&p, 20);
    let cpa = Product::new(Product::new(Product::new(location, stack), watch), explicit);
    let run = explore(cpa, initial, ((((), ()), ()), Tracked::all()), Order::BreadthFirst);
    let message = |id: &NodeId| match run.cpa().target(run.reached().state(*id)) {
        Some(Target::Observer(message)) => message,
        other => panic!("{other:?}"),
    };
    distinct(run.targets().iter().map(message).collect())
}

/// The messages of the checks that fail in the woven program.
fn woven(text: &str, specification: &str) -> Vec<String> {
    let mut p = program(text);
    let automata = spc::parse(specification).unwrap();
    let observers = spc::bind(&automata, &mut p).unwrap();
    let goals = spc::weave(&mut p, &observers);
    let findings = palisade_cfa::verify::verify(&p);
    assert!(findings.is_empty(), "{findings:?}\n{specification}");
    let location = Location::new(&p, Calls::Follow, &[]);
    let mut explicit = Explicit::separate(&p);
    let initial = ((location.initial(), Stack::EMPTY), explicit.initial());
    let cpa = Product::new(Product::new(location, CallStack::new(&p, 20)), explicit);
    let run = explore(cpa, initial, (((), ()), Tracked::all()), Order::BreadthFirst);
    let message = |id: &NodeId| {
        let Some(Target::Check(check)) = run.cpa().target(run.reached().state(*id)) else { panic!() };
        let errors = goals.iter().flat_map(|g| match g {
            Goal::Observer { errors, .. } => errors.as_slice(),
            other => panic!("{other:?}"),
        });
        let mut found = errors.filter(|(edge, _)| *edge == check).map(|(_, message)| message.clone());
        found.next().expect("every check that fails is an observer's")
    };
    distinct(run.targets().iter().map(message).collect())
}

fn distinct(mut messages: Vec<String>) -> Vec<String> {
    messages.sort();
    messages.dedup();
    messages
}

/// A function whose locations are `l0`, `l1`, ...
fn random_function(rng: &mut Rng, l: &str, header: &str, callee: &str) -> String {
    let mut text = format!("fn {header} {{ local c: i32;\n");
    let n = 5 + rng.below(6);
    for i in 0..n {
        let next = i + 1;
        let back = if rng.below(5) == 0 { rng.below(n) } else { next };
        let k = rng.below(3);
        let _ = match rng.below(8) {
            0 => writeln!(text, "{l}{i} -> {l}{next}: x = {k};"),
            1 => writeln!(text, "{l}{i} -> {l}{next}: y = x;"),
            2 => writeln!(text, "{l}{i} -> {l}{next}: call ext();"),
            3 => writeln!(text, "{l}{i} -> {l}{next}: x = call get();"),
            4 => writeln!(text, "{l}{i} -> {l}{next}: call {callee}({k});"),
            5 => writeln!(
                text,
                "{l}{i} -> {l}{next}: assume x == {k}; {l}{i} -> {l}{back}: assume !(x == {k});"
            ),
            6 => writeln!(
                text,
                "{l}{i} -> {l}i{i}: input c; {l}i{i} -> {l}{next}: assume c == 0;
                 {l}i{i} -> {l}{back}: assume !(c == 0);"
            ),
            _ => writeln!(text, "{l}{i} -> {l}{next}: skip;"),
        };
    }
    text + &format!("{l}{n} -> {l}end: return;\n}}\n")
}

/// A program that calls, assigns, branches and comes to labels.
fn random_program(rng: &mut Rng) -> String {
    let mut text = String::from("global x: i32; global y: i32; fn ext(); fn other(i32);\n");
    text += "fn get() -> i32 { get0 -> getend: return y; }\n";
    text += &random_function(rng, "f", "leaf(p: i32)", "other");
    text += &random_function(rng, "m", "main()", "leaf");
    text + "entry main;\n"
}

fn random_specification(rng: &mut Rng) -> String {
    let mut text = String::new();
    for a in 0..1 + rng.below(2) {
        let _ = writeln!(text, "observer o{a} {{ initial q0;");
        let states = 1 + rng.below(3);
        for q in 0..states {
            let _ = write!(text, "state q{q} {{ ");
            // A way to the next state keeps all of them reachable.
            let next = (q + 1) % states;
            let _ = write!(text, "on call ext -> q{next}; ");
            for _ in 0..rng.below(4) {
                let (event, condition) = match rng.below(6) {
                    0 => ("call leaf", "p"),
                    1 => ("assign x", "x"),
                    2 => ("return leaf", "y"),
                    3 => ("label m2", "x"),
                    4 => ("call get", "y"),
                    _ => ("call ext", "x"),
                };
                let mut goal = |e: usize| {
                    if rng.below(2) == 0 {
                        format!("q{}", rng.below(states))
                    } else {
                        format!("error \"{a}.{q}.{}\"", e + rng.below(3))
                    }
                };
                let (yes, no) = (goal(0), goal(3));
                let k = rng.below(3);
                let _ = match rng.below(3) {
                    0 => write!(text, "on {event} -> {yes}; "),
                    1 => write!(text, "on {event} if ({condition} == {k}) -> {yes} else -> {no}; "),
                    _ => write!(text, "on {event} split ({condition} < {k}, {yes}, {no}); "),
                };
            }
            let _ = writeln!(text, "}}");
        }
        let _ = writeln!(text, "}}");
    }
    text
}

#[test]
fn woven_and_beside_the_others_are_one() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let (text, specification) = (random_program(&mut rng), random_specification(&mut rng));
        let (a, b) = (beside(&text, &specification), woven(&text, &specification));
        assert_eq!(a, b, "seed {seed}\n{text}\n{specification}");
        if a.is_empty() {
            without += 1;
        } else {
            with += 1;
        }
    }
    assert!(with > 100 && without > 30, "{with} with errors, {without} without");
}

/// Where the component must guess, the woven program knows who is called through a pointer.
#[test]
fn calls_through_pointers() {
    let specification = "observer o { initial q; state q { on call first -> error \"first\"; } }";
    for (target, wrong) in [("first", true), ("second", false)] {
        let text = format!(
            "fn first(); fn second();
             fn main() {{
               local f: *void; local g: *void;
               a -> b: g = func first;
               b -> c: f = func {target};
               c -> d: call (f)();
               d -> e: return;
             }}
             entry main;"
        );
        assert_eq!(beside(&text, specification), ["first"]);
        let expected: &[&str] = if wrong { &["first"] } else { &[] };
        assert_eq!(woven(&text, specification), expected);
    }
}
