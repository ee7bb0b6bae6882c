//! Constant propagation and explicit values (section 4.2): for each scalar of a variable the value
//! it has, or nothing.
//!
//! Joining where control flow meets makes it constant propagation, never joining makes it
//! explicit-value model checking; the lattice and the transfer relation are the same. A state is
//! a hash-consed map, so a step that changes nothing costs nothing, and the search for a covering
//! state is a table lookup.
//!
//! Values are exact: bit-precise integers, IEEE numbers, pointers to variables and functions.
//! A pointer to a local that dies is forgotten, so a known pointer to a variable is to a live one.
//! Address-taken locals of recursive functions have several instances at a time and are not
//! tracked; other locals of recursive functions are saved on entry and restored on return.

use crate::cells::{CellInfo, Cells};
use crate::trie::{Map, Shape, Tries};
use crate::values::{Assumed, Cell, Evaluator, Memory, Where};
use palisade_base::{Idx, IdxVec};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use palisade_cpa::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What is known about all variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Values {
    map: Map,
    /// The saved variables of outer activations of recursive functions: a list, by number.
    saved: u32,
}

/// The variables that are tracked; all others are ⊤.
#[derive(Clone, Debug)]
pub struct Tracked(Option<Arc<[bool]>>);

impl Tracked {
    /// All variables.
    pub fn all() -> Self {
        Tracked(None)
    }
    /// Only these.
    pub fn only(program: &Program, vars: impl IntoIterator<Item = VarId>) -> Self {
        let mut set = vec![false; program.vars.len()];
        vars.into_iter().for_each(|v| set[v.index()] = true);
        Tracked(Some(set.into()))
    }
    /// Whether a variable is tracked.
    pub fn has(&self, var: VarId) -> bool {
        self.0.as_ref().is_none_or(|set| set[var.index()])
    }
    /// The same without a variable.
    fn without(&self, program: &Program, var: VarId) -> Self {
        let mut set = self.0.as_ref().map_or_else(|| vec![true; program.vars.len()], |s| s.to_vec());
        set[var.index()] = false;
        Tracked(Some(set.into()))
    }
}

impl PartialEq for Tracked {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        }
    }
}

/// Values by number; 0 is "any value".
#[derive(Debug)]
struct Constants {
    values: Vec<Constant>,
    index: FxHashMap<Constant, u32>,
}

impl Constants {
    fn number(&mut self, value: Option<Constant>) -> u32 {
        let Some(value) = value else { return 0 };
        let fresh = self.values.len() as u32;
        let id = *self.index.entry(value).or_insert(fresh);
        if id == fresh {
            self.values.push(value);
        }
        id
    }
    fn value(&self, id: u32) -> Option<Constant> {
        (id != 0).then(|| self.values[id as usize])
    }
}

/// The constant-propagation and explicit-value analysis.
pub struct Explicit<'p> {
    program: &'p Program,
    evaluator: Evaluator<'p>,
    tries: Tries,
    constants: Constants,
    cells: Cells,
    recursive: IdxVec<FuncId, bool>,
    saved: Vec<(Map, u32)>,
    saved_index: FxHashMap<(Map, u32), u32>,
    /// Variables that a pointer may point to, with cells.
    addressed: Vec<VarId>,
    /// Cells that may hold pointers.
    pointers: Vec<u32>,
    join: bool,
    /// Stop tracking a variable that has more values than this at one location.
    value_limit: Option<usize>,
}

struct View<'a> {
    program: &'a Program,
    tries: &'a Tries,
    constants: &'a Constants,
    cells: &'a Cells,
    recursive: &'a IdxVec<FuncId, bool>,
    map: Map,
}

