//! Abstract interpretation over a numeric domain: an engine for each domain of the library.
//!
//! The CPA algorithm runs to the fixed point with widening at loop heads, then narrows. What holds
//! at the loop heads is the certificate if no error location was reached.

use crate::board::Board;
use crate::{Certificate, Engine, Format, Outcome, Progress};
use palisade_analyses::invariants::fixed_point::iterate;
use palisade_analyses::live::Liveness;
use palisade_analyses::location::{Location, Position};
use palisade_analyses::numeric::{Element, Numeric};
use palisade_base::{Budget, SourceMap};
use palisade_cfa::*;
use palisade_cpa::{Exploration, Halt, Product, export};
use palisade_domains::{Dim, Domain, Dynamic, LinCons, NumericDomain, Rel};
use palisade_evidence::Invariants;
use palisade_num::{Int, Rat};
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};

/// The engine of a numeric domain; it has the domain's name.
pub struct AbstractInterpretation {
    /// The domain.
    pub domain: Domain,
    /// Joins at a loop head before widening starts there.
    pub delay: u32,
}

impl Engine for AbstractInterpretation {
    fn name(&self) -> &str {
        self.domain.name
    }

    /// Intervals are through a program with loops soon, others will want to know what they say, and that is the easiest
    /// to read.
    fn first_look(&self, task: &Task, board: &Board, budget: &Budget) -> Option<Outcome> {
        let program = &task.program;
        let follows = |place: &Place| matches!(place.base, Base::Deref(_));
        let most = if program.places.iter().any(follows) { LONG } else { CHEAP };
        let cheap = self.domain.name == Domain::interval().name && program.edges.len() <= most;
        if !cheap || program.analyse().loop_heads(program.entry).next().is_none() {
            return None;
        }
        let found = board.fixed_point(self.domain.name, task, &self.domain, self.delay, budget).ok()?;
        found.open.is_empty().then(|| Outcome::Proof(Certificate::Invariants(found.invariants.clone())))
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        progress(format_args!("fixed point"));
        match board.fixed_point(self.domain.name, task, &self.domain, self.delay, budget) {
            Err(why) => Outcome::Unknown(why),
            Ok(found) if found.open.is_empty() => {
                Outcome::Proof(Certificate::Invariants(found.invariants.clone()))
            }
            Ok(found) => Outcome::Unknown(not_excluded(found.open.len())),
        }
    }

    fn graph(
        &self,
        task: &Task,
        format: Format,
        sources: &SourceMap,
        budget: &Budget,
    ) -> Option<Result<String, String>> {
        let run = iterate(task, (self.domain.context)(budget), self.delay, budget);
        Some(
            run.map_err(|why| why.to_string()).map(|run| export::write(&task.program, &run, format, sources)),
        )
    }
}

/// What an analysis says that is too coarse for some errors.
pub(crate) fn not_excluded(ends: usize) -> String {
    let checks = if ends == 1 { "check" } else { "checks" };
    format!("too coarse for {ends} {checks}")
}

/// What abstract interpretation found out.
pub struct FixedPoint {
    /// What holds at the loop heads.
    pub invariants: Invariants,
    /// Errors and cuts that could not be excluded.
    pub open: Vec<LocId>,
}

/// Joins at a loop head before widening starts there, unless there is a reason for more.
pub const DELAY: u32 = 2;

/// Intervals have a first look at programs of up to so many edges, if these follow no pointers.
const CHEAP: usize = 4_000;

/// A program of more edges has invariants also between its loop heads, so that its proof is checked piece by piece.
const LONG: usize = 400;
/// The edges of a piece: where paths meet, and at most.
const PIECE: (usize, usize) = (20, 40);

/// Runs a domain to its fixed point.
pub fn fixed_point(task: &Task, domain: &Domain, delay: u32, budget: &Budget) -> Result<FixedPoint, String> {
    let found = || {
        let run = iterate(task, (domain.context)(budget), delay, budget)?;
        let mut found = at_heads(task, &run, budget)?;
        if found.open.is_empty() && task.program.edges.len() > LONG {
            between(task, &run, &mut found.invariants, budget)?;
        }
        Ok(found)
    };
    found().map_err(|halt: Halt| halt.to_string())
}

type Run<'t> = Exploration<Product<Location<'t>, Numeric<'t>>>;

