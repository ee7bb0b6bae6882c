//! `struct`, `union` and `enum` specifiers.

use palisade_base::Span;
use palisade_c_syntax::Symbol;
use palisade_c_syntax::ast::{self, Member, RecordKind};
use palisade_cfa::DataModel;
use rustc_hash::FxHashSet;

use super::Checker;
use crate::layout::{FieldDecl, RecordAttrs};
use crate::scope::{Binding, Tag};
use crate::types::*;

impl<'a> Checker<'a> {
    /// The type of a `struct` or `union` specifier. `alone` says that the declaration consists of
    /// it only (`struct s;`), which declares a new type in this scope.
    pub(super) fn record_spec(&mut self, id: ast::RecordId, alone: bool) -> CTypeId {
        let unit = self.unit;
        let spec = &unit.records[id];
        let union = spec.kind == RecordKind::Union;
        let record = self.record_tag(spec, union, spec.members.is_some() || alone);
        let Some(record) = record else { return TypeTable::ERROR };
        if let Some(members) = &spec.members {
            if self.prog.types.records[record].complete {
                let name = self.record_name(record);
                self.error(spec.span, format!("'{name}' is defined twice"));
                return self.types().intern(CType::Record(record));
            }
            if self.enter(spec.span) {
                self.define_record(record, spec, members);
                self.leave();
            }
        }
        self.types().intern(CType::Record(record))
    }

    fn record_name(&mut self, record: RecordTyId) -> String {
        let ty = self.types().intern(CType::Record(record));
        self.type_name(ty)
    }

    /// Finds or makes the entry of a tag.
    fn record_tag(&mut self, spec: &ast::RecordSpec, union: bool, here: bool) -> Option<RecordTyId> {
        let Some(tag) = spec.tag else { return Some(self.new_record(None, union, spec.span)) };
        let found =
            if here { self.scopes.lookup_tag_here(tag.name) } else { self.scopes.lookup_tag(tag.name) };
        match found {
            Some(Tag::Record(id)) if self.prog.types.records[id].union == union => Some(id),
            Some(_) => {
                self.error(tag.span, format!("'{}' is another kind of tag", self.name(tag.name)));
                None
            }
            None => {
                let id = self.new_record(Some(tag.name), union, tag.span);
                self.scopes.bind_tag(tag.name, Tag::Record(id), tag.span);
                Some(id)
            }
        }
    }

    fn new_record(&mut self, tag: Option<Symbol>, union: bool, span: Span) -> RecordTyId {
        self.prog.types.records.push(RecordType {
            form: Form::Plain,
            tag,
            union,
            complete: false,
            fields: Vec::new(),
            size: 0,
            align: 1,
            user_align: false,
            flexible: false,
            transparent: false,
            const_member: false,
            variable: None,
            span,
        })
    }

    fn define_record(&mut self, record: RecordTyId, spec: &'a ast::RecordSpec, members: &'a [Member]) {
        let union = spec.kind == RecordKind::Union;
        let attrs = self.attrs(&[&spec.attrs]);
        let mut decls: Vec<(FieldDecl, Span)> = Vec::with_capacity(members.len());
        for member in members {
            match member {
                Member::Field { specs, declarators, span } => {
                    self.members(specs, declarators, *span, &mut decls);
                }
                Member::StaticAssert(assert) => self.static_assert(assert),
            }
        }
        self.check_duplicate_members(&decls);
        let flexible = self.check_incomplete_members(&mut decls, union);
        let const_member = decls.iter().any(|(d, _)| self.has_const(d.ty));
        let record_attrs = RecordAttrs { packed: attrs.packed, align: attrs.align, pack: spec.pack, union };
        let only: Vec<FieldDecl> = decls.iter().map(|(d, _)| d.clone()).collect();
        let Some(layout) = self.prog.types.layout_record(&only, record_attrs) else {
            self.error(spec.span, "the record is too large");
            return;
        };
        decls.retain(|(d, _)| d.width.is_none() || d.name.is_some());
        let offsets: Vec<u64> = layout.fields.iter().map(|f| f.offset).collect();
        let variable = self.variable_layout(&decls, &offsets, layout.align, record_attrs, spec.span);
        let entry = &mut self.prog.types.records[record];
        entry.complete = true;
        entry.fields = layout.fields;
        entry.size = layout.size;
        entry.align = layout.align;
        entry.user_align = layout.user_align;
        entry.flexible = flexible;
        entry.transparent = attrs.transparent_union;
        entry.const_member = const_member;
        entry.variable = variable;
        entry.span = spec.span;
    }

