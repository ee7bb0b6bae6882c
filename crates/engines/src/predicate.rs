//! Lazy predicate abstraction over large blocks: the engine `predicate`.
//!
//! The abstract states at a loop head are truth values of the predicates there. The solver lists
//! the successors of each over the loop-free segments that start at its head (the Boolean
//! abstraction, with blocks as large as they can be).
//!
//! Predicates come from a pool: the program's own conditions, equalities of registers with the
//! constants they are given, and, in a second round, comparisons between registers, as far as they
//! speak about registers that are live at the head. A head starts with none. When an error is
//! reached, the segments on the way are put one after the other, each with a start state of its own
//! that agrees with the end of the one before on the predicates of the pool only. If that is
//! contradictory, the unsatisfiable core names the predicates that must be tracked, and where;
//! otherwise the way is solved as it is, and a solution is a bug.

use crate::board::Board;
use crate::houdini::scalars::{Guesses, register};
use crate::path::read_unknowns;
use crate::{Certificate, Engine, Outcome, Progress};
use palisade_analyses::live::Liveness;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_encode::segment::{self, End};
use palisade_encode::{Encoder, State};
use palisade_evidence::Invariants;
use palisade_logic::{Answer, BvSolver, Evaluator, Limits, Solver, Sort, Term, Terms};
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};

/// The engine `predicate`.
pub struct Predicates;

/// At most this many predicates in the pool of a head.
const MAX_PREDICATES: usize = 400;
/// At most this many refinements.
const MAX_REFINEMENTS: usize = 200;
/// How often a core is made smaller.
const CORE_ROUNDS: usize = 4;
/// At most this many abstract states.
const MAX_STATES: usize = 6000;

impl Engine for Predicates {
    fn name(&self) -> &str {
        "predicate"
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        let live = match Liveness::of(&task.program, budget) {
            Ok(live) => live,
            Err(halt) => return Outcome::Unknown(halt.to_string()),
        };
        for comparisons in [false, true] {
            // What others know may be what is needed.
            let mut pool = board.facts(self.name(), &task.program, &mut 0);
            let predicates = predicates(&task.program, &mut pool, comparisons);
            let extended = task.with_program(pool.extend(&task.program));
            progress(format_args!("{} predicates", predicates.len()));
            let mut search = match Search::new(&extended, &predicates, &live, budget) {
                Ok(search) => search,
                Err(stop) => return Outcome::Unknown(stop.to_string()),
            };
            for round in 0..MAX_REFINEMENTS {
                let found = match search.run(round, progress) {
                    Ok(found) => found,
                    Err(stop) => return Outcome::Unknown(stop.to_string()),
                };
                let path = match found {
                    Found::Invariants(at) => {
                        let facts = at.into_iter().map(|(loc, cubes)| (loc, disjunction(&mut pool, &cubes)));
                        pool.at = facts.collect();
                        return Outcome::Proof(Certificate::Invariants(pool));
                    }
                    Found::TooMany => return Outcome::Unknown("too many abstract states".into()),
                    Found::Error(path) => path,
                };
                match search.refine(&extended, &path) {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(stop) => return Outcome::Unknown(stop.to_string()),
                }
                let heads: Vec<LocId> = path.iter().filter_map(|&b| search.blocks[b].head).collect();
                match solve(task, &heads, budget) {
                    Ok(Some(outcome)) => return outcome,
                    Ok(None) => break,
                    Err(stop) => return Outcome::Unknown(stop.to_string()),
                }
            }
        }
        Outcome::Unknown("the predicates do not exclude the errors".into())
    }
}

/// The predicates with the registers they speak about.
fn predicates(program: &Program, pool: &mut Invariants, comparisons: bool) -> Vec<(ExprId, Vec<VarId>)> {
    let known: Vec<ExprId> = pool.at.drain(..).map(|(_, fact)| fact).collect();
    let mut guesses = Guesses::new(program, pool);
    let mut found = guesses.conditions.clone();
    found.extend(known);
    found.extend(guesses.constants_equal());
    if comparisons {
        guesses.atoms();
        found.append(&mut guesses.found);
    }
    let extended = pool.extend(program);
    found.into_iter().filter_map(|e| Some((e, registers(&extended, e)?))).collect()
}