/// What holds at locations between the loop heads. Every step of the analysis knows no more than the element before
/// it, so a proof may start anew wherever all of the element can be said.
fn between(task: &Task, run: &Run<'_>, pool: &mut Invariants, budget: &Budget) -> Result<(), Halt> {
    let program = &task.program;
    let graph = program.analyse();
    let live = Liveness::of(program, budget)?;
    let dims = dims(program, &run.cpa().right);
    let atoms = atoms(program, pool, &dims);
    let mut elements: FxHashMap<LocId, &Element> = FxHashMap::default();
    for (_, (position, element)) in run.reached().iter() {
        if let Position::At(loc) = *position {
            elements.insert(loc, element);
        }
    }
    let mut edges = 0;
    for &loc in &graph.wto[program.entry].order {
        edges += program.locs[loc].out.len();
        let meet = program.locs[loc].inc.len() > 1;
        if graph.is_loop_head(loc) {
            edges = 0;
        }
        if edges < if meet { PIECE.0 } else { PIECE.1 } || task.is_end(loc) {
            continue;
        }
        let Some(element) = elements.get(&loc) else { continue };
        let disjuncts = alive(element, &dims, &live, loc).to_constraints();
        let said: Option<Vec<Vec<ExprId>>> = disjuncts
            .iter()
            .map(|all| {
                all.iter().filter(|c| !says_nothing(&atoms, c)).map(|c| constraint(pool, &atoms, c)).collect()
            })
            .collect();
        let Some(said) = said else { continue };
        if let [facts] = &said[..] {
            pool.at.extend(facts.iter().map(|&fact| (loc, fact)));
            // A place of which nothing is known is one, too.
            if facts.is_empty() {
                let anything = pool.int(IntTy::BOOL, 1);
                pool.at.push((loc, anything));
            }
        } else {
            let cases: Vec<ExprId> = said.iter().map(|facts| pool.all(BinOp::And, facts)).collect();
            let any = pool.all(BinOp::Or, &cases);
            pool.at.push((loc, any));
        }
        edges = 0;
    }
    Ok(())
}

/// What an element says about the variables that still matter.
fn alive(element: &Element, dims: &Dims, live: &Liveness<'_>, loc: LocId) -> Dynamic {
    let mut element = element.get().clone();
    let is_dead = |d: &Dim| dims.get(d).is_some_and(|cell| !live.is_live(loc, cell.var));
    let dead: Vec<Dim> = element.support().into_iter().filter(is_dead).collect();
    element.forget(&dead);
    element
}

/// What holds at the loop heads, and which errors are reached.
fn at_heads(task: &Task, run: &Run<'_>, budget: &Budget) -> Result<FixedPoint, Halt> {
    let program = &task.program;
    let live = Liveness::of(program, budget)?;
    let graph = program.analyse();
    let dims = dims(program, &run.cpa().right);
    let mut found = FixedPoint { invariants: Invariants::none(program), open: Vec::new() };
    let atoms = atoms(program, &mut found.invariants, &dims);
    for (_, (position, element)) in run.reached().iter() {
        let Position::At(loc) = *position else { continue };
        if task.is_end(loc) {
            found.open.push(loc);
        }
        if graph.is_loop_head(loc) {
            let element = alive(element, &dims, &live, loc);
            holds_at(&mut found.invariants, &atoms, loc, &element.to_constraints());
        }
    }
    // A loop head that is never reached is an invariant too.
    let reached: Vec<LocId> = run
        .reached()
        .iter()
        .filter_map(|(_, (p, _))| match p {
            Position::At(loc) => Some(*loc),
            _ => None,
        })
        .collect();
    for head in graph.loop_heads(program.entry) {
        if !reached.contains(&head) {
            let never = found.invariants.int(IntTy::BOOL, 0);
            found.invariants.at.push((head, never));
        }
    }
    Ok(found)
}

/// An integer in a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    /// The variable.
    pub var: VarId,
    /// Its first byte in the variable.
    pub byte: u64,
    /// Its type.
    pub ty: IntTy,
}

impl Cell {
    /// A variable that is an integer.
    pub(crate) fn whole(var: VarId, ty: IntTy) -> Cell {
        Cell { var, byte: 0, ty }
    }

