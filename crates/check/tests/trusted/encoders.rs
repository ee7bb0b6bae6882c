//! Both encoders against the interpreter: every executed edge, pushed through an encoder with the
//! run's unknowns bound, has a true guard, and every register, byte and pointer is what the run has.
//! `PALISADE_ENCODED` says how many random programs are tried.

use crate::common::{Generator, compile, size};
use palisade_cfa::*;
use palisade_check::plain::encoder::Encoder as Plain;
use palisade_check::plain::state::{self as plain_state, Home};
use palisade_encode::Encoder as Fast;
use palisade_encode::layout as fast;
use palisade_encode::pointsto::Cell;
use palisade_encode::regions::CellKind;
use palisade_interp::{Config, Discard, Interp, ObjectId, Random, State};
use palisade_logic::eval::{Interpretation, Leaf};
use palisade_logic::value::{ArrayValue, Value};
use palisade_logic::{BitVec, Evaluator, Func, Op as TermOp, Sort, Term, Terms};
use palisade_property::Property;
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A scalar of a run: its bits, or a pointer by object and address.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scal {
    Bits(u128),
    Pointer { object: Option<ObjectId>, address: u64 },
    Function(FuncId),
}

/// An object of a run.
#[derive(Clone, Debug)]
struct Object {
    id: ObjectId,
    bytes: Vec<u8>,
    heap: bool,
    var: Option<VarId>,
    pointers: FxHashMap<u64, Scal>,
}

/// What there is between two steps of a run.
struct World {
    registers: Vec<(VarId, Scal)>,
    objects: Vec<Object>,
}

/// What is known about all objects of a run so far.
#[derive(Default)]
struct Book {
    bases: FxHashMap<ObjectId, (u64, u64)>,
    sites: FxHashMap<ObjectId, EdgeId>,
    /// Numbers of the objects that were made during the run.
    made: FxHashMap<ObjectId, u64>,
}

impl Book {
    /// Whether there was an object at an address at some time.
    fn was_at(&self, address: u64) -> bool {
        self.bases.values().any(|&(base, size)| address >= base && address - base <= size)
    }
}

fn scal(state: &State<'_>, value: palisade_interp::Value) -> Scal {
    if value.ty != Scalar::Ptr {
        return Scal::Bits(value.bits);
    }
    let address = value.bits as u64;
    match state.function_at(value) {
        Some(func) if value.object().is_none() => Scal::Function(func),
        _ => Scal::Pointer { object: value.object(), address },
    }
}

impl World {
    fn of(state: &State<'_>, book: &mut Book) -> World {
        let p = state.program();
        let word = u64::from(p.data_model.ptr_bits()) / 8;
        let mut owners: FxHashMap<ObjectId, VarId> = FxHashMap::default();
        let mut registers = Vec::new();
        for v in p.vars.ids() {
            owners.extend(state.object_of(v).map(|id| (id, v)));
            registers.extend(state.var(v).map(|value| (v, scal(state, value))));
        }
        let objects = state.objects().map(|o| {
            book.bases.insert(o.id, (o.base, o.bytes.len() as u64));
            let offsets = (0..o.bytes.len() as u64).filter(|i| i % word == 0);
            let pointers = offsets.filter_map(|i| Some((i, scal(state, state.pointer_in(o.id, i)?))));
            // Memory forgets whose object a pointer was made for when that dies.
            let pointers = pointers
                .filter(
                    |(_, p)| !matches!(*p, Scal::Pointer { object: None, address } if book.was_at(address)),
                )
                .collect();
            Object {
                id: o.id,
                bytes: o.bytes.to_vec(),
                heap: o.heap,
                var: owners.get(&o.id).copied(),
                pointers,
            }
        });
        World { registers, objects: objects.collect() }
    }
}

/// A slot, the index in it, its value, and how many low bits of that are compared.
struct Known {
    slot: usize,
    index: Option<BitVec>,
    value: BitVec,
    compared: u32,
}

fn bits(width: u32, value: u128) -> BitVec {
    let words = [value as u64, (value >> 64) as u64];
    BitVec::from_words(width, &words[..width.div_ceil(64).min(2) as usize])
}

/// Path conditions and slots after an edge.
type After = (Vec<Term>, Vec<Term>);

/// An encoder under test.
trait Side {
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

struct PlainSide<'p> {
    p: &'p Program,
    encoder: Plain<'p>,
    start: plain_state::State,
}

