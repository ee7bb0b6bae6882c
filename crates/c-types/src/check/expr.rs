//! Expressions: dispatch, members, subscripts, `sizeof` and the other type operators.

use palisade_base::Span;
use palisade_c_syntax::Symbol;
use palisade_c_syntax::ast::{self, Designator, ExprKind};
use palisade_cfa::IntTy;
use smallvec::SmallVec;

use super::Checker;
use crate::tast::*;
use crate::types::*;

/// Numbers of members on the way through anonymous members.
pub(crate) type FieldPath = SmallVec<[u32; 4]>;

impl<'a> Checker<'a> {
    /// Checks an expression; the result is an lvalue, a function or a value.
    pub(super) fn expr(&mut self, id: ast::ExprId) -> TExprId {
        let span = self.unit.exprs[id].span;
        if !self.enter(span) {
            return self.error_expr(span);
        }
        let e = self.expr_inner(id);
        self.leave();
        e
    }

    fn expr_inner(&mut self, id: ast::ExprId) -> TExprId {
        let unit = self.unit;
        let ast::Expr { ref kind, span } = unit.exprs[id];
        match *kind {
            ExprKind::Error => self.error_expr(span),
            ExprKind::Int(lit) => self.int_literal(lit, span),
            ExprKind::Float(lit) => self.float_literal(lit, span),
            ExprKind::Char(lit) => self.char_literal(lit, span),
            ExprKind::Bool(value) => self.int_const(value.into(), TypeTable::BOOL, span),
            ExprKind::Nullptr => {
                let ptr = self.prog.types.void_ptr();
                self.push(TExprKind::Int(0), ptr, span)
            }
            ExprKind::Str(id) => self.string_literal(id, span),
            ExprKind::Name(name) => self.name_expr(name, span),
            ExprKind::Unary { op, operand } => self.unary(op, operand, span),
            ExprKind::Binary { .. } | ExprKind::Comma { .. } => self.binary_spine(id),
            ExprKind::Assign { op, lhs, rhs, .. } => self.assign(op, lhs, rhs, span),
            ExprKind::Conditional { cond, then, otherwise, .. } => {
                self.conditional(cond, then, otherwise, span)
            }
            ExprKind::Call { callee, args, rparen } => self.call(callee, unit.expr_list(args), rparen, span),
            ExprKind::Index { base, index } => self.subscript(base, index, span),
            ExprKind::Member { base, field, arrow, field_pos } => {
                let at = Span::new(field_pos, span.hi);
                self.member(base, field, arrow, at, span)
            }
            ExprKind::Cast { ty, operand } => {
                let mark = self.pending_mark();
                let e = self.cast(ty, operand, span);
                self.with_pending(mark, e)
            }
            ExprKind::CompoundLiteral { ty, init } => self.compound_literal(ty, init, span),
            ExprKind::SizeofExpr(operand) => self.sizeof_expr(operand, span),
            ExprKind::SizeofType(ty) => self.sizeof_type(ty, span),
            ExprKind::AlignofExpr { operand, preferred } => self.alignof_expr(operand, preferred, span),
            ExprKind::AlignofType { ty, preferred } => self.alignof_type(ty, preferred, span),
            ExprKind::Generic(ref generic) => self.generic(generic, span),
            ExprKind::StmtExpr(stmt) => self.stmt_expr(stmt, span),
            ExprKind::LabelAddr(label) => self.label_addr(label, span),
            ExprKind::VaArg { list, ty } => self.va_arg(list, ty, span),
            ExprKind::ConvertVector { operand, ty } => {
                let to = self.type_of_name(ty).ty;
                let e = self.rvalue(operand);
                self.convert_vector(e, to, span)
            }
            ExprKind::Offsetof { ty, ref path } => self.offsetof(ty, path, span),
            ExprKind::TypesCompatible(a, b) => {
                let (a, b) = (self.type_of_name(a), self.type_of_name(b));
                let same = self.types_compatible_p(a, b);
                self.int_const(same.into(), TypeTable::INT, span)
            }
            ExprKind::ChooseExpr { cond, then, otherwise } => match self.const_int_expr(cond) {
                Some(0) => self.expr(otherwise),
                Some(_) => self.expr(then),
                None => {
                    self.error(span, "the first operand of __builtin_choose_expr must be constant");
                    self.error_expr(span)
                }
            },
        }
    }

