//! Operators on checked operands.

use palisade_base::Span;
use palisade_c_syntax::ast::{self, BinaryOp, ExprKind, UnaryOp};

use super::Checker;
use crate::tast::*;
use crate::types::*;

impl<'a> Checker<'a> {
    /// A binary operator or comma. Their left spines may be very long, hence the loop.
    pub(super) fn binary_spine(&mut self, expr: ast::ExprId) -> TExprId {
        let unit = self.unit;
        let mut spine = Vec::new();
        let mut leftmost = expr;
        while let ExprKind::Binary { lhs, .. } | ExprKind::Comma { lhs, .. } = unit.exprs[leftmost].kind {
            spine.push(leftmost);
            leftmost = lhs;
        }
        let mut left = self.rvalue(leftmost);
        for id in spine.into_iter().rev() {
            let span = unit.exprs[id].span;
            match unit.exprs[id].kind {
                ExprKind::Binary { op, rhs, .. } => {
                    let right = self.rvalue(rhs);
                    left = self.binary(op, left, right, span);
                }
                ExprKind::Comma { rhs, .. } => {
                    let right = self.rvalue(rhs);
                    let ty = self.ty(right);
                    left = self.push(TExprKind::Comma { lhs: left, rhs: right }, ty, span);
                }
                _ => {}
            }
        }
        left
    }

    /// A binary operator on values.
    pub(super) fn binary(&mut self, op: BinaryOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        use BinaryOp as B;
        if self.is_error(lhs) || self.is_error(rhs) {
            return self.error_expr(span);
        }
        if self.is_compound(self.ty(lhs)) || self.is_compound(self.ty(rhs)) {
            return self.compound_binary(op, lhs, rhs, span);
        }
        match op {
            B::And | B::Or => self.logical(op == B::And, lhs, rhs, span),
            B::Lt => self.compare(CompareOp::Lt, lhs, rhs, span),
            B::Gt => self.compare(CompareOp::Gt, lhs, rhs, span),
            B::Le => self.compare(CompareOp::Le, lhs, rhs, span),
            B::Ge => self.compare(CompareOp::Ge, lhs, rhs, span),
            B::Eq => self.compare(CompareOp::Eq, lhs, rhs, span),
            B::Ne => self.compare(CompareOp::Ne, lhs, rhs, span),
            B::Shl => self.shift(ArithOp::Shl, lhs, rhs, span),
            B::Shr => self.shift(ArithOp::Shr, lhs, rhs, span),
            B::Add | B::Sub => self.additive(op == B::Sub, lhs, rhs, span),
            B::Mul => self.arith(ArithOp::Mul, lhs, rhs, span),
            B::Div => self.arith(ArithOp::Div, lhs, rhs, span),
            B::Rem => self.arith(ArithOp::Rem, lhs, rhs, span),
            B::BitAnd => self.arith(ArithOp::And, lhs, rhs, span),
            B::BitXor => self.arith(ArithOp::Xor, lhs, rhs, span),
            B::BitOr => self.arith(ArithOp::Or, lhs, rhs, span),
        }
    }

    pub(super) fn bad_operands(&mut self, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        let (a, b) = (self.type_name(self.ty(lhs)), self.type_name(self.ty(rhs)));
        self.error(span, format!("the operator cannot be applied to '{a}' and '{b}'"));
        self.error_expr(span)
    }

    pub(super) fn logical(&mut self, and: bool, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        let (lhs, rhs) = (self.require_scalar(lhs), self.require_scalar(rhs));
        if self.is_error(lhs) || self.is_error(rhs) {
            return self.error_expr(span);
        }
        let value = match (self.literal_truth(lhs), self.literal_truth(rhs)) {
            (Some(left), _) if left != and => Some(left),
            (Some(_), Some(right)) => Some(right),
            _ => None,
        };
        match value {
            Some(value) => self.int_const(value.into(), TypeTable::INT, span),
            None => self.push(TExprKind::Logical { and, lhs, rhs }, TypeTable::INT, span),
        }
    }

    /// An operator that applies the usual arithmetic conversions.
    fn arith(&mut self, op: ArithOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        let types = &self.prog.types;
        let (a, b) = (self.ty(lhs), self.ty(rhs));
        let integers_only = !matches!(op, ArithOp::Mul | ArithOp::Div | ArithOp::Add | ArithOp::Sub);
        let ok = |t| if integers_only { types.is_integer(t) } else { types.is_arithmetic(t) };
        if !ok(a) || !ok(b) {
            return self.bad_operands(lhs, rhs, span);
        }
        let ty = self.common_type(a, b);
        let (lhs, rhs) = (self.convert(lhs, ty), self.convert(rhs, ty));
        self.arith_node(op, ty, lhs, rhs, span)
    }

