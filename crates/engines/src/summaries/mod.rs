//! Function by function, by contracts: what holds of the arguments and the result of every call.
//!
//! Clauses that hold in all observed calls are guessed ([`guess`], [`calls`]). Then those that
//! do not follow from the others are dropped, one after the other, until all that are left
//! support one another: the programs that [`palisade_task::contracts`] weaves of them have no way
//! to violate one. If they also have no error, they have no recursion either, so that the other engines
//! can prove them.

mod calls;
mod guess;

use crate::bmc::Bmc;
use crate::board::Board;
use crate::houdini::Houdini;
use crate::kinduction::KInduction;
use crate::unroll::Unrolling;
use crate::{Certificate, Engine, Outcome, Progress};
use calls::Calls;
use guess::Level;
use palisade_base::Budget;
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::{EdgeId, Program};
use palisade_evidence::Contracts;
use palisade_logic::{Answer, BvSolver, Evaluator, Limits, Solver, Terms};
use palisade_task::Task;
use palisade_task::contracts::{self, Claim, Clause, Contract, Value, Weaving, Woven};
use rustc_hash::{FxHashMap, FxHashSet};

/// The engine `summaries`.
pub struct Summaries;

/// Passes through loops that are followed to refute clauses.
const PASSES: u32 = 2;

impl Engine for Summaries {
    fn name(&self) -> &str {
        "summaries"
    }

    fn looks_at_source(&self) -> bool {
        true
    }

    /// Where calls multiply, there is little else to hope for.
    fn suits(&self, task: &Task) -> bool {
        contracts::candidates(&task.source).is_ok()
    }

    fn comes_first(&self, program: &Program) -> bool {
        contracts::leave_no_copies(program)
    }

    fn run(&self, task: &Task, _: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        match search(task, budget, progress) {
            Ok(certificate) => Outcome::Proof(certificate),
            Err(why) => Outcome::Unknown(why),
        }
    }
}

/// Tries few clauses first, then more.
fn search(task: &Task, budget: &Budget, progress: &Progress<'_>) -> Result<Certificate, String> {
    let funcs = contracts::candidates(&task.source)?;
    progress(format_args!("observing calls"));
    let calls = Calls::observe(&task.source, &funcs, budget);
    let mut reason = String::new();
    for level in Level::ALL {
        let mut guessed: Vec<Contract> =
            funcs.iter().map(|&f| guess::contract(&task.source, f, &calls, level)).collect();
        borrow(&task.source, &mut guessed, &calls);
        let contracts = supported(task, guessed, budget, progress)?;
        match prove(task, &contracts, level == Level::All, budget, progress) {
            Ok(proofs) => {
                return Ok(Certificate::Contracts(Contracts { contracts, forgetful: false, proofs }));
            }
            Err(why) => reason = why,
        }
        budget.check().map_err(|stop| stop.to_string())?;
    }
    Err(reason)
}

/// A function may do what the functions that it calls do: what is believed of their results is believed of its
/// own, unless it was observed to be otherwise.
fn borrow(program: &Program, contracts: &mut [Contract], calls: &Calls) {
    let graph = CallGraph::new(program);
    let mut order: Vec<usize> = (0..contracts.len()).collect();
    order.sort_by_key(|&i| graph.scc[contracts[i].func]);
    for i in order {
        let func = contracts[i].func;
        let returned: Vec<_> = calls.returned.get(&func).into_iter().flatten().collect();
        let called = |c: &&Contract| c.func != func && graph.callees[func].contains(&c.func);
        let about_result = |c: &&Clause| {
            c.given.is_empty()
                && c.then.terms.iter().all(|term| term.value == Value::Result)
                // The result is the last of a call, whatever the number of parameters.
                && returned.iter().all(|call| guess::holds(&c.then, call))
        };
        let others = contracts.iter().filter(called).flat_map(|c| c.ensures.iter().filter(about_result));
        let mut others: Vec<Clause> = others.cloned().collect();
        others.retain(|c| !contracts[i].ensures.contains(c));
        contracts[i].ensures.extend(others);
    }
}