impl<'p> PlainSide<'p> {
    fn new(task: &'p Task, terms: &mut Terms) -> Self {
        let encoder = Plain::new(task, &[], terms);
        let start = plain_state::State::arbitrary(&encoder.layout, terms);
        PlainSide { p: &task.program, encoder, start }
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
            if self.p.asks_about_objects() {
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
        if self.p.asks_about_objects() {
            let heap = world.objects.iter().filter(|o| o.heap).count() as u128;
            let value = bits(plain_state::OBJECT, heap);
            out.push(Known { slot: layout.count, index: None, value, compared: plain_state::OBJECT });
        }
        out
    }
}

struct FastSide<'p> {
    p: &'p Program,
    encoder: Fast<'p>,
    start: palisade_encode::State,
}

impl<'p> FastSide<'p> {
    fn new(task: &'p Task, terms: &mut Terms) -> Self {
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
            if let Some(status) = layout.status {
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

/// The values of a run as a meaning of variables and functions.
struct Meaning {
    vars: FxHashMap<Term, Value>,
    /// Of unknowns that are known in parts: the bits.
    parts: FxHashMap<Term, Vec<Option<bool>>>,
    base: Func,
    starts: FxHashMap<u64, (u64, u64)>,
    width: u32,
    object_bits: u32,
}

impl Interpretation for Meaning {
    fn var(&self, terms: &Terms, var: Term) -> Leaf {
        Leaf::Value(self.vars.get(&var).cloned().unwrap_or_else(|| Value::default_of(terms.sort(var))))
    }

    fn apply(&self, _: &Terms, f: Func, args: &[Value]) -> Value {
        let arg = args[0].as_bv().and_then(|a| a.to_u64()).unwrap_or(0);
        if f == self.base {
            let start = self.starts.get(&arg).map_or(0, |s| s.0);
            return Value::BitVec(bits(self.width, start.into()));
        }
        let inside = |&(_, &(start, size)): &(&u64, &(u64, u64))| arg >= start && arg - start <= size;
        let number = self.starts.iter().find(inside).map_or(0, |(n, _)| *n);
        Value::BitVec(bits(self.object_bits, number.into()))
    }
}

/// Gives unknowns that were met in a step the values that the run has there.
fn bind(terms: &Terms, meaning: &mut Meaning, t: Term, value: &Value) {
    match terms.op(t) {
        TermOp::Var => {
            meaning.vars.entry(t).or_insert_with(|| value.clone());
        }
        TermOp::Ite => {
            for &arm in &terms.args(t)[1..] {
                bind(terms, meaning, arm, value);
            }
        }
        TermOp::Concat => {
            let (high, low) = (terms.args(t)[0], terms.args(t)[1]);
            if let Value::BitVec(all) = value {
                let n = terms.width(low);
                bind(terms, meaning, high, &Value::BitVec(all.extract(all.width() - 1, n)));
                bind(terms, meaning, low, &Value::BitVec(all.extract(n - 1, 0)));
            }
        }
        TermOp::Extract => {
            let (Some((_, low)), var) = (terms.extract_bounds(t), terms.args(t)[0]) else { return };
            let (TermOp::Var, Value::BitVec(part)) = (terms.op(var), value) else { return };
            if meaning.vars.contains_key(&var) && !meaning.parts.contains_key(&var) {
                return;
            }
            let width = terms.width(var);
            let known = meaning.parts.entry(var).or_insert_with(|| vec![None; width as usize]);
            for i in 0..part.width() {
                known[(low + i) as usize].get_or_insert(part.bit(i));
            }
            let all = BitVec::from_bits(width, |i| known[i as usize].unwrap_or(false));
            meaning.vars.insert(var, Value::BitVec(all));
        }
        TermOp::Add => {
            let (a, b) = (terms.args(t)[0], terms.args(t)[1]);
            let free = |t: Term, m: &Meaning| terms.op(t) == TermOp::Var && !m.vars.contains_key(&t);
            let (var, rest) = if free(a, meaning) { (a, b) } else { (b, a) };
            if let (true, Value::BitVec(all)) = (free(var, meaning), value) {
                let rest = Evaluator::new(meaning).value(terms, rest);
                if let Value::BitVec(rest) = rest {
                    let found = all.sub(&rest);
                    meaning.vars.insert(var, Value::BitVec(found));
                }
            }
        }
        TermOp::Store => {
            let [array, index, element] = *terms.args(t) else { return };
            if let (Value::BitVec(at), Value::Array(all)) =
                (Evaluator::new(meaning).value(terms, index), value)
            {
                let here = all.select(&at).clone();
                bind(terms, meaning, element, &Value::BitVec(here));
            }
            bind(terms, meaning, array, value);
        }
        _ => {}
    }
}

/// The values of all slots that are known.
fn slots(sorts: &[Sort], known: &[Known]) -> FxHashMap<usize, Value> {
    let mut out: FxHashMap<usize, Value> = FxHashMap::default();
    for Known { slot, index, value, .. } in known {
        match (index, sorts[*slot]) {
            (None, _) => {
                out.insert(*slot, Value::BitVec(value.clone()));
            }
            (Some(at), Sort::Array { index, elem }) => {
                let array = out
                    .entry(*slot)
                    .or_insert_with(|| Value::Array(ArrayValue::constant(index, bits(elem, 0))));
                if let Value::Array(a) = array {
                    *a = a.store(at.clone(), value.clone());
                }
            }
            _ => unreachable!("only arrays have indices"),
        }
    }
    out
}

/// What is known before an edge is executed.
struct Before {
    edge: EdgeId,
    values: FxHashMap<usize, Value>,
    /// Indices of arrays that have a value.
    indices: FxHashSet<(usize, BitVec)>,
    next: u64,
}

/// So many times at most an edge is compared in one run.
const VISITS: u32 = 2;

struct Comparison<'s> {
    side: Box<dyn Side + 's>,
    terms: Terms,
    sorts: Vec<Sort>,
    start: Vec<Term>,
    base: Func,
    encoded: FxHashMap<EdgeId, Option<After>>,
    before: Option<Before>,
    last: Option<EdgeId>,
    visits: FxHashMap<EdgeId, u32>,
    book: Book,
    next: u64,
    compared: u64,
}

impl<'s> Comparison<'s> {
    fn new(task: &'s Task, plain: bool) -> Self {
        let mut terms = if plain { Terms::plain() } else { Terms::new() };
        let side: Box<dyn Side + 's> = if plain {
            Box::new(PlainSide::new(task, &mut terms))
        } else {
            Box::new(FastSide::new(task, &mut terms))
        };
        let (base, _) = side.functions(&mut terms);
        let (sorts, start, next) = (side.sorts(), side.start_slots(), side.first_made());
        Comparison {
            side,
            terms,
            sorts,
            start,
            base,
            encoded: FxHashMap::default(),
            before: None,
            last: None,
            visits: FxHashMap::default(),
            book: Book::default(),
            next,
            compared: 0,
        }
    }

    /// The run is about to execute an edge; what it did with the last one is compared.
    fn observe(&mut self, edge: EdgeId, state: &State<'_>) -> Result<(), String> {
        let world = World::of(state, &mut self.book);
        let entered = match self.last.map(|e| &state.program().edges[e].op) {
            Some(Op::Enter { var }) => Some(*var),
            _ => None,
        };
        for object in &world.objects {
            match object.var {
                Some(v) if !self.side.moves(v) => continue,
                // Before its first life a variable has the number that it is named by.
                Some(v) if entered != Some(v) => {
                    self.book.made.entry(object.id).or_insert(self.side.variable(v));
                    continue;
                }
                None if self.book.made.contains_key(&object.id) => continue,
                _ => {}
            }
            self.book.made.insert(object.id, self.next);
            self.next += 1;
            self.book.sites.extend(self.last.map(|e| (object.id, e)));
        }
        let visits = self.visits.entry(edge).or_default();
        *visits += 1;
        let wanted = *visits <= VISITS;
        let before = self.before.take();
        if wanted || before.is_some() {
            let known = self.side.known(&world, &self.book);
            let values = slots(&self.sorts, &known);
            if let Some(before) = before {
                self.compare(before, &world, &known, &values)?;
            }
            if wanted {
                let indices = known.iter().filter_map(|k| Some((k.slot, k.index.clone()?))).collect();
                self.before = Some(Before { edge, values, indices, next: self.next });
            }
        }
        self.last = Some(edge);
        Ok(())
    }

    fn compare(
        &mut self,
        Before { edge, values: mut before, indices, next }: Before,
        world: &World,
        known: &[Known],
        values: &FxHashMap<usize, Value>,
    ) -> Result<(), String> {
        if !self.encoded.contains_key(&edge) {
            let made = self.side.step(&mut self.terms, edge);
            self.encoded.insert(edge, made);
        }
        let name = self.side.name();
        let Some(Some((path, after))) = self.encoded.get(&edge) else {
            return Err(format!("{name}: {edge} cannot be executed"));
        };
        let mut starts = FxHashMap::default();
        for (key, number) in &self.book.made {
            starts.extend(self.book.bases.get(key).map(|&b| (*number, b)));
        }
        for object in &world.objects {
            if let (Some(n), Some(&b)) =
                (self.side.number(object, &self.book), self.book.bases.get(&object.id))
            {
                starts.insert(n, b);
            }
        }
        for f in 0..self.side.functions_declared() as u32 {
            starts.entry(self.side.function(FuncId(f))).or_insert((0x40_0000 + u64::from(f) * 16, 0));
        }
        let mut meaning = Meaning {
            vars: FxHashMap::default(),
            parts: FxHashMap::default(),
            base: self.base,
            starts,
            width: self.side.width(),
            object_bits: self.side.object_bits(),
        };
        // The contents of what did not exist before are free too.
        for Known { slot, index, value, .. } in known {
            if let (Some(at), Some(Value::Array(array))) = (index, before.get_mut(slot))
                && !indices.contains(&(*slot, at.clone()))
            {
                *array = array.store(at.clone(), value.clone());
            }
        }
        for (slot, value) in &before {
            meaning.vars.insert(self.start[*slot], value.clone());
        }
        let slot = self.side.next_slot();
        let value = Value::BitVec(bits(self.side.object_bits(), next.into()));
        meaning.vars.insert(self.start[slot], value);
        // Slots that were not known before keep a free value that is the one they have now, if nothing
        // happened to them.
        for (slot, value) in values {
            if !before.contains_key(slot) {
                meaning.vars.insert(self.start[*slot], value.clone());
            }
            bind(&self.terms, &mut meaning, after[*slot], value);
        }
        let mut evaluator = Evaluator::new(&meaning);
        for &cond in path {
            if !evaluator.truth(&self.terms, cond) {
                return Err(format!("{name}: the guard of {edge} is false"));
            }
        }
        for Known { slot, index, value, compared } in known {
            let found = evaluator.value(&self.terms, after[*slot]);
            let found = match (&found, index) {
                (Value::BitVec(v), None) => v,
                (Value::Array(a), Some(at)) => a.select(at),
                _ => unreachable!("indices belong to arrays"),
            };
            self.compared += 1;
            if found.extract(compared - 1, 0) != value.extract(compared - 1, 0) {
                return Err(format!(
                    "{name}: {edge} leaves {found:?} in slot {slot} at {index:?}, the run has {value:?}"
                ));
            }
        }
        Ok(())
    }
}

fn compare_run(task: &Task, plain: bool, seed: u64) -> Result<u64, String> {
    let mut comparison = Comparison::new(task, plain);
    let mut failure = None;
    let mut watch = |edge: EdgeId, state: &State<'_>| {
        if let Err(why) = comparison.observe(edge, state) {
            failure = Some(why);
        }
        failure.is_none()
    };
    let config = Config { step_limit: 400, ..Config::default() };
    Interp::new(&task.program, config).run_observed(
        &mut Random::with_unknowns(seed),
        &mut Discard,
        &mut watch,
    );
    failure.map_or(Ok(comparison.compared), Err)
}

