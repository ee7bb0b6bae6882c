//! Clauses of annotations: formulas of ACSL over the program.
//!
//! Numbers in formulas have no bounds (ACSL 2.2.3): every operator is computed in a type that holds its result
//! for all operands, and a formula for which there is no such type is not understood. Neither is anything else
//! whose meaning would differ from that of the C expression it becomes.

use palisade_base::Span;
use palisade_c_syntax::Symbol;
use palisade_c_syntax::ast::{self, BinaryOp, ClauseKind, ExprKind, UnaryOp};
use palisade_cfa::IntTy;

use super::Checker;
use crate::scope::Binding;
use crate::tast::*;
use crate::types::*;

/// The state after a function in which `ensures` is read.
#[derive(Default)]
pub(crate) struct After {
    /// Where the result is kept.
    result: Option<ObjId>,
    /// Assignments that save what is needed of the state before.
    saved: Vec<TExprId>,
    /// Parameters by the objects that keep their first values.
    params: Vec<(ObjId, ObjId)>,
    /// Whether a part of the formula speaks about the state before.
    before: bool,
}

/// A number, or something else that has no bits.
#[derive(Clone, Copy)]
struct Term {
    e: TExprId,
    /// How many bits a signed type needs to hold it; nothing for pointers and floating-point numbers.
    bits: Option<u16>,
}

/// The clauses of a function.
pub(crate) struct Contract {
    pub requires: Vec<TExprId>,
    pub ensures: Vec<TExprId>,
    pub result: Option<ObjId>,
    /// Assignments to make first.
    pub saved: Vec<TExprId>,
    /// What may be changed.
    pub assigns: Option<Assigns>,
}

impl<'a> Checker<'a> {
    /// The contract of a function, in the scope of its parameters.
    pub(super) fn contract(&mut self, clauses: &[ast::Clause]) -> Contract {
        let mut contract = Contract {
            requires: Vec::new(),
            ensures: Vec::new(),
            result: None,
            saved: Vec::new(),
            assigns: self.assigns(clauses),
        };
        for clause in clauses.iter().filter(|c| c.kind == ClauseKind::Requires) {
            contract.requires.extend(self.clause(clause));
        }
        self.after = Some(After::default());
        for clause in clauses.iter().filter(|c| c.kind == ClauseKind::Ensures) {
            contract.ensures.extend(self.clause(clause));
        }
        if let Some(after) = self.after.take() {
            (contract.result, contract.saved) = (after.result, after.saved);
        }
        contract
    }

    /// What `assigns` clauses allow. Some of it would say too little, so all of them are understood or none.
    fn assigns(&mut self, clauses: &[ast::Clause]) -> Option<Assigns> {
        let mut clauses = clauses.iter().filter(|c| c.kind == ClauseKind::Assigns).peekable();
        let mut assigns = Assigns { regions: Vec::new(), span: clauses.peek()?.span };
        for clause in clauses {
            if matches!(self.unit.exprs[clause.formula].kind, ExprKind::Bool(false)) {
                continue;
            }
            let region = self.understood(clause.span, |c| {
                c.region(clause.formula).filter(|(start, bytes)| !c.is_error(*start) && !c.is_error(*bytes))
            });
            assigns.regions.push(region?);
        }
        Some(assigns)
    }

    /// The truth of a clause.
    pub(super) fn clause(&mut self, clause: &ast::Clause) -> Option<TExprId> {
        let e = self.understood(clause.span, |c| c.formula(clause.formula).filter(|e| !c.is_error(*e)))?;
        let truth = self.require_scalar(e);
        // The whole clause is where it fails.
        self.prog.exprs[truth].span = clause.span;
        Some(truth)
    }