    /// The node of an operator on converted operands, folded if constant.
    pub(super) fn arith_node(
        &mut self,
        op: ArithOp,
        ty: CTypeId,
        lhs: TExprId,
        rhs: TExprId,
        span: Span,
    ) -> TExprId {
        let kind = self.fold_binary(op, ty, lhs, rhs).unwrap_or(TExprKind::Binary { op, lhs, rhs });
        self.push(kind, ty, span)
    }

    fn shift(&mut self, op: ArithOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        let types = &self.prog.types;
        if !types.is_integer(self.ty(lhs)) || !types.is_integer(self.ty(rhs)) {
            return self.bad_operands(lhs, rhs, span);
        }
        let (lhs, rhs) = (self.promote(lhs), self.promote(rhs));
        let ty = self.ty(lhs);
        self.arith_node(op, ty, lhs, rhs, span)
    }

    fn additive(&mut self, sub: bool, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        let types = &self.prog.types;
        let (a, b) = (self.ty(lhs), self.ty(rhs));
        match (types.pointee(a), types.pointee(b)) {
            (None, None) => self.arith(if sub { ArithOp::Sub } else { ArithOp::Add }, lhs, rhs, span),
            (Some(_), None) if types.is_integer(b) => self.ptr_add(lhs, rhs, sub, span),
            (None, Some(_)) if types.is_integer(a) && !sub => self.ptr_add(rhs, lhs, false, span),
            (Some(x), Some(_)) if sub => self.ptr_diff(lhs, rhs, x, span),
            _ => self.bad_operands(lhs, rhs, span),
        }
    }

    /// Bytes that a pointer moves by one; `void` and functions count as one byte (GNU). Error if
    /// the pointee is incomplete; a variable size is an expression.
    pub(super) fn pointee_step(&mut self, pointee: QType, span: Span) -> Option<Step> {
        let types = &self.prog.types;
        match types.get(pointee.ty) {
            CType::Void | CType::Func(_) => return Some(Step::Const(1)),
            CType::Error => return None,
            _ => {}
        }
        if let Some(size) = types.size_of(pointee.ty) {
            return Some(Step::Const(size));
        }
        if types.is_variably_sized(pointee.ty) && types.is_complete(pointee.ty) {
            return Some(Step::Dynamic(self.size_expr(pointee.ty, span)));
        }
        self.error(span, format!("pointer arithmetic on incomplete type '{}'", self.type_name(pointee)));
        None
    }

    /// The size of a type of variable size: an expression of type `size_t`.
    pub(super) fn size_expr(&mut self, ty: CTypeId, span: Span) -> TExprId {
        let size_t = self.prog.types.size_t();
        let mut factors = Vec::new();
        let mut ty = ty;
        while let CType::Array(elem, len) = self.prog.types.get(ty) {
            match len {
                ArrayLen::Vla(vla) => {
                    let obj = self.prog.types.vlas[vla].len;
                    factors.push(self.hidden_value(obj, span));
                }
                ArrayLen::Known(n) => factors.push(self.int_const(n.into(), size_t, span)),
                ArrayLen::Unknown | ArrayLen::Star => return self.error_expr(span),
            }
            ty = elem.ty;
        }
        let variable = self.prog.types.record_of(ty).and_then(|r| r.variable.as_ref()).map(|v| v.size);
        let mut product = match variable {
            Some(size) => self.hidden_value(size, span),
            None => {
                let size = self.prog.types.size_of(ty).unwrap_or(0);
                self.int_const(size.into(), size_t, span)
            }
        };
        for factor in factors.into_iter().rev() {
            product = self.arith_node(ArithOp::Mul, size_t, factor, product, span);
        }
        product
    }

    /// An index as [`TExprKind::PtrAdd`] wants it, and the stride.
    pub(super) fn scaled_index(&mut self, step: Step, index: TExprId, span: Span) -> (TExprId, u64) {
        match step {
            Step::Const(stride) => (index, stride),
            Step::Dynamic(size) => {
                let ptrdiff = self.prog.types.ptrdiff_t();
                let (index, size) = (self.convert(index, ptrdiff), self.convert(size, ptrdiff));
                (self.arith_node(ArithOp::Mul, ptrdiff, index, size, span), 1)
            }
        }
    }

