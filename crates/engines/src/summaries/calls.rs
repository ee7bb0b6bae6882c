//! Calls that runs make, on pseudo-random inputs and on constants of the program.

use crate::concrete::choices::{Chooser, Dictionary, Record};
use palisade_analyses::samples::Runs;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_interp::{Inputs, Random, State};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Runs, all of them short: they show what functions do as well as long ones.
const RUNS: u64 = 60;
/// Different calls of a function that are kept.
const KEPT: usize = 600;

/// Observed calls of functions from integers to integers.
#[derive(Default)]
pub struct Calls {
    /// Arguments of all calls.
    pub called: FxHashMap<FuncId, BTreeSet<Vec<i128>>>,
    /// Arguments and result, the last of the list, of calls that returned.
    pub returned: FxHashMap<FuncId, BTreeSet<Vec<i128>>>,
}

impl Calls {
    /// Runs the program and observes the calls of functions.
    pub fn observe(program: &Program, funcs: &[FuncId], budget: &Budget) -> Calls {
        let mut calls = Calls::default();
        let dictionary = Dictionary::new(program);
        let mut runs = Runs::new(program, RUNS, 0, budget);
        while let Some(seed) = runs.more() {
            // Calls that have not returned: how many calls were active in them, and the arguments.
            let mut active: Vec<(usize, FuncId, Vec<i128>)> = Vec::new();
            let observe = |edge: EdgeId, state: &State<'_>| {
                let (_, depth) = state.function();
                let int = |e: ExprId| state.eval(e).ok().and_then(|v| v.as_int());
                match &program.edges[edge].op {
                    Op::Call { callee: Callee::Direct(f), args, .. } if funcs.contains(f) => {
                        let scalar = |a: &Arg| match a {
                            Arg::Scalar(e) => int(*e),
                            Arg::Aggregate(_) => None,
                        };
                        if let Some(args) = args.iter().map(scalar).collect::<Option<Vec<i128>>>() {
                            keep(&mut calls.called, *f, args.clone());
                            active.push((depth + 1, *f, args));
                        }
                    }
                    Op::Return { value } => {
                        while active.last().is_some_and(|(d, ..)| *d > depth) {
                            active.pop();
                        }
                        if let Some((_, f, mut args)) = active.pop_if(|(d, ..)| *d == depth)
                            && let Some(Arg::Scalar(e)) = value
                            && let Some(result) = int(*e)
                        {
                            args.push(result);
                            keep(&mut calls.returned, f, args);
                        }
                    }
                    _ => {}
                }
                true
            };
            let record = RefCell::new(Record::default());
            let mut random = Random::new(seed);
            let mut chooser = Chooser {
                start: &[],
                random: random.clone(),
                dictionary: &dictionary,
                faithful: false,
                unknowns: true,
                record: &record,
            };
            // What is special about a function often happens at a constant.
            let inputs: &mut dyn Inputs = if seed % 2 == 0 { &mut random } else { &mut chooser };
            runs.watch(inputs, observe);
        }
        calls
    }
}

fn keep(all: &mut FxHashMap<FuncId, BTreeSet<Vec<i128>>>, func: FuncId, values: Vec<i128>) {
    let kept = all.entry(func).or_default();
    if kept.len() < KEPT {
        kept.insert(values);
    }
}
