//! States of the plain encoder: one term for each register, one array of bytes for each variable in
//! memory, one array for all allocated objects.

use palisade_base::IdxVec;
use palisade_cfa::*;
use palisade_logic::{Sort, Term, Terms};
use palisade_task::Task;
use std::sync::Arc;

/// Bits of an object's number. Null and absolute addresses are object 0; functions, variables and
/// allocated objects follow. No run lives long enough to use up the numbers.
pub const OBJECT: u32 = 48;
/// A byte in memory: the object of the pointer that it is a part of (0 if it is none), and its bits.
pub const BYTE: u32 = OBJECT + 8;
/// Bits of an object's status.
pub const STATUS: u32 = 2;
/// The object is dead or never was.
pub const DEAD: u64 = 0;
/// A live variable or stack object.
pub const LIVE: u64 = 1;
/// A live heap object.
pub const HEAP: u64 = 2;

/// Where a variable lives.
#[derive(Clone, Copy, Debug)]
pub enum Home {
    /// Nowhere: no operation mentions it.
    None,
    /// A slot holds its value: nobody takes its address, and it is used as a whole only.
    Register(usize),
    /// A slot holds its bytes.
    Memory {
        /// The array from offsets to bytes.
        bytes: usize,
        /// The slot of the number of its present life, when lifetimes matter.
        life: Option<usize>,
        /// Whether pointers may reach it.
        exposed: bool,
    },
    /// It is what a reduction made of a member of another variable.
    Part {
        /// The other variable.
        of: VarId,
        /// Where the member starts.
        offset: u64,
    },
}

/// The slots of a state.
pub struct Layout {
    /// Bits of an offset.
    pub width: u32,
    /// Where each variable lives.
    pub homes: IdxVec<VarId, Home>,
    /// Variables that pointers may reach.
    pub exposed: Vec<VarId>,
    /// Slot of the array from object and offset to bytes, for allocated objects.
    pub heap: usize,
    /// Slot of the next number for an object.
    pub next: usize,
    /// Slot of the array from objects to their status.
    pub status: usize,
    /// Slot of the array from objects to their size.
    pub sizes: usize,
    /// Slot of the number of live heap objects.
    pub count: usize,
    /// The sort of each slot, and a readable name.
    pub sorts: Vec<(Sort, String)>,
    first_variable: u64,
    /// The first number of an object that is made during a run.
    pub first_made: u64,
}

impl Layout {
    /// `more` are expressions that will be evaluated besides those of the operations.
    pub fn new(task: &Task, more: &[ExprId]) -> Layout {
        let p = &task.program;
        let uses = Uses::of(task, more);
        let width = u32::from(p.data_model.ptr_bits());
        let lifetimes = p.asks_about_objects();
        let mut sorts: Vec<(Sort, String)> = Vec::new();
        let mut add = |sort, name: String| {
            sorts.push((sort, name));
            sorts.len() - 1
        };
        let mut homes = IdxVec::filled(Home::None, p.vars.len());
        let mut exposed = Vec::new();
        for (v, var) in p.vars.iter_enumerated().filter(|(v, _)| uses.used[*v]) {
            homes[v] = if let Some(&(of, offset)) = task.origin.pieces.get(&v) {
                Home::Part { of, offset }
            } else if uses.is_register(p, v) {
                let bits = p.scalar_of(var.ty).map_or(8, |s| scalar_bits(width, s));
                Home::Register(add(Sort::BitVec(bits), var.name.to_string()))
            } else {
                let bytes = add(Sort::Array { index: width, elem: BYTE }, var.name.to_string());
                let dies = lifetimes && var.kind != VarKind::Global;
                let life = dies.then(|| add(Sort::BitVec(OBJECT), format!("&{}", var.name)));
                if uses.address[v] {
                    exposed.push(v);
                }
                Home::Memory { bytes, life, exposed: uses.address[v] }
            };
        }
        let heap = add(Sort::Array { index: OBJECT + width, elem: BYTE }, "heap".into());
        let next = add(Sort::BitVec(OBJECT), "next".into());
        let status = add(Sort::Array { index: OBJECT, elem: STATUS }, "status".into());
        let sizes = add(Sort::Array { index: OBJECT, elem: width }, "sizes".into());
        let count = add(Sort::BitVec(OBJECT), "count".into());
        let first_variable = 1 + p.funcs.len() as u64;
        let first_made = first_variable + p.vars.len() as u64;
        Layout { width, homes, exposed, heap, next, status, sizes, count, sorts, first_variable, first_made }
    }

    /// Bits of a scalar's term; a pointer is its object and the offset there.
    pub fn bits(&self, scalar: Scalar) -> u32 {
        scalar_bits(self.width, scalar)
    }

    /// The number of a function.
    pub fn function(&self, func: FuncId) -> u64 {
        1 + u64::from(func.0)
    }

    /// The number of a variable, of its first life if it has several.
    pub fn variable(&self, var: VarId) -> u64 {
        self.first_variable + u64::from(var.0)
    }
}

fn scalar_bits(width: u32, scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Int(t) => u32::from(t.bits),
        Scalar::Float(t) => u32::from(t.bits()),
        Scalar::Ptr => OBJECT + width,
    }
}