    pub(super) fn ptr_add(&mut self, ptr: TExprId, index: TExprId, sub: bool, span: Span) -> TExprId {
        let ty = self.ty(ptr);
        let Some(pointee) = self.prog.types.pointee(ty) else { return self.error_expr(span) };
        let Some(step) = self.pointee_step(pointee, span) else { return self.error_expr(span) };
        let index = self.promote(index);
        let (index, stride) = self.scaled_index(step, index, span);
        self.push(TExprKind::PtrAdd { ptr, index, stride, sub }, ty, span)
    }

    fn ptr_diff(&mut self, lhs: TExprId, rhs: TExprId, pointee: QType, span: Span) -> TExprId {
        let ptrdiff = self.prog.types.ptrdiff_t();
        let Some(step) = self.pointee_step(pointee, span) else { return self.error_expr(span) };
        match step {
            Step::Const(stride) => {
                let kind = TExprKind::PtrDiff { lhs, rhs, stride: stride.max(1) };
                self.push(kind, ptrdiff, span)
            }
            Step::Dynamic(size) => {
                let bytes = self.push(TExprKind::PtrDiff { lhs, rhs, stride: 1 }, ptrdiff, span);
                let size = self.convert(size, ptrdiff);
                self.arith_node(ArithOp::Div, ptrdiff, bytes, size, span)
            }
        }
    }

    pub(super) fn compare(&mut self, op: CompareOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        let types = &self.prog.types;
        let (a, b) = (self.ty(lhs), self.ty(rhs));
        let (lhs, rhs) = if types.is_arithmetic(a) && types.is_arithmetic(b) {
            let ty = self.common_type(a, b);
            (self.convert(lhs, ty), self.convert(rhs, ty))
        } else {
            match (types.pointee(a), types.pointee(b)) {
                (Some(x), Some(y)) => {
                    let related = x.ty == y.ty
                        || x.ty == TypeTable::VOID
                        || y.ty == TypeTable::VOID
                        || self.is_null_constant(lhs)
                        || self.is_null_constant(rhs)
                        || self.compatible_unqualified(x.ty, y.ty);
                    if !related {
                        self.warn(span, "comparison of pointers to different types");
                    }
                    (lhs, self.convert(rhs, a))
                }
                (Some(_), None) if types.is_integer(b) => {
                    if !self.is_null_constant(rhs) {
                        self.warn(span, "comparison between pointer and integer");
                    }
                    (lhs, self.convert(rhs, a))
                }
                (None, Some(_)) if types.is_integer(a) => {
                    if !self.is_null_constant(lhs) {
                        self.warn(span, "comparison between pointer and integer");
                    }
                    (self.convert(lhs, b), rhs)
                }
                _ => return self.bad_operands(lhs, rhs, span),
            }
        };
        let kind = self.fold_compare(op, lhs, rhs).unwrap_or(TExprKind::Compare { op, lhs, rhs });
        self.push(kind, TypeTable::INT, span)
    }

    /// A unary operator.
    pub(super) fn unary(&mut self, op: UnaryOp, operand: ast::ExprId, span: Span) -> TExprId {
        match op {
            UnaryOp::AddrOf => self.address_of(operand, span),
            UnaryOp::Deref => {
                let e = self.rvalue(operand);
                self.deref(e, span)
            }
            UnaryOp::PreInc => self.inc_dec(operand, true, false, span),
            UnaryOp::PreDec => self.inc_dec(operand, false, false, span),
            UnaryOp::PostInc => self.inc_dec(operand, true, true, span),
            UnaryOp::PostDec => self.inc_dec(operand, false, true, span),
            UnaryOp::Not => {
                let e = self.condition(operand);
                if self.is_error(e) {
                    return e;
                }
                match self.literal_truth(e) {
                    Some(truth) => self.int_const((!truth).into(), TypeTable::INT, span),
                    None => self.push(TExprKind::LogNot(e), TypeTable::INT, span),
                }
            }
            UnaryOp::Plus | UnaryOp::Neg | UnaryOp::BitNot => self.sign_op(op, operand, span),
            // The real part of a real number is itself, the imaginary part zero.
            UnaryOp::Real | UnaryOp::Imag => {
                let e = self.expr(operand);
                let imaginary = op == UnaryOp::Imag;
                if let Form::Complex(_) = self.prog.types.form(self.ty(e)) {
                    return self.complex_part(e, imaginary, span);
                }
                if !imaginary {
                    return e;
                }
                let e = self.value_of(e);
                let zero = self.int_const(0, TypeTable::INT, span);
                let ty = self.ty(e);
                self.convert(zero, ty)
            }
        }
    }

