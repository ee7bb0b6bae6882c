//! Figure 7(b): the unsatisfiable formulas χ_d by 1-assume over polyhedra, beside other solvers.

use super::clock::{of_children, within};
use crate::fit::power_law;
use palisade_domains::{Dynamic, Lattice, Limits, NumericDomain, SparsePolyhedra};
use palisade_symabs::operations::wide;
use palisade_symabs::{Assume, Config, chi};
use std::fmt;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The times for one number of diamonds; `None` for a solver that was not run or not in time.
pub struct Row {
    /// Diamonds.
    pub d: u32,
    /// Our time and whether χ_d was refuted.
    pub ours: (Duration, bool),
    /// Applications of the Dilemma rule.
    pub splits: u64,
    /// The others, in the order of their names.
    pub others: Vec<Option<Duration>>,
}

/// The whole table.
pub struct Table {
    /// Names of the other solvers.
    pub solvers: Vec<&'static str>,
    /// One row for each d.
    pub rows: Vec<Row>,
}

/// Solvers that may be installed, with what tells them to stop.
const OTHERS: [(&str, &str); 2] = [("z3", "-T:"), ("cvc5", "--tlimit=")];

fn installed(name: &str) -> bool {
    let run = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|s| s.success())
}

/// Asks another solver; `None` if it does not answer `unsat` in time.
fn ask(name: &str, text: &str, limit: Duration) -> Option<Duration> {
    let option = OTHERS.iter().find(|o| o.0 == name)?.1;
    let limit = if name == "z3" { limit.as_secs().max(1) as u128 } else { limit.as_millis() };
    let mut command = Command::new(name);
    command.arg(format!("{option}{limit}"));
    command.args(if name == "z3" { vec!["-smt2", "-in"] } else { vec!["--lang=smt2", "-"] });
    let start = of_children();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let out = child.wait_with_output().ok()?;
    let time = of_children().saturating_sub(start);
    String::from_utf8_lossy(&out.stdout).trim_start().starts_with("unsat").then_some(time)
}

/// Refutes χ_d.
pub fn refute(d: u32, limit: Duration) -> (Duration, bool, u64) {
    let formula = chi::formula(d);
    let ((refuted, splits), time) = within(limit, |budget| {
        let config = Config { budget: budget.clone(), ..wide(1) };
        let mut assume = Assume::new(&formula, config);
        let result = assume.run(Dynamic::of(SparsePolyhedra::top(&Limits::STANDARD)));
        (result.is_bottom(), assume.splits())
    });
    (time, refuted, splits)
}

/// Measures the given numbers of diamonds. A solver that once was not in time is not asked again.
pub fn measure(numbers: &[u32], limit: Duration, row: &mut dyn FnMut(&Row)) -> Table {
    let solvers: Vec<&'static str> = OTHERS.iter().map(|o| o.0).filter(|n| installed(n)).collect();
    let mut alive = vec![true; solvers.len()];
    let mut table = Table { solvers, rows: Vec::new() };
    for &d in numbers {
        let (time, refuted, splits) = refute(d, limit * 10);
        let text = chi::script(d);
        let others = table
            .solvers
            .iter()
            .zip(&mut alive)
            .map(|(name, alive)| {
                let time = if *alive { ask(name, &text, limit) } else { None };
                *alive = time.is_some();
                time
            })
            .collect();
        let found = Row { d, ours: (time, refuted), splits, others };
        row(&found);
        table.rows.push(found);
    }
    table
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "chi_d by 1-assume over polyhedra: seconds of CPU time")?;
        write!(f, "{:>5} {:>10} {:>7}", "d", "1-assume", "splits")?;
        self.solvers.iter().try_for_each(|s| write!(f, " {s:>10}"))?;
        writeln!(f)?;
        for r in &self.rows {
            let ours = format!("{:.4}{}", r.ours.0.as_secs_f64(), if r.ours.1 { "" } else { "?" });
            write!(f, "{:>5} {ours:>10} {:>7}", r.d, r.splits)?;
            for o in &r.others {
                let text = o.map_or("-".into(), |t| format!("{:.4}", t.as_secs_f64()));
                write!(f, " {text:>10}")?;
            }
            writeln!(f)?;
        }
        let large = |r: &&Row| r.d >= 10 && r.ours.1;
        let points: Vec<(f64, f64)> =
            self.rows.iter().filter(large).map(|r| (f64::from(r.d), r.ours.0.as_secs_f64())).collect();
        if let Some((e, _)) = power_law(&points) {
            writeln!(f, "our time grows as d^{e:.2} (d >= 10)")?;
        }
        for (i, s) in self.solvers.iter().enumerate() {
            let last = self.rows.iter().rev().find(|r| r.others[i].is_some());
            writeln!(f, "{s} answers in time up to d = {}", last.map_or(0, |r| r.d))?;
        }
        Ok(())
    }
}
