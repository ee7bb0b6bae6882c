//! Guess and check: many candidate invariants, of which the solver keeps the largest inductive
//! set (Flanagan and Leino's Houdini).
//!
//! Candidates are comparisons of variables with constants and with each other, remainders, the
//! program's own conditions, and, in a second round, implications between them. A candidate that a
//! step can break is dropped, until the rest is preserved by every loop-free segment. If the
//! rest excludes the errors, it is the proof.

use crate::{Certificate, Engine, Outcome};
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_encode::segment::{self, End};
use palisade_encode::{Encoder, State};
use palisade_evidence::Invariants;
use palisade_logic::{Answer, BvSolver, Evaluator, Limits, Solver, Term, Terms};
use palisade_reduce::Task;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// The engine `houdini`.
pub struct Houdini;

/// At most this many variables take part in comparisons with each other.
const MAX_PAIRED: usize = 14;
/// At most this many variables are compared with constants.
const MAX_VARS: usize = 48;
/// At most this many candidates.
const MAX_CANDIDATES: usize = 3000;

impl Engine for Houdini {
    fn name(&self) -> &'static str {
        "houdini"
    }

    fn run(&self, task: &Task, budget: &Budget, progress: &dyn Fn(fmt::Arguments<'_>)) -> Outcome {
        for implications in [false, true] {
            let mut pool = Invariants::none(&task.program);
            let mut guesses = Guesses::new(&task.program, &mut pool);
            guesses.atoms();
            if implications {
                guesses.implications();
            }
            let found = std::mem::take(&mut guesses.found);
            progress(format_args!("{} candidates", found.len()));
            let extended = Task { program: pool.extend(&task.program), ..task.clone() };
            match inductive(&extended, &found, budget) {
                Ok(Some(at)) => {
                    pool.at = at;
                    return Outcome::Proof(Certificate::Invariants(pool));
                }
                Ok(None) => {}
                Err(stop) => return Outcome::Unknown(stop.to_string()),
            }
        }
        Outcome::Unknown("no inductive set of candidates".into())
    }
}

/// Makes candidates.
struct Guesses<'a> {
    program: &'a Program,
    pool: &'a mut Invariants,
    /// Integer registers, those that conditions mention most first.
    vars: Vec<(VarId, IntTy)>,
    /// Constants each variable is compared with or assigned.
    constants: FxHashMap<VarId, Vec<i128>>,
    found: Vec<ExprId>,
    /// Conditions of the program over registers.
    conditions: Vec<ExprId>,
    /// Atoms that may stand on the left of an implication.
    premises: Vec<ExprId>,
}

impl<'a> Guesses<'a> {
    fn new(program: &'a Program, pool: &'a mut Invariants) -> Self {
        let mut counts: FxHashMap<VarId, usize> = FxHashMap::default();
        let mut constants: FxHashMap<VarId, Vec<i128>> = FxHashMap::default();
        let mut conditions = Vec::new();
        for edge in &program.edges {
            match edge.op {
                Op::Assume { cond } => {
                    let mut plain = true;
                    let mut mentioned = Vec::new();
                    program.visit_op(&edge.op, &mut |used| match used {
                        Use::Read(place) => match register(program, place) {
                            Some((var, _)) => mentioned.push(var),
                            None => plain = false,
                        },
                        Use::Expr(e) => {
                            plain &= !matches!(
                                program.exprs[e].kind,
                                ExprKind::Valid { .. } | ExprKind::Freeable(_) | ExprKind::HeapEmpty
                            );
                            compared(program, e, &mut constants);
                        }
                        _ => plain = false,
                    });
                    for var in mentioned {
                        *counts.entry(var).or_default() += 1;
                    }
                    if plain {
                        conditions.push(cond);
                    }
                }
                Op::Assign { dst, src } => {
                    if let Some((var, ty)) = register(program, dst) {
                        counts.entry(var).or_default();
                        if let ExprKind::Int(bits) = program.exprs[src].kind {
                            constants.entry(var).or_default().push(ty.decode(bits));
                        }
                    }
                }
                _ => {}
            }
        }
        let int = |v: &VarId| Some((*v, program.scalar_of(program.vars[*v].ty)?.int()?));
        let mut vars: Vec<(VarId, IntTy)> =
            counts.keys().filter_map(int).filter(|(_, t)| t.bits > 1 && t.bits <= 64).collect();
        vars.sort_by_key(|(v, _)| (std::cmp::Reverse(counts[v]), *v));
        for list in constants.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        Guesses { program, pool, vars, constants, found: Vec::new(), conditions, premises: Vec::new() }
    }

    fn push(&mut self, kind: ExprKind) -> ExprId {
        let e = self.pool.expr(Scalar::BOOL, kind);
        self.found.push(e);
        e
    }

