//! Refinement (section 6.1, steps 4 and 5): is an abstract counterexample a run of the program, and if not,
//! what would have excluded it?
//!
//! The paper adds first missing numeric variables, then missing predicates. Here a ladder of [`STAGES`] goes
//! on to what the conditions become when they are carried back along the path, predicates are added where the
//! path needs them, and where on the ladder a new counterexample starts is [`Learned`] from the rounds before.

use super::pool::{MAX_SIZE, Predicates};
use super::precision::{Precision, Scope};
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_encode::Encoder;
use palisade_logic::services::minimise_core;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Term, Terms};
use palisade_numpred::Structure;
use rustc_hash::{FxHashMap, FxHashSet};

/// What became of an abstract counterexample.
pub enum Examined {
    /// It may be a run.
    Feasible,
    /// It is none, and something was added that it speaks about.
    Refined,
    /// It is none, and all that it speaks about was there already.
    Stuck,
}

/// What can be added for a counterexample, in the order in which it is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The numeric variables that the conditions of the core depend on.
    Numbers,
    /// The conditions of the core.
    Conditions,
    /// What they become when they are carried back over the assignments before them.
    Carried,
}

const STAGES: [Stage; 3] = [Stage::Numbers, Stage::Conditions, Stage::Carried];

/// What earlier rounds taught.
#[derive(Default)]
pub struct Learned {
    /// The stage that was last added for a core.
    tried: FxHashMap<Vec<EdgeId>, usize>,
    /// How numbers did for cores of equalities, and for others: how often variables were added, and how often
    /// all of them were there and the counterexample too.
    numbers: [(u32, u32); 2],
}

impl Learned {
    /// The stage to begin with for a core. `known` says that all its variables are tracked already.
    ///
    /// Numbers are cheap where they suffice: one variable does what many predicates would. Where the program
    /// only asks whether variables equal constants they often do not, and then each variable costs a round
    /// before its predicates come. So numbers come first until they failed half as often as they were tried, for
    /// equalities and for other conditions apart.
    fn start(&mut self, core: &[EdgeId], equalities: bool, known: bool) -> usize {
        if let Some(stage) = self.tried.get(core) {
            return stage + 1;
        }
        let (added, failed) = &mut self.numbers[usize::from(equalities)];
        *(if known { &mut *failed } else { &mut *added }) += 1;
        usize::from(known || *failed > PATIENCE && 2 * *failed >= *added)
    }
}

/// Numbers may fail this often before they have to earn their place.
const PATIENCE: u32 = 1;

/// Looks at a path. `program` is the task's with the pool appended; expressions that are new go into the
/// pool.
#[expect(clippy::too_many_arguments, reason = "the state of one refinement")]
pub fn examine(
    program: &Program,
    pool: &mut Predicates,
    path: &[EdgeId],
    precision: &mut Precision,
    learned: &mut Learned,
    structure: Structure,
    can_track: &dyn Fn(VarId) -> bool,
    budget: &Budget,
) -> Result<Examined, Stop> {
    let Some(core) = unsat_core(program, path, budget)? else { return Ok(Examined::Feasible) };
    let edges: Vec<EdgeId> = core.iter().map(|&i| path[i]).collect();
    let slice = Slice::of(program, path, &core);
    let known = slice.vars.iter().filter(|v| can_track(**v)).all(|v| precision.vars.contains(v));
    let start = learned.start(&edges, equalities(program, &edges), known);
    // From where the ladder starts, then what was skipped.
    for stage in (start..STAGES.len()).chain(0..start.min(STAGES.len())) {
        let added = match STAGES[stage] {
            Stage::Numbers if structure == Structure::Predicate => false,
            Stage::Conditions | Stage::Carried if structure == Structure::Numeric => false,
            Stage::Numbers => {
                let mut added = false;
                for &var in slice.vars.iter().filter(|v| can_track(**v)) {
                    added |= precision.add_var(var);
                }
                added
            }
            kind => {
                let mut added = false;
                for e in predicates(program, pool, path, &core, kind == Stage::Carried) {
                    added |= precision.add_pred(e, &slice.scope);
                }
                added
            }
        };
        if added {
            learned.tried.insert(edges, stage);
            return Ok(Examined::Refined);
        }
    }
    Ok(Examined::Stuck)
}

/// The edges whose conditions contradict each other; `None` if the path may be a run.
fn unsat_core(program: &Program, path: &[EdgeId], budget: &Budget) -> Result<Option<Vec<usize>>, Stop> {
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(program, &mut terms);
    let mut state = encoder.initial_state(&mut terms);
    let mut from: FxHashMap<Term, usize> = FxHashMap::default();
    for (i, &edge) in path.iter().enumerate() {
        budget.check()?;
        let Some(next) = encoder.step(&mut terms, &state, edge) else { return Ok(Some(vec![i])) };
        for &cond in &next.path {
            from.entry(cond).or_insert(i);
        }
        state = next;
    }
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    match solver.check(&mut terms, &state.path) {
        Answer::Unsat => {}
        Answer::Sat => return Ok(None),
        Answer::Unknown(_) => {
            budget.check()?;
            return Ok(None);
        }
    }
    let core = solver.unsat_core();
    let core = minimise_core(&mut solver, &mut terms, &core);
    let mut edges: Vec<usize> = core.iter().filter_map(|c| from.get(c).copied()).collect();
    edges.sort_unstable();
    edges.dedup();
    Ok(Some(edges))
}

