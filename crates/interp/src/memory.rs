//! Objects and addresses.
//!
//! A pointer is an address together with the object it was made for (its provenance). Objects have
//! concrete, deterministic base addresses with gaps between them, so that pointers can be printed,
//! hashed, and converted to integers and back. In memory a pointer is its bytes; the object is
//! found again from the address. Only where that would find another object (a pointer far outside
//! of its own one) does the object that holds the pointer remember the provenance on the side.
//!
//! With 64-bit pointers the upper half of an address names the object. With 32-bit pointers live
//! objects are kept sorted by address.

use crate::contents::{Contents, LARGE};
use palisade_cfa::{DataModel, IntTy};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// The object a pointer was made for: 0 for none, otherwise the number of the object plus one in
/// the lower half and its generation in the upper half.
pub(crate) type Prov = u64;

/// A pointer: address and provenance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pointer {
    pub addr: u64,
    pub prov: Prov,
}

/// Why memory is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Global,
    Local,
    Heap,
    /// `alloca` and arrays of variable length.
    Stack,
}

#[derive(Debug)]
pub(crate) struct Object {
    pub base: u64,
    pub data: Contents,
    /// What was counted for it.
    cost: u64,
    pub kind: Kind,
    pub live: bool,
    pub read_only: bool,
    generation: u32,
    /// Provenance of pointers stored at an offset whose address alone would not tell it, with that
    /// address: an entry counts only as long as the bytes still hold it.
    far: Option<Box<FxHashMap<u64, Pointer>>>,
}

/// Why an access is bad.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadAccess {
    /// Through a null pointer, or one close to it.
    Null,
    /// Through a pointer to no object.
    Wild,
    /// To an object whose life has ended.
    Dangling,
    /// Outside of the pointer's object.
    OutOfBounds,
    /// A write to a read-only object.
    ReadOnly,
}

#[derive(Debug)]
pub(crate) struct Memory {
    pub objects: Vec<Object>,
    /// Dead objects whose numbers can be used again, oldest first.
    free: VecDeque<u32>,
    /// Live objects by address, with 32-bit pointers only.
    sorted: Option<BTreeMap<u64, u32>>,
    next: u64,
    made: u64,
    pub mask: u64,
    pub ptr_bytes: usize,
    pub used: u64,
    limit: u64,
    live_heap: u64,
    /// Objects that take more the more is written to them.
    paged: Vec<u32>,
}

/// Memory is exhausted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OutOfMemory;

/// Functions have addresses too, 16 bytes apart.
const FUNCTIONS: u64 = 0x40_0000;
const LOW32: u64 = 0x0804_0000;
const HIGH32: u64 = 0xf000_0000;
/// Where an object with a 64-bit address starts inside of its 4 GB.
const LOW64: u64 = 0x1000_0000;
/// Numbers are used again only after this many others died, so that dangling pointers are found.
const QUARANTINE: usize = 1 << 16;
/// Bytes an object costs besides its contents.
const OVERHEAD: u64 = 96;
const LARGEST: u64 = 0xc000_0000;

impl Memory {
    pub fn new(model: DataModel, limit: u64) -> Memory {
        let narrow = model == DataModel::Ilp32;
        let mut memory = Memory {
            objects: Vec::new(),
            free: VecDeque::new(),
            sorted: narrow.then(BTreeMap::new),
            next: LOW32,
            made: 0,
            mask: if narrow { u64::from(u32::MAX) } else { u64::MAX },
            ptr_bytes: usize::from(model.ptr_bits()) / 8,
            used: 0,
            limit,
            live_heap: 0,
            paged: Vec::new(),
        };
        // Number 0 stays unused: small addresses belong to no object.
        memory.objects.push(Object {
            base: 0,
            data: Contents::default(),
            cost: 0,
            kind: Kind::Global,
            live: false,
            read_only: true,
            generation: 1,
            far: None,
        });
        memory
    }

