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

use palisade_analyses::cells::Located;
use palisade_analyses::effects::{Effect, Effects, Source};
use palisade_analyses::trees::{self, integer, machine};
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_cpa::{Step, StepKind};
use palisade_domains::{Dim, LinCons, LinExpr, MachineInt, Tree};
use palisade_encode::{Encoder, State};
use palisade_logic::services::all_models;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Term, Terms};
use palisade_num::Rat;
use palisade_numpred::{
    Choice, Expr as Formula, NumExpr, NumStmt, Pred, Predicate, Transformer, Variable, Vocabulary,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A formula is only projected onto this many predicates.
const MAX_RELEVANT: usize = 8;

/// Deeper expressions are not read as linear ones.
const MAX_DEPTH: u32 = 30;

/// V_N and V_P of a program.
#[derive(Clone, Default)]
pub struct Precision {
    /// V_N: scalar integer variables.
    pub vars: Vec<VarId>,
    /// V_P: truth values.
    pub preds: Vec<ExprId>,
}

/// The abstract transformers of a program for one precision.
pub struct Abstraction<'p> {
    program: &'p Program,
    effects: Effects<'p>,
    terms: Terms,
    encoder: Encoder<'p>,
    solver: BvSolver,
    budget: Budget,
    /// The state that steps start in.
    before: State,
    /// The predicates there, with the variables of the terms.
    preds: Vec<(ExprId, Term, FxHashSet<Term>)>,
    /// V_N by cell.
    tracked: FxHashMap<u32, IntTy>,
    /// V_P and V_N for the domain.
    pub names: Vocabulary,
    memo: FxHashMap<Step, Rc<Transformer>>,
}

/// A linear expression and where it is what the machine computes.
type Ideal = (LinExpr, Vec<LinCons>);

impl<'p> Abstraction<'p> {
    /// For a program that contains the predicates. Those that say what others say are left out of
    /// `precision`.
    pub fn new(program: &'p Program, precision: &mut Precision, budget: &Budget) -> Self {
        let effects = Effects::new(program);
        let mut terms = Terms::new();
        let encoder = Encoder::new(program, &mut terms);
        let before = encoder.arbitrary_state(&mut terms);
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
        let mut this = Abstraction {
            program,
            effects,
            terms,
            encoder,
            solver,
            budget: budget.clone(),
            before,
            preds: Vec::new(),
            tracked: FxHashMap::default(),
            names: Vocabulary::default(),
            memo: FxHashMap::default(),
        };
        for &var in &precision.vars {
            let Some(slot) = this.effects.cells.scalar(var) else { continue };
            let Some(Scalar::Int(t)) = this.effects.cells.scalar_type(program, slot) else { continue };
            this.tracked.insert(slot, t);
            let name = program.vars[var].name.to_string();
            this.names.variables.push(Variable { dim: Dim::int(slot), name, range: Some(machine(t)) });
        }
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        precision.preds.retain(|&e| this.add_predicate(e, &mut seen));
        this
    }

    fn add_predicate(&mut self, e: ExprId, seen: &mut FxHashSet<Term>) -> bool {
        let state = self.before.clone();
        let term = self.encoder.cond(&mut self.terms, &state, e);
        let not = self.terms.not(term);
        if self.terms.bool_value(term).is_some() || seen.contains(&not) || !seen.insert(term) {
            return false;
        }
        let name = format!("p{}", self.preds.len());
        let meaning = self.meaning(e).map(|c| c.normalize()).filter(|c| c.truth().is_none());
        self.names.predicates.push(Predicate { name, meaning });
        let vars = self.terms.variables(&[term]).into_iter().collect();
        self.preds.push((e, term, vars));
        true
    }

    /// The variable of a dimension.
    pub fn dims(&self) -> FxHashMap<Dim, (VarId, IntTy)> {
        let var = |slot: u32| self.effects.cells.info(slot).map(|c| c.var);
        self.tracked.iter().filter_map(|(&slot, &t)| Some((Dim::int(slot), (var(slot)?, t)))).collect()
    }

