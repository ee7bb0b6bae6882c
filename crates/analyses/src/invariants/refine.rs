//! Counterexample-guided refinement (section 6.2) of the predicate analysis.
//!
//! The loop is [`palisade_cpa::cegar()`]; the refiner is [`PathPredicates`]: it asks the solver
//! whether an abstract error path is one of the program. If not, the branches in the unsat core are
//! to blame. First their conditions are tracked all along the path, then those of all branches, and if
//! they already are, the weakest preconditions of those to blame, location by location, which always
//! excludes the path.

use super::paths::whole_register;
use crate::location::{Calls, Location, Position};
use crate::predicate::{Abstraction, Predicate, Predicates};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_encode::Encoder;
use palisade_logic::services::minimise_core;
use palisade_logic::{Answer, BvSolver, Solver, Term, Terms, Unknown};
use palisade_task::Task;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Refinements at most.
const MAX_ROUNDS: usize = 60;
/// Reached states at most.
const MAX_STATES: usize = 20_000;
/// Predicates at one location at most, where all their combinations are looked at.
const MAX_PREDICATES: usize = 14;
/// The same where single ones are.
const MAX_CONJUNCTS: usize = 60;
/// Larger preconditions are not followed further back.
const MAX_SIZE: usize = 60;

/// What refinement found out.
#[derive(Clone, Debug)]
pub struct Refined {
    /// The task's program with the predicates among its expressions.
    pub program: Program,
    /// For each loop head that is reached, the predicates that hold or do not, as a disjunction of
    /// conjunctions; only known if the program was proved.
    pub invariants: BTreeMap<LocId, Vec<Vec<(ExprId, bool)>>>,
    /// Whether no error location can be reached.
    pub proved: bool,
}

type Analysis<'p> = Product<Location<'p>, Predicate<'p>>;

/// Explores with predicates, refining until the errors are excluded or one is found to be real.
pub fn invariants(task: &Task, budget: &Budget) -> Result<Refined, Halt> {
    let mut program = task.program.clone();
    let mut tracked: BTreeSet<(LocId, ExprId)> = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let round = explore(task, &program, &tracked, budget)?;
        match round {
            Round::Done(invariants) => return Ok(Refined { program, invariants, proved: true }),
            Round::Feasible => return Ok(Refined { program, invariants: BTreeMap::new(), proved: false }),
            Round::Refined(next, more) => {
                program = *next;
                tracked = more;
            }
        }
    }
    Err(Halt::Limit(format!("{MAX_ROUNDS} refinements")))
}

enum Round {
    Done(BTreeMap<LocId, Vec<Vec<(ExprId, bool)>>>),
    Feasible,
    /// New predicates, some of which are new expressions of the program.
    Refined(Box<Program>, BTreeSet<(LocId, ExprId)>),
}

/// One run of the refinement loop, until a predicate is wanted that is no expression of the
/// program yet.
fn explore(
    task: &Task,
    program: &Program,
    tracked: &BTreeSet<(LocId, ExprId)>,
    budget: &Budget,
) -> Result<Round, Halt> {
    let graph = program.analyse();
    let mut errors: Vec<LocId> = task.errors.iter().map(|e| e.loc).collect();
    errors.extend(&task.cuts);
    let location = Location::new(program, Calls::StepOver, &errors);
    let mut predicate = Predicate::new(program, Abstraction::Boolean, budget);
    let precision = precision(&mut predicate, tracked)?;
    let start = (location.initial(), predicate.initial(&precision)?);
    let product: Analysis<'_> = Product::new(location, predicate);
    let mut run = Exploration::new(product, start, ((), precision), Order::DepthFirst);
    let mut refiner = PathPredicates::new(program, tracked.clone(), Abstraction::Boolean, budget);
    let limits = Limits { first_target: true, states: MAX_STATES };
    match cegar(&mut run, &mut refiner, budget, limits) {
        Verdict::Unsafe(_) => Ok(Round::Feasible),
        Verdict::Unknown(_) if refiner.has_new_expressions() => {
            let (program, tracked) = refiner.into_found();
            Ok(Round::Refined(Box::new(program), tracked))
        }
        Verdict::Unknown(halt) => Err(halt),
        Verdict::Safe => {
            let mut found: BTreeMap<LocId, Vec<Vec<(ExprId, bool)>>> = BTreeMap::new();
            for (_, (position, region)) in run.reached().iter() {
                if let Position::At(loc) = *position
                    && graph.is_loop_head(loc)
                {
                    found.entry(loc).or_default().extend(run.cpa().right.cubes(*region));
                }
            }
            Ok(Round::Done(found))
        }
    }
}

