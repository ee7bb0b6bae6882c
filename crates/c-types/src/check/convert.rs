//! Conversions: of lvalues, by promotion, to a common type, as if by assignment, by cast.

use palisade_base::Span;
use palisade_c_syntax::ast;
use palisade_cfa::{FloatTy, IntTy};

use super::Checker;
use crate::soft;
use crate::tast::*;
use crate::types::*;

impl<'a> Checker<'a> {
    /// Checks an expression and makes a value of it.
    pub(super) fn rvalue(&mut self, expr: ast::ExprId) -> TExprId {
        let e = self.callee(expr);
        self.note_nested_pointer(e);
        e
    }

    /// Like [`Checker::rvalue`], for what is called.
    pub(super) fn callee(&mut self, expr: ast::ExprId) -> TExprId {
        let e = self.expr(expr);
        self.value_of(e)
    }

    /// Checks an expression that is not evaluated.
    pub(super) fn unevaluated(&mut self, expr: ast::ExprId) -> TExprId {
        let pending = self.func.as_mut().map(|f| std::mem::take(&mut f.pending));
        let e = self.expr(expr);
        if let (Some(pending), Some(func)) = (pending, &mut self.func) {
            func.pending = pending;
        }
        e
    }

    /// Lvalue conversion, array decay and function decay (C11 6.3.2.1).
    pub(super) fn value_of(&mut self, e: TExprId) -> TExprId {
        let TExpr { ref kind, ty, span } = self.prog.exprs[e];
        match self.prog.types.get(ty.ty) {
            CType::Error => e,
            CType::Array(elem, _) => {
                let ptr = self.types().ptr_to(elem);
                self.push(TExprKind::Decay(e), ptr, span)
            }
            CType::Func(_) => {
                let (kind, nested) = match *kind {
                    TExprKind::Func(f) => (TExprKind::FuncAddr(f), self.is_nested(f).then_some(f)),
                    TExprKind::Deref(p) => return p,
                    _ => (TExprKind::Error, None),
                };
                let ptr = self.types().ptr_to(ty.ty.into());
                let address = self.push(kind, ptr, span);
                match nested {
                    Some(f) => self.nested_address(f, address, span),
                    None => address,
                }
            }
            CType::Void if matches!(kind, TExprKind::Deref(_)) => {
                let TExprKind::Deref(p) = *kind else { return e };
                self.push(TExprKind::Convert(p), TypeTable::VOID, span)
            }
            _ if self.prog.is_lvalue(e) => {
                if !self.prog.types.is_complete(ty.ty) && self.prog.types.is_record(ty.ty) {
                    self.error(span, format!("a value of incomplete type '{}'", self.type_name(ty)));
                    return self.error_expr(span);
                }
                if self.prog.types.is_variably_sized(ty.ty) {
                    let name = self.type_name(ty);
                    let message = format!("a value of type '{name}', whose size varies: copy it with memcpy");
                    self.error(span, message);
                    return self.error_expr(span);
                }
                self.push(TExprKind::Load(e), ty.ty, span)
            }
            _ => e,
        }
    }

    /// Integer promotion (C11 6.3.1.1); other types stay.
    pub(super) fn promoted_type(&self, ty: CTypeId) -> CTypeId {
        match self.prog.types.get(ty) {
            CType::Int(kind) => match kind.rank() < IntKind::Int.rank() {
                true => TypeTable::INT,
                false => ty,
            },
            CType::BitField(int) => match int.bits {
                0..=31 => TypeTable::INT,
                32 if int.signed => TypeTable::INT,
                32 => TypeTable::UINT,
                _ => ty,
            },
            CType::Enum(id) => self.promoted_type(TypeTable::int_id(self.prog.types.enums[id].underlying)),
            _ => ty,
        }
    }

    pub(super) fn promote(&mut self, e: TExprId) -> TExprId {
        let to = self.promoted_type(self.ty(e));
        self.convert(e, to)
    }

