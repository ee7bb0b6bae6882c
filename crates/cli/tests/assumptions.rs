//! What a verdict takes for granted is said with it, in every form of output.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A program that allocates and calls functions without a body, one of them in code that cannot run.
const PROGRAM: &str = "#include <stdlib.h>
    extern int measure(int);
    extern int forgotten(int);
    int unused(void) { return forgotten(1); }
    int main(void) { int *p = malloc(4); *p = measure(3); free(p); return 0; }";

fn folder(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("palisade-assumptions-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn check(folder: &std::path::Path, program: &str, options: &[&str]) -> Output {
    std::fs::write(folder.join("p.c"), program).expect("written");
    Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(folder)
        .arg("check")
        .args(options)
        .arg("p.c")
        .output()
        .expect("the binary runs")
}

#[test]
fn all_forms_of_output_tell_them() {
    let folder = folder("forms");
    let output = check(
        &folder,
        PROGRAM,
        &["--missing", "pure", "--sarif", "s.sarif", "--report", "r.html", "--witness", "w.yml"],
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("written");
    for (form, text) in [
        ("text", text.to_string()),
        ("SARIF", read("s.sarif")),
        ("HTML", read("r.html")),
        ("witness", read("w.yml")),
    ] {
        assert!(text.contains("allocations succeed"), "{form}:\n{text}");
        assert!(text.contains("`measure` has no body: it changes nothing"), "{form}:\n{text}");
        assert!(!text.contains("`forgotten`"), "{form}:\n{text}");
    }
    let json = check(&folder, PROGRAM, &["--json", "--missing", "pure"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let kinds: Vec<&str> =
        json["assumptions"].as_array().expect("a list").iter().filter_map(|a| a["kind"].as_str()).collect();
    assert_eq!(kinds, ["allocation", "missing-pure"]);
    assert_eq!(json["assumptions"][1]["function"], "measure");
    assert!(text.lines().any(|l| l.starts_with("assuming: ")) && text.ends_with("verdict: true\n"), "{text}");
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn what_depends_on_the_world_is_not_proved_strictly() {
    let folder = folder("strict");
    let last = |options: &[&str], program: &str| {
        let output = check(&folder, program, options);
        String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or("").to_owned()
    };
    let strict = last(&["--strict"], PROGRAM);
    assert!(strict.starts_with("verdict: unknown (true if memory is never exhausted"), "{strict}");
    assert_eq!(last(&["--strict"], "int main(void) { return 0; }"), "verdict: true");
    let run = "extern void reach_error(void); int main(void) { reach_error(); return 0; }";
    assert_eq!(last(&["--strict"], run), "verdict: false(unreach-call)", "a run needs no faith");
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn a_program_can_be_asked_to_be_whole() {
    let folder = folder("whole");
    let output = check(&folder, PROGRAM, &["--missing", "error"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: `measure` has no body"));
    std::fs::remove_dir_all(folder).expect("removed");
}

/// A name of the library with other kinds of parameters is another function; with other widths nobody knows what is
/// called.
#[test]
fn library_functions_of_another_type_are_not_those_of_the_library() {
    let folder = folder("another");
    let program = "extern int strdup(int); int main(void) { return strdup(3) == 0; }";
    let output = check(&folder, program, &["--property", "valid-memcleanup"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("assuming: `strdup` has no body"), "{text}");
    let strict = check(&folder, program, &["--property", "valid-memcleanup", "--strict"]);
    assert_eq!(strict.status.code(), Some(3));
    let program = "extern int strdup(const char *); int main(void) { return strdup(\"a\") == 0; }";
    let output = check(&folder, program, &["--property", "valid-memcleanup"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("what `strdup` does is not modelled") && !text.contains("assuming"), "{text}");
    std::fs::remove_dir_all(folder).expect("removed");
}

/// A pointer from outside could be one to any object that others know, and others may change what is `volatile`.
#[test]
fn what_others_may_do_is_assumed_away() {
    let folder = folder("outside");
    let program = "extern void *__VERIFIER_nondet_pointer(void); extern void reach_error(void); int x;
        int main(void) { int *p = __VERIFIER_nondet_pointer(); *p = 5; if (x == 5) reach_error(); return 0; }";
    let output = check(&folder, program, &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("assuming: pointers that come from outside"), "{text}");
    assert_eq!(check(&folder, program, &["--strict"]).status.code(), Some(3));
    let program =
        "extern void reach_error(void); volatile int v; int main(void) { if (v) reach_error(); return 0; }";
    let text = check(&folder, program, &[]).stdout;
    assert!(
        String::from_utf8_lossy(&text)
            .contains("assuming: nobody but the program changes `volatile` objects")
    );
    let inside = "int main(void) { int x = 0, *p = &x; *p = 5; return x; }";
    let output = check(&folder, inside, &["--property", "valid-deref"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("assuming: pointers"));
    std::fs::remove_dir_all(folder).expect("removed");
}
