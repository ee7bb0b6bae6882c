//! Expressions.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::intern::Symbol;
use crate::literal::{self, Number, Units};
use crate::token::{Tok, Token};
use palisade_base::Span;

/// A binary operator whose right operand is being read.
pub(super) struct PendingOp {
    lhs: ExprId,
    op: BinaryOp,
    precedence: u8,
    op_pos: u32,
}

/// The binary operators in the order of their tokens, from `*` to `||`.
const BINARY: [(BinaryOp, u8); 18] = [
    (BinaryOp::Mul, 10),
    (BinaryOp::Div, 10),
    (BinaryOp::Rem, 10),
    (BinaryOp::Add, 9),
    (BinaryOp::Sub, 9),
    (BinaryOp::Shl, 8),
    (BinaryOp::Shr, 8),
    (BinaryOp::Lt, 7),
    (BinaryOp::Gt, 7),
    (BinaryOp::Le, 7),
    (BinaryOp::Ge, 7),
    (BinaryOp::Eq, 6),
    (BinaryOp::Ne, 6),
    (BinaryOp::BitAnd, 5),
    (BinaryOp::BitXor, 4),
    (BinaryOp::BitOr, 3),
    (BinaryOp::And, 2),
    (BinaryOp::Or, 1),
];

#[inline]
fn binary_op(kind: Tok) -> Option<(BinaryOp, u8)> {
    BINARY.get((kind as usize).wrapping_sub(Tok::Star as usize)).copied()
}

#[inline]
fn assign_op(kind: Tok) -> Option<Option<BinaryOp>> {
    if kind == Tok::Assign {
        return Some(None);
    }
    Some(Some(match kind {
        Tok::StarAssign => BinaryOp::Mul,
        Tok::SlashAssign => BinaryOp::Div,
        Tok::PercentAssign => BinaryOp::Rem,
        Tok::PlusAssign => BinaryOp::Add,
        Tok::MinusAssign => BinaryOp::Sub,
        Tok::ShlAssign => BinaryOp::Shl,
        Tok::ShrAssign => BinaryOp::Shr,
        Tok::AmpAssign => BinaryOp::BitAnd,
        Tok::CaretAssign => BinaryOp::BitXor,
        Tok::PipeAssign => BinaryOp::BitOr,
        _ => return None,
    }))
}

