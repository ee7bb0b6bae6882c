//! The state of a run: memory, frames, calls and returns.

use crate::code::*;
use crate::compile;
use crate::contents::Contents;
use crate::inputs::{Inputs, Output};
use crate::layout::{FIRST_GLOBAL, Layout, VarLoc, init_size, object_size};
use crate::memory::{BadAccess, Kind, Memory, Parcel, Pointer};
use crate::outcome::{Outcome, Taken, Trap};
use crate::state::{Observer, State};
use crate::{Config, library};
use palisade_base::IdxVec;
use palisade_cfa::*;
use std::rc::Rc;

/// Compiled functions, kept from run to run.
#[derive(Debug)]
pub(crate) struct CodeStore {
    pub tables: Tables,
    pub funcs: IdxVec<FuncId, Option<Rc<FuncCode>>>,
    pub observed: bool,
}

impl CodeStore {
    pub fn new(funcs: usize, observed: bool) -> CodeStore {
        CodeStore { tables: Tables::default(), funcs: IdxVec::filled(None, funcs), observed }
    }
}

/// A call that waits for another one to return.
#[derive(Debug)]
pub(crate) struct Frame {
    pub cpu: Cpu,
    /// The register it expects the result in.
    pub result: Reg,
    /// The site of the call it waits for.
    pub site: u32,
}

/// The call that is executed.
#[derive(Debug)]
pub(crate) struct Cpu {
    pub func: FuncId,
    pub code: Rc<FuncCode>,
    pub pc: usize,
    pub regs: Vec<Slot>,
    /// Where its objects and stack allocations start.
    pub objects: usize,
    pub allocas: usize,
}

/// Of the unknown contents of a large block so many bytes are asked for; the others are zero.
const ASKED: usize = 1 << 20;

/// The longest text that the library itself reads: it is held beside the program's memory.
const TEXT: usize = 1 << 28;

/// Why execution stops.
pub(crate) type Halt = Outcome;
pub(crate) type Step<T> = Result<T, Halt>;

pub(crate) struct Machine<'a> {
    pub p: &'a Program,
    pub layout: &'a Layout,
    pub config: &'a Config,
    pub store: &'a mut CodeStore,
    pub mem: Memory,
    pub globals: Vec<Slot>,
    pub frame_objects: Vec<u32>,
    pub allocas: Vec<u32>,
    pub frames: Vec<Frame>,
    /// Slots of all waiting calls, for the memory limit.
    pub stacked: usize,
    /// Register files of calls that returned, to be used again.
    pub spare: Vec<Vec<Slot>>,
    /// The aggregate that the last call returned.
    pub parcel: Parcel,
    pub inputs: &'a mut dyn Inputs,
    pub output: &'a mut dyn Output,
    pub observer: Option<&'a mut dyn Observer>,
    pub steps: u64,
    pub trace: Vec<EdgeId>,
    pub trace_cut: bool,
    pub taken: Vec<Taken>,
    pub unknown_functions: Vec<FuncId>,
}

impl From<BadAccess> for Outcome {
    fn from(bad: BadAccess) -> Outcome {
        Outcome::Trap(Trap::Access(bad))
    }
}

impl From<Slot> for Pointer {
    fn from(slot: Slot) -> Pointer {
        Pointer { addr: slot.lo, prov: slot.hi }
    }
}

impl From<Pointer> for Slot {
    fn from(p: Pointer) -> Slot {
        Slot { lo: p.addr, hi: p.prov }
    }
}

/// Value bits of a register.
pub(crate) fn slot_bits(ty: Scalar, slot: Slot) -> u128 {
    match ty {
        Scalar::Int(t) if is_narrow(t) => t.truncate(slot.lo.into()),
        Scalar::Int(_) | Scalar::Float(FloatTy::F80) => u128::from(slot.hi) << 64 | u128::from(slot.lo),
        Scalar::Float(FloatTy::F32) => slot.lo as u32 as u128,
        _ => slot.lo.into(),
    }
}

