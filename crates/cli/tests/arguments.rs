//! Arguments of `main` and standard input: `run` takes them, and `check` tells those that lead to a
//! violation.

use std::path::PathBuf;
use std::process::{Command, Output};

fn palisade(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(args).output().expect("the binary runs")
}

/// A file of this test run.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("writable");
    path.to_string_lossy().into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn run_passes_arguments() {
    let program = file(
        "arguments.c",
        "#include <stdio.h>
        int main(int argc, char **argv, char **envp) {
            for (int i = 0; i < argc; i++) printf(\"<%s>\", argv[i]);
            return argv[argc] == 0 && envp[0] == 0 ? argc : 100;
        }",
    );
    let output = palisade(&["run", "--argv0", "prog", &program, "--", "one", "", "--three"]);
    assert_eq!(stdout(&output), "<prog><one><><--three>");
    assert_eq!(output.status.code(), Some(4));
    let output = palisade(&["run", &program]);
    assert_eq!((stdout(&output), output.status.code()), (format!("<{program}>"), Some(1)));
}

#[test]
fn check_tells_arguments_that_run_takes() {
    let program = file(
        "arguments_to_tell.c",
        "extern void reach_error(void);
        void reach_error(void) { __builtin_abort(); }
        int main(int argc, char **argv) {
            if (argc == 3 && argv[2][0] == 'o' && argv[2][1] == 'k' && argv[2][2] == 0) reach_error();
            return 0;
        }",
    );
    let text = stdout(&palisade(&["check", &program]));
    let line = text.lines().find_map(|l| l.strip_prefix("arguments: ")).expect("they are told");
    let words: Vec<&str> = line.split(' ').map(|w| w.trim_matches('"')).collect();
    assert_eq!(words.len(), 3, "{line}");
    assert_eq!(words[2], "ok", "{line}");
    let output = palisade(&["run", &program, "--", "x", words[2]]);
    assert_eq!(output.status.code(), Some(3), "it aborts");
    let output = palisade(&["run", &program, "--", "x", "no"]);
    assert_eq!(output.status.code(), Some(0));
}
