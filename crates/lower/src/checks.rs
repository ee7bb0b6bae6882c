//! Undefined behaviour, made visible as checks before the operation.
//!
//! A check that cannot fail is left out where the types alone show it.

use crate::Lowerer;
use crate::lowerer::Reported;
use palisade_base::Span;
use palisade_c_types::tast::{ArithOp, ObjId, TExprId, TExprKind};
use palisade_c_types::types::{ArrayLen, CType};
use palisade_cfa::eval::eval_overflow;
use palisade_cfa::*;
use smallvec::SmallVec;

impl Lowerer<'_> {
    /// Emits a check, if its kind is asked for and it may fail.
    pub(crate) fn check(&mut self, kind: CheckKind, cond: ExprId, span: Span) {
        if self.at.assuming {
            return self.emit(Op::Assume { cond }, span);
        }
        if self.options.checks.contains(kind) && self.pool.constant(cond) != Some(1) {
            self.emit(Op::Check { kind, cond }, span);
        }
    }

    pub(crate) fn wants(&self, kind: CheckKind) -> bool {
        self.options.checks.contains(kind)
    }

    /// A binary operator on numbers, with its checks.
    pub(crate) fn arithmetic(&mut self, op: ArithOp, a: ExprId, b: ExprId, span: Span) -> ExprId {
        let op = bin_op(op);
        if let Scalar::Int(ty) = self.pool.ty(a) {
            match op {
                BinOp::Add | BinOp::Sub | BinOp::Mul => self.check_overflow(op, ty, a, b, span),
                BinOp::Div | BinOp::Rem => {
                    self.check_divisor(b, ty, span);
                    self.check_overflow(op, ty, a, b, span);
                }
                BinOp::Shl | BinOp::Shr => self.check_shift(op, ty, a, b, span),
                BinOp::And | BinOp::Or | BinOp::Xor => {}
            }
        }
        self.pool.binary(op, a, b)
    }

    /// The negation of a number, with its check.
    pub(crate) fn negated(&mut self, a: ExprId, span: Span) -> ExprId {
        if let Scalar::Int(ty) = self.pool.ty(a) {
            let zero = self.pool.int(ty, 0);
            self.check_overflow(BinOp::Sub, ty, zero, a, span);
        }
        self.pool.unary(UnOp::Neg, a)
    }

    fn check_overflow(&mut self, op: BinOp, ty: IntTy, a: ExprId, b: ExprId, span: Span) {
        if !ty.signed || !self.wants(CheckKind::SignedOverflow) || self.stays_inside(op, ty, a, b) {
            return;
        }
        let overflow = match (self.pool.constant(a), self.pool.constant(b)) {
            (Some(x), Some(y)) => match eval_overflow(op, ty, x, ty, y) {
                Some(known) => self.pool.truth(known),
                // Division by zero, which has a check of its own.
                None => return,
            },
            _ => self.pool.overflow(op, a, b),
        };
        let fine = self.pool.not(overflow);
        self.check(CheckKind::SignedOverflow, fine, span);
    }

    /// Whether the types of the operands show that the result fits.
    fn stays_inside(&self, op: BinOp, ty: IntTy, a: ExprId, b: ExprId) -> bool {
        let ((a0, a1), (b0, b1)) = (self.range(a), self.range(b));
        let (min, max) = (ty.decode(ty.min_bits()), ty.decode(ty.max_bits()));
        let inside =
            |results: &[Option<i128>]| results.iter().all(|r| r.is_some_and(|r| (min..=max).contains(&r)));
        match op {
            BinOp::Add => inside(&[a0.checked_add(b0), a1.checked_add(b1)]),
            BinOp::Sub => inside(&[a0.checked_sub(b1), a1.checked_sub(b0)]),
            BinOp::Mul => {
                inside(&[a0.checked_mul(b0), a0.checked_mul(b1), a1.checked_mul(b0), a1.checked_mul(b1)])
            }
            // Only the smallest number divided by -1 leaves the type.
            BinOp::Div | BinOp::Rem => a0 > min || b0 > -1 || b1 < -1,
            _ => false,
        }
    }

    /// Bounds of an integer expression that its form shows.
    fn range(&self, e: ExprId) -> (i128, i128) {
        let expr = &self.pool.program.exprs[e];
        let Scalar::Int(ty) = expr.ty else { return (i128::MIN, i128::MAX) };
        if !ty.signed && ty.bits >= 127 {
            return (i128::MIN, i128::MAX);
        }
        let all = (ty.decode(ty.min_bits()), ty.decode(ty.max_bits()));
        match expr.kind {
            ExprKind::Int(v) => (ty.decode(v), ty.decode(v)),
            ExprKind::Convert(inner) if self.pool.ty(inner).int().is_some() => {
                let (low, high) = self.range(inner);
                if low >= all.0 && high <= all.1 { (low, high) } else { all }
            }
            _ => all,
        }
    }

    fn check_divisor(&mut self, b: ExprId, ty: IntTy, span: Span) {
        if self.wants(CheckKind::DivByZero) {
            let zero = self.pool.int(ty, 0);
            let fine = self.pool.cmp(CmpOp::Ne, b, zero);
            self.check(CheckKind::DivByZero, fine, span);
        }
    }

    fn check_shift(&mut self, op: BinOp, ty: IntTy, a: ExprId, b: ExprId, span: Span) {
        let Scalar::Int(distance) = self.pool.ty(b) else { return };
        if self.wants(CheckKind::ShiftRange) {
            let limit = i128::from(ty.bits);
            self.check_range(CheckKind::ShiftRange, b, distance, 0, limit - 1, span);
        }
        if op == BinOp::Shl && ty.signed && self.wants(CheckKind::ShiftOverflow) {
            let overflow = match (self.pool.constant(a), self.pool.constant(b)) {
                (Some(x), Some(y)) => match eval_overflow(op, ty, x, distance, y) {
                    Some(known) => self.pool.truth(known),
                    None => return,
                },
                _ => self.pool.overflow(op, a, b),
            };
            let fine = self.pool.not(overflow);
            self.check(CheckKind::ShiftOverflow, fine, span);
            if self.range(a).0 < 0 {
                let zero = self.pool.int(ty, 0);
                let fine = self.pool.cmp(CmpOp::Le, zero, a);
                self.check(CheckKind::ShiftOverflow, fine, span);
            }
        }
    }

    /// Checks that an integer lies between two bounds, each by a comparison of its own.
    fn check_range(&mut self, kind: CheckKind, e: ExprId, ty: IntTy, low: i128, high: i128, span: Span) {
        let (min, max) = self.range(e);
        if low > high || max < low || min > high {
            let never = self.pool.truth(false);
            return self.check(kind, never, span);
        }
        if min < low {
            let bound = self.pool.int(ty, low);
            let fine = self.pool.cmp(CmpOp::Le, bound, e);
            self.check(kind, fine, span);
        }
        if max > high {
            let bound = self.pool.int(ty, high);
            let fine = self.pool.cmp(CmpOp::Le, e, bound);
            self.check(kind, fine, span);
        }
    }

    /// Checks that a floating-point number, without its fraction, fits an integer type.
    pub(crate) fn check_float_to_int(&mut self, e: ExprId, from: FloatTy, to: IntTy, span: Span) {
        if !self.wants(CheckKind::FloatToInt) {
            return;
        }
        // Strictly between one below the smallest and one above the largest integer; where a
        // bound is no number of the format, the next weaker condition is the same.
        let magnitude = if to.signed { 1u128 << (to.bits - 1) } else { 0 };
        let (low, op) = match float_bits(from, true, magnitude + 1) {
            Some(bits) => (bits, CmpOp::Lt),
            None => (float_bits(from, true, magnitude).unwrap_or(0), CmpOp::Le),
        };
        let ty = Scalar::Float(from);
        let low = self.pool.push(ty, ExprKind::Float(low));
        let fine = self.pool.cmp(op, low, e);
        self.check(CheckKind::FloatToInt, fine, span);
        let top = if to.signed { to.bits - 1 } else { to.bits };
        let high = if top == 128 { power_of_two_128(from) } else { float_bits(from, false, 1 << top) };
        let fine = match high {
            Some(bits) => {
                let high = self.pool.push(ty, ExprKind::Float(bits));
                self.pool.cmp(CmpOp::Lt, e, high)
            }
            // Every number of the format is below the bound except infinity and NaN.
            None => {
                let difference = self.pool.binary(BinOp::Sub, e, e);
                self.pool.cmp(CmpOp::Eq, difference, difference)
            }
        };
        self.check(CheckKind::FloatToInt, fine, span);
    }

    /// Checks before a place is read.
    pub(crate) fn check_read(&mut self, place: PlaceId, span: Span) {
        self.check_bounds(place, span);
        if self.wants(CheckKind::Deref) {
            self.check_deref(place, span);
        }
    }

    /// Checks before a place is written.
    pub(crate) fn check_write(&mut self, place: PlaceId, span: Span) {
        self.check_read(place, span);
        self.check_writable(place, span);
    }

    /// A place that can be read can also be written.
    pub(crate) fn check_writable(&mut self, place: PlaceId, span: Span) {
        if !self.wants(CheckKind::ReadOnly) {
            return;
        }
        match self.pool.program.places[place].base {
            Base::Var(var) if self.pool.program.vars[var].read_only => {
                let never = self.pool.truth(false);
                self.check(CheckKind::ReadOnly, never, span);
            }
            Base::Var(_) => {}
            Base::Deref(ptr) => {
                let read_only = self.pool.push(Scalar::BOOL, ExprKind::ReadOnly(ptr));
                let fine = self.pool.not(read_only);
                self.check(CheckKind::ReadOnly, fine, span);
            }
        }
    }

    /// Every index lies in the array it is applied to.
    fn check_bounds(&mut self, place: PlaceId, span: Span) {
        if !self.wants(CheckKind::Bounds) {
            return;
        }
        let p = &self.pool.program.places[place];
        let mut at = match p.base {
            Base::Var(var) => Some(self.pool.program.vars[var].ty),
            Base::Deref(_) => None,
        };
        let mut indices: SmallVec<[(ExprId, u64); 2]> = SmallVec::new();
        for proj in &p.path {
            at = match *proj {
                Proj::Field { record, field } => Some(self.pool.program.field(record, field).ty),
                Proj::Index { index, .. } => match at.map(|t| &self.pool.program.types[t]) {
                    Some(Type::Array(elem, len)) => {
                        // A length of zero or none at all is that of a flexible array member.
                        if let Some(len @ 1..) = *len {
                            indices.push((index, len));
                        }
                        Some(*elem)
                    }
                    _ => None,
                },
            };
        }
        for (index, len) in indices {
            if let Scalar::Int(ty) = self.pool.ty(index) {
                self.check_range(CheckKind::Bounds, index, ty, 0, i128::from(len) - 1, span);
            }
        }
    }

    /// Two pieces of memory of the same size have no byte in common, unless they are the same (compilers copy a
    /// structure to itself).
    pub(crate) fn check_apart(&mut self, to: ExprId, from: ExprId, size: ExprId, span: Span) {
        if self.wants(CheckKind::Overlap) {
            let overlap = self.pool.push(Scalar::BOOL, ExprKind::Overlap(to, from, size));
            let fine = self.pool.not(overlap);
            self.check(CheckKind::Overlap, fine, span);
        }
    }

    /// The last index of a place lies in the array that the expression says, where the place alone does not tell: one
    /// that a pointer leads to, or one of variable length. An array that is an object of its own and has a variable
    /// length ends where the object does.
    pub(crate) fn check_length(&mut self, array: TExprId, place: PlaceId, span: Span) {
        let CType::Array(_, len) = self.typed.types.get(self.typed.exprs[array].ty.ty) else { return };
        if !self.wants(CheckKind::Bounds) {
            return;
        }
        let Place { base, ref path, .. } = self.pool.program.places[place];
        let Some((&Proj::Index { index, .. }, before)) = path.split_last() else { return };
        let Scalar::Int(ty) = self.pool.ty(index) else { return };
        match len {
            ArrayLen::Known(len @ 1..) => {
                let typed = matches!(base, Base::Var(_))
                    || before.iter().any(|proj| matches!(proj, Proj::Field { .. }));
                if !typed {
                    self.check_range(CheckKind::Bounds, index, ty, 0, i128::from(len) - 1, span);
                }
            }
            ArrayLen::Vla(vla) if !matches!(self.kind(array), TExprKind::Object(_)) => {
                let length = self.typed.types.vlas[vla].len;
                let Some(var) = self.length(length) else {
                    let message =
                        "an index is not compared with the length of this array, which is kept elsewhere";
                    self.warn_once(Reported::NoLength(length), span, message);
                    self.call_effect(Effect::Unmodelled, span);
                    return;
                };
                self.check_range(CheckKind::Bounds, index, ty, 0, i128::MAX, span);
                let length = self.pool.load_var(var);
                let unsigned = IntTy { bits: ty.bits.max(self.size_t().bits), signed: false };
                let (index, length) =
                    (self.pool.convert_int(index, unsigned), self.pool.convert_int(length, unsigned));
                let fine = self.pool.cmp(CmpOp::Lt, index, length);
                self.check(CheckKind::Bounds, fine, span);
            }
            _ => {}
        }
    }

    /// The variable in which this function finds a length: that of the function where the array is declared, or one in
    /// which a nested function keeps it.
    fn length(&self, of: ObjId) -> Option<VarId> {
        let kept = self.typed.kept_lengths.get(&of).into_iter().flatten();
        let own = VarKind::Temp(self.at.func);
        let known = std::iter::once(&of).chain(kept).filter_map(|&obj| *self.vars.get(obj)?);
        known.into_iter().find(|var| self.pool.program.vars[*var].kind == own)
    }

    /// The place lies in a live object.
    fn check_deref(&mut self, place: PlaceId, span: Span) {
        let p = &self.pool.program.places[place];
        let size = match p.bits {
            Some(bits) => u64::from(bits.first + bits.width).div_ceil(8),
            None => match self.pool.program.size_of(p.ty) {
                Some(size) => size,
                None => return,
            },
        };
        match p.base {
            Base::Var(var) => match self.pool.program.size_of(self.pool.program.vars[var].ty) {
                Some(whole) => self.check_offset(place, var, whole, size, span),
                None => self.check_valid(place, size, span),
            },
            Base::Deref(_) => self.check_valid(place, size, span),
        }
    }

    fn check_valid(&mut self, place: PlaceId, size: u64, span: Span) {
        let mut start = place;
        if self.pool.program.places[place].bits.is_some() {
            // A bit-field has no address; the byte where it starts has.
            let mut byte = self.pool.program.places[place].clone();
            byte.bits = None;
            byte.ty = self.int_type(IntTy { bits: 8, signed: false });
            start = self.pool.place(byte);
        }
        let ptr = self.pool.addr(start);
        let size = self.pool.size(size);
        let fine = self.pool.valid(ptr, size);
        self.check(CheckKind::Deref, fine, span);
    }

    /// A piece of `size` bytes lies inside a variable of `whole` bytes. Variables that are in
    /// scope are alive, so that indices decide alone.
    fn check_offset(&mut self, place: PlaceId, var: VarId, whole: u64, size: u64, span: Span) {
        let mut fixed: i128 = 0;
        let mut variable: SmallVec<[(ExprId, IntTy, i128); 2]> = SmallVec::new();
        for proj in &self.pool.program.places[place].path {
            match *proj {
                Proj::Field { record, field } => {
                    fixed += i128::from(self.pool.program.field(record, field).offset);
                }
                Proj::Index { index, stride } => match (self.pool.int_constant(index), self.pool.ty(index)) {
                    (Some(i), _) => fixed = fixed.saturating_add(i.saturating_mul(stride.into())),
                    (None, Scalar::Int(ty)) => variable.push((index, ty, stride.into())),
                    (None, _) => {}
                },
            }
        }
        // The initialiser of a flexible array member makes the object larger than its type.
        let image_end = self.objects.get(&var).map_or(0, |&obj| self.image_end(obj));
        let whole = i128::from(whole.max(image_end));
        let last = whole - i128::from(size) - fixed;
        match variable.as_slice() {
            [] => {
                let fine = self.pool.truth(fixed >= 0 && last >= 0);
                self.check(CheckKind::Deref, fine, span);
            }
            &[(index, ty, stride)] if stride > 0 => {
                let low = (-fixed).div_euclid(stride) + i128::from((-fixed).rem_euclid(stride) != 0);
                let high = last.div_euclid(stride);
                self.check_range(CheckKind::Deref, index, ty, low, high, span);
            }
            _ => {
                // The sum of all steps, in a type that holds it.
                let narrow = variable.iter().all(|(_, ty, stride)| ty.bits <= 32 && *stride < 1 << 28);
                let ty = IntTy { bits: if narrow { 64 } else { 128 }, signed: true };
                let mut sum = None;
                for (index, _, stride) in variable {
                    let index = self.pool.convert_int(index, ty);
                    let stride = self.pool.int(ty, stride);
                    let step = self.pool.binary(BinOp::Mul, index, stride);
                    sum = Some(match sum {
                        None => step,
                        Some(sum) => self.pool.binary(BinOp::Add, sum, step),
                    });
                }
                if let Some(sum) = sum {
                    self.check_range(CheckKind::Deref, sum, ty, -fixed, last, span);
                }
            }
        }
    }

    /// Checks that `len` bytes from a pointer on can be accessed; none at all always can.
    pub(crate) fn check_bytes(&mut self, ptr: ExprId, len: ExprId, write: bool, span: Span) {
        if self.wants(CheckKind::Deref) {
            let zero = self.pool.size(0);
            let nothing = self.pool.cmp(CmpOp::Eq, len, zero);
            let valid = self.pool.valid(ptr, len);
            let fine = self.pool.or(nothing, valid);
            self.check(CheckKind::Deref, fine, span);
        }
        if write && self.wants(CheckKind::ReadOnly) {
            let read_only = self.pool.push(Scalar::BOOL, ExprKind::ReadOnly(ptr));
            let fine = self.pool.not(read_only);
            self.check(CheckKind::ReadOnly, fine, span);
        }
    }
}

