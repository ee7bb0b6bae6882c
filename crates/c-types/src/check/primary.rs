//! Constants, string literals, names, labels and compound literals.

use palisade_base::Span;
use palisade_c_syntax::Symbol;
use palisade_c_syntax::ast::{self, CharLit, Encoding, FloatLit, FloatSuffix, IntBase, IntLit};
use palisade_c_syntax::ast::{StringLit, StringUnits};
use palisade_cfa::{DataModel, FloatTy, IntTy};
use std::sync::Arc;

use super::builtin::BuiltinFn;
use super::{Checker, LabelState};
use crate::scope::Binding;
use crate::soft;
use crate::tast::*;
use crate::types::*;

impl<'a> Checker<'a> {
    /// The type of an integer constant is the first of a list that can hold it (C11 6.4.4.1).
    pub(super) fn int_literal(&mut self, lit: IntLit, span: Span) -> TExprId {
        use IntKind::*;
        if lit.bit_precise {
            let width = (u64::BITS - lit.value.leading_zeros()) as u16;
            let least = if lit.unsigned { width.max(1) } else { (width + 1).max(2) };
            let ty = self.types().intern(CType::BitInt(IntTy { bits: least, signed: !lit.unsigned }));
            return self.int_const(lit.value.into(), ty, span);
        }
        let candidates: &[IntKind] = match (lit.base == IntBase::Decimal, lit.unsigned, lit.longs) {
            (true, false, 0) => &[Int, Long, LongLong],
            (true, false, 1) => &[Long, LongLong],
            (true, false, _) => &[LongLong],
            (false, false, 0) => &[Int, UInt, Long, ULong, LongLong, ULongLong],
            (false, false, 1) => &[Long, ULong, LongLong, ULongLong],
            (false, false, _) => &[LongLong, ULongLong],
            (_, true, 0) => &[UInt, ULong, ULongLong],
            (_, true, 1) => &[ULong, ULongLong],
            (_, true, _) => &[ULongLong],
        };
        let dm = self.prog.types.dm;
        let value = u128::from(lit.value);
        let kind = candidates.iter().copied().find(|k| value <= k.int_ty(dm).max_bits());
        // Only decimal constants above the largest signed type are left; gcc takes a wider type.
        let kind = kind.unwrap_or(match dm {
            DataModel::Lp64 => Int128,
            DataModel::Ilp32 => ULongLong,
        });
        let e = self.int_const(value, TypeTable::int_id(kind), span);
        if lit.imaginary { self.imaginary(e, span) } else { e }
    }

    pub(super) fn float_literal(&mut self, lit: FloatLit, span: Span) -> TExprId {
        let ty = match lit.suffix {
            FloatSuffix::None => TypeTable::DOUBLE,
            FloatSuffix::F => TypeTable::FLOAT,
            FloatSuffix::L => TypeTable::LONG_DOUBLE,
            FloatSuffix::Type(basic) => self.basic_type(basic, span),
        };
        if let Form::Soft(float) = self.prog.types.form(ty) {
            return self.soft_literal(self.name(lit.text), float, lit.imaginary, span);
        }
        let bits = self.prog.types.float_ty(ty).and_then(|format| parse_float(format, self.name(lit.text)));
        let Some(bits) = bits else {
            self.error(span, "malformed floating constant");
            return self.error_expr(span);
        };
        let e = self.push(TExprKind::Float(bits), ty, span);
        if lit.imaginary { self.imaginary(e, span) } else { e }
    }

    pub(super) fn char_literal(&mut self, lit: CharLit, span: Span) -> TExprId {
        let ty = match lit.encoding {
            Encoding::Narrow => TypeTable::INT,
            Encoding::Utf8 => TypeTable::int_id(IntKind::UChar),
            _ => self.char_type(lit.encoding),
        };
        self.int_const(lit.value as i128 as u128, ty, span)
    }