/// A register with the value bits of an integer or a float.
pub(crate) fn number_slot(ty: Scalar, bits: u128) -> Slot {
    match ty {
        Scalar::Int(t) if is_narrow(t) => Slot { lo: t.decode(bits) as u64, hi: 0 },
        Scalar::Int(_) | Scalar::Float(FloatTy::F80) => Slot { lo: bits as u64, hi: (bits >> 64) as u64 },
        Scalar::Float(_) | Scalar::Ptr => Slot { lo: bits as u64, hi: 0 },
    }
}

impl<'a> Machine<'a> {
    /// A register with these value bits.
    pub fn bits_slot(&self, ty: Scalar, bits: u128) -> Slot {
        match ty {
            Scalar::Ptr => self.mem.pointer_to(bits as u64).into(),
            _ => number_slot(ty, bits),
        }
    }

    /// Creates globals with their initial contents.
    pub fn set_up(&mut self) -> Step<()> {
        let p = self.p;
        for (i, &var) in self.layout.global_objects.iter().enumerate() {
            let id = self.create(object_size(p, var), Kind::Global)?;
            debug_assert_eq!(id as usize, FIRST_GLOBAL as usize + i);
        }
        self.globals = vec![Slot::default(); self.layout.global_regs.len()];
        for (i, &var) in self.layout.global_objects.iter().enumerate() {
            let id = FIRST_GLOBAL + i as u32;
            match &p.vars[var].init {
                Init::Unknown => {
                    self.ask_for_all(id, EdgeId(u32::MAX));
                }
                Init::Image(items) => {
                    for item in items {
                        self.init(id, item)?;
                    }
                }
            }
            self.mem.objects[id as usize].read_only = p.vars[var].read_only;
        }
        for (i, &var) in self.layout.global_regs.iter().enumerate() {
            let Some(ty) = p.scalar_of(p.vars[var].ty) else { continue };
            self.globals[i] = match &p.vars[var].init {
                Init::Unknown => {
                    let bits = self.inputs.unknown(ty, EdgeId(u32::MAX));
                    self.bits_slot(ty, bits)
                }
                // The image of a scalar, by way of memory: it may be given byte by byte.
                Init::Image(items) => {
                    let id = self.create(object_size(p, var).max(16), Kind::Global)?;
                    for item in items {
                        self.init(id, item)?;
                    }
                    let size = p.size_of(p.vars[var].ty).unwrap_or(0).min(16) as usize;
                    let slot = match ty {
                        Scalar::Ptr => self.mem.read_pointer(id, 0).into(),
                        _ => self.bits_slot(ty, self.mem.read(id, 0, size) & value_mask(ty)),
                    };
                    self.mem.kill(id);
                    slot
                }
            };
        }
        Ok(())
    }

    fn init(&mut self, id: u32, item: &InitItem) -> Step<()> {
        let at = item.offset as usize;
        let size = init_size(self.p, &item.value) as usize;
        if at + size > self.mem.objects[id as usize].data.len() {
            return Err(Outcome::Unsupported("initial contents outside of an object".into()));
        }
        match &item.value {
            InitValue::Bytes(bytes) => {
                self.mem.objects[id as usize].data.write(at, bytes);
            }
            InitValue::Int(_, bits) | InitValue::Float(_, bits) => self.mem.write(id, at, size, *bits),
            InitValue::Absolute(addr) => self.mem.write(id, at, size, u128::from(*addr)),
            InitValue::Func(f) => self.mem.write(id, at, size, Memory::function_address(f.0).into()),
            InitValue::Addr(var, offset) => match self.layout.vars[*var] {
                VarLoc::GlobalObject(to) => {
                    let pointer = self.mem.pointer(to, *offset as u64);
                    self.mem.write_pointer(id, at, pointer);
                }
                _ => return Err(Outcome::Unsupported("the address of a register".into())),
            },
        }
        Ok(())
    }

    pub fn create(&mut self, size: u64, kind: Kind) -> Step<u32> {
        self.mem.create(size, kind).map_err(|_| Outcome::MemoryLimit)
    }

