//! Violations that `check` finds are reached on the real machine: the file that `--harness` writes is
//! compiled with the program by `cc`, with sanitizers where the violation is undefined behaviour.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// The file, and arguments of `check`.
const WRONG: [(&str, &[&str]); 9] = [
    ("examples/overflow.c", &["--property", "no-overflow"]),
    ("tests/c/check/argc.c", &[]),
    ("tests/c/check/argv_contents.c", &[]),
    ("tests/c/check/library_getchar.c", &[]),
    ("tests/c/check/missing_in_table.c", &[]),
    ("tests/c/check/recursion_wrong.c", &[]),
    ("tests/c/check/string_overrun.c", &["--property", "valid-memsafety"]),
    ("tests/c/check/library_sprintf_too_long.c", &["--property", "valid-memsafety"]),
    ("tests/c/check/shift_overflow.c", &["--property", "no-overflow"]),
];

#[test]
fn violations_are_reached_on_the_machine() {
    let folder = std::env::temp_dir().join(format!("palisade-harness-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
    let (harness, program) = (folder.join("harness.c"), folder.join("program"));
    for (file, args) in WRONG {
        let path = |p: &Path| p.to_string_lossy().into_owned();
        let found = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .current_dir(root())
            .args(["check", "--harness", &path(&harness)])
            .args(args)
            .arg(file)
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&found.stdout).into_owned();
        assert!(said.contains("verdict: false"), "{file}: {said}");
        let mut cc = Command::new("cc");
        cc.current_dir(root()).args(["-w", "-g", "-o", &path(&program), file, &path(&harness)]);
        if !args.is_empty() {
            cc.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        }
        let built = cc.output().expect("there is a C compiler");
        assert!(built.status.success(), "{file}: {}", String::from_utf8_lossy(&built.stderr));
        let run = Command::new(&program).stdin(std::process::Stdio::null()).output().expect("it runs");
        let text = String::from_utf8_lossy(&run.stderr).into_owned();
        let reached = ["violation reached", "runtime error", "AddressSanitizer", "Assertion"];
        assert!(reached.iter().any(|r| text.contains(r)), "{file}: {} {text}", run.status);
    }
    let _ = std::fs::remove_dir_all(folder);
}
