//! What a step does to the cells of a program, in three words: assume, assign, forget.
//!
//! Most analyses of values need no more than this; calls, results, recursion, aggregates and
//! pointers are resolved here once, soundly and without knowing any state: a write through a
//! pointer forgets every variable whose address is taken, and a variable of a recursive function
//! is forgotten when one of its other activations may have used it.

use crate::cells::{Cells, Located};
use crate::explicit::owner;
use palisade_base::IdxVec;
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use palisade_cpa::{Step, StepKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// A value that is assigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The value of an expression.
    Expr(ExprId),
    /// The value of another cell.
    Cell(u32),
    /// The number zero, or a null pointer.
    Zero,
}

/// One thing that happens to cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Only states in which the truth value is this one go on.
    Assume(ExprId, bool),
    /// All at once: every source is evaluated before any cell changes.
    Assign(Vec<(u32, Source)>),
    /// These cells take any value of their types.
    Forget(Range<u32>),
    /// Some of these cells do: what lies in the place, whose indices are no constants.
    ForgetIn(PlaceId, Range<u32>),
}

/// The effects of all steps of a program.
pub struct Effects<'p> {
    program: &'p Program,
    /// The cells the effects speak about.
    pub cells: Cells,
    addressed: Vec<VarId>,
    recursive: IdxVec<FuncId, bool>,
    cache: FxHashMap<Step, Rc<[Effect]>>,
}