    /// `__builtin_types_compatible_p`: qualifiers on top do not count, enumerations differ.
    fn types_compatible_p(&self, a: QType, b: QType) -> bool {
        let is_enum = |t: CTypeId| matches!(self.prog.types.get(t), CType::Enum(_));
        if is_enum(a.ty) || is_enum(b.ty) {
            return a.ty == b.ty || self.compatible_unqualified(a.ty, b.ty);
        }
        match (self.prog.types.get(a.ty), self.prog.types.get(b.ty)) {
            (CType::Array(x, n), CType::Array(y, m)) => {
                let lengths = !matches!((n, m), (ArrayLen::Known(n), ArrayLen::Known(m)) if n != m);
                lengths && self.compatible_unqualified(x.ty, y.ty)
            }
            _ => self.compatible_unqualified(a.ty, b.ty),
        }
    }

    /// How many lengths of variable length array types wait to be assigned.
    pub(super) fn pending_mark(&self) -> usize {
        self.func.as_ref().map_or(0, |f| f.pending.len())
    }

    /// Puts the assignments that came up since the mark before the expression.
    pub(super) fn with_pending(&mut self, mark: usize, e: TExprId) -> TExprId {
        let Some(func) = &mut self.func else { return e };
        if func.pending.len() <= mark {
            return e;
        }
        let pending = func.pending.split_off(mark);
        let mut out = e;
        for assign in pending.into_iter().rev() {
            let TExpr { ty, span, .. } = self.prog.exprs[out];
            out = self.push(TExprKind::Comma { lhs: assign, rhs: out }, ty, span);
        }
        out
    }

    // Members.

    /// Finds a member by name, looking into anonymous members.
    pub(super) fn find_field(&self, ty: CTypeId, name: Symbol) -> Option<FieldPath> {
        let record = self.prog.types.record_of(ty)?;
        if let Some(i) = record.fields.iter().position(|f| f.name == Some(name)) {
            return Some(SmallVec::from_slice(&[i as u32]));
        }
        for (i, field) in record.fields.iter().enumerate() {
            if field.name.is_none()
                && let Some(rest) = self.find_field(field.ty.ty, name)
            {
                let mut path: FieldPath = SmallVec::from_slice(&[i as u32]);
                path.extend(rest);
                return Some(path);
            }
        }
        None
    }

    fn member(&mut self, base: ast::ExprId, name: Symbol, arrow: bool, at: Span, span: Span) -> TExprId {
        let mut e = self.expr(base);
        if arrow {
            e = self.value_of(e);
            if self.is_error(e) {
                return e;
            }
            let base_span = self.span(e);
            e = match self.prog.types.pointee(self.ty(e)) {
                Some(_) => self.deref(e, base_span),
                None => {
                    self.error(at, format!("'{}' is not a pointer", self.type_name(self.ty(e))));
                    return self.error_expr(span);
                }
            };
        }
        if self.is_error(e) {
            return e;
        }
        let ty = self.qty(e);
        if !self.prog.types.is_record(ty.ty) {
            let hint = if !arrow && self.prog.types.pointee(ty.ty).is_some() { "; use '->'" } else { "" };
            self.error(at, format!("'{}' is not a struct or union{hint}", self.type_name(ty)));
            return self.error_expr(span);
        }
        match self.find_field(ty.ty, name) {
            Some(path) => self.member_path(e, &path, span),
            None => {
                let message = if self.prog.types.is_complete(ty.ty) {
                    format!("'{}' has no member '{}'", self.type_name(ty), self.name(name))
                } else {
                    format!("a member of incomplete type '{}'", self.type_name(ty))
                };
                self.error(at, message);
                self.error_expr(span)
            }
        }
    }

