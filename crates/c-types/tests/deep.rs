//! Nesting as deep as the parser admits, and long chains, must not exhaust the stack.

mod common;

use common::{errors, warnings_and_errors};
use palisade_cfa::DataModel;

fn accepted(text: String) {
    let errors = errors(&text, DataModel::Lp64);
    assert!(errors.is_empty(), "{:?}", &errors[..errors.len().min(3)]);
}

/// Rejected or not, it must come back.
fn survives(text: String) {
    warnings_and_errors(&text, DataModel::Ilp32);
}

#[test]
fn long_left_spines_and_else_chains() {
    let sum = "+ x ".repeat(100_000);
    accepted(format!("int f(int x) {{ return x {sum}; }}"));
    let ones = "+ 1 ".repeat(100_000);
    accepted(format!("int a[1 {ones}]; _Static_assert(sizeof a == 4 * 100001, \"\");"));
    let commas = ", x ".repeat(100_000);
    accepted(format!("int f(int x) {{ return x {commas}; }}"));
    let chain = "if (x == 1) x = 2; else ".repeat(50_000);
    accepted(format!("void f(int x) {{ {chain} x = 3; }}"));
    let cases: String = (0..20_000).map(|i| format!("case {i}: ")).collect();
    accepted(format!("void f(int x) {{ switch (x) {{ {cases} x = 3; }} }}"));
}

#[test]
fn deep_nesting() {
    accepted(format!("void f(int x) {{ {} x = 1; {} }}", "if (x) {".repeat(2000), "}".repeat(2000)));
    accepted(format!("int f(int x) {{ return {} x {}; }}", "(1 + ".repeat(400), ")".repeat(400)));
    survives(format!("void f(int x) {{ {} x = 1; {} }}", "while (x) {".repeat(50_000), "}".repeat(50_000)));
    survives(format!("void f(int x) {{ {} x; }}", "for (;;) ".repeat(8000)));
    survives(format!("int f(int x) {{ return {}x; }}", "-!~".repeat(3000)));
    survives(format!("int f(int x) {{ return {} x {}; }}", "({ ".repeat(2000), "; })".repeat(2000)));
    survives(format!("int f(int x) {{ return {} x; }}", "x ? x : ".repeat(3000)));
    survives(format!("int f(int x) {{ return {} 0; }}", "x = ".repeat(3000)));
    survives(format!("int {} x;", "*".repeat(3000)));
    survives(format!("int x{} = {{ 1 }};", "[1]".repeat(3000)));
    survives(format!("int x = {} 1 {};", "{".repeat(3000), "}".repeat(3000)));
    survives(format!("{} int x; {}", "struct { ".repeat(3000), "};".repeat(3000)));
    survives(format!("int f({} int {});", "int (*)(".repeat(3000), ")".repeat(3000)));
}

#[test]
fn long_chains_of_types() {
    let mut text = String::from("typedef int t0; typedef long u0;");
    for i in 0..20_000 {
        text += &format!("typedef t{i} *t{}; typedef u{i} *u{};", i + 1, i + 1);
    }
    text += "t20000 x; void f(u20000 y) { x = y; }";
    accepted(text);
}
