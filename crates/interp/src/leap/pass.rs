//! One pass of a loop, executed for all that follow.

use super::line::{Exact, Line, bounds, fits, range};
use crate::code::*;
use crate::contents::Contents;
use crate::exec::cell_size;
use crate::machine::{Cpu, Machine};
use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// The longest pass, in instructions.
const LONGEST: usize = 4096;

/// What holds a value from pass to pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    Register(Reg),
    Global(u32),
    /// Bytes of an object that are at the same offset in every pass.
    Memory(u32, u64, Cell),
}

/// An access to memory: where it is at pass `n`, and what it finds or leaves there.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub object: u32,
    /// Of the offset.
    pub start: u64,
    pub step: i64,
    pub cell: Cell,
    pub size: u64,
    pub value: Line,
    pub written: bool,
}

/// One pass, executed for all that follow.
pub struct Pass<'m, 'a> {
    pub m: &'m mut Machine<'a>,
    pub cpu: &'m Cpu,
    /// By how much a place changes from pass to pass; by nothing, if it is not listed.
    pub steps: &'m FxHashMap<Place, i64>,
    /// What places hold that were read or written.
    pub held: FxHashMap<Place, Line>,
    /// What those start with that were read before they were written.
    pub first: FxHashMap<Place, Line>,
    pub memory: Vec<Access>,
    /// In how many passes everything is as it is in the first.
    pub most: u64,
    /// The value that the program does not determine.
    pub asked: Option<Asked>,
}

#[derive(Clone, Copy)]
pub struct Asked {
    pub ty: Scalar,
    pub edge: EdgeId,
    pub bits: u128,
    pub input: bool,
}

impl Pass<'_, '_> {
    /// At most so many passes are like this one.
    fn limit(&mut self, passes: u64) {
        self.most = self.most.min(passes);
    }

    fn start_of(&self, place: Place, slot: Slot) -> Line {
        let step = self.steps.get(&place).copied().unwrap_or(0);
        Line { start: slot.lo, step, hi: slot.hi }
    }

    fn get(&mut self, place: Place) -> Line {
        if let Some(line) = self.held.get(&place) {
            return *line;
        }
        let slot = match place {
            Place::Register(r) => self.cpu.regs[r as usize],
            Place::Global(g) => self.m.globals[g as usize],
            Place::Memory(..) => Slot::default(),
        };
        let line = self.start_of(place, slot);
        self.first.insert(place, line);
        self.held.insert(place, line);
        line
    }

    fn reg(&mut self, r: Reg) -> Line {
        self.get(Place::Register(r))
    }

    fn set(&mut self, r: Reg, line: Line) {
        self.held.insert(Place::Register(r), line);
    }

    fn fixed(&mut self, r: Reg) -> Option<Slot> {
        self.reg(r).fixed()
    }

    /// Brings a line into a type, for as long as that changes nothing but the start.
    fn norm(&mut self, line: Line, sh: u8, signed: bool) -> Line {
        let bits = 64 - u32::from(sh);
        let line = match signed {
            true => Line { start: norm_s(line.start, sh), ..line },
            false => Line { start: norm_u(line.start, sh), ..line },
        };
        self.limit(range(line, bits, signed));
        line
    }

    fn add(&mut self, a: Line, b: Line) -> Line {
        Line { start: a.start.wrapping_add(b.start), step: a.step.wrapping_add(b.step), hi: 0 }
    }

    fn scale(&mut self, a: Line, by: u64) -> Line {
        Line { start: a.start.wrapping_mul(by), step: a.step.wrapping_mul(by as i64), hi: 0 }
    }

    fn negative(&mut self, a: Line) -> Line {
        self.scale(a, u64::MAX)
    }

    fn product(&mut self, a: Line, b: Line) -> Option<Line> {
        match (a.fixed(), b.fixed()) {
            (_, Some(by)) => Some(self.scale(a, by.lo)),
            (Some(by), _) => Some(self.scale(b, by.lo)),
            _ => None,
        }
    }

    /// Both as mathematical integers, for as long as they are what their bits say.
    fn views(&mut self, a: Line, b: Line, signed: bool) -> (Exact, Exact) {
        for line in [a, b] {
            self.limit(range(line, 64, signed));
        }
        match signed {
            true => (a.signed(), b.signed()),
            false => (a.unsigned(), b.unsigned()),
        }
    }

