//! The `__sync_*` and `__atomic_*` families. Memory orders are evaluated and ignored: the
//! operations are sequentially consistent.

use palisade_base::Span;
use palisade_c_syntax::Symbol;

use super::Checker;
use crate::tast::*;
use crate::types::*;

/// An atomic operation by the shape of its arguments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum AtomicFn {
    /// `(p, v, …)`: the old or the new contents.
    Update(AtomicOp, bool),
    /// `__sync_bool_compare_and_swap(p, old, new)`
    SyncCasBool,
    /// `__sync_val_compare_and_swap(p, old, new)`
    SyncCasValue,
    /// `(p, v, …)`: `__sync_lock_test_and_set` and `__atomic_exchange_n`
    Exchange,
    /// `__sync_lock_release(p)`
    Release,
    Fence,
    LoadN,
    StoreN,
    CompareExchangeN,
    /// `__atomic_load(p, result *, order)`
    Load,
    /// `__atomic_store(p, value *, order)`
    Store,
    /// `__atomic_exchange(p, value *, result *, order)`
    ExchangeThrough,
    /// `__atomic_compare_exchange(p, expected *, desired *, …)`
    CompareExchange,
    TestAndSet,
    Clear,
    /// `__atomic_always_lock_free(size, p)` and `__atomic_is_lock_free`
    LockFree,
}

/// All names of the two families.
pub(crate) fn names() -> Vec<(String, AtomicFn)> {
    use AtomicFn as F;
    let mut out = Vec::new();
    for (word, op) in [
        ("add", AtomicOp::Add),
        ("sub", AtomicOp::Sub),
        ("and", AtomicOp::And),
        ("or", AtomicOp::Or),
        ("xor", AtomicOp::Xor),
        ("nand", AtomicOp::Nand),
    ] {
        out.push((format!("__sync_fetch_and_{word}"), F::Update(op, false)));
        out.push((format!("__sync_{word}_and_fetch"), F::Update(op, true)));
        out.push((format!("__atomic_fetch_{word}"), F::Update(op, false)));
        out.push((format!("__atomic_{word}_fetch"), F::Update(op, true)));
    }
    for (name, f) in [
        ("__sync_bool_compare_and_swap", F::SyncCasBool),
        ("__sync_val_compare_and_swap", F::SyncCasValue),
        ("__sync_lock_test_and_set", F::Exchange),
        ("__sync_lock_release", F::Release),
        ("__sync_synchronize", F::Fence),
        ("__atomic_thread_fence", F::Fence),
        ("__atomic_signal_fence", F::Fence),
        ("__atomic_load_n", F::LoadN),
        ("__atomic_store_n", F::StoreN),
        ("__atomic_exchange_n", F::Exchange),
        ("__atomic_compare_exchange_n", F::CompareExchangeN),
        ("__atomic_load", F::Load),
        ("__atomic_store", F::Store),
        ("__atomic_exchange", F::ExchangeThrough),
        ("__atomic_compare_exchange", F::CompareExchange),
        ("__atomic_test_and_set", F::TestAndSet),
        ("__atomic_clear", F::Clear),
        ("__atomic_always_lock_free", F::LockFree),
        ("__atomic_is_lock_free", F::LockFree),
    ] {
        out.push((name.to_string(), f));
    }
    out
}

