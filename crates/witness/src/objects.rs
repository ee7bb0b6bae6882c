//! The objects of a run and what a person calls them.
//!
//! Memory has addresses; people speak of `buf`, of what was allocated in a line, of what was freed in another.
//! A run is watched and every object noted when it comes to life, so that a pointer can be named also after
//! the object it points to has died.

use crate::places::Places;
use palisade_base::Span;
use palisade_cfa::*;
use palisade_interp::{Extent, ObjectId, State, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A variable.
    Variable(VarId),
    /// The heap object with this number, counted from 1.
    Heap(u32),
    /// An array of variable length, or memory of `alloca`.
    Stack,
}

/// An object that a run made.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What it is.
    pub what: What,
    /// Its name in the interpreter.
    pub id: ObjectId,
    /// Where it lies, or lay.
    pub extent: Extent,
    /// The place in the program that made it.
    pub made: Option<Span>,
    /// The place in the program that freed it.
    pub freed: Option<Span>,
}

/// Objects that are noted at most.
const MOST: usize = 1 << 20;
/// Bytes of a string that are shown at most.
const STRING: usize = 40;

/// The objects of a run.
#[derive(Debug, Default)]
pub struct Objects {
    list: Vec<Known>,
    by_id: FxHashMap<ObjectId, usize>,
    by_base: BTreeMap<u64, usize>,
    heap: u32,
}

impl Objects {
    /// Notes a variable that has come to life.
    pub fn variable(&mut self, var: VarId, state: &State<'_>) {
        if let Some(id) = state.object_of(var)
            && !self.by_id.contains_key(&id)
        {
            self.add(What::Variable(var), id, None, state);
        }
    }

    /// Notes what an allocation has made.
    pub fn allocated(&mut self, pointer: Value, kind: AllocKind, made: Option<Span>, state: &State<'_>) {
        let Some(id) = pointer.object() else { return };
        let what = match kind {
            AllocKind::Heap => {
                self.heap += 1;
                What::Heap(self.heap)
            }
            AllocKind::Stack => What::Stack,
        };
        self.add(what, id, made, state);
    }

    fn add(&mut self, what: What, id: ObjectId, made: Option<Span>, state: &State<'_>) {
        let Some(extent) = state.extent(id).filter(|_| self.list.len() < MOST) else { return };
        self.by_id.insert(id, self.list.len());
        self.by_base.insert(extent.base, self.list.len());
        self.list.push(Known { what, id, extent, made, freed: None });
    }

    /// Notes that an object is going to be freed.
    pub fn freed(&mut self, pointer: Value, at: Option<Span>) {
        if let Some(&i) = pointer.object().and_then(|id| self.by_id.get(&id)) {
            self.list[i].freed = at;
        }
    }

    /// An object by its name.
    pub fn get(&self, id: ObjectId) -> Option<&Known> {
        self.by_id.get(&id).map(|&i| &self.list[i])
    }

    /// The object of a pointer: the one it was made for or, if that is not known, the last that was where it
    /// points.
    pub fn of(&self, pointer: Value) -> Option<&Known> {
        if let Some(id) = pointer.object() {
            return self.get(id);
        }
        let addr = pointer.bits as u64;
        let known = &self.list[*self.by_base.range(..=addr).next_back()?.1];
        (addr - known.extent.base <= known.extent.size).then_some(known)
    }
}

/// What is needed to name values: the program, its texts, and the objects of the run so far.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its texts.
    pub places: &'a Places,
    /// The objects.
    pub objects: &'a Objects,
}

