//! The pages that show commands say what happens: the commands are run, and the lines under them are expected.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

/// Whether lines are as expected, where `...` stands for any number of them, or for the rest of a line.
fn fits(want: &[&str], got: &[&str]) -> bool {
    match want {
        [] => got.is_empty(),
        ["...", rest @ ..] => (0..=got.len()).any(|n| fits(rest, &got[n..])),
        [line, rest @ ..] => {
            let same = |got: &&str| match line.strip_suffix("...") {
                Some(start) => got.starts_with(start.trim_end()),
                None => got == line,
            };
            got.first().is_some_and(same) && fits(rest, &got[1..])
        }
    }
}

#[test]
fn the_commands_of_the_guide_print_what_it_says() {
    assert!(run_commands("docs/guide.md") >= 6);
}

#[test]
fn the_commands_of_the_readme_print_what_it_says() {
    assert_eq!(run_commands("README.md"), 2);
}

#[test]
fn the_examples_of_configurable_program_analysis_print_what_is_said() {
    assert!(run_commands("docs/cpa.md") >= 18);
}

/// Runs all commands of a page; how many.
fn run_commands(page: &str) -> usize {
    let page = std::fs::read_to_string(root().join(page)).expect("the page is there");
    let mut commands = 0;
    for block in page.split("```console\n$ ").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let (command, want) = block.split_once('\n').expect("a line under the command");
        let ours = ["palisade ", "cargo run --release -- "];
        let command = ours.iter().find_map(|o| command.strip_prefix(o)).expect("a command of the tool");
        let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .current_dir(root())
            .args(command.split_whitespace())
            .output()
            .expect("the binary runs");
        let got = String::from_utf8_lossy(&output.stdout).into_owned();
        let (want, got): (Vec<&str>, Vec<&str>) = (want.lines().collect(), got.lines().collect());
        assert!(fits(&want, &got), "palisade {command}\nwant\n{}\ngot\n{}", want.join("\n"), got.join("\n"));
        commands += 1;
    }
    commands
}

#[test]
fn dots_stand_for_lines() {
    assert!(
        fits(&["a", "...", "d"], &["a", "b", "c", "d"])
            && fits(&["..."], &[])
            && fits(&["...", "a"], &["a"])
            && fits(&["a ..."], &["a b"])
    );
    assert!(!fits(&["a", "...", "d"], &["a", "b"]) && !fits(&["a"], &["a", "b"]));
}
