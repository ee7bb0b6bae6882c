//! Table 4 and Figure 15 of the paper over programs in C: what each structure settles, in what time, and what
//! the time goes into.

use crate::child::{self, Ended, Limits, cpu_time};
use palisade_base::Budget;
use palisade_cfa::{DataModel, Program};
use palisade_check::court::Court;
use palisade_domains::Domain;
use palisade_engines::Outcome;
use palisade_engines::numpred::{Event, NumPred, Operation};
use palisade_numpred::Structure;
use palisade_property::Property;
use std::cell::RefCell;
use std::fmt::Write;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// What a structure said about a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The property holds; the proof was checked.
    True,
    /// It does not; the run was repeated.
    False,
    /// Not settled, and why.
    Unknown(String),
}

/// One structure on one program.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it said.
    pub answer: Answer,
    /// Time from the task to the answer, and for the last round of refinement alone, which is what the
    /// paper shows in Figure 15.
    pub total: Duration,
    /// The last round of refinement.
    pub last: Duration,
    /// γ, join, αPost, apply.
    pub parts: [Duration; 4],
    /// Rounds, numeric variables and predicates at the end.
    pub precision: [usize; 3],
}

/// A program with the answers of all structures.
pub struct Row {
    /// Its name.
    pub name: String,
    /// Whether the property holds.
    pub expected: bool,
    /// By structure, in the order of [`Structure::ALL`].
    pub runs: Vec<Run>,
}

/// Follows recursive calls this deep.
const RECURSION: usize = 4;
/// A program of more edges after inlining is not analysed.
const MAX_EDGES: usize = 1_500_000;

/// Measures all structures on a preprocessed program; `None` if it cannot be read.
pub fn measure(
    name: &str,
    expected: bool,
    text: String,
    data_model: DataModel,
    numbers: Domain,
    limits: Limits,
) -> io::Result<Option<Row>> {
    let Some(program) = crate::program(name, text, data_model).map(Arc::new) else { return Ok(None) };
    let runs =
        Structure::ALL.into_iter().map(|structure| run(&program, NumPred { structure, numbers }, limits));
    Ok(Some(Row { name: name.into(), expected, runs: runs.collect::<io::Result<_>>()? }))
}

/// Runs an engine on an instrumented program in a process of its own.
fn run(program: &Arc<Program>, engine: NumPred, limits: Limits) -> io::Result<Run> {
    let ended = child::run(limits, || settle(program, &engine))?;
    let unknown = |why: &str| Run {
        answer: Answer::Unknown(why.into()),
        total: limits.time,
        last: limits.time,
        parts: [Duration::ZERO; 4],
        precision: [0; 3],
    };
    Ok(match ended {
        Ended::Done(text) => read(&text).unwrap_or_else(|| unknown("no figures")),
        Ended::OutOfTime => unknown("time"),
        Ended::OutOfMemory => unknown("memory"),
        Ended::Failed(why) => unknown(&why),
    })
}

/// What a run writes down about its time: CPU time, as other processes must not count.
struct Clock {
    round: Duration,
    begun: Duration,
    parts: [Duration; 4],
    precision: [usize; 3],
}

/// The figures of a run as text, for the other process.
fn settle(program: &Arc<Program>, engine: &NumPred) -> String {
    let budget = Budget::unlimited();
    let task = match palisade_reduce::task(program, RECURSION, MAX_EDGES) {
        Ok(task) => task,
        Err(why) => return format!("unknown 0 0 0 0 0 0 0 0 0 {why}"),
    };
    let start = cpu_time();
    let now =
        RefCell::new(Clock { round: start, begun: start, parts: [Duration::ZERO; 4], precision: [0; 3] });
    let outcome = engine.observe(&task, &budget, &|event| {
        let mut clock = now.borrow_mut();
        match event {
            Event::Round(n, vars, preds) => {
                clock.round = cpu_time();
                clock.precision = [n + 1, vars, preds];
            }
            Event::Begin(_) => clock.begun = cpu_time(),
            Event::End(operation) => {
                let part = match operation {
                    Operation::Gamma => 0,
                    Operation::Join => 1,
                    Operation::Post => 2,
                    Operation::Apply => 3,
                };
                let passed = cpu_time() - clock.begun;
                clock.parts[part] += passed;
            }
        }
    });
    let clock = now.into_inner();
    let (total, last) = (cpu_time() - start, cpu_time() - clock.round);
    let property = Property::assertions();
    let (answer, why) = match outcome {
        Outcome::Unknown(why) => ("unknown", why),
        Outcome::Proof(certificate) => {
            match palisade_check::certificate(&task, &certificate, &Court::new(&budget)) {
                Ok(()) => ("true", String::new()),
                Err(why) => ("unknown", format!("rejected: {why}")),
            }
        }
        Outcome::Bug(bug) => match palisade_check::replay::replay(&task.source, &bug, u64::MAX, &budget) {
            Ok(replay) => {
                let check = replay.run.stack.first().map(|(_, edge)| *edge);
                match check.and_then(|edge| property.violated_at(replay.kind, edge)) {
                    Some(_) => ("false", String::new()),
                    None => ("unknown", "another violation".into()),
                }
            }
            Err(why) => ("unknown", format!("rejected: {why}")),
        },
    };
    let mut text = format!("{answer} {} {}", total.as_nanos(), last.as_nanos());
    for part in clock.parts {
        let _ = write!(text, " {}", part.as_nanos());
    }
    for n in clock.precision {
        let _ = write!(text, " {n}");
    }
    let short: String = why.chars().take(200).collect();
    text + " " + &short
}

