//! The plain encoder: what each operation does to a state.

use super::Rejection;
use super::memory::Spot;
use super::state::*;
use palisade_cfa::*;
use palisade_logic::{Func, Sort, Term, Terms};
use palisade_task::Task;
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Executes edges of one program on symbolic states.
pub struct Encoder<'p> {
    pub(super) program: &'p Program,
    /// Where things stand in a state.
    pub layout: Layout,
    /// Where objects start, as addresses.
    pub base: Func,
    /// Which byte of which pointer a byte in memory is.
    pub(super) stored: FxHashMap<Term, (Term, usize)>,
    /// What holds of the unknowns that were met since this was last emptied.
    pub facts: Vec<Term>,
    /// Whether an operation is executed: what it compares, a machine compares, where a fact about a state
    /// means the pointers themselves.
    pub(super) stepping: bool,
    /// The index values of every place with indices that was met; `None` if nobody wants to know.
    pub indices: Option<Vec<Vec<Term>>>,
    /// Whether pointers from outside point to no object of the program, as long as it gave no address away.
    pub alone: bool,
    /// Whether a step that was taken may have given one away.
    pub gave_away: Cell<bool>,
}

impl<'p> Encoder<'p> {
    /// An encoder for the program of a task. `more` are expressions that will be evaluated besides
    /// those of the operations.
    pub fn new(task: &'p Task, more: &[ExprId], terms: &mut Terms) -> Self {
        let layout = Layout::new(task, more);
        let base = terms.func(".start", &[Sort::BitVec(OBJECT)], Sort::BitVec(layout.width));
        Encoder {
            program: &task.program,
            layout,
            base,
            stored: FxHashMap::default(),
            facts: Vec::new(),
            stepping: false,
            indices: None,
            alone: false,
            gave_away: Cell::new(false),
        }
    }

    /// Whether a program gets pointers from outside.
    pub fn gets_pointers(p: &Program) -> bool {
        p.edges.iter().any(|edge| {
            let (Op::Havoc { dst, input: true } | Op::Call { dst: Some(dst), .. }) = edge.op else {
                return false;
            };
            p.place_scalar(dst) == Some(Scalar::Ptr)
        })
    }

    /// Any state that the model of memory admits: what is said here about numbers of objects holds
    /// at the start, and every operation keeps it.
    pub fn arbitrary(&self, t: &mut Terms) -> State {
        let mut s = State::arbitrary(&self.layout, t);
        let next = s.get(self.layout.next);
        let first = t.bv(OBJECT, self.layout.first_made);
        let made = t.ule(first, next);
        s.path.push(made);
        let mut lives: Vec<Term> = Vec::new();
        for (v, home) in self.layout.homes.iter_enumerated() {
            match *home {
                Home::Register(slot)
                    if self.program.scalar_of(self.program.vars[v].ty) == Some(Scalar::Ptr) =>
                {
                    let object = self.object(t, s.get(slot));
                    let exists = t.ult(object, next);
                    s.path.push(exists);
                }
                Home::Memory { life: Some(life), .. } => {
                    let number = s.get(life);
                    let exists = t.ult(number, next);
                    let own = t.bv(OBJECT, self.layout.variable(v));
                    let unborn = t.eq(number, own);
                    let born = t.ule(first, number);
                    let either = t.or(unborn, born);
                    s.path.extend([exists, either]);
                    // Every life has a number of its own.
                    if lives.len() < FEW_LIVES {
                        for &other in &lives {
                            let differ = t.ne(number, other);
                            s.path.push(differ);
                        }
                        lives.push(number);
                    }
                }
                _ => {}
            }
        }
        s
    }

