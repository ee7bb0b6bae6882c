//! The typed program: what lowering reads.
//!
//! Scopes are resolved to [`ObjId`]s, [`FnId`]s and [`LabelId`]s, every conversion is an
//! expression of its own, constants are folded, initialisers are flat, and `sizeof`, `_Generic`,
//! `typeof`, enumeration constants and compile-time builtins are gone.
//!
//! # Lvalues and values
//! An expression is an *lvalue* (it denotes a piece of memory) if its kind is
//! [`TExprKind::Object`], [`TExprKind::Deref`], [`TExprKind::CompoundLiteral`], or
//! [`TExprKind::Member`] or [`TExprKind::Index`] of an lvalue. All others are values; a value of
//! record type is the contents of an aggregate. [`TExprKind::Load`] makes a value of an lvalue.
//! A value of array type occurs only as the member of a record value, under
//! [`TExprKind::Decay`] or [`TExprKind::Index`] (`f().a[i]`): the record lives in a temporary
//! object until the end of the full expression.
//!
//! # How deep it can be
//! Nesting is bounded as in the syntax tree, with the same exceptions, which consumers must walk
//! by a loop: the left operands of [`TExprKind::Binary`], [`TExprKind::Compare`],
//! [`TExprKind::Logical`], [`TExprKind::PtrAdd`], [`TExprKind::PtrDiff`] and
//! [`TExprKind::Comma`] (with a [`TExprKind::Convert`] in between where types differ), and the
//! `else_` chain of [`TStmtKind::If`].

use palisade_base::{IdxVec, Span};
use palisade_c_syntax::Symbol;
use palisade_cfa::{BitRange, FloatTy};
use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::types::{CTypeId, QType, TypeTable};

palisade_base::idx! {
    /// A typed expression.
    pub struct TExprId = "te";
    /// A typed statement.
    pub struct TStmtId = "ts";
    /// An object: a variable, a string literal, a compound literal.
    pub struct ObjId = "obj";
    /// A function.
    pub struct FnId = "fn";
    /// A named label, or a `case` or `default` label.
    pub struct LabelId = "lab";
    /// An initialiser of an object with automatic storage.
    pub struct InitId = "init";
}

/// A whole program, made of all input files.
#[derive(Clone, Debug)]
pub struct TypedProgram {
    /// All types.
    pub types: TypeTable,
    /// All objects.
    pub objects: IdxVec<ObjId, Object>,
    /// All functions.
    pub funcs: IdxVec<FnId, Func>,
    /// All expressions. Operands come before the expressions that use them.
    pub exprs: IdxVec<TExprId, TExpr>,
    /// All statements.
    pub stmts: IdxVec<TStmtId, TStmt>,
    /// All labels.
    pub labels: IdxVec<LabelId, Label>,
    /// All initialisers of automatic objects.
    pub inits: IdxVec<InitId, InitPlan>,
    /// Functions inside of which a pointer to a nested function is made, and where. They must not
    /// be active more than once at a time.
    pub nested_pointers: Vec<(FnId, Span)>,
    /// The hidden objects in which nested functions keep the length that another one holds for the function around.
    pub kept_lengths: FxHashMap<ObjId, Vec<ObjId>>,
}

/// How long an object lives and what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjKind {
    /// Declared at file scope, or `extern` in a block.
    Global,
    /// `static` in a block of the function.
    StaticLocal(FnId),
    /// A variable of the function.
    Local(FnId),
    /// A parameter of the function; see [`FuncBody::params`].
    Param(FnId),
    /// A compound literal in the function; it lives as long as the block around it.
    CompoundLiteral(FnId),
    /// A compound literal at file scope.
    StaticLiteral,
    /// A string literal (also `__func__`): read-only, with an image.
    String,
    /// A hidden variable of the function: the length of a variable length array type, which is
    /// assigned where the type is declared, or an operand that is needed more than once. It lives
    /// as long as the function, and nothing points to it.
    Hidden(FnId),
}

/// Linkage (C11 6.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// The same name in all files.
    External,
    /// The same name in one file.
    Internal,
    /// Each declaration its own.
    None,
}

