//! Rewriting of operations: variables get new names, or give way to values that they are known to
//! have.

use palisade_cfa::eval::{eval_binary, eval_cmp, eval_convert, eval_overflow, eval_unary};
use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// Rewrites operations of a program; new expressions and places are added to its pools.
#[derive(Default)]
pub struct Rewriter {
    /// New names.
    pub vars: FxHashMap<VarId, VarId>,
    /// Values of registers, of their types.
    pub values: FxHashMap<VarId, ExprId>,
    exprs: FxHashMap<ExprId, ExprId>,
    places: FxHashMap<PlaceId, PlaceId>,
}

impl Rewriter {
    /// Has a place give way to another one.
    pub fn replace_place(&mut self, old: PlaceId, new: PlaceId) {
        self.places.insert(old, new);
    }

    /// Has an expression give way to another one.
    pub fn replace_expr(&mut self, old: ExprId, new: ExprId) {
        self.exprs.insert(old, new);
    }

    /// The new name of a variable.
    pub fn var(&self, var: VarId) -> VarId {
        self.vars.get(&var).copied().unwrap_or(var)
    }

    /// The rewritten operation.
    pub fn op(&mut self, p: &mut Program, op: &Op) -> Op {
        if self.vars.is_empty() && self.values.is_empty() && self.places.is_empty() && self.exprs.is_empty() {
            return op.clone();
        }
        match *op {
            Op::Skip => Op::Skip,
            Op::Assign { dst, src } => Op::Assign { dst: self.place(p, dst), src: self.expr(p, src) },
            Op::Copy { dst, src } => Op::Copy { dst: self.place(p, dst), src: self.place(p, src) },
            Op::Zero { dst } => Op::Zero { dst: self.place(p, dst) },
            Op::Assume { cond } => Op::Assume { cond: self.expr(p, cond) },
            Op::Havoc { dst, input } => Op::Havoc { dst: self.place(p, dst), input },
            Op::Call { dst, callee, ref args } => Op::Call {
                dst: dst.map(|d| self.place(p, d)),
                callee: match callee {
                    Callee::Direct(f) => Callee::Direct(f),
                    Callee::Indirect(e) => Callee::Indirect(self.expr(p, e)),
                },
                args: args.iter().map(|&a| self.arg(p, a)).collect(),
            },
            Op::Return { value } => Op::Return { value: value.map(|v| self.arg(p, v)) },
            Op::Alloc { dst, size, kind, zeroed } => {
                Op::Alloc { dst: self.place(p, dst), size: self.expr(p, size), kind, zeroed }
            }
            Op::Free { ptr } => Op::Free { ptr: self.expr(p, ptr) },
            Op::MemCopy { dst, src, len } => {
                Op::MemCopy { dst: self.expr(p, dst), src: self.expr(p, src), len: self.expr(p, len) }
            }
            Op::MemSet { dst, byte, len } => {
                Op::MemSet { dst: self.expr(p, dst), byte: self.expr(p, byte), len: self.expr(p, len) }
            }
            Op::Enter { var } => Op::Enter { var: self.var(var) },
            Op::Leave { var } => Op::Leave { var: self.var(var) },
            Op::Check { kind, cond } => Op::Check { kind, cond: self.expr(p, cond) },
            Op::Halt { kind } => Op::Halt {
                kind: match kind {
                    HaltKind::Exit(e) => HaltKind::Exit(self.expr(p, e)),
                    HaltKind::Abort => HaltKind::Abort,
                },
            },
        }
    }

    fn arg(&mut self, p: &mut Program, arg: Arg) -> Arg {
        match arg {
            Arg::Scalar(e) => Arg::Scalar(self.expr(p, e)),
            Arg::Aggregate(place) => Arg::Aggregate(self.place(p, place)),
        }
    }

    /// The rewritten expression; itself where nothing in it changes. Lowering bounds the depth of
    /// expressions, so recursion is safe.
    fn expr(&mut self, p: &mut Program, id: ExprId) -> ExprId {
        if let Some(&done) = self.exprs.get(&id) {
            return done;
        }
        let Expr { ty, kind } = p.exprs[id].clone();
        if let ExprKind::Load(place) = kind
            && let Place { base: Base::Var(var), ref path, .. } = p.places[place]
            && path.is_empty()
            && let Some(&value) = self.values.get(&var)
        {
            self.exprs.insert(id, value);
            return value;
        }
        let new = match kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Func(_)
            | ExprKind::HeapEmpty
            | ExprKind::HeapTracked => kind.clone(),
            ExprKind::Load(place) => ExprKind::Load(self.place(p, place)),
            ExprKind::Addr(place) => ExprKind::Addr(self.place(p, place)),
            ExprKind::Unary(op, a) => ExprKind::Unary(op, self.expr(p, a)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(op, self.expr(p, a), self.expr(p, b)),
            ExprKind::Cmp(op, a, b) => ExprKind::Cmp(op, self.expr(p, a), self.expr(p, b)),
            ExprKind::Ite(c, a, b) => ExprKind::Ite(self.expr(p, c), self.expr(p, a), self.expr(p, b)),
            ExprKind::Convert(a) => ExprKind::Convert(self.expr(p, a)),
            ExprKind::PtrAdd { ptr, index, stride } => {
                ExprKind::PtrAdd { ptr: self.expr(p, ptr), index: self.expr(p, index), stride }
            }
            ExprKind::PtrDiff { left, right, stride } => {
                ExprKind::PtrDiff { left: self.expr(p, left), right: self.expr(p, right), stride }
            }
            ExprKind::Overflow(op, a, b) => ExprKind::Overflow(op, self.expr(p, a), self.expr(p, b)),
            ExprKind::Valid { ptr, size } => {
                ExprKind::Valid { ptr: self.expr(p, ptr), size: self.expr(p, size) }
            }
            ExprKind::Freeable(a) => ExprKind::Freeable(self.expr(p, a)),
            ExprKind::ObjectSize(a) => ExprKind::ObjectSize(self.expr(p, a)),
            ExprKind::ReadOnly(a) => ExprKind::ReadOnly(self.expr(p, a)),
            ExprKind::Overlap(a, b, n) => {
                ExprKind::Overlap(self.expr(p, a), self.expr(p, b), self.expr(p, n))
            }
        };
        let new = match fold(p, ty, &new) {
            _ if new == kind => id,
            Some(value) => value,
            None => p.add_expr(ty, new),
        };
        self.exprs.insert(id, new);
        new
    }