    fn sign_op(&mut self, op: UnaryOp, operand: ast::ExprId, span: Span) -> TExprId {
        let e = self.rvalue(operand);
        if self.is_error(e) {
            return e;
        }
        let types = &self.prog.types;
        match types.form(self.ty(e)) {
            Form::Complex(_) if op == UnaryOp::Plus => return e,
            Form::Complex(_) => return self.complex_sign(e, op == UnaryOp::Neg, span),
            Form::Vector(..) => return self.vector_sign(op, e, span),
            Form::Soft(_) if op == UnaryOp::Plus => return e,
            Form::Soft(_) if op == UnaryOp::Neg => return self.soft_negated(e, span),
            Form::Soft(_) | Form::Plain => {}
        }
        let ok = if op == UnaryOp::BitNot {
            types.is_integer(self.ty(e))
        } else {
            types.is_arithmetic(self.ty(e))
        };
        if !ok {
            self.error(span, format!("the operator cannot be applied to '{}'", self.type_name(self.ty(e))));
            return self.error_expr(span);
        }
        let e = self.promote(e);
        match op {
            UnaryOp::Plus => e,
            UnaryOp::Neg => self.negated(e, span),
            _ => self.inverted(e, span),
        }
    }

    /// `-e` on a number in its own type.
    pub(super) fn negated(&mut self, e: TExprId, span: Span) -> TExprId {
        let ty = self.ty(e);
        let kind = match (&self.prog.exprs[e].kind, self.prog.types.int_ty(ty)) {
            (&TExprKind::Int(bits), Some(t)) if !t.signed || bits != t.min_bits() => {
                TExprKind::Int(t.truncate(bits.wrapping_neg()))
            }
            (&TExprKind::Float(bits), _) => match self.prog.types.float_ty(ty) {
                Some(t) => TExprKind::Float(crate::soft::neg(t, bits)),
                None => TExprKind::Neg(e),
            },
            _ => TExprKind::Neg(e),
        };
        self.push(kind, ty, span)
    }

    /// `~e` on an integer in its own type.
    pub(super) fn inverted(&mut self, e: TExprId, span: Span) -> TExprId {
        let ty = self.ty(e);
        let kind = match (&self.prog.exprs[e].kind, self.prog.types.int_ty(ty)) {
            (&TExprKind::Int(bits), Some(t)) => TExprKind::Int(t.truncate(!bits)),
            _ => TExprKind::BitNot(e),
        };
        self.push(kind, ty, span)
    }

    /// `*e` on a value.
    pub(super) fn deref(&mut self, e: TExprId, span: Span) -> TExprId {
        if self.is_error(e) {
            return e;
        }
        match self.prog.types.pointee(self.ty(e)) {
            Some(to) => {
                // `*f` and `*&x` are the operand itself.
                match self.prog.exprs[e].kind {
                    TExprKind::FuncAddr(f) => self.push(TExprKind::Func(f), to, span),
                    TExprKind::AddrOf(inner) if self.qty(inner) == to => inner,
                    _ => self.push(TExprKind::Deref(e), to, span),
                }
            }
            None => {
                self.error(span, format!("'{}' is not a pointer", self.type_name(self.ty(e))));
                self.error_expr(span)
            }
        }
    }

    fn address_of(&mut self, operand: ast::ExprId, span: Span) -> TExprId {
        let e = self.expr(operand);
        if self.is_error(e) {
            return e;
        }
        let ty = self.qty(e);
        let kind = match self.prog.exprs[e].kind {
            TExprKind::Func(_) => {
                let address = self.value_of(e);
                self.note_nested_pointer(address);
                return address;
            }
            // `&*p` is `p`, even for a bad pointer (C11 6.5.3.2).
            TExprKind::Deref(p) => {
                if self.prog.types.pointee(self.ty(p)) == Some(ty) {
                    return p;
                }
                TExprKind::AddrOf(e)
            }
            _ if self.prog.bit_range(e).is_some() => {
                self.error(span, "the address of a bit-field cannot be taken");
                return self.error_expr(span);
            }
            _ if self.prog.is_lvalue(e) => TExprKind::AddrOf(e),
            _ => {
                self.error(span, "the address of a value cannot be taken");
                return self.error_expr(span);
            }
        };
        let ptr = self.types().ptr_to(ty);
        self.push(kind, ptr, span)
    }

