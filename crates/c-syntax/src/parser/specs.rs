//! Declaration specifiers: storage, qualifiers, and the type they name together.

use super::{Parsed, Parser};
use crate::ast::*;
use crate::intern::Symbol;
use crate::token::{Tok, Token};
use palisade_base::Span;

/// The basic type keywords seen so far.
#[derive(Clone, Copy, Default)]
struct Keywords {
    /// `char`, `int`, `double`, …
    base: Option<Tok>,
    signed: bool,
    unsigned: bool,
    short: bool,
    longs: u8,
    complex: bool,
    /// The width of `_BitInt`.
    bit_int: Option<ExprId>,
}

impl Keywords {
    /// Adds a keyword; false if it cannot follow those before.
    fn add(&mut self, kind: Tok) -> bool {
        match kind {
            Tok::Signed => !self.unsigned && !std::mem::replace(&mut self.signed, true),
            Tok::Unsigned => !self.signed && !std::mem::replace(&mut self.unsigned, true),
            Tok::Short => self.longs == 0 && !std::mem::replace(&mut self.short, true),
            Tok::Complex => !std::mem::replace(&mut self.complex, true),
            Tok::Long => {
                self.longs += 1;
                self.longs <= 2 && !self.short
            }
            _ => self.base.replace(kind).is_none(),
        }
    }

    /// The type that the keywords name together.
    fn resolve(self) -> Option<TypeSpec> {
        use BasicType as B;
        let Keywords { base, signed, unsigned, short, longs, complex, bit_int } = self;
        if let Some(width) = bit_int {
            let alone = !short && longs == 0 && !complex;
            return alone.then_some(TypeSpec::BitInt { width, unsigned });
        }
        let plain = !signed && !unsigned && !short && longs == 0;
        let basic = match base {
            None if complex && plain => B::Double,
            None | Some(Tok::Int) => match (short, longs, unsigned) {
                (true, _, false) => B::Short,
                (true, _, true) => B::UShort,
                (_, 0, false) => B::Int,
                (_, 0, true) => B::UInt,
                (_, 1, false) => B::Long,
                (_, 1, true) => B::ULong,
                (_, _, false) => B::LongLong,
                (_, _, true) => B::ULongLong,
            },
            Some(Tok::CharKw) if !short && longs == 0 => match (signed, unsigned) {
                (true, _) => B::SChar,
                (_, true) => B::UChar,
                _ => B::Char,
            },
            Some(Tok::Int128) if !short && longs == 0 => {
                if unsigned {
                    B::UInt128
                } else {
                    B::Int128
                }
            }
            Some(Tok::Double) if longs == 1 && !signed && !unsigned && !short => B::LongDouble,
            Some(base) if plain => match base {
                Tok::Void if !complex => B::Void,
                Tok::Bool if !complex => B::Bool,
                Tok::Float => B::Float,
                Tok::Double => B::Double,
                Tok::Int128T => B::Int128,
                Tok::UInt128T => B::UInt128,
                Tok::Float16 => B::Float16,
                Tok::BFloat16 => B::BFloat16,
                Tok::Float32 => B::Float32,
                Tok::Float64 => B::Float64,
                Tok::Float128 => B::Float128,
                Tok::Float32x => B::Float32x,
                Tok::Float64x => B::Float64x,
                Tok::Float80 => B::Float80,
                Tok::Decimal32 => B::Decimal32,
                Tok::Decimal64 => B::Decimal64,
                Tok::Decimal128 => B::Decimal128,
                _ => return None,
            },
            Some(_) => return None,
        };
        Some(if complex { TypeSpec::Complex(basic) } else { TypeSpec::Basic(basic) })
    }
}

/// What is known of the type while specifiers are read.
#[derive(Clone, Copy)]
enum Seen {
    Nothing,
    Keywords(Keywords),
    Whole(TypeSpec),
}

