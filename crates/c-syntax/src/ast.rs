//! The syntax tree of one translation unit.
//!
//! Expressions, statements, declarations, type names, records and enumerations live in arenas
//! owned by [`TranslationUnit`] and are named by 32-bit ids; nothing is boxed recursively, so
//! dropping a tree never recurses. Operands are pushed before the expression that uses them:
//! an operand's [`ExprId`] is always smaller than its user's.
//!
//! # How deep the tree can be
//! The parser rejects what is nested too deep: declarators, records and initialisers beyond
//! [`MAX_NESTING`](crate::MAX_NESTING), expressions beyond
//! [`MAX_EXPR_HEIGHT`](crate::MAX_EXPR_HEIGHT), statements beyond
//! [`MAX_STATEMENT_NESTING`](crate::MAX_STATEMENT_NESTING). Three shapes that generated code makes
//! arbitrarily long do not count; a consumer must walk them by a loop and not by recursion:
//! - the left spine of [`ExprKind::Binary`] and [`ExprKind::Comma`] (`a + b + c + …`),
//! - the `else_` chain of [`StmtKind::If`] (`else if … else if …`).
//!
//! Parentheses leave no node; they only widen the span of the expression they enclose.

use crate::intern::Symbol;
use palisade_base::{FileId, IdxVec, Span};

palisade_base::idx! {
    /// An expression of a [`TranslationUnit`].
    pub struct ExprId = "e";
    /// A statement of a [`TranslationUnit`].
    pub struct StmtId = "s";
    /// A declaration of a [`TranslationUnit`].
    pub struct DeclId = "d";
    /// A type name, as in casts and `sizeof`.
    pub struct TypeNameId = "t";
    /// A `struct` or `union` specifier.
    pub struct RecordId = "r";
    /// An `enum` specifier.
    pub struct EnumId = "n";
    /// A string literal.
    pub struct StrId = "str";
    /// A braced initialiser list.
    pub struct InitListId = "i";
}

/// Everything read from one file.
#[derive(Clone, Debug)]
pub struct TranslationUnit {
    /// The file it was read from.
    pub file: FileId,
    /// The external declarations, in source order.
    pub items: Vec<Item>,
    /// All expressions.
    pub exprs: IdxVec<ExprId, Expr>,
    /// All statements.
    pub stmts: IdxVec<StmtId, Stmt>,
    /// All declarations, external and local.
    pub decls: IdxVec<DeclId, Declaration>,
    /// All type names.
    pub type_names: IdxVec<TypeNameId, TypeName>,
    /// All `struct` and `union` specifiers, definitions and mere mentions alike.
    pub records: IdxVec<RecordId, RecordSpec>,
    /// All `enum` specifiers, definitions and mere mentions alike.
    pub enums: IdxVec<EnumId, EnumSpec>,
    /// All string literals, adjacent ones already joined.
    pub strings: IdxVec<StrId, StringLit>,
    /// All braced initialiser lists.
    pub init_lists: IdxVec<InitListId, InitList>,
    /// The pool behind [`ExprList`]; read it with [`TranslationUnit::expr_list`].
    pub expr_pool: Vec<ExprId>,
    /// The pool behind [`StmtList`]; read it with [`TranslationUnit::stmt_list`].
    pub stmt_pool: Vec<StmtId>,
    /// `#pragma` lines, in source order (`#pragma pack` is already applied, see
    /// [`RecordSpec::pack`]).
    pub pragmas: Vec<Span>,
}

impl TranslationUnit {
    /// An empty unit.
    pub fn new(file: FileId) -> Self {
        TranslationUnit {
            file,
            items: Vec::new(),
            exprs: IdxVec::new(),
            stmts: IdxVec::new(),
            decls: IdxVec::new(),
            type_names: IdxVec::new(),
            records: IdxVec::new(),
            enums: IdxVec::new(),
            strings: IdxVec::new(),
            init_lists: IdxVec::new(),
            expr_pool: Vec::new(),
            stmt_pool: Vec::new(),
            pragmas: Vec::new(),
        }
    }
    /// The members of a list of expressions.
    pub fn expr_list(&self, list: ExprList) -> &[ExprId] {
        &self.expr_pool[list.start as usize..(list.start + list.len) as usize]
    }
    /// The members of a list of statements.
    pub fn stmt_list(&self, list: StmtList) -> &[StmtId] {
        &self.stmt_pool[list.start as usize..(list.start + list.len) as usize]
    }
}

/// A run of expressions in [`TranslationUnit::expr_pool`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExprList {
    /// Index of the first member in the pool.
    pub start: u32,
    /// Number of members.
    pub len: u32,
}