    /// Asks for the contents of an object.
    pub fn ask_for_all(&mut self, id: u32, edge: EdgeId) {
        let size = self.mem.objects[id as usize].data.len();
        self.ask_for_bytes(id, 0, size, edge);
    }

    /// Asks for bytes of an object, in a large one for those at the start.
    pub fn ask_for_bytes(&mut self, id: u32, at: usize, size: usize, edge: EdgeId) {
        match &mut self.mem.objects[id as usize].data {
            Contents::Flat(bytes) => self.inputs.unknown_bytes(edge, &mut bytes[at..at + size]),
            paged => {
                let mut bytes = paged.bytes(at, ASKED.min(size)).into_owned();
                self.inputs.unknown_bytes(edge, &mut bytes);
                paged.write(at, &bytes);
            }
        }
    }

    /// The code of a function, compiled when it is first called.
    fn code(&mut self, func: FuncId) -> Step<Rc<FuncCode>> {
        if let Some(code) = &self.store.funcs[func] {
            return Ok(Rc::clone(code));
        }
        let observed = self.store.observed;
        let code = compile::compile(self.p, self.layout, &mut self.store.tables, func, observed)
            .map_err(Outcome::Unsupported)?;
        let code = Rc::new(code);
        self.store.funcs[func] = Some(Rc::clone(&code));
        Ok(code)
    }