impl Memory for View<'_> {
    fn variable(&self, var: VarId) -> Option<Constant> {
        self.constants.value(self.tries.get(self.map, self.cells.scalar(var)?))
    }
    fn read(&self, cell: Cell, ty: Scalar) -> Option<Constant> {
        let Object::Var(var) = cell.object else { return None };
        let slot = self.cells.exact(var, cell.bit, cell.width)?;
        let value = self.constants.value(self.tries.get(self.map, slot))?;
        reinterpret(self.cells.info(slot)?.scalar, ty, value)
    }
    fn size(&self, object: Object) -> Option<u64> {
        match object {
            Object::Var(v) => self.program.size_of(self.program.vars[v].ty),
            Object::Heap(_) => None,
        }
    }
    fn alive(&self, object: Object) -> Option<bool> {
        matches!(object, Object::Var(_)).then_some(true)
    }
    fn has_address(&self, var: VarId) -> bool {
        owner(self.program, var).is_none_or(|f| !self.recursive[f])
    }
}

/// The function a variable belongs to.
pub(crate) fn owner(program: &Program, var: VarId) -> Option<FuncId> {
    match program.vars[var].kind {
        VarKind::Global => None,
        VarKind::Param(f) | VarKind::Local(f) | VarKind::Temp(f) => Some(f),
    }
}

/// A stored value read with another type of the same storage.
pub(crate) fn reinterpret(stored: Scalar, wanted: Scalar, value: Constant) -> Option<Constant> {
    if stored == wanted {
        return Some(value);
    }
    match (stored, wanted, value) {
        (Scalar::Int(a), Scalar::Int(b), Constant::Bits(_)) => (a.bits == b.bits).then_some(value),
        (_, _, Constant::Bits(_)) if !matches!((stored, wanted), (Scalar::Float(_), Scalar::Float(_))) => {
            Some(value)
        }
        _ => None,
    }
}

impl<'p> Explicit<'p> {
    /// Constant propagation: states are joined where control flow meets.
    pub fn joining(program: &'p Program) -> Self {
        Explicit { join: true, ..Self::separate(program) }
    }

    /// Explicit values: states are never joined.
    pub fn separate(program: &'p Program) -> Self {
        let graph = CallGraph::new(program);
        let recursive: IdxVec<FuncId, bool> = program.funcs.ids().map(|f| graph.is_recursive(f)).collect();
        let one_instance =
            |v: VarId| !program.vars[v].address_taken || owner(program, v).is_none_or(|f| !recursive[f]);
        let cells = Cells::new(program, one_instance);
        let slots = cells.len(program) as u32;
        let may_hold_pointer = |s: &u32| cells.info(*s).is_none_or(|c| c.scalar == Scalar::Ptr);
        let addressed = |v: &VarId| program.vars[*v].address_taken && !cells.of_var(*v).is_empty();
        Explicit {
            program,
            evaluator: Evaluator::new(program),
            tries: Tries::new(slots as usize),
            constants: Constants { values: vec![Constant::Bits(0)], index: FxHashMap::default() },
            pointers: (0..slots).filter(may_hold_pointer).collect(),
            addressed: program.vars.ids().filter(addressed).collect(),
            cells,
            recursive,
            saved: vec![(Map::EMPTY, 0)],
            saved_index: FxHashMap::default(),
            join: false,
            value_limit: None,
        }
    }

    /// Stops tracking a variable once it has more than `limit` values at one location: dynamic
    /// precision adjustment.
    pub fn with_value_limit(self, limit: usize) -> Self {
        Explicit { value_limit: Some(limit), ..self }
    }

    /// The state at the start of the program: globals have their initial values.
    pub fn initial(&mut self) -> Values {
        let mut map = Map::EMPTY;
        for (var, info) in self.program.vars.iter_enumerated() {
            let Init::Image(items) = &info.init else { continue };
            if info.kind != VarKind::Global {
                continue;
            }
            map = self.fill(map, var, 0, i64::MAX);
            for item in items {
                map = self.initialise(map, var, item);
            }
        }
        Values { map, saved: 0 }
    }

    /// The state without any knowledge (⊤).
    pub fn top(&self) -> Values {
        Values { map: Map::EMPTY, saved: 0 }
    }

