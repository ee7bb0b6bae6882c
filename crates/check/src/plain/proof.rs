//! Inductive proofs: from every cut point, and from the start, all loop-free segments are followed
//! once; of all facts those are kept that hold whenever a cut point is reached, as long as all that
//! are kept hold where the segment starts. The kept ones hold in every run, by induction over its
//! segments. They must exclude the errors, at once or by k-induction.

use super::Rejection;
use super::carry::{Carried, spread};
use super::encoder::Encoder;
use super::graph::Cuts;
use super::state::{Home, State};
use crate::cone::Cone;
use crate::court::{Court, Juror};
use palisade_cfa::*;
use palisade_evidence::Invariants;
use palisade_logic::{Answer, Evaluator, Solver, Sort, Term, Terms};
use palisade_task::Task;
use std::collections::{BTreeMap, BTreeSet};

/// A proof of more terms is left to the fast encoder.
const MANY_TERMS: usize = 4_000_000;

/// A task and what is needed to follow it.
pub struct Prover<'t> {
    pub task: &'t Task,
    pub cuts: Cuts,
    pub terms: Terms,
    pub encoder: Encoder<'t>,
    pub court: &'t Court,
}

/// A segment: where it starts, the state there, and all states in which it ends.
pub struct Segment {
    start: LocId,
    state: State,
    ends: Vec<(LocId, State)>,
    /// Instances of facts at the start for the indices that were met.
    instances: Vec<Vec<Term>>,
}

/// Facts at cut points, and the ghosts that they speak about.
#[derive(Default)]
pub struct Facts {
    pub at: BTreeMap<LocId, Vec<ExprId>>,
    pub ghosts: Vec<VarId>,
}

/// Checks as if pointers from outside pointed to no object of the program, which is so as long as it gives no address
/// away; if a step may do that, `check` says so and is asked again without the assumption.
pub fn alone_at_first(
    task: &Task,
    mut check: impl FnMut(bool) -> Result<bool, Rejection>,
) -> Result<(), Rejection> {
    let alone = Encoder::gets_pointers(&task.program);
    let gave_away = check(alone)?;
    if alone && gave_away {
        check(false)?;
    }
    Ok(())
}

impl<'t> Prover<'t> {
    /// Cuts the program at some locations, and where cycles need it. Gives the facts to try at the cut points, too; see
    /// [`spread`].
    pub fn new(
        task: &'t Task,
        points: impl Iterator<Item = LocId>,
        known: &[(LocId, ExprId)],
        said: &[(LocId, ExprId)],
        trusted: bool,
        court: &'t Court,
    ) -> (Self, Facts) {
        let mut terms = Terms::plain();
        let more: Vec<ExprId> = known.iter().chain(said).map(|f| f.1).collect();
        let encoder = Encoder::new(task, &more, &mut terms);
        let cuts = Cuts::new(task, points.collect());
        let mut facts = Facts::default();
        for (loc, fact) in spread(task, &cuts.points, known, said, trusted) {
            facts.at.entry(loc).or_default().push(fact);
        }
        (Prover { task, cuts, terms, encoder, court }, facts)
    }

