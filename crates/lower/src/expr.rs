//! Expressions: values, conditions and effects.
//!
//! The result of lowering an expression is a pure expression of the automaton, valid at the
//! current location; checks and side effects are emitted on the way. Operands are evaluated from
//! left to right where no other order makes a difference ([`crate::either`]); a value is saved in a
//! temporary only if a later operand may change it.

use crate::Lowerer;
use crate::call::Into;
use crate::either::Order;
use crate::graph::Node;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_c_types::types::{CType, IntKind};
use palisade_cfa::*;
use smallvec::SmallVec;

impl Lowerer<'_> {
    /// The value of a scalar expression.
    pub(crate) fn value(&mut self, e: TExprId) -> ExprId {
        // Left operands may be nested without limit: go down to the first one, then come back.
        let mut spine: SmallVec<[TExprId; 8]> = SmallVec::new();
        let mut first = e;
        while let Some(left) = self.left_operand(first) {
            spine.push(first);
            first = left;
        }
        let mut value = self.leaf(first);
        value = self.bound(value, self.span(first));
        while let Some(e) = spine.pop() {
            value = self.combine(e, value);
            value = self.bound(value, self.span(e));
        }
        value
    }

    /// The operand on the left spine, for kinds whose value is made of it and something else.
    fn left_operand(&self, e: TExprId) -> Option<TExprId> {
        match *self.kind(e) {
            TExprKind::Binary { lhs, .. }
            | TExprKind::Compare { lhs, .. }
            | TExprKind::PtrDiff { lhs, .. }
            | TExprKind::PtrAdd { ptr: lhs, .. }
            | TExprKind::Convert(lhs) => Some(lhs),
            _ => None,
        }
        // Operands whose order matters are evaluated together.
        .filter(|_| self.operands(e).is_none_or(|(a, b)| self.order(a, b) == Order::Free))
    }

    /// An expression of a kind that [`Lowerer::left_operand`] knows, given its left operand.
    fn combine(&mut self, e: TExprId, left: ExprId) -> ExprId {
        let Some((_, rhs)) = self.operands(e) else { return self.converted(e, left) };
        let left = self.keep(left, self.traits(rhs), self.span(e));
        let right = self.value(rhs);
        self.applied(e, left, right)
    }

    /// A binary expression, given its operands.
    fn applied(&mut self, e: TExprId, left: ExprId, right: ExprId) -> ExprId {
        match *self.kind(e) {
            TExprKind::Binary { op, .. } => self.arithmetic(op, left, right, self.span(e)),
            TExprKind::Compare { op, .. } => {
                let truth = self.comparison(op, left, right);
                self.pool.convert_int(truth, IntTy::I32)
            }
            TExprKind::PtrAdd { stride, sub, .. } => self.offset_pointer(left, right, stride, sub),
            TExprKind::PtrDiff { stride, .. } => {
                let ty = Scalar::Int(self.pool.program.data_model.ptrdiff_t());
                self.pool.push(ty, ExprKind::PtrDiff { left, right, stride: stride.max(1) })
            }
            _ => left,
        }
    }

    /// The value of an expression without a left spine.
    fn leaf(&mut self, e: TExprId) -> ExprId {
        let span = self.span(e);
        let ty = self.typed.exprs[e].ty.ty;
        match *self.kind(e) {
            TExprKind::Int(bits) => match self.scalar(ty) {
                Some(Scalar::Int(t)) => self.pool.push(Scalar::Int(t), ExprKind::Int(t.truncate(bits))),
                _ => {
                    let bits = self.size_t().truncate(bits);
                    self.pool.push(Scalar::Ptr, ExprKind::Int(bits))
                }
            },
            TExprKind::Float(bits) => {
                let ty = self.scalar(ty).unwrap_or(Scalar::Float(FloatTy::F64));
                self.pool.push(ty, ExprKind::Float(bits))
            }
            TExprKind::FuncAddr(f) | TExprKind::Func(f) => {
                let func = self.func_at(f);
                let address = self.pool.push(Scalar::Ptr, ExprKind::Func(func));
                match self.weak_symbol(f) {
                    Some(defined) => {
                        let null = self.pool.null();
                        self.pool.ite(defined, address, null)
                    }
                    None => address,
                }
            }
            TExprKind::Load(place) => {
                let place = self.place(place);
                self.check_read(place, span);
                self.pool.load(place)
            }
            TExprKind::Member { .. } | TExprKind::Index { .. } => {
                // A part of a record value.
                let place = self.place(e);
                self.check_read(place, span);
                self.pool.load(place)
            }
            TExprKind::Decay(array) => {
                let place = self.addressed_place(array);
                self.decay(place)
            }
            TExprKind::AddrOf(place) => {
                let place = self.addressed_place(place);
                self.pool.addr(place)
            }
            TExprKind::LabelAddr(label) => {
                let n = self.label_number(label);
                self.pool.push(Scalar::Ptr, ExprKind::Int(n.into()))
            }
            TExprKind::Neg(a) => {
                let a = self.value(a);
                self.negated(a, span)
            }
            TExprKind::BitNot(a) => {
                let a = self.value(a);
                self.pool.unary(UnOp::Not, a)
            }
            TExprKind::LogNot(a) => {
                let a = self.truth(a);
                let not = self.pool.not(a);
                self.pool.convert_int(not, IntTy::I32)
            }
            TExprKind::Logical { .. } => {
                let truth = self.logical(e);
                self.pool.convert_int(truth, IntTy::I32)
            }
            TExprKind::Cond { cond, then, otherwise } => self.conditional(e, cond, then, otherwise),
            TExprKind::Comma { .. } => {
                let last = self.comma(e);
                self.value(last)
            }
            TExprKind::Assign { .. }
            | TExprKind::CompoundAssign { .. }
            | TExprKind::PtrAssign { .. }
            | TExprKind::IncDec { .. } => {
                let value = self.assignment(e, true);
                self.some_value(value, e)
            }
            TExprKind::Call { .. } => {
                let value = self.call(e, Into::Value);
                self.some_value(value, e)
            }
            TExprKind::StmtExpr { body, value } => {
                let value = self.statement_value(body, value);
                self.some_value(value, e)
            }
            TExprKind::VaArg { list } => {
                let place = self.next_vararg(e, list);
                self.check_read(place, span);
                let value = self.pool.load(place);
                self.save(value, span)
            }
            TExprKind::VaStart { .. } | TExprKind::VaEnd { .. } | TExprKind::VaCopy { .. } => {
                self.effects(e);
                self.unknown(e)
            }
            TExprKind::Builtin { op, ref args } => {
                let value = self.builtin(e, op, args);
                self.some_value(value, e)
            }
            TExprKind::Binary { lhs, rhs, .. }
            | TExprKind::Compare { lhs, rhs, .. }
            | TExprKind::PtrAdd { ptr: lhs, index: rhs, .. }
            | TExprKind::PtrDiff { lhs, rhs, .. } => {
                let (left, right) = self.either_order(lhs, rhs, span);
                self.applied(e, left, right)
            }
            // Other lvalues and records are no scalar values, and errors are not lowered.
            TExprKind::Error
            | TExprKind::Object(_)
            | TExprKind::Deref(_)
            | TExprKind::CompoundLiteral { .. }
            | TExprKind::ToUnion { .. }
            | TExprKind::Parts(_)
            | TExprKind::Convert(_) => self.unknown(e),
        }
    }

    /// Whether a weak function that this program does not define is defined elsewhere: its address
    /// is null if not, and that stays so for the whole run.
    fn weak_symbol(&mut self, f: FnId) -> Option<ExprId> {
        let f = self.real_function(f);
        let func = &self.typed.funcs[f];
        if !func.weak || func.body.is_some() || self.library.instead.contains_key(&f) {
            return None;
        }
        let span = func.span;
        let ty = self.scalar_type(Scalar::BOOL);
        let var = *self.weak.entry(f).or_insert_with(|| {
            self.pool.program.vars.push(Var { span, ..Var::made_up(".weak", ty, VarKind::Global) })
        });
        Some(self.pool.load_var(var))
    }

    fn some_value(&mut self, value: Option<ExprId>, e: TExprId) -> ExprId {
        match value {
            Some(value) => value,
            None => self.unknown(e),
        }
    }

    /// Any value of an expression's type.
    pub(crate) fn unknown(&mut self, e: TExprId) -> ExprId {
        let ty = self.scalar_of(e).unwrap_or(Scalar::Int(IntTy::I32));
        self.havoc(ty, false, self.span(e))
    }

    /// Any value of a type.
    pub(crate) fn havoc(&mut self, ty: Scalar, input: bool, span: Span) -> ExprId {
        let var = self.scalar_temp(ty);
        let dst = self.pool.var(var);
        self.emit(Op::Havoc { dst, input }, span);
        self.pool.load(dst)
    }

    /// A value converted to the type of the expression `e`.
    fn converted(&mut self, e: TExprId, value: ExprId) -> ExprId {
        let ty = self.typed.exprs[e].ty.ty;
        if self.typed.types.get(ty) == CType::Int(IntKind::Bool) {
            return self.pool.is_true(value);
        }
        let Some(to) = self.scalar(ty) else { return value };
        self.convert_checked(value, to, self.span(e))
    }

    /// A value converted to a scalar type that is not `_Bool`.
    pub(crate) fn convert_checked(&mut self, value: ExprId, to: Scalar, span: Span) -> ExprId {
        if let (Scalar::Float(from), Scalar::Int(int)) = (self.pool.ty(value), to) {
            self.check_float_to_int(value, from, int, span);
        }
        self.pool.convert(value, to)
    }

    pub(crate) fn comparison(&mut self, op: CompareOp, a: ExprId, b: ExprId) -> ExprId {
        match op {
            CompareOp::Lt => self.pool.cmp(CmpOp::Lt, a, b),
            CompareOp::Gt => self.pool.cmp(CmpOp::Lt, b, a),
            CompareOp::Le => self.pool.cmp(CmpOp::Le, a, b),
            CompareOp::Ge => self.pool.cmp(CmpOp::Le, b, a),
            CompareOp::Eq => self.pool.cmp(CmpOp::Eq, a, b),
            CompareOp::Ne => self.pool.cmp(CmpOp::Ne, a, b),
        }
    }

    /// A pointer some elements further or back.
    pub(crate) fn offset_pointer(&mut self, ptr: ExprId, index: ExprId, stride: u64, sub: bool) -> ExprId {
        if !sub {
            return self.pool.ptr_add(ptr, index, stride);
        }
        // The index counts as a mathematical integer, so it is negated where its opposite fits.
        let bits = self.pool.ty(index).int().map_or(64, |t| t.bits);
        let wide = IntTy { bits: if bits < 64 { 64 } else { 128 }, signed: true };
        let index = self.pool.convert_int(index, wide);
        let index = self.pool.unary(UnOp::Neg, index);
        self.pool.ptr_add(ptr, index, stride)
    }

    /// Whether an expression is not zero: a truth value.
    pub(crate) fn truth(&mut self, e: TExprId) -> ExprId {
        match *self.kind(e) {
            TExprKind::Logical { .. } => self.logical(e),
            _ => {
                let value = self.value(e);
                self.pool.is_true(value)
            }
        }
    }

    /// The operands of `a && b && …` or `a || b || …`.
    pub(crate) fn logical_operands(&self, e: TExprId) -> (bool, SmallVec<[TExprId; 4]>) {
        let mut operands = SmallVec::new();
        let mut at = e;
        let mut is_and = None;
        while let TExprKind::Logical { and, lhs, rhs } = *self.kind(at)
            && is_and.is_none_or(|a| a == and)
        {
            is_and = Some(and);
            operands.push(rhs);
            at = lhs;
        }
        operands.push(at);
        operands.reverse();
        (is_and == Some(true), operands)
    }

    fn logical(&mut self, e: TExprId) -> ExprId {
        let (is_and, operands) = self.logical_operands(e);
        let span = self.span(e);
        if operands[1..].iter().all(|&o| self.traits(o).harmless()) {
            let mut result = self.truth(operands[0]);
            for &o in &operands[1..] {
                let truth = self.truth(o);
                result = if is_and { self.pool.and(result, truth) } else { self.pool.or(result, truth) };
                result = self.bound(result, span);
            }
            return result;
        }
        let (yes, no, join) = self.three_nodes(span);
        let var = self.scalar_temp(Scalar::BOOL);
        let dst = self.pool.var(var);
        self.condition(e, yes, no);
        for (node, value) in [(yes, true), (no, false)] {
            self.at.graph.move_to(Some(node));
            let value = self.pool.truth(value);
            self.assign(dst, value, span);
            self.at.graph.jump(join);
        }
        self.at.graph.move_to(Some(join));
        self.pool.load(dst)
    }

    pub(crate) fn three_nodes(&mut self, span: Span) -> (Node, Node, Node) {
        (self.at.graph.node(span), self.at.graph.node(span), self.at.graph.node(span))
    }

    fn conditional(
        &mut self,
        e: TExprId,
        cond: TExprId,
        then: Option<TExprId>,
        otherwise: TExprId,
    ) -> ExprId {
        let span = self.span(e);
        let Some(ty) = self.scalar_of(e) else {
            self.effects(e);
            return self.unknown(e);
        };
        let harmless = |this: &Self, e: TExprId| this.traits(e).harmless();
        if harmless(self, otherwise) && then.is_none_or(|t| harmless(self, t)) {
            let (cond, then) = match then {
                Some(then) => (self.truth(cond), self.value(then)),
                None => self.elvis(e, cond),
            };
            let otherwise = self.value(otherwise);
            return self.pool.ite(cond, then, otherwise);
        }
        let var = self.scalar_temp(ty);
        let dst = self.pool.var(var);
        let (yes, no, join) = self.three_nodes(span);
        let kept = match then {
            Some(_) => {
                self.condition(cond, yes, no);
                None
            }
            None => {
                let (truth, kept) = self.elvis(e, cond);
                self.split(truth, yes, no, self.span(cond));
                Some(kept)
            }
        };
        self.at.graph.move_to(Some(yes));
        let value = match (then, kept) {
            (Some(then), _) => self.value(then),
            (None, Some(kept)) => kept,
            (None, None) => self.unknown(e),
        };
        self.assign(dst, value, then.map_or(span, |t| self.span(t)));
        self.at.graph.jump(join);
        self.at.graph.move_to(Some(no));
        let value = self.value(otherwise);
        self.assign(dst, value, self.span(otherwise));
        self.at.graph.enter(join);
        self.pool.load(dst)
    }

    /// The condition of GNU `cond ?: otherwise`, and its value in the type of the whole.
    fn elvis(&mut self, e: TExprId, cond: TExprId) -> (ExprId, ExprId) {
        let value = self.value(cond);
        let value = self.save(value, self.span(cond));
        let truth = self.pool.is_true(value);
        (truth, self.converted(e, value))
    }

    /// Evaluates all but the last operand of a comma expression; returns the last.
    pub(crate) fn comma(&mut self, e: TExprId) -> TExprId {
        let mut parts: SmallVec<[TExprId; 4]> = SmallVec::new();
        let mut at = e;
        let mut last = e;
        while let TExprKind::Comma { lhs, rhs } = *self.kind(at) {
            if at == e {
                last = rhs;
            } else {
                parts.push(rhs);
            }
            at = lhs;
        }
        if at != e {
            parts.push(at);
        }
        for &part in parts.iter().rev() {
            self.effects(part);
        }
        last
    }

    /// Branches on a truth value; afterwards control is nowhere.
    pub(crate) fn split(&mut self, truth: ExprId, yes: Node, no: Node, span: Span) {
        match self.pool.constant(truth) {
            Some(0) => self.at.graph.jump(no),
            Some(_) => self.at.graph.jump(yes),
            None => {
                self.at.graph.branch(Op::Assume { cond: truth }, yes, span);
                let not = self.pool.not(truth);
                self.at.graph.emit_to(Op::Assume { cond: not }, no, span);
            }
        }
    }

    /// Branches on a scalar expression; afterwards control is nowhere.
    pub(crate) fn condition(&mut self, e: TExprId, yes: Node, no: Node) {
        let span = self.span(e);
        match *self.kind(e) {
            TExprKind::Logical { .. } => {
                let (is_and, operands) = self.logical_operands(e);
                let (last, others) = operands.split_last().expect("a logical operator has operands");
                for &operand in others {
                    let next = self.at.graph.node(self.span(operand));
                    if is_and {
                        self.condition(operand, next, no);
                    } else {
                        self.condition(operand, yes, next);
                    }
                    self.at.graph.move_to(Some(next));
                }
                self.condition(*last, yes, no);
            }
            TExprKind::LogNot(a) => self.condition(a, no, yes),
            TExprKind::Convert(a) if self.keeps_truth(a, e) => self.condition(a, yes, no),
            TExprKind::Builtin { op: Builtin::Expect, ref args } if self.traits(args[1]).harmless() => {
                self.condition(args[0], yes, no);
            }
            TExprKind::Comma { .. } => {
                let last = self.comma(e);
                self.condition(last, yes, no);
            }
            TExprKind::Cond { cond, then: Some(then), otherwise } => {
                let (a, b) = (self.at.graph.node(self.span(then)), self.at.graph.node(self.span(otherwise)));
                self.condition(cond, a, b);
                self.at.graph.move_to(Some(a));
                self.condition(then, yes, no);
                self.at.graph.move_to(Some(b));
                self.condition(otherwise, yes, no);
            }
            _ => {
                let truth = self.truth(e);
                self.split(truth, yes, no, span);
            }
        }
    }

    /// Goes on only if a scalar expression is not zero. A conjunction becomes several assumptions.
    pub(crate) fn assume(&mut self, e: TExprId) {
        let span = self.span(e);
        match *self.kind(e) {
            TExprKind::Logical { and: true, .. } => {
                for operand in self.logical_operands(e).1 {
                    self.assume(operand);
                }
            }
            TExprKind::Convert(a) if self.keeps_truth(a, e) => self.assume(a),
            _ => {
                let cond = self.truth(e);
                if self.pool.constant(cond) != Some(1) {
                    self.emit(Op::Assume { cond }, span);
                }
            }
        }
    }

    /// Whether the conversion `to` of `from` is zero exactly if `from` is.
    fn keeps_truth(&self, from: TExprId, to: TExprId) -> bool {
        if self.typed.types.get(self.typed.exprs[to].ty.ty) == CType::Int(IntKind::Bool) {
            return true;
        }
        match (self.scalar_of(from), self.scalar_of(to)) {
            (Some(Scalar::Int(a)), Some(Scalar::Int(b))) => b.bits >= a.bits,
            (Some(Scalar::Ptr), Some(Scalar::Ptr)) => true,
            _ => false,
        }
    }

    /// Evaluates an expression for its effects only.
    pub(crate) fn effects(&mut self, e: TExprId) {
        if self.traits(e).harmless() {
            return;
        }
        let span = self.span(e);
        match *self.kind(e) {
            TExprKind::Comma { .. } => {
                let last = self.comma(e);
                self.effects(last);
            }
            TExprKind::Convert(a) if self.scalar_of(e).is_none() => self.effects(a),
            TExprKind::Assign { .. }
            | TExprKind::CompoundAssign { .. }
            | TExprKind::PtrAssign { .. }
            | TExprKind::IncDec { .. } => {
                self.assignment(e, false);
            }
            TExprKind::Call { .. } => {
                self.call(e, Into::Nothing);
            }
            TExprKind::StmtExpr { body, value } => {
                self.open_block(body);
                if let Some(value) = value {
                    self.effects(value);
                }
                self.close_block(body);
            }
            TExprKind::Logical { .. } => {
                let join = self.at.graph.node(span);
                let (is_and, operands) = self.logical_operands(e);
                let (last, others) = operands.split_last().expect("a logical operator has operands");
                for &operand in others {
                    let next = self.at.graph.node(self.span(operand));
                    let (yes, no) = if is_and { (next, join) } else { (join, next) };
                    self.condition(operand, yes, no);
                    self.at.graph.move_to(Some(next));
                }
                self.effects(*last);
                self.at.graph.enter(join);
            }
            TExprKind::Cond { cond, then, otherwise } => {
                let (yes, no, join) = self.three_nodes(span);
                self.condition(cond, yes, no);
                for (node, branch) in [(yes, then), (no, Some(otherwise))] {
                    self.at.graph.move_to(Some(node));
                    if let Some(branch) = branch {
                        self.effects(branch);
                    }
                    self.at.graph.jump(join);
                }
                self.at.graph.move_to(Some(join));
            }
            TExprKind::VaStart { list } => self.start_varargs(list, span),
            TExprKind::VaEnd { list } => {
                self.place(list);
            }
            TExprKind::VaCopy { dst, src } => self.copy_varargs(dst, src, span),
            TExprKind::Builtin { op, ref args } => {
                self.builtin(e, op, args);
            }
            _ if self.typed.is_lvalue(e) => {
                self.place(e);
            }
            _ if self.scalar_of(e).is_some() => {
                self.value(e);
            }
            _ => {
                self.record(e, None);
            }
        }
    }

    fn statement_value(&mut self, body: TStmtId, value: Option<TExprId>) -> Option<ExprId> {
        self.open_block(body);
        let value = value.map(|v| {
            let span = self.span(v);
            let value = self.value(v);
            // Its objects die with the block.
            self.save(value, span)
        });
        self.close_block(body);
        value
    }
}
