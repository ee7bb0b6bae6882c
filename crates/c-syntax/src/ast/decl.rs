//! Declarations: specifiers, declarators, records, enumerations, attributes and initialisers.

use super::{Clause, DeclId, EnumId, ExprId, Ident, InitListId, RecordId, StmtId, StrId, TypeNameId};
use crate::intern::Symbol;
use palisade_base::Span;

/// A function definition, prototyped or K&R.
#[derive(Clone, Debug)]
pub struct FunctionDef {
    /// Storage, return type, `inline`, attributes.
    pub specs: DeclSpecs,
    /// The name; the innermost of its [`Declarator::derived`] is [`Derived::Function`] unless the
    /// function's type comes from a typedef, which C forbids and the type checker rejects.
    pub declarator: Declarator,
    /// Attributes between the declarator and the body.
    pub attrs: Vec<Attribute>,
    /// The parameter declarations of a K&R definition, between the declarator and the body.
    pub knr_decls: Vec<DeclId>,
    /// The body, a [`StmtKind::Block`](super::StmtKind::Block).
    pub body: StmtId,
    /// What annotations before it demand.
    pub contract: Vec<Clause>,
    /// Whether annotations before it or in it were left out.
    pub left_out: bool,
    /// From the first specifier to the closing brace.
    pub span: Span,
}

/// `specifiers declarator, declarator …;`
#[derive(Clone, Debug)]
pub struct Declaration {
    /// What stands before the declarators.
    pub specs: DeclSpecs,
    /// The declared names; empty for `struct s {…};`.
    pub declarators: Vec<InitDeclarator>,
    /// The whole declaration with its semicolon.
    pub span: Span,
}

/// A declarator with what may follow it in a declaration.
#[derive(Clone, Debug)]
pub struct InitDeclarator {
    /// The name and the type derivation.
    pub declarator: Declarator,
    /// `asm("name")`: the assembler name, or the register of a register variable.
    pub asm_label: Option<StrId>,
    /// Attributes after the declarator; they belong to the declared name.
    pub attrs: Vec<Attribute>,
    /// The initialiser.
    pub init: Option<Init>,
    /// From the declarator to the end of the initialiser.
    pub span: Span,
}

/// The specifiers of a declaration, a parameter, a member or a type name.
#[derive(Clone, Debug)]
pub struct DeclSpecs {
    /// At most one of `typedef extern static auto register`.
    pub storage: Option<Storage>,
    /// `_Thread_local` or `__thread`.
    pub thread_local: bool,
    /// `constexpr` (C23).
    pub constexpr: bool,
    /// `inline` in any spelling.
    pub inline: bool,
    /// `_Noreturn` (the attribute `noreturn` stays among `attrs`).
    pub noreturn: bool,
    /// `const volatile restrict _Atomic`.
    pub quals: Quals,
    /// The type specifiers, resolved to one type.
    pub ty: TypeSpec,
    /// The position of the type specifiers, or of the declaration if there is none.
    pub ty_span: Span,
    /// `_Alignas(…)` in source order.
    pub alignas: Vec<Alignas>,
    /// Attributes among the specifiers (those of a `struct` or `enum` are with the record).
    pub attrs: Vec<Attribute>,
    /// All specifiers.
    pub span: Span,
}

/// A storage class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// `typedef`
    Typedef,
    /// `extern`
    Extern,
    /// `static`
    Static,
    /// `auto`
    Auto,
    /// `register`
    Register,
}

/// A set of type qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Quals {
    /// `const`
    pub is_const: bool,
    /// `volatile`
    pub is_volatile: bool,
    /// `restrict`
    pub is_restrict: bool,
    /// `_Atomic` without parentheses
    pub is_atomic: bool,
}

/// One `_Alignas`.
#[derive(Clone, Copy, Debug)]
pub enum Alignas {
    /// `_Alignas(constant)`
    Expr(ExprId),
    /// `_Alignas(type)`
    Type(TypeNameId),
}