/// A piece of memory with a declared type.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name; `None` for literals and hidden variables.
    pub name: Option<Symbol>,
    /// Its type, completed as far as any declaration says. An expression that refers to it may
    /// have a compatible type that says less (`extern int a[];`).
    pub ty: QType,
    /// What it is.
    pub kind: ObjKind,
    /// Whether the name means the same elsewhere.
    pub linkage: Linkage,
    /// With static storage: the contents when the program starts; `None` for an `extern` object
    /// that nobody defines. Always `None` with automatic storage.
    pub image: Option<Image>,
    /// Bytes after the object that belong to it: the elements of a flexible array member that its
    /// initialiser gives (GNU). If there are any, the image has an item that ends with them, be it
    /// zero.
    pub extra: u64,
    /// For a variable length array: its size in bytes, an expression of type `size_t` without
    /// side effects (it reads hidden variables that were assigned before).
    pub vla_size: Option<TExprId>,
    /// Alignment in bytes.
    pub align: u64,
    /// Whether writing to it is an error at run time: string literals only. (A `const` object
    /// has the qualifier in its type.)
    pub read_only: bool,
    /// `_Thread_local`
    pub thread_local: bool,
    /// Attribute `cleanup`: called with a pointer to the object when its block is left.
    pub cleanup: Option<FnId>,
    /// Position of the name where it is declared (defined, if there is a definition).
    pub span: Span,
    /// The source text in which the name is visible; [`Span::NONE`] for unnamed objects.
    pub scope: Span,
}

impl Object {
    /// An object without a name, linkage or initial image.
    pub(crate) fn unnamed(ty: QType, kind: ObjKind, align: u64, span: Span) -> Object {
        Object {
            name: None,
            ty,
            kind,
            linkage: Linkage::None,
            image: None,
            extra: 0,
            vla_size: None,
            align,
            read_only: false,
            thread_local: false,
            cleanup: None,
            span,
            scope: Span::NONE,
        }
    }
}

/// The priority of constructors and destructors that have none.
pub const LAST_PRIORITY: u32 = 65535;

/// A function.
#[derive(Clone, Debug)]
pub struct Func {
    /// Its name.
    pub name: Symbol,
    /// A function type.
    pub ty: CTypeId,
    /// External or internal.
    pub linkage: Linkage,
    /// Whether it is declared never to return.
    pub noreturn: bool,
    /// Attribute `weak`.
    pub weak: bool,
    /// Attribute `alias`: the function that a call really reaches.
    pub alias: Option<FnId>,
    /// Attribute `constructor`: runs before `main`, smaller priorities first.
    pub constructor: Option<u32>,
    /// Attribute `destructor`: runs after `main` or at `exit`, larger priorities first.
    pub destructor: Option<u32>,
    /// The definition, if there is one.
    pub body: Option<FuncBody>,
    /// Position of the name in the definition, or else in the first declaration.
    pub span: Span,
}

/// What a function may change.
#[derive(Clone, Debug)]
pub struct Assigns {
    /// Where it starts and how many bytes, of type `size_t`, it has, in the state before.
    pub regions: Vec<(TExprId, TExprId)>,
    /// Where that is said.
    pub span: Span,
}

/// The definition of a function.
#[derive(Clone, Debug)]
pub struct FuncBody {
    /// Parameters in order.
    pub params: Vec<ObjId>,
    /// To be executed before the body: lengths of variably modified parameter types.
    pub prologue: Vec<TStmtId>,
    /// A [`TStmtKind::Block`].
    pub body: TStmtId,
    /// All named labels whose address is taken.
    pub addressed_labels: Vec<LabelId>,
    /// What must not be zero when it is called.
    pub requires: Vec<TExprId>,
    /// What must not be zero when it returns.
    pub ensures: Vec<TExprId>,
    /// Where `ensures` looks for the result.
    pub result: Option<ObjId>,
    /// All that it may change, if that is said.
    pub assigns: Option<Assigns>,
    /// Whether annotations of it were left out.
    pub left_out: bool,
    /// From the first specifier to the closing brace.
    pub span: Span,
}

