//! Classes of programs, told by what they do, and how an engine's share of the time depends on them.
//!
//! The weights are learnt. Where engine `e` of weight `w(e)` needs `t` seconds for a task, the race takes
//! `t · Σ w / w(e)`. Over tasks that are settled by engines in times that add up to `T(e)` the race takes the least
//! time if `w(e)` is in proportion to `√T(e)`. Before, those who settle tasks in a short turn have one; those who settle
//! most come first. `palisade bench weights` measures both and prints the table.

use palisade_cfa::{Graph, LocId, Op, Program, Scalar};
use palisade_engines::Engine;
use palisade_engines::houdini::{Accumulations, Arrays, Memory};
use palisade_engines::summaries::Summaries;
use palisade_task::Task;
use rustc_hash::FxHashSet;

/// What a program does, as far as it decides who should look at it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// It asks for no input.
    Closed,
    /// Its calls are recursive, or multiply.
    Calls,
    /// It has many edges, and several loops, or one that decides between cases.
    Large,
    /// Its loops accumulate elements of arrays.
    Folds,
    /// Its accesses to memory are asked about.
    Memory,
    /// It indexes arrays with variables.
    Arrays,
    /// It has no loop.
    Straight,
    /// It computes with floating-point numbers.
    Floats,
    /// One loop decides between many cases.
    Machine,
    /// It has one loop.
    Loop,
    /// It has several loops.
    Loops,
}

/// A task of more edges than this is large.
pub(crate) const LARGE: usize = 5_000;
/// A loop in a task of more edges than this has many cases.
const LONG: usize = 400;
/// A loop decides between cases if a pass may be so many times shorter than the loop.
const CASES: usize = 8;
/// Edges up to which a program that indexes arrays is likely to be about their elements.
const SMALL: usize = 200;

/// An engine's share of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// In relation to the others'.
    pub weight: u32,
    /// How many tasks it settled in a short turn when that was learnt.
    pub at_once: u32,
}

impl Share {
    /// Of those who never settled anything.
    const LEAST: Share = Share { weight: 1, at_once: 0 };
}

/// What was learnt: a class, an engine, its weight, and how many tasks it settles at once, in each line.
const WEIGHTS: &str = include_str!("weights.txt");

impl Class {
    /// All classes.
    pub const ALL: [Class; 11] = [
        Class::Closed,
        Class::Calls,
        Class::Large,
        Class::Folds,
        Class::Memory,
        Class::Arrays,
        Class::Straight,
        Class::Floats,
        Class::Machine,
        Class::Loop,
        Class::Loops,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Class::Closed => "closed",
            Class::Calls => "calls",
            Class::Large => "large",
            Class::Folds => "folds",
            Class::Memory => "memory",
            Class::Arrays => "arrays",
            Class::Straight => "straight",
            Class::Floats => "floats",
            Class::Machine => "machine",
            Class::Loop => "loop",
            Class::Loops => "loops",
        }
    }

    /// The class of a task: the first that fits.
    pub fn of(task: &Task) -> Class {
        let program = &task.program;
        if !task.source.edges.iter().any(|e| matches!(e.op, Op::Havoc { input: true, .. })) {
            return Class::Closed;
        }
        if Summaries.suits(task) {
            return Class::Calls;
        }
        // What large programs do with their memory takes too long to find out.
        let large = program.edges.len() >= LARGE;
        if !large && Accumulations.suits(task) {
            return Class::Folds;
        }
        // Where accesses are asked about, what elements hold matters less than where they are.
        if !large && Memory.suits(task) {
            return Class::Memory;
        }
        if program.edges.len() <= SMALL && Arrays.suits(task) {
            return Class::Arrays;
        }
        let graph = program.analyse();
        let heads: Vec<LocId> = graph.loop_heads(program.entry).collect();
        match heads[..] {
            [] => Class::Straight,
            [head] if large && decides(program, &graph, head) => Class::Large,
            _ if program.exprs.iter().any(|e| matches!(e.ty, Scalar::Float(_))) => Class::Floats,
            [head] if program.edges.len() > LONG && decides(program, &graph, head) => Class::Machine,
            [_] => Class::Loop,
            _ if large => Class::Large,
            _ => Class::Loops,
        }
    }

    /// The share of an engine on tasks of this class.
    pub fn share(self, engine: &str) -> Share {
        let share = WEIGHTS.lines().find_map(|line| {
            let of_engine = line.strip_prefix(self.name())?.strip_prefix(' ')?.strip_prefix(engine)?;
            let (weight, at_once) = of_engine.strip_prefix(' ')?.split_once(' ')?;
            Some(Share { weight: weight.parse().ok()?, at_once: at_once.parse().ok()? })
        });
        share.unwrap_or(Share::LEAST)
    }
}

/// Whether a loop decides between many cases: a pass may be much shorter than the loop is.
fn decides(program: &Program, graph: &Graph, head: LocId) -> bool {
    let body = graph.loop_body(program, head);
    let all: usize = body.iter().map(|&loc| program.locs[loc].out.len()).sum();
    let mut seen: FxHashSet<LocId> = FxHashSet::default();
    let mut now = vec![head];
    for _ in 0..all / CASES {
        let mut next = Vec::new();
        for dst in now.iter().flat_map(|&loc| &program.locs[loc].out).map(|&e| program.edges[e].dst) {
            if dst == head {
                return true;
            }
            if graph.in_loop(program, dst, head) && seen.insert(dst) {
                next.push(dst);
            }
        }
        now = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn weights_are_those_of_engines_that_race() {
        let race = registry::chosen("auto").expect("it is a race");
        let mut seen = Vec::new();
        for line in WEIGHTS.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            let [class, engine, ..] = fields[..] else { panic!("{line}") };
            let named = Class::ALL.into_iter().find(|c| c.name() == class);
            assert!(named.is_some_and(|c| c.share(engine) != Share::LEAST), "{line}");
            assert!(race.iter().any(|a| a.engine.name() == engine), "{line}");
            assert!(!seen.contains(&(class, engine)), "{line} comes twice");
            seen.push((class, engine));
        }
        for class in Class::ALL {
            assert!(seen.iter().any(|(name, _)| *name == class.name()), "{class:?}");
        }
    }
}
