//! How much of the time each engine should have on each class of programs, learnt from what settles them.
//!
//! Where the tasks of a class are settled by engines that need `T(e)` seconds for theirs, a race takes the least time
//! altogether if the weight of `e` is in proportion to `√T(e)`.

use crate::asked::Answer;
use std::fmt;

/// The weights, in the form in which the race reads them: a class, an engine and its weight in each line.
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
const LEAST: f64 = 2.0;

impl Learnt {
    /// The seconds that an engine needed for what it settled in a class, or in all of them.
    fn needed(&self, class: Option<&str>, engine: &str) -> f64 {
        let its = self.answers.iter().filter(|a| {
            let here = class.is_none_or(|class| a.class.as_deref() == Some(class));
            here && a.is_settled() && a.engine.as_deref() == Some(engine)
        });
        let tried = its.flat_map(|a| &a.tried).filter(|(name, _)| name == engine);
        tried.fold(0.0, |all, (_, seconds)| all + seconds)
    }
}

impl fmt::Display for Learnt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for class in &self.classes {
            let needed =
                |class| self.engines.iter().map(move |e| self.needed(class, e)).collect::<Vec<f64>>();
            let mut times = needed(Some(*class));
            // Of a class of which nothing was settled nothing is known.
            if times.iter().sum::<f64>() == 0.0 {
                times = needed(None);
            }
            let most = times.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            for (engine, time) in self.engines.iter().zip(times) {
                writeln!(f, "{class} {engine} {:.0}", f64::max(LEAST, MOST * (time / most).sqrt()))?;
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
        let learnt = Learnt {
            answers: vec![
                answer("loop", "bmc", 2.0),
                answer("loop", "bmc", 2.0),
                answer("loop", "parts", 0.5),
                answer("large", "parts", 1.0),
            ],
            engines: ["bmc", "parts", "value"].map(String::from).into(),
            classes: vec!["loop", "large", "memory"],
        };
        // 4 s and 1 s in loops; nothing is known of memory, so 4 s and 3 s.
        assert_eq!(
            learnt.to_string(),
            "loop bmc 40\nloop parts 20\nloop value 2\nlarge bmc 2\nlarge parts 40\nlarge value 2\n\
             memory bmc 40\nmemory parts 35\nmemory value 2\n"
        );
    }
}