    /// A call of a function with a body, before its first instruction.
    pub fn enter(&mut self, func: FuncId, args: &[Slot]) -> Step<Cpu> {
        let code = self.code(func)?;
        let layout = self.layout;
        let frame = &layout.frames[func];
        let stack = (self.stacked + code.regs as usize) * 16 + self.frames.len() * 128;
        if self.mem.used + stack as u64 > self.config.memory_limit {
            return Err(Outcome::MemoryLimit);
        }
        let mut regs = self.spare.pop().unwrap_or_default();
        regs.clear();
        regs.resize(code.regs as usize, Slot::default());
        let (objects, allocas) = (self.frame_objects.len(), self.allocas.len());
        for (k, &size) in frame.sizes.iter().enumerate() {
            let id = if frame.at_entry[k] { self.create(size, Kind::Local)? } else { 0 };
            self.frame_objects.push(id);
        }
        for (&param, &slot) in self.p.body(func).params.iter().zip(args) {
            match layout.vars[param] {
                VarLoc::Reg(r) => regs[r as usize] = slot,
                VarLoc::Object(k) => {
                    let id = self.frame_objects[objects + k as usize];
                    match self.p.scalar_of(self.p.vars[param].ty) {
                        Some(ty) => self.write_scalar(id, 0, ty, slot)?,
                        None => {
                            let size = frame.sizes[k as usize];
                            let from = self.mem.resolve(slot.into(), size)?;
                            self.mem.copy((id, 0), from, size as usize);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(Cpu { func, code, pc: 0, regs, objects, allocas })
    }

    /// Calls a function with a body: the caller waits.
    pub fn call(&mut self, cpu: &mut Cpu, func: FuncId, site: u32, first: Reg, result: Reg) -> Step<()> {
        let callee = self.enter(func, &cpu.regs[first as usize..])?;
        self.stacked += cpu.regs.len();
        self.frames.push(Frame { cpu: std::mem::replace(cpu, callee), result, site });
        Ok(())
    }

    /// Ends the current call and goes on with the caller, which gets the result. The outcome if
    /// there is no caller.
    pub fn give_back(&mut self, cpu: &mut Cpu, slot: Slot) -> Option<Outcome> {
        for i in cpu.objects..self.frame_objects.len() {
            let id = self.frame_objects[i];
            if id != 0 {
                self.mem.kill(id);
            }
        }
        self.frame_objects.truncate(cpu.objects);
        for i in cpu.allocas..self.allocas.len() {
            let id = self.allocas[i];
            if id != 0 {
                self.mem.kill(id);
            }
        }
        self.allocas.truncate(cpu.allocas);
        let Some(frame) = self.frames.pop() else { return Some(Outcome::Exit(slot.lo as i32)) };
        let callee = std::mem::replace(cpu, frame.cpu);
        self.stacked -= cpu.regs.len();
        cpu.regs[frame.result as usize] = self.result_slot(callee.func, frame.site, slot);
        self.spare.push(callee.regs);
        None
    }

    /// A call through a pointer.
    pub fn call_pointer(
        &mut self,
        cpu: &mut Cpu,
        site: u32,
        pointer: u64,
        first: Reg,
        result: Reg,
    ) -> Step<()> {
        let func = Memory::function_at(pointer).map(FuncId).filter(|f| self.p.funcs.get(*f).is_some());
        let func = func.ok_or(Outcome::Trap(Trap::Call))?;
        let edge = self.store.tables.sites[site as usize].edge;
        if let Op::Call { dst, args, .. } = &self.p.edges[edge].op
            && !self.p.may_call(func, *dst, args)
        {
            return Err(Outcome::Trap(Trap::Call));
        }
        // Types of the same size may differ in sign or in being a pointer.
        let Type::Func(sig) = &self.p.types[self.p.funcs[func].ty] else {
            return Err(Outcome::Trap(Trap::Call));
        };
        for (i, ty) in sig.params.iter().enumerate() {
            let have = self.store.tables.sites[site as usize].args.get(i).copied();
            if let (Some(want), Some(ArgTy::Scalar(have))) = (self.p.scalar_of(*ty), have)
                && want != have
            {
                let reg = &mut cpu.regs[first as usize + i];
                *reg = self.bits_slot(want, slot_bits(have, *reg));
            }
        }
        match self.p.funcs[func].body {
            Some(_) => self.call(cpu, func, site, first, result),
            None => library::call(self, cpu, func, site, first, result),
        }
    }

    /// Converts a call's result where the pointer's type differs from the function's.
    pub fn result_slot(&self, func: FuncId, site: u32, slot: Slot) -> Slot {
        let site = &self.store.tables.sites[site as usize];
        if site.callee.is_some() {
            return slot;
        }
        let Type::Func(sig) = &self.p.types[self.p.funcs[func].ty] else { return slot };
        match (site.result, self.p.scalar_of(sig.ret)) {
            (Some(ResultTy::Scalar(want)), Some(have)) if want != have => {
                self.bits_slot(want, slot_bits(have, slot))
            }
            _ => slot,
        }
    }

    /// Stores a register's value of a scalar type.
    pub fn write_scalar(&mut self, id: u32, offset: usize, ty: Scalar, slot: Slot) -> Step<()> {
        match compile::cell(ty) {
            Some(cell) => Ok(self.write_cell(id, offset, cell, slot)?),
            None => {
                let size = match ty {
                    Scalar::Int(t) => usize::from(t.bits).div_ceil(8).next_power_of_two(),
                    _ => 8,
                };
                self.mem.write(id, offset, size, slot_bits(ty, slot));
                Ok(())
            }
        }
    }

    #[inline]
    pub fn write_cell(&mut self, id: u32, offset: usize, cell: Cell, slot: Slot) -> Result<(), BadAccess> {
        if self.mem.objects[id as usize].read_only {
            return Err(BadAccess::ReadOnly);
        }
        let size = match cell {
            Cell::I32 | Cell::U32 => {
                self.mem.objects[id as usize].data.set(offset, (slot.lo as u32).to_le_bytes());
                return Ok(());
            }
            Cell::Ptr => {
                self.mem.write_pointer(id, offset, slot.into());
                return Ok(());
            }
            Cell::I8 | Cell::U8 | Cell::Flag => {
                self.mem.objects[id as usize].data.set(offset, [slot.lo as u8]);
                return Ok(());
            }
            Cell::B64 => {
                self.mem.objects[id as usize].data.set(offset, slot.lo.to_le_bytes());
                return Ok(());
            }
            Cell::I16 | Cell::U16 => 2,
            Cell::B80 => 10,
            Cell::B128 => 16,
        };
        self.mem.write(id, offset, size, u128::from(slot.hi) << 64 | u128::from(slot.lo));
        Ok(())
    }

    #[inline]
    pub fn read_cell(&self, id: u32, offset: usize, cell: Cell) -> Slot {
        let data = &self.mem.objects[id as usize].data;
        let lo = match cell {
            Cell::I32 | Cell::U32 => {
                let x = u32::from_le_bytes(data.get(offset));
                if cell == Cell::I32 { x as i32 as u64 } else { x.into() }
            }
            Cell::I8 => data.get::<1>(offset)[0] as i8 as u64,
            Cell::U8 => data.get::<1>(offset)[0].into(),
            Cell::Flag => (data.get::<1>(offset)[0] & 1).into(),
            Cell::I16 => self.mem.read(id, offset, 2) as i16 as u64,
            Cell::U16 => self.mem.read(id, offset, 2) as u64,
            Cell::B64 => u64::from_le_bytes(data.get(offset)),
            Cell::Ptr => return self.mem.read_pointer(id, offset).into(),
            Cell::B80 | Cell::B128 => {
                let bits = self.mem.read(id, offset, if cell == Cell::B80 { 10 } else { 16 });
                return Slot { lo: bits as u64, hi: (bits >> 64) as u64 };
            }
        };
        Slot { lo, hi: 0 }
    }

    /// Whether nobody wants to see every pass of a loop.
    pub fn may_leap(&self) -> bool {
        let recorded = self.config.trace_cap.is_none() || self.trace_cut;
        recorded && self.observer.as_ref().is_none_or(|o| o.may_skip())
    }

    /// An edge of observed code is about to be executed.
    pub fn mark(&mut self, cpu: &Cpu, edge: EdgeId) -> Step<()> {
        self.steps += 1;
        if self.steps > self.config.step_limit {
            return Err(Outcome::StepLimit);
        }
        if let Some(cap) = self.config.trace_cap {
            if self.trace.len() < cap {
                self.trace.push(edge);
            } else {
                self.trace_cut = true;
            }
        }
        if let Some(observer) = self.observer.take() {
            let go_on = observer.on_edge(edge, &self.state(cpu));
            self.observer = Some(observer);
            if !go_on {
                return Err(Outcome::Observed);
            }
        }
        Ok(())
    }

    pub fn state<'s>(&'s self, cpu: &'s Cpu) -> State<'s> {
        State {
            p: self.p,
            layout: self.layout,
            mem: &self.mem,
            cpu,
            globals: &self.globals,
            frames: &self.frames,
            frame_objects: &self.frame_objects,
        }
    }

    /// The bytes up to a terminating zero.
    pub fn c_string(&self, p: Pointer, limit: Option<usize>) -> Step<Vec<u8>> {
        if limit == Some(0) {
            return Ok(Vec::new());
        }
        let (id, offset) = self.mem.resolve(p, 1)?;
        let data = &self.mem.objects[id as usize].data;
        let most = limit.unwrap_or(usize::MAX).min(data.len() - offset);
        match data.zero(offset, most) {
            Some(n) if n <= TEXT => Ok(data.bytes(offset, n).into_owned()),
            None if limit == Some(most) && most <= TEXT => Ok(data.bytes(offset, most).into_owned()),
            Some(_) => Err(Outcome::MemoryLimit),
            None if limit == Some(most) => Err(Outcome::MemoryLimit),
            None => Err(BadAccess::OutOfBounds.into()),
        }
    }

    /// Where execution is: the innermost function first.
    pub fn stack(&self, cpu: &Cpu) -> Vec<(FuncId, EdgeId)> {
        let last = |cpu: &Cpu| cpu.code.edges.get(cpu.pc.wrapping_sub(1)).map(|e| (cpu.func, *e));
        let waiting = self.frames.iter().rev().map(|f| &f.cpu);
        std::iter::once(cpu).chain(waiting).filter_map(last).collect()
    }
}

fn value_mask(ty: Scalar) -> u128 {
    match ty {
        Scalar::Float(t) => (1u128 << t.bits()) - 1,
        _ => u128::MAX,
    }
}
