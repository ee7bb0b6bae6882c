//! Composites of component analyses, named on the command line (section 3.6 of "Combining Model Checking and
//! Data-Flow Analysis"): `location+explicit` is constant propagation, with `merge=sep` model checking of
//! explicit values; `location+predicate+interval merge=equal` a predicated lattice. All are run by the one
//! algorithm of [`palisade_cpa`].
//!
//! Predicates start empty. A path to an error that is no run of the program says which are missing (section 6.2);
//! without predicates such a path is the end. What the states at loop heads say is the certificate.

mod component;
mod parts;

use crate::board::Board;
use crate::numeric::not_excluded;
use crate::path::outcome_of;
use crate::predicate::Predicates;
use crate::{Certificate, Engine, Format, Outcome, Progress};
use component::{Erased, Part};
use palisade_analyses::predicate::Abstraction;
use palisade_analyses::predicate::refine::{Candidates, Learned, PathPredicates, Tracked};
use palisade_analyses::predicate::steps::Steps;
use palisade_base::{Budget, SourceMap};
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_evidence::Invariants;
use palisade_task::Task;
pub use parts::{COMPONENTS, Named};
use parts::{Context, MAX_CASES, Start};

/// The merge operator of a composite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Merge {
    /// merge^sep: never.
    Separate,
    /// Every component by its own operator, where all of them then cover the new state.
    Join,
    /// The last component by its own, where the others are equal (5.1).
    Equal,
}

/// A composite analysis.
pub struct Composite {
    name: String,
    components: Vec<String>,
    merge: Merge,
    stop: Option<StopOp>,
    /// The transfer relation is that of the direct product: nothing is strengthened.
    direct: bool,
}

/// Rounds of refinement.
const MAX_ROUNDS: usize = 100;
/// Rounds of narrowing.
const NARROWINGS: usize = 3;
/// At most this many abstract states.
const MAX_STATES: usize = 2_000_000;

type Run<'p> = Exploration<Erased<'p>>;

impl Composite {
    /// The composite that a text names: components with `+` between them, then options `merge=sep|join|equal`,
    /// `stop=sep|join|never` and `product=direct|reduced`.
    pub fn parse(text: &str) -> Result<Composite, String> {
        let mut words = text.split_whitespace();
        let components: Vec<String> = words.next().unwrap_or("").split('+').map(String::from).collect();
        if let Some(unknown) = components.iter().find(|c| !parts::exists(c)) {
            return Err(format!("there is no component `{unknown}`; `palisade analyses` lists them"));
        }
        if components.iter().filter(|c| *c == "location").count() != 1 {
            return Err("a composite tracks the program counter: name `location` once".into());
        }
        let mut this =
            Composite { name: text.into(), components, merge: Merge::Join, stop: None, direct: false };
        for option in words {
            match option {
                "merge=sep" => this.merge = Merge::Separate,
                "merge=join" => this.merge = Merge::Join,
                "merge=equal" => this.merge = Merge::Equal,
                "stop=sep" => this.stop = Some(StopOp::Separate),
                "stop=join" => this.stop = Some(StopOp::Joined),
                "stop=never" => this.stop = Some(StopOp::Never),
                "product=direct" => this.direct = true,
                "product=reduced" => this.direct = false,
                _ => return Err(format!("there is no option `{option}` of a composite")),
            }
        }
        let sets = this.components.iter().filter(|c| !matches!(c.as_str(), "location" | "callstack"));
        let sets: Vec<&String> = sets.collect();
        if this.stop == Some(StopOp::Joined) && (sets.len() != 1 || !parts::is_power_set(sets[0])) {
            return Err("stop^join needs one component beside the location whose joins are unions: \
                        `predicate` or `bdd`"
                .into());
        }
        Ok(this)
    }

    /// Predicates without another component step over blocks: no one looks at what is between.
    fn predicates_alone(&self) -> Option<Predicates> {
        let mut others = self.components.iter().filter(|c| *c != "location");
        let abstraction = match (others.next()?.as_str(), others.next()) {
            ("predicate", None) => Abstraction::Valuations,
            ("cartesian", None) => Abstraction::Cartesian,
            _ => return None,
        };
        let stop = self.stop.unwrap_or(StopOp::Separate);
        Some(Predicates { name: self.name.clone(), abstraction, stop })
    }