/// The registers of an expression; `None` if it reads anything else.
fn registers(program: &Program, e: ExprId) -> Option<Vec<VarId>> {
    let mut found = Some(Vec::new());
    program.visit_op(&Op::Assume { cond: e }, &mut |used| {
        if let Use::Read(place) = used {
            match (register(program, place), &mut found) {
                (Some((var, _)), Some(list)) => list.push(var),
                _ => found = None,
            }
        }
    });
    found.filter(|list| !list.is_empty())
}

/// Truth values of the predicates of a head.
type Cube = Vec<bool>;
/// The same with the predicates.
type Literals = Vec<(ExprId, bool)>;

/// A loop head, or the start of the program, with its segments.
struct Block {
    /// `None` for the start.
    head: Option<LocId>,
    /// The predicates that may be tracked here.
    pool: Vec<ExprId>,
    /// Those that are, by their number in the pool, ascending.
    active: Vec<usize>,
    /// The pool where the segments start.
    before: Vec<Term>,
    ends: Vec<BlockEnd>,
}

struct BlockEnd {
    /// The block that begins there; `None` for an error.
    next: Option<usize>,
    guard: Term,
    /// The pool of the next block.
    after: Vec<Term>,
}

enum Found {
    /// The cubes that hold at each head, as literals.
    Invariants(Vec<(LocId, Vec<Literals>)>),
    /// The blocks on the way to an error, the first being the start.
    Error(Vec<usize>),
    TooMany,
}

struct Search<'t> {
    terms: Terms,
    encoder: Encoder<'t>,
    graph: Graph,
    solver: BvSolver,
    blocks: Vec<Block>,
    budget: &'t Budget,
}

impl<'t> Search<'t> {
    fn new(
        task: &'t Task,
        predicates: &[(ExprId, Vec<VarId>)],
        live: &Liveness<'_>,
        budget: &'t Budget,
    ) -> Result<Self, Stop> {
        let graph = task.program.analyse();
        let mut terms = Terms::new();
        let mut encoder = Encoder::new(&task.program, &mut terms);
        let entry = task.body().entry;
        let mut starts: Vec<(Option<LocId>, State)> = vec![(None, encoder.initial_state(&mut terms))];
        for head in graph.loop_heads(task.program.entry) {
            starts.push((Some(head), encoder.arbitrary_state(&mut terms)));
        }
        let mut blocks: Vec<Block> = Vec::new();
        for (head, state) in &starts {
            let mut block = Block {
                head: *head,
                pool: Vec::new(),
                active: Vec::new(),
                before: Vec::new(),
                ends: Vec::new(),
            };
            let mut seen = FxHashSet::default();
            for (predicate, vars) in predicates.iter().filter(|_| head.is_some()) {
                let alive = head.is_some_and(|h| vars.iter().all(|&v| live.is_live(h, v)));
                let term = encoder.cond(&mut terms, state, *predicate);
                let negation = terms.not(term);
                let fresh = terms.bool_value(term).is_none() && !seen.contains(&negation);
                if alive && fresh && block.before.len() < MAX_PREDICATES && seen.insert(term) {
                    block.pool.push(*predicate);
                    block.before.push(term);
                }
            }
            blocks.push(block);
        }
        let number = |loc: LocId| starts.iter().position(|(h, _)| *h == Some(loc));
        for (i, (head, state)) in starts.iter().enumerate() {
            let start = head.unwrap_or(entry);
            let ends = if head.is_none() && graph.is_loop_head(entry) {
                vec![End { loc: entry, state: state.clone() }]
            } else {
                segment::run(task, &graph, &mut encoder, &mut terms, start, state.clone(), budget)?
            };
            for end in ends {
                let next = number(end.loc).filter(|_| graph.is_loop_head(end.loc));
                let after = match next {
                    Some(b) => {
                        let pool = blocks[b].pool.clone();
                        pool.iter().map(|&p| encoder.cond(&mut terms, &end.state, p)).collect()
                    }
                    None => Vec::new(),
                };
                let guard = end.state.guard(&mut terms);
                blocks[i].ends.push(BlockEnd { next, guard, after });
            }
            // Errors first: they end the search.
            blocks[i].ends.sort_by_key(|e| e.next.is_some());
        }
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
        Ok(Search { terms, encoder, graph, solver, blocks, budget })
    }

