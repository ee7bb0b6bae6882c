//! Floating-point operations on the bits of their operands.

use crate::encoder::Encoder;
use palisade_cfa::*;
use palisade_logic::{Sort, Term, Terms};

/// Negation flips the sign bit.
pub(crate) fn negate(terms: &mut Terms, ty: FloatTy, a: Term) -> Term {
    let bits = u32::from(ty.bits());
    let sign = terms.bv(1, 1);
    let rest = terms.bv(bits - 1, 0);
    let mask = terms.concat(sign, rest);
    terms.bvxor(a, mask)
}

impl Encoder<'_> {
    /// The result of an arithmetic operator: any value, which covers the right one.
    pub(crate) fn float_binary(
        &mut self,
        terms: &mut Terms,
        ty: FloatTy,
        _op: BinOp,
        _a: Term,
        _b: Term,
    ) -> Term {
        self.unknown(terms, Sort::BitVec(u32::from(ty.bits())), false)
    }

    /// The result of a comparison: any value, which covers the right one.
    pub(crate) fn float_compare(
        &mut self,
        terms: &mut Terms,
        _ty: FloatTy,
        _op: CmpOp,
        _a: Term,
        _b: Term,
    ) -> Term {
        self.unknown(terms, Sort::Bool, false)
    }

    /// A conversion from or to floating point: any value, which covers the right one.
    pub(crate) fn float_convert(
        &mut self,
        terms: &mut Terms,
        _from: Scalar,
        to: Scalar,
        _value: Term,
    ) -> Term {
        self.unknown(terms, Sort::BitVec(self.layout.bits(to)), false)
    }
}
