//! Predicates and numbers together, refined by counterexamples: the engines `nexpoint`, `nex`, `mtndd`, `ndd`,
//! and, for comparison, `numeric` and `predicate-only` (section 6.1 of "Combining Predicate and Numeric
//! Abstraction for Software Model Checking").
//!
//! Each round computes an inductive invariant for the current V_P and V_N. If it does not exclude the
//! errors, a path to one of them is needed that the abstraction allows. Joined values do not remember paths; if
//! the one that led to the error is excluded by the abstraction itself, the steps that were taken are
//! replayed backwards (`replay`); if numbers were joined on that way too, states with different predicates are
//! kept apart, then all paths. A search that ends without an error is a proof too. The solver tells whether
//! the path is a run of the program; if not, its unsatisfiable core says what V_N or V_P lack (`refine`).

mod abstraction;
mod approx;
mod control;
mod cpa;
mod linear;
mod pool;
mod precision;
mod refine;
mod replay;

use crate::board::Board;
use crate::numeric::{atoms, constraint};
use crate::path::solve_path;
use crate::{Certificate, Engine, Outcome, Progress};
use abstraction::Abstraction;
use approx::Known;
use cpa::{Combined, Joins, observed};
pub use cpa::{Event, Observer, Operation};
use palisade_analyses::live::Liveness;
use palisade_analyses::location::{Calls, Location, Position};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::{Exploration, Halt, Limits, NodeId, Order, Product, Status, order};
use palisade_domains::Domain;
use palisade_evidence::Invariants;
use palisade_numpred::{Literal, Structure, Value};
use palisade_task::Task;
use pool::Predicates;
use precision::{Precision, Scope};
use refine::{Examined, Learned, Trace};

/// The engine of one of the combined domains.
pub struct NumPred {
    /// The data structure.
    pub structure: Structure,
    /// The numeric domain.
    pub numbers: Domain,
}

/// At most this many rounds.
const MAX_ROUNDS: usize = 100;
/// States with different predicates are kept apart up to this many.
const MAX_APART: usize = 3000;
/// Paths are followed one by one up to this many states.
const MAX_PATH_STATES: usize = 1500;
/// Rounds of narrowing.
const NARROWINGS: usize = 2;
/// An invariant of more conjunctions is not written down.
const MAX_CUBES: usize = 1000;

impl Engine for NumPred {
    fn name(&self) -> &str {
        self.structure.name()
    }

    fn run(&self, task: &Task, _: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        self.observe(task, budget, &|event| {
            if let Event::Round(n, vars, preds) = event {
                progress(format_args!("round {n}: {vars} variables, {preds} predicates"));
            }
        })
    }
}

type Run<'p, 'o> = Exploration<Product<Location<'p>, Combined<'p, 'o>>>;

/// What a search for an error found.
enum Searched {
    /// There is none.
    Nothing,
    /// A way to one that the abstraction allows.
    Found(Vec<EdgeId>),
    /// A way to one that the abstraction excludes when it is followed alone.
    Doubtful(Vec<EdgeId>),
    /// Too many states.
    Limited,
}

/// The edges on the way to a state.
fn edges(run: &Run<'_, '_>, target: NodeId) -> Vec<EdgeId> {
    run.reached().path_to(target).into_iter().map(|(step, _)| step.edge).collect()
}

/// What a round found.
enum Round<'p, 'o> {
    /// No error is reached.
    Proved(Box<Run<'p, 'o>>),
    /// A way to an error, and whether the abstraction allows it when it is followed alone.
    Path(Box<Combined<'p, 'o>>, Vec<EdgeId>, bool),
}

impl NumPred {
    /// Works on a task, and tells an observer about it.
    pub fn observe(&self, task: &Task, budget: &Budget, observer: Observer<'_>) -> Outcome {
        match self.settle(task, budget, observer) {
            Ok(outcome) => outcome,
            Err(halt) => Outcome::Unknown(halt.to_string()),
        }
    }