    fn initialise(&mut self, map: Map, var: VarId, item: &InitItem) -> Map {
        let bit = item.offset as i64 * 8;
        let ptr = u32::from(self.program.data_model.ptr_bits());
        let (width, value) = match &item.value {
            InitValue::Bytes(bytes) => return self.initialise_bytes(map, var, item.offset, bytes),
            InitValue::Int(t, bits) => {
                (u32::from(t.bits).div_ceil(8).next_power_of_two() * 8, Constant::Bits(t.truncate(*bits)))
            }
            InitValue::Float(FloatTy::F80, bits) => {
                (self.program.data_model.long_double_bytes() as u32 * 8, Constant::Bits(*bits))
            }
            InitValue::Float(t, bits) => (u32::from(t.bits()), Constant::Bits(*bits)),
            InitValue::Addr(v, offset) => (ptr, Constant::Addr(Object::Var(*v), *offset)),
            InitValue::Func(f) => (ptr, Constant::Func(*f)),
            InitValue::Absolute(a) => (ptr, Constant::Bits(u128::from(*a))),
        };
        self.store(map, Where::At(Object::Var(var), bit), width, Some(value), &Tracked::all())
    }

    /// Little-endian bytes of an image, cell by cell.
    fn initialise_bytes(&mut self, mut map: Map, var: VarId, offset: u64, bytes: &[u8]) -> Map {
        let (from, to) = (offset as i64 * 8, (offset as i64 + bytes.len() as i64) * 8);
        for slot in self.cells.overlapping(var, from, to - from) {
            let Some(&cell) = self.cells.info(slot) else { continue };
            let (lo, hi) = (i64::from(cell.bit), i64::from(cell.bit + cell.width));
            let mut value = None;
            if lo >= from && hi <= to && cell.width <= 64 {
                let first = ((lo - from) / 8) as usize;
                let last = (hi - from).div_euclid(8) as usize + usize::from((hi - from) % 8 != 0);
                let raw = bytes[first..last].iter().rev().fold(0u128, |acc, b| acc << 8 | u128::from(*b));
                let shifted = raw >> (lo.rem_euclid(8)) & ((1u128 << cell.width) - 1);
                value = Some(Constant::Bits(shifted));
            }
            map = self.set(map, slot, value);
        }
        map
    }

    fn set(&mut self, map: Map, slot: u32, value: Option<Constant>) -> Map {
        let number = self.constants.number(value);
        self.tries.set(map, slot, number)
    }

    /// Zero in all cells that lie in the bits, nothing in those that stick out.
    fn fill(&mut self, mut map: Map, var: VarId, bit: i64, width: i64) -> Map {
        for slot in self.cells.overlapping(var, bit, width) {
            let Some(&c) = self.cells.info(slot) else { continue };
            let inside = i64::from(c.bit) >= bit && i64::from(c.bit + c.width) <= bit.saturating_add(width);
            map = self.set(map, slot, inside.then_some(Constant::Bits(0)));
        }
        map
    }

    /// Parts of the analysis, split so that the evaluator can look at memory.
    fn view(&mut self, map: Map) -> (&mut Evaluator<'p>, View<'_>) {
        let view = View {
            program: self.program,
            tries: &self.tries,
            constants: &self.constants,
            cells: &self.cells,
            recursive: &self.recursive,
            map,
        };
        (&mut self.evaluator, view)
    }

    fn eval(&mut self, map: Map, expr: ExprId) -> Option<Constant> {
        let (evaluator, view) = self.view(map);
        evaluator.eval(expr, &view)
    }

    fn locate(&mut self, map: Map, place: PlaceId) -> Where {
        let (evaluator, view) = self.view(map);
        evaluator.locate(place, &view)
    }

    fn forget_var(&mut self, map: Map, var: VarId) -> Map {
        let range = self.cells.of_var(var);
        self.tries.restrict(map, range.start, range.end, false)
    }

    /// Forgets everything a pointer may reach.
    fn forget_addressed(&mut self, mut map: Map) -> Map {
        for i in 0..self.addressed.len() {
            map = self.forget_var(map, self.addressed[i]);
        }
        map
    }

