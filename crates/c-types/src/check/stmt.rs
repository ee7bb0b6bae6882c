//! Statements.

use palisade_base::Span;
use palisade_c_syntax::ast::{self, ForInit, StmtKind};
use rustc_hash::FxHashMap;

use super::{Checker, LabelState, SwitchCtx};
use crate::tast::*;
use crate::types::*;

impl<'a> Checker<'a> {
    fn push_stmt(&mut self, kind: TStmtKind, span: Span) -> TStmtId {
        self.prog.stmts.push(TStmt { kind, span })
    }

    /// The body of a function, in the scope of its parameters.
    pub(super) fn function_body(&mut self, list: ast::StmtList, span: Span) -> TStmtId {
        let unit = self.unit;
        let mut stmts = Vec::new();
        for &id in unit.stmt_list(list) {
            self.stmt_into(id, &mut stmts);
        }
        let objects = self.func.as_mut().and_then(|f| f.blocks.pop()).map_or(Vec::new(), |b| b.0);
        self.push_stmt(TStmtKind::Block { stmts: stmts.into(), objects: objects.into() }, span)
    }

    fn open_block(&mut self, end: u32) {
        self.scopes.push();
        if let Some(func) = &mut self.func {
            func.blocks.push((Vec::new(), end));
            func.labels.push(FxHashMap::default());
        }
    }

    fn close_block(&mut self) -> Box<[ObjId]> {
        self.scopes.pop();
        let Some(func) = &mut self.func else { return Box::new([]) };
        let objects = func.blocks.pop().map_or(Vec::new(), |b| b.0);
        let local_labels = func.labels.pop().unwrap_or_default();
        self.report_undefined(local_labels);
        objects.into()
    }

    fn report_undefined(&mut self, labels: FxHashMap<palisade_c_syntax::Symbol, LabelState>) {
        let mut undefined: Vec<LabelState> = labels.into_values().filter(|l| !l.defined).collect();
        undefined.sort_by_key(|l| l.id);
        for label in undefined {
            let symbol = self.prog.labels[label.id].name;
            let name = symbol.map_or("", |n| self.name(n));
            if symbol.is_some_and(|n| self.is_outer_label(n)) {
                let what = "a jump out of a nested function (return a value that says where to go on)";
                self.unsupported(label.span, what);
            } else {
                self.error(label.span, format!("label '{name}' is not defined"));
            }
        }
    }

    /// At the end of a function: every label that was mentioned must exist.
    pub(super) fn check_labels(&mut self) {
        let labels = self.func.as_mut().map(|f| std::mem::take(&mut f.labels)).unwrap_or_default();
        for map in labels {
            self.report_undefined(map);
        }
    }

    /// Checks a statement where exactly one is wanted.
    fn stmt(&mut self, id: ast::StmtId) -> TStmtId {
        let mut out = Vec::new();
        self.stmt_into(id, &mut out);
        match out[..] {
            [one] => one,
            _ => {
                let span = self.unit.stmts[id].span;
                self.push_stmt(TStmtKind::Block { stmts: out.into(), objects: Box::new([]) }, span)
            }
        }
    }

    /// Checks a statement and appends what it amounts to.
    fn stmt_into(&mut self, id: ast::StmtId, out: &mut Vec<TStmtId>) {
        if self.enter(self.unit.stmts[id].span) {
            self.stmt_inner(id, out);
            self.leave();
        }
    }

