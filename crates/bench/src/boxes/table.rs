//! The two halves of Table 3, beside the paper's, and what else the measurements tell.

use super::{Domain, Outcome, Proof, Row, Solved};
use crate::fit::power_law;
use std::fmt;
use std::time::Duration;

/// A function counts as hard if a domain needed this long or did not finish (the paper reports on these).
const HARD: Duration = Duration::from_secs(2);

/// All measurements, printed as the paper does.
pub struct Table {
    /// One row for each function.
    pub rows: Vec<Row>,
}

impl Row {
    fn outcome(&self, domain: Domain) -> Option<&Outcome> {
        let i = Domain::ALL.iter().position(|d| *d == domain)?;
        self.outcomes[i].as_ref()
    }

    /// The measurements of a domain that finished.
    pub fn solved(&self, domain: Domain) -> Option<&Solved> {
        match self.outcome(domain)? {
            Outcome::Solved(s) => Some(s),
            _ => None,
        }
    }

    /// Whether one of the domains that were run found the function hard.
    fn is_hard(&self) -> bool {
        self.outcomes.iter().flatten().any(|o| match o {
            Outcome::Solved(s) => s.total() >= HARD,
            _ => true,
        })
    }

    /// Whether the domains were run that are run on a sample.
    fn has_peers(&self) -> bool {
        Domain::ALL.into_iter().any(|d| d.is_sampled() && self.outcome(d).is_some())
    }
}

impl Table {
    /// How much longer `slow` took than `fast` on the functions that both finished: how many these are,
    /// the ratio of the totals, and the median of the ratios.
    pub fn ratio(&self, slow: Domain, fast: Domain) -> Option<(usize, f64, f64)> {
        let both = self.rows.iter().filter_map(|r| Some((r.solved(slow)?, r.solved(fast)?)));
        let times: Vec<(f64, f64)> =
            both.map(|(s, f)| (s.total().as_secs_f64(), f.total().as_secs_f64())).collect();
        let total = |side: fn(&(f64, f64)) -> f64| times.iter().map(side).sum::<f64>();
        let mut ratios: Vec<f64> = times.iter().filter(|t| t.1 > 0.0).map(|t| t.0 / t.1).collect();
        ratios.sort_by(f64::total_cmp);
        let median = *ratios.get(ratios.len() / 2)?;
        Some((times.len(), total(|t| t.0) / total(|t| t.1), median))
    }

    /// Whether something went wrong that never should: a crash, or an invariant that does not hold.
    pub fn has_defects(&self) -> bool {
        let refuted = |r: &Row| matches!(r.proof, Some(Proof::Refuted(_) | Proof::Failed));
        let failed = |r: &Row| r.outcomes.iter().flatten().any(|o| matches!(o, Outcome::Failed(_)));
        self.rows.iter().any(|r| refuted(r) || failed(r))
    }

    /// Table 3(b).
    fn summary(&self, f: &mut fmt::Formatter<'_>, rows: &[&Row]) -> fmt::Result {
        writeln!(
            f,
            "\n{:<10} {:>6} {:>6} {:>9} {:>5} {:>5} {:>5} {:>10} {:>6} {:>6} {:>6} {:>6} {:>7} {:>7}",
            "domain",
            "run",
            "%S",
            "T(s)",
            "%B",
            "%I",
            "%W",
            "widenings",
            "merged",
            "time",
            "memory",
            "failed",
            "MB",
            "max MB"
        )?;
        for domain in Domain::ALL {
            let outcomes: Vec<&Outcome> = rows.iter().filter_map(|r| r.outcome(domain)).collect();
            if outcomes.is_empty() {
                continue;
            }
            let solved: Vec<&Solved> = rows.iter().filter_map(|r| r.solved(domain)).collect();
            let sum =
                |part: fn(&Solved) -> Duration| solved.iter().map(|s| part(s).as_secs_f64()).sum::<f64>();
            // The sum of nothing is minus zero.
            let total = sum(Solved::total).max(0.0);
            let share = |x: f64| if total > 0.0 { 100.0 * x / total } else { 0.0 };
            let count = |o: &Outcome| outcomes.iter().filter(|x| **x == o).count();
            let failed = outcomes.iter().filter(|o| matches!(o, Outcome::Failed(_))).count();
            let memory: Vec<f64> = solved.iter().map(|s| s.memory as f64 / 1e6).collect();
            writeln!(
                f,
                "{:<10} {:>6} {:>6.2} {:>9.3} {:>5.1} {:>5.1} {:>5.1} {:>10} {:>6} {:>6} {:>6} {:>6} {:>7.1} {:>7.1}",
                domain.name(),
                outcomes.len(),
                100.0 * solved.len() as f64 / outcomes.len() as f64,
                total,
                share(sum(|s| s.basic)),
                share(sum(|s| s.image)),
                share(sum(|s| s.widen)),
                solved.iter().map(|s| s.widenings).sum::<u64>(),
                solved.iter().filter(|s| s.merges > 0).count(),
                count(&Outcome::OutOfTime),
                count(&Outcome::OutOfMemory),
                failed,
                memory.iter().fold(0.0, |a, b| a + b) / memory.len().max(1) as f64,
                memory.iter().fold(0.0f64, |a, b| a.max(*b)),
            )?;
        }
        Ok(())
    }