impl Parser<'_> {
    /// A full expression with comma operators.
    pub(super) fn expr(&mut self) -> Parsed<ExprId> {
        let mut e = self.assign()?;
        while self.eat(Tok::Comma).is_some() {
            let rhs = self.assign()?;
            let height = self.spine_height(e).max(self.height(rhs));
            let span = self.span_of(e).to(self.span_of(rhs));
            e = self.expr_over(ExprKind::Comma { lhs: e, rhs }, span, height)?;
        }
        Ok(e)
    }

    /// An expression without comma operators outside parentheses.
    pub(super) fn assign(&mut self) -> Parsed<ExprId> {
        let first = self.conditional()?;
        let Some(op) = assign_op(self.peek()) else { return Ok(first) };
        let op_pos = self.bump().lo;
        let mut value = self.conditional()?;
        // `a = b = c`: assignments associate to the right.
        let mut chain = Vec::new();
        let (mut lhs, mut op, mut op_pos) = (first, op, op_pos);
        while let Some(next_op) = assign_op(self.peek()) {
            chain.push((lhs, op, op_pos));
            (lhs, op, op_pos) = (value, next_op, self.bump().lo);
            value = self.conditional()?;
        }
        loop {
            let height = self.height(lhs).max(self.height(value));
            let span = self.span_of(lhs).to(self.span_of(value));
            value = self.expr_over(ExprKind::Assign { op, lhs, rhs: value, op_pos }, span, height)?;
            match chain.pop() {
                Some(outer) => (lhs, op, op_pos) = outer,
                None => return Ok(value),
            }
        }
    }

    /// An expression without assignments outside parentheses, as constant expressions are.
    pub(super) fn conditional(&mut self) -> Parsed<ExprId> {
        let mut last = self.binary()?;
        if self.peek() != Tok::Question {
            return Ok(last);
        }
        let mut chain = Vec::new();
        while let Some(question) = self.eat(Tok::Question) {
            let then = match self.peek() {
                Tok::Colon => None,
                _ => Some(self.nested(Self::expr)?),
            };
            self.expect(Tok::Colon, "of the conditional operator")?;
            chain.push((last, then, question.lo));
            last = self.binary()?;
        }
        while let Some((cond, then, question)) = chain.pop() {
            let height = then.map_or(0, |e| self.height(e));
            let height = height.max(self.height(cond)).max(self.height(last));
            let span = self.span_of(cond).to(self.span_of(last));
            let kind = ExprKind::Conditional { cond, then, otherwise: last, question };
            last = self.expr_over(kind, span, height)?;
        }
        Ok(last)
    }

    /// Binary operators by operator precedence: an operator waits on `pending_ops` until one that
    /// binds less tightly, or as tightly, follows its right operand.
    fn binary(&mut self) -> Parsed<ExprId> {
        let mut operand = self.unary()?;
        let Some(mut next) = binary_op(self.peek()) else { return Ok(operand) };
        let base = self.pending_ops.len();
        loop {
            let (op, precedence) = next;
            let op_pos = self.bump().lo;
            self.pending_ops.push(PendingOp { lhs: operand, op, precedence, op_pos });
            let result = self.unary();
            let after = binary_op(self.peek());
            let precedence = after.map_or(0, |(_, p)| p);
            let reduced = result.and_then(|e| self.reduce(base, precedence, e));
            match (reduced, after) {
                (Ok(e), Some(after)) => (operand, next) = (e, after),
                (done, _) => {
                    self.pending_ops.truncate(base);
                    return done;
                }
            }
        }
    }

    /// Gives `operand` to the pending operators that bind at least as tightly as `precedence`.
    fn reduce(&mut self, base: usize, precedence: u8, mut operand: ExprId) -> Parsed<ExprId> {
        while self.pending_ops.len() > base {
            let Some(pending) = self.pending_ops.pop_if(|p| p.precedence >= precedence) else { break };
            let PendingOp { lhs, op, op_pos, .. } = pending;
            let height = self.spine_height(lhs).max(self.height(operand));
            let span = self.span_of(lhs).to(self.span_of(operand));
            operand = self.expr_over(ExprKind::Binary { op, lhs, rhs: operand, op_pos }, span, height)?;
        }
        Ok(operand)
    }

    /// The height that a left operand adds: a left spine counts once, however long it is.
    #[inline]
    fn spine_height(&self, lhs: ExprId) -> u16 {
        let is_spine = matches!(self.tu.exprs[lhs].kind, ExprKind::Binary { .. } | ExprKind::Comma { .. });
        self.height(lhs) - u16::from(is_spine)
    }

    /// Unary operators, casts and what binds tighter.
    pub(super) fn unary(&mut self) -> Parsed<ExprId> {
        self.enter()?;
        let result = self.unary_inside();
        self.depth -= 1;
        result
    }

    #[inline]
    fn unary_inside(&mut self) -> Parsed<ExprId> {
        let token = self.tok();
        let op = match token.kind {
            Tok::Ident => {
                if self.is_typedef_name(token) {
                    let message =
                        format!("expected an expression, found the type name `{}`", self.token_text(token));
                    return self.error_at(token.span(), message);
                }
                self.bump();
                let name = self.leaf(ExprKind::Name(Symbol(token.data)), token.span());
                return self.postfix(name);
            }
            Tok::Number => {
                self.bump();
                let number = self.number(token)?;
                return self.postfix(number);
            }
            Tok::LParen => {
                return if self.is_type_start(self.ahead(1)) {
                    self.cast(token)
                } else {
                    let inner = self.parenthesised()?;
                    self.postfix(inner)
                };
            }
            Tok::Star => UnaryOp::Deref,
            Tok::Amp => UnaryOp::AddrOf,
            Tok::Minus => UnaryOp::Neg,
            Tok::Plus => UnaryOp::Plus,
            Tok::Not => UnaryOp::Not,
            Tok::Tilde => UnaryOp::BitNot,
            Tok::Inc => UnaryOp::PreInc,
            Tok::Dec => UnaryOp::PreDec,
            Tok::Real => UnaryOp::Real,
            Tok::Imag => UnaryOp::Imag,
            Tok::Extension => {
                self.bump();
                return self.unary();
            }
            Tok::Sizeof | Tok::Alignof | Tok::GnuAlignof => return self.sizeof(token),
            Tok::AmpAmp => {
                self.bump();
                let label = self.ident("after `&&`")?;
                return Ok(self.leaf(ExprKind::LabelAddr(label), self.span_from(token.lo)));
            }
            _ => {
                let primary = self.rare_primary(token)?;
                return self.postfix(primary);
            }
        };
        self.bump();
        let operand = self.unary()?;
        let span = self.span_from(token.lo);
        let height = self.height(operand);
        self.expr_over(ExprKind::Unary { op, operand }, span, height)
    }

    /// `(expr)` or `({ … })`.
    fn parenthesised(&mut self) -> Parsed<ExprId> {
        let open = self.bump();
        if self.peek() == Tok::LBrace {
            return self.statement_expr(open);
        }
        let inner = self.expr()?;
        let close = self.expect(Tok::RParen, "to match `(`")?;
        self.tu.exprs[inner].span = Span::new(open.lo, close.hi);
        Ok(inner)
    }

    /// `({ … })` after its parenthesis. Its height is that of the highest expression inside.
    fn statement_expr(&mut self, open: Token) -> Parsed<ExprId> {
        let first = self.heights.len();
        let body = self.nested(|p| Ok(p.block()))?;
        self.expect(Tok::RParen, "after the block of the statement expression")?;
        let height = self.height_since(first);
        self.expr_over(ExprKind::StmtExpr(body), self.span_from(open.lo), height)
    }

    /// `(type) operand` or `(type) { … }`.
    fn cast(&mut self, open: Token) -> Parsed<ExprId> {
        self.bump();
        let first = self.heights.len();
        let ty = self.type_name()?;
        self.expect(Tok::RParen, "after the type name")?;
        if self.peek() == Tok::LBrace {
            return self.compound_literal(open, ty, first);
        }
        self.no_storage(ty);
        let height = self.height_since(first);
        let operand = self.unary()?;
        let span = self.span_from(open.lo);
        let height = height.max(self.height(operand));
        self.expr_over(ExprKind::Cast { ty, operand }, span, height)
    }

    /// The braces of a compound literal and the postfix operators after it; `first` is the number
    /// of expressions before its type.
    fn compound_literal(&mut self, open: Token, ty: TypeNameId, first: usize) -> Parsed<ExprId> {
        let init = self.init_list()?;
        let height = self.height_since(first);
        let kind = ExprKind::CompoundLiteral { ty, init };
        let literal = self.expr_over(kind, self.span_from(open.lo), height)?;
        self.postfix(literal)
    }

    /// `sizeof` and its relatives.
    fn sizeof(&mut self, keyword: Token) -> Parsed<ExprId> {
        self.bump();
        let preferred = keyword.kind == Tok::GnuAlignof;
        let open = self.tok();
        let first = self.heights.len();
        let operand = if open.kind == Tok::LParen && self.is_type_start(self.ahead(1)) {
            self.bump();
            let ty = self.type_name()?;
            self.expect(Tok::RParen, "after the type name")?;
            if self.peek() != Tok::LBrace {
                let kind = match keyword.kind {
                    Tok::Sizeof => ExprKind::SizeofType(ty),
                    _ => ExprKind::AlignofType { ty, preferred },
                };
                let height = self.height_since(first);
                return self.expr_over(kind, self.span_from(keyword.lo), height);
            }
            self.compound_literal(open, ty, first)?
        } else {
            self.unary()?
        };
        let kind = match keyword.kind {
            Tok::Sizeof => ExprKind::SizeofExpr(operand),
            _ => ExprKind::AlignofExpr { operand, preferred },
        };
        let height = self.height(operand);
        self.expr_over(kind, self.span_from(keyword.lo), height)
    }

    /// Calls, subscripts, members and postfix increments after `base`.
    #[inline]
    pub(super) fn postfix(&mut self, mut base: ExprId) -> Parsed<ExprId> {
        loop {
            let token = self.tok();
            let mut height = self.height(base);
            let kind = match token.kind {
                Tok::Dot | Tok::Arrow => {
                    self.bump();
                    let field = self.expect(Tok::Ident, "as the member's name")?;
                    ExprKind::Member {
                        base,
                        field: Symbol(field.data),
                        field_pos: field.lo,
                        arrow: token.kind == Tok::Arrow,
                    }
                }
                Tok::LParen => {
                    self.bump();
                    let first = self.pending_exprs.len();
                    let rparen = self.arguments();
                    for &arg in &self.pending_exprs[first..] {
                        height = height.max(self.heights[arg.0 as usize]);
                    }
                    let start = self.tu.expr_pool.len() as u32;
                    self.tu.expr_pool.extend(self.pending_exprs.drain(first..));
                    let len = self.tu.expr_pool.len() as u32 - start;
                    ExprKind::Call { callee: base, args: ExprList { start, len }, rparen: rparen? }
                }
                Tok::LBracket => {
                    self.bump();
                    let index = self.expr()?;
                    self.expect(Tok::RBracket, "after the subscript")?;
                    height = height.max(self.height(index));
                    ExprKind::Index { base, index }
                }
                Tok::Inc | Tok::Dec => {
                    self.bump();
                    let op = if token.kind == Tok::Inc { UnaryOp::PostInc } else { UnaryOp::PostDec };
                    ExprKind::Unary { op, operand: base }
                }
                _ => return Ok(base),
            };
            let span = Span::new(self.span_of(base).lo, self.prev_hi());
            base = self.expr_over(kind, span, height)?;
        }
    }

    /// The arguments of a call after its parenthesis, left on `pending_exprs`; returns the offset
    /// of the closing parenthesis.
    fn arguments(&mut self) -> Parsed<u32> {
        if let Some(close) = self.eat(Tok::RParen) {
            return Ok(close.lo);
        }
        loop {
            let arg = self.assign()?;
            self.pending_exprs.push(arg);
            match self.peek() {
                Tok::Comma => self.bump(),
                Tok::RParen => return Ok(self.bump().lo),
                _ => return self.expected("`,` or `)` in the call"),
            };
        }
    }

    /// Decodes a number.
    fn number(&mut self, token: Token) -> Parsed<ExprId> {
        let span = token.span();
        let text = self.text;
        let spelling = &text[(token.lo - self.base) as usize..(token.hi - self.base) as usize];
        // Only C23 lets quotes into a number.
        let joined = spelling.contains('\'').then(|| spelling.replace('\'', ""));
        let kind = match literal::number(joined.as_deref().unwrap_or(spelling)) {
            Ok(Number::Int { value, base, unsigned, longs, imaginary, bit_precise, overflow }) => {
                if overflow {
                    self.warn(span, "integer constant is too large for its type");
                }
                self.tu.uses.complex |= imaginary;
                ExprKind::Int(IntLit { value, base, unsigned, longs, imaginary, bit_precise })
            }
            Ok(Number::Float { digits, suffix, imaginary }) => {
                let text = self.interner.intern(digits);
                self.tu.uses.complex |= imaginary;
                self.tu.uses.soft_float |=
                    matches!(suffix, FloatSuffix::Type(BasicType::Float16 | BasicType::Float128));
                ExprKind::Float(FloatLit { text, suffix, imaginary })
            }
            Err(message) => {
                // The token is well delimited: go on behind it.
                let _: Parsed<()> = self.error_at(span, message);
                ExprKind::Error
            }
        };
        Ok(self.leaf(kind, span))
    }

    /// Decodes a character constant.
    pub(super) fn character(&mut self, token: Token) -> ExprId {
        let text = self.token_text(token);
        let prefix = token.data as usize;
        let encoding = literal::encoding_of(&text[..prefix]);
        let mut units = Units::new(encoding);
        let value = units.add(literal::between_quotes(text, prefix)).and_then(|()| units.char_value());
        for message in std::mem::take(&mut units.warnings) {
            self.warn(token.span(), message);
        }
        let kind = match value {
            Ok(value) => ExprKind::Char(CharLit { value, encoding }),
            Err(message) => {
                let _: Parsed<()> = self.error_at(token.span(), message);
                ExprKind::Error
            }
        };
        self.leaf(kind, token.span())
    }

    /// Joins and decodes the string literals that follow.
    pub(super) fn string(&mut self, context: &str) -> Parsed<StrId> {
        let first = self.pos;
        self.expect(Tok::Str, context)?;
        while self.peek() == Tok::Str {
            self.bump();
        }
        let pieces = &self.tokens[first..self.pos];
        let mut encoding = Encoding::Narrow;
        for &piece in pieces {
            let prefix = literal::encoding_of(&self.token_text(piece)[..piece.data as usize]);
            if prefix == Encoding::Narrow || prefix == encoding {
                continue;
            }
            if encoding != Encoding::Narrow {
                let _: Parsed<()> =
                    self.error_at(piece.span(), "string literals with different prefixes cannot be joined");
                break;
            }
            encoding = prefix;
        }
        let mut units = Units::new(encoding);
        for &piece in pieces {
            let inner = literal::between_quotes(self.token_text(piece), piece.data as usize);
            if let Err(message) = units.add(inner) {
                let _: Parsed<()> = self.error_at(piece.span(), message);
            }
            for message in std::mem::take(&mut units.warnings) {
                self.warn(piece.span(), message);
            }
        }
        let span = self.span_from(pieces[0].lo);
        Ok(self.tu.strings.push(StringLit { encoding, units: units.finish(), span }))
    }
}