impl<'p> Effects<'p> {
    /// The effects on all variables. Address-taken locals of recursive functions have several
    /// instances at a time and no cells.
    pub fn new(program: &'p Program) -> Self {
        let graph = CallGraph::new(program);
        let recursive: IdxVec<FuncId, bool> = program.funcs.ids().map(|f| graph.is_recursive(f)).collect();
        let one_instance =
            |v: VarId| !program.vars[v].address_taken || owner(program, v).is_none_or(|f| !recursive[f]);
        let cells = Cells::new(program, one_instance);
        let addressed = program.vars.iter_enumerated().filter(|(_, v)| v.address_taken);
        let addressed = addressed.map(|(id, _)| id).collect();
        Effects { program, cells, addressed, recursive, cache: FxHashMap::default() }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Whether a function may have several activations at a time.
    pub fn is_recursive(&self, func: FuncId) -> bool {
        self.recursive[func]
    }

    /// The cells that operations read by name.
    fn read(&self) -> FxHashSet<u32> {
        let mut read = FxHashSet::default();
        for edge in &self.program.edges {
            self.program.visit_op(&edge.op, &mut |used| {
                let Use::Read(place) = used else { return };
                match self.cells.locate(self.program, place) {
                    Located::Cell(slot) => read.extend([slot]),
                    Located::Among(slots) => read.extend(slots),
                    Located::Anywhere => {}
                }
            });
        }
        read
    }

    /// The value bits of the globals' cells at the start of the program, where they are known and somebody asks.
    pub fn initial(&self) -> Vec<(u32, u128)> {
        let read = self.read();
        let mut out = Vec::new();
        for (var, info) in self.program.vars.iter_enumerated() {
            let (Init::Image(items), VarKind::Global) = (&info.init, info.kind) else { continue };
            for slot in self.cells.of_var(var).filter(|slot| read.contains(slot)) {
                let Some(cell) = self.cells.info(slot) else { continue };
                let overlaps = |i: &&InitItem| {
                    let (lo, hi) = (i.offset * 8, i.offset * 8 + image_bits(self.program, &i.value));
                    lo < u64::from(cell.bit + cell.width) && u64::from(cell.bit) < hi
                };
                let mut hits = items.iter().filter(overlaps);
                match (hits.next(), hits.next()) {
                    (None, _) => out.push((slot, 0)),
                    (Some(InitItem { offset, value: InitValue::Bytes(bytes) }), None) => {
                        if let Scalar::Int(_) = cell.scalar
                            && let Some(bits) = within(bytes, u64::from(cell.bit), cell.width, *offset)
                        {
                            out.push((slot, bits));
                        }
                    }
                    (Some(item), None) if item.offset * 8 == u64::from(cell.bit) => {
                        let whole = image_bits(self.program, &item.value) == u64::from(cell.width);
                        match (&item.value, cell.scalar) {
                            (InitValue::Int(t, bits), Scalar::Int(_)) if whole => {
                                out.push((slot, t.truncate(*bits)));
                            }
                            (InitValue::Float(_, bits), Scalar::Float(_)) if whole => {
                                out.push((slot, *bits));
                            }
                            (InitValue::Absolute(0), Scalar::Ptr) => {
                                out.push((slot, 0));
                            }
                            _ => {}
                        }
                    }
                    _ => {}
                }
            }
        }
        out
    }

    /// What a step does, in order.
    pub fn of(&mut self, step: &Step) -> Rc<[Effect]> {
        if let Some(known) = self.cache.get(step) {
            return known.clone();
        }
        let mut out = Vec::new();
        self.build(step, &mut out);
        let effects: Rc<[Effect]> = out.into();
        self.cache.insert(*step, effects.clone());
        effects
    }

    fn build(&self, step: &Step, out: &mut Vec<Effect>) {
        let edge = &self.program.edges[step.edge];
        match (step.kind, &edge.op) {
            (StepKind::Fail, Op::Check { cond, .. }) => out.push(Effect::Assume(*cond, false)),
            (StepKind::Enter(f), Op::Call { args, .. }) => self.enter(f, args, out),
            (StepKind::Leave(f), Op::Call { dst, .. }) => {
                out.push(Effect::Forget(self.cells.of_func(f)));
                let result = self.cells.result(f);
                if let Some(dst) = dst {
                    self.write(*dst, Some(Source::Cell(result)), out);
                }
                out.push(Effect::Forget(result..result + 1));
            }
            (_, op) => self.local(op, self.program.locs[edge.src].func, out),
        }
    }

    fn enter(&self, func: FuncId, args: &[Arg], out: &mut Vec<Effect>) {
        let mut assigned = Vec::new();
        for (&param, arg) in self.program.body(func).params.iter().zip(args) {
            if let (Some(slot), Arg::Scalar(e)) = (self.cells.scalar(param), arg) {
                assigned.push((slot, Source::Expr(*e)));
            }
        }
        let kept: Vec<u32> = assigned.iter().map(|a| a.0).collect();
        out.push(Effect::Assign(assigned));
        // What an earlier activation left behind is not the new one's.
        let mut start = self.cells.of_func(func).start;
        for slot in kept.into_iter().chain([self.cells.of_func(func).end]) {
            if start < slot {
                out.push(Effect::Forget(start..slot));
            }
            start = start.max(slot + 1);
        }
    }

    /// Stores a value, or any value, to a place.
    fn write(&self, dst: PlaceId, value: Option<Source>, out: &mut Vec<Effect>) {
        match (self.cells.locate(self.program, dst), value) {
            (Located::Cell(slot), Some(source)) => out.push(Effect::Assign(vec![(slot, source)])),
            (Located::Cell(slot), None) => out.push(Effect::Forget(slot..slot + 1)),
            (Located::Among(range), _) => out.push(Effect::ForgetIn(dst, range)),
            (Located::Anywhere, _) => self.forget_addressed(out),
        }
    }

    fn forget_addressed(&self, out: &mut Vec<Effect>) {
        out.extend(self.addressed.iter().map(|&v| Effect::Forget(self.cells.of_var(v))));
    }

    /// Aggregate contents, cell by cell where source and destination have the same cells.
    fn copy(&self, dst: PlaceId, src: PlaceId, out: &mut Vec<Effect>) {
        let (to, from) = (self.cells.locate(self.program, dst), self.cells.locate(self.program, src));
        let (Located::Among(to), Located::Among(from)) = (&to, &from) else {
            return self.write(dst, None, out);
        };
        let first = |r: &Range<u32>| self.cells.info(r.start).map_or(0, |c| c.bit);
        let (base_to, base_from) = (first(to), first(from));
        // Of an element that is not known only the type would agree.
        let fixed = |p: PlaceId| {
            self.program.places[p].path.iter().all(|proj| match proj {
                Proj::Field { .. } => true,
                Proj::Index { index, .. } => matches!(self.program.exprs[*index].kind, ExprKind::Int(_)),
            })
        };
        let same = to.len() == from.len()
            && fixed(dst)
            && fixed(src)
            && self.program.places[dst].ty == self.program.places[src].ty
            && to.clone().zip(from.clone()).all(|(a, b)| match (self.cells.info(a), self.cells.info(b)) {
                (Some(x), Some(y)) => {
                    (x.bit - base_to, x.width, x.scalar) == (y.bit - base_from, y.width, y.scalar)
                }
                _ => false,
            });
        if same {
            out.push(Effect::Assign(to.clone().zip(from.clone().map(Source::Cell)).collect()));
        } else {
            out.push(Effect::Forget(to.clone()));
        }
    }

    fn local(&self, op: &Op, func: FuncId, out: &mut Vec<Effect>) {
        match op {
            Op::Skip | Op::Halt { .. } | Op::Free { .. } => {}
            Op::Assign { dst, src } => self.write(*dst, Some(Source::Expr(*src)), out),
            Op::Copy { dst, src } => self.copy(*dst, *src, out),
            Op::Zero { dst } => match self.cells.locate(self.program, *dst) {
                Located::Cell(slot) => out.push(Effect::Assign(vec![(slot, Source::Zero)])),
                Located::Among(range) => self.zero(*dst, range, out),
                Located::Anywhere => self.forget_addressed(out),
            },
            Op::Assume { cond } | Op::Check { cond, .. } => out.push(Effect::Assume(*cond, true)),
            Op::Havoc { dst, .. } | Op::Alloc { dst, .. } => self.write(*dst, None, out),
            Op::Call { dst, callee, args } => self.call_over(*dst, *callee, args, out),
            Op::Return { value: Some(Arg::Scalar(e)) } => {
                out.push(Effect::Assign(vec![(self.cells.result(func), Source::Expr(*e))]));
            }
            Op::Return { .. } => {}
            Op::MemCopy { .. } | Op::MemSet { .. } => self.forget_addressed(out),
            Op::Enter { var } | Op::Leave { var } => out.push(Effect::Forget(self.cells.of_var(*var))),
        }
    }

    /// Zeroes a whole variable, or forgets a part of one.
    fn zero(&self, dst: PlaceId, range: Range<u32>, out: &mut Vec<Effect>) {
        let place = &self.program.places[dst];
        if place.path.is_empty() && place.bits.is_none() {
            out.push(Effect::Assign(range.map(|slot| (slot, Source::Zero)).collect()));
        } else {
            out.push(Effect::Forget(range));
        }
    }

    /// A call as one step: of a function without a body, or one whose body is not entered.
    fn call_over(&self, dst: Option<PlaceId>, callee: Callee, args: &[Arg], out: &mut Vec<Effect>) {
        let effect = match callee {
            Callee::Direct(f) if self.program.funcs[f].body.is_none() => Some(self.program.funcs[f].effect),
            _ => None,
        };
        let external = effect.is_some();
        if !external {
            for (var, info) in self.program.vars.iter_enumerated() {
                if info.kind == VarKind::Global {
                    out.push(Effect::Forget(self.cells.of_var(var)));
                }
            }
        }
        let pointer = |a: &Arg| matches!(a, Arg::Scalar(e) if self.program.exprs[*e].ty == Scalar::Ptr);
        let given = args.iter().any(|a| pointer(a) || matches!(a, Arg::Aggregate(_)));
        if effect.is_none_or(|e| e == palisade_cfa::Effect::Arbitrary || !e.is_harmless() && given) {
            self.forget_addressed(out);
        }
        if let Some(dst) = dst {
            self.write(dst, None, out);
        }
    }
}

/// The little-endian integer of some bits, if these are whole bytes of an image at an offset.
fn within(bytes: &[u8], bit: u64, width: u32, offset: u64) -> Option<u128> {
    if !bit.is_multiple_of(8) || !width.is_multiple_of(8) || width > 128 {
        return None;
    }
    let from = usize::try_from((bit / 8).checked_sub(offset)?).ok()?;
    let part = bytes.get(from..from + width as usize / 8)?;
    Some(part.iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte)))
}

/// How many bits an item of an image covers.
fn image_bits(program: &Program, value: &InitValue) -> u64 {
    match value {
        InitValue::Bytes(bytes) => bytes.len() as u64 * 8,
        InitValue::Int(t, _) => u64::from(t.bits).div_ceil(8).next_power_of_two() * 8,
        InitValue::Float(FloatTy::F80, _) => program.data_model.long_double_bytes() * 8,
        InitValue::Float(t, _) => u64::from(t.bits()),
        InitValue::Addr(..) | InitValue::Func(_) | InitValue::Absolute(_) => {
            u64::from(program.data_model.ptr_bits())
        }
    }
}
