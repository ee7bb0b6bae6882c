//! α^τ: the abstract transformers of the steps of a program (section 6.1, step 2).
//!
//! The numeric side of a step is what the numeric analysis makes of it, restricted to V_N. The predicate
//! side is found by the solver: the step is taken symbolically from an arbitrary state, so that the
//! weakest precondition of a predicate is the predicate in the state after it, through pointers and
//! arrays alike.
//!
//! The paper prints `t ≜ Approx(WP) ∧ WP` and `f ≜ Approx(¬WP) ∧ ¬WP`. What makes its own examples come out,
//! and agrees with its rule for assume, is the disjunction: p becomes true where the predicates
//! show that it must, *or* where the numbers do.

use super::approx::{Approx, Asked, Known, Question};
use super::control;
use super::linear::{Ideal, Reader};
use super::precision::{Precision, Scope};
use crate::numeric::Cell;
use palisade_analyses::cells::Located;
use palisade_analyses::effects::{Effect, Effects, Source};
use palisade_analyses::live::Liveness;
use palisade_analyses::trees::{self, integer, machine};
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_cpa::{Step, StepKind};
use palisade_domains::{Dim, LinCons, LinExpr, Tree};
use palisade_encode::{Encoder, State};
use palisade_logic::{Term, Terms};
use palisade_num::Rat;
use palisade_numpred::{
    Choice, Expr as Formula, NumExpr, NumStmt, Pred, Predicate, Structure, Transformer, Variable, Vocabulary,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A truth value of more operations is not read as a formula.
const MAX_TRUTH: usize = 24;

/// The abstract transformers of a program for one precision.
pub struct Abstraction<'p> {
    program: &'p Program,
    live: &'p Liveness<'p>,
    effects: Effects<'p>,
    terms: Terms,
    encoder: Encoder<'p>,
    /// The state that steps start in.
    before: State,
    /// V_P.
    preds: Vec<Tracked>,
    /// Whether the domain has numeric terms in place of predicates that mean one; these are not forgotten
    /// while they stay true.
    shares_terms: bool,
    /// V_N by cell.
    tracked: FxHashMap<u32, IntTy>,
    /// V_P and V_N for the domain.
    pub names: Vocabulary,
    memo: FxHashMap<Step, Rc<Transformer>>,
    /// The projections onto predicates.
    pub approx: Approx,
}

/// A predicate of V_P.
pub struct Tracked {
    expr: ExprId,
    /// Its truth in the state that steps start in.
    pub term: Term,
    /// The variables of the term.
    pub vars: FxHashSet<Term>,
    /// The registers that it reads; `None` if it may read memory too.
    registers: Option<FxHashSet<VarId>>,
    scope: Scope,
}

impl<'p> Abstraction<'p> {
    /// For a program that contains the predicates. Those that say what others say are left out of
    /// `precision`.
    pub fn new(
        program: &'p Program,
        live: &'p Liveness<'_>,
        precision: &mut Precision,
        structure: Structure,
        known: Known,
        budget: &Budget,
    ) -> Self {
        let effects = Effects::new(program);
        let mut terms = Terms::new();
        let encoder = Encoder::new(program, &mut terms);
        let before = encoder.arbitrary_state(&mut terms);
        let mut this = Abstraction {
            program,
            live,
            effects,
            terms,
            encoder,
            before,
            preds: Vec::new(),
            shares_terms: structure == Structure::Ndd,
            tracked: FxHashMap::default(),
            names: Vocabulary::default(),
            memo: FxHashMap::default(),
            approx: Approx::new(known, budget),
        };
        for &var in &precision.vars {
            let Some(slot) = this.effects.cells.scalar(var) else { continue };
            let Some(Scalar::Int(t)) = this.effects.cells.scalar_type(program, slot) else { continue };
            this.tracked.insert(slot, t);
            let name = program.vars[var].name.to_string();
            this.names.variables.push(Variable { dim: Dim::int(slot), name, range: Some(machine(t)) });
        }
        let mut seen: FxHashMap<Term, usize> = FxHashMap::default();
        let mut i = 0;
        while let Some(&(e, _)) = precision.preds.get(i) {
            let state = this.before.clone();
            let term = this.encoder.cond(&mut this.terms, &state, e);
            let not = this.terms.not(term);
            if this.terms.bool_value(term).is_some() {
                precision.replace(i, None);
            } else if let Some(&same) = seen.get(&term).or_else(|| seen.get(&not)) {
                precision.replace(i, Some(same));
            } else {
                seen.insert(term, i);
                this.add_predicate(e, term);
                i += 1;
            }
        }
        for (tracked, (_, scope)) in this.preds.iter_mut().zip(&precision.preds) {
            tracked.scope = scope.clone();
        }
        this
    }

