//! Loads, stores and block operations on regions.

use crate::encoder::Encoder;
use crate::layout::OBJ_BITS;
use crate::pointsto::{Cell, NodeId};
use crate::regions::{CellKind, RegionId, extent, register_of};
use crate::state::State;
use palisade_cfa::*;
use palisade_logic::{Sort, Term, Terms};

/// Indices that are paired at most.
const PAIRED: usize = 8;

/// Values of the ghosts for which facts about all elements are used: the indices that were met. Where there are two
/// ghosts and no access by two indices, facts may be about two elements of one array: then all pairs of what was met
/// and of the ghosts.
pub fn instances(mut met: Vec<Vec<Term>>, ghosts: &[Term]) -> Vec<Vec<Term>> {
    if ghosts.len() == 2 && met.iter().all(|values| values.len() == 1) {
        met.push(vec![ghosts[1]]);
        let single: Vec<Term> = met.iter().map(|values| values[0]).take(PAIRED).chain([ghosts[0]]).collect();
        for &a in &single {
            met.extend(single.iter().filter(|b| **b != a).map(|&b| vec![a, b]));
        }
    }
    met
}

/// The indices on the way to a place, outermost first: those of its path, and those added to the pointer it starts
/// at. A row of an array whose dimensions are no constants in the source is selected by a product with its size; its
/// index is the other factor.
pub fn indices(program: &Program, place: PlaceId) -> Vec<ExprId> {
    let mut found: Vec<ExprId> = Vec::new();
    let place = &program.places[place];
    for step in place.path.iter().rev() {
        if let Proj::Index { index, .. } = *step {
            found.push(index);
        }
    }
    let mut base = place.base;
    while let Base::Deref(pointer) = base
        && let ExprKind::PtrAdd { ptr, index, .. } = program.exprs[pointer].kind
    {
        let row = match program.exprs[index].kind {
            ExprKind::Binary(BinOp::Mul, a, b) if !found.is_empty() => {
                let constant = |e: ExprId| matches!(program.exprs[e].kind, ExprKind::Int(_));
                [(a, b), (b, a)].into_iter().find(|(_, b)| constant(*b)).map(|(a, _)| a)
            }
            _ => None,
        };
        found.push(row.unwrap_or(index));
        base = Base::Deref(ptr);
    }
    found.reverse();
    found
}

/// Block operations up to this many bytes are done cell by cell; larger ones forget what they
/// overwrite.
const MANY_BYTES: u64 = 4096;

/// A cell that a block operation covers, as a whole or in part.
#[derive(Clone, Copy, Debug)]
struct Covered {
    region: RegionId,
    /// Where the cell begins, counted from the start of the block; negative before it.
    at: i64,
    /// Bytes of the cell.
    bytes: u64,
    /// The first covered byte of the cell.
    first: u64,
    /// One past the last covered byte of the cell.
    end: u64,
}