impl Checker<'_> {
    pub(super) fn atomic(&mut self, f: AtomicFn, name: Symbol, values: Vec<TExprId>, span: Span) -> TExprId {
        use AtomicFn as F;
        let least = match f {
            F::Fence => 0,
            F::Release | F::LoadN | F::TestAndSet | F::Clear | F::LockFree => 1,
            F::Update(..) | F::Exchange | F::StoreN | F::Load | F::Store => 2,
            F::SyncCasBool
            | F::SyncCasValue
            | F::CompareExchangeN
            | F::ExchangeThrough
            | F::CompareExchange => 3,
        };
        if values.len() < least {
            self.error(span, format!("too few arguments to {}", self.name(name)));
            return self.error_expr(span);
        }
        match f {
            F::Fence => return self.builtin_node(Builtin::Fence, Vec::new(), TypeTable::VOID, span),
            F::LockFree => return self.int_const(1, TypeTable::BOOL, span),
            F::TestAndSet | F::Clear => {
                let void_ptr = self.prog.types.void_ptr();
                let p = self.assign_convert(values[0], void_ptr, "argument");
                return match f {
                    F::Clear => self.builtin_node(Builtin::AtomicClear, vec![p], TypeTable::VOID, span),
                    _ => self.builtin_node(Builtin::AtomicTestAndSet, vec![p], TypeTable::BOOL, span),
                };
            }
            _ => {}
        }
        let p = values[0];
        let ty = match self.prog.types.pointee(self.ty(p)) {
            Some(to) if self.prog.types.is_scalar(to.ty) => to.ty,
            _ => {
                self.error(span, format!("the first argument of {} must point to a number", self.name(name)));
                return self.error_expr(span);
            }
        };
        let is_pointer = self.prog.types.pointee(ty).is_some();
        match f {
            F::Update(op, new) => {
                let operand = if is_pointer { self.prog.types.ptrdiff_t() } else { ty };
                let v = self.assign_convert(values[1], operand, "argument");
                let op = if new { Builtin::AtomicOpFetch(op) } else { Builtin::AtomicFetchOp(op) };
                self.builtin_node(op, vec![p, v], ty, span)
            }
            F::SyncCasBool | F::SyncCasValue => {
                let old = self.assign_convert(values[1], ty, "argument");
                let new = self.assign_convert(values[2], ty, "argument");
                match f {
                    F::SyncCasBool => {
                        self.builtin_node(Builtin::AtomicCasBool, vec![p, old, new], TypeTable::BOOL, span)
                    }
                    _ => self.builtin_node(Builtin::AtomicCasValue, vec![p, old, new], ty, span),
                }
            }
            F::Exchange => {
                let v = self.assign_convert(values[1], ty, "argument");
                self.builtin_node(Builtin::AtomicExchange, vec![p, v], ty, span)
            }
            F::Release => {
                let zero = self.int_const(0, TypeTable::INT, span);
                let zero = self.convert(zero, ty);
                self.builtin_node(Builtin::AtomicStore, vec![p, zero], TypeTable::VOID, span)
            }
            F::LoadN => self.builtin_node(Builtin::AtomicLoad, vec![p], ty, span),
            F::StoreN => {
                let v = self.assign_convert(values[1], ty, "argument");
                self.builtin_node(Builtin::AtomicStore, vec![p, v], TypeTable::VOID, span)
            }
            F::CompareExchangeN => {
                let v = self.assign_convert(values[2], ty, "argument");
                let args = vec![p, values[1], v];
                self.builtin_node(Builtin::AtomicCompareExchange, args, TypeTable::BOOL, span)
            }
            F::Load => {
                let result = self.deref(values[1], span);
                let value = self.builtin_node(Builtin::AtomicLoad, vec![p], ty, span);
                self.store_result(result, value, span)
            }
            F::Store => {
                let v = self.read_through(values[1], ty, span);
                self.builtin_node(Builtin::AtomicStore, vec![p, v], TypeTable::VOID, span)
            }
            F::ExchangeThrough => {
                let v = self.read_through(values[1], ty, span);
                let old = self.builtin_node(Builtin::AtomicExchange, vec![p, v], ty, span);
                let result = self.deref(values[2], span);
                self.store_result(result, old, span)
            }
            F::CompareExchange => {
                let v = self.read_through(values[2], ty, span);
                let args = vec![p, values[1], v];
                self.builtin_node(Builtin::AtomicCompareExchange, args, TypeTable::BOOL, span)
            }
            F::Fence | F::LockFree | F::TestAndSet | F::Clear => self.error_expr(span),
        }
    }

    fn read_through(&mut self, ptr: TExprId, ty: CTypeId, span: Span) -> TExprId {
        let place = self.deref(ptr, span);
        let value = self.value_of(place);
        self.assign_convert(value, ty, "argument")
    }

    fn store_result(&mut self, place: TExprId, value: TExprId, span: Span) -> TExprId {
        if !self.modifiable(place, span) || self.is_error(value) {
            return self.error_expr(span);
        }
        let ty = self.ty(place);
        let value = self.assign_convert(value, ty, "argument");
        let assign = self.push(TExprKind::Assign { lhs: place, rhs: value }, ty, span);
        self.convert(assign, TypeTable::VOID)
    }
}
