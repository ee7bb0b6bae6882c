//! What the table of the C library makes of a call: checks of the arguments before it, and what is
//! known after it.

use crate::Lowerer;
use crate::call::Into;
use crate::contract::{Contract, Meaning, Role};
use crate::options::Missing;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_c_types::types::CTypeId;
use palisade_cfa::*;

/// A text that a call writes to memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    /// Where to.
    to: ExprId,
    /// How many characters it has.
    length: ExprId,
    /// Where the zero goes; `None` if there is no limit.
    last: Option<(ExprId, ExprId)>,
}

impl Lowerer<'_> {
    /// What a function does that has no body.
    pub(crate) fn effect_of(&self, f: FnId) -> Effect {
        let name = self.names.name(self.typed.funcs[f].name);
        if !self.is_known(f) {
            return match self.options.missing {
                Missing::Havoc => Effect::Arbitrary,
                Missing::Pure | Missing::Error => Effect::Pure,
            };
        }
        match self.contracts.get(name).map(|contract| &contract.meaning) {
            // Calls of operations and of source are no calls of these: only something odd leads here, like a
            // declaration with other widths than the library's.
            Some(Meaning::Operation | Meaning::Scan | Meaning::Source | Meaning::Alternatives(_)) => {
                Effect::Unmodelled
            }
            _ => self.contracts.effect(name).unwrap_or(Effect::Pure),
        }
    }

    /// Whether it is known what a function does, although it has no body: it is of the library, an
    /// operation, or a function by which programs say that something is wrong.
    pub(crate) fn is_known(&self, f: FnId) -> bool {
        let name = self.names.name(self.typed.funcs[f].name);
        match self.contracts.get(name) {
            // Otherwise the name is used for something else, or in a way that the source does not fit.
            Some(contract) => match contract.meaning {
                Meaning::Operation | Meaning::Scan => true,
                _ => self.library.instead.contains_key(&f) || self.fits(f, contract),
            },
            None => {
                name.starts_with(['$', '.'])
                    || self.contracts.effect(name).is_some()
                    || matches!(name, "__VERIFIER_error" | "reach_error")
                    || crate::library::is_operation(name)
            }
        }
    }

    /// Whether a function is declared as the table says, as far as it matters for calls.
    fn fits(&self, f: FnId, contract: &Contract<'_>) -> bool {
        let types = &self.typed.types;
        let Some(sig) = types.callable_sig(self.typed.funcs[f].ty) else { return false };
        let sig = types.sig(sig);
        let fits = |(ty, param): (&CTypeId, &crate::contract::Param<'_>)| match self.scalar(*ty) {
            Some(Scalar::Ptr) => param.ty.contains('*') || param.role == Role::List,
            Some(Scalar::Float(_)) => param.ty.contains("float") || param.ty.contains("double"),
            Some(Scalar::Int(_)) => matches!(param.role, Role::Number(_)) && !param.ty.contains("double"),
            None => param.role == Role::List,
        };
        !sig.prototype
            || sig.params.len() == contract.params.len() && sig.params.iter().zip(&contract.params).all(fits)
    }

    /// The line of the table for a function of the program that the library stands for.
    fn contract_of(&self, f: FnId) -> Option<&Contract<'static>> {
        let func = &self.typed.funcs[f];
        let contract = self.contracts.get(self.names.name(func.name))?;
        let external = func.body.is_none();
        let ours =
            self.library.instead.contains_key(&f) || contract.effect().is_some() && self.fits(f, contract);
        (external && ours).then_some(contract)
    }

    /// Checks the arguments of a call as the table says. The text that the call writes, if it does.
    #[allow(clippy::collapsible_match)] // One arm for each role, whether it is checked or not.
    pub(crate) fn caller_checks(
        &mut self,
        f: FnId,
        texprs: &[TExprId],
        args: &[Arg],
        span: Span,
    ) -> Option<Text> {
        let contract = self.contract_of(f)?;
        if !contract.has_caller_checks() || args.len() < contract.params.len() {
            return None;
        }
        let contract = contract.clone();
        let native = contract.effect().is_some();
        for (i, param) in contract.params.iter().enumerate() {
            let Arg::Scalar(value) = args[i] else { continue };
            let is_pointer = self.pool.ty(value) == Scalar::Ptr;
            match param.role {
                Role::Text(_) | Role::WideText if is_pointer && !self.is_literal(texprs[i]) => {
                    if self.options.checks.contains(CheckKind::Deref) {
                        let helper = match param.role {
                            Role::WideText => "check_wide_string",
                            _ if param.optional => "check_optional_string",
                            _ => "check_string",
                        };
                        self.call_helper(helper, &[value], span);
                    }
                }
                Role::Format if is_pointer && !self.is_literal(texprs[i]) => {
                    if self.options.checks.contains(CheckKind::Deref) {
                        self.call_helper("check_string", &[value], span);
                    }
                }
                Role::File if is_pointer => self.check_stream(value, texprs[i], param.optional, span),
                Role::Memory { read, size, .. } if native && is_pointer => {
                    let size = self.size_of_argument(&contract, size, args);
                    self.check_bytes(value, size, !read, span);
                }
                _ => {}
            }
        }
        let Some(Effect::Native(Native::Printf(printf))) = contract.effect() else { return None };
        let length = self.check_printf(printf, texprs, args, span)?;
        let Some(&Arg::Scalar(to)) = args.first() else { return None };
        let to = self.save(to, span);
        let one = self.pool.size(1);
        let whole = self.pool.binary(BinOp::Add, length, one);
        if printf.to == To::String {
            self.check_bytes(to, whole, true, span);
            return Some(Text { to, length, last: None });
        }
        let Some(&Arg::Scalar(limit)) = args.get(1) else { return None };
        let size = self.size_t();
        let limit = self.pool.convert(limit, Scalar::Int(size));
        let fits = self.pool.cmp(CmpOp::Le, whole, limit);
        let written = self.pool.ite(fits, whole, limit);
        let written = self.save(written, span);
        self.check_bytes(to, written, true, span);
        let zero = self.pool.size(0);
        let some = self.pool.cmp(CmpOp::Ne, written, zero);
        let last = self.pool.binary(BinOp::Sub, written, one);
        Some(Text { to, length, last: Some((some, last)) })
    }

    /// A product of arguments, as the table writes it.
    fn size_of_argument(&mut self, contract: &Contract<'_>, size: &str, args: &[Arg]) -> ExprId {
        let ty = self.size_t();
        let mut product = self.pool.size(1);
        for factor in size.split('*') {
            let position = contract.params.iter().position(|p| p.name == factor);
            let factor = match (position.and_then(|i| args.get(i)), factor.parse()) {
                (Some(&Arg::Scalar(value)), _) => self.pool.convert(value, Scalar::Int(ty)),
                (_, Ok(bytes)) => self.pool.size(bytes),
                _ => continue,
            };
            product = self.pool.binary(BinOp::Mul, product, factor);
        }
        product
    }

    /// Checks that a stream is open.
    fn check_stream(&mut self, stream: ExprId, e: TExprId, optional: bool, span: Span) {
        let checks = self.options.checks;
        if !checks.contains(CheckKind::Deref) && !checks.contains(CheckKind::Free) {
            return;
        }
        // The standard streams are open as long as nobody can close them.
        let closes = ["fclose", "freopen"].iter().any(|f| self.library.by_name.contains_key(*f));
        if !closes && self.is_library_object(e) {
            return;
        }
        if optional {
            let null = self.pool.null();
            let given = self.pool.cmp(CmpOp::Ne, stream, null);
            let (yes, no) = (self.at.graph.node(span), self.at.graph.node(span));
            self.split(given, yes, no, span);
            self.at.graph.move_to(Some(yes));
            self.call_helper("check_open", &[stream], span);
            self.at.graph.enter(no);
        } else {
            self.call_helper("check_open", &[stream], span);
        }
    }

    fn is_library_object(&self, e: TExprId) -> bool {
        let TExprKind::Load(place) = *self.kind(self.same_machine_value(e)) else { return false };
        match *self.kind(place) {
            TExprKind::Object(obj) => self.library.objects.contains_key(&obj),
            _ => false,
        }
    }

    /// What is known after a call of a function that the interpreter has code for.
    pub(crate) fn after_native(
        &mut self,
        func: FuncId,
        text: Option<Text>,
        dst: Option<PlaceId>,
        span: Span,
    ) {
        let function = &self.pool.program.funcs[func];
        let (name, effect) = (function.name.clone(), function.effect);
        let Effect::Native(native) = effect else { return };
        if self.contracts.get(&name).is_some_and(|c| c.errno) {
            self.set_errno(!matches!(native, Native::Math(..)), span);
        }
        let Some(text) = text else { return };
        let (some, at) = match text.last {
            None => (None, text.length),
            Some((some, at)) => (Some(some), at),
        };
        let char_type = self.int_type(IntTy { bits: 8, signed: true });
        let place = self.pool.ptr_add(text.to, at, 1);
        let place = self.pointed_to(place, char_type);
        let end = self.pool.load(place);
        let zero = self.pool.int(IntTy { bits: 8, signed: true }, 0);
        let ended = self.pool.cmp(CmpOp::Eq, end, zero);
        let ended = match some {
            None => ended,
            Some(some) => {
                let yes = self.pool.truth(true);
                self.pool.ite(some, ended, yes)
            }
        };
        self.emit(Op::Assume { cond: ended }, span);
        if let Some(dst) = dst
            && self.pool.program.place_scalar(dst) == Some(Scalar::Int(IntTy::I32))
        {
            let result = self.pool.load(dst);
            let length = self.pool.convert_int(text.length, IntTy::I32);
            let same = self.pool.cmp(CmpOp::Eq, result, length);
            self.emit(Op::Assume { cond: same }, span);
        }
    }

    /// `errno` becomes any error, surely or in cases that nobody computes.
    pub(crate) fn set_errno(&mut self, surely: bool, span: Span) {
        let Some(errno) = self.library.errno else { return };
        let var = self.var_of(errno);
        let dst = self.pool.var(var);
        if !surely {
            self.call_effect(Effect::Opaque, span);
        }
        let raw = self.havoc(Scalar::Int(IntTy::I32), false, span);
        let (zero, one) = (self.pool.int(IntTy::I32, 0), self.pool.int(IntTy::I32, 1));
        let error = self.pool.cmp(CmpOp::Lt, zero, raw);
        let otherwise = if surely { one } else { self.pool.load(dst) };
        let value = self.pool.ite(error, raw, otherwise);
        self.assign(dst, value, span);
    }

    /// A function without a body that has an effect, an `int` as its result and pointers as parameters.
    pub(crate) fn function_with(&mut self, effect: Effect, params: usize, variadic: bool) -> FuncId {
        if let Some((_, func)) = self.effect_functions.iter().find(|(e, _)| *e == effect) {
            return *func;
        }
        let (int, ptr) = (self.int_type(IntTy::I32), self.scalar_type(Scalar::Ptr));
        let sig = Signature { ret: int, params: vec![ptr; params], variadic };
        let ty = self.pool.program.types.push(Type::Func(sig));
        let name = format!(".{effect}").replace(' ', "_").into();
        let function = Function { name, ty, span: Span::NONE, body: None, effect };
        let func = self.pool.program.funcs.push(function);
        self.effect_functions.push((effect, func));
        func
    }

    /// A step that has an effect.
    pub(crate) fn call_effect(&mut self, effect: Effect, span: Span) {
        let callee = Callee::Direct(self.function_with(effect, 0, false));
        self.emit(Op::Call { dst: None, callee, args: [].into() }, span);
    }

    /// Calls a function of the library source.
    pub(crate) fn call_helper(&mut self, name: &str, args: &[ExprId], span: Span) {
        let Some(&f) = self.library.by_name.get(name) else { return };
        let callee = Callee::Direct(self.func_of(f));
        let args = args.iter().map(|&a| Arg::Scalar(a)).collect();
        self.emit(Op::Call { dst: None, callee, args }, span);
    }

    /// The result of a function of the library source, which returns a `size_t`.
    pub(crate) fn helper_value(&mut self, name: &str, args: &[ExprId], span: Span) -> Option<ExprId> {
        let &f = self.library.by_name.get(name)?;
        let callee = Callee::Direct(self.func_of(f));
        let var = self.scalar_temp(Scalar::Int(self.size_t()));
        let dst = self.pool.var(var);
        let args = args.iter().map(|&a| Arg::Scalar(a)).collect();
        self.emit(Op::Call { dst: Some(dst), callee, args }, span);
        Some(self.pool.load(dst))
    }

    /// A call of the `scanf` family.
    pub(crate) fn scan_call(&mut self, e: TExprId, f: FnId, into: Into) -> Option<Option<ExprId>> {
        let name = self.names.name(self.typed.funcs[f].name);
        let contract = self.contracts.get(name).filter(|c| c.meaning == Meaning::Scan)?.clone();
        let span = self.span(e);
        let TExprKind::Call { args: ref texprs, .. } = *self.kind(e) else { return None };
        let fixed = contract.params.len();
        if texprs.len() < fixed {
            return None;
        }
        let args = self.arguments(texprs);
        let first = contract.params[0].role;
        let source = match (first, args[0]) {
            (Role::Text(_), Arg::Scalar(text)) => Some(text),
            _ => None,
        };
        if let (Role::File, Arg::Scalar(stream)) = (first, args[0]) {
            self.check_stream(stream, texprs[0], false, span);
        }
        let input = fixed == 1;
        match self.expand_scanf(texprs[fixed - 1], &args[fixed..], source, input, span) {
            Some(count) => Some(self.give(count, into, e)),
            None => {
                self.call_effect(Effect::Unmodelled, span);
                let value = self.havoc(Scalar::Int(IntTy::I32), false, span);
                Some(self.give(value, into, e))
            }
        }
    }
}
