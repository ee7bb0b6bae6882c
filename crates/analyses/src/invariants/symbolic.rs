//! Forward iteration with symbolic transformers: from loop head to loop head, each piece of the program between
//! them is one formula, and its effect on an element is Post[τ](A) = α(τ ∧ γ̂(A)) of symbolic abstraction
//! ([`palisade_symabs`]) instead of a chain of transformers for single operations.
//!
//! The iteration stays within what syntax-directed transformers find out ([`fixed_point`]): that is cheap, an inductive
//! bound for every state at the heads, and often enough. Branches inside a piece are not joined before they have to be, and no intermediate value has to be expressible in
//! the domain. The elements speak of the integer registers that are live at the heads.

use super::fixed_point;
use crate::live::Liveness;
use crate::location::Position;
use crate::thresholds::thresholds;
use crate::trees::machine;
use palisade_base::{Budget, Idx};
use palisade_cfa::*;
use palisade_cpa::Halt;
use palisade_domains::{Dim, Dynamic, Lattice, NumericDomain, Thresholds};
use palisade_encode::Encoder;
use palisade_encode::segment;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Term, Terms};
use palisade_symabs::formula::within_types;
use palisade_symabs::{Abstraction, Config, Vocabulary};
use palisade_task::Task;
use std::collections::BTreeMap;

/// Joins at a head before it is widened.
const DELAY: u32 = 2;
/// Decreasing iterations at most.
const NARROWING: usize = 3;
/// Applications of the Dilemma rule for one application of a transformer at most.
const SPLITS: u64 = 24;
/// Questions to the solver for one application of a transformer at most.
const QUERIES: u64 = 60;
/// Conflicts for one question at most.
const CONFLICTS: u64 = 3000;

/// What holds at the loop heads.
pub struct Symbolic {
    /// The elements, over the dimensions of `registers`. Heads that are not listed are not reached.
    pub at: BTreeMap<LocId, Dynamic>,
    /// The register of each dimension.
    pub registers: BTreeMap<Dim, VarId>,
    /// Whether no error location and no cut can be reached.
    pub proved: bool,
}

/// One end of a piece: what a run through it does, as a formula over registers before and after.
struct Step {
    to: LocId,
    relation: Term,
    /// Both vocabularies.
    voc: Vocabulary,
    /// Registers that the piece changes: their dimensions before and after.
    changed: Vec<(Dim, Dim)>,
    /// Dimensions that do not matter at the end.
    dead: Vec<Dim>,
}

/// A piece of the program: from the start or from a loop head.
struct Piece {
    from: Option<LocId>,
    steps: Vec<Step>,
    /// The guards with which errors and cuts are reached.
    bad: Vec<Term>,
    voc: Vocabulary,
}

/// The integer registers of a program, with their types.
fn registers(program: &Program, encoder: &Encoder<'_>) -> Vec<(VarId, IntTy, usize)> {
    let of = |v: VarId| {
        let t = program.scalar_of(program.vars[v].ty)?.int()?;
        (t.bits <= 64).then_some(())?;
        Some((v, t, encoder.layout().register(v)?))
    };
    program.vars.ids().filter_map(of).collect()
}

/// Runs the iteration over the domain of `top`.
pub fn invariants(task: &Task, top: &Dynamic, budget: &Budget) -> Result<Symbolic, Halt> {
    let program = &task.program;
    let graph = program.analyse();
    let live = Liveness::of(program, budget)?;
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(program, &mut terms);
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), conflicts: Some(CONFLICTS), memory: None });
    let heads: Vec<LocId> = graph.loop_heads(program.entry).collect();
    let registers = registers(program, &encoder);
    let (within, mut proved) = bounds(task, &heads, &registers, top, budget)?;
    let registered = registers.iter().map(|(v, ..)| (Dim::int(v.index() as u32), *v)).collect();
    if proved {
        return Ok(Symbolic { at: within, registers: registered, proved });
    }
    let pieces: Vec<Piece> = segment::pieces(task, &graph, &mut encoder, &mut terms, false, budget)?
        .into_iter()
        .map(|found| piece(task, &live, &mut terms, &registers, found))
        .collect();
    let mut run = Iteration {
        terms,
        solver,
        budget: budget.clone(),
        thresholds: thresholds(program, None),
        at: BTreeMap::new(),
        within,
        top: top.clone(),
    };
    run.ascend(&pieces, |loc| graph.position(loc).unwrap_or(usize::MAX))?;
    run.descend(&pieces)?;
    proved = run.excludes_errors(&pieces);
    let heads: Vec<LocId> = run.at.keys().copied().collect();
    let at = heads.into_iter().filter_map(|head| Some((head, run.known(head)?))).collect();
    Ok(Symbolic { at, registers: registered, proved })
}

