//! How the time of `check` grows with the size of a program: depth of calls, loops, statements, variables.

use crate::asked::{Answer, ask};
use crate::fit::power_law;
use std::fmt;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Programs of one shape, by size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Functions that call the next one twice, so many deep.
    Calls,
    /// Loops one after the other, each over a variable of its own.
    Loops,
    /// Statements, one in four of them a branch, over a few variables.
    Statements,
    /// Variables that one loop changes.
    Variables,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 4] = [Family::Calls, Family::Loops, Family::Statements, Family::Variables];

    /// What grows.
    pub fn name(self) -> &'static str {
        match self {
            Family::Calls => "depth of double calls",
            Family::Loops => "loops",
            Family::Statements => "statements",
            Family::Variables => "variables",
        }
    }

    /// The sizes to measure.
    pub fn sizes(self) -> &'static [usize] {
        match self {
            Family::Calls => &[5, 10, 15, 20],
            Family::Loops => &[20, 40, 80, 160, 320, 640],
            Family::Statements => &[100, 1_000, 10_000, 30_000, 100_000],
            Family::Variables => &[10, 30, 100, 300, 1_000],
        }
    }

    /// The program of a size, in which nothing fails.
    pub fn program(self, n: usize) -> String {
        let mut text = String::from(
            "extern void __assert_fail(const char *, const char *, unsigned, const char *);\n\
             #define check(c) do { if (!(c)) __assert_fail(#c, __FILE__, __LINE__, __func__); } while (0)\n\
             int __VERIFIER_nondet_int(void);\n",
        );
        // Writing to a string does not fail.
        let _ = match self {
            Family::Calls => calls(&mut text, n),
            Family::Loops => loops(&mut text, n),
            Family::Statements => statements(&mut text, n),
            Family::Variables => variables(&mut text, n),
        };
        text
    }
}

fn calls(text: &mut String, n: usize) -> fmt::Result {
    writeln!(text, "int f0(int x) {{\n    if (x < 100) return x + 1;\n    return x;\n}}")?;
    for i in 1..=n {
        writeln!(text, "int f{i}(int x) {{\n    int y = f{0}(x);\n    return f{0}(y);\n}}", i - 1)?;
    }
    writeln!(text, "int main(void) {{\n    int x = __VERIFIER_nondet_int();\n    if (x > 100) return 0;")?;
    writeln!(text, "    check(f{n}(x) <= 100);\n    return 0;\n}}")
}

fn loops(text: &mut String, n: usize) -> fmt::Result {
    writeln!(text, "int main(void) {{\n    int n = __VERIFIER_nondet_int();")?;
    for i in 0..n {
        writeln!(
            text,
            "    int x{i} = 0;\n    while (x{i} < n && x{i} < 1000) x{i}++;\n    check(x{i} <= 1000);"
        )?;
    }
    writeln!(text, "    return 0;\n}}")
}

fn statements(text: &mut String, n: usize) -> fmt::Result {
    writeln!(text, "int main(void) {{\n    int a = 0, b = 1, c = 2;")?;
    for i in 0..n {
        match i % 4 {
            0 => writeln!(text, "    if (__VERIFIER_nondet_int()) a = b; else a = c;")?,
            1 => writeln!(text, "    b = a / 2 + {};", i % 7)?,
            2 => writeln!(text, "    c = b % 10;")?,
            _ => writeln!(text, "    a = b - c;")?,
        }
    }
    writeln!(text, "    check(c <= 9);\n    return 0;\n}}")
}

fn variables(text: &mut String, n: usize) -> fmt::Result {
    writeln!(text, "int main(void) {{")?;
    (0..n).try_for_each(|i| writeln!(text, "    int x{i} = 0;"))?;
    writeln!(text, "    while (__VERIFIER_nondet_int()) {{")?;
    (0..n).try_for_each(|i| writeln!(text, "        if (x{i} < {}) x{i}++;", 10 + i % 50))?;
    writeln!(text, "    }}")?;
    (0..n).try_for_each(|i| writeln!(text, "    check(x{i} <= {});", 10 + i % 50))?;
    writeln!(text, "    return 0;\n}}")
}

/// The times of a family.
pub struct Row {
    /// The family.
    pub family: Family,
    /// Sizes with the lines of the programs and what `check` says.
    pub points: Vec<(usize, usize, Answer)>,
}

impl Row {
    /// The exponent of the power law that fits the times of what was proved.
    pub fn exponent(&self) -> Option<f64> {
        let proved = self.points.iter().filter(|(.., answer)| answer.verdict == "true");
        let points: Vec<(f64, f64)> = proved.map(|(n, _, answer)| (*n as f64, answer.found)).collect();
        power_law(&points).map(|(exponent, _)| exponent)
    }
}

/// Measures a family up to the first size that is not proved within the limit.
pub fn measure(palisade: &Path, folder: &Path, family: Family, limit: Duration) -> io::Result<Row> {
    let mut row = Row { family, points: Vec::new() };
    for &n in family.sizes() {
        let file = folder.join("program.c");
        let text = family.program(n);
        let lines = text.lines().count();
        std::fs::write(&file, text)?;
        let answer = ask(palisade, &[], &file, limit)?;
        let proved = answer.verdict == "true";
        row.points.push((n, lines, answer));
        if !proved {
            break;
        }
    }
    Ok(row)
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| {} | lines | CPU seconds | with the second opinion | by |\n|---:|---:|---:|---:|---|",
            self.family.name()
        )?;
        for (n, lines, answer) in &self.points {
            let engine = answer.engine.as_deref().unwrap_or("-");
            let (found, all) = (answer.found, answer.seconds);
            writeln!(f, "| {n} | {lines} | {found:.2} | {all:.2} | {engine} |")?;
        }
        match self.exponent() {
            Some(exponent) => writeln!(f, "\ngrows as n^{exponent:.2}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_cfa::DataModel;

    /// The programs are C, and grow as they say.
    #[test]
    fn programs_can_be_read() {
        for family in Family::ALL {
            let [small, large] = [3, 30].map(|n| {
                let text = family.program(n).replace("__FILE__", "\"\"").replace("__LINE__", "1");
                text.lines().count()
            });
            assert!(large > 3 * small / 2, "{}", family.name());
        }
        // No preprocessor is needed for what has no macros.
        let text = Family::Statements.program(8).replace("check(c <= 9)", "c = 9");
        let text: String = text.lines().filter(|l| !l.starts_with('#')).map(|l| format!("{l}\n")).collect();
        assert!(crate::program("statements.c", text, DataModel::Lp64).is_some());
    }

    #[test]
    fn exponents_are_of_what_was_proved() {
        let answer = |verdict: &str, seconds| Answer {
            verdict: verdict.into(),
            engine: None,
            class: None,
            seconds: 2.0 * seconds,
            found: seconds,
            tried: Vec::new(),
            taken: Vec::new(),
        };
        let points = vec![
            (10, 10, answer("true", 1.0)),
            (20, 20, answer("true", 4.0)),
            (40, 40, answer("unknown", 500.0)),
        ];
        let row = Row { family: Family::Loops, points };
        assert!((row.exponent().expect("two points") - 2.0).abs() < 1e-9);
    }
}
