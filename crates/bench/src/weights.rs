//! How much of the time each engine should have on each class of programs, and who should have it first, learnt from
//! what settles them.
//!
//! Where the tasks of a class are settled by engines that need `T(e)` seconds for theirs, a race takes the least time
//! altogether if the weight of `e` is in proportion to `√T(e)`. The tasks of a class are few: what was seen of all classes
//! counts a little, too.

use crate::asked::Answer;
use std::fmt;

/// What was learnt, in the form in which the race reads it: a class, an engine, its weight, and how many tasks it
/// settled in a first turn, in each line. Who is not named has the least weight.
pub struct Learnt {
    /// What was said about tasks.
    pub answers: Vec<Answer>,
    /// The engines of the race.
    pub engines: Vec<String>,
    /// The classes.
    pub classes: Vec<&'static str>,
}

/// The weights of the engine that needs most, and of those that never settle anything: others of their kind they may.
const MOST: f64 = 40.0;
const LEAST: f64 = 1.0;
/// How much of the time of a class is taken to be as in all classes together.
const ALIKE: f64 = 0.05;
/// A first turn, in seconds, with some patience.
const FIRST: f64 = 0.025;

impl Learnt {
    /// The seconds that an engine needed for each task that it settled in a class, or in all of them.
    fn needed(&self, class: Option<&str>, engine: &str) -> Vec<f64> {
        let its = self.answers.iter().filter(|a| {
            let here = class.is_none_or(|class| a.class.as_deref() == Some(class));
            here && a.is_settled() && a.engine.as_deref() == Some(engine)
        });
        let seconds = |a: &Answer, is: &dyn Fn(&str) -> bool| -> f64 {
            a.tried.iter().filter(|(name, _)| is(name)).map(|(_, seconds)| seconds).sum()
        };
        // What was found before the race teaches nothing about it.
        let raced = its.filter(|a| seconds(a, &|name| name != engine) > 0.0);
        raced.map(|a| seconds(a, &|name| name == engine)).collect()
    }
}

impl fmt::Display for Learnt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needed = |class| self.engines.iter().map(|e| self.needed(class, e)).collect::<Vec<_>>();
        let total = |times: &Vec<f64>| times.iter().sum::<f64>();
        let everywhere: Vec<f64> = needed(None).iter().map(total).collect();
        for class in &self.classes {
            let times = needed(Some(*class));
            let here: f64 = times.iter().map(total).sum();
            let alike = here * ALIKE / everywhere.iter().sum::<f64>();
            let expected = |(times, everywhere): (&Vec<f64>, &f64)| total(times) + alike * everywhere;
            // Of a class of which nothing was settled nothing is known.
            let expected: Vec<f64> = match here {
                0.0 => everywhere.clone(),
                _ => times.iter().zip(&everywhere).map(expected).collect(),
            };
            let most = expected.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            for ((engine, times), expected) in self.engines.iter().zip(times).zip(expected) {
                let weight = f64::max(LEAST, MOST * (expected / most).sqrt()).round();
                let at_once = times.iter().filter(|time| **time <= FIRST).count();
                if weight > LEAST || at_once > 0 {
                    writeln!(f, "{class} {engine} {weight} {at_once}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_roots_of_times() {
        let answer = |class: &str, engine: &str, seconds| Answer {
            verdict: "true".into(),
            engine: Some(engine.into()),
            class: Some(class.into()),
            seconds: 20.0,
            found: 20.0,
            tried: vec![("bmc".into(), seconds), ("parts".into(), 2.0 * seconds)],
            taken: Vec::new(),
        };
        let alone = Answer { tried: vec![("value".into(), 3.0)], ..answer("loop", "value", 3.0) };
        let learnt = Learnt {
            answers: vec![
                answer("loop", "bmc", 2.0),
                answer("loop", "bmc", 2.0),
                answer("loop", "parts", 0.5),
                answer("large", "parts", 0.01),
                alone,
            ],
            engines: ["bmc", "parts", "value"].map(String::from).into(),
            classes: vec!["loop", "large", "memory"],
        };
        // 4 s and 1 s in loops, together with 0.2 s and 0.05 s for what is seen everywhere; for the 0.02 s in large ones
        // that is 0.0008 s and 0.0002 s. Nothing is known of memory, so 4 s and 1.02 s.
        assert_eq!(
            learnt.to_string(),
            "loop bmc 40 0\nloop parts 20 0\nlarge bmc 8 0\nlarge parts 40 1\nmemory bmc 40 0\nmemory parts 20 0\n"
        );
    }
}
