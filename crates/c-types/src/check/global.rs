//! Functions and objects with linkage: declarations, tentative definitions, definitions, and what
//! they mean across files.

use palisade_base::Span;
use palisade_c_syntax::ast::{self, DeclSpecs, Derived, Params, StmtKind, Storage, TypeSpec};
use rustc_hash::FxHashMap;

use super::attr::Attrs;
use super::decl::{AlignedType, ParamInfo};
use super::{Checker, Entity, FuncCtx};
use crate::scope::Binding;
use crate::tast::*;
use crate::types::*;

impl<'a> Checker<'a> {
    pub(super) fn global_declaration(&mut self, decl: &'a ast::Declaration) {
        let specs = &decl.specs;
        if decl.declarators.is_empty() {
            self.specifiers(specs, true);
            return;
        }
        let base = self.base_type(specs);
        for d in &decl.declarators {
            let Some(name) = d.declarator.name else { continue };
            let (ty, align, attrs) = self.declared_type(specs, base, d);
            if specs.storage == Some(Storage::Typedef) {
                self.declare_typedef(name, ty, align, &attrs);
            } else if let CType::Func(_) = self.prog.types.get(ty.ty) {
                self.declare_function(name, ty.ty, specs.storage, &attrs);
                if d.init.is_some() {
                    self.error(d.span, "a function cannot be initialised");
                }
            } else {
                let info =
                    LinkedObject { ty, align, storage: specs.storage, thread_local: specs.thread_local };
                let Some(obj) = self.declare_linked_object(name, info, &attrs) else { continue };
                match d.init {
                    Some(init) => {
                        self.define_object(obj, init, name);
                        if specs.constexpr {
                            self.note_constexpr(obj, None, name.span);
                        }
                    }
                    None if specs.storage != Some(Storage::Extern) => self.tentative_definition(obj, name),
                    None => {}
                }
            }
        }
    }

    /// The specified type of a declaration; `__auto_type` waits for the initialiser.
    pub(super) fn base_type(&mut self, specs: &'a DeclSpecs) -> AlignedType {
        match specs.ty {
            TypeSpec::AutoType => (TypeTable::ERROR.into(), None),
            _ => self.specifiers(specs, false),
        }
    }

    /// The type of a declared name with its attributes.
    pub(super) fn declared_type(
        &mut self,
        specs: &'a DeclSpecs,
        base: AlignedType,
        d: &'a ast::InitDeclarator,
    ) -> (QType, Option<u64>, Attrs) {
        if specs.ty == TypeSpec::AutoType {
            return self.auto_type(specs, d);
        }
        let (ty, align) = self.derived_type(base.0, base.1, &d.declarator.derived);
        if specs.attrs.is_empty()
            && specs.alignas.is_empty()
            && d.attrs.is_empty()
            && d.declarator.attrs.is_empty()
        {
            return (ty, align, Attrs { noreturn: specs.noreturn, ..Attrs::default() });
        }
        let attrs = self.decl_attrs(specs, &[&d.declarator.attrs, &d.attrs]);
        (self.apply_mode(ty, &attrs), align, attrs)
    }

    fn auto_type(&mut self, specs: &'a DeclSpecs, d: &'a ast::InitDeclarator) -> (QType, Option<u64>, Attrs) {
        let attrs = self.decl_attrs(specs, &[&d.declarator.attrs, &d.attrs]);
        let ty = match d.init {
            Some(ast::Init::Expr(e)) if d.declarator.derived.is_empty() => {
                let value = self.unevaluated(e);
                let value = self.value_of(value);
                self.ty(value)
            }
            _ => {
                self.error(d.span, "__auto_type needs a plain name and an initialiser");
                TypeTable::ERROR
            }
        };
        let mut quals = super::decl::quals(specs.quals);
        if specs.constexpr {
            quals = quals.union(Quals::CONST);
        }
        (QType { ty, quals }, None, attrs)
    }

    pub(super) fn declare_typedef(&mut self, name: ast::Ident, ty: QType, align: Option<u64>, attrs: &Attrs) {
        if attrs.transparent_union
            && let CType::Record(id) = self.prog.types.get(ty.ty)
        {
            self.prog.types.records[id].transparent = true;
        }
        match self.scopes.lookup_here(name.name) {
            Some((Binding::Typedef(old, _), _)) => {
                if !self.compatible(old, ty) && !self.is_variably_modified(ty.ty) {
                    self.error(name.span, format!("'{}' is another type already", self.name(name.name)));
                }
            }
            Some((Binding::Error, _)) | None => {}
            Some(_) => {
                self.error(name.span, format!("'{}' is declared as something else", self.name(name.name)));
            }
        }
        self.scopes.bind(name.name, Binding::Typedef(ty, attrs.align.or(align)), name.span);
    }