/// A label.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Its name; `None` for `case` and `default`.
    pub name: Option<Symbol>,
    /// The function it is in.
    pub func: FnId,
    /// Where it stands.
    pub span: Span,
}

/// Contents of an object with static storage: all bytes zero except for the items, which are
/// sorted by offset and do not overlap.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Image {
    /// What is not zero.
    pub items: Vec<ImageItem>,
}

/// One item of an [`Image`].
#[derive(Clone, PartialEq, Debug)]
pub struct ImageItem {
    /// Byte offset.
    pub offset: u64,
    /// The value there.
    pub value: ConstValue,
}

/// A constant as it lies in memory.
#[derive(Clone, PartialEq, Debug)]
pub enum ConstValue {
    /// Plain bytes (strings, units with bit-fields).
    Bytes(Arc<[u8]>),
    /// An integer.
    Int {
        /// Bytes of storage.
        size: u8,
        /// The value bits.
        bits: u128,
    },
    /// A floating-point number by its bits.
    Float(FloatTy, u128),
    /// The address of an object plus a byte offset, stored in a pointer or an integer as wide.
    Addr(ObjId, i64),
    /// The address of a function, stored alike.
    Func(FnId),
    /// `&&label`, stored alike.
    Label(LabelId),
    /// `&&a - &&b`, an integer.
    LabelDiff {
        /// Bytes of storage.
        size: u8,
        /// The minuend.
        a: LabelId,
        /// The subtrahend.
        b: LabelId,
    },
    /// A pointer with a constant address.
    Absolute(u64),
}

/// The initialiser of an object with automatic storage.
#[derive(Clone, Debug)]
pub struct InitPlan {
    /// Whether all bytes are set to zero before the items are stored.
    pub zero: bool,
    /// What is stored, in order of evaluation. An item may overwrite an earlier one.
    pub items: Vec<InitItem>,
}

/// One item of an [`InitPlan`].
#[derive(Clone, Debug)]
pub struct InitItem {
    /// The way from the object to the part; empty for the whole object.
    pub path: Box<[InitStep]>,
    /// Byte offset of the part in the object.
    pub offset: u64,
    /// For a bit-field: its bits, counted from the byte at `offset`.
    pub bits: Option<BitRange>,
    /// Type of the part; for a bit-field the declared type.
    pub ty: QType,
    /// What is stored there.
    pub value: InitValue,
}

/// One step from an aggregate to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitStep {
    /// A member of a record, by its number in [`RecordType::fields`](crate::types::RecordType).
    Field(u32),
    /// An element of an array.
    Index(u64),
}

/// What an [`InitItem`] stores.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum InitValue {
    /// A value of the part's type (of the bit-field's type, for a bit-field).
    Expr(TExprId),
    /// All bytes of a string literal, which is not larger than the part.
    String(ObjId),
}

/// An expression with its type and position.
#[derive(Clone, Debug)]
pub struct TExpr {
    /// What it is.
    pub kind: TExprKind,
    /// Type of the lvalue or value; values have no qualifiers.
    pub ty: QType,
    /// Where it stands.
    pub span: Span,
}

