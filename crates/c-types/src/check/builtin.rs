//! Operations of the compiler with the syntax of a call.

use palisade_base::Span;
use palisade_c_syntax::ast;
use palisade_c_syntax::{Interner, Symbol};
use palisade_cfa::FloatTy;
use rustc_hash::FxHashMap;

use super::Checker;
use super::atomic::AtomicFn;
use super::konst::{AddrBase, Const};
use super::library::LIBRARY;
use crate::soft;
use crate::tast::*;
use crate::types::*;

/// What a name of the compiler does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum BuiltinFn {
    /// `long f(long, …)`: the first argument.
    Expect,
    /// The first argument, a pointer.
    AssumeAligned,
    /// No arguments, no result.
    Simple(Builtin),
    ConstantP,
    /// An operation on one integer of this type; the result is an `int`.
    Bits(Builtin, IntKind),
    /// The bytes of an integer of this type reversed.
    Bswap(IntKind),
    /// `bool f(a, b, r *)`, with operands of one type or (generic) of any.
    Overflow(ArithOp, Option<IntKind>),
    OverflowP(ArithOp),
    /// An unknown pointer.
    Address,
    Alloca,
    /// Arguments are evaluated, nothing else happens.
    Hint,
    /// A predicate on one floating-point number of this type, or of its own.
    FloatTest(Builtin, Option<FloatTy>),
    /// A predicate on two floating-point numbers.
    FloatCompare(Builtin),
    FpClassify,
    Fabs(FloatTy),
    CopySign(FloatTy),
    Infinity(FloatTy),
    Nan(FloatTy),
    ObjectSize,
    VaStart,
    VaEnd,
    VaCopy,
    /// A library function under another name.
    Library(Symbol),
    /// A checking variant of a library function: these arguments are dropped.
    Checked(Symbol, &'static [usize]),
    Atomic(AtomicFn),
    /// The arguments of an inline function that is never called as such; its body is dropped.
    ArgPack,
    /// A complex number from its parts.
    Complex,
    /// Elements of one or two vectors, chosen by a vector of numbers.
    Shuffle,
    /// Elements of two vectors, chosen by constants.
    ShuffleVector,
    /// A number for the class of the operand's type.
    ClassifyType,
    /// Known to gcc but not to us.
    Unsupported,
}

