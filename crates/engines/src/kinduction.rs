//! k-induction over passes through loop heads, helped by invariants of the numeric domains.
//!
//! If no error is reached in the first `k + 1` segments from the start, and none in the segment
//! that follows `k` error-free ones from any state of the invariants, then none is ever reached.

use crate::numeric::{DELAY, fixed_point};
use crate::{Certificate, Engine, Outcome};
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_domains::Domain;
use palisade_encode::segment;
use palisade_encode::{Encoder, State};
use palisade_evidence::Invariants;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Terms};
use palisade_task::Task;
use std::collections::BTreeMap;
use std::fmt;

/// The engine `kinduction`.
pub struct KInduction;

/// Beyond this many passes induction is not worth trying.
const MAX_K: u32 = 40;

impl Engine for KInduction {
    fn name(&self) -> &str {
        "kinduction"
    }

    fn run(&self, task: &Task, budget: &Budget, progress: &dyn Fn(fmt::Arguments<'_>)) -> Outcome {
        progress(format_args!("invariants"));
        let invariants = match fixed_point(task, &Domain::interval(), DELAY, budget) {
            Ok(found) => found.invariants,
            Err(_) => Invariants::none(&task.program),
        };
        let extended = task.with_program(invariants.extend(&task.program));
        match induction(&extended, &invariants, budget, progress) {
            Ok(Some(k)) => Outcome::Proof(Certificate::KInduction { k, invariants }),
            Ok(None) => Outcome::Unknown("not inductive".into()),
            Err(stop) => Outcome::Unknown(stop.to_string()),
        }
    }
}

/// States at loop heads after the same number of segments.
type Layer = BTreeMap<LocId, State>;

struct Prover<'t> {
    task: &'t Task,
    graph: Graph,
    terms: Terms,
    encoder: Encoder<'t>,
    solver: BvSolver,
    budget: &'t Budget,
}

fn induction(
    task: &Task,
    invariants: &Invariants,
    budget: &Budget,
    progress: &dyn Fn(fmt::Arguments<'_>),
) -> Result<Option<u32>, Stop> {
    let mut terms = Terms::new();
    let encoder = Encoder::new(&task.program, &mut terms);
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    let mut prover = Prover { task, graph: task.program.analyse(), terms, encoder, solver, budget };

    let start = prover.encoder.initial_state(&mut prover.terms);
    let mut base: Layer = [(task.body().entry, start)].into();
    let mut steps: Vec<Layer> = Vec::new();
    for head in prover.graph.loop_heads(task.program.entry).collect::<Vec<_>>() {
        let mut state = prover.encoder.arbitrary_state(&mut prover.terms);
        let mut possible = true;
        for &(_, fact) in invariants.at.iter().filter(|(l, _)| *l == head) {
            let fact = prover.encoder.cond(&mut prover.terms, &state, fact);
            possible &= state.assume(&prover.terms, fact);
        }
        if possible {
            steps.push([(head, state)].into());
        }
    }
    for k in 0..=MAX_K {
        progress(format_args!("k = {k}"));
        let (next, safe) = prover.advance(base)?;
        if safe != Some(true) {
            return Ok(None);
        }
        base = next;
        let mut inductive = true;
        for layer in &mut steps {
            let (next, safe) = prover.advance(std::mem::take(layer))?;
            *layer = next;
            inductive &= safe == Some(true);
        }
        if inductive {
            return Ok(Some(k));
        }
    }
    Ok(None)
}

impl Prover<'_> {
    /// Takes every state of a layer over one segment. Tells the next layer and whether all errors
    /// of this segment are impossible; `None` if the solver gave up.
    fn advance(&mut self, layer: Layer) -> Result<(Layer, Option<bool>), Stop> {
        let mut next = Layer::new();
        let mut errors = Vec::new();
        for (start, state) in layer {
            let ends = segment::run(
                self.task,
                &self.graph,
                &mut self.encoder,
                &mut self.terms,
                start,
                state,
                self.budget,
            )?;
            for end in ends {
                if !self.graph.is_loop_head(end.loc) {
                    errors.push(end.state.guard(&mut self.terms));
                    continue;
                }
                let merged = match next.remove(&end.loc) {
                    Some(known) => State::merge(&mut self.terms, &known, &end.state),
                    None => end.state,
                };
                next.insert(end.loc, merged);
            }
        }
        let any = self.terms.or_all(errors);
        let safe = match self.terms.bool_value(any) {
            Some(reached) => Some(!reached),
            None => match self.solver.check(&mut self.terms, &[any]) {
                Answer::Unsat => Some(true),
                Answer::Sat => Some(false),
                Answer::Unknown(_) => {
                    self.budget.check()?;
                    None
                }
            },
        };
        Ok((next, safe))
    }
}
