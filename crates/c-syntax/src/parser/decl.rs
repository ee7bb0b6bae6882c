//! Declarations and function definitions.

use super::declarator::{Naming, push_first_exactly};
use super::{Parsed, Parser};
use crate::ast::*;
use crate::token::{Tok, Token};

/// Where a declaration stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Outside functions.
    External,
    /// Among statements.
    Block,
    /// Between the declarator and the body of a K&R definition.
    Parameters,
}

/// What a declaration turned out to be.
pub(super) enum Declared {
    Declaration(DeclId),
    Function(Box<FunctionDef>),
}

impl Parser<'_> {
    /// A declaration or function definition.
    pub(super) fn declaration(&mut self, place: Place) -> Parsed<Declared> {
        let first = self.tok();
        let used = std::mem::take(&mut self.tu.uses);
        let declared = self.declaration_at(place, first);
        let mentioned = std::mem::replace(&mut self.tu.uses, used);
        if mentioned != Arithmetic::default() {
            self.note_mention(&declared, mentioned);
        }
        declared
    }

    /// What only prototypes mention counts when one of them is used: headers declare much.
    fn note_mention(&mut self, declared: &Parsed<Declared>, mentioned: Arithmetic) {
        if let Ok(Declared::Declaration(id)) = declared {
            let declaration = &self.tu.decls[*id];
            let ty = declaration.specs.ty;
            let defines_no_type =
                matches!(ty, TypeSpec::Basic(_) | TypeSpec::Complex(_) | TypeSpec::Typedef(_))
                    && declaration.specs.storage != Some(Storage::Typedef);
            let prototype = |d: &InitDeclarator| match d.declarator.derived.first() {
                Some(Derived::Function(_)) => d.declarator.name.map(|name| (name.name, mentioned)),
                _ => None,
            };
            let prototypes: Option<Vec<_>> = declaration.declarators.iter().map(prototype).collect();
            if let Some(prototypes) = prototypes.filter(|p| defines_no_type && !p.is_empty()) {
                self.tu.prototypes.extend(prototypes);
                return;
            }
        }
        self.tu.uses.complex |= mentioned.complex;
        self.tu.uses.soft_float |= mentioned.soft_float;
    }

    fn declaration_at(&mut self, place: Place, first: Token) -> Parsed<Declared> {
        let specs = self.specs()?;
        let mut declarators = Vec::new();
        if self.peek() == Tok::Semi {
            self.bump();
        } else {
            let no_specs = specs.span.lo == specs.span.hi;
            if no_specs && !matches!(self.peek(), Tok::Ident | Tok::Star | Tok::LParen) {
                return self.expected("a declaration");
            }
            loop {
                let mut attrs = Vec::new();
                if !declarators.is_empty() {
                    self.attributes(&mut attrs)?;
                }
                let declarator = self.declarator(Naming::Named)?;
                if let Some(name) = declarator.name {
                    self.scopes.declare(name.name, specs.storage == Some(Storage::Typedef));
                }
                if declarators.is_empty() {
                    self.check_implicit_int(&specs, declarator.name);
                }
                let is_function = matches!(declarator.derived.first(), Some(Derived::Function(_)));
                let asm_label = self.declarator_suffix(&mut attrs)?;
                if is_function && declarators.is_empty() && self.at_function_body(&declarator) {
                    if place == Place::Parameters {
                        return self.expected("`;` after the parameter declaration");
                    }
                    let function = self.function(first, specs, declarator, attrs)?;
                    return Ok(Declared::Function(Box::new(function)));
                }
                let init = match self.eat(Tok::Assign) {
                    Some(_) => Some(self.initializer()?),
                    None => None,
                };
                self.attributes(&mut attrs)?;
                let span = self.span_from(declarator.span.lo);
                let declarator = InitDeclarator { declarator, asm_label, attrs, init, span };
                push_first_exactly(&mut declarators, declarator);
                if self.eat(Tok::Comma).is_none() {
                    self.end_declaration()?;
                    break;
                }
            }
        }
        let span = self.span_from(first.lo);
        Ok(Declared::Declaration(self.tu.decls.push(Declaration { specs, declarators, span })))
    }

    /// Assembler label and attributes, in any order.
    fn declarator_suffix(&mut self, attrs: &mut Vec<Attribute>) -> Parsed<Option<StrId>> {
        let mut label = None;
        loop {
            match self.peek() {
                Tok::Asm => label = Some(self.asm_label()?),
                Tok::Attribute | Tok::LBracket if self.at_attribute() => self.attributes(attrs)?,
                _ => return Ok(label),
            }
        }
    }

    fn end_declaration(&mut self) -> Parsed<()> {
        if self.eat(Tok::Semi).is_some() {
            return Ok(());
        }
        if matches!(self.peek(), Tok::RBrace | Tok::Eof) || self.on_new_line(self.pos) {
            return self.expect_semi("after the declaration");
        }
        self.expected("`=`, `,` or `;` after the declarator")
    }

    /// After a function declarator: whether its body or K&R parameter declarations follow.
    fn at_function_body(&self, declarator: &Declarator) -> bool {
        if self.peek() == Tok::LBrace {
            return true;
        }
        let Some(Derived::Function(function)) = declarator.derived.first() else { return false };
        match function.params {
            Params::Prototype { .. } => false,
            Params::Identifiers(_) => self.is_type_start(self.tok()),
            // With `()` there is nothing to declare; it is a forgotten semicolon.
            Params::Unspecified => false,
        }
    }

    /// A function definition after its declarator.
    fn function(
        &mut self,
        first: Token,
        specs: DeclSpecs,
        declarator: Declarator,
        attrs: Vec<Attribute>,
    ) -> Parsed<FunctionDef> {
        self.scopes.open();
        let result = self.function_inside(first, specs, declarator, attrs);
        self.scopes.close();
        result
    }

    fn function_inside(
        &mut self,
        first: Token,
        specs: DeclSpecs,
        declarator: Declarator,
        attrs: Vec<Attribute>,
    ) -> Parsed<FunctionDef> {
        if let Some(Derived::Function(function)) = declarator.derived.first() {
            match &function.params {
                Params::Unspecified => {}
                Params::Prototype { params, .. } => {
                    for name in params.iter().filter_map(|p| p.declarator.name) {
                        self.scopes.declare(name.name, false);
                    }
                }
                Params::Identifiers(names) => {
                    for name in names {
                        self.scopes.declare(name.name, false);
                    }
                }
            }
        }
        let mut knr_decls = Vec::new();
        while self.peek() != Tok::LBrace {
            if !self.is_type_start(self.tok()) && self.peek() != Tok::Extension {
                return self.expected("`{` or a parameter declaration");
            }
            if let Declared::Declaration(decl) = self.declaration(Place::Parameters)? {
                knr_decls.push(decl);
            }
        }
        let body = self.nested(|p| Ok(p.block()))?;
        let span = self.span_from(first.lo);
        Ok(FunctionDef {
            specs,
            declarator,
            attrs,
            knr_decls,
            body,
            contract: Vec::new(),
            left_out: false,
            span,
        })
    }

    /// `_Static_assert(condition, "message");`
    pub(super) fn static_assert(&mut self) -> Parsed<StaticAssert> {
        let keyword = self.bump();
        self.expect(Tok::LParen, "after `_Static_assert`")?;
        let cond = self.conditional()?;
        let message = match self.eat(Tok::Comma) {
            Some(_) => Some(self.string("as the assertion's message")?),
            None => None,
        };
        self.expect(Tok::RParen, "to close `_Static_assert`")?;
        self.expect_semi("after `_Static_assert`")?;
        Ok(StaticAssert { cond, message, span: self.span_from(keyword.lo) })
    }
}