    fn stmt_inner(&mut self, id: ast::StmtId, out: &mut Vec<TStmtId>) {
        let unit = self.unit;
        let ast::Stmt { ref kind, span } = unit.stmts[id];
        let stmt = match *kind {
            StmtKind::Error | StmtKind::Empty => TStmtKind::Empty,
            StmtKind::Expr(e) => {
                let e = self.expr(e);
                let e = self.discarded(e);
                self.flush_pending(out);
                TStmtKind::Expr(e)
            }
            StmtKind::Function(ref def) => return self.nested_definition(def),
            StmtKind::Decl(decl) => return self.local_declaration(&unit.decls[decl], out),
            StmtKind::StaticAssert(ref assert) => return self.static_assert(assert),
            StmtKind::LocalLabels(ref labels) => return self.local_labels(labels),
            StmtKind::Block(list) => return out.push(self.block(list, span)),
            StmtKind::Labeled { ref labels, stmt } => {
                let labels = self.labels(labels);
                let stmt = self.stmt(stmt);
                TStmtKind::Labeled { labels: labels.into(), stmt }
            }
            StmtKind::If { .. } => return out.push(self.if_chain(id)),
            StmtKind::Switch { value, body } => self.switch(value, body),
            StmtKind::While { cond, body } => {
                self.loop_invariants(span, out);
                let cond = self.condition(cond);
                let body = self.loop_body(body);
                TStmtKind::While { cond, body }
            }
            StmtKind::DoWhile { body, cond, while_pos } => {
                self.loop_invariants(span, out);
                let body = self.loop_body(body);
                let cond = self.condition(cond);
                TStmtKind::DoWhile { body, cond, while_pos }
            }
            StmtKind::For { init, cond, step, body } => {
                return self.for_stmt(init, cond, step, body, span, out);
            }
            StmtKind::Goto(label) => match self.label(label.name, label.span) {
                Some(label) => TStmtKind::Goto(label),
                None => TStmtKind::Empty,
            },
            StmtKind::GotoComputed(e) => {
                let e = self.rvalue(e);
                let ptr = self.prog.types.void_ptr();
                let e = self.assign_convert(e, ptr, "goto");
                TStmtKind::GotoComputed(e)
            }
            StmtKind::Continue => {
                if self.func.as_ref().is_some_and(|f| f.loops == 0) {
                    self.error(span, "'continue' outside a loop");
                }
                TStmtKind::Continue
            }
            StmtKind::Break => {
                if self.func.as_ref().is_some_and(|f| f.breakable == 0) {
                    self.error(span, "'break' outside a loop or switch");
                }
                TStmtKind::Break
            }
            StmtKind::Return(value) => self.return_stmt(value, span, out),
            StmtKind::Asm(ref asm) => self.asm(asm),
            StmtKind::Demand(ref clauses) => {
                for clause in clauses {
                    if let Some(e) = self.clause(clause) {
                        out.push(self.push_stmt(TStmtKind::Demand(e), clause.span));
                    }
                }
                return;
            }
            StmtKind::Annotated { ref clauses, stmt } => {
                self.invariants = clauses;
                return self.stmt_into(stmt, out);
            }
        };
        out.push(self.push_stmt(stmt, span));
    }

    /// Puts what is demanded of a loop before it.
    fn loop_invariants(&mut self, span: Span, out: &mut Vec<TStmtId>) {
        let clauses = std::mem::take(&mut self.invariants);
        let truths: Vec<TExprId> = clauses.iter().filter_map(|clause| self.clause(clause)).collect();
        if !truths.is_empty() {
            out.push(self.push_stmt(TStmtKind::Invariants(truths.into()), span));
        }
    }

    /// An expression whose value is not used; records and arrays need not be copied.
    fn discarded(&mut self, e: TExprId) -> TExprId {
        match self.prog.types.get(self.ty(e)) {
            CType::Array(..) if self.prog.is_lvalue(e) => e,
            _ => self.value_of(e),
        }
    }

    fn block(&mut self, list: ast::StmtList, span: Span) -> TStmtId {
        let unit = self.unit;
        self.open_block(span.hi);
        let mut stmts = Vec::new();
        for &id in unit.stmt_list(list) {
            self.stmt_into(id, &mut stmts);
        }
        let objects = self.close_block();
        self.push_stmt(TStmtKind::Block { stmts: stmts.into(), objects }, span)
    }

    fn local_labels(&mut self, labels: &[ast::Ident]) {
        for label in labels {
            let Some(func) = &mut self.func else { return };
            let id = self.prog.labels.push(Label { name: Some(label.name), func: func.id, span: label.span });
            let state = LabelState { id, defined: false, span: label.span };
            if let Some(map) = func.labels.last_mut() {
                map.insert(label.name, state);
            }
        }
    }