/// All names of the compiler.
pub(crate) fn table(interner: &mut Interner) -> FxHashMap<Symbol, BuiltinFn> {
    use ArithOp::{Add, Mul, Sub};
    use BuiltinFn as F;
    use FloatTy::{F32, F64, F80};
    use IntKind::*;
    let mut map = FxHashMap::default();
    let mut put = |interner: &mut Interner, name: &str, f: F| {
        map.insert(interner.intern(name), f);
    };
    for &(name, _) in LIBRARY {
        let target = interner.intern(name);
        put(interner, &format!("__builtin_{name}"), F::Library(target));
    }
    let fixed: &[(&str, F)] = &[
        ("expect", F::Expect),
        ("expect_with_probability", F::Expect),
        ("assume_aligned", F::AssumeAligned),
        ("unreachable", F::Simple(Builtin::Unreachable)),
        ("trap", F::Simple(Builtin::Trap)),
        ("constant_p", F::ConstantP),
        ("clz", F::Bits(Builtin::Clz, UInt)),
        ("clzl", F::Bits(Builtin::Clz, ULong)),
        ("clzll", F::Bits(Builtin::Clz, ULongLong)),
        ("ctz", F::Bits(Builtin::Ctz, UInt)),
        ("ctzl", F::Bits(Builtin::Ctz, ULong)),
        ("ctzll", F::Bits(Builtin::Ctz, ULongLong)),
        ("popcount", F::Bits(Builtin::Popcount, UInt)),
        ("popcountl", F::Bits(Builtin::Popcount, ULong)),
        ("popcountll", F::Bits(Builtin::Popcount, ULongLong)),
        ("parity", F::Bits(Builtin::Parity, UInt)),
        ("parityl", F::Bits(Builtin::Parity, ULong)),
        ("parityll", F::Bits(Builtin::Parity, ULongLong)),
        ("ffs", F::Bits(Builtin::Ffs, Int)),
        ("ffsl", F::Bits(Builtin::Ffs, Long)),
        ("ffsll", F::Bits(Builtin::Ffs, LongLong)),
        ("clrsb", F::Bits(Builtin::Clrsb, Int)),
        ("clrsbl", F::Bits(Builtin::Clrsb, Long)),
        ("clrsbll", F::Bits(Builtin::Clrsb, LongLong)),
        ("bswap16", F::Bswap(UShort)),
        ("bswap32", F::Bswap(UInt)),
        ("bswap64", F::Bswap(ULongLong)),
        ("bswap128", F::Bswap(UInt128)),
        ("add_overflow", F::Overflow(Add, None)),
        ("sub_overflow", F::Overflow(Sub, None)),
        ("mul_overflow", F::Overflow(Mul, None)),
        ("sadd_overflow", F::Overflow(Add, Some(Int))),
        ("saddl_overflow", F::Overflow(Add, Some(Long))),
        ("saddll_overflow", F::Overflow(Add, Some(LongLong))),
        ("uadd_overflow", F::Overflow(Add, Some(UInt))),
        ("uaddl_overflow", F::Overflow(Add, Some(ULong))),
        ("uaddll_overflow", F::Overflow(Add, Some(ULongLong))),
        ("ssub_overflow", F::Overflow(Sub, Some(Int))),
        ("ssubl_overflow", F::Overflow(Sub, Some(Long))),
        ("ssubll_overflow", F::Overflow(Sub, Some(LongLong))),
        ("usub_overflow", F::Overflow(Sub, Some(UInt))),
        ("usubl_overflow", F::Overflow(Sub, Some(ULong))),
        ("usubll_overflow", F::Overflow(Sub, Some(ULongLong))),
        ("smul_overflow", F::Overflow(Mul, Some(Int))),
        ("smull_overflow", F::Overflow(Mul, Some(Long))),
        ("smulll_overflow", F::Overflow(Mul, Some(LongLong))),
        ("umul_overflow", F::Overflow(Mul, Some(UInt))),
        ("umull_overflow", F::Overflow(Mul, Some(ULong))),
        ("umulll_overflow", F::Overflow(Mul, Some(ULongLong))),
        ("add_overflow_p", F::OverflowP(Add)),
        ("sub_overflow_p", F::OverflowP(Sub)),
        ("mul_overflow_p", F::OverflowP(Mul)),
        ("return_address", F::Address),
        ("frame_address", F::Address),
        ("extract_return_addr", F::Address),
        ("alloca", F::Alloca),
        ("alloca_with_align", F::Alloca),
        ("prefetch", F::Hint),
        ("isnan", F::FloatTest(Builtin::IsNan, None)),
        ("isnanf", F::FloatTest(Builtin::IsNan, Some(F32))),
        ("isnanl", F::FloatTest(Builtin::IsNan, Some(F80))),
        ("isinf", F::FloatTest(Builtin::IsInf, None)),
        ("isinff", F::FloatTest(Builtin::IsInf, Some(F32))),
        ("isinfl", F::FloatTest(Builtin::IsInf, Some(F80))),
        ("isinf_sign", F::FloatTest(Builtin::IsInfSign, None)),
        ("isfinite", F::FloatTest(Builtin::IsFinite, None)),
        ("finite", F::FloatTest(Builtin::IsFinite, Some(F64))),
        ("finitef", F::FloatTest(Builtin::IsFinite, Some(F32))),
        ("finitel", F::FloatTest(Builtin::IsFinite, Some(F80))),
        ("isnormal", F::FloatTest(Builtin::IsNormal, None)),
        ("signbit", F::FloatTest(Builtin::SignBit, None)),
        ("signbitf", F::FloatTest(Builtin::SignBit, Some(F32))),
        ("signbitl", F::FloatTest(Builtin::SignBit, Some(F80))),
        ("isgreater", F::FloatCompare(Builtin::FloatCompare(CompareOp::Gt))),
        ("isgreaterequal", F::FloatCompare(Builtin::FloatCompare(CompareOp::Ge))),
        ("isless", F::FloatCompare(Builtin::FloatCompare(CompareOp::Lt))),
        ("islessequal", F::FloatCompare(Builtin::FloatCompare(CompareOp::Le))),
        ("islessgreater", F::FloatCompare(Builtin::IsLessGreater)),
        ("isunordered", F::FloatCompare(Builtin::IsUnordered)),
        ("fpclassify", F::FpClassify),
        ("fabs", F::Fabs(F64)),
        ("fabsf", F::Fabs(F32)),
        ("fabsl", F::Fabs(F80)),
        ("copysign", F::CopySign(F64)),
        ("copysignf", F::CopySign(F32)),
        ("copysignl", F::CopySign(F80)),
        ("inf", F::Infinity(F64)),
        ("inff", F::Infinity(F32)),
        ("infl", F::Infinity(F80)),
        ("huge_val", F::Infinity(F64)),
        ("huge_valf", F::Infinity(F32)),
        ("huge_vall", F::Infinity(F80)),
        ("nan", F::Nan(F64)),
        ("nanf", F::Nan(F32)),
        ("nanl", F::Nan(F80)),
        ("object_size", F::ObjectSize),
        ("dynamic_object_size", F::ObjectSize),
        ("va_start", F::VaStart),
        ("c23_va_start", F::VaStart),
        ("stdarg_start", F::VaStart),
        ("va_end", F::VaEnd),
        ("va_copy", F::VaCopy),
        ("va_arg_pack", F::ArgPack),
        ("va_arg_pack_len", F::ArgPack),
        ("setjmp", F::Unsupported),
        ("longjmp", F::Unsupported),
        ("apply", F::Unsupported),
        ("apply_args", F::Unsupported),
        ("return", F::Unsupported),
        ("complex", F::Complex),
        ("shuffle", F::Shuffle),
        ("shufflevector", F::ShuffleVector),
        ("classify_type", F::ClassifyType),
    ];
    for &(name, f) in fixed {
        put(interner, &format!("__builtin_{name}"), f);
    }
    put(interner, "alloca", F::Alloca);
    let checked: &[(&str, &'static [usize])] = &[
        ("memcpy", &[3]),
        ("memmove", &[3]),
        ("mempcpy", &[3]),
        ("memset", &[3]),
        ("strcpy", &[2]),
        ("stpcpy", &[2]),
        ("strncpy", &[3]),
        ("stpncpy", &[3]),
        ("strcat", &[2]),
        ("strncat", &[3]),
        ("sprintf", &[1, 2]),
        ("vsprintf", &[1, 2]),
        ("snprintf", &[2, 3]),
        ("vsnprintf", &[2, 3]),
        ("printf", &[0]),
        ("vprintf", &[0]),
        ("fprintf", &[1]),
        ("vfprintf", &[1]),
    ];
    for &(name, dropped) in checked {
        let target = interner.intern(name);
        put(interner, &format!("__builtin___{name}_chk"), F::Checked(target, dropped));
    }
    for (name, f) in super::atomic::names() {
        put(interner, &name, F::Atomic(f));
    }
    map
}

impl<'a> Checker<'a> {
    pub(super) fn builtin_call(
        &mut self,
        builtin: BuiltinFn,
        name: Symbol,
        args: &'a [ast::ExprId],
        rparen: u32,
        span: Span,
    ) -> TExprId {
        use BuiltinFn as F;
        let wanted = match builtin {
            F::Simple(_) => Some(0..=0),
            F::Expect => Some(2..=3),
            F::AssumeAligned => Some(2..=3),
            F::ConstantP | F::Bits(..) | F::Bswap(_) | F::FloatTest(..) | F::Fabs(_) | F::Nan(_) => {
                Some(1..=1)
            }
            F::Infinity(_) | F::ArgPack => Some(0..=0),
            F::Overflow(..) | F::OverflowP(_) => Some(3..=3),
            F::Alloca => Some(1..=2),
            F::Hint => Some(1..=3),
            F::Address | F::VaEnd => Some(1..=1),
            F::FloatCompare(_) | F::CopySign(_) | F::ObjectSize | F::VaCopy | F::Complex => Some(2..=2),
            F::ClassifyType => Some(1..=1),
            F::Shuffle => Some(2..=3),
            F::FpClassify => Some(6..=6),
            F::VaStart => Some(1..=2),
            F::Library(_) | F::Checked(..) | F::Atomic(_) | F::ShuffleVector | F::Unsupported => None,
        };
        if wanted.is_some_and(|w| !w.contains(&args.len())) {
            self.error(span, format!("wrong number of arguments to {}", self.name(name)));
            return self.error_expr(span);
        }
        match builtin {
            F::Unsupported => {
                self.unsupported(span, self.name(name));
                self.error_expr(span)
            }
            F::ArgPack => {
                if let Some(func) = &mut self.func {
                    func.passes_pack = true;
                }
                self.int_const(0, TypeTable::INT, span)
            }
            F::VaStart => {
                if !self.func.as_ref().is_some_and(|f| f.variadic) {
                    self.error(span, "va_start in a function without variable arguments");
                    return self.error_expr(span);
                }
                match self.va_list_place(args[0]) {
                    Some(list) => self.push(TExprKind::VaStart { list }, TypeTable::VOID, span),
                    None => self.error_expr(span),
                }
            }
            F::VaEnd => match self.va_list_place(args[0]) {
                Some(list) => self.push(TExprKind::VaEnd { list }, TypeTable::VOID, span),
                None => self.error_expr(span),
            },
            F::VaCopy => match (self.va_list_place(args[0]), self.va_list_place(args[1])) {
                (Some(dst), Some(src)) => self.push(TExprKind::VaCopy { dst, src }, TypeTable::VOID, span),
                _ => self.error_expr(span),
            },
            F::ClassifyType => {
                let e = self.unevaluated(args[0]);
                let e = self.value_of(e);
                let class = self.type_class(self.ty(e));
                self.int_const(class, TypeTable::INT, span)
            }
            F::ConstantP => {
                let e = self.unevaluated(args[0]);
                let e = self.value_of(e);
                let constant = match self.const_eval(e) {
                    Some(Const::Int(_) | Const::Float(_)) => true,
                    Some(Const::Addr(AddrBase::Object(obj), 0)) => self.prog.objects[obj].read_only,
                    _ => false,
                };
                self.int_const(constant.into(), TypeTable::INT, span)
            }
            _ => {
                let values: Vec<TExprId> = args.iter().map(|&a| self.rvalue(a)).collect();
                if values.iter().any(|&v| self.is_error(v)) {
                    return self.error_expr(span);
                }
                self.builtin_values(builtin, name, values, rparen, span)
            }
        }
    }

    /// A builtin whose arguments are ordinary values.
    fn builtin_values(
        &mut self,
        builtin: BuiltinFn,
        name: Symbol,
        mut values: Vec<TExprId>,
        rparen: u32,
        span: Span,
    ) -> TExprId {
        use BuiltinFn as F;
        let void_ptr = self.prog.types.void_ptr();
        let size_t = self.prog.types.size_t();
        match builtin {
            F::Expect => {
                let long = TypeTable::int_id(IntKind::Long);
                values.truncate(2);
                let values = values.into_iter().map(|v| self.assign_convert(v, long, "argument")).collect();
                self.builtin_node(Builtin::Expect, values, long, span)
            }
            F::AssumeAligned => {
                values[0] = self.assign_convert(values[0], void_ptr, "argument");
                self.builtin_node(Builtin::Expect, values, void_ptr, span)
            }
            F::Simple(op) => self.builtin_node(op, values, TypeTable::VOID, span),
            F::Bits(op, kind) => {
                let value = self.assign_convert(values[0], TypeTable::int_id(kind), "argument");
                match self.fold_bits(op, value) {
                    Some(bits) => self.int_const(bits, TypeTable::INT, span),
                    None => self.builtin_node(op, vec![value], TypeTable::INT, span),
                }
            }
            F::Bswap(kind) => {
                let ty = TypeTable::int_id(kind);
                let value = self.assign_convert(values[0], ty, "argument");
                match self.fold_bits(Builtin::Bswap, value) {
                    Some(bits) => self.int_const(bits, ty, span),
                    None => self.builtin_node(Builtin::Bswap, vec![value], ty, span),
                }
            }
            F::Overflow(op, kind) => self.overflow(op, kind, values, span),
            F::OverflowP(op) => {
                if !values.iter().all(|&v| self.prog.types.is_integer(self.ty(v))) {
                    self.error(span, format!("the arguments of {} must be integers", self.name(name)));
                    return self.error_expr(span);
                }
                self.builtin_node(Builtin::OverflowP(op), values, TypeTable::BOOL, span)
            }
            F::Address => self.builtin_node(Builtin::UnknownAddress, values, void_ptr, span),
            F::Alloca => {
                let size = self.assign_convert(values[0], size_t, "argument");
                self.builtin_node(Builtin::Alloca, vec![size], void_ptr, span)
            }
            F::Hint => self.builtin_node(Builtin::Hint, values, TypeTable::VOID, span),
            F::FloatTest(op, format) => {
                let value = match format {
                    Some(format) => {
                        let ty = self.types().intern(CType::Float(format));
                        self.assign_convert(values[0], ty, "argument")
                    }
                    None => values[0],
                };
                if self.require_float(value, span) {
                    self.builtin_node(op, vec![value], TypeTable::INT, span)
                } else {
                    self.error_expr(span)
                }
            }
            F::FloatCompare(op) => {
                let (a, b) = (self.ty(values[0]), self.ty(values[1]));
                if !self.prog.types.is_arithmetic(a) || !self.prog.types.is_arithmetic(b) {
                    self.error(span, format!("the arguments of {} must be numbers", self.name(name)));
                    return self.error_expr(span);
                }
                let ty = self.common_type(a, b);
                let values: Vec<TExprId> = values.into_iter().map(|v| self.convert(v, ty)).collect();
                if self.require_float(values[0], span) {
                    self.builtin_node(op, values, TypeTable::INT, span)
                } else {
                    self.error_expr(span)
                }
            }
            F::FpClassify => {
                if !self.require_float(values[5], span) {
                    return self.error_expr(span);
                }
                for value in &mut values[..5] {
                    *value = self.assign_convert(*value, TypeTable::INT, "argument");
                }
                self.builtin_node(Builtin::FpClassify, values, TypeTable::INT, span)
            }
            F::Fabs(format) | F::CopySign(format) => {
                let ty = self.types().intern(CType::Float(format));
                let values = values.into_iter().map(|v| self.assign_convert(v, ty, "argument")).collect();
                let op = if matches!(builtin, F::Fabs(_)) { Builtin::Fabs } else { Builtin::CopySign };
                self.builtin_node(op, values, ty, span)
            }
            F::Infinity(format) => {
                let ty = self.types().intern(CType::Float(format));
                self.push(TExprKind::Float(soft::infinity(format, false)), ty, span)
            }
            F::Nan(format) => {
                let ty = self.types().intern(CType::Float(format));
                self.push(TExprKind::Float(soft::nan(format)), ty, span)
            }
            F::ObjectSize => {
                values[0] = self.assign_convert(values[0], void_ptr, "argument");
                values[1] = self.assign_convert(values[1], TypeTable::INT, "argument");
                self.builtin_node(Builtin::ObjectSize, values, size_t, span)
            }
            F::Library(library) => self.library_call(library, values, rparen, span),
            F::Checked(library, dropped) => {
                let mut i = 0;
                values.retain(|_| {
                    i += 1;
                    !dropped.contains(&(i - 1))
                });
                self.library_call(library, values, rparen, span)
            }
            F::Atomic(f) => self.atomic(f, name, values, span),
            F::Complex => self.complex_of(values[0], values[1], span),
            F::Shuffle => self.shuffle(values, span),
            F::ShuffleVector => self.shuffle_constant(values, span),
            F::VaStart
            | F::VaEnd
            | F::VaCopy
            | F::ConstantP
            | F::ArgPack
            | F::ClassifyType
            | F::Unsupported => self.error_expr(span),
        }
    }

    /// The number of gcc's `enum type_class` for a type in C, where enumerations, truth values and
    /// characters count as integers.
    fn type_class(&self, ty: CTypeId) -> u128 {
        let types = &self.prog.types;
        match (types.get(ty), types.form(ty)) {
            (CType::Void, _) => 0,
            (CType::Ptr(_), _) => 5,
            (CType::Float(_), _) | (_, Form::Soft(_)) => 8,
            (_, Form::Complex(_)) => 9,
            (CType::Record(id), Form::Plain) if types.records[id].union => 13,
            (CType::Record(_), Form::Plain) => 12,
            // gcc has no class for vectors.
            (_, Form::Vector(..)) => u128::MAX,
            _ => 1,
        }
    }

    pub(super) fn builtin_node(
        &mut self,
        op: Builtin,
        args: Vec<TExprId>,
        ty: CTypeId,
        span: Span,
    ) -> TExprId {
        if args.iter().any(|&a| self.is_error(a)) {
            return self.error_expr(span);
        }
        self.push(TExprKind::Builtin { op, args: args.into() }, ty, span)
    }

    fn library_call(&mut self, name: Symbol, values: Vec<TExprId>, rparen: u32, span: Span) -> TExprId {
        let f = self.library_function(name, span);
        let ty = self.prog.funcs[f].ty;
        let ptr = self.types().ptr_to(ty.into());
        let callee = self.push(TExprKind::FuncAddr(f), ptr, span);
        self.call_value(callee, values, rparen, span)
    }

    fn require_float(&mut self, e: TExprId, span: Span) -> bool {
        if self.is_error(e) {
            return false;
        }
        if self.prog.types.float_ty(self.ty(e)).is_some() {
            return true;
        }
        self.error(span, "the argument must be a floating-point number");
        false
    }

    fn overflow(
        &mut self,
        op: ArithOp,
        kind: Option<IntKind>,
        mut values: Vec<TExprId>,
        span: Span,
    ) -> TExprId {
        if let Some(kind) = kind {
            let ty = TypeTable::int_id(kind);
            values[0] = self.assign_convert(values[0], ty, "argument");
            values[1] = self.assign_convert(values[1], ty, "argument");
            let ptr = self.types().ptr_to(ty.into());
            values[2] = self.assign_convert(values[2], ptr, "argument");
        }
        let result = self.prog.types.pointee(self.ty(values[2]));
        let integer = |c: &Self, ty| c.prog.types.is_integer(ty);
        let ok = integer(self, self.ty(values[0]))
            && integer(self, self.ty(values[1]))
            && result.is_some_and(|r| integer(self, r.ty));
        if !ok {
            self.error(span, "the operands must be two integers and a pointer to an integer");
            return self.error_expr(span);
        }
        self.builtin_node(Builtin::Overflow(op), values, TypeTable::BOOL, span)
    }

    /// The result of a bit operation on a constant.
    fn fold_bits(&self, op: Builtin, value: TExprId) -> Option<u128> {
        let TExprKind::Int(bits) = self.prog.exprs[value].kind else { return None };
        let t = self.prog.types.int_ty(self.ty(value))?;
        let width = u32::from(t.bits);
        let leading = |v: u128| v.leading_zeros() - (128 - width);
        Some(match op {
            Builtin::Clz if bits != 0 => leading(bits).into(),
            Builtin::Ctz if bits != 0 => bits.trailing_zeros().into(),
            Builtin::Popcount => bits.count_ones().into(),
            Builtin::Parity => (bits.count_ones() & 1).into(),
            Builtin::Ffs => {
                if bits == 0 {
                    0
                } else {
                    u128::from(bits.trailing_zeros() + 1)
                }
            }
            Builtin::Clrsb => {
                let v = t.decode(bits);
                u128::from(leading((if v < 0 { !v } else { v }) as u128) - 1)
            }
            Builtin::Bswap => bits.swap_bytes() >> (128 - width),
            _ => return None,
        })
    }
}
