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
        task.origin.made = reduced.origin.made.clone();
        make_variables(&mut task, known_vars);
        task.origin.pieces = reduced.origin.pieces.clone();
        let made = &task.origin.made;
        task.origin.pieces.retain(|_, (of, _)| of.0 < known_vars as u32 || made.contains_key(of));
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

    /// Whether the whole task has the variable, as such, as a member of another one, or as an object that it makes.
    pub fn is_known(&self, var: VarId) -> bool {
        let i = var.0 as usize;
        let origin = &self.task.origin;
        i < self.known_vars
            || self.ghosts.contains(&i)
            || origin.pieces.contains_key(&var)
            || origin.made.contains_key(&var)
    }
}

/// Gives objects that are allocated once the variables that evidence has for them; drops those that have no such
/// object. An allocation outside of all loops happens at most once, and where nobody asks what is alive, how large it is
/// and how much memory is left, its object may as well be there from the start.
fn make_variables(task: &mut Task, known_vars: usize) {
    let made = std::mem::take(&mut task.origin.made);
    if task.program.asks_about_objects() {
        return;
    }
    let graph = task.program.analyse();
    for id in task.program.edges.ids() {
        let Edge { src, ref op, .. } = task.program.edges[id];
        let Op::Alloc { dst, zeroed: false, .. } = *op else { continue };
        let at = (task.origin.frames_of[src], task.origin.edges[id]);
        let p = &mut task.program;
        let candidate = made.iter().find(|(_, place)| **place == at).map(|(var, _)| *var);
        let Some(var) = candidate.filter(|v| v.0 as usize >= known_vars) else { continue };
        if graph.innermost_loop(src).is_some() || task.origin.made.contains_key(&var) {
            continue;
        }
        let ty = p.vars[var].ty;
        let place = p.places.push(Place { base: Base::Var(var), path: Default::default(), ty, bits: None });
        let address = p.add_expr(Scalar::Ptr, ExprKind::Addr(place));
        p.edges[id].op = Op::Assign { dst, src: address };
        task.origin.made.insert(var, at);
    }
}

/// Facts to try at cut points of the whole task: what reductions knew, and what evidence says. While a task is reduced,
/// heads of loops move, and loops that do not matter go away: what is said of one location of a loop is tried at all its
/// cut points and at those of the loops in it; where evidence says nothing, all that it says elsewhere; where nobody
/// says anything, what is known elsewhere of variables that the loop does not assign. As long as evidence is `trusted`
/// to stand where it belongs, nothing else is tried where it says something.
pub fn spread(
    task: &Task,
    points: &BTreeSet<LocId>,
    known: &[(LocId, ExprId)],
    said: &[(LocId, ExprId)],
    trusted: bool,
) -> Vec<(LocId, ExprId)> {
    let p = &task.program;
    let graph = p.analyse();
    let mut seen: FxHashSet<(LocId, ExprId)> = FxHashSet::default();
    let mut guesses: Vec<(LocId, ExprId)> = Vec::new();
    for &point in points {
        let head = graph.innermost_loop(point);
        let around: Vec<LocId> = std::iter::successors(head, |head| graph.outer_loop(*head)).collect();
        let near =
            |loc: LocId| loc == point || graph.innermost_loop(loc).is_some_and(|head| around.contains(&head));
        let facts_near = |facts: &[(LocId, ExprId)]| -> Vec<ExprId> {
            facts.iter().filter(|fact| near(fact.0)).map(|fact| fact.1).collect()
        };
        let mut here = facts_near(known);
        let nothing = here.is_empty();
        let own: Vec<ExprId> = said.iter().filter(|fact| fact.0 == point).map(|fact| fact.1).collect();
        let evidence = if trusted && !own.is_empty() { own } else { facts_near(said) };
        if evidence.is_empty() {
            here.extend(said.iter().map(|fact| fact.1));
        }
        here.extend(evidence);
        if let (true, Some(head)) = (nothing, head) {
            let assigned = assigned_in(p, &graph, head);
            here.extend(known.iter().map(|fact| fact.1).filter(|fact| !mentions(p, *fact, &assigned)));
        }
        guesses.extend(here.into_iter().map(|fact| (point, fact)).filter(|guess| seen.insert(*guess)));
    }
    guesses
}

/// The variables that a loop assigns by name.
fn assigned_in(p: &Program, graph: &Graph, head: LocId) -> FxHashSet<VarId> {
    let mut assigned = FxHashSet::default();
    for edge in graph.loop_body(p, head).iter().flat_map(|loc| &p.locs[*loc].out) {
        p.visit_op(&p.edges[*edge].op, &mut |used| {
            if let Use::Write(place) = used
                && let Base::Var(var) = p.places[place].base
            {
                assigned.insert(var);
            }
        });
    }
    assigned
}

/// Whether a fact reads one of some variables.
fn mentions(p: &Program, fact: ExprId, vars: &FxHashSet<VarId>) -> bool {
    let mut found = false;
    p.visit_op(&Op::Assume { cond: fact }, &mut |used| {
        if let Use::Read(place) = used
            && let Base::Var(var) = p.places[place].base
        {
            found |= vars.contains(&var);
        }
    });
    found
}