/// What the conditions of a core depend on along a path.
struct Slice {
    /// Scalar integer variables.
    vars: Vec<VarId>,
    /// The part of the path from where the first of them gets its value to the last condition.
    scope: Scope,
}

impl Slice {
    fn of(program: &Program, path: &[EdgeId], core: &[usize]) -> Slice {
        let mut needed: FxHashSet<VarId> = FxHashSet::default();
        // Variables whose values before the edges that were seen still matter.
        let mut open: FxHashSet<VarId> = FxHashSet::default();
        let mut memory = false;
        let end = core.last().map_or(0, |i| i + 1);
        let mut start = end;
        for (i, &edge) in path[..end].iter().enumerate().rev() {
            let op = &program.edges[edge].op;
            let mut feeds = core.contains(&i);
            let addressed = |v: &VarId| program.vars[*v].address_taken;
            program.visit_op(op, &mut |used| {
                if let Use::Write(place) = used {
                    match scalar(program, place) {
                        Some(var) => feeds |= open.remove(&var) || memory && addressed(&var),
                        None => feeds |= memory || open.iter().any(addressed),
                    }
                }
            });
            if feeds {
                start = i;
                program.visit_op(op, &mut |used| {
                    if let Use::Read(place) = used {
                        match scalar(program, place) {
                            Some(v) => {
                                needed.insert(v);
                                open.insert(v);
                            }
                            None => memory = true,
                        }
                    }
                });
            }
            if open.is_empty() && !memory && core.first().is_some_and(|first| i <= *first) {
                break;
            }
        }
        // What nothing on the path assigns, and memory, has its value from the start.
        if memory || !open.is_empty() {
            start = 0;
        }
        let mut vars: Vec<VarId> = needed.into_iter().collect();
        vars.sort_unstable();
        let locs = path[start.min(end)..end].iter().flat_map(|&e| {
            let edge = &program.edges[e];
            [edge.src, edge.dst]
        });
        Slice { vars, scope: Scope::At(locs.collect()) }
    }
}

/// Whether the conditions of edges only ask for equality.
fn equalities(program: &Program, edges: &[EdgeId]) -> bool {
    let equality = |e: ExprId| match program.exprs[e].kind {
        ExprKind::Cmp(op, ..) => matches!(op, CmpOp::Eq | CmpOp::Ne),
        _ => true,
    };
    edges.iter().all(|&edge| match program.edges[edge].op {
        Op::Assume { cond } => atoms(program, cond).into_iter().all(equality),
        _ => true,
    })
}

/// The variable that a place is the whole of.
fn scalar(program: &Program, place: PlaceId) -> Option<VarId> {
    let p = &program.places[place];
    match p.base {
        Base::Var(var) if p.path.is_empty() && p.bits.is_none() => Some(var),
        _ => None,
    }
}

/// The conditions of the core, or what they become when carried back over the assignments before them.
fn predicates(
    program: &Program,
    pool: &mut Predicates,
    path: &[EdgeId],
    core: &[usize],
    carried: bool,
) -> Vec<ExprId> {
    let mut found = Vec::new();
    for &i in core {
        let Op::Assume { cond } = program.edges[path[i]].op else { continue };
        for atom in atoms(program, cond) {
            // What is small is not deep either.
            if pool.size(program, atom) > MAX_SIZE {
                continue;
            }
            let mut p = pool.intern(program, atom, None);
            found.push(p);
            if !carried {
                continue;
            }
            for &edge in path[..i].iter().rev() {
                let Op::Assign { dst, src } = program.edges[edge].op else { continue };
                if pool.size(program, src) > MAX_SIZE {
                    continue;
                }
                let place = &program.places[dst];
                match place.base {
                    Base::Var(var) if place.path.is_empty() && place.bits.is_none() => {
                        p = pool.intern(program, p, Some((var, src)));
                    }
                    // Morris' axiom: what a store through a pointer does to a variable depends on whether
                    // the pointer points to it.
                    Base::Deref(pointer) if place.path.is_empty() && place.bits.is_none() => {
                        let stored = program.exprs[src].ty;
                        let fits = |v: &VarId| program.scalar_of(program.vars[*v].ty) == Some(stored);
                        let small = pool.size(program, pointer) <= MAX_SIZE;
                        for var in pool.addressed(program, p).into_iter().filter(fits).filter(|_| small) {
                            found.push(pool.points_to(program, pointer, var));
                            let stored = pool.intern(program, p, Some((var, src)));
                            found.push(stored);
                        }
                    }
                    _ => continue,
                }
                if pool.size(program, p) > MAX_SIZE {
                    break;
                }
                found.push(p);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The truth values that a truth value is made of.
fn atoms(program: &Program, e: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut work = vec![e];
    while let Some(e) = work.pop() {
        let expr = &program.exprs[e];
        match expr.kind {
            ExprKind::Unary(UnOp::Not, a) if expr.ty == Scalar::BOOL => work.push(a),
            ExprKind::Binary(BinOp::And | BinOp::Or, a, b) if expr.ty == Scalar::BOOL => work.extend([b, a]),
            ExprKind::Int(_) => {}
            _ => found.push(e),
        }
    }
    found
}