    fn labels(&mut self, labels: &'a [ast::Label]) -> Vec<LabelId> {
        let mut out = Vec::with_capacity(labels.len());
        for label in labels {
            match label {
                ast::Label::Name { name, .. } => {
                    let Some(id) = self.label(name.name, name.span) else { continue };
                    self.define_label(name, id);
                    out.push(id);
                }
                ast::Label::Case { lo, hi, span } => out.extend(self.case(*lo, *hi, *span)),
                ast::Label::Default { span } => out.extend(self.default_label(*span)),
            }
        }
        out
    }

    fn define_label(&mut self, name: &ast::Ident, id: LabelId) {
        let Some(func) = &mut self.func else { return };
        let state = func.labels.iter_mut().rev().find_map(|m| m.get_mut(&name.name));
        let twice = match state {
            Some(state) => std::mem::replace(&mut state.defined, true),
            None => false,
        };
        if twice {
            self.error(name.span, format!("label '{}' is defined twice", self.name(name.name)));
        }
        self.prog.labels[id].span = name.span;
    }

    fn new_case_label(&mut self, span: Span) -> Option<LabelId> {
        let func = self.func.as_ref()?.id;
        Some(self.prog.labels.push(Label { name: None, func, span }))
    }

    fn case(&mut self, lo: ast::ExprId, hi: Option<ast::ExprId>, span: Span) -> Option<LabelId> {
        let ty = match self.func.as_ref().and_then(|f| f.switches.last()) {
            Some(switch) => switch.ty,
            None => {
                self.error(span, "'case' outside a switch");
                return None;
            }
        };
        let lo = self.case_value(lo, ty);
        let hi = match hi {
            Some(hi) => self.case_value(hi, ty),
            None => lo,
        };
        let label = self.new_case_label(span)?;
        let (lo, hi) = (lo?, hi?);
        let int = self.prog.types.int_ty(ty)?;
        if compare_bits(int, lo, hi).is_gt() {
            self.warn(span, "the range of this case is empty");
            return Some(label);
        }
        if let Some(switch) = self.func.as_mut().and_then(|f| f.switches.last_mut()) {
            switch.cases.push((SwitchCase { lo, hi, label }, span));
        }
        Some(label)
    }

    fn case_value(&mut self, expr: ast::ExprId, ty: CTypeId) -> Option<u128> {
        let e = self.rvalue(expr);
        if self.is_error(e) {
            return None;
        }
        let span = self.span(e);
        let Some(bits) = self.fold_int(e) else {
            self.error(span, "the value of a case must be an integer constant");
            return None;
        };
        let from = self.prog.types.int_ty(self.ty(e))?;
        let to = self.prog.types.int_ty(ty)?;
        Some(to.truncate(from.decode(bits) as u128))
    }

    fn default_label(&mut self, span: Span) -> Option<LabelId> {
        let label = self.new_case_label(span)?;
        let Some(switch) = self.func.as_mut().and_then(|f| f.switches.last_mut()) else {
            self.error(span, "'default' outside a switch");
            return None;
        };
        if switch.default.is_some() {
            self.error(span, "a second 'default' in one switch");
            return Some(label);
        }
        switch.default = Some(label);
        Some(label)
    }

    /// `if … else if … else …`; the chain may be very long, hence the loop.
    fn if_chain(&mut self, first: ast::StmtId) -> TStmtId {
        let unit = self.unit;
        let mut links = Vec::new();
        let mut next = Some(first);
        let mut last = None;
        while let Some(id) = next {
            let ast::Stmt { ref kind, span } = unit.stmts[id];
            let StmtKind::If { cond, then, else_ } = *kind else {
                last = Some(self.stmt(id));
                break;
            };
            let cond = self.condition(cond);
            let then = self.stmt(then);
            links.push((cond, then, span));
            next = else_;
        }
        for (cond, then, span) in links.into_iter().rev() {
            last = Some(self.push_stmt(TStmtKind::If { cond, then, else_: last }, span));
        }
        // The loop ran at least once, so there is a statement.
        last.unwrap_or_else(|| self.push_stmt(TStmtKind::Empty, unit.stmts[first].span))
    }

