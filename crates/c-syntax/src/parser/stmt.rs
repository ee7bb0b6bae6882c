//! Statements, without recursion: see [`Frame`].

use super::decl::{Declared, Place};
use super::{Parsed, Parser};
use crate::MAX_STATEMENT_NESTING;
use crate::ast::*;
use crate::intern::Symbol;
use crate::token::{Tok, Token};
use palisade_base::Span;

/// A statement that waits for a statement inside it. Blocks and bodies nest on a stack of these
/// and not on the machine's, because generated code nests them by the hundred.
pub(super) enum Frame {
    /// `{`; the statements so far are on `pending_stmts` from `first` on.
    Block {
        open: Token,
        first: usize,
    },
    /// `if (cond)` waiting for its first branch; the links of an `else if` chain before it are on
    /// `pending_ifs` from `first` on.
    Then {
        first: usize,
        lo: u32,
        cond: ExprId,
    },
    /// `else` waiting for its branch.
    Else {
        first: usize,
    },
    Switch {
        lo: u32,
        value: ExprId,
    },
    While {
        lo: u32,
        cond: ExprId,
    },
    Do {
        lo: u32,
    },
    For {
        lo: u32,
        init: ForInit,
        cond: Option<ExprId>,
        step: Option<ExprId>,
    },
    Labeled {
        lo: u32,
        labels: Vec<Label>,
    },
    /// Annotations before a loop.
    Annotated {
        lo: u32,
        clauses: Vec<Clause>,
    },
}

/// An `if` whose `else` is being read: offset of the keyword, condition and first branch.
pub(super) type IfLink = (u32, ExprId, StmtId);

/// What reading a statement's head led to.
enum Head {
    /// A whole statement.
    Whole(StmtKind),
    /// A statement that waits for others inside it.
    Open(Frame),
}

