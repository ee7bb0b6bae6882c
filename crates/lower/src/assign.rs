//! Assignments, increments and decrements.

use crate::Lowerer;
use crate::call::Into;
use crate::checks::float_bits;
use crate::either::Order;
use crate::scan::Traits;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_c_types::types::{CType, CTypeId, IntKind};
use palisade_cfa::*;

impl Lowerer<'_> {
    /// An assignment to a scalar or record; its value if that is wanted and a scalar.
    pub(crate) fn assignment(&mut self, e: TExprId, want: bool) -> Option<ExprId> {
        let span = self.span(e);
        match *self.kind(e) {
            TExprKind::Assign { lhs, rhs } => {
                if self.scalar_of(lhs).is_none() {
                    self.assign_record(lhs, rhs, span);
                    return None;
                }
                self.assign_scalar(lhs, rhs, want, span)
            }
            TExprKind::CompoundAssign { op, lhs, rhs, computation } => {
                let (place, old, right) = self.old_and_value(lhs, rhs, span);
                let computation = self.scalar(computation)?;
                let left = self.convert_checked(old, computation, span);
                let result = self.arithmetic(op, left, right, span);
                let stored = self.converted_to(self.typed.exprs[lhs].ty.ty, result, span);
                self.store(place, stored, want, span)
            }
            TExprKind::PtrAssign { lhs, index, stride, sub } => {
                let (place, old, index) = self.old_and_value(lhs, index, span);
                let new = self.offset_pointer(old, index, stride, sub);
                self.store(place, new, want, span)
            }
            TExprKind::IncDec { operand, inc, postfix, step } => {
                self.increment(operand, inc, postfix, step, want, span)
            }
            _ => None,
        }
    }

    /// An lvalue, its contents and a value that is to be combined with these.
    fn old_and_value(&mut self, lhs: TExprId, rhs: TExprId, span: Span) -> (PlaceId, ExprId, ExprId) {
        let order = self.store_order(lhs, rhs, true);
        if order == Order::Open {
            let (place, old, value) = self.place_around(lhs, rhs, true, span);
            let old = old.unwrap_or_else(|| self.pool.load(place));
            return (place, old, value);
        }
        self.report(order, span);
        let (place, value) = self.left_to_right(lhs, rhs, span);
        self.check_read(place, span);
        (place, self.pool.load(place), value)
    }

    /// An lvalue and a value that is to be stored there.
    fn place_and_value(&mut self, lhs: TExprId, rhs: TExprId, span: Span) -> (PlaceId, ExprId) {
        let order = self.store_order(lhs, rhs, false);
        if order == Order::Open {
            let (place, _, value) = self.place_around(lhs, rhs, false, span);
            return (place, value);
        }
        self.report(order, span);
        self.left_to_right(lhs, rhs, span)
    }

    /// An lvalue and a value, evaluated so that both are valid afterwards. If only the value has
    /// effects it is evaluated first, which C allows and which saves temporaries.
    fn left_to_right(&mut self, lhs: TExprId, rhs: TExprId, span: Span) -> (PlaceId, ExprId) {
        if self.traits(rhs).has(Traits::EFFECT) && !self.traits(lhs).has(Traits::EFFECT) {
            let value = self.value(rhs);
            return (self.place(lhs), value);
        }
        let place = self.place(lhs);
        let place = self.keep_place(place, self.traits(rhs), span);
        (place, self.value(rhs))
    }

    fn assign_scalar(&mut self, lhs: TExprId, rhs: TExprId, want: bool, span: Span) -> Option<ExprId> {
        let call = self.same_machine_value(rhs);
        if let (TExprKind::Object(obj), TExprKind::Call { .. }) = (self.kind(lhs), self.kind(call))
            && self.typed.objects[*obj].vla_size.is_none()
        {
            let dst = self.place(lhs);
            if self.pool.program.place_scalar(dst) == self.scalar_of(call) {
                self.check_write(dst, span);
                self.call(call, Into::Place(dst, span));
                return want.then(|| self.pool.load(dst));
            }
        }
        let (place, value) = self.place_and_value(lhs, rhs, span);
        self.check_read(place, span);
        self.store(place, value, want, span)
    }

    /// An expression below conversions that do nothing, as between pointers.
    pub(crate) fn same_machine_value(&self, e: TExprId) -> TExprId {
        let mut e = e;
        while let TExprKind::Convert(inner) = *self.kind(e)
            && self.scalar_of(inner).is_some()
            && self.scalar_of(inner) == self.scalar_of(e)
        {
            e = inner;
        }
        e
    }

    /// Stores a value in a place that can be read; its value afterwards if that is wanted.
    fn store(&mut self, place: PlaceId, value: ExprId, want: bool, span: Span) -> Option<ExprId> {
        self.check_writable(place, span);
        let value = self.bound(value, span);
        if !want {
            self.assign(place, value, span);
            return None;
        }
        let p = &self.pool.program.places[place];
        if matches!(p.base, Base::Var(_)) && p.path.is_empty() && self.pool.constant(value).is_none() {
            self.assign(place, value, span);
            return Some(self.pool.load(place));
        }
        // The store may change what the place or the value is made of.
        let value = self.save(value, span);
        self.assign(place, value, span);
        Some(value)
    }

    /// A value converted to a C type.
    pub(crate) fn converted_to(&mut self, ty: CTypeId, value: ExprId, span: Span) -> ExprId {
        if self.typed.types.get(ty) == CType::Int(IntKind::Bool) {
            return self.pool.is_true(value);
        }
        match self.scalar(ty) {
            Some(to) => self.convert_checked(value, to, span),
            None => value,
        }
    }

    fn increment(
        &mut self,
        operand: TExprId,
        inc: bool,
        postfix: bool,
        step: IncStep,
        want: bool,
        span: Span,
    ) -> Option<ExprId> {
        let place = self.place(operand);
        let place = match step {
            IncStep::Dynamic(size) => self.keep_place(place, self.traits(size), span),
            _ => place,
        };
        self.check_read(place, span);
        let mut old = self.pool.load(place);
        if want && postfix {
            old = self.save(old, span);
        }
        let new = match step {
            IncStep::Number(ty) => {
                let computation = self.scalar(ty)?;
                let left = self.convert_checked(old, computation, span);
                let one = match computation {
                    Scalar::Float(f) => {
                        let bits = float_bits(f, false, 1).unwrap_or(0);
                        self.pool.push(computation, ExprKind::Float(bits))
                    }
                    Scalar::Int(t) => self.pool.int(t, 1),
                    Scalar::Ptr => return None,
                };
                let op = if inc { ArithOp::Add } else { ArithOp::Sub };
                let result = self.arithmetic(op, left, one, span);
                self.converted_to(self.typed.exprs[operand].ty.ty, result, span)
            }
            IncStep::Bytes(bytes) => {
                let one = self.pool.int(IntTy::I32, 1);
                self.offset_pointer(old, one, bytes, !inc)
            }
            IncStep::Dynamic(size) => {
                let size = self.value(size);
                self.offset_pointer(old, size, 1, !inc)
            }
        };
        let stored = self.store(place, new, want && !postfix, span);
        if want && postfix { Some(old) } else { stored }
    }

    /// An assignment of a record; the place assigned to.
    pub(crate) fn assign_record(&mut self, lhs: TExprId, rhs: TExprId, span: Span) -> PlaceId {
        match self.store_order(lhs, rhs, false) {
            Order::Open => self.report(Order::Lost, span),
            order => self.report(order, span),
        }
        if self.traits(rhs).has(Traits::EFFECT) && !self.traits(lhs).has(Traits::EFFECT) {
            if let (TExprKind::Object(_), TExprKind::Call { .. }) = (self.kind(lhs), self.kind(rhs)) {
                let dst = self.place(lhs);
                self.check_write(dst, span);
                return self.record(rhs, Some(dst));
            }
            let src = self.record(rhs, None);
            let dst = self.place(lhs);
            self.check_write(dst, span);
            self.emit(Op::Copy { dst, src }, span);
            return dst;
        }
        let dst = self.place(lhs);
        let dst = self.keep_place(dst, self.traits(rhs), span);
        let src = self.record(rhs, None);
        self.check_write(dst, span);
        self.emit(Op::Copy { dst, src }, span);
        dst
    }
}
