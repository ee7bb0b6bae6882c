//! Calls and `va_arg`.

use palisade_base::Span;
use palisade_c_syntax::Symbol;
use palisade_c_syntax::ast::{self, ExprKind};
use palisade_cfa::DataModel;

use super::builtin::BuiltinFn;
use super::{Checker, Entity};
use crate::scope::Binding;
use crate::tast::*;
use crate::types::*;

impl<'a> Checker<'a> {
    pub(super) fn call(
        &mut self,
        callee: ast::ExprId,
        args: &'a [ast::ExprId],
        rparen: u32,
        span: Span,
    ) -> TExprId {
        let callee_span = self.unit.exprs[callee].span;
        let callee = match self.unit.exprs[callee].kind {
            ExprKind::Name(name) => {
                if let Some(builtin) = self.builtin_of(name) {
                    return self.builtin_call(builtin, name, args, rparen, span);
                }
                if self.scopes.lookup(name).is_none() {
                    match self.implicit_function(name, callee_span) {
                        Some(f) => {
                            let ty = self.prog.funcs[f].ty;
                            let ptr = self.types().ptr_to(ty.into());
                            self.push(TExprKind::FuncAddr(f), ptr, callee_span)
                        }
                        None => return self.error_expr(span),
                    }
                } else {
                    self.callee(callee)
                }
            }
            _ => self.callee(callee),
        };
        let args: Vec<TExprId> = args.iter().map(|&a| self.rvalue(a)).collect();
        self.call_value(callee, args, rparen, span)
    }

    /// The operation of the compiler that a name means; `alloca` only if the program does not
    /// define it itself.
    fn builtin_of(&self, name: Symbol) -> Option<BuiltinFn> {
        let builtin = *self.known.builtins.get(&name)?;
        if matches!(builtin, BuiltinFn::Alloca) {
            match self.scopes.lookup(name) {
                None => {}
                Some(Binding::Func(f)) if self.prog.funcs[f].body.is_none() => {}
                Some(_) => return None,
            }
        }
        Some(builtin)
    }

    /// A call of a function pointer with argument values.
    pub(super) fn call_value(
        &mut self,
        callee: TExprId,
        args: Vec<TExprId>,
        rparen: u32,
        span: Span,
    ) -> TExprId {
        if self.is_error(callee) {
            return self.error_expr(span);
        }
        let ty = self.ty(callee);
        let Some(sig) = self.prog.types.callable_sig(ty) else {
            let at = self.span(callee);
            self.error(at, format!("'{}' is not a function", self.type_name(ty)));
            return self.error_expr(span);
        };
        let sig = self.prog.types.sig(sig);
        let (ret, variadic, prototype, count) = (sig.ret, sig.variadic, sig.prototype, sig.params.len());
        let params: smallvec::SmallVec<[CTypeId; 8]> = sig.params.iter().copied().collect();
        if prototype && (args.len() < count || (args.len() > count && !variadic)) {
            let what = if args.len() < count { "few" } else { "many" };
            self.error(span, format!("too {what} arguments: {count} expected, {} given", args.len()));
            return self.error_expr(span);
        }
        let mut out = Vec::with_capacity(args.len());
        let mut bad = false;
        for (i, arg) in args.iter().copied().enumerate() {
            let value = match params.get(i) {
                Some(&param) if prototype => self.assign_convert(arg, param, "argument"),
                // A K&R definition: promoted by the caller, converted on entry.
                Some(&param) if args.len() == count && self.prog.types.is_scalar(param) => {
                    let promoted = self.promote_argument(arg);
                    if self.prog.types.is_scalar(self.ty(promoted)) {
                        self.convert(promoted, param)
                    } else {
                        promoted
                    }
                }
                _ => self.promote_argument(arg),
            };
            bad |= self.is_error(value);
            out.push(value);
        }
        if bad {
            return self.push(TExprKind::Error, ret, span);
        }
        if ret != TypeTable::VOID && !self.prog.types.is_complete(ret) {
            self.error(span, format!("the call returns incomplete type '{}'", self.type_name(ret)));
            return self.error_expr(span);
        }
        if let Some(nested) = self.nested_callee(callee) {
            return self.nested_call(nested, out, ret, rparen, span);
        }
        self.push(TExprKind::Call { callee, args: out.into(), rparen }, ret, span)
    }

    /// Default argument promotions (C11 6.5.2.2).
    pub(super) fn promote_argument(&mut self, arg: TExprId) -> TExprId {
        let ty = self.ty(arg);
        match self.prog.types.get(ty) {
            CType::Float(palisade_cfa::FloatTy::F32) => self.convert(arg, TypeTable::DOUBLE),
            CType::Void => {
                let span = self.span(arg);
                self.error(span, "an argument has type 'void'");
                self.error_expr(span)
            }
            CType::BitField(int) if int.bits > 32 => {
                // A wide bit-field travels as its declared type would.
                let kind = match (int.signed, self.prog.types.dm) {
                    (true, DataModel::Lp64) => IntKind::Long,
                    (false, DataModel::Lp64) => IntKind::ULong,
                    (true, DataModel::Ilp32) => IntKind::LongLong,
                    (false, DataModel::Ilp32) => IntKind::ULongLong,
                };
                self.convert(arg, TypeTable::int_id(kind))
            }
            _ => self.promote(arg),
        }
    }

