//! What annotations demand, as checks; of those who call the entry function it is taken for granted.

use crate::Lowerer;
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
}
