//! Complex numbers (C11 6.2.5, annex G), with the GNU extensions to integers.

use palisade_base::Span;
use palisade_c_syntax::ast::BinaryOp;
use palisade_cfa::FloatTy;

use super::Checker;
use super::parts::Setup;
use crate::tast::*;
use crate::types::*;

impl<'a> Checker<'a> {
    /// The type of the parts of a complex number; a real type is that of its own real part.
    fn part_type(&self, ty: CTypeId) -> CTypeId {
        match self.prog.types.form(ty) {
            Form::Complex(part) => part,
            _ => ty,
        }
    }

    /// The common type of the parts of two operands.
    fn common_part(&self, a: CTypeId, b: CTypeId) -> CTypeId {
        let both = self.is_compound(a) && self.is_compound(b);
        let (a, b) = (self.part_type(a), self.part_type(b));
        if both && a == b { a } else { self.common_type(a, b) }
    }

    /// The complex type of two operands of which one is complex.
    pub(super) fn common_complex(&mut self, a: CTypeId, b: CTypeId) -> CTypeId {
        let part = self.common_part(a, b);
        self.types().of_form(Form::Complex(part))
    }

    /// A binary operator on numbers of which one is complex.
    pub(super) fn complex_binary(&mut self, op: BinaryOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        use BinaryOp as B;
        let (a, b) = (self.ty(lhs), self.ty(rhs));
        let known = matches!(op, B::Add | B::Sub | B::Mul | B::Div | B::Eq | B::Ne);
        let soft = [a, b].iter().any(|&t| matches!(self.prog.types.form(self.part_type(t)), Form::Soft(_)));
        if !known || soft {
            return self.bad_operands(lhs, rhs, span);
        }
        let part = self.common_part(a, b);
        let ty = self.types().of_form(Form::Complex(part));
        let mut setup = Setup::default();
        let Some([x, y]) = self.parts_of([lhs, rhs], &mut setup) else { return self.error_expr(span) };
        let mut convert = |parts: Vec<TExprId>| -> Vec<TExprId> {
            parts.into_iter().map(|p| self.convert(p, part)).collect()
        };
        let (x, y) = (convert(x), convert(y));
        let value = match op {
            B::Eq | B::Ne => self.complex_equal(op == B::Eq, &x, &y, span),
            B::Mul | B::Div => self.complex_product(op == B::Mul, &x, &y, ty, span),
            _ => self.complex_sum(op == B::Sub, &x, &y, ty, span),
        };
        self.after(setup, value, span)
    }

    fn node(&mut self, op: ArithOp, a: TExprId, b: TExprId, span: Span) -> TExprId {
        let ty = self.ty(a);
        self.arith_node(op, ty, a, b, span)
    }

    fn complex_equal(&mut self, equal: bool, x: &[TExprId], y: &[TExprId], span: Span) -> TExprId {
        let op = if equal { CompareOp::Eq } else { CompareOp::Ne };
        let mut test = |i: usize| {
            // A real operand has no imaginary part, which counts as zero.
            let [a, b] = [x, y].map(|parts| parts.get(i).copied());
            let zero = self.zero_like(x[0], span);
            self.compare(op, a.unwrap_or(zero), b.unwrap_or(zero), span)
        };
        let (real, imaginary) = (test(0), test(1));
        self.logical(equal, real, imaginary, span)
    }

    fn zero_like(&mut self, e: TExprId, span: Span) -> TExprId {
        let zero = self.int_const(0, TypeTable::INT, span);
        let ty = self.ty(e);
        self.convert(zero, ty)
    }

    /// A sum or difference. A real operand does not touch the imaginary part (annex G.5.2).
    fn complex_sum(&mut self, sub: bool, x: &[TExprId], y: &[TExprId], ty: CTypeId, span: Span) -> TExprId {
        let op = if sub { ArithOp::Sub } else { ArithOp::Add };
        let real = self.node(op, x[0], y[0], span);
        let imaginary = match (x.get(1), y.get(1)) {
            (Some(&a), Some(&b)) => self.node(op, a, b, span),
            (Some(&a), None) => a,
            (None, Some(&b)) if sub => self.negated(b, span),
            (None, Some(&b)) => b,
            (None, None) => self.zero_like(real, span),
        };
        self.of_parts(vec![real, imaginary], ty, span)
    }

    /// A product or quotient. A real factor or divisor works on both parts (annex G.5.1).
    fn complex_product(
        &mut self,
        mul: bool,
        x: &[TExprId],
        y: &[TExprId],
        ty: CTypeId,
        span: Span,
    ) -> TExprId {
        let op = if mul { ArithOp::Mul } else { ArithOp::Div };
        match (x, y) {
            (&[a, b], &[r]) => {
                let parts = vec![self.node(op, a, r, span), self.node(op, b, r, span)];
                self.of_parts(parts, ty, span)
            }
            (&[r], &[a, b]) if mul => {
                let parts = vec![self.node(op, r, a, span), self.node(op, r, b, span)];
                self.of_parts(parts, ty, span)
            }
            (_, &[c, d]) => {
                let (a, b) = (x[0], x.get(1).copied());
                let b = b.unwrap_or_else(|| self.zero_like(a, span));
                let plain = self.plain_product(mul, [a, b, c, d], ty, span);
                match self.prog.types.float_ty(self.part_type(ty)) {
                    Some(format) if self.constant_parts(plain).is_none() => {
                        self.library_product(mul, format, [a, b, c, d], ty, span)
                    }
                    None if !mul => {
                        self.unsupported(
                            span,
                            "a quotient of complex integers (compilers disagree; divide the parts)",
                        );
                        self.error_expr(span)
                    }
                    _ => plain,
                }
            }
            _ => self.error_expr(span),
        }
    }