    /// Declares a function; `None` if the name means something else.
    pub(super) fn declare_function(
        &mut self,
        name: ast::Ident,
        ty: CTypeId,
        storage: Option<Storage>,
        attrs: &Attrs,
    ) -> Option<FnId> {
        let bound = match self.scopes.lookup(name.name) {
            Some(Binding::Func(f)) => Some(f),
            Some(Binding::Error) | None => None,
            Some(_) if self.scopes.lookup_here(name.name).is_none() => None,
            Some(_) => {
                self.error(name.span, format!("'{}' is declared as something else", self.name(name.name)));
                return None;
            }
        };
        let found = match bound {
            Some(f) => Some(f),
            None if storage == Some(Storage::Static) => None,
            None => match self.externals.get(&name.name) {
                Some(&Entity::Func(f)) => Some(f),
                Some(Entity::Object(_)) => {
                    self.error(name.span, format!("'{}' is an object in another file", self.name(name.name)));
                    return None;
                }
                None => None,
            },
        };
        let f = match found {
            Some(f) => {
                self.merge_function_type(f, ty, bound.is_some(), name);
                f
            }
            None => {
                let linkage =
                    if storage == Some(Storage::Static) { Linkage::Internal } else { Linkage::External };
                self.new_function(name.name, ty, linkage, name.span)
            }
        };
        let func = &mut self.prog.funcs[f];
        func.noreturn |= attrs.noreturn;
        func.weak |= attrs.weak;
        func.constructor = attrs.constructor.or(func.constructor);
        func.destructor = attrs.destructor.or(func.destructor);
        if let Some((target, span)) = attrs.alias {
            self.aliases.push((f, target, span));
        }
        self.scopes.bind(name.name, Binding::Func(f), name.span);
        Some(f)
    }

    /// `strict`: both declarations are in this file, so they must agree.
    fn merge_function_type(&mut self, f: FnId, ty: CTypeId, strict: bool, name: ast::Ident) {
        let old = self.prog.funcs[f].ty;
        if old == ty {
            return;
        }
        if old == TypeTable::ERROR || self.compatible_unqualified(old, ty) {
            self.prog.funcs[f].ty = self.composite(old, ty);
            return;
        }
        if strict {
            self.error(
                name.span,
                format!(
                    "'{}' is '{}' here but was '{}'",
                    self.name(name.name),
                    self.type_name(ty),
                    self.type_name(old)
                ),
            );
        } else if self.prog.funcs[f].body.is_none() {
            // Declared without a prototype, or differently in another file: the latest counts.
            self.prog.funcs[f].ty = ty;
        }
    }

    /// Declares an object with linkage; `None` if the name means something else.
    pub(super) fn declare_linked_object(
        &mut self,
        name: ast::Ident,
        info: LinkedObject,
        attrs: &Attrs,
    ) -> Option<ObjId> {
        let mut info = info;
        if info.ty.ty == TypeTable::VOID {
            // gcc lets a name of the linker be declared so, to take its address.
            self.warn(name.span, "a variable of type 'void' is taken for one byte");
            info.ty.ty = TypeTable::CHAR;
        }
        let has_linkage = |c: &Self, o: ObjId| c.prog.objects[o].linkage != Linkage::None;
        let bound = match self.scopes.lookup(name.name) {
            Some(Binding::Object(o)) if has_linkage(self, o) => Some(o),
            Some(Binding::Error) | None => None,
            Some(_) if self.scopes.lookup_here(name.name).is_none() => None,
            Some(_) => {
                self.error(name.span, format!("'{}' is declared as something else", self.name(name.name)));
                return None;
            }
        };
        let found = match (bound, info.storage) {
            (Some(o), _) => Some(o),
            (None, Some(Storage::Static)) => None,
            (None, _) => match self.externals.get(&name.name) {
                Some(&Entity::Object(o)) => Some(o),
                Some(Entity::Func(_)) => {
                    self.error(
                        name.span,
                        format!("'{}' is a function in another file", self.name(name.name)),
                    );
                    return None;
                }
                None => None,
            },
        };
        let align = attrs.align.max(info.align);
        let obj = match found {
            Some(o) => {
                self.merge_object_type(o, info.ty, bound.is_some(), name);
                let natural = align.unwrap_or_else(|| self.prog.types.preferred_align(info.ty.ty));
                let object = &mut self.prog.objects[o];
                object.align = object.align.max(natural);
                o
            }
            None => {
                let linkage = match info.storage {
                    Some(Storage::Static) => Linkage::Internal,
                    _ => Linkage::External,
                };
                let align = align.unwrap_or_else(|| self.prog.types.preferred_align(info.ty.ty));
                let obj = self.prog.objects.push(Object {
                    name: Some(name.name),
                    linkage,
                    thread_local: info.thread_local,
                    scope: Span::new(name.span.lo, self.unit_span.hi.max(name.span.hi)),
                    ..Object::unnamed(info.ty, ObjKind::Global, align, name.span)
                });
                if linkage == Linkage::External {
                    self.externals.insert(name.name, Entity::Object(obj));
                }
                obj
            }
        };
        if attrs.alias.is_some() {
            self.aliased_objects.insert(obj);
        }
        self.scopes.bind(name.name, Binding::Object(obj), name.span);
        Some(obj)
    }

