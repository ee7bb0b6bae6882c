//! The loop that executes register code.

use crate::code::*;
use crate::contents::LARGE;
use crate::machine::{Cpu, Machine, Step, slot_bits};
use crate::memory::{BadAccess, Kind, Pointer};
use crate::outcome::{Outcome, Taken, Trap};
use crate::{library, scalar};
use palisade_cfa::*;
use std::rc::Rc;

/// Edges between two looks at the budget, and whether passes can be leapt over: at first, and at most.
const FIRST_LOOK: u64 = 1 << 12;
const LOOK: u64 = 1 << 18;

impl Machine<'_> {
    /// Executes until the run ends.
    pub fn execute(&mut self, cpu: &mut Cpu) -> Outcome {
        match self.run_code(cpu) {
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

    fn run_code(&mut self, cpu: &mut Cpu) -> Step<Outcome> {
        let (mut look, mut next_look) = (FIRST_LOOK, FIRST_LOOK);
        // Once around for each call and return; code and registers stay the same in between.
        'call: loop {
            let code = Rc::clone(&cpu.code);
            let instrs = &code.instrs[..];
            let mut pc = cpu.pc;
            macro_rules! r {
                ($i:expr) => {
                    cpu.regs[$i as usize]
                };
            }
            macro_rules! lo {
                ($i:expr) => {
                    cpu.regs[$i as usize].lo
                };
            }
            macro_rules! ptr {
                ($i:expr) => {
                    Pointer::from(cpu.regs[$i as usize])
                };
            }
            macro_rules! jump_if {
                ($cond:expr, $to:expr) => {
                    if $cond {
                        pc = $to as usize;
                    }
                };
            }
            // Leaves with an outcome, remembering where.
            macro_rules! stop {
                ($outcome:expr) => {{
                    cpu.pc = pc;
                    return Ok($outcome);
                }};
            }
            macro_rules! run {
                ($e:expr) => {
                    match $e {
                        Ok(value) => value,
                        Err(error) => stop!(Outcome::from(error)),
                    }
                };
            }
            loop {
                let at = pc;
                pc += 1;
                match instrs[at] {
                    Instr::Mark(edge) => run!(self.mark(cpu, edge)),
                    Instr::Tick(n) => {
                        if !self.store.observed {
                            self.steps += u64::from(n);
                            if self.steps > self.config.step_limit {
                                stop!(Outcome::StepLimit);
                            }
                        }
                        if self.steps >= next_look {
                            if let Some(stop) = self.config.budget.as_ref().and_then(|b| b.stopped()) {
                                stop!(Outcome::Stopped(stop));
                            }
                            run!(self.mem.count().map_err(|_| Outcome::MemoryLimit));
                            look = match self.may_leap() && self.leap(cpu, at) {
                                true => FIRST_LOOK,
                                false => LOOK.min(2 * look),
                            };
                            next_look = self.steps + look;
                        }
                    }
                    Instr::Mov { d, a } => r!(d) = r!(a),
                    Instr::Const { d, v } => r!(d) = Slot { lo: v, hi: 0 },
                    Instr::Wide { d, at } => {
                        let bits = self.store.tables.wide[at as usize];
                        r!(d) = Slot { lo: bits as u64, hi: (bits >> 64) as u64 };
                    }
                    Instr::GetGlobal { d, g } => r!(d) = self.globals[g as usize],
                    Instr::SetGlobal { g, a } => self.globals[g as usize] = r!(a),

                    Instr::AddS { d, a, b, sh } => lo!(d) = norm_s(lo!(a).wrapping_add(lo!(b)), sh),
                    Instr::AddU { d, a, b, sh } => lo!(d) = norm_u(lo!(a).wrapping_add(lo!(b)), sh),
                    Instr::SubS { d, a, b, sh } => lo!(d) = norm_s(lo!(a).wrapping_sub(lo!(b)), sh),
                    Instr::SubU { d, a, b, sh } => lo!(d) = norm_u(lo!(a).wrapping_sub(lo!(b)), sh),
                    Instr::MulS { d, a, b, sh } => lo!(d) = norm_s(lo!(a).wrapping_mul(lo!(b)), sh),
                    Instr::MulU { d, a, b, sh } => lo!(d) = norm_u(lo!(a).wrapping_mul(lo!(b)), sh),
                    Instr::AddImmS { d, a, imm, sh } => lo!(d) = norm_s(lo!(a).wrapping_add(imm as u64), sh),
                    Instr::AddImmU { d, a, imm, sh } => lo!(d) = norm_u(lo!(a).wrapping_add(imm as u64), sh),
                    Instr::MulImmS { d, a, imm, sh } => lo!(d) = norm_s(lo!(a).wrapping_mul(imm as u64), sh),
                    Instr::MulImmU { d, a, imm, sh } => lo!(d) = norm_u(lo!(a).wrapping_mul(imm as u64), sh),
                    Instr::And { d, a, b } => lo!(d) = lo!(a) & lo!(b),
                    Instr::Or { d, a, b } => lo!(d) = lo!(a) | lo!(b),
                    Instr::Xor { d, a, b } => lo!(d) = lo!(a) ^ lo!(b),
                    Instr::AndImm { d, a, imm } => lo!(d) = lo!(a) & imm as u64,
                    Instr::Div { d, a, b, sh, signed } => {
                        let (x, y) = (lo!(a), lo!(b));
                        if y == 0 {
                            stop!(Outcome::Trap(Trap::DivByZero));
                        }
                        lo!(d) = match signed {
                            true => norm_s((x as i64).wrapping_div(y as i64) as u64, sh),
                            false => x / y,
                        };
                    }
                    Instr::Rem { d, a, b, signed } => {
                        let (x, y) = (lo!(a), lo!(b));
                        if y == 0 {
                            stop!(Outcome::Trap(Trap::DivByZero));
                        }
                        lo!(d) = match signed {
                            true => (x as i64).wrapping_rem(y as i64) as u64,
                            false => x % y,
                        };
                    }
                    Instr::Shl { d, a, b, sh, signed } => {
                        let n = lo!(b);
                        if n >= 64 - u64::from(sh) {
                            stop!(Outcome::Trap(Trap::Shift));
                        }
                        let x = lo!(a) << n;
                        lo!(d) = if signed { norm_s(x, sh) } else { norm_u(x, sh) };
                    }
                    Instr::Shr { d, a, b, sh, signed } => {
                        let n = lo!(b);
                        if n >= 64 - u64::from(sh) {
                            stop!(Outcome::Trap(Trap::Shift));
                        }
                        lo!(d) = if signed { (lo!(a) as i64 >> n) as u64 } else { lo!(a) >> n };
                    }
                    Instr::NormS { d, a, sh } => lo!(d) = norm_s(lo!(a), sh),
                    Instr::NormU { d, a, sh } => lo!(d) = norm_u(lo!(a), sh),
                    Instr::Neg { d, a, sh, signed } => {
                        let x = lo!(a).wrapping_neg();
                        lo!(d) = if signed { norm_s(x, sh) } else { norm_u(x, sh) };
                    }
                    Instr::Not { d, a, sh, signed } => {
                        let x = !lo!(a);
                        lo!(d) = if signed { norm_s(x, sh) } else { norm_u(x, sh) };
                    }
                    Instr::Cmp { rel, d, a, b } => {
                        let (x, y) = (lo!(a), lo!(b));
                        lo!(d) = match rel {
                            Rel::Eq => x == y,
                            Rel::Ne => x != y,
                            Rel::LtS => (x as i64) < y as i64,
                            Rel::LeS => x as i64 <= y as i64,
                            Rel::LtU => x < y,
                            Rel::LeU => x <= y,
                        }
                        .into();
                    }
                    Instr::Extend { d, a, signed } => {
                        let lo = lo!(a);
                        r!(d) = Slot { lo, hi: if signed { (lo as i64 >> 63) as u64 } else { 0 } };
                    }
                    Instr::F64 { op, d, a, b } => {
                        let (x, y) = (f64::from_bits(lo!(a)), f64::from_bits(lo!(b)));
                        let z = match op {
                            BinOp::Add => x + y,
                            BinOp::Sub => x - y,
                            BinOp::Mul => x * y,
                            _ => x / y,
                        };
                        lo!(d) = if z.is_nan() {
                            let ty = Scalar::Float(FloatTy::F64);
                            let bits = scalar::binary(op, ty, lo!(a).into(), IntTy::I32, lo!(b).into());
                            bits.unwrap_or(0) as u64
                        } else {
                            z.to_bits()
                        };
                    }
                    Instr::F64Cmp { op, d, a, b } => {
                        let (x, y) = (f64::from_bits(lo!(a)), f64::from_bits(lo!(b)));
                        lo!(d) = match op {
                            CmpOp::Eq => x == y,
                            CmpOp::Ne => x != y,
                            CmpOp::Lt => x < y,
                            CmpOp::Le => x <= y,
                        }
                        .into();
                    }
                    Instr::Gen1 { op, d, a } => {
                        let slot = run!(self.general1(self.store.tables.gens[op as usize], r!(a)));
                        r!(d) = slot;
                    }
                    Instr::Gen2 { op, d, a, b } => {
                        let slot = run!(self.general2(self.store.tables.gens[op as usize], r!(a), r!(b)));
                        r!(d) = slot;
                    }
                    Instr::IntToPtr { d, a } => {
                        let pointer = self.mem.pointer_to(lo!(a));
                        r!(d) = pointer.into();
                    }
                    Instr::PtrAdd { d, p, i, stride } => {
                        let Slot { lo, hi } = r!(p);
                        let offset = lo!(i).wrapping_mul(stride.into());
                        r!(d) = Slot { lo: lo.wrapping_add(offset) & self.mem.mask, hi };
                    }
                    Instr::PtrAddImm { d, p, imm } => {
                        let Slot { lo, hi } = r!(p);
                        r!(d) = Slot { lo: lo.wrapping_add(imm as u64) & self.mem.mask, hi };
                    }
                    Instr::PtrDiff { d, a, b, stride } => {
                        let sh = 64 - 8 * self.mem.ptr_bytes as u8;
                        let diff = norm_s(lo!(a).wrapping_sub(lo!(b)), sh) as i64;
                        lo!(d) = (diff / i64::from(stride.max(1))) as u64;
                    }
                    Instr::Offset { d, a, i, stride } => {
                        lo!(d) = lo!(a).wrapping_add(lo!(i).wrapping_mul(stride.into()));
                    }

                    Instr::Jump { to } => pc = to as usize,
                    Instr::JumpZero { a, to } => jump_if!(lo!(a) == 0, to),
                    Instr::JumpNonZero { a, to } => jump_if!(lo!(a) != 0, to),
                    Instr::JEq { a, b, to } => jump_if!(lo!(a) == lo!(b), to),
                    Instr::JNe { a, b, to } => jump_if!(lo!(a) != lo!(b), to),
                    Instr::JLtS { a, b, to } => jump_if!((lo!(a) as i64) < lo!(b) as i64, to),
                    Instr::JLeS { a, b, to } => jump_if!(lo!(a) as i64 <= lo!(b) as i64, to),
                    Instr::JLtU { a, b, to } => jump_if!(lo!(a) < lo!(b), to),
                    Instr::JLeU { a, b, to } => jump_if!(lo!(a) <= lo!(b), to),
                    Instr::JEqImm { a, imm, to } => jump_if!(lo!(a) as i64 == i64::from(imm), to),
                    Instr::JNeImm { a, imm, to } => jump_if!(lo!(a) as i64 != i64::from(imm), to),
                    Instr::JLtSImm { a, imm, to } => jump_if!((lo!(a) as i64) < i64::from(imm), to),
                    Instr::JLeSImm { a, imm, to } => jump_if!(lo!(a) as i64 <= i64::from(imm), to),
                    Instr::JGtSImm { a, imm, to } => jump_if!(lo!(a) as i64 > i64::from(imm), to),
                    Instr::JGeSImm { a, imm, to } => jump_if!(lo!(a) as i64 >= i64::from(imm), to),
                    Instr::JLtUImm { a, imm, to } => jump_if!(lo!(a) < u64::from(imm), to),
                    Instr::JLeUImm { a, imm, to } => jump_if!(lo!(a) <= u64::from(imm), to),
                    Instr::JGtUImm { a, imm, to } => jump_if!(lo!(a) > u64::from(imm), to),
                    Instr::JGeUImm { a, imm, to } => jump_if!(lo!(a) >= u64::from(imm), to),
                    Instr::JOverflow { op, a, b, sh, signed, to } => {
                        jump_if!(narrow_overflow(op, lo!(a), lo!(b), sh, signed), to)
                    }
                    Instr::JNoOverflow { op, a, b, sh, signed, to } => {
                        jump_if!(!narrow_overflow(op, lo!(a), lo!(b), sh, signed), to)
                    }
                    Instr::JInvalid { p, size, to } => {
                        jump_if!(self.mem.resolve(ptr!(p), size.into()).is_err(), to)
                    }
                    Instr::Valid { d, p, size } => {
                        lo!(d) = self.mem.resolve(ptr!(p), lo!(size)).is_ok().into();
                    }
                    Instr::Freeable { d, p } => {
                        lo!(d) = self.mem.freeable(ptr!(p)).into();
                    }
                    Instr::ObjectSize { d, p } => {
                        let id = self.mem.object_of(r!(p).hi);
                        lo!(d) = id.map_or(0, |id| self.mem.objects[id as usize].data.len() as u64);
                    }
                    Instr::IsReadOnly { d, p } => {
                        let id = self.mem.object_of(r!(p).hi);
                        lo!(d) = id.is_some_and(|id| self.mem.objects[id as usize].read_only).into();
                    }
                    Instr::Overlap { d, p, q, size } => {
                        lo!(d) = self.mem.overlap(ptr!(p), ptr!(q), lo!(size)).into();
                    }
                    Instr::HeapEmpty { d } => lo!(d) = self.mem.heap_empty().into(),
                    Instr::HeapTracked { d } => lo!(d) = self.state(cpu).heap_tracked().into(),

                    Instr::Load { cell, from, d, i, stride, off } => {
                        let (id, at) =
                            run!(self.locate(cpu, from, i, stride, off, cell_size(cell, self.mem.ptr_bytes)));
                        r!(d) = self.read_cell(id, at, cell);
                    }
                    Instr::Store { cell, from, a, i, stride, off } => {
                        let (id, at) =
                            run!(self.locate(cpu, from, i, stride, off, cell_size(cell, self.mem.ptr_bytes)));
                        run!(self.write_cell(id, at, cell, r!(a)));
                    }
                    Instr::Lea { from, d, i, stride, off } => {
                        let offset = offset(cpu, i, stride, off);
                        let pointer = match from {
                            Start::Ptr(p) => {
                                let Slot { lo, hi } = r!(p);
                                Pointer { addr: lo.wrapping_add(offset) & self.mem.mask, prov: hi }
                            }
                            Start::Local(k) => self.mem.pointer(self.frame_object(cpu, k), offset),
                            Start::Global(id) => self.mem.pointer(id, offset),
                        };
                        r!(d) = pointer.into();
                    }
                    Instr::LoadBits { d, p, first, ty } => {
                        let size = u64::from(first + ty.bits).div_ceil(8);
                        let (id, at) = run!(self.mem.resolve(ptr!(p), size));
                        let bits = self.mem.read_bits(id, at, first, ty.bits);
                        r!(d) = self.bits_slot(Scalar::Int(ty), bits);
                    }
                    Instr::StoreBits { p, a, first, ty } => {
                        let size = u64::from(first + ty.bits).div_ceil(8);
                        let (id, at) = run!(self.mem.resolve(ptr!(p), size));
                        let bits = slot_bits(Scalar::Int(ty), r!(a));
                        run!(self.write_bits(id, at, first, ty.bits, bits));
                    }
                    Instr::CopyBytes { to, from, size } => {
                        run!(self.copy_bytes(ptr!(to), ptr!(from), size));
                    }
                    Instr::MemCopy { to, from, size } => {
                        let size = lo!(size);
                        run!(self.copy_bytes(ptr!(to), ptr!(from), size));
                    }
                    Instr::ZeroBytes { p, size } => {
                        run!(self.set_bytes(ptr!(p), 0, size));
                    }
                    Instr::MemSet { p, byte, size } => {
                        let (byte, size) = (lo!(byte) as u8, lo!(size));
                        run!(self.set_bytes(ptr!(p), byte, size));
                    }

                    Instr::Havoc { d, ty, input } => {
                        let edge = code.edges[pc - 1];
                        let bits = if input {
                            run!(self.take_input(ty, edge))
                        } else {
                            self.inputs.unknown(ty, edge)
                        };
                        r!(d) = self.bits_slot(ty, masked(ty, bits));
                    }
                    Instr::HavocBytes { p, size, input } => {
                        let edge = code.edges[pc - 1];
                        let (id, at) = run!(self.writable(ptr!(p), size));
                        let byte = Scalar::Int(IntTy { bits: 8, signed: false });
                        if input {
                            for i in 0..size as usize {
                                let bits = run!(self.take_input(byte, edge));
                                self.mem.objects[id as usize].data.set(at + i, [bits as u8]);
                            }
                        } else {
                            self.mem.objects[id as usize].data.fill(at, size as usize, 0);
                            self.ask_for_bytes(id, at, size as usize, edge);
                        }
                    }
                    Instr::Alloc { d, size, kind, zeroed } => {
                        let object = match kind {
                            AllocKind::Heap => Kind::Heap,
                            AllocKind::Stack => Kind::Stack,
                        };
                        let id = run!(self.create(lo!(size), object));
                        if kind == AllocKind::Stack {
                            self.allocas.push(id);
                        }
                        if !zeroed {
                            self.ask_for_all(id, code.edges[pc - 1]);
                        }
                        r!(d) = self.mem.pointer(id, 0).into();
                    }
                    Instr::Free { p } => {
                        run!(self.free(ptr!(p), cpu.allocas));
                    }
                    Instr::EnterObj { k } => run!(self.enter_object(cpu, k, code.edges[pc - 1])),
                    Instr::LeaveObj { k } => {
                        let id = std::mem::take(&mut self.frame_objects[cpu.objects + k as usize]);
                        if id != 0 {
                            self.mem.kill(id);
                        }
                    }
                    Instr::Call { site, first, d } => {
                        // A direct call's site names its function.
                        let func = self.store.tables.sites[site as usize].callee.unwrap_or(FuncId(0));
                        cpu.pc = pc;
                        if self.p.funcs[func].body.is_some() {
                            self.call(cpu, func, site, first, d)?;
                            continue 'call;
                        }
                        library::call(self, cpu, func, site, first, d)?;
                    }
                    Instr::CallPtr { site, p, first, d } => {
                        cpu.pc = pc;
                        let pointer = lo!(p);
                        self.call_pointer(cpu, site, pointer, first, d)?;
                        continue 'call;
                    }
                    Instr::StoreResult { p, size } => {
                        let (id, at) = run!(self.writable(ptr!(p), size));
                        let mut parcel = std::mem::take(&mut self.parcel);
                        parcel.data.resize(size as usize, 0);
                        self.mem.put(id, at, &parcel);
                    }
                    Instr::Return { a } => {
                        let slot = r!(a);
                        match self.give_back(cpu, slot) {
                            Some(outcome) => return Ok(outcome),
                            None => continue 'call,
                        }
                    }
                    Instr::ReturnNothing => match self.give_back(cpu, Slot::default()) {
                        Some(outcome) => return Ok(outcome),
                        None => continue 'call,
                    },
                    Instr::ReturnBytes { p, size } => {
                        let (id, at) = run!(self.mem.resolve(ptr!(p), size));
                        self.parcel = self.mem.take(id, at, size as usize);
                        match self.give_back(cpu, Slot::default()) {
                            Some(outcome) => return Ok(outcome),
                            None => continue 'call,
                        }
                    }
                    Instr::Exit { a } => stop!(Outcome::Exit(lo!(a) as i32)),
                    Instr::Abort => stop!(Outcome::Abort),
                    Instr::Fail(kind) => stop!(Outcome::Violation(kind)),
                    Instr::Blocked => {
                        if let Some(observer) = self.observer.take() {
                            observer.on_blocked(code.edges[pc - 1], &self.state(cpu));
                        }
                        stop!(Outcome::Blocked)
                    }
                }
            }
        }
    }

    fn frame_object(&self, cpu: &Cpu, k: u32) -> u32 {
        self.frame_objects[cpu.objects + k as usize]
    }

    /// The object and offset of an access.
    #[inline(always)]
    fn locate(
        &self,
        cpu: &Cpu,
        from: Start,
        i: Reg,
        stride: u32,
        off: i32,
        size: u64,
    ) -> Result<(u32, usize), BadAccess> {
        let offset = offset(cpu, i, stride, off);
        let id = match from {
            Start::Ptr(p) => {
                let Slot { lo, hi } = cpu.regs[p as usize];
                let addr = lo.wrapping_add(offset) & self.mem.mask;
                return self.mem.resolve(Pointer { addr, prov: hi }, size);
            }
            Start::Local(k) => self.frame_object(cpu, k),
            Start::Global(id) => id,
        };
        let offset = offset & self.mem.mask;
        let object = &self.mem.objects[id as usize];
        let len = object.data.len() as u64;
        if offset > len || size > len - offset {
            return Err(if object.live { BadAccess::OutOfBounds } else { BadAccess::Dangling });
        }
        Ok((id, offset as usize))
    }

    pub fn take_input(&mut self, ty: Scalar, edge: EdgeId) -> Step<u128> {
        let bits = masked(ty, self.inputs.input(ty, edge).ok_or(Outcome::NeedInput)?);
        self.taken.push(Taken { edge, ty, bits, times: 1 });
        Ok(bits)
    }

    fn general1(&self, op: GenOp, a: Slot) -> Step<Slot> {
        Ok(match op {
            GenOp::Unary(op, ty) => self.bits_slot(ty, scalar::unary(op, ty, slot_bits(ty, a)).unwrap_or(0)),
            GenOp::Convert(from, to) => {
                let bits = slot_bits(from, a);
                self.holds(from, to, bits)?;
                self.bits_slot(to, scalar::convert(from, to, bits, self.p.data_model.ptr_bits()))
            }
            _ => a,
        })
    }

    /// What an integer becomes that is to hold a floating-point number for which it is too small, processors and
    /// compilers see in several ways.
    pub fn holds(&self, from: Scalar, to: Scalar, bits: u128) -> Step<()> {
        if self.config.approximate || scalar::holds(from, to, bits) {
            return Ok(());
        }
        Err(Outcome::Unsupported("a floating-point number that does not fit the integer".into()))
    }

    fn general2(&self, op: GenOp, a: Slot, b: Slot) -> Step<Slot> {
        let flag = |x: bool| Slot { lo: x.into(), hi: 0 };
        Ok(match op {
            GenOp::Binary(op, ty, shift) => {
                let right = if matches!(op, BinOp::Shl | BinOp::Shr) { Scalar::Int(shift) } else { ty };
                match scalar::binary(op, ty, slot_bits(ty, a), shift, slot_bits(right, b)) {
                    Some(bits) => self.bits_slot(ty, bits),
                    None if matches!(op, BinOp::Shl | BinOp::Shr) => return Err(Outcome::Trap(Trap::Shift)),
                    None => return Err(Outcome::Trap(Trap::DivByZero)),
                }
            }
            GenOp::Cmp(op, ty) => flag(scalar::compare(op, ty, slot_bits(ty, a), slot_bits(ty, b))),
            GenOp::Overflow(op, t, shift) => {
                let (x, y) = (slot_bits(Scalar::Int(t), a), slot_bits(Scalar::Int(shift), b));
                flag(scalar::overflow(op, t, x, shift, y))
            }
            GenOp::Unary(..) | GenOp::Convert(..) => a,
        })
    }

    /// Releases a heap object, or a variable-length array at the end of its block.
    pub fn free(&mut self, p: Pointer, allocas: usize) -> Step<()> {
        if p.addr == 0 {
            return Ok(());
        }
        let Some(id) = self.mem.object_of(p.prov) else { return Err(Outcome::Trap(Trap::Free)) };
        let object = &self.mem.objects[id as usize];
        if object.base != p.addr || !matches!(object.kind, Kind::Heap | Kind::Stack) {
            return Err(Outcome::Trap(Trap::Free));
        }
        if object.kind == Kind::Stack
            && let Some(entry) = self.allocas.iter_mut().rev().find(|o| **o == id)
        {
            *entry = 0;
        }
        while self.allocas.len() > allocas && self.allocas.last() == Some(&0) {
            self.allocas.pop();
        }
        self.mem.kill(id);
        Ok(())
    }

    fn enter_object(&mut self, cpu: &Cpu, k: u32, edge: EdgeId) -> Step<()> {
        let layout = &self.layout.frames[cpu.func];
        let at = cpu.objects + k as usize;
        if !layout.at_entry[k as usize] {
            let old = self.frame_objects[at];
            if old != 0 {
                self.mem.kill(old);
            }
            self.frame_objects[at] = self.create(layout.sizes[k as usize], Kind::Local)?;
        }
        let id = self.frame_objects[at];
        self.ask_for_all(id, edge);
        Ok(())
    }

    /// The object and offset of bytes that may be written.
    pub fn writable(&self, p: Pointer, size: u64) -> Step<(u32, usize)> {
        let (id, at) = self.mem.resolve(p, size)?;
        match self.mem.objects[id as usize].read_only && size > 0 {
            true => Err(BadAccess::ReadOnly.into()),
            false => Ok((id, at)),
        }
    }

    pub fn copy_bytes(&mut self, to: Pointer, from: Pointer, size: u64) -> Step<()> {
        if size > 0 {
            let (to, from) = (self.writable(to, size)?, self.mem.resolve(from, size)?);
            self.mem.copy(to, from, size as usize);
            if size >= LARGE {
                self.mem.count().map_err(|_| Outcome::MemoryLimit)?;
            }
        }
        Ok(())
    }

    pub fn set_bytes(&mut self, to: Pointer, byte: u8, size: u64) -> Step<()> {
        if size > 0 {
            let (id, at) = self.writable(to, size)?;
            self.mem.objects[id as usize].data.fill(at, size as usize, byte);
        }
        Ok(())
    }

    fn write_bits(&mut self, id: u32, at: usize, first: u16, width: u16, bits: u128) -> Step<()> {
        if self.mem.objects[id as usize].read_only {
            return Err(BadAccess::ReadOnly.into());
        }
        let mut left = u32::from(width);
        let (mut bits, mut first, mut at) = (bits, u32::from(first), at);
        while left > 0 {
            let n = left.min(8 - first);
            let mask = ((1u16 << n) - 1) as u8;
            let data = &mut self.mem.objects[id as usize].data;
            let [byte] = data.get(at);
            data.set(at, [byte & !(mask << first) | (bits as u8 & mask) << first]);
            bits >>= n;
            left -= n;
            first = 0;
            at += 1;
        }
        Ok(())
    }
}