    /// The common type of two arithmetic types (C11 6.3.1.8).
    pub(super) fn common_type(&self, a: CTypeId, b: CTypeId) -> CTypeId {
        let types = &self.prog.types;
        let rank = |f: FloatTy| f.bits();
        match (types.float_ty(a), types.float_ty(b)) {
            (Some(x), Some(y)) => return if rank(x) >= rank(y) { a } else { b },
            (Some(_), None) => return a,
            (None, Some(_)) => return b,
            (None, None) => {}
        }
        let (a, b) = (self.promoted_type(a), self.promoted_type(b));
        if a == b {
            return a;
        }
        let (CType::Int(x), CType::Int(y)) = (types.get(a), types.get(b)) else {
            // A wide bit-field or `_BitInt` beside another integer goes by precision, then by
            // sign; of one width and sign, the standard type has the higher rank (C23 6.3.1.1).
            let (Some(x), Some(y)) = (types.int_ty(a), types.int_ty(b)) else { return a };
            return match x.bits.cmp(&y.bits) {
                std::cmp::Ordering::Greater => a,
                std::cmp::Ordering::Less => b,
                std::cmp::Ordering::Equal if x.signed == y.signed => {
                    if matches!(types.get(a), CType::Int(_)) { a } else { b }
                }
                std::cmp::Ordering::Equal if !x.signed => a,
                std::cmp::Ordering::Equal => b,
            };
        };
        if x.signed() == y.signed() {
            return if x.rank() >= y.rank() { a } else { b };
        }
        let (signed, unsigned) = if x.signed() { (x, y) } else { (y, x) };
        if unsigned.rank() >= signed.rank() {
            return TypeTable::int_id(unsigned);
        }
        if signed.storage_bits(types.dm) > unsigned.storage_bits(types.dm) {
            return TypeTable::int_id(signed);
        }
        TypeTable::int_id(signed.to_unsigned())
    }

    /// Converts a scalar value to a scalar type, or anything to `void`; constants are folded.
    pub(super) fn convert(&mut self, e: TExprId, to: CTypeId) -> TExprId {
        let from = self.ty(e);
        if from == to || from == TypeTable::ERROR {
            return e;
        }
        let span = self.span(e);
        if to == TypeTable::ERROR {
            return self.error_expr(span);
        }
        if let Some(kind) = self.fold_convert(e, from, to) {
            return self.push(kind, to, span);
        }
        self.push(TExprKind::Convert(e), to, span)
    }

    fn fold_convert(&self, e: TExprId, from: CTypeId, to: CTypeId) -> Option<TExprKind> {
        match self.prog.exprs[e].kind {
            TExprKind::Int(bits) => self.convert_bits(from, to, ConstBits::Int(bits)),
            TExprKind::Float(bits) => self.convert_bits(from, to, ConstBits::Float(bits)),
            _ => None,
        }
        .map(|c| match c {
            ConstBits::Int(b) => TExprKind::Int(b),
            ConstBits::Float(b) => TExprKind::Float(b),
        })
    }

    /// The value bits after a conversion of scalars.
    pub(super) fn convert_bits(&self, from: CTypeId, to: CTypeId, value: ConstBits) -> Option<ConstBits> {
        let source = self.scalar_shape(from)?;
        let target = self.scalar_shape(to)?;
        let bits = match value {
            ConstBits::Int(b) | ConstBits::Float(b) => b,
        };
        if to == TypeTable::BOOL {
            return Some(ConstBits::Int(u128::from(match source {
                Shape::Int(s) => s.truncate(bits) != 0,
                Shape::Float(s) => !soft::is_zero(s, bits),
            })));
        }
        Some(match (source, target) {
            (Shape::Int(s), Shape::Int(t)) => ConstBits::Int(t.truncate(s.decode(bits) as u128)),
            (Shape::Int(s), Shape::Float(t)) => ConstBits::Float(soft::from_int(s, t, bits)),
            (Shape::Float(s), Shape::Float(t)) => ConstBits::Float(soft::convert(s, t, bits)),
            (Shape::Float(s), Shape::Int(t)) => ConstBits::Int(soft::to_int(s, t, bits)?),
        })
    }