    /// Comparisons, remainders, and the program's conditions with their negations.
    fn atoms(&mut self) {
        for cond in self.conditions.clone() {
            self.found.push(cond);
            self.premises.push(cond);
            let negation = self.push(ExprKind::Unary(UnOp::Not, cond));
            self.premises.push(negation);
        }
        let vars: Vec<_> = self.vars.iter().copied().take(MAX_VARS).collect();
        for &(var, ty) in &vars {
            let x = self.pool.var(self.program, var);
            let mut constants = self.constants.get(&var).cloned().unwrap_or_default();
            constants.extend([0, 1]);
            constants.sort_unstable();
            constants.dedup();
            constants.truncate(24);
            for &c in &constants {
                let c = self.pool.int(ty, c);
                let equal = self.push(ExprKind::Cmp(CmpOp::Eq, x, c));
                self.premises.push(equal);
                self.push(ExprKind::Cmp(CmpOp::Ne, x, c));
                self.push(ExprKind::Cmp(CmpOp::Le, x, c));
                self.push(ExprKind::Cmp(CmpOp::Le, c, x));
            }
            for (modulus, rest) in [(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)] {
                let unsigned = IntTy { signed: false, ..ty };
                let bits = self.pool.expr(Scalar::Int(unsigned), ExprKind::Convert(x));
                let m = self.pool.int(unsigned, modulus);
                let r = self.pool.expr(Scalar::Int(unsigned), ExprKind::Binary(BinOp::Rem, bits, m));
                let rest = self.pool.int(unsigned, rest);
                self.push(ExprKind::Cmp(CmpOp::Eq, r, rest));
            }
        }
        let paired: Vec<_> = vars.iter().copied().take(MAX_PAIRED).collect();
        for (i, &(a, ta)) in paired.iter().enumerate() {
            for &(b, tb) in &paired[i + 1..] {
                if ta == tb {
                    let (x, y) = (self.pool.var(self.program, a), self.pool.var(self.program, b));
                    self.push(ExprKind::Cmp(CmpOp::Eq, x, y));
                    self.push(ExprKind::Cmp(CmpOp::Le, x, y));
                    self.push(ExprKind::Cmp(CmpOp::Le, y, x));
                    self.push(ExprKind::Cmp(CmpOp::Lt, x, y));
                    self.push(ExprKind::Cmp(CmpOp::Lt, y, x));
                }
            }
        }
        self.found.truncate(MAX_CANDIDATES);
    }

    /// Implications between the atoms.
    fn implications(&mut self) {
        let atoms = self.found.clone();
        let premises = std::mem::take(&mut self.premises);
        let room = MAX_CANDIDATES.saturating_sub(atoms.len());
        let each = (room / premises.len().max(1)).max(8);
        for &premise in &premises {
            let not = self.pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, premise));
            for &conclusion in atoms.iter().filter(|&&a| a != premise).take(each) {
                self.push(ExprKind::Binary(BinOp::Or, not, conclusion));
            }
            if self.found.len() > 2 * MAX_CANDIDATES {
                return;
            }
        }
    }
}

/// The integer register that a place is.
fn register(program: &Program, place: PlaceId) -> Option<(VarId, IntTy)> {
    let p = &program.places[place];
    match p.base {
        Base::Var(var) if p.path.is_empty() && !program.vars[var].address_taken => {
            Some((var, program.scalar_of(program.vars[var].ty)?.int()?))
        }
        _ => None,
    }
}

/// Notes the constant that a variable is compared with.
fn compared(program: &Program, e: ExprId, constants: &mut FxHashMap<VarId, Vec<i128>>) {
    let ExprKind::Cmp(_, a, b) = program.exprs[e].kind else { return };
    for (x, c) in [(a, b), (b, a)] {
        if let (&ExprKind::Load(place), &ExprKind::Int(bits)) =
            (&program.exprs[x].kind, &program.exprs[c].kind)
            && let Some((var, ty)) = register(program, place)
        {
            let c = ty.decode(bits);
            constants.entry(var).or_default().extend([c - 1, c, c + 1]);
        }
    }
}

/// The start or a loop head, with all segments from there.
struct Source {
    /// Candidates assumed at the start, by number; `None` for the program's entry.
    head: Option<usize>,
    start: State,
    ends: Vec<End>,
}

struct Refiner<'t> {
    terms: Terms,
    encoder: Encoder<'t>,
    solver: BvSolver,
    candidates: Vec<ExprId>,
    /// The loop heads, and which candidates are still believed at each.
    heads: Vec<LocId>,
    alive: Vec<Vec<bool>>,
    sources: Vec<Source>,
    budget: &'t Budget,
}

