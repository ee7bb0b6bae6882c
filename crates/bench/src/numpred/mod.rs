//! The measurements of "Combining Predicate and Numeric Abstraction for Software Model Checking", for all data
//! structures: Figure 14, the templates whose size grows, here; Table 4 and Figure 15, programs in C, in
//! [`programs`].

pub mod own;
mod plot;
pub mod programs;

use palisade_base::{Budget, Stop};
use palisade_dd::OutOfBudget;
use palisade_domains::Domain;
use palisade_numpred::{Structure, parse, program};
use std::fmt::Write;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

pub use plot::{Picture, svg};

/// How one structure did on one size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    /// All assertions are shown, in this time.
    Shown(Duration),
    /// The analysis ended, and some assertion is not shown.
    NotShown(Duration),
    /// It did not end in time.
    OutOfTime,
    /// It needed more memory than its diagrams may take.
    OutOfMemory,
}

/// One figure: the outcomes of all structures, by size.
pub struct Figure {
    /// Its name.
    pub title: &'static str,
    /// The sizes, ascending.
    pub sizes: Vec<usize>,
    /// For each structure its outcomes, as far as it came: after the first that is out of time none follow.
    pub rows: Vec<(Structure, Vec<Outcome>)>,
}

/// Figure 14(a): `x = 0; while (x < C) ++x; assert(x == C)`.
///
/// Predicates alone get the two that the assertion needs.
pub fn counting(c: usize, structure: Structure) -> String {
    let loop_with = |more: &str| {
        format!(
            "x := 0{more}; while (x < {c}) {{ x := x + 1{more_in}; }} assert(x = {c});",
            more_in = match more {
                "" => String::new(),
                _ => format!(" & le := choice(x < {c}, x >= {c}) & eq := choice(x = {c} - 1, x != {c} - 1)"),
            }
        )
    };
    match structure {
        Structure::Predicate => format!(
            "vars x; preds le = (x <= {c}), eq = (x = {c}); {}",
            loop_with(" & le := choice(true, false) & eq := choice(false, true)")
        ),
        _ => format!("vars x; {}", loop_with("")),
    }
}

/// Figure 14(b): whether some xᵢ is negative decides n, and is asked again. The predicates are xᵢ < 0.
pub fn flags(c: usize, structure: Structure) -> String {
    let names = |prefix: &str| (0..=c).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let mut text = format!("vars n, {};\n", names("x"));
    if structure != Structure::Numeric {
        let preds: Vec<String> = (0..=c).map(|i| format!("p{i} = (x{i} < 0)")).collect();
        let _ = writeln!(text, "preds zero = (n = 0), {};", preds.join(", "));
    }
    let assign = |n: u8| match structure {
        Structure::Numeric => format!("n := {n};"),
        _ => format!("n := {n} & zero := choice({}, {});", n == 0, n != 0),
    };
    let chain = |inner: &str| {
        let mut text = String::new();
        for i in 0..=c {
            let _ = write!(text, "{}if (x{i} < 0) {{ {inner} }}", if i > 0 { " else " } else { "" });
        }
        text
    };
    let _ = write!(text, "{}\n{}\n{}\n", assign(1), chain(&assign(0)), chain("assert(n = 0);"));
    text
}

/// Analyses an abstract program within a time limit.
pub fn run(text: &str, structure: Structure, numbers: Domain, limit: Duration) -> Result<Outcome, String> {
    let program = parse::program(text).map_err(|e| e.to_string())?;
    let budget = Budget::unlimited();
    let watched = budget.clone();
    let (done, waits) = channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if waits.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            watched.stop(Stop::Time);
        }
    });
    let start = Instant::now();
    let found = structure
        .domain(program.names.clone(), numbers, &budget)
        .and_then(|mut dom| Ok(program::analyse(&program, &mut *dom)?.safe()));
    let time = start.elapsed();
    drop(done);
    watchdog.join().map_err(|_| "the watchdog failed")?;
    Ok(match found {
        Ok(true) => Outcome::Shown(time),
        Ok(false) => Outcome::NotShown(time),
        Err(OutOfBudget::Stopped(_)) => Outcome::OutOfTime,
        Err(OutOfBudget::Nodes | OutOfBudget::Work) => Outcome::OutOfMemory,
    })
}

/// Measures a figure; `progress` gets a line for each outcome.
pub fn figure(
    title: &'static str,
    sizes: &[usize],
    template: fn(usize, Structure) -> String,
    numbers: Domain,
    limit: Duration,
    progress: &mut dyn FnMut(String),
) -> Result<Figure, String> {
    let mut rows = Vec::new();
    for structure in Structure::ALL {
        let mut outcomes = Vec::new();
        for &c in sizes {
            let outcome = run(&template(c, structure), structure, numbers, limit)?;
            progress(format!("{title} {} C = {c}: {}", structure.name(), shown(outcome)));
            outcomes.push(outcome);
            if matches!(outcome, Outcome::OutOfTime | Outcome::OutOfMemory) {
                break;
            }
        }
        rows.push((structure, outcomes));
    }
    Ok(Figure { title, sizes: sizes.to_vec(), rows })
}

fn shown(outcome: Outcome) -> String {
    match outcome {
        Outcome::Shown(time) => format!("{:.3}", time.as_secs_f64()),
        Outcome::NotShown(time) => format!("({:.3})", time.as_secs_f64()),
        Outcome::OutOfTime => "time".into(),
        Outcome::OutOfMemory => "memory".into(),
    }
}

impl Figure {
    /// The figure as a table: seconds; in brackets where the assertion is not shown.
    pub fn table(&self) -> String {
        let mut text = format!("| {} |", self.title);
        for c in &self.sizes {
            let _ = write!(text, " {c} |");
        }
        text += "\n|---|";
        text += &"---:|".repeat(self.sizes.len());
        for (structure, outcomes) in &self.rows {
            let _ = write!(text, "\n| {} |", structure.name());
            for i in 0..self.sizes.len() {
                let _ = write!(text, " {} |", outcomes.get(i).map_or("-".into(), |&o| shown(o)));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_templates_are_shown_by_all_combined_structures() {
        for structure in [Structure::Nex, Structure::Mtndd, Structure::Ndd] {
            for text in [counting(50, structure), flags(4, structure)] {
                let outcome = run(&text, structure, Domain::polyhedra(), Duration::from_secs(60));
                assert!(matches!(outcome, Ok(Outcome::Shown(_))), "{structure:?}: {outcome:?}\n{text}");
            }
        }
        let text = counting(50, Structure::Numeric);
        let outcome = run(&text, Structure::Numeric, Domain::polyhedra(), Duration::from_secs(60));
        assert!(matches!(outcome, Ok(Outcome::Shown(_))), "{outcome:?}\n{text}");
        let outcome = run(
            &flags(4, Structure::Numeric),
            Structure::Numeric,
            Domain::polyhedra(),
            Duration::from_secs(60),
        );
        assert!(matches!(outcome, Ok(Outcome::NotShown(_))), "{outcome:?}");
    }
}
