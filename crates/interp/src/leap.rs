//! Leaps over passes of a loop that all do the same.
//!
//! Where a run has stayed in a loop for long, the next pass is executed once for all that follow: every register,
//! global and place in memory holds `start + step · n` at pass `n`, in the machine's arithmetic. Branches then go the
//! same way, checks hold and accesses stay within their objects for `n` below some bound, which each instruction may
//! lower. If the pass ends in what the next one starts with, that is so for all passes below the bound, and their effect
//! is known without executing them. Whatever the arithmetic of lines does not show ends the attempt, and the passes are
//! executed one by one.

use crate::code::*;
use crate::contents::Contents;
use crate::exec::cell_size;
use crate::machine::{Cpu, Machine};
use crate::outcome::Taken;
use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// Fewer passes are not worth a leap.
const WORTH: u64 = 64;
/// The longest pass, in instructions.
const LONGEST: usize = 4096;
/// How often the steps of what a pass starts with are guessed anew: what depends on others' steps comes later.
const GUESSES: usize = 6;
/// How many places are written one by one in a leap.
const PLACES: u64 = 1 << 24;

/// What a register holds at pass `n`: `start + step · n`, and always the same upper half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line {
    start: u64,
    step: i64,
    hi: u64,
}

impl Line {
    fn constant(lo: u64) -> Line {
        Line { start: lo, step: 0, hi: 0 }
    }

    fn at(self, n: u64) -> Slot {
        Slot { lo: self.start.wrapping_add((self.step as u64).wrapping_mul(n)), hi: self.hi }
    }

    fn signed(self) -> Exact {
        Exact { start: (self.start as i64).into(), step: self.step.into() }
    }

    fn unsigned(self) -> Exact {
        Exact { start: self.start.into(), step: self.step.into() }
    }

    /// Its value, if it is always the same.
    fn fixed(self) -> Option<Slot> {
        (self.step == 0).then_some(Slot { lo: self.start, hi: self.hi })
    }
}

/// A line of mathematical integers.
#[derive(Clone, Copy)]
struct Exact {
    start: i128,
    step: i128,
}

impl Exact {
    /// How many values from the first on lie between these numbers.
    fn within(self, low: i128, high: i128) -> u64 {
        if self.start < low || self.start > high {
            return 0;
        }
        let more = match self.step {
            0 => return u64::MAX,
            1.. => (high - self.start) / self.step,
            _ => (self.start - low) / -self.step,
        };
        u64::try_from(more).unwrap_or(u64::MAX).saturating_add(1)
    }

    fn minus(self, other: Exact) -> Exact {
        Exact { start: self.start - other.start, step: self.step - other.step }
    }
}

/// What holds a value from pass to pass.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Register(Reg),
    Global(u32),
    /// Bytes of an object that are at the same offset in every pass.
    Memory(u32, u64, Cell),
}

/// An access to memory: where it is at pass `n`, and what it finds or leaves there.
#[derive(Clone, Copy, Debug)]
struct Access {
    object: u32,
    /// Of the offset.
    start: u64,
    step: i64,
    cell: Cell,
    size: u64,
    value: Line,
    written: bool,
}

/// One pass, executed for all that follow.
struct Pass<'m, 'a> {
    m: &'m mut Machine<'a>,
    cpu: &'m Cpu,
    /// By how much a place changes from pass to pass; by nothing, if it is not listed.
    steps: &'m FxHashMap<Place, i64>,
    /// What places hold that were read or written.
    held: FxHashMap<Place, Line>,
    /// What those start with that were read before they were written.
    first: FxHashMap<Place, Line>,
    memory: Vec<Access>,
    /// In how many passes everything is as it is in the first.
    most: u64,
    /// The value that the program does not determine.
    asked: Option<Asked>,
    /// Edges.
    edges: u64,
}

#[derive(Clone, Copy)]
struct Asked {
    ty: Scalar,
    edge: EdgeId,
    bits: u128,
    input: bool,
}