    /// The state in which the program starts: globals hold their images, all else is arbitrary.
    pub fn initial(&mut self, t: &mut Terms) -> Result<State, Rejection> {
        let mut s = State::arbitrary(&self.layout, t);
        let next = t.bv(OBJECT, self.layout.first_made);
        s.set(self.layout.next, next);
        let none = t.bv(OBJECT, 0);
        s.set(self.layout.count, none);
        let dead = t.bv(STATUS, DEAD);
        let mut status = t.const_array(OBJECT, dead);
        let zero = t.bv(self.layout.width, 0);
        let mut sizes = t.const_array(OBJECT, zero);
        for v in self.program.vars.ids() {
            let var = &self.program.vars[v];
            match self.layout.homes[v] {
                Home::Memory { life: Some(life), .. } => {
                    let number = t.bv(OBJECT, self.layout.variable(v));
                    s.set(life, number);
                }
                Home::Memory { bytes, exposed, .. } => {
                    if exposed {
                        let number = t.bv(OBJECT, self.layout.variable(v));
                        let live = t.bv(STATUS, LIVE);
                        status = t.store(status, number, live);
                        let size = t.bv(self.layout.width, object_size(self.program, v));
                        sizes = t.store(sizes, number, size);
                    }
                    if let Init::Image(items) = &var.init {
                        let zero = t.bv(BYTE, 0);
                        let mut array = t.const_array(self.layout.width, zero);
                        for (offset, byte) in self.image(t, items)? {
                            let offset = t.bv(self.layout.width, offset);
                            array = t.store(array, offset, byte);
                        }
                        s.set(bytes, array);
                    }
                }
                Home::Register(slot) => {
                    if let (Init::Image(items), Some(scalar)) = (&var.init, self.program.scalar_of(var.ty)) {
                        let image = self.image(t, items)?;
                        let zero = t.bv(BYTE, 0);
                        let byte = |i: u64| image.iter().find(|(o, _)| *o == i).map_or(zero, |(_, b)| *b);
                        let bytes: Vec<Term> = (0..self.stored_bytes(scalar)).map(byte).collect();
                        let value = self.value_of(t, &s, scalar, &bytes);
                        s.set(slot, value);
                    } else if self.program.scalar_of(var.ty) == Some(Scalar::Ptr) {
                        let value = self.any(t, &s, Scalar::Ptr);
                        s.set(slot, value);
                    }
                }
                Home::None | Home::Part { .. } => {}
            }
        }
        s.set(self.layout.status, status);
        s.set(self.layout.sizes, sizes);
        s.path.append(&mut self.facts);
        Ok(s)
    }

    /// Takes a state over an edge. `None` if simplification shows that no state gets there.
    pub fn step(&mut self, t: &mut Terms, state: &State, edge: EdgeId) -> Option<State> {
        let mut s = state.clone();
        self.stepping = true;
        let possible = self.execute(t, &mut s, edge);
        self.stepping = false;
        for fact in std::mem::take(&mut self.facts) {
            if !s.assume(t, fact) {
                return None;
            }
        }
        possible.then_some(s)
    }

