//! Library functions that are operations of the automaton, when the program does not define them.

use crate::Lowerer;
use crate::call::Into;
use crate::contract::Contracts;
use crate::scan::Traits;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_cfa::*;

/// What `exit` and its kin do before the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    /// All that was registered, and destructors.
    Normal,
    /// What was registered with `at_quick_exit`.
    Quick,
    /// Nothing.
    AtOnce,
}

/// Operations that go by the name of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Nondet { input: bool },
    Assume,
    Allocate { size: usize, kind: AllocKind, may_fail: bool },
    AllocateZeroed,
    Exhausted,
    Free,
    CheckFreeable,
    CheckFree,
    Accessible { write: bool },
    SetErrno { surely: bool },
    ObjectSize,
    Exit(Exit),
    Abort,
    FailedAssertion,
    Assert,
    MemCopy { apart: bool },
    Apart,
    MemSet,
    Nothing,
}

fn operation(name: &str) -> Option<Operation> {
    use Operation::*;
    let heap = |size| Allocate { size, kind: AllocKind::Heap, may_fail: true };
    Some(match crate::compile::plain_name(name) {
        "__VERIFIER_assume" | "$assume" => Assume,
        "malloc" | "valloc" | "pvalloc" => heap(0),
        "memalign" | "aligned_alloc" => heap(1),
        "calloc" => AllocateZeroed,
        "alloca" => Allocate { size: 0, kind: AllocKind::Stack, may_fail: false },
        "$malloc" => Allocate { size: 0, kind: AllocKind::Heap, may_fail: false },
        "$exhausted" => Exhausted,
        "free" | "cfree" => Free,
        "$check_freeable" => CheckFreeable,
        "$check_free" => CheckFree,
        "$readable" => Accessible { write: false },
        "$writable" => Accessible { write: true },
        "$set_errno" => SetErrno { surely: true },
        "$maybe_errno" => SetErrno { surely: false },
        "$object_size" => ObjectSize,
        "exit" => Exit(self::Exit::Normal),
        "quick_exit" => Exit(self::Exit::Quick),
        "_exit" | "_Exit" => Exit(self::Exit::AtOnce),
        "abort" => Abort,
        "__assert_fail" | "__assert" | "__assert_rtn" | "__assert_perror_fail" => FailedAssertion,
        "assert" | "__VERIFIER_assert" => Assert,
        "memcpy" | "__memcpy_chk" => MemCopy { apart: true },
        "memmove" | "__memmove_chk" => MemCopy { apart: false },
        "$apart" => Apart,
        "memset" | "__memset_chk" => MemSet,
        "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end" => Nothing,
        _ if name.starts_with("__VERIFIER_nondet_") => Nondet { input: true },
        _ if name.starts_with("$input_") => Nondet { input: true },
        _ if name.starts_with("$unknown_") => Nondet { input: false },
        _ => return None,
    })
}

/// What matters about an external function for the order of evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    /// Nothing that others notice.
    Nothing,
    /// It reads what it is given.
    Reads,
    /// It may end the run.
    Ends,
    /// It may violate the property.
    Fails,
    /// It may change what it can reach.
    Anything,
}

/// What a function without body may do that others notice; `pointers` says whether it gets any.
pub(crate) fn does(name: &str, contracts: &Contracts, pointers: bool) -> Does {
    match operation(name) {
        Some(
            Operation::Nondet { .. }
            | Operation::Allocate { .. }
            | Operation::AllocateZeroed
            | Operation::Exhausted
            | Operation::ObjectSize
            | Operation::Nothing,
        ) => Does::Nothing,
        Some(Operation::Assume | Operation::Exit(_) | Operation::Abort) => Does::Ends,
        Some(Operation::FailedAssertion | Operation::Assert | Operation::Apart) => Does::Fails,
        Some(
            Operation::Free
            | Operation::CheckFreeable
            | Operation::CheckFree
            | Operation::Accessible { .. }
            | Operation::SetErrno { .. }
            | Operation::MemCopy { .. }
            | Operation::MemSet,
        ) => Does::Anything,
        None => match name {
            "__VERIFIER_error" | "reach_error" => Does::Fails,
            "printf" | "puts" | "putchar" | "fputs" | "fprintf" | "perror" => Does::Reads,
            _ if matches!(contracts.effect(name), Some(Effect::Native(_))) && !pointers => Does::Nothing,
            _ => Does::Anything,
        },
    }
}

