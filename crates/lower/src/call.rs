//! Calls, arguments and variable arguments.
//!
//! Variable arguments are desugared: the caller puts them into an object of its own, one slot of
//! 16 bytes (or more, for larger records) after the other, and passes its address as a hidden
//! last argument; a `va_list` is a pointer that walks through the slots. Direct calls of external
//! variadic functions keep their arguments, so that the interpreter's `printf` sees them.

use crate::Lowerer;
use crate::checked::Text;
use crate::either::Order;
use crate::lowerer::Reported;
use crate::options::Missing;
use crate::scan::Traits;
use palisade_base::{Diagnostic, Span};
use palisade_c_types::tast::*;
use palisade_c_types::types::CType;
use palisade_cfa::*;
use smallvec::SmallVec;
use std::sync::Arc;

/// Bytes of the smallest slot of a variable argument.
const SLOT: u64 = 16;

/// What is wanted of the result of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Into {
    /// Nothing.
    Nothing,
    /// The value, as an expression.
    Value,
    /// That it be stored in a scalar place, by an operation with this position.
    Place(PlaceId, Span),
}

/// A call that only needs to know where its result goes.
struct Prepared {
    callee: Callee,
    args: Vec<Arg>,
    /// What the called function returns, as far as it is known.
    ret: Option<TypeId>,
    /// The object with the variable arguments.
    area: Option<VarId>,
    /// Whether it never comes back.
    diverges: bool,
    /// The text that it writes.
    text: Option<Text>,
}

