//! Floating-point numbers that the automaton does not know: `_Float16`, `_Float128` and decimals.
//!
//! As compilers do on machines without them, operators and conversions become calls of functions
//! of the run-time library (gcc internals, "Routines for floating point emulation"). Constants
//! of the binary formats are computed here. `_Float16` computes in `float`, which is wide enough
//! for a correct result of each single operator. For decimals nobody has the functions: their
//! results are as unknown as those of any function without a body.

use palisade_base::Span;
use palisade_c_syntax::ast::BinaryOp;
use palisade_c_syntax::{Interner, Symbol};
use palisade_cfa::{FloatTy, IntTy};

use super::Checker;
use crate::soft::{self, Format};
use crate::tast::*;
use crate::types::*;

/// Interns the names of all functions that operators can call, since the checker makes no names.
pub(super) fn intern_names(interner: &mut Interner) {
    for name in ["mul", "div"] {
        for mode in ["sc", "dc", "xc"] {
            interner.intern(&format!("__{name}{mode}3"));
        }
    }
    let ints = ["si", "di", "ti"];
    for (prefix, mode) in [("__", "tf"), ("__bid_", "sd"), ("__bid_", "dd"), ("__bid_", "td")] {
        for op in ["add", "sub", "mul", "div"] {
            interner.intern(&format!("{prefix}{op}{mode}3"));
        }
        for op in ["eq", "ne", "lt", "le", "gt", "ge"] {
            interner.intern(&format!("{prefix}{op}{mode}2"));
        }
        for int in ints {
            for name in [
                format!("{prefix}fix{mode}{int}"),
                format!("{prefix}fixuns{mode}{int}"),
                format!("{prefix}float{int}{mode}"),
                format!("{prefix}floatun{int}{mode}"),
            ] {
                interner.intern(&name);
            }
        }
        for other in ["hf", "sf", "df", "xf", "tf", "sd", "dd", "td"] {
            interner.intern(&format!("{prefix}extend{other}{mode}2"));
            interner.intern(&format!("{prefix}trunc{mode}{other}2"));
        }
    }
    for name in ["__extendhfsf2", "__truncdfhf2", "__truncxfhf2", "__trunctfhf2"] {
        interner.intern(name);
    }
}

/// The two letters that stand for a format in the names of run-time functions.
fn mode(float: SoftFloat) -> &'static str {
    match float {
        SoftFloat::Half | SoftFloat::Brain => "hf",
        SoftFloat::Quad => "tf",
        SoftFloat::Decimal32 => "sd",
        SoftFloat::Decimal64 => "dd",
        SoftFloat::Decimal128 => "td",
    }
}

fn float_mode(float: FloatTy) -> &'static str {
    match float {
        FloatTy::F32 => "sf",
        FloatTy::F64 => "df",
        FloatTy::F80 => "xf",
    }
}

fn prefix(float: SoftFloat) -> &'static str {
    if float.is_decimal() { "__bid_" } else { "__" }
}

fn format_of(float: SoftFloat) -> Option<Format> {
    match float {
        SoftFloat::Half => Some(Format::F16),
        SoftFloat::Quad => Some(Format::F128),
        _ => None,
    }
}

impl<'a> Checker<'a> {
    fn soft_of(&self, ty: CTypeId) -> Option<SoftFloat> {
        match self.prog.types.form(ty) {
            Form::Soft(float) => Some(float),
            _ => None,
        }
    }

    /// The call of a function of the run-time library.
    pub(super) fn runtime_call(&mut self, name: &str, args: &[TExprId], ret: CTypeId, span: Span) -> TExprId {
        if args.iter().any(|&a| self.is_error(a)) {
            return self.error_expr(span);
        }
        let Some(symbol) = self.names.lookup(name) else {
            self.unsupported(span, &format!("what needs the run-time function {name}"));
            return self.error_expr(span);
        };
        let f = self.runtime_function(symbol, args, ret, span);
        let ty = self.prog.funcs[f].ty;
        let ptr = self.types().ptr_to(ty.into());
        let callee = self.push(TExprKind::FuncAddr(f), ptr, span);
        let kind = TExprKind::Call { callee, args: args.into(), rparen: span.hi.saturating_sub(1) };
        self.push(kind, ret, span)
    }

    fn runtime_function(&mut self, name: Symbol, args: &[TExprId], ret: CTypeId, span: Span) -> FnId {
        if let Some(&super::Entity::Func(f)) = self.externals.get(&name) {
            return f;
        }
        let params = args.iter().map(|&a| self.ty(a)).collect();
        let ty = self.types().func(Sig { ret, params, variadic: false, prototype: true });
        self.new_function(name, ty, Linkage::External, span)
    }

