//! Expressions and literals.

use super::{BasicType, Designator, ExprId, ExprList, Ident, InitListId, StmtId, StrId, TypeNameId};
use crate::intern::Symbol;
use palisade_base::Span;

/// An expression with its position.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The whole expression, with parentheses around it if there are any.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Something that was in error; a diagnostic was given.
    Error,
    /// An integer constant.
    Int(IntLit),
    /// A floating constant.
    Float(FloatLit),
    /// A character constant.
    Char(CharLit),
    /// `true` or `false` (C23).
    Bool(bool),
    /// `nullptr` (C23).
    Nullptr,
    /// A string literal.
    Str(StrId),
    /// A variable, function or enumeration constant (also `__func__` and the `__builtin_`
    /// functions that have ordinary call syntax).
    Name(Symbol),
    /// A unary operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: ExprId,
    },
    /// A binary operator without assignment. Left spines may be very long.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        lhs: ExprId,
        /// The right operand.
        rhs: ExprId,
        /// Offset of the operator.
        op_pos: u32,
    },
    /// `lhs, rhs`. Left spines may be very long.
    Comma {
        /// Evaluated first, for its effects.
        lhs: ExprId,
        /// The value.
        rhs: ExprId,
    },
    /// `lhs = rhs`, or `lhs op= rhs`.
    Assign {
        /// The operator of a compound assignment.
        op: Option<BinaryOp>,
        /// The place assigned.
        lhs: ExprId,
        /// The value.
        rhs: ExprId,
        /// Offset of the operator.
        op_pos: u32,
    },
    /// `cond ? then : otherwise`
    Conditional {
        /// The condition.
        cond: ExprId,
        /// The value if the condition holds; `None` for GNU `cond ?: otherwise`.
        then: Option<ExprId>,
        /// The value if the condition does not hold.
        otherwise: ExprId,
        /// Offset of the question mark.
        question: u32,
    },
    /// `callee(args)`
    Call {
        /// What is called.
        callee: ExprId,
        /// The arguments.
        args: ExprList,
        /// Offset of the closing parenthesis.
        rparen: u32,
    },
    /// `base[index]`
    Index {
        /// The expression before the bracket (not necessarily the pointer).
        base: ExprId,
        /// The expression inside the brackets.
        index: ExprId,
    },
    /// `base.field` or `base->field`
    Member {
        /// The record, or the pointer to it.
        base: ExprId,
        /// The member's name.
        field: Symbol,
        /// Offset of the member's name.
        field_pos: u32,
        /// Whether it was written with `->`.
        arrow: bool,
    },
    /// `(type) operand`
    Cast {
        /// The target type.
        ty: TypeNameId,
        /// The operand.
        operand: ExprId,
    },
    /// `(type) { … }`
    CompoundLiteral {
        /// The type of the object.
        ty: TypeNameId,
        /// Its initialiser.
        init: InitListId,
    },
    /// `sizeof expr`
    SizeofExpr(ExprId),
    /// `sizeof(type)`
    SizeofType(TypeNameId),
    /// `_Alignof expr`
    AlignofExpr {
        /// The operand.
        operand: ExprId,
        /// Written `__alignof__`, which means the preferred and not the minimal alignment.
        preferred: bool,
    },
    /// `_Alignof(type)`
    AlignofType {
        /// The operand.
        ty: TypeNameId,
        /// Written `__alignof__`, which means the preferred and not the minimal alignment.
        preferred: bool,
    },
    /// `_Generic(…)`
    Generic(Box<Generic>),
    /// `({ … })`; the statement is a [`StmtKind::Block`](super::StmtKind::Block).
    StmtExpr(StmtId),
    /// `&&label`
    LabelAddr(Ident),
    /// `__builtin_va_arg(list, type)`
    VaArg {
        /// The `va_list`.
        list: ExprId,
        /// The type of the argument.
        ty: TypeNameId,
    },
    /// `__builtin_convertvector(vector, type)`
    ConvertVector {
        /// The vector.
        operand: ExprId,
        /// The type of the result.
        ty: TypeNameId,
    },
    /// `__builtin_offsetof(type, member)`
    Offsetof {
        /// The record.
        ty: TypeNameId,
        /// The way to the member; the first step is a field, none is a range.
        path: Box<[Designator]>,
    },
    /// `__builtin_types_compatible_p(type, type)`
    TypesCompatible(TypeNameId, TypeNameId),
    /// `__builtin_choose_expr(constant, then, otherwise)`
    ChooseExpr {
        /// The constant that chooses.
        cond: ExprId,
        /// Chosen if it is not zero.
        then: ExprId,
        /// Chosen if it is zero.
        otherwise: ExprId,
    },
}

