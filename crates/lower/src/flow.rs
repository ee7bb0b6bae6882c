//! Where the addresses of functions may get: an inclusion-based analysis without regard to order.
//!
//! A variable whose address is not taken is a slot of its own; so is each member of each record
//! type, whatever the object; all other memory is one slot. A function stored as a member of one
//! record type and read as that of another is the same only if the types are.

use palisade_cfa::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Something that holds pointers to functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Slot {
    Var(VarId),
    Member(TypeId, u32),
    Result(FuncId),
    Memory,
}

/// Which functions' addresses each slot may hold.
#[derive(Debug, Default)]
pub(crate) struct FunctionFlow {
    held: FxHashMap<Slot, BTreeSet<FuncId>>,
    /// What a slot holds, these hold too.
    into: FxHashMap<Slot, FxHashSet<Slot>>,
}

impl FunctionFlow {
    pub(crate) fn new(program: &Program) -> FunctionFlow {
        let mut flow = FunctionFlow::default();
        for (id, var) in program.vars.iter_enumerated() {
            let Init::Image(items) = &var.init else { continue };
            for item in items {
                if let InitValue::Func(f) = item.value {
                    let slot = member_at(program, var.ty, item.offset).unwrap_or(var_slot(program, id));
                    flow.hold(slot, f);
                }
            }
        }
        for expr in &program.exprs {
            // A member that is pointed to may be changed through the pointer.
            if let ExprKind::Addr(place) = expr.kind
                && let slot @ Slot::Member(..) = slot_of(program, place)
            {
                flow.link(slot, Slot::Memory);
                flow.link(Slot::Memory, slot);
            }
        }
        for edge in &program.edges {
            flow.op(program, program.locs[edge.src].func, &edge.op);
        }
        // Calls through pointers bind parameters, which may bring functions to further calls.
        loop {
            flow.close();
            let before = flow.links();
            for edge in &program.edges {
                if let Op::Call { dst, callee: Callee::Indirect(pointer), args } = &edge.op {
                    for f in flow.reaching(program, *pointer) {
                        flow.call(program, f, *dst, args);
                    }
                }
            }
            if flow.links() == before {
                return flow;
            }
        }
    }

    /// The functions that a pointer may hold.
    pub(crate) fn reaching(&self, program: &Program, pointer: ExprId) -> BTreeSet<FuncId> {
        let mut found = BTreeSet::new();
        sources(program, pointer, &mut |source| match source {
            Source::Func(f) => {
                found.insert(f);
            }
            Source::Slot(slot) => found.extend(self.held.get(&slot).into_iter().flatten().copied()),
        });
        found
    }

    fn links(&self) -> usize {
        self.into.values().map(FxHashSet::len).sum::<usize>()
            + self.held.values().map(BTreeSet::len).sum::<usize>()
    }

    fn hold(&mut self, slot: Slot, f: FuncId) {
        self.held.entry(slot).or_default().insert(f);
    }

    fn link(&mut self, from: Slot, to: Slot) {
        if from != to {
            self.into.entry(from).or_default().insert(to);
        }
    }

    fn close(&mut self) {
        let mut work: Vec<Slot> = self.held.keys().copied().collect();
        while let Some(slot) = work.pop() {
            let Some(held) = self.held.get(&slot).cloned() else { continue };
            let Some(targets) = self.into.get(&slot) else { continue };
            for &to in targets {
                let set = self.held.entry(to).or_default();
                let before = set.len();
                set.extend(&held);
                if set.len() > before {
                    work.push(to);
                }
            }
        }
    }

    fn assign(&mut self, program: &Program, to: Slot, value: ExprId) {
        sources(program, value, &mut |source| match source {
            Source::Func(f) => self.hold(to, f),
            Source::Slot(from) => self.link(from, to),
        });
    }

    fn pass(&mut self, program: &Program, to: Slot, value: Arg) {
        match value {
            Arg::Scalar(e) => self.assign(program, to, e),
            Arg::Aggregate(place) => self.link(slot_of(program, place), to),
        }
    }

