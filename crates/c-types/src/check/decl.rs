//! Specifiers and declarators: from their syntax to types.

use palisade_base::Span;
use palisade_c_syntax::ast::{self, ArraySize, BasicType, DeclSpecs, Declarator, Derived, Params, TypeSpec};
use palisade_cfa::{DataModel, IntTy};

use super::Checker;
use crate::layout::MAX_OBJECT;
use crate::scope::Binding;
use crate::tast::*;
use crate::types::*;

/// A type with the alignment that a typedef on the way to it demands.
pub(crate) type AlignedType = (QType, Option<u64>);

/// A parameter of a function declarator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamInfo {
    pub name: Option<ast::Ident>,
    /// Adjusted type.
    pub ty: QType,
    pub span: Span,
}

impl<'a> Checker<'a> {
    /// The type that specifiers name, with their qualifiers. `alone`: no declarator follows.
    pub(super) fn specifiers(&mut self, specs: &'a DeclSpecs, alone: bool) -> AlignedType {
        let (mut ty, align) = self.type_spec(specs, alone);
        ty.quals = ty.quals.union(quals(specs.quals));
        if specs.constexpr {
            ty.quals = ty.quals.union(Quals::CONST);
        }
        if let CType::Array(elem, len) = self.prog.types.get(ty.ty)
            && ty.quals != Quals::NONE
        {
            ty = self.types().intern(CType::Array(elem.with(ty.quals), len)).into();
        }
        (ty, align)
    }

    fn type_spec(&mut self, specs: &'a DeclSpecs, alone: bool) -> AlignedType {
        let span = specs.ty_span;
        let ty: QType = match specs.ty {
            TypeSpec::Basic(basic) => self.basic_type(basic, span).into(),
            TypeSpec::BitInt { width, unsigned } => self.bit_int(width, unsigned).into(),
            TypeSpec::Complex(basic) => {
                let part = self.basic_type(basic, span);
                match part {
                    TypeTable::ERROR => part.into(),
                    _ => self.types().of_form(Form::Complex(part)).into(),
                }
            }
            TypeSpec::Typedef(name) => {
                return match self.scopes.lookup(name) {
                    Some(Binding::Typedef(ty, align)) => (ty, align),
                    Some(Binding::Error) => (TypeTable::ERROR.into(), None),
                    _ => {
                        self.error(span, format!("unknown type name '{}'", self.name(name)));
                        (TypeTable::ERROR.into(), None)
                    }
                };
            }
            TypeSpec::VaList => {
                let names = self.known.va_list;
                self.types().va_list(names).into()
            }
            TypeSpec::Record(id) => self.record_spec(id, alone && specs.storage.is_none()).into(),
            TypeSpec::Enum(id) => self.enum_spec(id, false).into(),
            TypeSpec::TypeofExpr { expr, unqual } => {
                let e = self.unevaluated(expr);
                let mut ty = self.qty(e);
                if self.prog.bit_range(e).is_some() {
                    self.error(span, "typeof of a bit-field");
                    ty = TypeTable::ERROR.into();
                }
                if unqual {
                    ty.quals = Quals::NONE;
                }
                ty
            }
            TypeSpec::TypeofType { ty, unqual } => {
                let (mut ty, align) = self.type_name_aligned(ty);
                if unqual {
                    ty.quals = Quals::NONE;
                }
                return (ty, align);
            }
            TypeSpec::Atomic(ty) => self.type_of_name(ty).with(Quals::ATOMIC),
            TypeSpec::AutoType => {
                self.error(span, "__auto_type needs an initialiser");
                TypeTable::ERROR.into()
            }
            TypeSpec::ImplicitInt => TypeTable::INT.into(),
            TypeSpec::Error => TypeTable::ERROR.into(),
        };
        (ty, None)
    }

