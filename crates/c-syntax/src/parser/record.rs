//! `struct`, `union` and `enum` specifiers, and the `#pragma pack` that governs their layout.

use super::declarator::{Naming, push_first_exactly};
use super::{Parsed, Parser};
use crate::ast::*;
use crate::intern::Symbol;
use crate::token::Tok;
use palisade_base::{Diagnostic, Span};

impl Parser<'_> {
    /// `struct tag { members }`
    pub(super) fn record(&mut self) -> Parsed<RecordId> {
        let keyword = self.bump();
        let kind = if keyword.kind == Tok::Struct { RecordKind::Struct } else { RecordKind::Union };
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        let tag = self.tag();
        let (mut members, mut pack) = (None, None);
        if let Some(open) = self.eat(Tok::LBrace) {
            // A record takes more stack than other constructs and counts twice.
            members = Some(self.nested(|p| p.members(open.span()))?);
            pack = self.packs.at(self.prev_hi());
            self.attributes(&mut attrs)?;
        } else if tag.is_none() {
            return self.expected(&format!("a tag or `{{` after `{}`", keyword.kind.text()));
        }
        let span = self.span_from(keyword.lo);
        Ok(self.tu.records.push(RecordSpec { kind, tag, members, attrs, pack, span }))
    }

    fn tag(&mut self) -> Option<Ident> {
        let token = self.eat(Tok::Ident)?;
        Some(Ident { name: Symbol(token.data), span: token.span() })
    }

    /// The members of a record after its brace, with the closing one.
    fn members(&mut self, open: Span) -> Parsed<Vec<Member>> {
        let mut members = Vec::new();
        loop {
            match self.peek() {
                Tok::RBrace => {
                    self.bump();
                    return Ok(members);
                }
                Tok::Semi => {
                    self.bump();
                }
                Tok::Eof => return self.unclosed(open),
                _ => {
                    let before = self.pos;
                    match self.member() {
                        Ok(member) => members.push(member),
                        Err(_) => {
                            self.skip_statement();
                            if self.peek() == Tok::LBrace {
                                self.skip_braces();
                            }
                            if self.pos == before {
                                self.bump();
                            }
                        }
                    }
                }
            }
        }
    }

    /// Reports a brace that is still open at the end of the file.
    pub(super) fn unclosed<T>(&mut self, open: Span) -> Parsed<T> {
        let message = "expected `}`, found end of file";
        let at = self.tok().span();
        Err(self.error(Diagnostic::error(at, message).note(Some(open), "to match this `{`")))
    }

    fn member(&mut self) -> Parsed<Member> {
        let lo = self.tok().lo;
        if self.peek() == Tok::StaticAssert {
            return Ok(Member::StaticAssert(self.static_assert()?));
        }
        let specs = self.specs()?;
        if specs.span.lo == specs.span.hi {
            return self.expected("a member declaration");
        }
        if let Some(storage) = specs.storage {
            let name = format!("{storage:?}").to_ascii_lowercase();
            let _: Parsed<()> = self.error_at(specs.span, format!("storage class `{name}` in a member"));
        }
        self.check_implicit_int(&specs, None);
        let mut declarators = Vec::new();
        if self.peek() != Tok::Semi {
            loop {
                push_first_exactly(&mut declarators, self.field_declarator()?);
                if self.eat(Tok::Comma).is_none() {
                    break;
                }
            }
        }
        if self.peek() == Tok::RBrace {
            let span = self.tok().span();
            self.warn(span, "no semicolon at the end of the `struct` or `union`");
        } else {
            self.expect_semi("after the member")?;
        }
        Ok(Member::Field { specs, declarators, span: self.span_from(lo) })
    }

    /// `declarator : width`, either part optional.
    fn field_declarator(&mut self) -> Parsed<FieldDeclarator> {
        let lo = self.tok().lo;
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        let declarator = if self.peek() == Tok::Colon {
            Declarator { name: None, derived: Vec::new(), attrs: Vec::new(), span: Span::new(lo, lo) }
        } else {
            self.declarator(Naming::Named)?
        };
        let width = match self.eat(Tok::Colon) {
            Some(_) => Some(self.conditional()?),
            None => None,
        };
        self.attributes(&mut attrs)?;
        Ok(FieldDeclarator { declarator, width, attrs, span: self.span_from(lo) })
    }

    /// `enum tag { enumerators }`
    pub(super) fn enumeration(&mut self) -> Parsed<EnumId> {
        let keyword = self.bump();
        let mut attrs = Vec::new();
        self.attributes(&mut attrs)?;
        let tag = self.tag();
        let underlying = match self.peek() {
            // `enum e : 3;` is an unnamed bit-field.
            Tok::Colon if self.is_type_start(self.ahead(1)) => {
                self.bump();
                Some(self.type_name()?)
            }
            _ => None,
        };
        let mut enumerators = None;
        if let Some(open) = self.eat(Tok::LBrace) {
            enumerators = Some(self.enumerators(open.span())?);
            self.attributes(&mut attrs)?;
        } else if tag.is_none() {
            return self.expected("a tag or `{` after `enum`");
        }
        let span = self.span_from(keyword.lo);
        Ok(self.tu.enums.push(EnumSpec { tag, underlying, enumerators, attrs, span }))
    }

    fn enumerators(&mut self, open: Span) -> Parsed<Vec<Enumerator>> {
        let mut enumerators = Vec::new();
        loop {
            match self.peek() {
                Tok::RBrace => {
                    self.bump();
                    return Ok(enumerators);
                }
                Tok::Eof => return self.unclosed(open),
                _ => {}
            }
            let name = self.ident("as an enumeration constant")?;
            let mut attrs = Vec::new();
            self.attributes(&mut attrs)?;
            let value = match self.eat(Tok::Assign) {
                Some(_) => Some(self.conditional()?),
                None => None,
            };
            self.scopes.declare(name.name, false);
            enumerators.push(Enumerator { name, value, attrs });
            if self.peek() != Tok::RBrace {
                self.expect(Tok::Comma, "or `}` after the enumeration constant")?;
            }
        }
    }
}