impl Encoder<'_> {
    /// The value of a scalar place.
    pub(crate) fn load(&mut self, terms: &mut Terms, s: &State, place: PlaceId) -> Term {
        if let Some(slot) = register_of(self.program, place).and_then(|v| self.layout.register(v)) {
            return s.slots.get(slot);
        }
        let bits = self.place_bits(place);
        let (skip, size, _) = extent(self.program, place);
        let pointer = self.place_pointer(terms, s, place);
        let pointer = self.shifted(terms, pointer, skip);
        let Some(region) = self.region_of(place, skip) else {
            return self.unknown(terms, Sort::BitVec(bits), false);
        };
        let pointer_place = self.program.place_scalar(place) == Some(Scalar::Ptr);
        // A fact may read as a whole what the program reads only in parts; nothing is known of that.
        if matches!(self.regions.regions[region].kind, CellKind::Bits(n) if n < size) {
            return self.unknown(terms, Sort::BitVec(bits), false);
        }
        let raw = self.load_cell(terms, s, region, pointer, size, pointer_place);
        match self.program.places[place].bits {
            Some(range) => {
                let first = u32::from(range.first) % 8;
                terms.extract(raw, first + u32::from(range.width) - 1, first)
            }
            None if pointer_place => raw,
            None => terms.extract(raw, bits - 1, 0),
        }
    }

    /// Writes a scalar place.
    pub(crate) fn store(&mut self, terms: &mut Terms, s: &mut State, place: PlaceId, value: Term) {
        if let Some(slot) = register_of(self.program, place).and_then(|v| self.layout.register(v)) {
            s.slots.set(slot, value);
            return;
        }
        let (skip, size, _) = extent(self.program, place);
        let pointer = self.place_pointer(terms, s, place);
        let pointer = self.shifted(terms, pointer, skip);
        let Some(region) = self.region_of(place, skip) else { return };
        let pointer_place = self.program.place_scalar(place) == Some(Scalar::Ptr);
        let value = match self.program.places[place].bits {
            Some(range) => {
                let old = self.load_cell(terms, s, region, pointer, size, false);
                let first = u32::from(range.first) % 8;
                let width = terms.width(old);
                let end = first + u32::from(range.width);
                let mut new = value;
                if first > 0 {
                    let low = terms.extract(old, first - 1, 0);
                    new = terms.concat(new, low);
                }
                if end < width {
                    let high = terms.extract(old, width - 1, end);
                    new = terms.concat(high, new);
                }
                new
            }
            None if pointer_place => value,
            None => {
                let width = terms.width(value);
                terms.zero_extend(value, 8 * size as u32 - width)
            }
        };
        self.store_cell(terms, s, region, pointer, value, pointer_place);
    }

    fn region_of(&self, place: PlaceId, skip: u64) -> Option<RegionId> {
        let cell = self.regions.place_cell(place).or_else(|| {
            // A place of an invariant.
            self.regions.points_to.lookup(self.program, place)
        })?;
        let cell = self.regions.points_to.find(Cell { off: cell.off + skip as i64, ..cell });
        self.regions.region_at(cell)
    }

    /// Reads `size` bytes; the result is a pointer if `pointer_value`, else `8 * size` bits.
    fn load_cell(
        &mut self,
        terms: &mut Terms,
        s: &State,
        region: RegionId,
        pointer: Term,
        size: u64,
        pointer_value: bool,
    ) -> Term {
        let contents = s.slots.get(self.layout.region(region));
        let r = &self.regions.regions[region];
        let (kind, single) = (r.kind, r.single);
        match kind {
            CellKind::Byte => {
                let mut value = None;
                for i in 0..size {
                    let at = self.shifted(terms, pointer, i);
                    let index = self.index(terms, region, at);
                    let byte = terms.select(contents, index);
                    value = Some(value.map_or(byte, |low| terms.concat(byte, low)));
                }
                let value = value.unwrap_or_else(|| terms.bv(8, 0));
                if pointer_value { self.int_to_ptr(terms, value) } else { value }
            }
            CellKind::Bits(_) | CellKind::Ptr => {
                let cell = if single {
                    contents
                } else {
                    let index = self.index(terms, region, pointer);
                    terms.select(contents, index)
                };
                match (kind == CellKind::Ptr, pointer_value) {
                    (true, false) => self.ptr_to_int(terms, cell),
                    (false, true) => self.int_to_ptr(terms, cell),
                    _ => cell,
                }
            }
        }
    }

    /// Writes a whole cell, or a run of bytes.
    fn store_cell(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        region: RegionId,
        pointer: Term,
        value: Term,
        pointer_value: bool,
    ) {
        let slot = self.layout.region(region);
        let r = &self.regions.regions[region];
        let (kind, single) = (r.kind, r.single);
        let contents = s.slots.get(slot);
        let new = match kind {
            CellKind::Byte => {
                let value = if pointer_value { self.ptr_to_int(terms, value) } else { value };
                let mut array = contents;
                for i in 0..terms.width(value) / 8 {
                    let at = self.shifted(terms, pointer, u64::from(i));
                    let index = self.index(terms, region, at);
                    let byte = terms.extract(value, 8 * i + 7, 8 * i);
                    array = terms.store(array, index, byte);
                }
                array
            }
            CellKind::Bits(_) | CellKind::Ptr => {
                let value = match (kind == CellKind::Ptr, pointer_value) {
                    (true, false) => self.int_to_ptr(terms, value),
                    (false, true) => self.ptr_to_int(terms, value),
                    _ => value,
                };
                if single {
                    value
                } else {
                    let index = self.index(terms, region, pointer);
                    terms.store(contents, index, value)
                }
            }
        };
        s.slots.set(slot, new);
    }

    /// How a region tells its cells apart.
    fn index(&self, terms: &mut Terms, region: RegionId, pointer: Term) -> Term {
        if self.regions.regions[region].one_object { self.offset(terms, pointer) } else { pointer }
    }

    /// The pointer some bytes further.
    pub(crate) fn shifted(&self, terms: &mut Terms, pointer: Term, by: u64) -> Term {
        if by == 0 {
            return pointer;
        }
        let by = terms.bv(self.layout.off_bits, by);
        self.moved(terms, pointer, by)
    }

    /// The pointer moved by an offset term.
    pub(crate) fn moved(&self, terms: &mut Terms, pointer: Term, by: Term) -> Term {
        let object = self.object(terms, pointer);
        let offset = self.offset(terms, pointer);
        let offset = terms.add(offset, by);
        terms.concat(object, offset)
    }

    /// The address of a place in memory.
    pub(crate) fn place_pointer(&mut self, terms: &mut Terms, s: &State, place: PlaceId) -> Term {
        let program = self.program;
        self.note_indices(terms, s, place);
        let p = &program.places[place];
        let mut pointer = match p.base {
            Base::Var(var) => {
                let object = self.object_of_var(terms, s, var);
                let zero = terms.bv(self.layout.off_bits, 0);
                terms.concat(object, zero)
            }
            Base::Deref(e) => self.expr(terms, s, e),
        };
        for step in &p.path {
            pointer = match *step {
                Proj::Field { record, field } => {
                    self.shifted(terms, pointer, program.field(record, field).offset)
                }
                Proj::Index { index, stride } => {
                    let by = self.scaled(terms, s, index, stride);
                    self.moved(terms, pointer, by)
                }
            };
        }
        pointer
    }

    fn note_indices(&mut self, terms: &mut Terms, s: &State, place: PlaceId) {
        let Some(mut known) = self.indices.take() else { return };
        let values: Vec<Term> = indices(self.program, place)
            .into_iter()
            .map(|index| {
                let value = self.expr(terms, s, index);
                let signed = self.program.exprs[index].ty.int().is_some_and(|t| t.signed);
                resize(terms, value, 64, signed)
            })
            .collect();
        if !values.is_empty() && !known.contains(&values) {
            known.push(values);
        }
        self.indices = Some(known);
    }

    /// `index * stride` as an offset.
    pub(crate) fn scaled(&mut self, terms: &mut Terms, s: &State, index: ExprId, stride: u64) -> Term {
        let value = self.expr(terms, s, index);
        let signed = self.program.exprs[index].ty.int().is_some_and(|t| t.signed);
        let value = resize(terms, value, self.layout.off_bits, signed);
        let stride = terms.bv(self.layout.off_bits, stride);
        terms.mul(value, stride)
    }

    /// Copies bytes between two positions of one node, as `memmove` does.
    pub(crate) fn copy_bytes(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        (to, to_cell): (Term, Cell),
        (from, from_cell): (Term, Cell),
        size: u64,
    ) {
        if to_cell != from_cell || size > MANY_BYTES {
            return self.forget_node(terms, s, to_cell.node);
        }
        // All is read before anything is written: the ranges may overlap.
        let mut read = Vec::new();
        for covered in self.cells(to_cell, size) {
            let at = self.placed(terms, from, covered.at);
            let value = self.read_raw(terms, s, covered.region, at);
            read.push((covered, value));
        }
        for (covered, value) in read {
            self.write_covered(terms, s, to, covered, Some(value));
        }
    }

    /// Sets bytes to a value, or to anything.
    pub(crate) fn fill_bytes(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        (to, cell): (Term, Cell),
        byte: Option<Term>,
        size: u64,
    ) {
        if size > MANY_BYTES {
            return self.forget_node(terms, s, cell.node);
        }
        for covered in self.cells(cell, size) {
            let value = byte.map(|byte| self.repeated(terms, covered.region, byte));
            self.write_covered(terms, s, to, covered, value);
        }
    }

    /// Writes the covered bytes of a cell: those of `value`, or anything. The others stay, where
    /// bytes of the cell can be told apart.
    fn write_covered(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        start: Term,
        covered: Covered,
        value: Option<Term>,
    ) {
        let Covered { region, at, bytes, first, end } = covered;
        let pointer = self.placed(terms, start, at);
        if (first, end) == (0, bytes) {
            return self.write_raw(terms, s, region, pointer, value);
        }
        if self.regions.regions[region].kind == CellKind::Ptr {
            return self.write_raw(terms, s, region, pointer, None);
        }
        let width = 8 * bytes as u32;
        let (first, end) = (8 * first as u32, 8 * end as u32);
        let value = value.unwrap_or_else(|| self.unknown(terms, Sort::BitVec(width), false));
        let old = self.read_raw(terms, s, region, pointer);
        let mut new = terms.extract(value, end - 1, first);
        if first > 0 {
            let low = terms.extract(old, first - 1, 0);
            new = terms.concat(new, low);
        }
        if end < width {
            let high = terms.extract(old, width - 1, end);
            new = terms.concat(high, new);
        }
        self.write_raw(terms, s, region, pointer, Some(new));
    }

    /// Sets the bytes of an object that nobody has seen yet; what is not set is arbitrary already.
    pub(crate) fn fill_bytes_of_fresh(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        (to, cell): (Term, Cell),
        byte: Term,
        size: u64,
    ) {
        for covered in self.cells(cell, size.min(MANY_BYTES)) {
            if (covered.first, covered.end) == (0, covered.bytes) {
                let value = self.repeated(terms, covered.region, byte);
                self.write_covered(terms, s, to, covered, Some(value));
            }
        }
    }

    /// A cell's contents when all its bytes are `byte`.
    fn repeated(&mut self, terms: &mut Terms, region: RegionId, byte: Term) -> Term {
        match self.regions.regions[region].kind {
            CellKind::Byte => byte,
            CellKind::Bits(bytes) => terms.repeat(byte, bytes as u32),
            CellKind::Ptr => {
                let int = terms.repeat(byte, self.layout.off_bits / 8);
                self.int_to_ptr(terms, int)
            }
        }
    }

    /// The cells that share a byte with the `size` bytes from `start` on. A cell may begin before
    /// `start` and end after the last byte.
    fn cells(&self, start: Cell, size: u64) -> Vec<Covered> {
        let node = self.regions.points_to.find(start).node;
        let regions = self.regions.regions_of(node);
        let longest = regions.iter().map(|&r| self.cell_bytes(r)).max().unwrap_or(1) as i64;
        let mut out = Vec::new();
        for at in 1 - longest..size as i64 {
            let cell = self.regions.points_to.find(Cell { off: start.off + at, ..start });
            for &region in regions {
                let r = &self.regions.regions[region];
                let begins = match r.kind {
                    CellKind::Byte => (r.at.off..r.end).contains(&cell.off),
                    CellKind::Bits(_) | CellKind::Ptr => r.at.off == cell.off,
                };
                let bytes = self.cell_bytes(region);
                if begins && at + bytes as i64 > 0 {
                    let first = (-at).max(0) as u64;
                    let end = bytes.min((size as i64 - at) as u64);
                    out.push(Covered { region, at, bytes, first, end });
                }
            }
        }
        out
    }

    /// Bytes of a region's cells.
    fn cell_bytes(&self, region: RegionId) -> u64 {
        match self.regions.regions[region].kind {
            CellKind::Byte => 1,
            CellKind::Bits(bytes) => bytes,
            CellKind::Ptr => u64::from(self.layout.off_bits / 8),
        }
    }

    /// The pointer some bytes further or back.
    fn placed(&self, terms: &mut Terms, pointer: Term, by: i64) -> Term {
        if by == 0 {
            return pointer;
        }
        let by = terms.bv_signed(self.layout.off_bits, i128::from(by));
        self.moved(terms, pointer, by)
    }

    fn read_raw(&mut self, terms: &mut Terms, s: &State, region: RegionId, pointer: Term) -> Term {
        let contents = s.slots.get(self.layout.region(region));
        if self.regions.regions[region].single {
            return contents;
        }
        let index = self.index(terms, region, pointer);
        terms.select(contents, index)
    }

    /// Writes a cell in its own format; `None` makes it arbitrary.
    pub(crate) fn write_raw(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        region: RegionId,
        pointer: Term,
        value: Option<Term>,
    ) {
        let slot = self.layout.region(region);
        let width = match self.layout.slots[slot].0 {
            Sort::Array { elem, .. } => elem,
            Sort::BitVec(width) => width,
            Sort::Bool => return,
        };
        let value = value.unwrap_or_else(|| self.unknown(terms, Sort::BitVec(width), false));
        let new = if self.regions.regions[region].single {
            value
        } else {
            let index = self.index(terms, region, pointer);
            terms.store(s.slots.get(slot), index, value)
        };
        s.slots.set(slot, new);
    }

    /// All cells of a region become arbitrary.
    pub(crate) fn forget_region(&mut self, terms: &mut Terms, s: &mut State, region: RegionId) {
        let slot = self.layout.region(region);
        let value = self.unknown(terms, self.layout.slots[slot].0, false);
        s.slots.set(slot, value);
    }

    /// All cells of all objects of a node become arbitrary.
    pub(crate) fn forget_node(&mut self, terms: &mut Terms, s: &mut State, node: NodeId) {
        for region in self.regions.regions_of(node).to_vec() {
            self.forget_region(terms, s, region);
        }
    }

    /// Writes the image of a global into a starting state.
    pub(crate) fn initial_global(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        var: VarId,
        items: &[InitItem],
    ) {
        let ty = self.program.vars[var].ty;
        if let Some(slot) = self.layout.register(var) {
            let scalar = self.program.scalar_of(ty).expect("registers are scalars");
            let value = match items.first() {
                Some(item) => self.init_value(terms, item, self.layout.bits(scalar)),
                None => Some(terms.bv(self.layout.bits(scalar), 0)),
            };
            if let Some(value) = value {
                s.slots.set(slot, value);
            }
            return;
        }
        let (Some(home), Some(size)) = (self.regions.points_to.home(var), self.program.size_of(ty)) else {
            return;
        };
        let object = terms.bv(OBJ_BITS, self.layout.var_object(var));
        let zero = terms.bv(self.layout.off_bits, 0);
        let start = terms.concat(object, zero);
        let bytes = Bytes::new(self.program, items);
        let limit = size.min(crate::regions::MANY_CELLS);
        // Small globals cell by cell; of large ones only what is not zero, and that only where the
        // region starts as zero (elsewhere it starts as anything, which covers the image).
        let positions: Vec<u64> = if size <= limit { (0..size).collect() } else { bytes.positions() };
        for off in positions {
            let cell = self.regions.points_to.find(Cell { off: home.off + off as i64, ..home });
            for region in self.regions.regions_of(cell.node).to_vec() {
                let r = self.regions.regions[region].clone();
                let width = match r.kind {
                    CellKind::Byte if (r.at.off..r.end).contains(&cell.off) => 1,
                    CellKind::Bits(n) if r.at.off == cell.off => n,
                    CellKind::Ptr if r.at.off == cell.off => u64::from(self.layout.off_bits / 8),
                    _ => continue,
                };
                let value = self.image_cell(terms, &bytes, items, off, width, r.kind);
                let at = self.shifted(terms, start, off);
                if let Some(value) = value {
                    self.write_raw(terms, s, region, at, Some(value));
                } else if r.zero_base && !r.unknown_base {
                    self.write_raw(terms, s, region, at, None);
                }
            }
        }
    }

    /// A cell of an image: a pointer item as it is, else its bytes; `None` if it cannot be told.
    fn image_cell(
        &mut self,
        terms: &mut Terms,
        bytes: &Bytes,
        items: &[InitItem],
        off: u64,
        width: u64,
        kind: CellKind,
    ) -> Option<Term> {
        if let Ok(i) = items.binary_search_by_key(&off, |item| item.offset) {
            let pointer =
                matches!(items[i].value, InitValue::Addr(..) | InitValue::Func(_) | InitValue::Absolute(_));
            if pointer && kind == CellKind::Ptr {
                return self.init_value(terms, &items[i], self.layout.ptr_bits());
            }
        }
        let raw = bytes.word(off, width)?;
        match kind {
            CellKind::Ptr => {
                let int = self.constant(terms, self.layout.off_bits, raw);
                Some(self.int_to_ptr(terms, int))
            }
            _ if width <= 16 => Some(self.constant(terms, 8 * width as u32, raw)),
            _ => None,
        }
    }

    fn init_value(&mut self, terms: &mut Terms, item: &InitItem, width: u32) -> Option<Term> {
        let off_bits = self.layout.off_bits;
        Some(match item.value {
            InitValue::Int(_, bits) if width == self.layout.ptr_bits() => {
                let int = self.constant(terms, off_bits, bits);
                self.int_to_ptr(terms, int)
            }
            InitValue::Int(_, bits) | InitValue::Float(_, bits) => self.constant(terms, width, bits),
            InitValue::Addr(var, off) => {
                let object = terms.bv(OBJ_BITS, self.layout.var_object(var));
                let off = terms.bv_signed(off_bits, i128::from(off));
                let pointer = terms.concat(object, off);
                if width == self.layout.ptr_bits() { pointer } else { self.ptr_to_int(terms, pointer) }
            }
            InitValue::Func(func) => {
                let object = terms.bv(OBJ_BITS, self.layout.func_object(func));
                let off = terms.bv(off_bits, 0);
                let pointer = terms.concat(object, off);
                if width == self.layout.ptr_bits() { pointer } else { self.ptr_to_int(terms, pointer) }
            }
            InitValue::Absolute(address) => {
                let int = terms.bv(off_bits, address);
                if width == self.layout.ptr_bits() { self.int_to_ptr(terms, int) } else { int }
            }
            InitValue::Bytes(ref bytes) => {
                let bits = bytes.iter().take(16).rev().fold(0, |acc, &b| acc << 8 | u128::from(b));
                self.constant(terms, width, bits)
            }
        })
    }
}