impl Parser<'_> {
    /// `{ … }`. Errors inside are reported and passed over; at anything but a brace an error is
    /// reported and the block is [`StmtKind::Error`].
    pub(super) fn block(&mut self) -> StmtId {
        let open = self.tok();
        let base = self.frames.len();
        if self.expect(Tok::LBrace, "to start the block").is_err() || self.open_block(open).is_err() {
            return self.stmt(StmtKind::Error, open.span());
        }
        loop {
            let Some(mut stmt) = self.next_statement() else { continue };
            // A complete statement may complete those that waited for it.
            while self.frames.len() > base {
                match self.complete(stmt) {
                    Some(outer) => stmt = outer,
                    None => break,
                }
            }
            if self.frames.len() == base {
                return stmt;
            }
        }
    }

    fn open_block(&mut self, open: Token) -> Parsed<()> {
        let first = self.pending_stmts.len();
        self.push_frame(Frame::Block { open, first })?;
        self.scopes.open();
        Ok(())
    }

    fn push_frame(&mut self, frame: Frame) -> Parsed<()> {
        if self.frames.len() >= MAX_STATEMENT_NESTING {
            return self.too_deep(self.tok().span(), MAX_STATEMENT_NESTING);
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Closes the innermost block if it ends here, else reads a statement or the head of one;
    /// `None` if that opened another frame. What is broken is skipped and becomes
    /// [`StmtKind::Error`].
    fn next_statement(&mut self) -> Option<StmtId> {
        let in_block = matches!(self.frames.last(), Some(Frame::Block { .. }));
        if self.at_annotation()
            && let Some(done) = self.annotation_here(in_block)
        {
            return done;
        }
        let token = self.tok();
        match (token.kind, self.frames.last()) {
            (Tok::RBrace | Tok::Eof, Some(&Frame::Block { open, first })) => {
                return Some(self.close_block(open, first));
            }
            // A label at the end of a block labels nothing.
            (Tok::RBrace, Some(Frame::Labeled { .. })) => {
                return Some(self.stmt(StmtKind::Empty, Span::new(self.prev_hi(), self.prev_hi())));
            }
            (_, Some(Frame::Block { .. } | Frame::Labeled { .. })) => {}
            _ if self.at_declaration() => {
                let message = "a declaration is not allowed here; enclose it in braces";
                let _: Parsed<()> = self.error_at(token.span(), message);
            }
            _ => {}
        }
        let before = self.pos;
        match self.head() {
            Ok(Head::Whole(kind)) => Some(self.stmt(kind, self.span_from(token.lo))),
            Ok(Head::Open(Frame::Block { open, .. })) => match self.open_block(open) {
                Ok(()) => None,
                Err(_) => Some(self.stmt(StmtKind::Error, open.span())),
            },
            Ok(Head::Open(frame)) => match self.push_frame(frame) {
                Ok(()) => None,
                Err(_) => Some(self.stmt(StmtKind::Error, token.span())),
            },
            Err(_) => {
                self.skip_statement();
                if self.pos == before && in_block {
                    self.bump();
                }
                Some(self.stmt(StmtKind::Error, self.span_from(token.lo)))
            }
        }
    }

    /// Reads annotations before a statement: a statement of its own, a frame that waits for a loop, or nothing.
    fn annotation_here(&mut self, in_block: bool) -> Option<Option<StmtId>> {
        let span = self.annotations[self.next_annotation].span;
        let labelled = matches!(self.frames[..], [.., Frame::Block { .. }, Frame::Labeled { .. }]);
        if !in_block && !labelled {
            self.annotation(&[]);
            return None;
        }
        let before_loop = matches!(self.peek(), Tok::While | Tok::For | Tok::Do);
        let kinds = [ClauseKind::Assert, ClauseKind::Invariant];
        let mut clauses = self.annotation(&kinds[..if before_loop { 2 } else { 1 }]);
        let invariants: Vec<Clause> = clauses.extract_if(.., |c| c.kind == ClauseKind::Invariant).collect();
        if !invariants.is_empty() {
            // In one annotation there are no other clauses beside those of a loop.
            clauses.iter().for_each(|clause| self.leave_out(clause.span));
            let frame = Frame::Annotated { lo: span.lo, clauses: invariants };
            return match self.push_frame(frame) {
                Ok(()) => Some(None),
                Err(_) => Some(Some(self.stmt(StmtKind::Error, span))),
            };
        }
        (!clauses.is_empty()).then(|| Some(self.stmt(StmtKind::Demand(clauses), span)))
    }

    /// Ends the innermost block and takes its frame away.
    fn close_block(&mut self, open: Token, first: usize) -> StmtId {
        if self.eat(Tok::RBrace).is_none() {
            let _: Parsed<()> = self.unclosed(open.span());
        }
        self.scopes.close();
        self.frames.pop();
        let start = self.tu.stmt_pool.len() as u32;
        self.tu.stmt_pool.extend(self.pending_stmts.drain(first..));
        let len = self.tu.stmt_pool.len() as u32 - start;
        self.stmt(StmtKind::Block(StmtList { start, len }), self.span_from(open.lo))
    }

    /// Gives a complete statement to the innermost frame. Returns that frame's statement if it is
    /// complete now.
    fn complete(&mut self, stmt: StmtId) -> Option<StmtId> {
        let (lo, kind) = match self.frames.pop()? {
            frame @ Frame::Block { .. } => {
                self.frames.push(frame);
                self.pending_stmts.push(stmt);
                return None;
            }
            Frame::Then { first, lo, cond } => {
                self.pending_ifs.push((lo, cond, stmt));
                if self.eat(Tok::Else).is_none() {
                    return Some(self.close_ifs(first, None));
                }
                // The chain goes on in the same frame, however long it is.
                let next = match self.eat(Tok::If) {
                    Some(keyword) => {
                        let cond = self.condition("if");
                        Frame::Then { first, lo: keyword.lo, cond }
                    }
                    None => Frame::Else { first },
                };
                self.frames.push(next);
                return None;
            }
            Frame::Else { first } => return Some(self.close_ifs(first, Some(stmt))),
            Frame::Switch { lo, value } => (lo, StmtKind::Switch { value, body: stmt }),
            Frame::While { lo, cond } => (lo, StmtKind::While { cond, body: stmt }),
            Frame::Do { lo } => {
                let kind = self.do_while_end(stmt).unwrap_or_else(|_| {
                    self.skip_statement();
                    StmtKind::Error
                });
                (lo, kind)
            }
            Frame::For { lo, init, cond, step } => {
                self.scopes.close();
                (lo, StmtKind::For { init, cond, step, body: stmt })
            }
            Frame::Labeled { lo, labels } => (lo, StmtKind::Labeled { labels, stmt }),
            Frame::Annotated { lo, clauses } => (lo, StmtKind::Annotated { clauses, stmt }),
        };
        Some(self.stmt(kind, self.span_from(lo)))
    }

    /// Builds the `if` statements of a chain, the last one first.
    fn close_ifs(&mut self, first: usize, mut else_: Option<StmtId>) -> StmtId {
        loop {
            // Every chain has at least the link that its first branch completed.
            let (lo, cond, then) = self.pending_ifs.pop().expect("an `if` chain has a link");
            let link = self.stmt(StmtKind::If { cond, then, else_ }, self.span_from(lo));
            if self.pending_ifs.len() == first {
                return link;
            }
            else_ = Some(link);
        }
    }

    /// Whether a declaration starts here: `__extension__` may precede both kinds.
    fn at_declaration(&self) -> bool {
        let mut n = 0;
        while self.ahead(n).kind == Tok::Extension {
            n += 1;
        }
        let token = self.ahead(n);
        match token.kind {
            // `name:` is a label even if the name is a typedef's; two names in a row can only be
            // a declaration with an unknown type.
            Tok::Ident => {
                let next = self.ahead(n + 1).kind;
                next != Tok::Colon && (next == Tok::Ident || self.is_typedef_name(token))
            }
            Tok::Attribute => false,
            kind => kind.starts_specifiers(),
        }
    }

    /// Reads a statement up to the first statement inside it.
    fn head(&mut self) -> Parsed<Head> {
        let token = self.tok();
        let lo = token.lo;
        Ok(Head::Whole(match token.kind {
            Tok::Semi => {
                self.bump();
                StmtKind::Empty
            }
            Tok::LBrace => {
                self.bump();
                return Ok(Head::Open(Frame::Block { open: token, first: 0 }));
            }
            Tok::If => {
                self.bump();
                let cond = self.condition("if");
                return Ok(Head::Open(Frame::Then { first: self.pending_ifs.len(), lo, cond }));
            }
            Tok::Switch => {
                self.bump();
                let value = self.condition("switch");
                return Ok(Head::Open(Frame::Switch { lo, value }));
            }
            Tok::While => {
                self.bump();
                let cond = self.condition("while");
                return Ok(Head::Open(Frame::While { lo, cond }));
            }
            Tok::Do => {
                self.bump();
                return Ok(Head::Open(Frame::Do { lo }));
            }
            Tok::For => return self.for_head().map(Head::Open),
            Tok::Case | Tok::Default => return self.labels().map(Head::Open),
            Tok::Ident if self.ahead(1).kind == Tok::Colon => return self.labels().map(Head::Open),
            Tok::Goto => {
                self.bump();
                let kind = match self.eat(Tok::Star) {
                    Some(_) => StmtKind::GotoComputed(self.expr()?),
                    None => StmtKind::Goto(self.ident("or `*` after `goto`")?),
                };
                self.expect_semi("after `goto`")?;
                kind
            }
            Tok::Continue => {
                self.bump();
                self.expect_semi("after `continue`")?;
                StmtKind::Continue
            }
            Tok::Break => {
                self.bump();
                self.expect_semi("after `break`")?;
                StmtKind::Break
            }
            Tok::Return => {
                self.bump();
                let value = match self.peek() {
                    Tok::Semi | Tok::RBrace => None,
                    _ => Some(self.expr()?),
                };
                self.expect_semi("after `return`")?;
                StmtKind::Return(value)
            }
            Tok::Asm => StmtKind::Asm(Box::new(self.asm_statement()?)),
            Tok::LabelDecl => self.local_labels()?,
            Tok::StaticAssert => StmtKind::StaticAssert(self.static_assert()?),
            Tok::Else => return self.error_at(token.span(), "`else` without `if`"),
            Tok::Attribute | Tok::LBracket if self.at_attribute() => {
                // `__attribute__((fallthrough));`, or the first specifier of a declaration.
                let before = self.pos;
                self.attributes(&mut Vec::new())?;
                if self.eat(Tok::Semi).is_some() {
                    StmtKind::Empty
                } else {
                    if self.at_declaration() {
                        self.pos = before;
                        return self.local_declaration().map(Head::Whole);
                    }
                    // Attributes of a statement say nothing about what it does. All of them were
                    // taken, so this is no deep recursion.
                    return self.head();
                }
            }
            _ if self.at_declaration() => self.local_declaration()?,
            _ => {
                let e = self.expr()?;
                self.expect_semi("after the expression")?;
                StmtKind::Expr(e)
            }
        }))
    }

    fn local_declaration(&mut self) -> Parsed<StmtKind> {
        Ok(match self.declaration(Place::Block)? {
            Declared::Declaration(id) => StmtKind::Decl(id),
            Declared::Function(function) => StmtKind::Function(function),
        })
    }

    /// `(expression)` after a keyword. If it is broken, goes on behind its parenthesis.
    fn condition(&mut self, keyword: &str) -> ExprId {
        let open = self.pos;
        match self.condition_inside(keyword) {
            Ok(e) => e,
            Err(_) => {
                let span = self.tok().span();
                if self.tokens[open].kind == Tok::LParen {
                    self.skip_parens(open, false);
                }
                self.leaf(ExprKind::Error, span)
            }
        }
    }

    fn condition_inside(&mut self, keyword: &str) -> Parsed<ExprId> {
        if self.peek() != Tok::LParen {
            return self.expected(&format!("`(` after `{keyword}`"));
        }
        self.bump();
        let cond = self.expr()?;
        self.expect(Tok::RParen, "after the condition")?;
        Ok(cond)
    }

    /// `while (condition);` after the body of `do`
    fn do_while_end(&mut self, body: StmtId) -> Parsed<StmtKind> {
        let keyword = self.expect(Tok::While, "after the body of `do`")?;
        let cond = self.condition("while");
        self.expect_semi("after `do … while`")?;
        Ok(StmtKind::DoWhile { body, cond, while_pos: keyword.lo })
    }

    /// `for (…)`. Its scope stays open until the body is complete.
    fn for_head(&mut self) -> Parsed<Frame> {
        let lo = self.bump().lo;
        let open = self.pos;
        self.scopes.open();
        match self.for_header() {
            Ok((init, cond, step)) => Ok(Frame::For { lo, init, cond, step }),
            // Without its parenthesis nothing tells the header from the body.
            Err(_) if self.tokens[open].kind == Tok::LParen && self.skip_parens(open, true) => {
                Ok(Frame::For { lo, init: ForInit::None, cond: None, step: None })
            }
            Err(failed) => {
                self.scopes.close();
                Err(failed)
            }
        }
    }

    fn for_header(&mut self) -> Parsed<(ForInit, Option<ExprId>, Option<ExprId>)> {
        self.expect(Tok::LParen, "after `for`")?;
        let init = if self.eat(Tok::Semi).is_some() {
            ForInit::None
        } else if self.at_declaration() || self.peek() == Tok::Attribute {
            match self.declaration(Place::Block)? {
                Declared::Declaration(id) => ForInit::Decl(id),
                Declared::Function(f) => {
                    let _: Parsed<()> = self.error_at(f.span, "a function definition in the header of `for`");
                    ForInit::None
                }
            }
        } else {
            let e = self.expr()?;
            self.expect(Tok::Semi, "after the first part of `for`")?;
            ForInit::Expr(e)
        };
        let cond = match self.peek() {
            Tok::Semi => None,
            _ => Some(self.expr()?),
        };
        self.expect(Tok::Semi, "after the condition of `for`")?;
        let step = match self.peek() {
            Tok::RParen => None,
            _ => Some(self.expr()?),
        };
        self.expect(Tok::RParen, "after the header of `for`")?;
        Ok((init, cond, step))
    }

    /// All labels in a row.
    fn labels(&mut self) -> Parsed<Frame> {
        let lo = self.tok().lo;
        let mut labels = Vec::new();
        loop {
            let token = self.tok();
            match token.kind {
                Tok::Case => labels.push(self.case_label(token)?),
                Tok::Default => {
                    self.bump();
                    self.expect(Tok::Colon, "after `default`")?;
                    labels.push(Label::Default { span: self.span_from(token.lo) });
                }
                Tok::Ident if self.ahead(1).kind == Tok::Colon => {
                    self.bump();
                    self.bump();
                    let name = Ident { name: Symbol(token.data), span: token.span() };
                    labels.push(Label::Name { name, attrs: self.label_attributes()? });
                }
                _ => break,
            }
        }
        labels.shrink_to_fit();
        Ok(Frame::Labeled { lo, labels })
    }

    /// Attributes after a label belong to it, unless a declaration follows.
    fn label_attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let before = self.pos;
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        if self.pos != before && self.at_declaration() {
            self.pos = before;
            attrs.clear();
        }
        Ok(attrs)
    }

    /// `case lo:` or `case lo ... hi:`
    fn case_label(&mut self, keyword: Token) -> Parsed<Label> {
        self.bump();
        let lo = self.conditional()?;
        let hi = match self.eat(Tok::Ellipsis) {
            Some(_) => Some(self.conditional()?),
            None => None,
        };
        self.expect(Tok::Colon, "after the `case` value")?;
        Ok(Label::Case { lo, hi, span: self.span_from(keyword.lo) })
    }

    /// `__label__ a, b;`
    fn local_labels(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let mut names = Vec::new();
        loop {
            names.push(self.ident("in the list of local labels")?);
            if self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect_semi("after the local labels")?;
        Ok(StmtKind::LocalLabels(names))
    }
}
