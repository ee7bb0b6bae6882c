//! Predicates alone: the search over large blocks that refines itself.
//!
//! An instance of the one algorithm: the composite of locations, by blocks, and predicates, explored until it
//! reaches an error; [`PathPredicates`] makes the precision from the path there, and [`cegar()`] begins again.

use super::refine::{Candidates, PathPredicates, Tracked};
use super::steps::Steps;
use super::{Abstraction, Predicate, Predicates};
use crate::live::Liveness;
use crate::location::{Location, Position};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_dd::Node;
use palisade_task::Task;
use std::collections::BTreeMap;

/// Abstract states at most.
const MAX_STATES: usize = 6000;

/// Locations and predicates.
pub type Analysis<'p> = Product<Location<'p>, Predicate<'p>>;

/// What is asked.
pub struct Question<'p> {
    /// The task.
    pub task: &'p Task,
    /// The loops of its program.
    pub graph: &'p Graph,
    /// What variables are alive.
    pub live: &'p Liveness<'p>,
    /// The predicates that may be tracked, truth-valued expressions of the task's program.
    pub candidates: &'p [ExprId],
    /// How successors are abstracted.
    pub abstraction: Abstraction,
    /// The termination check.
    pub stop: StopOp,
}

/// For each loop head, the predicates that hold or do not, as a disjunction of conjunctions.
pub type Invariants = BTreeMap<LocId, Vec<Vec<(ExprId, bool)>>>;

/// What a search found.
pub enum Found {
    /// No error can be reached.
    Proof(Invariants),
    /// A path to an error that is one of the program.
    Error(Vec<Step>),
    /// The candidates do not exclude the errors.
    Stuck,
}

/// States with their precisions.
pub(super) type Starts = Vec<((Position, Node), ((), Predicates))>;

/// The initial states with the precision that tracks these predicates.
pub(super) fn initial(cpa: &mut Analysis<'_>, tracked: &Tracked) -> Result<Starts, Halt> {
    let precision = cpa.right.precision(tracked)?;
    let start = cpa.left.initial();
    let regions = cpa.right.initial(&precision)?;
    Ok(regions.into_iter().map(|region| ((start, region), ((), precision.clone()))).collect())
}

/// Explores and refines, from no predicates on. The exploration is for those who want to see what was reached.
pub fn search<'p>(
    question: &Question<'p>,
    budget: &Budget,
    progress: &mut dyn FnMut(&Tracked),
) -> Result<(Found, Exploration<Analysis<'p>>), Halt> {
    let &Question { task, graph, abstraction, .. } = question;
    let location = Location::of_blocks(task, graph);
    let predicate = Predicate::of_blocks(task, graph, abstraction, budget);
    let mut cpa = Product::new(location, predicate).stopping(question.stop);
    let start = initial(&mut cpa, &Tracked::new())?;
    let mut run = Exploration::from_states(cpa, start, Order::BreadthFirst);
    let candidates = Candidates::Given(question.candidates, question.live);
    let steps = Steps::of_blocks(task, graph, budget);
    let paths = PathPredicates::new(steps, candidates, Tracked::new(), abstraction);
    let mut refiner = Watched { paths, progress, stuck: false };
    let limits = Limits { first_target: true, states: MAX_STATES };
    let found = match cegar(&mut run, &mut refiner, budget, limits) {
        Verdict::Unsafe(target) => {
            Found::Error(run.reached().path_to(target).into_iter().map(|(step, _)| step).collect())
        }
        Verdict::Unknown(_) if refiner.stuck => Found::Stuck,
        Verdict::Unknown(halt) => return Err(halt),
        Verdict::Safe => Found::Proof(invariants(task, graph, &mut run)?),
    };
    Ok((found, run))
}

/// What was reached at the loop heads.
fn invariants(task: &Task, graph: &Graph, run: &mut Exploration<Analysis<'_>>) -> Result<Invariants, Halt> {
    let (cpa, reached) = run.parts();
    let mut regions: BTreeMap<LocId, Vec<Node>> = BTreeMap::new();
    for head in graph.loop_heads(task.program.entry) {
        regions.entry(head).or_default();
    }
    for (_, (position, region)) in reached.iter() {
        if let Position::At(loc) = position
            && let Some(here) = regions.get_mut(loc)
        {
            here.push(*region);
        }
    }
    let mut found = Invariants::new();
    for (head, regions) in regions {
        let region = cpa.right.union(regions)?;
        found.insert(head, region.map_or_else(Vec::new, |region| cpa.right.cubes(region)));
    }
    Ok(found)
}

/// A refiner that tells about every refinement.
struct Watched<'p, 'o> {
    paths: PathPredicates<'p>,
    progress: &'o mut dyn FnMut(&Tracked),
    stuck: bool,
}

impl<'p> Refiner<Analysis<'p>> for Watched<'p, '_> {
    fn refine(
        &mut self,
        exploration: &mut Exploration<Analysis<'p>>,
        target: NodeId,
        budget: &Budget,
    ) -> Result<Refinement<(Position, Node), ((), Predicates)>, Halt> {
        let refined = self.paths.refine(exploration, target, budget)?;
        self.stuck = matches!(refined, Refinement::Stuck(_));
        (self.progress)(self.paths.tracked());
        Ok(refined)
    }
}
