//! The same input gives the same answer, run after run. Who of several engines is first depends on the machine,
//! so with all of them the verdict is compared; with the one that settled it, all that is said: evidence, invariants,
//! inputs, trace, and how many answers of the solver have proofs. The commands are those at the top of the C files in
//! `examples/` and `tests/c/check/`; `PALISADE_REPEATED` says how many of them are tried, and `PALISADE_REPEATS` how
//! often each.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// A size from the environment.
fn size(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// The commands that are expected to settle something, those of the smallest files first.
fn commands() -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for folder in ["examples", "tests/c/check"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("the folder is there").flatten() {
            if entry.path().extension().is_none_or(|e| e != "c") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).expect("readable");
            let mut lines = text.lines().skip(1).filter_map(|l| l.strip_prefix("// "));
            let command = lines.next().and_then(|l| l.strip_prefix("palisade check "));
            let settled =
                lines.next().is_some_and(|l| l == "verdict: true" || l.starts_with("verdict: false"));
            if let (Some(command), true) = (command, settled)
                && !command.contains("--time-limit")
            {
                found.push((text.len(), command.into()));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, command)| command).collect()
}

/// What a run of a command says, without how long it took.
fn answer(command: &str, more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(root())
        .args(["check", "--json", "--time-limit", "300s"])
        .args(command.split_whitespace())
        .args(more)
        .output()
        .expect("the binary runs");
    let mut answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{command}: {e}: {}", String::from_utf8_lossy(&output.stdout)));
    // How far the second opinion gets is a matter of time, too.
    for member in ["cpu_seconds", "found_after", "tried", "checked", "unsat_answers"] {
        answer.as_object_mut().map(|members| members.remove(member));
    }
    answer
}

#[test]
fn the_same_answer_every_time() {
    let (count, repeats) = (size("PALISADE_REPEATED", 12), size("PALISADE_REPEATS", 3));
    let (mut different, mut alone) = (Vec::new(), 0);
    for command in commands().iter().take(count) {
        let settled = answer(command, &[]);
        let chosen = command.contains("--analysis");
        let engine = settled["engine"].as_str().filter(|_| !chosen).unwrap_or_default().to_string();
        let more: &[&str] = if engine.is_empty() { &[] } else { &["--analysis", &engine] };
        let first = answer(command, more);
        alone += usize::from(first["engine"] == settled["engine"]);
        for _ in 1..repeats {
            let (again, verdict) = (answer(command, more), &answer(command, &[])["verdict"]);
            if again != first {
                different.push(format!("{command} {more:?}\n  {first}\n  {again}"));
            }
            if *verdict != settled["verdict"] {
                different.push(format!("{command}: {verdict}, it was {}", settled["verdict"]));
            }
        }
    }
    assert!(different.is_empty(), "{} of {count} differ:\n{}", different.len(), different.join("\n"));
    assert!(alone * 4 >= count * 3, "only {alone} of {count} are settled by one engine alone");
}