    /// The member at the end of a path of fields.
    pub(super) fn member_path(&mut self, base: TExprId, path: &[u32], span: Span) -> TExprId {
        let mut e = base;
        for &field in path {
            let ty = self.qty(e);
            let Some(record) = self.prog.types.record_of(ty.ty) else { return self.error_expr(span) };
            let Some(f) = record.fields.get(field as usize) else { return self.error_expr(span) };
            let (field_ty, bits) = (f.ty, f.bits);
            let offset = self.variable_offset(record, field);
            let quals = if self.prog.is_lvalue(e) { ty.quals } else { Quals::NONE };
            let member_ty = match bits {
                Some(bits) => {
                    let declared = self.prog.types.int_ty(field_ty.ty);
                    let ty = match declared {
                        Some(int) if int.bits != bits.width => {
                            let narrow = IntTy { bits: bits.width, signed: int.signed };
                            self.types().intern(CType::BitField(narrow))
                        }
                        _ => field_ty.ty,
                    };
                    QType { ty, quals: field_ty.quals.union(quals) }
                }
                None => self.qualified(field_ty, quals),
            };
            e = match offset {
                Some(offset) => self.member_at(e, offset, member_ty, span),
                None => self.push(TExprKind::Member { base: e, field }, member_ty, span),
            };
        }
        e
    }

    /// Adds qualifiers; those of an array go to its elements.
    pub(super) fn qualified(&mut self, ty: QType, quals: Quals) -> QType {
        if quals == Quals::NONE {
            return ty;
        }
        match self.prog.types.get(ty.ty) {
            CType::Array(elem, len) => {
                let elem = self.qualified(elem, quals);
                self.types().intern(CType::Array(elem, len)).into()
            }
            _ => ty.with(quals),
        }
    }

    fn subscript(&mut self, base: ast::ExprId, index: ast::ExprId, span: Span) -> TExprId {
        let (a, b) = (self.expr(base), self.expr(index));
        if self.is_error(a) || self.is_error(b) {
            return self.error_expr(span);
        }
        for (vector, index) in [(a, b), (b, a)] {
            if matches!(self.prog.types.form(self.ty(vector)), Form::Vector(..)) {
                return self.vector_element(vector, index, span);
            }
        }
        let indexable =
            |c: &Self, e: TExprId| matches!(c.prog.types.get(c.ty(e)), CType::Array(..) | CType::Ptr(_));
        let (array, index) = if indexable(self, a) { (a, b) } else { (b, a) };
        let index = self.value_of(index);
        if self.is_error(index) {
            return index;
        }
        if !indexable(self, array) || !self.prog.types.is_integer(self.ty(index)) {
            self.error(span, "a subscript needs an array or pointer and an integer");
            return self.error_expr(span);
        }
        if let CType::Array(elem, _) = self.prog.types.get(self.ty(array))
            && self.prog.types.size_of(elem.ty).is_some()
        {
            let index = self.promote(index);
            return self.push(TExprKind::Index { base: array, index }, elem, span);
        }
        let ptr = self.value_of(array);
        let sum = self.ptr_add(ptr, index, false, span);
        self.deref(sum, span)
    }

    // sizeof and friends.

    fn sizeof_expr(&mut self, operand: ast::ExprId, span: Span) -> TExprId {
        let e = self.unevaluated(operand);
        if self.is_error(e) {
            return e;
        }
        if self.prog.bit_range(e).is_some() {
            self.error(span, "sizeof of a bit-field");
            return self.error_expr(span);
        }
        self.sizeof(self.ty(e), span)
    }

    fn sizeof_type(&mut self, ty: ast::TypeNameId, span: Span) -> TExprId {
        let mark = self.pending_mark();
        let ty = self.type_of_name(ty).ty;
        let e = self.sizeof(ty, span);
        self.with_pending(mark, e)
    }

    fn sizeof(&mut self, ty: CTypeId, span: Span) -> TExprId {
        let size_t = self.prog.types.size_t();
        let types = &self.prog.types;
        match types.get(ty) {
            CType::Error => return self.error_expr(span),
            CType::Void | CType::Func(_) => return self.int_const(1, size_t, span),
            _ => {}
        }
        if let Some(size) = types.size_of(ty) {
            return self.int_const(size.into(), size_t, span);
        }
        if types.is_complete(ty) && types.is_variably_sized(ty) {
            return self.size_expr(ty, span);
        }
        self.error(span, format!("sizeof of incomplete type '{}'", self.type_name(ty)));
        self.error_expr(span)
    }

