//! The C programs of `tests/c/run` print and return the same on the interpreter as when gcc
//! compiles them. Adding a test is adding a file.

mod common;

use common::*;
use palisade_interp::Config;
use std::path::Path;

#[test]
fn programs_do_what_gcc_makes_of_them() {
    if !available("gcc") {
        eprintln!("skipped: gcc is not installed");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c/run");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of C programs is part of the project")
        .map(|e| e.expect("the folder can be read").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut wrong = Vec::new();
    for file in &files {
        let want = with_gcc(file, &[], scratch).expect("the programs are short");
        let (program, map) = lowered(file, &[], &Options::default());
        let config = Config { step_limit: 100_000_000, ..Config::default() };
        let (run, output) = interpreted(&program, config);
        let have = as_result(&run, &output);
        if have != want {
            let lines = have.out.lines().zip(want.out.lines());
            let differing: Vec<String> = lines
                .filter(|(a, b)| a != b)
                .map(|(a, b)| format!("  we:  {a}\n  gcc: {b}"))
                .take(5)
                .collect();
            wrong.push(format!(
                "{}: {} (gcc: {:?})\n{}",
                file.display(),
                explain(&program, &map, &run),
                want.status,
                differing.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), files.len(), wrong.join("\n"));
}
