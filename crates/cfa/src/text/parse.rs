//! From the text form to an automaton: declarations and control flow.
//!
//! Two passes over the tokens: the first collects records, globals and function headers, so that
//! everything may be used before its definition; the second reads initial contents and bodies.

use super::is_numbered;
use super::lex::{Tok, Token, lex};
use crate::effect::Effect;
use crate::ir::*;
use crate::types::*;
use palisade_base::Span;
use rustc_hash::FxHashMap;
use std::fmt;

mod expr;

/// Why a text is not an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    pub(super) fn new(text: &str, at: usize, message: impl Into<String>) -> ParseError {
        let before = &text[..at];
        let line = before.matches('\n').count() as u32 + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        ParseError { line, column: before[start..].chars().count() as u32 + 1, message: message.into() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

type Res<T> = Result<T, ParseError>;

/// Reads the text form. The result should still be [verified](mod@crate::verify): types of
/// operations are not all checked here.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let mut parser = Parser {
        text,
        toks: lex(text)?,
        pos: 0,
        p: Program::new(DataModel::Lp64),
        types: FxHashMap::default(),
        records: FxHashMap::default(),
        globals: FxHashMap::default(),
        funcs: FxHashMap::default(),
        vars: FxHashMap::default(),
        func: FuncId(0),
        depth: 0,
    };
    parser.program()?;
    let taken = parser.p.addresses_taken();
    for (id, v) in taken.iter_enumerated() {
        parser.p.vars[id].address_taken |= *v;
    }
    Ok(parser.p)
}

/// The scalar type a word names.
pub(super) fn scalar_word(word: &str) -> Option<Scalar> {
    let number = |digits: &str, signed| match digits.parse::<u16>() {
        Ok(bits) if (1..=128).contains(&bits) && !digits.starts_with(['0', '+']) => {
            Some(Scalar::Int(IntTy { bits, signed }))
        }
        _ => None,
    };
    match word {
        "ptr" => Some(Scalar::Ptr),
        "f32" => Some(Scalar::Float(FloatTy::F32)),
        "f64" => Some(Scalar::Float(FloatTy::F64)),
        "f80" => Some(Scalar::Float(FloatTy::F80)),
        _ => match word.split_at_checked(1)? {
            ("i", digits) => number(digits, true),
            ("u", digits) => number(digits, false),
            _ => None,
        },
    }
}

/// The part of a name before `#2`.
fn base_name(name: &str) -> &str {
    name.split_once('#').map_or(name, |(base, _)| base)
}

struct Parser<'a> {
    text: &'a str,
    toks: Vec<Token>,
    pos: usize,
    p: Program,
    /// Interned types by a key made of their parts.
    types: FxHashMap<String, TypeId>,
    /// Records by name, and where the first mention stands while they are not defined.
    records: FxHashMap<String, (TypeId, Option<usize>)>,
    globals: FxHashMap<String, VarId>,
    funcs: FxHashMap<String, FuncId>,
    /// Variables of the function that is being read.
    vars: FxHashMap<String, VarId>,
    func: FuncId,
    depth: u32,
}

/// A body that the second pass reads: where it starts, and the parameters by name.
struct Later {
    func: FuncId,
    pos: usize,
    params: FxHashMap<String, VarId>,
}

