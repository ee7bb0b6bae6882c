//! What `palisade invariants` prints holds: the printed C expressions are put back into the program
//! at the loop heads and evaluated in random runs on the reference interpreter, for every domain and
//! every method.
//!
//! The programs are the C files under `tests/c/invariants/`. On the line of a loop a marker says
//! where its invariant goes: `/*@,*/` before the condition of a loop, `/*@;*/` as a statement. For
//! loop bounds, `/*@b*/` stands before a loop and `/*@t*/` where it is taken.

use palisade_base::SourceMap;
use palisade_cfa::{CheckKind, DataModel, Program};
use palisade_interp::{Config, Discard, Interp, Outcome, Random};
use palisade_lower::{CheckSet, Options};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Random runs of each program.
const RUNS: u64 = 150;
/// Steps of each run; a run that is cut short has been watched so far.
const STEPS: u64 = 60_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c/invariants")
}

fn source(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).expect("the program is there")
}

fn programs() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder is there");
    let mut names: Vec<String> = entries
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter(|n| n.ends_with(".c"))
        .collect();
    names.sort();
    assert!(names.len() >= 4);
    names
}

/// Enough for whatever is expected to be found, on a slow machine too.
const AMPLE: &str = "120s";

/// The loops of a program as the command prints them. What is not done in time has no facts.
fn loops(program: &str, options: &[&str], limit: &str) -> Vec<Value> {
    let path = folder().join(program);
    let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(["invariants", "--json", "--time-limit", limit])
        .args(options)
        .arg(&path)
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let Ok(Value::Array(loops)) = serde_json::from_str(&text) else {
        panic!("{program} {options:?}: {text}{}", String::from_utf8_lossy(&output.stderr))
    };
    loops
}

fn names_of(kind: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_palisade")).arg("analyses").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|l| l.strip_prefix(kind));
    lines.filter_map(|l| l.split_whitespace().next().map(String::from)).collect()
}

/// Every domain forward and backward, and the other methods.
fn ways() -> Vec<Vec<String>> {
    let (domains, methods) = (names_of("domain "), names_of("method "));
    assert!(domains.len() >= 10 && methods.len() == 6, "{domains:?} {methods:?}");
    let mut ways = Vec::new();
    for method in methods {
        match method.as_str() {
            "forward" | "backward" => ways.extend(
                domains.iter().map(|d| ["--method", &method, "--domain", d].map(String::from).to_vec()),
            ),
            other => ways.push(["--method", other].map(String::from).to_vec()),
        }
    }
    // The symbolic transformers of other domains are computed in the same way.
    let symbolic = |d: &str| ["--transformers", "symbolic", "--domain", d].map(String::from).to_vec();
    ways.extend(["congruence", "ks"].map(symbolic));
    ways
}

fn compile(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("instrumented.i", text.into()).expect("small");
    let checks = [CheckKind::Assertion].into_iter().collect::<CheckSet>();
    let options = Options { checks, ..Options::default() };
    let compiled = palisade_lower::compile(&mut sources, &[file], DataModel::Lp64, &options);
    compiled.program.unwrap_or_else(|| panic!("{:?}\n{text}", compiled.diagnostics))
}

/// Runs a program and tells which `.fail` functions were reached.
fn failures(text: &str) -> Vec<String> {
    let program = compile(text);
    let mut interp = Interp::new(&program, Config { step_limit: STEPS, ..Config::default() });
    let mut failed = Vec::new();
    for seed in 0..RUNS {
        let run = interp.run(&mut Random::with_unknowns(seed), &mut Discard);
        if let Outcome::Violation(_) = run.outcome {
            let innermost = run.stack.first().map(|(f, _)| program.funcs[*f].name.to_string());
            failed.extend(innermost.filter(|f| f.starts_with("fail_")));
        }
    }
    failed
}

/// The program with every fact evaluated where its marker stands: a fact that does not hold calls
/// a function of its own.
fn instrumented(program: &str, facts: &[(u64, String)]) -> String {
    let mut head = String::from("extern void __VERIFIER_assert(int);\n");
    for i in 0..facts.len() {
        head += &format!("static int fail_{i}(void) {{ __VERIFIER_assert(0); return 0; }}\n");
    }
    let mut lines: Vec<String> = Vec::new();
    for (number, line) in (1u64..).zip(source(program).lines()) {
        let here = facts.iter().enumerate().filter(|(_, (l, _))| *l == number);
        let checks: Vec<String> = here.map(|(i, (_, fact))| format!("(({fact}) ? 0 : fail_{i}())")).collect();
        let marked = line.contains("/*@,*/") || line.contains("/*@;*/");
        assert!(marked || checks.is_empty(), "{program}:{number} has no marker for {checks:?}");
        let together = checks.join(", ");
        let line = if checks.is_empty() {
            line.to_string()
        } else {
            line.replace("/*@,*/", &format!("{together},")).replace("/*@;*/", &format!("{together};"))
        };
        lines.push(line);
    }
    head + &lines.join("\n")
}