    /// Whether a relation holds, for as long as it stays so.
    fn compare(&mut self, rel: Rel, a: Line, b: Line) -> bool {
        let signed = !matches!(rel, Rel::LtU | Rel::LeU);
        let (x, y) = self.views(a, b, signed);
        let more = y.minus(x);
        let holds = match rel {
            Rel::Eq => more.start == 0,
            Rel::Ne => more.start != 0,
            Rel::LtS | Rel::LtU => more.start > 0,
            Rel::LeS | Rel::LeU => more.start >= 0,
        };
        let (far, least) = (i128::from(u64::MAX) * 2, i128::from(matches!(rel, Rel::LtS | Rel::LtU)));
        self.limit(match (rel, holds) {
            (Rel::Eq, true) | (Rel::Ne, false) => more.within(0, 0),
            // Until they meet, if they ever do.
            (Rel::Eq, false) | (Rel::Ne, true) => match more.step {
                0 => u64::MAX,
                step if -more.start % step == 0 && -more.start / step > 0 => {
                    u64::try_from(-more.start / step).unwrap_or(u64::MAX)
                }
                _ => u64::MAX,
            },
            (_, true) => more.within(least, far),
            (_, false) => more.within(-far, least - 1),
        });
        holds
    }

    fn compare_regs(&mut self, rel: Rel, a: Reg, b: Reg) -> bool {
        let (a, b) = (self.reg(a), self.reg(b));
        self.compare(rel, a, b)
    }

    fn compare_with(&mut self, rel: Rel, a: Reg, constant: u64) -> bool {
        let a = self.reg(a);
        self.compare(rel, a, Line::constant(constant))
    }

    /// Whether an operator overflows, for as long as it does not.
    fn overflows(&mut self, op: BinOp, a: Reg, b: Reg, sh: u8, signed: bool) -> Option<bool> {
        let (a, b) = (self.reg(a), self.reg(b));
        let (x, y) = self.views(a, b, signed);
        let exact = match op {
            BinOp::Add => Exact { start: x.start + y.start, step: x.step + y.step },
            BinOp::Sub => x.minus(y),
            BinOp::Mul if x.step == 0 || y.step == 0 => {
                let (by, line) = if x.step == 0 { (x.start, y) } else { (y.start, x) };
                Exact { start: line.start.checked_mul(by)?, step: line.step.checked_mul(by)? }
            }
            _ => return None,
        };
        let (low, high) = bounds(64 - u32::from(sh), signed);
        let fits = exact.within(low, high);
        self.limit(fits);
        (fits > 0).then_some(false)
    }

    /// The object at a pointer, and the offset there.
    fn object(&mut self, pointer: Line) -> Option<(u32, Line)> {
        let id = self.m.mem.object_of(pointer.hi)?;
        let base = self.m.mem.objects[id as usize].base;
        let start = pointer.start.wrapping_sub(base) & self.m.mem.mask;
        Some((id, Line { start, step: pointer.step, hi: 0 }))
    }

    /// As long as an access of so many bytes stays within its object.
    fn stays(&mut self, id: u32, offset: Line, size: u64) -> Option<()> {
        let object = &self.m.mem.objects[id as usize];
        let room = (object.data.len() as u64).checked_sub(size)?;
        if !object.live {
            return None;
        }
        let passes = offset.unsigned().within(0, room.into());
        self.limit(passes);
        (passes > 0).then_some(())
    }

    fn offset(&mut self, i: Reg, stride: u32, off: i32) -> Line {
        if i == NO_INDEX {
            return Line::constant(off as u64);
        }
        let index = self.reg(i);
        let scaled = self.scale(index, stride.into());
        self.add(scaled, Line::constant(off as u64))
    }

    /// A pointer moved.
    fn moved(&mut self, pointer: Line, offset: Line) -> Line {
        let sum = self.add(pointer, offset);
        let sh = 64 - 8 * self.m.mem.ptr_bytes as u8;
        Line { hi: pointer.hi, ..self.norm(sum, sh, false) }
    }

