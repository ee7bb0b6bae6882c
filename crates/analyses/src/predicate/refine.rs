//! Counterexample-guided refinement (section 6.2): which predicates a path to an error lacks.
//!
//! The steps of the path, edges or blocks, are put one after the other, each with a start state of its own that
//! agrees with the end of the one before on the candidates only. If that is contradictory, the unsatisfiable core
//! names the predicates that must be tracked, and where. Otherwise the path is solved as it is: it may be a run. If
//! it is none, a path along edges has weakest preconditions of the branches to blame, location by location, which
//! always exclude it.

use super::pool::Pool;
use super::search::Analysis;
use super::steps::Steps;
use super::{Abstraction, Predicates};
use crate::live::Liveness;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_encode::segment::End;
use palisade_encode::{Encoder, State};
use palisade_logic::services::minimise_core;
use palisade_logic::{Answer, BvSolver, Solver, Sort, Term, Terms, Unknown};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Refinements at most.
const MAX_ROUNDS: usize = 200;
/// Candidates at one location at most.
const MAX_CANDIDATES: usize = 400;
/// How often a core is made smaller.
const CORE_ROUNDS: usize = 4;
/// Predicates at one location at most, where all their combinations are looked at edge by edge.
const MAX_PREDICATES: usize = 14;
/// The same where single ones are.
const MAX_CONJUNCTS: usize = 60;

/// The predicates that may be tracked.
pub enum Candidates<'p> {
    /// These, where all the registers that they speak about are live.
    Given(&'p [ExprId], &'p Liveness<'p>),
    /// The conditions of the path itself, up to where they are branched on.
    OfPath,
}

/// What an error path teaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Learned {
    /// It is one of the program.
    Feasible,
    /// More predicates exclude it.
    Predicates,
    /// It is none of the program, and there are no more predicates.
    Nothing,
}

/// Predicates by location.
pub type Tracked = BTreeSet<(LocId, ExprId)>;

/// A state that a step starts in, after a cut, and what blocks lead to from there.
type Cut = (State, Rc<[End]>);

/// A refiner that finds predicates for infeasible paths.
pub struct PathPredicates<'p> {
    steps: Steps<'p>,
    candidates: Candidates<'p>,
    /// Those of a location, where they are given.
    alive: FxHashMap<LocId, Rc<[ExprId]>>,
    pool: Pool,
    tracked: Tracked,
    abstraction: Abstraction,
    rounds: usize,
    terms: Terms,
    encoder: Encoder<'p>,
    /// The state that step number n starts in, after a cut, and what blocks lead to from there.
    cuts: FxHashMap<(usize, LocId), Cut>,
}

impl<'p> PathPredicates<'p> {
    /// A refiner that knows these predicates already. `steps` are those of the analysis.
    pub fn new(
        steps: Steps<'p>,
        candidates: Candidates<'p>,
        tracked: Tracked,
        abstraction: Abstraction,
    ) -> Self {
        let mut terms = Terms::new();
        let encoder = Encoder::new(steps.program(), &mut terms);
        PathPredicates {
            pool: Pool::new(steps.program()),
            steps,
            candidates,
            alive: FxHashMap::default(),
            tracked,
            abstraction,
            rounds: 0,
            terms,
            encoder,
            cuts: FxHashMap::default(),
        }
    }

    /// Whether predicates were found that are no expressions of the program yet.
    fn has_new_expressions(&self) -> bool {
        self.pool.program.exprs.len() > self.steps.program().exprs.len()
    }

    /// The predicates so far.
    pub fn tracked(&self) -> &Tracked {
        &self.tracked
    }

    /// The program with the predicates among its expressions, and where they are tracked.
    pub fn into_found(self) -> (Program, Tracked) {
        (self.pool.program, self.tracked)
    }

    /// Whether a path from the start on may be a run of the program.
    pub fn is_feasible(&mut self, path: &[Step]) -> Result<bool, Halt> {
        let mut solver = self.solver();
        match self.conditions(path)? {
            Ok(conditions) => is_sat(&mut solver, &mut self.terms, &conditions),
            Err(_) => Ok(false),
        }
    }

