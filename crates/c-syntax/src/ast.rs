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

mod annotation;
mod decl;
mod expr;
mod stmt;

pub use annotation::*;
pub use decl::*;
pub use expr::*;
pub use stmt::*;

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
    /// The arithmetic that it mentions outside [`TranslationUnit::prototypes`].
    pub uses: Arithmetic,
    /// Functions that are declared only, with the arithmetic that their types mention.
    pub prototypes: Vec<(Symbol, Arithmetic)>,
}

/// Arithmetic whose operators call functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arithmetic {
    /// Complex numbers.
    pub complex: bool,
    /// `_Float16` and `_Float128`.
    pub soft_float: bool,
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
            uses: Arithmetic::default(),
            prototypes: Vec::new(),
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
// There are few items, and nearly all are functions.
#[allow(clippy::large_enum_variant)]
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