/// Drops clauses until those that are left support one another, as far as loops are followed.
fn supported(
    task: &Task,
    mut contracts: Vec<Contract>,
    budget: &Budget,
    progress: &Progress<'_>,
) -> Result<Vec<Contract>, String> {
    loop {
        let clauses: usize = contracts.iter().map(|c| c.requires.len() + c.ensures.len()).sum();
        progress(format_args!("{clauses} clauses"));
        let broken = broken(task, &contracts, budget)?;
        if broken.is_empty() {
            return Ok(contracts);
        }
        for (contract, c) in contracts.iter_mut().enumerate() {
            for (ensures, clauses) in [(false, &mut c.requires), (true, &mut c.ensures)] {
                let mut clause = 0..;
                clauses.retain(|_| {
                    clause.next().is_none_or(|clause| !broken.contains(&Claim { contract, ensures, clause }))
                });
            }
        }
    }
}

/// Clauses that the others do not support.
fn broken(task: &Task, contracts: &[Contract], budget: &Budget) -> Result<FxHashSet<Claim>, String> {
    let weaving = Weaving::new(&task.source, contracts, false)?;
    let mut broken = FxHashSet::default();
    for function in [None].into_iter().chain((0..contracts.len()).map(Some)) {
        let Woven { program, claims } = weaving.program_of(function);
        let claims: FxHashMap<_, _> = claims.into_iter().collect();
        let woven = palisade_reduce::woven_task(program).map_err(|error| error.to_string())?;
        refute(&woven, &claims, &mut broken, budget)?;
    }
    Ok(broken)
}

/// Adds the claims that a woven program violates.
fn refute(
    woven: &Task,
    claims: &FxHashMap<EdgeId, Claim>,
    broken: &mut FxHashSet<Claim>,
    budget: &Budget,
) -> Result<(), String> {
    let mut terms = Terms::new();
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    let mut unrolling = Unrolling::new(woven, &mut terms);
    unrolling.run(&mut terms, PASSES, budget).map_err(|stop| stop.to_string())?;
    let mut open: Vec<_> = unrolling
        .take_errors()
        .into_iter()
        .filter_map(|r| Some((*claims.get(&woven.error_at(r.loc)?.check)?, r.guard)))
        .collect();
    loop {
        open.retain(|(claim, _)| !broken.contains(claim));
        let any = terms.or_all(open.iter().map(|(_, guard)| *guard));
        if terms.bool_value(any) == Some(false) {
            return Ok(());
        }
        match solver.check(&mut terms, &[any]) {
            Answer::Unsat => return Ok(()),
            Answer::Unknown(why) => return Err(why.to_string()),
            Answer::Sat => {}
        }
        let Some(model) = solver.model(&mut terms) else { return Err("the solver gave no model".into()) };
        let mut evaluator = Evaluator::new(&model);
        let before = broken.len();
        broken.extend(open.iter().filter(|(_, g)| evaluator.truth(&terms, *g)).map(|(claim, _)| *claim));
        if broken.len() == before {
            return Err("the solver's model shows nothing".into());
        }
    }
}

/// Proves the programs with the contracts in place of the calls.
fn prove(
    task: &Task,
    contracts: &[Contract],
    insist: bool,
    budget: &Budget,
    progress: &Progress<'_>,
) -> Result<Vec<(Task, Certificate)>, String> {
    let weaving = Weaving::new(&task.source, contracts, false)?;
    let functions = [None].into_iter().chain((0..contracts.len()).map(Some));
    let proved = functions.map(|function| {
        let woven = palisade_reduce::woven_task(weaving.program_of(function).program);
        let woven = woven.map_err(|error| error.to_string())?;
        // The last one may search for long.
        let engines: &[&dyn Engine] = match (has_loops(&woven), insist) {
            (false, _) => &[&Bmc],
            (true, false) => &[&Houdini],
            (true, true) => &[&Houdini, &KInduction],
        };
        prove_one(woven, engines, budget, progress)
    });
    proved.collect()
}

/// Whether a task has loops.
pub(crate) fn has_loops(task: &Task) -> bool {
    task.program.analyse().loop_heads(task.program.entry).next().is_some()
}

/// Proves a program with contracts by the first engine that can.
pub(crate) fn prove_one(
    woven: Task,
    engines: &[&dyn Engine],
    budget: &Budget,
    progress: &Progress<'_>,
) -> Result<(Task, Certificate), String> {
    let mut reason = String::new();
    let board = Board::default();
    for engine in engines {
        progress(format_args!("contracts by {}", engine.name()));
        match engine.run(&woven, &board, budget, progress) {
            Outcome::Proof(proof) => return Ok((woven, proof)),
            Outcome::Bug(_) => return Err("the contracts that were found are too weak".into()),
            Outcome::Unknown(why) => reason = why,
        }
    }
    Err(reason)
}