    /// Whether an object of this type must not be assigned to as a whole.
    pub(super) fn has_const(&self, ty: QType) -> bool {
        let mut ty = ty;
        loop {
            if ty.quals.is_const() {
                return true;
            }
            match self.prog.types.get(ty.ty) {
                CType::Array(elem, _) => ty = elem,
                CType::Record(id) => return self.prog.types.records[id].const_member,
                _ => return false,
            }
        }
    }

    fn members(
        &mut self,
        specs: &'a ast::DeclSpecs,
        declarators: &'a [ast::FieldDeclarator],
        span: Span,
        out: &mut Vec<(FieldDecl, Span)>,
    ) {
        let (base, base_align) = self.specifiers(specs, false);
        if declarators.is_empty() {
            // An anonymous struct or union; anything else declares no member.
            if self.prog.types.is_record(base.ty) && !self.is_compound(base.ty) {
                let named =
                    matches!(specs.ty, ast::TypeSpec::Record(r) if self.unit.records[r].tag.is_some());
                if !named {
                    let attrs = self.decl_attrs(specs, &[]);
                    out.push((
                        FieldDecl {
                            name: None,
                            ty: base,
                            type_align: base_align,
                            width: None,
                            align: attrs.align,
                            packed: attrs.packed,
                        },
                        span,
                    ));
                    return;
                }
            }
            if base.ty != TypeTable::ERROR {
                self.warn(span, "declaration does not declare anything");
            }
            return;
        }
        for declarator in declarators {
            let d = &declarator.declarator;
            let attrs = self.decl_attrs(specs, &[&d.attrs, &declarator.attrs]);
            let (ty, type_align) = self.declarator_type(base, base_align, d);
            let mut ty = self.apply_mode(ty, &attrs);
            let name_span = d.name.map_or(declarator.span, |n| n.span);
            if let CType::Func(_) = self.prog.types.get(ty.ty) {
                self.error(name_span, "a member cannot be a function");
                ty = TypeTable::ERROR.into();
            }
            let width = declarator.width.and_then(|w| self.bit_width(w, ty.ty, d.name));
            if declarator.width.is_some() && width.is_none() {
                continue;
            }
            out.push((
                FieldDecl {
                    name: d.name.map(|n| n.name),
                    ty,
                    type_align,
                    width,
                    align: attrs.align,
                    packed: attrs.packed,
                },
                name_span,
            ));
        }
    }

    fn bit_width(&mut self, width: ast::ExprId, ty: CTypeId, name: Option<ast::Ident>) -> Option<u16> {
        let span = self.unit.exprs[width].span;
        let int = self.prog.types.int_ty(ty);
        let Some(int) = int else {
            if ty != TypeTable::ERROR {
                self.error(span, format!("a bit-field cannot have type '{}'", self.type_name(ty)));
            }
            return None;
        };
        let Some(value) = self.const_signed_expr(width) else {
            self.error(span, "the width of a bit-field must be an integer constant");
            return None;
        };
        if value < 0 || value > i128::from(int.bits) {
            self.error(span, format!("width {value} does not fit the type '{}'", self.type_name(ty)));
            return None;
        }
        if value == 0 && name.is_some() {
            self.error(span, "a bit-field of width 0 cannot have a name");
            return None;
        }
        Some(value as u16)
    }

    fn check_duplicate_members(&mut self, decls: &[(FieldDecl, Span)]) {
        let mut duplicates = Vec::new();
        let anonymous = |d: &FieldDecl| d.name.is_none() && d.width.is_none();
        if decls.len() <= 8 && !decls.iter().any(|(d, _)| anonymous(d)) {
            // Most records: no table needed.
            for (i, (d, span)) in decls.iter().enumerate() {
                if d.name.is_some() && decls[..i].iter().any(|(e, _)| e.name == d.name) {
                    duplicates.extend(d.name.map(|n| (n, *span)));
                }
            }
        } else {
            let mut seen = FxHashSet::default();
            for (d, span) in decls {
                self.note_names(d.name, d.ty.ty, *span, &mut seen, &mut duplicates);
            }
        }
        for (name, span) in duplicates {
            self.error(span, format!("duplicate member '{}'", self.name(name)));
        }
    }