    /// Table 3(a).
    fn sizes(&self, f: &mut fmt::Formatter<'_>, rows: &[&Row]) -> fmt::Result {
        let of = |domain: Domain, size: fn(&Solved) -> f64| -> Vec<f64> {
            rows.iter().filter(|r| r.loops > 0).filter_map(|r| r.solved(domain)).map(size).collect()
        };
        let columns = [
            ("Vars", rows.iter().map(|r| r.vars as f64).collect()),
            ("Loops", rows.iter().map(|r| r.loops as f64).collect()),
            ("DD", of(Domain::LddBoxes, |s| s.nodes as f64)),
            ("Path", of(Domain::LddBoxes, |s| s.boxes)),
            ("Box", of(Domain::PplBoxes, |s| s.boxes)),
        ];
        write!(f, "\n{:<7}", "")?;
        columns.iter().try_for_each(|(name, _)| write!(f, " {name:>10}"))?;
        writeln!(f, "   the paper: Vars, Loop, DD, Path, Box")?;
        for ((name, statistic), paper) in STATISTICS.into_iter().zip(PAPER) {
            write!(f, "{name:<7}")?;
            for (_, values) in &columns {
                match statistic(values) {
                    Some(v) if v >= 1e7 => write!(f, " {v:>10.2e}")?,
                    Some(v) if v.fract() != 0.0 => write!(f, " {v:>10.1}")?,
                    Some(v) => write!(f, " {v:>10}")?,
                    None => write!(f, " {:>10}", "-")?,
                }
            }
            writeln!(f, "   {paper}")?;
        }
        Ok(())
    }

