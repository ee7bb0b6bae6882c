//! Primary expressions with a syntax of their own: literals, `_Generic` and the built-ins that
//! take types.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::token::{Tok, Token};

impl Parser<'_> {
    /// Every primary expression but names, numbers and parentheses.
    #[inline(never)]
    pub(super) fn rare_primary(&mut self, token: Token) -> Parsed<ExprId> {
        let first = self.heights.len();
        match token.kind {
            Tok::Str => {
                let id = self.string("")?;
                Ok(self.leaf(ExprKind::Str(id), self.span_from(token.lo)))
            }
            Tok::Char => {
                self.bump();
                Ok(self.character(token))
            }
            Tok::True | Tok::False => {
                self.bump();
                Ok(self.leaf(ExprKind::Bool(token.kind == Tok::True), token.span()))
            }
            Tok::Nullptr => {
                self.bump();
                Ok(self.leaf(ExprKind::Nullptr, token.span()))
            }
            Tok::Generic => self.generic(token),
            Tok::BuiltinVaArg | Tok::BuiltinConvertVector => {
                self.open(token)?;
                let operand = self.assign()?;
                self.expect(Tok::Comma, "after the first operand")?;
                let ty = self.type_name()?;
                self.close(token)?;
                let height = self.height_since(first);
                let kind = match token.kind {
                    Tok::BuiltinVaArg => ExprKind::VaArg { list: operand, ty },
                    _ => ExprKind::ConvertVector { operand, ty },
                };
                self.expr_over(kind, self.span_from(token.lo), height)
            }
            Tok::BuiltinOffsetof => self.offsetof(token),
            Tok::BuiltinTypesCompatible => {
                self.open(token)?;
                let left = self.type_name()?;
                self.expect(Tok::Comma, "after the first type")?;
                let right = self.type_name()?;
                self.close(token)?;
                let height = self.height_since(first);
                self.expr_over(ExprKind::TypesCompatible(left, right), self.span_from(token.lo), height)
            }
            Tok::BuiltinChooseExpr => {
                self.open(token)?;
                let cond = self.assign()?;
                self.expect(Tok::Comma, "after the condition")?;
                let then = self.assign()?;
                self.expect(Tok::Comma, "after the first choice")?;
                let otherwise = self.assign()?;
                self.close(token)?;
                let height = self.height_since(first);
                let kind = ExprKind::ChooseExpr { cond, then, otherwise };
                self.expr_over(kind, self.span_from(token.lo), height)
            }
            Tok::BuiltinHasAttribute => {
                self.unsupported(token.span(), &format!("`{}` is", token.kind.text()))
            }
            _ => self.expected("an expression"),
        }
    }

    /// Takes a built-in's keyword and its parenthesis.
    fn open(&mut self, keyword: Token) -> Parsed<()> {
        self.bump();
        self.expect(Tok::LParen, &format!("after `{}`", keyword.kind.text()))?;
        Ok(())
    }

    /// Takes a built-in's closing parenthesis.
    fn close(&mut self, keyword: Token) -> Parsed<()> {
        self.expect(Tok::RParen, &format!("to close `{}`", keyword.kind.text()))?;
        Ok(())
    }

    /// `_Generic(control, type: expr, default: expr)`
    fn generic(&mut self, keyword: Token) -> Parsed<ExprId> {
        self.open(keyword)?;
        let first = self.heights.len();
        let control = self.assign()?;
        let mut assocs = Vec::new();
        while self.eat(Tok::Comma).is_some() {
            let ty = match self.eat(Tok::Default) {
                Some(_) => None,
                None => Some(self.type_name()?),
            };
            self.expect(Tok::Colon, "in the generic association")?;
            let expr = self.assign()?;
            assocs.push(GenericAssoc { ty, expr });
        }
        if assocs.is_empty() {
            return self.expected("`,` and an association in `_Generic`");
        }
        self.close(keyword)?;
        let kind = ExprKind::Generic(Box::new(Generic { control, assocs }));
        let height = self.height_since(first);
        self.expr_over(kind, self.span_from(keyword.lo), height)
    }

    /// `__builtin_offsetof(type, member.member[index])`
    fn offsetof(&mut self, keyword: Token) -> Parsed<ExprId> {
        self.open(keyword)?;
        let first = self.heights.len();
        let ty = self.type_name()?;
        self.expect(Tok::Comma, "after the type")?;
        let mut path = vec![Designator::Field(self.ident("as the member's name")?)];
        loop {
            match self.peek() {
                Tok::Dot => {
                    self.bump();
                    path.push(Designator::Field(self.ident("as the member's name")?));
                }
                Tok::LBracket => {
                    self.bump();
                    let index = self.expr()?;
                    self.expect(Tok::RBracket, "after the subscript")?;
                    path.push(Designator::Index(index));
                }
                _ => break,
            }
        }
        self.close(keyword)?;
        let kind = ExprKind::Offsetof { ty, path: path.into() };
        let height = self.height_since(first);
        self.expr_over(kind, self.span_from(keyword.lo), height)
    }
}