    /// Checks that an expression can be assigned to.
    pub(super) fn modifiable(&mut self, e: TExprId, span: Span) -> bool {
        if self.is_error(e) {
            return false;
        }
        let ty = self.qty(e);
        if !self.prog.is_lvalue(e) || matches!(self.prog.types.get(ty.ty), CType::Func(_)) {
            self.error(span, "a value cannot be assigned to");
            return false;
        }
        if matches!(self.prog.types.get(ty.ty), CType::Array(..)) {
            self.error(span, "an array cannot be assigned to");
            return false;
        }
        if self.has_const(ty) {
            self.error(span, "a constant object cannot be assigned to");
            return false;
        }
        if !self.prog.types.is_complete(ty.ty) {
            self.error(span, format!("assignment to incomplete type '{}'", self.type_name(ty)));
            return false;
        }
        true
    }

    fn inc_dec(&mut self, operand: ast::ExprId, inc: bool, postfix: bool, span: Span) -> TExprId {
        let e = self.expr(operand);
        if !self.modifiable(e, span) {
            return self.error_expr(span);
        }
        let ty = self.ty(e);
        if self.is_compound(ty) {
            return self.compound_step(e, inc, postfix, span);
        }
        let step = match self.prog.types.pointee(ty) {
            Some(pointee) => match self.pointee_step(pointee, span) {
                Some(Step::Const(n)) => IncStep::Bytes(n),
                Some(Step::Dynamic(size)) => IncStep::Dynamic(size),
                None => return self.error_expr(span),
            },
            None if self.prog.types.is_arithmetic(ty) => IncStep::Number(self.promoted_type(ty)),
            None => {
                self.error(span, format!("the operator cannot be applied to '{}'", self.type_name(ty)));
                return self.error_expr(span);
            }
        };
        self.push(TExprKind::IncDec { operand: e, inc, postfix, step }, ty, span)
    }

    /// `lhs = rhs` and `lhs op= rhs`
    pub(super) fn assign(
        &mut self,
        op: Option<BinaryOp>,
        lhs: ast::ExprId,
        rhs: ast::ExprId,
        span: Span,
    ) -> TExprId {
        let lhs = self.expr(lhs);
        let rhs = self.rvalue(rhs);
        if !self.modifiable(lhs, span) || self.is_error(rhs) {
            return self.error_expr(span);
        }
        let ty = self.ty(lhs);
        match op {
            None => {
                let rhs = self.assign_convert(rhs, ty, "assignment");
                self.push(TExprKind::Assign { lhs, rhs }, ty, span)
            }
            Some(op) => self.compound_assign(op, lhs, rhs, span),
        }
    }

    fn compound_assign(&mut self, op: BinaryOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        use BinaryOp as B;
        let ty = self.ty(lhs);
        let b = self.ty(rhs);
        if self.is_compound(ty) || self.is_compound(b) {
            return self.compound_update(op, lhs, rhs, span);
        }
        let types = &self.prog.types;
        if let Some(pointee) = types.pointee(ty) {
            if !matches!(op, B::Add | B::Sub) || !types.is_integer(b) {
                return self.bad_operands(lhs, rhs, span);
            }
            let Some(step) = self.pointee_step(pointee, span) else { return self.error_expr(span) };
            let index = self.promote(rhs);
            let (index, stride) = self.scaled_index(step, index, span);
            return self.push(TExprKind::PtrAssign { lhs, index, stride, sub: op == B::Sub }, ty, span);
        }
        let (op, integers_only) = match op {
            B::Mul => (ArithOp::Mul, false),
            B::Div => (ArithOp::Div, false),
            B::Add => (ArithOp::Add, false),
            B::Sub => (ArithOp::Sub, false),
            B::Rem => (ArithOp::Rem, true),
            B::Shl => (ArithOp::Shl, true),
            B::Shr => (ArithOp::Shr, true),
            B::BitAnd => (ArithOp::And, true),
            B::BitXor => (ArithOp::Xor, true),
            B::BitOr => (ArithOp::Or, true),
            _ => return self.bad_operands(lhs, rhs, span),
        };
        let ok = |t| if integers_only { types.is_integer(t) } else { types.is_arithmetic(t) };
        if !ok(ty) || !ok(b) {
            return self.bad_operands(lhs, rhs, span);
        }
        let (computation, rhs) = if matches!(op, ArithOp::Shl | ArithOp::Shr) {
            (self.promoted_type(ty), self.promote(rhs))
        } else {
            let common = self.common_type(ty, b);
            (common, self.convert(rhs, common))
        };
        self.push(TExprKind::CompoundAssign { op, lhs, rhs, computation }, ty, span)
    }

