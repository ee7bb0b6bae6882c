//! The outermost level of a file.

use super::decl::{Declared, Place};
use super::{Parsed, Parser};
use crate::ast::{Clause, ClauseKind, Item};
use crate::token::Tok;

impl Parser<'_> {
    /// All external declarations up to the end of the file.
    pub(super) fn unit(&mut self) {
        let mut contract: Vec<Clause> = Vec::new();
        let mut left_out = 0;
        loop {
            if self.at_annotation() {
                contract.extend(self.annotation(&[
                    ClauseKind::Requires,
                    ClauseKind::Ensures,
                    ClauseKind::Assigns,
                ]));
                continue;
            }
            match self.peek() {
                Tok::Eof => {
                    self.forget(&contract);
                    return;
                }
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
                        Ok(mut item) => {
                            let contract = std::mem::take(&mut contract);
                            match &mut item {
                                Item::Function(def) => {
                                    def.contract = contract;
                                    def.left_out = self.left_out > left_out;
                                }
                                _ => self.forget(&contract),
                            }
                            left_out = self.left_out;
                            self.tu.items.push(item);
                        }
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

    /// Leaves out clauses that belong to no function definition.
    fn forget(&mut self, contract: &[Clause]) {
        contract.iter().for_each(|clause| self.leave_out(clause.span));
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