    /// Looks at a path to an error, from the start on.
    pub fn learn(&mut self, path: &[Step]) -> Result<Learned, Halt> {
        let mut changed = false;
        for (loc, predicate) in self.lacking(path)? {
            changed |= self.add(loc, predicate);
        }
        if changed {
            return Ok(Learned::Predicates);
        }
        if path.iter().any(|step| matches!(step.kind, StepKind::Block(_))) {
            // Blocks have no single branches to blame.
            return Ok(if self.is_feasible(path)? { Learned::Feasible } else { Learned::Nothing });
        }
        let Some(blamed) = self.blame(path)? else { return Ok(Learned::Feasible) };
        let last = blamed.last().copied().unwrap_or(0);
        let all: Vec<usize> = (0..path.len()).collect();
        let changed = self.add_conditions(path, &all, None)
            || self.add_preconditions(path, &blamed)
            || self.add_conditions(path, &blamed, Some(last));
        Ok(if changed { Learned::Predicates } else { Learned::Nothing })
    }

    fn solver(&self) -> BvSolver {
        let mut solver = BvSolver::new();
        let budget = self.steps.budget().clone();
        solver.set_limits(palisade_logic::Limits { budget, ..Default::default() });
        solver
    }

    /// The candidates that exclude a path together, if they do.
    fn lacking(&mut self, path: &[Step]) -> Result<Vec<(LocId, ExprId)>, Stop> {
        let mut hard: Vec<Term> = Vec::new();
        // What each link between two steps is about.
        let mut links: FxHashMap<Term, (LocId, ExprId)> = FxHashMap::default();
        let mut names: Vec<Term> = Vec::new();
        let entry = self.entry();
        let mut end = (entry, self.encoder.initial_state(&mut self.terms));
        for (i, step) in path.iter().enumerate() {
            let (loc, state) = end;
            let after = if i == 0 && self.steps.is_start(entry) {
                self.steps.after(&mut self.encoder, &mut self.terms, &state, step)?
            } else {
                hard.push(state.guard(&mut self.terms));
                let (start, ends) = self.cut(i, loc, step)?;
                for predicate in self.candidates(loc, &path[i..]).iter().copied() {
                    let before = self.encoder.cond(&mut self.terms, &state, predicate);
                    let after = self.encoder.cond(&mut self.terms, &start, predicate);
                    let agree = self.terms.eq(before, after);
                    if self.terms.bool_value(agree) == Some(true) {
                        continue;
                    }
                    // A name of its own, so that the core tells links apart whatever they are about.
                    let link = self.terms.fresh_var("joint", Sort::Bool);
                    hard.push(self.terms.implies(link, agree));
                    links.insert(link, (loc, predicate));
                    names.push(link);
                }
                match step.kind {
                    StepKind::Block(to) => ends.iter().find(|e| e.loc == to).map(|e| e.state.clone()),
                    _ => self.steps.after(&mut self.encoder, &mut self.terms, &start, step)?,
                }
            };
            // A step that is impossible by itself needs no predicates.
            let Some(after) = after else { return Ok(Vec::new()) };
            end = (self.steps.end(step), after);
        }
        hard.push(end.1.guard(&mut self.terms));
        let mut solver = self.solver();
        for term in hard {
            solver.assert(&mut self.terms, term);
        }
        if !solver.check(&mut self.terms, &names).is_unsat() {
            self.steps.budget().check()?;
            return Ok(Vec::new());
        }
        let mut core = solver.unsat_core();
        // Solving again under the core alone usually makes it smaller. Leaving out whatever can be left out gives
        // fewer predicates, but not fewer states: two state machines took two to seven times as long.
        for _ in 0..CORE_ROUNDS {
            let before = core.len();
            if !solver.check(&mut self.terms, &core).is_unsat() {
                break;
            }
            core = solver.unsat_core();
            if core.len() == before {
                break;
            }
        }
        Ok(core.iter().map(|link| links[link]).collect())
    }

    fn entry(&self) -> LocId {
        let program = self.steps.program();
        program.body(program.entry).entry
    }

