//! Looking at a run from outside: observers and the values of variables and expressions.
//!
//! [`State::eval`] is also the slow twin of the compiled code: it walks expressions as the
//! automaton defines them, and tests compare the two.

use crate::code::Slot;
use crate::layout::{Layout, VarLoc};
use crate::machine::{Cpu, Frame, slot_bits};
use crate::memory::{BadAccess, Kind, Memory, Pointer};
use crate::outcome::Trap;
use crate::scalar;
use palisade_cfa::*;
use std::borrow::Cow;

/// Sees every step of a run.
pub trait Observer {
    /// An edge is about to be executed; an assumption's condition is known to hold. The run goes
    /// on if the answer is true.
    fn on_edge(&mut self, edge: EdgeId, state: &State<'_>) -> bool;

    /// Whether it can do without passes of a loop that do what those before did, from here on.
    fn may_skip(&self) -> bool {
        false
    }

    /// So many passes were leapt over.
    fn on_leap(&mut self, _passes: u64) {}

    /// The run ends because no assumption holds at a location; the edge is the last that leaves it.
    fn on_blocked(&mut self, _edge: EdgeId, _state: &State<'_>) {}
}

impl<F: FnMut(EdgeId, &State<'_>) -> bool> Observer for F {
    fn on_edge(&mut self, edge: EdgeId, state: &State<'_>) -> bool {
        self(edge, state)
    }
}

/// A scalar value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// Its type.
    pub ty: Scalar,
    /// Its value bits; for a pointer the address.
    pub bits: u128,
    prov: u64,
}

impl Value {
    /// For a pointer, the object it was made for, alive or not, if that is known.
    pub fn object(self) -> Option<ObjectId> {
        (self.ty == Scalar::Ptr && self.prov != 0).then_some(ObjectId(self.prov))
    }

    /// The mathematical integer, for integer types other than unsigned 128-bit.
    pub fn as_int(self) -> Option<i128> {
        self.ty.int().map(|t| t.decode(self.bits))
    }
}

/// A live object, as seen from outside.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// Its name.
    pub id: ObjectId,
    /// Where it starts.
    pub base: u64,
    /// Its contents.
    pub bytes: Cow<'a, [u8]>,
    /// Whether it lives on the heap.
    pub heap: bool,
}

/// An object of a run. The dead keep their names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(u64);

/// Where an object lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The address of its first byte.
    pub base: u64,
    /// Its bytes.
    pub size: u64,
}

/// The state of a run between two steps.
#[derive(Clone, Copy)]
pub struct State<'a> {
    pub(crate) p: &'a Program,
    pub(crate) layout: &'a Layout,
    pub(crate) mem: &'a Memory,
    pub(crate) cpu: &'a Cpu,
    pub(crate) globals: &'a [Slot],
    pub(crate) frames: &'a [Frame],
    pub(crate) frame_objects: &'a [u32],
}

/// The longest string that is looked at.
const LONGEST: usize = 1 << 24;

/// Nesting of expressions that [`State::eval`] follows.
const MAX_DEPTH: u32 = 2000;

