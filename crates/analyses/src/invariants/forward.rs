//! Forward iteration (section 6.1): from the start, with joins and widening until nothing changes,
//! then with narrowing.

use crate::location::{Calls, Location, Position};
use crate::numeric::{Numeric, NumericMerge};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_domains::{DynamicCtx, LinCons, Thresholds};
use palisade_task::Task;
use std::collections::BTreeMap;

/// Joins at a loop head before it is widened.
const DELAY: u32 = 2;
/// Decreasing iterations at most.
const NARROWING: usize = 3;

/// What forward iteration found out.
#[derive(Clone, Debug)]
pub struct Forward {
    /// For each reachable location a disjunction of conjunctions of linear constraints; dimension
    /// names are those of [`Forward::text`].
    pub constraints: BTreeMap<LocId, Vec<Vec<LinCons>>>,
    /// The same for people.
    pub text: BTreeMap<LocId, String>,
    /// Whether no error location is reached.
    pub proved: bool,
}

/// Runs the numeric analysis over a domain to its fixed point.
pub fn invariants(task: &Task, context: DynamicCtx, budget: &Budget) -> Result<Forward, Halt> {
    let program = &task.program;
    let graph = program.analyse();
    let mut errors: Vec<LocId> = task.errors.iter().map(|e| e.loc).collect();
    errors.extend(&task.cuts);
    let location = Location::new(program, Calls::Follow, &errors);
    let merge = NumericMerge::Widening { delay: DELAY, thresholds: Thresholds::none() };
    let numeric = Numeric::new(program, &graph, context, merge);
    let initial = (location.initial(), numeric.initial());
    let order = order::weak_topological(program, &graph);
    let mut run = Exploration::new(Product::new(location, numeric).direct(), initial, ((), ()), order);
    if let Status::Stopped(halt) = run.run(budget, Limits::NONE) {
        return Err(halt);
    }
    run.narrow(budget, NARROWING)?;
    let numeric = &run.cpa().right;
    let mut found = Forward { constraints: BTreeMap::new(), text: BTreeMap::new(), proved: true };
    for (_, (position, element)) in run.reached().iter() {
        let Position::At(loc) = *position else { continue };
        found.proved &= !errors.contains(&loc);
        found.constraints.insert(loc, numeric.constraints(element));
        found.text.insert(loc, numeric.describe(element));
    }
    Ok(found)
}
