//! Concrete execution with many inputs: shallow bugs in milliseconds.
//!
//! A program that depends on nothing has one run, which settles it. Otherwise the reference
//! interpreter runs the program on pseudo-random inputs, from a few steps to many, and is guided by
//! coverage: what led to something new is tried again with other continuations and with single values
//! changed, and where a branch has never been taken, inputs are changed by what its comparison misses
//! ([`goals`]). What is found needs no solver.

pub(crate) mod choices;
mod goals;
mod habits;

use crate::board::Board;
use crate::{Certificate, Chosen, Counterexample, Engine, Outcome, Progress};
use choices::{Choice, Chooser, Dictionary, Record};
use goals::Goals;
use habits::Habits;
use palisade_base::{Budget, IdxVec, Stop};
use palisade_cfa::*;
use palisade_interp::{
    Config, Discard, Inputs, Interp, Observer, Outcome as RunOutcome, Random, State, only_run,
};
use palisade_task::Task;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::collections::VecDeque;

/// The engine `concrete`.
pub struct Concrete;

/// Runs from the start and the steps of each, in rounds.
const ROUNDS: [(u64, u64); 4] = [(50, 2_000), (100, 20_000), (100, 200_000), (20, 2_000_000)];
/// Steps of all runs of the first look.
const FIRST_STEPS: u64 = 6_000;
/// Steps of the run of a program that has no other; it is executed again when it is checked.
const ONLY_RUN_STEPS: u64 = 300_000_000;
/// Steps of one guided run.
const GUIDED_STEPS: u64 = 200_000;
/// After so many rounds come guided runs that are short, and the steps of each and of all of them: what is near needs
/// no long runs, which a number of passes that is an input makes of most.
const ROUNDS_BEFORE: usize = 2;
const SHORT_STEPS: u64 = 10_000;
const SHORT_GUIDED: u64 = 10_000_000;
/// Steps of one run by habit, and of all of them at a time; they come where some run took an edge as often.
const HABIT_STEPS: u64 = 100_000;
const HABITS_STEPS: u64 = 5_000_000;
const MANY_PASSES: u32 = 16;
/// The search ends when it has found nothing new for as many steps, and for as many as it had taken until then.
const PATIENCE: u64 = 60_000_000;
/// What a run costs besides its steps, in steps.
const RUN_COST: u64 = 100;
/// Seeds and changed runs that are kept.
const MAX_SEEDS: usize = 4096;
const MAX_CHANGED: usize = 1024;
/// Choices of a run that is changed in one.
const MAX_VARIED: usize = 20_000;
/// Looks at a branch that was never taken: in one run, and in all runs until only some runs look.
const LOOKS: u8 = 4;
const MANY_LOOKS: u32 = 200;
const SOME_RUNS: u64 = 32;

impl Engine for Concrete {
    fn name(&self) -> &str {
        "concrete"
    }

    fn looks_at_source(&self) -> bool {
        true
    }

    /// The only run, if it is short, or else the beginning of the first round.
    fn first_look(&self, task: &Task, _: &Board, budget: &Budget) -> Option<Outcome> {
        let (runs, steps) = ROUNDS[0];
        match the_only_run(task, runs * steps, budget) {
            Some(Outcome::Unknown(_)) => None,
            Some(outcome) => Some(outcome),
            None => Search::new(&task.source).round((runs, steps), FIRST_STEPS, budget).ok()?,
        }
    }

    fn run(&self, task: &Task, _: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        progress(format_args!("the only run"));
        match the_only_run(task, ONLY_RUN_STEPS, budget) {
            Some(outcome) => outcome,
            None => Search::new(&task.source).run(budget, progress),
        }
    }
}

/// What the run of a program shows that has no other.
fn the_only_run(task: &Task, steps: u64, budget: &Budget) -> Option<Outcome> {
    let run = only_run(&task.source, config(steps, budget)).ok()?;
    Some(match run.outcome {
        RunOutcome::Exit(_) | RunOutcome::Abort => Outcome::Proof(Certificate::OnlyRun),
        RunOutcome::Violation(_) => Outcome::Bug(counterexample(&Record::default())),
        _ => Outcome::Unknown(format!("the only run: {}", run.outcome)),
    })
}