impl Lowerer<'_> {
    /// A call with a scalar result or none.
    pub(crate) fn call(&mut self, e: TExprId, into: Into) -> Option<ExprId> {
        if let Some(f) = self.bodyless_callee(e)
            && let Some(value) = self.library_call(e, f, into).or_else(|| self.scan_call(e, f, into))
        {
            return value;
        }
        let span = self.span(e);
        let prepared = self.prepare(e);
        let want = self.scalar_of(e);
        let returned = match prepared.ret {
            Some(ty) => self.pool.program.scalar_of(ty),
            None => want,
        };
        let (Some(want), Some(returned), false) = (want, returned, matches!(into, Into::Nothing)) else {
            self.finish_call(prepared, None, span);
            // A call whose result is used although nothing is returned.
            return match into {
                Into::Nothing => None,
                _ => {
                    let value = self.unknown(e);
                    self.give(value, into, e)
                }
            };
        };
        if let Into::Place(dst, _) = into
            && want == returned
        {
            self.finish_call(prepared, Some(dst), span);
            return None;
        }
        let ty = match prepared.ret {
            Some(ty) => ty,
            None => self.type_id(self.typed.exprs[e].ty.ty),
        };
        let var = self.temp(ty);
        let dst = self.pool.var(var);
        self.finish_call(prepared, Some(dst), span);
        let value = self.pool.load(dst);
        self.give(value, into, e)
    }

    /// Hands a value over as the result of the call `e`.
    pub(crate) fn give(&mut self, value: ExprId, into: Into, e: TExprId) -> Option<ExprId> {
        let value = self.converted_to(self.typed.exprs[e].ty.ty, value, self.span(e));
        match into {
            Into::Nothing => None,
            Into::Value => Some(value),
            Into::Place(dst, span) => {
                self.assign(dst, value, span);
                None
            }
        }
    }

    /// Emits an operation that stores a scalar of type `ty`, and hands that over as the result of
    /// the call `e`.
    pub(crate) fn deliver(
        &mut self,
        e: TExprId,
        into: Into,
        ty: Scalar,
        op: impl FnOnce(PlaceId) -> Op,
    ) -> Option<ExprId> {
        let span = self.span(e);
        if let Into::Place(dst, _) = into
            && self.pool.program.place_scalar(dst) == Some(ty)
        {
            self.emit(op(dst), span);
            return None;
        }
        let ty = self.scalar_type(ty);
        let var = self.temp(ty);
        let dst = self.pool.var(var);
        self.emit(op(dst), span);
        let value = self.pool.load(dst);
        self.give(value, into, e)
    }

    /// A call with a record as its result: the place that holds it.
    pub(crate) fn record_call(&mut self, e: TExprId, into: Option<PlaceId>) -> PlaceId {
        let span = self.span(e);
        let ty = self.type_id(self.typed.exprs[e].ty.ty);
        let dst = match into {
            Some(dst) => dst,
            None => {
                let var = self.temp(ty);
                self.pool.var(var)
            }
        };
        if let Some(f) = self.bodyless_callee(e)
            && self.names.name(self.typed.funcs[f].name).starts_with("__VERIFIER_nondet_")
        {
            self.emit(Op::Havoc { dst, input: true }, span);
            return dst;
        }
        let prepared = self.prepare(e);
        let fits = prepared.ret.is_none_or(|t| {
            let p = &self.pool.program;
            p.scalar_of(t).is_none() && p.size_of(t) == p.size_of(ty)
        });
        self.finish_call(prepared, fits.then_some(dst), span);
        if !fits {
            self.emit(Op::Havoc { dst, input: false }, span);
        }
        dst
    }

    /// The function that a call names directly, following aliases.
    fn direct_callee(&self, e: TExprId) -> Option<FnId> {
        let TExprKind::Call { callee, .. } = *self.kind(e) else { return None };
        let mut callee = callee;
        loop {
            callee = match *self.kind(callee) {
                TExprKind::FuncAddr(f) => return Some(self.real_function(f)),
                // A cast that does not change what is called.
                TExprKind::Convert(inner) if self.same_machine_signature(inner, callee) => inner,
                _ => return None,
            }
        }
    }

    fn same_machine_signature(&self, a: TExprId, b: TExprId) -> bool {
        let sig = |e: TExprId| self.typed.types.callable_sig(self.typed.exprs[e].ty.ty);
        matches!((sig(a), sig(b)), (Some(a), Some(b)) if a == b)
    }

    /// The function that a call names directly, if it has neither body nor library source.
    fn bodyless_callee(&self, e: TExprId) -> Option<FnId> {
        let f = self.direct_callee(e)?;
        (self.typed.funcs[f].body.is_none() && !self.library.instead.contains_key(&f)).then_some(f)
    }

    /// The arguments of a call, evaluated from left to right if no other order matters.
    pub(crate) fn arguments(&mut self, args: &[TExprId]) -> Vec<Arg> {
        if let Some(values) = self.open_arguments(args) {
            return values;
        }
        let mut later: SmallVec<[Traits; 8]> = SmallVec::from_elem(Traits::default(), args.len());
        for i in (1..args.len()).rev() {
            later[i - 1] = later[i].or(self.traits(args[i]));
        }
        let mut values = Vec::with_capacity(args.len());
        for (&arg, &later) in args.iter().zip(&later) {
            values.push(if self.scalar_of(arg).is_some() {
                let value = self.value(arg);
                Arg::Scalar(self.keep(value, later, self.span(arg)))
            } else {
                Arg::Aggregate(self.record_kept(arg, later))
            });
        }
        values
    }

    fn prepare(&mut self, e: TExprId) -> Prepared {
        let span = self.span(e);
        let TExprKind::Call { callee, ref args, .. } = *self.kind(e) else {
            unreachable!("only calls are prepared")
        };
        let Some(f) = self.direct_callee(e) else {
            let next = args.iter().fold(Traits::default(), |t, &a| t.or(self.traits(a)));
            if args.iter().any(|&a| self.order(callee, a) != Order::Free) {
                self.report(Order::Lost, span);
            }
            let ptr = self.value(callee);
            let ptr = self.keep(ptr, next, span);
            let mut args = self.arguments(args);
            let sig = self.typed.types.callable_sig(self.typed.exprs[callee].ty.ty);
            let mut area = None;
            if let Some(sig) = sig
                && self.typed.types.sig(sig).variadic
            {
                let fixed = self.typed.types.sig(sig).params.len();
                area = self.pass_varargs(&mut args, fixed, span);
            }
            return Prepared {
                callee: Callee::Indirect(ptr),
                args,
                ret: None,
                area,
                diverges: false,
                text: None,
            };
        };
        let func = self.func_of(f);
        let has_body = self.typed.funcs[f].body.is_some() || self.library.instead.contains_key(&f);
        if !has_body {
            self.warn_about(f, span);
        }
        let texprs: &[TExprId] = args;
        let mut args = self.arguments(texprs);
        let text = self.caller_checks(f, texprs, &args, span);
        let Type::Func(sig) = &self.pool.program.types[self.pool.program.funcs[func].ty] else {
            unreachable!("a function has a function type")
        };
        let (params, ret, variadic) = (sig.params.clone(), sig.ret, sig.variadic);
        let mut area = None;
        let fixed = if variadic && has_body { params.len() - 1 } else { params.len() };
        let misfit = args.len() < fixed || args.len() > fixed && !variadic;
        if misfit && has_body && self.wants(CheckKind::CallType) {
            let never = self.pool.truth(false);
            self.check(CheckKind::CallType, never, span);
        }
        if variadic && has_body {
            area = self.pass_varargs(&mut args, fixed, span);
        } else if !variadic {
            args.truncate(fixed);
        }
        for (i, &param) in params[..fixed].iter().enumerate() {
            let given = args.get(i).copied();
            let arg = self.fit_argument(given, param, span);
            match args.get_mut(i) {
                Some(slot) => *slot = arg,
                None => args.push(arg),
            }
        }
        let is_error = self.names.name(self.typed.funcs[f].name) == "__VERIFIER_error";
        let diverges = !has_body && (self.typed.funcs[f].noreturn || is_error);
        Prepared { callee: Callee::Direct(func), args, ret: Some(ret), area, diverges, text }
    }

    /// An argument in the type of its parameter, which differs only where a declaration does not
    /// say what the definition says.
    pub(crate) fn fit_argument(&mut self, given: Option<Arg>, param: TypeId, span: Span) -> Arg {
        let scalar = self.pool.program.scalar_of(param);
        match (given, scalar) {
            (Some(Arg::Scalar(value)), Some(ty)) => Arg::Scalar(self.pool.convert(value, ty)),
            (Some(Arg::Aggregate(place)), None)
                if self.pool.program.size_of(self.pool.program.places[place].ty)
                    == self.pool.program.size_of(param) =>
            {
                Arg::Aggregate(place)
            }
            (_, Some(ty)) => Arg::Scalar(self.havoc(ty, false, span)),
            (_, None) => {
                let var = self.temp(param);
                let dst = self.pool.var(var);
                self.emit(Op::Havoc { dst, input: false }, span);
                Arg::Aggregate(dst)
            }
        }
    }

    fn finish_call(&mut self, prepared: Prepared, dst: Option<PlaceId>, span: Span) {
        let Prepared { callee, args, area, diverges, text, .. } = prepared;
        self.emit(Op::Call { dst, callee, args: args.into() }, span);
        if let Callee::Direct(func) = callee {
            self.after_native(func, text, dst, span);
        }
        if let Some(var) = area {
            self.emit(Op::Leave { var }, span);
        }
        if diverges {
            self.at.graph.halt(Op::Halt { kind: HaltKind::Abort }, span);
        }
    }

    fn warn_about(&mut self, f: FnId, span: Span) {
        if !self.reported.insert(Reported::NoBody(f)) {
            return;
        }
        let name = self.names.name(self.typed.funcs[f].name);
        let known = self.is_known(f);
        let message = match self.effect_of(f) {
            Effect::Unmodelled => {
                format!("`{name}` is not supported: a run that reaches it cannot be followed")
            }
            Effect::Pure | Effect::Arbitrary if !known => match self.options.missing {
                Missing::Error => {
                    let message = format!("`{name}` has no body");
                    return self.diagnostics.push(Diagnostic::error(span, message));
                }
                _ => format!("`{name}` has no body"),
            },
            _ => return,
        };
        if !name.starts_with('$') {
            self.diagnostics.push(Diagnostic::warning(span, message));
        }
    }

    /// Replaces the arguments from `fixed` on by a pointer to an object that holds them.
    pub(crate) fn pass_varargs(&mut self, args: &mut Vec<Arg>, fixed: usize, span: Span) -> Option<VarId> {
        while args.len() < fixed {
            // Too few arguments: nobody knows what the callee reads.
            let missing = self.havoc(Scalar::Int(IntTy::I32), false, span);
            args.push(Arg::Scalar(missing));
        }
        let more = args.split_off(fixed);
        if more.is_empty() {
            let null = self.pool.null();
            args.push(Arg::Scalar(null));
            return None;
        }
        let mut fields = Vec::new();
        let mut size = 0;
        for (i, arg) in more.iter().enumerate() {
            let ty = match *arg {
                Arg::Scalar(value) => self.scalar_type(self.pool.ty(value)),
                Arg::Aggregate(place) => self.pool.program.places[place].ty,
            };
            let name: Arc<str> = i.to_string().into();
            fields.push(Field { name, ty, offset: size, bits: None });
            size += slot(self.pool.program.size_of(ty).unwrap_or(0));
        }
        let name = "struct .varargs".into();
        let record = Type::Record(Record { name, union: false, fields, size, align: SLOT });
        let record = self.pool.program.types.push(record);
        let var = self.temp(record);
        let area = self.pool.var(var);
        self.emit(Op::Enter { var }, span);
        for (i, arg) in more.into_iter().enumerate() {
            let dst = self.field_place(area, record, i as u32);
            let op = match arg {
                Arg::Scalar(src) => Op::Assign { dst, src },
                Arg::Aggregate(src) => Op::Copy { dst, src },
            };
            self.emit(op, span);
        }
        let ptr = self.pool.addr(area);
        args.push(Arg::Scalar(ptr));
        Some(var)
    }

    /// The pointer inside a `va_list`: the list itself, or a member of its record.
    fn list_pointer(&mut self, list: TExprId) -> PlaceId {
        let ty = self.typed.exprs[list].ty.ty;
        let place = self.place(list);
        match self.typed.types.get(ty) {
            CType::Record(_) => {
                let record = self.type_id(ty);
                // `overflow_arg_area`, where the System V ABI has the arguments in memory.
                self.field_place(place, record, 2)
            }
            _ => place,
        }
    }

    pub(crate) fn start_varargs(&mut self, list: TExprId, span: Span) {
        let dst = self.list_pointer(list);
        self.check_write(dst, span);
        let src = match self.at.varargs {
            Some(var) => self.pool.load_var(var),
            None => self.pool.null(),
        };
        self.assign(dst, src, span);
    }

    pub(crate) fn copy_varargs(&mut self, dst: TExprId, src: TExprId, span: Span) {
        let dst = self.list_pointer(dst);
        let dst = self.keep_place(dst, self.traits(src), span);
        let src = self.list_pointer(src);
        self.check_read(src, span);
        self.check_write(dst, span);
        let src = self.pool.load(src);
        self.assign(dst, src, span);
    }

    /// Takes the next argument off a list: the place where it lies.
    pub(crate) fn next_vararg(&mut self, e: TExprId, list: TExprId) -> PlaceId {
        let span = self.span(e);
        let ty = self.typed.exprs[e].ty.ty;
        let size = self.typed.types.size_of(ty).unwrap_or(0);
        let place = self.list_pointer(list);
        self.check_read(place, span);
        let at = self.pool.load(place);
        let at = self.save(at, span);
        let one = self.pool.int(IntTy::I32, 1);
        let next = self.pool.ptr_add(at, one, slot(size));
        self.assign(place, next, span);
        let ty = self.type_id(ty);
        self.pool.place(Place { base: Base::Deref(at), path: SmallVec::new(), ty, bits: None })
    }
}

/// Bytes that an argument of this size takes in the area.
fn slot(size: u64) -> u64 {
    size.max(1).next_multiple_of(SLOT)
}