    pub fn solver(&self) -> Juror<'t> {
        self.court.solver()
    }

    /// Stops when asked to, or when the formulas become too large.
    pub fn look(&self) -> Result<(), Rejection> {
        self.court.budget().check().map_err(|stop| Rejection::GaveUp(stop.to_string()))?;
        if self.terms.len() > MANY_TERMS {
            return Err(Rejection::GaveUp("the formulas are too large".into()));
        }
        Ok(())
    }

    /// Follows everything from a location to the next cut points and ends; the first step leaves the
    /// location even if it is a cut point.
    pub fn segment(&mut self, start: LocId, state: State) -> Result<Vec<(LocId, State)>, Rejection> {
        if self.task.is_end(start) {
            return Ok(vec![(start, state)]);
        }
        let mut ends: BTreeMap<LocId, State> = BTreeMap::new();
        let mut open: BTreeMap<u32, (LocId, State)> = BTreeMap::new();
        let mut current = Some((start, state));
        while let Some((loc, state)) = current {
            self.look()?;
            for (dst, next) in self.branches(loc, &state) {
                let stops = self.cuts.points.contains(&dst) || self.task.is_end(dst);
                if stops {
                    let merged = match ends.remove(&dst) {
                        Some(known) => State::merge(&mut self.terms, &known, &next),
                        None => next,
                    };
                    ends.insert(dst, merged);
                } else {
                    let at = self.cuts.order[dst];
                    let merged = match open.remove(&at) {
                        Some((_, known)) => State::merge(&mut self.terms, &known, &next),
                        None => next,
                    };
                    open.insert(at, (dst, merged));
                }
            }
            current = open.pop_first().map(|(_, next)| next);
        }
        Ok(ends.into_iter().collect())
    }

    /// One step over every edge that leads on from a location, such that no state takes two of them.
    pub fn branches(&mut self, loc: LocId, state: &State) -> Vec<(LocId, State)> {
        let mut steps: Vec<(LocId, State)> = Vec::new();
        for edge in self.leading_on(loc) {
            if let Some(next) = self.encoder.step(&mut self.terms, state, edge) {
                steps.push((self.task.program.edges[edge].dst, next));
            }
        }
        if steps.len() < 2 || self.exclusive(state, &steps) {
            return steps;
        }
        let mut not_before = Vec::new();
        for (_, next) in &mut steps {
            let choice = self.terms.fresh_var("branch", Sort::Bool);
            let at = state.path.len();
            next.path.splice(at..at, not_before.iter().copied().chain([choice]));
            not_before.push(self.terms.not(choice));
        }
        steps
    }

    /// The edges from a location to where something can go wrong.
    pub fn leading_on(&self, loc: LocId) -> Vec<EdgeId> {
        let p = &self.task.program;
        p.locs[loc].out.iter().copied().filter(|e| self.cuts.matters[p.edges[*e].dst]).collect()
    }

    fn exclusive(&mut self, state: &State, steps: &[(LocId, State)]) -> bool {
        let [(_, a), (_, b)] = steps else { return false };
        match (a.path.get(state.path.len()), b.path.get(state.path.len())) {
            (Some(&x), Some(&y)) => self.terms.not(x) == y,
            _ => false,
        }
    }

    /// Whether a state with a further condition is empty.
    pub fn impossible(
        &mut self,
        state: &State,
        more: Term,
        what: impl Fn() -> String,
    ) -> Result<(), Rejection> {
        let guard = state.guard(&mut self.terms);
        let goal = self.terms.and(guard, more);
        if self.terms.bool_value(goal) == Some(false) {
            return Ok(());
        }
        match self.solver().check(&mut self.terms, &[goal]) {
            Answer::Unsat => Ok(()),
            Answer::Sat => Err(Rejection::Wrong(what())),
            Answer::Unknown(why) => Err(Rejection::GaveUp(why.to_string())),
        }
    }

    /// The variable and the value of a fact that says what a scalar variable holds: a constant or an address.
    fn definition(&self, fact: ExprId) -> Option<(VarId, ExprId)> {
        let p = &self.task.program;
        let ExprKind::Cmp(CmpOp::Eq, a, b) = p.exprs[fact].kind else { return None };
        let (ExprKind::Load(place), ty) = (&p.exprs[a].kind, p.exprs[a].ty) else { return None };
        let Place { base: Base::Var(var), ref path, bits: None, .. } = p.places[*place] else { return None };
        let constant = match p.exprs[b].kind {
            ExprKind::Int(_) => true,
            ExprKind::Addr(of) => matches!(p.places[of].base, Base::Var(_)) && p.places[of].path.is_empty(),
            _ => false,
        };
        let scalar = path.is_empty() && p.scalar_of(p.vars[var].ty) == Some(ty) && p.exprs[b].ty == ty;
        (constant && scalar).then_some((var, b))
    }

    /// The truth of facts in a state; what evaluating them says about unknowns joins the path. That a variable holds
    /// an address means that it is just this pointer, not only that it compares equal.
    fn truths(&mut self, state: &mut State, facts: &[ExprId]) -> Vec<Term> {
        let mut truths = Vec::with_capacity(facts.len());
        for &fact in facts {
            truths.push(match self.definition(fact) {
                Some((var, value)) => {
                    let scalar = self.task.program.exprs[value].ty;
                    let value = self.encoder.expr(&mut self.terms, state, value);
                    self.encoder.holds(&mut self.terms, state, var, scalar, value)
                }
                None => self.encoder.truth(&mut self.terms, state, fact),
            });
        }
        state.path.append(&mut self.encoder.facts);
        truths
    }

    /// Any state in which variables hold what facts say, the other facts aside.
    pub fn arbitrary(&mut self, loc: LocId, facts: &Facts) -> State {
        let mut state = self.encoder.arbitrary(&mut self.terms);
        for (var, value) in self.definitions(loc, facts) {
            let scalar = self.task.program.exprs[value].ty;
            let value = self.encoder.expr(&mut self.terms, &state, value);
            self.encoder.put(&mut self.terms, &mut state, var, scalar, value);
        }
        state
    }

    /// The variables of a fact that two scalar variables hold the same.
    fn equation(&self, fact: ExprId) -> Option<(VarId, VarId)> {
        let p = &self.task.program;
        let ExprKind::Cmp(CmpOp::Eq, a, b) = p.exprs[fact].kind else { return None };
        let variable = |e: ExprId| {
            let (ExprKind::Load(place), ty) = (&p.exprs[e].kind, p.exprs[e].ty) else { return None };
            let Place { base: Base::Var(var), ref path, bits: None, .. } = p.places[*place] else {
                return None;
            };
            (path.is_empty() && p.scalar_of(p.vars[var].ty) == Some(ty)).then_some((var, ty))
        };
        let ((a, ty), (b, other)) = (variable(a)?, variable(b)?);
        (ty == other && !matches!(ty, Scalar::Float(_))).then_some((a, b))
    }

    /// What variables hold by the facts of a location, directly or because they hold what others do.
    fn definitions(&self, loc: LocId, facts: &Facts) -> Vec<(VarId, ExprId)> {
        let here = facts.at.get(&loc).map_or(&[][..], Vec::as_slice);
        let mut known: Vec<(VarId, ExprId)> = here.iter().filter_map(|&fact| self.definition(fact)).collect();
        let equations: Vec<(VarId, VarId)> = here.iter().filter_map(|&fact| self.equation(fact)).collect();
        loop {
            let value = |var: VarId| known.iter().find(|k| k.0 == var).map(|k| k.1);
            let next = equations.iter().find_map(|&(a, b)| match (value(a), value(b)) {
                (Some(value), None) => Some((b, value)),
                (None, Some(value)) => Some((a, value)),
                _ => None,
            });
            let Some(next) = next else { return known };
            known.push(next);
        }
    }

    /// Assumes the facts of a location. Tells whether a state may be left, as far as simplification knows.
    pub fn with_facts(&mut self, loc: LocId, state: &mut State, facts: &Facts) -> bool {
        let here = facts.at.get(&loc).cloned().unwrap_or_default();
        let truths = self.truths(state, &here);
        truths.into_iter().all(|truth| state.assume(&self.terms, truth))
    }

    /// Follows all segments from arbitrary states at cut points, and the one from the start.
    fn segments(&mut self, facts: &Facts) -> Result<Vec<Segment>, Rejection> {
        let entry = self.task.body().entry;
        let initial = self.encoder.initial(&mut self.terms)?;
        let mut out = Vec::new();
        if self.cuts.points.contains(&entry) {
            let ends = vec![(entry, initial.clone())];
            out.push(Segment { start: entry, state: initial, ends, instances: Vec::new() });
        } else {
            out.push(self.follow(entry, initial, facts)?);
        }
        for point in self.cuts.points.clone() {
            let state = self.arbitrary(point, facts);
            out.push(self.follow(point, state, facts)?);
        }
        Ok(out)
    }

    fn follow(&mut self, start: LocId, state: State, facts: &Facts) -> Result<Segment, Rejection> {
        self.encoder.indices = (!facts.ghosts.is_empty()).then(Vec::new);
        let ends = self.segment(start, state.clone())?;
        let ghosts = facts.ghosts.iter().filter_map(|&ghost| match self.encoder.layout.homes[ghost] {
            Home::Register(slot) => Some(state.get(slot)),
            _ => None,
        });
        let ghosts: Vec<Term> = ghosts.collect();
        let met = self.encoder.indices.take().unwrap_or_default();
        let instances = palisade_encode::instances(met, &ghosts);
        Ok(Segment { start, state, ends, instances })
    }

    /// Drops facts until those that are left are inductive. Segments start in states in which registers hold what
    /// facts say; if one of these facts goes, they are made anew.
    pub fn weed(&mut self, facts: &mut Facts) -> Result<Vec<Segment>, Rejection> {
        let points = self.cuts.points.clone();
        let definitions = |this: &Self, facts: &Facts| -> Vec<_> {
            points.iter().map(|&point| this.definitions(point, facts)).collect()
        };
        'segments: loop {
            let put_in = definitions(self, facts);
            let segments = self.segments(facts)?;
            let mut solvers: Vec<Juror<'t>> = segments.iter().map(|_| self.solver()).collect();
            loop {
                let mut changed = false;
                for (i, segment) in segments.iter().enumerate() {
                    for (loc, end) in &segment.ends {
                        let mut dropped = false;
                        while self.drop_broken(&mut solvers[i], i == 0, segment, (*loc, end), facts)? {
                            dropped = true;
                        }
                        if dropped && definitions(self, facts) != put_in {
                            continue 'segments;
                        }
                        changed |= dropped;
                    }
                }
                if !changed {
                    return Ok(segments);
                }
            }
        }
    }

    /// What may be assumed where a segment starts: nothing at the start of the program.
    fn assumed(&mut self, first: bool, segment: &Segment, facts: &Facts) -> Vec<Term> {
        if first {
            return Vec::new();
        }
        let here = facts.at.get(&segment.start).cloned().unwrap_or_default();
        let mut state = segment.state.clone();
        state.path.clear();
        let mut all = self.truths(&mut state, &here);
        for values in &segment.instances {
            let mut instance = state.clone();
            for (&ghost, &value) in facts.ghosts.iter().zip(values) {
                if let Home::Register(slot) = self.encoder.layout.homes[ghost] {
                    instance.set(slot, value);
                }
            }
            all.extend(self.truths(&mut instance, &here));
            all.append(&mut instance.path);
        }
        all.append(&mut state.path);
        all
    }

    fn drop_broken(
        &mut self,
        solver: &mut Juror<'_>,
        first: bool,
        segment: &Segment,
        (loc, end): (LocId, &State),
        facts: &mut Facts,
    ) -> Result<bool, Rejection> {
        let assumed = self.assumed(first, segment, facts);
        let broken = self.broken(solver, end.clone(), assumed, loc, facts)?;
        if let Some(broken) = &broken {
            self.drop_facts(broken, segment.start, loc, facts);
        }
        Ok(broken.is_some())
    }

    /// The facts of a location that do not hold in some state that arrives there under conditions; `None` if
    /// there are none.
    pub fn broken(
        &mut self,
        solver: &mut Juror<'_>,
        mut end: State,
        conditions: Vec<Term>,
        loc: LocId,
        facts: &Facts,
    ) -> Result<Option<Vec<ExprId>>, Rejection> {
        let here = facts.at.get(&loc).cloned().unwrap_or_default();
        if here.is_empty() {
            return Ok(None);
        }
        let truths = self.truths(&mut end, &here);
        // Most facts are about what the segment leaves alone.
        let known = Cone::new(&self.terms, &conditions);
        let same: BTreeSet<Term> = known.all().iter().copied().collect();
        let parts: Vec<Term> = truths.iter().flat_map(|&truth| self.terms.conjuncts(truth)).collect();
        let all = self.terms.and_all(parts.into_iter().filter(|part| !same.contains(part)));
        let not = self.terms.not(all);
        let guard = end.guard(&mut self.terms);
        match self.check_near(solver, &[not, guard], &known) {
            Answer::Unsat => Ok(None),
            Answer::Unknown(why) => Err(Rejection::GaveUp(why.to_string())),
            Answer::Sat => {
                let model = solver.model(&mut self.terms);
                let model = model.ok_or_else(|| Rejection::GaveUp("the solver gave no model".into()))?;
                let mut evaluator = Evaluator::new(&model);
                let mut broken: Vec<ExprId> = Vec::new();
                for (&fact, &truth) in here.iter().zip(&truths) {
                    if !evaluator.truth(&self.terms, truth) {
                        broken.push(fact);
                    }
                }
                if broken.is_empty() {
                    return Err(Rejection::GaveUp("the solver's model shows nothing".into()));
                }
                Ok(Some(broken))
            }
        }
    }

    /// Whether a question has a model in which conditions hold; first only those that share variables with it.
    fn check_near(&mut self, solver: &mut Juror<'_>, question: &[Term], known: &Cone) -> Answer {
        let near = known.near(&self.terms, question);
        let all = near.len() == known.all().len();
        let mut answer = Answer::Sat;
        for conditions in [&near[..], known.all()].into_iter().take(if all { 1 } else { 2 }) {
            let goal = self.terms.and_all(question.iter().chain(conditions).copied());
            if self.terms.bool_value(goal) == Some(false) {
                return Answer::Unsat;
            }
            answer = solver.check(&mut self.terms, &[goal]);
            if answer != Answer::Sat {
                break;
            }
        }
        answer
    }

    /// Facts of a location are no longer said there.
    pub fn drop_facts(&self, broken: &[ExprId], from: LocId, loc: LocId, facts: &mut Facts) {
        for fact in broken {
            let shown = self.task.program.show_expr(*fact);
            tracing::debug!("the plain twin: from {from} not kept at {loc}: {shown}");
        }
        facts.at.entry(loc).or_default().retain(|fact| !broken.contains(fact));
    }

    /// Facts exclude the errors at the ends of all segments.
    fn sufficient(&mut self, segments: &[Segment], facts: &Facts) -> Result<(), Rejection> {
        for (i, segment) in segments.iter().enumerate() {
            let assumed = self.assumed(i == 0, segment, facts);
            let known = Cone::new(&self.terms, &assumed);
            for (loc, end) in segment.ends.iter().filter(|(loc, _)| self.task.is_end(*loc)) {
                let guard = end.guard(&mut self.terms);
                match self.check_near(&mut self.solver(), &[guard], &known) {
                    Answer::Unsat => {}
                    Answer::Sat => {
                        return Err(Rejection::Wrong(format!("an error at {loc} from {}", segment.start)));
                    }
                    Answer::Unknown(why) => return Err(Rejection::GaveUp(why.to_string())),
                }
            }
        }
        Ok(())
    }

    /// No error within `k` segments from the start, nor in the one after `k` segments without an
    /// error from any state of the facts.
    fn k_induction(&mut self, k: u32, facts: &Facts) -> Result<(), Rejection> {
        let entry = self.task.body().entry;
        let initial = self.encoder.initial(&mut self.terms)?;
        let mut layer = vec![(entry, initial)];
        for _ in 0..=k {
            layer = self.advance(layer, true, facts)?;
        }
        for point in self.cuts.points.clone() {
            let mut state = self.arbitrary(point, facts);
            if !self.with_facts(point, &mut state, facts) {
                continue;
            }
            let mut layer = vec![(point, state)];
            for step in 0..=k {
                layer = self.advance(layer, step == k, facts)?;
            }
        }
        Ok(())
    }

    fn advance(
        &mut self,
        layer: Vec<(LocId, State)>,
        errors: bool,
        facts: &Facts,
    ) -> Result<Vec<(LocId, State)>, Rejection> {
        let mut next: BTreeMap<LocId, State> = BTreeMap::new();
        for (start, state) in layer {
            for (loc, mut end) in self.segment(start, state)? {
                if self.task.is_end(loc) {
                    if errors {
                        let yes = self.terms.tru();
                        self.impossible(&end, yes, || format!("an error at {loc} from {start}"))?;
                    }
                } else if self.with_facts(loc, &mut end, facts) {
                    let merged = match next.remove(&loc) {
                        Some(known) => State::merge(&mut self.terms, &known, &end),
                        None => end,
                    };
                    next.insert(loc, merged);
                }
            }
        }
        Ok(next.into_iter().collect())
    }
}