    /// Forgets pointers to variables for which `dying` holds.
    fn forget_pointers(&mut self, mut map: Map, dying: impl Fn(VarId) -> bool) -> Map {
        for i in 0..self.pointers.len() {
            let slot = self.pointers[i];
            if let Some(Constant::Addr(Object::Var(v), _)) = self.constants.value(self.tries.get(map, slot))
                && dying(v)
            {
                map = self.tries.set(map, slot, 0);
            }
        }
        map
    }

    /// Stores a value (or an unknown one) of `width` bits.
    fn store(&mut self, map: Map, at: Where, width: u32, value: Option<Constant>, pi: &Tracked) -> Map {
        match at {
            Where::At(Object::Var(var), bit) => {
                let mut map = map;
                for slot in self.cells.overlapping(var, bit, i64::from(width)) {
                    let exact = |c: &CellInfo| i64::from(c.bit) == bit && c.width == width;
                    let fits = |c: &CellInfo| match value {
                        Some(Constant::Bits(_)) => true,
                        Some(_) => c.scalar == Scalar::Ptr,
                        None => false,
                    };
                    let keep = self.cells.info(slot).is_some_and(|c| exact(c) && fits(c)) && pi.has(var);
                    map = self.set(map, slot, value.filter(|_| keep));
                }
                map
            }
            Where::Within(Object::Var(var)) => self.forget_var(map, var),
            Where::At(Object::Heap(_), _) | Where::Within(Object::Heap(_)) | Where::Anywhere => {
                self.forget_addressed(map)
            }
        }
    }

    fn place_width(&self, place: PlaceId) -> u32 {
        let p = &self.program.places[place];
        match p.bits {
            Some(b) => u32::from(b.width),
            None => self.program.size_of(p.ty).and_then(|s| u32::try_from(s * 8).ok()).unwrap_or(u32::MAX),
        }
    }

    fn assign(&mut self, map: Map, dst: PlaceId, value: Option<Constant>, pi: &Tracked) -> Map {
        let at = self.locate(map, dst);
        self.store(map, at, self.place_width(dst), value, pi)
    }

    /// Copies the cells of `width` bits from one place to another.
    fn copy(&mut self, map: Map, to: Where, from: Where, width: u32, pi: &Tracked) -> Map {
        let mut values = Vec::new();
        if let (Where::At(Object::Var(d), dbit), Where::At(Object::Var(s), sbit)) = (to, from) {
            for slot in self.cells.overlapping(d, dbit, i64::from(width)) {
                let Some(&cell) = self.cells.info(slot) else { continue };
                let offset = i64::from(cell.bit) - dbit;
                let inside = offset >= 0 && offset + i64::from(cell.width) <= i64::from(width);
                let source = self.cells.exact(s, sbit.saturating_add(offset), cell.width);
                if let (true, true, Some(source)) = (inside, pi.has(d), source)
                    && self.cells.info(source).is_some_and(|c| c.scalar == cell.scalar)
                {
                    values.push((slot, self.tries.get(map, source)));
                }
            }
        }
        let mut map = self.store(map, to, width, None, pi);
        for (slot, value) in values {
            map = self.tries.set(map, slot, value);
        }
        map
    }

    /// Binds a parameter or stores a result.
    fn pass(&mut self, map: Map, to: Where, width: u32, arg: Passed, pi: &Tracked) -> Map {
        match arg {
            Passed::Scalar(value) => self.store(map, to, width, value, pi),
            Passed::Aggregate(cells) => {
                let mut map = self.store(map, to, width, None, pi);
                if let Where::At(Object::Var(var), bit) = to
                    && pi.has(var)
                {
                    for (offset, width, value) in cells {
                        if let Some(slot) = self.cells.exact(var, bit + offset, width) {
                            map = self.tries.set(map, slot, value);
                        }
                    }
                }
                map
            }
        }
    }

    fn passed(&mut self, map: Map, arg: &Arg) -> Passed {
        match arg {
            Arg::Scalar(e) => Passed::Scalar(self.eval(map, *e)),
            Arg::Aggregate(p) => {
                let mut cells = Vec::new();
                let width = self.place_width(*p);
                if let Where::At(Object::Var(var), bit) = self.locate(map, *p) {
                    for slot in self.cells.overlapping(var, bit, i64::from(width)) {
                        let Some(c) = self.cells.info(slot) else { continue };
                        cells.push((i64::from(c.bit) - bit, c.width, self.tries.get(map, slot)));
                    }
                }
                Passed::Aggregate(cells)
            }
        }
    }

