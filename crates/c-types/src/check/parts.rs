//! Numbers of several parts: complex numbers and vectors.
//!
//! They are records to everyone else. An operator on them becomes operators on their parts: the
//! operands are kept in hidden variables unless they are constants or plain variables, and the
//! result is a [`TExprKind::Parts`].

use palisade_base::Span;
use palisade_c_syntax::ast::BinaryOp;

use super::Checker;
use crate::tast::*;
use crate::types::*;

/// What has to be evaluated, in order, before the parts of some operands can be read.
#[derive(Default)]
pub(super) struct Setup(Vec<TExprId>);

impl Setup {
    /// Adds what has to be evaluated next.
    pub(super) fn then(&mut self, e: TExprId) {
        self.0.push(e);
    }
}

impl<'a> Checker<'a> {
    /// Whether a type is a number that is laid out as a record.
    pub(super) fn is_compound(&self, ty: CTypeId) -> bool {
        self.prog.types.form(ty) != Form::Plain
    }

    /// A new hidden variable, which lives as long as the function; an error outside functions.
    pub(super) fn hidden(&mut self, ty: CTypeId, span: Span) -> Option<ObjId> {
        let Some(func) = &self.func else {
            self.error(span, "the initialiser is not constant");
            return None;
        };
        let kind = ObjKind::Hidden(func.id);
        let align = self.prog.types.preferred_align(ty);
        Some(self.prog.objects.push(Object::unnamed(ty.into(), kind, align, Span::NONE)))
    }

    /// The lvalue of an object.
    pub(super) fn object_place(&mut self, obj: ObjId, span: Span) -> TExprId {
        let ty = self.prog.objects[obj].ty;
        self.push(TExprKind::Object(obj), ty, span)
    }

    /// The value of an object.
    pub(super) fn object_value(&mut self, obj: ObjId, span: Span) -> TExprId {
        let place = self.object_place(obj, span);
        self.value_of(place)
    }

    /// `object = value`
    pub(super) fn store(&mut self, obj: ObjId, value: TExprId, span: Span) -> TExprId {
        let lhs = self.object_place(obj, span);
        let ty = self.ty(lhs);
        self.push(TExprKind::Assign { lhs, rhs: value }, ty, span)
    }

    /// The value after what has to be evaluated before it.
    pub(super) fn after(&mut self, setup: Setup, value: TExprId, span: Span) -> TExprId {
        let mut steps = setup.0.into_iter();
        let Some(mut before) = steps.next() else { return value };
        // On the left, where chains may be long.
        for step in steps {
            let ty = self.ty(step);
            before = self.push(TExprKind::Comma { lhs: before, rhs: step }, ty, span);
        }
        let ty = self.ty(value);
        self.push(TExprKind::Comma { lhs: before, rhs: value }, ty, span)
    }

    fn is_constant(&self, e: TExprId) -> bool {
        matches!(self.prog.exprs[e].kind, TExprKind::Int(_) | TExprKind::Float(_))
    }

    /// Whether a value is a variable that no operand without effects changes.
    fn is_variable(&self, e: TExprId) -> bool {
        let TExprKind::Load(place) = self.prog.exprs[e].kind else { return false };
        matches!(self.prog.exprs[place].kind, TExprKind::Object(_))
            && !self.qty(place).quals.contains(Quals::VOLATILE)
    }

    /// The parts of a constant.
    pub(super) fn constant_parts(&self, e: TExprId) -> Option<Vec<TExprId>> {
        match &self.prog.exprs[e].kind {
            TExprKind::Int(_) | TExprKind::Float(_) => Some(vec![e]),
            TExprKind::Parts(parts) if parts.iter().all(|&p| self.is_constant(p)) => Some(parts.to_vec()),
            _ => None,
        }
    }

    /// Whether a value can be read several times, wherever its neighbours are evaluated.
    fn is_simple(&self, e: TExprId) -> bool {
        self.is_variable(e) || self.constant_parts(e).is_some()
    }

    /// The parts of operands (scalars have one), each a value that can be read again and again.
    pub(super) fn parts_of<const N: usize>(
        &mut self,
        operands: [TExprId; N],
        setup: &mut Setup,
    ) -> Option<[Vec<TExprId>; N]> {
        let direct = operands.iter().all(|&e| self.is_simple(e));
        let mut out = [const { Vec::new() }; N];
        for (parts, e) in out.iter_mut().zip(operands) {
            *parts = match self.constant_parts(e) {
                Some(parts) => parts,
                None if direct => self.parts_of_simple(e),
                None => {
                    let kept = self.keep(e, setup)?;
                    self.parts_of_simple(kept)
                }
            };
        }
        Some(out)
    }