    /// The element type of a string literal.
    fn char_type(&self, encoding: Encoding) -> CTypeId {
        match encoding {
            Encoding::Narrow => TypeTable::CHAR,
            Encoding::Utf8 => TypeTable::CHAR,
            Encoding::Wide => self.prog.types.wchar_t(),
            Encoding::Utf16 => TypeTable::int_id(IntKind::UShort),
            Encoding::Utf32 => TypeTable::UINT,
        }
    }

    /// The bytes of a string literal with its terminating zero, and its element type.
    pub(super) fn string_bytes(&self, lit: &StringLit) -> (Vec<u8>, CTypeId) {
        let elem = self.char_type(lit.encoding);
        let size = self.prog.types.size_of(elem).unwrap_or(1) as usize;
        let mut bytes = match &lit.units {
            StringUnits::Bytes(b) => b.to_vec(),
            StringUnits::Wide(w) => w.iter().flat_map(|c| c.to_le_bytes()[..size.min(4)].to_vec()).collect(),
        };
        bytes.extend(std::iter::repeat_n(0, size));
        (bytes, elem)
    }

    pub(super) fn string_literal(&mut self, id: ast::StrId, span: Span) -> TExprId {
        let unit = self.unit;
        let (bytes, elem) = self.string_bytes(&unit.strings[id]);
        let obj = self.string_object(bytes, elem.into(), span);
        let ty = self.prog.objects[obj].ty;
        self.push(TExprKind::Object(obj), ty, span)
    }

    /// A read-only object with these bytes.
    pub(super) fn string_object(&mut self, bytes: Vec<u8>, elem: QType, span: Span) -> ObjId {
        let size = self.prog.types.size_of(elem.ty).unwrap_or(1).max(1);
        let len = ArrayLen::Known(bytes.len() as u64 / size);
        let ty = self.types().intern(CType::Array(elem, len));
        let items = if bytes.iter().all(|&b| b == 0) {
            Vec::new()
        } else {
            vec![ImageItem { offset: 0, value: ConstValue::Bytes(Arc::from(bytes)) }]
        };
        self.prog.objects.push(Object {
            image: Some(Image { items }),
            read_only: true,
            ..Object::unnamed(ty.into(), ObjKind::String, size, span)
        })
    }

    pub(super) fn name_expr(&mut self, name: Symbol, span: Span) -> TExprId {
        match self.scopes.lookup(name) {
            Some(Binding::Object(obj)) => {
                if !self.aliased_objects.is_empty() && self.aliased_objects.contains(&obj) {
                    self.unsupported(span, "the use of a variable with attribute alias");
                }
                let ty = self.prog.objects[obj].ty;
                self.push(TExprKind::Object(obj), ty, span)
            }
            Some(Binding::Func(f)) => {
                let ty = self.prog.funcs[f].ty;
                self.push(TExprKind::Func(f), ty, span)
            }
            Some(Binding::EnumConst(ty, bits)) => self.int_const(bits, ty, span),
            // It has a type but no value; its user is in a prototype, where nothing is evaluated.
            Some(Binding::ProtoParam(ty)) => self.push(TExprKind::Error, ty.ty, span),
            Some(Binding::Typedef(..)) => {
                self.error(span, format!("'{}' is a type, not a value", self.name(name)));
                self.error_expr(span)
            }
            Some(Binding::Error) => self.error_expr(span),
            None => self.unbound_name(name, span),
        }
    }

    fn unbound_name(&mut self, name: Symbol, span: Span) -> TExprId {
        if self.known.func_names.contains(&name) {
            let obj = self.func_name_object(span);
            let ty = self.prog.objects[obj].ty;
            return self.push(TExprKind::Object(obj), ty, span);
        }
        if let Some(BuiltinFn::Library(library)) = self.known.builtins.get(&name).copied() {
            let f = self.library_function(library, span);
            let ty = self.prog.funcs[f].ty;
            return self.push(TExprKind::Func(f), ty, span);
        }
        self.error(span, format!("'{}' is not declared", self.name(name)));
        if !self.scopes.at_file_scope() {
            // Said once in this scope.
            self.scopes.bind(name, Binding::Error, span);
        }
        self.error_expr(span)
    }