/// A run of statements in [`TranslationUnit::stmt_pool`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StmtList {
    /// Index of the first member in the pool.
    pub start: u32,
    /// Number of members.
    pub len: u32,
}

/// A name where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// Its position.
    pub span: Span,
}

/// An external declaration.
#[derive(Clone, Debug)]
pub enum Item {
    /// A function definition.
    Function(FunctionDef),
    /// Any other declaration.
    Declaration(DeclId),
    /// `_Static_assert(…);`
    StaticAssert(StaticAssert),
    /// `asm("…");` outside functions.
    Asm {
        /// The assembler text.
        text: StrId,
        /// The whole declaration.
        span: Span,
    },
}

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
    /// The body, a [`StmtKind::Block`].
    pub body: StmtId,
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
    /// `__auto_type`: the type of the initialiser.
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
    /// `({ … })`; the statement is a [`StmtKind::Block`].
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

/// A statement with its position.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// The whole statement with its semicolon or closing brace; it starts at the keyword of `if`,
    /// `while`, `for`, `do`, `switch`, …
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Something that was in error; a diagnostic was given.
    Error,
    /// `;`
    Empty,
    /// `expression;`
    Expr(ExprId),
    /// A declaration among statements.
    Decl(DeclId),
    /// `_Static_assert(…);`
    StaticAssert(StaticAssert),
    /// `__label__ a, b;`
    LocalLabels(Vec<Ident>),
    /// `{ … }`; declarations are statements too.
    Block(StmtList),
    /// `label: case 1: default: … statement`. All labels in a row are here, so `stmt` is never
    /// labelled itself. At the end of a block `stmt` is [`StmtKind::Empty`].
    Labeled {
        /// The labels in order.
        labels: Vec<Label>,
        /// What they label.
        stmt: StmtId,
    },
    /// `if`
    If {
        /// The condition.
        cond: ExprId,
        /// Executed if it holds.
        then: StmtId,
        /// Executed otherwise. `else if` chains may be very long.
        else_: Option<StmtId>,
    },
    /// `switch`
    Switch {
        /// The value switched on.
        value: ExprId,
        /// The body, usually a block with `case` labels anywhere inside.
        body: StmtId,
    },
    /// `while`
    While {
        /// The condition.
        cond: ExprId,
        /// The body.
        body: StmtId,
    },
    /// `do`
    DoWhile {
        /// The body.
        body: StmtId,
        /// The condition.
        cond: ExprId,
        /// Offset of the keyword `while`.
        while_pos: u32,
    },
    /// `for`
    For {
        /// The first part.
        init: ForInit,
        /// The condition; absent means true.
        cond: Option<ExprId>,
        /// The third part.
        step: Option<ExprId>,
        /// The body.
        body: StmtId,
    },
    /// `goto label;`
    Goto(Ident),
    /// `goto *expression;`
    GotoComputed(ExprId),
    /// `continue;`
    Continue,
    /// `break;`
    Break,
    /// `return;` or `return expression;`
    Return(Option<ExprId>),
    /// `asm`
    Asm(Box<AsmStmt>),
}

/// The first part of `for`.
#[derive(Clone, Copy, Debug)]
pub enum ForInit {
    /// Nothing.
    None,
    /// An expression.
    Expr(ExprId),
    /// A declaration.
    Decl(DeclId),
}

/// One label of a statement.
#[derive(Clone, Debug)]
pub enum Label {
    /// `name:`
    Name {
        /// The name.
        name: Ident,
        /// Attributes after the colon (`unused`, `hot`, …).
        attrs: Vec<Attribute>,
    },
    /// `case lo:` or GNU `case lo ... hi:`
    Case {
        /// The value, or the first of the range.
        lo: ExprId,
        /// The last of the range.
        hi: Option<ExprId>,
        /// From `case` to the colon.
        span: Span,
    },
    /// `default:`
    Default {
        /// From `default` to the colon.
        span: Span,
    },
}

/// An assembler statement.
#[derive(Clone, Debug)]
pub struct AsmStmt {
    /// `volatile`
    pub volatile: bool,
    /// `goto`
    pub goto: bool,
    /// The template.
    pub template: StrId,
    /// The places it writes.
    pub outputs: Vec<AsmOperand>,
    /// The values it reads.
    pub inputs: Vec<AsmOperand>,
    /// Registers and `memory` that it clobbers.
    pub clobbers: Vec<StrId>,
    /// The labels `asm goto` may jump to.
    pub labels: Vec<Ident>,
}

/// `[name] "constraint" (expression)`.
#[derive(Clone, Copy, Debug)]
pub struct AsmOperand {
    /// The symbolic name.
    pub name: Option<Symbol>,
    /// The constraint.
    pub constraint: StrId,
    /// The place or value.
    pub expr: ExprId,
}