    /// The value; `None` for what no place names, such as a bit-field.
    fn value(self, program: &Program, pool: &mut Invariants) -> Option<ExprId> {
        let (mut ty, mut byte) = (program.vars[self.var].ty, self.byte);
        let mut path: smallvec::SmallVec<[Proj; 2]> = Default::default();
        while program.scalar_of(ty).is_none() {
            match &program.types[ty] {
                Type::Array(elem, _) => {
                    let stride = program.size_of(*elem).filter(|s| *s > 0)?;
                    let index = pool.int(program.data_model.ptrdiff_t(), (byte / stride).into());
                    path.push(Proj::Index { index, stride });
                    (ty, byte) = (*elem, byte % stride);
                }
                Type::Record(record) => {
                    let holds = |f: &Field| {
                        let size = program.size_of(f.ty).unwrap_or(0);
                        f.bits.is_none() && f.offset <= byte && byte - f.offset < size
                    };
                    let field = record.fields.iter().position(holds)?;
                    path.push(Proj::Field { record: ty, field: u32::try_from(field).ok()? });
                    (ty, byte) = (record.fields[field].ty, byte - record.fields[field].offset);
                }
                _ => return None,
            }
        }
        if byte != 0 || program.scalar_of(ty) != Some(Scalar::Int(self.ty)) {
            return None;
        }
        let place = pool.place(Place { base: Base::Var(self.var), path, ty, bits: None });
        Some(pool.expr(Scalar::Int(self.ty), ExprKind::Load(place)))
    }
}

/// The integer of each dimension.
type Dims = FxHashMap<Dim, Cell>;

/// Nothing is said about variables with more integers than this.
const MAX_CELLS: usize = 64;

/// The dimensions of a program.
pub(crate) fn dims(program: &Program, numeric: &Numeric<'_>) -> Dims {
    // The encoding knows of memory that is read.
    let mut read: FxHashSet<VarId> = FxHashSet::default();
    for edge in &program.edges {
        program.visit_op(&edge.op, &mut |used| {
            if let Use::Read(place) = used
                && let Base::Var(var) = program.places[place].base
            {
                read.insert(var);
            }
        });
    }
    let mut dims = Dims::default();
    for var in program.vars.ids() {
        if program.scalar_of(program.vars[var].ty).is_none() && !read.contains(&var) {
            continue;
        }
        let cells: Vec<(Dim, u64, IntTy)> = numeric.integers_of(var).collect();
        if cells.len() <= MAX_CELLS {
            dims.extend(cells.into_iter().map(|(dim, byte, ty)| (dim, Cell { var, byte, ty })));
        }
    }
    dims
}

/// What the dimensions of constraints stand for: integers of these types.
pub(crate) type Atoms = FxHashMap<Dim, (ExprId, IntTy)>;

/// The values of integers as what dimensions stand for.
pub(crate) fn atoms(program: &Program, pool: &mut Invariants, dims: &Dims) -> Atoms {
    let mut sorted: Vec<_> = dims.iter().collect();
    sorted.sort_unstable_by_key(|(dim, _)| **dim);
    let value = |(dim, cell): (&Dim, &Cell)| Some((*dim, (cell.value(program, pool)?, cell.ty)));
    sorted.into_iter().filter_map(value).collect()
}

/// Whether a constraint says no more than the type of its only variable.
fn says_nothing(atoms: &Atoms, c: &LinCons) -> bool {
    let [(dim, coefficient)] = c.expr.terms() else { return false };
    let (Some(&(_, ty)), Rel::Le) = (atoms.get(dim), &c.rel) else { return false };
    let bound = -c.expr.constant_term().clone() / coefficient.clone();
    let end = |bits: u128| Rat::from(Int::from(ty.decode(bits)));
    match coefficient.signum() {
        1 => bound >= end(ty.max_bits()),
        _ => bound <= end(ty.min_bits()),
    }
}

/// Adds that a disjunction of conjunctions holds at a location; what cannot be expressed is left out.
pub(crate) fn holds_at(pool: &mut Invariants, atoms: &Atoms, loc: LocId, disjuncts: &[Vec<LinCons>]) {
    let facts = match disjuncts {
        [conjunction] => facts(pool, atoms, conjunction),
        disjuncts => disjunction(pool, atoms, disjuncts).into_iter().collect(),
    };
    pool.at.extend(facts.into_iter().map(|fact| (loc, fact)));
}

