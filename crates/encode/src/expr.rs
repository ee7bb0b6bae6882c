//! Expressions as terms.

use crate::encoder::Encoder;
use crate::layout::*;
use crate::memory::resize;
use crate::state::State;
use palisade_cfa::*;
use palisade_logic::{Sort, Term, Terms};

impl Encoder<'_> {
    /// The value of an expression in a state. Lowering bounds the depth of expressions, so
    /// recursion is safe.
    pub fn expr(&mut self, terms: &mut Terms, s: &State, e: ExprId) -> Term {
        let program = self.program;
        let Expr { ty, kind } = &program.exprs[e];
        let width = self.layout.bits(*ty);
        if *ty == Scalar::BOOL && !matches!(kind, ExprKind::Load(_)) {
            let cond = self.cond(terms, s, e);
            return terms.bool_to_bv(cond);
        }
        match *kind {
            ExprKind::Int(bits) if *ty == Scalar::Ptr => {
                let int = self.constant(terms, self.layout.off_bits, bits);
                self.int_to_ptr(terms, int)
            }
            ExprKind::Int(bits) | ExprKind::Float(bits) => self.constant(terms, width, bits),
            ExprKind::Load(place) => self.load(terms, s, place),
            ExprKind::Addr(place) => self.place_pointer(terms, s, place),
            ExprKind::Func(func) => {
                let object = terms.bv(OBJ_BITS, self.layout.func_object(func));
                let zero = terms.bv(self.layout.off_bits, 0);
                terms.concat(object, zero)
            }
            ExprKind::Unary(op, a) => {
                let a = self.expr(terms, s, a);
                match (op, ty) {
                    (UnOp::Neg, Scalar::Float(t)) => crate::float::negate(terms, *t, a),
                    (UnOp::Neg, _) => terms.neg(a),
                    (UnOp::Not, _) => terms.not(a),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let right_ty = program.exprs[b].ty;
                let (a, b) = (self.expr(terms, s, a), self.expr(terms, s, b));
                match ty {
                    Scalar::Float(t) => self.float_binary(terms, *t, op, a, b),
                    Scalar::Int(t) => int_binary(terms, *t, op, a, b, right_ty),
                    Scalar::Ptr => self.unknown(terms, Sort::BitVec(width), false),
                }
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.cond(terms, s, c);
                let (a, b) = (self.expr(terms, s, a), self.expr(terms, s, b));
                terms.ite(c, a, b)
            }
            ExprKind::Convert(a) => {
                let from = program.exprs[a].ty;
                let a = self.expr(terms, s, a);
                self.convert(terms, from, *ty, a)
            }
            ExprKind::PtrAdd { ptr, index, stride } => {
                let pointer = self.expr(terms, s, ptr);
                let by = self.scaled(terms, s, index, stride);
                self.moved(terms, pointer, by)
            }
            ExprKind::PtrDiff { left, right, stride } => {
                let (a, b) = (self.expr(terms, s, left), self.expr(terms, s, right));
                let (a, b) = (self.address(terms, a, b), self.address(terms, b, a));
                let bytes = terms.sub(a, b);
                let stride = terms.bv(self.layout.off_bits, stride);
                let count = terms.sdiv(bytes, stride);
                resize(terms, count, width, true)
            }
            ExprKind::ObjectSize(p) => {
                let p = self.expr(terms, s, p);
                let object = self.object(terms, p);
                terms.select(s.slots.get(self.layout.sizes), object)
            }
            // All other kinds are truth values.
            _ => {
                let cond = self.cond(terms, s, e);
                terms.bool_to_bv(cond)
            }
        }
    }

    /// The truth value of an expression of type `u1` as a Boolean term.
    pub fn cond(&mut self, terms: &mut Terms, s: &State, e: ExprId) -> Term {
        let program = self.program;
        match program.exprs[e].kind {
            ExprKind::Int(bits) => terms.bool_const(bits == 1),
            ExprKind::Unary(UnOp::Not, a) => {
                let a = self.cond(terms, s, a);
                terms.not(a)
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or | BinOp::Xor), a, b) => {
                let (a, b) = (self.cond(terms, s, a), self.cond(terms, s, b));
                match op {
                    BinOp::And => terms.and(a, b),
                    BinOp::Or => terms.or(a, b),
                    _ => terms.xor(a, b),
                }
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.cond(terms, s, c);
                let (a, b) = (self.cond(terms, s, a), self.cond(terms, s, b));
                terms.ite(c, a, b)
            }
            ExprKind::Cmp(op, a, b) => self.compare(terms, s, op, a, b),
            ExprKind::Overflow(op, a, b) => {
                let ty = program.exprs[a].ty;
                let right = program.exprs[b].ty;
                let (a, b) = (self.expr(terms, s, a), self.expr(terms, s, b));
                match ty {
                    Scalar::Int(t) => overflow(terms, t, op, a, b, right),
                    _ => terms.fls(),
                }
            }
            ExprKind::Valid { ptr, size } => {
                let pointer = self.expr(terms, s, ptr);
                let size = self.expr(terms, s, size);
                self.valid(terms, s, pointer, size)
            }
            ExprKind::Freeable(p) => {
                let pointer = self.expr(terms, s, p);
                let object = self.object(terms, pointer);
                let offset = self.offset(terms, pointer);
                let zero = terms.bv(self.layout.off_bits, 0);
                let at_start = terms.eq(offset, zero);
                let null = terms.bv(OBJ_BITS, 0);
                let is_null = terms.eq(object, null);
                let heap = self.has_status(terms, s, object, HEAP);
                let either = terms.or(is_null, heap);
                terms.and(at_start, either)
            }
            ExprKind::ReadOnly(p) => {
                let pointer = self.expr(terms, s, p);
                let object = self.object(terms, pointer);
                let mut any = terms.fls();
                let home = self.regions.points_to.lookup_value(program, p).map(|cell| cell.node);
                for (var, v) in program.vars.iter_enumerated() {
                    let lies = self.regions.points_to.home(var).map(|cell| cell.node);
                    if v.read_only && (home.is_none() || home == lies) {
                        let this = terms.bv(OBJ_BITS, self.layout.var_object(var));
                        let is = terms.eq(object, this);
                        any = terms.or(any, is);
                    }
                }
                any
            }
            ExprKind::Overlap(a, b, size) => {
                let (a, b) = (self.expr(terms, s, a), self.expr(terms, s, b));
                let size = self.expr(terms, s, size);
                let size = resize(terms, size, self.layout.off_bits, false);
                let (x, y) = (self.object(terms, a), self.object(terms, b));
                let same = terms.eq(x, y);
                let (a, b) = (self.offset(terms, a), self.offset(terms, b));
                let equal = terms.eq(a, b);
                let differ = terms.not(equal);
                // Whichever is behind the other one lies within its bytes.
                let (behind, before) = (terms.sub(a, b), terms.sub(b, a));
                let (behind, before) = (terms.ult(behind, size), terms.ult(before, size));
                let near = terms.or(behind, before);
                terms.and_all([same, differ, near])
            }
            ExprKind::HeapEmpty => self.heap_empty(terms, s),
            // An object that is alive may or may not be reachable; that none is alive is what can
            // be shown with certainty. A step may go on either way.
            ExprKind::HeapTracked => {
                let empty = self.heap_empty(terms, s);
                if self.at.is_none() || terms.bool_value(empty) == Some(true) {
                    return empty;
                }
                let choice = self.unknown(terms, Sort::BitVec(1), false);
                let one = terms.bv(1, 1);
                let reachable = terms.eq(choice, one);
                terms.or(empty, reachable)
            }
            _ => {
                let value = match program.exprs[e].kind {
                    ExprKind::Load(place) => self.load(terms, s, place),
                    ExprKind::Convert(a) => {
                        let from = program.exprs[a].ty;
                        let a = self.expr(terms, s, a);
                        self.convert(terms, from, Scalar::BOOL, a)
                    }
                    // Arithmetic on truth values does not come out of lowering.
                    _ => self.unknown(terms, Sort::BitVec(1), false),
                };
                let one = terms.bv(1, 1);
                terms.eq(value, one)
            }
        }
    }

    fn heap_empty(&mut self, terms: &mut Terms, s: &State) -> Term {
        let zero = terms.bv(COUNT_BITS, 0);
        terms.eq(s.slots.get(self.layout.heap_count), zero)
    }

    fn compare(&mut self, terms: &mut Terms, s: &State, op: CmpOp, a: ExprId, b: ExprId) -> Term {
        let ty = self.program.exprs[a].ty;
        if ty == Scalar::BOOL {
            let (a, b) = (self.cond(terms, s, a), self.cond(terms, s, b));
            return match op {
                CmpOp::Eq => terms.eq(a, b),
                CmpOp::Ne => terms.ne(a, b),
                CmpOp::Lt => {
                    let not_a = terms.not(a);
                    terms.and(not_a, b)
                }
                CmpOp::Le => terms.implies(a, b),
            };
        }
        let (x, y) = (a, b);
        let (a, b) = (self.expr(terms, s, a), self.expr(terms, s, b));
        match (op, ty) {
            (_, Scalar::Float(t)) => self.float_compare(terms, t, op, a, b),
            (CmpOp::Eq, Scalar::Ptr) => self.same_pointer(terms, s, (x, a), (y, b)),
            (CmpOp::Ne, Scalar::Ptr) => {
                let same = self.same_pointer(terms, s, (x, a), (y, b));
                terms.not(same)
            }
            (CmpOp::Eq, _) => terms.eq(a, b),
            (CmpOp::Ne, _) => terms.ne(a, b),
            (CmpOp::Lt, Scalar::Int(t)) if t.signed => terms.slt(a, b),
            (CmpOp::Le, Scalar::Int(t)) if t.signed => terms.sle(a, b),
            (CmpOp::Lt, Scalar::Int(_)) => terms.ult(a, b),
            (CmpOp::Le, Scalar::Int(_)) => terms.ule(a, b),
            (_, Scalar::Ptr) => {
                let (x, y) = (self.address(terms, a, b), self.address(terms, b, a));
                if op == CmpOp::Lt { terms.ult(x, y) } else { terms.ule(x, y) }
            }
        }
    }

    /// Whether two pointers are equal. Pointers into different objects differ, except where C leaves
    /// it open: one past the end of an object may be the start of another one (C11 6.5.9p6), and
    /// string literals may share their storage (C11 6.4.5p7).
    fn same_pointer(
        &mut self,
        terms: &mut Terms,
        s: &State,
        (x, a): (ExprId, Term),
        (y, b): (ExprId, Term),
    ) -> Term {
        let same = terms.eq(a, b);
        // What a step compares, a machine compares; a fact about a state means the pointers themselves.
        if self.at.is_none() {
            return same;
        }
        let (p, q) = (self.regions.target(self.program, x), self.regions.target(self.program, y));
        let literals = p.literal && q.literal;
        if !literals && !p.may_leave && !q.may_leave {
            return same;
        }
        let (oa, ob) = (self.object(terms, a), self.object(terms, b));
        let mut open = terms.ne(oa, ob);
        if terms.bool_value(open) == Some(false) {
            return same;
        }
        let null = terms.bv(OBJ_BITS, 0);
        for object in [oa, ob] {
            let real = terms.ne(object, null);
            open = terms.and(open, real);
        }
        if !literals {
            let mut outside = terms.fls();
            for (pointer, object) in [(a, oa), (b, ob)] {
                let size = terms.select(s.slots.get(self.layout.sizes), object);
                let offset = self.offset(terms, pointer);
                let past = terms.ule(size, offset);
                outside = terms.or(outside, past);
            }
            open = terms.and(open, outside);
        }
        if terms.bool_value(open) == Some(false) {
            return same;
        }
        let choice = self.unknown(terms, Sort::BitVec(1), false);
        let one = terms.bv(1, 1);
        let chosen = terms.eq(choice, one);
        let shared = terms.and(open, chosen);
        terms.or(same, shared)
    }

    /// A number for `a` that orders it relative to `b`: the offset within one object, else the
    /// address.
    fn address(&mut self, terms: &mut Terms, a: Term, b: Term) -> Term {
        let (oa, ob) = (self.object(terms, a), self.object(terms, b));
        let same = terms.eq(oa, ob);
        let offset = self.offset(terms, a);
        if terms.bool_value(same) == Some(true) {
            return offset;
        }
        let int = self.ptr_to_int(terms, a);
        terms.ite(same, offset, int)
    }

    fn has_status(&mut self, terms: &mut Terms, s: &State, object: Term, status: u64) -> Term {
        match self.layout.status {
            Some(slot) => {
                let status = terms.bv(STATUS_BITS, status);
                let found = terms.select(s.slots.get(slot), object);
                terms.eq(found, status)
            }
            None => terms.fls(),
        }
    }

    fn valid(&mut self, terms: &mut Terms, s: &State, pointer: Term, size: Term) -> Term {
        let object = self.object(terms, pointer);
        let offset = self.offset(terms, pointer);
        let dead = self.has_status(terms, s, object, DEAD);
        let live = terms.not(dead);
        let total = terms.select(s.slots.get(self.layout.sizes), object);
        let width = self.layout.off_bits;
        let size = resize(terms, size, width, false);
        let fits = terms.ule(size, total);
        let last = terms.sub(total, size);
        let inside = terms.ule(offset, last);
        let fits = terms.and(fits, inside);
        terms.and(live, fits)
    }

    /// C's conversion between scalar types.
    fn convert(&mut self, terms: &mut Terms, from: Scalar, to: Scalar, value: Term) -> Term {
        match (from, to) {
            (Scalar::Int(a), Scalar::Int(b)) => resize(terms, value, u32::from(b.bits), a.signed),
            (Scalar::Ptr, Scalar::Ptr) => value,
            (Scalar::Ptr, Scalar::Int(b)) => {
                let int = self.ptr_to_int(terms, value);
                resize(terms, int, u32::from(b.bits), false)
            }
            (Scalar::Int(a), Scalar::Ptr) => {
                let int = resize(terms, value, self.layout.off_bits, a.signed);
                self.int_to_ptr(terms, int)
            }
            (Scalar::Float(a), Scalar::Float(b)) if a == b => value,
            (Scalar::Float(_), Scalar::Ptr) | (Scalar::Ptr, Scalar::Float(_)) => {
                self.unknown(terms, Sort::BitVec(self.layout.bits(to)), false)
            }
            (from, to) => self.float_convert(terms, from, to, value),
        }
    }

    /// The address of a pointer: the offset itself for absolute addresses, else the object's
    /// unknown base plus the offset.
    pub(crate) fn ptr_to_int(&mut self, terms: &mut Terms, pointer: Term) -> Term {
        let object = self.object(terms, pointer);
        let offset = self.offset(terms, pointer);
        let zero = terms.bv(OBJ_BITS, 0);
        let absolute = terms.eq(object, zero);
        let base = terms.apply(self.base_of, &[object]);
        let address = terms.add(base, offset);
        let int = terms.ite(absolute, offset, address);
        if !terms.is_const(int) {
            self.pointer_of.insert(int, pointer);
        }
        int
    }

    /// The pointer with an address: the one it came from if that is known, an absolute one for a
    /// constant, by cases for a choice, and otherwise anything with that address.
    pub(crate) fn int_to_ptr(&mut self, terms: &mut Terms, int: Term) -> Term {
        if let Some(&pointer) = self.pointer_of.get(&int) {
            return pointer;
        }
        if let (palisade_logic::Op::Ite, &[cond, a, b]) = (terms.op(int), terms.args(int)) {
            let (a, b) = (self.int_to_ptr(terms, a), self.int_to_ptr(terms, b));
            let pointer = terms.ite(cond, a, b);
            self.pointer_of.insert(int, pointer);
            return pointer;
        }
        let object =
            if terms.is_const(int) { terms.bv(OBJ_BITS, 0) } else { terms.apply(self.object_of, &[int]) };
        let zero = terms.bv(OBJ_BITS, 0);
        let absolute = terms.eq(object, zero);
        let base = terms.apply(self.base_of, &[object]);
        let relative = terms.sub(int, base);
        let offset = terms.ite(absolute, int, relative);
        terms.concat(object, offset)
    }
}

