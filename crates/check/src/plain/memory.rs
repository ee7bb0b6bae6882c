//! Loads, stores and pointers: everything goes byte by byte.

use super::Rejection;
use super::encoder::Encoder;
use super::expr::{constant, resize};
use super::state::*;
use palisade_cfa::*;
use palisade_logic::{Sort, Term, Terms};

/// Where bytes are.
#[derive(Clone, Copy)]
pub enum Spot {
    /// In a variable that the program names, from an offset on.
    Named(VarId, Term),
    /// Where a pointer points.
    At(Term),
}

/// Blocks of more bytes are not followed: what they overwrite becomes arbitrary.
pub const MANY: u64 = 2048;

impl Encoder<'_> {
    /// A pointer to a known place.
    pub fn pointer_to(&self, t: &mut Terms, object: u64, offset: u128) -> Term {
        let object = t.bv(OBJECT, object);
        let offset = constant(t, self.layout.width, offset);
        t.concat(object, offset)
    }

    /// The object of a pointer.
    pub fn object(&self, t: &mut Terms, pointer: Term) -> Term {
        parts(t, pointer, self.layout.width).0
    }

    /// The offset of a pointer in its object.
    pub fn offset(&self, t: &mut Terms, pointer: Term) -> Term {
        parts(t, pointer, self.layout.width).1
    }

    /// A pointer into the same object, some bytes further.
    pub fn moved(&self, t: &mut Terms, pointer: Term, by: Term) -> Term {
        let (object, offset) = (self.object(t, pointer), self.offset(t, pointer));
        let offset = t.add(offset, by);
        t.concat(object, offset)
    }

    /// The address of a pointer: the offset itself without an object, else from the unknown start of
    /// the object on.
    pub fn address(&self, t: &mut Terms, pointer: Term) -> Term {
        let (object, offset) = (self.object(t, pointer), self.offset(t, pointer));
        let start = self.start(t, object);
        t.add(start, offset)
    }

    fn start(&self, t: &mut Terms, object: Term) -> Term {
        let none = t.bv(OBJECT, 0);
        let absolute = t.eq(object, none);
        let zero = t.bv(self.layout.width, 0);
        let start = t.apply(self.base, &[object]);
        t.ite(absolute, zero, start)
    }

    /// A pointer with an address: into any object that there is, or into none.
    pub fn pointer_at(&mut self, t: &mut Terms, s: &State, address: Term) -> Term {
        let object = if t.is_const(address) { t.bv(OBJECT, 0) } else { self.some_object(t, s) };
        let start = self.start(t, object);
        let offset = t.sub(address, start);
        t.concat(object, offset)
    }

    /// The number of an object that exists.
    fn some_object(&mut self, t: &mut Terms, s: &State) -> Term {
        let object = t.fresh_var("object", Sort::BitVec(OBJECT));
        let exists = t.ult(object, s.get(self.layout.next));
        self.facts.push(exists);
        object
    }

    /// Any value of a scalar type.
    pub fn any(&mut self, t: &mut Terms, s: &State, scalar: Scalar) -> Term {
        if scalar == Scalar::Ptr {
            let address = t.fresh_var("u", Sort::BitVec(self.layout.width));
            return self.pointer_at(t, s, address);
        }
        t.fresh_var("u", Sort::BitVec(self.layout.bits(scalar)))
    }

    /// The number of the present life of a variable.
    pub fn number(&self, t: &mut Terms, s: &State, var: VarId) -> Term {
        match self.layout.homes[var] {
            Home::Memory { life: Some(life), .. } => s.get(life),
            _ => t.bv(OBJECT, self.layout.variable(var)),
        }
    }

    /// `index * stride` bytes.
    pub fn scaled(&mut self, t: &mut Terms, s: &State, index: ExprId, stride: u64) -> Term {
        let signed = self.program.exprs[index].ty.int().is_some_and(|i| i.signed);
        let value = self.expr(t, s, index);
        let value = resize(t, value, self.layout.width, signed);
        let stride = t.bv(self.layout.width, stride);
        t.mul(value, stride)
    }

    /// Where a place starts.
    pub fn spot(&mut self, t: &mut Terms, s: &State, place: PlaceId) -> Spot {
        let p = self.program;
        self.note_indices(t, s, place);
        let mut spot = match p.places[place].base {
            Base::Var(var) => self.variable_spot(t, var),
            Base::Deref(e) => Spot::At(self.expr(t, s, e)),
        };
        for step in &p.places[place].path {
            let by = match *step {
                Proj::Field { record, field } => t.bv(self.layout.width, p.field(record, field).offset),
                Proj::Index { index, stride } => self.scaled(t, s, index, stride),
            };
            spot = self.further(t, spot, by);
        }
        spot
    }

    fn further(&self, t: &mut Terms, spot: Spot, by: Term) -> Spot {
        match spot {
            Spot::Named(var, offset) => Spot::Named(var, t.add(offset, by)),
            Spot::At(pointer) => Spot::At(self.moved(t, pointer, by)),
        }
    }

    fn note_indices(&mut self, t: &mut Terms, s: &State, place: PlaceId) {
        let Some(mut known) = self.indices.take() else { return };
        let values: Vec<Term> = palisade_encode::indices(self.program, place)
            .into_iter()
            .map(|index| {
                let value = self.expr(t, s, index);
                let signed = self.program.exprs[index].ty.int().is_some_and(|i| i.signed);
                resize(t, value, 64, signed)
            })
            .collect();
        if !values.is_empty() && !known.contains(&values) {
            known.push(values);
        }
        self.indices = Some(known);
    }

    /// The address of a place.
    pub fn address_of(&mut self, t: &mut Terms, s: &State, place: PlaceId) -> Term {
        match self.spot(t, s, place) {
            Spot::At(pointer) => pointer,
            Spot::Named(var, offset) => {
                let object = self.number(t, s, var);
                t.concat(object, offset)
            }
        }
    }

    /// The byte at a distance from a spot.
    pub fn read(&self, t: &mut Terms, s: &State, spot: Spot, distance: u64) -> Term {
        let by = t.bv(self.layout.width, distance);
        match self.further(t, spot, by) {
            Spot::Named(var, offset) => match self.layout.homes[var] {
                Home::Memory { bytes, .. } => t.select(s.get(bytes), offset),
                _ => t.fresh_var("byte", Sort::BitVec(BYTE)),
            },
            Spot::At(pointer) => {
                let (object, offset) = (self.object(t, pointer), self.offset(t, pointer));
                let mut byte = t.select(s.get(self.layout.heap), pointer);
                for &var in &self.layout.exposed {
                    let Home::Memory { bytes, .. } = self.layout.homes[var] else { continue };
                    let number = self.number(t, s, var);
                    let here = t.eq(object, number);
                    if t.bool_value(here) != Some(false) {
                        let own = t.select(s.get(bytes), offset);
                        byte = t.ite(here, own, byte);
                    }
                }
                byte
            }
        }
    }

    /// Replaces the byte at a distance from a spot.
    pub fn write(&self, t: &mut Terms, s: &mut State, spot: Spot, distance: u64, byte: Term) {
        let by = t.bv(self.layout.width, distance);
        match self.further(t, spot, by) {
            Spot::Named(var, offset) => {
                if let Home::Memory { bytes, .. } = self.layout.homes[var] {
                    let array = t.store(s.get(bytes), offset, byte);
                    s.set(bytes, array);
                }
            }
            Spot::At(pointer) => {
                let (object, offset) = (self.object(t, pointer), self.offset(t, pointer));
                for &var in &self.layout.exposed {
                    let Home::Memory { bytes, .. } = self.layout.homes[var] else { continue };
                    let number = self.number(t, s, var);
                    let here = t.eq(object, number);
                    if t.bool_value(here) != Some(false) {
                        let old = s.get(bytes);
                        let new = t.store(old, offset, byte);
                        let array = t.ite(here, new, old);
                        s.set(bytes, array);
                    }
                    if t.bool_value(here) == Some(true) {
                        return;
                    }
                }
                let heap = t.store(s.get(self.layout.heap), pointer, byte);
                s.set(self.layout.heap, heap);
            }
        }
    }

    /// A byte that is no part of a pointer.
    pub fn plain_byte(&self, t: &mut Terms, bits: Term) -> Term {
        t.zero_extend(bits, OBJECT)
    }

    /// The value of a scalar type that bytes hold, the lowest first.
    pub fn value_of(&mut self, t: &mut Terms, s: &State, scalar: Scalar, bytes: &[Term]) -> Term {
        if scalar == Scalar::Ptr
            && let Some(&(pointer, 0)) = self.stored.get(&bytes[0])
            && bytes.iter().enumerate().all(|(i, b)| self.stored.get(b) == Some(&(pointer, i)))
        {
            return pointer;
        }
        let bits: Vec<Term> = bytes.iter().map(|&b| parts(t, b, 8).1).collect();
        let all = bits[1..].iter().fold(bits[0], |low, &high| t.concat(high, low));
        if scalar != Scalar::Ptr {
            return t.extract(all, self.layout.bits(scalar) - 1, 0);
        }
        let objects: Vec<Term> = bytes.iter().map(|&b| parts(t, b, 8).0).collect();
        let none = t.bv(OBJECT, 0);
        let mut intact = t.ne(objects[0], none);
        for &other in &objects[1..] {
            let same = t.eq(other, objects[0]);
            intact = t.and(intact, same);
        }
        let start = self.start(t, objects[0]);
        let offset = t.sub(all, start);
        let own = t.concat(objects[0], offset);
        if t.bool_value(intact) == Some(true) {
            return own;
        }
        // Nobody can have stored a pointer to what does not exist yet.
        let exists = t.ult(objects[0], s.get(self.layout.next));
        self.facts.push(exists);
        let other = self.pointer_at(t, s, all);
        t.ite(intact, own, other)
    }

    /// The bytes of a scalar, the lowest first. A pointer that is stored as a whole can be loaded as a
    /// whole.
    pub fn bytes_of(&mut self, t: &mut Terms, scalar: Scalar, value: Term) -> Vec<Term> {
        let (object, bits) = match scalar {
            Scalar::Ptr => (self.object(t, value), self.address(t, value)),
            _ => (t.bv(OBJECT, 0), value),
        };
        let count = t.width(bits).div_ceil(8);
        let bits = resize(t, bits, 8 * count, false);
        let mut bytes = Vec::new();
        for i in 0..count {
            let byte = t.extract(bits, 8 * i + 7, 8 * i);
            let byte = t.concat(object, byte);
            if scalar == Scalar::Ptr && !t.is_const(byte) {
                self.stored.insert(byte, (value, i as usize));
            }
            bytes.push(byte);
        }
        bytes
    }

    /// The value of a scalar place.
    pub fn load(&mut self, t: &mut Terms, s: &State, place: PlaceId) -> Term {
        let p = self.program;
        if let Base::Var(var) = p.places[place].base
            && let Home::Register(slot) = self.layout.homes[var]
        {
            return s.get(slot);
        }
        let scalar = p.place_scalar(place).expect("the verifier admits scalar places only here");
        let spot = self.spot(t, s, place);
        match p.places[place].bits {
            Some(range) => {
                let all = self.unit(t, s, spot, range);
                let first = u32::from(range.first);
                t.extract(all, first + u32::from(range.width) - 1, first)
            }
            None => {
                let count = self.stored_bytes(scalar);
                let bytes: Vec<Term> = (0..count).map(|i| self.read(t, s, spot, i)).collect();
                self.value_of(t, s, scalar, &bytes)
            }
        }
    }

    /// The bytes that hold a bit-field, as a number.
    fn unit(&self, t: &mut Terms, s: &State, spot: Spot, range: BitRange) -> Term {
        let count = u64::from(range.first + range.width).div_ceil(8);
        let mut all: Option<Term> = None;
        for i in 0..count {
            let byte = self.read(t, s, spot, i);
            let bits = parts(t, byte, 8).1;
            all = Some(all.map_or(bits, |low| t.concat(bits, low)));
        }
        all.unwrap_or_else(|| t.bv(8, 0))
    }

    /// Bytes that a store of a scalar writes.
    pub fn stored_bytes(&self, scalar: Scalar) -> u64 {
        let bits = if scalar == Scalar::Ptr { self.layout.width } else { self.layout.bits(scalar) };
        u64::from(bits.div_ceil(8))
    }

    /// Writes a scalar place.
    pub fn store(&mut self, t: &mut Terms, s: &mut State, place: PlaceId, value: Term) {
        let p = self.program;
        if let Base::Var(var) = p.places[place].base
            && let Home::Register(slot) = self.layout.homes[var]
        {
            return s.set(slot, value);
        }
        let scalar = p.place_scalar(place).expect("the verifier admits scalar places only here");
        let spot = self.spot(t, s, place);
        let bytes = match p.places[place].bits {
            Some(range) => {
                let old = self.unit(t, s, spot, range);
                let (first, width) = (u32::from(range.first), t.width(old));
                let end = first + u32::from(range.width);
                let mut new = value;
                if first > 0 {
                    let low = t.extract(old, first - 1, 0);
                    new = t.concat(new, low);
                }
                if end < width {
                    let high = t.extract(old, width - 1, end);
                    new = t.concat(high, new);
                }
                self.bytes_of(t, Scalar::Int(IntTy { bits: width as u16, signed: false }), new)
            }
            None => {
                if self.may_be_outside(t, spot) {
                    self.give_away(t, scalar, value);
                }
                self.bytes_of(t, scalar, value)
            }
        };
        for (i, &byte) in bytes.iter().enumerate() {
            self.write(t, s, spot, i as u64, byte);
        }
    }

    /// The value of a scalar variable in memory.
    pub fn load_variable(&mut self, t: &mut Terms, s: &State, var: VarId, scalar: Scalar) -> Term {
        let spot = self.variable_spot(t, var);
        let bytes: Vec<Term> = (0..self.stored_bytes(scalar)).map(|i| self.read(t, s, spot, i)).collect();
        self.value_of(t, s, scalar, &bytes)
    }

    /// Writes a scalar variable, wherever it lives.
    pub fn put(&mut self, t: &mut Terms, s: &mut State, var: VarId, scalar: Scalar, value: Term) {
        if let Home::Register(slot) = self.layout.homes[var] {
            return s.set(slot, value);
        }
        let spot = self.variable_spot(t, var);
        for (i, byte) in self.bytes_of(t, scalar, value).into_iter().enumerate() {
            self.write(t, s, spot, i as u64, byte);
        }
    }

    /// Whether a scalar variable is as [`Encoder::put`] leaves it.
    pub fn holds(&mut self, t: &mut Terms, s: &State, var: VarId, scalar: Scalar, value: Term) -> Term {
        if let Home::Register(slot) = self.layout.homes[var] {
            return t.eq(s.get(slot), value);
        }
        let spot = self.variable_spot(t, var);
        let mut all = t.tru();
        for (i, byte) in self.bytes_of(t, scalar, value).into_iter().enumerate() {
            let found = self.read(t, s, spot, i as u64);
            let same = t.eq(found, byte);
            all = t.and(all, same);
        }
        all
    }

    fn variable_spot(&self, t: &mut Terms, var: VarId) -> Spot {
        match self.layout.homes[var] {
            Home::Part { of, offset } => Spot::Named(of, t.bv(self.layout.width, offset)),
            _ => Spot::Named(var, t.bv(self.layout.width, 0)),
        }
    }

    /// Whatever a pointer may reach becomes arbitrary.
    pub fn forget(&self, t: &mut Terms, s: &mut State) {
        for &var in &self.layout.exposed {
            if !self.program.vars[var].read_only {
                self.forget_variable(t, s, var);
            }
        }
        let (sort, name) = &self.layout.sorts[self.layout.heap];
        let heap = t.fresh_var(name, *sort);
        s.set(self.layout.heap, heap);
    }

    /// A variable gets arbitrary contents.
    pub fn forget_variable(&self, t: &mut Terms, s: &mut State, var: VarId) {
        if let Home::Register(slot) | Home::Memory { bytes: slot, .. } = self.layout.homes[var] {
            let (sort, name) = &self.layout.sorts[slot];
            let value = t.fresh_var(name, *sort);
            s.set(slot, value);
        }
    }

    /// All bytes of a spot become arbitrary.
    fn forget_spot(&self, t: &mut Terms, s: &mut State, spot: Spot) {
        match spot {
            Spot::Named(var, _) => self.forget_variable(t, s, var),
            Spot::At(_) => self.forget(t, s),
        }
    }

    /// Copies bytes as `memmove` does.
    pub fn copy(&self, t: &mut Terms, s: &mut State, to: Spot, from: Spot, size: Option<u64>) {
        let Some(size) = size.filter(|n| *n <= MANY) else { return self.forget_spot(t, s, to) };
        let bytes: Vec<Term> = (0..size).map(|i| self.read(t, s, from, i)).collect();
        if self.may_be_outside(t, to) {
            self.gave_away.set(true);
        }
        for (i, &byte) in bytes.iter().enumerate() {
            self.write(t, s, to, i as u64, byte);
        }
    }

    /// Whether a spot may be in memory that is not the program's.
    fn may_be_outside(&self, t: &mut Terms, spot: Spot) -> bool {
        let Spot::At(pointer) = spot else { return false };
        let (object, none) = (self.object(t, pointer), t.bv(OBJECT, 0));
        let outside = t.eq(object, none);
        t.bool_value(outside) != Some(false)
    }

    /// Sets bytes to a value, or each to anything.
    pub fn fill(&self, t: &mut Terms, s: &mut State, to: Spot, byte: Option<Term>, size: Option<u64>) {
        let Some(size) = size.filter(|n| *n <= MANY) else { return self.forget_spot(t, s, to) };
        for i in 0..size {
            let byte = byte.unwrap_or_else(|| t.fresh_var("byte", Sort::BitVec(BYTE)));
            self.write(t, s, to, i, byte);
        }
    }

    /// The image of a global at the start: its bytes from offset 0 on, all others being zero.
    pub fn image(&mut self, t: &mut Terms, items: &[InitItem]) -> Result<Vec<(u64, Term)>, Rejection> {
        let mut out = Vec::new();
        for item in items {
            let bytes: Vec<Term> = match &item.value {
                InitValue::Bytes(run) => run
                    .iter()
                    .map(|&b| {
                        let bits = t.bv(8, u64::from(b));
                        self.plain_byte(t, bits)
                    })
                    .collect(),
                InitValue::Int(ty, bits) => {
                    let value = constant(t, u32::from(ty.bits), *bits);
                    self.bytes_of(t, Scalar::Int(*ty), value)
                }
                InitValue::Float(ty, bits) => {
                    let value = constant(t, u32::from(ty.bits()), *bits);
                    self.bytes_of(t, Scalar::Float(*ty), value)
                }
                InitValue::Addr(var, offset) => {
                    let pointer = self.pointer_to(t, self.layout.variable(*var), *offset as i128 as u128);
                    self.bytes_of(t, Scalar::Ptr, pointer)
                }
                InitValue::Func(func) => {
                    let pointer = self.pointer_to(t, self.layout.function(*func), 0);
                    self.bytes_of(t, Scalar::Ptr, pointer)
                }
                InitValue::Absolute(address) => {
                    let pointer = self.pointer_to(t, 0, u128::from(*address));
                    self.bytes_of(t, Scalar::Ptr, pointer)
                }
            };
            out.extend(bytes.into_iter().enumerate().map(|(i, byte)| (item.offset + i as u64, byte)));
            if out.len() > MANY_INITIAL {
                return Err(Rejection::GaveUp("an initial image is too large".into()));
            }
        }
        Ok(out)
    }
}

/// The high part and the `low` low bits of a term.
fn parts(t: &mut Terms, whole: Term, low: u32) -> (Term, Term) {
    let width = t.width(whole);
    if let (palisade_logic::Op::Concat, &[a, b]) = (t.op(whole), t.args(whole))
        && t.width(b) == low
    {
        return (a, b);
    }
    (t.extract(whole, width - 1, low), t.extract(whole, low - 1, 0))
}

/// More initialised bytes of a variable are too many.
const MANY_INITIAL: usize = 1 << 14;