/// A conjunction as expressions; what cannot be expressed is left out.
fn facts(pool: &mut Invariants, atoms: &Atoms, conjunction: &[LinCons]) -> Vec<ExprId> {
    let something = conjunction.iter().filter(|c| !says_nothing(atoms, c));
    something.filter_map(|c| constraint(pool, atoms, c)).collect()
}

/// A disjunction of conjunctions as an expression; what cannot be expressed is left out.
pub(crate) fn disjunction(
    pool: &mut Invariants,
    atoms: &Atoms,
    disjuncts: &[Vec<LinCons>],
) -> Option<ExprId> {
    let mut parts = Vec::new();
    for conjunction in disjuncts {
        let facts = facts(pool, atoms, conjunction);
        if facts.is_empty() {
            return None;
        }
        parts.push(pool.all(BinOp::And, &facts));
    }
    Some(pool.all(BinOp::Or, &parts))
}

/// A linear constraint over the integers as a comparison wide enough not to wrap.
pub(crate) fn constraint(pool: &mut Invariants, atoms: &Atoms, c: &LinCons) -> Option<ExprId> {
    let scale = c.expr.integer_scale()?;
    let expr = c.expr.scale(&scale);
    let constant = expr.constant_term().to_int()?.to_i128()?;
    let mut terms: Vec<(i128, ExprId)> = Vec::new();
    let mut magnitude: i128 = constant.checked_abs()?;
    for (dim, coefficient) in expr.terms() {
        let &(value, ty) = atoms.get(dim)?;
        let coefficient = coefficient.to_int()?.to_i128()?;
        let most = 1i128.checked_shl(u32::from(ty.bits)).filter(|_| ty.bits < 120)?;
        magnitude = magnitude.checked_add(coefficient.checked_abs()?.checked_mul(most)?)?;
        terms.push((coefficient, value));
    }
    let wide = match magnitude {
        0..0x7fff_ffff_ffff_ffff => IntTy { bits: 64, signed: true },
        _ => IntTy { bits: 128, signed: true },
    };
    // Positive terms stand on the left, negative ones and the constant on the right.
    let side = |pool: &mut Invariants, sign: i128, constant: i128| {
        let mut sum: Option<ExprId> = None;
        for &(coefficient, value) in terms.iter().filter(|t| t.0.signum() == sign) {
            let mut term = pool.expr(Scalar::Int(wide), ExprKind::Convert(value));
            if coefficient.abs() != 1 {
                let k = pool.int(wide, coefficient.abs());
                term = pool.expr(Scalar::Int(wide), ExprKind::Binary(BinOp::Mul, k, term));
            }
            sum = Some(match sum {
                None => term,
                Some(s) => pool.expr(Scalar::Int(wide), ExprKind::Binary(BinOp::Add, s, term)),
            });
        }
        match sum {
            None => pool.int(wide, constant),
            Some(s) if constant == 0 => s,
            Some(s) => {
                let k = pool.int(wide, constant);
                pool.expr(Scalar::Int(wide), ExprKind::Binary(BinOp::Add, s, k))
            }
        }
    };
    let left = side(pool, 1, constant.max(0));
    let right = side(pool, -1, (-constant).max(0));
    let kind = match &c.rel {
        Rel::Le => ExprKind::Cmp(CmpOp::Le, left, right),
        Rel::Lt => ExprKind::Cmp(CmpOp::Lt, left, right),
        Rel::Eq => ExprKind::Cmp(CmpOp::Eq, left, right),
        Rel::Ne => ExprKind::Cmp(CmpOp::Ne, left, right),
        Rel::Mod(m) => {
            let m = (Rat::from(m.clone()) * scale).to_int()?.to_i128()?;
            let difference = pool.expr(Scalar::Int(wide), ExprKind::Binary(BinOp::Sub, left, right));
            let m = pool.int(wide, m);
            let rest = pool.expr(Scalar::Int(wide), ExprKind::Binary(BinOp::Rem, difference, m));
            let zero = pool.int(wide, 0);
            ExprKind::Cmp(CmpOp::Eq, rest, zero)
        }
    };
    Some(pool.expr(Scalar::BOOL, kind))
}