    fn alignof_expr(&mut self, operand: ast::ExprId, preferred: bool, span: Span) -> TExprId {
        let e = self.unevaluated(operand);
        if self.is_error(e) {
            return e;
        }
        let align = match self.prog.exprs[e].kind {
            TExprKind::Object(obj) => self.prog.objects[obj].align,
            _ if preferred => self.prog.types.preferred_align(self.ty(e)),
            _ => self.prog.types.align_of(self.ty(e)),
        };
        let size_t = self.prog.types.size_t();
        self.int_const(align.into(), size_t, span)
    }

    fn alignof_type(&mut self, ty: ast::TypeNameId, preferred: bool, span: Span) -> TExprId {
        let (ty, align) = self.type_name_aligned(ty);
        if ty.ty == TypeTable::ERROR {
            return self.error_expr(span);
        }
        let types = &self.prog.types;
        let align = align
            .unwrap_or_else(|| if preferred { types.preferred_align(ty.ty) } else { types.align_of(ty.ty) });
        let size_t = self.prog.types.size_t();
        self.int_const(align.into(), size_t, span)
    }

    fn offsetof(&mut self, ty: ast::TypeNameId, path: &'a [Designator], span: Span) -> TExprId {
        let size_t = self.prog.types.size_t();
        let mut ty = self.type_of_name(ty).ty;
        let mut offset: u64 = 0;
        let mut dynamic: Option<TExprId> = None;
        let add = |this: &mut Self, sum: &mut Option<TExprId>, more: TExprId| {
            *sum = Some(match *sum {
                None => more,
                Some(sum) => this.arith_node(ArithOp::Add, size_t, sum, more, span),
            });
        };
        for step in path {
            if ty == TypeTable::ERROR {
                return self.error_expr(span);
            }
            match *step {
                Designator::Field(field) => {
                    let Some(fields) = self.find_field(ty, field.name) else {
                        let (ty, name) = (self.type_name(ty), self.name(field.name));
                        self.error(field.span, format!("'{ty}' has no member '{name}'"));
                        return self.error_expr(span);
                    };
                    for i in fields {
                        let Some(record) = self.prog.types.record_of(ty) else {
                            return self.error_expr(span);
                        };
                        let Some(f) = record.fields.get(i as usize) else { return self.error_expr(span) };
                        if f.bits.is_some() {
                            self.error(field.span, "offsetof of a bit-field");
                            return self.error_expr(span);
                        }
                        let member = f.ty.ty;
                        match self.variable_offset(record, i) {
                            Some((_, Some(computed))) => {
                                let computed = self.hidden_value(computed, span);
                                add(self, &mut dynamic, computed);
                            }
                            _ => offset = offset.saturating_add(f.offset),
                        }
                        ty = member;
                    }
                }
                Designator::Index(index) | Designator::Range(index, _) => {
                    let CType::Array(elem, _) = self.prog.types.get(ty) else {
                        self.error(span, "offsetof with a subscript of what is no array");
                        return self.error_expr(span);
                    };
                    let e = self.rvalue(index);
                    let e = self.assign_convert(e, size_t, "subscript");
                    let size = self.size_of_any(elem.ty, span);
                    let product = self.arith_node(ArithOp::Mul, size_t, e, size, span);
                    add(self, &mut dynamic, product);
                    ty = elem.ty;
                }
            }
        }
        let fixed = self.int_const(offset.into(), size_t, span);
        match dynamic {
            None => fixed,
            Some(sum) => self.arith_node(ArithOp::Add, size_t, fixed, sum, span),
        }
    }

    fn generic(&mut self, generic: &'a ast::Generic, span: Span) -> TExprId {
        let control = self.unevaluated(generic.control);
        let control = self.value_of(control);
        if self.is_error(control) {
            return control;
        }
        let ty: QType = self.ty(control).into();
        let mut chosen = None;
        for assoc in &generic.assocs {
            if let Some(name) = assoc.ty {
                let candidate = self.type_of_name(name);
                if self.compatible(candidate, ty) {
                    chosen = Some(assoc.expr);
                    break;
                }
            }
        }
        let default = generic.assocs.iter().find(|a| a.ty.is_none()).map(|a| a.expr);
        match chosen.or(default) {
            Some(expr) => self.expr(expr),
            None => {
                self.error(span, format!("no association of _Generic fits '{}'", self.type_name(ty)));
                self.error_expr(span)
            }
        }
    }
}
