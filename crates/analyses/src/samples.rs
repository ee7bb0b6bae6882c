//! What runs of a program show: states that an invariant must include.
//!
//! [`Runs`] are pseudo-random runs that somebody watches; [`Samples`] are the values that registers have in such
//! runs at loop heads. They refute candidates for invariants and suggest others, and prove nothing.

use palisade_base::Budget;
use palisade_cfa::*;
use palisade_interp::{Config, Discard, Inputs, Interp, Random, Registers, State};
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Runs to loop heads.
const RUNS: u64 = 30;
/// Steps of a run.
const STEPS: u64 = 1_000_000;
/// Steps that all runs to loop heads may take together.
const STEPS_TOGETHER: u64 = 3_000_000;
/// What a run may take when these are used up.
const STEPS_AFTERWARDS: u64 = 20_000;
/// Bytes that a run may allocate: filling large objects with random bytes takes long.
const MEMORY: u64 = 1 << 23;

/// A number of runs that share what time there is.
#[derive(Debug)]
pub struct Runs<'p> {
    interp: Interp<'p>,
    budget: Budget,
    number: u64,
    made: u64,
    left: u64,
}

impl<'p> Runs<'p> {
    /// So many runs of a program, which may take so many steps together, and a few more.
    pub fn new(program: &'p Program, number: u64, steps: u64, budget: &Budget) -> Self {
        let config = Config {
            step_limit: STEPS,
            memory_limit: MEMORY,
            budget: Some(budget.clone()),
            ..Config::default()
        };
        let interp = Interp::new(program, config);
        Runs { interp, budget: budget.clone(), number, made: 0, left: steps }
    }

    /// The number of the next run, if there is to be another one.
    pub fn more(&mut self) -> Option<u64> {
        let more = self.made < self.number && self.budget.stopped().is_none();
        more.then(|| {
            self.made += 1;
            self.made - 1
        })
    }

    /// Makes a run and shows every step of it, as long as the observer wants to see more.
    pub fn watch(&mut self, inputs: &mut dyn Inputs, mut observe: impl FnMut(EdgeId, &State<'_>) -> bool) {
        let limit = self.left.max(STEPS_AFTERWARDS);
        let mut steps = 0;
        let mut look = |edge: EdgeId, state: &State<'_>| {
            steps += 1;
            observe(edge, state) && steps < limit
        };
        self.interp.run_observed(inputs, &mut Discard, &mut look);
        self.left = self.left.saturating_sub(steps);
    }

    /// Runs that are to reach as many loop heads, and ends of loops, as they can.
    pub fn to_heads(program: &'p Program, budget: &Budget) -> Self {
        Runs::new(program, RUNS, STEPS_TOGETHER, budget)
    }

    /// Makes the runs and shows the states at loop heads before their first passes and ends, and later every time their
    /// number has doubled.
    pub fn watch_heads(mut self, task: &Task, heads: &[LocId], mut look: impl FnMut(usize, &State<'_>)) {
        let graph = task.program.analyse();
        let numbers: FxHashMap<LocId, usize> = heads.iter().enumerate().map(|(i, head)| (*head, i)).collect();
        while let Some(seed) = self.more() {
            // Passes and ends of each loop.
            let mut visits = vec![[0u64; 2]; heads.len()];
            self.watch(&mut Random::with_unknowns(seed), |edge, state| {
                let Edge { src, dst, .. } = task.program.edges[edge];
                if let Some(&head) = numbers.get(&src) {
                    let ends = !graph.in_loop(&task.program, dst, src);
                    let visits = &mut visits[head][usize::from(ends)];
                    *visits += 1;
                    if *visits <= VISITS || visits.is_power_of_two() {
                        look(head, state);
                    }
                }
                true
            });
        }
    }
}

/// Visits of a loop head in one run, and times when a loop ends, that are all looked at.
const VISITS: u64 = 4;
/// States that are kept for a loop head, and numbers that are kept of all of them.
const KEPT: usize = 1000;
const NUMBERS: usize = 1 << 21;

/// Values of registers at loop heads in runs of a task.
#[derive(Clone, Default, Debug)]
pub struct Samples {
    /// The registers that are looked at: those that hold numbers.
    vars: Vec<VarId>,
    /// Different states at each head.
    at: FxHashMap<LocId, Vec<Box<[u128]>>>,
}

impl Samples {
    /// Runs a program without calls, as it was before an analysis extended it.
    pub fn collect(task: &Task, budget: &Budget) -> Samples {
        let program = &task.program;
        let heads: Vec<LocId> = program.analyse().loop_heads(program.entry).collect();
        let mut registers = Registers::new(program, program.entry);
        let vars = program.vars.ids().filter(|v| registers.set(*v, 0)).collect();
        let mut samples = Samples { vars, at: FxHashMap::default() };
        if heads.is_empty() {
            return samples;
        }
        let mut seen: Vec<FxHashSet<u64>> = vec![FxHashSet::default(); heads.len()];
        let mut room = NUMBERS;
        Runs::to_heads(program, budget).watch_heads(task, &heads, |head, state| {
            let Samples { vars, at } = &mut samples;
            let values: Option<Box<[u128]>> = vars.iter().map(|v| Some(state.var(*v)?.bits)).collect();
            let Some(values) = values.filter(|values| values.len() <= room && seen[head].len() < KEPT) else {
                return;
            };
            let mut hasher = FxHasher::default();
            values.hash(&mut hasher);
            if seen[head].insert(hasher.finish()) {
                room -= values.len();
                at.entry(heads[head]).or_default().push(values);
            }
        });
        samples
    }

    /// How many states were kept.
    pub fn states(&self) -> usize {
        self.at.values().map(Vec::len).sum()
    }

    /// The registers that have values.
    pub fn vars(&self) -> &[VarId] {
        &self.vars
    }

    /// What the registers held at a loop head, as bits.
    pub fn at(&self, head: LocId) -> impl Iterator<Item = &[u128]> {
        self.at.get(&head).into_iter().flatten().map(|values| &**values)
    }

    /// The integers that some of the registers held at a loop head.
    pub fn integers(&self, program: &Program, head: LocId, vars: &[VarId]) -> Vec<Vec<i128>> {
        let columns: Option<Vec<(usize, IntTy)>> = vars
            .iter()
            .map(|v| Some((self.vars.binary_search(v).ok()?, program.integer_register(*v)?)))
            .collect();
        let Some(columns) = columns else { return Vec::new() };
        let decode = |values: &[u128]| columns.iter().map(|&(i, ty)| ty.decode(values[i])).collect();
        let mut samples: Vec<Vec<i128>> = self.at(head).map(decode).collect();
        samples.sort_unstable();
        samples.dedup();
        samples
    }
}
