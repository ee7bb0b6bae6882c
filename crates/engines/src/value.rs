//! Explicit values: the engine `value` explores the states of all integer variables, never
//! joining, which settles programs that are state machines.
//!
//! Variables that are dead at a loop head are forgotten there, so that states that differ in them
//! only are one. An error that is reached is made a counterexample by solving its path.

use crate::board::Board;
use crate::path::solve_path;
use crate::{Certificate, Engine, Format, Outcome, Progress};
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::live::Liveness;
use palisade_analyses::location::{Calls, Location, Position};
use palisade_base::{Budget, SourceMap};
use palisade_cfa::*;
use palisade_cpa::{Constant, Exploration, Limits, Order, Product, Status, export};
use palisade_evidence::{Bounds, Cover};
use palisade_task::Task;

/// The engine `value`.
pub struct ExplicitValues;

/// At most this many abstract states are explored.
const MAX_STATES: usize = 6_000_000;
/// At most this many states at loop heads make a certificate.
const MAX_COVER: usize = 200_000;
/// After so many paths to errors that no run takes, values are too little.
const MAX_SPURIOUS: usize = 64;

impl Engine for ExplicitValues {
    fn name(&self) -> &str {
        "value"
    }

    fn run(&self, task: &Task, _: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        match explore(task, budget, progress) {
            Ok(outcome) => outcome,
            Err(why) => Outcome::Unknown(why),
        }
    }

    fn graph(
        &self,
        task: &Task,
        format: Format,
        sources: &SourceMap,
        budget: &Budget,
    ) -> Option<Result<String, String>> {
        let graph = forget_dead(task, budget).map(|(program, _)| {
            let mut run = exploration(task, &program);
            // A run that was stopped shows how far it came.
            let _ = run.run(budget, LIMITS);
            export::write(&program, &run, format, sources)
        });
        Some(graph)
    }
}

/// Until the fixed point, the first error or too many states.
const LIMITS: Limits = Limits { first_target: true, states: MAX_STATES };

/// Locations and explicit values of a program made by [`forget_dead`], from its start.
fn exploration<'p>(task: &Task, program: &'p Program) -> Exploration<Product<Location<'p>, Explicit<'p>>> {
    let mut targets: Vec<LocId> = task.errors.iter().map(|e| e.loc).collect();
    targets.extend(&task.cuts);
    let location = Location::new(program, Calls::StepOver, &targets);
    let mut explicit = Explicit::separate(program);
    let initial = (location.initial(), explicit.initial());
    let product = Product::new(location, explicit);
    Exploration::new(product, initial, ((), Tracked::all()), Order::BreadthFirst)
}

fn explore(task: &Task, budget: &Budget, progress: &Progress<'_>) -> Result<Outcome, String> {
    let entry = task.body().entry;
    progress(format_args!("live variables"));
    let (program, origin) = forget_dead(task, budget)?;
    let mut run = exploration(task, &program);
    progress(format_args!("exploring"));
    // Errors that are reached on values alone, as if nothing else counted.
    let mut spurious = 0;
    loop {
        let path: Vec<EdgeId> = match run.run(budget, LIMITS) {
            Status::Stopped(why) => return Err(why.to_string()),
            Status::Complete if spurious > 0 => {
                return Err(format!("{spurious} errors that values do not exclude"));
            }
            Status::Complete => return cover(task, &run).map(|c| Outcome::Proof(Certificate::Cover(c))),
            Status::TargetReached(node) => {
                let path = run.reached().path_to(node);
                path.iter().filter_map(|(step, _)| origin[step.edge.0 as usize]).collect()
            }
        };
        let end = path.last().map_or(entry, |&edge| task.program.edges[edge].dst);
        if task.error_at(end).is_none() {
            return Err("a call that is not followed is reached".into());
        }
        progress(format_args!("solving the path to an error"));
        match solve_path(task, &path, budget)? {
            Some(found) => return Ok(Outcome::Bug(found)),
            None if spurious == MAX_SPURIOUS => {
                return Err(format!("more than {spurious} errors that values do not exclude"));
            }
            None => spurious += 1,
        }
    }
}

/// The states at the task's loop heads, not at those of the longer loops that were made of them.
fn cover(task: &Task, run: &Exploration<Product<Location<'_>, Explicit<'_>>>) -> Result<Cover, String> {
    let program = &task.program;
    let graph = program.analyse();
    let registers: Vec<VarId> =
        program.vars.ids().filter(|v| program.integer_register(*v).is_some()).collect();
    let mut cover = Cover::default();
    for (_, (position, values)) in run.reached().iter() {
        let Position::At(loc) = *position else { continue };
        if loc.0 as usize >= program.locs.len() || !graph.is_loop_head(loc) {
            continue;
        }
        let known = |&v: &VarId| match run.cpa().right.value_of(values, v) {
            Some(Constant::Bits(bits)) => Some((v, Bounds::only(bits))),
            _ => None,
        };
        cover.states.push((loc, registers.iter().filter_map(known).collect()));
        if cover.states.len() > MAX_COVER {
            return Err("more states than a certificate may have".into());
        }
    }
    Ok(cover)
}

/// The task's program with every register made arbitrary on the way into a loop head at which it
/// is dead. Locations of the task keep their numbers. Also gives the task's edge for each edge;
/// `None` for the added ones.
fn forget_dead(task: &Task, budget: &Budget) -> Result<(Program, Vec<Option<EdgeId>>), String> {
    let live = Liveness::of(&task.program, budget).map_err(|halt| halt.to_string())?;
    let graph = task.program.analyse();
    let mut program = task.program.clone();
    let mut origin: Vec<Option<EdgeId>> = program.edges.ids().map(Some).collect();
    let assigned = assigned_registers(&program);
    for head in graph.loop_heads(task.program.entry) {
        let dead: Vec<VarId> = assigned.iter().copied().filter(|&v| !live.is_live(head, v)).collect();
        if dead.is_empty() {
            continue;
        }
        // All ways into the head lead through the new chain.
        let span = program.locs[head].span;
        let first = program.add_loc(program.entry, span);
        let incoming = std::mem::take(&mut program.locs[head].inc);
        for &edge in &incoming {
            program.edges[edge].dst = first;
        }
        program.locs[first].inc = incoming;
        let mut at = first;
        for (i, &var) in dead.iter().enumerate() {
            let next = if i + 1 == dead.len() { head } else { program.add_loc(program.entry, span) };
            program.add_edge(at, Op::Enter { var }, next, span);
            origin.push(None);
            at = next;
        }
        if head == program.body(program.entry).entry
            && let Some(body) = &mut program.funcs[task.program.entry].body
        {
            body.entry = first;
        }
    }
    Ok((program, origin))
}

/// Registers that some operation writes.
fn assigned_registers(program: &Program) -> Vec<VarId> {
    let mut vars = Vec::new();
    for edge in &program.edges {
        program.visit_op(&edge.op, &mut |used| {
            if let Use::Write(place) = used
                && let Base::Var(var) = program.places[place].base
                && program.register(var).is_some()
            {
                vars.push(var);
            }
        });
    }
    vars.sort_unstable();
    vars.dedup();
    vars
}