    /// `_BitInt(width)` (C23 6.7.3.1).
    fn bit_int(&mut self, width: ast::ExprId, unsigned: bool) -> CTypeId {
        let span = self.unit.exprs[width].span;
        let least = if unsigned { 1 } else { 2 };
        match self.const_signed_expr(width) {
            Some(bits) if (least..=128).contains(&bits) => {
                let int = IntTy { bits: bits as u16, signed: !unsigned };
                self.types().intern(CType::BitInt(int))
            }
            Some(bits) if bits > 128 => {
                self.unsupported(span, "a _BitInt of more than 128 bits (use an array of words)");
                TypeTable::ERROR
            }
            Some(_) => {
                self.error(span, format!("a _BitInt has at least {least} bits"));
                TypeTable::ERROR
            }
            None => {
                self.error(span, "the width of _BitInt must be an integer constant");
                TypeTable::ERROR
            }
        }
    }

    pub(super) fn basic_type(&mut self, basic: BasicType, span: Span) -> CTypeId {
        use BasicType as B;
        let int = TypeTable::int_id;
        match basic {
            B::Void => TypeTable::VOID,
            B::Bool => TypeTable::BOOL,
            B::Char => TypeTable::CHAR,
            B::SChar => int(IntKind::SChar),
            B::UChar => int(IntKind::UChar),
            B::Short => int(IntKind::Short),
            B::UShort => int(IntKind::UShort),
            B::Int => TypeTable::INT,
            B::UInt => TypeTable::UINT,
            B::Long => int(IntKind::Long),
            B::ULong => int(IntKind::ULong),
            B::LongLong => int(IntKind::LongLong),
            B::ULongLong => int(IntKind::ULongLong),
            B::Int128 | B::UInt128 if self.prog.types.dm == DataModel::Ilp32 => {
                self.unsupported(span, "a 128-bit integer in a 32-bit data model");
                TypeTable::ERROR
            }
            B::Int128 => int(IntKind::Int128),
            B::UInt128 => int(IntKind::UInt128),
            B::Float | B::Float32 => TypeTable::FLOAT,
            B::Double | B::Float64 | B::Float32x => TypeTable::DOUBLE,
            B::LongDouble | B::Float64x | B::Float80 => TypeTable::LONG_DOUBLE,
            B::Float128 => self.types().of_form(Form::Soft(SoftFloat::Quad)),
            B::Float16 => self.types().of_form(Form::Soft(SoftFloat::Half)),
            B::BFloat16 => self.types().of_form(Form::Soft(SoftFloat::Brain)),
            B::Decimal32 => self.types().of_form(Form::Soft(SoftFloat::Decimal32)),
            B::Decimal64 => self.types().of_form(Form::Soft(SoftFloat::Decimal64)),
            B::Decimal128 => self.types().of_form(Form::Soft(SoftFloat::Decimal128)),
        }
    }

    /// The type of a type name.
    pub(super) fn type_of_name(&mut self, id: ast::TypeNameId) -> QType {
        self.type_name_aligned(id).0
    }

    pub(super) fn type_name_aligned(&mut self, id: ast::TypeNameId) -> AlignedType {
        let unit = self.unit;
        let name = &unit.type_names[id];
        if !self.enter(name.span) {
            return (TypeTable::ERROR.into(), None);
        }
        let (base, align) = self.specifiers(&name.specs, false);
        let attrs = self.decl_attrs(&name.specs, &[&name.declarator.attrs]);
        let (ty, align) = self.declarator_type(base, align, &name.declarator);
        self.leave();
        (self.apply_mode(ty, &attrs), align)
    }

    /// Wraps the declarator around the specified type.
    pub(super) fn declarator_type(
        &mut self,
        base: QType,
        align: Option<u64>,
        declarator: &'a Declarator,
    ) -> AlignedType {
        self.derived_type(base, align, &declarator.derived)
    }

    /// Applies the steps of a declarator, the last one first. An alignment from a typedef reaches
    /// through arrays but not through pointers and functions.
    pub(super) fn derived_type(
        &mut self,
        base: QType,
        align: Option<u64>,
        derived: &'a [Derived],
    ) -> AlignedType {
        let mut ty = base;
        let mut align = align;
        for derived in derived.iter().rev() {
            match derived {
                Derived::Pointer { quals: q, .. } => {
                    ty = QType { ty: self.types().ptr_to(ty), quals: quals(*q) };
                    align = None;
                }
                Derived::Array { size, span, .. } => ty = self.array_of(ty, *size, *span).into(),
                Derived::Function(f) => {
                    if !self.enter(f.span) {
                        return (TypeTable::ERROR.into(), None);
                    }
                    self.scopes.push();
                    self.prototypes += 1;
                    let (params, variadic, prototype) = self.parameters(&f.params, None);
                    self.prototypes -= 1;
                    self.scopes.pop();
                    self.leave();
                    ty = self.function_of(ty, &params, variadic, prototype, f.span).into();
                    align = None;
                }
            }
        }
        (ty, align)
    }