    fn switch(&mut self, value: ast::ExprId, body: ast::StmtId) -> TStmtKind {
        let e = self.rvalue(value);
        let ty = self.ty(e);
        let value = if ty == TypeTable::ERROR || self.prog.types.is_integer(ty) {
            self.promote(e)
        } else {
            let span = self.span(e);
            self.error(span, format!("a switch needs an integer, not '{}'", self.type_name(ty)));
            self.error_expr(span)
        };
        let ty = self.ty(value);
        if let Some(func) = &mut self.func {
            func.switches.push(SwitchCtx { ty, cases: Vec::new(), default: None });
            func.breakable += 1;
        }
        let body = self.stmt(body);
        let Some(func) = &mut self.func else { return TStmtKind::Empty };
        func.breakable -= 1;
        let Some(switch) = func.switches.pop() else { return TStmtKind::Empty };
        self.check_cases(&switch);
        let cases = switch.cases.into_iter().map(|(case, _)| case).collect();
        TStmtKind::Switch(Box::new(Switch { value, body, cases, default: switch.default }))
    }

    fn check_cases(&mut self, switch: &SwitchCtx) {
        let Some(int) = self.prog.types.int_ty(switch.ty) else { return };
        let mut sorted: Vec<&(SwitchCase, Span)> = switch.cases.iter().collect();
        sorted.sort_by(|a, b| compare_bits(int, a.0.lo, b.0.lo));
        let overlaps: Vec<Span> = sorted
            .windows(2)
            .filter(|w| compare_bits(int, w[0].0.hi, w[1].0.lo).is_ge())
            .map(|w| w[0].1.max(w[1].1))
            .collect();
        for span in overlaps {
            self.error(span, "this value has a case already");
        }
    }

    fn loop_body(&mut self, body: ast::StmtId) -> TStmtId {
        if let Some(func) = &mut self.func {
            func.loops += 1;
            func.breakable += 1;
        }
        let body = self.stmt(body);
        if let Some(func) = &mut self.func {
            func.loops -= 1;
            func.breakable -= 1;
        }
        body
    }

    fn for_stmt(
        &mut self,
        init: ForInit,
        cond: Option<ast::ExprId>,
        step: Option<ast::ExprId>,
        body: ast::StmtId,
        span: Span,
        out: &mut Vec<TStmtId>,
    ) {
        let unit = self.unit;
        let invariants = std::mem::take(&mut self.invariants);
        let mut stmts = Vec::new();
        let declares = matches!(init, ForInit::Decl(_));
        let first = match init {
            ForInit::None => None,
            ForInit::Expr(e) => {
                let e = self.expr(e);
                Some(self.discarded(e))
            }
            ForInit::Decl(decl) => {
                self.open_block(span.hi);
                self.local_declaration(&unit.decls[decl], &mut stmts);
                None
            }
        };
        self.invariants = invariants;
        self.loop_invariants(span, if declares { &mut stmts } else { out });
        let cond = cond.map(|c| self.condition(c));
        let step = step.map(|s| {
            let s = self.expr(s);
            self.discarded(s)
        });
        let body = self.loop_body(body);
        let stmt = self.push_stmt(TStmtKind::For { init: first, cond, step, body }, span);
        if declares {
            stmts.push(stmt);
            let objects = self.close_block();
            out.push(self.push_stmt(TStmtKind::Block { stmts: stmts.into(), objects }, span));
        } else {
            out.push(stmt);
        }
    }