/// What operations do with variables.
struct Uses {
    used: IdxVec<VarId, bool>,
    /// Somebody may have a pointer to it.
    address: IdxVec<VarId, bool>,
    /// A part of it is used, or it is copied as bytes.
    parts: IdxVec<VarId, bool>,
}

impl Uses {
    fn of(task: &Task, more: &[ExprId]) -> Uses {
        let p = &task.program;
        let none = || IdxVec::filled(false, p.vars.len());
        let mut uses = Uses { used: none(), address: none(), parts: none() };
        for edge in &p.edges {
            if let Op::Enter { var } | Op::Leave { var } = edge.op {
                uses.used[var] = true;
            }
            let aggregate = |x: PlaceId, uses: &mut Uses| {
                if let Base::Var(v) = p.places[x].base {
                    uses.parts[v] = true;
                }
            };
            match &edge.op {
                Op::Copy { dst, src } => [*dst, *src].into_iter().for_each(|x| aggregate(x, &mut uses)),
                Op::Return { value: Some(Arg::Aggregate(x)) } => aggregate(*x, &mut uses),
                Op::Call { args, .. } => args.iter().for_each(|arg| {
                    if let Arg::Aggregate(x) = arg {
                        aggregate(*x, &mut uses);
                    }
                }),
                _ => {}
            }
            p.visit_op(&edge.op, &mut |used| uses.note(p, used));
        }
        for &cond in more {
            p.visit_op(&Op::Assume { cond }, &mut |used| uses.note(p, used));
        }
        // Evidence may be about any part of what is used.
        for (&part, &(of, _)) in &task.origin.pieces {
            if let (Some(&part_used), Some(&of_used)) = (uses.used.get(part), uses.used.get(of))
                && (part_used || of_used)
            {
                uses.used[part] = true;
                uses.used[of] = true;
                uses.parts[of] = true;
            }
        }
        // What the image of a variable points to can be reached as well.
        let mut work: Vec<VarId> = p.vars.ids().filter(|v| uses.used[*v]).collect();
        while let Some(v) = work.pop() {
            let Init::Image(items) = &p.vars[v].init else { continue };
            for item in items {
                if let InitValue::Addr(to, _) = item.value {
                    uses.address[to] = true;
                    if !std::mem::replace(&mut uses.used[to], true) {
                        work.push(to);
                    }
                }
            }
        }
        uses
    }

    fn note(&mut self, p: &Program, used: Use) {
        let (Use::Read(x) | Use::Write(x) | Use::Address(x)) = used else { return };
        let place = &p.places[x];
        let Base::Var(v) = place.base else { return };
        self.used[v] = true;
        self.address[v] |= matches!(used, Use::Address(_));
        let whole = place.path.is_empty()
            && place.bits.is_none()
            && p.scalar_of(place.ty) == p.scalar_of(p.vars[v].ty);
        self.parts[v] |= !whole;
    }

    fn is_register(&self, p: &Program, v: VarId) -> bool {
        p.scalar_of(p.vars[v].ty).is_some() && !self.address[v] && !self.parts[v]
    }
}

/// A set of concrete states: those in which all conditions of `path` hold.
#[derive(Clone, Debug)]
pub struct State {
    /// The conditions.
    pub path: Vec<Term>,
    slots: Arc<Vec<Term>>,
}

impl State {
    /// Any state: every slot is a fresh variable.
    pub fn arbitrary(layout: &Layout, terms: &mut Terms) -> State {
        let slots = layout.sorts.iter().map(|(sort, name)| terms.fresh_var(name, *sort)).collect();
        State { path: Vec::new(), slots: Arc::new(slots) }
    }

    /// The value of a slot.
    pub fn get(&self, slot: usize) -> Term {
        self.slots[slot]
    }

    /// Replaces the value of a slot.
    pub fn set(&mut self, slot: usize, value: Term) {
        if self.slots[slot] != value {
            Arc::make_mut(&mut self.slots)[slot] = value;
        }
    }

    /// The conditions as one term.
    pub fn guard(&self, terms: &mut Terms) -> Term {
        terms.and_all(self.path.iter().copied())
    }

    /// Adds a condition. Tells whether a state may be left, as far as simplification knows.
    pub fn assume(&mut self, terms: &Terms, cond: Term) -> bool {
        match terms.bool_value(cond) {
            Some(known) => known,
            None => {
                if !self.path.contains(&cond) {
                    self.path.push(cond);
                }
                true
            }
        }
    }

    /// The union of two sets that come from different branches, so that no run is in both.
    pub fn merge(terms: &mut Terms, a: &State, b: &State) -> State {
        let common = a.path.iter().zip(&b.path).take_while(|(x, y)| x == y).count();
        let of_a = terms.and_all(a.path[common..].iter().copied());
        let of_b = terms.and_all(b.path[common..].iter().copied());
        let mut path = a.path[..common].to_vec();
        let either = terms.or(of_a, of_b);
        if terms.bool_value(either) != Some(true) {
            path.push(either);
        }
        let slots =
            a.slots.iter().zip(b.slots.iter()).map(|(&x, &y)| if x == y { x } else { terms.ite(of_a, x, y) });
        State { path, slots: Arc::new(slots.collect()) }
    }
}
