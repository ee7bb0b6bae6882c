//! What the race of engines spends its time on, and what it gains by a board that all of them read.

use crate::asked::{Answer, Twice};
use std::collections::BTreeMap;
use std::fmt;

/// All rows.
pub struct Table {
    /// The tasks, by engines that tell each other what they learn, and by engines that do not.
    pub rows: Vec<Twice>,
    /// The engines of the race.
    pub engines: Vec<String>,
    /// The weight of an engine on tasks of a class.
    pub weight: fn(&str, &str) -> u32,
}

/// The share of the time of all engines that the one who settled a task had, over some tasks.
fn share<'a>(rows: impl Iterator<Item = &'a Twice>) -> f64 {
    let (mut won, mut all) = (0.0, 0.0);
    for answer in rows.map(|row| &row.answers[0]).filter(|answer| answer.is_settled()) {
        for (engine, seconds) in &answer.tried {
            all += seconds;
            won += if Some(engine) == answer.engine.as_ref() { *seconds } else { 0.0 };
        }
    }
    100.0 * won / f64::max(all, f64::MIN_POSITIVE)
}

/// The middle of some numbers, 0 if there are none.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

impl Table {
    /// Who settles the tasks of each class.
    fn classes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n| class | settled | of | median s | winner's share | who settles: how many, in how many seconds, weight |"
        )?;
        writeln!(f, "|---|---:|---:|---:|---:|---|")?;
        let mut classes: BTreeMap<&str, Vec<&Twice>> = BTreeMap::new();
        for row in &self.rows {
            classes.entry(row.answers[0].class.as_deref().unwrap_or("none")).or_default().push(row);
        }
        for (class, rows) in classes {
            let settled: Vec<&Answer> =
                rows.iter().map(|r| &r.answers[0]).filter(|a| a.is_settled()).collect();
            let mut winners: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
            for answer in &settled {
                let Some(engine) = answer.engine.as_deref() else { continue };
                let (count, seconds) = winners.entry(engine).or_default();
                *count += 1;
                *seconds +=
                    answer.tried.iter().filter(|(name, _)| name == engine).map(|(_, s)| s).sum::<f64>();
            }
            let mut winners: Vec<_> = winners.into_iter().collect();
            winners.sort_by(|(_, a), (_, b)| b.1.total_cmp(&a.1));
            let who = winners.iter().map(|(engine, (count, seconds))| {
                format!("{engine} {count}, {seconds:.1} s, {}", (self.weight)(class, engine))
            });
            writeln!(
                f,
                "| {class} | {} | {} | {:.2} | {:.0} % | {} |",
                settled.len(),
                rows.len(),
                median(settled.iter().map(|a| a.seconds).collect()),
                share(rows.iter().copied()),
                who.collect::<Vec<_>>().join("; "),
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| category | tasks | settled | settled apart | wrong | median s | seconds | seconds apart | winner's share | \
             facts taken |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
        )?;
        let mut categories: BTreeMap<&str, Vec<&Twice>> = BTreeMap::new();
        for row in &self.rows {
            categories.entry(&row.category).or_default().push(row);
        }
        let all: Vec<&Twice> = self.rows.iter().collect();
        for (category, rows) in categories.into_iter().chain([("all", all)]) {
            let count = |is: &dyn Fn(&Twice) -> bool| rows.iter().filter(|r| is(r)).count();
            let seconds = |of: &dyn Fn(&Twice) -> f64| rows.iter().map(|r| of(r)).sum::<f64>();
            let settled = rows.iter().filter(|r| r.answers[0].is_settled());
            let taken: u64 = rows.iter().flat_map(|r| &r.answers[0].taken).map(|(.., facts)| facts).sum();
            writeln!(
                f,
                "| {category} | {} | {} | {} | {} | {:.2} | {:.1} | {:.1} | {:.0} % | {taken} |",
                rows.len(),
                count(&|r| r.answers[0].is_settled()),
                count(&|r| r.answers[1].is_settled()),
                count(&|r| r.is_wrong(0) || r.is_wrong(1)),
                median(settled.map(|r| r.answers[0].seconds).collect()),
                seconds(&|r| r.answers[0].seconds),
                seconds(&|r| r.answers[1].seconds),
                share(rows.iter().copied()),
            )?;
        }
        self.classes(f)?;
        writeln!(f, "\n| engine | settles | seconds | gives facts | takes facts |")?;
        writeln!(f, "|---|---:|---:|---:|---:|")?;
        for engine in &self.engines {
            let answers = || self.rows.iter().map(|row| &row.answers[0]);
            let settles = answers().filter(|a| a.is_settled() && a.engine.as_ref() == Some(engine)).count();
            let tried = answers().flat_map(|a| &a.tried).filter(|(name, _)| name == engine);
            // The sum of nothing is written with a sign.
            let seconds = tried.fold(0.0, |all, (_, seconds)| all + seconds);
            let facts = |is: &dyn Fn(&(String, String, u64)) -> bool| -> u64 {
                answers().flat_map(|a| &a.taken).filter(|t| is(t)).map(|(.., facts)| facts).sum()
            };
            let (gives, takes) = (facts(&|(_, from, _)| from == engine), facts(&|(by, ..)| by == engine));
            writeln!(f, "| {engine} | {settles} | {seconds:.1} | {gives} | {takes} |")?;
        }
        for (what, is) in [("lost without the board", true), ("lost with it", false)] {
            let lost = self.rows.iter().filter(|r| {
                r.answers[0].is_settled() != r.answers[1].is_settled() && r.answers[0].is_settled() == is
            });
            let lost: Vec<String> = lost.map(|r| r.name.clone()).collect();
            writeln!(f, "\n{what}: {}", if lost.is_empty() { "nothing".into() } else { lost.join(", ") })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_is_lost_without_the_board() {
        let answer = |verdict: &str, engine: &str| Answer {
            verdict: verdict.into(),
            engine: Some(engine.into()),
            class: Some("loop".into()),
            seconds: 2.0,
            found: 1.0,
            tried: vec![("bmc".into(), 0.5), ("kinduction".into(), 1.5)],
            taken: vec![("kinduction".into(), "octagon".into(), 4)],
        };
        let row = |name: &str, auto, apart| Twice {
            category: "loops".into(),
            name: name.into(),
            expected: true,
            answers: [auto, apart],
        };
        let rows = vec![
            row("a.c", answer("true", "kinduction"), answer("unknown", "")),
            row("b.c", answer("true", "kinduction"), answer("true", "kinduction")),
        ];
        let engines = vec!["kinduction".into(), "octagon".into()];
        let table = Table { rows, engines, weight: |_, _| 3 };
        let text = table.to_string();
        assert!(text.contains("| loops | 2 | 2 | 1 | 0 | 2.00 | 4.0 | 4.0 | 75 % | 8 |"), "{text}");
        assert!(text.contains("| loop | 2 | 2 | 2.00 | 75 % | kinduction 2, 3.0 s, 3 |"), "{text}");
        assert!(text.contains("| kinduction | 2 | 3.0 | 0 | 8 |"), "{text}");
        assert!(text.contains("| octagon | 0 | 0.0 | 8 | 0 |"), "{text}");
        assert!(text.contains("lost without the board: a.c\n"), "{text}");
        assert!(text.contains("lost with it: nothing"), "{text}");
    }
}