    /// How values of a scalar type are represented; pointers are unsigned integers.
    pub(super) fn scalar_shape(&self, ty: CTypeId) -> Option<Shape> {
        let types = &self.prog.types;
        match types.get(ty) {
            CType::Ptr(_) => Some(Shape::Int(IntTy { bits: types.dm.ptr_bits(), signed: false })),
            CType::Float(f) => Some(Shape::Float(f)),
            _ => types.int_ty(ty).map(Shape::Int),
        }
    }

    /// Whether a value is a null pointer constant: an integer constant 0, or that as `void *`.
    pub(super) fn is_null_constant(&self, e: TExprId) -> bool {
        let expr = &self.prog.exprs[e];
        matches!(expr.kind, TExprKind::Int(0))
            && (self.prog.types.is_integer(expr.ty.ty) || expr.ty.ty == self.prog.types.void_ptr())
    }

    /// Converts a value as if by assignment (C11 6.5.16.1); what gcc only warns about is accepted.
    pub(super) fn assign_convert(&mut self, e: TExprId, to: CTypeId, what: &str) -> TExprId {
        let from = self.ty(e);
        if from == to || from == TypeTable::ERROR {
            return e;
        }
        let span = self.span(e);
        if (self.is_compound(from) || self.is_compound(to))
            && let Some(e) = self.compound_convert(e, to)
        {
            return e;
        }
        let types = &self.prog.types;
        match (types.get(from), types.get(to)) {
            (_, CType::Error) => return self.error_expr(span),
            (CType::Ptr(a), CType::Ptr(b)) => {
                if !self.pointees_agree(a, b) {
                    self.warn_conversion(span, what, from, to);
                }
                return self.convert(e, to);
            }
            (CType::Ptr(_), CType::Int(IntKind::Bool)) => return self.convert(e, to),
            (CType::Ptr(_), _) if types.is_integer(to) => {
                self.warn_conversion(span, what, from, to);
                return self.convert(e, to);
            }
            (_, CType::Ptr(_)) if types.is_integer(from) => {
                if !self.is_null_constant(e) {
                    self.warn_conversion(span, what, from, to);
                }
                return self.convert(e, to);
            }
            (CType::Record(_), CType::Record(_)) if self.same_record(from, to) => return e,
            (_, CType::Record(id)) if types.records[id].transparent => {
                if let Some(e) = self.wrap_in_transparent_union(e, to) {
                    return e;
                }
            }
            _ if types.is_arithmetic(from) && types.is_arithmetic(to) => return self.convert(e, to),
            _ => {}
        }
        self.error(
            span,
            format!("{what}: '{}' cannot become '{}'", self.type_name(from), self.type_name(to)),
        );
        self.error_expr(span)
    }

    fn warn_conversion(&mut self, span: Span, what: &str, from: CTypeId, to: CTypeId) {
        let message =
            format!("{what}: conversion from '{}' to '{}'", self.type_name(from), self.type_name(to));
        self.warn(span, message);
    }

    /// Whether a pointer to one may be assigned to a pointer to the other without remark.
    /// Qualifiers do not matter to us, nor does the sign of characters.
    fn pointees_agree(&self, a: QType, b: QType) -> bool {
        let types = &self.prog.types;
        a.ty == b.ty
            || a.ty == TypeTable::VOID
            || b.ty == TypeTable::VOID
            || self.compatible_unqualified(a.ty, b.ty)
            || match (types.int_ty(a.ty), types.int_ty(b.ty)) {
                (Some(x), Some(y)) => x.bits == y.bits,
                _ => false,
            }
    }

    /// Whether two record types are the same, or (from different files) look the same.
    pub(super) fn same_record(&self, a: CTypeId, b: CTypeId) -> bool {
        if a == b {
            return true;
        }
        let (Some(x), Some(y)) = (self.prog.types.record_of(a), self.prog.types.record_of(b)) else {
            return false;
        };
        let in_this_file = |s: Span| s.lo >= self.unit_span.lo && s.hi <= self.unit_span.hi;
        if x.form != Form::Plain || y.form != Form::Plain {
            return false;
        }
        if x.union != y.union || x.tag != y.tag || (in_this_file(x.span) && in_this_file(y.span)) {
            return false;
        }
        let alike = |(f, g): (&Field, &Field)| f.name == g.name && f.offset == g.offset && f.bits == g.bits;
        !x.complete
            || !y.complete
            || (x.size == y.size
                && x.fields.len() == y.fields.len()
                && x.fields.iter().zip(&y.fields).all(alike))
    }

