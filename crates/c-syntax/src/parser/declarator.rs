//! Declarators and parameter lists.

use super::{Parsed, Parser};
use crate::MAX_NESTING;
use crate::ast::*;
use crate::intern::Symbol;
use crate::token::Tok;
use palisade_base::Span;

/// Whether a declarator has a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// It must have one.
    Named,
    /// It must not: type names.
    Abstract,
    /// It may: parameters.
    Either,
}

impl Parser<'_> {
    /// A declarator, flattened into the derivation from the name outwards.
    pub(super) fn declarator(&mut self, naming: Naming) -> Parsed<Declarator> {
        let lo = self.tok().lo;
        let mut out =
            Declarator { name: None, derived: Vec::new(), attrs: Vec::new(), span: Span::new(lo, lo) };
        // The most frequent declarator is a mere name.
        let token = self.tok();
        let simple = token.kind == Tok::Ident
            && naming != Naming::Abstract
            && !matches!(self.ahead(1).kind, Tok::LParen | Tok::LBracket);
        if simple {
            self.bump();
            out.name = Some(Ident { name: Symbol(token.data), span: token.span() });
            out.span = token.span();
            return Ok(out);
        }
        let base = self.pending_pointers.len();
        let result = self.declarator_into(naming, &mut out);
        self.pending_pointers.truncate(base);
        result?;
        if self.pos > 0 && self.prev_hi() > lo {
            out.span = self.span_from(lo);
        }
        Ok(out)
    }

    fn declarator_into(&mut self, naming: Naming, out: &mut Declarator) -> Parsed<()> {
        self.enter()?;
        let result = self.declarator_level(naming, out);
        self.depth -= 1;
        result
    }

    /// Pointers, then a name or a parenthesised declarator, then arrays and parameter lists. The
    /// pointers bind last.
    fn declarator_level(&mut self, naming: Naming, out: &mut Declarator) -> Parsed<()> {
        let base = self.pending_pointers.len();
        while self.eat(Tok::Star).is_some() {
            let (mut quals, mut attrs) = (Quals::default(), Vec::new());
            self.qualifiers(&mut quals, &mut attrs)?;
            self.pending_pointers.push(Derived::Pointer { quals, attrs });
        }
        let token = self.tok();
        match token.kind {
            kind if naming != Naming::Abstract && (kind == Tok::Ident || kind.is_soft_type()) => {
                self.bump();
                out.name = Some(Ident { name: Symbol(token.data), span: token.span() });
                if self.peek() == Tok::LBracket {
                    self.attributes(&mut out.attrs)?;
                }
            }
            Tok::LParen if naming == Naming::Named || !self.at_parameters() => {
                self.bump();
                self.attributes(&mut out.attrs)?;
                self.declarator_into(naming, out)?;
                self.expect(Tok::RParen, "in the declarator")?;
            }
            _ if naming == Naming::Named => return self.expected("identifier or `(`"),
            _ => {}
        }
        loop {
            match self.peek() {
                Tok::LBracket if !self.at_attribute() => {
                    let array = self.array_declarator()?;
                    push_first_exactly(&mut out.derived, array);
                }
                Tok::LParen => {
                    let function = self.function_declarator()?;
                    push_first_exactly(&mut out.derived, function);
                }
                _ => break,
            }
        }
        let pointers = self.pending_pointers.drain(base..).rev();
        out.derived.reserve_exact(pointers.len());
        out.derived.extend(pointers);
        if out.derived.len() > MAX_NESTING {
            return self.too_deep(token.span(), MAX_NESTING);
        }
        Ok(())
    }

    /// At the parenthesis of a declarator that may have no name: whether it holds parameters and
    /// not another declarator. A typedef name is always taken as a parameter's type.
    fn at_parameters(&self) -> bool {
        let next = self.ahead(1);
        match next.kind {
            Tok::RParen | Tok::Ellipsis => true,
            // `(__attribute__((x)) *p)` is a declarator.
            Tok::Attribute => false,
            _ => self.is_type_start(next),
        }
    }

    /// `[static const size]`
    fn array_declarator(&mut self) -> Parsed<Derived> {
        let open = self.bump();
        let (mut quals, mut attrs, mut is_static) = (Quals::default(), Vec::new(), false);
        self.qualifiers(&mut quals, &mut attrs)?;
        if self.eat(Tok::Static).is_some() {
            is_static = true;
            self.qualifiers(&mut quals, &mut attrs)?;
        }
        let size = match self.peek() {
            Tok::RBracket => ArraySize::Unspecified,
            Tok::Star if self.ahead(1).kind == Tok::RBracket => {
                self.bump();
                ArraySize::Star
            }
            _ => ArraySize::Expr(self.assign()?),
        };
        self.expect(Tok::RBracket, "after the array size")?;
        Ok(Derived::Array { size, quals, is_static, span: self.span_from(open.lo) })
    }

    /// `(parameters)`
    fn function_declarator(&mut self) -> Parsed<Derived> {
        let open = self.bump();
        self.scopes.open();
        let params = self.nested(Self::params);
        self.scopes.close();
        let params = params?;
        let span = self.span_from(open.lo);
        Ok(Derived::Function(Box::new(FunctionDeclarator { params, span })))
    }

    /// What is between the parentheses of a function declarator, with the closing one.
    fn params(&mut self) -> Parsed<Params> {
        if self.eat(Tok::RParen).is_some() {
            return Ok(match self.c23 {
                true => Params::Prototype { params: Vec::new(), variadic: false },
                false => Params::Unspecified,
            });
        }
        let first = self.tok();
        let second = self.ahead(1).kind;
        if first.kind == Tok::Void && second == Tok::RParen {
            self.bump();
            self.bump();
            return Ok(Params::Prototype { params: Vec::new(), variadic: false });
        }
        if first.kind == Tok::Ident
            && matches!(second, Tok::Comma | Tok::RParen)
            && !self.is_typedef_name(first)
        {
            return self.identifier_list();
        }
        let first = self.pending_params.len();
        let variadic = self.prototype();
        let params = self.pending_params.drain(first..).collect();
        Ok(Params::Prototype { params, variadic: variadic? })
    }

    /// The parameters of a prototype, left on `pending_params`, and the closing parenthesis;
    /// returns whether `...` ends them.
    fn prototype(&mut self) -> Parsed<bool> {
        let mut variadic = false;
        loop {
            if self.eat(Tok::Ellipsis).is_some() {
                variadic = true;
                break;
            }
            let param = self.param()?;
            self.pending_params.push(param);
            if self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::RParen, "or `,` in the parameter list")?;
        Ok(variadic)
    }

    /// The names of a K&R definition.
    fn identifier_list(&mut self) -> Parsed<Params> {
        let mut names = Vec::new();
        loop {
            names.push(self.ident("in the parameter list")?);
            if self.eat(Tok::Comma).is_none() {
                break;
            }
        }
        self.expect(Tok::RParen, "or `,` in the parameter list")?;
        Ok(Params::Identifiers(names))
    }

    fn param(&mut self) -> Parsed<Param> {
        let lo = self.tok().lo;
        let specs = self.specs()?;
        if specs.span.lo == specs.span.hi {
            return self.expected("a parameter declaration");
        }
        let declarator = self.declarator(Naming::Either)?;
        self.check_implicit_int(&specs, declarator.name);
        if let Some(name) = declarator.name {
            self.scopes.declare(name.name, false);
        }
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        Ok(Param { specs, declarator, attrs, span: self.span_from(lo) })
    }
}

/// Appends to a list that rarely gets a second element without room for more.
pub(super) fn push_first_exactly<T>(list: &mut Vec<T>, element: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(element);
}