    /// Whether these variables and predicates, tracked everywhere, are enough for a proof: one round
    /// without refinement.
    pub fn proves_with(
        &self,
        task: &Task,
        vars: &[VarId],
        preds: &[ExprId],
        budget: &Budget,
    ) -> Result<bool, String> {
        let mut precision = Precision::default();
        vars.iter().for_each(|&v| _ = precision.add_var(v));
        preds.iter().for_each(|&p| _ = precision.add_pred(p, &Scope::Everywhere));
        let live = Liveness::of(&task.program, budget).map_err(|halt| halt.to_string())?;
        let round = self.round(task, &task.program, &live, &mut precision, Known::default(), budget, &|_| {});
        round.map(|found| matches!(found, Round::Proved(_))).map_err(|halt| halt.to_string())
    }

    fn settle(&self, task: &Task, budget: &Budget, observer: Observer<'_>) -> Result<Outcome, Halt> {
        let mut precision = Precision::default();
        let mut pool = Predicates::new(Invariants::none(&task.program));
        let mut learned = Learned::new(&task.program);
        let live = Liveness::of(&task.program, budget)?;
        let mut known = Known::default();
        for round in 0..MAX_ROUNDS {
            observer(Event::Round(round, precision.vars.len(), precision.preds.len()));
            let program = pool.pool.extend(&task.program);
            let found = self.round(task, &program, &live, &mut precision, known, budget, observer)?;
            let (mut combined, path, allowed) = match found {
                Round::Proved(mut run) => {
                    let proof = || proof(&mut run, task, &program, precision, pool);
                    return Ok(observed(observer, Operation::Gamma, proof));
                }
                Round::Path(combined, path, allowed) => (combined, path, allowed),
            };
            let mut joined = Vec::new();
            if !allowed {
                let ends = path.iter().map(|&e| program.edges[e].dst);
                let heads: Vec<LocId> = ends.filter(|&l| combined.is_head(Some(l))).collect();
                joined = refine::asked(&program, &path);
                joined.retain(|v| heads.iter().any(|&l| live.is_live(l, *v)));
            }
            known = std::mem::take(&mut combined.abstraction.approx.known);
            let examined = refine::examine(
                &program,
                &mut pool,
                Trace { path: &path, joined },
                &mut precision,
                &mut learned,
                self.structure,
                &combined.abstraction,
                budget,
            )?;
            match examined {
                Examined::Refined => {}
                Examined::Stuck => {
                    return Ok(Outcome::Unknown("a counterexample has nothing more to track".into()));
                }
                Examined::Feasible => {
                    let end = path.last().map(|&e| program.edges[e].dst);
                    if end.is_some_and(|loc| task.cuts.contains(&loc)) {
                        return Ok(Outcome::Unknown("a call that is not followed is reached".into()));
                    }
                    return Ok(match solve_path(task, &path, budget) {
                        Ok(Some(counterexample)) => Outcome::Bug(counterexample),
                        Ok(None) => Outcome::Unknown("the path is infeasible".into()),
                        Err(why) => Outcome::Unknown(why),
                    });
                }
            }
        }
        Ok(Outcome::Unknown("too many refinements".into()))
    }