    fn execute(&mut self, t: &mut Terms, s: &mut State, edge: EdgeId) -> bool {
        let p = self.program;
        match p.edges[edge].op {
            Op::Skip | Op::Check { .. } | Op::Return { .. } => {}
            Op::Assign { dst, src } => {
                let value = self.expr(t, s, src);
                self.store(t, s, dst, value);
            }
            Op::Copy { dst, src } => {
                let (to, from) = (self.spot(t, s, dst), self.spot(t, s, src));
                self.copy(t, s, to, from, p.size_of(p.places[dst].ty));
            }
            Op::Zero { dst } => match p.places[dst].base {
                Base::Var(var) if matches!(self.layout.homes[var], Home::Register(_)) => {
                    let scalar = p.place_scalar(dst).unwrap_or(Scalar::BOOL);
                    let zero = t.bv(1, 0);
                    let zero = t.repeat(zero, self.layout.bits(scalar));
                    self.store(t, s, dst, zero);
                }
                _ => {
                    let spot = self.spot(t, s, dst);
                    let zero = t.bv(BYTE, 0);
                    self.fill(t, s, spot, Some(zero), p.size_of(p.places[dst].ty));
                }
            },
            Op::Assume { cond } => {
                let cond = self.truth(t, s, cond);
                return s.assume(t, cond);
            }
            Op::Havoc { dst, input } => self.havoc(t, s, dst, input),
            Op::Call { dst, callee, ref args } => self.external(t, s, dst, callee, args),
            Op::Alloc { dst, size, kind, zeroed } => {
                let size = self.expr(t, s, size);
                let status = if kind == AllocKind::Heap { HEAP } else { LIVE };
                let object = self.create(t, s, size, status);
                if kind == AllocKind::Heap {
                    let one = t.bv(OBJECT, 1);
                    let count = t.add(s.get(self.layout.count), one);
                    s.set(self.layout.count, count);
                }
                let zero = t.bv(self.layout.width, 0);
                let pointer = t.concat(object, zero);
                // The bytes of a number that nobody had are arbitrary, unless they are written.
                if let (true, Some(bytes)) = (zeroed, t.value_of(size).and_then(|n| n.to_u64())) {
                    let zero = t.bv(BYTE, 0);
                    for i in 0..bytes.min(super::memory::MANY) {
                        self.write_made(t, s, pointer, i, zero);
                    }
                }
                self.store(t, s, dst, pointer);
            }
            Op::Free { ptr } => {
                let pointer = self.expr(t, s, ptr);
                let object = self.object(t, pointer);
                let heap = t.bv(STATUS, HEAP);
                let found = t.select(s.get(self.layout.status), object);
                let is_heap = t.eq(found, heap);
                let one = t.bv(OBJECT, 1);
                let count = s.get(self.layout.count);
                let fewer = t.sub(count, one);
                let count = t.ite(is_heap, fewer, count);
                s.set(self.layout.count, count);
                // Object 0 is dead anyhow.
                self.set_status(t, s, object, DEAD);
            }
            Op::MemCopy { dst, src, len } => {
                let (to, from) = (self.expr(t, s, dst), self.expr(t, s, src));
                let len = self.expr(t, s, len);
                let len = t.value_of(len).and_then(|n| n.to_u64());
                self.copy(t, s, Spot::At(to), Spot::At(from), len);
            }
            Op::MemSet { dst, byte, len } => {
                let to = self.expr(t, s, dst);
                let byte = self.expr(t, s, byte);
                let byte = self.plain_byte(t, byte);
                let len = self.expr(t, s, len);
                let len = t.value_of(len).and_then(|n| n.to_u64());
                self.fill(t, s, Spot::At(to), Some(byte), len);
            }
            Op::Enter { var } => {
                if let Home::Memory { life: Some(life), .. } = self.layout.homes[var] {
                    let size = t.bv(self.layout.width, p.size_of(p.vars[var].ty).unwrap_or(0));
                    let object = self.create(t, s, size, LIVE);
                    s.set(life, object);
                }
                self.forget_variable(t, s, var);
                if let (Home::Register(slot), Some(Scalar::Ptr)) =
                    (self.layout.homes[var], p.scalar_of(p.vars[var].ty))
                {
                    let value = self.any(t, s, Scalar::Ptr);
                    s.set(slot, value);
                }
            }
            Op::Leave { var } => {
                if let Home::Memory { .. } = self.layout.homes[var] {
                    let object = self.number(t, s, var);
                    self.set_status(t, s, object, DEAD);
                }
            }
            Op::Halt { .. } => return false,
        }
        true
    }

    /// Writes a byte of an object that was just made, and that is therefore no variable.
    fn write_made(&self, t: &mut Terms, s: &mut State, pointer: Term, distance: u64, byte: Term) {
        let by = t.bv(self.layout.width, distance);
        let at = self.moved(t, pointer, by);
        let heap = t.store(s.get(self.layout.heap), at, byte);
        s.set(self.layout.heap, heap);
    }

    /// A place gets any value, perhaps `from_outside`.
    fn havoc(&mut self, t: &mut Terms, s: &mut State, dst: PlaceId, from_outside: bool) {
        match self.program.place_scalar(dst) {
            Some(Scalar::Ptr) if from_outside && self.alone => {
                let object = t.bv(OBJECT, 0);
                let address = t.fresh_var("u", Sort::BitVec(self.layout.width));
                let value = t.concat(object, address);
                self.store(t, s, dst, value);
            }
            Some(scalar) => {
                let value = self.any(t, s, scalar);
                self.store(t, s, dst, value);
            }
            None => {
                let spot = self.spot(t, s, dst);
                self.fill(t, s, spot, None, self.program.size_of(self.program.places[dst].ty));
            }
        }
    }

    /// Notes that a value goes where it may come back from: objects that it may tell the address of.
    pub fn give_away(&self, t: &mut Terms, scalar: Scalar, value: Term) {
        let tells = match scalar {
            Scalar::Ptr => {
                let (object, none) = (self.object(t, value), t.bv(OBJECT, 0));
                object != none
            }
            // Half of an address is none.
            Scalar::Int(ty) => u32::from(ty.bits) >= self.layout.width && !t.is_const(value),
            Scalar::Float(_) => false,
        };
        if tells {
            self.gave_away.set(true);
        }
    }

    /// A new object with a number of its own.
    fn create(&mut self, t: &mut Terms, s: &mut State, size: Term, status: u64) -> Term {
        let object = s.get(self.layout.next);
        let one = t.bv(OBJECT, 1);
        let next = t.add(object, one);
        s.set(self.layout.next, next);
        // No run makes so many objects that the numbers begin anew.
        let last = t.bv_signed(OBJECT, -1);
        let in_range = t.ne(object, last);
        self.facts.push(in_range);
        let size = super::expr::resize(t, size, self.layout.width, false);
        let sizes = t.store(s.get(self.layout.sizes), object, size);
        s.set(self.layout.sizes, sizes);
        self.set_status(t, s, object, status);
        object
    }