fn read(text: &str) -> Option<Run> {
    let words: Vec<&str> = text.splitn(11, ' ').collect();
    let nanos = |i: usize| Some(Duration::from_nanos(words.get(i)?.parse().ok()?));
    let number = |i: usize| words.get(i)?.parse::<usize>().ok();
    Some(Run {
        answer: match *words.first()? {
            "true" => Answer::True,
            "false" => Answer::False,
            _ => Answer::Unknown((*words.get(10)?).into()),
        },
        total: nanos(1)?,
        last: nanos(2)?,
        parts: [nanos(3)?, nanos(4)?, nanos(5)?, nanos(6)?],
        precision: [number(7)?, number(8)?, number(9)?],
    })
}

impl Run {
    /// Whether the answer is one.
    pub fn settled(&self) -> bool {
        matches!(self.answer, Answer::True | Answer::False)
    }
}

/// Table 4: for each structure the programs settled and the seconds, in all and by operation. Unlike in the
/// paper, runs that were not settled count with the time they took.
pub fn table(rows: &[Row]) -> String {
    let mut text =
        format!("| {} programs | settled | wrong | total | γ | join | αPost | apply |\n", rows.len());
    text += "|---|---:|---:|---:|---:|---:|---:|---:|";
    for (i, structure) in Structure::ALL.into_iter().enumerate() {
        let runs: Vec<(&Row, &Run)> = rows.iter().filter_map(|r| Some((r, r.runs.get(i)?))).collect();
        let settled = runs.iter().filter(|(_, run)| run.settled()).count();
        let wrong = runs.iter().filter(|(row, run)| row.is_wrong(run)).count();
        let sum = |time: &dyn Fn(&Run) -> Duration| -> f64 {
            runs.iter().map(|(_, run)| time(run).as_secs_f64()).sum()
        };
        let _ = write!(text, "\n| {} | {settled} | {wrong} | {:.2} |", structure.name(), sum(&|r| r.total));
        for part in 0..4 {
            let _ = write!(text, " {:.2} |", sum(&|r| r.parts[part]));
        }
    }
    text
}

impl Row {
    /// Whether a run says the opposite of what holds.
    pub fn is_wrong(&self, run: &Run) -> bool {
        match run.answer {
            Answer::True => !self.expected,
            Answer::False => self.expected,
            Answer::Unknown(_) => false,
        }
    }

    /// The row as a line: seconds, or why not, and the size of the abstraction.
    pub fn line(&self) -> String {
        let mut text = self.name.clone();
        for (structure, run) in Structure::ALL.into_iter().zip(&self.runs) {
            let [rounds, vars, preds] = run.precision;
            let said = match &run.answer {
                Answer::True => "true".into(),
                Answer::False => "false".into(),
                Answer::Unknown(why) => format!("? ({why})"),
            };
            let seconds = run.total.as_secs_f64();
            let _ = write!(
                text,
                "\n  {:15} {seconds:8.3} s {rounds:3} rounds {vars:3} variables {preds:3} predicates  {said}",
                structure.name()
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_survive_the_way_between_processes() {
        let run = read("true 1500 1000 1 2 3 4 5 6 7 ").expect("well formed");
        assert_eq!((run.answer.clone(), run.total), (Answer::True, Duration::from_nanos(1500)));
        assert_eq!((run.parts[3], run.precision), (Duration::from_nanos(4), [5, 6, 7]));
        let unknown = read("unknown 1 1 0 0 0 0 1 0 0 nothing more to track").expect("well formed");
        assert_eq!(unknown.answer, Answer::Unknown("nothing more to track".into()));
        assert!(read("true 1 x").is_none());
        let row = Row { name: "a".into(), expected: false, runs: vec![run, unknown] };
        assert!(row.is_wrong(&row.runs[0]) && !row.is_wrong(&row.runs[1]));
        assert!(table(&[row]).contains("| numeric | 1 | 1 | 0.00 |"));
    }
}