fn config(step_limit: u64, budget: &Budget) -> Config {
    Config { step_limit, memory_limit: 256 << 20, budget: Some(budget.clone()), ..Config::default() }
}

fn counterexample(record: &Record) -> Counterexample {
    let chosen = |c: &Choice| Chosen { edge: c.edge, bits: c.bits, input: c.input, times: 1 };
    Counterexample {
        unknowns: record.choices.iter().map(chosen).collect(),
        contents: record.contents.clone(),
    }
}

/// What all runs together have seen.
struct Search<'p> {
    program: &'p Program,
    dictionary: Dictionary,
    goals: Goals,
    /// By edge: in which orders of magnitude runs have taken it, a bit each.
    covered: IdxVec<EdgeId, u16>,
    /// The most often that a run has taken an edge.
    most: IdxVec<EdgeId, u32>,
    /// How often runs looked at what an edge misses.
    looked: IdxVec<EdgeId, u32>,
    /// What runs were told until they did something new.
    seeds: Vec<Vec<u128>>,
    /// Runs with a value changed by what a branch misses.
    changed: VecDeque<Vec<u128>>,
    /// Changes that were tried: the branch, the position, the value.
    tried: FxHashSet<(EdgeId, usize, u128)>,
    random: Random,
    runs: u64,
    steps: u64,
    /// Whether any run asked for anything.
    asked: bool,
}

/// Looks at one run for the search.
struct Watch<'a> {
    program: &'a Program,
    covered: &'a mut IdxVec<EdgeId, u16>,
    most: &'a mut IdxVec<EdgeId, u32>,
    looked: &'a mut IdxVec<EdgeId, u32>,
    /// Whether this is one of the runs that look at everything.
    eager: bool,
    goals: &'a Goals,
    record: &'a RefCell<Record>,
    /// How often this run took an edge.
    counts: IdxVec<EdgeId, u32>,
    /// How often it looked at what an edge misses.
    looks: IdxVec<EdgeId, u8>,
    /// Choices made when it did something new for the last time.
    found: Option<usize>,
    /// Whether it took some edge more often than any run before.
    deeper: bool,
    /// The edges that runs should take, and what to change for it.
    wanted: Vec<(EdgeId, usize, u128)>,
}

impl Watch<'_> {
    /// What the branches of a location miss that have never been taken, or never as often.
    fn look(&mut self, loc: LocId, state: &State<'_>) {
        let program = self.program;
        for &edge in &program.locs[loc].out {
            let check = matches!(program.edges[edge].op, Op::Check { .. });
            if (self.counts[edge] < self.most[edge] && !check)
                || self.looks[edge] >= LOOKS
                || !self.goals.any(edge)
            {
                continue;
            }
            if self.looked[edge] >= MANY_LOOKS && !self.eager {
                continue;
            }
            self.looks[edge] += 1;
            self.looked[edge] += 1;
            let mut changes = Vec::new();
            self.goals.changes(edge, state, &self.record.borrow().choices, &mut changes);
            self.wanted.extend(changes.into_iter().map(|(at, bits)| (edge, at, bits)));
        }
    }
}

impl Observer for Watch<'_> {
    fn on_edge(&mut self, edge: EdgeId, state: &State<'_>) -> bool {
        let program = self.program;
        let src = program.edges[edge].src;
        self.look(src, state);
        self.counts[edge] += 1;
        let count = self.counts[edge];
        if count > self.most[edge] {
            self.most[edge] = count;
            self.looked[edge] = 0;
            self.deeper = true;
        }
        if count.is_power_of_two() {
            let bit = 1u16 << count.trailing_zeros().min(15);
            if self.covered[edge] & bit == 0 {
                self.covered[edge] |= bit;
                self.found = Some(self.record.borrow().choices.len());
            }
        }
        true
    }

    fn on_blocked(&mut self, edge: EdgeId, state: &State<'_>) {
        self.look(self.program.edges[edge].src, state);
    }
}

