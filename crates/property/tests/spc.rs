//! Observer specifications: what is accepted, and what is an error at which position.

use palisade_property::spc::{bind, parse};

const PROGRAM: &str = "
global x: i32;
global y: i32;
fn foo(i32);
fn main() { local p: *i32; local u: u8; a -> b: call foo(x); b -> c: x = 1; c -> d: return; }
entry main;
";

fn error(text: &str) -> String {
    match parse(text) {
        Err(e) => e.to_string(),
        Ok(automata) => {
            let mut program = palisade_cfa::text::parse(PROGRAM).unwrap();
            match bind(&automata, &mut program) {
                Err(e) => e.to_string(),
                Ok(observers) => panic!("accepted: {observers:?}"),
            }
        }
    }
}

#[test]
fn errors_have_positions() {
    for (text, expected) in [
        ("", "1:1: expected `observer`"),
        ("observer a {", "1:13: expected `initial`, found the end of the text"),
        (
            "observer a {\n  initial q;\n  state q { on call nobody -> q; }\n}",
            "3:21: the program has no function `nobody`",
        ),
        (
            "observer a {\n  initial q;\n  state q { on call foo -> q; }\n  state r { }\n}",
            "4:9: state `r` cannot be reached",
        ),
        (
            "observer a {\n  initial q;\n  state q { on call foo if (x > 0) -> q; }\n}",
            "3:13: the rules for this event do not cover all cases; an `else` is missing",
        ),
        ("observer a { initial q; state q { on call foo -> r; } }", "1:50: there is no state `r`"),
        (
            "observer a { initial q; state q { on call foo if (z == 1) -> q else -> q; } }",
            "1:51: the program has no variable `z` here",
        ),
        (
            "observer a { initial q; state q { on call foo if (main::p) -> q else -> q; } }",
            "1:51: variable `main::p` is not an integer",
        ),
        (
            "observer a { initial q; state q { on wish foo -> q; } }",
            "1:38: expected `call`, `return`, `assign` or `label`, found `wish`",
        ),
        (
            "observer a { initial q; state q { on call foo -> error; } }",
            "1:55: expected the message of the error in quotes, found `;`",
        ),
        (
            "observer a { initial q; state q { on call foo -> error \"x",
            "1:56: the text does not end on its line",
        ),
        ("observer a { initial q; state q { } state q { } }", "1:43: state `q` is there twice"),
        ("observer a { initial q; state q { on label l -> q; } }", "1:44: the program has no label `l`"),
        (
            "observer a { initial q; state q { on return foo -> q; } }",
            "1:45: function `foo` has no body to return from",
        ),
        (
            "observer a { initial q; state q { on call foo if (x @ 1) -> q; } }",
            "1:53: unexpected character `@`",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    let deep =
        format!("observer a {{ initial q; state q {{ on call foo if ({}x) -> q; }} }}", "!".repeat(100_000));
    assert!(error(&deep).ends_with("nested too deep"));
}

#[test]
fn conditions_that_cover_all_cases_are_accepted() {
    for rules in [
        "on call foo split (x > 0 && y < 0, q, error \"no\");",
        "on call foo if (x > 0) -> q; on call foo if (x <= 0) -> q;",
        "on call foo if (x == y) -> q; on call foo if (y != x) -> q;",
        "on call foo if (x < y || 1) -> q;",
        "on call foo if (0 > x) -> q; on call foo if (x >= 0) -> q;",
        "on call foo -> q; on call foo if (x > 0) -> error \"also\";",
        "on assign x if (x) -> q else -> error \"zero\";",
        "on return main if (main::u * 2 + 1 == -x) -> q else -> q; on label a -> q;",
    ] {
        let text = format!("observer a {{ initial q; state q {{ {rules} }} }}");
        let automata = parse(&text).unwrap_or_else(|e| panic!("{rules}: {e}"));
        let mut program = palisade_cfa::text::parse(PROGRAM).unwrap();
        bind(&automata, &mut program).unwrap_or_else(|e| panic!("{rules}: {e}"));
        assert_eq!(palisade_cfa::verify::verify(&program), [], "{rules}");
    }
}

#[test]
fn forbidden_calls_and_labels_of_a_property_become_observers() {
    let property = palisade_property::Property::parse_prp(
        "CHECK( init(main()), LTL(G ! call(foo())) )\nCHECK( init(main()), LTL(G ! call(nobody())) )",
    )
    .unwrap();
    let mut program = palisade_cfa::text::parse(PROGRAM).unwrap();
    let automata = palisade_property::spc::observers_of(&property, &program);
    assert_eq!(automata.len(), 1);
    automata[0].check().unwrap();
    let observers = bind(&automata, &mut program).unwrap();
    assert_eq!(observers[0].states[1].error.as_deref(), Some("foo is called"));
}