    fn set_status(&self, t: &mut Terms, s: &mut State, object: Term, status: u64) {
        let status = t.bv(STATUS, status);
        let array = t.store(s.get(self.layout.status), object, status);
        s.set(self.layout.status, array);
    }

    /// A function without a body: its effect on memory, and a result that is known only of square roots.
    fn external(&mut self, t: &mut Terms, s: &mut State, dst: Option<PlaceId>, callee: Callee, args: &[Arg]) {
        let p = self.program;
        let effect = match callee {
            Callee::Direct(f) => p.funcs[f].effect,
            Callee::Indirect(_) => Effect::Arbitrary,
        };
        let keeps = !matches!(effect, Effect::Native(_) | Effect::Scramble);
        if keeps {
            for arg in args {
                match *arg {
                    Arg::Scalar(e) => {
                        let value = self.expr(t, s, e);
                        self.give_away(t, p.exprs[e].ty, value);
                    }
                    Arg::Aggregate(_) => self.gave_away.set(true),
                }
            }
        }
        match effect {
            Effect::Native(Native::Math(Math::Sqrt, ty)) => {
                let scalar = Scalar::Float(ty);
                if let (&[Arg::Scalar(a)], Some(dst)) = (args, dst)
                    && p.exprs[a].ty == scalar
                    && p.place_scalar(dst) == Some(scalar)
                {
                    let a = self.expr(t, s, a);
                    let value = self.root(t, ty, a);
                    return self.store(t, s, dst, value);
                }
            }
            Effect::Native(Native::Printf(printf)) => {
                let to_memory = matches!(printf.to, To::String | To::Bounded);
                if to_memory || !args.get(printf.format_position()).is_some_and(|a| has_no_store(p, a)) {
                    self.forget(t, s);
                }
            }
            Effect::Scramble => match *args {
                [Arg::Scalar(to), Arg::Scalar(len), ..] => {
                    let to = self.expr(t, s, to);
                    let len = self.expr(t, s, len);
                    let len = t.value_of(len).and_then(|n| n.to_u64());
                    self.fill(t, s, Spot::At(to), None, len);
                }
                _ => self.forget(t, s),
            },
            Effect::Arbitrary | Effect::Unmodelled | Effect::Unordered => self.forget(t, s),
            Effect::Pure | Effect::Opaque | Effect::Native(_) => {}
        }
        if let Some(dst) = dst {
            // What is not modelled may return what the model of another function was given.
            self.havoc(t, s, dst, matches!(effect, Effect::Pure | Effect::Arbitrary));
        }
    }
}

/// Bytes of a global; a flexible array member may be initialised beyond the type.
fn object_size(p: &Program, var: VarId) -> u64 {
    let size = p.size_of(p.vars[var].ty).unwrap_or(0);
    let Init::Image(items) = &p.vars[var].init else { return size };
    let end = items.last().map_or(0, |item| {
        let bytes = match &item.value {
            InitValue::Bytes(run) => run.len() as u64,
            InitValue::Int(ty, _) => u64::from(ty.bits).div_ceil(8),
            InitValue::Float(ty, _) => u64::from(ty.bits()) / 8,
            _ => u64::from(p.data_model.ptr_bits()) / 8,
        };
        item.offset + bytes
    });
    size.max(end)
}

/// Distinct numbers are stated for at most this many variables; to say less is never wrong.
const FEW_LIVES: usize = 40;

/// Whether a format is a string literal without an `n` behind a `%`.
fn has_no_store(p: &Program, format: &Arg) -> bool {
    let Arg::Scalar(mut e) = *format else { return false };
    while let ExprKind::Convert(inner) = p.exprs[e].kind {
        e = inner;
    }
    let ExprKind::Addr(place) = p.exprs[e].kind else { return false };
    let Base::Var(var) = p.places[place].base else { return false };
    let (Init::Image(items), true) = (&p.vars[var].init, p.vars[var].read_only) else { return false };
    items.iter().all(|item| match &item.value {
        InitValue::Bytes(bytes) => {
            let after = bytes.iter().position(|b| *b == b'%').map_or(&[][..], |i| &bytes[i..]);
            !after.contains(&b'n')
        }
        _ => false,
    })
}
