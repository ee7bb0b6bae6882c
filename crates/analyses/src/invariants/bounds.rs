//! Proof rules for loop bounds (section 6.4, Example 13).
//!
//! A rule looks at the loop-free ways around a loop, s₁ ∨ … ∨ sₙ, only:
//!
//! * `LSB(x)` is a ranking function of a way that implies `x' = x << 1 ∧ x ≠ 0` or
//!   `x' = x & (x - 1) ∧ x ≠ 0`;
//! * `b - a` is a ranking function of a way that implies `a < b` and lets `b - a` decrease;
//! * if every way has a ranking function and lets those of the others not increase, the loop is
//!   taken at most `Max(0, r₁) + … + Max(0, rₙ)` times.
//!
//! That a way implies something is a question for the bit-precise solver.

use super::paths::paths;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::Halt;
use palisade_encode::{Encoder, State};
use palisade_logic::{Answer, BvSolver, Solver, Term, Terms};
use palisade_task::Task;

/// A ranking function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ranking {
    /// The least significant bit of a register.
    Lsb(VarId),
    /// The difference of two expressions of one type, the second minus the first.
    Difference(ExprId, ExprId),
}

/// A bound on the number of iterations of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The loop head.
    pub head: LocId,
    /// The ranking functions of the ways around the loop, without repetition.
    pub rankings: Vec<Ranking>,
    /// The bound: `Max(0, r1) + Max(0, r2)`, or the ranking function itself for LSB.
    pub bound: String,
}

/// The bounds of all loops for which a rule applies. Loops with other loops inside are left out.
pub fn bounds(task: &Task, budget: &Budget) -> Result<Vec<Bound>, Halt> {
    let program = &task.program;
    let graph = program.analyse();
    let mut found = Vec::new();
    for head in graph.loop_heads(program.entry) {
        budget.check()?;
        let body = graph.loop_body(program, head);
        if body.iter().any(|l| *l != head && graph.is_loop_head(*l)) {
            continue;
        }
        let mut rules = Rules::new(program, budget);
        if let Some(bound) = rules.apply(head)? {
            found.push(bound);
        }
    }
    Ok(found)
}

/// The bound that ranking functions give together, for their texts.
pub fn total(rankings: &[Ranking], texts: &[String]) -> String {
    match (rankings, texts) {
        ([Ranking::Lsb(_)], [only]) => only.clone(),
        _ => texts.iter().map(|r| format!("Max(0, {r})")).collect::<Vec<_>>().join(" + "),
    }
}

/// A way around the loop: its edges and the state at its end.
struct Way {
    edges: Vec<EdgeId>,
    end: State,
    guard: Term,
}

struct Rules<'p> {
    program: &'p Program,
    terms: Terms,
    encoder: Encoder<'p>,
    solver: BvSolver,
    start: State,
}

impl<'p> Rules<'p> {
    fn new(program: &'p Program, budget: &Budget) -> Self {
        let mut terms = Terms::new();
        let encoder = Encoder::new(program, &mut terms);
        let start = encoder.arbitrary_state(&mut terms);
        let mut solver = BvSolver::new();
        solver.set_limits(palisade_logic::Limits { budget: budget.clone(), ..Default::default() });
        Rules { program, terms, encoder, solver, start }
    }

    fn apply(&mut self, head: LocId) -> Result<Option<Bound>, Halt> {
        let mut ways = Vec::new();
        for edges in paths(self.program, head, head, &[]) {
            let mut state = Some(self.start.clone());
            for &edge in &edges {
                state = state.and_then(|s| self.encoder.step(&mut self.terms, &s, edge));
            }
            let Some(end) = state else { continue };
            let guard = end.guard(&mut self.terms);
            // Ways that cannot be taken need no ranking function.
            if !self.solver.check(&mut self.terms, &[guard]).is_unsat() {
                ways.push(Way { edges, end, guard });
            }
        }
        let mut chosen: Vec<Ranking> = Vec::new();
        for way in &ways {
            let mut ranking = None;
            for candidate in self.candidates(way) {
                let ranks = self.decreases(way, candidate)?;
                if ranks && self.never_increases(&ways, candidate)? {
                    ranking = Some(candidate);
                    break;
                }
            }
            match ranking {
                None => return Ok(None),
                Some(r) if !chosen.contains(&r) => chosen.push(r),
                Some(_) => {}
            }
        }
        if chosen.is_empty() {
            return Ok(None);
        }
        let texts: Vec<String> = chosen.iter().map(|r| self.show(*r)).collect();
        Ok(Some(Bound { head, bound: total(&chosen, &texts), rankings: chosen }))
    }