fn int_binary(terms: &mut Terms, ty: IntTy, op: BinOp, a: Term, b: Term, right: Scalar) -> Term {
    match op {
        BinOp::Add => terms.add(a, b),
        BinOp::Sub => terms.sub(a, b),
        BinOp::Mul => terms.mul(a, b),
        BinOp::Div if ty.signed => terms.sdiv(a, b),
        BinOp::Div => terms.udiv(a, b),
        BinOp::Rem if ty.signed => terms.srem(a, b),
        BinOp::Rem => terms.urem(a, b),
        BinOp::And => terms.and(a, b),
        BinOp::Or => terms.or(a, b),
        BinOp::Xor => terms.bvxor(a, b),
        BinOp::Shl | BinOp::Shr => {
            let by = shift_amount(terms, ty, b, right);
            match op {
                BinOp::Shl => terms.shl(a, by),
                _ if ty.signed => terms.ashr(a, by),
                _ => terms.lshr(a, by),
            }
        }
    }
}

/// The right operand of a shift in the left one's width; an amount that does not fit is too large
/// in either width.
fn shift_amount(terms: &mut Terms, ty: IntTy, by: Term, right: Scalar) -> Term {
    let width = u32::from(ty.bits);
    let from = terms.width(by);
    if from <= width {
        let signed = right.int().is_some_and(|t| t.signed);
        return resize(terms, by, width, signed);
    }
    let limit = terms.bv(from, u64::from(width));
    let small = terms.ult(by, limit);
    let low = terms.extract(by, width - 1, 0);
    let all = terms.bv_signed(width, -1);
    terms.ite(small, low, all)
}

fn overflow(terms: &mut Terms, ty: IntTy, op: BinOp, a: Term, b: Term, right: Scalar) -> Term {
    match (op, ty.signed) {
        (BinOp::Add, true) => terms.saddo(a, b),
        (BinOp::Add, false) => terms.uaddo(a, b),
        (BinOp::Sub, true) => terms.ssubo(a, b),
        (BinOp::Sub, false) => terms.usubo(a, b),
        (BinOp::Mul, true) => terms.smulo(a, b),
        (BinOp::Mul, false) => terms.umulo(a, b),
        (BinOp::Div | BinOp::Rem, true) => terms.sdivo(a, b),
        (BinOp::Shl, signed) => {
            // The result leaves the type if shifting back does not give the operand. A distance that C does
            // not define has no result; no run goes on with it.
            let by = shift_amount(terms, ty, b, right);
            let limit = terms.bv(u32::from(ty.bits), u64::from(ty.bits));
            let defined = terms.ult(by, limit);
            let shifted = terms.shl(a, by);
            let back = if signed { terms.ashr(shifted, by) } else { terms.lshr(shifted, by) };
            let differs = terms.ne(back, a);
            terms.and(defined, differs)
        }
        _ => terms.fls(),
    }
}
