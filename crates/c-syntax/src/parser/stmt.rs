//! Statements.

use super::decl::{Declared, Place};
use super::{Parsed, Parser};
use crate::ast::*;
use crate::intern::Symbol;
use crate::token::{Tok, Token};
use palisade_base::Span;

impl Parser<'_> {
    /// `{ … }`. Errors inside are reported and passed over; at anything but a brace an error is
    /// reported and the block is empty.
    pub(super) fn block(&mut self) -> StmtId {
        let open = self.tok();
        if self.expect(Tok::LBrace, "to start the block").is_err() {
            return self.stmt(StmtKind::Error, open.span());
        }
        self.scopes.open();
        let first = self.pending_stmts.len();
        loop {
            match self.peek() {
                Tok::RBrace => {
                    self.bump();
                    break;
                }
                Tok::Eof => {
                    let _: Parsed<()> = self.unclosed(open.span());
                    break;
                }
                _ => {
                    let stmt = self.block_item();
                    self.pending_stmts.push(stmt);
                }
            }
        }
        self.scopes.close();
        let start = self.tu.stmt_pool.len() as u32;
        self.tu.stmt_pool.extend(self.pending_stmts.drain(first..));
        let len = self.tu.stmt_pool.len() as u32 - start;
        self.stmt(StmtKind::Block(StmtList { start, len }), self.span_from(open.lo))
    }

    /// A statement or declaration; what is broken is skipped and becomes [`StmtKind::Error`].
    fn block_item(&mut self) -> StmtId {
        self.recovering(Self::item_or_statement)
    }

    /// A statement where no declaration is allowed, as the body of `if`.
    fn statement(&mut self) -> StmtId {
        self.recovering(|p| {
            if p.at_declaration() {
                let span = p.tok().span();
                let _: Parsed<()> =
                    p.error_at(span, "a declaration is not allowed here; enclose it in braces");
            }
            p.item_or_statement()
        })
    }

    fn recovering(&mut self, f: impl FnOnce(&mut Self) -> Parsed<StmtId>) -> StmtId {
        let before = self.pos;
        let lo = self.tok().lo;
        let pending = self.pending_stmts.len();
        match self.nested(f) {
            Ok(stmt) => stmt,
            Err(_) => {
                self.pending_stmts.truncate(pending);
                self.skip_statement();
                if self.pos == before && self.peek() != Tok::RBrace {
                    self.bump();
                }
                self.stmt(StmtKind::Error, self.span_from(lo))
            }
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

    fn item_or_statement(&mut self) -> Parsed<StmtId> {
        let token = self.tok();
        let kind = match token.kind {
            Tok::Semi => {
                self.bump();
                StmtKind::Empty
            }
            Tok::LBrace => return Ok(self.block()),
            Tok::If => return self.if_chain(),
            Tok::Switch => {
                self.bump();
                let value = self.condition("switch", false);
                StmtKind::Switch { value, body: self.statement() }
            }
            Tok::While => {
                self.bump();
                let cond = self.condition("while", false);
                StmtKind::While { cond, body: self.statement() }
            }
            Tok::Do => self.do_while()?,
            Tok::For => {
                self.bump();
                self.scopes.open();
                let result = self.for_loop();
                self.scopes.close();
                result?
            }
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
            Tok::Case | Tok::Default => return self.labeled(),
            Tok::Ident if self.ahead(1).kind == Tok::Colon => return self.labeled(),
            Tok::LabelDecl => self.local_labels()?,
            Tok::StaticAssert => StmtKind::StaticAssert(self.static_assert()?),
            Tok::Else => return self.error_at(token.span(), "`else` without `if`"),
            Tok::Attribute | Tok::LBracket if self.at_attribute() => return self.attributed(),
            _ if self.at_declaration() => {
                let declared = self.declaration(Place::Block)?;
                match declared {
                    Declared::Declaration(id) => StmtKind::Decl(id),
                    // Only external declarations define functions.
                    Declared::Function(_) => StmtKind::Error,
                }
            }
            _ => {
                let e = self.expr()?;
                self.expect_semi("after the expression")?;
                StmtKind::Expr(e)
            }
        };
        Ok(self.stmt(kind, self.span_from(token.lo)))
    }

    /// `__attribute__((fallthrough));`, or a declaration that starts with attributes.
    fn attributed(&mut self) -> Parsed<StmtId> {
        let token = self.tok();
        let before = self.pos;
        self.attributes(&mut Vec::new())?;
        if self.eat(Tok::Semi).is_some() {
            return Ok(self.stmt(StmtKind::Empty, self.span_from(token.lo)));
        }
        if self.is_type_start(self.tok()) {
            // Read them again as part of the declaration.
            self.pos = before;
            if let Declared::Declaration(id) = self.declaration(Place::Block)? {
                return Ok(self.stmt(StmtKind::Decl(id), self.span_from(token.lo)));
            }
        }
        self.nested(Self::item_or_statement)
    }

    /// `(expression)` after a keyword. If it is broken, goes on behind its parenthesis.
    fn condition(&mut self, keyword: &str, semicolons_inside: bool) -> ExprId {
        let open = self.pos;
        let result = self.condition_inside(keyword);
        match result {
            Ok(e) => e,
            Err(_) => {
                let span = self.tok().span();
                if self.tokens[open].kind == Tok::LParen {
                    self.skip_parens(open, semicolons_inside);
                }
                self.leaf(ExprKind::Error, span)
            }
        }
    }

    fn condition_inside(&mut self, keyword: &str) -> Parsed<ExprId> {
        self.expect(Tok::LParen, &format_after(keyword))?;
        let cond = self.expr()?;
        self.expect(Tok::RParen, "after the condition")?;
        Ok(cond)
    }

    /// `if (…) … else if (…) … else …`, however long.
    fn if_chain(&mut self) -> Parsed<StmtId> {
        let mut chain = Vec::new();
        let mut last = None;
        while let Some(keyword) = self.eat(Tok::If) {
            let cond = self.condition("if", false);
            let then = self.statement();
            chain.push((keyword.lo, cond, then));
            if self.eat(Tok::Else).is_none() {
                break;
            }
            if self.peek() != Tok::If {
                last = Some(self.statement());
                break;
            }
        }
        let hi = self.prev_hi();
        while let Some((lo, cond, then)) = chain.pop() {
            let kind = StmtKind::If { cond, then, else_: last };
            last = Some(self.stmt(kind, Span::new(lo, hi.max(lo))));
        }
        // The caller saw an `if`, so the chain had a link.
        last.ok_or(super::Failed)
    }

    fn do_while(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let body = self.statement();
        let keyword = self.expect(Tok::While, "after the body of `do`")?;
        let cond = self.condition("while", false);
        self.expect_semi("after `do … while`")?;
        Ok(StmtKind::DoWhile { body, cond, while_pos: keyword.lo })
    }

    /// `for` after its keyword.
    fn for_loop(&mut self) -> Parsed<StmtKind> {
        let open = self.pos;
        let (init, cond, step) = match self.for_header() {
            Ok(header) => header,
            Err(failed) => {
                // Without its parenthesis nothing tells the header from the body.
                if self.tokens[open].kind != Tok::LParen || !self.skip_parens(open, true) {
                    return Err(failed);
                }
                (ForInit::None, None, None)
            }
        };
        let body = self.statement();
        Ok(StmtKind::For { init, cond, step, body })
    }

    fn for_header(&mut self) -> Parsed<(ForInit, Option<ExprId>, Option<ExprId>)> {
        self.expect(Tok::LParen, "after `for`")?;
        let init = if self.eat(Tok::Semi).is_some() {
            ForInit::None
        } else if self.at_declaration() || self.peek() == Tok::Attribute {
            match self.declaration(Place::Block)? {
                Declared::Declaration(id) => ForInit::Decl(id),
                Declared::Function(_) => ForInit::None,
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

    /// All labels in a row and the statement they label.
    fn labeled(&mut self) -> Parsed<StmtId> {
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
                    let mut attrs = Vec::new();
                    // Attributes followed by a semicolon belong to the label.
                    self.attributes(&mut attrs)?;
                    let name = Ident { name: Symbol(token.data), span: token.span() };
                    labels.push(Label::Name { name, attrs });
                }
                _ => break,
            }
        }
        labels.shrink_to_fit();
        let stmt = match self.peek() {
            // A label at the end of a block labels nothing.
            Tok::RBrace => self.stmt(StmtKind::Empty, Span::new(self.prev_hi(), self.prev_hi())),
            _ => self.block_item(),
        };
        Ok(self.stmt(StmtKind::Labeled { labels, stmt }, self.span_from(lo)))
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

fn format_after(keyword: &str) -> String {
    format!("after `{keyword}`")
}
