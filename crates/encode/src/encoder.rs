//! The encoder: symbolic execution of edges.

use crate::layout::*;
use crate::pointsto::NodeId;
use crate::regions::{RegionId, Regions, register_of};
use crate::state::{Slots, State};
use palisade_cfa::*;
use palisade_logic::{BitVec, Func, Sort, Term, Terms};
use rustc_hash::FxHashMap;

/// A value that the program does not determine.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// The operation that introduced it.
    pub edge: EdgeId,
    /// The variable that stands for the value.
    pub term: Term,
    /// The path condition under which the operation is executed.
    pub guard: Term,
    /// Whether it is an input of the program.
    pub input: bool,
    /// The register that came to life with the value.
    pub entered: Option<VarId>,
}

/// Bytes of an object that the program does not determine: all of a new one, or some that an
/// external function wrote.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The operation that left them open.
    pub edge: EdgeId,
    /// The path condition under which the operation is executed.
    pub guard: Term,
    /// The object's number.
    pub object: Term,
    /// Where the bytes start in it.
    pub start: Term,
    /// How many they are.
    pub size: Term,
    /// The regions it has cells in, with what they hold then.
    pub regions: Vec<(RegionId, Term)>,
}

/// Executes edges of one program on symbolic states.
pub struct Encoder<'p> {
    pub(crate) program: &'p Program,
    pub(crate) regions: Regions,
    pub(crate) layout: Layout,
    /// All values the program did not determine, in the order of execution.
    pub unknowns: Vec<Unknown>,
    /// New objects with undetermined bytes, in the order of execution.
    pub contents: Vec<Contents>,
    /// Addresses of objects as integers.
    pub(crate) base_of: Func,
    /// Objects of integers that are made pointers.
    pub(crate) object_of: Func,
    /// The pointer an integer was made from.
    pub(crate) pointer_of: FxHashMap<Term, Term>,
    /// The index values of every place with indices that was met since this was last set: where
    /// facts about all elements are worth using. `None` if nobody wants to know.
    pub indices: Option<Vec<Vec<Term>>>,
    /// Where execution stands, for [`Encoder::unknowns`].
    pub(crate) at: Option<(EdgeId, Vec<Term>)>,
}

