//! The other commands, from the outside.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn palisade(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(args).output().expect("the binary runs")
}

/// A file of this test run.
fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::File::create(&path).and_then(|mut f| f.write_all(text.as_bytes())).expect("writable");
    path
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn run_executes_and_stops_at_the_first_violation() {
    let source = "int __VERIFIER_nondet_int(void); int printf(const char *, ...);
        int main(void) { int x = __VERIFIER_nondet_int(); printf(\"%d\\n\", x); return 10 / x; }";
    let path = file("divide.i", source);
    let good = palisade(&["run", path.to_str().unwrap(), "--input", "5"]);
    assert_eq!((text(&good.stdout).as_str(), good.status.code()), ("5\n", Some(2)));
    let bad = palisade(&["run", path.to_str().unwrap(), "--input", "0"]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(text(&bad.stderr).contains("div"), "{}", text(&bad.stderr));
    assert!(text(&bad.stdout).contains("in main at"), "{}", text(&bad.stdout));
}

#[test]
fn cfa_prints_every_format() {
    let path = file("loop.i", "int main(void) { int i = 0; while (i < 3) i++; return i; }");
    for (format, mark) in [("text", "entry main;"), ("dot", "digraph"), ("json", "{")] {
        let output = palisade(&["cfa", "--format", format, path.to_str().unwrap()]);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains(mark), "{format}");
    }
}

#[test]
fn the_readme_lists_every_command() {
    let readme = include_str!("../../../README.md");
    let help = text(&palisade(&["--help"]).stdout);
    let commands = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    let names: Vec<&str> = commands.filter_map(|l| l.split_whitespace().next()).collect();
    assert!(names.len() > 10, "{help}");
    for name in names.into_iter().filter(|n| *n != "help") {
        assert!(readme.contains(&format!("palisade {name}")), "{name}");
    }
}

#[test]
fn cfa_draws_one_function_with_its_source() {
    let path = file("draw.i", "int twice(int x) {\n  while (x < 3)\n    x = x * 2;\n  return x;\n}\n");
    let draw = |format: &str, function: &str| {
        palisade(&["cfa", "--function", function, "--format", format, path.to_str().unwrap()])
    };
    let svg = text(&draw("svg", "twice").stdout);
    assert!(svg.starts_with("<svg") && svg.contains(":3: x = x * 2;") && svg.contains("marker-end"), "{svg}");
    let dot = text(&draw("dot", "twice").stdout);
    assert!(
        dot.contains("digraph \"twice\"") && dot.contains(":2: while (x &lt; 3)")
            || dot.contains("while (x < 3)")
    );
    assert_eq!(draw("svg", "thrice").status.code(), Some(2));
    assert_eq!(palisade(&["cfa", "--format", "svg", path.to_str().unwrap()]).status.code(), Some(2));
}

#[test]
fn several_analyses_are_named_with_commas() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/counter.c");
    let ask = |analysis: &str| {
        let output = palisade(&["check", "--analysis", analysis, &file.to_string_lossy()]);
        (text(&output.stdout), text(&output.stderr))
    };
    let (said, _) = ask("symbolic-octagon,interval");
    assert!(
        said.contains("settled by symbolic-octagon\n") || said.contains("settled by interval\n"),
        "{said}"
    );
    assert!(ask("interval,nothing").1.contains("there is no analysis `nothing`"));
    // The table of tasks about arrays switches these off.
    let listed = text(&palisade(&["analyses"]).stdout);
    for engine in palisade_bench::arrays::ENGINES {
        assert!(listed.contains(&format!("engine    {engine} ")), "{engine}");
    }
}

#[test]
fn analyses_lists_everything_by_name() {
    let output = text(&palisade(&["analyses"]).stdout);
    for (kind, names) in [
        ("engine", &["bmc", "kinduction", "value", "interval", "polyhedra"][..]),
        (
            "component",
            &["location", "explicit", "definitions", "cartesian", "predicate", "heap", "bdd", "sign"],
        ),
        ("domain", &["interval", "congruence", "octagon", "polyhedra", "ks", "box", "boxes"]),
        ("method", &["forward", "backward", "cegar", "template", "bounds", "learning"]),
    ] {
        for name in names {
            let listed = output.lines().any(|l| {
                let mut words = l.split_whitespace();
                words.next() == Some(kind) && words.next() == Some(name) && words.next().is_some()
            });
            assert!(listed, "{kind} {name}: {output}");
        }
    }
}

/// Engines by their names, components and domains as parts of composites; the test of `invariants` has methods.
#[test]
fn a_reader_may_have_enough() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .arg("analyses")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert_ne!(output.status.code(), Some(101));
}