    /// A state of its own for a step to start in, with the ends of the blocks from there.
    fn cut(&mut self, i: usize, loc: LocId, step: &Step) -> Result<(State, Rc<[End]>), Stop> {
        if let Some(known) = self.cuts.get(&(i, loc)) {
            return Ok(known.clone());
        }
        let start = self.encoder.arbitrary_state(&mut self.terms);
        let ends = match step.kind {
            StepKind::Block(_) => {
                self.steps.blocks(&mut self.encoder, &mut self.terms, loc, start.clone())?
            }
            _ => Vec::new(),
        };
        let cut = (start, Rc::from(ends));
        self.cuts.insert((i, loc), cut.clone());
        Ok(cut)
    }

    /// The predicates that may be tracked at a location with the rest of a path before it.
    fn candidates(&mut self, loc: LocId, rest: &[Step]) -> Rc<[ExprId]> {
        let Candidates::Given(given, live) = self.candidates else {
            let mut found = Vec::new();
            for step in rest {
                for atom in self.pool.atoms(self.steps.program(), step.edge) {
                    // What the program lacks comes later, with its preconditions.
                    let known = atom.0 < self.steps.program().exprs.len() as u32;
                    if known && !found.contains(&atom) && found.len() < MAX_CANDIDATES {
                        found.push(atom);
                    }
                }
            }
            return found.into();
        };
        if let Some(known) = self.alive.get(&loc) {
            return known.clone();
        }
        let start = self.encoder.arbitrary_state(&mut self.terms);
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        for &predicate in given {
            let alive = registers(self.steps.program(), predicate)
                .is_some_and(|vars| vars.iter().all(|&v| live.is_live(loc, v)));
            let term = self.encoder.cond(&mut self.terms, &start, predicate);
            let negation = self.terms.not(term);
            let fresh = self.terms.bool_value(term).is_none() && !seen.contains(&negation);
            if alive && fresh && found.len() < MAX_CANDIDATES && seen.insert(term) {
                found.push(predicate);
            }
        }
        self.alive.entry(loc).or_insert(found.into()).clone()
    }

    /// The positions of the branches that make a path infeasible, of which no smaller set does; `None` if it is
    /// feasible.
    fn blame(&mut self, path: &[Step]) -> Result<Option<Vec<usize>>, Halt> {
        let mut solver = self.solver();
        let conditions = match self.conditions(path)? {
            Ok(conditions) => conditions,
            Err(impossible) => return Ok(Some(vec![impossible])),
        };
        if is_sat(&mut solver, &mut self.terms, &conditions)? {
            return Ok(None);
        }
        let core = solver.unsat_core();
        let core = minimise_core(&mut solver, &mut self.terms, &core);
        Ok(Some(conditions.branches.iter().filter(|(_, t)| core.contains(t)).map(|(i, _)| *i).collect()))
    }

    /// What holds in the runs that take a path, or the position of a step that is impossible.
    fn conditions(&mut self, path: &[Step]) -> Result<Result<Conditions, usize>, Stop> {
        let mut state = self.encoder.initial_state(&mut self.terms);
        let mut found = Conditions { given: Vec::new(), branches: Vec::new() };
        for (i, step) in path.iter().enumerate() {
            found.given.append(&mut state.path);
            if let (StepKind::Local, &Op::Assume { cond }) =
                (step.kind, &self.steps.program().edges[step.edge].op)
            {
                let term = self.encoder.cond(&mut self.terms, &state, cond);
                match self.terms.bool_value(term) {
                    Some(true) => {}
                    Some(false) => return Ok(Err(i)),
                    None => found.branches.push((i, term)),
                }
                continue;
            }
            match self.steps.after(&mut self.encoder, &mut self.terms, &state, step)? {
                Some(next) => state = next,
                None => return Ok(Err(i)),
            }
        }
        found.given.append(&mut state.path);
        Ok(Ok(found))
    }