    /// One abstraction of the program: a finished run without errors, or the way to one.
    #[expect(clippy::too_many_arguments, reason = "what a round starts with")]
    fn round<'p, 'o>(
        &self,
        task: &Task,
        program: &'p Program,
        live: &'p Liveness<'_>,
        precision: &mut Precision,
        known: Known,
        budget: &Budget,
        observer: Observer<'o>,
    ) -> Result<Round<'p, 'o>, Halt> {
        let graph = program.analyse();
        let abstraction = Abstraction::new(program, live, precision, self.structure, known, budget);
        let limit = |why: palisade_dd::OutOfBudget| Halt::Limit(why.to_string());
        let names = abstraction.names.clone();
        let mut dom = self.structure.domain(names, self.numbers, budget).map_err(limit)?;
        dom.space_mut().nums.thresholds = abstraction.thresholds();
        let heads = program.locs.ids().map(|l| graph.is_loop_head(l)).collect();
        let mut combined = Combined::new(dom, abstraction, heads, observer);
        let errors: Vec<LocId> = task.errors.iter().map(|e| e.loc).chain(task.cuts.iter().copied()).collect();
        let explore = |mut combined: Combined<'p, 'o>, joins: Joins| {
            combined.joins = joins;
            let location = Location::new(program, Calls::StepOver, &errors);
            let initial = (location.initial(), combined.initial()?);
            let order: Order = order::weak_topological(program, &graph);
            let mut run = Exploration::new(Product::new(location, combined), initial, ((), ()), order);
            let states = match joins {
                Joins::All => usize::MAX,
                Joins::Numbers => MAX_APART,
                Joins::Nothing => MAX_PATH_STATES,
            };
            let limits = Limits { first_target: true, states };
            let first = |run: &Run<'p, 'o>| run.targets().first().map(|&target| edges(run, target));
            match run.run(budget, limits) {
                Status::Complete => {}
                Status::Stopped(Halt::Limit(_)) if joins != Joins::All => {
                    return Ok((run, Searched::Limited));
                }
                Status::Stopped(halt) => return Err(halt),
                Status::TargetReached(target) => {
                    // What was joined may have been on different paths.
                    let path = edges(&run, target);
                    let combined = &mut run.cpa_mut().right;
                    if combined.allows(&path)? {
                        return Ok((run, Searched::Found(path)));
                    }
                    if joins == Joins::All
                        && let Some(&last) = path.last()
                    {
                        let path = combined.replay(program.edges[last].dst)?;
                        if combined.allows(&path)? {
                            return Ok((run, Searched::Found(path)));
                        }
                    }
                }
            }
            if joins == Joins::All {
                if let Status::Stopped(halt) = run.run(budget, Limits::NONE) {
                    return Err(halt);
                }
                run.narrow(budget, NARROWINGS)?;
            }
            let searched = first(&run).map_or(Searched::Nothing, Searched::Doubtful);
            Ok((run, searched))
        };
        let mut doubtful = Vec::new();
        for joins in [Joins::All, Joins::Numbers, Joins::Nothing] {
            if joins == Joins::Numbers && precision.preds.is_empty() {
                continue;
            }
            let (run, searched) = explore(combined, joins)?;
            match searched {
                Searched::Nothing => return Ok(Round::Proved(Box::new(run))),
                Searched::Found(path) => return Ok(Round::Path(Box::new(run.into_cpa().right), path, true)),
                Searched::Doubtful(path) => doubtful = path,
                Searched::Limited => {}
            }
            combined = run.into_cpa().right;
        }
        Ok(Round::Path(Box::new(combined), doubtful, false))
    }
}

/// What holds at the loop heads.
fn proof(
    run: &mut Run<'_, '_>,
    task: &Task,
    program: &Program,
    precision: Precision,
    mut pool: Predicates,
) -> Outcome {
    let graph = program.analyse();
    let mut at: Vec<(LocId, Vec<Value>)> =
        graph.loop_heads(task.program.entry).map(|head| (head, Vec::new())).collect();
    let (cpa, reached) = run.parts();
    for (_, (position, state)) in reached.iter() {
        if let Position::At(loc) = *position
            && let Some((_, values)) = at.iter_mut().find(|(head, _)| *head == loc)
        {
            values.push(state.value.clone());
        }
    }
    let atoms = atoms(&task.program, &mut pool.pool, &cpa.right.abstraction.dims());
    let dom = &mut cpa.right.dom;
    for (head, values) in at {
        let mut cubes = Vec::new();
        for v in &values {
            match dom.gamma(v) {
                Ok(more) => cubes.extend(more),
                Err(why) => return Outcome::Unknown(why.to_string()),
            }
        }
        if cubes.len() > MAX_CUBES {
            return Outcome::Unknown("the invariant has too many cases".into());
        }
        let mut cases = Vec::new();
        for cube in &cubes {
            let mut parts = Vec::new();
            for literal in cube {
                match literal {
                    Literal::Pred(p, _, positive) => {
                        let e = precision.preds[p.0 as usize].0;
                        let not = ExprKind::Unary(UnOp::Not, e);
                        parts.push(if *positive { e } else { pool.pool.expr(Scalar::BOOL, not) });
                    }
                    Literal::Num(c) => parts.extend(constraint(&mut pool.pool, &atoms, c)),
                }
            }
            cases.push(pool.pool.all(BinOp::And, &parts));
        }
        let any = pool.pool.all(BinOp::Or, &cases);
        pool.pool.at.push((head, any));
    }
    Outcome::Proof(Certificate::Invariants(pool.pool))
}
