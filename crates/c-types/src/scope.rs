//! What names and tags mean at the current point of the source.
//!
//! Symbols are small numbers, so the innermost meaning of each is one array access away; leaving
//! a scope undoes what it declared.

use palisade_base::{Idx, Span};
use palisade_c_syntax::Symbol;

use crate::tast::{FnId, ObjId};
use crate::types::{CTypeId, EnumTyId, QType, RecordTyId};

/// What an ordinary identifier means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Binding {
    /// A typedef, with the alignment that its attributes give.
    Typedef(QType, Option<u64>),
    /// An object.
    Object(ObjId),
    /// A parameter of a prototype, which has a type but is no object.
    ProtoParam(QType),
    /// A function.
    Func(FnId),
    /// An enumeration constant with its value bits.
    EnumConst(CTypeId, u128),
    /// A declaration that was in error.
    Error,
}

/// What a tag means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tag {
    /// `struct` or `union`
    Record(RecordTyId),
    /// `enum`
    Enum(EnumTyId),
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    value: T,
    symbol: Symbol,
    /// The entry it hides, or `NONE`.
    hidden: u32,
    /// Depth of the scope it belongs to.
    depth: u32,
    span: Span,
}

const NONE: u32 = u32::MAX;

/// One name space.
#[derive(Debug)]
struct Space<T> {
    /// For each symbol its innermost entry, or `NONE`.
    innermost: Vec<u32>,
    entries: Vec<Entry<T>>,
}

impl<T: Copy> Space<T> {
    fn new(symbols: usize) -> Self {
        Space { innermost: vec![NONE; symbols], entries: Vec::new() }
    }
    fn get(&self, symbol: Symbol) -> Option<&Entry<T>> {
        match *self.innermost.get(symbol.index())? {
            NONE => None,
            i => self.entries.get(i as usize),
        }
    }
    fn bind(&mut self, symbol: Symbol, value: T, depth: u32, span: Span) {
        if symbol.index() >= self.innermost.len() {
            self.innermost.resize(symbol.index() + 1, NONE);
        }
        let slot = &mut self.innermost[symbol.index()];
        // Redeclaration in one scope replaces.
        if *slot != NONE && self.entries[*slot as usize].depth == depth {
            self.entries[*slot as usize].value = value;
            self.entries[*slot as usize].span = span;
            return;
        }
        let hidden = *slot;
        *slot = self.entries.len() as u32;
        self.entries.push(Entry { value, symbol, hidden, depth, span });
    }
    fn pop(&mut self, depth: u32) {
        while let Some(entry) = self.entries.last() {
            if entry.depth < depth {
                break;
            }
            self.innermost[entry.symbol.index()] = entry.hidden;
            self.entries.pop();
        }
    }
}

/// The scopes that are open.
#[derive(Debug)]
pub(crate) struct Scopes {
    names: Space<Binding>,
    tags: Space<Tag>,
    depth: u32,
}

impl Scopes {
    /// File scope only.
    pub fn new(symbols: usize) -> Self {
        Scopes { names: Space::new(symbols), tags: Space::new(symbols), depth: 0 }
    }
    /// Whether the current scope is file scope.
    pub fn at_file_scope(&self) -> bool {
        self.depth == 0
    }
    /// Opens a scope.
    pub fn push(&mut self) {
        self.depth += 1;
    }
    /// Closes the innermost scope.
    pub fn pop(&mut self) {
        self.names.pop(self.depth);
        self.tags.pop(self.depth);
        self.depth -= 1;
    }
    /// What a name means.
    pub fn lookup(&self, symbol: Symbol) -> Option<Binding> {
        self.names.get(symbol).map(|e| e.value)
    }
    /// What a name means in the innermost scope only, and where it was declared.
    pub fn lookup_here(&self, symbol: Symbol) -> Option<(Binding, Span)> {
        self.names.get(symbol).filter(|e| e.depth == self.depth).map(|e| (e.value, e.span))
    }
    /// Declares a name in the innermost scope.
    pub fn bind(&mut self, symbol: Symbol, value: Binding, span: Span) {
        self.names.bind(symbol, value, self.depth, span);
    }
    /// What a tag means.
    pub fn lookup_tag(&self, symbol: Symbol) -> Option<Tag> {
        self.tags.get(symbol).map(|e| e.value)
    }
    /// What a tag means in the innermost scope only.
    pub fn lookup_tag_here(&self, symbol: Symbol) -> Option<Tag> {
        self.tags.get(symbol).filter(|e| e.depth == self.depth).map(|e| e.value)
    }
    /// Declares a tag in the innermost scope.
    pub fn bind_tag(&mut self, symbol: Symbol, value: Tag, span: Span) {
        self.tags.bind(symbol, value, self.depth, span);
    }
}