/// The bytes of an image, as far as they are numbers.
struct Bytes(std::collections::BTreeMap<u64, Option<u8>>);

impl Bytes {
    fn new(program: &Program, items: &[InitItem]) -> Self {
        let mut bytes = std::collections::BTreeMap::new();
        let pointer = u64::from(program.data_model.ptr_bits()) / 8;
        for item in items {
            let mut number = |n: u64, bits: u128| {
                for i in 0..n {
                    let byte = if i < 16 { (bits >> (8 * i)) as u8 } else { 0 };
                    bytes.insert(item.offset + i, Some(byte));
                }
            };
            match &item.value {
                InitValue::Int(t, bits) => number(u64::from(t.bits).div_ceil(8), *bits),
                InitValue::Float(t, bits) => number(u64::from(t.bits()) / 8, *bits),
                InitValue::Absolute(address) => number(pointer, u128::from(*address)),
                InitValue::Bytes(run) => {
                    for (i, &b) in run.iter().enumerate() {
                        bytes.insert(item.offset + i as u64, Some(b));
                    }
                }
                InitValue::Addr(..) | InitValue::Func(_) => {
                    for i in 0..pointer {
                        bytes.insert(item.offset + i, None);
                    }
                }
            }
        }
        Bytes(bytes)
    }