    fn add_predicate(&mut self, expr: ExprId, term: Term) {
        let name = format!("p{}", self.preds.len());
        let reader = Reader { program: self.program, cells: &self.effects.cells };
        let meaning = reader.meaning(expr).map(|c| c.normalize()).filter(|c| c.truth().is_none());
        self.names.predicates.push(Predicate { name, meaning });
        let vars = self.terms.variables(&[term]).into_iter().collect();
        let registers = registers(self.program, expr);
        self.preds.push(Tracked { expr, term, vars, registers, scope: Scope::Everywhere });
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The variable of a dimension.
    pub(crate) fn dims(&self) -> FxHashMap<Dim, Cell> {
        let var = |slot: u32| self.effects.cells.info(slot).map(|c| c.var);
        let cell = |(&slot, &t): (&u32, &IntTy)| Some((Dim::int(slot), Cell::whole(var(slot)?, t)));
        self.tracked.iter().filter_map(cell).collect()
    }

    /// Variables that can be in V_N.
    pub fn can_track(&self, var: VarId) -> bool {
        let slot = self.effects.cells.scalar(var);
        slot.is_some_and(|s| matches!(self.effects.cells.scalar_type(self.program, s), Some(Scalar::Int(_))))
    }

    /// The value that a variable has at the program's start, if it is always the same.
    pub fn starts_with(&self, var: VarId) -> Option<u128> {
        let slot = self.effects.cells.scalar(var)?;
        self.effects.initial().iter().find(|(s, _)| *s == slot).map(|(_, bits)| *bits)
    }

    /// The program's start: what is known about numbers, and about each predicate.
    pub fn initial(&mut self) -> Result<Formula, Stop> {
        let mut parts = Vec::new();
        for v in &self.names.variables {
            if let Some(range) = v.range {
                let bounds = range.range().constraints_on(&LinExpr::dim(v.dim));
                parts.extend(bounds.into_iter().map(Formula::Num));
            }
        }
        for (slot, bits) in self.effects.initial() {
            if let Some(&t) = self.tracked.get(&slot) {
                let value = LinExpr::constant(Rat::from(integer(t, bits)));
                parts.push(Formula::Num(LinCons::eq(Dim::int(slot), value)));
            }
        }
        let start = self.encoder.initial_state(&mut self.terms);
        let entry = self.program.body(self.program.entry).entry;
        for i in 0..self.preds.len() {
            if !self.is_tracked(i, entry) {
                continue;
            }
            let term = self.encoder.cond(&mut self.terms, &start, self.preds[i].expr);
            let not = self.terms.not(term);
            let p = Formula::pred(Pred(i as u32));
            if self.approx.refuted(&mut self.terms, not)? {
                parts.push(p);
            } else if self.approx.refuted(&mut self.terms, term)? {
                parts.push(p.negate());
            }
        }
        Ok(Formula::and(parts))
    }

    /// Whether a predicate is tracked at a location: in its scope, while somebody may still read a register of it.
    fn is_tracked(&self, index: usize, loc: LocId) -> bool {
        let p = &self.preds[index];
        let live = |read: &FxHashSet<VarId>| read.iter().any(|v| self.live.is_live(loc, *v));
        p.scope.contains(loc) && p.registers.as_ref().is_none_or(live)
    }

    /// α^τ of a step.
    pub fn transformer(&mut self, step: &Step) -> Result<Rc<Transformer>, Stop> {
        if let Some(known) = self.memo.get(step) {
            return Ok(known.clone());
        }
        let tau = Rc::new(self.build(step)?);
        self.memo.insert(*step, tau.clone());
        Ok(tau)
    }

    fn build(&mut self, step: &Step) -> Result<Transformer, Stop> {
        if step.kind != StepKind::Local {
            return Ok(Transformer::skip());
        }
        let mut parts = Vec::new();
        let mut assigned: FxHashMap<u32, (NumExpr, Option<Ideal>)> = FxHashMap::default();
        for effect in self.effects.of(step).iter() {
            match effect {
                // After an assignment the condition would be about the new values.
                Effect::Assume(..) if !assigned.is_empty() => {}
                Effect::Assume(cond, truth) => {
                    let tree = self.tree(*cond);
                    if tree.nodes().iter().any(|n| matches!(n, palisade_domains::Node::Dim(_))) {
                        parts.push(Transformer::Num(NumStmt::Assume(tree, *truth)));
                    }
                }
                Effect::Assign(list) => {
                    let first = assigned.is_empty();
                    for &(slot, source) in list {
                        if let Some(&t) = self.tracked.get(&slot) {
                            let value = match first {
                                true => self.value(t, source),
                                false => (NumExpr::Any(machine(t).range()), None),
                            };
                            assigned.insert(slot, value);
                        }
                    }
                }
                Effect::Forget(range) | Effect::ForgetIn(_, range) => {
                    for (&slot, &t) in self.tracked.iter().filter(|(slot, _)| range.contains(slot)) {
                        assigned.insert(slot, (NumExpr::Any(machine(t).range()), None));
                    }
                }
            }
        }
        let choices = match self.predicates(step.edge, &assigned)? {
            None => return Ok(Transformer::Assume(Formula::FALSE)),
            Some((allowed, choices)) => {
                if allowed != Formula::TRUE {
                    parts.insert(0, Transformer::Assume(allowed));
                }
                choices
            }
        };
        let mut assigned: Vec<(u32, NumExpr)> = assigned.into_iter().map(|(s, (e, _))| (s, e)).collect();
        self.forget_dead(step.edge, &mut assigned);
        assigned.sort_by_key(|a| a.0);
        let s = NumStmt::Assign(assigned.into_iter().map(|(slot, e)| (Dim::int(slot), e)).collect());
        match (s.assigned().is_empty(), choices.is_empty()) {
            (true, true) => {}
            (false, true) => parts.push(Transformer::Num(s)),
            (true, false) => parts.push(Transformer::Pred(choices)),
            (false, false) => parts.push(Transformer::Both(Formula::TRUE, s, choices)),
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Transformer::Seq(parts) })
    }

