//! Table 4 of "Abstraction Refinement of Linear Programs with Arrays": the largest instance of each family
//! of programs that a verifier settles.

mod families;
mod tasks;

pub use families::Family;
pub use tasks::{ENGINES, Tasks};

use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Who settles programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verifier {
    /// This program, with an analysis.
    Palisade(&'static str),
    /// CBMC, told how often to unwind.
    Cbmc,
}

/// What is measured.
pub struct Setup<'a> {
    /// This program's file.
    pub palisade: &'a Path,
    /// Where programs are written to.
    pub folder: &'a Path,
    /// Time for each instance.
    pub limit: Duration,
    /// No larger instance is tried.
    pub largest: usize,
}

/// The largest instance that was settled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Largest {
    /// N
    pub n: usize,
    /// Its time.
    pub time: Duration,
    /// Array elements that the refinement kept, where it says so.
    pub refined: Option<usize>,
}

/// Measurements of a family, in the order of the verifiers; `None` if not even the smallest instance was settled.
pub struct Row {
    /// The family.
    pub family: Family,
    /// The largest instances.
    pub largest: Vec<Option<Largest>>,
}

/// The table.
pub struct Table {
    /// Who was measured.
    pub verifiers: Vec<Verifier>,
    /// The largest N that was tried.
    pub cap: usize,
    /// One row for each family.
    pub rows: Vec<Row>,
}

/// The verifiers that can be run: `cbmc` only if it is installed.
pub fn verifiers() -> Vec<Verifier> {
    let installed =
        Command::new("cbmc").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let mut all = vec![Verifier::Palisade("auto"), Verifier::Palisade("eureka")];
    all.extend(installed.is_ok_and(|s| s.success()).then_some(Verifier::Cbmc));
    all
}

/// Measures some families.
pub fn measure(setup: &Setup<'_>, families: &[Family], note: &mut dyn FnMut(&str)) -> io::Result<Table> {
    let mut table = Table { verifiers: verifiers(), cap: setup.largest, rows: Vec::new() };
    for &family in families {
        let mut row = Row { family, largest: Vec::new() };
        for &verifier in &table.verifiers {
            let found = search(setup.largest, |n| {
                let run = settle(setup, verifier, family, n)?;
                let text = run.map_or("not in time".into(), |l| format!("{:.2} s", l.time.as_secs_f64()));
                note(&format!("{} of {n} by {verifier}: {text}", family.name()));
                Ok(run)
            })?;
            row.largest.push(found);
        }
        table.rows.push(row);
    }
    Ok(table)
}

/// The largest N up to a bound, by doubling and then halving the gap, until it is an eighth.
fn search<T>(largest: usize, mut run: impl FnMut(usize) -> io::Result<Option<T>>) -> io::Result<Option<T>> {
    let (mut good, mut best) = (2, None);
    let mut bad = None;
    let mut n = 2;
    while bad.is_none_or(|bad| bad - good > 1 + good / 8) {
        match run(n)? {
            Some(found) => {
                (good, best) = (n, Some(found));
                if n >= largest {
                    break;
                }
            }
            None if n == 2 => break,
            None => bad = Some(n),
        }
        n = bad.map_or((2 * good).min(largest), |bad| good.midpoint(bad));
    }
    Ok(best)
}

/// Runs a verifier on an instance; `None` if it does not show the assertions in time.
fn settle(setup: &Setup<'_>, verifier: Verifier, family: Family, n: usize) -> io::Result<Option<Largest>> {
    let file = setup.folder.join("program.c");
    let (out, log) = (setup.folder.join("out.txt"), setup.folder.join("log.txt"));
    std::fs::write(&file, family.program(n))?;
    let mut command = match verifier {
        Verifier::Palisade(analysis) => {
            let mut command = Command::new(setup.palisade);
            let limit = format!("{}ms", setup.limit.as_millis());
            command.args(["check", "-v", "--analysis", analysis, "--time-limit", &limit]);
            command
        }
        Verifier::Cbmc => {
            let mut command = Command::new("cbmc");
            command.args(["--unwinding-assertions", "--unwind", &family.passes(n).to_string()]);
            command
        }
    };
    command.arg(&file).stdin(Stdio::null());
    command.stdout(std::fs::File::create(&out)?).stderr(std::fs::File::create(&log)?);
    let start = Instant::now();
    let mut child = command.spawn()?;
    // Our own limit is of another clock, and a report takes its time.
    let patience = match verifier {
        Verifier::Palisade(_) => 4 * setup.limit,
        Verifier::Cbmc => setup.limit,
    };
    while child.try_wait()?.is_none() {
        if start.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let time = start.elapsed();
    let read = |path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (out, log) = (read(&out)?, read(&log)?);
    let proved = match verifier {
        Verifier::Palisade(_) => out.lines().any(|l| l == "verdict: true"),
        Verifier::Cbmc => out.contains("VERIFICATION SUCCESSFUL"),
    };
    let refined = (verifier == Verifier::Palisade("eureka")).then(|| kept(&log)).flatten();
    Ok(proved.then_some(Largest { n, time, refined }))
}

/// The number of array elements in the last note of the engine `eureka`.
fn kept(log: &str) -> Option<usize> {
    let before = log.rsplit_once(" array elements")?.0;
    before.rsplit_once(' ')?.1.parse().ok()
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verifier::Palisade(analysis) => write!(f, "palisade {analysis}"),
            Verifier::Cbmc => f.write_str("cbmc"),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| Benchmark |")?;
        self.verifiers.iter().try_for_each(|v| write!(f, " {v} |"))?;
        writeln!(f, " EUREKA (paper) | CBMC (paper) |")?;
        writeln!(f, "|---|{}", "---:|".repeat(self.verifiers.len() + 2))?;
        for row in &self.rows {
            write!(f, "| {} |", row.family.name())?;
            for largest in &row.largest {
                let Some(Largest { n, time, refined }) = largest else {
                    write!(f, " - |")?;
                    continue;
                };
                let more = if *n >= self.cap { "*" } else { "" };
                write!(f, " {n}{more} ({:.2})", time.as_secs_f64())?;
                if let Some(refined) = refined {
                    write!(f, " {refined}/{}", row.family.elements(*n))?;
                }
                write!(f, " |")?;
            }
            let [eureka, cbmc] = row.family.paper();
            writeln!(f, " {eureka} | {cbmc} |")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_instance_is_found() {
        for limit in [2, 3, 7, 8, 9, 100] {
            let found = search(1000, |n| Ok((n <= limit).then_some(n))).unwrap().unwrap();
            assert!(found <= limit && limit - found <= 1 + found / 8, "{limit}: {found}");
        }
        assert_eq!(search(1000, |_| Ok(None::<usize>)).unwrap(), None);
        assert_eq!(search(1000, |n| Ok(Some(n))).unwrap(), Some(1000));
    }

    #[test]
    fn notes_of_the_engine() {
        assert_eq!(
            kept("round 1: 0 variables, 0 array elements\nround 2: 3 variables, 17 array elements\n"),
            Some(17)
        );
        assert_eq!(kept("nothing"), None);
    }
}