    /// The function type with a return type and parameters.
    pub(super) fn function_of(
        &mut self,
        ret: QType,
        params: &[ParamInfo],
        variadic: bool,
        prototype: bool,
        span: Span,
    ) -> CTypeId {
        let mut ret = ret.ty;
        match self.prog.types.get(ret) {
            CType::Func(_) => {
                self.error(span, "a function cannot return a function");
                ret = TypeTable::ERROR;
            }
            CType::Array(..) => {
                self.error(span, "a function cannot return an array");
                ret = TypeTable::ERROR;
            }
            _ => {}
        }
        let params = params.iter().map(|p| p.ty.ty).collect();
        self.types().func(Sig { ret, params, variadic, prototype })
    }

    /// Wraps an array around an element type.
    fn array_of(&mut self, elem: QType, size: ArraySize, span: Span) -> CTypeId {
        match self.prog.types.get(elem.ty) {
            CType::Error => return TypeTable::ERROR,
            CType::Void => {
                self.error(span, "an array of void");
                return TypeTable::ERROR;
            }
            CType::Func(_) => {
                self.error(span, "an array of functions");
                return TypeTable::ERROR;
            }
            CType::Array(_, ArrayLen::Unknown) => {
                self.error(span, "an array of arrays of unknown size");
                return TypeTable::ERROR;
            }
            _ => {}
        }
        let len = match size {
            ArraySize::Unspecified => ArrayLen::Unknown,
            ArraySize::Star => ArrayLen::Star,
            ArraySize::Expr(e) => match self.array_length(e) {
                Some(len) => len,
                None => return TypeTable::ERROR,
            },
        };
        if let ArrayLen::Known(n) = len {
            let elem_size = self.prog.types.size_of(elem.ty).unwrap_or(0);
            if elem_size.checked_mul(n).is_none_or(|s| s > MAX_OBJECT / 8) {
                self.error(span, "the array is too large");
                return TypeTable::ERROR;
            }
        }
        self.types().intern(CType::Array(elem, len))
    }

    fn array_length(&mut self, expr: ast::ExprId) -> Option<ArrayLen> {
        let e = self.rvalue(expr);
        let span = self.span(e);
        let ty = self.ty(e);
        if ty == TypeTable::ERROR {
            return None;
        }
        let Some(int) = self.prog.types.int_ty(ty) else {
            self.error(span, format!("the size of an array has type '{}'", self.type_name(ty)));
            return None;
        };
        if let Some(value) = self.fold_int(e) {
            if int.signed && int.decode(value) < 0 {
                self.error(span, "the size of an array is negative");
                return None;
            }
            return Some(match u64::try_from(value) {
                Ok(n) => ArrayLen::Known(n),
                Err(_) => ArrayLen::Known(u64::MAX),
            });
        }
        if self.prototypes > 0 {
            return Some(ArrayLen::Star);
        }
        let size_t = self.prog.types.size_t();
        let value = self.convert(e, size_t);
        let len = self.hidden_size(value, span)?;
        Some(ArrayLen::Vla(self.prog.types.vlas.push(Vla { len, expr: value })))
    }

    /// Whether some array on the way has a length that is computed at run time.
    pub(super) fn is_variably_modified(&self, ty: CTypeId) -> bool {
        let mut ty = ty;
        loop {
            match self.prog.types.get(ty) {
                CType::Array(_, ArrayLen::Vla(_)) => return true,
                CType::Array(elem, _) => ty = elem.ty,
                CType::Ptr(to) => ty = to.ty,
                CType::Record(id) => return self.prog.types.records[id].variable.is_some(),
                _ => return false,
            }
        }
    }