/// What the type specifiers of a declaration amount to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TypeSpec {
    /// A combination of basic keywords.
    Basic(BasicType),
    /// `_BitInt(width)`
    BitInt {
        /// The width, a constant.
        width: ExprId,
        /// Whether `unsigned` stands with it.
        unsigned: bool,
    },
    /// `_Complex` with the given real type (plain `_Complex` means `double`).
    Complex(BasicType),
    /// A typedef name.
    Typedef(Symbol),
    /// `__builtin_va_list`.
    VaList,
    /// `struct` or `union`.
    Record(RecordId),
    /// `enum`
    Enum(EnumId),
    /// `typeof(expression)`
    TypeofExpr {
        /// The expression, not evaluated unless its type is variably modified.
        expr: ExprId,
        /// `typeof_unqual`: qualifiers are removed.
        unqual: bool,
    },
    /// `typeof(type)`
    TypeofType {
        /// The type.
        ty: TypeNameId,
        /// `typeof_unqual`: qualifiers are removed.
        unqual: bool,
    },
    /// `_Atomic(type)`
    Atomic(TypeNameId),
    /// `__auto_type`, or `auto` without another type in C23: the type of the initialiser.
    AutoType,
    /// No specifier at all; C89's `int`. A warning was given.
    ImplicitInt,
    /// A specifier that was in error; a diagnostic was given.
    Error,
}

/// The types made of keywords alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // each name is the type it names
pub enum BasicType {
    Void,
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
    Float,
    Double,
    LongDouble,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Float128,
    Float32x,
    Float64x,
    /// `__float80`
    Float80,
    Decimal32,
    Decimal64,
    Decimal128,
}

/// The part of a declaration that carries the name and derives its type.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// The declared name; `None` in type names, unnamed parameters and unnamed bit-fields.
    pub name: Option<Ident>,
    /// The derivation, read from the name outwards: `int *(*f[3])(void)` has
    /// `[Array 3, Pointer, Function (void), Pointer]`, "f is an array of 3 pointers to functions
    /// returning a pointer to" the specified type. Build the type from the last to the first.
    pub derived: Vec<Derived>,
    /// Attributes inside the declarator that belong to no pointer, as in `(__stdcall f)`.
    pub attrs: Vec<Attribute>,
    /// The whole declarator; for an absent one, the empty span where it would stand.
    pub span: Span,
}

/// One step of type derivation.
#[derive(Clone, Debug)]
pub enum Derived {
    /// `* qualifiers attributes`
    Pointer {
        /// Qualifiers of the pointer itself.
        quals: Quals,
        /// Attributes of the pointer.
        attrs: Vec<Attribute>,
    },
    /// `[…]`
    Array {
        /// The number of elements.
        size: ArraySize,
        /// Qualifiers inside the brackets (parameters only).
        quals: Quals,
        /// `static` inside the brackets (parameters only).
        is_static: bool,
        /// The brackets.
        span: Span,
    },
    /// `(…)`
    Function(Box<FunctionDeclarator>),
}

/// The size between the brackets of an array declarator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ArraySize {
    /// `[]`
    Unspecified,
    /// `[*]`
    Star,
    /// `[expression]`, constant or not.
    Expr(ExprId),
}

/// The parentheses of a function declarator.
#[derive(Clone, Debug)]
pub struct FunctionDeclarator {
    /// What is between them.
    pub params: Params,
    /// The parentheses.
    pub span: Span,
}

/// The parameters of a function declarator.
#[derive(Clone, Debug)]
pub enum Params {
    /// `()`: unspecified in a declaration, none in a definition.
    Unspecified,
    /// A prototype. `(void)` is an empty one.
    Prototype {
        /// The parameters in order.
        params: Vec<Param>,
        /// Whether `...` follows.
        variadic: bool,
    },
    /// A K&R identifier list.
    Identifiers(Vec<Ident>),
}

/// One parameter of a prototype.
#[derive(Clone, Debug)]
pub struct Param {
    /// Specifiers; only `register` is a legal storage class.
    pub specs: DeclSpecs,
    /// The declarator, possibly without a name.
    pub declarator: Declarator,
    /// Attributes after the declarator.
    pub attrs: Vec<Attribute>,
    /// The whole parameter.
    pub span: Span,
}

/// A type without a declared name.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// Specifiers and qualifiers.
    pub specs: DeclSpecs,
    /// The abstract declarator.
    pub declarator: Declarator,
    /// The whole type name.
    pub span: Span,
}