    /// `cond ? then : otherwise`
    pub(super) fn conditional(
        &mut self,
        cond: ast::ExprId,
        then: Option<ast::ExprId>,
        otherwise: ast::ExprId,
        span: Span,
    ) -> TExprId {
        let cond = self.condition(cond);
        let then_value = then.map(|t| self.rvalue(t));
        let else_value = self.rvalue(otherwise);
        let first = then_value.unwrap_or(cond);
        if self.is_error(cond) || self.is_error(first) || self.is_error(else_value) {
            return self.error_expr(span);
        }
        let Some(ty) = self.conditional_type(first, else_value, span) else {
            return self.bad_operands(first, else_value, span);
        };
        if self.is_compound(ty) {
            let then = match then_value {
                Some(then) => self.number_as(then, ty),
                None => first,
            };
            let otherwise = self.number_as(else_value, ty);
            return self.push(TExprKind::Cond { cond, then: Some(then), otherwise }, ty, span);
        }
        let scalar = self.prog.types.is_scalar(ty);
        let then_value = match (then_value, scalar || ty == TypeTable::VOID) {
            (Some(t), true) => Some(self.convert(t, ty)),
            (t, _) => t,
        };
        let else_value =
            if scalar || ty == TypeTable::VOID { self.convert(else_value, ty) } else { else_value };
        if let (Some(truth), Some(then)) = (self.literal_truth(cond), then_value) {
            let (chosen, other) = if truth { (then, else_value) } else { (else_value, then) };
            let is_constant =
                |e: TExprId| matches!(self.prog.exprs[e].kind, TExprKind::Int(_) | TExprKind::Float(_));
            if is_constant(chosen) && is_constant(other) {
                let kind = self.prog.exprs[chosen].kind.clone();
                return self.push(kind, ty, span);
            }
        }
        self.push(TExprKind::Cond { cond, then: then_value, otherwise: else_value }, ty, span)
    }

    fn conditional_type(&mut self, a: TExprId, b: TExprId, span: Span) -> Option<CTypeId> {
        let (x, y) = (self.ty(a), self.ty(b));
        let types = &self.prog.types;
        if types.is_arithmetic(x) && types.is_arithmetic(y) {
            return Some(self.common_type(x, y));
        }
        let number = |t| types.is_arithmetic(t) || self.is_compound(t);
        if x != y && number(x) && number(y) {
            return match (types.form(x), types.form(y)) {
                (Form::Vector(..), _) | (_, Form::Vector(..)) => None,
                (Form::Complex(_), _) | (_, Form::Complex(_)) => Some(self.common_complex(x, y)),
                _ => self.soft_common(x, y),
            };
        }
        match (types.get(x), types.get(y)) {
            (CType::Void, _) | (_, CType::Void) => Some(TypeTable::VOID),
            (CType::Record(_), CType::Record(_)) if self.same_record(x, y) => Some(x),
            (CType::Ptr(p), CType::Ptr(q)) => {
                let quals = p.quals.union(q.quals);
                let to = if self.is_null_constant(a) {
                    q.ty
                } else if self.is_null_constant(b) {
                    p.ty
                } else if p.ty == TypeTable::VOID || q.ty == TypeTable::VOID {
                    TypeTable::VOID
                } else if self.compatible_unqualified(p.ty, q.ty) {
                    self.composite(p.ty, q.ty)
                } else {
                    self.warn(span, "pointers to different types in a conditional expression");
                    TypeTable::VOID
                };
                Some(self.types().ptr_to(QType { ty: to, quals }))
            }
            (CType::Ptr(_), _) if types.is_integer(y) => {
                if !self.is_null_constant(b) {
                    self.warn(span, "pointer and integer in a conditional expression");
                }
                Some(x)
            }
            (_, CType::Ptr(_)) if types.is_integer(x) => {
                if !self.is_null_constant(a) {
                    self.warn(span, "pointer and integer in a conditional expression");
                }
                Some(y)
            }
            _ => None,
        }
    }
}

/// How far a pointer moves by one element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Const(u64),
    /// A value of type `size_t`.
    Dynamic(TExprId),
}
