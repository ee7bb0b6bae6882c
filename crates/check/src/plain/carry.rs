//! Carries what evidence says about a reduced task back to the whole one.
//!
//! Reductions only add to the pools of expressions, places and variables, so an expression of the
//! reduced program means something in the whole one too, where its locations are found by activation
//! and source location. Nothing here needs to be trusted: what is carried is checked like any guess.

use super::Rejection;
use palisade_cfa::verify::Subject;
use palisade_cfa::*;
use palisade_evidence::Invariants;
use palisade_task::{FrameId, Task};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A program of more edges is not looked at.
pub const MAX_EDGES: usize = 100_000;

/// The whole task with everything that evidence about the reduced one can mention.
pub struct Carried {
    /// The whole task; its pools continue those of the reduced one.
    pub task: Task,
    places: FxHashMap<(FrameId, LocId), LocId>,
    reduced: Vec<(FrameId, LocId)>,
    /// Variables of the whole task, and members of theirs: the others mean nothing there.
    known_vars: usize,
    ghosts: std::ops::Range<usize>,
}

impl Carried {
    /// Makes the whole task again of the source, for evidence about a reduced one.
    pub fn new(reduced: &Task, pool: Option<&Invariants>) -> Result<Carried, Rejection> {
        let give_up = |why: &str| Rejection::GaveUp(why.into());
        if reduced.outlined {
            return Err(give_up("the program is too large to be followed everywhere"));
        }
        let whole = Task::whole(&reduced.source, reduced.recursion, MAX_EDGES)
            .map_err(|error| Rejection::GaveUp(error.to_string()))?;
        let with_pool = match pool {
            Some(pool) => pool.extend(&reduced.program),
            None => reduced.program.clone(),
        };
        let (w, r) = (&whole.program, &with_pool);
        let continues = w.exprs.as_slice() == r.exprs.as_slice().get(..w.exprs.len()).unwrap_or_default()
            && w.places.as_slice() == r.places.as_slice().get(..w.places.len()).unwrap_or_default()
            && w.types.as_slice() == r.types.as_slice().get(..w.types.len()).unwrap_or_default()
            && w.vars.len() <= r.vars.len();
        if !continues {
            return Err(give_up("the reduced task does not continue the whole one"));
        }
        let known_vars = w.vars.len();
        let ghosts = reduced.program.vars.len()..r.vars.len();
        let mut program = w.clone();
        program.exprs = with_pool.exprs;
        program.places = with_pool.places;
        program.types = with_pool.types;
        for var in with_pool.vars.iter().skip(known_vars) {
            program.vars.push(var.clone());
        }
        let mut places = FxHashMap::default();
        for loc in program.locs.ids() {
            places.entry((whole.origin.frames_of[loc], whole.origin.locs[loc])).or_insert(loc);
        }
        let at = |loc: LocId| (reduced.origin.frames_of[loc], reduced.origin.locs[loc]);
        if let Some(pool) = pool {
            pool.weave(&mut program, |head| places.get(&at(head)).copied());
        }
        let mut task = whole.with_program(program);
        task.origin.pieces = reduced.origin.pieces.clone();
        task.origin.pieces.retain(|_, (of, _)| of.0 < known_vars as u32);
        let mut findings = palisade_cfa::verify(&task.program);
        findings.retain(|f| matches!(f.subject, Subject::Expr(_) | Subject::Place(_)));
        if let Some(finding) = findings.first() {
            return Err(Rejection::Wrong(format!("the expressions are not well formed: {finding}")));
        }
        let reduced = reduced.program.locs.ids().map(at).collect();
        Ok(Carried { task, places, reduced, known_vars, ghosts })
    }

    /// The location of the whole task that a location of the reduced one stands for.
    pub fn loc(&self, reduced: LocId) -> Option<LocId> {
        let at = self.reduced.get(reduced.0 as usize)?;
        self.places.get(at).copied()
    }

    /// The facts of the evidence that mean something in the whole task.
    pub fn said(&self, invariants: &Invariants) -> Vec<(LocId, ExprId)> {
        let said = invariants.at.iter().filter_map(|&(loc, fact)| Some((self.loc(loc)?, fact)));
        self.meaningful(said)
    }

    /// What reductions knew at loop heads, as far as it means something in the whole task.
    pub fn known(&self, reduced: &Task) -> Vec<(LocId, ExprId)> {
        let known = reduced.origin.known.iter();
        let known = known.filter_map(|&(frame, loc, fact)| Some((*self.places.get(&(frame, loc))?, fact)));
        self.meaningful(known)
    }

    fn meaningful(&self, facts: impl Iterator<Item = (LocId, ExprId)>) -> Vec<(LocId, ExprId)> {
        facts.filter(|f| self.means_something(f.1)).collect()
    }

    fn means_something(&self, fact: ExprId) -> bool {
        let p = &self.task.program;
        let mut fine = true;
        p.visit_op(&Op::Assume { cond: fact }, &mut |used| {
            if let Use::Read(x) | Use::Address(x) = used
                && let Base::Var(v) = p.places[x].base
            {
                fine &= self.is_known(v);
            }
        });
        fine
    }

    /// Whether the whole task has the variable, as such or as a member of another one.
    pub fn is_known(&self, var: VarId) -> bool {
        let i = var.0 as usize;
        i < self.known_vars || self.ghosts.contains(&i) || self.task.origin.pieces.contains_key(&var)
    }
}

/// Facts to try at cut points of the whole task. While a task is reduced, heads of loops move, and loops that do
/// not matter go away: what is said of one location of a loop is tried at all its cut points and at those of the
/// loops in it, and where nothing is said, what is said elsewhere of variables that the loop does not assign.
pub fn spread(task: &Task, points: &BTreeSet<LocId>, said: &[(LocId, ExprId)]) -> Vec<(LocId, ExprId)> {
    let p = &task.program;
    let graph = p.analyse();
    let mut seen: FxHashSet<(LocId, ExprId)> = FxHashSet::default();
    let mut guesses: Vec<(LocId, ExprId)> = Vec::new();
    for &point in points {
        let head = graph.innermost_loop(point);
        let around: Vec<LocId> = std::iter::successors(head, |head| graph.outer_loop(*head)).collect();
        let near =
            |loc: LocId| loc == point || graph.innermost_loop(loc).is_some_and(|head| around.contains(&head));
        let mut here: Vec<ExprId> = said.iter().filter(|s| near(s.0)).map(|s| s.1).collect();
        if let (true, Some(head)) = (here.is_empty(), head) {
            let body = graph.loop_body(p, head).iter().flat_map(|loc| &p.locs[*loc].out);
            let mut assigned: FxHashSet<VarId> = FxHashSet::default();
            for edge in body {
                p.visit_op(&p.edges[*edge].op, &mut |used| {
                    if let Use::Write(place) = used
                        && let Base::Var(var) = p.places[place].base
                    {
                        assigned.insert(var);
                    }
                });
            }
            let untouched = |fact: &ExprId| {
                let mut untouched = true;
                p.visit_op(&Op::Assume { cond: *fact }, &mut |used| {
                    if let Use::Read(place) = used
                        && let Base::Var(var) = p.places[place].base
                    {
                        untouched &= !assigned.contains(&var);
                    }
                });
                untouched
            };
            here.extend(said.iter().map(|s| s.1).filter(untouched));
        }
        guesses.extend(here.into_iter().map(|fact| (point, fact)).filter(|guess| seen.insert(*guess)));
    }
    guesses
}
