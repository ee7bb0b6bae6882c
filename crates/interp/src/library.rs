//! Functions without a body that the interpreter has code for: output and floating-point
//! functions. Which is which, the automaton says ([`Effect`]).

mod decimal;
mod format;
mod math;
mod number;

use crate::code::{ArgTy, Reg, ResultTy, Slot};
use crate::inputs::Stream;
use crate::machine::{Cpu, Machine, Step, slot_bits};
use crate::memory::Pointer;
use crate::outcome::Outcome;
use format::Args;
use palisade_cfa::*;

/// Bytes that are written to a stream at a time.
const WRITTEN: usize = 1 << 20;

/// Calls a function without a body.
pub(crate) fn call(
    m: &mut Machine<'_>,
    cpu: &mut Cpu,
    func: FuncId,
    site: u32,
    first: Reg,
    result: Reg,
) -> Step<()> {
    let effect = m.p.funcs[func].effect;
    let mut call = Call { m, func, site, args: &cpu.regs[first as usize..] };
    if let Some(value) = call.run(effect)? {
        cpu.regs[result as usize] = value;
    }
    Ok(())
}

/// A call of a library function.
struct Call<'m, 'a> {
    m: &'m mut Machine<'a>,
    func: FuncId,
    site: u32,
    /// Registers from the first argument on.
    args: &'m [Slot],
}

impl Call<'_, '_> {
    /// Type and register of an argument; zero if there are not so many.
    fn arg(&self, i: usize) -> (Scalar, Slot) {
        match self.m.store.tables.sites[self.site as usize].args.get(i) {
            Some(ArgTy::Scalar(ty)) => (*ty, self.args[i]),
            Some(ArgTy::Aggregate) => (Scalar::Ptr, self.args[i]),
            None => (Scalar::Int(IntTy::I32), Slot::default()),
        }
    }

    fn count(&self) -> usize {
        self.m.store.tables.sites[self.site as usize].args.len()
    }

    fn pointer(&self, i: usize) -> Pointer {
        let (ty, slot) = self.arg(i);
        match ty {
            Scalar::Ptr => slot.into(),
            _ => self.m.mem.pointer_to(slot.lo),
        }
    }

    /// An argument as a size or another integer, extended to 64 bits.
    fn int(&self, i: usize) -> u64 {
        self.arg(i).1.lo
    }

    /// A result of the type that the caller expects.
    fn int_result(&self, value: i64) -> Option<Slot> {
        match self.m.store.tables.sites[self.site as usize].result {
            Some(ResultTy::Scalar(ty)) => {
                let wide = Scalar::Int(IntTy { bits: 64, signed: true });
                let bits =
                    crate::scalar::convert(wide, ty, value as u64 as u128, self.m.p.data_model.ptr_bits());
                Some(self.m.bits_slot(ty, bits))
            }
            _ => None,
        }
    }

    /// The stream a `FILE *` stands for: its first member is the descriptor.
    fn stream(&self, p: Pointer) -> Step<Option<Stream>> {
        let (id, at) = self.m.mem.resolve(p, 4)?;
        Ok(descriptor(self.m.mem.read(id, at, 4) as u64))
    }

    fn run(&mut self, effect: Effect) -> Step<Option<Slot>> {
        let native = match effect {
            Effect::Pure | Effect::Arbitrary => return Ok(self.unknown()),
            Effect::Unordered => return Ok(None),
            Effect::Scramble => {
                self.scramble()?;
                return Ok(None);
            }
            Effect::Opaque => return self.unsupported("the result of"),
            Effect::Unmodelled => return self.unsupported("the function"),
            Effect::Native(native) => native,
        };
        Ok(match native {
            Native::Math(math, ty) => math::run(self, math, ty)?,
            Native::Printf(printf) => {
                let n = self.printf(printf)?;
                self.int_result(n)
            }
            Native::PutString { newline, stream } => {
                let to = if stream { self.stream(self.pointer(1))? } else { Some(Stream::Out) };
                let mut bytes = self.m.c_string(self.pointer(0), None)?;
                if newline {
                    bytes.push(b'\n');
                }
                self.output(to, &bytes);
                self.int_result(bytes.len() as i64)
            }
            Native::PutChar { stream } => {
                let to = if stream { self.stream(self.pointer(1))? } else { Some(Stream::Out) };
                let byte = self.int(0) as u8;
                self.output(to, &[byte]);
                self.int_result(byte.into())
            }
            Native::WriteItems => {
                let total = self.int(1).saturating_mul(self.int(2));
                let to = self.stream(self.pointer(3))?;
                self.write_bytes(to, self.pointer(0), total)?;
                self.int_result(self.int(2) as i64)
            }
            Native::WriteBytes => {
                let to = descriptor(self.int(0));
                self.write_bytes(to, self.pointer(1), self.int(2))?;
                self.int_result(self.int(2) as i64)
            }
            Native::ParseFloat(ty) => {
                let text = self.m.c_string(self.pointer(0), None)?;
                let (bits, _) = number::parse(&text, ty);
                Some(self.m.bits_slot(Scalar::Float(ty), bits))
            }
        })
    }