#[test]
fn all_that_is_listed_can_be_asked_for() {
    let program =
        "#include <assert.h>\nint main(void) { int x = 3; for (int i = 0; i < 2; i++) x++; assert(x == 5); }";
    let path = file("listed.c", program);
    let ask = |analysis: &str, options: &[&str]| {
        let limit = ["check", "--quiet", "--time-limit", "10s", "--analysis", analysis];
        palisade(&[&limit[..], options, &[path.to_str().unwrap()]].concat())
    };
    let mut asked = 0;
    for line in text(&palisade(&["analyses"]).stdout).lines() {
        let mut words = line.split_whitespace();
        let (kind, name) = (words.next().unwrap(), words.next().unwrap());
        let output = match kind {
            "engine" => ask(name, &[]),
            "component" if name == "location" => ask(name, &[]),
            "component" | "domain" => ask(&format!("location+{name}"), &[]),
            _ => continue,
        };
        asked += 1;
        let verdict = text(&output.stdout);
        let right = verdict.starts_with("verdict: true") || verdict.starts_with("verdict: unknown");
        assert!(right && output.status.code() != Some(2), "{line}: {verdict} {}", text(&output.stderr));
    }
    assert!(asked > 40, "{asked}");
    // What a composite cannot be.
    for (analysis, options) in [
        ("location+nothing", &[][..]),
        ("predicate+interval", &[]),
        ("location+interval", &["--stop", "join"]),
        ("bmc", &["--merge", "sep"]),
        ("location+interval", &["--merge", "sometimes"]),
        ("nothing", &[]),
    ] {
        assert_eq!(ask(analysis, options).status.code(), Some(2), "{analysis} {options:?}");
    }
}

#[test]
fn solve_answers_like_a_solver() {
    let script = "(set-logic QF_BV)(declare-const x (_ BitVec 8))(assert (= (bvmul x x) #x31))(check-sat)\
        (assert (bvult x #x02))(check-sat)";
    let path = file("square.smt2", script);
    let output = palisade(&["solve", path.to_str().unwrap()]);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("sat\nunsat\n", Some(0)));
    let path = file(
        "cycle.smt2",
        "(set-logic QF_LRA)(declare-const x Real)(declare-const y Real)(declare-const z Real)\
        (assert (< x y))(check-sat)(assert (or (< y z) (< y (- z 1))))(assert (< z x))(check-sat)",
    );
    let output = palisade(&["solve", "--method", "stalmarck", path.to_str().unwrap()]);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("unknown\nunsat\n", Some(0)));
    let path = file("broken.smt2", "(assert (= x");
    assert_eq!(palisade(&["solve", path.to_str().unwrap()]).status.code(), Some(2));
}

#[test]
fn input_errors_name_their_position_and_exit_with_2() {
    let path = file("broken.i", "int main(void) {\n    return 1 +;\n}\n");
    let output = palisade(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("broken.i:2:15") && message.contains("return 1 +;"), "{message}");
    assert_eq!(palisade(&["check", "no-such-file.c"]).status.code(), Some(2));
    assert_eq!(palisade(&["check", "--property", "nonsense", path.to_str().unwrap()]).status.code(), Some(2));
}

#[test]
fn the_time_limit_is_kept() {
    // Collatz: nobody settles it in a second.
    let source = "unsigned __VERIFIER_nondet_uint(void); void reach_error(void);
        int main(void) { unsigned long n = __VERIFIER_nondet_uint(); unsigned long steps = 0;
          while (n > 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; if (steps == 2000000000ul) reach_error(); }
          return 0; }";
    let path = file("collatz.i", source);
    let output = palisade(&["check", "--time-limit", "1s", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stdout).lines().last(), Some("verdict: unknown (time limit)"));
}

#[test]
fn invariants_of_functions_that_are_not_followed_are_left_out() {
    let source = "int g(void);
        void own(int *p) { __asm__ volatile (\"\" : : \"r\" (p) : \"memory\"); while (g()) {} }
        void caller(int *p) { int i = 0; while (i < 3) { own(p); i++; } }
        void other(void) { int i = 0; while (i < 3) i++; }";
    let output = palisade(&["invariants", "--domain", "boxes", file("asm.i", source).to_str().unwrap()]);
    let found = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(found.matches("asm.i:2:28 is not followed").count(), 2, "{found}");
    assert!(found.contains("i <= 3"), "{found}");
    // What a jump changes is not known anywhere.
    let jump = "#include <setjmp.h>\njmp_buf b; int g(void); void f(void) { while (g()) longjmp(b, 1); }";
    let output = palisade(&["invariants", file("jump.c", jump).to_str().unwrap()]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(3), ""));
}

#[test]
fn bench_boxes_measures_a_folder() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("boxes");
    std::fs::create_dir_all(dir.join("project")).expect("writable");
    file("boxes/project/loop.i", "int count(int n) { int i = 0; while (i < n) i++; return i; }");
    file("boxes/project/broken.i", "int f(void) { return 1 +; }");
    let rows = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("boxes.rows");
    let _ = std::fs::remove_file(&rows);
    let command = [
        "bench",
        "boxes",
        dir.to_str().unwrap(),
        "--proofs-one-in",
        "1",
        "--jobs",
        "2",
        "--rows",
        rows.to_str().unwrap(),
    ];
    let output = palisade(&command);
    let found = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for part in [
        "rejected project/broken.i: ",
        "2 files, 1 rejected",
        "all functions: 1\n",
        "LDD Boxes       1 100.00",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    // Two variables, one loop; and a second run measures nothing again.
    let written = std::fs::read_to_string(&rows).expect("written");
    assert!(written.contains("project/loop.i:1:count\t2\t1\t1\tshown\t"), "{written}");
    assert_eq!(text(&palisade(&command).stdout), found);
    let rejected = |text: &str| text.lines().filter(|l| l.starts_with("rejected ")).count();
    let again = std::fs::read_to_string(&rows).expect("still there");
    assert_eq!(again.lines().count() - rejected(&again), 1, "{again}");
    assert_eq!(palisade(&["bench", "boxes", "/nowhere"]).status.code(), Some(2));
}