    fn merge_object_type(&mut self, obj: ObjId, ty: QType, strict: bool, name: ast::Ident) {
        let old = self.prog.objects[obj].ty;
        if old == ty {
            return;
        }
        if self.compatible_unqualified(old.ty, ty.ty) {
            let composite = self.composite(old.ty, ty.ty);
            self.prog.objects[obj].ty.ty = composite;
        } else if strict {
            self.error(
                name.span,
                format!(
                    "'{}' is '{}' here but was '{}'",
                    self.name(name.name),
                    self.type_name(ty),
                    self.type_name(old)
                ),
            );
        } else if !self.prog.types.is_complete(old.ty) {
            self.prog.objects[obj].ty = ty;
        }
    }

    /// A definition with an initialiser.
    pub(super) fn define_object(&mut self, obj: ObjId, init: ast::Init, name: ast::Ident) {
        if !self.defined.insert(obj) {
            self.error(name.span, format!("'{}' is initialised twice", self.name(name.name)));
            return;
        }
        self.prog.objects[obj].span = name.span;
        self.static_init(obj, init);
    }

    fn tentative_definition(&mut self, obj: ObjId, name: ast::Ident) {
        let object = &mut self.prog.objects[obj];
        if object.image.is_none() {
            object.image = Some(Image::default());
            object.span = name.span;
        }
        let ty = object.ty.ty;
        if !self.prog.types.is_complete(ty) {
            self.tentative.push(obj);
        }
    }

    /// At the end of a file: an array of unknown size gets one element, other incomplete types
    /// are errors (C11 6.9.2).
    pub(super) fn finish_tentative(&mut self) {
        for obj in std::mem::take(&mut self.tentative) {
            let QType { ty, quals } = self.prog.objects[obj].ty;
            if self.prog.types.is_complete(ty) || ty == TypeTable::ERROR {
                continue;
            }
            let span = self.prog.objects[obj].span;
            match self.prog.types.get(ty) {
                CType::Array(elem, ArrayLen::Unknown) if self.prog.types.is_complete(elem.ty) => {
                    let one = self.types().intern(CType::Array(elem, ArrayLen::Known(1)));
                    self.prog.objects[obj].ty = QType { ty: one, quals };
                }
                _ => {
                    self.error(span, format!("a variable has incomplete type '{}'", self.type_name(ty)));
                }
            }
        }
    }

    pub(super) fn resolve_aliases(&mut self) {
        for (f, target, span) in std::mem::take(&mut self.aliases) {
            let found = self.prog.funcs.iter_enumerated().find(|(_, func)| func.name == target);
            match found.map(|(id, _)| id) {
                Some(id) if id != f => self.prog.funcs[f].alias = Some(id),
                _ => self.warn(span, "the target of an alias is not defined"),
            }
        }
    }

    // Function definitions.

    pub(super) fn function_definition(&mut self, def: &'a ast::FunctionDef) {
        let Some(name) = def.declarator.name else { return };
        let attrs = self.decl_attrs(&def.specs, &[&def.declarator.attrs, &def.attrs]);
        let declared_here = self.scopes.lookup(name.name).is_some();
        // The name is visible in its own parameters and body; its type is merged later.
        let Some(f) = self.declare_function(name, TypeTable::ERROR, def.specs.storage, &attrs) else {
            return;
        };
        self.define_function(def, f, declared_here);
        self.finish_nest();
    }