impl Parser<'_> {
    fn peek(&self) -> &Tok {
        &self.toks[self.pos].tok
    }
    fn at(&self) -> usize {
        self.toks[self.pos].at
    }
    fn bump(&mut self) -> Tok {
        let tok = self.toks[self.pos].tok.clone();
        if tok != Tok::End {
            self.pos += 1;
        }
        tok
    }
    fn error<T>(&self, at: usize, message: impl Into<String>) -> Res<T> {
        Err(ParseError::new(self.text, at, message))
    }
    fn is(&self, punct: &str) -> bool {
        matches!(self.peek(), Tok::Punct(p) if *p == punct)
    }
    fn eat(&mut self, punct: &str) -> bool {
        let hit = self.is(punct);
        if hit {
            self.pos += 1;
        }
        hit
    }
    fn expect(&mut self, punct: &str) -> Res<()> {
        if self.eat(punct) { Ok(()) } else { self.error(self.at(), format!("expected `{punct}`")) }
    }
    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Name { text, quoted: false } if text == word)
    }
    fn eat_word(&mut self, word: &str) -> bool {
        let hit = self.is_word(word);
        if hit {
            self.pos += 1;
        }
        hit
    }
    fn expect_word(&mut self, word: &str) -> Res<()> {
        if self.eat_word(word) { Ok(()) } else { self.error(self.at(), format!("expected `{word}`")) }
    }

    /// A name, possibly one of a temporary, that starts with a dot.
    fn name(&mut self) -> Res<String> {
        let at = self.at();
        let dot = self.eat(".");
        match self.peek().clone() {
            Tok::Name { text, quoted } => {
                if dot && self.toks[self.pos].at != at + 1 {
                    return self.error(at, "expected a name");
                }
                if !dot && !quoted && (super::WORDS.contains(&&*text) || scalar_word(&text).is_some()) {
                    return self
                        .error(at, format!("`{text}` is a word of the language; quote it with backquotes"));
                }
                self.pos += 1;
                Ok(if dot { format!(".{text}") } else { text })
            }
            _ => self.error(at, "expected a name"),
        }
    }

    fn number(&mut self) -> Res<u64> {
        let at = self.at();
        match self.bump() {
            Tok::Number(n) => match parse_int(&n).and_then(|n| u64::try_from(n).ok()) {
                Some(n) => Ok(n),
                None => self.error(at, "expected a number below 2^64"),
            },
            _ => self.error(at, "expected a number"),
        }
    }

    fn program(&mut self) -> Res<()> {
        let mut inits: Vec<(VarId, usize)> = Vec::new();
        let mut bodies: Vec<Later> = Vec::new();
        self.declare_records()?;
        let mut entry = None;
        while *self.peek() != Tok::End {
            let at = self.at();
            if self.eat_word("model") {
                self.p.data_model = match self.bump() {
                    Tok::Name { text, .. } if text == "ilp32" => DataModel::Ilp32,
                    Tok::Name { text, .. } if text == "lp64" => DataModel::Lp64,
                    _ => return self.error(at, "the model is `ilp32` or `lp64`"),
                };
                self.expect(";")?;
            } else if self.is_word("struct") || self.is_word("union") || self.is_word("record") {
                self.record()?;
            } else if self.eat_word("global") {
                inits.extend(self.global()?);
            } else if self.eat_word("fn") {
                bodies.extend(self.func_header()?);
            } else if self.eat_word("entry") {
                entry = Some((self.at(), self.name()?));
                self.expect(";")?;
            } else {
                return self.error(at, "expected `struct`, `union`, `global`, `fn` or `entry`");
            }
        }
        if let Some(at) = self.records.values().filter_map(|r| r.1).min() {
            return self.error(at, "this record is never defined");
        }
        for (var, pos) in inits {
            self.pos = pos;
            self.p.vars[var].init = self.init(var)?;
        }
        for later in bodies {
            self.body(later)?;
        }
        match entry {
            None => match self.p.funcs.iter_enumerated().rfind(|(_, f)| f.body.is_some()) {
                // Without a word about it, the last function is the entry.
                Some((id, _)) => self.p.entry = id,
                None => return self.error(self.text.len(), "there is no function with a body"),
            },
            Some((at, name)) => match self.funcs.get(&name) {
                Some(&f) => self.p.entry = f,
                None => return self.error(at, format!("there is no function `{name}`")),
            },
        }
        Ok(())
    }

    // ---- types ------------------------------------------------------------------------------

    fn intern(&mut self, key: String, ty: Type) -> TypeId {
        let types = &mut self.p.types;
        *self.types.entry(key).or_insert_with(|| types.push(ty))
    }

    fn ty(&mut self) -> Res<TypeId> {
        self.deeper()?;
        let at = self.at();
        let ty = if self.eat("*") {
            let t = self.ty()?;
            self.intern(format!("*{t}"), Type::Ptr(t))
        } else if self.eat("[") {
            let t = self.ty()?;
            let len = if self.eat(";") { Some(self.number()?) } else { None };
            self.expect("]")?;
            self.intern(format!("[{t};{len:?}"), Type::Array(t, len))
        } else if self.eat_word("void") {
            self.intern("void".into(), Type::Void)
        } else if self.is_word("struct") || self.is_word("union") || self.is_word("record") {
            self.record_name(false)?
        } else if self.eat_word("fn") {
            self.expect("(")?;
            let mut params = Vec::new();
            let mut variadic = false;
            while !self.eat(")") {
                if self.eat("...") {
                    variadic = true;
                } else {
                    params.push(self.ty()?);
                }
                if !self.is(")") {
                    self.expect(",")?;
                }
            }
            self.expect("->")?;
            let ret = self.ty()?;
            self.func_type(Signature { ret, params, variadic })
        } else {
            match self.peek() {
                Tok::Name { text, quoted: false } => match scalar_word(text) {
                    Some(Scalar::Int(t)) => {
                        self.pos += 1;
                        self.intern(t.to_string(), Type::Int(t))
                    }
                    Some(Scalar::Float(t)) => {
                        self.pos += 1;
                        self.intern(t.to_string(), Type::Float(t))
                    }
                    _ => return self.error(at, "expected a type"),
                },
                _ => return self.error(at, "expected a type"),
            }
        };
        self.depth -= 1;
        Ok(ty)
    }

    fn func_type(&mut self, sig: Signature) -> TypeId {
        self.intern(format!("fn{:?}{}{}", sig.params, sig.ret, sig.variadic), Type::Func(sig))
    }

    /// Counts nesting, which is bounded so that no input exhausts our stack.
    fn deeper(&mut self) -> Res<()> {
        self.depth += 1;
        if self.depth > 200 { self.error(self.at(), "this nests too deeply") } else { Ok(()) }
    }

    /// Numbers records in the order of their definitions, whatever is mentioned first.
    fn declare_records(&mut self) -> Res<()> {
        for i in 0..self.toks.len().saturating_sub(2) {
            let word = matches!(&self.toks[i].tok, Tok::Name { text, quoted: false }
                if ["struct", "union", "record"].contains(&text.as_str()));
            if word && self.toks[i + 2].tok == Tok::Punct("{") {
                self.pos = i;
                self.record_name(false)?;
            }
        }
        self.pos = 0;
        Ok(())
    }

    fn record_name(&mut self, define: bool) -> Res<TypeId> {
        let at = self.at();
        let Tok::Name { text: word, .. } = self.bump() else { return self.error(at, "expected a record") };
        // Tags live apart from all other names, so that any word will do.
        let tag = match self.bump() {
            Tok::Name { text, .. } => text,
            _ => return self.error(at, "expected a name"),
        };
        let name = if word == "record" { tag } else { format!("{word} {tag}") };
        let union = word == "union";
        let (id, open) = match self.records.get(&name) {
            Some(&known) => known,
            None => {
                let record =
                    Record { name: base_name(&name).into(), union, fields: Vec::new(), size: 0, align: 1 };
                (self.p.types.push(Type::Record(record)), Some(at))
            }
        };
        if define && open.is_none() {
            return self.error(at, format!("`{name}` is defined twice"));
        }
        self.records.insert(name, (id, if define { None } else { open }));
        Ok(id)
    }

    fn record(&mut self) -> Res<()> {
        let id = self.record_name(true)?;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.eat("}") {
            let ty = self.ty()?;
            let at = self.at();
            let Tok::Name { text: name, .. } = self.bump() else { return self.error(at, "expected a name") };
            let width = if self.eat(":") { Some(self.number()? as u16) } else { None };
            self.expect("@")?;
            let at = self.at();
            let (offset, bits) = match (self.bump(), width) {
                (Tok::Number(n), None) => (parse_int(&n), None),
                (Tok::Number(n), Some(width)) => match n.split_once('.') {
                    Some((o, b)) => match b.parse() {
                        Ok(first) => (parse_int(o), Some(BitRange { first, width })),
                        Err(_) => (None, None),
                    },
                    None => (None, None),
                },
                _ => (None, None),
            };
            let Some(offset) = offset.and_then(|o| u64::try_from(o).ok()) else {
                return self.error(at, "expected an offset, for a bit-field as in `@4.0`");
            };
            fields.push(Field { name: name.into(), ty, offset, bits });
            self.expect(";")?;
        }
        let overlapping = self.eat_word("overlapping");
        self.expect_word("size")?;
        let size = self.number()?;
        self.expect_word("align")?;
        let align = self.number()?;
        self.expect(";")?;
        if let Type::Record(r) = &mut self.p.types[id] {
            r.union |= overlapping;
            (r.fields, r.size, r.align) = (fields, size, align);
        }
        Ok(())
    }

    // ---- variables and functions ------------------------------------------------------------

    /// Marks, name and type of a variable, which is added.
    fn variable(&mut self, kind: VarKind) -> Res<VarId> {
        let (mut read_only, mut address_taken) = (false, false);
        loop {
            if self.eat_word("readonly") {
                read_only = true;
            } else if self.eat_word("addressed") {
                address_taken = true;
            } else {
                break;
            }
        }
        let at = self.at();
        let name = self.name()?;
        let span = self.span(at);
        self.expect(":")?;
        let ty = self.ty()?;
        let init = if kind == VarKind::Global { Init::Image(Vec::new()) } else { Init::Unknown };
        let var = Var {
            name: base_name(&name).into(),
            ty,
            kind,
            address_taken,
            init,
            read_only,
            span,
            scope: Span::NONE,
        };
        let known = if kind == VarKind::Global { &mut self.globals } else { &mut self.vars };
        let id = self.p.vars.push(var);
        if known.insert(name.clone(), id).is_some() {
            return self.error(at, format!("`{name}` is declared twice"));
        }
        Ok(id)
    }

    fn span(&self, at: usize) -> Span {
        let end = self.toks[self.pos.saturating_sub(1)].end;
        Span::new(at as u32, end.max(at) as u32)
    }

    /// A global; its initial contents are skipped and their position returned.
    fn global(&mut self) -> Res<Option<(VarId, usize)>> {
        let id = self.variable(VarKind::Global)?;
        let mut init = None;
        if self.eat("=") {
            init = Some((id, self.pos));
            while !self.is(";") && *self.peek() != Tok::End {
                self.pos += 1;
            }
        }
        self.expect(";")?;
        Ok(init)
    }

    fn init(&mut self, var: VarId) -> Res<Init> {
        if self.eat("?") {
            return Ok(Init::Unknown);
        }
        let mut items = Vec::new();
        if !self.eat("{") {
            let hint = self.p.scalar_of(self.p.vars[var].ty);
            items.push(InitItem { offset: 0, value: self.init_value(hint)? });
        } else {
            while !self.eat("}") {
                self.expect("@")?;
                let offset = self.number()?;
                items.push(InitItem { offset, value: self.init_value(None)? });
                if !self.is("}") {
                    self.expect(",")?;
                }
            }
        }
        if !self.is(";") {
            return self.error(self.at(), "expected `;`");
        }
        Ok(Init::Image(items))
    }

    fn init_value(&mut self, hint: Option<Scalar>) -> Res<InitValue> {
        let at = self.at();
        if let Tok::Bytes(bytes) = self.peek() {
            let bytes = bytes.as_slice().into();
            self.pos += 1;
            return Ok(InitValue::Bytes(bytes));
        }
        if self.eat("&") {
            let name = self.name()?;
            let Some(&var) = self.globals.get(&name) else {
                return self.error(at, format!("there is no global `{name}`"));
            };
            let offset = if self.eat("+") {
                self.number()? as i64
            } else if self.eat("-") {
                (self.number()? as i64).wrapping_neg()
            } else {
                0
            };
            return Ok(InitValue::Addr(var, offset));
        }
        if self.eat_word("func") {
            let name = self.name()?;
            return match self.funcs.get(&name) {
                Some(&f) => Ok(InitValue::Func(f)),
                None => self.error(at, format!("there is no function `{name}`")),
            };
        }
        let ast = self.constant()?;
        let expr = self.elaborate(&ast, hint)?;
        match (self.p.exprs[expr].ty, &self.p.exprs[expr].kind) {
            (Scalar::Int(t), ExprKind::Int(bits)) => Ok(InitValue::Int(t, *bits)),
            (Scalar::Float(t), ExprKind::Float(bits)) => Ok(InitValue::Float(t, *bits)),
            (Scalar::Ptr, ExprKind::Int(bits)) => Ok(InitValue::Absolute(*bits as u64)),
            _ => self.error(at, "expected a constant"),
        }
    }

    /// What a function without a body does, up to the semicolon.
    fn effect(&mut self) -> Res<Effect> {
        let at = self.at();
        let mut words = Vec::new();
        while !self.is(";") {
            words.push(self.name()?);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match Effect::parse(&words) {
            Some(effect) => Ok(effect),
            None => self.error(at, "this is no effect"),
        }
    }

    /// A function's header; its body is skipped and its position returned.
    fn func_header(&mut self) -> Res<Option<Later>> {
        let at = self.at();
        let name = self.name()?;
        let id = self.p.funcs.next_id();
        self.vars.clear();
        self.expect("(")?;
        let (mut params, mut types, mut variadic) = (Vec::new(), Vec::new(), false);
        let start = self.pos;
        // Parameters have names if a body follows, which the first one shows.
        let mut named = None;
        while !self.eat(")") {
            if self.eat("...") {
                variadic = true;
            } else {
                let named = *named.get_or_insert_with(|| self.has_names(start));
                if named {
                    let v = self.variable(VarKind::Param(id))?;
                    types.push(self.p.vars[v].ty);
                    params.push(v);
                } else {
                    types.push(self.ty()?);
                }
            }
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        let ret = if self.eat("->") { self.ty()? } else { self.intern("void".into(), Type::Void) };
        let ty = self.func_type(Signature { ret, params: types, variadic });
        let span = self.span(at);
        let effect = if self.eat_word("does") { self.effect()? } else { Effect::Pure };
        let body = if self.eat(";") {
            None
        } else {
            self.expect("{")?;
            // The graph follows in the second pass; entry and exit are set there.
            Some(Body { params, locals: Vec::new(), entry: LocId(0), exit: LocId(0) })
        };
        let later =
            body.is_some().then(|| Later { func: id, pos: self.pos, params: std::mem::take(&mut self.vars) });
        self.p.funcs.push(Function { name: base_name(&name).into(), ty, span, body, effect });
        if self.funcs.insert(name.clone(), id).is_some() {
            return self.error(at, format!("`{name}` is declared twice"));
        }
        if later.is_some() {
            let mut open = 1;
            while open > 0 {
                match self.bump() {
                    Tok::Punct("{") => open += 1,
                    Tok::Punct("}") => open -= 1,
                    Tok::End => return self.error(at, "the function's body does not end"),
                    _ => {}
                }
            }
        }
        Ok(later)
    }

    /// Whether a parameter list gives names: a colon before it ends says so.
    fn has_names(&self, start: usize) -> bool {
        let mut open = 1;
        for t in &self.toks[start..] {
            match t.tok {
                Tok::Punct("(") => open += 1,
                Tok::Punct(")") => open -= 1,
                Tok::Punct(":") => return true,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        false
    }

    fn body(&mut self, Later { func, pos, params }: Later) -> Res<()> {
        self.pos = pos;
        self.vars = params;
        self.func = func;
        let mut locals = Vec::new();
        let mut locs: FxHashMap<String, LocId> = FxHashMap::default();
        let (mut entry, mut exit) = (None, None);
        while !self.eat("}") {
            let at = self.at();
            if self.eat_word("local") {
                locals.push(self.variable(VarKind::Local(func))?);
                self.expect(";")?;
                continue;
            }
            if self.eat_word("temp") {
                locals.push(self.variable(VarKind::Temp(func))?);
                self.expect(";")?;
                continue;
            }
            if self.eat_word("at") {
                entry.get_or_insert(self.loc(&mut locs)?);
                self.expect(";")?;
                continue;
            }
            let src = self.loc(&mut locs)?;
            entry.get_or_insert(src);
            self.expect("->")?;
            let dst_at = self.at();
            let dst = self.loc(&mut locs)?;
            self.expect(":")?;
            let op = self.op()?;
            self.expect(";")?;
            if matches!(op, Op::Return { .. }) && *exit.get_or_insert(dst) != dst {
                return self.error(dst_at, "all returns lead to the same exit");
            }
            let span = self.span(at);
            if self.p.locs[src].span.is_none() {
                self.p.locs[src].span = span;
            }
            self.p.add_edge(src, op, dst, span);
        }
        let Some(entry) = entry else { return self.error(self.at(), "the function has no location") };
        let exit = exit.unwrap_or_else(|| self.p.add_loc(func, Span::NONE));
        if let Some(body) = &mut self.p.funcs[func].body {
            (body.locals, body.entry, body.exit) = (locals, entry, exit);
        }
        Ok(())
    }

    fn loc(&mut self, locs: &mut FxHashMap<String, LocId>) -> Res<LocId> {
        let at = self.at();
        let looping = self.eat_word("loop");
        let Tok::Name { text: name, .. } = self.bump() else {
            return self.error(at, "expected a location's name, `local`, `temp` or `}`");
        };
        let p = &mut self.p;
        let func = self.func;
        let id = *locs.entry(name.clone()).or_insert_with(|| p.add_loc(func, Span::NONE));
        if !is_numbered(&name) {
            p.locs[id].label = Some(name.as_str().into());
        }
        if looping {
            p.locs[id].loop_stmt = Some(Span::new(at as u32, at as u32 + 4));
        }
        Ok(id)
    }
}

/// A decimal or hexadecimal integer.
fn parse_int(text: &str) -> Option<u128> {
    match text.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