impl State<'_> {
    /// The program.
    pub fn program(&self) -> &Program {
        self.p
    }

    /// The function that is executed, and how many calls are active.
    pub fn function(&self) -> (FuncId, usize) {
        (self.cpu.func, self.frames.len() + 1)
    }

    /// The value of a scalar variable of the current function, or of a global. `None` for
    /// aggregates, for variables of other functions and for those whose life has not begun.
    pub fn var(&self, var: VarId) -> Option<Value> {
        let m = self;
        let v = &m.p.vars[var];
        let ty = m.p.scalar_of(v.ty)?;
        if v.kind != VarKind::Global && m.layout.owners[var] != Some(m.cpu.func) {
            return None;
        }
        let slot = match m.layout.vars[var] {
            VarLoc::Reg(r) => m.cpu.regs[r as usize],
            VarLoc::GlobalReg(g) => m.globals[g as usize],
            VarLoc::Object(_) | VarLoc::GlobalObject(_) => {
                let id = self.object(var)?;
                return self.read(m.mem.pointer(id, 0), ty, None).ok();
            }
        };
        Some(self.value(ty, slot))
    }

    /// The bytes of a variable that lives in memory.
    pub fn bytes(&self, var: VarId) -> Option<&[u8]> {
        self.mem.objects[self.object(var)? as usize].data.as_flat()
    }

    /// The bytes from a pointer on, before the first that is zero; `None` if they are not all in one
    /// live object, or too many to be shown.
    pub fn string(&self, pointer: Value) -> Option<Cow<'_, [u8]>> {
        let (id, at) = self.mem.resolve(pointer.as_pointer(), 1).ok()?;
        let data = &self.mem.objects[id as usize].data;
        Some(data.bytes(at, data.zero(at, (data.len() - at).min(LONGEST))?))
    }

    /// An element of an array of pointers.
    pub fn pointer_at(&self, array: Value, index: u64) -> Option<Value> {
        let mut p = array.as_pointer();
        let size = self.mem.ptr_bytes as u64;
        p.addr = p.addr.wrapping_add(index.wrapping_mul(size)) & self.mem.mask;
        self.read(p, Scalar::Ptr, None).ok()
    }

    /// All live objects.
    pub fn objects(&self) -> impl Iterator<Item = Seen<'_>> {
        let live = self.mem.objects.iter().enumerate().filter(|(_, o)| o.live);
        live.map(|(id, o)| Seen {
            id: ObjectId(self.mem.prov(id as u32)),
            base: o.base,
            bytes: o.data.bytes(0, o.data.len()),
            heap: o.kind == Kind::Heap,
        })
    }

    /// The pointer that lies at an offset of an object.
    pub fn pointer_in(&self, object: ObjectId, offset: u64) -> Option<Value> {
        let id = self.mem.object_of(object.0)?;
        let end = offset.checked_add(self.mem.ptr_bytes as u64)?;
        let inside = end <= self.mem.objects[id as usize].data.len() as u64;
        inside.then(|| self.pointer(self.mem.read_pointer(id, offset as usize)))
    }

    fn object(&self, var: VarId) -> Option<u32> {
        let m = self;
        let id = match m.layout.vars[var] {
            VarLoc::GlobalObject(id) => id,
            VarLoc::Object(k) => *m.frame_objects.get(m.cpu.objects + k as usize)?,
            _ => return None,
        };
        m.mem.objects.get(id as usize)?.live.then_some(id)
    }

    fn value(&self, ty: Scalar, slot: Slot) -> Value {
        Value { ty, bits: slot_bits(ty, slot), prov: if ty == Scalar::Ptr { slot.hi } else { 0 } }
    }

    fn pointer(&self, p: Pointer) -> Value {
        Value { ty: Scalar::Ptr, bits: p.addr.into(), prov: p.prov }
    }

    /// The value of an expression of the current function.
    pub fn eval(&self, expr: ExprId) -> Result<Value, Trap> {
        self.eval_at(expr, 0)
    }

    fn eval_at(&self, expr: ExprId, depth: u32) -> Result<Value, Trap> {
        let m = self;
        let p = m.p;
        let e = &p.exprs[expr];
        if depth > MAX_DEPTH {
            return Err(Trap::Call);
        }
        let eval = |x: ExprId| self.eval_at(x, depth + 1);
        let int = |bits: u128| Ok(Value { ty: e.ty, bits, prov: 0 });
        let flag = |x: bool| int(u128::from(x));
        let ptr_bits = p.data_model.ptr_bits();
        match &e.kind {
            ExprKind::Int(bits) | ExprKind::Float(bits) => int(*bits),
            ExprKind::Load(place) => self.load(*place, depth),
            ExprKind::Addr(place) => Ok(self.pointer(self.locate(*place, depth)?)),
            ExprKind::Func(f) => int(Memory::function_address(f.0).into()),
            ExprKind::Unary(op, a) => int(scalar::unary(*op, e.ty, eval(*a)?.bits).unwrap_or(0)),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (eval(*a)?, eval(*b)?);
                let shift = b.ty.int().unwrap_or(IntTy::I32);
                match scalar::binary(*op, e.ty, a.bits, shift, b.bits) {
                    Some(bits) => int(bits),
                    None if matches!(op, BinOp::Shl | BinOp::Shr) => Err(Trap::Shift),
                    None => Err(Trap::DivByZero),
                }
            }
            ExprKind::Cmp(op, a, b) => {
                let (a, b) = (eval(*a)?, eval(*b)?);
                flag(scalar::compare(*op, a.ty, a.bits, b.bits))
            }
            ExprKind::Ite(c, a, b) => eval(if eval(*c)?.bits == 1 { *a } else { *b }),
            ExprKind::Convert(a) => {
                let a = eval(*a)?;
                if e.ty == Scalar::Ptr && a.ty == Scalar::Ptr {
                    return Ok(a);
                }
                let bits = scalar::convert(a.ty, e.ty, a.bits, ptr_bits);
                match e.ty {
                    Scalar::Ptr => Ok(self.pointer(m.mem.pointer_to(bits as u64))),
                    _ => int(bits),
                }
            }
            ExprKind::PtrAdd { ptr, index, stride } => {
                let (a, i) = (eval(*ptr)?, eval(*index)?);
                let offset = (i.as_int().unwrap_or(0) as u64).wrapping_mul(*stride);
                let addr = (a.bits as u64).wrapping_add(offset) & m.mem.mask;
                Ok(Value { ty: Scalar::Ptr, bits: addr.into(), prov: a.prov })
            }
            ExprKind::PtrDiff { left, right, stride } => {
                let t = p.data_model.ptrdiff_t();
                let diff = t.decode(eval(*left)?.bits.wrapping_sub(eval(*right)?.bits));
                int(t.truncate((diff / i128::from(*stride.max(&1))) as u128))
            }
            ExprKind::Overflow(op, a, b) => {
                let (a, b) = (eval(*a)?, eval(*b)?);
                let (t, s) = (a.ty.int().unwrap_or(IntTy::I32), b.ty.int().unwrap_or(IntTy::I32));
                flag(scalar::overflow(*op, t, a.bits, s, b.bits))
            }
            ExprKind::Valid { ptr, size } => {
                let (a, size) = (eval(*ptr)?, eval(*size)?);
                flag(m.mem.resolve(a.as_pointer(), size.bits as u64).is_ok())
            }
            ExprKind::Freeable(a) => flag(m.mem.freeable(eval(*a)?.as_pointer())),
            ExprKind::ObjectSize(a) => {
                let id = m.mem.object_of(eval(*a)?.prov);
                int(id.map_or(0, |id| m.mem.objects[id as usize].data.len() as u128))
            }
            ExprKind::ReadOnly(a) => {
                let id = m.mem.object_of(eval(*a)?.prov);
                flag(id.is_some_and(|id| m.mem.objects[id as usize].read_only))
            }
            ExprKind::Overlap(a, b, n) => {
                let (a, b, n) = (eval(*a)?.as_pointer(), eval(*b)?.as_pointer(), eval(*n)?);
                flag(m.mem.overlap(a, b, n.bits as u64))
            }
            ExprKind::HeapEmpty => flag(m.mem.heap_empty()),
            ExprKind::HeapTracked => flag(m.heap_tracked()),
        }
    }

    /// Whether all live heap objects are reachable from variables.
    pub(crate) fn heap_tracked(&self) -> bool {
        self.unreached().next().is_none()
    }

    fn unreached(&self) -> impl Iterator<Item = u32> {
        let globals = self.globals.iter().map(|s| s.lo);
        let calls = self.frames.iter().map(|f| &f.cpu).chain(std::iter::once(self.cpu));
        let locals = calls.flat_map(|cpu| {
            let vars = self.layout.frames[cpu.func].regs as usize;
            cpu.regs[..vars].iter().map(|s| s.lo)
        });
        self.mem.lost(globals.chain(locals))
    }

    /// The heap objects that are alive and that no variable reaches any more.
    pub fn lost(&self) -> Vec<ObjectId> {
        self.unreached().map(|id| ObjectId(self.mem.prov(id))).collect()
    }

    /// The heap objects that are alive.
    pub fn live_heap(&self) -> Vec<ObjectId> {
        self.mem.live_heap().map(|id| ObjectId(self.mem.prov(id))).collect()
    }

    /// Where a live object lies.
    pub fn extent(&self, object: ObjectId) -> Option<Extent> {
        let id = self.mem.object_of(object.0)?;
        let o = &self.mem.objects[id as usize];
        Some(Extent { base: o.base, size: o.data.len() as u64 })
    }

    /// The object of a variable that lives in memory and is alive: a global, or a variable of the current
    /// function.
    pub fn object_of(&self, var: VarId) -> Option<ObjectId> {
        let ours = self.p.vars[var].kind == VarKind::Global || self.layout.owners[var] == Some(self.cpu.func);
        self.object(var).filter(|_| ours).map(|id| ObjectId(self.mem.prov(id)))
    }

    /// The function that a pointer points to.
    pub fn function_at(&self, pointer: Value) -> Option<FuncId> {
        let func = Memory::function_at(pointer.bits as u64).map(FuncId)?;
        self.p.funcs.get(func).map(|_| func)
    }

    /// A pointer to where a place starts.
    pub fn address(&self, place: PlaceId) -> Result<Value, Trap> {
        Ok(self.pointer(self.locate(place, 0)?))
    }

    /// The value of a scalar place.
    pub fn load_place(&self, place: PlaceId) -> Result<Value, Trap> {
        self.load(place, 0)
    }

    fn load(&self, place: PlaceId, depth: u32) -> Result<Value, Trap> {
        let pl = &self.p.places[place];
        if let (Base::Var(v), true) = (pl.base, pl.path.is_empty())
            && matches!(self.layout.vars[v], VarLoc::Reg(_) | VarLoc::GlobalReg(_))
        {
            return self.var(v).ok_or(Trap::Access(BadAccess::Dangling));
        }
        let ty = self.p.place_scalar(place).ok_or(Trap::Access(BadAccess::Wild))?;
        self.read(self.locate(place, depth)?, ty, pl.bits)
    }

    fn read(&self, p: Pointer, ty: Scalar, bits: Option<BitRange>) -> Result<Value, Trap> {
        let m = self;
        let size = match (ty, bits) {
            (Scalar::Int(t), Some(b)) => u64::from(b.first + t.bits).div_ceil(8),
            (Scalar::Int(t), None) => u64::from(t.bits).div_ceil(8),
            (Scalar::Float(t), _) => u64::from(t.bits()) / 8,
            (Scalar::Ptr, _) => m.mem.ptr_bytes as u64,
        };
        let (id, at) = m.mem.resolve(p, size).map_err(Trap::Access)?;
        Ok(match ty {
            Scalar::Ptr => self.pointer(m.mem.read_pointer(id, at)),
            Scalar::Int(t) => {
                let bits = m.mem.read_bits(id, at, bits.map_or(0, |b| b.first), t.bits);
                Value { ty, bits, prov: 0 }
            }
            Scalar::Float(_) => Value { ty, bits: m.mem.read(id, at, size as usize), prov: 0 },
        })
    }

    fn locate(&self, place: PlaceId, depth: u32) -> Result<Pointer, Trap> {
        let m = self;
        let pl = &m.p.places[place];
        let mut p = match pl.base {
            Base::Var(v) => {
                let id = self.object(v).ok_or(Trap::Access(BadAccess::Dangling))?;
                m.mem.pointer(id, 0)
            }
            Base::Deref(e) => self.eval_at(e, depth + 1)?.as_pointer(),
        };
        for proj in &pl.path {
            let offset = match *proj {
                Proj::Field { record, field } => m.p.field(record, field).offset,
                Proj::Index { index, stride } => {
                    let i = self.eval_at(index, depth + 1)?.as_int().unwrap_or(0);
                    (i as u64).wrapping_mul(stride)
                }
            };
            p.addr = p.addr.wrapping_add(offset) & m.mem.mask;
        }
        Ok(p)
    }
}

impl Value {
    fn as_pointer(self) -> Pointer {
        Pointer { addr: self.bits as u64, prov: self.prov }
    }
}