    /// Evaluates an operand into a hidden variable; the value of that.
    pub(super) fn keep(&mut self, e: TExprId, setup: &mut Setup) -> Option<TExprId> {
        // What an operand evaluates first goes before, so that chains of operators stay flat.
        let mut e = e;
        if let TExprKind::Comma { lhs, rhs } = self.prog.exprs[e].kind {
            setup.0.push(lhs);
            e = rhs;
        }
        let span = self.span(e);
        let obj = self.hidden(self.ty(e), span)?;
        let store = self.store(obj, e, span);
        setup.0.push(store);
        Some(self.object_value(obj, span))
    }

    fn parts_of_simple(&mut self, e: TExprId) -> Vec<TExprId> {
        let span = self.span(e);
        let count = match self.prog.types.form(self.ty(e)) {
            Form::Complex(_) => 2,
            Form::Vector(_, count) => count,
            Form::Plain | Form::Soft(_) => return vec![e],
        };
        let TExprKind::Load(place) = self.prog.exprs[e].kind else { return vec![e] };
        (0..count)
            .map(|i| {
                let part = self.number_part(place, i, span);
                self.value_of(part)
            })
            .collect()
    }

    /// One part of a complex number or vector: an lvalue if the whole is one.
    pub(super) fn number_part(&mut self, whole: TExprId, i: u32, span: Span) -> TExprId {
        match self.prog.types.form(self.ty(whole)) {
            Form::Complex(_) => self.member_path(whole, &[i], span),
            Form::Vector(..) => {
                let index = self.int_const(i.into(), TypeTable::INT, span);
                self.element(whole, index, span)
            }
            Form::Plain | Form::Soft(_) => whole,
        }
    }

    /// `vector[index]`
    pub(super) fn element(&mut self, vector: TExprId, index: TExprId, span: Span) -> TExprId {
        let array = self.member_path(vector, &[0], span);
        let CType::Array(elem, _) = self.prog.types.get(self.ty(array)) else { return array };
        self.push(TExprKind::Index { base: array, index }, elem, span)
    }

    /// A complex number or vector of these parts.
    pub(super) fn of_parts(&mut self, parts: Vec<TExprId>, ty: CTypeId, span: Span) -> TExprId {
        if parts.iter().any(|&p| self.is_error(p)) {
            return self.error_expr(span);
        }
        self.push(TExprKind::Parts(parts.into()), ty, span)
    }

    /// An operator on each part.
    pub(super) fn map_parts(
        &mut self,
        e: TExprId,
        ty: CTypeId,
        span: Span,
        mut f: impl FnMut(&mut Self, usize, TExprId) -> TExprId,
    ) -> TExprId {
        let mut setup = Setup::default();
        let Some([parts]) = self.parts_of([e], &mut setup) else { return self.error_expr(span) };
        let parts = parts.into_iter().enumerate().map(|(i, p)| f(self, i, p)).collect();
        let value = self.of_parts(parts, ty, span);
        self.after(setup, value, span)
    }

