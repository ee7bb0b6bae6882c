//! Expressions and places, simplified as they are made.
//!
//! Constants are folded where C leaves no doubt about the result, so that the automaton does not
//! repeat what the compiler knows. The nesting depth of every expression is kept, because sums of
//! a thousand terms occur and everything that walks expressions would have to fear for its stack.

use palisade_cfa::eval::{eval_binary, eval_cmp, eval_convert, eval_unary};
use palisade_cfa::*;

/// Expressions are at most about this deep; lowering puts deeper ones into temporaries.
pub(crate) const MAX_DEPTH: u16 = 100;

/// The program being made, with what is known about its expressions.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) program: Program,
    /// By [`ExprId`].
    expr_depth: Vec<u16>,
    /// By [`PlaceId`].
    place_depth: Vec<u16>,
}

impl Pool {
    pub(crate) fn new(data_model: DataModel) -> Self {
        Pool { program: Program::new(data_model), expr_depth: Vec::new(), place_depth: Vec::new() }
    }

    /// Adds an expression as it is.
    pub(crate) fn push(&mut self, ty: Scalar, kind: ExprKind) -> ExprId {
        let at = |e: ExprId| self.expr_depth[e.0 as usize];
        let inner = match &kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Func(_)
            | ExprKind::HeapEmpty
            | ExprKind::HeapTracked => 0,
            ExprKind::Load(p) | ExprKind::Addr(p) => self.place_depth[p.0 as usize],
            ExprKind::Unary(_, a)
            | ExprKind::Convert(a)
            | ExprKind::Freeable(a)
            | ExprKind::ObjectSize(a)
            | ExprKind::ReadOnly(a) => at(*a),
            ExprKind::Binary(_, a, b)
            | ExprKind::Cmp(_, a, b)
            | ExprKind::Overflow(_, a, b)
            | ExprKind::PtrAdd { ptr: a, index: b, .. }
            | ExprKind::PtrDiff { left: a, right: b, .. }
            | ExprKind::Valid { ptr: a, size: b } => at(*a).max(at(*b)),
            ExprKind::Ite(c, a, b) | ExprKind::Overlap(c, a, b) => at(*c).max(at(*a)).max(at(*b)),
        };
        self.expr_depth.push(inner.saturating_add(1));
        self.program.add_expr(ty, kind)
    }

    /// How deep an expression is nested.
    pub(crate) fn depth(&self, e: ExprId) -> u16 {
        self.expr_depth[e.0 as usize]
    }

    /// Adds a place.
    pub(crate) fn place(&mut self, place: Place) -> PlaceId {
        let at = |e: ExprId| self.expr_depth[e.0 as usize];
        let base = match place.base {
            Base::Var(_) => 0,
            Base::Deref(e) => at(e),
        };
        let path = place.path.iter().map(|proj| match proj {
            Proj::Field { .. } => 0,
            Proj::Index { index, .. } => at(*index),
        });
        self.place_depth.push(path.fold(base, u16::max));
        self.program.places.push(place)
    }

    /// The whole of a variable.
    pub(crate) fn var(&mut self, var: VarId) -> PlaceId {
        let ty = self.program.vars[var].ty;
        self.place(Place { base: Base::Var(var), path: Default::default(), ty, bits: None })
    }

    /// The value of a scalar variable.
    pub(crate) fn load_var(&mut self, var: VarId) -> ExprId {
        let place = self.var(var);
        self.load(place)
    }

    /// The value of a scalar place.
    pub(crate) fn load(&mut self, place: PlaceId) -> ExprId {
        let ty = self.program.place_scalar(place).expect("only scalar places are loaded");
        self.push(ty, ExprKind::Load(place))
    }

    pub(crate) fn ty(&self, e: ExprId) -> Scalar {
        self.program.exprs[e].ty
    }

    pub(crate) fn int(&mut self, ty: IntTy, value: i128) -> ExprId {
        self.push(Scalar::Int(ty), ExprKind::Int(ty.truncate(value as u128)))
    }

    pub(crate) fn truth(&mut self, value: bool) -> ExprId {
        self.int(IntTy::BOOL, i128::from(value))
    }

    pub(crate) fn size(&mut self, bytes: u64) -> ExprId {
        let ty = self.program.data_model.size_t();
        self.int(ty, i128::from(bytes))
    }

    pub(crate) fn null(&mut self) -> ExprId {
        self.push(Scalar::Ptr, ExprKind::Int(0))
    }

    /// The bits of a constant.
    pub(crate) fn constant(&self, e: ExprId) -> Option<u128> {
        match self.program.exprs[e].kind {
            ExprKind::Int(v) | ExprKind::Float(v) => Some(v),
            _ => None,
        }
    }

    /// The value of an integer constant.
    pub(crate) fn int_constant(&self, e: ExprId) -> Option<i128> {
        match (self.program.exprs[e].ty, &self.program.exprs[e].kind) {
            (Scalar::Int(t), ExprKind::Int(v)) => Some(t.decode(*v)),
            _ => None,
        }
    }

    fn bits(&mut self, ty: Scalar, bits: u128) -> ExprId {
        match ty {
            Scalar::Float(_) => self.push(ty, ExprKind::Float(bits)),
            _ => self.push(ty, ExprKind::Int(bits)),
        }
    }

    /// `a` converted to `to` as a machine does: to a truth value by its lowest bit. C's
    /// conversion to `_Bool` is [`Pool::is_true`].
    pub(crate) fn convert(&mut self, a: ExprId, to: Scalar) -> ExprId {
        let from = self.ty(a);
        if from == to {
            return a;
        }
        let ptr_bits = self.program.data_model.ptr_bits();
        if let Some(v) = self.constant(a)
            && let Some(bits) = eval_convert(from, to, v, ptr_bits)
        {
            return self.bits(to, bits);
        }
        // Of two conversions of integers in a row the first does not matter if it keeps the value
        // or all the bits that the second one keeps.
        if let (ExprKind::Convert(inner), Scalar::Int(middle)) = (&self.program.exprs[a].kind, from)
            && let (Scalar::Int(source), Scalar::Int(target)) = (self.ty(*inner), to)
            && (middle.bits > source.bits && (middle.signed || !source.signed) || target.bits <= middle.bits)
        {
            return self.convert(*inner, to);
        }
        self.push(to, ExprKind::Convert(a))
    }

    /// `a` converted to an integer type.
    pub(crate) fn convert_int(&mut self, a: ExprId, to: IntTy) -> ExprId {
        self.convert(a, Scalar::Int(to))
    }

    /// An integer below conversions that keep its value, for where only the value counts.
    pub(crate) fn same_integer(&self, e: ExprId) -> ExprId {
        let mut e = e;
        while let ExprKind::Convert(inner) = self.program.exprs[e].kind
            && let (Scalar::Int(to), Scalar::Int(from)) = (self.ty(e), self.ty(inner))
            && to.bits > from.bits
            && (to.signed || !from.signed)
        {
            e = inner;
        }
        e
    }

    /// Whether a scalar is not zero: a truth value.
    pub(crate) fn is_true(&mut self, a: ExprId) -> ExprId {
        let ty = self.ty(a);
        if ty == Scalar::BOOL {
            return a;
        }
        // An integer made of a truth value is true when that is.
        if let ExprKind::Convert(inner) = self.program.exprs[a].kind
            && self.ty(inner) == Scalar::BOOL
        {
            return inner;
        }
        let zero = self.bits(ty, 0);
        self.cmp(CmpOp::Ne, a, zero)
    }

    pub(crate) fn cmp(&mut self, op: CmpOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.ty(a);
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b))
            && let Some(v) = eval_cmp(op, ty, x, y)
        {
            return self.truth(v);
        }
        // Comparing an integer made of a truth value with 0 asks for the truth value.
        if let (CmpOp::Eq | CmpOp::Ne, Some(0), ExprKind::Convert(inner)) =
            (op, self.int_constant(b), &self.program.exprs[a].kind)
            && self.ty(*inner) == Scalar::BOOL
        {
            let inner = *inner;
            return if op == CmpOp::Ne { inner } else { self.not(inner) };
        }
        if let Some((a, b)) = self.narrowed(a, b) {
            return self.cmp(op, a, b);
        }
        if let Some((b, a)) = self.narrowed(b, a) {
            return self.cmp(op, a, b);
        }
        self.push(Scalar::BOOL, ExprKind::Cmp(op, a, b))
    }

    /// For a promoted integer and a constant of the type before promotion: both in that type.
    fn narrowed(&mut self, a: ExprId, b: ExprId) -> Option<(ExprId, ExprId)> {
        let ExprKind::Convert(inner) = self.program.exprs[a].kind else { return None };
        let (Scalar::Int(wide), Scalar::Int(narrow)) = (self.ty(a), self.ty(inner)) else { return None };
        let value = self.int_constant(b)?;
        let keeps_value = wide.bits > narrow.bits && (wide.signed || !narrow.signed);
        let fits = narrow.bits > 1 && narrow.decode(value as u128) == value;
        (keeps_value && fits).then(|| (inner, self.int(narrow, value)))
    }

    /// The opposite of a truth value.
    pub(crate) fn not(&mut self, a: ExprId) -> ExprId {
        let is_int = |pool: &Pool, e: ExprId| !matches!(pool.ty(e), Scalar::Float(_));
        match self.program.exprs[a].kind {
            ExprKind::Int(v) => self.truth(v == 0),
            ExprKind::Unary(UnOp::Not, inner) => inner,
            ExprKind::Cmp(CmpOp::Eq, x, y) => self.push(Scalar::BOOL, ExprKind::Cmp(CmpOp::Ne, x, y)),
            ExprKind::Cmp(CmpOp::Ne, x, y) => self.push(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, x, y)),
            // With NaN the opposite of `<` is not `>=`.
            ExprKind::Cmp(CmpOp::Lt, x, y) if is_int(self, x) => {
                self.push(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, y, x))
            }
            ExprKind::Cmp(CmpOp::Le, x, y) if is_int(self, x) => {
                self.push(Scalar::BOOL, ExprKind::Cmp(CmpOp::Lt, y, x))
            }
            _ => self.push(Scalar::BOOL, ExprKind::Unary(UnOp::Not, a)),
        }
    }

    pub(crate) fn unary(&mut self, op: UnOp, a: ExprId) -> ExprId {
        let ty = self.ty(a);
        if let Some(v) = self.constant(a)
            && let Some(bits) = eval_unary(op, ty, v)
        {
            return self.bits(ty, bits);
        }
        self.push(ty, ExprKind::Unary(op, a))
    }

    pub(crate) fn binary(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.ty(a);
        let shift = self.ty(b).int().unwrap_or(IntTy::I32);
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b))
            && let Some(bits) = eval_binary(op, ty, x, shift, y)
        {
            return self.bits(ty, bits);
        }
        self.push(ty, ExprKind::Binary(op, a, b))
    }

    /// Conjunction of truth values.
    pub(crate) fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.constant(a), self.constant(b)) {
            (Some(0), _) | (_, Some(1)) => a,
            (Some(1), _) | (_, Some(0)) => b,
            _ => self.push(Scalar::BOOL, ExprKind::Binary(BinOp::And, a, b)),
        }
    }

    /// Disjunction of truth values.
    pub(crate) fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.constant(a), self.constant(b)) {
            (Some(1), _) | (_, Some(0)) => a,
            (Some(0), _) | (_, Some(1)) => b,
            _ => self.push(Scalar::BOOL, ExprKind::Binary(BinOp::Or, a, b)),
        }
    }

    pub(crate) fn ite(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        match self.constant(c) {
            Some(0) => b,
            Some(_) => a,
            None => {
                let ty = self.ty(a);
                self.push(ty, ExprKind::Ite(c, a, b))
            }
        }
    }

    pub(crate) fn ptr_add(&mut self, ptr: ExprId, index: ExprId, stride: u64) -> ExprId {
        if self.int_constant(index) == Some(0) || stride == 0 {
            return ptr;
        }
        let index = self.same_integer(index);
        self.push(Scalar::Ptr, ExprKind::PtrAdd { ptr, index, stride })
    }

    /// A pointer to a place; the address of what a pointer points to is the pointer.
    pub(crate) fn addr(&mut self, place: PlaceId) -> ExprId {
        let p = &self.program.places[place];
        if let (Base::Deref(ptr), true) = (p.base, p.path.is_empty()) {
            return ptr;
        }
        if let Base::Var(var) = p.base {
            self.program.vars[var].address_taken = true;
        }
        self.push(Scalar::Ptr, ExprKind::Addr(place))
    }

    pub(crate) fn overflow(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        self.push(Scalar::BOOL, ExprKind::Overflow(op, a, b))
    }

    pub(crate) fn valid(&mut self, ptr: ExprId, size: ExprId) -> ExprId {
        self.push(Scalar::BOOL, ExprKind::Valid { ptr, size })
    }
}