/// The offset of an access from its start.
#[inline(always)]
fn offset(cpu: &Cpu, i: Reg, stride: u32, off: i32) -> u64 {
    if i == NO_INDEX {
        return off as u64;
    }
    (off as u64).wrapping_add(cpu.regs[i as usize].lo.wrapping_mul(stride.into()))
}

fn masked(ty: Scalar, bits: u128) -> u128 {
    match ty {
        Scalar::Int(t) => t.truncate(bits),
        Scalar::Float(t) => bits & ((1u128 << t.bits()) - 1),
        Scalar::Ptr => bits,
    }
}

pub(crate) fn cell_size(cell: Cell, ptr_bytes: usize) -> u64 {
    match cell {
        Cell::I8 | Cell::U8 | Cell::Flag => 1,
        Cell::I16 | Cell::U16 => 2,
        Cell::I32 | Cell::U32 => 4,
        Cell::B64 => 8,
        Cell::Ptr => ptr_bytes as u64,
        Cell::B80 => 10,
        Cell::B128 => 16,
    }
}

/// Whether the exact result of an operator on canonical operands leaves their type.
#[inline(always)]
fn narrow_overflow(op: BinOp, a: u64, b: u64, sh: u8, signed: bool) -> bool {
    if signed && sh >= 32 {
        let (x, y) = (a as i64, b as i64);
        let exact = match op {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            _ => x * y,
        };
        return norm_s(exact as u64, sh) as i64 != exact;
    }
    wide_overflow(op, a, b, sh, signed)
}

fn wide_overflow(op: BinOp, a: u64, b: u64, sh: u8, signed: bool) -> bool {
    let t = IntTy { bits: 64 - u16::from(sh), signed };
    scalar::overflow(op, t, t.truncate(a.into()), t, t.truncate(b.into()))
}