    /// A binary operator of which one operand is no scalar.
    pub(super) fn compound_binary(
        &mut self,
        op: BinaryOp,
        lhs: TExprId,
        rhs: TExprId,
        span: Span,
    ) -> TExprId {
        let forms = [lhs, rhs].map(|e| self.prog.types.form(self.ty(e)));
        let number = |c: &Self, e: TExprId| c.prog.types.is_arithmetic(c.ty(e));
        let usable = |c: &Self, e: TExprId, f| number(c, e) || f != Form::Plain;
        if !usable(self, lhs, forms[0]) || !usable(self, rhs, forms[1]) {
            return self.bad_operands(lhs, rhs, span);
        }
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.logical(op == BinaryOp::And, lhs, rhs, span);
        }
        let vector = |f| matches!(f, Form::Vector(..));
        let complex = |f| matches!(f, Form::Complex(_));
        if forms.into_iter().any(vector) {
            self.vector_binary(op, lhs, rhs, span)
        } else if forms.into_iter().any(complex) {
            self.complex_binary(op, lhs, rhs, span)
        } else {
            self.soft_binary(op, lhs, rhs, span)
        }
    }

    /// `lhs op= rhs` if one of them is no scalar: the left operand is evaluated once.
    pub(super) fn compound_update(
        &mut self,
        op: BinaryOp,
        lhs: TExprId,
        rhs: TExprId,
        span: Span,
    ) -> TExprId {
        let ty = self.ty(lhs);
        let mut setup = Setup::default();
        let Some(place) = self.place_once(lhs, &mut setup, span) else { return self.error_expr(span) };
        let old = place.value(self, span);
        let result = self.binary(op, old, rhs, span);
        let value = self.assign_convert(result, ty, "assignment");
        if self.is_error(value) {
            return self.error_expr(span);
        }
        let lhs = place.place(self, span);
        let assign = self.push(TExprKind::Assign { lhs, rhs: value }, ty, span);
        self.after(setup, assign, span)
    }

    /// `++e`, `--e`, `e++` and `e--` on what is no scalar.
    pub(super) fn compound_step(&mut self, e: TExprId, inc: bool, postfix: bool, span: Span) -> TExprId {
        let ty = self.ty(e);
        let op = if inc { BinaryOp::Add } else { BinaryOp::Sub };
        let mut setup = Setup::default();
        let Some(place) = self.place_once(e, &mut setup, span) else { return self.error_expr(span) };
        let old = place.value(self, span);
        let Some(kept) = self.keep(old, &mut setup) else { return self.error_expr(span) };
        let one = self.int_const(1, TypeTable::INT, span);
        let new = self.binary(op, kept, one, span);
        let new = self.assign_convert(new, ty, "assignment");
        if self.is_error(new) {
            return new;
        }
        let lhs = place.place(self, span);
        let assign = self.push(TExprKind::Assign { lhs, rhs: new }, ty, span);
        if !postfix {
            return self.after(setup, assign, span);
        }
        setup.0.push(assign);
        self.after(setup, kept, span)
    }

    fn place_once(&mut self, lhs: TExprId, setup: &mut Setup, span: Span) -> Option<Place> {
        if let TExprKind::Object(obj) = self.prog.exprs[lhs].kind {
            return Some(Place::Object(obj, self.qty(lhs)));
        }
        if self.prog.bit_range(lhs).is_some() {
            self.error(span, "a bit-field cannot be combined with a number that is no scalar");
            return None;
        }
        let ty = self.qty(lhs);
        let ptr = self.types().ptr_to(ty);
        let address = match self.prog.exprs[lhs].kind {
            TExprKind::Deref(p) if self.ty(p) == ptr => p,
            _ => self.push(TExprKind::AddrOf(lhs), ptr, span),
        };
        let obj = self.hidden(ptr, span)?;
        let store = self.store(obj, address, span);
        setup.0.push(store);
        Some(Place::Pointer(obj))
    }

    /// The value of a number that is laid out as a record in another type, scalar or not; `None`
    /// if C knows no such conversion.
    pub(super) fn compound_convert(&mut self, e: TExprId, to: CTypeId) -> Option<TExprId> {
        let types = &self.prog.types;
        let from = self.ty(e);
        match (types.form(from), types.form(to)) {
            (Form::Vector(..), Form::Vector(..)) => {
                self.vectors_agree(from, to).then(|| self.reinterpret(e, to))
            }
            (Form::Vector(..), _) | (_, Form::Vector(..)) => None,
            (Form::Complex(_), _) | (_, Form::Complex(_)) => self.complex_convert(e, to),
            (Form::Soft(_), _) | (_, Form::Soft(_)) => self.soft_convert(e, to),
            (Form::Plain, Form::Plain) => None,
        }
    }

    /// The same bytes as another type of the same size.
    pub(super) fn reinterpret(&mut self, e: TExprId, to: CTypeId) -> TExprId {
        let (from, span) = (self.ty(e), self.span(e));
        if from == to {
            return e;
        }
        let Some(func) = self.func.as_ref().map(|f| f.id) else {
            self.error(span, "the initialiser is not constant");
            return self.error_expr(span);
        };
        // It has an address, so it must live in a block as other objects do.
        let align = self.prog.types.preferred_align(from).max(self.prog.types.preferred_align(to));
        let kind = ObjKind::CompoundLiteral(func);
        let obj = self.prog.objects.push(Object::unnamed(from.into(), kind, align, span));
        if let Some(block) = self.func.as_mut().and_then(|f| f.blocks.last_mut()) {
            block.0.push(obj);
        }
        let store = self.store(obj, e, span);
        let place = self.object_place(obj, span);
        let address = self.types().ptr_to(from.into());
        let address = self.push(TExprKind::AddrOf(place), address, span);
        let target = self.types().ptr_to(to.into());
        let address = self.convert(address, target);
        let place = self.push(TExprKind::Deref(address), to, span);
        let value = self.value_of(place);
        self.after(Setup(vec![store]), value, span)
    }
}

/// An lvalue that was evaluated.
enum Place {
    Object(ObjId, QType),
    /// What this hidden variable points to.
    Pointer(ObjId),
}

impl Place {
    fn place(&self, c: &mut Checker, span: Span) -> TExprId {
        match *self {
            Place::Object(obj, ty) => c.push(TExprKind::Object(obj), ty, span),
            Place::Pointer(obj) => {
                let ptr = c.object_value(obj, span);
                c.deref(ptr, span)
            }
        }
    }

    fn value(&self, c: &mut Checker, span: Span) -> TExprId {
        let place = self.place(c, span);
        c.value_of(place)
    }
}
