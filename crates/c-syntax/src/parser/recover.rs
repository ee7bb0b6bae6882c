//! Reporting errors and finding the place to go on.

use super::{Failed, MAX_ERRORS, Parsed, Parser};
use crate::token::{Tok, Token};
use palisade_base::{Diagnostic, Span};

/// Longest piece of source text quoted in a message.
const MAX_QUOTED: usize = 40;

impl Parser<'_> {
    /// Reports an error; a second one at the same token is a consequence of the first and dropped.
    pub(super) fn error(&mut self, diag: Diagnostic) -> Failed {
        if self.stopped || self.last_error == Some(self.pos) {
            return Failed;
        }
        self.last_error = Some(self.pos);
        let span = diag.span;
        self.diags.push(diag);
        self.errors += 1;
        if self.errors >= MAX_ERRORS {
            self.diags.push(Diagnostic::error(span, "too many errors, giving up"));
            self.stop();
        }
        Failed
    }

    /// Reports an error at a span.
    pub(super) fn error_at<T>(&mut self, span: Span, message: impl Into<String>) -> Parsed<T> {
        Err(self.error(Diagnostic::error(span, message)))
    }

    pub(super) fn warn(&mut self, span: Span, message: impl Into<String>) {
        if !self.stopped {
            self.diags.push(Diagnostic::warning(span, message));
        }
    }

    /// Reports that something else than the next token was expected.
    pub(super) fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let token = self.tok();
        let message = format!("expected {what}, found {}", self.describe(token));
        // What is missing at the end of a line is shown there and not at the next line's start.
        let span = if token.kind == Tok::Eof || self.on_new_line(self.pos) {
            let end = self.prev_hi();
            if end > self.base { self.last_char(end) } else { token.span() }
        } else {
            token.span()
        };
        self.error_at(span, message)
    }

    /// Reports a construct that is C, but that Palisade does not read.
    pub(super) fn unsupported<T>(&mut self, span: Span, construct: &str) -> Parsed<T> {
        self.error_at(span, format!("{construct} not supported"))
    }

    /// Reports too deep nesting and gives the file up.
    #[cold]
    pub(super) fn too_deep<T>(&mut self, span: Span, limit: usize) -> Parsed<T> {
        self.last_error = None;
        let message = format!("nesting too deep (more than {limit} levels)");
        let failed = self.error(Diagnostic::error(span, message));
        self.stop();
        Err(failed)
    }

    /// Goes to the end of the file in silence.
    fn stop(&mut self) {
        self.stopped = true;
        self.pos = self.tokens.len() - 1;
    }

    /// The last character before `end`.
    fn last_char(&self, end: u32) -> Span {
        let before = &self.text[..(end - self.base) as usize];
        let len = before.chars().next_back().map_or(0, char::len_utf8) as u32;
        Span::new(end - len, end)
    }

    /// How messages name a token.
    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            Tok::Eof => "end of file".into(),
            Tok::Str => "string literal".into(),
            _ => {
                let text = self.token_text(token);
                match text.char_indices().nth(MAX_QUOTED) {
                    Some((i, _)) => format!("`{}…`", &text[..i]),
                    None => format!("`{text}`"),
                }
            }
        }
    }

    /// Whether a token is the first of its line.
    pub(super) fn on_new_line(&self, pos: usize) -> bool {
        match pos.checked_sub(1) {
            None => true,
            Some(before) => {
                let gap =
                    (self.tokens[before].hi - self.base) as usize..(self.tokens[pos].lo - self.base) as usize;
                self.text.as_bytes()[gap].contains(&b'\n')
            }
        }
    }

    /// Takes the semicolon that ends a construct. If it is forgotten at the end of a line or a
    /// block, says so and goes on as if it were there.
    pub(super) fn expect_semi(&mut self, context: &str) -> Parsed<()> {
        if self.eat(Tok::Semi).is_some() {
            return Ok(());
        }
        let can_go_on = matches!(self.peek(), Tok::RBrace | Tok::Eof) || self.on_new_line(self.pos);
        let failed = self.expected::<()>(&format!("`;` {context}"));
        if can_go_on { Ok(()) } else { failed }
    }

    /// Skips the rest of a broken statement: up to and with the next semicolon, or up to the end
    /// of the block, the next block, or a statement keyword at the start of a line.
    pub(super) fn skip_statement(&mut self) {
        loop {
            match self.peek() {
                Tok::Semi => {
                    self.bump();
                    return;
                }
                Tok::Eof | Tok::RBrace | Tok::LBrace => return,
                kind if starts_statement(kind) && self.on_new_line(self.pos) => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Skips the rest of a broken external declaration: up to and with a semicolon outside
    /// braces, or the end of a braced group.
    pub(super) fn skip_external(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.bump().kind {
                Tok::Eof => return,
                Tok::Semi if depth == 0 => {
                    // A brace cannot start a declaration: it is the body of what was broken.
                    if self.peek() == Tok::LBrace {
                        self.skip_braces();
                    }
                    return;
                }
                Tok::LBrace => depth += 1,
                Tok::RBrace if depth <= 1 => {
                    self.eat(Tok::Semi);
                    return;
                }
                Tok::RBrace => depth -= 1,
                _ => {}
            }
        }
    }

    /// Skips a balanced braced group, starting at its opening brace.
    pub(super) fn skip_braces(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Tok::Eof => return,
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
    }

    /// After an error inside the parentheses opened by the token at `open`: goes behind the
    /// matching parenthesis and says whether it was found before the statement ended.
    pub(super) fn skip_parens(&mut self, open: usize, semicolons_inside: bool) -> bool {
        let mut depth = 0usize;
        for (i, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Tok::LParen => depth += 1,
                Tok::RParen => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        // Inside a statement expression the parser may be far ahead already.
                        self.pos = self.pos.max(i + 1);
                        return true;
                    }
                }
                Tok::Semi if !semicolons_inside => break,
                Tok::LBrace | Tok::RBrace | Tok::Eof => break,
                _ => {}
            }
        }
        false
    }
}

/// Keywords that only ever start a statement.
fn starts_statement(kind: Tok) -> bool {
    matches!(
        kind,
        Tok::If
            | Tok::For
            | Tok::Switch
            | Tok::Return
            | Tok::Goto
            | Tok::Break
            | Tok::Continue
            | Tok::Do
            | Tok::While
            | Tok::Case
            | Tok::Default
    )
}