    /// Collects the name of a member, or those inside an anonymous member. Anonymous records nest
    /// as deep as their definitions do in the source.
    fn note_names(
        &self,
        name: Option<Symbol>,
        ty: CTypeId,
        span: Span,
        seen: &mut FxHashSet<Symbol>,
        duplicates: &mut Vec<(Symbol, Span)>,
    ) {
        match name {
            Some(name) if !seen.insert(name) => duplicates.push((name, span)),
            Some(_) => {}
            None => {
                for field in self.prog.types.record_of(ty).map_or(&[][..], |r| &r.fields) {
                    self.note_names(field.name, field.ty.ty, span, seen, duplicates);
                }
            }
        }
    }

    /// Reports members of incomplete type, except for a flexible array at the end of a struct;
    /// returns whether there is one.
    fn check_incomplete_members(&mut self, decls: &mut [(FieldDecl, Span)], union: bool) -> bool {
        let count = decls.len();
        let mut flexible = false;
        for (i, (decl, span)) in decls.iter_mut().enumerate() {
            let ty = decl.ty.ty;
            if ty == TypeTable::ERROR {
                continue;
            }
            if let CType::Array(elem, ArrayLen::Unknown) = self.prog.types.get(ty)
                && self.prog.types.is_complete(elem.ty)
            {
                if i + 1 == count || union {
                    flexible = true;
                    continue;
                }
                self.error(*span, "a flexible array must be the last member");
                decl.ty = TypeTable::ERROR.into();
                continue;
            }
            if !self.prog.types.is_complete(ty) {
                self.error(*span, format!("a member has incomplete type '{}'", self.type_name(ty)));
                decl.ty = TypeTable::ERROR.into();
                continue;
            }
            if i + 1 == count || union {
                flexible |= self.prog.types.record_of(ty).is_some_and(|r| r.flexible);
            }
        }
        flexible
    }

    /// The type of an `enum` specifier.
    pub(super) fn enum_spec(&mut self, id: ast::EnumId, alone: bool) -> CTypeId {
        let unit = self.unit;
        let spec = &unit.enums[id];
        let here = spec.enumerators.is_some() || alone;
        let entry = match spec.tag {
            None => self.new_enum(None, spec.span),
            Some(tag) => {
                let found = if here {
                    self.scopes.lookup_tag_here(tag.name)
                } else {
                    self.scopes.lookup_tag(tag.name)
                };
                match found {
                    Some(Tag::Enum(id)) => id,
                    Some(Tag::Record(_)) => {
                        self.error(tag.span, format!("'{}' is another kind of tag", self.name(tag.name)));
                        return TypeTable::ERROR;
                    }
                    None => {
                        let id = self.new_enum(Some(tag.name), tag.span);
                        self.scopes.bind_tag(tag.name, Tag::Enum(id), tag.span);
                        id
                    }
                }
            }
        };
        let ty = self.types().intern(CType::Enum(entry));
        let fixed = spec.underlying.and_then(|name| self.underlying_kind(name));
        if let Some(kind) = fixed {
            // Complete from here on (C23 6.7.3.3).
            self.prog.types.enums[entry].underlying = kind;
        }
        if let Some(enumerators) = &spec.enumerators {
            if self.prog.types.enums[entry].complete && !self.forward_enums.remove(&entry) {
                self.error(spec.span, format!("'{}' is defined twice", self.type_name(ty)));
            } else {
                self.define_enum(entry, spec, enumerators, fixed);
            }
        } else if fixed.is_some() {
            self.prog.types.enums[entry].complete = true;
            self.forward_enums.insert(entry);
        }
        ty
    }

    /// The integer type that represents an enumeration because it says so.
    fn underlying_kind(&mut self, name: ast::TypeNameId) -> Option<IntKind> {
        let span = self.unit.type_names[name].span;
        let ty = self.type_of_name(name).ty;
        match self.prog.types.get(ty) {
            CType::Int(kind) => return Some(kind),
            CType::Error => {}
            _ => {
                self.error(span, format!("an enumeration cannot be represented by '{}'", self.type_name(ty)))
            }
        }
        None
    }

