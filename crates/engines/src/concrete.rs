//! Concrete execution with many inputs: shallow bugs in milliseconds.
//!
//! A program that depends on nothing has one run, which settles it. Otherwise the reference
//! interpreter runs the program on pseudo-random inputs, from a few steps to many.
//! Then it is guided by coverage: inputs are mostly constants that the program compares them with,
//! and inputs that led to a new edge are tried again with other continuations. What is found needs
//! no solver.

use crate::{Certificate, Chosen, Counterexample, Engine, Outcome};
use palisade_base::{Budget, IdxVec};
use palisade_cfa::*;
use palisade_interp::{
    Config, Discard, Inputs, Interp, Outcome as RunOutcome, Random, Run, State, Taken, only_run,
};
use palisade_task::Task;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::fmt;

/// The engine `concrete`.
pub struct Concrete;

/// Runs and the steps of each, in rounds.
const ROUNDS: [(u64, u64); 4] = [(50, 2_000), (100, 20_000), (100, 200_000), (20, 2_000_000)];
/// Steps of the run of a program that has no other; it is executed again when it is checked.
const ONLY_RUN_STEPS: u64 = 300_000_000;
/// Steps of one guided run, and of all of them together.
const GUIDED_STEPS: u64 = 200_000;
const ALL_GUIDED_STEPS: u64 = 100_000_000;

/// The constants that an input is compared with, by the edge that takes it.
type Dictionary = FxHashMap<EdgeId, Vec<u128>>;

/// Inputs that start as given and go on from a dictionary where it has something, else randomly.
struct Guided<'a> {
    start: &'a [u128],
    random: Random,
    dictionary: &'a Dictionary,
    /// All constants of the program.
    constants: &'a [u128],
    /// How many were taken.
    taken: &'a Cell<usize>,
}

impl Inputs for Guided<'_> {
    fn input(&mut self, ty: Scalar, edge: EdgeId) -> Option<u128> {
        let at = self.taken.replace(self.taken.get() + 1);
        match (self.start.get(at), self.dictionary.get(&edge)) {
            (Some(&value), _) => Some(value),
            (None, Some(values)) if self.random.below(256) > 0 => {
                Some(values[self.random.below(values.len())])
            }
            // A result may be compared with what is far from it in the text.
            (None, None) if !self.constants.is_empty() && self.random.below(4) == 0 => {
                Some(self.constants[self.random.below(self.constants.len())])
            }
            _ => self.random.input(ty, edge),
        }
    }
}

