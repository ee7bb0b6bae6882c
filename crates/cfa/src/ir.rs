//! Locations, edges, operations, expressions and places.
//!
//! Everything lives in arenas of one [`Program`] and is named by small indices, so that states of
//! an analysis are cheap and a pass can share what it does not change.

use crate::assumption::Assumption;
use crate::effect::Effect;
use crate::types::*;
use palisade_base::{IdxVec, Span};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;

palisade_base::idx! {
    /// A function.
    pub struct FuncId = "f";
    /// A control location; the number is unique in the whole program.
    pub struct LocId = "L";
    /// An edge between two locations of one function.
    pub struct EdgeId = "e";
    /// A variable: global, parameter, local or temporary.
    pub struct VarId = "v";
    /// A pure expression.
    pub struct ExprId = "x";
    /// A piece of memory.
    pub struct PlaceId = "p";
}

/// A whole program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// Sizes of pointers and `long`.
    pub data_model: DataModel,
    /// Object types.
    pub types: IdxVec<TypeId, Type>,
    /// All variables of all functions.
    pub vars: IdxVec<VarId, Var>,
    /// All functions, with and without a body.
    pub funcs: IdxVec<FuncId, Function>,
    /// All locations of all functions.
    pub locs: IdxVec<LocId, Loc>,
    /// All edges of all functions.
    pub edges: IdxVec<EdgeId, Edge>,
    /// All expressions.
    pub exprs: IdxVec<ExprId, Expr>,
    /// All places.
    pub places: IdxVec<PlaceId, Place>,
    /// Where execution starts: no parameters; globals hold their [`Init`] images then.
    pub entry: FuncId,
    /// What was taken for granted when the automaton was made; not part of its text form.
    pub assumptions: Vec<Assumption>,
    /// The enumerators of integer types that are enumerations, with the bits of their values; only people who look
    /// at values need them, and the text form leaves them out.
    pub enumerations: BTreeMap<TypeId, Vec<(u128, Arc<str>)>>,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name in the source.
    pub name: Arc<str>,
    /// A [`Type::Func`].
    pub ty: TypeId,
    /// Where it is defined or first declared.
    pub span: Span,
    /// The graph, unless the function is only declared.
    pub body: Option<Body>,
    /// What a call does where there is no body.
    pub effect: Effect,
}

/// The graph of a function. Its locations are those whose [`Loc::func`] is the function.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// Parameters in order, assigned by the call.
    pub params: Vec<VarId>,
    /// All other variables of the function, including temporaries.
    pub locals: Vec<VarId>,
    /// Where it starts.
    pub entry: LocId,
    /// Where every [`Op::Return`] leads; it has no outgoing edge.
    pub exit: LocId,
}

/// What a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum VarKind {
    /// Lives as long as the program: file scope, `static`, string literals, constant tables.
    Global,
    /// A parameter.
    Param(FuncId),
    /// A variable with a name in the source.
    Local(FuncId),
    /// Made by lowering.
    Temp(FuncId),
}

/// A variable. One whose address is never taken is a plain register.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// Name in the source, or a made-up one that starts with `.`.
    pub name: Arc<str>,
    /// Type of the object.
    pub ty: TypeId,
    /// Global, parameter, local or temporary.
    pub kind: VarKind,
    /// Whether some [`ExprKind::Addr`] mentions it.
    pub address_taken: bool,
    /// For globals only: the contents at the start.
    pub init: Init,
    /// Whether writing to it is an error (string literals).
    pub read_only: bool,
    /// Declaration; [`Span::NONE`] for temporaries.
    pub span: Span,
    /// The source text in which the name is visible.
    pub scope: Span,
}

impl Var {
    /// A variable that is not in the source: a register that holds anything at first. Its name starts with `.`.
    pub fn made_up(name: impl Into<Arc<str>>, ty: TypeId, kind: VarKind) -> Var {
        Var {
            name: name.into(),
            ty,
            kind,
            address_taken: false,
            init: Init::Unknown,
            read_only: false,
            span: Span::NONE,
            scope: Span::NONE,
        }
    }

    /// A global that is not in the source and is zero at first.
    pub fn made_up_global(name: impl Into<Arc<str>>, ty: TypeId) -> Var {
        Var { init: Init::Image(Vec::new()), ..Var::made_up(name, ty, VarKind::Global) }
    }
}

/// Contents of a global when the program starts.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// Anything: locals, and `extern` objects that nobody defines.
    Unknown,
    /// All bytes zero except for these items, sorted by offset, not overlapping.
    Image(Vec<InitItem>),
}