    fn run(&mut self, round: usize, progress: &Progress<'_>) -> Result<Found, Stop> {
        // Abstract states with the one each was reached from.
        let mut states: Vec<(usize, Cube, usize)> = vec![(0, Vec::new(), 0)];
        let mut known: FxHashMap<(usize, Cube), ()> = FxHashMap::default();
        let mut next = 0;
        while next < states.len() {
            if states.len() > MAX_STATES {
                return Ok(Found::TooMany);
            }
            if next.is_multiple_of(64) {
                progress(format_args!("refinement {round}, {next} of {} abstract states", states.len()));
            }
            let (block, cube) = (states[next].0, states[next].1.clone());
            for end in 0..self.blocks[block].ends.len() {
                let target = self.blocks[block].ends[end].next;
                let successors = match self.successors(block, &cube, end)? {
                    Some(successors) => successors,
                    None => return Ok(Found::TooMany),
                };
                let Some(target) = target else {
                    if !successors.is_empty() {
                        return Ok(Found::Error(path_to(&states, next)));
                    }
                    continue;
                };
                for cube in successors {
                    if known.insert((target, cube.clone()), ()).is_none() {
                        states.push((target, cube, next));
                    }
                }
            }
            next += 1;
        }
        let mut at = Vec::new();
        for (i, block) in self.blocks.iter().enumerate() {
            let Some(head) = block.head else { continue };
            let cubes = states.iter().filter(|(b, ..)| *b == i);
            let tracked = || block.active.iter().map(|&i| block.pool[i]);
            let literals = |cube: &Cube| tracked().zip(cube.iter().copied()).collect();
            at.push((head, cubes.map(|(_, cube, _)| literals(cube)).collect()));
        }
        Ok(Found::Invariants(at))
    }

    /// All truth values of the predicates at an end that a cube leads to; for an error one empty
    /// cube if it is reached. `None` if the solver gives up.
    fn successors(&mut self, block: usize, cube: &Cube, end: usize) -> Result<Option<Vec<Cube>>, Stop> {
        let Block { before, active, ends, .. } = &self.blocks[block];
        let mut assumed: Vec<Term> = Vec::with_capacity(active.len() + 8);
        for (&i, &holds) in active.iter().zip(cube) {
            assumed.push(if holds { before[i] } else { self.terms.not(before[i]) });
        }
        let BlockEnd { next, guard, after } = &ends[end];
        assumed.push(*guard);
        let tracked = next.map_or(&[][..], |next| &self.blocks[next].active);
        let mut found: Vec<Cube> = Vec::new();
        loop {
            self.budget.check()?;
            match self.solver.check(&mut self.terms, &assumed) {
                Answer::Unsat => return Ok(Some(found)),
                Answer::Unknown(_) => {
                    self.budget.check()?;
                    return Ok(None);
                }
                Answer::Sat => {}
            }
            let Some(model) = self.solver.model(&mut self.terms) else { return Ok(None) };
            let mut evaluator = Evaluator::new(&model);
            let cube: Cube = tracked.iter().map(|&i| evaluator.truth(&self.terms, after[i])).collect();
            let mut other = Vec::new();
            for (&i, &holds) in tracked.iter().zip(&cube) {
                other.push(if holds { self.terms.not(after[i]) } else { after[i] });
            }
            found.push(cube);
            assumed.push(self.terms.or_all(other));
        }
    }