/// The integer constants of a program.
fn constants(program: &Program) -> Vec<u128> {
    let mut found: Vec<u128> = program
        .exprs
        .iter()
        .filter_map(|e| match (e.ty, &e.kind) {
            (Scalar::Int(ty), ExprKind::Int(bits)) => Some(ty.decode(*bits) as u128),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The constants that variables are compared with which take an input.
fn dictionary(program: &Program) -> Dictionary {
    let mut compared: FxHashMap<VarId, Vec<u128>> = FxHashMap::default();
    let variable = |e: ExprId| match program.exprs[e].kind {
        ExprKind::Load(place) => match &program.places[place] {
            Place { base: Base::Var(var), path, .. } if path.is_empty() => Some(*var),
            _ => None,
        },
        _ => None,
    };
    for expr in &program.exprs {
        let ExprKind::Cmp(_, a, b) = expr.kind else { continue };
        for (x, c) in [(a, b), (b, a)] {
            if let (Some(var), &ExprKind::Int(bits)) = (variable(x), &program.exprs[c].kind) {
                compared.entry(var).or_default().push(bits);
            }
        }
    }
    let mut found = Dictionary::default();
    for (id, edge) in program.edges.iter_enumerated() {
        if let Op::Havoc { dst, input: true } = edge.op
            && let Base::Var(var) = program.places[dst].base
            && let Some(values) = compared.get(&var)
        {
            let mut values = values.clone();
            values.sort_unstable();
            values.dedup();
            found.insert(id, values);
        }
    }
    found
}

impl Engine for Concrete {
    fn name(&self) -> &'static str {
        "concrete"
    }

    fn run(&self, task: &Task, budget: &Budget, progress: &dyn Fn(fmt::Arguments<'_>)) -> Outcome {
        progress(format_args!("the only run"));
        if let Ok(run) = only_run(&task.source, config(ONLY_RUN_STEPS, budget)) {
            match run.outcome {
                RunOutcome::Exit(_) | RunOutcome::Abort => return Outcome::Proof(Certificate::OnlyRun),
                RunOutcome::StepLimit | RunOutcome::MemoryLimit | RunOutcome::Stopped(_) => {
                    return Outcome::Unknown(format!("the only run: {}", run.outcome));
                }
                _ => {}
            }
            if let Some(outcome) = judge(&run) {
                return outcome;
            }
        }
        let mut seed = 0;
        for (runs, step_limit) in ROUNDS {
            progress(format_args!("{runs} runs of {step_limit} steps"));
            let mut interp = Interp::new(&task.source, config(step_limit, budget));
            for _ in 0..runs {
                if let Err(stop) = budget.check() {
                    return Outcome::Unknown(stop.to_string());
                }
                seed += 1;
                let run = interp.run(&mut Random::new(seed), &mut Discard);
                if let Some(outcome) = judge(&run) {
                    return outcome;
                }
            }
        }
        progress(format_args!("guided runs"));
        if let Some(outcome) = guided(&task.source, budget) {
            return outcome;
        }
        Outcome::Unknown("no run went wrong".into())
    }
}

fn config(step_limit: u64, budget: &Budget) -> Config {
    Config { step_limit, memory_limit: 256 << 20, trace_cap: None, budget: Some(budget.clone()) }
}

/// What a run tells, if anything.
fn judge(run: &Run) -> Option<Outcome> {
    match &run.outcome {
        RunOutcome::Violation(_) => {
            let chosen = |t: &Taken| Chosen { edge: t.edge, bits: t.bits, input: true };
            let unknowns = run.inputs.iter().map(chosen).collect();
            Some(Outcome::Bug(Counterexample { unknowns, contents: Vec::new() }))
        }
        RunOutcome::Unsupported(what) => Some(Outcome::Unknown(what.clone())),
        _ => None,
    }
}

/// Runs that continue where earlier ones found something new.
fn guided(program: &Program, budget: &Budget) -> Option<Outcome> {
    let dictionary = dictionary(program);
    let constants = constants(program);
    let mut interp = Interp::new(program, config(GUIDED_STEPS, budget));
    let mut random = Random::new(0);
    let mut covered: IdxVec<EdgeId, bool> = IdxVec::filled(false, program.edges.len());
    // Inputs up to where a run left the known edges.
    let mut corpus: Vec<Vec<u128>> = vec![Vec::new()];
    let mut steps = 0;
    let mut seed = 0;
    while steps < ALL_GUIDED_STEPS {
        if budget.stopped().is_some() {
            return None;
        }
        seed += 1;
        // From the start, from a recent find (they are the deepest), or from any.
        let pick = match random.below(4) {
            0 | 1 => 0,
            2 => corpus.len() - 1 - random.below(corpus.len().min(8)),
            _ => random.below(corpus.len()),
        };
        let start = corpus[pick].clone();
        let taken = Cell::new(0);
        let mut inputs = Guided {
            start: &start,
            random: Random::new(seed),
            dictionary: &dictionary,
            constants: &constants,
            taken: &taken,
        };
        let mut found = None;
        let mut observe = |edge: EdgeId, _: &State<'_>| {
            if !std::mem::replace(&mut covered[edge], true) {
                found = Some(taken.get());
            }
            true
        };
        let run = interp.run_observed(&mut inputs, &mut Discard, &mut observe);
        steps += run.steps + 100;
        if let Some(outcome) = judge(&run) {
            return Some(outcome);
        }
        if let Some(used) = found {
            corpus.push(run.inputs.iter().take(used).map(|t| t.bits).collect());
        } else if taken.get() == 0 {
            // A program without inputs does the same every time.
            return None;
        }
    }
    None
}