impl Names<'_> {
    /// A place of the program as `file:line`.
    pub fn line(&self, at: Option<Span>) -> Option<String> {
        let at = self.places.locate(at?.lo)?;
        Some(format!("{}:{}", at.file_name, at.line))
    }

    /// An object with its size and origin: `` `buf` (16 bytes) ``.
    pub fn object(&self, known: &Known) -> String {
        let size = bytes(known.extent.size);
        let made = self.line(known.made).map_or_else(String::new, |at| format!(", allocated at {at}"));
        match known.what {
            What::Variable(var) => match self.literal(var) {
                Some(text) => format!("the string {text}"),
                None => match named(self.program, var) {
                    Some(name) => format!("`{name}` ({size})"),
                    None => format!("an unnamed object ({size})"),
                },
            },
            What::Heap(n) => format!("heap#{n} ({size}{made})"),
            What::Stack => format!("an array of variable length ({size}{made})"),
        }
    }

    /// The text of a string literal.
    fn literal(&self, var: VarId) -> Option<String> {
        let v = &self.program.vars[var];
        let Init::Image(items) = &v.init else { return None };
        match (v.name.starts_with(".string"), &items[..]) {
            (true, []) => Some("\"\"".into()),
            (true, [InitItem { offset: 0, value: InitValue::Bytes(bytes) }]) => {
                Some(quoted(bytes.split(|b| *b == 0).next()?))
            }
            _ => None,
        }
    }

    /// A value of a type as a debugger would show it.
    pub fn value(&self, ty: Option<TypeId>, value: Value, state: &State<'_>) -> String {
        match value.ty {
            Scalar::Ptr => self.pointer(ty, value, state),
            scalar => {
                let enumerators = ty.and_then(|ty| self.program.enumerations.get(&ty));
                let named = enumerators.and_then(|all| all.iter().find(|(bits, _)| *bits == value.bits));
                named.map_or_else(|| number(scalar, value.bits), |(_, name)| name.to_string())
            }
        }
    }

    fn pointer(&self, ty: Option<TypeId>, value: Value, state: &State<'_>) -> String {
        if value.bits == 0 {
            return "NULL".into();
        }
        if let Some(func) = state.function_at(value) {
            return self.program.funcs[func].name.to_string();
        }
        let Some(known) = self.objects.of(value) else { return format!("{:#x}", value.bits) };
        let alive = state.extent(known.id).is_some();
        let offset = self.offset(known, value);
        let mut text = match known.what {
            What::Variable(var) => match (self.literal(var), named(self.program, var)) {
                (Some(literal), _) if offset == 0 => return literal,
                (Some(literal), _) => format!("{literal} + {offset}"),
                (None, Some(name)) => self.inside_variable(&name, self.program.vars[var].ty, offset),
                (None, None) => plus("an unnamed object".into(), offset),
            },
            What::Heap(n) => {
                let at = self.line(known.made).map_or_else(String::new, |at| format!(" ({at})"));
                plus(format!("heap#{n}{at}"), offset)
            }
            What::Stack => {
                let at = self.line(known.made).map_or_else(String::new, |at| format!(" ({at})"));
                plus(format!("stack array{at}"), offset)
            }
        };
        if !alive {
            text.push_str(if known.freed.is_some() { ", freed" } else { ", dead" });
        } else if self.points_to_characters(ty)
            && let Some(string) = state.string(value).filter(|s| !s.is_empty() && printable(s))
        {
            let _ = write!(text, " {}", quoted(&string));
        }
        text
    }

    /// How many bytes a pointer is behind the start of its object.
    pub fn offset(&self, known: &Known, pointer: Value) -> i128 {
        let t = self.program.data_model.ptrdiff_t();
        t.decode(t.truncate(u128::from((pointer.bits as u64).wrapping_sub(known.extent.base))))
    }

    fn points_to_characters(&self, ty: Option<TypeId>) -> bool {
        let Some(Type::Ptr(to)) = ty.map(|t| &self.program.types[t]) else { return false };
        matches!(&self.program.types[*to], Type::Int(IntTy { bits: 8, .. }))
    }

    /// A pointer into a variable: `&x`, `a + 3`, `&s.next`, `&a[2].key`.
    fn inside_variable(&self, name: &str, ty: TypeId, offset: i128) -> String {
        if let Type::Array(elem, _) = self.program.types[ty]
            && let Some(size @ 1..) = self.program.size_of(elem).map(i128::from)
            && offset % size == 0
        {
            return plus(name.into(), offset / size);
        }
        match u64::try_from(offset).ok().and_then(|at| self.path(ty, at)) {
            Some(path) => format!("&{name}{path}"),
            None => plus(format!("(char *)&{name}"), offset),
        }
    }

    /// The way to an offset in an object, to the first member or element that starts there.
    fn path(&self, ty: TypeId, offset: u64) -> Option<String> {
        if offset == 0 {
            return Some(String::new());
        }
        match &self.program.types[ty] {
            Type::Array(elem, _) => {
                let size = self.program.size_of(*elem).filter(|s| *s > 0)?;
                Some(format!("[{}]{}", offset / size, self.path(*elem, offset % size)?))
            }
            Type::Record(r) => {
                let inside = |f: &&Field| {
                    let size = self.program.size_of(f.ty).unwrap_or(0);
                    f.bits.is_none() && f.offset <= offset && offset - f.offset < size
                };
                let field = r.fields.iter().find(inside)?;
                let rest = self.path(field.ty, offset - field.offset)?;
                Some(if field.name.is_empty() { rest } else { format!(".{}{rest}", field.name) })
            }
            _ => None,
        }
    }
}

/// The name of a variable that has one in the source.
pub(crate) fn named(program: &Program, var: VarId) -> Option<String> {
    let name = &program.vars[var].name;
    (!name.starts_with('.')).then(|| name.to_string())
}

/// `1 byte`, `4 bytes`.
pub fn bytes(n: u64) -> String {
    if n == 1 { "1 byte".into() } else { format!("{n} bytes") }
}

fn plus(text: String, offset: i128) -> String {
    match offset {
        0 => text,
        1.. => format!("{text} + {offset}"),
        _ => format!("{text} - {}", offset.unsigned_abs()),
    }
}

fn printable(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| (b' '..=b'~').contains(b) || matches!(b, b'\n' | b'\t' | b'\r'))
}

fn quoted(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(STRING)];
    let more = if shown.len() < bytes.len() { "..." } else { "" };
    format!("\"{}\"{more}", shown.escape_ascii())
}

/// A number as a debugger would show it: for a printable character that too.
pub fn number(ty: Scalar, bits: u128) -> String {
    let text = crate::run::value_text(ty, bits);
    match ty {
        Scalar::Int(IntTy { bits: 8, .. }) if printable(&[bits as u8]) => {
            format!("{text} '{}'", (bits as u8).escape_ascii())
        }
        _ => text,
    }
}
