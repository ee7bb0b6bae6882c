//! Refinement (section 6.1, steps 4 and 5): is an abstract counterexample a run of the program, and if not,
//! what would have excluded it?

use super::abstraction::Precision;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_encode::Encoder;
use palisade_evidence::Invariants;
use palisade_logic::services::minimise_core;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Term, Terms};
use palisade_numpred::Structure;
use rustc_hash::{FxHashMap, FxHashSet};

/// Predicates are not made larger than this many expressions.
const MAX_SIZE: usize = 60;

/// What became of an abstract counterexample.
pub enum Examined {
    /// It may be a run.
    Feasible,
    /// It is none, and something was added that it speaks about.
    Refined,
    /// It is none, and all that it speaks about was there already.
    Stuck,
}

/// Looks at a path. `program` is the task's with the pool appended; expressions that are new go into the
/// pool.
pub fn examine(
    program: &Program,
    pool: &mut Predicates,
    path: &[EdgeId],
    precision: &mut Precision,
    structure: Structure,
    can_track: &dyn Fn(VarId) -> bool,
    budget: &Budget,
) -> Result<Examined, Stop> {
    let Some(core) = unsat_core(program, path, budget)? else { return Ok(Examined::Feasible) };
    // First missing numeric variables, then missing predicates.
    if structure != Structure::Predicate {
        let before = precision.vars.len();
        for var in variables(program, path, &core) {
            if can_track(var) && !precision.vars.contains(&var) {
                precision.vars.push(var);
            }
        }
        if precision.vars.len() > before {
            return Ok(Examined::Refined);
        }
    }
    if structure != Structure::Numeric {
        // The conditions themselves are enough more often than not; if they were not, what they become
        // when carried back along the path says what they depend on.
        for carried in [false, true] {
            let before = precision.preds.len();
            for e in predicates(program, pool, path, &core, carried) {
                if !pool.tried.contains(&e) {
                    pool.tried.insert(e);
                    precision.preds.push(e);
                }
            }
            if precision.preds.len() > before {
                return Ok(Examined::Refined);
            }
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

/// The scalar integer variables that the conditions of the core depend on along the path.
fn variables(program: &Program, path: &[EdgeId], core: &[usize]) -> Vec<VarId> {
    let mut needed: Vec<VarId> = Vec::new();
    for (i, &edge) in path.iter().enumerate().rev() {
        let op = &program.edges[edge].op;
        let mut feeds = core.contains(&i);
        program.visit_op(op, &mut |used| {
            if let Use::Write(place) = used {
                feeds |= scalar(program, place).is_some_and(|v| needed.contains(&v));
            }
        });
        if feeds {
            program.visit_op(op, &mut |used| {
                if let Use::Read(place) = used
                    && let Some(v) = scalar(program, place)
                    && !needed.contains(&v)
                {
                    needed.push(v);
                }
            });
        }
    }
    needed.sort_unstable();
    needed
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

/// A pool of expressions in which equal ones are one.
pub struct Predicates {
    /// The expressions, for the certificate.
    pub pool: Invariants,
    known: FxHashMap<(Scalar, ExprKind), ExprId>,
    places: FxHashMap<Place, PlaceId>,
    /// Predicates that were added at some time, useful or not.
    tried: FxHashSet<ExprId>,
}

impl Predicates {
    /// No expressions.
    pub fn new(pool: Invariants) -> Predicates {
        Predicates {
            pool,
            known: FxHashMap::default(),
            places: FxHashMap::default(),
            tried: FxHashSet::default(),
        }
    }

    /// The expression in the pool, with the value of a register replaced if one is given.
    fn intern(&mut self, program: &Program, e: ExprId, replace: Option<(VarId, ExprId)>) -> ExprId {
        let Expr { ty, mut kind } = self.pool.get(program, e).clone();
        if let (ExprKind::Load(place), Some((var, by))) = (&kind, replace)
            && self.whole(program, *place) == Some(var)
        {
            return self.intern(program, by, None);
        }
        let mut operands = Vec::new();
        let mut places = Vec::new();
        Expr { ty, kind: kind.clone() }.operands(|e| operands.push(e), |p| places.push(p));
        let map: FxHashMap<ExprId, ExprId> =
            operands.into_iter().map(|o| (o, self.intern(program, o, replace))).collect();
        let place_map: FxHashMap<PlaceId, PlaceId> =
            places.into_iter().map(|p| (p, self.intern_place(program, p, replace))).collect();
        renamed(&mut kind, &map, &place_map);
        self.expr(ty, kind)
    }

    fn intern_place(&mut self, program: &Program, p: PlaceId, replace: Option<(VarId, ExprId)>) -> PlaceId {
        let mut place = self.pool.get_place(program, p).clone();
        if let Base::Deref(e) = &mut place.base {
            *e = self.intern(program, *e, replace);
        }
        for proj in &mut place.path {
            if let Proj::Index { index, .. } = proj {
                *index = self.intern(program, *index, replace);
            }
        }
        self.place(place)
    }

    /// The variable that a place is the whole of.
    fn whole(&self, program: &Program, place: PlaceId) -> Option<VarId> {
        let p = self.pool.get_place(program, place);
        match p.base {
            Base::Var(var) if p.path.is_empty() && p.bits.is_none() => Some(var),
            _ => None,
        }
    }

    /// The variables in an expression that pointers may point to.
    fn addressed(&self, program: &Program, e: ExprId) -> Vec<VarId> {
        let mut found = Vec::new();
        self.visit(program, e, &mut |expr| {
            if let ExprKind::Load(place) = expr.kind
                && let Some(var) = self.whole(program, place)
                && program.vars[var].address_taken
                && !found.contains(&var)
            {
                found.push(var);
            }
        });
        found
    }

    /// Whether a pointer is the address of a variable.
    fn points_to(&mut self, program: &Program, pointer: ExprId, var: VarId) -> ExprId {
        let pointer = self.intern(program, pointer, None);
        let ty = program.vars[var].ty;
        let place = Place { base: Base::Var(var), path: Default::default(), ty, bits: None };
        let place = self.place(place);
        let address = self.expr(Scalar::Ptr, ExprKind::Addr(place));
        self.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, pointer, address))
    }

    fn expr(&mut self, ty: Scalar, kind: ExprKind) -> ExprId {
        if let Some(&known) = self.known.get(&(ty, kind.clone())) {
            return known;
        }
        let new = self.pool.expr(ty, kind.clone());
        self.known.insert((ty, kind), new);
        new
    }

    fn place(&mut self, place: Place) -> PlaceId {
        if let Some(&known) = self.places.get(&place) {
            return known;
        }
        let new = self.pool.place(place.clone());
        self.places.insert(place, new);
        new
    }

    /// The number of different expressions in an expression, up to a little more than [`MAX_SIZE`].
    fn size(&self, program: &Program, e: ExprId) -> usize {
        let mut size = 0;
        self.visit(program, e, &mut |_| size += 1);
        size
    }

    /// Calls `f` for the different expressions in an expression, up to a little more than [`MAX_SIZE`].
    fn visit(&self, program: &Program, e: ExprId, f: &mut dyn FnMut(&Expr)) {
        let mut seen = FxHashSet::default();
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            if seen.len() > MAX_SIZE || !seen.insert(e) {
                continue;
            }
            let expr = self.pool.get(program, e);
            f(expr);
            let mut places = Vec::new();
            expr.operands(|o| work.push(o), |p| places.push(p));
            for p in places {
                self.pool.get_place(program, p).operands(|o| work.push(o));
            }
        }
    }
}

/// Replaces the operands of an expression.
fn renamed(kind: &mut ExprKind, exprs: &FxHashMap<ExprId, ExprId>, places: &FxHashMap<PlaceId, PlaceId>) {
    let e = |x: &mut ExprId| *x = exprs.get(x).copied().unwrap_or(*x);
    match kind {
        ExprKind::Load(p) | ExprKind::Addr(p) => *p = places.get(p).copied().unwrap_or(*p),
        ExprKind::Unary(_, a)
        | ExprKind::Convert(a)
        | ExprKind::Freeable(a)
        | ExprKind::ObjectSize(a)
        | ExprKind::ReadOnly(a) => e(a),
        ExprKind::Binary(_, a, b) | ExprKind::Cmp(_, a, b) | ExprKind::Overflow(_, a, b) => {
            e(a);
            e(b);
        }
        ExprKind::Ite(a, b, c) => {
            e(a);
            e(b);
            e(c);
        }
        ExprKind::PtrAdd { ptr, index, .. } => {
            e(ptr);
            e(index);
        }
        ExprKind::PtrDiff { left, right, .. } => {
            e(left);
            e(right);
        }
        ExprKind::Valid { ptr, size } => {
            e(ptr);
            e(size);
        }
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Func(_)
        | ExprKind::HeapEmpty
        | ExprKind::HeapTracked => {}
    }
}
