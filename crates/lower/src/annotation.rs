//! What annotations demand, as checks; of those who call the entry function it is taken for granted.

use crate::Lowerer;
use crate::lowerer::Watched;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_cfa::*;

impl Lowerer<'_> {
    /// A check that an expression is not zero. Each part of a conjunction has its own.
    pub(crate) fn demand(&mut self, e: TExprId) {
        if !self.wants(CheckKind::Assertion) {
            return;
        }
        let span = self.span(e);
        match *self.kind(e) {
            TExprKind::Logical { and: true, .. } => {
                for operand in self.logical_operands(e).1 {
                    self.demand(operand);
                }
            }
            _ => {
                let cond = self.truth(e);
                self.check(CheckKind::Assertion, cond, span);
            }
        }
    }

    /// What a function demands where it starts. Who calls the entry function first keeps to it.
    pub(crate) fn require(&mut self, f: FnId, func: FuncId, body: &FuncBody) {
        if body.left_out {
            self.pool.program.assume(Assumed::AnnotationsLeftOut, func, body.span);
        }
        if body.requires.is_empty() {
            return;
        }
        let name = self.names.name(self.typed.funcs[f].name);
        if name != self.options.entry || self.is_library(f) {
            return body.requires.iter().for_each(|&e| self.demand(e));
        }
        self.pool.program.assume(Assumed::EntryAsRequired, func, body.span);
        if !self.is_mentioned(f) {
            return self.take_for_granted(&body.requires);
        }
        // The first call is the one that nobody sees.
        let span = self.typed.funcs[f].span;
        let ty = self.int_type(IntTy::I32);
        let called = self.pool.program.vars.push(Var::made_up_global(".called", ty));
        let called = self.pool.var(called);
        let before = self.pool.load(called);
        let (again, first, after) =
            (self.at.graph.node(span), self.at.graph.node(span), self.at.graph.node(span));
        let truth = self.pool.is_true(before);
        self.split(truth, again, first, span);
        self.at.graph.move_to(Some(again));
        body.requires.iter().for_each(|&e| self.demand(e));
        self.at.graph.jump(after);
        self.at.graph.move_to(Some(first));
        let one = self.pool.int(IntTy::I32, 1);
        self.assign(called, one, span);
        self.take_for_granted(&body.requires);
        self.at.graph.enter(after);
    }

    fn take_for_granted(&mut self, truths: &[TExprId]) {
        self.at.assuming = true;
        truths.iter().for_each(|&e| self.assume(e));
        self.at.assuming = false;
    }

    /// Whether the program calls a function itself, or takes its address.
    fn is_mentioned(&self, f: FnId) -> bool {
        let mentions = |e: &TExpr| matches!(e.kind, TExprKind::Func(g) | TExprKind::FuncAddr(g) if g == f);
        let holds = |o: &Object| {
            let image = o.image.iter().flat_map(|i| &i.items);
            image.into_iter().any(|item| matches!(item.value, ConstValue::Func(g) if g == f))
        };
        self.typed.exprs.iter().any(mentions) || self.typed.objects.iter().any(holds)
    }

    /// What a function demands of itself when it returns.
    pub(crate) fn ensure(&mut self, value: Option<Arg>, span: Span) {
        self.look_at_watched();
        if self.at.ensures.is_empty() {
            return;
        }
        if let (Some(result), Some(Arg::Scalar(value))) = (self.at.result, value) {
            let var = self.var_of(result);
            let place = self.pool.var(var);
            self.assign(place, value, span);
        }
        for e in self.at.ensures.clone() {
            self.demand(e);
        }
    }

    /// Chooses a byte that the function must leave as it is (ACSL 2.3.5): one of a global or of an object that a
    /// parameter points to, and not of what may be assigned. The check holds for all choices.
    pub(crate) fn watch(&mut self, func: FuncId, body: &FuncBody) {
        let Some(assigns) = body.assigns.as_ref().filter(|_| self.wants(CheckKind::Assertion)) else {
            return;
        };
        let span = assigns.span;
        self.pool.program.assume(Assumed::AssignsNearby, func, span);
        let byte = IntTy { bits: 8, signed: false };
        let watched =
            Watched { at: self.scalar_temp(Scalar::Ptr), was: self.scalar_temp(Scalar::Int(byte)), span };
        let (at, was) = (self.pool.var(watched.at), self.pool.var(watched.was));
        let null = self.pool.null();
        self.assign(at, null, span);
        let mut allowed = Vec::new();
        for &(start, bytes) in &assigns.regions {
            let (start, bytes) = (self.value(start), self.value(bytes));
            allowed.push((self.save(start, span), self.save(bytes, span)));
        }
        let bases = self.watchable(body);
        let choice = self.havoc(Scalar::Int(IntTy::I32), false, span);
        let after = self.at.graph.node(span);
        for (number, base) in (0..).zip(bases) {
            let (this, other) = (self.at.graph.node(span), self.at.graph.node(span));
            let number = self.pool.int(IntTy::I32, number);
            let chosen = self.pool.cmp(CmpOp::Eq, choice, number);
            self.split(chosen, this, other, span);
            self.at.graph.move_to(Some(this));
            let index = self.havoc(Scalar::Int(self.size_t()), false, span);
            let place = self.pool.ptr_add(base, index, 1);
            let one = self.pool.size(1);
            let cond = self.pool.valid(place, one);
            self.emit(Op::Assume { cond }, span);
            for &(start, bytes) in &allowed {
                let [from, to] = [start, place].map(|p| self.pool.convert_int(p, self.size_t()));
                let distance = self.pool.binary(BinOp::Sub, to, from);
                let cond = self.pool.cmp(CmpOp::Le, bytes, distance);
                self.emit(Op::Assume { cond }, span);
            }
            self.assign(at, place, span);
            let content = self.byte_at(watched);
            self.assign(was, content, span);
            self.at.graph.jump(after);
            self.at.graph.move_to(Some(other));
        }
        self.at.graph.enter(after);
        self.at.watched = Some(watched);
    }

    /// Pointers into all that is watched.
    fn watchable(&mut self, body: &FuncBody) -> Vec<ExprId> {
        let mut found = Vec::new();
        let typed = self.typed;
        for (obj, object) in typed.objects.iter_enumerated() {
            let own = match object.kind {
                ObjKind::Global => object.name.is_some_and(|n| !self.names.name(n).starts_with('$')),
                ObjKind::StaticLocal(f) => !self.is_library(f),
                _ => false,
            };
            if own && object.image.is_some() && !object.ty.quals.is_const() {
                let var = self.var_of(obj);
                let place = self.pool.var(var);
                found.push(self.pool.addr(place));
            }
        }
        for &param in &body.params {
            if typed.types.pointee(typed.objects[param].ty.ty).is_some() {
                let var = self.var_of(param);
                found.push(self.pool.load_var(var));
            }
        }
        found
    }

    fn byte_at(&mut self, watched: Watched) -> ExprId {
        let pointer = self.pool.load_var(watched.at);
        let ty = self.int_type(IntTy { bits: 8, signed: false });
        let place = Place { base: Base::Deref(pointer), path: Default::default(), ty, bits: None };
        let place = self.pool.place(place);
        self.pool.load(place)
    }

    /// Checks that the watched byte, if it is still there, is what it was.
    fn look_at_watched(&mut self) {
        let Some(watched) = self.at.watched else { return };
        let span = watched.span;
        let pointer = self.pool.load_var(watched.at);
        let one = self.pool.size(1);
        // A null pointer is not valid.
        let there = self.pool.valid(pointer, one);
        let (yes, after) = (self.at.graph.node(span), self.at.graph.node(span));
        self.split(there, yes, after, span);
        self.at.graph.move_to(Some(yes));
        let (is, was) = (self.byte_at(watched), self.pool.load_var(watched.was));
        let cond = self.pool.cmp(CmpOp::Eq, is, was);
        self.check(CheckKind::Assertion, cond, span);
        self.at.graph.enter(after);
    }
}
