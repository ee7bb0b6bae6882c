//! Witnesses, from the outside: those that `check` writes are accepted, and those that say what is
//! not so are not.

use palisade_witness::model::*;
use palisade_witness::yaml;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn palisade(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(root())
        .args(args)
        .output()
        .expect("the binary runs")
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

/// A file of this test run.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("writable");
    path.to_string_lossy().into_owned()
}

/// The witness that `check` writes for a program.
fn witness_of(program: &str, verdict: &str, more: &[&str]) -> Vec<Entry> {
    let out = format!("{program}.yml");
    let args: Vec<&str> =
        ["check", program, "--witness", &out].into_iter().chain(more.iter().copied()).collect();
    let output = palisade(&args);
    assert_eq!(last_line(&output), verdict, "{program}");
    yaml::read(&std::fs::read_to_string(&out).expect("a witness was written")).expect("it is well formed")
}

/// Validates a witness: the exit status and the verdict line.
fn validate(program: &str, witness: &str) -> (Option<i32>, String) {
    let path = format!("{program}.mutant.yml");
    std::fs::write(&path, witness).expect("writable");
    let output = palisade(&["validate", program, &path, "--time-limit", "120s"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{witness}\n{stderr}");
    (output.status.code(), last_line(&output))
}

fn accepted(program: &str, witness: &str, verdict: &str) {
    let status = if verdict == "verdict: true" { 0 } else { 1 };
    assert_eq!(validate(program, witness), (Some(status), verdict.to_owned()), "{witness}");
}

/// Counts mutants, each of which must not be confirmed.
#[derive(Default)]
struct Mutants {
    count: usize,
}

impl Mutants {
    fn refused(&mut self, program: &str, what: &str, witness: &str) {
        let (status, line) = validate(program, witness);
        assert!(
            matches!(status, Some(2 | 3))
                && !line.starts_with("verdict: true")
                && !line.starts_with("verdict: false"),
            "{what} was confirmed: {status:?} {line}\n{witness}"
        );
        self.count += 1;
    }
}

#[test]
fn witnesses_of_all_examples_and_regressions_are_accepted() {
    let mut count = 0;
    for folder in ["examples", "tests/c/check"] {
        let mut files: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
            .expect("the folder is there")
            .flatten()
            .map(|e| e.path())
            .collect();
        files.sort();
        for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "c")) {
            let text = std::fs::read_to_string(path).expect("readable");
            let mut lines = text.lines().skip(1).filter_map(|l| l.strip_prefix("// "));
            let command = lines.next().and_then(|c| c.strip_prefix("palisade check ")).expect("a command");
            let verdict = lines.next().expect("a verdict");
            // The format cannot name an observer automaton.
            if verdict == "verdict: unknown" || command.contains(".spc") {
                continue;
            }
            let name = path.file_stem().expect("a name").to_string_lossy();
            // Nor can it say that a value is given two billion times.
            if name == "overflow_far_away" {
                continue;
            }
            let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.yml"));
            let out = out.to_string_lossy();
            let mut args = vec!["check", "--witness", &out];
            args.extend(command.split_whitespace());
            assert_eq!(last_line(&palisade(&args)), verdict, "{name}");
            let path = path.to_string_lossy();
            let mut args = vec!["validate", &path, &out];
            // What is assumed about the world is no part of a witness.
            let mut words = command.split_whitespace();
            while let Some(word) = words.next() {
                match word {
                    "--malloc-may-fail" => args.push(word),
                    "--missing" => args.extend([word, words.next().expect("a value")]),
                    _ => {}
                }
            }
            let output = palisade(&args);
            assert_eq!(last_line(&output), verdict, "{name}: {}", String::from_utf8_lossy(&output.stderr));
            count += 1;
        }
    }
    assert!(count >= 15, "only {count} witnesses");
}

const SECRET: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int a = __VERIFIER_nondet_int();
  int b = __VERIFIER_nondet_int();
  int c = __VERIFIER_nondet_int();
  if (a == 17) {
    if (b == a + 82 && c == -5) {
      reach_error();
    }
  }
  return 0;
}
";