/// What the fixed point of syntax-directed transformers says about the registers at the heads that it reaches, and
/// whether it reaches no error.
fn bounds(
    task: &Task,
    heads: &[LocId],
    registers: &[(VarId, IntTy, usize)],
    top: &Dynamic,
    budget: &Budget,
) -> Result<(BTreeMap<LocId, Dynamic>, bool), Halt> {
    let run = fixed_point::iterate(task, top.ctx(), DELAY, budget)?;
    let numeric = &run.cpa().right;
    let named: Vec<(Dim, Dim)> =
        registers.iter().filter_map(|(v, ..)| Some((numeric.dim(*v)?, Dim::int(v.index() as u32)))).collect();
    let (mut at, mut proved) = (BTreeMap::new(), true);
    for (_, (position, element)) in run.reached().iter() {
        let Position::At(loc) = *position else { continue };
        proved &= task.error_at(loc).is_none() && !task.cuts.contains(&loc);
        if heads.contains(&loc) {
            let mut known = element.get().clone();
            let other = |d: &Dim| named.iter().all(|n| n.0 != *d);
            let unnamed: Vec<Dim> = known.support().into_iter().filter(other).collect();
            known.forget(&unnamed);
            known.rename(&named);
            at.insert(loc, known);
        }
    }
    Ok((at, proved))
}

fn piece(
    task: &Task,
    live: &Liveness<'_>,
    terms: &mut Terms,
    registers: &[(VarId, IntTy, usize)],
    segment::Piece { head: from, start, ends, .. }: segment::Piece,
) -> Piece {
    let after = task.program.vars.len() as u32;
    let mut voc = Vocabulary::new();
    for (v, t, slot) in registers {
        let before = start.slots.get(*slot);
        // At the start globals are constants; they need no name before.
        if from.is_some_and(|head| live.is_live(head, *v)) && terms.name_of(before).is_some() {
            voc.insert(terms, Dim::int(v.index() as u32), before, machine(*t));
        }
    }
    let mut out = Piece { from, steps: Vec::new(), bad: Vec::new(), voc: voc.clone() };
    for end in ends {
        let guard = end.state.guard(terms);
        if task.is_end(end.loc) {
            if task.error_at(end.loc).is_some() || task.cuts.contains(&end.loc) {
                out.bad.push(guard);
            }
            continue;
        }
        let mut step =
            Step { to: end.loc, relation: guard, voc: voc.clone(), changed: Vec::new(), dead: Vec::new() };
        for (v, t, slot) in registers {
            let dim = Dim::int(v.index() as u32);
            let (old, new) = (start.slots.get(*slot), end.state.slots.get(*slot));
            if !live.is_live(end.loc, *v) {
                step.dead.push(dim);
            } else if new != old || voc.of_dim(dim).is_none() {
                let name = terms.fresh_var("after", terms.sort(new));
                let dim_after = Dim::int(v.index() as u32 + after);
                step.voc.insert(terms, dim_after, name, machine(*t));
                let same = terms.eq(name, new);
                step.relation = terms.and(step.relation, same);
                step.changed.push((dim, dim_after));
            }
        }
        out.steps.push(step);
    }
    out
}

/// The iteration over heads.
struct Iteration {
    terms: Terms,
    solver: BvSolver,
    budget: Budget,
    thresholds: Thresholds,
    at: BTreeMap<LocId, Dynamic>,
    /// What is known before; heads that are not listed are not reached.
    within: BTreeMap<LocId, Dynamic>,
    top: Dynamic,
}