    fn op(&mut self, program: &Program, func: FuncId, op: &Op) {
        match *op {
            Op::Assign { dst, src } => self.assign(program, slot_of(program, dst), src),
            Op::Copy { dst, src } => {
                self.link(slot_of(program, src), slot_of(program, dst));
            }
            Op::Call { dst, callee: Callee::Direct(f), ref args } => self.call(program, f, dst, args),
            Op::Return { value: Some(value) } => self.pass(program, Slot::Result(func), value),
            _ => {}
        }
    }

    fn call(&mut self, program: &Program, f: FuncId, dst: Option<PlaceId>, args: &[Arg]) {
        if let Some(body) = &program.funcs[f].body {
            for (&param, &arg) in body.params.iter().zip(args) {
                self.pass(program, var_slot(program, param), arg);
            }
        }
        if let Some(dst) = dst {
            self.link(Slot::Result(f), slot_of(program, dst));
        }
    }
}

enum Source {
    Func(FuncId),
    Slot(Slot),
}

/// What the value of an expression may be made of.
fn sources(program: &Program, e: ExprId, found: &mut impl FnMut(Source)) {
    let mut work = vec![e];
    while let Some(e) = work.pop() {
        let Expr { ty, kind } = &program.exprs[e];
        let narrow = match ty {
            Scalar::Int(t) => t.bits < program.data_model.ptr_bits(),
            Scalar::Float(_) => true,
            Scalar::Ptr => false,
        };
        if narrow {
            continue;
        }
        match *kind {
            ExprKind::Func(f) => found(Source::Func(f)),
            ExprKind::Load(place) => found(Source::Slot(slot_of(program, place))),
            ExprKind::Unary(_, a) | ExprKind::Convert(a) | ExprKind::PtrAdd { ptr: a, .. } => work.push(a),
            ExprKind::Binary(_, a, b) | ExprKind::Ite(_, a, b) => work.extend([a, b]),
            _ => {}
        }
    }
}

fn var_slot(program: &Program, var: VarId) -> Slot {
    let v = &program.vars[var];
    if v.address_taken || v.kind == VarKind::Global && program.scalar_of(v.ty).is_none() {
        Slot::Memory
    } else {
        Slot::Var(var)
    }
}

fn slot_of(program: &Program, place: PlaceId) -> Slot {
    let place = &program.places[place];
    let member = place.path.iter().rev().find_map(|step| match *step {
        Proj::Field { record, field } => Some((record, field)),
        Proj::Index { .. } => None,
    });
    match (member, place.base) {
        // Variable arguments are read through plain pointers.
        (Some((record, _)), _) if is_varargs(program, record) => Slot::Memory,
        (Some((record, field)), _) => Slot::Member(record, field),
        (None, Base::Var(var)) => var_slot(program, var),
        (None, Base::Deref(_)) => Slot::Memory,
    }
}

fn is_varargs(program: &Program, record: TypeId) -> bool {
    matches!(&program.types[record], Type::Record(r) if r.name.starts_with("struct ."))
}

/// The innermost member at an offset of a type.
fn member_at(program: &Program, ty: TypeId, offset: u64) -> Option<Slot> {
    let (mut ty, mut offset) = (ty, offset);
    let mut found = None;
    loop {
        match &program.types[ty] {
            Type::Array(elem, _) => {
                offset %= program.size_of(*elem).filter(|&size| size > 0)?;
                ty = *elem;
            }
            Type::Record(record) => {
                let field = record.fields.iter().enumerate().find(|(_, f)| {
                    let size = program.size_of(f.ty).unwrap_or(u64::MAX);
                    f.offset <= offset && offset - f.offset < size
                });
                let (i, field) = field?;
                found = Some(Slot::Member(ty, i as u32));
                offset -= field.offset;
                ty = field.ty;
            }
            _ => return found,
        }
    }
}
