//! Attributes, assembler labels and `asm` statements.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::intern::Symbol;
use crate::token::{Tok, Token};

impl Parser<'_> {
    /// Whether an attribute starts here: `__attribute__` or `[[`.
    #[inline]
    pub(super) fn at_attribute(&self) -> bool {
        match self.peek() {
            Tok::Attribute => true,
            Tok::LBracket => self.ahead(1).kind == Tok::LBracket,
            _ => false,
        }
    }

    /// Any number of attribute specifiers.
    #[inline]
    pub(super) fn attributes(&mut self, out: &mut Vec<Attribute>) -> Parsed<()> {
        while self.at_attribute() {
            if self.peek() == Tok::Attribute {
                self.gnu_attribute(out)?;
            } else {
                self.standard_attribute(out)?;
            }
        }
        Ok(())
    }

    /// `__attribute__((name, name(args), …))`
    fn gnu_attribute(&mut self, out: &mut Vec<Attribute>) -> Parsed<()> {
        self.bump();
        self.expect(Tok::LParen, "after `__attribute__`")?;
        self.expect(Tok::LParen, "after `__attribute__(`")?;
        loop {
            if self.peek().is_word() {
                let word = self.bump();
                out.push(self.attribute(word, word.lo)?);
            }
            if self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::RParen, "or `,` in the attribute list")?;
        self.expect(Tok::RParen, "to close `__attribute__`")?;
        Ok(())
    }

    /// `[[name, gnu::name(args), …]]`
    fn standard_attribute(&mut self, out: &mut Vec<Attribute>) -> Parsed<()> {
        self.bump();
        self.bump();
        loop {
            if self.peek().is_word() {
                let mut word = self.bump();
                let lo = word.lo;
                if self.peek() == Tok::Colon && self.ahead(1).kind == Tok::Colon {
                    self.bump();
                    self.bump();
                    if !self.peek().is_word() {
                        return self.expected("the attribute's name after `::`");
                    }
                    word = self.bump();
                }
                out.push(self.attribute(word, lo)?);
            }
            if self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::RBracket, "or `,` in the attribute list")?;
        self.expect(Tok::RBracket, "to close `[[`")?;
        Ok(())
    }

    /// One attribute after its name.
    fn attribute(&mut self, word: Token, lo: u32) -> Parsed<Attribute> {
        let mut name = Symbol(word.data);
        let spelling = self.interner.name(name);
        if let Some(bare) = spelling.strip_prefix("__").and_then(|s| s.strip_suffix("__"))
            && !bare.is_empty()
        {
            let bare = bare.to_owned();
            name = self.interner.intern(&bare);
        }
        let mut args = Vec::new();
        if self.eat(Tok::LParen).is_some() && self.eat(Tok::RParen).is_none() {
            loop {
                args.push(self.attribute_arg()?);
                if self.eat(Tok::Comma).is_none() {
                    break;
                }
            }
            self.expect(Tok::RParen, "or `,` in the attribute's arguments")?;
        }
        if self.interner.name(name) == "mode" {
            self.note_mode(&args);
        }
        Ok(Attribute { name, args, span: self.span_from(lo) })
    }

    /// A machine mode that ends in `F` or `C` may name any of the arithmetic with functions.
    fn note_mode(&mut self, args: &[AttrArg]) {
        let is_integer = |arg: &AttrArg| match arg {
            AttrArg::Ident(mode) => {
                !self.interner.name(mode.name).trim_end_matches('_').ends_with(['F', 'C'])
            }
            _ => false,
        };
        if !args.iter().all(is_integer) {
            self.tu.uses = Arithmetic { complex: true, soft_float: true };
        }
    }

    fn attribute_arg(&mut self) -> Parsed<AttrArg> {
        let token = self.tok();
        if token.kind.is_word() && matches!(self.ahead(1).kind, Tok::Comma | Tok::RParen) {
            self.bump();
            return Ok(AttrArg::Ident(Ident { name: Symbol(token.data), span: token.span() }));
        }
        if self.is_type_start(token) {
            return Ok(AttrArg::Type(self.type_name()?));
        }
        Ok(AttrArg::Expr(self.nested(Self::assign)?))
    }

    /// `asm("name")` after a declarator.
    pub(super) fn asm_label(&mut self) -> Parsed<StrId> {
        self.bump();
        self.expect(Tok::LParen, "after `asm`")?;
        let name = self.string("as the assembler name")?;
        self.expect(Tok::RParen, "after the assembler name")?;
        Ok(name)
    }

    /// `asm volatile goto ("template" : outputs : inputs : clobbers : labels);`
    pub(super) fn asm_statement(&mut self) -> Parsed<AsmStmt> {
        self.bump();
        let (mut volatile, mut goto) = (false, false);
        loop {
            match self.peek() {
                Tok::Volatile => volatile = true,
                Tok::Goto => goto = true,
                Tok::Inline | Tok::Const => {}
                _ => break,
            }
            self.bump();
        }
        self.expect(Tok::LParen, "after `asm`")?;
        let template = self.string("as the assembler template")?;
        let mut asm = AsmStmt {
            volatile,
            goto,
            template,
            outputs: Vec::new(),
            inputs: Vec::new(),
            clobbers: Vec::new(),
            labels: Vec::new(),
        };
        if self.eat(Tok::Colon).is_some() {
            asm.outputs = self.asm_operands()?;
            if self.eat(Tok::Colon).is_some() {
                asm.inputs = self.asm_operands()?;
                if self.eat(Tok::Colon).is_some() {
                    self.asm_clobbers(&mut asm)?;
                }
            }
        }
        self.expect(Tok::RParen, "to close `asm`")?;
        self.expect_semi("after `asm`")?;
        Ok(asm)
    }

    fn asm_clobbers(&mut self, asm: &mut AsmStmt) -> Parsed<()> {
        while self.peek() == Tok::Str {
            asm.clobbers.push(self.string("")?);
            if self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        if self.eat(Tok::Colon).is_some() {
            loop {
                asm.labels.push(self.ident("as a label of `asm goto`")?);
                if self.eat(Tok::Comma).is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// `[name] "constraint" (expression), …`, possibly nothing.
    fn asm_operands(&mut self) -> Parsed<Vec<AsmOperand>> {
        let mut operands = Vec::new();
        if !matches!(self.peek(), Tok::LBracket | Tok::Str) {
            return Ok(operands);
        }
        loop {
            let mut name = None;
            if self.eat(Tok::LBracket).is_some() {
                if !self.peek().is_word() {
                    return self.expected("the operand's name after `[`");
                }
                name = Some(Symbol(self.bump().data));
                self.expect(Tok::RBracket, "after the operand's name")?;
            }
            let constraint = self.string("as the operand's constraint")?;
            self.expect(Tok::LParen, "after the constraint")?;
            let expr = self.expr()?;
            self.expect(Tok::RParen, "after the operand")?;
            operands.push(AsmOperand { name, constraint, expr });
            if self.eat(Tok::Comma).is_none() {
                return Ok(operands);
            }
        }
    }
}
