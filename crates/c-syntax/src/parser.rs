//! The parser: recursive descent over the token vector, with precedence climbing for binary
//! operators and bounded nesting.
//!
//! A function that returns [`Parsed`] has already reported what went wrong when it returns
//! [`Failed`]; whoever can go on from there (a statement, a declaration, a condition) calls one of
//! the recovery functions of [`recover`].

mod annotation;
mod attr;
mod builtin;
mod decl;
mod declarator;
mod expr;
mod init;
mod record;
mod recover;
mod scope;
mod specs;
mod stmt;
mod unit;

use crate::ast::{Derived, Expr, ExprId, ExprKind, Ident, Param, Stmt, StmtId, StmtKind, TranslationUnit};
use crate::intern::{Interner, Symbol};
use crate::lexer::Lexed;
use crate::token::{Tok, Token};
use crate::{MAX_EXPR_HEIGHT, MAX_NESTING};
use palisade_base::{Diagnostic, FileId, Span};
use scope::Scopes;

pub(crate) use annotation::{AnnotationText, tokens as annotation_tokens};

/// An error was reported; the construct is given up.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// Errors reported for one file before the parser gives up.
const MAX_ERRORS: usize = 50;

/// Parses a whole file.
pub(crate) fn translation_unit(
    file: FileId,
    text: &str,
    base: u32,
    lexed: Lexed,
    interner: &mut Interner,
) -> (TranslationUnit, Vec<Diagnostic>) {
    let mut parser = Parser {
        text,
        base,
        tokens: &lexed.tokens,
        pos: 0,
        interner,
        tu: TranslationUnit::new(file),
        errors: lexed.diags.iter().filter(|d| d.is_error()).count(),
        diags: lexed.diags,
        last_error: None,
        stopped: false,
        scopes: Scopes::default(),
        depth: 0,
        heights: Vec::with_capacity(lexed.tokens.len() / 2),
        pending_ops: Vec::new(),
        pending_exprs: Vec::new(),
        frames: Vec::new(),
        pending_stmts: Vec::new(),
        pending_ifs: Vec::new(),
        pending_pointers: Vec::new(),
        pending_params: Vec::new(),
        packs: record::Packs::new(text, base, &lexed.pragmas),
        c23: lexed.c23,
        annotations: &lexed.annotations,
        next_annotation: 0,
        left_out: 0,
    };
    parser.unit();
    let Parser { mut tu, mut diags, .. } = parser;
    tu.pragmas = lexed.pragmas;
    diags.sort_by_key(|d| d.span.lo);
    (tu, diags)
}

struct Parser<'a> {
    text: &'a str,
    /// Offset of the text's first byte in the source map.
    base: u32,
    /// The last one is [`Tok::Eof`].
    tokens: &'a [Token],
    /// The next token; never past the last.
    pos: usize,
    interner: &'a mut Interner,
    tu: TranslationUnit,
    diags: Vec<Diagnostic>,
    errors: usize,
    /// Where the last error was reported, to report one error per token.
    last_error: Option<usize>,
    /// After too many errors or too deep nesting nothing more is reported.
    stopped: bool,
    scopes: Scopes,
    /// How many constructs are open.
    depth: usize,
    /// Height of each expression, left spines of binary operators not counted.
    heights: Vec<u16>,
    /// Operators waiting for their right operand; every user leaves it as it found it.
    pending_ops: Vec<expr::PendingOp>,
    /// Arguments of calls that are still open.
    pending_exprs: Vec<ExprId>,
    /// Statements that are still open.
    frames: Vec<stmt::Frame>,
    /// Statements of blocks that are still open.
    pending_stmts: Vec<StmtId>,
    /// Links of `else if` chains that are still open.
    pending_ifs: Vec<stmt::IfLink>,
    /// Pointers of declarators whose name is still to come.
    pending_pointers: Vec<Derived>,
    /// Parameters of function declarators that are still open.
    pending_params: Vec<Param>,
    packs: record::Packs,
    /// Whether the text is C23.
    c23: bool,
    /// Annotations in the order of the text, and the number of the first that was not read.
    annotations: &'a [AnnotationText],
    next_annotation: usize,
    /// Annotations that were left out.
    left_out: usize,
}

