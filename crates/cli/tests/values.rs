//! Values of expressions of the language and of calls of the library (`tests/c/values.txt`) as the compiled program
//! prints them: `check` must not say that a value is another, or that it is not this one.
//!
//! A sample runs by default, all with `PALISADE_VALUES=all`; a number is how many to take one of. Without a C compiler
//! nothing is compared.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HEADERS: &str = "ctype errno fenv float fnmatch inttypes libgen limits locale math search signal stdarg stddef \
    stdint stdio stdlib string strings time unistd wchar wctype";

/// What the expressions use.
const HELPERS: &str = "
static int cmpi(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return (x > y) - (x < y); }
struct P { int a, b; };
static struct P mk(int x) { struct P p = {x, x * 2}; return p; }
static int sum(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n--) s = s * 10 + va_arg(l, int); va_end(l); return s; }
static int sumd(int n, ...) { va_list l; va_start(l, n); double s = 0; while (n--) s += va_arg(l, double); va_end(l); return s; }
static int sumc(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n--) s += va_arg(l, int); va_end(l); return s; }
static long suml(int n, ...) { va_list l; va_start(l, n); long s = 0; while (n--) s += va_arg(l, long); va_end(l); return s; }
";

/// A program that computes the expression and does something with its value, `value`.
fn program(line: &str, then: &str) -> String {
    let (declarations, expression) = line.split_once('|').expect("a bar stands before the expression");
    let mut text = "#define _GNU_SOURCE\n".to_string();
    for header in HEADERS.split_whitespace() {
        let _ = writeln!(text, "#include <{header}.h>");
    }
    text += "extern void reach_error(void);\n";
    text += HELPERS;
    let _ = writeln!(
        text,
        "int main(void) {{ {declarations} long value = (long)({expression}); {then} return 0; }}"
    );
    text
}

/// The value in the compiled program.
fn compiled(folder: &Path, line: &str) -> Option<String> {
    let (source, binary) = (folder.join("value.c"), folder.join("value"));
    std::fs::write(&source, program(line, "printf(\"%ld\", value);")).expect("writable");
    let mut cc = Command::new("cc");
    cc.args(["-w", "-O0", "-fno-builtin"]).arg(&source).arg("-o").arg(&binary).arg("-lm");
    let made = cc.stderr(Stdio::null()).status().ok()?;
    let ran = Command::new(&binary).stdin(Stdio::null()).output().ok()?;
    (made.success() && ran.status.success()).then(|| String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// What `check` says of the error that is reached if a condition holds.
fn said(folder: &Path, line: &str, condition: &str) -> Option<i32> {
    let source = folder.join("asked.c");
    std::fs::write(&source, program(line, &format!("if ({condition}) reach_error();"))).expect("writable");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_palisade"));
    tool.args(["check", "--property", "unreach-call", "--time-limit", "2s"]).arg(source);
    tool.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("the binary runs").code()
}

#[test]
fn values_are_those_of_the_compiled_program() {
    if Command::new("cc").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: there is no C compiler");
        return;
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c/values.txt");
    let list = std::fs::read_to_string(list).expect("the list is there");
    let lines: Vec<&str> = list.lines().filter(|l| l.contains('|')).collect();
    assert!(lines.len() > 400, "{} expressions", lines.len());
    let one_in = match &*std::env::var("PALISADE_VALUES").unwrap_or_default() {
        "all" => 1,
        number => number.parse().unwrap_or(12),
    };
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("values");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (mut wrong, mut compared, mut settled) = (Vec::new(), 0, 0);
    for line in lines.iter().step_by(one_in) {
        // Not every library has every function.
        let Some(value) = compiled(&folder, line) else { continue };
        compared += 1;
        let (is, is_not) = (
            said(&folder, line, &format!("value == {value}")),
            said(&folder, line, &format!("value != {value}")),
        );
        settled += [is, is_not].iter().filter(|s| matches!(s, Some(0 | 1))).count();
        let known = [is, is_not].iter().all(|s| matches!(s, Some(0 | 1 | 3)));
        if is == Some(0) || is_not == Some(1) || !known {
            wrong.push(format!("{line} is {value}: {is:?} of being it, {is_not:?} of being another"));
        }
    }
    println!("{compared} values, {settled} of {} questions settled", 2 * compared);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(settled > compared, "{settled} of {compared}");
}