    /// The type in which two numbers meet of which one is a software number; `None` for decimals
    /// beside binary numbers.
    pub(super) fn soft_common(&mut self, a: CTypeId, b: CTypeId) -> Option<CTypeId> {
        let rank = |c: &Self, ty: CTypeId| match c.soft_of(ty) {
            Some(SoftFloat::Brain) => None,
            Some(SoftFloat::Half) => Some(1),
            Some(SoftFloat::Quad) => Some(5),
            Some(SoftFloat::Decimal32) => Some(11),
            Some(SoftFloat::Decimal64) => Some(12),
            Some(SoftFloat::Decimal128) => Some(13),
            None => match c.prog.types.float_ty(ty) {
                Some(FloatTy::F32) => Some(2),
                Some(FloatTy::F64) => Some(3),
                Some(FloatTy::F80) => Some(4),
                None => Some(0),
            },
        };
        let (x, y) = (rank(self, a)?, rank(self, b)?);
        if x.max(y) > 10 && (1..10).contains(&x.min(y)) {
            return None;
        }
        Some(if x >= y { a } else { b })
    }

    /// A binary operator on numbers of which one is a software number and none is complex.
    pub(super) fn soft_binary(&mut self, op: BinaryOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        use BinaryOp as B;
        let Some(ty) = self.soft_common(self.ty(lhs), self.ty(rhs)) else {
            return self.bad_operands(lhs, rhs, span);
        };
        let (lhs, rhs) = (self.number_as(lhs, ty), self.number_as(rhs, ty));
        let Some(float) = self.soft_of(ty) else { return self.binary(op, lhs, rhs, span) };
        if self.is_error(lhs) || self.is_error(rhs) {
            return self.error_expr(span);
        }
        let name = match op {
            B::Add => "add",
            B::Sub => "sub",
            B::Mul => "mul",
            B::Div => "div",
            B::Eq => "eq",
            B::Ne => "ne",
            B::Lt => "lt",
            B::Le => "le",
            B::Gt => "gt",
            B::Ge => "ge",
            _ => return self.bad_operands(lhs, rhs, span),
        };
        let arithmetic = matches!(op, B::Add | B::Sub | B::Mul | B::Div);
        if let (true, Some(bits)) = (arithmetic, self.fold_soft(op, float, lhs, rhs)) {
            return self.soft_constant(bits, float, span);
        }
        if float == SoftFloat::Half {
            let (lhs, rhs) = (self.number_as(lhs, TypeTable::FLOAT), self.number_as(rhs, TypeTable::FLOAT));
            let value = self.binary(op, lhs, rhs, span);
            return if arithmetic { self.number_as(value, ty) } else { value };
        }
        if arithmetic {
            let name = format!("{}{name}{}3", prefix(float), mode(float));
            return self.runtime_call(&name, &[lhs, rhs], ty, span);
        }
        // The result of these functions compares with zero as the operands compare.
        let name = format!("{}{name}{}2", prefix(float), mode(float));
        let order = self.runtime_call(&name, &[lhs, rhs], TypeTable::INT, span);
        let zero = self.int_const(0, TypeTable::INT, span);
        self.binary(op, order, zero, span)
    }

    /// A constant as it is written.
    pub(super) fn soft_literal(
        &mut self,
        text: &str,
        float: SoftFloat,
        imaginary: bool,
        span: Span,
    ) -> TExprId {
        if imaginary {
            self.unsupported(span, &format!("an imaginary constant of type {}", float.name()));
            return self.error_expr(span);
        }
        let bits = match format_of(float) {
            Some(format) => soft::parse(format, text),
            None => decimal_bits(float, text),
        };
        match bits {
            Some(bits) => self.soft_constant(bits, float, span),
            None => {
                self.unsupported(span, &format!("this constant of type {}", float.name()));
                self.error_expr(span)
            }
        }
    }

    /// A constant by its bits.
    pub(super) fn soft_constant(&mut self, bits: u128, float: SoftFloat, span: Span) -> TExprId {
        let bits = self.int_const(bits, TypeTable::int_id(float.carrier()), span);
        let ty = self.types().of_form(Form::Soft(float));
        self.of_parts(vec![bits], ty, span)
    }

    fn soft_bits(&self, e: TExprId) -> Option<u128> {
        let TExprKind::Parts(parts) = &self.prog.exprs[e].kind else { return None };
        match self.prog.exprs[*parts.first()?].kind {
            TExprKind::Int(bits) => Some(bits),
            _ => None,
        }
    }

