//! Constant expressions: integers, floating-point numbers and addresses.
//!
//! Operators fold constants as soon as they are built (see [`Checker::fold_binary`]), except
//! where that would hide undefined behaviour; what is left for [`Checker::const_eval`] are
//! addresses, conditionals and wrapped results, which only matter where C demands a constant.

use palisade_c_syntax::ast;
use palisade_cfa::eval::{eval_binary, eval_overflow};
use palisade_cfa::{BinOp, Scalar};
use std::cmp::Ordering;

use super::Checker;
use super::convert::{ConstBits, Shape};
use crate::soft;
use crate::tast::*;
use crate::types::*;

/// Evaluation stops here; only address arithmetic nests that deep without being folded before.
const MAX_DEPTH: u32 = 256;

/// What an address constant is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AddrBase {
    Object(ObjId),
    Func(FnId),
    Label(LabelId),
}

/// The value of a constant expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Const {
    /// An integer or a pointer with a constant address.
    Int(u128),
    Float(u128),
    Addr(AddrBase, i64),
    /// The distance of two labels.
    LabelDiff(LabelId, LabelId),
}

impl<'a> Checker<'a> {
    /// The value bits of an integer constant expression in the syntax tree.
    pub(super) fn const_int_expr(&mut self, expr: ast::ExprId) -> Option<u128> {
        let e = self.rvalue(expr);
        self.fold_int(e)
    }

    /// The mathematical value of an integer constant expression in the syntax tree.
    pub(super) fn const_signed_expr(&mut self, expr: ast::ExprId) -> Option<i128> {
        let e = self.rvalue(expr);
        let int = self.prog.types.int_ty(self.ty(e))?;
        let bits = self.fold_int(e)?;
        (int.signed || bits <= i128::MAX as u128).then(|| int.decode(bits))
    }

    /// The value bits of an integer constant.
    pub(super) fn fold_int(&self, e: TExprId) -> Option<u128> {
        if !self.prog.types.is_integer(self.ty(e)) {
            return None;
        }
        match self.const_eval(e)? {
            Const::Int(bits) => Some(bits),
            _ => None,
        }
    }

    /// The value of a constant expression, addresses included.
    pub(super) fn const_eval(&self, e: TExprId) -> Option<Const> {
        self.eval(e, 0)
    }

