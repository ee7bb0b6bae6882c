//! Expressions of a program as linear ones, where the machine computes what mathematics would.

use palisade_analyses::cells::{Cells, Located};
use palisade_analyses::trees::{integer, machine};
use palisade_cfa::*;
use palisade_domains::{Dim, LinCons, LinExpr, MachineInt};
use palisade_num::Rat;

/// Larger expressions are not read; one that occurs twice counts twice.
const MAX_SIZE: u32 = 100;

/// A linear expression and where it is what the machine computes.
pub type Ideal = (LinExpr, Vec<LinCons>);

/// An assignment to a register, for what expressions were before it.
pub type Assigned = Option<(VarId, ExprId)>;

/// Reads expressions over cells.
pub struct Reader<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its cells.
    pub cells: &'a Cells,
}

impl Reader<'_> {
    /// What a truth value says about integers, if that is one linear constraint and never wraps.
    pub fn meaning(&self, e: ExprId) -> Option<LinCons> {
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
    pub fn ideal(&self, e: ExprId) -> Option<Ideal> {
        self.within(e, None, &mut { MAX_SIZE })
    }

    fn within(&self, e: ExprId, assigned: Assigned, fuel: &mut u32) -> Option<Ideal> {
        *fuel = fuel.checked_sub(1)?;
        let expr = &self.program.exprs[e];
        let Scalar::Int(t) = expr.ty else { return None };
        let (sum, mut guards) = match expr.kind {
            ExprKind::Int(bits) => (LinExpr::constant(Rat::from(integer(t, bits))), Vec::new()),
            ExprKind::Load(place) => match (self.cells.locate(self.program, place), assigned) {
                (Located::Cell(slot), Some((var, src))) if self.cells.scalar(var) == Some(slot) => {
                    self.within(src, None, fuel)?
                }
                (Located::Cell(slot), _) => (LinExpr::dim(Dim::int(slot)), Vec::new()),
                _ => return None,
            },
            ExprKind::Convert(a) => self.within(a, assigned, fuel)?,
            ExprKind::Unary(UnOp::Neg, a) => {
                let (a, guards) = self.within(a, assigned, fuel)?;
                (-&a, guards)
            }
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
                let (a, mut guards) = self.within(a, assigned, fuel)?;
                let (b, more) = self.within(b, assigned, fuel)?;
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
            let cell = self.cells.scalar_type(self.program, d.index());
            let Some(Scalar::Int(t)) = cell else { return false };
            let (min, max) = (Rat::from(machine(t).min()) * k, Rat::from(machine(t).max()) * k);
            let (min, max) = if k.is_negative() { (max, min) } else { (min, max) };
            low += min;
            high += max;
        }
        Rat::from(range.min()) <= low && high <= Rat::from(range.max())
    }

    /// Where `a` after an assignment to a register is `b` before it: equal functions of equal numbers.
    ///
    /// In Figure 2 this is how `A[x1 + x2] = 3` after `x2 := y2 + 2` is `A[y1 + y2] = 3` where
    /// `x1 + y2 + 2 = y1 + y2`. `None` if the two differ in more than numbers.
    pub fn congruent(&self, a: ExprId, b: ExprId, assigned: Assigned) -> Option<Vec<LinCons>> {
        if assigned.is_some_and(|(var, _)| self.program.vars[var].address_taken) {
            return None;
        }
        let mut equal = Vec::new();
        self.unify(a, b, assigned, &mut equal, &mut { 4 * MAX_SIZE })?;
        equal.retain(|c| c.truth() != Some(true));
        equal.iter().all(|c| c.truth().is_none()).then_some(equal)
    }

    fn unify(
        &self,
        a: ExprId,
        b: ExprId,
        assigned: Assigned,
        equal: &mut Vec<LinCons>,
        fuel: &mut u32,
    ) -> Option<()> {
        *fuel = fuel.checked_sub(1)?;
        let (x, y) = (&self.program.exprs[a], &self.program.exprs[b]);
        if x.ty != y.ty {
            return None;
        }
        if let (Some((p, from_p)), Some((q, from_q))) =
            (self.within(a, assigned, &mut { MAX_SIZE }), self.within(b, None, &mut { MAX_SIZE }))
        {
            equal.extend(from_p.into_iter().chain(from_q));
            equal.push(LinCons::eq(p, q).normalize());
            return Some(());
        }
        match (&x.kind, &y.kind) {
            (ExprKind::Cmp(f, a, c), ExprKind::Cmp(g, b, d)) if f == g => {
                self.unify(*a, *b, assigned, equal, fuel)?;
                self.unify(*c, *d, assigned, equal, fuel)
            }
            (ExprKind::Binary(f, a, c), ExprKind::Binary(g, b, d)) if f == g => {
                self.unify(*a, *b, assigned, equal, fuel)?;
                self.unify(*c, *d, assigned, equal, fuel)
            }
            (ExprKind::Unary(f, a), ExprKind::Unary(g, b)) if f == g => {
                self.unify(*a, *b, assigned, equal, fuel)
            }
            (ExprKind::Convert(a), ExprKind::Convert(b)) => self.unify(*a, *b, assigned, equal, fuel),
            (ExprKind::Load(p), ExprKind::Load(q)) => {
                let (p, q) = (&self.program.places[*p], &self.program.places[*q]);
                let same = (p.ty, p.bits, p.path.len()) == (q.ty, q.bits, q.path.len());
                match (p.base, q.base) {
                    // What was assigned is not read in pieces.
                    (Base::Var(v), _) if assigned.is_some_and(|(var, _)| var == v) => return None,
                    (Base::Var(v), Base::Var(w)) if v == w && same => {}
                    (Base::Deref(a), Base::Deref(b)) if same => self.unify(a, b, assigned, equal, fuel)?,
                    _ => return None,
                }
                for (a, b) in p.path.iter().zip(&q.path) {
                    match (a, b) {
                        (Proj::Index { index: a, stride: s }, Proj::Index { index: b, stride: t })
                            if s == t =>
                        {
                            self.unify(*a, *b, assigned, equal, fuel)?;
                        }
                        (a, b) if a == b => {}
                        _ => return None,
                    }
                }
                Some(())
            }
            _ => None,
        }
    }
}