    /// The definition of a function that is declared already; `declared_here`: in this file.
    pub(super) fn define_function(&mut self, def: &'a ast::FunctionDef, f: FnId, declared_here: bool) {
        let Some(name) = def.declarator.name else { return };
        let Some((Derived::Function(params), rest)) = def.declarator.derived.split_first() else {
            self.error(name.span, "a function definition needs parameters in parentheses");
            return;
        };
        let specs = &def.specs;
        let base = self.base_type(specs);
        let (ret, _) = self.derived_type(base.0, base.1, rest);
        let attrs = self.decl_attrs(specs, &[&def.declarator.attrs, &def.attrs]);
        let body_end = self.unit.stmts[def.body].span.hi;
        self.func = Some(FuncCtx {
            id: f,
            ret: ret.ty,
            variadic: false,
            params: Vec::new(),
            labels: vec![FxHashMap::default()],
            addressed_labels: Vec::new(),
            switches: Vec::new(),
            loops: 0,
            breakable: 0,
            blocks: vec![(Vec::new(), body_end)],
            func_name: None,
            passes_pack: false,
            pending: Vec::new(),
            left_out: def.left_out,
        });
        self.scopes.push();
        let (infos, variadic, prototype) = match &params.params {
            Params::Identifiers(names) => (self.knr_parameters(f, names, &def.knr_decls), false, false),
            other => self.parameters(other, Some(f)),
        };
        let ty = self.function_of(ret, &infos, variadic, prototype, params.span);
        if ret.ty != TypeTable::VOID && ret.ty != TypeTable::ERROR && !self.prog.types.is_complete(ret.ty) {
            self.error(name.span, format!("the function returns incomplete type '{}'", self.type_name(ret)));
        }
        self.merge_function_type(f, ty, declared_here, name);
        if self.prog.funcs[f].ty == TypeTable::ERROR {
            self.prog.funcs[f].ty = ty;
        }
        if let Some(func) = &mut self.func {
            func.variadic = variadic;
        }
        let mut prologue = self.take_pending_stmts();
        let contract = self.contract(&def.contract);
        for &saved in &contract.saved {
            let span = self.span(saved);
            prologue.push(self.prog.stmts.push(TStmt { kind: TStmtKind::Expr(saved), span }));
        }
        let body = match self.unit.stmts[def.body].kind {
            StmtKind::Block(list) => self.function_body(list, self.unit.stmts[def.body].span),
            _ => self.prog.stmts.push(TStmt { kind: TStmtKind::Empty, span: def.span }),
        };
        self.scopes.pop();
        self.check_labels();
        let Some(ctx) = self.func.take() else { return };
        if ctx.passes_pack {
            if !specs.inline {
                self.error(name.span, "__builtin_va_arg_pack in a function that is not inline");
            }
            return;
        }
        let replaceable = specs.inline || attrs.gnu_inline || attrs.weak;
        if self.prog.funcs[f].body.is_some() && !self.replaceable.contains(&f) {
            if !replaceable {
                self.error(name.span, format!("'{}' is defined twice", self.name(name.name)));
            }
            return;
        }
        if replaceable {
            self.replaceable.insert(f);
        } else {
            self.replaceable.remove(&f);
        }
        let func = &mut self.prog.funcs[f];
        func.span = name.span;
        func.body = Some(FuncBody {
            params: ctx.params,
            prologue,
            body,
            addressed_labels: ctx.addressed_labels,
            requires: contract.requires,
            ensures: contract.ensures,
            result: contract.result,
            assigns: contract.assigns,
            left_out: ctx.left_out,
            span: def.span,
        });
    }

    /// The parameters of a K&R definition: names in order, types from the declarations after them
    /// (`int` if there is none).
    fn knr_parameters(&mut self, f: FnId, names: &[ast::Ident], decls: &'a [ast::DeclId]) -> Vec<ParamInfo> {
        let unit = self.unit;
        let mut declared: Vec<(ast::Ident, QType)> = Vec::new();
        for &decl in decls {
            let decl = &unit.decls[decl];
            let base = self.base_type(&decl.specs);
            for d in &decl.declarators {
                let Some(name) = d.declarator.name else { continue };
                let (ty, _, _) = self.declared_type(&decl.specs, base, d);
                let ty = self.adjust_parameter(ty);
                if !names.iter().any(|n| n.name == name.name) {
                    self.error(name.span, format!("'{}' is not a parameter", self.name(name.name)));
                }
                declared.push((name, ty));
            }
        }
        let mut infos = Vec::with_capacity(names.len());
        for &name in names {
            let found = declared.iter().find(|(n, _)| n.name == name.name);
            let (name, ty) = found.copied().unwrap_or((name, TypeTable::INT.into()));
            let info = ParamInfo { name: Some(name), ty, span: name.span };
            self.param_object(f, info);
            infos.push(info);
        }
        infos
    }
}

/// What a declaration says about an object with linkage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkedObject {
    pub ty: QType,
    pub align: Option<u64>,
    pub storage: Option<Storage>,
    pub thread_local: bool,
}
