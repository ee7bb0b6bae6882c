//! C programs on the interpreter and as compiled by gcc.

use palisade_base::SourceMap;
use palisade_cfa::{DataModel, Program};
use palisade_interp::{Arguments, Captured, Config, Interp, Listed, Outcome, Run};
pub use palisade_lower::Options;
use palisade_lower::compile;
use std::path::Path;
use std::process::Command;

/// Whether a program can be started.
pub fn available(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// What a run gave: standard output and exit status (`None` for a signal).
#[derive(Debug, PartialEq, Eq)]
pub struct Result {
    pub out: String,
    pub status: Option<i32>,
}

/// Compiles with `gcc -O0` and runs; `None` if it takes longer than ten seconds.
pub fn with_gcc(file: &Path, flags: &[&str], scratch: &Path) -> Option<Result> {
    let exe = scratch.join(file.file_stem().unwrap_or_default()).with_extension("exe");
    let built =
        Command::new("gcc").args(["-O0", "-w", "-o"]).arg(&exe).args(flags).arg(file).arg("-lm").output();
    let built = built.expect("gcc can be started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new("timeout").arg("10").arg(&exe).output().expect("the program can be started");
    std::fs::remove_file(&exe).expect("the program can be removed");
    let out = String::from_utf8_lossy(&run.stdout).into_owned();
    (run.status.code() != Some(124)).then_some(Result { out, status: run.status.code() })
}

/// Preprocesses and lowers.
pub fn lowered(file: &Path, flags: &[&str], options: &Options) -> (Program, SourceMap) {
    let text =
        Command::new("gcc").args(["-E", "-w"]).args(flags).arg(file).output().expect("gcc can be started");
    assert!(text.status.success(), "{}", String::from_utf8_lossy(&text.stderr));
    let mut map = SourceMap::new();
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    let id = map.add(&file.display().to_string(), text).expect("the program is small");
    let compiled = compile(&mut map, &[id], DataModel::Lp64, options);
    let errors: Vec<String> = compiled
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| format!("{:?}: {}", map.position(d.span), d.message))
        .collect();
    let program = compiled.program.unwrap_or_else(|| panic!("{}: {errors:#?}", file.display()));
    let findings: Vec<String> = palisade_cfa::verify(&program).iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}: {findings:#?}", file.display());
    (program, map)
}

/// Runs on the interpreter.
pub fn interpreted(program: &Program, config: Config) -> (Run, Captured) {
    let mut output = Captured::default();
    let mut inputs = Arguments::new(program, &[b"program"], Listed::default());
    let run = Interp::new(program, config).run(&mut inputs, &mut output);
    (run, output)
}

/// The same as a process would show it.
pub fn as_result(run: &Run, output: &Captured) -> Result {
    let status = match run.outcome {
        Outcome::Exit(status) => Some(status & 0xff),
        _ => None,
    };
    Result { out: String::from_utf8_lossy(&output.out).into_owned(), status }
}

/// Where a run stopped, for messages.
pub fn explain(program: &Program, map: &SourceMap, run: &Run) -> String {
    let mut text = run.outcome.to_string();
    for (func, edge) in &run.stack {
        let at = map.position(program.edges[*edge].span);
        let at = at.map_or(String::new(), |p| format!("{}:{}", p.file, p.line));
        let op = program.show_op(&program.edges[*edge].op);
        text.push_str(&format!("\n  in {} at {at}: {op}", program.funcs[*func].name));
    }
    text
}
