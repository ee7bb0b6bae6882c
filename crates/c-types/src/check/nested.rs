//! Functions inside functions (GNU C).
//!
//! A nested function reads and writes the variables of the functions around it. It becomes a
//! function of its own: for each variable that it needs (itself, or what it calls), there is one
//! static *link* that the caller sets to the variable's address just before the call, as if it
//! were an argument in a register, and that the nested function copies on entry. A pointer to a
//! nested function finds the links as they were set when the pointer was made, which is right as
//! long as the function around it has one activation only; lowering rejects the program if it can
//! call itself.

use palisade_base::Span;
use palisade_c_syntax::ast::{self, Storage};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

use super::Checker;
use super::parts::Setup;
use crate::scope::Binding;
use crate::tast::*;
use crate::types::*;

/// What is known of the nested functions of the outermost function that is being checked.
#[derive(Default)]
pub(super) struct Nest {
    /// The functions inside, with the expressions of their bodies. Inner ones come first.
    functions: Vec<NestedFn>,
    /// Where a nested function is used: by whom, which one, and the block that sets its links.
    uses: Vec<Use>,
    /// Nested functions that are declared (`auto int f(int);`) but not defined so far.
    declared: Vec<FnId>,
}

struct NestedFn {
    id: FnId,
    exprs: std::ops::Range<u32>,
}

struct Use {
    user: FnId,
    used: FnId,
    links: TStmtId,
}

impl<'a> Checker<'a> {
    pub(super) fn is_nested(&self, f: FnId) -> bool {
        self.nest.declared.contains(&f) || self.nest.functions.iter().any(|n| n.id == f)
    }

    /// `auto int f(int);` in a block: a nested function that is defined later.
    pub(super) fn declare_nested(&mut self, name: ast::Ident, ty: CTypeId) {
        if let Some((Binding::Func(f), _)) = self.scopes.lookup_here(name.name)
            && self.is_nested(f)
        {
            return;
        }
        let f = self.new_function(name.name, ty, Linkage::Internal, name.span);
        self.nest.declared.push(f);
        self.scopes.bind(name.name, Binding::Func(f), name.span);
    }

    /// A function definition among statements.
    pub(super) fn nested_definition(&mut self, def: &'a ast::FunctionDef) {
        let Some(name) = def.declarator.name else { return };
        if matches!(def.specs.storage, Some(Storage::Static | Storage::Extern)) {
            self.error(name.span, "a nested function has no linkage");
            return;
        }
        self.declare_nested(name, TypeTable::ERROR);
        let Some((Binding::Func(f), _)) = self.scopes.lookup_here(name.name) else { return };
        let start = self.prog.exprs.len() as u32;
        let outer = self.func.take();
        if let Some(outer) = outer {
            self.outer.push(outer);
        }
        self.define_function(def, f, true);
        self.func = self.outer.pop();
        let exprs = start..self.prog.exprs.len() as u32;
        self.nest.declared.retain(|&d| d != f);
        self.nest.functions.push(NestedFn { id: f, exprs });
    }

    /// A pointer to a nested function: its links are set first.
    pub(super) fn nested_address(&mut self, f: FnId, address: TExprId, span: Span) -> TExprId {
        let Some(user) = self.func.as_ref().map(|c| c.id) else { return address };
        let links = self
            .prog
            .stmts
            .push(TStmt { kind: TStmtKind::Block { stmts: Box::new([]), objects: Box::new([]) }, span });
        self.nest.uses.push(Use { user, used: f, links });
        let set = self.push(TExprKind::StmtExpr { body: links, value: None }, TypeTable::VOID, span);
        let ty = self.ty(address);
        self.push(TExprKind::Comma { lhs: set, rhs: address }, ty, span)
    }

    /// The nested function that a callee is, with what sets its links.
    pub(super) fn nested_callee(&self, callee: TExprId) -> Option<(TExprId, TExprId)> {
        let TExprKind::Comma { lhs, rhs } = self.prog.exprs[callee].kind else { return None };
        let TExprKind::FuncAddr(f) = self.prog.exprs[rhs].kind else { return None };
        self.is_nested(f).then_some((lhs, rhs))
    }

