//! The fixed point of a task over locations and a numeric domain, by syntax-directed transformers: upward with
//! widening at loop heads, then downward.

use crate::live::Liveness;
use crate::location::{Calls, Location};
use crate::numeric::{Numeric, NumericMerge};
use crate::thresholds::thresholds;
use palisade_base::Budget;
use palisade_cfa::LocId;
use palisade_cpa::{Exploration, Halt, Limits, Product, ProductMerge, Status, order};
use palisade_domains::DynamicCtx;
use palisade_task::Task;

/// Rounds of narrowing.
const NARROWINGS: usize = 3;

/// Iterates to the fixed point; widening starts after `delay` joins at a head. Error locations and cuts are targets.
pub fn iterate<'t>(
    task: &'t Task,
    context: DynamicCtx,
    delay: u32,
    budget: &Budget,
) -> Result<Exploration<Product<Location<'t>, Numeric<'t>>>, Halt> {
    let program = &task.program;
    let graph = program.analyse();
    let merge = NumericMerge::Widening { delay, thresholds: thresholds(program, None) };
    let errors: Vec<LocId> = task.errors.iter().map(|e| e.loc).chain(task.cuts.iter().copied()).collect();
    let location = Location::new(program, Calls::StepOver, &errors);
    let numeric = Numeric::new(program, &graph, context, merge)
        .stopping_where_variables_meet()
        .forgetting(Liveness::of(program, budget)?);
    let initial = (location.initial(), numeric.initial());
    let product = Product::new(location, numeric).merging(ProductMerge::Agree);
    let mut run = Exploration::new(product, initial, ((), ()), order::weak_topological(program, &graph));
    // Without a limit no target ends the run.
    if let Status::Stopped(halt) = run.run(budget, Limits::NONE) {
        return Err(halt);
    }
    // A narrowing that is cut short leaves a sound result.
    let _ = run.narrow(budget, NARROWINGS);
    Ok(run)
}
