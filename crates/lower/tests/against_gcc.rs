//! Programs run by the interpreter and compiled by gcc must print the same: the library source
//! against the C library of the machine, and what lowering does to control, order and the
//! operations of the compiler. Skipped where there is no gcc.

use palisade_base::SourceMap;
use palisade_cfa::DataModel;
use palisade_interp::{Captured, Config, Interp, Listed, Outcome};
use palisade_lower::{Options, compile};
use std::path::Path;
use std::process::Command;

/// What a program prints on the interpreter.
fn printed(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name);
    let text = std::fs::read_to_string(&file).expect("the program is there");
    let mut map = SourceMap::new();
    let id = map.add(name, text).expect("the program is small");
    let compiled = compile(&mut map, &[id], DataModel::Lp64, &Options::default());
    let program = compiled.program.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    assert_eq!(palisade_cfa::verify(&program), []);
    let mut output = Captured::default();
    let run = Interp::new(&program, Config::default()).run(&mut Listed::default(), &mut output);
    assert_eq!(run.outcome, Outcome::Exit(0), "{:?}", run.stack.first());
    String::from_utf8_lossy(&output.out).into_owned()
}

/// What clang 14 prints, which knows `_BitInt`.
#[test]
fn integers_of_any_width() {
    assert_eq!(printed("bitint.c"), include_str!("c/bitint.out"));
}

/// C23 as the standard says: no compiler at hand knows all of it.
#[test]
fn c23() {
    assert_eq!(printed("c23.c"), include_str!("c/c23.out"));
}

fn compare(name: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name);
    let text = std::fs::read_to_string(&file).expect("the program is there");
    let mut map = SourceMap::new();
    let id = map.add(name, text).expect("the program is small");
    let options = Options::default();
    let compiled = compile(&mut map, &[id], DataModel::Lp64, &options);
    let program = compiled.program.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    assert_eq!(palisade_cfa::verify(&program), []);
    let bodyless = program.funcs.iter().filter(|f| f.body.is_none()).map(|f| &*f.name);
    // Steps that lowering itself makes have names that C has not.
    let called: Vec<&str> = bodyless.filter(|name| !name.starts_with(['.', '$'])).collect();
    assert_eq!(called, ["printf"], "everything else comes from the library source");
    let mut output = Captured::default();
    let run = Interp::new(&program, Config::default()).run(&mut Listed::default(), &mut output);
    let where_ = run.stack.first().map(|s| format!("{s:?}"));
    assert_eq!(run.outcome, Outcome::Exit(0), "{where_:?}\n{}", String::from_utf8_lossy(&output.out));

    let exe = std::env::temp_dir().join(format!("palisade-{}-{name}.exe", std::process::id()));
    let built = Command::new("gcc")
        .args(["-O0", "-w", "-fno-builtin", "-o"])
        .arg(&exe)
        .arg(&file)
        .arg("-lm")
        .output();
    let Ok(built) = built else {
        eprintln!("skipped: there is no gcc");
        return;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let native = Command::new(&exe).output().expect("the program can be started");
    std::fs::remove_file(&exe).expect("the program can be removed");
    let (ours, theirs) = (String::from_utf8_lossy(&output.out), String::from_utf8_lossy(&native.stdout));
    for (i, (ours, theirs)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {} of the output of {name}", i + 1);
    }
    assert_eq!(ours.lines().count(), theirs.lines().count());
}

#[test]
fn strings() {
    compare("strings.c");
}

#[test]
fn numbers() {
    compare("numbers.c");
}

#[test]
fn floats() {
    compare("floats.c");
}

#[test]
fn control() {
    compare("control.c");
}

#[test]
fn builtins() {
    compare("builtins.c");
}

#[test]
fn members_of_variable_size() {
    compare("variable.c");
}
