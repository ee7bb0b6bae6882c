//! Makes a counterexample of a path: the solver finds values for everything the program leaves
//! open along it.

use crate::{Chosen, Counterexample, Outcome};
use palisade_analyses::predicate::steps::Steps;
use palisade_base::Budget;
use palisade_cfa::{EdgeId, Scalar};
use palisade_cpa::Step;
use palisade_encode::regions::CellKind;
use palisade_encode::{Contents, Encoder};
use palisade_logic::{Answer, BvSolver, Evaluator, Limits, Model, Solver, Terms, Value};
use palisade_task::Task;

/// Solves the path of a task's edges from the entry on; there is nothing if no run takes it.
pub fn solve_path(task: &Task, path: &[EdgeId], budget: &Budget) -> Result<Option<Counterexample>, String> {
    let path: Vec<Step> = path.iter().copied().map(Step::local).collect();
    solve(task, &Steps::of_edges(&task.program, budget), &path)
}

/// What a path of edges or blocks to an error or cut settles, if a run takes it.
pub fn outcome_of(task: &Task, path: &[Step], budget: &Budget) -> Outcome {
    let graph = task.program.analyse();
    let steps = Steps::of_blocks(task, &graph, budget);
    let end = path.last().map_or(task.body().entry, |last| steps.end(last));
    if task.error_at(end).is_none() {
        return Outcome::Unknown("a call that is not followed is reached".into());
    }
    match solve(task, &steps, path) {
        Ok(Some(found)) => Outcome::Bug(found),
        Ok(None) => Outcome::Unknown("the path is infeasible".into()),
        Err(why) => Outcome::Unknown(why),
    }
}

fn solve(task: &Task, steps: &Steps<'_>, path: &[Step]) -> Result<Option<Counterexample>, String> {
    let budget = steps.budget();
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let mut state = encoder.initial_state(&mut terms);
    for step in path {
        budget.check().map_err(|stop| stop.to_string())?;
        match steps.after(&mut encoder, &mut terms, &state, step).map_err(|stop| stop.to_string())? {
            Some(next) => state = next,
            None => return Ok(None),
        }
    }
    let guard = state.guard(&mut terms);
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    match solver.check(&mut terms, &[guard]) {
        Answer::Sat => {}
        Answer::Unsat => return Ok(None),
        Answer::Unknown(why) => return Err(why.to_string()),
    }
    let model = solver.model(&mut terms).ok_or("the solver gave no model")?;
    Ok(Some(read_unknowns(task, &terms, &encoder, &model)))
}

/// The values of all unknowns that a model's run meets.
pub fn read_unknowns(task: &Task, terms: &Terms, encoder: &Encoder<'_>, model: &Model) -> Counterexample {
    let mut unknowns = Vec::new();
    let mut contents: Vec<(EdgeId, Vec<u8>)> = Vec::new();
    let mut evaluator: Evaluator<'_, Model> = Evaluator::new(model);
    for unknown in &encoder.unknowns {
        if !evaluator.truth(terms, unknown.guard) {
            continue;
        }
        let Value::BitVec(value) = evaluator.value(terms, unknown.term) else { continue };
        let bits = value.to_u128().unwrap_or(0);
        let edge = task.origin.edges[unknown.edge];
        match unknown.entered.and_then(|var| Some((var, task.origin.pieces.get(&var)?.1))) {
            None => unknowns.push(Chosen { edge, bits, input: unknown.input, times: 1 }),
            Some((var, offset)) => {
                // Members of an object come to life one after the other, by ascending offsets.
                let pointer = task.program.scalar_of(task.program.vars[var].ty) == Some(Scalar::Ptr);
                let kind = if pointer {
                    CellKind::Ptr
                } else {
                    CellKind::Bits(u64::from(value.width()).div_ceil(8))
                };
                match contents.last_mut() {
                    Some((e, bytes)) if *e == edge && bytes.len() as u64 <= offset => {
                        put(bytes, encoder, kind, offset, bits);
                    }
                    _ => {
                        let mut bytes = Vec::new();
                        put(&mut bytes, encoder, kind, offset, bits);
                        contents.push((edge, bytes));
                    }
                }
            }
        }
    }
    for made in &encoder.contents {
        if evaluator.truth(terms, made.guard) {
            contents.push((task.origin.edges[made.edge], bytes(terms, encoder, &mut evaluator, made)));
        }
    }
    Counterexample { unknowns, contents }
}

/// An object is not filled beyond this many bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Writes a cell into the bytes of an object.
fn put(bytes: &mut Vec<u8>, encoder: &Encoder<'_>, kind: CellKind, offset: u64, bits: u128) {
    let off_bits = encoder.layout().off_bits;
    let (size, bits) = match kind {
        CellKind::Bits(n) => (n, bits),
        CellKind::Byte => (1, bits),
        // A pointer becomes an address of nothing, null only if it was null.
        CellKind::Ptr => {
            let (object, offset) = (bits >> off_bits, bits & ((1 << off_bits) - 1));
            let address = if object == 0 { offset } else { object << 12 | offset & 0xfff };
            (u64::from(off_bits / 8), address)
        }
    };
    let end = offset.saturating_add(size);
    if end <= MAX_BYTES {
        bytes.resize(bytes.len().max(end as usize), 0);
        bytes[offset as usize..end as usize].copy_from_slice(&bits.to_le_bytes()[..size as usize]);
    }
}

/// The bytes of a new object that a model speaks about.
fn bytes(
    terms: &Terms,
    encoder: &Encoder<'_>,
    evaluator: &mut Evaluator<'_, Model>,
    new: &Contents,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let number = |value: &Value| match value {
        Value::BitVec(v) => v.to_u128().unwrap_or(0),
        _ => 0,
    };
    let object = number(&evaluator.value(terms, new.object));
    let size = (number(&evaluator.value(terms, new.start)) as u64)
        .saturating_add(number(&evaluator.value(terms, new.size)) as u64);
    let off_bits = encoder.layout().off_bits;
    let mask = (1 << off_bits) - 1;
    for &(region, term) in &new.regions {
        let region = &encoder.regions().regions[region];
        let mut cell = |offset: u64, bits: u128| put(&mut bytes, encoder, region.kind, offset, bits);
        match evaluator.value(terms, term) {
            Value::Array(array) => {
                let default = array.default_element().to_u128().unwrap_or(0);
                if default != 0 {
                    let stride = encoder.regions().points_to.stride(region.at.node).max(1);
                    for start in (0..size.min(MAX_BYTES)).step_by(stride as usize) {
                        for first in region.at.off..region.end {
                            cell(start.saturating_add_signed(first), default);
                        }
                    }
                }
                for (index, value) in array.entries() {
                    let index = index.to_u128().unwrap_or(0);
                    if region.one_object || index >> off_bits == object {
                        cell((index & mask) as u64, value.to_u128().unwrap_or(0));
                    }
                }
            }
            value => cell(u64::try_from(region.at.off).unwrap_or(u64::MAX), number(&value)),
        }
    }
    let start = number(&evaluator.value(terms, new.start)) as usize;
    bytes.drain(..start.min(bytes.len()));
    bytes
}