    fn return_stmt(&mut self, value: Option<ast::ExprId>, span: Span, out: &mut Vec<TStmtId>) -> TStmtKind {
        let ret = self.func.as_ref().map_or(TypeTable::ERROR, |f| f.ret);
        let Some(value) = value else { return TStmtKind::Return(None) };
        let e = self.rvalue(value);
        if ret == TypeTable::VOID {
            if !self.is_error(e) && self.ty(e) != TypeTable::VOID {
                self.warn(span, "'return' with a value in a function that returns nothing");
            }
            let span = self.span(e);
            out.push(self.push_stmt(TStmtKind::Expr(e), span));
            return TStmtKind::Return(None);
        }
        if self.ty(e) == TypeTable::VOID {
            self.error(span, "'return' with a value of type 'void'");
            return TStmtKind::Return(None);
        }
        TStmtKind::Return(Some(self.assign_convert(e, ret, "return")))
    }

    fn asm(&mut self, asm: &'a ast::AsmStmt) -> TStmtKind {
        let unit = self.unit;
        let mut outputs = Vec::new();
        let mut inputs = Vec::new();
        for operand in &asm.outputs {
            let e = self.expr(operand.expr);
            if self.is_error(e) {
                continue;
            }
            if !self.prog.is_lvalue(e) {
                let span = self.span(e);
                self.error(span, "an output of an assembler statement must be an lvalue");
                continue;
            }
            outputs.push(e);
        }
        for operand in &asm.inputs {
            let e = self.expr(operand.expr);
            // Memory operands name a place; everything else is a value.
            let scalar = self.prog.types.is_scalar(self.ty(e));
            let e = if !scalar && self.prog.is_lvalue(e) { e } else { self.value_of(e) };
            if !self.is_error(e) {
                inputs.push(e);
            }
        }
        let mut labels = Vec::new();
        for label in &asm.labels {
            labels.extend(self.label(label.name, label.span));
        }
        let clobbers_memory = asm
            .clobbers
            .iter()
            .any(|&c| matches!(&unit.strings[c].units, ast::StringUnits::Bytes(b) if &**b == b"memory"));
        TStmtKind::Asm(Box::new(Asm {
            outputs: outputs.into(),
            inputs: inputs.into(),
            labels: labels.into(),
            clobbers_memory,
        }))
    }

    /// `({ … })`: its value is that of the last statement, if that is an expression.
    pub(super) fn stmt_expr(&mut self, stmt: ast::StmtId, span: Span) -> TExprId {
        let unit = self.unit;
        let StmtKind::Block(list) = unit.stmts[stmt].kind else { return self.error_expr(span) };
        if self.func.is_none() {
            self.error(span, "a statement expression outside a function");
            return self.error_expr(span);
        }
        let block_span = unit.stmts[stmt].span;
        self.open_block(block_span.hi);
        let mut stmts = Vec::new();
        let mut value = None;
        if let Some((&last, init)) = unit.stmt_list(list).split_last() {
            for &id in init {
                self.stmt_into(id, &mut stmts);
            }
            match unit.stmts[last].kind {
                StmtKind::Expr(e) => {
                    let e = self.rvalue(e);
                    self.flush_pending(&mut stmts);
                    value = Some(e);
                }
                StmtKind::Labeled { ref labels, stmt }
                    if matches!(unit.stmts[stmt].kind, StmtKind::Expr(_)) =>
                {
                    let labels = self.labels(labels);
                    let at = unit.stmts[last].span;
                    let empty = self.push_stmt(TStmtKind::Empty, at);
                    stmts.push(self.push_stmt(TStmtKind::Labeled { labels: labels.into(), stmt: empty }, at));
                    if let StmtKind::Expr(e) = unit.stmts[stmt].kind {
                        value = Some(self.rvalue(e));
                    }
                }
                _ => self.stmt_into(last, &mut stmts),
            }
        }
        let objects = self.close_block();
        let body = self.push_stmt(TStmtKind::Block { stmts: stmts.into(), objects }, block_span);
        let ty = value.map_or(TypeTable::VOID, |v| self.ty(v));
        self.push(TExprKind::StmtExpr { body, value }, ty, span)
    }
}

/// The order of two values of an integer type.
fn compare_bits(int: palisade_cfa::IntTy, a: u128, b: u128) -> std::cmp::Ordering {
    if int.signed { int.decode(a).cmp(&int.decode(b)) } else { a.cmp(&b) }
}