/// The effect of passes.
struct Effect {
    passes: u64,
    held: Vec<(Place, Line)>,
    memory: Vec<Access>,
    asked: Option<Asked>,
    edges: u64,
}

impl Machine<'_> {
    /// Leaps over passes from an instruction back to itself, if they all do the same.
    #[cold]
    pub fn leap(&mut self, cpu: &mut Cpu, at: usize) -> bool {
        let Some(mut effect) = self.passes(cpu, at) else { return false };
        if let Some(Asked { ty, edge, bits, input }) = effect.asked {
            effect.passes = self.inputs.again(ty, edge, input, effect.passes).min(effect.passes);
            if effect.passes == 0 {
                return false;
            }
            if input {
                self.taken.push(Taken { edge, ty, bits, times: effect.passes });
            }
        }
        let last = effect.passes - 1;
        for access in effect.memory.iter().filter(|a| a.written) {
            self.leave(access, effect.passes);
        }
        for (place, line) in effect.held {
            match place {
                Place::Register(r) => cpu.regs[r as usize] = line.at(last),
                Place::Global(g) => self.globals[g as usize] = line.at(last),
                Place::Memory(..) => {}
            }
        }
        self.steps += effect.edges;
        if let Some(observer) = &mut self.observer {
            observer.on_leap(effect.passes);
        }
        true
    }

    /// The effect of as many passes as are known to do the same.
    fn passes(&mut self, cpu: &Cpu, at: usize) -> Option<Effect> {
        let mut steps = FxHashMap::default();
        for _ in 0..GUESSES {
            let mut pass = Pass {
                m: &mut *self,
                cpu,
                steps: &steps,
                held: FxHashMap::default(),
                first: FxHashMap::default(),
                memory: Vec::new(),
                most: u64::MAX,
                asked: None,
                edges: 0,
            };
            pass.run(at)?;
            let Pass { held, first, memory, most, asked, edges, .. } = pass;
            let end = |place: &Place| match *place {
                Place::Memory(object, offset, cell) => {
                    let same = |a: &&Access| (a.object, a.start, a.step, a.cell) == (object, offset, 0, cell);
                    memory.iter().find(same).map(|a| a.value)
                }
                _ => held.get(place).copied(),
            };
            let mut better = FxHashMap::default();
            let mut closed = true;
            for (place, start) in &first {
                let end = end(place).unwrap_or(*start);
                let step = end.start.wrapping_sub(start.start) as i64;
                closed &= end == Line { start: start.at(1).lo, ..*start };
                if end.hi != start.hi {
                    return None;
                }
                if step != 0 {
                    better.insert(*place, step);
                }
            }
            if closed {
                if most < WORTH {
                    return None;
                }
                let passes = apart(&memory, most)?;
                let held = held.into_iter().collect();
                return Some(Effect { passes, held, memory, asked, edges });
            }
            if better == steps {
                return None;
            }
            steps = better;
        }
        None
    }

    /// Leaves in memory what the writes of so many passes leave there.
    fn leave(&mut self, access: &Access, passes: u64) {
        let &Access { object, start, step, cell, size, value, .. } = access;
        if step == 0 {
            let _ = self.write_cell(object, start as usize, cell, value.at(passes - 1));
            return;
        }
        if let Some(slot) = value.fixed()
            && step.unsigned_abs() == size
            && size <= 8
            && let Some(byte) = same_bytes(slot.lo, size)
        {
            let first = if step > 0 { start } else { start - size * (passes - 1) };
            self.mem.objects[object as usize].data.fill(first as usize, (size * passes) as usize, byte);
            return;
        }
        for n in 0..passes {
            let offset = start.wrapping_add((step as u64).wrapping_mul(n));
            let _ = self.write_cell(object, offset as usize, cell, value.at(n));
        }
    }
}

/// The byte that all of the lower ones are.
fn same_bytes(value: u64, size: u64) -> Option<u8> {
    let bytes = &value.to_le_bytes()[..size as usize];
    bytes.iter().all(|b| *b == bytes[0]).then_some(bytes[0])
}

