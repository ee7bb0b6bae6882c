//! Which programs forward iteration proves with transformers by symbolic abstraction and with syntax-directed ones,
//! in the same domains.

use super::clock::within;
use palisade_analyses::invariants::symbolic;
use palisade_base::Budget;
use palisade_cfa::DataModel;
use palisade_domains::{Domain, Dynamic, NumericDomain};
use palisade_engines::numeric::{DELAY, fixed_point};
use palisade_task::Task;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The domains that are compared.
pub const DOMAINS: [&str; 2] = ["octagon", "polyhedra"];

/// A program: for each domain whether syntax-directed and symbolic transformers prove it, and their times.
pub struct Row {
    /// The program.
    pub name: String,
    /// Does its property hold?
    pub holds: bool,
    /// In the order of [`DOMAINS`].
    pub outcomes: Vec<[(bool, Duration); 2]>,
}

/// All programs.
pub struct Table(pub Vec<Row>);

const RECURSION: usize = 2;
const MAX_EDGES: usize = 200_000;

fn syntactic(task: &Task, domain: &str, budget: &Budget) -> bool {
    let Some(domain) = Domain::named(domain) else { return false };
    fixed_point(task, &domain, DELAY, budget).is_ok_and(|f| f.open.is_empty())
}

fn by_symbols(task: &Task, domain: &str, budget: &Budget) -> bool {
    let Some(domain) = Domain::named(domain) else { return false };
    let top = Dynamic::top(&(domain.context)(budget));
    symbolic::invariants(task, &top, budget).is_ok_and(|f| f.proved)
}

/// Measures one preprocessed program, of which it is known whether its property holds; `None` if it cannot be made a
/// task.
pub fn measure(name: &str, holds: bool, text: String, data_model: DataModel, limit: Duration) -> Option<Row> {
    let program = Arc::new(crate::program(name, text, data_model)?);
    let task = palisade_reduce::task(&program, RECURSION, MAX_EDGES).ok()?;
    let outcomes = DOMAINS
        .iter()
        .map(|d| {
            [
                within(limit, |budget| syntactic(&task, d, budget)),
                within(limit, |budget| by_symbols(&task, d, budget)),
            ]
        })
        .collect();
    Some(Row { name: name.into(), holds, outcomes })
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hold = self.0.iter().filter(|r| r.holds).count();
        let (total, not) = (self.0.len(), self.0.len() - hold);
        writeln!(f, "programs proved by forward iteration, of {total}: {hold} hold, {not} do not")?;
        writeln!(
            f,
            "{:<10} {:>9} {:>8} {:>14} {:>13} {:>5} {:>11} {:>11}",
            "domain",
            "syntactic",
            "symbolic",
            "only syntactic",
            "only symbolic",
            "wrong",
            "syntactic s",
            "symbolic s"
        )?;
        for (i, d) in DOMAINS.iter().enumerate() {
            let proved = |r: &Row| (r.outcomes[i][0].0, r.outcomes[i][1].0);
            let count = |of: &dyn Fn(&Row, bool, bool) -> bool| {
                self.0.iter().filter(|r| of(r, proved(r).0, proved(r).1)).count()
            };
            let seconds = |k: usize| self.0.iter().map(|r| r.outcomes[i][k].1.as_secs_f64()).sum::<f64>();
            writeln!(
                f,
                "{d:<10} {:>9} {:>8} {:>14} {:>13} {:>5} {:>11.1} {:>11.1}",
                count(&|_, a, _| a),
                count(&|_, _, b| b),
                count(&|_, a, b| a && !b),
                count(&|_, a, b| b && !a),
                count(&|r, a, b| !r.holds && (a || b)),
                seconds(0),
                seconds(1)
            )?;
            for r in &self.0 {
                match proved(r) {
                    (true, _) | (_, true) if !r.holds => writeln!(f, "  wrong: {}", r.name)?,
                    (true, false) => writeln!(f, "  only syntactic: {}", r.name)?,
                    (false, true) => writeln!(f, "  only symbolic: {}", r.name)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
