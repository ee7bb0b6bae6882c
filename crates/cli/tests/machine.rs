//! What scripts rely on: exit statuses, limits, and lines that are there or not.

use serde_json::Value;
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
fn quiet_leaves_the_verdict() {
    let quiet = check("quiet", FAILS, &["--quiet"]);
    assert_eq!((stdout(&quiet).as_str(), quiet.status.code()), ("verdict: false(unreach-call)\n", Some(1)));
}

/// What a schema says is wrong with a value, in the part of the language that ours is written in.
fn violations(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let part = root.pointer(name.trim_start_matches('#')).expect("a definition");
        return violations(root, part, value, at, found);
    }
    if let Some(ways) = schema["anyOf"].as_array() {
        let fails = |way| {
            let mut found = Vec::new();
            violations(root, way, value, at, &mut found);
            !found.is_empty()
        };
        if ways.iter().all(fails) {
            found.push(format!("{at}: none of the ways"));
        }
        return;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |name: &Value| name == kind || name == "number" && kind == "integer";
    let fits = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        name => is(name),
    };
    let allowed = schema["enum"].as_array().is_none_or(|all| all.contains(value));
    if !fits || !allowed || schema.get("const").is_some_and(|only| only != value) {
        found.push(format!("{at}: {value}"));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        violations(root, &schema["items"], item, &format!("{at}[{i}]"), found);
    }
    let Some(members) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            found.push(format!("{at}: no {name}"));
        }
    }
    for (name, member) in members {
        let at = format!("{at}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(part), _) => violations(root, part, member, &at, found),
            (None, Value::Bool(false)) => found.push(format!("{at}: not in the schema")),
            (None, others) => violations(root, others, member, &at, found),
        }
    }
}

#[test]
fn json_is_all_that_standard_output_holds_and_keeps_to_its_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../../docs/result.schema.json")).expect("JSON");
    let documentation = include_str!("../../../docs/json.md");
    for name in schema["$defs"]["result"]["properties"].as_object().expect("members").keys() {
        assert!(documentation.contains(&format!("`{name}`")), "{name} is not documented");
    }
    let loops = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\nint main(void) {\n\
        int n = __VERIFIER_nondet_int(), i = 0;\n  while (i < n) i++;\n  if (n >= 0 && i != n) reach_error();\n}\n";
    for (name, program, arguments, verdict, code) in [
        ("fails", FAILS, &[][..], "false", 1),
        ("holds", loops, &[], "true", 0),
        ("all", FAILS, &["--all"], "false", 1),
        ("limit", HARD, &["--time-limit", "1s"], "unknown", 3),
        ("coarse", HARD, &["--analysis", "interval"], "unknown", 3),
        ("syntax", "int main(void) { return 0 }\n", &[], "error", 2),
        ("property", FAILS, &["--property", "no-such"], "error", 2),
        ("usage", FAILS, &["--no-such-option"], "error", 2),
        ("missing", FAILS, &["no-such-file.c"], "error", 2),
    ] {
        let output = check(name, program, &[&["--json"], arguments].concat());
        let text = stdout(&output);
        let json: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}: {text}"));
        let mut found = Vec::new();
        violations(&schema, &schema, &json, "", &mut found);
        assert_eq!(found, [""; 0], "{name}: {text}");
        assert_eq!((&json["verdict"], output.status.code()), (&verdict.into(), Some(code)), "{name}: {text}");
        let errors = json["messages"].as_array().expect("messages").len();
        assert_eq!(errors > 0, verdict == "error", "{name}: {text}");
    }
    let json = stdout(&check("syntax", "int main(void) { return 0 }\n", &["--json"]));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["messages"][0]["at"]["line"], 1, "{json}");
    // The schema is one that things can fail.
    let mut found = Vec::new();
    violations(&schema, &schema, &serde_json::json!({"version": "1.0", "extra": 1}), "", &mut found);
    assert_eq!(found.len(), 3, "{found:?}");
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
fn what_stands_in_the_way_is_named() {
    let program = "extern unsigned get(void);\nextern void reach_error(void);\nint main(void) {\n\
        unsigned n = get(), s = 1, a[4] = {0, 0, 0, 0};\n  for (unsigned i = 0; i < n; i++)\n    s = s * s + i;\n\
        if (s == 77)\n    reach_error();\n  if (a[1])\n    reach_error();\n  return 0;\n}\n";
    let open = "`reach_error` may be called at f.c:8:5, behind the loop at f.c:5";
    let outputs = ["sarif", "html"].map(|name| {
        let file = format!("palisade-coarse-{}.{name}", std::process::id());
        std::env::temp_dir().join(file).to_string_lossy().into_owned()
    });
    let asked = ["--analysis", "interval", "--sarif", &outputs[0], "--report", &outputs[1]];
    let text = stdout(&check("coarse", program, &asked));
    assert!(text.contains(&format!("open: {open}\n")), "{text}");
    // What is excluded is not open.
    assert_eq!(text.matches("open: ").count(), 1, "{text}");
    assert!(text.ends_with("verdict: unknown (interval: too coarse for 1 check)\n"), "{text}");
    let [sarif, page] = outputs.map(|path| {
        let written = std::fs::read_to_string(&path).expect("written");
        std::fs::remove_file(path).expect("removed");
        written
    });
    assert!(page.contains(&format!("<p>open: {open}</p>")), "{page}");
    let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["kind"], &result["level"]), (&"open".into(), &"none".into()), "{sarif}");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 8, "{sarif}");
    let json = stdout(&check("coarse", program, &["--analysis", "interval", "--json"]));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json["open"][0]["at"]["line"], &json["open"][0]["loops"][0]["line"]),
        (&8.into(), &5.into())
    );
    // All engines are asked, and what they could not do is said in the program's words.
    let jumps = "#include <setjmp.h>\nextern void reach_error(void);\njmp_buf b;\nint main(void) {\n\
        if (setjmp(b))\n    reach_error();\n  return 0;\n}\n";
    let text = stdout(&check("jumps", jumps, &[]));
    assert!(text.contains("open: what `_setjmp` does is not modelled at f.c:5"), "{text}");
    assert!(text.ends_with("verdict: unknown (a call cannot be followed)\n"), "{text}");
    let recursion = "extern int get(void);\nextern void reach_error(void);\nint f(int n) {\n  if (n <= 0)\n\
        return 0;\n  int r = f(n - 2);\n  return r * r - n;\n}\nint main(void) {\n  if (f(get()) == 1234567)\n\
        reach_error();\n  return 0;\n}\n";
    let text = stdout(&check("recursion", recursion, &["--analysis", "interval"]));
    assert!(text.contains("open: `f` calls itself deeper than is followed at f.c:6:11\n"), "{text}");
}

