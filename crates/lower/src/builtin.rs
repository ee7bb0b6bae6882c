//! Operations of the compiler.

use crate::Lowerer;
use crate::scan::Traits;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_c_types::types::TypeTable;
use palisade_cfa::*;
use smallvec::SmallVec;

impl Lowerer<'_> {
    /// An operation of the compiler; its value if it has one.
    pub(crate) fn builtin(&mut self, e: TExprId, op: Builtin, args: &[TExprId]) -> Option<ExprId> {
        let span = self.span(e);
        match op {
            Builtin::Expect => {
                let value = self.value(args[0]);
                let Some(&hint) = args.get(1) else { return Some(value) };
                let value = self.keep(value, self.traits(hint), span);
                self.effects(hint);
                return Some(value);
            }
            Builtin::Hint | Builtin::Fence => {
                args.iter().for_each(|&a| self.effects(a));
                return None;
            }
            Builtin::Unreachable => {
                self.fail(CheckKind::Unreachable, span);
                return None;
            }
            Builtin::Trap => {
                self.at.graph.halt(Op::Halt { kind: HaltKind::Abort }, span);
                return None;
            }
            Builtin::UnknownAddress => {
                args.iter().for_each(|&a| self.effects(a));
                self.call_effect(Effect::Opaque, span);
                return Some(self.havoc(Scalar::Ptr, false, span));
            }
            Builtin::Valid { write } => {
                let (ptr, size) = (self.value(args[0]), self.value(args[1]));
                let valid = self.pool.valid(ptr, size);
                let truth = match write {
                    true => {
                        let read_only = self.pool.push(Scalar::BOOL, ExprKind::ReadOnly(ptr));
                        let writable = self.pool.not(read_only);
                        self.pool.and(valid, writable)
                    }
                    false => valid,
                };
                return Some(self.pool.convert_int(truth, IntTy::I32));
            }
            Builtin::ObjectSize => return Some(self.object_size(args, span)),
            Builtin::OverflowP(op) => return Some(self.checked_arithmetic(e, op, args, false)),
            Builtin::Overflow(op) => return Some(self.checked_arithmetic(e, op, args, true)),
            _ => {}
        }
        let values: SmallVec<[ExprId; 6]> =
            self.arguments(args).iter().map(|a| self.scalar_of_arg(a)).collect();
        let x = *values.first()?;
        let result = match op {
            Builtin::Alloca => {
                let size = self.pool.convert_int(x, self.size_t());
                let var = self.scalar_temp(Scalar::Ptr);
                let dst = self.pool.var(var);
                self.emit(Op::Alloc { dst, size, kind: AllocKind::Stack, zeroed: false }, span);
                self.pool.load(dst)
            }
            Builtin::Bswap => self.byte_swap(x, span),
            Builtin::Clz
            | Builtin::Ctz
            | Builtin::Popcount
            | Builtin::Parity
            | Builtin::Ffs
            | Builtin::Clrsb => self.bit_count(op, x, span),
            Builtin::IsNan => self.pool.cmp(CmpOp::Ne, x, x),
            Builtin::IsInf => self.is_infinite(x),
            Builtin::IsFinite => self.is_finite(x),
            Builtin::IsInfSign => {
                let infinite = self.is_infinite(x);
                let negative = self.is_negative(x);
                let ints = [-1, 1, 0].map(|v| self.pool.int(IntTy::I32, v));
                let sign = self.pool.ite(negative, ints[0], ints[1]);
                self.pool.ite(infinite, sign, ints[2])
            }
            Builtin::IsNormal => self.is_normal(x),
            Builtin::FpClassify => {
                let &[nan, infinite, normal, subnormal, zero, x] = values.as_slice() else { return None };
                let is_zero = self.is_zero(x);
                let is_normal = self.is_normal(x);
                let is_infinite = self.is_infinite(x);
                let is_nan = self.pool.cmp(CmpOp::Ne, x, x);
                let rest = self.pool.ite(is_zero, zero, subnormal);
                let rest = self.pool.ite(is_normal, normal, rest);
                let rest = self.pool.ite(is_infinite, infinite, rest);
                self.pool.ite(is_nan, nan, rest)
            }
            Builtin::SignBit => self.sign_bit(x, span),
            Builtin::FloatCompare(op) => self.comparison(op, x, *values.get(1)?),
            Builtin::IsLessGreater => {
                let y = *values.get(1)?;
                let less = self.pool.cmp(CmpOp::Lt, x, y);
                let greater = self.pool.cmp(CmpOp::Lt, y, x);
                self.pool.or(less, greater)
            }
            Builtin::IsUnordered => {
                let y = *values.get(1)?;
                let a = self.pool.cmp(CmpOp::Ne, x, x);
                let b = self.pool.cmp(CmpOp::Ne, y, y);
                self.pool.or(a, b)
            }
            Builtin::Fabs => {
                let negative = self.is_negative(x);
                let opposite = self.pool.unary(UnOp::Neg, x);
                let is_zero = self.is_zero(x);
                let zero = self.pool.push(self.pool.ty(x), ExprKind::Float(0));
                // The absolute value of -0.0 is 0.0.
                let rest = self.pool.ite(is_zero, zero, x);
                self.pool.ite(negative, opposite, rest)
            }
            Builtin::CopySign => {
                let (a, b) = (self.sign_bit(x, span), self.sign_bit(*values.get(1)?, span));
                let same = self.pool.cmp(CmpOp::Eq, a, b);
                let opposite = self.pool.unary(UnOp::Neg, x);
                self.pool.ite(same, x, opposite)
            }
            _ => return self.atomic(e, op, args, &values, span),
        };
        // Truth values and counts come in the type that the call has.
        Some(self.converted_to(self.typed.exprs[e].ty.ty, result, span))
    }

    fn scalar_of_arg(&mut self, arg: &Arg) -> ExprId {
        match *arg {
            Arg::Scalar(value) => value,
            // The type checker admits scalars only.
            Arg::Aggregate(_) => self.pool.int(IntTy::I32, 0),
        }
    }

    /// `__builtin_object_size`: what compilers know of variables and their parts they know however they optimise. How
    /// much else is known depends on that: proofs hold for every answer, and no run goes on with one. The pointer is
    /// not evaluated.
    fn object_size(&mut self, args: &[TExprId], span: Span) -> ExprId {
        let mode = args.get(1).map_or(0, |&m| {
            let mode = self.value(m);
            self.pool.int_constant(mode).unwrap_or(0)
        });
        let ty = self.size_t();
        let unknown = self.pool.int(ty, if mode & 2 == 0 { -1 } else { 0 });
        if self.traits(args[0]).has(Traits::EFFECT) {
            return unknown;
        }
        if let Some(bytes) = self.bytes_left(args[0], mode & 1 == 1) {
            return self.pool.int(ty, bytes.into());
        }
        let ptr = self.value(args[0]);
        let whole = self.pool.push(Scalar::Int(ty), ExprKind::ObjectSize(ptr));
        self.call_effect(Effect::Opaque, span);
        let any = self.havoc(Scalar::Int(ty), false, span);
        let fits = self.pool.cmp(CmpOp::Le, any, whole);
        let known = self.pool.ite(fits, any, whole);
        let choice = self.havoc(Scalar::BOOL, false, span);
        let answer = self.pool.ite(choice, known, unknown);
        self.save(answer, span)
    }

    /// Bytes from the place that a pointer expression names to the end of the variable it lies in, if every compiler
    /// knows them; with `part` to the end of the innermost array or member.
    fn bytes_left(&mut self, e: TExprId, part: bool) -> Option<u64> {
        let mut e = self.same_machine_value(e);
        let mut skipped = 0u64;
        while let TExprKind::PtrAdd { ptr, index, stride, sub: false } = *self.kind(e)
            && let TExprKind::Int(n) = *self.kind(index)
        {
            skipped = u64::try_from(n).ok()?.checked_mul(stride)?.checked_add(skipped)?;
            e = self.same_machine_value(ptr);
        }
        let (TExprKind::AddrOf(lvalue) | TExprKind::Decay(lvalue)) = *self.kind(e) else { return None };
        let obj = crate::scan::base_object(self.typed, lvalue)?;
        if self.typed.objects[obj].vla_size.is_some() || self.traits(lvalue).has(Traits::UNSAFE) {
            return None;
        }
        // Which part an element or a member is in, compilers see in several ways.
        if part && !matches!(*self.kind(lvalue), TExprKind::Object(_)) {
            return None;
        }
        let place = self.place(lvalue);
        let mut offset = skipped;
        for step in &self.pool.program.places[place].path {
            offset += match *step {
                Proj::Field { record, field } => self.pool.program.field(record, field).offset,
                Proj::Index { index, stride } => {
                    u64::try_from(self.pool.int_constant(index)?).ok()?.checked_mul(stride)?
                }
            };
        }
        let size = self.typed.types.size_of(self.typed.objects[obj].ty.ty)?;
        size.checked_sub(offset)
    }

    fn is_zero(&mut self, x: ExprId) -> ExprId {
        let zero = self.pool.push(self.pool.ty(x), ExprKind::Float(0));
        self.pool.cmp(CmpOp::Eq, x, zero)
    }

    fn is_negative(&mut self, x: ExprId) -> ExprId {
        let zero = self.pool.push(self.pool.ty(x), ExprKind::Float(0));
        self.pool.cmp(CmpOp::Lt, x, zero)
    }

    /// Only for infinities and NaN is `x - x` a NaN.
    fn is_finite(&mut self, x: ExprId) -> ExprId {
        let difference = self.pool.binary(BinOp::Sub, x, x);
        self.pool.cmp(CmpOp::Eq, difference, difference)
    }

    fn is_infinite(&mut self, x: ExprId) -> ExprId {
        let finite = self.is_finite(x);
        let not_finite = self.pool.not(finite);
        let number = self.pool.cmp(CmpOp::Eq, x, x);
        self.pool.and(not_finite, number)
    }

    fn is_normal(&mut self, x: ExprId) -> ExprId {
        let ty = self.pool.ty(x);
        let (least, sign) = match ty {
            Scalar::Float(FloatTy::F32) => (1 << 23, 1 << 31),
            Scalar::Float(FloatTy::F80) => (1 << 64 | 1 << 63, 1 << 79),
            _ => (1u128 << 52, 1u128 << 63),
        };
        let low = self.pool.push(ty, ExprKind::Float(least));
        let negative_low = self.pool.push(ty, ExprKind::Float(least | sign));
        let above = self.pool.cmp(CmpOp::Le, low, x);
        let below = self.pool.cmp(CmpOp::Le, x, negative_low);
        let large = self.pool.or(above, below);
        let finite = self.is_finite(x);
        self.pool.and(finite, large)
    }

    /// The sign bit as an `int`, read through a union.
    fn sign_bit(&mut self, x: ExprId, span: Span) -> ExprId {
        let ty = self.pool.ty(x);
        let float = self.scalar_type(ty);
        // The bits around the sign, and where they are.
        let (bits, offset) = match ty {
            Scalar::Float(FloatTy::F32) => (32, 0),
            Scalar::Float(FloatTy::F80) => (16, 8),
            _ => (64, 0),
        };
        let int = self.int_type(IntTy { bits, signed: false });
        let size = self.pool.program.size_of(float).unwrap_or(16);
        let field = |name: &str, ty, offset| Field { name: name.into(), ty, offset, bits: None };
        let fields = vec![field("value", float, 0), field("bits", int, offset)];
        let record = Record { name: "union .float".into(), union: true, fields, size, align: 4 };
        let record = self.pool.program.types.push(Type::Record(record));
        let var = self.temp(record);
        let whole = self.pool.var(var);
        let value = self.field_place(whole, record, 0);
        self.assign(value, x, span);
        let raw = self.field_place(whole, record, 1);
        let raw = self.pool.load(raw);
        let distance = self.pool.int(IntTy::I32, i128::from(bits) - 1);
        let bit = self.pool.binary(BinOp::Shr, raw, distance);
        self.pool.convert_int(bit, IntTy::I32)
    }

    fn byte_swap(&mut self, x: ExprId, span: Span) -> ExprId {
        let Scalar::Int(ty) = self.pool.ty(x) else { return x };
        let x = self.save(x, span);
        let bytes = ty.bits / 8;
        let mask = self.pool.int(ty, 0xff);
        let mut result = None;
        for i in 0..bytes {
            let from = self.pool.int(IntTy::I32, i128::from(8 * i));
            let to = self.pool.int(IntTy::I32, i128::from(8 * (bytes - 1 - i)));
            let byte = if i == 0 { x } else { self.pool.binary(BinOp::Shr, x, from) };
            let byte = self.pool.binary(BinOp::And, byte, mask);
            let byte = if i == bytes - 1 { byte } else { self.pool.binary(BinOp::Shl, byte, to) };
            result = Some(match result {
                None => byte,
                Some(r) => self.pool.binary(BinOp::Or, r, byte),
            });
        }
        result.unwrap_or(x)
    }

    fn bit_count(&mut self, op: Builtin, x: ExprId, span: Span) -> ExprId {
        let Scalar::Int(ty) = self.pool.ty(x) else { return x };
        let unsigned = IntTy { bits: ty.bits, signed: false };
        let zero = self.pool.int(ty, 0);
        let one = self.pool.int(IntTy::I32, 1);
        match op {
            Builtin::Popcount => self.ones(x, span),
            Builtin::Parity => {
                let n = self.ones(x, span);
                self.pool.binary(BinOp::And, n, one)
            }
            Builtin::Clz => {
                let x = self.pool.convert_int(x, unsigned);
                self.leading_zeros(x, span)
            }
            Builtin::Clrsb => {
                let x = self.save(x, span);
                let negative = self.pool.cmp(CmpOp::Lt, x, zero);
                let inverted = self.pool.unary(UnOp::Not, x);
                let rest = self.pool.ite(negative, inverted, x);
                let rest = self.pool.convert_int(rest, unsigned);
                let n = self.leading_zeros(rest, span);
                self.pool.binary(BinOp::Sub, n, one)
            }
            _ => {
                let x = self.save(x, span);
                let is_zero = self.pool.cmp(CmpOp::Eq, x, zero);
                let bits = self.pool.convert_int(x, unsigned);
                let n = self.trailing_zeros(bits, span);
                if op == Builtin::Ctz {
                    return n;
                }
                let position = self.pool.binary(BinOp::Add, n, one);
                let none = self.pool.int(IntTy::I32, 0);
                self.pool.ite(is_zero, none, position)
            }
        }
    }

    /// The number of ones, an `int`: sums of neighbouring fields, doubled in width each time.
    fn ones(&mut self, x: ExprId, span: Span) -> ExprId {
        let Scalar::Int(ty) = self.pool.ty(x) else { return x };
        let ty = IntTy { bits: ty.bits, signed: false };
        let mut sum = self.pool.convert_int(x, ty);
        let mut width = 1;
        while width < ty.bits {
            sum = self.save(sum, span);
            // Every other field of `width` bits.
            let mask =
                (0..ty.bits / (2 * width)).fold(0u128, |m, i| m | ((1 << width) - 1) << (2 * width * i));
            let mask = self.pool.push(Scalar::Int(ty), ExprKind::Int(mask));
            let distance = self.pool.int(IntTy::I32, width.into());
            let low = self.pool.binary(BinOp::And, sum, mask);
            let high = self.pool.binary(BinOp::Shr, sum, distance);
            let high = self.pool.binary(BinOp::And, high, mask);
            sum = self.pool.binary(BinOp::Add, low, high);
            width *= 2;
        }
        self.pool.convert_int(sum, IntTy::I32)
    }

    fn leading_zeros(&mut self, x: ExprId, span: Span) -> ExprId {
        let Scalar::Int(ty) = self.pool.ty(x) else { return x };
        // Copy the highest one to all places below it.
        let mut smear = x;
        let mut distance = 1;
        while distance < ty.bits {
            smear = self.save(smear, span);
            let by = self.pool.int(IntTy::I32, distance.into());
            let lower = self.pool.binary(BinOp::Shr, smear, by);
            smear = self.pool.binary(BinOp::Or, smear, lower);
            distance *= 2;
        }
        let ones = self.ones(smear, span);
        let width = self.pool.int(IntTy::I32, ty.bits.into());
        self.pool.binary(BinOp::Sub, width, ones)
    }

    /// The zeros below the lowest one are the ones of `~x & (x - 1)`.
    fn trailing_zeros(&mut self, x: ExprId, span: Span) -> ExprId {
        let Scalar::Int(ty) = self.pool.ty(x) else { return x };
        let one = self.pool.int(ty, 1);
        let below = self.pool.binary(BinOp::Sub, x, one);
        let inverted = self.pool.unary(UnOp::Not, x);
        let zeros = self.pool.binary(BinOp::And, inverted, below);
        self.ones(zeros, span)
    }

    /// `__builtin_*_overflow`: whether the exact result does not fit the third argument's type.
    fn checked_arithmetic(&mut self, e: TExprId, op: ArithOp, args: &[TExprId], store: bool) -> ExprId {
        let span = self.span(e);
        let values: SmallVec<[ExprId; 3]> =
            self.arguments(args).iter().map(|a| self.scalar_of_arg(a)).collect();
        let target = self.typed.exprs[args[2]].ty.ty;
        let target =
            if store { self.typed.types.pointee(target).map_or(TypeTable::INT, |q| q.ty) } else { target };
        let Some(ty) = self.typed.types.int_ty(target) else { return self.unknown(e) };
        let (result, overflow) =
            self.exact_arithmetic(crate::checks::bin_op(op), values[0], values[1], ty, span);
        let overflow = self.save(overflow, span);
        if store {
            let result = self.save(result, span);
            let ty = self.type_id(target);
            let place = self.pointed_to(values[2], ty);
            self.check_write(place, span);
            self.assign(place, result, span);
        }
        self.converted_to(self.typed.exprs[e].ty.ty, overflow, span)
    }

    /// The result of an operator on integers of any types in the type `ty`, and whether the exact
    /// one does not fit.
    fn exact_arithmetic(
        &mut self,
        op: BinOp,
        a: ExprId,
        b: ExprId,
        ty: IntTy,
        span: Span,
    ) -> (ExprId, ExprId) {
        let (Scalar::Int(ta), Scalar::Int(tb)) = (self.pool.ty(a), self.pool.ty(b)) else {
            return (a, self.pool.truth(false));
        };
        // Where both operands fit the type, its own operator decides.
        if holds(ty, ta) && holds(ty, tb) {
            let (a, b) = (self.pool.convert_int(a, ty), self.pool.convert_int(b, ty));
            return (self.pool.binary(op, a, b), self.pool.overflow(op, a, b));
        }
        let signed_bits = |t: IntTy| t.bits + u16::from(!t.signed);
        let needed = match op {
            // Two unsigned factors need no sign, but the product of two bounds of `i64` and `u64`
            // fits: only `u64 * u64` does not.
            BinOp::Mul => ta.bits + tb.bits + u16::from(!ta.signed && !tb.signed),
            _ => signed_bits(ta).max(signed_bits(tb)) + 1,
        };
        if needed > 128 {
            return self.arithmetic_by_magnitude(op, a, b, ty, span);
        }
        let wide = IntTy { bits: 128, signed: true };
        let (a, b) = (self.pool.convert_int(a, wide), self.pool.convert_int(b, wide));
        let exact = self.pool.binary(op, a, b);
        let exact = self.save(exact, span);
        let result = self.pool.convert_int(exact, ty);
        let back = self.pool.convert_int(result, wide);
        let overflow = self.pool.cmp(CmpOp::Ne, back, exact);
        (result, overflow)
    }

    /// The same where the exact result may need more than 128 bits: signs and magnitudes are
    /// computed apart.
    fn arithmetic_by_magnitude(
        &mut self,
        op: BinOp,
        a: ExprId,
        b: ExprId,
        ty: IntTy,
        span: Span,
    ) -> (ExprId, ExprId) {
        let word = IntTy { bits: 128, signed: false };
        let (wa, wb) = (self.pool.convert_int(a, word), self.pool.convert_int(b, word));
        let wrapped = self.pool.binary(op, wa, wb);
        let result = self.pool.convert_int(wrapped, ty);
        let (na, ma) = self.magnitude(a, wa, span);
        let (mut nb, mb) = self.magnitude(b, wb, span);
        let (negative, magnitude, lost) = if op == BinOp::Mul {
            let negative = self.pool.cmp(CmpOp::Ne, na, nb);
            (negative, self.pool.binary(BinOp::Mul, ma, mb), self.pool.overflow(BinOp::Mul, ma, mb))
        } else {
            if op == BinOp::Sub {
                nb = self.pool.not(nb);
            }
            let alike = self.pool.cmp(CmpOp::Eq, na, nb);
            let sum = self.pool.binary(BinOp::Add, ma, mb);
            let carry = self.pool.overflow(BinOp::Add, ma, mb);
            let larger = self.pool.cmp(CmpOp::Le, mb, ma);
            let (down, up) = (self.pool.binary(BinOp::Sub, ma, mb), self.pool.binary(BinOp::Sub, mb, ma));
            let difference = self.pool.ite(larger, down, up);
            let sign = self.pool.ite(larger, na, nb);
            let negative = self.pool.ite(alike, na, sign);
            (negative, self.pool.ite(alike, sum, difference), self.pool.and(alike, carry))
        };
        let magnitude = self.save(magnitude, span);
        let least = if ty.signed { 1u128 << (ty.bits - 1) } else { 0 };
        let least = self.pool.push(Scalar::Int(word), ExprKind::Int(least));
        let most = self.pool.push(Scalar::Int(word), ExprKind::Int(ty.max_bits()));
        let below = self.pool.cmp(CmpOp::Lt, least, magnitude);
        let above = self.pool.cmp(CmpOp::Lt, most, magnitude);
        let outside = self.pool.ite(negative, below, above);
        (result, self.pool.or(lost, outside))
    }

    /// Whether an integer is negative, and its distance from zero; `word` is its value in 128 bits.
    fn magnitude(&mut self, e: ExprId, word: ExprId, span: Span) -> (ExprId, ExprId) {
        let negative = match self.pool.ty(e) {
            Scalar::Int(ty) if ty.signed => {
                let zero = self.pool.int(ty, 0);
                self.pool.cmp(CmpOp::Lt, e, zero)
            }
            _ => self.pool.truth(false),
        };
        let opposite = self.pool.unary(UnOp::Neg, word);
        let magnitude = self.pool.ite(negative, opposite, word);
        (self.save(negative, span), self.save(magnitude, span))
    }
}

/// Whether all values of `from` are values of `ty`.
fn holds(ty: IntTy, from: IntTy) -> bool {
    match (ty.signed, from.signed) {
        (a, b) if a == b => ty.bits >= from.bits,
        (true, false) => ty.bits > from.bits,
        _ => false,
    }
}