    /// Keeps the states in which a truth value is `truth`; `false` if there are none.
    fn assume(&mut self, map: &mut Map, cond: ExprId, truth: bool, pi: &Tracked) -> bool {
        let (evaluator, view) = self.view(*map);
        match evaluator.assume(cond, truth, &view) {
            Assumed::Impossible => return false,
            Assumed::Possible(cells) => {
                for (cell, value) in cells {
                    let Object::Var(var) = cell.object else { continue };
                    let slot = match cell.width {
                        0 => self.cells.scalar(var),
                        width => self.cells.exact(var, cell.bit, width),
                    };
                    if let Some(slot) = slot
                        && pi.has(var)
                        && (matches!(value, Constant::Bits(_)) || self.pointers.binary_search(&slot).is_ok())
                    {
                        *map = self.set(*map, slot, Some(value));
                    }
                }
            }
        }
        true
    }

    fn enter(&mut self, state: &mut Values, func: FuncId, args: &[Arg], pi: &Tracked) {
        let passed: Vec<Passed> = args.iter().map(|a| self.passed(state.map, a)).collect();
        let range = self.cells.of_func(func);
        if self.recursive[func] {
            let frame = self.tries.restrict(state.map, range.start, range.end, true);
            let fresh = self.saved.len() as u32;
            let id = *self.saved_index.entry((frame, state.saved)).or_insert(fresh);
            if id == fresh {
                self.saved.push((frame, state.saved));
            }
            state.saved = id;
        }
        state.map = self.tries.restrict(state.map, range.start, range.end, false);
        let params = &self.program.body(func).params;
        for (&param, arg) in params.iter().zip(passed) {
            let size = self.program.size_of(self.program.vars[param].ty).unwrap_or(0);
            let at = Where::At(Object::Var(param), 0);
            state.map = self.pass(state.map, at, (size * 8) as u32, arg, pi);
        }
    }

    fn leave(&mut self, state: &mut Values, func: FuncId, dst: Option<PlaceId>, pi: &Tracked) {
        let slot = self.cells.result(func);
        let value = self.constants.value(self.tries.get(state.map, slot));
        let range = self.cells.of_func(func);
        state.map = self.tries.set(state.map, slot, 0);
        state.map = self.tries.restrict(state.map, range.start, range.end, false);
        let program = self.program;
        state.map = self.forget_pointers(state.map, |v| owner(program, v) == Some(func));
        // A result that points to a variable of the callee dangles.
        let value = value
            .filter(|v| !matches!(v, Constant::Addr(Object::Var(v), _) if owner(program, *v) == Some(func)));
        if self.recursive[func] {
            let (frame, below) = self.saved[state.saved as usize];
            state.map = self.tries.overlay(state.map, frame);
            state.saved = below;
        }
        if let Some(dst) = dst {
            state.map = self.assign(state.map, dst, value, pi);
        }
    }

    /// A call as one step: of a function without a body, or one whose body is not entered.
    fn call_over(
        &mut self,
        map: Map,
        dst: Option<PlaceId>,
        callee: Callee,
        args: &[Arg],
        pi: &Tracked,
    ) -> Map {
        let mut map = map;
        let known = match callee {
            Callee::Direct(f) => Some(f),
            Callee::Indirect(e) => match self.eval(map, e) {
                Some(Constant::Func(f)) => Some(f),
                _ => None,
            },
        };
        if known.is_none_or(|f| self.program.funcs[f].body.is_some()) {
            for var in self.program.vars.ids() {
                if self.program.vars[var].kind == VarKind::Global {
                    map = self.forget_var(map, var);
                }
            }
            map = self.forget_addressed(map);
        } else {
            // A library function may write through the pointers it gets.
            let harmless = |this: &mut Self, arg: &Arg| match arg {
                Arg::Aggregate(_) => false,
                Arg::Scalar(e) if this.program.exprs[*e].ty != Scalar::Ptr => true,
                Arg::Scalar(e) => match this.eval(map, *e) {
                    Some(Constant::Addr(Object::Var(v), _)) => this.program.vars[v].read_only,
                    Some(Constant::Bits(0) | Constant::Func(_)) => true,
                    _ => false,
                },
            };
            let effect = known.map_or(Effect::Arbitrary, |f| self.program.funcs[f].effect);
            if effect == Effect::Arbitrary || !effect.is_harmless() && !args.iter().all(|a| harmless(self, a))
            {
                map = self.forget_addressed(map);
            }
        }
        match dst {
            Some(dst) => self.assign(map, dst, None, pi),
            None => map,
        }
    }

