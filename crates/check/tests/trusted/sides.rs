//! What the comparison needs to know about each encoder: its slots, and what a run has there.

use crate::world::{Book, Object, Scal, World};
use palisade_cfa::*;
use palisade_check::plain::encoder::Encoder as Plain;
use palisade_check::plain::state::{self as plain_state, Home};
use palisade_encode::Encoder as Fast;
use palisade_encode::layout as fast;
use palisade_encode::pointsto::Cell;
use palisade_encode::regions::CellKind;
use palisade_interp::ObjectId;
use palisade_logic::{BitVec, Func, Sort, Term, Terms};
use palisade_task::Task;
use rustc_hash::FxHashMap;

/// A slot, the index in it, its value, and how many low bits of that are compared.
pub struct Known {
    pub slot: usize,
    pub index: Option<BitVec>,
    pub value: BitVec,
    pub compared: u32,
}

pub fn bits(width: u32, value: u128) -> BitVec {
    let words = [value as u64, (value >> 64) as u64];
    BitVec::from_words(width, &words[..width.div_ceil(64).min(2) as usize])
}

/// Path conditions and slots after an edge.
pub type After = (Vec<Term>, Vec<Term>);

/// An encoder under test.
pub trait Side {
    fn name(&self) -> &'static str;
    fn sorts(&self) -> Vec<Sort>;
    fn width(&self) -> u32;
    fn object_bits(&self) -> u32;
    /// The first number for an object that is made during a run.
    fn first_made(&self) -> u64;
    fn next_slot(&self) -> usize;
    /// Whether the number of a variable's object changes with each life.
    fn moves(&self, var: VarId) -> bool;
    fn variable(&self, var: VarId) -> u64;
    fn function(&self, func: FuncId) -> u64;
    fn functions_declared(&self) -> usize;
    fn start_slots(&self) -> Vec<Term>;
    /// The state at the start of a run.
    fn initial(&mut self, terms: &mut Terms) -> After;
    /// Executes an edge; nothing if it cannot be executed.
    fn step(&mut self, terms: &mut Terms, edge: EdgeId) -> Option<After>;
    fn known(&self, world: &World, book: &Book) -> Vec<Known>;
    fn functions(&self, terms: &mut Terms) -> (Func, Option<Func>);

    fn number(&self, object: &Object, book: &Book) -> Option<u64> {
        match object.var {
            Some(v) if !self.moves(v) => Some(self.variable(v)),
            _ => book.made.get(&object.id).copied(),
        }
    }

    /// A pointer or other scalar as bits.
    fn value(
        &self,
        scal: Scal,
        bits_of: u32,
        numbers: &FxHashMap<ObjectId, u64>,
        book: &Book,
    ) -> Option<BitVec> {
        let (object, offset) = match scal {
            Scal::Bits(value) => return Some(bits(bits_of, value)),
            Scal::Function(f) => (self.function(f), 0),
            Scal::Pointer { object: None, address } => (0, address),
            Scal::Pointer { object: Some(object), address } => {
                (*numbers.get(&object)?, address.wrapping_sub(book.bases.get(&object)?.0))
            }
        };
        let object = bits(self.object_bits(), u128::from(object));
        Some(object.concat(&bits(self.width(), u128::from(offset))))
    }
}

pub struct PlainSide<'p> {
    p: &'p Program,
    /// Whether status, size and number of objects matter.
    asks: bool,
    encoder: Plain<'p>,
    start: plain_state::State,
}

impl<'p> PlainSide<'p> {
    pub fn new(task: &'p Task, terms: &mut Terms) -> Self {
        let encoder = Plain::new(task, &[], terms);
        let start = plain_state::State::arbitrary(&encoder.layout, terms);
        PlainSide { p: &task.program, asks: task.program.asks_about_objects(), encoder, start }
    }
}