    /// Tracks the predicates that a path needs to be excluded. Tells whether there are any that
    /// were not tracked before; if not, the pool cannot exclude the path.
    fn refine(&mut self, task: &Task, path: &[usize]) -> Result<bool, Stop> {
        let terms = &mut self.terms;
        let mut assumed: Vec<Term> = Vec::new();
        // What each link between two segments is about: the block and the predicate's number.
        let mut links: FxHashMap<Term, (usize, usize)> = FxHashMap::default();
        let mut state = self.encoder.initial_state(terms);
        let mut at = task.body().entry;
        for (step, &block) in path.iter().enumerate().skip(1) {
            let Some(head) = self.blocks[block].head else { return Ok(false) };
            let end = if step == 1 && at == head && self.graph.is_loop_head(at) {
                state
            } else {
                let ends = segment::run(task, &self.graph, &mut self.encoder, terms, at, state, self.budget)?;
                match ends.into_iter().find(|e| e.loc == head) {
                    Some(end) => end.state,
                    None => return Ok(false),
                }
            };
            assumed.push(end.guard(terms));
            let start = self.encoder.arbitrary_state(terms);
            for (i, &predicate) in self.blocks[block].pool.iter().enumerate() {
                let before = self.encoder.cond(terms, &end, predicate);
                let after = self.encoder.cond(terms, &start, predicate);
                let agree = terms.eq(before, after);
                // A name of its own, so that the core tells links apart whatever they are about.
                let link = terms.fresh_var("joint", Sort::Bool);
                let named = terms.implies(link, agree);
                assumed.push(named);
                assumed.push(link);
                links.insert(link, (block, i));
            }
            (at, state) = (head, start);
        }
        let ends = segment::run(task, &self.graph, &mut self.encoder, terms, at, state, self.budget)?;
        let errors = ends.iter().filter(|e| !self.graph.is_loop_head(e.loc));
        let errors: Vec<Term> = errors.map(|e| e.state.guard(terms)).collect();
        assumed.push(terms.or_all(errors));
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { budget: self.budget.clone(), ..Limits::default() });
        let (links_used, hard): (Vec<Term>, Vec<Term>) =
            assumed.into_iter().partition(|t| links.contains_key(t));
        for term in hard {
            solver.assert(terms, term);
        }
        if !solver.check(terms, &links_used).is_unsat() {
            self.budget.check()?;
            return Ok(false);
        }
        let mut core = solver.unsat_core();
        // Solving again under the core alone usually makes it smaller.
        for _ in 0..CORE_ROUNDS {
            let before = core.len();
            if !solver.check(terms, &core).is_unsat() {
                break;
            }
            core = solver.unsat_core();
            if core.len() == before {
                break;
            }
        }
        let mut added = false;
        for link in core {
            let (block, i) = links[&link];
            let active = &mut self.blocks[block].active;
            if let Err(place) = active.binary_search(&i) {
                active.insert(place, i);
                added = true;
            }
        }
        Ok(added)
    }
}

fn path_to(states: &[(usize, Cube, usize)], mut at: usize) -> Vec<usize> {
    let mut path = vec![states[at].0];
    while at != 0 {
        at = states[at].2;
        path.push(states[at].0);
    }
    path.reverse();
    path
}

fn disjunction(pool: &mut Invariants, cubes: &[Literals]) -> ExprId {
    let mut parts = Vec::new();
    for cube in cubes {
        let mut literals = Vec::new();
        for &(e, holds) in cube {
            literals.push(if holds { e } else { pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, e)) });
        }
        parts.push(balanced(pool, BinOp::And, literals));
    }
    balanced(pool, BinOp::Or, parts)
}

/// A conjunction or disjunction of logarithmic depth.
fn balanced(pool: &mut Invariants, op: BinOp, mut parts: Vec<ExprId>) -> ExprId {
    while parts.len() > 2 {
        let pairs: Vec<Vec<ExprId>> = parts.chunks(2).map(<[ExprId]>::to_vec).collect();
        parts = pairs.iter().map(|pair| pool.all(op, pair)).collect();
    }
    pool.all(op, &parts)
}

/// Solves the runs that pass these heads and end in an error. `None` if there is none.
fn solve(task: &Task, heads: &[LocId], budget: &Budget) -> Result<Option<Outcome>, Stop> {
    let graph = task.program.analyse();
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let mut state = encoder.initial_state(&mut terms);
    let mut at = task.body().entry;
    // An entry that is a loop head itself is the first head, without a segment before it.
    let skipped = usize::from(graph.is_loop_head(at));
    for &head in heads.iter().skip(skipped) {
        let ends = segment::run(task, &graph, &mut encoder, &mut terms, at, state, budget)?;
        let Some(end) = ends.into_iter().find(|e| e.loc == head) else { return Ok(None) };
        (at, state) = (head, end.state);
    }
    let ends = segment::run(task, &graph, &mut encoder, &mut terms, at, state, budget)?;
    let errors: Vec<Term> =
        ends.iter().filter(|e| task.error_at(e.loc).is_some()).map(|e| e.state.guard(&mut terms)).collect();
    let any = terms.or_all(errors);
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    if solver.check(&mut terms, &[any]) != Answer::Sat {
        budget.check()?;
        return Ok(None);
    }
    Ok(solver.model(&mut terms).map(|model| Outcome::Bug(read_unknowns(task, &terms, &encoder, &model))))
}