impl<'p> Encoder<'p> {
    /// An encoder for a program. Sizes and lifetimes of objects are tracked if some expression
    /// asks for them.
    pub fn new(program: &'p Program, terms: &mut Terms) -> Self {
        let regions = Regions::new(program);
        let layout = Layout::new(program, &regions, program.asks_about_objects());
        let off = Sort::BitVec(layout.off_bits);
        let obj = Sort::BitVec(OBJ_BITS);
        Encoder {
            program,
            regions,
            base_of: terms.func(".base", &[obj], off),
            object_of: terms.func(".object", &[off], obj),
            layout,
            unknowns: Vec::new(),
            contents: Vec::new(),
            pointer_of: FxHashMap::default(),
            indices: None,
            at: None,
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Where things stand in a state.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How memory is cut.
    pub fn regions(&self) -> &Regions {
        &self.regions
    }

    /// Any state at all: every slot is a fresh variable.
    pub fn arbitrary_state(&self, terms: &mut Terms) -> State {
        let values: Vec<Term> =
            self.layout.slots.iter().map(|(sort, name)| terms.fresh_var(name, *sort)).collect();
        State { path: Vec::new(), slots: Slots::new(&values) }
    }

    /// The state in which the program starts: globals hold their images, all else is arbitrary.
    pub fn initial_state(&mut self, terms: &mut Terms) -> State {
        let mut state = self.arbitrary_state(terms);
        let first = terms.bv(OBJ_BITS, self.layout.first_allocated);
        state.slots.set(self.layout.next_object, first);
        let none = terms.bv(COUNT_BITS, 0);
        state.slots.set(self.layout.heap_count, none);
        self.initial_objects(terms, &mut state);
        self.initial_regions(terms, &mut state);
        for (var, v) in self.program.vars.iter_enumerated() {
            if let Init::Image(items) = &v.init {
                self.initial_global(terms, &mut state, var, items);
            }
        }
        state
    }

    fn initial_objects(&mut self, terms: &mut Terms, state: &mut State) {
        let zero = terms.bv(self.layout.off_bits, 0);
        let mut sizes = terms.const_array(OBJ_BITS, zero);
        let dead = terms.bv(STATUS_BITS, DEAD);
        let mut status = terms.const_array(OBJ_BITS, dead);
        let live = terms.bv(STATUS_BITS, LIVE);
        for (var, v) in self.program.vars.iter_enumerated() {
            if self.layout.register(var).is_some() || self.layout.local_object(var).is_some() {
                continue;
            }
            let object = terms.bv(OBJ_BITS, self.layout.var_object(var));
            // An object of unknown size (an `extern` array without a length) gets no size: any
            // access to it counts as invalid.
            let size = terms.bv(self.layout.off_bits, self.program.size_of(v.ty).unwrap_or(0));
            sizes = terms.store(sizes, object, size);
            status = terms.store(status, object, live);
        }
        state.slots.set(self.layout.sizes, sizes);
        if let Some(slot) = self.layout.status {
            state.slots.set(slot, status);
        }
    }

    /// Regions of globals only start as zero.
    fn initial_regions(&mut self, terms: &mut Terms, state: &mut State) {
        for (id, region) in self.regions.regions.iter_enumerated() {
            if region.zero_base && !region.unknown_base {
                let slot = self.layout.region(id);
                let value = match self.layout.slots[slot].0 {
                    Sort::Array { index, elem } => {
                        let zero = terms.bv(elem, 0);
                        terms.const_array(index, zero)
                    }
                    Sort::BitVec(width) => terms.bv(width, 0),
                    Sort::Bool => continue,
                };
                state.slots.set(slot, value);
            }
        }
    }

    /// Takes a state over an edge. `None` if simplification shows that no state gets there.
    pub fn step(&mut self, terms: &mut Terms, state: &State, edge: EdgeId) -> Option<State> {
        let mut next = state.clone();
        self.at = Some((edge, state.path.clone()));
        let possible = self.execute(terms, &mut next, edge);
        self.at = None;
        possible.then_some(next)
    }

    fn execute(&mut self, terms: &mut Terms, s: &mut State, edge: EdgeId) -> bool {
        let program = self.program;
        match program.edges[edge].op {
            Op::Skip | Op::Check { .. } | Op::Return { .. } => {}
            Op::Assign { dst, src } => {
                let value = self.expr(terms, s, src);
                self.store(terms, s, dst, value);
            }
            Op::Copy { dst, src } => {
                let size = program.size_of(program.places[dst].ty).unwrap_or(0);
                let to = self.place_pointer(terms, s, dst);
                let from = self.place_pointer(terms, s, src);
                let cells = (self.regions.place_cell(dst), self.regions.place_cell(src));
                if let (Some(a), Some(b)) = cells {
                    self.copy_bytes(terms, s, (to, a), (from, b), size);
                }
            }
            Op::Zero { dst } => {
                let size = program.size_of(program.places[dst].ty).unwrap_or(0);
                match register_of(program, dst) {
                    Some(_) => {
                        let width = self.place_bits(dst);
                        let zero = terms.bv(width, 0);
                        self.store(terms, s, dst, zero);
                    }
                    None => {
                        let to = self.place_pointer(terms, s, dst);
                        let zero = terms.bv(8, 0);
                        if let Some(cell) = self.regions.place_cell(dst) {
                            self.fill_bytes(terms, s, (to, cell), Some(zero), size);
                        }
                    }
                }
            }
            Op::Assume { cond } => {
                let cond = self.cond(terms, s, cond);
                return s.assume(terms, cond);
            }
            Op::Havoc { dst, input } => self.havoc(terms, s, dst, input),
            Op::Call { dst, callee, ref args } => {
                let value = match callee {
                    Callee::Direct(func) => self.external_call(terms, s, func, args),
                    Callee::Indirect(_) => None,
                };
                match (dst, value) {
                    (Some(dst), Some(value)) => self.store(terms, s, dst, value),
                    (Some(dst), None) => self.havoc(terms, s, dst, false),
                    (None, _) => {}
                }
            }
            Op::Alloc { dst, size, kind, zeroed } => self.alloc(terms, s, edge, dst, size, kind, zeroed),
            Op::Free { ptr } => self.free(terms, s, ptr),
            Op::MemCopy { dst, src, len } => {
                let to = self.expr(terms, s, dst);
                let from = self.expr(terms, s, src);
                let len = self.expr(terms, s, len);
                let cells = (self.regions.pointer_cell(dst), self.regions.pointer_cell(src));
                match (cells, terms.value_of(len).and_then(|n| n.to_u64())) {
                    ((Some(a), Some(b)), Some(n)) => self.copy_bytes(terms, s, (to, a), (from, b), n),
                    ((Some(a), _), _) => self.forget_node(terms, s, a.node),
                    _ => {}
                }
            }
            Op::MemSet { dst, byte, len } => {
                let to = self.expr(terms, s, dst);
                let byte = self.expr(terms, s, byte);
                let len = self.expr(terms, s, len);
                match (self.regions.pointer_cell(dst), terms.value_of(len).and_then(|n| n.to_u64())) {
                    (Some(cell), Some(n)) => self.fill_bytes(terms, s, (to, cell), Some(byte), n),
                    (Some(cell), None) => self.forget_node(terms, s, cell.node),
                    _ => {}
                }
            }
            Op::Enter { var } => self.enter(terms, s, var),
            Op::Leave { var } => {
                let object = self.object_of_var(terms, s, var);
                self.set_status(terms, s, object, DEAD);
            }
            Op::Halt { .. } => return false,
        }
        true
    }

    /// A fresh variable for a value the program does not determine.
    pub(crate) fn unknown(&mut self, terms: &mut Terms, sort: Sort, input: bool) -> Term {
        let term = terms.fresh_var(if input { "in" } else { "u" }, sort);
        if let Some((edge, path)) = &self.at {
            let guard = terms.and_all(path.iter().copied());
            self.unknowns.push(Unknown { edge: *edge, term, guard, input, entered: None });
        }
        term
    }

    fn havoc(&mut self, terms: &mut Terms, s: &mut State, dst: PlaceId, input: bool) {
        match self.program.place_scalar(dst) {
            Some(_) => {
                let value = self.unknown(terms, Sort::BitVec(self.place_bits(dst)), input);
                self.store(terms, s, dst, value);
            }
            None => {
                let to = self.place_pointer(terms, s, dst);
                let size = self.program.size_of(self.program.places[dst].ty).unwrap_or(0);
                if let Some(cell) = self.regions.place_cell(dst) {
                    self.fill_bytes(terms, s, (to, cell), None, size);
                }
            }
        }
    }

    /// What a call of a function without a body does to memory, and its result where that is known.
    fn external_call(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        func: FuncId,
        args: &[Arg],
    ) -> Option<Term> {
        let pointers = |this: &Self| -> Vec<NodeId> {
            let scalar = |a: &Arg| if let Arg::Scalar(e) = *a { Some(e) } else { None };
            args.iter()
                .filter_map(scalar)
                .filter_map(|e| this.regions.pointer_cell(e))
                .map(|c| c.node)
                .collect()
        };
        match self.program.funcs[func].effect {
            Effect::Native(Native::Math(math, ty)) => return self.math_call(terms, s, math, ty, args),
            Effect::Native(Native::Printf(printf)) => {
                if let (To::String | To::Bounded, Some(&Arg::Scalar(dst))) = (printf.to, args.first())
                    && let Some(cell) = self.regions.pointer_cell(dst)
                {
                    self.forget_node(terms, s, cell.node);
                }
                let format = args.get(printf.format_position());
                if !format.is_some_and(|a| only_prints(self.program, a)) {
                    for node in self.regions.points_to.reachable(&pointers(self)) {
                        self.forget_node(terms, s, node);
                    }
                }
            }
            Effect::Scramble => self.scramble(terms, s, args),
            Effect::Arbitrary | Effect::Unmodelled | Effect::Unordered => {
                let mut from = pointers(self);
                from.push(self.regions.points_to.external());
                for node in self.regions.points_to.reachable(&from) {
                    self.forget_node(terms, s, node);
                }
            }
            Effect::Pure | Effect::Opaque | Effect::Native(_) => {}
        }
        None
    }

    /// Arbitrary bytes from a pointer on.
    fn scramble(&mut self, terms: &mut Terms, s: &mut State, args: &[Arg]) {
        let (Some(&Arg::Scalar(dst)), Some(&Arg::Scalar(len))) = (args.first(), args.get(1)) else { return };
        let to = self.expr(terms, s, dst);
        let len = self.expr(terms, s, len);
        let Some(cell) = self.regions.pointer_cell(dst) else { return };
        match terms.value_of(len).and_then(|n| n.to_u64()) {
            Some(n) => self.fill_bytes(terms, s, (to, cell), None, n),
            None => self.forget_node(terms, s, cell.node),
        }
        let (object, start) = (self.object(terms, to), self.offset(terms, to));
        self.note_contents(terms, s, object, (start, len), cell.node);
    }

    fn enter(&mut self, terms: &mut Terms, s: &mut State, var: VarId) {
        if let Some(slot) = self.layout.register(var) {
            let value = self.unknown(terms, self.layout.slots[slot].0, false);
            if let (Some(_), Some(last)) = (&self.at, self.unknowns.last_mut()) {
                last.entered = Some(var);
            }
            s.slots.set(slot, value);
            return;
        }
        let Some(cell) = self.regions.points_to.home(var) else { return };
        if let Some(slot) = self.layout.local_object(var) {
            // A new life is a new object, so that pointers to an earlier one stay dangling.
            let object = self.fresh_object(terms, s);
            s.slots.set(slot, object);
            let size =
                terms.bv(self.layout.off_bits, self.program.size_of(self.program.vars[var].ty).unwrap_or(0));
            self.set_size(terms, s, object, size);
            self.set_status(terms, s, object, LIVE);
            for &region in self.regions.regions_of(cell.node).to_vec().iter() {
                let r = &self.regions.regions[region];
                if r.single || r.one_object {
                    self.forget_region(terms, s, region);
                }
            }
        } else {
            // Other objects may lie in the same regions; they keep their contents.
            let object = self.object_of_var(terms, s, var);
            let zero = terms.bv(self.layout.off_bits, 0);
            let start = terms.concat(object, zero);
            let size = self.program.size_of(self.program.vars[var].ty).unwrap_or(u64::MAX);
            self.fill_bytes(terms, s, (start, cell), None, size);
        }
        let object = self.object_of_var(terms, s, var);
        let size = self.program.size_of(self.program.vars[var].ty).unwrap_or(0);
        let size = terms.bv(self.layout.off_bits, size);
        let start = terms.bv(self.layout.off_bits, 0);
        self.note_contents(terms, s, object, (start, size), cell.node);
    }

    /// Notes the contents of an object, from an offset on and of a size.
    fn note_contents(
        &mut self,
        terms: &mut Terms,
        s: &State,
        object: Term,
        (start, size): (Term, Term),
        node: NodeId,
    ) {
        let Some((edge, path)) = &self.at else { return };
        let guard = terms.and_all(path.iter().copied());
        let regions = self.regions.regions_of(node);
        let regions = regions.iter().map(|&r| (r, s.slots.get(self.layout.region(r)))).collect();
        self.contents.push(Contents { edge: *edge, guard, object, start, size, regions });
    }

    #[allow(clippy::too_many_arguments)]
    fn alloc(
        &mut self,
        terms: &mut Terms,
        s: &mut State,
        edge: EdgeId,
        dst: PlaceId,
        size: ExprId,
        kind: AllocKind,
        zeroed: bool,
    ) {
        let size = self.expr(terms, s, size);
        let object = self.fresh_object(terms, s);
        self.set_size(terms, s, object, size);
        self.set_status(terms, s, object, if kind == AllocKind::Heap { HEAP } else { LIVE });
        if kind == AllocKind::Heap {
            self.count_heap(terms, s, 1);
        }
        let zero = terms.bv(self.layout.off_bits, 0);
        let pointer = terms.concat(object, zero);
        if let (false, Some(cell)) = (zeroed, self.regions.points_to.site(edge)) {
            self.note_contents(terms, s, object, (zero, size), cell.node);
        }
        if let (true, Some(cell), Some(bytes)) =
            (zeroed, self.regions.points_to.site(edge), terms.value_of(size).and_then(|n| n.to_u64()))
        {
            let zero = terms.bv(8, 0);
            self.fill_bytes_of_fresh(terms, s, (pointer, cell), zero, bytes);
        }
        self.store(terms, s, dst, pointer);
    }

    fn free(&mut self, terms: &mut Terms, s: &mut State, ptr: ExprId) {
        let Some(slot) = self.layout.status else { return };
        let pointer = self.expr(terms, s, ptr);
        let object = self.object(terms, pointer);
        let null = terms.bv(OBJ_BITS, 0);
        let is_null = terms.eq(object, null);
        let old = s.slots.get(slot);
        let heap = terms.bv(STATUS_BITS, HEAP);
        let was = terms.select(old, object);
        let was_heap = terms.eq(was, heap);
        let dead = terms.bv(STATUS_BITS, DEAD);
        let freed = terms.store(old, object, dead);
        let status = terms.ite(is_null, old, freed);
        s.slots.set(slot, status);
        let count = s.slots.get(self.layout.heap_count);
        let one = terms.bv(COUNT_BITS, 1);
        let fewer = terms.sub(count, one);
        let count = terms.ite(was_heap, fewer, count);
        s.slots.set(self.layout.heap_count, count);
    }

    fn count_heap(&mut self, terms: &mut Terms, s: &mut State, by: u64) {
        let by = terms.bv(COUNT_BITS, by);
        let count = terms.add(s.slots.get(self.layout.heap_count), by);
        s.slots.set(self.layout.heap_count, count);
    }

    fn fresh_object(&mut self, terms: &mut Terms, s: &mut State) -> Term {
        let object = s.slots.get(self.layout.next_object);
        let one = terms.bv(OBJ_BITS, 1);
        let next = terms.add(object, one);
        s.slots.set(self.layout.next_object, next);
        object
    }

    fn set_status(&mut self, terms: &mut Terms, s: &mut State, object: Term, status: u64) {
        if let Some(slot) = self.layout.status {
            let value = terms.bv(STATUS_BITS, status);
            let array = terms.store(s.slots.get(slot), object, value);
            s.slots.set(slot, array);
        }
    }

    fn set_size(&mut self, terms: &mut Terms, s: &mut State, object: Term, size: Term) {
        let array = terms.store(s.slots.get(self.layout.sizes), object, size);
        s.slots.set(self.layout.sizes, array);
    }

    /// The object part of a pointer.
    pub fn object(&self, terms: &mut Terms, pointer: Term) -> Term {
        let top = self.layout.ptr_bits() - 1;
        terms.extract(pointer, top, self.layout.off_bits)
    }

    /// The offset part of a pointer.
    pub fn offset(&self, terms: &mut Terms, pointer: Term) -> Term {
        terms.extract(pointer, self.layout.off_bits - 1, 0)
    }

    pub(crate) fn object_of_var(&mut self, terms: &mut Terms, s: &State, var: VarId) -> Term {
        match self.layout.local_object(var) {
            Some(slot) => s.slots.get(slot),
            None => terms.bv(OBJ_BITS, self.layout.var_object(var)),
        }
    }

    /// Bits of a scalar place's value.
    pub(crate) fn place_bits(&self, place: PlaceId) -> u32 {
        let scalar = self.program.place_scalar(place).expect("the verifier admits scalar places only here");
        self.layout.bits(scalar)
    }

    /// A constant of up to 128 bits.
    pub(crate) fn constant(&self, terms: &mut Terms, width: u32, bits: u128) -> Term {
        let words = [bits as u64, (bits >> 64) as u64];
        let n = (width as usize).div_ceil(64).min(2);
        terms.bv_const(&BitVec::from_words(width, &words[..n]))
    }
}

/// Whether a format is a string literal without `%n`, which would store a count.
fn only_prints(program: &Program, format: &Arg) -> bool {
    let Arg::Scalar(mut e) = *format else { return false };
    while let ExprKind::Convert(inner) = program.exprs[e].kind {
        e = inner;
    }
    let ExprKind::Addr(place) = program.exprs[e].kind else { return false };
    let Base::Var(var) = program.places[place].base else { return false };
    let (Init::Image(items), true) = (&program.vars[var].init, program.vars[var].read_only) else {
        return false;
    };
    items.iter().all(|item| match &item.value {
        InitValue::Bytes(bytes) => !bytes.split(|b| *b == b'%').skip(1).any(|rest| {
            let conversion = rest.iter().find(|b| !b"0123456789-+ #.*hlLqjzt'$".contains(b));
            conversion == Some(&b'n')
        }),
        _ => false,
    })
}
