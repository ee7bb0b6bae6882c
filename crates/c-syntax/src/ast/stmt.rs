//! Statements.

use super::{Attribute, Clause, DeclId, ExprId, FunctionDef, Ident, StaticAssert, StmtId, StmtList, StrId};
use crate::intern::Symbol;
use palisade_base::Span;

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
    /// A function definition among statements (GNU).
    Function(Box<FunctionDef>),
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
    /// What annotations demand here.
    Demand(Vec<Clause>),
    /// A loop and what annotations before it demand of it.
    Annotated {
        /// The clauses.
        clauses: Vec<Clause>,
        /// The loop.
        stmt: StmtId,
    },
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