    fn wrap_in_transparent_union(&mut self, e: TExprId, to: CTypeId) -> Option<TExprId> {
        let from = self.ty(e);
        let record = self.prog.types.record_of(to)?;
        let members: Vec<CTypeId> = record.fields.iter().map(|f| f.ty.ty).collect();
        let exact = members.iter().position(|&m| self.compatible_unqualified(m, from));
        let pointer = |c: &Self, m: CTypeId| matches!(c.prog.types.get(m), CType::Ptr(_));
        let field = exact.or_else(|| {
            members
                .iter()
                .position(|&m| pointer(self, m) && (pointer(self, from) || self.is_null_constant(e)))
        })?;
        let operand = self.convert(e, members[field]);
        let span = self.span(e);
        Some(self.push(TExprKind::ToUnion { operand, field: field as u32 }, to, span))
    }

    /// `(type) operand`
    pub(super) fn cast(&mut self, ty: ast::TypeNameId, operand: ast::ExprId, span: Span) -> TExprId {
        let target = self.type_of_name(ty);
        let to = target.ty;
        let e = self.rvalue(operand);
        let from = self.ty(e);
        if to == TypeTable::ERROR || from == TypeTable::ERROR {
            return self.error_expr(span);
        }
        if to != TypeTable::VOID && from != to && (self.is_compound(from) || self.is_compound(to)) {
            let vector = |t| matches!(self.prog.types.form(t), Form::Vector(..));
            if vector(from) || vector(to) {
                return self.vector_cast(e, to, span);
            }
            if let Some(e) = self.compound_convert(e, to) {
                return e;
            }
        }
        let types = &self.prog.types;
        let ok = match (types.get(from), types.get(to)) {
            (_, CType::Void) => true,
            (CType::Float(_), CType::Ptr(_)) | (CType::Ptr(_), CType::Float(_)) => false,
            (CType::Record(_), CType::Record(_)) if self.same_record(from, to) => return e,
            (_, CType::Record(id)) if types.records[id].union => {
                let members: Vec<CTypeId> = types.records[id].fields.iter().map(|f| f.ty.ty).collect();
                match members.iter().position(|&m| self.compatible_unqualified(m, from)) {
                    Some(i) => {
                        return self.push(TExprKind::ToUnion { operand: e, field: i as u32 }, to, span);
                    }
                    None => false,
                }
            }
            _ => types.is_scalar(from) && types.is_scalar(to),
        };
        if !ok {
            self.error(span, format!("cast from '{}' to '{}'", self.type_name(from), self.type_name(to)));
            return self.error_expr(span);
        }
        let converted = self.convert(e, to);
        if converted == e {
            return e;
        }
        self.prog.exprs[converted].span = span;
        converted
    }

    /// Checks an expression whose value is tested against zero.
    pub(super) fn condition(&mut self, expr: ast::ExprId) -> TExprId {
        let e = self.rvalue(expr);
        self.require_scalar(e)
    }

    pub(super) fn require_scalar(&mut self, e: TExprId) -> TExprId {
        let ty = self.ty(e);
        if ty == TypeTable::ERROR || self.prog.types.is_scalar(ty) {
            return e;
        }
        let span = self.span(e);
        match self.prog.types.form(ty) {
            Form::Complex(_) => return self.complex_truth(e, span),
            Form::Soft(_) => return self.soft_truth(e, span),
            Form::Plain | Form::Vector(..) => {}
        }
        self.error(span, format!("a number or pointer is needed, not '{}'", self.type_name(ty)));
        self.error_expr(span)
    }
}

/// Value bits of a constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum ConstBits {
    Int(u128),
    Float(u128),
}

/// How a scalar is represented.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Shape {
    Int(IntTy),
    Float(FloatTy),
}