    /// Numbers that nobody reads any more would only keep values apart.
    fn forget_dead(&self, edge: EdgeId, assigned: &mut Vec<(u32, NumExpr)>) {
        let edge = &self.program.edges[edge];
        for (&slot, &t) in &self.tracked {
            let Some(var) = self.effects.cells.info(slot).map(|c| c.var) else { continue };
            if self.live.is_live(edge.dst, var) {
                continue;
            }
            let any = NumExpr::Any(machine(t).range());
            match assigned.iter_mut().find(|(s, _)| *s == slot) {
                Some((_, value)) => *value = any,
                None if self.live.is_live(edge.src, var) => assigned.push((slot, any)),
                None => {}
            }
        }
    }

    /// The predicate side of a step: which states it can be taken in, and what becomes of the predicates. `None`
    /// if it cannot be taken.
    fn predicates(
        &mut self,
        id: EdgeId,
        assigned: &FxHashMap<u32, (NumExpr, Option<Ideal>)>,
    ) -> Result<Option<(Formula, Vec<Choice>)>, Stop> {
        let edge = &self.program.edges[id];
        let at = |loc| (0..self.preds.len()).filter(|&i| self.is_tracked(i, loc)).collect::<Vec<usize>>();
        let (here, there) = (at(edge.src), at(edge.dst));
        let conditional = matches!(edge.op, Op::Assume { .. });
        let register = match edge.op {
            Op::Assign { dst, .. } | Op::Havoc { dst, .. } => {
                self.program.whole_register(dst).map(|(var, _)| var)
            }
            _ => None,
        };
        // What this step may change: nothing if it is a condition.
        let changed = |p: &Tracked| match (&p.registers, register) {
            (Some(read), Some(written)) => read.contains(&written),
            (None, Some(_)) => true,
            _ => !conditional && !matches!(edge.op, Op::Skip),
        };
        let changed: Vec<bool> = self.preds.iter().map(changed).collect();
        if here.is_empty() && there.is_empty() && !changed.contains(&true) {
            return Ok(Some((Formula::TRUE, Vec::new())));
        }
        let state = self.before.clone();
        let Some(after) = self.encoder.step(&mut self.terms, &state, id) else { return Ok(None) };
        let guard = after.guard(&mut self.terms);
        let allowed = self.project((id, Asked::Guard), guard, &here)?;
        let mut choices = Vec::new();
        for (i, &changed) in changed.iter().enumerate() {
            let pred = Pred(i as u32);
            let (expr, pre) = (self.preds[i].expr, self.preds[i].term);
            let means = self.names.meaning(pred).is_some();
            if !there.contains(&i) {
                // Forgotten if it is not true any more, or was tracked up to here. Conditions may have told
                // a predicate that is not tracked, by its meaning.
                let gone = changed && self.encoder.cond(&mut self.terms, &after, expr) != pre;
                let left = (here.contains(&i) || conditional && means) && !(self.shares_terms && means);
                if gone || left {
                    choices.push(Choice { pred, t: Formula::FALSE, f: Formula::FALSE });
                }
                continue;
            }
            if !changed && here.contains(&i) {
                continue;
            }
            let post = self.encoder.cond(&mut self.terms, &after, expr);
            if post == pre && here.contains(&i) {
                continue;
            }
            let not = self.terms.not(post);
            let (yes, no) = (self.terms.and(guard, post), self.terms.and(guard, not));
            let may = self.project((id, Asked::After(pred.0, true)), yes, &here)?;
            let may_not = self.project((id, Asked::After(pred.0, false)), no, &here)?;
            let mut t = vec![may_not.negate()];
            let mut f = vec![may.negate()];
            let (true_by, false_by) = self.by_numbers(pred, assigned);
            t.push(true_by);
            f.push(false_by);
            if let (Op::Assign { src, .. }, Some(var)) = (&edge.op, register)
                && let Some(truth) = self.by_truth(expr, (var, *src))
            {
                t.push(truth.nnf());
                f.push(truth.negate());
            }
            if !means && let (Op::Assign { src, .. }, Some(var)) = (&edge.op, register) {
                for (same, j) in self.by_congruence(expr, (var, *src), &here) {
                    let p = Formula::pred(Pred(j as u32));
                    t.push(Formula::and([same.clone(), p.clone()]));
                    f.push(Formula::and([same, p.negate()]));
                }
            }
            choices.push(Choice { pred, t: Formula::or(t), f: Formula::or(f) });
        }
        Ok(Some((allowed, choices)))
    }