/// An integer constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntLit {
    /// Its value, modulo 2^64 (a warning was given if it does not fit).
    pub value: u64,
    /// The base, which decides the types that are tried.
    pub base: IntBase,
    /// `u` or `U`.
    pub unsigned: bool,
    /// How many `l`: 0, 1 or 2.
    pub longs: u8,
    /// `i` or `j` (GNU imaginary).
    pub imaginary: bool,
    /// `wb` (C23): the narrowest `_BitInt` that holds it.
    pub bit_precise: bool,
}

/// How an integer constant was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntBase {
    /// `123`
    Decimal,
    /// `0173`
    Octal,
    /// `0x7b`
    Hex,
    /// GNU `0b1111011`
    Binary,
}

/// A floating constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatLit {
    /// The digits as written, decimal or hexadecimal, without the suffix; the type decides how
    /// they are rounded.
    pub text: Symbol,
    /// The type.
    pub suffix: FloatSuffix,
    /// `i` or `j` (GNU imaginary).
    pub imaginary: bool,
}

/// The type of a floating constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatSuffix {
    /// No suffix: `double`.
    None,
    /// `f`: `float`.
    F,
    /// `l`: `long double`.
    L,
    /// `f16`, `f32`, … `f64x`, `q`, `w`, `df`, …: the named type.
    Type(BasicType),
}

/// The prefix of a character constant or string literal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Encoding {
    /// No prefix: bytes of type `char`.
    Narrow,
    /// `u8`: UTF-8 bytes.
    Utf8,
    /// `L`: `wchar_t`.
    Wide,
    /// `u`: `char16_t`.
    Utf16,
    /// `U`: `char32_t`.
    Utf32,
}

/// A character constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CharLit {
    /// Its value as gcc gives it on x86: a single narrow character is a sign-extended `char`,
    /// several are packed big-endian into an `int`, `L` is a sign-extended 32-bit `wchar_t`.
    pub value: i64,
    /// The prefix, which decides the type.
    pub encoding: Encoding,
}

/// A string literal, adjacent pieces joined and escapes replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StringLit {
    /// The prefix, which decides the element type.
    pub encoding: Encoding,
    /// The elements, without the terminating zero.
    pub units: StringUnits,
    /// From the first to the last piece.
    pub span: Span,
}

/// The elements of a string literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StringUnits {
    /// For [`Encoding::Narrow`] and [`Encoding::Utf8`].
    Bytes(Box<[u8]>),
    /// For the others; with [`Encoding::Utf16`] every element is below 2^16.
    Wide(Box<[u32]>),
}

impl StringUnits {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            StringUnits::Bytes(b) => b.len(),
            StringUnits::Wide(w) => w.len(),
        }
    }
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Element `i`.
    pub fn get(&self, i: usize) -> Option<u32> {
        match self {
            StringUnits::Bytes(b) => b.get(i).map(|&b| b.into()),
            StringUnits::Wide(w) => w.get(i).copied(),
        }
    }
}

/// `_Generic(control, type: expr, …, default: expr)`.
#[derive(Clone, Debug)]
pub struct Generic {
    /// The expression whose type selects; not evaluated.
    pub control: ExprId,
    /// The associations in order.
    pub assocs: Vec<GenericAssoc>,
}

/// One association of `_Generic`.
#[derive(Clone, Copy, Debug)]
pub struct GenericAssoc {
    /// The type; `None` for `default`.
    pub ty: Option<TypeNameId>,
    /// The expression.
    pub expr: ExprId,
}

/// A unary operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `+e`
    Plus,
    /// `-e`
    Neg,
    /// `~e`
    BitNot,
    /// `!e`
    Not,
    /// `*e`
    Deref,
    /// `&e`
    AddrOf,
    /// `++e`
    PreInc,
    /// `--e`
    PreDec,
    /// `e++`
    PostInc,
    /// `e--`
    PostDec,
    /// `__real__ e`
    Real,
    /// `__imag__ e`
    Imag,
}

/// A binary operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `>`
    Gt,
    /// `<=`
    Le,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
}