    fn fold_soft(&self, op: BinaryOp, float: SoftFloat, lhs: TExprId, rhs: TExprId) -> Option<u128> {
        let format = format_of(float)?;
        let (a, b) = (self.soft_bits(lhs)?, self.soft_bits(rhs)?);
        let bits = match op {
            BinaryOp::Add => soft::add(format, a, b),
            BinaryOp::Sub => soft::sub(format, a, b),
            BinaryOp::Mul => soft::mul(format, a, b),
            _ => soft::div(format, a, b),
        };
        soft::is_finite(format, bits).then_some(bits)
    }

    /// `-e` turns the sign bit.
    pub(super) fn soft_negated(&mut self, e: TExprId, span: Span) -> TExprId {
        let Some(float) = self.soft_of(self.ty(e)) else { return e };
        let ty = self.ty(e);
        if let (Some(bits), Some(format)) = (self.soft_bits(e), format_of(float)) {
            return self.soft_constant(soft::neg(format, bits), float, span);
        }
        let carrier = TypeTable::int_id(float.carrier());
        let mut setup = super::parts::Setup::default();
        let Some(kept) = self.keep(e, &mut setup) else { return self.error_expr(span) };
        let bits = self.member_path_of_value(kept, span);
        let width = self.prog.types.int_ty(carrier).map_or(16, |t| t.bits);
        let sign = self.int_const(1 << (width - 1), carrier, span);
        let bits = self.arith_node(ArithOp::Xor, carrier, bits, sign, span);
        let value = self.of_parts(vec![bits], ty, span);
        self.after(setup, value, span)
    }

    /// The bits of a number in a variable.
    fn member_path_of_value(&mut self, e: TExprId, span: Span) -> TExprId {
        let TExprKind::Load(place) = self.prog.exprs[e].kind else { return e };
        let bits = self.member_path(place, &[0], span);
        self.value_of(bits)
    }

    /// Whether a software number is not zero.
    pub(super) fn soft_truth(&mut self, e: TExprId, span: Span) -> TExprId {
        let zero = self.int_const(0, TypeTable::INT, span);
        self.soft_binary(BinaryOp::Ne, e, zero, span)
    }

    /// A conversion from or to a software number.
    pub(super) fn soft_convert(&mut self, e: TExprId, to: CTypeId) -> Option<TExprId> {
        let (from, span) = (self.ty(e), self.span(e));
        if to == TypeTable::BOOL {
            let truth = self.soft_truth(e, span);
            return Some(self.convert(truth, to));
        }
        match (self.soft_of(from), self.soft_of(to)) {
            (Some(SoftFloat::Brain), _) | (_, Some(SoftFloat::Brain)) => None,
            (Some(a), None) => self.soft_to_hard(e, a, to, span),
            (None, Some(b)) if self.prog.types.is_arithmetic(from) => Some(self.hard_to_soft(e, b, to, span)),
            (Some(a), Some(b)) => Some(self.between_soft(e, a, b, to, span)),
            _ => None,
        }
    }

    fn soft_to_hard(&mut self, e: TExprId, float: SoftFloat, to: CTypeId, span: Span) -> Option<TExprId> {
        let constant = self.soft_bits(e).zip(format_of(float));
        if let Some(target) = self.prog.types.float_ty(to) {
            if let Some((bits, format)) = constant {
                return Some(self.push(TExprKind::Float(soft::convert(format, target, bits)), to, span));
            }
            if float == SoftFloat::Half {
                let wide = self.runtime_call("__extendhfsf2", &[e], TypeTable::FLOAT, span);
                return Some(self.convert(wide, to));
            }
            let name = format!("{}trunc{}{}2", prefix(float), mode(float), float_mode(target));
            return Some(self.runtime_call(&name, &[e], to, span));
        }
        let int = self.prog.types.int_ty(to)?;
        if let Some((bits, format)) = constant
            && let Some(value) = soft::to_int(format, int, bits)
        {
            return Some(self.int_const(value, to, span));
        }
        if float == SoftFloat::Half {
            let wide = self.number_as(e, TypeTable::FLOAT);
            return Some(self.convert(wide, to));
        }
        let (kind, letters) = self.word(int);
        let sign = if int.signed { "" } else { "uns" };
        let name = format!("{}fix{sign}{}{letters}", prefix(float), mode(float));
        let value = self.runtime_call(&name, &[e], TypeTable::int_id(kind), span);
        Some(self.convert(value, to))
    }