/// Operators on two numbers of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // each name is the operator it names
pub enum ArithOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    And,
    Xor,
    Or,
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // each name is the operator it names
pub enum CompareOp {
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum TExprKind {
    /// Something that was in error; a program with errors is not lowered.
    Error,
    /// An integer (value bits, truncated to the type), or a pointer with a constant address.
    Int(u128),
    /// A floating-point number by its bits.
    Float(u128),
    /// Lvalue: an object.
    Object(ObjId),
    /// A pointer to a function.
    FuncAddr(FnId),
    /// A function itself. Occurs only in operands that are not evaluated.
    Func(FnId),
    /// Lvalue: what a pointer points to. With a function type it occurs only in operands that
    /// are not evaluated.
    Deref(TExprId),
    /// A member of a record: an lvalue if the base is one. Members of anonymous members are
    /// reached in several steps. For a bit-field the type is `BitField` of its width, or the
    /// declared type if the widths are equal.
    Member {
        /// The record.
        base: TExprId,
        /// Number of the member in [`RecordType::fields`](crate::types::RecordType).
        field: u32,
    },
    /// An element of an array whose elements have a constant size: an lvalue if the array is one.
    /// (Subscripts of pointers are [`TExprKind::Deref`] of [`TExprKind::PtrAdd`].)
    Index {
        /// An array.
        base: TExprId,
        /// An integer of any type (promoted), counted as the mathematical integer it is.
        index: TExprId,
    },
    /// Lvalue: the object of a compound literal, initialised anew at each evaluation.
    CompoundLiteral {
        /// The object.
        obj: ObjId,
        /// Its initialiser.
        init: InitId,
    },
    /// The value of an lvalue: a scalar or the contents of a record.
    Load(TExprId),
    /// A pointer to the first element of an array.
    Decay(TExprId),
    /// A pointer to an lvalue (never a bit-field).
    AddrOf(TExprId),
    /// `&&label`
    LabelAddr(LabelId),
    /// Conversion of a scalar to this expression's scalar type, or of anything to `void`. A
    /// conversion to `_Bool` tests against zero; one to a `BitField` truncates, also
    /// to one bit.
    Convert(TExprId),
    /// GNU cast of a value to a union: the member is set, the other bytes are arbitrary.
    ToUnion {
        /// The value, of the member's type.
        operand: TExprId,
        /// Number of the member.
        field: u32,
    },
    /// A complex number, vector or software number made of its parts in order
    /// ([`Form`](crate::types::Form)).
    Parts(Box<[TExprId]>),
    /// `-e` on a promoted number, or on an element of a vector.
    Neg(TExprId),
    /// `~e` on a promoted integer, or on an element of a vector.
    BitNot(TExprId),
    /// `!e` on any scalar: 0 or 1 of type `int`.
    LogNot(TExprId),
    /// A binary operator; both operands have the type of the result, except that the right
    /// operand of a shift has its own promoted type.
    Binary {
        /// The operator.
        op: ArithOp,
        /// Left operand.
        lhs: TExprId,
        /// Right operand.
        rhs: TExprId,
    },
    /// A comparison of two numbers of one type or of two pointers: 0 or 1 of type `int`.
    Compare {
        /// The operator.
        op: CompareOp,
        /// Left operand.
        lhs: TExprId,
        /// Right operand.
        rhs: TExprId,
    },
    /// A pointer plus or minus an integer.
    PtrAdd {
        /// The pointer.
        ptr: TExprId,
        /// An integer of any type (promoted), counted as the mathematical integer it is. For
        /// elements of variable size it is already multiplied by the size, and `stride` is 1.
        index: TExprId,
        /// Bytes of an element.
        stride: u64,
        /// Whether the index is subtracted.
        sub: bool,
    },
    /// The difference of two pointers in elements, of type `ptrdiff_t`.
    PtrDiff {
        /// Minuend.
        lhs: TExprId,
        /// Subtrahend.
        rhs: TExprId,
        /// Bytes of an element, at least 1.
        stride: u64,
    },
    /// `lhs && rhs` or `lhs || rhs` of scalars: 0 or 1 of type `int`.
    Logical {
        /// Whether it is `&&`.
        and: bool,
        /// Evaluated first.
        lhs: TExprId,
        /// Evaluated only if the left operand does not decide.
        rhs: TExprId,
    },
    /// `cond ? then : otherwise`; both values have this expression's type (or are evaluated for
    /// their effects if that is `void`).
    Cond {
        /// A scalar.
        cond: TExprId,
        /// `None` for GNU `cond ?: otherwise`: the value of the condition, which is evaluated
        /// once, converted to this expression's type.
        then: Option<TExprId>,
        /// The value if the condition is zero.
        otherwise: TExprId,
    },
    /// `lhs, rhs`
    Comma {
        /// Evaluated first, for its effects.
        lhs: TExprId,
        /// The value.
        rhs: TExprId,
    },
    /// `lhs = rhs`; the value is that of the left operand afterwards.
    Assign {
        /// An lvalue, scalar or record.
        lhs: TExprId,
        /// A value of its type.
        rhs: TExprId,
    },
    /// `lhs op= rhs` on numbers: the left operand is converted to `computation`, combined with
    /// the right one, and the result converted back and stored; the value is what was stored.
    CompoundAssign {
        /// The operator.
        op: ArithOp,
        /// An lvalue, evaluated once.
        lhs: TExprId,
        /// A value of type `computation`; for a shift, of its own promoted type.
        rhs: TExprId,
        /// The type in which the operator works.
        computation: CTypeId,
    },
    /// `ptr += index` or `ptr -= index`; see [`TExprKind::PtrAdd`].
    PtrAssign {
        /// An lvalue of pointer type, evaluated once.
        lhs: TExprId,
        /// The integer.
        index: TExprId,
        /// Bytes of an element.
        stride: u64,
        /// Whether the index is subtracted.
        sub: bool,
    },
    /// `++e`, `--e`, `e++`, `e--` on a number or pointer.
    IncDec {
        /// An lvalue, evaluated once.
        operand: TExprId,
        /// Whether it is incremented.
        inc: bool,
        /// Whether the value is the old one.
        postfix: bool,
        /// What is added or subtracted: the type in which to add 1 to a number, or the bytes of
        /// an element.
        step: IncStep,
    },
    /// A call.
    Call {
        /// A pointer to a function.
        callee: TExprId,
        /// The arguments, converted to the parameters' types or promoted.
        args: Box<[TExprId]>,
        /// Offset of the closing parenthesis.
        rparen: u32,
    },
    /// `({ … })`
    StmtExpr {
        /// A [`TStmtKind::Block`] without the last expression.
        body: TStmtId,
        /// The last expression, evaluated at the end of the block while its objects live.
        value: Option<TExprId>,
    },
    /// `va_start(list, …)`
    VaStart {
        /// An lvalue: the `char *` (32 bits) or the record (64 bits) that represents the list.
        list: TExprId,
    },
    /// `va_arg(list, type)`: a value of this expression's type.
    VaArg {
        /// As in [`TExprKind::VaStart`].
        list: TExprId,
    },
    /// `va_end(list)`
    VaEnd {
        /// As in [`TExprKind::VaStart`].
        list: TExprId,
    },
    /// `va_copy(dst, src)`
    VaCopy {
        /// As in [`TExprKind::VaStart`].
        dst: TExprId,
        /// As in [`TExprKind::VaStart`].
        src: TExprId,
    },
    /// An operation of the compiler.
    Builtin {
        /// Which one.
        op: Builtin,
        /// Its operands, of the types that the operation says.
        args: Box<[TExprId]>,
    },
}

/// The step of [`TExprKind::IncDec`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IncStep {
    /// A number: 1 is added in this type, and the result converted back.
    Number(CTypeId),
    /// A pointer: this many bytes are added.
    Bytes(u64),
    /// A pointer to elements of variable size: this many bytes, a value of type `size_t`.
    Dynamic(TExprId),
}

