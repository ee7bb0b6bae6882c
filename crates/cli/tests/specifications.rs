//! Observer specifications and the graph of abstract states, from the outside.

use std::path::PathBuf;
use std::process::{Command, Output};

fn palisade(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(args).output().expect("the binary runs")
}

/// A file of this test run.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("writable");
    path.to_str().expect("the target folder has a readable name").into()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const PROGRAM: &str = "int x, y; void foo(void); int main(void) { int u = 0; foo(); return u; }\n";

/// Every mistake is an error with file, line, column and source line, and a usage error.
#[test]
fn bad_specifications_name_their_position() {
    let program = file("observed_0.i", PROGRAM);
    let rules = |rules: &str| format!("observer a {{\n  initial q;\n  state q {{ {rules} }}\n}}\n");
    for (name, specification, at, message) in [
        ("function.spc", rules("on call nobody -> q;"), "3:21", "no function `nobody`"),
        (
            "unreachable.spc",
            "observer a {\n  initial q;\n  state q { }\n  state r { }\n}\n".into(),
            "4:9",
            "state `r` cannot be reached",
        ),
        ("syntax.spc", rules("on call foo > q;"), "3:25", "expected `->`"),
        ("else.spc", rules("on call foo if (x > 0) -> q;"), "3:13", "an `else` is missing"),
        // Section 5.4: an observer must not restrict the program. Here x == 0 is missing.
        (
            "unsound.spc",
            rules("on call foo if (x > 0) -> q; on call foo if (x < 0) -> error \"negative\";"),
            "3:13",
            "do not cover all cases",
        ),
        ("variable.spc", rules("on call foo if (z) -> q else -> q;"), "3:29", "no variable `z`"),
        ("builtin.spc", rules("on call malloc -> q;"), "3:21", "cannot be observed"),
        ("start.spc", rules("on call main -> q;"), "3:21", "the program starts in `main`"),
        ("empty.spc", String::new(), "1:1", "expected `observer`"),
    ] {
        let path = file(name, &specification);
        let output = palisade(&["check", "--property", &path, &program]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
        assert_eq!(text(&output.stdout), "", "{name}");
        assert!(stderr.contains(&format!("{name}:{at}")) && stderr.contains(message), "{name}: {stderr}");
        let number: usize = at.split(':').next().and_then(|l| l.parse().ok()).expect("a line");
        let line = specification.lines().nth(number - 1).unwrap_or("");
        assert!(stderr.contains(line), "{name}: {stderr}");
    }
}

#[test]
fn bad_property_files_name_their_position() {
    let program = file("observed_1.i", PROGRAM);
    let path = file("broken.prp", "\nCHECK( init(main()), LTL(G ! overflo) )\n");
    let output = palisade(&["check", "--property", &path, &program]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("broken.prp:2:30") && stderr.contains("LTL(G ! overflo)"), "{stderr}");
}

#[test]
fn the_message_of_an_error_state_is_shown() {
    let path =
        file("message.spc", "observer a { initial q; state q { on call foo -> error \"foo again\"; } }");
    let program = file("observed_2.i", PROGRAM);
    let output = palisade(&["check", "--property", &path, &program]);
    let stdout = text(&output.stdout);
    assert!(stdout.contains("violation: foo again\n  in main at "), "{stdout}");
    assert!(stdout.ends_with("verdict: false(a)\n"), "{stdout}");
    assert_eq!(output.status.code(), Some(1));
}

const LOOP: &str = "void reach_error(void);
int main(void) {
  int i = 0;
  while (i < 3)
    i++;
  if (i != 3) reach_error();
  return 0;
}
";

#[test]
fn graphs_have_readable_states() {
    let program = file("counted.i", LOOP);
    let graph = |analysis: &str, name: &str| {
        let path = file(name, "");
        let output = palisade(&["check", "--analysis", analysis, "--arg", &path, &program]);
        assert!(text(&output.stdout).ends_with("verdict: true\n"), "{}", text(&output.stderr));
        std::fs::read_to_string(path).expect("written")
    };
    let dot = graph("value", "value.dot");
    assert!(dot.starts_with("digraph"), "{dot}");
    for part in ["i=3", "counted.i:4", "i < 3"] {
        assert!(dot.contains(part), "no {part} in {dot}");
    }
    let json: serde_json::Value = serde_json::from_str(&graph("interval", "interval.json")).expect("JSON");
    let list = |key: &str| json[key].as_array().expect("a list").clone();
    let (nodes, edges) = (list("nodes"), list("edges"));
    assert!(nodes.iter().any(|n| n["state"].as_str().is_some_and(|s| s.contains("i <= 3"))), "{nodes:?}");
    // The way back to the loop head is covered, and every edge is between nodes that are there.
    assert!(edges.iter().any(|e| e["covered"] == true));
    let known: Vec<_> = nodes.iter().map(|n| n["id"].clone()).collect();
    assert!(edges.iter().all(|e| known.contains(&e["from"]) && known.contains(&e["to"])));
    assert!(edges.iter().all(|e| e["operation"].is_string()));
}

#[test]
fn engines_without_a_graph_say_so() {
    let program = file("counted_by_bmc.i", LOOP);
    let path = file("bmc.dot", "");
    let output = palisade(&["check", "--analysis", "bmc", "--arg", &path, &program]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("engine `bmc` has none"), "{}", text(&output.stderr));
    assert_eq!(palisade(&["check", "--arg", "graph.png", &program]).status.code(), Some(2));
}
