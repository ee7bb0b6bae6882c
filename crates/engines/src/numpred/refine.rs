//! Refinement (section 6.1, steps 4 and 5): is an abstract counterexample a run of the program, and if not,
//! what would have excluded it?
//!
//! The paper adds first missing numeric variables, then missing predicates. Here a ladder of [`STAGES`] goes
//! on to what the conditions become when they are carried back along the path, predicates are added where the
//! path needs them, and where on the ladder a new counterexample starts is [`Learned`] from the rounds before.
//! [`Control`] variables are numbers until numbers fail, and then become predicates once and for all.

use super::abstraction::Abstraction;
use super::control::Control;
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
pub struct Learned {
    /// The stage that was last added for a core.
    tried: FxHashMap<Vec<EdgeId>, usize>,
    /// How often variables were added, and how often all of them were there and the counterexample too.
    numbers: (u32, u32),
    control: Control,
    /// Control variables are tracked by their predicates.
    switched: bool,
}

impl Learned {
    /// Nothing yet.
    pub fn new(program: &Program) -> Learned {
        Learned {
            tried: FxHashMap::default(),
            numbers: (0, 0),
            control: Control::of(program),
            switched: false,
        }
    }

    /// The stage to begin with for a core. `known` says that all its variables are tracked already.
    ///
    /// Numbers are cheap where they suffice: one variable does what many predicates would. Where they do not,
    /// each variable costs a round before its predicates come. So numbers come first until they failed half as
    /// often as they were tried.
    fn start(&mut self, core: &[EdgeId], known: bool) -> usize {
        if let Some(stage) = self.tried.get(core) {
            return stage + 1;
        }
        let (added, failed) = &mut self.numbers;
        *(if known { &mut *failed } else { &mut *added }) += 1;
        usize::from(known || *failed > PATIENCE && 2 * *failed >= *added)
    }

    /// Whether a variable is tracked by its predicates.
    fn is_predicates(&self, var: VarId) -> bool {
        self.switched && self.control.contains(var)
    }

    /// Control variables, these and all that are numbers so far, are tracked by their predicates from now on.
    /// `false` if that is so already.
    fn switch(
        &mut self,
        program: &Program,
        pool: &mut Predicates,
        precision: &mut Precision,
        vars: &[VarId],
    ) -> bool {
        let mut vars: Vec<VarId> = vars.iter().copied().filter(|v| self.control.contains(*v)).collect();
        if vars.is_empty() {
            return false;
        }
        self.switched = true;
        let (numbers, others) = precision.vars.iter().partition(|v| self.control.contains(**v));
        vars.extend::<Vec<VarId>>(numbers);
        precision.vars = others;
        let mut added = false;
        for var in vars {
            added |= self.track(program, pool, precision, var);
        }
        added
    }

    /// Tracks a variable, by its predicates or as a number. `false` if that is nothing new.
    fn track(&self, program: &Program, pool: &mut Predicates, precision: &mut Precision, var: VarId) -> bool {
        if !self.is_predicates(var) {
            return precision.add_var(var);
        }
        let mut added = false;
        for p in self.control.predicates(program, pool, var) {
            added |= precision.add_pred(p, &Scope::Everywhere);
        }
        added
    }
}

/// Values of more numbers take too long where predicates can do without.
const MAX_NUMBERS: usize = 8;
/// Numbers may fail this often before they have to earn their place.
const PATIENCE: u32 = 1;

/// An abstract counterexample.
pub struct Trace<'a> {
    /// Its edges.
    pub path: &'a [EdgeId],
    /// Variables that its conditions ask about and that keep their values from one round through a loop to the
    /// next, if the abstraction excludes the path when it is followed alone: it is there because values were
    /// joined, or widened, that these would keep apart.
    pub joined: Vec<VarId>,
}

/// Looks at a path. `program` is the task's with the pool appended; expressions that are new go into the
/// pool.
#[expect(clippy::too_many_arguments, reason = "the state of one refinement")]
pub fn examine(
    program: &Program,
    pool: &mut Predicates,
    Trace { path, joined }: Trace<'_>,
    precision: &mut Precision,
    learned: &mut Learned,
    structure: Structure,
    abstraction: &Abstraction<'_>,
    budget: &Budget,
) -> Result<Examined, Stop> {
    let Some(core) = unsat_core(program, path, budget)? else { return Ok(Examined::Feasible) };
    let edges: Vec<EdgeId> = core.iter().map(|&i| path[i]).collect();
    let slice = Slice::of(program, path, &core);
    let vars: Vec<VarId> = slice.vars.iter().copied().filter(|v| abstraction.can_track(*v)).collect();
    let known = vars.iter().all(|v| learned.is_predicates(*v) || precision.vars.contains(v));
    let combined = !matches!(structure, Structure::Numeric | Structure::Predicate);
    if combined && known {
        for vars in [&vars, &joined] {
            if learned.switch(program, pool, precision, vars) {
                return Ok(Examined::Refined);
            }
        }
    }
    if structure != Structure::Predicate && known {
        let mut added = false;
        for &var in joined.iter().filter(|v| abstraction.can_track(**v)) {
            if structure == Structure::Numeric || precision.vars.len() < MAX_NUMBERS {
                added |= learned.track(program, pool, precision, var);
            }
        }
        if added {
            return Ok(Examined::Refined);
        }
    }
    let numbers = vars.iter().filter(|v| !learned.is_predicates(**v) && !precision.vars.contains(v));
    let missing = numbers.count();
    let start = learned.start(&edges, known);
    // From where the ladder starts, then what was skipped.
    for stage in (start..STAGES.len()).chain(0..start.min(STAGES.len())) {
        let added = match STAGES[stage] {
            Stage::Numbers if structure == Structure::Predicate => false,
            Stage::Conditions | Stage::Carried if structure == Structure::Numeric => false,
            Stage::Numbers if combined && precision.vars.len() + missing > MAX_NUMBERS => false,
            Stage::Numbers => {
                let mut added = false;
                for &var in &vars {
                    added |= learned.track(program, pool, precision, var);
                }
                added
            }
            kind => {
                let mut added = false;
                let carried = kind == Stage::Carried;
                let mut found = predicates(program, pool, path, &core, carried);
                if carried {
                    for &v in &slice.from_start {
                        found.extend(
                            abstraction.starts_with(v).and_then(|bits| pool.equals(program, v, bits)),
                        );
                    }
                }
                for e in found {
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
    /// Those of them that have their values from the start of the program.
    from_start: Vec<VarId>,
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
        let mut from_start: Vec<VarId> = open.into_iter().collect();
        from_start.sort_unstable();
        Slice { vars, from_start, scope: Scope::At(locs.collect()) }
    }
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

/// The variables that the conditions on a path ask about.
pub fn asked(program: &Program, path: &[EdgeId]) -> Vec<VarId> {
    let mut found = Vec::new();
    for &edge in path {
        if let op @ Op::Assume { .. } = &program.edges[edge].op {
            program.visit_op(op, &mut |used| {
                if let Use::Read(place) = used {
                    found.extend(scalar(program, place));
                }
            });
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
