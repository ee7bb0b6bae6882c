//! What expressions, places and operations are made of, for passes that walk through them.

use crate::ir::*;

impl Expr {
    /// The expressions and places it is made of.
    pub fn operands(&self, mut expr: impl FnMut(ExprId), mut place: impl FnMut(PlaceId)) {
        self.clone().operands_mut(|e| expr(*e), |p| place(*p));
    }

    /// The same, to be replaced by others.
    pub fn operands_mut(&mut self, mut expr: impl FnMut(&mut ExprId), mut place: impl FnMut(&mut PlaceId)) {
        match &mut self.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Func(_)
            | ExprKind::HeapEmpty
            | ExprKind::HeapTracked => {}
            ExprKind::Load(x) | ExprKind::Addr(x) => place(x),
            ExprKind::Unary(_, a)
            | ExprKind::Convert(a)
            | ExprKind::Freeable(a)
            | ExprKind::ObjectSize(a)
            | ExprKind::ReadOnly(a) => expr(a),
            ExprKind::Binary(_, a, b)
            | ExprKind::Cmp(_, a, b)
            | ExprKind::Overflow(_, a, b)
            | ExprKind::PtrAdd { ptr: a, index: b, .. }
            | ExprKind::PtrDiff { left: a, right: b, .. }
            | ExprKind::Valid { ptr: a, size: b } => {
                expr(a);
                expr(b);
            }
            ExprKind::Ite(c, a, b) | ExprKind::Overlap(c, a, b) => {
                expr(c);
                expr(a);
                expr(b);
            }
        }
    }
}

impl Place {
    /// The expressions it is made of, to be replaced by others.
    pub fn operands_mut(&mut self, mut expr: impl FnMut(&mut ExprId)) {
        if let Base::Deref(e) = &mut self.base {
            expr(e);
        }
        for proj in &mut self.path {
            if let Proj::Index { index, .. } = proj {
                expr(index);
            }
        }
    }

    /// The expressions it is made of.
    pub fn operands(&self, mut expr: impl FnMut(ExprId)) {
        if let Base::Deref(e) = self.base {
            expr(e);
        }
        for proj in &self.path {
            if let Proj::Index { index, .. } = proj {
                expr(*index);
            }
        }
    }
}

impl Op {
    /// The expressions and places it mentions.
    pub fn operands(&self, mut expr: impl FnMut(ExprId), mut place: impl FnMut(PlaceId)) {
        match self {
            Op::Skip | Op::Enter { .. } | Op::Leave { .. } => {}
            Op::Halt { kind: HaltKind::Abort } | Op::Return { value: None } => {}
            Op::Assign { dst, src } => {
                place(*dst);
                expr(*src);
            }
            Op::Copy { dst, src } => {
                place(*dst);
                place(*src);
            }
            Op::Zero { dst } | Op::Havoc { dst, .. } => place(*dst),
            Op::Assume { cond: e } | Op::Check { cond: e, .. } | Op::Free { ptr: e } => expr(*e),
            Op::Halt { kind: HaltKind::Exit(e) } => expr(*e),
            Op::Call { dst, callee, args } => {
                dst.iter().for_each(|x| place(*x));
                if let Callee::Indirect(e) = callee {
                    expr(*e);
                }
                for arg in args {
                    match arg {
                        Arg::Scalar(e) => expr(*e),
                        Arg::Aggregate(x) => place(*x),
                    }
                }
            }
            Op::Return { value: Some(Arg::Scalar(e)) } => expr(*e),
            Op::Return { value: Some(Arg::Aggregate(x)) } => place(*x),
            Op::Alloc { dst, size, .. } => {
                place(*dst);
                expr(*size);
            }
            Op::MemCopy { dst: a, src: b, len: c } | Op::MemSet { dst: a, byte: b, len: c } => {
                expr(*a);
                expr(*b);
                expr(*c);
            }
        }
    }
}

impl Program {
    /// For each variable whether an expression or an initialiser takes its address.
    pub fn addresses_taken(&self) -> palisade_base::IdxVec<VarId, bool> {
        let mut taken = palisade_base::IdxVec::filled(false, self.vars.len());
        for e in &self.exprs {
            if let ExprKind::Addr(x) = e.kind
                && let Base::Var(v) = self.places[x].base
            {
                taken[v] = true;
            }
        }
        for v in &self.vars {
            if let Init::Image(items) = &v.init {
                for item in items {
                    if let InitValue::Addr(to, _) = item.value {
                        taken[to] = true;
                    }
                }
            }
        }
        taken
    }
}
