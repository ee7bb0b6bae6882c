//! Sign analysis: which signs an integer cell may have. The worked example of
//! `docs/adding-an-analysis.md`.

use crate::cells::Located;
use crate::effects::{Effect, Effects, Source};
use crate::trie::{Map, Tries};
use palisade_cfa::*;
use palisade_cpa::*;

/// A set of signs; as a number 1 to 7, so that it fits a map entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signs(u32);

impl Signs {
    /// Below zero.
    pub const NEGATIVE: Signs = Signs(1);
    /// Zero.
    pub const ZERO: Signs = Signs(2);
    /// Above zero.
    pub const POSITIVE: Signs = Signs(4);
    /// Any of them.
    pub const ANY: Signs = Signs(7);

    fn of(t: IntTy, bits: u128) -> Signs {
        match t.decode(bits) {
            0 => Signs::ZERO,
            n if t.signed && n < 0 => Signs::NEGATIVE,
            _ => Signs::POSITIVE,
        }
    }
    fn has(self, other: Signs) -> bool {
        self.0 & other.0 != 0
    }
    /// Whether it may be negative, 0, positive.
    pub fn possible(self) -> [bool; 3] {
        [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE].map(|sign| self.has(sign))
    }
    fn without(self, other: Signs) -> Signs {
        Signs(self.0 & !other.0)
    }
}

/// The sign analysis. Its state maps cells to their signs; cells without an entry may have any.
pub struct SignAnalysis<'p> {
    program: &'p Program,
    effects: Effects<'p>,
    tries: Tries,
}

impl<'p> SignAnalysis<'p> {
    /// The analysis of a program.
    pub fn new(program: &'p Program) -> Self {
        let effects = Effects::new(program);
        let tries = Tries::new(effects.cells.len(program));
        SignAnalysis { program, effects, tries }
    }

    /// Globals have the signs of their initial values.
    pub fn initial(&mut self) -> Map {
        let mut state = Map::EMPTY;
        for (slot, bits) in self.effects.initial() {
            if let Some(Scalar::Int(t)) = self.effects.cells.scalar_type(self.program, slot) {
                state = self.set(state, slot, Signs::of(t, bits));
            }
        }
        state
    }

    /// The signs of a variable in a state.
    pub fn signs_of(&self, state: Map, var: VarId) -> Signs {
        self.effects.cells.scalar(var).map_or(Signs::ANY, |slot| self.get(state, slot))
    }

    /// Whether a variable may have a value in a state.
    pub fn may_be(&self, state: Map, var: VarId, bits: u128) -> bool {
        match self.program.scalar_of(self.program.vars[var].ty) {
            Some(Scalar::Int(t)) => self.signs_of(state, var).has(Signs::of(t, bits)),
            _ => true,
        }
    }

    fn get(&self, state: Map, slot: u32) -> Signs {
        match self.tries.get(state, slot) {
            0 => Signs::ANY,
            signs => Signs(signs),
        }
    }
    fn set(&mut self, state: Map, slot: u32, signs: Signs) -> Map {
        self.tries.set(state, slot, if signs == Signs::ANY { 0 } else { signs.0 })
    }

    /// The cell that an expression reads.
    fn cell(&self, e: ExprId) -> Option<u32> {
        match self.program.exprs[e].kind {
            ExprKind::Load(place) => match self.effects.cells.locate(self.program, place) {
                Located::Cell(slot) => Some(slot),
                _ => None,
            },
            _ => None,
        }
    }

    /// The signs of an expression. Arithmetic wraps, so that sums and products may have any.
    fn eval(&self, state: Map, e: ExprId) -> Signs {
        let expr = &self.program.exprs[e];
        match (&expr.kind, expr.ty) {
            (ExprKind::Int(bits), Scalar::Int(t)) => Signs::of(t, *bits),
            (ExprKind::Load(_), Scalar::Int(_)) => {
                self.cell(e).map_or(Signs::ANY, |slot| self.get(state, slot))
            }
            (_, Scalar::Int(t)) if !t.signed => Signs::ANY.without(Signs::NEGATIVE),
            _ => Signs::ANY,
        }
    }

