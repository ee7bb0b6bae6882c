//! The vectors of GNU C: operators work on each element, without promotion.

use palisade_base::Span;
use palisade_c_syntax::ast::{BinaryOp, UnaryOp};

use super::Checker;
use super::parts::Setup;
use crate::tast::*;
use crate::types::*;

/// The most elements of a vector: an operator becomes that many.
const MAX_ELEMENTS: u64 = 256;

impl<'a> Checker<'a> {
    /// The vector type of attribute `vector_size`, inside pointers, arrays and functions.
    pub(super) fn vector_of(&mut self, ty: CTypeId, bytes: u32, span: Span) -> CTypeId {
        match self.prog.types.get(ty) {
            CType::Error => ty,
            CType::Ptr(to) => {
                let to = QType { ty: self.vector_of(to.ty, bytes, span), quals: to.quals };
                self.types().ptr_to(to)
            }
            CType::Array(elem, len) => {
                let elem = QType { ty: self.vector_of(elem.ty, bytes, span), quals: elem.quals };
                self.types().intern(CType::Array(elem, len))
            }
            CType::Func(sig) => {
                let sig = self.prog.types.sig(sig).clone();
                let ret = self.vector_of(sig.ret, bytes, span);
                self.types().func(Sig { ret, ..sig })
            }
            _ => self.vector_type(ty, bytes.into(), span),
        }
    }

    fn vector_type(&mut self, elem: CTypeId, bytes: u64, span: Span) -> CTypeId {
        let types = &self.prog.types;
        let size = types.size_of(elem).unwrap_or(0);
        let number = matches!(types.get(elem), CType::Int(_) | CType::Float(_)) && elem != TypeTable::BOOL;
        if !number {
            self.error(span, format!("a vector of '{}'", self.type_name(elem)));
            return TypeTable::ERROR;
        }
        if size == 0 || !bytes.is_multiple_of(size) || bytes == 0 {
            self.error(span, format!("{bytes} bytes are no number of elements '{}'", self.type_name(elem)));
            return TypeTable::ERROR;
        }
        if bytes / size > MAX_ELEMENTS {
            self.unsupported(span, &format!("a vector of more than {MAX_ELEMENTS} elements (use an array)"));
            return TypeTable::ERROR;
        }
        self.types().of_form(Form::Vector(elem, (bytes / size) as u32))
    }

    fn vector_parts(&self, ty: CTypeId) -> Option<(CTypeId, u32)> {
        match self.prog.types.form(ty) {
            Form::Vector(elem, count) => Some((elem, count)),
            _ => None,
        }
    }

    /// Whether one vector can become the other without a cast: integers of one width.
    pub(super) fn vectors_agree(&self, a: CTypeId, b: CTypeId) -> bool {
        let (Some((x, n)), Some((y, m))) = (self.vector_parts(a), self.vector_parts(b)) else { return false };
        let bits = |t| self.prog.types.int_ty(t).map(|t| t.bits);
        n == m && (x == y || bits(x).is_some() && bits(x) == bits(y))
    }

    /// `vector[index]`: an lvalue if the vector is one.
    pub(super) fn vector_element(&mut self, vector: TExprId, index: TExprId, span: Span) -> TExprId {
        let index = self.value_of(index);
        if !self.prog.types.is_integer(self.ty(index)) {
            self.error(span, "a subscript of a vector must be an integer");
            return self.error_expr(span);
        }
        let index = self.promote(index);
        let quals = self.qty(vector).quals;
        let element = self.element(vector, index, span);
        self.prog.exprs[element].ty.quals = quals;
        element
    }

    /// The vector of integers that a comparison of two vectors gives.
    fn truth_vector(&mut self, elem: CTypeId, count: u32) -> CTypeId {
        let kind = match self.prog.types.size_of(elem) {
            Some(1) => IntKind::SChar,
            Some(2) => IntKind::Short,
            Some(4) => IntKind::Int,
            Some(8) if self.prog.types.size_t() == TypeTable::UINT => IntKind::LongLong,
            Some(8) => IntKind::Long,
            _ => IntKind::Int128,
        };
        self.types().of_form(Form::Vector(TypeTable::int_id(kind), count))
    }

