//! Expressions as terms.

use super::encoder::Encoder;
use super::state::*;
use palisade_cfa::*;
use palisade_logic::float::{self, Format, Rounding};
use palisade_logic::{BitVec, Sort, Term, Terms};

/// A constant of up to 128 bits.
pub fn constant(t: &mut Terms, width: u32, bits: u128) -> Term {
    t.bv_const(&BitVec::from_bits(width, |i| i < 128 && bits >> i & 1 == 1))
}

/// Truncates or extends.
pub fn resize(t: &mut Terms, value: Term, width: u32, signed: bool) -> Term {
    let from = t.width(value);
    if width <= from {
        t.extract(value, width - 1, 0)
    } else if signed {
        t.sign_extend(value, width - from)
    } else {
        t.zero_extend(value, width - from)
    }
}

fn format(ty: FloatTy) -> Format {
    match ty {
        FloatTy::F32 => float::F32,
        FloatTy::F64 => float::F64,
        FloatTy::F80 => float::X87,
    }
}

/// The number that the bits of a value stand for.
fn number(t: &mut Terms, ty: FloatTy, a: Term) -> Term {
    if ty == FloatTy::F80 { float::x87_from_memory(t, a) } else { a }
}

impl Encoder<'_> {
    /// The value of an expression; lowering bounds their depth, so recursion is safe.
    pub fn expr(&mut self, t: &mut Terms, s: &State, e: ExprId) -> Term {
        let p = self.program;
        let ty = p.exprs[e].ty;
        let width = self.layout.bits(ty);
        match p.exprs[e].kind {
            ExprKind::Int(bits) if ty == Scalar::Ptr => self.pointer_to(t, 0, bits),
            ExprKind::Int(bits) | ExprKind::Float(bits) => constant(t, width, bits),
            ExprKind::Load(place) => self.load(t, s, place),
            ExprKind::Addr(place) => self.address_of(t, s, place),
            ExprKind::Func(f) => {
                let object = self.layout.function(f);
                self.pointer_to(t, object, 0)
            }
            ExprKind::Unary(op, a) => {
                let a = self.expr(t, s, a);
                match (op, ty) {
                    (UnOp::Neg, Scalar::Float(_)) => {
                        let sign = t.bv(1, 1);
                        let rest = t.bv(width - 1, 0);
                        let mask = t.concat(sign, rest);
                        t.bvxor(a, mask)
                    }
                    (UnOp::Neg, _) => t.neg(a),
                    (UnOp::Not, _) => t.not(a),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let right = p.exprs[b].ty;
                let (a, b) = (self.expr(t, s, a), self.expr(t, s, b));
                match ty {
                    Scalar::Int(ty) => binary(t, ty, op, a, b, right),
                    Scalar::Float(ty) => self.float_binary(t, ty, op, a, b),
                    Scalar::Ptr => t.fresh_var("u", Sort::BitVec(width)),
                }
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.truth(t, s, c);
                let (a, b) = (self.expr(t, s, a), self.expr(t, s, b));
                t.ite(c, a, b)
            }
            ExprKind::Convert(a) => {
                let from = p.exprs[a].ty;
                let a = self.expr(t, s, a);
                self.convert(t, s, from, ty, a)
            }
            ExprKind::PtrAdd { ptr, index, stride } => {
                let pointer = self.expr(t, s, ptr);
                let by = self.scaled(t, s, index, stride);
                self.moved(t, pointer, by)
            }
            ExprKind::PtrDiff { left, right, stride } => {
                let (a, b) = (self.expr(t, s, left), self.expr(t, s, right));
                let (a, b) = self.comparable(t, a, b);
                let bytes = t.sub(a, b);
                let stride = t.bv(self.layout.width, stride);
                let count = t.sdiv(bytes, stride);
                resize(t, count, width, true)
            }
            ExprKind::ObjectSize(ptr) => {
                let pointer = self.expr(t, s, ptr);
                let object = self.object(t, pointer);
                let dead = self.has_status(t, s, object, DEAD);
                let total = t.select(s.get(self.layout.sizes), object);
                let zero = t.bv(self.layout.width, 0);
                t.ite(dead, zero, total)
            }
            ExprKind::Cmp(..)
            | ExprKind::Overflow(..)
            | ExprKind::Valid { .. }
            | ExprKind::Freeable(_)
            | ExprKind::ReadOnly(_)
            | ExprKind::Overlap(..)
            | ExprKind::HeapEmpty
            | ExprKind::HeapTracked => {
                let truth = self.truth(t, s, e);
                t.bool_to_bv(truth)
            }
        }
    }

    /// A truth value as a Boolean.
    pub fn truth(&mut self, t: &mut Terms, s: &State, e: ExprId) -> Term {
        let p = self.program;
        match p.exprs[e].kind {
            ExprKind::Int(bits) => t.bool_const(bits == 1),
            ExprKind::Unary(UnOp::Not, a) => {
                let a = self.truth(t, s, a);
                t.not(a)
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or | BinOp::Xor), a, b) => {
                let (a, b) = (self.truth(t, s, a), self.truth(t, s, b));
                match op {
                    BinOp::And => t.and(a, b),
                    BinOp::Or => t.or(a, b),
                    _ => t.xor(a, b),
                }
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.truth(t, s, c);
                let (a, b) = (self.truth(t, s, a), self.truth(t, s, b));
                t.ite(c, a, b)
            }
            ExprKind::Cmp(op, a, b) => {
                let ty = p.exprs[a].ty;
                let (a, b) = (self.expr(t, s, a), self.expr(t, s, b));
                self.compare(t, s, ty, op, a, b)
            }
            ExprKind::Overflow(op, a, b) => {
                let (left, right) = (p.exprs[a].ty, p.exprs[b].ty);
                let (a, b) = (self.expr(t, s, a), self.expr(t, s, b));
                match left {
                    Scalar::Int(ty) => overflow(t, ty, op, a, b, right),
                    _ => t.fls(),
                }
            }
            ExprKind::Valid { ptr, size } => {
                let pointer = self.expr(t, s, ptr);
                let size = self.expr(t, s, size);
                let size = resize(t, size, self.layout.width, false);
                let (object, offset) = (self.object(t, pointer), self.offset(t, pointer));
                let dead = self.has_status(t, s, object, DEAD);
                let alive = t.not(dead);
                let total = t.select(s.get(self.layout.sizes), object);
                let fits = t.ule(size, total);
                let last = t.sub(total, size);
                let inside = t.ule(offset, last);
                t.and_all([alive, fits, inside])
            }
            ExprKind::Freeable(ptr) => {
                let pointer = self.expr(t, s, ptr);
                let (object, offset) = (self.object(t, pointer), self.offset(t, pointer));
                let zero = t.bv(self.layout.width, 0);
                let at_start = t.eq(offset, zero);
                let none = t.bv(OBJECT, 0);
                let null = t.eq(object, none);
                let heap = self.has_status(t, s, object, HEAP);
                let either = t.or(null, heap);
                t.and(at_start, either)
            }
            ExprKind::ReadOnly(ptr) => {
                let pointer = self.expr(t, s, ptr);
                let object = self.object(t, pointer);
                self.literal(t, object)
            }
            ExprKind::Overlap(left, right, size) => {
                let (left, right) = (self.expr(t, s, left), self.expr(t, s, right));
                let size = self.expr(t, s, size);
                let size = resize(t, size, self.layout.width, false);
                let (first, second) = (self.object(t, left), self.object(t, right));
                let same = t.eq(first, second);
                let (left, right) = (self.offset(t, left), self.offset(t, right));
                // Neither ends before the other starts; the distance is computed where it is not negative.
                let order = t.ule(left, right);
                let (up, down) = (t.sub(right, left), t.sub(left, right));
                let distance = t.ite(order, up, down);
                let zero = t.bv(self.layout.width, 0);
                let none = t.eq(distance, zero);
                let apart = t.ule(size, distance);
                let either = t.or(none, apart);
                let near = t.not(either);
                t.and(same, near)
            }
            ExprKind::HeapEmpty => self.heap_empty(t, s),
            // Which live objects can be reached is not followed.
            ExprKind::HeapTracked => {
                let empty = self.heap_empty(t, s);
                let open = t.fresh_var("tracked", Sort::Bool);
                t.or(empty, open)
            }
            _ => {
                let value = self.expr(t, s, e);
                let one = t.bv(1, 1);
                t.eq(value, one)
            }
        }
    }

    fn heap_empty(&mut self, t: &mut Terms, s: &State) -> Term {
        let zero = t.bv(OBJECT, 0);
        t.eq(s.get(self.layout.count), zero)
    }

    fn has_status(&self, t: &mut Terms, s: &State, object: Term, status: u64) -> Term {
        let status = t.bv(STATUS, status);
        let found = t.select(s.get(self.layout.status), object);
        t.eq(found, status)
    }

    fn compare(&mut self, t: &mut Terms, s: &State, ty: Scalar, op: CmpOp, a: Term, b: Term) -> Term {
        match (ty, op) {
            (Scalar::Float(ty), _) => {
                let (a, b) = (number(t, ty, a), number(t, ty, b));
                match op {
                    CmpOp::Eq => float::eq(t, format(ty), a, b),
                    CmpOp::Ne => {
                        let equal = float::eq(t, format(ty), a, b);
                        t.not(equal)
                    }
                    CmpOp::Lt => float::lt(t, format(ty), a, b),
                    CmpOp::Le => float::le(t, format(ty), a, b),
                }
            }
            (Scalar::Ptr, CmpOp::Eq) => self.same_pointer(t, s, a, b),
            (Scalar::Ptr, CmpOp::Ne) => {
                let same = self.same_pointer(t, s, a, b);
                t.not(same)
            }
            (_, CmpOp::Eq) => t.eq(a, b),
            (_, CmpOp::Ne) => t.ne(a, b),
            (Scalar::Int(ty), CmpOp::Lt) if ty.signed => t.slt(a, b),
            (Scalar::Int(ty), CmpOp::Le) if ty.signed => t.sle(a, b),
            (Scalar::Int(_), CmpOp::Lt) => t.ult(a, b),
            (Scalar::Int(_), CmpOp::Le) => t.ule(a, b),
            (Scalar::Ptr, _) => {
                let (a, b) = self.comparable(t, a, b);
                if op == CmpOp::Lt { t.ult(a, b) } else { t.ule(a, b) }
            }
        }
    }

    /// Whether two pointers are equal. C leaves it open whether one past the end of an object is the
    /// start of another one (C11 6.5.9p6), and whether literals share their storage (C11 6.4.5p7).
    fn same_pointer(&mut self, t: &mut Terms, s: &State, a: Term, b: Term) -> Term {
        let same = t.eq(a, b);
        if !self.stepping {
            return same;
        }
        let (oa, ob) = (self.object(t, a), self.object(t, b));
        let mut open = t.ne(oa, ob);
        let mut outside = self.literal(t, oa);
        let other = self.literal(t, ob);
        outside = t.and(outside, other);
        for (pointer, object) in [(a, oa), (b, ob)] {
            let none = t.bv(OBJECT, 0);
            let real = t.ne(object, none);
            open = t.and(open, real);
            let size = t.select(s.get(self.layout.sizes), object);
            let offset = self.offset(t, pointer);
            let past = t.ule(size, offset);
            outside = t.or(outside, past);
        }
        open = t.and(open, outside);
        if t.bool_value(open) == Some(false) {
            return same;
        }
        let chosen = t.fresh_var("adjacent", Sort::Bool);
        let shared = t.and(open, chosen);
        t.or(same, shared)
    }

    /// Whether an object is a variable that nobody may write.
    fn literal(&self, t: &mut Terms, object: Term) -> Term {
        let mut any = t.fls();
        for &var in self.layout.exposed.iter().filter(|v| self.program.vars[**v].read_only) {
            let this = t.bv(OBJECT, self.layout.variable(var));
            let is = t.eq(object, this);
            any = t.or(any, is);
        }
        any
    }

    /// Two numbers that stand to each other as two pointers do: offsets in one object, else
    /// addresses.
    fn comparable(&mut self, t: &mut Terms, a: Term, b: Term) -> (Term, Term) {
        let (oa, ob) = (self.object(t, a), self.object(t, b));
        let same = t.eq(oa, ob);
        let mut one = |p: Term| {
            let (offset, address) = (self.offset(t, p), self.address(t, p));
            t.ite(same, offset, address)
        };
        (one(a), one(b))
    }

    fn convert(&mut self, t: &mut Terms, s: &State, from: Scalar, to: Scalar, a: Term) -> Term {
        let width = self.layout.bits(to);
        match (from, to) {
            (Scalar::Int(f), Scalar::Int(_)) => resize(t, a, width, f.signed),
            (Scalar::Ptr, Scalar::Ptr) => a,
            (Scalar::Ptr, Scalar::Int(_)) => {
                let address = self.address(t, a);
                resize(t, address, width, false)
            }
            (Scalar::Int(f), Scalar::Ptr) => {
                let address = resize(t, a, self.layout.width, f.signed);
                self.pointer_at(t, s, address)
            }
            (Scalar::Float(f), Scalar::Float(g)) if f == g => a,
            (Scalar::Float(f), Scalar::Float(g)) => {
                let a = number(t, f, a);
                let result = float::to_format(t, format(f), format(g), Rounding::NearestEven, a);
                self.computed(t, g, result)
            }
            (Scalar::Int(f), Scalar::Float(g)) => {
                let result = float::from_int(t, format(g), Rounding::NearestEven, a, f.signed);
                self.computed(t, g, result)
            }
            (Scalar::Float(f), Scalar::Int(g)) => {
                let a = number(t, f, a);
                let (int, fits) = float::to_int(t, format(f), Rounding::TowardZero, a, width, g.signed);
                let any = t.fresh_var("u", Sort::BitVec(width));
                t.ite(fits, int, any)
            }
            (Scalar::Float(_), Scalar::Ptr) | (Scalar::Ptr, Scalar::Float(_)) => {
                t.fresh_var("u", Sort::BitVec(width))
            }
        }
    }

    fn float_binary(&mut self, t: &mut Terms, ty: FloatTy, op: BinOp, a: Term, b: Term) -> Term {
        let (a, b) = (number(t, ty, a), number(t, ty, b));
        let operation = match op {
            BinOp::Add => float::add,
            BinOp::Sub => float::sub,
            BinOp::Mul => float::mul,
            BinOp::Div => float::div,
            _ => return t.fresh_var("u", Sort::BitVec(u32::from(ty.bits()))),
        };
        let result = operation(t, format(ty), Rounding::NearestEven, a, b);
        self.computed(t, ty, result)
    }

    /// The bits of a number that was computed. Which NaN an operation gives is left open.
    pub fn computed(&mut self, t: &mut Terms, ty: FloatTy, a: Term) -> Term {
        let nan = float::is_nan(t, format(ty), a);
        let bits = if ty == FloatTy::F80 { float::x87_to_memory(t, a) } else { a };
        if t.bool_value(nan) == Some(false) {
            return bits;
        }
        let width = u32::from(ty.bits());
        let any = t.fresh_var("some nan", Sort::BitVec(width));
        let read = number(t, ty, any);
        let is_nan = float::is_nan(t, format(ty), read);
        let fact = t.implies(nan, is_nan);
        self.facts.push(fact);
        t.ite(nan, any, bits)
    }

    /// The square root of a number.
    pub fn root(&mut self, t: &mut Terms, ty: FloatTy, a: Term) -> Term {
        let a = number(t, ty, a);
        let root = float::sqrt(t, format(ty), Rounding::NearestEven, a);
        self.computed(t, ty, root)
    }
}

