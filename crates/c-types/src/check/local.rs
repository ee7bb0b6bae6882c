//! Declarations in blocks.

use palisade_base::Span;
use palisade_c_syntax::ast::{self, Storage};

use super::Checker;
use super::attr::Attrs;
use super::global::LinkedObject;
use crate::scope::Binding;
use crate::tast::*;
use crate::types::*;

impl<'a> Checker<'a> {
    /// A declaration among statements; what has to be executed is appended to `out`.
    pub(super) fn local_declaration(&mut self, decl: &'a ast::Declaration, out: &mut Vec<TStmtId>) {
        let specs = &decl.specs;
        if decl.declarators.is_empty() {
            self.specifiers(specs, true);
            self.flush_pending(out);
            return;
        }
        let base = self.base_type(specs);
        for d in &decl.declarators {
            let Some(name) = d.declarator.name else { continue };
            let (ty, align, attrs) = self.declared_type(specs, base, d);
            self.flush_pending(out);
            match specs.storage {
                Some(Storage::Typedef) => self.declare_typedef(name, ty, align, &attrs),
                Some(Storage::Auto) if matches!(self.prog.types.get(ty.ty), CType::Func(_)) => {
                    self.declare_nested(name, ty.ty);
                }
                _ if matches!(self.prog.types.get(ty.ty), CType::Func(_)) => {
                    self.declare_function(name, ty.ty, None, &attrs);
                    if d.init.is_some() {
                        self.error(d.span, "a function cannot be initialised");
                    }
                }
                Some(Storage::Extern) => {
                    let info =
                        LinkedObject { ty, align, storage: specs.storage, thread_local: specs.thread_local };
                    let obj = self.declare_linked_object(name, info, &attrs);
                    if let (Some(obj), Some(init)) = (obj, d.init) {
                        self.define_object(obj, init, name);
                    }
                }
                Some(Storage::Static) => {
                    let obj = self.static_local(name, ty, align, &attrs, d.init, specs.thread_local);
                    if let (Some(obj), true) = (obj, specs.constexpr) {
                        self.note_constexpr(obj, None, name.span);
                    }
                }
                _ => self.automatic(name, ty, align, &attrs, (d, specs.constexpr), out),
            }
        }
    }

    /// Turns lengths that wait to be assigned into statements.
    pub(super) fn flush_pending(&mut self, out: &mut Vec<TStmtId>) {
        let stmts = self.take_pending_stmts();
        out.extend(stmts);
    }

    pub(super) fn take_pending_stmts(&mut self) -> Vec<TStmtId> {
        let Some(func) = &mut self.func else { return Vec::new() };
        let pending = std::mem::take(&mut func.pending);
        let stmt = |c: &mut Self, e: TExprId| {
            let span = c.span(e);
            c.prog.stmts.push(TStmt { kind: TStmtKind::Expr(e), span })
        };
        pending.into_iter().map(|e| stmt(self, e)).collect()
    }

    /// Binds a name without linkage; a second declaration in one scope is an error.
    fn bind_local(&mut self, name: ast::Ident, obj: ObjId) {
        match self.scopes.lookup_here(name.name) {
            None | Some((Binding::Error, _)) => {}
            Some(_) => self.error(name.span, format!("'{}' is declared twice", self.name(name.name))),
        }
        self.scopes.bind(name.name, Binding::Object(obj), name.span);
    }

    fn new_local(
        &mut self,
        name: ast::Ident,
        ty: QType,
        align: Option<u64>,
        kind: ObjKind,
        thread_local: bool,
    ) -> ObjId {
        let align = align.unwrap_or_else(|| self.prog.types.preferred_align(ty.ty));
        let scope = Span::new(name.span.lo, self.scope_end().max(name.span.hi));
        self.prog.objects.push(Object {
            name: Some(name.name),
            thread_local,
            scope,
            ..Object::unnamed(ty, kind, align, name.span)
        })
    }

    fn static_local(
        &mut self,
        name: ast::Ident,
        ty: QType,
        align: Option<u64>,
        attrs: &Attrs,
        init: Option<ast::Init>,
        thread_local: bool,
    ) -> Option<ObjId> {
        let func = self.func.as_ref().map(|f| f.id)?;
        let ty = self.checked_object_type(ty, name);
        if self.is_variably_modified(ty.ty) {
            self.error(name.span, "a static variable of variable size");
        }
        let align = attrs.align.or(align);
        let obj = self.new_local(name, ty, align, ObjKind::StaticLocal(func), thread_local);
        self.prog.objects[obj].image = Some(Image::default());
        self.bind_local(name, obj);
        if let Some(init) = init {
            self.static_init(obj, init);
        }
        self.require_complete(obj, name);
        Some(obj)
    }

    fn automatic(
        &mut self,
        name: ast::Ident,
        ty: QType,
        align: Option<u64>,
        attrs: &Attrs,
        (d, constexpr): (&'a ast::InitDeclarator, bool),
        out: &mut Vec<TStmtId>,
    ) {
        let Some(func) = self.func.as_ref().map(|f| f.id) else { return };
        let ty = self.checked_object_type(ty, name);
        let obj = self.new_local(name, ty, attrs.align.or(align), ObjKind::Local(func), false);
        self.bind_local(name, obj);
        if let Some(block) = self.func.as_mut().and_then(|f| f.blocks.last_mut()) {
            block.0.push(obj);
        }
        if let Some((cleanup, span)) = attrs.cleanup {
            match self.scopes.lookup(cleanup) {
                Some(Binding::Func(f)) => self.prog.objects[obj].cleanup = Some(f),
                _ => self.error(span, "the argument of attribute cleanup is not a function"),
            }
        }
        if self.prog.types.is_variably_sized(ty.ty) {
            if d.init.is_some() {
                self.error(d.span, "an object of variable size cannot be initialised");
            }
            let size = self.size_expr(ty.ty, name.span);
            self.prog.objects[obj].vla_size = Some(size);
        }
        let init = match d.init {
            Some(init) if !self.prog.types.is_variably_sized(ty.ty) => Some(self.auto_init(obj, init)),
            _ => None,
        };
        if constexpr {
            self.note_constexpr(obj, init, name.span);
        }
        self.flush_pending(out);
        self.require_complete(obj, name);
        out.push(self.prog.stmts.push(TStmt { kind: TStmtKind::Decl { obj, init }, span: d.span }));
    }

    fn checked_object_type(&mut self, ty: QType, name: ast::Ident) -> QType {
        if ty.ty == TypeTable::VOID {
            self.error(name.span, "a variable has type 'void'");
            return TypeTable::ERROR.into();
        }
        ty
    }

    /// Reports an object whose type is still incomplete after its declaration.
    fn require_complete(&mut self, obj: ObjId, name: ast::Ident) {
        let ty = self.prog.objects[obj].ty;
        if ty.ty != TypeTable::ERROR && !self.prog.types.is_complete(ty.ty) {
            self.error(name.span, format!("a variable has incomplete type '{}'", self.type_name(ty)));
        }
    }
}