    /// The operation of an edge taken as a whole; `false` if it is impossible.
    fn local(&mut self, state: &mut Values, edge: &Edge, pi: &Tracked) -> bool {
        let map = state.map;
        state.map = match &edge.op {
            Op::Skip | Op::Halt { .. } | Op::Free { .. } => map,
            Op::Assign { dst, src } => {
                let value = self.eval(map, *src);
                self.assign(map, *dst, value, pi)
            }
            Op::Copy { dst, src } => {
                let (to, from) = (self.locate(map, *dst), self.locate(map, *src));
                self.copy(map, to, from, self.place_width(*dst), pi)
            }
            Op::Zero { dst } => match self.locate(map, *dst) {
                Where::At(Object::Var(var), bit) if pi.has(var) => {
                    self.fill(map, var, bit, i64::from(self.place_width(*dst)))
                }
                at => self.store(map, at, self.place_width(*dst), None, pi),
            },
            Op::Assume { cond } | Op::Check { cond, .. } => {
                return self.assume(&mut state.map, *cond, true, pi);
            }
            Op::Havoc { dst, .. } | Op::Alloc { dst, .. } => self.assign(map, *dst, None, pi),
            Op::Call { dst, callee, args } => self.call_over(map, *dst, *callee, args, pi),
            Op::Return { value } => match value {
                Some(Arg::Scalar(e)) => {
                    let value = self.eval(map, *e);
                    let slot = self.cells.result(self.program.locs[edge.src].func);
                    self.set(map, slot, value)
                }
                _ => map,
            },
            Op::MemCopy { dst, src, len } => {
                let (to, from) = (self.pointee(map, *dst), self.pointee(map, *src));
                match self.eval(map, *len) {
                    Some(Constant::Bits(n)) if n < 1 << 24 => self.copy(map, to, from, n as u32 * 8, pi),
                    _ => self.spoil(map, to),
                }
            }
            Op::MemSet { dst, byte, len } => {
                let to = self.pointee(map, *dst);
                match (to, self.eval(map, *byte), self.eval(map, *len)) {
                    (Where::At(Object::Var(v), bit), Some(Constant::Bits(0)), Some(Constant::Bits(n)))
                        if n < 1 << 24 && pi.has(v) =>
                    {
                        self.fill(map, v, bit, n as i64 * 8)
                    }
                    _ => self.spoil(map, to),
                }
            }
            Op::Enter { var } | Op::Leave { var } => {
                let map = self.forget_var(map, *var);
                if self.program.vars[*var].address_taken {
                    self.forget_pointers(map, |v| v == *var)
                } else {
                    map
                }
            }
        };
        true
    }

    fn pointee(&mut self, map: Map, ptr: ExprId) -> Where {
        match self.eval(map, ptr) {
            Some(Constant::Addr(object, offset)) => match offset.checked_mul(8) {
                Some(bit) => Where::At(object, bit),
                None => Where::Within(object),
            },
            _ => Where::Anywhere,
        }
    }

    /// A write of unknown length.
    fn spoil(&mut self, map: Map, at: Where) -> Map {
        match at {
            Where::At(Object::Var(v), _) | Where::Within(Object::Var(v)) => self.forget_var(map, v),
            _ => self.forget_addressed(map),
        }
    }