    fn unsupported(&self, what: &str) -> Step<Option<Slot>> {
        let name = &self.m.p.funcs[self.func].name;
        Err(Outcome::Unsupported(format!("{what} `{name}`")))
    }

    /// Arbitrary bytes from the first argument on.
    fn scramble(&mut self) -> Step<()> {
        let size = self.int(1);
        if size == 0 {
            return Ok(());
        }
        let (id, at) = self.m.writable(self.pointer(0), size)?;
        let edge = self.m.store.tables.sites[self.site as usize].edge;
        self.m.mem.objects[id as usize].data.fill(at, size as usize, 0);
        self.m.ask_for_bytes(id, at, size as usize, edge);
        Ok(())
    }

    fn output(&mut self, to: Option<Stream>, bytes: &[u8]) {
        if let Some(to) = to {
            self.m.output.write(to, bytes);
        }
    }

    fn write_bytes(&mut self, to: Option<Stream>, from: Pointer, size: u64) -> Step<()> {
        if size > 0 {
            let (id, at) = self.m.mem.resolve(from, size)?;
            if let Some(to) = to {
                for done in (0..size as usize).step_by(WRITTEN) {
                    let n = WRITTEN.min(size as usize - done);
                    let bytes = self.m.mem.objects[id as usize].data.bytes(at + done, n);
                    self.m.output.write(to, &bytes);
                }
            }
        }
        Ok(())
    }

    /// Any value, and nothing else happens.
    fn unknown(&mut self) -> Option<Slot> {
        if !self.m.unknown_functions.contains(&self.func) {
            self.m.unknown_functions.push(self.func);
        }
        let site = &self.m.store.tables.sites[self.site as usize];
        let edge = site.edge;
        match site.result? {
            ResultTy::Scalar(ty) => {
                let bits = self.m.inputs.unknown(ty, edge);
                Some(self.m.bits_slot(ty, bits))
            }
            ResultTy::Bytes(size) => {
                self.m.parcel = Default::default();
                self.m.parcel.data.resize(size as usize, 0);
                self.m.inputs.unknown_bytes(edge, &mut self.m.parcel.data);
                None
            }
        }
    }

    fn printf(&mut self, printf: Printf) -> Step<i64> {
        let mut next = printf.format_position();
        let format = self.m.c_string(self.pointer(next), None)?;
        next += 1;
        // Through a pointer, variable arguments come in the area that callers make for them.
        let through_pointer = self.m.store.tables.sites[self.site as usize].callee.is_none();
        let mut args = if printf.list {
            let list = self.pointer(next);
            let area = match self.m.p.data_model {
                DataModel::Ilp32 => list,
                DataModel::Lp64 => {
                    // The member that points to the arguments in memory.
                    let field = Pointer { addr: list.addr.wrapping_add(8), ..list };
                    let (id, at) = self.m.mem.resolve(field, 8)?;
                    self.m.mem.read_pointer(id, at)
                }
            };
            Args::Area(area)
        } else if through_pointer {
            Args::Area(self.pointer(next))
        } else {
            let rest = (next..self.count()).map(|i| self.arg(i)).collect();
            Args::Given(rest)
        };
        let bytes = format::format(self.m, &format, &mut args)?;
        match printf.to {
            To::Out => self.m.output.write(Stream::Out, &bytes),
            To::Stream => {
                let to = self.stream(self.pointer(0))?;
                self.output(to, &bytes);
            }
            To::Descriptor => self.output(descriptor(self.int(0)), &bytes),
            To::Nowhere => {}
            To::String => self.put_string(&bytes)?,
            To::Bounded => {
                let size = self.int(1);
                if size > 0 {
                    let kept = bytes.len().min(size as usize - 1);
                    self.put_string(&bytes[..kept])?;
                }
            }
        }
        Ok(bytes.len() as i64)
    }

    fn put_string(&mut self, bytes: &[u8]) -> Step<()> {
        let (id, at) = self.m.writable(self.pointer(0), bytes.len() as u64 + 1)?;
        let data = &mut self.m.mem.objects[id as usize].data;
        data.write(at, bytes);
        data.set(at + bytes.len(), [0]);
        Ok(())
    }

    /// Value bits of a floating-point argument.
    fn float_bits(&self, i: usize) -> (Scalar, u128) {
        let (ty, slot) = self.arg(i);
        (ty, slot_bits(ty, slot))
    }
}

/// Where the bytes go that are written to a descriptor; what goes to files is lost.
fn descriptor(number: u64) -> Option<Stream> {
    match number as u32 {
        1 => Some(Stream::Out),
        2 => Some(Stream::Err),
        _ => None,
    }
}
