//! Classes of programs, told by their loops.

mod common;

use common::compile;
use palisade_portfolio::class::Class;
use palisade_property::Property;
use std::sync::Arc;

/// Many edges, but reductions make them one pass without anything to choose.
const LARGE: usize = 2_000;

fn class(body: &str) -> Class {
    let text = format!(
        "int __VERIFIER_nondet_int(void); void reach_error(void);
        int main(void) {{ {body} return 0; }}"
    );
    let program = Arc::new(compile(&text, &Property::assertions()));
    Class::of(&palisade_reduce::task(&program, 2, 1_000_000).expect("it is small enough"))
}

/// As many copies of a text as are asked for, in which `@` stands for the number of each.
fn copies(number: usize, text: &str) -> String {
    (0..number).map(|i| text.replace('@', &i.to_string())).collect()
}

#[test]
fn a_loop_that_looks_at_all_its_cases_is_no_state_machine() {
    let variables = copies(200, "int x@ = 0;");
    let steps = copies(200, "if (x@ < 10) x@++;");
    let checks = copies(200, "if (x@ > 10) reach_error();");
    assert_eq!(
        class(&format!("{variables} while (__VERIFIER_nondet_int()) {{ {steps} }} {checks}")),
        Class::Loop
    );
}

#[test]
fn a_loop_that_takes_one_of_many_cases_is_a_state_machine() {
    let cases = copies(200, "if (input == @ && state == @) { state = (@ * 7 + 1) % 200; continue; }");
    let program = |then: &str| {
        format!(
            "int state = 0; while (1) {{ int input = __VERIFIER_nondet_int();
            if (input < 0) {{ if (state == 300) reach_error(); {then} continue; }} {cases} }}"
        )
    };
    assert_eq!(class(&program("")), Class::Machine);
    let large = copies(LARGE, "if (state == @) { state = __VERIFIER_nondet_int(); continue; }");
    assert_eq!(class(&program(&large)), Class::Large);
}

#[test]
fn a_large_program_without_loops_is_straight() {
    let steps = copies(LARGE, "if (__VERIFIER_nondet_int() > x) { x = y + @; } else { y = x; }");
    assert_eq!(class(&format!("int x = 0, y = 1; {steps} if (x == 7) reach_error();")), Class::Straight);
}
