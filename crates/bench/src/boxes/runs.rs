//! Random runs of a flow, which must stay inside the invariants.

use super::flow::{Action, Flow};
use palisade_domains::{Dim, Interval, NumericDomain};
use palisade_num::{Int, Rat};
use std::cell::Cell;

/// Runs of each function.
const RUNS: u64 = 20;
/// Ways that one run takes at most.
const STEPS: usize = 100;

/// SplitMix64.
struct Rng(Cell<u64>);

impl Rng {
    fn next(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let mut z = self.0.get();
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of an interval: often a small one or one at an end, as these are what programs ask for.
    fn pick(&self, range: &Interval) -> Rat {
        let small = Rat::from(self.next() as i64 % 6);
        let Some((lo, hi)) = range.int_ends() else { return small };
        let chosen = match self.next() % 8 {
            0 => lo.clone(),
            1 => hi.clone(),
            2 => &lo + &Int::from((self.next() >> 1) as i64),
            3 => Int::from(self.next() as i64 % 300),
            _ => return if range.contains(&small) { small } else { Rat::from(lo) },
        };
        let chosen = Rat::from(chosen);
        if range.contains(&chosen) { chosen } else { Rat::from(lo) }
    }
}

/// Runs the flow from random states and with random choices. Returns how many states were seen at loop
/// heads, or the number of a loop whose invariant does not hold in one.
pub fn check<D: NumericDomain>(flow: &Flow, invariants: &[Option<D>]) -> Result<u64, usize> {
    let mut seen = 0;
    for seed in 0..RUNS {
        let rng = Rng(Cell::new(seed * 7919));
        let mut state: Vec<Rat> = flow.ranges.iter().map(|r| rng.pick(r)).collect();
        let mut block = 0;
        for _ in 0..STEPS {
            if let Some(number) = flow.loop_at(block) {
                let value = |d: Dim| state.get(d.index() as usize).cloned().unwrap_or(Rat::ZERO);
                if !invariants[number].as_ref().is_some_and(|i| i.contains(&value)) {
                    return Err(number);
                }
                seen += 1;
            }
            let out = &flow.out[block];
            if out.is_empty() {
                break;
            }
            let first = rng.next() as usize;
            let taken = (0..out.len()).find_map(|i| {
                let way = &flow.ways[out[(first + i) % out.len()]];
                Some((way.to, follow(&rng, state.clone(), &way.actions)?))
            });
            let Some((to, next)) = taken else { break };
            (block, state) = (to, next);
        }
    }
    Ok(seen)
}

/// The state after the actions; `None` where a condition does not hold or a division by zero ends the run.
fn follow(rng: &Rng, mut state: Vec<Rat>, actions: &[Action]) -> Option<Vec<Rat>> {
    for action in actions {
        let value = |d: Dim| state[d.index() as usize].clone();
        let choose = |i: &Interval| rng.pick(i);
        match action {
            Action::Assign(d, tree) => state[d.index() as usize] = tree.eval(&value, &choose)?,
            Action::Any(d, range) => state[d.index() as usize] = rng.pick(range),
            Action::Assume(tree) | Action::Check(_, tree) => {
                if tree.eval(&value, &choose)?.is_zero() {
                    return None;
                }
            }
        }
    }
    Some(state)
}