fn precision(predicate: &mut Predicate<'_>, tracked: &BTreeSet<(LocId, ExprId)>) -> Result<Predicates, Halt> {
    let mut precision = Predicates::default();
    for &(loc, expr) in tracked {
        precision = precision.with(loc, predicate.track(expr)?);
    }
    Ok(precision)
}

/// What an error path teaches.
pub enum Learned {
    /// It is one of the program.
    Feasible,
    /// More predicates exclude it.
    Predicates,
    /// It is none of the program, and there are no more predicates.
    Nothing,
}

/// A refiner that finds predicates in the conditions of an infeasible path.
pub struct PathPredicates<'p> {
    program: &'p Program,
    pool: Pool,
    /// Predicates by location, and how many at one of them.
    tracked: BTreeSet<(LocId, ExprId)>,
    most: usize,
    terms: Terms,
    encoder: Encoder<'p>,
    solver: BvSolver,
}

impl<'p> PathPredicates<'p> {
    /// A refiner that knows these predicates already.
    pub fn new(
        program: &'p Program,
        tracked: BTreeSet<(LocId, ExprId)>,
        abstraction: Abstraction,
        budget: &Budget,
    ) -> Self {
        let mut terms = Terms::new();
        let encoder = Encoder::new(program, &mut terms);
        let mut solver = BvSolver::new();
        solver.set_limits(palisade_logic::Limits { budget: budget.clone(), ..Default::default() });
        let most = match abstraction {
            Abstraction::Boolean => MAX_PREDICATES,
            Abstraction::Cartesian => MAX_CONJUNCTS,
        };
        PathPredicates { program, pool: Pool::new(program), tracked, most, terms, encoder, solver }
    }

    /// Whether predicates were found that are no expressions of the program yet.
    fn has_new_expressions(&self) -> bool {
        self.pool.program.exprs.len() > self.program.exprs.len()
    }

    /// Looks at a path to an error, from the start on.
    pub fn learn(&mut self, path: &[EdgeId]) -> Result<Learned, Halt> {
        let Some(blamed) = self.blame(path)? else { return Ok(Learned::Feasible) };
        let all: Vec<usize> = (0..path.len()).collect();
        let last = blamed.last().copied().unwrap_or(0);
        let changed = self.add_conditions(path, &blamed, None)
            || self.add_conditions(path, &all, None)
            || self.add_preconditions(path, &blamed)
            || self.add_conditions(path, &blamed, Some(last));
        Ok(if changed { Learned::Predicates } else { Learned::Nothing })
    }

    /// The program with the predicates among its expressions, and where they are tracked.
    pub fn into_found(self) -> (Program, BTreeSet<(LocId, ExprId)>) {
        (self.pool.program, self.tracked)
    }

    /// The positions of the branches that make a path infeasible; `None` if it is feasible.
    fn blame(&mut self, path: &[EdgeId]) -> Result<Option<Vec<usize>>, Halt> {
        let mut state = self.encoder.initial_state(&mut self.terms);
        // What holds whatever way is taken, and the condition of each branch.
        let mut given: Vec<Term> = Vec::new();
        let mut branches: Vec<(usize, Term)> = Vec::new();
        for (i, &edge) in path.iter().enumerate() {
            given.append(&mut state.path);
            if let Op::Assume { cond } = self.program.edges[edge].op {
                let term = self.encoder.cond(&mut self.terms, &state, cond);
                match self.terms.bool_value(term) {
                    Some(true) => {}
                    Some(false) => return Ok(Some(vec![i])),
                    None => branches.push((i, term)),
                }
                continue;
            }
            match self.encoder.step(&mut self.terms, &state, edge) {
                Some(next) => state = next,
                None => return Ok(Some(vec![i])),
            }
        }
        given.append(&mut state.path);
        let all: Vec<Term> = given.iter().copied().chain(branches.iter().map(|b| b.1)).collect();
        match self.solver.check(&mut self.terms, &all) {
            Answer::Sat => Ok(None),
            Answer::Unknown(Unknown::Stopped(stop)) => Err(stop.into()),
            Answer::Unknown(why) => Err(Halt::Limit(why.to_string())),
            Answer::Unsat => {
                let core = self.solver.unsat_core();
                let core = minimise_core(&mut self.solver, &mut self.terms, &core);
                Ok(Some(branches.iter().filter(|(_, t)| core.contains(t)).map(|(i, _)| *i).collect()))
            }
        }
    }

    /// Tracks a predicate; whether it is new there.
    fn add(&mut self, loc: LocId, predicate: ExprId) -> bool {
        if self.pool.is_constant(predicate) {
            return false;
        }
        let here = self.tracked.range((loc, ExprId(0))..=(loc, ExprId(u32::MAX))).count();
        here < self.most && self.tracked.insert((loc, predicate))
    }