    fn locate(&mut self, from: Start, i: Reg, stride: u32, off: i32, size: u64) -> Option<(u32, Line)> {
        let offset = self.offset(i, stride, off);
        let (id, offset) = match from {
            Start::Ptr(p) => {
                let pointer = self.reg(p);
                let sum = self.add(pointer, offset);
                self.object(Line { hi: pointer.hi, ..sum })?
            }
            Start::Local(k) => (self.m.frame_objects[self.cpu.objects + k as usize], offset),
            Start::Global(id) => (id, offset),
        };
        let offset = Line { start: offset.start & self.m.mem.mask, ..offset };
        self.stays(id, offset, size)?;
        Some((id, offset))
    }

    fn load(&mut self, id: u32, at: Line, cell: Cell, size: u64) -> Option<Line> {
        if let Some(known) = self.memory.iter().find(|a| a.is(id, at, cell)) {
            return Some(known.value);
        }
        let slot = self.m.read_cell(id, at.start as usize, cell);
        let value = if at.step == 0 {
            let place = Place::Memory(id, at.start, cell);
            let line = self.start_of(place, slot);
            self.first.insert(place, line);
            self.limit(fits(cell, line)?);
            line
        } else {
            self.limit(self.m.mem.objects[id as usize].data.alike(at, size)?);
            // Bytes say nothing of what pointers point to.
            if cell == Cell::Ptr {
                return None;
            }
            Line { start: slot.lo, step: 0, hi: slot.hi }
        };
        self.access(id, at, cell, size, value, false);
        Some(value)
    }

    fn store(&mut self, id: u32, at: Line, cell: Cell, size: u64, value: Line) -> Option<()> {
        if self.m.mem.objects[id as usize].read_only || (cell == Cell::Ptr && at.step != 0) {
            return None;
        }
        // What is read there again.
        let value = match cell {
            Cell::I8 => self.norm(value, 56, true),
            Cell::U8 => self.norm(value, 56, false),
            Cell::I16 => self.norm(value, 48, true),
            Cell::U16 => self.norm(value, 48, false),
            Cell::I32 => self.norm(value, 32, true),
            Cell::U32 => self.norm(value, 32, false),
            Cell::Flag if range(value, 1, false) > 0 => self.norm(value, 63, false),
            Cell::B64 => Line { hi: 0, ..value },
            // Memory keeps in mind what a pointer was made for as long as that is alive.
            Cell::Ptr if self.m.mem.object_of(value.hi).is_some() => value,
            Cell::Ptr if value.step == 0 && self.m.mem.lookup(value.start) == value.hi => value,
            Cell::Flag | Cell::Ptr | Cell::B80 | Cell::B128 => return None,
        };
        match self.memory.iter_mut().find(|a| a.is(id, at, cell)) {
            Some(known) => {
                known.value = value;
                known.written = true;
            }
            None => self.access(id, at, cell, size, value, true),
        }
        Some(())
    }

    fn access(&mut self, object: u32, at: Line, cell: Cell, size: u64, value: Line, written: bool) {
        self.memory.push(Access { object, start: at.start, step: at.step, cell, size, value, written });
    }

    /// Executes from one instruction back to itself.
    pub fn run(&mut self, at: usize) -> Option<()> {
        let code = std::rc::Rc::clone(&self.cpu.code);
        let mut pc = at;
        for _ in 0..LONGEST {
            let (instr, edge) = (*code.instrs.get(pc)?, *code.edges.get(pc)?);
            let jump = self.instr(instr, edge)?;
            pc = jump.unwrap_or(pc + 1);
            if pc == at {
                return Some(());
            }
        }
        None
    }