    /// A new object of zero bytes.
    pub fn create(&mut self, size: u64, kind: Kind) -> Result<u32, OutOfMemory> {
        if size > LARGEST {
            return Err(OutOfMemory);
        }
        // What is not flat takes little before it is written. Variables are looked at as bytes side by side.
        let asked_for = matches!(kind, Kind::Heap | Kind::Stack);
        let data = (asked_for && size >= LARGE).then(|| Contents::paged(size));
        let cost = data.as_ref().map_or(size, Contents::cost) + OVERHEAD;
        if cost > self.limit.saturating_sub(self.used) {
            return Err(OutOfMemory);
        }
        let paged = data.is_some();
        let id = match self.free.len() > QUARANTINE {
            true => self.free.pop_front().unwrap_or(0),
            false => self.objects.len() as u32,
        };
        if id >= 1 << 24 {
            return Err(OutOfMemory);
        }
        if id as usize == self.objects.len() {
            self.objects.push(Object {
                base: 0,
                data: Contents::default(),
                cost: 0,
                kind,
                live: false,
                read_only: false,
                generation: 0,
                far: None,
            });
        }
        let generation = self.objects[id as usize].generation;
        let base = match &self.sorted {
            None => {
                // Low bits differ between objects, for programs that hash pointers.
                let low = LOW64 + (self.made.wrapping_mul(0x40) & 0x0fff_ffc0);
                u64::from(generation & 0x7f) << 56 | u64::from(id) << 32 | low
            }
            Some(_) => self.address32(size).ok_or(OutOfMemory)?,
        };
        self.made += 1;
        self.used += cost;
        self.live_heap += u64::from(kind == Kind::Heap);
        if let Some(sorted) = &mut self.sorted {
            sorted.insert(base, id);
        }
        let object = &mut self.objects[id as usize];
        object.base = base;
        object.data = data.unwrap_or_else(|| Contents::flat(size));
        object.cost = cost;
        object.kind = kind;
        object.live = true;
        object.read_only = false;
        object.far = None;
        if paged {
            self.paged.push(id);
        }
        Ok(id)
    }

    /// A free range of 32-bit addresses: behind the last one made, or after the space is used up
    /// the first gap from the start on.
    fn address32(&mut self, size: u64) -> Option<u64> {
        let need = (size + 31) & !15;
        for _ in 0..2 {
            while self.next + need <= HIGH32 {
                let sorted = self.sorted.as_ref()?;
                // Objects that begin before the candidate's end and end behind its start are in the way.
                let before = sorted.range(..self.next + need).next_back();
                match before {
                    Some((&base, &id))
                        if base + self.objects[id as usize].data.len() as u64 + 16 > self.next =>
                    {
                        self.next = (base + self.objects[id as usize].data.len() as u64 + 31) & !15;
                    }
                    _ => {
                        let base = self.next;
                        self.next += need;
                        return Some(base);
                    }
                }
            }
            self.next = LOW32;
        }
        None
    }

    /// Counts what was written since objects were made.
    pub fn count(&mut self) -> Result<(), OutOfMemory> {
        let (objects, used) = (&mut self.objects, &mut self.used);
        self.paged.retain(|id| {
            let object = &mut objects[*id as usize];
            if object.live {
                let cost = object.data.cost() + OVERHEAD;
                *used = *used - object.cost + cost;
                object.cost = cost;
            }
            object.live && object.data.as_flat().is_none()
        });
        if self.used > self.limit { Err(OutOfMemory) } else { Ok(()) }
    }

    /// Ends an object's life.
    pub fn kill(&mut self, id: u32) {
        let object = &mut self.objects[id as usize];
        if !object.live {
            return;
        }
        object.live = false;
        object.generation = object.generation.wrapping_add(1);
        self.used -= object.cost;
        self.live_heap -= u64::from(object.kind == Kind::Heap);
        object.data = Contents::default();
        object.far = None;
        if let Some(sorted) = &mut self.sorted {
            sorted.remove(&object.base);
        }
        self.free.push_back(id);
    }