    /// A binary operator of which one operand is a vector; a scalar stands for a vector of
    /// copies.
    pub(super) fn vector_binary(&mut self, op: BinaryOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        let (a, b) = (self.ty(lhs), self.ty(rhs));
        let scalar = |c: &Self, t| c.prog.types.is_arithmetic(t);
        let ok = scalar(self, a) || scalar(self, b) || self.vectors_agree(a, b);
        let ty = if scalar(self, a) { b } else { a };
        let Some((elem, count)) = self.vector_parts(ty).filter(|_| ok) else {
            return self.bad_operands(lhs, rhs, span);
        };
        let mut setup = Setup::default();
        let Some([x, y]) = self.parts_of([lhs, rhs], &mut setup) else { return self.error_expr(span) };
        let pick = |parts: &[TExprId], i: usize| *parts.get(i).unwrap_or(&parts[0]);
        let integer = self.prog.types.is_integer(elem);
        let (arith, compare) = operator(op);
        if arith.is_some_and(|(_, integers_only)| integers_only && !integer)
            || integer
                && ![a, b].iter().all(|&t| self.vector_parts(t).is_some() || self.prog.types.is_integer(t))
        {
            return self.bad_operands(lhs, rhs, span);
        }
        let mut parts = Vec::with_capacity(count as usize);
        let result = if compare.is_some() { self.truth_vector(elem, count) } else { ty };
        let Some((truth, _)) = self.vector_parts(result) else { return self.error_expr(span) };
        for i in 0..count as usize {
            let (l, r) = (self.convert(pick(&x, i), elem), self.convert(pick(&y, i), elem));
            parts.push(match (arith, compare) {
                (Some((op, _)), _) => self.arith_node(op, elem, l, r, span),
                (None, Some(op)) => {
                    let one = self.compare_elements(op, l, r, span);
                    let one = self.convert(one, truth);
                    self.negated(one, span)
                }
                (None, None) => return self.bad_operands(lhs, rhs, span),
            });
        }
        let value = self.of_parts(parts, result, span);
        self.after(setup, value, span)
    }

    /// A comparison of two elements, which are not promoted.
    fn compare_elements(&mut self, op: CompareOp, lhs: TExprId, rhs: TExprId, span: Span) -> TExprId {
        let kind = self.fold_compare(op, lhs, rhs).unwrap_or(TExprKind::Compare { op, lhs, rhs });
        self.push(kind, TypeTable::INT, span)
    }

    /// `-e`, `~e` and `+e`.
    pub(super) fn vector_sign(&mut self, op: UnaryOp, e: TExprId, span: Span) -> TExprId {
        let ty = self.ty(e);
        let elem = self.vector_parts(ty).map_or(TypeTable::ERROR, |v| v.0);
        if op == UnaryOp::BitNot && !self.prog.types.is_integer(elem) {
            self.error(span, format!("the operator cannot be applied to '{}'", self.type_name(ty)));
            return self.error_expr(span);
        }
        self.map_parts(e, ty, span, |c, _, part| match op {
            UnaryOp::Neg => c.negated(part, span),
            UnaryOp::BitNot => c.inverted(part, span),
            _ => part,
        })
    }

    /// `(type) e` of which one is a vector: the same bytes.
    pub(super) fn vector_cast(&mut self, e: TExprId, to: CTypeId, span: Span) -> TExprId {
        let from = self.ty(e);
        let types = &self.prog.types;
        let fits = |t| self.vector_parts(t).is_some() || types.is_integer(t);
        if !fits(from) || !fits(to) || types.size_of(from) != types.size_of(to) {
            self.error(span, format!("cast from '{}' to '{}'", self.type_name(from), self.type_name(to)));
            return self.error_expr(span);
        }
        self.reinterpret(e, to)
    }

    /// `__builtin_convertvector(e, type)`: each element is converted.
    pub(super) fn convert_vector(&mut self, e: TExprId, to: CTypeId, span: Span) -> TExprId {
        if self.is_error(e) || to == TypeTable::ERROR {
            return self.error_expr(span);
        }
        match (self.vector_parts(self.ty(e)), self.vector_parts(to)) {
            (Some((_, n)), Some((elem, m))) if n == m => {
                self.map_parts(e, to, span, |c, _, part| c.convert(part, elem))
            }
            _ => {
                self.error(span, "__builtin_convertvector needs two vectors with as many elements");
                self.error_expr(span)
            }
        }
    }