    /// Ranking functions that the conditions and registers of a way suggest.
    fn candidates(&self, way: &Way) -> Vec<Ranking> {
        let registers = self.program.vars.ids().filter(|v| self.program.integer_register(*v).is_some());
        let mut found: Vec<Ranking> = registers.map(Ranking::Lsb).collect();
        for &edge in &way.edges {
            if let Op::Assume { cond } = self.program.edges[edge].op {
                self.differences(cond, &mut found);
            }
        }
        found
    }

    /// `b - a` for every comparison `a < b` or `a <= b` in a condition, and for its negation.
    fn differences(&self, cond: ExprId, out: &mut Vec<Ranking>) {
        let mut work = vec![cond];
        while let Some(e) = work.pop() {
            match self.program.exprs[e].kind {
                ExprKind::Unary(UnOp::Not, a) => work.push(a),
                ExprKind::Binary(BinOp::And | BinOp::Or, a, b) => work.extend([a, b]),
                ExprKind::Cmp(_, a, b) if self.program.exprs[a].ty.int().is_some() => {
                    out.extend([Ranking::Difference(a, b), Ranking::Difference(b, a)]);
                }
                _ => {}
            }
        }
    }

    fn implied(&mut self, way: &Way, claim: Term) -> Result<bool, Halt> {
        let not = self.terms.not(claim);
        match self.solver.check(&mut self.terms, &[way.guard, not]) {
            Answer::Unsat => Ok(true),
            Answer::Sat => Ok(false),
            Answer::Unknown(palisade_logic::Unknown::Stopped(stop)) => Err(stop.into()),
            Answer::Unknown(_) => Ok(false),
        }
    }

    /// The value of a difference as a signed number wide enough for it.
    fn difference(&mut self, a: ExprId, b: ExprId, state: &State) -> Option<Term> {
        let Scalar::Int(t) = self.program.exprs[a].ty else { return None };
        let (x, y) =
            (self.encoder.expr(&mut self.terms, state, a), self.encoder.expr(&mut self.terms, state, b));
        let mut wide = |v| {
            if t.signed { self.terms.sign_extend(v, 2) } else { self.terms.zero_extend(v, 2) }
        };
        let (x, y) = (wide(x), wide(y));
        Some(self.terms.sub(y, x))
    }

    fn registers(&self, var: VarId, way: &Way) -> Option<(Term, Term)> {
        let slot = self.encoder.layout().register(var)?;
        Some((self.start.slots.get(slot), way.end.slots.get(slot)))
    }

    /// Whether a way implies that the ranking function is positive and decreases.
    fn decreases(&mut self, way: &Way, ranking: Ranking) -> Result<bool, Halt> {
        match ranking {
            Ranking::Lsb(var) => {
                let (Some((x, next)), Some(t)) =
                    (self.registers(var, way), self.program.integer_register(var))
                else {
                    return Ok(false);
                };
                if x == next {
                    return Ok(false);
                }
                let width = u32::from(t.bits);
                let (zero, one) = (self.terms.bv(width, 0), self.terms.bv(width, 1));
                let nonzero = self.terms.ne(x, zero);
                if !self.implied(way, nonzero)? {
                    return Ok(false);
                }
                let shifted = self.terms.shl(x, one);
                let less = self.terms.sub(x, one);
                let cleared = self.terms.and(x, less);
                let (shifted, cleared) = (self.terms.eq(next, shifted), self.terms.eq(next, cleared));
                Ok(self.implied(way, shifted)? || self.implied(way, cleared)?)
            }
            Ranking::Difference(a, b) => {
                let start = self.start.clone();
                let (Some(before), Some(after)) =
                    (self.difference(a, b, &start), self.difference(a, b, &way.end))
                else {
                    return Ok(false);
                };
                let zero = self.terms.bv(self.terms.width(before), 0);
                let positive = self.terms.sgt(before, zero);
                let smaller = self.terms.slt(after, before);
                let both = self.terms.and(positive, smaller);
                self.implied(way, both)
            }
        }
    }

    /// Whether no way lets the ranking function increase.
    fn never_increases(&mut self, ways: &[Way], ranking: Ranking) -> Result<bool, Halt> {
        for way in ways {
            if self.decreases(way, ranking)? {
                continue;
            }
            let claim = match ranking {
                Ranking::Lsb(var) => self.registers(var, way).map(|(x, next)| self.terms.eq(x, next)),
                Ranking::Difference(a, b) => {
                    let start = self.start.clone();
                    match (self.difference(a, b, &start), self.difference(a, b, &way.end)) {
                        (Some(before), Some(after)) => Some(self.terms.sle(after, before)),
                        _ => None,
                    }
                }
            };
            let Some(claim) = claim else { return Ok(false) };
            if !self.implied(way, claim)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn show(&self, ranking: Ranking) -> String {
        match ranking {
            Ranking::Lsb(var) => format!("LSB({})", self.program.vars[var].name),
            Ranking::Difference(a, b) => {
                format!("{} - {}", self.program.show_expr(b), self.program.show_expr(a))
            }
        }
    }
}