    fn new_enum(&mut self, tag: Option<Symbol>, span: Span) -> EnumTyId {
        self.prog.types.enums.push(EnumType {
            tag,
            complete: false,
            underlying: IntKind::UInt,
            enumerators: Vec::new(),
            span,
        })
    }

    /// Enumeration constants have type `int` if they fit, otherwise that of the enumeration, as
    /// in gcc; until the closing brace, the type their own value needs.
    fn define_enum(
        &mut self,
        entry: EnumTyId,
        spec: &'a ast::EnumSpec,
        enumerators: &'a [ast::Enumerator],
        fixed: Option<IntKind>,
    ) {
        let attrs = self.attrs(&[&spec.attrs]);
        let mut next: i128 = 0;
        let (mut min, mut max) = (0i128, 0i128);
        let mut values = Vec::with_capacity(enumerators.len());
        for e in enumerators {
            if let Some(value) = e.value {
                match self.const_signed_expr(value) {
                    Some(v) => next = v,
                    None => {
                        let span = self.unit.exprs[value].span;
                        self.error(span, "the value of an enumerator must be an integer constant");
                    }
                }
            }
            if next < i128::from(i64::MIN) || next > i128::from(u64::MAX) {
                self.error(e.name.span, "the value of an enumerator does not fit any integer type");
                next = 0;
            }
            (min, max) = (min.min(next), max.max(next));
            let ty = if let Some(kind) = fixed {
                TypeTable::int_id(kind)
            } else if i32::try_from(next).is_ok() {
                TypeTable::INT
            } else {
                TypeTable::int_id(narrowest_kind(next, next, 32, self.prog.types.dm))
            };
            if let Some((_, at)) = self.scopes.lookup_here(e.name.name)
                && at != e.name.span
            {
                self.error(e.name.span, format!("'{}' is declared twice", self.name(e.name.name)));
            }
            self.scopes.bind(e.name.name, Binding::EnumConst(ty, next as u128), e.name.span);
            values.push((e.name, next));
            next += 1;
        }
        let dm = self.prog.types.dm;
        let underlying = match attrs.mode {
            _ if fixed.is_some() => fixed.unwrap_or(IntKind::Int),
            Some((super::attr::Mode::Int(bits), _)) => sized_kind(bits, min < 0, dm),
            _ => narrowest_kind(min, max, if attrs.packed { 8 } else { 32 }, dm),
        };
        let wide = TypeTable::int_id(underlying);
        for &(name, value) in &values {
            let small = fixed.is_none() && i32::try_from(value).is_ok();
            let ty = if small { TypeTable::INT } else { wide };
            if fixed.is_some() && !holds(self.prog.types.int_ty(wide), value) {
                self.error(name.span, "the value of an enumerator does not fit the type of the enumeration");
            }
            let bits = self.prog.types.int_ty(ty).map_or(0, |t| t.truncate(value as u128));
            self.scopes.bind(name.name, Binding::EnumConst(ty, bits), name.span);
        }
        let e = &mut self.prog.types.enums[entry];
        e.complete = true;
        e.underlying = underlying;
        e.enumerators = values.into_iter().map(|(name, value)| (name.name, value)).collect();
        e.span = spec.span;
    }
}

/// The narrowest integer type of at least `from` bits that holds both values; unsigned if it can.
fn narrowest_kind(min: i128, max: i128, from: u16, dm: DataModel) -> IntKind {
    for bits in [8u16, 16, 32] {
        let (lo, hi) = if min < 0 {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        if bits >= from && min >= lo && max <= hi {
            return sized_kind(bits, min < 0, dm);
        }
    }
    sized_kind(64, min < 0, dm)
}

fn sized_kind(bits: u16, signed: bool, dm: DataModel) -> IntKind {
    let kind = match (bits, dm) {
        (8, _) => IntKind::SChar,
        (16, _) => IntKind::Short,
        (32, _) => IntKind::Int,
        (_, DataModel::Lp64) => IntKind::Long,
        (_, DataModel::Ilp32) => IntKind::LongLong,
    };
    if signed { kind } else { kind.to_unsigned() }
}

/// Whether a type has this value.
fn holds(int: Option<palisade_cfa::IntTy>, value: i128) -> bool {
    int.is_some_and(|t| t.decode(t.truncate(value as u128)) == value)
}