/// The only run to the error reads 17, 99 and -5, so whatever says otherwise is wrong.
#[test]
fn mutated_violation_witnesses_are_not_confirmed() {
    let program = file("secret.i", SECRET);
    let verdict = "verdict: false(unreach-call)";
    let entries = witness_of(&program, verdict, &[]);
    accepted(&program, &yaml::write(&entries), verdict);
    let Content::Violation(segments) = entries[0].content.clone() else { panic!("a violation") };
    assert_eq!(segments.len(), 4);
    let with = |segments: Vec<Segment>| {
        let mut entry = entries[0].clone();
        entry.content = Content::Violation(segments);
        yaml::write(&[entry])
    };
    let mut mutants = Mutants::default();
    // Values that do not lead there.
    for i in 0..3 {
        for value in [-1000, -6, -4, 0, 1, 16, 18, 98, 100, 2_147_483_647] {
            for op in ["==", "<"] {
                let mut s = segments.clone();
                let bound = if op == "<" { [17, 99, -5][i].min(value) } else { value };
                s[i].follow.constraint = Some(format!("\\result {op} {bound}"));
                mutants.refused(&program, "a value", &with(s));
            }
        }
        for constraint in
            ["\\result != 17 ", "\\result > 99", "\\result == x", "x == 17", "\\result", "\\result == 1e400"]
        {
            if i == 0 || !constraint.contains("17") || constraint.starts_with('x') {
                let mut s = segments.clone();
                s[i].follow.constraint = Some(constraint.into());
                mutants.refused(&program, "a constraint", &with(s));
            }
        }
    }
    // Places where nothing of the kind is, or where it comes too late.
    for i in 0..4 {
        for (line, column) in [(1, 1), (2, 30), (3, 5), (7, 5), (11, 3), (12, 1), (99, 1), (0, 0)] {
            let mut s = segments.clone();
            s[i].follow.location.line = line;
            s[i].follow.location.column = Some(column);
            mutants.refused(&program, "a place", &with(s));
        }
        for shift in [1, 2, 5] {
            let mut s = segments.clone();
            s[i].follow.location.column = s[i].follow.location.column.map(|c| c + shift);
            mutants.refused(&program, "a column", &with(s));
        }
        let mut s = segments.clone();
        s[i].follow.location.file_name = "other.c".into();
        mutants.refused(&program, "a file", &with(s));
    }
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let mut s = segments.clone();
        let moved = s[i].follow.location.clone();
        s[i].follow.location = s[j].follow.location.clone();
        mutants.refused(&program, "a place of another call", &with(s.clone()));
        s[j].follow.location = moved;
        mutants.refused(&program, "exchanged places", &with(s));
        let mut s = segments.clone();
        s.swap(i, j);
        mutants.refused(&program, "exchanged segments", &with(s));
        let mut s = segments.clone();
        let again = s[i].clone();
        s.insert(j, again);
        mutants.refused(&program, "a repeated segment", &with(s));
    }
    // Something on the way that is said to be avoided, or that never holds.
    let at =
        |line, column| Location { file_name: "secret.i".into(), line, column: Some(column), function: None };
    let point = |kind, line, column, constraint: &str| Waypoint {
        kind,
        location: at(line, column),
        constraint: Some(constraint.into()),
        at: None,
    };
    for avoid in [
        point(WaypointKind::Branching, 7, 3, "true"),
        point(WaypointKind::Branching, 8, 5, "true"),
        point(WaypointKind::Assumption, 7, 3, "a == 17"),
        point(WaypointKind::Assumption, 9, 7, "1"),
        point(WaypointKind::FunctionEnter, 9, 19, ""),
    ] {
        let mut s = segments.clone();
        s[3].avoid.push(avoid.clone());
        mutants.refused(&program, "what is avoided", &with(s));
    }
    for follow in [
        point(WaypointKind::Branching, 7, 3, "false"),
        point(WaypointKind::Branching, 8, 5, "false"),
        point(WaypointKind::Branching, 8, 5, "maybe"),
        point(WaypointKind::Branching, 4, 3, "true"),
        point(WaypointKind::Assumption, 7, 3, "a == 18"),
        point(WaypointKind::Assumption, 8, 5, "b < a"),
        point(WaypointKind::Assumption, 9, 7, "c > 0"),
        point(WaypointKind::Assumption, 9, 7, "nobody == 0"),
        point(WaypointKind::Assumption, 9, 7, "(a = 17)"),
        point(WaypointKind::Assumption, 9, 7, "1); (reach_error()"),
        point(WaypointKind::Assumption, 9, 7, "*(int *)0 == 0"),
        point(WaypointKind::Assumption, 12, 3, "1"),
    ] {
        let mut s = segments.clone();
        s.insert(3, Segment { avoid: Vec::new(), follow });
        mutants.refused(&program, "what never holds", &with(s));
    }
    assert!(mutants.count >= 120, "only {} mutants", mutants.count);
    // The same additions are fine where they say what is so.
    for follow in [
        point(WaypointKind::Branching, 7, 3, "true"),
        point(WaypointKind::Branching, 8, 5, "true"),
        point(WaypointKind::Assumption, 9, 7, "c < 0 && a + 82 == b"),
        point(WaypointKind::FunctionEnter, 9, 19, ""),
    ] {
        let mut s = segments.clone();
        s[3].avoid.push(point(WaypointKind::Assumption, 7, 3, "a == 18"));
        s.insert(3, Segment { avoid: Vec::new(), follow });
        accepted(&program, &with(s), verdict);
    }
}

