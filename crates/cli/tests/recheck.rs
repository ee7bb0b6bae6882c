//! Verdicts are checked again from the files that `--certificate` writes; another solver can be asked; the log is written.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn palisade(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(root()).args(args).output().expect("the binary runs")
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or("").to_string()
}

fn scratch(name: &str) -> String {
    let path = std::env::temp_dir().join(format!("palisade-{}-{name}", std::process::id()));
    path.to_string_lossy().into_owned()
}

/// Arguments of `check`, of all kinds of evidence.
const QUESTIONS: [&[&str]; 9] = [
    &["examples/lock.c"],
    &["examples/counter.c"],
    &["--property", "no-overflow", "examples/overflow.c"],
    &["tests/c/check/only_run.c"],
    &["tests/c/check/wrap.c"],
    &["examples/midpoint.c"],
    &["tests/c/check/recursion_wrong.c"],
    &["examples/ring_buffer.c"],
    &["--property", "valid-memsafety", "tests/c/check/string_overrun.c"],
];

#[test]
fn certificates_are_accepted_again() {
    let mut written = 0;
    for (i, question) in QUESTIONS.iter().enumerate() {
        let file = scratch(&format!("certificate-{i}"));
        let mut args = vec!["check", "--certificate", &file];
        args.extend(*question);
        let checked = palisade(&args);
        // What the plain solver cannot repeat is not written, and said so.
        if !Path::new(&file).exists() {
            let said = String::from_utf8_lossy(&checked.stderr).into_owned();
            assert!(said.contains("no certificate is written"), "{question:?}: {said}");
            continue;
        }
        let again = palisade(&["recheck", &file, question[question.len() - 1]]);
        assert_eq!(last_line(&again), last_line(&checked), "{question:?}");
        assert_eq!(again.status.code(), checked.status.code());
        let other = palisade(&["recheck", &file, "tests/c/check/union_bytes.c"]);
        assert_eq!(other.status.code(), Some(3), "{question:?} of another program");
        written += 1;
    }
    assert!(written >= 7, "{written} certificates");
}

#[test]
fn another_solver_agrees() {
    if Command::new("z3").arg("--version").output().is_err() {
        eprintln!("skipped: z3 is not installed");
        return;
    }
    for file in ["examples/lock.c", "examples/counter.c"] {
        let output = palisade(&["check", "--json", "--cross-check", "z3", file]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(json["verdict"], "true", "{file}");
        let answers = &json["unsat_answers"];
        let asked = answers["proved"].as_u64().unwrap_or(0) + answers["searched"].as_u64().unwrap_or(0);
        assert_eq!(answers["cross_checked"].as_u64(), Some(asked), "{file}: {answers}");
    }
}

#[test]
fn the_log_is_written() {
    let file = scratch("log");
    let output = palisade(&["--log", &file, "check", "--analysis", "kinduction", "examples/lock.c"]);
    assert_eq!(output.status.code(), Some(0));
    let log = std::fs::read_to_string(&file).expect("there is a log");
    assert!(log.contains("kinduction"), "{log}");
    assert!(output.stderr.is_empty());
    let output = palisade(&["-v", "check", "--analysis", "kinduction", "examples/lock.c"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("kinduction"));
    let output = palisade(&["--log", "/no/such/folder/log", "check", "examples/lock.c"]);
    assert_eq!(output.status.code(), Some(2));
}