/// A scalar or a run of bytes at a place of an [`Init::Image`].
#[derive(Clone, PartialEq, Debug)]
pub struct InitItem {
    /// Byte offset in the object.
    pub offset: u64,
    /// Its value.
    pub value: InitValue,
}

/// A constant in an [`Init::Image`].
#[derive(Clone, PartialEq, Debug)]
pub enum InitValue {
    /// Plain bytes (string literals, packed constant tables, bit-field units).
    Bytes(Arc<[u8]>),
    /// An integer, stored in as many bytes as its type's storage has.
    Int(IntTy, u128),
    /// A floating-point number by its bits.
    Float(FloatTy, u128),
    /// The address of a global plus a byte offset.
    Addr(VarId, i64),
    /// The address of a function.
    Func(FuncId),
    /// A constant address (a null pointer, or a number cast to a pointer).
    Absolute(u64),
}

/// A control location.
#[derive(Clone, PartialEq, Debug)]
pub struct Loc {
    /// The function it belongs to.
    pub func: FuncId,
    /// Outgoing edges, in source order (the true branch first).
    pub out: SmallVec<[EdgeId; 2]>,
    /// Incoming edges.
    pub inc: SmallVec<[EdgeId; 2]>,
    /// The statement or expression that is evaluated next.
    pub span: Span,
    /// For the location before the controlling expression of a `while`, `for` or `do` loop (the
    /// place a loop invariant speaks of): the position of the keyword.
    pub loop_stmt: Option<Span>,
    /// Label in the source at this location.
    pub label: Option<Arc<str>>,
}

/// One step.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// Where it starts.
    pub src: LocId,
    /// Where it leads.
    pub dst: LocId,
    /// What it does.
    pub op: Op,
    /// The source it stands for.
    pub span: Span,
}

/// An operation.
///
/// Operations are total: a load or store through a bad pointer, a division by zero or a shift by
/// too much ends the run in the interpreter; analyses may take any value for it. Whether that is a
/// *violation* is said by the [`Op::Check`] that lowering puts before the operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// Nothing.
    Skip,
    /// Stores the value of a scalar expression.
    Assign {
        /// A scalar place (possibly a bit-field) of the expression's type.
        dst: PlaceId,
        /// The value.
        src: ExprId,
    },
    /// Copies an aggregate; both places have the same size, and may be the same object.
    Copy {
        /// Where to.
        dst: PlaceId,
        /// Where from.
        src: PlaceId,
    },
    /// Sets all bytes of a place to zero.
    Zero {
        /// A place of any type.
        dst: PlaceId,
    },
    /// Goes on only if the condition (a truth value) is 1. Where several edges leave a location, the
    /// interpreter takes the first that is enabled.
    Assume {
        /// A truth value.
        cond: ExprId,
    },
    /// Stores any value of the place's type.
    Havoc {
        /// Where to; all its bytes become arbitrary.
        dst: PlaceId,
        /// Whether the value is an input of the program (`__VERIFIER_nondet_*`), chosen by the
        /// user of the interpreter and listed in counterexamples. Otherwise it is an unknown of
        /// the model (an external function's result, an uninitialised local, an `asm` output).
        input: bool,
    },
    /// Calls a function. With a body: arguments are assigned to its parameters and control passes
    /// through the body. Without one it has its [`Function::effect`] and stores any value into
    /// `dst`, unless the effect says which.
    Call {
        /// Where the result goes; which place that is, is found out after the call.
        dst: Option<PlaceId>,
        /// Whom.
        callee: Callee,
        /// Arguments, one for each parameter; more only for external variadic functions.
        args: Box<[Arg]>,
    },
    /// Leaves the function; leads to [`Body::exit`].
    Return {
        /// The result.
        value: Option<Arg>,
    },
    /// Makes a new object of `size` bytes and stores a pointer to its first byte. Never fails.
    Alloc {
        /// A pointer place.
        dst: PlaceId,
        /// Size in bytes, of type `size_t`.
        size: ExprId,
        /// How long it lives.
        kind: AllocKind,
        /// Whether its bytes are zero; otherwise they are arbitrary.
        zeroed: bool,
    },
    /// Ends the life of a heap object; a null pointer is left alone.
    Free {
        /// The pointer.
        ptr: ExprId,
    },
    /// Copies `len` bytes as `memmove` does.
    MemCopy {
        /// Destination pointer.
        dst: ExprId,
        /// Source pointer.
        src: ExprId,
        /// Number of bytes, of type `size_t`.
        len: ExprId,
    },
    /// Sets `len` bytes.
    MemSet {
        /// Destination pointer.
        dst: ExprId,
        /// The byte, an integer expression of type `u8`.
        byte: ExprId,
        /// Number of bytes, of type `size_t`.
        len: ExprId,
    },
    /// A local comes to life with arbitrary contents (its block is entered, or its declaration is
    /// passed again). Emitted for every local and for address-taken temporaries.
    Enter {
        /// A local.
        var: VarId,
    },
    /// A local's life ends; pointers to it dangle. Emitted for address-taken locals at block
    /// exit; all locals of a function also die when it returns.
    Leave {
        /// A local.
        var: VarId,
    },
    /// If the condition is 0 the program is wrong in the given way and the run ends.
    Check {
        /// In which way.
        kind: CheckKind,
        /// A truth value.
        cond: ExprId,
    },
    /// The program ends here, normally; the destination has no outgoing edge.
    Halt {
        /// `exit` (with its status) or `abort`.
        kind: HaltKind,
    },
}