    /// The conditions of some branches, as they are, at every location of the path up to their branch, or to a
    /// later one: conjunctions must remember a condition until it is used together with another.
    fn add_conditions(&mut self, path: &[EdgeId], branches: &[usize], until: Option<usize>) -> bool {
        let mut changed = false;
        for &i in branches {
            for atom in self.pool.atoms(self.program, path[i]) {
                for &edge in &path[..=until.unwrap_or(i).max(i)] {
                    changed |= self.add(self.program.edges[edge].src, atom);
                }
            }
        }
        changed
    }

    /// The weakest preconditions of the conditions to blame.
    fn add_preconditions(&mut self, path: &[EdgeId], blamed: &[usize]) -> bool {
        let mut changed = false;
        for &i in blamed {
            for atom in self.pool.atoms(self.program, path[i]) {
                let mut now = atom;
                changed |= self.add(self.program.edges[path[i]].src, now);
                for &edge in path[..i].iter().rev() {
                    let Some(before) = self.pool.before(self.program, edge, now) else { break };
                    now = before;
                    changed |= self.add(self.program.edges[edge].src, now);
                }
            }
        }
        changed
    }
}

impl<'p> Refiner<Analysis<'p>> for PathPredicates<'p> {
    fn refine(
        &mut self,
        exploration: &mut Exploration<Analysis<'p>>,
        target: NodeId,
        _: &Budget,
    ) -> Result<Refinement<((), Predicates)>, Halt> {
        let path = exploration.reached().path_to(target);
        let edges: Vec<EdgeId> = path.iter().map(|(step, _)| step.edge).collect();
        match self.learn(&edges)? {
            Learned::Feasible => return Ok(Refinement::Feasible),
            Learned::Nothing => return Ok(Refinement::Stuck("no new predicates".into())),
            Learned::Predicates => {}
        }
        if self.has_new_expressions() {
            return Ok(Refinement::Stuck("new predicates are expressions that the program lacks".into()));
        }
        let precision = precision(&mut exploration.cpa_mut().right, &self.tracked)?;
        // All over again: the path may need predicates from its first location on.
        Ok(Refinement::Spurious { from: root(exploration, target), precision: ((), precision) })
    }
}

/// The initial node that a path starts from.
fn root<C: Cpa>(exploration: &Exploration<C>, mut node: NodeId) -> NodeId {
    while let Some((parent, _)) = exploration.reached().parent(node) {
        node = parent;
    }
    node
}

/// A program that grows by expressions, of which equal ones are the same.
struct Pool {
    program: Program,
    known: FxHashMap<Expr, ExprId>,
    /// The one place that is a register.
    places: FxHashMap<VarId, PlaceId>,
}

impl Pool {
    fn new(program: &Program) -> Self {
        let mut pool =
            Pool { program: program.clone(), known: FxHashMap::default(), places: FxHashMap::default() };
        for (id, _) in program.places.iter_enumerated() {
            if let Some(var) = whole_register(program, id) {
                pool.places.entry(var).or_insert(id);
            }
        }
        for (id, expr) in program.exprs.iter_enumerated() {
            pool.known.entry(expr.clone()).or_insert(id);
        }
        pool
    }

    fn intern(&mut self, ty: Scalar, kind: ExprKind) -> ExprId {
        let kind = self.folded(ty, kind);
        let expr = Expr { ty, kind };
        if let Some(&known) = self.known.get(&expr) {
            return known;
        }
        let id = self.program.exprs.push(expr.clone());
        self.known.insert(expr, id);
        id
    }

    /// `x - k` as `x + -k` and `(x + j) + k` as `x + (j + k)`: what going back through a loop gives.
    fn folded(&mut self, ty: Scalar, kind: ExprKind) -> ExprKind {
        if let (ExprKind::Binary(BinOp::Sub, a, b), Scalar::Int(t)) = (&kind, ty)
            && let ExprKind::Int(k) = self.program.exprs[*b].kind
        {
            let minus = self.intern(ty, ExprKind::Int(t.truncate(k.wrapping_neg())));
            return self.folded(ty, ExprKind::Binary(BinOp::Add, *a, minus));
        }
        let exprs = &self.program.exprs;
        if let (ExprKind::Binary(BinOp::Add, a, b), Scalar::Int(t)) = (&kind, ty)
            && let ExprKind::Int(k) = exprs[*b].kind
            && let ExprKind::Binary(BinOp::Add, x, c) = exprs[*a].kind
            && let ExprKind::Int(j) = exprs[c].kind
        {
            let sum = self.intern(ty, ExprKind::Int(t.truncate(j.wrapping_add(k))));
            return ExprKind::Binary(BinOp::Add, x, sum);
        }
        kind
    }