    fn project(&mut self, of: Question, formula: Term, here: &[usize]) -> Result<Formula, Stop> {
        self.approx.project(&mut self.terms, &self.preds, here, of, formula)
    }

    /// Where the numbers alone show what a predicate about a register becomes that gets a truth value.
    fn by_truth(&self, expr: ExprId, (var, mut src): (VarId, ExprId)) -> Option<Formula> {
        let program = self.program;
        if control::compared(program, expr) != Some(var) {
            return None;
        }
        while program.exprs[src].ty != Scalar::BOOL {
            let ExprKind::Convert(a) = program.exprs[src].kind else { return None };
            src = a;
        }
        let at = |value| control::compared_at(program, expr, value);
        match (at(1)?, at(0)?) {
            (true, false) => self.truth(src, &mut { MAX_TRUTH }),
            (false, true) => Some(self.truth(src, &mut { MAX_TRUTH })?.negate()),
            _ => None,
        }
    }

    /// A truth value as a formula over V_N.
    fn truth(&self, e: ExprId, fuel: &mut usize) -> Option<Formula> {
        *fuel = fuel.checked_sub(1)?;
        let reader = Reader { program: self.program, cells: &self.effects.cells };
        match self.program.exprs[e].kind {
            ExprKind::Unary(UnOp::Not, a) => Some(self.truth(a, fuel)?.negate()),
            ExprKind::Binary(BinOp::And, a, b) => {
                Some(Formula::and([self.truth(a, fuel)?, self.truth(b, fuel)?]))
            }
            ExprKind::Binary(BinOp::Or, a, b) => {
                Some(Formula::or([self.truth(a, fuel)?, self.truth(b, fuel)?]))
            }
            _ => {
                let meaning = reader.meaning(e)?;
                let tracked = meaning.expr.dims().all(|d| self.tracked.contains_key(&d.index()));
                tracked.then_some(Formula::Num(meaning).nnf())
            }
        }
    }