    fn eval(&self, e: TExprId, depth: u32) -> Option<Const> {
        if depth > MAX_DEPTH {
            return None;
        }
        let next = depth + 1;
        let expr = &self.prog.exprs[e];
        let ty = expr.ty.ty;
        match expr.kind {
            TExprKind::Int(bits) => Some(Const::Int(bits)),
            TExprKind::Float(bits) => Some(Const::Float(bits)),
            TExprKind::FuncAddr(f) => Some(Const::Addr(AddrBase::Func(f), 0)),
            TExprKind::LabelAddr(l) => Some(Const::Addr(AddrBase::Label(l), 0)),
            TExprKind::AddrOf(lvalue) | TExprKind::Decay(lvalue) => self.eval_address(lvalue, next),
            TExprKind::Convert(operand) => {
                let value = self.eval(operand, next)?;
                self.eval_convert(value, self.ty(operand), ty)
            }
            TExprKind::PtrAdd { ptr, index, stride, sub } => {
                let index = self.eval_offset(index, stride, next)?;
                let index = if sub { index.checked_neg()? } else { index };
                match self.eval(ptr, next)? {
                    Const::Addr(base, offset) => Some(Const::Addr(base, offset.checked_add(index)?)),
                    Const::Int(bits) => {
                        let Shape::Int(t) = self.scalar_shape(ty)? else { return None };
                        Some(Const::Int(t.truncate(bits.wrapping_add(index as i128 as u128))))
                    }
                    Const::Float(_) | Const::LabelDiff(..) => None,
                }
            }
            TExprKind::PtrDiff { lhs, rhs, stride } => {
                let bytes = match (self.eval(lhs, next)?, self.eval(rhs, next)?) {
                    (Const::Addr(a, x), Const::Addr(b, y)) if a == b => x.checked_sub(y)?,
                    (Const::Addr(AddrBase::Label(a), 0), Const::Addr(AddrBase::Label(b), 0))
                        if stride == 1 =>
                    {
                        return Some(Const::LabelDiff(a, b));
                    }
                    (Const::Int(a), Const::Int(b)) => i64::try_from(a as i128 - b as i128).ok()?,
                    _ => return None,
                };
                let int = self.prog.types.int_ty(ty)?;
                Some(Const::Int(int.truncate((bytes / i64::try_from(stride).ok()?) as i128 as u128)))
            }
            TExprKind::Neg(operand) => match (self.eval(operand, next)?, self.scalar_shape(ty)?) {
                (Const::Int(bits), Shape::Int(t)) => Some(Const::Int(t.truncate(bits.wrapping_neg()))),
                (Const::Float(bits), Shape::Float(t)) => Some(Const::Float(soft::neg(t, bits))),
                _ => None,
            },
            TExprKind::BitNot(operand) => match (self.eval(operand, next)?, self.scalar_shape(ty)?) {
                (Const::Int(bits), Shape::Int(t)) => Some(Const::Int(t.truncate(!bits))),
                _ => None,
            },
            TExprKind::LogNot(operand) => {
                let truth = self.truth(operand, next)?;
                Some(Const::Int(u128::from(!truth)))
            }
            TExprKind::Logical { and, lhs, rhs } => {
                let left = self.truth(lhs, next)?;
                let value = if left == and { self.truth(rhs, next)? } else { left };
                Some(Const::Int(value.into()))
            }
            TExprKind::Cond { cond, then, otherwise } => {
                if self.truth(cond, next)? {
                    match then {
                        Some(then) => self.eval(then, next),
                        None => {
                            let value = self.eval(cond, next)?;
                            self.eval_convert(value, self.ty(cond), ty)
                        }
                    }
                } else {
                    self.eval(otherwise, next)
                }
            }
            TExprKind::Binary { op, lhs, rhs } => {
                let (a, b) = (self.eval(lhs, next)?, self.eval(rhs, next)?);
                match (op, a, b) {
                    // Address arithmetic in an integer as wide as a pointer.
                    (ArithOp::Add, Const::Addr(base, offset), Const::Int(n))
                    | (ArithOp::Add, Const::Int(n), Const::Addr(base, offset)) => {
                        let n = self.prog.types.int_ty(ty)?.decode(n);
                        let n = if n > i128::from(i64::MAX) { n - (1 << 64) } else { n };
                        Some(Const::Addr(base, offset.checked_add(i64::try_from(n).ok()?)?))
                    }
                    (ArithOp::Sub, Const::Addr(base, offset), Const::Int(n)) => {
                        let n = self.prog.types.int_ty(ty)?.decode(n);
                        Some(Const::Addr(base, offset.checked_sub(i64::try_from(n).ok()?)?))
                    }
                    (ArithOp::Sub, Const::Addr(x, m), Const::Addr(y, n)) if x == y => {
                        let int = self.prog.types.int_ty(ty)?;
                        Some(Const::Int(int.truncate(m.wrapping_sub(n) as i128 as u128)))
                    }
                    (
                        ArithOp::Sub,
                        Const::Addr(AddrBase::Label(a), 0),
                        Const::Addr(AddrBase::Label(b), 0),
                    ) => Some(Const::LabelDiff(a, b)),
                    _ => self.eval_arith(op, ty, a, self.ty(rhs), b),
                }
            }
            TExprKind::Compare { op, lhs, rhs } => {
                let (a, b) = (self.eval(lhs, next)?, self.eval(rhs, next)?);
                self.eval_compare(op, self.ty(lhs), a, b).map(|t| Const::Int(t.into()))
            }
            TExprKind::Builtin { op: Builtin::Expect, ref args } => self.eval(*args.first()?, next),
            TExprKind::Load(lvalue) => self.eval_load(lvalue, next),
            _ => None,
        }
    }