    /// The exploration of a program from its start.
    fn exploration<'p>(&self, cx: &Context<'p>) -> Result<Run<'p>, Halt> {
        let merge = match self.merge {
            Merge::Separate => ProductMerge::Separate,
            Merge::Join => ProductMerge::Agree,
            Merge::Equal => ProductMerge::EqualLeft,
        };
        let mut all: Option<Start<'p>> = None;
        for name in &self.components {
            let Some(next) = parts::start(name, cx)? else { continue };
            all = Some(match all {
                None => next,
                Some(before) => {
                    let product = Product::new(before.component, next.component).merging(merge);
                    let product = Product { reduced: !self.direct, stop: self.stop, ..product };
                    let says = |product: &mut Product<Erased<'p>, Erased<'p>>,
                                (a, b): &(component::Opaque, component::Opaque),
                                pool: &mut Invariants| {
                        match (product.left.0.formula(a, pool), product.right.0.formula(b, pool)) {
                            (Some(a), Some(b)) => Some(pool.all(BinOp::And, &[a, b])),
                            (a, b) => a.or(b),
                        }
                    };
                    Start::new(
                        Part::new(product, says),
                        (before.state, next.state),
                        (before.precision, next.precision),
                    )
                }
            });
        }
        let Some(Start { component, state, precision }) = all else {
            return Err(Halt::Limit("there are no components".into()));
        };
        let order = match self.merge {
            Merge::Separate => Order::BreadthFirst,
            Merge::Join | Merge::Equal => order::weak_topological(cx.program, cx.graph),
        };
        Ok(Exploration::new(component, state, precision, order))
    }

    /// Explores until an error is reached, or to the fixed point where states are merged: what is joined first may
    /// exclude an error once it is narrowed.
    fn explore<'p>(&self, cx: &Context<'p>) -> Result<Run<'p>, Halt> {
        let mut run = self.exploration(cx)?;
        let limits = Limits { first_target: self.merge == Merge::Separate, states: MAX_STATES };
        if let Status::Stopped(halt) = run.run(cx.budget, limits) {
            return Err(halt);
        }
        if run.cpa().merges() {
            run.narrow(cx.budget, NARROWINGS)?;
        }
        Ok(run)
    }

    /// Works on a task; `last` sees the last exploration.
    fn settle(
        &self,
        task: &Task,
        board: &Board,
        budget: &Budget,
        progress: &Progress<'_>,
        last: &mut dyn FnMut(&Program, &Run<'_>),
    ) -> Result<Outcome, Halt> {
        let errors: Vec<LocId> = task.errors.iter().map(|e| e.loc).chain(task.cuts.iter().copied()).collect();
        let graph = task.program.analyse();
        let mut program = task.program.clone();
        let mut tracked = Tracked::new();
        let abstraction = match self.components.iter().any(|c| c == "predicate") {
            true => Abstraction::Boolean,
            false => Abstraction::Cartesian,
        };
        let refined = self.components.iter().any(|c| parts::is_refined(c));
        for round in 0..MAX_ROUNDS {
            progress(format_args!("round {round}: {} predicates", tracked.len()));
            let (grown, more) = {
                let cx = Context {
                    program: &program,
                    graph: &graph,
                    errors: &errors,
                    tracked: &tracked,
                    merge: self.merge,
                    budget,
                };
                let mut run = self.explore(&cx)?;
                last(&program, &run);
                let Some(&target) = run.targets().first() else {
                    return Ok(proof(task, &program, &graph, &mut run));
                };
                let path = run.reached().path_to(target);
                let path: Vec<Step> = path.into_iter().map(|(step, _)| step).collect();
                let steps = Steps::of_edges(&program, budget);
                let mut refiner =
                    PathPredicates::new(steps, Candidates::OfPath, tracked.clone(), abstraction);
                let learned = match refined {
                    true => refiner.learn(&path)?,
                    false if refiner.is_feasible(&path)? => Learned::Feasible,
                    false => Learned::Nothing,
                };
                match learned {
                    Learned::Feasible => return Ok(outcome_of(task, &path, budget)),
                    Learned::Predicates => refiner.into_found(),
                    Learned::Nothing => {
                        let steps = run.targets().iter().filter_map(|&t| run.reached().path_to(t).pop());
                        let mut ends: Vec<LocId> =
                            steps.map(|(step, _)| task.program.edges[step.edge].dst).collect();
                        ends.sort_unstable();
                        ends.dedup();
                        let why = not_excluded(ends.len());
                        board.leave_open(ends);
                        return Ok(Outcome::Unknown(why));
                    }
                }
            };
            (program, tracked) = (grown, more);
        }
        Ok(Outcome::Unknown("too many refinements".into()))
    }
}

impl Engine for Composite {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        if let Some(predicates) = self.predicates_alone() {
            return predicates.run(task, board, budget, progress);
        }
        match self.settle(task, board, budget, progress, &mut |_, _| {}) {
            Ok(outcome) => outcome,
            Err(halt) => Outcome::Unknown(halt.to_string()),
        }
    }

    fn graph(
        &self,
        task: &Task,
        format: Format,
        sources: &SourceMap,
        budget: &Budget,
    ) -> Option<Result<String, String>> {
        if let Some(predicates) = self.predicates_alone() {
            return predicates.graph(task, format, sources, budget);
        }
        let mut graph = None;
        let mut write = |program: &Program, run: &Run<'_>| {
            graph = Some(export::write(program, run, format, sources));
        };
        let outcome = self.settle(task, &Board::default(), budget, &|_| {}, &mut write);
        Some(match (graph, outcome) {
            (Some(graph), _) => Ok(graph),
            (None, Err(halt)) => Err(halt.to_string()),
            (None, Ok(_)) => Err("nothing was explored".into()),
        })
    }
}

/// What holds at the loop heads. The program may have more expressions than the task's.
fn proof(task: &Task, program: &Program, graph: &Graph, run: &mut Run<'_>) -> Outcome {
    let mut pool = Invariants::none(&task.program);
    for expr in program.exprs.iter().skip(task.program.exprs.len()) {
        pool.expr(expr.ty, expr.kind.clone());
    }
    let (cpa, reached) = run.parts();
    for head in graph.loop_heads(task.program.entry) {
        // `None` as soon as a state says nothing.
        let mut cases: Option<Vec<ExprId>> = Some(Vec::new());
        for (_, state) in reached.iter() {
            if cpa.location(state) == Some(head) {
                cases = cases.zip(cpa.0.formula(state, &mut pool)).map(|(mut cases, says)| {
                    cases.push(says);
                    cases
                });
            }
        }
        let Some(cases) = cases else { continue };
        if cases.len() > MAX_CASES {
            return Outcome::Unknown("the invariant has too many cases".into());
        }
        let any = pool.all(BinOp::Or, &cases);
        pool.at.push((head, any));
    }
    Outcome::Proof(Certificate::Invariants(pool))
}