    pub fn prov(&self, id: u32) -> Prov {
        u64::from(self.objects[id as usize].generation) << 32 | (u64::from(id) + 1)
    }

    /// A pointer into an object.
    pub fn pointer(&self, id: u32, offset: u64) -> Pointer {
        Pointer { addr: self.objects[id as usize].base.wrapping_add(offset) & self.mask, prov: self.prov(id) }
    }

    /// The live object that an address belongs to by itself.
    pub fn lookup(&self, addr: u64) -> Prov {
        match &self.sorted {
            None => {
                let id = (addr >> 32 & 0xff_ffff) as usize;
                match self.objects.get(id) {
                    Some(o) if o.live && o.base >> 32 == addr >> 32 => self.prov(id as u32),
                    _ => 0,
                }
            }
            Some(sorted) => match sorted.range(..=addr).next_back() {
                Some((&base, &id)) if addr - base <= self.objects[id as usize].data.len() as u64 => {
                    self.prov(id)
                }
                _ => 0,
            },
        }
    }

    pub fn pointer_to(&self, addr: u64) -> Pointer {
        let addr = addr & self.mask;
        Pointer { addr, prov: self.lookup(addr) }
    }

    /// The live object of a provenance.
    #[inline]
    pub fn object_of(&self, prov: Prov) -> Option<u32> {
        let id = (prov as u32).wrapping_sub(1);
        match self.objects.get(id as usize) {
            Some(o) if u64::from(o.generation) == prov >> 32 && o.live => Some(id),
            _ => None,
        }
    }

    /// Whether two pieces of the same size have a byte in common, and do not start at the same one.
    pub fn overlap(&self, a: Pointer, b: Pointer, size: u64) -> bool {
        let same = self.object_of(a.prov).is_some_and(|id| self.object_of(b.prov) == Some(id));
        same && a.addr != b.addr && a.addr.abs_diff(b.addr) < size
    }

    /// The object and offset of `size` accessible bytes at a pointer.
    #[inline]
    pub fn resolve(&self, p: Pointer, size: u64) -> Result<(u32, usize), BadAccess> {
        let Some(id) = self.object_of(p.prov) else { return Err(self.why_bad(p)) };
        let object = &self.objects[id as usize];
        let offset = p.addr.wrapping_sub(object.base) & self.mask;
        let len = object.data.len() as u64;
        if offset > len || size > len - offset {
            return Err(BadAccess::OutOfBounds);
        }
        Ok((id, offset as usize))
    }

    #[cold]
    fn why_bad(&self, p: Pointer) -> BadAccess {
        if p.prov != 0 {
            BadAccess::Dangling
        } else if p.addr < 4096 {
            BadAccess::Null
        } else if self.sorted.is_none()
            && self.objects.get((p.addr >> 32 & 0xff_ffff) as usize).is_some_and(|o| o.base != 0)
        {
            BadAccess::Dangling
        } else {
            BadAccess::Wild
        }
    }

    pub fn function_address(func: u32) -> u64 {
        FUNCTIONS + u64::from(func) * 16
    }

    /// The number of the function at an address.
    pub fn function_at(addr: u64) -> Option<u32> {
        let offset = addr.checked_sub(FUNCTIONS)?;
        if offset.is_multiple_of(16) { u32::try_from(offset / 16).ok() } else { None }
    }

    pub fn heap_empty(&self) -> bool {
        self.live_heap == 0
    }

    /// Reads up to 16 bytes, little end first.
    #[inline]
    pub fn read(&self, id: u32, offset: usize, size: usize) -> u128 {
        let mut bytes = [0u8; 16];
        self.objects[id as usize].data.read(offset, &mut bytes[..size]);
        u128::from_le_bytes(bytes)
    }

    /// Writes up to 16 bytes, little end first.
    #[inline]
    pub fn write(&mut self, id: u32, offset: usize, size: usize, value: u128) {
        self.objects[id as usize].data.write(offset, &value.to_le_bytes()[..size]);
    }