    /// Reads a clause. What is not understood is left out with a warning.
    fn understood<T>(&mut self, span: Span, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let messages = self.diags.len();
        let found = read(self);
        // No message about C is about a formula.
        let clean = self.diags.len() == messages;
        self.diags.truncate(messages);
        let found = found.filter(|_| clean);
        if found.is_none() {
            self.warn(span, "this annotation is not understood and left out");
            if let Some(func) = &mut self.func {
                func.left_out = true;
            }
        }
        found
    }

    /// Where something that is assigned starts, and its bytes: an object, or elements `*(p + (a .. b))`.
    fn region(&mut self, id: ast::ExprId) -> Option<(TExprId, TExprId)> {
        let unit = self.unit;
        let span = unit.exprs[id].span;
        let size_t = self.prog.types.size_t();
        if let ExprKind::Unary { op: UnaryOp::Deref, operand } = unit.exprs[id].kind
            && let Some((base, (first, last))) = self.ranged(operand)
            && first != last
        {
            let pointer = self.term(base)?.e;
            let pointee = self.prog.types.pointee(self.ty(pointer))?.ty;
            let size = self.prog.types.size_of(pointee).filter(|size| *size > 0)?;
            let (a, b) = (self.number(first)?, self.number(last)?);
            let nothing = self.compared(CompareOp::Gt, a, b, span)?;
            let (a, b) = (self.number(first)?, self.number(last)?);
            let difference = self.computed(ArithOp::Sub, b, a, span)?;
            let one = self.int_const(1, TypeTable::INT, span);
            let count = self.computed(ArithOp::Add, difference, Term { e: one, bits: Some(2) }, span)?;
            let first = self.number(first)?;
            let start = self.moved(pointer, first, false, span)?.e;
            let (count, width) = (self.convert(count.e, size_t), self.int_const(size.into(), size_t, span));
            let bytes = self.arith_node(ArithOp::Mul, size_t, count, width, span);
            let zero = self.int_const(0, size_t, span);
            let kind = TExprKind::Cond { cond: nothing, then: Some(zero), otherwise: bytes };
            return Some((start, self.push(kind, size_t, span)));
        }
        let place = self.meant(id)?;
        let size = self.prog.types.size_of(self.ty(place))?;
        Some((self.address(place, span)?, self.int_const(size.into(), size_t, span)))
    }

    /// A pointer to an object.
    fn address(&mut self, place: TExprId, span: Span) -> Option<TExprId> {
        if !self.prog.is_lvalue(place) || self.prog.bit_range(place).is_some() {
            return None;
        }
        let ty = self.qty(place);
        let ptr = self.types().ptr_to(ty);
        Some(self.push(TExprKind::AddrOf(place), ptr, span))
    }

    /// The pointer and the first and last index of `p + (a .. b)`, or of `p + i`.
    fn ranged(&self, operand: ast::ExprId) -> Option<(ast::ExprId, (ast::ExprId, ast::ExprId))> {
        let unit = self.unit;
        let range = |e: ast::ExprId| match unit.exprs[e].kind {
            ExprKind::Call { callee, args, .. } if self.built_in(callee) == Some("$range") => {
                match unit.expr_list(args) {
                    &[first, last] => Some((first, last)),
                    _ => None,
                }
            }
            _ => None,
        };
        match unit.exprs[operand].kind {
            ExprKind::Binary { op: BinaryOp::Add, lhs, rhs, .. } => match (range(lhs), range(rhs)) {
                (None, Some(range)) => Some((lhs, range)),
                (Some(range), None) => Some((rhs, range)),
                _ => Some((lhs, (rhs, rhs))),
            },
            _ => None,
        }
    }