impl<'p> Search<'p> {
    fn new(program: &'p Program) -> Search<'p> {
        Search {
            program,
            dictionary: Dictionary::new(program),
            goals: Goals::new(program),
            covered: IdxVec::filled(0, program.edges.len()),
            most: IdxVec::filled(0, program.edges.len()),
            looked: IdxVec::filled(0, program.edges.len()),
            seeds: vec![Vec::new()],
            changed: VecDeque::new(),
            tried: FxHashSet::default(),
            random: Random::new(0),
            runs: 0,
            steps: 0,
            asked: false,
        }
    }

    fn run(&mut self, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        for (round, (runs, step_limit)) in ROUNDS.into_iter().enumerate() {
            if round >= ROUNDS_BEFORE && self.asked && self.most.iter().any(|n| *n >= MANY_PASSES) {
                progress(format_args!("runs by habit"));
                match self.habitual(budget) {
                    Ok(None) => {}
                    Ok(Some(outcome)) => return outcome,
                    Err(stop) => return Outcome::Unknown(stop.to_string()),
                }
            }
            if round == ROUNDS_BEFORE && self.asked {
                progress(format_args!("short guided runs"));
                let until = self.steps + SHORT_GUIDED;
                if let Some(outcome) = self.guided(SHORT_STEPS, &|steps, _| steps < until, budget) {
                    return outcome;
                }
            }
            progress(format_args!("{runs} runs of {step_limit} steps"));
            match self.round((runs, step_limit), u64::MAX, budget) {
                Ok(None) => {}
                Ok(Some(outcome)) => return outcome,
                Err(stop) => return Outcome::Unknown(stop.to_string()),
            }
        }
        if !self.asked {
            return Outcome::Unknown("nothing can be varied".into());
        }
        progress(format_args!("guided runs"));
        let patient = |steps: u64, last: u64| steps - last < PATIENCE.max(last);
        let outcome = self.guided(GUIDED_STEPS, &patient, budget);
        outcome.unwrap_or_else(|| Outcome::Unknown(format!("no run of {} went wrong", self.runs)))
    }

    /// Guided runs of at most so many steps each, as long as it is worth it after the steps of all runs, and those until
    /// something new was found; what one of them settles.
    fn guided(
        &mut self,
        step_limit: u64,
        worth: &dyn Fn(u64, u64) -> bool,
        budget: &Budget,
    ) -> Option<Outcome> {
        let mut interp = Interp::new(self.program, config(step_limit, budget));
        let mut last = self.steps;
        while worth(self.steps, last) {
            if let Err(stop) = budget.check() {
                return Some(Outcome::Unknown(stop.to_string()));
            }
            let start = self.next();
            let (new, outcome) = self.one(&mut interp, &start);
            if outcome.is_some() {
                return outcome;
            }
            if new {
                last = self.steps;
            }
        }
        None
    }

    /// Runs from the start of at most so many steps each, until the search has taken `all` steps; what one of
    /// them settles.
    fn round(
        &mut self,
        (runs, step_limit): (u64, u64),
        all: u64,
        budget: &Budget,
    ) -> Result<Option<Outcome>, Stop> {
        let mut interp = Interp::new(self.program, config(step_limit, budget));
        for _ in 0..runs {
            budget.check()?;
            if let (_, Some(outcome)) = self.one(&mut interp, &[]) {
                return Ok(Some(outcome));
            }
            if self.steps > all {
                break;
            }
        }
        Ok(None)
    }

    /// Runs that do the same for long, as far as it leads.
    fn habitual(&mut self, budget: &Budget) -> Result<Option<Outcome>, Stop> {
        let config = Config { memory_limit: 1 << 30, ..config(HABIT_STEPS, budget) };
        let mut interp = Interp::new(self.program, config);
        let mut steps = 0;
        while steps < HABITS_STEPS {
            budget.check()?;
            self.runs += 1;
            let mut habits = Habits::new(self.runs, &self.dictionary);
            let run = interp.run(&mut habits, &mut Discard);
            if let RunOutcome::Violation(_) = run.outcome {
                return Ok(Some(Outcome::Bug(habits.counterexample())));
            }
            steps += run.steps + RUN_COST;
        }
        self.steps += steps;
        Ok(None)
    }

    /// What the next run is told at first.
    fn next(&mut self) -> Vec<u128> {
        if self.random.below(8) > 0
            && let Some(start) = self.changed.pop_front()
        {
            return start;
        }
        // From the start, from a recent find (they are the deepest), or from any.
        let seeds = self.seeds.len();
        let pick = match self.random.below(4) {
            0 => 0,
            1 => seeds - 1 - self.random.below(seeds.min(8)),
            _ => self.random.below(seeds),
        };
        let mut start = self.seeds[pick].clone();
        if start.is_empty() {
            return start;
        }
        match self.random.below(4) {
            // Goes on otherwise from where something new was found, or from before.
            0 => {}
            1 => start.truncate(self.random.below(start.len())),
            // A few values are others.
            _ => {
                for _ in 0..1 + self.random.below(3) {
                    let at = self.random.below(start.len());
                    let wide = Scalar::Int(IntTy { bits: 64, signed: true });
                    start[at] = match self.random.below(4) {
                        0 => start[at].wrapping_add(1),
                        1 => start[at].wrapping_sub(1),
                        2 => start[self.random.below(start.len())],
                        _ => self.random.input(wide, EdgeId(0)).unwrap_or(0),
                    };
                }
            }
        }
        start
    }

    /// A run that is told something at first; whether it did anything new, and what it settles.
    fn one(&mut self, interp: &mut Interp<'_>, start: &[u128]) -> (bool, Option<Outcome>) {
        self.runs += 1;
        let record = RefCell::new(Record::default());
        let mut chooser = Chooser {
            start,
            random: Random::new(self.runs),
            dictionary: &self.dictionary,
            faithful: self.runs % 4 < 2,
            unknowns: self.runs.is_multiple_of(2),
            record: &record,
        };
        let edges = self.program.edges.len();
        let mut watch = Watch {
            program: self.program,
            covered: &mut self.covered,
            most: &mut self.most,
            looked: &mut self.looked,
            eager: self.runs.is_multiple_of(SOME_RUNS),
            goals: &self.goals,
            record: &record,
            counts: IdxVec::filled(0, edges),
            looks: IdxVec::filled(0, edges),
            found: None,
            deeper: false,
            wanted: Vec::new(),
        };
        let run = interp.run_observed(&mut chooser, &mut Discard, &mut watch);
        let Watch { found, deeper, wanted, .. } = watch;
        let record = record.into_inner();
        self.steps += run.steps + RUN_COST;
        if let RunOutcome::Violation(_) = run.outcome {
            let record = self.without_unknowns(interp, &record).unwrap_or(record);
            return (true, Some(Outcome::Bug(counterexample(&record))));
        }
        let all: Vec<u128> = record.choices.iter().map(|c| c.bits).collect();
        self.asked |= !all.is_empty();
        if all.len() <= MAX_VARIED {
            for (edge, at, bits) in wanted {
                if !self.tried.insert((edge, at, bits)) {
                    continue;
                }
                let mut start = all.clone();
                start[at] = bits;
                // What came further than any other is followed first.
                if deeper {
                    self.changed.push_front(start);
                } else if self.changed.len() < MAX_CHANGED {
                    self.changed.push_back(start);
                }
            }
            self.changed.truncate(MAX_CHANGED);
        }
        if let Some(used) = found
            && self.seeds.len() < MAX_SEEDS
        {
            let mut seed = all;
            seed.truncate(used);
            self.seeds.push(seed);
        }
        (found.is_some(), None)
    }

    /// The same inputs with all unknowns of the model zero, if that goes wrong too: inputs are all that a witness says.
    fn without_unknowns(&self, interp: &mut Interp<'_>, found: &Record) -> Option<Record> {
        let start: Vec<u128> = found.choices.iter().map(|c| if c.input { c.bits } else { 0 }).collect();
        let record = RefCell::new(Record::default());
        let mut chooser = Chooser {
            start: &start,
            random: Random::new(0),
            dictionary: &self.dictionary,
            faithful: true,
            unknowns: false,
            record: &record,
        };
        let run = interp.run(&mut chooser, &mut Discard);
        matches!(run.outcome, RunOutcome::Violation(_)).then(|| record.into_inner())
    }
}