/// The effect of one `#pragma pack`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pack {
    Set(Option<u8>),
    /// With the value to set after saving the current one.
    Push(Option<u8>),
    Pop,
}

/// The `#pragma pack` lines of a file, applied in order.
pub(super) struct Packs {
    /// The events still to come, last first.
    events: Vec<(u32, Pack)>,
    current: Option<u8>,
    saved: Vec<Option<u8>>,
}

impl Packs {
    /// Reads the pragmas of a text whose first byte has offset `base`.
    pub fn new(text: &str, base: u32, pragmas: &[Span]) -> Self {
        let mut events = Vec::new();
        for pragma in pragmas.iter().rev() {
            let line = &text[(pragma.lo - base) as usize..(pragma.hi - base) as usize];
            events.extend(parse_pack(line).into_iter().rev().map(|pack| (pragma.lo, pack)));
        }
        Packs { events, current: None, saved: Vec::new() }
    }

    /// The alignment limit at an offset; offsets must not decrease from call to call.
    pub fn at(&mut self, offset: u32) -> Option<u8> {
        while let Some((_, pack)) = self.events.pop_if(|(at, _)| *at < offset) {
            match pack {
                Pack::Set(limit) => self.current = limit,
                Pack::Push(limit) => {
                    self.saved.push(self.current);
                    self.current = limit.or(self.current);
                }
                Pack::Pop => self.current = self.saved.pop().unwrap_or(None),
            }
        }
        self.current
    }
}

/// Reads `pack()`, `pack(n)`, `pack(push)`, `pack(push, n)`, `pack(push, name, n)`, `pack(pop)` or
/// `pack(pop, n)`; nothing for any other pragma.
fn parse_pack(line: &str) -> Vec<Pack> {
    let Some(rest) = line.trim().strip_prefix("pack") else { return Vec::new() };
    let Some(rest) = rest.trim_start().strip_prefix('(') else { return Vec::new() };
    let Some((inner, _)) = rest.split_once(')') else { return Vec::new() };
    let mut limit = None;
    let (mut push, mut pop) = (false, false);
    for word in inner.split(',').map(str::trim) {
        match word {
            "push" => push = true,
            "pop" => pop = true,
            _ => {
                if let Ok(n) = word.parse::<u8>() {
                    // As gcc does, ignore what is no small power of two; 0 restores the default.
                    match n {
                        0 => return vec![Pack::Set(None)],
                        1 | 2 | 4 | 8 | 16 => limit = Some(n),
                        _ => return Vec::new(),
                    }
                }
            }
        }
    }
    match (push, pop) {
        (true, _) => vec![Pack::Push(limit)],
        (_, true) if limit.is_some() => vec![Pack::Pop, Pack::Set(limit)],
        (_, true) => vec![Pack::Pop],
        _ => vec![Pack::Set(limit)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pack_pragmas_nest() {
        let lines =
            [" pack(push, 1)", "once", "pack(push)", "pack (4)", " pack(pop)", "pack( pop )", "pack()"];
        let text = lines.join("\n");
        let mut spans = Vec::new();
        let mut at = 0;
        for line in lines {
            spans.push(Span::new(at, at + line.len() as u32));
            at += line.len() as u32 + 1;
        }
        let mut packs = Packs::new(&text, 0, &spans);
        let limits: Vec<Option<u8>> = spans.iter().map(|s| packs.at(s.hi)).collect();
        assert_eq!(limits, [Some(1), Some(1), Some(1), Some(4), Some(1), None, None]);
    }
}