    /// The known cells with their values, by number.
    pub fn known(&self, state: &Values) -> Vec<(u32, Constant)> {
        let entries = self.tries.entries(state.map).into_iter();
        entries.filter_map(|(slot, v)| Some((slot, self.constants.value(v)?))).collect()
    }

    /// The value of a scalar variable.
    pub fn value_of(&self, state: &Values, var: VarId) -> Option<Constant> {
        self.constants.value(self.tries.get(state.map, self.cells.scalar(var)?))
    }

    /// The value of an expression in a state.
    pub fn value(&mut self, state: &Values, expr: ExprId) -> Option<Constant> {
        self.eval(state.map, expr)
    }

    /// The scalar variables that an edge reads or writes.
    fn variables_of(&self, edge: EdgeId) -> Vec<VarId> {
        let mut vars = Vec::new();
        self.program.visit_op(&self.program.edges[edge].op, &mut |used| {
            if let Use::Read(p) | Use::Write(p) = used
                && let Base::Var(v) = self.program.places[p].base
            {
                vars.push(v);
            }
        });
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Bytes that all states together take.
    pub fn bytes(&self) -> usize {
        self.tries.bytes()
            + self.constants.values.capacity() * size_of::<Constant>() * 2
            + self.saved.capacity() * size_of::<(Map, u32)>() * 2
    }
}

enum Passed {
    Scalar(Option<Constant>),
    /// Bit offsets, widths and value numbers.
    Aggregate(Vec<(i64, u32, u32)>),
}

impl AbstractDomain for Explicit<'_> {
    type State = Values;

    fn leq(&mut self, a: &Values, b: &Values) -> Result<bool, Halt> {
        Ok(a.saved == b.saved && self.tries.includes(a.map, b.map))
    }

    /// States of different activations of recursive functions lose their outer variables.
    fn join(&mut self, a: &Values, b: &Values) -> Result<Values, Halt> {
        let saved = if a.saved == b.saved { a.saved } else { 0 };
        Ok(Values { map: self.tries.common(a.map, b.map), saved })
    }

    fn describe(&self, state: &Values) -> String {
        let known = self.known(state).into_iter().map(|(slot, value)| {
            let name = self.cells.name(self.program, slot);
            format!("{name}={}", show(self.program, self.cells.info(slot), value))
        });
        known.collect::<Vec<_>>().join(" ")
    }
}

/// A value as one would write it in C.
fn show(program: &Program, cell: Option<&CellInfo>, value: Constant) -> String {
    match (value, cell.map(|c| c.scalar)) {
        (Constant::Bits(b), Some(Scalar::Int(t))) => t.decode(b).to_string(),
        (Constant::Bits(b), Some(Scalar::Float(FloatTy::F32))) => f32::from_bits(b as u32).to_string(),
        (Constant::Bits(b), Some(Scalar::Float(FloatTy::F64))) => f64::from_bits(b as u64).to_string(),
        (Constant::Bits(b), _) => format!("{b:#x}"),
        (Constant::Func(f), _) => format!("&{}", program.funcs[f].name),
        (Constant::Addr(Object::Var(v), 0), _) => format!("&{}", program.vars[v].name),
        (Constant::Addr(Object::Var(v), offset), _) => format!("&{}+{offset}", program.vars[v].name),
        (Constant::Addr(Object::Heap(n), offset), _) => format!("heap{n}+{offset}"),
    }
}

