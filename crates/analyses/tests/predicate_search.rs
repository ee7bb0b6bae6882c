//! The search with predicates on random small automata: over blocks and edge by edge, with every abstraction, it
//! agrees with all concrete states.

mod random;

use palisade_analyses::live::Liveness;
use palisade_analyses::location::{Calls, Location};
use palisade_analyses::predicate::pool::Pool;
use palisade_analyses::predicate::refine::{Candidates, Learned, PathPredicates, Tracked};
use palisade_analyses::predicate::search::{Found, Question, search};
use palisade_analyses::predicate::steps::Steps;
use palisade_analyses::predicate::{Abstraction, Predicate};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_task::{ErrorLoc, Task};
use random::*;
use std::sync::Arc;

const SHAPE: Shape = Shape { vars: 3, locs: 8, bits: 2, calls: false };

/// The search over blocks: whether the error can be reached, if it is settled. Invariants hold in all states.
fn by_blocks(task: &Task, abstraction: Abstraction, stop: StopOp, states: &[Concrete]) -> Option<bool> {
    let budget = Budget::unlimited();
    let live = Liveness::of(&task.program, &budget).unwrap();
    let mut pool = Pool::new(&task.program);
    let mut candidates = pool.conditions(&task.program);
    for p in candidates.clone() {
        candidates.push(pool.negation(p));
    }
    let extended = task.with_program(pool.program);
    let graph = extended.program.analyse();
    let question =
        Question { task: &extended, graph: &graph, live: &live, candidates: &candidates, abstraction, stop };
    match search(&question, &budget, &mut |_| {}).unwrap().0 {
        Found::Error(path) => {
            assert!(path.iter().all(|step| matches!(step.kind, StepKind::Block(_))));
            Some(true)
        }
        Found::Stuck => None,
        Found::Proof(invariants) => {
            for (loc, _, vars) in states {
                let Some(cubes) = invariants.get(loc) else { continue };
                let holds =
                    |&(e, value): &(ExprId, bool)| (evaluate(&extended.program, e, vars) == 1) == value;
                assert!(cubes.iter().any(|cube| cube.iter().all(holds)), "{loc} {vars:?}");
            }
            Some(false)
        }
    }
}

/// The same edge by edge, as composites do it.
fn by_edges(task: &Task, error: LocId, abstraction: Abstraction) -> Option<bool> {
    let budget = Budget::unlimited();
    let (mut program, mut tracked) = (task.program.clone(), Tracked::new());
    for _ in 0..30 {
        let (grown, more) = {
            let location = Location::new(&program, Calls::StepOver, &[error]);
            let mut predicate = Predicate::new(&program, abstraction, &budget);
            let precision = predicate.precision(&tracked).unwrap();
            let start = location.initial();
            let initial = predicate.initial(&precision).unwrap();
            let initial = initial.into_iter().map(|region| ((start, region), ((), precision.clone())));
            let product = Product::new(location, predicate);
            let mut run = Exploration::from_states(product, initial.collect::<Vec<_>>(), Order::BreadthFirst);
            let Status::TargetReached(target) = run.run(&budget, Limits::FIRST_TARGET) else {
                return Some(false);
            };
            let path: Vec<Step> = run.reached().path_to(target).iter().map(|(step, _)| *step).collect();
            let steps = Steps::of_edges(&program, &budget);
            let mut paths = PathPredicates::new(steps, Candidates::OfPath, tracked.clone(), abstraction);
            match paths.learn(&path).unwrap() {
                Learned::Feasible => return Some(true),
                Learned::Nothing => return None,
                Learned::Predicates => paths.into_found(),
            }
        };
        (program, tracked) = (grown, more);
    }
    None
}

#[test]
fn searches_agree_with_the_concrete_states() {
    let (mut settled, mut asked) = (0, 0);
    for seed in 1..150u64 {
        let mut rng = Rng(seed * 104_729);
        let p = automaton(&mut rng, SHAPE);
        let mut task = Task::whole(&Arc::new(p), 1, 10_000).unwrap();
        let states: Vec<Concrete> = concrete_states(&task.program).into_iter().collect();
        // Of the locations one is wrong.
        let locs: Vec<LocId> = task.program.locs.ids().filter(|&l| l != task.body().entry).collect();
        let error = locs[rng.below(locs.len())];
        task.errors = vec![ErrorLoc { loc: error, kind: CheckKind::Assertion, check: EdgeId(0) }];
        let reachable = states.iter().any(|(loc, ..)| *loc == error);
        for abstraction in [Abstraction::Cartesian, Abstraction::Boolean, Abstraction::Valuations] {
            let mut answers = vec![by_edges(&task, error, abstraction)];
            for stop in [StopOp::Separate, StopOp::Joined] {
                answers.push(by_blocks(&task, abstraction, stop, &states));
            }
            for answer in answers {
                asked += 1;
                settled += usize::from(answer.is_some());
                assert_ne!(answer, Some(!reachable), "{seed} {abstraction:?} {error}");
            }
        }
    }
    assert!(settled * 10 > asked * 8, "{settled} of {asked}");
}