    /// The formulas of school, for products of integers and for constants.
    fn plain_product(&mut self, mul: bool, parts: [TExprId; 4], ty: CTypeId, span: Span) -> TExprId {
        use ArithOp::{Add, Div, Mul, Sub};
        let [a, b, c, d] = parts;
        let mut sum = |op, p: [TExprId; 4]| {
            let left = self.node(Mul, p[0], p[1], span);
            let right = self.node(Mul, p[2], p[3], span);
            self.node(op, left, right, span)
        };
        let parts = if mul {
            vec![sum(Sub, [a, c, b, d]), sum(Add, [a, d, b, c])]
        } else {
            let square = sum(Add, [c, c, d, d]);
            let (real, imaginary) = (sum(Add, [a, c, b, d]), sum(Sub, [b, c, a, d]));
            vec![self.node(Div, real, square, span), self.node(Div, imaginary, square, span)]
        };
        self.of_parts(parts, ty, span)
    }

    /// Floating-point products and quotients, where infinities need care, are calls of functions
    /// of the run-time library, as in gcc.
    fn library_product(
        &mut self,
        mul: bool,
        format: FloatTy,
        args: [TExprId; 4],
        ty: CTypeId,
        span: Span,
    ) -> TExprId {
        let name = match (mul, format) {
            (true, FloatTy::F32) => "__mulsc3",
            (true, FloatTy::F64) => "__muldc3",
            (true, FloatTy::F80) => "__mulxc3",
            (false, FloatTy::F32) => "__divsc3",
            (false, FloatTy::F64) => "__divdc3",
            (false, FloatTy::F80) => "__divxc3",
        };
        self.runtime_call(name, &args, ty, span)
    }

    /// `-e`, `~e` (the conjugate) and `+e`.
    pub(super) fn complex_sign(&mut self, e: TExprId, negate: bool, span: Span) -> TExprId {
        let ty = self.ty(e);
        self.map_parts(e, ty, span, |c, i, part| if negate || i == 1 { c.negated(part, span) } else { part })
    }

    /// `__real__ e` or `__imag__ e`: an lvalue if the operand is one.
    pub(super) fn complex_part(&mut self, e: TExprId, imaginary: bool, span: Span) -> TExprId {
        if self.prog.is_lvalue(e) {
            return self.number_part(e, imaginary.into(), span);
        }
        let mut setup = Setup::default();
        let Some([parts]) = self.parts_of([e], &mut setup) else { return self.error_expr(span) };
        self.after(setup, parts[usize::from(imaginary)], span)
    }

    /// Whether a complex number is not zero.
    pub(super) fn complex_truth(&mut self, e: TExprId, span: Span) -> TExprId {
        let zero = self.int_const(0, TypeTable::INT, span);
        self.complex_binary(BinaryOp::Ne, e, zero, span)
    }

    /// A conversion from or to a complex type (C11 6.3.1.6, 6.3.1.7).
    pub(super) fn complex_convert(&mut self, e: TExprId, to: CTypeId) -> Option<TExprId> {
        let types = &self.prog.types;
        let (from, span) = (self.ty(e), self.span(e));
        match (types.form(from), types.form(to)) {
            (Form::Complex(_), Form::Complex(part)) => {
                Some(self.map_parts(e, to, span, |c, _, p| c.number_as(p, part)))
            }
            (_, Form::Complex(part)) if types.is_arithmetic(from) || self.is_compound(from) => {
                let real = self.number_as(e, part);
                let zero = self.int_const(0, TypeTable::INT, span);
                let zero = self.number_as(zero, part);
                let mut setup = Setup::default();
                let [real] = self.parts_of([real], &mut setup)?;
                let value = self.of_parts(vec![real[0], zero], to, span);
                Some(self.after(setup, value, span))
            }
            (Form::Complex(_), _) if to == TypeTable::BOOL => {
                let truth = self.complex_truth(e, span);
                Some(self.convert(truth, to))
            }
            (Form::Complex(_), _) if types.is_arithmetic(to) || self.is_compound(to) => {
                let real = self.complex_part(e, false, span);
                let real = self.value_of(real);
                Some(self.number_as(real, to))
            }
            _ => None,
        }
    }

    /// A number in another type of numbers.
    pub(super) fn number_as(&mut self, e: TExprId, to: CTypeId) -> TExprId {
        let from = self.ty(e);
        if from == to {
            return e;
        }
        if self.is_compound(from) || self.is_compound(to) {
            let span = self.span(e);
            return match self.compound_convert(e, to) {
                Some(e) => e,
                None => self.error_expr(span),
            };
        }
        self.convert(e, to)
    }

    /// `__builtin_complex(real, imaginary)`
    pub(super) fn complex_of(&mut self, real: TExprId, imaginary: TExprId, span: Span) -> TExprId {
        let ty = self.ty(real);
        if self.prog.types.float_ty(ty).is_none() || self.ty(imaginary) != ty {
            self.error(span, "__builtin_complex needs two floating-point numbers of one type");
            return self.error_expr(span);
        }
        let ty = self.types().of_form(Form::Complex(ty));
        self.of_parts(vec![real, imaginary], ty, span)
    }

    /// An imaginary constant from its value.
    pub(super) fn imaginary(&mut self, value: TExprId, span: Span) -> TExprId {
        if self.is_error(value) {
            return value;
        }
        let zero = self.zero_like(value, span);
        let ty = self.ty(value);
        let ty = self.types().of_form(Form::Complex(ty));
        self.of_parts(vec![zero, value], ty, span)
    }
}