    /// A direct call of a nested function. Its links are set after the arguments, which may call
    /// it themselves.
    pub(super) fn nested_call(
        &mut self,
        (links, callee): (TExprId, TExprId),
        args: Vec<TExprId>,
        ret: CTypeId,
        rparen: u32,
        span: Span,
    ) -> TExprId {
        let mut setup = Setup::default();
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let constant = matches!(self.prog.exprs[arg].kind, TExprKind::Int(_) | TExprKind::Float(_));
            let Some(value) = (if constant { Some(arg) } else { self.keep(arg, &mut setup) }) else {
                return self.error_expr(span);
            };
            values.push(value);
        }
        setup.then(links);
        let call = self.push(TExprKind::Call { callee, args: values.into(), rparen }, ret, span);
        self.after(setup, call, span)
    }

    /// Notes that a pointer to a nested function is more than the callee of a call.
    pub(super) fn note_nested_pointer(&mut self, e: TExprId) {
        if self.nested_callee(e).is_some() {
            let outermost = self.outer.first().or(self.func.as_ref()).map(|c| c.id);
            let span = self.span(e);
            self.prog.nested_pointers.extend(outermost.map(|f| (f, span)));
        }
    }

    /// At the end of an outermost function: links variables of outer functions to the nested
    /// functions that need them.
    pub(super) fn finish_nest(&mut self) {
        let nest = std::mem::take(&mut self.nest);
        for &f in &nest.declared {
            let (name, span) = (self.prog.funcs[f].name, self.prog.funcs[f].span);
            self.error(span, format!("the nested function '{}' is not defined", self.name(name)));
        }
        if nest.functions.is_empty() {
            return;
        }
        let mut needs = self.direct_needs(&nest);
        loop {
            let mut grown = false;
            for u in &nest.uses {
                let more: Vec<ObjId> = needs.get(&u.used).into_iter().flatten().copied().collect();
                for obj in more {
                    if self.owner(obj) != Some(u.user) {
                        grown |= needs.entry(u.user).or_default().insert(obj);
                    }
                }
            }
            if !grown {
                break;
            }
        }
        let mut links: FxHashMap<ObjId, ObjId> = FxHashMap::default();
        let mut copies: FxHashMap<(FnId, ObjId), ObjId> = FxHashMap::default();
        for n in &nest.functions {
            let mut prologue = Vec::new();
            for &obj in needs.get(&n.id).into_iter().flatten() {
                let link = *links.entry(obj).or_insert_with(|| self.new_link(obj));
                let copy = self.new_copy(n.id, link);
                copies.insert((n.id, obj), copy);
                if matches!(self.prog.objects[obj].kind, ObjKind::Hidden(_)) {
                    self.prog.kept_lengths.entry(obj).or_default().push(copy);
                }
                let span = self.prog.funcs[n.id].span;
                let value = self.object_value(link, span);
                let store = self.store(copy, value, span);
                prologue.push(self.prog.stmts.push(TStmt { kind: TStmtKind::Expr(store), span }));
            }
            if let Some(body) = &mut self.prog.funcs[n.id].body {
                prologue.append(&mut body.prologue);
                body.prologue = prologue;
            }
        }
        // Inner functions stand before the outer ones, whose ranges contain theirs: what was
        // rewritten once names no variable of an outer function any more.
        for n in &nest.functions {
            for i in n.exprs.clone() {
                self.rewrite(TExprId(i), n.id, &copies);
            }
        }
        for u in &nest.uses {
            let mut stmts = Vec::new();
            for &obj in needs.get(&u.used).into_iter().flatten() {
                if let Some(&link) = links.get(&obj) {
                    stmts.push(self.set_link(link, obj, copies.get(&(u.user, obj)).copied(), u.links));
                }
            }
            self.prog.stmts[u.links].kind = TStmtKind::Block { stmts: stmts.into(), objects: Box::new([]) };
        }
    }

    /// The function that an automatic object belongs to.
    fn owner(&self, obj: ObjId) -> Option<FnId> {
        match self.prog.objects[obj].kind {
            ObjKind::Local(f) | ObjKind::Param(f) | ObjKind::CompoundLiteral(f) | ObjKind::Hidden(f) => {
                Some(f)
            }
            ObjKind::Global | ObjKind::StaticLocal(_) | ObjKind::StaticLiteral | ObjKind::String => None,
        }
    }

    /// The variables of outer functions that the bodies name, and the lengths of arrays there.
    fn direct_needs(&self, nest: &Nest) -> FxHashMap<FnId, BTreeSet<ObjId>> {
        let mut needs: FxHashMap<FnId, BTreeSet<ObjId>> = FxHashMap::default();
        let mut seen: Vec<&NestedFn> = Vec::new();
        for n in &nest.functions {
            let mut i = n.exprs.start;
            while i < n.exprs.end {
                // What belongs to a function inside is that function's own need.
                if let Some(inner) = seen.iter().find(|s| s.exprs.start == i && !s.exprs.is_empty()) {
                    i = inner.exprs.end;
                    continue;
                }
                let TExpr { ref kind, ty, .. } = self.prog.exprs[TExprId(i)];
                let named = if let TExprKind::Object(obj) = *kind { Some(obj) } else { None };
                // Whoever names an array may ask whether an index lies in it.
                let length = match self.prog.types.get(ty.ty) {
                    CType::Array(_, ArrayLen::Vla(vla)) => Some(self.prog.types.vlas[vla].len),
                    _ => None,
                };
                let foreign = |obj: &ObjId| self.owner(*obj).is_some_and(|f| f != n.id);
                needs.entry(n.id).or_default().extend(named.into_iter().chain(length).filter(foreign));
                i += 1;
            }
            // Only the outermost of those seen can start at a given place inside a later one.
            seen.retain(|s| s.exprs.start < n.exprs.start);
            seen.push(n);
        }
        needs
    }

    /// The static variable through which the address of an object (the value, if it is hidden)
    /// comes to nested functions.
    fn new_link(&mut self, obj: ObjId) -> ObjId {
        let Object { ty, kind, span, .. } = self.prog.objects[obj];
        let func = match kind {
            ObjKind::Local(f) | ObjKind::Param(f) | ObjKind::CompoundLiteral(f) | ObjKind::Hidden(f) => f,
            _ => return obj,
        };
        let ty = if matches!(kind, ObjKind::Hidden(_)) { ty.ty } else { self.types().ptr_to(ty) };
        let align = self.prog.types.preferred_align(ty);
        self.prog.objects.push(Object {
            image: Some(Image::default()),
            ..Object::unnamed(ty.into(), ObjKind::StaticLocal(func), align, span)
        })
    }

    fn new_copy(&mut self, f: FnId, link: ObjId) -> ObjId {
        let Object { ty, align, .. } = self.prog.objects[link];
        self.prog.objects.push(Object::unnamed(ty, ObjKind::Hidden(f), align, Span::NONE))
    }

    fn rewrite(&mut self, e: TExprId, f: FnId, copies: &FxHashMap<(FnId, ObjId), ObjId>) {
        let TExprKind::Object(obj) = self.prog.exprs[e].kind else { return };
        let Some(&copy) = copies.get(&(f, obj)) else { return };
        self.prog.exprs[e].kind = if matches!(self.prog.objects[obj].kind, ObjKind::Hidden(_)) {
            TExprKind::Object(copy)
        } else {
            let span = self.span(e);
            TExprKind::Deref(self.object_value(copy, span))
        };
    }

    fn set_link(&mut self, link: ObjId, obj: ObjId, copy: Option<ObjId>, at: TStmtId) -> TStmtId {
        let span = self.prog.stmts[at].span;
        let value = match copy {
            Some(copy) => self.object_value(copy, span),
            None if matches!(self.prog.objects[obj].kind, ObjKind::Hidden(_)) => self.object_value(obj, span),
            None => {
                let place = self.object_place(obj, span);
                let ty = self.qty(place);
                let ptr = self.types().ptr_to(ty);
                self.push(TExprKind::AddrOf(place), ptr, span)
            }
        };
        let store = self.store(link, value, span);
        self.prog.stmts.push(TStmt { kind: TStmtKind::Expr(store), span })
    }

    /// Whether a label belongs to a function around the current one.
    pub(super) fn is_outer_label(&self, name: palisade_c_syntax::Symbol) -> bool {
        self.outer.iter().any(|c| c.labels.iter().any(|m| m.contains_key(&name)))
    }
}