/// In how many of `most` passes no access meets what another one writes, unless it is the same place in the same pass.
fn apart(memory: &[Access], most: u64) -> Option<u64> {
    let passes = match memory.iter().any(|a| a.written && a.step != 0 && !fills(a)) {
        true => most.min(PLACES),
        false => most,
    };
    let span = |a: &Access| {
        let last = i128::from(a.start) + i128::from(a.step) * i128::from(passes - 1);
        (last.min(a.start.into()), last.max(a.start.into()) + i128::from(a.size))
    };
    for (i, a) in memory.iter().enumerate() {
        // Places of different passes must not overlap where they are written.
        if a.written && a.step != 0 && a.step.unsigned_abs() < a.size {
            return None;
        }
        for b in &memory[..i] {
            if a.object != b.object || !(a.written || b.written) {
                continue;
            }
            let ((a_low, a_high), (b_low, b_high)) = (span(a), span(b));
            if a_high <= b_low || b_high <= a_low {
                continue;
            }
            // Members of the same elements.
            let stride = i128::from(a.step.unsigned_abs());
            let between = (i128::from(b.start) - i128::from(a.start)).rem_euclid(stride.max(1));
            let members = a.step == b.step
                && stride > 0
                && between >= i128::from(a.size)
                && between + i128::from(b.size) <= stride;
            if !members {
                return None;
            }
        }
    }
    Some(passes)
}

/// Whether what it writes is one byte throughout.
fn fills(a: &Access) -> bool {
    a.value.step == 0
        && a.step.unsigned_abs() == a.size
        && a.size <= 8
        && same_bytes(a.value.start, a.size).is_some()
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
        self.memory.push(Access {
            object: id,
            start: at.start,
            step: at.step,
            cell,
            size,
            value,
            written: false,
        });
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
            Cell::Flag => self.norm(value, 63, false),
            Cell::B64 => Line { hi: 0, ..value },
            // Memory keeps in mind what a pointer was made for as long as that is alive.
            Cell::Ptr if self.m.mem.object_of(value.hi).is_some() => value,
            Cell::Ptr if value.step == 0 && self.m.mem.lookup(value.start) == value.hi => value,
            Cell::Ptr | Cell::B80 | Cell::B128 => return None,
        };
        match self.memory.iter_mut().find(|a| a.is(id, at, cell)) {
            Some(known) => {
                known.value = value;
                known.written = true;
            }
            None => self.memory.push(Access {
                object: id,
                start: at.start,
                step: at.step,
                cell,
                size,
                value,
                written: true,
            }),
        }
        Some(())
    }

    /// Executes from one instruction back to itself.
    fn run(&mut self, at: usize) -> Option<()> {
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
            Instr::Mark(_) => self.edges += u64::from(self.m.store.observed),
            Instr::Tick(n) => self.edges += if self.m.store.observed { 0 } else { u64::from(n) },
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
                    None if mask.wrapping_add(1).is_power_of_two() => {
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

/// The least and the greatest number of so many bits.
fn bounds(bits: u32, signed: bool) -> (i128, i128) {
    match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    }
}

/// In how many passes a value is within its type.
fn range(line: Line, bits: u32, signed: bool) -> u64 {
    let (low, high) = bounds(bits, signed);
    if signed { line.signed() } else { line.unsigned() }.within(low, high)
}

/// In how many passes what a place holds is what a load of it gives.
fn fits(cell: Cell, line: Line) -> Option<u64> {
    Some(match cell {
        Cell::I8 => range(line, 8, true),
        Cell::U8 => range(line, 8, false),
        Cell::Flag => range(line, 1, false),
        Cell::I16 => range(line, 16, true),
        Cell::U16 => range(line, 16, false),
        Cell::I32 => range(line, 32, true),
        Cell::U32 => range(line, 32, false),
        Cell::B64 | Cell::Ptr => u64::MAX,
        Cell::B80 | Cell::B128 if line.step == 0 => u64::MAX,
        Cell::B80 | Cell::B128 => return None,
    })
}