impl Iteration {
    /// What a step leads to from what holds at its start; `None` if it is impossible.
    fn post(&mut self, piece: &Piece, step: &Step) -> Option<Dynamic> {
        let mut start = match piece.from {
            None => self.top.clone(),
            Some(head) => self.known(head)?,
        };
        let bound = self.within.get(&step.to)?.clone();
        within_types(&step.voc, &mut start);
        let config = Config { splits: SPLITS, budget: self.budget.clone(), ..Config::new(1) };
        let mut abstraction =
            Abstraction { terms: &mut self.terms, config, solver: Some(&mut self.solver), queries: QUERIES };
        let mut out = abstraction.assume(&step.voc, step.relation, &start);
        if out.is_bottom() {
            return None;
        }
        let old: Vec<Dim> = step.changed.iter().map(|c| c.0).chain(step.dead.iter().copied()).collect();
        out.forget(&old);
        let back: Vec<(Dim, Dim)> = step.changed.iter().map(|(before, after)| (*after, *before)).collect();
        out.rename(&back);
        out.meet_with(&bound);
        (!out.is_bottom()).then_some(out)
    }

    /// What holds at a head; `None` if it is not reached.
    fn known(&self, head: LocId) -> Option<Dynamic> {
        Some(self.at.get(&head)?.meet(self.within.get(&head)?))
    }

    /// Upward, with widening, heads in the given order.
    fn ascend(&mut self, pieces: &[Piece], order: impl Fn(LocId) -> usize) -> Result<(), Halt> {
        let mut updates: BTreeMap<LocId, u32> = BTreeMap::new();
        let mut work: BTreeMap<(usize, usize), ()> = BTreeMap::new();
        for (i, p) in pieces.iter().enumerate() {
            if p.from.is_none() {
                work.insert((0, i), ());
            }
        }
        while let Some(((_, i), ())) = work.pop_first() {
            for step in &pieces[i].steps {
                self.budget.check()?;
                let Some(new) = self.post(&pieces[i], step) else { continue };
                // A transformer that was cut short may be above what is right, never below.
                self.budget.check()?;
                match self.at.get_mut(&step.to) {
                    Some(known) if new.leq(known) => continue,
                    Some(known) => {
                        let n = updates.entry(step.to).or_default();
                        *n += 1;
                        if *n > DELAY {
                            known.widen_with_thresholds(&new, &self.thresholds);
                        } else {
                            known.join_with(&new);
                        }
                    }
                    None => {
                        self.at.insert(step.to, new);
                    }
                }
                for (j, p) in pieces.iter().enumerate().filter(|(_, p)| p.from == Some(step.to)) {
                    let place = p.from.map_or(0, |l| 1 + order(l).min(usize::MAX - 1));
                    work.insert((place, j), ());
                }
            }
        }
        Ok(())
    }

    /// Downward, with narrowing. What is cut short is sound.
    fn descend(&mut self, pieces: &[Piece]) -> Result<(), Halt> {
        for _ in 0..NARROWING {
            let mut next: BTreeMap<LocId, Dynamic> = BTreeMap::new();
            for piece in pieces {
                for step in &piece.steps {
                    let new = self.post(piece, step);
                    if self.budget.stopped().is_some() {
                        return Ok(());
                    }
                    let Some(new) = new else { continue };
                    match next.get_mut(&step.to) {
                        Some(known) => {
                            known.join_with(&new);
                        }
                        None => {
                            next.insert(step.to, new);
                        }
                    }
                }
            }
            let mut changed = false;
            self.at.retain(|loc, known| {
                let Some(lower) = next.get(loc) else {
                    changed = true;
                    return false;
                };
                let before = known.clone();
                let lower = known.meet(lower);
                known.narrow_with(&lower);
                changed |= !before.leq(known);
                true
            });
            if !changed {
                break;
            }
        }
        Ok(())
    }

    /// Whether what holds at the heads leaves no way to an error or a cut.
    fn excludes_errors(&mut self, pieces: &[Piece]) -> bool {
        pieces.iter().all(|piece| {
            let holds = match piece.from.map(|head| self.known(head)) {
                None => self.terms.tru(),
                Some(None) => return true,
                Some(Some(mut a)) => {
                    within_types(&piece.voc, &mut a);
                    piece.voc.disjunction(&mut self.terms, &a.to_constraints())
                }
            };
            piece
                .bad
                .iter()
                .all(|guard| matches!(self.solver.check(&mut self.terms, &[holds, *guard]), Answer::Unsat))
        })
    }
}