    fn formula(&mut self, id: ast::ExprId) -> Option<TExprId> {
        let unit = self.unit;
        let span = unit.exprs[id].span;
        match unit.exprs[id].kind {
            ExprKind::Bool(truth) => Some(self.int_const(truth.into(), TypeTable::INT, span)),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                let e = self.formula(operand)?;
                Some(self.push(TExprKind::LogNot(e), TypeTable::INT, span))
            }
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), lhs, rhs, .. } => {
                let (lhs, rhs) = (self.formula(lhs)?, self.formula(rhs)?);
                Some(self.logical(op == BinaryOp::And, lhs, rhs, span))
            }
            ExprKind::Binary { op, lhs, rhs, .. } if comparison(op).is_some() => {
                let (lhs, rhs) = (self.term(lhs)?, self.term(rhs)?);
                self.compared(comparison(op)?, lhs, rhs, span)
            }
            ExprKind::Conditional { cond, then: Some(then), otherwise, .. } => {
                let (cond, then, otherwise) =
                    (self.formula(cond)?, self.formula(then)?, self.formula(otherwise)?);
                let kind = TExprKind::Cond { cond, then: Some(then), otherwise };
                Some(self.push(kind, TypeTable::INT, span))
            }
            ExprKind::Call { callee, args, .. } => match (self.built_in(callee)?, unit.expr_list(args)) {
                ("$valid", &[operand]) => self.valid(operand, true, span),
                ("$valid_read", &[operand]) => self.valid(operand, false, span),
                _ => None,
            },
            _ => {
                let Term { e, bits } = self.term(id)?;
                (bits.is_some()).then_some(e)
            }
        }
    }

    /// The name of a function of ACSL.
    fn built_in(&self, callee: ast::ExprId) -> Option<&'a str> {
        match self.unit.exprs[callee].kind {
            ExprKind::Name(name) => Some(self.name(name)).filter(|n| n.starts_with('$')),
            _ => None,
        }
    }

    fn compared(&mut self, op: CompareOp, a: Term, b: Term, span: Span) -> Option<TExprId> {
        let (lhs, rhs) = match (a.bits, b.bits) {
            (Some(x), Some(y)) if self.is_pointer(a.e) == self.is_pointer(b.e) => {
                let ty = self.exact_type(x.max(y))?;
                (self.convert(a.e, ty), self.convert(b.e, ty))
            }
            _ => {
                let pointer_or_null = |c: &Self, e| c.is_pointer(e) || c.is_null_constant(e);
                let pointers = pointer_or_null(self, a.e) && pointer_or_null(self, b.e);
                let (x, y) = (self.prog.types.float_ty(self.ty(a.e)), self.prog.types.float_ty(self.ty(b.e)));
                if !pointers && (x.is_none() || y.is_none()) {
                    return None;
                }
                (a.e, b.e)
            }
        };
        Some(self.compare(op, lhs, rhs, span))
    }

    fn is_pointer(&self, e: TExprId) -> bool {
        self.prog.types.pointee(self.ty(e)).is_some()
    }

    /// A signed type that holds numbers of so many bits.
    fn exact_type(&mut self, bits: u16) -> Option<CTypeId> {
        match bits {
            0..=32 => Some(TypeTable::INT),
            33..=64 => Some(TypeTable::int_id(IntKind::LongLong)),
            65..=128 => Some(self.types().intern(CType::BitInt(IntTy { bits: 128, signed: true }))),
            _ => None,
        }
    }

    /// A value with the bits that its type needs.
    fn as_term(&self, e: TExprId) -> Option<Term> {
        if self.is_error(e) || !self.prog.types.is_scalar(self.ty(e)) {
            return None;
        }
        let bits = self.prog.types.int_ty(self.ty(e)).map(|t| t.bits + u16::from(!t.signed));
        Some(Term { e, bits })
    }

    fn term(&mut self, id: ast::ExprId) -> Option<Term> {
        let unit = self.unit;
        let span = unit.exprs[id].span;
        match unit.exprs[id].kind {
            ExprKind::Int(_)
            | ExprKind::Char(_)
            | ExprKind::Float(_)
            | ExprKind::Nullptr
            | ExprKind::SizeofType(_) => {
                let e = self.rvalue(id);
                self.as_term(e)
            }
            ExprKind::Name(_)
            | ExprKind::Index { .. }
            | ExprKind::Member { .. }
            | ExprKind::Unary { op: UnaryOp::Deref, .. } => {
                let place = self.meant(id)?;
                let e = self.value_of(place);
                self.as_term(e)
            }
            ExprKind::Unary { op: UnaryOp::AddrOf, operand } => {
                let place = self.meant(operand)?;
                let e = self.address(place, span)?;
                self.as_term(e)
            }
            ExprKind::Unary { op: UnaryOp::Plus, operand } => self.number(operand),
            ExprKind::Unary { op: UnaryOp::Neg, operand } => {
                let zero = self.int_const(0, TypeTable::INT, span);
                let operand = self.number(operand)?;
                self.computed(ArithOp::Sub, Term { e: zero, bits: Some(1) }, operand, span)
            }
            ExprKind::Binary { op, lhs, rhs, .. } => {
                let (a, b) = (self.term(lhs)?, self.term(rhs)?);
                match (op, self.is_pointer(a.e), self.is_pointer(b.e)) {
                    (BinaryOp::Add | BinaryOp::Sub, true, false) => {
                        self.moved(a.e, b, op == BinaryOp::Sub, span)
                    }
                    (BinaryOp::Add, false, true) => self.moved(b.e, a, false, span),
                    (BinaryOp::Add, false, false) => self.computed(ArithOp::Add, a, b, span),
                    (BinaryOp::Sub, false, false) => self.computed(ArithOp::Sub, a, b, span),
                    (BinaryOp::Mul, false, false) => self.computed(ArithOp::Mul, a, b, span),
                    (BinaryOp::Div, false, false) => self.computed(ArithOp::Div, a, b, span),
                    (BinaryOp::Rem, false, false) => self.computed(ArithOp::Rem, a, b, span),
                    _ => None,
                }
            }
            ExprKind::Cast { ty, operand } => {
                let to = self.type_of_name(ty).ty;
                let Term { e, bits } = self.term(operand)?;
                let types = &self.prog.types;
                let numbers = types.int_ty(to).is_some() && bits.is_some();
                let pointers =
                    types.pointee(to).is_some() && (self.is_pointer(e) || self.is_null_constant(e));
                if !numbers && !pointers {
                    return None;
                }
                let e = self.convert(e, to);
                self.as_term(e)
            }
            ExprKind::Call { callee, args, .. } => match (self.built_in(callee)?, unit.expr_list(args)) {
                ("$old", &[operand]) => self.old(operand, span),
                _ => None,
            },
            _ => None,
        }
    }

    fn number(&mut self, id: ast::ExprId) -> Option<Term> {
        self.term(id).filter(|t| t.bits.is_some())
    }

    /// An operator on integers, in a type that holds the result.
    fn computed(&mut self, op: ArithOp, a: Term, b: Term, span: Span) -> Option<Term> {
        let (x, y) = (a.bits?, b.bits?);
        let bits = match op {
            ArithOp::Add | ArithOp::Sub => x.max(y) + 1,
            ArithOp::Mul => x + y,
            ArithOp::Div => x.max(y) + 1,
            _ => x.max(y),
        };
        let ty = self.exact_type(bits)?;
        let (lhs, rhs) = (self.convert(a.e, ty), self.convert(b.e, ty));
        Some(Term { e: self.arith_node(op, ty, lhs, rhs, span), bits: Some(bits) })
    }

    /// A pointer moved by a number of elements. A number that does not fit the type of such numbers leads out
    /// of every object; what is there is not specified.
    fn moved(&mut self, pointer: TExprId, by: Term, back: bool, span: Span) -> Option<Term> {
        let ptrdiff = self.prog.types.ptrdiff_t();
        self.prog.types.size_of(self.prog.types.pointee(self.ty(pointer))?.ty)?;
        let by = by.bits.map(|_| self.convert(by.e, ptrdiff))?;
        let e = self.ptr_add(pointer, by, back, span);
        self.as_term(e)
    }

    /// The object that a name, a subscript, a member or `*` designates; or an enumeration constant.
    fn meant(&mut self, id: ast::ExprId) -> Option<TExprId> {
        let unit = self.unit;
        let span = unit.exprs[id].span;
        match unit.exprs[id].kind {
            ExprKind::Name(name) => self.named(name, span),
            ExprKind::Unary { op: UnaryOp::Deref, operand } => {
                let pointer = self.term(operand)?.e;
                self.is_pointer(pointer).then(|| self.deref(pointer, span))
            }
            ExprKind::Index { base, index } => {
                let (pointer, index) = (self.term(base)?.e, self.number(index)?);
                if !self.is_pointer(pointer) {
                    return None;
                }
                let element = self.moved(pointer, index, false, span)?.e;
                Some(self.deref(element, span))
            }
            ExprKind::Member { base, field, arrow, .. } => {
                let record = if arrow {
                    let pointer = self.term(base)?.e;
                    self.is_pointer(pointer).then(|| self.deref(pointer, span))?
                } else {
                    self.meant(base)?
                };
                let path = self.find_field(self.ty(record), field)?;
                Some(self.member_path(record, &path, span))
            }
            _ => None,
        }
    }

    fn named(&mut self, name: Symbol, span: Span) -> Option<TExprId> {
        if self.name(name) == "$result" {
            return self.result(span);
        }
        match self.scopes.lookup(name)? {
            Binding::Object(obj) => {
                let obj = self.first_value(obj, span);
                let ty = self.prog.objects[obj].ty;
                Some(self.push(TExprKind::Object(obj), ty, span))
            }
            Binding::EnumConst(..) => Some(self.name_expr(name, span)),
            _ => None,
        }
    }

    /// The object of `\result`.
    fn result(&mut self, span: Span) -> Option<TExprId> {
        let ret = self.func.as_ref()?.ret;
        let known = self.after.as_ref().filter(|a| !a.before)?.result;
        if !self.prog.types.is_scalar(ret) {
            return None;
        }
        let obj = match known {
            Some(obj) => obj,
            None => {
                let obj = self.hidden(ret, span)?;
                self.after.as_mut()?.result = Some(obj);
                obj
            }
        };
        Some(self.push(TExprKind::Object(obj), ret, span))
    }

    /// After a function its parameters stand for what they were before.
    fn first_value(&mut self, obj: ObjId, span: Span) -> ObjId {
        let is_param = self.func.as_ref().is_some_and(|f| f.params.contains(&obj));
        let Some(after) = self.after.as_ref().filter(|a| is_param && !a.before) else { return obj };
        if let Some((_, saved)) = after.params.iter().find(|(param, _)| *param == obj) {
            return *saved;
        }
        let ty = self.prog.objects[obj].ty.ty;
        // Records are left as they are: nothing is known about which member is meant.
        if !self.prog.types.is_scalar(ty) {
            self.error(span, "a parameter that is a structure");
            return obj;
        }
        let place = self.push(TExprKind::Object(obj), ty, span);
        let value = self.value_of(place);
        match self.saved(value, span) {
            Some(saved) => {
                if let Some(after) = &mut self.after {
                    after.params.push((obj, saved));
                }
                saved
            }
            None => obj,
        }
    }

    /// Keeps a value of the state before.
    fn saved(&mut self, value: TExprId, span: Span) -> Option<ObjId> {
        let ty = self.ty(value);
        let obj = self.hidden(ty, span)?;
        let lhs = self.push(TExprKind::Object(obj), ty, span);
        let store = self.push(TExprKind::Assign { lhs, rhs: value }, ty, span);
        self.after.as_mut()?.saved.push(store);
        Some(obj)
    }

    /// `\old(e)`
    fn old(&mut self, operand: ast::ExprId, span: Span) -> Option<Term> {
        let after = self.after.as_mut()?;
        if std::mem::replace(&mut after.before, true) {
            return None;
        }
        let term = self.term(operand);
        self.after.as_mut()?.before = false;
        let Term { e, bits } = term?;
        let obj = self.saved(e, span)?;
        let ty = self.ty(e);
        let place = self.push(TExprKind::Object(obj), ty, span);
        Some(Term { e: self.value_of(place), bits })
    }

    /// `\valid(p)`, `\valid(p + (a .. b))`: that the elements may be accessed.
    fn valid(&mut self, operand: ast::ExprId, write: bool, span: Span) -> Option<TExprId> {
        let ranged = self.ranged(operand);
        if ranged.is_none() && matches!(self.unit.exprs[operand].kind, ExprKind::Binary { .. }) {
            return None;
        }
        let pointer = self.term(ranged.map_or(operand, |r| r.0))?.e;
        let pointee = self.prog.types.pointee(self.ty(pointer))?.ty;
        let size = self.prog.types.size_of(pointee).filter(|size| *size > 0)?;
        if pointee == TypeTable::VOID {
            return None;
        }
        let size_t = self.prog.types.size_t();
        let width = self.int_const(size.into(), size_t, span);
        let Some((_, (first, last))) = ranged else {
            let args = Box::new([pointer, width]);
            return Some(self.push(
                TExprKind::Builtin { op: Builtin::Valid { write }, args },
                TypeTable::INT,
                span,
            ));
        };
        // Nothing is to be accessed, or the bytes from the first to the last element.
        let (a, b) = (self.number(first)?, self.number(last)?);
        let nothing = self.compared(CompareOp::Gt, a, b, span)?;
        let (a, b) = (self.number(first)?, self.number(last)?);
        let difference = self.computed(ArithOp::Sub, b, a, span)?;
        let one = self.int_const(1, TypeTable::INT, span);
        let count = self.computed(ArithOp::Add, difference, Term { e: one, bits: Some(2) }, span)?;
        // No object has so many bytes; below, all products fit.
        let most = (1u128 << (self.prog.types.int_ty(size_t)?.bits - 1)) / u128::from(size);
        let most = self.int_const(most, TypeTable::int_id(IntKind::LongLong), span);
        let few = self.compared(CompareOp::Le, count, Term { e: most, bits: Some(64) }, span)?;
        let mut valid_first = few;
        let wide = self.exact_type(128)?;
        let ptrdiff = self.prog.types.int_ty(self.prog.types.ptrdiff_t())?;
        for (op, bound) in [(CompareOp::Ge, ptrdiff.min_bits()), (CompareOp::Le, ptrdiff.max_bits())] {
            let first = self.number(first)?;
            let bound = self.int_const(ptrdiff.decode(bound) as u128, wide, span);
            let inside = self.compared(op, first, Term { e: bound, bits: Some(128) }, span)?;
            valid_first = self.logical(true, valid_first, inside, span);
        }
        let first = self.number(first)?;
        let start = self.moved(pointer, first, false, span)?.e;
        let count = self.convert(count.e, size_t);
        let bytes = self.arith_node(ArithOp::Mul, size_t, count, width, span);
        let args = Box::new([start, bytes]);
        let valid =
            self.push(TExprKind::Builtin { op: Builtin::Valid { write }, args }, TypeTable::INT, span);
        let valid = self.logical(true, valid_first, valid, span);
        Some(self.logical(false, nothing, valid, span))
    }
}

fn comparison(op: BinaryOp) -> Option<CompareOp> {
    Some(match op {
        BinaryOp::Lt => CompareOp::Lt,
        BinaryOp::Gt => CompareOp::Gt,
        BinaryOp::Le => CompareOp::Le,
        BinaryOp::Ge => CompareOp::Ge,
        BinaryOp::Eq => CompareOp::Eq,
        BinaryOp::Ne => CompareOp::Ne,
        _ => return None,
    })
}