/// `struct` or `union`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecordKind {
    /// `struct`
    Struct,
    /// `union`
    Union,
}

/// A `struct` or `union` specifier.
#[derive(Clone, Debug)]
pub struct RecordSpec {
    /// `struct` or `union`.
    pub kind: RecordKind,
    /// The tag.
    pub tag: Option<Ident>,
    /// The members, if this specifier defines the record (possibly none at all: `struct {}`).
    pub members: Option<Vec<Member>>,
    /// Attributes after the keyword and after the closing brace.
    pub attrs: Vec<Attribute>,
    /// The alignment limit of `#pragma pack(n)` in force at the closing brace.
    pub pack: Option<u8>,
    /// The whole specifier.
    pub span: Span,
}

/// One declaration inside a record.
#[derive(Clone, Debug)]
pub enum Member {
    /// `specifiers declarator : width, …;`. Without declarators and with a record type it is an
    /// anonymous member.
    Field {
        /// Specifiers and qualifiers.
        specs: DeclSpecs,
        /// The members declared.
        declarators: Vec<FieldDeclarator>,
        /// The whole declaration.
        span: Span,
    },
    /// `_Static_assert(…);`
    StaticAssert(StaticAssert),
}

/// One member of a record.
#[derive(Clone, Debug)]
pub struct FieldDeclarator {
    /// Name and type derivation; no name for unnamed bit-fields.
    pub declarator: Declarator,
    /// The width of a bit-field.
    pub width: Option<ExprId>,
    /// Attributes after the declarator.
    pub attrs: Vec<Attribute>,
    /// The whole member declarator.
    pub span: Span,
}

/// An `enum` specifier.
#[derive(Clone, Debug)]
pub struct EnumSpec {
    /// The tag.
    pub tag: Option<Ident>,
    /// The type that represents it, if it is given (C23 6.7.3.3).
    pub underlying: Option<TypeNameId>,
    /// The enumerators, if this specifier defines the enumeration.
    pub enumerators: Option<Vec<Enumerator>>,
    /// Attributes after the keyword and after the closing brace.
    pub attrs: Vec<Attribute>,
    /// The whole specifier.
    pub span: Span,
}

/// One enumeration constant.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Its name.
    pub name: Ident,
    /// Its value, if given.
    pub value: Option<ExprId>,
    /// Attributes after the name.
    pub attrs: Vec<Attribute>,
}

/// `_Static_assert(condition, "message")`.
#[derive(Clone, Copy, Debug)]
pub struct StaticAssert {
    /// Must be a constant other than zero.
    pub cond: ExprId,
    /// What to say if it is zero.
    pub message: Option<StrId>,
    /// The whole declaration.
    pub span: Span,
}

/// One attribute of `__attribute__((…))` or `[[…]]`.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name without the optional surrounding `__` and without `gnu::`.
    pub name: Symbol,
    /// The arguments.
    pub args: Vec<AttrArg>,
    /// Name and arguments.
    pub span: Span,
}

/// One argument of an attribute.
#[derive(Clone, Copy, Debug)]
pub enum AttrArg {
    /// A bare identifier, as in `mode(SI)` or `format(printf, 1, 2)`; what it means (a keyword of
    /// the attribute, a function, a constant) depends on the attribute.
    Ident(Ident),
    /// Any other expression.
    Expr(ExprId),
    /// A type.
    Type(TypeNameId),
}

/// An initialiser.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Init {
    /// A single expression.
    Expr(ExprId),
    /// `{…}`
    List(InitListId),
}

/// `{ item, item … }`, possibly empty.
#[derive(Clone, Debug)]
pub struct InitList {
    /// The items in order.
    pub items: Vec<InitItem>,
    /// With the braces.
    pub span: Span,
}

/// One item of a braced initialiser.
#[derive(Clone, Debug)]
pub struct InitItem {
    /// The designation; empty for the next subobject in order.
    pub designators: Box<[Designator]>,
    /// The value.
    pub value: Init,
}

/// One step of a designation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Designator {
    /// `.field`, or GNU `field:`
    Field(Ident),
    /// `[index]`
    Index(ExprId),
    /// GNU `[first ... last]`
    Range(ExprId, ExprId),
}