impl Parser<'_> {
    #[inline]
    fn tok(&self) -> Token {
        self.tokens[self.pos]
    }

    #[inline]
    fn peek(&self) -> Tok {
        self.tokens[self.pos].kind
    }

    /// The token after the next `n`.
    #[inline]
    fn ahead(&self, n: usize) -> Token {
        self.tokens[(self.pos + n).min(self.tokens.len() - 1)]
    }

    /// Takes the next token; the end of the file is never passed.
    #[inline]
    fn bump(&mut self) -> Token {
        let token = self.tokens[self.pos];
        if self.pos + 1 < self.tokens.len() {
            self.pos += 1;
        }
        token
    }

    /// Takes the next token if it is of that kind.
    #[inline]
    fn eat(&mut self, kind: Tok) -> Option<Token> {
        (self.peek() == kind).then(|| self.bump())
    }

    /// Where the last taken token ends.
    #[inline]
    fn prev_hi(&self) -> u32 {
        match self.pos.checked_sub(1) {
            Some(i) => self.tokens[i].hi,
            None => self.base,
        }
    }

    /// From `lo` to the end of the last taken token.
    #[inline]
    fn span_from(&self, lo: u32) -> Span {
        Span::new(lo, self.prev_hi().max(lo))
    }

    fn token_text(&self, token: Token) -> &str {
        &self.text[(token.lo - self.base) as usize..(token.hi - self.base) as usize]
    }

    /// Takes the next token, which must be of that kind; `context` completes
    /// "expected `;` …, found …".
    #[inline]
    fn expect(&mut self, kind: Tok, context: &str) -> Parsed<Token> {
        if self.peek() == kind {
            return Ok(self.bump());
        }
        let expected = match kind {
            Tok::Ident | Tok::Str => kind.text().into(),
            _ => format!("`{}`", kind.text()),
        };
        self.expected(&format!("{expected} {context}"))
    }

    /// Takes a name.
    #[inline]
    fn ident(&mut self, context: &str) -> Parsed<Ident> {
        let token = self.expect(Tok::Ident, context)?;
        Ok(Ident { name: Symbol(token.data), span: token.span() })
    }

    /// Opens one level of nesting; the caller closes it by `self.depth -= 1`.
    #[inline]
    fn enter(&mut self) -> Parsed<()> {
        if self.depth >= MAX_NESTING {
            return self.too_deep(self.tok().span(), MAX_NESTING);
        }
        self.depth += 1;
        Ok(())
    }

    /// Runs `f` one level deeper.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.enter()?;
        let result = f(self);
        self.depth -= 1;
        result
    }

    #[inline]
    fn height(&self, e: ExprId) -> u16 {
        self.heights[e.0 as usize]
    }

    /// The height of the highest expression added since there were `first` of them.
    #[inline]
    fn height_since(&self, first: usize) -> u16 {
        self.heights[first..].iter().copied().max().unwrap_or(0)
    }

    /// Adds an expression over operands of at most the given height.
    #[inline]
    fn expr_over(&mut self, kind: ExprKind, span: Span, operands: u16) -> Parsed<ExprId> {
        if operands as usize >= MAX_EXPR_HEIGHT {
            return self.too_deep(span, MAX_EXPR_HEIGHT);
        }
        self.heights.push(operands + 1);
        Ok(self.tu.exprs.push(Expr { kind, span }))
    }

    /// Adds an expression without operands.
    #[inline]
    fn leaf(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.heights.push(0);
        self.tu.exprs.push(Expr { kind, span })
    }

    #[inline]
    fn span_of(&self, e: ExprId) -> Span {
        self.tu.exprs[e].span
    }

    #[inline]
    fn stmt(&mut self, kind: StmtKind, span: Span) -> StmtId {
        self.tu.stmts.push(Stmt { kind, span })
    }

    /// Whether the token starts a type name, given the typedefs in scope.
    #[inline]
    fn is_type_start(&self, token: Token) -> bool {
        token.kind.starts_specifiers() || self.is_typedef_name(token)
    }

    #[inline]
    fn is_typedef_name(&self, token: Token) -> bool {
        token.kind == Tok::Ident && self.scopes.is_typedef(Symbol(token.data))
    }
}