/// How a program ends other than by returning from its entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HaltKind {
    /// `exit(status)`.
    Exit(ExprId),
    /// `abort()` and everything that ends alike.
    Abort,
}

/// Whom a call reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// This function.
    Direct(FuncId),
    /// The function a pointer holds.
    Indirect(ExprId),
}

/// A value that is passed or returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A scalar.
    Scalar(ExprId),
    /// The contents of an aggregate.
    Aggregate(PlaceId),
}

/// Where an allocated object lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AllocKind {
    /// Until it is freed.
    Heap,
    /// Until the function returns (`alloca`), or its [`Op::Free`] at block exit (a VLA).
    Stack,
}

/// In which way a program can be wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum CheckKind {
    /// An `assert` fails.
    Assertion,
    /// A function that a property forbids is called.
    ForbiddenCall,
    /// `__builtin_unreachable` is reached.
    Unreachable,
    /// A signed `+ - * / %` or unary minus leaves its type.
    SignedOverflow,
    /// A signed left shift leaves its type.
    ShiftOverflow,
    /// A shift by a negative amount or by the width or more.
    ShiftRange,
    /// Division or remainder by zero.
    DivByZero,
    /// A load or store outside a live object.
    Deref,
    /// An index outside the array it is applied to, inside the object or not.
    Bounds,
    /// `free` of what is not the start of a live heap object.
    Free,
    /// A heap object is alive at the end and nothing points to it any more.
    MemTrack,
    /// A heap object is alive at the end.
    MemCleanup,
    /// A write to a read-only object.
    ReadOnly,
    /// A floating-point value converted to an integer type that cannot hold it.
    FloatToInt,
    /// A variable length array with a length that is not positive.
    ArrayLength,
    /// A function is called through a type that does not fit its definition.
    CallType,
    /// Source and target of a library function overlap that must not.
    Overlap,
    /// An observer automaton is in an error state.
    Observer,
}

impl CheckKind {
    /// All kinds.
    pub const ALL: [CheckKind; 18] = [
        CheckKind::Assertion,
        CheckKind::ForbiddenCall,
        CheckKind::Unreachable,
        CheckKind::SignedOverflow,
        CheckKind::ShiftOverflow,
        CheckKind::ShiftRange,
        CheckKind::DivByZero,
        CheckKind::Deref,
        CheckKind::Bounds,
        CheckKind::Free,
        CheckKind::MemTrack,
        CheckKind::MemCleanup,
        CheckKind::ReadOnly,
        CheckKind::FloatToInt,
        CheckKind::ArrayLength,
        CheckKind::CallType,
        CheckKind::Overlap,
        CheckKind::Observer,
    ];
}

/// A pure expression with its type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Expr {
    /// Type of the value.
    pub ty: Scalar,
    /// What it computes.
    pub kind: ExprKind,
}

