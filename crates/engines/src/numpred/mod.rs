//! Predicates and numbers together, refined by counterexamples: the engines `nexpoint`, `nex`, `mtndd`, `ndd`,
//! and, for comparison, `numeric` and `predicate-only` (section 6.1 of "Combining Predicate and Numeric
//! Abstraction for Software Model Checking").
//!
//! Each round computes an inductive invariant for the current V_P and V_N. If it does not exclude the
//! errors, the paths are followed one by one, without joins: this either ends without an error, which
//! is a proof too, or shows a path that the abstraction cannot exclude. The solver tells whether that is
//! a run of the program; if not, its unsatisfiable core says what V_N or V_P lack.

mod abstraction;
mod cpa;
mod refine;

use crate::numeric::constraint;
use crate::path::solve_path;
use crate::{Certificate, Engine, Outcome};
use abstraction::{Abstraction, Precision};
use cpa::Combined;
use palisade_analyses::location::{Calls, Location, Position};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::{Exploration, Halt, Limits, Order, Product, Status, order};
use palisade_domains::Domain;
use palisade_evidence::Invariants;
use palisade_numpred::{Literal, Structure, Value};
use palisade_task::Task;
use refine::{Examined, Predicates};
use std::fmt;

/// The engine of one of the combined domains.
pub struct NumPred {
    /// The data structure.
    pub structure: Structure,
    /// The numeric domain.
    pub numbers: Domain,
}

/// At most this many rounds.
const MAX_ROUNDS: usize = 100;
/// Paths are followed one by one up to this many abstract states.
const MAX_PATH_STATES: usize = 1500;
/// Rounds of narrowing.
const NARROWINGS: usize = 2;
/// An invariant of more conjunctions is not written down.
const MAX_CUBES: usize = 1000;

impl Engine for NumPred {
    fn name(&self) -> &'static str {
        self.structure.name()
    }

    fn run(&self, task: &Task, budget: &Budget, progress: &dyn Fn(fmt::Arguments<'_>)) -> Outcome {
        match self.settle(task, budget, progress) {
            Ok(outcome) => outcome,
            Err(halt) => Outcome::Unknown(halt.to_string()),
        }
    }
}

type Run<'p> = Exploration<Product<Location<'p>, Combined<'p>>>;

impl NumPred {
    fn settle(
        &self,
        task: &Task,
        budget: &Budget,
        progress: &dyn Fn(fmt::Arguments<'_>),
    ) -> Result<Outcome, Halt> {
        let mut precision = Precision::default();
        let mut pool = Predicates::new(Invariants::none(&task.program));
        for round in 0..MAX_ROUNDS {
            let (vars, preds) = (precision.vars.len(), precision.preds.len());
            progress(format_args!("round {round}: {vars} variables, {preds} predicates"));
            let program = pool.pool.extend(&task.program);
            let (mut run, path) = self.round(task, &program, &mut precision, budget)?;
            let Some(path) = path else { return Ok(proof(&mut run, task, &program, precision, pool)) };
            let abstraction = &run.cpa().right.abstraction;
            let can_track = |v: VarId| abstraction.can_track(v);
            let examined = refine::examine(
                &program,
                &mut pool,
                &path,
                &mut precision,
                self.structure,
                &can_track,
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
                        Ok(counterexample) => Outcome::Bug(counterexample),
                        Err(why) => Outcome::Unknown(why),
                    });
                }
            }
        }
        Ok(Outcome::Unknown("too many refinements".into()))
    }

    /// One abstraction of the program: a finished run without errors, or the way to one.
    fn round<'p>(
        &self,
        task: &Task,
        program: &'p Program,
        precision: &mut Precision,
        budget: &Budget,
    ) -> Result<(Run<'p>, Option<Vec<EdgeId>>), Halt> {
        let graph = program.analyse();
        let abstraction = Abstraction::new(program, precision, budget);
        let limit = |why: palisade_dd::OutOfBudget| Halt::Limit(why.to_string());
        let names = abstraction.names.clone();
        let mut dom = self.structure.domain(names, self.numbers, budget).map_err(limit)?;
        dom.space_mut().nums.thresholds = abstraction.thresholds();
        let heads = program.locs.ids().map(|l| graph.is_loop_head(l)).collect();
        let combined = Combined::new(dom, abstraction, heads);
        let errors: Vec<LocId> = task.errors.iter().map(|e| e.loc).chain(task.cuts.iter().copied()).collect();
        let edges = |run: &Run<'p>, target| {
            run.reached().path_to(target).into_iter().map(|(step, _)| step.edge).collect::<Vec<EdgeId>>()
        };
        let explore = |mut combined: Combined<'p>, joins: bool| {
            combined.joins = joins;
            let location = Location::new(program, Calls::StepOver, &errors);
            let initial = (location.initial(), combined.initial()?);
            let order: Order = order::weak_topological(program, &graph);
            let mut run = Exploration::new(Product::new(location, combined), initial, ((), ()), order);
            let limits = match joins {
                true => Limits::NONE,
                false => Limits { first_target: true, states: MAX_PATH_STATES },
            };
            let status = run.run(budget, limits);
            Ok::<_, Halt>((run, status))
        };
        let (mut run, status) = explore(combined, true)?;
        if let Status::Stopped(halt) = status {
            return Err(halt);
        }
        run.narrow(budget, NARROWINGS)?;
        let Some(&target) = run.targets().first() else { return Ok((run, None)) };
        let joined = edges(&run, target);
        let (run, status) = explore(run.into_cpa().right, false)?;
        match (status, run.targets().first()) {
            // Too many paths: the one through the joined values will have to do.
            (Status::Stopped(Halt::Limit(_)), None) => Ok((run, Some(joined))),
            (Status::Stopped(halt), None) => Err(halt),
            (_, None) => Ok((run, None)),
            (_, Some(&target)) => {
                let path = edges(&run, target);
                Ok((run, Some(path)))
            }
        }
    }
}

/// What holds at the loop heads.
fn proof(
    run: &mut Run<'_>,
    task: &Task,
    program: &Program,
    precision: Precision,
    mut pool: Predicates,
) -> Outcome {
    let graph = program.analyse();
    let mut at: Vec<(LocId, Vec<Value>)> =
        graph.loop_heads(task.program.entry).map(|head| (head, Vec::new())).collect();
    let (cpa, reached) = run.parts();
    for (_, (position, value)) in reached.iter() {
        if let Position::At(loc) = *position
            && let Some((_, values)) = at.iter_mut().find(|(head, _)| *head == loc)
        {
            values.push(value.clone());
        }
    }
    let dims = cpa.right.abstraction.dims();
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
                        let e = precision.preds[p.0 as usize];
                        let not = ExprKind::Unary(UnOp::Not, e);
                        parts.push(if *positive { e } else { pool.pool.expr(Scalar::BOOL, not) });
                    }
                    Literal::Num(c) => parts.extend(constraint(&task.program, &mut pool.pool, &dims, c)),
                }
            }
            cases.push(pool.pool.all(BinOp::And, &parts));
        }
        let any = pool.pool.all(BinOp::Or, &cases);
        pool.pool.at.push((head, any));
    }
    Outcome::Proof(Certificate::Invariants(pool.pool))
}