/// Whether calls of a function that the program does not define are operations of the automaton,
/// not calls.
pub fn is_operation(function: &str) -> bool {
    operation(function).is_some()
}

/// Arguments of a library call as scalars.
struct Scalars<'a>(&'a [Arg]);

impl Lowerer<'_> {
    /// A call of a function without body that is an operation; `None` if it is not one. Inside is
    /// the value of the call, if one is wanted.
    pub(crate) fn library_call(&mut self, e: TExprId, f: FnId, into: Into) -> Option<Option<ExprId>> {
        let name = self.names.name(self.typed.funcs[f].name);
        let operation = operation(name)?;
        let span = self.span(e);
        let TExprKind::Call { ref args, .. } = *self.kind(e) else { return None };
        if args.len() < operation.arguments() {
            return None;
        }
        if let Operation::Nondet { input } = operation {
            return match self.scalar_of(e) {
                Some(ty) => {
                    if input && ty == Scalar::Ptr {
                        self.pool.program.assume(Assumed::PointersLeadOutside, self.at.func, span);
                    }
                    Some(self.deliver(e, into, ty, |dst| Op::Havoc { dst, input }))
                }
                None => Some(None),
            };
        }
        if operation == Operation::Assume {
            self.assume(args[0]);
            args[1..].iter().for_each(|&a| self.effects(a));
            return Some(self.no_result(e, into));
        }
        if matches!(into, Into::Nothing) && self.whole_objects(operation, args, span) {
            return Some(None);
        }
        let args = self.arguments(args);
        let args = Scalars(&args);
        Some(self.operation(e, operation, args, into, span))
    }

    fn operation(
        &mut self,
        e: TExprId,
        operation: Operation,
        args: Scalars,
        into: Into,
        span: Span,
    ) -> Option<ExprId> {
        match operation {
            Operation::Allocate { size, kind, may_fail } => {
                let size = self.size_arg(&args, size);
                let alloc = |dst| Op::Alloc { dst, size, kind, zeroed: false };
                if may_fail {
                    let fails = self.too_large(size);
                    self.allocation(e, fails, alloc, into, span)
                } else {
                    self.deliver(e, into, Scalar::Ptr, alloc)
                }
            }
            Operation::Exhausted => {
                let exhausted = match self.exhausted(span) {
                    Some(choice) => self.pool.convert_int(choice, IntTy::I32),
                    None => self.pool.int(IntTy::I32, 0),
                };
                self.give(exhausted, into, e)
            }
            Operation::AllocateZeroed => self.calloc(e, &args, into, span),
            Operation::Free => {
                let ptr = self.ptr_arg(&args, 0);
                self.check_freeable(ptr, span);
                self.emit(Op::Free { ptr }, span);
                self.no_result(e, into)
            }
            Operation::CheckFreeable => {
                let ptr = self.ptr_arg(&args, 0);
                self.check_freeable(ptr, span);
                self.no_result(e, into)
            }
            Operation::CheckFree => {
                let cond = self.scalar_arg(&args, 0, None);
                let cond = self.pool.is_true(cond);
                if self.options.checks.contains(CheckKind::Free) {
                    self.check(CheckKind::Free, cond, span);
                }
                self.no_result(e, into)
            }
            Operation::Accessible { write } => {
                let (ptr, size) = (self.ptr_arg(&args, 0), self.size_arg(&args, 1));
                self.check_bytes(ptr, size, write, span);
                self.no_result(e, into)
            }
            Operation::SetErrno { surely } => {
                self.set_errno(surely, span);
                self.no_result(e, into)
            }
            Operation::ObjectSize => {
                let ptr = self.ptr_arg(&args, 0);
                let size = self.pool.push(Scalar::Int(self.size_t()), ExprKind::ObjectSize(ptr));
                self.give(size, into, e)
            }
            Operation::Exit(how) => {
                let status = self.scalar_arg(&args, 0, Some(Scalar::Int(IntTy::I32)));
                let status = self.save(status, span);
                match how {
                    Exit::Normal => self.run_exit_handlers(status, span),
                    Exit::Quick => self.call_library(self.library.at_end.quick_exit, Box::new([]), span),
                    Exit::AtOnce => {}
                }
                self.at.graph.halt(Op::Halt { kind: HaltKind::Exit(status) }, span);
                self.no_result(e, into)
            }
            Operation::Abort => {
                self.abort(span);
                self.no_result(e, into)
            }
            Operation::FailedAssertion => {
                self.failed_assertion(span);
                self.no_result(e, into)
            }
            Operation::Assert => {
                let cond = self.scalar_arg(&args, 0, None);
                let cond = self.pool.is_true(cond);
                let (fine, bad) = (self.at.graph.node(span), self.at.graph.node(span));
                self.split(cond, fine, bad, span);
                self.at.graph.move_to(Some(bad));
                self.failed_assertion(span);
                self.at.graph.move_to(Some(fine));
                self.no_result(e, into)
            }
            Operation::Apart => {
                let (to, from) = (self.ptr_arg(&args, 0), self.ptr_arg(&args, 1));
                let size = self.size_arg(&args, 2);
                self.check_apart(to, from, size, span);
                self.no_result(e, into)
            }
            Operation::MemCopy { apart } => {
                let dst = self.ptr_arg(&args, 0);
                let src = self.ptr_arg(&args, 1);
                let len = self.size_arg(&args, 2);
                let dst = if matches!(into, Into::Nothing) { dst } else { self.save(dst, span) };
                self.check_bytes(src, len, false, span);
                self.check_bytes(dst, len, true, span);
                if apart {
                    self.check_apart(dst, src, len, span);
                }
                self.emit(Op::MemCopy { dst, src, len }, span);
                self.give(dst, into, e)
            }
            Operation::MemSet => {
                let dst = self.ptr_arg(&args, 0);
                let byte = self.scalar_arg(&args, 1, Some(Scalar::Int(IntTy { bits: 8, signed: false })));
                let len = self.size_arg(&args, 2);
                let dst = if matches!(into, Into::Nothing) { dst } else { self.save(dst, span) };
                self.check_bytes(dst, len, true, span);
                self.emit(Op::MemSet { dst, byte, len }, span);
                self.give(dst, into, e)
            }
            // The others were handled before their arguments were evaluated.
            Operation::Assume | Operation::Nothing | Operation::Nondet { .. } => self.no_result(e, into),
        }
    }

    /// `memcpy` and `memset` to zero of whole objects: nothing but an assignment, which needs no
    /// address.
    fn whole_objects(&mut self, operation: Operation, args: &[TExprId], span: Span) -> bool {
        if !matches!(operation, Operation::MemCopy { .. } | Operation::MemSet) {
            return false;
        }
        let &TExprKind::Int(len) = self.kind(args[2]) else { return false };
        let part = |this: &Self, e: TExprId| {
            let e = this.same_machine_value(e);
            let (TExprKind::AddrOf(place) | TExprKind::Decay(place)) = *this.kind(e) else { return None };
            let fits = this.typed.types.size_of(this.typed.exprs[place].ty.ty).map(u128::from) == Some(len);
            let plain = this.typed.is_lvalue(place) && !this.traits(place).has(Traits::EFFECT);
            (fits && plain && len > 0).then_some(place)
        };
        match operation {
            Operation::MemCopy { apart } => {
                let (Some(dst), Some(src)) = (part(self, args[0]), part(self, args[1])) else { return false };
                let aggregate = |this: &Self, e: TExprId| this.scalar_of(e).is_none();
                if !(aggregate(self, dst) && aggregate(self, src)) {
                    return false;
                }
                if apart && self.wants(CheckKind::Overlap) && !self.in_two_objects(dst, src) {
                    return false;
                }
                let (dst, src) = (self.place(dst), self.place(src));
                self.check_read(src, span);
                self.check_write(dst, span);
                self.emit(Op::Copy { dst, src }, span);
                true
            }
            Operation::MemSet if matches!(self.kind(args[1]), TExprKind::Int(0)) => {
                let Some(dst) = part(self, args[0]) else { return false };
                let dst = self.place(dst);
                self.check_write(dst, span);
                self.emit(Op::Zero { dst }, span);
                true
            }
            _ => false,
        }
    }

    /// Whether two lvalues are parts of two objects by their names.
    fn in_two_objects(&mut self, a: TExprId, b: TExprId) -> bool {
        let mut variable = |mut e: TExprId| {
            loop {
                match *self.kind(e) {
                    TExprKind::Object(obj) => return Some(self.var_of(obj)),
                    TExprKind::Member { base, .. } | TExprKind::Index { base, .. } => e = base,
                    _ => return None,
                }
            }
        };
        matches!((variable(a), variable(b)), (Some(x), Some(y)) if x != y)
    }

    /// The result of an operation that has none, should the program use one.
    fn no_result(&mut self, e: TExprId, into: Into) -> Option<ExprId> {
        match into {
            Into::Nothing => None,
            _ => {
                let value = self.unknown(e);
                self.give(value, into, e)
            }
        }
    }

    /// The program is wrong here, and ends.
    pub(crate) fn fail(&mut self, kind: CheckKind, span: Span) {
        let never = self.pool.truth(false);
        self.check(kind, never, span);
        self.at.graph.halt(Op::Halt { kind: HaltKind::Abort }, span);
    }

    /// An assertion fails, and the program aborts.
    fn failed_assertion(&mut self, span: Span) {
        let never = self.pool.truth(false);
        self.check(CheckKind::Assertion, never, span);
        self.abort(span);
    }

    /// Ends the program as `abort` does: a handler of its signal runs first.
    pub(crate) fn abort(&mut self, span: Span) {
        self.call_library(self.library.at_end.abort, Box::new([]), span);
        self.at.graph.halt(Op::Halt { kind: HaltKind::Abort }, span);
    }

    fn check_freeable(&mut self, ptr: ExprId, span: Span) {
        if self.options.checks.contains(CheckKind::Free) {
            let fine = self.pool.push(Scalar::BOOL, ExprKind::Freeable(ptr));
            self.check(CheckKind::Free, fine, span);
        }
    }

    /// Whether a size is more than any object has: then an allocation fails for sure, but for competitions,
    /// where it never does.
    fn too_large(&mut self, size: ExprId) -> Option<ExprId> {
        let ty = self.size_t();
        let most = self.pool.int(ty, i128::from(i64::MAX >> (64 - u32::from(ty.bits))));
        let fails = self.pool.cmp(CmpOp::Lt, most, size);
        let never = self.pool.constant(fails) == Some(0);
        (!never && !self.options.competition()).then_some(fails)
    }

    /// `calloc` fails where the product of its arguments is no size.
    fn calloc(&mut self, e: TExprId, args: &Scalars, into: Into, span: Span) -> Option<ExprId> {
        let (n, each) = (self.size_arg(args, 0), self.size_arg(args, 1));
        let size = self.pool.binary(BinOp::Mul, n, each);
        let alloc = |dst| Op::Alloc { dst, size, kind: AllocKind::Heap, zeroed: true };
        let ty = self.size_t();
        let known = match (self.pool.constant(n), self.pool.constant(each)) {
            (Some(x), Some(y)) => palisade_cfa::eval::eval_overflow(BinOp::Mul, ty, x, ty, y) == Some(false),
            (Some(..=1), _) | (_, Some(..=1)) => true,
            _ => false,
        };
        let overflow = (!known).then(|| self.pool.overflow(BinOp::Mul, n, each));
        self.allocation(e, overflow, alloc, into, span)
    }

    /// An allocation on the heap: gives a null pointer where it is known to fail, and anywhere if
    /// memory may be exhausted.
    fn allocation(
        &mut self,
        e: TExprId,
        fails: Option<ExprId>,
        alloc: impl FnOnce(PlaceId) -> Op,
        into: Into,
        span: Span,
    ) -> Option<ExprId> {
        let fails = match (fails, self.exhausted(span)) {
            (Some(a), Some(b)) => self.pool.or(a, b),
            (Some(fails), None) | (None, Some(fails)) => fails,
            (None, None) => return self.deliver(e, into, Scalar::Ptr, alloc),
        };
        let var = self.scalar_temp(Scalar::Ptr);
        let dst = self.pool.var(var);
        let (bad, fine) = (self.at.graph.node(span), self.at.graph.node(span));
        let join = self.at.graph.node(span);
        self.split(fails, bad, fine, span);
        self.at.graph.move_to(Some(bad));
        let null = self.pool.null();
        self.assign(dst, null, span);
        self.at.graph.jump(join);
        self.at.graph.move_to(Some(fine));
        self.emit(alloc(dst), span);
        self.at.graph.enter(join);
        let value = self.pool.load(dst);
        self.give(value, into, e)
    }

    /// Whether memory is exhausted at this moment, if it may ever be; otherwise that is assumed away.
    fn exhausted(&mut self, span: Span) -> Option<ExprId> {
        if self.options.malloc_may_fail {
            return Some(self.havoc(Scalar::BOOL, false, span));
        }
        self.pool.program.assume(Assumed::AllocationSucceeds, self.at.func, span);
        None
    }

    /// What runs at the normal end: the functions that were registered for it, then destructors.
    pub(crate) fn run_exit_handlers(&mut self, status: ExprId, span: Span) {
        self.call_library(self.library.at_end.exit, Box::new([Arg::Scalar(status)]), span);
        for f in self.in_order(|f| f.destructor).into_iter().rev() {
            self.call_plainly(f, span);
        }
    }

    /// Calls a function of the library source, if the program has it along.
    fn call_library(&mut self, f: Option<FnId>, args: Box<[Arg]>, span: Span) {
        if let Some(f) = f {
            let callee = Callee::Direct(self.func_of(f));
            self.emit(Op::Call { dst: None, callee, args }, span);
        }
    }

    fn scalar_arg(&mut self, args: &Scalars, i: usize, ty: Option<Scalar>) -> ExprId {
        let value = match args.0.get(i) {
            Some(Arg::Scalar(value)) => *value,
            // A record where a scalar belongs: only a wrong declaration can say so.
            _ => self.pool.int(IntTy::I32, 0),
        };
        match ty {
            Some(ty) => self.pool.convert(value, ty),
            None => value,
        }
    }

    fn ptr_arg(&mut self, args: &Scalars, i: usize) -> ExprId {
        self.scalar_arg(args, i, Some(Scalar::Ptr))
    }

    fn size_arg(&mut self, args: &Scalars, i: usize) -> ExprId {
        let ty = Scalar::Int(self.size_t());
        self.scalar_arg(args, i, Some(ty))
    }
}

impl Operation {
    /// How many arguments it needs.
    fn arguments(self) -> usize {
        match self {
            Operation::Nondet { .. }
            | Operation::Abort
            | Operation::Exhausted
            | Operation::FailedAssertion
            | Operation::SetErrno { .. }
            | Operation::Nothing => 0,
            Operation::Assume
            | Operation::Free
            | Operation::CheckFreeable
            | Operation::CheckFree
            | Operation::ObjectSize
            | Operation::Exit(_)
            | Operation::Assert => 1,
            Operation::Allocate { size, .. } => size + 1,
            Operation::AllocateZeroed | Operation::Accessible { .. } => 2,
            Operation::MemCopy { .. } | Operation::Apart | Operation::MemSet => 3,
        }
    }
}