    /// Predicates j that, where the numbers satisfy a condition, are what predicate `expr` will be after the
    /// assignment (as in Figure 2).
    fn by_congruence(
        &self,
        expr: ExprId,
        assigned: (VarId, ExprId),
        here: &[usize],
    ) -> Vec<(Formula, usize)> {
        let reader = Reader { program: self.program, cells: &self.effects.cells };
        let tracked = |c: &LinCons| c.expr.dims().all(|d| self.tracked.contains_key(&d.index()));
        let mut found = Vec::new();
        for &j in here {
            if let Some(equal) = reader.congruent(expr, self.preds[j].expr, Some(assigned))
                && !equal.is_empty()
                && equal.iter().all(tracked)
            {
                found.push((Formula::and(equal.into_iter().map(Formula::Num)), j));
            }
        }
        found
    }

    fn tree(&self, e: ExprId) -> Rc<Tree> {
        Rc::new(trees::tree(
            self.program,
            e,
            &|place, t| match self.effects.cells.locate(self.program, place) {
                Located::Cell(slot) if self.tracked.get(&slot) == Some(&t) => Some(Dim::int(slot)),
                _ => None,
            },
        ))
    }

    fn value(&self, t: IntTy, source: Source) -> (NumExpr, Option<Ideal>) {
        match source {
            Source::Zero => {
                let zero = LinExpr::constant(0);
                (NumExpr::Linear(zero.clone()), Some((zero, Vec::new())))
            }
            Source::Cell(from) if self.tracked.get(&from) == Some(&t) => {
                let copy = LinExpr::dim(Dim::int(from));
                (NumExpr::Linear(copy.clone()), Some((copy, Vec::new())))
            }
            Source::Expr(e) if self.program.exprs[e].ty == Scalar::Int(t) => {
                let reader = Reader { program: self.program, cells: &self.effects.cells };
                (NumExpr::Tree(self.tree(e)), reader.ideal(e))
            }
            _ => (NumExpr::Any(machine(t).range()), None),
        }
    }

    /// Where the numbers alone show that a predicate becomes true, and false: its weakest precondition as a
    /// numeric term, where the assigned expressions do not wrap.
    fn by_numbers(&self, p: Pred, assigned: &FxHashMap<u32, (NumExpr, Option<Ideal>)>) -> (Formula, Formula) {
        let never = (Formula::FALSE, Formula::FALSE);
        let Some(meaning) = self.names.meaning(p) else { return never };
        let mut guards: Vec<LinCons> = Vec::new();
        let mut wp = LinExpr::constant(meaning.expr.constant_term().clone());
        for (d, k) in meaning.expr.terms() {
            let value = match assigned.get(&d.index()) {
                None => LinExpr::dim(*d),
                Some((_, Some((e, from)))) => {
                    guards.extend(from.iter().cloned());
                    e.clone()
                }
                Some((_, None)) => return never,
            };
            wp = wp.add_scaled(&value, k);
        }
        let wp = Formula::Num(LinCons { expr: wp, rel: meaning.rel.clone() });
        let tracked = |c: &LinCons| c.expr.dims().all(|d| self.tracked.contains_key(&d.index()));
        let mut known = true;
        wp.atoms(&mut |a| known &= matches!(a, Formula::Num(c) if tracked(c)));
        if !known || !guards.iter().all(tracked) {
            return never;
        }
        let guarded = |e: Formula| Formula::and(guards.iter().cloned().map(Formula::Num).chain([e])).nnf();
        (guarded(wp.nnf()), guarded(wp.negate()))
    }

    /// Where widening may stop.
    pub fn thresholds(&self) -> palisade_domains::Thresholds {
        palisade_analyses::thresholds::thresholds(self.program, None)
    }
}

/// The registers that an expression reads; `None` if it reads anything else.
fn registers(program: &Program, e: ExprId) -> Option<FxHashSet<VarId>> {
    let mut found = FxHashSet::default();
    let mut all = true;
    let mut seen = FxHashSet::default();
    let mut work = vec![e];
    while let Some(e) = work.pop() {
        if !seen.insert(e) {
            continue;
        }
        let expr = &program.exprs[e];
        let load = matches!(expr.kind, ExprKind::Load(_));
        let mut places = Vec::new();
        expr.operands(|o| work.push(o), |p| places.push(p));
        for p in places {
            match program.whole_register(p) {
                Some((var, _)) if load => {
                    found.insert(var);
                }
                _ => all = false,
            }
        }
    }
    all.then_some(found)
}