#[test]
fn executed_edges_are_models_of_both_encodings() {
    let count = size("PALISADE_ENCODED", 6);
    let memory = Property::named("valid-deref").expect("there is such a property");
    let properties = [Property::assertions(), memory];
    let mut compared = [0, 0];
    let mut failures: Vec<String> = Vec::new();
    for seed in 0..count {
        let text = Generator::program(seed);
        let model = if seed % 4 == 3 { DataModel::Ilp32 } else { DataModel::Lp64 };
        let source = Arc::new(compile(&text, &properties[seed as usize / 2 % 2], model));
        let task = Task::whole(&source, 2, 100_000).expect("small");
        for plain in [true, false] {
            match compare_run(&task, plain, seed) {
                Ok(n) => compared[usize::from(plain)] += n,
                Err(why) => failures.push(format!("seed {seed}: {why}\n{}\n{text}", edges(&task, &why))),
            }
        }
    }
    let first = failures.iter().map(|f| f.lines().take(2).collect::<Vec<_>>().join(" "));
    let first: Vec<String> = first.take(20).collect();
    assert!(failures.is_empty(), "{} fail:\n{}\n{}", failures.len(), first.join("\n"), failures[0]);
    eprintln!("{count} programs: {} values compared, {} with the fast encoder", compared[1], compared[0]);
    assert!(compared[0] > 100 * count && compared[1] > 100 * count, "{compared:?}");
}

/// The edge that a failure names, as text.
fn edges(task: &Task, why: &str) -> String {
    let named = |id: &EdgeId| why.split([' ', ':']).any(|word| word == id.to_string());
    let found = task.program.edges.ids().find(named);
    found.map_or_else(String::new, |e| format!("{:?}", task.program.edges[e].op))
}