impl Cpa for Explicit<'_> {
    type Precision = Tracked;
    type Key = ();
    type Class = (Shape, u32);

    fn key(&self, _: &Values) {}
    fn class(&self, state: &Values) -> (Shape, u32) {
        (self.tries.shape(state.map), state.saved)
    }
    /// A state is below those whose entries it has; seen through their shape, it is equal to them.
    fn digest(&mut self, state: &Values, (shape, saved): (Shape, u32)) -> Option<u64> {
        if state.saved != saved {
            return None;
        }
        self.tries.project(state.map, shape).map(|m| u64::from(m.0))
    }

    fn transfer(
        &mut self,
        state: &Values,
        pi: &Tracked,
        step: &Step,
        out: &mut Successors<Values>,
    ) -> Result<(), Halt> {
        let program = self.program;
        let edge = &program.edges[step.edge];
        let mut next = *state;
        let possible = match (step.kind, &edge.op) {
            (StepKind::Fail, Op::Check { cond, .. }) => self.assume(&mut next.map, *cond, false, pi),
            (StepKind::Enter(f), Op::Call { callee, args, .. }) => {
                let called = match callee {
                    Callee::Direct(_) => true,
                    Callee::Indirect(e) => match self.eval(state.map, *e) {
                        Some(Constant::Func(g)) => f == g,
                        Some(_) => false,
                        None => true,
                    },
                };
                if called {
                    self.enter(&mut next, f, args, pi);
                }
                called
            }
            (StepKind::Leave(f), Op::Call { dst, .. }) => {
                self.leave(&mut next, f, *dst, pi);
                true
            }
            _ => self.local(&mut next, edge, pi),
        };
        if possible {
            out.push(next);
        }
        Ok(())
    }

    /// ↓ of sections 5.2 and 5.4: assumes the conditions that hold, and asks the other components
    /// for the only value of each unknown variable that the step reads or writes; only those can
    /// have become unique.
    fn strengthen(
        &mut self,
        state: Values,
        pi: &Tracked,
        step: &Step,
        others: &mut dyn Facts,
    ) -> Result<Option<Values>, Halt> {
        let mut next = state;
        for condition in others.conditions()? {
            if !self.assume(&mut next.map, condition, true, pi) {
                return Ok(None);
            }
        }
        for var in self.variables_of(step.edge) {
            let Some(slot) = self.cells.scalar(var) else { continue };
            if !pi.has(var) || self.tries.get(next.map, slot) != 0 {
                continue;
            }
            let known: Vec<(VarId, Constant)> = self
                .known(&next)
                .into_iter()
                .filter_map(|(s, v)| Some((self.cells.info(s)?.var, v)))
                .filter(|(v, _)| self.cells.scalar(*v).is_some())
                .collect();
            match others.unique_value(var, &known)? {
                Unique::None => return Ok(None),
                Unique::Value(v @ Constant::Bits(_)) => next.map = self.set(next.map, slot, Some(v)),
                Unique::Value(_) | Unique::Unknown => {}
            }
        }
        Ok(Some(next))
    }

    fn merges(&self) -> bool {
        self.join
    }
    fn merge(&mut self, new: &Values, reached: &Values, _: &MergeContext) -> Result<Option<Values>, Halt> {
        if !self.join {
            return Ok(None);
        }
        let joined = self.join(new, reached)?;
        Ok((joined != *reached).then_some(joined))
    }

    fn adjusts(&self) -> bool {
        self.value_limit.is_some()
    }

    fn adjust(
        &mut self,
        state: Values,
        pi: &Tracked,
        reached: &dyn Section<Values>,
    ) -> Result<Adjusted<Values, Tracked>, Halt> {
        let Some(limit) = self.value_limit else { return Ok(Adjusted { state, precision: None }) };
        let (mut next, mut precision) = (state, None);
        for (slot, value) in self.tries.entries(state.map) {
            let Some(cell) = self.cells.info(slot) else { continue };
            let mut seen: FxHashSet<u32> = [value].into_iter().collect();
            reached.visit(&mut |other: &Values| {
                seen.extend(Some(self.tries.get(other.map, slot)).filter(|v| *v != 0));
                seen.len() <= limit
            });
            if seen.len() > limit {
                let var = cell.var;
                next.map = self.forget_var(next.map, var);
                precision = Some(precision.as_ref().unwrap_or(pi).without(self.program, var));
            }
        }
        Ok(Adjusted { state: next, precision })
    }

    fn answer(&mut self, state: &Values, query: &mut Query<'_>) -> Result<(), Halt> {
        match query {
            Query::Value(expr, answer) if answer.is_none() => **answer = self.eval(state.map, *expr),
            Query::UniqueValue { var, answer, .. } if **answer == Unique::Unknown => {
                if let Some(value) = self.value_of(state, *var) {
                    **answer = Unique::Value(value);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
