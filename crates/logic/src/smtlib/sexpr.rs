//! The lexical layer of SMT-LIB: tokens and s-expressions with their positions.
//!
//! One expression at a time is read into a flat [`Tree`], with an explicit stack, so nesting costs
//! memory but no stack, and dropping a tree is never recursive.

use std::fmt;

/// A place in a text; lines and columns count from one, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What is wrong with a text, and where (a byte offset).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The byte offset.
    pub at: usize,
    /// What is wrong.
    pub message: String,
}

impl Error {
    /// An error at an offset.
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Error { at, message: message.into() }
    }
}

/// The position of a byte offset.
pub fn position(text: &[u8], at: usize) -> Position {
    let before = &text[..at.min(text.len())];
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let line = 1 + before.iter().filter(|b| **b == b'\n').count();
    // Continuation bytes of UTF-8 belong to the character before them.
    let column = 1 + before[start..].iter().filter(|b| **b & 0xC0 != 0x80).count();
    Position { line, column }
}

/// A node of the current tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Id(u32);

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A symbol without bars.
    Symbol,
    /// A symbol between bars.
    Quoted,
    /// A symbol after a colon.
    Keyword,
    /// Digits.
    Numeral,
    /// Digits with a point between them.
    Decimal,
    /// `#b` and digits.
    Binary,
    /// `#x` and digits.
    Hexadecimal,
    /// Text between quotes.
    String,
    /// Expressions between parentheses.
    List,
}

struct Node {
    kind: Kind,
    /// The bytes of the text, delimiters included.
    start: usize,
    end: usize,
    /// The children of a list: a range of `Tree::children`.
    first: u32,
    count: u32,
}

/// One s-expression.
pub struct Tree<'a> {
    text: &'a [u8],
    nodes: Vec<Node>,
    children: Vec<Id>,
}

impl<'a> Tree<'a> {
    /// An empty tree for expressions of a text.
    pub fn new(text: &'a [u8]) -> Self {
        Tree { text, nodes: Vec::new(), children: Vec::new() }
    }

    /// What a node is.
    pub fn kind(&self, id: Id) -> Kind {
        self.nodes[id.0 as usize].kind
    }

    /// The byte offset where the node starts.
    pub fn at(&self, id: Id) -> usize {
        self.nodes[id.0 as usize].start
    }

    /// An error at the node.
    pub fn error<T>(&self, id: Id, message: impl Into<String>) -> Result<T, Error> {
        Err(Error::new(self.at(id), message))
    }

    fn raw(&self, id: Id) -> &'a str {
        let node = &self.nodes[id.0 as usize];
        // The lexer checked the encoding of every token.
        std::str::from_utf8(&self.text[node.start..node.end]).unwrap_or("")
    }

    /// The elements of a list.
    pub fn list(&self, id: Id) -> Option<&[Id]> {
        let node = &self.nodes[id.0 as usize];
        let first = node.first as usize;
        (node.kind == Kind::List).then(|| &self.children[first..first + node.count as usize])
    }

    /// The name of a symbol, without bars.
    pub fn symbol(&self, id: Id) -> Option<&'a str> {
        match self.kind(id) {
            Kind::Symbol => Some(self.raw(id)),
            Kind::Quoted => {
                let raw = self.raw(id);
                Some(&raw[1..raw.len() - 1])
            }
            _ => None,
        }
    }

    /// A symbol without bars: only these are reserved words.
    pub fn word(&self, id: Id) -> Option<&'a str> {
        (self.kind(id) == Kind::Symbol).then(|| self.raw(id))
    }

    /// A keyword, with its colon.
    pub fn keyword(&self, id: Id) -> Option<&'a str> {
        (self.kind(id) == Kind::Keyword).then(|| self.raw(id))
    }

    /// The digits of a literal, without `#b` or `#x`.
    pub fn digits(&self, id: Id) -> &'a str {
        match self.kind(id) {
            Kind::Binary | Kind::Hexadecimal => &self.raw(id)[2..],
            _ => self.raw(id),
        }
    }

    /// A numeral that fits.
    pub fn numeral(&self, id: Id) -> Option<u32> {
        if self.kind(id) == Kind::Numeral { self.raw(id).parse().ok() } else { None }
    }

    /// The expression as text, with single blanks between its tokens.
    pub fn show(&self, id: Id) -> String {
        enum Step {
            Node(Id),
            Close,
        }
        let mut out = String::new();
        let mut stack = vec![Step::Node(id)];
        while let Some(step) = stack.pop() {
            let blank = !out.is_empty() && !out.ends_with('(');
            match step {
                Step::Close => out.push(')'),
                Step::Node(id) => {
                    if blank {
                        out.push(' ');
                    }
                    match self.list(id) {
                        None => out.push_str(self.raw(id)),
                        Some(children) => {
                            out.push('(');
                            stack.push(Step::Close);
                            stack.extend(children.iter().rev().map(|c| Step::Node(*c)));
                        }
                    }
                }
            }
        }
        out
    }
}

/// Reads the expressions of a text one after the other.
pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

fn symbol_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&b)
}