    /// Executes an instruction; where it jumps to, if it does.
    fn instr(&mut self, instr: Instr, edge: EdgeId) -> Option<Option<usize>> {
        let ptr_bytes = self.m.mem.ptr_bytes;
        let jump = |holds: bool, to: u32| Some(holds.then_some(to as usize));
        match instr {
            Instr::Mark(_) | Instr::Tick(_) => {}
            Instr::Mov { d, a } => {
                let line = self.reg(a);
                self.set(d, line);
            }
            Instr::Const { d, v } => self.set(d, Line::constant(v)),
            Instr::GetGlobal { d, g } => {
                let line = self.get(Place::Global(g));
                self.set(d, line);
            }
            Instr::SetGlobal { g, a } => {
                let line = self.reg(a);
                self.held.insert(Place::Global(g), line);
            }
            Instr::AddS { d, a, b, sh } => self.sum(d, a, b, sh, true),
            Instr::AddU { d, a, b, sh } => self.sum(d, a, b, sh, false),
            Instr::SubS { d, a, b, sh } => self.difference(d, a, b, sh, true),
            Instr::SubU { d, a, b, sh } => self.difference(d, a, b, sh, false),
            Instr::AddImmS { d, a, imm, sh } => self.plus(d, a, imm as u64, sh, true),
            Instr::AddImmU { d, a, imm, sh } => self.plus(d, a, imm as u64, sh, false),
            Instr::MulS { d, a, b, sh } => self.times(d, a, b, sh, true)?,
            Instr::MulU { d, a, b, sh } => self.times(d, a, b, sh, false)?,
            Instr::MulImmS { d, a, imm, sh } => self.scaled(d, a, imm as u64, sh, true),
            Instr::MulImmU { d, a, imm, sh } => self.scaled(d, a, imm as u64, sh, false),
            Instr::NormS { d, a, sh } => self.plus(d, a, 0, sh, true),
            Instr::NormU { d, a, sh } => self.plus(d, a, 0, sh, false),
            Instr::Neg { d, a, sh, signed } => self.scaled(d, a, u64::MAX, sh, signed),
            Instr::And { d, a, b } => self.bitwise(d, a, b, |x, y| x & y)?,
            Instr::Or { d, a, b } => self.bitwise(d, a, b, |x, y| x | y)?,
            Instr::Xor { d, a, b } => self.bitwise(d, a, b, |x, y| x ^ y)?,
            Instr::AndImm { d, a, imm } => {
                let (line, mask) = (self.reg(a), imm as u64);
                let line = match line.fixed() {
                    Some(slot) => Line { start: slot.lo & mask, step: 0, hi: 0 },
                    None if mask != 0 && mask.wrapping_add(1).is_power_of_two() => {
                        self.norm(line, mask.leading_zeros() as u8, false)
                    }
                    None => return None,
                };
                self.keep_upper(d, line);
            }
            Instr::Shl { d, a, b, sh, signed } => {
                let by = self.fixed(b)?.lo;
                if by >= 64 - u64::from(sh) {
                    return None;
                }
                self.scaled(d, a, 1 << by, sh, signed);
            }
            Instr::Not { d, a, sh, signed } => {
                // The complement is the negative less one.
                let line = self.reg(a);
                let negative = self.negative(line);
                let line = self.add(negative, Line::constant(u64::MAX));
                let line = self.norm(line, sh, signed);
                self.keep_upper(d, line);
            }
            Instr::Cmp { rel, d, a, b } => {
                let holds = self.compare_regs(rel, a, b);
                self.keep_upper(d, Line::constant(holds.into()));
            }
            Instr::PtrAdd { d, p, i, stride } => {
                let (pointer, index) = (self.reg(p), self.reg(i));
                let offset = self.scale(index, stride.into());
                let line = self.moved(pointer, offset);
                self.set(d, line);
            }
            Instr::PtrAddImm { d, p, imm } => {
                let pointer = self.reg(p);
                let line = self.moved(pointer, Line::constant(imm as u64));
                self.set(d, line);
            }
            Instr::PtrDiff { d, a, b, stride } => {
                let (a, b) = (self.reg(a), self.reg(b));
                let b = self.negative(b);
                let diff = self.add(a, b);
                let diff = self.norm(diff, 64 - 8 * ptr_bytes as u8, true);
                let (start, stride) = (diff.start as i64, i64::from(stride.max(1)));
                if start % stride != 0 || diff.step % stride != 0 {
                    return None;
                }
                let line = Line { start: (start / stride) as u64, step: diff.step / stride, hi: 0 };
                self.keep_upper(d, line);
            }
            Instr::Offset { d, a, i, stride } => {
                let (line, index) = (self.reg(a), self.reg(i));
                let offset = self.scale(index, stride.into());
                let line = self.add(line, offset);
                self.keep_upper(d, line);
            }
            Instr::Lea { from, d, i, stride, off } => {
                let offset = self.offset(i, stride, off);
                let pointer = match from {
                    Start::Ptr(p) => self.reg(p),
                    Start::Local(k) => {
                        let id = self.m.frame_objects[self.cpu.objects + k as usize];
                        self.base(id)
                    }
                    Start::Global(id) => self.base(id),
                };
                let line = self.moved(pointer, offset);
                self.set(d, line);
            }

            Instr::Jump { to } => return Some(Some(to as usize)),
            Instr::JumpZero { a, to } => return jump(self.compare_with(Rel::Eq, a, 0), to),
            Instr::JumpNonZero { a, to } => return jump(self.compare_with(Rel::Ne, a, 0), to),
            Instr::JEq { a, b, to } => return jump(self.compare_regs(Rel::Eq, a, b), to),
            Instr::JNe { a, b, to } => return jump(self.compare_regs(Rel::Ne, a, b), to),
            Instr::JLtS { a, b, to } => return jump(self.compare_regs(Rel::LtS, a, b), to),
            Instr::JLeS { a, b, to } => return jump(self.compare_regs(Rel::LeS, a, b), to),
            Instr::JLtU { a, b, to } => return jump(self.compare_regs(Rel::LtU, a, b), to),
            Instr::JLeU { a, b, to } => return jump(self.compare_regs(Rel::LeU, a, b), to),
            Instr::JEqImm { a, imm, to } => return jump(self.compare_with(Rel::Eq, a, imm as u64), to),
            Instr::JNeImm { a, imm, to } => return jump(self.compare_with(Rel::Ne, a, imm as u64), to),
            Instr::JLtSImm { a, imm, to } => return jump(self.compare_with(Rel::LtS, a, imm as u64), to),
            Instr::JLeSImm { a, imm, to } => return jump(self.compare_with(Rel::LeS, a, imm as u64), to),
            Instr::JGtSImm { a, imm, to } => return jump(!self.compare_with(Rel::LeS, a, imm as u64), to),
            Instr::JGeSImm { a, imm, to } => return jump(!self.compare_with(Rel::LtS, a, imm as u64), to),
            Instr::JLtUImm { a, imm, to } => return jump(self.compare_with(Rel::LtU, a, imm.into()), to),
            Instr::JLeUImm { a, imm, to } => return jump(self.compare_with(Rel::LeU, a, imm.into()), to),
            Instr::JGtUImm { a, imm, to } => return jump(!self.compare_with(Rel::LeU, a, imm.into()), to),
            Instr::JGeUImm { a, imm, to } => return jump(!self.compare_with(Rel::LtU, a, imm.into()), to),
            Instr::JOverflow { op, a, b, sh, signed, to } => {
                return jump(self.overflows(op, a, b, sh, signed)?, to);
            }
            Instr::JNoOverflow { op, a, b, sh, signed, to } => {
                return jump(!self.overflows(op, a, b, sh, signed)?, to);
            }
            Instr::JInvalid { p, size, to: _ } => {
                let pointer = self.reg(p);
                let (id, offset) = self.object(pointer)?;
                self.stays(id, offset, size.into())?;
            }
            Instr::Valid { d, p, size } => {
                let (pointer, size) = (self.reg(p), self.fixed(size)?.lo);
                let (id, offset) = self.object(pointer)?;
                self.stays(id, offset, size)?;
                self.keep_upper(d, Line::constant(1));
            }
            Instr::ObjectSize { d, p } => {
                let pointer = self.reg(p);
                let id = self.m.mem.object_of(pointer.hi);
                let size = id.map_or(0, |id| self.m.mem.objects[id as usize].data.len() as u64);
                self.keep_upper(d, Line::constant(size));
            }
            Instr::IsReadOnly { d, p } => {
                let pointer = self.reg(p);
                let id = self.m.mem.object_of(pointer.hi);
                let is = id.is_some_and(|id| self.m.mem.objects[id as usize].read_only);
                self.keep_upper(d, Line::constant(is.into()));
            }
            Instr::Load { cell, from, d, i, stride, off } => {
                let size = cell_size(cell, ptr_bytes);
                let (id, at) = self.locate(from, i, stride, off, size)?;
                let line = self.load(id, at, cell, size)?;
                self.set(d, line);
            }
            Instr::Store { cell, from, a, i, stride, off } => {
                let size = cell_size(cell, ptr_bytes);
                let (id, at) = self.locate(from, i, stride, off, size)?;
                let value = self.reg(a);
                self.store(id, at, cell, size, value)?;
            }
            Instr::Havoc { d, ty: ty @ Scalar::Int(t), input } if is_narrow(t) => {
                if self.asked.is_some() {
                    return None;
                }
                let (bits, times) = self.m.inputs.steady(ty, edge, input)?;
                let bits = t.truncate(bits);
                self.limit(times);
                self.asked = Some(Asked { ty, edge, bits, input });
                let slot = self.m.bits_slot(ty, bits);
                self.set(d, Line::constant(slot.lo));
            }
            // Calls, other arithmetic, and what makes and ends objects.
            _ => return None,
        }
        Some(None)
    }