fn binary(t: &mut Terms, ty: IntTy, op: BinOp, a: Term, b: Term, right: Scalar) -> Term {
    match op {
        BinOp::Add => t.add(a, b),
        BinOp::Sub => t.sub(a, b),
        BinOp::Mul => t.mul(a, b),
        BinOp::Div if ty.signed => t.sdiv(a, b),
        BinOp::Div => t.udiv(a, b),
        BinOp::Rem if ty.signed => t.srem(a, b),
        BinOp::Rem => t.urem(a, b),
        BinOp::And => t.and(a, b),
        BinOp::Or => t.or(a, b),
        BinOp::Xor => t.bvxor(a, b),
        BinOp::Shl => {
            let by = distance(t, ty, b, right);
            t.shl(a, by)
        }
        BinOp::Shr => {
            let by = distance(t, ty, b, right);
            if ty.signed { t.ashr(a, by) } else { t.lshr(a, by) }
        }
    }
}

/// How far a shift goes, in the type that is shifted. For a distance that C does not define, no run
/// goes on.
fn distance(t: &mut Terms, ty: IntTy, by: Term, right: Scalar) -> Term {
    resize(t, by, u32::from(ty.bits), right.int().is_some_and(|r| r.signed))
}

/// Whether the exact result leaves the type: computed in a wider one.
fn overflow(t: &mut Terms, ty: IntTy, op: BinOp, a: Term, b: Term, right: Scalar) -> Term {
    let bits = u32::from(ty.bits);
    let wide = 2 * bits + 1;
    let exact = match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul => {
            let (a, b) = (resize(t, a, wide, ty.signed), resize(t, b, wide, ty.signed));
            match op {
                BinOp::Add => t.add(a, b),
                BinOp::Sub => t.sub(a, b),
                _ => t.mul(a, b),
            }
        }
        // A distance that C does not define leaves nothing.
        BinOp::Shl => {
            let room = wide.max(t.width(b));
            let by = resize(t, b, room, right.int().is_some_and(|r| r.signed));
            let limit = t.bv(room, u64::from(bits));
            let defined = t.ult(by, limit);
            let a = resize(t, a, room, ty.signed);
            let exact = t.shl(a, by);
            let low = t.extract(exact, bits - 1, 0);
            let again = resize(t, low, room, ty.signed);
            let leaves = t.ne(again, exact);
            return t.and(defined, leaves);
        }
        BinOp::Div | BinOp::Rem if ty.signed => {
            let least = constant(t, bits, ty.min_bits());
            let minus_one = t.bv_signed(bits, -1);
            let (x, y) = (t.eq(a, least), t.eq(b, minus_one));
            return t.and(x, y);
        }
        _ => return t.fls(),
    };
    let low = t.extract(exact, bits - 1, 0);
    let again = resize(t, low, wide, ty.signed);
    t.ne(again, exact)
}