    fn hard_to_soft(&mut self, e: TExprId, float: SoftFloat, to: CTypeId, span: Span) -> TExprId {
        let from = self.ty(e);
        if let Some(format) = format_of(float) {
            let bits = match (&self.prog.exprs[e].kind, self.scalar_shape(from)) {
                (&TExprKind::Int(bits), Some(super::convert::Shape::Int(t))) => {
                    Some(soft::from_int(t, format, bits))
                }
                (&TExprKind::Float(bits), Some(super::convert::Shape::Float(f))) => {
                    Some(soft::convert(f, format, bits))
                }
                _ => None,
            };
            if let Some(bits) = bits {
                return self.soft_constant(bits, float, span);
            }
        }
        let source = self.prog.types.float_ty(from);
        if float == SoftFloat::Half {
            // Integers that a double rounds are infinite in 16 bits.
            return match source {
                Some(FloatTy::F80) => self.runtime_call("__truncxfhf2", &[e], to, span),
                _ => {
                    let wide = self.convert(e, TypeTable::DOUBLE);
                    self.runtime_call("__truncdfhf2", &[wide], to, span)
                }
            };
        }
        if let Some(source) = source {
            let name = format!("{}extend{}{}2", prefix(float), float_mode(source), mode(float));
            return self.runtime_call(&name, &[e], to, span);
        }
        let int = self.prog.types.int_ty(from).unwrap_or(IntTy::I32);
        let (kind, letters) = self.word(int);
        let value = self.convert(e, TypeTable::int_id(kind));
        let sign = if int.signed { "" } else { "un" };
        let name = format!("{}float{sign}{letters}{}", prefix(float), mode(float));
        self.runtime_call(&name, &[value], to, span)
    }

    fn between_soft(
        &mut self,
        e: TExprId,
        from: SoftFloat,
        float: SoftFloat,
        to: CTypeId,
        span: Span,
    ) -> TExprId {
        if let (Some(bits), Some(a), Some(b)) = (self.soft_bits(e), format_of(from), format_of(float)) {
            return self.soft_constant(soft::convert(a, b, bits), float, span);
        }
        if from == SoftFloat::Half {
            let wide = self.number_as(e, TypeTable::FLOAT);
            return self.number_as(wide, to);
        }
        let verb = if to_wider(from, float) { "extend" } else { "trunc" };
        let decimal = if from.is_decimal() { from } else { float };
        let name = format!("{}{verb}{}{}2", prefix(decimal), mode(from), mode(float));
        self.runtime_call(&name, &[e], to, span)
    }

    /// The integer type of the run-time functions that holds another, and its letters.
    fn word(&self, int: IntTy) -> (IntKind, &'static str) {
        match (int.bits, int.signed) {
            (0..=32, true) => (IntKind::Int, "si"),
            (0..=32, false) => (IntKind::UInt, "si"),
            (33..=64, true) => (IntKind::LongLong, "di"),
            (33..=64, false) => (IntKind::ULongLong, "di"),
            (_, true) => (IntKind::Int128, "ti"),
            (_, false) => (IntKind::UInt128, "ti"),
        }
    }
}

fn to_wider(from: SoftFloat, to: SoftFloat) -> bool {
    let rank = |f| match f {
        SoftFloat::Half | SoftFloat::Brain => 0,
        SoftFloat::Decimal32 => 1,
        SoftFloat::Decimal64 => 2,
        SoftFloat::Decimal128 => 3,
        SoftFloat::Quad => 4,
    };
    rank(to) > rank(from)
}

/// The bits of a decimal constant in the binary encoding of IEEE 754-2008 (3.5.2), if it can be
/// represented as it is written.
fn decimal_bits(float: SoftFloat, text: &str) -> Option<u128> {
    let text = text.to_ascii_lowercase();
    let (mantissa, exponent) = match text.split_once('e') {
        Some((m, e)) => (m, e.parse::<i64>().ok()?),
        None => (text.as_str(), 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let coefficient: u128 = [whole, fraction].concat().parse().ok()?;
    let exponent = exponent.checked_sub(fraction.len() as i64)?;
    // Digits, bias of the exponent, bits below the exponent, bits of the exponent.
    let (digits, bias, low, wide) = match float {
        SoftFloat::Decimal32 => (7, 101, 23, 8),
        SoftFloat::Decimal64 => (16, 398, 53, 10),
        SoftFloat::Decimal128 => (34, 6176, 113, 14),
        _ => return None,
    };
    let biased = u128::try_from(exponent.checked_add(bias)?).ok()?;
    // A coefficient that needs the other form of the encoding is as rare as it is long.
    let fits = coefficient < 10u128.pow(digits) && coefficient >> low == 0 && biased < 3 << (wide - 2);
    fits.then_some(biased << low | coefficient)
}
