//! Where variables live: in registers or in objects.

use palisade_base::IdxVec;
use palisade_cfa::*;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VarLoc {
    /// In a register of its function's frame.
    Reg(u32),
    /// In an object of its function's frame.
    Object(u32),
    /// In a register of the program.
    GlobalReg(u32),
    /// In this object.
    GlobalObject(u32),
}

/// Variables of a function that live in objects, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameObjects {
    pub vars: Vec<VarId>,
    /// Whether the object is there from the start of the call on (and not from its `Enter` on).
    pub at_entry: Vec<bool>,
    pub sizes: Vec<u64>,
    /// Registers that hold parameters and locals.
    pub regs: u32,
}

#[derive(Debug)]
pub(crate) struct Layout {
    pub vars: IdxVec<VarId, VarLoc>,
    pub frames: IdxVec<FuncId, FrameObjects>,
    /// The function that a variable is a parameter or a local of.
    pub owners: IdxVec<VarId, Option<FuncId>>,
    pub global_regs: Vec<VarId>,
    /// Globals in objects; the first has the number [`FIRST_GLOBAL`].
    pub global_objects: Vec<VarId>,
}

/// Number of the first global's object.
pub(crate) const FIRST_GLOBAL: u32 = 1;

impl Layout {
    pub fn new(p: &Program) -> Layout {
        let registers = registers(p);
        let mut entered = IdxVec::filled(false, p.vars.len());
        for edge in &p.edges {
            if let Op::Enter { var } = edge.op {
                entered[var] = true;
            }
        }
        let mut layout = Layout {
            vars: IdxVec::filled(VarLoc::Reg(0), p.vars.len()),
            frames: IdxVec::filled(FrameObjects::default(), p.funcs.len()),
            owners: IdxVec::filled(None, p.vars.len()),
            global_regs: Vec::new(),
            global_objects: Vec::new(),
        };
        for (id, var) in p.vars.iter_enumerated() {
            if var.kind == VarKind::Global {
                layout.vars[id] = if registers[id] {
                    layout.global_regs.push(id);
                    VarLoc::GlobalReg(layout.global_regs.len() as u32 - 1)
                } else {
                    layout.global_objects.push(id);
                    VarLoc::GlobalObject(FIRST_GLOBAL + layout.global_objects.len() as u32 - 1)
                };
            }
        }
        for (func, f) in p.funcs.iter_enumerated() {
            let Some(body) = &f.body else { continue };
            let frame = &mut layout.frames[func];
            for (i, &v) in body.params.iter().chain(&body.locals).enumerate() {
                layout.owners[v] = Some(func);
                layout.vars[v] = if registers[v] {
                    frame.regs += 1;
                    VarLoc::Reg(frame.regs - 1)
                } else {
                    let param = i < body.params.len();
                    frame.vars.push(v);
                    frame.at_entry.push(param || !(entered[v] && p.vars[v].address_taken));
                    frame.sizes.push(object_size(p, v));
                    VarLoc::Object(frame.vars.len() as u32 - 1)
                };
            }
        }
        layout
    }
}

/// Bytes of a variable's object; a flexible array member may be initialised beyond the type.
pub(crate) fn object_size(p: &Program, var: VarId) -> u64 {
    let size = p.size_of(p.vars[var].ty).unwrap_or(0);
    let Init::Image(items) = &p.vars[var].init else { return size };
    items.last().map_or(size, |last| size.max(last.offset + init_size(p, &last.value)))
}

/// Bytes of a constant in an initial image.
pub(crate) fn init_size(p: &Program, value: &InitValue) -> u64 {
    match value {
        InitValue::Bytes(b) => b.len() as u64,
        InitValue::Int(t, _) => u64::from(t.bits).div_ceil(8).next_power_of_two(),
        InitValue::Float(FloatTy::F32, _) => 4,
        InitValue::Float(FloatTy::F64, _) => 8,
        InitValue::Float(FloatTy::F80, _) => 10,
        InitValue::Addr(..) | InitValue::Func(_) | InitValue::Absolute(_) => {
            u64::from(p.data_model.ptr_bits()) / 8
        }
    }
}

/// Scalars whose address is not taken and that are only used as a whole.
fn registers(p: &Program) -> IdxVec<VarId, bool> {
    let mut regs: IdxVec<VarId, bool> =
        p.vars.iter().map(|v| p.scalar_of(v.ty).is_some() && !v.address_taken).collect();
    for place in &p.places {
        if let Base::Var(v) = place.base {
            let whole = place.path.is_empty()
                && place.bits.is_none()
                && p.scalar_of(place.ty) == p.scalar_of(p.vars[v].ty);
            regs[v] &= whole;
        }
    }
    let mut aggregate = |x: PlaceId| {
        if let Base::Var(v) = p.places[x].base {
            regs[v] = false;
        }
    };
    for edge in &p.edges {
        match &edge.op {
            Op::Copy { dst, src } => [*dst, *src].into_iter().for_each(&mut aggregate),
            Op::Return { value: Some(Arg::Aggregate(x)) } => aggregate(*x),
            Op::Call { args, .. } => {
                for arg in args {
                    if let Arg::Aggregate(x) = arg {
                        aggregate(*x);
                    }
                }
            }
            _ => {}
        }
    }
    regs
}
