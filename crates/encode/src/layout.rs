//! Where things stand in a symbolic state, and how pointers are written as bit-vectors.

use crate::regions::{CellKind, RegionId, Regions};
use palisade_base::{Idx, IdxVec};
use palisade_cfa::*;
use palisade_logic::Sort;

/// Bits of an object number. Null and absolute addresses are object 0; functions, variables and
/// allocated objects follow. Every object that ever comes to life has a number of its own, so there
/// must be more numbers than a run can make objects: 2^40 allocations of 50 ns take 15 hours.
pub const OBJ_BITS: u32 = 40;

/// Bits of an object's status: dead, alive, or alive on the heap.
pub const STATUS_BITS: u32 = 2;
/// Status of a dead object.
pub const DEAD: u64 = 0;
/// Status of a live variable or stack object.
pub const LIVE: u64 = 1;
/// Status of a live heap object.
pub const HEAP: u64 = 2;
/// Bits of the counter of live heap objects.
pub const COUNT_BITS: u32 = OBJ_BITS;

/// Numbers of slots and objects.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Bits of an offset (the width of a pointer of the program).
    pub off_bits: u32,
    /// Slot of each register.
    registers: IdxVec<VarId, Option<u32>>,
    first_region: usize,
    /// Slot of the next object number to be given.
    pub next_object: usize,
    /// Slot of the array from objects to their status; `None` when no check asks for it.
    pub status: Option<usize>,
    /// Slot of the array from objects to their size.
    pub sizes: usize,
    /// Slot of the number of live heap objects.
    pub heap_count: usize,
    /// Slot of the object number of each local in memory, when lifetimes are tracked.
    local_objects: IdxVec<VarId, Option<u32>>,
    /// The sort and a readable name for each slot.
    pub slots: Vec<(Sort, String)>,
    first_var_object: u64,
    /// The first object number for allocated objects.
    pub first_allocated: u64,
}

impl Layout {
    /// Lays out the state of a program; `track` says whether sizes and lifetimes of objects
    /// matter.
    pub fn new(program: &Program, regions: &Regions, track: bool) -> Self {
        let off_bits = u32::from(program.data_model.ptr_bits());
        let mut slots: Vec<(Sort, String)> = Vec::new();
        let mut add = |sort, name: String| {
            slots.push((sort, name));
            slots.len() - 1
        };
        let registers: IdxVec<VarId, Option<u32>> = program
            .vars
            .ids()
            .map(|v| {
                program.register(v).is_some().then(|| {
                    let scalar = program.scalar_of(program.vars[v].ty).expect("registers are scalars");
                    let width = scalar_bits(off_bits, scalar);
                    add(Sort::BitVec(width), program.vars[v].name.to_string()) as u32
                })
            })
            .collect();
        let first_region =
            regions.regions.ids().map(|r| add(region_sort(regions, r, off_bits), r.to_string())).min();
        let next_object = add(Sort::BitVec(OBJ_BITS), "next".into());
        let status = track.then(|| add(Sort::Array { index: OBJ_BITS, elem: STATUS_BITS }, "status".into()));
        let sizes = add(Sort::Array { index: OBJ_BITS, elem: off_bits }, "sizes".into());
        let heap_count = add(Sort::BitVec(COUNT_BITS), "heap".into());
        let local_objects = program
            .vars
            .ids()
            .map(|v| {
                let dynamic =
                    track && program.vars[v].kind != VarKind::Global && program.register(v).is_none();
                dynamic.then(|| add(Sort::BitVec(OBJ_BITS), format!("&{}", program.vars[v].name)) as u32)
            })
            .collect();
        let first_var_object = 1 + program.funcs.len() as u64;
        Layout {
            off_bits,
            registers,
            first_region: first_region.unwrap_or(0),
            next_object,
            status,
            sizes,
            heap_count,
            local_objects,
            slots,
            first_var_object,
            first_allocated: first_var_object + program.vars.len() as u64,
        }
    }

    /// Bits of a pointer: object and offset.
    pub fn ptr_bits(&self) -> u32 {
        OBJ_BITS + self.off_bits
    }

    /// Bits of a scalar's term.
    pub fn bits(&self, scalar: Scalar) -> u32 {
        scalar_bits(self.off_bits, scalar)
    }

    /// The slot of a register.
    pub fn register(&self, var: VarId) -> Option<usize> {
        self.registers[var].map(|s| s as usize)
    }

    /// The slot of a region's contents.
    pub fn region(&self, region: RegionId) -> usize {
        self.first_region + region.index()
    }

    /// The slot that holds the object number of a local, where that is not fixed.
    pub fn local_object(&self, var: VarId) -> Option<usize> {
        self.local_objects[var].map(|s| s as usize)
    }

    /// The fixed object number of a variable.
    pub fn var_object(&self, var: VarId) -> u64 {
        self.first_var_object + var.index() as u64
    }

    /// The object number of a function.
    pub fn func_object(&self, func: FuncId) -> u64 {
        1 + func.index() as u64
    }
}

fn scalar_bits(off_bits: u32, scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Int(t) => u32::from(t.bits),
        Scalar::Float(t) => u32::from(t.bits()),
        Scalar::Ptr => OBJ_BITS + off_bits,
    }
}

fn region_sort(regions: &Regions, region: RegionId, off_bits: u32) -> Sort {
    let r = &regions.regions[region];
    let elem = match r.kind {
        CellKind::Bits(bytes) => 8 * bytes as u32,
        CellKind::Ptr => OBJ_BITS + off_bits,
        CellKind::Byte => 8,
    };
    if r.single {
        Sort::BitVec(elem)
    } else if r.one_object {
        Sort::Array { index: off_bits, elem }
    } else {
        Sort::Array { index: OBJ_BITS + off_bits, elem }
    }
}