#[test]
fn a_proof_says_why() {
    let lines = |name: &str, body: &str, analysis: &str| {
        let program = format!(
            "#include <assert.h>\nextern int __VERIFIER_nondet_int(void);\nint main(void) {{\n{body}  return 0;\n}}\n"
        );
        let text = stdout(&check(name, &program, &["--analysis", analysis]));
        assert!(text.ends_with("verdict: true\n"), "{text}");
        text
    };
    let sum = "  int s = 0;\n  for (int i = 0; i < 5; i++)\n    s += i;\n  assert(s == 10);\n";
    let text = lines("unrolled", sum, "bmc");
    assert!(text.contains("  f.c:5: the loop comes back to its start at most 5 times\n"), "{text}");
    let text = lines("only", sum, "concrete");
    assert!(
        text.contains("  nothing is read from outside: the only run was followed to its end\n"),
        "{text}"
    );
    let swap = "  int a = __VERIFIER_nondet_int(), b = a;\n  while (__VERIFIER_nondet_int()) {\n    int t = a;\n    a = b;\n    b = t;\n\
        assert(a == b);\n  }\n";
    let text = lines("induction", swap, "kinduction");
    assert!(text.contains("  no pass through a loop goes wrong if the pass before it did not\n"), "{text}");
    let bounded = "  int i;\n  for (i = 0; i < 1000000; i++)\n    ;\n  assert(i <= 1000000);\n";
    let text = lines("bounded", bounded, "kinduction");
    assert!(text.contains("  what holds at the loops rules out everything that could go wrong\n"), "{text}");
    let declared = "  int n = __VERIFIER_nondet_int(), s = 0;\n  if (n < 0 || n > 1000)\n    return 0;\n\
        for (int i = 0; i < n; i++)\n    s += 2;\n  assert(s == 2 * n);\n";
    let text = lines("declared", declared, "polyhedra");
    assert!(text.contains("f.c:7: invariant 2LL * i == s"), "{text}");
    let zeros = "  int a[100], n = __VERIFIER_nondet_int(), i;\n  if (n < 0 || n > 100)\n    return 0;\n\
        for (i = 0; i < n; i++)\n    a[i] = 0;\n  for (i = 0; i < n; i++)\n    assert(a[i] == 0);\n";
    let text = lines("elements", zeros, "arrays");
    assert!(text.contains("f.c:7: invariant for all k in [0, i): a[k] == 0\n"), "{text}");
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
    let output = check("undefined", program, &[]);
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
    let text = stdout(&check("undefined", program, &["--json"]));
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["undefined"]["settled_by"], "valid-deref");
    let settled = check("settled", program, &["--property", "valid-deref"]);
    assert!(stdout(&settled).ends_with("verdict: false(valid-deref)\n"));
}