/// The operator of the automaton.
pub(crate) fn bin_op(op: ArithOp) -> BinOp {
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

/// Significant bits, exponent bias and position of the exponent of a format.
fn shape(ty: FloatTy) -> (u32, i32, u32) {
    match ty {
        FloatTy::F32 => (24, 127, 23),
        FloatTy::F64 => (53, 1023, 52),
        FloatTy::F80 => (64, 16383, 64),
    }
}

/// An integer as a floating-point number, if it is one exactly.
pub(crate) fn float_bits(ty: FloatTy, negative: bool, magnitude: u128) -> Option<u128> {
    let sign = u128::from(negative) << (ty.bits() - 1);
    if magnitude == 0 {
        return Some(sign);
    }
    let (precision, bias, position) = shape(ty);
    let top = 127 - magnitude.leading_zeros();
    if top - magnitude.trailing_zeros() >= precision || top as i32 > bias {
        return None;
    }
    let significand = if top + 1 >= precision {
        magnitude >> (top + 1 - precision)
    } else {
        magnitude << (precision - 1 - top)
    };
    // The 80-bit format stores the leading one, the others do not.
    let stored = if ty == FloatTy::F80 { significand } else { significand & !(1 << (precision - 1)) };
    Some(sign | ((top as i32 + bias) as u128) << position | stored)
}

/// 2^128, where the format has it.
fn power_of_two_128(ty: FloatTy) -> Option<u128> {
    let (_, bias, position) = shape(ty);
    let leading = if ty == FloatTy::F80 { 1 << 63 } else { 0 };
    (bias >= 128).then(|| ((128 + bias) as u128) << position | leading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_become_the_floats_the_machine_has() {
        for n in
            (0..2000u128).chain([1 << 24, (1 << 24) + 1, 1 << 52, (1 << 53) + 1, 1 << 63, u64::MAX.into()])
        {
            for negative in [false, true] {
                let sign = if negative { -1.0 } else { 1.0 };
                let f = (n as f32) * sign as f32;
                let exact = (n as f32) as u128 == n;
                assert_eq!(float_bits(FloatTy::F32, negative, n), exact.then(|| f.to_bits().into()), "{n}");
                let d = (n as f64) * sign;
                let exact = (n as f64) as u128 == n;
                assert_eq!(float_bits(FloatTy::F64, negative, n), exact.then(|| d.to_bits().into()), "{n}");
            }
        }
        assert_eq!(float_bits(FloatTy::F80, false, 1), Some(0x3fff_8000_0000_0000_0000));
        assert_eq!(float_bits(FloatTy::F80, true, 3), Some(0xc000_c000_0000_0000_0000));
    }
}
