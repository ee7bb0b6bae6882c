//! Floating-point operations as circuits over the bits of their operands.

use crate::encoder::Encoder;
use crate::state::State;
use palisade_cfa::*;
use palisade_logic::float::{self, Format, Rounding};
use palisade_logic::{Sort, Term, Terms};

/// Negation flips the sign bit.
pub(crate) fn negate(terms: &mut Terms, ty: FloatTy, a: Term) -> Term {
    let bits = u32::from(ty.bits());
    let sign = terms.bv(1, 1);
    let rest = terms.bv(bits - 1, 0);
    let mask = terms.concat(sign, rest);
    terms.bvxor(a, mask)
}

fn format(ty: FloatTy) -> Format {
    match ty {
        FloatTy::F32 => float::F32,
        FloatTy::F64 => float::F64,
        FloatTy::F80 => float::X87,
    }
}

/// The number that the bits of a value stand for.
fn read(terms: &mut Terms, ty: FloatTy, a: Term) -> Term {
    if ty == FloatTy::F80 { float::x87_from_memory(terms, a) } else { a }
}

impl Encoder<'_> {
    /// The bits of a number that was computed. Which NaN an operation gives is left open.
    fn written(&mut self, terms: &mut Terms, ty: FloatTy, a: Term) -> Term {
        let nan = float::is_nan(terms, format(ty), a);
        let sign = match terms.bool_value(nan) {
            Some(false) => None,
            _ => Some(self.unknown(terms, Sort::BitVec(1), false)),
        };
        let bits = if ty == FloatTy::F80 { float::x87_to_memory(terms, a) } else { a };
        match sign {
            None => bits,
            Some(sign) => {
                let rest = terms.extract(bits, u32::from(ty.bits()) - 2, 0);
                let other = terms.concat(sign, rest);
                terms.ite(nan, other, bits)
            }
        }
    }

    /// The result of an arithmetic operator, rounded to nearest even.
    pub(crate) fn float_binary(
        &mut self,
        terms: &mut Terms,
        ty: FloatTy,
        op: BinOp,
        a: Term,
        b: Term,
    ) -> Term {
        let (a, b) = (read(terms, ty, a), read(terms, ty, b));
        let operation = match op {
            BinOp::Add => float::add,
            BinOp::Sub => float::sub,
            BinOp::Mul => float::mul,
            BinOp::Div => float::div,
            _ => return self.unknown(terms, Sort::BitVec(u32::from(ty.bits())), false),
        };
        let result = operation(terms, format(ty), Rounding::NearestEven, a, b);
        self.written(terms, ty, result)
    }

    /// The result of a comparison.
    pub(crate) fn float_compare(
        &mut self,
        terms: &mut Terms,
        ty: FloatTy,
        op: CmpOp,
        a: Term,
        b: Term,
    ) -> Term {
        let (a, b) = (read(terms, ty, a), read(terms, ty, b));
        match op {
            CmpOp::Eq => float::eq(terms, format(ty), a, b),
            CmpOp::Ne => {
                let equal = float::eq(terms, format(ty), a, b);
                terms.not(equal)
            }
            CmpOp::Lt => float::lt(terms, format(ty), a, b),
            CmpOp::Le => float::le(terms, format(ty), a, b),
        }
    }

    /// A conversion from or to floating point. A number that does not fit into an integer type
    /// becomes any value of it.
    pub(crate) fn float_convert(&mut self, terms: &mut Terms, from: Scalar, to: Scalar, value: Term) -> Term {
        match (from, to) {
            (Scalar::Float(a), Scalar::Float(b)) => {
                let value = read(terms, a, value);
                let result = float::to_format(terms, format(a), format(b), Rounding::NearestEven, value);
                self.written(terms, b, result)
            }
            (Scalar::Int(a), Scalar::Float(b)) => {
                let result = float::from_int(terms, format(b), Rounding::NearestEven, value, a.signed);
                self.written(terms, b, result)
            }
            (Scalar::Float(a), Scalar::Int(b)) => {
                let value = read(terms, a, value);
                let width = u32::from(b.bits);
                let (int, fits) =
                    float::to_int(terms, format(a), Rounding::TowardZero, value, width, b.signed);
                if terms.bool_value(fits) == Some(true) {
                    return int;
                }
                let any = self.unknown(terms, Sort::BitVec(width), false);
                terms.ite(fits, int, any)
            }
            _ => self.unknown(terms, Sort::BitVec(self.layout.bits(to)), false),
        }
    }

    /// The result of a mathematical function of the C library that has an exact meaning.
    pub(crate) fn math_call(
        &mut self,
        terms: &mut Terms,
        s: &State,
        math: Math,
        ty: FloatTy,
        args: &[Arg],
    ) -> Option<Term> {
        let (Math::Sqrt, &[Arg::Scalar(arg)]) = (math, args) else { return None };
        if self.program.exprs[arg].ty != Scalar::Float(ty) {
            return None;
        }
        let value = self.expr(terms, s, arg);
        let value = read(terms, ty, value);
        let root = float::sqrt(terms, format(ty), Rounding::NearestEven, value);
        Some(self.written(terms, ty, root))
    }
}
