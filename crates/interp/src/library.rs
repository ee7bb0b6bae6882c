//! The part of the C library that is neither an operation of the automaton nor C source: output,
//! floating-point functions, and what asks about the surroundings. There are no files, standard
//! input is empty, the environment too, and clocks stand still.

mod decimal;
mod format;
mod math;
mod number;

use crate::code::{ArgTy, Reg, ResultTy, Slot};
use crate::inputs::Stream;
use crate::layout::FIRST_STREAM;
use crate::machine::{Cpu, Machine, Step, slot_bits};
use crate::memory::{Kind, Pointer};
use crate::outcome::Outcome;
use format::Args;
use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// What functions without a body do, by number, as far as it was looked up already.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    known: FxHashMap<FuncId, Builtin>,
}

/// What a library function does.
#[derive(Clone, Copy, Debug)]
enum Builtin {
    Math(math::Math),
    Printf(Printf),
    PutString { newline: bool, stream: bool },
    PutChar { stream: bool },
    Write,
    WriteFd,
    Perror,
    Constant(i64),
    Malloc,
    Calloc,
    Free,
    MemCopy,
    MemSet,
    Exit,
    Abort,
    Strtod(FloatTy),
    Atof,
    Unsupported,
    Unknown,
}

/// A function of the `printf` family.
#[derive(Clone, Copy, Debug)]
struct Printf {
    to: To,
    /// Whether the arguments come as a `va_list`.
    list: bool,
    /// Arguments between the destination and the format that do not matter (`_chk` variants).
    skip: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum To {
    Out,
    Stream,
    String,
    Bounded,
}

fn find(name: &str) -> Builtin {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let printf = |to, list, skip| Builtin::Printf(Printf { to, list, skip });
    if let Some(math) = math::find(name) {
        return Builtin::Math(math);
    }
    match name {
        "printf" => printf(To::Out, false, 0),
        "fprintf" => printf(To::Stream, false, 0),
        "sprintf" => printf(To::String, false, 0),
        "snprintf" => printf(To::Bounded, false, 0),
        "vprintf" => printf(To::Out, true, 0),
        "vfprintf" => printf(To::Stream, true, 0),
        "vsprintf" => printf(To::String, true, 0),
        "vsnprintf" => printf(To::Bounded, true, 0),
        "__printf_chk" => printf(To::Out, false, 1),
        "__fprintf_chk" => printf(To::Stream, false, 1),
        "__sprintf_chk" => printf(To::String, false, 2),
        "__snprintf_chk" => printf(To::Bounded, false, 2),
        "__vprintf_chk" => printf(To::Out, true, 1),
        "__vfprintf_chk" => printf(To::Stream, true, 1),
        "__vsprintf_chk" => printf(To::String, true, 2),
        "__vsnprintf_chk" => printf(To::Bounded, true, 2),
        "puts" => Builtin::PutString { newline: true, stream: false },
        "fputs" | "fputs_unlocked" => Builtin::PutString { newline: false, stream: true },
        "putchar" | "putchar_unlocked" => Builtin::PutChar { stream: false },
        "putc" | "fputc" | "_IO_putc" | "putc_unlocked" => Builtin::PutChar { stream: true },
        "fwrite" | "fwrite_unlocked" => Builtin::Write,
        "write" => Builtin::WriteFd,
        "perror" => Builtin::Perror,
        "fflush" | "setvbuf" | "fclose" | "setbuf" | "ferror" | "clearerr" | "isatty" | "system"
        | "signal" | "usleep" | "sleep" | "sched_yield" | "tzset" => Builtin::Constant(0),
        "getchar" | "getc" | "fgetc" | "_IO_getc" | "ungetc" | "remove" | "rename" | "open" | "close"
        | "ftell" | "fseek" => Builtin::Constant(-1),
        "feof" => Builtin::Constant(1),
        "fgets" | "gets" | "fopen" | "freopen" | "tmpfile" | "fdopen" | "getenv" | "secure_getenv"
        | "setlocale" | "fread" | "read" | "time" | "clock" | "getline" => Builtin::Constant(0),
        "getpid" | "getppid" | "gettid" => Builtin::Constant(1000),
        "malloc" => Builtin::Malloc,
        "calloc" => Builtin::Calloc,
        "free" => Builtin::Free,
        "memcpy" | "memmove" => Builtin::MemCopy,
        "memset" => Builtin::MemSet,
        "exit" | "_exit" | "_Exit" => Builtin::Exit,
        "abort" => Builtin::Abort,
        "strtod" => Builtin::Strtod(FloatTy::F64),
        "strtof" => Builtin::Strtod(FloatTy::F32),
        "strtold" => Builtin::Strtod(FloatTy::F80),
        "atof" => Builtin::Atof,
        "scanf" | "fscanf" | "sscanf" | "vscanf" | "vsscanf" | "__isoc99_scanf" | "__isoc99_sscanf"
        | "__isoc99_fscanf" | "__isoc23_scanf" | "__isoc23_sscanf" | "__isoc23_fscanf" | "fork" | "vfork"
        | "clone" | "thrd_create" | "setjmp" | "_setjmp" | "longjmp" | "_longjmp" | "sigsetjmp"
        | "siglongjmp" | "execve" => Builtin::Unsupported,
        _ if name.starts_with("pthread_create") => Builtin::Unsupported,
        // Made by lowering for what a run cannot be followed through.
        _ if name.starts_with(['.', '$']) => Builtin::Unsupported,
        _ => Builtin::Unknown,
    }
}

/// Calls a function without a body.
pub(crate) fn call(
    m: &mut Machine<'_>,
    cpu: &mut Cpu,
    func: FuncId,
    site: u32,
    first: Reg,
    result: Reg,
) -> Step<()> {
    let builtin = match m.library.known.get(&func) {
        Some(known) => *known,
        None => {
            let builtin = find(&m.p.funcs[func].name);
            m.library.known.insert(func, builtin);
            builtin
        }
    };
    let mut call = Call { m, func, site, args: &cpu.regs[first as usize..] };
    if let Some(value) = call.run(builtin)? {
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

    fn pointer_result(&self, p: Pointer) -> Option<Slot> {
        Some(p.into())
    }

    /// The stream a `FILE *` stands for.
    fn stream(&self, p: Pointer) -> Step<Stream> {
        match self.m.mem.object_of(p.prov) {
            Some(id) if id == FIRST_STREAM + 1 => Ok(Stream::Out),
            Some(id) if id == FIRST_STREAM + 2 => Ok(Stream::Err),
            _ => Err(Outcome::Unsupported("output to what is not a standard stream".into())),
        }
    }

    fn run(&mut self, builtin: Builtin) -> Step<Option<Slot>> {
        Ok(match builtin {
            Builtin::Math(math) => math::run(self, math)?,
            Builtin::Printf(printf) => {
                let n = self.printf(printf)?;
                self.int_result(n)
            }
            Builtin::PutString { newline, stream } => {
                let to = if stream { self.stream(self.pointer(1))? } else { Stream::Out };
                let mut bytes = self.m.c_string(self.pointer(0), None)?;
                if newline {
                    bytes.push(b'\n');
                }
                self.m.output.write(to, &bytes);
                self.int_result(bytes.len() as i64)
            }
            Builtin::PutChar { stream } => {
                let to = if stream { self.stream(self.pointer(1))? } else { Stream::Out };
                let byte = self.int(0) as u8;
                self.m.output.write(to, &[byte]);
                self.int_result(byte.into())
            }
            Builtin::Write => {
                let total = self.int(1).saturating_mul(self.int(2));
                let to = self.stream(self.pointer(3))?;
                self.write_bytes(to, self.pointer(0), total)?;
                self.int_result(self.int(2) as i64)
            }
            Builtin::WriteFd => {
                let to = match self.int(0) {
                    1 => Stream::Out,
                    2 => Stream::Err,
                    _ => return Ok(self.int_result(-1)),
                };
                self.write_bytes(to, self.pointer(1), self.int(2))?;
                self.int_result(self.int(2) as i64)
            }
            Builtin::Perror => {
                let mut bytes = self.m.c_string(self.pointer(0), None)?;
                bytes.extend_from_slice(b": error\n");
                self.m.output.write(Stream::Err, &bytes);
                None
            }
            Builtin::Constant(value) => self.int_result(value),
            Builtin::Malloc => self.allocate(self.int(0))?,
            Builtin::Calloc => match self.int(0).checked_mul(self.int(1)) {
                Some(size) => self.allocate(size)?,
                None => self.pointer_result(Pointer::default()),
            },
            Builtin::Free => {
                self.m.free(self.pointer(0), usize::MAX)?;
                None
            }
            Builtin::MemCopy => {
                let to = self.pointer(0);
                self.m.copy_bytes(to, self.pointer(1), self.int(2))?;
                self.pointer_result(to)
            }
            Builtin::MemSet => {
                let to = self.pointer(0);
                self.m.set_bytes(to, self.int(1) as u8, self.int(2))?;
                self.pointer_result(to)
            }
            Builtin::Exit => return Err(Outcome::Exit(self.int(0) as i32)),
            Builtin::Abort => return Err(Outcome::Abort),
            Builtin::Strtod(ty) => {
                let text = self.m.c_string(self.pointer(0), None)?;
                let (bits, used) = number::parse(&text, ty);
                let end = self.pointer(1);
                if end.addr != 0 {
                    let (id, at) = self.m.writable(end, self.m.mem.ptr_bytes as u64)?;
                    let mut rest = self.pointer(0);
                    rest.addr = rest.addr.wrapping_add(used as u64) & self.m.mem.mask;
                    self.m.mem.write_pointer(id, at, rest);
                }
                Some(self.m.bits_slot(Scalar::Float(ty), bits))
            }
            Builtin::Atof => {
                let text = self.m.c_string(self.pointer(0), None)?;
                let (bits, _) = number::parse(&text, FloatTy::F64);
                Some(self.m.bits_slot(Scalar::Float(FloatTy::F64), bits))
            }
            Builtin::Unsupported => {
                let name = &self.m.p.funcs[self.func].name;
                return Err(Outcome::Unsupported(format!("the function `{name}`")));
            }
            Builtin::Unknown => self.unknown(),
        })
    }

    fn allocate(&mut self, size: u64) -> Step<Option<Slot>> {
        let id = self.m.create(size, Kind::Heap)?;
        let p = self.m.mem.pointer(id, 0);
        Ok(self.pointer_result(p))
    }

    fn write_bytes(&mut self, to: Stream, from: Pointer, size: u64) -> Step<()> {
        if size > 0 {
            let (id, at) = self.m.mem.resolve(from, size)?;
            let bytes = &self.m.mem.objects[id as usize].data[at..at + size as usize];
            self.m.output.write(to, bytes);
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
        let mut next = match printf.to {
            To::Out => 0,
            To::Stream | To::String => 1,
            To::Bounded => 2,
        };
        next += printf.skip;
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
                self.m.output.write(to, &bytes);
            }
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
        data[at..at + bytes.len()].copy_from_slice(bytes);
        data[at + bytes.len()] = 0;
        Ok(())
    }

    /// Value bits of a floating-point argument.
    fn float_bits(&self, i: usize) -> (Scalar, u128) {
        let (ty, slot) = self.arg(i);
        (ty, slot_bits(ty, slot))
    }
}
