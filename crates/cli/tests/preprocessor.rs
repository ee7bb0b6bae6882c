//! Where the program comes from: the standard input, and what the preprocessor is told.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn folder(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("palisade-preprocessor-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn with_input(args: &[&str], text: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

fn last(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or("").to_owned()
}

#[test]
fn the_standard_input_is_a_file() {
    let wrong = "#define N 3\nint main(void) { int a[N] = {0}; return a[N]; }\n";
    let found = with_input(&["check", "-", "--property", "valid-deref"], wrong);
    assert_eq!(last(&found), "verdict: false(valid-deref)", "{}", String::from_utf8_lossy(&found.stderr));
    let found = with_input(&["run", "-"], "#define N 3\nint main(void) { return N; }\n");
    assert_eq!(found.status.code(), Some(3));
}

#[test]
fn the_preprocessor_is_told_what_compilers_are_told() {
    let folder = folder("told");
    std::fs::write(folder.join("first.h"), "#define STATUS 5\n").expect("written");
    let text = "#ifdef __linux__\nint linux_status = 10;\n#else\nint linux_status = 20;\n#endif\n\
        #if __STDC_VERSION__ >= 201112L\nint standard = 100;\n#else\nint standard = 50;\n#endif\n\
        #ifndef EXTRA\n#define EXTRA 0\n#endif\n\
        int main(void) { return STATUS + linux_status + standard + EXTRA; }\n";
    std::fs::write(folder.join("f.c"), text).expect("written");
    let run = |args: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_palisade")).current_dir(&folder).args(args).output();
        command.expect("the binary runs").status.code()
    };
    assert_eq!(run(&["run", "f.c", "-D", "STATUS=1"]), Some(111));
    assert_eq!(run(&["run", "f.c", "-include", "first.h"]), Some(115));
    assert_eq!(run(&["run", "f.c", "-include", "first.h", "-U", "__linux__"]), Some(125));
    assert_eq!(run(&["run", "f.c", "-include", "first.h", "-std=c99"]), Some(65));
    assert_eq!(run(&["run", "f.c", "-include", "first.h", "--cc-arg", "-DEXTRA=3"]), Some(118));
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn shells_and_readers_of_manuals_are_served() {
    let text = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_palisade")).args(args).output().expect("the binary runs");
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["completions", shell]);
        assert!(script.contains("pointer-size") && script.contains("palisade"), "{shell}");
    }
    let page = text(&["man"]);
    assert!(
        page.contains(".TH") && page.contains(".SH \"PALISADE CHECK\"")
            || page.contains(".SH PALISADE CHECK")
    );
    for option in ["pointers", "all", "wall\\-limit"] {
        assert!(page.contains(option), "{option}");
    }
}

#[test]
fn a_witness_is_checked_with_all_its_files() {
    let folder = folder("files");
    std::fs::write(folder.join("a.c"), "int f(int); int main(void) { return f(3); }\n").expect("written");
    let text =
        "extern void reach_error(void);\nint f(int x) {\n  if (x == 3)\n    reach_error();\n  return x;\n}\n";
    std::fs::write(folder.join("b.c"), text).expect("written");
    let palisade = |args: &[&str]| {
        let command = Command::new(env!("CARGO_BIN_EXE_palisade")).current_dir(&folder).args(args).output();
        command.expect("the binary runs")
    };
    palisade(&["check", "a.c", "b.c", "--witness", "w.yml"]);
    let whole = palisade(&["validate", "a.c", "b.c", "w.yml"]);
    assert_eq!(last(&whole), "verdict: false(unreach-call)", "{}", String::from_utf8_lossy(&whole.stderr));
    let part = palisade(&["validate", "b.c", "w.yml"]);
    assert_eq!(part.status.code(), Some(2));
    let why = String::from_utf8_lossy(&part.stderr).into_owned();
    assert!(why.contains("also about `a.c`"), "{why}");
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn witnesses_in_graphml_are_read() {
    let folder = folder("graphml");
    let program = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\nint main(void) {\n  \
        int x = __VERIFIER_nondet_int();\n  if (x == 42)\n    reach_error();\n  return 0;\n}\n";
    std::fs::write(folder.join("a.c"), program).expect("written");
    let witness = |value: i32, target: u32| {
        format!(
            "<?xml version=\"1.0\"?>\n<graphml><graph edgedefault=\"directed\">\
             <data key=\"witness-type\">violation_witness</data>\
             <data key=\"specification\">CHECK( init(main()), LTL(G ! call(reach_error())) )</data>\
             <data key=\"programfile\">a.c</data><data key=\"architecture\">64bit</data>\
             <node id=\"a\"><data key=\"entry\">true</data></node><node id=\"b\"/>\
             <node id=\"c\"><data key=\"violation\">true</data></node>\
             <edge source=\"a\" target=\"b\"><data key=\"startline\">3</data>\
             <data key=\"assumption\">\\result == {value};</data>\
             <data key=\"assumption.resultfunction\">__VERIFIER_nondet_int</data></edge>\
             <edge source=\"b\" target=\"c\"><data key=\"startline\">{target}</data></edge></graph></graphml>"
        )
    };
    let validated = |text: String| {
        std::fs::write(folder.join("w.graphml"), text).expect("written");
        let args = ["validate", "a.c", "w.graphml"];
        let command = Command::new(env!("CARGO_BIN_EXE_palisade")).current_dir(&folder).args(args).output();
        last(&command.expect("the binary runs"))
    };
    assert_eq!(validated(witness(42, 5)), "verdict: false(unreach-call)");
    assert!(validated(witness(41, 5)).starts_with("verdict: unknown"), "another value leads elsewhere");
    std::fs::remove_dir_all(folder).expect("removed");
}
