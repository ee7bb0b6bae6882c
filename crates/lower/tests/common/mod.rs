//! What the tests of lowering share.

use palisade_base::{Diagnostic, SourceMap};
use palisade_cfa::{CheckKind, DataModel, Program};
use palisade_lower::{CheckSet, Compiled, Options, compile};

/// Compiles a text that must be accepted; the automaton is verified and printed and read back.
pub fn program(source: &str, checks: &[CheckKind], model: DataModel) -> (Program, Vec<Diagnostic>) {
    let mut map = SourceMap::new();
    let file = map.add("test.c", source.to_owned()).expect("a small file fits");
    let options = Options { checks: checks.iter().copied().collect::<CheckSet>(), ..Options::default() };
    let Compiled { program, diagnostics } = compile(&mut map, &[file], model, &options);
    let program = program.unwrap_or_else(|| panic!("rejected: {diagnostics:#?}"));
    let findings = palisade_cfa::verify(&program);
    assert!(findings.is_empty(), "{findings:?}\n{}", palisade_cfa::text::print(&program));
    (program, diagnostics)
}

/// The text of one function of a program, without its variables.
pub fn function(program: &Program, name: &str) -> String {
    let text = palisade_cfa::text::print(program);
    let start = [format!("fn {name}("), format!("fn `{name}`(")];
    let mut lines = text.lines().skip_while(|l| !start.iter().any(|s| l.starts_with(s.as_str())));
    assert!(lines.next().is_some_and(|l| l.ends_with('{')), "`{name}` has no body in\n{text}");
    let body = lines.take_while(|l| *l != "}").map(str::trim);
    let edges = body.filter(|l| !l.starts_with("local ") && !l.starts_with("temp "));
    edges.collect::<Vec<_>>().join("\n")
}

/// Checks the automaton of the function `f` of a text that has no `main` of its own.
#[track_caller]
pub fn check(source: &str, checks: &[CheckKind], expected: &str) {
    let source = format!("{source}\nint main(void) {{ return 0; }}\n");
    let (program, _) = program(&source, checks, DataModel::Ilp32);
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    assert_eq!(function(&program, "f"), expected.join("\n"));
}
