//! Makes a counterexample of a path: the solver finds values for everything the program leaves
//! open along it.

use crate::{Chosen, Counterexample};
use palisade_base::Budget;
use palisade_cfa::EdgeId;
use palisade_encode::Encoder;
use palisade_logic::{Answer, BvSolver, Evaluator, Limits, Model, Solver, Terms, Value};
use palisade_reduce::Task;

/// Solves the path of a task's edges from the entry on.
pub fn solve_path(task: &Task, path: &[EdgeId], budget: &Budget) -> Result<Counterexample, String> {
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let mut state = encoder.initial_state(&mut terms);
    for &edge in path {
        budget.check().map_err(|stop| stop.to_string())?;
        state = encoder.step(&mut terms, &state, edge).ok_or("the path is infeasible")?;
    }
    let guard = state.guard(&mut terms);
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    match solver.check(&mut terms, &[guard]) {
        Answer::Sat => {}
        Answer::Unsat => return Err("the path is infeasible".into()),
        Answer::Unknown(why) => return Err(why.to_string()),
    }
    let model = solver.model(&mut terms).ok_or("the solver gave no model")?;
    Ok(read_unknowns(task, &terms, &encoder, &model))
}

/// The values of all unknowns that a model's run meets.
pub fn read_unknowns(task: &Task, terms: &Terms, encoder: &Encoder<'_>, model: &Model) -> Counterexample {
    let mut unknowns = Vec::new();
    let mut evaluator = Evaluator::new(model);
    for unknown in &encoder.unknowns {
        if !evaluator.truth(terms, unknown.guard) {
            continue;
        }
        if let Value::BitVec(value) = evaluator.value(terms, unknown.term) {
            unknowns.push(Chosen {
                edge: task.origin.edges[unknown.edge],
                bits: value.to_u128().unwrap_or(0),
                input: unknown.input,
            });
        }
    }
    Counterexample { unknowns }
}