/// What an expression computes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExprKind {
    /// The integer with these value bits (truncated to the type); with type [`Scalar::Ptr`] an
    /// absolute address, 0 being the null pointer.
    Int(u128),
    /// The floating-point number with these bits.
    Float(u128),
    /// The contents of a scalar place; for a bit-field an integer of its width.
    Load(PlaceId),
    /// A pointer to a place (never a bit-field).
    Addr(PlaceId),
    /// A pointer to a function.
    Func(FuncId),
    /// An operator on one operand of the same type.
    Unary(UnOp, ExprId),
    /// An operator on two operands of the result's type; the right operand of a shift may be of
    /// any integer type.
    Binary(BinOp, ExprId, ExprId),
    /// A comparison of two operands of one type; a truth value. Pointers into one object compare
    /// by offset.
    Cmp(CmpOp, ExprId, ExprId),
    /// The second operand if the first (a truth value) is 1, otherwise the third; the other one
    /// is not evaluated.
    Ite(ExprId, ExprId, ExprId),
    /// C's conversion of a scalar to the type of this expression: integers are truncated or
    /// extended by the *operand's* signedness; floating-point values round to nearest even when
    /// they lose precision and toward zero when they become integers; pointers and integers keep
    /// their bits.
    Convert(ExprId),
    /// The pointer `index * stride` bytes further; the index is of any integer type and counts as
    /// the mathematical integer it is. The address wraps at the width of a pointer; the pointer
    /// still belongs to the same object.
    PtrAdd {
        /// The pointer.
        ptr: ExprId,
        /// How many elements.
        index: ExprId,
        /// Bytes of an element.
        stride: u64,
    },
    /// `(left - right) / stride`, of type `ptrdiff_t`.
    PtrDiff {
        /// Minuend.
        left: ExprId,
        /// Subtrahend.
        right: ExprId,
        /// Bytes of an element, at least 1.
        stride: u64,
    },
    /// Whether the mathematical result of a binary operator (`Add`, `Sub`, `Mul`, `Div`, `Rem`,
    /// `Shl`) leaves the operands' integer type; a truth value.
    Overflow(BinOp, ExprId, ExprId),
    /// Whether `size` bytes (of type `size_t`) from the pointer on lie inside one live object; a
    /// truth value.
    Valid {
        /// The pointer.
        ptr: ExprId,
        /// Number of bytes.
        size: ExprId,
    },
    /// Whether a pointer is null or the start of a live heap object; a truth value.
    Freeable(ExprId),
    /// Bytes from the pointer's object's start to its end, of type `size_t`; 0 for a bad pointer.
    ObjectSize(ExprId),
    /// Whether a pointer points to a read-only object; a truth value.
    ReadOnly(ExprId),
    /// Whether as many bytes (the last operand, of type `size_t`) from one pointer on as from another have one in
    /// common, and the pointers differ; a truth value.
    Overlap(ExprId, ExprId, ExprId),
    /// Whether no heap object is alive; a truth value.
    HeapEmpty,
    /// Whether every live heap object can be reached from a variable through pointers; a truth
    /// value.
    HeapTracked,
}

/// Operators on one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// Two's complement or floating-point negation.
    Neg,
    /// All bits inverted; negation of a truth value.
    Not,
}

/// Operators on two operands. Integers wrap. `Div`, `Rem` and `Shr` go by the type's signedness.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Division; toward zero for integers.
    Div,
    /// Remainder with the sign of the dividend; integers only.
    Rem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Left shift.
    Shl,
    /// Right shift, arithmetic if the type is signed.
    Shr,
}

/// Comparisons. Ordered floating-point comparisons are false on NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CmpOp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less than.
    Lt,
    /// Less or equal.
    Le,
}

/// A piece of memory: a base and a way into it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Where it starts.
    pub base: Base,
    /// Fields and indices from there on.
    pub path: SmallVec<[Proj; 2]>,
    /// Type of the piece; for a bit-field the declared type.
    pub ty: TypeId,
    /// Set for a bit-field, counted from the byte the path leads to.
    pub bits: Option<BitRange>,
}

/// Where a place starts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// At a variable.
    Var(VarId),
    /// At what a pointer points to.
    Deref(ExprId),
}

/// A step of a place's path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proj {
    /// A member of a struct or union.
    Field {
        /// The record type.
        record: TypeId,
        /// Number of the member in [`Record::fields`].
        field: u32,
    },
    /// An element of an array.
    Index {
        /// Element number: an integer of any type, counted as the mathematical integer it is;
        /// addresses wrap at the width of a pointer.
        index: ExprId,
        /// Bytes of an element.
        stride: u64,
    },
}

impl Program {
    /// A program without functions; `entry` must be set once there is one.
    pub fn new(data_model: DataModel) -> Self {
        Program {
            data_model,
            types: IdxVec::new(),
            vars: IdxVec::new(),
            funcs: IdxVec::new(),
            locs: IdxVec::new(),
            edges: IdxVec::new(),
            exprs: IdxVec::new(),
            places: IdxVec::new(),
            entry: FuncId(0),
            assumptions: Vec::new(),
            enumerations: BTreeMap::new(),
        }
    }

    /// Adds a location to a function.
    pub fn add_loc(&mut self, func: FuncId, span: Span) -> LocId {
        self.locs.push(Loc {
            func,
            out: SmallVec::new(),
            inc: SmallVec::new(),
            span,
            loop_stmt: None,
            label: None,
        })
    }