impl Parser<'_> {
    /// Reads specifiers; without a type among them the type is [`TypeSpec::ImplicitInt`].
    pub(super) fn specs(&mut self) -> Parsed<DeclSpecs> {
        let lo = self.tok().lo;
        let mut specs = DeclSpecs {
            storage: None,
            thread_local: false,
            constexpr: false,
            inline: false,
            noreturn: false,
            quals: Quals::default(),
            ty: TypeSpec::ImplicitInt,
            ty_span: Span::new(lo, lo),
            alignas: Vec::new(),
            attrs: Vec::new(),
            span: Span::new(lo, lo),
        };
        let mut seen = Seen::Nothing;
        let mut auto = false;
        loop {
            let token = self.tok();
            let before = self.pos;
            match token.kind {
                Tok::Ident => match seen {
                    Seen::Nothing if self.is_typedef_name(token) => {
                        self.bump();
                        seen = Seen::Whole(TypeSpec::Typedef(Symbol(token.data)));
                    }
                    Seen::Nothing if self.is_unknown_type() => {
                        let name = self.token_text(token);
                        let message = format!("unknown type name `{name}`");
                        let _: Parsed<()> = self.error_at(token.span(), message);
                        self.bump();
                        // One report per name is enough.
                        self.scopes.declare(Symbol(token.data), true);
                        seen = Seen::Whole(TypeSpec::Error);
                    }
                    _ => break,
                },
                Tok::Const | Tok::Volatile | Tok::Restrict => self.qualifier(&mut specs.quals),
                Tok::Atomic if self.ahead(1).kind != Tok::LParen => self.qualifier(&mut specs.quals),
                // C23 6.7.1: with another storage class or without a type it only infers the type.
                Tok::Auto if self.c23 => {
                    self.bump();
                    auto = true;
                }
                Tok::Constexpr => {
                    self.bump();
                    specs.constexpr = true;
                }
                Tok::Typedef | Tok::Extern | Tok::Static | Tok::Auto | Tok::Register => {
                    self.storage(token, &mut specs)?;
                }
                Tok::ThreadLocal => {
                    self.bump();
                    specs.thread_local = true;
                }
                Tok::Inline => {
                    self.bump();
                    specs.inline = true;
                }
                Tok::Noreturn => {
                    self.bump();
                    specs.noreturn = true;
                }
                Tok::Extension => {
                    self.bump();
                }
                Tok::Alignas => {
                    let alignas = self.alignas()?;
                    specs.alignas.push(alignas);
                }
                Tok::Attribute => self.attributes(&mut specs.attrs)?,
                Tok::LBracket if self.at_attribute() => self.attributes(&mut specs.attrs)?,
                kind if kind.is_soft_type() && !matches!(seen, Seen::Nothing) => {
                    // `typedef double _Float64;` declares a name; `_Complex _Float64` does not.
                    match seen {
                        Seen::Keywords(k) if k.complex && k.base.is_none() => {
                            self.type_specifier(token, &mut seen)?
                        }
                        _ => break,
                    }
                }
                kind if (Tok::Void as u8..=Tok::TypeofUnqual as u8).contains(&(kind as u8))
                    || kind == Tok::Atomic =>
                {
                    self.type_specifier(token, &mut seen)?
                }
                _ => break,
            }
            if !matches!(seen, Seen::Nothing) && specs.ty_span.lo == specs.ty_span.hi {
                specs.ty_span = Span::new(self.tokens[before].lo, self.prev_hi());
            }
        }
        specs.span = self.span_from(lo);
        if auto && specs.storage.is_none() {
            specs.storage = Some(Storage::Auto);
        }
        specs.ty = match seen {
            Seen::Nothing if auto => TypeSpec::AutoType,
            Seen::Nothing => TypeSpec::ImplicitInt,
            Seen::Whole(ty) => ty,
            Seen::Keywords(keywords) => match keywords.resolve() {
                Some(ty) => ty,
                None => {
                    let text = &self.text[(specs.ty_span.lo - self.base) as usize..];
                    let text = &text[..(specs.span.hi.max(specs.ty_span.lo) - specs.ty_span.lo) as usize];
                    let message = format!("`{text}` is not a type");
                    let _: Parsed<()> = self.error_at(specs.ty_span, message);
                    TypeSpec::Error
                }
            },
        };
        Ok(specs)
    }

    /// Whether a name that is not a typedef stands where only a type makes sense of what follows.
    fn is_unknown_type(&self) -> bool {
        let next = self.ahead(1);
        match next.kind {
            Tok::Ident => true,
            Tok::Star => {
                // `name * name` could be a product, but specifiers are only read in declarations.
                matches!(self.ahead(2).kind, Tok::Ident | Tok::Star | Tok::Const | Tok::RParen | Tok::Comma)
            }
            kind => {
                kind.starts_specifiers() && !matches!(kind, Tok::Attribute)
                    && (Tok::Auto as u8..=Tok::Enum as u8).contains(&(kind as u8))
                    // `f(a) int a; {…}` and `f int` differ in the parenthesis only.
                    && !self.on_new_line(self.pos + 1)
            }
        }
    }

    fn qualifier(&mut self, quals: &mut Quals) {
        match self.bump().kind {
            Tok::Const => quals.is_const = true,
            Tok::Volatile => quals.is_volatile = true,
            Tok::Restrict => quals.is_restrict = true,
            _ => quals.is_atomic = true,
        }
    }

    /// Any number of qualifiers and attributes, as after `*`.
    pub(super) fn qualifiers(&mut self, quals: &mut Quals, attrs: &mut Vec<Attribute>) -> Parsed<()> {
        loop {
            match self.peek() {
                Tok::Const | Tok::Volatile | Tok::Restrict | Tok::Atomic => self.qualifier(quals),
                Tok::Extension => {
                    self.bump();
                }
                Tok::Attribute => self.attributes(attrs)?,
                _ => return Ok(()),
            }
        }
    }

    fn storage(&mut self, token: Token, specs: &mut DeclSpecs) -> Parsed<()> {
        let storage = match token.kind {
            Tok::Typedef => Storage::Typedef,
            Tok::Extern => Storage::Extern,
            Tok::Static => Storage::Static,
            Tok::Auto => Storage::Auto,
            _ => Storage::Register,
        };
        if specs.storage.is_some() {
            let _: Parsed<()> = self.error_at(token.span(), "more than one storage class in the declaration");
        }
        self.bump();
        specs.storage = Some(storage);
        Ok(())
    }

    /// `_Alignas(type)` or `_Alignas(constant)`
    fn alignas(&mut self) -> Parsed<Alignas> {
        self.bump();
        self.expect(Tok::LParen, "after `_Alignas`")?;
        let alignas = if self.is_type_start(self.tok()) {
            Alignas::Type(self.type_name()?)
        } else {
            Alignas::Expr(self.nested(Self::conditional)?)
        };
        self.expect(Tok::RParen, "to close `_Alignas`")?;
        Ok(alignas)
    }

    /// One type specifier.
    fn type_specifier(&mut self, token: Token, seen: &mut Seen) -> Parsed<()> {
        let whole = match token.kind {
            Tok::Struct | Tok::Union => TypeSpec::Record(self.nested(Self::record)?),
            Tok::Enum => TypeSpec::Enum(self.nested(Self::enumeration)?),
            Tok::Typeof | Tok::TypeofUnqual => self.nested(Self::typeof_specifier)?,
            Tok::Atomic => {
                self.bump();
                self.expect(Tok::LParen, "after `_Atomic`")?;
                let ty = self.type_name()?;
                self.expect(Tok::RParen, "to close `_Atomic`")?;
                TypeSpec::Atomic(ty)
            }
            Tok::VaList => {
                self.bump();
                TypeSpec::VaList
            }
            Tok::AutoType => {
                self.bump();
                TypeSpec::AutoType
            }
            Tok::Imaginary => return self.unsupported(token.span(), "`_Imaginary` is"),
            kind => {
                let mut keywords = match *seen {
                    Seen::Nothing => Keywords::default(),
                    Seen::Keywords(k) => k,
                    Seen::Whole(before) => return self.two_types(token, before),
                };
                if !keywords.add(kind) {
                    return self.two_types(token, TypeSpec::ImplicitInt);
                }
                if kind == Tok::BitInt {
                    self.bump();
                    self.expect(Tok::LParen, "after `_BitInt`")?;
                    keywords.bit_int = Some(self.nested(Self::conditional)?);
                    self.expect(Tok::RParen, "after the width of `_BitInt`")?;
                    *seen = Seen::Keywords(keywords);
                    return Ok(());
                }
                self.tu.uses.complex |= kind == Tok::Complex;
                self.tu.uses.soft_float |= matches!(kind, Tok::Float16 | Tok::Float128);
                self.bump();
                *seen = Seen::Keywords(keywords);
                return Ok(());
            }
        };
        match *seen {
            Seen::Nothing => *seen = Seen::Whole(whole),
            Seen::Whole(before) => self.two_types(token, before)?,
            Seen::Keywords(_) => self.two_types(token, TypeSpec::ImplicitInt)?,
        }
        Ok(())
    }

    /// A type specifier that does not fit to those before it.
    fn two_types(&mut self, token: Token, before: TypeSpec) -> Parsed<()> {
        match before {
            // The first one was already reported: take the second as the declaration's type.
            TypeSpec::Error => {
                if self.tok().lo == token.lo {
                    self.bump();
                }
                Ok(())
            }
            TypeSpec::Record(id) if self.tu.records[id].members.is_some() => {
                self.expected("`;` or a declarator after the `struct` or `union`")
            }
            _ => {
                let shown = self.describe(token);
                self.error_at(token.span(), format!("{shown} does not fit to the type specifiers before it"))
            }
        }
    }

    /// `typeof(expression)` or `typeof(type)`
    fn typeof_specifier(&mut self) -> Parsed<TypeSpec> {
        let unqual = self.bump().kind == Tok::TypeofUnqual;
        self.expect(Tok::LParen, "after `typeof`")?;
        let spec = if self.is_type_start(self.tok()) {
            TypeSpec::TypeofType { ty: self.type_name()?, unqual }
        } else {
            TypeSpec::TypeofExpr { expr: self.expr()?, unqual }
        };
        self.expect(Tok::RParen, "to close `typeof`")?;
        Ok(spec)
    }

    /// A type name, as in casts.
    pub(super) fn type_name(&mut self) -> Parsed<TypeNameId> {
        self.nested(Self::type_name_inside)
    }

    fn type_name_inside(&mut self) -> Parsed<TypeNameId> {
        let token = self.tok();
        let specs = self.specs()?;
        if specs.span.lo == specs.span.hi {
            return self.expected("a type name");
        }
        self.check_implicit_int(&specs, None);
        // C23 6.5.3.6: a compound literal may have a storage class.
        if !self.c23 {
            self.no_storage_in(&specs);
        }
        let declarator = self.declarator(super::declarator::Naming::Abstract)?;
        let span = self.span_from(token.lo);
        Ok(self.tu.type_names.push(TypeName { specs, declarator, span }))
    }

    fn no_storage_in(&mut self, specs: &DeclSpecs) {
        if let Some(storage) = specs.storage {
            let name = format!("{storage:?}").to_ascii_lowercase();
            let _: Parsed<()> = self.error_at(specs.span, format!("storage class `{name}` in a type name"));
        }
    }

    /// Reports the storage class of a type name that is not that of a compound literal.
    pub(super) fn no_storage(&mut self, ty: TypeNameId) {
        let TypeName { specs, .. } = &self.tu.type_names[ty];
        if specs.storage.is_some() {
            let specs = specs.clone();
            self.no_storage_in(&specs);
        }
    }

    /// Warns if specifiers were given without a type.
    pub(super) fn check_implicit_int(&mut self, specs: &DeclSpecs, name: Option<Ident>) {
        if specs.ty != TypeSpec::ImplicitInt {
            return;
        }
        match name {
            Some(Ident { name, span }) => {
                let message = format!("type of `{}` defaults to `int`", self.interner.name(name));
                self.warn(span, message);
            }
            None => self.warn(specs.span, "type defaults to `int`"),
        }
    }
}