/// Whether a name needs no bars.
pub fn is_simple(name: &str) -> bool {
    const RESERVED: &[&str] = &[
        "_",
        "!",
        "as",
        "let",
        "exists",
        "forall",
        "match",
        "par",
        "BINARY",
        "DECIMAL",
        "HEXADECIMAL",
        "NUMERAL",
        "STRING",
    ];
    let starts_well = name.as_bytes().first().is_some_and(|b| !b.is_ascii_digit());
    starts_well && name.bytes().all(symbol_byte) && !RESERVED.contains(&name)
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'a [u8]) -> Self {
        Reader { text, at: 0 }
    }

    /// Reads the next expression into `tree`; `None` at the end of the text.
    pub fn next(&mut self, tree: &mut Tree<'a>) -> Result<Option<Id>, Error> {
        tree.nodes.clear();
        tree.children.clear();
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut pending: Vec<Id> = Vec::new();
        loop {
            self.skip_blanks();
            let start = self.at;
            let Some(&byte) = self.text.get(start) else {
                return match open.last() {
                    Some((at, _)) => Err(Error::new(*at, "parenthesis is never closed")),
                    None => Ok(None),
                };
            };
            let node = match byte {
                b'(' => {
                    self.at += 1;
                    open.push((start, pending.len()));
                    continue;
                }
                b')' => {
                    self.at += 1;
                    let Some((opened, from)) = open.pop() else {
                        return Err(Error::new(start, "closing parenthesis without an opening one"));
                    };
                    let first = tree.children.len() as u32;
                    let count = (pending.len() - from) as u32;
                    tree.children.extend(pending.drain(from..));
                    Node { kind: Kind::List, start: opened, end: self.at, first, count }
                }
                _ => {
                    let kind = self.token(byte)?;
                    if std::str::from_utf8(&self.text[start..self.at]).is_err() {
                        return Err(Error::new(start, "token is not UTF-8"));
                    }
                    Node { kind, start, end: self.at, first: 0, count: 0 }
                }
            };
            if tree.nodes.len() >= u32::MAX as usize / 2 {
                return Err(Error::new(start, "expression is too large"));
            }
            let id = Id(tree.nodes.len() as u32);
            tree.nodes.push(node);
            if open.is_empty() {
                return Ok(Some(id));
            }
            pending.push(id);
        }
    }

    fn skip_blanks(&mut self) {
        while let Some(b) = self.text.get(self.at) {
            match b {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b';' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                _ => break,
            }
        }
    }

    /// Skips the bytes that satisfy `accept`; how many there were.
    fn skip(&mut self, accept: impl Fn(u8) -> bool) -> usize {
        let count = self.text[self.at..].iter().take_while(|b| accept(**b)).count();
        self.at += count;
        count
    }

    fn token(&mut self, first: u8) -> Result<Kind, Error> {
        let start = self.at;
        let fail = |message: &str| Err(Error::new(start, message));
        let kind = match first {
            b'0'..=b'9' => {
                self.skip(|b| b.is_ascii_digit());
                if self.text.get(self.at) == Some(&b'.') {
                    self.at += 1;
                    if self.skip(|b| b.is_ascii_digit()) == 0 {
                        return fail("decimal without digits after the point");
                    }
                    Kind::Decimal
                } else {
                    Kind::Numeral
                }
            }
            b'#' => {
                self.at += 2;
                let (kind, digits) = match self.text.get(start + 1) {
                    Some(b'b') => (Kind::Binary, self.skip_from(|b| b == b'0' || b == b'1')),
                    Some(b'x') => (Kind::Hexadecimal, self.skip_from(|b| b.is_ascii_hexdigit())),
                    _ => return fail("`#` starts a literal only before `b` or `x`"),
                };
                if digits == 0 {
                    return fail("literal without digits");
                }
                kind
            }
            b'"' => return self.string(),
            b'|' => return self.quoted(),
            b':' => {
                self.at += 1;
                if self.skip(symbol_byte) == 0 {
                    return fail("keyword without a name");
                }
                return Ok(Kind::Keyword);
            }
            b if symbol_byte(b) => {
                self.skip(symbol_byte);
                return Ok(Kind::Symbol);
            }
            b => return fail(&format!("unexpected character {:?}", char::from(b))),
        };
        if self.text.get(self.at).copied().is_some_and(symbol_byte) {
            return fail("malformed number");
        }
        Ok(kind)
    }

    /// [`Reader::skip`] where the text may have ended already.
    fn skip_from(&mut self, accept: impl Fn(u8) -> bool) -> usize {
        if self.at > self.text.len() { 0 } else { self.skip(accept) }
    }

    fn string(&mut self) -> Result<Kind, Error> {
        let start = self.at;
        self.at += 1;
        loop {
            self.skip(|b| b != b'"');
            if self.at >= self.text.len() {
                return Err(Error::new(start, "string is never closed"));
            }
            self.at += 1;
            // A doubled quote stands for one.
            if self.text.get(self.at) != Some(&b'"') {
                return Ok(Kind::String);
            }
            self.at += 1;
        }
    }

    fn quoted(&mut self) -> Result<Kind, Error> {
        let start = self.at;
        self.at += 1;
        self.skip(|b| b != b'|' && b != b'\\');
        match self.text.get(self.at) {
            Some(b'|') => {
                self.at += 1;
                Ok(Kind::Quoted)
            }
            Some(_) => Err(Error::new(self.at, "backslash in a quoted symbol")),
            None => Err(Error::new(start, "quoted symbol is never closed")),
        }
    }
}