/// The largest inductive set of candidates at each loop head, if it excludes the errors.
fn inductive(
    task: &Task,
    candidates: &[ExprId],
    budget: &Budget,
) -> Result<Option<Vec<(LocId, ExprId)>>, Stop> {
    let graph = task.program.analyse();
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(&task.program, &mut terms);
    let heads: Vec<LocId> = graph.loop_heads(task.program.entry).collect();
    let candidates = distinct(&mut terms, &mut encoder, candidates);
    let mut sources = Vec::new();
    let first = encoder.initial_state(&mut terms);
    let entry = task.body().entry;
    if graph.is_loop_head(entry) {
        sources.push(Source {
            head: None,
            start: first.clone(),
            ends: vec![End { loc: entry, state: first }],
        });
    } else {
        let ends = segment::run(task, &graph, &mut encoder, &mut terms, entry, first.clone(), budget)?;
        sources.push(Source { head: None, start: first, ends });
    }
    for (i, &head) in heads.iter().enumerate() {
        let start = encoder.arbitrary_state(&mut terms);
        let ends = segment::run(task, &graph, &mut encoder, &mut terms, head, start.clone(), budget)?;
        sources.push(Source { head: Some(i), start, ends });
    }
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    let alive = vec![vec![true; candidates.len()]; heads.len()];
    let mut refiner = Refiner { terms, encoder, solver, candidates, heads, alive, sources, budget };
    loop {
        let mut changed = false;
        for source in 0..refiner.sources.len() {
            for end in 0..refiner.sources[source].ends.len() {
                changed |= refiner.weaken(source, end)?;
            }
        }
        if !changed {
            return refiner.conclude();
        }
    }
}

/// Candidates that are not constant and not the same formula as an earlier one.
fn distinct(terms: &mut Terms, encoder: &mut Encoder<'_>, candidates: &[ExprId]) -> Vec<ExprId> {
    let state = encoder.arbitrary_state(terms);
    let mut seen = FxHashSet::default();
    candidates
        .iter()
        .copied()
        .filter(|&c| {
            let term = encoder.cond(terms, &state, c);
            terms.bool_value(term).is_none() && seen.insert(term)
        })
        .collect()
}

impl Refiner<'_> {
    /// What is believed where a source starts.
    fn assumption(&mut self, source: usize) -> Term {
        let Some(head) = self.sources[source].head else { return self.terms.tru() };
        let mut all = Vec::new();
        for (i, &candidate) in self.candidates.iter().enumerate() {
            if self.alive[head][i] {
                all.push(self.encoder.cond(&mut self.terms, &self.sources[source].start, candidate));
            }
        }
        self.terms.and_all(all)
    }

    /// Drops candidates that a segment can break. Tells whether there was one.
    fn weaken(&mut self, source: usize, end: usize) -> Result<bool, Stop> {
        let loc = self.sources[source].ends[end].loc;
        let Some(head) = self.heads.iter().position(|&h| h == loc) else { return Ok(false) };
        let guard = self.sources[source].ends[end].state.guard(&mut self.terms);
        let mut changed = false;
        let goals: Vec<Option<Term>> = (0..self.candidates.len())
            .map(|i| {
                self.alive[head][i].then(|| {
                    self.encoder.cond(
                        &mut self.terms,
                        &self.sources[source].ends[end].state,
                        self.candidates[i],
                    )
                })
            })
            .collect();
        loop {
            self.budget.check()?;
            let assumed = self.assumption(source);
            let all = self
                .terms
                .and_all(goals.iter().enumerate().filter_map(|(i, g)| g.filter(|_| self.alive[head][i])));
            let broken = self.terms.not(all);
            if self.terms.bool_value(broken) == Some(false) {
                return Ok(changed);
            }
            match self.solver.check(&mut self.terms, &[assumed, guard, broken]) {
                Answer::Unsat => return Ok(changed),
                Answer::Unknown(_) => {
                    self.budget.check()?;
                    // Without an answer nothing may be believed at this end.
                    self.alive[head].fill(false);
                    return Ok(true);
                }
                Answer::Sat => {}
            }
            let Some(model) = self.solver.model(&mut self.terms) else {
                self.alive[head].fill(false);
                return Ok(true);
            };
            let mut evaluator = Evaluator::new(&model);
            for (i, goal) in goals.iter().enumerate() {
                if let Some(goal) = *goal
                    && self.alive[head][i]
                    && !evaluator.truth(&self.terms, goal)
                {
                    self.alive[head][i] = false;
                    changed = true;
                }
            }
        }
    }

    /// The surviving candidates, if no error is possible under them.
    fn conclude(mut self) -> Result<Option<Vec<(LocId, ExprId)>>, Stop> {
        for source in 0..self.sources.len() {
            let assumed = self.assumption(source);
            for end in 0..self.sources[source].ends.len() {
                if self.heads.contains(&self.sources[source].ends[end].loc) {
                    continue;
                }
                let guard = self.sources[source].ends[end].state.guard(&mut self.terms);
                if !self.solver.check(&mut self.terms, &[assumed, guard]).is_unsat() {
                    self.budget.check()?;
                    return Ok(None);
                }
            }
        }
        let mut at = Vec::new();
        for (head, alive) in self.heads.iter().zip(&self.alive) {
            at.extend(self.candidates.iter().zip(alive).filter(|(_, a)| **a).map(|(&c, _)| (*head, c)));
        }
        Ok(Some(at))
    }
}
