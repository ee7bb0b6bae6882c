//! The outermost level of a file.

use super::decl::{Declared, Place};
use super::{Parsed, Parser};
use crate::ast::Item;
use crate::token::Tok;

impl Parser<'_> {
    /// All external declarations up to the end of the file.
    pub(super) fn unit(&mut self) {
        loop {
            match self.peek() {
                Tok::Eof => return,
                Tok::Semi => {
                    self.bump();
                }
                Tok::RBrace => {
                    let span = self.tok().span();
                    let _: Parsed<()> = self.error_at(span, "extraneous `}` outside any block");
                    self.bump();
                }
                _ => {
                    let before = self.pos;
                    match self.item() {
                        Ok(item) => self.tu.items.push(item),
                        Err(_) => {
                            self.skip_external();
                            if self.pos == before {
                                self.bump();
                            }
                        }
                    }
                }
            }
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let token = self.tok();
        match token.kind {
            Tok::Asm => {
                let asm = self.asm_statement()?;
                Ok(Item::Asm { text: asm.template, span: self.span_from(token.lo) })
            }
            Tok::StaticAssert => Ok(Item::StaticAssert(self.static_assert()?)),
            _ => Ok(match self.declaration(Place::External)? {
                Declared::Declaration(id) => Item::Declaration(id),
                Declared::Function(function) => Item::Function(*function),
            }),
        }
    }
}