    fn word(&self, off: u64, width: u64) -> Option<u128> {
        (0..width.min(16)).rev().try_fold(0u128, |acc, i| {
            Some(acc << 8 | u128::from(self.0.get(&(off + i)).copied().unwrap_or(Some(0))?))
        })
    }

    /// Offsets at which a cell that holds one of the bytes may begin.
    fn positions(&self) -> Vec<u64> {
        let starts: std::collections::BTreeSet<u64> =
            self.0.keys().flat_map(|&k| k.saturating_sub(15)..=k).collect();
        starts.into_iter().collect()
    }
}

/// Truncates or extends a bit-vector.
pub(crate) fn resize(terms: &mut Terms, value: Term, width: u32, signed: bool) -> Term {
    let from = terms.width(value);
    if width <= from {
        terms.extract(value, width - 1, 0)
    } else if signed {
        terms.sign_extend(value, width - from)
    } else {
        terms.zero_extend(value, width - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_made_of_single_indices_and_ghosts() {
        let mut terms = Terms::new();
        let [i, j, k, l] = ["i", "j", "k", "l"].map(|name| terms.var(name, Sort::BitVec(64)));
        let met = vec![vec![i], vec![j]];
        let found = instances(met.clone(), &[k, l]);
        let pairs = found.iter().filter(|values| values.len() == 2).count();
        assert!(pairs == 12 && found.contains(&vec![k, i]) && found.contains(&vec![j, l]));
        // A fact about one element holds for the second ghost as well.
        assert!(found.contains(&vec![l]) && found.starts_with(&met));
        assert_eq!(instances(met.clone(), &[k]), met);
        let rows = vec![vec![i], vec![i, j]];
        assert_eq!(instances(rows.clone(), &[k, l]), rows);
    }
}