/// Operations of the compiler that are no functions. What folds to a constant
/// (`__builtin_constant_p`, `__builtin_offsetof`, `__builtin_inf`, …) or is a library function in
/// disguise (`__builtin_memcpy`) never appears here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Builtin {
    /// The first argument; the second is evaluated too (`__builtin_expect`,
    /// `__builtin_assume_aligned`).
    Expect,
    /// `__builtin_unreachable()`
    Unreachable,
    /// `__builtin_trap()`: the program is aborted.
    Trap,
    /// Bytes of an unsigned integer reversed; same type.
    Bswap,
    /// Leading zeros of an unsigned integer, an `int`; undefined for 0.
    Clz,
    /// Trailing zeros of an unsigned integer, an `int`; undefined for 0.
    Ctz,
    /// Ones of an unsigned integer, an `int`.
    Popcount,
    /// Ones of an unsigned integer modulo 2, an `int`.
    Parity,
    /// One plus the position of the lowest one of a signed integer, or 0; an `int`.
    Ffs,
    /// Leading redundant sign bits of a signed integer, an `int`.
    Clrsb,
    /// `a op b` in infinite precision, stored through the third argument (a pointer to an
    /// integer) after truncation; a `_Bool` that says whether it did not fit. The two integers
    /// are of any types.
    Overflow(ArithOp),
    /// Like `Overflow` but only says whether the result fits the type of the third argument.
    OverflowP(ArithOp),
    /// `__builtin_return_address` and `__builtin_frame_address`: an unknown pointer.
    UnknownAddress,
    /// A pointer to new memory of the given size (`size_t`) that lives until the function returns.
    Alloca,
    /// `__builtin_prefetch` and other hints: the arguments are evaluated.
    Hint,
    /// Whether a number is NaN; an `int`. All floating-point operands keep their own type.
    IsNan,
    /// Whether a number is infinite: 1, -1 or 0; an `int`.
    IsInfSign,
    /// Whether a number is infinite; an `int`.
    IsInf,
    /// Whether a number is finite; an `int`.
    IsFinite,
    /// Whether a number is normal; an `int`.
    IsNormal,
    /// One of the first five arguments (NaN, infinite, normal, subnormal, zero), chosen by the
    /// sixth.
    FpClassify,
    /// Whether the sign bit is set; an `int`, not necessarily 1.
    SignBit,
    /// A quiet comparison of two numbers of one type; false if one is NaN.
    FloatCompare(CompareOp),
    /// Whether one is less or greater than the other.
    IsLessGreater,
    /// Whether one of two numbers is NaN.
    IsUnordered,
    /// Absolute value of a number of this type.
    Fabs,
    /// The first number with the sign of the second.
    CopySign,
    /// Bytes from the pointer to the end of its object if that is known, otherwise the maximum of
    /// `size_t` (types 0 and 1 as second argument) or 0 (types 2 and 3).
    ObjectSize,
    /// Whether so many bytes may be read behind a pointer, or also written.
    Valid {
        /// Whether they may be written.
        write: bool,
    },
    /// A value read through the pointer.
    AtomicLoad,
    /// The second argument is stored through the pointer.
    AtomicStore,
    /// The second argument is stored through the pointer; the value is the old contents.
    AtomicExchange,
    /// `*p = *p op v`; the value is the old contents. For pointers to pointers `v` is an integer
    /// that counts bytes.
    AtomicFetchOp(AtomicOp),
    /// `*p = *p op v`; the value is the new contents.
    AtomicOpFetch(AtomicOp),
    /// If `*p` equals the second argument the third is stored; the value is the old contents.
    AtomicCasValue,
    /// If `*p` equals the second argument the third is stored; a `_Bool` that says so.
    AtomicCasBool,
    /// If `*p` equals `*q` (second argument) the third argument is stored through `p`, otherwise
    /// `*p` is stored through `q`; a `_Bool` that says so.
    AtomicCompareExchange,
    /// `*(char *)p = 1`; whether it was set, a `_Bool`.
    AtomicTestAndSet,
    /// `*(char *)p = 0`
    AtomicClear,
    /// A memory barrier: nothing in sequential code.
    Fence,
}

