//! The refinement loop, with explicit values: the precision starts empty, and a spurious error path
//! tells which variables to track.

mod common;

use common::{location, program};
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::location::Location;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;

type Values<'p> = Product<Location<'p>, Explicit<'p>>;

/// Replays a path with all variables; if it breaks, tracks the variables it mentions up to there.
struct FromPath<'p> {
    program: &'p Program,
    tracked: Vec<VarId>,
    rounds: usize,
}

impl<'p> Refiner<Values<'p>> for FromPath<'p> {
    fn refine(
        &mut self,
        exploration: &mut Exploration<Values<'p>>,
        target: NodeId,
        _: &Budget,
    ) -> Result<Refinement<<Values<'p> as AbstractDomain>::State, ((), Tracked)>, Halt> {
        self.rounds += 1;
        let path = exploration.reached().path_to(target);
        let mut state = exploration.cpa_mut().right.initial();
        let before = self.tracked.len();
        for (step, _) in &path {
            self.program.visit_op(&self.program.edges[step.edge].op, &mut |used| {
                if let Use::Read(p) | Use::Write(p) = used
                    && let Base::Var(v) = self.program.places[p].base
                    && !self.tracked.contains(&v)
                {
                    self.tracked.push(v);
                }
            });
            let mut out = Successors::new();
            exploration.cpa_mut().right.transfer(&state, &Tracked::all(), step, &mut out)?;
            match out.first() {
                Some(next) => state = *next,
                None if self.tracked.len() == before => {
                    return Ok(Refinement::Stuck("nothing new to track".into()));
                }
                None => {
                    let precision = ((), Tracked::only(self.program, self.tracked.iter().copied()));
                    return Ok(Refinement::Spurious { from: path[0].1, precision });
                }
            }
        }
        Ok(Refinement::Feasible)
    }
}

fn run(text: &str) -> (Verdict, usize, usize) {
    let p = program(text);
    let location = location(&p);
    let explicit = Explicit::separate(&p);
    let initial = (location.initial(), explicit.top());
    let precision = ((), Tracked::only(&p, []));
    let mut exploration =
        Exploration::new(Product::new(location, explicit), initial, precision, Order::BreadthFirst);
    let mut refiner = FromPath { program: &p, tracked: Vec::new(), rounds: 0 };
    let verdict = cegar(&mut exploration, &mut refiner, &Budget::unlimited(), Limits::NONE);
    (verdict, refiner.rounds, refiner.tracked.len())
}

fn text(last: i32) -> String {
    format!(
        "fn main() {{
           local flag: i32; local noise: i32; local count: i32;
           a -> b: flag = 1;
           b -> head: count = 0;
           loop head -> c: assume count < 5;
           head -> out: assume !(count < 5);
           c -> d: noise = noise + count;
           d -> head: count = count + 1;
           out -> good: assume flag == {last};
           out -> error: assume !(flag == {last});
           good -> end: return;
           error -> stop: abort;
         }}
         entry main;"
    )
}

#[test]
fn spurious_paths_refine_until_the_proof() {
    let (verdict, rounds, tracked) = run(&text(1));
    assert_eq!(verdict, Verdict::Safe);
    assert!(rounds >= 1 && tracked < 3, "{rounds} rounds, {tracked} variables");
}

#[test]
fn feasible_paths_are_found() {
    let (verdict, ..) = run(&text(2));
    assert!(matches!(verdict, Verdict::Unsafe(_)), "{verdict:?}");
}
