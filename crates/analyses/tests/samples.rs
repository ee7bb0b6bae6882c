//! What runs show, and states that are made of it again.

mod common;
mod random;

use common::program;
use palisade_analyses::samples::{Runs, Samples};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_interp::{Random, Registers};
use palisade_task::Task;
use random::{Rng, Shape, automaton};
use std::sync::Arc;

fn task(text: &str) -> Task {
    Task::whole(&Arc::new(program(text)), 0, 10_000).unwrap()
}

#[test]
fn the_first_passes_some_later_ones_and_the_end_are_kept() {
    let task = task(
        "fn main() { local i: i32; local p: *i32;
           a -> head: i = 0;
           loop head -> c: assume i < 20; head -> done: assume !(i < 20);
           c -> head: i = i + 1;
           done -> end: return; } entry main;",
    );
    let p = &task.program;
    let samples = Samples::collect(&task, &Budget::unlimited());
    let head = p.analyse().loop_heads(p.entry).next().unwrap();
    let i = p.vars.iter_enumerated().find(|(_, var)| &*var.name == "i").unwrap().0;
    // Passes 1 to 4, 8 and 16, and the end, in every run the same.
    let seen: Vec<i128> = samples.integers(p, head, &[i]).into_iter().map(|v| v[0]).collect();
    assert_eq!(seen, [0, 1, 2, 3, 7, 15, 20]);
    assert_eq!(samples.states(), 7);
    assert!(samples.vars().iter().all(|v| p.register(*v) != Some(Scalar::Ptr)));
}

#[test]
fn later_runs_are_shorter_when_the_steps_are_used_up() {
    let p = program("fn main() { loop a -> b: skip; b -> a: skip; } entry main;");
    let mut runs = Runs::new(&p, 40, 50_000, &Budget::unlimited());
    let mut lengths = Vec::new();
    while let Some(seed) = runs.more() {
        let mut steps = 0;
        runs.watch(&mut Random::new(seed), |_, _| {
            steps += 1;
            true
        });
        lengths.push(steps);
    }
    assert_eq!(lengths[0], 50_000);
    assert!(lengths.len() > 10 && lengths[1..].iter().all(|n| *n == 20_000), "{lengths:?}");
}

#[test]
fn expressions_have_the_values_that_they_have_in_the_run() {
    let shape = Shape { vars: 3, locs: 7, bits: 2, calls: false };
    let mut compared = 0;
    for seed in 1..60 {
        let p = automaton(&mut Rng(seed * 10_007), shape);
        let mut registers = Registers::new(&p, p.entry);
        let mut runs = Runs::new(&p, 1, 200, &Budget::unlimited());
        let mut left = 300;
        runs.watch(&mut Random::with_unknowns(seed), |_, state| {
            for var in p.vars.ids() {
                let value = state.var(var).unwrap();
                assert!(registers.set(var, value.bits));
            }
            for expr in p.exprs.ids() {
                let (run, made) = (state.eval(expr), registers.state().eval(expr));
                assert_eq!(run.is_ok(), made.is_ok());
                if let (Ok(run), Ok(made)) = (run, made) {
                    assert_eq!(run, made, "{expr}\n{}", text::print(&p));
                    compared += 1;
                }
            }
            left -= 1;
            left > 0
        });
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn there_is_no_memory_in_a_made_state() {
    let p = program(
        "global x: i32 = 0; global y: i32 = 0; fn main() { local p: *i32; a -> b: p = &x; b -> c: y = *(p: i32); c -> d: return; }
         entry main;",
    );
    let mut registers = Registers::new(&p, p.entry);
    let var = |name: &str| p.vars.iter_enumerated().find(|(_, var)| &*var.name == name).unwrap().0;
    assert!(registers.set(var("y"), 5) && !registers.set(var("x"), 5) && !registers.set(var("p"), 5));
    let mut loads = 0;
    for edge in &p.edges {
        if let Op::Assign { src, .. } = edge.op {
            loads += usize::from(registers.state().eval(src).is_err());
        }
    }
    assert_eq!(loads, 2, "neither the address of x nor what is there");
}