    /// A pointer to an object.
    fn base(&self, id: u32) -> Line {
        let pointer: Slot = self.m.mem.pointer(id, 0).into();
        Line { start: pointer.lo, step: 0, hi: pointer.hi }
    }

    /// Sets the lower half of a register.
    fn keep_upper(&mut self, d: Reg, line: Line) {
        let hi = self.upper(d);
        self.set(d, Line { hi, ..line });
    }

    /// The upper half of a register, which no pass may change then.
    fn upper(&mut self, d: Reg) -> u64 {
        match self.held.get(&Place::Register(d)) {
            Some(line) => line.hi,
            None => self.cpu.regs[d as usize].hi,
        }
    }

    fn sum(&mut self, d: Reg, a: Reg, b: Reg, sh: u8, signed: bool) {
        let (a, b) = (self.reg(a), self.reg(b));
        let line = self.add(a, b);
        let line = self.norm(line, sh, signed);
        self.keep_upper(d, line);
    }

    fn difference(&mut self, d: Reg, a: Reg, b: Reg, sh: u8, signed: bool) {
        let (a, b) = (self.reg(a), self.reg(b));
        let b = self.negative(b);
        let line = self.add(a, b);
        let line = self.norm(line, sh, signed);
        self.keep_upper(d, line);
    }