    /// Whether a pointer is null or the start of a live heap object.
    pub fn freeable(&self, p: Pointer) -> bool {
        if p.addr == 0 {
            return true;
        }
        self.object_of(p.prov).is_some_and(|id| {
            let object = &self.objects[id as usize];
            object.kind == Kind::Heap && object.base == p.addr
        })
    }

    /// Bits of a bit-field that starts `first` bits into a byte.
    pub fn read_bits(&self, id: u32, at: usize, first: u16, width: u16) -> u128 {
        let size = usize::from(first + width).div_ceil(8);
        let low = self.read(id, at, size.min(16)) >> first;
        let high = if size > 16 { self.read(id, at + 16, 1) << (128 - first) } else { 0 };
        IntTy { bits: width, signed: false }.truncate(low | high)
    }

    pub fn read_pointer(&self, id: u32, offset: usize) -> Pointer {
        let addr = self.read(id, offset, self.ptr_bytes) as u64;
        if let Some(far) = &self.objects[id as usize].far
            && let Some(p) = far.get(&(offset as u64))
            && p.addr == addr
        {
            return *p;
        }
        self.pointer_to(addr)
    }

    pub fn write_pointer(&mut self, id: u32, offset: usize, p: Pointer) {
        self.write(id, offset, self.ptr_bytes, p.addr.into());
        let own = self.lookup(p.addr) == p.prov || self.object_of(p.prov).is_none();
        let far = &mut self.objects[id as usize].far;
        if !own {
            far.get_or_insert_default().insert(offset as u64, p);
        } else if let Some(far) = far {
            far.remove(&(offset as u64));
        }
    }

    /// Copies bytes with the provenance of pointers; the ranges may overlap.
    pub fn copy(&mut self, to: (u32, usize), from: (u32, usize), size: usize) {
        let far = self.far_in(from.0, from.1, size);
        if to.0 == from.0 {
            self.objects[to.0 as usize].data.copy_within(from.1, size, to.1);
        } else if let Ok([a, b]) = self.objects.get_disjoint_mut([to.0 as usize, from.0 as usize]) {
            a.data.copy_from(to.1, &b.data, from.1, size);
        }
        self.set_far(to.0, to.1, size, far);
    }

    fn far_in(&self, id: u32, offset: usize, size: usize) -> Vec<(u64, Pointer)> {
        let Some(far) = &self.objects[id as usize].far else { return Vec::new() };
        let range = offset as u64..(offset + size) as u64;
        far.iter().filter(|(at, _)| range.contains(at)).map(|(at, p)| (at - range.start, *p)).collect()
    }

    fn set_far(&mut self, id: u32, offset: usize, size: usize, entries: Vec<(u64, Pointer)>) {
        let object = &mut self.objects[id as usize];
        let range = offset as u64..(offset + size) as u64;
        if let Some(far) = &mut object.far {
            far.retain(|at, _| !range.contains(at));
        }
        if !entries.is_empty() {
            object
                .far
                .get_or_insert_default()
                .extend(entries.into_iter().map(|(at, p)| (at + range.start, p)));
        }
    }

    /// Contents that travel outside of any object (a returned aggregate).
    pub fn take(&self, id: u32, offset: usize, size: usize) -> Parcel {
        let data = self.objects[id as usize].data.bytes(offset, size).into_owned();
        Parcel { data, far: self.far_in(id, offset, size) }
    }

    pub fn put(&mut self, id: u32, offset: usize, parcel: &Parcel) {
        let size = parcel.data.len();
        self.objects[id as usize].data.write(offset, &parcel.data);
        self.set_far(id, offset, size, parcel.far.clone());
    }