/// A witness that says no values but where the run goes is completed by search.
#[test]
fn a_witness_in_the_style_of_others_is_confirmed() {
    let program = file("others.i", SECRET);
    let entries = witness_of(&program, "verdict: false(unreach-call)", &[]);
    let mut entry = entries[0].clone();
    let at = |line, column| Location { file_name: "/far/away/others.i".into(), line, column, function: None };
    let follow = |kind, line, column, constraint: Option<&str>| Segment {
        avoid: Vec::new(),
        follow: Waypoint {
            kind,
            location: at(line, column),
            constraint: constraint.map(Into::into),
            at: None,
        },
    };
    entry.content = Content::Violation(vec![
        follow(WaypointKind::Assumption, 5, Some(3), Some("a == 17")),
        follow(WaypointKind::Assumption, 6, None, Some("1")),
        follow(WaypointKind::Branching, 7, Some(3), Some("true")),
        follow(WaypointKind::Target, 9, None, None),
    ]);
    entry.metadata.task.specification = "G ! call(reach_error())".into();
    accepted(&program, &yaml::write(&[entry]), "verdict: false(unreach-call)");
}

const LOOPS: &str = "extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
int main(void) {
  unsigned n = __VERIFIER_nondet_uint();
  int i = 0;
  while (i < 10)
    i++;
  unsigned j = 0, k = 0;
  for (j = 0; j < n && j < 1000000; j++) {
    k = k + 2;
  }
  int d = 20;
  do {
    d -= 2;
  } while (d > 4);
again:
  if (d < 8) {
    d++;
    goto again;
  }
  if (i != 10 || k % 2 == 1 || k > 2000000 || d != 8)
    reach_error();
  return 0;
}
";

