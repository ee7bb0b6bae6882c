//! Bounded model checking: unroll, ask the solver, unroll further.
//!
//! When every pass beyond the bound is infeasible the unrolling is complete, and a program none of
//! whose errors is reachable in it is proved.

use crate::board::Board;
use crate::path::read_unknowns;
use crate::unroll::Unrolling;
use crate::{Certificate, Engine, Outcome, Progress};
use palisade_base::Budget;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Term, Terms};
use palisade_task::Task;

/// The engine `bmc`.
pub struct Bmc;

impl Engine for Bmc {
    fn name(&self) -> &str {
        "bmc"
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        let mut terms = Terms::new();
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
        let mut unrolling = Unrolling::new(task, &mut terms);
        let mut bound = 1;
        let mut cut = false;
        loop {
            progress(format_args!("bound {bound}"));
            if let Err(stop) = unrolling.run(&mut terms, bound, budget) {
                return Outcome::Unknown(stop.to_string());
            }
            let reached = unrolling.take_errors();
            let (cuts, errors): (Vec<_>, Vec<_>) =
                reached.into_iter().partition(|r| task.error_at(r.loc).is_none());
            let any = terms.or_all(errors.iter().map(|e| e.guard));
            // What the errors say about the inputs simplifies the rest.
            solver.push();
            solver.assert(&mut terms, any);
            match solver.check(&mut terms, &[]) {
                Answer::Sat => {
                    return match solver.model(&mut terms) {
                        Some(model) => Outcome::Bug(read_unknowns(task, &terms, &unrolling.encoder, &model)),
                        None => Outcome::Unknown("the solver gave no model".into()),
                    };
                }
                Answer::Unsat => solver.pop(),
                Answer::Unknown(why) => return Outcome::Unknown(why.to_string()),
            }
            for reached in cuts {
                cut |= !check(&mut terms, &mut solver, reached.guard).is_unsat();
            }
            if !cut {
                // The first segment ends where the first pass begins, and passes count from 0.
                board.exclude_segments(self.name(), bound + 2);
            }
            let deferred = unrolling.deferred(&mut terms);
            let keep: Vec<bool> =
                deferred.iter().map(|&guard| !check(&mut terms, &mut solver, guard).is_unsat()).collect();
            if let Err(stop) = budget.check() {
                return Outcome::Unknown(stop.to_string());
            }
            if !keep.contains(&true) {
                return if cut {
                    Outcome::Unknown("a call that is not followed is reached".into())
                } else {
                    Outcome::Proof(Certificate::Unrolling { bounds: unrolling.bounds() })
                };
            }
            unrolling.resume(&keep);
            bound += bound.div_ceil(2);
        }
    }
}

fn check(terms: &mut Terms, solver: &mut BvSolver, goal: Term) -> Answer {
    match terms.bool_value(goal) {
        Some(false) => Answer::Unsat,
        _ => solver.ask(terms, goal, &[]).0,
    }
}
