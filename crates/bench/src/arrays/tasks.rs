//! Verification tasks about arrays, settled with the analyses that are made for them and without.

use crate::asked::Twice;
use std::collections::BTreeMap;
use std::fmt;

/// The engines that are made for programs with arrays.
pub const ENGINES: [&str; 3] = ["arrays", "folds", "eureka"];

/// Tasks with them and without them.
pub struct Tasks(pub Vec<Twice>);

impl fmt::Display for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| category | tasks | wrong | settled | points | seconds | settled without | points without | seconds without |"
        )?;
        writeln!(f, "|---|---:|---:|---:|---:|---:|---:|---:|---:|")?;
        let mut categories: BTreeMap<&str, Vec<&Twice>> = BTreeMap::new();
        for row in &self.0 {
            categories.entry(&row.category).or_default().push(row);
        }
        for (category, rows) in categories {
            let wrong = rows.iter().filter(|row| row.is_wrong(0) || row.is_wrong(1)).count();
            write!(f, "| {category} | {} | {wrong} |", rows.len())?;
            let possible: i32 = rows.iter().map(|row| if row.expected { 2 } else { 1 }).sum();
            for which in [0, 1] {
                let settled = rows.iter().filter(|row| row.answers[which].is_settled()).count();
                let points: i32 = rows.iter().map(|row| row.points(which)).sum();
                let share = 100 * points / possible.max(1);
                let seconds: f64 = rows.iter().map(|row| row.answers[which].seconds).sum();
                write!(f, " {settled} | {points} of {possible} ({share} %) | {seconds:.0} |")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Answer;

    #[test]
    fn points_are_counted_with_and_without() {
        let answer = |verdict: &str| Answer {
            verdict: verdict.into(),
            engine: None,
            class: None,
            seconds: 1.5,
            found: 1.0,
            tried: Vec::new(),
            taken: Vec::new(),
        };
        let row = |expected, with: &str, without: &str| Twice {
            category: "arrays".into(),
            name: "a.c".into(),
            expected,
            answers: [answer(with), answer(without)],
        };
        let rows =
            vec![row(true, "true", "unknown"), row(false, "false", "false"), row(true, "unknown", "false")];
        let text = Tasks(rows).to_string();
        assert!(
            text.contains("| arrays | 3 | 1 | 2 | 3 of 5 (60 %) | 4 | 2 | -15 of 5 (-300 %) | 4 |"),
            "{text}"
        );
    }
}
