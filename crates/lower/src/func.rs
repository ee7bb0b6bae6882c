//! Function bodies, and where the program starts.

use crate::Lowerer;
use crate::arguments::Room;
use crate::lowerer::Current;
use palisade_base::{Diagnostic, Span};
use palisade_c_types::tast::*;
use palisade_cfa::*;

impl Lowerer<'_> {
    /// Lowers a function that has a body.
    pub(crate) fn function(&mut self, f: FnId) {
        let func = self.func_of(f);
        let Some(body) = &self.typed.funcs[f].body else { return };
        self.at = Current::new(func, body.span);
        self.at.has_labels = self.scan.has_labels[f];
        self.at.addressed_labels = body.addressed_labels.clone();
        let mut params: Vec<VarId> = body.params.iter().map(|&p| self.var_of(p)).collect();
        let Type::Func(sig) = &self.pool.program.types[self.pool.program.funcs[func].ty] else { return };
        if sig.variadic {
            let ty = self.scalar_type(Scalar::Ptr);
            let hidden = self.pool.program.vars.push(Var::made_up(".varargs", ty, VarKind::Param(func)));
            params.push(hidden);
            self.at.varargs = Some(hidden);
        }
        self.at.ensures = body.ensures.clone();
        self.at.result = body.result;
        self.require(f, func, body);
        self.watch(func, body);
        for &stmt in &body.prologue {
            self.stmt(stmt);
        }
        self.stmt(body.body);
        if self.at.graph.reachable() {
            let end = Span::new(body.span.hi.saturating_sub(1).max(body.span.lo), body.span.hi);
            let is_main = self.names.name(self.typed.funcs[f].name) == "main";
            let value = if is_main { self.zero_result() } else { None };
            let value = value.or_else(|| self.arbitrary_result(end));
            self.ensure(value, end);
            self.at.graph.leave(Op::Return { value }, end);
        }
        self.finish_gotos();
        self.install(params, body.span);
    }

    /// Lowers the library functions that are mentioned so far, and those that these mention.
    pub(crate) fn library_bodies(&mut self) {
        loop {
            self.make_images();
            let waiting = self.typed.funcs.ids().find(|&f| {
                let made = self.funcs[f].map(|func| self.pool.program.funcs[func].body.is_some());
                self.is_library(f) && made == Some(false)
            });
            match waiting {
                Some(f) => self.function(f),
                None => return,
            }
        }
    }

    /// `main` returns 0 if it ends without a return statement.
    fn zero_result(&mut self) -> Option<Arg> {
        let Type::Func(sig) = &self.pool.program.types[self.pool.program.funcs[self.at.func].ty] else {
            return None;
        };
        match self.pool.program.scalar_of(sig.ret) {
            Some(Scalar::Int(ty)) => Some(Arg::Scalar(self.pool.int(ty, 0))),
            _ => None,
        }
    }

    /// Puts the finished graph into the program.
    fn install(&mut self, params: Vec<VarId>, span: Span) {
        let at = std::mem::replace(&mut self.at, Current::new(FuncId(0), span));
        let (entry, exit) = at.graph.install(&mut self.pool.program, at.func);
        self.pool.program.funcs[at.func].body = Some(Body { params, locals: at.locals, entry, exit });
    }

    /// Finds where the program starts: the entry function itself, or one that makes arguments for
    /// it and runs what is registered for the end.
    pub(crate) fn entry(&mut self) -> Option<FuncId> {
        if self.options.entry.is_empty() {
            let start = self.begin_start(Span::NONE);
            self.end_start(None, Span::NONE);
            return Some(start);
        }
        let named = self.typed.funcs.iter_enumerated().find(|(id, func)| {
            func.body.is_some() && self.names.name(func.name) == self.options.entry && !self.is_library(*id)
        });
        let Some((f, func)) = named else {
            let message = format!("there is no function `{}` to start with", self.options.entry);
            self.diagnostics.push(Diagnostic::error(Span::NONE, message));
            return None;
        };
        let main = self.func_of(f);
        let body = func.body.as_ref()?;
        if self.options.entry != "main" {
            self.assume_about_entry(main, &body.params, func.span);
        }
        let params = &body.params;
        let variadic = matches!(&self.pool.program.types[self.pool.program.funcs[main].ty],
            Type::Func(sig) if sig.variadic);
        let beside = self.typed.funcs.iter().any(|f| f.constructor.or(f.destructor).is_some());
        let undefined = self.undefined_globals();
        let plain = params.is_empty() && !variadic && undefined.is_empty();
        if plain && self.library.at_end.exit.is_none() && !beside {
            return Some(main);
        }
        Some(self.start(main, params, variadic, &undefined, func.span))
    }

    /// The functions with a body that have a priority of some kind, in its order.
    pub(crate) fn in_order(&self, priority: impl Fn(&Func) -> Option<u32>) -> Vec<FnId> {
        let funcs = self.typed.funcs.iter_enumerated().filter(|(_, f)| f.body.is_some());
        let mut found: Vec<(u32, FnId)> = funcs.filter_map(|(id, f)| Some((priority(f)?, id))).collect();
        found.sort();
        found.into_iter().map(|(_, f)| f).collect()
    }

    /// Calls a constructor or destructor; should it have parameters, nobody says what they are.
    pub(crate) fn call_plainly(&mut self, f: FnId, span: Span) {
        let func = self.func_of(f);
        let Type::Func(sig) = &self.pool.program.types[self.pool.program.funcs[func].ty] else { return };
        let params = sig.params.clone();
        let args = params.into_iter().map(|param| self.fit_argument(None, param, span)).collect();
        self.emit(Op::Call { dst: None, callee: Callee::Direct(func), args }, span);
    }

    /// Globals that the program mentions and nobody defines.
    fn undefined_globals(&self) -> Vec<VarId> {
        let p = &self.pool.program;
        let undefined = |v: &Var| {
            v.kind == VarKind::Global && v.init == Init::Unknown && p.size_of(v.ty).is_some_and(|n| n > 0)
        };
        // The interpreter has the standard streams.
        let stream = |v: &Var| matches!(&*v.name, "stdin" | "stdout" | "stderr");
        let all = p.vars.iter_enumerated();
        all.filter(|(_, v)| undefined(v) && !stream(v)).map(|(id, _)| id).collect()
    }

    /// The function `.start`: any contents of globals that nobody defines and any arguments, each a
    /// step of its own so that a counterexample can tell them, constructors, then the entry function.
    ///
    /// The number of arguments is not negative (C11 5.1.2.2.1 does not promise a program's name). The
    /// arguments are distinct objects that hold terminated strings of any length, and a null pointer
    /// follows them.
    fn start(
        &mut self,
        main: FuncId,
        params: &[ObjId],
        variadic: bool,
        undefined: &[VarId],
        span: Span,
    ) -> FuncId {
        let start = self.begin_start(span);
        for &var in undefined {
            let dst = self.pool.var(var);
            self.emit(Op::Havoc { dst, input: false }, span);
        }
        for f in self.in_order(|f| f.constructor) {
            self.call_plainly(f, span);
        }
        let is_main = self.options.entry == "main";
        let mut count = None;
        let mut room = Room::default();
        let mut args = Vec::new();
        for (i, &param) in params.iter().enumerate() {
            let var = self.vars[param].expect("the function's parameters were lowered");
            let ty = self.pool.program.vars[var].ty;
            let scalar = self.pool.program.scalar_of(ty);
            let used = self.scan.used[param].is_some();
            args.push(match (i, scalar) {
                (0, Some(Scalar::Int(int))) if is_main => {
                    let n = self.argument_count(span);
                    count = Some(n);
                    Arg::Scalar(self.pool.convert_int(n, int))
                }
                (1 | 2, Some(Scalar::Ptr)) if is_main && used => {
                    // The environment has a length of its own.
                    let n = match count {
                        Some(n) if i == 1 => n,
                        _ => self.argument_count(span),
                    };
                    Arg::Scalar(self.argument_strings(n, span))
                }
                _ if !is_main => self.entry_argument(param, var, &mut room, span),
                (_, Some(scalar)) => Arg::Scalar(self.havoc(scalar, false, span)),
                (_, None) => {
                    let var = self.temp(ty);
                    let dst = self.pool.var(var);
                    self.emit(Op::Havoc { dst, input: false }, span);
                    Arg::Aggregate(dst)
                }
            });
        }
        if variadic {
            let null = self.pool.null();
            args.push(Arg::Scalar(null));
        }
        let Type::Func(sig) = &self.pool.program.types[self.pool.program.funcs[main].ty] else {
            return start;
        };
        let dst = match self.pool.program.scalar_of(sig.ret) {
            Some(ty @ Scalar::Int(_)) => {
                let var = self.scalar_temp(ty);
                Some(self.pool.var(var))
            }
            _ => None,
        };
        self.emit(Op::Call { dst, callee: Callee::Direct(main), args: args.into() }, span);
        let status = match dst {
            Some(place) => {
                let status = self.pool.load(place);
                self.pool.convert_int(status, IntTy::I32)
            }
            None => self.pool.int(IntTy::I32, 0),
        };
        self.run_exit_handlers(status, span);
        self.end_start(dst, span);
        start
    }

    /// Begins the function `.start`, which has no parameters and an `int` result.
    fn begin_start(&mut self, span: Span) -> FuncId {
        let int = self.int_type(IntTy::I32);
        let ty = Type::Func(Signature { ret: int, params: Vec::new(), variadic: false });
        let ty = self.pool.program.types.push(ty);
        let start = self.pool.program.funcs.push(Function {
            name: ".start".into(),
            ty,
            span,
            body: None,
            effect: Effect::Pure,
        });
        self.at = Current::new(start, span);
        start
    }

    /// Ends the function `.start` with a place's contents as its result, or 0.
    fn end_start(&mut self, result: Option<PlaceId>, span: Span) {
        let status = match result {
            Some(place) => self.pool.load(place),
            None => self.pool.int(IntTy::I32, 0),
        };
        let status = self.pool.convert_int(status, IntTy::I32);
        self.at.graph.leave(Op::Return { value: Some(Arg::Scalar(status)) }, span);
        self.install(Vec::new(), span);
    }
}