    /// An element of a string literal.
    fn eval_load(&self, lvalue: TExprId, depth: u32) -> Option<Const> {
        let ty = self.ty(lvalue);
        if let TExprKind::Object(obj) = self.prog.exprs[lvalue].kind
            && let Some(&value) = self.constexprs.get(&obj)
        {
            return Some(value);
        }
        if !self.prog.types.is_integer(ty) || self.prog.bit_range(lvalue).is_some() {
            return None;
        }
        let Const::Addr(AddrBase::Object(obj), offset) = self.eval_address(lvalue, depth)? else {
            return None;
        };
        let obj = &self.prog.objects[obj];
        if !obj.read_only {
            return self.eval_const_object(obj, lvalue);
        }
        let offset = usize::try_from(offset).ok()?;
        let size = usize::try_from(self.prog.types.size_of(ty)?).ok()?;
        if offset as u64 + size as u64 > self.prog.types.size_of(obj.ty.ty)? {
            return None;
        }
        let bytes: &[u8] = match obj.image.as_ref()?.items.first() {
            Some(ImageItem { offset: 0, value: ConstValue::Bytes(bytes) }) => bytes,
            _ => &[],
        };
        let mut bits = 0;
        for i in 0..size {
            bits |= u128::from(bytes.get(offset + i).copied().unwrap_or(0)) << (8 * i);
        }
        Some(Const::Int(bits))
    }

    /// A `const` variable in the initialiser of another object, which gcc takes for its value.
    fn eval_const_object(&self, obj: &Object, lvalue: TExprId) -> Option<Const> {
        let whole = matches!(self.prog.exprs[lvalue].kind, TExprKind::Object(_));
        if !self.in_static_init || !whole || obj.ty.quals != Quals::CONST {
            return None;
        }
        match obj.image.as_ref()?.items[..] {
            [] => Some(Const::Int(0)),
            [ImageItem { offset: 0, value: ConstValue::Int { bits, .. } }] => Some(Const::Int(bits)),
            _ => None,
        }
    }

    /// Remembers the value of a `constexpr` variable (C23 6.7.1), which must be constant.
    pub(super) fn note_constexpr(&mut self, obj: ObjId, init: Option<InitId>, span: palisade_base::Span) {
        if !self.prog.types.is_scalar(self.prog.objects[obj].ty.ty) {
            return;
        }
        let value = match (init, &self.prog.objects[obj].image) {
            (Some(init), _) => match self.prog.inits[init].items[..] {
                [InitItem { value: InitValue::Expr(e), .. }] => self.const_eval(e),
                _ => Some(Const::Int(0)),
            },
            (None, Some(image)) => match image.items[..] {
                [] => Some(Const::Int(0)),
                [ImageItem { value: ConstValue::Int { bits, .. }, .. }] => Some(Const::Int(bits)),
                [ImageItem { value: ConstValue::Float(_, bits), .. }] => Some(Const::Float(bits)),
                _ => return,
            },
            (None, None) => None,
        };
        let is_float = self.prog.types.float_ty(self.prog.objects[obj].ty.ty).is_some();
        match value {
            Some(Const::Int(0)) if is_float => {
                self.constexprs.insert(obj, Const::Float(0));
            }
            Some(value) => {
                self.constexprs.insert(obj, value);
            }
            None => self.error(span, "a constexpr variable needs a constant initialiser"),
        }
    }

    fn eval_offset(&self, index: TExprId, stride: u64, depth: u32) -> Option<i64> {
        let int = self.prog.types.int_ty(self.ty(index))?;
        let Const::Int(bits) = self.eval(index, depth)? else { return None };
        // Addresses wrap around.
        let bytes = int.decode(bits).wrapping_mul(i128::from(stride));
        i64::try_from(self.prog.types.dm.ptrdiff_t().decode(bytes as u128)).ok()
    }