    fn place(&mut self, p: &mut Program, id: PlaceId) -> PlaceId {
        if let Some(&done) = self.places.get(&id) {
            return done;
        }
        let old = p.places[id].clone();
        let mut new = old.clone();
        new.base = match old.base {
            Base::Var(v) => Base::Var(self.var(v)),
            Base::Deref(e) => Base::Deref(self.expr(p, e)),
        };
        for step in &mut new.path {
            if let Proj::Index { index, .. } = step {
                *index = self.expr(p, *index);
            }
        }
        let new = see_through(p, new);
        let id2 = if new == old { id } else { p.places.push(new) };
        self.places.insert(id, id2);
        id2
    }
}

/// The value of an operator on constants.
fn fold(p: &mut Program, ty: Scalar, kind: &ExprKind) -> Option<ExprId> {
    let constant = |e: ExprId| match p.exprs[e] {
        Expr { kind: ExprKind::Int(bits) | ExprKind::Float(bits), ty } => Some((ty, bits)),
        _ => None,
    };
    let bits = match *kind {
        ExprKind::Unary(op, a) => eval_unary(op, ty, constant(a)?.1)?,
        ExprKind::Binary(op, a, b) => {
            let ((_, a), (tb, b)) = (constant(a)?, constant(b)?);
            eval_binary(op, ty, a, tb.int().unwrap_or(IntTy::BOOL), b)?
        }
        ExprKind::Cmp(op, a, b) => {
            let ((ta, a), (_, b)) = (constant(a)?, constant(b)?);
            u128::from(eval_cmp(op, ta, a, b)?)
        }
        ExprKind::Overflow(op, a, b) => {
            let ((ta, a), (tb, b)) = (constant(a)?, constant(b)?);
            u128::from(eval_overflow(op, ta.int()?, a, tb.int()?, b)?)
        }
        ExprKind::Convert(a) => {
            let (from, a) = constant(a)?;
            eval_convert(from, ty, a, p.data_model.ptr_bits())?
        }
        ExprKind::Ite(c, a, b) => return Some(if constant(c)?.1 == 1 { a } else { b }),
        _ => return None,
    };
    let kind = if matches!(ty, Scalar::Float(_)) { ExprKind::Float(bits) } else { ExprKind::Int(bits) };
    Some(p.add_expr(ty, kind))
}

/// Whether two types lay out the same scalars at the same offsets; each file of a program has types of its own.
fn same_layout(p: &Program, a: TypeId, b: TypeId) -> bool {
    if a == b {
        return true;
    }
    match (&p.types[a], &p.types[b]) {
        (Type::Ptr(_), Type::Ptr(_)) => true,
        (Type::Array(a, m), Type::Array(b, n)) => m == n && same_layout(p, *a, *b),
        (Type::Record(a), Type::Record(b)) => {
            let same = |(a, b): (&Field, &Field)| {
                (a.offset, a.bits) == (b.offset, b.bits) && same_layout(p, a.ty, b.ty)
            };
            (a.size, a.union, a.fields.len()) == (b.size, b.union, b.fields.len())
                && a.fields.iter().zip(&b.fields).all(same)
        }
        (a, b) => a == b,
    }
}

/// What a pointer to a known place points to, where the types agree.
fn see_through(p: &Program, place: Place) -> Place {
    let Base::Deref(pointer) = place.base else { return place };
    let ExprKind::Addr(target) = p.exprs[pointer].kind else { return place };
    let target = &p.places[target];
    if target.bits.is_some() {
        return place;
    }
    let mut path = target.path.clone();
    match (target.path.last(), place.path.first()) {
        (_, None) if same_layout(p, target.ty, place.ty) => {}
        (_, Some(Proj::Field { record, .. })) if same_layout(p, target.ty, *record) => {
            path.extend(place.path.iter().copied());
        }
        (Some(&Proj::Index { index, stride }), Some(Proj::Index { stride: s, .. }))
            if stride == *s && matches!(p.exprs[index].kind, ExprKind::Int(0)) =>
        {
            path.pop();
            path.extend(place.path.iter().copied());
        }
        _ => return place,
    }
    Place { base: target.base, path, ..place }
}