    /// Variables that can be in V_N.
    pub fn can_track(&self, var: VarId) -> bool {
        let slot = self.effects.cells.scalar(var);
        slot.is_some_and(|s| matches!(self.effects.cells.scalar_type(self.program, s), Some(Scalar::Int(_))))
    }

    /// What a truth value says about integers, if that is one linear constraint and never wraps.
    fn meaning(&self, e: ExprId) -> Option<LinCons> {
        let ExprKind::Cmp(op, a, b) = self.program.exprs[e].kind else { return None };
        let ((a, from_a), (b, from_b)) = (self.ideal(a)?, self.ideal(b)?);
        if !from_a.is_empty() || !from_b.is_empty() {
            return None;
        }
        Some(match op {
            CmpOp::Eq => LinCons::eq(a, b),
            CmpOp::Ne => LinCons::ne(a, b),
            CmpOp::Lt => LinCons::lt(a, b),
            CmpOp::Le => LinCons::le(a, b),
        })
    }

    /// An integer expression as a linear one, with the conditions under which no step of it wraps.
    fn ideal(&self, e: ExprId) -> Option<Ideal> {
        self.ideal_within(e, MAX_DEPTH)
    }

    fn ideal_within(&self, e: ExprId, depth: u32) -> Option<Ideal> {
        let depth = depth.checked_sub(1)?;
        let expr = &self.program.exprs[e];
        let Scalar::Int(t) = expr.ty else { return None };
        let (sum, mut guards) = match expr.kind {
            ExprKind::Int(bits) => (LinExpr::constant(Rat::from(integer(t, bits))), Vec::new()),
            ExprKind::Load(place) => match self.effects.cells.locate(self.program, place) {
                Located::Cell(slot) => (LinExpr::dim(Dim::int(slot)), Vec::new()),
                _ => return None,
            },
            ExprKind::Convert(a) => self.ideal_within(a, depth)?,
            ExprKind::Unary(UnOp::Neg, a) => {
                let (a, guards) = self.ideal_within(a, depth)?;
                (-&a, guards)
            }
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
                let (a, mut guards) = self.ideal_within(a, depth)?;
                let (b, more) = self.ideal_within(b, depth)?;
                guards.extend(more);
                let result = match op {
                    BinOp::Add => &a + &b,
                    BinOp::Sub => &a - &b,
                    _ if a.is_constant() => b.scale(a.constant_term()),
                    _ if b.is_constant() => a.scale(b.constant_term()),
                    _ => return None,
                };
                (result, guards)
            }
            _ => return None,
        };
        let range = machine(t);
        if !self.fits(&sum, range) {
            guards.push(LinCons::ge(sum.clone(), LinExpr::constant(Rat::from(range.min()))));
            guards.push(LinCons::le(sum.clone(), LinExpr::constant(Rat::from(range.max()))));
        }
        Some((sum, guards))
    }

    /// Does the expression stay in the type for all values of the types of its variables?
    fn fits(&self, e: &LinExpr, range: MachineInt) -> bool {
        let (mut low, mut high) = (e.constant_term().clone(), e.constant_term().clone());
        for (d, k) in e.terms() {
            let cell = self.effects.cells.scalar_type(self.program, d.index());
            let Some(Scalar::Int(t)) = cell else { return false };
            let (min, max) = (Rat::from(machine(t).min()) * k, Rat::from(machine(t).max()) * k);
            let (min, max) = if k.is_negative() { (max, min) } else { (min, max) };
            low = low + min;
            high = high + max;
        }
        Rat::from(range.min()) <= low && high <= Rat::from(range.max())
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
        for i in 0..self.preds.len() {
            let term = self.encoder.cond(&mut self.terms, &start, self.preds[i].0);
            let not = self.terms.not(term);
            let p = Formula::pred(Pred(i as u32));
            if self.refuted(not)? {
                parts.push(p);
            } else if self.refuted(term)? {
                parts.push(p.negate());
            }
        }
        Ok(Formula::and(parts))
    }

    fn refuted(&mut self, formula: Term) -> Result<bool, Stop> {
        self.budget.check()?;
        Ok(match self.terms.bool_value(formula) {
            Some(value) => !value,
            None => self.solver.check(&mut self.terms, &[formula]) == Answer::Unsat,
        })
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
                Effect::Assume(cond, truth) => {
                    let tree = self.tree(*cond);
                    if tree.nodes().iter().any(|n| matches!(n, palisade_domains::Node::Dim(_))) {
                        parts.push(Transformer::Num(NumStmt::Assume(tree, *truth)));
                    }
                }
                Effect::Assign(list) => {
                    for &(slot, source) in list {
                        if let Some(&t) = self.tracked.get(&slot) {
                            let value = self.value(t, source);
                            assigned.insert(slot, value);
                        }
                    }
                }
                Effect::Forget(range) => {
                    for (&slot, &t) in self.tracked.iter().filter(|(slot, _)| range.contains(slot)) {
                        assigned.insert(slot, (NumExpr::Any(machine(t).range()), None));
                    }
                }
            }
        }
        let state = self.before.clone();
        let Some(after) = self.encoder.step(&mut self.terms, &state, step.edge) else {
            return Ok(Transformer::Assume(Formula::FALSE));
        };
        let guard = after.guard(&mut self.terms);
        let allowed = self.project(guard)?;
        let mut choices = Vec::new();
        for i in 0..self.preds.len() {
            let (e, pre) = (self.preds[i].0, self.preds[i].1);
            let post = self.encoder.cond(&mut self.terms, &after, e);
            if post == pre {
                continue;
            }
            let not = self.terms.not(post);
            let (yes, no) = (self.terms.and(guard, post), self.terms.and(guard, not));
            let (may, may_not) = (self.project(yes)?, self.project(no)?);
            let (t, f) = self.by_numbers(Pred(i as u32), &assigned);
            let (t, f) = (Formula::or([may_not.negate(), t]), Formula::or([may.negate(), f]));
            choices.push(Choice { pred: Pred(i as u32), t, f });
        }
        if allowed != Formula::TRUE {
            parts.insert(0, Transformer::Assume(allowed));
        }
        let mut assigned: Vec<(u32, NumExpr)> = assigned.into_iter().map(|(s, (e, _))| (s, e)).collect();
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
                (NumExpr::Tree(self.tree(e)), self.ideal(e))
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

    /// The strongest formula over (the relevant) predicates that a formula about the state before a step
    /// implies: ¬Approx(¬e).
    fn project(&mut self, formula: Term) -> Result<Formula, Stop> {
        self.budget.check()?;
        if let Some(value) = self.terms.bool_value(formula) {
            return Ok(Formula::Const(value));
        }
        let vars = self.terms.variables(&[formula]);
        let shares = |p: &&usize| vars.iter().any(|v| self.preds[**p].2.contains(v));
        let all: Vec<usize> = (0..self.preds.len()).collect();
        let relevant: Vec<usize> = all.iter().filter(shares).take(MAX_RELEVANT).copied().collect();
        if relevant.is_empty() {
            return Ok(Formula::TRUE);
        }
        let terms: Vec<Term> = relevant.iter().map(|&p| self.preds[p].1).collect();
        let Ok(cubes) = all_models(&mut self.solver, &mut self.terms, formula, &terms) else {
            self.budget.check()?;
            return Ok(Formula::TRUE);
        };
        let literal = |(&p, value): (&usize, Option<bool>)| {
            let p = Formula::pred(Pred(p as u32));
            value.map(|holds| if holds { p.clone() } else { p.negate() })
        };
        let cube = |c: Vec<Option<bool>>| Formula::and(relevant.iter().zip(c).filter_map(literal));
        Ok(Formula::or(cubes.into_iter().map(cube)))
    }

    /// Where widening may stop.
    pub fn thresholds(&self) -> palisade_domains::Thresholds {
        palisade_analyses::numeric::thresholds(self.program, None)
    }
}
