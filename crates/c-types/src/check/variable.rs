//! Records with members of variable size (GNU), of which sizes and offsets are computed when their definition is
//! reached.
//!
//! Members up to the first of variable size are like any others. All others are reached by an offset from the
//! record's address: `s.b` is `*(T *)((char *)&s + offset)`, where the offset is kept in a hidden variable unless it
//! is constant. As an array of variable length, such a record has no elements (no bytes) if one of its lengths is
//! not positive.

use palisade_base::Span;

use super::Checker;
use crate::layout::{FieldDecl, RecordAttrs};
use crate::tast::*;
use crate::types::*;

impl Checker<'_> {
    /// A new hidden variable of type `size_t`, which gets its value before the next statement; an error outside of
    /// functions.
    pub(super) fn hidden_size(&mut self, value: TExprId, span: Span) -> Option<ObjId> {
        let Some(func) = &self.func else {
            self.error(span, "the size of an array must be constant here");
            return None;
        };
        let kind = ObjKind::Hidden(func.id);
        let size_t = self.prog.types.size_t();
        let align = self.prog.types.align_of(size_t);
        let object = self.prog.objects.push(Object::unnamed(size_t.into(), kind, align, Span::NONE));
        let place = self.push(TExprKind::Object(object), size_t, span);
        let assign = self.push(TExprKind::Assign { lhs: place, rhs: value }, size_t, span);
        if let Some(func) = &mut self.func {
            func.pending.push(assign);
        }
        Some(object)
    }

    /// The value of a hidden variable.
    pub(super) fn hidden_value(&mut self, object: ObjId, span: Span) -> TExprId {
        let size_t = self.prog.types.size_t();
        let place = self.push(TExprKind::Object(object), size_t, span);
        self.push(TExprKind::Load(place), size_t, span)
    }

    /// Where the members of a record lie that has some of variable size, which are not bit-fields; `offsets` are
    /// those that they would have if these had no bytes, and one of each member that has a place is in both lists.
    pub(super) fn variable_layout(
        &mut self,
        decls: &[(FieldDecl, Span)],
        offsets: &[u64],
        align: u64,
        attrs: RecordAttrs,
        span: Span,
    ) -> Option<VariableLayout> {
        let first = decls.iter().position(|(d, _)| self.prog.types.is_variably_sized(d.ty.ty))?;
        let fixed = if attrs.union { 0 } else { first };
        if let Some((_, span)) = decls[fixed..].iter().find(|(d, _)| d.width.is_some()) {
            self.error(
                *span,
                "a bit-field beside or behind a member of variable size: declare it before that one",
            );
            return None;
        }
        let size_t = self.prog.types.size_t();
        let mut positive: Option<TExprId> = None;
        // Where the last member ends; for a union, the largest.
        let mut end: Option<TExprId> = None;
        let mut layout = VariableLayout { fixed, size: ObjId(0), offsets: vec![None; fixed] };
        for (i, (decl, span)) in decls.iter().enumerate().skip(fixed) {
            let (ty, span) = (decl.ty.ty, *span);
            self.positive_lengths(ty, &mut positive, span);
            let size = self.size_of_any(ty, span);
            if attrs.union {
                layout.offsets.push(None);
                end = Some(match end {
                    None => size,
                    Some(end) => {
                        let less = self.compare(CompareOp::Lt, end, size, span);
                        self.push(
                            TExprKind::Cond { cond: less, then: Some(size), otherwise: end },
                            size_t,
                            span,
                        )
                    }
                });
                continue;
            }
            let start = match end {
                // The first one of variable size.
                None => {
                    layout.offsets.push(None);
                    self.int_const(offsets[i].into(), size_t, span)
                }
                Some(end) => {
                    let alone = RecordAttrs { align: None, ..attrs };
                    let align = self.prog.types.layout_record(std::slice::from_ref(decl), alone)?.align;
                    let start = self.round_up(end, align, span);
                    let offset = self.hidden_size(start, span)?;
                    layout.offsets.push(Some(offset));
                    self.hidden_value(offset, span)
                }
            };
            end = Some(self.arith_node(ArithOp::Add, size_t, start, size, span));
        }
        let size = self.round_up(end?, align, span);
        let size = match positive {
            None => size,
            Some(cond) => {
                let otherwise = self.int_const(0, size_t, span);
                self.push(TExprKind::Cond { cond, then: Some(size), otherwise }, size_t, span)
            }
        };
        layout.size = self.hidden_size(size, span)?;
        Some(layout)
    }

    /// Bytes of an object, constant or not.
    pub(super) fn size_of_any(&mut self, ty: CTypeId, span: Span) -> TExprId {
        let size_t = self.prog.types.size_t();
        match self.prog.types.size_of(ty) {
            Some(size) => self.int_const(size.into(), size_t, span),
            None => self.size_expr(ty, span),
        }
    }

    /// Adds to a condition that all lengths of arrays in a type are positive.
    fn positive_lengths(&mut self, ty: CTypeId, all: &mut Option<TExprId>, span: Span) {
        let mut ty = ty;
        let mut lengths = Vec::new();
        while let CType::Array(elem, len) = self.prog.types.get(ty) {
            if let ArrayLen::Vla(vla) = len {
                lengths.push(self.prog.types.vlas[vla].len);
            }
            ty = elem.ty;
        }
        lengths.extend(self.prog.types.record_of(ty).and_then(|r| r.variable.as_ref()).map(|v| v.size));
        let ptrdiff = self.prog.types.ptrdiff_t();
        for length in lengths {
            let value = self.hidden_value(length, span);
            let value = self.convert(value, ptrdiff);
            let zero = self.int_const(0, ptrdiff, span);
            let positive = self.compare(CompareOp::Lt, zero, value, span);
            *all = Some(match *all {
                None => positive,
                Some(lhs) => {
                    self.push(TExprKind::Logical { and: true, lhs, rhs: positive }, TypeTable::INT, span)
                }
            });
        }
    }

    /// The next multiple of a power of two.
    fn round_up(&mut self, value: TExprId, to: u64, span: Span) -> TExprId {
        if to <= 1 {
            return value;
        }
        let size_t = self.prog.types.size_t();
        let less = self.int_const((to - 1).into(), size_t, span);
        let mask = self.int_const(!u128::from(to - 1), size_t, span);
        let sum = self.arith_node(ArithOp::Add, size_t, value, less, span);
        self.arith_node(ArithOp::And, size_t, sum, mask, span)
    }

    /// Where a member lies that is reached by an offset: the part that is constant, and what is added to it.
    pub(super) fn variable_offset(&self, record: &RecordType, field: u32) -> Option<(u64, Option<ObjId>)> {
        let at = field as usize;
        let variable = record.variable.as_ref().filter(|v| at >= v.fixed)?;
        Some(match variable.offsets[at] {
            Some(offset) => (0, Some(offset)),
            None => (record.fields[at].offset, None),
        })
    }

    /// The member of a record that lies at an offset.
    pub(super) fn member_at(
        &mut self,
        record: TExprId,
        (fixed, computed): (u64, Option<ObjId>),
        ty: QType,
        span: Span,
    ) -> TExprId {
        if !self.prog.is_lvalue(record) {
            self.error(span, "a member of a value of variable size");
            return self.error_expr(span);
        }
        let record_ty = self.qty(record);
        let (ptrdiff, chars) = (self.prog.types.ptrdiff_t(), self.prog.types.char_ptr());
        let to_record = self.types().ptr_to(record_ty);
        let address = self.push(TExprKind::AddrOf(record), to_record, span);
        let ptr = self.push(TExprKind::Convert(address), chars, span);
        let index = match computed {
            None => self.int_const(fixed.into(), ptrdiff, span),
            Some(offset) => {
                let offset = self.hidden_value(offset, span);
                self.convert(offset, ptrdiff)
            }
        };
        let sum = self.push(TExprKind::PtrAdd { ptr, index, stride: 1, sub: false }, chars, span);
        let to = self.types().ptr_to(ty);
        let typed = self.push(TExprKind::Convert(sum), to, span);
        self.push(TExprKind::Deref(typed), ty, span)
    }
}
