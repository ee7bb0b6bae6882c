//! Initialisers.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::intern::Symbol;
use crate::token::Tok;

impl Parser<'_> {
    /// An expression or a braced list.
    pub(super) fn initializer(&mut self) -> Parsed<Init> {
        match self.peek() {
            Tok::LBrace => Ok(Init::List(self.init_list()?)),
            _ => Ok(Init::Expr(self.assign()?)),
        }
    }

    /// `{ item, item, … }`
    pub(super) fn init_list(&mut self) -> Parsed<InitListId> {
        self.nested(Self::init_list_inside)
    }

    fn init_list_inside(&mut self) -> Parsed<InitListId> {
        let open = self.expect(Tok::LBrace, "")?;
        let mut items = Vec::new();
        while self.peek() != Tok::RBrace {
            let designators = self.designation()?;
            let value = self.initializer()?;
            items.push(InitItem { designators, value });
            if self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::RBrace, "or `,` in the initialiser list")?;
        items.shrink_to_fit();
        Ok(self.tu.init_lists.push(InitList { items, span: self.span_from(open.lo) }))
    }

    /// `.field[index] =`, `[first ... last] =`, GNU `field:` and GNU `[index]` without `=`.
    fn designation(&mut self) -> Parsed<Box<[Designator]>> {
        match self.peek() {
            Tok::Ident if self.ahead(1).kind == Tok::Colon => {
                let name = self.bump();
                self.bump();
                let field = Ident { name: Symbol(name.data), span: name.span() };
                return Ok([Designator::Field(field)].into());
            }
            Tok::Dot | Tok::LBracket => {}
            _ => return Ok([].into()),
        }
        let mut designators = Vec::new();
        loop {
            match self.peek() {
                Tok::Dot => {
                    self.bump();
                    designators.push(Designator::Field(self.ident("as the designated member's name")?));
                }
                Tok::LBracket => {
                    self.bump();
                    let first = self.conditional()?;
                    designators.push(match self.eat(Tok::Ellipsis) {
                        Some(_) => Designator::Range(first, self.conditional()?),
                        None => Designator::Index(first),
                    });
                    self.expect(Tok::RBracket, "after the designated index")?;
                }
                Tok::Assign => {
                    self.bump();
                    break;
                }
                // GNU C lets the `=` after a subscript alone be left out.
                _ if matches!(designators[..], [Designator::Index(_) | Designator::Range(..)]) => break,
                _ => return self.expected("`=` after the designation"),
            }
        }
        Ok(designators.into())
    }
}