impl Side for PlainSide<'_> {
    fn name(&self) -> &'static str {
        "plain"
    }
    fn sorts(&self) -> Vec<Sort> {
        self.encoder.layout.sorts.iter().map(|s| s.0).collect()
    }
    fn width(&self) -> u32 {
        self.encoder.layout.width
    }
    fn object_bits(&self) -> u32 {
        plain_state::OBJECT
    }
    fn first_made(&self) -> u64 {
        self.encoder.layout.first_made
    }
    fn next_slot(&self) -> usize {
        self.encoder.layout.next
    }
    fn moves(&self, var: VarId) -> bool {
        matches!(self.encoder.layout.homes[var], Home::Memory { life: Some(_), .. })
    }
    fn variable(&self, var: VarId) -> u64 {
        self.encoder.layout.variable(var)
    }
    fn function(&self, func: FuncId) -> u64 {
        self.encoder.layout.function(func)
    }
    fn functions_declared(&self) -> usize {
        self.p.funcs.len()
    }
    fn start_slots(&self) -> Vec<Term> {
        (0..self.encoder.layout.sorts.len()).map(|i| self.start.get(i)).collect()
    }
    fn initial(&mut self, terms: &mut Terms) -> After {
        let first = self.encoder.initial(terms).expect("small images");
        let slots = (0..self.encoder.layout.sorts.len()).map(|i| first.get(i)).collect();
        (first.path, slots)
    }
    fn step(&mut self, terms: &mut Terms, edge: EdgeId) -> Option<After> {
        let next = self.encoder.step(terms, &self.start, edge)?;
        let slots = (0..self.encoder.layout.sorts.len()).map(|i| next.get(i)).collect();
        Some((next.path, slots))
    }
    fn functions(&self, _: &mut Terms) -> (Func, Option<Func>) {
        (self.encoder.base, None)
    }

    fn known(&self, world: &World, book: &Book) -> Vec<Known> {
        let layout = &self.encoder.layout;
        let mut numbers: FxHashMap<ObjectId, u64> = book.made.clone();
        numbers.extend(world.objects.iter().filter_map(|o| Some((o.id, self.number(o, book)?))));
        let mut out = Vec::new();
        for &(v, value) in &world.registers {
            let Some(scalar) = self.p.scalar_of(self.p.vars[v].ty) else { continue };
            if let Home::Register(slot) = layout.homes[v]
                && let Some(value) = self.value(value, layout.bits(scalar), &numbers, book)
            {
                let compared = value.width();
                out.push(Known { slot, index: None, value, compared });
            }
        }
        for object in &world.objects {
            let Some(&number) = numbers.get(&object.id) else { continue };
            let home = object.var.map(|v| layout.homes[v]);
            let (slot, whole) = match home {
                Some(Home::Memory { bytes, life, .. }) => {
                    if let Some(life) = life {
                        let value = bits(plain_state::OBJECT, u128::from(number));
                        out.push(Known { slot: life, index: None, value, compared: plain_state::OBJECT });
                    }
                    (bytes, false)
                }
                Some(_) => continue,
                None => (layout.heap, true),
            };
            let object_of_word = |i: usize| {
                let word = self.width() as usize / 8;
                let start = (i - i % word) as u64;
                match object.pointers.get(&start) {
                    Some(&Scal::Pointer { object: Some(object), .. }) => {
                        numbers.get(&object).copied().unwrap_or(0)
                    }
                    Some(&Scal::Function(f)) => self.function(f),
                    _ => 0,
                }
            };
            for (i, &byte) in object.bytes.iter().enumerate() {
                let offset = bits(self.width(), i as u128);
                let index =
                    if whole { bits(plain_state::OBJECT, number.into()).concat(&offset) } else { offset };
                let tag = bits(plain_state::OBJECT, object_of_word(i).into());
                let value = tag.concat(&bits(8, byte.into()));
                out.push(Known { slot, index: Some(index), value, compared: 8 });
            }
            if self.asks {
                let index = bits(plain_state::OBJECT, number.into());
                let status = if object.heap { plain_state::HEAP } else { plain_state::LIVE };
                let exposed = !matches!(home, Some(Home::Memory { exposed: false, .. }));
                if exposed {
                    let value = bits(plain_state::STATUS, status.into());
                    out.push(Known {
                        slot: layout.status,
                        index: Some(index.clone()),
                        value,
                        compared: plain_state::STATUS,
                    });
                    let value = bits(self.width(), object.bytes.len() as u128);
                    out.push(Known { slot: layout.sizes, index: Some(index), value, compared: self.width() });
                }
            }
        }
        if self.asks {
            let heap = world.objects.iter().filter(|o| o.heap).count() as u128;
            let value = bits(plain_state::OBJECT, heap);
            out.push(Known { slot: layout.count, index: None, value, compared: plain_state::OBJECT });
        }
        out
    }
}

pub struct FastSide<'p> {
    p: &'p Program,
    encoder: Fast<'p>,
    start: palisade_encode::State,
}

impl<'p> FastSide<'p> {
    pub fn new(task: &'p Task, terms: &mut Terms) -> Self {
        let encoder = Fast::new(&task.program, terms);
        let start = encoder.arbitrary_state(terms);
        FastSide { p: &task.program, encoder, start }
    }
}

