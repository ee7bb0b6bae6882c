//! Atomic operations of the compiler: ordinary loads and stores in sequential code.

use crate::Lowerer;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_c_types::types::TypeTable;
use palisade_cfa::*;

impl Lowerer<'_> {
    /// An atomic operation whose operands were evaluated; its value if it has one.
    pub(crate) fn atomic(
        &mut self,
        e: TExprId,
        op: Builtin,
        args: &[TExprId],
        values: &[ExprId],
        span: Span,
    ) -> Option<ExprId> {
        let place = match op {
            Builtin::AtomicTestAndSet | Builtin::AtomicClear => {
                let ty = self.type_id(TypeTable::CHAR);
                self.pointed_to(values[0], ty)
            }
            _ => self.pointee(args[0], values[0])?,
        };
        let ty = self.pool.program.place_scalar(place)?;
        match op {
            Builtin::AtomicLoad => {
                self.check_read(place, span);
                let value = self.pool.load(place);
                Some(self.save(value, span))
            }
            Builtin::AtomicStore => {
                self.store_atomic(place, values[1], span);
                None
            }
            Builtin::AtomicClear => {
                let zero = self.pool.int(IntTy::I32, 0);
                self.store_atomic(place, zero, span);
                None
            }
            Builtin::AtomicExchange => {
                let old = self.old_contents(place, span);
                self.store_atomic(place, values[1], span);
                Some(old)
            }
            Builtin::AtomicTestAndSet => {
                let old = self.old_contents(place, span);
                let one = self.pool.int(IntTy::I32, 1);
                self.store_atomic(place, one, span);
                let was_set = self.pool.is_true(old);
                Some(self.converted_to(self.typed.exprs[e].ty.ty, was_set, span))
            }
            Builtin::AtomicFetchOp(op) => {
                let old = self.old_contents(place, span);
                let new = self.updated(op, old, values[1]);
                self.store_atomic(place, new, span);
                Some(old)
            }
            Builtin::AtomicOpFetch(op) => {
                let old = self.old_contents(place, span);
                let new = self.updated(op, old, values[1]);
                let new = self.save(new, span);
                self.store_atomic(place, new, span);
                Some(new)
            }
            Builtin::AtomicCasValue | Builtin::AtomicCasBool => {
                let old = self.old_contents(place, span);
                let expected = self.pool.convert(values[1], ty);
                let equal = self.pool.cmp(CmpOp::Eq, old, expected);
                let equal = self.save(equal, span);
                self.store_if(equal, place, values[2], None, span);
                let result = if op == Builtin::AtomicCasBool { equal } else { old };
                Some(self.converted_to(self.typed.exprs[e].ty.ty, result, span))
            }
            Builtin::AtomicCompareExchange => {
                let expected_at = self.pointee(args[1], values[1])?;
                let old = self.old_contents(place, span);
                self.check_read(expected_at, span);
                let expected = self.pool.load(expected_at);
                let expected = self.pool.convert(expected, ty);
                let equal = self.pool.cmp(CmpOp::Eq, old, expected);
                let equal = self.save(equal, span);
                self.store_if(equal, place, values[2], Some((expected_at, old)), span);
                Some(self.converted_to(self.typed.exprs[e].ty.ty, equal, span))
            }
            _ => None,
        }
    }

    /// What a pointer argument points to.
    fn pointee(&mut self, arg: TExprId, ptr: ExprId) -> Option<PlaceId> {
        let pointee = self.typed.types.pointee(self.typed.exprs[arg].ty.ty)?;
        let ty = self.type_id(pointee.ty);
        Some(self.pointed_to(ptr, ty))
    }

    fn old_contents(&mut self, place: PlaceId, span: Span) -> ExprId {
        self.check_read(place, span);
        let old = self.pool.load(place);
        self.save(old, span)
    }

    fn store_atomic(&mut self, place: PlaceId, value: ExprId, span: Span) {
        let Some(ty) = self.pool.program.place_scalar(place) else { return };
        self.check_write(place, span);
        let value = self.pool.convert(value, ty);
        self.assign(place, value, span);
    }

    /// Stores `value` if `cond` holds, otherwise what `or_else` says.
    fn store_if(
        &mut self,
        cond: ExprId,
        place: PlaceId,
        value: ExprId,
        or_else: Option<(PlaceId, ExprId)>,
        span: Span,
    ) {
        let (yes, no) = (self.at.graph.node(span), self.at.graph.node(span));
        let join = self.at.graph.node(span);
        self.split(cond, yes, no, span);
        self.at.graph.move_to(Some(yes));
        self.store_atomic(place, value, span);
        self.at.graph.jump(join);
        self.at.graph.move_to(Some(no));
        if let Some((place, value)) = or_else {
            self.store_atomic(place, value, span);
        }
        self.at.graph.enter(join);
    }

    /// The contents after an update. Atomic arithmetic wraps.
    fn updated(&mut self, op: AtomicOp, old: ExprId, value: ExprId) -> ExprId {
        let ty = self.pool.ty(old);
        if ty == Scalar::Ptr {
            return match op {
                AtomicOp::Add => self.offset_pointer(old, value, 1, false),
                AtomicOp::Sub => self.offset_pointer(old, value, 1, true),
                _ => {
                    let int = Scalar::Int(self.size_t());
                    let old = self.pool.convert(old, int);
                    let new = self.updated(op, old, value);
                    self.pool.convert(new, Scalar::Ptr)
                }
            };
        }
        let value = self.pool.convert(value, ty);
        match op {
            AtomicOp::Add => self.pool.binary(BinOp::Add, old, value),
            AtomicOp::Sub => self.pool.binary(BinOp::Sub, old, value),
            AtomicOp::And => self.pool.binary(BinOp::And, old, value),
            AtomicOp::Or => self.pool.binary(BinOp::Or, old, value),
            AtomicOp::Xor => self.pool.binary(BinOp::Xor, old, value),
            AtomicOp::Nand => {
                let both = self.pool.binary(BinOp::And, old, value);
                self.pool.unary(UnOp::Not, both)
            }
        }
    }
}