/// Each wrong invariant fails in a state that a run reaches.
#[test]
fn mutated_correctness_witnesses_are_not_confirmed() {
    let program = file("loops.i", LOOPS);
    let verdict = "verdict: true";
    let entries = witness_of(&program, verdict, &[]);
    accepted(&program, &yaml::write(&entries), verdict);
    let fact = |kind, line, column, value: &str| Invariant {
        kind,
        location: Location { file_name: "loops.i".into(), line, column: Some(column), function: None },
        value: value.into(),
        at: None,
    };
    let looped = |line, value: &str| fact(InvariantKind::Loop, line, 3, value);
    let located = |line, column, value: &str| fact(InvariantKind::Location, line, column, value);
    let with = |facts: Vec<Invariant>| {
        let mut entry = entries[0].clone();
        entry.content = Content::Invariants(facts);
        yaml::write(&[entry])
    };
    let right = vec![
        looped(6, "0 <= i && i <= 10"),
        looped(9, "k == 2 * j && j <= 1000000"),
        looped(13, "d >= 4 && d <= 18 && d % 2 == 0"),
        located(17, 3, "d >= 4 && d <= 8"),
        located(12, 3, "i == 10"),
    ];
    accepted(&program, &with(right.clone()), verdict);
    accepted(&program, &with(Vec::new()), verdict);
    let mut mutants = Mutants::default();
    let mut wrong: Vec<(usize, String)> = Vec::new();
    for c in 0..=10 {
        wrong.push((0, format!("i != {c}")));
    }
    for c in 0..10 {
        wrong.push((0, format!("i <= {c}")));
        wrong.push((0, format!("{} <= i", c + 1)));
        wrong.push((1, format!("k == 2 * j + {}", c + 1)));
        wrong.push((1, format!("j <= {c}")));
        wrong.push((1, format!("k != {}", 2 * c)));
        wrong.push((1, format!("j != {c} || k < 1000")));
    }
    wrong.retain(|(_, w)| !w.contains("|| k < 1000"));
    for c in [4, 6, 8, 10, 12, 14, 16, 18] {
        wrong.push((2, format!("d != {c}")));
        wrong.push((2, format!("!(d == {c})")));
    }
    for c in 4..=8 {
        wrong.push((3, format!("d != {c}")));
        wrong.push((3, format!("d < {c}")));
    }
    for w in
        ["0", "i % 2 == 0", "i == j", "i < 10", "0 < i", "i & 1", "(char)i == 0", "i * i <= 99", "n == 0"]
    {
        wrong.push((0, w.into()));
    }
    // Not expressions over what is in scope, or more than that.
    for w in [
        "",
        "i <=",
        "i = 10",
        "i++ <= 10",
        "nobody == 0",
        "k == 0",
        "reach_error()",
        "1)) { abort(); } if ((1",
        "i; 1",
        "({ 1; })",
        "i /* */ <= 10",
        "\\result == 0",
        "\"text",
        "i[0] == 1",
        "*i == 0",
        "i.f == 0",
        "(struct s)i",
        "__VERIFIER_nondet_uint() == 0",
        "i <= 10 // yes",
        "$mark(0, 0)",
    ] {
        wrong.push((0, w.into()));
    }
    for (which, value) in wrong {
        let mut facts = right.clone();
        facts[which].value.clone_from(&value);
        mutants.refused(&program, &value, &with(facts));
    }
    // Right facts at wrong places.
    for (which, lines) in [(0, [4, 5, 7, 8, 16, 99]), (1, [1, 5, 6, 7, 8, 12]), (2, [6, 9, 12, 14, 15, 2])] {
        for line in lines {
            let mut facts = right.clone();
            facts[which].location.line = line;
            mutants.refused(&program, "a moved invariant", &with(facts));
        }
        for column in [1, 2, 4, 9] {
            let mut facts = right.clone();
            facts[which].location.column = Some(column);
            mutants.refused(&program, "a shifted invariant", &with(facts));
        }
    }
    assert!(mutants.count >= 120, "only {} mutants", mutants.count);
}

/// A witness about another file, another question, or in no shape at all.
#[test]
fn broken_witnesses_are_input_errors() {
    let program = file("broken-witness.i", SECRET);
    let text = yaml::write(&witness_of(&program, "verdict: false(unreach-call)", &[]));
    let mut mutants = Mutants::default();
    let mut broken = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in\n{text}");
        let mutant = text.replacen(from, to, 1);
        let (status, _) = validate(&program, &mutant);
        assert_eq!(status, Some(2), "{from} -> {to}");
        mutants.count += 1;
    };
    let hash = palisade_witness::sha256::hex(SECRET.as_bytes());
    for i in 0..32 {
        let mut other: Vec<u8> = hash.clone().into_bytes();
        other[2 * i] = if other[2 * i] == b'0' { b'1' } else { b'0' };
        broken(&hash, &String::from_utf8(other).expect("hexadecimal"));
    }
    broken("action: follow", "action: fellow");
    broken("type: target", "type: targets");
    broken("type: function_return", "type: target");
    broken("metadata:", "meta:");
    broken("specification:", "spec:");
    broken("location:", "place:");
    broken("line: 4", "line: four");
    broken("entry_type", "type");
    broken("segment:", "segments:");
    broken("- entry_type", "entry_type");
    broken("call(reach_error", "call(");
    // Without its target a witness says nothing; cutting later may only drop what is optional.
    let target = text.rfind("type: target").expect("every violation has a target");
    for cut in (1..target).step_by(target / 24).filter(|&c| text.is_char_boundary(c)) {
        mutants.refused(&program, "a part of a witness", &text[..cut]);
    }
    assert!(mutants.count >= 60, "only {} mutants", mutants.count);
    let output = palisade(&["validate", &program, "no-such-witness.yml"]);
    assert_eq!(output.status.code(), Some(2));
    let other = palisade(&["validate", &program, &format!("{program}.yml"), "--property", "no-overflow"]);
    assert_eq!(other.status.code(), Some(2));
}