    /// Adds an edge and links it to both ends.
    pub fn add_edge(&mut self, src: LocId, op: Op, dst: LocId, span: Span) -> EdgeId {
        let id = self.edges.push(Edge { src, dst, op, span });
        self.locs[src].out.push(id);
        self.locs[dst].inc.push(id);
        id
    }

    /// Adds an expression.
    pub fn add_expr(&mut self, ty: Scalar, kind: ExprKind) -> ExprId {
        self.exprs.push(Expr { ty, kind })
    }

    /// An integer constant.
    pub fn int(&mut self, ty: IntTy, value: i128) -> ExprId {
        self.add_expr(Scalar::Int(ty), ExprKind::Int(ty.truncate(value as u128)))
    }

    /// The value of a scalar place.
    pub fn load(&mut self, place: PlaceId) -> ExprId {
        let ty = self.place_scalar(place).expect("only scalar places are loaded");
        self.add_expr(ty, ExprKind::Load(place))
    }

    /// The place that is the whole of a variable.
    pub fn var_place(&mut self, var: VarId) -> PlaceId {
        let ty = self.vars[var].ty;
        self.places.push(Place { base: Base::Var(var), path: SmallVec::new(), ty, bits: None })
    }

    /// Bytes of an object of this type; `None` if that is not static.
    pub fn size_of(&self, ty: TypeId) -> Option<u64> {
        match &self.types[ty] {
            Type::Void | Type::Func(_) => None,
            Type::Int(t) => Some((u64::from(t.bits).div_ceil(8)).next_power_of_two()),
            Type::Float(FloatTy::F32) => Some(4),
            Type::Float(FloatTy::F64) => Some(8),
            Type::Float(FloatTy::F80) => Some(self.data_model.long_double_bytes()),
            Type::Ptr(_) => Some(u64::from(self.data_model.ptr_bits()) / 8),
            Type::Array(elem, len) => self.size_of(*elem)?.checked_mul((*len)?),
            Type::Record(r) => Some(r.size),
        }
    }

    /// The scalar an object of this type holds, if it is not an aggregate.
    pub fn scalar_of(&self, ty: TypeId) -> Option<Scalar> {
        match &self.types[ty] {
            Type::Int(t) => Some(Scalar::Int(*t)),
            Type::Float(t) => Some(Scalar::Float(*t)),
            Type::Ptr(_) => Some(Scalar::Ptr),
            _ => None,
        }
    }

    /// The type of a load from this place: for a bit-field an integer of its width.
    pub fn place_scalar(&self, place: PlaceId) -> Option<Scalar> {
        let place = &self.places[place];
        match (self.scalar_of(place.ty)?, place.bits) {
            (Scalar::Int(t), Some(bits)) => Some(Scalar::Int(IntTy { bits: bits.width, signed: t.signed })),
            (scalar, _) => Some(scalar),
        }
    }

    /// What a variable holds that is a register: a scalar whose address is never taken.
    pub fn register(&self, var: VarId) -> Option<Scalar> {
        let info = &self.vars[var];
        if info.address_taken { None } else { self.scalar_of(info.ty) }
    }

    /// The type of a variable that is an integer register.
    pub fn integer_register(&self, var: VarId) -> Option<IntTy> {
        self.register(var)?.int()
    }

    /// The register that a place is the whole of, and what it holds.
    pub fn whole_register(&self, place: PlaceId) -> Option<(VarId, Scalar)> {
        let place = &self.places[place];
        match place.base {
            Base::Var(var) if place.path.is_empty() && place.bits.is_none() => {
                Some((var, self.register(var)?))
            }
            _ => None,
        }
    }

    /// The integer register that a place is the whole of, and its type.
    pub fn whole_integer(&self, place: PlaceId) -> Option<(VarId, IntTy)> {
        let (var, scalar) = self.whole_register(place)?;
        Some((var, scalar.int()?))
    }

    /// The member a [`Proj::Field`] names.
    pub fn field(&self, record: TypeId, field: u32) -> &Field {
        match &self.types[record] {
            Type::Record(r) => &r.fields[field as usize],
            other => unreachable!("the verifier admits fields of records only, not of {other:?}"),
        }
    }

    /// All edges that leave a location.
    pub fn out_edges(&self, loc: LocId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        self.locs[loc].out.iter().map(|&e| (e, &self.edges[e]))
    }

    /// The function with this name.
    pub fn func_named(&self, name: &str) -> Option<FuncId> {
        self.funcs.iter_enumerated().find(|(_, f)| &*f.name == name).map(|(id, _)| id)
    }

    /// The body of a function that is known to have one.
    pub fn body(&self, func: FuncId) -> &Body {
        self.funcs[func].body.as_ref().expect("the caller knows that the function has a body")
    }
}