    /// `__builtin_shuffle(v, mask)` and `__builtin_shuffle(v, w, mask)`: elements by number, modulo
    /// their number.
    pub(super) fn shuffle(&mut self, mut args: Vec<TExprId>, span: Span) -> TExprId {
        let mask = args.pop();
        let (Some(mask), Some(&first)) = (mask, args.first()) else { return self.error_expr(span) };
        let ty = self.ty(first);
        let agree = args.iter().all(|&a| self.ty(a) == ty);
        let (Some((_, count)), Some((index, n))) = (self.vector_parts(ty), self.vector_parts(self.ty(mask)))
        else {
            return self.bad_shuffle(span);
        };
        if !agree || n != count || !self.prog.types.is_integer(index) {
            return self.bad_shuffle(span);
        }
        let mut setup = Setup::default();
        let mut vectors = Vec::new();
        for arg in args {
            let Some(kept) = self.keep(arg, &mut setup) else { return self.error_expr(span) };
            vectors.push(kept);
        }
        let Some([numbers]) = self.parts_of([mask], &mut setup) else { return self.error_expr(span) };
        let mut parts = Vec::new();
        for number in numbers {
            let number = self.promote(number);
            let ty = self.ty(number);
            let low = self.int_const((count - 1).into(), ty, span);
            let place = self.arith_node(ArithOp::And, ty, number, low, span);
            let element = |c: &mut Self, vector: TExprId| {
                let TExprKind::Load(whole) = c.prog.exprs[vector].kind else { return vector };
                let element = c.element(whole, place, span);
                c.value_of(element)
            };
            let chosen = element(self, vectors[0]);
            parts.push(match vectors.get(1) {
                None => chosen,
                Some(&second) => {
                    let high = self.int_const(count.into(), ty, span);
                    let cond = self.arith_node(ArithOp::And, ty, number, high, span);
                    let then = element(self, second);
                    let ty = self.ty(then);
                    self.push(TExprKind::Cond { cond, then: Some(then), otherwise: chosen }, ty, span)
                }
            });
        }
        let value = self.of_parts(parts, ty, span);
        self.after(setup, value, span)
    }

    fn bad_shuffle(&mut self, span: Span) -> TExprId {
        self.error(span, "a shuffle needs vectors of one type and a vector of as many integers");
        self.error_expr(span)
    }

    /// `__builtin_shufflevector(v, w, i, j, …)`: the elements of both by constant numbers.
    pub(super) fn shuffle_constant(&mut self, args: Vec<TExprId>, span: Span) -> TExprId {
        let [first, second, ref indices @ ..] = args[..] else { return self.bad_shuffle(span) };
        let (Some((elem, n)), Some((other, m))) =
            (self.vector_parts(self.ty(first)), self.vector_parts(self.ty(second)))
        else {
            return self.bad_shuffle(span);
        };
        let count = indices.len() as u32;
        if elem != other || !count.is_power_of_two() || u64::from(count) > MAX_ELEMENTS {
            return self.bad_shuffle(span);
        }
        let mut setup = Setup::default();
        let Some([x, y]) = self.parts_of([first, second], &mut setup) else { return self.error_expr(span) };
        let mut parts = Vec::new();
        for &index in indices {
            let value = self.fold_int(index);
            let int = self.prog.types.int_ty(self.ty(index));
            match value.zip(int).map(|(v, t)| t.decode(v)) {
                // Any value: that of a variable that nobody sets.
                Some(-1) => match self.hidden(elem, span) {
                    Some(any) => parts.push(self.object_value(any, span)),
                    None => return self.error_expr(span),
                },
                Some(i) if i >= 0 && i < i128::from(n + m) => {
                    let i = i as usize;
                    parts.push(if i < x.len() { x[i] } else { y[i - x.len()] });
                }
                _ => {
                    self.error(span, "the numbers of a shuffle must be constants within the vectors");
                    return self.error_expr(span);
                }
            }
        }
        let ty = self.types().of_form(Form::Vector(elem, count));
        let value = self.of_parts(parts, ty, span);
        self.after(setup, value, span)
    }
}

/// The operator on elements with whether it wants integers, or the comparison.
fn operator(op: BinaryOp) -> (Option<(ArithOp, bool)>, Option<CompareOp>) {
    use BinaryOp as B;
    let arith = |op, integers_only| (Some((op, integers_only)), None);
    match op {
        B::Add => arith(ArithOp::Add, false),
        B::Sub => arith(ArithOp::Sub, false),
        B::Mul => arith(ArithOp::Mul, false),
        B::Div => arith(ArithOp::Div, false),
        B::Rem => arith(ArithOp::Rem, true),
        B::Shl => arith(ArithOp::Shl, true),
        B::Shr => arith(ArithOp::Shr, true),
        B::BitAnd => arith(ArithOp::And, true),
        B::BitXor => arith(ArithOp::Xor, true),
        B::BitOr => arith(ArithOp::Or, true),
        B::Lt => (None, Some(CompareOp::Lt)),
        B::Gt => (None, Some(CompareOp::Gt)),
        B::Le => (None, Some(CompareOp::Le)),
        B::Ge => (None, Some(CompareOp::Ge)),
        B::Eq => (None, Some(CompareOp::Eq)),
        B::Ne => (None, Some(CompareOp::Ne)),
        B::And | B::Or => (None, None),
    }
}
