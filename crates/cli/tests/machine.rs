//! What scripts rely on: exit statuses, limits, and lines that are there or not.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Runs `check` on a program, in a folder of its own.
fn check(name: &str, program: &str, arguments: &[&str]) -> Output {
    let folder = std::env::temp_dir().join(format!("palisade-machine-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("f.c"), program).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(&folder)
        .args(["check", "f.c"])
        .args(arguments)
        .output()
        .expect("the binary runs");
    std::fs::remove_dir_all(&folder).expect("removed");
    output
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const FAILS: &str = "#include <assert.h>\nint main(void) { int x = 1; assert(x == 2); return 0; }\n";
/// Factors of a prime number: more than a second of work.
const HARD: &str = "extern unsigned long __VERIFIER_nondet_ulong(void);\nvoid reach_error(void) {}\n\
    int main(void) {\n  unsigned long a = __VERIFIER_nondet_ulong(), b = __VERIFIER_nondet_ulong();\n\
    if (a > 1 && b > 1 && a < 4294967296 && b < 4294967296 && a * b == 1000000000000000003ul) reach_error();\n\
    return 0;\n}\n";

#[test]
fn quiet_leaves_the_verdict_and_json() {
    let quiet = check("quiet", FAILS, &["--quiet"]);
    assert_eq!((stdout(&quiet).as_str(), quiet.status.code()), ("verdict: false(unreach-call)\n", Some(1)));
    let both = stdout(&check("json", FAILS, &["-q", "--json"]));
    let lines: Vec<&str> = both.lines().collect();
    assert_eq!(lines.len(), 2, "{both}");
    let json: serde_json::Value = serde_json::from_str(lines[0]).expect("JSON");
    assert_eq!(json["version"], "1.0");
    assert_eq!(json["description"], "assertion `x == 2` fails: x is 1");
}

#[test]
fn json_has_no_member_that_the_documentation_does_not_name() {
    let documentation = include_str!("../../../docs/json.md");
    let text = stdout(&check("members", FAILS, &["-q", "--json"]));
    let json: serde_json::Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    for name in json.as_object().expect("an object").keys() {
        assert!(documentation.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn outputs_that_cannot_be_written_are_an_error() {
    for output in ["--witness", "--report", "--sarif"] {
        let result = check(&output[2..], FAILS, &[output, "missing/folder/out"]);
        assert_eq!(result.status.code(), Some(2), "{output}");
        assert!(stdout(&result).ends_with("verdict: false(unreach-call)\n"), "{output}");
        assert!(String::from_utf8_lossy(&result.stderr).contains("missing/folder/out"), "{output}");
    }
}

#[test]
fn the_clock_is_a_limit_and_advice_follows() {
    let start = Instant::now();
    let result = check("clock", HARD, &["--wall-limit", "1s"]);
    let text = stdout(&result);
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    // A busy machine may not come far enough to give advice.
    assert!(text.ends_with("verdict: unknown (time limit)\n"), "{text}");
    assert_eq!(result.status.code(), Some(3));
}

#[test]
fn what_to_try_is_said() {
    let text = stdout(&check("analysis", HARD, &["--analysis", "interval", "--time-limit", "5s"]));
    assert!(text.contains("try: --analysis auto: only `interval` was asked\n"), "{text}");
}

#[test]
fn a_proof_about_nothing_says_so() {
    let text = stdout(&check("nothing", "int main(void) { return 0; }\n", &[]));
    assert!(text.contains("note: nothing in the program could violate the property"), "{text}");
    let text = stdout(&check(
        "something",
        "#include <assert.h>\nint main(void) { int x = 1; assert(x); return 0; }\n",
        &[],
    ));
    assert!(text.ends_with("verdict: true\n") && !text.contains("note: nothing"), "{text}");
}

#[test]
fn undefined_behaviour_before_the_property_is_shown_with_its_run() {
    let program = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nint main(void) {\n\
        int a[2] = {0, 0}, i = __VERIFIER_nondet_int();\n  if (i != 7)\n    return 0;\n  int x = a[i];\n\
        if (x == x)\n    reach_error();\n  return 0;\n}\n";
    let output = check("undefined", program, &["--json"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    let reason = "verdict: unknown (a run meets undefined behaviour before it reaches the property: ";
    assert!(text.lines().last().is_some_and(|l| l.starts_with(reason)), "{text}");
    assert!(
        text.contains("undefined, before the property is reached: read of 4 bytes, 20 past the end of `a`"),
        "{text}"
    );
    assert!(text.contains("in main at f.c:7:") && text.contains("inputs: 7"), "{text}");
    assert!(text.contains("try: --property valid-deref"), "{text}");
    let json = text.lines().find(|l| l.starts_with('{')).expect("a line of JSON");
    let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(json["undefined"]["settled_by"], "valid-deref");
    let settled = check("settled", program, &["--property", "valid-deref"]);
    assert!(stdout(&settled).ends_with("verdict: false(valid-deref)\n"));
}
