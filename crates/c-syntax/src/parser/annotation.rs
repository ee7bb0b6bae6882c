//! Annotations of ACSL: contracts before functions, `assert` among statements, `loop invariant` before loops.
//!
//! What is not understood is left out with a warning that says so, and never makes a file unreadable.

use super::{Failed, Parsed, Parser};
use crate::ast::*;
use crate::lexer::Lexer;
use crate::token::{Tok, Token};
use palisade_base::Span;

/// The text of an annotation.
pub(crate) struct AnnotationText {
    /// The whole comment.
    pub span: Span,
    /// Its tokens; the last one is [`Tok::Eof`]. Nothing if it is not made of tokens.
    pub tokens: Vec<Token>,
}

/// Finds the tokens in the text of a comment that starts with `@`. The text is changed byte by byte, so that
/// positions stay: a backslash becomes a dollar, a letter for the lexer; two dots become two commas, which are
/// no part of a number.
pub(crate) fn tokens(comment: &str, base: u32, lexer: &mut Lexer<'_>) -> AnnotationText {
    let end = comment.len() - if comment.starts_with("/*") { 2.min(comment.len()) } else { 0 };
    let inside = comment.get(3..end).unwrap_or("");
    let text = inside.replace('@', " ").replace('\\', "$").replace("..", ",,");
    let tokens = lexer.sub_lex(&text, base + 3);
    AnnotationText { span: Span::new(base, base + comment.len() as u32), tokens }
}