    /// What the solver says about the invariants of LDD Boxes.
    fn proofs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked: Vec<(&Row, Proof)> = self.rows.iter().filter_map(|r| Some((r, r.proof?))).collect();
        let count = |of: fn(&Proof) -> bool| asked.iter().filter(|(_, p)| of(p)).count();
        let heads = |of: fn(&Proof) -> bool| -> usize {
            asked.iter().filter(|(_, p)| of(p)).map(|(r, _)| r.loops).sum()
        };
        writeln!(
            f,
            "invariants of LDD Boxes that the solver was asked about: those of {} functions with loops;\n\
             initial and inductive in {} (with {} loop heads), open in {}, refuted in {}, failed in {}",
            asked.len(),
            count(|p| *p == Proof::Shown),
            heads(|p| *p == Proof::Shown),
            count(|p| *p == Proof::Open),
            count(|p| matches!(p, Proof::Refuted(_))),
            count(|p| *p == Proof::Failed),
        )?;
        for (row, proof) in asked {
            match proof {
                Proof::Refuted(number) => {
                    writeln!(f, "the solver refutes the invariant of loop {number} of {}", row.name)?;
                }
                Proof::Failed => writeln!(f, "the solver crashed on {}", row.name)?,
                Proof::Shown | Proof::Open => {}
            }
        }
        Ok(())
    }

    /// The checks that domains prove, on the functions that all domains of ours finish.
    fn checks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ours = Domain::ALL.into_iter().filter(|d| !d.is_peer());
        let all = |r: &&Row| ours.clone().all(|d| r.solved(d).is_some());
        let rows: Vec<&Row> = self.rows.iter().filter(all).collect();
        let total: usize = rows.iter().map(|r| r.checks).sum();
        let proved = |d: Domain, but: Option<Domain>| -> usize {
            let of = |r: &Row| {
                let of = |d: Domain| r.solved(d).map_or(&[][..], |s| &s.proved);
                let other = but.map_or(&[][..], of);
                of(d)
                    .iter()
                    .enumerate()
                    .filter(|(i, p)| **p && !other.get(*i).copied().unwrap_or(false))
                    .count()
            };
            rows.iter().map(|r| of(r)).sum()
        };
        writeln!(f, "\n{total} checks in {} functions that all our domains finish; proved:", rows.len())?;
        for d in ours.clone() {
            write!(f, "{:<10} {:>8}", d.name(), proved(d, None))?;
            if d != Domain::LddBoxes {
                let (more, less) = (proved(Domain::LddBoxes, Some(d)), proved(d, Some(Domain::LddBoxes)));
                write!(f, "   LDD Boxes proves {more} that it does not, and not {less} that it does")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    /// The exponent of the power law that fits the time of a domain over the variables best (least squares
    /// of logarithms), over functions with a loop.
    fn exponent(&self, domain: Domain) -> Option<f64> {
        let of = |r: &Row| {
            let time = r.solved(domain)?.total().as_secs_f64();
            (r.loops > 0).then_some((r.vars as f64, time))
        };
        let points: Vec<(f64, f64)> = self.rows.iter().filter_map(of).collect();
        power_law(&points).map(|(exponent, _)| exponent)
    }
}

/// The rows of Table 3(a) in the paper.
const PAPER: [&str; 5] = [
    "9, 0, 1, 0, 1",
    "9052, 241, 87692, 2.15e9, 7296",
    "238, 7, 1011, 2.46e8, 802",
    "492, 12, 3754, 5.75e8, 761",
    "97, 3, 149, 5810, 589",
];

type Statistic = fn(&[f64]) -> Option<f64>;

const STATISTICS: [(&str, Statistic); 5] = [
    ("MIN", |v| v.iter().copied().min_by(f64::total_cmp)),
    ("MAX", |v| v.iter().copied().max_by(f64::total_cmp)),
    ("AVG", |v| (!v.is_empty()).then(|| v.iter().sum::<f64>() / v.len() as f64)),
    ("STDEV", |v| {
        let n = v.len() as f64;
        let mean = v.iter().sum::<f64>() / n;
        (!v.is_empty()).then(|| (v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
    }),
    ("MEDIAN", |v| {
        let mut v = v.to_vec();
        v.sort_by(f64::total_cmp);
        v.get(v.len() / 2).copied()
    }),
];

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<&Row> = self.rows.iter().collect();
        // Without the slowest domains a function only counts if it is hard for the others.
        let (peers, alone): (Vec<&Row>, Vec<&Row>) = all.iter().partition(|r| r.has_peers());
        let mut hard = [peers.clone(), alone.clone()];
        hard.iter_mut().for_each(|rows| rows.retain(|r| r.is_hard()));
        writeln!(f, "Vars: tracked variables; Loops: loop heads; the largest invariant of a function with")?;
        writeln!(
            f,
            "loops in DD: nodes, Path: paths of a diagram, Box: elements of a PPL powerset. run: functions that"
        )?;
        writeln!(
            f,
            "the domain was run on; %S: solved of these; T: time in the domain of solved functions; %B, %I, %W:"
        )?;
        writeln!(
            f,
            "share of basic operations, images and widening; merged: solved functions in which boxes were merged;"
        )?;
        writeln!(
            f,
            "the functions that were not solved; memory of solved functions on average and at most."
        )?;
        writeln!(
            f,
            "The paper, hard functions: LDD Box 99.8 %, PPL Box 96.1 %, LDD Boxes 87.9 %, PPL Boxes 14.2 %."
        )?;
        let of = |rows: &[&Row]| format!("of {} functions", rows.len());
        let titles = [
            ("all functions".into(), &all),
            (
                format!("hard, some domain needed 2 s or did not finish, {} with all domains", of(&peers)),
                &hard[0],
            ),
            (format!("hard for the domains that were run, {} with these", of(&alone)), &hard[1]),
        ];
        for (title, rows) in titles.into_iter().filter(|(_, rows)| !rows.is_empty()) {
            writeln!(f, "\n{title}: {}", rows.len())?;
            self.sizes(f, rows)?;
            self.summary(f, rows)?;
        }
        self.checks(f)?;
        let pairs = [
            (Domain::PplBox, Domain::LddBox),
            (Domain::PplBoxes, Domain::LddBoxes),
            (Domain::IntervalSets, Domain::LddBoxes),
        ];
        for (slow, fast) in pairs {
            if let Some((n, total, median)) = self.ratio(slow, fast) {
                write!(f, "\n{} / {} on {n} functions that both finish: ", slow.name(), fast.name())?;
                write!(f, "{total:.2} in total, {median:.2} in the median")?;
            }
        }
        for domain in [Domain::LddBox, Domain::LddBoxes] {
            if let Some(e) = self.exponent(domain) {
                write!(f, "\n{}: time grows with the power {e:.2} of the variables", domain.name())?;
            }
        }
        let states = |d| all.iter().filter_map(|r| r.solved(d)).map(|s| s.states).sum::<u64>();
        let states: u64 = Domain::ALL.into_iter().map(states).sum();
        writeln!(f, "\n{states} states of random runs at loop heads were inside the invariants")?;
        self.proofs(f)?;
        writeln!(f)?;
        for row in &self.rows {
            for (domain, outcome) in Domain::ALL.iter().zip(&row.outcomes) {
                let what = match outcome {
                    Some(Outcome::Failed(why)) => why.as_str(),
                    Some(Outcome::OutOfTime) if !domain.is_peer() => "out of time",
                    Some(Outcome::OutOfMemory) if !domain.is_peer() => "out of memory",
                    _ => continue,
                };
                writeln!(f, "{} on {}: {what}", domain.name(), row.name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(millis: u64, boxes: f64) -> Option<Outcome> {
        let image = Duration::from_millis(millis);
        let proved = vec![true, boxes > 1.0];
        Some(Outcome::Solved(Solved { image, widenings: 1, nodes: 5, boxes, proved, ..Solved::default() }))
    }

    #[test]
    fn ratios_are_over_what_both_finish() {
        let row = |name: &str, ours: Option<Outcome>, peer: Option<Outcome>| Row {
            name: name.into(),
            vars: 4,
            loops: 1,
            checks: 2,
            proof: (name != "d").then_some(if name == "b" { Proof::Refuted(7) } else { Proof::Shown }),
            outcomes: [ours.clone(), peer.clone(), ours.clone(), peer, ours.clone(), ours],
        };
        let table = Table {
            rows: vec![
                row("a", solved(10, 1.0), solved(40, 2.0)),
                row("b", solved(20, 9.0), solved(2000, 3.0)),
                row("c", solved(1000, 1e9), Some(Outcome::OutOfTime)),
                row("d", Some(Outcome::OutOfMemory), solved(1, 1.0)),
            ],
        };
        assert!(table.has_defects());
        assert!(!Table { rows: vec![table.rows[0].clone(), table.rows[2].clone()] }.has_defects());
        let (n, total, median) = table.ratio(Domain::PplBoxes, Domain::LddBoxes).expect("two finish");
        assert_eq!((n, median), (2, 100.0));
        assert!((total - 68.0).abs() < 1e-9);
        let text = table.to_string();
        let line = |start: &str| text.lines().find(|l| l.starts_with(start)).expect("it is there").to_owned();
        let words = |l: String| l.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(words(line("LDD Boxes"))[2..8], ["4", "75.00", "1.030", "0.0", "100.0", "0.0"]);
        assert_eq!(words(line("LDD Boxes"))[8..13], ["3", "0", "0", "1", "0"]);
        assert_eq!(words(line("MAX"))[..6], ["MAX", "4", "1", "5", "1.00e9", "3"]);
        assert!(text.contains("6 checks in 3 functions"), "{text}");
        assert_eq!(
            words(
                text.lines()
                    .find(|l| l.starts_with("octagons") && l.contains("proves"))
                    .expect("it is there")
                    .into()
            )[1],
            "5"
        );
        // Three functions were hard for somebody: b took two seconds, c and d did not end.
        assert!(text.contains("did not finish, of 4 functions with all domains: 3"), "{text}");
        assert!(text.contains("those of 3 functions"), "{text}");
        assert!(text.contains("inductive in 2 (with 2 loop heads), open in 0, refuted in 1"), "{text}");
        assert!(text.contains("the solver refutes the invariant of loop 7 of b"), "{text}");
        assert!(text.contains("LDD Box on d: out of memory"), "{text}");
    }
}