    fn func_name_object(&mut self, span: Span) -> ObjId {
        if let Some(obj) = self.func.as_ref().and_then(|f| f.func_name) {
            return obj;
        }
        let text = match &self.func {
            Some(f) => self.names.name(self.prog.funcs[f.id].name),
            None => "",
        };
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        let elem = QType { ty: TypeTable::CHAR, quals: Quals::CONST };
        let obj = self.string_object(bytes, elem, span);
        if let Some(f) = &mut self.func {
            f.func_name = Some(obj);
        }
        obj
    }

    // Labels.

    /// The label of a name in the current function, made up if it was not seen before.
    pub(super) fn label(&mut self, name: Symbol, span: Span) -> Option<LabelId> {
        let func = self.func.as_mut()?;
        for map in func.labels.iter().rev() {
            if let Some(state) = map.get(&name) {
                return Some(state.id);
            }
        }
        let id = self.prog.labels.push(Label { name: Some(name), func: func.id, span });
        func.labels.first_mut()?.insert(name, LabelState { id, defined: false, span });
        Some(id)
    }

    pub(super) fn label_addr(&mut self, label: ast::Ident, span: Span) -> TExprId {
        let Some(id) = self.label(label.name, label.span) else {
            self.error(span, "the address of a label outside a function");
            return self.error_expr(span);
        };
        if let Some(func) = &mut self.func
            && !func.addressed_labels.contains(&id)
        {
            func.addressed_labels.push(id);
        }
        let ptr = self.prog.types.void_ptr();
        self.push(TExprKind::LabelAddr(id), ptr, span)
    }

    // Compound literals.

    pub(super) fn compound_literal(
        &mut self,
        ty: ast::TypeNameId,
        init: ast::InitListId,
        span: Span,
    ) -> TExprId {
        let storage = self.unit.type_names[ty].specs.storage;
        let (ty, align) = self.type_name_aligned(ty);
        match self.prog.types.get(ty.ty) {
            CType::Error => return self.error_expr(span),
            CType::Void | CType::Func(_) => {
                self.error(span, format!("a compound literal of type '{}'", self.type_name(ty)));
                return self.error_expr(span);
            }
            _ => {}
        }
        if self.prog.types.is_variably_sized(ty.ty) {
            self.error(span, "a compound literal of variable size");
            return self.error_expr(span);
        }
        let kind = match &self.func {
            Some(_) if storage == Some(ast::Storage::Static) => ObjKind::StaticLiteral,
            Some(f) => ObjKind::CompoundLiteral(f.id),
            None => ObjKind::StaticLiteral,
        };
        let align = align.unwrap_or_else(|| self.prog.types.preferred_align(ty.ty));
        let obj = self.prog.objects.push(Object::unnamed(ty, kind, align, span));
        let init = ast::Init::List(init);
        match kind {
            ObjKind::StaticLiteral => {
                self.static_init(obj, init);
                let ty = self.prog.objects[obj].ty;
                self.push(TExprKind::Object(obj), ty, span)
            }
            _ => {
                if let Some(block) = self.func.as_mut().and_then(|f| f.blocks.last_mut()) {
                    block.0.push(obj);
                }
                let plan = self.auto_init(obj, init);
                let ty = self.prog.objects[obj].ty;
                if ty.ty == TypeTable::ERROR {
                    return self.error_expr(span);
                }
                self.push(TExprKind::CompoundLiteral { obj, init: plan }, ty, span)
            }
        }
    }
}

/// The bits of a floating constant. The common case takes the standard library's conversion,
/// which rounds correctly too.
fn parse_float(format: FloatTy, text: &str) -> Option<u128> {
    let plain =
        text.len() < 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    match format {
        FloatTy::F64 if plain => text.parse::<f64>().ok().map(|v| v.to_bits().into()),
        FloatTy::F32 if plain => text.parse::<f32>().ok().map(|v| v.to_bits().into()),
        _ => soft::parse(format, text),
    }
}