/// The operator of an atomic update.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // each name is the operator it names
pub enum AtomicOp {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
}

/// A statement with its position.
#[derive(Clone, Debug)]
pub struct TStmt {
    /// What it is.
    pub kind: TStmtKind,
    /// The whole statement; it starts at the keyword of `if`, `while`, `for`, `do`, `switch`.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum TStmtKind {
    /// Nothing.
    Empty,
    /// An expression evaluated for its effects.
    Expr(TExprId),
    /// `{ … }`, also around a `for` with a declaration.
    Block {
        /// The statements in order.
        stmts: Box<[TStmtId]>,
        /// The automatic objects (with compound literals) that live from the block's start to its
        /// end; a variable length array lives from its declaration on.
        objects: Box<[ObjId]>,
    },
    /// The declaration of an automatic object is reached: its contents become arbitrary, then it
    /// is initialised.
    Decl {
        /// The object.
        obj: ObjId,
        /// Its initialiser.
        init: Option<InitId>,
    },
    /// A statement with labels.
    Labeled {
        /// The labels in order.
        labels: Box<[LabelId]>,
        /// What they label.
        stmt: TStmtId,
    },
    /// `if`
    If {
        /// A scalar.
        cond: TExprId,
        /// Executed if it is not zero.
        then: TStmtId,
        /// Executed if it is zero.
        else_: Option<TStmtId>,
    },
    /// `while`
    While {
        /// A scalar.
        cond: TExprId,
        /// The body.
        body: TStmtId,
    },
    /// `do … while`
    DoWhile {
        /// The body.
        body: TStmtId,
        /// A scalar.
        cond: TExprId,
        /// Offset of the keyword `while`.
        while_pos: u32,
    },
    /// `for`; a declaration in its first part stands before it in a block of its own.
    For {
        /// The first part, evaluated once.
        init: Option<TExprId>,
        /// A scalar; absent means true.
        cond: Option<TExprId>,
        /// Evaluated after the body and by `continue`.
        step: Option<TExprId>,
        /// The body.
        body: TStmtId,
    },
    /// `switch`
    Switch(Box<Switch>),
    /// `goto label;`
    Goto(LabelId),
    /// `goto *pointer;`
    GotoComputed(TExprId),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return;` or `return value;` with a value of the function's return type. A value of type
    /// `void` in a function that returns nothing stands before it as a statement.
    Return(Option<TExprId>),
    /// `asm`
    Asm(Box<Asm>),
    /// An annotation demands that this is not zero.
    Demand(TExprId),
    /// Annotations demand of the loop that comes next that these are not zero, whenever its condition is
    /// evaluated (for `do`: before each pass).
    Invariants(Box<[TExprId]>),
}

/// A `switch` statement.
#[derive(Clone, Debug)]
pub struct Switch {
    /// A promoted integer.
    pub value: TExprId,
    /// The body; its labels lead into it.
    pub body: TStmtId,
    /// The cases in source order; they do not overlap.
    pub cases: Vec<SwitchCase>,
    /// The label of `default`.
    pub default: Option<LabelId>,
}

/// One `case` of a [`Switch`].
#[derive(Clone, Copy, Debug)]
pub struct SwitchCase {
    /// First value, as value bits of the switched value's type.
    pub lo: u128,
    /// Last value, equal to the first unless it is a GNU range. Never below the first in the
    /// order of the type.
    pub hi: u128,
    /// Where it leads.
    pub label: LabelId,
}

/// An assembler statement. What it computes is not known.
#[derive(Clone, Debug)]
pub struct Asm {
    /// Lvalues that get arbitrary values.
    pub outputs: Box<[TExprId]>,
    /// Values and lvalues (for memory operands) that it reads.
    pub inputs: Box<[TExprId]>,
    /// The labels `asm goto` may jump to.
    pub labels: Box<[LabelId]>,
    /// Whether it says that it may write anything in memory.
    pub clobbers_memory: bool,
}

impl TypedProgram {
    /// Whether an expression denotes a piece of memory.
    pub fn is_lvalue(&self, expr: TExprId) -> bool {
        let mut expr = expr;
        loop {
            match self.exprs[expr].kind {
                TExprKind::Object(_) | TExprKind::Deref(_) | TExprKind::CompoundLiteral { .. } => {
                    return true;
                }
                TExprKind::Member { base, .. } | TExprKind::Index { base, .. } => expr = base,
                _ => return false,
            }
        }
    }

    /// The bits of a bit-field that a [`TExprKind::Member`] denotes.
    pub fn bit_range(&self, expr: TExprId) -> Option<BitRange> {
        let TExprKind::Member { base, field } = self.exprs[expr].kind else { return None };
        self.types.record_of(self.exprs[base].ty.ty)?.fields.get(field as usize)?.bits
    }
}