    /// The address of an lvalue with static storage.
    fn eval_address(&self, lvalue: TExprId, depth: u32) -> Option<Const> {
        if depth > MAX_DEPTH {
            return None;
        }
        let next = depth + 1;
        match self.prog.exprs[lvalue].kind {
            TExprKind::Object(obj) => match self.prog.objects[obj].kind {
                ObjKind::Global | ObjKind::StaticLocal(_) | ObjKind::StaticLiteral | ObjKind::String => {
                    Some(Const::Addr(AddrBase::Object(obj), 0))
                }
                _ => None,
            },
            TExprKind::Deref(ptr) => self.eval(ptr, next),
            TExprKind::Member { base, field } => {
                let record = self.prog.types.record_of(self.ty(base))?;
                let offset = i64::try_from(record.fields.get(field as usize)?.offset).ok()?;
                self.add_offset(self.eval_address(base, next)?, offset)
            }
            TExprKind::Index { base, index } => {
                let CType::Array(elem, _) = self.prog.types.get(self.ty(base)) else { return None };
                let stride = self.prog.types.size_of(elem.ty)?;
                let offset = self.eval_offset(index, stride, next)?;
                self.add_offset(self.eval_address(base, next)?, offset)
            }
            _ => None,
        }
    }

    fn add_offset(&self, value: Const, by: i64) -> Option<Const> {
        Some(match value {
            Const::Addr(base, offset) => Const::Addr(base, offset.checked_add(by)?),
            Const::Int(bits) => {
                let address = self.prog.types.dm.size_t();
                Const::Int(address.truncate(bits.wrapping_add(by as i128 as u128)))
            }
            Const::Float(_) | Const::LabelDiff(..) => return None,
        })
    }

    fn eval_convert(&self, value: Const, from: CTypeId, to: CTypeId) -> Option<Const> {
        let bits = match value {
            Const::Int(b) => ConstBits::Int(b),
            Const::Float(b) => ConstBits::Float(b),
            Const::LabelDiff(..) => return self.prog.types.is_integer(to).then_some(value),
            Const::Addr(..) => {
                if to == TypeTable::BOOL {
                    return Some(Const::Int(1));
                }
                let Shape::Int(target) = self.scalar_shape(to)? else { return None };
                return (target.bits >= self.prog.types.dm.ptr_bits()).then_some(value);
            }
        };
        Some(match self.convert_bits(from, to, bits)? {
            ConstBits::Int(b) => Const::Int(b),
            ConstBits::Float(b) => Const::Float(b),
        })
    }

    /// Whether a scalar constant is other than zero; an object's address always is.
    fn truth(&self, e: TExprId, depth: u32) -> Option<bool> {
        Some(match self.eval(e, depth)? {
            Const::Int(bits) => bits != 0,
            Const::Float(bits) => !soft::is_zero(self.prog.types.float_ty(self.ty(e))?, bits),
            Const::Addr(..) => true,
            Const::LabelDiff(..) => return None,
        })
    }

    /// An arithmetic operator on constants; integers wrap, division by zero has no value.
    fn eval_arith(&self, op: ArithOp, ty: CTypeId, a: Const, rhs: CTypeId, b: Const) -> Option<Const> {
        match (self.scalar_shape(ty)?, a, b) {
            (Shape::Int(t), Const::Int(a), Const::Int(b)) => {
                let shift = self.prog.types.int_ty(rhs)?;
                if matches!(op, ArithOp::Div | ArithOp::Rem) && shift.truncate(b) == 0 {
                    return None;
                }
                eval_binary(bin_op(op), Scalar::Int(t), a, shift, b).map(Const::Int)
            }
            (Shape::Float(t), Const::Float(a), Const::Float(b)) => {
                let bits = match op {
                    ArithOp::Add => soft::add(t, a, b),
                    ArithOp::Sub => soft::sub(t, a, b),
                    ArithOp::Mul => soft::mul(t, a, b),
                    ArithOp::Div => soft::div(t, a, b),
                    _ => return None,
                };
                Some(Const::Float(bits))
            }
            _ => None,
        }
    }

