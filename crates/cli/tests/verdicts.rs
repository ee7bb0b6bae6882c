//! Runs the command that stands in the second line of each C file under `examples/`, `examples/cpa/` and
//! `tests/c/check/`, and expects the verdict that stands in the third. Adding a case is adding a
//! file. `unknown` in the third line means that neither verdict is wanted, whatever the reason.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no C file in {folder}");
    files
}

/// What is wrong with a file's verdict, if anything.
fn complaint(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).expect("readable");
    let mut lines = text.lines().skip(1).filter_map(|l| l.strip_prefix("// "));
    let command = lines.next()?.strip_prefix("palisade ").expect("the second line is a command");
    let want = lines.next().expect("the third line is a verdict");
    // A slow machine is no reason to fail.
    let patient = want != "verdict: unknown" && !command.contains("--time-limit");
    let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(root())
        .args(command.split_whitespace())
        .args(if patient { &["--time-limit", "300s"][..] } else { &[] })
        .output()
        .expect("the binary runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let got = stdout.lines().last().unwrap_or("");
    let status = match want {
        "verdict: true" => 0,
        "verdict: unknown" => 3,
        _ => 1,
    };
    let same = if want == "verdict: unknown" { got.starts_with(want) } else { got == want };
    let fine = same && output.status.code() == Some(status);
    (!fine).then(|| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        format!("{}: want `{want}`, got `{got}` ({})\n{stderr}", path.display(), output.status)
    })
}

fn check_all(folder: &str) {
    let complaints: Vec<String> = files(folder).iter().filter_map(|f| complaint(f)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn examples() {
    assert!(files("examples").len() >= 12);
    check_all("examples");
    check_all("examples/cpa");
}

#[test]
fn regressions() {
    check_all("tests/c/check");
}