    /// Declares a function that is called without a declaration (C89, with a warning).
    fn implicit_function(&mut self, name: Symbol, span: Span) -> Option<FnId> {
        let text = self.name(name);
        if text.starts_with("__builtin_") || text.starts_with("__sync_") || text.starts_with("__atomic_") {
            self.unsupported(span, text);
            return None;
        }
        if self.implicit.insert(name) {
            self.warn(span, format!("implicit declaration of function '{text}'"));
        }
        if self.known.library.contains_key(&name) {
            return Some(self.library_function(name, span));
        }
        match self.externals.get(&name) {
            Some(&Entity::Func(f)) => Some(f),
            Some(Entity::Object(_)) => {
                self.error(span, format!("'{text}' is not declared as a function"));
                None
            }
            None => {
                let sig =
                    Sig { ret: TypeTable::INT, params: Box::new([]), variadic: false, prototype: false };
                let ty = self.types().func(sig);
                Some(self.new_function(name, ty, Linkage::External, span))
            }
        }
    }

    /// A function of the C library, declared with the type that gcc knows for it unless the
    /// program declares it.
    pub(super) fn library_function(&mut self, name: Symbol, span: Span) -> FnId {
        if let Some(Binding::Func(f)) = self.scopes.lookup(name) {
            return f;
        }
        if let Some(&Entity::Func(f)) = self.externals.get(&name) {
            return f;
        }
        let ty = match self.known.library.get(&name) {
            Some(sig) => self.library_type(sig),
            None => {
                let sig =
                    Sig { ret: TypeTable::INT, params: Box::new([]), variadic: false, prototype: false };
                self.types().func(sig)
            }
        };
        let f = self.new_function(name, ty, Linkage::External, span);
        self.prog.funcs[f].noreturn = matches!(self.name(name), "abort" | "exit" | "_exit" | "_Exit");
        f
    }

    /// A new function without a body.
    pub(super) fn new_function(&mut self, name: Symbol, ty: CTypeId, linkage: Linkage, span: Span) -> FnId {
        let f = self.prog.funcs.push(Func {
            name,
            ty,
            linkage,
            noreturn: false,
            weak: false,
            alias: None,
            constructor: None,
            destructor: None,
            body: None,
            span,
        });
        if linkage == Linkage::External {
            self.externals.insert(name, Entity::Func(f));
        }
        f
    }

    // Variable arguments.

    /// The lvalue that represents a `va_list`.
    pub(super) fn va_list_place(&mut self, list: ast::ExprId) -> Option<TExprId> {
        let e = self.expr(list);
        if self.is_error(e) {
            return None;
        }
        let names = self.known.va_list;
        let va_list = self.types().va_list(names);
        let span = self.span(e);
        let place = match (self.prog.types.get(va_list), self.prog.types.get(self.ty(e))) {
            (CType::Array(tag, _), CType::Array(elem, _)) if elem.ty == tag.ty => {
                let index = self.int_const(0, TypeTable::INT, span);
                Some(self.push(TExprKind::Index { base: e, index }, elem, span))
            }
            (CType::Array(tag, _), CType::Ptr(to)) if to.ty == tag.ty => {
                let e = self.value_of(e);
                Some(self.deref(e, span))
            }
            (CType::Ptr(_), CType::Ptr(to)) if to.ty == TypeTable::CHAR || to.ty == TypeTable::VOID => {
                Some(e)
            }
            _ => None,
        };
        match place {
            Some(place) if self.prog.is_lvalue(place) => Some(place),
            _ => {
                self.error(span, format!("'{}' is not a va_list", self.type_name(self.ty(e))));
                None
            }
        }
    }

    pub(super) fn va_arg(&mut self, list: ast::ExprId, ty: ast::TypeNameId, span: Span) -> TExprId {
        let ty = self.type_of_name(ty).ty;
        let Some(list) = self.va_list_place(list) else { return self.error_expr(span) };
        if ty == TypeTable::ERROR {
            return self.error_expr(span);
        }
        let complete = self.prog.types.size_of(ty).is_some();
        if (!complete && ty != TypeTable::VOID) || matches!(self.prog.types.get(ty), CType::Array(..)) {
            self.error(span, format!("va_arg of type '{}'", self.type_name(ty)));
            return self.error_expr(span);
        }
        let promoted = self.promoted_type(ty);
        if promoted != ty && !matches!(self.prog.types.get(ty), CType::Enum(_)) || ty == TypeTable::FLOAT {
            self.warn(span, format!("'{}' is promoted when it is passed through '...'", self.type_name(ty)));
        }
        self.push(TExprKind::VaArg { list }, ty, span)
    }
}