    /// The parameters of a function declarator. In a definition (`owner`) they become
    /// objects of the function and stay visible in the current scope.
    pub(super) fn parameters(
        &mut self,
        params: &'a Params,
        owner: Option<FnId>,
    ) -> (Vec<ParamInfo>, bool, bool) {
        match params {
            Params::Unspecified => (Vec::new(), false, false),
            Params::Identifiers(_) => (Vec::new(), false, false),
            Params::Prototype { params, variadic } => {
                let mut out = Vec::with_capacity(params.len());
                for param in params {
                    let info = self.parameter(param, owner.is_some());
                    match (owner, info.name) {
                        (None, None) => {}
                        (None, Some(name)) => {
                            self.scopes.bind(name.name, Binding::ProtoParam(info.ty), name.span);
                        }
                        (Some(func), _) => {
                            self.param_object(func, info);
                        }
                    }
                    out.push(info);
                }
                (out, *variadic, true)
            }
        }
    }

    fn parameter(&mut self, param: &'a ast::Param, definition: bool) -> ParamInfo {
        let (base, align) = self.specifiers(&param.specs, false);
        let name = param.declarator.name;
        let span = name.map_or(param.span, |n| n.span);
        let has_mode = !param.specs.attrs.is_empty() || !param.attrs.is_empty();
        let ty = match param.declarator.derived.split_first() {
            // The outermost array is a pointer; its size only matters if evaluating it has effects.
            Some((Derived::Array { quals: q, size, .. }, rest)) => {
                if definition && let ArraySize::Expr(e) = *size {
                    let value = self.rvalue(e);
                    if self.has_effects(value)
                        && let Some(func) = &mut self.func
                    {
                        func.pending.push(value);
                    }
                }
                let elem = self.derived_type(base, align, rest).0;
                QType { ty: self.types().ptr_to(elem), quals: quals(*q) }
            }
            _ => self.declarator_type(base, align, &param.declarator).0,
        };
        let ty = if has_mode {
            let attrs = self.decl_attrs(&param.specs, &[&param.declarator.attrs, &param.attrs]);
            self.apply_mode(ty, &attrs)
        } else {
            ty
        };
        let mut ty = self.adjust_parameter(ty);
        if ty.ty == TypeTable::VOID {
            self.error(span, "a parameter has type 'void'");
            ty = TypeTable::ERROR.into();
        }
        if definition && ty.ty != TypeTable::ERROR && !self.prog.types.is_complete(ty.ty) {
            self.error(span, format!("a parameter has incomplete type '{}'", self.type_name(ty)));
            ty = TypeTable::ERROR.into();
        }
        ParamInfo { name, ty, span }
    }

    /// Arrays and functions as parameters are pointers (C11 6.7.6.3).
    pub(super) fn adjust_parameter(&mut self, ty: QType) -> QType {
        match self.prog.types.get(ty.ty) {
            CType::Array(elem, _) => self.types().ptr_to(elem).into(),
            CType::Func(_) => self.types().ptr_to(ty).into(),
            _ => ty,
        }
    }

    /// Makes the object of a parameter and binds its name.
    pub(super) fn param_object(&mut self, func: FnId, info: ParamInfo) -> ObjId {
        let align = self.prog.types.preferred_align(info.ty.ty);
        let obj = self.prog.objects.push(Object {
            name: info.name.map(|n| n.name),
            scope: Span::new(info.span.lo, self.scope_end()),
            ..Object::unnamed(info.ty, ObjKind::Param(func), align, info.span)
        });
        if let Some(name) = info.name {
            if self.scopes.lookup_here(name.name).is_some() {
                self.error(name.span, format!("parameter '{}' is declared twice", self.name(name.name)));
            }
            self.scopes.bind(name.name, Binding::Object(obj), name.span);
        }
        if let Some(func) = &mut self.func {
            func.params.push(obj);
        }
        obj
    }
}

/// Qualifiers from their syntax.
pub(crate) fn quals(q: ast::Quals) -> Quals {
    let mut out = Quals::NONE;
    for (set, flag) in [
        (q.is_const, Quals::CONST),
        (q.is_volatile, Quals::VOLATILE),
        (q.is_restrict, Quals::RESTRICT),
        (q.is_atomic, Quals::ATOMIC),
    ] {
        if set {
            out = out.union(flag);
        }
    }
    out
}