#[test]
fn printed_invariants_hold_in_every_run() {
    let mut informative = 0;
    for program in programs().iter().filter(|p| *p != "bounded.c") {
        let mut facts: Vec<(u64, String)> = Vec::new();
        let mut origins: Vec<String> = Vec::new();
        for way in ways() {
            let way: Vec<&str> = way.iter().map(String::as_str).collect();
            for found in loops(program, &way, "3s") {
                let line = found["line"].as_u64().expect("a line");
                let fact = (line, found["invariant"].as_str().expect("a text").to_string());
                if fact.1 != "1" && !facts.contains(&fact) {
                    origins.push(format!("{program}:{line}: {way:?}: {}", fact.1));
                    facts.push(fact);
                }
            }
        }
        informative += facts.len();
        let failed = failures(&instrumented(program, &facts));
        let wrong: Vec<&String> = failed
            .iter()
            .filter_map(|f| origins.get(f.strip_prefix("fail_")?.parse::<usize>().ok()?))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    assert!(informative > 60, "only {informative} invariants");
}

/// The check above can fail: facts that do not hold are noticed.
#[test]
fn wrong_invariants_are_noticed() {
    for (line, fact) in [(10, "x < n"), (20, "i % 2 == 0"), (51, "i <= 9"), (32, "c > 0")] {
        let failed = failures(&instrumented("counting.c", &[(line, fact.into())]));
        assert!(!failed.is_empty(), "{line}: {fact}");
    }
}

fn invariant_at(program: &str, options: &[&str], line: u64) -> String {
    let found = loops(program, options, AMPLE);
    let found = found.iter().find(|l| l["line"] == line).expect("a loop on that line");
    found["invariant"].as_str().expect("a text").to_string()
}

#[test]
fn domains_and_methods_find_what_they_are_for() {
    for (options, program, line, expected) in [
        (&["--domain", "interval"][..], "counting.c", 20, "i <= 102"),
        (&["--domain", "octagon"], "counting.c", 10, "x <= n"),
        (&["--domain", "polyhedra"], "memory.c", 70, "x <= 5"),
        (&["--domain", "congruence"], "wrapping.c", 29, "k % 2 == 0"),
        (&["--domain", "ks"], "counting.c", 10, "(unsigned int)y == 2 * (unsigned int)x + 1"),
        (&["--domain", "boxes"], "counting.c", 51, "i <= 10"),
        (&["--domain", "interval-congruence"], "wrapping.c", 29, "k % 2 == 0"),
        // The example of section 6.3.
        (&["--method", "template"], "counting.c", 10, "y == 2 * x + 1"),
        (&["--method", "learning"], "counting.c", 10, "y == 2 * x + 1"),
        (&["--method", "backward"], "counting.c", 51, "i <= 10"),
        (&["--method", "cegar"], "counting.c", 51, "i == 10"),
        (&["--method", "cegar"], "memory.c", 100, "lock == 0"),
    ] {
        let found = invariant_at(program, options, line);
        assert!(found.contains(expected), "{options:?} {program}:{line}: {found}");
    }
}

/// Loop bounds: no run takes a loop more often than the bound, evaluated at its start, says.
#[test]
fn loop_bounds_hold_in_every_run() {
    let found = loops("bounded.c", &["--method", "bounds"], AMPLE);
    let head = "extern void __VERIFIER_assert(int);\nstatic long long bound_, taken_;\n\
        static long long Max(long long a, long long b) { return a > b ? a : b; }\n\
        static int LSB(unsigned x) { int n = 0; while (x) { x = x << 1; n++; } return n; }\n\
        static int fail_bound(void) { __VERIFIER_assert(0); return 0; }\n";
    let text = source("bounded.c");
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let mut bounded = 0;
    for found in &found {
        let line = found["line"].as_u64().expect("a line") as usize;
        let before = (0..line).rev().find(|i| lines[*i].contains("/*@b*/")).expect("a marker");
        let (start, taken) = match found["bound"].as_str() {
            Some(bound) => {
                bounded += 1;
                (format!("bound_ = {bound}; taken_ = -1;"), "(++taken_ > bound_ ? fail_bound() : 0),")
            }
            None => (String::new(), ""),
        };
        lines[before] = lines[before].replace("/*@b*/", &start);
        lines[line - 1] = lines[line - 1].replace("/*@t*/", taken);
    }
    assert_eq!(bounded, 3);
    let text = head.to_string() + &lines.join("\n");
    assert_eq!(failures(&text), [""; 0]);
    // Half of a bound is too little.
    let half = text.replace("Max(0, n - x) +", "");
    assert!(half != text && !failures(&half).is_empty());
}

#[test]
fn usage_errors_and_restrictions() {
    let path = folder().join("counting.c");
    let path = path.to_str().expect("readable");
    let run = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_palisade")).arg("invariants").args(args).arg(path).output();
        let output = output.expect("the binary runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(run(&["--domain", "nonsense"]).0, Some(2));
    assert_eq!(run(&["--method", "nonsense"]).0, Some(2));
    assert_eq!(run(&["--function", "nobody"]).0, Some(2));
    let (code, text) = run(&["--function", "ten"]);
    assert_eq!(code, Some(0));
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("counting.c:51: while") && text.contains("  i >= 0 && i <= 10"), "{text}");
}