    /// Tracks a predicate; whether it is new there.
    fn add(&mut self, loc: LocId, predicate: ExprId) -> bool {
        let most = match self.abstraction {
            Abstraction::Boolean => MAX_PREDICATES,
            Abstraction::Cartesian => MAX_CONJUNCTS,
            Abstraction::Valuations => MAX_CANDIDATES,
        };
        let here = self.tracked.range((loc, ExprId(0))..=(loc, ExprId(u32::MAX))).count();
        if here >= most || self.pool.is_constant(predicate) {
            return false;
        }
        let mut new = self.tracked.insert((loc, predicate));
        if self.abstraction == Abstraction::Cartesian {
            // A conjunction has positive literals only.
            let negation = self.pool.negation(predicate);
            new |= self.tracked.insert((loc, negation));
        }
        new
    }

    /// The conditions of some branches, as they are, at every location of the path up to their branch, or to a
    /// later one: conjunctions must remember a condition until it is used together with another.
    fn add_conditions(&mut self, path: &[Step], branches: &[usize], until: Option<usize>) -> bool {
        let mut changed = false;
        for &i in branches {
            for atom in self.pool.atoms(self.steps.program(), path[i].edge) {
                for step in &path[..=until.unwrap_or(i).max(i)] {
                    changed |= self.add(self.steps.program().edges[step.edge].src, atom);
                }
            }
        }
        changed
    }

    /// The weakest preconditions of the conditions to blame.
    fn add_preconditions(&mut self, path: &[Step], blamed: &[usize]) -> bool {
        let program = self.steps.program();
        let mut changed = false;
        for &i in blamed {
            for atom in self.pool.atoms(program, path[i].edge) {
                let mut now = atom;
                changed |= self.add(program.edges[path[i].edge].src, now);
                for step in path[..i].iter().rev() {
                    let Some(before) = self.pool.before(program, step.edge, now) else { break };
                    now = before;
                    changed |= self.add(program.edges[step.edge].src, now);
                }
            }
        }
        changed
    }
}

/// What holds in the runs that take a path.
struct Conditions {
    /// Whatever way is taken.
    given: Vec<Term>,
    /// The condition of each branch that is taken.
    branches: Vec<(usize, Term)>,
}

fn is_sat(solver: &mut BvSolver, terms: &mut Terms, conditions: &Conditions) -> Result<bool, Halt> {
    let branches = conditions.branches.iter().map(|(_, term)| *term);
    let all: Vec<Term> = conditions.given.iter().copied().chain(branches).collect();
    match solver.check(terms, &all) {
        Answer::Sat => Ok(true),
        Answer::Unsat => Ok(false),
        Answer::Unknown(Unknown::Stopped(stop)) => Err(stop.into()),
        Answer::Unknown(why) => Err(Halt::Limit(why.to_string())),
    }
}

/// The registers of an expression; `None` if it reads anything else, or nothing.
fn registers(program: &Program, e: ExprId) -> Option<Vec<VarId>> {
    let mut found = Some(Vec::new());
    program.visit_op(&Op::Assume { cond: e }, &mut |used| {
        if let Use::Read(place) = used {
            match (program.whole_integer(place), &mut found) {
                (Some((var, _)), Some(list)) => list.push(var),
                _ => found = None,
            }
        }
    });
    found.filter(|list| !list.is_empty())
}

impl<'p> Refiner<Analysis<'p>> for PathPredicates<'p> {
    fn refine(
        &mut self,
        exploration: &mut Exploration<Analysis<'p>>,
        target: NodeId,
        _: &Budget,
    ) -> Result<Refinement<<Analysis<'p> as AbstractDomain>::State, ((), Predicates)>, Halt> {
        let path = exploration.reached().path_to(target);
        let steps: Vec<Step> = path.iter().map(|(step, _)| *step).collect();
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS {
            return Ok(Refinement::Stuck("too many refinements".into()));
        }
        match self.learn(&steps)? {
            Learned::Feasible => Ok(Refinement::Feasible),
            Learned::Nothing => Ok(Refinement::Stuck("the predicates do not exclude the errors".into())),
            Learned::Predicates if self.has_new_expressions() => {
                Ok(Refinement::Stuck("new predicates are expressions that the program lacks".into()))
            }
            // The path may need predicates from its first location on.
            Learned::Predicates => {
                let initial = super::search::initial(exploration.cpa_mut(), &self.tracked)?;
                Ok(Refinement::Again(initial))
            }
        }
    }
}
