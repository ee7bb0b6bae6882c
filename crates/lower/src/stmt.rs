//! Statements.

use crate::Lowerer;
use crate::lowerer::Reported;
use crate::scope::Target;
use palisade_base::Span;
use palisade_c_types::tast::{InitValue, *};
use palisade_cfa::*;
use rustc_hash::FxHashSet;

impl Lowerer<'_> {
    pub(crate) fn stmt(&mut self, id: TStmtId) {
        let stmt = &self.typed.stmts[id];
        let span = stmt.span;
        match stmt.kind {
            TStmtKind::Empty => {}
            TStmtKind::Expr(e) => self.effects(e),
            TStmtKind::Block { .. } => {
                self.open_block(id);
                self.close_block(id);
            }
            TStmtKind::Decl { obj, init } => self.declaration(obj, init, span),
            TStmtKind::Labeled { ref labels, stmt } => {
                for &label in labels {
                    self.place_label(label);
                }
                self.stmt(stmt);
            }
            TStmtKind::If { cond, then, else_ } => self.if_chain(cond, then, else_, span),
            TStmtKind::While { cond, body } => self.while_loop(cond, body, span),
            TStmtKind::DoWhile { body, cond, .. } => self.do_loop(body, cond, span),
            TStmtKind::For { init, cond, step, body } => self.for_loop(init, cond, step, body, span),
            TStmtKind::Switch(ref switch) => self.switch(switch, span),
            TStmtKind::Goto(label) => self.goto(label, span),
            TStmtKind::GotoComputed(target) => self.computed_goto(target, span),
            TStmtKind::Break => self.jump_out(self.at.breaks.last().copied(), span),
            TStmtKind::Continue => self.jump_out(self.at.continues.last().copied(), span),
            TStmtKind::Return(value) => self.return_stmt(value, span),
            TStmtKind::Asm(ref asm) => self.asm(asm, span),
            TStmtKind::Demand(e) => self.demand(e),
            TStmtKind::Invariants(ref truths) => self.at.invariants = truths.to_vec(),
        }
    }

    /// Starts a block and lowers its statements; the block stays open.
    pub(crate) fn open_block(&mut self, id: TStmtId) {
        let stmt = &self.typed.stmts[id];
        let TStmtKind::Block { ref stmts, ref objects } = stmt.kind else { return self.stmt(id) };
        if !objects.is_empty() {
            let mut first = FxHashSet::default();
            if self.at.has_labels {
                first.extend(stmts.iter().map_while(|&s| match self.typed.stmts[s].kind {
                    TStmtKind::Decl { obj, .. } => Some(obj),
                    _ => None,
                }));
            }
            self.open_scope(objects, &first, stmt.span);
        }
        for &stmt in stmts {
            self.stmt(stmt);
        }
    }

    pub(crate) fn close_block(&mut self, id: TStmtId) {
        let stmt = &self.typed.stmts[id];
        if let TStmtKind::Block { ref objects, .. } = stmt.kind
            && !objects.is_empty()
        {
            self.close_scope(stmt.span);
        }
    }

    fn declaration(&mut self, obj: ObjId, init: Option<InitId>, span: Span) {
        let var = self.var_of(obj);
        if let Some(size) = self.typed.objects[obj].vla_size {
            let size = self.array_size(size, span);
            let dst = self.pool.var(var);
            if self.at.has_labels {
                // A jump back before the declaration ends the array's life.
                let ptr = self.pool.load(dst);
                self.emit(Op::Free { ptr }, span);
            }
            self.emit(Op::Alloc { dst, size, kind: AllocKind::Stack, zeroed: false }, span);
            return;
        }
        // A register that is initialised as a whole holds nothing arbitrary at any time, unless its
        // own initialiser reads it.
        let whole = init.is_some_and(|init| match self.typed.inits[init].items.as_slice() {
            [only] if only.path.is_empty() => match only.value {
                InitValue::Expr(e) => self.scan.used[obj].is_none_or(|first| first > e),
                InitValue::String(_) => true,
            },
            _ => false,
        });
        let register = crate::scan::is_register(self.typed, &self.scan, obj);
        if !register && self.lives_already(var) {
            // The same object with an indeterminate value, which an initialiser replaces.
            if init.is_none() {
                let dst = self.pool.var(var);
                self.emit(Op::Havoc { dst, input: false }, span);
            }
        } else if !(register && whole) {
            self.emit(Op::Enter { var }, span);
        }
        self.note_exit(obj, var);
        if let Some(init) = init {
            self.initialise(obj, init, span);
        }
    }

    /// The size of a variable length array in bytes. A length that is not positive is undefined
    /// (C11 6.7.6.2); the array then has no element.
    fn array_size(&mut self, size: TExprId, span: Span) -> ExprId {
        let ty = self.size_t();
        let size = self.value(size);
        let size = self.pool.convert_int(size, ty);
        let size = self.save(size, span);
        let signed = self.pool.convert_int(size, IntTy { signed: true, ..ty });
        let zero = self.pool.int(IntTy { signed: true, ..ty }, 0);
        let positive = self.pool.cmp(CmpOp::Lt, zero, signed);
        self.check(CheckKind::ArrayLength, positive, span);
        let none = self.pool.int(ty, 0);
        self.pool.ite(positive, size, none)
    }

    /// `if` with all its `else if`s, which may be many.
    fn if_chain(&mut self, cond: TExprId, then: TStmtId, else_: Option<TStmtId>, span: Span) {
        let join = self.at.graph.node(Span::new(span.hi, span.hi));
        let (mut cond, mut then, mut else_) = (cond, then, else_);
        loop {
            let yes = self.at.graph.node(self.typed.stmts[then].span);
            let Some(other) = else_ else {
                self.condition(cond, yes, join);
                self.at.graph.move_to(Some(yes));
                self.stmt(then);
                break;
            };
            let no = self.at.graph.node(self.typed.stmts[other].span);
            self.condition(cond, yes, no);
            self.at.graph.move_to(Some(yes));
            self.stmt(then);
            self.at.graph.jump(join);
            self.at.graph.move_to(Some(no));
            match self.typed.stmts[other].kind {
                TStmtKind::If { cond: c, then: t, else_: e } => (cond, then, else_) = (c, t, e),
                _ => {
                    self.stmt(other);
                    break;
                }
            }
        }
        self.at.graph.enter(join);
    }

    fn while_loop(&mut self, cond: TExprId, body: TStmtId, span: Span) {
        let head = self.at.graph.node(self.span(cond));
        let inside = self.at.graph.node(self.typed.stmts[body].span);
        let after = self.at.graph.node(Span::new(span.hi, span.hi));
        self.at.graph.mark_loop(head, keyword(span, "while"));
        let invariants = std::mem::take(&mut self.at.invariants);
        self.at.graph.enter(head);
        invariants.into_iter().for_each(|e| self.demand(e));
        self.condition(cond, inside, after);
        self.at.graph.move_to(Some(inside));
        self.loop_body(body, after, head);
        self.at.graph.jump(head);
        self.at.graph.move_to(Some(after));
    }

    fn do_loop(&mut self, body: TStmtId, cond: TExprId, span: Span) {
        let head = self.at.graph.node(self.span(cond));
        let inside = self.at.graph.node(self.typed.stmts[body].span);
        let after = self.at.graph.node(Span::new(span.hi, span.hi));
        let invariants = std::mem::take(&mut self.at.invariants);
        self.at.graph.enter(inside);
        invariants.into_iter().for_each(|e| self.demand(e));
        self.loop_body(body, after, head);
        self.at.graph.enter(head);
        // `do … while (0)` is no loop.
        if !matches!(self.kind(cond), TExprKind::Int(0)) {
            self.at.graph.mark_loop(head, keyword(span, "do"));
        }
        self.condition(cond, inside, after);
        self.at.graph.move_to(Some(after));
    }

    fn for_loop(
        &mut self,
        init: Option<TExprId>,
        cond: Option<TExprId>,
        step: Option<TExprId>,
        body: TStmtId,
        span: Span,
    ) {
        if let Some(init) = init {
            self.effects(init);
        }
        let head = self.at.graph.node(cond.map_or(span, |c| self.span(c)));
        let inside = self.at.graph.node(self.typed.stmts[body].span);
        let after = self.at.graph.node(Span::new(span.hi, span.hi));
        let next = self.at.graph.node(step.map_or(span, |s| self.span(s)));
        self.at.graph.mark_loop(head, keyword(span, "for"));
        let invariants = std::mem::take(&mut self.at.invariants);
        self.at.graph.enter(head);
        invariants.into_iter().for_each(|e| self.demand(e));
        match cond {
            Some(cond) => {
                self.condition(cond, inside, after);
                self.at.graph.move_to(Some(inside));
            }
            None => self.at.graph.enter(inside),
        }
        self.loop_body(body, after, next);
        self.at.graph.enter(next);
        if let Some(step) = step {
            self.effects(step);
        }
        self.at.graph.jump(head);
        self.at.graph.move_to(Some(after));
    }

    fn loop_body(&mut self, body: TStmtId, after: crate::graph::Node, next: crate::graph::Node) {
        let scope = self.at.scope;
        self.at.breaks.push(Target { node: after, scope });
        self.at.continues.push(Target { node: next, scope });
        self.stmt(body);
        self.at.breaks.pop();
        self.at.continues.pop();
    }

    fn jump_out(&mut self, target: Option<Target>, span: Span) {
        // The type checker admits `break` and `continue` only where they lead somewhere.
        let Some(target) = target else { return };
        self.leave_scopes(target.scope, span);
        self.at.graph.jump(target.node);
    }

    /// A chain of comparisons, in the order of the cases.
    fn switch(&mut self, switch: &Switch, span: Span) {
        let at = self.span(switch.value);
        let value = self.value(switch.value);
        // The value is compared many times.
        let value = if self.pool.depth(value) > 2 { self.save(value, at) } else { value };
        let after = self.at.graph.node(Span::new(span.hi, span.hi));
        let ty = self.pool.ty(value).int().unwrap_or(IntTy::I32);
        for case in &switch.cases {
            let label_span = self.typed.labels[case.label].span;
            let low = self.pool.push(Scalar::Int(ty), ExprKind::Int(ty.truncate(case.lo)));
            let chosen = if case.lo == case.hi {
                self.pool.cmp(CmpOp::Eq, value, low)
            } else {
                let high = self.pool.push(Scalar::Int(ty), ExprKind::Int(ty.truncate(case.hi)));
                let above = self.pool.cmp(CmpOp::Le, low, value);
                let below = self.pool.cmp(CmpOp::Le, value, high);
                self.pool.and(above, below)
            };
            let (yes, no) = (self.at.graph.node(label_span), self.at.graph.node(at));
            self.split(chosen, yes, no, label_span);
            self.at.graph.move_to(Some(yes));
            self.goto(case.label, label_span);
            self.at.graph.move_to(Some(no));
        }
        match switch.default {
            Some(label) => self.goto(label, self.typed.labels[label].span),
            None => self.at.graph.jump(after),
        }
        self.at.breaks.push(Target { node: after, scope: self.at.scope });
        self.stmt(switch.body);
        self.at.breaks.pop();
        self.at.graph.enter(after);
    }

    /// Compares the target with the number of each label whose address is taken.
    fn computed_goto(&mut self, target: TExprId, span: Span) {
        let value = self.value(target);
        let value = self.save(value, span);
        for label in self.at.addressed_labels.clone() {
            let number = self.label_number(label);
            let number = self.pool.push(Scalar::Ptr, ExprKind::Int(number.into()));
            let equal = self.pool.cmp(CmpOp::Eq, value, number);
            let (yes, no) = (self.at.graph.node(span), self.at.graph.node(span));
            self.split(equal, yes, no, span);
            self.at.graph.move_to(Some(yes));
            self.goto(label, span);
            self.at.graph.move_to(Some(no));
        }
        self.fail(CheckKind::Unreachable, span);
    }

    fn return_stmt(&mut self, value: Option<TExprId>, span: Span) {
        let value = match value {
            Some(e) if self.scalar_of(e).is_some() => {
                let v = self.value(e);
                let kept = self.has_cleanups() || !self.at.ensures.is_empty();
                Some(Arg::Scalar(if kept { self.save(v, span) } else { v }))
            }
            Some(e) => Some(Arg::Aggregate(self.record(e, None))),
            None => self.arbitrary_result(span),
        };
        self.cleanups(span);
        self.ensure(value, span);
        self.at.graph.leave(Op::Return { value }, span);
    }

    /// What a function returns that ends without saying what.
    pub(crate) fn arbitrary_result(&mut self, span: Span) -> Option<Arg> {
        let Type::Func(sig) = &self.pool.program.types[self.pool.program.funcs[self.at.func].ty] else {
            return None;
        };
        let ret = sig.ret;
        self.pool.program.size_of(ret)?;
        let var = self.temp(ret);
        let dst = self.pool.var(var);
        self.emit(Op::Havoc { dst, input: false }, span);
        Some(match self.pool.program.scalar_of(ret) {
            Some(_) => Arg::Scalar(self.pool.load(dst)),
            None => Arg::Aggregate(dst),
        })
    }

    fn asm(&mut self, asm: &Asm, span: Span) {
        self.pool.program.assume(Assumed::AsmChangesOutputs, self.at.func, span);
        if asm.clobbers_memory {
            let message = "`asm` is taken to change its outputs only: its memory clobber is ignored";
            self.warn_once(Reported::AsmMemory, span, message);
        }
        for &input in &asm.inputs {
            self.effects(input);
        }
        if asm.clobbers_memory && !asm.inputs.is_empty() && !self.options.competition() {
            self.call_effect(Effect::Unmodelled, span);
        }
        if !asm.outputs.is_empty() {
            // What the outputs really become nobody knows: no run is followed through here.
            self.call_effect(Effect::Opaque, span);
        }
        for &output in &asm.outputs {
            let place = self.place(output);
            self.check_write(place, span);
            if self.pool.program.size_of(self.pool.program.places[place].ty).is_some() {
                self.emit(Op::Havoc { dst: place, input: false }, span);
            }
        }
        for &label in &asm.labels {
            let choice = self.havoc(Scalar::BOOL, false, span);
            let (yes, no) = (self.at.graph.node(span), self.at.graph.node(span));
            self.split(choice, yes, no, span);
            self.at.graph.move_to(Some(yes));
            self.goto(label, span);
            self.at.graph.move_to(Some(no));
        }
    }
}

/// The keyword at the start of a statement.
fn keyword(stmt: Span, word: &str) -> Span {
    Span::new(stmt.lo, stmt.lo.saturating_add(word.len() as u32).min(stmt.hi))
}