    fn plus(&mut self, d: Reg, a: Reg, by: u64, sh: u8, signed: bool) {
        let a = self.reg(a);
        let line = self.add(a, Line::constant(by));
        let line = self.norm(line, sh, signed);
        self.keep_upper(d, line);
    }

    fn times(&mut self, d: Reg, a: Reg, b: Reg, sh: u8, signed: bool) -> Option<()> {
        let (a, b) = (self.reg(a), self.reg(b));
        let line = self.product(a, b)?;
        let line = self.norm(line, sh, signed);
        self.keep_upper(d, line);
        Some(())
    }

    fn scaled(&mut self, d: Reg, a: Reg, by: u64, sh: u8, signed: bool) {
        let a = self.reg(a);
        let line = self.scale(a, by);
        let line = self.norm(line, sh, signed);
        self.keep_upper(d, line);
    }

    fn bitwise(&mut self, d: Reg, a: Reg, b: Reg, op: impl Fn(u64, u64) -> u64) -> Option<()> {
        let (a, b) = (self.fixed(a)?, self.fixed(b)?);
        self.keep_upper(d, Line::constant(op(a.lo, b.lo)));
        Some(())
    }
}

impl Access {
    fn is(&self, object: u32, at: Line, cell: Cell) -> bool {
        (self.object, self.start, self.step, self.cell) == (object, at.start, at.step, cell)
    }
}

impl Contents {
    /// In how many passes the bytes of an access are those of the first.
    fn alike(&self, at: Line, size: u64) -> Option<u64> {
        if at.step <= 0 || at.step.unsigned_abs() != size {
            return None;
        }
        let (start, size) = (at.start as usize, size as usize);
        let first = self.bytes(start, size);
        let byte = first[0];
        let alike = first.iter().all(|b| *b == byte);
        alike.then(|| (self.repeats(start, self.len() - start, byte) / size) as u64)
    }
}
