//! Facts of a certificate are looked at in a few runs before they are believed.
//!
//! This needs neither an encoder nor a solver: the reference interpreter runs the whole task, and
//! whenever it is where a fact is said to hold, the fact is evaluated.

use crate::Rejection;
use crate::plain::carry::Carried;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_evidence::{Certificate, Invariants};
use palisade_interp::{Config, Discard, Interp, Outcome, Random, State};
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};

/// How many runs are looked at.
const RUNS: u64 = 4;
/// Steps of a run that are looked at.
const STEPS: u64 = 10_000;

/// Evaluates what a certificate about a task says, in a few runs of the whole task.
pub fn check(task: &Task, certificate: &Certificate, budget: &Budget) -> Result<(), Rejection> {
    let invariants = match certificate {
        Certificate::Invariants(invariants) | Certificate::KInduction { invariants, .. } => invariants,
        _ => return Ok(()),
    };
    // A task too large to be made again is not looked at.
    let Ok(carried) = Carried::new(task, Some(invariants)) else { return Ok(()) };
    let facts = comparable(task, &carried, invariants);
    let program = &carried.task.program;
    let config = Config {
        step_limit: STEPS,
        memory_limit: 64 << 20,
        budget: Some(budget.clone()),
        ..Config::default()
    };
    let mut interp = Interp::new(program, config);
    for seed in 0..RUNS {
        let mut wrong = None;
        let mut watch = |edge: EdgeId, state: &State<'_>| {
            let at = program.edges[edge].src;
            for &fact in facts.get(&at).map_or(&[][..], Vec::as_slice) {
                if matches!(state.eval(fact), Ok(value) if value.bits != 1) {
                    wrong = Some(format!("a fact is false at {at} in a run"));
                }
            }
            if carried.task.error_at(program.edges[edge].dst).is_some() {
                wrong = Some("a run reaches an error".into());
            }
            wrong.is_none()
        };
        let run = interp.run_observed(&mut Random::with_unknowns(seed), &mut Discard, &mut watch);
        if let Some(wrong) = wrong {
            return Err(Rejection::Wrong(wrong));
        }
        if let Outcome::Stopped(stop) = run.outcome {
            return Err(Rejection::GaveUp(stop.to_string()));
        }
    }
    Ok(())
}

/// Facts by location of the whole task, of which the variables have the same values in both tasks:
/// reductions keep all that happens to a variable that some operation still reads.
fn comparable(task: &Task, carried: &Carried, invariants: &Invariants) -> FxHashMap<LocId, Vec<ExprId>> {
    let mut read: FxHashSet<VarId> = FxHashSet::default();
    for edge in &task.program.edges {
        task.program.visit_op(&edge.op, &mut |used| {
            if let Use::Read(x) = used
                && let Base::Var(v) = task.program.places[x].base
            {
                read.insert(v);
            }
        });
    }
    let p = &carried.task.program;
    let whole = carried.task.source.vars.len();
    let mut facts: FxHashMap<LocId, Vec<ExprId>> = FxHashMap::default();
    for &(loc, fact) in &invariants.at {
        let mut same = true;
        p.visit_op(&Op::Assume { cond: fact }, &mut |used| match used {
            Use::Read(x) | Use::Address(x) => match p.places[x].base {
                Base::Var(v) => same &= read.contains(&v) && (v.0 as usize) < whole,
                Base::Deref(_) => same = false,
            },
            _ => {}
        });
        if let (true, Some(loc)) = (same, carried.loc(loc)) {
            facts.entry(loc).or_default().push(fact);
        }
    }
    facts
}
