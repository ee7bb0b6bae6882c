//! Several properties at once, and all violations instead of the first.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("written");
    path
}

fn check(file: &Path, args: &[&str]) -> Output {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(folder).arg("check").args(args).arg(file.file_name().expect("a name"));
    command.output().expect("the binary runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Two errors in lines 4 and 5, none in line 6, and a call of an error function in line 8.
const WRONG: &str = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
int main(void) {
  int a[4] = {0}, x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
  int s = x + 1;
  a[y & 7] = s;
  a[y & 3] = 2;
  if (y == 3)
    reach_error();
  return a[0];
}
";

#[test]
fn properties_are_asked_together() {
    let path = file("together.i", WRONG);
    let one = said(&check(&path, &["--property", "no-overflow"]));
    assert!(one.ends_with("verdict: false(no-overflow)\n"), "{one}");
    let none = "int main(void) { int a[2] = {1, 2}; int i = a[0] + a[1]; return i; }";
    let none = file("none.i", none);
    let both = check(&none, &["--property", "valid-deref", "--property", "no-overflow", "--json"]);
    assert_eq!(both.status.code(), Some(0));
    assert!(said(&both).contains("G valid-deref, G ! overflow"), "{}", said(&both));
    let odd = check(&none, &["--property", "valid-deref", "--property", "nonsense"]);
    assert_eq!(odd.status.code(), Some(2));
}

#[test]
fn every_violation_is_told_once() {
    let path = file("every.i", WRONG);
    let asked =
        ["--all", "--property", "no-overflow", "--property", "valid-deref", "--property", "unreach-call"];
    let output = check(&path, &[&asked[..], &["--sarif", "every.sarif"]].concat());
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let json = check(&path, &[&asked[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let rows = json["checks"].as_array().expect("rows");
    let status = |property: &str, line: u32| {
        let place = format!("every.i:{line}");
        let row = rows.iter().find(|r| r["property"] == property && r["place"] == place.as_str());
        row.unwrap_or_else(|| panic!("{property} {place}: {text}"))["status"]
            .as_str()
            .expect("text")
            .to_owned()
    };
    assert_eq!(status("no-overflow", 4), "violated");
    assert_eq!(status("valid-deref", 5), "violated");
    assert_eq!(status("unreach-call", 8), "violated");
    assert_eq!(json["violations"].as_array().map(Vec::len), Some(3), "{text}");
    assert!(!rows.iter().any(|r| r["status"] == "open"), "{text}");
    assert!(text.contains("places: 3 violated, ") && text.contains(" 0 open"), "{text}");
    let sarif = std::fs::read_to_string(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("every.sarif"));
    let sarif: serde_json::Value = serde_json::from_str(&sarif.expect("written")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(3));
}

#[test]
fn two_calls_of_an_error_function_are_two_violations() {
    let text = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
        int main(void) {
          int x = __VERIFIER_nondet_int();
          if (x == 1) reach_error();
          if (x == 2) reach_error();
          if (x != x) reach_error();
          return 0;
        }";
    let path = file("calls.i", text);
    let text = said(&check(&path, &["--all"]));
    assert!(text.contains("3 places: 2 violated, 1 proved, 0 open"), "{text}");
}

#[test]
fn what_is_proved_is_listed_too() {
    let path = file("proved.i", "int main(void) { int a[3] = {1, 2, 3}, i = a[2] - 1; return a[i]; }");
    let text = said(&check(&path, &["--all", "--property", "valid-deref", "--property", "no-overflow"]));
    assert!(text.contains("valid-deref  proved.i:1") && text.contains(" 0 violated, "), "{text}");
    assert!(text.ends_with("verdict: true\n"), "{text}");
    let nothing = said(&check(&file("empty.i", "int main(void) { return 0; }"), &["--all"]));
    assert!(nothing.contains("there is nothing to check") && nothing.contains("0 places"), "{nothing}");
}
