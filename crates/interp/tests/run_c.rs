//! The C programs of `tests/c/run` print and return the same on the interpreter as when gcc
//! compiles them. Adding a test is adding a file.

mod common;

use common::*;
use palisade_cfa::*;
use palisade_interp::*;
use std::path::{Path, PathBuf};

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c/run");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of C programs is part of the project")
        .map(|e| e.expect("the folder can be read").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    files
}

#[test]
fn programs_do_what_gcc_makes_of_them() {
    if !available("gcc") {
        eprintln!("skipped: gcc is not installed");
        return;
    }
    let files = programs();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut wrong = Vec::new();
    for file in &files {
        let want = with_gcc(file, &[], scratch).expect("the programs are short");
        let (program, map) = lowered(file, &[], &Options::default());
        let config = Config { step_limit: 100_000_000, approximate: true, ..Config::default() };
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

/// Compares what compiled code computes with the walk over expressions that defines them.
struct Twin<'p> {
    program: &'p Program,
    /// A variable that was just assigned, and what it must hold now.
    pending: Option<(VarId, Value)>,
    compared: u64,
}

impl Observer for Twin<'_> {
    fn on_edge(&mut self, edge: EdgeId, state: &State<'_>) -> bool {
        if let Some((var, want)) = self.pending.take() {
            assert_eq!(state.var(var), Some(want), "{}", self.program.vars[var].name);
            self.compared += 1;
        }
        match &self.program.edges[edge].op {
            Op::Assume { cond } => {
                assert_eq!(state.eval(*cond).map(|v| v.bits), Ok(1), "{}", self.program.show_expr(*cond));
            }
            Op::Assign { dst, src } => {
                let place = &self.program.places[*dst];
                if let (Base::Var(v), true, Ok(value)) = (place.base, place.path.is_empty(), state.eval(*src))
                {
                    self.pending = Some((v, value));
                }
            }
            _ => {}
        }
        true
    }
}

#[test]
fn compiled_code_agrees_with_its_slow_twin() {
    if !available("gcc") {
        eprintln!("skipped: gcc is not installed");
        return;
    }
    let mut compared = 0;
    for file in programs() {
        let (program, map) = lowered(&file, &[], &Options::default());
        let mut inputs = Arguments::new(&program, &[b"program"], Listed::default());
        let mut twin = Twin { program: &program, pending: None, compared: 0 };
        let config = Config { step_limit: 1_000_000, approximate: true, ..Config::default() };
        let run = Interp::new(&program, config).run_observed(&mut inputs, &mut Discard, &mut twin);
        let ended = matches!(run.outcome, Outcome::Exit(_) | Outcome::StepLimit);
        assert!(ended, "{}: {}", file.display(), explain(&program, &map, &run));
        compared += twin.compared;
    }
    assert!(compared > 5_000, "{compared} assignments compared");
}