impl Side for FastSide<'_> {
    fn name(&self) -> &'static str {
        "fast"
    }
    fn sorts(&self) -> Vec<Sort> {
        self.encoder.layout().slots.iter().map(|s| s.0).collect()
    }
    fn width(&self) -> u32 {
        self.encoder.layout().off_bits
    }
    fn object_bits(&self) -> u32 {
        fast::OBJ_BITS
    }
    fn first_made(&self) -> u64 {
        self.encoder.layout().first_allocated
    }
    fn next_slot(&self) -> usize {
        self.encoder.layout().next_object
    }
    fn moves(&self, var: VarId) -> bool {
        self.encoder.layout().local_object(var).is_some()
    }
    fn variable(&self, var: VarId) -> u64 {
        self.encoder.layout().var_object(var)
    }
    fn function(&self, func: FuncId) -> u64 {
        self.encoder.layout().func_object(func)
    }
    fn functions_declared(&self) -> usize {
        self.p.funcs.len()
    }
    fn start_slots(&self) -> Vec<Term> {
        (0..self.start.slots.len()).map(|i| self.start.slots.get(i)).collect()
    }
    fn initial(&mut self, terms: &mut Terms) -> After {
        let first = self.encoder.initial_state(terms);
        let slots = (0..first.slots.len()).map(|i| first.slots.get(i)).collect();
        (first.path, slots)
    }
    fn step(&mut self, terms: &mut Terms, edge: EdgeId) -> Option<After> {
        let next = self.encoder.step(terms, &self.start, edge)?;
        let slots = (0..next.slots.len()).map(|i| next.slots.get(i)).collect();
        Some((next.path, slots))
    }
    fn functions(&self, terms: &mut Terms) -> (Func, Option<Func>) {
        let (object, offset) = (Sort::BitVec(fast::OBJ_BITS), Sort::BitVec(self.width()));
        (terms.func(".base", &[object], offset), Some(terms.func(".object", &[offset], object)))
    }

    fn known(&self, world: &World, book: &Book) -> Vec<Known> {
        let layout = self.encoder.layout();
        let regions = self.encoder.regions();
        let mut numbers: FxHashMap<ObjectId, u64> = book.made.clone();
        numbers.extend(world.objects.iter().filter_map(|o| Some((o.id, self.number(o, book)?))));
        let mut out = Vec::new();
        for &(v, value) in &world.registers {
            let Some(scalar) = self.p.scalar_of(self.p.vars[v].ty) else { continue };
            if let Some(slot) = layout.register(v)
                && let Some(value) = self.value(value, layout.bits(scalar), &numbers, book)
            {
                let compared = value.width();
                out.push(Known { slot, index: None, value, compared });
            }
        }
        for object in &world.objects {
            let Some(&number) = numbers.get(&object.id) else { continue };
            if let Some(v) = object.var
                && let Some(slot) = layout.local_object(v)
            {
                let value = bits(fast::OBJ_BITS, number.into());
                out.push(Known { slot, index: None, value, compared: fast::OBJ_BITS });
            }
            let home = match object.var {
                Some(v) if layout.register(v).is_some() => {
                    // A register of this encoder that the interpreter keeps in memory.
                    continue;
                }
                Some(v) => regions.points_to.home(v),
                None => book.sites.get(&object.id).and_then(|e| regions.points_to.site(*e)),
            };
            let Some(home) = home else { continue };
            for k in 0..object.bytes.len() {
                let cell = regions.points_to.find(Cell { off: home.off + k as i64, ..home });
                for &id in regions.regions_of(cell.node) {
                    let region = &regions.regions[id];
                    let word = |n: usize| {
                        let bytes = object.bytes.get(k..k + n)?;
                        Some(bytes.iter().rev().fold(0u128, |all, &b| all << 8 | u128::from(b)))
                    };
                    let value = match region.kind {
                        CellKind::Byte if (region.at.off..region.end).contains(&cell.off) => {
                            word(1).map(|w| bits(8, w))
                        }
                        CellKind::Bits(n) if region.at.off == cell.off && n <= 16 => {
                            word(n as usize).map(|w| bits(8 * n as u32, w))
                        }
                        CellKind::Ptr if region.at.off == cell.off => {
                            object.pointers.get(&(k as u64)).and_then(|s| self.value(*s, 0, &numbers, book))
                        }
                        _ => continue,
                    };
                    let Some(value) = value else { continue };
                    let offset = bits(self.width(), k as u128);
                    let index = if region.single {
                        None
                    } else if region.one_object {
                        Some(offset)
                    } else {
                        Some(bits(fast::OBJ_BITS, number.into()).concat(&offset))
                    };
                    let compared = value.width();
                    out.push(Known { slot: layout.region(id), index, value, compared });
                }
            }
            // The interpreter has room for some variables before their first life.
            let lives = object.var.is_none_or(|v| !self.moves(v) || book.entered.contains(&v));
            if let (Some(status), true) = (layout.status, lives) {
                let index = bits(fast::OBJ_BITS, number.into());
                let value = bits(fast::STATUS_BITS, if object.heap { fast::HEAP } else { fast::LIVE }.into());
                out.push(Known {
                    slot: status,
                    index: Some(index.clone()),
                    value,
                    compared: fast::STATUS_BITS,
                });
                let value = bits(self.width(), object.bytes.len() as u128);
                out.push(Known { slot: layout.sizes, index: Some(index), value, compared: self.width() });
            }
        }
        if layout.status.is_some() {
            let heap = world.objects.iter().filter(|o| o.heap).count() as u128;
            let value = bits(fast::COUNT_BITS, heap);
            out.push(Known { slot: layout.heap_count, index: None, value, compared: fast::COUNT_BITS });
        }
        out
    }
}