    /// What a comparison with zero tells about a cell; `None` if the condition cannot hold.
    fn assume(&mut self, state: Map, cond: ExprId, truth: bool) -> Option<Map> {
        let (mut cond, mut truth) = (cond, truth);
        while let ExprKind::Unary(UnOp::Not, inner) = self.program.exprs[cond].kind {
            (cond, truth) = (inner, !truth);
        }
        let ExprKind::Cmp(op, a, b) = self.program.exprs[cond].kind else { return Some(state) };
        // `a op b` with b or a the constant zero; an order between them excludes one side of zero.
        let zero = |e: ExprId| matches!(self.program.exprs[e].kind, ExprKind::Int(0));
        let (cell, excluded) = if zero(b) {
            let excluded = match (op, truth) {
                (CmpOp::Eq, true) | (CmpOp::Ne, false) => Signs(Signs::NEGATIVE.0 | Signs::POSITIVE.0),
                (CmpOp::Eq, false) | (CmpOp::Ne, true) => Signs::ZERO,
                (CmpOp::Lt, true) => Signs(Signs::ZERO.0 | Signs::POSITIVE.0),
                (CmpOp::Lt, false) => Signs::NEGATIVE,
                (CmpOp::Le, true) => Signs::POSITIVE,
                (CmpOp::Le, false) => Signs(Signs::NEGATIVE.0 | Signs::ZERO.0),
            };
            (a, excluded)
        } else if zero(a) {
            let excluded = match (op, truth) {
                (CmpOp::Eq, true) | (CmpOp::Ne, false) => Signs(Signs::NEGATIVE.0 | Signs::POSITIVE.0),
                (CmpOp::Eq, false) | (CmpOp::Ne, true) => Signs::ZERO,
                (CmpOp::Lt, true) => Signs(Signs::NEGATIVE.0 | Signs::ZERO.0),
                (CmpOp::Lt, false) => Signs::POSITIVE,
                (CmpOp::Le, true) => Signs::NEGATIVE,
                (CmpOp::Le, false) => Signs(Signs::ZERO.0 | Signs::POSITIVE.0),
            };
            (b, excluded)
        } else {
            return Some(state);
        };
        let left = self.eval(state, cell).without(excluded);
        match self.cell(cell) {
            _ if !left.has(Signs::ANY) => None,
            Some(slot) => Some(self.set(state, slot, left)),
            None => Some(state),
        }
    }
}

impl AbstractDomain for SignAnalysis<'_> {
    type State = Map;

    fn leq(&mut self, a: &Map, b: &Map) -> Result<bool, Halt> {
        let entries = self.tries.entries(*b);
        Ok(entries.iter().all(|&(slot, signs)| self.get(*a, slot).without(Signs(signs)) == Signs(0)))
    }
    fn join(&mut self, a: &Map, b: &Map) -> Result<Map, Halt> {
        let mut joined = *a;
        for (slot, signs) in self.tries.entries(*a) {
            joined = self.set(joined, slot, Signs(signs | self.get(*b, slot).0));
        }
        Ok(joined)
    }
    fn describe(&self, state: &Map) -> String {
        let entries = self.tries.entries(*state).into_iter();
        let show = |(slot, signs): (u32, u32)| {
            let text: String = [(1, '-'), (2, '0'), (4, '+')]
                .iter()
                .filter(|(bit, _)| signs & bit != 0)
                .map(|(_, c)| *c)
                .collect();
            format!("{}:{text}", self.effects.cells.name(self.program, slot))
        };
        entries.map(show).collect::<Vec<_>>().join(" ")
    }
}

impl Cpa for SignAnalysis<'_> {
    type Precision = ();
    type Key = ();
    type Class = ();

    fn key(&self, _: &Map) {}
    fn class(&self, _: &Map) {}
    fn digest(&mut self, _: &Map, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(&mut self, state: &Map, (): &(), step: &Step, out: &mut Successors<Map>) -> Result<(), Halt> {
        let mut next = *state;
        for effect in self.effects.of(step).iter() {
            match effect {
                Effect::Assume(cond, truth) => match self.assume(next, *cond, *truth) {
                    Some(kept) => next = kept,
                    None => return Ok(()),
                },
                Effect::Assign(assigned) => {
                    let before = next;
                    for (slot, source) in assigned {
                        let signs = match source {
                            Source::Expr(e) => self.eval(before, *e),
                            Source::Cell(from) => self.get(before, *from),
                            Source::Zero => Signs::ZERO,
                        };
                        next = self.set(next, *slot, signs);
                    }
                }
                Effect::Forget(range) | Effect::ForgetIn(_, range) => {
                    next = self.tries.restrict(next, range.start, range.end, false);
                }
            }
        }
        out.push(next);
        Ok(())
    }

    fn merges(&self) -> bool {
        true
    }
    fn merge(&mut self, new: &Map, reached: &Map, _: &MergeContext) -> Result<Option<Map>, Halt> {
        let joined = self.join(reached, new)?;
        Ok((joined != *reached).then_some(joined))
    }
}