/// Checks invariants, or a proof by k-induction that they help: as they stand, then with each at all cut points of its
/// loop, with the program cut where they stand, or else at the heads of the loops in which they stand. While a task is
/// reduced, a head may move behind copies that the next operations need, about which the facts say nothing.
pub fn check(
    reduced: &Task,
    carried: &Carried,
    invariants: &Invariants,
    k: Option<u32>,
    court: &Court,
) -> Result<(), Rejection> {
    let said = carried.said(invariants);
    let points: BTreeSet<LocId> = said.iter().map(|s| s.0).collect();
    let graph = carried.task.program.analyse();
    let heads: BTreeSet<LocId> = points.iter().map(|&loc| graph.innermost_loop(loc).unwrap_or(loc)).collect();
    let known = carried.known(reduced);
    let ghosts: Vec<VarId> = invariants.ghosts().collect();
    let proved = |points: &BTreeSet<LocId>, trusted: bool, alone: bool| {
        let (mut prover, mut facts) =
            Prover::new(&carried.task, points.iter().copied(), &known, &said, trusted, court);
        prover.encoder.alone = alone;
        facts.ghosts.clone_from(&ghosts);
        let segments = prover.weed(&mut facts)?;
        match k {
            None => prover.sufficient(&segments, &facts)?,
            Some(k) => prover.k_induction(k, &facts)?,
        }
        Ok(prover.encoder.gave_away.get())
    };
    let cut_at = |points: &BTreeSet<LocId>, trusted: bool| {
        alone_at_first(&carried.task, |alone| proved(points, trusted, alone))
    };
    let mut result = cut_at(&points, true);
    if matches!(result, Err(Rejection::Wrong(_))) {
        result = cut_at(&points, false);
    }
    match result {
        Err(wrong @ Rejection::Wrong(_)) if heads != points => cut_at(&heads, false).or(Err(wrong)),
        result => result,
    }
}