    fn is_constant(&self, e: ExprId) -> bool {
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            let expr = &self.program.exprs[e];
            if matches!(expr.kind, ExprKind::Load(_)) {
                return false;
            }
            expr.operands(|x| work.push(x), |_| {});
        }
        true
    }

    fn size(&self, e: ExprId) -> usize {
        let (mut work, mut size) = (vec![e], 0);
        while let Some(e) = work.pop() {
            size += 1;
            if size > MAX_SIZE {
                break;
            }
            self.program.exprs[e].operands(|x| work.push(x), |_| {});
        }
        size
    }

    /// The comparisons in the condition of a branch, up to negation.
    fn atoms(&mut self, program: &Program, edge: EdgeId) -> Vec<ExprId> {
        let Op::Assume { cond } = program.edges[edge].op else { return Vec::new() };
        let (mut work, mut atoms) = (vec![cond], Vec::new());
        while let Some(e) = work.pop() {
            let expr = &program.exprs[e];
            match expr.kind.clone() {
                ExprKind::Unary(UnOp::Not, a) if expr.ty == Scalar::BOOL => work.push(a),
                ExprKind::Binary(BinOp::And | BinOp::Or, a, b) if expr.ty == Scalar::BOOL => {
                    work.extend([b, a]);
                }
                kind => {
                    let atom = match kind {
                        ExprKind::Cmp(CmpOp::Le, a, b) => self.comparison(CmpOp::Lt, b, a),
                        ExprKind::Cmp(CmpOp::Ne, a, b) => self.comparison(CmpOp::Eq, a, b),
                        _ => self.replaced(e, None),
                    };
                    if !atoms.contains(&atom) {
                        atoms.push(atom);
                    }
                }
            }
        }
        atoms
    }

    fn comparison(&mut self, op: CmpOp, a: ExprId, b: ExprId) -> ExprId {
        let (a, b) = (self.replaced(a, None), self.replaced(b, None));
        self.intern(Scalar::BOOL, ExprKind::Cmp(op, a, b))
    }

    /// What must hold before an edge for a predicate to hold after it; `None` if that depends on
    /// what is not known before, or grows too large.
    fn before(&mut self, program: &Program, edge: EdgeId, predicate: ExprId) -> Option<ExprId> {
        let before = match program.edges[edge].op {
            Op::Assign { dst, src } => match whole_register(program, dst) {
                Some(var) => self.replaced(predicate, Some((var, src))),
                None => predicate,
            },
            Op::Havoc { dst, .. } => match whole_register(program, dst) {
                Some(var) if self.mentions(predicate, var) => return None,
                _ => predicate,
            },
            Op::Enter { var } if self.mentions(predicate, var) => return None,
            _ => predicate,
        };
        (self.size(before) <= MAX_SIZE).then_some(before)
    }

    fn mentions(&self, e: ExprId, var: VarId) -> bool {
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            let expr = &self.program.exprs[e];
            if let ExprKind::Load(place) = expr.kind
                && whole_register(&self.program, place) == Some(var)
            {
                return true;
            }
            expr.operands(|x| work.push(x), |_| {});
        }
        false
    }

    /// The expression with a register replaced by another expression, made of the pool's own parts.
    /// The depth of expressions is bounded by lowering and by [`MAX_SIZE`].
    fn replaced(&mut self, e: ExprId, by: Option<(VarId, ExprId)>) -> ExprId {
        let Expr { ty, kind } = self.program.exprs[e].clone();
        let kind = match kind {
            ExprKind::Load(place) => match (whole_register(&self.program, place), by) {
                (Some(var), Some((replaced, value))) if var == replaced => return self.replaced(value, None),
                (Some(var), _) => ExprKind::Load(self.places.get(&var).copied().unwrap_or(place)),
                (None, _) => kind,
            },
            ExprKind::Unary(op, a) => ExprKind::Unary(op, self.replaced(a, by)),
            ExprKind::Convert(a) => ExprKind::Convert(self.replaced(a, by)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(op, self.replaced(a, by), self.replaced(b, by)),
            ExprKind::Cmp(op, a, b) => ExprKind::Cmp(op, self.replaced(a, by), self.replaced(b, by)),
            ExprKind::Overflow(op, a, b) => {
                ExprKind::Overflow(op, self.replaced(a, by), self.replaced(b, by))
            }
            ExprKind::Ite(c, a, b) => {
                ExprKind::Ite(self.replaced(c, by), self.replaced(a, by), self.replaced(b, by))
            }
            other => other,
        };
        self.intern(ty, kind)
    }
}
