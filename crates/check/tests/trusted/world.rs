//! The state of a run of the interpreter as it is compared with formulas.

use palisade_cfa::*;
use palisade_interp::{ObjectId, State};
use rustc_hash::{FxHashMap, FxHashSet};

/// A scalar of a run: its bits, or a pointer by object and address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scal {
    Bits(u128),
    Pointer { object: Option<ObjectId>, address: u64 },
    Function(FuncId),
}

/// An object of a run.
#[derive(Clone, Debug)]
pub struct Object {
    pub id: ObjectId,
    pub bytes: Vec<u8>,
    pub heap: bool,
    pub var: Option<VarId>,
    pub pointers: FxHashMap<u64, Scal>,
}

/// What there is between two steps of a run.
pub struct World {
    pub registers: Vec<(VarId, Scal)>,
    pub objects: Vec<Object>,
}

/// What is known about all objects of a run so far.
#[derive(Default)]
pub struct Book {
    pub bases: FxHashMap<ObjectId, (u64, u64)>,
    pub sites: FxHashMap<ObjectId, EdgeId>,
    /// Numbers of the objects that were made during the run.
    pub made: FxHashMap<ObjectId, u64>,
    /// Variables whose life is over: nobody reads them before the next one.
    pub left: FxHashSet<VarId>,
    /// Variables that had a life.
    pub entered: FxHashSet<VarId>,
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
    pub fn of(state: &State<'_>, book: &mut Book) -> World {
        let p = state.program();
        let word = u64::from(p.data_model.ptr_bits()) / 8;
        let mut owners: FxHashMap<ObjectId, VarId> = FxHashMap::default();
        // A run forgets whose object a pointer was made for when that dies.
        let forgotten = |book: &Book, p: &Scal| matches!(*p, Scal::Pointer { object: None, address } if book.was_at(address));
        let mut registers = Vec::new();
        for v in p.vars.ids() {
            owners.extend(state.object_of(v).map(|id| (id, v)));
            let value = state.var(v).filter(|_| !book.left.contains(&v));
            let value = value.map(|value| scal(state, value)).filter(|p| !forgotten(book, p));
            registers.extend(value.map(|value| (v, value)));
        }
        let objects = state.objects().map(|o| {
            book.bases.insert(o.id, (o.base, o.bytes.len() as u64));
            let offsets = (0..o.bytes.len() as u64).filter(|i| i % word == 0);
            let pointers = offsets.filter_map(|i| Some((i, scal(state, state.pointer_in(o.id, i)?))));
            let pointers = pointers.filter(|(_, p)| !forgotten(book, p)).collect();
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