    /// The live heap objects that are not reached from the roots (addresses held by variables) nor
    /// from any other live object through pointers at any byte offset.
    pub fn lost(&self, roots: impl Iterator<Item = u64>) -> impl Iterator<Item = u32> {
        let mut reached = vec![false; self.objects.len()];
        let mut work: Vec<u32> = Vec::new();
        let mut reach = |addr: u64, work: &mut Vec<u32>| {
            if let Some(id) = self.object_of(self.lookup(addr))
                && !std::mem::replace(&mut reached[id as usize], true)
            {
                work.push(id);
            }
        };
        // Without a heap there is nothing to look for.
        if !self.heap_empty() {
            roots.for_each(|addr| reach(addr, &mut work));
            for object in self.objects.iter().filter(|o| o.live && o.kind != Kind::Heap) {
                reach(object.base, &mut work);
            }
        }
        let mut bytes = [0u8; 8];
        while let Some(id) = work.pop() {
            self.objects[id as usize].data.windows(self.ptr_bytes, |window| {
                // Texts repeat themselves, and most memory is zero.
                if bytes[..self.ptr_bytes] != *window {
                    bytes[..self.ptr_bytes].copy_from_slice(window);
                    reach(u64::from_le_bytes(bytes), &mut work);
                }
            });
        }
        self.live_heap().filter(move |id| !reached[*id as usize])
    }

    /// The live heap objects.
    pub fn live_heap(&self) -> impl Iterator<Item = u32> {
        let heap = |o: &Object| o.live && o.kind == Kind::Heap;
        (0u32..).zip(&self.objects).filter(move |(_, o)| heap(o)).map(|(id, _)| id)
    }
}

/// Bytes with the provenance of the pointers in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parcel {
    pub data: Vec<u8>,
    far: Vec<(u64, Pointer)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_survive_memory_wherever_they_point() {
        for model in [DataModel::Lp64, DataModel::Ilp32] {
            let mut m = Memory::new(model, 1 << 30);
            let ids: Vec<u32> = (0..50).map(|i| m.create(i * 7, Kind::Heap).unwrap()).collect();
            let cell = m.create(64, Kind::Global).unwrap();
            let other = m.create(64, Kind::Global).unwrap();
            for &id in &ids {
                for offset in [0u64, 1, 5, 400, 5000, 1u64.wrapping_neg(), 3000u64.wrapping_neg()] {
                    let p = m.pointer(id, offset);
                    m.write_pointer(cell, 8, p);
                    assert_eq!(m.read_pointer(cell, 8), p, "{model:?} {id} {offset}");
                    m.copy((other, 3), (cell, 0), 40);
                    assert_eq!(m.read_pointer(other, 11), p);
                    m.write(other, 11, 8, 0);
                    assert_eq!(m.read_pointer(other, 11), Pointer::default());
                }
            }
            let p = m.pointer(ids[3], 0);
            assert_eq!(m.resolve(p, 21), Ok((ids[3], 0)));
            assert_eq!(m.resolve(p, 22), Err(BadAccess::OutOfBounds));
            m.kill(ids[3]);
            assert_eq!(m.resolve(p, 1), Err(BadAccess::Dangling));
            assert_eq!(m.resolve(Pointer::default(), 1), Err(BadAccess::Null));
        }
    }

    #[test]
    fn objects_do_not_touch_and_addresses_come_back() {
        let mut m = Memory::new(DataModel::Ilp32, u64::MAX);
        let mut live = VecDeque::new();
        // More than the address space holds, in all.
        for i in 0..400u64 {
            let id = m.create(16 << 20, Kind::Heap).unwrap();
            live.push_back(id);
            if i >= 20 {
                m.kill(live.pop_front().unwrap());
            }
            let mut spans: Vec<(u64, u64)> =
                m.objects.iter().filter(|o| o.live).map(|o| (o.base, o.base + o.data.len() as u64)).collect();
            spans.sort();
            assert!(spans.windows(2).all(|w| w[0].1 + 16 <= w[1].0), "{spans:x?}");
        }
    }

    #[test]
    fn the_limit_holds() {
        let mut m = Memory::new(DataModel::Lp64, 1000);
        assert!(m.create(500, Kind::Heap).is_ok());
        assert_eq!(m.create(500, Kind::Heap), Err(OutOfMemory));
        assert_eq!(m.create(u64::MAX, Kind::Heap), Err(OutOfMemory));
    }
}