    fn eval_compare(&self, op: CompareOp, ty: CTypeId, a: Const, b: Const) -> Option<bool> {
        let order = match (self.scalar_shape(ty)?, a, b) {
            (Shape::Int(t), Const::Int(a), Const::Int(b)) if t.signed => t.decode(a).cmp(&t.decode(b)),
            (Shape::Int(t), Const::Int(a), Const::Int(b)) => t.truncate(a).cmp(&t.truncate(b)),
            (Shape::Float(t), Const::Float(a), Const::Float(b)) => match soft::compare(t, a, b) {
                Some(order) => order,
                None => return Some(op == CompareOp::Ne),
            },
            (_, Const::Addr(x, m), Const::Addr(y, n)) if x == y => m.cmp(&n),
            // Different objects, or an object and null: only equality is known.
            (_, Const::Addr(..), Const::Int(0)) | (_, Const::Int(0), Const::Addr(..)) => {
                return match op {
                    CompareOp::Eq => Some(false),
                    CompareOp::Ne => Some(true),
                    _ => None,
                };
            }
            _ => return None,
        };
        Some(match op {
            CompareOp::Lt => order == Ordering::Less,
            CompareOp::Gt => order == Ordering::Greater,
            CompareOp::Le => order != Ordering::Greater,
            CompareOp::Ge => order != Ordering::Less,
            CompareOp::Eq => order == Ordering::Equal,
            CompareOp::Ne => order != Ordering::Equal,
        })
    }

    /// The result of an operator on two constants, unless it is undefined.
    pub(super) fn fold_binary(
        &self,
        op: ArithOp,
        ty: CTypeId,
        lhs: TExprId,
        rhs: TExprId,
    ) -> Option<TExprKind> {
        match (&self.prog.exprs[lhs].kind, &self.prog.exprs[rhs].kind) {
            (&TExprKind::Int(a), &TExprKind::Int(b)) => {
                let t = self.prog.types.int_ty(ty)?;
                let shift = self.prog.types.int_ty(self.ty(rhs))?;
                if t.signed && eval_overflow(bin_op(op), t, a, shift, b) == Some(true) {
                    return None;
                }
                match self.eval_arith(op, ty, Const::Int(a), self.ty(rhs), Const::Int(b))? {
                    Const::Int(bits) => Some(TExprKind::Int(bits)),
                    _ => None,
                }
            }
            (&TExprKind::Float(a), &TExprKind::Float(b)) => {
                // What divides by zero, overflows or is invalid is left to the running program,
                // which alone knows the sign of its NaNs.
                match self.eval_arith(op, ty, Const::Float(a), self.ty(rhs), Const::Float(b))? {
                    Const::Float(bits) if soft::is_finite(self.prog.types.float_ty(ty)?, bits) => {
                        Some(TExprKind::Float(bits))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The result of a comparison of two constants.
    pub(super) fn fold_compare(&self, op: CompareOp, lhs: TExprId, rhs: TExprId) -> Option<TExprKind> {
        let constant = |e: TExprId| match self.prog.exprs[e].kind {
            TExprKind::Int(bits) => Some(Const::Int(bits)),
            TExprKind::Float(bits) => Some(Const::Float(bits)),
            _ => None,
        };
        let truth = self.eval_compare(op, self.ty(lhs), constant(lhs)?, constant(rhs)?)?;
        Some(TExprKind::Int(truth.into()))
    }

    /// The truth of a literal constant.
    pub(super) fn literal_truth(&self, e: TExprId) -> Option<bool> {
        match self.prog.exprs[e].kind {
            TExprKind::Int(bits) => Some(bits != 0),
            TExprKind::Float(bits) => Some(!soft::is_zero(self.prog.types.float_ty(self.ty(e))?, bits)),
            _ => None,
        }
    }

    /// Whether evaluating a value might do more than read a variable.
    pub(super) fn has_effects(&self, e: TExprId) -> bool {
        match self.prog.exprs[e].kind {
            TExprKind::Load(place) => !matches!(self.prog.exprs[place].kind, TExprKind::Object(_)),
            _ => self.const_eval(e).is_none(),
        }
    }
}

fn bin_op(op: ArithOp) -> BinOp {
    match op {
        ArithOp::Mul => BinOp::Mul,
        ArithOp::Div => BinOp::Div,
        ArithOp::Rem => BinOp::Rem,
        ArithOp::Add => BinOp::Add,
        ArithOp::Sub => BinOp::Sub,
        ArithOp::Shl => BinOp::Shl,
        ArithOp::Shr => BinOp::Shr,
        ArithOp::And => BinOp::And,
        ArithOp::Xor => BinOp::Xor,
        ArithOp::Or => BinOp::Or,
    }
}