impl Parser<'_> {
    /// Whether an annotation stands before the next token. What stands inside of something else is left out.
    pub(super) fn at_annotation(&mut self) -> bool {
        while let Some(next) = self.annotations.get(self.next_annotation)
            && next.span.lo < self.tok().lo
        {
            if next.span.lo >= self.prev_hi() {
                return true;
            }
            self.next_annotation += 1;
            self.leave_out(next.span);
        }
        false
    }

    /// Says that something is left out.
    pub(super) fn leave_out(&mut self, span: Span) {
        self.left_out += 1;
        self.warn(span, "this annotation is not understood and left out");
    }

    /// Reads the next annotation; clauses of other kinds than those are left out.
    pub(super) fn annotation(&mut self, kinds: &[ClauseKind]) -> Vec<Clause> {
        let annotations = self.annotations;
        let Some(annotation) = annotations.get(self.next_annotation) else { return Vec::new() };
        self.next_annotation += 1;
        if annotation.tokens.is_empty() {
            self.leave_out(annotation.span);
            return Vec::new();
        }
        let outside = (self.tokens, self.pos, self.last_error, self.depth);
        (self.tokens, self.pos) = (&annotation.tokens, 0);
        let mut clauses = Vec::new();
        while self.peek() != Tok::Eof {
            let first = self.tok();
            let messages = (self.diags.len(), self.errors, self.stopped);
            let pending = (self.pending_ops.len(), self.pending_exprs.len());
            let said = self.clause();
            if said.is_err() {
                // No message of the parser is about C here.
                self.diags.truncate(messages.0);
                (self.errors, self.stopped, self.last_error) = (messages.1, messages.2, None);
                self.pending_ops.truncate(pending.0);
                self.pending_exprs.truncate(pending.1);
            }
            match said {
                Ok(said) => match said.iter().find(|c| !kinds.contains(&c.kind)) {
                    None => clauses.extend(said),
                    Some(other) => self.leave_out(other.span),
                },
                Err(Failed) => {
                    // What follows may belong to it (`behavior`), unless it is one of these.
                    let alone =
                        ["assigns", "decreases", "terminates", "requires", "ensures", "assert", "loop"];
                    let alone = alone.contains(&self.token_text(first));
                    self.pos = annotation.tokens.iter().position(|t| t.lo == first.lo).unwrap_or(self.pos);
                    while self.peek() != Tok::Eof && !(alone && self.peek() == Tok::Semi) {
                        self.bump();
                    }
                    self.eat(Tok::Semi);
                    self.leave_out(self.span_from(first.lo));
                }
            }
        }
        (self.tokens, self.pos, self.last_error, self.depth) = outside;
        clauses
    }

    /// `keyword formula;`, or `assigns location, ..;`, which makes a clause of each.
    fn clause(&mut self) -> Parsed<Vec<Clause>> {
        let first = self.ident("in an annotation")?.span;
        let mut keyword = self.word(first);
        if keyword == "loop" {
            let second = self.ident("after `loop`")?.span;
            keyword = if self.word(second) == "invariant" { "loop invariant" } else { "" };
        }
        let kind = match keyword {
            "requires" => ClauseKind::Requires,
            "ensures" => ClauseKind::Ensures,
            "assigns" => ClauseKind::Assigns,
            "assert" => ClauseKind::Assert,
            "loop invariant" => ClauseKind::Invariant,
            _ => return Err(Failed),
        };
        // A name of the clause.
        if self.peek() == Tok::Ident && self.ahead(1).kind == Tok::Colon {
            self.skip(2);
        }
        let mut formulas = Vec::new();
        if kind == ClauseKind::Assigns {
            formulas.push(self.location()?);
            while self.eat(Tok::Comma).is_some() {
                formulas.push(self.location()?);
            }
        } else {
            formulas.push(self.formula()?);
        }
        self.expect(Tok::Semi, "after the formula")?;
        let span = self.span_from(first.lo);
        Ok(formulas.into_iter().map(|formula| Clause { kind, formula, span }).collect())
    }

    /// What may be assigned.
    fn location(&mut self) -> Parsed<ExprId> {
        let token = self.tok();
        if self.peek() == Tok::Ident && self.token_text(token) == "\\nothing" {
            self.bump();
            return Ok(self.leaf(ExprKind::Bool(false), token.span()));
        }
        if self.peek() != Tok::Ident || self.ahead(1).kind != Tok::LBracket {
            return self.operand();
        }
        // An element, or all from one to another.
        let array = self.ident("in an annotation")?;
        let array = self.leaf(ExprKind::Name(array.name), array.span);
        self.bump();
        let first = self.formula()?;
        let ranged = self.at_operator(&[Tok::Comma, Tok::Comma]);
        if ranged {
            self.skip(2);
            let last = self.formula()?;
            let range = self.call("$range", token, &[first, last])?;
            self.expect(Tok::RBracket, "after the subscript")?;
            let kind = ExprKind::Binary { op: BinaryOp::Add, lhs: array, rhs: range, op_pos: token.lo };
            let operand = self.node(kind, token.lo, &[array, range])?;
            return self.node(ExprKind::Unary { op: UnaryOp::Deref, operand }, token.lo, &[operand]);
        }
        self.expect(Tok::RBracket, "after the subscript")?;
        let element = self.node(ExprKind::Index { base: array, index: first }, token.lo, &[array, first])?;
        self.postfix(element)
    }

    fn word(&self, span: Span) -> &'static str {
        let text = &self.text[(span.lo - self.base) as usize..(span.hi - self.base) as usize];
        let known = ["loop", "requires", "ensures", "assigns", "assert", "invariant"];
        known.into_iter().find(|w| *w == text).unwrap_or("")
    }

    /// Whether the next tokens stand together and are these.
    fn at_operator(&self, kinds: &[Tok]) -> bool {
        let at = |i: usize| self.ahead(i);
        kinds.iter().enumerate().all(|(i, k)| at(i).kind == *k && (i == 0 || at(i - 1).hi == at(i).lo))
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.bump();
        }
    }

    fn at_equivalence(&self) -> bool {
        self.at_operator(&[Tok::Le, Tok::Assign, Tok::Gt])
    }

    fn at_implication(&self) -> bool {
        self.at_operator(&[Tok::EqEq, Tok::Gt])
    }

    fn node(&mut self, kind: ExprKind, lo: u32, operands: &[ExprId]) -> Parsed<ExprId> {
        let height = operands.iter().map(|&e| self.height(e)).max().unwrap_or(0);
        self.expr_over(kind, self.span_from(lo), height)
    }

    /// `a <==> b`, which binds weakest.
    fn formula(&mut self) -> Parsed<ExprId> {
        self.enter()?;
        let lo = self.tok().lo;
        let mut left = self.implication()?;
        while self.at_equivalence() {
            self.skip(3);
            let right = self.implication()?;
            let not = self.node(ExprKind::Unary { op: UnaryOp::Not, operand: right }, lo, &[right])?;
            let kind = ExprKind::Conditional { cond: left, then: Some(right), otherwise: not, question: lo };
            left = self.node(kind, lo, &[left, not])?;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// `a ==> b`, to the right.
    fn implication(&mut self) -> Parsed<ExprId> {
        self.enter()?;
        let lo = self.tok().lo;
        let left = self.connected(false)?;
        let result = if self.at_implication() {
            self.skip(2);
            let right = self.implication()?;
            let otherwise = self.leaf(ExprKind::Bool(true), self.span_from(lo));
            let kind = ExprKind::Conditional { cond: left, then: Some(right), otherwise, question: lo };
            self.node(kind, lo, &[left, right])?
        } else {
            left
        };
        self.depth -= 1;
        Ok(result)
    }

    /// `a || b`, or `a && b`.
    fn connected(&mut self, and: bool) -> Parsed<ExprId> {
        let lo = self.tok().lo;
        let operand = |p: &mut Self| if and { p.comparison() } else { p.connected(true) };
        let (tok, op) = if and { (Tok::AmpAmp, BinaryOp::And) } else { (Tok::PipePipe, BinaryOp::Or) };
        let mut left = operand(self)?;
        while let Some(at) = self.eat(tok) {
            let rhs = operand(self)?;
            left = self.node(ExprKind::Binary { op, lhs: left, rhs, op_pos: at.lo }, lo, &[left, rhs])?;
        }
        Ok(left)
    }

    /// `a < b <= c`.
    fn comparison(&mut self) -> Parsed<ExprId> {
        let lo = self.tok().lo;
        let mut left = self.arithmetic(false)?;
        let mut all: Option<ExprId> = None;
        let mut unequal = false;
        loop {
            let op = match self.peek() {
                _ if self.at_equivalence() || self.at_implication() => break,
                Tok::Lt => BinaryOp::Lt,
                Tok::Gt => BinaryOp::Gt,
                Tok::Le => BinaryOp::Le,
                Tok::Ge => BinaryOp::Ge,
                Tok::EqEq => BinaryOp::Eq,
                Tok::Ne => BinaryOp::Ne,
                _ => break,
            };
            // There are no chains of inequalities.
            if all.is_some() && (unequal || op == BinaryOp::Ne) {
                return Err(Failed);
            }
            unequal = op == BinaryOp::Ne;
            let op_pos = self.bump().lo;
            let rhs = self.arithmetic(false)?;
            let link = self.node(ExprKind::Binary { op, lhs: left, rhs, op_pos }, lo, &[left, rhs])?;
            all = Some(match all {
                None => link,
                Some(before) => {
                    let op = BinaryOp::And;
                    let kind = ExprKind::Binary { op, lhs: before, rhs: link, op_pos };
                    self.node(kind, lo, &[before, link])?
                }
            });
            left = rhs;
        }
        Ok(all.unwrap_or(left))
    }

    /// Sums, or products.
    fn arithmetic(&mut self, product: bool) -> Parsed<ExprId> {
        let lo = self.tok().lo;
        let operand = |p: &mut Self| if product { p.operand() } else { p.arithmetic(true) };
        let mut left = operand(self)?;
        loop {
            let op = match (self.peek(), product) {
                (Tok::Plus, false) => BinaryOp::Add,
                (Tok::Minus, false) => BinaryOp::Sub,
                (Tok::Star, true) => BinaryOp::Mul,
                (Tok::Slash, true) => BinaryOp::Div,
                (Tok::Percent, true) => BinaryOp::Rem,
                _ => return Ok(left),
            };
            let op_pos = self.bump().lo;
            let rhs = operand(self)?;
            left = self.node(ExprKind::Binary { op, lhs: left, rhs, op_pos }, lo, &[left, rhs])?;
        }
    }

    fn operand(&mut self) -> Parsed<ExprId> {
        self.enter()?;
        let token = self.tok();
        let op = match token.kind {
            Tok::Not => Some(UnaryOp::Not),
            Tok::Minus => Some(UnaryOp::Neg),
            Tok::Plus => Some(UnaryOp::Plus),
            Tok::Star => Some(UnaryOp::Deref),
            Tok::Amp => Some(UnaryOp::AddrOf),
            _ => None,
        };
        let result = match (op, token.kind) {
            (Some(op), _) => {
                self.bump();
                let operand = self.operand()?;
                self.node(ExprKind::Unary { op, operand }, token.lo, &[operand])?
            }
            (None, Tok::LParen) if self.is_type_start(self.ahead(1)) => {
                self.bump();
                let ty = self.type_name()?;
                self.expect(Tok::RParen, "after the type name")?;
                let operand = self.operand()?;
                self.node(ExprKind::Cast { ty, operand }, token.lo, &[operand])?
            }
            (None, Tok::LParen) => {
                let inner = self.in_parentheses()?;
                self.postfix(inner)?
            }
            (None, Tok::Ident) if self.token_text(token).starts_with('\\') => self.built_in(token)?,
            (None, Tok::Ident | Tok::Number | Tok::Char | Tok::Sizeof) => self.unary()?,
            _ => return Err(Failed),
        };
        self.depth -= 1;
        Ok(result)
    }

    /// `(formula)` or `(a .. b)`.
    fn in_parentheses(&mut self) -> Parsed<ExprId> {
        let open = self.bump();
        let first = self.formula()?;
        let inner = if self.at_operator(&[Tok::Comma, Tok::Comma]) {
            self.skip(2);
            let last = self.formula()?;
            self.call("$range", open, &[first, last])?
        } else {
            first
        };
        self.expect(Tok::RParen, "to match `(`")?;
        Ok(inner)
    }

    /// What starts with a backslash.
    fn built_in(&mut self, token: Token) -> Parsed<ExprId> {
        self.bump();
        let name = match self.token_text(token) {
            "\\true" => return Ok(self.leaf(ExprKind::Bool(true), token.span())),
            "\\false" => return Ok(self.leaf(ExprKind::Bool(false), token.span())),
            "\\null" => return Ok(self.leaf(ExprKind::Nullptr, token.span())),
            "\\result" => {
                let name = self.interner.intern("$result");
                let result = self.leaf(ExprKind::Name(name), token.span());
                return self.postfix(result);
            }
            "\\valid" => "$valid",
            "\\valid_read" => "$valid_read",
            "\\old" => "$old",
            _ => return Err(Failed),
        };
        if self.peek() != Tok::LParen {
            return Err(Failed);
        }
        self.bump();
        let operand = self.formula()?;
        self.expect(Tok::RParen, "to match `(`")?;
        self.call(name, token, &[operand])
    }

    fn call(&mut self, name: &str, first: Token, args: &[ExprId]) -> Parsed<ExprId> {
        let name = self.interner.intern(name);
        let callee = self.leaf(ExprKind::Name(name), first.span());
        let start = self.tu.expr_pool.len() as u32;
        self.tu.expr_pool.extend(args);
        let list = ExprList { start, len: args.len() as u32 };
        let rparen = self.prev_hi();
        self.node(ExprKind::Call { callee, args: list, rparen }, first.lo, args)
    }
}
